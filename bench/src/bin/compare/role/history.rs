//! Late joining: somebody keeps samples, somebody comes and reads them all.

use std::time::Duration;

use super::until;
use crate::clock::now;
use crate::control::{say, Control};
use crate::error::{Error, Result};
use crate::histogram::Times;
use crate::job::Job;
use crate::ros::{Keep, On, World};
use crate::types::{bytes_type, Bytes};

/// Joins per process.
const JOINS: usize = 10;

const LOST: Duration = Duration::from_secs(10);

fn keep(job: &Job) -> Keep {
    Keep { latched: true, ..Keep::last(job.count) }
}

/// Publishes the samples and keeps them.
pub fn keeper(job: &Job, control: &Control) -> Result<()> {
    let world = World::new(job, "keeper")?;
    let publisher = world.publisher(bytes_type()?, "/history", keep(job))?;
    let mut message = Bytes::new(job.size)?;
    for _ in 0..job.count {
        if !world.publish(publisher, message.as_mut_ptr()) {
            return Err(Error::Other("a latched sample was refused".into()));
        }
    }
    control.ready()?;
    control.wait_for_stop();
    world.drop_publisher(publisher)
}

/// Joins and takes every sample, several times; the time from before the creation to the last sample.
pub fn joiner(job: &Job, control: &Control) -> Result<()> {
    let world = World::new(job, "joiner")?;
    let mut message = Bytes::new(job.size)?;
    control.ready()?;
    until("the keeper is in the graph", || Ok(world.nodes()? == 2))?;
    let mut times = Times::new()?;
    for _ in 0..JOINS {
        let start = now();
        let subscription = world.subscription(bytes_type()?, "/history", keep(job))?;
        let mut left = job.count;
        while left > 0 {
            if !world.wait(On { subscriptions: &[subscription], ..On::default() }, Some(LOST))? {
                return Err(Error::Other(format!("{left} of {} retained samples did not come", job.count)));
            }
            while left > 0 && world.take(subscription, message.as_mut_ptr())? {
                left -= 1;
            }
        }
        times.add(now() - start);
        world.drop_subscription(subscription)?;
    }
    say(&times.summary())?;
    control.wait_for_stop();
    Ok(())
}
