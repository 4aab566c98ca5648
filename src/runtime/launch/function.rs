//! Launches of functions of the program: on host threads, or as the kernels compiled from them.

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
use crate::runtime::launch::choose::{choose, is_free};
use crate::runtime::launch::compiled;
use crate::runtime::launch::kept::{KeptFunctionLaunch, KeptKernel};
use crate::runtime::launch::later::{later, points_here};
use crate::runtime::launch::request::{DISPATCH, FunctionArgument, FunctionLaunch};
use crate::runtime::launch::uses::{access, reads_and_writes};
use crate::runtime::operations::after::AsyncOptions;
use crate::runtime::operations::completion::Completion;
use crate::runtime::race;
use crate::runtime::runtime;
use crate::trace::events::{self, CallOfOthers, Capture, Captures, Launch, LaunchSpan, Object, cause, caused_by};
use crate::trace::names::{KeptName, Name};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// What computes for the reference accelerator: the thread that runs the queue's jobs, so that threads of a kernel run one
/// after another, in order, every time.
fn one_thread() -> &'static Arc<ThreadPool> {
    static ONE: OnceLock<Arc<ThreadPool>> = OnceLock::new();
    ONE.get_or_init(|| Arc::new(ThreadPool::new(1)))
}

/// Launches; returns before it has run. `again` gets the cached launch if there can be one.
pub fn launch_function(
    view: Option<Arc<AcceleratorView>>,
    launch: &FunctionLaunch<'_>,
    again: Option<&mut Option<CachedLaunch>>,
) -> Result<Point> {
    let object = || object(launch);
    let _span = CallOfOthers::new(DISPATCH, &object);
    let mut wanted = Wanted::new(view.as_ref(), launch);
    wanted.check()?;
    let _using = wanted.uses(|_| false);
    for c in &wanted.captured {
        c.operand.wait_pending(c.access)?;
    }
    wanted.launch(None, again)
}

/// [`launch_function`] after the completions of `options`, without waiting for any of them. `make` makes the kernel for host threads if
/// that is done later.
pub fn launch_function_async(
    view: Option<Arc<AcceleratorView>>,
    launch: &FunctionLaunch<'_>,
    make: impl FnOnce() -> Option<KeptKernel>,
    options: AsyncOptions,
    again: Option<&mut Option<CachedLaunch>>,
) -> Result<Arc<Completion>> {
    let here = points_here(view.as_ref(), &options.after);
    let timer = options.timer.clone();
    let object = || object(launch);
    let _span = CallOfOthers::new(DISPATCH, &object);
    let launch = FunctionLaunch { after: here.as_deref().unwrap_or_default(), timer: timer.as_deref(), ..*launch };
    let mut wanted = Wanted::new(view.as_ref(), &launch);
    wanted.check()?;
    let _using = wanted.uses(|completion| options.after.contains(completion));
    if here.is_some() && !wanted.captured.iter().any(|c| c.operand.is_pending(c.access)) {
        return Ok(Completion::timed(vec![wanted.launch(None, again)?], options.timer));
    }
    let is_free = is_free(view.as_ref(), launch.arguments.iter().map(|a| &a.section));
    let default = if is_free { Some(wanted.default_view()?) } else { None };
    let kept = KeptFunctionLaunch::new(&launch, make(), options.timer.clone());
    let captured = wanted.captured.iter().map(|c| (c.operand, c.access));
    let cause = cause();
    Ok(later(view.clone(), default, captured, options, move |view, default| {
        let launch = |launch: &FunctionLaunch<'_>| {
            let mut wanted = Wanted::new(view.as_ref(), launch);
            wanted.check()?;
            wanted.launch(default.as_ref(), None)
        };
        caused_by(cause, || kept.with(launch))
    }))
}

/// What a trace says of the call.
fn object(launch: &FunctionLaunch<'_>) -> Object {
    Object { captures: captures(launch), ..Object::named(kernel_name(launch)) }
}

/// How the kernel uses the data sources of its array_views, as far as the compiler knows.
fn captures(launch: &FunctionLaunch<'_>) -> Captures {
    let Some(kernel) = launch.known() else { return Captures::new() };
    let used = launch.arguments.iter().filter_map(|a| {
        let Operand::View(part) = &a.section else { return None };
        let (reads, writes) = reads_and_writes(kernel, a.slot.as_ref()?)?;
        (reads || writes).then(|| Capture { source: part.source().id(), reads, writes })
    });
    used.collect()
}

/// What a trace calls the kernel.
fn kernel_name(launch: &FunctionLaunch<'_>) -> Name {
    static UNKNOWN: KeptName = KeptName::new();
    launch.compiled.map_or_else(|| UNKNOWN.of("host function"), |kernel| kernel.kept_name.of(&kernel.location))
}

/// Fails if the launch uses its textures as it must not (TEX-21, TEX-33). `used`: how it uses each argument.
fn check_textures(launch: &FunctionLaunch<'_>, used: &[Option<Access>]) -> Result<()> {
    let is_texture =
        |a: &FunctionArgument<'_>| matches!(&a.section, Operand::Array(array, _) if array.texels().is_some());
    if !launch.arguments.iter().any(is_texture) {
        return Ok(());
    }
    if let Some(kernel) = launch.compiled {
        compiled::check_narrow(kernel, launch.arguments)?;
    }
    check_levels(launch.arguments.iter().zip(used).filter_map(|(a, access)| {
        // Without the compiler, nothing says whether what is captured by reference is written.
        let is_known = launch.compiled.is_some() || !matches!(a.slot, Some(AddressSlot::Behind(..)));
        // Arguments that may both write one level are the same memory, whichever reads it (TEX-35).
        let access = access.filter(|access| is_known && (access.writes() || !a.access.writes()))?;
        Some((&a.section, access))
    }))
}

/// A launch before it is decided where it runs. Made empty and then filled, so that nothing of it is moved.
struct Wanted<'a> {
    view: Option<&'a Arc<AcceleratorView>>,
    launch: &'a FunctionLaunch<'a>,
    /// Its kernel, if what the compiler found holds.
    found: Option<&'a Arc<Compiled>>,
    /// How each argument is used, and those that are.
    used: SmallVec<[Option<Access>; 8]>,
    captured: SmallVec<[Captured<'a>; 8]>,
}

impl<'a> Wanted<'a> {
    #[inline(always)]
    fn new(view: Option<&'a Arc<AcceleratorView>>, launch: &'a FunctionLaunch<'a>) -> Self {
        Self { view, launch, found: launch.known(), used: SmallVec::new(), captured: SmallVec::new() }
    }

    /// Checks the launch, and finds how its arguments are used.
    fn check(&mut self) -> Result<()> {
        for a in self.launch.arguments {
            let access = self.found.map_or(Some(a.access), |kernel| access(kernel, a));
            if let Some(access) = access {
                self.captured.push(Captured { operand: &a.section, access, needs: access });
            }
            self.used.push(access);
        }
        check_textures(self.launch, &self.used)?;
        for c in &self.captured {
            if let Operand::View(part) = c.operand {
                part.check(c.access)?;
            }
        }
        Ok(())
    }

    /// The uses of its arguments, for the race check. `is_before` tells whether it begins after a completion.
    fn uses(&self, is_before: impl Fn(u64) -> bool) -> race::Using {
        let elements = self.captured.iter().filter_map(|c| Some((c.operand.elements()?, c.access)));
        race::uses_after(DISPATCH.name, elements, is_before)
    }

    /// Gives the launch to a queue. Nothing pending may conflict. `default` is the default view, if the call has chosen it.
    fn launch(
        &self,
        default: Option<&Arc<AcceleratorView>>,
        mut again: Option<&mut Option<CachedLaunch>>,
    ) -> Result<Point> {
        // Arguments that the kernel does not use also influence where it runs.
        let sources = Sources::of(self.launch.arguments.iter().map(|a| &a.section));
        sources.attempt(|held| self.hand_over(default, held, again.as_deref_mut()))
    }

    /// The default view that it may run on now.
    fn default_view(&self) -> Result<Arc<AcceleratorView>> {
        let runtime = runtime()?;
        let has_kernel = self.launch.compiled.is_some();
        let default = if has_kernel { runtime.default_for(Code::Host) } else { runtime.default_without_kernel() };
        runtime.default_view(&default?)
    }

    /// Gives the launch to the queue of the view it runs on.
    fn hand_over(
        &self,
        default: Option<&Arc<AcceleratorView>>,
        held: &mut LockedSources<'_>,
        again: Option<&mut Option<CachedLaunch>>,
    ) -> Result<Point> {
        let launch = self.launch;
        let sides = launch.arguments.iter().map(|a| &a.section);
        let view =
            choose(self.view.cloned(), sides, held, || default.cloned().map_or_else(|| self.default_view(), Ok))?;
        let accelerator = view.accelerator();
        let on_host_threads = accelerator.kind() == DeviceKind::HostThreads;
        if !on_host_threads && launch.compiled.is_none() {
            return Err(compiled::missing(accelerator));
        }
        let mut domain = match launch.tile {
            Some(tile) => Domain::tiled(launch.extent, tile, launch.tile_memory),
            None => Domain { tile_memory: launch.tile_memory, ..Domain::new(launch.extent) },
        };
        domain.poisoned = accelerator.is_reference();
        // Checked before anything waits.
        domain.check()?;
        if let (false, Some(kernel)) = (on_host_threads, launch.compiled) {
            return compiled::run(kernel, launch, &self.used, &self.captured, &view, held, again, true);
        }
        let make = launch.kernel.ok_or_else(|| {
            Error::unsupported(
                "the kernel calls functions that are restrict(amp) only and have overloads that are restrict(cpu), so \
                 it runs only on Vulkan accelerators; make those functions restrict(amp,cpu) to run it on host threads",
            )
        })?;
        // Where as many arguments are used as there are pointers, each pointer is one of them.
        if let Some(kernel) = self.found.filter(|kernel| kernel.places != self.captured.len()) {
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
        for (argument, used) in launch.arguments.iter().zip(&self.used) {
            let bound = match used.and_then(|_| bound.next()) {
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
        let point = self.launch_here(&view, |timer| {
            launch_host_kernel(&**view.queue(), pool, &resolved.uses, domain, make(&block)?, timer)
        })?;
        resolved.written(&self.captured, held)?;
        Ok(point)
    }

    /// Launches on host threads by `launch`, which takes a timer.
    fn launch_here(
        &self,
        view: &Arc<AcceleratorView>,
        launch: impl FnOnce(Option<&TimerSlot>) -> Result<Point>,
    ) -> Result<Point> {
        if !events::is_on() {
            return launch(self.launch.timer);
        }
        let name = kernel_name(self.launch);
        let traced = Launch { kernel: name, track: view.track(), captures: captures(self.launch) };
        let span = LaunchSpan::of_call(&traced);
        let own = TimerSlot::default();
        let slot = self.launch.timer.or_else(|| events::times_devices().then_some(&own));
        let point = launch(slot)?;
        if let Some(timer) = slot.filter(|_| events::times_devices()).and_then(TimerSlot::get) {
            view.trace_times(name, span.id(), &point, timer);
        }
        Ok(point)
    }

    /// Room for what the kernel does not use: nothing is fetched or marked. Blocks grow before any address is taken.
    #[cold]
    fn reserve_unused(&self, view: &Arc<AcceleratorView>, held: &mut LockedSources<'_>) -> Result<()> {
        for (argument, _) in self.launch.arguments.iter().zip(&self.used).filter(|(_, used)| used.is_none()) {
            if let Operand::View(part) = &argument.section {
                let state = held.state(part)?;
                let holder = state.holder(Some(view))?;
                state.reserve(&holder, &part.region().hull())?;
            }
        }
        Ok(())
    }
}

/// The memory of what the kernel does not use. The compiler removes reads whose result nobody uses, but the program's own
/// function may do them: the memory must live until then.
#[cold]
fn unused_memory(section: &Operand, view: &Arc<AcceleratorView>, held: &mut LockedSources<'_>) -> Result<Use> {
    let (buffer, range) = match section {
        Operand::Host(..) => return Err(Error::internal("host memory where an array was needed")),
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
