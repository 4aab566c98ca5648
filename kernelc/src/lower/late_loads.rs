//! Moves loads behind a loop, for launches whose captures do not alias.
//!
//! A kernel may load the elements of a thread before a loop and use them only after the loop. They then occupy registers in the whole loop.
//! Drivers move loads of read-only buffers to their uses, but no loads through addresses, because another thread may write the memory
//! during the loop. If captures do not alias (`revamp_image::SHARED_CAPTURES`), memory that the kernel does not write stays as it is. So
//! such kernels load these values after the loop, and only other kernels before it. A specialization constant selects one of the loads.
//!
//! Only loops with barriers count: they run long, and other loops may be unrolled. Values whose address needs as many registers stay in
//! registers. `selected_loads` emits both loads.

use super::addresses::Sum;
use super::capture_uses::Origin;
use super::pointer_sets::{PointerClass, is_pointer};
use super::pointers::PointerAnalysis;
use super::scalars::{ScalarKind, leaves};
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::loops::{NaturalLoop, natural_loops};
use crate::ir::{Function, Instruction, LocalId, Op, Operand, Type};
use revamp_image::ANY_OFFSET;
use std::collections::{BTreeMap, HashMap};

/// The minimum number of scalars of one element. The address needs up to two registers.
const MIN_SCALARS: usize = 3;

/// A load that moves behind a loop.
#[derive(Clone, Copy)]
pub(super) struct Load<'m> {
    pub(super) result: LocalId,
    pub(super) ty: &'m Type,
    pub(super) pointer: &'m Operand,
    pub(super) align: u64,
}

/// The loads that move behind loops.
#[derive(Default)]
pub(super) struct LateLoads<'m> {
    by_result: HashMap<LocalId, Load<'m>>,
    /// By the block to which they move.
    by_block: HashMap<usize, Vec<Load<'m>>>,
}

impl<'m> LateLoads<'m> {
    /// True if the load with this result is one of them.
    pub(super) fn contain(&self, result: Option<LocalId>) -> bool {
        self.get(result).is_some()
    }

    pub(super) fn get(&self, result: Option<LocalId>) -> Option<Load<'m>> {
        self.by_result.get(&result?).copied()
    }

    /// The loads that move to a block. They are returned once.
    pub(super) fn take(&mut self, block: usize) -> Option<Vec<Load<'m>>> {
        self.by_block.remove(&block)
    }
}

/// Finds the loads to move. `barriers`: the blocks with barriers that must order device memory only in launches whose captures alias.
pub(super) fn late_loads<'m>(function: &'m Function, pointers: &PointerAnalysis, barriers: &[usize]) -> LateLoads<'m> {
    if barriers.is_empty() || has_unknown_writes(function, pointers) {
        return LateLoads::default();
    }
    let graph = ControlFlowGraph::of(&function.blocks);
    let places = Places {
        dominance: DominatorTree::of(&graph),
        idom: graph.dominators(),
        loops: natural_loops(&graph),
        uses: uses(function),
        graph,
        barriers,
    };
    let definitions = function.definitions();
    let mut groups: BTreeMap<(usize, Sum), Vec<Load<'_>>> = BTreeMap::new();
    for (number, block) in function.blocks.iter().enumerate() {
        for load in block.instructions.iter().filter_map(|one| load_of(one, pointers)) {
            let place = places.late(load.result, number);
            let (Some(to), Some(sum)) = (place, Sum::of(&definitions, &load.pointer.value)) else { continue };
            groups.entry((to, Sum { offset: 0, ..sum })).or_default().push(load);
        }
    }
    let scalars = |loads: &[Load<'_>]| loads.iter().filter_map(|load| leaves(load.ty)).map(|all| all.len()).sum();
    let mut late_loads = LateLoads::default();
    for ((to, _), loads) in groups.into_iter().filter(|(_, loads)| MIN_SCALARS <= scalars(loads)) {
        late_loads.by_result.extend(loads.iter().map(|load| (load.result, *load)));
        late_loads.by_block.entry(to).or_default().extend(loads);
    }
    late_loads
}

/// True if the kernel may write memory of an unknown origin.
fn has_unknown_writes(function: &Function, pointers: &PointerAnalysis) -> bool {
    let is_unknown = |pointer: &Operand| {
        pointer.value.local().is_some_and(|local| {
            pointers.class_of(local) == PointerClass::Device && pointers.origins_of(local).is_empty()
        })
    };
    let writes = |one: &Instruction| match &one.op {
        Op::Store { pointer, .. } | Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => is_unknown(pointer),
        Op::Call { arguments, .. } => arguments.iter().any(|argument| is_pointer(&argument.ty) && is_unknown(argument)),
        _ => false,
    };
    pointers.uses.get(&(ANY_OFFSET, 0)).is_some_and(|uses| uses.writes) || function.instructions().any(writes)
}

/// A load of numbers that do not change during a launch whose captures do not alias.
fn load_of<'m>(one: &'m Instruction, pointers: &PointerAnalysis) -> Option<Load<'m>> {
    let Op::Load { pointer, ty, align, volatile: false, atomic: false } = &one.op else { return None };
    let local = pointer.value.local().filter(|&local| pointers.class_of(local) == PointerClass::Device)?;
    let origins = pointers.origins_of(local);
    let is_read_only = |origin: &Origin| match *origin {
        Origin::Capture(offset, depth) => pointers.uses.get(&(offset, depth)).is_some_and(|uses| !uses.writes),
        Origin::Block | Origin::Unknown => false,
    };
    let has_numbers = leaves(ty).is_some_and(|all| all.iter().all(|leaf| leaf.kind != ScalarKind::Pointer));
    let is_constant = has_numbers && !origins.is_empty() && origins.iter().all(is_read_only);
    is_constant.then_some(Load { result: one.result?, ty, pointer, align: *align })
}

/// The blocks that use each value. A phi uses its values at the end of the preceding blocks.
fn uses(function: &Function) -> HashMap<LocalId, Vec<usize>> {
    let mut uses: HashMap<LocalId, Vec<usize>> = HashMap::new();
    for (number, block) in function.blocks.iter().enumerate() {
        for Instruction { op, .. } in &block.instructions {
            match op {
                Op::Phi { incoming, .. } => {
                    let locals = incoming.iter().filter_map(|(value, from)| Some((value.local()?, from.0)));
                    locals.for_each(|(local, from)| uses.entry(local).or_default().push(from));
                }
                _ => op.operands().iter().filter_map(|value| value.local()).for_each(|local| {
                    uses.entry(local).or_default().push(number);
                }),
            }
        }
    }
    uses
}

struct Places<'a> {
    dominance: DominatorTree,
    idom: Vec<Option<usize>>,
    loops: Vec<NaturalLoop>,
    uses: HashMap<LocalId, Vec<usize>>,
    graph: ControlFlowGraph,
    barriers: &'a [usize],
}

impl Places<'_> {
    /// The block to which the load of `local` moves from the block `from`: the closest one that dominates all uses. `None` if there is no
    /// loop with a barrier in between, if a loop would repeat the load, or if the block is a back edge.
    fn late(&self, local: LocalId, from: usize) -> Option<usize> {
        let uses = self.uses.get(&local)?;
        let mut to = *uses.first()?;
        while !uses.iter().all(|&block| self.dominance.dominates(to, block)) {
            to = self.idom[to].filter(|&dominator| dominator != to)?;
        }
        let has_barrier = |one: &NaturalLoop| self.barriers.iter().any(|block| one.blocks.contains(block));
        let is_between = |one: &NaturalLoop| {
            has_barrier(one)
                && !one.blocks.contains(&from)
                && !one.blocks.contains(&to)
                && self.dominance.dominates(from, one.header)
                && self.dominance.dominates(one.header, to)
        };
        let repeats = |one: &NaturalLoop| one.blocks.contains(&to) && !one.blocks.contains(&from);
        let is_back_edge = self.graph.successors[to].iter().any(|&next| self.dominance.dominates(next, to));
        (self.loops.iter().any(is_between) && !self.loops.iter().any(repeats) && !is_back_edge).then_some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LOADS, compile_form};
    use rspirv::spirv::Op;

    /// The number of loads of a kernel that loads `ty` through `%p` before a loop with a barrier and stores it after the loop.
    fn loads(rolled: bool, ty: &str, in_loop: &str) -> usize {
        let body = format!(
            "{LOADS}  %n = call i32 @__revamp_global_id(i32 0)
  %w = zext i32 %n to i64
  %p = getelementptr inbounds [16 x i8], ptr addrspace(4) %a, i64 %w
  %v = load {ty}, ptr addrspace(4) %p, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
{in_loop}  call void @__revamp_tile_barrier(i32 3)
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, 9
  br i1 %c, label %loop, label %end
end:
  %q = getelementptr inbounds [16 x i8], ptr addrspace(4) %b, i64 %w
  store {ty} %v, ptr addrspace(4) %q, align 4
  ret void"
        );
        // Loads of elements state their alignment.
        let module = compile_form(&body, rolled);
        let loads = module.all_inst_iter().filter(|one| one.class.opcode == Op::Load);
        loads.filter(|one| one.operands.len() > 1).count()
    }

    #[test]
    fn loads_move_behind_loops_with_barriers() {
        let vector = "<4 x float>";
        assert_eq!(loads(true, vector, ""), 8, "a specialization constant selects four of them");
        assert_eq!(loads(false, vector, ""), 4);
        assert_eq!(loads(true, "<2 x float>", ""), 2, "the address needs as many registers");
        assert_eq!(
            loads(true, vector, "  store i32 1, ptr addrspace(4) %a, align 4\n"),
            4,
            "the kernel writes the memory"
        );
        let used = "  %x = extractelement <4 x float> %v, i32 0\n  store float %x, ptr addrspace(4) %b, align 4\n";
        assert_eq!(loads(true, vector, used), 4, "the loop uses the value");
    }
}
