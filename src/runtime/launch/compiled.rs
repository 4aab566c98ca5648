//! Launching the kernels that the kernel compiler made of C++ AMP lambdas, on Vulkan views.

use crate::device::block::{Block, Place};
use crate::device::hazard::Point;
use crate::device::{Dispatch, Use};
use crate::error::{Error, Result};
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::kernel::image::{ANY_OFFSET, Capture};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::loaded_kernel::LoadedKernel;
use crate::runtime::launch::arguments::{Brought, Captured, Held};
use crate::runtime::launch::cached_launch::{Found, Repeat};
use crate::runtime::launch::host::{DISPATCH, HostArgument, HostLaunch};
use crate::runtime::launch::spirv::groups;
use smallvec::SmallVec;
use std::sync::Arc;

/// How the kernel uses an argument; `None`: not at all.
pub(in crate::runtime) fn access(kernel: &Compiled, argument: &HostArgument<'_>) -> Option<Access> {
    let place = argument.place.as_ref()?;
    // A view's elements lie at the pointer in the block, an array's at the one in its face.
    let further = matches!(place, Place::Behind(..));
    let used = |c: &&Capture| c.offset == place.offset() && c.further == further;
    let (mut reads, mut writes) = (false, false);
    for c in kernel.captures.iter() {
        if c.offset == ANY_OFFSET {
            return Some(argument.access);
        }
        if used(&c) {
            (reads, writes) = (reads || c.reads, writes || c.writes);
        }
    }
    match (reads, writes) {
        (false, false) => None,
        (true, false) => Some(Access::Read),
        // Elements that it leaves out keep their values.
        (_, true) => Some(Access::ReadWrite),
    }
}

/// What the launch gives fits what was compiled.
pub(in crate::runtime) fn check(kernel: &Compiled, launch: &HostLaunch<'_>) -> Result<()> {
    let told = |what: String| Err(Error::runtime(format!("{}: {what}", kernel.location)));
    let given = (launch.block.len() as u64, launch.block_align as u64);
    // The compiler may know of a smaller alignment than the source asks for.
    if given.0 != kernel.block_size || given.1 < kernel.block_align {
        return told(format!(
            "the kernel was compiled for arguments of {} bytes aligned to {}, the program gives {} bytes aligned to {}: \
             the source means different things to host and device; a functor must not differ between them",
            kernel.block_size, kernel.block_align, given.0, given.1
        ));
    }
    for c in kernel.captures.iter().filter(|c| c.offset != ANY_OFFSET) {
        let places = launch.arguments.iter().filter_map(|a| a.place.as_ref());
        if !places.map(Place::offset).any(|offset| offset == c.offset) {
            return told(format!(
                "the kernel uses a pointer that is captured at byte {} of its functor and comes from no array_view and no \
                 live array; capture an array_view, or a reference to an array",
                c.offset
            ));
        }
    }
    Ok(())
}

/// The text of the error where there is no kernel.
pub(in crate::runtime) fn missing(accelerator: &Accelerator) -> Error {
    Error::unsupported(format!(
        "{} runs SPIR-V, and the program has no compiled kernel for this launch. Two ways out: compile the source file with \
         revamp-c++ or with revamp_add_kernels() of CMake; or run it on host threads, the accelerator direct3d\\warp \
         (accelerator::direct3d_warp)",
        accelerator.name()
    ))
}

/// Gives the view's queue a launch with this block, into which the addresses are written at their places.
pub(in crate::runtime) fn hand_over<'p>(
    view: &AcceleratorView,
    kernel: &LoadedKernel,
    groups: [u64; 3],
    uses: &[Use],
    block: &[u8],
    mut places: impl Iterator<Item = (&'p Place<'p>, u64)>,
) -> Result<Point> {
    let mut filled = Block::default();
    filled.begin(block)?;
    places.try_for_each(|(place, address)| filled.put(place, address))?;
    view.queue().dispatch(&Dispatch {
        kernel: &**kernel.kernel(),
        spec: &Vec::new(),
        bindings: &[],
        uses,
        push: &[],
        block: Some(&filled),
        groups,
    })
}

/// Runs the kernel on `view`. `used`: how it uses each argument; those it does use are `captured`. If the same launch may be done
/// again as it was done now, `again` gets it.
pub(in crate::runtime) fn run(
    kernel: &Arc<Compiled>,
    launch: &HostLaunch<'_>,
    used: &[Option<Access>],
    captured: &[Captured<'_>],
    view: &Arc<AcceleratorView>,
    held: &mut Held<'_>,
    again: Option<&mut Option<Repeat>>,
) -> Result<Point> {
    check(kernel, launch)?;
    let accelerator = view.accelerator();
    let loaded = accelerator.compiled.load(&accelerator.device()?, &accelerator.kernels, kernel)?;
    let size = loaded.workgroup();
    if let Some(tile) = launch.tile {
        let wanted: SmallVec<[u32; 3]> = tile.iter().rev().map(|&t| t as u32).chain([1, 1]).take(3).collect();
        if wanted[..] != size {
            return Err(Error::runtime(format!(
                "{}: the kernel was compiled for tiles of {size:?} threads (x, y, z), the launch has {wanted:?}",
                kernel.location
            )));
        }
    }
    let groups = groups(launch.extent, size)?;
    if let Some(lost) = view.device().lost() {
        return Err(lost);
    }
    let mut brought = Brought::default();
    brought.bring(captured, view, held, DISPATCH)?;
    let mut bound = brought.uses.iter();
    let mut addresses: SmallVec<[u64; 4]> = SmallVec::new();
    for access in used {
        // Of an array that is not used the extent may be.
        addresses.push(match access.and_then(|_| bound.next()) {
            None => 0,
            Some(b) => {
                let start = b.buffer.device_address().ok_or_else(|| {
                    Error::runtime(format!("an array of the launch is not reached by {}", accelerator.name()))
                })?;
                start + b.range.start
            }
        });
    }
    let places = launch.arguments.iter().map(|a| a.place.as_ref()).zip(&addresses);
    let places = places.filter_map(|(place, &address)| Some((place?, address)));
    let point = hand_over(view, &loaded, groups, &brought.uses, launch.block, places)?;
    brought.written(captured, held)?;
    if let Some(again) = again {
        let found = Found { view, compiled: kernel, kernel: &loaded, groups, captured, brought: &brought, addresses };
        *again = Repeat::of(launch, found, held)?;
    }
    Ok(point)
}
