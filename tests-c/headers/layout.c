/* Tests the layout of the public structs, which is part of the ABI: a change here needs a new REVAMP_ABI_VERSION. */
#include <revamp.h>

#if defined(__x86_64__) && (defined(__LP64__) || defined(_WIN64))
#define CHECK(id, condition) typedef char check_##id[(condition) ? 1 : -1]
#define SIZE(type, bytes) CHECK(size_of_##type, sizeof(type) == (bytes))
#define AT(type, field, bytes) CHECK(type##_##field, offsetof(type, field) == (bytes))
CHECK(version, REVAMP_ABI_VERSION == 4);

SIZE(revamp_accelerator_info, 200);
AT(revamp_accelerator_info, struct_size, 0);
AT(revamp_accelerator_info, device_path, 8);
AT(revamp_accelerator_info, description, 16);
AT(revamp_accelerator_info, unusable_reason, 24);
AT(revamp_accelerator_info, driver, 32);
AT(revamp_accelerator_info, kind, 40);
AT(revamp_accelerator_info, version, 44);
AT(revamp_accelerator_info, dedicated_memory, 48);
AT(revamp_accelerator_info, has_display, 56);
AT(revamp_accelerator_info, is_debug, 57);
AT(revamp_accelerator_info, is_emulated, 58);
AT(revamp_accelerator_info, supports_double_precision, 59);
AT(revamp_accelerator_info, supports_limited_double_precision, 60);
AT(revamp_accelerator_info, supports_cpu_shared_memory, 61);
AT(revamp_accelerator_info, default_cpu_access_type, 64);
AT(revamp_accelerator_info, max_workgroup_invocations, 68);
AT(revamp_accelerator_info, max_workgroup_size, 72);
AT(revamp_accelerator_info, max_workgroup_memory, 84);
AT(revamp_accelerator_info, max_push_constants, 88);
AT(revamp_accelerator_info, max_storage_buffer_range, 96);
AT(revamp_accelerator_info, min_storage_buffer_alignment, 104);
AT(revamp_accelerator_info, max_uniform_buffer_range, 112);
AT(revamp_accelerator_info, min_uniform_buffer_alignment, 120);
AT(revamp_accelerator_info, vendor_id, 128);
AT(revamp_accelerator_info, device_id, 132);
AT(revamp_accelerator_info, device_type, 136);
AT(revamp_accelerator_info, driver_id, 140);
AT(revamp_accelerator_info, driver_version, 144);
AT(revamp_accelerator_info, api_version, 148);
AT(revamp_accelerator_info, uuid, 152);
AT(revamp_accelerator_info, subgroup_size, 168);
AT(revamp_accelerator_info, min_subgroup_size, 172);
AT(revamp_accelerator_info, max_subgroup_size, 176);
AT(revamp_accelerator_info, max_workgroup_count, 180);
AT(revamp_accelerator_info, features, 192);

SIZE(revamp_accelerator_view_info, 32);
AT(revamp_accelerator_view_info, struct_size, 0);
AT(revamp_accelerator_view_info, accelerator, 8);
AT(revamp_accelerator_view_info, queuing_mode, 16);
AT(revamp_accelerator_view_info, version, 20);
AT(revamp_accelerator_view_info, is_debug, 24);
AT(revamp_accelerator_view_info, is_auto_selection, 25);

SIZE(revamp_array_options, 32);
AT(revamp_array_options, struct_size, 0);
AT(revamp_array_options, cpu_access_type, 8);
AT(revamp_array_options, has_cpu_access_type, 12);
AT(revamp_array_options, associated_view, 16);
AT(revamp_array_options, label, 24);

SIZE(revamp_array_info, 72);
AT(revamp_array_info, struct_size, 0);
AT(revamp_array_info, rank, 8);
AT(revamp_array_info, extent, 16);
AT(revamp_array_info, element_size, 24);
AT(revamp_array_info, element_count, 32);
AT(revamp_array_info, size, 40);
AT(revamp_array_info, view, 48);
AT(revamp_array_info, associated_view, 56);
AT(revamp_array_info, cpu_access_type, 64);

SIZE(revamp_async_options, 32);
AT(revamp_async_options, struct_size, 0);
AT(revamp_async_options, after, 8);
AT(revamp_async_options, after_count, 16);
AT(revamp_async_options, is_timed, 24);

SIZE(revamp_times, 40);
AT(revamp_times, struct_size, 0);
AT(revamp_times, begin, 8);
AT(revamp_times, end, 16);
AT(revamp_times, deviation, 24);
AT(revamp_times, is_host_clock, 32);

SIZE(revamp_texture_options, 64);
AT(revamp_texture_options, struct_size, 0);
AT(revamp_texture_options, rank, 8);
AT(revamp_texture_options, extent, 16);
AT(revamp_texture_options, component_kind, 24);
AT(revamp_texture_options, components, 28);
AT(revamp_texture_options, bits, 32);
AT(revamp_texture_options, levels, 36);
AT(revamp_texture_options, storage, 40);
AT(revamp_texture_options, associated_view, 48);
AT(revamp_texture_options, label, 56);

SIZE(revamp_texture_info, 88);
AT(revamp_texture_info, struct_size, 0);
AT(revamp_texture_info, rank, 8);
AT(revamp_texture_info, extent, 12);
AT(revamp_texture_info, component_kind, 24);
AT(revamp_texture_info, components, 28);
AT(revamp_texture_info, bits, 32);
AT(revamp_texture_info, levels, 36);
AT(revamp_texture_info, storage, 40);
AT(revamp_texture_info, texel_size, 44);
AT(revamp_texture_info, size, 48);
AT(revamp_texture_info, row_pitch, 56);
AT(revamp_texture_info, depth_pitch, 64);
AT(revamp_texture_info, view, 72);
AT(revamp_texture_info, associated_view, 80);

SIZE(revamp_texture_level_info, 40);
AT(revamp_texture_level_info, struct_size, 0);
AT(revamp_texture_level_info, extent, 8);
AT(revamp_texture_level_info, offset, 24);
AT(revamp_texture_level_info, size, 32);

SIZE(revamp_texture_region, 40);
AT(revamp_texture_region, struct_size, 0);
AT(revamp_texture_region, texture, 8);
AT(revamp_texture_region, level, 16);
AT(revamp_texture_region, level_count, 20);
AT(revamp_texture_region, origin, 24);
AT(revamp_texture_region, extent, 32);

SIZE(revamp_region, 88);
AT(revamp_region, struct_size, 0);
AT(revamp_region, array, 8);
AT(revamp_region, view, 16);
AT(revamp_region, origin, 24);
AT(revamp_region, extent, 32);
AT(revamp_region, host, 40);
AT(revamp_region, host_size, 48);
AT(revamp_region, host_strides, 56);
AT(revamp_region, host_rank, 64);
AT(revamp_region, host_element_size, 72);
AT(revamp_region, host_source, 80);

SIZE(revamp_thread_id, 56);
AT(revamp_thread_id, rank, 0);
AT(revamp_thread_id, global, 8);
AT(revamp_thread_id, local, 16);
AT(revamp_thread_id, tile, 24);
AT(revamp_thread_id, tile_origin, 32);
AT(revamp_thread_id, tile_memory, 40);
AT(revamp_thread_id, internal, 48);

SIZE(revamp_argument, 96);
AT(revamp_argument, struct_size, 0);
AT(revamp_argument, kind, 8);
AT(revamp_argument, set, 12);
AT(revamp_argument, binding, 16);
AT(revamp_argument, id, 20);
AT(revamp_argument, offset, 24);
AT(revamp_argument, access, 28);
AT(revamp_argument, array, 32);
AT(revamp_argument, view, 40);
AT(revamp_argument, texture, 48);
AT(revamp_argument, level, 56);
AT(revamp_argument, level_count, 60);
AT(revamp_argument, origin, 64);
AT(revamp_argument, extent, 72);
AT(revamp_argument, data, 80);
AT(revamp_argument, size, 88);

SIZE(revamp_parallel_for_each_info, 112);
AT(revamp_parallel_for_each_info, struct_size, 0);
AT(revamp_parallel_for_each_info, rank, 8);
AT(revamp_parallel_for_each_info, extent, 16);
AT(revamp_parallel_for_each_info, tile, 24);
AT(revamp_parallel_for_each_info, tile_memory, 32);
AT(revamp_parallel_for_each_info, function, 40);
AT(revamp_parallel_for_each_info, context, 48);
AT(revamp_parallel_for_each_info, arguments, 56);
AT(revamp_parallel_for_each_info, argument_count, 64);
AT(revamp_parallel_for_each_info, block, 72);
AT(revamp_parallel_for_each_info, block_size, 80);
AT(revamp_parallel_for_each_info, row_function, 88);
AT(revamp_parallel_for_each_info, compiled, 96);
AT(revamp_parallel_for_each_info, block_alignment, 104);

SIZE(revamp_kernel_options, 40);
AT(revamp_kernel_options, struct_size, 0);
AT(revamp_kernel_options, spirv, 8);
AT(revamp_kernel_options, spirv_size, 16);
AT(revamp_kernel_options, entry_point, 24);
AT(revamp_kernel_options, label, 32);

SIZE(revamp_kernel_info, 40);
AT(revamp_kernel_info, struct_size, 0);
AT(revamp_kernel_info, workgroup_size, 8);
AT(revamp_kernel_info, binding_count, 20);
AT(revamp_kernel_info, push_constant_size, 24);
AT(revamp_kernel_info, specialization_count, 28);
AT(revamp_kernel_info, takes_block, 32);

SIZE(revamp_binding_info, 56);
AT(revamp_binding_info, struct_size, 0);
AT(revamp_binding_info, set, 8);
AT(revamp_binding_info, binding, 12);
AT(revamp_binding_info, access, 16);
AT(revamp_binding_info, name, 24);
AT(revamp_binding_info, min_size, 32);
AT(revamp_binding_info, kind, 40);
AT(revamp_binding_info, dimensions, 44);
AT(revamp_binding_info, count, 48);

SIZE(revamp_sampler, 32);
AT(revamp_sampler, struct_size, 0);
AT(revamp_sampler, filter, 8);
AT(revamp_sampler, address, 12);
AT(revamp_sampler, border_color, 16);

SIZE(revamp_dispatch_info, 72);
AT(revamp_dispatch_info, struct_size, 0);
AT(revamp_dispatch_info, rank, 8);
AT(revamp_dispatch_info, extent, 16);
AT(revamp_dispatch_info, groups, 24);
AT(revamp_dispatch_info, arguments, 40);
AT(revamp_dispatch_info, argument_count, 48);
AT(revamp_dispatch_info, block, 56);
AT(revamp_dispatch_info, block_size, 64);

SIZE(revamp_kernel_record, 32);
AT(revamp_kernel_record, struct_size, 0);
AT(revamp_kernel_record, name, 8);
AT(revamp_kernel_record, spirv, 16);
AT(revamp_kernel_record, spirv_size, 24);

SIZE(revamp_array_view_options, 24);
AT(revamp_array_view_options, read_only, 8);
AT(revamp_array_view_options, label, 16);

SIZE(revamp_array_view_info, 80);
AT(revamp_array_view_info, rank, 8);
AT(revamp_array_view_info, extent, 16);
AT(revamp_array_view_info, strides, 24);
AT(revamp_array_view_info, element_size, 32);
AT(revamp_array_view_info, element_count, 40);
AT(revamp_array_view_info, offset, 48);
AT(revamp_array_view_info, read_only, 56);
AT(revamp_array_view_info, source_view, 64);
AT(revamp_array_view_info, source_id, 72);

SIZE(revamp_residency, 48);
AT(revamp_residency, view_bytes, 8);
AT(revamp_residency, shares_home, 40);

SIZE(revamp_transfer_counters, 104);
AT(revamp_transfer_counters, implicit_to_bytes, 8);
AT(revamp_transfer_counters, explicit_local_count, 96);

SIZE(revamp_transfer, 64);
AT(revamp_transfer, number, 8);
AT(revamp_transfer, bytes, 16);
AT(revamp_transfer, is_implicit, 24);
AT(revamp_transfer, call, 32);
AT(revamp_transfer, source, 40);
AT(revamp_transfer, destination, 48);
AT(revamp_transfer, source_id, 56);
#endif
