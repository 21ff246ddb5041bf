#include "world.h"

void options_open(rmw_init_options_t * options)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  *options = rmw_get_zero_initialized_init_options();
  OK(rmw_init_options_init(options, allocator));
  options->enclave = rcutils_strdup("/", allocator);
  options->discovery_options.automatic_discovery_range = RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
}

void world_open(world_t * world, const char * node)
{
  rmw_init_options_t options;
  options_open(&options);
  world->context = rmw_get_zero_initialized_context();
  OK(rmw_init(&options, &world->context));
  OK(rmw_init_options_fini(&options));
  world->node = rmw_create_node(&world->context, node, "/");
  MADE(world->node);
}

void world_close(world_t * world)
{
  OK(rmw_destroy_node(world->node));
  OK(rmw_shutdown(&world->context));
  OK(rmw_context_fini(&world->context));
}

rmw_qos_profile_t plain(void)
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  return profile;
}

rmw_qos_profile_t latched(void)
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  return profile;
}

rmw_publisher_t * publish_on(const world_t * world, type_t type, const char * topic, rmw_qos_profile_t profile)
{
  rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_publisher_t * publisher = rmw_create_publisher(world->node, type_of(type), topic, &profile, &options);
  MADE(publisher);
  return publisher;
}

rmw_subscription_t * subscribe_to(const world_t * world, type_t type, const char * topic, rmw_qos_profile_t profile)
{
  rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription = rmw_create_subscription(world->node, type_of(type), topic, &profile, &options);
  MADE(subscription);
  return subscription;
}

rmw_client_t * client_of(const world_t * world, const char * service)
{
  rmw_client_t * client = rmw_create_client(world->node, service_type(), service, &rmw_qos_profile_services_default);
  MADE(client);
  return client;
}

rmw_service_t * serve(const world_t * world, const char * service)
{
  rmw_service_t * server = rmw_create_service(world->node, service_type(), service, &rmw_qos_profile_services_default);
  MADE(server);
  return server;
}

void send_text(const rmw_publisher_t * publisher, const char * text)
{
  void * message = text_new(text);
  OK(rmw_publish(publisher, message, NULL));
  message_free(TEXT, message);
}

void take_text(const rmw_subscription_t * subscription, const char * text)
{
  void * message = message_new(TEXT);
  bool taken = false;
  OK(rmw_take(subscription, message, &taken, NULL));
  CHECK(taken);
  CHECK(strcmp(text_of(message), text) == 0);
  message_free(TEXT, message);
}

void send_number(const rmw_publisher_t * publisher, int32_t number)
{
  void * message = number_new(number);
  OK(rmw_publish(publisher, message, NULL));
  message_free(NUMBER, message);
}

void take_number(const rmw_subscription_t * subscription, int32_t number)
{
  void * message = message_new(NUMBER);
  bool taken = false;
  OK(rmw_take(subscription, message, &taken, NULL));
  CHECK(taken);
  CHECK(number_of(message) == number);
  message_free(NUMBER, message);
}

void take_nothing(const rmw_subscription_t * subscription)
{
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  bool taken = true;
  OK(rmw_take_serialized_message(subscription, &bytes, &taken, NULL));
  CHECK(!taken);
}

typedef struct entries
{
  rmw_subscriptions_t subscriptions;
  rmw_guard_conditions_t guards;
  rmw_services_t services;
  rmw_clients_t clients;
  rmw_events_t events;
  void * entry;
} entries_t;

// What is not ready is NULL afterwards, and the code says the same.
static bool wait_one(world_t * world, entries_t * entries, int milliseconds)
{
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 1);
  MADE(wait_set);
  rmw_time_t timeout = {(uint64_t)milliseconds / 1000, (uint64_t)(milliseconds % 1000) * 1000000};
  rmw_ret_t code = rmw_wait(
    &entries->subscriptions, &entries->guards, &entries->services, &entries->clients, &entries->events, wait_set,
    &timeout);
  if (code == RMW_RET_TIMEOUT) {
    TIMES_OUT(code);
    CHECK(entries->entry == NULL);
  } else {
    OK(code);
    CHECK(entries->entry != NULL);
  }
  OK(rmw_destroy_wait_set(wait_set));
  return code == RMW_RET_OK;
}

static void none(entries_t * entries, void * entry)
{
  memset(entries, 0, sizeof(*entries));
  entries->entry = entry;
}

bool wait_subscription(world_t * world, const rmw_subscription_t * subscription, int milliseconds)
{
  entries_t entries;
  none(&entries, subscription->data);
  entries.subscriptions.subscriber_count = 1;
  entries.subscriptions.subscribers = &entries.entry;
  return wait_one(world, &entries, milliseconds);
}

bool wait_service(world_t * world, const rmw_service_t * service, int milliseconds)
{
  entries_t entries;
  none(&entries, service->data);
  entries.services.service_count = 1;
  entries.services.services = &entries.entry;
  return wait_one(world, &entries, milliseconds);
}

bool wait_client(world_t * world, const rmw_client_t * client, int milliseconds)
{
  entries_t entries;
  none(&entries, client->data);
  entries.clients.client_count = 1;
  entries.clients.clients = &entries.entry;
  return wait_one(world, &entries, milliseconds);
}

bool wait_guard(world_t * world, const rmw_guard_condition_t * guard, int milliseconds)
{
  entries_t entries;
  none(&entries, guard->data);
  entries.guards.guard_condition_count = 1;
  entries.guards.guard_conditions = &entries.entry;
  return wait_one(world, &entries, milliseconds);
}

bool wait_event(world_t * world, rmw_event_t * event, int milliseconds)
{
  entries_t entries;
  none(&entries, event);
  entries.events.event_count = 1;
  entries.events.events = &entries.entry;
  return wait_one(world, &entries, milliseconds);
}
