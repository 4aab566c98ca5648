//! The exit and fork hooks. Only this file knows how each system calls them.

use crate::host::heap;
use crate::lock::{Hold, rank};
use crate::runtime::{exit, process, tracing};
use parking_lot::Mutex;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// For how many calls the hook is registered again if validation is on.
const HOOKED_CALLS: u32 = 4096;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
extern "C" fn at_exit() {
    exit::at_exit(None);
}

/// glibc's hook, which knows the exit status.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn on_exit(status: libc::c_int, _: *mut libc::c_void) {
    if process::must_skip_drivers_exit() {
        // The handlers behind this one are the driver's (decision 5). They wait for threads that
        // the child does not have.
        // SAFETY: a null stream means all; the process ends here.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status);
        }
    }
    exit::at_exit(Some(status));
}

/// Held while a hook is registered, and during a fork: the C library's own lock of its exit
/// handlers must be free in the child, which calls exit().
static REGISTERING: Mutex<()> = Mutex::new(());

#[cfg(unix)]
extern "C" fn before_fork() {
    // A child that forks holds it for good.
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

/// The lock stays taken: a child registers nothing, and threads that waited for the lock do not
/// exist in it.
#[cfg(unix)]
extern "C" fn in_forked_child() {
    if !process::is_forked() {
        heap::after_fork();
    }
    process::in_forked_child();
}

/// Completed by the first use of the library.
static HOOKS: Once = Once::new();

/// Installs the hooks at the first use. A process that is forked before may use the library in
/// parent and child alike.
pub(super) fn install() {
    if process::is_forked() {
        return;
    }
    if !HOOKS.is_completed() {
        first_use();
    }
    if process::looks() {
        renew();
    }
}

#[cold]
fn first_use() {
    #[cfg(unix)]
    {
        /// The process that came here first; 0 if none has.
        static USER: AtomicU32 = AtomicU32::new(0);
        let own = std::process::id();
        let user = USER.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|user| user);
        if !HOOKS.is_completed() && user != 0 && user != own {
            // Forked while another thread was below: the child does not have that thread.
            return process::in_forked_child();
        }
    }
    HOOKS.call_once(|| {
        #[cfg(unix)]
        // SAFETY: the functions do not unwind, and stay: the library is never unloaded (build.rs).
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_forked_child));
        }
        // On other systems the linker sees to it (build.rs).
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

/// The validation layer makes static objects at their first use, and exit destroys them before
/// hooks registered earlier run. So with the layer on, the hook is registered again after each of
/// the first calls.
pub(super) fn renew() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    if crate::config::get().validation > 0
        && CALLS.load(Ordering::Relaxed) < HOOKED_CALLS
        && CALLS.fetch_add(1, Ordering::Relaxed) < HOOKED_CALLS
    {
        hook_exit();
    }
}

/// Drivers of Windows register nothing with the program's C library, so the first time is enough. Later ones would wait: exit()
/// holds the lock of its handlers while they run, and ours waits for the threads that are inside of calls.
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
             revamp_uninitialize() before"
        );
    }
}
