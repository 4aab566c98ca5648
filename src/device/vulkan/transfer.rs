//! Transfers between host memory and buffers of a Vulkan device.
//!
//! If the buffer is mapped, the host copies directly. Otherwise the bytes pass through staging chunks. A small transfer uses one
//! chunk, usually on the view's own queue. A large transfer is split into pieces for several threads and copy lanes, because the
//! memcpy of one thread is slower than the bus.

use super::core::Core;
use super::device_copy::{CopyKernels, copy};
use super::image::is_image;
use super::memory::VulkanBuffer;
use super::queue::{Lane, VulkanQueue};
use super::staging::{Chunk, Ring};
use crate::device::hazard::Point;
use crate::device::{Buffer, Direction, WINDOW_BYTES};
use crate::error::{Error, Result};
use crate::geometry::CopyPlan;
use crate::host::{HostSpan, Workers, strided};
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a chunk for small transfers.
const SMALL_CHUNK_BYTES: u64 = 64 << 10;
/// The sizes of pieces in bytes (measured on an H200): the first row for uploads, the second for downloads. A row has the sizes for
/// transfers below [`MEDIUM_BYTES`], for transfers below [`LARGE_BYTES`], and for larger transfers.
const PIECES: [[u64; 3]; 2] = [[256 << 10, 2 << 20, 2 << 20], [256 << 10, 1 << 20, 4 << 20]];
const MEDIUM_BYTES: u64 = 4 << 20;
const LARGE_BYTES: u64 = 128 << 20;
/// Copies of at least this many bytes run on a transfer queue even if they depend on the last batch of their view. The wait between
/// the queues costs some 10 us, but later work of the view can run during the copy.
const LONG_COPY_BYTES: u64 = 2 << 20;
/// A transfer uses at most one thread per this many bytes.
const BYTES_PER_THREAD: u64 = 2 << 20;
/// The maximum number of threads for one transfer. More threads would not be faster, because the bus is the limit.
const THREADS: usize = 8;
/// Staging memory that was unused for this long is freed by the next call that copies, allocates or waits. With one second, large
/// copies on an H200 sometimes took 20 to 45 ms longer.
const IDLE: Duration = Duration::from_secs(5);
/// The number of chunks that a thread keeps in flight.
const DEPTH: usize = 3;

/// The rings and copy lanes of a device.
pub(super) struct Transfers {
    core: Arc<Core>,
    copies: Arc<CopyKernels>,
    /// For each direction, the ring for small transfers and the ring for large transfers.
    rings: [[Ring; 2]; 2],
    /// The compute queues for copies, then the transfer queues.
    lanes: Mutex<[Option<Vec<Arc<VulkanQueue>>>; 2], { rank::LANES }>,
    /// Locked by large downloads. They hold many chunks at once, so two at the same time could wait for each other's chunks.
    large_downloads: Mutex<(), { rank::TURN }>,
    /// True if there may be staging memory to free, or finished work of lanes to release.
    staged: AtomicBool,
    begun: Instant,
    /// The time of the next check in [`Self::trim`], in milliseconds after `begun`.
    next_trim: AtomicU64,
}

impl Transfers {
    /// Rings and lanes. Chunks and queues are created at their first use.
    pub fn new(core: &Arc<Core>, copies: &Arc<CopyKernels>) -> Self {
        let most = Workers::shared().pool.threads().min(THREADS) * DEPTH + 1;
        let rings = [Direction::Upload, Direction::Download]
            .map(|d| [Ring::new(d, SMALL_CHUNK_BYTES, 64), Ring::new(d, PIECES[d as usize][2], most)]);
        Self {
            core: core.clone(),
            copies: copies.clone(),
            rings,
            lanes: Mutex::new([None, None]),
            large_downloads: Mutex::new(()),
            staged: AtomicBool::new(false),
            begun: Instant::now(),
            next_trim: AtomicU64::new(0),
        }
    }

    /// The lanes: transfer queues, or one compute queue for each direction. Strided copies need `compute`.
    fn lanes(&self, compute: bool) -> Result<Vec<Arc<VulkanQueue>>> {
        let transfer = !compute && !self.core.transfer.is_empty();
        let mut lanes = self.lanes.lock();
        let slot = &mut lanes[usize::from(transfer)];
        if let Some(made) = slot {
            return Ok(made.clone());
        }
        let made = if transfer {
            (0..self.core.transfer.len())
                .map(|i| VulkanQueue::new(&self.core, Lane::Transfer(i), true))
                .collect::<Result<Vec<_>>>()?
        } else {
            [Direction::Upload, Direction::Download]
                .into_iter()
                .map(|direction| VulkanQueue::new(&self.core, Lane::Compute(self.core.copy_compute(direction)), true))
                .collect::<Result<Vec<_>>>()?
        };
        *slot = Some(made.clone());
        Ok(made)
    }

    /// The lane for a copy in this direction. The directions have separate lanes, so that an upload is not queued behind a download
    /// that waits for a kernel.
    pub fn lane(&self, direction: Direction, compute: bool) -> Result<Arc<VulkanQueue>> {
        let lanes = self.lanes(compute)?;
        self.staged.store(true, Ordering::Relaxed);
        Ok(lanes[direction as usize % lanes.len()].clone())
    }

    /// The lanes on which a copy is not delayed by unrelated work: they wait for no other queue, or only for the queue with timeline
    /// `follows`. Returns all lanes if none is free. The lane of the direction comes first.
    pub fn free_lanes(&self, direction: Direction, follows: Option<u64>) -> Result<Vec<Arc<VulkanQueue>>> {
        let mut lanes = self.lanes(false)?;
        self.staged.store(true, Ordering::Relaxed);
        let first_lane = direction as usize % lanes.len();
        lanes.rotate_left(first_lane);
        let free: Vec<_> = lanes.iter().filter(|lane| lane.waits_only_for(follows)).cloned().collect();
        Ok(if free.is_empty() { lanes } else { free })
    }

    /// The lanes created so far.
    pub fn made(&self) -> SmallVec<[Arc<VulkanQueue>; 8]> {
        self.lanes.lock().iter().flatten().flatten().cloned().collect()
    }

    /// The size of the staging memory in bytes, and its maximum.
    pub fn staging(&self) -> (u64, u64) {
        let all = self.rings.iter().flatten().map(Ring::bytes);
        all.fold((0, 0), |sum, (held, most)| (sum.0 + held, sum.1 + most))
    }

    /// Frees staging memory that was unused for [`IDLE`].
    pub fn trim(&self) {
        const PAUSE: u64 = 50;
        if !self.staged.load(Ordering::Relaxed) {
            return;
        }
        let now = self.begun.elapsed().as_millis() as u64;
        if now < self.next_trim.load(Ordering::Relaxed) {
            return;
        }
        self.next_trim.store(now + PAUSE, Ordering::Relaxed);
        // Finished batches hold chunks, so the batches are released first. `count` makes sure that no lane or ring is skipped.
        let busy = self.made().iter().filter(|lane| !lane.release_finished()).count();
        let trimmed = self.rings.iter().flatten().filter(|ring| ring.trim(IDLE)).count();
        if trimmed > 0 {
            // Freed chunks are now in the pool's spare memory.
            self.core.pool.lock().drop_spare();
        }
        self.staged.store(busy > 0 || self.staging().0 > 0, Ordering::Relaxed);
    }

    /// See [`crate::device::Device::transfer`].
    pub fn transfer(
        &self,
        direction: Direction,
        host: HostSpan,
        buffer: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        queue: &VulkanQueue,
    ) -> Result<SmallVec<[Point; 2]>> {
        let bytes = plan.bytes();
        if bytes == 0 {
            return Ok(SmallVec::new());
        }
        if let Some(memory) = buffer.host() {
            self.direct(direction, host, memory, buffer, plan)?;
            return Ok(SmallVec::new());
        }
        let upload = direction == Direction::Upload;
        let (range, access) =
            if upload { (plan.destination_hull(), Access::Write) } else { (plan.source_hull(), Access::Read) };
        let image = is_image(buffer);
        if upload && !image && bytes <= WINDOW_BYTES && self.through_window(host, buffer, plan)? {
            return Ok(SmallVec::new());
        }
        self.trim();
        self.staged.store(true, Ordering::Relaxed);
        let [small, large] = &self.rings[direction as usize];
        let ring = if bytes <= small.size { small } else { large };
        let [few, some, many] = PIECES[direction as usize];
        let size = match bytes {
            0..MEDIUM_BYTES => few,
            MEDIUM_BYTES..LARGE_BYTES => some,
            _ => many,
        };
        let size = size.min(ring.size);
        // The staging side is packed, so the device's copy has strides only in the buffer.
        let (down, up) = plan.through_packed();
        let device_plan = if upload { up } else { down };
        let staged_transfer =
            StagedTransfer { transfers: self, direction, host, buffer, plan, device_plan: &device_plan, ring, size };
        if bytes > size {
            let compute = image || !device_plan.is_linear();
            let lanes = if compute {
                vec![self.lane(direction, true)?]
            } else {
                let follows = follows((buffer, &range, access), queue);
                self.free_lanes(direction, follows.map(|_| queue.timeline().id()))?
            };
            return staged_transfer.pipelined(&lanes);
        }
        let mut chunk = ring.take(&self.core)?;
        let lane = if image {
            Ok(None)
        } else {
            self.bus_lane(direction, (buffer, &range, access), queue, &device_plan, false)
        };
        let point = lane.and_then(|lane| staged_transfer.run(&mut chunk, lane.as_deref().unwrap_or(queue), 0..bytes));
        ring.give(chunk);
        Ok(point?.into_iter().collect())
    }

    /// The transfer queue for a copy over the bus; `None` if `queue` itself should do it. `queue` is faster for a short copy that
    /// depends on the last batch of `queue`. `keeps_queue_free`: use a transfer queue even for such a copy, so that it does not delay later work of
    /// `queue`.
    pub fn bus_lane(
        &self,
        direction: Direction,
        (buffer, range, access): (&Arc<dyn Buffer>, &Range<u64>, Access),
        queue: &VulkanQueue,
        plan: &CopyPlan,
        keeps_queue_free: bool,
    ) -> Result<Option<Arc<VulkanQueue>>> {
        if self.core.transfer.is_empty() || !plan.is_linear() {
            return Ok(None);
        }
        let follows = follows((buffer, range, access), queue);
        let is_next = |batch| !keeps_queue_free && plan.bytes() < LONG_COPY_BYTES && !queue.has_later_work(batch);
        if follows.is_some_and(is_next) {
            return Ok(None);
        }
        let lanes = self.free_lanes(direction, follows.map(|_| queue.timeline().id()))?;
        Ok(lanes.into_iter().next())
    }

    /// Writes directly into mapped device memory. False if the buffer is not mapped or its bytes are in use.
    fn through_window(&self, host: HostSpan, buffer: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<bool> {
        let Some(window) = VulkanBuffer::of(buffer, &self.core)?.window else { return Ok(false) };
        let mut busy = false;
        buffer.tracker().lock().conflicts(&plan.destination_hull(), Access::Write, |_| busy = true);
        if busy {
            return Ok(false);
        }
        strided::copy_parallel(&Workers::shared().pool, plan, host, window)?;
        Ok(true)
    }

    /// Copies between host memory and a mapped buffer, after waiting for conflicting work.
    fn direct(
        &self,
        direction: Direction,
        host: HostSpan,
        memory: HostSpan,
        buffer: &Arc<dyn Buffer>,
        plan: &CopyPlan,
    ) -> Result<()> {
        let pool = &Workers::shared().pool;
        match direction {
            Direction::Upload => {
                buffer.tracker().wait(&plan.destination_hull(), Access::Write)?;
                strided::copy_parallel(pool, plan, host, memory)
            }
            Direction::Download => {
                buffer.tracker().wait(&plan.source_hull(), Access::Read)?;
                strided::copy_parallel(pool, plan, memory, host)
            }
        }
    }
}

/// The value of the last batch of `queue` for which a use of these bytes must wait.
fn follows((buffer, range, access): (&Arc<dyn Buffer>, &Range<u64>, Access), queue: &VulkanQueue) -> Option<u64> {
    let mut last = None;
    let mut note = |p: &Point| last = last.max(p.is_on(queue.timeline()).then_some(p.value));
    buffer.tracker().lock().conflicts(range, access, &mut note);
    last
}

/// A transfer through staging chunks.
struct StagedTransfer<'a> {
    transfers: &'a Transfers,
    direction: Direction,
    host: HostSpan,
    buffer: &'a Arc<dyn Buffer>,
    plan: &'a CopyPlan,
    /// The device's part of the copy, between packed memory and the buffer.
    device_plan: &'a CopyPlan,
    ring: &'a Ring,
    /// Bytes of a piece, at most a chunk.
    size: u64,
}

impl StagedTransfer<'_> {
    /// Copies the packed positions `part` through one chunk. An upload returns the point of its device copy. A download is complete
    /// when this function returns.
    fn run(&self, chunk: &mut Chunk, queue: &VulkanQueue, part: Range<u64>) -> Result<Option<Point>> {
        if self.direction == Direction::Upload {
            self.fill(chunk, &part)?;
        }
        let point = self.submit(chunk, queue, part.clone())?;
        if self.direction == Direction::Upload {
            return Ok(Some(point));
        }
        self.empty(chunk, &part)?;
        Ok(None)
    }

    /// Copies from host memory to the chunk.
    fn fill(&self, chunk: &Chunk, part: &Range<u64>) -> Result<()> {
        strided::gather(self.plan, self.host, chunk_memory(chunk)?, part.start, part.end)
    }

    /// Waits until the device has filled the chunk, then copies it to host memory.
    fn empty(&self, chunk: &mut Chunk, part: &Range<u64>) -> Result<()> {
        if let Some(point) = chunk.busy.take() {
            // The transfer can be repeated, because the source still has the data.
            point.wait(None).map_err(|e| e.context("the transfer failed; it can be repeated"))?;
        }
        strided::scatter(self.plan, chunk_memory(chunk)?, self.host, part.start, part.end)
    }

    /// Submits the copy between the chunk and the buffer.
    fn submit(&self, chunk: &mut Chunk, queue: &VulkanQueue, part: Range<u64>) -> Result<Point> {
        let (sides, shift) = match self.direction {
            Direction::Upload => ((&chunk.buffer, self.buffer), (part.start, 0)),
            Direction::Download => ((self.buffer, &chunk.buffer), (0, part.start)),
        };
        let point = copy(queue, &self.transfers.copies, sides, shift, self.device_plan, part, None)?;
        chunk.busy = Some(point.clone());
        Ok(point)
    }

    /// Copies the whole plan in pieces, several pieces at a time. Pieces are not assigned to threads in advance, because a thread whose
    /// CPU also handles the device's interrupts is several times slower than the others.
    fn pipelined(&self, lanes: &[Arc<VulkanQueue>]) -> Result<SmallVec<[Point; 2]>> {
        let core = &self.transfers.core;
        let bytes = self.plan.bytes();
        let pieces = bytes.div_ceil(self.size);
        let part = |i: u64| i * self.size..((i + 1) * self.size).min(bytes);
        let lane = |i: u64| i as usize % lanes.len();
        let pool = &Workers::shared().pool;
        let threads = (pool.threads().min(THREADS) as u64).min(bytes.div_ceil(BYTES_PER_THREAD)).min(pieces);
        let pending = Pending { next: AtomicU64::new(0), pieces };
        let failed: Mutex<Option<Error>, { rank::PIECES }> = Mutex::new(None);
        let fail = |e: Error| {
            failed.lock().get_or_insert(e);
            pending.end();
        };

        let last: Mutex<Vec<Option<Point>>, { rank::PIECES }> = Mutex::new(vec![None; lanes.len()]);
        let up = |i: u64| -> Result<()> {
            let mut chunk = self.ring.take(core)?;
            let done = self.fill(&chunk, &part(i)).and_then(|()| self.submit(&mut chunk, &lanes[lane(i)], part(i)));
            self.ring.give(chunk);
            let point = done?;
            let slot = &mut last.lock()[lane(i)];
            if slot.as_ref().is_none_or(|p| p.sequence < point.sequence) {
                *slot = Some(point);
            }
            Ok(())
        };

        // Downloads: the pieces whose device copies were submitted, oldest first.
        let begun: Mutex<VecDeque<(u64, Chunk)>, { rank::PIECES }> = Mutex::new(VecDeque::new());
        let begin = |i: u64, mut chunk: Chunk| -> Result<()> {
            let done = self.submit(&mut chunk, &lanes[lane(i)], part(i)).map(drop);
            match done {
                Ok(()) => begun.lock().push_back((i, chunk)),
                Err(_) => self.ring.give(chunk),
            }
            done
        };
        let down = |i: u64, mut chunk: Chunk| -> Result<()> {
            let done = self.empty(&mut chunk, &part(i));
            match pending.take() {
                Some(next) if done.is_ok() => begin(next, chunk),
                _ => {
                    self.ring.give(chunk);
                    done
                }
            }
        };
        // Each thread runs this until no piece is in flight and none is left.
        let downloads = || loop {
            let oldest = begun.lock().pop_front();
            match oldest {
                Some((i, chunk)) => down(i, chunk).unwrap_or_else(&fail),
                None if pending.are_left() => {
                    (0..64).for_each(|_| std::hint::spin_loop());
                    std::thread::yield_now();
                }
                None => return,
            }
        };

        let done = if self.direction == Direction::Upload {
            pool.parallel(threads, &|_| {
                while let Some(i) = pending.take() {
                    up(i).unwrap_or_else(&fail);
                }
            })
        } else {
            let _turn = self.transfers.large_downloads.lock();
            pool.parallel(threads, &|t| {
                // The first thread submits pieces while the others wake up. If it panics, `Ends` lets the others finish.
                let _end = (t == 0).then(|| Ends(&pending));
                let ahead = if t == 0 { threads * DEPTH as u64 } else { 0 };
                for i in (0..ahead).map_while(|_| pending.take()) {
                    self.ring.take(core).and_then(|chunk| begin(i, chunk)).unwrap_or_else(&fail);
                }
                downloads();
            })
        };
        // Chunks are left here only if the transfer failed.
        begun.into_inner().into_iter().for_each(|(_, chunk)| self.ring.give(chunk));
        done?;
        if let Some(e) = failed.into_inner() {
            return Err(e);
        }
        Ok(last.into_inner().into_iter().flatten().collect())
    }
}

/// The pieces of a transfer that no thread has taken yet.
struct Pending {
    next: AtomicU64,
    pieces: u64,
}

impl Pending {
    fn take(&self) -> Option<u64> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < self.pieces)
    }

    fn are_left(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.pieces
    }

    /// Makes `take` return no further piece.
    fn end(&self) {
        self.next.fetch_max(self.pieces, Ordering::Relaxed);
    }
}

/// Ends a transfer when dropped.
struct Ends<'a>(&'a Pending);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn chunk_memory(chunk: &Chunk) -> Result<HostSpan> {
    chunk.buffer.host().ok_or_else(|| Error::internal("staging memory is not mapped"))
}
