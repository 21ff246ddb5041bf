// Messages of C with every kind of field: what is taken, and what comes back from bytes, equals what was given.
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <rosidl_runtime_c/string_functions.h>
#include <rosidl_runtime_c/u16string_functions.h>
#include <test_msgs/msg/arrays.h>
#include <test_msgs/msg/basic_types.h>
#include <test_msgs/msg/bounded_sequences.h>
#include <test_msgs/msg/constants.h>
#include <test_msgs/msg/defaults.h>
#include <test_msgs/msg/empty.h>
#include <test_msgs/msg/multi_nested.h>
#include <test_msgs/msg/nested.h>
#include <test_msgs/msg/strings.h>
#include <test_msgs/msg/unbounded_sequences.h>
#include <test_msgs/msg/w_strings.h>

#include "groups.h"
#include "world.h"

// The two type supports of a message.
#define INTROSPECTION(name) \
  rosidl_typesupport_introspection_c__get_message_type_support_handle__test_msgs__msg__##name
#define DECLARE(name) const rosidl_message_type_support_t * INTROSPECTION(name)(void);
#define SUPPORT(name) (introspection ? INTROSPECTION(name)() : ROSIDL_GET_MSG_TYPE_SUPPORT(test_msgs, msg, name))

DECLARE(Arrays)
DECLARE(BoundedSequences)
DECLARE(Constants)
DECLARE(Defaults)
DECLARE(Empty)
DECLARE(MultiNested)
DECLARE(Nested)
DECLARE(Strings)
DECLARE(UnboundedSequences)
DECLARE(WStrings)

static void pass_on(const world_t * world, const rosidl_message_type_support_t * type, const void * in, void * out)
{
  rmw_publisher_options_t publishing = rmw_get_default_publisher_options();
  rmw_subscription_options_t subscribing = rmw_get_default_subscription_options();
  rmw_subscription_t * subscription =
    rmw_create_subscription(world->node, type, "/value", &rmw_qos_profile_default, &subscribing);
  MADE(subscription);
  rmw_publisher_t * publisher =
    rmw_create_publisher(world->node, type, "/value", &rmw_qos_profile_default, &publishing);
  MADE(publisher);
  bool taken = false;
  OK(rmw_publish(publisher, in, NULL));
  OK(rmw_take(subscription, out, &taken, NULL));
  CHECK(taken);
  OK(rmw_destroy_publisher(world->node, publisher));
  OK(rmw_destroy_subscription(world->node, subscription));
}

static void through_bytes(const rosidl_message_type_support_t * type, const void * in, void * out)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  CHECK(rmw_serialized_message_init(&bytes, 0, &allocator) == RMW_RET_OK);
  OK(rmw_serialize(in, type, &bytes));
  OK(rmw_deserialize(&bytes, type, out));
  CHECK(rmw_serialized_message_fini(&bytes) == RMW_RET_OK);
}

// Twice into the same message: what it held is replaced.
#define ROUND_TRIP(name, in) \
  do { \
    test_msgs__msg__##name * out = test_msgs__msg__##name##__create(); \
    pass_on(world, SUPPORT(name), in, out); \
    CHECK(test_msgs__msg__##name##__are_equal(in, out)); \
    through_bytes(SUPPORT(name), in, out); \
    CHECK(test_msgs__msg__##name##__are_equal(in, out)); \
    test_msgs__msg__##name##__destroy(out); \
  } while (0)

// A message as it is made, with its defaults.
#define AS_MADE(name) \
  do { \
    test_msgs__msg__##name * in = test_msgs__msg__##name##__create(); \
    ROUND_TRIP(name, in); \
    test_msgs__msg__##name##__destroy(in); \
  } while (0)

static void defaults(const world_t * world)
{
  AS_MADE(Constants);
  AS_MADE(Defaults);
  AS_MADE(Empty);
  AS_MADE(UnboundedSequences);
}

static void texts(const world_t * world)
{
  test_msgs__msg__Strings * in = test_msgs__msg__Strings__create();
  CHECK(rosidl_runtime_c__String__assign(&in->string_value, "H\xc3\xa4llo"));
  CHECK(rosidl_runtime_c__String__assign(&in->bounded_string_value, "22 characters, no more"));
  ROUND_TRIP(Strings, in);
  test_msgs__msg__Strings__destroy(in);
}

static void wide_texts(const world_t * world)
{
  const uint_least16_t text[] = {0x30cf, 0x30ed, 0xd83d, 0xde00};  // With a surrogate pair.
  test_msgs__msg__WStrings * in = test_msgs__msg__WStrings__create();
  CHECK(rosidl_runtime_c__U16String__assignn(&in->wstring_value, text, 4));
  CHECK(rosidl_runtime_c__U16String__assignn(&in->array_of_wstrings[2], text, 1));
  CHECK(rosidl_runtime_c__U16String__Sequence__init(&in->bounded_sequence_of_wstrings, 3));
  CHECK(rosidl_runtime_c__U16String__Sequence__init(&in->unbounded_sequence_of_wstrings, 2));
  CHECK(rosidl_runtime_c__U16String__assignn(&in->unbounded_sequence_of_wstrings.data[1], text, 2));
  ROUND_TRIP(WStrings, in);
  test_msgs__msg__WStrings__destroy(in);
}

// Some elements for each kind of sequence, in any message that has these fields.
#define FILL_SEQUENCES(in, count) \
  do { \
    CHECK(rosidl_runtime_c__boolean__Sequence__init(&in->bool_values, count)); \
    CHECK(rosidl_runtime_c__octet__Sequence__init(&in->byte_values, count)); \
    CHECK(rosidl_runtime_c__double__Sequence__init(&in->float64_values, count)); \
    CHECK(rosidl_runtime_c__int16__Sequence__init(&in->int16_values, count)); \
    CHECK(rosidl_runtime_c__uint64__Sequence__init(&in->uint64_values, count)); \
    CHECK(rosidl_runtime_c__String__Sequence__init(&in->string_values, count)); \
    CHECK(test_msgs__msg__BasicTypes__Sequence__init(&in->basic_types_values, count)); \
    CHECK(test_msgs__msg__Defaults__Sequence__init(&in->defaults_values, count)); \
    for (size_t i = 0; i < count; i++) { \
      in->bool_values.data[i] = i % 3 == 1; \
      in->byte_values.data[i] = (uint8_t)(251 * i); \
      in->float64_values.data[i] = (double)i / 3; \
      in->int16_values.data[i] = (int16_t)(-7 * (int)i); \
      in->uint64_values.data[i] = UINT64_MAX - i; \
      CHECK(rosidl_runtime_c__String__assignn(&in->string_values.data[i], "sequence", i % 8)); \
      in->basic_types_values.data[i].int64_value = -(int64_t)i; \
    } \
    in->alignment_check = 5; \
  } while (0)

static void sequences(const world_t * world)
{
  test_msgs__msg__UnboundedSequences * in = test_msgs__msg__UnboundedSequences__create();
  FILL_SEQUENCES(in, 1000);
  ROUND_TRIP(UnboundedSequences, in);
  test_msgs__msg__UnboundedSequences__destroy(in);
}

static void bounded_sequences(const world_t * world)
{
  test_msgs__msg__BoundedSequences * in = test_msgs__msg__BoundedSequences__create();
  FILL_SEQUENCES(in, 3);
  ROUND_TRIP(BoundedSequences, in);
  // One more than the bound, which memory has room for.
  CHECK(rosidl_runtime_c__int32__Sequence__init(&in->int32_values, 4));
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  CHECK(rmw_serialized_message_init(&bytes, 0, &allocator) == RMW_RET_OK);
  FAILS(RMW_RET_ERROR, rmw_serialize(in, SUPPORT(BoundedSequences), &bytes));
  CHECK(rmw_serialized_message_fini(&bytes) == RMW_RET_OK);
  test_msgs__msg__BoundedSequences__destroy(in);
}

static void arrays(const world_t * world)
{
  test_msgs__msg__Arrays * in = test_msgs__msg__Arrays__create();
  in->bool_values[1] = true;
  in->uint16_values[2] = 65535;
  CHECK(rosidl_runtime_c__String__assign(&in->string_values[1], "in an array"));
  in->basic_types_values[2].float32_value = 0.5F;
  in->alignment_check = -1;
  ROUND_TRIP(Arrays, in);
  test_msgs__msg__Arrays__destroy(in);
}

static void nested(const world_t * world)
{
  test_msgs__msg__Nested * in = test_msgs__msg__Nested__create();
  in->basic_types_value.uint32_value = 77;
  ROUND_TRIP(Nested, in);
  test_msgs__msg__Nested__destroy(in);
}

static void deeply_nested(const world_t * world)
{
  test_msgs__msg__MultiNested * in = test_msgs__msg__MultiNested__create();
  CHECK(test_msgs__msg__UnboundedSequences__Sequence__init(&in->unbounded_sequence_of_unbounded_sequences, 2));
  test_msgs__msg__UnboundedSequences * inner = &in->unbounded_sequence_of_unbounded_sequences.data[1];
  FILL_SEQUENCES(inner, 5);
  CHECK(test_msgs__msg__Arrays__Sequence__init(&in->bounded_sequence_of_arrays, 3));
  CHECK(rosidl_runtime_c__String__assign(&in->array_of_arrays[2].string_values[0], "deep"));
  ROUND_TRIP(MultiNested, in);
  test_msgs__msg__MultiNested__destroy(in);
}

void group_values(void)
{
  world_t world;
  world_open(&world, "tester");
  defaults(&world);
  texts(&world);
  wide_texts(&world);
  sequences(&world);
  bounded_sequences(&world);
  arrays(&world);
  nested(&world);
  deeply_nested(&world);
  world_close(&world);
}
