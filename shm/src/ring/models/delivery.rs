//! Publish, join and pull in one: each sample is delivered once, as history or live.

use super::super::edge::{generation_with, head_with, newest};
use super::super::grow::FIRST_LOG2;
use super::super::testing::Bench;
use super::super::{Full, ReadError, Strength};
use super::{Reader, WeakPublished, WeakRegistered};
use crate::drain::{self, mark};
use crate::model;
use crate::sync::{thread, AtomicU64, Ordering};
use std::sync::Arc;

/// What stands in the registry for one topic, one publisher and one subscription.
#[derive(Default)]
struct Topic {
    generation: AtomicU64,
    pending: AtomicU64,
    draining: AtomicU64,
}

const CLASS: u64 = 1;

/// A subscription: what it has got, and up to where.
struct Subscription {
    topic: Arc<Topic>,
    reader: Reader,
    watermark: u64,
    got: Vec<u64>,
}

impl Subscription {
    /// Enters itself, and then starts where the history begins that it wants.
    fn join<S: Strength>(topic: &Arc<Topic>, reader: Reader, latched: bool) -> Subscription {
        topic.generation.fetch_add(1, Ordering::AcqRel);
        let head = head_with::<S>(&reader.cell.head);
        let watermark = if latched { 0 } else { head };
        if head > watermark {
            topic.draining.store(CLASS, Ordering::Release);
        }
        Subscription { topic: topic.clone(), reader, watermark, got: Vec::new() }
    }

    /// Reads what there is to read, where something was marked or left over.
    fn pull(&mut self) {
        if drain::take_pending(&self.topic.pending, &self.topic.draining) == 0 {
            return;
        }
        while newest(&self.reader.cell.head) > self.watermark {
            let next = self.watermark + 1;
            match self.reader.check::<Full>(next) {
                Ok(()) => self.got.push(next),
                Err(ReadError::NotYet) => return,
                Err(ReadError::Lapped) => {}
                Err(lie) => panic!("sample {next}: {lie}"),
            }
            self.watermark = next;
        }
        drain::finish(&self.topic.draining, CLASS);
    }
}

/// A publisher with `before` samples in its ring publishes one more while a subscription joins and pulls.
fn joining<S: Strength + Send + 'static>(before: u64, latched: bool) {
    let mut bench: Bench<S> = Bench::on_heap((3 * 64) << FIRST_LOG2, 64, 1 << FIRST_LOG2);
    (1..=before).for_each(|seq| assert_eq!(bench.publish(seq, 8).ok(), Some(seq)));
    let (topic, reader) = (Arc::new(Topic::default()), Reader::of(&bench));
    let publisher = {
        let topic = topic.clone();
        thread::spawn(move || {
            bench.publish(before + 1, 8).expect("room");
            if generation_with::<S>(&topic.generation) == 1 {
                mark(&topic.pending, CLASS);
            }
        })
    };
    let mut subscription = Subscription::join::<S>(&topic, reader, latched);
    let start = subscription.watermark;
    subscription.pull();
    publisher.join().expect("the publisher");
    subscription.pull();
    // What is older than the depth may come or not.
    let owed: Vec<u64> = (start + 1..=before + 1).filter(|seq| before + 1 - seq < 1 << FIRST_LOG2).collect();
    let got: Vec<u64> = subscription.got.into_iter().filter(|seq| owed.contains(seq)).collect();
    assert_eq!(got, owed, "{NOT_ONCE}");
}

const NOT_ONCE: &str = "not each sample once";

model! {
    each_sample_is_delivered_once_as_history_or_live {
        edges: ["ring.join", "ring.head", "drain.mark"],
        claim: "a joiner gets each sample that it is owed exactly once, from history or live",
        scenes: [|| joining::<Full>(0, true), || joining::<Full>(0, false), || joining::<Full>(1, true)],
        twins: [
            "the publisher's fence": || joining::<WeakPublished>(0, true) => NOT_ONCE,
            "the joiner's fence": || joining::<WeakRegistered>(1, true) => NOT_ONCE,
        ],
    }
}

model! {
    each_sample_is_delivered_once_while_the_ring_grows {
        edges: ["ring.join", "ring.move", "drain.mark"],
        claim: "the same while the publication moves the ring",
        scenes: [|| joining::<Full>(1 << FIRST_LOG2, true), || joining::<Full>(1 << FIRST_LOG2, false)],
        twins: ["the publisher's fence": || joining::<WeakPublished>(1 << FIRST_LOG2, true) => NOT_ONCE],
    }
}
