//! Tests of the plans without ROS.

mod cases;
mod containers;
mod model;
mod object;
mod positions;
mod random;
mod reference;
mod strategy;
