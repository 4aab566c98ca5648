//! The type of a Vulkan device.

use ash::vk;

/// The type of a device, as Vulkan tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceType {
    /// A card with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A part of a GPU in a virtual machine.
    Virtual,
    /// A program that runs on the CPU, such as lavapipe.
    Cpu,
    /// Anything else.
    Other,
}

impl From<vk::PhysicalDeviceType> for DeviceType {
    fn from(t: vk::PhysicalDeviceType) -> Self {
        match t {
            vk::PhysicalDeviceType::DISCRETE_GPU => Self::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => Self::Integrated,
            vk::PhysicalDeviceType::VIRTUAL_GPU => Self::Virtual,
            vk::PhysicalDeviceType::CPU => Self::Cpu,
            _ => Self::Other,
        }
    }
}
