//! Recording and submitting work.
//!
//! A queue adds commands to an open batch (command buffers, see [`super::recording`]). One that conflicts with an earlier one of the
//! same queue gets one memory barrier before it, unless a barrier already lies between; one that conflicts with another
//! queue's makes the batch wait for that queue's semaphore, once that work is submitted. The batch is submitted when the
//! device is idle, when it has grown, or when someone waits.

#![allow(unsafe_code)]

use super::batch::{Batch, Command};
use super::core::Core;
use super::recording::Recording;
use super::timeline::{Names, Submitter, VulkanTimeline};
use crate::config;
use crate::device::Buffer;
use crate::device::hazard::{Detour, Point, Segments, Timeline};
use crate::error::{Error, Result};
use crate::host::Workers;
use crate::kernel::Access;
use crate::lock::{Mutex, MutexGuard, rank};
use ash::vk;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// While the device has more than one batch ahead, a batch gathers so many commands.
const GATHERED: u32 = 128;
/// Commands that follow the last submission within this time, or the last command within the other, belong to a burst, which
/// is gathered even while the device is idle: a submission costs as much as many commands.
const BURST: Duration = Duration::from_micros(50);
const STREAM: Duration = Duration::from_micros(5);
/// A burst's command buffers end after so many commands of it, after each further of the last number, and where the burst
/// before ended. What counts is the place in the burst and not how far the device is, so that the bursts of a loop are cut
/// alike and find their command buffers again. To begin one costs the device as much as a dependent launch; of a long one more
/// is recorded late when a burst ends amid it.
const CUTS: [u64; 4] = [8, 16, 32, 64];
/// A launch that no free recording begins with gets a new one while there are fewer than this.
const KEPT: usize = 64;
/// Free recordings beyond this are given back.
const MOST_FREE: usize = 128;
/// Where a word tells that a batch is done, only one of so many signals the semaphore.
const SIGNAL_EVERY: u64 = 16;
/// How long a signal may take when the work before it is done.
const SIGNAL_TIME: Duration = Duration::from_millis(2);

/// Which hardware queue a queue submits to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The compute queue with this index.
    Compute(usize),
    /// The transfer queue with this index.
    Transfer(usize),
}

/// A buffer use of a command.
pub(super) struct BufferUse<'a> {
    /// The buffer.
    pub buffer: &'a Arc<dyn Buffer>,
    /// Its bytes.
    pub range: Range<u64>,
    /// How.
    pub access: Access,
    /// A copy writes it: what was lost of it does not matter.
    pub renewed: bool,
}

/// The state behind a queue's lock.
struct QueueState {
    open: Option<Box<Batch>>,
    flying: VecDeque<Box<Batch>>,
    /// Batches without recordings, for their lists' memory.
    spent: VecDeque<Box<Batch>>,
    /// Recordings that are not in use, the one used last at the end. Who repeats a burst finds them in the order of the last time.
    free: VecDeque<Box<Recording>>,
    /// One that is already open: made while the device works.
    ready: Option<Box<Recording>>,
    /// Made when first used.
    host_barrier: Option<Recording>,
    /// What the last batch that waited for other queues waited for: timelines and values.
    needs: SmallVec<[(u64, u64); 4]>,
    /// When the last batch was submitted, and the last command was recorded.
    submitted: Option<Instant>,
    last: Option<Instant>,
    /// Number of the open or next batch.
    value: u64,
    /// Commands recorded so far.
    sequence: u64,
    /// Sequence number of the first command after the last barrier.
    barrier: u64,
    /// Commands since someone waited, at which of them the command buffer ends, and how many there were the last time.
    burst: u64,
    cut: u64,
    usual: u64,
}

/// A queue of a Vulkan device: what an accelerator_view or a copy lane submits to.
pub(super) struct VulkanQueue {
    /// The device.
    pub core: Arc<Core>,
    lane: Lane,
    immediate: bool,
    own: Arc<VulkanTimeline>,
    timeline: Arc<dyn Timeline>,
    state: Mutex<QueueState, { rank::QUEUE }>,
}

impl VulkanQueue {
    /// A new queue on `lane`.
    pub fn new(core: &Arc<Core>, lane: Lane, immediate: bool) -> Result<Arc<Self>> {
        let with_word = core.spins && matches!(lane, Lane::Transfer(_)) || config::get().test.words;
        let own = VulkanTimeline::new(core, with_word)?;
        let queue = Arc::new(Self {
            core: core.clone(),
            lane,
            immediate,
            timeline: own.clone(),
            own,
            state: Mutex::new(QueueState::new()),
        });
        // Set once, here.
        let queue_of: Weak<VulkanQueue> = Arc::downgrade(&queue);
        let _ = queue.own.queue.set(queue_of);
        Ok(queue)
    }

    /// The queue's timeline.
    pub fn timeline(&self) -> &Arc<dyn Timeline> {
        &self.timeline
    }

    /// True if compute shaders run here.
    pub fn computes(&self) -> bool {
        matches!(self.lane, Lane::Compute(_))
    }

    /// Records one command behind everything its uses conflict with.
    pub fn record(&self, uses: &[BufferUse<'_>], mut work: Command<'_>) -> Result<Point> {
        let mut order: SmallVec<[(u64, &BufferUse<'_>); 16]> = uses.iter().map(|u| (u.buffer.id(), u)).collect();
        // Mostly they are in order.
        if !order.is_sorted_by_key(|(id, _)| *id) {
            order.sort_unstable_by_key(|(id, _)| *id);
        }
        loop {
            self.core.check_alive()?;
            let mut state = self.state.lock();
            if self.own.waited.load(Ordering::Relaxed) && self.own.waited.swap(false, Ordering::Relaxed) {
                state.end_burst();
            }
            let now = Instant::now();
            let since = |t: Option<Instant>| t.map_or(Duration::MAX, |t| now.duration_since(t));
            let is_burst = since(state.last) <= STREAM || since(state.submitted) <= BURST;
            // All trackers are locked together and in one order, so that two queues cannot order two buffers
            // differently.
            let mut trackers: SmallVec<[(u64, MutexGuard<'_, Segments>); 16]> = SmallVec::new();
            let (mut barrier, mut chained) = (false, false);
            let mut waits: SmallVec<[Point; 4]> = SmallVec::new();
            let mut elsewhere: SmallVec<[Point; 4]> = SmallVec::new();
            let own = self.own.id();
            for &(id, u) in &order {
                if trackers.last().is_none_or(|(last, _)| *last != id) {
                    trackers.push((id, u.buffer.tracker().lock_as(id)));
                }
                let Some((_, segments)) = trackers.last_mut() else { continue };
                segments.conflicts_of(own, &u.range, u.access, |p| {
                    if p.timeline.id() == own {
                        barrier |= p.sequence >= state.barrier;
                        chained |= p.value == state.value;
                    } else if p.timeline.device() == Some(self.core.id) && p.timeline.is_signalled(p.value) {
                        waits.push(p.clone());
                    } else {
                        elsewhere.push(p.clone());
                    }
                });
                // A kernel that only writes may leave some of it as it was.
                if !u.renewed {
                    segments.check(&u.range)?;
                }
            }
            if !elsewhere.is_empty() {
                // Not yet signalled, or not of this device: see to it without our locks, then look again.
                drop(trackers);
                drop(state);
                self.await_others(elsewhere)?;
                continue;
            }
            let sequence = state.sequence;
            let number = state.value;
            let ahead = || number - 1 - self.own.poll(number - 1);
            let alone = self.immediate || !is_burst && ahead() == 0;
            let recording = self.recording(&mut state, barrier, &work, alone)?;
            // If it fails, what was recorded before stays; nothing of this command was.
            let recorded = match &mut work {
                Command::Dispatch(launch) => recording.launch(&self.core, barrier, launch)?,
                Command::Other(write) => recording.add(&self.core, barrier, *write).map(|()| true)?,
            };
            let QueueState { open, barrier: last_barrier, .. } = &mut *state;
            let batch = open.as_mut().ok_or_else(|| Error::internal("a queue without an open batch"))?;
            if barrier {
                *last_barrier = sequence;
            }
            for p in &waits {
                batch.wait_for(p);
            }
            batch.keep(sequence, &work);
            batch.count += 1;
            let count = batch.count;
            let point = Point { timeline: self.timeline.clone(), value: number, sequence };
            let mut at = 0;
            let locked = trackers.as_mut_slice();
            for &(id, u) in &order {
                batch.for_host |= u.access.writes() && u.buffer.host().is_some();
                at += usize::from(locked[at].0 != id);
                let segments = &mut locked[at].1;
                // A batch keeps each of its buffers.
                if segments.kept != (own, number) {
                    segments.kept = (own, number);
                    batch.buffers.push(u.buffer.clone());
                }
                segments.record(&u.range, u.access, &point);
            }
            drop(trackers);
            state.sequence += 1;
            state.burst += 1;
            // The time that recording takes is not the program's.
            state.last = Some(if recorded { Instant::now() } else { now });
            // The device should neither wait for more nor be told of each command.
            let submit = alone
                || state.burst >= state.cut
                    && match ahead() {
                        0 | 1 => true,
                        _ => count >= GATHERED,
                    };
            if submit {
                // Unless it follows others of the batch, what it was to write is as it was.
                let told = if chained { sequence + 1 } else { sequence };
                self.submit(&mut state, told)?;
            }
            return Ok(point);
        }
    }

    /// Sees to it that this queue can wait for points, or that they are reached.
    fn await_others(&self, points: SmallVec<[Point; 4]>) -> Result<()> {
        let here = |p: &Point| p.timeline.device() == Some(self.core.id);
        for p in points.iter().filter(|p| here(p)) {
            p.timeline.flush(p.value)?;
            if p.timeline.signal(p.value).is_err() || !p.timeline.is_signalled(p.value) {
                p.wait(None)?;
            }
        }
        if points.iter().any(|p| p.timeline.device().is_none()) {
            return Err(Detour::wait(points));
        }
        for p in points.iter().filter(|p| !here(p)) {
            let done = p.wait(None);
            // Of what was lost the next look tells.
            if !p.reached() {
                done?;
            }
        }
        Ok(())
    }

    /// The point at which everything recorded so far is done; all of it begins, and what finished work held is let go.
    pub fn marker(&self) -> Result<Point> {
        let mut state = self.state.lock();
        let value = if state.open.is_some() { state.value } else { state.value - 1 };
        let point = Point { timeline: self.timeline.clone(), value, sequence: state.sequence };
        state.end_burst();
        if state.open.is_some() {
            self.submit_all(&mut state)?;
        } else {
            self.reap(&mut state, usize::MAX);
        }
        Ok(point)
    }

    /// Lets go of what finished work held; true if there is no other.
    pub fn release_finished(&self) -> bool {
        let mut state = self.state.lock();
        self.reap(&mut state, usize::MAX);
        let Some(last) = state.flying.back().map(|b| b.value) else { return true };
        // The word has told of what only the semaphore can confirm.
        let asks = self.own.word.is_some() && self.own.reached(last) && self.core.lost().is_none();
        if asks && self.signal().is_ok() && self.own.watch_semaphore(last, SIGNAL_TIME) {
            self.reap(&mut state, usize::MAX);
        }
        state.flying.is_empty()
    }

    /// Where the next command goes; opens a batch if none is. `alone`: it will be submitted by itself.
    fn recording<'s>(
        &self,
        state: &'s mut QueueState,
        barrier: bool,
        work: &Command<'_>,
        alone: bool,
    ) -> Result<&'s mut Recording> {
        if state.open.is_none() {
            let mut batch = state.spent.pop_back().unwrap_or_default();
            batch.value = state.value;
            state.open = Some(batch);
        }
        let block = match work {
            Command::Dispatch(launch) => launch.block.map_or(0, |(_, block)| block.bytes.len() as u64),
            Command::Other(_) => 0,
        };
        let more = state.burst < state.cut;
        let last = state.open.as_mut().and_then(|b| b.recordings.last_mut());
        let goes_on = last.is_some_and(|r| r.goes_on(more, block));
        if !goes_on || !more {
            let expected = if alone { 1 } else { until_cut(state.burst, state.usual) };
            state.cut = state.burst + expected.min(Recording::most_launches(block));
        }
        if !goes_on {
            let next = self.choose(state, barrier, work)?;
            if let Some(batch) = &mut state.open {
                batch.recordings.push(next);
            }
        }
        let last = state.open.as_mut().and_then(|b| b.recordings.last_mut());
        last.map(|r| &mut **r).ok_or_else(|| Error::internal("a queue without an open batch"))
    }

    /// A recording for commands that begin with this one: it ends where the burst will be cut.
    fn choose(&self, state: &mut QueueState, barrier: bool, work: &Command<'_>) -> Result<Box<Recording>> {
        if let Command::Dispatch(launch) = work {
            let expected = (state.cut - state.burst) as usize;
            let fits = |r: &Recording| r.launches() == expected && r.begins(&self.core, barrier, launch);
            let find = |state: &QueueState| state.free.iter().position(|r| fits(r));
            let mut found = find(state);
            if found.is_none() && !state.flying.is_empty() {
                self.reap(state, usize::MAX);
                found = find(state);
            }
            if let Some(found) = found.and_then(|n| state.free.remove(n)) {
                return Ok(found);
            }
        }
        match state.ready.take() {
            Some(ready) => Ok(ready),
            None => self.blank(state),
        }
    }

    /// A recording that holds nothing.
    fn blank(&self, state: &mut QueueState) -> Result<Box<Recording>> {
        let blank = match state.free.iter().rposition(|r| r.is_blank()) {
            Some(n) => state.free.remove(n),
            None if state.free.len() >= KEPT => state.free.pop_front(),
            None => None,
        };
        let Some(mut blank) = blank else { return Recording::new(&self.core, self.family()).map(Box::new) };
        if !blank.is_blank() {
            if let Err(e) = blank.clear(&self.core) {
                blank.destroy(&self.core);
                return Err(e);
            }
        }
        Ok(blank)
    }

    /// Opens a recording for the next batch. A failure here is the next caller's.
    fn prepare(&self, state: &mut QueueState) {
        if state.ready.is_some() {
            return;
        }
        state.ready = self.blank(state).ok().and_then(|mut blank| match blank.open(&self.core) {
            Ok(()) => Some(blank),
            Err(_) => {
                blank.destroy(&self.core);
                None
            }
        });
    }

    fn family(&self) -> u32 {
        match (self.lane, self.core.transfer_family) {
            (Lane::Transfer(_), Some(family)) => family,
            _ => self.core.compute_family,
        }
    }

    /// Lets go of what finished batches held, at most so many; their recordings are free again.
    fn reap(&self, state: &mut QueueState, most: usize) {
        let Some(first) = state.flying.front() else { return };
        // The semaphore, not the word: only it says that the command buffer may be reset.
        let done = match self.own.known() {
            Some(known) if known >= first.value => known,
            _ => self.own.poll_semaphore(),
        };
        for _ in 0..most {
            if state.flying.front().is_none_or(|b| b.value > done) {
                break;
            }
            let Some(mut batch) = state.flying.pop_front() else { break };
            for mut recording in batch.recordings.drain(..) {
                if let Err(e) = recording.release(&self.core) {
                    crate::log!(Info, "{e}");
                    recording.destroy(&self.core);
                } else {
                    state.free.push_back(recording);
                }
            }
            batch.clear();
            state.spent.push_back(batch);
        }
        while state.free.len() > MOST_FREE {
            let Some(mut oldest) = state.free.pop_front() else { break };
            oldest.destroy(&self.core);
        }
        state.spent.truncate(MOST_FREE);
    }

    /// Submits the open batch, if there is one, for somebody whom its commands may not concern: fails only if the device is
    /// lost. The state is locked.
    fn submit_all(&self, state: &mut QueueState) -> Result<()> {
        self.submit(state, u64::MAX).or_else(|_| self.core.check_alive())
    }

    /// Submits the open batch, if there is one. If that fails its commands before the sequence number `told` are lost; the
    /// caller tells of the others. The state is locked.
    fn submit(&self, state: &mut QueueState, told: u64) -> Result<()> {
        let Some(mut batch) = state.open.take() else { return Ok(()) };
        state.value = batch.value + 1;
        match self.hand_over(&mut batch, state) {
            Ok(()) => {
                state.flying.push_back(batch);
                state.submitted = Some(Instant::now());
                // In the shadow of the device's work, which is short for a small copy. A signal tells of many batches.
                self.reap(state, if self.own.word.is_some() { 2 } else { usize::MAX });
                self.prepare(state);
                Ok(())
            }
            Err(e) => {
                // Command that was recorded is lost with it: without a device nothing else fails here than memory. Its number is
                // to be reached all the same, since others wait for it.
                let first = state.sequence - u64::from(batch.count);
                self.own.lose(batch.value, first..state.sequence.min(told).max(first), batch.names(), e.clone());
                batch.destroy(&self.core);
                if self.core.lost().is_none() {
                    match self.hand_over(&mut batch, state) {
                        Ok(()) => state.flying.push_back(batch),
                        Err(_) => drop(self.core.failed("vkQueueSubmit", vk::Result::ERROR_DEVICE_LOST)),
                    }
                }
                Err(e)
            }
        }
    }

    fn hand_over(&self, batch: &mut Batch, state: &mut QueueState) -> Result<()> {
        self.core.count_submission()?;
        let mut commands: SmallVec<[vk::CommandBuffer; 16]> = SmallVec::new();
        if let (Some(word), Some(last)) = (&self.own.word, batch.recordings.last_mut()) {
            last.write_word(&self.core, word.raw, batch.value as u32)?;
        }
        for recording in &mut batch.recordings {
            commands.push(recording.end(&self.core)?);
        }
        if batch.for_host && self.own.word.is_none() {
            let barrier = match &mut state.host_barrier {
                Some(made) => made,
                none => none.insert(Recording::host_barrier(&self.core, self.family())?),
            };
            commands.push(barrier.end(&self.core)?);
        }
        let (waits, wait_values): (SmallVec<[_; 4]>, SmallVec<[_; 4]>) =
            batch.waits.iter().map(|(t, v)| (t.semaphore, *v)).unzip();
        let (signalled, handed) = (self.own.signalled(), self.own.handed.load(Ordering::Relaxed));
        // Without a recording nothing writes the word.
        let signals = self.own.word.is_none() || commands.is_empty() || batch.value >= signalled + SIGNAL_EVERY;
        // What other queues delay is not to delay who waits for what came before.
        let needs: SmallVec<[_; 4]> = batch.waits.iter().map(|(t, v)| (t.id(), *v)).collect();
        let delayed = !needs.is_empty() && needs != state.needs;
        if delayed {
            state.needs = needs;
        }
        let before = (delayed && handed > signalled).then_some(handed);
        let after = signals.then_some(batch.value);
        self.queue_submit(before, (&waits, &wait_values), &commands, after)?;
        self.own.handed.store(batch.value, Ordering::Release);
        Ok(())
    }

    /// Lets the semaphore tell of all that was handed over. The state is locked.
    fn signal(&self) -> Result<()> {
        let handed = self.own.handed.load(Ordering::Acquire);
        if self.own.signalled() >= handed {
            return Ok(());
        }
        self.core.count_submission()?;
        self.queue_submit(None, (&[], &[]), &[], Some(handed))
    }

    /// `vkQueueSubmit`: lets the queue's semaphore have `before`, waits for semaphores and their values, runs commands, and lets
    /// it have `after`.
    fn queue_submit(
        &self,
        before: Option<u64>,
        (waits, wait_values): (&[vk::Semaphore], &[u64]),
        commands: &[vk::CommandBuffer],
        after: Option<u64>,
    ) -> Result<()> {
        let own = [self.own.semaphore];
        let (first, last) = ([before.unwrap_or(0)], [after.unwrap_or(0)]);
        let signals = |value: Option<u64>| &own[..usize::from(value.is_some())];
        let stages: SmallVec<[_; 4]> = waits.iter().map(|_| vk::PipelineStageFlags::ALL_COMMANDS).collect();
        let mut before_it = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&first);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(wait_values)
            .signal_semaphore_values(&last[..signals(after).len()]);
        let infos = [
            vk::SubmitInfo::default().signal_semaphores(signals(before)).push_next(&mut before_it),
            vk::SubmitInfo::default()
                .wait_semaphores(waits)
                .wait_dst_stage_mask(&stages)
                .command_buffers(commands)
                .signal_semaphores(signals(after))
                .push_next(&mut timeline),
        ];
        let infos = &infos[usize::from(before.is_none())..];
        let queue = match self.lane {
            Lane::Compute(i) => self.core.compute[i],
            Lane::Transfer(i) => self.core.transfer[i],
        };
        let submitting = self.core.submitting();
        // SAFETY: nobody else submits; every handle is alive and held by the batch until its number is reached; the
        // semaphores waited for have been signalled or submitted.
        let done = unsafe { self.core.raw.queue_submit(queue, infos, vk::Fence::null()) };
        drop(submitting);
        done.map_err(|e| self.core.failed("vkQueueSubmit", e))?;
        for value in before.into_iter().chain(after) {
            self.own.will_signal(value);
        }
        Ok(())
    }
}

impl Submitter for VulkanQueue {
    /// What the commands of a batch under way are.
    fn names(&self, value: u64) -> Option<Names> {
        // Whoever holds the state is at work with a lost device and needs no names.
        let state = self.state.try_lock()?;
        let batch = state.flying.iter().chain(&state.open).find(|b| b.value == value)?;
        Some(batch.names())
    }

    /// Submits the open batch, if there is one.
    fn submit_open(&self) -> Result<()> {
        let mut state = self.state.lock();
        state.end_burst();
        self.submit_all(&mut state)
    }

    /// Lets the semaphore tell of all that was handed over.
    fn signal_handed(&self) -> Result<()> {
        let _state = self.state.lock();
        self.signal()
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        // Recorded work still runs; what cannot be submitted is lost with the device.
        let mut state = std::mem::replace(self.state.get_mut(), QueueState::new());
        if let Err(e) = self.submit(&mut state, u64::MAX) {
            crate::log!(Error, "the last work of an accelerator_view was lost: {e}");
        }
        if self.signal().or_else(|_| self.signal()).is_err() && self.core.lost().is_none() {
            // Nobody else could signal what others wait for.
            drop(self.core.failed("vkQueueSubmit", vk::Result::ERROR_DEVICE_LOST));
        }
        let (core, own) = (self.core.clone(), self.own.clone());
        let last = own.handed.load(Ordering::Acquire);
        let idle = state.flying.is_empty() || own.reached(last) && own.watch_semaphore(last, SIGNAL_TIME);
        let mut finish = move || {
            // On a lost device the wait ends at once, and destroying is allowed.
            if let Err(e) = own.block(last, None) {
                crate::log!(Info, "{e}");
                core.wait_idle();
            }
            state.flying.iter_mut().for_each(|batch| batch.destroy(&core));
            state.free.iter_mut().chain(&mut state.ready).for_each(|recording| recording.destroy(&core));
            state.host_barrier.iter_mut().for_each(|recording| recording.destroy(&core));
        };
        if idle { finish() } else { Workers::shared().tasks.spawn(finish) }
    }
}

impl QueueState {
    fn new() -> Self {
        Self {
            open: None,
            flying: VecDeque::new(),
            spent: VecDeque::new(),
            free: VecDeque::new(),
            ready: None,
            host_barrier: None,
            needs: SmallVec::new(),
            submitted: None,
            last: None,
            value: 1,
            sequence: 0,
            barrier: 0,
            burst: 0,
            cut: 0,
            usual: 0,
        }
    }

    /// What comes next begins a new burst.
    fn end_burst(&mut self) {
        if self.burst > 0 {
            (self.usual, self.burst, self.cut) = (self.burst, 0, 0);
        }
    }
}

/// Commands of a burst from after the first `burst` to where it is cut next. The burst before had `usual`.
fn until_cut(burst: u64, usual: u64) -> u64 {
    let [.., last] = CUTS;
    let cut = CUTS.into_iter().find(|&cut| burst < cut).unwrap_or((burst / last + 1) * last);
    let cut = if burst < usual { cut.min(usual) } else { cut };
    cut - burst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_cut_at_the_same_places() {
        let cuts = |usual| {
            let mut at = 0;
            std::iter::from_fn(move || {
                at += until_cut(at, usual);
                Some(at)
            })
        };
        assert_eq!(cuts(0).take(7).collect::<Vec<_>>(), [8, 16, 32, 64, 128, 192, 256]);
        assert_eq!(cuts(1).take(3).collect::<Vec<_>>(), [1, 8, 16]);
        assert_eq!(cuts(100).take(7).collect::<Vec<_>>(), [8, 16, 32, 64, 100, 128, 192]);
    }
}
