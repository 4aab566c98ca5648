//! Physical devices: the devices that can be opened, with their properties.

use super::Device;
use crate::error::Result;
use std::any::Any;
use std::ffi::CString;
use std::sync::Arc;

/// `device_path` of the cpu accelerator.
pub const CPU_PATH: &str = "cpu";
/// `device_path` of the host-thread accelerator.
pub const HOST_THREADS_PATH: &str = "host";
/// `device_path` of host threads for programs that ask for WARP (decision 28).
pub const WARP_PATH: &str = "direct3d\\warp";
/// `device_path` of the reference accelerator: one host thread, with all checks (decision 28).
pub const REFERENCE_PATH: &str = "direct3d\\ref";

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// The host: holds arrays, runs no kernels.
    Cpu,
    /// Threads of the host.
    HostThreads,
    /// A Vulkan device.
    Vulkan,
}

/// The type of a device.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum DeviceType {
    /// A GPU with dedicated memory.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A part of a GPU in a virtual machine.
    Virtual,
    /// Processors of the host: lavapipe, host threads.
    Cpu,
    /// Anything else.
    #[default]
    Other,
}

/// The identity of a device, and the features that its kernels may require.
#[derive(Debug, Default, Clone, Copy)]
pub struct Hardware {
    /// PCI or Khronos id of the vendor.
    pub vendor_id: u32,
    /// The vendor's id of the device.
    pub device_id: u32,
    /// The type of the device.
    pub device_type: DeviceType,
    /// The driver: a VkDriverId.
    pub driver_id: u32,
    /// The driver's version, in the driver's format.
    pub driver_version: u32,
    /// The version of Vulkan that is used.
    pub api_version: u32,
    /// The UUID of the hardware.
    pub uuid: [u8; 16],
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Minimum invocations of a subgroup, if the driver chooses the size.
    pub min_subgroup_size: u32,
    /// Maximum invocations of a subgroup.
    pub max_subgroup_size: u32,
    /// Maximum workgroups of a dispatch in x, y and z.
    pub max_workgroup_count: [u32; 3],
    /// The features that its kernels may require, as bits in the order of the C API.
    pub features: u64,
}

/// The properties of a device.
#[derive(Debug, Default)]
pub struct Properties {
    /// Unique on the system.
    pub device_path: CString,
    /// A short name to show to users.
    pub description: CString,
    /// Why the device cannot be used; `None` if it can be used.
    pub unusable: Option<CString>,
    /// True if the device has no memory: it compiles kernels but runs none.
    pub compiles_only: bool,
    /// Name and version of the driver.
    pub driver: CString,
    /// The accelerator's version: major << 16 | minor.
    pub version: u32,
    /// Dedicated memory in kilobytes.
    pub dedicated_memory_kb: usize,
    /// True if a display is known to be connected.
    pub has_display: bool,
    /// True if validation is on.
    pub is_debug: bool,
    /// True if the device is software.
    pub is_emulated: bool,
    /// True if the device has full double precision.
    pub double_precision: bool,
    /// True if the device has at least limited double precision.
    pub limited_double_precision: bool,
    /// True if the device has memory that the host addresses too.
    pub cpu_shared_memory: bool,
    /// Maximum invocations of a workgroup.
    pub max_workgroup_invocations: u32,
    /// Maximum invocations of a workgroup in x, y and z.
    pub max_workgroup_size: [u32; 3],
    /// Maximum bytes of workgroup memory.
    pub max_workgroup_memory: u32,
    /// Maximum bytes of push constants.
    pub max_push_constants: u32,
    /// Maximum bytes of a storage-buffer binding.
    pub max_storage_buffer_range: u64,
    /// Bytes to which the offset of a bound section must be aligned.
    pub min_storage_buffer_alignment: u64,
    /// Maximum bytes of a uniform-buffer binding.
    pub max_uniform_buffer_range: u64,
    /// Bytes to which the offset of a section bound as uniform buffer must be aligned.
    pub min_uniform_buffer_alignment: u64,
    /// True if the host may read and write the device's arrays, unless the program sets another CPU access type.
    pub shared_by_default: bool,
    /// The identity and features of the device.
    pub hardware: Hardware,
}

/// A C string of `text`, without zero bytes.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// A device that can be opened.
pub trait PhysicalDevice: Send + Sync {
    /// The kind of device.
    fn kind(&self) -> DeviceKind;
    /// Its properties.
    fn properties(&self) -> Properties;
    /// The UUID of the hardware, if Vulkan gives one.
    fn uuid(&self) -> Option<[u8; 16]>;
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn Any;
    /// Opens the device.
    fn open(&self) -> Result<Arc<dyn Device>>;
}
