//! Launching functions of the program on host threads.

use super::accelerator::Kind;
use super::accelerator_view::AcceleratorView;
use super::capture::{Captured, Sources, bring, choose, settle, written};
use super::copy::Side;
use super::race;
use super::runtime;
use super::selection::Code;
use crate::device::Access;
use crate::device::hazard::Point;
use crate::device::host::kernel::{Domain, HostKernel};
use crate::device::host::{Workers, dispatch_host};
use crate::error::{Error, Result};
use crate::trace::transfers::{Call, implicit};
use std::sync::Arc;

/// A launch on host threads.
pub struct HostLaunch<'a> {
    /// Global extent.
    pub extent: &'a [i32],
    /// Tile extent.
    pub tile: Option<&'a [i32]>,
    /// Bytes of tile_static memory.
    pub tile_memory: usize,
    /// What it uses.
    pub arguments: &'a [HostArgument],
    /// The kernel.
    pub kernel: &'a MakeKernel<'a>,
}

/// Makes a kernel, given the address of each argument's first element.
pub type MakeKernel<'a> = dyn Fn(&[*mut u8]) -> Result<Arc<dyn HostKernel>> + 'a;

/// An array or array_view a host kernel uses.
pub struct HostArgument {
    /// It.
    pub section: Side,
    /// How it is used.
    pub access: Access,
}

const DISPATCH: Call = implicit(c"revamp_host_dispatch");

/// Launches; returns before it has run.
pub fn host_dispatch(view: Option<Arc<AcceleratorView>>, launch: HostLaunch<'_>) -> Result<Point> {
    let captured: Vec<_> =
        launch.arguments.iter().map(|a| Captured { side: &a.section, access: a.access, needs: a.access }).collect();
    let _using = race::uses(DISPATCH.name, captured.iter().map(|c| (c.side, c.access)));
    for c in &captured {
        if let Side::View(part) = c.side {
            part.check(c.access)?;
        }
        settle(c.side, c.access)?;
    }
    let sides = captured.iter().map(|c| c.side);
    let sources = Sources::of(sides.clone());
    let mut held = sources.lock();
    let view = choose(view, sides, &mut held, || runtime()?.default_for(Code::Host))?;
    let accelerator = view.accelerator();
    if accelerator.kind() != Kind::HostThreads {
        return Err(Error::unsupported(format!(
            "{} runs SPIR-V, not functions of the program; use a view of the accelerator direct3d\\warp, or \
             revamp_dispatch()",
            accelerator.name()
        )));
    }
    let domain = match launch.tile {
        Some(tile) => Domain::tiled(launch.extent, tile, launch.tile_memory),
        None => Domain { tile_memory: launch.tile_memory, ..Domain::new(launch.extent) },
    };
    // Before anything waits.
    domain.check()?;
    let brought = bring(&captured, &view, &mut held, DISPATCH)?;
    let uses = &brought.uses;
    let first = |u: &crate::device::Use| {
        u.buffer.host().map_or(std::ptr::null_mut(), |h| h.as_ptr().wrapping_add(u.range.start as usize))
    };
    let kernel = (launch.kernel)(&uses.iter().map(first).collect::<Vec<_>>())?;
    let point = dispatch_host(&**view.queue(), &Workers::shared().pool, uses, domain, kernel)?;
    written(&captured, &brought, &mut held)?;
    Ok(point)
}
