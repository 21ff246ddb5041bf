//! Kills thousands of processes and looks at those who live: `cargo xtask storm`.

use clap::Parser;
use nix::sched::{unshare, CloneFlags};
use nix::sys::wait::{waitpid, WaitStatus};
use shoal_tests::{process, storm};
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(about = "Kills processes at random and at every crash point; the others must not notice")]
struct Arguments {
    /// How many processes to kill
    #[arg(long, default_value_t = 10_000)]
    kills: u64,
    /// What the random numbers follow from (default: the time)
    #[arg(long)]
    seed: Option<u64>,
    /// What a victim becomes by execve
    #[arg(long, hide = true)]
    sleeper: bool,
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    if arguments.sleeper {
        process::die_with_parent();
        std::thread::sleep(std::time::Duration::from_secs(3600));
    }
    let now = || {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |since| since.as_millis() as u64)
    };
    let options = storm::Options { kills: arguments.kills, seed: arguments.seed.unwrap_or_else(now) };
    println!("storm of {} kills, seed {}", options.kills, options.seed);
    let good = match unshare(CloneFlags::CLONE_NEWPID) {
        Ok(()) => apart(options),
        Err(error) => beside_others(options, error),
    };
    if good {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}

/// In a PID namespace and with a `/dev/shm` of its own: what goes wrong stays in there.
fn apart(options: storm::Options) -> bool {
    let child = process::fork_into(|| {
        process::die_with_parent();
        let root = Path::new("/dev/shm");
        let mounted = process::own_tmpfs(root, 4 << 30).and_then(|()| process::own_proc());
        if let Err(error) = mounted {
            return i32::from(!beside_others(options, error));
        }
        std::env::set_var("SHOAL_DIR", root);
        i32::from(!storm::run(options, root, true))
    });
    matches!(child.and_then(|child| waitpid(child, None)), Ok(WaitStatus::Exited(_, 0)))
}

/// Without the rights for namespaces.
fn beside_others(options: storm::Options, why: nix::Error) -> bool {
    println!("skipped: PID namespaces and PIDs that are used again (no rights: {why})");
    let root = PathBuf::from(format!("/dev/shm/shoal-storm-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("shared memory can be written");
    std::env::set_var("SHOAL_DIR", &root);
    let good = storm::run(options, &root, false);
    // Leftovers were told of.
    let _ = std::fs::remove_dir_all(&root);
    good
}
