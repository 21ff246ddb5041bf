//! Bytes through a stream from one process to another, in C and C++: whole, and with either side killed, or both.

use crate::common::watchdog;
use crate::programs::{Program, Stage};

const LANGUAGES: [&str; 2] = ["shoal_stream.c", "shoal_stream.cpp"];
const BYTES: &str = "2000000";

fn consume(stage: &Stage, program: &str, enough: &str) -> Program {
    let consumer = stage.start(program, &["consume", "/bytes", enough]);
    consumer.expect("consuming");
    consumer
}

fn produce(stage: &Stage, program: &str, then: &str) -> Program {
    stage.start(program, &["produce", "/bytes", BYTES, then])
}

fn end(mut program: Program) {
    program.expect("done");
    assert_eq!(program.end(), Some(0));
}

#[test]
fn every_byte_arrives_and_then_the_end() {
    watchdog();
    for (from, to) in [(0, 0), (1, 1), (0, 1)] {
        let stage = Stage::new();
        let consumer = consume(&stage, LANGUAGES[to], "0");
        let producer = produce(&stage, LANGUAGES[from], "finish");
        producer.expect("sent");
        consumer.expect(&format!("END_OF_STREAM {BYTES}"));
        end(consumer);
        end(producer);
        assert_eq!(stage.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_killed_producer_breaks_the_stream_behind_its_last_byte() {
    watchdog();
    for program in LANGUAGES {
        let stage = Stage::new();
        let consumer = consume(&stage, program, "0");
        let producer = produce(&stage, program, "silent");
        producer.expect("sent");
        drop(producer);
        consumer.expect(&format!("BROKEN {BYTES}"));
        end(consumer);
        assert_eq!(stage.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_stream_whose_consumer_was_killed_is_over() {
    watchdog();
    for program in LANGUAGES {
        let stage = Stage::new();
        let consumer = consume(&stage, program, "3");
        let producer = produce(&stage, program, "finish");
        consumer.expect("enough");
        drop(consumer);
        producer.expect("deserted");
        end(producer);
        assert_eq!(stage.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn both_sides_killed_leave_what_the_next_one_removes() {
    watchdog();
    for program in LANGUAGES {
        let stage = Stage::new();
        let consumer = consume(&stage, program, "3");
        let producer = produce(&stage, program, "silent");
        consumer.expect("enough");
        drop((producer, consumer));
        let consumer = consume(&stage, program, "0");
        let producer = produce(&stage, program, "finish");
        producer.expect("sent");
        consumer.expect(&format!("END_OF_STREAM {BYTES}"));
        end(consumer);
        end(producer);
        assert_eq!(stage.leftovers(), Vec::<String>::new());
    }
}
