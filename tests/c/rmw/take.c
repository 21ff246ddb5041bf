// rmw/rmw.h: taking messages, alone, in sequence and as bytes.
#include <time.h>

#include "groups.h"
#include "world.h"

typedef struct pair
{
  rmw_publisher_t * publisher;
  rmw_subscription_t * subscription;
} pair_t;

static pair_t pair_open(const world_t * world)
{
  pair_t pair = {publish_on(world, NUMBER, "/n", plain()), subscribe_to(world, NUMBER, "/n", plain())};
  return pair;
}

static void pair_close(const world_t * world, pair_t pair)
{
  OK(rmw_destroy_subscription(world->node, pair.subscription));
  OK(rmw_destroy_publisher(world->node, pair.publisher));
}

static int64_t now(void)
{
  struct timespec time;
  CHECK(clock_gettime(CLOCK_REALTIME, &time) == 0);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void is_the_info_of(const rmw_message_info_t * info, const rmw_publisher_t * publisher, uint64_t sequence)
{
  rmw_gid_t gid;
  bool same = false;
  OK(rmw_get_gid_for_publisher(publisher, &gid));
  OK(rmw_compare_gids_equal(&gid, &info->publisher_gid, &same));
  CHECK(same);
  CHECK(info->publication_sequence_number == sequence);
  CHECK(info->source_timestamp > 0 && info->source_timestamp <= info->received_timestamp);
  CHECK(!info->from_intra_process);
}

static void a_message_is_taken_once(const world_t * world)
{
  pair_t pair = pair_open(world);
  FOREIGN(rmw_subscription_t, foreign, pair.subscription);
  void * message = message_new(NUMBER);
  bool taken = true;
  IS_NULL(rmw_take(NULL, message, &taken, NULL));
  IS_NULL(rmw_take(pair.subscription, NULL, &taken, NULL));
  IS_NULL(rmw_take(pair.subscription, message, NULL, NULL));
  IS_FOREIGN(rmw_take(&foreign, message, &taken, NULL));
  // "A failed take or nothing to take" says so by taken.
  OK(rmw_take(pair.subscription, message, &taken, NULL));
  CHECK(!taken);
  send_number(pair.publisher, 7);
  // What was refused has taken nothing away.
  IS_NULL(rmw_take(pair.subscription, message, NULL, NULL));
  take_number(pair.subscription, 7);
  take_nothing(pair.subscription);
  message_free(NUMBER, message);
  pair_close(world, pair);
}

static void a_message_comes_with_what_is_known(const world_t * world)
{
  pair_t pair = pair_open(world);
  FOREIGN(rmw_subscription_t, foreign, pair.subscription);
  void * message = message_new(NUMBER);
  bool taken = true;
  rmw_message_info_t info;
  IS_NULL(rmw_take_with_info(NULL, message, &taken, &info, NULL));
  IS_NULL(rmw_take_with_info(pair.subscription, NULL, &taken, &info, NULL));
  IS_NULL(rmw_take_with_info(pair.subscription, message, NULL, &info, NULL));
  IS_NULL(rmw_take_with_info(pair.subscription, message, &taken, NULL, NULL));
  IS_FOREIGN(rmw_take_with_info(&foreign, message, &taken, &info, NULL));
  int64_t before = now();
  for (int32_t number = 1; number <= 3; number++) {
    send_number(pair.publisher, number);
  }
  for (int32_t number = 1; number <= 3; number++) {
    OK(rmw_take_with_info(pair.subscription, message, &taken, &info, NULL));
    CHECK(taken && number_of(message) == number);
    is_the_info_of(&info, pair.publisher, (uint64_t)number);
    CHECK(info.reception_sequence_number == (uint64_t)number);
    CHECK(info.source_timestamp >= before && info.received_timestamp <= now());
  }
  OK(rmw_take_with_info(pair.subscription, message, &taken, &info, NULL));
  CHECK(!taken);
  message_free(NUMBER, message);
  pair_close(world, pair);
}

static void messages_are_taken_in_sequence(const world_t * world)
{
  pair_t pair = pair_open(world);
  FOREIGN(rmw_subscription_t, foreign, pair.subscription);
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_message_sequence_t messages = rmw_get_zero_initialized_message_sequence();
  rmw_message_info_sequence_t infos = rmw_get_zero_initialized_message_info_sequence(), few = infos;
  CHECK(rmw_message_sequence_init(&messages, 3, &allocator) == RMW_RET_OK);
  CHECK(rmw_message_info_sequence_init(&infos, 3, &allocator) == RMW_RET_OK);
  CHECK(rmw_message_info_sequence_init(&few, 2, &allocator) == RMW_RET_OK);
  for (size_t i = 0; i < 3; i++) {
    messages.data[i] = message_new(NUMBER);
  }
  size_t taken = 77;
  IS_NULL(rmw_take_sequence(NULL, 3, &messages, &infos, &taken, NULL));
  IS_NULL(rmw_take_sequence(pair.subscription, 3, NULL, &infos, &taken, NULL));
  IS_NULL(rmw_take_sequence(pair.subscription, 3, &messages, NULL, &taken, NULL));
  IS_NULL(rmw_take_sequence(pair.subscription, 3, &messages, &infos, NULL, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_take_sequence(pair.subscription, 0, &messages, &infos, &taken, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_take_sequence(pair.subscription, 4, &messages, &infos, &taken, NULL));
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_take_sequence(pair.subscription, 3, &messages, &few, &taken, NULL));
  IS_FOREIGN(rmw_take_sequence(&foreign, 3, &messages, &infos, &taken, NULL));
  CHECK(taken == 77);
  for (int32_t number = 1; number <= 5; number++) {
    send_number(pair.publisher, number);
  }
  OK(rmw_take_sequence(pair.subscription, 3, &messages, &infos, &taken, NULL));
  CHECK(taken == 3 && messages.size == 3 && infos.size == 3);
  CHECK(number_of(messages.data[0]) == 1 && number_of(messages.data[2]) == 3);
  is_the_info_of(&infos.data[2], pair.publisher, 3);
  OK(rmw_take_sequence(pair.subscription, 3, &messages, &infos, &taken, NULL));
  CHECK(taken == 2 && messages.size == 2 && infos.size == 2);
  CHECK(number_of(messages.data[0]) == 4 && number_of(messages.data[1]) == 5);
  OK(rmw_take_sequence(pair.subscription, 3, &messages, &infos, &taken, NULL));
  CHECK(taken == 0);
  for (size_t i = 0; i < 3; i++) {
    message_free(NUMBER, messages.data[i]);
  }
  CHECK(rmw_message_sequence_fini(&messages) == RMW_RET_OK);
  CHECK(rmw_message_info_sequence_fini(&infos) == RMW_RET_OK);
  CHECK(rmw_message_info_sequence_fini(&few) == RMW_RET_OK);
  pair_close(world, pair);
}

static void bytes_are_the_message(const rmw_serialized_message_t * bytes, int32_t number)
{
  void * message = message_new(NUMBER);
  OK(rmw_deserialize(bytes, type_of(NUMBER), message));
  CHECK(number_of(message) == number);
  message_free(NUMBER, message);
}

static void a_message_is_taken_as_bytes(const world_t * world)
{
  pair_t pair = pair_open(world);
  FOREIGN(rmw_subscription_t, foreign, pair.subscription);
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  CHECK(rmw_serialized_message_init(&bytes, 0, &allocator) == RMW_RET_OK);
  bool taken = true;
  rmw_message_info_t info;
  IS_NULL(rmw_take_serialized_message(NULL, &bytes, &taken, NULL));
  IS_NULL(rmw_take_serialized_message(pair.subscription, NULL, &taken, NULL));
  IS_NULL(rmw_take_serialized_message(pair.subscription, &bytes, NULL, NULL));
  IS_FOREIGN(rmw_take_serialized_message(&foreign, &bytes, &taken, NULL));
  IS_NULL(rmw_take_serialized_message_with_info(NULL, &bytes, &taken, &info, NULL));
  IS_NULL(rmw_take_serialized_message_with_info(pair.subscription, NULL, &taken, &info, NULL));
  IS_NULL(rmw_take_serialized_message_with_info(pair.subscription, &bytes, NULL, &info, NULL));
  IS_NULL(rmw_take_serialized_message_with_info(pair.subscription, &bytes, &taken, NULL, NULL));
  IS_FOREIGN(rmw_take_serialized_message_with_info(&foreign, &bytes, &taken, &info, NULL));
  send_number(pair.publisher, 1);
  send_number(pair.publisher, 2);
  OK(rmw_take_serialized_message(pair.subscription, &bytes, &taken, NULL));
  CHECK(taken && bytes.buffer_length % 4 == 0);
  bytes_are_the_message(&bytes, 1);
  OK(rmw_take_serialized_message_with_info(pair.subscription, &bytes, &taken, &info, NULL));
  CHECK(taken);
  bytes_are_the_message(&bytes, 2);
  is_the_info_of(&info, pair.publisher, 2);
  // And back: what was taken as bytes can be published as bytes.
  OK(rmw_publish_serialized_message(pair.publisher, &bytes, NULL));
  take_number(pair.subscription, 2);
  OK(rmw_take_serialized_message_with_info(pair.subscription, &bytes, &taken, &info, NULL));
  CHECK(!taken);
  CHECK(rmw_serialized_message_fini(&bytes) == RMW_RET_OK);
  pair_close(world, pair);
}

// BAD_ALLOC "if memory allocation fails": the array cannot grow.
static void no_memory_for_bytes(const world_t * world)
{
  pair_t pair = pair_open(world);
  rmw_serialized_message_t poor = rmw_get_zero_initialized_serialized_message();
  poor.allocator = empty_allocator();
  bool taken = true;
  rmw_message_info_t info;
  send_number(pair.publisher, 1);
  FAILS(RMW_RET_BAD_ALLOC, rmw_take_serialized_message(pair.subscription, &poor, &taken, NULL));
  CHECK(!taken);
  send_number(pair.publisher, 2);
  FAILS(RMW_RET_BAD_ALLOC, rmw_take_serialized_message_with_info(pair.subscription, &poor, &taken, &info, NULL));
  CHECK(!taken);
  pair_close(world, pair);
}

// Bytes that are no message of the type: the taker is told, and the next message is not harmed.
static void what_is_no_message_is_an_error(const world_t * world)
{
  pair_t pair = pair_open(world);
  uint8_t noise[] = {0, 1, 0, 0, 1, 2, 3};
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  bytes.buffer = noise;
  bytes.buffer_length = bytes.buffer_capacity = sizeof(noise);
  void * message = message_new(NUMBER);
  bool taken = true;
  OK(rmw_publish_serialized_message(pair.publisher, &bytes, NULL));
  send_number(pair.publisher, 8);
  FAILS(RMW_RET_ERROR, rmw_take(pair.subscription, message, &taken, NULL));
  CHECK(!taken);
  take_number(pair.subscription, 8);
  message_free(NUMBER, message);
  pair_close(world, pair);
}

void group_take(void)
{
  world_t world;
  world_open(&world, "tester");
  a_message_is_taken_once(&world);
  a_message_comes_with_what_is_known(&world);
  messages_are_taken_in_sequence(&world);
  a_message_is_taken_as_bytes(&world);
  no_memory_for_bytes(&world);
  what_is_no_message_is_an_error(&world);
  world_close(&world);
}
