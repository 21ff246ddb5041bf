//! The ROS graph in shared memory: who is there, alive, and matched.
