"""History: what a subscription reads that was published before it existed."""
import time

from support import payload, ros
from support.case import case
from support.ros import Inbox, Int32, String, UInt8MultiArray

MB = 1 << 20


@case(limit=60)
def late_joiner_reads_a_publisher_that_sleeps_is_stopped_or_waits_on_something_else(t):
    def talker(me, topic, asleep):
        ros.start("talker_" + topic)
        p = ros.publisher(String, topic, ros.latched())
        p.publish(String(data="kept on " + topic))
        me.tell("latched")
        if asleep:
            me.hear()
        ros.spin_for_ever()

    def listener(me, topic):
        ros.start("listener_" + topic)
        start = time.perf_counter()
        inbox = Inbox(String, topic, ros.latched())
        got = inbox.take_all()  # no wait anywhere in this process
        return got, (time.perf_counter() - start) * 1e3, inbox.collect(1, timeout=0.3)
    worst = 0
    for topic, asleep, stopped in (("asleep", True, False), ("waits", False, False), ("stopped", True, True)):
        a = t.fork(talker, topic, asleep)
        a.expect()
        if not asleep:
            time.sleep(0.3)  # it is in its wait by now; were it not, this case would only be an easier one
        if stopped:
            a.stop()
        got, ms, more = t.fork(listener, topic).result()
        t.equal((got, more), (["kept on " + topic], []), f"publisher {topic}")
        worst = max(worst, ms)
        a.resume()
    t.note(f"create and take within {worst:.2f} ms")


@case(limit=60)
def replay_is_the_newest_of_what_was_published_in_order(t):
    table = sorted({(d, n) for d in (1, 2, 5, 10) for n in (0, 1, d - 1, d, d + 1, 3 * d + 2)})

    def talker(me):
        ros.start("talker")
        keep = []
        for d, n in table:
            publish = ros.numbers(f"d{d}_n{n}", ros.latched(d))
            keep.append(publish)
            for i in range(n):
                publish(i)
        me.tell("latched")
        me.hear()

    def listener(me):
        ros.start("listener")
        inboxes = {(d, n, r): Inbox(Int32, f"d{d}_n{n}", ros.latched(r)) for d, n in table for r in (1, 3, 20)}
        ros.spin_until(lambda: all(len(i.got) >= min(k) for k, i in inboxes.items()), 20)
        ros.spin(0.3)
        return {k: i.got for k, i in inboxes.items()}
    t.fork(talker).expect(20)
    got = t.fork(listener).result(40)
    wrong = {}
    for (d, n, r), values in got.items():
        want = list(range(max(0, n - min(d, r)), n))
        if values != want:
            wrong[(d, n, r)] = (values, want)
    t.check(not wrong, f"(depth, published, reader's depth): (got, want): {list(wrong.items())[:4]}")
    t.note(f"{len(got)} combinations of depth, number published and reader's depth")


@case(limit=60)
def a_depth_of_a_thousand_is_replayed_whole(t):
    def talker(me):
        ros.start("talker")
        publish = ros.numbers("long", ros.latched(1000))
        for i in range(2500):
            publish(i)
        me.tell("latched")
        me.hear()

    def listener(me, depth):
        ros.start(f"listener{depth}")
        inbox = Inbox(Int32, "long", ros.latched(depth))
        start = time.perf_counter()
        return inbox.take_all(), (time.perf_counter() - start) * 1e3
    t.fork(talker).expect(20)
    for depth in (1, 999, 1000, 1001, 5000):
        got, ms = t.fork(listener, depth).result(20)
        t.equal(got, list(range(2500 - min(depth, 1000), 2500)), f"reader's depth {depth}")
    t.note(f"1000 samples taken in {ms:.1f} ms")


@case(limit=90)
def big_latched_samples_reach_every_late_joiner_whole(t):
    sizes = [1 * MB, int(3.9 * MB), int(4.1 * MB), 8 * MB, 70 * MB]

    def talker(me):
        ros.start("talker")
        p = ros.publisher(UInt8MultiArray, "big", ros.latched(5))
        for i, size in enumerate(sizes):
            p.publish(ros.bulk(7, i, size))
        me.tell("latched")
        me.hear()
        p.publish(ros.bulk(7, 5, 100))
        me.hear()

    def listener(me):
        ros.start("listener")
        start = time.perf_counter()
        inbox = Inbox(UInt8MultiArray, "big", ros.latched(5), value=ros.whole)
        me.tell(inbox.take_all())
        me.tell((time.perf_counter() - start) * 1e3)
        return inbox.collect(1, timeout=20)
    a = t.fork(talker)
    a.expect(40)
    a.stop()
    joiners = [t.fork(listener) for _ in range(3)]
    for j in joiners:
        t.equal(j.expect(40), [(7, i, size) for i, size in enumerate(sizes)], "a joiner took")
        ms = j.expect()
    a.resume()
    a.tell()
    for j in joiners:
        t.equal(j.result(40), [(7, 5, 100)], "a joiner got afterwards")
    t.note(f"3 joiners, 5 samples of 1 to 70 MB, the last one's 87 MB in {ms:.0f} ms")


@case(limit=90)
def bodies_around_every_size_threshold_arrive_whole(t):
    sizes = sorted({max(0, (1 << k) + d) for k in range(4, 21) for d in (-65, -33, -17, -9, -8, -1, 0, 1, 8, 64)} | set(range(0, 700, 7)))

    def talker(me):
        ros.start("talker")
        late = ros.publisher(UInt8MultiArray, "late", ros.latched(len(sizes)))
        live = ros.publisher(UInt8MultiArray, "live", ros.qos(len(sizes)))
        if not ros.matched(live):
            return "never matched"
        for i, size in enumerate(sizes):
            late.publish(ros.bulk(1, i, size))
            live.publish(ros.bulk(2, i, size))
        me.tell("sent")
        me.hear()

    def listener(me, topic, profile):
        ros.start("listener_" + topic)
        inbox = Inbox(UInt8MultiArray, topic, profile, value=ros.whole)
        me.tell("listening")
        return inbox.collect(len(sizes), timeout=30)
    live = t.fork(listener, "live", ros.qos(len(sizes)))
    live.expect()
    t.equal(t.fork(talker).expect(40), "sent", "the talker")
    late = t.fork(listener, "late", ros.latched(len(sizes)))
    late.expect()
    want = [(i, max(s, payload.HEAD_SIZE)) for i, s in enumerate(sizes)]
    for actor, tag in ((live, 2), (late, 1)):
        got = actor.result(40)
        bad = [g for g, (i, s) in zip(got, want) if g != (tag, i, s)]
        t.check(len(got) == len(want) and not bad, f"{actor.label}: {len(got)} of {len(want)}, wrong: {bad[:3]}")
    t.note(f"{len(sizes)} sizes up to {sizes[-1]}, live and latched")


@case(limit=60)
def a_reader_that_leaves_and_joins_again_reads_the_history_again_once(t):
    def talker(me):
        ros.start("talker")
        publish = ros.numbers("again", ros.latched(4))
        for i in range(6):
            publish(i)
        me.tell("latched")
        while (n := me.hear()) is not None:
            publish(n)
            me.tell(n)

    def listener(me):
        node = ros.start("listener")
        while me.hear() is not None:
            inbox = Inbox(Int32, "again", ros.latched(4))
            me.tell(inbox.take_all())
            me.hear()
            me.tell(inbox.collect(1, settle=0.05))
            node.destroy_subscription(inbox.subscription)
    a, b = t.fork(talker), t.fork(listener)
    a.expect()
    for k in t.rounds(20, 30, 5):
        newest = 5 + k
        t.equal(b.ask("join"), list(range(newest - 3, newest + 1)), f"join {k}")
        a.ask(newest + 1)
        t.equal(b.ask("more"), [newest + 1], f"live after join {k}")
    t.note(f"{k + 1} joins")


@case(limit=60)
def publishers_with_equal_sequence_numbers_are_told_apart(t):
    def talker(me, tag):
        ros.start(f"talker{tag}")
        publish = ros.numbers("shared", ros.latched(5))
        for i in range(5):
            publish(100 * tag + i)
        me.tell("latched")
        me.hear()
        for i in range(5, 10):
            publish(100 * tag + i)
        me.hear()

    def listener(me):
        ros.start("listener")
        inbox = Inbox(Int32, "shared", ros.latched(50))
        me.tell(inbox.take_all())
        return inbox.collect(20)
    talkers = [t.fork(talker, tag) for tag in range(4)]
    for a in talkers:
        a.expect()
    b = t.fork(listener)
    by_tag = lambda values: [[v % 100 for v in values if v // 100 == tag] for tag in range(4)]  # noqa: E731
    t.equal(by_tag(b.expect()), [[0, 1, 2, 3, 4]] * 4, "history of four publishers")
    for a in talkers:
        a.tell()
    t.equal(by_tag(b.result()), [[5, 6, 7, 8, 9]] * 4, "what followed")
    t.note("4 publishers")


@case(limit=60)
def history_of_one_process_reaches_its_own_late_subscription(t):
    def node(me):
        ros.start("node")
        publish = ros.numbers("own", ros.latched(3))
        for i in range(5):
            publish(i)
        inbox = Inbox(Int32, "own", ros.latched(3))
        first = inbox.take_all()
        publish(5)
        return first, inbox.collect(1)
    t.equal(t.fork(node).result(), ([2, 3, 4], [5]), "own history and live sample")


@case(limit=60)
def a_volatile_reader_or_writer_means_no_history(t):
    def talker(me):
        ros.start("talker")
        kept, lost = ros.numbers("kept", ros.latched(5)), ros.numbers("lost", ros.qos(5))
        for i in range(5):
            kept(i)
            lost(i)
        me.tell("published")
        me.hear()
        kept(5)
        lost(5)
        me.hear()

    def listener(me):
        ros.start("listener")
        kept, lost = Inbox(Int32, "kept", ros.qos(5)), Inbox(Int32, "lost", ros.qos(5))
        ros.spin(0.3)
        me.tell((list(kept.got), list(lost.got)))
        kept.collect(1)
        lost.collect(1)
        return kept.got, lost.got
    a = t.fork(talker)
    a.expect()
    b = t.fork(listener)
    t.equal(b.expect(), ([], []), "history of a volatile subscription")
    a.tell()
    t.equal(b.result(), ([5], [5]), "live samples")
