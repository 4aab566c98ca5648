//! Marks counted loops that LLVM's rules consider too large to unroll, so that LLVM unrolls them by 4.
//!
//! - Precondition: the module is optimised, and only loops with a small known trip count are unrolled yet.
//! - Effect: the latch branch of each marked loop has metadata `llvm.loop.unroll.count`. Only innermost loops are marked,
//!   because unrolling a loop around an unrolled loop gains nothing. The latch must be the only exit, because other exits
//!   would have to be copied. The loop must exit when its counter reaches a constant or another loop-invariant number. Loops with an unroll
//!   pragma of the user are not marked.
//! - Why: unrolling helps large loops too. The loads of several iterations are in flight together, and fewer selects
//!   between values of different branches are executed. LLVM's runtime unrolling has a single threshold for all loops
//!   and factors.

use crate::analysis::flow::Flow;
use crate::analysis::loops::NaturalLoop;
use crate::ir::{self, BinaryOp, Constant, IntPredicate, LocalId, Op, Value};
use crate::llvm::{self, Module};

/// A loop is marked if its number of instructions is in this range. LLVM itself unrolls smaller loops by 2 or more.
/// After unrolling by 4, larger loops would have more than some hundreds of instructions.
const LARGE_INSTRUCTIONS: std::ops::RangeInclusive<usize> = 76..=150;

/// The prefix of the metadata of a user's unroll pragma.
const UNROLL_PRAGMA: &str = "llvm.loop.unroll";

/// Returns true if any loop was marked.
pub fn run(module: &mut Module) -> bool {
    let code = ir::snapshot(module);
    let mut latches: Vec<(usize, usize)> = Vec::new();
    for (function, body) in code.functions.iter().enumerate().filter(|(_, body)| !body.blocks.is_empty()) {
        let flow = Flow::of(&code, body);
        let innermost = |one: &&NaturalLoop| {
            !flow.loops.iter().any(|other| other.header != one.header && one.blocks.contains(&other.header))
        };
        latches.extend(
            flow.loops
                .iter()
                .filter(innermost)
                .filter_map(|one| Some((function, latch_of_large_counted_loop(&flow, one)?))),
        );
    }
    module.edit(|edit| {
        let blocks = edit.blocks();
        let branches = latches.iter().filter_map(|&(function, block)| blocks[function][block].instructions().last());
        let unannotated = branches.filter(|branch| !has_unroll_pragma(*branch));
        unannotated.map(|branch| edit.unroll(branch, 4)).count() > 0
    })
}

/// True if a branch's metadata has an unroll pragma of the user.
fn has_unroll_pragma(branch: llvm::Value<'_>) -> bool {
    let parts = branch.loop_metadata().map(llvm::Node::operands).unwrap_or_default();
    // The first operand is the node itself.
    let pragmas = parts.into_iter().skip(1).filter_map(|part| part?.as_node()?.operands().first().copied().flatten());
    pragmas.into_iter().any(|pragma| pragma.as_text().starts_with(UNROLL_PRAGMA))
}

/// The latch of a large counted loop; `None` for other loops.
fn latch_of_large_counted_loop(flow: &Flow<'_>, one: &NaturalLoop) -> Option<usize> {
    let inside = |block: usize| one.blocks.contains(&block);
    let instructions = one.blocks.iter().flat_map(|&block| flow.block(block));
    if !LARGE_INSTRUCTIONS.contains(&instructions.filter(|one| !matches!(one.op, Op::Phi { .. })).count()) {
        return None;
    }
    let leaves = |block: &usize| flow.graph.successors[*block].iter().any(|to| !inside(*to));
    let mut exits = one.blocks.iter().copied().filter(leaves);
    let (latch, None) = (exits.next()?, exits.next()) else { return None };
    let latches = flow.graph.predecessors[one.header].iter().copied().filter(|from| inside(*from));
    if !latches.eq([latch]) || !matches!(flow.block(latch).last()?.op, Op::CondBr { .. }) {
        return None;
    }
    let (_, condition) = flow.definitions.get(&flow.condition(latch)?)?;
    let Op::ICmp { predicate: IntPredicate::Eq | IntPredicate::Ne, left, right } = &condition.op else { return None };
    let changes = |local: &LocalId| flow.definitions.get(local).is_some_and(|(block, _)| inside(*block));
    let (changing, invariant): (Vec<LocalId>, Vec<LocalId>) =
        [left, right].into_iter().filter_map(|operand| operand.value.local()).partition(changes);
    let ([counter], [] | [_]) = (&changing[..], &invariant[..]) else { return None };
    let (_, sum) = flow.definitions.get(counter)?;
    let Op::Binary { op: BinaryOp::Add, left, right, .. } = &sum.op else { return None };
    let steps_by_one = matches!(right.value, Value::Constant(Constant::Int(1 | -1)));
    let (block, before) = flow.definitions.get(&left.value.local()?)?;
    let is_loop_carried = *block == one.header && matches!(before.op, Op::Phi { .. });
    (steps_by_one && is_loop_carried).then_some(latch)
}
