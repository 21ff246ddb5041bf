// rmw/event_callback_type.h: callbacks for messages, requests, responses and events.
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "groups.h"
#include "world.h"

// What a callback was told, added up.
typedef struct told
{
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t count;
} told_t;

static void told_open(told_t * told)
{
  CHECK(pthread_mutex_init(&told->lock, NULL) == 0);
  CHECK(pthread_cond_init(&told->changed, NULL) == 0);
  told->count = 0;
}

static void told_close(told_t * told)
{
  CHECK(pthread_mutex_destroy(&told->lock) == 0);
  CHECK(pthread_cond_destroy(&told->changed) == 0);
}

static void tell(const void * user_data, size_t count)
{
  told_t * told = (told_t *)user_data;
  pthread_mutex_lock(&told->lock);
  told->count += count;
  pthread_cond_broadcast(&told->changed);
  pthread_mutex_unlock(&told->lock);
}

// Until that much was told in all.
static void told_reaches(told_t * told, size_t count)
{
  struct timespec end;
  CHECK(clock_gettime(CLOCK_REALTIME, &end) == 0);
  end.tv_sec += LONG / 1000;
  CHECK(pthread_mutex_lock(&told->lock) == 0);
  while (told->count < count) {
    CHECK(pthread_cond_timedwait(&told->changed, &told->lock, &end) == 0);
  }
  CHECK(told->count == count);
  CHECK(pthread_mutex_unlock(&told->lock) == 0);
}

static void messages_call_back(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  FOREIGN(rmw_subscription_t, foreign, subscription);
  told_t told;
  told_open(&told);
  IS_NULL(rmw_subscription_set_on_new_message_callback(NULL, tell, &told));
  IS_FOREIGN(rmw_subscription_set_on_new_message_callback(&foreign, tell, &told));
  send_text(publisher, "before");
  OK(rmw_subscription_set_on_new_message_callback(subscription, tell, &told));
  told_reaches(&told, 1);
  send_text(publisher, "one");
  send_text(publisher, "two");
  told_reaches(&told, 3);
  // NULL clears it: after that there is no call, and what comes is told to the next callback.
  OK(rmw_subscription_set_on_new_message_callback(subscription, NULL, NULL));
  send_text(publisher, "three");
  CHECK(told.count == 3);
  OK(rmw_subscription_set_on_new_message_callback(subscription, tell, &told));
  told_reaches(&told, 4);
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
  told_close(&told);
}

static void requests_and_responses_call_back(world_t * world)
{
  rmw_service_t * service = serve(world, "/s");
  rmw_client_t * client = client_of(world, "/s");
  FOREIGN(rmw_service_t, foreign_service, service);
  FOREIGN(rmw_client_t, foreign_client, client);
  told_t requests, responses;
  told_open(&requests);
  told_open(&responses);
  IS_NULL(rmw_service_set_on_new_request_callback(NULL, tell, &requests));
  IS_FOREIGN(rmw_service_set_on_new_request_callback(&foreign_service, tell, &requests));
  IS_NULL(rmw_client_set_on_new_response_callback(NULL, tell, &responses));
  IS_FOREIGN(rmw_client_set_on_new_response_callback(&foreign_client, tell, &responses));
  OK(rmw_service_set_on_new_request_callback(service, tell, &requests));
  OK(rmw_client_set_on_new_response_callback(client, tell, &responses));
  void * request = request_new(true), * response = response_new("yes");
  int64_t sequence = 0;
  OK(rmw_send_request(client, request, &sequence));
  told_reaches(&requests, 1);
  rmw_service_info_t header;
  bool taken = false;
  OK(rmw_take_request(service, &header, request, &taken));
  CHECK(taken && responses.count == 0);
  OK(rmw_send_response(service, &header.request_id, response));
  told_reaches(&responses, 1);
  OK(rmw_take_response(client, &header, response, &taken));
  CHECK(taken && header.request_id.sequence_number == sequence);
  response_free(response);
  request_free(request);
  OK(rmw_service_set_on_new_request_callback(service, NULL, NULL));
  OK(rmw_client_set_on_new_response_callback(client, NULL, NULL));
  OK(rmw_destroy_client(world->node, client));
  OK(rmw_destroy_service(world->node, service));
  told_close(&requests);
  told_close(&responses);
}

static void events_call_back(world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_event_t event = rmw_get_zero_initialized_event();
  OK(rmw_publisher_event_init(&event, publisher, RMW_EVENT_PUBLICATION_MATCHED));
  FOREIGN(rmw_event_t, foreign, &event);
  told_t told;
  told_open(&told);
  IS_NULL(rmw_event_set_callback(NULL, tell, &told));
  IS_FOREIGN(rmw_event_set_callback(&foreign, tell, &told));
  OK(rmw_event_set_callback(&event, tell, &told));
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  told_reaches(&told, 1);
  OK(rmw_event_set_callback(&event, NULL, NULL));
  OK(rmw_destroy_subscription(world->node, subscription));
  CHECK(told.count == 1);
  OK(rmw_event_fini(&event));
  OK(rmw_destroy_publisher(world->node, publisher));
  told_close(&told);
}

void group_callbacks(void)
{
  world_t world;
  world_open(&world, "tester");
  messages_call_back(&world);
  requests_and_responses_call_back(&world);
  events_call_back(&world);
  world_close(&world);
}
