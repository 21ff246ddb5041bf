import contextlib
import ctypes

from rclpy.serialization import deserialize_message

from ._library import call, library
from ._streams import publisher_handle
from ._wait import span, subscription_handle


class _Item(ctypes.Structure):
    _fields_ = [
        ("publisher_gid", ctypes.c_uint8 * 16),
        ("sequence", ctypes.c_uint64),
        ("private_data", ctypes.c_uint64 * 2),
    ]


class _Allocator(ctypes.Structure):
    """rcutils_allocator_t: four functions and a state."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("allocate", "deallocate", "reallocate", "zero_allocate", "state")]


class _Bytes(ctypes.Structure):
    """rcutils_uint8_array_t."""

    _fields_ = [
        ("buffer", ctypes.c_void_p),
        ("buffer_length", ctypes.c_size_t),
        ("buffer_capacity", ctypes.c_size_t),
        ("allocator", _Allocator),
    ]


@contextlib.contextmanager
def _serialized_message():
    utils = library("librcutils.so")
    utils.rcutils_get_default_allocator.restype = _Allocator
    allocator = utils.rcutils_get_default_allocator()
    message = _Bytes()
    if utils.rcutils_uint8_array_init(ctypes.byref(message), ctypes.c_size_t(0), ctypes.byref(allocator)) != 0:
        raise MemoryError("no memory for a serialized message")
    try:
        yield message
    finally:
        utils.rcutils_uint8_array_fini(ctypes.byref(message))


class WorkItem:
    """An item of a queue that this subscription has claimed: shoal_work_item_t."""

    def __init__(self, subscription, item, message):
        self._subscription, self._item = subscription, item
        #: The message that it is.
        self.message = message
        #: The publisher's number for it, from 1.
        self.sequence = item.sequence

    def _end(self, function):
        current = ctypes.c_bool()
        handle = subscription_handle(self._subscription)
        call(function, handle, ctypes.byref(self._item), ctypes.byref(current))
        return current.value

    def acknowledge(self):
        """Nobody gets it any more. False if the claim was lost before."""
        return self._end("shoal_subscription_acknowledge")

    def give_back(self):
        """Anybody may claim it. False if the claim was lost before."""
        return self._end("shoal_subscription_give_back")


def make_queue(publisher, window, lease):
    """Makes the samples of a publisher of rclpy, which has sent none, the items of a queue; `lease` in seconds.

    Of the subscriptions that share the work each item goes to one, and stays until it is acknowledged. At most `window`
    items are in flight."""
    call("shoal_publisher_make_queue", publisher_handle(publisher), ctypes.c_size_t(window), span(lease))


def share_work(subscription):
    """From now on this subscription of rclpy claims items instead of taking messages."""
    call("shoal_subscription_share_work", subscription_handle(subscription))


def claim(subscription):
    """Claims the oldest item for the taking; None if there is none."""
    item, claimed = _Item(), ctypes.c_bool()
    with _serialized_message() as message:
        call("shoal_subscription_claim_serialized", subscription_handle(subscription), ctypes.byref(message),
             ctypes.byref(item), ctypes.byref(claimed))
        if not claimed.value:
            return None
        data = ctypes.string_at(message.buffer, message.buffer_length)
    return WorkItem(subscription, item, deserialize_message(data, subscription.msg_type))
