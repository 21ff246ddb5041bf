//! Damaged registry and segments under the whole middleware: one context writes, another reads, in every way there is.

use std::sync::Arc;
use std::time::Duration;

use shoal_rmw::filter::SampleFilter;
use shoal_rmw::{
    graph, wait, Client, Context, ContextOptions, Discovery, Durability, Encapsulation, EventKind, History, Incoming,
    Kind, Node, Outgoing, Publisher, Qos, Result, Service, Subscription, SubscriptionOptions, TypeInfo, Waitable,
    CDR_LITTLE_ENDIAN,
};
use shoal_shm::segment::{Access, DomainDir};

use super::damage::Files;
use super::world::root;
use crate::input::Input;

const DOMAIN: usize = 90;
/// Bytes of a message that can be loaned, and is too long for a slot.
const LARGE: usize = 4096;
/// Samples that a reader may be given, more than all of them: each take is bounded by the depths, which are below 100.
const MOST_TAKES: usize = 1000;

struct Bytes(usize);

impl Outgoing for Bytes {
    fn size(&self) -> Result<usize> {
        Ok(self.0)
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        out.fill(1);
        Ok(out.len())
    }
}

/// Reads every byte, and answers whether their sum is even.
fn touch(at: *const u8, len: usize) -> bool {
    // SAFETY: what is given out is readable for its length; that is what is tested here.
    (0..len).fold(0_u8, |sum, i| sum ^ unsafe { at.wrapping_add(i).read_volatile() }) % 2 == 0
}

fn sink(sample: Incoming) -> Result<()> {
    touch(sample.ptr, sample.len);
    Ok(())
}

#[derive(Debug)]
struct Even;

impl SampleFilter for Even {
    fn accepts(&self, sample: Incoming) -> bool {
        touch(sample.ptr, sample.len)
    }
}

fn ty(size: Option<usize>) -> TypeInfo {
    let name = format!("a/msg/B{}", size.unwrap_or(0));
    TypeInfo { name, hash: (1, [7; 32]), fixed_size: size, loanable_size: size }
}

fn latched(depth: u32) -> Qos {
    Qos { depth, durability: Durability::TransientLocal, deadline: 1_000_000, ..Qos::default() }
}

/// Reliable and KEEP_ALL: with acknowledgements.
fn lossless() -> Qos {
    Qos { history: History::KeepAll, lifespan: 1_000_000_000, ..latched(10) }
}

fn join(name: &str) -> (Arc<Context>, Arc<Node>) {
    let discovery = Discovery::Localhost;
    let options = ContextOptions { domain_id: DOMAIN, enclave: "/".into(), discovery, security_enforced: false };
    let context = Context::new(options).expect("a domain of our own");
    let node = Node::new(&context, name, "/").expect("an empty domain");
    (context, node)
}

/// Who writes what is damaged then.
struct Writer {
    small: Arc<Publisher>,
    large: Arc<Publisher>,
    all: Arc<Publisher>,
    service: Arc<Service>,
    reader: Arc<Subscription>,
}

impl Writer {
    fn new(node: &Arc<Node>) -> Writer {
        let publisher = |topic, ty, qos| Publisher::new(node, topic, ty, qos).expect("an empty domain");
        let options = SubscriptionOptions::default();
        Writer {
            small: publisher("/small", ty(None), latched(5)),
            large: publisher("/large", ty(Some(LARGE)), latched(3)),
            all: publisher("/all", ty(None), lossless()),
            service: Service::new(node, "/srv", ty(None), Qos::default()).expect("an empty domain"),
            reader: Subscription::new(node, "/back", ty(None), lossless(), options).expect("an empty domain"),
        }
    }

    fn publish(&self) {
        // Under damage it may fail.
        for size in [0, 100, 700] {
            let _ = (self.small.publish(&Bytes(size)), self.all.publish(&Bytes(size)));
        }
        if let Ok(at) = self.large.borrow_loan() {
            let _ = self.large.publish_loan(at.as_ptr());
        }
        let _ = self.large.publish(&Bytes(LARGE));
    }

    fn answer(&self) {
        for _ in 0..MOST_TAKES {
            let Ok(Some(info)) = self.service.take(&mut sink) else { return };
            let _ = self.service.respond(info.client, info.sequence, &Bytes(60));
            let _ = self.service.respond(info.client, info.sequence, &Bytes(3000));
        }
        panic!("requests without end");
    }
}

fn take_all(subscription: &Subscription) {
    let ended = (0..MOST_TAKES).any(|_| !matches!(subscription.take(&mut sink), Ok(Some(_))));
    assert!(ended, "samples without end");
}

/// Takes loans, reads them whole, and gives half of them back; the others go with the subscription.
fn borrow_all(subscription: &Subscription) {
    let copy = |sample: Incoming| -> Result<Box<[u64]>> {
        sink(sample)?;
        Ok(vec![0; LARGE / 8].into())
    };
    let loans = (0..10).map_while(|_| subscription.take_loan(true, &mut { copy }).ok().flatten());
    for (n, (at, _)) in loans.enumerate() {
        touch(at, LARGE);
        assert!(n % 2 == 1 || subscription.return_loan(at).is_ok());
    }
}

fn look_at_events(publisher: &Publisher, subscription: &Subscription) {
    use EventKind::*;
    for kind in [Matched, IncompatibleQos, IncompatibleType, DeadlineMissed, Liveliness, MessageLost] {
        for event in [publisher.event(kind), subscription.event(kind)] {
            let _ = (event.is_ready(), event.pending_count(), event.next_moment(), event.take());
        }
    }
}

fn ask_for_the_graph(context: &Arc<Context>) {
    let _ =
        (graph::node_names(context), graph::topic_names_and_types(context), graph::service_names_and_types(context));
    for kind in [Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client] {
        let _ = (graph::by_node(context, "writer", "/", kind), graph::count(context, kind, "/small"));
        let _ = graph::endpoints(context, kind, "/all");
    }
}

/// Who reads. Damage goes on between its steps.
fn read(node: &Arc<Node>, client: &Client, damage: &mut dyn FnMut()) -> Option<()> {
    let context = node.context();
    let subscribe = |topic, ty, qos, filter: Option<Arc<dyn SampleFilter>>| {
        let options = SubscriptionOptions { ignore_local_publications: false, filter };
        Subscription::new(node, topic, ty, qos, options).ok()
    };
    let plain = subscribe("/small", ty(None), latched(3), None)?;
    let filtered = subscribe("/small", ty(None), latched(3), Some(Arc::new(Even)))?;
    let lent = subscribe("/large", ty(Some(LARGE)), latched(3), None)?;
    let all = subscribe("/all", ty(None), lossless(), None)?;
    let back = Publisher::new(node, "/back", ty(None), lossless()).ok()?;
    damage();
    let items = [&plain, &filtered, &lent, &all].map(|one| Waitable::Subscription(one));
    let _ = wait(context, &items, &mut [false; 4], Some(Duration::ZERO));
    borrow_all(&lent);
    [&plain, &filtered, &all].into_iter().for_each(|subscription| take_all(subscription));
    let _ = (back.publish(&Bytes(20)), back.publish(&Bytes(2000)), back.matched_subscriptions());
    damage();
    let taken = (0..MOST_TAKES).any(|_| !client.has_data() || !matches!(client.take(&mut sink), Ok(Some(_))));
    assert!(taken, "responses without end");
    let _ = (client.server_available(), all.matched_publishers(), client.send(&Bytes(3000)));
    look_at_events(&back, &all);
    ask_for_the_graph(context);
    Some(())
}

pub(super) fn run(bytes: &[u8]) {
    root();
    let mut input = Input(bytes);
    let (one, writers) = join("writer");
    let (two, readers) = join("reader");
    let writer = Writer::new(&writers);
    let client = Client::new(&readers, "/srv", ty(None), Qos::default()).expect("an empty domain");
    writer.publish();
    for size in [40, 2000] {
        client.send(&Bytes(size)).expect("an empty domain");
    }
    writer.answer();
    let files = Files::open(&dir());
    files.damage(&mut input);
    read(&readers, &client, &mut || files.damage(&mut input));
    writer.publish();
    writer.answer();
    take_all(&writer.reader);
    if input.byte() % 2 == 0 {
        let _ = (one.shutdown(), two.shutdown());
    }
}

fn dir() -> DomainDir {
    DomainDir::open_or_create(root(), Access::Owner, &DOMAIN.to_string()).expect("the domain's directory")
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seed = |step: u8| -> Vec<u8> { (0..200).map(|i: u8| i.wrapping_mul(step)).collect() };
    (1..9).map(seed).chain([vec![]]).collect()
}
