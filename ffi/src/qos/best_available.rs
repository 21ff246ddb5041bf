//! "Best available" policies, settled once, when the endpoint is created, by what its peers offer or request.
//!
//! The rules are those that rmw/types.h states and rmw_dds_common applies for the other implementations.

use shoal_rmw::{Durability, Liveliness, Qos, Reliability};

use super::duration;
use crate::sys;

/// RMW_QOS_DEADLINE_BEST_AVAILABLE, and the same for the lease: one less than infinite.
fn is_best_available(time: sys::rmw_time_t) -> bool {
    (time.sec, time.nsec) == (duration::INFINITE.sec, duration::INFINITE.nsec - 1)
}

/// Whether any policy depends on the peers.
pub fn wants_best_available(profile: &sys::rmw_qos_profile_t) -> bool {
    profile.reliability == sys::RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE
        || profile.durability == sys::RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE
        || profile.liveliness == sys::RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE
        || is_best_available(profile.deadline)
        || is_best_available(profile.liveliness_lease_duration)
}

/// What stands for each "best available" policy.
struct Best {
    reliable: bool,
    transient_local: bool,
    manual_by_topic: bool,
    deadline: i64,
    lease: i64,
}

impl Best {
    fn fill(&self, profile: &mut sys::rmw_qos_profile_t) {
        if profile.reliability == sys::RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE {
            profile.reliability = match self.reliable {
                true => sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE,
                false => sys::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
            };
        }
        if profile.durability == sys::RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE {
            profile.durability = match self.transient_local {
                true => sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
                false => sys::RMW_QOS_POLICY_DURABILITY_VOLATILE,
            };
        }
        if profile.liveliness == sys::RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE {
            profile.liveliness = match self.manual_by_topic {
                true => sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
                false => sys::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
            };
        }
        if is_best_available(profile.deadline) {
            profile.deadline = duration::to_rmw(self.deadline);
        }
        if is_best_available(profile.liveliness_lease_duration) {
            profile.liveliness_lease_duration = duration::to_rmw(self.lease);
        }
    }
}

/// For a subscription: the strictest that every publisher of the topic satisfies.
pub fn for_subscription(profile: &mut sys::rmw_qos_profile_t, publishers: &[Qos]) {
    let longest = |pick: fn(&Qos) -> i64| publishers.iter().map(pick).max().unwrap_or(Qos::INFINITE);
    Best {
        reliable: publishers.iter().all(|q| q.reliability == Reliability::Reliable),
        transient_local: publishers.iter().all(|q| q.durability == Durability::TransientLocal),
        manual_by_topic: publishers.iter().all(|q| q.liveliness == Liveliness::ManualByTopic),
        deadline: longest(|q| q.deadline),
        lease: longest(|q| q.lease),
    }
    .fill(profile);
}

/// For a publisher: what satisfies every subscription of the topic.
pub fn for_publisher(profile: &mut sys::rmw_qos_profile_t, subscriptions: &[Qos]) {
    let shortest = |pick: fn(&Qos) -> i64| subscriptions.iter().map(pick).min().unwrap_or(Qos::INFINITE);
    Best {
        reliable: true,
        transient_local: true,
        manual_by_topic: subscriptions.iter().any(|q| q.liveliness == Liveliness::ManualByTopic),
        deadline: shortest(|q| q.deadline),
        lease: shortest(|q| q.lease),
    }
    .fill(profile);
}

/// For a service or client, where rmw/types.h asks for the values of the default profile of services.
pub fn for_service(profile: &mut sys::rmw_qos_profile_t) {
    let none = Qos::INFINITE;
    Best { reliable: true, transient_local: false, manual_by_topic: false, deadline: none, lease: none }.fill(profile);
}

#[cfg(test)]
mod tests {
    use super::super::{resolve, tests::system_default};
    use super::*;

    fn best() -> sys::rmw_qos_profile_t {
        let almost = sys::rmw_time_t { sec: 9_223_372_036, nsec: 854_775_806 };
        sys::rmw_qos_profile_t {
            reliability: sys::RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE,
            durability: sys::RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE,
            liveliness: sys::RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE,
            deadline: almost,
            liveliness_lease_duration: almost,
            ..system_default()
        }
    }

    fn settled(fill: impl FnOnce(&mut sys::rmw_qos_profile_t)) -> Qos {
        let mut profile = best();
        assert!(wants_best_available(&profile));
        assert!(resolve(&profile).is_err(), "an unsettled profile must not resolve");
        fill(&mut profile);
        assert!(!wants_best_available(&profile));
        resolve(&profile).unwrap()
    }

    #[test]
    fn a_subscription_asks_for_what_all_publishers_offer() {
        let latched = Qos { durability: Durability::TransientLocal, deadline: 5, ..Qos::default() };
        let weak = Qos { reliability: Reliability::BestEffort, deadline: 9, lease: 7, ..Qos::default() };
        let one = settled(|p| for_subscription(p, &[latched]));
        assert_eq!((one.reliability, one.durability, one.deadline), (latched.reliability, latched.durability, 5));
        let both = settled(|p| for_subscription(p, &[latched, weak]));
        assert_eq!((both.reliability, both.durability), (Reliability::BestEffort, Durability::Volatile));
        assert_eq!((both.deadline, both.lease, both.liveliness), (9, Qos::INFINITE, Liveliness::Automatic));
        for offered in [&latched, &weak] {
            assert_eq!(shoal_rmw::qos_compatible(offered, &both), Ok(()));
        }
    }

    #[test]
    fn a_publisher_offers_what_every_subscription_asks_for() {
        let strict = Qos {
            liveliness: Liveliness::ManualByTopic,
            durability: Durability::TransientLocal,
            deadline: 5,
            lease: 7,
            ..Qos::default()
        };
        let offer = settled(|p| for_publisher(p, &[strict, Qos::default()]));
        assert_eq!((offer.deadline, offer.lease, offer.liveliness), (5, 7, Liveliness::ManualByTopic));
        assert_eq!(shoal_rmw::qos_compatible(&offer, &strict), Ok(()));
        assert_eq!(settled(|p| for_publisher(p, &[])).liveliness, Liveliness::Automatic);
    }

    #[test]
    fn a_service_gets_the_default_profile_of_services() {
        assert_eq!(settled(for_service), Qos::default());
    }
}
