//! The C API of accelerator_views (docs/spec/accelerators.md#accelerator_view).

use super::accelerator::handle_of as accelerator_handle;
use super::completion;
use super::guard::{guard, guard_end, guard_release};
use super::handle::{self, get, release, retain};
use super::pointer;
use super::types::*;
use crate::error::{Error, Result};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::runtime;
use std::sync::Arc;

/// Returns the handle of a view. Each call returns the same handle, unless its owner released it
/// while an array still lives on the view.
pub(super) fn handle_of(view: &Arc<AcceleratorView>) -> Result<revamp_accelerator_view> {
    handle::of(&view.c_handle, view)
}

/// True if `mode` is the immediate mode.
pub(super) fn is_immediate(mode: revamp_queuing_mode) -> Result<bool> {
    match mode {
        REVAMP_QUEUING_MODE_IMMEDIATE => Ok(true),
        REVAMP_QUEUING_MODE_AUTOMATIC => Ok(false),
        other => Err(Error::invalid(format!(
            "the queuing mode {other} is unknown; pass REVAMP_QUEUING_MODE_IMMEDIATE or REVAMP_QUEUING_MODE_AUTOMATIC"
        ))),
    }
}

/// Gives the default view of an accelerator, which is in automatic mode: the same one each time,
/// until revamp_accelerator_reopen() replaces it. Owned by the library: retaining and releasing it
/// is allowed and has no effect.
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the accelerator cannot be used, REVAMP_ERROR_RUNTIME
/// if its device cannot be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_get_default_view(
    accelerator: revamp_accelerator,
    view: *mut revamp_accelerator_view,
) -> revamp_status {
    guard(|| {
        pointer::check_out(view, "view")?;
        let found = runtime()?.default_view(&get::<Accelerator, _>(accelerator)?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(view, "view", handle_of(&found)?) }
    })
}

/// Makes a new view, whose work is not ordered against that of other views. Release it with
/// revamp_accelerator_view_release().
/// Errors: those of revamp_accelerator_get_default_view().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_create_view(
    accelerator: revamp_accelerator,
    mode: revamp_queuing_mode,
    view: *mut revamp_accelerator_view,
) -> revamp_status {
    guard(|| {
        pointer::check_out(view, "view")?;
        let immediate = is_immediate(mode)?;
        let made = AcceleratorView::create(&get::<Accelerator, _>(accelerator)?, immediate)?;
        let handle = handle_of(&made)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(view, "view", handle) }
    })
}

/// Gives the auto-selection view. A launch on this view is the same as a launch with `view` NULL.
/// For all other calls, this view is the default view of the default accelerator for SPIR-V code.
/// Owned by the library.
/// Errors: those of revamp_accelerator_get_default() and revamp_accelerator_get_default_view().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_get_auto_selection_view(
    view: *mut revamp_accelerator_view,
) -> revamp_status {
    guard(|| {
        pointer::check_out(view, "view")?;
        let found = runtime()?.auto_selection_view()?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(view, "view", handle_of(&found)?) }
    })
}

/// Adds an owner of the view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_view_retain(view: revamp_accelerator_view) -> revamp_status {
    guard(
        || {
            if get::<AcceleratorView, _>(view)?.is_library_owned() {
                Ok(())
            } else {
                retain::<AcceleratorView, _>(view)
            }
        },
    )
}

/// Removes an owner of the view. Work already given to the view still runs; its arrays keep working.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_view_release(view: revamp_accelerator_view) -> revamp_status {
    guard_release(|| {
        if get::<AcceleratorView, _>(view)?.is_library_owned() { Ok(()) } else { release::<AcceleratorView, _>(view) }
    })
}

/// Fills `info` (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_view_get_info(
    view: revamp_accelerator_view,
    info: *mut revamp_accelerator_view_info,
) -> revamp_status {
    guard(|| {
        let view = get::<AcceleratorView, _>(view)?;
        let accelerator = view.accelerator();
        let filled = revamp_accelerator_view_info {
            struct_size: 0,
            accelerator: accelerator_handle(accelerator)?,
            queuing_mode: if view.is_immediate() {
                REVAMP_QUEUING_MODE_IMMEDIATE
            } else {
                REVAMP_QUEUING_MODE_AUTOMATIC
            },
            version: accelerator.properties().version,
            is_debug: accelerator.properties().is_debug,
            is_auto_selection: view.is_auto_selection(),
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Submits all queued work to the device and does not wait for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_view_flush(view: revamp_accelerator_view) -> revamp_status {
    guard(|| get::<AcceleratorView, _>(view)?.flush())
}

/// Waits until all work given to the view so far is done, copies included. Returns the first
/// failure of that work that was not yet reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_view_wait(view: revamp_accelerator_view) -> revamp_status {
    guard_end(|| get::<AcceleratorView, _>(view)?.wait())
}

/// Makes a completion that is done when all work given to the view so far is done. Release it with
/// revamp_completion_release().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_view_create_marker(
    view: revamp_accelerator_view,
    marker: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        pointer::check_out(marker, "marker")?;
        let made = get::<AcceleratorView, _>(view)?.marker()?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { completion::give(marker, "marker", made) }
    })
}
