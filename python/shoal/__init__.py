"""What rmw_shoal offers beyond the ROS API: why a wait ended, and how to end one. The Python face of shoal.h.

Works in any program that runs on rmw_shoal, next to rclpy:

    with shoal.Interrupt(signal.SIGTERM):
        outcome, ready = shoal.wait(node, [subscription], timeout=5.0)

A producer says that nothing follows with shoal.finish(publisher); who reads finds Outcome.END_OF_STREAM behind the last
sample, and Outcome.BROKEN where the producer's process died instead (shoal.take_stream_event).
shoal.flush(publisher) waits until what was sent has been taken. A shoal.Stream sends bytes through a bounded window.
shoal.make_queue(publisher, ...) has each sample go to one of the subscriptions that share the work.
"""
from ._bounds import SourceLag, WhenBehind, join_many, rejoin, set_bounds, source_lag
from ._credit import Offered, Stream, StreamState, consumed, hold_credit
from ._interrupt import Interrupt
from ._library import Error
from ._outcome import Outcome
from ._progress import ReaderLag, flush, join_bound, lag, tick, tock
from ._streams import StreamEvent, end_of_day, finish, take_stream_event
from ._wait import wait
from ._work import WorkItem, claim, make_queue, share_work

__all__ = [
    "Error", "Interrupt", "Offered", "Outcome", "ReaderLag", "SourceLag", "Stream", "StreamEvent",
    "StreamState", "WhenBehind", "WorkItem", "claim", "consumed", "end_of_day", "finish", "flush",
    "hold_credit", "join_bound", "join_many", "lag", "make_queue", "rejoin", "set_bounds", "share_work",
    "source_lag", "take_stream_event", "tick", "tock", "wait",
]
