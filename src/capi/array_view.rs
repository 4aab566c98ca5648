//! The C API of array_views (docs/spec/array-views.md).

use super::accelerator::checked_access;
use super::accelerator_view::handle_of;
use super::array::dimensions;
use super::guard::{guard, guard_release};
use super::handle::{get, insert, release, retain};
use super::types::*;
use super::{completion, pointer};
use crate::device::physical::CPU_PATH;
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::{ArrayView, ViewOptions};
use crate::runtime::runtime;
use std::ffi::c_void;
use std::sync::Arc;

/// Reads the options of a new view.
///
/// # Safety
/// `options` is null or points to a valid struct whose label is null or a terminated string.
unsafe fn view_options<'a>(options: *const revamp_array_view_options) -> Result<ViewOptions<'a>> {
    // SAFETY: the same contract.
    let Some(o) = unsafe { pointer::read_optional(options) }? else { return Ok(ViewOptions::default()) };
    // SAFETY: the same contract.
    let label = unsafe { pointer::optional_text(o.label, "label") }?;
    Ok(ViewOptions { read_only: o.read_only, label })
}

/// Makes a view and gives it to the caller.
///
/// # Safety
/// `out` is null or writable.
unsafe fn make(
    out: *mut revamp_array_view,
    what: &str,
    view: impl FnOnce() -> Result<Arc<ArrayView>>,
) -> revamp_status {
    guard(|| {
        pointer::check_out(out, what)?;
        let handle = insert(view()?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(out, what, handle) }
    })
}

/// Makes a view of `rank` dimensions over host memory at `data`, row-major without gaps. Each call
/// makes a new data source. Views of two calls over the same memory are not coherent with each
/// other (rules AV-8, AV-10). Sections, projections and retained handles of one view are coherent
/// with it. The memory must outlive all views of the data source. Releasing the last of these views
/// writes changes made on accelerators back to the memory (DST-1). `options` may be NULL. Release the
/// view with revamp_array_view_release().
/// Errors: REVAMP_ERROR_RUNTIME or _INVALID_ARGUMENT for a bad extent or element size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_create_host(
    data: *mut c_void,
    rank: u32,
    extent: *const i32,
    element_size: usize,
    options: *const revamp_array_view_options,
    view: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the pointers and for the memory that extent and element size describe.
    unsafe {
        make(view, "view", || {
            let extent = dimensions(extent, rank, "extent")?;
            let memory = |bytes: u64| {
                if data.is_null() {
                    return Err(Error::invalid(
                        "the host memory of the array_view is NULL; pass the address of its first element",
                    ));
                }
                if (data.addr() as u64).checked_add(bytes).is_none() {
                    return Err(Error::invalid(format!(
                        "an array_view of {bytes} bytes from {data:p} on would end beyond the address space; check the \
                         extent and the element size"
                    )));
                }
                Ok(HostSpan::new(data.cast(), bytes))
            };
            ArrayView::over_host(extent, element_size, memory, view_options(options)?)
        })
    }
}

/// Makes a view of a whole array. All views of an array share one data source, whose home is the
/// array (AV-7, AV-9). The array's memory lives until the last of these views is released, even if
/// the array is destroyed before. `options` may be NULL. Release it with revamp_array_view_release().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_create_array(
    array: revamp_array,
    options: *const revamp_array_view_options,
    view: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        make(view, "view", || {
            let array = get::<Array, _>(array)?;
            Ok(ArrayView::over_array(&array, view_options(options)?))
        })
    }
}

/// Makes a view without a data source: its memory is allocated where it is first used, with
/// undefined contents (docs/spec/array-views.md#views-without-a-data-source). It cannot be
/// read-only. `options` may be NULL. Release it with revamp_array_view_release().
/// Errors: REVAMP_ERROR_RUNTIME for a bad extent or element size, and for a read-only view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_create(
    rank: u32,
    extent: *const i32,
    element_size: usize,
    options: *const revamp_array_view_options,
    view: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        make(view, "view", || {
            let extent = dimensions(extent, rank, "extent")?;
            ArrayView::open(extent, element_size, view_options(options)?)
        })
    }
}

/// Makes a view of the part of `view` that begins at `origin` (NULL: zeros) and has `extent`
/// (NULL: the rest), one value for each dimension. This is not an access: no data moves (AV-20).
/// Release it.
/// Errors: REVAMP_ERROR_RUNTIME if the section does not lie inside the view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_section(
    view: revamp_array_view,
    origin: *const i32,
    extent: *const i32,
    section: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        make(section, "section", || {
            let view = get::<ArrayView, _>(view)?;
            let rank = view.part().extent().len();
            let origin = pointer::optional_slice(origin, rank, "origin")?;
            view.section(origin, pointer::optional_slice(extent, rank, "extent")?)
        })
    }
}

/// Makes a view of slice `index` of the most significant dimension. The rank of the new view is one
/// less than that of `view`, which must be 2 or more. Release it.
/// Errors: REVAMP_ERROR_RUNTIME if the view has rank 1 or there is no such slice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_project(
    view: revamp_array_view,
    index: i32,
    projection: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the output.
    unsafe { make(projection, "projection", || get::<ArrayView, _>(view)?.project(index)) }
}

/// Makes a view of the same elements in another shape. The elements must be contiguous, and the
/// new extent may not have more of them. Release it.
/// Errors: REVAMP_ERROR_RUNTIME if the elements are not contiguous or the extent has more of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_view_as(
    view: revamp_array_view,
    rank: u32,
    extent: *const i32,
    result: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the pointers.
    unsafe { make(result, "result", || get::<ArrayView, _>(view)?.view_as(dimensions(extent, rank, "extent")?)) }
}

/// Makes a view of rank 1 of the same bytes with elements of another size. The bytes must be
/// contiguous, and their number a multiple of the new size. Release it.
/// Errors: REVAMP_ERROR_RUNTIME if either condition is not met.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_reinterpret_as(
    view: revamp_array_view,
    element_size: usize,
    result: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the output.
    unsafe { make(result, "result", || get::<ArrayView, _>(view)?.reinterpret_as(element_size)) }
}

/// Makes a read-only view of the same elements (C++ AMP's array_view<const T>). Release it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_as_read_only(
    view: revamp_array_view,
    result: *mut revamp_array_view,
) -> revamp_status {
    // SAFETY: the caller vouches for the output.
    unsafe { make(result, "result", || Ok(get::<ArrayView, _>(view)?.as_read_only())) }
}

/// Adds an owner of the view; this corresponds to copying an array_view in C++ AMP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_retain(view: revamp_array_view) -> revamp_status {
    guard(|| retain::<ArrayView, _>(view))
}

/// Removes an owner of the view. Releasing the last view of a data source writes changes made in
/// other memories back to the home of the data source before the call returns (DST-1), unless they
/// were discarded (DST-3). A failure of the write-back is only logged (DST-7). To get the failure as
/// a status, call revamp_array_view_synchronize() before (DST-8). The last release therefore waits for
/// asynchronous work on the data source, and for the completions after which that work begins. Set
/// completions of revamp_completion_create() before the release, or on another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_release(view: revamp_array_view) -> revamp_status {
    guard_release(|| release::<ArrayView, _>(view))
}

/// Fills `info` (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_get_info(
    view: revamp_array_view,
    info: *mut revamp_array_view_info,
) -> revamp_status {
    guard(|| {
        let view = get::<ArrayView, _>(view)?;
        let part = view.part();
        let source_view = match view.source_view() {
            None => std::ptr::null_mut(),
            Some(Some(lives)) => handle_of(&lives)?,
            Some(None) => {
                let runtime = runtime()?;
                handle_of(&runtime.default_view(&runtime.find(CPU_PATH)?)?)?
            }
        };
        let filled = revamp_array_view_info {
            struct_size: 0,
            rank: part.extent().len() as u32,
            extent: part.extent().as_ptr(),
            strides: part.strides().as_ptr(),
            element_size: part.layout().element as usize,
            element_count: part.layout().elements(),
            offset: part.layout().offset,
            read_only: part.is_read_only(),
            source_view,
            source_id: part.source().id(),
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Makes the view valid on the host and gives the address of its first element; further elements
/// lie at the strides of revamp_array_view_get_info(). Waits for queued work that conflicts with
/// `access`. READ leaves copies in other memories valid; WRITE and READ_WRITE make them invalid
/// (AV-16, AV-17). WRITE does not fetch the old contents, so the program must write all elements. A
/// read-only view accepts only READ. The address stays the same for the life of the data source.
/// The program may use it only until the next call that uses overlapping elements on an
/// accelerator; see revamp_array_view_get_host_access().
/// Errors: those of the transfer and of the work before it; with READ and READ_WRITE also lost data
/// (docs/c-api.md).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_data(
    view: revamp_array_view,
    access: revamp_access,
    data: *mut *mut c_void,
) -> revamp_status {
    guard(|| {
        pointer::check_out(data, "data")?;
        let span = get::<ArrayView, _>(view)?.access(checked_access(access)?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(data, "data", span.as_ptr().cast()) }
    })
}

/// Gives the address of the view's state word: REVAMP_HOST_MAY_ bits that say what the host may do
/// with the elements without a further call. Read it with acquire order. revamp_array_view_data()
/// sets the bits, other uses of the data source clear them. Valid as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_get_host_access(
    view: revamp_array_view,
    state: *mut *const u32,
) -> revamp_status {
    guard(|| {
        let word = get::<ArrayView, _>(view)?.part().word().as_ptr();
        // SAFETY: the caller vouches for a writable output or NULL.
        unsafe { pointer::write(state, "state", word.cast_const()) }
    })
}

/// Like revamp_array_view_data() for one slice of the view; the slice has no handle, and the rest
/// of the view stays as it is. A slice is the part of the view whose first `depth` indices are
/// fixed; its rank is the view's rank minus `depth`. `slice` is the slice's number among all slices
/// of that depth, in row-major order. `data` gets the address of the slice's first element.
/// `states` gets the address of an array with a state word for each slice of that depth. A state
/// word describes its slice as the word of revamp_array_view_get_host_access() describes the view.
/// A slice may be used if its word or the view's word allows it. The words are valid as long as the
/// handle.
/// Errors: those of revamp_array_view_data(), REVAMP_ERROR_INVALID_ARGUMENT if `depth` is 0 or not
/// less than the rank, REVAMP_ERROR_RUNTIME if there is no such slice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_slice_data(
    view: revamp_array_view,
    depth: u32,
    slice: u64,
    access: revamp_access,
    data: *mut *mut c_void,
    states: *mut *const u32,
) -> revamp_status {
    guard(|| {
        pointer::check_out(data, "data")?;
        pointer::check_out(states, "states")?;
        let view = get::<ArrayView, _>(view)?;
        let (span, words) = view.access_slice(depth as usize, slice, checked_access(access)?)?;
        // SAFETY: checked; the caller vouches for both being writable.
        unsafe {
            pointer::write(data, "data", span.as_ptr().cast())?;
            pointer::write(states, "states", words.as_ptr().cast())
        }
    })
}

/// Brings changes made in other memories to the data source's home and waits until they have
/// arrived. Until the next use of the data at another location (the host or an accelerator), the
/// program may access the home directly. READ allows reading it, READ_WRITE reading and writing it.
/// WRITE allows only writing it, because WRITE does not fetch the old contents
/// (docs/spec/array-views.md#synchronize).
/// Errors: those of the transfer and of earlier work on the data (DST-8). If launches that were
/// accepted never ran, their data are lost: this call and every other use fails until the data are
/// written again (docs/c-api.md).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_synchronize(
    view: revamp_array_view,
    access: revamp_access,
) -> revamp_status {
    guard(|| get::<ArrayView, _>(view)?.synchronize(checked_access(access)?))
}

/// Like revamp_array_view_synchronize(), but returns at once and begins after the completions of
/// `options` (may be NULL). Release the completion with revamp_completion_release().
/// Errors: those of revamp_array_view_synchronize(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_synchronize_async(
    view: revamp_array_view,
    access: revamp_access,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        pointer::check_out(completion, "completion")?;
        // SAFETY: the caller vouches for the options or NULL.
        let options = unsafe { completion::read_options(options) }?;
        let made = get::<ArrayView, _>(view)?.synchronize_async(checked_access(access)?, options)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { completion::give(completion, "completion", made) }
    })
}

/// Makes the view valid on `target` ahead of use, and waits for the transfer. WRITE and READ_WRITE
/// leave the view valid only on `target`; WRITE does not move the old contents.
/// Errors: those of revamp_array_view_synchronize(); REVAMP_ERROR_INVALID_ARGUMENT for WRITE and
/// READ_WRITE on a read-only view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_synchronize_to(
    view: revamp_array_view,
    target: revamp_accelerator_view,
    access: revamp_access,
) -> revamp_status {
    guard(|| {
        let target = get::<AcceleratorView, _>(target)?;
        get::<ArrayView, _>(view)?.synchronize_to(&target, checked_access(access)?)
    })
}

/// Like revamp_array_view_synchronize_to(), but returns at once and begins after the completions of
/// `options` (may be NULL). Release the completion with revamp_completion_release().
/// Errors: those of revamp_array_view_synchronize_to(). Later errors are the result of the
/// completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_synchronize_to_async(
    view: revamp_array_view,
    target: revamp_accelerator_view,
    access: revamp_access,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        pointer::check_out(completion, "completion")?;
        // SAFETY: the caller vouches for the options or NULL.
        let options = unsafe { completion::read_options(options) }?;
        let target = get::<AcceleratorView, _>(target)?;
        let made = get::<ArrayView, _>(view)?.synchronize_to_async(&target, checked_access(access)?, options)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { completion::give(completion, "completion", made) }
    })
}

/// Tells the library that the program changed the memory under the view directly: copies in other
/// memories become invalid, and changes in these copies are dropped
/// (docs/spec/array-views.md#refresh). No data moves. The call has no effect on a view without a
/// data source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_refresh(view: revamp_array_view) -> revamp_status {
    guard(|| get::<ArrayView, _>(view)?.refresh())
}

/// Tells the library that the present contents are not needed: the library neither moves nor writes
/// back the elements until they are written again (docs/spec/array-views.md#discard). Not for
/// read-only views.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_discard_data(view: revamp_array_view) -> revamp_status {
    guard(|| get::<ArrayView, _>(view)?.discard_data())
}

/// Fills `residency` with the state of the view's bytes on the accelerator_view `on` (set
/// struct_size first). A view of the cpu accelerator stands for the host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_view_get_residency(
    view: revamp_array_view,
    on: revamp_accelerator_view,
    residency: *mut revamp_residency,
) -> revamp_status {
    guard(|| {
        let on_view = get::<AcceleratorView, _>(on)?;
        let found = get::<ArrayView, _>(view)?.residency(&on_view)?;
        let filled = revamp_residency {
            struct_size: 0,
            view_bytes: found.bytes,
            valid_bytes: found.valid,
            discarded_bytes: found.discarded,
            allocated_bytes: found.allocated,
            shares_home: found.shares_home,
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(residency, filled) }
    })
}
