//! `accelerator_view` (docs/spec/accelerators.md#accelerator_view): a queue of an accelerator's device.

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
use crate::trace::events::{self, Captures, Launch, LaunchSpan, Numbers, Object, Progress, Span, Track};
use crate::trace::labels;
use crate::trace::names::{CachedName, Name};
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
    /// The device with its loaded kernels, if it is a device of the program.
    lent: Option<Arc<LentDevice>>,
    immediate: bool,
    library_owned: bool,
    /// For the auto-selection view: the view that it represents.
    represented: Option<Arc<Self>>,
    /// Work of the view that does not run on its queue: large and asynchronous copies.
    off_queue: Mutex<Vec<Point>, { rank::OFF_QUEUE }>,
    /// The track of the view in traces.
    track: Track,
    track_name: CachedName,
    /// The timeline value of the marker whose failure was reported last.
    reported: AtomicU64,
    /// The handle of the C API.
    pub c_handle: HandleCell,
}

impl Drop for AcceleratorView {
    fn drop(&mut self) {
        // The auto-selection view shares the label of the view that it represents.
        if self.represented.is_none() {
            labels::forget(self.track.queue);
        }
    }
}

impl AcceleratorView {
    /// A new view; `library_owned` if the library itself owns it.
    pub(in crate::runtime) fn new(
        accelerator: &Arc<Accelerator>,
        immediate: bool,
        library_owned: bool,
    ) -> Result<Self> {
        Self::over(accelerator, (accelerator.device()?, None), immediate, library_owned)
    }

    fn over(
        accelerator: &Arc<Accelerator>,
        (device, lent): (Arc<dyn Device>, Option<Arc<LentDevice>>),
        immediate: bool,
        library_owned: bool,
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
            library_owned,
            represented: None,
            off_queue: Mutex::new(Vec::new()),
            track,
            track_name: CachedName::new(),
            reported: AtomicU64::new(0),
            c_handle: HandleCell::default(),
        })
    }

    /// A new view that the program owns.
    pub fn create(accelerator: &Arc<Accelerator>, immediate: bool) -> Result<Arc<Self>> {
        Self::new(accelerator, immediate, false).map(Arc::new)
    }

    /// A new view on the device of the program that `open` returns.
    pub fn create_lent(
        accelerator: &Arc<Accelerator>,
        immediate: bool,
        open: impl FnOnce() -> Result<Arc<dyn Device>>,
    ) -> Result<Arc<Self>> {
        let lent = accelerator.lend(open)?;
        Self::over(accelerator, (lent.device.clone(), Some(lent)), immediate, false).map(Arc::new)
    }

    /// True if the view's device is a device of the program.
    pub(in crate::runtime) fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// The view's device, and the kernels loaded on this device.
    pub(in crate::runtime) fn device_and_kernels(&self) -> (&Arc<dyn Device>, &LoadedCompiled, &KernelCache) {
        match &self.lent {
            Some(lent) => (&self.device, &lent.compiled, &lent.kernels),
            None => (&self.device, &self.accelerator.compiled, &self.accelerator.kernels),
        }
    }

    /// If the view's device is a device of the program: `kernel` loaded on that device. Otherwise `None`: use `kernel` itself.
    pub(in crate::runtime) fn load_on_program_device(
        &self,
        kernel: &Arc<LoadedKernel>,
    ) -> Result<Option<Arc<LoadedKernel>>> {
        self.lent.as_ref().map(|lent| lent.load(kernel)).transpose()
    }

    /// The auto-selection view, which represents `default`.
    pub(in crate::runtime) fn auto_selection(default: &Arc<Self>) -> Self {
        Self {
            id: default.id,
            accelerator: default.accelerator.clone(),
            device: default.device.clone(),
            queue: default.queue.clone(),
            lent: None,
            immediate: default.immediate,
            library_owned: true,
            represented: Some(default.clone()),
            off_queue: Mutex::new(Vec::new()),
            track: default.track,
            track_name: CachedName::new(),
            reported: AtomicU64::new(0),
            c_handle: HandleCell::default(),
        }
    }

    /// An id that a view shares with the auto-selection view that represents it.
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
    /// Sets the name of the view in traces and in Vulkan tools.
    pub fn set_label(&self, label: &str) {
        labels::set(self.track.queue, label);
        self.queue.set_label(label);
        self.represented.as_deref().unwrap_or(self).track_name.forget();
    }
    /// The track of the view in traces.
    pub(in crate::runtime) fn track(&self) -> Track {
        self.track
    }
    /// True for `queuing_mode_immediate`.
    pub fn is_immediate(&self) -> bool {
        self.immediate
    }
    /// True if the library owns the view.
    pub fn is_library_owned(&self) -> bool {
        self.library_owned
    }
    /// `is_auto_selection`.
    pub fn is_auto_selection(&self) -> bool {
        self.represented.is_some()
    }

    /// The view itself; for the auto-selection view, the view that it represents.
    pub fn actual(self: &Arc<Self>) -> Arc<Self> {
        self.represented.as_ref().unwrap_or(self).clone()
    }

    /// Puts a launch of `kernel` on the queue.
    #[inline(always)]
    pub(in crate::runtime) fn dispatch(&self, kernel: &LoadedKernel, dispatch: &Dispatch<'_>) -> Result<Point> {
        if kernel.is_new() || events::is_on() {
            self.dispatch_new(kernel, dispatch)
        } else {
            self.queue.dispatch(dispatch)
        }
    }

    /// The launch's event, if a trace is being recorded.
    fn traced(&self, kernel: &LoadedKernel) -> Option<LaunchSpan<impl Numbers, impl Fn() -> Launch>> {
        let (kernel, track) = (kernel.name(), self.track);
        let launch = move || Launch { kernel, track, captures: Captures::new() };
        events::is_on().then(|| LaunchSpan::new(move || [u64::from(kernel.number()), track.queue].into_iter(), launch))
    }

    /// Puts a launch on the queue, and records its device times in the trace if the device has timestamps.
    #[cold]
    fn dispatch_traced(&self, kernel: &LoadedKernel, dispatch: &Dispatch<'_>, launch: u64) -> Result<Point> {
        match self.queue.dispatch_timed(dispatch) {
            Ok((point, timer)) => {
                self.trace_times(kernel.name(), launch, &point, &timer);
                Ok(point)
            }
            Err(e) if e.kind == ErrorKind::UnsupportedFeature => self.queue.dispatch(dispatch),
            Err(e) => Err(e),
        }
    }

    /// Makes the trace show when the device executed the work of `event`.
    pub(in crate::runtime) fn trace_times(&self, name: Name, event: u64, point: &Point, timer: &Arc<dyn Timer>) {
        // A copy may run on another queue than the view's kernels.
        let timeline = point.timeline.id();
        let (point, timer) = (point.clone(), timer.clone());
        let times = move || {
            if !point.reached() {
                return Progress::Open;
            }
            match timer.times() {
                // Only times that are calibrated to the host's clock can be shown.
                Ok(times) if times.deviation.is_some() => Progress::Done(times.begin, times.end),
                _ => Progress::Lost,
            }
        };
        let track = Track { queue: timeline, ..self.track };
        events::on_device(name, track, event, Box::new(times));
    }

    /// The slow path of [`Self::dispatch`], for the first launch of a kernel, for counted launches and for traced launches.
    ///
    /// Drivers load their compilers at the first launch. A software device then compiles on its own threads, and creates static
    /// objects. The exit hook must be registered after these objects, otherwise they are destroyed before the hook waits for the
    /// device (decision 5). So [`Self::launch`] waits for the first launch on a software device.
    #[cold]
    fn dispatch_new(&self, kernel: &LoadedKernel, dispatch: &Dispatch<'_>) -> Result<Point> {
        let span = self.traced(kernel);
        let launch = || match span.as_ref().filter(|_| events::times_devices()) {
            Some(span) => self.dispatch_traced(kernel, dispatch, span.id()),
            None => self.queue.dispatch(dispatch),
        };
        self.launch(kernel, launch, Clone::clone)
    }

    /// Puts a timed launch on the queue.
    pub(in crate::runtime) fn dispatch_timed(
        &self,
        kernel: &LoadedKernel,
        dispatch: &Dispatch<'_>,
    ) -> Result<(Point, Arc<dyn Timer>)> {
        let span = self.traced(kernel);
        let (point, timer) = self.launch(kernel, || self.queue.dispatch_timed(dispatch), |(point, _)| point.clone())?;
        if let Some(span) = span.filter(|_| events::times_devices()) {
            self.trace_times(kernel.name(), span.id(), &point, &timer);
        }
        Ok((point, timer))
    }

    /// Puts a timed launch on the queue, and its timer into `slot`.
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

    /// Calls `launch`. If this is the first launch of the kernel on a software device, waits for it.
    fn launch<T>(
        &self,
        kernel: &LoadedKernel,
        launch: impl FnOnce() -> Result<T>,
        point: impl FnOnce(&T) -> Point,
    ) -> Result<T> {
        if !kernel.is_new() || kernel.count() {
            return launch();
        }
        let _loading = process::Loading::new();
        let begun = Instant::now();
        let launched = launch()?;
        kernel.set_launched(begun.elapsed());
        if self.accelerator.properties().is_emulated {
            // Ignores failures, which later waits report. Waits on the timeline, because `Point::wait` would mark losses as reported.
            let point = point(&launched);
            let _ = point.timeline.wait(point.value, None);
        }
        Ok(launched)
    }

    /// Makes `wait` and markers cover work that does not run on the queue.
    pub(in crate::runtime) fn attach(&self, points: impl IntoIterator<Item = Point>) {
        let mut off_queue = self.off_queue.lock();
        let queue_timeline = self.queue.timeline().id();
        // Finished work is removed each time the list has doubled.
        if off_queue.len() >= 64 && off_queue.len() == off_queue.capacity() {
            // Failures stay until they are reported.
            off_queue.retain(|p| !p.reached() || !was_reported(p) && p.wait(Some(Duration::ZERO)).is_err());
        }
        off_queue.extend(points.into_iter().filter(|p| p.timeline.id() != queue_timeline));
    }

    /// [`Self::attach`] to several views.
    pub(in crate::runtime) fn attach_to(views: &[Arc<Self>]) -> impl FnOnce(&Point) {
        |point| views.iter().for_each(|view| view.attach([point.clone()]))
    }

    /// The points of all work given to the view so far.
    fn points(&self) -> Result<SmallVec<[Point; 4]>> {
        let mut points = SmallVec::from_iter([self.queue.marker()?]);
        if let Some(lost) = self.device.lost() {
            return Err(lost);
        }
        self.accelerator.bridges.trim();
        points.extend(self.off_queue.lock().iter().cloned());
        Ok(points)
    }

    /// Submits queued commands without waiting.
    pub fn flush(&self) -> Result<()> {
        self.queue.marker().map(drop)
    }

    /// Waits for all work given to the view so far, and returns its first failure.
    pub fn wait(&self) -> Result<()> {
        if let Some(actual) = &self.represented {
            return actual.wait();
        }
        let _span = Span::call(WAIT, || Object::named(self.track_name.get_or_make(|| Name::of(&self.track.name()))));
        let mut result = Ok(());
        let points = self.points()?;
        for (n, point) in points.iter().enumerate() {
            let mut done = point.wait(None).map(drop);
            // Without new work the marker is the previous one, whose failure may have been reported already.
            if n == 0 && done.is_err() && self.reported.swap(point.value, Ordering::Relaxed) == point.value {
                done = self.device.lost().map_or(Ok(()), Err);
            }
            if was_reported(point) {
                done = Ok(());
            }
            result = result.and(done);
        }
        // Reports losses of data that nothing has used since.
        if any_lost() {
            if let Some(lost) = points.iter().find_map(|p| p.timeline.unreported(p.value)) {
                result = result.and(Err(lost));
            }
        }
        race::waited_for_view(&points);
        // Removes the work whose results are reported now; work that was added meanwhile stays.
        let waited = |p: &Point| points.iter().any(|w| w.timeline.id() == p.timeline.id() && w.value >= p.value);
        self.off_queue.lock().retain(|p| !waited(p));
        if self.is_lent() {
            // The program may be waiting for the release of its objects.
            self.device.reclaim();
        }
        result
    }

    /// A completion for all work given to the view so far.
    pub fn marker(&self) -> Result<Arc<Completion>> {
        if let Some(actual) = &self.represented {
            return actual.marker();
        }
        let mut points = self.points()?;
        // As with wait(), each failure is reported once.
        points.retain(|p| !was_reported(p));
        Ok(Completion::marker(points.into_vec()))
    }
}
