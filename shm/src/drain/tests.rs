use super::*;

fn pair() -> (AtomicU64, AtomicU64) {
    (AtomicU64::new(0), AtomicU64::new(0))
}

#[test]
fn classes_are_slot_numbers_modulo_64() {
    assert_eq!(class_of(0), 1);
    assert_eq!(class_of(63), 1 << 63);
    assert_eq!(class_of(64), 1);
    assert_eq!(class_of(u32::MAX), 1 << 63);
}

#[test]
fn a_marked_class_is_undrained_until_it_was_taken_and_finished() {
    let (pending, draining) = pair();
    assert!(is_drained(&pending, &draining, 4));
    assert!(mark(&pending, 4));
    assert!(!mark(&pending, 4), "already set");
    assert!(!is_drained(&pending, &draining, 4));
    assert!(is_drained(&pending, &draining, 8), "another class");
    assert_eq!(take_pending(&pending, &draining), 4);
    assert!(!is_drained(&pending, &draining, 4));
    finish(&draining, 4);
    assert!(is_drained(&pending, &draining, 4));
}

#[test]
fn what_was_not_finished_is_returned_again() {
    let (pending, draining) = pair();
    mark(&pending, 1);
    mark(&pending, 2);
    assert_eq!(take_pending(&pending, &draining), 3);
    finish(&draining, 1);
    assert_eq!(take_pending(&pending, &draining), 2);
    mark(&pending, 1 << 40);
    assert_eq!(take_pending(&pending, &draining), 1 << 40 | 2);
    finish(&draining, 1 << 40 | 2);
    assert_eq!(take_pending(&pending, &draining), 0);
}

#[test]
fn a_mark_after_the_take_survives_the_finish() {
    let (pending, draining) = pair();
    mark(&pending, 1);
    take_pending(&pending, &draining);
    mark(&pending, 1);
    finish(&draining, 1);
    assert!(!is_drained(&pending, &draining, 1));
    assert_eq!(take_pending(&pending, &draining), 1);
}
