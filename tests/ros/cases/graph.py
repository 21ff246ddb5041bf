"""Who sees whom."""
import ctypes
import os
import signal
import time

import rclpy

from support import ros, system
from support.case import SCALE, case
from support.ros import BasicTypes, EmptySrv, Inbox, Int32, SingleThreadedExecutor, String


@case(limit=150)
def sixty_node_processes_see_each_other_and_exchange_samples(t):
    count = max(10, round(60 * min(1.0, SCALE)))

    def node(me, k):
        me.hear()
        n = ros.start(f"node{k}", start_parameter_services=True)
        publish = ros.numbers(f"topic{k}", ros.latched(1))
        heard = Inbox(Int32, "all", ros.qos(10 * count))
        everyone = ros.numbers("all", ros.qos(10 * count))
        before = Inbox(Int32, f"topic{(k + 1) % count}", ros.latched(1))
        publish(k)
        ros.keep_spinning()
        want = {f"/topic{i}" for i in range(count)}
        listed = ros.until(lambda: want <= {name for name, _ in n.get_topic_names_and_types()}, 60, step=0.1)
        full = ros.until(lambda: everyone.publisher.get_subscription_count() == count, 60, step=0.1)
        me.tell((listed, full))
        me.hear()
        everyone(k)
        complete = ros.until(lambda: len(heard.got) >= count and before.got, 40, step=0.05)
        me.tell((complete, sorted(heard.got) == list(range(count)), before.got == [(k + 1) % count]))
        me.hear()
    start = time.monotonic()
    everyone = [t.fork(node, k, name="node") for k in range(count)]
    for n in everyone:
        n.tell()
    seen = [n.expect(100) for n in everyone]
    up = time.monotonic() - start
    t.equal(seen, [(True, True)] * count, "each node sees every topic, and every subscription of /all")
    size = system.used(t.shm)[1]
    mappings = max(system.mappings(n.pid) for n in everyone)
    for n in everyone:
        n.tell()
    heard = [n.expect(60) for n in everyone]
    t.equal(heard, [(True, True, True)] * count, "each node hears all others once, and its neighbour's latched sample")
    for n in everyone:
        n.tell()
    t.equal([n.exit_code(20) for n in everyone], [0] * count, "ends")
    t.note(f"{count} nodes with parameter services up in {up:.1f} s, {size / count / 1024:.0f} KiB of shared memory each, at most {mappings} mappings")


@case(limit=150)
def every_one_of_many_light_nodes_is_listed_before_and_after_kills(t):
    count = max(20, round(130 * min(2.0, SCALE)))

    def node(me, name):
        ros.start(name)
        keep = ros.publisher(Int32, "of_" + name)
        me.tell(keep is not None)
        me.hear()

    def observer(me):
        n = ros.start("observer")
        while (want := me.hear()) is not None:
            def listing():
                nodes = sorted(x for x in n.get_node_names() if x.startswith("m"))
                topics = sorted(x[4:] for x, _ in n.get_topic_names_and_types() if x.startswith("/of_m"))
                return nodes, topics
            start = time.monotonic()
            ok = ros.until(lambda: listing() == (want, want), 25, step=0.1)
            me.tell((ok, time.monotonic() - start, [len(x) for x in listing()]))

    def start(names):
        return {name: t.fork(node, name, name="m") for name in names}
    o = t.fork(observer)
    live = start(f"m{k}" for k in range(count))
    for a in live.values():
        a.expect(60)
    ok, first, sizes = o.ask(sorted(live), timeout=40)
    t.check(ok, f"{count} live, listed (nodes, topics): {sizes}")
    for name in list(live)[::2]:
        live[name].signal(signal.SIGKILL)
        live.pop(name).kill()
    more = start(f"m{count + k}" for k in range(count // 2))
    for a in more.values():
        a.expect(60)
    live.update(more)
    ok, second, sizes = o.ask(sorted(live), timeout=40)
    t.check(ok, f"after kills and new ones {len(live)} live, listed: {sizes}")
    t.note(f"{count} processes listed exactly {first:.2f} s after the last start; after {count - count // 2} kills and {count // 2} starts {second:.2f} s")


@case(limit=90)
def killed_nodes_vanish_from_old_and_new_observers(t):
    def node(me, name):
        n = ros.start(name)
        keep = [ros.publisher(Int32, "g"), n.create_service(EmptySrv, "gs", lambda q, r: r)]
        me.tell(len(keep))
        me.hear()

    def observer(me):
        n = ros.start("observer")
        while (want := me.hear()) is not None:
            start = time.monotonic()
            look = lambda: (sorted(x for x in n.get_node_names() if x[0] == "g"), n.count_publishers("g"))  # noqa: E731
            ok = ros.until(lambda: look() == (want, len(want)), 10)
            me.tell((ok, time.monotonic() - start, look()))
    old = t.fork(observer)
    names = [f"g{k}" for k in range(19)] + ["g18"]
    everyone = [t.fork(node, name) for name in names]
    for a in everyone:
        a.expect(20)
    ok, _, saw = old.ask(sorted(names), timeout=20)
    t.check(ok, f"before: {saw}")
    for a in everyone[:5]:
        t.equal(a.leave(), 0, "a clean end")
    ok, clean, saw = old.ask(sorted(names[5:]), timeout=20)
    t.check(ok, f"after five clean ends: {saw}")
    for a in everyone[5:15]:
        a.kill()
    ok, killed, saw = old.ask(sorted(names[15:]), timeout=20)
    t.check(ok, f"after ten kills: {saw}")
    ok, _, saw = t.fork(observer, name="fresh").ask(sorted(names[15:]), timeout=20)
    t.check(ok, f"a fresh observer: {saw}")
    if ros.is_shoal():
        t.check(killed < 3, f"killed nodes were listed for {killed:.1f} s")
    t.note(f"gone after {clean * 1e3:.0f} ms (clean end) and {killed * 1e3:.0f} ms (SIGKILL)")


class GraphWait:
    """A wait on the node's graph guard condition alone, through rcl."""

    def __init__(self, node):
        self.rcl = ctypes.CDLL("librcl.so")
        self.rcl.rcl_node_get_graph_guard_condition.restype = ctypes.c_void_p
        self.rcl.rcl_node_get_graph_guard_condition.argtypes = [ctypes.c_void_p]
        self.rcl.rcl_wait_set_add_guard_condition.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
        self.guard = self.rcl.rcl_node_get_graph_guard_condition(node.handle.pointer)
        self.context = rclpy.get_default_context().handle

    def wait(self, seconds):
        """Whether the guard condition was reported."""
        ws = ros.native.WaitSet(0, 1, 0, 0, 0, 0, self.context)
        ws.clear_entities()
        place = ctypes.c_size_t()
        assert self.rcl.rcl_wait_set_add_guard_condition(ws.pointer, self.guard, ctypes.byref(place)) == 0
        ws.wait(int(seconds * 1e9))
        return bool(ws.is_ready("guard_condition", place.value))

    def drain(self):
        while self.wait(0.2):
            pass


@case(limit=90)
def a_graph_wait_wakes_for_every_change_and_for_a_kill(t):
    def watcher(me):
        node = ros.start("watcher")
        graph = GraphWait(node)
        graph.wait(0)
        me.tell("up")
        while me.hear() is not None:
            graph.drain()
            me.tell("quiet")
            start = time.monotonic()
            woke = graph.wait(8)
            me.tell((woke, time.monotonic() - start))

    def changer(me):
        node = ros.start("changer")
        me.tell("up")
        made = None
        steps = {
            "+ node": lambda: ros.make_node("another"), "- node": lambda: made.destroy_node(),
            "+ publisher": lambda: node.create_publisher(Int32, "g", 1), "- publisher": lambda: node.destroy_publisher(made),
            "+ subscription": lambda: node.create_subscription(Int32, "g", print, 1), "- subscription": lambda: node.destroy_subscription(made),
            "+ service": lambda: node.create_service(EmptySrv, "gs", print), "- service": lambda: node.destroy_service(made),
            "+ client": lambda: node.create_client(EmptySrv, "gs"), "- client": lambda: node.destroy_client(made),
        }
        while (step := me.hear()) is not None:
            made = steps[step]()
            me.tell("done")
    w, c = t.fork(watcher), t.fork(changer)
    w.expect(), c.expect()
    worst = 0
    for step in [s + what for what in ("node", "publisher", "subscription", "service", "client") for s in ("+ ", "- ")]:
        t.equal(w.ask("next"), "quiet", "the watcher")
        time.sleep(0.02)
        c.ask(step)
        woke, seconds = w.expect()
        t.check(woke, f"{step}: the wait was not ended")
        worst = max(worst, seconds)
    w.ask("next")
    c.kill()
    woke, killed = w.expect()
    t.check(woke, "SIGKILL of the other process did not end the wait")
    t.check(worst < 1, f"the slowest wake-up took {worst:.1f} s")
    t.note(f"10 changes, slowest {worst * 1e3:.0f} ms (20 of them our own pause); SIGKILL seen after {killed * 1e3:.0f} ms")


@case(limit=60)
def endpoints_show_their_type_hash_gid_and_qos(t):
    from test_msgs.msg import Nested

    def talker(me):
        ros.start("talker")
        keep = [ros.publisher(String, "text", ros.latched(7)), ros.publisher(Nested, "nested", ros.qos(3, reliable=False))]
        keep.append(Inbox(Nested, "nested", ros.qos(4, reliable=False), value=lambda m: 1))
        me.tell(len(keep))
        me.hear()

    def look(me):
        n = ros.start("look")
        ros.until(lambda: n.count_publishers("nested") and n.count_publishers("text") and n.count_subscribers("nested"))
        ros.until(lambda: "talker" in n.get_node_names())
        found = [n.get_publishers_info_by_topic("/text")[0], n.get_publishers_info_by_topic("/nested")[0],
                 n.get_subscriptions_info_by_topic("/nested")[0]]
        return [(i.node_name, i.topic_type, i.topic_type_hash.version, bytes(i.topic_type_hash.value),
                 i.qos_profile.reliability.name, i.qos_profile.durability.name, any(i.endpoint_gid)) for i in found]
    a = t.fork(talker)
    a.expect()
    got = t.fork(look).result(20)
    want = [("std_msgs/msg/String", String, "RELIABLE", "TRANSIENT_LOCAL"), ("test_msgs/msg/Nested", Nested, "BEST_EFFORT", "VOLATILE"),
            ("test_msgs/msg/Nested", Nested, "BEST_EFFORT", "VOLATILE")]
    for one, (name, kind, reliability, durability) in zip(got, want):
        t.equal(one, ("talker", name, 1, type_hash(kind), reliability, durability, True), name)


def type_hash(kind):
    """The hash in the installed description of the type (RIHS01_<hex>)."""
    import json
    package, name = kind.__module__.split(".")[0], kind.__name__
    path = os.path.join(os.environ["ROS_PREFIX"], "share", package, "msg", name + ".json")
    with open(path) as f:
        hashes = {h["type_name"]: h["hash_string"] for h in json.load(f)["type_hashes"]}
    return bytes.fromhex(hashes[f"{package}/msg/{name}"].removeprefix("RIHS01_"))


@case(limit=90)
def domains_are_isolated_and_unset_is_zero(t):
    domains = {"zero": "0", "one": "1", "other": "42", "unset": None}
    together = {"zero": ["unset", "zero"], "unset": ["unset", "zero"], "one": ["one"], "other": ["other"]}

    def node(me, key):
        if domains[key] is None:
            os.environ.pop("ROS_DOMAIN_ID")
        else:
            os.environ["ROS_DOMAIN_ID"] = domains[key]
        n = ros.start("same")
        live, kept = ros.publisher(String, "live", ros.qos(50)), ros.publisher(String, "kept", ros.latched())
        kept.publish(String(data=key))
        inbox = Inbox(String, "live", ros.qos(50))
        if key == "one":
            n.create_service(EmptySrv, "srv", lambda q, r: r)
        ros.keep_spinning()
        me.tell("up")
        me.hear()
        ros.matched(live, len(together[key]))
        for _ in range(5):
            live.publish(String(data=key))
        me.tell("sent")
        me.hear()
        late = Inbox(String, "kept", ros.latched(5))
        ros.until(lambda: len(late.got) >= len(together[key]))
        time.sleep(0.5)
        client = n.create_client(EmptySrv, "srv")
        served = client.wait_for_service(4 if key == "one" else 0.5)
        return sorted(set(inbox.got)), sorted(late.got), n.get_node_names().count("same"), n.count_publishers("live"), served
    everyone = {key: t.fork(node, key) for key in domains}
    for order in ("up", "sent"):
        for a in everyone.values():
            t.equal(a.expect(20), order, "a node")
        for a in everyone.values():
            a.tell()
    for key, a in everyone.items():
        want = together[key]
        t.equal(a.result(20), (want, want, len(want), len(want), key == "one"), f"domain {key}: live, kept, nodes, publishers, service")


@case(limit=60)
def two_contexts_of_one_process_live_in_two_domains(t):
    def both(me):
        inboxes, publishers, executors, nodes = [], [], [], []
        for domain in (11, 12):
            context = rclpy.Context()
            rclpy.init(context=context, domain_id=domain)
            node = ros.make_node("both", context=context)
            executors.append(SingleThreadedExecutor(context=context))
            executors[-1].add_node(node)
            nodes.append(node)
            inboxes.append(Inbox(Int32, "t", ros.latched(20), node=node))
            publishers.append(ros.numbers("t", ros.latched(20), node=node))
        for k in range(10):
            for domain, publish in enumerate(publishers):
                publish(100 * domain + k)
        end = time.monotonic() + 10
        while time.monotonic() < end and min(len(i.got) for i in inboxes) < 10:
            for e in executors:
                e.spin_once(timeout_sec=0.05)
        seen = [n.count_publishers("t") for n in nodes]
        for n in nodes:
            n.destroy_node()
        return [i.got for i in inboxes], seen
    t.equal(t.fork(both).result(30), ([list(range(10)), list(range(100, 110))], [1, 1]), "samples and publishers by domain")


@case(limit=60)
def two_types_on_one_topic_do_not_mix(t):
    def numbers(me):
        ros.start("numbers")
        publish, inbox = ros.numbers("chatter", ros.qos(50)), Inbox(Int32, "chatter", ros.qos(50))
        me.tell("up")
        me.hear()
        for i in range(20):
            publish(i)
        me.tell(inbox.collect(20))
        me.hear()

    def words(me):
        n = ros.start("words")
        p, inbox = ros.publisher(String, "chatter", ros.qos(50)), Inbox(String, "chatter", ros.qos(50))
        me.tell("up")
        me.hear()
        for i in range(20):
            p.publish(String(data=str(i)))
        got = inbox.collect(20)
        return got, sorted(dict(n.get_topic_names_and_types())["/chatter"])
    a, b = t.fork(numbers), t.fork(words)
    a.expect(), b.expect()
    a.tell(), b.tell()
    t.equal(a.expect(20), list(range(20)), "the numbers")
    t.equal(b.result(20), ([str(i) for i in range(20)], ["std_msgs/msg/Int32", "std_msgs/msg/String"]), "the words, and both types")


@case(limit=60)
def counts_by_node_and_by_topic_are_exact(t):
    def node(me):
        n = ros.start("counted", namespace="/ns")
        keep = [ros.publisher(Int32, "a"), ros.publisher(Int32, "a"), Inbox(Int32, "b"),
                n.create_service(BasicTypes, "s", print), n.create_client(BasicTypes, "c")]
        me.tell(len(keep))
        me.hear()

    def look(me):
        n = ros.start("look")
        ros.until(lambda: n.count_publishers("/ns/a") == 2 and "counted" in n.get_node_names())
        mine = lambda pairs: sorted((name, kinds) for name, kinds in pairs if name.startswith("/ns/") and "type_desc" not in name)  # noqa: E731
        by_node = [mine(f("counted", "/ns")) for f in (n.get_publisher_names_and_types_by_node, n.get_subscriber_names_and_types_by_node,
                                                       n.get_service_names_and_types_by_node, n.get_client_names_and_types_by_node)]
        try:
            n.get_publisher_names_and_types_by_node("nobody", "/")
            unknown = "no error"
        except Exception as e:
            unknown = type(e).__name__
        return by_node, n.count_publishers("/ns/a"), n.count_subscribers("/ns/b"), n.get_node_names_and_namespaces().count(("counted", "/ns")), unknown
    a = t.fork(node)
    a.expect()
    number, srv = ["std_msgs/msg/Int32"], ["test_msgs/srv/BasicTypes"]
    want = [[("/ns/a", number)], [("/ns/b", number)], [("/ns/s", srv)], [("/ns/c", srv)]]
    t.equal(t.fork(look).result(20), (want, 2, 1, 1, "NodeNameNonExistentError"), "by node, counts, names, an unknown node")
