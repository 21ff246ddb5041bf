"""Content filters, where rclpy offers them (from Kilted on)."""
from support import ros
from support.case import Skip, case
from support.ros import Inbox, Int32, String


def options(expression, *parameters):
    try:
        from rclpy.subscription_content_filter_options import ContentFilterOptions
    except ImportError:
        raise Skip("this rclpy has no content filters") from None
    return ContentFilterOptions(filter_expression=expression, expression_parameters=list(parameters))


@case(limit=60)
def a_filtered_subscription_gets_what_passes_and_its_filter_can_be_changed_and_removed(t):
    first = options("data >= %0 AND NOT data > %1", "40", "49")

    def talker(me):
        ros.start("talker")
        publish = ros.numbers("numbers", ros.qos(100))
        if not ros.matched(publish.publisher):
            return "never matched"
        me.tell("matched")
        while me.hear():
            for i in range(100):
                publish(i)
            me.tell("sent")

    def listener(me):
        ros.start("listener")
        # Nobody takes before all are sent: what does not pass must not push out what does.
        inbox = Inbox(Int32, "numbers", ros.qos(25), content_filter_options=first)
        subscription = inbox.subscription
        seen = [(subscription.is_cft_enabled, tuple(subscription.get_content_filter()))]
        me.tell("listening")
        for filter in ("data IN (3, 77)", ""):
            me.hear()
            seen.append(inbox.collect(10, timeout=3))
            inbox.got.clear()
            subscription.set_content_filter(filter, [])
            me.tell("changed")
        me.hear()
        seen.append(subscription.is_cft_enabled)
        seen.append(inbox.collect(25, timeout=3))
        return seen
    a, b = t.fork(listener), t.fork(talker)
    a.expect()
    t.equal(b.expect(20), "matched", "the talker")
    for step in range(3):
        b.tell(True)
        b.expect(20)
        a.tell(True)
        if step < 2:
            a.expect(20)
    known = (True, ("data >= %0 AND NOT data > %1", ["40", "49"]))
    want = [known, list(range(40, 50)), [3, 77], False, list(range(75, 100))]
    t.equal(a.result(30), want, "the listener saw")
    b.tell(False)
    t.note("10, 2 and 25 of 100 samples")


@case(limit=40)
def a_wrong_filter_is_an_error_that_names_its_place(t):
    options("")

    def node(me):
        ros.start()
        said = []
        for expression in ("data LIKE 'a%' AND size > 3", "data = 5", "data = 'open"):
            try:
                Inbox(String, "texts", content_filter_options=options(expression))
                said.append("nothing")
            except Exception as e:
                said.append(str(e))
        inbox = Inbox(String, "texts", content_filter_options=options("data <> ''"))
        try:
            inbox.subscription.set_content_filter("data = %0", ["unquoted"])
        except Exception as e:
            said.append(str(e))
        said.append(inbox.subscription.get_content_filter().filter_expression)
        return said
    said = t.fork(node).result()
    for got, want in zip(said, ("column 20", "column 8", "column 8", "column 8", "data <> ''")):
        t.check(want in got, f"said {got!r}, want {want!r}")
    t.equal(len(said), 5, "answers")
