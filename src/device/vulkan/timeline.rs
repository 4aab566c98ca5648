//! The timeline of a queue: a timeline semaphore, and, on transfer queues of real devices, a word in host memory that the
//! GPU writes. With a word, the semaphore is only signalled now and then, and when somebody needs it: each signal interrupts
//! a processor for some 25 us on an H200 (decision 15).
//!
//! A wait spins, then looks from time to time, then blocks: a blocking wait wakes up 25 to several hundred us late on an
//! H200. Measured there: on a transfer queue the semaphore's value is sometimes seen 35 us late, the word never; on a
//! compute queue the value is seen at once, and writing the word costs 1.4 us.

#![allow(unsafe_code)]

use super::core::Core;
use super::losses::{Names, lost_command};
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use super::overruns::{CommandId, Dependence, StopWord, WatchedQueue};
use super::stop_flags;
use crate::device::hazard::{Point, Timeline, any_lost, say_lost};
use crate::device::{Buffer, unique_id};
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::trace::events::Span;
use ash::vk;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// How long a wait spins.
const SPIN: Duration = Duration::from_micros(500);
/// How long it then yields to other threads between looks; after that it sleeps between them.
const YIELD: Duration = Duration::from_millis(10);
const SLEEP: Duration = Duration::from_millis(100);
/// A sleep between two looks.
const SLEEP_POLL: Duration = Duration::from_micros(20);
/// Longest single blocking wait, so that a device lost on another thread is noticed.
const SLICE: Duration = Duration::from_millis(500);
/// The same if the word must be looked at meanwhile.
const BLOCK_POLL: Duration = Duration::from_millis(1);
/// How many signals of a semaphore are remembered. Whoever waits for an older one waits for the oldest of these.
const REMEMBERED: usize = 64;

/// A batch that was accepted and never ran.
struct Loss {
    value: u64,
    /// Its commands, except one whose caller was told at once.
    commands: Range<u64>,
    names: Names,
    reason: Error,
    reported: bool,
}

/// What the timeline needs of its queue.
pub(super) trait Submitter: Send + Sync {
    /// Submits the open batch, if there is one.
    fn submit_open(&self) -> Result<()>;
    /// Makes the semaphore signal all that was handed over.
    fn signal_handed(&self) -> Result<()>;
    /// The names of the commands of a batch under way.
    fn names(&self, value: u64) -> Option<Names>;
}

/// The timeline of one queue.
pub(super) struct VulkanTimeline {
    id: u64,
    pub core: Arc<Core>,
    /// The semaphore whose value is the number of the last finished batch.
    pub semaphore: vk::Semaphore,
    /// The host memory into which the GPU writes the low 32 bits of that number.
    pub word: Option<Arc<VulkanBuffer>>,
    /// The word that launches set whose loops the driver stopped, if there are such kernels.
    stopped: OnceLock<Arc<StopWord>>,
    /// If there are: which of its commands may have used the results of others, in order.
    dependences: Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }>,
    /// The highest number known to be reached.
    done: AtomicU64,
    /// The highest number handed to the device.
    pub handed: AtomicU64,
    /// The highest number that the semaphore has or will have.
    signalled: AtomicU64,
    /// If there is a word: the latest numbers that the semaphore was to get.
    signals: Mutex<VecDeque<u64>, { rank::SIGNALS }>,
    /// True if somebody has waited since the queue last looked: a burst of commands has ended.
    pub waited: AtomicBool,
    /// The highest number known to be reached when the device was lost. All later answers agree with it.
    at_loss: OnceLock<u64>,
    /// The batches that were lost.
    losses: Mutex<Vec<Loss>, { rank::LOSSES }>,
    /// The queue, to flush it.
    pub queue: OnceLock<Weak<dyn Submitter>>,
    /// Itself, for batches of other queues that wait for it.
    pub me: Weak<VulkanTimeline>,
}

impl VulkanTimeline {
    /// A timeline at 0, with or without a word.
    pub fn new(core: &Arc<Core>, with_word: bool) -> Result<Arc<Self>> {
        let word = if with_word {
            let wanted = AllocationRequest {
                memory_type: core.physical.memory_types.readback,
                mapped: Mapping::Host,
                staging: true,
            };
            match VulkanBuffer::new(core, 64, &wanted, "completion word") {
                Ok(word) => {
                    if let Some(span) = word.host() {
                        span.fill(0);
                    }
                    Some(word)
                }
                Err(e) => {
                    // The semaphore tells the same, only later.
                    crate::log!(Debug, "a queue has no completion word: {e}");
                    None
                }
            }
        } else {
            None
        };
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timeline semaphores.
        let semaphore =
            unsafe { core.raw.create_semaphore(&info, None) }.map_err(|e| core.failed("vkCreateSemaphore", e))?;
        Ok(Arc::new_cyclic(|me| Self {
            id: unique_id(),
            core: core.clone(),
            semaphore,
            word,
            stopped: OnceLock::new(),
            dependences: Mutex::new(VecDeque::new()),
            done: AtomicU64::new(0),
            handed: AtomicU64::new(0),
            signalled: AtomicU64::new(0),
            signals: Mutex::new(VecDeque::new()),
            waited: AtomicBool::new(false),
            at_loss: OnceLock::new(),
            losses: Mutex::new(Vec::new()),
            queue: OnceLock::new(),
            me: me.clone(),
        }))
    }

    /// Notes that the batch `value` never runs. `commands`: those of its commands whose callers were not told.
    pub fn lose(&self, value: u64, commands: Range<u64>, names: Names, reason: Error) {
        say_lost();
        let reported = commands.is_empty();
        self.losses.lock().push(Loss { value, commands, names, reason, reported });
    }

    /// The word that launches set whose loops the driver stopped.
    #[cold]
    pub fn stop_word(&self) -> Result<&StopWord> {
        match self.stopped.get() {
            Some(word) => Ok(word),
            None => {
                let word = self.core.overruns.join(self.me.clone(), || stop_flags::word(&self.core))?;
                Ok(self.stopped.get_or_init(|| word))
            }
        }
    }

    /// Notes commands of batch `value`, which is about to be handed over, that may use the results of earlier ones.
    pub fn depend(&self, value: u64, after: &mut Vec<(u64, CommandId)>) {
        if self.stopped.get().is_none() {
            // Without memory for a new word there is none, and nothing has been stopped.
            let _ = self.stop_word();
        }
        let done = self.done.load(Ordering::Acquire);
        let mut all = self.dependences.lock();
        while all.front().is_some_and(|first| first.value <= done) {
            all.pop_front();
        }
        all.extend(after.drain(..).map(|(sequence, earlier)| Dependence { value, sequence, earlier }));
    }

    /// Notes that the device has reached `value`.
    #[inline]
    fn reach(&self, value: u64) {
        if value <= self.done.load(Ordering::Acquire) {
            return;
        }
        if self.stopped.get().is_some_and(|word| word.is_set()) {
            self.core.overruns.find(&self.core.physical.name);
        }
        self.done.fetch_max(value, Ordering::AcqRel);
    }

    /// True if the work at a point was lost; tells nobody.
    pub fn has_lost(&self, point: &Point) -> bool {
        self.losses.lock().iter().any(|l| l.value == point.value && l.commands.contains(&point.sequence))
    }

    /// The result of a wait for `value`, which need not be waited for any more. What was done stays done if the device is
    /// lost later.
    fn ended(&self, value: u64) -> Result<bool> {
        if self.seen(value) { Ok(true) } else { self.core.check_alive().map(|()| true) }
    }

    /// Reads the word, which is a plain load.
    fn poll_word(&self, value: u64) -> bool {
        let Some(span) = self.word.as_ref().and_then(|w| w.host()) else { return false };
        // SAFETY: the word is 4 aligned bytes that live as long as the buffer; the GPU writes them whole.
        let word = unsafe { AtomicU32::from_ptr(span.as_ptr().cast()) }.load(Ordering::Acquire);
        let done = self.done.load(Ordering::Relaxed);
        // The word holds the low bits of a number at or above `done`.
        let reached = done + u64::from(word.wrapping_sub(done as u32) & 0x7FFF_FFFF);
        if reached <= self.handed.load(Ordering::Relaxed) {
            self.reach(reached);
        }
        self.done.load(Ordering::Acquire) >= value
    }

    /// Looks at the word until it has `value` (true) or `most` has passed since `begin`.
    fn spin(&self, value: u64, begin: Instant, most: Duration) -> bool {
        loop {
            // Asking the semaphore takes longer than looking at the word.
            for _ in 0..if self.word.is_some() { 32 } else { 1 } {
                if self.poll_word(value) {
                    return true;
                }
                std::hint::spin_loop();
            }
            let passed = begin.elapsed();
            // The semaphore is asked too: no memory barrier guarantees that the host sees the word.
            if self.poll_semaphore() >= value || self.core.lost().is_some() {
                return true;
            }
            match passed {
                p if p >= most => return false,
                p if p < SPIN => continue,
                p if p < YIELD => std::thread::yield_now(),
                _ => std::thread::sleep(SLEEP_POLL),
            }
            // If the word is not seen, the semaphore tells. That costs little beside work that takes so long.
            if !self.is_signalled(value) && self.signal(value).is_err() {
                return false;
            }
        }
    }

    /// Notes that the semaphore will have `value`.
    pub fn will_signal(&self, value: u64) {
        if self.word.is_some() {
            let mut signals = self.signals.lock();
            signals.push_back(value);
            if signals.len() > REMEMBERED {
                signals.pop_front();
            }
        }
        self.signalled.store(value, Ordering::Release);
    }

    /// The highest number that the semaphore has or will have.
    pub fn signalled(&self) -> u64 {
        self.signalled.load(Ordering::Acquire)
    }

    /// The first number of the semaphore which tells that `value` is reached. Validation (1.3.239) knows no value in
    /// between.
    pub fn signal_of(&self, value: u64) -> u64 {
        if self.word.is_none() {
            return value;
        }
        let signals = self.signals.lock();
        signals.get(signals.partition_point(|&s| s < value)).copied().unwrap_or(value)
    }

    /// The number that the semaphore is known to have, without asking it; `None` if a word may have told of more.
    pub fn known(&self) -> Option<u64> {
        self.word.is_none().then(|| self.done.load(Ordering::Acquire))
    }

    /// How far the device is, at most up to `wanted`.
    pub fn poll(&self, wanted: u64) -> u64 {
        if self.reached(wanted) { wanted } else { self.done.load(Ordering::Acquire).min(wanted) }
    }

    /// Asks the semaphore, which also tells that command buffers are free again.
    pub fn poll_semaphore(&self) -> u64 {
        // SAFETY: the semaphore is alive.
        match unsafe { self.core.raw.get_semaphore_counter_value(self.semaphore) } {
            Ok(value) => {
                self.reach(value);
                value
            }
            Err(e) => {
                let _ = self.core.failed("vkGetSemaphoreCounterValue", e);
                self.done.load(Ordering::Acquire)
            }
        }
    }

    /// Asks the semaphore until it has `value` (true) or `most` has passed (false).
    pub fn watch_semaphore(&self, value: u64, most: Duration) -> bool {
        let begin = Instant::now();
        loop {
            let late = begin.elapsed() > most;
            if self.poll_semaphore() >= value {
                return true;
            }
            if late {
                return false;
            }
            std::hint::spin_loop();
        }
    }

    /// Blocks until `value` is reached or `timeout` has passed: true if it is.
    pub fn block(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        let end = timeout.map(|t| Instant::now() + t);
        loop {
            self.core.check_alive()?;
            let signalled = self.signal(value).is_ok();
            let needed = self.signal_of(value);
            // A signal may tell of more than is needed, or be impossible for now; then the word is looked at as well.
            let slice = if signalled && needed == value { SLICE } else { BLOCK_POLL };
            let left = end.map_or(slice, |e| e.saturating_duration_since(Instant::now()).min(slice));
            if !signalled {
                std::thread::sleep(left);
            }
            let semaphores = [self.semaphore];
            let values = [needed];
            let left = if signalled { left } else { Duration::ZERO };
            let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
            // SAFETY: the semaphore is alive; `info` outlives the call.
            match unsafe { self.core.raw.wait_semaphores(&info, left.as_nanos() as u64) } {
                Ok(()) => {
                    self.reach(needed);
                    return Ok(true);
                }
                Err(vk::Result::TIMEOUT) if self.word.is_some() && self.reached(value) => {
                    return self.core.check_alive().map(|()| true);
                }
                Err(vk::Result::TIMEOUT) if end.is_some_and(|e| Instant::now() >= e) => return Ok(false),
                Err(vk::Result::TIMEOUT) => {}
                Err(e) => return Err(self.core.failed("vkWaitSemaphores", e)),
            }
        }
    }
}

impl WatchedQueue for VulkanTimeline {
    fn id(&self) -> u64 {
        self.id
    }

    fn dependences(&self) -> &Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }> {
        &self.dependences
    }

    fn names(&self, value: u64) -> Names {
        let queue = self.queue.get().and_then(Weak::upgrade);
        queue.and_then(|queue| queue.names(value)).unwrap_or_default()
    }

    fn lose(&self, value: u64, commands: Range<u64>, names: Names, reason: Error) {
        VulkanTimeline::lose(self, value, commands, names, reason);
    }
}

impl Timeline for VulkanTimeline {
    fn id(&self) -> u64 {
        self.id
    }

    fn device(&self) -> Option<u64> {
        Some(self.core.id)
    }

    fn reached(&self, value: u64) -> bool {
        if self.done.load(Ordering::Acquire) >= value {
            return true;
        }
        if value > self.handed.load(Ordering::Acquire) {
            // Nothing is waited for on a lost device.
            return self.core.lost().is_some();
        }
        if self.word.is_some() {
            self.poll_word(value) || self.core.lost().is_some()
        } else {
            self.poll_semaphore() >= value || self.core.lost().is_some()
        }
    }

    fn seen(&self, value: u64) -> bool {
        let done = || self.done.load(Ordering::Acquire);
        value <= if any_lost() && self.core.is_lost() { *self.at_loss.get_or_init(done) } else { done() }
    }

    fn lost(&self, point: &Point) -> Option<Error> {
        let mut losses = self.losses.lock();
        if let Some(loss) = losses.iter_mut().find(|l| l.value == point.value && l.commands.contains(&point.sequence)) {
            loss.reported = true;
            return Some(lost_command(&loss.names, point.sequence, &loss.reason));
        }
        drop(losses);
        let reason = self.core.lost()?;
        if self.seen(point.value) {
            return None;
        }
        Some(lost_command(&self.names(point.value), point.sequence, &reason))
    }

    fn unreported(&self, value: u64) -> Option<Error> {
        let mut losses = self.losses.lock();
        let loss = losses.iter_mut().find(|l| l.value <= value && !l.reported)?;
        loss.reported = true;
        Some(lost_command(&loss.names, loss.commands.start, &loss.reason))
    }

    fn is_signalled(&self, value: u64) -> bool {
        value <= self.signalled()
    }

    fn flush(&self, value: u64) -> Result<()> {
        if value <= self.handed.load(Ordering::Acquire) {
            return Ok(());
        }
        // A queue that is gone has submitted everything, or is about to.
        match self.queue.get().and_then(Weak::upgrade) {
            Some(queue) => queue.submit_open(),
            None => Ok(()),
        }
    }

    fn signal(&self, value: u64) -> Result<()> {
        if self.is_signalled(value) {
            return Ok(());
        }
        // A queue that is gone has signalled everything, or is about to.
        self.queue.get().and_then(Weak::upgrade).map_or(Ok(()), |queue| queue.signal_handed())
    }

    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        self.waited.store(true, Ordering::Relaxed);
        self.core.begin_gathered(timeout != Some(Duration::ZERO));
        if self.seen(value) {
            return Ok(true);
        }
        self.core.check_alive()?;
        self.flush(value)?;
        if self.reached(value) {
            return self.ended(value);
        }
        let _span = Span::wait(self.id, timeout);
        let begin = Instant::now();
        if self.core.spins && self.spin(value, begin, timeout.map_or(SLEEP, |t| t.min(SLEEP))) {
            return self.ended(value);
        }
        let left = timeout.map(|t| t.saturating_sub(begin.elapsed()));
        let reached = match left {
            Some(left) if left.is_zero() => self.reached(value),
            left => self.block(value, left)?,
        };
        if reached { self.ended(value) } else { self.core.check_alive().map(|()| false) }
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Drop for VulkanTimeline {
    fn drop(&mut self) {
        // The queue waited for its last batch before it released the timeline, and batches that wait for the semaphore keep
        // it alive.
        self.core.retire(self.semaphore, *self.handed.get_mut() > 0);
    }
}
