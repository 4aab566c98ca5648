//! As whom the process runs. `unsafe` here is only for calls of the system that take and give plain numbers.

#![allow(unsafe_code)]

/// True if the process has more rights than who started it (set-user-id, set-group-id, file capabilities). Its environment is
/// a stranger's then. The same answer as secure_getenv() goes by.
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

/// The user that files made by this process belong to.
#[cfg(unix)]
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing and returns a number.
    unsafe { libc::geteuid() }
}
