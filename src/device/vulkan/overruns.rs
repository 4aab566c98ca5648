//! Detection of loops that the driver stopped. llvmpipe silently ends loops after 65,535 iterations, so kernels with loops are
//! rewritten to detect this ([`crate::kernel::overrun`]). A stopped launch sets its own flag and the stop word of the device.
//! The stop word is read before a batch is reported as done. If the word is set, the launches with set flags are lost (decision 17),
//! and so are all commands that have used the results of these launches.

use super::losses::{Names, lost_command};
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::kernel::overrun::INITIAL_WORDS;
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// The number of lost commands that are remembered, to find dependent commands that were recorded before the loss was detected.
const REMEMBERED: usize = 1 << 16;
/// The stop word of a device. Each stopped launch sets the word, and nothing resets it. On llvmpipe, the host sees the word without
/// a barrier.
pub(super) struct StopWord {
    /// The memory of the word.
    pub buffer: Arc<dyn Buffer>,
    /// The same memory on the host.
    pub span: HostSpan,
}

impl StopWord {
    /// True if the word is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.span.first_word() != Some(INITIAL_WORDS[0])
    }
}

/// A command: the id of its timeline, and its sequence number.
pub(super) type CommandId = (u64, u64);

/// The commands whose results another command may use; usually none or one.
#[derive(Default)]
pub(super) struct EarlierCommands {
    pub first: Option<CommandId>,
    pub more: Vec<CommandId>,
}

impl EarlierCommands {
    /// Adds a command.
    #[inline]
    pub fn add(&mut self, command: CommandId) {
        match self.first {
            None => self.first = Some(command),
            Some(_) => self.more.push(command),
        }
    }
}

/// A command that may use the result of an `earlier` command, which was not known to be done when this command was recorded.
pub(super) struct Dependence {
    /// The batch of the command.
    pub value: u64,
    /// The sequence number of the command.
    pub sequence: u64,
    /// The command whose result it may use.
    pub earlier: CommandId,
}

/// A queue whose launches the driver may stop, or whose launches may use the results of stopped launches.
pub(super) trait WatchedQueue: Send + Sync {
    /// The id of its timeline.
    fn id(&self) -> u64;
    /// The dependences of its commands on other commands, oldest first.
    fn dependences(&self) -> &Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }>;
    /// The names of the commands of an unfinished batch, as far as they are known.
    fn names(&self, value: u64) -> Names;
    /// Notes that commands of a batch are lost.
    fn lose(&self, value: u64, commands: Range<u64>, names: Names, reason: Error);
}

/// The stop flags of launches of a queue.
pub(super) trait LaunchFlags: Send + Sync {
    /// The queue, while it exists.
    fn queue(&self) -> Option<Arc<dyn WatchedQueue>>;
    /// The number of the batch to which the launches belong.
    fn batch(&self) -> u64;
    /// The commands whose flags are set, with the kernel's name. Resets the flags.
    fn take(&self) -> Vec<(Range<u64>, Arc<str>)>;
}

#[derive(Default)]
struct State {
    word: Weak<StopWord>,
    /// The queues that use the stop word.
    queues: Vec<Weak<dyn WatchedQueue>>,
    flags: Vec<Weak<dyn LaunchFlags>>,
    /// The lost commands, each with the reason.
    lost: HashMap<CommandId, Error>,
    /// The lost commands, oldest first.
    order: VecDeque<CommandId>,
}

/// Finds the commands of a device that are lost because the driver stopped loops.
#[derive(Default)]
pub(super) struct Overruns {
    active: AtomicBool,
    state: Mutex<State, { rank::OVERRUNS }>,
}

impl Overruns {
    /// True once a kernel with stop flags was launched.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }

    /// Adds a queue, and returns the stop word of the device.
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
        // Another thread may have created a word meanwhile.
        let word = state.word.upgrade().unwrap_or(word);
        state.word = Arc::downgrade(&word);
        state.queues.push(queue);
        Ok(word)
    }

    /// Adds flags that [`Self::find`] checks.
    pub fn add_flags(&self, flags: Weak<dyn LaunchFlags>) {
        self.state.lock().flags.push(flags);
    }

    /// Finds out which commands are lost. Must be called before a batch is reported as done.
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
        state.forget();
        // Unlocks the state before `queues` and `flags` are dropped, because they may hold the last references.
        drop(state);
    }
}

impl State {
    fn note(&mut self, command: CommandId, reason: &Error) {
        if self.lost.insert(command, reason.clone()).is_none() {
            self.order.push_back(command);
        }
    }

    /// Forgets the oldest lost commands. Call it only when all dependents are found: a pass over the queues needs every lost command.
    fn forget(&mut self) {
        while self.order.len() > REMEMBERED {
            self.order.pop_front().map(|oldest| self.lost.remove(&oldest));
        }
    }

    /// Marks the commands of a queue that may have used the results of lost commands as lost too. Returns true if it found any.
    fn lose_dependents(&mut self, queue: &dyn WatchedQueue) -> bool {
        let before = self.order.len();
        for of in queue.dependences().lock().iter() {
            let dependent = (queue.id(), of.sequence);
            let Some(reason) = self.lost.get(&of.earlier).filter(|_| !self.lost.contains_key(&dependent)).cloned()
            else {
                continue;
            };
            queue.lose(of.value, of.sequence..of.sequence + 1, queue.names(of.value), reason.clone());
            self.note(dependent, &reason);
        }
        self.order.len() > before
    }
}

fn stopped(device: &str) -> Error {
    Error::runtime(format!(
        "the loops of the kernel are too long for {device}, which stops the loops after 65,535 iterations in total \
         (docs/devices.md). Use another accelerator, such as host threads, or split the work into several launches"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue with consecutive commands. Each command uses the result of the command before.
    struct Chain(Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }>, AtomicBool);

    impl WatchedQueue for Chain {
        fn id(&self) -> u64 {
            1
        }
        fn dependences(&self) -> &Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }> {
            &self.0
        }
        fn names(&self, _: u64) -> Names {
            Names::new()
        }
        fn lose(&self, value: u64, _: Range<u64>, _: Names, _: Error) {
            self.1.fetch_or(value == 3, Ordering::Relaxed);
        }
    }

    /// The last command of the chain comes first in the list, so it is found in a later pass.
    #[test]
    fn dependents_of_dependents_are_lost_when_many_commands_are() {
        let uses = |value, earlier| Dependence { value, sequence: value, earlier: (1, earlier) };
        let queue = Chain(Mutex::new([uses(3, 2), uses(2, 1)].into()), AtomicBool::new(false));
        let mut state = State::default();
        (0..REMEMBERED as u64).for_each(|n| state.note((2, n), &stopped("a device")));
        state.note((1, 1), &stopped("a device"));
        while state.lose_dependents(&queue) {}
        state.forget();
        assert!(queue.1.load(Ordering::Relaxed));
        assert_eq!((state.order.len(), state.lost.len()), (REMEMBERED, REMEMBERED));
    }
}
