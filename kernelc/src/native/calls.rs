//! What the instructions of a kernel call and do.

use crate::device_abi::{DeviceFunction, Position};
use crate::ir::{BinaryOp, CastOp, Constant, Instruction, Module, Op, Value};

/// The name of the function that an instruction calls.
pub fn callee<'k>(code: &'k Module, one: &Instruction) -> Option<&'k str> {
    match one.op {
        Op::Call { callee, .. } => Some(&code.functions[callee.0].name),
        _ => None,
    }
}

/// The position of the thread that a call gives, and in which dimension, if that is constant.
pub fn position(code: &Module, one: &Instruction) -> Option<(Position, Option<u64>)> {
    match (DeviceFunction::called(code, &one.op)?, &one.op) {
        (DeviceFunction::Position(position), Op::Call { arguments, .. }) => {
            Some((position, arguments.first().and_then(|axis| axis.unsigned())))
        }
        _ => None,
    }
}

/// The values that an instruction other than an alloca makes its result of.
pub fn locals(one: &Instruction) -> impl Iterator<Item = crate::ir::LocalId> {
    one.op.operands().into_iter().filter_map(Value::local)
}

pub fn is_lifetime(code: &Module, one: &Instruction) -> bool {
    callee(code, one).is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// A call that only makes a number, or tells of a variable's lifetime.
pub fn is_harmless_call(code: &Module, call: &Instruction) -> bool {
    callee(code, call).is_some_and(|name| {
        DeviceFunction::of(name).is_some_and(DeviceFunction::is_pure)
            || is_number_intrinsic(name)
            || name.starts_with("llvm.lifetime.")
    })
}

/// Instructions without effect that may be done where they would not have been.
pub fn is_simple(op: &Op) -> bool {
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

/// Intrinsics of LLVM that make a number of numbers.
pub fn is_number_intrinsic(name: &str) -> bool {
    const KNOWN: &str = " smax smin umax umin abs fabs fma fmuladd sqrt floor ceil trunc rint nearbyint round roundeven \
        copysign minnum maxnum ctpop ctlz cttz bswap fshl fshr bitreverse usub ";
    let word = name.strip_prefix("llvm.").and_then(|rest| rest.split('.').next());
    word.is_some_and(|word| KNOWN.contains(&format!(" {word} ")))
}

/// The first constant of some within a constant.
pub fn mentioned<T>(value: &Value, wanted: &impl Fn(&Constant) -> Option<T>) -> Option<T> {
    let Value::Constant(constant) = value else { return None };
    wanted(constant).or_else(|| match constant {
        Constant::Expression(op) => op.operands().into_iter().find_map(|part| mentioned(part, wanted)),
        Constant::Aggregate(parts) => parts.iter().find_map(|part| mentioned(&part.value, wanted)),
        _ => None,
    })
}

/// A constant with an expression in it.
pub fn is_expression(value: &Value) -> bool {
    mentioned(value, &|constant| matches!(constant, Constant::Expression(_) | Constant::Other).then_some(())).is_some()
}
