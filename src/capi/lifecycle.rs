//! The hooks into the process: exit and fork. The one place that knows how a system calls them.

use crate::runtime::process;
use std::sync::Once;

extern "C" fn at_exit() {
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
    // SAFETY: the function takes nothing, does not unwind, and stays: the library is never unloaded (build.rs).
    if unsafe { libc::atexit(at_exit) } != 0 {
        crate::log!(Warn, "no exit hook: work that is not waited for may be lost at the end of the process");
    }
}
