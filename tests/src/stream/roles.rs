//! The two sides of a stream. Each ends with an exit code: 0 when it got what it must get.

use super::{Board, Options, BROKEN, FINISHED};
use crate::payload::bytes_type;
use shoal_rmw::{
    wait_in, Context, ContextOptions, Discovery, History, Manner, Node, Offered, Outcome, Publisher, Qos, Result,
    Stream, Subscription, SubscriptionOptions, Waitable,
};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Duration;

const TOPIC: &str = "/bytes";
const DOMAIN: usize = 81;
const FAILED: i32 = 3;
const WORD: usize = 8;

/// How long the other side may take.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

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

pub fn produce(board: &Board, options: Options) -> i32 {
    ended(send(board, options), "the producer")
}

pub fn consume(board: &Board, options: Options) -> i32 {
    ended(receive(board, options), "the consumer")
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

fn send(board: &Board, options: Options) -> Result<bool> {
    let (context, node) = join("producer")?;
    let publisher = Publisher::new(&node, TOPIC, bytes_type(), keep_all())?;
    let stream = Stream::new(&publisher, options.window, options.chunk, &[])?;
    let mut chunk = vec![0; options.chunk];
    for number in 1..=options.chunks() {
        chunk[..WORD].copy_from_slice(&number.to_le_bytes());
        let end = options.chunk - WORD;
        chunk[end..].copy_from_slice(&number.to_le_bytes());
        let offered = loop {
            match stream.offer(&chunk)? {
                Offered::Full => {}
                offered => break offered,
            }
            let items = [Waitable::Guard(stream.credit())];
            if wait_in(Manner::UntilResumed, &context, &items, &mut [false], PATIENCE)? != Outcome::Ready {
                return Ok(false);
            }
        };
        if offered == Offered::Finished {
            board.deserted.store(1, Relaxed);
            return Ok(true);
        }
        board.sent.store(number, Relaxed);
        board.peak.fetch_max(stream.state()?.peak, Relaxed);
    }
    stream.finish()?;
    Ok(true)
}

fn receive(board: &Board, options: Options) -> Result<bool> {
    let (context, node) = join("consumer")?;
    let subscription = Subscription::new(&node, TOPIC, bytes_type(), keep_all(), SubscriptionOptions::default())?;
    subscription.hold_credit()?;
    let mut buffer = vec![0; options.chunk];
    let mut next = 1_u64;
    loop {
        let items = [Waitable::Subscription(&subscription)];
        match wait_in(Manner::UntilResumed, &context, &items, &mut [false], PATIENCE)? {
            Outcome::Ready => {}
            Outcome::EndOfDay | Outcome::Shed => panic!("nobody ends a day here, and nobody is shed"),
            outcome @ (Outcome::EndOfStream | Outcome::Broken) => {
                let last = subscription.take_stream_event()?.map_or(0, |event| event.last_sequence);
                board.last.store(last, Relaxed);
                board.ended.store(if outcome == Outcome::Broken { BROKEN } else { FINISHED }, Relaxed);
                return Ok(true);
            }
            Outcome::TimedOut | Outcome::Interrupted => return Ok(false),
        }
        while take(&subscription, &mut buffer)? {
            let number = next.to_le_bytes();
            if buffer[..WORD] != number || buffer[buffer.len() - WORD..] != number {
                eprintln!("the consumer: this is not chunk {next}");
                return Ok(false);
            }
            board.consumed.store(next, Relaxed);
            next += 1;
            subscription.consumed(1)?;
        }
    }
}

/// Copies the next chunk into the buffer, as who works with it does.
fn take(subscription: &Subscription, buffer: &mut [u8]) -> Result<bool> {
    let taken = subscription.take(&mut |incoming| {
        let len = incoming.len.min(buffer.len());
        // SAFETY: the body is readable for its length during this call, and the buffer is ours and long enough.
        unsafe { std::ptr::copy_nonoverlapping(incoming.ptr, buffer.as_mut_ptr(), len) };
        Ok(())
    })?;
    Ok(taken.is_some())
}
