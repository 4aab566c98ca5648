//! Arithmetic on integers of any width up to 64 bits.
//!
//! An integer of 1 bit is a `Bool`. Wider integers are in registers of 32 or 64 bits (their container), and the upper bits of the register
//! are zero. A mask follows operations that could set the upper bits.

use super::assembler::{Assembler, Scalar};
use crate::ir::{BinaryOp, IntPredicate};
use crate::kernel_error::KernelError;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as S, Word};

/// The register type of an integer of more than 1 bit.
pub(super) fn container(bits: u32) -> Scalar {
    if bits <= 32 { Scalar::U32 } else { Scalar::U64 }
}

fn fills_register(bits: u32) -> bool {
    bits == 32 || bits == 64
}

/// Clears all bits of a register except the lowest `bits`.
pub(super) fn clean(asm: &mut Assembler, word: Word, bits: u32) -> Word {
    if fills_register(bits) {
        return word;
    }
    let mask = asm.constant(container(bits), (1 << bits) - 1);
    asm.make(S::BitwiseAnd, container(bits), &[word, mask])
}

/// The bitwise AND of a word and a constant mask.
pub(super) fn masked(asm: &mut Assembler, scalar: Scalar, word: Word, mask: u64) -> Word {
    let mask = asm.constant(scalar, mask);
    asm.make(S::BitwiseAnd, scalar, &[word, mask])
}

/// The word shifted by a constant distance; no instruction is emitted for distance 0.
pub(super) fn shifted(asm: &mut Assembler, scalar: Scalar, op: S, word: Word, by: u32) -> Word {
    if by == 0 {
        return word;
    }
    let by = asm.constant(Scalar::U32, u64::from(by));
    asm.make(op, scalar, &[word, by])
}

/// The value sign-extended to its container.
pub(super) fn signed(asm: &mut Assembler, word: Word, bits: u32) -> Word {
    if bits == 1 {
        let (ones, zero) = (asm.constant(Scalar::U32, u64::from(u32::MAX)), asm.constant(Scalar::U32, 0));
        return asm.make(S::Select, Scalar::U32, &[word, ones, zero]);
    }
    if fills_register(bits) {
        return word;
    }
    let scalar = container(bits);
    let by = asm.constant(scalar, scalar.size() * 8 - u64::from(bits));
    let up = asm.make(S::ShiftLeftLogical, scalar, &[word, by]);
    asm.make(S::ShiftRightArithmetic, scalar, &[up, by])
}

pub(super) fn truncate(asm: &mut Assembler, word: Word, from: u32, to: u32) -> Word {
    if to == 1 {
        let scalar = container(from);
        let one = asm.constant(scalar, 1);
        let zero = asm.constant(scalar, 0);
        let bit = asm.make(S::BitwiseAnd, scalar, &[word, one]);
        return asm.make(S::INotEqual, Scalar::Bool, &[bit, zero]);
    }
    let word = if container(from) == container(to) { word } else { asm.make(S::UConvert, Scalar::U32, &[word]) };
    if from == to { word } else { clean(asm, word, to) }
}

pub(super) fn zero_extend(asm: &mut Assembler, word: Word, from: u32, to: u32) -> Word {
    let scalar = container(to);
    if from == 1 {
        let (one, zero) = (asm.constant(scalar, 1), asm.constant(scalar, 0));
        return asm.make(S::Select, scalar, &[word, one, zero]);
    }
    if container(from) == scalar { word } else { asm.make(S::UConvert, scalar, &[word]) }
}

pub(super) fn sign_extend(asm: &mut Assembler, word: Word, from: u32, to: u32) -> Word {
    if from == to {
        return word;
    }
    let scalar = container(to);
    if from == 1 {
        let (ones, zero) = (asm.constant(scalar, u64::MAX), asm.constant(scalar, 0));
        let all = asm.make(S::Select, scalar, &[word, ones, zero]);
        return clean(asm, all, to);
    }
    let full = signed(asm, word, from);
    let wide = if container(from) == scalar { full } else { asm.make(S::SConvert, scalar, &[full]) };
    clean(asm, wide, to)
}

/// A value times a constant.
pub(super) fn times(asm: &mut Assembler, scalar: Scalar, word: Word, by: u64) -> Word {
    if by == 1 {
        return word;
    }
    if by.is_power_of_two() {
        let shift = asm.constant(Scalar::U32, u64::from(by.trailing_zeros()));
        return asm.make(S::ShiftLeftLogical, scalar, &[word, shift]);
    }
    let by = asm.constant(scalar, by);
    asm.make(S::IMul, scalar, &[word, by])
}

pub(super) fn binary(asm: &mut Assembler, op: BinaryOp, bits: u32, a: Word, b: Word) -> Result<Word, KernelError> {
    if bits == 1 {
        return boolean(asm, op, a, b);
    }
    let scalar = container(bits);
    let simple = match op {
        BinaryOp::Add => S::IAdd,
        BinaryOp::Sub => S::ISub,
        BinaryOp::Mul => S::IMul,
        BinaryOp::UDiv => S::UDiv,
        BinaryOp::URem => S::UMod,
        BinaryOp::Shl => S::ShiftLeftLogical,
        BinaryOp::LShr => S::ShiftRightLogical,
        BinaryOp::And => S::BitwiseAnd,
        BinaryOp::Or => S::BitwiseOr,
        BinaryOp::Xor => S::BitwiseXor,
        BinaryOp::AShr => {
            let a = signed(asm, a, bits);
            let word = asm.make(S::ShiftRightArithmetic, scalar, &[a, b]);
            return Ok(clean(asm, word, bits));
        }
        BinaryOp::SDiv | BinaryOp::SRem => {
            let (a, b) = (signed(asm, a, bits), signed(asm, b, bits));
            let quotient = asm.make(S::SDiv, scalar, &[a, b]);
            if op == BinaryOp::SDiv {
                return Ok(clean(asm, quotient, bits));
            }
            // OpSRem of negative numbers is undefined in Vulkan.
            let product = asm.make(S::IMul, scalar, &[quotient, b]);
            let word = asm.make(S::ISub, scalar, &[a, product]);
            return Ok(clean(asm, word, bits));
        }
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => {
            return Err(KernelError::new(
                "internal: a floating-point operation has integer operands; please report this with the source".into(),
            ));
        }
    };
    let word = asm.make(simple, scalar, &[a, b]);
    Ok(match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => clean(asm, word, bits),
        _ => word,
    })
}

/// Computes the signed remainder of integers of up to 32 bits whose divisor is not constant. The result is the unsigned
/// remainder of the operands' magnitudes, with the sign of the dividend. A computation from the signed quotient would
/// take more operations.
pub(super) fn remainder(asm: &mut Assembler, a: Word, b: Word, bits: u32) -> Word {
    let (a, b) = (signed(asm, a, bits), signed(asm, b, bits));
    let ty = asm.scalar(Scalar::U32);
    let (x, y) = (asm.glsl(Glsl::SAbs, ty, &[a]), asm.glsl(Glsl::SAbs, ty, &[b]));
    let unsigned_remainder = asm.make(S::UMod, Scalar::U32, &[x, y]);
    let zero = asm.constant(Scalar::U32, 0);
    let negated = asm.make(S::ISub, Scalar::U32, &[zero, unsigned_remainder]);
    let negative = asm.make(S::SLessThan, Scalar::Bool, &[a, zero]);
    let word = asm.make(S::Select, Scalar::U32, &[negative, negated, unsigned_remainder]);
    clean(asm, word, bits)
}

/// The signed quotient or remainder of a division by 2^n, for n >= 1. A driver's own code for this division takes one
/// operation more.
pub(super) fn by_power_of_two(asm: &mut Assembler, op: BinaryOp, bits: u32, a: Word, n: u32) -> Word {
    let scalar = container(bits);
    let width = scalar.size() as u32 * 8;
    let a = signed(asm, a, bits);
    let shift = |asm: &mut Assembler, op, word, by: u32| {
        let by = asm.constant(Scalar::U32, u64::from(by));
        asm.make(op, scalar, &[word, by])
    };
    // To round towards zero, add the divisor minus 1 to negative numbers.
    let sign = if n == 1 { a } else { shift(asm, S::ShiftRightArithmetic, a, width - 1) };
    let rounding_bias = shift(asm, S::ShiftRightLogical, sign, width - n);
    let sum = asm.make(S::IAdd, scalar, &[a, rounding_bias]);
    let word = if op == BinaryOp::SDiv {
        shift(asm, S::ShiftRightArithmetic, sum, n)
    } else {
        let mask = asm.constant(scalar, u64::MAX << n);
        let whole = asm.make(S::BitwiseAnd, scalar, &[sum, mask]);
        asm.make(S::ISub, scalar, &[a, whole])
    };
    clean(asm, word, bits)
}

fn boolean(asm: &mut Assembler, op: BinaryOp, a: Word, b: Word) -> Result<Word, KernelError> {
    let op =
        match op {
            BinaryOp::And | BinaryOp::Mul => S::LogicalAnd,
            BinaryOp::Or => S::LogicalOr,
            BinaryOp::Xor | BinaryOp::Add | BinaryOp::Sub => S::LogicalNotEqual,
            // The only defined divisor is 1, and the only defined shift distance is 0.
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => return Ok(a),
            BinaryOp::URem | BinaryOp::SRem => return Ok(asm.constant(Scalar::Bool, 0)),
            _ => return Err(KernelError::new(
                "internal: a floating-point operation has operands of type bool; please report this with the source"
                    .into(),
            )),
        };
    Ok(asm.make(op, Scalar::Bool, &[a, b]))
}

pub(super) fn compare(asm: &mut Assembler, predicate: IntPredicate, bits: u32, a: Word, b: Word) -> Word {
    use IntPredicate as P;
    let (mut a, mut b, mut bits) = (a, b, bits);
    if bits == 1 {
        match predicate {
            P::Eq => return asm.make(S::LogicalEqual, Scalar::Bool, &[a, b]),
            P::Ne => return asm.make(S::LogicalNotEqual, Scalar::Bool, &[a, b]),
            P::Sgt | P::Sge | P::Slt | P::Sle => {
                (a, b) = (signed(asm, a, 1), signed(asm, b, 1));
            }
            _ => (a, b) = (zero_extend(asm, a, 1, 32), zero_extend(asm, b, 1, 32)),
        }
        bits = 32;
    }
    let op = match predicate {
        P::Eq => S::IEqual,
        P::Ne => S::INotEqual,
        P::Ugt => S::UGreaterThan,
        P::Uge => S::UGreaterThanEqual,
        P::Ult => S::ULessThan,
        P::Ule => S::ULessThanEqual,
        P::Sgt => S::SGreaterThan,
        P::Sge => S::SGreaterThanEqual,
        P::Slt => S::SLessThan,
        P::Sle => S::SLessThanEqual,
    };
    if matches!(predicate, P::Sgt | P::Sge | P::Slt | P::Sle) {
        (a, b) = (signed(asm, a, bits), signed(asm, b, bits));
    }
    asm.make(op, Scalar::Bool, &[a, b])
}
