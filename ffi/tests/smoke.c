// The plugin as a C program sees it, through the installed headers: one message from a publisher to a subscription.
#include <stdio.h>
#include <string.h>

#include <rcutils/strdup.h>
#include <rmw/error_handling.h>
#include <rmw/rmw.h>
#include <rosidl_runtime_c/string_functions.h>
#include <std_msgs/msg/string.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, rmw_get_error_string().str); \
      return 1; \
    } \
  } while (0)

static int start(rmw_context_t * context)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_init_options_t options = rmw_get_zero_initialized_init_options();
  CHECK(rmw_init_options_init(&options, allocator) == RMW_RET_OK);
  options.enclave = rcutils_strdup("/", allocator);
  options.discovery_options.automatic_discovery_range = RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
  CHECK(rmw_init(&options, context) == RMW_RET_OK);
  CHECK(rmw_init_options_fini(&options) == RMW_RET_OK);
  return 0;
}

static int wait_and_take(rmw_context_t * context, rmw_subscription_t * subscription)
{
  rmw_wait_set_t * wait_set = rmw_create_wait_set(context, 1);
  CHECK(wait_set != NULL);
  void * entries[] = {subscription->data};
  rmw_subscriptions_t subscriptions = {1, entries};
  rmw_time_t timeout = {10, 0};
  CHECK(rmw_wait(&subscriptions, NULL, NULL, NULL, NULL, wait_set, &timeout) == RMW_RET_OK);
  CHECK(entries[0] != NULL);
  std_msgs__msg__String message;
  CHECK(std_msgs__msg__String__init(&message));
  bool taken = false;
  CHECK(rmw_take(subscription, &message, &taken, NULL) == RMW_RET_OK);
  CHECK(taken && strcmp(message.data.data, "from C") == 0);
  std_msgs__msg__String__fini(&message);
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  return 0;
}

static int talk(rmw_context_t * context, rmw_node_t * node)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
  rmw_publisher_options_t publisher_options = rmw_get_default_publisher_options();
  rmw_subscription_options_t subscription_options = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription =
    rmw_create_subscription(node, type, "/talk", &rmw_qos_profile_default, &subscription_options);
  CHECK(subscription != NULL);
  rmw_publisher_t * publisher =
    rmw_create_publisher(node, type, "/talk", &rmw_qos_profile_default, &publisher_options);
  CHECK(publisher != NULL);
  std_msgs__msg__String message;
  CHECK(std_msgs__msg__String__init(&message));
  CHECK(rosidl_runtime_c__String__assign(&message.data, "from C"));
  CHECK(rmw_publish(publisher, &message, NULL) == RMW_RET_OK);
  std_msgs__msg__String__fini(&message);
  CHECK(wait_and_take(context, subscription) == 0);
  CHECK(rmw_destroy_publisher(node, publisher) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(node, subscription) == RMW_RET_OK);
  return 0;
}

int main(void)
{
  rmw_context_t context = rmw_get_zero_initialized_context();
  CHECK(start(&context) == 0);
  CHECK(strcmp(rmw_get_implementation_identifier(), "rmw_shoal") == 0);
  rmw_node_t * node = rmw_create_node(&context, "smoke", "/");
  CHECK(node != NULL);
  CHECK(strcmp(node->name, "smoke") == 0);
  CHECK(talk(&context, node) == 0);
  CHECK(rmw_destroy_node(node) == RMW_RET_OK);
  CHECK(rmw_shutdown(&context) == RMW_RET_OK);
  CHECK(rmw_context_fini(&context) == RMW_RET_OK);
  return 0;
}
