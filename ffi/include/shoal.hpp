/// \file shoal.hpp
/// The C++17 face of shoal.h: values that free themselves, and exceptions instead of return codes.
#ifndef SHOAL_HPP_
#define SHOAL_HPP_

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
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

/// What became of a stream; nothing when none has ended since the last call.
inline std::optional<shoal_stream_event_t> take_stream_event(const rmw_subscription_t * subscription)
{
  shoal_stream_event_t event;
  bool taken = false;
  check(shoal_subscription_take_stream_event(subscription, &event, &taken));
  return taken ? std::optional<shoal_stream_event_t>(event) : std::nullopt;
}

/// Ends a publisher's stream.
inline void finish(const rmw_publisher_t * publisher)
{
  check(shoal_publisher_finish(publisher));
}

/// Waits until a subscription has something, or this much time is over; says why it ended.
inline shoal_outcome_t wait(
  rmw_wait_set_t * wait_set, const rmw_subscription_t * subscription, std::chrono::nanoseconds timeout)
{
  void * entries[] = {subscription->data};
  rmw_subscriptions_t subscriptions{1, entries};
  const auto nanoseconds = static_cast<uint64_t>(timeout.count() > 0 ? timeout.count() : 0);
  const rmw_time_t time{nanoseconds / 1000000000, nanoseconds % 1000000000};
  shoal_outcome_t outcome = SHOAL_READY;
  check(shoal_wait(&subscriptions, nullptr, nullptr, nullptr, nullptr, wait_set, &time, &outcome));
  return outcome;
}

}  // namespace shoal

#endif  // SHOAL_HPP_
