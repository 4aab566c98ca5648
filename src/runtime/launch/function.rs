//! Launches functions of the program: on host threads, or on Vulkan devices as the kernels compiled from these functions.

use crate::device::block::{AddressSlot, Block};
use crate::device::hazard::Point;
use crate::device::host::{Domain, launch_host_kernel};
use crate::device::physical::DeviceKind;
use crate::device::{TimerSlot, Use};
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::host::Workers;
use crate::host::pool::ThreadPool;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::defaults::Code;
use crate::runtime::accelerators::loaded_kernel::KernelChecks;
use crate::runtime::data::locked::{LockedSources, Sources};
use crate::runtime::data::operand::Operand;
use crate::runtime::data::texture::check_levels;
use crate::runtime::launch::arguments::{Captured, ResolvedArguments};
use crate::runtime::launch::bounds::Table;
use crate::runtime::launch::cached_launch::CachedLaunch;
use crate::runtime::launch::choose::{choose, is_view_undetermined};
use crate::runtime::launch::compiled;
use crate::runtime::launch::domain::threads;
use crate::runtime::launch::kept::{KeptFunctionLaunch, KeptKernel};
use crate::runtime::launch::later::{later, points_on_device};
use crate::runtime::launch::request::{DISPATCH, FunctionArgument, FunctionLaunch};
use crate::runtime::launch::uses::{access, reads_and_writes, thread_bytes};
use crate::runtime::operations::after::{After, AsyncOptions};
use crate::runtime::operations::completion::Completion;
use crate::runtime::race;
use crate::runtime::runtime;
use crate::trace::events::{
    self, Capture, Captures, ConditionalCallSpan, Launch, LaunchSpan, Object, cause, caused_by,
};
use crate::trace::names::{CachedName, Name};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// The thread pool of the reference accelerator. The pool consists only of the thread that runs the queue's jobs, so the threads
/// of a kernel always run one after another, in the same order.
fn one_thread() -> &'static Arc<ThreadPool> {
    static ONE: OnceLock<Arc<ThreadPool>> = OnceLock::new();
    ONE.get_or_init(|| Arc::new(ThreadPool::new(1)))
}

/// Launches a function, and returns before the function has run. `cache_slot` receives the cached launch if the launch can be
/// cached.
pub fn launch_function(
    view: Option<Arc<AcceleratorView>>,
    launch: &FunctionLaunch<'_>,
    cache_slot: Option<&mut Option<CachedLaunch>>,
) -> Result<Point> {
    let object = || object(launch);
    let _span = ConditionalCallSpan::new(DISPATCH, &object);
    let mut prepared = PreparedLaunch::new(view.as_ref(), launch);
    prepared.check()?;
    let _using = prepared.uses(&After::default());
    for c in &prepared.captured {
        c.operand.wait_pending(c.access)?;
    }
    prepared.launch(None, cache_slot)
}

/// [`launch_function`] after the completions of `options`. The call itself does not wait for the completions. If the launch
/// begins after the call has returned, `make` makes the kernel for host threads.
pub fn launch_function_async(
    view: Option<Arc<AcceleratorView>>,
    launch: &FunctionLaunch<'_>,
    make: impl FnOnce() -> Option<KeptKernel>,
    options: AsyncOptions,
    cache_slot: Option<&mut Option<CachedLaunch>>,
) -> Result<Arc<Completion>> {
    let device_points = points_on_device(view.as_ref(), &options.after);
    let timer = options.timer.clone();
    let object = || object(launch);
    let _span = ConditionalCallSpan::new(DISPATCH, &object);
    let launch =
        FunctionLaunch { after: device_points.as_deref().unwrap_or_default(), timer: timer.as_deref(), ..*launch };
    let mut prepared = PreparedLaunch::new(view.as_ref(), &launch);
    prepared.check()?;
    let using = prepared.uses(&options.after);
    if device_points.is_some() && !prepared.captured.iter().any(|c| c.operand.is_pending(c.access)) {
        let made = Completion::timed(vec![prepared.launch(None, cache_slot)?], options.timer);
        made.begins_after(&using);
        return Ok(made);
    }
    let is_view_undetermined = is_view_undetermined(view.as_ref(), launch.arguments.iter().map(|a| &a.section));
    let default = if is_view_undetermined { Some(prepared.default_view()?) } else { None };
    let kept = KeptFunctionLaunch::new(&launch, make(), options.timer.clone());
    let captured = prepared.captured.iter().map(|c| (c.operand, c.access));
    let cause = cause();
    let made = later(view.clone(), default, captured, options, move |view, default| {
        let launch = |launch: &FunctionLaunch<'_>| {
            let mut prepared = PreparedLaunch::new(view.as_ref(), launch);
            prepared.check()?;
            prepared.launch(default.as_ref(), None)
        };
        caused_by(cause, || kept.with(launch))
    });
    made.begins_after(&using);
    Ok(made)
}

/// The description of the call in a trace.
fn object(launch: &FunctionLaunch<'_>) -> Object {
    Object { captures: captures(launch), ..Object::named(kernel_name(launch)) }
}

/// How the kernel uses the data sources of its array_views, as far as the compiler knows.
fn captures(launch: &FunctionLaunch<'_>) -> Captures {
    let Some(kernel) = launch.applicable_kernel() else { return Captures::new() };
    let threads = threads(launch.extent).into_iter().fold(1, u64::saturating_mul);
    let used_as = launch.arguments.iter().filter_map(|a| {
        let Operand::View(part) = &a.section else { return None };
        let slot = a.slot.as_ref()?;
        let (reads, writes) = reads_and_writes(kernel, slot)?;
        let bytes = thread_bytes(kernel, slot).and_then(|bytes| bytes.checked_mul(threads));
        (reads || writes).then(|| Capture {
            source: part.source().id(),
            reads,
            writes,
            may_write: a.access.writes(),
            max_bytes: bytes.unwrap_or(0),
        })
    });
    used_as.collect()
}

/// The name of the kernel in a trace.
fn kernel_name(launch: &FunctionLaunch<'_>) -> Name {
    static UNKNOWN: CachedName = CachedName::new();
    launch.compiled.map_or_else(|| UNKNOWN.of("host function"), |kernel| kernel.cached_name.of(&kernel.location))
}

/// Fails if the launch uses a texture in a forbidden way (TEX-21, TEX-33). `used_as`: the kernel's access to each argument.
fn check_textures(launch: &FunctionLaunch<'_>, used_as: &[Option<Access>]) -> Result<()> {
    let is_texture =
        |a: &FunctionArgument<'_>| matches!(&a.section, Operand::Array(array, _) if array.texels().is_some());
    if !launch.arguments.iter().any(is_texture) {
        return Ok(());
    }
    if let Some(kernel) = launch.compiled {
        compiled::check_narrow(kernel, launch.arguments)?;
    }
    check_levels(launch.arguments.iter().zip(used_as).filter_map(|(a, access)| {
        // Without a compiled kernel it is unknown whether the kernel writes a texture captured by reference.
        let is_known = launch.compiled.is_some() || !matches!(a.slot, Some(AddressSlot::Indirect(..)));
        // Reads through a writable argument do not count: writable arguments of one level share its memory (TEX-35).
        let access = access.filter(|access| is_known && (access.writes() || !a.access.writes()))?;
        Some((&a.section, access))
    }))
}

/// A launch whose view is not chosen yet. Constructed empty and filled in place, to avoid moves.
struct PreparedLaunch<'a> {
    view: Option<&'a Arc<AcceleratorView>>,
    launch: &'a FunctionLaunch<'a>,
    /// The compiled kernel, if the compiler's findings apply to this launch.
    known_kernel: Option<&'a Arc<Compiled>>,
    /// The kernel's access to each argument; `None` if the kernel does not use it.
    used_as: SmallVec<[Option<Access>; 8]>,
    /// The used arguments.
    captured: SmallVec<[Captured<'a>; 8]>,
}

impl<'a> PreparedLaunch<'a> {
    #[inline(always)]
    fn new(view: Option<&'a Arc<AcceleratorView>>, launch: &'a FunctionLaunch<'a>) -> Self {
        Self {
            view,
            launch,
            known_kernel: launch.applicable_kernel(),
            used_as: SmallVec::new(),
            captured: SmallVec::new(),
        }
    }

    /// Checks the launch, and determines how the kernel uses the arguments.
    fn check(&mut self) -> Result<()> {
        for a in self.launch.arguments {
            let access = self.known_kernel.map_or(Some(a.access), |kernel| access(kernel, a));
            if let Some(access) = access {
                self.captured.push(Captured { operand: &a.section, access, needs: access });
            }
            self.used_as.push(access);
        }
        check_textures(self.launch, &self.used_as)?;
        for c in &self.captured {
            if let Operand::View(part) = c.operand {
                part.check(c.access)?;
            }
        }
        Ok(())
    }

    /// The uses of the arguments, for the race check. The launch begins after the completions of `after`.
    fn uses(&self, after: &After) -> race::CallUses {
        let elements = self.captured.iter().filter_map(|c| Some((c.operand.elements()?, c.access)));
        race::uses_after(DISPATCH.name, elements, || after.completions())
    }

    /// Gives the launch to a queue. No pending operation may conflict with the launch. `default`: the default view, if it was
    /// chosen when the program requested the launch.
    fn launch(
        &self,
        default: Option<&Arc<AcceleratorView>>,
        mut cache_slot: Option<&mut Option<CachedLaunch>>,
    ) -> Result<Point> {
        // Arguments that the kernel does not use also influence where the kernel runs.
        let sources = Sources::of(self.launch.arguments.iter().map(|a| &a.section));
        sources.attempt(|held| self.hand_over(default, held, cache_slot.as_deref_mut()))
    }

    /// The current default view for this launch.
    fn default_view(&self) -> Result<Arc<AcceleratorView>> {
        let runtime = runtime()?;
        let has_kernel = self.launch.compiled.is_some();
        let default = if has_kernel { runtime.default_for(Code::Host) } else { runtime.default_without_kernel() };
        runtime.default_view(&default?)
    }

    /// Chooses the view of the launch, and gives the launch to the queue of that view.
    fn hand_over(
        &self,
        default: Option<&Arc<AcceleratorView>>,
        held: &mut LockedSources<'_>,
        cache_slot: Option<&mut Option<CachedLaunch>>,
    ) -> Result<Point> {
        let launch = self.launch;
        let operands = launch.arguments.iter().map(|a| &a.section);
        let view =
            choose(self.view.cloned(), operands, held, || default.cloned().map_or_else(|| self.default_view(), Ok))?;
        let accelerator = view.accelerator();
        let on_host_threads = accelerator.kind() == DeviceKind::HostThreads;
        if !on_host_threads && launch.compiled.is_none() {
            return Err(compiled::missing_kernel_error(accelerator));
        }
        let mut domain = match launch.tile {
            Some(tile) => Domain::tiled(launch.extent, tile, launch.tile_memory),
            None => Domain { tile_memory: launch.tile_memory, ..Domain::new(launch.extent) },
        };
        domain.poisoned = accelerator.is_reference();
        // An invalid domain is reported before the launch waits for anything.
        domain.check()?;
        if let (false, Some(kernel)) = (on_host_threads, launch.compiled) {
            return compiled::run(kernel, launch, &self.used_as, &self.captured, &view, held, cache_slot, true);
        }
        let make = launch.kernel.ok_or_else(|| {
            Error::unsupported(
                "host threads cannot run the kernel, because it calls restrict(amp) functions that have restrict(cpu) \
                 overloads; make these functions restrict(amp,cpu), or use a Vulkan accelerator",
            )
        })?;
        // `offset_count` is the number of pointers that the kernel uses. If the launch has as many used arguments, each pointer belongs
        // to one of them, and the check is not needed.
        if let Some(kernel) = self.known_kernel.filter(|kernel| kernel.offset_count != self.captured.len()) {
            compiled::check(kernel, launch)?;
        }
        if self.captured.len() < launch.arguments.len() {
            self.reserve_unused(&view, held)?;
        }
        let mut resolved = ResolvedArguments::default();
        resolved.make_valid(&self.captured, &view, held, DISPATCH)?;
        let mut block = Block::default();
        block.begin(launch.block)?;
        let checks = launch.compiled.and_then(|kernel| kernel.native).is_some_and(|native| native.checked);
        let table = if checks { Some(Table::begin(&mut block, &KernelChecks::default())?) } else { None };
        let (mut bound, mut unused) = (resolved.uses.iter(), Vec::new());
        for (argument, used_as) in launch.arguments.iter().zip(&self.used_as) {
            let bound = match used_as.and_then(|_| bound.next()) {
                Some(bound) => bound,
                None => {
                    unused.make_room(1)?;
                    unused.push(unused_memory(&argument.section, &view, held)?);
                    &unused[unused.len() - 1]
                }
            };
            if let Some(slot) = &argument.slot {
                let first = bound
                    .buffer
                    .host()
                    .map_or(std::ptr::null_mut(), |h| h.as_ptr().wrapping_add(bound.range.start as usize));
                block.put(slot, first.expose_provenance() as u64)?;
                if let (Some(table), Some(memory)) = (&table, bound.buffer.host()) {
                    let span = (memory.as_ptr().expose_provenance() as u64, bound.buffer.size());
                    table.put(&mut block, slot, span);
                }
            }
        }
        if let Some(table) = table {
            table.end(&mut block);
        }
        if !unused.is_empty() {
            resolved.uses.extend(unused);
        }
        let pool = if accelerator.is_reference() { one_thread() } else { &Workers::shared().pool };
        let point = self.launch_on_host_threads(&view, |timer| {
            launch_host_kernel(&**view.queue(), pool, &resolved.uses, domain, make(&block)?, timer)
        })?;
        resolved.written(&self.captured, held)?;
        Ok(point)
    }

    /// Calls `launch`, which launches the kernel on host threads, with the slot for a timer. Adds the launch to the trace.
    fn launch_on_host_threads(
        &self,
        view: &Arc<AcceleratorView>,
        launch: impl FnOnce(Option<&TimerSlot>) -> Result<Point>,
    ) -> Result<Point> {
        if !events::is_on() {
            return launch(self.launch.timer);
        }
        let name = kernel_name(self.launch);
        let traced = || Launch { kernel: name, track: view.track(), captures: captures(self.launch) };
        let span = LaunchSpan::of_call(|| self.numbers(name, view.track().queue), traced);
        let local_slot = TimerSlot::default();
        let slot = self.launch.timer.or_else(|| events::times_devices().then_some(&local_slot));
        let point = launch(slot)?;
        if let Some(timer) = slot.filter(|_| events::times_devices()).and_then(TimerSlot::get) {
            view.trace_times(name, span.id(), &point, timer);
        }
        Ok(point)
    }

    /// The numbers that determine the event of this launch.
    #[inline]
    fn numbers(&self, name: Name, queue: u64) -> impl Iterator<Item = u64> {
        let kernel = self.known_kernel.map_or(0, |kernel| kernel.id);
        let extent = self.launch.extent.iter().map(|&e| u64::from(e.unsigned_abs()));
        let views = self.launch.arguments.iter().filter_map(|a| match (&a.section, &a.slot) {
            (Operand::View(part), Some(slot)) => {
                let is_indirect = matches!(slot, AddressSlot::Indirect(..));
                let slot = u64::from(slot.offset()) << 2 | u64::from(is_indirect) << 1 | u64::from(a.access.writes());
                Some(part.source().id().rotate_left(32) ^ slot)
            }
            _ => None,
        });
        [u64::from(name.number()) << 32 | queue, kernel].into_iter().chain(extent).chain(views)
    }

    /// Reserves memory for arguments that the kernel does not use, without transferring bytes or marking them as written. Must be
    /// called before any address is taken, because reserving may move the memory of other arguments.
    #[cold]
    fn reserve_unused(&self, view: &Arc<AcceleratorView>, held: &mut LockedSources<'_>) -> Result<()> {
        for (argument, _) in self.launch.arguments.iter().zip(&self.used_as).filter(|(_, used_as)| used_as.is_none()) {
            if let Operand::View(part) = &argument.section {
                let state = held.state(part)?;
                let holder = state.holder(Some(view))?;
                state.reserve(&holder, &part.region().hull())?;
            }
        }
        Ok(())
    }
}

/// The memory of an argument that the kernel does not use. The function that runs on host threads may still execute reads that
/// the compiler has removed from the kernel as unused, so the memory must live until the function has run.
#[cold]
fn unused_memory(section: &Operand, view: &Arc<AcceleratorView>, held: &mut LockedSources<'_>) -> Result<Use> {
    let (buffer, range) = match section {
        Operand::Host(..) => return Err(Error::internal("an argument is host memory, but must be an array")),
        Operand::Array(array, layout) => (array.buffer().clone(), layout.hull()),
        Operand::View(part) => {
            let state = held.state(part)?;
            let holder = state.holder(Some(view))?;
            let (buffer, base) = state.memory_of(&holder)?;
            let hull = part.region().hull();
            (buffer, hull.start - base..hull.end - base)
        }
    };
    Ok(Use { buffer, range, access: Access::Read })
}
