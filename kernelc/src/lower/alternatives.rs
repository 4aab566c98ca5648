//! Restores branches with two alternatives.
//!
//! LLVM's pass `structurizecfg` turns an `if` with an `else` into two conditional branches in a row. The first branch enters or skips the first
//! alternative. The block between the alternatives then tests a flag, and branches to the second alternative or to the end. Drivers do not
//! recognise the alternatives: they run both in a row, and keep the values of the first alternative. This module redirects the two edges
//! into the block between the alternatives. Each edge goes to the target that the flag's value on this edge selects.

use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::ir::{BlockId, Constant, Function, Instruction, LocalId, Op, Value};
use std::collections::{HashMap, HashSet};

/// The block between two alternatives, and the new target of each of its two incoming edges.
struct BlockBetween {
    block: usize,
    edges: [(usize, BlockId); 2],
}

/// Restores all branches with two alternatives in a function.
pub(super) fn alternatives(function: &mut Function) {
    loop {
        let graph = ControlFlowGraph::of(&function.blocks);
        let dominance = DominatorTree::of(&graph);
        let uses = uses(function);
        let (mut edited_blocks, mut changed) = (HashSet::new(), false);
        for &block in &graph.order {
            let Some(found) = find_between(function, &graph, &dominance, &uses, block) else { continue };
            let [(a, to_a), (b, to_b)] = found.edges;
            let all = [block, a, b, to_a.0, to_b.0];
            if all.iter().any(|one| edited_blocks.contains(one)) {
                continue;
            }
            edited_blocks.extend(all);
            found.split(function);
            changed = true;
        }
        if !changed {
            return;
        }
    }
}

/// The number of uses of each local value.
fn uses(function: &Function) -> HashMap<LocalId, usize> {
    let mut uses = HashMap::new();
    for local in function.instructions().flat_map(|one| one.op.operands()).filter_map(Value::local) {
        *uses.entry(local).or_default() += 1;
    }
    uses
}

/// If `block` is a block between two alternatives, returns it with the new targets of its incoming edges.
fn find_between(
    function: &Function,
    graph: &ControlFlowGraph,
    dominance: &DominatorTree,
    uses: &HashMap<LocalId, usize>,
    block: usize,
) -> Option<BlockBetween> {
    let &[a, b] = graph.predecessors[block].as_slice() else { return None };
    let (head, end) = if dominance.dominates(a, b) { (a, b) } else { (b, a) };
    let last = |block: usize| function.blocks[block].instructions.last().map(|one| &one.op);
    // `head` branches to the first alternative. `end` is the last block of the first alternative; its only successor is `block`.
    let (Some(Op::CondBr { .. }), Some(Op::Br { .. })) = (last(head), last(end)) else { return None };
    let Some(Op::CondBr { condition, yes, no }) = last(block) else { return None };
    let first = *graph.successors[head].iter().find(|&&to| to != block)?;
    let is_back_edge = |to: usize, from: usize| dominance.dominates(to, from);
    let is_loop = is_back_edge(first, head) || is_back_edge(yes.0, block) || is_back_edge(no.0, block);
    if is_loop || !dominance.dominates(first, end) || !dominance.dominates(head, end) {
        return None;
    }
    let (_, phis) = function.blocks[block].instructions.split_last()?;
    let flag = condition.value.local()?;
    let target_from = |from: usize| match value(phis, flag, from)? {
        Value::Constant(Constant::Int(0)) => Some(*no),
        Value::Constant(Constant::Int(_)) => Some(*yes),
        _ => None,
    };
    let edges = [(head, target_from(head)?), (end, target_from(end)?)];
    // The phis of `block` may be used only by the branch of `block`, and by phis in the successors of `block`.
    let uses_in_successors = |local: LocalId| {
        let next = [yes, no].into_iter().flat_map(|to| &function.blocks[to.0].instructions);
        next.filter_map(|one| value(std::slice::from_ref(one), one.result?, block))
            .filter(|v| v.local() == Some(local))
            .count()
    };
    let is_used_only_here = |one: &Instruction| {
        let (Op::Phi { .. }, Some(local)) = (&one.op, one.result) else { return false };
        uses.get(&local).copied().unwrap_or(0) == uses_in_successors(local) + usize::from(local == flag)
    };
    (edges[0].1 != edges[1].1 && phis.iter().all(is_used_only_here)).then_some(BlockBetween { block, edges })
}

/// The incoming value of the phi `local` from a block.
fn value(instructions: &[Instruction], local: LocalId, from: usize) -> Option<&Value> {
    let one = instructions.iter().find(|one| one.result == Some(local))?;
    let Op::Phi { incoming, .. } = &one.op else { return None };
    incoming.iter().find(|(_, block)| block.0 == from).map(|(value, _)| value)
}

impl BlockBetween {
    fn split(self, function: &mut Function) {
        let Self { block, edges } = self;
        let unreachable = Instruction { result: None, op: Op::Unreachable, location: None };
        let phis = std::mem::replace(&mut function.blocks[block].instructions, vec![unreachable]);
        for (from, to) in edges {
            if let Some(Instruction { op, .. }) = function.blocks[from].instructions.last_mut() {
                match op {
                    Op::Br { target } => *target = to,
                    Op::CondBr { yes, no, .. } if yes.0 == block => *yes = to,
                    Op::CondBr { no, .. } => *no = to,
                    _ => {}
                }
            }
            for instruction in &mut function.blocks[to.0].instructions {
                let Op::Phi { incoming, .. } = &mut instruction.op else { break };
                for (before, edge) in incoming.iter_mut().filter(|(_, edge)| edge.0 == block) {
                    if let Some(known) = before.local().and_then(|local| value(&phis, local, from)) {
                        *before = known.clone();
                    }
                    *edge = BlockId(from);
                }
            }
        }
    }
}
