//! Transfers between host memory and buffers of a Vulkan device.
//!
//! If the host addresses the buffer, it copies directly. Otherwise the bytes pass through a ring of staging chunks: a small
//! transfer through one chunk on the view's own queue, a large one in pieces over several threads and copy lanes, since one
//! thread's memcpy is slower than the bus.

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
/// The piece sizes of uploads and downloads: for transfers of fewer bytes than [`MEDIUM_BYTES`], of fewer than [`LARGE_BYTES`], and of more
/// (measured on an H200).
const PIECES: [[u64; 3]; 2] = [[256 << 10, 2 << 20, 2 << 20], [256 << 10, 1 << 20, 4 << 20]];
const MEDIUM_BYTES: u64 = 4 << 20;
const LARGE_BYTES: u64 = 128 << 20;
/// Copies of this many bytes and more run beside the work of their view even if they follow it: that costs a wait between
/// queues, some 10 us, but what comes after them can run meanwhile.
const LONG_COPY_BYTES: u64 = 2 << 20;
/// How many bytes are worth a further thread.
const SHARE: u64 = 2 << 20;
/// Most threads that copy for one transfer: more are not faster than the bus.
const THREADS: usize = 8;
/// Staging memory that was not used for this long is freed at the next call that copies, allocates or waits. When it was
/// freed after one second, large copies on an H200 sometimes took 20 to 45 ms longer.
const IDLE: Duration = Duration::from_secs(5);
/// How many chunks a thread keeps in flight.
const DEPTH: usize = 3;

/// The rings and copy lanes of a device.
pub(super) struct Transfers {
    core: Arc<Core>,
    copies: Arc<CopyKernels>,
    rings: [[Ring; 2]; 2],
    lanes: Mutex<[Option<Vec<Arc<VulkanQueue>>>; 2], { rank::LANES }>,
    /// Large downloads hold many chunks at once, so they take turns: otherwise two could wait for each other's chunks.
    turn: Mutex<(), { rank::TURN }>,
    /// True if there may be staging memory to free, or finished work of lanes to release.
    staged: AtomicBool,
    /// When this was made, and after how many milliseconds the rings are looked at next.
    begun: Instant,
    look: AtomicU64,
}

impl Transfers {
    /// The rings and lanes, which are made at their first use.
    pub fn new(core: &Arc<Core>, copies: &Arc<CopyKernels>) -> Self {
        let most = Workers::shared().pool.threads().min(THREADS) * DEPTH + 1;
        let rings = [Direction::Upload, Direction::Download]
            .map(|d| [Ring::new(d, SMALL_CHUNK_BYTES, 64), Ring::new(d, PIECES[d as usize][2], most)]);
        Self {
            core: core.clone(),
            copies: copies.clone(),
            rings,
            lanes: Mutex::new([None, None]),
            turn: Mutex::new(()),
            staged: AtomicBool::new(false),
            begun: Instant::now(),
            look: AtomicU64::new(0),
        }
    }

    /// The lanes: transfer queues, or compute queues, one for each direction. Strided pieces need compute queues.
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

    /// A lane for one copy. Each direction has its own, so that an upload does not wait behind a download that waits for a
    /// kernel.
    pub fn lane(&self, direction: Direction, compute: bool) -> Result<Arc<VulkanQueue>> {
        let lanes = self.lanes(compute)?;
        self.staged.store(true, Ordering::Relaxed);
        Ok(lanes[direction as usize % lanes.len()].clone())
    }

    /// A transfer queue on which a copy does not wait for work that has nothing to do with it: one that waits for no kernel,
    /// or for those of `follows`. The direction's own one, if there is none.
    fn free_lane(&self, direction: Direction, follows: Option<u64>) -> Result<Arc<VulkanQueue>> {
        let own = self.lane(direction, false)?;
        if own.waits_only_for(follows) {
            return Ok(own);
        }
        let other = self.lanes(false)?.into_iter().find(|lane| lane.waits_only_for(follows));
        Ok(other.unwrap_or(own))
    }

    /// The lanes made so far.
    pub fn made(&self) -> SmallVec<[Arc<VulkanQueue>; 8]> {
        self.lanes.lock().iter().flatten().flatten().cloned().collect()
    }

    /// Bytes of staging memory, and the most that there may be.
    pub fn staging(&self) -> (u64, u64) {
        let all = self.rings.iter().flatten().map(Ring::bytes);
        all.fold((0, 0), |sum, (held, most)| (sum.0 + held, sum.1 + most))
    }

    /// Frees staging memory that was not used for a while.
    pub fn trim(&self) {
        const PAUSE: u64 = 50;
        if !self.staged.load(Ordering::Relaxed) {
            return;
        }
        let now = self.begun.elapsed().as_millis() as u64;
        if now < self.look.load(Ordering::Relaxed) {
            return;
        }
        self.look.store(now + PAUSE, Ordering::Relaxed);
        // Finished batches hold chunks. Every lane and ring is looked at.
        let busy = self.made().iter().filter(|lane| !lane.release_finished()).count();
        let trimmed = self.rings.iter().flatten().filter(|ring| ring.trim(IDLE)).count();
        if trimmed > 0 {
            // Freed chunks went to the pool's spare memory.
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
        // The device walks only its own side.
        let (down, up) = plan.through_packed();
        let walk = if upload { up } else { down };
        let piece = Piece { transfers: self, direction, host, buffer, plan, walk: &walk, ring, size };
        if bytes > size {
            let compute = image || !walk.is_linear();
            let lanes = if compute { vec![self.lane(direction, true)?] } else { self.lanes(false)? };
            return piece.pipelined(&lanes);
        }
        let mut chunk = ring.take(&self.core)?;
        let lane =
            if image { Ok(None) } else { self.bus_lane(direction, (buffer, &range, access), queue, &walk, false) };
        let point = lane.and_then(|lane| piece.run(&mut chunk, lane.as_deref().unwrap_or(queue), 0..bytes));
        ring.give(chunk);
        Ok(point?.into_iter().collect())
    }

    /// The transfer queue for a copy over the bus, if one should do it: there is one, and either the copy need not wait for
    /// work of `queue`, which it would follow faster on the same queue, or later work of `queue` should not wait for it
    /// (`later`), because it takes long or its end is waited for elsewhere.
    pub fn bus_lane(
        &self,
        direction: Direction,
        (buffer, range, access): (&Arc<dyn Buffer>, &Range<u64>, Access),
        queue: &VulkanQueue,
        plan: &CopyPlan,
        later: bool,
    ) -> Result<Option<Arc<VulkanQueue>>> {
        if self.core.transfer.is_empty() || !plan.is_linear() {
            return Ok(None);
        }
        let mut follows = false;
        buffer.tracker().lock().conflicts(range, access, |p| follows |= p.is_on(queue.timeline()));
        if follows && !later && plan.bytes() < LONG_COPY_BYTES {
            return Ok(None);
        }
        self.free_lane(direction, follows.then(|| queue.timeline().id())).map(Some)
    }

    /// Lets the host write into device memory: true if it could, because nobody uses those bytes.
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

    /// Lets the host copy directly.
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

/// A transfer that goes through chunks.
struct Piece<'a> {
    transfers: &'a Transfers,
    direction: Direction,
    host: HostSpan,
    buffer: &'a Arc<dyn Buffer>,
    plan: &'a CopyPlan,
    /// The device's part of the copy, between packed memory and the buffer.
    walk: &'a CopyPlan,
    ring: &'a Ring,
    /// Bytes of a piece, at most a chunk.
    size: u64,
}

impl Piece<'_> {
    /// Moves packed positions `part` through one chunk. An upload returns its point; a download is done.
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

    /// Copies from the chunk to host memory, once the device has filled it.
    fn empty(&self, chunk: &mut Chunk, part: &Range<u64>) -> Result<()> {
        if let Some(point) = chunk.busy.take() {
            // The source still has the data.
            point.wait(None).map_err(|e| e.context("the transfer failed; it can be repeated"))?;
        }
        strided::scatter(self.plan, chunk_memory(chunk)?, self.host, part.start, part.end)
    }

    /// Submits the device's part.
    fn submit(&self, chunk: &mut Chunk, queue: &VulkanQueue, part: Range<u64>) -> Result<Point> {
        let (sides, shift) = match self.direction {
            Direction::Upload => ((&chunk.buffer, self.buffer), (part.start, 0)),
            Direction::Download => ((self.buffer, &chunk.buffer), (0, part.start)),
        };
        let point = copy(queue, &self.transfers.copies, sides, shift, self.walk, part)?;
        chunk.busy = Some(point.clone());
        Ok(point)
    }

    /// Moves everything in pieces, several at a time. Each thread takes the next piece when it is free, since one whose
    /// processor also serves the device's interrupts is several times slower than the others.
    fn pipelined(&self, lanes: &[Arc<VulkanQueue>]) -> Result<SmallVec<[Point; 2]>> {
        let core = &self.transfers.core;
        let bytes = self.plan.bytes();
        let pieces = bytes.div_ceil(self.size);
        let part = |i: u64| i * self.size..((i + 1) * self.size).min(bytes);
        let lane = |i: u64| i as usize % lanes.len();
        let pool = &Workers::shared().pool;
        let threads = (pool.threads().min(THREADS) as u64).min(bytes.div_ceil(SHARE)).min(pieces);
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

        // Downloads: the pieces that the device has begun, the oldest first.
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
        // Until no piece is under way and none will be.
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
            let _turn = self.transfers.turn.lock();
            pool.parallel(threads, &|t| {
                // The first thread begins pieces while the others wake up, and these must not wait for it if it panics.
                let _end = (t == 0).then(|| Ends(&pending));
                let ahead = if t == 0 { threads * DEPTH as u64 } else { 0 };
                for i in (0..ahead).map_while(|_| pending.take()) {
                    self.ring.take(core).and_then(|chunk| begin(i, chunk)).unwrap_or_else(&fail);
                }
                downloads();
            })
        };
        // These are left of a transfer that failed.
        begun.into_inner().into_iter().for_each(|(_, chunk)| self.ring.give(chunk));
        done?;
        if let Some(e) = failed.into_inner() {
            return Err(e);
        }
        Ok(last.into_inner().into_iter().flatten().collect())
    }
}

/// The pieces of a transfer that nobody has taken yet.
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

    /// Marks that no further piece begins.
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
