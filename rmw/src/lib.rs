//! ROS 2 middleware semantics over shared memory: contexts, nodes, topics, services, waits and the graph.
//!
//! Plain Rust without ROS headers: the `ffi` crate translates the C API into calls of this crate.
#![deny(unsafe_code)]

mod acks;
mod bounds;
// The plan runner works on messages in memory; nothing else of this crate does.
#[allow(unsafe_code)]
pub mod cdr;
mod client;
mod clock;
mod config;
mod context;
mod counters;
mod endpoint;
mod error;
mod events;
pub mod filter;
pub mod graph;
mod guard_condition;
mod inlet;
mod loan;
mod matching;
mod message;
mod node;
mod notify;
pub mod observe;
mod outlet;
mod peers;
mod place;
mod publisher;
mod queue;
mod response_reader;
mod responses;
mod service;
mod stream;
mod subscription;
#[cfg(test)]
mod testing;
mod wait;

pub use bounds::{Bounds, WhenBehind};
pub use client::Client;
pub use context::{Context, ContextOptions, Discovery};
pub use error::{Error, ErrorKind, Result};
pub use events::{Event, EventKind, LivelinessStatus, MatchedStatus, Status, Totals};
pub use guard_condition::GuardCondition;
pub use inlet::{SourceLag, StreamEvent, WorkItem};
pub use loan::Copier;
pub use message::{Encapsulation, Incoming, MessageInfo, Outgoing, ServiceInfo, Sink, TypeInfo, CDR_LITTLE_ENDIAN};
pub use node::Node;
pub use notify::Callback;
pub use outlet::{Offered, ReaderLag, StreamState};
pub use place::Place;
pub use publisher::Publisher;
pub use service::Service;
pub use shoal_registry::{qos_compatible, Durability, History, Kind, Liveliness, PolicyKind, Qos, Reliability};
pub use shoal_shm::wait::{ArmError, Interrupt, Outcome};
pub use stream::Stream;
pub use subscription::{Subscription, SubscriptionOptions};
#[doc(hidden)]
pub use wait::patience::sleep_at_once;
pub use wait::{wait, wait_in, Manner, Waitable};
