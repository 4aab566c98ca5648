//! Lowers LLVM's intrinsics on scalars to an instruction of GLSL.std.450 or to several instructions.

use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::scalars::ScalarKind;
use super::{exact, integers, memory};
use crate::ir::{BinaryOp, IntPredicate, Operand};
use crate::kernel_error::KernelError;
use rspirv::spirv::{Capability, GlslStd450Op as Glsl, Op as S, Word};

/// The instruction of GLSL.std.450 that is equivalent to an intrinsic.
fn glsl_instruction(base: &str) -> Option<Glsl> {
    Some(match base {
        "sqrt" => Glsl::Sqrt,
        "floor" => Glsl::Floor,
        "ceil" => Glsl::Ceil,
        "trunc" => Glsl::Trunc,
        "rint" | "nearbyint" | "roundeven" => Glsl::RoundEven,
        "fabs" => Glsl::FAbs,
        "minnum" => Glsl::NMin,
        "maxnum" => Glsl::NMax,
        "sin" => Glsl::Sin,
        "cos" => Glsl::Cos,
        "tan" => Glsl::Tan,
        "exp" => Glsl::Exp,
        "exp2" => Glsl::Exp2,
        "log" => Glsl::Log,
        "log2" => Glsl::Log2,
        "pow" => Glsl::Pow,
        "ldexp" => Glsl::Ldexp,
        _ => return None,
    })
}

/// Lowers one scalar of an intrinsic; for vectors, the caller lowers each lane. Returns `None` for an unknown
/// intrinsic.
///
/// `base`: the name of the intrinsic without `llvm.` and types. `kind`: the kind of the result. `from`: the kind of the first argument.
/// `words`: the ids of the arguments' scalars. `arguments`: the IR operands of the call, for arguments that must be
/// constants.
pub(super) fn scalar(
    e: &mut Emitter,
    base: &str,
    kind: ScalarKind,
    from: ScalarKind,
    words: &[Word],
    arguments: &[Operand],
) -> Lowered<Option<Word>> {
    let register = kind.register();
    let ty = e.asm.scalar(register);
    if let Some(instruction) = glsl_instruction(base) {
        let transcendental = matches!(
            instruction,
            Glsl::Sin | Glsl::Cos | Glsl::Tan | Glsl::Exp | Glsl::Exp2 | Glsl::Log | Glsl::Log2 | Glsl::Pow
        );
        if transcendental && kind == ScalarKind::Double {
            return Err(KernelError::new(format!(
                "the builtin '{base}' does not support double: call the function of concurrency::precise_math"
            )));
        }
        return Ok(Some(e.asm.glsl(instruction, ty, words)));
    }
    let &[a, ..] = words else { return Ok(None) };
    let b = words.get(1).copied().unwrap_or(a);
    let c = words.get(2).copied().unwrap_or(a);
    let width = |kind: ScalarKind| match kind {
        ScalarKind::Int(bits) => Some(bits),
        _ => None,
    };
    let (bits, to) = (width(from).unwrap_or(32), width(kind));
    Ok(Some(match (base, to) {
        ("fma", _) => exact::fma(&mut e.asm, register, [a, b, c]),
        ("fmuladd", _) => e.asm.multiply_add(register, [a, b, c]),
        ("copysign", _) => copysign(e, kind, a, b)?,
        ("round", _) => round(e, kind, a)?,
        ("minimum" | "maximum" | "minimumnum" | "maximumnum", _) => minimum_or_maximum(e, base, register, a, b),
        ("is.fpclass", _) => {
            let Some(mask) = arguments.get(1).and_then(Operand::unsigned) else { return Ok(None) };
            classify(e, from, a, mask)?
        }
        ("umin" | "umax" | "smin" | "smax", _) => integer_minimum_or_maximum(e, base, ty, bits, a, b),
        ("abs", _) => absolute(e, register, bits, a)?,
        ("ctpop", _) => count_ones(e, bits, a),
        ("ctlz", _) => leading_zeros(e, bits, a),
        ("cttz", _) => trailing_zeros(e, bits, a),
        ("bitreverse", _) => reverse_bits(e, bits, a),
        ("bswap", _) => swap_bytes(e, a, bits, register),
        ("fshl" | "fshr", _) if bits == 32 || bits == 64 => funnel_shift(e, base, register, bits, [a, b, c]),
        ("uadd.sat", _) => saturating_add(e, register, bits, a, b)?,
        ("usub.sat", _) => saturating_sub(e, register, bits, a, b)?,
        ("ucmp" | "scmp", Some(to)) => three_way(e, base, ty, (bits, to), a, b),
        ("fptoui.sat" | "fptosi.sat", Some(to)) => saturate(e, base == "fptosi.sat", from, to, a)?,
        _ => return Ok(None),
    }))
}

/// Rounds halves away from zero.
fn round(e: &mut Emitter, kind: ScalarKind, a: Word) -> Lowered<Word> {
    let ty = e.asm.scalar(kind.register());
    // The subtraction that computes the fraction of |a| is exact.
    let magnitude = e.asm.glsl(Glsl::FAbs, ty, &[a]);
    let whole = e.asm.glsl(Glsl::Trunc, ty, &[magnitude]);
    let rest = e.asm.op(S::FSub, ty, &[magnitude, whole]);
    let half = float(e, kind, 0.5);
    let one = float(e, kind, 1.0);
    let zero = float(e, kind, 0.0);
    let up = e.asm.make(S::FOrdGreaterThanEqual, Scalar::Bool, &[rest, half]);
    let by = e.asm.op(S::Select, ty, &[up, one, zero]);
    let rounded = e.asm.op(S::FAdd, ty, &[whole, by]);
    copysign(e, kind, rounded, a)
}

/// The smaller or larger of two floats; -0 is smaller than +0. If one is NaN, `minimum` and `maximum` give NaN, and
/// `minimumnum` and `maximumnum` give the other.
fn minimum_or_maximum(e: &mut Emitter, base: &str, register: Scalar, a: Word, b: Word) -> Word {
    let ty = e.asm.scalar(register);
    let integer = Scalar::unsigned(register.size());
    if integer == Scalar::U16 {
        e.asm.need(Capability::Int16);
    }
    let bits = memory::recast(&mut e.asm, a, register, integer);
    let zero = e.asm.constant(integer, 0);
    let negative = e.asm.make(S::SLessThan, Scalar::Bool, &[bits, zero]);
    let smaller = base.starts_with("minimum");
    let (order, equals) = if smaller { (Glsl::NMin, [a, b]) } else { (Glsl::NMax, [b, a]) };
    // NMin and NMax do not order zeros, so the sign of `a` selects one of two equal numbers.
    let chosen = e.asm.glsl(order, ty, &[a, b]);
    let by_sign = e.asm.op(S::Select, ty, &[negative, equals[0], equals[1]]);
    let equal = e.asm.make(S::FOrdEqual, Scalar::Bool, &[a, b]);
    let chosen = e.asm.op(S::Select, ty, &[equal, by_sign, chosen]);
    if base.ends_with("num") {
        return chosen;
    }
    let sum = e.asm.op(S::FAdd, ty, &[a, b]);
    let x = e.asm.make(S::IsNan, Scalar::Bool, &[a]);
    let y = e.asm.make(S::IsNan, Scalar::Bool, &[b]);
    let nan = e.asm.make(S::LogicalOr, Scalar::Bool, &[x, y]);
    e.asm.op(S::Select, ty, &[nan, sum, chosen])
}

/// The smaller or larger of two integers.
fn integer_minimum_or_maximum(e: &mut Emitter, base: &str, ty: Word, bits: u32, a: Word, b: Word) -> Word {
    let predicate = match base {
        "umin" => IntPredicate::Ult,
        "umax" => IntPredicate::Ugt,
        "smin" => IntPredicate::Slt,
        _ => IntPredicate::Sgt,
    };
    if bits == 32 || bits == 64 {
        let instruction = match base {
            "umin" => Glsl::UMin,
            "umax" => Glsl::UMax,
            "smin" => Glsl::SMin,
            _ => Glsl::SMax,
        };
        e.asm.glsl(instruction, ty, &[a, b])
    } else {
        let first = integers::compare(&mut e.asm, predicate, bits, a, b);
        e.asm.op(S::Select, ty, &[first, a, b])
    }
}

fn absolute(e: &mut Emitter, register: Scalar, bits: u32, a: Word) -> Lowered<Word> {
    let ty = e.asm.scalar(register);
    if bits == 32 || bits == 64 {
        Ok(e.asm.glsl(Glsl::SAbs, ty, &[a]))
    } else {
        let zero = e.asm.constant(register, 0);
        let negative = integers::compare(&mut e.asm, IntPredicate::Slt, bits, a, zero);
        let minus = integers::binary(&mut e.asm, BinaryOp::Sub, bits, zero, a)?;
        Ok(e.asm.op(S::Select, ty, &[negative, minus, a]))
    }
}

fn count_ones(e: &mut Emitter, bits: u32, a: Word) -> Word {
    let (low, high) = halves(e, a, bits);
    let mut count = e.asm.make(S::BitCount, Scalar::U32, &[low]);
    if let Some(high) = high {
        let more = e.asm.make(S::BitCount, Scalar::U32, &[high]);
        count = e.asm.make(S::IAdd, Scalar::U32, &[count, more]);
    }
    integers::zero_extend(&mut e.asm, count, 32, bits.max(32))
}

fn leading_zeros(e: &mut Emitter, bits: u32, a: Word) -> Word {
    // For 0, FindUMsb is -1. The result `bits - 1 - top` is then `bits`.
    let word32 = e.asm.scalar(Scalar::U32);
    let (low, high) = halves(e, a, bits);
    let msb = e.asm.glsl(Glsl::FindUMsb, word32, &[low]);
    let top = match high {
        None => msb,
        Some(high) => {
            let upper = e.asm.glsl(Glsl::FindUMsb, word32, &[high]);
            let zero = e.asm.constant(Scalar::U32, 0);
            let by = e.asm.constant(Scalar::U32, 32);
            let any = e.asm.make(S::INotEqual, Scalar::Bool, &[high, zero]);
            let shifted = e.asm.make(S::IAdd, Scalar::U32, &[upper, by]);
            e.asm.make(S::Select, Scalar::U32, &[any, shifted, msb])
        }
    };
    let last = e.asm.constant(Scalar::U32, u64::from(bits) - 1);
    let zeros = e.asm.make(S::ISub, Scalar::U32, &[last, top]);
    integers::zero_extend(&mut e.asm, zeros, 32, bits.max(32))
}

fn trailing_zeros(e: &mut Emitter, bits: u32, a: Word) -> Word {
    let word32 = e.asm.scalar(Scalar::U32);
    let (low, high) = halves(e, a, bits);
    let zero = e.asm.constant(Scalar::U32, 0);
    let mut lsb = e.asm.glsl(Glsl::FindILsb, word32, &[low]);
    let mut any = e.asm.make(S::INotEqual, Scalar::Bool, &[low, zero]);
    if let Some(high) = high {
        let upper = e.asm.glsl(Glsl::FindILsb, word32, &[high]);
        let by = e.asm.constant(Scalar::U32, 32);
        let shifted = e.asm.make(S::IAdd, Scalar::U32, &[upper, by]);
        lsb = e.asm.make(S::Select, Scalar::U32, &[any, lsb, shifted]);
        let more = e.asm.make(S::INotEqual, Scalar::Bool, &[high, zero]);
        any = e.asm.make(S::LogicalOr, Scalar::Bool, &[any, more]);
    }
    let all = e.asm.constant(Scalar::U32, u64::from(bits));
    let zeros = e.asm.make(S::Select, Scalar::U32, &[any, lsb, all]);
    integers::zero_extend(&mut e.asm, zeros, 32, bits.max(32))
}

fn reverse_bits(e: &mut Emitter, bits: u32, a: Word) -> Word {
    let (low, high) = halves(e, a, bits);
    let low = e.asm.make(S::BitReverse, Scalar::U32, &[low]);
    match high {
        Some(high) => {
            let high = e.asm.make(S::BitReverse, Scalar::U32, &[high]);
            let all = pair(e, high, low);
            shift_right(e, all, Scalar::U64, 64 - bits)
        }
        None => shift_right(e, low, Scalar::U32, 32 - bits),
    }
}

/// `fshl` and `fshr` of 32 or 64 bits.
fn funnel_shift(e: &mut Emitter, base: &str, register: Scalar, bits: u32, [a, b, c]: [Word; 3]) -> Word {
    let ty = e.asm.scalar(register);
    let mask = e.asm.constant(register, u64::from(bits) - 1);
    let size = e.asm.constant(register, u64::from(bits));
    let zero = e.asm.constant(register, 0);
    let by = e.asm.op(S::BitwiseAnd, ty, &[c, mask]);
    let rest = e.asm.op(S::ISub, ty, &[size, by]);
    let operand_is_zero = e.asm.make(S::IEqual, Scalar::Bool, &[by, zero]);
    // A shift by all bits is undefined, so its distance is masked. The select below discards the result of this shift if `by` is 0.
    let rest = e.asm.op(S::BitwiseAnd, ty, &[rest, mask]);
    let (up, down) = if base == "fshl" { (by, rest) } else { (rest, by) };
    let high = e.asm.op(S::ShiftLeftLogical, ty, &[a, up]);
    let low = e.asm.op(S::ShiftRightLogical, ty, &[b, down]);
    let both = e.asm.op(S::BitwiseOr, ty, &[high, low]);
    let whole = if base == "fshl" { a } else { b };
    e.asm.op(S::Select, ty, &[operand_is_zero, whole, both])
}

fn saturating_add(e: &mut Emitter, register: Scalar, bits: u32, a: Word, b: Word) -> Lowered<Word> {
    let ty = e.asm.scalar(register);
    let sum = integers::binary(&mut e.asm, BinaryOp::Add, bits, a, b)?;
    let over = integers::compare(&mut e.asm, IntPredicate::Ult, bits, sum, a);
    let max_value = e.asm.constant(register, if bits == 64 { u64::MAX } else { (1 << bits) - 1 });
    Ok(e.asm.op(S::Select, ty, &[over, max_value, sum]))
}

fn saturating_sub(e: &mut Emitter, register: Scalar, bits: u32, a: Word, b: Word) -> Lowered<Word> {
    let ty = e.asm.scalar(register);
    let rest = integers::binary(&mut e.asm, BinaryOp::Sub, bits, a, b)?;
    let under = integers::compare(&mut e.asm, IntPredicate::Ult, bits, a, b);
    let zero = e.asm.constant(register, 0);
    Ok(e.asm.op(S::Select, ty, &[under, zero, rest]))
}

/// Compares two integers. The result, in `to` bits, is -1, 0 or 1.
fn three_way(e: &mut Emitter, base: &str, ty: Word, (from, to): (u32, u32), a: Word, b: Word) -> Word {
    let (less, more) =
        if base == "ucmp" { (IntPredicate::Ult, IntPredicate::Ugt) } else { (IntPredicate::Slt, IntPredicate::Sgt) };
    let less = integers::compare(&mut e.asm, less, from, a, b);
    let more = integers::compare(&mut e.asm, more, from, a, b);
    let minus = integers::sign_extend(&mut e.asm, less, 1, to);
    let plus = integers::zero_extend(&mut e.asm, more, 1, to);
    e.asm.op(S::BitwiseOr, ty, &[minus, plus])
}

/// A float constant. A half supports only 0, 0.5 and 1.
fn float(e: &mut Emitter, kind: ScalarKind, value: f64) -> Word {
    match kind {
        ScalarKind::Double => e.asm.constant(Scalar::F64, value.to_bits()),
        ScalarKind::Half => e.asm.constant(
            Scalar::F16,
            if value == 0.5 {
                0x3800
            } else if value == 1.0 {
                0x3c00
            } else {
                0
            },
        ),
        _ => e.asm.constant(Scalar::F32, u64::from((value as f32).to_bits())),
    }
}

/// The bits of a float as an integer, with the integer's type and width in bits.
fn float_bits(e: &mut Emitter, kind: ScalarKind, word: Word) -> Lowered<(Word, Scalar, u32)> {
    match kind {
        ScalarKind::Float => Ok((memory::recast(&mut e.asm, word, Scalar::F32, Scalar::U32), Scalar::U32, 32)),
        ScalarKind::Double => Ok((memory::recast(&mut e.asm, word, Scalar::F64, Scalar::U64), Scalar::U64, 64)),
        _ => Err(KernelError::new("this operation on 16-bit numbers is not supported in kernels: use 32 bits".into())),
    }
}

/// The magnitude of one float with the sign of another.
fn copysign(e: &mut Emitter, kind: ScalarKind, magnitude: Word, sign: Word) -> Lowered<Word> {
    let (a, scalar, bits) = float_bits(e, kind, magnitude)?;
    let (b, ..) = float_bits(e, kind, sign)?;
    let top = e.asm.constant(scalar, 1 << (bits - 1));
    let rest = e.asm.constant(scalar, (1 << (bits - 1)) - 1);
    let a = e.asm.make(S::BitwiseAnd, scalar, &[a, rest]);
    let b = e.asm.make(S::BitwiseAnd, scalar, &[b, top]);
    let both = e.asm.make(S::BitwiseOr, scalar, &[a, b]);
    Ok(memory::recast(&mut e.asm, both, scalar, kind.register()))
}

/// Lowers `llvm.is.fpclass` to tests of the bits, because drivers may assume that no value is a NaN.
fn classify(e: &mut Emitter, kind: ScalarKind, value: Word, mask: u64) -> Lowered<Word> {
    let (bits, scalar, width) = float_bits(e, kind, value)?;
    let fraction: u32 = if width == 32 { 23 } else { 52 };
    let infinity = ((1_u64 << (width - 1 - fraction)) - 1) << fraction;
    let sign_mask = e.asm.constant(scalar, 1 << (width - 1));
    let rest_mask = e.asm.constant(scalar, (1 << (width - 1)) - 1);
    let sign = e.asm.make(S::BitwiseAnd, scalar, &[bits, sign_mask]);
    let zero = e.asm.constant(scalar, 0);
    let negative = e.asm.make(S::INotEqual, Scalar::Bool, &[sign, zero]);
    let magnitude = e.asm.make(S::BitwiseAnd, scalar, &[bits, rest_mask]);
    let infinity_word = e.asm.constant(scalar, infinity);
    let quiet = e.asm.constant(scalar, infinity | 1 << (fraction - 1));
    let smallest = e.asm.constant(scalar, 1 << fraction);
    let compare_magnitude = |e: &mut Emitter, op: S, with: Word| e.asm.make(op, Scalar::Bool, &[magnitude, with]);
    let nan = compare_magnitude(e, S::UGreaterThan, infinity_word);
    let is_quiet = compare_magnitude(e, S::UGreaterThanEqual, quiet);
    let inf = compare_magnitude(e, S::IEqual, infinity_word);
    let is_zero = compare_magnitude(e, S::IEqual, zero);
    let below_normal = compare_magnitude(e, S::ULessThan, smallest);
    let finite = compare_magnitude(e, S::ULessThan, infinity_word);
    let not = |e: &mut Emitter, a: Word| e.asm.make(S::LogicalNot, Scalar::Bool, &[a]);
    let and = |e: &mut Emitter, a: Word, b: Word| e.asm.make(S::LogicalAnd, Scalar::Bool, &[a, b]);
    let signalling = not(e, is_quiet);
    let signalling = and(e, nan, signalling);
    let not_zero = not(e, is_zero);
    let subnormal = and(e, below_normal, not_zero);
    let not_below = not(e, below_normal);
    let normal = and(e, finite, not_below);
    let positive = not(e, negative);
    // The classes in the order of their bits in LLVM's mask.
    let signed = [inf, normal, subnormal, is_zero];
    let mut any = e.asm.constant(Scalar::Bool, 0);
    let mut tests = vec![(0, signalling), (1, is_quiet)];
    for (n, class) in signed.into_iter().enumerate() {
        let negative_class = and(e, class, negative);
        let positive_class = and(e, class, positive);
        tests.push((2 + n as u32, negative_class));
        tests.push((9 - n as u32, positive_class));
    }
    for (bit, test) in tests {
        if mask >> bit & 1 != 0 {
            any = e.asm.make(S::LogicalOr, Scalar::Bool, &[any, test]);
        }
    }
    Ok(any)
}

/// The lower 32 bits of an integer and, if it has more than 32 bits, the upper 32.
fn halves(e: &mut Emitter, word: Word, bits: u32) -> (Word, Option<Word>) {
    if bits <= 32 {
        return (word, None);
    }
    let low = e.asm.make(S::UConvert, Scalar::U32, &[word]);
    let by = e.asm.constant(Scalar::U32, 32);
    let down = e.asm.make(S::ShiftRightLogical, Scalar::U64, &[word, by]);
    (low, Some(e.asm.make(S::UConvert, Scalar::U32, &[down])))
}

/// A 64-bit integer from its two halves.
fn pair(e: &mut Emitter, low: Word, high: Word) -> Word {
    let vector = e.asm.vector(Scalar::U32, 2);
    let both = e.asm.op(S::CompositeConstruct, vector, &[low, high]);
    e.asm.make(S::Bitcast, Scalar::U64, &[both])
}

fn shift_right(e: &mut Emitter, word: Word, scalar: Scalar, by: u32) -> Word {
    if by == 0 {
        return word;
    }
    let by = e.asm.constant(Scalar::U32, u64::from(by));
    e.asm.make(S::ShiftRightLogical, scalar, &[word, by])
}

fn swap_bytes(e: &mut Emitter, word: Word, bits: u32, scalar: Scalar) -> Word {
    let ff = e.asm.constant(scalar, 0xff);
    let mut all = e.asm.constant(scalar, 0);
    for byte in 0..bits / 8 {
        let down = shift_right(e, word, scalar, byte * 8);
        let one = e.asm.make(S::BitwiseAnd, scalar, &[down, ff]);
        let by = e.asm.constant(Scalar::U32, u64::from(bits - 8 - byte * 8));
        let up = e.asm.make(S::ShiftLeftLogical, scalar, &[one, by]);
        all = e.asm.make(S::BitwiseOr, scalar, &[all, up]);
    }
    all
}

/// Converts a float to an integer of `to` bits. Values out of range give the nearest limit, and NaN gives 0.
fn saturate(e: &mut Emitter, with_sign: bool, from: ScalarKind, to: u32, value: Word) -> Lowered<Word> {
    let scalar = integers::container(to);
    let limit = 2_f64.powi(to as i32 - i32::from(with_sign));
    let (low, min_value, max_value) = if with_sign {
        (-limit, 1_u64 << (to - 1), (1_u64 << (to - 1)) - 1)
    } else {
        (0.0, 0, if to == 64 { u64::MAX } else { (1 << to) - 1 })
    };
    // Most limits do not fit into a half.
    let (from, value) = match from {
        ScalarKind::Half => (ScalarKind::Float, e.asm.make(S::FConvert, Scalar::F32, &[value])),
        _ => (from, value),
    };
    let (low_word, high_word) = (float(e, from, low), float(e, from, limit));
    let op = if with_sign { S::ConvertFToS } else { S::ConvertFToU };
    let converted = e.asm.make(op, scalar, &[value]);
    let converted = integers::clean(&mut e.asm, converted, to);
    let (min_value, max_value, zero) =
        (e.asm.constant(scalar, min_value), e.asm.constant(scalar, max_value), e.asm.constant(scalar, 0));
    let under = e.asm.make(S::FOrdLessThan, Scalar::Bool, &[value, low_word]);
    let over = e.asm.make(S::FOrdGreaterThanEqual, Scalar::Bool, &[value, high_word]);
    let nan = e.asm.make(S::IsNan, Scalar::Bool, &[value]);
    let word = e.asm.make(S::Select, scalar, &[under, min_value, converted]);
    let word = e.asm.make(S::Select, scalar, &[over, max_value, word]);
    Ok(e.asm.make(S::Select, scalar, &[nan, zero, word]))
}

/// Lowers integer arithmetic with an overflow flag.
pub(super) fn overflow(e: &mut Emitter, base: &str, arguments: &[Operand]) -> Lowered<Vec<Word>> {
    let [left, right] = arguments else { return Err(e.internal(base)) };
    let ScalarKind::Int(bits) = e.kind(&left.ty)? else { return Err(e.internal(base)) };
    let (a, b) = (e.word(left)?, e.word(right)?);
    let scalar = integers::container(bits);
    let zero = e.asm.constant(scalar, 0);
    let asm = &mut e.asm;
    Ok(match base {
        "uadd.with.overflow" => {
            let sum = integers::binary(asm, BinaryOp::Add, bits, a, b)?;
            let over = integers::compare(asm, IntPredicate::Ult, bits, sum, a);
            vec![sum, over]
        }
        "usub.with.overflow" => {
            let rest = integers::binary(asm, BinaryOp::Sub, bits, a, b)?;
            let over = integers::compare(asm, IntPredicate::Ult, bits, a, b);
            vec![rest, over]
        }
        "umul.with.overflow" => {
            let product = integers::binary(asm, BinaryOp::Mul, bits, a, b)?;
            let one = asm.constant(scalar, 1);
            let operand_is_zero = integers::compare(asm, IntPredicate::Eq, bits, b, zero);
            let divisor = asm.make(S::Select, scalar, &[operand_is_zero, one, b]);
            let recovered = integers::binary(asm, BinaryOp::UDiv, bits, product, divisor)?;
            let differs = integers::compare(asm, IntPredicate::Ne, bits, recovered, a);
            let operand_is_nonzero = asm.make(S::LogicalNot, Scalar::Bool, &[operand_is_zero]);
            let over = asm.make(S::LogicalAnd, Scalar::Bool, &[operand_is_nonzero, differs]);
            vec![product, over]
        }
        "sadd.with.overflow" | "ssub.with.overflow" => {
            let add = base.starts_with("sadd");
            let op = if add { BinaryOp::Add } else { BinaryOp::Sub };
            let result = integers::binary(asm, op, bits, a, b)?;
            // The operation overflowed if the sign of the result is wrong.
            let x = asm.make(S::BitwiseXor, scalar, &[a, result]);
            let other = if add { result } else { a };
            let y = asm.make(S::BitwiseXor, scalar, &[b, other]);
            let both = asm.make(S::BitwiseAnd, scalar, &[x, y]);
            let over = integers::compare(asm, IntPredicate::Slt, bits, both, zero);
            vec![result, over]
        }
        _ if bits <= 32 => {
            let wide_a = integers::sign_extend(asm, a, bits, 64);
            let wide_b = integers::sign_extend(asm, b, bits, 64);
            let wide = asm.make(S::IMul, Scalar::U64, &[wide_a, wide_b]);
            let product = integers::truncate(asm, wide, 64, bits);
            let recovered = integers::sign_extend(asm, product, bits, 64);
            let over = asm.make(S::INotEqual, Scalar::Bool, &[recovered, wide]);
            vec![product, over]
        }
        _ => {
            return Err(KernelError::new(
                "an overflow check of a 64-bit product is not supported in kernels: use 32 bits".into(),
            ));
        }
    })
}
