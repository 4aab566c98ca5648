//! Launching functions of the program on host threads.

use super::accelerator::{Accelerator, Kind};
use super::accelerator_view::AcceleratorView;
use super::copy::{Side, hull};
use super::dispatch::choose;
use super::runtime;
use super::selection::Code;
use crate::device::hazard::Point;
use crate::device::host::kernel::{Domain, HostKernel};
use crate::device::host::{Workers, dispatch_host};
use crate::device::{Access, Use};
use crate::error::{Error, Result};
use std::sync::Arc;

/// A launch on host threads.
pub struct HostLaunch<'a> {
    /// Global extent.
    pub extent: &'a [i32],
    /// Tile extent.
    pub tile: Option<&'a [i32]>,
    /// Bytes of tile_static memory.
    pub tile_memory: usize,
    /// The arrays used, and how.
    pub sections: &'a [(Side, Access)],
    /// The kernel.
    pub kernel: Arc<dyn HostKernel>,
}

/// Launches; returns before it has run.
pub fn host_dispatch(view: Option<Arc<AcceleratorView>>, launch: HostLaunch<'_>) -> Result<Point> {
    let arrays = launch.sections.iter().filter_map(|(s, _)| match s {
        Side::Array(array, _) => Some(array),
        Side::Host(..) => None,
    });
    let view = choose(view, arrays, || Accelerator::default_view(&runtime()?.default_for(Code::Host)?))?;
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
    let mut uses = Vec::with_capacity(launch.sections.len());
    for (section, access) in launch.sections {
        section.settle(*access)?;
        let (array, range) = hull(section)?;
        uses.push(Use { buffer: array.buffer().clone(), range, access: *access });
    }
    dispatch_host(&**view.queue(), &Workers::shared().pool, &uses, domain, launch.kernel)
}
