//! Submits a launch of a compiled kernel to a queue.

use crate::device::block::{AddressSlot, Block};
use crate::device::hazard::Point;
use crate::device::{BoundImage, Dispatch, Use};
use crate::error::Result;
use crate::runtime::accelerators::loaded_kernel::LoadedKernel;
use crate::runtime::launch::bounds::{Span, Table};

/// Compiled kernels have no specialization constants.
static NO_CONSTANTS: Vec<(u32, Vec<u8>)> = Vec::new();

/// Submits a launch by calling `enqueue`, which gives the launch to a queue.
///
/// - `slots`: the address slots, with the addresses that are written into a copy of `block`.
/// - `spans`: the memory at each address, for a kernel that checks bounds.
/// - `after`: work that must be done before the launch begins.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(in crate::runtime) fn submit<'p>(
    enqueue: impl FnOnce(&Dispatch<'_>) -> Result<Point>,
    kernel: &LoadedKernel,
    groups: [u64; 3],
    uses: &[Use],
    images: &[BoundImage],
    block: &[u8],
    slots: impl Iterator<Item = (&'p AddressSlot<'p>, u64)>,
    spans: &[Span],
    after: &[Point],
) -> Result<Point> {
    let mut filled = Block::default();
    filled.begin(block)?;
    if let Some(checks) = kernel.checks() {
        let table = Table::begin(&mut filled, checks)?;
        filled.reserve_headers(kernel.headers())?;
        for ((slot, address), &span) in slots.zip(spans) {
            filled.put(slot, address)?;
            table.put(&mut filled, slot, span);
        }
        table.end(&mut filled);
    } else {
        filled.reserve_headers(kernel.headers())?;
        for (slot, address) in slots {
            filled.put(slot, address)?;
        }
    }
    let dispatch = Dispatch {
        kernel: &**kernel.kernel(),
        spec: &NO_CONSTANTS,
        bindings: &[],
        images,
        uses,
        push: &[],
        block: Some(&filled),
        groups,
        after,
    };
    enqueue(&dispatch)
}
