"""QoS events: what a process is told of the others, while it sleeps."""
import threading
import time

from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import LivelinessPolicy, QoSPolicyKind

from support import ros
from support.case import case
from support.ros import Int32, String

COUNTED = ("total_count", "total_count_change")
# rclpy shows no total of this one.
TYPES = COUNTED[1:]
MATCHED = COUNTED + ("current_count", "current_count_change")
ALIVE = ("alive_count", "not_alive_count", "alive_count_change", "not_alive_count_change")


def into(told, name, fields):
    """A callback that keeps the fields of what it gets."""
    return lambda status: told.append((name, time.monotonic(), *(getattr(status, f) for f in fields)))


def plain(told):
    return [(name, *fields) for name, _, *fields in told]


def profile(**changes):
    made = ros.qos()
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def subscriber(me, changes):
    """Subscribes with every callback, sleeps in one wait without an end, and tells what it was told. Ends by a kill."""
    told, node = [], ros.start("subscriber")
    callbacks = SubscriptionEventCallbacks(
        deadline=into(told, "deadline", COUNTED), liveliness=into(told, "liveliness", ALIVE),
        incompatible_qos=into(told, "qos", COUNTED + ("last_policy_kind",)),
        incompatible_type=into(told, "type", TYPES), matched=into(told, "matched", MATCHED))
    node.create_subscription(Int32, "t", lambda m: told.append(("sample", 0.0, m.data)), profile(**changes), event_callbacks=callbacks)
    threading.Thread(target=ros.spin_for_ever, daemon=True).start()
    me.tell("up")
    while (want := me.hear()) is not None:
        arrived = ros.until(lambda: len(told) >= want, 10)
        taken, told[:] = list(told), []
        me.tell((arrived, taken))


def publisher(me, kind, changes):
    """Publishes with every callback; publishes, asserts, and tells what it was told."""
    told, node = [], ros.start("publisher")
    callbacks = PublisherEventCallbacks(
        deadline=into(told, "deadline", COUNTED), liveliness=into(told, "liveliness", COUNTED),
        incompatible_qos=into(told, "qos", COUNTED + ("last_policy_kind",)),
        incompatible_type=into(told, "type", TYPES), matched=into(told, "matched", MATCHED))
    made = node.create_publisher(kind, "t", profile(**changes), event_callbacks=callbacks)
    ros.keep_spinning()
    me.tell("up")
    while (order := me.hear()) is not None:
        if order == "send":
            made.publish(kind())
        elif order == "assert":
            made.assert_liveliness()
        else:
            ros.until(lambda: len(told) >= order, 10)
        me.tell(plain(told))


@case(limit=60)
def both_sides_of_a_match_and_of_a_mismatch_are_told_in_both_orders(t):
    mismatches = [
        (QoSPolicyKind.RELIABILITY, dict(reliability=ros.ReliabilityPolicy.BEST_EFFORT), {}),
        (QoSPolicyKind.DURABILITY, {}, dict(durability=ros.DurabilityPolicy.TRANSIENT_LOCAL)),
        (QoSPolicyKind.DEADLINE, dict(deadline=Duration(seconds=20)), dict(deadline=Duration(seconds=10))),
        (QoSPolicyKind.LIVELINESS, {}, dict(liveliness=LivelinessPolicy.MANUAL_BY_TOPIC)),
    ]
    for policy, offered, requested in mismatches:
        for reader_first in (True, False):
            roles = [(subscriber, (requested,)), (publisher, (Int32, offered))]
            actors = {}
            for role, arguments in roles if reader_first else reversed(roles):
                actors[role] = t.fork(role, *arguments)
                actors[role].expect()
            what = f"{policy.name}, {'subscription' if reader_first else 'publisher'} first"
            t.equal(plain(actors[subscriber].ask(1)[1]), [("qos", 1, 1, policy)], f"told to the subscription: {what}")
            t.equal(actors[publisher].ask(1), [("qos", 1, 1, policy)], f"told to the publisher: {what}")
            for a in actors.values():
                a.kill()
            del actors
    r = t.fork(subscriber, {})
    r.expect()
    p = t.fork(publisher, Int32, {})
    p.expect()
    t.equal(sorted(plain(r.ask(2)[1])), [("liveliness", 1, 0, 1, 0), ("matched", 1, 1, 1, 1)], "a match, told to the subscription")
    t.equal(p.ask(1), [("matched", 1, 1, 1, 1)], "a match, told to the publisher")
    t.equal(p.leave(), 0, "the publisher's end")
    t.equal(sorted(plain(r.ask(2)[1])), [("liveliness", 0, 0, -1, 0), ("matched", 1, 0, 0, -1)], "a publisher that was deleted")
    p = t.fork(publisher, String, {})
    p.expect()
    t.equal(plain(r.ask(1)[1]), [("type", 1)], "another type, told to the subscription")
    t.equal(p.ask(1), [("type", 1)], "another type, told to the publisher")


@case(limit=60)
def a_killed_publisher_is_noticed_by_who_sleeps(t):
    slowest = 0
    for k in t.rounds(5, 30):
        r = t.fork(subscriber, {})
        r.expect()
        p = t.fork(publisher, Int32, {})
        p.expect()
        r.ask(2)
        killed = time.monotonic()
        p.kill()
        arrived, told = r.ask(2)
        t.equal(sorted(plain(told)), [("liveliness", 0, 1, -1, 1), ("matched", 1, 0, 0, -1)], f"round {k}")
        slowest = max([slowest] + [at - killed for _, at, *_ in told])
        r.kill()
    t.check(slowest < 2, f"noticed only after {slowest:.2f} s")
    t.note(f"noticed at most {slowest * 1e3:.0f} ms after the kill")


@case(limit=60)
def silence_is_told_as_missed_deadlines_and_lost_liveliness(t):
    manual = dict(deadline=Duration(seconds=0.5), liveliness=LivelinessPolicy.MANUAL_BY_TOPIC, liveliness_lease_duration=Duration(seconds=1))
    r, p = t.fork(subscriber, manual), t.fork(publisher, Int32, manual)
    r.expect(), p.expect()
    t.equal(plain(r.ask(1)[1]), [("matched", 1, 1, 1, 1)], "a publisher that has not said anything")
    time.sleep(1.2)
    t.equal(p.ask(0), [("matched", 1, 1, 1, 1)], "nothing is missed before the first sample")
    p.ask("send")
    start = time.monotonic()
    seen = []
    while time.monotonic() - start < 3.3:
        time.sleep(0.1)
        seen += plain(r.ask(0)[1])
    of = lambda told, name: [e[1:] for e in told if e[0] == name]  # noqa: E731
    t.equal(of(seen, "sample"), [(0,)], "samples")
    t.equal(of(seen, "liveliness"), [(1, 0, 1, 0), (0, 1, -1, 1)], "alive, then silent")
    missed = of(seen, "deadline")
    t.check(missed and missed[-1][0] == sum(change for _, change in missed), f"changes and totals: {missed}")
    t.check(5 <= missed[-1][0] <= 7, f"{missed[-1][0]} deadlines of 0.5 s missed in 3.3 s")
    told = p.ask(0)
    t.equal(of(told, "liveliness"), [(1, 1)], "silence, told to the publisher once")
    t.check(5 <= of(told, "deadline")[-1][0] <= 7, f"deadlines told to the publisher: {of(told, 'deadline')}")
    p.ask("assert")
    t.equal(of(plain(r.ask(1)[1]), "liveliness"), [(1, 0, 1, -1)], "it says that it is alive again")
