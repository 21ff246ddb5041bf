//! One way: sources that publish, sinks that take.

use std::time::Duration;

use serde_json::json;

use super::until;
use crate::clock::{cpu, faults, now, seconds};
use crate::control::{say, Control};
use crate::error::Result;
use crate::histogram::Times;
use crate::job::Job;
use crate::ros::{On, World};
use crate::types::{bytes_type, Bytes};

/// A sink that was told to stop ends once nothing came for this long.
const QUIET: Duration = Duration::from_millis(200);

/// Publishes for a time, as fast as it goes or at a rate. Each message begins with the time.
pub fn source(job: &Job, control: &Control) -> Result<()> {
    let world = World::new(job, &format!("source{}", job.index))?;
    let publisher = world.publisher(bytes_type()?, "/stream", job.keep())?;
    until("the sinks match", || Ok(world.readers(publisher)? == job.peers))?;
    let mut message = Bytes::new(job.size)?;
    control.ready()?;
    let (start, cpu_before, faults_before) = (now(), cpu(), faults());
    let end = start + seconds(job.seconds).as_nanos() as u64;
    let (mut sent, mut refused) = (0u64, 0u64);
    loop {
        let time = now();
        if time >= end {
            break;
        }
        message.data()[..8].copy_from_slice(&time.to_le_bytes());
        match world.publish(publisher, message.as_mut_ptr()) {
            true => sent += 1,
            false => refused += 1,
        }
        if job.rate > 0.0 {
            let due = start + (sent as f64 / job.rate * 1e9) as u64;
            std::thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
        }
    }
    let per_message = |total: u64| total as f64 / sent.max(1) as f64;
    say(&json!({
        "sent": sent,
        "refused": refused,
        "rate": sent as f64 * 1e9 / (now() - start) as f64,
        "cpu per message": per_message(cpu() - cpu_before) / 1000.0,
        "faults per message": per_message(faults() - faults_before),
    }))?;
    control.wait_for_stop();
    world.drop_publisher(publisher)
}

/// Takes what comes until it is told to stop and nothing comes any more.
pub fn sink(job: &Job, control: &Control) -> Result<()> {
    let world = World::new(job, &format!("sink{}", job.index))?;
    let subscription = world.subscription(bytes_type()?, "/stream", job.keep())?;
    let mut message = Bytes::new(job.size)?;
    control.ready()?;
    until("the sources match", || Ok(world.writers(subscription)? == job.peers))?;
    say(&json!("matched"))?;
    let (mut times, mut received, mut first, mut last) = (Times::new()?, 0u64, 0, 0);
    let cpu_before = cpu();
    loop {
        let came = world.wait(On { subscriptions: &[subscription], ..On::default() }, Some(QUIET))?;
        if !came && control.is_stopped() {
            break;
        }
        while world.take(subscription, message.as_mut_ptr())? {
            last = now();
            let sent = message.data().first_chunk::<8>().copied().map_or(last, u64::from_le_bytes);
            times.add(last.saturating_sub(sent));
            received += 1;
            if first == 0 {
                first = last;
            }
        }
    }
    let mut summary = times.summary();
    summary["received"] = json!(received);
    summary["rate"] = json!(received as f64 * 1e9 / (last - first).max(1) as f64);
    summary["cpu per message"] = json!((cpu() - cpu_before) as f64 / 1000.0 / received.max(1) as f64);
    say(&summary)?;
    world.drop_subscription(subscription)
}
