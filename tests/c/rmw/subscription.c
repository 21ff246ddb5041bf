// rmw/rmw.h: subscriptions.
#include "groups.h"
#include "world.h"

static void a_subscription_wants_all_its_arguments(const world_t * world)
{
  const rosidl_message_type_support_t * type = type_of(TEXT);
  rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_qos_profile_t profile = plain(), unknown = profile;
  FOREIGN(rmw_node_t, foreign, world->node);
  // rmw_create_subscription: NULL for each of these.
  NOT_MADE(rmw_create_subscription(NULL, type, "/t", &profile, &options));
  NOT_MADE(rmw_create_subscription(&foreign, type, "/t", &profile, &options));
  NOT_MADE(rmw_create_subscription(world->node, NULL, "/t", &profile, &options));
  NOT_MADE(rmw_create_subscription(world->node, type, NULL, &profile, &options));
  NOT_MADE(rmw_create_subscription(world->node, type, "", &profile, &options));
  NOT_MADE(rmw_create_subscription(world->node, type, "not_full", &profile, &options));
  NOT_MADE(rmw_create_subscription(world->node, type, "/t", NULL, &options));
  NOT_MADE(rmw_create_subscription(world->node, type, "/t", &profile, NULL));
  unknown.durability = RMW_QOS_POLICY_DURABILITY_UNKNOWN;
  NOT_MADE(rmw_create_subscription(world->node, type, "/t", &unknown, &options));
  options.require_unique_network_flow_endpoints = RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED;
  NOT_MADE(rmw_create_subscription(world->node, type, "/t", &profile, &options));
}

static void a_subscription_ends_with_its_node_named(const world_t * world)
{
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  CHECK(strcmp(subscription->topic_name, "/t") == 0);
  CHECK(!subscription->can_loan_messages && !subscription->is_cft_enabled);
  FOREIGN(rmw_subscription_t, foreign, subscription);
  FOREIGN(rmw_node_t, foreign_node, world->node);
  IS_NULL(rmw_destroy_subscription(NULL, subscription));
  IS_NULL(rmw_destroy_subscription(world->node, NULL));
  IS_FOREIGN(rmw_destroy_subscription(&foreign_node, subscription));
  IS_FOREIGN(rmw_destroy_subscription(world->node, &foreign));
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void a_subscription_knows_who_talks(const world_t * world)
{
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  FOREIGN(rmw_subscription_t, foreign, subscription);
  size_t count = 77;
  IS_NULL(rmw_subscription_count_matched_publishers(NULL, &count));
  IS_NULL(rmw_subscription_count_matched_publishers(subscription, NULL));
  IS_FOREIGN(rmw_subscription_count_matched_publishers(&foreign, &count));
  OK(rmw_subscription_count_matched_publishers(subscription, &count));
  CHECK(count == 0);
  rmw_qos_profile_t careless = plain();
  careless.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  rmw_publisher_t * fitting = publish_on(world, TEXT, "/t", latched());
  rmw_publisher_t * unfit = publish_on(world, TEXT, "/t", careless);
  OK(rmw_subscription_count_matched_publishers(subscription, &count));
  CHECK(count == 1);
  OK(rmw_destroy_publisher(world->node, unfit));
  OK(rmw_destroy_publisher(world->node, fitting));
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void the_profile_in_use_is_told(const world_t * world)
{
  rmw_publisher_t * careless = publish_on(world, TEXT, "/t", rmw_qos_profile_sensor_data);
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", rmw_qos_profile_best_available);
  FOREIGN(rmw_subscription_t, foreign, subscription);
  rmw_qos_profile_t actual;
  IS_NULL(rmw_subscription_get_actual_qos(NULL, &actual));
  IS_NULL(rmw_subscription_get_actual_qos(subscription, NULL));
  IS_FOREIGN(rmw_subscription_get_actual_qos(&foreign, &actual));
  OK(rmw_subscription_get_actual_qos(subscription, &actual));
  // The best that matches who is there.
  CHECK(actual.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT);
  CHECK(actual.durability == RMW_QOS_POLICY_DURABILITY_VOLATILE);
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, careless));
}

static void own_publications_can_be_ignored(world_t * world)
{
  rmw_subscription_options_t options = rmw_get_default_subscription_options();
  options.ignore_local_publications = true;
  rmw_qos_profile_t profile = latched();
  rmw_publisher_t * own = publish_on(world, TEXT, "/t", profile);
  send_text(own, "own, before");
  rmw_subscription_t * subscription =
    rmw_create_subscription(world->node, type_of(TEXT), "/t", &profile, &options);
  MADE(subscription);
  CHECK(subscription->options.ignore_local_publications);
  world_t other;
  world_open(&other, "other");
  rmw_publisher_t * others = publish_on(&other, TEXT, "/t", profile);
  send_text(own, "own, after");
  send_text(others, "another's");
  CHECK(wait_subscription(world, subscription, LONG));
  take_text(subscription, "another's");
  take_nothing(subscription);
  OK(rmw_destroy_publisher(other.node, others));
  world_close(&other);
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, own));
}

void group_subscription(void)
{
  world_t world;
  world_open(&world, "tester");
  a_subscription_wants_all_its_arguments(&world);
  a_subscription_ends_with_its_node_named(&world);
  a_subscription_knows_who_talks(&world);
  the_profile_in_use_is_told(&world);
  own_publications_can_be_ignored(&world);
  world_close(&world);
}
