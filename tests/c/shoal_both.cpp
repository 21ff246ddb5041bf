// The roles of shoal_reader.c, shoal_writer.c and shoal_interrupt.c in C++, by the face that C++ has.
//
// usage: shoal_both read TOPIC ENOUGH | shoal_both write TOPIC COUNT THEN | shoal_both interrupt TOPIC
#include <csignal>
#include <chrono>
#include <string>
#include <thread>

#include <shoal.hpp>

#include "shoal_test.h"

namespace
{

class Reader
{
public:
  Reader(world_t & world, const char * topic)
  : node_(world.node), subscription_(subscription_on(&world, topic)), wait_set_(rmw_create_wait_set(&world.context, 1))
  {
    CHECK(wait_set_ != nullptr);
  }

  ~Reader()
  {
    CHECK(rmw_destroy_wait_set(wait_set_) == RMW_RET_OK);
    CHECK(rmw_destroy_subscription(node_, subscription_) == RMW_RET_OK);
  }

  shoal_outcome_t wait(std::chrono::seconds patience)
  {
    const shoal_outcome_t outcome = shoal::wait(wait_set_, subscription_, patience);
    CHECK(shoal::wait_outcome(wait_set_) == outcome);
    return outcome;
  }

  rmw_subscription_t * subscription() {return subscription_;}

private:
  rmw_node_t * node_;
  rmw_subscription_t * subscription_;
  rmw_wait_set_t * wait_set_;
};

bool say(const shoal_stream_event_t & event)
{
  if (event.of_topic) {
    SAY("topic %s", outcome_name(event.outcome));
  } else {
    SAY("publisher %s %" PRIu64, outcome_name(event.outcome), event.last_sequence);
  }
  return !event.of_topic;
}

void read(world_t & world, const char * topic, long enough)
{
  Reader reader(world, topic);
  CHECK(reader.wait(std::chrono::seconds(0)) == SHOAL_TIMED_OUT);
  SAY("reading");
  long count = 0;
  for (bool goes_on = true; goes_on; ) {
    const bool has_enough = enough != 0 && count >= enough;
    const shoal_outcome_t outcome = reader.wait(std::chrono::seconds(has_enough ? 1 : 60));
    if (outcome == SHOAL_READY) {
      CHECK(take_and_say(reader.subscription()));
      ++count;
    } else if (outcome == SHOAL_TIMED_OUT) {
      SAY("TIMED_OUT");
      goes_on = false;
    } else {
      goes_on = say(shoal::take_stream_event(reader.subscription()).value());
    }
  }
}

void write(world_t & world, const char * topic, long count, const std::string & then)
{
  rmw_publisher_t * publisher = publisher_on(&world, topic);
  size_t readers = 0;
  while (readers == 0) {
    CHECK(rmw_publisher_count_matched_subscriptions(publisher, &readers) == RMW_RET_OK);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (long number = 1; number <= count; ++number) {
    publish_number(publisher, number);
  }
  SAY("sent");
  if (then == "progress") {
    const shoal_outcome_t outcome = shoal::flush(publisher, std::chrono::seconds(30));
    SAY("flush %s %zu", outcome_name(outcome), shoal::lag(publisher).size());
    rmw_gid_t gid;
    CHECK(rmw_get_gid_for_publisher(publisher, &gid) == RMW_RET_OK);
    rmw_subscription_t * subscription = subscription_on(&world, topic);
    SAY("bound %" PRIu64, shoal::join_bound(subscription, gid));
    CHECK(rmw_destroy_subscription(world.node, subscription) == RMW_RET_OK);
    shoal::tock(&world.context, 5, 41);
    SAY("counter %" PRIu64, shoal::tick(&world.context, 5));
  } else if (then == "days") {
    shoal::end_of_day(publisher);
    shoal::end_of_day(&world.context);
    for (long number = 1; number <= count; ++number) {
      publish_number(publisher, number);
    }
    shoal::finish(publisher);
  } else if (then == "finish") {
    shoal::finish(publisher);
    CHECK(publish_text(publisher, "after the end") == RMW_RET_ERROR);
    rmw_reset_error();
  } else if (then == "silent") {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  CHECK(rmw_destroy_publisher(world.node, publisher) == RMW_RET_OK);
}

void interrupt(world_t & world, const char * topic)
{
  Reader reader(world, topic);
  bool refused = false;
  try {
    shoal::Interrupt impossible{SIGUSR1, SIGKILL};
  } catch (const shoal::Error & error) {
    refused = error.code() == RMW_RET_ERROR && std::string(error.what()).find("signal 9 ") != std::string::npos;
  }
  CHECK(refused);
  {
    shoal::Interrupt interrupt{SIGINT};
    const shoal::Interrupt other;
    SAY("armed");
    shoal_outcome_t outcome;
    bool first = true;
    while ((outcome = reader.wait(std::chrono::seconds(60))) == SHOAL_READY) {
      std_msgs__msg__String message;
      bool taken = false;
      CHECK(std_msgs__msg__String__init(&message));
      CHECK(rmw_take(reader.subscription(), &message, &taken, nullptr) == RMW_RET_OK);
      std_msgs__msg__String__fini(&message);
      if (taken && first) {
        SAY("taking");
        first = false;
      }
    }
    SAY("%s", outcome_name(outcome));
    CHECK(other.interrupted());
    other.resume();
    CHECK(!interrupt.interrupted());
    interrupt.interrupt();
    CHECK(reader.wait(std::chrono::seconds(60)) == SHOAL_INTERRUPTED);
    interrupt.resume();
  }
  CHECK(std::signal(SIGINT, SIG_DFL) == SIG_DFL);
}

}  // namespace

int main(int argc, char ** argv)
{
  CHECK(argc >= 3);
  const std::string role = argv[1];
  world_t world;
  world_open(&world, role.c_str());
  if (role == "read") {
    read(world, argv[2], std::stol(argv[3]));
  } else if (role == "write") {
    write(world, argv[2], std::stol(argv[3]), argv[4]);
  } else {
    interrupt(world, argv[2]);
  }
  world_close(&world);
  if (role != "write") {
    SAY("done");
  }
  return 0;
}
