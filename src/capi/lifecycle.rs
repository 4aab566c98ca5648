//! The hooks that run at the exit of the process and at a fork. The OS-specific code of these hooks is only in this
//! file.

use crate::host::heap;
use crate::lock::{Hold, rank};
use crate::runtime::{exit, process, tracing};
use parking_lot::Mutex;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// With validation on, this many of the first calls register the exit hook again.
const HOOKED_CALLS: u32 = 4096;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
extern "C" fn at_exit() {
    exit::at_exit(None);
}

/// glibc's hook, which knows the exit status.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn on_exit(status: libc::c_int, _: *mut libc::c_void) {
    if process::must_skip_drivers_exit() {
        // The handlers that run after this one are the driver's (decision 5). They wait for threads
        // that do not exist in the child.
        // SAFETY: a null stream means all; the process ends here.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status);
        }
    }
    exit::at_exit(Some(status));
}

/// Held while a hook is registered, and during a fork: the child calls exit(), so the C library's
/// own lock of its exit handlers must be free there.
static REGISTERING: Mutex<()> = Mutex::new(());

#[cfg(unix)]
extern "C" fn before_fork() {
    // A forked child that forks again holds the lock for good.
    if !process::is_forked() {
        std::mem::forget(REGISTERING.lock());
        heap::before_fork();
    }
}

#[cfg(unix)]
extern "C" fn after_fork() {
    if !process::is_forked() {
        heap::after_fork();
        // SAFETY: this thread locked it in `before_fork`.
        unsafe { REGISTERING.force_unlock() };
    }
}

/// In the child, REGISTERING stays locked: a child registers nothing, and threads that waited for the
/// lock do not exist there.
#[cfg(unix)]
extern "C" fn in_forked_child() {
    if !process::is_forked() {
        heap::after_fork();
    }
    process::in_forked_child();
}

/// Completed by the first use of the library.
static HOOKS: Once = Once::new();

/// Installs the hooks at the first use. After a fork before the first use, parent and child may
/// both use the library.
pub(super) fn install() {
    if process::is_forked() {
        return;
    }
    if !HOOKS.is_completed() {
        first_use();
    }
    if process::needs_call_checks() {
        hook_exit_again();
    }
}

#[cold]
fn first_use() {
    #[cfg(unix)]
    {
        /// The first process that called this function; 0 if none has.
        static USER: AtomicU32 = AtomicU32::new(0);
        let this_process = std::process::id();
        let user =
            USER.compare_exchange(0, this_process, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|user| user);
        if !HOOKS.is_completed() && user != 0 && user != this_process {
            // The process was forked while another thread was in call_once() below; that thread does not exist here.
            return process::in_forked_child();
        }
    }
    HOOKS.call_once(|| {
        #[cfg(unix)]
        // SAFETY: the functions do not unwind, and stay: the library is never unloaded (build.rs).
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_forked_child));
        }
        // On other systems a linker option keeps the library loaded (build.rs).
        #[cfg(windows)]
        crate::host::system::keep_loaded(first_use as *const () as usize);
        process::set_hook_exit(hook_exit);
    });
    tracing::begin_if_set();
}

/// True once the library was used.
pub(super) fn is_used() -> bool {
    HOOKS.is_completed()
}

/// With the validation layer on, registers the exit hook again after each of the first calls. The
/// layer makes static objects at their first use, and exit() destroys them before it runs hooks
/// that were registered earlier.
pub(super) fn hook_exit_again() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    if crate::config::get().validation > 0
        && CALLS.load(Ordering::Relaxed) < HOOKED_CALLS
        && CALLS.fetch_add(1, Ordering::Relaxed) < HOOKED_CALLS
    {
        hook_exit();
    }
}

/// Registers the exit hook once. Once is enough, because drivers on Windows register nothing with the program's C
/// library. A registration during exit() would block: exit() holds the lock of its handlers while they run, and our
/// handler waits for threads inside calls.
#[cfg(windows)]
fn hook_exit() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(register);
}

#[cfg(not(windows))]
fn hook_exit() {
    register();
}

fn register() {
    let _hold = Hold::new(rank::HOOKS, 0);
    let _registering = REGISTERING.lock();
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
    #[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
    // SAFETY: as above.
    let failed = unsafe { libc::atexit(at_exit) };
    #[cfg(windows)]
    let failed = i32::from(!crate::host::system::at_exit_of_program(at_exit));
    if failed != 0 {
        crate::log!(
            Warn,
            "the exit hook could not be registered: pending work may be lost at the end of the process; call \
             revamp_uninitialize() before the process ends"
        );
    }
}
