//! The processes that are killed. Each does one thing, over and over, until it is killed or has done it often enough.

mod work;

use super::board::{Board, Fault, Slot, SLOTS};
use super::sequence::Sequence;
use super::survivors::{stream_subscription, victims_service, ECHO, LARGE};
use super::talk::{join, keep_all, streams, Talker, DOMAIN};
use crate::payload::{fixed_type, mix, Mark, Message};
use crate::process;
use shoal_registry::{JoinOptions, Registry};
use shoal_rmw::{
    Context, EventKind, GuardCondition, Incoming, Liveliness, Node, Publisher, Qos, Subscription, Waitable,
};
use shoal_shm::segment::Access;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// A kind of victim.
pub type Victim = (&'static str, fn(&Life));

/// All of them.
pub const VICTIMS: [Victim; 22] = [
    ("publisher", |v| v.publish("/v/flow", Qos::default(), 64, |_| 100)),
    ("latched publisher", |v| v.publish("/v/latched", super::talk::deep_latched(), 64, |_| 100)),
    ("large chunks", |v| v.publish("/v/flow", Qos::default(), 64, |random| 300 + random as usize % 100_000)),
    ("KEEP_ALL publisher", |v| v.publish("/v/all", keep_all(), 256, |random| 24 + random as usize % 1000)),
    ("growing ring", |v| v.publish("/v/latched", Qos { depth: 400, ..super::talk::deep_latched() }, 500, |_| 24)),
    ("bursts that nobody reads", Life::burst),
    ("blocked publisher", Life::block),
    ("lender", Life::lend),
    ("worker", Life::work),
    ("subscription", |v| v.subscribe(false)),
    ("filtering subscription", |v| v.subscribe(true)),
    ("holder of loans", Life::hold_loans),
    ("service", Life::serve),
    ("client", Life::ask),
    ("registrant", Life::register),
    ("reaper", Life::reap),
    ("waiter", Life::wait),
    ("callbacks and events", Life::be_told),
    ("comer and goer", Life::come_and_go),
    ("lonely", Life::be_lonely),
    ("forker", Life::fork),
    ("execve", Life::become_another),
];

/// The domain in which the lonely victim of a slot is alone.
pub fn lonely_domain(slot: usize) -> usize {
    1000 + slot
}

/// One victim's life.
pub struct Life {
    talk: Talker,
    board: &'static Board,
    slot: &'static Slot,
    number: u64,
    random: Cell<u64>,
}

impl Life {
    /// A life of the number that stands in its slot.
    pub fn new(board: &'static Board, slot: &'static Slot, name: &'static str, seed: u64) -> Self {
        let number = slot.life.load(Ordering::Acquire);
        Self { talk: Talker { board, name }, board, slot, number, random: Cell::new(mix(seed ^ number)) }
    }

    fn random(&self) -> u64 {
        self.random.set(mix(self.random.get()));
        self.random.get()
    }

    fn home(&self) -> usize {
        self.number as usize % SLOTS
    }

    /// What was sent is counted when the call has returned.
    fn send(&self, publisher: &Publisher, len: usize) {
        let number = self.slot.sent.load(Ordering::Relaxed) + 1;
        self.talk.send(publisher, Mark { life: self.number, number }, len);
        self.slot.sent.store(number, Ordering::Release);
    }

    fn publish(&self, topic: &str, qos: Qos, count: usize, len: fn(u64) -> usize) {
        let (_context, node) = self.talk.start();
        let publisher = self.talk.publisher(&node, topic, qos);
        (0..count).for_each(|_| self.send(&publisher, len(self.random())));
        self.talk.ok("end a day", publisher.end_of_day());
        self.talk.ok("end the stream", publisher.finish());
    }

    /// Samples that grow and fit into nothing that was freed, so that memory is given back to the file system.
    fn burst(&self) {
        let (_context, node) = self.talk.start();
        let publisher = self.talk.publisher(&node, "/nobody", Qos::default());
        for number in 1..=40 {
            let len = (64 << 10) << (number % 7);
            self.talk.send(&publisher, Mark { life: self.number, number }, len as usize);
        }
    }

    /// A publisher that waits for its reader, and gets room.
    fn block(&self) {
        let (_context, node) = self.talk.start();
        let topic = format!("/blocked{}", self.home());
        let reader = self.talk.subscription(&node, &topic, keep_all());
        let publisher = self.talk.publisher(&node, &topic, keep_all());
        // 256 MiB may be in flight.
        let message = Message::new(Mark { life: self.number, number: 1 }, 4 << 20);
        let mut row = 0;
        while publisher.publish(&message).is_ok() {
            row += 1;
        }
        for _ in 0..2 {
            for _ in 0..row / 2 {
                self.talk.take(&reader);
            }
            while publisher.publish(&message).is_ok() {}
        }
    }

    fn lend(&self) {
        let (_context, node) = self.talk.start();
        let t = &self.talk;
        let publisher = t.ok("create", Publisher::new(&node, "/v/lent", fixed_type(LARGE), Qos::default()));
        for _ in 0..64 {
            let at = t.ok("borrow", publisher.borrow_loan());
            if self.random() % 4 == 0 {
                t.ok("give back", publisher.return_loan(at.as_ptr()));
                continue;
            }
            let number = self.slot.sent.load(Ordering::Relaxed) + 1;
            let message = Message::new(Mark { life: self.number, number }, LARGE);
            // SAFETY: lent memory of LARGE bytes, which nobody else looks at.
            unsafe { at.as_ptr().copy_from_nonoverlapping(message.0.as_ptr(), LARGE) };
            t.ok("publish a loan", publisher.publish_loan(at.as_ptr()));
            self.slot.sent.store(number, Ordering::Release);
        }
    }

    /// Reads the talker. Nothing comes twice or too early; KEEP_ALL leaves nothing out.
    fn subscribe(&self, filter: bool) {
        let (context, node) = self.talk.start();
        let readers = streams().map(|(topic, qos)| stream_subscription(&self.talk, &node, topic, qos));
        if filter {
            readers.iter().for_each(|reader| reader.set_filter(Some(Arc::new(Even))));
        }
        let items: Vec<_> = readers.iter().map(|reader| Waitable::Subscription(reader)).collect();
        let mut rows = [None::<Sequence>; super::board::STREAMS];
        for _ in 0..300 {
            self.talk.wait(&context, &items, Duration::from_millis(50));
            for (stream, reader) in readers.iter().enumerate() {
                let lossless = streams()[stream].0 == "/all" && !filter;
                while let Some(mark) = self.talk.take(reader) {
                    let row = rows[stream].get_or_insert(Sequence::after(mark.number - 1));
                    let judgement = if lossless { row.next(mark.number) } else { row.later(mark.number) };
                    if let Err((fault, due)) = judgement {
                        let topic = streams()[stream].0;
                        self.board
                            .fault(fault, format_args!("a {} got {mark:?} on {topic}, {due} was due", self.talk.name));
                    }
                }
            }
        }
    }

    fn hold_loans(&self) {
        let (context, node) = self.talk.start();
        let qos = Qos { depth: 64, ..Qos::default() };
        let reader = stream_subscription(&self.talk, &node, "/large", qos);
        let mut held: Vec<(*const u8, Vec<u8>)> = Vec::new();
        for _ in 0..300 {
            self.talk.wait(&context, &[Waitable::Subscription(&reader)], Duration::from_millis(50));
            let copy = &mut |incoming: Incoming| Ok(words(&crate::payload::copied(incoming)));
            while let Some((at, _)) = self.talk.ok("take a loan", reader.take_loan(true, copy)) {
                let now = peek(at);
                self.talk.mark(&now);
                held.push((at, now));
                if held.len() > 1 + self.random() as usize % 20 {
                    self.give_back(&reader, held.swap_remove(0));
                }
            }
        }
        held.into_iter().for_each(|loan| self.give_back(&reader, loan));
    }

    fn give_back(&self, reader: &Subscription, (at, then): (*const u8, Vec<u8>)) {
        if peek(at) != then {
            self.board.fault(Fault::Corrupt, format_args!("a loan changed while it was held"));
        }
        self.talk.ok("give back", reader.return_loan(at));
    }

    fn serve(&self) {
        let (context, node) = self.talk.start();
        let service = self.talk.service(&node, &victims_service(self.home()));
        for _ in 0..50 {
            self.talk.wait(&context, &[Waitable::Service(&service)], Duration::from_millis(20));
            while let Some((_, info)) = self.talk.take_request(&service) {
                let number = self.slot.sent.load(Ordering::Relaxed) + 1;
                let answer = Message::new(Mark { life: self.number, number }, 100);
                self.talk.ok("respond", service.respond(info.client, info.sequence, &answer));
                self.slot.sent.store(number, Ordering::Release);
            }
        }
    }

    fn ask(&self) {
        let (context, node) = self.talk.start();
        let client = self.talk.client(&node, ECHO);
        while !self.talk.ok("look for the server", client.server_available()) {}
        for number in 1..=200 {
            let question = Mark { life: self.number, number };
            self.talk.ok("ask", client.send(&Message::new(question, 24 + self.random() as usize % 500)));
            loop {
                match self.talk.take_response(&client) {
                    Some((mark, _)) if mark == question => break,
                    Some((mark, _)) => {
                        self.board.fault(Fault::Doubled, format_args!("a client got {mark:?}, not {question:?}"));
                    }
                    None if self.talk.wait(&context, &[Waitable::Client(&client)], super::talk::PATIENCE) => {}
                    None => return self.board.fault(Fault::Hang, format_args!("no answer to {question:?}")),
                }
            }
        }
    }

    fn register(&self) {
        let (_context, node) = self.talk.start();
        let mut made: Vec<Box<dyn std::any::Any>> = Vec::new();
        for _ in 0..300 {
            let random = self.random();
            if made.len() > 8 || random % 3 == 0 {
                made.truncate(made.len().saturating_sub(1 + random as usize / 3 % 4));
                continue;
            }
            let topic = ["/flow", "/v/flow", "/latched", "/v/all", "/large"][(random >> 8) as usize % 5];
            let qos = [Qos::default(), keep_all(), super::talk::deep_latched()][(random >> 16) as usize % 3];
            made.push(match (random >> 24) % 5 {
                0 => Box::new(self.talk.ok("create", Node::new(node.context(), "extra", "/"))),
                1 => Box::new(self.talk.publisher(&node, topic, qos)),
                2 => Box::new(stream_subscription(&self.talk, &node, topic, qos)),
                3 => Box::new(self.talk.client(&node, ECHO)),
                _ => Box::new(self.talk.service(&node, "/s/other")),
            });
        }
    }

    fn reap(&self) {
        let root = std::env::var_os("SHOAL_DIR").map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
        let options = JoinOptions { root, access: Access::Owner, domain: DOMAIN.to_string(), enclave: "/".into() };
        for _ in 0..20 {
            match Registry::join(&options) {
                Ok(registry) => (0..20).for_each(|_| registry.sweep_now()),
                Err(error) => self.board.fault(Fault::Failed, format_args!("a reaper cannot join: {error}")),
            }
        }
    }

    fn wait(&self) {
        let (context, node) = self.talk.start();
        let reader = stream_subscription(&self.talk, &node, "/flow", Qos { depth: 1, ..Qos::default() });
        let guard = GuardCondition::new(&context);
        let graph = node.graph_guard();
        std::thread::scope(|scope| {
            let (trigger, talk, other) = (guard.clone(), self.talk, &context);
            scope.spawn(move || (0..200).for_each(|_| trigger.trigger()));
            scope.spawn(move || {
                for _ in 0..50 {
                    talk.wait(other, &[Waitable::Guard(graph)], Duration::from_millis(5));
                }
            });
            for _ in 0..200 {
                let items = [Waitable::Guard(&guard), Waitable::Subscription(&reader)];
                self.talk.wait(&context, &items, Duration::from_millis(20));
                self.talk.take(&reader);
            }
        });
    }

    fn be_told(&self) {
        let (context, node) = self.talk.start();
        let reader = stream_subscription(&self.talk, &node, "/flow", Qos { deadline: 2_000_000, ..Qos::default() });
        let lease = Qos { liveliness: Liveliness::ManualByTopic, lease: 3_000_000, ..Qos::default() };
        let publisher = self.talk.publisher(&node, "/v/flow", lease);
        let client = self.talk.client(&node, ECHO);
        let ignore: shoal_rmw::Callback = Arc::new(|_| ());
        self.talk.ok("set a callback", reader.on_new_message(Some(ignore.clone())));
        self.talk.ok("set a callback", client.on_new_response(Some(ignore.clone())));
        let kinds = [EventKind::Matched, EventKind::Liveliness, EventKind::DeadlineMissed];
        for kind in kinds {
            self.talk.ok("set a callback", reader.event(kind).on_new(Some(ignore.clone())));
            self.talk.ok("set a callback", publisher.event(kind).on_new(Some(ignore.clone())));
        }
        for _ in 0..30 {
            self.send(&publisher, 100);
            self.talk.ok("assert", publisher.assert_liveliness());
            self.talk.ok(
                "ask",
                client.send(&Message::new(
                    Mark { life: self.number, number: self.slot.sent.load(Ordering::Relaxed) },
                    24,
                )),
            );
            let items = kinds.map(|kind| Waitable::Event(reader.event(kind)));
            self.talk.wait(&context, &items, Duration::from_millis(5));
            for kind in kinds {
                self.talk.ok("take an event", reader.event(kind).take());
            }
            self.talk.take(&reader);
        }
    }

    /// Publishes once and exits, again and again.
    fn come_and_go(&self) {
        for _ in 0..20 {
            let (_context, node) = self.talk.start();
            let _reader = stream_subscription(&self.talk, &node, "/flow", Qos::default());
            self.send(&self.talk.publisher(&node, "/v/flow", Qos::default()), 100);
        }
    }

    /// Creates a domain and removes it again.
    fn be_lonely(&self) {
        for _ in 0..20 {
            let context: Arc<Context> = self.talk.ok("join alone", join(lonely_domain(self.home())));
            let node = self.talk.ok("create a node", Node::new(&context, "lonely", "/"));
            let publisher = self.talk.publisher(&node, "/alone", super::talk::deep_latched());
            let mark = Mark { life: self.number, number: 1 };
            self.talk.send(&publisher, mark, 300);
            let reader = self.talk.subscription(&node, "/alone", super::talk::deep_latched());
            let got = self.talk.take(&reader);
            if got != Some(mark) {
                self.board.fault(Fault::Lost, format_args!("a lonely process got {got:?}, not {mark:?}"));
            }
        }
    }

    /// Forks after it has joined. The child has no part in the context, and may outlive it.
    fn fork(&self) {
        let (context, node) = self.talk.start();
        let publisher = self.talk.publisher(&node, "/v/flow", Qos::default());
        self.send(&publisher, 100);
        for _ in 0..5 {
            let child = process::fork_into(|| {
                let refused = publisher.publish(&Message::new(Mark { life: self.number, number: 999 }, 24)).is_err();
                let refused = refused && shoal_rmw::graph::node_names(&context).is_err();
                std::thread::sleep(Duration::from_micros(self.random() % 3000));
                i32::from(!refused)
            });
            let Ok(child) = child else { return self.board.fault(Fault::Failed, "cannot fork") };
            self.send(&publisher, 100);
            if self.random() % 2 == 0 {
                process::signal(child, nix::sys::signal::Signal::SIGKILL);
            }
            let end = nix::sys::wait::waitpid(child, None);
            if matches!(end, Ok(nix::sys::wait::WaitStatus::Exited(_, code)) if code != 0) {
                self.board.fault(Fault::Failed, format_args!("a forked child could act for its parent: {end:?}"));
            }
        }
    }

    /// Becomes another program, which lives on; its context died with it.
    fn become_another(&self) {
        let (_context, node) = self.talk.start();
        let publisher = self.talk.publisher(&node, "/v/latched", super::talk::deep_latched());
        (0..self.random() % 20).for_each(|_| self.send(&publisher, 100));
        let path = std::ffi::CString::new("/proc/self/exe").expect("no NUL");
        let arguments = ["storm", "--sleeper"].map(|argument| std::ffi::CString::new(argument).expect("no NUL"));
        let failed = nix::unistd::execv(&path, &arguments);
        self.board.fault(Fault::Failed, format_args!("cannot execute myself: {failed:?}"));
    }
}

/// Lets pass what has an even number.
#[derive(Debug)]
struct Even;

impl shoal_rmw::filter::SampleFilter for Even {
    fn accepts(&self, sample: Incoming) -> bool {
        crate::payload::copied(sample).get(8).is_none_or(|low| low % 2 == 0)
    }
}

/// What a loan of [`LARGE`] bytes holds now.
fn peek(at: *const u8) -> Vec<u8> {
    // SAFETY: a message of LARGE bytes on loan.
    unsafe { std::slice::from_raw_parts(at, LARGE) }.to_vec()
}

fn words(bytes: &[u8]) -> Box<[u64]> {
    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect()
}
