import ctypes
import dataclasses

from ._library import call, rcl_handle
from ._outcome import Outcome
from ._streams import publisher_handle
from ._wait import span, subscription_handle

#: Subscriptions of one publisher that a call asks about at first; more are asked for again.
_ROOM = 64


class _Lag(ctypes.Structure):
    _fields_ = [
        ("subscription_gid", ctypes.c_uint8 * 16),
        ("reliable", ctypes.c_bool),
        ("known", ctypes.c_bool),
        ("messages", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
    ]


@dataclasses.dataclass(frozen=True)
class ReaderLag:
    """How far a matched subscription is behind its publisher: shoal_reader_lag_t."""

    subscription: bytes
    reliable: bool
    #: Samples that it has not taken; None while it has not said how far it is.
    messages: int | None
    bytes: int


def _report(lags, count):
    return [
        ReaderLag(bytes(lag.subscription_gid), lag.reliable, lag.messages if lag.known else None, lag.bytes)
        for lag in lags[:min(count, len(lags))]
    ]


def lag(publisher):
    """How far each matched subscription is behind this publisher of rclpy. The first call asks them to say so."""
    count, room = ctypes.c_size_t(), _ROOM
    while True:
        lags = (_Lag * room)()
        call("shoal_publisher_lag", publisher_handle(publisher), lags, ctypes.c_size_t(room), ctypes.byref(count))
        if count.value <= room:
            return _report(lags, count.value)
        room = count.value


def flush(publisher, timeout=None):
    """Waits until every matched reliable subscription has taken what was sent, for at most `timeout` seconds.

    Answers (Outcome.READY, []), or TIMED_OUT or INTERRUPTED with those that have not (the first 64)."""
    late, count, outcome = (_Lag * _ROOM)(), ctypes.c_size_t(), ctypes.c_uint()
    handle = publisher_handle(publisher)
    call("shoal_publisher_flush", handle, span(timeout), late, ctypes.c_size_t(_ROOM), ctypes.byref(count),
         ctypes.byref(outcome))
    return Outcome(outcome.value), _report(late, count.value)


def join_bound(subscription, publisher_gid):
    """The publisher's sequence number when the subscription joined: history ends there, and live begins."""
    sequence = ctypes.c_uint64()
    gid = (ctypes.c_uint8 * 16)(*publisher_gid)
    call("shoal_subscription_join_bound", subscription_handle(subscription), gid, ctypes.byref(sequence))
    return sequence.value


def _context(node):
    return rcl_handle("rcl_context_get_rmw_context", node.context)


def tick(node, index, inc=1):
    """Adds to counter `index` (0 to 1,023) of the node's domain, and answers its value after that."""
    value = ctypes.c_uint64()
    call("shoal_tick", _context(node), ctypes.c_size_t(index), ctypes.c_uint64(inc), ctypes.byref(value))
    return value.value


def tock(node, index, value):
    """Sets counter `index` of the node's domain."""
    call("shoal_tock", _context(node), ctypes.c_size_t(index), ctypes.c_uint64(value))
