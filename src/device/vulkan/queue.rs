//! Recording and submitting work.
//!
//! A queue records commands into an open batch (one command buffer). A command that conflicts with an earlier one of the
//! same queue gets one memory barrier before it, unless a barrier already lies between; one that conflicts with another
//! queue's makes the batch wait for that queue's semaphore, once that work is submitted. The batch is submitted when the
//! device is idle, when it has grown, or when someone waits.

#![allow(unsafe_code)]

use super::core::Core;
use super::memory::{Mapping, VulkanBuffer, Wanted};
use super::pipeline::Pipeline;
use super::timeline::VulkanTimeline;
use crate::device::block::Block;
use crate::device::hazard::{Point, Segments, Timeline};
use crate::device::host::Workers;
use crate::device::{Access, Buffer};
use crate::error::{Error, Result};
use ash::vk;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Commands a batch gathers before it is submitted: doubles up to the second number while the device is idle all the same,
/// to the third while it is busy.
const BATCH: (u32, u32, u32) = (8, 32, 128);
/// Commands that follow the last submission within this time, or the last command within the other, belong to a burst, which
/// is gathered even while the device is idle: a submission costs as much as many commands.
const BURST: Duration = Duration::from_micros(50);
const STREAM: Duration = Duration::from_micros(5);
/// Argument blocks begin at multiples of this: no functor may be aligned to more.
const ARGUMENT_ALIGN: u64 = 64;
/// Bytes of a page for argument blocks.
const PAGE: u64 = 64 << 10;
/// Descriptor sets and storage buffers of a descriptor pool.
const POOL: (u32, u32) = (256, 2048);

/// So many of the buffers kept last are looked through before one more is kept.
const RECENT: usize = 8;

/// Which hardware queue a queue submits to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The compute queue with this index.
    Compute(usize),
    /// The transfer queue with this index.
    Transfer(usize),
}

/// A buffer use of a command.
pub(super) struct BufferUse<'a> {
    /// The buffer.
    pub buffer: &'a Arc<dyn Buffer>,
    /// Its bytes.
    pub range: Range<u64>,
    /// How.
    pub access: Access,
}

/// Commands that are submitted together, and what they need until they are done.
pub(super) struct Batch {
    /// The number the timeline reaches when it is done.
    value: u64,
    pool: vk::CommandPool,
    /// The command buffer, in the recording state while open.
    pub commands: vk::CommandBuffer,
    descriptor_pools: Vec<vk::DescriptorPool>,
    descriptors_used: usize,
    pages: Vec<Arc<VulkanBuffer>>,
    page_used: u64,
    buffers: Vec<Arc<dyn Buffer>>,
    pipelines: Vec<Arc<Pipeline>>,
    waits: SmallVec<[(Arc<VulkanTimeline>, u64); 4]>,
    count: u32,
    /// Memory that the host addresses is written.
    for_host: bool,
    /// The pipeline bound last, to bind it once.
    pub bound: vk::Pipeline,
}

/// The state behind a queue's lock.
struct State {
    open: Option<Batch>,
    flying: VecDeque<Batch>,
    free: Vec<Batch>,
    /// A batch whose command buffer is already recording: made while the device works on the last one.
    ready: Option<Batch>,
    /// When the last batch was submitted, and the last command was recorded.
    submitted: Option<Instant>,
    last: Option<Instant>,
    /// Number of the open or next batch.
    value: u64,
    /// Commands recorded so far.
    sequence: u64,
    /// Sequence number of the first command after the last barrier.
    barrier: u64,
    threshold: u32,
}

/// A queue of a Vulkan device: what an accelerator_view or a copy lane submits to.
pub(super) struct VulkanQueue {
    /// The device.
    pub core: Arc<Core>,
    lane: Lane,
    immediate: bool,
    own: Arc<VulkanTimeline>,
    timeline: Arc<dyn Timeline>,
    state: Mutex<State>,
}

impl VulkanQueue {
    /// A new queue on `lane`.
    pub fn new(core: &Arc<Core>, lane: Lane, immediate: bool) -> Result<Arc<Self>> {
        let own = VulkanTimeline::new(core, matches!(lane, Lane::Transfer(_)))?;
        let queue = Arc::new(Self {
            core: core.clone(),
            lane,
            immediate,
            timeline: own.clone(),
            own,
            state: Mutex::new(State {
                open: None,
                flying: VecDeque::new(),
                free: Vec::new(),
                ready: None,
                submitted: None,
                last: None,
                value: 1,
                sequence: 0,
                barrier: 0,
                threshold: BATCH.0,
            }),
        });
        // Set once, here.
        let _ = queue.own.queue.set(Arc::downgrade(&queue));
        Ok(queue)
    }

    /// The queue's timeline.
    pub fn timeline(&self) -> &Arc<dyn Timeline> {
        &self.timeline
    }

    /// True if compute shaders run here.
    pub fn computes(&self) -> bool {
        matches!(self.lane, Lane::Compute(_))
    }

    /// Records one command behind everything its uses conflict with.
    pub fn record(&self, uses: &[BufferUse<'_>], write: impl FnOnce(&mut Batch, &Core) -> Result<()>) -> Result<Point> {
        let mut order: SmallVec<[&BufferUse<'_>; 16]> = uses.iter().collect();
        order.sort_unstable_by_key(|u| u.buffer.id());
        loop {
            self.core.check_alive()?;
            let mut state = self.state.lock();
            // All trackers are locked together and in one order, so that two queues cannot order two buffers
            // differently.
            let mut trackers: SmallVec<[(u64, MutexGuard<'_, Segments>); 16]> = SmallVec::new();
            let mut barrier = false;
            let mut waits: SmallVec<[Point; 4]> = SmallVec::new();
            let mut elsewhere: SmallVec<[Point; 4]> = SmallVec::new();
            let own = self.own.id();
            for u in &order {
                let id = u.buffer.id();
                if trackers.last().is_none_or(|(last, _)| *last != id) {
                    trackers.push((id, u.buffer.tracker().lock()));
                }
                let Some((_, segments)) = trackers.last_mut() else { continue };
                segments.conflicts_of(own, &u.range, u.access, |p| {
                    if p.timeline.id() == own {
                        barrier |= p.sequence >= state.barrier;
                    } else if p.timeline.device() == Some(self.core.id) && p.timeline.submitted(p.value) {
                        waits.push(p.clone());
                    } else {
                        elsewhere.push(p.clone());
                    }
                });
            }
            if !elsewhere.is_empty() {
                // Not yet submitted, or not of this device: see to it without our locks, then look again.
                drop(trackers);
                drop(state);
                for p in elsewhere {
                    if p.timeline.device() == Some(self.core.id) {
                        p.timeline.flush(p.value)?;
                    } else {
                        p.wait(None)?;
                    }
                }
                continue;
            }
            let sequence = state.sequence;
            let number = state.value;
            self.open(&mut state)?;
            let State { open, barrier: last_barrier, .. } = &mut *state;
            let batch = open.as_mut().ok_or_else(|| Error::internal("a queue without an open batch"))?;
            for p in waits {
                batch.wait_for(&p);
            }
            if barrier {
                // SAFETY: the command buffer is recording and this queue's.
                unsafe { self.barrier(batch.commands, false) };
                *last_barrier = sequence;
            }
            // If it fails, what was recorded before stays; nothing of this command was.
            write(batch, &self.core)?;
            batch.count += 1;
            let count = batch.count;
            let point = Point { timeline: self.timeline.clone(), value: number, sequence };
            let mut at = 0;
            for u in &order {
                batch.for_host |= u.access.writes() && u.buffer.host().is_some();
                batch.keep_buffer(u.buffer);
                at += usize::from(trackers[at].0 != u.buffer.id());
                trackers[at].1.record(&u.range, u.access, &point);
            }
            drop(trackers);
            state.sequence += 1;
            if self.immediate {
                self.submit(&mut state)?;
                return Ok(point);
            }
            let now = Instant::now();
            let since = |t: Option<Instant>| t.map_or(Duration::MAX, |t| now.duration_since(t));
            let is_burst = since(state.submitted) <= BURST || since(state.last) <= STREAM;
            state.last = Some(now);
            let is_full = count >= state.threshold;
            if is_full || !is_burst {
                let is_idle = self.own.reached(number - 1);
                if is_full {
                    state.threshold = (state.threshold * 2).min(if is_idle { BATCH.1 } else { BATCH.2 });
                    self.submit(&mut state)?;
                } else if is_idle {
                    // Nothing went before: the device should not wait for more.
                    state.threshold = BATCH.0;
                    self.submit(&mut state)?;
                }
            }
            return Ok(point);
        }
    }

    /// The point at which everything recorded so far is done.
    pub fn marker(&self) -> Point {
        let state = self.state.lock();
        let value = if state.open.is_some() { state.value } else { state.value - 1 };
        Point { timeline: self.timeline.clone(), value, sequence: state.sequence }
    }

    /// Lets go of what finished work held.
    pub fn release_finished(&self) {
        self.reap(&mut self.state.lock());
    }

    /// Submits the open batch, if there is one.
    pub fn submit_open(&self) -> Result<()> {
        self.submit(&mut self.state.lock())
    }

    /// Sees to it that a batch is open.
    fn open(&self, state: &mut State) -> Result<()> {
        if state.open.is_none() {
            let mut batch = match state.ready.take() {
                Some(batch) => batch,
                None => self.begin(state)?,
            };
            batch.value = state.value;
            state.open = Some(batch);
        }
        Ok(())
    }

    /// A batch with its command buffer recording.
    fn begin(&self, state: &mut State) -> Result<Batch> {
        self.reap(state);
        let mut batch = match state.free.pop() {
            Some(b) => b,
            None => Batch::new(&self.core, self.family())?,
        };
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool was reset or is new, and this thread alone has it.
        if let Err(e) = unsafe { self.core.raw.begin_command_buffer(batch.commands, &info) } {
            batch.destroy(&self.core);
            return Err(self.core.failed("vkBeginCommandBuffer", e));
        }
        batch.count = 0;
        batch.for_host = false;
        batch.bound = vk::Pipeline::null();
        Ok(batch)
    }

    fn family(&self) -> u32 {
        match (self.lane, self.core.transfer_family) {
            (Lane::Transfer(_), Some(family)) => family,
            _ => self.core.compute_family,
        }
    }

    /// Makes finished batches free again and lets go of what they held.
    fn reap(&self, state: &mut State) {
        if state.flying.is_empty() {
            return;
        }
        // The semaphore, not the word: only it says that the command buffer may be reset.
        let done = self.own.poll_semaphore();
        while state.flying.front().is_some_and(|b| b.value <= done) {
            let Some(mut batch) = state.flying.pop_front() else { break };
            match batch.reset(&self.core) {
                Ok(()) => state.free.push(batch),
                Err(e) => {
                    crate::log!(Info, "{e}");
                    batch.destroy(&self.core);
                }
            }
        }
    }

    /// A full memory barrier between everything before and everything after; `host` makes it visible to the host.
    ///
    /// # Safety
    /// `commands` is recording and belongs to this queue's family.
    unsafe fn barrier(&self, commands: vk::CommandBuffer, host: bool) {
        let mut stages = vk::PipelineStageFlags::TRANSFER;
        let mut access = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
        if self.computes() {
            stages |= vk::PipelineStageFlags::COMPUTE_SHADER;
            access |= vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        }
        let (to, seen) = if host {
            (stages | vk::PipelineStageFlags::HOST, access | vk::AccessFlags::HOST_READ)
        } else {
            (stages, access)
        };
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(seen)];
        // SAFETY: the caller's contract; the stages are those of the family.
        unsafe {
            self.core.raw.cmd_pipeline_barrier(commands, stages, to, vk::DependencyFlags::empty(), &barrier, &[], &[]);
        }
    }

    fn submit(&self, state: &mut State) -> Result<()> {
        let Some(mut batch) = state.open.take() else { return Ok(()) };
        let outcome = self.hand_over(&mut batch);
        match outcome {
            Ok(()) => {
                state.value = batch.value + 1;
                state.flying.push_back(batch);
                state.submitted = Some(Instant::now());
                // In the shadow of the device's work. A failure here is the next caller's.
                if state.ready.is_none() {
                    state.ready = self.begin(state).ok();
                }
                Ok(())
            }
            Err(e) => {
                // Work that was recorded is lost with it: without a device nothing else fails here than memory.
                state.value = batch.value + 1;
                batch.destroy(&self.core);
                Err(e)
            }
        }
    }

    fn hand_over(&self, batch: &mut Batch) -> Result<()> {
        self.core.count_submission()?;
        let raw = &self.core.raw;
        // SAFETY: the command buffer is recording; the word is a buffer of this device.
        unsafe {
            if batch.for_host || self.own.word.is_some() {
                self.barrier(batch.commands, true);
            }
            if let Some(word) = &self.own.word {
                // No barrier after it: who sees the word knows that all before is visible; who does not asks the semaphore.
                raw.cmd_fill_buffer(batch.commands, word.raw, 0, 4, batch.value as u32);
            }
            raw.end_command_buffer(batch.commands)
        }
        .map_err(|e| self.core.failed("vkEndCommandBuffer", e))?;
        let (waits, wait_values): (SmallVec<[_; 4]>, SmallVec<[_; 4]>) =
            batch.waits.iter().map(|(t, v)| (t.semaphore, *v)).unzip();
        let stages: SmallVec<[_; 4]> = waits.iter().map(|_| vk::PipelineStageFlags::ALL_COMMANDS).collect();
        let (signals, signal_values, commands) = ([self.own.semaphore], [batch.value], [batch.commands]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let info = [vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&signals)
            .push_next(&mut timeline)];
        let queue = match self.lane {
            Lane::Compute(i) => &self.core.compute[i],
            Lane::Transfer(i) => &self.core.transfer[i],
        }
        .lock();
        // SAFETY: the queue is locked; every handle is alive and held by the batch until its number is reached; the
        // semaphores waited for have been signalled or submitted.
        unsafe { raw.queue_submit(*queue, &info, vk::Fence::null()) }
            .map_err(|e| self.core.failed("vkQueueSubmit", e))?;
        self.own.handed.store(batch.value, Ordering::Release);
        Ok(())
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        // Recorded work still runs; what cannot be submitted is lost with the device.
        if let Some(mut batch) = self.state.get_mut().open.take() {
            match self.hand_over(&mut batch) {
                Ok(()) => self.state.get_mut().flying.push_back(batch),
                Err(e) => {
                    crate::log!(Error, "the last work of an accelerator_view was lost: {e}");
                    batch.destroy(&self.core);
                }
            }
        }
        let state = self.state.get_mut();
        let mut batches: Vec<Batch> = state.flying.drain(..).collect();
        let idle = batches.last().is_none_or(|b| b.value <= self.own.poll_semaphore());
        batches.append(&mut state.free);
        batches.extend(state.ready.take());
        let (core, own) = (self.core.clone(), self.own.clone());
        let last = own.handed.load(Ordering::Acquire);
        let mut finish = move || {
            // On a lost device the wait ends at once, and destroying is allowed.
            if let Err(e) = own.block(last, None) {
                crate::log!(Info, "{e}");
                core.wait_idle();
            }
            for batch in &mut batches {
                batch.destroy(&core);
            }
        };
        if idle { finish() } else { Workers::shared().tasks.spawn(finish) }
    }
}

impl Batch {
    fn new(core: &Core, family: u32) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is alive and has the family.
        let pool =
            unsafe { core.raw.create_command_pool(&info, None) }.map_err(|e| core.failed("vkCreateCommandPool", e))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is alive.
        let made = unsafe { core.raw.allocate_command_buffers(&info) };
        let commands = match made.map(|c| c.first().copied()) {
            Ok(Some(c)) => c,
            other => {
                // SAFETY: nothing of the pool is in use.
                unsafe { core.raw.destroy_command_pool(pool, None) };
                return Err(core.failed("vkAllocateCommandBuffers", other.err().unwrap_or(vk::Result::ERROR_UNKNOWN)));
            }
        };
        Ok(Self {
            value: 0,
            pool,
            commands,
            descriptor_pools: Vec::new(),
            descriptors_used: 0,
            pages: Vec::new(),
            page_used: 0,
            buffers: Vec::new(),
            pipelines: Vec::new(),
            waits: SmallVec::new(),
            count: 0,
            for_host: false,
            bound: vk::Pipeline::null(),
        })
    }

    /// Makes it as new, once it is done.
    fn reset(&mut self, core: &Core) -> Result<()> {
        self.buffers.clear();
        self.pipelines.clear();
        self.waits.clear();
        // The first page stays for the next use.
        self.pages.truncate(1);
        self.page_used = 0;
        // SAFETY: the timeline says that the device is done with everything of this batch.
        unsafe {
            for pool in self.descriptor_pools.iter().take(self.descriptors_used) {
                core.raw
                    .reset_descriptor_pool(*pool, vk::DescriptorPoolResetFlags::empty())
                    .map_err(|e| core.failed("vkResetDescriptorPool", e))?;
            }
            self.descriptors_used = 0;
            core.raw
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
                .map_err(|e| core.failed("vkResetCommandPool", e))
        }
    }

    fn destroy(&mut self, core: &Core) {
        // SAFETY: the device is done with the batch, never got it, or is lost.
        unsafe {
            for pool in self.descriptor_pools.drain(..) {
                core.raw.destroy_descriptor_pool(pool, None);
            }
            core.raw.destroy_command_pool(self.pool, None);
        }
        self.pool = vk::CommandPool::null();
        self.buffers.clear();
        self.pipelines.clear();
        self.pages.clear();
        self.waits.clear();
    }

    /// Makes the whole batch wait for a point of another queue of the device.
    fn wait_for(&mut self, point: &Point) {
        let timeline = point.timeline.as_any().downcast_ref::<VulkanTimeline>();
        // The point holds the timeline, so it is alive.
        let Some(timeline) = timeline.and_then(|t| t.me.upgrade()) else { return };
        match self.waits.iter_mut().find(|(t, _)| t.id() == timeline.id()) {
            Some((_, value)) => *value = (*value).max(point.value),
            None => self.waits.push((timeline, point.value)),
        }
    }

    /// Keeps a buffer until the batch is done. Commands that follow each other mostly use the same ones.
    fn keep_buffer(&mut self, buffer: &Arc<dyn Buffer>) {
        if !self.buffers.iter().rev().take(RECENT).any(|b| Arc::ptr_eq(b, buffer)) {
            self.buffers.push(buffer.clone());
        }
    }

    /// Keeps a pipeline until the batch is done.
    pub fn keep(&mut self, pipeline: &Arc<Pipeline>) {
        if !self.pipelines.last().is_some_and(|p| Arc::ptr_eq(p, pipeline)) {
            self.pipelines.push(pipeline.clone());
        }
    }

    /// Puts bytes where the device can read them until the batch is done; returns their address. `inner`: see [`Block`].
    pub fn put(&mut self, core: &Arc<Core>, bytes: &[u8], inner: &[(usize, usize)]) -> Result<u64> {
        let size = bytes.len() as u64;
        let at = |page: &VulkanBuffer, used: u64| (page.address + used).next_multiple_of(ARGUMENT_ALIGN) - page.address;
        let (page, at) = match self.pages.last() {
            Some(page) if at(page, self.page_used) + size <= page.size() => (page.clone(), at(page, self.page_used)),
            _ => {
                let wanted =
                    Wanted { memory_type: core.physical.memory_types.argument, mapped: Mapping::Host, staging: true };
                let page = VulkanBuffer::new(core, PAGE.max(size + ARGUMENT_ALIGN), &wanted, "argument blocks")?;
                self.pages.push(page.clone());
                let at = at(&page, 0);
                (page, at)
            }
        };
        let span = page.host().ok_or_else(|| Error::internal("argument memory is not mapped"))?;
        let span = span.sub(at..at + size)?;
        if inner.is_empty() {
            span.write(bytes)?;
        } else {
            let mut own: SmallVec<[u8; 256]> = SmallVec::from_slice(bytes);
            Block::settle(&mut own, inner, page.address + at);
            span.write(&own)?;
        }
        self.page_used = at + size;
        Ok(page.address + at)
    }

    /// A descriptor set of `layout` that lives until the batch is done.
    pub fn descriptor_set(&mut self, core: &Core, layout: vk::DescriptorSetLayout) -> Result<vk::DescriptorSet> {
        let layouts = [layout];
        let mut made = false;
        loop {
            if self.descriptors_used > 0 {
                let pool = self.descriptor_pools[self.descriptors_used - 1];
                let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                let mut set = vk::DescriptorSet::null();
                // SAFETY: pool and layout are alive and this thread alone has the pool; one set is asked for. Not by ash's
                // wrapper, which allocates a list.
                let done =
                    unsafe { (core.raw.fp_v1_0().allocate_descriptor_sets)(core.raw.handle(), &info, &raw mut set) };
                match done {
                    vk::Result::SUCCESS => return Ok(set),
                    vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL if !made => {}
                    e => return Err(core.failed("vkAllocateDescriptorSets", e)),
                }
            }
            if self.descriptors_used == self.descriptor_pools.len() {
                let size =
                    [vk::DescriptorPoolSize::default().ty(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(POOL.1)];
                let info = vk::DescriptorPoolCreateInfo::default().max_sets(POOL.0).pool_sizes(&size);
                // SAFETY: the device is alive.
                let pool = unsafe { core.raw.create_descriptor_pool(&info, None) }
                    .map_err(|e| core.failed("vkCreateDescriptorPool", e))?;
                self.descriptor_pools.push(pool);
                made = true;
            }
            self.descriptors_used += 1;
        }
    }
}
