//! Crash points: named steps of a commit protocol at which a test may stop or kill the process.
//!
//! Without the feature `crash-steps` a crash point is nothing at all. With it, steps are counted from the first one the
//! process passes, and two environment variables choose what happens: `SHOAL_CRASH_STEP` is `<k>` (the k-th step of any
//! name, from 1), `<name>` (the first pass through that step) or `<name>:<k>` (its k-th pass), and
//! `SHOAL_CRASH_ACTION=kill|stop` (default `kill`). A test runs its child with k = 1, 2, 3, … until the child ends by
//! itself, and so has crashed it everywhere; or it names the step whose traces it is about.

/// Marks a step of a commit protocol; the name says what has just landed.
#[macro_export]
macro_rules! crash_point {
    ($name:literal) => {
        $crate::crash::step($name)
    };
}

/// Passes a crash point. Use [`crash_point!`](crate::crash_point).
#[cfg(not(feature = "crash-steps"))]
#[inline(always)]
pub fn step(_: &'static str) {}

#[cfg(feature = "crash-steps")]
pub use steps::{count, observe, step, Action};

#[cfg(feature = "crash-steps")]
mod steps {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::OnceLock;

    static STEPS: AtomicU64 = AtomicU64::new(0);
    static PLAN: OnceLock<Option<Plan>> = OnceLock::new();
    static OBSERVER: OnceLock<fn(&'static str) -> Action> = OnceLock::new();

    /// What becomes of a process that passes a crash point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Action {
        /// It goes on.
        Go,
        /// It is stopped until somebody continues it.
        Stop,
        /// It dies.
        Kill,
    }

    /// What the environment asks for.
    struct Plan {
        /// `None`: steps of all names count.
        name: Option<String>,
        pass: u64,
        /// Passes of `name` so far.
        passed: AtomicU64,
        action: Action,
    }

    /// How many crash points this process has passed.
    pub fn count() -> u64 {
        STEPS.load(Ordering::Relaxed)
    }

    /// Asks `observer` at every crash point from now on, instead of the environment. The first observer of a process stays.
    pub fn observe(observer: fn(&'static str) -> Action) {
        // A second one is a mistake of the test that shows at once: its observer is never asked.
        let _ = OBSERVER.set(observer);
    }

    /// Passes a crash point: stops or kills the process when it is the chosen one.
    pub fn step(name: &'static str) {
        let now = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
        let action = match OBSERVER.get() {
            Some(observer) => observer(name),
            None => by_environment(name, now),
        };
        let signal = match action {
            Action::Go => return,
            Action::Stop => libc::SIGSTOP,
            Action::Kill => libc::SIGKILL,
        };
        // SAFETY: raise takes no pointer; the process is meant to stop or die here.
        unsafe { libc::raise(signal) };
    }

    fn by_environment(name: &str, now: u64) -> Action {
        let Some(plan) = PLAN.get_or_init(plan_of_environment) else { return Action::Go };
        let passes = match &plan.name {
            None => now,
            Some(chosen) if chosen == name => plan.passed.fetch_add(1, Ordering::Relaxed) + 1,
            Some(_) => return Action::Go,
        };
        if passes != plan.pass {
            return Action::Go;
        }
        eprintln!("crash point {now}: {name}");
        plan.action
    }

    fn plan_of_environment() -> Option<Plan> {
        let step = std::env::var("SHOAL_CRASH_STEP").ok()?;
        let stop = std::env::var("SHOAL_CRASH_ACTION").is_ok_and(|action| action == "stop");
        let (name, pass) = match (step.parse(), step.split_once(':')) {
            (Ok(pass), _) => (None, pass),
            (_, Some((name, pass))) => (Some(name.to_owned()), pass.parse().ok()?),
            (_, None) => (Some(step), 1),
        };
        let action = if stop { Action::Stop } else { Action::Kill };
        Some(Plan { name, pass, passed: AtomicU64::new(0), action })
    }
}

#[cfg(all(test, feature = "crash-steps"))]
mod tests {
    use crate::testing::{role, role_root, watched, Scratch};
    use std::os::unix::process::ExitStatusExt;

    #[test]
    #[ignore = "a role of the_chosen_step_kills"]
    fn stepping_role() {
        if role_root().is_some() {
            crate::crash_point!("first");
            crate::crash_point!("second");
            crate::crash_point!("first");
            assert_eq!(super::count(), 3);
        }
    }

    #[test]
    fn the_chosen_step_kills() {
        watched(|| {
            let scratch = Scratch::new();
            let run = |step: &str| {
                let mut command = role("crash::tests::stepping_role", scratch.path(), &[]);
                command.env("SHOAL_CRASH_STEP", step).output().unwrap()
            };
            for (step, place) in
                [("2", "2: second"), ("second", "2: second"), ("first:2", "3: first"), ("first", "1: first")]
            {
                let killed = run(step);
                assert_eq!(killed.status.signal(), Some(libc::SIGKILL), "{step}");
                let said = String::from_utf8_lossy(&killed.stderr).into_owned();
                assert!(said.contains(&format!("crash point {place}")), "{step}: {said}");
            }
            for beyond in ["4", "second:2", "third"] {
                assert!(run(beyond).status.success(), "{beyond}: the process ends by itself");
            }
        });
    }
}
