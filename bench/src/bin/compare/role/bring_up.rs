//! One of many processes that come up at the same time.

use std::time::Duration;

use serde_json::json;

use crate::api::Api;
use crate::clock::{cpu, now, seconds};
use crate::control::{say, Control};
use crate::error::Result;
use crate::job::Job;
use crate::ros::{Keep, Publisher, Subscription, World};
use crate::types::{bytes_type, service_type};

/// Publishers and subscriptions each.
const TOPICS: usize = 8;
const SERVICES: usize = 4;

/// How often it looks whether everybody is there.
const LOOK: Duration = Duration::from_millis(10);

/// Comes up with a node, publishers that the next process reads, subscriptions to those of the one before, and services.
/// Complete: all nodes are in the graph, and each endpoint has its match.
pub fn member(job: &Job, control: &Control) -> Result<()> {
    let start = now();
    let world = World::new(job, &format!("member{}", job.index))?;
    let before = (job.index + job.peers - 1) % job.peers;
    let (mut publishers, mut subscriptions, mut services) = (Vec::new(), Vec::new(), Vec::new());
    for topic in 0..TOPICS {
        publishers.push(world.publisher(bytes_type()?, &format!("/m{}/t{topic}", job.index), Keep::last(10))?);
        subscriptions.push(world.subscription(bytes_type()?, &format!("/m{before}/t{topic}"), Keep::last(10))?);
    }
    for service in 0..SERVICES {
        services.push(world.service(service_type()?, &format!("/m{}/s{service}", job.index))?);
    }
    let end = start + seconds(job.seconds).as_nanos() as u64;
    let mut complete = false;
    while !complete && now() < end {
        complete = world.nodes()? == job.peers && all_match(&world, &publishers, &subscriptions)?;
        if !complete {
            std::thread::sleep(LOOK);
        }
    }
    say(&json!({ "complete": complete, "cpu": cpu() as f64 / 1e9 }))?;
    control.wait_for_stop();
    publishers.into_iter().try_for_each(|publisher| world.drop_publisher(publisher))?;
    subscriptions.into_iter().try_for_each(|subscription| world.drop_subscription(subscription))?;
    services.into_iter().try_for_each(|service| world.drop_service(service))
}

/// The same process without any middleware in use: it loads the same libraries.
pub fn bystander(job: &Job, control: &Control) -> Result<()> {
    let _api = Api::load(&job.rmw)?;
    bytes_type()?;
    service_type()?;
    say(&json!({ "complete": true, "cpu": cpu() as f64 / 1e9 }))?;
    control.wait_for_stop();
    Ok(())
}

fn all_match(world: &World, publishers: &[Publisher], subscriptions: &[Subscription]) -> Result<bool> {
    for publisher in publishers {
        if world.readers(*publisher)? == 0 {
            return Ok(false);
        }
    }
    for subscription in subscriptions {
        if world.writers(*subscription)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}
