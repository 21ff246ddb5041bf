//! What one process does in a measurement.

pub mod bells;
mod bring_up;
mod echo;
mod floor;
mod history;
mod idle;
mod service;
mod stream;

use std::time::{Duration, Instant};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::job::Job;

/// How long endpoints may take to match.
const MATCHING: Duration = Duration::from_secs(30);

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $text:literal => $run:path,)*) => {
        /// The part of a process.
        #[derive(Clone, Copy, Debug)]
        pub enum Role {
            $($(#[$doc])* $name,)*
        }

        impl Role {
            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Role::$name => $text,)* }
            }

            /// Finds a role by its name.
            pub fn find(name: &str) -> Result<Role> {
                match name {
                    $($text => Ok(Role::$name),)*
                    _ => Err(Error::Other(format!("there is no role {name:?}"))),
                }
            }

            /// Does the work of the role.
            pub fn run(self, job: &Job) -> Result<()> {
                let control = Control::new();
                match self { $(Role::$name => $run(job, &control),)* }
            }
        }
    };
}

roles! {
    /// Measures round trips.
    Ping = "ping" => echo::ping,
    /// Sends back what comes.
    Pong = "pong" => echo::pong,
    /// As Ping, with loaned messages.
    LoanPing = "loan-ping" => echo::loan_ping,
    /// As Pong, with loaned messages.
    LoanPong = "loan-pong" => echo::loan_pong,
    /// Publishes.
    Source = "source" => stream::source,
    /// Takes what comes.
    Sink = "sink" => stream::sink,
    /// Holds history.
    Keeper = "keeper" => history::keeper,
    /// Joins late and reads the history.
    Joiner = "joiner" => history::joiner,
    /// Answers requests.
    Server = "server" => service::server,
    /// Sends requests.
    Caller = "caller" => service::caller,
    /// One of many that come up at once.
    Member = "member" => bring_up::member,
    /// Waits, with nothing to do.
    Idler = "idler" => idle::idler,
    /// Floor: a bare futex ping.
    FutexPing = "futex-ping" => floor::ping,
    /// Floor: a bare futex pong.
    FutexPong = "futex-pong" => floor::pong,
    /// Floor: copies in and wakes sinks.
    BellSource = "bell-source" => bells::source,
    /// Floor: is woken and copies out.
    BellSink = "bell-sink" => bells::sink,
    /// Floor: has the libraries loaded, and does nothing with them.
    Bystander = "bystander" => bring_up::bystander,
    /// Floor: memcpy.
    Copier = "copier" => floor::copy,
}

/// Asks until the answer is yes.
fn until(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() > MATCHING {
            return Err(Error::Other(format!("{what}: not after {} s", MATCHING.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
