//! The C and C++ programs under valgrind's memcheck: no access out of bounds or to freed memory, no decision by a value
//! that nobody has written, no memory that nobody can free any more; in the plugin as in the programs.

use super::{compile, Choice, Domain, Program};
use crate::cases::{self, Counts};
use crate::prefix::{self, Prefix};
use crate::run::{self, Failure};
use crate::{machine, plugin};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Children are watched, too. There is nothing to suppress.
const MEMCHECK: [&str; 7] = [
    "--quiet",
    "--error-exitcode=9",
    "--leak-check=full",
    "--show-leak-kinds=definite",
    "--errors-for-leak-kinds=definite",
    "--num-callers=30",
    "--trace-children=yes",
];

/// A group takes some tens of times as long as without.
const LIMIT: Duration = Duration::from_secs(600);

/// Both kinds of type support are behind this one, and time is short.
const SUPPORT: &str = "dispatch";

/// `cargo xtask sanitize`.
pub fn run(choice: &Choice) -> Result<(), Failure> {
    ensure_valgrind()?;
    let prefix = prefix::find_or_make(choice.distro)?;
    let lib = plugin::build(&prefix)?;
    let mut counts = Counts::default();
    for program in compile::both(&prefix, &lib)? {
        check_the_checker(&program, &prefix, &lib)?;
        for group in program.groups(&prefix, &lib)?.iter().filter(|group| cases::is_chosen(group, &choice.only)) {
            let name = format!("{}.{group} (memcheck)", program.language);
            let log = program.folder.join(format!("{}-{group}-memcheck.log", program.language));
            let domain = Domain::new()?;
            let command = program.command(&prefix, &lib, group, SUPPORT, &domain);
            counts += cases::run_one(&name, under_memcheck(&command), LIMIT, &log)?;
            counts += domain.judge(&name);
        }
    }
    counts.close()
}

fn ensure_valgrind() -> Result<(), Failure> {
    if !machine::has("valgrind") && machine::can_install() {
        machine::install(&["valgrind"])?;
    }
    match machine::has("valgrind") {
        true => Ok(()),
        false => {
            Err(Failure::Advice("valgrind is needed: install it (Debian, Ubuntu: apt-get install valgrind)".into()))
        }
    }
}

/// A program that loses memory must be found out, or nothing that follows means anything.
fn check_the_checker(program: &Program, prefix: &Prefix, lib: &Path) -> Result<(), Failure> {
    let domain = Domain::new()?;
    let mut command = under_memcheck(&program.command(prefix, lib, "--lossy", SUPPORT, &domain));
    let found = command.output().map_err(|source| Failure::Start { what: run::shown(&command), source })?;
    match found.status.code() {
        Some(9) => Ok(()),
        _ => Err(Failure::Advice(format!(
            "valgrind ({}) does not report memory that is lost on purpose: {}",
            found.status,
            String::from_utf8_lossy(&found.stderr)
        ))),
    }
}

fn under_memcheck(command: &Command) -> Command {
    let mut checked = Command::new("valgrind");
    checked.args(MEMCHECK).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => checked.env(name, value),
            None => checked.env_remove(name),
        };
    }
    checked
}
