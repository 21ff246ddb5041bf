// rmw/rmw.h: services and clients.
#include "groups.h"
#include "world.h"

static void both_want_all_their_arguments(const world_t * world)
{
  const rosidl_service_type_support_t * type = service_type();
  rmw_qos_profile_t profile = rmw_qos_profile_services_default;
  FOREIGN(rmw_node_t, foreign, world->node);
  NOT_MADE(rmw_create_service(NULL, type, "/s", &profile));
  NOT_MADE(rmw_create_service(&foreign, type, "/s", &profile));
  NOT_MADE(rmw_create_service(world->node, NULL, "/s", &profile));
  NOT_MADE(rmw_create_service(world->node, type, NULL, &profile));
  NOT_MADE(rmw_create_service(world->node, type, "", &profile));
  NOT_MADE(rmw_create_service(world->node, type, "not_full", &profile));
  NOT_MADE(rmw_create_service(world->node, type, "/s", NULL));
  NOT_MADE(rmw_create_client(NULL, type, "/s", &profile));
  NOT_MADE(rmw_create_client(&foreign, type, "/s", &profile));
  NOT_MADE(rmw_create_client(world->node, NULL, "/s", &profile));
  NOT_MADE(rmw_create_client(world->node, type, NULL, &profile));
  NOT_MADE(rmw_create_client(world->node, type, "", &profile));
  NOT_MADE(rmw_create_client(world->node, type, "not_full", &profile));
  NOT_MADE(rmw_create_client(world->node, type, "/s", NULL));
}

static void both_end_with_their_node_named(const world_t * world)
{
  rmw_service_t * service = serve(world, "/s");
  rmw_client_t * client = client_of(world, "/s");
  CHECK(strcmp(service->service_name, "/s") == 0 && strcmp(client->service_name, "/s") == 0);
  FOREIGN(rmw_node_t, foreign_node, world->node);
  FOREIGN(rmw_service_t, foreign_service, service);
  FOREIGN(rmw_client_t, foreign_client, client);
  IS_NULL(rmw_destroy_service(NULL, service));
  IS_NULL(rmw_destroy_service(world->node, NULL));
  IS_FOREIGN(rmw_destroy_service(&foreign_node, service));
  IS_FOREIGN(rmw_destroy_service(world->node, &foreign_service));
  IS_NULL(rmw_destroy_client(NULL, client));
  IS_NULL(rmw_destroy_client(world->node, NULL));
  IS_FOREIGN(rmw_destroy_client(&foreign_node, client));
  IS_FOREIGN(rmw_destroy_client(world->node, &foreign_client));
  OK(rmw_destroy_client(world->node, client));
  OK(rmw_destroy_service(world->node, service));
}

static void availability_is_told(const world_t * world)
{
  rmw_client_t * client = client_of(world, "/s");
  FOREIGN(rmw_node_t, foreign_node, world->node);
  FOREIGN(rmw_client_t, foreign, client);
  bool available = true;
  FAILS(NULL_OF_THE_SUITE, rmw_service_server_is_available(NULL, client, &available));
  FAILS(NULL_OF_THE_SUITE, rmw_service_server_is_available(world->node, NULL, &available));
  FAILS(NULL_OF_THE_SUITE, rmw_service_server_is_available(world->node, client, NULL));
  IS_FOREIGN(rmw_service_server_is_available(&foreign_node, client, &available));
  IS_FOREIGN(rmw_service_server_is_available(world->node, &foreign, &available));
  OK(rmw_service_server_is_available(world->node, client, &available));
  CHECK(!available);
  rmw_service_t * service = serve(world, "/s");
  OK(rmw_service_server_is_available(world->node, client, &available));
  CHECK(available);
  OK(rmw_destroy_service(world->node, service));
  OK(rmw_service_server_is_available(world->node, client, &available));
  CHECK(!available);
  OK(rmw_destroy_client(world->node, client));
}

static int64_t ask(const rmw_client_t * client, bool value)
{
  int64_t sequence = 0;
  void * request = request_new(value);
  OK(rmw_send_request(client, request, &sequence));
  request_free(request);
  return sequence;
}

static rmw_service_info_t hear(const rmw_service_t * service, bool value)
{
  rmw_service_info_t header;
  bool taken = false;
  void * request = request_new(!value);
  OK(rmw_take_request(service, &header, request, &taken));
  CHECK(taken && request_of(request) == value);
  request_free(request);
  return header;
}

static void answer(const rmw_service_t * service, rmw_service_info_t header, const char * text)
{
  void * response = response_new(text);
  OK(rmw_send_response(service, &header.request_id, response));
  response_free(response);
}

static void hear_back(const rmw_client_t * client, int64_t sequence, const char * text)
{
  rmw_service_info_t header;
  bool taken = false;
  void * response = response_new("");
  OK(rmw_take_response(client, &header, response, &taken));
  CHECK(taken && strcmp(response_of(response), text) == 0);
  CHECK(header.request_id.sequence_number == sequence);
  CHECK(header.source_timestamp > 0 && header.source_timestamp <= header.received_timestamp);
  response_free(response);
}

static void answers_reach_who_asked(world_t * world)
{
  world_t other;
  world_open(&other, "other");
  rmw_service_t * service = serve(&other, "/s");
  rmw_client_t * one = client_of(world, "/s"), * two = client_of(world, "/s");
  int64_t first = ask(one, true), second = ask(two, false), third = ask(one, false);
  CHECK(first != third);
  CHECK(wait_service(&other, service, LONG));
  rmw_service_info_t to_first = hear(service, true), to_second = hear(service, false), to_third = hear(service, false);
  // In any order.
  answer(service, to_third, "third");
  answer(service, to_second, "second");
  answer(service, to_first, "first");
  CHECK(wait_client(world, one, LONG) && wait_client(world, two, LONG));
  hear_back(one, third, "third");
  hear_back(one, first, "first");
  hear_back(two, second, "second");
  CHECK(!wait_client(world, one, NOW) && !wait_client(world, two, NOW) && !wait_service(&other, service, NOW));
  OK(rmw_destroy_client(world->node, two));
  OK(rmw_destroy_client(world->node, one));
  OK(rmw_destroy_service(other.node, service));
  world_close(&other);
}

static void what_the_client_cannot_ask(const world_t * world)
{
  rmw_client_t * client = client_of(world, "/s");
  FOREIGN(rmw_client_t, foreign, client);
  void * request = request_new(true), * response = response_new("");
  int64_t sequence = 77;
  rmw_service_info_t header;
  bool taken = true;
  IS_NULL(rmw_send_request(NULL, request, &sequence));
  IS_NULL(rmw_send_request(client, NULL, &sequence));
  IS_NULL(rmw_send_request(client, request, NULL));
  IS_FOREIGN(rmw_send_request(&foreign, request, &sequence));
  CHECK(sequence == 77);
  IS_NULL(rmw_take_response(NULL, &header, response, &taken));
  IS_NULL(rmw_take_response(client, NULL, response, &taken));
  IS_NULL(rmw_take_response(client, &header, NULL, &taken));
  IS_NULL(rmw_take_response(client, &header, response, NULL));
  IS_FOREIGN(rmw_take_response(&foreign, &header, response, &taken));
  OK(rmw_take_response(client, &header, response, &taken));
  CHECK(!taken);
  response_free(response);
  request_free(request);
  OK(rmw_destroy_client(world->node, client));
}

static void what_the_service_cannot_answer(const world_t * world)
{
  rmw_service_t * service = serve(world, "/s");
  rmw_client_t * client = client_of(world, "/s");
  FOREIGN(rmw_service_t, foreign, service);
  void * request = request_new(false), * response = response_new("");
  rmw_service_info_t header;
  bool taken = true;
  IS_NULL(rmw_take_request(NULL, &header, request, &taken));
  IS_NULL(rmw_take_request(service, NULL, request, &taken));
  IS_NULL(rmw_take_request(service, &header, NULL, &taken));
  IS_NULL(rmw_take_request(service, &header, request, NULL));
  IS_FOREIGN(rmw_take_request(&foreign, &header, request, &taken));
  OK(rmw_take_request(service, &header, request, &taken));
  CHECK(!taken);
  (void)ask(client, true);
  header = hear(service, true);
  IS_NULL(rmw_send_response(NULL, &header.request_id, response));
  IS_NULL(rmw_send_response(service, NULL, response));
  IS_NULL(rmw_send_response(service, &header.request_id, NULL));
  IS_FOREIGN(rmw_send_response(&foreign, &header.request_id, response));
  // Who asked is gone: nobody to tell, and no error, as nobody did anything wrong.
  OK(rmw_destroy_client(world->node, client));
  OK(rmw_send_response(service, &header.request_id, response));
  response_free(response);
  request_free(request);
  OK(rmw_destroy_service(world->node, service));
}

#define PROFILE_OF(get, handle, type) \
  do { \
    FOREIGN(type, foreign, handle); \
    rmw_qos_profile_t actual; \
    IS_NULL(get(NULL, &actual)); \
    IS_NULL(get(handle, NULL)); \
    IS_FOREIGN(get(&foreign, &actual)); \
    OK(get(handle, &actual)); \
    CHECK(actual.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE); \
    CHECK(actual.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE); \
    CHECK(actual.depth == rmw_qos_profile_services_default.depth); \
  } while (0)

static void the_profiles_in_use_are_told(const world_t * world)
{
  rmw_service_t * service = serve(world, "/s");
  rmw_client_t * client = client_of(world, "/s");
  PROFILE_OF(rmw_service_request_subscription_get_actual_qos, service, rmw_service_t);
  PROFILE_OF(rmw_service_response_publisher_get_actual_qos, service, rmw_service_t);
  PROFILE_OF(rmw_client_request_publisher_get_actual_qos, client, rmw_client_t);
  PROFILE_OF(rmw_client_response_subscription_get_actual_qos, client, rmw_client_t);
  OK(rmw_destroy_client(world->node, client));
  OK(rmw_destroy_service(world->node, service));
}

void group_services(void)
{
  world_t world;
  world_open(&world, "tester");
  both_want_all_their_arguments(&world);
  both_end_with_their_node_named(&world);
  availability_is_told(&world);
  answers_reach_who_asked(&world);
  what_the_client_cannot_ask(&world);
  what_the_service_cannot_answer(&world);
  the_profiles_in_use_are_told(&world);
  world_close(&world);
}
