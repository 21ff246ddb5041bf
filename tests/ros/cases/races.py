"""Joins, publishes and ends that meet each other."""
import mmap
import os
import random
import struct
import subprocess
import sys
import time

from support import ros
from support.case import case
from support.ros import Inbox, Int32


class Gate:
    """Two processes leave arrive() at nearly the same moment, again and again."""

    def __init__(self, parties):
        self.memory, self.parties = mmap.mmap(-1, 8 * parties), parties

    def arrive(self, party, number):
        struct.pack_into("<q", self.memory, 8 * party, number)
        end = time.monotonic() + 20
        for other in range(self.parties):
            while struct.unpack_from("<q", self.memory, 8 * other)[0] < number:
                if time.monotonic() > end:
                    raise TimeoutError(f"party {other} did not come to {number}")


@case(limit=120)
def joining_while_publishing_gives_each_sample_exactly_once(t):
    gate = Gate(2)
    rounds, seconds = max(200, round(1000 * t_scale())), 60 * max(1.0, t_scale())

    def burst(k):
        return 10 if k % 4 == 3 else 1

    def talker(me):
        node = ros.start("talker")
        rng = random.Random(1)
        for k in range(1, rounds + 1):
            pause = rng.uniform(0, 0.0015)
            gate.arrive(0, 2 * k)
            busy(pause)
            publish = ros.numbers(f"r{k % 7}", ros.latched(10))
            for i in range(burst(k)):
                publish(100 * k + i)
            gate.arrive(0, 2 * k + 1)
            node.destroy_publisher(publish.publisher)

    def listener(me):
        node = ros.start("listener")
        rng = random.Random(2)
        start, wrong = time.monotonic(), []
        for k in range(1, rounds + 1):
            pause = rng.uniform(0, 0.0015)
            gate.arrive(1, 2 * k)
            busy(pause)
            inbox = Inbox(Int32, f"r{k % 7}", ros.latched(10))
            ros.spin_until(lambda: len(inbox.got) >= burst(k), 6)
            got = inbox.got + inbox.take_all()
            if got != [100 * k + i for i in range(burst(k))]:
                wrong.append((k, got))
            gate.arrive(1, 2 * k + 1)
            node.destroy_subscription(inbox.subscription)
            if time.monotonic() - start > seconds or len(wrong) > 2:
                break
        return k, wrong
    a = t.fork(talker)
    k, wrong = t.fork(listener).result(seconds + 30)
    a.kill()
    t.check(not wrong, f"{len(wrong)} of {k} rounds wrong, first {wrong[:2]}")
    t.check(k >= 200, f"only {k} rounds in time")
    t.note(f"{k} rounds")


def t_scale():
    from support.case import SCALE
    return SCALE


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@case(limit=120)
def many_joiners_during_a_stream_miss_and_double_nothing(t):
    seconds = 8

    def talker(me):
        ros.start("talker")
        publish = ros.numbers("stream", ros.latched(200))
        me.tell("up")
        k, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            publish(k)
            k += 1
            if k % 8 == 0:
                time.sleep(0.001)
        me.tell(k)
        me.hear()

    def joiner(me):
        node = ros.start(f"joiner{os.getpid()}")
        wrong, joins = [], 0
        while not me.heard():
            # Deeper than anything that can pile up here: what is missing then was lost, not dropped by KEEP_LAST.
            inbox = Inbox(Int32, "stream", ros.latched(20000))
            got = []
            for _ in range(3):
                got += inbox.take_all()
                time.sleep(0.002)
            node.destroy_subscription(inbox.subscription)
            joins += 1
            breaks = [(a, b) for a, b in zip(got, got[1:]) if b != a + 1]
            if breaks or len(got) < min(200, joins):
                wrong.append((len(got), got[:1], breaks[:3]))
        return joins, wrong
    a = t.fork(talker)
    a.expect()
    joiners = [t.fork(joiner) for _ in range(2)]
    sent = a.expect(seconds + 20)
    total = 0
    for j in joiners:
        joins, wrong = j.ask("enough", timeout=20)
        total += joins
        t.check(not wrong, f"{len(wrong)} of {joins} joins with a gap or a repeat: {wrong[:2]}")
    t.note(f"{total} joins during {sent} samples")


@case(limit=90)
def publishing_once_and_exiting_at_once_loses_nothing(t):
    def listener(me):
        ros.start("listener")
        inbox = Inbox(Int32, "once", ros.qos(100))
        me.tell("listening")
        while (want := me.hear()) is not None:
            me.tell(inbox.collect(want, settle=0.0)[want - 1:])

    def talker(me, k, killed):
        ros.start(f"talker{k}")
        publish = ros.numbers("once", ros.qos(10))
        ros.matched(publish.publisher)
        publish(k)
        if killed:
            os.kill(os.getpid(), 9)
    b = t.fork(listener)
    b.expect()
    for k in t.rounds(60, 40, 10):
        a = t.fork(talker, k, k % 2 == 1)
        code = a.exit_code(15)
        t.check(code in (0, -9), f"the talker ended with {code}")
        t.equal(b.ask(k + 1, timeout=20), [k], f"after talker {k} ({'killed' if k % 2 else 'ended'})")
    t.note(f"{k + 1} talkers, every second one killed right after its publish")


@case(limit=90)
def a_script_that_publishes_and_ends_loses_nothing(t):
    script = ("import rclpy, time; from std_msgs.msg import Int32; rclpy.init(); n = rclpy.create_node('once')\n"
              "p = n.create_publisher(Int32, 'script', 10)\n"
              "while p.get_subscription_count() < 1: time.sleep(0.01)\n"
              "p.publish(Int32(data=int({k})))\n")

    def listener(me):
        ros.start("listener")
        inbox = Inbox(Int32, "script", ros.qos(100))
        me.tell("listening")
        return inbox.collect(5, timeout=40)
    b = t.fork(listener)
    b.expect()
    for k in range(5):
        done = subprocess.run([sys.executable, "-c", script.format(k=k)], timeout=30, capture_output=True, text=True)
        t.equal(done.returncode, 0, f"exit of script {k} ({done.stderr[-300:]})")
    t.equal(b.result(40), [0, 1, 2, 3, 4], "the listener got")


@case(limit=60)
def arrivals_racing_with_waits_are_never_lost(t):
    """Ping-pong: each side parks in a wait without an end just when the other's sample is on its way."""
    rounds = max(500, round(5000 * t_scale()))

    def side(me, mine, theirs, begins):
        ros.start("side_" + mine)
        got = []
        publish = ros.numbers(mine, ros.qos(10))
        inbox = Inbox(Int32, theirs, ros.qos(10))
        inbox.got = got
        ros.matched(publish.publisher)
        me.tell("matched")
        me.hear()
        if begins:
            publish(0)
        while not got or got[-1] < rounds:
            before = len(got)
            while len(got) == before:
                ros._executor.spin_once()  # no time limit: a lost wake-up hangs here, and the watchdog says so
            publish(got[-1] + 1)
        return len(got)
    a, b = t.fork(side, "ping", "pong", True), t.fork(side, "pong", "ping", False)
    a.expect(), b.expect()
    start = time.monotonic()
    b.tell(), a.tell()
    counts = a.result(50), b.result(50)
    each = (time.monotonic() - start) / sum(counts) * 1e6
    t.check(sum(counts) >= rounds, f"{counts} samples")
    t.note(f"{sum(counts)} hand-overs, {each:.0f} µs each")
