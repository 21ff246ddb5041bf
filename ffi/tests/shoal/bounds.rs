//! A subscription that was stopped is shed, and nobody else notices.

use crate::common::watchdog;
use crate::programs::Stage;

const COUNT: usize = 300;

#[test]
fn a_stopped_process_is_shed_while_another_gets_everything() {
    watchdog();
    let stage = Stage::new();
    let mut slow = stage.start("shoal_bounds.c", &["/t"]);
    slow.expect("reading");
    slow.signal(libc::SIGSTOP);
    let other = stage.start("shoal_reader.c", &["/t", "0"]);
    other.expect("reading");
    let writer = stage.start("shoal_writer.c", &["/t", &COUNT.to_string(), "silent"]);
    (1..=COUNT).for_each(|number| other.expect(&format!("sample {number}")));
    writer.expect("sent");
    slow.signal(libc::SIGCONT);
    slow.expect(&format!("shed behind 0, {COUNT} missing"));
    slow.expect(&format!("bound {COUNT}"));
    slow.expect("told 1");
    assert_eq!(slow.end(), Some(0));
}
