"""The wait contract from Python: the package `shoal` next to rclpy."""
import os
import signal
import subprocess
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


COUNT = 200


def stream_reader(me, enough):
    """What a subscription says until its topic has ended, or nothing more comes after `enough` of it."""
    node = ros.start("reader")
    shoal = package()
    subscription = node.create_subscription(Int32, "stream", lambda _: None, ros.qos(1000))
    said = [shoal.take_stream_event(subscription)]
    me.tell("reading")
    while True:
        outcome, ready = shoal.wait(node, [subscription], timeout=1.0 if len(said) > enough else 30.0)
        if outcome == shoal.Outcome.READY:
            said.append(subscription.handle.take_message(Int32, False)[0].data)
        elif outcome == shoal.Outcome.TIMED_OUT:
            return said + ["TIMED_OUT"]
        else:
            event = shoal.take_stream_event(subscription)
            said.append((event.outcome.name, event.publisher is not None, event.last_sequence))
            if event.publisher is None:
                return said


def stream_writer(me, then):
    node = ros.start("writer")
    publish = ros.numbers("stream", ros.qos(1000))
    ros.matched(publish.publisher)
    for number in range(1, COUNT + 1):
        publish(number)
    if then == "days":
        shoal = package()
        shoal.end_of_day(publish.publisher)
        shoal.end_of_day(node)
        publish(COUNT + 1)
        shoal.finish(publish.publisher)
        return True
    if then == "finish":
        shoal = package()
        shoal.finish(publish.publisher)
        try:
            publish(0)
        except Exception as e:  # rclpy raises what its C++ side throws
            return "finished" in str(e)
        return False
    me.tell("sent")
    me.hear()


def reads(t, then, enough=COUNT + 10):
    plugin_only()
    reader = t.fork(stream_reader, enough)
    t.equal(reader.expect(), "reading", "the reader")
    return reader, t.fork(stream_writer, then)


@case(limit=60)
def waiting_for_a_finished_producer_ends_behind_its_last_sample(t):
    reader, writer = reads(t, "finish")
    t.equal(writer.result(30), True, "publishing after the end fails")
    ends = [("END_OF_STREAM", True, COUNT), ("END_OF_STREAM", False, 0)]
    t.equal(reader.result(40), [None, *range(1, COUNT + 1), *ends], "the reader said")


@case(limit=60)
def waiting_meets_the_ends_of_days_between_the_samples(t):
    reader, writer = reads(t, "days")
    t.equal(writer.result(30), True, "the writer")
    days, last = [("END_OF_DAY", True, COUNT)] * 2, COUNT + 1
    ends = [*days, last, ("END_OF_STREAM", True, last), ("END_OF_STREAM", False, 0)]
    t.equal(reader.result(40), [None, *range(1, COUNT + 1), *ends], "the reader said")


@case(limit=60)
def waiting_for_a_killed_producer_ends_as_broken_behind_its_last_sample(t):
    reader, writer = reads(t, "silent")
    t.equal(writer.expect(30), "sent", "the writer")
    writer.kill()
    ends = [("BROKEN", True, COUNT), ("BROKEN", False, 0)]
    t.equal(reader.result(40), [None, *range(1, COUNT + 1), *ends], "the reader said")


@case(limit=60)
def waiting_for_a_silent_producer_times_out(t):
    reader, writer = reads(t, "silent", COUNT)
    t.equal(writer.expect(30), "sent", "the writer")
    t.equal(reader.result(40), [None, *range(1, COUNT + 1), "TIMED_OUT"], "the reader said")


EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/rclpy_stream.py")


@case(limit=60)
def waiting_in_the_example_prints_every_number_and_then_the_end(t):
    plugin_only()
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")]))
    start = [sys.executable, EXAMPLE]
    with subprocess.Popen([*start, "read"], env=environment, stdout=subprocess.PIPE, text=True) as reader:
        try:
            subprocess.run([*start, "write"], env=environment, check=True, timeout=30)
            said, _ = reader.communicate(timeout=30)
        finally:
            reader.kill()
    want = [*map(str, range(10)), "END_OF_STREAM behind sample 10", "END_OF_STREAM of the topic"]
    t.equal(said.splitlines(), want, "the example's reader said")
