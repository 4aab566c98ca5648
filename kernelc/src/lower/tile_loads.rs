//! Finds loads from adjacent constant addresses in tile_static memory, as in a loop over a small array that LLVM has unrolled. NVIDIA's driver
//! merges such loads only if the addresses are relative to a pointer (`DeviceProperty::MergesOnlyLoads`).

use super::addresses::constant_address;
use super::pointer_sets::PointerClass;
use super::pointers::{MemorySpace, Object, PointerAnalysis};
use crate::ir::{Block, Function, Op, Value};
use std::collections::HashSet;

/// The numbers of the blocks with such loads.
pub(super) fn blocks_with_adjacent_loads(function: &Function, pointers: &PointerAnalysis) -> HashSet<usize> {
    let blocks = function.blocks.iter().enumerate();
    blocks.filter(|(_, block)| has_adjacent_loads(block, pointers)).map(|(number, _)| number).collect()
}

fn has_adjacent_loads(block: &Block, pointers: &PointerAnalysis) -> bool {
    let mut loads: Vec<(usize, u64, u64)> = block
        .instructions
        .iter()
        .filter_map(|one| {
            let Op::Load { ty, pointer, volatile: false, atomic: false, .. } = &one.op else { return None };
            let Value::Constant(constant) = &pointer.value else { return None };
            let (global, at) = constant_address(constant)?;
            let PointerClass::Group(group) = pointers.class_of_global(global) else { return None };
            let group_of = &pointers.groups[group];
            let begin = group_of.objects.get(&Object::Global(global))?.checked_add_signed(at)?;
            (group_of.space == MemorySpace::Tile).then_some((group, begin, begin + ty.size()?))
        })
        .collect();
    loads.sort_unstable();
    loads.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].2 == pair[1].1)
}
