//! Copies between two devices whose memory the host cannot address. They go through host memory that both devices import, in
//! pieces: one device reads while the other writes, and no thread of the host copies a byte.

use crate::device::hazard::Point;
use crate::device::{Buffer, Device, Queue};
use crate::error::Result;
use crate::geometry::CopyPlan;
use crate::host::HostBlock;
use crate::lock::{Mutex, rank};
use crate::log;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of the largest piece.
const PIECE: u64 = 4 << 20;
/// Bytes of the smallest piece, except the last one.
const LEAST: u64 = 256 << 10;
/// Pieces under way at once: two are read, two are written.
const SLOTS: usize = 4;
/// How many pieces the first device may be ahead.
const AHEAD: usize = 2;
/// Bytes of a bridge.
const BYTES: u64 = PIECE * SLOTS as u64;
/// Most bridges kept for an accelerator.
const MOST: usize = 4;
/// A bridge that was not used for this long is freed.
const IDLE: Duration = Duration::from_secs(5);

/// One end of a copy.
pub(in crate::runtime) struct End<'a> {
    /// The memory.
    pub buffer: &'a Arc<dyn Buffer>,
    /// The device that made it.
    pub device: &'a Arc<dyn Device>,
    /// The queue that is used.
    pub queue: &'a dyn Queue,
}

/// The bridges that lead from an accelerator.
#[derive(Default)]
pub(in crate::runtime) struct Bridges {
    list: Mutex<Vec<Arc<Bridge>>, { rank::BRIDGES }>,
    /// True if there may be bridges.
    any: AtomicBool,
}

/// A bridge between two devices, by their ids.
struct Bridge {
    pair: (u64, u64),
    /// The memory. A copy takes all of it, so there is one at a time.
    channel: Mutex<Channel, { rank::BRIDGE }>,
}

/// Host memory as a buffer of two devices.
struct Channel {
    from: Arc<dyn Device>,
    to: Arc<dyn Device>,
    /// The memory as a buffer of the first device, and of the second.
    ends: Option<(Arc<dyn Buffer>, Arc<dyn Buffer>)>,
    block: Option<HostBlock>,
    /// For each slot, the point at which it has been read.
    written: [Option<Point>; SLOTS],
    used: Instant,
}

impl Bridges {
    /// Copies over a bridge; `None` if a device cannot import host memory.
    pub fn copy(&self, from: &End<'_>, to: &End<'_>, plan: &CopyPlan) -> Result<Option<SmallVec<[Point; 2]>>> {
        match self.find(from.device, to.device)? {
            Some(bridge) => bridge.channel.lock().copy(from, to, plan).map(Some),
            None => Ok(None),
        }
    }

    fn find(&self, from: &Arc<dyn Device>, to: &Arc<dyn Device>) -> Result<Option<Arc<Bridge>>> {
        let mut list = self.list.lock();
        let pair = (from.id(), to.id());
        if let Some(at) = list.iter().position(|b| b.pair == pair) {
            // The bridge used last is kept last.
            let found = list.remove(at);
            list.push(found.clone());
            return Ok(Some(found));
        }
        let Some(channel) = Channel::new(from, to)? else { return Ok(None) };
        let made = Arc::new(Bridge { pair, channel: Mutex::new(channel) });
        list.push(made.clone());
        let oldest = (list.len() > MOST).then(|| list.remove(0));
        self.any.store(true, Ordering::Relaxed);
        drop(list);
        drop(oldest);
        Ok(Some(made))
    }

    /// The bytes that they have, and the most that they may have.
    pub fn bytes(&self) -> (u64, u64) {
        (self.list.lock().len() as u64 * BYTES, MOST as u64 * BYTES)
    }

    /// Frees those that were not used for a while.
    pub fn trim(&self) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let idle = |b: &Arc<Bridge>| b.channel.try_lock().is_some_and(|b| b.used.elapsed() >= IDLE);
        let mut list = self.list.lock();
        let (old, kept): (Vec<_>, Vec<_>) = list.drain(..).partition(idle);
        *list = kept;
        self.any.store(!list.is_empty(), Ordering::Relaxed);
        drop(list);
        drop(old);
    }

    /// Frees all.
    pub fn close(&self) {
        let all = std::mem::take(&mut *self.list.lock());
        drop(all);
    }
}

impl Channel {
    fn new(from: &Arc<dyn Device>, to: &Arc<dyn Device>) -> Result<Option<Self>> {
        let block = HostBlock::new(BYTES)?;
        let Some(first) = from.import_staging(block.span(), "bridge")? else { return Ok(None) };
        let Some(second) = to.import_staging(block.span(), "bridge")? else { return Ok(None) };
        log!(Debug, "a bridge of {BYTES} bytes between devices {} and {}", from.id(), to.id());
        Ok(Some(Self {
            from: from.clone(),
            to: to.clone(),
            ends: Some((first, second)),
            block: Some(block),
            written: [const { None }; SLOTS],
            used: Instant::now(),
        }))
    }

    fn copy(&mut self, from: &End<'_>, to: &End<'_>, plan: &CopyPlan) -> Result<SmallVec<[Point; 2]>> {
        let Some((near, far)) = self.ends.clone() else { return Ok(SmallVec::new()) };
        let size = plan.bytes().div_ceil(SLOTS as u64).next_multiple_of(LEAST).min(PIECE);
        let mut reading: VecDeque<(usize, Point, CopyPlan)> = VecDeque::new();
        let pass =
            |written: &mut [Option<Point>; SLOTS], (slot, point, mut up): (usize, Point, CopyPlan)| -> Result<()> {
                point.wait(None)?;
                up.source = slot as u64 * PIECE;
                let point = to.queue.copy(&far, to.buffer, &up)?;
                point.timeline.flush(point.value)?;
                written[slot] = Some(point);
                Ok(())
            };
        for (i, piece) in plan.pieces(size).into_iter().enumerate() {
            let slot = i % SLOTS;
            if let Some(point) = self.written[slot].take() {
                point.wait(None)?;
            }
            let (mut down, up) = piece.through_packed();
            down.destination = slot as u64 * PIECE;
            let point = from.queue.copy(from.buffer, &near, &down)?;
            point.timeline.flush(point.value)?;
            reading.push_back((slot, point, up));
            if reading.len() > AHEAD {
                if let Some(next) = reading.pop_front() {
                    pass(&mut self.written, next)?;
                }
            }
        }
        for next in reading {
            pass(&mut self.written, next)?;
        }
        self.used = Instant::now();
        Ok(self.written.iter().flatten().cloned().collect())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        for point in self.written.iter_mut().filter_map(Option::take) {
            // A failure is reported to whoever waits for the copy.
            let _ = point.wait(None);
        }
        let Some((near, far)) = self.ends.take() else { return };
        // Queues keep the buffers of finished work until they look for it.
        let begun = Instant::now();
        while Arc::strong_count(&near) > 1 || Arc::strong_count(&far) > 1 {
            self.from.reclaim();
            self.to.reclaim();
            if begun.elapsed() > PATIENCE {
                // The driver of a lost device may still use the pages.
                std::mem::forget(self.block.take());
                return;
            }
            std::thread::yield_now();
        }
    }
}
