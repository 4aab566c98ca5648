//! The C API of accelerators (docs/spec/accelerators.md).

use super::guard::guard;
use super::handle::{self, get};
use super::pointer;
use super::types::*;
use crate::device::physical::{DeviceKind, DeviceType};
use crate::error::{Error, Result};
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::defaults::Code;
use crate::runtime::{AccessType, Runtime, runtime};
use std::ffi::c_char;
use std::sync::Arc;

/// Returns the handle of an accelerator. Each accelerator has one handle, which the first call
/// creates.
pub(super) fn handle_of(accelerator: &Arc<Accelerator>) -> Result<revamp_accelerator> {
    handle::of(&accelerator.c_handle, accelerator)
}

/// Converts a REVAMP_ACCESS_ value.
pub(super) fn access_type(value: revamp_access) -> Result<AccessType> {
    Ok(match value {
        REVAMP_ACCESS_NONE => AccessType::None,
        REVAMP_ACCESS_READ => AccessType::Read,
        REVAMP_ACCESS_WRITE => AccessType::Write,
        REVAMP_ACCESS_READ_WRITE => AccessType::ReadWrite,
        REVAMP_ACCESS_AUTO => AccessType::Auto,
        other => {
            return Err(Error::invalid(format!(
                "the access type {other:#x} is unknown; pass REVAMP_ACCESS_NONE, _READ, _WRITE, _READ_WRITE or _AUTO"
            )));
        }
    })
}

/// Converts an access, which must be READ, WRITE or READ_WRITE.
pub(super) fn checked_access(access: revamp_access) -> Result<Access> {
    access_type(access)?.access()
}

/// Lists all accelerators, including unusable ones (see unusable_reason): Vulkan devices, host
/// threads and the cpu. Omits direct3d\warp and direct3d\ref, which are host threads as well; find
/// them by their paths. Writes at most `capacity` handles to `accelerators`, which may be NULL if
/// `capacity` is 0, and the number of all accelerators to `count`. The first call looks for
/// devices, which takes some milliseconds. The library owns the handles; do not release them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_list(
    accelerators: *mut revamp_accelerator,
    capacity: usize,
    count: *mut usize,
) -> revamp_status {
    // SAFETY: the caller vouches for `capacity` writable entries and for `count`.
    guard(|| unsafe { write_list(|runtime| runtime.listed().cloned().collect(), accelerators, capacity, count) })
}

/// Lists the accelerators of C++ AMP's accelerator::get_all(): usable accelerators on which the
/// functions of this program can run, the cpu, and direct3d\warp. Vulkan devices are included if
/// the process contains or has loaded compiled kernels or SPIR-V, if `will_load_spirv` announces
/// SPIR-V, or if the program or the environment names a Vulkan device as the default. Otherwise
/// like revamp_accelerator_list(): `accelerators` may be NULL if `capacity` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_list_offered(
    will_load_spirv: bool,
    accelerators: *mut revamp_accelerator,
    capacity: usize,
    count: *mut usize,
) -> revamp_status {
    // SAFETY: the caller vouches for `capacity` writable entries and for `count`.
    guard(|| unsafe { write_list(|runtime| runtime.offered(will_load_spirv), accelerators, capacity, count) })
}

/// Writes a list of accelerators and its length.
///
/// # Safety
/// `accelerators` is null or has `capacity` writable entries; `count` is writable.
unsafe fn write_list(
    found: impl FnOnce(&Runtime) -> Vec<Arc<Accelerator>>,
    accelerators: *mut revamp_accelerator,
    capacity: usize,
    count: *mut usize,
) -> Result<()> {
    pointer::check_out(count, "count")?;
    let handles = found(&*runtime()?).iter().map(handle_of).collect::<Result<Vec<_>>>()?;
    if capacity > 0 {
        pointer::check_out(accelerators, "accelerators")?;
    }
    for (i, h) in handles.iter().take(capacity).enumerate() {
        // SAFETY: not null; the caller vouches for `capacity` writable entries.
        unsafe { accelerators.add(i).write(*h) };
    }
    // SAFETY: the same contract.
    unsafe { pointer::write(count, "count", handles.len()) }
}

/// Finds the accelerator with this device_path: "host" (host threads), "cpu", "vulkan\...",
/// "direct3d\warp" or "direct3d/warp" (host threads as well), "direct3d\ref" or "direct3d/ref" (one
/// host thread, with reports of races). "default" or "" finds the default accelerator for SPIR-V
/// code.
/// Errors: REVAMP_ERROR_RUNTIME if there is none; the message lists all device_paths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_find(
    device_path: *const c_char,
    accelerator: *mut revamp_accelerator,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for a terminated string or NULL.
        let path = unsafe { pointer::text(device_path, "device_path") }?;
        let found = runtime()?.find(path)?;
        // SAFETY: the caller vouches for a writable output or NULL.
        unsafe { pointer::write(accelerator, "accelerator", handle_of(&found)?) }
    })
}

/// Gives the default accelerator for `code`: the accelerator that the program set, else the one
/// that the environment variable CPPAMP_DEFAULT_ACCELERATOR names. If neither is set,
/// REVAMP_CODE_SPIRV gives the best GPU, else a software Vulkan device, and REVAMP_CODE_HOST gives
/// the host threads (docs/spec/accelerators.md#default-accelerator). After this call,
/// revamp_accelerator_set_default() has no effect.
/// Errors: REVAMP_ERROR_RUNTIME if there is none; the message says why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_get_default(
    code: revamp_code,
    accelerator: *mut revamp_accelerator,
) -> revamp_status {
    guard(|| {
        let runtime = runtime()?;
        let found = match code {
            REVAMP_CODE_SPIRV => runtime.default_for(Code::Spirv)?,
            REVAMP_CODE_HOST => runtime.default_for(Code::Host)?,
            other => {
                return Err(Error::invalid(format!(
                    "the kind of code {other} is unknown; pass REVAMP_CODE_SPIRV or REVAMP_CODE_HOST"
                )));
            }
        };
        // SAFETY: the caller vouches for a writable output or NULL.
        unsafe { pointer::write(accelerator, "accelerator", handle_of(&found)?) }
    })
}

/// Makes the accelerator with this device_path the default, if no default was set or used before.
/// `changed` (may be NULL) becomes true if this call set it, else false.
/// Errors: REVAMP_ERROR_RUNTIME for an unknown path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_set_default(
    device_path: *const c_char,
    changed: *mut bool,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for a terminated string or NULL.
        let path = unsafe { pointer::text(device_path, "device_path") }?;
        let done = runtime()?.set_default(path)?;
        if !changed.is_null() {
            // SAFETY: not null; the caller vouches for it being writable.
            unsafe { changed.write(done) };
        }
        Ok(())
    })
}

/// Fills `info` (set struct_size first). The strings are valid until revamp_uninitialize().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_get_info(
    accelerator: revamp_accelerator,
    info: *mut revamp_accelerator_info,
) -> revamp_status {
    guard(|| {
        let accelerator = get::<Accelerator, _>(accelerator)?;
        let p = accelerator.properties();
        let filled = revamp_accelerator_info {
            struct_size: 0,
            device_path: p.device_path.as_ptr(),
            description: p.description.as_ptr(),
            unusable_reason: p.unusable.as_ref().map_or(std::ptr::null(), |r| r.as_ptr()),
            driver: p.driver.as_ptr(),
            kind: match accelerator.kind() {
                DeviceKind::Cpu => REVAMP_ACCELERATOR_CPU,
                DeviceKind::HostThreads => REVAMP_ACCELERATOR_HOST_THREADS,
                DeviceKind::Vulkan => REVAMP_ACCELERATOR_VULKAN,
            },
            version: p.version,
            dedicated_memory: p.dedicated_memory_kb,
            has_display: p.has_display,
            is_debug: p.is_debug,
            is_emulated: p.is_emulated,
            supports_double_precision: p.double_precision,
            supports_limited_double_precision: p.limited_double_precision,
            supports_cpu_shared_memory: p.cpu_shared_memory,
            default_cpu_access_type: accelerator.default_cpu_access_type().bits(),
            max_workgroup_invocations: p.max_workgroup_invocations,
            max_workgroup_size: p.max_workgroup_size,
            max_workgroup_memory: p.max_workgroup_memory,
            max_push_constants: p.max_push_constants,
            max_storage_buffer_range: p.max_storage_buffer_range,
            min_storage_buffer_alignment: p.min_storage_buffer_alignment,
            max_uniform_buffer_range: p.max_uniform_buffer_range,
            min_uniform_buffer_alignment: p.min_uniform_buffer_alignment,
            vendor_id: p.hardware.vendor_id,
            device_id: p.hardware.device_id,
            device_type: match p.hardware.device_type {
                DeviceType::Other => REVAMP_DEVICE_TYPE_OTHER,
                DeviceType::Integrated => REVAMP_DEVICE_TYPE_INTEGRATED_GPU,
                DeviceType::Discrete => REVAMP_DEVICE_TYPE_DISCRETE_GPU,
                DeviceType::Virtual => REVAMP_DEVICE_TYPE_VIRTUAL_GPU,
                DeviceType::Cpu => REVAMP_DEVICE_TYPE_CPU,
            },
            driver_id: p.hardware.driver_id,
            driver_version: p.hardware.driver_version,
            api_version: p.hardware.api_version,
            uuid: p.hardware.uuid,
            subgroup_size: p.hardware.subgroup_size,
            min_subgroup_size: p.hardware.min_subgroup_size,
            max_subgroup_size: p.hardware.max_subgroup_size,
            max_workgroup_count: p.hardware.max_workgroup_count,
            features: p.hardware.features,
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Fills `usage` with the memory that the accelerator holds now (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_get_memory_usage(
    accelerator: revamp_accelerator,
    usage: *mut revamp_memory_usage,
) -> revamp_status {
    guard(|| {
        let m = get::<Accelerator, _>(accelerator)?.memory();
        let filled = revamp_memory_usage {
            struct_size: 0,
            used: m.used,
            held: m.held,
            slack: m.slack,
            staging: m.staging,
            staging_limit: m.staging_limit,
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(usage, filled) }
    })
}

/// Sets the meaning of REVAMP_ACCESS_AUTO for arrays on this accelerator, if it was neither set nor
/// used before. `changed` (may be NULL) becomes true if this call set it, else false.
/// Errors: REVAMP_ERROR_RUNTIME if the accelerator has no memory shared with the host, unless
/// `access` is REVAMP_ACCESS_NONE or _AUTO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_set_default_cpu_access_type(
    accelerator: revamp_accelerator,
    access: revamp_access,
    changed: *mut bool,
) -> revamp_status {
    guard(|| {
        let done = get::<Accelerator, _>(accelerator)?.set_default_cpu_access_type(access_type(access)?)?;
        if !changed.is_null() {
            // SAFETY: not null; the caller vouches for it being writable.
            unsafe { changed.write(done) };
        }
        Ok(())
    })
}

/// Reopens an accelerator whose device was lost (REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED). The
/// accelerator gets a new default view. Its old views, and arrays and kernels on them, stay
/// unusable and should be released; array_views go on with the data that the host and other
/// accelerators hold. Does nothing if the device was not lost.
/// Errors: REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED or REVAMP_ERROR_RUNTIME if the device still
/// cannot be opened.
#[unsafe(no_mangle)]
pub extern "C" fn revamp_accelerator_reopen(accelerator: revamp_accelerator) -> revamp_status {
    guard(|| runtime()?.reopen(&get::<Accelerator, _>(accelerator)?))
}
