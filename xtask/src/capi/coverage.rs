//! Which exports the C and C++ programs called. Each call goes through a macro that counts it; every export must have
//! done what it should at least once, and refused something at least once, but for those that cannot.

use crate::cases::Counts;
use crate::run::Failure;
use std::collections::BTreeMap;

/// The exports of the plugin: the list that its own tests compare with its symbols and with those of another RMW.
const EXPORTS: &str = include_str!("../../../ffi/tests/exported_symbols.txt");

/// What the plugin refuses whatever it is asked for: the first table of the plugin's refusals.
const ALWAYS_REFUSED: [&str; 10] = [
    "rmw_fini_publisher_allocation",
    "rmw_fini_subscription_allocation",
    "rmw_get_serialized_message_size",
    "rmw_init_publisher_allocation",
    "rmw_init_subscription_allocation",
    "rmw_publisher_get_network_flow_endpoints",
    "rmw_serialization_support_init",
    "rmw_subscription_get_network_flow_endpoints",
    "rmw_take_dynamic_message",
    "rmw_take_dynamic_message_with_info",
];

/// What has no argument that could be wrong.
const NEVER_REFUSED: [&str; 4] = [
    "rmw_event_type_is_supported",
    "rmw_feature_supported",
    "rmw_get_implementation_identifier",
    "rmw_get_serialization_format",
];

/// The header `counted.h`: an enum of the exports, and each of them as a macro that counts and then calls.
pub fn header() -> String {
    let each = |of: fn(&str) -> String| EXPORTS.lines().map(of).collect::<String>();
    format!(
        "// Generated from the list of exports.\n#define RMW_EXPORTS(X){}\nenum call {{{} CALLS}};\n{}",
        each(|name| format!(" X({name})")),
        each(|name| format!(" CALL_{name},")),
        each(|name| format!("#define {name}(...) (CALLED({name}), {name}(__VA_ARGS__))\n")),
    )
}

/// Calls of one export: all, those that did what they should, those that refused what they should.
#[derive(Clone, Copy, Default)]
struct Calls {
    all: u64,
    good: u64,
    refused: u64,
}

/// Calls by export.
#[derive(Default)]
pub struct Coverage(BTreeMap<String, Calls>);

impl Coverage {
    /// Adds what a program printed: lines `call <name> <all> <good> <refused>` among others.
    pub fn add(&mut self, output: &str) {
        for line in output.lines().filter_map(|line| line.strip_prefix("call ")) {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, numbers @ ..] = words.as_slice() else { continue };
            let numbers: Vec<u64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
            if let [all, good, refused] = numbers[..] {
                let calls = self.0.entry((*name).to_owned()).or_default();
                (calls.all, calls.good, calls.refused) = (calls.all + all, calls.good + good, calls.refused + refused);
            }
        }
    }

    /// What is missing, as `name: what`.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for name in EXPORTS.lines() {
            let calls = self.0.get(name).copied().unwrap_or_default();
            if calls.all == 0 {
                missing.push(format!("{name}: never called"));
            } else if calls.good == 0 && !ALWAYS_REFUSED.contains(&name) {
                missing.push(format!("{name}: never succeeded"));
            } else if calls.refused == 0 && !NEVER_REFUSED.contains(&name) {
                missing.push(format!("{name}: never refused anything"));
            }
        }
        missing
    }

    /// One passed or failed case, printed as a line.
    pub fn judge(&self, whose: &str) -> Result<Counts, Failure> {
        let missing = self.missing();
        let total = self.0.values().fold(Calls::default(), |sum, calls| Calls {
            all: sum.all + calls.all,
            good: sum.good + calls.good,
            refused: sum.refused + calls.refused,
        });
        let Calls { all, good, refused } = total;
        let exports = EXPORTS.lines().count();
        if missing.is_empty() {
            println!("ok   coverage of {whose}: {exports} exports, {all} calls, {good} good, {refused} refused");
            return Ok(Counts { passed: 1, ..Counts::default() });
        }
        println!("FAIL coverage of {whose}: {}", missing.join(", "));
        Ok(Counts { failed: 1, ..Counts::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let mut coverage = Coverage::default();
        let missing = coverage.missing();
        assert_eq!(missing.len(), EXPORTS.lines().count());
        for name in EXPORTS.lines().filter(|name| *name != "rmw_wait") {
            coverage.add(&format!("something else\ncall {name} 2 1 1\n"));
        }
        assert_eq!(coverage.missing(), ["rmw_wait: never called"]);
        coverage.add("call rmw_wait 3 0 3\n");
        assert_eq!(coverage.missing(), ["rmw_wait: never succeeded"]);
        coverage.add("call rmw_wait 3 3 0\n");
        assert!(coverage.missing().is_empty());
    }

    #[test]
    fn the_exceptions_are_exports() {
        for name in ALWAYS_REFUSED.iter().chain(&NEVER_REFUSED) {
            assert!(EXPORTS.lines().any(|export| export == *name), "{name}");
        }
        let refusals = include_str!("../../../ffi/tests/unsupported.txt");
        for name in ALWAYS_REFUSED {
            assert!(refusals.lines().any(|line| line.starts_with(&format!("{name}: "))), "{name}");
        }
    }
}
