//! Queries on the calls and atomic operations of a module.

use crate::device_abi::DeviceFunction;
use crate::llvm::{Form, Module, Value, number};

/// The instructions of all functions.
pub fn instructions(module: &Module) -> impl Iterator<Item = Value<'_>> {
    module.functions().flat_map(Value::instructions)
}

/// The function of the C++ headers that an instruction calls.
pub fn called(instruction: Value<'_>) -> Option<DeviceFunction> {
    if instruction.form() != Form::Instruction(number::opcode::CALL) {
        return None;
    }
    DeviceFunction::of(&instruction.called()?.name())
}

/// True for the name of an intrinsic that copies or sets memory.
pub fn copies_or_sets(callee: &str) -> bool {
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|begin| callee.starts_with(begin))
}

/// True if a module calls a function of the C++ headers.
pub fn is_called(function: DeviceFunction, module: &Module) -> bool {
    instructions(module).any(|instruction| called(instruction) == Some(function))
}

/// True if a module has an atomic read-modify-write operation; taking a lock always needs one.
pub fn has_atomics(module: &Module) -> bool {
    use number::opcode::{ATOMICRMW, CMPXCHG};
    instructions(module).any(|one| matches!(one.form(), Form::Instruction(ATOMICRMW | CMPXCHG)))
}
