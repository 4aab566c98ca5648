//! `llvm.fma`, which rounds once. GLSL's Fma may be two operations; where no driver is known to fuse it (`OfDevice::Fused`), integers
//! do its work.
//!
//! Both formats have significands of 53 bits here, so that a product has 106 and fits 128 bits together with the third operand:
//! what is shifted out below is kept as one bit that says whether it was zero. So rounding at the end is exact.

use super::assembler::{Assembler, Scalar};
use super::integers;
use crate::ir::IntPredicate;
use revamp_image::OfDevice;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as S, Word};

/// Digits below the leading one of a significand.
const DIGITS: u32 = 52;

/// A format of numbers.
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

/// Unsigned, upper and lower half.
#[derive(Clone, Copy)]
struct Wide {
    high: Word,
    low: Word,
}

/// A number: its bits without the sign, the sign as bit 63, and if it is finite, the significand, whose leading one has
/// the weight 2^(exponent - bias).
struct Unpacked {
    magnitude: Word,
    sign: Word,
    significand: Word,
    exponent: Word,
}

/// a b + c, rounded once.
pub(super) fn fma(asm: &mut Assembler, float: Scalar, operands: [Word; 3]) -> Word {
    let [a, b, c] = operands.map(|word| asm.not_shortened(word));
    let fused = asm.multiply_add(float, [a, b, c]);
    let Some(format) = Format::of(float) else { return fused };
    let emulated = asm.call(float, "fma", &[a, b, c], |asm, operands| emulated(asm, format, operands));
    let known = asm.of_device(OfDevice::Fused as u32);
    asm.make(S::Select, float, &[known, fused, emulated])
}

fn emulated(asm: &mut Assembler, format: Format, operands: &[Word]) -> Word {
    let &[a, b, c] = operands else { return 0 };
    let [x, y, z] = [a, b, c].map(|word| unpacked(asm, format, word));
    let computed = sum(asm, format, &x, &y, &z);
    // Of zeros, infinities and NaN the product is exact. An infinite c is the result of finite factors.
    let product = asm.make(S::FMul, format.float, &[a, b]);
    let plain = asm.make(S::FAdd, format.float, &[product, c]);
    let infinity = asm.constant(Scalar::U64, format.infinity());
    let (one, most) = (asm.constant(Scalar::U64, 1), asm.constant(Scalar::U64, format.infinity() - 1));
    let usual = [&x, &y].map(|factor| {
        let below = asm.make(S::ISub, Scalar::U64, &[factor.magnitude, one]);
        asm.make(S::ULessThan, Scalar::Bool, &[below, most])
    });
    let usual = asm.make(S::LogicalAnd, Scalar::Bool, &usual);
    let finite = asm.make(S::ULessThan, Scalar::Bool, &[z.magnitude, infinity]);
    let word = asm.make(S::Select, format.float, &[finite, computed, c]);
    asm.make(S::Select, format.float, &[usual, word, plain])
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
    // To 53 bits; zero stays zero, with an exponent so low that it adds nothing.
    let at = leading_bit(asm, significand);
    let by = asm.constant(Scalar::U32, u64::from(DIGITS));
    let by = asm.make(S::ISub, Scalar::U32, &[by, at]);
    let significand = asm.make(S::ShiftLeftLogical, Scalar::U64, &[significand, by]);
    let usual = asm.constant(Scalar::U32, u64::from(DIGITS - fraction));
    let below = asm.make(S::ISub, Scalar::U32, &[by, usual]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, below]);
    Unpacked { magnitude, sign, significand, exponent }
}

/// x y + z of finite numbers, x and y not zero.
fn sum(asm: &mut Assembler, format: Format, x: &Unpacked, y: &Unpacked, z: &Unpacked) -> Word {
    // The leading one of the product is bit 123 or 124, that of z bit 124. Exponents are those of bit 124.
    let product = product(asm, x.significand, y.significand);
    let product = shifted_wide(asm, product, 19);
    let bias = asm.constant(Scalar::U32, u64::from(format.bias) - 1);
    let exponents = asm.make(S::IAdd, Scalar::U32, &[x.exponent, y.exponent]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponents, bias]);
    let sign = asm.make(S::BitwiseXor, Scalar::U64, &[x.sign, y.sign]);
    let high = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, z.significand, 8);
    let zero = asm.constant(Scalar::U64, 0);
    let other = Wide { high, low: zero };
    // The one with the smaller exponent moves down.
    let less = asm.make(S::SLessThan, Scalar::Bool, &[exponent, z.exponent]);
    let (large, small) = (select(asm, less, other, product), select(asm, less, product, other));
    let most = asm.make(S::Select, Scalar::U32, &[less, z.exponent, exponent]);
    let least = asm.make(S::Select, Scalar::U32, &[less, exponent, z.exponent]);
    let apart = asm.make(S::ISub, Scalar::U32, &[most, least]);
    let small = moved_down(asm, small, apart);
    let large_sign = asm.make(S::Select, Scalar::U64, &[less, z.sign, sign]);
    let differ = asm.make(S::INotEqual, Scalar::Bool, &[sign, z.sign]);
    let (total, turned) = added(asm, large, small, differ);
    let sign = asm.make(S::BitwiseXor, Scalar::U64, &[large_sign, turned]);
    rounded(asm, format, total, most, sign)
}

/// large + small or, if `differ`, their difference, and bit 63 if that is small - large.
fn added(asm: &mut Assembler, large: Wide, small: Wide, differ: Word) -> (Wide, Word) {
    let sum = {
        let low = asm.make(S::IAdd, Scalar::U64, &[large.low, small.low]);
        let carry = asm.make(S::ULessThan, Scalar::Bool, &[low, small.low]);
        let carry = integers::zero_extend(asm, carry, 1, 64);
        let high = asm.make(S::IAdd, Scalar::U64, &[large.high, small.high]);
        Wide { high: asm.make(S::IAdd, Scalar::U64, &[high, carry]), low }
    };
    let one_way = difference(asm, large, small);
    let other_way = difference(asm, small, large);
    let zero = asm.constant(Scalar::U64, 0);
    let negative = integers::compare(asm, IntPredicate::Slt, 64, one_way.high, zero);
    let absolute = select(asm, negative, other_way, one_way);
    let turned = asm.make(S::LogicalAnd, Scalar::Bool, &[negative, differ]);
    let top = asm.constant(Scalar::U64, 1 << 63);
    let turned = asm.make(S::Select, Scalar::U64, &[turned, top, zero]);
    (select(asm, differ, absolute, sum), turned)
}

fn difference(asm: &mut Assembler, a: Wide, b: Wide) -> Wide {
    let low = asm.make(S::ISub, Scalar::U64, &[a.low, b.low]);
    let borrow = asm.make(S::ULessThan, Scalar::Bool, &[a.low, b.low]);
    let borrow = integers::zero_extend(asm, borrow, 1, 64);
    let high = asm.make(S::ISub, Scalar::U64, &[a.high, b.high]);
    Wide { high: asm.make(S::ISub, Scalar::U64, &[high, borrow]), low }
}

/// The nearest number of the format, halves to even. Bit 124 has the weight 2^(exponent - bias); zero is positive.
fn rounded(asm: &mut Assembler, format: Format, total: Wide, exponent: Word, sign: Word) -> Word {
    let [none, one, half, top, below, most] =
        [0, 1, 64, 125, 123 - format.fraction, 125].map(|n| asm.constant(Scalar::U32, u64::from(n)));
    // The leading one to bit 125, where it is after a carry.
    let upper = leading_bit(asm, total.high);
    let lower = leading_bit(asm, total.low);
    let zero = asm.constant(Scalar::U64, 0);
    let any = asm.make(S::INotEqual, Scalar::Bool, &[total.high, zero]);
    let upper = asm.make(S::IAdd, Scalar::U32, &[upper, half]);
    let at = asm.make(S::Select, Scalar::U32, &[any, upper, lower]);
    let by = asm.make(S::ISub, Scalar::U32, &[top, at]);
    let total = moved_up(asm, total, by);
    let up = asm.make(S::ISub, Scalar::U32, &[by, one]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, up]);
    // Two bits below the last digit stay, the last of which says whether there is more. Subnormal numbers have fewer digits.
    let ty = asm.scalar(Scalar::U32);
    let missing = asm.make(S::ISub, Scalar::U32, &[one, exponent]);
    let missing = asm.glsl(Glsl::SMax, ty, &[missing, none]);
    let down = asm.make(S::IAdd, Scalar::U32, &[missing, below]);
    let down = asm.glsl(Glsl::UMin, ty, &[down, most]);
    let kept = moved_down(asm, total, down).low;
    let digits = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, kept, 2);
    let up = rounds_up(asm, kept, digits);
    let field = asm.make(S::ISub, Scalar::U32, &[exponent, one]);
    let field = asm.glsl(Glsl::SMax, ty, &[field, none]);
    let field = asm.make(S::UConvert, Scalar::U64, &[field]);
    let field = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, field, format.fraction);
    let magnitude = asm.make(S::IAdd, Scalar::U64, &[field, digits]);
    let magnitude = asm.make(S::IAdd, Scalar::U64, &[magnitude, up]);
    packed(asm, format, total, magnitude, sign)
}

/// Whether the digits above the two lowest bits of `kept` grow by one.
fn rounds_up(asm: &mut Assembler, kept: Word, digits: Word) -> Word {
    let half = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, kept, 1);
    let more = asm.make(S::BitwiseOr, Scalar::U64, &[kept, digits]);
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

/// Of numbers below 2^53.
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

/// Up by 1 to 63 bits.
fn shifted_wide(asm: &mut Assembler, word: Wide, by: u32) -> Wide {
    let high = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, word.high, by);
    let carried = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, word.low, 64 - by);
    let high = asm.make(S::BitwiseOr, Scalar::U64, &[high, carried]);
    Wide { high, low: integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, word.low, by) }
}

/// The distance within a half, its complement to 63, and whether it is by a half or more.
fn distance(asm: &mut Assembler, by: Word) -> (Word, Word, Word) {
    let (most, half) = (asm.constant(Scalar::U32, 63), asm.constant(Scalar::U32, 64));
    let part = asm.make(S::BitwiseAnd, Scalar::U32, &[by, most]);
    let rest = asm.make(S::ISub, Scalar::U32, &[most, part]);
    let far = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[by, half]);
    (part, rest, far)
}

/// Up by less than 128 bits.
fn moved_up(asm: &mut Assembler, word: Wide, by: Word) -> Wide {
    let (part, rest, far) = distance(asm, by);
    let low = asm.make(S::ShiftLeftLogical, Scalar::U64, &[word.low, part]);
    let high = asm.make(S::ShiftLeftLogical, Scalar::U64, &[word.high, part]);
    let carried = integers::shifted(asm, Scalar::U64, S::ShiftRightLogical, word.low, 1);
    let carried = asm.make(S::ShiftRightLogical, Scalar::U64, &[carried, rest]);
    let high = asm.make(S::BitwiseOr, Scalar::U64, &[high, carried]);
    let zero = asm.constant(Scalar::U64, 0);
    select(asm, far, Wide { high: low, low: zero }, Wide { high, low })
}

/// Down by any number of bits; the last bit is also set if a bit that is lost was.
fn moved_down(asm: &mut Assembler, word: Wide, by: Word) -> Wide {
    let ty = asm.scalar(Scalar::U32);
    let most = asm.constant(Scalar::U32, 127);
    let by = asm.glsl(Glsl::UMin, ty, &[by, most]);
    let (part, rest, far) = distance(asm, by);
    let high = asm.make(S::ShiftRightLogical, Scalar::U64, &[word.high, part]);
    let low = asm.make(S::ShiftRightLogical, Scalar::U64, &[word.low, part]);
    let carried = integers::shifted(asm, Scalar::U64, S::ShiftLeftLogical, word.high, 1);
    let carried = asm.make(S::ShiftLeftLogical, Scalar::U64, &[carried, rest]);
    let low = asm.make(S::BitwiseOr, Scalar::U64, &[low, carried]);
    let zero = asm.constant(Scalar::U64, 0);
    let moved = select(asm, far, Wide { high: zero, low: high }, Wide { high, low });
    let one = asm.constant(Scalar::U64, 1);
    let lost = asm.make(S::ShiftLeftLogical, Scalar::U64, &[one, part]);
    let lost = asm.make(S::ISub, Scalar::U64, &[lost, one]);
    let cut = asm.make(S::Select, Scalar::U64, &[far, word.high, word.low]);
    let lost = asm.make(S::BitwiseAnd, Scalar::U64, &[cut, lost]);
    let whole = asm.make(S::Select, Scalar::U64, &[far, word.low, zero]);
    let lost = asm.make(S::BitwiseOr, Scalar::U64, &[lost, whole]);
    let lost = asm.make(S::INotEqual, Scalar::Bool, &[lost, zero]);
    let lost = integers::zero_extend(asm, lost, 1, 64);
    Wide { high: moved.high, low: asm.make(S::BitwiseOr, Scalar::U64, &[moved.low, lost]) }
}

/// The number of the leading one; -1 of zero.
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
