//! Launches of functions of the program: on host threads, or as the kernels compiled from them.

use crate::device::block::{AddressSlot, Block};
use crate::device::hazard::Point;
use crate::device::host::{Domain, launch_host_kernel};
use crate::device::physical::DeviceKind;
use crate::error::{Error, Result};
use crate::host::Workers;
use crate::host::pool::ThreadPool;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::defaults::Code;
use crate::runtime::data::locked::{LockedSources, Sources};
use crate::runtime::data::operand::Operand;
use crate::runtime::data::texture::check_levels;
use crate::runtime::launch::arguments::{Captured, ResolvedArguments};
use crate::runtime::launch::cached_launch::CachedLaunch;
use crate::runtime::launch::choose::choose;
use crate::runtime::launch::compiled;
use crate::runtime::launch::request::{DISPATCH, HostArgument, HostLaunch};
use crate::runtime::launch::uses::access;
use crate::runtime::race;
use crate::runtime::runtime;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// What computes for the reference accelerator: the thread that runs the queue's jobs, so that threads of a kernel run one
/// after another, in order, every time.
fn one_thread() -> &'static Arc<ThreadPool> {
    static ONE: OnceLock<Arc<ThreadPool>> = OnceLock::new();
    ONE.get_or_init(|| Arc::new(ThreadPool::new(1)))
}

/// The kind of device a launch will run on, as [`choose`] will decide.
fn kind_of(view: Option<&Arc<AcceleratorView>>, arguments: &[HostArgument<'_>]) -> Result<DeviceKind> {
    if let Some(view) = view.filter(|v| !v.is_auto_selection()) {
        return Ok(view.accelerator().kind());
    }
    let array = arguments.iter().find_map(|a| match &a.section {
        Operand::Array(array, _) => Some(array),
        _ => None,
    });
    match array {
        Some(array) => Ok(array.view().accelerator().kind()),
        None => Ok(runtime()?.default_for(Code::Host)?.kind()),
    }
}

/// Launches; returns before it has run. `again` gets the cached launch if there can be one.
pub fn host_dispatch(
    view: Option<Arc<AcceleratorView>>,
    launch: &HostLaunch<'_>,
    mut again: Option<&mut Option<CachedLaunch>>,
) -> Result<Point> {
    // A compiled kernel declares what it uses.
    let compiled = match launch.compiled {
        Some(compiled) if kind_of(view.as_ref(), launch.arguments)? == DeviceKind::Vulkan => Some(compiled),
        _ => None,
    };
    let mut used: SmallVec<[Option<Access>; 8]> = SmallVec::new();
    let mut captured: SmallVec<[Captured<'_>; 8]> = SmallVec::new();
    for a in launch.arguments {
        let access = compiled.map_or(Some(a.access), |kernel| access(kernel, a));
        captured.extend(access.map(|access| Captured { operand: &a.section, access, needs: access }));
        used.push(access);
    }
    check_textures(launch)?;
    let _using = race::uses(DISPATCH.name, captured.iter().filter_map(|c| Some((c.operand.elements()?, c.access))));
    for c in &captured {
        if let Operand::View(part) = c.operand {
            part.check(c.access)?;
        }
        c.operand.wait_pending(c.access)?;
    }
    // Arguments that the kernel does not use also influence where it runs.
    let sources = Sources::of(launch.arguments.iter().map(|a| &a.section));
    let wanted = Wanted { view, launch, compiled, used: &used, captured: &captured };
    sources.attempt(|held| wanted.hand_over(held, again.as_deref_mut()))
}

/// Fails if the launch uses its textures as it must not (TEX-21, TEX-33).
fn check_textures(launch: &HostLaunch<'_>) -> Result<()> {
    let is_texture = |a: &HostArgument<'_>| matches!(&a.section, Operand::Array(array, _) if array.texels().is_some());
    if !launch.arguments.iter().any(is_texture) {
        return Ok(());
    }
    let declared = launch.compiled.as_ref();
    if let Some(kernel) = declared {
        compiled::check_narrow(kernel, launch.arguments)?;
    }
    check_levels(launch.arguments.iter().filter_map(|a| {
        let access = match declared {
            Some(kernel) => access(kernel, a),
            // Nothing says whether what is captured by reference is written.
            None => Some(a.access).filter(|_| !matches!(a.slot, Some(AddressSlot::Behind(..)))),
        };
        Some((&a.section, access?))
    }))
}

/// A launch before it is decided where it runs.
struct Wanted<'a> {
    view: Option<Arc<AcceleratorView>>,
    launch: &'a HostLaunch<'a>,
    compiled: Option<&'a Arc<Compiled>>,
    /// How each argument is used, and those that are.
    used: &'a [Option<Access>],
    captured: &'a [Captured<'a>],
}

impl Wanted<'_> {
    /// Gives the launch to the queue of the view it runs on.
    fn hand_over(&self, held: &mut LockedSources<'_>, again: Option<&mut Option<CachedLaunch>>) -> Result<Point> {
        let launch = self.launch;
        let sides = launch.arguments.iter().map(|a| &a.section);
        let view = choose(self.view.clone(), sides, held, || {
            let runtime = runtime()?;
            runtime.default_view(&runtime.default_for(Code::Host)?)
        })?;
        let accelerator = view.accelerator();
        if accelerator.kind() != DeviceKind::HostThreads && self.compiled.is_none() {
            return Err(compiled::missing(accelerator));
        }
        let mut domain = match launch.tile {
            Some(tile) => Domain::tiled(launch.extent, tile, launch.tile_memory),
            None => Domain { tile_memory: launch.tile_memory, ..Domain::new(launch.extent) },
        };
        domain.poisoned = accelerator.is_reference();
        // Checked before anything waits.
        domain.check()?;
        if let Some(kernel) = self.compiled {
            return compiled::run(kernel, launch, self.used, self.captured, &view, held, again, true);
        }
        let make = launch.kernel.ok_or_else(|| {
            Error::unsupported(
                "the kernel uses functions that are restrict(amp) alone, beside others of the same name for \
                 restrict(cpu), so it runs only on Vulkan accelerators; make those functions restrict(amp,cpu) to run it \
                 on host threads",
            )
        })?;
        let mut resolved = ResolvedArguments::default();
        resolved.make_valid(self.captured, &view, held, DISPATCH)?;
        let uses = &resolved.uses;
        let mut block = Block::default();
        block.begin(launch.block)?;
        for (argument, bound) in launch.arguments.iter().zip(uses) {
            if let Some(slot) = &argument.slot {
                let first = bound
                    .buffer
                    .host()
                    .map_or(std::ptr::null_mut(), |h| h.as_ptr().wrapping_add(bound.range.start as usize));
                block.put(slot, first.expose_provenance() as u64)?;
            }
        }
        let pool = if accelerator.is_reference() { one_thread() } else { &Workers::shared().pool };
        let point = launch_host_kernel(&**view.queue(), pool, uses, domain, make(&block)?)?;
        resolved.written(self.captured, held)?;
        Ok(point)
    }
}
