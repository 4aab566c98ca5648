//! Lowers `llvm.fma`, which rounds once. Drivers may implement GLSL's Fma as two operations. Unless the driver is known to fuse them
//! (`DeviceProperty::Fused`), integer arithmetic emulates `llvm.fma`.
//!
//! The emulation widens floats and doubles to significands of 53 bits. A product then has 106 bits. The product, and
//! its sum with the third operand, fit into 128 bits. All bits that a right shift drops are combined into one sticky
//! bit, so that the final rounding is exact.

use super::assembler::{Assembler, Scalar};
use super::integers;
use crate::ir::IntPredicate;
use revamp_image::DeviceProperty;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as S, Word};

/// The number of bits below the leading 1 bit of a significand.
const DIGITS: u32 = 52;

/// A floating-point format.
#[derive(Clone, Copy)]
struct Format {
    float: Scalar,
    bits: u32,
    fraction: u32,
    bias: u32,
}

impl Format {
    fn of(float: Scalar) -> Option<Self> {
        match float {
            Scalar::F32 => Some(Self { float, bits: 32, fraction: 23, bias: 127 }),
            Scalar::F64 => Some(Self { float, bits: 64, fraction: 52, bias: 1023 }),
            _ => None,
        }
    }

    fn infinity(self) -> u64 {
        u64::from(2 * self.bias + 1) << self.fraction
    }
}

/// An unsigned 128-bit integer: its upper and lower half.
#[derive(Clone, Copy)]
struct Wide {
    high: Word,
    low: Word,
}

/// An unpacked number. `magnitude`: its bits without the sign. `sign`: the sign in bit 63. If the number is finite, the leading 1 bit of
/// `significand` has the weight 2^(exponent - bias).
struct Unpacked {
    magnitude: Word,
    sign: Word,
    significand: Word,
    exponent: Word,
}

/// a * b + c, rounded once.
pub(super) fn fma(asm: &mut Assembler, float: Scalar, operands: [Word; 3]) -> Word {
    let [a, b, c] = operands.map(|word| asm.hide_zero(word));
    let fused = asm.multiply_add(float, [a, b, c]);
    let Some(format) = Format::of(float) else { return fused };
    let emulated = asm.call(float, "fma", &[a, b, c], |asm, operands| emulated(asm, format, operands));
    let known = asm.device_property(DeviceProperty::Fused as u32);
    asm.make(S::Select, float, &[known, fused, emulated])
}

fn emulated(asm: &mut Assembler, format: Format, operands: &[Word]) -> Word {
    let &[a, b, c] = operands else { return 0 };
    let [x, y, z] = [a, b, c].map(|word| unpacked(asm, format, word));
    let computed = sum(asm, format, &x, &y, &z);
    // If a factor is zero, infinite or NaN, the rounded product is exact. If c is infinite or NaN and the factors are finite, c is the result.
    let product = asm.make(S::FMul, format.float, &[a, b]);
    let special_result = asm.make(S::FAdd, format.float, &[product, c]);
    let infinity = asm.constant(Scalar::U64, format.infinity());
    let (one, most) = (asm.constant(Scalar::U64, 1), asm.constant(Scalar::U64, format.infinity() - 1));
    let are_finite_nonzero = [&x, &y].map(|factor| {
        let below = asm.make(S::ISub, Scalar::U64, &[factor.magnitude, one]);
        asm.make(S::ULessThan, Scalar::Bool, &[below, most])
    });
    let are_finite_nonzero = asm.make(S::LogicalAnd, Scalar::Bool, &are_finite_nonzero);
    let finite = asm.make(S::ULessThan, Scalar::Bool, &[z.magnitude, infinity]);
    let word = asm.make(S::Select, format.float, &[finite, computed, c]);
    asm.make(S::Select, format.float, &[are_finite_nonzero, word, special_result])
}

fn unpacked(asm: &mut Assembler, format: Format, word: Word) -> Unpacked {
    let Format { bits, fraction, .. } = format;
    let bits_of = asm.make(S::Bitcast, integers::container(bits), &[word]);
    let all = integers::zero_extend(asm, bits_of, bits, 64);
    let left = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, all, 64 - bits);
    let sign = integers::masked(asm, Scalar::U64, left, 1 << 63);
    let magnitude = integers::masked(asm, Scalar::U64, all, (1 << (bits - 1)) - 1);
    let digits = integers::masked(asm, Scalar::U64, magnitude, (1 << fraction) - 1);
    let field = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, magnitude, fraction);
    let field = asm.make(S::UConvert, Scalar::U32, &[field]);
    let (zero, one) = (asm.constant(Scalar::U32, 0), asm.constant(Scalar::U32, 1));
    let subnormal = asm.make(S::IEqual, Scalar::Bool, &[field, zero]);
    let leading = asm.constant(Scalar::U64, 1 << fraction);
    let with_leading = asm.make(S::BitwiseOr, Scalar::U64, &[digits, leading]);
    let significand = asm.make(S::Select, Scalar::U64, &[subnormal, digits, with_leading]);
    let exponent = asm.make(S::Select, Scalar::U32, &[subnormal, one, field]);
    // Normalise to 53 bits. Zero stays zero, and its exponent becomes so low that zero adds nothing to a sum.
    let at = leading_bit(asm, significand);
    let by = asm.constant(Scalar::U32, u64::from(DIGITS));
    let by = asm.make(S::ISub, Scalar::U32, &[by, at]);
    let significand = asm.make(S::ShiftLeftLogical, Scalar::U64, &[significand, by]);
    let usual = asm.constant(Scalar::U32, u64::from(DIGITS - fraction));
    let below = asm.make(S::ISub, Scalar::U32, &[by, usual]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, below]);
    Unpacked { magnitude, sign, significand, exponent }
}

/// x * y + z of finite numbers; x and y are not zero.
fn sum(asm: &mut Assembler, format: Format, x: &Unpacked, y: &Unpacked, z: &Unpacked) -> Word {
    // The leading 1 bit of the product is bit 123 or 124, and that of z is bit 124. Exponents give the weight of bit 124.
    let product = product(asm, x.significand, y.significand);
    let product = shifted_wide(asm, product, 19);
    let bias = asm.constant(Scalar::U32, u64::from(format.bias) - 1);
    let exponents = asm.make(S::IAdd, Scalar::U32, &[x.exponent, y.exponent]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponents, bias]);
    let sign = asm.make(S::BitwiseXor, Scalar::U64, &[x.sign, y.sign]);
    let high = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, z.significand, 8);
    let zero = asm.constant(Scalar::U64, 0);
    let other = Wide { high, low: zero };
    // Shift the operand with the smaller exponent right.
    let less = asm.make(S::SLessThan, Scalar::Bool, &[exponent, z.exponent]);
    let (large, small) = (select(asm, less, other, product), select(asm, less, product, other));
    let most = asm.make(S::Select, Scalar::U32, &[less, z.exponent, exponent]);
    let smaller_exponent = asm.make(S::Select, Scalar::U32, &[less, exponent, z.exponent]);
    let exponent_difference = asm.make(S::ISub, Scalar::U32, &[most, smaller_exponent]);
    let small = shifted_right_sticky(asm, small, exponent_difference);
    let large_sign = asm.make(S::Select, Scalar::U64, &[less, z.sign, sign]);
    let differ = asm.make(S::INotEqual, Scalar::Bool, &[sign, z.sign]);
    let (total, sign_flip) = added(asm, large, small, differ);
    let sign = asm.make(S::BitwiseXor, Scalar::U64, &[large_sign, sign_flip]);
    rounded(asm, format, total, most, sign)
}

/// The sum of `large` and `small` or, if `differ` is true, their absolute difference. The returned word has bit 63 set
/// if the difference is small - large.
fn added(asm: &mut Assembler, large: Wide, small: Wide, differ: Word) -> (Wide, Word) {
    let sum = {
        let low = asm.make(S::IAdd, Scalar::U64, &[large.low, small.low]);
        let carry = asm.make(S::ULessThan, Scalar::Bool, &[low, small.low]);
        let carry = integers::zero_extend(asm, carry, 1, 64);
        let high = asm.make(S::IAdd, Scalar::U64, &[large.high, small.high]);
        Wide { high: asm.make(S::IAdd, Scalar::U64, &[high, carry]), low }
    };
    let large_minus_small = difference(asm, large, small);
    let small_minus_large = difference(asm, small, large);
    let zero = asm.constant(Scalar::U64, 0);
    let negative = integers::compare(asm, IntPredicate::Slt, 64, large_minus_small.high, zero);
    let absolute = select(asm, negative, small_minus_large, large_minus_small);
    let sign_flip = asm.make(S::LogicalAnd, Scalar::Bool, &[negative, differ]);
    let top = asm.constant(Scalar::U64, 1 << 63);
    let sign_flip = asm.make(S::Select, Scalar::U64, &[sign_flip, top, zero]);
    (select(asm, differ, absolute, sum), sign_flip)
}

fn difference(asm: &mut Assembler, a: Wide, b: Wide) -> Wide {
    let low = asm.make(S::ISub, Scalar::U64, &[a.low, b.low]);
    let borrow = asm.make(S::ULessThan, Scalar::Bool, &[a.low, b.low]);
    let borrow = integers::zero_extend(asm, borrow, 1, 64);
    let high = asm.make(S::ISub, Scalar::U64, &[a.high, b.high]);
    Wide { high: asm.make(S::ISub, Scalar::U64, &[high, borrow]), low }
}

/// Rounds to the nearest number of the format, ties to even. Bit 124 has the weight 2^(exponent - bias). A zero result is positive.
fn rounded(asm: &mut Assembler, format: Format, total: Wide, exponent: Word, sign: Word) -> Word {
    let [none, one, half, top, below, most] =
        [0, 1, 64, 125, 123 - format.fraction, 125].map(|n| asm.constant(Scalar::U32, u64::from(n)));
    // Move the leading 1 bit to bit 125, its position after a carry.
    let upper = leading_bit(asm, total.high);
    let lower = leading_bit(asm, total.low);
    let zero = asm.constant(Scalar::U64, 0);
    let any = asm.make(S::INotEqual, Scalar::Bool, &[total.high, zero]);
    let upper = asm.make(S::IAdd, Scalar::U32, &[upper, half]);
    let at = asm.make(S::Select, Scalar::U32, &[any, upper, lower]);
    let by = asm.make(S::ISub, Scalar::U32, &[top, at]);
    let total = shifted_left(asm, total, by);
    let up = asm.make(S::ISub, Scalar::U32, &[by, one]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, up]);
    // Keep two bits below the last digit; the lower of them is the sticky bit. Subnormal numbers have fewer digits.
    let ty = asm.scalar(Scalar::U32);
    let missing = asm.make(S::ISub, Scalar::U32, &[one, exponent]);
    let missing = asm.glsl(Glsl::SMax, ty, &[missing, none]);
    let down = asm.make(S::IAdd, Scalar::U32, &[missing, below]);
    let down = asm.glsl(Glsl::UMin, ty, &[down, most]);
    let kept_bits = shifted_right_sticky(asm, total, down).low;
    let digits = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, kept_bits, 2);
    let up = rounds_up(asm, kept_bits, digits);
    let field = asm.make(S::ISub, Scalar::U32, &[exponent, one]);
    let field = asm.glsl(Glsl::SMax, ty, &[field, none]);
    let field = asm.make(S::UConvert, Scalar::U64, &[field]);
    let field = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, field, format.fraction);
    let magnitude = asm.make(S::IAdd, Scalar::U64, &[field, digits]);
    let magnitude = asm.make(S::IAdd, Scalar::U64, &[magnitude, up]);
    packed(asm, format, total, magnitude, sign)
}

/// 1 if the digits above the two lowest bits of `kept_bits` are rounded up, otherwise 0.
fn rounds_up(asm: &mut Assembler, kept_bits: Word, digits: Word) -> Word {
    let half = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, kept_bits, 1);
    let more = asm.make(S::BitwiseOr, Scalar::U64, &[kept_bits, digits]);
    let up = asm.make(S::BitwiseAnd, Scalar::U64, &[half, more]);
    integers::masked(asm, Scalar::U64, up, 1)
}

fn packed(asm: &mut Assembler, format: Format, total: Wide, magnitude: Word, sign: Word) -> Word {
    let ty = asm.scalar(Scalar::U64);
    let infinity = asm.constant(Scalar::U64, format.infinity());
    let magnitude = asm.glsl(Glsl::UMin, ty, &[magnitude, infinity]);
    let sign = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, sign, 64 - format.bits);
    let bits = asm.make(S::BitwiseOr, Scalar::U64, &[magnitude, sign]);
    let zero = asm.constant(Scalar::U64, 0);
    let any = asm.make(S::BitwiseOr, Scalar::U64, &[total.high, total.low]);
    let any = asm.make(S::INotEqual, Scalar::Bool, &[any, zero]);
    let bits = asm.make(S::Select, Scalar::U64, &[any, bits, zero]);
    let bits = integers::truncate(asm, bits, 64, format.bits);
    asm.make(S::Bitcast, format.float, &[bits])
}

/// The product of two numbers below 2^53.
fn product(asm: &mut Assembler, a: Word, b: Word) -> Wide {
    let mut halves = |word| {
        let low = integers::masked(asm, Scalar::U64, word, u64::from(u32::MAX));
        [low, integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, word, 32)]
    };
    let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
    let mut times = |a, b| asm.make(S::IMul, Scalar::U64, &[a, b]);
    let (low, mid, mid2, high) = (times(a0, b0), times(a0, b1), times(a1, b0), times(a1, b1));
    let mid = asm.make(S::IAdd, Scalar::U64, &[mid, mid2]);
    let up = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, mid, 32);
    let sum = asm.make(S::IAdd, Scalar::U64, &[low, up]);
    let carry = asm.make(S::ULessThan, Scalar::Bool, &[sum, low]);
    let carry = integers::zero_extend(asm, carry, 1, 64);
    let down = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, mid, 32);
    let high = asm.make(S::IAdd, Scalar::U64, &[high, down]);
    Wide { high: asm.make(S::IAdd, Scalar::U64, &[high, carry]), low: sum }
}

fn select(asm: &mut Assembler, condition: Word, yes: Wide, no: Wide) -> Wide {
    let mut of = |yes, no| asm.make(S::Select, Scalar::U64, &[condition, yes, no]);
    Wide { high: of(yes.high, no.high), low: of(yes.low, no.low) }
}

/// Shifts left by 1 to 63 bits.
fn shifted_wide(asm: &mut Assembler, word: Wide, by: u32) -> Wide {
    let high = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, word.high, by);
    let carried = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, word.low, 64 - by);
    let high = asm.make(S::BitwiseOr, Scalar::U64, &[high, carried]);
    Wide { high, low: integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, word.low, by) }
}

/// Splits a shift distance into three values: the distance within a 64-bit half, 63 minus this distance, and true if the whole distance is
/// 64 or more.
fn distance(asm: &mut Assembler, by: Word) -> (Word, Word, Word) {
    let (most, half) = (asm.constant(Scalar::U32, 63), asm.constant(Scalar::U32, 64));
    let part = asm.make(S::BitwiseAnd, Scalar::U32, &[by, most]);
    let rest = asm.make(S::ISub, Scalar::U32, &[most, part]);
    let crosses_half = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[by, half]);
    (part, rest, crosses_half)
}

/// Shifts left by less than 128 bits.
fn shifted_left(asm: &mut Assembler, word: Wide, by: Word) -> Wide {
    let (part, rest, crosses_half) = distance(asm, by);
    let low = asm.make(S::ShiftLeftLogical, Scalar::U64, &[word.low, part]);
    let high = asm.make(S::ShiftLeftLogical, Scalar::U64, &[word.high, part]);
    let carried = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, word.low, 1);
    let carried = asm.make(S::ShiftRightLogical, Scalar::U64, &[carried, rest]);
    let high = asm.make(S::BitwiseOr, Scalar::U64, &[high, carried]);
    let zero = asm.constant(Scalar::U64, 0);
    select(asm, crosses_half, Wide { high: low, low: zero }, Wide { high, low })
}

/// Shifts right by any number of bits. The last bit is the sticky bit: it is also set if any bit that is shifted out was set.
fn shifted_right_sticky(asm: &mut Assembler, word: Wide, by: Word) -> Wide {
    let ty = asm.scalar(Scalar::U32);
    let most = asm.constant(Scalar::U32, 127);
    let by = asm.glsl(Glsl::UMin, ty, &[by, most]);
    let (part, rest, crosses_half) = distance(asm, by);
    let high = asm.make(S::ShiftRightLogical, Scalar::U64, &[word.high, part]);
    let low = asm.make(S::ShiftRightLogical, Scalar::U64, &[word.low, part]);
    let carried = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, word.high, 1);
    let carried = asm.make(S::ShiftLeftLogical, Scalar::U64, &[carried, rest]);
    let low = asm.make(S::BitwiseOr, Scalar::U64, &[low, carried]);
    let zero = asm.constant(Scalar::U64, 0);
    let moved = select(asm, crosses_half, Wide { high: zero, low: high }, Wide { high, low });
    let one = asm.constant(Scalar::U64, 1);
    let lost = asm.make(S::ShiftLeftLogical, Scalar::U64, &[one, part]);
    let lost = asm.make(S::ISub, Scalar::U64, &[lost, one]);
    let truncated_half = asm.make(S::Select, Scalar::U64, &[crosses_half, word.high, word.low]);
    let lost = asm.make(S::BitwiseAnd, Scalar::U64, &[truncated_half, lost]);
    let whole = asm.make(S::Select, Scalar::U64, &[crosses_half, word.low, zero]);
    let lost = asm.make(S::BitwiseOr, Scalar::U64, &[lost, whole]);
    let lost = asm.make(S::INotEqual, Scalar::Bool, &[lost, zero]);
    let lost = integers::zero_extend(asm, lost, 1, 64);
    Wide { high: moved.high, low: asm.make(S::BitwiseOr, Scalar::U64, &[moved.low, lost]) }
}

/// The index of the leading 1 bit; -1 for zero.
fn leading_bit(asm: &mut Assembler, word: Word) -> Word {
    let ty = asm.scalar(Scalar::U32);
    let low = asm.make(S::UConvert, Scalar::U32, &[word]);
    let high = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, word, 32);
    let high = asm.make(S::UConvert, Scalar::U32, &[high]);
    let (low, upper) = (asm.glsl(Glsl::FindUMsb, ty, &[low]), asm.glsl(Glsl::FindUMsb, ty, &[high]));
    let (zero, half) = (asm.constant(Scalar::U32, 0), asm.constant(Scalar::U32, 32));
    let any = asm.make(S::INotEqual, Scalar::Bool, &[high, zero]);
    let upper = asm.make(S::IAdd, Scalar::U32, &[upper, half]);
    asm.make(S::Select, Scalar::U32, &[any, upper, low])
}
