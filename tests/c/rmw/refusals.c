// What this middleware refuses whatever it is asked for, by the code that the headers have for that: UNSUPPORTED.
#include "groups.h"
#include "world.h"

static void memory_is_not_set_aside(void)
{
  rmw_publisher_allocation_t publisher = {NULL, NULL};
  rmw_subscription_allocation_t subscription = {NULL, NULL};
  size_t size = 77;
  FAILS(RMW_RET_UNSUPPORTED, rmw_init_publisher_allocation(type_of(TEXT), NULL, &publisher));
  FAILS(RMW_RET_UNSUPPORTED, rmw_fini_publisher_allocation(&publisher));
  FAILS(RMW_RET_UNSUPPORTED, rmw_init_subscription_allocation(type_of(TEXT), NULL, &subscription));
  FAILS(RMW_RET_UNSUPPORTED, rmw_fini_subscription_allocation(&subscription));
  FAILS(RMW_RET_UNSUPPORTED, rmw_get_serialized_message_size(type_of(TEXT), NULL, &size));
  CHECK(size == 77);
}

static void there_are_no_network_flows(const world_t * world)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_publisher_t * publisher = publish_on(world, TEXT, "/t", plain());
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  FOREIGN(rmw_publisher_t, foreign_publisher, publisher);
  FOREIGN(rmw_subscription_t, foreign_subscription, subscription);
  rmw_network_flow_endpoint_array_t flows = rmw_get_zero_initialized_network_flow_endpoint_array();
  IS_NULL(rmw_publisher_get_network_flow_endpoints(NULL, &allocator, &flows));
  IS_NULL(rmw_publisher_get_network_flow_endpoints(publisher, NULL, &flows));
  IS_NULL(rmw_publisher_get_network_flow_endpoints(publisher, &allocator, NULL));
  IS_FOREIGN(rmw_publisher_get_network_flow_endpoints(&foreign_publisher, &allocator, &flows));
  FAILS(RMW_RET_UNSUPPORTED, rmw_publisher_get_network_flow_endpoints(publisher, &allocator, &flows));
  IS_NULL(rmw_subscription_get_network_flow_endpoints(NULL, &allocator, &flows));
  IS_NULL(rmw_subscription_get_network_flow_endpoints(subscription, NULL, &flows));
  IS_NULL(rmw_subscription_get_network_flow_endpoints(subscription, &allocator, NULL));
  IS_FOREIGN(rmw_subscription_get_network_flow_endpoints(&foreign_subscription, &allocator, &flows));
  FAILS(RMW_RET_UNSUPPORTED, rmw_subscription_get_network_flow_endpoints(subscription, &allocator, &flows));
  CHECK(flows.size == 0 && flows.network_flow_endpoint == NULL);
  OK(rmw_destroy_subscription(world->node, subscription));
  OK(rmw_destroy_publisher(world->node, publisher));
}

static void there_are_no_dynamic_messages(const world_t * world)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_subscription_t * subscription = subscribe_to(world, TEXT, "/t", plain());
  FOREIGN(rmw_subscription_t, foreign, subscription);
  rosidl_dynamic_typesupport_dynamic_data_t message;
  rosidl_dynamic_typesupport_serialization_support_t support;
  memset(&message, 0, sizeof(message));
  memset(&support, 0, sizeof(support));
  rmw_message_info_t info;
  bool taken = false;
  IS_NULL(rmw_take_dynamic_message(NULL, &message, &taken, NULL));
  IS_NULL(rmw_take_dynamic_message(subscription, NULL, &taken, NULL));
  IS_NULL(rmw_take_dynamic_message(subscription, &message, NULL, NULL));
  IS_FOREIGN(rmw_take_dynamic_message(&foreign, &message, &taken, NULL));
  FAILS(RMW_RET_UNSUPPORTED, rmw_take_dynamic_message(subscription, &message, &taken, NULL));
  IS_NULL(rmw_take_dynamic_message_with_info(NULL, &message, &taken, &info, NULL));
  IS_NULL(rmw_take_dynamic_message_with_info(subscription, NULL, &taken, &info, NULL));
  IS_NULL(rmw_take_dynamic_message_with_info(subscription, &message, NULL, &info, NULL));
  IS_NULL(rmw_take_dynamic_message_with_info(subscription, &message, &taken, NULL, NULL));
  IS_FOREIGN(rmw_take_dynamic_message_with_info(&foreign, &message, &taken, &info, NULL));
  FAILS(RMW_RET_UNSUPPORTED, rmw_take_dynamic_message_with_info(subscription, &message, &taken, &info, NULL));
  IS_NULL(rmw_serialization_support_init("library", NULL, &support));
  IS_NULL(rmw_serialization_support_init("library", &allocator, NULL));
  FAILS(RMW_RET_UNSUPPORTED, rmw_serialization_support_init("library", &allocator, &support));
  OK(rmw_destroy_subscription(world->node, subscription));
}

void group_refusals(void)
{
  world_t world;
  world_open(&world, "tester");
  memory_is_not_set_aside();
  there_are_no_network_flows(&world);
  there_are_no_dynamic_messages(&world);
  world_close(&world);
}
