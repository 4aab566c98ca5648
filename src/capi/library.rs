//! The C API of the library itself: version, users, uninitialization, log.

use super::guard::{c_text, guard, guard_release, guard_unused};
use super::handle;
use super::loaded;
use super::pointer;
use super::types::*;
use crate::config;
use crate::runtime::uninitialize;
use crate::runtime::user::User;
use crate::trace::log::{self, Level};
use std::ffi::c_void;
use std::sync::Arc;

/// Returns the library's version as REVAMP_MAKE_VERSION() packs it. Compare with `>=`.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_version() -> u32 {
    (REVAMP_VERSION_MAJOR << 22) | (REVAMP_VERSION_MINOR << 12) | REVAMP_VERSION_PATCH
}

/// Returns the library's REVAMP_ABI_VERSION. A program whose header has a different value must not
/// use the library.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_abi_version() -> u32 {
    REVAMP_ABI_VERSION
}

/// Makes a user of the library. While a user exists, revamp_uninitialize() does nothing, so that no
/// other part of the process can invalidate the user's handles. An independent part of a process,
/// such as a plugin, makes a user before its first other call, and calls revamp_user_destroy()
/// after it has released its objects. It may then call revamp_uninitialize(), which ends the
/// library if no other user exists. The default accelerator and the log belong to the process: the
/// program sets them, and a plugin names the accelerator_views that it uses.
/// Errors: REVAMP_ERROR_RUNTIME while revamp_uninitialize() runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_user_create(user: *mut revamp_user) -> revamp_status {
    guard(|| {
        pointer::check_out(user, "user")?;
        let handle = handle::insert(User::new()?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(user, "user", handle) }
    })
}

/// Destroys a user. The library continues until revamp_uninitialize() is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_user_destroy(user: revamp_user) -> revamp_status {
    guard_release(|| handle::release::<User, _>(user))
}

/// Waits for all work, then destroys all objects and closes all devices (C++ AMP's
/// amp_uninitialize). All handles are invalid afterwards. The next call initializes the library
/// again, and a default accelerator can be set again. May be called repeatedly. Calls on other
/// threads at the same time fail with REVAMP_ERROR_INVALID_HANDLE or have an undefined effect, but
/// do no harm. While a revamp_user exists, this call does nothing and returns REVAMP_OK.
/// Errors: REVAMP_ERROR_RUNTIME in a host kernel, because the call would wait for that kernel.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_uninitialize() -> revamp_status {
    guard_unused(|| uninitialize(handle::clear_all))
}

/// Sends log messages up to `level` to `callback`, which gets `context`; if `callback` is NULL, to
/// standard error. Overrides REVAMP_LOG's level. When the call returns, the previous callback may
/// still be running on another thread; its module stays loaded. Work that is abandoned so that the
/// process can exit is always reported on standard error.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_set_log_callback(
    callback: revamp_log_callback,
    context: *mut c_void,
    level: revamp_log_level,
) -> revamp_status {
    guard_unused(|| {
        let level = match level {
            REVAMP_LOG_OFF => Level::Off,
            REVAMP_LOG_ERROR => Level::Error,
            REVAMP_LOG_WARN => Level::Warn,
            REVAMP_LOG_INFO => Level::Info,
            REVAMP_LOG_DEBUG => Level::Debug,
            other => {
                return Err(crate::error::Error::invalid(format!(
                    "the log level {other} is unknown; pass REVAMP_LOG_OFF (0) to REVAMP_LOG_DEBUG (4)"
                )));
            }
        };
        config::get();
        if let Some(callback) = callback {
            loaded::keep(callback as usize);
        }
        let context = Context(context);
        log::set_hook(callback.map(|f| -> log::Hook {
            Arc::new(move |level: Level, text: &str| {
                let text = c_text(text);
                // SAFETY: the caller of revamp_set_log_callback vouches for the function and its context.
                unsafe { f(level as u32, text.as_ptr(), context.get()) }
            })
        }));
        log::set_level(level);
        Ok(())
    })
}

/// The context pointer that the program passed for a callback.
#[derive(Clone, Copy)]
pub(super) struct Context(pub(super) *mut c_void);

// SAFETY: the header says that callbacks run on any thread, so their context must be usable there.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The pointer. A method, so that closures capture the whole wrapper.
    pub(super) fn get(self) -> *mut c_void {
        self.0
    }
}
