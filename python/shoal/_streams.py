import ctypes
import dataclasses

from ._library import call, rcl_handle
from ._outcome import Outcome
from ._wait import subscription_handle


class _Event(ctypes.Structure):
    _fields_ = [
        ("outcome", ctypes.c_uint),
        ("of_topic", ctypes.c_bool),
        ("publisher_gid", ctypes.c_uint8 * 16),
        ("last_sequence", ctypes.c_uint64),
    ]


@dataclasses.dataclass(frozen=True)
class StreamEvent:
    """What became of a stream: shoal_stream_event_t."""

    outcome: Outcome
    #: The publisher's GID; None for the topic, all of whose publishers have ended.
    publisher: bytes | None
    #: Publication sequence number of the publisher's last sample.
    last_sequence: int


def publisher_handle(publisher):
    return rcl_handle("rcl_publisher_get_rmw_handle", publisher)


def finish(publisher):
    """Ends the stream of a publisher of rclpy, which destroying it does not."""
    call("shoal_publisher_finish", publisher_handle(publisher))


def end_of_day(entity):
    """Says that a session is over, while the stream goes on: of a publisher of rclpy, or of all of a node's context.

    Subscriptions find END_OF_DAY behind what was sent before, once for each call and publisher."""
    if hasattr(entity, "publish"):
        call("shoal_publisher_end_of_day", publisher_handle(entity))
    else:
        call("shoal_context_end_of_day", rcl_handle("rcl_context_get_rmw_context", entity.context))


def take_stream_event(subscription):
    """What became of a stream that the subscription has read to its end; None when none has ended since the last call."""
    event, taken = _Event(), ctypes.c_bool()
    handle = subscription_handle(subscription)
    call("shoal_subscription_take_stream_event", handle, ctypes.byref(event), ctypes.byref(taken))
    if not taken.value:
        return None
    publisher = None if event.of_topic else bytes(event.publisher_gid)
    return StreamEvent(Outcome(event.outcome), publisher, event.last_sequence)
