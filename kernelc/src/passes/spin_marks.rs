//! Marks the join blocks of spin loops. In a spin loop, a thread takes a lock, does its work and leaves the loop:
//! `while (!done) { if (/* taken */) { ...; done = true; /* free */ } }`.
//!
//! - Precondition: all calls are inlined, and local variables are promoted to SSA values.
//! - Effect: each block where paths of a spin loop join gets a call of a `convergent` function. Blocks of inner loops get
//!   no call. [`unmark`] removes the calls.
//! - Why: a thread that has set `done` leaves the loop, so LLVM would move the work after the loop. On some devices, the
//!   threads of a subgroup execute a loop together and reach the work only when all of them have left the loop. Then no
//!   thread would free the lock. LLVM does not duplicate convergent calls, so the work stays before the call. LLVM
//!   assumes that the call changes memory, so each iteration reads again what other threads wrote under the lock. LLVM
//!   has no attribute with this effect for loops.

use super::calls::called;
use crate::analysis::flow::Flow;
use crate::analysis::loops::NaturalLoop;
use crate::device_abi::DeviceFunction;
use crate::ir::{self, Function, Instruction, Op, Value};
use crate::llvm::Module;

/// Returns true if the module has spin loops.
pub fn run(module: &mut Module) -> bool {
    let code = ir::snapshot(module);
    let has_atomics = |function: &Function| function.instructions().any(|one| one.op.is_atomic_update());
    let functions = code.functions.iter().enumerate().filter(|(_, function)| has_atomics(function));
    let marked_blocks: Vec<(usize, usize)> = functions
        .flat_map(|(n, function)| join_blocks(&Flow::of(&code, function)).into_iter().map(move |block| (n, block)))
        .collect();
    if marked_blocks.is_empty() {
        return false;
    }
    module.edit(|edit| {
        let mark = edit.declare(DeviceFunction::Meet.name());
        for attribute in ["convergent", "nounwind", "willreturn"] {
            edit.add_attribute(mark, attribute);
        }
        let blocks = edit.blocks();
        for (function, block) in marked_blocks {
            let Some(after_phis) = blocks[function][block].instructions().find(|one| !one.is_phi()) else { continue };
            edit.add_attribute(edit.build_before(after_phis).call(mark, &[], ""), "convergent");
        }
    });
    true
}

/// Removes the marks.
pub fn unmark(module: &mut Module) {
    module.edit(|edit| {
        for mark in edit.functions().flat_map(|function| function.instructions()) {
            if called(mark) == Some(DeviceFunction::Meet) {
                edit.erase(mark);
            }
        }
    });
}

/// The blocks in which paths of spin loops join.
fn join_blocks(flow: &Flow<'_>) -> Vec<usize> {
    let innermost = |block: usize| {
        let enclosing_loops = flow.loops.iter().filter(|one| one.blocks.contains(&block));
        enclosing_loops.min_by_key(|one| one.blocks.len()).map(|one| one.header)
    };
    let mut all = Vec::new();
    for spin_loop in flow.loops.iter().filter(|one| is_spin_loop(flow, one)) {
        let joins_paths = |block: usize| {
            flow.graph.predecessors[block].iter().filter(|from| spin_loop.blocks.contains(from)).count() > 1
        };
        let is_in_no_inner_loop = |block: usize| innermost(block) == Some(spin_loop.header);
        all.extend(spin_loop.blocks.iter().copied().filter(|&block| joins_paths(block) && is_in_no_inner_loop(block)));
    }
    all.sort();
    all
}

/// True if a branch in the loop depends on an atomic operation, and an exit depends on a constant that is assigned in the loop.
fn is_spin_loop(flow: &Flow<'_>, one: &NaturalLoop) -> bool {
    let inside = |block: usize| one.blocks.contains(&block);
    let writes = |one: &&Instruction| one.op.is_atomic_update() || matches!(one.op, Op::Store { .. });
    if one.blocks.iter().flat_map(|&block| flow.block(block)).filter(writes).count() < 2 {
        return false;
    }
    let assigns_constant_inside = |one: &Instruction| match &one.op {
        Op::Phi { incoming, .. } => {
            incoming.iter().any(|(value, from)| matches!(value, Value::Constant(_)) && inside(from.0))
        }
        _ => false,
    };
    let is_exiting = |block: &usize| flow.graph.successors[*block].iter().any(|to| !inside(*to));
    let mut branches = one.blocks.iter().filter_map(|&block| flow.condition(block));
    let mut exits = one.blocks.iter().copied().filter(is_exiting).filter_map(|block| flow.condition(block));
    branches.any(|condition| flow.find(condition, inside, |one| one.op.is_atomic_update()).is_some())
        && exits.any(|condition| flow.find(condition, inside, assigns_constant_inside).is_some())
}
