//! Copies between two devices whose memory the host cannot address. The copies go in pieces through host memory that both devices
//! import. One device copies to that memory while the other copies from it, and no host thread copies a byte.

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
const LARGEST_PIECE_BYTES: u64 = 4 << 20;
/// Bytes of the smallest piece, except the last one.
const SMALLEST_PIECE_BYTES: u64 = 256 << 10;
/// The number of pieces in flight: the source device works on two, and the destination device on two others.
const SLOTS: usize = 4;
/// The number of pieces by which the source device may be ahead of the destination device.
const PIECES_AHEAD: usize = 2;
/// Bytes of the memory of a bridge.
const BYTES: u64 = LARGEST_PIECE_BYTES * SLOTS as u64;
/// The maximum number of bridges kept for an accelerator.
const MAX_BRIDGES: usize = 4;
/// A bridge that was not used for this long is freed.
const IDLE: Duration = Duration::from_secs(5);

/// One end of a copy.
pub(in crate::runtime) struct End<'a> {
    /// The memory.
    pub buffer: &'a Arc<dyn Buffer>,
    /// The device of the memory.
    pub device: &'a Arc<dyn Device>,
    /// The queue for the copy commands.
    pub queue: &'a dyn Queue,
}

/// The bridges from an accelerator to others.
#[derive(Default)]
pub(in crate::runtime) struct Bridges {
    list: Mutex<Vec<Arc<Bridge>>, { rank::BRIDGES }>,
    /// True if there may be bridges.
    any: AtomicBool,
}

/// A bridge between two devices.
struct Bridge {
    /// The ids of the source device and the destination device.
    pair: (u64, u64),
    /// The memory. A copy uses all of it, so copies take turns.
    channel: Mutex<Channel, { rank::BRIDGE }>,
}

/// Host memory as a buffer of two devices.
struct Channel {
    from: Arc<dyn Device>,
    to: Arc<dyn Device>,
    /// The memory as a buffer of the source device, and as a buffer of the destination device.
    ends: Option<(Arc<dyn Buffer>, Arc<dyn Buffer>)>,
    block: Option<HostBlock>,
    /// For each slot, the point at which the destination device has finished copying from the slot.
    written: [Option<Point>; SLOTS],
    last_used: Instant,
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
            // Moves the bridge to the end of the list, since the least recently used one is freed first.
            let found = list.remove(at);
            list.push(found.clone());
            return Ok(Some(found));
        }
        let Some(channel) = Channel::new(from, to)? else { return Ok(None) };
        let made = Arc::new(Bridge { pair, channel: Mutex::new(channel) });
        list.push(made.clone());
        let oldest = (list.len() > MAX_BRIDGES).then(|| list.remove(0));
        self.any.store(true, Ordering::Relaxed);
        drop(list);
        drop(oldest);
        Ok(Some(made))
    }

    /// The bytes of all bridges, and their limit.
    pub fn bytes(&self) -> (u64, u64) {
        (self.list.lock().len() as u64 * BYTES, MAX_BRIDGES as u64 * BYTES)
    }

    /// Frees bridges that have been idle for a while.
    pub fn trim(&self) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let idle = |b: &Arc<Bridge>| b.channel.try_lock().is_some_and(|b| b.last_used.elapsed() >= IDLE);
        let mut list = self.list.lock();
        let (old, kept): (Vec<_>, Vec<_>) = list.drain(..).partition(idle);
        *list = kept;
        self.any.store(!list.is_empty(), Ordering::Relaxed);
        drop(list);
        drop(old);
    }

    /// Frees all bridges.
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
            last_used: Instant::now(),
        }))
    }

    fn copy(&mut self, from: &End<'_>, to: &End<'_>, plan: &CopyPlan) -> Result<SmallVec<[Point; 2]>> {
        let Some((source_buffer, destination_buffer)) = self.ends.clone() else { return Ok(SmallVec::new()) };
        let size = plan.bytes().div_ceil(SLOTS as u64).next_multiple_of(SMALLEST_PIECE_BYTES).min(LARGEST_PIECE_BYTES);
        let mut in_flight: VecDeque<(usize, Point, CopyPlan)> = VecDeque::new();
        let copy_onward = |written: &mut [Option<Point>; SLOTS],
                           (slot, point, mut from_bridge): (usize, Point, CopyPlan)|
         -> Result<()> {
            point.wait(None)?;
            from_bridge.source = slot as u64 * LARGEST_PIECE_BYTES;
            let point = to.queue.copy(&destination_buffer, to.buffer, &from_bridge)?;
            point.timeline.flush(point.value)?;
            written[slot] = Some(point);
            Ok(())
        };
        for (i, piece) in plan.pieces(size).into_iter().enumerate() {
            let slot = i % SLOTS;
            if let Some(point) = self.written[slot].take() {
                point.wait(None)?;
            }
            let (mut to_bridge, from_bridge) = piece.through_packed();
            to_bridge.destination = slot as u64 * LARGEST_PIECE_BYTES;
            let point = from.queue.copy(from.buffer, &source_buffer, &to_bridge)?;
            point.timeline.flush(point.value)?;
            in_flight.push_back((slot, point, from_bridge));
            if in_flight.len() > PIECES_AHEAD {
                if let Some(next) = in_flight.pop_front() {
                    copy_onward(&mut self.written, next)?;
                }
            }
        }
        for next in in_flight {
            copy_onward(&mut self.written, next)?;
        }
        self.last_used = Instant::now();
        Ok(self.written.iter().flatten().cloned().collect())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        const RECLAIM_TIMEOUT: Duration = Duration::from_secs(1);
        for point in self.written.iter_mut().filter_map(Option::take) {
            // Ignores a failure: waits for the copy itself report it.
            let _ = point.wait(None);
        }
        let Some((source_buffer, destination_buffer)) = self.ends.take() else { return };
        // Queues keep the buffers of finished work until `reclaim`.
        let begun = Instant::now();
        while Arc::strong_count(&source_buffer) > 1 || Arc::strong_count(&destination_buffer) > 1 {
            self.from.reclaim();
            self.to.reclaim();
            if begun.elapsed() > RECLAIM_TIMEOUT {
                // The driver of a lost device may still use the pages.
                std::mem::forget(self.block.take());
                return;
            }
            std::thread::yield_now();
        }
    }
}
