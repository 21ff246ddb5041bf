//! The producer and the consumers. Each ends with an exit code: 0 when it has seen what it must see.

use super::Board;
use crate::payload::{bytes_type, mix};
use shoal_rmw::{
    wait_in, Context, ContextOptions, Discovery, Encapsulation, ErrorKind, History, Manner, Node, Outcome, Outgoing,
    Publisher, Qos, Result, Subscription, SubscriptionOptions, Waitable, CDR_LITTLE_ENDIAN,
};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a claim holds.
pub const LEASE: Duration = Duration::from_millis(250);

const TOPIC: &str = "/work";
const DOMAIN: usize = 82;
const WINDOW: usize = 256;
const FAILED: i32 = 3;

/// How long the others may take.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

/// An item: its number.
struct Item(u64);

impl Outgoing for Item {
    fn size(&self) -> Result<usize> {
        Ok(8)
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        out.copy_from_slice(&self.0.to_le_bytes());
        Ok(8)
    }
}

fn join(name: &str) -> Result<(Arc<Context>, Arc<Node>)> {
    let discovery = Discovery::SystemDefault;
    let options = ContextOptions { domain_id: DOMAIN, enclave: "/".into(), discovery, security_enforced: false };
    let context = Context::new(options)?;
    let node = Node::new(&context, name, "/")?;
    Ok((context, node))
}

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

/// Joins and leaves.
pub fn look_in() {
    if let Err(error) = join("visitor") {
        eprintln!("the visitor: {error}");
    }
}

fn ended(result: Result<bool>, who: &str) -> i32 {
    match result {
        Ok(true) => 0,
        Ok(false) => FAILED,
        Err(error) => {
            eprintln!("{who}: {error}");
            FAILED
        }
    }
}

pub fn produce(board: &Board, items: u64) -> i32 {
    ended(send(board, items), "the producer")
}

fn send(board: &Board, items: u64) -> Result<bool> {
    let (_context, node) = join("producer")?;
    let publisher = Publisher::new(&node, TOPIC, bytes_type(), keep_all())?;
    publisher.make_queue(WINDOW, LEASE)?;
    for number in 1..=items {
        // Who is there when the last one comes sees the end.
        while number == items && board.calm.load(Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        while let Err(error) = publisher.publish(&Item(number)) {
            if error.kind() != ErrorKind::Timeout {
                return Err(error);
            }
        }
    }
    publisher.finish()?;
    Ok(true)
}

/// An item needs some time.
fn work_for(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

pub fn consume(board: &Board, index: usize, items: u64) -> i32 {
    ended(work(board, index, items), "a consumer")
}

fn work(board: &Board, index: usize, items: u64) -> Result<bool> {
    let (context, node) = join("consumer")?;
    let worker = Subscription::new(&node, TOPIC, bytes_type(), keep_all(), SubscriptionOptions::default())?;
    worker.share_work()?;
    board.joined[index].store(1, Relaxed);
    loop {
        let waited =
            wait_in(Manner::UntilResumed, &context, &[Waitable::Subscription(&worker)], &mut [false], PATIENCE)?;
        match waited {
            Outcome::Ready => {}
            Outcome::EndOfStream => {
                board.ended.fetch_add(1, Relaxed);
                return Ok(true);
            }
            // Nobody ends a day here, and nobody is shed.
            Outcome::Broken | Outcome::TimedOut | Outcome::Interrupted | Outcome::EndOfDay | Outcome::Shed => {
                eprintln!("consumer {index}: {waited:?}");
                return Ok(false);
            }
        }
        let mut number = 0;
        let claimed = worker.claim(&mut |incoming| {
            let mut bytes = [0; 8];
            let len = incoming.len.min(bytes.len());
            // SAFETY: the body is readable for its length during this call.
            unsafe { std::ptr::copy_nonoverlapping(incoming.ptr, bytes.as_mut_ptr(), len) };
            number = u64::from_le_bytes(bytes);
            Ok(())
        })?;
        let Some((_, item)) = claimed else { continue };
        if number != item.sequence || !(1..=items).contains(&number) {
            eprintln!("consumer {index}: item {} says {number}", item.sequence);
            return Ok(false);
        }
        board.claimed[number as usize - 1].fetch_add(1, Relaxed);
        work_for(Duration::from_micros(mix(number) % 60));
        board.current[index].store(number, Relaxed);
        if worker.acknowledge(&item)? {
            board.acked[number as usize - 1].fetch_add(1, Relaxed);
            board.done.fetch_add(1, Relaxed);
        } else {
            board.late.fetch_add(1, Relaxed);
        }
        board.current[index].store(0, Relaxed);
    }
}
