// A stream that ends, with rclcpp on rmw_shoal: run `rclcpp_stream read`, and then `rclcpp_stream write` beside it.
//
// The writer sends ten numbers and says that nothing follows. The reader prints them and then why its stream ended:
// END_OF_STREAM, or BROKEN where the writer was killed before it said so. Link against rclcpp, std_msgs and
// librmw_shoal.so; shoal.hpp is in ffi/include.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <rclcpp/rclcpp.hpp>
#include <rmw/rmw.h>
#include <std_msgs/msg/int32.hpp>

#include <shoal.hpp>

namespace
{

constexpr int kCount = 10;
constexpr std::chrono::seconds kPatience{30};
using std_msgs::msg::Int32;

void write(const rclcpp::Node::SharedPtr & node)
{
  auto publisher = node->create_publisher<Int32>("stream", rclcpp::QoS(100));
  while (publisher->get_subscription_count() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  Int32 message;
  for (message.data = 0; message.data < kCount; ++message.data) {
    publisher->publish(message);
  }
  shoal::finish(rcl_publisher_get_rmw_handle(publisher->get_publisher_handle().get()));
}

// Prints what became of a stream; false at the topic's end.
bool print(const shoal_stream_event_t & event)
{
  const char * name = event.outcome == SHOAL_END_OF_STREAM ? "END_OF_STREAM" : "BROKEN";
  if (event.of_topic) {
    std::printf("%s of the topic\n", name);
  } else {
    std::printf("%s behind sample %llu\n", name, static_cast<unsigned long long>(event.last_sequence));
  }
  return !event.of_topic;
}

void read(const rclcpp::Node::SharedPtr & node)
{
  auto subscription = node->create_subscription<Int32>("stream", rclcpp::QoS(100), [](const Int32 &) {});
  const rmw_subscription_t * handle = rcl_subscription_get_rmw_handle(subscription->get_subscription_handle().get());
  auto context = node->get_node_base_interface()->get_context()->get_rcl_context();
  rmw_wait_set_t * wait_set = rmw_create_wait_set(rcl_context_get_rmw_context(context.get()), 1);
  for (bool goes_on = true; goes_on; ) {
    const shoal_outcome_t outcome = shoal::wait(wait_set, handle, kPatience);
    Int32 message;
    rclcpp::MessageInfo info;
    if (outcome == SHOAL_READY) {
      if (subscription->take(message, info)) {
        std::printf("%d\n", message.data);
      }
    } else if (const auto event = shoal::take_stream_event(handle)) {
      goes_on = print(*event);
    } else {
      std::printf("nothing came\n");
      goes_on = false;
    }
  }
  shoal::check(rmw_destroy_wait_set(wait_set));
}

}  // namespace

int main(int argc, char ** argv)
{
  const std::string role = argc == 2 ? argv[1] : "";
  if (role != "read" && role != "write") {
    std::fprintf(stderr, "usage: rclcpp_stream read | write\n");
    return 2;
  }
  rclcpp::init(argc, argv);
  auto node = std::make_shared<rclcpp::Node>("stream_" + role + "er");
  role == "read" ? read(node) : write(node);
  rclcpp::shutdown();
  return 0;
}
