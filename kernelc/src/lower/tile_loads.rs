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

#[cfg(test)]
mod tests {
    use super::super::tests::{LOADS, compile_and_load};
    use rspirv::dr::Operand;
    use rspirv::spirv::{Decoration, Op};

    /// True if the kernel depends on `DeviceProperty::MergesOnlyLoads` after loads of `@tile` at these indices.
    fn hides_index(indices: [u32; 2]) -> bool {
        let load = |n: u32| {
            format!(
                "  %v{n} = load i32, ptr addrspace(3) getelementptr ([16 x i32], ptr addrspace(3) @tile, i32 0, i32 {n}), align 4\n"
            )
        };
        let [first, second] = indices;
        let body = format!(
            "{LOADS}  store i32 7, ptr addrspace(3) @tile
  call void @__revamp_tile_barrier(i32 2)
{}{}  %sum = add i32 %v{first}, %v{second}
  store i32 %sum, ptr addrspace(4) %a
  ret void",
            load(first),
            load(second)
        );
        let (_, module) = compile_and_load(&body);
        let number = Operand::LiteralBit32(
            revamp_image::DEVICE_PROPERTIES + revamp_image::DeviceProperty::MergesOnlyLoads as u32,
        );
        module.all_inst_iter().any(|one| {
            one.class.opcode == Op::Decorate
                && one.operands.contains(&Operand::Decoration(Decoration::SpecId))
                && one.operands.contains(&number)
        })
    }

    #[test]
    fn only_adjacent_loads_are_relative_to_a_pointer() {
        assert!(hides_index([4, 5]) && hides_index([9, 8]));
        assert!(!hides_index([4, 6]) && !hides_index([3, 9]));
    }
}
