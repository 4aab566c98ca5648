//! The recordings of a queue that are not in use: command buffers that remember the launches they hold (decision 13).

use super::burst::Place;
use super::command_pool::CommandPool;
use super::core::Core;
use super::recording::{LaunchCommand, Recording};
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// If no free recording begins with a launch, it gets a new one while there are fewer than this.
const KEPT: usize = 64;
/// More free recordings than this are destroyed.
pub(super) const MOST_FREE: usize = 128;
/// Recordings that are not in use.
pub(super) struct FreeRecordings {
    /// The queue family.
    family: u32,
    /// The one used last is at the end.
    free: VecDeque<Box<Recording>>,
    /// A recording that is already open: made while the device works.
    ready: Option<Box<Recording>>,
    /// Where the next new command buffer comes from.
    pool: Option<Arc<CommandPool>>,
}

impl FreeRecordings {
    /// None at first, for a queue of `family`.
    pub fn new(family: u32) -> Self {
        Self { family, free: VecDeque::new(), ready: None, pool: None }
    }

    /// A recording that began with this launch at this place: if possible one that holds `expected` launches, else the one
    /// used last, since a burst will probably end where it ended then.
    pub fn take_known(
        &mut self,
        place: Place,
        expected: usize,
        barrier: bool,
        first: &LaunchCommand<'_>,
    ) -> Option<Box<Recording>> {
        let begins = |r: &Recording| r.place == place && r.begins(barrier, first);
        let found = self.free.iter().rposition(|r| r.launches() == expected && begins(r));
        self.free.remove(found.or_else(|| self.free.iter().rposition(|r| begins(r)))?)
    }

    /// A recording that may be recorded anew.
    pub fn take_new(&mut self, core: &Core) -> Result<Box<Recording>> {
        match self.ready.take() {
            Some(ready) => Ok(ready),
            None => self.blank(core),
        }
    }

    /// A pool that has a command buffer left.
    pub fn pool(&mut self, core: &Core) -> Result<&Arc<CommandPool>> {
        if self.pool.as_ref().is_none_or(|pool| pool.is_full()) {
            let new = CommandPool::new(core, self.family)?;
            self.give_up_pool(core);
            return Ok(self.pool.insert(new));
        }
        self.pool.as_ref().ok_or_else(|| Error::internal("a queue without a command pool"))
    }

    fn give_up_pool(&mut self, core: &Core) {
        if let Some(pool) = self.pool.take() {
            CommandPool::release(pool, core);
        }
    }

    /// A recording that holds nothing.
    fn blank(&mut self, core: &Core) -> Result<Box<Recording>> {
        let blank = match self.free.iter().rposition(|r| r.is_blank()) {
            Some(n) => self.free.remove(n),
            None if self.free.len() >= KEPT => self.free.pop_front(),
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

    /// Opens a recording for the next batch. If that fails, the next caller reports it.
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

    /// Destroys those that are too many.
    pub fn trim(&mut self, core: &Core) {
        while self.free.len() > MOST_FREE {
            let Some(mut oldest) = self.free.pop_front() else { break };
            oldest.destroy(core);
        }
    }

    /// Destroys all.
    pub fn destroy(&mut self, core: &Core) {
        self.free.iter_mut().chain(&mut self.ready).for_each(|recording| recording.destroy(core));
        self.give_up_pool(core);
    }
}
