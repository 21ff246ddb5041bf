import ctypes
import dataclasses
import enum

from ._library import call, make
from ._streams import publisher_handle
from ._wait import subscription_handle


class Offered(enum.IntEnum):
    """What became of an offer: shoal_offered_t."""

    #: It is on its way.
    SENT = 0
    #: There is no credit now.
    FULL = 1
    #: Nothing is taken any more: the stream was finished, or all of its consumers have gone.
    FINISHED = 2


class _State(ctypes.Structure):
    _fields_ = [
        ("window", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("in_flight", ctypes.c_uint64),
        ("peak", ctypes.c_uint64),
        ("over", ctypes.c_bool),
    ]


@dataclasses.dataclass(frozen=True)
class StreamState:
    """A stream at one moment: shoal_stream_state_t."""

    window: int
    #: Chunks that can be sent now.
    available: int
    in_flight: int
    #: The most that ever were in flight.
    peak: int
    #: The stream was finished, or all of its consumers have gone.
    over: bool


class Stream:
    """Bytes in chunks, of which no more than a window are in flight, and a producer that never waits.

    A view of a reliable KEEP_ALL publisher of rclpy whose type ends with a sequence of bytes (std_msgs/UInt8MultiArray).
    Close it (a `with` block does) before its publisher goes. shoal.wait() takes it in `streams`: it is ready as long as
    there is credit, and when it is over."""

    def __init__(self, publisher, window, chunk_bytes):
        handle = publisher_handle(publisher)
        self._stream = make("shoal_stream_create", handle, ctypes.c_size_t(window), ctypes.c_size_t(chunk_bytes))

    def offer(self, data):
        """Sends one chunk if there is credit for it."""
        offered = ctypes.c_uint()
        data = bytes(data)
        call("shoal_stream_offer", self._stream, data, ctypes.c_size_t(len(data)), ctypes.byref(offered))
        return Offered(offered.value)

    def write(self, data, at=0, chunk=0):
        """Sends from byte `at` on as many chunks as there is credit for, and answers the byte that it got to."""
        reached = ctypes.c_size_t()
        data = bytes(data)
        call("shoal_stream_write", self._stream, data, ctypes.c_size_t(len(data)), ctypes.c_size_t(at),
             ctypes.c_size_t(chunk), ctypes.byref(reached))
        return reached.value

    def finish(self):
        """Ends the stream: consumers find Outcome.END_OF_STREAM behind the last chunk."""
        call("shoal_stream_finish", self._stream)

    def state(self):
        """Credit, what is in flight, and whether the stream goes on."""
        state = _State()
        call("shoal_stream_get_state", self._stream, ctypes.byref(state))
        return StreamState(state.window, state.available, state.in_flight, state.peak, state.over)

    def credit(self):
        """The rmw_guard_condition_t of its credit."""
        return make("shoal_stream_credit", self._stream)

    def close(self):
        """Frees it; the publisher goes on as any other. Does nothing the second time."""
        stream, self._stream = self._stream, None
        if stream is not None:
            call("shoal_stream_destroy", stream)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def hold_credit(subscription):
    """From now on what this subscription of rclpy takes stays in flight until it was consumed."""
    call("shoal_subscription_hold_credit", subscription_handle(subscription))


def consumed(subscription, count=1):
    """Gives the credit of the oldest samples back that were taken and not yet consumed."""
    call("shoal_subscription_consumed", subscription_handle(subscription), ctypes.c_size_t(count))
