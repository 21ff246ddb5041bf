//! Those who live: the contexts of the test's own process, and what they can say of the domain.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use shoal_registry::{ContextLife, JoinOptions, Observer, Registry};
use shoal_rmw::{wait, Context, Node, Outcome};
use shoal_shm::segment::Access;

use crate::common::{context, domain, files, node};
use crate::victim::Victim;

/// A domain with one context that talks, and one that only looks.
pub struct Scene {
    pub domain: usize,
    pub context: Arc<Context>,
    pub node: Arc<Node>,
    probe: Arc<Registry>,
}

/// Where the domains of this test process are.
pub fn root() -> PathBuf {
    std::env::var_os("SHOAL_DIR").expect("set with the first domain").into()
}

pub fn options(root: PathBuf, domain: usize) -> JoinOptions {
    JoinOptions { root, access: Access::Owner, domain: domain.to_string(), enclave: "/".into() }
}

impl Scene {
    pub fn new() -> Self {
        let domain = domain();
        let context = context(domain);
        let node = node(&context, "survivor");
        let probe = Registry::join(&options(root(), domain)).expect("the domain can be joined");
        Self { domain, context, node, probe }
    }

    /// A process in a role, which dies at `step` once it is armed.
    pub fn start(&self, role: &str, step: &'static str) -> Victim {
        Victim::start(&root(), self.domain, role, step, 1)
    }

    pub fn probe(&self) -> &Registry {
        &self.probe
    }

    /// Index of the context of a node.
    pub fn context_of(&self, node: &str) -> u16 {
        let slots = self.probe.snapshot();
        slots.iter().find(|slot| slot.name == node).unwrap_or_else(|| panic!("no node {node}: {slots:?}")).ctx
    }

    /// Whether a thread of the context of this node is said to sleep.
    pub fn is_parked(&self, node: &str) -> bool {
        self.probe.doorbell_of(self.context_of(node)).expect("a doorbell").is_parked()
    }

    pub fn look_for_the_dead(&self) {
        self.probe.sweep_now();
    }

    /// Has the survivor give back what nobody needs any more.
    pub fn collect(&self) {
        assert_eq!(wait(&self.context, &[], &mut [], Some(Duration::ZERO)).expect("it lives"), Outcome::TimedOut);
    }

    /// How many slots of the registry are in use that the graph does not show.
    pub fn hidden_slots(&self) -> usize {
        self.probe.usage().slots - self.probe.snapshot().len()
    }

    /// Files of others than the living.
    pub fn files_of_the_dead(&self) -> Vec<String> {
        let observer = Observer::open(&root(), Access::Owner, &self.domain.to_string()).expect("somebody is there");
        let alive = |view: &shoal_registry::ContextView| view.life == ContextLife::Alive;
        let living: Vec<_> = observer.contexts().iter().filter(|view| alive(view)).map(|view| view.id).collect();
        let known = |name: &String| {
            let id = name.split_once('.').and_then(|(id, _)| u64::from_str_radix(id, 16).ok());
            name == "lock" || name == "registry" || id.is_some_and(|id| living.contains(&id))
        };
        files(self.domain).into_iter().filter(|name| !known(name)).collect()
    }

    /// After a look for the dead the domain has nothing of them left: no context, no slot, no file.
    pub fn is_clean_after_a_look(&self, step: &str) {
        self.look_for_the_dead();
        self.is_clean(step);
    }

    /// The domain has nothing of the dead: two contexts, which are ours, and what the graph shows of them.
    pub fn is_clean(&self, step: &str) {
        self.collect();
        assert_eq!(self.probe.usage().contexts, 2, "{step}: contexts");
        let slots = self.probe.snapshot();
        let own = self.context_of("survivor");
        assert!(slots.iter().all(|slot| slot.ctx == own), "{step}: {slots:?}");
        assert_eq!(self.hidden_slots(), 0, "{step}: slots beside {slots:?}");
        assert_eq!(self.files_of_the_dead(), Vec::<String>::new(), "{step}: files");
    }

    /// A thread of the survivor that sleeps in `wait` until it is woken.
    pub fn sleeper(&self, sleep: impl FnOnce(&Arc<Context>) -> Outcome + Send + 'static) -> Sleeper {
        let (context, (say, heard)) = (self.context.clone(), channel());
        let thread = std::thread::spawn(move || {
            // SAFETY: takes nothing.
            let id = unsafe { libc::gettid() };
            say.send(id).expect("the test listens");
            sleep(&context)
        });
        let stat = format!("/proc/self/task/{}/stat", heard.recv().expect("it says so"));
        Sleeper { thread, stat }
    }

    /// Waits until the thread is really asleep: said to be parked, and so in the kernel's eyes.
    pub fn until_asleep(&self, sleeper: &Sleeper) {
        while !(self.is_parked("survivor") && sleeper.is_asleep()) {
            assert!(!sleeper.thread.is_finished(), "it found something");
            std::thread::yield_now();
        }
    }
}

/// A thread that waits.
pub struct Sleeper {
    thread: JoinHandle<Outcome>,
    stat: String,
}

impl Sleeper {
    /// Whether it sleeps, in the kernel's eyes. Once parked, it does nothing else until it is woken.
    pub fn is_asleep(&self) -> bool {
        state_in(&self.stat) == Some('S')
    }

    /// Waits until it was woken, and answers what for.
    pub fn wakes(self) -> Outcome {
        self.thread.join().expect("it ends")
    }
}

/// The state of a process or thread, as its `stat` file says it; `None` when it is gone.
pub fn state_in(stat: &str) -> Option<char> {
    let text = std::fs::read_to_string(stat).ok()?;
    text.rsplit(')').next()?.trim_start().chars().next()
}
