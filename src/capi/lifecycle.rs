//! The hooks into the process: exit and fork. The one place that knows how a system calls them.

use crate::runtime::process;
use std::sync::Once;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
extern "C" fn at_exit() {
    process::at_exit();
}

/// glibc's hook, which knows the exit status.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn on_exit(status: libc::c_int, _: *mut libc::c_void) {
    if process::must_skip_drivers_exit() {
        // The handlers behind this one are the driver's (decision 5). They wait for threads that the child has not.
        // SAFETY: a null stream means all; the process ends here.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status);
        }
    }
    process::at_exit();
}

#[cfg(unix)]
extern "C" fn in_forked_child() {
    process::in_forked_child();
}

/// Installs the hooks: that for exit again after a driver was loaded, so that it runs before the driver's own.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        hook_exit();
        #[cfg(unix)]
        // SAFETY: the child's hook only stores a flag, and stays: the library is never unloaded (build.rs).
        unsafe {
            libc::pthread_atfork(None, None, Some(in_forked_child));
        }
    });
    if process::needs_hook() {
        hook_exit();
    }
}

fn hook_exit() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    let failed = {
        unsafe extern "C" {
            #[link_name = "on_exit"]
            fn register(hook: extern "C" fn(libc::c_int, *mut libc::c_void), context: *mut libc::c_void)
            -> libc::c_int;
        }
        // SAFETY: the function does not unwind, and stays: the library is never unloaded (build.rs).
        unsafe { register(on_exit, std::ptr::null_mut()) }
    };
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    // SAFETY: as above.
    let failed = unsafe { libc::atexit(at_exit) };
    if failed != 0 {
        crate::log!(Warn, "no exit hook: work that is not waited for may be lost at the end of the process");
    }
}
