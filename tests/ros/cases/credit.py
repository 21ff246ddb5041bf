"""Credit streams from Python: the package `shoal` next to rclpy."""
from rclpy.qos import QoSHistoryPolicy, QoSProfile
from std_msgs.msg import UInt8MultiArray

from cases.waiting import package, plugin_only
from support import ros
from support.case import case

WINDOW, CHUNK = 4, 1000
DATA = bytes((at * 7 + at // 256) % 256 for at in range(100_123))


def keep_all():
    return QoSProfile(history=QoSHistoryPolicy.KEEP_ALL, depth=0)


def consumer(me):
    """Takes until the topic's stream has ended, and says what it got and how that was."""
    node = ros.start("consumer")
    shoal = package()
    subscription = node.create_subscription(UInt8MultiArray, "bytes", lambda _: None, keep_all())
    shoal.hold_credit(subscription)
    got = bytearray()
    me.tell("consuming")
    while True:
        outcome, _ = shoal.wait(node, [subscription], timeout=30.0)
        if outcome != shoal.Outcome.READY:
            return outcome.name, bytes(got) == DATA[:len(got)], len(got)
        got += bytes(subscription.handle.take_message(UInt8MultiArray, False)[0].data)
        shoal.consumed(subscription)


def producer(me, then):
    node = ros.start("producer")
    shoal = package()
    publisher = node.create_publisher(UInt8MultiArray, "bytes", keep_all())
    try:
        shoal.Stream(publisher, 0, CHUNK)
        return "a window of 0 was not refused"
    except shoal.Error as e:
        assert "a window of 0 chunks" in str(e), e
    with shoal.Stream(publisher, WINDOW, CHUNK) as stream:
        shoal.wait(node, [], timeout=30.0, streams=[stream])
        offered, at = stream.offer(DATA[:1]).name, 1
        while at < len(DATA) and not stream.state().over:
            outcome, ready = shoal.wait(node, [], timeout=30.0, streams=[stream])
            assert outcome == shoal.Outcome.READY and ready == [stream], outcome
            at = stream.write(DATA, at)
        me.tell((offered, at, stream.state().peak <= WINDOW))
        if then == "silent":
            me.hear()
        stream.finish()
        return stream.offer(b"more").name, stream.state().over


@case(limit=90)
def credit_takes_every_byte_through_a_small_window_and_then_ends(t):
    plugin_only()
    reader = t.fork(consumer)
    t.equal(reader.expect(), "consuming", "the consumer")
    writer = t.fork(producer, "finish")
    t.equal(writer.expect(40), ("SENT", len(DATA), True), "first offer, the byte reached, the window kept")
    t.equal(writer.result(30), ("FINISHED", True), "an offer after the end, and whether it is over")
    t.equal(reader.result(40), ("END_OF_STREAM", True, len(DATA)), "the consumer")


@case(limit=90)
def credit_streams_of_a_killed_producer_break_behind_their_last_byte(t):
    plugin_only()
    reader = t.fork(consumer)
    t.equal(reader.expect(), "consuming", "the consumer")
    writer = t.fork(producer, "silent")
    t.equal(writer.expect(40), ("SENT", len(DATA), True), "first offer, the byte reached, the window kept")
    writer.kill()
    t.equal(reader.result(40), ("BROKEN", True, len(DATA)), "the consumer")
