import ctypes
import dataclasses
import enum

from ._library import call
from ._wait import subscription_handle

#: Publishers of one subscription that a call asks about at first; more are asked for again.
_ROOM = 16


class WhenBehind(enum.IntEnum):
    """What becomes of a subscription that is further behind a publisher than its bounds allow: shoal_when_behind_t."""

    #: It goes on with the newest samples that are within the bounds.
    KEEP_LAST = 0
    #: It finds Outcome.SHED, and gets nothing more of this publisher until rejoin().
    SHED = 1
    #: Its publishers wait before they go beyond its bound on messages, at most 100 ms; then as SHED.
    WAIT = 2


class _Bounds(ctypes.Structure):
    _fields_ = [
        ("messages", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("age", ctypes.c_uint64),
        ("when_behind", ctypes.c_uint),
    ]


class _Lag(ctypes.Structure):
    _fields_ = [
        ("publisher_gid", ctypes.c_uint8 * 16),
        ("shed", ctypes.c_bool),
        ("messages", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
    ]


@dataclasses.dataclass(frozen=True)
class SourceLag:
    """How far a subscription is behind a publisher: shoal_source_lag_t."""

    publisher: bytes
    shed: bool
    messages: int
    bytes: int


def set_bounds(subscription, *, messages=0, bytes=0, age=0.0, when_behind=WhenBehind.KEEP_LAST):
    """Sets how far a subscription of rclpy may be behind each publisher; 0 is no such bound, `age` is in seconds."""
    bounds = _Bounds(messages, bytes, round(age * 1e9), when_behind)
    call("shoal_subscription_set_bounds", subscription_handle(subscription), ctypes.byref(bounds))


def source_lag(subscription):
    """How far a subscription of rclpy is behind each publisher that it reads."""
    count, room = ctypes.c_size_t(), _ROOM
    while True:
        lags = (_Lag * room)()
        handle = subscription_handle(subscription)
        call("shoal_subscription_lag", handle, lags, ctypes.c_size_t(room), ctypes.byref(count))
        if count.value <= room:
            found = lags[:count.value]
            return [SourceLag(bytes(lag.publisher_gid), lag.shed, lag.messages, lag.bytes) for lag in found]
        room = count.value


def rejoin(subscription, publisher_gid):
    """Joins a publisher again, and answers its sequence number: up to there comes history, above live."""
    sequence = ctypes.c_uint64()
    gid = (ctypes.c_uint8 * 16)(*publisher_gid)
    call("shoal_subscription_rejoin", subscription_handle(subscription), gid, ctypes.byref(sequence))
    return sequence.value


def join_many(subscriptions):
    """Has subscriptions of rclpy join their publishers anew, those of one context at one instant. Before the first take."""
    handles = (ctypes.c_void_p * len(subscriptions))(*[subscription_handle(each) for each in subscriptions])
    call("shoal_join_many", handles, ctypes.c_size_t(len(subscriptions)))
