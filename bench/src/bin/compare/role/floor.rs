//! What no RMW can be faster than: a bare futex ping-pong between two processes, and memcpy of the same bytes.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use crate::clock::{cpu, now, seconds};
use crate::control::{say, Control};
use crate::error::{io, Error, Result};
use crate::histogram::Times;
use crate::job::Job;

/// Maps the first `len` bytes of the job's file, for good.
pub(super) fn map(job: &Job, len: usize) -> Result<NonNull<u8>> {
    let open = || File::options().read(true).write(true).open(&job.file);
    let file = open().map_err(io(format!("open {}", job.file.display())))?;
    let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: no address is asked for, and the mapping is new memory of this process.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), len, access, shared, file.as_raw_fd(), 0) };
    match NonNull::new(at.cast::<u8>()) {
        Some(at) if at.as_ptr().cast() != libc::MAP_FAILED => Ok(at),
        _ => Err(Error::Io { what: "map the floor's file".into(), source: std::io::Error::last_os_error() }),
    }
}

/// Two words of the job's file, a few cache lines apart: there and back.
fn words(job: &Job) -> Result<[&'static AtomicU32; 2]> {
    let first = map(job, 4096)?.cast::<AtomicU32>();
    // SAFETY: the mapping is a page long and stays for good, so words in it may be borrowed for good; all access to them
    // is atomic.
    unsafe { Ok([first.as_ref(), first.add(64).as_ref()]) }
}

/// Moves a word and wakes its sleeper.
pub(super) fn send(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    // SAFETY: the word lives for good.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Sleeps until a word has moved on from `seen`; false when nothing came for a while.
pub(super) fn receive(word: &AtomicU32, seen: u32) -> bool {
    let timeout = libc::timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    for _ in 0..2 {
        if word.load(Ordering::Acquire) != seen {
            return true;
        }
        // SAFETY: the word and the time live through the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &timeout) };
    }
    word.load(Ordering::Acquire) != seen
}

/// Measures round trips.
pub fn ping(job: &Job, control: &Control) -> Result<()> {
    let [there, back] = words(job)?;
    control.ready()?;
    let (mut times, cpu_before) = (Times::new()?, cpu());
    let end = now() + seconds(job.seconds).as_nanos() as u64;
    let (mut number, mut last) = (0u32, now());
    while last < end {
        number = number.wrapping_add(1);
        send(there, number);
        if receive(back, number.wrapping_sub(1)) {
            times.add(now() - last);
        }
        last = now();
    }
    let mut summary = times.summary();
    summary["cpu per trip"] = json!((cpu() - cpu_before) as f64 / 1000.0 / f64::from(number.max(1)));
    say(&summary)?;
    control.wait_for_stop();
    Ok(())
}

/// Sends back what comes.
pub fn pong(job: &Job, control: &Control) -> Result<()> {
    let [there, back] = words(job)?;
    control.ready()?;
    let (mut seen, cpu_before) = (0, cpu());
    while !control.is_stopped() {
        if receive(there, seen) {
            seen = there.load(Ordering::Acquire);
            send(back, seen);
        }
    }
    say(&json!({ "cpu per trip": (cpu() - cpu_before) as f64 / 1000.0 / f64::from(seen.max(1)) }))
}

/// Where a copy starts: some distances of source and target, modulo a page, are ten times slower than others.
const PAGE: usize = 4096;

/// From the first page on of a buffer.
fn aligned(buffer: &mut [u8], size: usize) -> &mut [u8] {
    let start = buffer.as_ptr().align_offset(PAGE);
    &mut buffer[start..start + size]
}

/// Copies the payload from one private buffer to another, again and again.
pub fn copy(job: &Job, control: &Control) -> Result<()> {
    let (mut from, mut to) = (vec![1u8; job.size + PAGE], vec![0u8; job.size + PAGE]);
    let (from, to) = (aligned(&mut from, job.size), aligned(&mut to, job.size));
    control.ready()?;
    let mut times = Times::new()?;
    let end = now() + seconds(job.seconds).as_nanos() as u64;
    // So many in one go that the clock does not count.
    let batch = (1 << 16) / job.size.max(1) + 1;
    let mut last = now();
    while last < end {
        for _ in 0..batch {
            std::hint::black_box(&mut to[..]).copy_from_slice(std::hint::black_box(&from[..]));
        }
        let time = now();
        times.add((time - last) * 16 / batch as u64);
        last = time;
    }
    say(&json!({ "ns": times.median() / 16.0 }))?;
    control.wait_for_stop();
    Ok(())
}
