//! Endpoints that come and go in one registry slot.

mod common;

use common::*;

/// Tenants of a slot between two looks of a reader: as many as 16 bits can tell apart.
const TENANTS: usize = 1 << 16;

#[test]
fn a_publisher_is_read_from_its_first_sample_however_many_had_its_slot_before() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (writers, reader) = (node(&a, "w"), subscription(&node(&b, "r"), "/t", depth(10)));
    let first = publisher(&writers, "/t", depth(10));
    (0..3).for_each(|number| {
        send(&first, [number]);
    });
    assert_eq!(take_all(&reader), [[0], [1], [2]]);
    drop(first);
    (1..TENANTS).for_each(|_| drop(publisher(&writers, "/other", depth(1))));
    let last = publisher(&writers, "/t", depth(10));
    send(&last, [7]);
    assert_eq!(take_all(&reader), [[7]]);
}
