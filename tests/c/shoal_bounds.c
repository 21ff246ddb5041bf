// A subscription that is shed when it is more than ten samples behind, and joins again.
//
// usage: shoal_bounds TOPIC
#include <stdatomic.h>
#include <unistd.h>

#include "shoal_test.h"

enum { BOUND = 10 };

static void count_events(const void * user_data, size_t count)
{
  atomic_size_t * told = (atomic_size_t *)(uintptr_t)user_data;
  atomic_fetch_add(told, count);
}

static void set_bounds(const rmw_subscription_t * subscription)
{
  shoal_bounds_t bounds = {70000, 0, 0, SHOAL_SHED_READER};
  CHECK(shoal_subscription_set_bounds(subscription, &bounds) == RMW_RET_INVALID_ARGUMENT);
  rmw_reset_error();
  bounds.messages = BOUND;
  CHECK(shoal_subscription_set_bounds(subscription, &bounds) == RMW_RET_OK);
}

static shoal_source_lag_t lag_of(const rmw_subscription_t * subscription)
{
  shoal_source_lag_t lag;
  size_t count = 0;
  CHECK(shoal_subscription_lag(subscription, &lag, 1, &count) == RMW_RET_OK && count == 1);
  return lag;
}

int main(int argc, char ** argv)
{
  CHECK(argc == 2);
  atomic_size_t told = 0;
  world_t world;
  world_open(&world, "slow");
  rmw_subscription_t * subscription = subscription_on(&world, argv[1]);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world.context, 1);
  CHECK(wait_set != NULL);
  set_bounds(subscription);
  CHECK(shoal_subscription_set_on_stream_event_callback(subscription, count_events, &told) == RMW_RET_OK);
  SAY("reading");
  CHECK(wait_for(subscription, wait_set, 60) == SHOAL_SHED);
  shoal_stream_event_t event;
  bool taken = false;
  CHECK(shoal_subscription_take_stream_event(subscription, &event, &taken) == RMW_RET_OK && taken);
  CHECK(event.outcome == SHOAL_SHED && !event.of_topic);
  const shoal_source_lag_t lag = lag_of(subscription);
  CHECK(lag.shed && memcmp(lag.publisher_gid, event.publisher_gid, RMW_GID_STORAGE_SIZE) == 0);
  SAY("shed behind %" PRIu64 ", %" PRIu64 " missing", event.last_sequence, lag.messages);
  uint64_t bound = 0, joined = 0;
  CHECK(shoal_subscription_rejoin(subscription, event.publisher_gid, &bound) == RMW_RET_OK);
  SAY("bound %" PRIu64, bound);
  CHECK(!lag_of(subscription).shed);
  const rmw_subscription_t * all[] = {subscription, subscription};
  CHECK(shoal_join_many(all, 2) == RMW_RET_OK);
  CHECK(shoal_subscription_join_bound(subscription, event.publisher_gid, &joined) == RMW_RET_OK && joined == bound);
  while (atomic_load(&told) == 0) {
    usleep(1000);
  }
  CHECK(shoal_subscription_set_on_stream_event_callback(subscription, NULL, NULL) == RMW_RET_OK);
  SAY("told %zu", atomic_load(&told));
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(world.node, subscription) == RMW_RET_OK);
  world_close(&world);
  return 0;
}
