//! A process that waits with nothing to do.

use serde_json::json;

use crate::control::{say, Control};
use crate::error::Result;
use crate::job::Job;
use crate::ros::{Keep, On, World};
use crate::types::bytes_type;

/// Subscriptions and publishers each.
const TOPICS: usize = 6;

/// Waits, without a time-out, until a guard condition is triggered.
pub fn idler(job: &Job, control: &Control) -> Result<()> {
    let mut world = World::new(job, "idler")?;
    let (mut publishers, mut subscriptions) = (Vec::new(), Vec::new());
    for topic in 0..TOPICS {
        publishers.push(world.publisher(bytes_type()?, &format!("/out{topic}"), Keep::last(10))?);
        subscriptions.push(world.subscription(bytes_type()?, &format!("/in{topic}"), Keep::last(10))?);
    }
    let guard = world.guard()?;
    control.on_stop(world.trigger(guard));
    control.ready()?;
    world.wait(On { subscriptions: &subscriptions, guard: Some(guard), ..On::default() }, None)?;
    say(&json!("woken"))?;
    world.drop_guard(guard)?;
    publishers.into_iter().try_for_each(|publisher| world.drop_publisher(publisher))?;
    subscriptions.into_iter().try_for_each(|subscription| world.drop_subscription(subscription))
}
