//! The C API of arrays, including staging arrays (docs/spec/arrays.md).

use super::accelerator::access_type;
use super::accelerator_view::handle_of;
use super::guard::{guard, guard_release};
use super::handle::{get, insert, release};
use super::pointer;
use super::types::*;
use crate::error::{Error, Result};
use crate::runtime::AccessType;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::storage::ArrayRequest;
use std::ffi::c_void;

/// The largest rank of an array or a domain.
const MAX_RANK: u32 = 1024;

/// The values of `rank` dimensions.
///
/// # Safety
/// `values` is null or points to `rank` readable values.
pub(super) unsafe fn dimensions<'a>(values: *const i32, rank: u32, what: &str) -> Result<&'a [i32]> {
    if rank == 0 || rank > MAX_RANK {
        return Err(Error::invalid(format!("the rank is {rank}; it must be 1 to {MAX_RANK}")));
    }
    // SAFETY: the same contract.
    unsafe { pointer::slice(values, rank as usize, what) }
}

/// Makes an array of `rank` dimensions with the given `extent` and `element_size` (bytes) that lives
/// on `view`. Its contents are undefined. `options` may be NULL. Destroy it with
/// revamp_array_destroy().
/// Errors: REVAMP_ERROR_RUNTIME or _INVALID_ARGUMENT for a bad extent or element size and for a
/// cpu access type without shared memory, REVAMP_ERROR_OUT_OF_MEMORY if there is not enough memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_create(
    view: revamp_accelerator_view,
    rank: u32,
    extent: *const i32,
    element_size: usize,
    options: *const revamp_array_options,
    array: *mut revamp_array,
) -> revamp_status {
    guard(|| {
        pointer::check_out(array, "array")?;
        let view = get::<AcceleratorView, _>(view)?;
        // SAFETY: the caller vouches for `rank` extents.
        let extent = unsafe { dimensions(extent, rank, "extent") }?;
        // SAFETY: the caller vouches for a readable struct or NULL.
        let options = unsafe { pointer::read_optional(options) }?;
        let mut request = ArrayRequest {
            view,
            extent,
            element_size,
            cpu_access: AccessType::Auto,
            associated: None,
            label: None,
            texture: None,
            memory: None,
        };
        if let Some(o) = &options {
            if o.has_cpu_access_type {
                request.cpu_access = access_type(o.cpu_access_type)?;
            }
            if !o.associated_view.is_null() {
                request.associated = Some(get::<AcceleratorView, _>(o.associated_view)?);
            }
            // SAFETY: the caller vouches for a terminated string or NULL.
            request.label = unsafe { pointer::optional_text(o.label, "label") }?;
        }
        let handle = insert(Array::create(request)?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(array, "array", handle) }
    })
}

/// Destroys an array. Its memory lives until no queued work and no array_view uses it. Pointers
/// from revamp_array_data() become invalid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_destroy(array: revamp_array) -> revamp_status {
    guard_release(|| release::<Array, _>(array))
}

/// Fills `info` (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_get_info(array: revamp_array, info: *mut revamp_array_info) -> revamp_status {
    guard(|| {
        let array = get::<Array, _>(array)?;
        let filled = revamp_array_info {
            struct_size: 0,
            rank: array.extent().len() as u32,
            extent: array.extent().as_ptr(),
            element_size: array.layout().element as usize,
            element_count: array.layout().elements(),
            size: array.layout().bytes(),
            view: handle_of(array.view())?,
            associated_view: handle_of(array.associated_view())?,
            cpu_access_type: array.cpu_access_type().bits(),
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Gives the address of the array's memory on the host: contiguous, row-major. Waits until queued
/// work that conflicts with `access` (READ, WRITE or READ_WRITE) is done. The pointer becomes
/// invalid when a copy or dispatch that involves the array begins (rule STG-15); fetch it again
/// afterwards (STG-16).
/// Errors: REVAMP_ERROR_RUNTIME if the host may not access the memory in this way. The host may
/// access arrays on the cpu and on host threads, staging arrays, and arrays whose CPU access type
/// allows it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_data(
    array: revamp_array,
    access: revamp_access,
    data: *mut *mut c_void,
) -> revamp_status {
    guard(|| {
        pointer::check_out(data, "data")?;
        let span = get::<Array, _>(array)?.host_data(access_type(access)?, c"revamp_array_data")?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(data, "data", span.as_ptr().cast()) }
    })
}

/// Gives the device address of the array's first element, for kernels on its accelerator. It is
/// valid as long as the array. The library orders only dispatches that name the array, as
/// REVAMP_ARGUMENT_ADDRESS does; the caller orders all other uses of the address.
/// Errors: REVAMP_ERROR_RUNTIME for arrays that have no address on a Vulkan device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_array_device_address(array: revamp_array, address: *mut u64) -> revamp_status {
    guard(|| {
        let found = get::<Array, _>(array)?.device_address()?;
        // SAFETY: the caller vouches for a writable output or NULL.
        unsafe { pointer::write(address, "address", found) }
    })
}
