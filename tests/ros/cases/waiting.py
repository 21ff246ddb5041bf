"""The wait contract from Python: the package `shoal` next to rclpy."""
import os
import signal
import sys

from support import ros
from support.case import Skip, case
from support.ros import Int32

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python")


def package():
    """The package under test; only the plugin has what it calls."""
    sys.path.insert(0, PACKAGE)
    import shoal
    return shoal


def plugin_only():
    if "librmw_shoal" not in os.environ.get("RMW_LIB", ""):
        raise Skip("only rmw_shoal has shoal.h")


def interrupted(me, flooded):
    node = ros.start("waiter")
    shoal = package()
    subscription = node.create_subscription(Int32, "numbers", lambda _: None, ros.qos(10))
    before = signal.getsignal(signal.SIGTERM)
    with shoal.Interrupt(signal.SIGTERM) as interrupt:
        me.tell("armed")
        outcomes, taken = [], 0
        while not outcomes:
            outcome, ready = shoal.wait(node, [subscription], timeout=30.0)
            while outcome == shoal.Outcome.READY and subscription.handle.take_message(Int32, False) is not None:
                taken += 1
                if taken == 1:
                    me.tell("taking")
            if outcome != shoal.Outcome.READY:
                outcomes.append((outcome.name, len(ready)))
        flag = interrupt.interrupted()
        interrupt.resume()
        resumed = interrupt.interrupted()
        if not flooded:
            outcomes.append(shoal.wait(node, [subscription], timeout=0.01)[0].name)
    restored = signal.getsignal(signal.SIGTERM) == before
    return outcomes, flag, resumed, restored


def flood(me):
    ros.start("flood")
    publish = ros.numbers("numbers", ros.qos(10))
    number = 0
    while not me.heard():
        publish(number)
        number += 1


@case(limit=60)
def waiting_ends_at_a_signal_that_an_interrupt_has_armed(t):
    plugin_only()
    waiter = t.fork(interrupted, False)
    t.equal(waiter.expect(), "armed", "the waiter")
    os.kill(waiter.pid, signal.SIGTERM)
    want = ([("INTERRUPTED", 0), "TIMED_OUT"], True, False, True)
    t.equal(waiter.result(), want, "outcomes, flag, flag after resume, handler restored")


@case(limit=60)
def waiting_ends_at_a_signal_while_samples_pour_in(t):
    plugin_only()
    waiter = t.fork(interrupted, True)
    t.equal(waiter.expect(), "armed", "the waiter")
    t.fork(flood)
    t.equal(waiter.expect(), "taking", "the waiter")
    os.kill(waiter.pid, signal.SIGTERM)
    t.equal(waiter.result(), ([("INTERRUPTED", 0)], True, False, True), "outcomes, flag, flag after resume, restored")
