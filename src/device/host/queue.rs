//! Queues of host work: jobs run one after another, on a task thread or on a thread that waits for them.
//!
//! The n-th job of a queue has the value `2n`; the marker after it has the value `2n + 1`. Both values are reached together. A
//! wait for a job returns that job's failure. A wait for a marker returns the first failure before it that was not yet reported.
//! Repeated waits return the same result.

use crate::device::hazard::{Point, Segments, Timeline};
use crate::device::{Buffer, Dispatch, HostJob, Queue, Timer, Use, unique_id};
use crate::error::{E_INVALIDARG, Error, Result};
use crate::geometry::CopyPlan;
use crate::host::spin::Spin;
use crate::host::threads::caught;
use crate::host::{HostSpan, Workers, strided};
use crate::kernel::Access;
use crate::lock::{Condvar, Mutex, MutexGuard, rank};
use crate::log;
use crate::trace::events::Span;
use smallvec::SmallVec;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The accelerator for which a host device stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// The host-thread accelerator: runs kernels.
    Threads,
    /// The host-thread accelerator, for programs that ask for WARP.
    Warp,
    /// The reference accelerator: one host thread, with checks.
    Reference,
    /// The cpu accelerator: holds arrays, runs no kernels.
    Cpu,
}

impl HostKind {
    /// True for all accelerators but the cpu accelerator.
    pub fn runs_kernels(self) -> bool {
        self != Self::Cpu
    }
}

/// The number of failures that a queue remembers, in addition to failures that completions keep. Older failures are forgotten.
const MAX_FAILURES: usize = 1024;

struct Job {
    value: u64,
    work: HostJob,
    /// Work of other timelines that must be done first.
    after: SmallVec<[Point; 4]>,
    /// The buffers that the job uses, kept alive until the job has ended.
    buffers: SmallVec<[Arc<dyn Buffer>; 16]>,
}

struct Failure {
    error: Error,
    reported: bool,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    /// The value of the newest job.
    last: u64,
    /// True while a thread runs jobs.
    active: bool,
    /// True while a task that runs jobs has been requested and has not started, or while that task looks for more jobs.
    is_task_requested: bool,
    /// The timeline itself, if the system could create no thread for that task. This keeps the timeline alive for its jobs, which
    /// a waiting thread then runs.
    without_task: Option<Arc<HostTimeline>>,
    waiting: usize,
    /// The failures of jobs, and of markers that reported one, by their values.
    failures: BTreeMap<u64, Failure>,
    /// The values whose failures completions keep, with the number of these completions.
    kept: BTreeMap<u64, usize>,
}

impl QueueState {
    fn remember(&mut self, value: u64, failure: Failure) {
        let (failures, kept) = (&mut self.failures, &self.kept);
        if failures.len() >= MAX_FAILURES + kept.len() {
            // Forgets a failure, preferably a reported one.
            let is_free = |(value, _): &(&u64, &Failure)| !kept.contains_key(value);
            let reported = failures.iter().filter(is_free).find(|(_, f)| f.reported);
            let old = reported.or_else(|| failures.iter().find(is_free)).map(|(&value, _)| value);
            if let Some(old) = old {
                failures.remove(&old);
            }
        }
        failures.insert(value, failure);
    }
}

/// The timeline of a [`HostQueue`], with its jobs.
pub struct HostTimeline {
    id: u64,
    me: Weak<Self>,
    workers: Workers,
    /// Everything up to this value has ended.
    done: AtomicU64,
    /// The value of the newest job, for a task that looks for more jobs.
    newest: AtomicU64,
    state: Mutex<QueueState, { rank::JOBS }>,
    changed: Condvar,
}

impl HostTimeline {
    fn new(workers: Workers) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            id: unique_id(),
            me: me.clone(),
            workers,
            done: AtomicU64::new(1),
            newest: AtomicU64::new(0),
            state: Mutex::new(QueueState::default()),
            changed: Condvar::new(),
        })
    }

    /// Adds a job. The caller then releases its locks of trackers and calls [`Self::start`].
    fn push(&self, work: HostJob, after: SmallVec<[Point; 4]>, buffers: SmallVec<[Arc<dyn Buffer>; 16]>) -> u64 {
        let mut state = self.state.lock();
        state.last += 2;
        let value = state.last;
        state.jobs.push_back(Job { value, work, after, buffers });
        self.newest.store(value, Ordering::Relaxed);
        value
    }

    /// Makes sure that some thread runs the jobs. They never run here: the caller may hold locks that they need.
    fn start(&self) {
        let mut state = self.state.lock();
        if state.active || state.is_task_requested || state.jobs.is_empty() {
            return;
        }
        state.is_task_requested = true;
        drop(state);
        let Some(me) = self.me.upgrade() else { return };
        let task = Box::new(move || me.serve());
        if self.workers.tasks.try_spawn(task).is_err() {
            let mut state = self.state.lock();
            state.is_task_requested = false;
            let known = state.without_task.is_some();
            state.without_task = self.me.upgrade();
            self.changed.notify_all();
            drop(state);
            if !known {
                log!(
                    Warn,
                    "no thread could be created for host kernels; host kernels run only when a thread waits for them"
                );
            }
        }
    }

    /// Runs jobs until no new job has come for a while. It waits that long because waking a task can cost more than a launch.
    fn serve(&self) {
        let mut state = self.state.lock();
        state.without_task = None;
        loop {
            state.is_task_requested = false;
            if state.active {
                return;
            }
            self.run_jobs(&mut state, u64::MAX);
            let (Some(spin), last) = (Spin::for_this_machine(), state.last) else { return };
            state.is_task_requested = true;
            let more = || self.newest.load(Ordering::Relaxed) != last;
            let come = MutexGuard::unlocked(&mut state, || spin.until(more));
            if !come && state.last == last {
                state.is_task_requested = false;
                return;
            }
        }
    }

    /// Runs jobs until `value` is reached or none is left. The caller has found `active` unset.
    fn run_jobs(&self, state: &mut MutexGuard<'_, QueueState>, value: u64) {
        state.active = true;
        while self.done.load(Ordering::Relaxed) < value {
            let Some(job) = state.jobs.pop_front() else { break };
            let number = job.value;
            let failed = MutexGuard::unlocked(state, || run_job(job));
            if let Err(error) = failed {
                state.remember(number, Failure { error, reported: false });
            }
            // The marker after the job is reached together with the job. Release: a thread that sees the value also sees the job's writes.
            self.done.store(number + 1, Ordering::Release);
            if state.waiting > 0 {
                self.changed.notify_all();
            }
        }
        state.active = false;
        if state.jobs.is_empty() {
            state.without_task = None;
        } else if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Waits until `value` is reached: `false` if `timeout` passed first. Without a timeout, this thread runs pending jobs that
    /// no other thread runs, which saves waking a thread. With a timeout, this thread runs pending jobs only if the system can
    /// create no thread for them, since the jobs could outlast the timeout. With a timeout of 0, this thread never runs jobs.
    fn until(&self, value: u64, timeout: Option<Duration>) -> bool {
        let reached = || self.done.load(Ordering::Acquire) >= value;
        if reached() {
            return true;
        }
        let _span = Span::wait(self.id, timeout);
        let deadline = timeout.map(|t| (Instant::now(), t));
        let mut spin = if deadline.is_none() { Spin::for_this_machine() } else { None };
        let mut state = self.state.lock();
        if state.without_task.is_some() && timeout == Some(Duration::ZERO) {
            MutexGuard::unlocked(&mut state, || self.start());
        }
        if timeout == Some(Duration::ZERO) {
            return reached();
        }
        while !reached() {
            let runs = deadline.is_none() || state.without_task.is_some();
            if runs && !state.active && !state.jobs.is_empty() {
                self.run_jobs(&mut state, value);
                if !state.jobs.is_empty() {
                    MutexGuard::unlocked(&mut state, || self.start());
                }
                continue;
            }
            if let Some(spin) = spin.take() {
                MutexGuard::unlocked(&mut state, || spin.until(reached));
                continue;
            }
            state.waiting += 1;
            let late = match deadline {
                None => {
                    self.changed.wait(&mut state, rank::NONE);
                    false
                }
                Some((start, timeout)) => match timeout.checked_sub(start.elapsed()) {
                    // A wait too long for the clock never ends.
                    Some(rest) if Instant::now().checked_add(rest).is_some() => {
                        self.changed.wait_for(&mut state, rank::NONE, rest);
                        false
                    }
                    Some(_) => {
                        self.changed.wait(&mut state, rank::NONE);
                        false
                    }
                    None => true,
                },
            };
            state.waiting -= 1;
            if late {
                return reached();
            }
        }
        true
    }

    /// Waits until all work added so far has ended, whether it failed or not.
    pub fn finish(&self) {
        let last = self.state.lock().last;
        self.until(last, None);
    }

    /// The result of a wait for `value`, which has been reached.
    fn result_of(&self, value: u64) -> Result<()> {
        let mut state = self.state.lock();
        if state.failures.is_empty() {
            return Ok(());
        }
        if let Some(failure) = state.failures.get_mut(&value) {
            failure.reported = true;
            return Err(failure.error.clone());
        }
        if value % 2 == 0 {
            return Ok(());
        }
        let Some((_, first)) = state.failures.range_mut(..value).find(|(_, f)| !f.reported) else { return Ok(()) };
        first.reported = true;
        let error = first.error.clone();
        state.remember(value, Failure { error: error.clone(), reported: true });
        Err(error)
    }
}

fn run_job(job: Job) -> Result<()> {
    for point in &job.after {
        match point.timeline.as_any().downcast_ref::<HostTimeline>() {
            // Only the end of that work matters here. Its failure is reported to callers that wait for it; whether this job
            // fails must not depend on timing.
            Some(host) => {
                host.until(point.value, None);
            }
            None => {
                point.wait(None).map_err(|e| e.context("an operation that this operation depends on failed"))?;
            }
        }
    }
    let done = caught(job.work).unwrap_or_else(|text| Err(Error::internal(format!("a job panicked: {text}"))));
    drop(job.buffers);
    done
}

impl Timeline for HostTimeline {
    fn id(&self) -> u64 {
        self.id
    }
    /// No device: the queues of a device cannot wait for host threads.
    fn device(&self) -> Option<u64> {
        None
    }
    fn has_failed(&self, value: u64) -> bool {
        self.state.lock().failures.get(&value).is_some_and(|f| !f.reported)
    }
    fn keep(&self, value: u64) {
        *self.state.lock().kept.entry(value).or_default() += 1;
    }
    fn let_go(&self, value: u64) {
        let mut state = self.state.lock();
        match state.kept.get_mut(&value) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(state.kept.remove(&value)),
        }
    }

    fn reached(&self, value: u64) -> bool {
        self.done.load(Ordering::Acquire) >= value
    }
    /// Jobs start without a flush.
    fn is_signalled(&self, _value: u64) -> bool {
        true
    }
    fn flush(&self, _value: u64) -> Result<()> {
        Ok(())
    }
    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        if !self.until(value, timeout) {
            return Ok(false);
        }
        self.result_of(value).map(|()| true)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A queue of host work. Jobs that were added run to their end even if the queue is dropped.
pub struct HostQueue {
    kind: HostKind,
    timeline: Arc<HostTimeline>,
    shared: Arc<dyn Timeline>,
}

impl HostQueue {
    /// A queue without work.
    pub fn new(kind: HostKind, workers: Workers) -> Self {
        let timeline = HostTimeline::new(workers);
        Self { kind, shared: Arc::clone(&timeline) as Arc<dyn Timeline>, timeline }
    }

    /// The timeline of the queue, with its concrete type.
    pub fn host_timeline(&self) -> &Arc<HostTimeline> {
        &self.timeline
    }

    /// Adds a job after everything that uses the same bytes, as [`crate::device::hazard`] demands.
    fn add(&self, uses: &[Use], work: HostJob) -> Point {
        let mut order: SmallVec<[(u64, &Use); 16]> = uses.iter().map(|u| (u.buffer.id(), u)).collect();
        // The uses are usually sorted by buffer id already.
        if !order.is_sorted_by_key(|(id, _)| *id) {
            order.sort_by_key(|(id, _)| *id);
        }
        let mut trackers: SmallVec<[(u64, MutexGuard<'_, Segments>); 16]> = SmallVec::new();
        let mut buffers: SmallVec<[Arc<dyn Buffer>; 16]> = SmallVec::new();
        let mut after: SmallVec<[Point; 4]> = SmallVec::new();
        for &(id, u) in &order {
            if trackers.last().is_none_or(|(last, _)| *last != id) {
                trackers.push((id, u.buffer.tracker().lock_as(id)));
                buffers.push(Arc::clone(&u.buffer));
            }
            let Some((_, segments)) = trackers.last_mut() else { continue };
            segments.conflicts(&u.range, u.access, |point| {
                // Points of this queue are not needed, because its jobs run in order. Only the latest point of another
                // timeline is needed.
                if point.timeline.id() == self.timeline.id {
                    return;
                }
                match after.iter_mut().find(|p| p.is_on(&point.timeline)) {
                    Some(known) if known.value >= point.value => {}
                    Some(known) => *known = point.clone(),
                    None => after.push(point.clone()),
                }
            });
        }
        let value = self.timeline.push(work, after, buffers);
        let point = self.point(value);
        let (mut at, locked) = (0, trackers.as_mut_slice());
        for &(id, u) in &order {
            at += usize::from(locked[at].0 != id);
            locked[at].1.record(&u.range, u.access, &point);
        }
        drop(trackers);
        self.timeline.start();
        point
    }

    fn point(&self, value: u64) -> Point {
        Point { timeline: Arc::clone(&self.shared), value, sequence: value }
    }
}

/// The host memory of a buffer. Host threads cannot use a buffer without it.
pub(super) fn host_memory(buffer: &Arc<dyn Buffer>) -> Result<HostSpan> {
    buffer.host().ok_or_else(|| {
        Error::unsupported(format!(
            "host threads cannot access a buffer of {} bytes on another device; copy it to the host",
            buffer.size()
        ))
    })
}

pub(super) fn no_spirv() -> Error {
    Error::unsupported("host threads cannot run SPIR-V; launch a host function, or choose a Vulkan accelerator")
}

/// The error of rule PFE-8, with the text that programs look for.
fn no_kernels() -> Error {
    Error {
        hresult: E_INVALIDARG,
        ..Error::runtime(
            "concurrency::parallel_for_each is not supported on the selected accelerator \"CPU accelerator\".",
        )
    }
}

impl Queue for HostQueue {
    fn timeline(&self) -> &Arc<dyn Timeline> {
        &self.shared
    }

    fn dispatch(&self, _dispatch: &Dispatch<'_>) -> Result<Point> {
        Err(if self.kind == HostKind::Cpu { no_kernels() } else { no_spirv() })
    }

    fn dispatch_timed(&self, dispatch: &Dispatch<'_>) -> Result<(Point, Arc<dyn Timer>)> {
        self.dispatch(dispatch)?;
        Err(no_spirv())
    }

    /// A thread that waits for this queue may run the job. The job must therefore take no lock that this thread may hold.
    fn run(&self, uses: &[Use], job: HostJob) -> Result<Point> {
        if self.kind == HostKind::Cpu {
            return Err(no_kernels());
        }
        Ok(self.add(uses, job))
    }

    fn copy(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point> {
        let (from, to) = (host_memory(source)?, host_memory(destination)?);
        let (read, write) = strided::check_plan(plan, from, to)?;
        let uses = [
            Use { buffer: Arc::clone(source), range: read, access: Access::Read },
            Use { buffer: Arc::clone(destination), range: write, access: Access::Write },
        ];
        let pool = Arc::clone(&self.timeline.workers.pool);
        let plan = plan.clone();
        Ok(self.add(&uses, Box::new(move || strided::copy_parallel(&pool, &plan, from, to))))
    }

    fn marker(&self) -> Result<Point> {
        let last = self.timeline.state.lock().last;
        Ok(self.point(last + 1))
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
