//! What the tests of this crate share.

use crate::segment::{Access, DomainDir};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{mpsc, Arc};
use std::time::Duration;

/// Runs `f` on a thread of its own and panics when it is not done within half a minute.
pub(crate) fn watched<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = f();
        // The receiver is gone only when the watchdog has already failed the test.
        let _ = done.send(());
        result
    });
    if let Err(mpsc::RecvTimeoutError::Timeout) = wait.recv_timeout(Duration::from_secs(30)) {
        panic!("watchdog: not done after 30 s");
    }
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A directory of its own for one test, removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = if Path::new("/dev/shm").is_dir() { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("shoal-shm-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a fresh directory");
        Scratch(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn domain(&self) -> Arc<DomainDir> {
        Arc::new(DomainDir::open_or_create(&self.0, Access::Owner, "7").expect("a domain"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A child process, killed on drop.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Environment variable that tells a role where to work.
const ROOT: &str = "SHOAL_TEST_ROOT";

/// A command that runs one ignored test ("role") of this binary as another process, over a directory.
pub(crate) fn role(name: &str, root: &Path, through: &[&str]) -> Command {
    let exe = std::env::current_exe().expect("this binary");
    let mut command = match through {
        [] => Command::new(exe),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(exe);
            command
        }
    };
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(ROOT, root).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The directory of a role; `None` when the test binary was started by hand with --ignored.
pub(crate) fn role_root() -> Option<PathBuf> {
    std::env::var_os(ROOT).map(PathBuf::from)
}
