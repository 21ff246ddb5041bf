// Says every sample and every outcome of one subscription, until the topic has ended, or nothing more comes.
//
// usage: shoal_reader TOPIC ENOUGH
//   ENOUGH: after so many samples it waits for a second only; 0 for never
#include "shoal_test.h"

// False at the topic's end.
static bool say_stream_event(const rmw_subscription_t * subscription, shoal_outcome_t waited)
{
  shoal_stream_event_t event;
  bool taken = false;
  CHECK(shoal_subscription_take_stream_event(subscription, &event, &taken) == RMW_RET_OK);
  CHECK(taken && event.outcome == waited);
  if (event.of_topic) {
    SAY("topic %s", outcome_name(event.outcome));
  } else {
    SAY("publisher %s %" PRIu64, outcome_name(event.outcome), event.last_sequence);
  }
  return !event.of_topic;
}

int main(int argc, char ** argv)
{
  CHECK(argc == 3);
  const uint64_t enough = strtoull(argv[2], NULL, 10);
  uint64_t taken_count = 0;
  world_t world;
  world_open(&world, "reader");
  rmw_subscription_t * subscription = subscription_on(&world, argv[1]);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world.context, 1);
  CHECK(wait_set != NULL);
  CHECK(wait_for(subscription, wait_set, 0) == SHOAL_TIMED_OUT);
  SAY("reading");
  for (bool goes_on = true; goes_on; ) {
    const bool has_enough = enough != 0 && taken_count >= enough;
    const shoal_outcome_t outcome = wait_for(subscription, wait_set, has_enough ? 1 : 60);
    if (outcome == SHOAL_READY) {
      CHECK(take_and_say(subscription));
      ++taken_count;
    } else if (outcome == SHOAL_TIMED_OUT) {
      SAY("TIMED_OUT");
      goes_on = false;
    } else {
      goes_on = say_stream_event(subscription, outcome);
    }
  }
  shoal_stream_event_t event;
  bool taken = true;
  CHECK(shoal_subscription_take_stream_event(subscription, &event, &taken) == RMW_RET_OK && !taken);
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(world.node, subscription) == RMW_RET_OK);
  world_close(&world);
  SAY("done");
  return 0;
}
