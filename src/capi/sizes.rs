//! The structs of the C API whose first field is their size, so that later versions can add fields.
//! Lists the fields of each struct, with offset and size.

use super::types::*;
use super::vulkan_types::*;
use crate::error::{Error, Result};

/// A struct whose first field is its size.
///
/// # Safety
/// The type is `repr(C)`, its first field is a `usize`, and all-zero bytes are a value of it.
pub(super) unsafe trait Sized_: Sized {
    /// The name of the struct in C.
    const NAME: &'static str;
    /// Offset and size of each field.
    const FIELDS: &'static [(usize, usize)];
}

/// The size of the field that `_get` gets.
const fn size_of_field<T, F>(_get: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! sized {
    ($($type:ident { $($field:ident),* })*) => {
        $(
            // SAFETY: these are the `repr(C)` structs of types.rs: first field struct_size, plain data otherwise.
            unsafe impl Sized_ for $type {
                const NAME: &'static str = stringify!($type);
                const FIELDS: &'static [(usize, usize)] =
                    &[$((std::mem::offset_of!($type, $field), size_of_field(|s: &$type| &s.$field))),*];
            }
            // Fails to compile if a field is missing in the list.
            const _: fn($type) = |$type { $($field: _),* }| {};
        )*
    };
}

sized! {
    revamp_accelerator_info {
        struct_size, device_path, description, unusable_reason, driver, kind, version, dedicated_memory,
        has_display, is_debug, is_emulated, supports_double_precision, supports_limited_double_precision,
        supports_cpu_shared_memory, default_cpu_access_type, max_workgroup_invocations, max_workgroup_size,
        max_workgroup_memory, max_push_constants, max_storage_buffer_range, min_storage_buffer_alignment,
        max_uniform_buffer_range, min_uniform_buffer_alignment, vendor_id,
        device_id, device_type, driver_id, driver_version, api_version, uuid, subgroup_size, min_subgroup_size,
        max_subgroup_size, max_workgroup_count, features
    }
    revamp_accelerator_view_info { struct_size, accelerator, queuing_mode, version, is_debug, is_auto_selection }
    revamp_array_options { struct_size, cpu_access_type, has_cpu_access_type, associated_view, label }
    revamp_sampler { struct_size, filter, address, border_color }
    revamp_texture_options {
        struct_size, rank, extent, component_kind, components, bits, levels, storage, associated_view, label
    }
    revamp_texture_info {
        struct_size, rank, extent, component_kind, components, bits, levels, storage, texel_size, size, row_pitch,
        depth_pitch, view, associated_view
    }
    revamp_texture_level_info { struct_size, extent, offset, size }
    revamp_texture_region { struct_size, texture, level, level_count, origin, extent }
    revamp_array_info {
        struct_size, rank, extent, element_size, element_count, size, view, associated_view, cpu_access_type
    }
    revamp_region {
        struct_size, array, view, origin, extent, host, host_size, host_strides, host_rank, host_element_size,
        host_source
    }
    revamp_kernel_options { struct_size, spirv, spirv_size, entry_point, label }
    revamp_kernel_info {
        struct_size, workgroup_size, binding_count, push_constant_size, specialization_count, takes_block
    }
    revamp_binding_info { struct_size, set, binding, access, name, min_size, kind, dimensions, count }
    revamp_dispatch_info { struct_size, rank, extent, groups, arguments, argument_count, block, block_size }
    revamp_parallel_for_each_info {
        struct_size, rank, extent, tile, tile_memory, function, context, arguments, argument_count, block,
        block_size, row_function, compiled, block_alignment
    }
    revamp_argument {
        struct_size, kind, set, binding, id, offset, access, array, view, texture, level, level_count, origin, extent,
        data, size
    }
    revamp_async_options { struct_size, after, after_count, is_timed }
    revamp_times { struct_size, begin, end, deviation, is_host_clock }
    revamp_kernel_record { struct_size, name, spirv, spirv_size }
    revamp_array_view_options { struct_size, read_only, label }
    revamp_array_view_info {
        struct_size, rank, extent, strides, element_size, element_count, offset, read_only, source_view,
        source_id
    }
    revamp_residency { struct_size, view_bytes, valid_bytes, discarded_bytes, allocated_bytes, shares_home }
    revamp_memory_usage { struct_size, used, held, slack, staging, staging_limit }
    revamp_transfer_counters {
        struct_size, implicit_to_bytes, implicit_to_count, implicit_from_bytes, implicit_from_count,
        implicit_local_bytes, implicit_local_count, explicit_to_bytes, explicit_to_count, explicit_from_bytes,
        explicit_from_count, explicit_local_bytes, explicit_local_count
    }
    revamp_transfer { struct_size, number, bytes, is_implicit, call, source, destination, source_id }
    revamp_vulkan_device_requirements {
        struct_size, required_features, required_feature_count, optional_feature_count, optional_features, extensions,
        extension_count, api_version, features, queue_family_index, graphics_queue_family_index
    }
    revamp_vulkan_device_info {
        struct_size, instance, physical_device, device, create_info, queue, queue_family_index, queue_index, api_version,
        sharing_family_count, sharing_families, get_instance_proc_addr, lock_queue, unlock_queue, release, context
    }
    revamp_vulkan_view_info {
        struct_size, instance, physical_device, device, queue, queue_family_index, queue_index, api_version,
        is_of_program, sharing_families, sharing_family_count
    }
    revamp_vulkan_buffer_info { struct_size, buffer, size, offset, usage, release, context }
    revamp_vulkan_array_info { struct_size, buffer, offset, size, usage }
    revamp_vulkan_image_info { struct_size, image, format, usage, layout, release, context, flags }
    revamp_vulkan_texture_info { struct_size, image, format, layout, levels }
    revamp_vulkan_shared_memory {
        struct_size, fd, memory_type_index, allocation_size, offset, size, is_dedicated, device_uuid
    }
}

/// True if a version of the struct may have this size: it ends after a field, or after the padding
/// that follows a field.
fn is_known<T: Sized_>(size: usize) -> bool {
    size == size_of::<T>() || T::FIELDS.iter().any(|(at, bytes)| size == at + bytes || size == *at && size > 0)
}

/// Checks a struct_size before any other field is read. A size that ends inside a field is refused,
/// because it may cut a pointer in half. A size above that of this library is from a later version
/// of the library or was never set.
pub(super) fn check<T: Sized_>(size: usize) -> Result<()> {
    if size == size_of::<T>() || is_known::<T>(size) { Ok(()) } else { Err(unknown::<T>(size)) }
}

#[cold]
fn unknown<T: Sized_>(size: usize) -> Error {
    let (name, current) = (T::NAME, size_of::<T>());
    let why = if size > current {
        "which is larger than the struct of this library"
    } else if size < size_of::<usize>() {
        "which is smaller than struct_size itself"
    } else {
        "which is not the end of a field"
    };
    let known: Vec<_> = (1..=current).filter(|&s| is_known::<T>(s)).map(|s| s.to_string()).collect();
    Error::invalid(format!(
        "{name}.struct_size is {size}, {why}; set struct_size to sizeof({name}), which is {current} in this version of \
         the library (older versions: {})",
        known.join(", ")
    ))
}
