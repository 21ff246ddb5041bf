// rmw/rmw.h: publishers.
#include "groups.h"
#include "world.h"

static void a_publisher_wants_all_its_arguments(const world_t * world)
{
  const rosidl_message_type_support_t * type = type_of(TEXT);
  rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_qos_profile_t profile = plain(), unknown = profile;
  FOREIGN(rmw_node_t, foreign, world->node);
  // rmw_create_publisher: NULL for each of these.
  NOT_MADE(rmw_create_publisher(NULL, type, "/t", &profile, &options));
  NOT_MADE(rmw_create_publisher(&foreign, type, "/t", &profile, &options));
  NOT_MADE(rmw_create_publisher(world->node, NULL, "/t", &profile, &options));
  NOT_MADE(rmw_create_publisher(world->node, type, NULL, &profile, &options));
  NOT_MADE(rmw_create_publisher(world->node, type, "", &profile, &options));
  NOT_MADE(rmw_create_publisher(world->node, type, "not_full", &profile, &options));
  NOT_MADE(rmw_create_publisher(world->node, type, "/a b", &profile, &options));
  NOT_MADE(rmw_create_publisher(world->node, type, "/t", NULL, &options));
  NOT_MADE(rmw_create_publisher(world->node, type, "/t", &profile, NULL));
  unknown.reliability = RMW_QOS_POLICY_RELIABILITY_UNKNOWN;
  NOT_MADE(rmw_create_publisher(world->node, type, "/t", &unknown, &options));
  rosidl_message_type_support_t alien = *type;
  alien.typesupport_identifier = "rosidl_typesupport_of_mars";
  alien.func = get_message_typesupport_handle_function;
  NOT_MADE(rmw_create_publisher(world->node, &alien, "/t", &profile, &options));
  options.require_unique_network_flow_endpoints = RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED;
  NOT_MADE(rmw_create_publisher(world->node, type, "/t", &profile, &options));
  options.require_unique_network_flow_endpoints = RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_OPTIONALLY_REQUIRED;
  rmw_publisher_t * publisher = rmw_create_publisher(world->node, type, "/t", &profile, &options);
  MADE(publisher);
  CHECK(strcmp(publisher->topic_name, "/t") == 0);
  CHECK(
    publisher->options.require_unique_network_flow_endpoints ==
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_OPTIONALLY_REQUIRED);
  CHECK(!publisher->can_loan_messages);
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void a_publisher_ends_with_its_node_named(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign, publisher);
  FOREIGN(rmw_node_t, foreign_node, world->node);
  IS_NULL(rmw_destroy_publisher(NULL, publisher));
  IS_NULL(rmw_destroy_publisher(world->node, NULL));
  IS_FOREIGN(rmw_destroy_publisher(&foreign_node, publisher));
  IS_FOREIGN(rmw_destroy_publisher(world->node, &foreign));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void what_cannot_be_published(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign, publisher);
  void * message = text_new("good");
  IS_NULL(rmw_publish(NULL, message, NULL));
  IS_NULL(rmw_publish(publisher, NULL, NULL));
  IS_FOREIGN(rmw_publish(&foreign, message, NULL));
  OK(rmw_publish(publisher, message, NULL));
  message_free(TEXT, message);
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  IS_NULL(rmw_publish_serialized_message(NULL, &bytes, NULL));
  IS_NULL(rmw_publish_serialized_message(publisher, NULL, NULL));
  IS_FOREIGN(rmw_publish_serialized_message(&foreign, &bytes, NULL));
  // Nothing, not even a header.
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_publish_serialized_message(publisher, &bytes, NULL));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void a_publisher_knows_who_listens(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign, publisher);
  size_t count = 77;
  IS_NULL(rmw_publisher_count_matched_subscriptions(NULL, &count));
  IS_NULL(rmw_publisher_count_matched_subscriptions(publisher, NULL));
  IS_FOREIGN(rmw_publisher_count_matched_subscriptions(&foreign, &count));
  OK(rmw_publisher_count_matched_subscriptions(publisher, &count));
  CHECK(count == 0);
  rmw_subscription_t * reader = subscribe_to(world, TEXT, "/t", plain());
  // Asks for more than is offered, so it does not match.
  rmw_subscription_t * demanding = subscribe_to(world, TEXT, "/t", latched());
  OK(rmw_publisher_count_matched_subscriptions(publisher, &count));
  CHECK(count == 1);
  OK(rmw_destroy_subscription(world->node, demanding));
  OK(rmw_destroy_subscription(world->node, reader));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void the_profile_in_use_is_told(const world_t * world)
{
  rmw_qos_profile_t asked = rmw_qos_profile_system_default, actual;
  asked.depth = 3;
  asked.deadline.sec = 5;
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", asked);
  FOREIGN(rmw_publisher_t, foreign, publisher);
  IS_NULL(rmw_publisher_get_actual_qos(NULL, &actual));
  IS_NULL(rmw_publisher_get_actual_qos(publisher, NULL));
  IS_FOREIGN(rmw_publisher_get_actual_qos(&foreign, &actual));
  OK(rmw_publisher_get_actual_qos(publisher, &actual));
  CHECK(actual.history == RMW_QOS_POLICY_HISTORY_KEEP_LAST && actual.depth == 3);
  CHECK(actual.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE);
  CHECK(actual.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE);
  CHECK(actual.liveliness == RMW_QOS_POLICY_LIVELINESS_AUTOMATIC);
  CHECK(actual.deadline.sec == 5 && actual.deadline.nsec == 0);
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void liveliness_and_acknowledgements(const world_t * world)
{
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign, publisher);
  IS_NULL(rmw_publisher_assert_liveliness(NULL));
  IS_FOREIGN(rmw_publisher_assert_liveliness(&foreign));
  OK(rmw_publisher_assert_liveliness(publisher));
  rmw_subscription_t * reader = subscribe_to(world, TEXT, "/t", plain());
  send_text(publisher, "acknowledged by lying where it is read");
  rmw_time_t second = {1, 0};
  IS_NULL(rmw_publisher_wait_for_all_acked(NULL, second));
  IS_FOREIGN(rmw_publisher_wait_for_all_acked(&foreign, second));
  OK(rmw_publisher_wait_for_all_acked(publisher, second));
  OK(rmw_destroy_subscription(world->node, reader));
  OK(rmw_destroy_publisher(world->node, publisher));
}

void group_publisher(void)
{
  world_t world;
  world_open(&world, "tester");
  a_publisher_wants_all_its_arguments(&world);
  a_publisher_ends_with_its_node_named(&world);
  what_cannot_be_published(&world);
  a_publisher_knows_who_listens(&world);
  the_profile_in_use_is_told(&world);
  liveliness_and_acknowledgements(&world);
  world_close(&world);
}
