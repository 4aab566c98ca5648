//! The queue of a Vulkan device: records commands into batches, with barriers and waits, and submits them.
//!
//! A queue adds commands to an open batch of command buffers (see [`super::recording`]). A command that conflicts with an earlier
//! command of the same queue gets a memory barrier, unless a barrier is already between them. If a command conflicts with work
//! of another queue, that work is submitted first, and the batch waits for that queue's semaphore. The batch is submitted when
//! the device is idle, when the batch has grown, or when a thread waits.

#![allow(unsafe_code)]

use super::batch::{Batch, Command};
use super::burst::{Burst, BurstPosition};
use super::core::{Core, Gathers};
use super::free_recordings::{FreeRecordings, MAX_FREE};
use super::image::VulkanImage;
use super::losses::Names;
use super::overruns::EarlierCommands;
use super::recording::Recording;
use super::submission::{self, Submission};
use super::timeline::{Submitter, VulkanTimeline};
use super::timer::LaunchTimer;
use crate::config;
use crate::device::Buffer;
use crate::device::hazard::{Detour, Point, Segments, Timeline, any_lost};
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

/// The number of commands that a batch gathers while the device has more than one batch queued.
const GATHERED: u32 = 128;
/// If a queue has a completion word, only one batch in this many signals the semaphore.
const SIGNAL_EVERY: u64 = 16;
/// The maximum time to wait for the signal of work that is already done.
const SIGNAL_TIME: Duration = Duration::from_millis(2);

/// The hardware queue to which a queue submits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The compute queue with this index.
    Compute(usize),
    /// The transfer queue with this index.
    Transfer(usize),
}

impl Lane {
    /// The family of the queue.
    fn family(self, core: &Core) -> u32 {
        match (self, core.transfer_family) {
            (Self::Transfer(_), Some(family)) => family,
            _ => core.compute_family,
        }
    }
}

/// A use of a buffer by a command.
pub(super) struct BufferUse<'a> {
    /// The buffer.
    pub buffer: &'a Arc<dyn Buffer>,
    /// The bytes that are used.
    pub range: Range<u64>,
    pub access: Access,
    /// True if a copy overwrites all these bytes, so that earlier losses do not matter.
    pub overwritten: bool,
}

/// The uses of a command, sorted by the ids of their buffers.
type Order<'a> = SmallVec<[(u64, &'a BufferUse<'a>); 16]>;

/// The conflicts of a command. Filled in place, because it is large.
#[derive(Default)]
struct Conflicts<'a> {
    /// The locked trackers of its buffers.
    trackers: SmallVec<[(u64, MutexGuard<'a, Segments>); 16]>,
    /// True if the command needs a barrier: it conflicts with an earlier command of this queue, with no barrier in between.
    barrier: bool,
    /// True if the command conflicts with a command in the open batch.
    chained: bool,
    /// Work of other queues of the device for which the batch must wait.
    waits: SmallVec<[Point; 4]>,
    /// Work for which the thread must wait before it records the command, with no lock held.
    host_waits: SmallVec<[Point; 4]>,
    /// On a driver that may stop loops, the earlier commands whose results this command may use.
    after: EarlierCommands,
}

/// The state behind a queue's lock.
struct QueueState {
    open: Option<Box<Batch>>,
    in_flight: VecDeque<Box<Batch>>,
    /// Empty batches, kept to reuse the memory of their lists.
    spent: VecDeque<Box<Batch>>,
    /// Recordings that are not in use.
    free: FreeRecordings,
    /// A recording with nothing but a barrier for host reads; created at the first use.
    host_barrier: Option<Recording>,
    /// The timelines and values that the last batch with waits waited for.
    wait_points: SmallVec<[(u64, u64); 4]>,
    /// The number of the open or next batch.
    value: u64,
    /// The number of commands recorded so far.
    sequence: u64,
    /// Sequence number of the first command after the last barrier.
    barrier: u64,
    /// Sequence number of the last timed launch.
    timed: Option<u64>,
    /// The current burst.
    burst: Burst,
}

/// A queue of a Vulkan device, for an accelerator_view or a copy lane.
pub(super) struct VulkanQueue {
    /// The device.
    pub core: Arc<Core>,
    lane: Lane,
    /// True if each command is submitted at once.
    immediate: bool,
    /// The queue's timeline.
    own: Arc<VulkanTimeline>,
    /// The same timeline as a trait object.
    timeline: Arc<dyn Timeline>,
    state: Mutex<QueueState, { rank::QUEUE }>,
}

impl VulkanQueue {
    /// A new queue on `lane`.
    pub fn new(core: &Arc<Core>, lane: Lane, immediate: bool) -> Result<Arc<Self>> {
        let with_word = core.is_hardware && matches!(lane, Lane::Transfer(_)) || config::get().test.words;
        let own = VulkanTimeline::new(core, with_word)?;
        let queue = Arc::new(Self {
            core: core.clone(),
            lane,
            immediate,
            timeline: own.clone(),
            own,
            state: Mutex::new(QueueState::new(lane.family(core))),
        });
        // `set` cannot fail, because `own.queue` is set nowhere else.
        let queue_of: Weak<VulkanQueue> = Arc::downgrade(&queue);
        let _ = queue.own.queue.set(queue_of.clone());
        if !immediate {
            core.add_gatherer(queue_of);
        }
        Ok(queue)
    }

    /// The queue's timeline.
    pub fn timeline(&self) -> &Arc<dyn Timeline> {
        &self.timeline
    }

    /// A timer for a command of this queue. Fails if the queue has no timestamps.
    pub fn timer(&self) -> Result<Arc<LaunchTimer>> {
        LaunchTimer::new(&self.core, self.timestamp_bits())
    }

    /// The valid bits of the queue's timestamps; 0 if the queue has none.
    pub fn timestamp_bits(&self) -> u32 {
        let limits = &self.core.physical.limits;
        if self.computes() { limits.timestamp_bits } else { limits.transfer_timestamp_bits }
    }

    /// True if compute shaders can run on the queue.
    pub fn computes(&self) -> bool {
        matches!(self.lane, Lane::Compute(_))
    }

    /// Records a command, ordered after all work that conflicts with its uses.
    #[inline(always)]
    pub fn record(&self, uses: &[BufferUse<'_>], work: Command<'_>) -> Result<Point> {
        self.record_after(uses, work, true)
    }

    /// Records the layout transition of an image, if it was not done before.
    pub fn prepare(&self, buffer: &Arc<dyn Buffer>, image: &VulkanImage) -> Result<()> {
        // Several threads may get here at the same time. The lock is held until the transition is noted, so that only
        // one of them records it.
        let _preparing = image.preparing.lock();
        if image.is_prepared() {
            return Ok(());
        }
        let all = BufferUse { buffer, range: 0..buffer.size(), access: Access::Write, overwritten: true };
        let mut prepare = |commands| image.prepare(commands);
        let point = self.record_after(&[all], Command::Other(&mut prepare, None), false)?;
        image.prepared_by(point);
        Ok(())
    }

    /// The first image among the uses whose layout transition was lost.
    #[cold]
    fn unprepared<'a>(order: &Order<'a>) -> Option<&'a Arc<dyn Buffer>> {
        let is_unprepared =
            |buffer: &Arc<dyn Buffer>| VulkanImage::of(buffer).is_some_and(|image| !image.is_prepared());
        order.iter().map(|(_, u)| u.buffer).find(|buffer| is_unprepared(buffer))
    }

    /// Like [`Self::record`]. If `prepares` is true, also repeats layout transitions that were lost.
    fn record_after(&self, uses: &[BufferUse<'_>], mut work: Command<'_>, prepares: bool) -> Result<Point> {
        let mut order: Order<'_> = uses.iter().map(|u| (u.buffer.id(), u)).collect();
        // The uses are usually sorted already.
        if !order.is_sorted_by_key(|(id, _)| *id) {
            order.sort_unstable_by_key(|(id, _)| *id);
        }
        loop {
            self.core.check_alive()?;
            let mut state = self.state.lock();
            if self.own.waited.load(Ordering::Relaxed) && self.own.waited.swap(false, Ordering::Relaxed) {
                state.burst.end();
            }
            let now = Instant::now();
            let in_burst = state.burst.goes_on(now);
            let mut conflicts = Conflicts::default();
            self.find_conflicts(&state, &order, &mut conflicts)?;
            let waits_of_uses = conflicts.waits.len();
            if !work.after().is_empty() {
                self.order_after(&state, work.after(), &mut conflicts)?;
            }
            if !conflicts.host_waits.is_empty() {
                // Some points are not signalled yet, or belong to another device. Waits for these points with no lock held, then starts over.
                let host_waits = std::mem::take(&mut conflicts.host_waits);
                drop(conflicts);
                drop(state);
                self.wait_for_points(host_waits)?;
                continue;
            }
            if let Some(buffer) = if prepares && any_lost() { Self::unprepared(&order) } else { None } {
                drop(conflicts);
                drop(state);
                if let Some(image) = VulkanImage::of(buffer) {
                    self.prepare(buffer, image)?;
                }
                continue;
            }
            // Submits the open batch before this command joins it. Otherwise the batch's commands would wait for points that only this
            // command must wait for.
            let waits = |batch: &Batch| conflicts.waits[waits_of_uses..].iter().all(|p| batch.waits_for(p));
            let has_more = conflicts.waits.len() > waits_of_uses;
            if has_more && state.open.as_ref().is_some_and(|batch| batch.count > 0 && !waits(batch)) {
                drop(conflicts);
                self.submit_all(&mut state)?;
                continue;
            }
            // No other command runs at the same time as a timed launch.
            conflicts.barrier |= state.timed.is_some_and(|timed| timed >= state.barrier);
            let (barrier, number) = (conflicts.barrier, state.value);
            let unfinished_batches = || number - 1 - self.own.poll(number - 1);
            let alone = self.immediate || !in_burst && unfinished_batches() == 0;
            let recording = self.recording(&mut state, barrier, &work, alone)?;
            // If this fails, earlier commands stay recorded, and nothing of this command is recorded.
            let recorded = match &mut work {
                Command::Dispatch(launch) => recording.launch(&self.own, barrier, launch)?,
                Command::Timed(launch, timer) => recording.timed(&self.own, launch, timer).map(|()| true)?,
                Command::Foreign { .. } => recording.add(&self.core, barrier, None, &mut |_| {}).map(|()| true)?,
                Command::Other(write, timer) => recording.add(&self.core, barrier, *timer, *write).map(|()| true)?,
            };
            let (point, count) = self.note(&mut state, &order, &mut conflicts, &work)?;
            let chained = conflicts.chained;
            drop(conflicts);
            // The time since the last command must not include the time for recording.
            state.burst.add(if recorded { Instant::now() } else { now });
            // Keeps the device busy without submitting each command separately.
            let submit = alone
                || state.burst.is_cut()
                    && match unfinished_batches() {
                        0 | 1 => true,
                        _ => count >= GATHERED,
                    };
            if submit {
                // If the submission fails, the caller reports the error for this command. The command's destination is unchanged, so the
                // command counts as lost only if it depends on another command of the batch.
                let lost_below = if chained { point.sequence + 1 } else { point.sequence };
                self.submit(&mut state, lost_below)?;
            }
            return Ok(point);
        }
    }

    /// Locks the trackers of the buffers and finds the conflicts of the uses. All trackers are locked at the same time, sorted by
    /// buffer id, so that two queues cannot order their uses of two buffers differently.
    fn find_conflicts<'a>(&self, state: &QueueState, order: &Order<'a>, found: &mut Conflicts<'a>) -> Result<()> {
        let watched = self.core.overruns.is_active();
        let Conflicts { trackers, barrier, chained, waits, host_waits, after } = found;
        for &(id, u) in order {
            if trackers.last().is_none_or(|(last, _)| *last != id) {
                trackers.push((id, u.buffer.tracker().lock_as(id)));
            }
            let Some((_, segments)) = trackers.last_mut() else { continue };
            segments.conflicts_of(&self.timeline, &u.range, u.access, |p| {
                if watched && !u.overwritten {
                    after.add((p.timeline.id(), p.sequence));
                }
                if p.is_on(&self.timeline) {
                    *barrier |= p.sequence >= state.barrier;
                    *chained |= p.value == state.value;
                } else if p.timeline.device() == Some(self.core.id) && p.timeline.is_signalled(p.value) {
                    waits.push(p.clone());
                } else {
                    host_waits.push(p.clone());
                }
            });
            // A kernel that only writes may skip elements, so lost bytes are an error for it too.
            if !u.overwritten {
                segments.check(&u.range)?;
            }
        }
        Ok(())
    }

    /// Orders a command after these points, even without conflicting uses.
    #[cold]
    fn order_after(&self, state: &QueueState, after: &[Point], found: &mut Conflicts<'_>) -> Result<()> {
        for p in after {
            if let Some(reason) = if any_lost() { p.timeline.lost(p) } else { None } {
                return Err(reason);
            }
            let is_own = p.is_on(&self.timeline);
            if if is_own { p.timeline.seen(p.value) } else { p.reached() } {
                continue;
            }
            if self.core.overruns.is_active() {
                found.after.add((p.timeline.id(), p.sequence));
            }
            if is_own {
                found.barrier |= p.sequence >= state.barrier;
                found.chained |= p.value == state.value;
            } else if p.timeline.device() == Some(self.core.id) && p.timeline.is_signalled(p.value) {
                found.waits.push(p.clone());
            } else {
                found.host_waits.push(p.clone());
            }
        }
        Ok(())
    }

    /// Updates the state after a command was recorded: the batch's waits, the objects that the batch keeps alive, and the trackers.
    /// Returns the command's point and the number of commands in the batch.
    fn note(
        &self,
        state: &mut QueueState,
        order: &Order<'_>,
        conflicts: &mut Conflicts<'_>,
        work: &Command<'_>,
    ) -> Result<(Point, u32)> {
        let (own, number, sequence) = (self.own.id(), state.value, state.sequence);
        if conflicts.barrier {
            state.barrier = sequence;
        }
        if matches!(work, Command::Timed(..)) {
            state.timed = Some(sequence);
        }
        state.sequence += 1;
        let batch = state.open.as_mut().ok_or_else(|| Error::internal("a queue has no open batch"))?;
        for p in &conflicts.waits {
            batch.wait_for(p);
        }
        batch.keep(sequence, work);
        batch.count += 1;
        if let Some(first) = conflicts.after.first {
            batch.after.push((sequence, first));
            batch.after.extend(conflicts.after.more.iter().map(|&earlier| (sequence, earlier)));
        }
        let point = Point { timeline: self.timeline.clone(), value: number, sequence };
        let (mut at, locked) = (0, conflicts.trackers.as_mut_slice());
        for &(id, u) in order {
            batch.for_host = batch.for_host || u.access.writes() && u.buffer.host().is_some();
            at += usize::from(locked[at].0 != id);
            let segments = &mut locked[at].1;
            // A batch holds one reference to each of its buffers.
            if segments.kept != (own, number) {
                segments.kept = (own, number);
                batch.buffers.push(u.buffer.clone());
            }
            segments.record(&u.range, u.access, &point);
        }
        Ok((point, batch.count))
    }

    /// Makes sure for each point that the point is reached, or that this queue can wait for it.
    fn wait_for_points(&self, points: SmallVec<[Point; 4]>) -> Result<()> {
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
            // The next search for conflicts reports losses.
            if !p.reached() {
                done?;
            }
        }
        Ok(())
    }

    /// The point at which all work recorded so far is done. Submits this work, and releases the objects of finished work.
    pub fn marker(&self) -> Result<Point> {
        let mut state = self.state.lock();
        let value = state.last();
        // A marker is not a command and has no sequence number: if the next command is lost, the marker is not.
        let point = Point { timeline: self.timeline.clone(), value, sequence: u64::MAX };
        state.burst.end();
        if state.open.is_some() {
            self.submit_all(&mut state)?;
        } else {
            self.reap(&mut state, usize::MAX);
        }
        Ok(point)
    }

    /// True if the queue has work in batches after the batch with this value.
    pub fn has_later_work(&self, value: u64) -> bool {
        self.state.lock().last() > value
    }

    /// True if no work of this queue waits for other queues of the device, except for the queue with this timeline.
    pub fn waits_only_for(&self, timeline: Option<u64>) -> bool {
        let state = self.state.lock();
        let mut waits = state.in_flight.iter().rev().flat_map(|batch| &batch.waits);
        waits.all(|(waited, value)| Some(waited.id()) == timeline || waited.reached(*value))
    }

    /// Releases the objects of finished work; true if no work is left.
    pub fn release_finished(&self) -> bool {
        let mut state = self.state.lock();
        self.reap(&mut state, usize::MAX);
        let Some(last) = state.in_flight.back().map(|b| b.value) else { return true };
        // The completion word may be set before the semaphore is signalled.
        let needs_signal = self.own.word.is_some() && self.own.reached(last) && self.core.lost().is_none();
        if needs_signal && self.signal().is_ok() && self.own.watch_semaphore(last, SIGNAL_TIME) {
            self.reap(&mut state, usize::MAX);
        }
        state.in_flight.is_empty()
    }

    /// The recording for the next command. Opens a batch if none is open. `alone`: the command will be the only one in its batch.
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
            self.core.gathering.fetch_add(usize::from(!self.immediate), Ordering::Relaxed);
        }
        let block = match work {
            Command::Dispatch(launch) | Command::Timed(launch, _) => {
                launch.block.map_or(0, |(_, block)| block.bytes.len() as u64)
            }
            Command::Foreign { .. } | Command::Other(..) => 0,
        };
        let more = !state.burst.is_cut();
        let last = state.open.as_mut().and_then(|b| b.recordings.last_mut());
        let goes_on = last.is_some_and(|r| r.goes_on(&self.core, more, block));
        if !goes_on || !more {
            let mut length = state.burst.expected(alone, Recording::most_launches(&self.core, block));
            if !goes_on {
                let next = self.choose(state, barrier, work, state.burst.place(alone), length)?;
                if next.launches() > 0 {
                    length = next.launches() as u64;
                }
                if let Some(batch) = &mut state.open {
                    batch.recordings.push(next);
                }
            }
            state.burst.cut_after(length);
        }
        let last = state.open.as_mut().and_then(|b| b.recordings.last_mut());
        last.map(|r| &mut **r).ok_or_else(|| Error::internal("a queue has no open batch"))
    }

    /// A recording that begins with this command at `place`: if possible, one that recorded the same launches before.
    fn choose(
        &self,
        state: &mut QueueState,
        barrier: bool,
        work: &Command<'_>,
        place: BurstPosition,
        expected: u64,
    ) -> Result<Box<Recording>> {
        if let Command::Dispatch(launch) = work {
            let find = |state: &mut QueueState| state.free.take_known(place, expected as usize, barrier, launch);
            let mut found = find(state);
            if found.is_none() && !state.in_flight.is_empty() {
                self.reap(state, usize::MAX);
                found = find(state);
            }
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let mut new = state.free.take_new(&self.core)?;
        new.place = place;
        Ok(new)
    }

    /// Releases the objects of at most `most` finished batches; their recordings become free.
    fn reap(&self, state: &mut QueueState, most: usize) {
        let Some(first) = state.in_flight.front() else { return };
        // The semaphore, not the completion word, decides whether command buffers may be reset.
        let done = match self.own.known() {
            Some(known) if known >= first.value => known,
            _ => self.own.poll_semaphore(),
        };
        for _ in 0..most {
            if state.in_flight.front().is_none_or(|b| b.value > done) {
                break;
            }
            let Some(mut batch) = state.in_flight.pop_front() else { break };
            for recording in batch.recordings.drain(..) {
                state.free.give_back(&self.core, recording);
            }
            batch.clear();
            state.spent.push_back(batch);
        }
        state.free.trim(&self.core);
        state.spent.truncate(MAX_FREE);
    }

    /// Submits the open batch, if there is one. Fails only if the device is lost: other losses concern commands that the caller
    /// may not need. The caller has locked the state.
    fn submit_all(&self, state: &mut QueueState) -> Result<()> {
        self.submit(state, u64::MAX).or_else(|_| self.core.check_alive())
    }

    /// Submits the open batch, if there is one. If the submission fails, the batch's commands before the sequence number `lost_below`
    /// are lost, and the caller reports the error for the others. The caller has locked the state.
    fn submit(&self, state: &mut QueueState, lost_below: u64) -> Result<()> {
        let Some(mut batch) = state.open.take() else { return Ok(()) };
        self.core.gathering.fetch_sub(usize::from(!self.immediate), Ordering::Relaxed);
        state.value = batch.value + 1;
        match self.submit_batch(&mut batch, state) {
            Ok(()) => {
                state.in_flight.push_back(batch);
                state.burst.submitted(Instant::now());
                // Runs while the device works. On a queue with a completion word, one signal may finish many batches. Only two of them are
                // released here, because a small copy may be done soon.
                self.reap(state, if self.own.word.is_some() { 2 } else { usize::MAX });
                state.free.prepare(&self.core);
                Ok(())
            }
            Err(e) => {
                // The recorded commands are lost. Unless the device is lost, only an allocation has failed. The batch is then submitted
                // without its commands, because other threads may wait for the batch's number.
                let first = state.sequence - u64::from(batch.count);
                self.own.lose(batch.value, first..state.sequence.min(lost_below).max(first), batch.names(), e.clone());
                // The batch still signals these semaphores, because the program may wait for them.
                let signals = std::mem::take(&mut batch.foreign_signals);
                batch.destroy(&self.core);
                batch.foreign_signals = signals;
                if self.core.lost().is_none() {
                    match self.submit_batch(&mut batch, state) {
                        Ok(()) => state.in_flight.push_back(batch),
                        Err(_) => drop(self.core.mark_lost("vkQueueSubmit")),
                    }
                }
                Err(e)
            }
        }
    }

    fn submit_batch(&self, batch: &mut Batch, state: &mut QueueState) -> Result<()> {
        self.core.count_submission()?;
        let mut commands: SmallVec<[vk::CommandBuffer; 16]> = SmallVec::new();
        if let (Some(word), Some(last)) = (&self.own.word, batch.recordings.last_mut()) {
            last.write_word(&self.core, word.raw, batch.value as u32)?;
        }
        let mut first = state.sequence - u64::from(batch.count);
        for recording in &mut batch.recordings {
            commands.push(recording.end(&self.core)?);
            first += recording.set_batch(batch.value, first);
        }
        if batch.for_host && self.own.word.is_none() {
            let barrier = match &mut state.host_barrier {
                Some(made) => made,
                none => none.insert(Recording::host_barrier(&self.core, state.free.pool(&self.core)?)?),
            };
            commands.push(barrier.end(&self.core)?);
        }
        let (mut waits, mut wait_values) = (SmallVec::<[_; 4]>::new(), SmallVec::<[_; 4]>::new());
        let own = batch.waits.iter().map(|(t, v)| (t.semaphore, *v));
        for (semaphore, value) in own.chain(batch.foreign_waits.iter().copied()) {
            waits.push(semaphore);
            wait_values.push(value);
        }
        let (signalled, last_submitted) = (self.own.signalled(), self.own.last_submitted.load(Ordering::Relaxed));
        // A batch without command buffers cannot write the completion word, so it must signal the semaphore.
        let signals = self.own.word.is_none() || commands.is_empty() || batch.value >= signalled + SIGNAL_EVERY;
        // A batch that waits for other queues must not delay the signal of earlier work.
        let wait_points: SmallVec<[_; 4]> = batch.waits.iter().map(|(t, v)| (t.id(), *v)).collect();
        let delayed = !wait_points.is_empty() && wait_points != state.wait_points;
        if delayed {
            state.wait_points = wait_points;
        }
        let before = (delayed && last_submitted > signalled).then_some(last_submitted);
        let after = signals.then_some(batch.value);
        if !batch.after.is_empty() {
            self.own.depend(batch.value, &mut batch.after);
        }
        let (waits, program_signals) = ((&waits[..], &wait_values[..]), &batch.foreign_signals[..]);
        self.submit_to_queue(&Submission { before, waits, commands: &commands, after, program_signals })?;
        self.own.last_submitted.store(batch.value, Ordering::Release);
        Ok(())
    }

    /// Submits a signal of the semaphore for all submitted batches. The caller has locked the state.
    fn signal(&self) -> Result<()> {
        let last_submitted = self.own.last_submitted.load(Ordering::Acquire);
        if self.own.signalled() >= last_submitted {
            return Ok(());
        }
        self.core.count_submission()?;
        self.submit_to_queue(&Submission { after: Some(last_submitted), ..Submission::default() })
    }

    /// The hardware queue to which this queue submits, and the index of the hardware queue in its family.
    pub fn hardware(&self) -> (vk::Queue, u32) {
        match self.lane {
            Lane::Compute(i) => (self.core.compute[i], i as u32),
            Lane::Transfer(i) => (self.core.transfer[i], i as u32),
        }
    }

    fn submit_to_queue(&self, submission: &Submission<'_>) -> Result<()> {
        submission::submit(&self.core, self.hardware().0, &self.own, submission)
    }
}

impl Gathers for VulkanQueue {
    fn submit_gathered(&self, blocks: bool) {
        // If the state is locked, another thread is recording or submitting already.
        let Some(mut state) = self.state.try_lock() else { return };
        let submitted = state.value - 1;
        if state.open.is_some() && (blocks || submitted - self.own.poll(submitted) <= 1) {
            state.burst.end();
            // Fails only if the device is lost, and every wait reports that.
            let _ = self.submit_all(&mut state);
        }
    }
}

impl Submitter for VulkanQueue {
    /// The names of the commands of an unfinished batch.
    fn names(&self, value: u64) -> Option<Names> {
        // If the state is locked, its owner is handling a lost device and needs no names.
        let state = self.state.try_lock()?;
        let batch = state.in_flight.iter().chain(&state.open).find(|b| b.value == value)?;
        Some(batch.names())
    }

    /// Submits the open batch, if there is one.
    fn submit_open(&self) -> Result<()> {
        let mut state = self.state.lock();
        state.burst.end();
        self.submit_all(&mut state)
    }

    /// Submits a signal of the semaphore for all submitted batches.
    fn signal_submitted(&self) -> Result<()> {
        let _state = self.state.lock();
        self.signal()
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        // Recorded work is still submitted. If the submission fails, the work is lost.
        let mut state = std::mem::replace(self.state.get_mut(), QueueState::new(self.lane.family(&self.core)));
        if let Err(e) = self.submit(&mut state, u64::MAX) {
            crate::log!(Error, "the last work of an accelerator_view was lost: {e}");
        }
        if self.signal().or_else(|_| self.signal()).is_err() && self.core.lost().is_none() {
            // Other threads may wait for points that can never be signalled now, so the device counts as lost.
            drop(self.core.mark_lost("vkQueueSubmit"));
        }
        let (core, own) = (self.core.clone(), self.own.clone());
        let last = own.last_submitted.load(Ordering::Acquire);
        let idle = state.in_flight.is_empty() || own.reached(last) && own.watch_semaphore(last, SIGNAL_TIME);
        let mut finish = move || {
            // On a lost device, the wait ends at once, and objects may be destroyed.
            if let Err(e) = own.block(last, None) {
                crate::log!(Info, "{e}");
                core.wait_idle();
            }
            state.in_flight.iter_mut().for_each(|batch| batch.destroy(&core));
            state.free.destroy(&core);
            state.host_barrier.iter_mut().for_each(|recording| recording.destroy(&core));
        };
        if idle { finish() } else { Workers::shared().tasks.spawn(finish) }
    }
}

impl QueueState {
    fn new(family: u32) -> Self {
        Self {
            open: None,
            in_flight: VecDeque::new(),
            spent: VecDeque::new(),
            free: FreeRecordings::new(family),
            host_barrier: None,
            wait_points: SmallVec::new(),
            value: 1,
            sequence: 0,
            barrier: 0,
            timed: None,
            burst: Burst::default(),
        }
    }

    /// The value of the last batch.
    fn last(&self) -> u64 {
        if self.open.is_some() { self.value } else { self.value - 1 }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
