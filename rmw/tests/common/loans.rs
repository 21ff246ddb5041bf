//! Loans as tests make, take and compare them.

use std::sync::Arc;

use shoal_rmw::{Incoming, MessageInfo, Node, Publisher, Qos, Result, Subscription, SubscriptionOptions, TypeInfo};

use super::bytes;

/// Bytes of a loaned message; too long for a slot.
pub const LARGE: usize = 64 << 10;

pub fn fixed(size: usize) -> TypeInfo {
    let name = format!("test/msg/Fixed{size}");
    TypeInfo { name, hash: (1, [9; 32]), fixed_size: Some(size), loanable_size: Some(size) }
}

pub fn lender(node: &Arc<Node>, topic: &str, size: usize, qos: Qos) -> Arc<Publisher> {
    Publisher::new(node, topic, fixed(size), qos).expect("a publisher can be created")
}

pub fn borrower(node: &Arc<Node>, topic: &str, size: usize, qos: Qos) -> Arc<Subscription> {
    Subscription::new(node, topic, fixed(size), qos, SubscriptionOptions::default()).expect("a subscription")
}

/// A message whose every byte follows from its number.
pub fn body(number: u8, size: usize) -> Vec<u8> {
    (0..size).map(|i| number.wrapping_add((i % 251) as u8)).collect()
}

/// Borrows, fills in place and sends.
pub fn send_loan(publisher: &Publisher, number: u8, size: usize) {
    let at = publisher.borrow_loan().expect("memory to fill");
    assert_eq!(at.addr().get() % 64, 0, "on a line of its own");
    // SAFETY: lent memory of `size` bytes.
    unsafe { at.as_ptr().copy_from_nonoverlapping(body(number, size).as_ptr(), size) };
    publisher.publish_loan(at.as_ptr()).expect("a loan can be sent");
}

pub fn copied(sample: Incoming) -> Result<Box<[u64]>> {
    let bytes = bytes(sample);
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    Ok(bytes.chunks(8).map(word).collect())
}

/// A message on loan, how it was when it was taken, and whether it is a copy.
pub struct Held {
    pub at: *const u8,
    pub then: Vec<u8>,
    pub private: bool,
    pub info: MessageInfo,
}

pub fn read(at: *const u8, size: usize) -> Vec<u8> {
    // SAFETY: a message of `size` bytes on loan.
    unsafe { std::slice::from_raw_parts(at, size) }.to_vec()
}

pub fn take_loan(subscription: &Subscription, size: usize) -> Option<Held> {
    let mut private = false;
    let taken = subscription.take_loan(true, &mut |sample| {
        private = true;
        copied(sample)
    });
    let (at, info) = taken.expect("taking works")?;
    Some(Held { at, then: read(at, size), private, info })
}

impl Held {
    pub fn is_unchanged(&self) -> bool {
        read(self.at, self.then.len()) == self.then
    }
}
