//! Two processes that hand a sample to and fro: each goes to sleep just when the other's is on its way.

mod common;

use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use common::*;
use shoal_rmw::{wait, Context, Outcome, Publisher, Subscription, Waitable};

/// Samples that arrive on either side.
const HAND_OVERS: u32 = 100_000;

/// One side: takes what comes and sends the next number, until the last one.
struct Side {
    context: Arc<Context>,
    publisher: Arc<Publisher>,
    subscription: Arc<Subscription>,
}

impl Side {
    fn new(domain: usize, name: &str, [sends, reads]: [&str; 2]) -> Self {
        let context = context(domain);
        let node = node(&context, name);
        let (publisher, subscription) = (publisher(&node, sends, depth(10)), subscription(&node, reads, depth(10)));
        Self { context, publisher, subscription }
    }

    fn send(&self, number: u32) {
        send(&self.publisher, number.to_le_bytes());
    }

    /// The next number. A wake-up that is lost hangs here, and the watchdog says so.
    fn next(&self) -> u32 {
        loop {
            if let Some((body, _)) = take(&self.subscription) {
                return u32::from_le_bytes(body.try_into().expect("4 bytes"));
            }
            let items = [Waitable::Subscription(&self.subscription)];
            assert_eq!(wait(&self.context, &items, &mut [false], None).expect("waiting works"), Outcome::Ready);
        }
    }

    /// Answers each number with the next one, and says how many came.
    fn play(&self) -> u32 {
        let mut came = 0;
        loop {
            let number = self.next();
            came += 1;
            if number < HAND_OVERS {
                idle(number);
                self.send(number + 1);
            }
            if number + 1 >= HAND_OVERS {
                return came;
            }
        }
    }
}

/// Moves the arrival to another place in the other side's way into its sleep.
fn idle(number: u32) {
    let turns = number.wrapping_mul(0x9e37_79b9) >> 22;
    (0..turns).for_each(|_| std::hint::spin_loop());
}

/// Not a test: the side that begins.
#[test]
fn child() {
    let Ok(domain) = std::env::var("SHOAL_TEST_DOMAIN") else { return };
    watchdog();
    let side = Side::new(domain.parse().expect("a number"), "ping", ["/ping", "/pong"]);
    side.send(1);
    side.play();
}

fn start_other(domain: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("the own path"));
    command.args(["child", "--exact"]).env("SHOAL_TEST_DOMAIN", domain.to_string()).stdout(Stdio::null());
    command.spawn().expect("a process")
}

#[test]
fn no_arrival_is_lost_to_a_wait_without_an_end_in_100_000_races_between_processes() {
    let domain = domain();
    let side = Side::new(domain, "pong", ["/pong", "/ping"]);
    let mut other = start_other(domain);
    let came = side.play();
    assert!(other.wait().expect("a child").success(), "the other side got each of its own");
    assert_eq!(came, HAND_OVERS / 2, "each once");
}
