//! Flushing, lag, join bounds and counters, from C, each with a second process.

use crate::common::watchdog;
use crate::programs::{Program, Stage};

const COUNT: &str = "100";

fn expect_the_rest(mut writer: Program) {
    writer.expect(&format!("bound {COUNT}"));
    assert!(writer.line().starts_with("counter "));
    assert_eq!(writer.end(), Some(0));
}

#[test]
fn a_flush_waits_until_another_process_has_taken_everything() {
    watchdog();
    let stage = Stage::new();
    let reader = stage.start("shoal_reader.c", &["/t", "0"]);
    reader.expect("reading");
    let writer = stage.start("shoal_progress.c", &["/t", COUNT, "30000"]);
    writer.expect("flush READY 0");
    expect_the_rest(writer);
}

#[test]
fn the_face_for_cpp_flushes_joins_and_counts() {
    watchdog();
    let stage = Stage::new();
    let reader = stage.start("shoal_both.cpp", &["read", "/t", "0"]);
    reader.expect("reading");
    let mut writer = stage.start("shoal_both.cpp", &["write", "/t", COUNT, "progress"]);
    writer.expect("sent");
    writer.expect("flush READY 1");
    writer.expect(&format!("bound {COUNT}"));
    writer.expect("counter 42");
    assert_eq!(writer.end(), Some(0));
}

#[test]
fn a_flush_says_how_far_a_stopped_process_is_behind() {
    watchdog();
    let stage = Stage::new();
    let reader = stage.start("shoal_reader.c", &["/t", "0"]);
    reader.expect("reading");
    reader.signal(libc::SIGSTOP);
    let writer = stage.start("shoal_progress.c", &["/t", COUNT, "100"]);
    writer.expect("flush TIMED_OUT 1");
    writer.expect("late 0 0 0");
    expect_the_rest(writer);
}

#[test]
fn a_flush_is_held_by_nobody_who_was_killed() {
    watchdog();
    let stage = Stage::new();
    let reader = stage.start("shoal_reader.c", &["/t", "0"]);
    reader.expect("reading");
    reader.signal(libc::SIGSTOP);
    let writer = stage.start("shoal_writer.c", &["/t", COUNT, "flush"]);
    writer.expect("sent");
    drop(reader);
    writer.expect("READY");
}

#[test]
fn no_tick_of_several_processes_is_lost() {
    watchdog();
    let stage = Stage::new();
    let topics = ["/t0", "/t1", "/t2"];
    let readers = topics.map(|topic| stage.start("shoal_reader.c", &[topic, "0"]));
    readers.iter().for_each(|reader| reader.expect("reading"));
    let writers = topics.map(|topic| stage.start("shoal_progress.c", &[topic, "1", "30000"]));
    let counted = |writer: Program| -> u64 {
        writer.expect("flush READY 0");
        writer.expect("bound 1");
        writer.line().strip_prefix("counter ").and_then(|value| value.parse().ok()).expect("a number")
    };
    let values = writers.map(counted);
    assert_eq!(values.iter().max(), Some(&3000), "{values:?}");
}
