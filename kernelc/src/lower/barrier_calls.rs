//! The calls that order what the threads of a tile do.

use crate::ir::{Module, Op};

/// The functions of the headers that wait for the threads of the tile, and that order memory.
pub(super) const BARRIER: &str = "__revamp_tile_barrier";
const FENCE: &str = "__revamp_memory_fence";

/// True for a tile barrier.
pub(super) fn is_barrier(module: &Module, op: &Op) -> bool {
    calls(module, op, BARRIER)
}

/// True for a memory fence.
pub(super) fn is_fence(module: &Module, op: &Op) -> bool {
    calls(module, op, FENCE)
}

fn calls(module: &Module, op: &Op, name: &str) -> bool {
    matches!(op, Op::Call { callee, .. } if module.functions[callee.0].name == name)
}
