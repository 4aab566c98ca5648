//! Orders stores to local variables by their addresses.
//!
//! Drivers merge stores to adjacent addresses of a thread's own memory, if one follows the other. A loop that fills an array in another order,
//! such as `grid[j & 3][j >> 2]`, becomes stores in that order.

use super::addresses::Sum;
use super::pointer_sets::PointerClass;
use super::pointers::{MemorySpace, PointerAnalysis};
use crate::analysis::effects::may_access;
use crate::ir::{Function, Instruction, LocalId, Module, Op};

/// A store to a constant address.
struct Store {
    at: usize,
    base: LocalId,
    begin: i64,
    end: i64,
}

/// Orders the stores in each run of stores without other accesses to memory between them.
pub(super) fn order(module: &Module, function: &mut Function, pointers: &PointerAnalysis) {
    let mut runs: Vec<(usize, Vec<Store>)> = Vec::new();
    let definitions = function.definitions();
    for (number, block) in function.blocks.iter().enumerate() {
        let mut run = Vec::new();
        for (at, one) in block.instructions.iter().enumerate() {
            match store_of(one, at, &definitions, pointers) {
                Some(store) => run.push(store),
                None if may_access(module, one) => runs.push((number, std::mem::take(&mut run))),
                None => {}
            }
        }
        runs.push((number, run));
    }
    // The last run of a block first, because the stores of a run move to the place of its last store.
    for (block, run) in runs.into_iter().rev() {
        reorder(&mut function.blocks[block].instructions, run);
    }
}

fn store_of(
    one: &Instruction,
    at: usize,
    definitions: &[Option<&Instruction>],
    pointers: &PointerAnalysis,
) -> Option<Store> {
    let Op::Store { value, pointer, volatile: false, atomic: false, .. } = &one.op else { return None };
    let PointerClass::Group(group) = pointers.class_of(pointer.value.local()?) else { return None };
    let Sum { base, by, offset } = Sum::of(definitions, &pointer.value)?;
    let is_local = pointers.groups[group].space == MemorySpace::Private
        && matches!(definitions[base.0].map(|made| &made.op), Some(Op::Alloca { .. }));
    let end = offset.checked_add_unsigned(value.ty.size()?)?;
    (is_local && by.is_empty()).then_some(Store { at, base, begin: offset, end })
}

fn reorder(instructions: &mut Vec<Instruction>, run: Vec<Store>) {
    let Some(last) = run.last().map(|store| store.at) else { return };
    let mut ordered: Vec<&Store> = run.iter().collect();
    ordered.sort_by_key(|store| (store.base, store.begin));
    let overlap = |pair: &[&Store]| pair[0].base == pair[1].base && pair[0].end > pair[1].begin;
    if ordered.windows(2).any(overlap) || ordered.iter().map(|store| store.at).is_sorted() {
        return;
    }
    let moved: Vec<Instruction> = ordered.iter().map(|store| instructions[store.at].clone()).collect();
    instructions.splice(last + 1..last + 1, moved);
    for store in run.iter().rev() {
        instructions.remove(store.at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::compile_and_load;
    use rspirv::dr::Operand;
    use rspirv::spirv::Op;

    /// The numbers that a kernel stores in a local array, in the order of the stores. `lines` stores them.
    fn stored(lines: &str) -> Vec<u32> {
        let (_, module) = compile_and_load(&format!(
            "  %array = alloca [8 x i32], align 4
  %n = call i32 @__revamp_global_id(i32 0)
  %any = getelementptr inbounds [8 x i32], ptr %array, i32 0, i32 %n
{lines}  %v = load i32, ptr %any
  %a = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  store i32 %v, ptr addrspace(4) %a
  ret void"
        ));
        let constants: std::collections::HashMap<u32, u32> = module
            .types_global_values
            .iter()
            .filter(|one| one.class.opcode == Op::Constant)
            .filter_map(|one| match one.operands[..] {
                [Operand::LiteralBit32(number)] => Some((one.result_id?, number)),
                _ => None,
            })
            .collect();
        let stores = module.all_inst_iter().filter(|one| one.class.opcode == Op::Store);
        stores.filter_map(|one| constants.get(&one.operands[1].unwrap_id_ref()).copied()).collect()
    }

    fn store(index: u32) -> String {
        format!(
            "  %p{index} = getelementptr inbounds [8 x i32], ptr %array, i32 0, i32 {index}
  store i32 {}, ptr %p{index}
",
            100 + index
        )
    }

    #[test]
    fn stores_follow_their_addresses() {
        let lines = [4, 1, 5, 0].map(store).concat();
        assert_eq!(stored(&lines), [100, 101, 104, 105]);
    }

    #[test]
    fn stores_stay_before_later_accesses() {
        let lines = format!("{}  %w = load volatile i32, ptr %any\n{}{}", store(4), store(3), store(2));
        assert_eq!(stored(&lines), [104, 102, 103]);
        // The second store to an element must stay the second.
        let lines = format!("{}{}  store i32 7, ptr %p5\n", store(5), store(1));
        assert_eq!(stored(&lines), [105, 101, 7]);
    }
}
