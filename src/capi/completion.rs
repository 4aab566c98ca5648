//! completion (C++ AMP's completion_future, docs/spec/copies.md#completion_future).

use super::guard::{c_text, fail, guard, guard_release, guard_status, status_of};
use super::handle::{get, insert, release, retain};
use super::library::Context;
use super::loaded;
use super::pointer;
use super::types::*;
use crate::error::{Error, Result};
use crate::runtime::operations::completion::Completion;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

/// Hands a completion to the caller.
///
/// # Safety
/// `out` is null or writable.
pub(super) unsafe fn give(out: *mut revamp_completion, what: &str, completion: Arc<Completion>) -> Result<()> {
    pointer::check_out(out, what)?;
    let handle = insert(completion)?;
    // SAFETY: the same contract.
    unsafe { pointer::write(out, what, handle) }
}

/// Adds an owner of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_retain(completion: revamp_completion) -> revamp_status {
    guard(|| retain::<Completion, _>(completion))
}

/// Removes an owner of the completion. The operation goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_release(completion: revamp_completion) -> revamp_status {
    guard_release(|| release::<Completion, _>(completion))
}

/// Waits until the operation is done. Does not return its failure; revamp_completion_get() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_wait(completion: revamp_completion) -> revamp_status {
    guard(|| get::<Completion, _>(completion)?.wait(None).map(drop))
}

/// Waits until the operation is done, at most `nanoseconds` (0: does not wait). Returns REVAMP_OK
/// if it is done, even if it failed, else REVAMP_TIMEOUT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_wait_for(completion: revamp_completion, nanoseconds: u64) -> revamp_status {
    guard_status(|| {
        let done = get::<Completion, _>(completion)?.wait(Some(Duration::from_nanos(nanoseconds)))?;
        Ok(if done { REVAMP_OK } else { REVAMP_TIMEOUT })
    })
}

/// Waits until the operation is done and returns its result: REVAMP_OK, or the status of its
/// failure, whose text becomes this thread's last error. May be called repeatedly.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_get(completion: revamp_completion) -> revamp_status {
    guard(|| get::<Completion, _>(completion)?.get())
}

/// Copies the text of the operation's failure into `text` (cut to `capacity` bytes, always
/// terminated; may be NULL if `capacity` is 0) and its length without the terminator to `length`
/// (may be NULL). An operation that is not done or did not fail has an empty text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_error_message(
    completion: revamp_completion,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> revamp_status {
    guard(|| {
        let message = get::<Completion, _>(completion)?.failure().map(|e| e.message.into_owned()).unwrap_or_default();
        let message = c_text(&message);
        let bytes = message.as_bytes();
        if capacity > 0 {
            pointer::check_out(text, "text")?;
            let n = bytes.len().min(capacity - 1);
            // SAFETY: not null; the caller vouches for `capacity` writable bytes, and n + 1 <= capacity.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), text, n);
                text.add(n).write(0);
            }
        }
        if !length.is_null() {
            // SAFETY: not null; the caller vouches for it being writable.
            unsafe { length.write(bytes.len()) };
        }
        Ok(())
    })
}

/// Calls `callback` with the operation's result and `context` on a thread of the library when the
/// operation is done, or at once if it is done already. Several callbacks may be added. A callback
/// may call revamp, and wait for work that it begins itself. Callbacks of one completion may run
/// one after another, so none may wait for another of them; those of different completions do not
/// delay each other while the system can create threads. The callback's module stays loaded.
/// Errors: REVAMP_ERROR_RUNTIME if the system cannot create a thread that waits for the operation;
/// the callback is not called then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_then(
    completion: revamp_completion,
    callback: revamp_completion_callback,
    context: *mut c_void,
) -> revamp_status {
    guard(|| {
        let callback = callback.ok_or_else(|| Error::invalid("the callback is NULL"))?;
        let context = Context(context);
        loaded::keep(callback as usize);
        get::<Completion, _>(completion)?.then(Box::new(move |result: &Result<()>| {
            let status = match result {
                Ok(()) => REVAMP_OK,
                Err(e) => {
                    // So that the callback can ask for the text.
                    fail(e);
                    status_of(e.kind)
                }
            };
            // SAFETY: the caller of revamp_completion_then vouches for the function and its context.
            unsafe { callback(status, context.get()) }
        }))
    })
}
