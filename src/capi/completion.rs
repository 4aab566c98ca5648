//! The C API of completions (C++ AMP's completion_future, docs/spec/copies.md#completion_future).

use super::guard::{c_text, fail, guard, guard_end, guard_release, guard_status, kind_of, status_of};
use super::handle::{get, insert, release, retain};
use super::library::Context;
use super::loaded;
use super::pointer;
use super::types::*;
use crate::error::{Error, Result};
use crate::runtime::operations::after::AsyncOptions;
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

/// The completion behind a handle, without the promise. A completion of revamp_completion_create() fails when the program drops its last
/// reference; a thread that waits must not prevent this by holding the promise.
fn awaited(completion: revamp_completion) -> Result<Arc<Completion>> {
    let completion = get::<Completion, _>(completion)?;
    Ok(completion.awaited())
}

/// Reads the options of asynchronous work.
///
/// # Safety
/// `options` is null or points to a struct that is valid as the header says.
pub(super) unsafe fn read_options(options: *const revamp_async_options) -> Result<AsyncOptions> {
    let mut read = AsyncOptions::default();
    // SAFETY: the same contract.
    let Some(o) = unsafe { pointer::read_optional(options) }? else { return Ok(read) };
    // SAFETY: the same contract.
    for (n, &completion) in unsafe { pointer::slice(o.after, o.after_count, "after") }?.iter().enumerate() {
        let completion = get::<Completion, _>(completion).map_err(|e| e.context(format_args!("after[{n}]")))?;
        read.after.add(&completion)?;
    }
    read.timer = o.is_timed.then(Arc::default);
    Ok(read)
}

/// Makes a completion that the program completes with revamp_completion_set(). Work of the library
/// can thereby begin after an event of the program. If the last owner releases it unset, it fails
/// with REVAMP_ERROR_RUNTIME, and so does all work that was to begin after it;
/// revamp_uninitialize() and the end of the process have the same effect. Release it with
/// revamp_completion_release().
/// Errors: REVAMP_ERROR_RUNTIME during revamp_uninitialize().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_create(completion: *mut revamp_completion) -> revamp_status {
    // SAFETY: the caller vouches for it being writable.
    guard(|| unsafe { give(completion, "completion", Completion::user()?) })
}

/// Completes a completion of revamp_completion_create(): work that waits for it begins, if `status`
/// is REVAMP_OK. With an error, that work fails with this status and `message`, which may be NULL.
/// A host kernel must not call this function.
/// Errors: REVAMP_ERROR_INVALID_ARGUMENT if `status` is REVAMP_TIMEOUT or not a status,
/// REVAMP_ERROR_RUNTIME if the completion was set before or belongs to an operation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_set(
    completion: revamp_completion,
    status: revamp_status,
    message: *const c_char,
) -> revamp_status {
    guard_end(|| {
        // SAFETY: the caller vouches for a terminated string or NULL.
        let message = unsafe { pointer::optional_text(message, "message") }?;
        let result = match kind_of(status) {
            None if status == REVAMP_OK => Ok(()),
            None => {
                return Err(Error::invalid(format!(
                    "the status {status} is unknown; pass REVAMP_OK or a REVAMP_ERROR_ value"
                )));
            }
            Some(kind) => Err(Error::new(kind, message.unwrap_or("the program set this error").to_owned())),
        };
        get::<Completion, _>(completion)?.set(result)
    })
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
    guard_end(|| {
        let completion = awaited(completion)?;
        completion.wait(None).map(drop)
    })
}

/// Waits until the operation is done, at most `nanoseconds` (0: does not wait). Returns REVAMP_OK
/// if it is done, even if it failed, else REVAMP_TIMEOUT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_wait_for(completion: revamp_completion, nanoseconds: u64) -> revamp_status {
    guard_status(|| {
        let completion = awaited(completion)?;
        let done = completion.wait(Some(Duration::from_nanos(nanoseconds)))?;
        Ok(if done { REVAMP_OK } else { REVAMP_TIMEOUT })
    })
}

/// Waits until the operation is done and returns its result: REVAMP_OK, or the status of its
/// failure, whose text becomes this thread's last error. May be called repeatedly.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_get(completion: revamp_completion) -> revamp_status {
    guard_end(|| {
        let completion = awaited(completion)?;
        completion.get()
    })
}

/// Waits until the operation is done and fills `times` with its begin and end (set struct_size
/// first). Only for operations with `is_timed` in their revamp_async_options. The device measures
/// launches, and copies between arrays of one Vulkan device; the host measures host kernels and all
/// other copies.
/// Errors: the failure of the operation, REVAMP_ERROR_RUNTIME if it is not timed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_get_times(
    completion: revamp_completion,
    times: *mut revamp_times,
) -> revamp_status {
    guard(|| {
        let completion = awaited(completion)?;
        let found = completion.times()?;
        let filled = revamp_times {
            struct_size: 0,
            begin: found.begin,
            end: found.end,
            deviation: found.deviation.unwrap_or(0),
            is_host_clock: found.deviation.is_some(),
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(times, filled) }
    })
}

/// Copies the text of the operation's failure into `text` (may be NULL if `capacity` is 0; cut to
/// `capacity` bytes, always terminated) and its length without the terminator to `length`
/// (may be NULL). An operation that is not done or did not fail has an empty text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_error_message(
    completion: revamp_completion,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> revamp_status {
    guard(|| {
        let message = awaited(completion)?.failure().map(|e| e.message.into_owned()).unwrap_or_default();
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
/// one after another, so they must not wait for each other. Callbacks of different completions do
/// not delay each other as long as the system can create threads. The callback's module stays loaded.
/// Errors: REVAMP_ERROR_RUNTIME if the system cannot create a thread that waits for the operation;
/// the callback is not called then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_completion_then(
    completion: revamp_completion,
    callback: revamp_completion_callback,
    context: *mut c_void,
) -> revamp_status {
    guard(|| {
        let callback = callback.ok_or_else(|| Error::invalid("the callback is NULL; pass a function"))?;
        let context = Context(context);
        loaded::keep(callback as usize);
        awaited(completion)?.then(Box::new(move |result: &Result<()>| {
            let status = match result {
                Ok(()) => REVAMP_OK,
                Err(e) => {
                    // The callback can then call revamp_last_error_message().
                    fail(e);
                    status_of(e.kind)
                }
            };
            // SAFETY: the caller of revamp_completion_then vouches for the function and its context.
            unsafe { callback(status, context.get()) }
        }))
    })
}
