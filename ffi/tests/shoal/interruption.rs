//! A signal ends a wait, at rest and while samples pour in; another signal does not.

use crate::common::watchdog;
use crate::programs::Stage;

/// The program, and the words before its topic.
const LANGUAGES: [(&str, &[&str]); 2] = [("shoal_interrupt.c", &[]), ("shoal_both.cpp", &["interrupt"])];

#[test]
fn a_signal_interrupts_a_wait_at_rest() {
    watchdog();
    for (program, words) in LANGUAGES {
        let stage = Stage::new();
        let mut reader = stage.start(program, &[words, &["/quiet"]].concat());
        reader.expect("armed");
        reader.signal(libc::SIGINT);
        reader.expect("INTERRUPTED");
        reader.expect("done");
        assert_eq!(reader.end(), Some(0));
        assert_eq!(stage.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_signal_interrupts_a_wait_under_a_publisher_at_full_rate() {
    watchdog();
    for (program, words) in LANGUAGES {
        let stage = Stage::new();
        let mut reader = stage.start(program, &[words, &["/flood"]].concat());
        reader.expect("armed");
        let writer = stage.start("shoal_writer.c", &["/flood", "0", "silent"]);
        reader.expect("taking");
        reader.signal(libc::SIGINT);
        reader.expect("INTERRUPTED");
        reader.expect("done");
        assert_eq!(reader.end(), Some(0));
        drop(writer);
    }
}
