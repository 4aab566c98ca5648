//! Correctly rounded quotients of floats. Vulkan allows a driver's quotient an error of 2.5 ulp, and allows subnormal numbers to be
//! flushed to zero.
//!
//! Nearly all operands take the fast path that CUDA uses: the driver's reciprocal, one Newton step, and two corrections by the residual,
//! which is exact if fma rounds once. For a constant divisor, two operations are enough (Brisebarre, Muller and Raina, "Accelerating
//! correctly rounded floating-point division when the divisor is known in advance"). All other operands take a slow path of integer
//! arithmetic, in a function of the module.

use super::assembler::{Assembler, Scalar};
use super::emitter::{Emitter, Lowered};
use super::{integers, quotient_groups};
use crate::ir::Op;
use revamp_image::DeviceProperty;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as S, Word};

const INFINITY: u64 = 0x7f80_0000;
/// If dividend, divisor and quotient are within these bounds, no step of the fast path leaves the range of normal numbers: the residual
/// is a multiple of 2^-47 times the dividend, and the quotient is at least 2^-120. A divisor that the driver flushes to zero makes the
/// quotient infinite or NaN, which is out of bounds.
const MIN_DIVIDEND: f32 = power_of_two(-70);
const MAX_DIVISOR: f32 = power_of_two(50);
const MAX_QUOTIENT: f32 = power_of_two(120);
/// The reciprocal of the smallest normal number.
const MAX_RECIPROCAL: f32 = power_of_two(126);
/// For quotients above this bound, no step with the reciprocal of a constant leaves the range of normal numbers: the low part of the
/// reciprocal is at least 2^-48 of the high part.
const MIN_QUOTIENT: f32 = power_of_two(-70);
/// The greatest magnitude of a 32-bit integer.
const MAX_MODERATE: f32 = power_of_two(32);
/// The mask of the fraction bits.
const DIGITS: u64 = 0x007f_ffff;
/// Numbers with a fraction below this bound have a close reciprocal (`has_close_reciprocal`).
const MAX_CLOSE_FRACTION: u64 = 0x007f_fe00;

const fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((127 + n) as u32) << 23)
}

impl Emitter<'_> {
    /// Emits the quotients of floats that begin at the current instruction and do not depend on each other.
    pub(super) fn quotient_group(&mut self) -> Lowered<()> {
        let (block, at) = self.place;
        let group = quotient_groups::group(&self.function.blocks[block].instructions[at..]);
        let mut operands = Vec::new();
        for one in group {
            if let Op::Binary { left, right, .. } = &one.op {
                operands.push([self.word(left)?, self.word(right)?]);
            }
        }
        let results = self.quotients(&operands);
        for (one, word) in group.iter().zip(results) {
            self.values.extend(one.result.map(|local| (local, vec![word])));
        }
        Ok(())
    }

    /// a / b of floats, for each [a, b]. If one of them needs the slow path, all take it, so that one branch is enough.
    pub(super) fn quotients(&mut self, operands: &[[Word; 2]]) -> Vec<Word> {
        let asm = &mut self.asm;
        let fused = asm.device_property(DeviceProperty::Fused as u32);
        let exact = asm.device_property(DeviceProperty::ExactQuotients as u32);
        let mut all_usual = fused;
        let mut near = Vec::new();
        for &[a, b] in operands {
            let (quotient, usual) = fast_path(asm, exact, [a, b]);
            all_usual = asm.make(S::LogicalAnd, Scalar::Bool, &[all_usual, usual]);
            near.push(quotient);
        }
        let done = asm.make(S::LogicalOr, Scalar::Bool, &[exact, all_usual]);
        let (rare, merge) = (asm.id(), asm.id());
        let before = self.block;
        self.selection(done, [merge, rare], merge);
        self.begin_block(rare);
        let mut slow = Vec::new();
        for &[a, b] in operands {
            let [a, b] = [a, b].map(|word| self.asm.hide_zero(word));
            slow.push(self.asm.call(Scalar::F32, "quotient", &[a, b], quotient_by_integers));
        }
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
        let mut merged = |(near, slow)| self.asm.make(S::Phi, Scalar::F32, &[near, before, slow, rare]);
        near.into_iter().zip(slow).map(&mut merged).collect()
    }
}

/// The quotient a / b on the fast path, and the condition that it is correct. `exact`: the driver's quotient is.
fn fast_path(asm: &mut Assembler, exact: Word, [a, b]: [Word; 2]) -> (Word, Word) {
    let constant = asm.constant_f32(b).and_then(Reciprocal::new);
    let unit = asm.constant_f32(a).filter(|a| a.abs() == 1.0);
    let are_moderate = [a, b].map(|word| is_moderate(asm, word));
    let [a, b] = [a, b].map(|word| asm.hide_zero(word));
    let plain = asm.make(S::FDiv, Scalar::F32, &[a, b]);
    let (near, usual) = match (constant, unit) {
        (Some(reciprocal), _) => reciprocal.times(asm, a, are_moderate[0]),
        (None, Some(unit)) => reciprocal_of(asm, b, are_moderate[1], unit < 0.0),
        (None, None) => {
            let near = corrected(asm, a, b);
            (near, takes_fast_path(asm, [a, b, near], are_moderate))
        }
    };
    (asm.make(S::Select, Scalar::F32, &[exact, plain, near]), usual)
}

/// True if a float is known to be +0, or from 1 to `MAX_MODERATE` in magnitude, as are floats that were 32-bit integers.
fn is_moderate(asm: &Assembler, word: Word) -> bool {
    let is_moderate = |x: f32| x.to_bits() == 0 || (1.0..=MAX_MODERATE).contains(&x.abs());
    asm.is_converted_integer(word) || asm.constant_f32(word).is_some_and(is_moderate)
}

/// The reciprocal of a constant b as the sum of two floats, high and low: a * high + a * low, rounded once, is a / b for all a.
struct Reciprocal {
    high: f32,
    low: f32,
    negative: bool,
}

impl Reciprocal {
    /// `None` for the 1.3 % of constants that have no such reciprocal, and for constants outside the range of the fast path.
    ///
    /// For significands of a and b in [1, 2), the error of the sum before rounding is below 2^-48. A quotient A / B of 24-bit integers is
    /// further than that from the midpoint of two floats if the quotient is at least 1. This also holds for a quotient below 1, unless
    /// 2^25 A - M B is 1 or -1 for a midpoint M / 2^25. Only one A gives 1, and only one gives -1. Both are tried.
    fn new(b: f32) -> Option<Self> {
        if !(f32::MIN_POSITIVE..MAX_DIVISOR).contains(&b.abs()) {
            return None;
        }
        let parts = |b: f32| {
            let high = 1.0 / b;
            let (b, rest) = (f64::from(b), (-f64::from(b)).mul_add(f64::from(high), 1.0));
            (high, (rest / b) as f32)
        };
        let divisor = (b.to_bits() & DIGITS as u32) | 0x0080_0000;
        if divisor % 2 == 1 {
            let fraction = divisor as f32 / power_of_two(23);
            let (high, low) = parts(fraction);
            // The inverse of `divisor` modulo 2^32. Each Newton step doubles the number of correct bits.
            let inverse =
                (0..5).fold(1u32, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(divisor.wrapping_mul(inverse))));
            for (middle, off) in [(inverse, -1), (inverse.wrapping_neg(), 1)] {
                let middle = i64::from(middle & 0x01ff_ffff);
                let a = ((middle * i64::from(divisor) + off) >> 25) as f32 / power_of_two(23);
                if (1.0..2.0).contains(&a) && a.mul_add(high, a * low) != a / fraction {
                    return None;
                }
            }
        }
        let (high, low) = parts(b.abs());
        Some(Self { high, low, negative: b < 0.0 })
    }

    /// True if the product of a finite dividend and `low` may be infinite.
    fn product_may_overflow(&self) -> bool {
        self.low.abs() > 1.0
    }

    /// The quotient of a, and the condition that it is correct. A dividend of +0 is frequent and passes. A dividend of -0 does not, because
    /// its quotient may have the wrong sign. Most divisors need no upper bound: if the product with `low` cannot overflow, the sum
    /// overflows only if the quotient does; an infinite dividend gives an infinite quotient or NaN, which does not pass.
    fn times(&self, asm: &mut Assembler, a: Word, a_is_moderate: bool) -> (Word, Word) {
        let [high, low] = [self.high, self.low].map(|part| float(asm, part));
        let product = asm.make(S::FMul, Scalar::F32, &[a, low]);
        let quotient = asm.multiply_add(Scalar::F32, [a, high, product]);
        let usual = if a_is_moderate && self.high <= MAX_QUOTIENT / MAX_MODERATE {
            asm.constant(Scalar::Bool, 1)
        } else {
            let magnitude = magnitude(asm, quotient);
            let above = is_positive_zero_or_above(asm, a, magnitude, MIN_QUOTIENT);
            if self.product_may_overflow() { and_below(asm, above, magnitude, MAX_QUOTIENT) } else { above }
        };
        (if self.negative { asm.make(S::FNegate, Scalar::F32, &[quotient]) } else { quotient }, usual)
    }
}

/// 1 / b or -1 / b, and the condition that it is correct. Two Newton steps refine the driver's reciprocal. This works if both the
/// reciprocal and b are normal numbers.
fn reciprocal_of(asm: &mut Assembler, b: Word, b_is_moderate: bool, negative: bool) -> (Word, Word) {
    let negated_b = asm.make(S::FNegate, Scalar::F32, &[b]);
    let near = improved_reciprocal(asm, [b, negated_b], 2);
    let magnitude = magnitude(asm, near);
    let mut usual = is_below(asm, magnitude, MAX_RECIPROCAL);
    if !b_is_moderate {
        let lower_bound = float(asm, f32::MIN_POSITIVE);
        let normal = asm.make(S::FOrdGreaterThan, Scalar::Bool, &[magnitude, lower_bound]);
        usual = asm.make(S::LogicalAnd, Scalar::Bool, &[normal, usual]);
    }
    let usual = and_close(asm, usual, b);
    (if negative { asm.make(S::FNegate, Scalar::F32, &[near]) } else { near }, usual)
}

/// The condition that `quotient`, which [`corrected`] computed from a and b, is correct. GPUs compare at half the rate of an fma, so the
/// condition uses few comparisons. A dividend of +0, which is frequent, passes. A dividend of -0 does not, because the correction loses its
/// sign.
fn takes_fast_path(asm: &mut Assembler, [a, b, quotient]: [Word; 3], are_moderate: [bool; 2]) -> Word {
    let size = magnitude(asm, quotient);
    let mut usual = is_below(asm, size, MAX_QUOTIENT);
    if !are_moderate[0] {
        let size = magnitude(asm, a);
        let above = is_positive_zero_or_above(asm, a, size, MIN_DIVIDEND);
        usual = asm.make(S::LogicalAnd, Scalar::Bool, &[above, usual]);
    }
    if !are_moderate[1] {
        let size = magnitude(asm, b);
        usual = and_below(asm, usual, size, MAX_DIVISOR);
    }
    and_close(asm, usual, b)
}

fn magnitude(asm: &mut Assembler, word: Word) -> Word {
    let ty = asm.scalar(Scalar::F32);
    asm.glsl(Glsl::FAbs, ty, &[word])
}

/// Adds the condition that the driver's reciprocal of b is close enough to be refined.
fn and_close(asm: &mut Assembler, usual: Word, b: Word) -> Word {
    let near = asm.device_property(DeviceProperty::NearReciprocals as u32);
    let close = has_close_reciprocal(asm, b);
    let close = asm.make(S::LogicalOr, Scalar::Bool, &[near, close]);
    asm.make(S::LogicalAnd, Scalar::Bool, &[usual, close])
}

fn is_positive_zero_or_above(asm: &mut Assembler, a: Word, magnitude: Word, lower_bound: f32) -> Word {
    let lower_bound = float(asm, lower_bound);
    let above = asm.make(S::FOrdGreaterThan, Scalar::Bool, &[magnitude, lower_bound]);
    // This compares bits, because a comparison of floats may flush subnormal numbers to zero.
    let bits = asm.make(S::Bitcast, Scalar::U32, &[a]);
    let none = asm.constant(Scalar::U32, 0);
    let zero = asm.make(S::IEqual, Scalar::Bool, &[bits, none]);
    asm.make(S::LogicalOr, Scalar::Bool, &[above, zero])
}

fn is_below(asm: &mut Assembler, magnitude: Word, upper_bound: f32) -> Word {
    let upper_bound = float(asm, upper_bound);
    asm.make(S::FOrdLessThan, Scalar::Bool, &[magnitude, upper_bound])
}

fn and_below(asm: &mut Assembler, usual: Word, magnitude: Word, upper_bound: f32) -> Word {
    let below = is_below(asm, magnitude, upper_bound);
    asm.make(S::LogicalAnd, Scalar::Bool, &[usual, below])
}

/// False for subnormal numbers, for whose reciprocals Vulkan sets no error bound, and for numbers just below a power of two.
///
/// The reciprocal of a number just below a power of two is just above a power of two, and may be too coarse. The relative error of the
/// refined reciprocal, times half an ulp, must be below the distance of any quotient from the midpoint of two floats, which is
/// ulp(b) / (2 b) ulp. If the driver's reciprocals have an error of 2.5 ulp, that holds for b below 2 (1 - 2^-18). If
/// they have an error of 1 ulp, only the three divisors 2 - 2^-23 k for k = 1, 3, 5 may give a wrong quotient. None of
/// these three does if the driver rounds its reciprocal correctly ([`DeviceProperty::NearReciprocals`]; all b in
/// [2 - 600 ulp, 2) and a in [1, 2) were tried).
fn has_close_reciprocal(asm: &mut Assembler, word: Word) -> Word {
    let bits = asm.make(S::Bitcast, Scalar::U32, &[word]);
    let digits = integers::masked(asm, Scalar::U32, bits, DIGITS);
    let magnitude = integers::masked(asm, Scalar::U32, bits, 0x7fff_ffff);
    let [upper_bound, lower_bound] = [MAX_CLOSE_FRACTION, 0x0080_0000].map(|bits| asm.constant(Scalar::U32, bits));
    let close = asm.make(S::ULessThan, Scalar::Bool, &[digits, upper_bound]);
    let normal = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[magnitude, lower_bound]);
    asm.make(S::LogicalAnd, Scalar::Bool, &[close, normal])
}

/// The driver's reciprocal of b, refined by `steps` Newton steps. `negated_b` is -b.
fn improved_reciprocal(asm: &mut Assembler, [b, negated_b]: [Word; 2], steps: usize) -> Word {
    let one = float(asm, 1.0);
    let mut near = asm.make(S::FDiv, Scalar::F32, &[one, b]);
    for _ in 0..steps {
        let rest = asm.multiply_add(Scalar::F32, [negated_b, near, one]);
        near = asm.multiply_add(Scalar::F32, [rest, near, near]);
    }
    near
}

/// a / b if fma rounds once: the product of a and the refined reciprocal, corrected twice.
fn corrected(asm: &mut Assembler, a: Word, b: Word) -> Word {
    let negated_b = asm.make(S::FNegate, Scalar::F32, &[b]);
    let reciprocal = improved_reciprocal(asm, [b, negated_b], 1);
    let mut quotient = asm.make(S::FMul, Scalar::F32, &[a, reciprocal]);
    for _ in 0..2 {
        let rest = asm.multiply_add(Scalar::F32, [negated_b, quotient, a]);
        quotient = asm.multiply_add(Scalar::F32, [rest, reciprocal, quotient]);
    }
    quotient
}

/// The parts of a number. All parts except the magnitude are valid only if the number is not zero, infinite or NaN.
struct Parts {
    /// The magnitude as bits.
    magnitude: Word,
    /// The 24-bit significand as an integer.
    digits: Word,
    /// The significand as a float in [1, 2).
    fraction: Word,
    /// The biased exponent, which is below 1 for a subnormal number.
    exponent: Word,
}

fn parts(asm: &mut Assembler, bits: Word) -> Parts {
    let magnitude = integers::masked(asm, Scalar::U32, bits, 0x7fff_ffff);
    let [zero, lower_bound, excess] = [0, 0x0080_0000, 149].map(|n| asm.constant(Scalar::U32, n));
    let tiny = asm.make(S::ULessThan, Scalar::Bool, &[magnitude, lower_bound]);
    // Converting the bits of a subnormal number from integer to float normalises it.
    let scaled = asm.make(S::ConvertUToF, Scalar::F32, &[magnitude]);
    let scaled = asm.make(S::Bitcast, Scalar::U32, &[scaled]);
    let normal = asm.make(S::Select, Scalar::U32, &[tiny, scaled, magnitude]);
    let excess = asm.make(S::Select, Scalar::U32, &[tiny, excess, zero]);
    let exponent = integers::shifted(asm, Scalar::U32, S::ShiftRightLogical, normal, 23);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, excess]);
    let below = integers::masked(asm, Scalar::U32, normal, 0x007f_ffff);
    let [leading, one] = [0x0080_0000, u64::from(1f32.to_bits())].map(|n| asm.constant(Scalar::U32, n));
    let digits = asm.make(S::BitwiseOr, Scalar::U32, &[below, leading]);
    let fraction = asm.make(S::BitwiseOr, Scalar::U32, &[below, one]);
    let fraction = asm.make(S::Bitcast, Scalar::F32, &[fraction]);
    Parts { magnitude, digits, fraction, exponent }
}

/// a / b for all operands, whatever the accuracy of the device's arithmetic.
fn quotient_by_integers(asm: &mut Assembler, operands: &[Word]) -> Word {
    let &[a, b] = operands else { return 0 };
    let bits = [a, b].map(|word| asm.make(S::Bitcast, Scalar::U32, &[word]));
    let [x, y] = bits.map(|word| parts(asm, word));
    let (quotient, is_below_one) = digits_of_quotient(asm, &x, &y);
    let bias = asm.constant(Scalar::U32, 127);
    let exponent = asm.make(S::ISub, Scalar::U32, &[x.exponent, y.exponent]);
    let exponent = asm.make(S::IAdd, Scalar::U32, &[exponent, bias]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, is_below_one]);
    let magnitude = rounded(asm, quotient, exponent);
    let signs = asm.make(S::BitwiseXor, Scalar::U32, &bits);
    let sign = integers::masked(asm, Scalar::U32, signs, 1 << 31);
    let word = asm.make(S::BitwiseOr, Scalar::U32, &[magnitude, sign]);
    let word = asm.make(S::Bitcast, Scalar::F32, &[word]);
    // If one operand is zero, infinite or NaN, the driver's quotient is exact. If the other operand is finite and not
    // zero, only its sign matters, so 1 or -1 replaces this operand: the driver may flush the operand or its reciprocal
    // to zero.
    let [one, upper_bound] = [1, INFINITY - 1].map(|n| asm.constant(Scalar::U32, n));
    let are_finite_nonzero = [x, y].map(|parts| {
        let below = asm.make(S::ISub, Scalar::U32, &[parts.magnitude, one]);
        asm.make(S::ULessThan, Scalar::Bool, &[below, upper_bound])
    });
    let unit = asm.constant(Scalar::U32, u64::from(1f32.to_bits()));
    let mut simple = |value: Word, bits: Word, is_finite_nonzero: Word| {
        let sign = integers::masked(asm, Scalar::U32, bits, 1 << 31);
        let unit = asm.make(S::BitwiseOr, Scalar::U32, &[sign, unit]);
        let unit = asm.make(S::Bitcast, Scalar::F32, &[unit]);
        asm.make(S::Select, Scalar::F32, &[is_finite_nonzero, unit, value])
    };
    let [p, q] = [simple(a, bits[0], are_finite_nonzero[0]), simple(b, bits[1], are_finite_nonzero[1])];
    let plain = asm.make(S::FDiv, Scalar::F32, &[p, q]);
    let are_finite_nonzero = asm.make(S::LogicalAnd, Scalar::Bool, &are_finite_nonzero);
    asm.make(S::Select, Scalar::F32, &[are_finite_nonzero, word, plain])
}

/// The quotient of the significands as an integer whose leading one is bit 27 and whose last bit is a sticky bit. The second word is 1 if
/// the quotient is below 1, otherwise 0.
fn digits_of_quotient(asm: &mut Assembler, x: &Parts, y: &Parts) -> (Word, Word) {
    // The quotient with 26 fraction bits. The error of the driver's division makes this integer wrong by up to 40. The
    // remainder fits 31 bits.
    let near = asm.make(S::FDiv, Scalar::F32, &[x.fraction, y.fraction]);
    let by = float(asm, 2f32.powi(26));
    let near = asm.make(S::FMul, Scalar::F32, &[near, by]);
    let near = asm.make(S::ConvertFToU, Scalar::U32, &[near]);
    let all = integers::shifted(asm, Scalar::U32, S::ShiftLeftLogical, x.digits, 26);
    let product = asm.make(S::IMul, Scalar::U32, &[near, y.digits]);
    let rest = asm.make(S::ISub, Scalar::U32, &[all, product]);
    let divisor = asm.make(S::ConvertUToF, Scalar::F32, &[y.digits]);
    let step = asm.make(S::ConvertSToF, Scalar::F32, &[rest]);
    let step = asm.make(S::FDiv, Scalar::F32, &[step, divisor]);
    let ty = asm.scalar(Scalar::F32);
    let step = asm.glsl(Glsl::RoundEven, ty, &[step]);
    let step = asm.make(S::ConvertFToS, Scalar::U32, &[step]);
    let quotient = asm.make(S::IAdd, Scalar::U32, &[near, step]);
    let product = asm.make(S::IMul, Scalar::U32, &[step, y.digits]);
    let rest = asm.make(S::ISub, Scalar::U32, &[rest, product]);
    // Now the remainder is at most half a divisor, of either sign. Round the quotient down and append the sticky bit.
    let [zero, one] = [0, 1].map(|n| asm.constant(Scalar::U32, n));
    let negative = asm.make(S::SLessThan, Scalar::Bool, &[rest, zero]);
    let negative = asm.make(S::Select, Scalar::U32, &[negative, one, zero]);
    let quotient = asm.make(S::ISub, Scalar::U32, &[quotient, negative]);
    let sticky = asm.make(S::INotEqual, Scalar::Bool, &[rest, zero]);
    let sticky = asm.make(S::Select, Scalar::U32, &[sticky, one, zero]);
    let quotient = integers::shifted(asm, Scalar::U32, S::ShiftLeftLogical, quotient, 1);
    let quotient = asm.make(S::BitwiseOr, Scalar::U32, &[quotient, sticky]);
    let is_below_one = asm.make(S::ULessThan, Scalar::Bool, &[x.digits, y.digits]);
    let is_below_one = asm.make(S::Select, Scalar::U32, &[is_below_one, one, zero]);
    (asm.make(S::ShiftLeftLogical, Scalar::U32, &[quotient, is_below_one]), is_below_one)
}

/// The bits of the nearest number, ties to even. `exponent` is the exponent of bit 27, the leading one.
fn rounded(asm: &mut Assembler, quotient: Word, exponent: Word) -> Word {
    let ty = asm.scalar(Scalar::U32);
    let [zero, one, two, infinity] = [0, 1, 2, INFINITY].map(|n| asm.constant(Scalar::U32, n));
    let [most_down, upper_bound] = [27, 255].map(|n| asm.constant(Scalar::U32, n));
    // Keep two bits below the last digit; the lower of them is the sticky bit. Subnormal numbers have fewer digits.
    let missing = asm.make(S::ISub, Scalar::U32, &[one, exponent]);
    let missing = asm.glsl(Glsl::SMax, ty, &[missing, zero]);
    let down = asm.make(S::IAdd, Scalar::U32, &[missing, two]);
    let down = asm.glsl(Glsl::UMin, ty, &[down, most_down]);
    let kept = asm.make(S::ShiftRightLogical, Scalar::U32, &[quotient, down]);
    let back = asm.make(S::ShiftLeftLogical, Scalar::U32, &[kept, down]);
    let lost = asm.make(S::INotEqual, Scalar::Bool, &[back, quotient]);
    let lost = asm.make(S::Select, Scalar::U32, &[lost, one, zero]);
    let kept = asm.make(S::BitwiseOr, Scalar::U32, &[kept, lost]);
    let digits = integers::shifted(asm, Scalar::U32, S::ShiftRightLogical, kept, 2);
    let half = integers::shifted(asm, Scalar::U32, S::ShiftRightLogical, kept, 1);
    let odd = asm.make(S::BitwiseOr, Scalar::U32, &[kept, digits]);
    let up = asm.make(S::BitwiseAnd, Scalar::U32, &[half, odd]);
    let up = integers::masked(asm, Scalar::U32, up, 1);
    let field = asm.make(S::ISub, Scalar::U32, &[exponent, one]);
    let field = asm.glsl(Glsl::SMax, ty, &[field, zero]);
    let field = asm.glsl(Glsl::UMin, ty, &[field, upper_bound]);
    let field = integers::shifted(asm, Scalar::U32, S::ShiftLeftLogical, field, 23);
    let magnitude = asm.make(S::IAdd, Scalar::U32, &[field, digits]);
    let magnitude = asm.make(S::IAdd, Scalar::U32, &[magnitude, up]);
    asm.glsl(Glsl::UMin, ty, &[magnitude, infinity])
}

fn float(asm: &mut Assembler, value: f32) -> Word {
    asm.constant(Scalar::F32, u64::from(value.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quotient that [`corrected`] computes.
    fn corrected_on_host(a: f32, b: f32, reciprocal: f32) -> f32 {
        let mut quotient = a * reciprocal;
        for _ in 0..2 {
            let rest = (-b).mul_add(quotient, a);
            quotient = rest.mul_add(reciprocal, quotient);
        }
        quotient
    }

    /// Numbers in [1, 2): random ones, and some near the ends and the middle.
    fn digits(count: u32) -> impl Iterator<Item = f32> {
        let random = (0..count).map(|n| n.wrapping_mul(0x9E37_79B1) >> 9);
        let ends = (0..8).flat_map(|n| [n, 0x7f_ffff - n, 0x40_0000 + n]);
        random.chain(ends).map(|digits| f32::from_bits(0x3f80_0000 | digits))
    }

    #[test]
    fn corrected_quotients_are_rounded_once() {
        // The divisors that `has_close_reciprocal` accepts.
        for b in digits(300).filter(|b| u64::from(b.to_bits()) & DIGITS < MAX_CLOSE_FRACTION) {
            // A driver's reciprocal may be off by an ulp before it is refined.
            let near = |off: i32| {
                let near = f32::from_bits((1.0 / b).to_bits().wrapping_add_signed(off));
                (-b).mul_add(near, 1.0).mul_add(near, near)
            };
            for reciprocal in [near(-1), near(0), near(1)] {
                for a in digits(2000) {
                    assert_eq!(corrected_on_host(a, b, reciprocal), a / b, "{a:e} / {b:e}");
                }
            }
        }
    }

    #[test]
    fn reciprocals_improved_twice_are_rounded_once() {
        for digits in 0..=DIGITS as u32 {
            // The maximum error, in ulp, of a driver's reciprocal on the fast path.
            let upper_bound = match u64::from(digits) {
                ..MAX_CLOSE_FRACTION => 3,
                0x7f_fffb.. => 0,
                _ => 1,
            };
            let b = f32::from_bits(0x3f80_0000 | digits);
            for off in -upper_bound..=upper_bound {
                let mut near = f32::from_bits((1.0 / b).to_bits().wrapping_add_signed(off));
                for _ in 0..2 {
                    near = (-b).mul_add(near, 1.0).mul_add(near, near);
                }
                assert_eq!(near, 1.0 / b, "1 / {b:e}, {off} off");
            }
        }
    }

    #[test]
    fn large_dividends_of_constants_are_rounded_once_or_take_the_slow_path() {
        let last = [f32::MAX, 3.0e38, 1.8e38, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let dividends = || digits(200).flat_map(|d| [126, 127].map(|n| d * power_of_two(n))).chain(last);
        let divisors = digits(200).flat_map(|d| [-126, -50, -26, -25, -24, -1, 0, 1, 49].map(|n| d * power_of_two(n)));
        for (b, by) in divisors.filter_map(|b| Some((b, Reciprocal::new(b)?))) {
            for a in dividends() {
                let quotient = a.mul_add(by.high, a * by.low);
                let is_usual =
                    quotient.abs() > MIN_QUOTIENT && (!by.product_may_overflow() || quotient.abs() < MAX_QUOTIENT);
                assert!(!is_usual || quotient == a / b.abs(), "{a:e} / {b:e}");
                assert!(is_usual || !a.is_finite() || by.product_may_overflow(), "{a:e} / {b:e}");
            }
        }
    }

    /// The number of dividends in [1, 2) for which the two operations with b's reciprocal do not give the correctly rounded quotient.
    fn wrong_quotients(b: f32) -> usize {
        let high = 1.0 / b;
        let low = ((-f64::from(b)).mul_add(f64::from(high), 1.0) / f64::from(b)) as f32;
        let all = (0..=DIGITS as u32).map(|digits| f32::from_bits(0x3f80_0000 | digits));
        all.filter(|a| a.mul_add(high, a * low) != a / b).count()
    }

    #[test]
    fn reciprocals_of_constants_round_once_for_all_dividends_or_are_refused() {
        let mut refused = 0;
        for b in digits(20) {
            let is_refused = Reciprocal::new(b).is_none();
            assert_eq!(is_refused, wrong_quotients(b) > 0, "{b:e}");
            refused += usize::from(is_refused);
        }
        // `new` tries two dividends. Each of them leads to the rejection of one of these divisors. The last loop has divisors outside the
        // fast path.
        for b in [0x3f9f_0237, 0x3fa0_c9ff].map(f32::from_bits) {
            assert!(Reciprocal::new(b).is_none() && wrong_quotients(b) > 0);
        }
        assert!(refused < 5, "{refused} refused");
        for b in [0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 2.0, MAX_DIVISOR] {
            assert!(Reciprocal::new(b).is_none() && Reciprocal::new(-b).is_none());
        }
    }
}
