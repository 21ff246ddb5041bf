"""Work queues from Python: the package `shoal` next to rclpy."""
from rclpy.qos import QoSHistoryPolicy, QoSProfile

from cases.waiting import package, plugin_only
from support import ros
from support.case import case
from support.ros import Int32

COUNT, WINDOW, WORKERS = 60, 8, 3


def keep_all():
    return QoSProfile(history=QoSHistoryPolicy.KEEP_ALL, depth=0)


def worker(me, hold):
    """Acknowledges items until the end, gives the first one back once; or claims one and holds it."""
    node = ros.start("worker")
    shoal = package()
    subscription = node.create_subscription(Int32, "work", lambda _: None, keep_all())
    shoal.share_work(subscription)
    me.tell("working")
    done, first = [], True
    while True:
        outcome, _ = shoal.wait(node, [subscription], timeout=30.0)
        if outcome != shoal.Outcome.READY:
            return outcome.name, done
        item = shoal.claim(subscription)
        if item is None:
            continue
        assert item.message.data == item.sequence, (item.message, item.sequence)
        if hold:
            me.tell(item.sequence)
            me.hear()
        if first:
            first = False
            assert item.give_back() and not item.acknowledge()
        elif item.acknowledge():
            done.append(item.sequence)


def producer(me):
    node = ros.start("producer")
    shoal = package()
    publisher = node.create_publisher(Int32, "work", keep_all())
    try:
        shoal.make_queue(publisher, 0, 60.0)
        return "a window of 0 was not refused"
    except shoal.Error as e:
        assert "a window of 0 items" in str(e), e
    shoal.make_queue(publisher, WINDOW, 3600.0)
    number = 1
    while number <= COUNT:
        try:
            publisher.publish(Int32(data=number))
            number += 1
        except Exception as e:  # rclpy raises what its C++ side throws
            assert "in flight" in str(e), e
    shoal.finish(publisher)
    return number - 1


@case(limit=120)
def work_is_shared_and_each_item_acknowledged_once_also_that_of_a_killed_process(t):
    plugin_only()
    victim = t.fork(worker, True)
    t.equal(victim.expect(), "working", "the victim")
    sender = t.fork(producer)
    t.equal(victim.expect(30), 1, "what the victim holds")
    workers = [t.fork(worker, False) for _ in range(WORKERS)]
    for one in workers:
        t.equal(one.expect(30), "working", "a worker")
    victim.kill()
    t.equal(sender.result(60), COUNT, "items sent")
    ends = [one.result(60) for one in workers]
    t.equal({end for end, _ in ends}, {"END_OF_STREAM"}, "how it ended for each worker")
    t.equal(sorted(number for _, done in ends for number in done), list(range(1, COUNT + 1)), "acknowledged items")
