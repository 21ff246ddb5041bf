//! Who is rung when a peer comes or goes: whom it concerns, and nobody else.

mod common;

use common::{watchdog, Root};
use shoal_registry::{Interest, Kind, Qos, Registration, Registry, Reliability, SlotId};

const RELIABLE: Qos = Qos {
    history: shoal_registry::History::KeepLast,
    depth: 1,
    reliability: Reliability::Reliable,
    durability: shoal_registry::Durability::Volatile,
    liveliness: shoal_registry::Liveliness::Automatic,
    deadline: Qos::INFINITE,
    lifespan: Qos::INFINITE,
    lease: Qos::INFINITE,
};
const BEST_EFFORT: Qos = Qos { reliability: Reliability::BestEffort, ..RELIABLE };
/// Fits nothing but itself, and only the detail slot says so.
const SLOW: Qos = Qos { deadline: 5, ..RELIABLE };
const SHORT_LIVED: Qos = Qos { lifespan: 1, ..RELIABLE };
const FAST: Qos = Qos { deadline: 4, ..RELIABLE };

fn enter(registry: &Registry, kind: Kind, topic: &str, ty: &str, qos: Qos) -> SlotId {
    let r = Registration {
        kind,
        name: topic,
        type_name: ty,
        node: None,
        type_hash: (1, [1; 32]),
        qos,
        endpoint: 1,
        flags: 0,
    };
    let slot = registry.claim(&r).expect("room");
    registry.publish(slot);
    slot
}

/// Whether `change` rings the doorbell of `sleeper`.
fn rings(sleeper: &Registry, change: impl FnOnce()) -> bool {
    let _ = sleeper.doorbell().arm();
    change();
    !sleeper.doorbell().is_parked()
}

#[test]
fn a_change_rings_whom_it_concerns_and_nobody_else() {
    let _dog = watchdog(60);
    let root = Root::new();
    let (here, there) = (root.join(), root.join());
    let wishes = [Interest::MATCHED, Interest::INCOMPATIBLE_QOS, Interest::INCOMPATIBLE_TYPE];
    // Topic, type and offer of a newcomer, whom its coming concerns, whom its going.
    let newcomers = [
        ("/t", "a/msg/B", RELIABLE, Some(Interest::MATCHED), Some(Interest::MATCHED)),
        ("/t", "a/msg/B", FAST, Some(Interest::MATCHED), Some(Interest::MATCHED)),
        ("/t", "a/msg/B", SHORT_LIVED, Some(Interest::MATCHED), Some(Interest::MATCHED)),
        ("/t", "a/msg/C", RELIABLE, Some(Interest::INCOMPATIBLE_TYPE), None),
        ("/u", "a/msg/B", RELIABLE, None, None),
    ];
    for wish in wishes {
        let reader = enter(&here, Kind::Subscription, "/t", "a/msg/B", RELIABLE);
        here.want(reader, wish);
        for (topic, ty, offer, coming, going) in newcomers {
            let mut slot = None;
            let came = rings(&here, || slot = Some(enter(&there, Kind::Publisher, topic, ty, offer)));
            assert_eq!(came, coming == Some(wish), "{topic} {ty} {offer:?} came, {wish:?}");
            let went = rings(&here, || there.withdraw(slot.expect("entered")));
            assert_eq!(went, going == Some(wish), "{topic} {ty} {offer:?} went, {wish:?}");
        }
        // The same kind, or another kind of the same name, is no peer.
        for kind in [Kind::Subscription, Kind::Service, Kind::Client, Kind::Node] {
            assert!(!rings(&here, || there.withdraw(enter(&there, kind, "/t", "a/msg/B", BEST_EFFORT))), "{kind:?}");
        }
        here.withdraw(reader);
    }
}

#[test]
fn mismatches_ring_on_both_sides_and_in_both_orders() {
    let _dog = watchdog(60);
    let root = Root::new();
    let (here, there) = (root.join(), root.join());
    for (offered, requested, fits) in
        [(BEST_EFFORT, RELIABLE, false), (SLOW, FAST, false), (FAST, SLOW, true), (RELIABLE, BEST_EFFORT, true)]
    {
        for (first, second, own, other) in [
            (Kind::Publisher, Kind::Subscription, offered, requested),
            (Kind::Subscription, Kind::Publisher, requested, offered),
        ] {
            let waiting = enter(&here, first, "/t", "a/msg/B", own);
            here.want(waiting, Interest::INCOMPATIBLE_QOS);
            let rung = rings(&here, || there.withdraw(enter(&there, second, "/t", "a/msg/B", other)));
            assert_eq!(rung, !fits, "{own:?} {first:?} first");
            here.withdraw(waiting);
        }
    }
}

#[test]
fn wishes_end_with_their_tenant_and_touch_no_other_slot() {
    let _dog = watchdog(60);
    let root = Root::new();
    let (here, there) = (root.join(), root.join());
    let foreign = enter(&there, Kind::Subscription, "/t", "a/msg/B", RELIABLE);
    here.want(foreign, Interest::MATCHED);
    assert_eq!(here.hot(foreign.index).expect("in use").qos().interest(), Interest::default());
    let own = enter(&here, Kind::Subscription, "/t", "a/msg/B", RELIABLE);
    here.want(own, Interest::MATCHED);
    assert_eq!(here.hot(own.index).expect("in use").qos().for_match(), Some(RELIABLE), "no part of the profile");
    here.withdraw(own);
    let next = enter(&here, Kind::Subscription, "/t", "a/msg/B", RELIABLE);
    assert_eq!(here.hot(next.index).expect("in use").qos().interest(), Interest::default());
    here.leave();
    here.want(next, Interest::MATCHED);
    assert_eq!(there.hot(next.index).expect("committed").qos().interest(), Interest::default());
}
