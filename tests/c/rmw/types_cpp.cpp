// The messages of C++.
#include "types.h"

#include <builtin_interfaces/msg/time.hpp>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <rosidl_typesupport_introspection_cpp/message_type_support_decl.hpp>
#include <rosidl_typesupport_introspection_cpp/service_type_support_decl.hpp>
#include <std_msgs/msg/string.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <test_msgs/msg/basic_types.hpp>

#include "check.h"

using Number = test_msgs::msg::BasicTypes;
using Request = std_srvs::srv::SetBool::Request;
using Response = std_srvs::srv::SetBool::Response;
using Stamp = builtin_interfaces::msg::Time;
using Text = std_msgs::msg::String;

bool introspection;

template<typename T>
static const rosidl_message_type_support_t * support()
{
  return introspection ? rosidl_typesupport_introspection_cpp::get_message_type_support_handle<T>() :
         rosidl_typesupport_cpp::get_message_type_support_handle<T>();
}

const rosidl_message_type_support_t * type_of(type_t type)
{
  switch (type) {
    case TEXT:
      return support<Text>();
    case NUMBER:
      return support<Number>();
    case STAMP:
      return support<Stamp>();
  }
  return nullptr;
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
      return new Text;
    case NUMBER:
      return new Number;
    case STAMP:
      return new Stamp;
  }
  return nullptr;
}

void message_free(type_t type, void * message)
{
  switch (type) {
    case TEXT:
      delete static_cast<Text *>(message);
      return;
    case NUMBER:
      delete static_cast<Number *>(message);
      return;
    case STAMP:
      delete static_cast<Stamp *>(message);
      return;
  }
}

void * text_new(const char * text)
{
  auto message = new Text;
  message->data = text;
  return message;
}

const char * text_of(const void * message)
{
  return static_cast<const Text *>(message)->data.c_str();
}

void * number_new(int32_t number)
{
  auto message = new Number;
  message->bool_value = number % 2 != 0;
  message->int32_value = number;
  message->float64_value = number / 2.0;
  return message;
}

int32_t number_of(const void * message)
{
  auto numbers = static_cast<const Number *>(message);
  CHECK(numbers->float64_value == numbers->int32_value / 2.0);
  return numbers->int32_value;
}

void stamp_set(void * message, int32_t seconds)
{
  static_cast<Stamp *>(message)->sec = seconds;
}

int32_t stamp_of(const void * message)
{
  return static_cast<const Stamp *>(message)->sec;
}

const rosidl_service_type_support_t * service_type(void)
{
  using rosidl_typesupport_introspection_cpp::get_service_type_support_handle;
  return introspection ? get_service_type_support_handle<std_srvs::srv::SetBool>() :
         rosidl_typesupport_cpp::get_service_type_support_handle<std_srvs::srv::SetBool>();
}

void * request_new(bool value)
{
  auto request = new Request;
  request->data = value;
  return request;
}

bool request_of(const void * request)
{
  return static_cast<const Request *>(request)->data;
}

void request_free(void * request)
{
  delete static_cast<Request *>(request);
}

void * response_new(const char * text)
{
  auto response = new Response;
  response->success = true;
  response->message = text;
  return response;
}

const char * response_of(const void * response)
{
  return static_cast<const Response *>(response)->message.c_str();
}

void response_free(void * response)
{
  delete static_cast<Response *>(response);
}
