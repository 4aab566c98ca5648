//! Properties of a kernel's instructions and calls.

use crate::device_abi::{DeviceFunction, Position};
use crate::ir::{BinaryOp, CastOp, Constant, Instruction, Module, Op, Value};

/// The name of the function that an instruction calls.
pub fn callee<'k>(code: &'k Module, instruction: &Instruction) -> Option<&'k str> {
    match instruction.op {
        Op::Call { callee, .. } => Some(&code.functions[callee.0].name),
        _ => None,
    }
}

/// The kind of position that a call returns, and its dimension if that is constant.
pub fn position(code: &Module, instruction: &Instruction) -> Option<(Position, Option<u64>)> {
    match (DeviceFunction::called(code, &instruction.op)?, &instruction.op) {
        (DeviceFunction::Position(position), Op::Call { arguments, .. }) => {
            Some((position, arguments.first().and_then(|axis| axis.unsigned())))
        }
        _ => None,
    }
}

/// The locals that an instruction uses as operands.
pub fn locals(instruction: &Instruction) -> impl Iterator<Item = crate::ir::LocalId> {
    instruction.op.operands().into_iter().filter_map(Value::local)
}

pub fn is_lifetime(code: &Module, instruction: &Instruction) -> bool {
    callee(code, instruction).is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// True for a call that only computes a number, or marks a variable's lifetime.
pub fn is_harmless_call(code: &Module, call: &Instruction) -> bool {
    callee(code, call).is_some_and(|name| {
        DeviceFunction::of(name).is_some_and(DeviceFunction::is_pure)
            || is_number_intrinsic(name)
            || name.starts_with("llvm.lifetime.")
    })
}

/// True for instructions without side effects that may be executed speculatively.
pub fn is_speculatable(op: &Op) -> bool {
    match op {
        Op::Binary { op, .. } => !is_division(*op),
        Op::Cast { op, .. } => !matches!(op, CastOp::AddrSpaceCast | CastOp::PtrToAddr),
        Op::Gep { .. }
        | Op::ICmp { .. }
        | Op::FCmp { .. }
        | Op::Select { .. }
        | Op::Freeze { .. }
        | Op::FNeg { .. } => true,
        Op::ExtractElement { .. } | Op::InsertElement { .. } | Op::ShuffleVector { .. } => true,
        Op::ExtractValue { .. } | Op::InsertValue { .. } => true,
        _ => false,
    }
}

pub fn is_division(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::UDiv | B::SDiv | B::URem | B::SRem | B::FDiv | B::FRem)
}

/// True for intrinsics of LLVM that compute a number from numbers.
pub fn is_number_intrinsic(name: &str) -> bool {
    const KNOWN: &str = " smax smin umax umin abs fabs fma fmuladd sqrt floor ceil trunc rint nearbyint round roundeven \
        copysign minnum maxnum ctpop ctlz cttz bswap fshl fshr bitreverse usub ";
    let word = name.strip_prefix("llvm.").and_then(|rest| rest.split('.').next());
    word.is_some_and(|word| KNOWN.contains(&format!(" {word} ")))
}

/// Applies `search` to a constant and to the constants within it. Returns the first result.
pub fn find_in_constant<T>(value: &Value, search: &impl Fn(&Constant) -> Option<T>) -> Option<T> {
    let Value::Constant(constant) = value else { return None };
    search(constant).or_else(|| match constant {
        Constant::Expression(op) => op.operands().into_iter().find_map(|part| find_in_constant(part, search)),
        Constant::Aggregate(parts) => parts.iter().find_map(|part| find_in_constant(&part.value, search)),
        _ => None,
    })
}

/// True for a constant that contains an expression.
pub fn is_expression(value: &Value) -> bool {
    find_in_constant(value, &|constant| matches!(constant, Constant::Expression(_) | Constant::Other).then_some(()))
        .is_some()
}
