//! Rings of staging chunks: host memory through which transfers pass. They are bounded, and freed when they were not used
//! for a while.

use super::core::Core;
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use crate::device::hazard::{Point, any_lost};
use crate::device::{Buffer, Direction};
use crate::error::Result;
use crate::lock::{Condvar, Mutex, rank};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A chunk, and the work that must be done with it before it is used again.
pub(super) struct Chunk {
    /// The memory.
    pub buffer: Arc<dyn Buffer>,
    /// The work that uses it, set by whoever gave that to the device.
    pub busy: Option<Point>,
}

struct RingState {
    free: VecDeque<Chunk>,
    made: usize,
    used: Instant,
}

/// Chunks of one size and direction.
pub(super) struct Ring {
    /// Bytes of a chunk.
    pub size: u64,
    most: usize,
    direction: Direction,
    state: Mutex<RingState, { rank::RING }>,
    returned: Condvar,
}

impl Ring {
    /// A ring of at most `most` chunks of `size` bytes, made when needed.
    pub fn new(direction: Direction, size: u64, most: usize) -> Self {
        let state = Mutex::new(RingState { free: VecDeque::new(), made: 0, used: Instant::now() });
        Self { size, most, direction, state, returned: Condvar::new() }
    }

    /// A chunk that the device does not use any more.
    pub fn take(&self, core: &Arc<Core>) -> Result<Chunk> {
        let mut state = self.state.lock();
        state.used = Instant::now();
        let mut chunk = loop {
            if state.free.front().is_some_and(|c| c.busy.as_ref().is_none_or(Point::reached)) {
                if let Some(chunk) = state.free.pop_front() {
                    break chunk;
                }
            } else if state.made < self.most {
                state.made += 1;
                drop(state);
                match self.make(core) {
                    Ok(chunk) => return Ok(chunk),
                    Err(e) => {
                        self.state.lock().made -= 1;
                        // Whoever waits for a chunk may take this one.
                        self.returned.notify_all();
                        return Err(e);
                    }
                }
            } else if let Some(chunk) = state.free.pop_front() {
                break chunk;
            } else {
                self.returned.wait(&mut state, rank::PIECES);
            }
        };
        drop(state);
        if let Some(point) = chunk.busy.take() {
            // Lost work no longer uses the chunk either; the loss is reported to those whom it concerns.
            if let Err(e) = point.wait(None) {
                if !point.reached() {
                    self.give(chunk);
                    return Err(e);
                }
            }
            if any_lost() {
                chunk.buffer.tracker().take_lost();
            }
        }
        Ok(chunk)
    }

    /// The bytes that it has, and the most that it may have.
    pub fn bytes(&self) -> (u64, u64) {
        (self.state.lock().made as u64 * self.size, self.most as u64 * self.size)
    }

    /// Frees the unused chunks, if none was taken for this long. True if there were any.
    pub fn trim(&self, idle: Duration) -> bool {
        let mut state = self.state.lock();
        if state.made == 0 || state.used.elapsed() < idle {
            return false;
        }
        let (busy, free): (Vec<Chunk>, Vec<Chunk>) =
            state.free.drain(..).partition(|c| c.busy.as_ref().is_some_and(|p| !p.reached()));
        state.free = VecDeque::from(busy);
        state.made -= free.len();
        drop(state);
        !free.is_empty()
    }

    /// Returns a chunk.
    pub fn give(&self, chunk: Chunk) {
        self.state.lock().free.push_back(chunk);
        self.returned.notify_one();
    }

    fn make(&self, core: &Arc<Core>) -> Result<Chunk> {
        // Cached memory for both directions: several threads fill it faster than write-combined memory (measured on an
        // H200).
        let memory_type = core.physical.memory_types.readback;
        let label = match self.direction {
            Direction::Upload => "upload ring",
            Direction::Download => "readback ring",
        };
        let buffer = VulkanBuffer::new(
            core,
            self.size,
            &AllocationRequest { memory_type, mapped: Mapping::Host, staging: true },
            label,
        )?;
        Ok(Chunk { buffer, busy: None })
    }
}
