"""Requests and their answers."""
import time

from support import ros
from support.case import case
from support.ros import BasicTypes, EmptySrv


def echo_server(me, depth=100):
    node = ros.start("server")

    def echo(request, response):
        response.int32_value, response.string_value = request.int32_value, request.string_value
        return response
    node.create_service(BasicTypes, "echo", echo, qos_profile=ros.qos(depth))
    spinner = ros.keep_spinning()
    me.tell("up")
    me.hear()
    return spinner.errors


@case(limit=90)
def the_first_request_after_wait_for_service_is_answered(t):
    def client(me, name):
        node = ros.start("client")
        c = node.create_client(EmptySrv, name)
        if not c.wait_for_service(10):
            return "never available"
        start = time.monotonic()
        return time.monotonic() - start if ros.call(c, EmptySrv.Request()) is not None else "no answer"

    def server(me, name, delay):
        time.sleep(delay)
        node = ros.start("server")
        node.create_service(EmptySrv, name, lambda q, r: r)
        ros.keep_spinning()
        me.hear()
    slowest = 0
    for k in t.rounds(60, 50, 10):
        c, s = t.fork(client, f"srv{k}"), t.fork(server, f"srv{k}", t.random.uniform(0, 0.05))
        took = c.result(25)
        if t.check(not isinstance(took, str), f"round {k}: {took}"):
            slowest = max(slowest, took)
        c.kill(), s.kill()
    t.note(f"{k + 1} pairs of fresh processes, slowest answer {slowest * 1e3:.0f} ms")


@case(limit=90)
def twenty_clients_at_once_are_all_answered(t):
    def client(me, k):
        node = ros.start(f"client{k}")
        c = node.create_client(BasicTypes, "echo", qos_profile=ros.qos(100))
        if not c.wait_for_service(15):
            return "never available"
        me.tell("available")
        me.hear()
        answers = []
        for i in range(10):
            r = ros.call(c, BasicTypes.Request(int32_value=100 * k + i))
            answers.append(None if r is None else r.int32_value)
        return answers
    s = t.fork(echo_server)
    s.expect()
    calls = 0
    for r in t.rounds(3, 45):
        clients = [t.fork(client, k, name="client") for k in range(20)]
        for c in clients:
            t.equal(c.expect(30), "available", "a client")
        for c in clients:
            c.tell()
        for k, c in enumerate(clients):
            t.equal(c.result(30), [100 * k + i for i in range(10)], f"answers to client {k}")
            calls += 10
    t.equal(s.ask(), [], "errors of the server")
    t.note(f"{calls} calls, each answered to its own client")


@case(limit=60)
def an_answer_reaches_its_own_client_only(t):
    def two_clients(me, sends):
        node = ros.start(f"two{sends}")
        clients = [node.create_client(BasicTypes, "echo") for _ in range(2)]
        if not all(c.wait_for_service(10) for c in clients):
            return "never available"
        me.tell("available")
        me.hear()
        wrong, got = [], []
        for i in range(100 if sends else 0):
            clients[0].handle.send_request(BasicTypes.Request(int32_value=i))
            end = time.monotonic() + 5
            while time.monotonic() < end:
                ready = ros.ready_clients(clients, 1)
                if ready[1]:
                    wrong.append(f"the second client was reported at {i}")
                if ready[0]:
                    break
            got.append(take(clients[0]))
            if take(clients[1]) is not None:
                wrong.append(f"the second client took the answer to {i}")
        while not sends and not me.heard():
            if any(ros.ready_clients(clients, 0.02)) or any(take(c) is not None for c in clients):
                wrong.append("a client that asked nothing")
        return got, wrong[:3]

    def take(client):
        taken = client.handle.take_response(BasicTypes.Response)
        return None if taken is None or taken[1] is None else taken[1].int32_value
    t.fork(echo_server).expect()
    a, b = t.fork(two_clients, True), t.fork(two_clients, False)
    t.equal([a.expect(20), b.expect(20)], ["available"] * 2, "the clients")
    b.tell(), a.tell()
    t.equal(a.result(40), (list(range(100)), []), "answers, and strangers")
    t.equal(b.ask("enough"), ([], []), "the process that asked nothing")


@case(limit=60)
def many_requests_in_flight_are_answered_once_and_in_order(t):
    def client(me):
        node = ros.start("client")
        c = node.create_client(BasicTypes, "echo", qos_profile=ros.qos(100))
        c.wait_for_service(10)
        order, futures = [], []
        for i in range(50):
            f = c.call_async(BasicTypes.Request(int32_value=i, string_value="x" * (i * 300)))
            f.add_done_callback(lambda f: order.append((f.result().int32_value, len(f.result().string_value))))
            futures.append(f)
        ros.spin_until(lambda: len(order) == 50, 15)
        ros.spin(0.2)
        return order
    t.fork(echo_server).expect()
    t.equal(t.fork(client).result(30), [(i, 300 * i) for i in range(50)], "answers")


@case(limit=60)
def a_big_request_and_its_answer_arrive_whole(t):
    sizes = (0, 1, 1000, 65_536, 1_000_000, 20_000_000)

    def client(me):
        node = ros.start("client")
        c = node.create_client(BasicTypes, "echo")
        c.wait_for_service(10)
        return [len(r.string_value) if (r := ros.call(c, BasicTypes.Request(string_value="é" * (n // 2)), 20)) else None for n in sizes]
    t.fork(echo_server).expect()
    t.equal(t.fork(client).result(50), [n // 2 for n in sizes], "characters that came back")


@case(limit=60)
def a_server_that_is_killed_is_no_longer_available_and_its_successor_answers(t):
    def client(me):
        node = ros.start("client")
        c = node.create_client(BasicTypes, "echo")
        while (want := me.hear()) is not None:
            seen = ros.until(lambda: c.service_is_ready() == want, 10)
            answer = ros.call(c, BasicTypes.Request(int32_value=5)) if want and seen else None
            me.tell((seen, answer.int32_value if answer else None))
    c = t.fork(client)
    t.equal(c.ask(False), (True, None), "before")
    for k in range(5):
        s = t.fork(echo_server)
        s.expect()
        t.equal(c.ask(True, timeout=25), (True, 5), f"server {k}")
        s.kill()
        t.equal(c.ask(False, timeout=25), (True, None), f"after the kill of server {k}")


@case(limit=60)
def parameters_of_a_node_can_be_listed_read_and_set_from_another_process(t):
    def owner(me):
        node = ros.start("owner", start_parameter_services=True)
        node.declare_parameter("speed", 1.5)
        node.declare_parameter("name", "shoal")
        ros.keep_spinning()
        me.tell("up")
        me.hear()
        return node.get_parameter("speed").value, node.get_parameter("name").value

    def remote(me):
        from rclpy.parameter import Parameter
        from rclpy.parameter_client import AsyncParameterClient
        node = ros.start("remote")
        client = AsyncParameterClient(node, "owner")
        if not client.wait_for_services(10):
            return "never available"

        def done(future):
            ros.spin_until(future.done, 8)
            return future.result()
        names = done(client.list_parameters()).result.names
        before = [v.double_value or v.string_value for v in done(client.get_parameters(["speed", "name"])).values]
        accepted = [r.successful for r in done(client.set_parameters([Parameter("speed", value=2.5), Parameter("name", value=3)])).results]
        return sorted(n for n in names if n in ("speed", "name")), before, accepted
    o = t.fork(owner)
    o.expect()
    t.equal(t.fork(remote).result(40), (["name", "speed"], [1.5, "shoal"], [True, False]), "listed, read, set (a wrong type is refused)")
    t.equal(o.ask(), (2.5, "shoal"), "the owner's values")
