"""The events executor: it never waits for messages, it is called back for them."""
import time

import rclpy

from support import ros
from support.case import Skip, case
from support.ros import BasicTypes, Inbox, Int32


def executor():
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return None
    return EventsExecutor()


def spin_until(spinner, ready, timeout=20):
    end = time.monotonic() + timeout
    while not ready() and time.monotonic() < end:
        spinner.spin_once(timeout_sec=0.1)
    return ready()


@case(limit=60)
def an_events_executor_gets_every_message_request_and_response(t):
    count = 1000

    def on_callbacks(me):
        node = ros.start("on_callbacks")
        inbox = Inbox(Int32, "numbers", ros.qos(2 * count))
        asked = []

        def answer(request, response):
            asked.append(request.int32_value)
            response.int32_value = request.int32_value
            return response
        node.create_service(BasicTypes, "here", answer, qos_profile=ros.qos(count))
        client = node.create_client(BasicTypes, "there", qos_profile=ros.qos(count))
        me.tell("up")
        me.hear()
        # Half of the messages and requests are there before anybody calls back.
        spinner = executor()
        if spinner is None:
            return "skip"
        spinner.add_node(node)
        me.tell("called back")
        futures = [client.call_async(BasicTypes.Request(int32_value=i)) for i in range(count)]
        spin_until(spinner, lambda: len(inbox.got) >= count and len(asked) >= count and all(f.done() for f in futures))
        got = [f.result().int32_value if f.done() else None for f in futures]
        spinner.shutdown()
        return inbox.got, asked, got

    def on_waits(me):
        node = ros.start("on_waits")
        publish = ros.numbers("numbers", ros.qos(2 * count))

        def answer(request, response):
            response.int32_value = request.int32_value
            return response
        node.create_service(BasicTypes, "there", answer, qos_profile=ros.qos(count))
        client = node.create_client(BasicTypes, "here", qos_profile=ros.qos(count))
        if not ros.matched(publish.publisher) or not client.wait_for_service(10):
            return "never matched"
        futures = []

        def send(numbers):
            for i in numbers:
                publish(i)
                futures.append(client.call_async(BasicTypes.Request(int32_value=i)))
        send(range(count // 2))
        me.tell("half")
        me.hear()
        send(range(count // 2, count))
        answered = ros.spin_until(lambda: all(f.done() for f in futures), 20)
        spinner = ros.keep_spinning()
        me.tell(answered and [f.result().int32_value for f in futures])
        me.hear()
        return spinner.errors
    a = t.fork(on_callbacks)
    a.expect(20)
    b = t.fork(on_waits)
    t.equal(b.expect(20), "half", "the side that waits")
    a.tell("go")
    if a.expect(20) != "called back":
        raise Skip("this rclpy has no events executor")
    b.tell("go")
    want = list(range(count))
    t.equal(b.expect(40), want, "answers to the side that waits")
    got, asked, answers = a.result(40)
    t.equal(got, want, "messages")
    t.equal(asked, want, "requests")
    t.equal(answers, want, "responses")
    b.tell("done")
    t.equal(b.result(10), [], "errors of the side that waits")
    t.note(f"{count} messages, requests and responses, half of the first two before the callbacks")


@case(limit=60)
def an_idle_events_executor_costs_nothing_and_ends_with_its_context(t):
    def idle(me):
        node = ros.start("idle")
        Inbox(Int32, "numbers", ros.qos(10))
        spinner = executor()
        if spinner is None:
            return None
        spinner.add_node(node)
        spinner.spin_once(timeout_sec=0.1)
        before = time.process_time()
        spinner.spin_once(timeout_sec=3)
        used = time.process_time() - before
        spinner.shutdown()
        rclpy.shutdown()
        return used
    a = t.fork(idle)
    used = a.result(30)
    if used is None:
        raise Skip("this rclpy has no events executor")
    t.check(used < 0.1, f"{used * 1e3:.0f} ms of CPU time in 3 idle seconds")
    t.equal(a.exit_code(10), 0, "exit")
    t.note(f"{used * 1e3:.1f} ms of CPU time in 3 s")
