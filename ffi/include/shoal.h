/// \file shoal.h
/// What rmw_shoal offers beyond the RMW API: why a wait ended, and how to end one. C11 and C++17.
///
/// Link against librmw_shoal.so, or look the functions up in the process (`dlsym`): rcl has loaded it already. Handles
/// are those of the RMW API (`rcl_publisher_get_rmw_handle`, `rcl_subscription_get_rmw_handle`). Unless said otherwise a
/// function returns RMW_RET_OK, RMW_RET_INVALID_ARGUMENT for NULL, RMW_RET_INCORRECT_RMW_IMPLEMENTATION for a handle of
/// another middleware, or RMW_RET_ERROR; on failure the rcutils error state says what was wrong and what to do.
#ifndef SHOAL_H_
#define SHOAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rmw/event_callback_type.h>
#include <rmw/ret_types.h>
#include <rmw/serialized_message.h>
#include <rmw/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Why a wait, or a stream, ended.
typedef enum shoal_outcome_e
{
  /// At least one item is ready.
  SHOAL_READY = 0,
  /// The producer said that nothing follows, and everything before that has been taken.
  SHOAL_END_OF_STREAM = 1,
  /// The time is over, or the context was shut down, and nothing is ready.
  SHOAL_TIMED_OUT = 2,
  /// The process was interrupted, see shoal_interrupt_guard_create().
  SHOAL_INTERRUPTED = 3,
  /// The producer died without ending its stream; what it had published has been taken.
  SHOAL_BROKEN = 4,
  /// The producer said that a session is over; everything before that has been taken, and the stream goes on.
  SHOAL_END_OF_DAY = 5,
  /// The subscription was further behind the producer than its bounds allow, and gets nothing more of it until it joins it
  /// again, see shoal_subscription_set_bounds().
  SHOAL_SHED = 6
} shoal_outcome_t;

// Interruption

/// Interrupts the waits of this process.
///
/// The flag is the process's: all guards see the same one. While it is raised, every shoal_wait() ends with
/// SHOAL_INTERRUPTED, and rmw_wait() returns RMW_RET_TIMEOUT with nothing ready once for each interruption and thread, so
/// that a caller that knows nothing of interruptions goes on. Other signals neither end nor stretch a wait.
typedef struct shoal_interrupt_guard_s
{
  /// Which middleware made it.
  const char * implementation_identifier;
  /// Private.
  void * data;
} shoal_interrupt_guard_t;

/// Makes a guard; until it is destroyed, each of the `count` signals at `signals` interrupts. With none it is a plain
/// handle. NULL where one of them cannot be caught; then none is armed.
shoal_interrupt_guard_t * shoal_interrupt_guard_create(const int * signals, size_t count);

/// Frees a guard. The last one that armed a signal restores the handler that the first displaced. The flag stays.
rmw_ret_t shoal_interrupt_guard_destroy(shoal_interrupt_guard_t * guard);

/// Raises the flag and wakes every waiting thread of this process. Async-signal-safe.
rmw_ret_t shoal_interrupt_guard_interrupt(const shoal_interrupt_guard_t * guard);

/// Whether the flag is raised; false, too, for what is no guard (then the error state is set).
bool shoal_interrupt_guard_interrupted(const shoal_interrupt_guard_t * guard);

/// Lowers the flag: waits wait again.
rmw_ret_t shoal_interrupt_guard_resume(const shoal_interrupt_guard_t * guard);

// Waiting

/// As rmw_wait(), but says why it ended and returns RMW_RET_OK however it did. An interruption comes before what is
/// ready: then every entry is NULL and nothing is consumed. The outcome of a stream (SHOAL_END_OF_STREAM, SHOAL_BROKEN)
/// comes when nothing else is ready: then the entry of its subscription stays, and the outcome is to be taken with
/// shoal_subscription_take_stream_event(). SHOAL_END_OF_DAY and SHOAL_SHED, behind which more may follow, come before
/// samples: then the other entries say what is ready, too. A wait on subscriptions has their streams watched from
/// then on.
rmw_ret_t shoal_wait(
  rmw_subscriptions_t * subscriptions,
  rmw_guard_conditions_t * guard_conditions,
  rmw_services_t * services,
  rmw_clients_t * clients,
  rmw_events_t * events,
  rmw_wait_set_t * wait_set,
  const rmw_time_t * wait_timeout,
  shoal_outcome_t * outcome);

/// Why the last rmw_wait() or shoal_wait() on this wait set ended; SHOAL_READY before the first.
rmw_ret_t shoal_wait_outcome(const rmw_wait_set_t * wait_set, shoal_outcome_t * outcome);

// Ends of streams

/// What became of a stream. It comes behind the stream's last sample.
typedef struct shoal_stream_event_s
{
  /// SHOAL_END_OF_STREAM, SHOAL_BROKEN, SHOAL_END_OF_DAY or SHOAL_SHED.
  shoal_outcome_t outcome;
  /// Not of one publisher, but of the topic: all its publishers have ended. SHOAL_BROKEN if one of them broke.
  bool of_topic;
  /// The publisher; zero for the topic.
  uint8_t publisher_gid[RMW_GID_STORAGE_SIZE];
  /// Publication sequence number of the publisher's last sample, of the day where that is what ended; of the last sample
  /// before a subscription was shed; 0 for the topic, and if it sent none.
  uint64_t last_sequence;
} shoal_stream_event_t;

/// Ends the publisher's stream: subscriptions find SHOAL_END_OF_STREAM behind its last sample, late joiners too. Destroying
/// a publisher is no ending. Publishing fails from then on; finishing again does nothing.
rmw_ret_t shoal_publisher_finish(const rmw_publisher_t * publisher);

/// Says that a session is over, while the stream goes on: each subscription of the topic that has joined and is watched
/// finds SHOAL_END_OF_DAY behind what this publisher sent before, once for each call. Fails after shoal_publisher_finish().
///
/// shoal_wait() reports it in order, before any sample that was sent after it; who takes several samples after one wait
/// tells by their publication sequence numbers. A reader that is more than seven such calls behind finds the older ones
/// late, with the seventh from the end.
rmw_ret_t shoal_publisher_end_of_day(const rmw_publisher_t * publisher);

/// shoal_publisher_end_of_day() for every publisher of the context that has not finished: whoever reads from this process
/// is told, by each of the publishers that it reads.
rmw_ret_t shoal_context_end_of_day(const rmw_context_t * context);

/// Takes what became of a publisher's stream, or of the topic, once its samples have been taken; oldest first, each once.
/// `taken` is false when nothing has ended since the last call. From the first call on (or the first shoal_wait() on it)
/// the subscription's streams are watched: those of publishers that have finished and still are there, and all that
/// finish, or break because their process dies, later. rmw_wait() then reports the subscription once for each.
rmw_ret_t shoal_subscription_take_stream_event(
  const rmw_subscription_t * subscription, shoal_stream_event_t * event, bool * taken);

/// Calls back when something became of a stream, with how many there are since the last call; NULL clears it. As
/// rmw_subscription_set_on_new_message_callback(); the streams are watched from then on.
rmw_ret_t shoal_subscription_set_on_stream_event_callback(
  const rmw_subscription_t * subscription, rmw_event_callback_t callback, const void * user_data);

// Slow subscribers

/// What becomes of a subscription that is further behind a publisher than its bounds allow.
typedef enum shoal_when_behind_e
{
  /// It goes on with the newest samples that are within the bounds, and is told nothing.
  SHOAL_KEEP_LAST = 0,
  /// It finds SHOAL_SHED and gets nothing more of this publisher until shoal_subscription_rejoin().
  SHOAL_SHED_READER = 1,
  /// Its publishers wait before they go beyond its bound on messages, at most 100 ms; then as SHOAL_SHED_READER, and nobody
  /// waits again before it has caught up.
  SHOAL_WAIT_FOR_READER = 2
} shoal_when_behind_t;

/// How far a subscription may be behind each of its publishers. 0: no such bound.
typedef struct shoal_bounds_s
{
  /// Samples that were not taken, at most 65,536; also what a publisher keeps for the subscription, so that a stopped one
  /// costs no more and, but for SHOAL_WAIT_FOR_READER, nobody waits for it. 0 is as many as the profile keeps, or else 65,536.
  uint64_t messages;
  /// Bytes of those samples; the newest one may be longer.
  uint64_t bytes;
  /// Age of the oldest of them in nanoseconds, by its source time.
  uint64_t age;
  shoal_when_behind_t when_behind;
} shoal_bounds_t;

/// Sets the bounds of a subscription, and replaces earlier ones. They hold for what its profile says otherwise of history:
/// with SHOAL_SHED_READER nothing is skipped in silence, and a KEEP_ALL publisher does not wait for this subscription.
/// Whether it is too far behind, the subscription finds at its next look (a wait, a take, or its callbacks' thread).
rmw_ret_t shoal_subscription_set_bounds(const rmw_subscription_t * subscription, const shoal_bounds_t * bounds);

/// How far a subscription is behind a publisher.
typedef struct shoal_source_lag_s
{
  /// The publisher.
  uint8_t publisher_gid[RMW_GID_STORAGE_SIZE];
  /// It was too far behind, and has not joined again.
  bool shed;
  /// Samples that were sent since the last one that was taken.
  uint64_t messages;
  /// Bytes of those that are still kept.
  uint64_t bytes;
} shoal_source_lag_t;

/// How far the subscription is behind each publisher that it reads. Writes at most `capacity` of them to `lags`, which may
/// be NULL where that is 0, and to `count` how many there are.
rmw_ret_t shoal_subscription_lag(
  const rmw_subscription_t * subscription, shoal_source_lag_t * lags, size_t capacity, size_t * count);

// Completion

/// How far a matched subscription is behind its publisher.
typedef struct shoal_reader_lag_s
{
  /// The subscription.
  uint8_t subscription_gid[RMW_GID_STORAGE_SIZE];
  /// Whether its profile is reliable.
  bool reliable;
  /// Whether `messages` and `bytes` are known: the subscription says how far it is from its first look (a wait or a take)
  /// after it was asked on.
  bool known;
  /// Samples that it has not taken. What KEEP_LAST lets it skip counts until it looks.
  uint64_t messages;
  /// Bytes of those samples that are still kept.
  uint64_t bytes;
} shoal_reader_lag_t;

/// How far each matched subscription is behind. Writes at most `capacity` of them to `lags`, which may be NULL where that is
/// 0, and to `count` how many there are. The first call for a publisher, or the first flush, asks its subscriptions.
rmw_ret_t shoal_publisher_lag(
  const rmw_publisher_t * publisher, shoal_reader_lag_t * lags, size_t capacity, size_t * count);

/// Waits until each matched reliable subscription has taken what was sent before this call; rmw_publisher_wait_for_all_acked()
/// is content with what they can take. NULL for `budget` is for ever. SHOAL_READY: all have. SHOAL_TIMED_OUT and
/// SHOAL_INTERRUPTED: `count` have not, of which at most `capacity` are written to `late`. What a KEEP_LAST subscription
/// skips counts as taken, and a dead process holds nobody.
rmw_ret_t shoal_publisher_flush(
  const rmw_publisher_t * publisher,
  const rmw_time_t * budget,
  shoal_reader_lag_t * late,
  size_t capacity,
  size_t * count,
  shoal_outcome_t * outcome);

/// Joins a publisher again, after SHOAL_SHED or at any time: what it sent up to `sequence` comes from history, as far as both
/// profiles keep it, and everything above live. What was unread is given up. Errors as shoal_subscription_join_bound().
rmw_ret_t shoal_subscription_rejoin(
  const rmw_subscription_t * subscription, const uint8_t * publisher_gid, uint64_t * sequence);

/// Has each of the `count` subscriptions join its publishers anew, those of one context at one instant: there is a point in
/// what that context published, one sample after the other, up to which everything on these topics is at or below the
/// shoal_subscription_join_bound()s, and after which everything is above. To be called before the first take: what was unread is
/// given up, and history comes (again). RMW_RET_TIMEOUT, with nothing changed, where the publishers never stood still.
rmw_ret_t shoal_join_many(const rmw_subscription_t * const * subscriptions, size_t count);

// Credit streams

/// The producing side of a stream: bytes in chunks, of which no more than a window are in flight, and a producer that never
/// waits. It is a view of a publisher, each of whose samples is a chunk; consumers are its reliable KEEP_ALL
/// subscriptions, which take the chunks as any message.
typedef struct shoal_stream_s
{
  /// Which middleware made it.
  const char * implementation_identifier;
  /// Private.
  void * data;
} shoal_stream_t;

/// What became of an offer.
typedef enum shoal_offered_e
{
  /// It is on its way.
  SHOAL_SENT = 0,
  /// There is no credit now.
  SHOAL_FULL = 1,
  /// Nothing is taken any more: the stream was finished, or all of its consumers have gone.
  SHOAL_FINISHED = 2
} shoal_offered_t;

/// A stream at one moment.
typedef struct shoal_stream_state_s
{
  /// The most chunks in flight.
  uint64_t window;
  /// Chunks that can be sent now; 0 when the stream is over, and before its first consumer has come.
  uint64_t available;
  /// Chunks that were sent and that some consumer has not consumed. One that is just joining has consumed none.
  uint64_t in_flight;
  /// The most that ever were in flight; never more than the window.
  uint64_t peak;
  /// The stream was finished, or all of its consumers have gone.
  bool over;
} shoal_stream_state_t;

/// Makes a publisher carry a stream of at most `window` chunks in flight, of at most `chunk_bytes` bytes each, and so bounds
/// its shared memory to one chunk more. The publisher is reliable, KEEP_ALL and VOLATILE, and its type ends with a sequence
/// of bytes, which is a chunk's; the other fields have their defaults: std_msgs/msg/UInt8MultiArray is such a type.
/// NULL where that is not so, the window is not 1 to 65,536, or the publisher has a stream already.
shoal_stream_t * shoal_stream_create(const rmw_publisher_t * publisher, size_t window, size_t chunk_bytes);

/// Frees a stream, before its publisher, which goes on as any other.
rmw_ret_t shoal_stream_destroy(shoal_stream_t * stream);

/// Sends one chunk if there is credit for it; never waits. RMW_RET_INVALID_ARGUMENT if it is longer than `chunk_bytes`.
rmw_ret_t shoal_stream_offer(
  const shoal_stream_t * stream, const void * data, size_t length, shoal_offered_t * offered);

/// Sends the `length` bytes at `data` from `at` on, in chunks of `chunk` bytes (0: of `chunk_bytes`), the last of which may be
/// shorter, as many as there is credit for. `reached` is where it got to: `at` without credit, `length` at the end.
rmw_ret_t shoal_stream_write(
  const shoal_stream_t * stream, const void * data, size_t length, size_t at, size_t chunk, size_t * reached);

/// Ends the stream, as shoal_publisher_finish() does.
rmw_ret_t shoal_stream_finish(const shoal_stream_t * stream);

/// Credit, what is in flight, and whether the stream goes on.
rmw_ret_t shoal_stream_get_state(const shoal_stream_t * stream, shoal_stream_state_t * state);

/// To be waited for with rmw_wait() or shoal_wait(): set as long as there is credit, and when the stream is over. A wait
/// does not consume it, so wait for it only with something to send. It lives as long as the stream.
const rmw_guard_condition_t * shoal_stream_credit(const shoal_stream_t * stream);

/// From now on what this subscription takes stays in flight until it was consumed; before, and without this call, taking
/// gives credit back. RMW_RET_INVALID_ARGUMENT if it is not reliable and KEEP_ALL.
rmw_ret_t shoal_subscription_hold_credit(const rmw_subscription_t * subscription);

/// Gives the credit of the `count` oldest samples back that were taken and not yet consumed. RMW_RET_INVALID_ARGUMENT, and
/// nothing is given back, if fewer were taken.
rmw_ret_t shoal_subscription_consumed(const rmw_subscription_t * subscription, size_t count);

// Work queues

/// An item of a queue, claimed by one of the subscriptions that share it.
typedef struct shoal_work_item_s
{
  /// Its publisher.
  uint8_t publisher_gid[RMW_GID_STORAGE_SIZE];
  /// The publisher's number for it, from 1.
  uint64_t sequence;
  /// Private.
  uint64_t private_data[2];
} shoal_work_item_t;

/// Makes the samples of a publisher, which has sent none, the items of a queue: each goes to one of the subscriptions that
/// share the work, and stays until it is acknowledged. An item that was claimed is for the taking again when its consumer
/// dies, goes, gives it back, or has not acknowledged it when `lease` (1 ms to 49 days) is over. Sample n is sent once
/// item n - `window` (1 to 65,536) is acknowledged; publishing waits for that, and fails with a time-out as to any
/// reliable KEEP_ALL subscription. RMW_RET_INVALID_ARGUMENT if the publisher is not reliable, KEEP_ALL and VOLATILE, has a
/// lifespan, has sent something or carries a stream or a queue. Items are kept as long as the publisher or a
/// subscription that shares them is there. shoal_publisher_finish() ends the queue for all of these at once: each finds
/// SHOAL_END_OF_STREAM behind the last acknowledgement.
rmw_ret_t shoal_publisher_make_queue(const rmw_publisher_t * publisher, size_t window, const rmw_time_t * lease);

/// From now on this subscription claims items, and is ready when one is for the taking; taking messages fails. Samples
/// of publishers without a queue are passed over. RMW_RET_INVALID_ARGUMENT if it is not reliable and KEEP_ALL, filters, or
/// holds credit.
rmw_ret_t shoal_subscription_share_work(const rmw_subscription_t * subscription);

/// Claims the oldest item for the taking; `claimed` is false if there is none. One that cannot be deserialized is an error,
/// and acknowledged.
rmw_ret_t shoal_subscription_claim(
  const rmw_subscription_t * subscription, void * ros_message, shoal_work_item_t * item, bool * claimed);

/// The same, as a serialized message.
rmw_ret_t shoal_subscription_claim_serialized(
  const rmw_subscription_t * subscription,
  rmw_serialized_message_t * serialized_message,
  shoal_work_item_t * item,
  bool * claimed);

/// Acknowledges an item: nobody gets it any more. `current` is false, and nothing happened, if the claim was lost before.
rmw_ret_t shoal_subscription_acknowledge(
  const rmw_subscription_t * subscription, const shoal_work_item_t * item, bool * current);

/// Gives an item back, for anybody to claim. `current` as above.
rmw_ret_t shoal_subscription_give_back(
  const rmw_subscription_t * subscription, const shoal_work_item_t * item, bool * current);

// Joining

/// The publisher's sequence number when the subscription joined: what it sent up to there comes from history, as far as
/// both profiles keep it, and everything above live; nothing is missing or comes twice. 0 for a publisher that came later.
/// RMW_RET_INVALID_ARGUMENT where no matching publisher has this GID (RMW_GID_STORAGE_SIZE bytes).
rmw_ret_t shoal_subscription_join_bound(
  const rmw_subscription_t * subscription, const uint8_t * publisher_gid, uint64_t * sequence);

// Counters

/// A domain has 1,024 counters, which all its processes share; they are 0 when the first one joins.

/// Adds to counter `index`, wrapping around; `value` is what it is after that.
rmw_ret_t shoal_tick(const rmw_context_t * context, size_t index, uint64_t inc, uint64_t * value);

/// Sets counter `index`.
rmw_ret_t shoal_tock(const rmw_context_t * context, size_t index, uint64_t value);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // SHOAL_H_
