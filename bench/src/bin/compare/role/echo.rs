//! Round trips: publish, wait, take, publish back, wait, take.

use std::time::Duration;

use rmw_shoal::sys::rosidl_message_type_support_t as Support;
use serde_json::json;

use super::until;
use crate::clock::{cpu, faults, now, seconds};
use crate::control::{say, Control};
use crate::error::Result;
use crate::histogram::Times;
use crate::job::Job;
use crate::ros::{On, Publisher, Subscription, World};
use crate::types::{bytes_type, fixed_type, Bytes};

/// A message that does not come back within this was lost.
const LOST: Duration = Duration::from_secs(2);

/// How often an idle pong looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// Round trips before the measurement.
const WARM_UP: usize = 200;

struct Pair {
    world: World,
    out: Publisher,
    back: Subscription,
}

impl Pair {
    fn new(job: &Job, ty: *const Support, name: &str, [out, back]: [&str; 2]) -> Result<Pair> {
        let world = World::new(job, name)?;
        let back = world.subscription(ty, back, job.keep())?;
        let out = world.publisher(ty, out, job.keep())?;
        until("the other side matches", || Ok(world.readers(out)? == 1 && world.writers(back)? == 1))?;
        Ok(Pair { world, out, back })
    }

    fn wait(&self, timeout: Duration) -> Result<bool> {
        self.world.wait(On { subscriptions: &[self.back], ..On::default() }, Some(timeout))
    }

    fn end(self) -> Result<()> {
        self.world.drop_publisher(self.out)?;
        self.world.drop_subscription(self.back)
    }

    /// Measures `trip` (whether the message came back) and says the result.
    fn measure(&self, job: &Job, control: &Control, mut trip: impl FnMut() -> Result<bool>) -> Result<()> {
        control.ready()?;
        let warm = now();
        for _ in 0..WARM_UP {
            trip()?;
            if now() - warm > seconds(job.seconds).as_nanos() as u64 {
                break;
            }
        }
        let (mut times, mut lost, faults_before, cpu_before) = (Times::new()?, 0, faults(), cpu());
        let end = now() + seconds(job.seconds).as_nanos() as u64;
        let mut last = now();
        while last < end {
            match trip()? {
                true => times.add(now() - last),
                false => lost += 1,
            }
            last = now();
        }
        let mut summary = times.summary();
        let trips = summary["samples"].as_f64().unwrap_or(1.0).max(1.0);
        summary["lost"] = json!(lost);
        summary["cpu per trip"] = json!((cpu() - cpu_before) as f64 / 1000.0 / trips);
        summary["faults per trip"] = json!((faults() - faults_before) as f64 / trips);
        say(&summary)?;
        control.wait_for_stop();
        Ok(())
    }
}

/// Measures round trips of messages that are copied.
pub fn ping(job: &Job, control: &Control) -> Result<()> {
    let pair = Pair::new(job, bytes_type()?, "ping", ["/there", "/back"])?;
    let (mut message, mut answer) = (Bytes::new(job.size)?, Bytes::new(job.size)?);
    pair.measure(job, control, || {
        let _ = pair.world.publish(pair.out, message.as_mut_ptr());
        Ok(pair.wait(LOST)? && pair.world.take(pair.back, answer.as_mut_ptr())?)
    })?;
    pair.end()
}

/// Sends back what comes.
pub fn pong(job: &Job, control: &Control) -> Result<()> {
    let pair = Pair::new(job, bytes_type()?, "pong", ["/back", "/there"])?;
    let mut message = Bytes::new(job.size)?;
    let trip = || {
        let taken = pair.wait(LOOK)? && pair.world.take(pair.back, message.as_mut_ptr())?;
        Ok(taken && pair.world.publish(pair.out, message.as_mut_ptr()))
    };
    say_pong(trip, control)?;
    pair.end()
}

/// As [`ping`], with loaned messages of a fixed size: one byte is written and read, nothing is copied.
pub fn loan_ping(job: &Job, control: &Control) -> Result<()> {
    let ty = fixed_type(job.size);
    let pair = Pair::new(job, ty, "ping", ["/there", "/back"])?;
    let mut number = 0u8;
    pair.measure(job, control, || {
        number = number.wrapping_add(1);
        // SAFETY: a message of at least one byte that is ours to write.
        pair.world.publish_loan(pair.out, ty, |at| unsafe { at.write(number) })?;
        // SAFETY: a message of at least one byte.
        let came = pair.wait(LOST)?.then(|| pair.world.take_loan(pair.back, |at| unsafe { at.read() }));
        Ok(came.transpose()?.flatten() == Some(number))
    })?;
    pair.end()
}

/// As [`pong`], with loaned messages.
pub fn loan_pong(job: &Job, control: &Control) -> Result<()> {
    let ty = fixed_type(job.size);
    let pair = Pair::new(job, ty, "pong", ["/back", "/there"])?;
    let trip = || {
        if !pair.wait(LOOK)? {
            return Ok(false);
        }
        // SAFETY: a message of at least one byte.
        let Some(number) = pair.world.take_loan(pair.back, |at| unsafe { at.read() })? else { return Ok(false) };
        // SAFETY: as above, ours to write.
        pair.world.publish_loan(pair.out, ty, |at| unsafe { at.write(number) })?;
        Ok(true)
    };
    say_pong(trip, control)?;
    pair.end()
}

fn say_pong(mut trip: impl FnMut() -> Result<bool>, control: &Control) -> Result<()> {
    control.ready()?;
    let (start, mut trips) = (cpu(), 0u64);
    while !control.is_stopped() {
        trips += u64::from(trip()?);
    }
    say(&json!({ "cpu per trip": (cpu() - start) as f64 / 1000.0 / trips.max(1) as f64 }))
}
