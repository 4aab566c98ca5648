//! Loops that the driver stopped. llvmpipe ends loops after 65,535 iterations without a message, so kernels with loops are
//! rewritten to tell of it ([`crate::kernel::overrun`]): a launch that was stopped sets its own flag, and the word of the device.
//! The word is read before anybody learns that a batch is done. If it is set, the launches with set flags are lost (decision
//! 17), and so is whatever has used their results meanwhile.

use super::losses::{Names, lost_command};
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::kernel::overrun::UNTOUCHED;
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// How many lost commands are remembered, for those that were recorded before anybody knew.
const REMEMBERED: usize = 1 << 16;
/// The word of a device: set by each launch that was stopped, and then for good. llvmpipe needs no barrier for the host to see it.
pub(super) struct StopWord {
    /// Its memory.
    pub buffer: Arc<dyn Buffer>,
    /// What the host reads of it.
    pub span: HostSpan,
}

impl StopWord {
    /// True if it is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.span.first_word() != Some(UNTOUCHED[0])
    }
}

/// A command: its timeline's id, and its sequence number.
pub(super) type CommandId = (u64, u64);

/// The commands whose results another one may use: mostly none, or one.
#[derive(Default)]
pub(super) struct After {
    pub first: Option<CommandId>,
    pub more: Vec<CommandId>,
}

impl After {
    /// Adds one.
    #[inline]
    pub fn add(&mut self, command: CommandId) {
        match self.first {
            None => self.first = Some(command),
            Some(_) => self.more.push(command),
        }
    }
}

/// What a timeline remembers of a command that may have used the result of another one, not known to be done at that time.
pub(super) struct Dependence {
    /// The command's batch, and its sequence number.
    pub value: u64,
    pub sequence: u64,
    pub earlier: CommandId,
}

/// A queue whose launches may be stopped, or use the results of such launches.
pub(super) trait WatchedQueue: Send + Sync {
    /// The id of its timeline.
    fn id(&self) -> u64;
    /// Which of its commands may have used the results of others, in order.
    fn dependences(&self) -> &Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }>;
    /// The names of the commands of a batch under way, as far as they are known.
    fn names(&self, value: u64) -> Names;
    /// Notes that commands of a batch are lost.
    fn lose(&self, value: u64, commands: Range<u64>, names: Names, reason: Error);
}

/// The flags of launches of a queue.
pub(super) trait LaunchFlags: Send + Sync {
    /// The queue, while it exists.
    fn queue(&self) -> Option<Arc<dyn WatchedQueue>>;
    /// The number of the batch that they belong to.
    fn batch(&self) -> u64;
    /// The commands whose flags are set, with the kernel's name. Resets them.
    fn take(&self) -> Vec<(Range<u64>, Arc<str>)>;
}

#[derive(Default)]
struct State {
    word: Weak<StopWord>,
    /// The queues that have the word, and all flags.
    queues: Vec<Weak<dyn WatchedQueue>>,
    flags: Vec<Weak<dyn LaunchFlags>>,
    /// Why commands were lost; and these in order.
    lost: HashMap<CommandId, Error>,
    order: VecDeque<CommandId>,
}

/// The commands of a device that may be lost because the driver stops loops.
#[derive(Default)]
pub(super) struct Overruns {
    active: AtomicBool,
    state: Mutex<State, { rank::OVERRUNS }>,
}

impl Overruns {
    /// True once a kernel that tells was launched.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }

    /// The word of the device, for one more of its queues.
    #[cold]
    pub fn join(
        &self,
        queue: Weak<dyn WatchedQueue>,
        make: impl FnOnce() -> Result<StopWord>,
    ) -> Result<Arc<StopWord>> {
        self.active.store(true, Ordering::Relaxed);
        let known = self.state.lock().word.upgrade();
        let word = match known {
            Some(word) => word,
            None => Arc::new(make()?),
        };
        let mut state = self.state.lock();
        // Another thread may have made one meanwhile.
        let word = state.word.upgrade().unwrap_or(word);
        state.word = Arc::downgrade(&word);
        state.queues.push(queue);
        Ok(word)
    }

    /// Adds flags to those that are looked at.
    pub fn add_flags(&self, flags: Weak<dyn LaunchFlags>) {
        self.state.lock().flags.push(flags);
    }

    /// Finds out which commands are lost. Call it before a batch is reported as done.
    #[cold]
    pub fn find(&self, device: &str) {
        let mut state = self.state.lock();
        let mut flags: SmallVec<[Arc<dyn LaunchFlags>; 8]> = SmallVec::new();
        state.flags.retain(|weak| weak.upgrade().map(|of| flags.push(of)).is_some());
        for of in &flags {
            for (commands, kernel) in of.take() {
                let Some(queue) = of.queue() else { continue };
                let names = vec![(0, Some(kernel))];
                let reason = stopped(device);
                let error = lost_command(&names, commands.start, &reason);
                queue.lose(of.batch(), commands.clone(), names, reason);
                commands.for_each(|sequence| state.note((queue.id(), sequence), &error));
            }
        }
        let mut queues: SmallVec<[Arc<dyn WatchedQueue>; 8]> = SmallVec::new();
        state.queues.retain(|weak| weak.upgrade().map(|of| queues.push(of)).is_some());
        while queues.iter().any(|queue| state.lose_dependents(&**queue)) {}
        // What nobody else holds is released without the lock.
        drop(state);
    }
}

impl State {
    fn note(&mut self, command: CommandId, reason: &Error) {
        if self.lost.insert(command, reason.clone()).is_none() {
            self.order.push_back(command);
        }
        if self.order.len() > REMEMBERED {
            self.order.pop_front().map(|oldest| self.lost.remove(&oldest));
        }
    }

    /// Commands of a queue that may have used the results of lost ones are lost: true if there are any.
    fn lose_dependents(&mut self, queue: &dyn WatchedQueue) -> bool {
        let before = self.order.len();
        for of in queue.dependences().lock().iter() {
            let own = (queue.id(), of.sequence);
            let Some(reason) = self.lost.get(&of.earlier).filter(|_| !self.lost.contains_key(&own)).cloned() else {
                continue;
            };
            queue.lose(of.value, of.sequence..of.sequence + 1, queue.names(of.value), reason.clone());
            self.note(own, &reason);
        }
        self.order.len() > before
    }
}

fn stopped(device: &str) -> Error {
    Error::runtime(format!(
        "its loops are too long for {device}, which ends the loops of threads that run together after 65,535 \
         iterations in all; use another accelerator, such as host threads, or split the work into several launches \
         (docs/devices.md)"
    ))
}
