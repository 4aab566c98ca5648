//! The privileges of the process. `unsafe` here is only for system calls that take and return plain numbers.

#![allow(unsafe_code)]

/// True if the process has more rights than the user who started it (set-user-id, set-group-id, file capabilities): its
/// environment cannot be trusted then. secure_getenv() decides in the same way.
pub fn is_raised() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: getauxval takes a number and returns one.
    let raised = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(all(unix, not(target_os = "linux")))]
    // SAFETY: these take nothing and return numbers.
    let raised = unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() };
    #[cfg(not(unix))]
    let raised = false;
    raised
}

/// The user who owns the files that this process makes.
#[cfg(unix)]
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing and returns a number.
    unsafe { libc::geteuid() }
}
