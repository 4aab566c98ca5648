//! Launching functions of the program: on host threads, or as the kernels compiled of them.

use crate::device::block::{Block, Place};
use crate::device::hazard::Point;
use crate::device::host::{Domain, HostKernel, launch_host_kernel};
use crate::device::physical::Kind;
use crate::error::{Error, Result};
use crate::host::Workers;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::defaults::Code;
use crate::runtime::copies::copy::Side;
use crate::runtime::launch::arguments::{Brought, Captured, Held, Sources, choose, settle};
use crate::runtime::launch::cached_launch::Repeat;
use crate::runtime::launch::compiled;
use crate::runtime::race;
use crate::runtime::runtime;
use crate::trace::transfers::{Call, implicit};
use smallvec::SmallVec;
use std::sync::Arc;

/// A launch of a function of the program.
pub struct HostLaunch<'a> {
    /// Global extent.
    pub extent: &'a [i32],
    /// Tile extent.
    pub tile: Option<&'a [i32]>,
    /// Bytes of tile_static memory.
    pub tile_memory: usize,
    /// What it uses.
    pub arguments: &'a [HostArgument<'a>],
    /// The argument block, or nothing.
    pub block: &'a [u8],
    /// Its alignment.
    pub block_align: usize,
    /// The kernel for host threads.
    pub kernel: Option<&'a MakeKernel<'a>>,
    /// The kernel for Vulkan views.
    pub compiled: Option<Arc<Compiled>>,
}

/// Makes a kernel of the block as it shall be.
pub type MakeKernel<'a> = dyn Fn(&Block) -> Result<Arc<dyn HostKernel>> + 'a;

/// An array or array_view a launch uses.
pub struct HostArgument<'a> {
    /// It.
    pub section: Side,
    /// How it is used.
    pub access: Access,
    /// Where its address goes.
    pub place: Option<Place<'a>>,
}

pub(in crate::runtime) const DISPATCH: Call = implicit(c"revamp_parallel_for_each");

/// Where a launch will run, as [`choose`] will find it.
fn kind_of(view: Option<&Arc<AcceleratorView>>, arguments: &[HostArgument<'_>]) -> Result<Kind> {
    if let Some(view) = view.filter(|v| !v.is_auto_selection()) {
        return Ok(view.accelerator().kind());
    }
    let array = arguments.iter().find_map(|a| match &a.section {
        Side::Array(array, _) => Some(array),
        _ => None,
    });
    match array {
        Some(array) => Ok(array.view().accelerator().kind()),
        None => Ok(runtime()?.default_for(Code::Host)?.kind()),
    }
}

/// Launches; returns before it has run. `again` gets what it takes to launch the same once more, where that is possible.
pub fn host_dispatch(
    view: Option<Arc<AcceleratorView>>,
    launch: &HostLaunch<'_>,
    mut again: Option<&mut Option<Repeat>>,
) -> Result<Point> {
    // A compiled kernel tells what it uses.
    let compiled = match &launch.compiled {
        Some(compiled) if kind_of(view.as_ref(), launch.arguments)? == Kind::Vulkan => Some(compiled),
        _ => None,
    };
    let mut used: SmallVec<[Option<Access>; 8]> = SmallVec::new();
    let mut captured: SmallVec<[Captured<'_>; 8]> = SmallVec::new();
    for a in launch.arguments {
        let access = compiled.map_or(Some(a.access), |kernel| compiled::access(kernel, a));
        captured.extend(access.map(|access| Captured { side: &a.section, access, needs: access }));
        used.push(access);
    }
    let _using = race::uses(DISPATCH.name, captured.iter().filter_map(|c| Some((c.side.elements()?, c.access))));
    for c in &captured {
        if let Side::View(part) = c.side {
            part.check(c.access)?;
        }
        settle(c.side, c.access)?;
    }
    // What is captured and not used has a say in where it runs.
    let sources = Sources::of(launch.arguments.iter().map(|a| &a.section));
    let wanted = Wanted { view, launch, compiled, used: &used, captured: &captured };
    sources.attempt(|held| wanted.hand_over(held, again.as_deref_mut()))
}

/// A launch before it is known where it runs.
struct Wanted<'a> {
    view: Option<Arc<AcceleratorView>>,
    launch: &'a HostLaunch<'a>,
    compiled: Option<&'a Arc<Compiled>>,
    /// How each argument is used, and those that are.
    used: &'a [Option<Access>],
    captured: &'a [Captured<'a>],
}

impl Wanted<'_> {
    /// Gives it to the queue of the view it runs on.
    fn hand_over(&self, held: &mut Held<'_>, again: Option<&mut Option<Repeat>>) -> Result<Point> {
        let launch = self.launch;
        let sides = launch.arguments.iter().map(|a| &a.section);
        let view = choose(self.view.clone(), sides, held, || {
            let runtime = runtime()?;
            runtime.default_view(&runtime.default_for(Code::Host)?)
        })?;
        let accelerator = view.accelerator();
        if accelerator.kind() != Kind::HostThreads && self.compiled.is_none() {
            return Err(compiled::missing(accelerator));
        }
        let domain = match launch.tile {
            Some(tile) => Domain::tiled(launch.extent, tile, launch.tile_memory),
            None => Domain { tile_memory: launch.tile_memory, ..Domain::new(launch.extent) },
        };
        // Before anything waits.
        domain.check()?;
        if let Some(kernel) = self.compiled {
            return compiled::run(kernel, launch, self.used, self.captured, &view, held, again);
        }
        let make = launch.kernel.ok_or_else(|| {
            Error::unsupported(
                "the kernel uses functions that are restrict(amp) alone, beside others of the same name for \
                 restrict(cpu), so it runs only on Vulkan accelerators; make those functions restrict(amp,cpu) to run it \
                 on host threads",
            )
        })?;
        let mut brought = Brought::default();
        brought.bring(self.captured, &view, held, DISPATCH)?;
        let uses = &brought.uses;
        let mut block = Block::default();
        block.begin(launch.block)?;
        for (argument, bound) in launch.arguments.iter().zip(uses) {
            if let Some(place) = &argument.place {
                let first = bound
                    .buffer
                    .host()
                    .map_or(std::ptr::null_mut(), |h| h.as_ptr().wrapping_add(bound.range.start as usize));
                block.put(place, first.expose_provenance() as u64)?;
            }
        }
        let point = launch_host_kernel(&**view.queue(), &Workers::shared().pool, uses, domain, make(&block)?)?;
        brought.written(self.captured, held)?;
        Ok(point)
    }
}
