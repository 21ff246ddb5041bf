// What the plan runner needs from C++ containers, as C functions. Nothing here throws: a failed allocation is a NULL or
// a false.
#ifndef SHOAL_TYPESUPPORT_BRIDGE_H_
#define SHOAL_TYPESUPPORT_BRIDGE_H_

#include <cstddef>
#include <cstdint>

extern "C" {

// The characters of a string, without the terminator.
struct ShoalSpan {
  const void * data;
  std::size_t len;
};

// Of std::string, and of std::u16string: its characters; a new length, and where to write that many characters.
ShoalSpan shoal_string_view(const void * string) noexcept;
void * shoal_string_resize(void * string, std::size_t len) noexcept;
ShoalSpan shoal_u16string_view(const void * string) noexcept;
void * shoal_u16string_resize(void * string, std::size_t len) noexcept;

// Of std::vector<bool>: its length; one byte per element out of it, and into it.
std::size_t shoal_bools_len(const void * vector) noexcept;
void shoal_bools_read(const void * vector, std::uint8_t * to, std::size_t len) noexcept;
bool shoal_bools_write(void * vector, const std::uint8_t * from, std::size_t len) noexcept;

// Calls the init function of an introspection type, for all fields.
bool shoal_init(void (* init)(void *, int), void * message) noexcept;

// Calls the resize function of an introspection member.
bool shoal_resize(void (* resize)(void *, std::size_t), void * container, std::size_t len) noexcept;

}  // extern "C"

#endif  // SHOAL_TYPESUPPORT_BRIDGE_H_
