//! accelerator_view (docs/spec/accelerators.md#accelerator_view): a queue of an accelerator's device.

use crate::device::hazard::{Point, any_lost};
use crate::device::{Device, Dispatch, Queue, Timer, TimerSlot, unique_id};
use crate::error::{ErrorKind, Result};
use crate::lock::{Mutex, rank};
use crate::runtime::HandleCell;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::lent_device::LentDevice;
use crate::runtime::accelerators::loaded_kernel::{KernelCache, LoadedCompiled, LoadedKernel};
use crate::runtime::operations::completion::Completion;
use crate::runtime::operations::host_operation::was_reported;
use crate::runtime::{process, race};
use crate::trace::events::{self, Captures, Launch, LaunchSpan, Object, Progress, Span, Track};
use crate::trace::labels;
use crate::trace::names::Name;
use crate::trace::transfers::{Call, explicit};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const WAIT: Call = explicit(c"revamp_accelerator_view_wait");

/// A queue of work on an accelerator.
pub struct AcceleratorView {
    id: u64,
    accelerator: Arc<Accelerator>,
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
    /// If its device is the program's: what is loaded there.
    lent: Option<Arc<LentDevice>>,
    immediate: bool,
    kept: bool,
    /// For the auto-selection view: the view that it stands for.
    auto: Option<Arc<Self>>,
    /// Work of the view that does not run on its queue: large and asynchronous copies.
    beside: Mutex<Vec<Point>, { rank::BESIDE }>,
    /// Its name in traces.
    track: Track,
    /// The marker whose failure was reported last.
    reported: AtomicU64,
    /// The handle of the C API.
    pub c_handle: HandleCell,
}

impl Drop for AcceleratorView {
    fn drop(&mut self) {
        // The auto-selection view stands for another.
        if self.auto.is_none() {
            labels::forget(self.track.queue);
        }
    }
}

impl AcceleratorView {
    /// A new view; `kept` if the library itself owns it.
    pub(in crate::runtime) fn new(accelerator: &Arc<Accelerator>, immediate: bool, kept: bool) -> Result<Self> {
        Self::over(accelerator, (accelerator.device()?, None), immediate, kept)
    }

    fn over(
        accelerator: &Arc<Accelerator>,
        (device, lent): (Arc<dyn Device>, Option<Arc<LentDevice>>),
        immediate: bool,
        kept: bool,
    ) -> Result<Self> {
        let queue = device.create_queue(immediate)?;
        let track = Track { queue: queue.timeline().id(), accelerator: Name::of(&accelerator.name()) };
        Ok(Self {
            id: unique_id(),
            accelerator: accelerator.clone(),
            device,
            queue,
            lent,
            immediate,
            kept,
            auto: None,
            beside: Mutex::new(Vec::new()),
            track,
            reported: AtomicU64::new(0),
            c_handle: HandleCell::default(),
        })
    }

    /// A new view that the program owns.
    pub fn create(accelerator: &Arc<Accelerator>, immediate: bool) -> Result<Arc<Self>> {
        Self::new(accelerator, immediate, false).map(Arc::new)
    }

    /// A new view on a device of the program, which `open` gives.
    pub fn create_lent(
        accelerator: &Arc<Accelerator>,
        immediate: bool,
        open: impl FnOnce() -> Result<Arc<dyn Device>>,
    ) -> Result<Arc<Self>> {
        let lent = accelerator.lend(open)?;
        Self::over(accelerator, (lent.device.clone(), Some(lent)), immediate, false).map(Arc::new)
    }

    /// True if its device is the program's.
    pub(in crate::runtime) fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// Where compiled kernels are loaded for it.
    pub(in crate::runtime) fn loads(&self) -> (&Arc<dyn Device>, &LoadedCompiled, &KernelCache) {
        match &self.lent {
            Some(lent) => (&self.device, &lent.compiled, &lent.kernels),
            None => (&self.device, &self.accelerator.compiled, &self.accelerator.kernels),
        }
    }

    /// The kernel as it is loaded on a device of the program; `None`: as it is on the accelerator's.
    pub(in crate::runtime) fn loaded(&self, kernel: &Arc<LoadedKernel>) -> Result<Option<Arc<LoadedKernel>>> {
        self.lent.as_ref().map(|lent| lent.load(kernel)).transpose()
    }

    /// The auto-selection view, which stands for `default`.
    pub(in crate::runtime) fn auto_selection(default: &Arc<Self>) -> Self {
        Self {
            id: default.id,
            accelerator: default.accelerator.clone(),
            device: default.device.clone(),
            queue: default.queue.clone(),
            lent: None,
            immediate: default.immediate,
            kept: true,
            auto: Some(default.clone()),
            beside: Mutex::new(Vec::new()),
            track: default.track,
            reported: AtomicU64::new(0),
            c_handle: HandleCell::default(),
        }
    }

    /// Equal for a view and the auto-selection view that stands for it.
    pub fn id(&self) -> u64 {
        self.id
    }
    /// Its accelerator.
    pub fn accelerator(&self) -> &Arc<Accelerator> {
        &self.accelerator
    }
    /// Its device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }
    /// Its queue.
    pub fn queue(&self) -> &Arc<dyn Queue> {
        &self.queue
    }
    /// Names it in traces.
    pub fn set_label(&self, label: &str) {
        labels::set(self.track.queue, label);
    }
    /// Its name in traces.
    pub(in crate::runtime) fn track(&self) -> Track {
        self.track
    }
    /// `queuing_mode_immediate`.
    pub fn is_immediate(&self) -> bool {
        self.immediate
    }
    /// Owned by the library.
    pub fn is_kept(&self) -> bool {
        self.kept
    }
    /// `is_auto_selection`.
    pub fn is_auto_selection(&self) -> bool {
        self.auto.is_some()
    }

    /// The view itself; for the auto-selection view, the one it stands for.
    pub fn actual(self: &Arc<Self>) -> Arc<Self> {
        self.auto.as_ref().unwrap_or(self).clone()
    }

    /// Gives the queue a launch of this kernel.
    #[inline(always)]
    pub(in crate::runtime) fn dispatch(&self, kernel: &LoadedKernel, dispatch: &Dispatch<'_>) -> Result<Point> {
        if kernel.is_new() || events::is_on() {
            self.dispatch_new(kernel, dispatch)
        } else {
            self.queue.dispatch(dispatch)
        }
    }

    /// The launch in a trace, if one is recorded.
    fn traced(&self, kernel: &LoadedKernel) -> Option<Launch> {
        events::is_on().then(|| Launch { kernel: kernel.name(), track: self.track, captures: Captures::new() })
    }

    /// Gives the queue a launch for which a trace is to have the device's times; `None` if the device has no timestamps.
    #[cold]
    fn dispatch_traced(&self, kernel: &LoadedKernel, dispatch: &Dispatch<'_>, launch: u64) -> Result<Option<Point>> {
        match self.queue.dispatch_timed(dispatch) {
            Ok((point, timer)) => {
                self.trace_times(kernel.name(), launch, &point, &timer);
                Ok(Some(point))
            }
            Err(e) if e.kind == ErrorKind::UnsupportedFeature => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Has the trace show when the device worked for `event`.
    pub(in crate::runtime) fn trace_times(&self, name: Name, event: u64, point: &Point, timer: &Arc<dyn Timer>) {
        let (point, timer) = (point.clone(), timer.clone());
        let times = move || {
            if !point.reached() {
                return Progress::Open;
            }
            match timer.times() {
                // Times of another clock than the host's cannot be shown beside it.
                Ok(times) if times.deviation.is_some() => Progress::Done(times.begin, times.end),
                _ => Progress::Lost,
            }
        };
        events::on_device(name, self.track, event, Box::new(times));
    }

    /// Drivers load their compilers at the first launch. A software device compiles then, on threads of its own, and makes
    /// static objects by the way.
    /// The exit hook must be registered after them, or they are gone when it waits for the device (decision 5). So the first
    /// launch is waited for.
    #[cold]
    fn dispatch_new(&self, kernel: &LoadedKernel, dispatch: &Dispatch<'_>) -> Result<Point> {
        let traced = self.traced(kernel);
        let span = traced.as_ref().map(LaunchSpan::new);
        if !kernel.is_new() || kernel.count() {
            let launch = span.as_ref().filter(|_| events::times_devices()).map(LaunchSpan::id);
            let timed = launch.map_or(Ok(None), |launch| self.dispatch_traced(kernel, dispatch, launch))?;
            return timed.map_or_else(|| self.queue.dispatch(dispatch), Ok);
        }
        self.first(kernel, || self.queue.dispatch(dispatch), Clone::clone)
    }

    /// Gives the queue a launch that is timed.
    pub(in crate::runtime) fn dispatch_timed(
        &self,
        kernel: &LoadedKernel,
        dispatch: &Dispatch<'_>,
    ) -> Result<(Point, Arc<dyn Timer>)> {
        let traced = self.traced(kernel);
        let span = traced.as_ref().map(LaunchSpan::new);
        let launch = || self.queue.dispatch_timed(dispatch);
        let (point, timer) =
            if kernel.is_new() { self.first(kernel, launch, |(point, _)| point.clone()) } else { launch() }?;
        if let Some(span) = span.filter(|_| events::times_devices()) {
            self.trace_times(kernel.name(), span.id(), &point, &timer);
        }
        Ok((point, timer))
    }

    /// Gives the queue a launch whose timer goes to `slot`.
    #[cold]
    pub(in crate::runtime) fn dispatch_into(
        &self,
        kernel: &LoadedKernel,
        dispatch: &Dispatch<'_>,
        slot: &TimerSlot,
    ) -> Result<Point> {
        let (point, timer) = self.dispatch_timed(kernel, dispatch)?;
        let _ = slot.set(timer);
        Ok(point)
    }

    /// Does the first launch of a kernel.
    fn first<T>(
        &self,
        kernel: &LoadedKernel,
        launch: impl FnOnce() -> Result<T>,
        point: impl FnOnce(&T) -> Point,
    ) -> Result<T> {
        let _loading = process::Loading::new();
        let begun = Instant::now();
        let launched = launch()?;
        kernel.set_known(begun.elapsed());
        if self.accelerator.properties().is_emulated {
            // A failure is for those who wait for the work, and a loss is not asked for: that would count as telling.
            let point = point(&launched);
            let _ = point.timeline.wait(point.value, None);
        }
        Ok(launched)
    }

    /// Makes `wait` and markers cover work that does not run on the queue.
    pub(in crate::runtime) fn attach(&self, points: impl IntoIterator<Item = Point>) {
        let mut beside = self.beside.lock();
        let own = self.queue.timeline().id();
        // Looked through each time it has doubled.
        if beside.len() >= 64 && beside.len() == beside.capacity() {
            // Failures stay until somebody is told of them.
            beside.retain(|p| !p.reached() || !was_reported(p) && p.wait(Some(Duration::ZERO)).is_err());
        }
        beside.extend(points.into_iter().filter(|p| p.timeline.id() != own));
    }

    /// [`Self::attach`] to several views.
    pub(in crate::runtime) fn attach_to(views: &[Arc<Self>]) -> impl FnOnce(&Point) {
        |point| views.iter().for_each(|view| view.attach([point.clone()]))
    }

    /// The points of everything given to the view so far.
    fn points(&self) -> Result<SmallVec<[Point; 4]>> {
        let mut points = SmallVec::from_iter([self.queue.marker()?]);
        if let Some(lost) = self.device.lost() {
            return Err(lost);
        }
        self.accelerator.bridges.trim();
        points.extend(self.beside.lock().iter().cloned());
        Ok(points)
    }

    /// Submits what is queued; does not wait.
    pub fn flush(&self) -> Result<()> {
        self.queue.marker().map(drop)
    }

    /// Waits for everything given to the view so far, and returns its first failure.
    pub fn wait(&self) -> Result<()> {
        if let Some(actual) = &self.auto {
            return actual.wait();
        }
        let _span = Span::call(WAIT, || Object::named(Name::of(&self.track.name())));
        let mut result = Ok(());
        let points = self.points()?;
        for (n, point) in points.iter().enumerate() {
            let mut done = point.wait(None).map(drop);
            // Without new work the marker is the same as before, and so is its failure.
            if n == 0 && done.is_err() && self.reported.swap(point.value, Ordering::Relaxed) == point.value {
                done = self.device.lost().map_or(Ok(()), Err);
            }
            if was_reported(point) {
                done = Ok(());
            }
            result = result.and(done);
        }
        // Losses of data that nobody has used since.
        if any_lost() {
            if let Some(lost) = points.iter().find_map(|p| p.timeline.unreported(p.value)) {
                result = result.and(Err(lost));
            }
        }
        race::waited_for_view(&points);
        // These are reported now; what was added meanwhile stays.
        let waited = |p: &Point| points.iter().any(|w| w.timeline.id() == p.timeline.id() && w.value >= p.value);
        self.beside.lock().retain(|p| !waited(p));
        if self.is_lent() {
            // The program may wait for its objects.
            self.device.reclaim();
        }
        result
    }

    /// A completion for everything given to the view so far.
    pub fn marker(&self) -> Result<Arc<Completion>> {
        if let Some(actual) = &self.auto {
            return actual.marker();
        }
        let mut points = self.points()?;
        // A failure is reported once, as by wait().
        points.retain(|p| !was_reported(p));
        Ok(Completion::marker(points.into_vec()))
    }
}
