//! Work queues.

use super::super::talk::keep_all;
use super::Life;
use crate::payload::{Mark, LEAST};
use std::time::Duration;

impl Life {
    /// A queue and who works on it.
    pub(super) fn work(&self) {
        let (_context, node) = self.talk.start();
        let (t, topic) = (&self.talk, format!("/work{}", self.home()));
        let worker = t.subscription(&node, &topic, keep_all());
        t.ok("share work", worker.share_work());
        let publisher = t.publisher(&node, &topic, keep_all());
        t.ok("make a queue", publisher.make_queue(8, Duration::from_secs(3600)));
        for number in 1..=40 {
            t.send(&publisher, Mark { life: self.number, number }, LEAST);
            while let Some((_, item)) = t.ok("claim", worker.claim(&mut |_| Ok(()))) {
                t.ok("acknowledge", worker.acknowledge(&item));
            }
        }
        t.ok("end the queue", publisher.finish());
    }
}
