//! File descriptors of the program. Each is checked before a driver gets it: drivers read from any descriptor, so a
//! pipe would block for ever.

#![allow(unsafe_code)]

use crate::error::{Error, Result};

/// Fails if the file descriptor cannot have been exported by a driver. Drivers export unnamed files (memory files, dma-bufs, synchronisation
/// objects) and their own devices.
pub(super) fn check(fd: i32, what: &str) -> Result<()> {
    found(fd).map_or(Ok(()), |found| {
        Err(Error::invalid(format!(
            "file descriptor {fd} is {found} and cannot be {what}; pass a file descriptor that revamp or the same \
             driver has exported"
        )))
    })
}

/// A new descriptor of the same file. Close it unless a driver takes it over.
#[cfg(unix)]
pub(super) fn duplicate(fd: i32) -> Result<i32> {
    // SAFETY: the call fails for numbers that are no descriptors.
    let made = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if made < 0 {
        let e = std::io::Error::last_os_error();
        return Err(Error::runtime(format!("file descriptor {fd} cannot be duplicated: {e}")));
    }
    Ok(made)
}

#[cfg(not(unix))]
pub(super) fn duplicate(fd: i32) -> Result<i32> {
    Ok(fd)
}

/// Closes a descriptor.
///
/// # Safety
/// The descriptor belongs to the caller, and nothing uses it any more.
pub unsafe fn close(fd: i32) {
    #[cfg(unix)]
    // SAFETY: by the caller.
    unsafe {
        libc::close(fd);
    }
    let _ = fd;
}

/// The kind of file behind the descriptor, if no driver exports that kind.
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
        // Memory files have no name, so their link count is 0.
        libc::S_IFREG if stat.st_nlink > 0 => Some("a regular file"),
        libc::S_IFCHR if is_non_gpu(stat.st_rdev) => Some("a terminal, or a device such as /dev/null"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn found(_: i32) -> Option<&'static str> {
    None
}

/// True for character devices that do not belong to a GPU driver: memory, terminals and consoles, by Linux's list of major numbers.
#[cfg(target_os = "linux")]
fn is_non_gpu(device: libc::dev_t) -> bool {
    matches!(libc::major(device), 1 | 4 | 5 | 136..=143)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_non_gpu(_: libc::dev_t) -> bool {
    false
}
