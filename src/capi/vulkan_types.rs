//! The structs of revamp_vulkan.h.

#![allow(non_camel_case_types)]

use super::vulkan_handles::*;
use std::ffi::{c_char, c_void};

/// Locks or unlocks a queue of the program: the program's context, the queue's family, its index.
pub type revamp_vulkan_queue_lock =
    Option<unsafe extern "C" fn(context: *mut c_void, queue_family_index: u32, queue_index: u32)>;

/// Tells the program that the library has done with one of its objects.
pub type revamp_vulkan_release = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// What a VkDevice needs so that the library can work on it. Lists and texts live until the
/// process ends.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_device_requirements {
    /// sizeof(revamp_vulkan_device_requirements).
    pub struct_size: usize,
    /// Names of the features without which revamp_vulkan_create_view() fails.
    pub required_features: *const *const c_char,
    /// How many.
    pub required_feature_count: u32,
    /// How many optional_features.
    pub optional_feature_count: u32,
    /// Names of further features that the device has and the library uses: kernels that need one
    /// of them are refused without it.
    pub optional_features: *const *const c_char,
    /// Extensions that the device has and the library uses; none is required. For
    /// VkDeviceCreateInfo::ppEnabledExtensionNames.
    pub extensions: *const *const c_char,
    /// How many extensions.
    pub extension_count: u32,
    /// The Vulkan version that the lists are for: VkApplicationInfo::apiVersion of the program's
    /// instance should be at least this.
    pub api_version: u32,
    /// All of these features, with a chain of the structs behind it that the extensions bring:
    /// copy it, or let VkDeviceCreateInfo::pNext point to it.
    pub features: *const VkPhysicalDeviceFeatures2,
    /// The queue family that the library would use.
    pub queue_family_index: u32,
    /// A family that has graphics too; VK_QUEUE_FAMILY_IGNORED if there is none.
    pub graphics_queue_family_index: u32,
}

/// A VkDevice of the program. The handles must be alive, and belong together.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_device_info {
    /// sizeof(revamp_vulkan_device_info).
    pub struct_size: usize,
    /// The instance.
    pub instance: VkInstance,
    /// Its physical device, which decides the accelerator.
    pub physical_device: VkPhysicalDevice,
    /// The device.
    pub device: VkDevice,
    /// The struct that vkCreateDevice() was given: Vulkan does not tell later which features and
    /// extensions are enabled. Read during the call only.
    pub create_info: *const VkDeviceCreateInfo,
    /// The queue to which the library submits; it must be able to compute.
    pub queue: VkQueue,
    /// The queue's family.
    pub queue_family_index: u32,
    /// The queue's index in its family.
    pub queue_index: u32,
    /// VkApplicationInfo::apiVersion of the instance; at least VK_API_VERSION_1_2.
    pub api_version: u32,
    /// How many sharing_families.
    pub sharing_family_count: u32,
    /// Further queue families of the program that will use arrays of the library: their buffers
    /// are made with VK_SHARING_MODE_CONCURRENT, so that no ownership need be transferred.
    pub sharing_families: *const u32,
    /// vkGetInstanceProcAddr, for programs that do not use the system's loader. NULL: the
    /// system's.
    pub get_instance_proc_addr: *const c_void,
    /// If the program itself submits to the queue: its lock, taken around each submission. Both or
    /// none. They must take no other lock than the queue's, and call nothing of revamp; the
    /// program must call nothing of revamp while it holds that lock.
    pub lock_queue: revamp_vulkan_queue_lock,
    /// The counterpart.
    pub unlock_queue: revamp_vulkan_queue_lock,
    /// Called once, on a thread of the library, when the library has done with the device: then
    /// the program may destroy it. NULL: none.
    pub release: revamp_vulkan_release,
    /// What the three functions are called with.
    pub context: *mut c_void,
}

/// The Vulkan objects behind an accelerator_view.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_view_info {
    /// sizeof(revamp_vulkan_view_info).
    pub struct_size: usize,
    /// The instance.
    pub instance: VkInstance,
    /// The physical device.
    pub physical_device: VkPhysicalDevice,
    /// The device.
    pub device: VkDevice,
    /// The queue to which the view submits, beside others. Use it between
    /// revamp_vulkan_lock_queue() and revamp_vulkan_unlock_queue().
    pub queue: VkQueue,
    /// The queue's family.
    pub queue_family_index: u32,
    /// The queue's index in its family.
    pub queue_index: u32,
    /// The Vulkan version that the library uses.
    pub api_version: u32,
    /// True if the program made the device.
    pub is_of_program: bool,
    /// Room for the queue families that share memory of the library; NULL: none.
    pub sharing_families: *mut u32,
    /// In: how many there is room for. Out: how many there are. If there are several, buffers and
    /// images are VK_SHARING_MODE_CONCURRENT, else EXCLUSIVE and of queue_family_index.
    pub sharing_family_count: u32,
}

/// A VkBuffer of the program, for an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_buffer_info {
    /// sizeof(revamp_vulkan_buffer_info).
    pub struct_size: usize,
    /// The buffer: of the view's VkDevice, bound to memory (allocated with
    /// VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT). CONCURRENT over, or owned by, the view's family.
    pub buffer: VkBuffer,
    /// VkBufferCreateInfo::size.
    pub size: VkDeviceSize,
    /// Where the first element lies: a multiple of 16.
    pub offset: VkDeviceSize,
    /// VkBufferCreateInfo::usage; at least STORAGE_BUFFER, TRANSFER_SRC, TRANSFER_DST and
    /// SHADER_DEVICE_ADDRESS.
    pub usage: VkBufferUsageFlags,
    /// Called once, on a thread of the library, when the library has done with the buffer: then
    /// the program may destroy it. NULL: none.
    pub release: revamp_vulkan_release,
    /// What it is called with.
    pub context: *mut c_void,
}

/// The VkBuffer behind an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_array_info {
    /// sizeof(revamp_vulkan_array_info).
    pub struct_size: usize,
    /// The buffer. It lives as long as the array, and as work that uses it.
    pub buffer: VkBuffer,
    /// Where the first element lies in it.
    pub offset: VkDeviceSize,
    /// Bytes of the elements.
    pub size: VkDeviceSize,
    /// The usage with which it was made, beside what the program said of a buffer of its own.
    pub usage: VkBufferUsageFlags,
}

/// A VkImage of the program, for a texture.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_image_info {
    /// sizeof(revamp_vulkan_image_info).
    pub struct_size: usize,
    /// The image: of the view's VkDevice, bound to memory, in optimal tiling, with one layer and
    /// one sample. CONCURRENT over, or owned by, the view's family.
    pub image: VkImage,
    /// VkImageCreateInfo::format.
    pub format: VkFormat,
    /// VkImageCreateInfo::usage; at least SAMPLED, TRANSFER_SRC and TRANSFER_DST, and STORAGE for
    /// kernels that write it.
    pub usage: VkImageUsageFlags,
    /// The layout that it has now. The library brings it to VK_IMAGE_LAYOUT_GENERAL.
    pub layout: VkImageLayout,
    /// Called once, on a thread of the library, when the library has done with the image: then the
    /// program may destroy it. NULL: none.
    pub release: revamp_vulkan_release,
    /// What it is called with.
    pub context: *mut c_void,
    /// VkImageCreateInfo::flags. With VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT the texture may have texels
    /// of another format of as many bytes: VK_FORMAT_B8G8R8A8_SRGB, say, as unorm of 8 bits in
    /// the order of its bytes, or as one uint of 32 bits.
    pub flags: VkImageCreateFlags,
}

/// The VkImage behind a texture.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_texture_info {
    /// sizeof(revamp_vulkan_texture_info).
    pub struct_size: usize,
    /// The image. It lives as long as the texture, and as work that uses it.
    pub image: VkImage,
    /// Its format.
    pub format: VkFormat,
    /// VK_IMAGE_LAYOUT_GENERAL, in which the program must leave it.
    pub layout: VkImageLayout,
    /// Its levels.
    pub levels: u32,
}

/// A value of a timeline semaphore.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_point {
    /// The semaphore, of the same VkDevice.
    pub semaphore: VkSemaphore,
    /// The value.
    pub value: u64,
}

/// Memory that is shared by file descriptor (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT; CUDA:
/// CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_shared_memory {
    /// sizeof(revamp_vulkan_shared_memory).
    pub struct_size: usize,
    /// The file descriptor. Of an export: the program's, until it closes it or something imports
    /// it. An import that succeeds takes it over.
    pub fd: i32,
    /// The index of the memory type, which is the same for all importers of one device.
    pub memory_type_index: u32,
    /// VkMemoryAllocateInfo::allocationSize.
    pub allocation_size: VkDeviceSize,
    /// Where the first element lies.
    pub offset: VkDeviceSize,
    /// Bytes of the elements. Ignored by an import.
    pub size: VkDeviceSize,
    /// True if it was allocated for one buffer (VkMemoryDedicatedAllocateInfo; CUDA:
    /// CUDA_EXTERNAL_MEMORY_DEDICATED).
    pub is_dedicated: bool,
    /// VkPhysicalDeviceIDProperties::deviceUUID of the hardware. Written by an export only.
    pub device_uuid: [u8; 16],
}
