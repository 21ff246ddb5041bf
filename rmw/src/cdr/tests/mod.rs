//! Tests of the plans without ROS.

mod cases;
mod model;
mod positions;
mod random;
