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

/// One policy of both sides as the rules see it.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Weak,
    Strong,
    /// System default, unknown or best available: decided elsewhere or later.
    Open,
}

/// Compares an offered with a requested profile.
pub fn check_compatible(offered: &sys::rmw_qos_profile_t, requested: &sys::rmw_qos_profile_t) -> Verdict {
    let mut verdict = Verdict::default();
    compare_levels(&mut verdict, "reliability", reliability(offered), reliability(requested));
    compare_levels(&mut verdict, "durability", durability(offered), durability(requested));
    compare_levels(&mut verdict, "liveliness", liveliness(offered), liveliness(requested));
    compare_durations(&mut verdict, "deadline", offered.deadline, requested.deadline);
    let (offer, request) = (offered.liveliness_lease_duration, requested.liveliness_lease_duration);
    compare_durations(&mut verdict, "liveliness lease duration", offer, request);
    verdict
}

fn compare_levels(verdict: &mut Verdict, policy: &str, offered: Level, requested: Level) {
    use Level::{Open, Strong, Weak};
    match (offered, requested) {
        (Weak, Strong) => verdict.error(&format!("the publisher's {policy} is weaker than the subscription asks for")),
        (Open, Open) => verdict.warning(&format!("the {policy} of publisher and subscription is not decided")),
        (Open, Strong) => {
            verdict
                .warning(&format!("the publisher's {policy} is not decided, and may be too weak for the subscription"));
        }
        (Weak, Open) => {
            verdict
                .warning(&format!("the subscription's {policy} is not decided, and may ask for more than is offered"));
        }
        (Strong, _) | (_, Weak) => {}
    }
}

fn compare_durations(verdict: &mut Verdict, policy: &str, offered: sys::rmw_time_t, requested: sys::rmw_time_t) {
    let (offered, requested) = (duration::nanoseconds(offered), duration::nanoseconds(requested));
    if offered > requested {
        verdict.error(&format!("the publisher's {policy} is longer than the subscription's {requested} ns"));
    }
}

fn reliability(profile: &sys::rmw_qos_profile_t) -> Level {
    match profile.reliability {
        sys::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT => Level::Weak,
        sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE => Level::Strong,
        _ => Level::Open,
    }
}

fn durability(profile: &sys::rmw_qos_profile_t) -> Level {
    match profile.durability {
        sys::RMW_QOS_POLICY_DURABILITY_VOLATILE => Level::Weak,
        sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL => Level::Strong,
        _ => Level::Open,
    }
}

fn liveliness(profile: &sys::rmw_qos_profile_t) -> Level {
    match profile.liveliness {
        sys::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC => Level::Weak,
        sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE | sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC => Level::Strong,
        _ => Level::Open,
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
}
