//! The boundary every exported function passes: process state, panics, errors, the text of the
//! last error.

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

/// The class of an error with this status code; `None` if it is none.
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
    entered(heap::is_ready, || body().map(|()| REVAMP_OK))
}

/// Like [`guard`] for functions that wait for work or end it: they run even while the heap's reserve is low.
pub(super) fn guard_end(body: impl FnOnce() -> Result<()>) -> revamp_status {
    guard_status(|| body().map(|()| REVAMP_OK))
}

/// Like [`guard_end`] for a body that has a status of its own on success.
pub(super) fn guard_status(body: impl FnOnce() -> Result<revamp_status>) -> revamp_status {
    entered(|| true, body)
}

/// Runs the body of a call, which does not begin for lack of memory if `may_begin` is false.
#[inline]
fn entered(may_begin: impl FnOnce() -> bool, body: impl FnOnce() -> Result<revamp_status>) -> revamp_status {
    outcome(|| {
        lifecycle::install();
        let _call = process::begin()?;
        if !may_begin() {
            return Err(no_memory());
        }
        let result = body();
        if process::looks() { looked_at(result, check_kernels) } else { result }
    })
}

#[cold]
fn no_memory() -> Error {
    Error::out_of_memory(
        "there is no memory for the library's own objects; release some, or free memory of the program",
    )
}

/// What a call ends with where validation or kernels have a say. `also`: what else makes it fail.
#[cold]
fn looked_at(result: Result<revamp_status>, also: fn() -> Result<()>) -> Result<revamp_status> {
    lifecycle::renew();
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

/// Like [`guard`] for what does not count as a use of the library: a process that did no more may
/// fork and use it in the child.
pub(super) fn guard_aside(body: impl FnOnce() -> Result<()>) -> revamp_status {
    aside(body, check_kernels)
}

/// Runs a body that only releases something: nothing is an error while the process ends. This does
/// not count as a use of the library either.
pub(super) fn guard_release(body: impl FnOnce() -> Result<()>) -> revamp_status {
    if process::ending() {
        return REVAMP_OK;
    }
    // Nobody looks at what a destructor is told.
    aside(body, || Ok(()))
}

/// `also`: what else makes the call fail, once the library was used.
fn aside(body: impl FnOnce() -> Result<()>, also: fn() -> Result<()>) -> revamp_status {
    outcome(|| {
        let _call = process::begin()?;
        let result = body().map(|()| REVAMP_OK);
        if lifecycle::is_used() && process::looks() { looked_at(result, also) } else { result }
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
