//! A context's life: join, leave, drop.

use crate::error::JoinError;
use crate::layout::{effective_uid, random_u64, ContextEntry, ContextState, Map, MAX_CONTEXTS, MAX_NAME};
use crate::presence::{self, Entered};
use parking_lot::{Mutex, RwLock};
use shoal_shm::crash_point;
use shoal_shm::doorbell::{Doorbell, Parked, Parking};
use shoal_shm::hazard::{self, HazardTable};
use shoal_shm::lock::{fork_generation, LockFile};
use shoal_shm::segment::{Access, DomainDir};
use shoal_shm::sync::AtomicUsize;
use shoal_shm::wait::Enlisted;
use std::path::PathBuf;
use std::sync::Arc;

/// Where and as whom to join.
#[derive(Clone, Debug)]
pub struct JoinOptions {
    /// Directory of all domains, `/dev/shm` unless configured.
    pub root: PathBuf,
    /// Who may join the domain.
    pub access: Access,
    /// Directory name of the domain, e.g. `42`.
    pub domain: String,
    /// Enclave that graph queries show, at most 255 bytes.
    pub enclave: String,
}

/// A context's membership in its domain. All methods may be called from any thread; in a forked child those that
/// change anything do nothing or fail.
pub struct Registry {
    /// Points into `map`; declared, hence dropped, before it.
    hazards: HazardTable<'static>,
    /// Has interruptions of the process ring the doorbell, which lies in `map`; declared, hence dropped, before it.
    _interruptible: Option<Enlisted>,
    pub(crate) map: Map,
    pub(crate) dir: Arc<DomainDir>,
    pub(crate) lock: LockFile,
    pub(crate) index: u16,
    pub(crate) incarnation: u16,
    pub(crate) id: u64,
    fork: u32,
    /// True once left. Claims hold it for reading, so none is under way while the context leaves.
    pub(crate) left: RwLock<bool>,
    /// One reaper per process at a time: the kernel lock does not tell threads apart.
    pub(crate) reaping: Mutex<()>,
    parking: Parking,
    /// Where the next claim starts to look.
    pub(crate) hint: AtomicUsize,
}

/// The index of who is in the domain without an entry.
const NOBODY: u16 = u16::MAX;

/// The byte of the lock file that says whether context `index` is alive.
pub(crate) fn life_byte(index: usize) -> u64 {
    1 + index as u64
}

impl Registry {
    /// Joins a domain, creating it if nobody is there.
    ///
    /// # Errors
    /// See [`JoinError`]; nothing of this attempt stays behind.
    pub fn join(o: &JoinOptions) -> Result<Arc<Registry>, JoinError> {
        if o.enclave.len() > MAX_NAME || o.enclave.contains('\0') {
            return Err(JoinError::Enclave { len: o.enclave.len(), limit: MAX_NAME });
        }
        let fork = fork_generation();
        let mut registry = Registry::visiting(presence::enter(o)?, fork);
        registry.enrol(&o.enclave)?;
        // Who comes looks for the dead, so that they do not pile up where nobody asks for the graph.
        registry.sweep();
        Ok(Arc::new(registry))
    }

    /// In the domain, but nobody yet: dropping it leaves again. `fork` is from before the locks were taken.
    fn visiting(Entered { dir, lock, map }: Entered, fork: u32) -> Registry {
        Registry {
            hazards: HazardTable::new(&[]),
            _interruptible: None,
            map,
            dir: Arc::new(dir),
            lock,
            index: NOBODY,
            incarnation: 0,
            id: 0,
            fork,
            left: RwLock::new(false),
            reaping: Mutex::new(()),
            parking: Parking::new(),
            hint: AtomicUsize::new(0),
        }
    }

    /// Becomes a context. Where the table is full, the dead are reaped first: they may hold entries that nobody has
    /// looked at since.
    fn enrol(&mut self, enclave: &str) -> Result<(), JoinError> {
        let mut taken = self.take_entry(enclave)?;
        if taken.is_none() {
            self.sweep_now();
            taken = self.take_entry(enclave)?;
        }
        let full = || JoinError::ContextsFull { path: self.dir.path().to_owned(), limit: MAX_CONTEXTS };
        let (index, incarnation, id) = taken.ok_or_else(full)?;
        // SAFETY: the table is a field declared before `map`, so it is dropped first, and no clone of it outlives a
        // borrow of the Registry (`hazards` hands it out by reference with the Registry's lifetime).
        let words = unsafe { self.map.hazards_unbounded(usize::from(index)) }.unwrap_or(&[]);
        self.hazards = HazardTable::new(words);
        // SAFETY: it is a field declared before `map`, so it is dropped before the word is unmapped.
        self._interruptible = unsafe { self.map.enlist_doorbell(usize::from(index)) };
        (self.index, self.incarnation, self.id) = (index, incarnation, id);
        self.hint = AtomicUsize::new(usize::from(index) * 16);
        Ok(())
    }

    /// Takes a context entry: index, incarnation, id. `None` when none is free.
    fn take_entry(&self, enclave: &str) -> Result<Option<(u16, u16, u64)>, JoinError> {
        let (lock, map) = (&self.lock, &self.map);
        let fail = |what, source| JoinError::Io { what, path: self.dir.path().to_owned(), source };
        let id = random_u64().map_err(|e| fail("draw a random number", e))?;
        for index in 0..MAX_CONTEXTS {
            let is_free = || map.context(index).is_none_or(|e| e.word().state() == Some(ContextState::Free));
            if !is_free() || !lock.try_exclusive(life_byte(index)).map_err(|e| fail("lock", e))? {
                continue;
            }
            // A reaper or another newcomer may have been here before we had the lock.
            if !is_free() {
                lock.unlock(life_byte(index));
                continue;
            }
            map.grow_contexts(index)?;
            let Some(entry) = map.context(index) else { continue };
            let incarnation = entry.word().incarnation();
            entry.set(ContextState::Claimed, incarnation);
            crash_point!("registry.join.claimed");
            entry.fill(id, std::process::id(), effective_uid(), enclave);
            entry.set(ContextState::Live, incarnation);
            crash_point!("registry.join.live");
            return Ok(Some((index as u16, incarnation, id)));
        }
        Ok(None)
    }

    /// Removes what killed processes left of other domains whose names start with `prefix`: for domains with names that
    /// nobody will ever join again. `o` is what this one was joined with.
    pub fn clear_deserted(&self, o: &JoinOptions, prefix: &str) {
        presence::clear_deserted(o, &self.dir, prefix);
    }

    /// Leaves the domain: withdraws every slot, or closes it while samples of it are still wanted; the last one out
    /// removes the domain's files. The mapping, the doorbell and the sign of life stay until drop, because threads may
    /// still be parked. Repeating it, or calling it in a forked child, does nothing.
    ///
    /// True when nobody needs this context's memory any more; else its files are to stay, and whoever reaps the
    /// context removes them after the last reader.
    pub fn leave(&self) -> bool {
        if self.is_forked() {
            return false;
        }
        self.sweep();
        let mut left = self.left.write();
        if std::mem::replace(&mut *left, true) {
            return false;
        }
        if self.index == NOBODY {
            presence::exit(&self.dir, &self.lock);
            return true;
        }
        self.set_leaver(usize::from(self.index));
        crash_point!("registry.leave.marked");
        let unneeded = self.give_up_slots() == 0;
        crash_point!("registry.leave.slots");
        self.unwatch(usize::from(self.index));
        if let Some(entry) = self.entry() {
            entry.set(ContextState::Left, self.incarnation);
        }
        crash_point!("registry.leave.left");
        presence::exit(&self.dir, &self.lock);
        unneeded
    }

    /// The domain's directory.
    pub fn dir(&self) -> &Arc<DomainDir> {
        &self.dir
    }

    /// The random id of this context; its segment files are `<id as 16 hex digits>.<n>`.
    pub fn context_id(&self) -> u64 {
        self.id
    }

    /// This context's place in the table.
    pub fn context_index(&self) -> u16 {
        self.index
    }

    /// False once a page of the registry file was found gone: it was cut short, or its header told a peer's lie while
    /// the file system was full. What this context sees and says there is nobody else's from then on.
    pub fn is_whole(&self) -> bool {
        self.map.is_whole()
    }

    /// Whether this process is a fork of the one that joined.
    pub fn is_forked(&self) -> bool {
        self.fork != fork_generation()
    }

    /// This context's doorbell.
    pub fn doorbell(&self) -> Doorbell<'_> {
        self.entry().and_then(|entry| entry.bell()).map(Doorbell).expect("the own entry is mapped since join")
    }

    /// Parks the calling thread at this context's doorbell. Look for work after it, then sleep.
    pub fn park(&self) -> Parked<'_> {
        self.parking.park(self.doorbell())
    }

    /// The doorbell of any context; `None` for an index that was never used.
    pub fn doorbell_of(&self, ctx: u16) -> Option<Doorbell<'_>> {
        self.map.context(usize::from(ctx))?.bell().map(Doorbell)
    }

    /// This context's hazards.
    pub fn hazards(&self) -> &HazardTable<'_> {
        &self.hazards
    }

    /// Whether a reader of context `ctx` announces the chunk. The caller retired the slot that named the chunk and put a
    /// `fence(SeqCst)` after that.
    pub fn hazard_held(&self, ctx: u16, chunk: u64) -> bool {
        self.map.context(usize::from(ctx)).is_some_and(|entry| hazard::scan(entry.hazards(), chunk))
    }

    /// Whether a reader of any context announces the chunk: for an outlet that no longer knows its readers.
    pub fn hazard_held_by_any(&self, chunk: u64) -> bool {
        (0..self.map.header().contexts_high()).any(|ctx| self.hazard_held(ctx as u16, chunk))
    }

    /// Whether a reader of a context that has left announces the chunk: its endpoints are gone, but a read that was under
    /// way, or a loan, may still be held there.
    pub fn hazard_held_by_leaver(&self, chunk: u64) -> bool {
        self.leavers().any(|ctx| self.hazard_held(ctx, chunk))
    }

    /// Whether context `ctx` is still the one with id `ctx_id`, has not left, and its process lives. One system call.
    pub fn context_alive(&self, ctx: u16, ctx_id: u64) -> bool {
        if ctx == self.index {
            return ctx_id == self.id;
        }
        // An error of the system call is no proof of death.
        self.is_live_entry(ctx, ctx_id) && self.lock.is_held_by_another(life_byte(usize::from(ctx))).unwrap_or(true)
    }

    /// The enclave of a context; `None` when nobody lives there.
    pub fn enclave_of(&self, ctx: u16) -> Option<String> {
        self.map.context(usize::from(ctx))?.enclave()
    }

    /// By the table alone: no system call, so a context that was just killed still counts.
    pub(crate) fn is_live_entry(&self, ctx: u16, ctx_id: u64) -> bool {
        self.map
            .context(usize::from(ctx))
            .is_some_and(|e| e.word().state() == Some(ContextState::Live) && e.id() == ctx_id)
    }

    fn entry(&self) -> Option<ContextEntry<'_>> {
        self.map.reserved_context(usize::from(self.index))
    }

    /// Unlinks a context's segment files.
    pub(crate) fn unlink_files_of(&self, id: u64) {
        let prefix = format!("{id:016x}.");
        for name in self.dir.names().unwrap_or_default() {
            if name.starts_with(&prefix) {
                // Someone else may have been faster, which is as good.
                let _ = self.dir.unlink(&name);
            }
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        self.leave();
        if self.index == NOBODY {
            return;
        }
        // The sign of life is still held, so no reaper is at work here. Outlets that are still wanted keep the entry;
        // it then counts as dead once the lock file is closed, and others reap it.
        if self.give_up_slots() == 0 {
            self.unlink_files_of(self.id);
            crash_point!("registry.drop.unlinked");
            self.clear_leaver(usize::from(self.index));
            if let Some(entry) = self.entry() {
                entry.set(ContextState::Free, self.incarnation.wrapping_add(1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        let path = PathBuf::from(format!("/dev/shm/shoal-full-{:?}", std::thread::current().id()));
        std::fs::create_dir_all(&path).expect("a directory");
        path
    }

    fn options(root: &std::path::Path) -> JoinOptions {
        JoinOptions { root: root.to_owned(), access: Access::Owner, domain: "1".into(), enclave: "/".into() }
    }

    /// Every entry but the first is taken by somebody whose process, as far as the lock file says, is dead.
    fn fill_the_table(registry: &Registry) {
        for index in 1..MAX_CONTEXTS {
            registry.map.grow_contexts(index).expect("room");
            registry.map.context(index).expect("committed").set(ContextState::Live, 0);
        }
    }

    #[test]
    fn the_dead_do_not_keep_newcomers_out_of_a_full_table() {
        let root = root();
        let first = Registry::join(&options(&root)).expect("an empty domain");
        fill_the_table(&first);
        // Nobody is due to look for the dead.
        first.map.header().last_sweep().store(u64::MAX / 2, shoal_shm::sync::Ordering::Relaxed);
        let living = LockFile::open(&first.dir, presence::LOCK).expect("the lock file");
        assert!((2..MAX_CONTEXTS).all(|index| living.try_exclusive(life_byte(index)).expect("a lock")));
        let second = Registry::join(&options(&root)).expect("one of the dead makes room");
        assert_eq!(second.context_index(), 1);
        let refused = Registry::join(&options(&root)).err().expect("all the others live");
        assert!(matches!(refused, JoinError::ContextsFull { limit: MAX_CONTEXTS, .. }), "{refused}");
        // Who was refused has left: the two that stayed are still one domain, and the last one out removes it.
        assert!(first.dir.is_current() && first.context_alive(1, second.context_id()));
        drop(living);
        drop(second);
        drop(first);
        std::fs::remove_dir(&root).expect("empty");
    }
}
