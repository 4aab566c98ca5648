//! The host-thread accelerator, and the memory of the cpu accelerator.
//!
//! A [`HostDevice`] makes ordinary memory and [`HostQueue`]s; a queue runs functions of the host in order.
//! [`dispatch_host`] turns a kernel and its domain into such a function.

pub mod fibre;
pub mod kernel;
pub mod memory;
pub mod pool;
pub mod queue;
mod stream;
pub mod system;
pub mod threads;

pub use kernel::{Domain, HostKernel, ThreadId};
pub use memory::{HostBlock, HostSpan};
pub use queue::{HostQueue, HostTimeline};
pub use system::{page_size, total_memory};

use super::hazard::{Point, Tracker};
use super::layout::CopyPlan;
use super::{Buffer, Device, Direction, Kernel, MemoryUsage, Placement, Queue, Use, unique_id};
use crate::config::{self, Config, TestSwitches};
use crate::error::{Error, Result};
use crate::kernel::Module;
use crate::lock::{Mutex, rank};
use pool::Pool;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use threads::Tasks;

/// Which accelerator a [`HostDevice`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// The host-thread accelerator: runs kernels.
    Threads,
    /// The cpu accelerator: holds arrays, runs no kernels.
    Cpu,
}

/// The threads that host devices and transfers share.
#[derive(Clone)]
pub struct Workers {
    /// For computing and large copies.
    pub pool: Arc<Pool>,
    /// For work of the library that may block: operations of the host, queues' jobs.
    pub tasks: Arc<Tasks>,
    /// For callbacks of the program. Apart, since they may wait for the others.
    pub callbacks: Arc<Tasks>,
}

impl Workers {
    /// Workers of which `threads` compute.
    pub fn new(threads: usize) -> Self {
        Self { pool: Arc::new(Pool::new(threads)), tasks: Arc::default(), callbacks: Arc::default() }
    }

    /// Waits until no task and no callback runs or is queued, but those that this is called by.
    pub fn drain(&self) {
        loop {
            self.tasks.drain();
            self.callbacks.drain();
            // A callback may have begun something.
            if self.tasks.is_quiet() {
                return;
            }
        }
    }

    /// The process's workers, with `REVAMP_HOST_THREADS` computing threads. Threads start when first used.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Workers> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(config::get().host_threads))
    }
}

/// Whose memory a [`HostBuffer`] is over.
enum Memory {
    /// Its own, and where its bytes are counted.
    Block(HostBlock, Arc<AtomicU64>),
    /// Its importer's, who keeps it alive.
    Imported(HostSpan),
}

impl Memory {
    fn span(&self) -> HostSpan {
        match self {
            Self::Block(block, _) => block.span(),
            Self::Imported(span) => *span,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Self::Block(block, used) = self {
            used.fetch_sub(block.len(), Ordering::Relaxed);
        }
    }
}

/// A block of host memory.
pub struct HostBuffer {
    id: u64,
    memory: Memory,
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
    /// Bytes of the blocks.
    used: Arc<AtomicU64>,
}

impl HostDevice {
    /// A device that works with `workers`.
    pub fn new(kind: HostKind, config: &Config, workers: Workers) -> Arc<Self> {
        Arc::new(Self {
            id: unique_id(),
            kind,
            // The cpu accelerator is where data lives at home: it cannot be apart from it.
            separate: config.separate_memory && kind == HostKind::Threads,
            workers,
            test: config.test.clone(),
            timelines: Mutex::new(Vec::new()),
            used: Arc::default(),
        })
    }

    /// Which accelerator it stands for.
    pub fn kind(&self) -> HostKind {
        self.kind
    }

    /// Its threads.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }
}

impl Device for HostDevice {
    fn id(&self) -> u64 {
        self.id
    }

    fn runs_host_code(&self) -> bool {
        self.kind == HostKind::Threads
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
        let memory = Memory::Block(block, self.used.clone());
        Ok(Arc::new(HostBuffer { id: unique_id(), memory, tracker: Tracker::new() }))
    }

    fn import(&self, span: HostSpan, _label: &str) -> Result<Option<Arc<dyn Buffer>>> {
        if self.separate {
            return Ok(None);
        }
        Ok(Some(Arc::new(HostBuffer { id: unique_id(), memory: Memory::Imported(span), tracker: Tracker::new() })))
    }

    /// What is in host memory needs no staging.
    fn import_staging(&self, _span: HostSpan, _label: &str) -> Result<Option<Arc<dyn Buffer>>> {
        Ok(None)
    }

    /// Queues start work at once either way, so `immediate` changes nothing.
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
        let own = queue::host_memory(buffer)?;
        if plan.bytes() == 0 {
            return Ok(SmallVec::new());
        }
        match direction {
            Direction::Upload => {
                buffer.tracker().wait(&plan.destination_hull(), super::Access::Write)?;
                memory::copy_parallel(&self.workers.pool, plan, host, own)?;
            }
            Direction::Download => {
                buffer.tracker().wait(&plan.source_hull(), super::Access::Read)?;
                memory::copy_parallel(&self.workers.pool, plan, own, host)?;
            }
        }
        Ok(SmallVec::new())
    }

    /// Jobs let go of their buffers when they end.
    fn reclaim(&self) {}

    /// Blocks are the system's own.
    fn memory(&self) -> MemoryUsage {
        let used = self.used.load(Ordering::Relaxed);
        MemoryUsage { used, held: used, ..MemoryUsage::default() }
    }

    fn lost(&self) -> Option<Error> {
        None
    }

    /// Waits for the work of all queues. Errors stay for those who wait for the work that failed.
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

/// Launches `kernel` over `domain` on a queue of a [`HostDevice`] of kind [`HostKind::Threads`], spread over `pool`.
///
/// A domain that cannot be launched is an error here; an error or panic of the kernel is one of the point.
pub fn dispatch_host(
    queue: &dyn Queue,
    pool: &Arc<Pool>,
    uses: &[Use],
    domain: Domain,
    kernel: Arc<dyn HostKernel>,
) -> Result<Point> {
    domain.check()?;
    let pool = Arc::clone(pool);
    queue.run(uses, Box::new(move || kernel::execute(&pool, &domain, &*kernel)))
}

#[cfg(test)]
mod tests;
