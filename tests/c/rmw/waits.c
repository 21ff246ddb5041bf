// rmw/rmw.h: guard conditions and wait sets.
#include <pthread.h>
#include <sched.h>

#include "groups.h"
#include "world.h"

static void a_guard_condition_wants_a_context(world_t * world)
{
  rmw_context_t zero = rmw_get_zero_initialized_context();
  FOREIGN(rmw_context_t, foreign_context, &world->context);
  NOT_MADE(rmw_create_guard_condition(NULL));
  NOT_MADE(rmw_create_guard_condition(&zero));
  NOT_MADE(rmw_create_guard_condition(&foreign_context));
  rmw_guard_condition_t * guard = rmw_create_guard_condition(&world->context);
  MADE(guard);
  CHECK(guard->context == &world->context);
  FOREIGN(rmw_guard_condition_t, foreign, guard);
  IS_NULL(rmw_trigger_guard_condition(NULL));
  IS_FOREIGN(rmw_trigger_guard_condition(&foreign));
  IS_NULL(rmw_destroy_guard_condition(NULL));
  IS_FOREIGN(rmw_destroy_guard_condition(&foreign));
  const rmw_guard_condition_t * of_node = rmw_node_get_graph_guard_condition(world->node);
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_destroy_guard_condition((rmw_guard_condition_t *)of_node));
  OK(rmw_destroy_guard_condition(guard));
}

static void a_trigger_is_seen_once(world_t * world)
{
  rmw_guard_condition_t * guard = rmw_create_guard_condition(&world->context);
  MADE(guard);
  CHECK(!wait_guard(world, guard, NOW));
  OK(rmw_trigger_guard_condition(guard));
  OK(rmw_trigger_guard_condition(guard));
  CHECK(wait_guard(world, guard, LONG));
  CHECK(!wait_guard(world, guard, 1));
  OK(rmw_destroy_guard_condition(guard));
}

static void a_wait_set_wants_a_context(world_t * world)
{
  rmw_context_t zero = rmw_get_zero_initialized_context();
  FOREIGN(rmw_context_t, foreign_context, &world->context);
  NOT_MADE(rmw_create_wait_set(NULL, 1));
  NOT_MADE(rmw_create_wait_set(&zero, 1));
  NOT_MADE(rmw_create_wait_set(&foreign_context, 1));
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 0);
  MADE(wait_set);
  FOREIGN(rmw_wait_set_t, foreign, wait_set);
  FAILS(NULL_OF_THE_SUITE, rmw_destroy_wait_set(NULL));
  IS_FOREIGN(rmw_destroy_wait_set(&foreign));
  rmw_time_t at_once = {0, 0};
  IS_NULL(rmw_wait(NULL, NULL, NULL, NULL, NULL, NULL, &at_once));
  IS_FOREIGN(rmw_wait(NULL, NULL, NULL, NULL, NULL, &foreign, &at_once));
  TIMES_OUT(rmw_wait(NULL, NULL, NULL, NULL, NULL, wait_set, &at_once));
  // "if an array entry is NULL", in each array.
  void * nothing[] = {NULL};
  rmw_subscriptions_t subscriptions = {1, nothing};
  rmw_guard_conditions_t guards = {1, nothing};
  rmw_services_t services = {1, nothing};
  rmw_clients_t clients = {1, nothing};
  rmw_events_t events = {1, nothing};
  IS_NULL(rmw_wait(&subscriptions, NULL, NULL, NULL, NULL, wait_set, &at_once));
  IS_NULL(rmw_wait(NULL, &guards, NULL, NULL, NULL, wait_set, &at_once));
  IS_NULL(rmw_wait(NULL, NULL, &services, NULL, NULL, wait_set, &at_once));
  IS_NULL(rmw_wait(NULL, NULL, NULL, &clients, NULL, wait_set, &at_once));
  IS_NULL(rmw_wait(NULL, NULL, NULL, NULL, &events, wait_set, &at_once));
  subscriptions.subscribers = NULL;
  IS_NULL(rmw_wait(&subscriptions, NULL, NULL, NULL, NULL, wait_set, &at_once));
  OK(rmw_destroy_wait_set(wait_set));
}

// One of each kind; only what has something stays in its array.
static void what_is_not_ready_becomes_null(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_subscription_t * full = subscribe_to(world, TEXT, "/t", plain()), * empty = subscribe_to(world, TEXT, "/u", plain());
  rmw_service_t * service = serve(world, "/s");
  rmw_client_t * client = client_of(world, "/s");
  rmw_guard_condition_t * guard = rmw_create_guard_condition(&world->context);
  MADE(guard);
  rmw_event_t matched = rmw_get_zero_initialized_event();
  OK(rmw_publisher_event_init(&matched, publisher, RMW_EVENT_PUBLICATION_MATCHED));
  rmw_matched_status_t status;
  bool taken = false;
  OK(rmw_take_event(&matched, &status, &taken));
  void * readers[] = {full->data, empty->data}, * guarded[] = {guard->data}, * served[] = {service->data};
  void * asked[] = {client->data}, * evented[] = {&matched};
  rmw_subscriptions_t subscriptions = {2, readers};
  rmw_guard_conditions_t guards = {1, guarded};
  rmw_services_t services = {1, served};
  rmw_clients_t clients = {1, asked};
  rmw_events_t events = {1, evented};
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 6);
  MADE(wait_set);
  send_text(publisher, "something");
  OK(rmw_wait(&subscriptions, &guards, &services, &clients, &events, wait_set, NULL));
  CHECK(readers[0] == full->data && readers[1] == NULL);
  CHECK(guarded[0] == NULL && served[0] == NULL && asked[0] == NULL && evented[0] == NULL);
  OK(rmw_destroy_wait_set(wait_set));
  OK(rmw_event_fini(&matched));
  OK(rmw_destroy_guard_condition(guard));
  OK(rmw_destroy_client(world->node, client));
  OK(rmw_destroy_service(world->node, service));
  OK(rmw_destroy_subscription(world->node, empty));
  OK(rmw_destroy_subscription(world->node, full));
  OK(rmw_destroy_publisher(world->node, publisher));
}

typedef struct waiter
{
  rmw_wait_set_t * wait_set;
  rmw_guard_condition_t * guard;
  rmw_ret_t code;
} waiter_t;

static void * wait_without_end(void * argument)
{
  waiter_t * waiter = (waiter_t *)argument;
  void * entries[] = {waiter->guard->data};
  rmw_guard_conditions_t guards = {1, entries};
  do {  // Until the other thread is not in it.
    rcutils_reset_error();
    waiter->code = rmw_wait(NULL, &guards, NULL, NULL, NULL, waiter->wait_set, NULL);
  } while (waiter->code == RMW_RET_ERROR);
  return NULL;
}

// A wait without a time ends by a trigger from elsewhere; meanwhile its set is no other thread's.
static void a_trigger_ends_a_wait_of_another_thread(world_t * world)
{
  rmw_guard_condition_t * guard = rmw_create_guard_condition(&world->context);
  MADE(guard);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 1);
  MADE(wait_set);
  waiter_t waiter = {wait_set, guard, RMW_RET_ERROR};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_without_end, &waiter) == 0);
  rmw_time_t at_once = {0, 0};
  rmw_ret_t code = RMW_RET_TIMEOUT;
  while (code == RMW_RET_TIMEOUT) {  // Until the thread is there, which can come in between two of these.
    sched_yield();
    code = rmw_wait(NULL, NULL, NULL, NULL, NULL, wait_set, &at_once);
  }
  FAILS(RMW_RET_ERROR, code);
  OK(rmw_trigger_guard_condition(guard));
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(waiter.code == RMW_RET_OK);
  OK(rmw_destroy_wait_set(wait_set));
  OK(rmw_destroy_guard_condition(guard));
}

void group_waits(void)
{
  world_t world;
  world_open(&world, "tester");
  a_guard_condition_wants_a_context(&world);
  a_trigger_is_seen_once(&world);
  a_wait_set_wants_a_context(&world);
  what_is_not_ready_becomes_null(&world);
  a_trigger_ends_a_wait_of_another_thread(&world);
  world_close(&world);
}
