"""rclpy in a few words, for the roles of the cases. One node per process unless a role makes more."""
import threading
import time

import rclpy
import rclpy.node
from geometry_msgs.msg import TransformStamped
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as native
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Empty, Int32, String, UInt8MultiArray
from std_srvs.srv import Empty as EmptySrv
from test_msgs.srv import BasicTypes

from . import payload

_node = None
_executor = None
_spinner = None


def warm():
    """Loads what every role loads, before the processes fork. Makes no call into the middleware."""
    from rcl_interfaces.msg import Log, ParameterEvent
    for kind in (Empty, Int32, String, UInt8MultiArray, PointCloud2, TransformStamped, EmptySrv, BasicTypes, Log, ParameterEvent):
        kind.__class__.__import_type_support__()


def identifier():
    return rclpy.get_rmw_implementation_identifier()


def is_shoal():
    return identifier() == "rmw_shoal"


def make_node(name, **options):
    """A node without parameter services (a dozen endpoints fewer), unless asked for."""
    options.setdefault("start_parameter_services", False)
    return rclpy.node.Node(name, **options)


def start(name="node", **options):
    """rclpy.init and the node of this process."""
    global _node, _executor
    rclpy.init()
    _node = make_node(name, **options)
    _executor = SingleThreadedExecutor()
    _executor.add_node(_node)
    return _node


def finish():
    """The ordinary end of a node process."""
    global _node
    if _spinner is not None:
        _spinner.stop()
    if _node is not None:
        _node.destroy_node()
        _node = None
    rclpy.try_shutdown()


def qos(depth=10, latched=False, reliable=True):
    return QoSProfile(
        depth=depth, history=HistoryPolicy.KEEP_LAST,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)


def latched(depth=1):
    return qos(depth, latched=True)


def publisher(kind, topic, profile=10, node=None):
    return (node or _node).create_publisher(kind, topic, profile)


def numbers(topic, profile=10, node=None):
    """A publisher of Int32 as a function of the number."""
    p = publisher(Int32, topic, profile, node)

    def publish(n):
        p.publish(Int32(data=n))
    publish.publisher = p
    return publish


def bulk(tag, number, size):
    return UInt8MultiArray(data=payload.make(tag, number, size))


def whole(message):
    return payload.read(message.data)


class Inbox:
    """A subscription that keeps what its callback gets."""

    def __init__(self, kind, topic, profile=10, value=None, node=None, **options):
        self.got, self.kind = [], kind
        self.value = value or (lambda m: m.data)
        self.subscription = (node or _node).create_subscription(kind, topic, self._callback, profile, **options)

    def _callback(self, message):
        self.got.append(self.value(message))

    def take(self):
        """The next sample by a bare take: no wait anywhere. None when there is none."""
        taken = self.subscription.handle.take_message(self.kind, False)
        return None if taken is None else self.value(taken[0])

    def take_all(self):
        taken = []
        while (one := self.take()) is not None:
            taken.append(one)
        return taken

    def collect(self, count, timeout=8, settle=0.2):
        """Spins until `count` samples are in, then a little longer for surplus ones; what came."""
        spin_until(lambda: len(self.got) >= count, timeout)
        spin(settle)
        return list(self.got)


def spin(seconds):
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        _executor.spin_once(timeout_sec=left)


def spin_until(ready, timeout=8):
    end = time.monotonic() + timeout
    while not ready():
        left = end - time.monotonic()
        if left <= 0:
            return False
        _executor.spin_once(timeout_sec=min(left, 0.05))
    return True


def until(ready, timeout=8, step=0.005):
    """Looks again and again without a wait of the middleware."""
    end = time.monotonic() + timeout
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


def matched(p, count=1, timeout=8):
    return until(lambda: p.get_subscription_count() >= count, timeout)


class _Spinner:
    def __init__(self):
        self.ending, self.errors = False, []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ending:
            try:
                _executor.spin_once(timeout_sec=0.5)
            except Exception as e:
                if self.ending or not rclpy.ok():
                    return
                self.errors.append(repr(e))

    def stop(self):
        self.ending = True
        _executor.wake()
        self.thread.join(5)


def keep_spinning():
    """Spins the node in a thread from now on."""
    global _spinner
    if _spinner is None:
        _spinner = _Spinner()
    return _spinner


def spin_for_ever():
    """Spins as a node does: in one wait without an end."""
    while rclpy.ok():
        _executor.spin_once()


def call(client, request, timeout=8):
    """One service call: the response, or None when none came in time."""
    future = client.call_async(request)
    return future.result() if spin_until(future.done, timeout) else None


def ready_clients(clients, seconds):
    """Which of the clients a wait on all of them reports."""
    context = rclpy.get_default_context().handle
    ws = native.WaitSet(0, 0, 0, len(clients), 0, 0, context)
    ws.clear_entities()
    places = [ws.add_client(c.handle) for c in clients]
    ws.wait(int(seconds * 1e9))
    return [bool(ws.is_ready("client", p)) for p in places]
