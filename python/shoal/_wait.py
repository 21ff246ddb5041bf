import contextlib
import ctypes

from ._library import call, make, rcl_handle
from ._outcome import Outcome


class _Time(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_uint64), ("nsec", ctypes.c_uint64)]


class _Handle(ctypes.Structure):
    """How every rmw handle begins."""

    _fields_ = [("implementation_identifier", ctypes.c_char_p), ("data", ctypes.c_void_p)]


class _Array(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("entries", ctypes.POINTER(ctypes.c_void_p))]


def subscription_handle(subscription):
    return rcl_handle("rcl_subscription_get_rmw_handle", subscription)


@contextlib.contextmanager
def _wait_set(node):
    context = rcl_handle("rcl_context_get_rmw_context", node.context)
    wait_set = make("rmw_create_wait_set", context, ctypes.c_size_t(0))
    try:
        yield wait_set
    finally:
        call("rmw_destroy_wait_set", wait_set)


def span(seconds):
    """rmw_time_t, or NULL for ever."""
    if seconds is None:
        return None
    nanoseconds = max(0, round(seconds * 1e9))
    return ctypes.byref(_Time(nanoseconds // 10**9, nanoseconds % 10**9))


def _entries(handles):
    data = [ctypes.cast(handle, ctypes.POINTER(_Handle)).contents.data for handle in handles]
    return (ctypes.c_void_p * len(data))(*data)


def wait(node, subscriptions, timeout=None, streams=()):
    """Waits until one of the subscriptions of rclpy has something, or one of the streams has credit or is over, for at most
    `timeout` seconds (None: for ever).

    Answers (Outcome, list of the subscriptions and streams that are ready). An interruption comes before what is ready.
    The interpreter runs other threads meanwhile; a Python signal handler runs after the wait, so arm an Interrupt."""
    entries = _entries([subscription_handle(subscription) for subscription in subscriptions])
    guards = _entries([stream.credit() for stream in streams])
    arrays = _Array(len(entries), entries), _Array(len(guards), guards)
    outcome = ctypes.c_uint()
    with _wait_set(node) as wait_set:
        call("shoal_wait", ctypes.byref(arrays[0]), ctypes.byref(arrays[1]), None, None, None, wait_set, span(timeout),
             ctypes.byref(outcome))
    ready = [item for item, entry in zip([*subscriptions, *streams], [*entries, *guards]) if entry]
    return Outcome(outcome.value), ready
