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
#include <vector>

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

/// Says that a session is over, while the publisher's stream goes on.
inline void end_of_day(const rmw_publisher_t * publisher)
{
  check(shoal_publisher_end_of_day(publisher));
}

/// Says so of every publisher of a context.
inline void end_of_day(const rmw_context_t * context)
{
  check(shoal_context_end_of_day(context));
}

/// A duration as the RMW API spells it; what is negative is none.
inline rmw_time_t span(std::chrono::nanoseconds duration)
{
  const auto nanoseconds = static_cast<uint64_t>(duration.count() > 0 ? duration.count() : 0);
  return rmw_time_t{nanoseconds / 1000000000, nanoseconds % 1000000000};
}

/// How far each matched subscription is behind.
inline std::vector<shoal_reader_lag_t> lag(const rmw_publisher_t * publisher)
{
  std::vector<shoal_reader_lag_t> lags(16);
  for (;; ) {
    size_t count = 0;
    check(shoal_publisher_lag(publisher, lags.data(), lags.size(), &count));
    const bool all = count <= lags.size();
    lags.resize(count);
    if (all) {
      return lags;
    }
  }
}

/// Waits until each matched reliable subscription has taken what was sent, for at most this much time. SHOAL_READY, or why
/// not; then lag() says who has not.
inline shoal_outcome_t flush(const rmw_publisher_t * publisher, std::chrono::nanoseconds budget)
{
  const rmw_time_t time = span(budget);
  shoal_outcome_t outcome = SHOAL_READY;
  size_t late = 0;
  check(shoal_publisher_flush(publisher, &time, nullptr, 0, &late, &outcome));
  return outcome;
}

/// The producing side of a stream; see shoal_stream_t. It ends before its publisher.
class Stream
{
public:
  /// At most `window` chunks are in flight, of at most `chunk_bytes` bytes each.
  Stream(const rmw_publisher_t * publisher, size_t window, size_t chunk_bytes)
  : stream_(shoal_stream_create(publisher, window, chunk_bytes))
  {
    if (stream_ == nullptr) {
      throw Error(RMW_RET_INVALID_ARGUMENT);
    }
  }

  ~Stream()
  {
    if (shoal_stream_destroy(stream_) != RMW_RET_OK) {
      rcutils_reset_error();
    }
  }

  Stream(const Stream &) = delete;
  Stream & operator=(const Stream &) = delete;

  /// Sends one chunk if there is credit for it; never waits.
  shoal_offered_t offer(const void * data, size_t length) const
  {
    shoal_offered_t offered = SHOAL_FULL;
    check(shoal_stream_offer(stream_, data, length, &offered));
    return offered;
  }

  /// Sends from byte `at` on as many chunks as there is credit for, and answers the byte that it got to.
  size_t write(const void * data, size_t length, size_t at = 0, size_t chunk = 0) const
  {
    size_t reached = at;
    check(shoal_stream_write(stream_, data, length, at, chunk, &reached));
    return reached;
  }

  /// Ends the stream.
  void finish() const {check(shoal_stream_finish(stream_));}

  /// Credit, what is in flight, and whether it goes on.
  shoal_stream_state_t state() const
  {
    shoal_stream_state_t state{};
    check(shoal_stream_get_state(stream_, &state));
    return state;
  }

  /// To be waited for: set as long as there is credit, and when the stream is over.
  const rmw_guard_condition_t * credit() const {return shoal_stream_credit(stream_);}

private:
  shoal_stream_t * stream_;
};

/// From now on what this subscription takes stays in flight until it was consumed.
inline void hold_credit(const rmw_subscription_t * subscription)
{
  check(shoal_subscription_hold_credit(subscription));
}

/// Gives the credit of the oldest samples back that were taken and not yet consumed.
inline void consumed(const rmw_subscription_t * subscription, size_t count = 1)
{
  check(shoal_subscription_consumed(subscription, count));
}

/// Sets how far a subscription may be behind each of its publishers.
inline void set_bounds(const rmw_subscription_t * subscription, const shoal_bounds_t & bounds)
{
  check(shoal_subscription_set_bounds(subscription, &bounds));
}

/// How far a subscription is behind each publisher that it reads.
inline std::vector<shoal_source_lag_t> lag(const rmw_subscription_t * subscription)
{
  std::vector<shoal_source_lag_t> lags(16);
  for (;; ) {
    size_t count = 0;
    check(shoal_subscription_lag(subscription, lags.data(), lags.size(), &count));
    const bool all = count <= lags.size();
    lags.resize(count);
    if (all) {
      return lags;
    }
  }
}

/// Joins a publisher again; what it sent up to the answer is history.
inline uint64_t rejoin(const rmw_subscription_t * subscription, const uint8_t * publisher_gid)
{
  uint64_t sequence = 0;
  check(shoal_subscription_rejoin(subscription, publisher_gid, &sequence));
  return sequence;
}

/// Has several subscriptions join their publishers anew, those of one context at one instant.
inline void join_many(const std::vector<const rmw_subscription_t *> & subscriptions)
{
  check(shoal_join_many(subscriptions.data(), subscriptions.size()));
}

/// Makes the samples of a publisher, which has sent none, the items of a queue; see shoal_publisher_make_queue().
inline void make_queue(const rmw_publisher_t * publisher, size_t window, std::chrono::nanoseconds lease)
{
  const rmw_time_t time = span(lease);
  check(shoal_publisher_make_queue(publisher, window, &time));
}

/// From now on this subscription claims items.
inline void share_work(const rmw_subscription_t * subscription)
{
  check(shoal_subscription_share_work(subscription));
}

/// An item of a queue. It goes back when it was not acknowledged by the end of its life, which is before its
/// subscription's.
class WorkItem
{
public:
  WorkItem(const rmw_subscription_t * subscription, const shoal_work_item_t & item)
  : subscription_(subscription), item_(item) {}

  WorkItem(WorkItem && other) noexcept
  : subscription_(other.subscription_), item_(other.item_)
  {
    other.subscription_ = nullptr;
  }

  ~WorkItem()
  {
    bool current = false;
    if (subscription_ != nullptr && shoal_subscription_give_back(subscription_, &item_, &current) != RMW_RET_OK) {
      rcutils_reset_error();
    }
  }

  WorkItem(const WorkItem &) = delete;
  WorkItem & operator=(const WorkItem &) = delete;
  WorkItem & operator=(WorkItem &&) = delete;

  /// The publisher's number for it.
  uint64_t sequence() const {return item_.sequence;}

  /// Acknowledges it; false if the claim was lost before.
  bool acknowledge()
  {
    bool current = false;
    check(shoal_subscription_acknowledge(subscription_, &item_, &current));
    subscription_ = nullptr;
    return current;
  }

private:
  const rmw_subscription_t * subscription_;
  shoal_work_item_t item_;
};

/// Claims the oldest item for the taking, into a message of the subscription's type; nothing if there is none.
inline std::optional<WorkItem> claim(const rmw_subscription_t * subscription, void * ros_message)
{
  shoal_work_item_t item;
  bool claimed = false;
  check(shoal_subscription_claim(subscription, ros_message, &item, &claimed));
  return claimed ? std::optional<WorkItem>(std::in_place, subscription, item) : std::nullopt;
}

/// The publisher's sequence number when the subscription joined.
inline uint64_t join_bound(const rmw_subscription_t * subscription, const rmw_gid_t & publisher)
{
  uint64_t sequence = 0;
  check(shoal_subscription_join_bound(subscription, publisher.data, &sequence));
  return sequence;
}

/// Adds to a counter of the context's domain, and answers its value after that.
inline uint64_t tick(const rmw_context_t * context, size_t index, uint64_t inc = 1)
{
  uint64_t value = 0;
  check(shoal_tick(context, index, inc, &value));
  return value;
}

/// Sets a counter of the context's domain.
inline void tock(const rmw_context_t * context, size_t index, uint64_t value)
{
  check(shoal_tock(context, index, value));
}

/// Waits until a subscription has something, or this much time is over; says why it ended.
inline shoal_outcome_t wait(
  rmw_wait_set_t * wait_set, const rmw_subscription_t * subscription, std::chrono::nanoseconds timeout)
{
  void * entries[] = {subscription->data};
  rmw_subscriptions_t subscriptions{1, entries};
  const rmw_time_t time = span(timeout);
  shoal_outcome_t outcome = SHOAL_READY;
  check(shoal_wait(&subscriptions, nullptr, nullptr, nullptr, nullptr, wait_set, &time, &outcome));
  return outcome;
}

/// Waits until a stream has credit or is over, or this much time is; says why it ended.
inline shoal_outcome_t wait(rmw_wait_set_t * wait_set, const Stream & stream, std::chrono::nanoseconds timeout)
{
  void * entries[] = {stream.credit()->data};
  rmw_guard_conditions_t guards{1, entries};
  const rmw_time_t time = span(timeout);
  shoal_outcome_t outcome = SHOAL_READY;
  check(shoal_wait(nullptr, &guards, nullptr, nullptr, nullptr, wait_set, &time, &outcome));
  return outcome;
}

}  // namespace shoal

#endif  // SHOAL_HPP_
