//! The host as a device: ordinary memory, and queues that run functions of the host.

use super::fibre;
use super::queue::{self, HostKind, HostQueue, HostTimeline};
use crate::config::{Config, TestSwitches};
use crate::device::hazard::{Point, Tracker};
use crate::device::physical::{
    CPU_PATH, DeviceKind, DeviceType, HOST_THREADS_PATH, Hardware, PhysicalDevice, Properties, REFERENCE_PATH,
    WARP_PATH, c_text,
};
use crate::device::{Buffer, Device, Direction, Kernel, MemoryUsage, Placement, Queue, unique_id};
use crate::error::{Error, Result};
use crate::geometry::CopyPlan;
use crate::host::system::total_memory;
use crate::host::{HostBlock, HostSpan, Workers, strided};
use crate::kernel::{Access, Module};
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The host as a physical device.
pub struct HostPhysical {
    kind: HostKind,
    config: &'static Config,
}

impl HostPhysical {
    /// The physical device for this accelerator.
    pub fn new(kind: HostKind, config: &'static Config) -> Self {
        Self { kind, config }
    }
}

impl PhysicalDevice for HostPhysical {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn kind(&self) -> DeviceKind {
        if self.kind.runs_kernels() { DeviceKind::HostThreads } else { DeviceKind::Cpu }
    }

    fn properties(&self) -> Properties {
        let threads = self.kind.runs_kernels();
        let count = self.config.host_threads;
        let (path, description) = match self.kind {
            HostKind::Threads => (HOST_THREADS_PATH, format!("{count} host threads")),
            HostKind::Warp => (WARP_PATH, format!("{count} host threads as WARP")),
            HostKind::Reference => {
                (REFERENCE_PATH, "Software Adapter (REF: one host thread, reports races)".to_owned())
            }
            HostKind::Cpu => (CPU_PATH, "CPU accelerator".to_owned()),
        };
        Properties {
            device_path: c_text(path),
            description: c_text(&description),
            // 0.1: Microsoft's value for the cpu accelerator, and this library's version for host threads.
            version: 1,
            dedicated_memory_kb: usize::try_from(total_memory() / 1024).unwrap_or(usize::MAX),
            is_debug: self.kind == HostKind::Reference,
            is_emulated: true,
            double_precision: threads,
            limited_double_precision: threads,
            cpu_shared_memory: threads && !self.config.separate_memory,
            max_workgroup_invocations: if threads { 1024 } else { 0 },
            max_workgroup_size: if threads { [1024; 3] } else { [0; 3] },
            shared_by_default: true,
            hardware: Hardware { device_type: DeviceType::Cpu, ..Hardware::default() },
            ..Properties::default()
        }
    }

    fn uuid(&self) -> Option<[u8; 16]> {
        None
    }

    fn open(&self) -> Result<Arc<dyn Device>> {
        Ok(HostDevice::new(self.kind, self.config, Workers::shared().clone()))
    }
}

/// The memory of a [`HostBuffer`].
enum Backing {
    /// A block that the buffer owns, and the device's counter of the bytes of all these blocks.
    Block(HostBlock, Arc<AtomicU64>),
    /// Memory of the importer, who keeps it alive.
    Imported(HostSpan),
}

impl Backing {
    fn span(&self) -> HostSpan {
        match self {
            Self::Block(block, _) => block.span(),
            Self::Imported(span) => *span,
        }
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if let Self::Block(block, used) = self {
            used.fetch_sub(block.len(), Ordering::Relaxed);
        }
    }
}

/// A block of host memory.
pub struct HostBuffer {
    id: u64,
    memory: Backing,
    tracker: Tracker,
}

impl Buffer for HostBuffer {
    fn id(&self) -> u64 {
        self.id
    }
    fn size(&self) -> u64 {
        self.memory.span().len()
    }
    fn host(&self) -> Option<HostSpan> {
        Some(self.memory.span())
    }
    fn device_address(&self) -> Option<u64> {
        None
    }
    fn tracker(&self) -> &Tracker {
        &self.tracker
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The host as a device.
pub struct HostDevice {
    id: u64,
    kind: HostKind,
    separate: bool,
    workers: Workers,
    test: TestSwitches,
    timelines: Mutex<Vec<Weak<HostTimeline>>, { rank::QUEUES }>,
    /// Bytes of all blocks.
    used: Arc<AtomicU64>,
}

impl HostDevice {
    /// A device that runs its work on `workers`.
    pub fn new(kind: HostKind, config: &Config, workers: Workers) -> Arc<Self> {
        Arc::new(Self {
            id: unique_id(),
            kind,
            // The cpu accelerator stands for the host, so its memory cannot be separate from the host's.
            separate: config.separate_memory && kind.runs_kernels(),
            workers,
            test: config.test.clone(),
            timelines: Mutex::new(Vec::new()),
            used: Arc::default(),
        })
    }

    /// The accelerator for which the device stands.
    pub fn kind(&self) -> HostKind {
        self.kind
    }

    /// The threads of the device.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }
}

impl Device for HostDevice {
    fn id(&self) -> u64 {
        self.id
    }

    fn runs_host_code(&self) -> bool {
        self.kind.runs_kernels()
    }

    /// False with `REVAMP_MEMORY=separate`: buffers still have a [`Buffer::host`], for transfers only.
    fn shares_memory(&self) -> bool {
        !self.separate
    }

    fn allocate(&self, bytes: u64, _placement: Placement, label: &str) -> Result<Arc<dyn Buffer>> {
        if self.test.allocation_fails() {
            return Err(Error::out_of_memory(format!(
                "{label}: the allocation of {bytes} bytes fails because REVAMP_TEST asks for it"
            )));
        }
        let block = HostBlock::new(bytes).map_err(|e| if label.is_empty() { e } else { e.context(label) })?;
        self.used.fetch_add(bytes, Ordering::Relaxed);
        let memory = Backing::Block(block, self.used.clone());
        Ok(Arc::new(HostBuffer { id: unique_id(), memory, tracker: Tracker::new() }))
    }

    fn import(&self, span: HostSpan, _label: &str) -> Result<Option<Arc<dyn Buffer>>> {
        if self.separate {
            return Ok(None);
        }
        Ok(Some(Arc::new(HostBuffer { id: unique_id(), memory: Backing::Imported(span), tracker: Tracker::new() })))
    }

    /// Host memory needs no staging.
    fn import_staging(&self, _span: HostSpan, _label: &str) -> Result<Option<Arc<dyn Buffer>>> {
        Ok(None)
    }

    /// Queues start work at once in either case, so `immediate` changes nothing.
    fn create_queue(&self, _immediate: bool) -> Result<Arc<dyn Queue>> {
        let queue = HostQueue::new(self.kind, self.workers.clone());
        let mut timelines = self.timelines.lock();
        timelines.retain(|t| t.strong_count() > 0);
        timelines.push(Arc::downgrade(queue.host_timeline()));
        Ok(Arc::new(queue))
    }

    fn load(&self, _module: &Arc<Module>, _label: &str) -> Result<Arc<dyn Kernel>> {
        Err(queue::no_spirv())
    }

    fn transfer(
        &self,
        direction: Direction,
        host: HostSpan,
        buffer: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        _queue: &dyn Queue,
    ) -> Result<SmallVec<[Point; 2]>> {
        let buffer_memory = queue::host_memory(buffer)?;
        if plan.bytes() == 0 {
            return Ok(SmallVec::new());
        }
        match direction {
            Direction::Upload => {
                buffer.tracker().wait(&plan.destination_hull(), Access::Write)?;
                strided::copy_parallel(&self.workers.pool, plan, host, buffer_memory)?;
            }
            Direction::Download => {
                buffer.tracker().wait(&plan.source_hull(), Access::Read)?;
                strided::copy_parallel(&self.workers.pool, plan, buffer_memory, host)?;
            }
        }
        Ok(SmallVec::new())
    }

    /// Jobs release their buffers when they end.
    fn reclaim(&self) {}

    /// Blocks are allocated from the system directly.
    fn memory(&self) -> MemoryUsage {
        let used = self.used.load(Ordering::Relaxed);
        MemoryUsage { used, held: used, ..MemoryUsage::default() }
    }

    fn lost(&self) -> Option<Error> {
        None
    }

    /// Waits for the work of all queues. Failures are reported to callers that wait for the failed work, not here.
    fn drain(&self) {
        let timelines: Vec<_> = self.timelines.lock().iter().filter_map(Weak::upgrade).collect();
        for timeline in timelines {
            timeline.finish();
        }
        fibre::trim();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
