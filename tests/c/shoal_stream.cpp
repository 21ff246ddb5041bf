// The roles of shoal_stream.c in C++, by the face that C++ has.
//
// usage: shoal_stream produce TOPIC BYTES THEN | shoal_stream consume TOPIC ENOUGH
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <shoal.hpp>
#include <std_msgs/msg/u_int8_multi_array.h>

#include "shoal_test.h"

namespace
{

constexpr size_t WINDOW = 4;
constexpr size_t CHUNK = 5000;
constexpr std::chrono::seconds PATIENCE{60};

uint8_t byte_at(size_t at) {return static_cast<uint8_t>(at * 7 + at / 256);}

class WaitSet
{
public:
  explicit WaitSet(world_t & world) : wait_set_(rmw_create_wait_set(&world.context, 1)) {CHECK(wait_set_ != nullptr);}
  ~WaitSet() {CHECK(rmw_destroy_wait_set(wait_set_) == RMW_RET_OK);}
  WaitSet(const WaitSet &) = delete;
  WaitSet & operator=(const WaitSet &) = delete;
  rmw_wait_set_t * get() {return wait_set_;}

private:
  rmw_wait_set_t * wait_set_;
};

rmw_qos_profile_t keep_all()
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  return profile;
}

const rosidl_message_type_support_t * bytes()
{
  return ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
}

void stream_all(world_t & world, rmw_publisher_t * publisher, const std::vector<uint8_t> & data, const std::string & then)
{
  bool refused = false;
  try {
    shoal::Stream none(publisher, 0, CHUNK);
  } catch (const shoal::Error & error) {
    refused = std::string(error.what()).find("a window of 0 chunks") != std::string::npos;
  }
  CHECK(refused);
  const shoal::Stream stream(publisher, WINDOW, CHUNK);
  WaitSet wait_set(world);
  CHECK(stream.offer(data.data(), 1) == SHOAL_FULL || stream.state().peak == 1);
  size_t reached = stream.state().peak;
  while (reached < data.size() && !stream.state().over) {
    CHECK(shoal::wait(wait_set.get(), stream, PATIENCE) == SHOAL_READY);
    reached = stream.write(data.data(), data.size(), reached);
  }
  CHECK(stream.state().peak <= WINDOW);
  if (reached < data.size()) {
    CHECK(stream.offer(data.data(), 1) == SHOAL_FINISHED);
    SAY("deserted");
  } else {
    SAY("sent");
  }
  if (then == "silent") {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  stream.finish();
  CHECK(stream.state().over);
}

void produce(world_t & world, const char * topic, size_t length, const std::string & then)
{
  const rmw_qos_profile_t profile = keep_all();
  const rmw_publisher_options_t options = rmw_get_default_publisher_options();
  rmw_publisher_t * publisher = rmw_create_publisher(world.node, bytes(), topic, &profile, &options);
  CHECK(publisher != nullptr);
  std::vector<uint8_t> data(length);
  for (size_t at = 0; at < length; ++at) {
    data[at] = byte_at(at);
  }
  stream_all(world, publisher, data, then);
  CHECK(rmw_destroy_publisher(world.node, publisher) == RMW_RET_OK);
}

size_t take_chunk(const rmw_subscription_t * subscription, size_t at)
{
  std_msgs__msg__UInt8MultiArray message;
  bool taken = false;
  CHECK(std_msgs__msg__UInt8MultiArray__init(&message));
  CHECK(rmw_take(subscription, &message, &taken, nullptr) == RMW_RET_OK && taken);
  for (size_t i = 0; i < message.data.size; ++i) {
    CHECK(message.data.data[i] == byte_at(at + i));
  }
  at += message.data.size;
  std_msgs__msg__UInt8MultiArray__fini(&message);
  return at;
}

void consume(world_t & world, const char * topic, long enough)
{
  const rmw_qos_profile_t profile = keep_all();
  const rmw_subscription_options_t options = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription = rmw_create_subscription(world.node, bytes(), topic, &profile, &options);
  CHECK(subscription != nullptr);
  {
    WaitSet wait_set(world);
    shoal::hold_credit(subscription);
    SAY("consuming");
    size_t at = 0;
    long chunks = 0;
    shoal_outcome_t outcome;
    while ((outcome = shoal::wait(wait_set.get(), subscription, PATIENCE)) == SHOAL_READY) {
      at = take_chunk(subscription, at);
      shoal::consumed(subscription);
      if (++chunks == enough) {
        SAY("enough");
        std::this_thread::sleep_for(std::chrono::hours(1));
      }
    }
    SAY("%s %zu", outcome_name(outcome), at);
  }
  CHECK(rmw_destroy_subscription(world.node, subscription) == RMW_RET_OK);
}

}  // namespace

int main(int argc, char ** argv)
{
  CHECK(argc >= 4);
  const std::string role = argv[1];
  world_t world;
  world_open(&world, role.c_str());
  if (role == "produce") {
    produce(world, argv[2], std::stoul(argv[3]), argv[4]);
  } else {
    consume(world, argv[2], std::stol(argv[3]));
  }
  world_close(&world);
  SAY("done");
  return 0;
}
