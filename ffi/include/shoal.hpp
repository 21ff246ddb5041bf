/// \file shoal.hpp
/// The C++17 face of shoal.h: values that free themselves, and exceptions instead of return codes.
#ifndef SHOAL_HPP_
#define SHOAL_HPP_

#include <initializer_list>
#include <stdexcept>
#include <string>

#include <rcutils/error_handling.h>

#include "shoal.h"

namespace shoal
{

/// What went wrong, as the error state says.
class Error : public std::runtime_error
{
public:
  explicit Error(rmw_ret_t code)
  : std::runtime_error(take_message()), code_(code) {}

  /// The RMW_RET_* code.
  rmw_ret_t code() const {return code_;}

private:
  static std::string take_message()
  {
    std::string text = rcutils_get_error_string().str;
    rcutils_reset_error();
    return text;
  }

  rmw_ret_t code_;
};

/// Throws what a function of shoal.h failed with.
inline void check(rmw_ret_t code)
{
  if (code != RMW_RET_OK) {
    throw Error(code);
  }
}

/// Interrupts the waits of this process, also when one of its signals arrives; see shoal_interrupt_guard_t.
class Interrupt
{
public:
  /// Arms these signals until the end of its life; none is as good.
  explicit Interrupt(std::initializer_list<int> signals = {})
  : guard_(shoal_interrupt_guard_create(signals.begin(), signals.size()))
  {
    if (guard_ == nullptr) {
      throw Error(RMW_RET_ERROR);
    }
  }

  ~Interrupt()
  {
    if (shoal_interrupt_guard_destroy(guard_) != RMW_RET_OK) {
      rcutils_reset_error();
    }
  }

  Interrupt(const Interrupt &) = delete;
  Interrupt & operator=(const Interrupt &) = delete;

  /// Raises the flag; async-signal-safe.
  void interrupt() const {check(shoal_interrupt_guard_interrupt(guard_));}

  /// Whether the flag is raised.
  bool interrupted() const {return shoal_interrupt_guard_interrupted(guard_);}

  /// Lowers the flag.
  void resume() const {check(shoal_interrupt_guard_resume(guard_));}

private:
  shoal_interrupt_guard_t * guard_;
};

/// Why the last wait on a wait set ended.
inline shoal_outcome_t wait_outcome(const rmw_wait_set_t * wait_set)
{
  shoal_outcome_t outcome = SHOAL_READY;
  check(shoal_wait_outcome(wait_set, &outcome));
  return outcome;
}

}  // namespace shoal

#endif  // SHOAL_HPP_
