//! Determines how a compiled kernel uses the arguments of a launch.

use crate::device::block::AddressSlot;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::kernel::image::{ANY_OFFSET, Capture};
use crate::runtime::launch::request::FunctionArgument;

/// The kernel's access to an argument; `None` if the kernel does not use it.
pub(in crate::runtime) fn access(kernel: &Compiled, argument: &FunctionArgument<'_>) -> Option<Access> {
    let slot = argument.slot.as_ref()?;
    match reads_and_writes(kernel, slot) {
        None => Some(argument.access),
        Some((false, false)) => None,
        Some((true, false)) => Some(Access::Read),
        // `ReadWrite`, because elements that the kernel does not write must keep their values.
        Some((_, true)) => Some(Access::ReadWrite),
    }
}

/// Two flags: true if the kernel reads the argument in this slot, and true if the kernel writes it. `None` if the compiler could
/// not tell.
pub(super) fn reads_and_writes(kernel: &Compiled, slot: &AddressSlot<'_>) -> Option<(bool, bool)> {
    let (mut reads, mut writes) = (false, false);
    for c in kernel.captures.iter() {
        if c.offset == ANY_OFFSET {
            return None;
        }
        if is_in_slot(c, slot) {
            (reads, writes) = (reads || c.reads, writes || c.writes);
        }
    }
    Some((reads, writes))
}

/// The maximum number of bytes of the argument in this slot that one thread of the kernel accesses; `None` if the compiler could
/// not tell.
pub(super) fn thread_bytes(kernel: &Compiled, slot: &AddressSlot<'_>) -> Option<u64> {
    let capture = kernel.captures.iter().find(|c| is_in_slot(c, slot))?;
    Some(u64::from(capture.thread_bytes)).filter(|&bytes| bytes > 0)
}

/// True if the capture is about the elements of the argument in this slot. For an array_view, the block has a pointer to the elements.
/// For an array, the block has a pointer to a header, which has the pointer to the elements.
fn is_in_slot(capture: &Capture, slot: &AddressSlot<'_>) -> bool {
    capture.offset == slot.offset() && capture.indirect == matches!(slot, AddressSlot::Indirect(..))
}
