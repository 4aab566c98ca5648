//! Traces of what the library does, and the names of objects there.

use super::guard::{guard, guard_aside};
use super::handle::get;
use super::pointer;
use super::types::*;
use crate::error::Error;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::tracing;
use std::ffi::{c_char, c_void};
use std::path::Path;

/// Begins to record what the library does for the program in the file at `path`, which is
/// overwritten: launches, copies, implicit transfers, waits, pipeline builds and accesses of the
/// host, with their causes. ui.perfetto.dev and revamp-trace open it. With REVAMP_TRACE_DEVICE=1 the
/// trace also has the times at which devices worked. It is written as it comes: a process that
/// crashes leaves a readable trace without its last 0.1 s.
/// Errors: REVAMP_ERROR_RUNTIME if a trace is recorded already, or the file cannot be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_trace_begin(path: *const c_char) -> revamp_status {
    // SAFETY: the caller vouches for a text.
    // A use of the library: a child that is forked later would write into the same file.
    guard(|| tracing::begin(Path::new(unsafe { pointer::text(path, "path") }?)))
}

/// Ends the trace and closes its file. Work that devices have not finished is not in it: wait
/// before.
/// Errors: REVAMP_ERROR_RUNTIME if no trace is recorded, or its file could not be written.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_trace_end() -> revamp_status {
    guard_aside(tracing::end)
}

/// Names an array_view, an array or an accelerator_view in messages and traces; sections and
/// projections made later have the name of their array_view. Where the Vulkan validation layer is
/// loaded, the VkBuffer of an array gets the name too.
/// Errors: REVAMP_ERROR_INVALID_HANDLE for another object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_set_label(object: *mut c_void, label: *const c_char) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for a text.
        let label = unsafe { pointer::text(label, "label") }?;
        if let Ok(view) = get::<ArrayView, _>(object) {
            view.set_label(label);
        } else if let Ok(array) = get::<Array, _>(object) {
            array.set_label(label);
        } else {
            let view = get::<AcceleratorView, _>(object);
            let view = view.map_err(|e| {
                Error::new(e.kind, "the object is no array_view, array or accelerator_view that is alive")
            })?;
            view.set_label(label);
        }
        Ok(())
    })
}
