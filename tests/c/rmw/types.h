// Messages of both languages behind one set of functions, and their type supports: the one that dispatches
// (rosidl_typesupport_c or _cpp) or the introspection itself.
#ifndef TYPES_H_
#define TYPES_H_

#include <stdbool.h>
#include <stdint.h>

#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_runtime_c/service_type_support_struct.h>

typedef enum type
{
  TEXT,    // std_msgs/msg/String
  NUMBER,  // test_msgs/msg/BasicTypes: can be loaned; as it has a boolean, what is taken is a checked copy
  STAMP,   // builtin_interfaces/msg/Time: can be loaned, and is taken where it lies
} type_t;

// Whether type supports are asked for by introspection, past the dispatch.
extern bool introspection;

const rosidl_message_type_support_t * type_of(type_t type);
const char * name_of(type_t type);
void * message_new(type_t type);
void message_free(type_t type, void * message);

void * text_new(const char * text);
const char * text_of(const void * message);
// The number stands in int32_value; float64_value is half of it.
void * number_new(int32_t number);
int32_t number_of(const void * message);
void stamp_set(void * message, int32_t seconds);
int32_t stamp_of(const void * message);

// std_srvs/srv/SetBool.
const rosidl_service_type_support_t * service_type(void);
void * request_new(bool value);
bool request_of(const void * request);
void request_free(void * request);
void * response_new(const char * text);
const char * response_of(const void * response);
void response_free(void * response);

#endif  // TYPES_H_
