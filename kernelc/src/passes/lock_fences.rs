//! Adds fences to kernels with locks that several tiles take.
//!
//! - Precondition: all calls are inlined, and local variables are promoted to SSA values.
//! - Effect: in functions that have locks, there are fences before and after each atomic read-modify-write operation,
//!   and before each store to the address of a lock.
//! - Why: programs with locks rely on acquire-release order, but atomic operations of C++ AMP are relaxed: a thread that
//!   takes a lock need not see what the previous holder wrote, and compilers may move accesses across the operations.
//!   LLVM keeps the relaxed order. Kernels without locks get no fences, because fences cost time.

use crate::analysis::flow::Flow;
use crate::analysis::locks;
use crate::ir::{self, AtomicOp, Instruction, Op};
use crate::llvm::Module;
use std::collections::HashSet;

/// Returns true if the module has locks.
pub fn run(module: &mut Module) -> bool {
    let fence_points = fence_points(&ir::snapshot(module));
    module.edit(|edit| {
        let blocks = edit.blocks();
        for point in &fence_points {
            let Some(one) = blocks[point.function][point.block].instructions().nth(point.instruction) else { continue };
            let next = one.next_instruction();
            edit.fence(one);
            if let Some(next) = next.filter(|_| point.fence_after) {
                edit.fence(next);
            }
        }
    });
    !fence_points.is_empty()
}

/// True if a module for the host's processor has locks.
pub fn has_locks(module: &Module) -> bool {
    !fence_points(&ir::snapshot(module)).is_empty()
}

/// The position of an instruction that needs a fence before it.
struct FencePoint {
    function: usize,
    block: usize,
    instruction: usize,
    /// True if the instruction also needs a fence after it.
    fence_after: bool,
}

/// All fence points, the last one first: inserting a fence then does not renumber the remaining ones.
fn fence_points(code: &ir::Module) -> Vec<FencePoint> {
    let mut all = Vec::new();
    for (function, body) in code.functions.iter().enumerate() {
        if !body.instructions().any(|one| one.op.is_atomic_update()) {
            continue;
        }
        let flow = Flow::of(code, body);
        let locks = locks_of(&flow);
        for (block, contents) in body.blocks.iter().enumerate().filter(|_| !locks.is_empty()) {
            for (instruction, one) in contents.instructions.iter().enumerate() {
                let fence_after = one.op.is_atomic_update();
                let may_free_lock =
                    || locks::written_address(&one.op).is_some_and(|at| locks.contains(&locks::address(&flow, at)));
                if fence_after || may_free_lock() {
                    all.push(FencePoint { function, block, instruction, fence_after });
                }
            }
        }
    }
    all.reverse();
    all
}

/// The addresses of a function's locks. An address belongs to a lock if an atomic operation with a constant operand at
/// this address decides a branch, and another instruction changes the value at the same address.
fn locks_of(flow: &Flow<'_>) -> HashSet<String> {
    let mut lock_addresses = HashSet::new();
    for block in 0..flow.function.blocks.len() {
        let Some(condition) = flow.condition(block) else { continue };
        let is_in_loop = flow.loops.iter().any(|one| one.blocks.contains(&block));
        let taken_lock = locks::taken_lock(flow, |_| true, condition).filter(|(_, one)| is_in_loop || is_exchange(one));
        lock_addresses.extend(taken_lock.map(|(lock, _)| lock));
    }
    if lock_addresses.is_empty() {
        return lock_addresses;
    }
    let written_addresses = flow.function.instructions().filter_map(|one| locks::written_address(&one.op));
    let written_addresses: Vec<String> = written_addresses.map(|at| locks::address(flow, at)).collect();
    lock_addresses.retain(|lock| written_addresses.iter().filter(|at| *at == lock).count() > 1);
    lock_addresses
}

/// True for an exchange. Outside loops, only exchanges take locks, and other atomic operations count.
fn is_exchange(one: &Instruction) -> bool {
    matches!(one.op, Op::CmpXchg { .. } | Op::AtomicRmw { op: AtomicOp::Xchg, .. })
}
