//! Rust declarations of the Vulkan types in the C API. In C, revamp_vulkan.h takes these types from vulkan_core.h.

use std::ffi::c_void;

pub type VkInstance = *mut c_void;
pub type VkPhysicalDevice = *mut c_void;
pub type VkDevice = *mut c_void;
pub type VkQueue = *mut c_void;
pub type VkBuffer = u64;
pub type VkImage = u64;
pub type VkSemaphore = u64;
pub type VkDeviceSize = u64;
pub type VkBufferUsageFlags = u32;
pub type VkImageUsageFlags = u32;
pub type VkImageCreateFlags = u32;
pub type VkFormat = i32;
pub type VkImageLayout = i32;
pub type VkDeviceCreateInfo = c_void;
pub type VkPhysicalDeviceFeatures2 = c_void;
