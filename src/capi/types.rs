//! The types and constants of the C API, as the header declares them. No code.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_void};

/// Major version of this header.
pub const REVAMP_VERSION_MAJOR: u32 = 0;
/// Minor version of this header.
pub const REVAMP_VERSION_MINOR: u32 = 1;
/// Patch version of this header.
pub const REVAMP_VERSION_PATCH: u32 = 0;
/// Number of the binary interface; a program compiled against another number must not use the
/// library.
pub const REVAMP_ABI_VERSION: u32 = 4;

/// The result of a call. Negative values are errors, one for each class of failure.
pub type revamp_status = i32;
/// Success.
pub const REVAMP_OK: revamp_status = 0;
/// Not an error: the timeout passed before the operation was done.
pub const REVAMP_TIMEOUT: revamp_status = 1;
/// runtime_exception: the call cannot be carried out as requested.
pub const REVAMP_ERROR_RUNTIME: revamp_status = -1;
/// runtime_exception with E_INVALIDARG: an argument has a value that is not allowed.
pub const REVAMP_ERROR_INVALID_ARGUMENT: revamp_status = -2;
/// runtime_exception with E_HANDLE: a null, freed, foreign or wrong-type handle.
pub const REVAMP_ERROR_INVALID_HANDLE: revamp_status = -3;
/// invalid_compute_domain.
pub const REVAMP_ERROR_INVALID_COMPUTE_DOMAIN: revamp_status = -4;
/// out_of_memory.
pub const REVAMP_ERROR_OUT_OF_MEMORY: revamp_status = -5;
/// uninitialized_object.
pub const REVAMP_ERROR_UNINITIALIZED_OBJECT: revamp_status = -6;
/// unsupported_feature.
pub const REVAMP_ERROR_UNSUPPORTED_FEATURE: revamp_status = -7;
/// accelerator_view_removed: the device was lost. The view stays dead; make a new one.
pub const REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED: revamp_status = -8;
/// The Vulkan validation layer reported an error while REVAMP_VALIDATION=2 was set.
pub const REVAMP_ERROR_VALIDATION: revamp_status = -9;
/// The process is exiting; calls are no longer possible.
pub const REVAMP_ERROR_SHUT_DOWN: revamp_status = -10;
/// The process was forked after the library was first used.
pub const REVAMP_ERROR_FORKED: revamp_status = -11;
/// A defect in revamp; please report it.
pub const REVAMP_ERROR_INTERNAL: revamp_status = -12;

/// How memory is used or may be used (C++ AMP's access_type): a set of REVAMP_ACCESS_ bits.
pub type revamp_access = u32;
/// No access. In a revamp_argument: the default described there.
pub const REVAMP_ACCESS_NONE: revamp_access = 0;
/// The memory is read.
pub const REVAMP_ACCESS_READ: revamp_access = 1;
/// The memory is written and its old contents are not read.
pub const REVAMP_ACCESS_WRITE: revamp_access = 2;
/// The memory is read and written.
pub const REVAMP_ACCESS_READ_WRITE: revamp_access = 3;
/// The library chooses. Only for CPU access types.
pub const REVAMP_ACCESS_AUTO: revamp_access = 0x8000_0000;

/// When work is handed to the device (C++ AMP's queuing_mode).
pub type revamp_queuing_mode = u32;
/// Each call submits its work before it returns.
pub const REVAMP_QUEUING_MODE_IMMEDIATE: revamp_queuing_mode = 0;
/// Work is submitted when the device is idle, enough work has gathered, or somebody waits for it.
pub const REVAMP_QUEUING_MODE_AUTOMATIC: revamp_queuing_mode = 1;

/// The kind of code that a default accelerator is to run.
pub type revamp_code = u32;
/// SPIR-V kernels: the best GPU, else a software Vulkan device.
pub const REVAMP_CODE_SPIRV: revamp_code = 0;
/// Functions of the program itself: the host-thread accelerator, unless the program or the user
/// chose another.
pub const REVAMP_CODE_HOST: revamp_code = 1;

/// Severity of a log message. A log level lets messages of this and higher severity through.
pub type revamp_log_level = u32;
/// No messages.
pub const REVAMP_LOG_OFF: revamp_log_level = 0;
/// Failures that no call can return.
pub const REVAMP_LOG_ERROR: revamp_log_level = 1;
/// Problems that the user should fix.
pub const REVAMP_LOG_WARN: revamp_log_level = 2;
/// Choices of the library, with reasons.
pub const REVAMP_LOG_INFO: revamp_log_level = 3;
/// Details of the library's work.
pub const REVAMP_LOG_DEBUG: revamp_log_level = 4;

/// The kind of an accelerator.
pub type revamp_accelerator_kind = u32;
/// The host itself: holds arrays, runs no kernels.
pub const REVAMP_ACCELERATOR_CPU: revamp_accelerator_kind = 0;
/// Threads of the host; runs functions of the program.
pub const REVAMP_ACCELERATOR_HOST_THREADS: revamp_accelerator_kind = 1;
/// A Vulkan device; runs SPIR-V.
pub const REVAMP_ACCELERATOR_VULKAN: revamp_accelerator_kind = 2;

/// The type of the device behind an accelerator.
pub type revamp_device_type = u32;
/// Another type, or no device.
pub const REVAMP_DEVICE_TYPE_OTHER: revamp_device_type = 0;
/// A GPU that shares the host's memory.
pub const REVAMP_DEVICE_TYPE_INTEGRATED_GPU: revamp_device_type = 1;
/// A GPU with dedicated memory.
pub const REVAMP_DEVICE_TYPE_DISCRETE_GPU: revamp_device_type = 2;
/// A GPU of a virtual machine.
pub const REVAMP_DEVICE_TYPE_VIRTUAL_GPU: revamp_device_type = 3;
/// Processors of the host.
pub const REVAMP_DEVICE_TYPE_CPU: revamp_device_type = 4;

/// Device features that SPIR-V kernels may require: a set of REVAMP_FEATURE_ bits.
pub type revamp_features = u64;
/// 8-bit integers in storage buffers.
pub const REVAMP_FEATURE_STORAGE_8BIT: revamp_features = 1;
/// 16-bit numbers in storage buffers.
pub const REVAMP_FEATURE_STORAGE_16BIT: revamp_features = 2;
/// 8-bit integers in uniform buffers.
pub const REVAMP_FEATURE_UNIFORM_8BIT: revamp_features = 4;
/// 16-bit numbers in uniform buffers.
pub const REVAMP_FEATURE_UNIFORM_16BIT: revamp_features = 8;
/// 8-bit integers in push constants.
pub const REVAMP_FEATURE_PUSH_CONSTANT_8BIT: revamp_features = 16;
/// 16-bit numbers in push constants.
pub const REVAMP_FEATURE_PUSH_CONSTANT_16BIT: revamp_features = 32;
/// Arithmetic with 8-bit integers.
pub const REVAMP_FEATURE_INT8: revamp_features = 64;
/// Arithmetic with 16-bit integers.
pub const REVAMP_FEATURE_INT16: revamp_features = 128;
/// Arithmetic with 64-bit integers.
pub const REVAMP_FEATURE_INT64: revamp_features = 256;
/// Arithmetic with 16-bit floats.
pub const REVAMP_FEATURE_FLOAT16: revamp_features = 512;
/// Arithmetic with doubles.
pub const REVAMP_FEATURE_FLOAT64: revamp_features = 1024;
/// Atomic operations on 64-bit integers in storage buffers.
pub const REVAMP_FEATURE_INT64_ATOMICS: revamp_features = 2048;
/// Atomic operations on 64-bit integers in workgroup memory.
pub const REVAMP_FEATURE_SHARED_INT64_ATOMICS: revamp_features = 4096;
/// Atomic load, store and exchange of floats in storage buffers.
pub const REVAMP_FEATURE_FLOAT32_ATOMICS: revamp_features = 8192;
/// Atomic addition of floats in storage buffers.
pub const REVAMP_FEATURE_FLOAT32_ATOMIC_ADD: revamp_features = 16384;
/// Atomic load, store and exchange of doubles in storage buffers.
pub const REVAMP_FEATURE_FLOAT64_ATOMICS: revamp_features = 32768;
/// Atomic addition of doubles in storage buffers.
pub const REVAMP_FEATURE_FLOAT64_ATOMIC_ADD: revamp_features = 65536;
/// Atomic load, store and exchange of floats in workgroup memory.
pub const REVAMP_FEATURE_SHARED_FLOAT32_ATOMICS: revamp_features = 131072;
/// Atomic addition of floats in workgroup memory.
pub const REVAMP_FEATURE_SHARED_FLOAT32_ATOMIC_ADD: revamp_features = 262144;
/// Atomic load, store and exchange of doubles in workgroup memory.
pub const REVAMP_FEATURE_SHARED_FLOAT64_ATOMICS: revamp_features = 524288;
/// Atomic addition of doubles in workgroup memory.
pub const REVAMP_FEATURE_SHARED_FLOAT64_ATOMIC_ADD: revamp_features = 1048576;
/// Blocks laid out as C structures (scalarBlockLayout).
pub const REVAMP_FEATURE_SCALAR_LAYOUT: revamp_features = 2097152;
/// Vulkan's memory model.
pub const REVAMP_FEATURE_MEMORY_MODEL: revamp_features = 4194304;
/// Variable pointers.
pub const REVAMP_FEATURE_VARIABLE_POINTERS: revamp_features = 8388608;
/// Dot products of small integers.
pub const REVAMP_FEATURE_DOT_PRODUCT: revamp_features = 16777216;
/// Votes of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_VOTE: revamp_features = 33554432;
/// Reductions and scans of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_ARITHMETIC: revamp_features = 67108864;
/// Ballots and broadcasts of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_BALLOT: revamp_features = 134217728;
/// Shuffles of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_SHUFFLE: revamp_features = 268435456;
/// Shuffles up and down of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_SHUFFLE_RELATIVE: revamp_features = 536870912;
/// Reductions of clusters of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_CLUSTERED: revamp_features = 1073741824;
/// Quad operations of a subgroup.
pub const REVAMP_FEATURE_SUBGROUP_QUAD: revamp_features = 2147483648;

/// The kind of a revamp_argument.
pub type revamp_argument_kind = u32;
/// An array or array_view bound as a storage or uniform buffer.
pub const REVAMP_ARGUMENT_BUFFER: revamp_argument_kind = 1;
/// Bytes of the push-constant block.
pub const REVAMP_ARGUMENT_PUSH_CONSTANT: revamp_argument_kind = 2;
/// The value of a specialization constant.
pub const REVAMP_ARGUMENT_SPECIALIZATION: revamp_argument_kind = 3;
/// The device address of an array or array_view, written into the argument block.
pub const REVAMP_ARGUMENT_ADDRESS: revamp_argument_kind = 4;
/// Like ADDRESS with one more indirection, as for a C++ AMP array captured by reference. The library
/// appends the bytes at `data` to the argument block. It writes the address of the array or
/// array_view to the first 8 appended bytes, and the address of the appended bytes at `offset`.
pub const REVAMP_ARGUMENT_INDIRECT: revamp_argument_kind = 5;
/// Levels of a texture stored as an image, bound as sampled or storage image; SPIR-V kernels only.
pub const REVAMP_ARGUMENT_IMAGE: revamp_argument_kind = 6;
/// A sampler, bound without an image; SPIR-V kernels only.
pub const REVAMP_ARGUMENT_SAMPLER: revamp_argument_kind = 7;
/// The bytes of a uniform buffer, copied during the launch call; SPIR-V kernels only.
pub const REVAMP_ARGUMENT_UNIFORM: revamp_argument_kind = 8;

/// The kind of the components of texels.
pub type revamp_component_kind = u32;
/// Signed integers of 8, 16 or 32 bits.
pub const REVAMP_COMPONENT_INT: revamp_component_kind = 1;
/// Unsigned integers of 8, 16 or 32 bits.
pub const REVAMP_COMPONENT_UINT: revamp_component_kind = 2;
/// Floats of 16 or 32 bits.
pub const REVAMP_COMPONENT_FLOAT: revamp_component_kind = 3;
/// C++ AMP's norm: -1 to 1 in 8 or 16 bits.
pub const REVAMP_COMPONENT_NORM: revamp_component_kind = 4;
/// C++ AMP's unorm: 0 to 1 in 8 or 16 bits.
pub const REVAMP_COMPONENT_UNORM: revamp_component_kind = 5;
/// Doubles, of 64 bits.
pub const REVAMP_COMPONENT_DOUBLE: revamp_component_kind = 6;

/// How a texture's texels are stored.
pub type revamp_texture_storage = u32;
/// The library chooses: texels today. Only in revamp_texture_options.
pub const REVAMP_TEXTURE_STORAGE_AUTO: revamp_texture_storage = 0;
/// In the host form (see revamp_texture), which kernels access by address.
pub const REVAMP_TEXTURE_STORAGE_TEXELS: revamp_texture_storage = 1;
/// As a Vulkan image: not on host threads, not for texels of three components, and only if the
/// device supports images of this format and extent.
pub const REVAMP_TEXTURE_STORAGE_IMAGE: revamp_texture_storage = 2;

/// All levels that an extent allows, down to one texel.
pub const REVAMP_ALL_LEVELS: u32 = 0xFFFF_FFFF;

/// The filter of a sampler.
pub type revamp_filter = u32;
/// Interpolates between texels and between levels.
pub const REVAMP_FILTER_LINEAR: revamp_filter = 0;
/// The nearest texel of the nearest level.
pub const REVAMP_FILTER_POINT: revamp_filter = 1;

/// The result of sampling outside a texture.
pub type revamp_address = u32;
/// The texel at the edge.
pub const REVAMP_ADDRESS_CLAMP: revamp_address = 0;
/// The texture is repeated.
pub const REVAMP_ADDRESS_WRAP: revamp_address = 1;
/// The texture is repeated, each time reflected.
pub const REVAMP_ADDRESS_MIRROR: revamp_address = 2;
/// The border colour.
pub const REVAMP_ADDRESS_BORDER: revamp_address = 3;

/// The kind of a descriptor that a kernel uses.
pub type revamp_binding_kind = u32;
/// A storage buffer, for a BUFFER argument.
pub const REVAMP_BINDING_STORAGE_BUFFER: revamp_binding_kind = 1;
/// A texture that is read, for an IMAGE argument without a sampler.
pub const REVAMP_BINDING_SAMPLED_IMAGE: revamp_binding_kind = 2;
/// One level of a texture that is read or written, for an IMAGE argument without a sampler.
pub const REVAMP_BINDING_STORAGE_IMAGE: revamp_binding_kind = 3;
/// A sampler, for a SAMPLER argument.
pub const REVAMP_BINDING_SAMPLER: revamp_binding_kind = 4;
/// A texture with its sampler, for an IMAGE argument with a sampler.
pub const REVAMP_BINDING_COMBINED_IMAGE_SAMPLER: revamp_binding_kind = 5;
/// A uniform buffer, for a UNIFORM or BUFFER argument.
pub const REVAMP_BINDING_UNIFORM_BUFFER: revamp_binding_kind = 6;

/// The opaque type behind revamp_accelerator.
pub struct revamp_accelerator_t(());
/// A device that holds memory and may run kernels. Owned by the library; valid until
/// revamp_uninitialize(). Two handles are equal if and only if they denote the same accelerator.
pub type revamp_accelerator = *mut revamp_accelerator_t;

/// The opaque type behind revamp_accelerator_view.
pub struct revamp_accelerator_view_t(());
/// A queue of work on an accelerator. Reference counted. Two handles are equal if and only if they
/// denote the same view.
pub type revamp_accelerator_view = *mut revamp_accelerator_view_t;

/// The opaque type behind revamp_array.
pub struct revamp_array_t(());
/// Elements in memory of one accelerator_view. Owned by the caller, who destroys it with
/// revamp_array_destroy().
pub type revamp_array = *mut revamp_array_t;

/// The opaque type behind revamp_kernel.
pub struct revamp_kernel_t(());
/// A SPIR-V kernel loaded on an accelerator. Reference counted.
pub type revamp_kernel = *mut revamp_kernel_t;

/// The opaque type behind revamp_user.
pub struct revamp_user_t(());
/// A user of the library. While a user exists, revamp_uninitialize() does nothing. Has one owner.
pub type revamp_user = *mut revamp_user_t;

/// The opaque type behind revamp_array_view.
pub struct revamp_array_view_t(());
/// All or part of a data source (host memory or an array), usable on the host and on every
/// accelerator: the library moves missing bytes to the place of use.
/// Reference counted; retaining a handle corresponds to copying an array_view in C++ AMP.
/// Simultaneous uses of overlapping views are a race if one of them writes (AV-23).
pub type revamp_array_view = *mut revamp_array_view_t;

/// The opaque type behind revamp_texture.
pub struct revamp_texture_t(());
/// Texels in memory of one accelerator_view (docs/spec/textures.md). Reference counted. Copies
/// read and write the host form of a texture: texels of `components` components in the order x, y,
/// z, w, little endian, without gaps; the last dimension is contiguous; levels follow each other,
/// level 0 first.
pub type revamp_texture = *mut revamp_texture_t;

/// The opaque type behind revamp_completion.
pub struct revamp_completion_t(());
/// An asynchronous operation (C++ AMP's completion_future). Reference counted. Releasing it does
/// not cancel the operation.
pub type revamp_completion = *mut revamp_completion_t;

/// Properties of an accelerator. Strings are valid until revamp_uninitialize().
#[repr(C)]
pub struct revamp_accelerator_info {
    /// sizeof(revamp_accelerator_info).
    pub struct_size: usize,
    /// Unique on the system: "cpu", "direct3d\warp", "vulkan\<uuid>".
    pub device_path: *const c_char,
    /// A short name to show to users.
    pub description: *const c_char,
    /// Why the accelerator cannot be used; NULL if it can.
    pub unusable_reason: *const c_char,
    /// Name and version of the driver; empty for the host.
    pub driver: *const c_char,
    /// A REVAMP_ACCELERATOR_ value.
    pub kind: revamp_accelerator_kind,
    /// The accelerator's version: major << 16 | minor.
    pub version: u32,
    /// Dedicated memory in kilobytes; for the host, the system's memory.
    pub dedicated_memory: usize,
    /// True if a display is known to be connected.
    pub has_display: bool,
    /// True if the validation layer checks its use, or if it is direct3d\ref, which reports races.
    pub is_debug: bool,
    /// True if it is software: lavapipe, host threads, the cpu.
    pub is_emulated: bool,
    /// True if it has full double precision, with fma, division and conversion.
    pub supports_double_precision: bool,
    /// True if it has at least double precision without fma, division and conversion.
    pub supports_limited_double_precision: bool,
    /// True if it has memory that both it and the host can address.
    pub supports_cpu_shared_memory: bool,
    /// The meaning of REVAMP_ACCESS_AUTO for arrays on this accelerator.
    pub default_cpu_access_type: revamp_access,
    /// Maximum invocations in a workgroup; 0 if no kernels run there.
    pub max_workgroup_invocations: u32,
    /// Maximum invocations of a workgroup in x, y and z.
    pub max_workgroup_size: [u32; 3],
    /// Maximum bytes of workgroup (tile_static) memory.
    pub max_workgroup_memory: u32,
    /// Maximum bytes of push constants.
    pub max_push_constants: u32,
    /// Maximum bytes of a storage-buffer binding; larger arrays need addresses or sections.
    pub max_storage_buffer_range: u64,
    /// The offset in bytes of a section bound as storage buffer must be a multiple of this.
    pub min_storage_buffer_alignment: u64,
    /// Maximum bytes of a uniform buffer.
    pub max_uniform_buffer_range: u64,
    /// The offset in bytes of a section bound as uniform buffer must be a multiple of this.
    pub min_uniform_buffer_alignment: u64,
    /// The PCI id of the vendor, or a VkVendorId; 0 if there is none. For host threads and the cpu,
    /// the following numbers are 0 too.
    pub vendor_id: u32,
    /// The vendor's id of the device.
    pub device_id: u32,
    /// A REVAMP_DEVICE_TYPE_ value.
    pub device_type: revamp_device_type,
    /// The driver: a VkDriverId.
    pub driver_id: u32,
    /// The driver's version, in the driver's format.
    pub driver_version: u32,
    /// The version of Vulkan that the library uses, as Vulkan packs it.
    pub api_version: u32,
    /// Identifies the hardware: Vulkan's deviceUUID.
    pub uuid: [u8; 16],
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Minimum invocations of a subgroup, if the driver chooses the size.
    pub min_subgroup_size: u32,
    /// Maximum invocations of a subgroup.
    pub max_subgroup_size: u32,
    /// Maximum workgroups of a dispatch in x, y and z; the library splits larger launches.
    pub max_workgroup_count: [u32; 3],
    /// The features that kernels may require.
    pub features: revamp_features,
}

/// Properties of an accelerator_view.
#[repr(C)]
pub struct revamp_accelerator_view_info {
    /// sizeof(revamp_accelerator_view_info).
    pub struct_size: usize,
    /// The accelerator of the view.
    pub accelerator: revamp_accelerator,
    /// A REVAMP_QUEUING_MODE_ value.
    pub queuing_mode: revamp_queuing_mode,
    /// The accelerator's version.
    pub version: u32,
    /// The accelerator's is_debug.
    pub is_debug: bool,
    /// True only for the auto-selection view.
    pub is_auto_selection: bool,
}

/// Options for a new array. NULL or zero: the defaults.
#[repr(C)]
pub struct revamp_array_options {
    /// sizeof(revamp_array_options).
    pub struct_size: usize,
    /// How the host may access the memory directly (docs/spec/arrays.md#cpu-access-types). Ignored
    /// unless has_cpu_access_type is set.
    pub cpu_access_type: revamp_access,
    /// False: the CPU access type is REVAMP_ACCESS_AUTO.
    pub has_cpu_access_type: bool,
    /// If set, the new array is a staging array, which will often exchange data with this
    /// accelerator_view (rules STG-2 to STG-5). NULL: an ordinary array.
    pub associated_view: revamp_accelerator_view,
    /// A name for messages and tools. NULL: none.
    pub label: *const c_char,
}

/// Properties of an array.
#[repr(C)]
pub struct revamp_array_info {
    /// sizeof(revamp_array_info).
    pub struct_size: usize,
    /// Number of dimensions.
    pub rank: u32,
    /// rank extents; valid as long as the array.
    pub extent: *const i32,
    /// Bytes of an element.
    pub element_size: usize,
    /// Number of elements.
    pub element_count: u64,
    /// Bytes of all elements.
    pub size: u64,
    /// The view on which the array lives. Borrowed: retain it to keep it.
    pub view: revamp_accelerator_view,
    /// The associated view of a staging array, else the same as view (rule STG-4). Borrowed.
    pub associated_view: revamp_accelerator_view,
    /// How the host may access the memory directly.
    pub cpu_access_type: revamp_access,
}

/// A bit of an array_view's state word: the host may read at the address that
/// revamp_array_view_data() gave.
pub const REVAMP_HOST_MAY_READ: u32 = 1;
/// A bit of an array_view's state word: the host may write at that address.
pub const REVAMP_HOST_MAY_WRITE: u32 = 2;

/// Options for a new array_view. NULL or zero: the defaults.
#[repr(C)]
pub struct revamp_array_view_options {
    /// sizeof(revamp_array_view_options).
    pub struct_size: usize,
    /// Makes a view that cannot be written through (C++ AMP's array_view<const T>).
    pub read_only: bool,
    /// A name for messages. NULL: none.
    pub label: *const c_char,
}

/// Properties of an array_view.
#[repr(C)]
pub struct revamp_array_view_info {
    /// sizeof(revamp_array_view_info).
    pub struct_size: usize,
    /// Number of dimensions.
    pub rank: u32,
    /// rank extents, most significant first; valid as long as the handle.
    pub extent: *const i32,
    /// rank byte strides; valid as long as the handle.
    pub strides: *const u64,
    /// Bytes of an element.
    pub element_size: usize,
    /// Number of elements.
    pub element_count: u64,
    /// Bytes from the start of the data source to the first element.
    pub offset: u64,
    /// True if the elements cannot be written through this view.
    pub read_only: bool,
    /// Where the data source lives (C++ AMP's get_source_accelerator_view); NULL if there is no
    /// data source yet. Borrowed: retain it to keep it.
    pub source_view: revamp_accelerator_view,
    /// Identifies the data source: two array_views have the same number if and only if they have
    /// the same data source.
    pub source_id: u64,
}

/// The state of an array_view's bytes on an accelerator_view.
#[repr(C)]
pub struct revamp_residency {
    /// sizeof(revamp_residency).
    pub struct_size: usize,
    /// Bytes of the view's elements.
    pub view_bytes: u64,
    /// How many of view_bytes are valid on the accelerator_view.
    pub valid_bytes: u64,
    /// How many of view_bytes were discarded or never written; these are valid nowhere and are not
    /// moved.
    pub discarded_bytes: u64,
    /// Bytes allocated on the accelerator_view for the whole data source, not counting its home.
    pub allocated_bytes: u64,
    /// True if the accelerator_view uses the data source's own memory, so that nothing ever moves.
    pub shares_home: bool,
}

/// The memory that an accelerator holds for the program, in bytes.
#[repr(C)]
pub struct revamp_memory_usage {
    /// sizeof(revamp_memory_usage).
    pub struct_size: usize,
    /// Used by arrays, by the data of array_views, and, to a small extent, by work under way.
    pub used: u64,
    /// Allocated from the driver or the system for `used`. Memory is allocated in blocks, and some
    /// freed blocks are kept. At most 1.1 * used + slack, unless many small arrays were freed and
    /// the remaining ones are scattered over their blocks.
    pub held: u64,
    /// The constant in the bound of `held`. It never changes; 0 for memory of the host.
    pub slack: u64,
    /// Host memory through which copies pass. The next call that copies, waits or makes an array
    /// frees memory that was not used for five seconds.
    pub staging: u64,
    /// The upper bound of `staging`. All values are 0 before the accelerator's first use.
    pub staging_limit: u64,
}

/// Bytes and number of transfers. `to`: from the host to an accelerator's memory; `from`: from an
/// accelerator's memory to the host; `local`: within one memory. A transfer between accelerators
/// through the host counts once as `from` and once as `to`. `implicit`: caused by a launch, an
/// access or a release; `explicit`: requested by a copy or synchronize.
#[repr(C)]
pub struct revamp_transfer_counters {
    /// sizeof(revamp_transfer_counters).
    pub struct_size: usize,
    /// Bytes of implicit transfers to accelerators.
    pub implicit_to_bytes: u64,
    /// Number of implicit transfers to accelerators.
    pub implicit_to_count: u64,
    /// Bytes of implicit transfers from accelerators.
    pub implicit_from_bytes: u64,
    /// Number of implicit transfers from accelerators.
    pub implicit_from_count: u64,
    /// Bytes of implicit transfers within one memory.
    pub implicit_local_bytes: u64,
    /// Number of implicit transfers within one memory.
    pub implicit_local_count: u64,
    /// Bytes of explicit transfers to accelerators.
    pub explicit_to_bytes: u64,
    /// Number of explicit transfers to accelerators.
    pub explicit_to_count: u64,
    /// Bytes of explicit transfers from accelerators.
    pub explicit_from_bytes: u64,
    /// Number of explicit transfers from accelerators.
    pub explicit_from_count: u64,
    /// Bytes of explicit transfers within one memory.
    pub explicit_local_bytes: u64,
    /// Number of explicit transfers within one memory.
    pub explicit_local_count: u64,
}

/// One entry of the transfer log.
#[repr(C)]
pub struct revamp_transfer {
    /// sizeof(revamp_transfer).
    pub struct_size: usize,
    /// Number of the transfer, counted from 1 since the library was loaded.
    pub number: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// True if caused by a launch, an access or a release; false if requested by a copy or
    /// synchronize.
    pub is_implicit: bool,
    /// The name of the function that caused it. Always valid.
    pub call: *const c_char,
    /// Where the bytes came from; the cpu accelerator is the host.
    pub source: revamp_accelerator,
    /// Where the bytes went.
    pub destination: revamp_accelerator,
    /// source_id of the array_view that was used (revamp_array_view_info); 0 if there was none.
    pub source_id: u64,
}

/// One side of a copy: an array or a section of it, an array_view, or host memory.
#[repr(C)]
pub struct revamp_region {
    /// sizeof(revamp_region).
    pub struct_size: usize,
    /// The array. NULL: an array_view or host memory.
    pub array: revamp_array,
    /// The array_view, or NULL. If it is set, array, origin and extent must be NULL. A destination
    /// is written at the home of its data source; a source is read where it is valid, preferably in
    /// the destination's memory (SEL-21 to SEL-24).
    pub view: revamp_array_view,
    /// First element of an array's section, one value for each dimension. NULL: zeros.
    pub origin: *const i32,
    /// Extent of the array's section, one value for each dimension. NULL: up to the array's end.
    /// For host memory: its extent, which must be given.
    pub extent: *const i32,
    /// The address of the first element in host memory, or NULL. It is not written if the region
    /// is the source of the copy.
    pub host: *mut c_void,
    /// Bytes that may be accessed from host on; 0: not checked.
    pub host_size: usize,
    /// Byte strides of host memory, one for each dimension. NULL: row-major without gaps.
    pub host_strides: *const i64,
    /// Number of dimensions of host memory.
    pub host_rank: u32,
    /// Bytes of an element in host memory.
    pub host_element_size: usize,
    /// For a source, in place of `host`: memory that is only read. Else NULL.
    pub host_source: *const c_void,
}

/// Options for loading a kernel.
#[repr(C)]
pub struct revamp_kernel_options {
    /// sizeof(revamp_kernel_options).
    pub struct_size: usize,
    /// The SPIR-V module. Copied.
    pub spirv: *const c_void,
    /// Size of the module in bytes.
    pub spirv_size: usize,
    /// Name of the entry point. NULL: the only compute entry point.
    pub entry_point: *const c_char,
    /// A name for messages and tools. NULL: the entry point's.
    pub label: *const c_char,
}

/// Properties of a kernel.
#[repr(C)]
pub struct revamp_kernel_info {
    /// sizeof(revamp_kernel_info).
    pub struct_size: usize,
    /// Workgroup size in x, y, z with the default specialization constants.
    pub workgroup_size: [u32; 3],
    /// Number of bindings; see revamp_kernel_get_binding().
    pub binding_count: u32,
    /// Size of the push-constant block in bytes.
    pub push_constant_size: u32,
    /// Number of specialization constants.
    pub specialization_count: u32,
    /// True if the push constants are one 8-byte address: that of an argument block.
    pub takes_block: bool,
}

/// A descriptor that a kernel uses.
#[repr(C)]
pub struct revamp_binding_info {
    /// sizeof(revamp_binding_info).
    pub struct_size: usize,
    /// Descriptor set number.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// How the kernel uses the buffer or image.
    pub access: revamp_access,
    /// Name in the source, cut to 512 bytes and "..." if longer; NULL if the module does not
    /// contain it. Valid as long as the kernel.
    pub name: *const c_char,
    /// Minimum bytes of a buffer bound here.
    pub min_size: u64,
    /// A REVAMP_BINDING_ value.
    pub kind: revamp_binding_kind,
    /// Number of dimensions of an image; else 0.
    pub dimensions: u32,
    /// Descriptors of the binding: 1, or the length of an array of descriptors. Each descriptor
    /// needs an argument (revamp_argument.id).
    pub count: u32,
}

/// One argument of a launch. The revamp_argument_ functions below make arguments.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_argument {
    /// sizeof(revamp_argument). In a list, the value of the first argument applies to all.
    pub struct_size: usize,
    /// A REVAMP_ARGUMENT_ value.
    pub kind: revamp_argument_kind,
    /// BUFFER, UNIFORM, IMAGE and SAMPLER: descriptor set number.
    pub set: u32,
    /// BUFFER, UNIFORM, IMAGE and SAMPLER: binding number.
    pub binding: u32,
    /// SPECIALIZATION: id of the constant. BUFFER, UNIFORM, IMAGE and SAMPLER: number of the
    /// descriptor in an array of descriptors; else 0.
    pub id: u32,
    /// PUSH_CONSTANT: byte offset in the push-constant block. ADDRESS and INDIRECT: byte offset in
    /// the argument block, a multiple of 8.
    pub offset: u32,
    /// BUFFER, ADDRESS and INDIRECT: how the kernel uses the bytes. The default (0) for a BUFFER of
    /// a SPIR-V kernel is what the kernel declares; otherwise READ for a read-only view, and
    /// READ_WRITE for anything else. WRITE promises that the kernel writes all elements, so that an
    /// array_view's old contents need not move; `writeonly` in a kernel does not promise this.
    pub access: revamp_access,
    /// BUFFER, ADDRESS and INDIRECT: the array, or NULL.
    pub array: revamp_array,
    /// BUFFER, ADDRESS and INDIRECT: the array_view, or NULL. It is made valid where the launch
    /// runs. If a view or section has gaps between its rows, the kernel can reach the bytes in the
    /// gaps too: the argument covers all bytes from the first to the last element.
    pub view: revamp_array_view,
    /// IMAGE: the texture. ADDRESS and INDIRECT: the texture, or NULL. The kernel gets the
    /// address of the first texel of `level`; the levels follow each other in the host form. A
    /// launch must not have the same level in one argument with access READ and in another with
    /// write access.
    pub texture: revamp_texture,
    /// The first level of the texture that the kernel uses.
    pub level: u32,
    /// The number of levels that the kernel uses; 0: all from `level` on.
    pub level_count: u32,
    /// BUFFER, ADDRESS and INDIRECT: first element of the array's section. NULL: zeros.
    pub origin: *const i32,
    /// BUFFER, ADDRESS and INDIRECT: extent of the array's section. NULL: up to the array's end.
    pub extent: *const i32,
    /// PUSH_CONSTANT, SPECIALIZATION and UNIFORM: the value. INDIRECT: the bytes to append to the
    /// argument block, at least 8; they are placed at a multiple of 16. SAMPLER, and IMAGE for a
    /// texture with its sampler: a revamp_sampler. For all other kinds: NULL.
    pub data: *const c_void,
    /// PUSH_CONSTANT, SPECIALIZATION, UNIFORM and INDIRECT: number of bytes at `data`.
    pub size: usize,
}

/// The sampling of textures. If all fields but struct_size are zero: linear, clamp.
#[repr(C)]
pub struct revamp_sampler {
    /// sizeof(revamp_sampler).
    pub struct_size: usize,
    /// A REVAMP_FILTER_ value.
    pub filter: revamp_filter,
    /// A REVAMP_ADDRESS_ value.
    pub address: revamp_address,
    /// For REVAMP_ADDRESS_BORDER: x, y, z, w. Colours other than 0, 0, 0, 0 and 0, 0, 0, 1 and
    /// 1, 1, 1, 1 need a device with custom border colours.
    pub border_color: [f32; 4],
}

/// Parameters of a new texture.
#[repr(C)]
pub struct revamp_texture_options {
    /// sizeof(revamp_texture_options).
    pub struct_size: usize,
    /// Number of dimensions, 1 to 3.
    pub rank: u32,
    /// Texels in each dimension of level 0, most significant first: at most 16384, or 2048 if there
    /// are three dimensions.
    pub extent: *const i32,
    /// A REVAMP_COMPONENT_ value.
    pub component_kind: revamp_component_kind,
    /// Components of a texel: 1, 2 or 4; also 3 for integers and floats of 32 bits; not 4 for
    /// doubles.
    pub components: u32,
    /// Bits of a component. 0: 32, for doubles 64; NORM and UNORM need a value.
    pub bits: u32,
    /// Number of mipmap levels, or REVAMP_ALL_LEVELS; 0: one.
    pub levels: u32,
    /// A REVAMP_TEXTURE_STORAGE_ value.
    pub storage: revamp_texture_storage,
    /// If the texture's view is one of the cpu: the view with which this staging texture exchanges
    /// data. NULL: none.
    pub associated_view: revamp_accelerator_view,
    /// Names the texture in messages and debugging tools; NULL: none.
    pub label: *const c_char,
}

/// Properties of a texture.
#[repr(C)]
pub struct revamp_texture_info {
    /// sizeof(revamp_texture_info).
    pub struct_size: usize,
    /// Number of dimensions.
    pub rank: u32,
    /// Texels in each dimension of level 0, most significant first; 1 for dimensions above rank.
    pub extent: [i32; 3],
    /// A REVAMP_COMPONENT_ value.
    pub component_kind: revamp_component_kind,
    /// Components of a texel.
    pub components: u32,
    /// Bits of a component.
    pub bits: u32,
    /// Number of mipmap levels.
    pub levels: u32,
    /// How it is stored; not AUTO.
    pub storage: revamp_texture_storage,
    /// Bytes of a texel in the host form.
    pub texel_size: u32,
    /// Bytes of all levels in the host form.
    pub size: u64,
    /// For a staging texture of rank 2 or 3: bytes from a row to the next one in
    /// revamp_texture_data(). Else 0.
    pub row_pitch: u64,
    /// For a staging texture of rank 3: bytes from a slice to the next one. Else 0.
    pub depth_pitch: u64,
    /// The view it lives on.
    pub view: revamp_accelerator_view,
    /// The associated view; the same as `view` unless it is a staging texture.
    pub associated_view: revamp_accelerator_view,
}

/// A level of a texture.
#[repr(C)]
pub struct revamp_texture_level_info {
    /// sizeof(revamp_texture_level_info).
    pub struct_size: usize,
    /// Texels in each dimension, most significant first; 1 for dimensions above the texture's rank.
    pub extent: [i32; 3],
    /// Byte offset of the level in the host form of all levels.
    pub offset: u64,
    /// Bytes of the level in the host form.
    pub size: u64,
}

/// Levels of a texture, or a section of one level.
#[repr(C)]
pub struct revamp_texture_region {
    /// sizeof(revamp_texture_region).
    pub struct_size: usize,
    /// The texture.
    pub texture: revamp_texture,
    /// The first level.
    pub level: u32,
    /// Number of levels; 0: all from `level` on, or one if origin or extent is given.
    pub level_count: u32,
    /// First texel of a section of one level. NULL: zeros.
    pub origin: *const i32,
    /// Extent of a section of one level. NULL: up to the level's end.
    pub extent: *const i32,
}

/// A launch of a SPIR-V kernel.
#[repr(C)]
pub struct revamp_dispatch_info {
    /// sizeof(revamp_dispatch_info).
    pub struct_size: usize,
    /// Number of dimensions of extent, at least 1.
    pub rank: u32,
    /// Global extent in invocations, most significant first. The launched workgroups cover it and
    /// may exceed it, so the kernel must check bounds unless the extent is a multiple of the
    /// workgroup size. If rank is above 3, the leading dimensions are folded into z. NULL: groups
    /// is used.
    pub extent: *const i32,
    /// Number of workgroups in x, y and z, each at least 1. Used if extent is NULL.
    pub groups: [u32; 3],
    /// The arguments, in any order. NULL if there are none.
    pub arguments: *const revamp_argument,
    /// Number of arguments.
    pub argument_count: usize,
    /// The argument block, for kernels whose push constants are one address; else NULL. It is read
    /// during the call. The kernel gets the address of a copy in device memory, into which the
    /// addresses of ADDRESS and INDIRECT arguments have been written.
    pub block: *const c_void,
    /// Size of the block in bytes.
    pub block_size: usize,
}

/// Options for asynchronous work. NULL or zero: the defaults.
#[repr(C)]
pub struct revamp_async_options {
    /// sizeof(revamp_async_options).
    pub struct_size: usize,
    /// The work begins when these completions are done; they may belong to any work,
    /// accelerator_view or device. If one of them fails, the work does not run: its outputs stay
    /// unchanged, and its completion fails with the same status. Later synchronous calls that use
    /// the same elements wait until the work has begun. A thread that sets one of these
    /// completions must therefore not make such a call before it has set the completion. NULL: none.
    pub after: *const revamp_completion,
    /// Number of completions in `after`.
    pub after_count: usize,
    /// True: revamp_completion_get_times() gives the begin and end of the work. A launch then runs
    /// alone on its accelerator_view, and a copy on a thread of the library.
    pub is_timed: bool,
}

/// The begin and end of an operation.
#[repr(C)]
pub struct revamp_times {
    /// sizeof(revamp_times).
    pub struct_size: usize,
    /// When it began, in nanoseconds.
    pub begin: u64,
    /// When it ended, in nanoseconds.
    pub end: u64,
    /// Maximum deviation of both times from the host's clock, in nanoseconds; 0 if is_host_clock
    /// is false.
    pub deviation: u64,
    /// True: the times are of the host's clock (CLOCK_MONOTONIC, or QueryPerformanceCounter on
    /// Windows). False: they are of the device's clock and not comparable with the host's.
    pub is_host_clock: bool,
}

/// The position of a thread of a host kernel. The pointers are valid only during the kernel's call
/// for this thread; each index has rank values.
#[repr(C)]
pub struct revamp_thread_id {
    /// Number of dimensions.
    pub rank: u32,
    /// Index in the whole domain.
    pub global: *const i32,
    /// Index in the tile; NULL if not tiled.
    pub local: *const i32,
    /// Index of the tile among the tiles; NULL if not tiled.
    pub tile: *const i32,
    /// Global index of the tile's first thread; NULL if not tiled.
    pub tile_origin: *const i32,
    /// tile_static memory, shared by the threads of the tile and aligned to 64 bytes. Its contents
    /// are undefined at first. NULL if the launch requested none.
    pub tile_memory: *mut c_void,
    /// For the library's own use.
    pub internal: *const c_void,
}

/// A kernel that is a function of the program. It is called once for each element of the domain,
/// by several threads at the same time. It must return, and must not throw or longjmp out.
pub type revamp_host_kernel = Option<unsafe extern "C" fn(id: *const revamp_thread_id, context: *mut c_void)>;

/// A kernel that runs `count` consecutive elements of the last dimension, beginning at `first`. It
/// contains the loop, which a compiler can vectorise. Otherwise like revamp_host_kernel.
pub type revamp_host_row_kernel =
    Option<unsafe extern "C" fn(first: *const revamp_thread_id, count: u32, context: *mut c_void)>;

/// A launch of a host kernel, which the kernel compiler may also have compiled for devices.
#[repr(C)]
pub struct revamp_parallel_for_each_info {
    /// sizeof(revamp_parallel_for_each_info).
    pub struct_size: usize,
    /// Number of dimensions, at least 1; at most 3 if tiled.
    pub rank: u32,
    /// Global extent, most significant dimension first.
    pub extent: *const i32,
    /// Tile extent, which must divide the global extent; at most 1024 threads in a tile. NULL: not
    /// tiled.
    pub tile: *const i32,
    /// Bytes of tile_static memory of each tile.
    pub tile_memory: usize,
    /// The kernel for host threads; NULL if `row_function` or `compiled` takes its place.
    pub function: revamp_host_kernel,
    /// Passed to the kernel. What it points to must live until the launch is done. Ignored if
    /// `block` is given.
    pub context: *mut c_void,
    /// The arrays and array_views that the kernel uses: views are made valid where it runs, and
    /// the launch is ordered against other uses of them. Either BUFFER arguments with access and
    /// array or view set (host threads only), or ADDRESS and INDIRECT arguments, whose addresses
    /// are written into the block. The default access (0) is READ for a read-only view, else
    /// READ_WRITE. NULL if the kernel uses none, or the caller orders all uses.
    pub arguments: *const revamp_argument,
    /// Number of arguments.
    pub argument_count: usize,
    /// If not NULL, the kernel's context is the address of a copy of this block, with the
    /// arguments' addresses written into it. The copy is aligned to 64 bytes and lives until the
    /// launch is done.
    pub block: *const c_void,
    /// Size of the block in bytes.
    pub block_size: usize,
    /// If not NULL, runs in place of `function`, which may be NULL then. Not for tiled launches.
    pub row_function: revamp_host_row_kernel,
    /// The address of the constant that identifies the launch's compiled kernel in the kernel
    /// compiler's registration (HIP's kernel handle); NULL: there is no compiled kernel. On a
    /// Vulkan view that kernel runs, with the block as its argument block. `function` and
    /// `row_function` may then both be NULL, if host threads need not run the launch.
    pub compiled: *const c_void,
    /// Alignment of the block for the compiled kernel, which must have been compiled for a block
    /// of this size and alignment.
    pub block_alignment: usize,
}

/// A SPIR-V kernel embedded in the program, as the CMake function revamp_embed_spirv() makes it.
#[repr(C)]
pub struct revamp_kernel_record {
    /// sizeof(revamp_kernel_record).
    pub struct_size: usize,
    /// The name by which revamp_kernel_find() finds the kernel.
    pub name: *const c_char,
    /// The SPIR-V module. It must stay in memory until the record is unregistered.
    pub spirv: *const c_void,
    /// Size of the module in bytes.
    pub spirv_size: usize,
}

/// A statistic that a driver reports for the code of a kernel.
#[repr(C)]
pub struct revamp_statistic {
    /// The driver's name for the statistic, such as "Spilled VGPRs".
    pub name: *const c_char,
    /// Its value; booleans are 0 and 1. Hashes of 64 bits are rounded.
    pub value: f64,
}

/// The result of compiling one form of a kernel.
#[repr(C)]
pub struct revamp_kernel_code {
    /// sizeof(revamp_kernel_code) of the library.
    pub struct_size: usize,
    /// The kernel's name as the compiler gives it; "" for a SPIR-V module.
    pub name: *const c_char,
    /// File and line of the lambda or functor; "" for a SPIR-V module.
    pub location: *const c_char,
    /// The form. A launch chooses among the general form (""), "no aliasing" (no two captures
    /// refer to the same memory), "textures as images", and "textures as images, no aliasing".
    pub form: *const c_char,
    /// REVAMP_OK, or the error if the device cannot run the form or the driver rejected it.
    pub status: revamp_status,
    /// The message of an error; "" if there is none.
    pub message: *const c_char,
    /// Threads of a subgroup; 0 if the driver does not say.
    pub subgroup_size: u32,
    /// The driver's statistics.
    pub statistics: *const revamp_statistic,
    /// Number of statistics; 0 if the driver reports none.
    pub statistic_count: usize,
}

/// Receives the result of compiling a form of a kernel, on the thread that called
/// revamp_accelerator_compile(). `code` is valid only during the callback. The callback may call
/// revamp.
pub type revamp_kernel_code_callback =
    Option<unsafe extern "C" fn(code: *const revamp_kernel_code, context: *mut c_void)>;

/// Receives log messages, in order, on any thread: when the call that wrote them returns, or soon
/// after if another thread is in the callback at that moment. The callback may call revamp. The
/// message is valid only during the callback.
pub type revamp_log_callback =
    Option<unsafe extern "C" fn(level: revamp_log_level, message: *const c_char, context: *mut c_void)>;

/// Called when an operation is done, with its result, on a thread of the library. The callback may
/// call revamp.
pub type revamp_completion_callback = Option<unsafe extern "C" fn(status: revamp_status, context: *mut c_void)>;
