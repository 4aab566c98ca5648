//! The types of the C API. Each mirrors what the header documents; nothing here does anything.

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
pub const REVAMP_ABI_VERSION: u32 = 2;

/// What a call came to. Negative: an error, one code for each class of failure.
pub type revamp_status = i32;
/// Done.
pub const REVAMP_OK: revamp_status = 0;
/// Not an error: the time passed before the operation was done.
pub const REVAMP_TIMEOUT: revamp_status = 1;
/// runtime_exception: the call cannot be done as asked.
pub const REVAMP_ERROR_RUNTIME: revamp_status = -1;
/// runtime_exception with E_INVALIDARG: an argument is out of its domain.
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
/// The Vulkan validation layer complained while REVAMP_VALIDATION=2.
pub const REVAMP_ERROR_VALIDATION: revamp_status = -9;
/// The process is exiting; the work has been drained.
pub const REVAMP_ERROR_SHUT_DOWN: revamp_status = -10;
/// The process was forked after the library was first used.
pub const REVAMP_ERROR_FORKED: revamp_status = -11;
/// A defect of revamp; please report it.
pub const REVAMP_ERROR_INTERNAL: revamp_status = -12;

/// How memory may be or is used (C++ AMP's access_type): a set of REVAMP_ACCESS_ bits.
pub type revamp_access = u32;
/// Not at all; for an argument: as the kernel declares it.
pub const REVAMP_ACCESS_NONE: revamp_access = 0;
/// Read.
pub const REVAMP_ACCESS_READ: revamp_access = 1;
/// Written, without being read.
pub const REVAMP_ACCESS_WRITE: revamp_access = 2;
/// Read and written.
pub const REVAMP_ACCESS_READ_WRITE: revamp_access = 3;
/// The library decides.
pub const REVAMP_ACCESS_AUTO: revamp_access = 0x8000_0000;

/// When work is handed to the device (C++ AMP's queuing_mode).
pub type revamp_queuing_mode = u32;
/// At the end of each call.
pub const REVAMP_QUEUING_MODE_IMMEDIATE: revamp_queuing_mode = 0;
/// When the device is idle, enough has gathered, or something waits for it.
pub const REVAMP_QUEUING_MODE_AUTOMATIC: revamp_queuing_mode = 1;

/// For which code a default accelerator is asked.
pub type revamp_code = u32;
/// SPIR-V kernels: the best GPU, else a software Vulkan device.
pub const REVAMP_CODE_SPIRV: revamp_code = 0;
/// Functions of the program itself: the host-thread accelerator, unless the program or the user
/// chose another.
pub const REVAMP_CODE_HOST: revamp_code = 1;

/// Severity of a log message; a level lets itself and everything more severe through.
pub type revamp_log_level = u32;
/// Nothing.
pub const REVAMP_LOG_OFF: revamp_log_level = 0;
/// Failures no caller can be told about.
pub const REVAMP_LOG_ERROR: revamp_log_level = 1;
/// What a user should mend.
pub const REVAMP_LOG_WARN: revamp_log_level = 2;
/// What was chosen and why.
pub const REVAMP_LOG_INFO: revamp_log_level = 3;
/// Every step worth a line.
pub const REVAMP_LOG_DEBUG: revamp_log_level = 4;

/// What kind of accelerator it is.
pub type revamp_accelerator_kind = u32;
/// The host itself: holds arrays, runs no kernels.
pub const REVAMP_ACCELERATOR_CPU: revamp_accelerator_kind = 0;
/// Threads of the host; runs functions of the program.
pub const REVAMP_ACCELERATOR_HOST_THREADS: revamp_accelerator_kind = 1;
/// A Vulkan device; runs SPIR-V.
pub const REVAMP_ACCELERATOR_VULKAN: revamp_accelerator_kind = 2;

/// Kinds of revamp_argument.
pub type revamp_argument_kind = u32;
/// A storage buffer.
pub const REVAMP_ARGUMENT_BUFFER: revamp_argument_kind = 1;
/// Bytes of the push-constant block.
pub const REVAMP_ARGUMENT_PUSH_CONSTANT: revamp_argument_kind = 2;
/// The value of a specialization constant.
pub const REVAMP_ARGUMENT_SPECIALIZATION: revamp_argument_kind = 3;
/// The device address of a buffer, written into the argument block.
pub const REVAMP_ARGUMENT_ADDRESS: revamp_argument_kind = 4;
/// As ADDRESS, one step further: bytes are appended to the argument block, the address of the
/// buffer is written at their beginning, and theirs into the block. What a reference to a C++ AMP
/// array becomes.
pub const REVAMP_ARGUMENT_INDIRECT: revamp_argument_kind = 5;

/// What revamp_accelerator points to.
pub struct revamp_accelerator_t(());
/// A place that holds memory and may run kernels. Owned by the library; valid until
/// revamp_uninitialize(). Two handles are equal if and only if they are the same accelerator.
pub type revamp_accelerator = *mut revamp_accelerator_t;

/// What revamp_accelerator_view points to.
pub struct revamp_accelerator_view_t(());
/// A queue of work on an accelerator. Reference counted. Two handles are equal if and only if they
/// are the same view.
pub type revamp_accelerator_view = *mut revamp_accelerator_view_t;

/// What revamp_array points to.
pub struct revamp_array_t(());
/// A block of elements that lives on one accelerator_view. Owned: destroy it.
pub type revamp_array = *mut revamp_array_t;

/// What revamp_kernel points to.
pub struct revamp_kernel_t(());
/// A SPIR-V kernel loaded on an accelerator. Reference counted.
pub type revamp_kernel = *mut revamp_kernel_t;

/// What revamp_array_view points to.
pub struct revamp_array_view_t(());
/// A part of a data source (host memory or an array), usable on the host and on every accelerator:
/// the library moves the bytes to where they are used, and only those that are missing there.
/// Reference counted; a retained handle is what a copy of an array_view is in C++ AMP. Uses of
/// overlapping views at the same time, of which one writes, are a race (AV-23).
pub type revamp_array_view = *mut revamp_array_view_t;

/// What revamp_completion points to.
pub struct revamp_completion_t(());
/// An operation under way (C++ AMP's completion_future). Reference counted. Releasing it does not
/// cancel the operation.
pub type revamp_completion = *mut revamp_completion_t;

/// Properties of an accelerator. Strings are valid until revamp_uninitialize().
#[repr(C)]
pub struct revamp_accelerator_info {
    /// sizeof(revamp_accelerator_info).
    pub struct_size: usize,
    /// Unique on the system: "cpu", "direct3d\warp", "vulkan\<uuid>".
    pub device_path: *const c_char,
    /// Short name.
    pub description: *const c_char,
    /// NULL if the accelerator can be used, else why not.
    pub unusable_reason: *const c_char,
    /// Name and version of the driver; empty for the host.
    pub driver: *const c_char,
    /// A REVAMP_ACCELERATOR_ value.
    pub kind: revamp_accelerator_kind,
    /// major << 16 | minor.
    pub version: u32,
    /// Dedicated memory in kilobytes; of the host: its memory.
    pub dedicated_memory: usize,
    /// True if a display is attached.
    pub has_display: bool,
    /// True if it checks its use (validation is on).
    pub is_debug: bool,
    /// True for software: lavapipe, host threads, the cpu.
    pub is_emulated: bool,
    /// Full double precision, with fma, division and conversion.
    pub supports_double_precision: bool,
    /// Double precision without those.
    pub supports_limited_double_precision: bool,
    /// Memory that the accelerator and the host both address.
    pub supports_cpu_shared_memory: bool,
    /// What REVAMP_ACCESS_AUTO means for arrays here.
    pub default_cpu_access_type: revamp_access,
    /// Most invocations in a workgroup, and most in each dimension (x, y, z); 0 where no kernels
    /// run.
    pub max_workgroup_invocations: u32,
    /// Largest workgroup in x, y, z.
    pub max_workgroup_size: [u32; 3],
    /// Bytes of workgroup (tile_static) memory.
    pub max_workgroup_memory: u32,
    /// Bytes of push constants.
    pub max_push_constants: u32,
    /// Most bytes one storage-buffer binding covers; larger arrays need addresses or sections.
    pub max_storage_buffer_range: u64,
    /// A bound section must begin at a multiple of so many bytes.
    pub min_storage_buffer_alignment: u64,
}

/// Properties of an accelerator_view.
#[repr(C)]
pub struct revamp_accelerator_view_info {
    /// sizeof(revamp_accelerator_view_info).
    pub struct_size: usize,
    /// Its accelerator.
    pub accelerator: revamp_accelerator,
    /// REVAMP_QUEUING_MODE_.
    pub queuing_mode: revamp_queuing_mode,
    /// The accelerator's version.
    pub version: u32,
    /// The accelerator's is_debug.
    pub is_debug: bool,
    /// True only for the auto-selection view.
    pub is_auto_selection: bool,
}

/// How an array is made. NULL or zero: the defaults.
#[repr(C)]
pub struct revamp_array_options {
    /// sizeof(revamp_array_options).
    pub struct_size: usize,
    /// What the host may do with the memory directly (docs/spec/arrays.md#cpu-access-types). Counts
    /// only with has_cpu_access_type.
    pub cpu_access_type: revamp_access,
    /// False: cpu_access_type is AUTO.
    pub has_cpu_access_type: bool,
    /// Makes a staging array: the view whose device often exchanges data with it (rules STG-2 to
    /// STG-5). NULL: none.
    pub associated_view: revamp_accelerator_view,
    /// A name for messages and tools. NULL: none.
    pub label: *const c_char,
}

/// Properties of an array.
#[repr(C)]
pub struct revamp_array_info {
    /// sizeof(revamp_array_info).
    pub struct_size: usize,
    /// Dimensions.
    pub rank: u32,
    /// rank extents; valid as long as the array.
    pub extent: *const i32,
    /// Bytes of an element.
    pub element_size: usize,
    /// Number of elements.
    pub element_count: u64,
    /// Bytes of all elements.
    pub size: u64,
    /// Where it lives. Borrowed: retain it to keep it.
    pub view: revamp_accelerator_view,
    /// The associated view of a staging array, else the same as view (rule STG-4). Borrowed.
    pub associated_view: revamp_accelerator_view,
    /// What the host may do with the memory directly.
    pub cpu_access_type: revamp_access,
}

/// A bit of an array_view's state word: the host may read through the address it was given.
pub const REVAMP_HOST_MAY_READ: u32 = 1;
/// The host may write there.
pub const REVAMP_HOST_MAY_WRITE: u32 = 2;

/// How an array_view is made. NULL or zero: the defaults.
#[repr(C)]
pub struct revamp_array_view_options {
    /// sizeof(revamp_array_view_options).
    pub struct_size: usize,
    /// Nobody writes through it (C++ AMP's array_view<const T>).
    pub read_only: bool,
    /// A name for messages. NULL: none.
    pub label: *const c_char,
}

/// Properties of an array_view.
#[repr(C)]
pub struct revamp_array_view_info {
    /// sizeof(revamp_array_view_info).
    pub struct_size: usize,
    /// Dimensions.
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
    /// It cannot be written through.
    pub read_only: bool,
    /// Where the data source lives (get_source_accelerator_view); NULL without a data source.
    /// Borrowed.
    pub source_view: revamp_accelerator_view,
    /// The same for all views of one data source, and for no others.
    pub source_id: u64,
}

/// Where an array_view's bytes are, as seen from an accelerator_view.
#[repr(C)]
pub struct revamp_residency {
    /// sizeof(revamp_residency).
    pub struct_size: usize,
    /// Bytes of the view's elements.
    pub view_bytes: u64,
    /// Of them valid there.
    pub valid_bytes: u64,
    /// Of them discarded, or never written: valid nowhere, and not moved.
    pub discarded_bytes: u64,
    /// Bytes held there for the whole data source, beside its home.
    pub allocated_bytes: u64,
    /// The accelerator_view uses the data source's own memory: nothing ever moves.
    pub shares_home: bool,
}

/// What memory an accelerator holds for the program, in bytes.
#[repr(C)]
pub struct revamp_memory_usage {
    /// sizeof(revamp_memory_usage).
    pub struct_size: usize,
    /// Of arrays, of array_views' data there, and a little that work under way needs.
    pub used: u64,
    /// Taken from the driver or the system for them: memory is taken in blocks, and some that was
    /// freed is kept. At most `used`, a tenth more, and `slack`, unless many small arrays were
    /// freed and those left lie scattered over their blocks.
    pub held: u64,
    /// See `held`. The same at all times; 0 for memory of the host.
    pub slack: u64,
    /// Host memory that copies pass through. Given back once it was not used for five seconds, at
    /// the next call that copies, waits or makes an array.
    pub staging: u64,
    /// Most that `staging` ever is. Before the accelerator's first use this and all others are 0.
    pub staging_limit: u64,
}

/// Bytes and number of transfers. `to`: into an accelerator's memory; `from`: out of it to the
/// host (from one accelerator to another by way of the host: once each); `local`: within one
/// memory. `implicit`: forced by a launch, an access or a release; `explicit`: asked for by a copy
/// or synchronize.
#[repr(C)]
pub struct revamp_transfer_counters {
    /// sizeof(revamp_transfer_counters).
    pub struct_size: usize,
    /// Implicit, to.
    pub implicit_to_bytes: u64,
    /// Implicit, to.
    pub implicit_to_count: u64,
    /// Implicit, from.
    pub implicit_from_bytes: u64,
    /// Implicit, from.
    pub implicit_from_count: u64,
    /// Implicit, local.
    pub implicit_local_bytes: u64,
    /// Implicit, local.
    pub implicit_local_count: u64,
    /// Explicit, to.
    pub explicit_to_bytes: u64,
    /// Explicit, to.
    pub explicit_to_count: u64,
    /// Explicit, from.
    pub explicit_from_bytes: u64,
    /// Explicit, from.
    pub explicit_from_count: u64,
    /// Explicit, local.
    pub explicit_local_bytes: u64,
    /// Explicit, local.
    pub explicit_local_count: u64,
}

/// One transfer of the log.
#[repr(C)]
pub struct revamp_transfer {
    /// sizeof(revamp_transfer).
    pub struct_size: usize,
    /// Counted from 1 since the library was loaded.
    pub number: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Forced by a launch, an access or a release.
    pub is_implicit: bool,
    /// The function of this header that forced it. Valid for good.
    pub call: *const c_char,
    /// Where the bytes came from; the cpu accelerator is the host.
    pub source: revamp_accelerator,
    /// Where they went.
    pub destination: revamp_accelerator,
    /// The data source of the view used (revamp_array_view_info), 0 if there was none.
    pub source_id: u64,
}

/// One side of a copy: an array or a section of it, an array_view, or host memory.
#[repr(C)]
pub struct revamp_region {
    /// sizeof(revamp_region).
    pub struct_size: usize,
    /// The array. NULL: an array_view or host memory.
    pub array: revamp_array,
    /// The array_view; array and extent are NULL then. As destination it is written where its data
    /// source lives, as source read where it is valid, the destination's own memory first (SEL-21
    /// to SEL-24).
    pub view: revamp_array_view,
    /// First element of the section, one value for each dimension. NULL: zeros. Arrays only.
    pub origin: *const i32,
    /// Size of the section, one value for each dimension. NULL: to the end of the array. Needed
    /// for host memory.
    pub extent: *const i32,
    /// The address of the first element in host memory. It is not written if the region is the
    /// source of the copy.
    pub host: *mut c_void,
    /// Bytes that may be touched from host on; 0: not checked.
    pub host_size: usize,
    /// Byte strides of host memory, one for each dimension. NULL: row-major without gaps.
    pub host_strides: *const i64,
    /// Dimensions of host memory.
    pub host_rank: u32,
    /// Bytes of an element in host memory.
    pub host_element_size: usize,
}

/// How a kernel is loaded.
#[repr(C)]
pub struct revamp_kernel_options {
    /// sizeof(revamp_kernel_options).
    pub struct_size: usize,
    /// The SPIR-V module. Copied.
    pub spirv: *const c_void,
    /// Its size in bytes.
    pub spirv_size: usize,
    /// The entry point. NULL: the only compute entry point.
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
    /// Bytes of the push-constant block.
    pub push_constant_size: u32,
    /// Number of specialization constants.
    pub specialization_count: u32,
    /// True if the push constants are one 8-byte address: the kernel takes an argument block.
    pub takes_block: bool,
}

/// A storage buffer that a kernel uses.
#[repr(C)]
pub struct revamp_binding_info {
    /// sizeof(revamp_binding_info).
    pub struct_size: usize,
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// How the kernel uses it.
    pub access: revamp_access,
    /// Name in the source, if the module kept it, else NULL; of a longer one the first 512 bytes
    /// and "...". Valid as long as the kernel.
    pub name: *const c_char,
    /// Fewest bytes that must be bound.
    pub min_size: u64,
}

/// One argument of a dispatch. The revamp_argument_ functions below fill it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_argument {
    /// REVAMP_ARGUMENT_.
    pub kind: revamp_argument_kind,
    /// BUFFER: descriptor set.
    pub set: u32,
    /// BUFFER: binding.
    pub binding: u32,
    /// SPECIALIZATION: the constant's id.
    pub id: u32,
    /// PUSH_CONSTANT: byte offset in the block. ADDRESS and INDIRECT: byte offset in the argument
    /// block, a multiple of 8.
    pub offset: u32,
    /// BUFFER, ADDRESS and INDIRECT: how the bytes are used. Zero: BUFFER: as the kernel declares;
    /// else READ_WRITE, of a read-only view READ. WRITE promises that all elements are written, so
    /// that an array_view's old contents need not be moved; a kernel that declares `writeonly` may
    /// leave some out and promises nothing.
    pub access: revamp_access,
    /// BUFFER, ADDRESS and INDIRECT: the array, or NULL.
    pub array: revamp_array,
    /// BUFFER, ADDRESS and INDIRECT: the array_view, made valid where the launch runs; or NULL. A
    /// view or section with gaps covers for the kernel all that lies between its first and last
    /// element.
    pub view: revamp_array_view,
    /// The same: first element of the array's section. NULL: zeros.
    pub origin: *const i32,
    /// The same: extent of the array's section. NULL: to the end.
    pub extent: *const i32,
    /// PUSH_CONSTANT and SPECIALIZATION: the bytes. INDIRECT: those to append, at least 8, at a
    /// multiple of 16.
    pub data: *const c_void,
    /// PUSH_CONSTANT, SPECIALIZATION and INDIRECT: how many.
    pub size: usize,
}

/// A launch of a SPIR-V kernel.
#[repr(C)]
pub struct revamp_dispatch_info {
    /// sizeof(revamp_dispatch_info).
    pub struct_size: usize,
    /// Dimensions of extent, at least 1.
    pub rank: u32,
    /// Global extent, most significant first: as many workgroups run as cover it, so the kernel
    /// must check its bounds where the extent is no multiple of the workgroup size. Rank above 3:
    /// the leading dimensions are folded into z. NULL: groups is used.
    pub extent: *const i32,
    /// Workgroups in x, y, z, each at least 1, if extent is NULL.
    pub groups: [u32; 3],
    /// The arguments, in any order.
    pub arguments: *const revamp_argument,
    /// How many.
    pub argument_count: usize,
    /// For kernels that take one address: the argument block, read during the call. Its copy in
    /// device memory is what the address points to, after the ADDRESS arguments have been written
    /// into it.
    pub block: *const c_void,
    /// Its size in bytes.
    pub block_size: usize,
}

/// Where a thread of a host kernel stands. Pointers are valid during the thread's call only.
#[repr(C)]
pub struct revamp_thread_id {
    /// Dimensions.
    pub rank: u32,
    /// Position in the whole domain.
    pub global: *const i32,
    /// Position in the tile; NULL if not tiled.
    pub local: *const i32,
    /// Number of the tile; NULL if not tiled.
    pub tile: *const i32,
    /// Position of the tile's first thread; NULL if not tiled.
    pub tile_origin: *const i32,
    /// tile_static memory, shared by the threads of the tile, aligned to 64 bytes; contents
    /// undefined at the start. NULL if none was asked for.
    pub tile_memory: *mut c_void,
    /// For the library.
    pub internal: *const c_void,
}

/// A kernel that is a function of the program. Called once for each element of the domain, on many
/// threads at once. It must return, and must not throw or jump out.
pub type revamp_host_kernel = Option<unsafe extern "C" fn(id: *const revamp_thread_id, context: *mut c_void)>;

/// A kernel that runs `count` elements which follow one another in the last dimension, `first`
/// being the first: a loop of its own, which a compiler can vectorise. Otherwise as
/// revamp_host_kernel.
pub type revamp_host_row_kernel =
    Option<unsafe extern "C" fn(first: *const revamp_thread_id, count: u32, context: *mut c_void)>;

/// A launch of a host kernel, which the kernel compiler may have compiled for devices too.
#[repr(C)]
pub struct revamp_parallel_for_each_info {
    /// sizeof(revamp_parallel_for_each_info).
    pub struct_size: usize,
    /// Dimensions, at least 1; of a tiled launch at most 3.
    pub rank: u32,
    /// Global extent.
    pub extent: *const i32,
    /// Tile extent, which divides the global extent; product at most 1024. NULL: not tiled.
    pub tile: *const i32,
    /// Bytes of tile_static memory for each tile.
    pub tile_memory: usize,
    /// The kernel.
    pub function: revamp_host_kernel,
    /// Passed to it; must live until the launch is done.
    pub context: *mut c_void,
    /// Arrays and array_views the kernel uses: the views are made valid, and the launch is ordered
    /// against other uses. As BUFFER arguments with access and array or view set (host threads
    /// only), or as ADDRESS or INDIRECT arguments, which write addresses into the block. Access
    /// zero is READ_WRITE, of a read-only view READ. May be NULL if the caller orders by itself.
    pub arguments: *const revamp_argument,
    /// How many.
    pub argument_count: usize,
    /// If not NULL: the kernel gets the address of a copy of this block, with addresses written
    /// into it, as its context (aligned to 64 bytes; it lives until the launch is done).
    pub block: *const c_void,
    /// Its size in bytes.
    pub block_size: usize,
    /// If not NULL: runs in place of `function`, which may be NULL then. Not for tiled launches.
    pub row_function: revamp_host_row_kernel,
    /// What the kernel compiler's registration calls the launch: the address of its entry point's
    /// stub. Where the launch goes to a Vulkan view, the kernel of that name runs, with the block
    /// as its argument block. `function` and `row_function` may both be NULL then: host threads
    /// cannot run it. NULL: there is no compiled kernel.
    pub compiled: *const c_void,
    /// Alignment of the block for the compiled kernel, which must have been compiled for a block
    /// of this size and alignment.
    pub block_alignment: usize,
}

/// A kernel compiled into the program. Made by the CMake function revamp_embed_spirv().
#[repr(C)]
pub struct revamp_kernel_record {
    /// sizeof(revamp_kernel_record).
    pub struct_size: usize,
    /// The name it is found by.
    pub name: *const c_char,
    /// The SPIR-V module; must stay until it is unregistered.
    pub spirv: *const c_void,
    /// Its size in bytes.
    pub spirv_size: usize,
}

/// Receives log messages, on any thread, when the call that wrote them returns. It may call the
/// library. The text ends with the call.
pub type revamp_log_callback =
    Option<unsafe extern "C" fn(level: revamp_log_level, message: *const c_char, context: *mut c_void)>;

/// Called when an operation is done, with its result; may call the library, on some thread of it.
pub type revamp_completion_callback = Option<unsafe extern "C" fn(status: revamp_status, context: *mut c_void)>;
