//! What no RMW can do one-way work for: the payload copied once into shared memory and once out of it, and a futex for
//! each sink, in processes that do nothing else.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;

use super::floor::{map, receive, send};
use crate::clock::{cpu, now, seconds};
use crate::control::{say, Control};
use crate::error::Result;
use crate::histogram::Times;
use crate::job::Job;

/// From one sink's word to the next one's.
const LINE: usize = 64;

/// The words of all sinks; the payload follows.
pub const WORDS: usize = 4096;

struct Shared {
    at: NonNull<u8>,
}

impl Shared {
    fn new(job: &Job) -> Result<Shared> {
        Ok(Shared { at: map(job, WORDS + job.size)? })
    }

    /// The word that a sink sleeps on.
    fn word(&self, sink: usize) -> &AtomicU32 {
        // SAFETY: inside the mapping, which stays for good, at a multiple of 64; all access to the words is atomic.
        unsafe { self.at.add(sink % (WORDS / LINE) * LINE).cast().as_ref() }
    }

    fn payload(&self) -> *mut u8 {
        // SAFETY: inside the mapping.
        unsafe { self.at.add(WORDS) }.as_ptr()
    }
}

/// Writes the payload at a rate and wakes every sink. Each message begins with the time.
pub fn source(job: &Job, control: &Control) -> Result<()> {
    let (shared, mut message) = (Shared::new(job)?, vec![1u8; job.size]);
    control.ready()?;
    let (start, cpu_before, mut sent) = (now(), cpu(), 0u64);
    let end = start + seconds(job.seconds).as_nanos() as u64;
    while now() < end {
        message[..8].copy_from_slice(&now().to_le_bytes());
        // SAFETY: as long as the room behind the words. What a sink reads meanwhile is of no importance.
        unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), shared.payload(), message.len()) };
        (0..job.peers).for_each(|sink| {
            let word = shared.word(sink);
            send(word, word.load(Ordering::Relaxed).wrapping_add(1));
        });
        sent += 1;
        let due = start + (sent as f64 / job.rate * 1e9) as u64;
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
    }
    say(&json!({ "cpu per message": (cpu() - cpu_before) as f64 / 1000.0 / sent.max(1) as f64, "sent": sent }))?;
    control.wait_for_stop();
    Ok(())
}

/// Sleeps, and copies the payload out whenever it is woken.
pub fn sink(job: &Job, control: &Control) -> Result<()> {
    let (shared, mut message) = (Shared::new(job)?, vec![1u8; job.size]);
    let word = shared.word(job.index);
    control.ready()?;
    say(&json!("matched"))?;
    let (mut times, mut seen, mut received, cpu_before) = (Times::new()?, word.load(Ordering::Acquire), 0, cpu());
    while !control.is_stopped() {
        if receive(word, seen) {
            seen = word.load(Ordering::Acquire);
            // SAFETY: as in `source`.
            unsafe { std::ptr::copy_nonoverlapping(shared.payload(), message.as_mut_ptr(), message.len()) };
            let sent = std::hint::black_box(&message).first_chunk::<8>().copied().map_or(0, u64::from_le_bytes);
            times.add(now().saturating_sub(sent));
            received += 1;
        }
    }
    let mut summary = times.summary();
    summary["received"] = json!(received);
    summary["cpu per message"] = json!((cpu() - cpu_before) as f64 / 1000.0 / received.max(1) as f64);
    say(&summary)
}
