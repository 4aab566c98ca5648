//! Accelerators: the class `accelerator` of C++ AMP (docs/spec/accelerators.md).

use crate::config::Config;
use crate::device::physical::{DeviceKind, HOST_THREADS_PATH, PhysicalDevice, Properties, REFERENCE_PATH, c_text};
use crate::device::{Device, MemoryUsage, unique_id};
use crate::devices;
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::log;
use crate::runtime::AccessType;
use crate::runtime::HandleCell;
use crate::runtime::accelerators::bridge::Bridges;
use crate::runtime::accelerators::defaults::{self, Candidate};
use crate::runtime::accelerators::lent_device::LentDevice;
use crate::runtime::accelerators::loaded_kernel::{KernelCache, LoadedCompiled};
use crate::runtime::{process, race};
use crate::trace::transfers::Counters;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// `default_cpu_access_type` and whether it may still change.
struct CpuAccess {
    value: AccessType,
    fixed: bool,
}

/// An accelerator: holds memory and may run kernels.
pub struct Accelerator {
    id: u64,
    kind: DeviceKind,
    properties: Properties,
    /// True if another accelerator has the same description. Messages then add this accelerator's path.
    is_one_of_several: bool,
    physical: Arc<dyn PhysicalDevice>,
    device: Mutex<Option<Arc<dyn Device>>, { rank::DEVICE }>,
    cpu_access: Mutex<CpuAccess, { rank::CPU_ACCESS }>,
    /// Devices of the program on the same hardware.
    lent: Mutex<Vec<Weak<LentDevice>>, { rank::LENT_DEVICES }>,
    transfers: Counters,
    /// True once the log says that `get_all()` leaves this accelerator out.
    logged_not_offered: AtomicBool,
    /// The bridges from this accelerator to others.
    pub(in crate::runtime) bridges: Bridges,
    /// The kernels loaded here, so that the same module is compiled once.
    pub(in crate::runtime) kernels: KernelCache,
    /// The loaded kernels of the kernel compiler.
    pub(in crate::runtime) compiled: LoadedCompiled,
    /// The handle of the C API.
    pub c_handle: HandleCell,
}

impl Accelerator {
    /// All accelerators: visible Vulkan devices, host threads, the cpu, host threads under other names, then hidden Vulkan
    /// devices.
    pub(in crate::runtime) fn all(config: &'static Config) -> Vec<Arc<Self>> {
        let (vulkan, host_accelerators): (Vec<_>, Vec<_>) =
            devices::all(config).into_iter().partition(|d| d.kind() == DeviceKind::Vulkan);
        let names: Vec<_> = vulkan.iter().map(|d| d.properties().description.to_string_lossy().into_owned()).collect();
        let uuids = vulkan.iter().map(|d| d.uuid().unwrap_or_default());
        let named: Vec<_> = names.iter().map(String::as_str).zip(uuids).collect();
        let visible = defaults::visible(&named, config.visible_devices.as_deref());
        for w in &visible.warnings {
            log!(Warn, "{w}");
        }
        let device = |i: usize, hidden: Option<&str>| {
            let is_one_of_several = names.iter().filter(|name| **name == names[i]).count() > 1;
            Self::new(vulkan[i].clone(), is_one_of_several, hidden)
        };
        let shown = visible.shown.iter().map(|&i| device(i, None));
        let host_accelerators = host_accelerators.into_iter().map(|d| Self::new(d, false, None));
        let hidden = visible.hidden.iter().map(|(i, why)| device(*i, Some(why)));
        shown.chain(host_accelerators).chain(hidden).collect()
    }

    fn new(physical: Arc<dyn PhysicalDevice>, is_one_of_several: bool, hidden: Option<&str>) -> Arc<Self> {
        let mut properties = physical.properties();
        if let Some(why) = hidden {
            properties.unusable = Some(c_text(why));
            properties.compiles_only = false;
        }
        if let Some(why) = &properties.unusable {
            log!(Info, "{} cannot be used: {}", properties.description.to_string_lossy(), why.to_string_lossy());
        }
        let access = if properties.shared_by_default { AccessType::ReadWrite } else { AccessType::None };
        Arc::new(Self {
            id: unique_id(),
            kind: physical.kind(),
            properties,
            is_one_of_several,
            physical,
            device: Mutex::new(None),
            cpu_access: Mutex::new(CpuAccess { value: access, fixed: false }),
            lent: Mutex::default(),
            transfers: Counters::new(),
            logged_not_offered: AtomicBool::new(false),
            bridges: Bridges::default(),
            kernels: KernelCache::default(),
            compiled: LoadedCompiled::default(),
            c_handle: HandleCell::default(),
        })
    }

    /// Unique for the life of the process, and not 0.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Counters of transfers to and from the accelerator's memory.
    pub fn transfers(&self) -> &Counters {
        &self.transfers
    }

    /// Its kind.
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Its properties.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// The name in messages: its description, and its path if another accelerator has the same description.
    pub fn name(&self) -> String {
        let description = self.properties.description.to_string_lossy();
        if self.is_one_of_several { format!("{description} ({})", self.path()) } else { description.into_owned() }
    }

    /// Its `device_path`.
    pub fn path(&self) -> String {
        self.properties.device_path.to_string_lossy().into_owned()
    }

    /// True for the reference accelerator.
    pub(in crate::runtime) fn is_reference(&self) -> bool {
        self.properties.device_path.to_bytes() == REFERENCE_PATH.as_bytes()
    }

    /// Logs once that `get_all()` does not offer this accelerator, because the program's code cannot run there.
    pub(in crate::runtime) fn log_not_offered(&self) {
        if !self.logged_not_offered.swap(true, Ordering::Relaxed) {
            log!(
                Info,
                "get_all() does not list {}: the program contains neither compiled kernels nor SPIR-V for this \
                 accelerator; compile the program with revamp-c++ or with revamp_add_kernels() of CMake",
                self.name()
            );
        }
    }

    /// The properties that the choice of a default accelerator needs.
    pub(in crate::runtime) fn candidate(&self) -> Candidate {
        let p = &self.properties;
        Candidate {
            path: self.path(),
            name: self.properties.description.to_string_lossy().into_owned(),
            kind: match self.kind {
                DeviceKind::Cpu => defaults::AcceleratorClass::Cpu,
                DeviceKind::HostThreads if self.path() == HOST_THREADS_PATH => defaults::AcceleratorClass::HostThreads,
                DeviceKind::HostThreads => defaults::AcceleratorClass::Named,
                DeviceKind::Vulkan if p.is_emulated && !crate::config::get().test.gpu => {
                    defaults::AcceleratorClass::CpuVulkan
                }
                DeviceKind::Vulkan => defaults::AcceleratorClass::Gpu,
            },
            dedicated_memory: p.dedicated_memory_kb as u64,
            has_display: p.has_display,
            usable: p.unusable.as_ref().map_or(Ok(()), |why| Err(why.to_string_lossy().into_owned())),
        }
    }

    /// The open device. Opens it if needed, and opens a new one after a loss: views on a lost device stay unusable, and new views work.
    pub fn device(&self) -> Result<Arc<dyn Device>> {
        if let Some(why) = &self.properties.unusable {
            return Err(Error::unsupported(format!("{} cannot be used: {}", self.name(), why.to_string_lossy())));
        }
        self.open_device()
    }

    /// The device for compiling kernels without running them. It may have no memory.
    pub(in crate::runtime) fn compiler(&self) -> Result<Arc<dyn Device>> {
        if self.properties.compiles_only { self.open_device() } else { self.device() }
    }

    fn open_device(&self) -> Result<Arc<dyn Device>> {
        let mut slot = self.device.lock();
        if let Some(device) = slot.as_ref().filter(|d| d.lost().is_none()) {
            return Ok(device.clone());
        }
        let loading = process::Loading::new();
        let made = self.physical.open()?;
        drop(loading);
        if self.kind == DeviceKind::Vulkan && !self.properties.is_emulated {
            process::gpu_driver_loaded();
        }
        if self.is_reference() {
            race::check_from_now_on();
            log!(
                Info,
                "{}: kernels run on one thread, in order. Races between launches are reported. Accesses outside of \
                 array_views are reported only in sources compiled with -famp-bounds=report (g++: REVAMP_CHECK_BOUNDS)",
                self.name()
            );
        }
        *slot = Some(made.clone());
        Ok(made)
    }

    /// The device of the program that `open` returns. The device must be on this accelerator's hardware.
    pub(in crate::runtime) fn lend(&self, open: impl FnOnce() -> Result<Arc<dyn Device>>) -> Result<Arc<LentDevice>> {
        if let Some(why) = &self.properties.unusable {
            return Err(Error::unsupported(format!("{} cannot be used: {}", self.name(), why.to_string_lossy())));
        }
        let loading = process::Loading::new();
        let device = open()?;
        drop(loading);
        if !self.properties.is_emulated {
            process::gpu_driver_loaded();
        }
        let mut all = self.lent.lock();
        all.retain(|d| d.strong_count() > 0);
        if let Some(known) = all.iter().filter_map(Weak::upgrade).find(|d| d.device.id() == device.id()) {
            return Ok(known);
        }
        let made = Arc::new(LentDevice::new(device));
        all.push(Arc::downgrade(&made));
        Ok(made)
    }

    /// The devices of the program that are in use.
    fn lent(&self) -> Vec<Arc<LentDevice>> {
        self.lent.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// The physical device.
    pub fn physical(&self) -> &dyn PhysicalDevice {
        &*self.physical
    }

    /// The memory usage of this accelerator, including devices of the program; all zero before the first use.
    pub fn memory(&self) -> MemoryUsage {
        let device = self.device.lock().clone();
        let lent = self.lent();
        let all = device.iter().chain(lent.iter().map(|d| &d.device)).map(|d| d.memory());
        let Some(mut usage) = all.reduce(|a, b| MemoryUsage {
            used: a.used + b.used,
            held: a.held + b.held,
            slack: a.slack + b.slack,
            staging: a.staging + b.staging,
            staging_limit: a.staging_limit + b.staging_limit,
        }) else {
            return MemoryUsage::default();
        };
        if self.kind == DeviceKind::Vulkan {
            let (bytes, limit) = self.bridges.bytes();
            usage.staging += bytes;
            usage.staging_limit += limit;
        }
        usage
    }

    /// The meaning of `access_type_auto` on this accelerator.
    pub fn default_cpu_access_type(&self) -> AccessType {
        self.cpu_access.lock().value
    }

    /// Returns the meaning of `access_type_auto` on this accelerator, and fixes it (docs/spec/arrays.md#cpu-access-types).
    pub(in crate::runtime) fn fix_cpu_access_type(&self) -> AccessType {
        let mut access = self.cpu_access.lock();
        access.fixed = true;
        access.value
    }

    /// Sets the default cpu access type and returns true. Returns false if the default was set or used before.
    pub fn set_default_cpu_access_type(&self, value: AccessType) -> Result<bool> {
        if !matches!(value, AccessType::None | AccessType::Auto) && !self.allows_cpu_access() {
            return Err(Error::runtime(format!(
                "{} has no memory shared with the host, so its default cpu access type must be none",
                self.name()
            )));
        }
        let mut access = self.cpu_access.lock();
        if access.fixed {
            return Ok(false);
        }
        access.fixed = true;
        if value != AccessType::Auto {
            access.value = value;
        }
        Ok(true)
    }

    /// True if the accelerator's memory is the host's: the cpu, and host threads unless `REVAMP_MEMORY=separate`.
    pub(in crate::runtime) fn is_host_memory(&self) -> bool {
        self.kind == DeviceKind::Cpu || self.kind == DeviceKind::HostThreads && self.properties.cpu_shared_memory
    }

    /// True if arrays on this accelerator can have a cpu access type.
    pub(in crate::runtime) fn allows_cpu_access(&self) -> bool {
        self.kind != DeviceKind::Vulkan || self.properties.cpu_shared_memory
    }

    /// Releases the device and the kernels loaded there.
    pub(in crate::runtime) fn close(&self) {
        self.bridges.close();
        let device = self.device.lock().take();
        drop(device);
        self.compiled.clear();
    }

    /// Waits for all work on the accelerator's devices.
    pub(in crate::runtime) fn drain(&self) {
        let device = self.device.lock().clone();
        if let Some(device) = device {
            device.drain();
        }
        self.lent().iter().for_each(|lent| lent.device.drain());
    }
}
