//! Integer divisions by a divisor that several divisions share. The driver's own expansion of a division is not shared
//! between divisions. In the expansion of this module, the instructions for the reciprocal depend only on the divisor,
//! so the driver can merge them for all divisions by this divisor.

use super::assembler::{Assembler, Scalar};
use super::integers;
use crate::ir::{BinaryOp, Function, LocalId, Op, Type, Value};
use rspirv::spirv::{GlslStd450Op as Glsl, Op as S, Word};
use std::collections::HashMap;

/// Integers of up to 32 bits that are the divisor of more than one division.
pub(super) fn shared_divisors(function: &Function) -> Vec<LocalId> {
    let mut uses: HashMap<LocalId, usize> = HashMap::new();
    for instruction in function.instructions() {
        let Op::Binary { op, right, .. } = &instruction.op else { continue };
        if let (true, Value::Local(by), Type::Int(2..=32)) = (is_integer_division(*op), &right.value, &right.ty) {
            *uses.entry(*by).or_default() += 1;
        }
    }
    uses.into_iter().filter(|(_, uses)| *uses > 1).map(|(by, _)| by).collect()
}

pub(super) fn is_integer_division(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SDiv | BinaryOp::SRem)
}

/// The quotient or remainder of integers of up to 32 bits.
pub(super) fn divide(asm: &mut Assembler, op: BinaryOp, bits: u32, a: Word, b: Word) -> Word {
    let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
    if !signed {
        let division = unsigned(asm, a, b);
        return if op == BinaryOp::UDiv { division.quotient(asm) } else { division.remainder(asm) };
    }
    let (a, b) = (integers::signed(asm, a, bits), integers::signed(asm, b, bits));
    let ty = asm.scalar(Scalar::U32);
    let (x, y) = (asm.glsl(Glsl::SAbs, ty, &[a]), asm.glsl(Glsl::SAbs, ty, &[b]));
    let division = unsigned(asm, x, y);
    let (word, signs) = match op {
        BinaryOp::SDiv => (division.quotient(asm), asm.make(S::BitwiseXor, Scalar::U32, &[a, b])),
        _ => (division.remainder(asm), a),
    };
    let word = with_sign(asm, word, signs);
    integers::clean(asm, word, bits)
}

/// A division whose quotient may still be too small by up to two.
struct QuotientEstimate {
    divisor: Word,
    quotient: Word,
    remainder: Word,
}

impl QuotientEstimate {
    fn quotient(self, asm: &mut Assembler) -> Word {
        let one = asm.constant(Scalar::U32, 1);
        let (mut quotient, mut remainder) = (self.quotient, self.remainder);
        for last in [false, true] {
            let needs_step = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[remainder, self.divisor]);
            let incremented = asm.make(S::IAdd, Scalar::U32, &[quotient, one]);
            quotient = asm.make(S::Select, Scalar::U32, &[needs_step, incremented, quotient]);
            if !last {
                remainder = self.reduced(asm, remainder, needs_step);
            }
        }
        quotient
    }

    fn remainder(self, asm: &mut Assembler) -> Word {
        let mut remainder = self.remainder;
        for _ in 0..2 {
            let needs_step = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[remainder, self.divisor]);
            remainder = self.reduced(asm, remainder, needs_step);
        }
        remainder
    }

    fn reduced(&self, asm: &mut Assembler, remainder: Word, needs_step: Word) -> Word {
        let subtracted = asm.make(S::ISub, Scalar::U32, &[remainder, self.divisor]);
        asm.make(S::Select, Scalar::U32, &[needs_step, subtracted, remainder])
    }
}

fn unsigned(asm: &mut Assembler, x: Word, y: Word) -> QuotientEstimate {
    let reciprocal = reciprocal(asm, y);
    let quotient = asm.high_product(reciprocal, x);
    let product = asm.make(S::IMul, Scalar::U32, &[quotient, y]);
    let remainder = asm.make(S::ISub, Scalar::U32, &[x, product]);
    QuotientEstimate { divisor: y, quotient, remainder }
}

/// Returns an approximation of 2^32 / y that is never too large, and too small by at most little more than 1. One
/// Newton step refines a float estimate, which is too small by up to 8 parts in 2^24.
fn reciprocal(asm: &mut Assembler, y: Word) -> Word {
    let one = asm.constant(Scalar::F32, u64::from(1.0f32.to_bits()));
    let float = asm.make(S::ConvertUToF, Scalar::F32, &[y]);
    let float_reciprocal = asm.make(S::FDiv, Scalar::F32, &[one, float]);
    // Scale by 2^32 and subtract 4 ULP: Vulkan allows an error of 2.5 ULP in the quotient, and the conversion adds up to 1 ULP.
    let digits = asm.make(S::Bitcast, Scalar::U32, &[float_reciprocal]);
    let by = asm.constant(Scalar::U32, (32 << 23) - 4);
    let digits = asm.make(S::IAdd, Scalar::U32, &[digits, by]);
    let scaled = asm.make(S::Bitcast, Scalar::F32, &[digits]);
    let estimate = asm.make(S::ConvertFToU, Scalar::U32, &[scaled]);
    let zero = asm.constant(Scalar::U32, 0);
    let negated_divisor = asm.make(S::ISub, Scalar::U32, &[zero, y]);
    let residual = asm.make(S::IMul, Scalar::U32, &[estimate, negated_divisor]);
    let step = asm.high_product(estimate, residual);
    asm.make(S::IAdd, Scalar::U32, &[estimate, step])
}

/// A magnitude with the sign of another number.
fn with_sign(asm: &mut Assembler, word: Word, sign: Word) -> Word {
    let zero = asm.constant(Scalar::U32, 0);
    let negated = asm.make(S::ISub, Scalar::U32, &[zero, word]);
    let negative = asm.make(S::SLessThan, Scalar::Bool, &[sign, zero]);
    asm.make(S::Select, Scalar::U32, &[negative, negated, word])
}
