//! Marks loops that count and are too large to be unrolled by LLVM's rules, for LLVM to unroll them by 4.
//!
//! - Precondition: the module is optimised, and loops whose trip count is known at run time only are not unrolled yet.
//! - Effect: the branch at the latch of each such loop has metadata `llvm.loop.unroll.count`. Only innermost loops are marked, since copies of a loop around
//!   an unrolled one gain nothing. They are left at the latch alone, when what counts has reached a number that the loop does not change; other
//!   loops would need a copy of each exit. A loop that the user wants unrolled otherwise stays.
//! - Why: in a large loop too, loads of several iterations then wait together, and what differs between branches is chosen more rarely. The threshold of
//!   LLVM's runtime unrolling is one for all loops and all factors.

use crate::analysis::flow::Flow;
use crate::analysis::loops::NaturalLoop;
use crate::ir::{self, BinaryOp, Constant, IntPredicate, LocalId, Op, Value};
use crate::llvm::{self, Module};

/// How many instructions such a loop has: more than LLVM unrolls by 2, and by 4 not more than some hundred.
const LARGE: std::ops::RangeInclusive<usize> = 76..=150;

/// What the metadata of a user's wish begins with.
const WISH: &str = "llvm.loop.unroll";

/// Whether there are such loops.
pub fn run(module: &mut Module) -> bool {
    let code = ir::snapshot(module);
    let mut latches: Vec<(usize, usize)> = Vec::new();
    for (function, body) in code.functions.iter().enumerate().filter(|(_, body)| !body.blocks.is_empty()) {
        let flow = Flow::of(&code, body);
        let innermost = |one: &&NaturalLoop| {
            !flow.loops.iter().any(|other| other.header != one.header && one.blocks.contains(&other.header))
        };
        latches.extend(flow.loops.iter().filter(innermost).filter_map(|one| Some((function, counted(&flow, one)?))));
    }
    module.edit(|edit| {
        let blocks = edit.blocks();
        let branches = latches.iter().filter_map(|&(function, block)| blocks[function][block].instructions().last());
        let free = branches.filter(|branch| !is_asked(*branch));
        free.map(|branch| edit.unroll(branch, 4)).count() > 0
    })
}

/// Whether a branch's metadata says how the user wants the loop unrolled.
fn is_asked(branch: llvm::Value<'_>) -> bool {
    let parts = branch.loop_metadata().map(llvm::Node::operands).unwrap_or_default();
    // The first one is the node itself.
    let wishes = parts.into_iter().skip(1).filter_map(|part| part?.as_node()?.operands().first().copied().flatten());
    wishes.into_iter().any(|wish| wish.as_text().starts_with(WISH))
}

/// The latch of a loop that is large and counts.
fn counted(flow: &Flow<'_>, one: &NaturalLoop) -> Option<usize> {
    let inside = |block: usize| one.blocks.contains(&block);
    let instructions = one.blocks.iter().flat_map(|&block| flow.block(block));
    if !LARGE.contains(&instructions.filter(|one| !matches!(one.op, Op::Phi { .. })).count()) {
        return None;
    }
    let leaves = |block: &usize| flow.graph.successors[*block].iter().any(|to| !inside(*to));
    let mut exits = one.blocks.iter().copied().filter(leaves);
    let (last, None) = (exits.next()?, exits.next()) else { return None };
    let latches = flow.graph.predecessors[one.header].iter().copied().filter(|from| inside(*from));
    if !latches.eq([last]) || !matches!(flow.block(last).last()?.op, Op::CondBr { .. }) {
        return None;
    }
    let (_, condition) = flow.definitions.get(&flow.condition(last)?)?;
    let Op::ICmp { predicate: IntPredicate::Eq | IntPredicate::Ne, left, right } = &condition.op else { return None };
    let changes = |local: &LocalId| flow.definitions.get(local).is_some_and(|(block, _)| inside(*block));
    // A constant is a length that is known.
    let (changing, fixed): (Vec<LocalId>, Vec<LocalId>) =
        [left, right].into_iter().filter_map(|operand| operand.value.local()).partition(changes);
    let ([counter], [_]) = (&changing[..], &fixed[..]) else { return None };
    let (_, sum) = flow.definitions.get(counter)?;
    let Op::Binary { op: BinaryOp::Add, left, right, .. } = &sum.op else { return None };
    let by_one = matches!(right.value, Value::Constant(Constant::Int(1 | -1)));
    let (block, before) = flow.definitions.get(&left.value.local()?)?;
    let carried = *block == one.header && matches!(before.op, Op::Phi { .. });
    (by_one && carried).then_some(last)
}
