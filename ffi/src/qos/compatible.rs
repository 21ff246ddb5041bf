//! `rmw_qos_profile_check_compatible`: the request/offer rules on profiles that may leave policies open.

use std::fmt::Write as _;

use super::duration;
use crate::sys;

/// What can be said about two profiles, and why, each reason ended by a semicolon, errors first.
#[derive(Debug, Default)]
pub struct Verdict {
    errors: String,
    warnings: String,
}

impl Verdict {
    /// `RMW_QOS_COMPATIBILITY_*`.
    pub fn compatibility(&self) -> sys::rmw_qos_compatibility_type_t {
        match (self.errors.is_empty(), self.warnings.is_empty()) {
            (false, _) => sys::RMW_QOS_COMPATIBILITY_ERROR,
            (true, false) => sys::RMW_QOS_COMPATIBILITY_WARNING,
            (true, true) => sys::RMW_QOS_COMPATIBILITY_OK,
        }
    }

    /// The reasons; empty when the profiles are compatible.
    pub fn reasons(&self) -> String {
        format!("{}{}", self.errors, self.warnings)
    }

    fn error(&mut self, reason: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.errors, "ERROR: {reason};");
    }

    fn warning(&mut self, reason: &str) {
        let _ = write!(self.warnings, "WARNING: {reason};");
    }
}

/// One policy of one side as the rules see it.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Weak,
    Strong,
    /// Decided elsewhere or later, and what it is called until then.
    Open(&'static str),
}

/// What is said about a policy. `ros2 doctor` prints it, and ROS's own tests of `ros2 doctor` look for these words.
struct Words {
    policy: &'static str,
    too_weak: &'static str,
    strong_request: &'static str,
    weak_offer: &'static str,
}

const RELIABILITY: Words = Words {
    policy: "reliability",
    too_weak: "Best effort publisher and reliable subscription",
    strong_request: "Reliable subscription, but publisher is",
    weak_offer: "Best effort publisher, but subscription is",
};

const DURABILITY: Words = Words {
    policy: "durability",
    too_weak: "Volatile publisher and transient local subscription",
    strong_request: "Transient local subscription, but publisher is",
    weak_offer: "Volatile publisher, but subscription is",
};

const LIVELINESS: Words = Words {
    policy: "liveliness",
    too_weak: "Publisher's liveliness is automatic and subscription's is manual by topic",
    strong_request: "Subscription's liveliness is manual by topic, but publisher's is",
    weak_offer: "Publisher's liveliness is automatic, but subscription's is",
};

/// Compares an offered with a requested profile.
pub fn check_compatible(offered: &sys::rmw_qos_profile_t, requested: &sys::rmw_qos_profile_t) -> Verdict {
    let mut verdict = Verdict::default();
    compare_levels(&mut verdict, &RELIABILITY, reliability(offered), reliability(requested));
    compare_levels(&mut verdict, &DURABILITY, durability(offered), durability(requested));
    compare_levels(&mut verdict, &LIVELINESS, liveliness(offered), liveliness(requested));
    compare_durations(&mut verdict, "deadline", offered.deadline, requested.deadline);
    let (offer, request) = (offered.liveliness_lease_duration, requested.liveliness_lease_duration);
    compare_durations(&mut verdict, "liveliness lease duration", offer, request);
    verdict
}

fn compare_levels(verdict: &mut Verdict, words: &Words, offered: Level, requested: Level) {
    use Level::{Open, Strong, Weak};
    match (offered, requested) {
        (Weak, Strong) => verdict.error(words.too_weak),
        (Open(offer), Open(request)) => {
            let policy = words.policy;
            verdict.warning(&format!("Publisher {policy} is {offer} and subscription {policy} is {request}"));
        }
        (Open(offer), Strong) => verdict.warning(&format!("{} {offer}", words.strong_request)),
        (Weak, Open(request)) => verdict.warning(&format!("{} {request}", words.weak_offer)),
        (Strong, _) | (_, Weak) => {}
    }
}

fn compare_durations(verdict: &mut Verdict, policy: &str, offered: sys::rmw_time_t, requested: sys::rmw_time_t) {
    let (offer, request) = (duration::nanoseconds(offered), duration::nanoseconds(requested));
    if offer <= request {
        return;
    }
    if offer == shoal_rmw::Qos::INFINITE {
        verdict.error(&format!("Subscription has a {policy}, but publisher does not"));
    } else {
        verdict.error(&format!("Subscription {policy} is less than publisher {policy}"));
    }
}

fn reliability(profile: &sys::rmw_qos_profile_t) -> Level {
    match profile.reliability {
        sys::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT => Level::Weak,
        sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE => Level::Strong,
        sys::RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT => Level::Open("system_default"),
        sys::RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE => Level::Open("best_available"),
        _ => Level::Open("unknown"),
    }
}

fn durability(profile: &sys::rmw_qos_profile_t) -> Level {
    match profile.durability {
        sys::RMW_QOS_POLICY_DURABILITY_VOLATILE => Level::Weak,
        sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL => Level::Strong,
        sys::RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT => Level::Open("system_default"),
        sys::RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE => Level::Open("best_available"),
        _ => Level::Open("unknown"),
    }
}

fn liveliness(profile: &sys::rmw_qos_profile_t) -> Level {
    match profile.liveliness {
        sys::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC => Level::Weak,
        sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE | sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC => Level::Strong,
        sys::RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT => Level::Open("system_default"),
        sys::RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE => Level::Open("best_available"),
        _ => Level::Open("unknown"),
    }
}

#[cfg(test)]
mod tests {
    use shoal_rmw::{qos_compatible, Durability, Liveliness, Qos, Reliability};

    use super::super::{tests::system_default, to_profile};
    use super::*;

    #[test]
    fn resolved_profiles_get_the_verdict_of_matching() {
        let base = Qos::default();
        let variants = [
            base,
            Qos { reliability: Reliability::BestEffort, ..base },
            Qos { durability: Durability::TransientLocal, ..base },
            Qos { liveliness: Liveliness::ManualByTopic, ..base },
            Qos { deadline: 5, ..base },
            Qos { lease: 5, ..base },
        ];
        for offered in &variants {
            for requested in &variants {
                let verdict = check_compatible(&to_profile(offered), &to_profile(requested));
                let expected = match qos_compatible(offered, requested) {
                    Ok(()) => sys::RMW_QOS_COMPATIBILITY_OK,
                    Err(_) => sys::RMW_QOS_COMPATIBILITY_ERROR,
                };
                assert_eq!(verdict.compatibility(), expected, "{offered:?} {requested:?}");
                assert_eq!(verdict.reasons().is_empty(), expected == sys::RMW_QOS_COMPATIBILITY_OK);
            }
        }
    }

    #[test]
    fn open_policies_are_a_warning_unless_something_is_wrong_for_sure() {
        let open = system_default();
        let verdict = check_compatible(&open, &open);
        assert_eq!(verdict.compatibility(), sys::RMW_QOS_COMPATIBILITY_WARNING);
        assert_eq!(verdict.reasons().matches(';').count(), 3);
        let timed = sys::rmw_qos_profile_t { deadline: sys::rmw_time_t { sec: 1, nsec: 0 }, ..open };
        let verdict = check_compatible(&open, &timed);
        assert_eq!(verdict.compatibility(), sys::RMW_QOS_COMPATIBILITY_ERROR);
        assert!(verdict.reasons().starts_with("ERROR:"));
    }

    #[test]
    fn reasons_are_in_the_words_that_ros2_doctor_is_tested_with() {
        let base = Qos { deadline: 5, lease: 5, ..Qos::default() };
        let words = |offered: Qos, requested: Qos| check_compatible(&to_profile(&offered), &to_profile(&requested));
        let best_effort = Qos { reliability: Reliability::BestEffort, ..base };
        assert_eq!(words(best_effort, base).reasons(), "ERROR: Best effort publisher and reliable subscription;");
        let latched = Qos { durability: Durability::TransientLocal, ..base };
        assert_eq!(words(base, latched).reasons(), "ERROR: Volatile publisher and transient local subscription;");
        let manual = Qos { liveliness: Liveliness::ManualByTopic, ..base };
        let reason = "ERROR: Publisher's liveliness is automatic and subscription's is manual by topic;";
        assert_eq!(words(base, manual).reasons(), reason);
        let reason = "ERROR: Subscription deadline is less than publisher deadline;";
        assert_eq!(words(base, Qos { deadline: 4, ..base }).reasons(), reason);
        let without = Qos { lease: Qos::default().lease, ..base };
        let reason = "ERROR: Subscription has a liveliness lease duration, but publisher does not;";
        assert_eq!(words(without, base).reasons(), reason);
        let open =
            sys::rmw_qos_profile_t { durability: sys::RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE, ..to_profile(&base) };
        let reason = "WARNING: Volatile publisher, but subscription is best_available;";
        assert_eq!(check_compatible(&to_profile(&base), &open).reasons(), reason);
    }
}
