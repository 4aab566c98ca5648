//! The effects of instructions on memory.

use crate::device_abi::DeviceFunction;
use crate::ir::{Instruction, Module, Op};

/// True if an instruction may write memory, or make writes of other threads visible.
pub fn may_write(module: &Module, one: &Instruction) -> bool {
    match &one.op {
        Op::Store { .. } | Op::AtomicRmw { .. } | Op::CmpXchg { .. } | Op::Fence | Op::CallIndirect { .. } => true,
        Op::Load { volatile, atomic, .. } => *volatile || *atomic,
        Op::Call { callee, .. } => match DeviceFunction::called(module, &one.op) {
            Some(function) => !function.is_pure(),
            // LLVM's intrinsics with a result only compute it.
            None => !module.functions[callee.0].name.starts_with("llvm.") || one.result.is_none(),
        },
        _ => false,
    }
}

/// True if an instruction may read or write memory.
pub fn may_access(module: &Module, one: &Instruction) -> bool {
    matches!(one.op, Op::Load { .. }) || may_write(module, one)
}
