//! The few system calls std does not offer, each with an `io::Result`.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};

/// tmpfs undoes an interrupted fallocate, so a large one goes in steps of this size to make progress under signals.
const FALLOCATE_STEP: u64 = 16 << 20;

fn c_name(name: &str) -> io::Result<CString> {
    CString::new(name).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

fn retry(mut call: impl FnMut() -> libc::c_int) -> io::Result<libc::c_int> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// openat, always close-on-exec and never through a symlink.
pub(crate) fn open_at(dir: &File, name: &str, flags: libc::c_int, mode: u32) -> io::Result<File> {
    let name = c_name(name)?;
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the directory is open for the length of the call and the name is NUL-terminated.
    let fd = retry(|| unsafe { libc::openat(dir.as_raw_fd(), name.as_ptr(), flags, mode) })?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// mkdirat with mode 0700 (less the umask).
pub(crate) fn mkdir_at(dir: &File, name: &str) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: as in open_at.
    retry(|| unsafe { libc::mkdirat(dir.as_raw_fd(), name.as_ptr(), 0o700) }).map(drop)
}

/// fchmodat of a name just made by this process.
pub(crate) fn chmod_at(dir: &File, name: &str, mode: u32) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: as in open_at.
    retry(|| unsafe { libc::fchmodat(dir.as_raw_fd(), name.as_ptr(), mode, 0) }).map(drop)
}

/// unlinkat; `flags` is 0 or AT_REMOVEDIR.
pub(crate) fn unlink_at(dir: &File, name: &str, flags: libc::c_int) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: as in open_at.
    retry(|| unsafe { libc::unlinkat(dir.as_raw_fd(), name.as_ptr(), flags) }).map(drop)
}

/// Gives a finished file or directory its name, unless the name is taken (EEXIST).
pub(crate) fn rename_new(dir: &File, from: &str, to: &str) -> io::Result<()> {
    let (from, to) = (c_name(from)?, c_name(to)?);
    let fd = dir.as_raw_fd();
    // SAFETY: as in open_at, for both names.
    retry(|| unsafe { libc::renameat2(fd, from.as_ptr(), fd, to.as_ptr(), libc::RENAME_NOREPLACE) }).map(drop)
}

/// Reserves the pages under a byte range, so that writing there cannot fail.
pub(crate) fn allocate(file: &File, offset: u64, len: u64) -> io::Result<()> {
    if len > FALLOCATE_STEP && room(file).is_some_and(|room| room < len) {
        // Else the steps would fill the file system for a moment, and others would run out of space.
        return Err(io::Error::from_raw_os_error(libc::ENOSPC));
    }
    let mut done = 0;
    while done < len {
        let step = (len - done).min(FALLOCATE_STEP);
        fallocate(file, 0, offset + done, step)?;
        done += step;
    }
    Ok(())
}

/// Free bytes of the file's file system; `None` where it has no limit of its own.
fn room(file: &File) -> Option<u64> {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut found: libc::statvfs64 = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor, and a result that lives through the call.
    retry(|| unsafe { libc::fstatvfs64(file.as_raw_fd(), &mut found) }).ok()?;
    (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

/// Gives the pages wholly inside a byte range back to the file system; they read as zeros afterwards.
pub(crate) fn punch(file: &File, offset: u64, len: u64) -> io::Result<()> {
    fallocate(file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, offset, len)
}

fn fallocate(file: &File, mode: libc::c_int, offset: u64, len: u64) -> io::Result<()> {
    let too_big = |_| io::Error::from_raw_os_error(libc::EFBIG);
    let offset = libc::off64_t::try_from(offset).map_err(too_big)?;
    let len = libc::off64_t::try_from(len).map_err(too_big)?;
    // SAFETY: takes an open descriptor and no pointer.
    retry(|| unsafe { libc::fallocate64(file.as_raw_fd(), mode, offset, len) }).map(drop)
}

/// The names in a directory, without "." and "..". Names that are not UTF-8 are not ours and are left out.
pub(crate) fn names(dir: &File) -> io::Result<Vec<String>> {
    // A fresh open file description: reading moves its position.
    let fd = open_at(dir, ".", libc::O_RDONLY | libc::O_DIRECTORY, 0)?.into_raw_fd();
    // SAFETY: the descriptor is open and is owned by the stream from here on.
    let stream = unsafe { libc::fdopendir(fd) };
    if stream.is_null() {
        let error = io::Error::last_os_error();
        // SAFETY: fdopendir failed, so the descriptor is still ours to close.
        drop(unsafe { File::from_raw_fd(fd) });
        return Err(error);
    }
    let result = read_names(stream);
    // SAFETY: the stream is open and not used afterwards.
    unsafe { libc::closedir(stream) };
    result
}

fn read_names(stream: *mut libc::DIR) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    loop {
        // SAFETY: errno is this thread's own.
        unsafe { *libc::__errno_location() = 0 };
        // SAFETY: the stream is open and used by this thread alone.
        let entry = unsafe { libc::readdir64(stream) };
        if entry.is_null() {
            let error = io::Error::last_os_error();
            return if error.raw_os_error() == Some(0) { Ok(names) } else { Err(error) };
        }
        // SAFETY: readdir gave an entry whose name is NUL-terminated and valid until the next call.
        let name = unsafe { CStr::from_ptr(std::ptr::addr_of!((*entry).d_name).cast()) };
        match name.to_str() {
            Ok("." | "..") | Err(_) => {}
            Ok(name) => names.push(name.to_owned()),
        }
    }
}

/// The effective user id of this process.
pub(crate) fn effective_uid() -> u32 {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Bytes of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: sysconf takes no pointer.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A name for something unfinished, that no other process or thread chooses: it is random.
pub(crate) fn temporary_name(finished: &str) -> io::Result<String> {
    let mut random = [0_u8; 8];
    // SAFETY: the buffer has the length given.
    let got = unsafe { libc::getrandom(random.as_mut_ptr().cast(), random.len(), 0) };
    if got != 8 {
        return Err(io::Error::last_os_error());
    }
    Ok(format!("{finished}~{:016x}", u64::from_ne_bytes(random)))
}

/// The name that something of such a name was to get when finished; `None` for other names.
pub(crate) fn finished_name(temporary: &str) -> Option<&str> {
    let (name, random) = temporary.rsplit_once('~')?;
    (random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
}
