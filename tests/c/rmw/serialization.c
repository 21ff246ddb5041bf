// rmw/rmw.h and rmw/serialized_message.h: serialization without an endpoint.
#include "groups.h"
#include "world.h"

static rmw_serialized_message_t bytes_open(void)
{
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  CHECK(rmw_serialized_message_init(&bytes, 0, &allocator) == RMW_RET_OK);
  return bytes;
}

static void bytes_close(rmw_serialized_message_t * bytes)
{
  CHECK(rmw_serialized_message_fini(bytes) == RMW_RET_OK);
}

static void the_implementation_has_a_name_and_a_format(void)
{
  GIVES(strcmp(rmw_get_implementation_identifier(), "rmw_shoal") == 0);
  GIVES(strcmp(rmw_get_serialization_format(), "cdr") == 0);
}

static void a_text_is_plain_cdr(void)
{
  rmw_serialized_message_t bytes = bytes_open();
  void * message = text_new("abc");
  OK(rmw_serialize(message, type_of(TEXT), &bytes));
  const uint8_t expected[] = {0, 1, 0, 0, 4, 0, 0, 0, 'a', 'b', 'c', 0};
  CHECK(bytes.buffer_length == sizeof(expected) && memcmp(bytes.buffer, expected, sizeof(expected)) == 0);
  message_free(TEXT, message);
  message = message_new(TEXT);
  OK(rmw_deserialize(&bytes, type_of(TEXT), message));
  CHECK(strcmp(text_of(message), "abc") == 0);
  // Of the other byte order.
  uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 3, 'h', 'i', 0};
  rmw_serialized_message_t foreign = rmw_get_zero_initialized_serialized_message();
  foreign.buffer = big;
  foreign.buffer_length = foreign.buffer_capacity = sizeof(big);
  OK(rmw_deserialize(&foreign, type_of(TEXT), message));
  CHECK(strcmp(text_of(message), "hi") == 0);
  message_free(TEXT, message);
  bytes_close(&bytes);
}

static void what_cannot_be_serialized(void)
{
  rmw_serialized_message_t bytes = bytes_open(), poor = rmw_get_zero_initialized_serialized_message();
  void * message = text_new("abc");
  rosidl_message_type_support_t alien = *type_of(TEXT);
  alien.typesupport_identifier = "rosidl_typesupport_of_mars";
  alien.func = get_message_typesupport_handle_function;
  // "must be a valid non-null instance"
  IS_NULL(rmw_serialize(NULL, type_of(TEXT), &bytes));
  IS_NULL(rmw_serialize(message, NULL, &bytes));
  IS_NULL(rmw_serialize(message, type_of(TEXT), NULL));
  FAILS(RMW_RET_ERROR, rmw_serialize(message, &alien, &bytes));
  poor.allocator = empty_allocator();
  FAILS(RMW_RET_BAD_ALLOC, rmw_serialize(message, type_of(TEXT), &poor));
  message_free(TEXT, message);
  bytes_close(&bytes);
}

static void what_cannot_be_deserialized(void)
{
  uint8_t lying[] = {0, 1, 0, 0, 200, 0, 0, 0, 'a', 0}, unknown[] = {9, 9, 0, 0, 1, 0, 0, 0, 0};
  rmw_serialized_message_t bytes = rmw_get_zero_initialized_serialized_message();
  void * message = message_new(TEXT);
  rosidl_message_type_support_t alien = *type_of(TEXT);
  alien.typesupport_identifier = "rosidl_typesupport_of_mars";
  alien.func = get_message_typesupport_handle_function;
  FAILS(RMW_RET_INVALID_ARGUMENT, rmw_deserialize(&bytes, type_of(TEXT), message));
  bytes.buffer = lying;
  bytes.buffer_length = bytes.buffer_capacity = sizeof(lying);
  IS_NULL(rmw_deserialize(NULL, type_of(TEXT), message));
  IS_NULL(rmw_deserialize(&bytes, NULL, message));
  IS_NULL(rmw_deserialize(&bytes, type_of(TEXT), NULL));
  FAILS(RMW_RET_ERROR, rmw_deserialize(&bytes, &alien, message));
  // A string of 200 bytes in 2, and an encapsulation that is none of CDR.
  FAILS(RMW_RET_ERROR, rmw_deserialize(&bytes, type_of(TEXT), message));
  bytes.buffer = unknown;
  bytes.buffer_length = bytes.buffer_capacity = sizeof(unknown);
  FAILS(RMW_RET_ERROR, rmw_deserialize(&bytes, type_of(TEXT), message));
  message_free(TEXT, message);
}

void group_serialization(void)
{
  the_implementation_has_a_name_and_a_format();
  a_text_is_plain_cdr();
  what_cannot_be_serialized();
  what_cannot_be_deserialized();
}
