//! The structs of revamp_vulkan.h.

#![allow(non_camel_case_types)]

use super::vulkan_handles::*;
use std::ffi::{c_char, c_void};

/// Locks or unlocks a queue of the program. The arguments are the program's context, and the
/// queue's family and index.
pub type revamp_vulkan_queue_lock =
    Option<unsafe extern "C" fn(context: *mut c_void, queue_family_index: u32, queue_index: u32)>;

/// Tells the program that the library no longer uses one of the program's objects.
pub type revamp_vulkan_release = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// The requirements for a VkDevice of the program. Lists and texts live until the process ends.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_device_requirements {
    /// sizeof(revamp_vulkan_device_requirements).
    pub struct_size: usize,
    /// Names of the features without which revamp_vulkan_create_view() fails.
    pub required_features: *const *const c_char,
    /// Number of required_features.
    pub required_feature_count: u32,
    /// Number of optional_features.
    pub optional_feature_count: u32,
    /// Names of further features that the device has and the library uses. If one is not enabled,
    /// kernels that need it are refused.
    pub optional_features: *const *const c_char,
    /// Extensions that the device has and the library uses; none is required. For
    /// VkDeviceCreateInfo::ppEnabledExtensionNames.
    pub extensions: *const *const c_char,
    /// Number of extensions.
    pub extension_count: u32,
    /// The Vulkan version that the lists are for: VkApplicationInfo::apiVersion of the program's
    /// instance should be at least this.
    pub api_version: u32,
    /// All required and optional features, with a pNext chain of the extensions' feature structs:
    /// copy it, or let VkDeviceCreateInfo::pNext point to it.
    pub features: *const VkPhysicalDeviceFeatures2,
    /// The queue family that the library would use.
    pub queue_family_index: u32,
    /// A queue family that also supports graphics; VK_QUEUE_FAMILY_IGNORED if there is none.
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
    /// The physical device of `device`. It determines the accelerator.
    pub physical_device: VkPhysicalDevice,
    /// The device.
    pub device: VkDevice,
    /// The struct that was passed to vkCreateDevice(), because Vulkan has no query for the enabled
    /// features and extensions. Read during the call only.
    pub create_info: *const VkDeviceCreateInfo,
    /// The queue to which the library submits; it must support compute.
    pub queue: VkQueue,
    /// The queue's family.
    pub queue_family_index: u32,
    /// The queue's index in its family.
    pub queue_index: u32,
    /// VkApplicationInfo::apiVersion of the instance; at least VK_API_VERSION_1_2.
    pub api_version: u32,
    /// Number of sharing_families.
    pub sharing_family_count: u32,
    /// Further queue families of the program that will use arrays of the library: their buffers
    /// are made with VK_SHARING_MODE_CONCURRENT and need no transfers of ownership.
    pub sharing_families: *const u32,
    /// vkGetInstanceProcAddr, for programs that do not use the system's loader. NULL: the
    /// system's.
    pub get_instance_proc_addr: *const c_void,
    /// Locks the queue before each submission of the library, for programs that submit to the
    /// queue themselves. Set both functions or neither. They must take no other lock than the
    /// queue's and must not call revamp; the program must not call revamp while it holds that lock.
    pub lock_queue: revamp_vulkan_queue_lock,
    /// Unlocks the queue after each submission of the library.
    pub unlock_queue: revamp_vulkan_queue_lock,
    /// Called once, on a thread of the library, when the library no longer uses the device and the
    /// program may destroy it. NULL: none.
    pub release: revamp_vulkan_release,
    /// The context argument of the three functions.
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
    /// The queue to which the view submits; other views may submit to it too. Use it between
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
    /// In: the capacity of sharing_families. Out: the number of families. If it is above 1, buffers
    /// and images are VK_SHARING_MODE_CONCURRENT, else EXCLUSIVE and owned by queue_family_index.
    pub sharing_family_count: u32,
}

/// A VkBuffer of the program, for an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_buffer_info {
    /// sizeof(revamp_vulkan_buffer_info).
    pub struct_size: usize,
    /// A buffer of the view's VkDevice that is bound to memory (allocated with
    /// VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT). Its sharing mode is CONCURRENT and includes the
    /// view's queue family, or that family owns the buffer.
    pub buffer: VkBuffer,
    /// VkBufferCreateInfo::size.
    pub size: VkDeviceSize,
    /// Byte offset of the first element, a multiple of 16.
    pub offset: VkDeviceSize,
    /// VkBufferCreateInfo::usage; at least STORAGE_BUFFER, TRANSFER_SRC, TRANSFER_DST and
    /// SHADER_DEVICE_ADDRESS.
    pub usage: VkBufferUsageFlags,
    /// Called once, on a thread of the library, when the library no longer uses the buffer and the
    /// program may destroy it. NULL: none.
    pub release: revamp_vulkan_release,
    /// The context argument of `release`.
    pub context: *mut c_void,
}

/// The VkBuffer behind an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_array_info {
    /// sizeof(revamp_vulkan_array_info).
    pub struct_size: usize,
    /// The buffer. It lives until the array is destroyed and all work that uses it is done.
    pub buffer: VkBuffer,
    /// Byte offset of the first element in the buffer.
    pub offset: VkDeviceSize,
    /// Bytes of the elements.
    pub size: VkDeviceSize,
    /// The usage with which the buffer was made.
    pub usage: VkBufferUsageFlags,
}

/// A VkImage of the program, for a texture.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_image_info {
    /// sizeof(revamp_vulkan_image_info).
    pub struct_size: usize,
    /// An image of the view's VkDevice, bound to memory, in optimal tiling, with one layer and one
    /// sample. Its sharing mode is CONCURRENT and includes the view's queue family, or that
    /// family owns the image.
    pub image: VkImage,
    /// VkImageCreateInfo::format.
    pub format: VkFormat,
    /// VkImageCreateInfo::usage; at least SAMPLED, TRANSFER_SRC and TRANSFER_DST, and STORAGE for
    /// kernels that write it.
    pub usage: VkImageUsageFlags,
    /// The current layout. The library transitions the image to VK_IMAGE_LAYOUT_GENERAL.
    pub layout: VkImageLayout,
    /// Called once, on a thread of the library, when the library no longer uses the image and the
    /// program may destroy it. NULL: none.
    pub release: revamp_vulkan_release,
    /// The context argument of `release`.
    pub context: *mut c_void,
    /// VkImageCreateInfo::flags. With VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT the texture may have texels
    /// of another format with the same size. For example, VK_FORMAT_B8G8R8A8_SRGB may be four unorm
    /// of 8 bits in the order of its bytes, or one uint of 32 bits.
    pub flags: VkImageCreateFlags,
}

/// The VkImage behind a texture.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct revamp_vulkan_texture_info {
    /// sizeof(revamp_vulkan_texture_info).
    pub struct_size: usize,
    /// The image. It lives until the texture is released and all work that uses it is done.
    pub image: VkImage,
    /// The format of the image.
    pub format: VkFormat,
    /// VK_IMAGE_LAYOUT_GENERAL, in which the program must leave the image.
    pub layout: VkImageLayout,
    /// Number of mipmap levels of the image.
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
    /// The file descriptor. After an export it belongs to the program, until the program closes it
    /// or an import succeeds and takes it over.
    pub fd: i32,
    /// The index of the memory type, which is the same for all importers of one device.
    pub memory_type_index: u32,
    /// VkMemoryAllocateInfo::allocationSize.
    pub allocation_size: VkDeviceSize,
    /// Byte offset of the first element.
    pub offset: VkDeviceSize,
    /// Bytes of the elements. Ignored by an import.
    pub size: VkDeviceSize,
    /// True if the memory was allocated for one buffer (VkMemoryDedicatedAllocateInfo; CUDA:
    /// CUDA_EXTERNAL_MEMORY_DEDICATED).
    pub is_dedicated: bool,
    /// VkPhysicalDeviceIDProperties::deviceUUID of the hardware that has exported the memory. Zeros
    /// in an import: unknown; the program then vouches for the hardware, since a driver may accept a
    /// file descriptor of other hardware and give memory with other contents.
    pub device_uuid: [u8; 16],
}
