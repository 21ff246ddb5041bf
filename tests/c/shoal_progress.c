// Publishes the numbers from 1, says how far the readers got, and uses the domain's counters.
//
// usage: shoal_progress TOPIC COUNT MILLISECONDS
#include <unistd.h>

#include "shoal_test.h"

enum { TICKS = 1000, COUNTER = 7, COUNTERS = 1024, MOST = 4 };

static void say_flush(const rmw_publisher_t * publisher, uint64_t milliseconds)
{
  const rmw_time_t budget = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  shoal_reader_lag_t late[MOST];
  size_t count = MOST + 1;
  shoal_outcome_t outcome = SHOAL_BROKEN;
  CHECK(shoal_publisher_flush(publisher, &budget, late, MOST, &count, &outcome) == RMW_RET_OK);
  CHECK(count <= MOST && (count == 0) == (outcome == SHOAL_READY));
  SAY("flush %s %zu", outcome_name(outcome), count);
  for (size_t i = 0; i < count; ++i) {
    CHECK(late[i].reliable);
    SAY("late %d %" PRIu64 " %" PRIu64, late[i].known, late[i].messages, late[i].bytes);
  }
  size_t readers = 0;
  CHECK(shoal_publisher_lag(publisher, NULL, 0, &readers) == RMW_RET_OK && readers == 1);
}

static void say_join_bound(const world_t * world, const rmw_publisher_t * publisher, const char * topic)
{
  rmw_gid_t gid;
  uint64_t bound = 0;
  CHECK(rmw_get_gid_for_publisher(publisher, &gid) == RMW_RET_OK);
  rmw_subscription_t * subscription = subscription_on(world, topic);
  CHECK(shoal_subscription_join_bound(subscription, gid.data, &bound) == RMW_RET_OK);
  SAY("bound %" PRIu64, bound);
  gid.data[0] ^= 1;
  CHECK(shoal_subscription_join_bound(subscription, gid.data, &bound) == RMW_RET_INVALID_ARGUMENT);
  rmw_reset_error();
  CHECK(rmw_destroy_subscription(world->node, subscription) == RMW_RET_OK);
}

static void say_counter(const rmw_context_t * context)
{
  uint64_t value = 0;
  CHECK(shoal_tick(context, COUNTERS, 1, &value) == RMW_RET_INVALID_ARGUMENT);
  rmw_reset_error();
  CHECK(shoal_tock(context, COUNTER + 1, 40) == RMW_RET_OK);
  CHECK(shoal_tick(context, COUNTER + 1, 2, &value) == RMW_RET_OK && value >= 42);
  for (int i = 0; i < TICKS; ++i) {
    CHECK(shoal_tick(context, COUNTER, 1, &value) == RMW_RET_OK && value > (uint64_t)i);
  }
  SAY("counter %" PRIu64, value);
}

int main(int argc, char ** argv)
{
  CHECK(argc == 4);
  const long count = strtol(argv[2], NULL, 10);
  world_t world;
  world_open(&world, "progress");
  rmw_publisher_t * publisher = publisher_on(&world, argv[1]);
  size_t readers = 0;
  while (readers == 0) {
    CHECK(rmw_publisher_count_matched_subscriptions(publisher, &readers) == RMW_RET_OK);
    usleep(1000);
  }
  for (long number = 1; number <= count; ++number) {
    publish_number(publisher, number);
  }
  say_flush(publisher, strtoull(argv[3], NULL, 10));
  say_join_bound(&world, publisher, argv[1]);
  say_counter(&world.context);
  CHECK(rmw_destroy_publisher(world.node, publisher) == RMW_RET_OK);
  world_close(&world);
  return 0;
}
