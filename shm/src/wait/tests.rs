use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::{enlist, Interrupt};
use crate::doorbell::{Doorbell, Parking};
use crate::futex::{Deadline, WaitEnd};
use crate::testing::watched;

/// The flag and the handlers are the process's.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn handler_of(signal: i32) -> usize {
    // SAFETY: only asks; the struct is plain data that lives through the call.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        assert_eq!(libc::sigaction(signal, std::ptr::null(), &mut now), 0);
        now.sa_sigaction
    }
}

extern "C" fn of_the_user(_: i32) {}

fn set_handler(signal: i32, handler: usize) {
    // SAFETY: a handler that does nothing, or the default.
    unsafe { libc::signal(signal, handler) };
}

#[test]
fn two_objects_see_one_flag() {
    let _one = ONE_AT_A_TIME.lock();
    let (a, b) = (Interrupt::new(&[]).unwrap(), Interrupt::new(&[]).unwrap());
    assert!(!b.interrupted());
    a.interrupt();
    assert!(b.interrupted());
    drop(a);
    b.resume();
    assert!(!Interrupt::new(&[]).unwrap().interrupted());
}

#[test]
fn the_last_object_restores_what_the_first_displaced() {
    let _one = ONE_AT_A_TIME.lock();
    let ours = of_the_user as extern "C" fn(i32) as usize;
    set_handler(libc::SIGUSR1, ours);
    let first = Interrupt::new(&[libc::SIGUSR1, libc::SIGUSR2]).unwrap();
    let second = Interrupt::new(&[libc::SIGUSR1]).unwrap();
    drop(first);
    assert_ne!(handler_of(libc::SIGUSR1), ours, "the second still has it armed");
    assert_eq!(handler_of(libc::SIGUSR2), libc::SIG_DFL);
    drop(second);
    assert_eq!(handler_of(libc::SIGUSR1), ours);
    set_handler(libc::SIGUSR1, libc::SIG_DFL);
}

#[test]
fn a_signal_that_cannot_be_armed_gives_the_others_back() {
    let _one = ONE_AT_A_TIME.lock();
    let before = handler_of(libc::SIGUSR1);
    for impossible in [libc::SIGKILL, libc::SIGSEGV, 0, 4711] {
        let error = Interrupt::new(&[libc::SIGUSR1, impossible]).expect_err("it cannot be caught");
        assert!(error.to_string().contains(&format!("signal {impossible} ")), "{error}");
        assert_eq!(handler_of(libc::SIGUSR1), before);
    }
}

#[test]
fn a_signal_wakes_every_parked_thread_of_the_process() {
    let _one = ONE_AT_A_TIME.lock();
    watched(|| {
        let interrupt = Interrupt::new(&[libc::SIGUSR2]).unwrap();
        let words = [AtomicU32::new(0), AtomicU32::new(0)];
        let parkings = [Parking::new(), Parking::new()];
        // SAFETY: the words outlive the values, which are dropped at the end of this block.
        let enlisted = [0, 1].map(|i| unsafe { enlist(Doorbell(&words[i])) });
        std::thread::scope(|scope| {
            let sleepers = [0, 1].map(|i| {
                let (word, parking, interrupt) = (&words[i], &parkings[i], &interrupt);
                scope.spawn(move || {
                    let parked = parking.park(Doorbell(word));
                    match interrupt.interrupted() {
                        true => WaitEnd::Woken,
                        false => parked.sleep(Some(Deadline::after(Duration::from_secs(30)))),
                    }
                })
            });
            while words.iter().any(|word| word.load(Ordering::Relaxed) == 0) {
                std::thread::yield_now();
            }
            // SAFETY: a handler for it is installed.
            unsafe { libc::kill(libc::getpid(), libc::SIGUSR2) };
            for sleeper in sleepers {
                assert_ne!(sleeper.join().unwrap(), WaitEnd::TimedOut);
            }
        });
        assert!(interrupt.interrupted());
        interrupt.resume();
        drop(enlisted);
    });
}

#[test]
fn a_forked_child_starts_uninterrupted_and_wakes_nobody_of_its_parent() {
    let _one = ONE_AT_A_TIME.lock();
    let interrupt = Interrupt::new(&[]).unwrap();
    let word = AtomicU32::new(crate::doorbell::PARKED);
    // SAFETY: the word outlives the value.
    let enlisted = unsafe { enlist(Doorbell(&word)) };
    interrupt.interrupt();
    assert_ne!(word.swap(crate::doorbell::PARKED, Ordering::Relaxed), crate::doorbell::PARKED, "rung");
    // SAFETY: the child only uses atomics and leaves without any handler.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let lowered = !interrupt.interrupted();
        interrupt.interrupt();
        let silent = word.load(Ordering::Relaxed) == crate::doorbell::PARKED;
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!lowered) + 2 * i32::from(!silent)) };
    }
    let mut status = 0;
    // SAFETY: the child above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "1: still interrupted, 2: the parent's doorbell was rung (times 256)");
    interrupt.resume();
    drop(enlisted);
}
