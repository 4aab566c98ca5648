//! The timeline of a queue. It is a timeline semaphore. Transfer queues of hardware devices also have a completion word: a word of
//! host memory that the GPU writes. With a completion word, the semaphore is signalled only occasionally and when a wait needs the
//! signal, because each signal interrupts a CPU for some 25 us on an H200 (decision 15).
//!
//! Waits spin, then poll at intervals, then block, because a blocking wait wakes up 25 to several hundred us late on an H200.
//! Other measurements on an H200: on a transfer queue, the host sometimes sees the semaphore's value 35 us late, but always sees the
//! completion word at once. On a compute queue, the host sees the semaphore's value at once, and writing a word would cost 1.4 us.

#![allow(unsafe_code)]

use super::core::Core;
use super::losses::{Names, lost_command};
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use super::overruns::{CommandId, Dependence, StopWord, WatchedQueue};
use super::stop_flags;
use crate::device::hazard::{Point, Timeline, any_lost, set_any_lost};
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

/// How long waits spin.
const SPIN: Duration = Duration::from_micros(500);
/// Until this time, a wait yields to other threads between two polls.
const YIELD: Duration = Duration::from_millis(10);
/// Until this time, a wait sleeps between two polls. After it, the wait blocks.
const SLEEP: Duration = Duration::from_millis(100);
/// A sleep between two polls.
const SLEEP_POLL: Duration = Duration::from_micros(20);
/// The longest single blocking wait, so that a device loss on another thread is noticed.
const SLICE: Duration = Duration::from_millis(500);
/// The longest single blocking wait if the word must be polled too.
const BLOCK_POLL: Duration = Duration::from_millis(1);
/// The number of signals of a semaphore that are remembered. A wait for an older signal waits for the oldest of these.
const REMEMBERED: usize = 64;

/// A batch that was accepted and never ran.
struct Loss {
    value: u64,
    /// Its commands, except a command whose caller got the error at once.
    commands: Range<u64>,
    names: Names,
    reason: Error,
    reported: bool,
}

/// The functions of a queue that its timeline calls.
pub(super) trait Submitter: Send + Sync {
    /// Submits the open batch, if there is one.
    fn submit_open(&self) -> Result<()>;
    /// Submits a signal of the semaphore for all submitted batches.
    fn signal_submitted(&self) -> Result<()>;
    /// The names of the commands of an unfinished batch.
    fn names(&self, value: u64) -> Option<Names>;
}

/// The timeline of one queue.
pub(super) struct VulkanTimeline {
    id: u64,
    pub core: Arc<Core>,
    /// The semaphore. Its value is the number of the last finished batch that signalled it.
    pub semaphore: vk::Semaphore,
    /// The completion word: host memory into which the GPU writes the low 32 bits of the number of the last finished batch.
    pub word: Option<Arc<VulkanBuffer>>,
    /// The stop word of the device, once the queue has launched a kernel with stop flags.
    stopped: OnceLock<Arc<StopWord>>,
    /// If there is a stop word: the commands that may have used the results of other commands, oldest first.
    dependences: Mutex<VecDeque<Dependence>, { rank::DEPENDENCES }>,
    /// The highest number of a batch that is known to be finished.
    done: AtomicU64,
    /// The highest number of a submitted batch.
    pub last_submitted: AtomicU64,
    /// The highest number for which a signal of the semaphore was submitted.
    signalled: AtomicU64,
    /// If there is a completion word: the latest numbers for which signals of the semaphore were submitted.
    signals: Mutex<VecDeque<u64>, { rank::SIGNALS }>,
    /// True if a thread has waited since the queue last checked. A wait ends the burst of commands.
    pub waited: AtomicBool,
    /// The value of `done` when the device was lost. Work above this value counts as lost for ever.
    at_loss: OnceLock<u64>,
    /// The batches that were lost.
    losses: Mutex<Vec<Loss>, { rank::LOSSES }>,
    /// The queue, which flushes and signals.
    pub queue: OnceLock<Weak<dyn Submitter>>,
    /// The timeline itself, for batches of other queues that wait for it.
    pub weak_self: Weak<VulkanTimeline>,
}

impl VulkanTimeline {
    /// A timeline at 0, with or without a completion word.
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
                    // The semaphore alone is sufficient, only slower.
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
        Ok(Arc::new_cyclic(|weak_self| Self {
            id: unique_id(),
            core: core.clone(),
            semaphore,
            word,
            stopped: OnceLock::new(),
            dependences: Mutex::new(VecDeque::new()),
            done: AtomicU64::new(0),
            last_submitted: AtomicU64::new(0),
            signalled: AtomicU64::new(0),
            signals: Mutex::new(VecDeque::new()),
            waited: AtomicBool::new(false),
            at_loss: OnceLock::new(),
            losses: Mutex::new(Vec::new()),
            queue: OnceLock::new(),
            weak_self: weak_self.clone(),
        }))
    }

    /// Notes that commands of the batch `value` are lost. `commands`: the commands whose callers did not get the error.
    pub fn lose(&self, value: u64, commands: Range<u64>, names: Names, reason: Error) {
        set_any_lost();
        let reported = commands.is_empty();
        self.losses.lock().push(Loss { value, commands, names, reason, reported });
    }

    /// The stop word of the device.
    #[cold]
    pub fn stop_word(&self) -> Result<&StopWord> {
        match self.stopped.get() {
            Some(word) => Ok(word),
            None => {
                let word = self.core.overruns.join(self.weak_self.clone(), || stop_flags::word(&self.core))?;
                Ok(self.stopped.get_or_init(|| word))
            }
        }
    }

    /// Notes which commands of batch `value` may use the results of earlier commands. The batch is about to be submitted.
    pub fn depend(&self, value: u64, after: &mut Vec<(u64, CommandId)>) {
        if self.stopped.get().is_none() {
            // This fails only if the device has no stop word yet and no memory for one. Then no loop can have been stopped.
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
    fn advance_to(&self, value: u64) {
        if value <= self.done.load(Ordering::Acquire) {
            return;
        }
        if self.stopped.get().is_some_and(|word| word.is_set()) {
            self.core.overruns.find(&self.core.physical.name);
        }
        self.done.fetch_max(value, Ordering::AcqRel);
    }

    /// True if the work at a point was lost. The loss does not count as reported.
    pub fn has_lost(&self, point: &Point) -> bool {
        self.losses.lock().iter().any(|l| l.value == point.value && l.commands.contains(&point.sequence))
    }

    /// The result of a wait for `value` that has ended, because `value` is reached or the device is lost. Work that was done before
    /// the loss stays done.
    fn ended(&self, value: u64) -> Result<bool> {
        if self.seen(value) { Ok(true) } else { self.core.check_alive().map(|()| true) }
    }

    /// Reads the completion word, which costs only a load. True if it has reached `value`.
    fn poll_word(&self, value: u64) -> bool {
        let Some(span) = self.word.as_ref().and_then(|w| w.host()) else { return false };
        // SAFETY: the word is 4 aligned bytes that live as long as the buffer. The GPU writes all 4 bytes at once.
        let word = unsafe { AtomicU32::from_ptr(span.as_ptr().cast()) }.load(Ordering::Acquire);
        let done = self.done.load(Ordering::Relaxed);
        // The word has the low bits of a number that is at least `done`.
        let reached = done + u64::from(word.wrapping_sub(done as u32) & 0x7FFF_FFFF);
        if reached <= self.last_submitted.load(Ordering::Relaxed) {
            self.advance_to(reached);
        }
        self.done.load(Ordering::Acquire) >= value
    }

    /// Polls until `value` is reached or the device is lost (true), or until `most` has passed since `begin` (false).
    fn spin(&self, value: u64, begin: Instant, most: Duration) -> bool {
        loop {
            // A query of the semaphore takes longer than a load of the word.
            for _ in 0..if self.word.is_some() { 32 } else { 1 } {
                if self.poll_word(value) {
                    return true;
                }
                std::hint::spin_loop();
            }
            let passed = begin.elapsed();
            // The semaphore is queried too, because no memory barrier guarantees that the host sees the word.
            if self.poll_semaphore() >= value || self.core.lost().is_some() {
                return true;
            }
            match passed {
                p if p >= most => return false,
                p if p < SPIN => continue,
                p if p < YIELD => std::thread::yield_now(),
                _ => std::thread::sleep(SLEEP_POLL),
            }
            // The host may never see the word, so the semaphore must be signalled. For work this long, the cost of a signal does not matter.
            if !self.is_signalled(value) && self.signal(value).is_err() {
                return false;
            }
        }
    }

    /// Notes that a signal of the semaphore with `value` was submitted.
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

    /// The highest number for which a signal of the semaphore was submitted.
    pub fn signalled(&self) -> u64 {
        self.signalled.load(Ordering::Acquire)
    }

    /// The first signalled value of the semaphore that is at least `value`. Waits must use this value, because the
    /// validation layer (1.3.239) does not handle values between two signals.
    pub fn signal_of(&self, value: u64) -> u64 {
        if self.word.is_none() {
            return value;
        }
        let signals = self.signals.lock();
        signals.get(signals.partition_point(|&s| s < value)).copied().unwrap_or(value)
    }

    /// The value that the semaphore is known to have, without a query; `None` on queues with a completion word, where `done` may be
    /// higher than the semaphore's value.
    pub fn known(&self) -> Option<u64> {
        self.word.is_none().then(|| self.done.load(Ordering::Acquire))
    }

    /// The highest number that is reached, but at most `wanted`.
    pub fn poll(&self, wanted: u64) -> u64 {
        if self.reached(wanted) { wanted } else { self.done.load(Ordering::Acquire).min(wanted) }
    }

    /// Queries the semaphore's value. Command buffers may be reset only up to this value, even if the completion word is higher.
    pub fn poll_semaphore(&self) -> u64 {
        // SAFETY: the semaphore is alive.
        match unsafe { self.core.raw.get_semaphore_counter_value(self.semaphore) } {
            Ok(value) => {
                self.advance_to(value);
                value
            }
            Err(e) => {
                let _ = self.core.failed("vkGetSemaphoreCounterValue", e);
                self.done.load(Ordering::Acquire)
            }
        }
    }

    /// Polls the semaphore until it has `value` (true) or `most` has passed (false).
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

    /// Blocks until `value` is reached (true) or `timeout` has passed (false).
    pub fn block(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        let end = timeout.map(|t| Instant::now() + t);
        loop {
            self.core.check_alive()?;
            let signalled = self.signal(value).is_ok();
            let needed = self.signal_of(value);
            // If the next signal is for a later number, or if signalling fails, the word is polled too.
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
                    self.advance_to(needed);
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
        if value > self.last_submitted.load(Ordering::Acquire) {
            // On a lost device, waits end at once.
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
        if value <= self.last_submitted.load(Ordering::Acquire) {
            return Ok(());
        }
        // A dropped queue has submitted everything, or is about to.
        match self.queue.get().and_then(Weak::upgrade) {
            Some(queue) => queue.submit_open(),
            None => Ok(()),
        }
    }

    fn signal(&self, value: u64) -> Result<()> {
        if self.is_signalled(value) {
            return Ok(());
        }
        // A dropped queue has signalled everything, or is about to.
        self.queue.get().and_then(Weak::upgrade).map_or(Ok(()), |queue| queue.signal_submitted())
    }

    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        self.waited.store(true, Ordering::Relaxed);
        self.core.submit_gathered(timeout != Some(Duration::ZERO));
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
        if self.core.is_hardware && self.spin(value, begin, timeout.map_or(SLEEP, |t| t.min(SLEEP))) {
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
        // The semaphore is unused: the queue waited for its last batch before it released the timeline, and batches that wait for
        // the semaphore keep the timeline alive.
        self.core.retire(self.semaphore, *self.last_submitted.get_mut() > 0);
    }
}
