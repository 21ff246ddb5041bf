// Messages of C++ with every kind of field: what is taken, and what comes back from bytes, equals what was given.
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <rosidl_typesupport_introspection_cpp/message_type_support_decl.hpp>
#include <test_msgs/msg/arrays.hpp>
#include <test_msgs/msg/bounded_sequences.hpp>
#include <test_msgs/msg/constants.hpp>
#include <test_msgs/msg/defaults.hpp>
#include <test_msgs/msg/empty.hpp>
#include <test_msgs/msg/multi_nested.hpp>
#include <test_msgs/msg/nested.hpp>
#include <test_msgs/msg/strings.hpp>
#include <test_msgs/msg/unbounded_sequences.hpp>
#include <test_msgs/msg/w_strings.hpp>

#include "groups.h"
#include "world.h"

template<typename T>
static const rosidl_message_type_support_t * support()
{
  return introspection ? rosidl_typesupport_introspection_cpp::get_message_type_support_handle<T>() :
         rosidl_typesupport_cpp::get_message_type_support_handle<T>();
}

template<typename T>
static void pass_on(const world_t & world, const T & in, T & out)
{
  auto publishing = rmw_get_default_publisher_options();
  auto subscribing = rmw_get_default_subscription_options();
  auto subscription =
    rmw_create_subscription(world.node, support<T>(), "/value", &rmw_qos_profile_default, &subscribing);
  MADE(subscription);
  auto publisher = rmw_create_publisher(world.node, support<T>(), "/value", &rmw_qos_profile_default, &publishing);
  MADE(publisher);
  bool taken = false;
  OK(rmw_publish(publisher, &in, nullptr));
  OK(rmw_take(subscription, &out, &taken, nullptr));
  CHECK(taken);
  OK(rmw_destroy_publisher(world.node, publisher));
  OK(rmw_destroy_subscription(world.node, subscription));
}

struct Bytes
{
  rmw_serialized_message_t array = rmw_get_zero_initialized_serialized_message();

  Bytes()
  {
    auto allocator = rcutils_get_default_allocator();
    CHECK(rmw_serialized_message_init(&array, 0, &allocator) == RMW_RET_OK);
  }

  ~Bytes() {CHECK(rmw_serialized_message_fini(&array) == RMW_RET_OK);}
};

// Twice into the same message: what it held is replaced.
template<typename T>
static void round_trip(const world_t & world, const T & in)
{
  T out;
  pass_on(world, in, out);
  CHECK(in == out);
  Bytes bytes;
  OK(rmw_serialize(&in, support<T>(), &bytes.array));
  OK(rmw_deserialize(&bytes.array, support<T>(), &out));
  CHECK(in == out);
}

static void texts(const world_t & world)
{
  test_msgs::msg::Strings in;
  in.string_value = std::string("H\xc3\xa4llo") + std::string(100, '!');  // Longer than a string that lies in place.
  in.bounded_string_value = "22 characters, no more";
  round_trip(world, in);
  in.bounded_string_value += '!';
  Bytes bytes;
  FAILS(RMW_RET_ERROR, rmw_serialize(&in, support<test_msgs::msg::Strings>(), &bytes.array));
}

static void wide_texts(const world_t & world)
{
  test_msgs::msg::WStrings in;
  in.wstring_value = u"\u30cf\u30ed\U0001f600";  // With a surrogate pair.
  in.array_of_wstrings[2] = std::u16string(50, u'w');
  in.bounded_sequence_of_wstrings = {u"", u"b", u"cc"};
  in.unbounded_sequence_of_wstrings = std::vector<std::u16string>(20, u"many");
  round_trip(world, in);
}

// Some elements for each kind of sequence, in any message that has these fields.
template<typename T>
static T filled(size_t count)
{
  T in;
  for (size_t i = 0; i < count; i++) {
    in.bool_values.push_back(i % 3 == 1);
    in.byte_values.push_back(static_cast<uint8_t>(251 * i));
    in.float64_values.push_back(static_cast<double>(i) / 3);
    in.int16_values.push_back(static_cast<int16_t>(-7 * static_cast<int>(i)));
    in.uint64_values.push_back(UINT64_MAX - i);
    in.string_values.push_back(std::string(i % 40, 's'));
    in.basic_types_values.emplace_back().int64_value = -static_cast<int64_t>(i);
    in.defaults_values.emplace_back().bool_value = i % 2 == 0;
  }
  in.alignment_check = 5;
  return in;
}

static void arrays(const world_t & world)
{
  test_msgs::msg::Arrays in;
  in.bool_values = {false, true, true};
  in.uint16_values[2] = 65535;
  in.string_values[1] = "in an array";
  in.basic_types_values[2].float32_value = 0.5F;
  in.alignment_check = -1;
  round_trip(world, in);
}

static void nested(const world_t & world)
{
  test_msgs::msg::Nested flat;
  flat.basic_types_value.uint32_value = 77;
  round_trip(world, flat);
  test_msgs::msg::MultiNested deep;
  deep.unbounded_sequence_of_unbounded_sequences.resize(1);
  deep.unbounded_sequence_of_unbounded_sequences.push_back(filled<test_msgs::msg::UnboundedSequences>(5));
  deep.bounded_sequence_of_bounded_sequences.push_back(filled<test_msgs::msg::BoundedSequences>(3));
  deep.bounded_sequence_of_arrays.resize(3);
  deep.array_of_arrays[2].string_values[0] = "deep";
  round_trip(world, deep);
}

// A vector<bool> keeps bits: lengths around those of its words.
static void booleans(const world_t & world)
{
  for (size_t length : {0, 1, 63, 64, 65, 1000}) {
    test_msgs::msg::UnboundedSequences in;
    for (size_t i = 0; i < length; i++) {
      in.bool_values.push_back(i % 5 == 0 || i == 63);
    }
    round_trip(world, in);
  }
}

void group_values(void)
{
  world_t world;
  world_open(&world, "tester");
  round_trip(world, test_msgs::msg::Constants());
  round_trip(world, test_msgs::msg::Defaults());
  round_trip(world, test_msgs::msg::Empty());
  round_trip(world, test_msgs::msg::UnboundedSequences());
  texts(world);
  wide_texts(world);
  round_trip(world, filled<test_msgs::msg::UnboundedSequences>(1000));
  round_trip(world, filled<test_msgs::msg::BoundedSequences>(3));
  arrays(world);
  nested(world);
  booleans(world);
  world_close(&world);
}
