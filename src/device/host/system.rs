//! What only the operating system knows.

#![allow(unsafe_code)]

/// Bytes of the host's memory; 0 where it cannot be told.
#[cfg(unix)]
pub fn total_memory() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0)
}

/// Bytes of a page of the host's memory.
#[cfg(unix)]
pub fn page_size() -> u64 {
    // SAFETY: sysconf takes a number and returns one.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(0).max(1)
}

/// Bytes of a page of the host's memory.
#[cfg(not(unix))]
pub fn page_size() -> u64 {
    // All processors that Windows runs on.
    4096
}

/// Bytes of the host's memory; 0 where it cannot be told.
#[cfg(not(unix))]
pub fn total_memory() -> u64 {
    0
}
