// rmw/subscription_content_filter_options.h
#include "groups.h"
#include "world.h"

typedef rmw_subscription_content_filter_options_t filter_t;

static filter_t filter_of(const char * expression, size_t count, const char ** parameters)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  filter_t filter = rmw_get_zero_initialized_content_filter_options();
  CHECK(rmw_subscription_content_filter_options_init(expression, count, parameters, &allocator, &filter) == RMW_RET_OK);
  return filter;
}

static void filter_end(filter_t * filter)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  CHECK(rmw_subscription_content_filter_options_fini(filter, &allocator) == RMW_RET_OK);
}

static rmw_subscription_t * subscribe_filtered(const world_t * world, filter_t * filter)
{
  rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_qos_profile_t profile = plain();
  options.content_filter_options = filter;
  return rmw_create_subscription(world->node, type_of(NUMBER), "/n", &profile, &options);
}

static void send_numbers(const rmw_publisher_t * publisher, int32_t first, int32_t last)
{
  for (int32_t number = first; number <= last; number++) {
    send_number(publisher, number);
  }
}

static void only_what_passes_is_delivered(world_t * world)
{
  const char * five[] = {"5"};
  filter_t filter = filter_of("int32_value > %0 AND bool_value = TRUE", 1, five);
  rmw_subscription_t * subscription = subscribe_filtered(world, &filter);
  MADE(subscription);
  CHECK(subscription->is_cft_enabled);
  filter_end(&filter);
  rmw_publisher_t * publisher = publish_on(world, NUMBER, "/n", plain());
  send_numbers(publisher, 1, 4);
  CHECK(!wait_subscription(world, subscription, NOW));
  send_numbers(publisher, 5, 9);
  CHECK(wait_subscription(world, subscription, LONG));
  take_number(subscription, 7);
  take_number(subscription, 9);
  take_nothing(subscription);
  OK(rmw_destroy_publisher(world->node, publisher));
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void a_filter_is_set_changed_read_and_removed(world_t * world)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator(), empty = empty_allocator();
  rcutils_allocator_t invalid = rcutils_get_zero_initialized_allocator();
  rmw_subscription_t * subscription = subscribe_to(world, NUMBER, "/n", plain());
  rmw_publisher_t * publisher = publish_on(world, NUMBER, "/n", plain());
  FOREIGN(rmw_subscription_t, foreign, subscription);
  const char * bounds[] = {"2", "3"};
  filter_t filter = filter_of("int32_value BETWEEN %0 AND %1", 2, bounds), read = rmw_get_zero_initialized_content_filter_options();
  IS_NULL(rmw_subscription_set_content_filter(NULL, &filter));
  IS_NULL(rmw_subscription_set_content_filter(subscription, NULL));
  IS_FOREIGN(rmw_subscription_set_content_filter(&foreign, &filter));
  IS_NULL(rmw_subscription_get_content_filter(NULL, &allocator, &read));
  IS_NULL(rmw_subscription_get_content_filter(subscription, NULL, &read));
  IS_NULL(rmw_subscription_get_content_filter(subscription, &allocator, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_subscription_get_content_filter(subscription, &invalid, &read));
  IS_FOREIGN(rmw_subscription_get_content_filter(&foreign, &allocator, &read));
  // There is none.
  FAILS(RMW_RET_ERROR, rmw_subscription_get_content_filter(subscription, &allocator, &read));
  OK(rmw_subscription_set_content_filter(subscription, &filter));
  CHECK(subscription->is_cft_enabled);
  FAILS(RMW_RET_BAD_ALLOC, rmw_subscription_get_content_filter(subscription, &empty, &read));
  OK(rmw_subscription_get_content_filter(subscription, &allocator, &read));
  CHECK(strcmp(read.filter_expression, "int32_value BETWEEN %0 AND %1") == 0);
  CHECK(read.expression_parameters.size == 2 && strcmp(read.expression_parameters.data[1], "3") == 0);
  send_numbers(publisher, 1, 4);
  take_number(subscription, 2);
  take_number(subscription, 3);
  take_nothing(subscription);
  filter_t none = filter_of("", 0, NULL);
  OK(rmw_subscription_set_content_filter(subscription, &none));
  CHECK(!subscription->is_cft_enabled);
  send_number(publisher, 9);
  take_number(subscription, 9);
  filter_end(&none);
  filter_end(&read);
  filter_end(&filter);
  OK(rmw_destroy_publisher(world->node, publisher));
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void what_is_wrong_in_an_expression_is_refused(const world_t * world)
{
  rmw_subscription_t * subscription = subscribe_to(world, NUMBER, "/n", plain());
  const char * const wrong[] = {
    "int32_value >", "no_such_field = 1", "int32_value = 'text'", "(int32_value = 1", "int32_value = %0", "= 1",
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    filter_t filter = filter_of(wrong[i], 0, NULL);
    FAILS(RMW_RET_ERROR, rmw_subscription_set_content_filter(subscription, &filter));
    NOT_MADE(subscribe_filtered(world, &filter));
    filter_end(&filter);
  }
  CHECK(!subscription->is_cft_enabled);
  OK(rmw_destroy_subscription(world->node, subscription));
}

void group_filters(void)
{
  world_t world;
  world_open(&world, "tester");
  only_what_passes_is_delivered(&world);
  a_filter_is_set_changed_read_and_removed(&world);
  what_is_wrong_in_an_expression_is_refused(&world);
  world_close(&world);
}
