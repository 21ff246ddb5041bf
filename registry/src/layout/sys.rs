//! Two questions to the kernel that std does not ask.

use std::io;

/// 64 random bits, never 0.
pub(crate) fn random_u64() -> io::Result<u64> {
    let mut bytes = [0u8; 8];
    loop {
        // SAFETY: the pointer and length are those of a live, writable array.
        let n = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        let value = u64::from_ne_bytes(bytes);
        match n {
            8 if value != 0 => return Ok(value),
            n if n < 0 => {
                let e = io::Error::last_os_error();
                if e.kind() != io::ErrorKind::Interrupted {
                    return Err(e);
                }
            }
            _ => {}
        }
    }
}

/// The effective user of this process.
pub(crate) fn effective_uid() -> u32 {
    // SAFETY: takes nothing, touches no memory, cannot fail.
    unsafe { libc::geteuid() }
}
