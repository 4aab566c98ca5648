//! Marks where paths meet in loops in which a thread takes a lock, does its work and leaves:
//! `while (!done) { if (/* taken */) { ...; done = true; /* free */ } }`.
//!
//! - Precondition: all calls are inlined, and variables are values.
//! - Effect: a call of a function that is `convergent` stands in each block of such a loop, and of no inner loop, where paths of the loop meet. [`unmark`]
//!   removes the calls.
//! - Why: LLVM knows that a thread that has set `done` leaves, and would move the work behind the loop. On devices where the threads of a
//!   group go through a loop together, that is where they are when all have left, and nobody would free the lock. LLVM duplicates no
//!   convergent call, so the work stays before it. For all that LLVM knows the call changes memory, so each iteration reads again what
//!   other threads wrote under the lock. LLVM has no attribute that says this of a loop.

use super::calls::called;
use crate::analysis::flow::Flow;
use crate::analysis::loops::NaturalLoop;
use crate::device_abi::DeviceFunction;
use crate::ir::{self, Function, Instruction, Op, Value};
use crate::llvm::Module;

/// Whether there are such loops.
pub fn run(module: &mut Module) -> bool {
    let code = ir::snapshot(module);
    let has_atomics = |function: &Function| function.instructions().any(|one| one.op.is_atomic_update());
    let functions = code.functions.iter().enumerate().filter(|(_, function)| has_atomics(function));
    let places: Vec<(usize, usize)> = functions
        .flat_map(|(n, function)| meets(&Flow::of(&code, function)).into_iter().map(move |block| (n, block)))
        .collect();
    if places.is_empty() {
        return false;
    }
    module.edit(|edit| {
        let mark = edit.declare(DeviceFunction::Meet.name());
        for attribute in ["convergent", "nounwind", "willreturn"] {
            edit.add_attribute(mark, attribute);
        }
        let blocks = edit.blocks();
        for (function, block) in places {
            let Some(behind_phis) = blocks[function][block].instructions().find(|one| !one.is_phi()) else { continue };
            edit.add_attribute(edit.build_before(behind_phis).call(mark, &[], ""), "convergent");
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

/// The blocks in which paths of such loops meet.
fn meets(flow: &Flow<'_>) -> Vec<usize> {
    let innermost = |block: usize| {
        let around = flow.loops.iter().filter(|one| one.blocks.contains(&block));
        around.min_by_key(|one| one.blocks.len()).map(|one| one.header)
    };
    let mut all = Vec::new();
    for spin in flow.loops.iter().filter(|one| is_spin_loop(flow, one)) {
        let several =
            |block: usize| flow.graph.predecessors[block].iter().filter(|from| spin.blocks.contains(from)).count() > 1;
        let own = |block: usize| innermost(block) == Some(spin.header);
        all.extend(spin.blocks.iter().copied().filter(|&block| several(block) && own(block)));
    }
    all.sort();
    all
}

/// Whether the loop is left when something was set in it that follows from an atomic operation.
fn is_spin_loop(flow: &Flow<'_>, one: &NaturalLoop) -> bool {
    let inside = |block: usize| one.blocks.contains(&block);
    let writes = |one: &&Instruction| one.op.is_atomic_update() || matches!(one.op, Op::Store { .. });
    if one.blocks.iter().flat_map(|&block| flow.block(block)).filter(writes).count() < 2 {
        return false;
    }
    let set_inside = |one: &Instruction| match &one.op {
        Op::Phi { incoming, .. } => {
            incoming.iter().any(|(value, from)| matches!(value, Value::Constant(_)) && inside(from.0))
        }
        _ => false,
    };
    let leaves = |block: &usize| flow.graph.successors[*block].iter().any(|to| !inside(*to));
    let mut branches = one.blocks.iter().filter_map(|&block| flow.condition(block));
    let mut exits = one.blocks.iter().copied().filter(leaves).filter_map(|block| flow.condition(block));
    branches.any(|condition| flow.find(condition, inside, |one| one.op.is_atomic_update()).is_some())
        && exits.any(|condition| flow.find(condition, inside, set_inside).is_some())
}
