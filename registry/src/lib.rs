//! The ROS graph in shared memory: who is there, alive, and matched.
//!
//! One file per domain, mapped by every context: a table of contexts, a dense directory of slots (one per node and
//! endpoint), and per slot a hot cell and a detail. A context claims slots by compare-and-swap and then is the only one
//! to write them; generations tell publishers and readers when to look again; the kernel lock of a context says
//! whether it lives, and whoever notices that one does not takes that lock and cleans up.
//!
//! Modules: `presence` (into and out of the directory), `context` (a context's life), `slots` (claim to withdraw),
//! `bitmap` (a bit for each context), `watch` (generations and doorbells), `interest` (doorbells of peers), `find` (queries), `linger` (which closed outlets are still wanted), `reap`,
//! `observe` (looking at a domain without joining it), `deserted` (domains in which nobody lives any more).

mod ask;
mod bitmap;
mod context;
mod counters;
mod deserted;
mod ending;
mod error;
mod find;
mod hash;
mod holders;
mod ident;
mod interest;
mod layout;
mod linger;
mod member;
mod observe;
mod presence;
pub mod qos;
mod reap;
mod slots;
mod watch;

pub use context::{JoinOptions, Registry};
pub use counters::COUNTER_COUNT;
pub use deserted::Deserted;
pub use ending::{Days, Ending};
pub use error::{ClaimError, JoinError};
pub use find::{Detail, Found, Usage};
pub use hash::{match_key, TopicHash};
pub use ident::{gid, Kind, SlotId};
pub use interest::Interest;
pub use layout::{HotCell, SlotState};
pub use observe::{layout_version, ContextLife, ContextView, ObserveError, Observer};

pub use qos::{
    qos_compatible, Durability, History, HotQos, Liveliness, PolicyKind, Qos, Reliability, KEEP_ALL_DEPTH,
    SERVICE_DEPTH,
};
pub use slots::Registration;
