// What the programs that test shoal.h share: a context, a node, endpoints of std_msgs/String, and lines on stdout for
// the test that started them.
#ifndef SHOAL_TEST_H_
#define SHOAL_TEST_H_

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rcutils/strdup.h>
#include <rmw/error_handling.h>
#include <rmw/rmw.h>
#include <rosidl_runtime_c/string_functions.h>
#include <shoal.h>
#include <std_msgs/msg/string.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, rmw_get_error_string().str); \
      exit(1); \
    } \
  } while (0)

// A line that the test waits for.
#define SAY(...) \
  do { \
    printf(__VA_ARGS__); \
    putchar('\n'); \
    fflush(stdout); \
  } while (0)

typedef struct
{
  rmw_context_t context;
  rmw_node_t * node;
} world_t;

static inline void world_open(world_t * world, const char * name)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_init_options_t options = rmw_get_zero_initialized_init_options();
  CHECK(rmw_init_options_init(&options, allocator) == RMW_RET_OK);
  options.enclave = rcutils_strdup("/", allocator);
  options.discovery_options.automatic_discovery_range = RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
  world->context = rmw_get_zero_initialized_context();
  CHECK(rmw_init(&options, &world->context) == RMW_RET_OK);
  CHECK(rmw_init_options_fini(&options) == RMW_RET_OK);
  world->node = rmw_create_node(&world->context, name, "/");
  CHECK(world->node != NULL);
}

static inline void world_close(world_t * world)
{
  CHECK(rmw_destroy_node(world->node) == RMW_RET_OK);
  CHECK(rmw_shutdown(&world->context) == RMW_RET_OK);
  CHECK(rmw_context_fini(&world->context) == RMW_RET_OK);
}

// Reliable, keeping the last 1,000.
static inline rmw_qos_profile_t deep(void)
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.depth = 1000;
  return profile;
}

static inline rmw_publisher_t * publisher_on(const world_t * world, const char * topic)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
  rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_qos_profile_t profile = deep();
  rmw_publisher_t * publisher = rmw_create_publisher(world->node, type, topic, &profile, &options);
  CHECK(publisher != NULL);
  return publisher;
}

static inline rmw_subscription_t * subscription_on(const world_t * world, const char * topic)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
  rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_qos_profile_t profile = deep();
  rmw_subscription_t * subscription = rmw_create_subscription(world->node, type, topic, &profile, &options);
  CHECK(subscription != NULL);
  return subscription;
}

static inline rmw_ret_t publish_text(const rmw_publisher_t * publisher, const char * text)
{
  std_msgs__msg__String message;
  CHECK(std_msgs__msg__String__init(&message));
  CHECK(rosidl_runtime_c__String__assign(&message.data, text));
  rmw_ret_t result = rmw_publish(publisher, &message, NULL);
  std_msgs__msg__String__fini(&message);
  return result;
}

static inline void publish_number(const rmw_publisher_t * publisher, long number)
{
  char text[32];
  snprintf(text, sizeof text, "%ld", number);
  CHECK(publish_text(publisher, text) == RMW_RET_OK);
}

// Takes one sample and says it; false when there is none.
static inline bool take_and_say(const rmw_subscription_t * subscription)
{
  std_msgs__msg__String message;
  bool taken = false;
  CHECK(std_msgs__msg__String__init(&message));
  CHECK(rmw_take(subscription, &message, &taken, NULL) == RMW_RET_OK);
  if (taken) {
    SAY("sample %s", message.data.data);
  }
  std_msgs__msg__String__fini(&message);
  return taken;
}

static inline const char * outcome_name(shoal_outcome_t outcome)
{
  switch (outcome) {
    case SHOAL_READY: return "READY";
    case SHOAL_END_OF_STREAM: return "END_OF_STREAM";
    case SHOAL_TIMED_OUT: return "TIMED_OUT";
    case SHOAL_INTERRUPTED: return "INTERRUPTED";
    case SHOAL_BROKEN: return "BROKEN";
    case SHOAL_END_OF_DAY: return "END_OF_DAY";
    case SHOAL_SHED: return "SHED";
  }
  return "?";
}

// Waits for one subscription, as long as `seconds`.
static inline shoal_outcome_t wait_for(
  const rmw_subscription_t * subscription, rmw_wait_set_t * wait_set, uint64_t seconds)
{
  void * entries[] = {subscription->data};
  rmw_subscriptions_t subscriptions = {1, entries};
  rmw_time_t timeout = {seconds, 0};
  shoal_outcome_t outcome = SHOAL_READY;
  CHECK(shoal_wait(&subscriptions, NULL, NULL, NULL, NULL, wait_set, &timeout, &outcome) == RMW_RET_OK);
  shoal_outcome_t last = SHOAL_READY;
  CHECK(shoal_wait_outcome(wait_set, &last) == RMW_RET_OK && last == outcome);
  bool nothing = outcome == SHOAL_INTERRUPTED || outcome == SHOAL_TIMED_OUT;
  CHECK((entries[0] == NULL) == nothing);
  return outcome;
}

#endif  // SHOAL_TEST_H_
