//! How a compiled kernel uses what a launch captures.

use crate::device::block::AddressSlot;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::kernel::image::{ANY_OFFSET, Capture};
use crate::runtime::launch::request::FunctionArgument;

/// How the kernel uses an argument; `None` if it does not.
pub(in crate::runtime) fn access(kernel: &Compiled, argument: &FunctionArgument<'_>) -> Option<Access> {
    let slot = argument.slot.as_ref()?;
    match reads_and_writes(kernel, slot) {
        None => Some(argument.access),
        Some((false, false)) => None,
        Some((true, false)) => Some(Access::Read),
        // Elements that are not written keep their values.
        Some((_, true)) => Some(Access::ReadWrite),
    }
}

/// Whether the kernel reads and whether it writes what is captured there; `None` if the compiler could not tell.
pub(super) fn reads_and_writes(kernel: &Compiled, slot: &AddressSlot<'_>) -> Option<(bool, bool)> {
    // The elements of a view are at the pointer in the block, those of an array at the pointer behind that.
    let further = matches!(slot, AddressSlot::Behind(..));
    let used = |c: &&Capture| c.offset == slot.offset() && c.further == further;
    let (mut reads, mut writes) = (false, false);
    for c in kernel.captures.iter() {
        if c.offset == ANY_OFFSET {
            return None;
        }
        if used(&c) {
            (reads, writes) = (reads || c.reads, writes || c.writes);
        }
    }
    Some((reads, writes))
}
