use super::many::look_in_turns;
use super::{wait, wait_any, wake_all, Deadline, WaitEnd};
use crate::sync::{AtomicU32, Ordering};
use crate::testing::{watched, Scratch};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn soon() -> Option<Deadline> {
    Some(Deadline::after(Duration::from_millis(20)))
}

/// Wakes a word until the thread has ended: it may not sleep yet at the first try.
fn wake_until_done<R>(word: &AtomicU32, thread: std::thread::JoinHandle<R>) -> R {
    while !thread.is_finished() {
        wake_all(word);
        std::thread::yield_now();
    }
    thread.join().unwrap()
}

#[test]
fn a_changed_word_is_not_slept_on() {
    let word = AtomicU32::new(1);
    assert_eq!(wait(&word, 2, None), WaitEnd::Changed);
    assert_eq!(wait_any(&[(&word, 1), (&word, 2)], None), WaitEnd::Changed);
}

#[test]
fn a_deadline_ends_every_sleep() {
    watched(|| {
        let words = [AtomicU32::new(0), AtomicU32::new(0)];
        let both = [(&words[0], 0), (&words[1], 0)];
        let start = Instant::now();
        assert_eq!(wait(&words[0], 0, soon()), WaitEnd::TimedOut);
        assert!(start.elapsed() >= Duration::from_millis(19));
        assert_eq!(wait_any(&both, soon()), WaitEnd::TimedOut);
        assert_eq!(look_in_turns(&both, soon()), WaitEnd::TimedOut);
        assert_eq!(wait_any(&[], soon()), WaitEnd::TimedOut);
        assert!(start.elapsed() >= Duration::from_millis(70));
    });
}

#[test]
fn a_deadline_in_the_past_or_beyond_all_time_is_no_error() {
    watched(|| {
        let word = Arc::new(AtomicU32::new(0));
        assert_eq!(wait(&word, 0, Some(Deadline::after(Duration::ZERO))), WaitEnd::TimedOut);
        let sleeper = {
            let word = word.clone();
            std::thread::spawn(move || wait(&word, 0, Some(Deadline::after(Duration::MAX))))
        };
        assert_eq!(wake_until_done(&word, sleeper), WaitEnd::Woken);
    });
}

#[test]
fn any_of_several_words_wakes() {
    watched(|| {
        for turns in [false, true] {
            let words = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let sleeper = {
                let words = words.clone();
                std::thread::spawn(move || {
                    let both = [(&words[0], 0), (&words[1], 0)];
                    if turns {
                        look_in_turns(&both, None)
                    } else {
                        wait_any(&both, None)
                    }
                })
            };
            words[1].store(1, Ordering::Relaxed);
            let end = wake_until_done(&words[1], sleeper);
            assert!(matches!(end, WaitEnd::Woken | WaitEnd::Changed), "{end:?}");
        }
    });
}

#[test]
fn two_mappings_of_one_file_are_one_word() {
    watched(|| {
        let scratch = Scratch::new();
        let dir = scratch.domain();
        let ours = crate::segment::Segment::create(&dir, "word", 4096).unwrap();
        let theirs = crate::segment::View::open(&dir, "word").unwrap();
        let sleeper = std::thread::spawn(move || {
            let word = crate::sync::low_half(&theirs.words(8, 1).unwrap()[0]).unwrap();
            wait(word, 0, None)
        });
        let word = crate::sync::low_half(&ours.words(8, 1).unwrap()[0]).unwrap();
        assert_eq!(wake_until_done(word, sleeper), WaitEnd::Woken);
    });
}

extern "C" fn ignore(_: libc::c_int) {}

#[test]
fn a_signal_is_reported_and_not_slept_through() {
    watched(|| {
        // SAFETY: a handler that does nothing, without SA_RESTART, for a signal that no other test uses: what is armed is the process's.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore as extern "C" fn(libc::c_int) as usize;
            assert_eq!(libc::sigaction(libc::SIGWINCH, &action, std::ptr::null_mut()), 0);
        }
        let (send, receive) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            // SAFETY: answers this thread's own handle.
            send.send(unsafe { libc::pthread_self() } as usize).unwrap();
            wait(&AtomicU32::new(0), 0, None)
        });
        let thread = receive.recv().unwrap();
        while !sleeper.is_finished() {
            // SAFETY: the thread is not joined yet, so its handle is valid.
            unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGWINCH) };
            std::thread::yield_now();
        }
        assert_eq!(sleeper.join().unwrap(), WaitEnd::Signal);
    });
}
