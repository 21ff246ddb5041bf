#!/usr/bin/env python3
"""A stream that ends, with rclpy on rmw_shoal: `rclpy_stream.py read`, and then `rclpy_stream.py write` beside it.

The writer sends ten numbers and says that nothing follows. The reader prints them and then why its stream ended:
END_OF_STREAM, or BROKEN where the writer was killed before it said so. The folder `python` is to be in PYTHONPATH."""
import sys
import time

import rclpy
from rclpy.qos import QoSProfile
from std_msgs.msg import Int32

import shoal

COUNT = 10
PROFILE = QoSProfile(depth=100)


def write(node):
    publisher = node.create_publisher(Int32, "stream", PROFILE)
    while publisher.get_subscription_count() == 0:
        time.sleep(0.01)
    for number in range(COUNT):
        publisher.publish(Int32(data=number))
    shoal.finish(publisher)


def read(node):
    subscription = node.create_subscription(Int32, "stream", lambda message: print(message.data, flush=True), PROFILE)
    while True:
        outcome, _ = shoal.wait(node, [subscription], timeout=30.0)
        if outcome == shoal.Outcome.READY:
            rclpy.spin_once(node, timeout_sec=0)
            continue
        event = shoal.take_stream_event(subscription)
        if event is None:
            print(outcome.name)
            return
        print(event.outcome.name, "of the topic" if event.publisher is None else f"behind sample {event.last_sequence}")
        if event.publisher is None:
            return


def main():
    if sys.argv[1:] not in (["read"], ["write"]):
        sys.exit(__doc__)
    rclpy.init()
    node = rclpy.create_node(f"stream_{sys.argv[1]}er")
    read(node) if sys.argv[1] == "read" else write(node)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
