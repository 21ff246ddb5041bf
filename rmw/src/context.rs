//! Contexts: one membership of one domain.

use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use shoal_registry::{JoinOptions, Registry, SlotId};
use shoal_shm::arena::{Arena, Block};
use shoal_shm::ring::Writer;
use shoal_shm::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::notify::Notifier;
use crate::peers::Peers;
use crate::place::Place;
use crate::publisher::Publisher;
use crate::queue::Table;

/// Whom a context may meet (`ROS_AUTOMATIC_DISCOVERY_RANGE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// Nobody outside this context.
    Off,
    /// Everybody on this host.
    Localhost,
    /// As [`Localhost`](Self::Localhost): this middleware does not leave the host.
    Subnet,
    /// As [`Localhost`](Self::Localhost).
    SystemDefault,
}

/// How to create a [`Context`].
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// `ROS_DOMAIN_ID`.
    pub domain_id: usize,
    /// Enclave name as the graph shows it.
    pub enclave: String,
    /// Whom to meet.
    pub discovery: Discovery,
    /// Whether security is on and enforced; this middleware then refuses.
    pub security_enforced: bool,
}

/// A membership of one domain: owns shared-memory segments and a slot in the registry.
pub struct Context {
    registry: Arc<Registry>,
    arena: Mutex<Arena>,
    peers: Peers,
    notifier: Arc<Notifier>,
    next_endpoint: AtomicU32,
    shut_down: AtomicBool,
    /// See [`using`](Self::using).
    in_use: RwLock<()>,
    lingering: Mutex<Vec<Lingering>>,
    lingering_count: AtomicUsize,
    /// Closed rings with chunks that a reader still holds.
    held: Mutex<Vec<Writer>>,
    held_count: AtomicUsize,
    config: Config,
    /// For what is said of all of them at once.
    publishers: Mutex<Vec<Weak<Publisher>>>,
}

/// A closed outlet whose samples somebody still has to read.
struct Lingering {
    slot: SlotId,
    memory: Memory,
}

/// What an outlet holds of the arena.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) writers: Vec<Writer>,
    pub(crate) table: Option<Block>,
    /// The number of a publisher whose items have a table.
    pub(crate) queue: Option<u32>,
}

impl Context {
    /// Joins a domain.
    ///
    /// # Errors
    /// Security is enforced, or the domain cannot be joined (another user's, another layout version, no memory), or
    /// the file that `SHOAL_CONFIG` names is wrong.
    pub fn new(options: ContextOptions) -> Result<Arc<Self>> {
        if options.security_enforced {
            return Err(Error::Other(
                "rmw_shoal does not encrypt or authenticate: with ROS_SECURITY_ENABLE=true and \
                 ROS_SECURITY_STRATEGY=Enforce it refuses to start; unset them or choose another RMW"
                    .into(),
            ));
        }
        let config = Config::from_environment()?;
        let Place { root, access } = Place::from_environment()?;
        let domain = domain_name(options.domain_id, options.discovery);
        let join = JoinOptions { root, access, domain, enclave: options.enclave };
        let registry = Registry::join(&join)?;
        if options.discovery == Discovery::Off {
            // Nobody joins such a domain a second time, so nobody else would find what is left of it.
            registry.clear_deserted(&join, &private_prefix(options.domain_id));
        }
        let prefix = format!("{:016x}", registry.context_id());
        let arena = Arena::new(registry.dir().clone(), prefix);
        Ok(Arc::new(Self {
            peers: Peers::new(registry.dir().clone()),
            arena: Mutex::new(arena),
            registry,
            notifier: Notifier::new(),
            next_endpoint: AtomicU32::new(1),
            shut_down: AtomicBool::new(false),
            in_use: RwLock::new(()),
            lingering: Mutex::new(Vec::new()),
            lingering_count: AtomicUsize::new(0),
            held: Mutex::new(Vec::new()),
            held_count: AtomicUsize::new(0),
            config,
            publishers: Mutex::new(Vec::new()),
        }))
    }

    /// Leaves the domain: the graph loses this context's entities, waits end, later calls fail with
    /// [`Error::ShutDown`]. Does nothing the second time.
    ///
    /// # Errors
    /// The context belongs to the parent of this forked process.
    pub fn shutdown(&self) -> Result<()> {
        if self.registry.is_forked() {
            return Err(Error::Forked);
        }
        if !self.shut_down.swap(true, Ordering::AcqRel) {
            self.notifier.stop(&self.registry);
            // From here on no call begins; those under way end before their slots are anybody's.
            drop(self.in_use.write());
            self.collect_drained();
            self.leave();
            self.registry.doorbell().ring();
        }
        Ok(())
    }

    /// Whether [`shutdown`](Self::shutdown) was called.
    pub fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::Acquire)
    }

    fn leave(&self) {
        // What peers have still to read stays: its slots are closed and its files are reaped after the last reader.
        if self.registry.leave() {
            self.arena.lock().close();
        }
    }

    /// Says [`Publisher::end_of_day`] for every publisher of this context whose stream goes on.
    ///
    /// # Errors
    /// The context was shut down or belongs to the parent of this forked process.
    pub fn end_of_day(&self) -> Result<()> {
        self.check()?;
        let publishers: Vec<_> = self.publishers.lock().iter().filter_map(Weak::upgrade).collect();
        let said = publishers.iter().map(|publisher| publisher.end_of_day());
        // Each is told, also where one is being ended meanwhile.
        said.filter(|said| !matches!(said, Err(Error::Finished))).fold(Ok(()), Result::and)
    }

    pub(crate) fn note_publisher(&self, publisher: &Arc<Publisher>) {
        let mut publishers = self.publishers.lock();
        publishers.retain(|known| known.strong_count() > 0);
        publishers.push(Arc::downgrade(publisher));
    }

    /// Refuses calls in a forked child.
    pub(crate) fn check_not_forked(&self) -> Result<()> {
        if self.registry.is_forked() {
            return Err(Error::Forked);
        }
        Ok(())
    }

    /// Refuses calls in a forked child, after shutdown, and where the registry is not what the others see.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_not_forked()?;
        if self.is_shut_down() {
            return Err(Error::ShutDown);
        }
        self.check_whole()
    }

    /// Refuses calls where the registry is not what the others see.
    pub(crate) fn check_whole(&self) -> Result<()> {
        if !self.registry.is_whole() {
            return Err(Error::Damaged { path: self.registry.dir().path_of("registry") });
        }
        Ok(())
    }

    /// As [`check`](Self::check), and keeps it so: as long as this is held, the context's slots in the registry are its own.
    /// Whoever stores into a hot cell holds it; after a shutdown the cell may be another process's.
    pub(crate) fn using(&self) -> Result<RwLockReadGuard<'_, ()>> {
        // First of all: a lock that another thread of the parent held at the fork is never released here.
        self.check()?;
        // Recursive: nobody queues behind a shutdown that waits, since calls that begin then are refused.
        let using = self.in_use.read_recursive();
        self.check()?;
        Ok(using)
    }

    /// Whether shared state may still be changed on behalf of this context.
    pub(crate) fn is_usable(&self) -> bool {
        self.check().is_ok()
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    pub(crate) fn arena(&self) -> &Mutex<Arena> {
        &self.arena
    }

    pub(crate) fn peers(&self) -> &Peers {
        &self.peers
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn notifier(&self) -> &Arc<Notifier> {
        &self.notifier
    }

    pub(crate) fn next_endpoint(&self) -> u32 {
        self.next_endpoint.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes an outlet out of the graph; its memory goes back once its matched readers have read it.
    pub(crate) fn retire_outlet(&self, slot: SlotId, memory: Memory) {
        if !self.is_usable() {
            return;
        }
        self.registry.close(slot);
        self.lingering.lock().push(Lingering { slot, memory });
        self.lingering_count.fetch_add(1, Ordering::Relaxed);
        self.collect_drained();
    }

    /// Frees the closed outlets that everybody has read, and what readers have given back since theirs were closed. Called wherever entities come and go, and in waits.
    pub(crate) fn collect_drained(&self) {
        if self.registry.is_forked() {
            return;
        }
        if self.held_count.load(Ordering::Relaxed) > 0 {
            self.free(Memory::default());
        }
        if self.lingering_count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut lingering = self.lingering.lock();
        let (drained, kept): (Vec<_>, Vec<_>) =
            lingering.drain(..).partition(|closed| self.registry.is_drained(closed.slot));
        *lingering = kept;
        self.lingering_count.store(lingering.len(), Ordering::Relaxed);
        drop(lingering);
        for closed in drained {
            self.registry.withdraw(closed.slot);
            self.free(closed.memory);
        }
    }
}

impl Context {
    /// Gives back the memory of rings that nobody reads any more, and what was on loan when an earlier one was closed.
    pub(crate) fn free(&self, memory: Memory) {
        let arena = &mut *self.arena.lock();
        for mut writer in memory.writers {
            // The slot is withdrawn: its descriptor is gone with it, and only this copy is left to clear.
            let descriptor = AtomicU64::new(0);
            let mut hold = |chunk| self.registry.hazard_held_by_any(chunk);
            if !writer.close(arena, &descriptor, &mut hold) {
                self.held.lock().push(writer);
            }
        }
        let mut held = self.held.lock();
        held.retain_mut(|writer| {
            writer.reclaim(arena, &mut |chunk| self.registry.hazard_held_by_any(chunk));
            writer.in_limbo() > 0
        });
        self.held_count.store(held.len(), Ordering::Relaxed);
        drop(held);
        memory.table.into_iter().for_each(|block| arena.free_later(block));
        memory
            .queue
            .into_iter()
            .for_each(|endpoint| Table::remove(self.registry.dir(), self.registry.context_id(), endpoint));
        arena.trim();
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.registry.is_forked() && !self.is_shut_down() {
            self.notifier.stop(&self.registry);
            self.leave();
        }
    }
}

/// How the names of domains begin that have one context each.
fn private_prefix(domain_id: usize) -> String {
    format!("{domain_id}.off-")
}

fn domain_name(domain_id: usize, discovery: Discovery) -> String {
    match discovery {
        Discovery::Off => {
            let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
            format!("{}{random:016x}", private_prefix(domain_id))
        }
        Discovery::Localhost | Discovery::Subnet | Discovery::SystemDefault => domain_id.to_string(),
    }
}
