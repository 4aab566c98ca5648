//! Physical devices: those that can be opened, with their properties.

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
/// `device_path` of the reference accelerator: one host thread, and the checks there are (decision 28).
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
    /// A card with memory of its own.
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

/// What a device is, and what its kernels may require.
#[derive(Debug, Default, Clone, Copy)]
pub struct Hardware {
    /// PCI or Khronos id of the vendor.
    pub vendor_id: u32,
    /// The vendor's id of the device.
    pub device_id: u32,
    /// Its type.
    pub device_type: DeviceType,
    /// Its driver, as Vulkan numbers them.
    pub driver_id: u32,
    /// The version of the driver in its own form.
    pub driver_version: u32,
    /// The version of Vulkan that is used.
    pub api_version: u32,
    /// The UUID of the hardware.
    pub uuid: [u8; 16],
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Fewest invocations of a subgroup, where the driver chooses.
    pub min_subgroup_size: u32,
    /// Most invocations of a subgroup.
    pub max_subgroup_size: u32,
    /// Most workgroups of a dispatch in x, y and z.
    pub max_workgroup_count: [u32; 3],
    /// What its kernels may require, by bits; their order is that of the C API.
    pub features: u64,
}

/// The properties of a device.
#[derive(Debug, Default)]
pub struct Properties {
    /// Unique on the system.
    pub device_path: CString,
    /// A short name to show to users.
    pub description: CString,
    /// Why it cannot be used; `None` if it can.
    pub unusable: Option<CString>,
    /// It has no memory, so that it compiles kernels and runs none.
    pub compiles_only: bool,
    /// Name and version of the driver.
    pub driver: CString,
    /// Its version: major << 16 | minor.
    pub version: u32,
    /// Dedicated memory in kilobytes.
    pub dedicated_memory_kb: usize,
    /// True if a display is known to be connected.
    pub has_display: bool,
    /// True if validation is on.
    pub is_debug: bool,
    /// True if it is software.
    pub is_emulated: bool,
    /// True if it has full double precision.
    pub double_precision: bool,
    /// True if it has at least limited double precision.
    pub limited_double_precision: bool,
    /// True if it has memory that the host addresses too.
    pub cpu_shared_memory: bool,
    /// Most invocations of a workgroup.
    pub max_workgroup_invocations: u32,
    /// Most invocations of a workgroup in x, y and z.
    pub max_workgroup_size: [u32; 3],
    /// Most bytes of workgroup memory.
    pub max_workgroup_memory: u32,
    /// Most bytes of push constants.
    pub max_push_constants: u32,
    /// Most bytes of a storage-buffer binding.
    pub max_storage_buffer_range: u64,
    /// Bytes to which the offset of a bound section must be aligned.
    pub min_storage_buffer_alignment: u64,
    /// Most bytes of a uniform-buffer binding.
    pub max_uniform_buffer_range: u64,
    /// Bytes to which the offset of a section bound as uniform buffer must be aligned.
    pub min_uniform_buffer_alignment: u64,
    /// True if the host may read and write its arrays unless the program says otherwise.
    pub shared_by_default: bool,
    /// What it is.
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
    /// For casts to the device's own type.
    fn as_any(&self) -> &dyn Any;
    /// Opens the device.
    fn open(&self) -> Result<Arc<dyn Device>>;
}
