//! What each primitive costs alone, without the C API and without another process: `cargo bench -p shoal-bench`.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use shoal_rmw::cdr::{Extent, Field, Kind, Layout, Plan};
use shoal_rmw::{
    Context, ContextOptions, Discovery, Encapsulation, Node, Outgoing, Publisher, Qos, Subscription,
    SubscriptionOptions, TypeInfo, CDR_LITTLE_ENDIAN,
};
use shoal_shm::arena::Arena;
use shoal_shm::doorbell::Doorbell;
use shoal_shm::drain;
use shoal_shm::hazard::{scan, HazardTable};
use shoal_shm::ring::{SlotMeta, Writer};
use shoal_shm::sync::{AtomicU32, AtomicU64};

/// Within a slot, in a chunk, and in a long one.
const SIZES: [usize; 3] = [64, 4 << 10, 256 << 10];

fn words(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

/// A commit of a body that is in its place already: the slot, the head, and what the window no longer keeps.
fn ring(c: &mut Criterion) {
    let mut group = c.benchmark_group("ring");
    for size in SIZES {
        let (mut arena, mut writer) = (Arena::heap(), Writer::new(0, 256, 10));
        let (head, desc, body) = (AtomicU64::new(0), AtomicU64::new(0), vec![1; size]);
        let meta = SlotMeta { source_timestamp: 1, related: 0, encapsulation: 0, aux: 0 };
        group.bench_function(BenchmarkId::new("reserve and commit", size), |b| {
            b.iter(|| {
                let reserved = writer.reserve(&mut arena, size).expect("memory");
                writer.commit(&mut arena, reserved, meta, &body, &head, &desc, &mut |_| false).expect("committed")
            });
        });
    }
    group.finish();
}

fn signals(c: &mut Criterion) {
    let mut group = c.benchmark_group("signals");
    let word = AtomicU32::new(0);
    group.bench_function("ring a doorbell where nobody is parked", |b| b.iter(|| Doorbell(black_box(&word)).ring()));
    let (pending, draining) = (AtomicU64::new(0), AtomicU64::new(0));
    group.bench_function("mark what is marked", |b| b.iter(|| drain::mark(black_box(&pending), 1)));
    group.bench_function("mark and take", |b| {
        b.iter(|| {
            drain::mark(&pending, 1);
            let bits = drain::take_pending(&pending, &draining);
            drain::finish(&draining, bits);
        });
    });
    let table_words = words(64);
    let table = HazardTable::new(&table_words);
    group.bench_function("acquire a hazard word and give it back", |b| {
        b.iter(|| drop(black_box(table.acquire().expect("a free word"))));
    });
    group.bench_function("scan the hazards of a context that has none", |b| {
        b.iter(|| scan(black_box(&table_words), 64))
    });
    group.finish();
}

/// A message that is its own CDR.
struct Body(Vec<u8>);

impl Outgoing for Body {
    fn size(&self) -> shoal_rmw::Result<usize> {
        Ok(self.0.len())
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> shoal_rmw::Result<usize> {
        out.copy_from_slice(&self.0);
        Ok(self.0.len())
    }
}

/// A publisher and a subscription of one context, in a directory of its own that goes with it.
struct Pair {
    publisher: Arc<Publisher>,
    subscription: Arc<Subscription>,
}

impl Pair {
    fn new() -> Pair {
        let discovery = Discovery::Off;
        let options = ContextOptions { domain_id: 0, enclave: "/".into(), discovery, security_enforced: false };
        let context = Context::new(options).expect("a context");
        let node = Node::new(&context, "bench", "/").expect("a node");
        let ty =
            || TypeInfo { name: "bench/msg/Body".into(), hash: (1, [7; 32]), fixed_size: None, loanable_size: None };
        let subscription = Subscription::new(&node, "/t", ty(), Qos::default(), SubscriptionOptions::default());
        let publisher = Publisher::new(&node, "/t", ty(), Qos::default()).expect("a publisher");
        Pair { publisher, subscription: subscription.expect("a subscription") }
    }
}

fn samples(c: &mut Criterion) {
    let mut group = c.benchmark_group("samples");
    for size in SIZES {
        let (pair, body, mut got) = (Pair::new(), Body(vec![1; size]), vec![0u8; size]);
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::new("publish to a reader that is behind", size), |b| {
            b.iter(|| pair.publisher.publish(&body).expect("published"));
        });
        group.bench_function(BenchmarkId::new("publish and take", size), |b| {
            b.iter(|| {
                pair.publisher.publish(&body).expect("published");
                let taken = pair.subscription.take(&mut |incoming| {
                    // SAFETY: the body is good for `len` bytes during the call, and not longer than what was sent.
                    unsafe { std::ptr::copy_nonoverlapping(incoming.ptr, got.as_mut_ptr(), incoming.len.min(size)) };
                    Ok(())
                });
                taken.expect("taken")
            });
        });
    }
    group.finish();
}

/// Sixteen numbers of 8 bytes, each after a byte: no two fields are one copy.
fn cdr(c: &mut Criterion) {
    const FIELDS: usize = 32;
    let field = |i: usize| Field {
        name: format!("f{i}"),
        offset: i * 8,
        kind: Kind::Primitive { width: if i % 2 == 0 { 1 } else { 8 } },
        extent: Extent::One,
    };
    let fields = (0..FIELDS).map(field).collect();
    let layout = Layout { name: "bench/msg/Fields".into(), size_of: FIELDS * 8, fields };
    let plan = Plan::compile(&layout).expect("compiles");
    let (mut message, mut out) = (vec![1u64; FIELDS], vec![0u8; FIELDS * 8]);
    let at: *const u8 = message.as_ptr().cast();
    // SAFETY: a structure of the layout, which holds numbers only.
    let size = unsafe { plan.size(at) }.expect("a size");
    let mut group = c.benchmark_group("cdr");
    // SAFETY: as above.
    group.bench_function("encode 32 fields", |b| b.iter(|| unsafe { plan.encode(black_box(at), &mut out) }));
    let to: *mut u8 = message.as_mut_ptr().cast();
    let body = out.as_ptr();
    group.bench_function("decode 32 fields", |b| {
        // SAFETY: as above; the body has `size` bytes.
        b.iter(|| unsafe { plan.decode(CDR_LITTLE_ENDIAN, black_box(body), size, to) });
    });
    group.finish();
}

#[allow(missing_docs, reason = "made by the macro")]
mod group {
    use super::*;
    criterion_group!(benches, ring, signals, samples, cdr);
}
criterion_main!(group::benches);
