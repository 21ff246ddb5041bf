"""A full /dev/shm; the longest names; empty payloads."""
import os

from support import ros, system
from support.case import case
from support.ros import BasicTypes, Empty, EmptySrv, Inbox, Int32, UInt8MultiArray

MB = 1 << 20


def try_to(publish, count):
    """'ok' or the error's text of each of so many publishes."""
    said = []
    for i in range(count):
        try:
            publish(i)
            said.append("ok")
        except Exception as e:
            said.append(str(e) or "error without text")
    return said


def big_talker(me, topic):
    ros.start("big_" + topic)
    p = ros.publisher(UInt8MultiArray, topic, ros.latched(10))
    me.tell("up")
    while (order := me.hear()) is not None:
        count, size = order
        me.tell(try_to(lambda i: p.publish(ros.bulk(1, i, size)), count))


def small_talker(me, topic):
    ros.start("small_" + topic)
    publish = ros.numbers(topic, ros.qos(100))
    ros.matched(publish.publisher)
    me.tell("up")
    while (order := me.hear()) is not None:
        first, count = order
        me.tell(try_to(lambda i: publish(first + i), count))


def reader(me, topic):
    ros.start("reader_" + topic)
    inbox = Inbox(Int32, topic, ros.qos(100))
    ros.keep_spinning()
    me.tell("up")
    while (last := me.hear()) is not None:
        ros.until(lambda: inbox.got and inbox.got[-1] == last)
        me.tell(list(inbox.got))


@case(limit=90, shm="64m")
def a_full_shared_memory_gives_errors_and_recovers(t):
    r = t.fork(reader, "small")
    r.expect()
    big, small = t.fork(big_talker, "big"), t.fork(small_talker, "small")
    big.expect(), small.expect(20)
    said = big.ask((10, 16 * MB), timeout=40)
    first = [s for s in said if s != "ok"]
    t.check(first, "ten times 16 MB fit into 64 MB")
    t.check(all(len(s) > 20 for s in first), f"errors that say nothing: {first[:2]}")
    t.equal(small.ask((0, 10)), ["ok"] * 10, "the small topic beside it")
    t.equal(r.ask(9)[-10:], list(range(10)), "the reader of the small topic")
    system.fill("/dev/shm/filler")
    full = big.ask((3, 5 * MB), timeout=30) + small.ask((100, 10))
    newcomer = t.fork(big_talker, "new")
    try:
        newcomer.expect(20)
        refused = "came up"
    except Exception as e:
        refused = str(e)
    t.check(newcomer.exit_code(0) in (None, 0, 1), f"the newcomer was ended by a signal: {newcomer.exit_code(0)}")
    for a in (big, small, r):
        t.check(a.alive(), f"{a.label} died ({a.exit_code(0)})")
    os.unlink("/dev/shm/filler")
    t.equal(big.ask((1, MB), timeout=20), ["ok"], "a big publish after space was freed")
    t.equal(small.ask((200, 10)), ["ok"] * 10, "small publishes after space was freed")
    t.equal(r.ask(209)[-10:], list(range(200, 210)), "the reader afterwards")
    t.note(f"{said.count('ok')} of 10 fit; while full {full.count('ok')} of 13; newcomer: {refused[-120:]}; {first[0][:120] if first else ''}")


@case(limit=60, shm="8m")
def a_tiny_shared_memory_gives_errors_too(t):
    big = t.fork(big_talker, "big")
    try:
        big.expect(20)
    except Exception as e:
        t.check(big.exit_code(5) == 1, f"start ended with {big.exit_code(0)}: {e}")
        t.note(f"start refused: {str(e)[-150:]}")
        return
    said = big.ask((10, 4 * MB), timeout=30)
    t.check("ok" not in said[2:], f"4 MB samples in 8 MB: {said}")
    r = t.fork(reader, "small")
    r.expect()
    s = t.fork(small_talker, "small")
    s.expect(20)
    t.equal(s.ask((0, 10)), ["ok"] * 10, "the small topic beside it")
    t.equal(r.ask(9)[-10:], list(range(10)), "its reader")
    t.note(f"{said.count('ok')} of 10 samples of 4 MB fit")


@case(limit=90)
def names_that_differ_in_the_last_character_do_not_mix(t):
    lengths = (60, 64, 99, 100, 101, 127, 128, 200, 246, 247)
    topics = ["/" + "x" * (n - 2) + c for n in lengths for c in "AB"]
    services = ["/" + "s" * (n - 2) + c for n in (100, 200, 240) for c in "AB"]

    def listener(me):
        node = ros.start("listener")
        inboxes = [Inbox(Int32, name) for name in topics]

        def answering(k):
            def answer(request, response):
                response.int32_value = k
                return response
            return answer
        for k, name in enumerate(services):
            node.create_service(BasicTypes, name, answering(k))
        me.tell("listening")
        ros.spin_until(lambda: all(i.got for i in inboxes) and me.heard(), 30)
        ros.spin(0.2)
        return [i.got for i in inboxes]

    def talker(me):
        node = ros.start("talker")
        publishers = [ros.numbers(name) for name in topics]
        for k, publish in enumerate(publishers):
            ros.matched(publish.publisher)
            publish(k)
        answers = []
        for name in services:
            client = node.create_client(BasicTypes, name)
            answered = ros.call(client, BasicTypes.Request()) if client.wait_for_service(5) else None
            answers.append(answered.int32_value if answered else None)
        listed = {name for name, _ in node.get_topic_names_and_types()}
        return answers, [name for name in topics if name not in listed]

    def refuser(me):
        ros.start("refuser")
        accepted = []
        for make in (lambda: ros.publisher(Int32, "/" + "y" * 247), lambda: Inbox(Int32, "/" + "y" * 247)):
            try:
                accepted.append(make())
            except Exception:
                pass
        long = ros.make_node("n" * 255, parameter_overrides=[ros.rclpy.parameter.Parameter("start_type_description_service", value=False)])
        return len(accepted), "n" * 255 in long.get_node_names()
    b = t.fork(listener)
    b.expect(20)
    answers, unlisted = t.fork(talker).result(50)
    t.equal(answers, list(range(len(services))), "answers by service")
    t.equal(unlisted, [], "topics not listed in full")
    t.equal(b.ask("enough", timeout=40), [[k] for k in range(len(topics))], "samples by topic")
    t.equal(t.fork(refuser).result(20), (0, True), "names of 248 accepted; node name of 255 listed")
    t.note(f"{len(topics)} topics up to 247 characters, {len(services)} services")


@case(limit=60)
def empty_messages_are_messages_too(t):
    def listener(me):
        node = ros.start("listener")
        empties = Inbox(Empty, "empty", ros.qos(100), value=lambda m: "empty")
        arrays = Inbox(UInt8MultiArray, "bytes", ros.qos(100), value=lambda m: len(m.data))
        late = ros.publisher(Empty, "late", ros.latched(10))
        for _ in range(10):
            late.publish(Empty())
        node.create_service(EmptySrv, "call", lambda q, r: r)
        ros.keep_spinning()
        me.tell("listening")
        me.hear()
        ros.until(lambda: len(empties.got) >= 50 and len(arrays.got) >= 50)
        return empties.got, arrays.got

    def talker(me):
        node = ros.start("talker")
        one, two = ros.publisher(Empty, "empty", ros.qos(100)), ros.publisher(UInt8MultiArray, "bytes", ros.qos(100))
        ros.matched(one), ros.matched(two)
        for _ in range(50):
            one.publish(Empty())
            two.publish(UInt8MultiArray())
        client = node.create_client(EmptySrv, "call")
        client.wait_for_service(8)
        answered = sum(ros.call(client, EmptySrv.Request()) is not None for _ in range(50))
        return answered, len(Inbox(Empty, "late", ros.latched(10), value=lambda m: 1).collect(10))
    b = t.fork(listener)
    b.expect()
    t.equal(t.fork(talker).result(40), (50, 10), "empty calls answered, latched empties read")
    t.equal(b.ask(timeout=20), (["empty"] * 50, [0] * 50), "the listener got")


@case(limit=60)
def every_field_of_a_fixed_size_message_arrives(t):
    from geometry_msgs.msg import Pose
    fields = lambda m: (m.position.x, m.position.y, m.position.z, m.orientation.x, m.orientation.y, m.orientation.z, m.orientation.w)  # noqa: E731

    def pose(i):
        p = Pose()
        p.position.x, p.position.y, p.position.z = i + 0.25, -1.5, 1e300
        p.orientation.x, p.orientation.y, p.orientation.z, p.orientation.w = 0.1, 0.2, -0.3, float(i)
        return p

    def listener(me):
        ros.start("listener")
        inbox = Inbox(Pose, "pose", ros.qos(100), value=fields)
        me.tell("listening")
        return inbox.collect(50)

    def talker(me):
        ros.start("talker")
        p = ros.publisher(Pose, "pose", ros.qos(100))
        ros.matched(p)
        for i in range(50):
            p.publish(pose(i))
        me.hear()
    b = t.fork(listener)
    b.expect()
    t.fork(talker)
    t.equal(b.result(30), [fields(pose(i)) for i in range(50)], "poses")
