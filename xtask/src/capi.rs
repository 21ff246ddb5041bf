//! The C and C++ programs of tests/c/rmw on the built plugin: compiled against the prefix's headers, each group of checks a
//! process of its own, with either type support. What they called is added up and compared with the list of exports.

mod compile;
mod coverage;
pub mod sanitize;

use crate::cases::{self, Counts};
use crate::prefix::{self, Distro, Prefix};
use crate::run::{self, at, Failure};
use crate::{env, paths, plugin};
use coverage::Coverage;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use compile::Program;

/// Which groups to run, and on what.
#[derive(clap::Args)]
pub struct Choice {
    /// Groups whose name contains one of these, separated by commas (default: all, and the coverage of all exports)
    #[arg(long, default_value = "")]
    only: String,
    /// The distribution (default: the installed one, or jazzy)
    #[arg(long)]
    distro: Option<Distro>,
}

/// What a program is told about the type supports that it is to use.
pub const SUPPORTS: [&str; 2] = ["dispatch", "introspection"];

/// How long one group may take, on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(120);

/// `cargo xtask capi`.
pub fn run_chosen(choice: &Choice) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(choice.distro)?;
    let lib = plugin::build(&prefix)?;
    run_all(&prefix, &lib, &choice.only)?.close()
}

/// Compiles both programs and runs their groups, printing a line for each and one for the coverage of each run.
pub fn run_all(prefix: &Prefix, lib: &Path, only: &str) -> Result<Counts, Failure> {
    let mut counts = Counts::default();
    for program in compile::both(prefix, lib)? {
        for support in SUPPORTS {
            let mut coverage = Coverage::default();
            for group in program.groups(prefix, lib)?.iter().filter(|group| cases::is_chosen(group, only)) {
                let name = format!("{}.{group} ({support})", program.language);
                let log = program.folder.join(format!("{}-{group}-{support}.log", program.language));
                let domain = Domain::new()?;
                let command = program.command(prefix, lib, group, support, &domain);
                counts += cases::run_one(&name, command, LIMIT, &log)?;
                counts += domain.judge(&name);
                coverage.add(&at(&log, std::fs::read_to_string(&log))?);
            }
            if only.is_empty() {
                counts += coverage.judge(&format!("{} ({support})", program.language))?;
            }
        }
    }
    Ok(counts)
}

impl Program {
    /// The groups that the program has.
    pub fn groups(&self, prefix: &Prefix, lib: &Path) -> Result<Vec<String>, Failure> {
        let listed = run::output(self.bare(prefix, lib).arg("--list"))
            .ok_or_else(|| Failure::Advice(format!("{} --list does not run", self.path.display())))?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// One group, in a domain of its own.
    pub fn command(&self, prefix: &Prefix, lib: &Path, group: &str, support: &str, domain: &Domain) -> Command {
        let mut command = self.bare(prefix, lib);
        command.args([group, support]).env("SHOAL_DIR", &domain.0);
        command
    }

    fn bare(&self, prefix: &Prefix, lib: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(paths::workspace()).env_remove("ROS_DOMAIN_ID").envs(env::variables(prefix, None));
        // The program is linked against the plugin; what it finds first must be the one of this distribution.
        let mut dirs = vec![lib.parent().unwrap_or(Path::new(".")).to_owned()];
        dirs.extend(prefix.library_dirs());
        command.env("LD_LIBRARY_PATH", std::env::join_paths(dirs).unwrap_or_default());
        command
    }
}

/// An empty place for the shared files of one group, which goes with the value.
pub struct Domain(PathBuf);

impl Domain {
    /// Makes it.
    pub fn new() -> Result<Domain, Failure> {
        let dir = Path::new("/dev/shm").join(format!("shoal-capi-{}", std::process::id()));
        at(&dir, std::fs::create_dir_all(&dir))?;
        Ok(Domain(dir))
    }

    /// A failure, printed, where a group has left a file: the last to leave a domain removes it.
    pub fn judge(&self, name: &str) -> Counts {
        let mut left = Vec::new();
        files_below(&self.0, &mut left);
        if left.is_empty() {
            return Counts::default();
        }
        println!("FAIL {name} left {}", left.join(", "));
        Counts { failed: 1, ..Counts::default() }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files_below(dir: &Path, found: &mut Vec<String>) {
    for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path.display().to_string()),
        }
    }
}
