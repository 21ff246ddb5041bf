// A work queue of numbers, shared by several processes.
//
// usage: shoal_work produce TOPIC COUNT | shoal_work work TOPIC | shoal_work hold TOPIC
//   work: acknowledges every item and says the end; gives each tenth one back once
//   hold: claims one item, says it, and sleeps until it is killed
#include <unistd.h>

#include "shoal_test.h"

enum { WINDOW = 8 };

static rmw_qos_profile_t keep_all(void)
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  return profile;
}

static void publish_item(const rmw_publisher_t * publisher, long number)
{
  char text[32];
  snprintf(text, sizeof text, "%ld", number);
  rmw_ret_t result;
  while ((result = publish_text(publisher, text)) == RMW_RET_TIMEOUT) {
    rmw_reset_error();
  }
  CHECK(result == RMW_RET_OK);
}

static void produce(world_t * world, const char * topic, long count)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
  const rmw_qos_profile_t profile = keep_all();
  const rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_publisher_t * publisher = rmw_create_publisher(world->node, type, topic, &profile, &options);
  CHECK(publisher != NULL);
  const rmw_time_t lease = {3600, 0};
  CHECK(shoal_publisher_make_queue(publisher, 0, &lease) == RMW_RET_INVALID_ARGUMENT);
  CHECK(strstr(rmw_get_error_string().str, "a window of 0 items") != NULL);
  rmw_reset_error();
  CHECK(shoal_publisher_make_queue(publisher, WINDOW, &lease) == RMW_RET_OK);
  for (long number = 1; number <= count; ++number) {
    publish_item(publisher, number);
  }
  SAY("sent");
  CHECK(shoal_publisher_finish(publisher) == RMW_RET_OK);
  CHECK(rmw_destroy_publisher(world->node, publisher) == RMW_RET_OK);
}

static rmw_subscription_t * worker_on(const world_t * world, const char * topic)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
  const rmw_qos_profile_t profile = keep_all();
  const rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription = rmw_create_subscription(world->node, type, topic, &profile, &options);
  CHECK(subscription != NULL);
  CHECK(shoal_subscription_share_work(subscription) == RMW_RET_OK);
  SAY("working");
  return subscription;
}

// Claims an item, every other time as bytes. Its number; 0: there is none.
static long claim(const rmw_subscription_t * subscription, shoal_work_item_t * item, bool serialized)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
  std_msgs__msg__String message;
  bool claimed = false;
  CHECK(std_msgs__msg__String__init(&message));
  if (serialized) {
    rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
    rcutils_allocator_t allocator = rcutils_get_default_allocator();
    CHECK(rmw_serialized_message_init(&bytes, 0, &allocator) == RMW_RET_OK);
    CHECK(shoal_subscription_claim_serialized(subscription, &bytes, item, &claimed) == RMW_RET_OK);
    CHECK(!claimed || rmw_deserialize(&bytes, type, &message) == RMW_RET_OK);
    CHECK(rmw_serialized_message_fini(&bytes) == RMW_RET_OK);
  } else {
    CHECK(shoal_subscription_claim(subscription, &message, item, &claimed) == RMW_RET_OK);
  }
  const long number = claimed ? strtol(message.data.data, NULL, 10) : 0;
  CHECK(!claimed || (uint64_t)number == item->sequence);
  std_msgs__msg__String__fini(&message);
  return number;
}

static void work(world_t * world, const char * topic)
{
  rmw_subscription_t * subscription = worker_on(world, topic);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 1);
  CHECK(wait_set != NULL);
  shoal_outcome_t outcome;
  for (long turn = 0; (outcome = wait_for(subscription, wait_set, 60)) == SHOAL_READY; ++turn) {
    shoal_work_item_t item;
    const long number = claim(subscription, &item, turn % 2 == 1);
    bool current = false;
    if (number != 0 && turn % 10 == 9) {
      CHECK(shoal_subscription_give_back(subscription, &item, &current) == RMW_RET_OK && current);
      CHECK(shoal_subscription_acknowledge(subscription, &item, &current) == RMW_RET_OK && !current);
    } else if (number != 0) {
      CHECK(shoal_subscription_acknowledge(subscription, &item, &current) == RMW_RET_OK && current);
      SAY("item %ld", number);
    }
  }
  SAY("%s", outcome_name(outcome));
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(world->node, subscription) == RMW_RET_OK);
}

static void hold(world_t * world, const char * topic)
{
  rmw_subscription_t * subscription = worker_on(world, topic);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 1);
  shoal_work_item_t item;
  CHECK(wait_for(subscription, wait_set, 60) == SHOAL_READY);
  SAY("holds %ld", claim(subscription, &item, false));
  pause();
}

int main(int argc, char ** argv)
{
  CHECK(argc >= 3);
  world_t world;
  world_open(&world, argv[1]);
  if (strcmp(argv[1], "produce") == 0) {
    CHECK(argc == 4);
    produce(&world, argv[2], strtol(argv[3], NULL, 10));
  } else if (strcmp(argv[1], "work") == 0) {
    work(&world, argv[2]);
  } else {
    hold(&world, argv[2]);
  }
  world_close(&world);
  SAY("done");
  return 0;
}
