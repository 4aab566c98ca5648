//! The C API of traces of the library's work, and of labels of objects.

use super::guard::{guard, guard_unused};
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

/// Begins a trace in the file at `path`, which is overwritten. The trace records what the library
/// does for the program: launches, copies, implicit transfers, waits, pipeline builds and accesses
/// of the host, with their causes. ui.perfetto.dev and revamp-trace open it. With
/// REVAMP_TRACE_DEVICE=1 the trace also has the times at which devices worked. The trace is written
/// continuously: a process that crashes leaves a readable trace without its last 0.1 s.
/// Errors: REVAMP_ERROR_RUNTIME if a trace is recorded already, or the file cannot be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_trace_begin(path: *const c_char) -> revamp_status {
    // SAFETY: the caller vouches for a text.
    // The call counts as a use of the library, because a child that is forked later would write into the same file.
    guard(|| tracing::begin(Path::new(unsafe { pointer::text(path, "path") }?)))
}

/// Ends the trace and closes its file. The trace lacks work that devices have not finished: wait for
/// that work before this call.
/// Errors: REVAMP_ERROR_RUNTIME if no trace is recorded, or its file could not be written.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_trace_end() -> revamp_status {
    guard_unused(tracing::end)
}

/// Names an array_view, an array or an accelerator_view in messages and traces; sections and
/// projections made later have the name of their array_view. RenderDoc, Nsight and the Vulkan
/// validation layer show the name on the VkBuffers of an array or of an array_view's data, and on
/// the VkQueue of an accelerator_view. The latest name of a shared object counts. A VkDevice of
/// the program gets no names.
/// Errors: REVAMP_ERROR_INVALID_HANDLE for any other object.
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
            let view =
                view.map_err(|e| Error::new(e.kind, "the object is not a live array_view, array or accelerator_view"))?;
            view.set_label(label);
        }
        Ok(())
    })
}
