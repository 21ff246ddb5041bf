#include "bridge.h"

#include <string>
#include <vector>

#include "rosidl_typesupport_introspection_c/message_introspection.h"
#include "rosidl_typesupport_introspection_c/service_introspection.h"
#include "rosidl_typesupport_introspection_cpp/message_introspection.hpp"
#include "rosidl_typesupport_introspection_cpp/service_introspection.hpp"

namespace {

// The Rust side reads the introspection of both languages through the C structures.
using CMember = rosidl_typesupport_introspection_c__MessageMember;
using CppMember = rosidl_typesupport_introspection_cpp::MessageMember;
using CMembers = rosidl_typesupport_introspection_c__MessageMembers;
using CppMembers = rosidl_typesupport_introspection_cpp::MessageMembers;
using CService = rosidl_typesupport_introspection_c__ServiceMembers;
using CppService = rosidl_typesupport_introspection_cpp::ServiceMembers;

#define SAME_PLACE(C, Cpp, field) \
  static_assert(offsetof(C, field) == offsetof(Cpp, field), #field " lies elsewhere in C++")

static_assert(sizeof(CMember) == sizeof(CppMember), "members differ in C and C++");
SAME_PLACE(CMember, CppMember, name_);
SAME_PLACE(CMember, CppMember, type_id_);
SAME_PLACE(CMember, CppMember, string_upper_bound_);
SAME_PLACE(CMember, CppMember, members_);
SAME_PLACE(CMember, CppMember, is_array_);
SAME_PLACE(CMember, CppMember, array_size_);
SAME_PLACE(CMember, CppMember, is_upper_bound_);
SAME_PLACE(CMember, CppMember, offset_);
SAME_PLACE(CMember, CppMember, size_function);
SAME_PLACE(CMember, CppMember, get_const_function);
SAME_PLACE(CMember, CppMember, get_function);
SAME_PLACE(CMember, CppMember, resize_function);
static_assert(sizeof(CMembers) == sizeof(CppMembers), "messages differ in C and C++");
SAME_PLACE(CMembers, CppMembers, message_namespace_);
SAME_PLACE(CMembers, CppMembers, message_name_);
SAME_PLACE(CMembers, CppMembers, member_count_);
SAME_PLACE(CMembers, CppMembers, size_of_);
SAME_PLACE(CMembers, CppMembers, members_);
SAME_PLACE(CMembers, CppMembers, init_function);
SAME_PLACE(CMembers, CppMembers, fini_function);
static_assert(sizeof(CService) == sizeof(CppService), "services differ in C and C++");
SAME_PLACE(CService, CppService, service_namespace_);
SAME_PLACE(CService, CppService, service_name_);
SAME_PLACE(CService, CppService, request_members_);
SAME_PLACE(CService, CppService, response_members_);

// The size that cpp.rs gives to both string classes.
static_assert(sizeof(std::string) == 32 && sizeof(std::u16string) == 32, "cpp.rs: STRING_SIZE is wrong here");
static_assert(sizeof(bool) == 1, "booleans are bytes on the wire");

template<typename String>
ShoalSpan view(const void * string) noexcept
{
  const auto & s = *static_cast<const String *>(string);
  return {s.data(), s.size()};
}

template<typename String>
void * resize(void * string, std::size_t len) noexcept
{
  try {
    auto & s = *static_cast<String *>(string);
    s.resize(len);
    return &s[0];
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

extern "C" {

ShoalSpan shoal_string_view(const void * string) noexcept
{
  return view<std::string>(string);
}

void * shoal_string_resize(void * string, std::size_t len) noexcept
{
  return resize<std::string>(string, len);
}

ShoalSpan shoal_u16string_view(const void * string) noexcept
{
  return view<std::u16string>(string);
}

void * shoal_u16string_resize(void * string, std::size_t len) noexcept
{
  return resize<std::u16string>(string, len);
}

std::size_t shoal_bools_len(const void * vector) noexcept
{
  return static_cast<const std::vector<bool> *>(vector)->size();
}

void shoal_bools_read(const void * vector, std::uint8_t * to, std::size_t len) noexcept
{
  const auto & v = *static_cast<const std::vector<bool> *>(vector);
  for (std::size_t i = 0; i < len; ++i) {
    // A vector that shrank meanwhile gives zeros, not memory that is no longer its own.
    to[i] = i < v.size() && v[i] ? 1 : 0;
  }
}

bool shoal_bools_write(void * vector, const std::uint8_t * from, std::size_t len) noexcept
{
  try {
    auto & v = *static_cast<std::vector<bool> *>(vector);
    v.resize(len);
    for (std::size_t i = 0; i < len; ++i) {
      v[i] = from[i] != 0;
    }
    return true;
  } catch (...) {
    return false;
  }
}

bool shoal_init(void (* init)(void *, int), void * message) noexcept
{
  using rosidl_runtime_cpp::MessageInitialization;
  try {
    reinterpret_cast<void (*)(void *, MessageInitialization)>(init)(message, MessageInitialization::ALL);
    return true;
  } catch (...) {
    return false;
  }
}

bool shoal_resize(void (* resize)(void *, std::size_t), void * container, std::size_t len) noexcept
{
  try {
    resize(container, len);
    return true;
  } catch (...) {
    return false;
  }
}

}  // extern "C"
