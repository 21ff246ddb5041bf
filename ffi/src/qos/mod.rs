//! Between `rmw_qos_profile_t` and the resolved profile of the registry.

mod best_available;
mod compatible;
mod duration;

use shoal_rmw::{Durability, History, Liveliness, Qos, Reliability};

pub use best_available::{for_publisher, for_service, for_subscription, wants_best_available};
pub use compatible::check_compatible;

use crate::boundary::Failure;
use crate::sys;

/// Samples kept where the profile leaves the depth to the system: that of the default profile of ROS 2.
const DEFAULT_DEPTH: u32 = 10;

/// The depth that a profile with keep all shows. It decides nothing.
const KEEP_ALL_SHOWN: u32 = 4095;

/// The resolved profile. System defaults are keep last 10, reliable, volatile, automatic, without durations; what is
/// "best available" must have been settled before.
pub fn resolve(profile: &sys::rmw_qos_profile_t) -> Result<Qos, Failure> {
    let history = history(profile.history)?;
    Ok(Qos {
        history,
        depth: depth(history, profile.depth),
        reliability: reliability(profile.reliability)?,
        durability: durability(profile.durability)?,
        liveliness: liveliness(profile.liveliness)?,
        deadline: duration::nanoseconds(profile.deadline),
        lifespan: duration::nanoseconds(profile.lifespan),
        lease: duration::nanoseconds(profile.liveliness_lease_duration),
    })
}

/// The profile as C sees it; nothing in it is left to the system.
pub fn to_profile(qos: &Qos) -> sys::rmw_qos_profile_t {
    sys::rmw_qos_profile_t {
        history: match qos.history {
            History::KeepLast => sys::RMW_QOS_POLICY_HISTORY_KEEP_LAST,
            History::KeepAll => sys::RMW_QOS_POLICY_HISTORY_KEEP_ALL,
        },
        depth: qos.depth as usize,
        reliability: match qos.reliability {
            Reliability::BestEffort => sys::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
            Reliability::Reliable => sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE,
        },
        durability: match qos.durability {
            Durability::Volatile => sys::RMW_QOS_POLICY_DURABILITY_VOLATILE,
            Durability::TransientLocal => sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
        },
        deadline: duration::to_rmw(qos.deadline),
        lifespan: duration::to_rmw(qos.lifespan),
        liveliness: match qos.liveliness {
            Liveliness::Automatic => sys::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
            Liveliness::ManualByNode => sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE,
            Liveliness::ManualByTopic => sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
        },
        liveliness_lease_duration: duration::to_rmw(qos.lease),
        avoid_ros_namespace_conventions: false,
    }
}

fn depth(history: History, asked: usize) -> u32 {
    match (history, asked) {
        (History::KeepAll, _) => KEEP_ALL_SHOWN,
        (History::KeepLast, 0) => DEFAULT_DEPTH,
        (History::KeepLast, n) => u32::try_from(n).unwrap_or(u32::MAX),
    }
}

fn history(policy: sys::rmw_qos_history_policy_e) -> Result<History, Failure> {
    match policy {
        sys::RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT | sys::RMW_QOS_POLICY_HISTORY_KEEP_LAST => Ok(History::KeepLast),
        sys::RMW_QOS_POLICY_HISTORY_KEEP_ALL => Ok(History::KeepAll),
        other => Err(unusable("history", other)),
    }
}

fn reliability(policy: sys::rmw_qos_reliability_policy_e) -> Result<Reliability, Failure> {
    match policy {
        sys::RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT | sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE => {
            Ok(Reliability::Reliable)
        }
        sys::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT => Ok(Reliability::BestEffort),
        other => Err(unusable("reliability", other)),
    }
}

fn durability(policy: sys::rmw_qos_durability_policy_e) -> Result<Durability, Failure> {
    match policy {
        sys::RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT | sys::RMW_QOS_POLICY_DURABILITY_VOLATILE => {
            Ok(Durability::Volatile)
        }
        sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL => Ok(Durability::TransientLocal),
        other => Err(unusable("durability", other)),
    }
}

fn liveliness(policy: sys::rmw_qos_liveliness_policy_e) -> Result<Liveliness, Failure> {
    match policy {
        sys::RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT | sys::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC => {
            Ok(Liveliness::Automatic)
        }
        sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE => Ok(Liveliness::ManualByNode),
        sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC => Ok(Liveliness::ManualByTopic),
        other => Err(unusable("liveliness", other)),
    }
}

#[cold]
#[track_caller]
fn unusable(policy: &str, value: u32) -> Failure {
    Failure::invalid(format!("the QoS profile has {policy} policy {value}, which is unknown; choose a definite policy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile of system defaults.
    pub(super) fn system_default() -> sys::rmw_qos_profile_t {
        // SAFETY: integers and a bool; zero is "system default" for each policy.
        unsafe { std::mem::zeroed() }
    }

    #[test]
    fn system_defaults_are_the_default_profile_of_ros() {
        assert_eq!(resolve(&system_default()).unwrap(), Qos::default());
    }

    #[test]
    fn a_resolved_profile_survives_the_way_through_c() {
        let qos = Qos {
            history: History::KeepAll,
            depth: KEEP_ALL_SHOWN,
            reliability: Reliability::BestEffort,
            durability: Durability::TransientLocal,
            liveliness: Liveliness::ManualByTopic,
            deadline: 1_500_000_000,
            lifespan: 1,
            lease: Qos::INFINITE,
        };
        assert_eq!(resolve(&to_profile(&qos)).unwrap(), qos);
        assert_eq!(resolve(&to_profile(&Qos::default())).unwrap(), Qos::default());
    }

    #[test]
    fn unknown_policies_are_refused_by_name_and_value() {
        let unknown = sys::rmw_qos_profile_t { reliability: 3, ..system_default() };
        let failure = resolve(&unknown).unwrap_err();
        assert_eq!(failure.code(), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(failure.message().unwrap().contains("reliability policy 3"));
        for bad in [
            sys::rmw_qos_profile_t { history: 3, ..system_default() },
            sys::rmw_qos_profile_t { durability: 3, ..system_default() },
            sys::rmw_qos_profile_t { liveliness: 4, ..system_default() },
        ] {
            assert!(resolve(&bad).is_err());
        }
    }
}
