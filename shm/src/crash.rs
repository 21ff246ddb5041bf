//! Crash points: named steps of a commit protocol at which a test may stop or kill the process.
//!
//! Without the feature `crash-steps` a crash point is nothing at all. With it, steps are counted from the first one the
//! process passes, and two environment variables choose what happens:
//! `SHOAL_CRASH_STEP=<k>` (1 is the first step) and `SHOAL_CRASH_ACTION=kill|stop` (default `kill`). A test runs its
//! child with k = 1, 2, 3, … until the child ends by itself, and so has crashed it everywhere.

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
pub use steps::{count, step};

#[cfg(feature = "crash-steps")]
mod steps {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::OnceLock;

    static STEPS: AtomicU64 = AtomicU64::new(0);
    static PLAN: OnceLock<Option<(u64, i32)>> = OnceLock::new();

    /// How many crash points this process has passed.
    pub fn count() -> u64 {
        STEPS.load(Ordering::Relaxed)
    }

    /// Passes a crash point: stops or kills the process when it is the chosen one.
    pub fn step(name: &'static str) {
        let now = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
        let plan = PLAN.get_or_init(plan_of_environment);
        if let Some((step, signal)) = *plan {
            if step == now {
                eprintln!("crash point {now}: {name}");
                // SAFETY: raise takes no pointer; the process is meant to stop or die here.
                unsafe { libc::raise(signal) };
            }
        }
    }

    fn plan_of_environment() -> Option<(u64, i32)> {
        let step = std::env::var("SHOAL_CRASH_STEP").ok()?.parse().ok()?;
        let stop = std::env::var("SHOAL_CRASH_ACTION").is_ok_and(|action| action == "stop");
        Some((step, if stop { libc::SIGSTOP } else { libc::SIGKILL }))
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
            assert_eq!(super::count(), 2);
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
            let killed = run("2");
            assert_eq!(killed.status.signal(), Some(libc::SIGKILL));
            assert!(String::from_utf8_lossy(&killed.stderr).contains("crash point 2: second"));
            assert!(run("3").status.success(), "beyond the last step the process ends by itself");
        });
    }
}
