// Bytes through a stream, from one process to another.
//
// usage: shoal_stream produce TOPIC BYTES THEN | shoal_stream consume TOPIC ENOUGH
//   THEN: `finish` ends the stream behind the last byte, `silent` says "sent" and sleeps until it is killed
//   ENOUGH: after so many chunks it says "enough" and sleeps until it is killed; 0 for never
#include <unistd.h>

#include <std_msgs/msg/u_int8_multi_array.h>

#include "shoal_test.h"

enum { WINDOW = 4, CHUNK = 5000 };

static rmw_qos_profile_t keep_all(void)
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  return profile;
}

static uint8_t byte_at(size_t at)
{
  return (uint8_t)(at * 7 + at / 256);
}

static void wait_for_credit(const shoal_stream_t * stream, rmw_wait_set_t * wait_set)
{
  const rmw_guard_condition_t * credit = shoal_stream_credit(stream);
  CHECK(credit != NULL);
  void * entries[] = {credit->data};
  rmw_guard_conditions_t guards = {1, entries};
  const rmw_time_t patience = {60, 0};
  shoal_outcome_t outcome = SHOAL_BROKEN;
  CHECK(shoal_wait(NULL, &guards, NULL, NULL, NULL, wait_set, &patience, &outcome) == RMW_RET_OK);
  CHECK(outcome == SHOAL_READY && entries[0] == credit->data);
}

static void check_refusals(const world_t * world, const rmw_publisher_t * publisher)
{
  CHECK(shoal_stream_create(publisher, 0, CHUNK) == NULL);
  CHECK(strstr(rmw_get_error_string().str, "a window of 0 chunks") != NULL);
  rmw_reset_error();
  rmw_publisher_t * texts = publisher_on(world, "/texts");
  CHECK(shoal_stream_create(texts, WINDOW, CHUNK) == NULL);
  CHECK(strstr(rmw_get_error_string().str, "UInt8MultiArray") != NULL);
  rmw_reset_error();
  CHECK(rmw_destroy_publisher(world->node, texts) == RMW_RET_OK);
}

// Offers one byte, waits where there is no credit, and answers what became of it.
static shoal_offered_t offer_first(const shoal_stream_t * stream, const uint8_t * data, rmw_wait_set_t * wait_set)
{
  shoal_offered_t offered = SHOAL_FULL;
  while (offered == SHOAL_FULL) {
    CHECK(shoal_stream_offer(stream, data, 1, &offered) == RMW_RET_OK);
    if (offered == SHOAL_FULL) {
      wait_for_credit(stream, wait_set);
    }
  }
  return offered;
}

static bool is_over(const shoal_stream_t * stream, uint64_t * peak)
{
  shoal_stream_state_t state;
  CHECK(shoal_stream_get_state(stream, &state) == RMW_RET_OK);
  CHECK(state.window == WINDOW && state.peak <= WINDOW && state.in_flight + state.available <= WINDOW);
  *peak = state.peak;
  return state.over;
}

static void produce(world_t * world, const char * topic, size_t length, const char * then)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
  const rmw_qos_profile_t profile = keep_all();
  const rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_publisher_t * publisher = rmw_create_publisher(world->node, type, topic, &profile, &options);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 1);
  uint8_t * data = (uint8_t *)malloc(length);
  CHECK(publisher != NULL && wait_set != NULL && data != NULL);
  for (size_t at = 0; at < length; ++at) {
    data[at] = byte_at(at);
  }
  check_refusals(world, publisher);
  shoal_stream_t * stream = shoal_stream_create(publisher, WINDOW, CHUNK);
  CHECK(stream != NULL);
  CHECK(rmw_destroy_guard_condition((rmw_guard_condition_t *)shoal_stream_credit(stream)) == RMW_RET_INVALID_ARGUMENT);
  rmw_reset_error();
  CHECK(offer_first(stream, data, wait_set) == SHOAL_SENT);
  size_t reached = 1;
  uint64_t peak = 0;
  while (reached < length && !is_over(stream, &peak)) {
    wait_for_credit(stream, wait_set);
    CHECK(shoal_stream_write(stream, data, length, reached, 0, &reached) == RMW_RET_OK);
  }
  if (reached < length) {
    CHECK(offer_first(stream, data, wait_set) == SHOAL_FINISHED);
    SAY("deserted");
  } else {
    CHECK(!is_over(stream, &peak) && peak > 0);
    SAY("sent");
  }
  if (strcmp(then, "silent") == 0) {
    pause();
  }
  CHECK(shoal_stream_finish(stream) == RMW_RET_OK);
  CHECK(is_over(stream, &peak));
  CHECK(shoal_stream_destroy(stream) == RMW_RET_OK);
  free(data);
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_publisher(world->node, publisher) == RMW_RET_OK);
}

// Takes one chunk, and answers the byte after it.
static size_t take_chunk(const rmw_subscription_t * subscription, size_t at)
{
  std_msgs__msg__UInt8MultiArray message;
  bool taken = false;
  CHECK(std_msgs__msg__UInt8MultiArray__init(&message));
  CHECK(rmw_take(subscription, &message, &taken, NULL) == RMW_RET_OK && taken);
  CHECK(message.data.size > 0 && message.data.size <= CHUNK && message.layout.dim.size == 0);
  for (size_t i = 0; i < message.data.size; ++i) {
    CHECK(message.data.data[i] == byte_at(at + i));
  }
  at += message.data.size;
  std_msgs__msg__UInt8MultiArray__fini(&message);
  return at;
}

static void consume(world_t * world, const char * topic, long enough)
{
  const rosidl_message_type_support_t * type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
  const rmw_qos_profile_t profile = keep_all();
  const rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription = rmw_create_subscription(world->node, type, topic, &profile, &options);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world->context, 1);
  CHECK(subscription != NULL && wait_set != NULL);
  CHECK(shoal_subscription_consumed(subscription, 0) == RMW_RET_INVALID_ARGUMENT);
  rmw_reset_error();
  CHECK(shoal_subscription_hold_credit(subscription) == RMW_RET_OK);
  CHECK(shoal_subscription_consumed(subscription, 1) == RMW_RET_INVALID_ARGUMENT);
  rmw_reset_error();
  SAY("consuming");
  size_t at = 0;
  long chunks = 0;
  shoal_outcome_t outcome;
  while ((outcome = wait_for(subscription, wait_set, 60)) == SHOAL_READY) {
    at = take_chunk(subscription, at);
    CHECK(shoal_subscription_consumed(subscription, 1) == RMW_RET_OK);
    if (++chunks == enough) {
      SAY("enough");
      pause();
    }
  }
  SAY("%s %zu", outcome_name(outcome), at);
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(world->node, subscription) == RMW_RET_OK);
}

int main(int argc, char ** argv)
{
  CHECK(argc >= 4);
  world_t world;
  world_open(&world, argv[1]);
  if (strcmp(argv[1], "produce") == 0) {
    CHECK(argc == 5);
    produce(&world, argv[2], strtoull(argv[3], NULL, 10), argv[4]);
  } else {
    consume(&world, argv[2], strtol(argv[3], NULL, 10));
  }
  world_close(&world);
  SAY("done");
  return 0;
}
