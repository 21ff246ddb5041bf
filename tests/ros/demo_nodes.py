"""The two processes of the demo: `demo_nodes.py talker` and `demo_nodes.py listener`. Ordinary rclpy programs."""
import array
import sys
import time
import zlib

import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import String

CLOUD = 3 * (1 << 20)


def latched(depth):
    return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def say(text):
    print(text, flush=True)


def cloud():
    points = bytes(range(256)) * (CLOUD // 256)
    message = PointCloud2(height=1, width=CLOUD // 16, point_step=16, row_step=CLOUD, is_dense=True, data=array.array("B", points))
    message.header.frame_id = str(zlib.crc32(points))
    return message


def pose(k):
    message = TransformStamped(child_frame_id=f"arm{k}")
    message.header.frame_id = "base"
    message.transform.translation.x = float(k)
    message.transform.rotation.w = 1.0
    return message


def talker():
    node = rclpy.create_node("talker")
    words = node.create_publisher(String, "words", latched(5))
    clouds = node.create_publisher(PointCloud2, "cloud", latched(1))
    poses = node.create_publisher(TransformStamped, "poses", latched(100))
    for k in range(12):
        words.publish(String(data=f"word {k}"))
    clouds.publish(cloud())
    for k in range(4):
        poses.publish(pose(k))
    say("latched the words 7 to 11, the cloud, the 4 poses")
    sys.stdin.readline()
    for k in range(5):
        words.publish(String(data=f"live {k}"))
        time.sleep(0.1)
    sys.stdin.readline()


class Listener:
    def __init__(self, node):
        self.node, self.words, self.clouds, self.poses = node, [], [], []
        self.subscriptions = [
            (String, node.create_subscription(String, "words", self.words.append, latched(10))),
            (PointCloud2, node.create_subscription(PointCloud2, "cloud", self.clouds.append, latched(10))),
            (TransformStamped, node.create_subscription(TransformStamped, "poses", self.poses.append, latched(100))),
        ]

    def pull(self):
        """Takes what is there, without any wait."""
        for kind, subscription in self.subscriptions:
            while (taken := subscription.handle.take_message(kind, False)) is not None:
                subscription.callback(taken[0])

    def told(self):
        words = ", ".join(w.data for w in self.words)
        whole = [len(c.data) for c in self.clouds if c.header.frame_id == str(zlib.crc32(c.data))]
        clouds = f"a whole cloud of {whole[0]} bytes" if len(whole) == len(self.clouds) == 1 else f"{len(self.clouds)} clouds, whole: {len(whole)}"
        poses = " ".join(f"{p.header.frame_id}->{p.child_frame_id}" for p in self.poses if p.child_frame_id == f"arm{p.transform.translation.x:.0f}")
        return f"{words}; {clouds}; poses {poses}"


def listener():
    node = rclpy.create_node("listener")
    start = time.perf_counter()
    ears = Listener(node)
    ears.pull()
    took = (time.perf_counter() - start) * 1e3
    say(f"pulled {ears.told()}")
    say(f"within {took:.1f} ms")
    ears.words.clear()
    end = time.monotonic() + 20
    while len(ears.words) < 5 and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.5)
    rclpy.spin_once(node, timeout_sec=0.3)  # a sixth one would be a repeat
    say("live " + ", ".join(w.data for w in ears.words))
    say("sees the talker" if "talker" in node.get_node_names() else "does not see the talker")
    while "talker" in node.get_node_names():
        time.sleep(0.002)
    say("lost the talker")


def main():
    rclpy.init()
    say(f"running on {rclpy.get_rmw_implementation_identifier()}")
    {"talker": talker, "listener": listener}[sys.argv[1]]()


if __name__ == "__main__":
    main()
