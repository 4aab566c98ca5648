//! Quotients of floats, rounded correctly: Vulkan lets a driver's be 2.5 ulp off and lose what is below the smallest normal number.
//!
//! Nearly all operands take the fast path of CUDA: the driver's reciprocal, improved by one step, and two corrections by the residual, which is
//! exact where an fma rounds once. By a constant two operations are enough (Brisebarre, Muller and Raina, "Accelerating correctly rounded
//! floating-point division when the divisor is known in advance"). All other operands take integers, in a function of the module.

use super::assembler::{Assembler, Scalar};
use super::emitter::Emitter;
use super::integers;
use revamp_image::OfDevice;
use rspirv::dr;
use rspirv::spirv::{self, GlslStd450Op as Glsl, Op as S, Word};

const INFINITY: u64 = 0x7f80_0000;
/// Between these bounds of the dividend, the divisor and the quotient no step of the fast path leaves the range of normal numbers: the residual
/// is a multiple of 2^-47 times the dividend, and the quotient is at least 2^-120. A divisor that a driver takes for zero makes the quotient
/// infinite or NaN.
const LEAST_DIVIDEND: f32 = power_of_two(-70);
const MOST_DIVISOR: f32 = power_of_two(50);
const MOST_QUOTIENT: f32 = power_of_two(120);
/// The reciprocal of the smallest normal number.
const MOST_RECIPROCAL: f32 = power_of_two(126);
/// Above it no step by a constant's reciprocal leaves that range: its low part is at least 2^-48 of the high part.
const LEAST_QUOTIENT: f32 = power_of_two(-70);
/// The fraction bits, and a bound below which they are those of a number with a close reciprocal.
const DIGITS: u64 = 0x007f_ffff;
const CLOSE: u64 = 0x007f_fe00;

const fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((127 + n) as u32) << 23)
}

impl Emitter<'_> {
    /// a / b of floats.
    pub(super) fn quotient(&mut self, a: Word, b: Word) -> Word {
        let asm = &mut self.asm;
        let constant = asm.constant_f32(b).and_then(Reciprocal::new);
        let unit = asm.constant_f32(a).filter(|a| a.abs() == 1.0);
        let [a, b] = [a, b].map(|word| asm.not_shortened(word));
        let exact = asm.of_device(OfDevice::ExactQuotients as u32);
        let fused = asm.of_device(OfDevice::Fused as u32);
        let plain = asm.make(S::FDiv, Scalar::F32, &[a, b]);
        let (near, usual) = match (constant, unit) {
            (Some(reciprocal), _) => reciprocal.times(asm, a),
            (None, Some(unit)) => reciprocal_of(asm, b, unit < 0.0),
            (None, None) => {
                let near = corrected(asm, a, b);
                (near, takes_fast_path(asm, [a, b, near]))
            }
        };
        let near = asm.make(S::Select, Scalar::F32, &[exact, plain, near]);
        let usual = asm.make(S::LogicalAnd, Scalar::Bool, &[usual, fused]);
        let done = asm.make(S::LogicalOr, Scalar::Bool, &[exact, usual]);
        let (rare, merge) = (asm.id(), asm.id());
        let control = dr::Operand::SelectionControl(spirv::SelectionControl::NONE);
        asm.push(dr::Instruction::new(S::SelectionMerge, None, None, vec![dr::Operand::IdRef(merge), control]));
        let before = self.block;
        self.branch(S::BranchConditional, &[done, merge, rare]);
        self.begin_block(rare);
        let far = self.asm.call(Scalar::F32, "quotient", &[a, b], by_integers);
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
        self.asm.make(S::Phi, Scalar::F32, &[near, before, far, rare])
    }
}

/// The reciprocal of a constant as the sum of two floats, high and low, with a * high + a * low = a / b after one rounding for all a.
struct Reciprocal {
    high: f32,
    low: f32,
    negative: bool,
}

impl Reciprocal {
    /// `None` for the 1.3 % of constants that have no such reciprocal, and for those beyond the fast path.
    ///
    /// The sum before its rounding is less than 2^-48 off for digits of a and b in [1, 2). A quotient A / B of integers of 24 bits that is at least 1 is
    /// further from the middle of two floats, and so is one below 1, unless 2^25 A - M B is 1 or -1 for a middle M / 2^25. That is one A for
    /// each sign, which is tried.
    fn new(b: f32) -> Option<Self> {
        if !(f32::MIN_POSITIVE..MOST_DIVISOR).contains(&b.abs()) {
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
            // Each step doubles the digits that are right.
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

    /// The quotient of a, and whether it is right. A dividend of +0 is frequent and has the right sign, -0 may not have it.
    fn times(&self, asm: &mut Assembler, a: Word) -> (Word, Word) {
        let [high, low] = [self.high, self.low].map(|part| float(asm, part));
        let low = asm.make(S::FMul, Scalar::F32, &[a, low]);
        let quotient = asm.multiply_add(Scalar::F32, [a, high, low]);
        let ty = asm.scalar(Scalar::F32);
        let size = asm.glsl(Glsl::FAbs, ty, &[quotient]);
        let usual = is_positive_zero_or_above(asm, a, size, LEAST_QUOTIENT);
        let usual = is_also_below(asm, usual, size, MOST_QUOTIENT);
        (if self.negative { asm.make(S::FNegate, Scalar::F32, &[quotient]) } else { quotient }, usual)
    }
}

/// 1 / b or -1 / b, and whether it is right. Two steps improve the driver's reciprocal, as long as that and b are normal numbers.
fn reciprocal_of(asm: &mut Assembler, b: Word, negative: bool) -> (Word, Word) {
    let less = asm.make(S::FNegate, Scalar::F32, &[b]);
    let near = improved_reciprocal(asm, [b, less], 2);
    let ty = asm.scalar(Scalar::F32);
    let size = asm.glsl(Glsl::FAbs, ty, &[near]);
    let least = float(asm, f32::MIN_POSITIVE);
    let usual = asm.make(S::FOrdGreaterThan, Scalar::Bool, &[size, least]);
    let usual = is_also_below(asm, usual, size, MOST_RECIPROCAL);
    let usual = is_also_close(asm, usual, b);
    (if negative { asm.make(S::FNegate, Scalar::F32, &[near]) } else { near }, usual)
}

/// True if [`corrected`], which made `quotient` of a and b, is right. GPUs compare at half the rate of an fma, so there are few comparisons: a
/// dividend of +0, which is frequent, passes; -0, whose sign the correction loses, does not.
fn takes_fast_path(asm: &mut Assembler, [a, b, quotient]: [Word; 3]) -> Word {
    let [size_a, size_b, size] = [a, b, quotient].map(|word| {
        let ty = asm.scalar(Scalar::F32);
        asm.glsl(Glsl::FAbs, ty, &[word])
    });
    let mut usual = is_positive_zero_or_above(asm, a, size_a, LEAST_DIVIDEND);
    usual = is_also_below(asm, usual, size_b, MOST_DIVISOR);
    usual = is_also_below(asm, usual, size, MOST_QUOTIENT);
    is_also_close(asm, usual, b)
}

/// Also true only if the driver's reciprocal of b can be improved.
fn is_also_close(asm: &mut Assembler, usual: Word, b: Word) -> Word {
    let near = asm.of_device(OfDevice::NearReciprocals as u32);
    let close = has_close_reciprocal(asm, b);
    let close = asm.make(S::LogicalOr, Scalar::Bool, &[near, close]);
    asm.make(S::LogicalAnd, Scalar::Bool, &[usual, close])
}

fn is_positive_zero_or_above(asm: &mut Assembler, a: Word, size: Word, least: f32) -> Word {
    let least = float(asm, least);
    let above = asm.make(S::FOrdGreaterThan, Scalar::Bool, &[size, least]);
    // A comparison of floats may take subnormal numbers for zero.
    let bits = asm.make(S::Bitcast, Scalar::U32, &[a]);
    let none = asm.constant(Scalar::U32, 0);
    let zero = asm.make(S::IEqual, Scalar::Bool, &[bits, none]);
    asm.make(S::LogicalOr, Scalar::Bool, &[above, zero])
}

fn is_also_below(asm: &mut Assembler, usual: Word, size: Word, most: f32) -> Word {
    let most = float(asm, most);
    let below = asm.make(S::FOrdLessThan, Scalar::Bool, &[size, most]);
    asm.make(S::LogicalAnd, Scalar::Bool, &[usual, below])
}

/// False for subnormal numbers, for whose reciprocals Vulkan sets no bound, and for numbers just below a power of two. Their reciprocals, just above one, may be too coarse: the relative error of the last one
/// times half an ulp must stay below the distance of any quotient from the middle of two floats, which is ulp(b) / (2 b) ulp. With
/// reciprocals of 2.5 ulp that holds for a b below 2 (1 - 2^-18). With those of 1 ulp only the three numbers 2 - 2^-23 k for k = 1, 3, 5 may
/// have a wrong quotient, and none if their reciprocals are rounded correctly ([`OfDevice::NearReciprocals`]; all of b in [2 - 600 ulp, 2),
/// a in [1, 2) were tried).
fn has_close_reciprocal(asm: &mut Assembler, word: Word) -> Word {
    let bits = asm.make(S::Bitcast, Scalar::U32, &[word]);
    let digits = integers::masked(asm, Scalar::U32, bits, DIGITS);
    let size = integers::masked(asm, Scalar::U32, bits, 0x7fff_ffff);
    let [most, least] = [CLOSE, 0x0080_0000].map(|bits| asm.constant(Scalar::U32, bits));
    let close = asm.make(S::ULessThan, Scalar::Bool, &[digits, most]);
    let normal = asm.make(S::UGreaterThanEqual, Scalar::Bool, &[size, least]);
    asm.make(S::LogicalAnd, Scalar::Bool, &[close, normal])
}

/// The driver's reciprocal of b, improved by so many steps. `less` is -b.
fn improved_reciprocal(asm: &mut Assembler, [b, less]: [Word; 2], steps: usize) -> Word {
    let one = float(asm, 1.0);
    let mut near = asm.make(S::FDiv, Scalar::F32, &[one, b]);
    for _ in 0..steps {
        let rest = asm.multiply_add(Scalar::F32, [less, near, one]);
        near = asm.multiply_add(Scalar::F32, [rest, near, near]);
    }
    near
}

/// a / b where an fma rounds once: the product of a and the reciprocal, which one step improves, corrected twice.
fn corrected(asm: &mut Assembler, a: Word, b: Word) -> Word {
    let less = asm.make(S::FNegate, Scalar::F32, &[b]);
    let reciprocal = improved_reciprocal(asm, [b, less], 1);
    let mut quotient = asm.make(S::FMul, Scalar::F32, &[a, reciprocal]);
    for _ in 0..2 {
        let rest = asm.multiply_add(Scalar::F32, [less, quotient, a]);
        quotient = asm.multiply_add(Scalar::F32, [rest, reciprocal, quotient]);
    }
    quotient
}

/// The size of a number as bits, and if it is neither zero, infinite nor NaN: its 24 digits as an integer and as a float from 1 to
/// 2, and the exponent of that as the format has it, below 1 for a subnormal number.
struct Parts {
    size: Word,
    digits: Word,
    fraction: Word,
    exponent: Word,
}

fn parts(asm: &mut Assembler, bits: Word) -> Parts {
    let size = integers::masked(asm, Scalar::U32, bits, 0x7fff_ffff);
    let [zero, least, excess] = [0, 0x0080_0000, 149].map(|n| asm.constant(Scalar::U32, n));
    let tiny = asm.make(S::ULessThan, Scalar::Bool, &[size, least]);
    // The digits of a subnormal number are an integer.
    let scaled = asm.make(S::ConvertUToF, Scalar::F32, &[size]);
    let scaled = asm.make(S::Bitcast, Scalar::U32, &[scaled]);
    let normal = asm.make(S::Select, Scalar::U32, &[tiny, scaled, size]);
    let excess = asm.make(S::Select, Scalar::U32, &[tiny, excess, zero]);
    let exponent = integers::shifted(asm, Scalar::U32, S::ShiftRightLogical, normal, 23);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, excess]);
    let below = integers::masked(asm, Scalar::U32, normal, 0x007f_ffff);
    let [leading, one] = [0x0080_0000, u64::from(1f32.to_bits())].map(|n| asm.constant(Scalar::U32, n));
    let digits = asm.make(S::BitwiseOr, Scalar::U32, &[below, leading]);
    let fraction = asm.make(S::BitwiseOr, Scalar::U32, &[below, one]);
    let fraction = asm.make(S::Bitcast, Scalar::F32, &[fraction]);
    Parts { size, digits, fraction, exponent }
}

/// a / b of any numbers, whatever the device's arithmetic is.
fn by_integers(asm: &mut Assembler, operands: &[Word]) -> Word {
    let &[a, b] = operands else { return 0 };
    let bits = [a, b].map(|word| asm.make(S::Bitcast, Scalar::U32, &[word]));
    let [x, y] = bits.map(|word| parts(asm, word));
    let (quotient, less) = digits_of_quotient(asm, &x, &y);
    let bias = asm.constant(Scalar::U32, 127);
    let exponent = asm.make(S::ISub, Scalar::U32, &[x.exponent, y.exponent]);
    let exponent = asm.make(S::IAdd, Scalar::U32, &[exponent, bias]);
    let exponent = asm.make(S::ISub, Scalar::U32, &[exponent, less]);
    let size = rounded(asm, quotient, exponent);
    let signs = asm.make(S::BitwiseXor, Scalar::U32, &bits);
    let sign = integers::masked(asm, Scalar::U32, signs, 1 << 31);
    let word = asm.make(S::BitwiseOr, Scalar::U32, &[size, sign]);
    let word = asm.make(S::Bitcast, Scalar::F32, &[word]);
    // Of zeros, infinities and NaN the driver's quotient is exact, and of another number only the sign matters there. That number
    // must not reach the driver, which may take it or its reciprocal for zero.
    let [one, most] = [1, INFINITY - 1].map(|n| asm.constant(Scalar::U32, n));
    let usual = [x, y].map(|parts| {
        let below = asm.make(S::ISub, Scalar::U32, &[parts.size, one]);
        asm.make(S::ULessThan, Scalar::Bool, &[below, most])
    });
    let unit = asm.constant(Scalar::U32, u64::from(1f32.to_bits()));
    let mut simple = |value: Word, bits: Word, usual: Word| {
        let sign = integers::masked(asm, Scalar::U32, bits, 1 << 31);
        let unit = asm.make(S::BitwiseOr, Scalar::U32, &[sign, unit]);
        let unit = asm.make(S::Bitcast, Scalar::F32, &[unit]);
        asm.make(S::Select, Scalar::F32, &[usual, unit, value])
    };
    let [p, q] = [simple(a, bits[0], usual[0]), simple(b, bits[1], usual[1])];
    let plain = asm.make(S::FDiv, Scalar::F32, &[p, q]);
    let usual = asm.make(S::LogicalAnd, Scalar::Bool, &usual);
    asm.make(S::Select, Scalar::F32, &[usual, word, plain])
}

/// The quotient of the digits: an integer whose leading one is bit 27 and whose last bit is set if the quotient has more digits; and 1
/// if it is below 1.
fn digits_of_quotient(asm: &mut Assembler, x: &Parts, y: &Parts) -> (Word, Word) {
    // 26 digits behind the point, up to 40 off by the driver's quotient. The rest of that fits 31 bits.
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
    // Now the rest is within half a divisor, of either sign: twice the quotient and the sign of the rest say where it lies.
    let [zero, one] = [0, 1].map(|n| asm.constant(Scalar::U32, n));
    let negative = asm.make(S::SLessThan, Scalar::Bool, &[rest, zero]);
    let negative = asm.make(S::Select, Scalar::U32, &[negative, one, zero]);
    let quotient = asm.make(S::ISub, Scalar::U32, &[quotient, negative]);
    let more = asm.make(S::INotEqual, Scalar::Bool, &[rest, zero]);
    let more = asm.make(S::Select, Scalar::U32, &[more, one, zero]);
    let quotient = integers::shifted(asm, Scalar::U32, S::ShiftLeftLogical, quotient, 1);
    let quotient = asm.make(S::BitwiseOr, Scalar::U32, &[quotient, more]);
    let less = asm.make(S::ULessThan, Scalar::Bool, &[x.digits, y.digits]);
    let less = asm.make(S::Select, Scalar::U32, &[less, one, zero]);
    (asm.make(S::ShiftLeftLogical, Scalar::U32, &[quotient, less]), less)
}

/// The bits of the nearest number, halves to even. Bit 27, the leading one, has this exponent.
fn rounded(asm: &mut Assembler, quotient: Word, exponent: Word) -> Word {
    let ty = asm.scalar(Scalar::U32);
    let [zero, one, two, infinity] = [0, 1, 2, INFINITY].map(|n| asm.constant(Scalar::U32, n));
    let [most_down, most] = [27, 255].map(|n| asm.constant(Scalar::U32, n));
    // Two bits below the last digit stay, the last of which says whether there is more. Subnormal numbers have fewer digits.
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
    let field = asm.glsl(Glsl::UMin, ty, &[field, most]);
    let field = integers::shifted(asm, Scalar::U32, S::ShiftLeftLogical, field, 23);
    let size = asm.make(S::IAdd, Scalar::U32, &[field, digits]);
    let size = asm.make(S::IAdd, Scalar::U32, &[size, up]);
    asm.glsl(Glsl::UMin, ty, &[size, infinity])
}

fn float(asm: &mut Assembler, value: f32) -> Word {
    asm.constant(Scalar::F32, u64::from(value.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`corrected`] computes.
    fn by_corrections(a: f32, b: f32, reciprocal: f32) -> f32 {
        let mut quotient = a * reciprocal;
        for _ in 0..2 {
            let rest = (-b).mul_add(quotient, a);
            quotient = rest.mul_add(reciprocal, quotient);
        }
        quotient
    }

    /// Numbers from 1 to 2: random ones, and some beside the ends.
    fn digits(count: u32) -> impl Iterator<Item = f32> {
        let random = (0..count).map(|n| n.wrapping_mul(0x9E37_79B1) >> 9);
        let ends = (0..8).flat_map(|n| [n, 0x7f_ffff - n, 0x40_0000 + n]);
        random.chain(ends).map(|digits| f32::from_bits(0x3f80_0000 | digits))
    }

    #[test]
    fn corrected_quotients_are_rounded_once() {
        // What `has_close_reciprocal` lets through.
        for b in digits(300).filter(|b| u64::from(b.to_bits()) & DIGITS < CLOSE) {
            // A driver's reciprocal may be off by an ulp, before it is improved.
            let near = |off: i32| {
                let near = f32::from_bits((1.0 / b).to_bits().wrapping_add_signed(off));
                (-b).mul_add(near, 1.0).mul_add(near, near)
            };
            for reciprocal in [near(-1), near(0), near(1)] {
                for a in digits(2000) {
                    assert_eq!(by_corrections(a, b, reciprocal), a / b, "{a:e} / {b:e}");
                }
            }
        }
    }

    #[test]
    fn reciprocals_improved_twice_are_rounded_once() {
        for digits in 0..=DIGITS as u32 {
            // How far a driver's may be off, where it is used.
            let most = match u64::from(digits) {
                ..CLOSE => 3,
                0x7f_fffb.. => 0,
                _ => 1,
            };
            let b = f32::from_bits(0x3f80_0000 | digits);
            for off in -most..=most {
                let mut near = f32::from_bits((1.0 / b).to_bits().wrapping_add_signed(off));
                for _ in 0..2 {
                    near = (-b).mul_add(near, 1.0).mul_add(near, near);
                }
                assert_eq!(near, 1.0 / b, "1 / {b:e}, {off} off");
            }
        }
    }

    /// For how many dividends from 1 to 2 the two operations by the parts of b's reciprocal are not rounded once.
    fn wrong(b: f32) -> usize {
        let high = 1.0 / b;
        let low = ((-f64::from(b)).mul_add(f64::from(high), 1.0) / f64::from(b)) as f32;
        let all = (0..=DIGITS as u32).map(|digits| f32::from_bits(0x3f80_0000 | digits));
        all.filter(|a| a.mul_add(high, a * low) != a / b).count()
    }

    #[test]
    fn reciprocals_of_constants_round_once_for_all_dividends_or_are_refused() {
        let mut refused = 0;
        for b in digits(20) {
            let found = Reciprocal::new(b).is_none();
            assert_eq!(found, wrong(b) > 0, "{b:e}");
            refused += usize::from(found);
        }
        // Each candidate finds one; then numbers without a fast path.
        for b in [0x3f9f_0237, 0x3fa0_c9ff].map(f32::from_bits) {
            assert!(Reciprocal::new(b).is_none() && wrong(b) > 0);
        }
        assert!(refused < 5, "{refused} refused");
        for b in [0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 2.0, MOST_DIVISOR] {
            assert!(Reciprocal::new(b).is_none() && Reciprocal::new(-b).is_none());
        }
    }
}
