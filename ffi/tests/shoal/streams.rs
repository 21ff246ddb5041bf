//! Finished, killed, destroyed and silent producers, as readers in C and C++ see them: each outcome behind the last sample.

use crate::common::watchdog;
use crate::programs::{Program, Stage};

const COUNT: usize = 300;

/// A program in one language, by the words that come before its own arguments.
type Roles = (&'static [&'static str], &'static [&'static str]);

const C: Roles = (&["shoal_reader.c"], &["shoal_writer.c"]);
const CPP: Roles = (&["shoal_both.cpp", "read"], &["shoal_both.cpp", "write"]);

fn start(stage: &Stage, role: &[&str], more: &[&str]) -> Program {
    stage.start(role[0], &[&role[1..], more].concat())
}

fn read(stage: &Stage, (reader, _): Roles, enough: usize) -> Program {
    let reader = start(stage, reader, &["/stream", &enough.to_string()]);
    reader.expect("reading");
    reader
}

fn write(stage: &Stage, (_, writer): Roles, then: &str) -> Program {
    start(stage, writer, &["/stream", &COUNT.to_string(), then])
}

fn expect_samples(reader: &Program) {
    (1..=COUNT).for_each(|number| reader.expect(&format!("sample {number}")));
}

fn end(stage: &Stage, mut reader: Program) {
    reader.expect("done");
    assert_eq!(reader.end(), Some(0));
    assert_eq!(stage.leftovers(), Vec::<String>::new());
}

fn a_finished_producer_is_an_end(reader: Roles, writer: Roles) {
    watchdog();
    let stage = Stage::new();
    let reader = read(&stage, reader, 0);
    let mut writer = write(&stage, writer, "finish");
    expect_samples(&reader);
    reader.expect(&format!("publisher END_OF_STREAM {COUNT}"));
    reader.expect("topic END_OF_STREAM");
    assert_eq!(writer.end(), Some(0));
    end(&stage, reader);
}

fn a_killed_producer_is_no_end(reader: Roles, writer: Roles) {
    watchdog();
    let stage = Stage::new();
    let reader = read(&stage, reader, 0);
    let writer = write(&stage, writer, "silent");
    writer.expect("sent");
    drop(writer);
    expect_samples(&reader);
    reader.expect(&format!("publisher BROKEN {COUNT}"));
    reader.expect("topic BROKEN");
    end(&stage, reader);
}

fn days_end_in_order(reader: Roles, writer: Roles) {
    watchdog();
    let stage = Stage::new();
    let reader = read(&stage, reader, 0);
    let mut writer = write(&stage, writer, "days");
    expect_samples(&reader);
    (0..2).for_each(|_| reader.expect(&format!("publisher END_OF_DAY {COUNT}")));
    expect_samples(&reader);
    reader.expect(&format!("publisher END_OF_STREAM {}", 2 * COUNT));
    reader.expect("topic END_OF_STREAM");
    assert_eq!(writer.end(), Some(0));
    end(&stage, reader);
}

fn nothing_comes_of(then: &str, reader: Roles, writer: Roles) {
    watchdog();
    let stage = Stage::new();
    let reader = read(&stage, reader, COUNT);
    let writer = write(&stage, writer, then);
    expect_samples(&reader);
    reader.expect("TIMED_OUT");
    reader.expect("done");
    drop(writer);
}

macro_rules! in_each_language {
    ($($name:ident: $scene:expr;)*) => {
        mod c {
            use super::*;
            $(#[test] fn $name() { ($scene)(C, C) })*
        }
        mod cpp {
            use super::*;
            $(#[test] fn $name() { ($scene)(CPP, CPP) })*
        }
    };
}
in_each_language! {
    a_finished_producer_is_an_end_of_stream: a_finished_producer_is_an_end;
    a_killed_producer_breaks_its_stream: a_killed_producer_is_no_end;
    ends_of_days_come_between_the_samples_that_were_sent_around_them: days_end_in_order;
    a_silent_producer_is_a_time_out: |reader, writer| nothing_comes_of("silent", reader, writer);
    a_destroyed_publisher_is_no_ending: |reader, writer| nothing_comes_of("destroy", reader, writer);
}
