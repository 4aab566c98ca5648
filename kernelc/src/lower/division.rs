//! Divisions by one number: drivers divide each pair of numbers for itself. By a reciprocal that is made of the divisor alone,
//! divisions by the same number share it.

use super::assembler::{Assembler, Scalar};
use super::integers;
use crate::ir::{BinaryOp, Function, LocalId, Op, Type, Value};
use rspirv::spirv::{GlslStd450Op as Glsl, Op as S, Word};
use std::collections::HashMap;

/// Integers of up to 32 bits by which more than one is divided.
pub(super) fn shared_divisors(function: &Function) -> Vec<LocalId> {
    let mut times: HashMap<LocalId, usize> = HashMap::new();
    for instruction in function.instructions() {
        let Op::Binary { op, right, .. } = &instruction.op else { continue };
        if let (true, Value::Local(by), Type::Int(2..=32)) = (divides(*op), &right.value, &right.ty) {
            *times.entry(*by).or_default() += 1;
        }
    }
    times.into_iter().filter(|(_, times)| *times > 1).map(|(by, _)| by).collect()
}

pub(super) fn divides(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SDiv | BinaryOp::SRem)
}

/// Quotient or remainder of numbers of up to 32 bits.
pub(super) fn by_number(asm: &mut Assembler, op: BinaryOp, bits: u32, a: Word, b: Word) -> Word {
    let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
    if !signed {
        let division = unsigned(asm, a, b);
        return if op == BinaryOp::UDiv { division.quotient(asm) } else { division.rest(asm) };
    }
    let (a, b) = (integers::signed(asm, a, bits), integers::signed(asm, b, bits));
    let ty = asm.scalar(Scalar::U32);
    let (x, y) = (asm.glsl(Glsl::SAbs, ty, &[a]), asm.glsl(Glsl::SAbs, ty, &[b]));
    let division = unsigned(asm, x, y);
    let (word, signs) = match op {
        BinaryOp::SDiv => (division.quotient(asm), asm.make(S::BitwiseXor, Scalar::U32, &[a, b])),
        _ => (division.rest(asm), a),
    };
    let word = with_sign(asm, word, signs);
    integers::clean(asm, word, bits)
}

/// A division whose quotient may still be too small by up to two.
struct Near {
    divisor: Word,
    quotient: Word,
    rest: Word,
}

impl Near {
    fn quotient(self, asm: &mut Assembler) -> Word {
        let one = asm.constant(Scalar::U32, 1);
        let (mut quotient, mut rest) = (self.quotient, self.rest);
        for last in [false, true] {
            let less = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[rest, self.divisor]);
            let more = asm.make(S::IAdd, Scalar::U32, &[quotient, one]);
            quotient = asm.make(S::Select, Scalar::U32, &[less, more, quotient]);
            if !last {
                rest = self.reduced(asm, rest, less);
            }
        }
        quotient
    }

    fn rest(self, asm: &mut Assembler) -> Word {
        let mut rest = self.rest;
        for _ in 0..2 {
            let less = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[rest, self.divisor]);
            rest = self.reduced(asm, rest, less);
        }
        rest
    }

    fn reduced(&self, asm: &mut Assembler, rest: Word, less: Word) -> Word {
        let other = asm.make(S::ISub, Scalar::U32, &[rest, self.divisor]);
        asm.make(S::Select, Scalar::U32, &[less, other, rest])
    }
}

fn unsigned(asm: &mut Assembler, x: Word, y: Word) -> Near {
    let reciprocal = reciprocal(asm, y);
    let quotient = asm.high_product(reciprocal, x);
    let product = asm.make(S::IMul, Scalar::U32, &[quotient, y]);
    let rest = asm.make(S::ISub, Scalar::U32, &[x, product]);
    Near { divisor: y, quotient, rest }
}

/// 2^32 / y, too small by less than one and a bit: of a float, which is too small by up to 8 parts in 2^24, and one step of Newton.
fn reciprocal(asm: &mut Assembler, y: Word) -> Word {
    let one = asm.constant(Scalar::F32, u64::from(1.0f32.to_bits()));
    let float = asm.make(S::ConvertUToF, Scalar::F32, &[y]);
    let part = asm.make(S::FDiv, Scalar::F32, &[one, float]);
    // Vulkan allows the quotient 2.5 units of the last place, and the conversion takes up to one more.
    let digits = asm.make(S::Bitcast, Scalar::U32, &[part]);
    let by = asm.constant(Scalar::U32, (32 << 23) - 4);
    let digits = asm.make(S::IAdd, Scalar::U32, &[digits, by]);
    let scaled = asm.make(S::Bitcast, Scalar::F32, &[digits]);
    let near = asm.make(S::ConvertFToU, Scalar::U32, &[scaled]);
    let zero = asm.constant(Scalar::U32, 0);
    let less = asm.make(S::ISub, Scalar::U32, &[zero, y]);
    let missing = asm.make(S::IMul, Scalar::U32, &[near, less]);
    let step = asm.high_product(near, missing);
    asm.make(S::IAdd, Scalar::U32, &[near, step])
}

/// A size with the sign of another number.
fn with_sign(asm: &mut Assembler, word: Word, sign: Word) -> Word {
    let zero = asm.constant(Scalar::U32, 0);
    let less = asm.make(S::ISub, Scalar::U32, &[zero, word]);
    let negative = asm.make(S::SLessThan, Scalar::Bool, &[sign, zero]);
    asm.make(S::Select, Scalar::U32, &[negative, less, word])
}
