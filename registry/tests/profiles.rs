//! Random profiles: who may match whom by the rules of DDS, written out; and what the packings keep.

mod common;
use common::*;
use proptest::prelude::*;
use shoal_registry::*;

/// Few values, so that equal ones, neighbours and the ends meet.
fn duration() -> impl Strategy<Value = i64> {
    prop_oneof![0..3_i64, Just(1_000_000_000), Just(Qos::INFINITE - 1), Just(Qos::INFINITE)]
}

fn profile() -> impl Strategy<Value = Qos> {
    let kinds = (
        prop::sample::select(vec![History::KeepLast, History::KeepAll]),
        prop::sample::select(vec![Reliability::BestEffort, Reliability::Reliable]),
        prop::sample::select(vec![Durability::Volatile, Durability::TransientLocal]),
        prop::sample::select(vec![Liveliness::Automatic, Liveliness::ManualByNode, Liveliness::ManualByTopic]),
    );
    (kinds, any::<u32>(), duration(), duration(), duration()).prop_map(
        |((history, reliability, durability, liveliness), depth, deadline, lifespan, lease)| Qos {
            history,
            depth,
            reliability,
            durability,
            liveliness,
            deadline,
            lifespan,
            lease,
        },
    )
}

/// The table of the DDS specification (2.2.3), policy by policy, as sets of pairs that do not match.
fn refusals(offered: &Qos, requested: &Qos) -> Vec<PolicyKind> {
    use Liveliness::{Automatic, ManualByNode, ManualByTopic};
    let mut refused = Vec::new();
    if (offered.reliability, requested.reliability) == (Reliability::BestEffort, Reliability::Reliable) {
        refused.push(PolicyKind::Reliability);
    }
    if (offered.durability, requested.durability) == (Durability::Volatile, Durability::TransientLocal) {
        refused.push(PolicyKind::Durability);
    }
    if offered.deadline > requested.deadline {
        refused.push(PolicyKind::Deadline);
    }
    let weaker = [(Automatic, ManualByNode), (Automatic, ManualByTopic), (ManualByNode, ManualByTopic)];
    if weaker.contains(&(offered.liveliness, requested.liveliness)) {
        refused.push(PolicyKind::Liveliness);
    }
    if offered.lease > requested.lease {
        refused.push(PolicyKind::LivelinessLeaseDuration);
    }
    refused
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn profiles_match_by_the_table_of_the_specification(offered in profile(), requested in profile()) {
        let refused = refusals(&offered, &requested);
        match qos_compatible(&offered, &requested) {
            Ok(()) => prop_assert!(refused.is_empty(), "{refused:?}"),
            Err(policy) => prop_assert_eq!(Some(&policy), refused.first()),
        }
    }

    /// A decision by the hot cell alone, where it says that it is enough, is the decision by the whole profiles.
    #[test]
    fn the_packed_profile_decides_as_the_whole_one(offered in profile(), requested in profile()) {
        let whole = qos_compatible(&offered, &requested);
        if let Some(packed) = HotQos::pack(&requested).for_match() {
            prop_assert_eq!(qos_compatible(&offered, &packed), whole);
        }
        if let Some(packed) = HotQos::pack(&offered).for_match() {
            prop_assert_eq!(qos_compatible(&packed, &requested), whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_registered_profile_is_read_as_it_was(profile in profile()) {
        let root = Root::new();
        let context = root.join();
        let slot = context.claim(&Registration { qos: profile, ..registration(Kind::Publisher, "/t", 1) }).expect("room");
        prop_assert_eq!(context.qos_of(slot), Some(profile));
        let hot = context.hot(slot.index).expect("its cell").qos();
        prop_assert_eq!((hot.reliability(), hot.durability(), hot.history(), hot.depth()),
            (profile.reliability, profile.durability, profile.history, profile.depth));
    }
}
