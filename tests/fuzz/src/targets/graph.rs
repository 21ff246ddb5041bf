//! A damaged registry file under everything that reads or changes it.

use std::sync::Arc;

use shoal_registry::{
    Durability, HotCell, Interest, JoinOptions, Kind, Qos, Registration, Registry, SlotId, TopicHash,
};
use shoal_shm::futex::Deadline;
use shoal_shm::segment::Access;
use shoal_shm::sync::Ordering;

use super::damage::Files;
use super::world::root;
use crate::input::Input;

const KINDS: [Kind; 5] = [Kind::Node, Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client];
const TOPIC: &str = "/t";

fn options() -> JoinOptions {
    JoinOptions { root: root().to_owned(), access: Access::Owner, domain: "graph".into(), enclave: "/e".into() }
}

fn registration(kind: Kind, endpoint: u32) -> Registration<'static> {
    let deadline = if endpoint % 2 == 0 { Qos::INFINITE } else { 1_000 };
    let qos = Qos { deadline, lifespan: deadline, durability: Durability::TransientLocal, ..Qos::default() };
    let type_hash = (1, [7; 32]);
    Registration { kind, name: TOPIC, type_name: "a/msg/B", node: None, type_hash, qos, endpoint, flags: 0 }
}

/// Two contexts with a slot of each kind.
fn join() -> [(Arc<Registry>, Vec<SlotId>); 2] {
    [1, 2].map(|owner| {
        let registry = Registry::join(&options()).expect("a domain of our own");
        let slots = KINDS.iter().enumerate().map(|(n, kind)| {
            let slot = registry.claim(&registration(*kind, owner + n as u32)).expect("an empty domain");
            registry.publish(slot);
            registry.hot(slot.index).expect("a claimed slot").head().store(u64::from(owner), Ordering::Relaxed);
            slot
        });
        let slots = slots.collect();
        (registry, slots)
    })
}

fn read_everything(registry: &Registry, input: &mut Input<'_>) {
    let topic = TopicHash::of(TOPIC);
    for detail in registry.snapshot() {
        assert!(detail.name.len() < 256 && detail.type_name.len() < 256);
        let slot = SlotId { index: detail.slot.index, incarnation: detail.slot.incarnation.wrapping_add(1) };
        assert!(registry.detail(slot).is_none_or(|other| other.slot == slot));
    }
    for key in [0, 1, input.word()] {
        registry.for_each_matching(&KINDS, topic, key, &mut |found| {
            touch(found.hot);
            registry.qos_of(found.slot);
            registry.is_drained(found.slot);
            registry.died(found.slot, found.hot.ctx_id());
        });
    }
    for index in (0..12).chain([63, 64, 65_535, 65_536, u32::MAX, input.word() as u32]) {
        let slot = SlotId { index, incarnation: input.byte().into() };
        registry.detail(slot);
        registry.slot_state(slot);
        registry.hot(index).map(touch);
    }
    for context in [0, 1, 2, 3, 63, 4095, 4096, u16::MAX, input.word() as u16] {
        registry.context_alive(context, input.word());
        registry.enclave_of(context);
        registry.hazard_held(context, input.word());
        registry.doorbell_of(context).map(|bell| bell.ring());
    }
    registry.hazard_held_by_any(input.word());
    registry.hazard_held_by_leaver(input.word());
    registry.usage();
}

/// Takes every word of a hot cell as its readers do.
fn touch(hot: &HotCell) {
    let qos = hot.qos();
    std::hint::black_box((hot.owner(), hot.match_key(), hot.ctx_id(), qos.depth(), qos.for_match(), qos.interest()));
}

fn change_everything(registry: &Registry, slots: &[SlotId], input: &mut Input<'_>) {
    registry.watch_graph();
    registry.sweep();
    registry.sweep_now();
    for slot in slots {
        registry.want(*slot, Interest::MATCHED);
        registry.set_reach(*slot, input.word() as u32);
        registry.ring_matched(*slot);
        match input.byte() % 4 {
            0 => registry.close(*slot),
            1 => registry.withdraw(*slot),
            _ => registry.publish(*slot),
        }
    }
    // It may succeed or fail, as the damage has it.
    if let Ok(slot) = registry.claim(&registration(input.pick(&KINDS), 9)) {
        registry.publish(slot);
        registry.withdraw(slot);
    }
    let parked = registry.park();
    let _ = parked.sleep(Some(Deadline::at(1)));
}

pub(super) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let [(one, ones), (two, twos)] = join();
    let files = Files::open(one.dir());
    for (registry, slots) in [(&one, &ones), (&two, &twos)] {
        files.damage(&mut input);
        read_everything(registry, &mut input);
        change_everything(registry, slots, &mut input);
    }
    files.damage(&mut input);
    drop(Registry::join(&options()));
    if input.byte() % 2 == 0 {
        one.leave();
    }
    drop((one, two));
    assert!(!files_are_left(), "the kernel's locks decide who is the last one out");
}

fn files_are_left() -> bool {
    std::fs::read_dir(root()).is_ok_and(|mut parents| parents.next().is_some())
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seed = |step: u8| -> Vec<u8> { (0..160).map(|i: u8| i.wrapping_mul(step)).collect() };
    (1..9).map(seed).chain([vec![]]).collect()
}
