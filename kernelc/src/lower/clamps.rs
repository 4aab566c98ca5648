//! Lowers clamped sums.
//!
//! With `y = x + d`, LLVM turns `y < 0 ? 0 : min(y, n)` into `x < -d ? 0 : min(x, n - d) + d`, in which the comparison is no longer part of
//! a maximum. This module emits `max(min(x, n - d), -d) + d` instead, because drivers fuse a minimum and a maximum into one instruction.

use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::integers;
use crate::ir::{BinaryOp, Constant, IntPredicate, LocalId, Op, Operand, Value};
use rspirv::spirv::{GlslStd450Op as Glsl, Word};

/// The parts of a clamped sum `max(minimum, lower_limit) + addend`. `signed`: the numbers are signed.
struct Clamp {
    /// The result of `min(x, n - d)`.
    minimum: LocalId,
    lower_limit: i32,
    addend: i32,
    signed: bool,
}

impl Emitter<'_> {
    /// Lowers a select of 32-bit integers if it is a clamped sum.
    pub(super) fn clamped_sum(&mut self, condition: &Operand, yes: &Operand, no: &Operand) -> Lowered<Option<Word>> {
        let Some(clamp) = self.clamp(condition, yes, no) else { return Ok(None) };
        let Some(minimum) = self.values.get(&clamp.minimum).and_then(|words| words.first().copied()) else {
            return Ok(None);
        };
        let [lower_limit, addend] = [clamp.lower_limit, clamp.addend]
            .map(|n| self.asm.constant(Scalar::U32, i64::from(n) as u64 & 0xffff_ffff));
        let (maximum, ty) = (if clamp.signed { Glsl::SMax } else { Glsl::UMax }, self.asm.scalar(Scalar::U32));
        let clamped = self.asm.glsl(maximum, ty, &[minimum, lower_limit]);
        integers::binary(&mut self.asm, BinaryOp::Add, 32, clamped, addend).map(Some)
    }

    fn clamp(&self, condition: &Operand, yes: &Operand, no: &Operand) -> Option<Clamp> {
        let Op::ICmp { predicate, left, right } = self.defining_op(condition)? else { return None };
        let limit = constant(right)?;
        // `lower_limit`: the smallest number for which the select yields the sum.
        let (sum, other, lower_limit, signed) = match predicate {
            IntPredicate::Sgt => (yes, no, limit.checked_add(1)?, true),
            IntPredicate::Slt => (no, yes, limit, true),
            IntPredicate::Eq if limit == 0 => (no, yes, 1, false),
            IntPredicate::Ne if limit == 0 => (yes, no, 1, false),
            _ => return None,
        };
        let Op::Binary { op: BinaryOp::Add, left: minimum, right: addend, .. } = self.defining_op(sum)? else {
            return None;
        };
        let Op::Call { callee, arguments, .. } = self.defining_op(minimum)? else { return None };
        let (name, addend) = (self.module.functions[callee.0].name.as_str(), constant(addend)?);
        let [clamped_operand, upper_limit] = arguments.as_slice() else { return None };
        let upper_limit = constant(upper_limit)?;
        let is_within = if signed { lower_limit <= upper_limit } else { upper_limit != 0 };
        let is_clamp = name == if signed { "llvm.smin.i32" } else { "llvm.umin.i32" }
            && clamped_operand.value == left.value
            && is_within;
        (is_clamp && constant(other)? == lower_limit.wrapping_add(addend)).then_some(Clamp {
            minimum: minimum.value.local()?,
            lower_limit,
            addend,
            signed,
        })
    }

    fn defining_op(&self, operand: &Operand) -> Option<&Op> {
        self.narrow_addresses.definitions[operand.value.local()?.0].map(|made| &made.op)
    }
}

fn constant(operand: &Operand) -> Option<i32> {
    match operand.value {
        Value::Constant(Constant::Int(n)) => i32::try_from(n).ok(),
        Value::Constant(Constant::Zero) => Some(0),
        _ => None,
    }
}
