"""The first things to look at, on every distribution."""
from support import ros
from support.case import case
from support.ros import BasicTypes, Inbox, Int32, String


@case(limit=30)
def smoke_the_plugin_answers_to_its_name(t):
    def node(me):
        ros.start()
        return ros.identifier()
    name = t.fork(node).result()
    t.check(name in ("rmw_shoal", "rmw_fastrtps_cpp"), f"rclpy runs on {name}")
    t.note(name)


@case(limit=40)
def smoke_every_sample_of_a_talker_reaches_a_listener(t):
    def listener(me):
        ros.start("listener")
        inbox = Inbox(Int32, "numbers", ros.qos(1000))
        me.tell("listening")
        return inbox.collect(1000, timeout=20)

    def talker(me):
        ros.start("talker")
        publish = ros.numbers("numbers", ros.qos(1000))
        if not ros.matched(publish.publisher):
            return "never matched"
        for i in range(1000):
            publish(i)
        me.tell("sent")
        me.hear()
    a = t.fork(listener)
    a.expect()
    b = t.fork(talker)
    t.equal(b.expect(20), "sent", "the talker")
    t.equal(a.result(30), list(range(1000)), "the listener got")
    t.note("1000 of 1000 in order")


@case(limit=40)
def smoke_a_late_joiner_reads_the_history_of_a_stopped_publisher(t):
    def talker(me):
        ros.start("talker")
        p = ros.publisher(String, "kept", ros.latched(3))
        for i in range(5):
            p.publish(String(data=f"sample {i}"))
        me.tell("latched")
        me.hear()

    def listener(me):
        ros.start("listener")
        return Inbox(String, "kept", ros.latched(10)).collect(3)
    a = t.fork(talker)
    a.expect()
    a.stop()
    t.equal(t.fork(listener).result(), ["sample 2", "sample 3", "sample 4"], "the listener got")
    a.resume()
    t.note("3 samples")


@case(limit=60)
def smoke_a_service_and_the_parameters_of_a_node_answer_another_process(t):
    def server(me):
        node = ros.start("server", start_parameter_services=True)
        node.declare_parameter("speed", 7)

        def double(request, response):
            response.int32_value = 2 * request.int32_value
            return response
        node.create_service(BasicTypes, "double", double)
        ros.keep_spinning()
        me.tell("up")
        me.hear()

    def client(me):
        from rcl_interfaces.srv import GetParameters
        node = ros.start("client")
        double = node.create_client(BasicTypes, "double")
        speed = node.create_client(GetParameters, "server/get_parameters")
        if not (double.wait_for_service(10) and speed.wait_for_service(10)):
            return "never available"
        doubled = [ros.call(double, BasicTypes.Request(int32_value=i)).int32_value for i in range(20)]
        values = ros.call(speed, GetParameters.Request(names=["speed"])).values
        return doubled, [v.integer_value for v in values], [v.type for v in values]
    s = t.fork(server)
    s.expect()
    t.equal(t.fork(client).result(40), ([2 * i for i in range(20)], [7], [2]), "answers")
    t.equal(s.leave(), 0, "exit of the server")
    t.note("20 calls, 1 parameter")
