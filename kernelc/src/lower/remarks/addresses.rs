//! The accesses to device memory whose addresses can be compared.

use super::kernel::Kernel;
use crate::ir::{Op, Type};
use crate::lower::addresses::Sum;
use crate::lower::capture_uses::Origin;
use crate::lower::pointer_sets::PointerClass;

/// An access to device memory that is neither volatile nor atomic.
pub struct Access {
    pub block: usize,
    /// The index of the instruction in its block.
    pub at: usize,
    pub writes: bool,
    pub sum: Sum,
    pub ty: Type,
    /// The only capture from which the address is derived: its offset and depth (`capture_uses`).
    pub capture: (u32, u32),
}

/// All accesses of a kernel that [`Access`] can describe, in the order of the blocks.
pub fn accesses(kernel: &Kernel<'_>) -> Vec<Access> {
    let definitions = kernel.function.definitions();
    let mut all = Vec::new();
    for (block, contents) in kernel.function.blocks.iter().enumerate() {
        for (at, instruction) in contents.instructions.iter().enumerate() {
            let (writes, ty, pointer) = match &instruction.op {
                Op::Load { ty, pointer, volatile: false, atomic: false, .. } => (false, ty, pointer),
                Op::Store { value, pointer, volatile: false, atomic: false, .. } => (true, &value.ty, pointer),
                _ => continue,
            };
            let Some(local) = pointer.value.local() else { continue };
            let origins = kernel.pointers.origins_of(local);
            let (Some(Origin::Capture(offset, depth)), 1) = (origins.first(), origins.len()) else { continue };
            if kernel.pointers.class_of(local) != PointerClass::Device {
                continue;
            }
            let Some(sum) = Sum::of(&definitions, &pointer.value) else { continue };
            all.push(Access { block, at, writes, sum, ty: ty.clone(), capture: (*offset, *depth) });
        }
    }
    all
}
