//! Graph queries: one file per header.
//!
//! Names are not mangled here, so `no_demangle` and `no_mangle` make no difference: topics are those of publishers and
//! subscriptions, services those of services and clients, under their plain ROS names.

pub(super) mod by_node;
pub(super) mod counts;
pub(super) mod endpoints;
pub(super) mod names;
