//! Devices that can be opened, and what is known of them before.

use super::Device;
use crate::error::Result;
use std::ffi::CString;
use std::sync::Arc;

/// `device_path` of the cpu accelerator.
pub const CPU_PATH: &str = "cpu";
/// `device_path` of the host-thread accelerator.
pub const HOST_THREADS_PATH: &str = "direct3d\\warp";

/// What kind of accelerator it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// The host: holds arrays, runs no kernels.
    Cpu,
    /// Threads of the host.
    HostThreads,
    /// A Vulkan device.
    Vulkan,
}

/// What is told about a device.
#[derive(Debug, Default)]
pub struct Properties {
    /// Unique on the system.
    pub device_path: CString,
    /// Short name.
    pub description: CString,
    /// Why it cannot be used.
    pub unusable: Option<CString>,
    /// Driver and version.
    pub driver: CString,
    /// major << 16 | minor.
    pub version: u32,
    /// Kilobytes.
    pub dedicated_memory_kb: usize,
    /// A display is attached.
    pub has_display: bool,
    /// Validation is on.
    pub is_debug: bool,
    /// Software.
    pub is_emulated: bool,
    /// Full doubles.
    pub double_precision: bool,
    /// Limited doubles.
    pub limited_double_precision: bool,
    /// Memory shared with the host.
    pub cpu_shared_memory: bool,
    /// Invocations of a workgroup.
    pub max_workgroup_invocations: u32,
    /// Workgroup size.
    pub max_workgroup_size: [u32; 3],
    /// Workgroup memory.
    pub max_workgroup_memory: u32,
    /// Push constants.
    pub max_push_constants: u32,
    /// Bytes of a storage-buffer binding.
    pub max_storage_buffer_range: u64,
    /// Alignment of a bound section.
    pub min_storage_buffer_alignment: u64,
    /// The host may read and write its arrays unless the program says otherwise.
    pub shared_by_default: bool,
}

/// A C string of `text`, without what C cannot hold.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// A device that can be opened.
pub trait PhysicalDevice: Send + Sync {
    /// What kind of device it is.
    fn kind(&self) -> DeviceKind;
    /// What is known of it.
    fn properties(&self) -> Properties;
    /// Identifies the hardware, where Vulkan does.
    fn uuid(&self) -> Option<[u8; 16]>;
    /// Opens it.
    fn open(&self) -> Result<Arc<dyn Device>>;
}
