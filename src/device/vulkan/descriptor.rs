//! What a file descriptor of the program can be, before a driver gets it: drivers read what they are given, and wait for ever for a pipe.

#![allow(unsafe_code)]

use crate::error::{Error, Result};

/// Fails if nothing that a driver has exported can be behind the file descriptor. Drivers export files without a name (memory files, dma-bufs,
/// synchronisation objects) and their own devices.
pub(super) fn check(fd: i32, what: &str) -> Result<()> {
    found(fd).map_or(Ok(()), |found| {
        Err(Error::invalid(format!(
            "file descriptor {fd} is {found} and cannot be {what}; pass one that revamp or the same driver has exported"
        )))
    })
}

/// What the file descriptor is instead.
#[cfg(unix)]
fn found(fd: i32) -> Option<&'static str> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call writes the struct if it succeeds, and fails for numbers that are no descriptors.
    let stat = unsafe {
        if fd < 0 || libc::fstat(fd, stat.as_mut_ptr()) != 0 {
            return Some("not open");
        }
        stat.assume_init()
    };
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFIFO => Some("a pipe"),
        libc::S_IFSOCK => Some("a socket"),
        libc::S_IFDIR => Some("a directory"),
        libc::S_IFBLK => Some("a block device"),
        libc::S_IFLNK => Some("a symbolic link"),
        // Memory files have no name.
        libc::S_IFREG if stat.st_nlink > 0 => Some("a regular file"),
        libc::S_IFCHR if is_general(stat.st_rdev) => Some("a terminal, or a device such as /dev/null"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn found(_: i32) -> Option<&'static str> {
    None
}

/// True of character devices that no driver of a GPU makes: memory, terminals and consoles, by Linux's list of numbers.
#[cfg(target_os = "linux")]
fn is_general(device: libc::dev_t) -> bool {
    matches!(libc::major(device), 1 | 4 | 5 | 136..=143)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_general(_: libc::dev_t) -> bool {
    false
}
