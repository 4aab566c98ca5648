//! Addresses as a sum, to compare them.

use super::kernel::Kernel;
use crate::ir::{Instruction, LocalId, Op, Operand, Type};
use crate::lower::addresses::steps;
use crate::lower::capture_uses::Origin;
use crate::lower::pointer_sets::PointerClass;
use std::collections::BTreeMap;

/// A pointer that another one is computed of, indices with the bytes that each counts for, and a number of bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    pub base: LocalId,
    pub by: BTreeMap<LocalId, u64>,
    pub offset: i64,
}

impl Sum {
    /// Of a pointer; `None` if it is a constant.
    pub fn of(definitions: &[Option<&Instruction>], pointer: &Operand) -> Option<Self> {
        let mut sum = Self { base: pointer.value.local()?, by: BTreeMap::new(), offset: 0 };
        while let Some(Op::Gep { source, base, indices, .. }) = definitions[sum.base.0].map(|one| &one.op) {
            let (Some(inner), Some(steps)) = (base.value.local(), steps(source, indices)) else { break };
            for (index, bytes) in &steps.by {
                *sum.by.entry(index.value.local()?).or_default() += bytes;
            }
            sum.offset = sum.offset.checked_add(steps.offset)?;
            sum.base = inner;
        }
        Some(sum)
    }
}

/// An access to memory of the device that is neither volatile nor atomic.
pub struct Access {
    pub block: usize,
    /// In the block.
    pub at: usize,
    pub writes: bool,
    pub sum: Sum,
    pub ty: Type,
    /// The one capture that the address comes from.
    pub capture: (u32, u32),
}

/// All of them, in the order of the blocks.
pub fn accesses(kernel: &Kernel<'_>) -> Vec<Access> {
    let definitions = kernel.function.definitions();
    let mut all = Vec::new();
    for (block, inside) in kernel.function.blocks.iter().enumerate() {
        for (at, one) in inside.instructions.iter().enumerate() {
            let (writes, ty, pointer) = match &one.op {
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
            let Some(sum) = Sum::of(&definitions, pointer) else { continue };
            all.push(Access { block, at, writes, sum, ty: ty.clone(), capture: (*offset, *depth) });
        }
    }
    all
}
