// Publishes the numbers from 1, then does what it is told.
//
// usage: shoal_writer TOPIC COUNT THEN
//   COUNT: how many; 0 for without end
//   THEN: `silent` says "sent" and sleeps until it is killed, `finish` ends the stream first, `destroy` does not,
//     `flush` waits until all is taken, `days` ends two days, publishes as many again, and finishes
#include <unistd.h>

#include "shoal_test.h"

int main(int argc, char ** argv)
{
  CHECK(argc == 4);
  long count = strtol(argv[2], NULL, 10);
  world_t world;
  world_open(&world, "writer");
  rmw_publisher_t * publisher = publisher_on(&world, argv[1]);
  size_t readers = 0;
  while (readers == 0) {
    CHECK(rmw_publisher_count_matched_subscriptions(publisher, &readers) == RMW_RET_OK);
    usleep(1000);
  }
  for (long number = 1; count == 0 || number <= count; ++number) {
    publish_number(publisher, number);
  }
  SAY("sent");
  if (strcmp(argv[3], "days") == 0) {
    CHECK(shoal_publisher_end_of_day(publisher) == RMW_RET_OK);
    CHECK(shoal_context_end_of_day(&world.context) == RMW_RET_OK);
    for (long number = 1; number <= count; ++number) {
      publish_number(publisher, number);
    }
    CHECK(shoal_publisher_finish(publisher) == RMW_RET_OK);
    CHECK(shoal_context_end_of_day(&world.context) == RMW_RET_OK);
    CHECK(shoal_publisher_end_of_day(publisher) == RMW_RET_ERROR);
    rmw_reset_error();
  }
  if (strcmp(argv[3], "finish") == 0) {
    CHECK(shoal_publisher_finish(publisher) == RMW_RET_OK);
    CHECK(shoal_publisher_finish(publisher) == RMW_RET_OK);
    CHECK(publish_text(publisher, "after the end") == RMW_RET_ERROR);
    rmw_reset_error();
  }
  if (strcmp(argv[3], "flush") == 0) {
    size_t late = 0;
    shoal_outcome_t outcome = SHOAL_BROKEN;
    CHECK(shoal_publisher_flush(publisher, NULL, NULL, 0, &late, &outcome) == RMW_RET_OK);
    SAY("%s", outcome_name(outcome));
  }
  if (strcmp(argv[3], "silent") == 0) {
    pause();
  }
  CHECK(rmw_destroy_publisher(world.node, publisher) == RMW_RET_OK);
  world_close(&world);
  return 0;
}
