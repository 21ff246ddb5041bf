//! Shared memory for rmw_shoal: segments, rings, payloads, doorbells. Knows nothing of ROS.
