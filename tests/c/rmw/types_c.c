// The messages of C.
#include "types.h"

#include <string.h>

#include <builtin_interfaces/msg/time.h>
#include <rosidl_runtime_c/string_functions.h>
#include <std_msgs/msg/string.h>
#include <std_srvs/srv/set_bool.h>
#include <test_msgs/msg/basic_types.h>

#include "check.h"

#define INTROSPECTION(kind, package, folder, name) \
  rosidl_typesupport_introspection_c__get_##kind##_type_support_handle__##package##__##folder##__##name
const rosidl_message_type_support_t * INTROSPECTION(message, std_msgs, msg, String)(void);
const rosidl_message_type_support_t * INTROSPECTION(message, test_msgs, msg, BasicTypes)(void);
const rosidl_message_type_support_t * INTROSPECTION(message, builtin_interfaces, msg, Time)(void);
const rosidl_service_type_support_t * INTROSPECTION(service, std_srvs, srv, SetBool)(void);

bool introspection;

const rosidl_message_type_support_t * type_of(type_t type)
{
  switch (type) {
    case TEXT:
      return introspection ? INTROSPECTION(message, std_msgs, msg, String)() :
             ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
    case NUMBER:
      return introspection ? INTROSPECTION(message, test_msgs, msg, BasicTypes)() :
             ROSIDL_GET_MSG_TYPE_SUPPORT(test_msgs, msg, BasicTypes);
    case STAMP:
      return introspection ? INTROSPECTION(message, builtin_interfaces, msg, Time)() :
             ROSIDL_GET_MSG_TYPE_SUPPORT(builtin_interfaces, msg, Time);
  }
  return NULL;
}

const char * name_of(type_t type)
{
  static const char * const names[] = {"std_msgs/msg/String", "test_msgs/msg/BasicTypes", "builtin_interfaces/msg/Time"};
  return names[type];
}

void * message_new(type_t type)
{
  switch (type) {
    case TEXT:
      return std_msgs__msg__String__create();
    case NUMBER:
      return test_msgs__msg__BasicTypes__create();
    case STAMP:
      return builtin_interfaces__msg__Time__create();
  }
  return NULL;
}

void message_free(type_t type, void * message)
{
  switch (type) {
    case TEXT:
      std_msgs__msg__String__destroy((std_msgs__msg__String *)message);
      return;
    case NUMBER:
      test_msgs__msg__BasicTypes__destroy((test_msgs__msg__BasicTypes *)message);
      return;
    case STAMP:
      builtin_interfaces__msg__Time__destroy((builtin_interfaces__msg__Time *)message);
      return;
  }
}

void * text_new(const char * text)
{
  std_msgs__msg__String * message = std_msgs__msg__String__create();
  CHECK(rosidl_runtime_c__String__assign(&message->data, text));
  return message;
}

const char * text_of(const void * message)
{
  return ((const std_msgs__msg__String *)message)->data.data;
}

void * number_new(int32_t number)
{
  test_msgs__msg__BasicTypes * message = test_msgs__msg__BasicTypes__create();
  message->bool_value = number % 2 != 0;
  message->int32_value = number;
  message->float64_value = number / 2.0;
  return message;
}

int32_t number_of(const void * message)
{
  const test_msgs__msg__BasicTypes * numbers = (const test_msgs__msg__BasicTypes *)message;
  CHECK(numbers->float64_value == numbers->int32_value / 2.0);
  return numbers->int32_value;
}

void stamp_set(void * message, int32_t seconds)
{
  ((builtin_interfaces__msg__Time *)message)->sec = seconds;
}

int32_t stamp_of(const void * message)
{
  return ((const builtin_interfaces__msg__Time *)message)->sec;
}

const rosidl_service_type_support_t * service_type(void)
{
  return introspection ? INTROSPECTION(service, std_srvs, srv, SetBool)() :
         ROSIDL_GET_SRV_TYPE_SUPPORT(std_srvs, srv, SetBool);
}

void * request_new(bool value)
{
  std_srvs__srv__SetBool_Request * request = std_srvs__srv__SetBool_Request__create();
  request->data = value;
  return request;
}

bool request_of(const void * request)
{
  return ((const std_srvs__srv__SetBool_Request *)request)->data;
}

void request_free(void * request)
{
  std_srvs__srv__SetBool_Request__destroy((std_srvs__srv__SetBool_Request *)request);
}

void * response_new(const char * text)
{
  std_srvs__srv__SetBool_Response * response = std_srvs__srv__SetBool_Response__create();
  response->success = true;
  CHECK(rosidl_runtime_c__String__assign(&response->message, text));
  return response;
}

const char * response_of(const void * response)
{
  return ((const std_srvs__srv__SetBool_Response *)response)->message.data;
}

void response_free(void * response)
{
  std_srvs__srv__SetBool_Response__destroy((std_srvs__srv__SetBool_Response *)response);
}
