//! The recordings of a queue that are not in use. A recording is a command buffer that remembers its launches (decision 13).

use super::burst::BurstPosition;
use super::command_pool::CommandPool;
use super::core::Core;
use super::recording::{LaunchCommand, Recording};
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// With fewer free recordings than this, a launch that matches no free recording gets a new one. With more, the launch overwrites
/// the oldest free recording.
const OVERWRITE_FROM: usize = 64;
/// The maximum number of free recordings. [`FreeRecordings::trim`] destroys the oldest recordings beyond it.
pub(super) const MAX_FREE: usize = 128;
/// Recordings that are not in use.
pub(super) struct FreeRecordings {
    /// The queue family.
    family: u32,
    /// In the order of their last use, the latest at the end.
    free: VecDeque<Box<Recording>>,
    /// A recording that was opened in advance, while the device was working.
    ready: Option<Box<Recording>>,
    /// The pool of the next new command buffer.
    pool: Option<Arc<CommandPool>>,
}

impl FreeRecordings {
    /// An empty list for a queue of `family`.
    pub fn new(family: u32) -> Self {
        Self { family, free: VecDeque::new(), ready: None, pool: None }
    }

    /// Takes a free recording that begins with this launch at position `place` of a burst. Prefers a recording with `expected`
    /// launches, then the recording used last, because this burst probably ends where the last burst did.
    pub fn take_known(
        &mut self,
        place: BurstPosition,
        expected: usize,
        barrier: bool,
        first: &LaunchCommand<'_>,
    ) -> Option<Box<Recording>> {
        let begins = |r: &Recording| r.place == place && r.begins(barrier, first);
        let found = self.free.iter().rposition(|r| r.launches() == expected && begins(r));
        self.free.remove(found.or_else(|| self.free.iter().rposition(|r| begins(r)))?)
    }

    /// An empty recording for new commands.
    pub fn take_new(&mut self, core: &Core) -> Result<Box<Recording>> {
        match self.ready.take() {
            Some(ready) => Ok(ready),
            None => self.blank(core),
        }
    }

    /// A pool from which a command buffer can still be allocated.
    pub fn pool(&mut self, core: &Core) -> Result<&Arc<CommandPool>> {
        if self.pool.as_ref().is_none_or(|pool| pool.is_full()) {
            let new = CommandPool::new(core, self.family)?;
            self.give_up_pool(core);
            return Ok(self.pool.insert(new));
        }
        self.pool.as_ref().ok_or_else(|| Error::internal("a queue has no command pool"))
    }

    fn give_up_pool(&mut self, core: &Core) {
        if let Some(pool) = self.pool.take() {
            CommandPool::release(pool, core);
        }
    }

    /// An empty recording: a free one, or a new one.
    fn blank(&mut self, core: &Core) -> Result<Box<Recording>> {
        let blank = match self.free.iter().rposition(|r| r.is_blank()) {
            Some(n) => self.free.remove(n),
            None if self.free.len() >= OVERWRITE_FROM => self.free.pop_front(),
            None => None,
        };
        let Some(mut blank) = blank else { return Recording::new(core, self.pool(core)?).map(Box::new) };
        if !blank.is_blank() {
            if let Err(e) = blank.clear(core) {
                blank.destroy(core);
                return Err(e);
            }
        }
        Ok(blank)
    }

    /// Opens a recording for the next batch. A failure is ignored here; [`Self::take_new`] tries again and reports it.
    pub fn prepare(&mut self, core: &Core) {
        if self.ready.is_some() {
            return;
        }
        self.ready = self.blank(core).ok().and_then(|mut blank| match blank.open(core) {
            Ok(()) => Some(blank),
            Err(_) => {
                blank.destroy(core);
                None
            }
        });
    }

    /// Takes back a recording whose batch is done.
    pub fn give_back(&mut self, core: &Core, mut recording: Box<Recording>) {
        if let Err(e) = recording.release(core) {
            crate::log!(Info, "{e}");
            recording.destroy(core);
        } else {
            self.free.push_back(recording);
        }
    }

    /// Destroys the oldest recordings beyond [`MAX_FREE`].
    pub fn trim(&mut self, core: &Core) {
        while self.free.len() > MAX_FREE {
            let Some(mut oldest) = self.free.pop_front() else { break };
            oldest.destroy(core);
        }
    }

    /// Destroys all recordings and releases the pool.
    pub fn destroy(&mut self, core: &Core) {
        self.free.iter_mut().chain(&mut self.ready).for_each(|recording| recording.destroy(core));
        self.give_up_pool(core);
    }
}
