//! The C API of errors: the last error of a thread, and the names of status codes.

use super::guard::with_last;
use super::types::*;
use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    /// The text that revamp_last_error_message() returned last. It stays valid until the next call of that function.
    static RETURNED_MESSAGE: RefCell<CString> = RefCell::new(CString::default());
}

/// Returns the message of the last error on this thread: the request, the limit and the remedy.
/// Never NULL; empty if nothing failed yet. Valid until this thread calls this function again.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_last_error_message() -> *const c_char {
    let text = with_last(|_, _, text| text.to_owned()).unwrap_or_default();
    RETURNED_MESSAGE
        .try_with(|message_cell| {
            *message_cell.borrow_mut() = text;
            message_cell.borrow().as_ptr()
        })
        .unwrap_or(c"".as_ptr())
}

/// Returns the status of the last error on this thread; REVAMP_OK if nothing failed yet.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_last_error_status() -> revamp_status {
    with_last(|status, _, _| status).unwrap_or(REVAMP_OK)
}

/// Returns the HRESULT of the last error on this thread (docs/spec/errors.md); 0 if nothing failed
/// yet.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_last_error_hresult() -> i32 {
    with_last(|_, hresult, _| hresult).unwrap_or(0)
}

/// Returns the name of a status code, such as "REVAMP_ERROR_RUNTIME", or "unknown status". The
/// string is static.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_status_name(status: revamp_status) -> *const c_char {
    match status {
        REVAMP_OK => c"REVAMP_OK",
        REVAMP_TIMEOUT => c"REVAMP_TIMEOUT",
        REVAMP_ERROR_RUNTIME => c"REVAMP_ERROR_RUNTIME",
        REVAMP_ERROR_INVALID_ARGUMENT => c"REVAMP_ERROR_INVALID_ARGUMENT",
        REVAMP_ERROR_INVALID_HANDLE => c"REVAMP_ERROR_INVALID_HANDLE",
        REVAMP_ERROR_INVALID_COMPUTE_DOMAIN => c"REVAMP_ERROR_INVALID_COMPUTE_DOMAIN",
        REVAMP_ERROR_OUT_OF_MEMORY => c"REVAMP_ERROR_OUT_OF_MEMORY",
        REVAMP_ERROR_UNINITIALIZED_OBJECT => c"REVAMP_ERROR_UNINITIALIZED_OBJECT",
        REVAMP_ERROR_UNSUPPORTED_FEATURE => c"REVAMP_ERROR_UNSUPPORTED_FEATURE",
        REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED => c"REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED",
        REVAMP_ERROR_VALIDATION => c"REVAMP_ERROR_VALIDATION",
        REVAMP_ERROR_SHUT_DOWN => c"REVAMP_ERROR_SHUT_DOWN",
        REVAMP_ERROR_FORKED => c"REVAMP_ERROR_FORKED",
        REVAMP_ERROR_INTERNAL => c"REVAMP_ERROR_INTERNAL",
        _ => c"unknown status",
    }
    .as_ptr()
}
