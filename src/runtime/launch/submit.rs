//! Handing a launch of a compiled kernel to a queue.

use crate::device::block::{Block, Place};
use crate::device::hazard::Point;
use crate::device::{Dispatch, Use};
use crate::error::Result;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::loaded_kernel::LoadedKernel;

/// Gives the view's queue a launch with this block, into which the addresses are written at their places.
pub(in crate::runtime) fn submit<'p>(
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
