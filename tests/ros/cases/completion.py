"""What readers have taken, from Python: the package `shoal` next to rclpy."""
from cases.waiting import package, plugin_only
from support import ros
from support.case import case
from support.ros import Int32

COUNT = 50


def taker(me):
    """Takes nothing until it is told to, then everything; then ticks a counter of the domain."""
    node = ros.start("taker")
    shoal = package()
    subscription = node.create_subscription(Int32, "numbers", lambda _: None, ros.qos(100))
    me.tell("here")
    me.hear()
    shoal.wait(node, [subscription], timeout=30.0)
    me.tell("looked")
    me.hear()
    taken = 0
    while subscription.handle.take_message(Int32, False) is not None:
        taken += 1
    me.tell("taken")
    me.hear()  # Who goes is no reader that can be told about.
    return taken, [shoal.tick(node, 3, 2) for _ in range(3)]


@case(limit=60)
def completion_is_that_another_process_has_taken_everything(t):
    plugin_only()

    def sender(me):
        node = ros.start("sender")
        shoal = package()
        publish = ros.numbers("numbers", ros.qos(100))
        ros.matched(publish.publisher)
        shoal.tock(node, 3, 40)
        for number in range(COUNT):
            publish(number)
        first = shoal.flush(publish.publisher, timeout=0.05)
        me.tell((first[0].name, [(lag.reliable, lag.messages) for lag in first[1]]))
        me.hear()
        lags = [lag.messages for lag in shoal.lag(publish.publisher)]
        me.tell(lags)
        outcome, late = shoal.flush(publish.publisher, timeout=30.0)
        return outcome.name, late, [lag.messages for lag in shoal.lag(publish.publisher)]

    reader = t.fork(taker)
    t.equal(reader.expect(), "here", "the taker")
    writer = t.fork(sender)
    t.equal(writer.expect(30), ("TIMED_OUT", [(True, None)]), "a flush that nobody has looked at")
    reader.tell("look")
    t.equal(reader.expect(30), "looked", "the taker")
    writer.tell("ask")
    t.equal(writer.expect(30), [COUNT], "messages behind")
    reader.tell("take")
    t.equal(reader.expect(30), "taken", "the taker")
    t.equal(writer.result(40), ("READY", [], [0]), "the flush")
    reader.tell("leave")
    t.equal(reader.result(30), (COUNT, [42, 44, 46]), "taken, and the counter")


@case(limit=60)
def completion_of_joining_is_a_bound_between_history_and_live(t):
    plugin_only()

    def joiner(me):
        node = ros.start("joiner")
        shoal = package()
        publisher = ros.publisher(Int32, "kept", ros.latched(3))
        for number in range(5):
            publisher.publish(Int32(data=number))
        subscription = node.create_subscription(Int32, "kept", lambda _: None, ros.latched(10))
        gid = node.get_publishers_info_by_topic("kept")[0].endpoint_gid[:16]
        bound = shoal.join_bound(subscription, gid)
        try:
            shoal.join_bound(subscription, [7] * 16)
        except shoal.Error as e:
            return bound, "no publisher 0707" in str(e)
    t.equal(t.fork(joiner).result(30), (5, True), "the bound, and a GID that nobody has")


def slow(me):
    """Takes nothing until it is told to, and is shed; then joins again, on two topics at once."""
    node = ros.start("slow")
    shoal = package()
    kept = [node.create_subscription(Int32, topic, lambda _: None, ros.qos(100)) for topic in ("numbers", "others")]
    shoal.set_bounds(kept[0], messages=10, when_behind=shoal.WhenBehind.SHED)
    me.tell("here")
    me.hear()
    outcome, _ = shoal.wait(node, kept, timeout=30.0)
    event = shoal.take_stream_event(kept[0])
    lags = [(lag.messages, lag.shed) for lag in shoal.source_lag(kept[0])]
    bound = shoal.rejoin(kept[0], event.publisher)
    shoal.join_many(kept)
    return outcome.name, event.outcome.name, lags, bound, shoal.join_bound(kept[0], event.publisher)


@case(limit=60)
def completion_is_not_waited_for_by_a_reader_that_is_shed(t):
    plugin_only()

    def sender(me):
        ros.start("sender")
        publish = ros.numbers("numbers", ros.qos(100))
        ros.matched(publish.publisher)
        for number in range(COUNT):
            publish(number)
        me.tell("sent")
        me.hear()

    reader = t.fork(slow)
    t.equal(reader.expect(), "here", "the slow reader")
    writer = t.fork(sender)
    t.equal(writer.expect(30), "sent", "the sender")
    reader.tell("look")
    t.equal(reader.result(30), ("SHED", "SHED", [(COUNT, True)], COUNT, COUNT), "the slow reader")
    writer.tell("leave")
    writer.result(30)
