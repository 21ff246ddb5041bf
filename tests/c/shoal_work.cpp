// The roles of shoal_work.c in C++, by the face that C++ has.
//
// usage: shoal_work produce TOPIC COUNT | shoal_work work TOPIC | shoal_work hold TOPIC
#include <chrono>
#include <string>
#include <thread>

#include <shoal.hpp>

#include "shoal_test.h"

namespace
{

constexpr size_t WINDOW = 8;

rmw_qos_profile_t keep_all()
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  return profile;
}

const rosidl_message_type_support_t * text()
{
  return ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
}

class Message
{
public:
  Message() {CHECK(std_msgs__msg__String__init(&message_));}
  ~Message() {std_msgs__msg__String__fini(&message_);}
  Message(const Message &) = delete;
  Message & operator=(const Message &) = delete;
  void * get() {return &message_;}
  uint64_t number() const {return std::stoul(message_.data.data);}

private:
  std_msgs__msg__String message_;
};

void produce(world_t & world, const char * topic, long count)
{
  const rmw_qos_profile_t profile = keep_all();
  const rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_publisher_t * publisher = rmw_create_publisher(world.node, text(), topic, &profile, &options);
  CHECK(publisher != nullptr);
  shoal::make_queue(publisher, WINDOW, std::chrono::hours(1));
  for (long number = 1; number <= count; ++number) {
    rmw_ret_t result;
    while ((result = publish_text(publisher, std::to_string(number).c_str())) == RMW_RET_TIMEOUT) {
      rmw_reset_error();
    }
    CHECK(result == RMW_RET_OK);
  }
  SAY("sent");
  shoal::finish(publisher);
  CHECK(rmw_destroy_publisher(world.node, publisher) == RMW_RET_OK);
}

void work(world_t & world, const char * topic, bool hold)
{
  const rmw_qos_profile_t profile = keep_all();
  const rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription = rmw_create_subscription(world.node, text(), topic, &profile, &options);
  rmw_wait_set_t * wait_set = rmw_create_wait_set(&world.context, 1);
  CHECK(subscription != nullptr && wait_set != nullptr);
  shoal::share_work(subscription);
  SAY("working");
  shoal_outcome_t outcome;
  for (long turn = 0; (outcome = shoal::wait(wait_set, subscription, std::chrono::seconds(60))) == SHOAL_READY; ++turn) {
    Message message;
    std::optional<shoal::WorkItem> item = shoal::claim(subscription, message.get());
    if (!item) {
      continue;
    }
    CHECK(item->sequence() == message.number());
    if (hold) {
      SAY("holds %" PRIu64, item->sequence());
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    // Each tenth one goes back once, as its object ends.
    if (turn % 10 != 9) {
      CHECK(item->acknowledge());
      SAY("item %" PRIu64, message.number());
    }
  }
  SAY("%s", outcome_name(outcome));
  CHECK(rmw_destroy_wait_set(wait_set) == RMW_RET_OK);
  CHECK(rmw_destroy_subscription(world.node, subscription) == RMW_RET_OK);
}

}  // namespace

int main(int argc, char ** argv)
{
  CHECK(argc >= 3);
  const std::string role = argv[1];
  world_t world;
  world_open(&world, role.c_str());
  if (role == "produce") {
    produce(world, argv[2], std::stol(argv[3]));
  } else {
    work(world, argv[2], role == "hold");
  }
  world_close(&world);
  SAY("done");
  return 0;
}
