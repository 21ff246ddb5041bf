"""What rmw_shoal offers beyond the ROS API: why a wait ended, and how to end one. The Python face of shoal.h.

Works in any program that runs on rmw_shoal, next to rclpy:

    with shoal.Interrupt(signal.SIGTERM):
        outcome, ready = shoal.wait(node, [subscription], timeout=5.0)
"""
from ._interrupt import Interrupt
from ._library import Error
from ._outcome import Outcome
from ._wait import wait

__all__ = ["Error", "Interrupt", "Outcome", "wait"]
