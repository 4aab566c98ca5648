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

/// Installs the hooks, once.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function takes nothing, does not unwind, and stays: the library is never unloaded (build.rs).
        if unsafe { libc::atexit(at_exit) } != 0 {
            crate::log!(Warn, "no exit hook: work that is not waited for may be lost at the end of the process");
        }
        #[cfg(unix)]
        // SAFETY: as above; the child's hook only stores a flag.
        unsafe {
            libc::pthread_atfork(None, None, Some(in_forked_child));
        }
    });
}
