//! Orders memory where kernels have locks that several tiles take.
//!
//! - Precondition: all calls are inlined, and variables are values.
//! - Effect: in functions that have locks, fences stand around each atomic operation that reads and writes, and before each store to the address of a
//!   lock.
//! - Why: atomic operations of C++ AMP are relaxed. So what a thread wrote under a lock need not be there when another thread has the lock, and
//!   compilers may move accesses over the operations. Programs with locks mean the opposite. LLVM keeps the relaxed order that it is given. Other
//!   kernels get no fences, because fences cost.

use crate::analysis::flow::Flow;
use crate::analysis::locks;
use crate::ir::{self, AtomicOp, Instruction, Op};
use crate::llvm::Module;
use std::collections::HashSet;

/// Whether there are locks.
pub fn run(module: &mut Module) -> bool {
    let places = places(&ir::snapshot(module));
    module.edit(|edit| {
        let blocks = edit.blocks();
        for place in &places {
            let Some(one) = blocks[place.function][place.block].instructions().nth(place.instruction) else { continue };
            let next = one.next_instruction();
            edit.fence(one);
            if let Some(next) = next.filter(|_| place.behind) {
                edit.fence(next);
            }
        }
    });
    !places.is_empty()
}

/// Whether a module for the host's processor has locks.
pub fn has_locks(module: &Module) -> bool {
    !places(&ir::snapshot(module)).is_empty()
}

/// An instruction that a fence stands before, by number.
struct FencePoint {
    function: usize,
    block: usize,
    instruction: usize,
    /// And one behind it.
    behind: bool,
}

/// From the end, so that an edit moves none of those that follow.
fn places(code: &ir::Module) -> Vec<FencePoint> {
    let mut all = Vec::new();
    for (function, body) in code.functions.iter().enumerate() {
        if !body.instructions().any(|one| one.op.is_atomic_update()) {
            continue;
        }
        let flow = Flow::of(code, body);
        let locks = locks_of(&flow);
        for (block, inside) in body.blocks.iter().enumerate().filter(|_| !locks.is_empty()) {
            for (instruction, one) in inside.instructions.iter().enumerate() {
                let behind = one.op.is_atomic_update();
                let frees = || locks::changed(&one.op).is_some_and(|at| locks.contains(&locks::address(&flow, at)));
                if behind || frees() {
                    all.push(FencePoint { function, block, instruction, behind });
                }
            }
        }
    }
    all.reverse();
    all
}

/// The addresses of the locks of a function: an atomic operation with a constant decides where a thread goes, and the same place is
/// changed elsewhere too.
fn locks_of(flow: &Flow<'_>) -> HashSet<String> {
    let mut found = HashSet::new();
    for block in 0..flow.function.blocks.len() {
        let Some(condition) = flow.condition(block) else { continue };
        let looped = flow.loops.iter().any(|one| one.blocks.contains(&block));
        let taken = locks::taken(flow, |_| true, condition).filter(|(_, one)| looped || exchanges(one));
        found.extend(taken.map(|(lock, _)| lock));
    }
    if found.is_empty() {
        return found;
    }
    let changes = flow.function.instructions().filter_map(|one| locks::changed(&one.op));
    let changes: Vec<String> = changes.map(|at| locks::address(flow, at)).collect();
    found.retain(|lock| changes.iter().filter(|at| *at == lock).count() > 1);
    found
}

/// What is counted outside of loops is no lock.
fn exchanges(one: &Instruction) -> bool {
    matches!(one.op, Op::CmpXchg { .. } | Op::AtomicRmw { op: AtomicOp::Xchg, .. })
}
