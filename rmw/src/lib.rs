//! ROS 2 middleware semantics over shared memory, without ROS headers.

pub mod cdr;
