//! The boundary of every exported function: checks the process state, catches panics, and keeps
//! the thread's last error.

use super::lifecycle;
use super::types::*;
use crate::error::{Error, ErrorKind, Result};
use crate::host::heap;
use crate::runtime::accelerators::reports;
use crate::runtime::process;
use crate::trace::log;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The last error of a thread.
struct Last {
    status: revamp_status,
    hresult: i32,
    message: CString,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// The status code of an error class.
pub(super) fn status_of(kind: ErrorKind) -> revamp_status {
    match kind {
        ErrorKind::Runtime => REVAMP_ERROR_RUNTIME,
        ErrorKind::InvalidArgument => REVAMP_ERROR_INVALID_ARGUMENT,
        ErrorKind::InvalidHandle => REVAMP_ERROR_INVALID_HANDLE,
        ErrorKind::InvalidComputeDomain => REVAMP_ERROR_INVALID_COMPUTE_DOMAIN,
        ErrorKind::OutOfMemory => REVAMP_ERROR_OUT_OF_MEMORY,
        ErrorKind::UninitializedObject => REVAMP_ERROR_UNINITIALIZED_OBJECT,
        ErrorKind::UnsupportedFeature => REVAMP_ERROR_UNSUPPORTED_FEATURE,
        ErrorKind::AcceleratorViewRemoved => REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED,
        ErrorKind::Validation => REVAMP_ERROR_VALIDATION,
        ErrorKind::ShutDown => REVAMP_ERROR_SHUT_DOWN,
        ErrorKind::Forked => REVAMP_ERROR_FORKED,
        ErrorKind::Internal => REVAMP_ERROR_INTERNAL,
    }
}

/// The error class with this status code; `None` if the code is not an error.
pub(super) fn kind_of(status: revamp_status) -> Option<ErrorKind> {
    ErrorKind::ALL.into_iter().find(|&kind| status_of(kind) == status)
}

/// The text of an error as a C string.
pub(super) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Runs the body of an exported function: its error becomes the status and this thread's last
/// error.
pub(super) fn guard(body: impl FnOnce() -> Result<()>) -> revamp_status {
    run_counted(heap::is_ready, || body().map(|()| REVAMP_OK))
}

/// Like [`guard`] for functions that wait for work or end it. They run even while the reserve of the library's heap is low.
pub(super) fn guard_end(body: impl FnOnce() -> Result<()>) -> revamp_status {
    guard_status(|| body().map(|()| REVAMP_OK))
}

/// Like [`guard_end`] for a body that returns its status on success.
pub(super) fn guard_status(body: impl FnOnce() -> Result<revamp_status>) -> revamp_status {
    run_counted(|| true, body)
}

/// Runs the body of a call that counts as a use of the library. Fails with an out-of-memory error if `may_begin`
/// returns false.
#[inline]
fn run_counted(may_begin: impl FnOnce() -> bool, body: impl FnOnce() -> Result<revamp_status>) -> revamp_status {
    outcome(|| {
        lifecycle::install();
        let _call = process::begin()?;
        if !may_begin() {
            return Err(no_memory());
        }
        let result = body();
        if process::needs_call_checks() { with_checks(result, check_kernels) } else { result }
    })
}

#[cold]
fn no_memory() -> Error {
    Error::out_of_memory(
        "memory for an object of the library could not be allocated; release objects, or free memory of the program",
    )
}

/// The result of a call. If the call succeeded, checks for pending validation messages and then calls `also`; their
/// errors replace the result.
#[cold]
fn with_checks(result: Result<revamp_status>, also: fn() -> Result<()>) -> Result<revamp_status> {
    lifecycle::hook_exit_again();
    let status = result?;
    process::check_validation()?;
    also()?;
    Ok(status)
}

/// Fails if a kernel has failed since the last call.
fn check_kernels() -> Result<()> {
    process::check_kernels()?;
    reports::check()
}

/// Like [`guard`] for calls that do not count as a use of the library: a process that made only
/// such calls may fork and use the library in the child.
pub(super) fn guard_unused(body: impl FnOnce() -> Result<()>) -> revamp_status {
    run_uncounted(body, check_kernels)
}

/// Runs a body that only releases something. While the process ends, it does nothing and succeeds.
/// The call does not count as a use of the library.
pub(super) fn guard_release(body: impl FnOnce() -> Result<()>) -> revamp_status {
    if process::ending() {
        return REVAMP_OK;
    }
    // Destructors ignore the status, so a later call reports kernel failures.
    run_uncounted(body, || Ok(()))
}

/// Runs the body of a call that does not count as a use of the library. If the library was used before, then checks for
/// pending validation messages and calls `also`.
fn run_uncounted(body: impl FnOnce() -> Result<()>, also: fn() -> Result<()>) -> revamp_status {
    outcome(|| {
        let _call = process::begin()?;
        let result = body().map(|()| REVAMP_OK);
        if lifecycle::is_used() && process::needs_call_checks() { with_checks(result, also) } else { result }
    })
}

fn outcome(call: impl FnOnce() -> Result<revamp_status>) -> revamp_status {
    let status = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => fail(&error),
        Err(panic) => fail(&panic_error(panic.as_ref())),
    };
    log::deliver();
    status
}

fn panic_error(panic: &(dyn std::any::Any + Send)) -> Error {
    let text =
        panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    Error::internal(format!("a panic was caught ({})", text.unwrap_or_default()))
}

/// Makes `error` this thread's last error.
pub(super) fn fail(error: &Error) -> revamp_status {
    let status = status_of(error.kind);
    crate::log!(Debug, "a call failed: {error}");
    let last = Last { status, hresult: error.hresult, message: c_text(&error.message) };
    // A thread that is being torn down has no last error to set.
    let _ = LAST.try_with(|cell| *cell.borrow_mut() = Some(last));
    status
}

/// Reads this thread's last error: status, HRESULT, text.
pub(super) fn with_last<R>(read: impl FnOnce(revamp_status, i32, &CStr) -> R) -> Option<R> {
    LAST.try_with(|cell| cell.borrow().as_ref().map(|l| read(l.status, l.hresult, &l.message))).ok().flatten()
}
