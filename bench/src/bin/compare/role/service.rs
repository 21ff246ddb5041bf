//! Service round trips.

use std::time::Duration;

use serde_json::json;

use super::until;
use crate::clock::{cpu, now, seconds};
use crate::control::{say, Control};
use crate::error::Result;
use crate::histogram::Times;
use crate::job::Job;
use crate::ros::{On, World};
use crate::types::{service_type, Request, Response};

const LOST: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// Calls before the measurement.
const WARM_UP: usize = 200;

/// Answers requests.
pub fn server(job: &Job, control: &Control) -> Result<()> {
    let world = World::new(job, "server")?;
    let service = world.service(service_type()?, "/call")?;
    let (mut request, mut response) = (Request::default(), Response::new());
    control.ready()?;
    while !control.is_stopped() {
        if world.wait(On { service: Some(service), ..On::default() }, Some(LOOK))? {
            world.answer(service, (&raw mut request).cast(), (&raw mut response).cast())?;
        }
    }
    say(&json!("stopped"))?;
    world.drop_service(service)
}

/// Measures calls.
pub fn caller(job: &Job, control: &Control) -> Result<()> {
    let world = World::new(job, "caller")?;
    let client = world.client(service_type()?, "/call")?;
    let (request, mut response) = (Request::default(), Response::new());
    until("the service is there", || world.is_available(client))?;
    control.ready()?;
    let mut trip = || {
        world.request(client, (&raw const request).cast())?;
        let came = world.wait(On { client: Some(client), ..On::default() }, Some(LOST))?;
        Ok(came && world.take_response(client, (&raw mut response).cast())?)
    };
    for _ in 0..WARM_UP {
        trip()?;
    }
    let (mut times, mut lost, cpu_before) = (Times::new()?, 0, cpu());
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
    summary["cpu per trip"] = json!((cpu() - cpu_before) as f64 / 1000.0 / trips);
    summary["lost"] = json!(lost);
    say(&summary)?;
    control.wait_for_stop();
    world.drop_client(client)
}
