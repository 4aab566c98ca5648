//! accelerator (docs/spec/accelerators.md).

use super::accelerator_view::AcceleratorView;
use super::bridge::Bridges;
use super::selection::{self, Candidate};
use super::{AccessType, HandleCell};
use crate::config::Config;
use crate::device::host::{HostDevice, HostKind, Workers, total_memory};
use crate::device::vulkan::device::VulkanDevice;
use crate::device::vulkan::instance::{forget_failure, instance};
use crate::device::vulkan::physical::{ACCESS_READ_WRITE, Physical, physical_devices};
use crate::device::{Device, MemoryUsage, unique_id};
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::log;
use crate::trace::transfers::Counters;
use std::ffi::CString;
use std::sync::Arc;

/// `device_path` of the cpu accelerator.
pub const CPU_PATH: &str = "cpu";
/// `device_path` of the host-thread accelerator.
pub const HOST_THREADS_PATH: &str = "direct3d\\warp";

/// What kind of accelerator it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The host: holds arrays, runs no kernels.
    Cpu,
    /// Threads of the host.
    HostThreads,
    /// A Vulkan device.
    Vulkan,
}

/// What the C API tells about an accelerator.
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
}

/// `default_cpu_access_type` and whether it may still change.
struct CpuAccess {
    value: AccessType,
    settled: bool,
}

/// A place that holds memory and may run kernels.
pub struct Accelerator {
    id: u64,
    kind: Kind,
    properties: Properties,
    physical: Option<Physical>,
    device: Mutex<Option<Arc<dyn Device>>, { rank::DEVICE }>,
    default_view: Mutex<Option<Arc<AcceleratorView>>, { rank::DEFAULT_VIEW }>,
    cpu_access: Mutex<CpuAccess, { rank::CPU_ACCESS }>,
    transfers: Counters,
    /// To other accelerators.
    pub(super) bridges: Bridges,
    /// Kernels loaded here, so that the same module is compiled once.
    pub(super) kernels: Mutex<super::kernel::KernelCache, { rank::KERNELS }>,
    /// Kernels of the kernel compiler.
    pub(super) compiled: Mutex<super::compiled::LoadedCompiled, { rank::COMPILED }>,
    /// The handle of the C API.
    pub c_handle: HandleCell,
}

/// A C string of `text`, without what C cannot hold.
fn c(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

impl Accelerator {
    /// All of them: visible Vulkan devices, host threads, the cpu, then hidden Vulkan devices.
    pub(super) fn all(config: &Config) -> Result<Vec<Arc<Self>>> {
        forget_failure();
        let mut found = match instance() {
            Ok(instance) => physical_devices(instance, config)?,
            Err(_) => Vec::new(),
        };
        let named: Vec<_> = found.iter().map(|p| (p.name.as_str(), p.uuid)).collect();
        let visible = selection::visible(&named, config.visible_devices.as_deref());
        for w in &visible.warnings {
            log!(Warn, "{w}");
        }
        for (i, why) in &visible.hidden {
            found[*i].hidden = Some(why.clone());
        }
        let vulkan = |i: usize| Arc::new(Self::vulkan(found[i].clone()));
        let mut all: Vec<_> = visible.shown.iter().map(|i| vulkan(*i)).collect();
        all.push(Arc::new(Self::host(Kind::HostThreads, config)));
        all.push(Arc::new(Self::host(Kind::Cpu, config)));
        all.extend(visible.hidden.iter().map(|(i, _)| vulkan(*i)));
        Ok(all)
    }

    fn new(kind: Kind, properties: Properties, physical: Option<Physical>, access: AccessType) -> Self {
        Self {
            id: unique_id(),
            kind,
            properties,
            physical,
            device: Mutex::new(None),
            default_view: Mutex::new(None),
            cpu_access: Mutex::new(CpuAccess { value: access, settled: false }),
            transfers: Counters::new(),
            bridges: Bridges::default(),
            kernels: Mutex::default(),
            compiled: Mutex::default(),
            c_handle: HandleCell::default(),
        }
    }

    fn vulkan(p: Physical) -> Self {
        let why = p.hidden.clone().or_else(|| p.usable.clone().err());
        if let Some(why) = &why {
            log!(Info, "{} cannot be used: {why}", p.name);
        }
        let (a, l) = (&p.properties, &p.limits);
        let instance = instance();
        let properties = Properties {
            device_path: c(&p.device_path),
            description: c(&p.name),
            unusable: why.as_deref().map(c),
            driver: c(&p.driver),
            version: a.version,
            dedicated_memory_kb: usize::try_from(a.dedicated_memory).unwrap_or(usize::MAX),
            has_display: instance.as_ref().is_ok_and(|i| p.has_display(i)),
            is_debug: instance.as_ref().is_ok_and(|i| i.validation),
            is_emulated: a.is_emulated,
            double_precision: a.supports_double_precision,
            limited_double_precision: a.supports_double_precision,
            cpu_shared_memory: a.supports_cpu_shared_memory,
            max_workgroup_invocations: l.max_workgroup_invocations,
            max_workgroup_size: l.max_workgroup_size,
            max_workgroup_memory: l.shared_memory,
            max_push_constants: l.push_constants,
            max_storage_buffer_range: l.storage_buffer_range,
            min_storage_buffer_alignment: l.storage_buffer_offset_alignment,
        };
        let access =
            if a.default_cpu_access_type == ACCESS_READ_WRITE { AccessType::ReadWrite } else { AccessType::None };
        Self::new(Kind::Vulkan, properties, Some(p), access)
    }

    fn host(kind: Kind, config: &Config) -> Self {
        let threads = kind == Kind::HostThreads;
        let properties = Properties {
            device_path: c(if threads { HOST_THREADS_PATH } else { CPU_PATH }),
            description: if threads {
                c(&format!("{} host threads", config.host_threads))
            } else {
                c("CPU accelerator")
            },
            // As Microsoft reports the cpu accelerator: 0.1. Host threads have this library's version.
            version: 1,
            dedicated_memory_kb: usize::try_from(total_memory() / 1024).unwrap_or(usize::MAX),
            is_emulated: true,
            double_precision: threads,
            limited_double_precision: threads,
            cpu_shared_memory: threads && !config.separate_memory,
            max_workgroup_invocations: if threads { 1024 } else { 0 },
            max_workgroup_size: if threads { [1024; 3] } else { [0; 3] },
            ..Properties::default()
        };
        Self::new(kind, properties, None, AccessType::ReadWrite)
    }

    /// Unique for the life of the process, and not 0.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Transfers to and from its memory.
    pub fn transfers(&self) -> &Counters {
        &self.transfers
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its properties.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        self.properties.description.to_string_lossy().into_owned()
    }

    /// Its `device_path`.
    pub fn path(&self) -> String {
        self.properties.device_path.to_string_lossy().into_owned()
    }

    /// What the choice of a default looks at.
    pub(super) fn candidate(&self) -> Candidate {
        let p = &self.properties;
        Candidate {
            path: self.path(),
            name: self.name(),
            kind: match self.kind {
                Kind::Cpu => selection::Kind::Cpu,
                Kind::HostThreads => selection::Kind::HostThreads,
                Kind::Vulkan if p.is_emulated => selection::Kind::CpuVulkan,
                Kind::Vulkan => selection::Kind::Gpu,
            },
            dedicated_memory: p.dedicated_memory_kb as u64,
            has_display: p.has_display,
            usable: p.unusable.as_ref().map_or(Ok(()), |why| Err(why.to_string_lossy().into_owned())),
        }
    }

    /// The open device. A lost one is replaced: its views stay dead, new ones work.
    pub fn device(&self) -> Result<Arc<dyn Device>> {
        if let Some(why) = &self.properties.unusable {
            return Err(Error::unsupported(format!("{} cannot be used: {}", self.name(), why.to_string_lossy())));
        }
        let mut slot = self.device.lock();
        if let Some(device) = slot.as_ref().filter(|d| d.lost().is_none()) {
            return Ok(device.clone());
        }
        let made: Arc<dyn Device> = match &self.physical {
            Some(physical) => VulkanDevice::open(physical)?,
            None => {
                let kind = if self.kind == Kind::Cpu { HostKind::Cpu } else { HostKind::Threads };
                HostDevice::new(kind, crate::config::get(), Workers::shared().clone())
            }
        };
        super::process::driver_loaded(self.kind == Kind::Vulkan && !self.properties.is_emulated);
        *slot = Some(made.clone());
        Ok(made)
    }

    /// What memory it holds; nothing before its first use.
    pub fn memory(&self) -> MemoryUsage {
        let device = self.device.lock().clone();
        let Some(mut usage) = device.map(|d| d.memory()) else { return MemoryUsage::default() };
        if self.kind == Kind::Vulkan {
            let (bytes, most) = self.bridges.bytes();
            usage.staging += bytes;
            usage.staging_limit += most;
        }
        usage
    }

    /// The default view: always the same one.
    pub fn default_view(this: &Arc<Self>) -> Result<Arc<AcceleratorView>> {
        let mut slot = this.default_view.lock();
        if let Some(view) = slot.as_ref() {
            return Ok(view.clone());
        }
        let view = Arc::new(AcceleratorView::new(this, false, true)?);
        *slot = Some(view.clone());
        Ok(view)
    }

    /// Opens a device that was lost anew, with another default view. Without a loss it does nothing.
    pub fn reopen(this: &Arc<Self>) -> Result<()> {
        let lost = this.default_view.lock().as_ref().is_some_and(|v| v.device().lost().is_some());
        this.device()?;
        if lost {
            let made = Arc::new(AcceleratorView::new(this, false, true)?);
            let old = this.default_view.lock().replace(made);
            drop(old);
        }
        Ok(())
    }

    /// A new view.
    pub fn create_view(this: &Arc<Self>, immediate: bool) -> Result<Arc<AcceleratorView>> {
        AcceleratorView::new(this, immediate, false).map(Arc::new)
    }

    /// What `access_type_auto` means here.
    pub fn default_cpu_access_type(&self) -> AccessType {
        self.cpu_access.lock().value
    }

    /// What `access_type_auto` means here, from now on for good (docs/spec/arrays.md#cpu-access-types).
    pub(super) fn settle_cpu_access_type(&self) -> AccessType {
        let mut access = self.cpu_access.lock();
        access.settled = true;
        access.value
    }

    /// Sets the default once, before it was used: true if it was set.
    pub fn set_default_cpu_access_type(&self, value: AccessType) -> Result<bool> {
        if !matches!(value, AccessType::None | AccessType::Auto) && !self.allows_cpu_access() {
            return Err(Error::runtime(format!(
                "{} has no memory shared with the host, so its default cpu access type can only be none",
                self.name()
            )));
        }
        let mut access = self.cpu_access.lock();
        if access.settled {
            return Ok(false);
        }
        access.settled = true;
        if value != AccessType::Auto {
            access.value = value;
        }
        Ok(true)
    }

    /// True if its memory is the host's: the cpu, and host threads unless `REVAMP_MEMORY=separate`.
    pub(super) fn is_host_memory(&self) -> bool {
        self.kind == Kind::Cpu || self.kind == Kind::HostThreads && self.properties.cpu_shared_memory
    }

    /// True if arrays here can be given cpu access.
    pub(super) fn allows_cpu_access(&self) -> bool {
        self.kind != Kind::Vulkan || self.properties.cpu_shared_memory
    }

    /// Lets go of the device, the default view and compiled kernels, which hold the accelerator in turn.
    pub(super) fn close(&self) {
        self.bridges.close();
        let view = self.default_view.lock().take();
        let device = self.device.lock().take();
        let compiled = std::mem::take(&mut *self.compiled.lock());
        drop((view, device, compiled));
    }

    /// Waits for all work.
    pub(super) fn drain(&self) {
        let device = self.device.lock().clone();
        if let Some(device) = device {
            device.drain();
        }
    }
}
