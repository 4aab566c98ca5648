//! The privileges of the process. `unsafe` here is only for system calls that take and return plain numbers.

#![allow(unsafe_code)]

/// True if the process has more privileges than the user who started it (set-user-id, set-group-id, file capabilities), so that
/// its environment cannot be trusted. secure_getenv() uses the same criterion.
pub fn is_raised() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: getauxval takes a number and returns one.
    let raised = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(all(unix, not(target_os = "linux")))]
    // SAFETY: these functions take nothing and return numbers.
    let raised = unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() };
    #[cfg(not(unix))]
    let raised = false;
    raised
}

/// The effective user, who owns the files that this process creates.
#[cfg(unix)]
pub fn effective_user() -> u32 {
    // SAFETY: geteuid takes nothing and returns a number.
    unsafe { libc::geteuid() }
}
