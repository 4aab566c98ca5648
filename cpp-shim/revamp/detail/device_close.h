// The functions of precise_math for devices, as accurate as CUDA's (docs/maths.md has the measured errors). Some
// round once more than their versions in device_precise.h, but need a fraction of the operations. REVAMP_MATH_LAST_BIT
// selects device_precise.h instead.
//
// The code follows the rules of device_precise.h: + - * are rounded correctly, quotients and roots are not, and NaN and
// infinity are recognised by their bits. mad() may round once or twice, and every use is correct either way: where a
// product must be exact, one of its factors has few enough digits. The common case comes first, without branches; rare
// cases are moved out of it.
#ifndef REVAMP_DETAIL_DEVICE_CLOSE_H
#define REVAMP_DETAIL_DEVICE_CLOSE_H

#include "device_abi.h"
#include "device_precise.h"

// 1 if mad() may be an fma. Devices have an fma instruction. On a CPU without one, an fma would be a library call.
#ifndef REVAMP_MATH_FUSED
#if REVAMP_DEVICE_PASS || defined(__FMA__)
#define REVAMP_MATH_FUSED 1
#else
#define REVAMP_MATH_FUSED 0
#endif
#endif

// 1 / sqrt(x) to 2 ulp. A test may define a less accurate operation.
#ifndef REVAMP_MATH_INVERSE_ROOT
#if REVAMP_DEVICE_PASS
#define REVAMP_MATH_INVERSE_ROOT(x) __revamp_fast_rsqrt_f32(x)
#else
#define REVAMP_MATH_INVERSE_ROOT(x) (1.0f / __builtin_sqrtf(x))
#endif
#endif

// True if the device's arithmetic has a property that Vulkan does not require (`DeviceProperty` in
// image/src/kernels.rs). The value is constant when the pipeline is created, so only one of two code paths remains.
// Tests may define this macro.
#ifndef REVAMP_MATH_DEVICE_PROPERTY
#if REVAMP_DEVICE_PASS
#define REVAMP_MATH_DEVICE_PROPERTY(what) __revamp_of_device(what)
#else
#define REVAMP_MATH_DEVICE_PROPERTY(what) false
#endif
#endif
#ifndef REVAMP_MATH_INVERSE_ROOT_OF_DOUBLE
#if REVAMP_DEVICE_PASS
#define REVAMP_MATH_INVERSE_ROOT_OF_DOUBLE(x) __revamp_fast_rsqrt_f64(x)
#else
#define REVAMP_MATH_INVERSE_ROOT_OF_DOUBLE(x) (1.0 / __builtin_sqrt(x))
#endif
#endif
#ifndef REVAMP_MATH_EXP2
#if REVAMP_DEVICE_PASS
#define REVAMP_MATH_EXP2(x) __revamp_fast_exp2_f32(x)
#define REVAMP_MATH_LOG2(x) __revamp_fast_log2_f32(x)
#else
#define REVAMP_MATH_EXP2(x) __builtin_exp2f(x)
#define REVAMP_MATH_LOG2(x) __builtin_log2f(x)
#endif
#endif

REVAMP_DETAIL_BEGIN
namespace close {
using namespace precise;

// True if an fma rounds once.
REVAMP_MATH_INLINE bool fma_rounds_once() {
    return REVAMP_MATH_DEVICE_PROPERTY(0);
}
// True if square roots are rounded correctly.
REVAMP_MATH_INLINE bool roots_are_exact() {
    return REVAMP_MATH_DEVICE_PROPERTY(1);
}
// True if 2^x is as accurate as in CUDA.
REVAMP_MATH_INLINE bool powers_are_accurate() {
    return REVAMP_MATH_DEVICE_PROPERTY(2);
}
// True if 1 / sqrt(x) is as accurate as in CUDA.
REVAMP_MATH_INLINE bool inverse_roots_are_accurate() {
    return REVAMP_MATH_DEVICE_PROPERTY(10);
}

template <class T> constexpr bool single = format<T>::single;

template <class T> REVAMP_MATH_INLINE T mad(T a, T b, T c) {
#if REVAMP_DEVICE_PASS
    _Pragma("clang fp contract(on) reassociate(off)")
#else
    REVAMP_MATH_EXACT
#endif
#if REVAMP_MATH_FUSED && !REVAMP_DEVICE_PASS
        return precise::fma(a, b, c);
#else
    return a * b + c;
#endif
}
// Evaluates a polynomial. The constant coefficient comes first.
template <class T> REVAMP_MATH_INLINE T horner(T, double c) {
    return static_cast<T>(c);
}
template <class T, class... C> REVAMP_MATH_INLINE T horner(T x, double c, C... more) {
    return mad(x, horner(x, more...), static_cast<T>(c));
}
// True if x is positive, normal and finite.
template <class T> REVAMP_MATH_INLINE bool is_positive_normal(T x) {
    return bits(x) - leading_one<T> < infinite_bits<T> - leading_one<T>;
}
// One of two calculated numbers. With the conditional operator, compilers move the calculation of an operand that calls
// a function into a branch, for which other instructions of the thread wait. Doubles are expensive, so some functions
// of doubles branch.
template <class T> REVAMP_MATH_INLINE T select(bool condition, T yes, T no) {
    return condition ? yes : no;
}
// True if |x| <= limit. Devices take the magnitude at no cost in a comparison of floats.
template <class T> REVAMP_MATH_INLINE bool is_within(T x, T limit) {
    return fabs(x) <= limit;
}
// x, with only the upper half of its digits.
template <class T> REVAMP_MATH_INLINE T upper(T x) {
    return from_bits<T>(bits(x) & format<T>::upper_half);
}
// a b - c, exactly, if c is nearly a b.
template <class T> REVAMP_MATH_INLINE T product_minus(T a, T b, T c) {
    REVAMP_MATH_EXACT
    const T ah = upper(a), al = a - ah, bh = upper(b), bl = b - bh;
    return mad(al, bl, mad(al, bh, mad(ah, bl, mad(ah, bh, -c))));
}
// 1 / x to about 1 ulp, for x far from overflow and underflow.
template <class T> REVAMP_MATH_INLINE T reciprocal(two<T> x) {
    const T y = REVAMP_MATH_QUOTIENT(T(1), x.high);
    return mad(y, mad(-x.low, y, mad(-x.high, y, T(1))), y);
}
template <class T> REVAMP_MATH_INLINE T reciprocal(T x) {
    const T y = REVAMP_MATH_QUOTIENT(T(1), x);
    return mad(y, mad(-x, y, T(1)), y);
}

// a / b to about 1 ulp, for numbers far from overflow and underflow.
template <class T> REVAMP_MATH_INLINE T quotient(T a, T b) {
    REVAMP_MATH_EXACT
    const T y = REVAMP_MATH_QUOTIENT(T(1), b), q = a * y;
    return mad(mad(-q, b, a), y, q);
}

// scale(|x|), for rare cases. The loop keeps compilers from moving the calculation out of its branch.
template <class T> REVAMP_MATH_INLINE scaled<T> scale_rare(T x) {
    word_of<T> m = magnitude(x);
    int biased = static_cast<int>(m >> format<T>::fraction);
    if (biased == 0) biased = 1;
    while (m != 0 && m < leading_one<T>)
        m <<= 1, biased -= 1;
    return {from_bits<T>((m & (leading_one<T> - 1)) | one_bits<T>), biased - format<T>::bias};
}

// Roots.

// 1 / sqrt(x) for a normal x, to 2 ulp of a float or 1 ulp of a double.
REVAMP_MATH_INLINE float inverse_root(float x) {
    return REVAMP_MATH_INVERSE_ROOT(x);
}
// 4^n as the exponent's digits of x = 4^n m, with m in [1, 4).
REVAMP_MATH_INLINE word64 even_exponent(double x) {
    return (bits(x) - one_bits<double>)&~(2 * leading_one<double> - 1);
}
// The digits of a product with 2^n, where 4^n is `exponent`.
REVAMP_MATH_INLINE word64 half_exponent(word64 exponent) {
    return static_cast<word64>(static_cast<std::int64_t>(exponent) >> 1);
}
// 1 / sqrt(m) for m in [1, 4). The error before the last rounding is below 2^-60. Begins with the root of a float,
// whose square is exact in double. Its digits are converted as integers, because devices convert doubles slowly.
REVAMP_MATH_INLINE double inverse_root_near_one(double m) {
    REVAMP_MATH_EXACT
    constexpr int digits = format<double>::fraction - format<float>::fraction;
    constexpr word64 bias = word64(format<double>::bias - format<float>::bias) << format<double>::fraction;
    const float low =
        REVAMP_MATH_INVERSE_ROOT(from_bits<float>(static_cast<word_of<float>>((bits(m) - bias) >> digits)));
    const double y = from_bits<double>((word64(bits(low)) << digits) + bias);
    const double d = mad(-m, y * y, 1.0);
    return mad(y * d, mad(d, 0.375, 0.5), y);
}
REVAMP_MATH_INLINE double inverse_root(double x) {
    const word64 e = even_exponent(x);
    const double y = inverse_root_near_one(from_bits<double>(bits(x) - e));
    return from_bits<double>(bits(y) - half_exponent(e));
}
// sqrt(x) for x >= 0.
template <class T> REVAMP_MATH_INLINE two<T> near_root(T x) {
    REVAMP_MATH_EXACT
    const T least = power_of_two<T>(1 - format<T>::bias);
    const T y = inverse_root(x < least ? least : x), s = x * y;
    return {s, mad(-s, s, x) * (T(0.5) * y)};
}
// x = m 4^n. The root of x is the root of m times `factor`. m = 1 if the root needs no calculation.
template <class T> struct root_operand { T m, factor; };
template <class T> REVAMP_MATH_INLINE root_operand<T> rare_root_operand(T x, int sign) {
    const scaled<T> s = scale_rare(x);
    const root_operand<T> r = {s.significand * power_of_two<T>(s.exponent & 1),
                               power_of_two<T>(sign * (s.exponent >> 1))};
    const bool number = is_finite(x) && !negative(x) && !is_zero(x);
    const T y = sign > 0 ? x : from_bits<T>(bits(x) ^ infinite_bits<T>); // swaps zero and infinity
    const T none = is_nan(x) ? x : is_zero(x) || !negative(x) ? y : not_a_number<T>();
    return {number ? r.m : T(1), number ? r.factor : none};
}
// The operand of the square root of a float, in fewer operations and without a loop. m is x 2^100 or x 2^-100. For a
// subnormal x, m is x 2^150, calculated from the digits of x as an integer.
REVAMP_MATH_INLINE root_operand<float> rare_root_operand(float x) {
    const word_of<float> digits = bits(x);
    const bool number = digits - 1 < infinite_bits<float> - 1, large = digits > one_bits<float>;
    const bool tiny = digits < leading_one<float>;
    constexpr word_of<float> by = word_of<float>(100) << format<float>::fraction;
    const float scaled = from_bits<float>(large ? digits - by : digits + by);
    const float m = tiny ? static_cast<float>(static_cast<int>(digits << 1)) : scaled;
    const float none = negative(x) && !is_nan(x) && !is_zero(x) ? not_a_number<float>() : x;
    return {number ? m : 1.0f, !number ? none : tiny ? 0x1p-75f : large ? 0x1p50f : 0x1p-50f};
}
REVAMP_MATH_INLINE root_operand<double> rare_root_operand(double x) {
    return rare_root_operand(x, 1);
}
REVAMP_MATH_INLINE float root_of_device(float x) {
    return __builtin_sqrtf(x);
}
REVAMP_MATH_INLINE double root_of_device(double x) {
    return __builtin_sqrt(x);
}
// sqrt(x), rounded once, provided that no intermediate result underflows or overflows. First, a step refines s =
// sqrt(x) and h = -1 / (2 sqrt(x)): without it, some roots that are close to the midpoint of two numbers would be
// wrong. The remainder s^2 - x is exact.
template <class T> REVAMP_MATH_INLINE T root_of_normal(T x) {
    REVAMP_MATH_EXACT
    const T y = inverse_root(x), s0 = x * y, h0 = T(-0.5) * y;
    if constexpr (single<T>)
        if (inverse_roots_are_accurate() && fma_rounds_once()) return mad(mad(s0, s0, -x), h0, s0);
    const T e = mad(s0, h0, T(0.5)), s = mad(s0, e, s0), h = mad(h0, e, h0);
    if (fma_rounds_once()) return mad(mad(s, s, -x), h, s);
    const T sh = upper(s), sl = s - sh;
    return mad(mad(sl, sl, mad(T(2) * sh, sl, mad(sh, sh, -x))), h, s);
}
// sqrt(x), rounded correctly. All floats were tried, with inverse roots up to 4 ulp off. The root of the largest double
// below a power of four is so close to the midpoint of two numbers that it is rounded up.
template <class T> REVAMP_MATH_INLINE T rounded_root(T x) {
    REVAMP_MATH_EXACT
    const T root = root_of_normal(x);
    if constexpr (single<T>) return root;
    const bool power = (bits(root) & (leading_one<T> - 1)) == 0;
    return from_bits<T>(bits(root) - (power && root * root > x ? 1 : 0));
}
// sqrt(x) of a normal x, rounded once, if an fma rounds once. The remainder m - s^2 is exact. The result could only be
// wrong if sqrt(m) is so close to the midpoint of two numbers that m is one of a few dozen numbers; the test of maths
// tries them.
REVAMP_MATH_INLINE double fused_root(double x) {
    REVAMP_MATH_EXACT
    const word64 e = even_exponent(x);
    const double m = from_bits<double>(bits(x) - e), y = inverse_root_near_one(m), s = m * y;
    const double half = from_bits<double>(bits(y) - leading_one<double>);
    return from_bits<double>(bits(mad(mad(-s, s, m), half, s)) + half_exponent(e));
}
template <class T> REVAMP_MATH_INLINE T sqrt(T x) {
    REVAMP_MATH_EXACT
    if (roots_are_exact()) return root_of_device(x);
    if constexpr (!single<T>)
        if (fma_rounds_once()) {
            T root = fused_root(x);
            if (!is_positive_normal(x)) {
                const root_operand<T> r = rare_root_operand(x);
                root = fused_root(r.m) * r.factor;
            }
            return root;
        }
    constexpr word_of<T> least = word_of<T>(format<T>::bias / 2) << format<T>::fraction;
    // Calculated for every x, so that the common case needs only one more comparison.
    T root = rounded_root(x);
    if (bits(x) - least >= infinite_bits<T> - 2 * leading_one<T> - least) {
        const root_operand<T> r = rare_root_operand(x);
        root = rounded_root(r.m) * r.factor;
    }
    return root;
}
// The device's rsqrt is accurate enough for float, but may treat subnormal numbers as zero. So the digits of a
// subnormal x are converted as an integer.
REVAMP_MATH_INLINE float rsqrt(float x) {
    REVAMP_MATH_EXACT
    const word_of<float> digits = bits(x);
    const bool tiny = digits < leading_one<float>;
    // The digits become those of a number from 2^24 on. So m = x 2^150.
    const float m = tiny ? from_bits<float>(digits | bits(0x1p24f)) - 0x1p24f : x;
    return REVAMP_MATH_INVERSE_ROOT(m) * (tiny ? 0x1p75f : 1.0f);
}
REVAMP_MATH_INLINE double rsqrt(double x) {
    REVAMP_MATH_EXACT
    if (inverse_roots_are_accurate()) return REVAMP_MATH_INVERSE_ROOT_OF_DOUBLE(x);
    double y = inverse_root(x);
    if (!is_positive_normal(x)) {
        const root_operand<double> r = rare_root_operand(x, -1);
        y = inverse_root(r.m) * r.factor;
    }
    return y;
}
// 1 / cbrt(x) for a normal x, with the least accuracy that Vulkan allows: the error is below 2^-16.
REVAMP_MATH_INLINE float near_inverse_cube_root(float x) {
    return REVAMP_MATH_EXP2(REVAMP_MATH_LOG2(x) * -0x1.555556p-2f);
}
// As above for x in [1, 8), with an error below 2^-45.
REVAMP_MATH_INLINE double near_inverse_cube_root(double x) {
    REVAMP_MATH_EXACT
    const double y = static_cast<double>(near_inverse_cube_root(static_cast<float>(x)));
    const double e = mad(-(x * y), y * y, 1.0);
    return mad(y * e, mad(e, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), y);
}
// size = m 8^n, with `factor` 2^n, or 2^-n if `inverse`. m = 1 if the root needs no calculation.
template <class T> REVAMP_MATH_INLINE root_operand<T> cube_root_operand(T size, bool inverse) {
    // For a very small float, the remainder would be subnormal; for a very large one, the cube might be infinite.
    const word_of<T> least = single<T> ? bits(T(0x1p-90)) : leading_one<T>;
    const word_of<T> most = single<T> ? bits(T(0x1p126)) : infinite_bits<T>;
    root_operand<T> r = {size, T(1)};
    if (bits(size) - least >= most - least) {
        const scaled<T> s = scale_rare(size);
        const int third = (s.exponent + 3072) / 3 - 1024;
        const bool number = is_finite(size) && !is_zero(size);
        // Swaps zero and infinity.
        const T none = inverse && !is_nan(size) ? from_bits<T>(bits(size) ^ infinite_bits<T>) : size;
        r.m = number ? s.significand * power_of_two<T>(s.exponent - 3 * third) : T(1);
        r.factor = number ? power_of_two<T>(inverse ? -third : third) : none;
    } else if constexpr (!single<T>) {
        // m is in [1, 8); the bias is 3 times 341.
        const std::uint32_t third = static_cast<std::uint32_t>(bits(size) >> format<T>::fraction) / 3;
        r.m = from_bits<T>(bits(size) - (static_cast<word_of<T>>(3 * third) << format<T>::fraction) + one_bits<T>);
        r.factor = from_bits<T>(static_cast<word_of<T>>(inverse ? 1364 - third : third + 682) << format<T>::fraction);
    }
    return r;
}
// The product of a and b, in two parts.
template <class T> REVAMP_MATH_INLINE two<T> exact_product(T a, T b) {
    REVAMP_MATH_EXACT
    if (!fma_rounds_once()) return product(a, b);
    const T high = a * b;
    return {high, mad(a, b, -high)};
}
// Both cube roots end with a step of Newton's method, whose remainder must be accurate.
template <class T> REVAMP_MATH_INLINE T cbrt(T x) {
    REVAMP_MATH_EXACT
    const root_operand<T> r = cube_root_operand(fabs(x), false);
    const T y = near_inverse_cube_root(r.m), yy = y * y, t = r.m * yy;
    const two<T> square = exact_product(t, t);
    // r.m - t^3
    T rest;
    if (fma_rounds_once()) {
        rest = mad(-square.low, t, mad(-square.high, t, r.m));
    } else {
        const two<T> cube = multiply(square, two<T>{t, T(0)});
        rest = (r.m - cube.high) - cube.low;
    }
    return with_sign(mad(rest, yy * T(1.0 / 3), t) * r.factor, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T rcbrt(T x) {
    REVAMP_MATH_EXACT
    const root_operand<T> r = cube_root_operand(fabs(x), true);
    const T y = near_inverse_cube_root(r.m);
    const two<T> square = exact_product(y, y), p = exact_product(r.m, y);
    // 1 - r.m y^3
    T rest;
    if (fma_rounds_once()) {
        rest = mad(-p.high, square.low, mad(-p.low, square.high, mad(-p.high, square.high, T(1))));
    } else {
        const two<T> cube = multiply(square, p);
        rest = (T(1) - cube.high) - cube.low;
    }
    return with_sign(mad(y * rest, T(1.0 / 3), y) * r.factor, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T hypot(T x, T y) {
    REVAMP_MATH_EXACT
    const bool steep = magnitude(x) > magnitude(y);
    const T a = fabs(steep ? x : y), b = fabs(steep ? y : x);
    const word_of<T> least = bits(single<T> ? T(0x1p-40) : T(0x1p-400)),
                     most = bits(single<T> ? T(0x1p60) : T(0x1p500));
    if (bits(a) - least >= most - least) return precise::hypot(x, y);
    return value(near_root(mad(a, a, b * b)));
}

// Exponentials.

// x + magic has rint(x) in its low bits.
template <class T> constexpr T magic = single<T> ? T(0x1.8p23) : T(0x1.8p52);
// y 2^n, with n in the low bits of t. y and the result must be normal.
template <class T> REVAMP_MATH_INLINE T times_power_of_two(T y, T t) {
    return from_bits<T>(bits(y) + (bits(t) << format<T>::fraction));
}
// e^r - 1 for |r| <= log(2) / 2.
template <class T> REVAMP_MATH_INLINE T expm1_poly(T r) {
    REVAMP_MATH_EXACT
    T q;
    if constexpr (single<T>)
        q = horner(r, 0x1.fffffcp-2, 0x1.55548ap-3, 0x1.5558a8p-5, 0x1.123e7ap-7, 0x1.6a5916p-10);
    else
        q = horner(r, 0x1.000000000000ap-1, 0x1.55555555554f7p-3, 0x1.55555555506cdp-5, 0x1.1111111128556p-7,
                   0x1.6c16c1849022ep-10, 0x1.a01a0127e862ap-13, 0x1.a01998e67c70ep-16, 0x1.71df28f6d9f90p-19,
                   0x1.28ae8ff1e2e6dp-22, 0x1.ad7c9717644b0p-26);
    return mad(r * r, q, r);
}
// e^x = (y + low) 2^n, with n in the low bits of t.
template <class T> struct powers { T y, low, n, t; };
// log(2) in two parts; n times the high part is exact.
template <class T> constexpr T log_two_high = single<T> ? T(0x1.62e4p-1) : T(0x1.62e42fefa2p-1);
template <class T> constexpr T log_two_low = single<T> ? T(0x1.7f7d1cf79abcap-20) : T(0x1.9ef35793c7673p-41);
template <class T> REVAMP_MATH_INLINE powers<T> exp_of(T x, T low) {
    REVAMP_MATH_EXACT
    const T t = mad(x, T(0x1.71547652b82fep+0), magic<T>), n = t - magic<T>;
    const T h = mad(n, -log_two_high<T>, x) + low, r = mad(n, -log_two_low<T>, h);
    const T e = expm1_poly(r), y = e + T(1);
    return {y, (e - (y - T(1))) + mad(n, -log_two_low<T>, h - r), n, t};
}
// The result of exp_result() if the power may be subnormal or infinite. For |x| beyond `most` it is zero or infinite.
template <class T> REVAMP_MATH_INLINE T rare_exp_result(T x, powers<T> p, T most) {
    const T y = times_power(p.y, static_cast<int>(p.n));
    const T end = is_nan(x) ? x : negative(x) ? T(0) : infinity<T>();
    return is_within(x, most) ? y : end;
}
template <class T> REVAMP_MATH_INLINE T exp_result(T x, powers<T> p, T limit, T most) {
    T y = times_power_of_two(p.y, p.t);
    if (!is_within(x, limit)) y = rare_exp_result(x, p, most);
    return y;
}
// e^x as `exp_of` gives it. For float, `low` is 0 and y is rounded once.
template <class T> REVAMP_MATH_INLINE powers<T> exp_once(T x) {
    REVAMP_MATH_EXACT
    if constexpr (single<T>) {
        const T t = mad(x, T(0x1.71547652b82fep+0), magic<T>), n = t - magic<T>;
        const T r = mad(n, -log_two_low<T>, mad(n, -log_two_high<T>, x));
        return {horner(r, 1.0, 1.0, 0x1.fffffcp-2, 0x1.55548ap-3, 0x1.5558a8p-5, 0x1.123e7ap-7, 0x1.6a5916p-10), T(0),
                n, t};
    } else {
        return exp_of(x, T(0));
    }
}
// e^x by the device's 2^x; the error is up to 2 ulp. It needs no branch: n is bounded, so 2^n is normal, and the
// device's 2^x is right if the result is zero, infinite or NaN.
REVAMP_MATH_INLINE float exp_by_power(float x) {
    REVAMP_MATH_EXACT
    constexpr float log = 0x1.715476p+0f, zero = magic<float>, most = zero + 126, least = zero - 126;
    const float t = __builtin_fminf(__builtin_fmaxf(mad(x, log, zero), least), most);
    const float rest = mad(x, 0x1.4ae0cp-26f, mad(x, log, zero - t));
    return REVAMP_MATH_EXP2(rest) * times_power_of_two(1.0f, t);
}
template <class T> REVAMP_MATH_INLINE T exp(T x) {
    if constexpr (single<T>)
        if (powers_are_accurate() && fma_rounds_once()) return exp_by_power(x);
    return exp_result(x, exp_once(x), single<T> ? T(86) : T(707), single<T> ? T(104) : T(746));
}
// 2^x by the device, whose 2^x may be 0 where the result is subnormal.
REVAMP_MATH_INLINE float exp2_by_power(float x) {
    const bool small = x < -126.0f;
    return REVAMP_MATH_EXP2(small ? x + 64.0f : x) * (small ? 0x1p-64f : 1.0f);
}
template <class T> REVAMP_MATH_INLINE T exp2(T x) {
    REVAMP_MATH_EXACT
    if constexpr (single<T>)
        if (powers_are_accurate()) return exp2_by_power(x);
    const T t = x + magic<T>, n = t - magic<T>, r = x - n;
    T y;
    if constexpr (single<T>) {
        y = horner(r, 1.0, 0x1.62e43p-1, 0x1.ebfbdcp-3, 0x1.c6af84p-5, 0x1.3b2da8p-7, 0x1.5f0736p-10, 0x1.41b784p-13);
    } else {
        const T q = horner(r, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c9p-5, 0x1.3b2ab6fba4d19p-7, 0x1.5d87fe78a323dp-10,
                           0x1.430912f8d7c7ep-13, 0x1.ffcbfc727ca28p-17, 0x1.62c0207be226bp-20, 0x1.b524e0c32957cp-24,
                           0x1.e4d5c169d84d6p-28, 0x1.e9fdaeb2b0a7cp-32, 0x1.bb560a25e62dcp-36);
        // The coefficient of r is split into 1/2 and the remainder.
        y = T(1) + mad(r, T(0.5), mad(r, T(0x1.8b90bfbe8e7bdp-3), r * r * q));
    }
    return exp_result(x, powers<T>{y, T(0), n, t}, single<T> ? T(125) : T(1021), single<T> ? T(152) : T(1078));
}
template <class T> REVAMP_MATH_INLINE T exp10(T x) {
    REVAMP_MATH_EXACT
    const T t = mad(x, T(0x1.a934f0979a371p+1), magic<T>), n = t - magic<T>;
    T high, low; // log10(2) in two parts; n times the high part is exact
    if constexpr (single<T>)
        high = T(0x1.344p-2), low = T(0x1.3509f79fef312p-18);
    else
        high = T(0x1.34413509f6p-2), low = T(0x1.9fef311f12b36p-42);
    const T h = mad(n, -high, x), r = mad(n, -low, h);
    T y;
    if constexpr (single<T>) {
        y = horner(r, 1.0, 0x1.26bb1cp+1, 0x1.53524ap+1, 0x1.046fbcp+1, 0x1.2bd9ap+0, 0x1.155d92p-1, 0x1.a6f50ep-3);
    } else {
        const T tail =
            mad(r * r,
                horner(r, 0x1.53524c73cea69p+1, 0x1.0470591de2caap+1, 0x1.2bd7609fd964ap+0, 0x1.1429ffd1d2346p-1,
                       0x1.a7ed7085815d1p-3, 0x1.16e4dfd14b39dp-4, 0x1.4116ad7f98f9dp-6, 0x1.48977f47daddbp-8,
                       0x1.2eac70d952fafp-10, 0x1.fc0cb5fae8753p-13, 0x1.77b17f82a41f6p-15),
                T(0x1.26bb1bbb55516p+1) * mad(n, -low, h - r));
        // log(10) is split into 2 and the remainder.
        y = T(1) + mad(r, T(2), mad(r, T(0x1.35d8dddaaa8acp-2), tail));
    }
    return exp_result(x, powers<T>{y, T(0), n, t}, single<T> ? T(37) : T(307), single<T> ? T(46) : T(325));
}
// e^a / 2 for a >= 0. For float, the low part is 0.
template <class T> REVAMP_MATH_INLINE two<T> half_exp(T a) {
    REVAMP_MATH_EXACT
    const powers<T> p = exp_once(a);
    // True beyond the largest argument with a finite result. Up to this argument the power is normal.
    const bool distant = !is_within(a, single<T> ? T(0x1.65a9f8p+6) : T(0x1.633ce8fb9f87dp+9));
    const T end = is_nan(a) ? a : infinity<T>();
    const T y = from_bits<T>(bits(times_power_of_two(p.y, p.t)) - leading_one<T>);
    if constexpr (single<T>)
        return {distant ? end : y, T(0)};
    else
        return {distant ? end : y, distant ? T(0) : (p.low + p.low) * times_power_of_two(T(0.25), p.t)};
}
template <class T> REVAMP_MATH_INLINE T cosh(T x) {
    REVAMP_MATH_EXACT
    const two<T> e = half_exp(fabs(x));
    return e.high + (REVAMP_MATH_QUOTIENT(T(0.25), e.high) + e.low);
}
template <class T> REVAMP_MATH_INLINE T sinh(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x), z = a * a;
    T p;
    if constexpr (single<T>)
        p = horner(z, 0x1.555556p-3, 0x1.111112p-7, 0x1.a01a14p-13, 0x1.71d1cap-19, 0x1.b569b6p-26);
    else
        p = horner(z, 0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a019fffp-13, 0x1.71de3a556fbfdp-19,
                   0x1.ae645678ea417p-26, 0x1.612467ffd0251p-33, 0x1.ae775423a3f88p-41, 0x1.99fcc5959506bp-49);
    const auto distant = [a] {
        const two<T> e = half_exp(a);
        return e.high - (REVAMP_MATH_QUOTIENT(T(0.25), e.high) - e.low);
    };
    T y = mad(a * z, p, a);
    if constexpr (single<T>)
        y = select(a <= T(1), y, distant());
    else if (!(a <= T(1)))
        y = distant();
    return with_sign(y, sign_of(x));
}
// 1 - 2 / (e^2a + 1) for a from 1/2 on, with e^2a finite.
template <class T> REVAMP_MATH_INLINE T tanh_far(T a) {
    REVAMP_MATH_EXACT
    if constexpr (single<T>) {
        // Less than half of the errors of the quotient and of the device's 2^x reaches the result: 2 / d is below 0.43.
        if (powers_are_accurate()) {
            const T d = REVAMP_MATH_EXP2(a * T(0x1.715476p+1)) + T(1);
            return mad(T(-2), REVAMP_MATH_QUOTIENT(T(1), d), T(1));
        }
        const powers<T> e = exp_once(a + a);
        return mad(T(-2), reciprocal(times_power_of_two(e.y, e.t) + T(1)), T(1));
    } else {
        const powers<T> e = exp_once(a + a);
        const T f = times_power_of_two(e.y, e.t), d = f + T(1), low = (f - (d - T(1))) + f * e.low;
        return mad(T(-2), reciprocal(two<T>{d, low}), T(1));
    }
}
template <class T> REVAMP_MATH_INLINE T tanh(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x), z = a * a;
    T p, y;
    if constexpr (single<T>)
        p = horner(z, -0x1.55551cp-2, 0x1.11027p-3, -0x1.b79fcp-5, 0x1.4e332ep-6, -0x1.647a5ap-8);
    else
        p = horner(z, -0x1.5555555555553p-2, 0x1.1111111110e1dp-3, -0x1.ba1ba1b9f1c50p-5, 0x1.664f487964a03p-6,
                   -0x1.226e34216cfcep-7, 0x1.d6d39acc6633ep-9, -0x1.7da042d0a75c0p-10, 0x1.3537b1d62bad9p-11,
                   -0x1.f39ffe9856247p-13, 0x1.8cb945d1be68cp-14, -0x1.2565c9296ac03p-15, 0x1.5e06709aa216fp-17,
                   -0x1.dbd5d6f5ad95cp-20);
    const T nearby = mad(a * z, p, a), limit = single<T> ? T(10) : T(20), b = a > limit ? limit : a;
    if constexpr (single<T>)
        y = select(a < T(0.66), nearby, tanh_far(b));
    else
        y = a < T(0.7) ? nearby : tanh_far(b);
    return select(is_nan(x), x, with_sign(y, sign_of(x)));
}

// Logarithms.

// x = 2^k (1 + f), with 1 + f from sqrt(1/2) to sqrt(2).
template <class T> struct parts { T f, k; };
template <class T> REVAMP_MATH_INLINE word_of<T> exponent_of(T x) {
    return (bits(x) - bits(T(0x1.6a09e6p-1))) & ~(leading_one<T> - 1);
}
// The exponent field as a number.
template <class T> REVAMP_MATH_INLINE T number_of(word_of<T> exponent) {
    return static_cast<T>(static_cast<std::int32_t>(exponent >> (sizeof(T) * 8 - 32)) >> (format<T>::fraction & 31));
}
template <class T> REVAMP_MATH_INLINE parts<T> parts_of_normal(T x) {
    const word_of<T> e = exponent_of(x);
    return {from_bits<T>(bits(x) - e) - T(1), number_of<T>(e)};
}
// The parts of any x. If the logarithm of x is infinite or NaN, k has that value, and f = 0.
template <class T> REVAMP_MATH_INLINE parts<T> parts_of(T x) {
    T least = T(0);
    if (!is_positive_normal(x)) {
        const scaled<T> s = scale_rare(x);
        const bool number = is_finite(x) && !negative(x) && !is_zero(x);
        const T y = is_zero(x) ? -infinity<T>() : negative(x) && !is_nan(x) ? not_a_number<T>() : x;
        x = number ? s.significand : T(1);
        least = number ? static_cast<T>(s.exponent) : y;
    }
    const parts<T> p = parts_of_normal(x);
    return {p.f, p.k + least};
}
// (log(1 + f) - f) / f
template <class T> REVAMP_MATH_INLINE T log_tail(T f) {
    if constexpr (single<T>)
        return f * horner(f, -0x1.fffff8p-2, 0x1.55555p-2, -0x1.000432p-2, 0x1.99a42p-3, -0x1.542598p-3, 0x1.226dc6p-3,
                          -0x1.0f41e6p-3, 0x1.08607cp-3, -0x1.38350ep-4);
    else
        return f * horner(f, -0.5, 0x1.5555555555533p-2, -0x1.fffffffffeefbp-3, 0x1.999999999f782p-3,
                          -0x1.555555566ca0cp-3, 0x1.24924922a4916p-3, -0x1.ffffff2b0a534p-4, 0x1.c71c71dec16edp-4,
                          -0x1.9999c290ffb62p-4, 0x1.745d3f6e3402dp-4, -0x1.5550eb3c38d6ap-4, 0x1.3b0b7fdee148cp-4,
                          -0x1.24d7731b201fep-4, 0x1.11cd8c13f460bp-4, -0x1.fba082d60f537p-5, 0x1.d0522567695d3p-5,
                          -0x1.d11ca01776846p-5, 0x1.0a6dfd971f31ep-4, -0x1.ea26cbf627f5ep-5, 0x1.ac8b13ffa4c19p-6);
}
template <class T> REVAMP_MATH_INLINE T log_of(parts<T> p) {
    REVAMP_MATH_EXACT
    return mad(p.k, log_two_high<T>, p.f + mad(p.f, log_tail(p.f), p.k * log_two_low<T>));
}
template <class T> REVAMP_MATH_INLINE T log(T x) {
    REVAMP_MATH_EXACT
    const parts<T> p = parts_of(x);
    if constexpr (single<T>) {
        // With an fma that rounds once, log(2) needs no low part.
        if (fma_rounds_once()) return mad(p.k, T(0x1.62e43p-1), mad(p.f, log_tail(p.f), p.f));
    }
    return log_of(p);
}
// log(x) / log(b). `base` is 1 / log(b), `two_` is log(2) / log(b). Each of them is split into a high part with few
// digits and the remainder.
template <class T> REVAMP_MATH_INLINE T log_to_base(T x, two<T> base, two<T> two_) {
    REVAMP_MATH_EXACT
    const parts<T> p = parts_of(x);
    const T tail = p.f * log_tail(p.f), high = upper(p.f + tail), low = (p.f - high) + tail;
    const two<T> s = ordered_sum(p.k * two_.high, high * base.high);
    const T y = s.high + (s.low + mad(p.k, two_.low, mad(high, base.low, low * (base.high + base.low))));
    return is_finite(p.k) ? y : p.k;
}
template <class T> REVAMP_MATH_INLINE T log2(T x) {
    if constexpr (single<T>)
        return log_to_base(x, two<T>{T(0x1.714p+0), T(0x1.47652b82fe177p-12)}, two<T>{T(1), T(0)});
    else
        return log_to_base(x, two<T>{0x1.715476p+0, 0x1.4ae0bf85ddf44p-26}, two<T>{1, 0});
}
template <class T> REVAMP_MATH_INLINE T log10(T x) {
    if constexpr (single<T>)
        return log_to_base(x, two<T>{T(0x1.bcap-2), T(0x1.7b1526e50e32ap-14)},
                           two<T>{T(0x1.344p-2), T(0x1.3509f79fef312p-18)});
    else
        return log_to_base(x, two<T>{0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28},
                           two<T>{0x1.34413509f6p-2, 0x1.9fef311f12b36p-42});
}
// log(1 + x) without the rounding of 1 + x, plus `doublings` times log(2).
template <class T> REVAMP_MATH_INLINE T log1p_of(T x, T doublings) {
    REVAMP_MATH_EXACT
    const word_of<T> e = exponent_of(x + T(1));
    // 2^-k x + (2^-k - 1)
    const T scale = from_bits<T>(bits(T(4)) - e);
    const T a = from_bits<T>(bits(x) - e), b = mad(T(0.25), scale, T(-1)), f = a + b, low = a - (f - b);
    const T k = number_of<T>(e) + doublings;
    return mad(k, log_two_high<T>, f + mad(f, log_tail(f), mad(k, log_two_low<T>, low - low * f)));
}
template <class T> REVAMP_MATH_INLINE T log1p(T x) {
    T y = with_sign(log1p_of(x, T(0)), sign_of(x));
    if (bits(x) - infinite_bits<T> < sign_bit<T> - infinite_bits<T> || bits(x) >= (sign_bit<T> | one_bits<T>))
        y = !negative(x) || is_nan(x) ? x : bits(x) == (sign_bit<T> | one_bits<T>) ? -infinity<T>() : not_a_number<T>();
    return y;
}
template <class T> REVAMP_MATH_INLINE T expm1(T x) {
    REVAMP_MATH_EXACT
    T t = mad(x, T(0x1.71547652b82fep+0), magic<T>), n = t - magic<T>;
    if (fabs(x) < T(0.41)) n = T(0), t = magic<T>;
    const T h = mad(n, -log_two_high<T>, x), r = mad(n, -log_two_low<T>, h);
    T q;
    if constexpr (single<T>)
        q = horner(r, 0.5, 0x1.555554p-3, 0x1.55547cp-5, 0x1.111234p-7, 0x1.6dd052p-10, 0x1.a02986p-13);
    else
        q = horner(r, 0.5, 0x1.5555555555555p-3, 0x1.555555555556ep-5, 0x1.11111111110e8p-7, 0x1.6c16c16c0de4cp-10,
                   0x1.a01a01a02953ap-13, 0x1.a01a01cb49ff7p-16, 0x1.71de3a316ac0ep-19, 0x1.27e4955adf47ep-22,
                   0x1.ae648703501c4p-26, 0x1.1fd52560dac22p-29, 0x1.617f9cc8fc419p-33);
    const T tail = mad(r * r, q, mad(n, -log_two_low<T>, h - r));
    // Calculates half of the result, because e^x may be finite if 2^n is not.
    const T power = times_power_of_two(T(0.5), t), power_minus_half = power - T(0.5);
    const two<T> s = ordered_sum(power_minus_half, power * r);
    const T half = s.high + (mad(power, tail, s.low) + ((power - power_minus_half) - T(0.5)));
    const T y = x > (single<T> ? T(89) : T(710)) ? infinity<T>()
                : x < T(-50)                     ? T(-1)
                : fabs(x) < T(0x1p-60)           ? x
                                                 : half + half;
    return is_nan(x) ? x : with_sign(y, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T asinh(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x);
    const bool large = a > (single<T> ? T(0x1p26) : T(0x1p54));
    const T z = a * a;
    const T y = select(large, a, a + quotient(z, value(near_root(z + T(1))) + T(1)));
    return select(is_finite(x), with_sign(log1p_of(y, large ? T(1) : T(0)), sign_of(x)), x);
}
template <class T> REVAMP_MATH_INLINE T acosh(T x) {
    REVAMP_MATH_EXACT
    const bool large = x > (single<T> ? T(0x1p26) : T(0x1p54));
    const T t = x - T(1);
    const T y = log1p_of(select(large, t, t + value(near_root(mad(t, t, t + t)))), large ? T(1) : T(0));
    const T end = select(bits(x) == infinite_bits<T> || is_nan(x), x, not_a_number<T>());
    return select(bits(x) - one_bits<T> < infinite_bits<T> - one_bits<T>, y, end);
}
template <class T> REVAMP_MATH_INLINE T atanh(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x);
    const T y = select(a < T(0x1p-60), a, T(0.5) * log1p_of(quotient(a + a, T(1) - a), T(0)));
    const T end = select(magnitude(x) == one_bits<T>, infinity<T>(), not_a_number<T>());
    return with_sign(magnitude(x) < one_bits<T> ? y : end, sign_of(x));
}

// Powers.

// log(x) for x = 2^k (1 + f), with a dozen extra bits. With s = f / (2 + f), log(1 + f) = 2 atanh(s) = 2 s + s u.
template <class T> REVAMP_MATH_INLINE two<T> log_in_two(parts<T> p) {
    REVAMP_MATH_EXACT
    // The upper half of s and the rest.
    const T m = p.f + T(1), d = m + T(1), dh = upper(d), dl = m - (dh - T(1));
    const T y = REVAMP_MATH_QUOTIENT(T(1), d);
    const T sh = upper(p.f * y), sl = mad(-sh, dl, mad(-sh, dh, p.f)) * y, s = sh + sl;
    two<T> l; // 2 atanh(s) - 2 sl
    if constexpr (single<T>) {
        const T z = s * s;
        l = {sh + sh, s * z * horner(z, 0x1.555554p-1, 0x1.999c28p-2, 0x1.23d32ap-2, 0x1.f1597ep-3)};
    } else {
        const T square = sh * sh, rest = mad(sh + sh, sl, sl * sl), z = square + rest;
        const T zh = upper(z), zl = (square - zh) + rest;
        const T fifth = horner(z, 0x1.999999999999ap-2, 0x1.2492492492491p-2, 0x1.c71c71c71cff7p-3,
                               0x1.745d174511201p-3, 0x1.3b13b1bdb9604p-3, 0x1.1110df49dca19p-3, 0x1.e1f81bf33b7c7p-4,
                               0x1.ac479c05883d9p-4, 0x1.b8eeb7095f448p-4);
        // u = 2 / 3 z + ...; the first term has all its digits
        const T two_thirds = T(0x1.5555555555555p-1), short_ = T(0x1.555555p-1), first = zh * short_;
        const T more = mad(zh, T(0x1.5555555555555p-27), mad(zl, two_thirds, z * z * fifth));
        const T uh = upper(first + more), ul = (first - uh) + more;
        const two<T> r = ordered_sum(sh + sh, sh * uh);
        l = {r.high, r.low + mad(sh, ul, sl * (uh + ul))};
    }
    const two<T> r = ordered_sum(p.k * log_two_high<T>, l.high);
    const T low = r.low + mad(p.k, log_two_low<T>, (sl + sl) + l.low);
    return ordered_sum(r.high, low);
}
// True if the C standard defines x^y as a special case; `result` is then x^y. Else `result` is the sign of x^y, 1 or
// -1, by which the caller multiplies |x|^y.
template <class T> REVAMP_MATH_INLINE bool pow_special(T x, T y, T *result) {
    const word_of<T> size = magnitude(x);
    const bool whole = trunc(y) == y, odd = whole && trunc(T(0.5) * y) != T(0.5) * y;
    const bool none = is_nan(x) || is_nan(y), ends = size == 0 || size == infinite_bits<T>;
    const bool up = is_infinite(y) ? (size > one_bits<T>) != negative(y) : (size == 0) == negative(y);
    const word_of<T> sign = negative(x) && odd && !is_infinite(y) ? sign_bit<T> : 0;
    const T end = from_bits<T>(sign | (up ? infinite_bits<T> : word_of<T>(0)));
    const bool one = is_zero(y) || bits(x) == one_bits<T> || (is_infinite(y) && size == one_bits<T>);
    *result = one ? T(1) : none ? not_a_number<T>() : ends || is_infinite(y) ? end : from_bits<T>(sign | one_bits<T>);
    if (negative(x) && !whole && !ends && !one) *result = not_a_number<T>();
    return one || none || ends || is_infinite(y) || (negative(x) && !whole);
}
template <class T> REVAMP_MATH_INLINE T pow(T x, T y) {
    REVAMP_MATH_EXACT
    T factor = T(1), least = T(0);
    const T limit = single<T> ? T(0x1p60) : T(0x1p80); // for larger |y| the result is 0, 1 or infinite anyway
    if (!is_positive_normal(x) || !is_within(y, limit)) {
        const bool special = pow_special(x, y, &factor);
        const scaled<T> s = scale_rare(x);
        x = special ? T(1) : s.significand;
        least = special ? T(0) : static_cast<T>(s.exponent);
        y = special ? T(0) : is_within(y, limit) ? y : with_sign(limit, sign_of(y));
    }
    const parts<T> p = parts_of_normal(x);
    const two<T> l = log_in_two(parts<T>{p.f, p.k + least});
    const T e = l.high * y;
    const powers<T> r = exp_of(e, mad(l.low, y, product_minus(l.high, y, e)));
    return exp_result(e, r, single<T> ? T(86) : T(707), single<T> ? T(104) : T(746)) * factor;
}

// Trigonometric functions.

// x = quadrant pi / 2 + rest + low, for x >= 0. If `All`, the sum includes the rounding error of the first step, up to
// half an ulp. `fused`: fma_rounds_once().
template <class T> struct reduced_angle {
    T rest, low;
    int quadrant;
};
template <bool All = false, class T> REVAMP_MATH_INLINE reduced_angle<T> reduce_to_quadrant(T x, bool fused) {
    REVAMP_MATH_EXACT
    const T t = mad(x, T(0x1.45f306dc9c883p-1), magic<T>), n = t - magic<T>;
    T first, second, third, fourth; // -pi / 2 in parts; n times each but the last is exact
    if constexpr (single<T>)
        first = T(-0x1.921p+0), second = T(-0x1.f6ap-13), third = T(-0x1.11p-26), fourth = T(-0x1.68c234c4c6629p-39);
    else
        first = T(-0x1.921fb54p+0), second = T(-0x1.10b46118p-30), third = T(-0x1.313198ap-61),
        fourth = T(-0x1.701b839a25205p-92);
    reduced_angle<T> y = {T(0), T(0), static_cast<int>(bits(t))};
    if ((single<T> || !All) && fused) {
        // The first mad() is exact. Each of the others loses less than half an ulp of `rest`; `low` is not used.
        if constexpr (single<T>)
            y.rest = mad(n, T(0x1.ee59dap-50), mad(n, T(0x1.777a5cp-25), mad(n, T(-0x1.921fb6p+0), x)));
        else
            y.rest = mad(n, T(0x1.f1976b7ed8fbcp-110),
                         mad(n, T(-0x1.1a62633145c07p-54), mad(n, T(-0x1.921fb54442d18p+0), x)));
    } else {
        const T f = mad(n, first, x), g = mad(n, second, f), h = mad(n, third, g);
        T rest = mad(n, fourth, mad(n, third, g - h));
        if constexpr (All) rest += mad(n, second, f - g);
        y.rest = h + rest, y.low = (h - y.rest) + rest;
    }
    if (!is_within(x, single<T> ? T(3200) : T(0x1p18))) {
        const quarter_turns<T> distant = reduce_far(is_finite(x) ? x : T(0x1p30));
        y = {is_finite(x) ? distant.rest.high : not_a_number<T>(), distant.rest.low, distant.quadrant};
    }
    return y;
}
template <bool Low, class T> REVAMP_MATH_INLINE T sin_poly(T r, T low) {
    REVAMP_MATH_EXACT
    const T z = r * r;
    T p;
    if constexpr (single<T>)
        p = horner(z, -0x1.555546p-3, 0x1.110778p-7, -0x1.9953fep-13);
    else
        p = horner(z, -0x1.5555555555548p-3, 0x1.111111110f7c6p-7, -0x1.a01a019bfcb7dp-13, 0x1.71de3566c9e0ap-19,
                   -0x1.ae5e59c2bea5dp-26, 0x1.5d8f95a701111p-33);
    if constexpr (!Low) return mad(r * z, p, r);
    return r + mad(r * z, p, low);
}
template <bool Low, class T> REVAMP_MATH_INLINE T cos_poly(T r, T low) {
    REVAMP_MATH_EXACT
    const T z = Low ? mad(r, r, (r + r) * low) : r * r;
    T p;
    if constexpr (single<T>)
        p = horner(z, -0.5, 0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e838p-16);
    else
        p = horner(z, -0.5, 0x1.555555555554bp-5, -0x1.6c16c16c14f89p-10, 0x1.a01a019c83816p-16, -0x1.27e4f7ea30e30p-22,
                   0x1.1ee9d7502d694p-29, -0x1.8fa46579f0bd8p-37);
    return mad(z, p, T(1));
}
template <class T> REVAMP_MATH_INLINE word_of<T> sign_if(int bit) {
    return static_cast<word_of<T>>(static_cast<std::uint32_t>(bit & 2)) << (sizeof(T) * 8 - 2);
}
// Returns the sine, or the cosine if `more` is 1.
template <bool Low, class T> REVAMP_MATH_INLINE T sin_of(reduced_angle<T> t, int more) {
    const int quadrant = t.quadrant + more;
    const T s = sin_poly<Low>(t.rest, t.low), c = cos_poly<Low>(t.rest, t.low);
    return flip((quadrant & 1) != 0 ? c : s, sign_if<T>(quadrant));
}
// As `sin_of`, for an angle of reduce_to_quadrant().
template <class T> REVAMP_MATH_INLINE T sin_of_reduced(reduced_angle<T> t, int more, bool fused) {
    if constexpr (!single<T>)
        if (!fused) return sin_of<true>(t, more);
    return sin_of<false>(t, more);
}
template <class T> REVAMP_MATH_INLINE T sin(T x) {
    const bool fused = fma_rounds_once();
    return flip(sin_of_reduced(reduce_to_quadrant(fabs(x), fused), 0, fused), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T cos(T x) {
    const bool fused = fma_rounds_once();
    return sin_of_reduced(reduce_to_quadrant(fabs(x), fused), 1, fused);
}
template <class T> REVAMP_MATH_INLINE void sincos(T x, T *sine, T *cosine) {
    const bool fused = fma_rounds_once();
    const reduced_angle<T> t = reduce_to_quadrant(fabs(x), fused);
    *sine = flip(sin_of_reduced(t, 0, fused), sign_of(x));
    *cosine = sin_of_reduced(t, 1, fused);
}
template <class T> REVAMP_MATH_INLINE T tan_of_reduced(reduced_angle<T> t) {
    REVAMP_MATH_EXACT
    const T r = t.rest, z = r * r;
    T p;
    if constexpr (single<T>)
        p = horner(z, 0x1.5554dep-2, 0x1.112de8p-3, 0x1.b585f2p-5, 0x1.9068c2p-6, 0x1.972fa4p-9, 0x1.33c8b8p-7);
    else
        p = horner(z, 0x1.55555555554f1p-2, 0x1.1111111118392p-3, 0x1.ba1ba1b4639e5p-5, 0x1.664f49a9c2edcp-6,
                   0x1.226e1237642b0p-7, 0x1.d6d938634f009p-9, 0x1.7d5b266c53917p-10, 0x1.37fc419734644p-11,
                   0x1.d25d3783b7386p-13, 0x1.1e50505b1d599p-13, -0x1.baa8e6002f27ep-16, 0x1.772e6261ed333p-14,
                   -0x1.78706fcc4e8a8p-15, 0x1.5e0527be03390p-16);
    const T y = mad(r * z, p, r);
    two<T> w = {y, T(0)};
    if constexpr (!single<T>) w = ordered_sum(r, mad(r * z, p, t.low * mad(y, y, T(1))));
    const T inverse = -reciprocal(w);
    return (t.quadrant & 1) != 0 ? inverse : w.high;
}
template <class T> REVAMP_MATH_INLINE T tan(T x) {
    return flip(tan_of_reduced(reduce_to_quadrant<!single<T>>(fabs(x), fma_rounds_once())), sign_of(x));
}

// pi |x|, reduced. For integers and halves of integers, `rest` is exactly zero.
template <class T> REVAMP_MATH_INLINE reduced_angle<T> reduce_times_pi(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x), b = mad(T(-2), trunc(T(0.5) * a), a);
    const T t = (b + b) + magic<T>, r = mad(T(-0.5), t - magic<T>, b);
    const two<T> pi = constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
    const T h = r * pi.high, low = mad(r, pi.low, product_minus(r, pi.high, h));
    return {h, fabs(r) < T(0x1p-60) ? T(0) : low, static_cast<int>(bits(t))};
}
template <class T> REVAMP_MATH_INLINE T sinpi(T x) {
    const reduced_angle<T> t = reduce_times_pi(x);
    const T y = select(t.rest == T(0) && (t.quadrant & 1) == 0, T(0), sin_of<true>(t, 0));
    return select(is_finite(x), flip(y, sign_of(x)), not_a_number<T>());
}
template <class T> REVAMP_MATH_INLINE T cospi(T x) {
    const reduced_angle<T> t = reduce_times_pi(x);
    const T y = select(t.rest == T(0) && (t.quadrant & 1) != 0, T(0), sin_of<true>(t, 1));
    return select(is_finite(x), y, not_a_number<T>());
}

// atan(t) for t in [0, 1].
template <class T> REVAMP_MATH_INLINE T atan_poly(T t) {
    REVAMP_MATH_EXACT
    const T z = t * t;
    T p;
    if constexpr (single<T>)
        p = horner(z, -0x1.5554dcp-2, 0x1.9978ecp-3, -0x1.230a9ep-3, 0x1.b4df5cp-4, -0x1.35530ep-4, 0x1.61f5a4p-5,
                   -0x1.0c2272p-6, 0x1.7ebfc6p-9);
    else
        p = horner(z, -0x1.555555555544bp-2, 0x1.9999999984077p-3, -0x1.2492491fa092cp-3, 0x1.c71c709dd92d8p-4,
                   -0x1.745d022d9a3a0p-4, 0x1.3b12b2c981f5ap-4, -0x1.11089c3525c02p-4, 0x1.e1780f7044df5p-5,
                   -0x1.ad329dfb545a0p-5, 0x1.7ee3a740e1ba9p-5, -0x1.4f44783fb772fp-5, 0x1.1714c17d39438p-5,
                   -0x1.a723d8adc5125p-6, 0x1.16297e363f72cp-6, -0x1.2cf3679954ee7p-7, 0x1.f964449bdceb0p-9,
                   -0x1.312414922c2e6p-10, 0x1.d3b022bb5a9bap-13, -0x1.53dcd8859f93fp-16);
    return mad(t * z, p, t);
}
// m pi / 2 + f x
template <class T> REVAMP_MATH_INLINE T plus_quarters(T m, T f, two<T> x) {
    REVAMP_MATH_EXACT
    const two<T> q = constant<T>(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54);
    return m * q.high + (f * x.high + (m * q.low + f * x.low));
}
template <class T> REVAMP_MATH_INLINE T atan(T x) {
    const T a = fabs(x);
    const bool steep = a > T(1);
    const auto inverse = [a] { return select(a < T(0x1p60), reciprocal(a), T(0)); };
    T t;
    if constexpr (single<T>)
        t = select(steep, inverse(), a);
    else
        t = steep ? inverse() : a;
    const T y = atan_poly(t), z = plus_quarters(T(1), T(-1), two<T>{y, T(0)});
    return with_sign(steep ? z : y, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T atan2(T y, T x) {
    REVAMP_MATH_EXACT
    const bool steep = magnitude(y) > magnitude(x);
    T large = fabs(steep ? y : x), small = fabs(steep ? x : y);
    const word_of<T> least = bits(single<T> ? T(0x1p-60) : T(0x1p-500)),
                     most = bits(single<T> ? T(0x1p60) : T(0x1p500));
    const bool distant = bits(large) - least >= most - least || (bits(small) < least && !is_zero(small));
    int exponent_difference = 0;
    if (distant) {
        const bool none = is_zero(large) || (is_infinite(large) && !is_infinite(small));
        const scaled<T> n = scale_rare(small), d = scale_rare(large);
        const int limit = format<T>::bias + format<T>::fraction + 20, below = n.exponent - d.exponent;
        exponent_difference = none || is_infinite(large) || is_zero(small) ? 0 : below < -limit ? -limit : below;
        small = none || is_zero(small) ? T(0) : n.significand;
        large = none ? T(1) : d.significand;
        if (exponent_difference >= -40)
            small *= power_of_two<T>(exponent_difference), exponent_difference = 0; // atan(q) still differs from q
    }
    const T q = quotient(small, large);
    T r = atan_poly(q);
    if (exponent_difference != 0) r = times_power(q, exponent_difference);
    const bool back = negative(x);
    r = plus_quarters(steep ? T(1) : back ? T(2) : T(0), steep != back ? T(-1) : T(1), two<T>{r, T(0)});
    return select(is_nan(x) || is_nan(y), not_a_number<T>(), with_sign(r, sign_of(y)));
}
// (asin(x) - x) / x, for z = x^2 in [0, 1/4].
template <class T> REVAMP_MATH_INLINE T asin_tail(T z) {
    if constexpr (single<T>)
        return z * horner(z, 0x1.5555cap-3, 0x1.33015cp-4, 0x1.748cdp-5, 0x1.8b8f46p-6, 0x1.59f666p-5);
    else
        return z * horner(z, 0x1.5555555555578p-3, 0x1.333333332de9ap-4, 0x1.6db6db72322abp-5, 0x1.f1c71a88acbdbp-6,
                          0x1.6e8be044cdd06p-6, 0x1.1c49d696bbf02p-6, 0x1.ca220955e732ap-7, 0x1.7570a5d2a869dp-7,
                          0x1.61b4c36fbb602p-7, 0x1.deae9a551552fp-9, 0x1.65e104ecd4534p-6, -0x1.5b46a09716b02p-6,
                          0x1.0c53c8f3a3a24p-5);
}
// asin(a), or if `high`, asin(sqrt((1 - a) / 2)), for a in [0, 1].
template <class T> REVAMP_MATH_INLINE two<T> asin_of(T a, bool high) {
    REVAMP_MATH_EXACT
    const T h = T(0.5) - T(0.5) * a, square = a * a, z = high ? h : square;
    two<T> s = {a, T(0)};
    if constexpr (single<T>) {
        const two<T> root = near_root(h);
        s = {high ? root.high : a, high ? root.low : T(0)};
    } else {
        if (high) s = near_root(h);
    }
    return {s.high, mad(s.high, asin_tail(z), s.low)};
}
template <class T> REVAMP_MATH_INLINE T asin(T x) {
    const T a = fabs(x);
    const bool high = a > T(0.5);
    const two<T> s = asin_of(a, high);
    const T y = plus_quarters(T(1), T(-2), s), z = value(s);
    return select(magnitude(x) <= one_bits<T>, with_sign(high ? y : z, sign_of(x)), not_a_number<T>());
}
template <class T> REVAMP_MATH_INLINE T acos(T x) {
    const T a = fabs(x);
    const bool high = a > T(0.5);
    const two<T> s = asin_of(a, high);
    // |x| <= 1/2: pi / 2 - s, or pi / 2 + s for a negative x. Larger |x|: 2 s, or pi - 2 s for a negative x.
    const T f = high ? T(2) : T(-1);
    const T y = plus_quarters(high ? (negative(x) ? T(2) : T(0)) : T(1), negative(x) ? -f : f, s);
    return select(magnitude(x) <= one_bits<T>, y, not_a_number<T>());
}

// Error functions.

// erf(x) = x + x p(x^2) for |x| <= 1.
template <class T> REVAMP_MATH_INLINE T erf_poly(T x) {
    const T z = x * x;
    T p;
    if constexpr (single<T>)
        p = horner(z, 0x1.06eba8p-3, -0x1.812740p-2, 0x1.ce2d64p-4, -0x1.b80118p-6, 0x1.5449eap-8, -0x1.a60754p-11,
                   0x1.4f599ap-14);
    else
        p = horner(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b20p-4, -0x1.b82ce31284993p-6,
                   0x1.565bcd0db01e3p-8, -0x1.c02db3d8eb193p-11, 0x1.f9a321a0f4fd3p-14, -0x1.f4d1df375a86bp-17,
                   0x1.b9def190e8da3p-20, -0x1.5f1d36a8410fbp-23, 0x1.f7a41420e7ac0p-27, -0x1.386acef21490dp-30,
                   0x1.0579e46a48095p-34);
    // For a tiny x the product might be flushed to zero; erf(x) is 2 / sqrt(pi) x there.
    const T tiny = x * T(0x1.20dd750429b6dp+0), y = mad(x, p, x);
    return select(!fma_rounds_once() && fabs(x) < T(0x1p-60), tiny, y);
}
// 1 - e^x for x in [-40, -1]
template <class T> REVAMP_MATH_INLINE T one_minus_exp(T x) {
    REVAMP_MATH_EXACT
    if constexpr (single<T>)
        // A fraction of the errors of the product and of the device's 2^x reaches the result.
        if (powers_are_accurate()) return T(1) - REVAMP_MATH_EXP2(x * T(0x1.715476p+0));
    const powers<T> e = exp_of(x, T(0));
    return T(1) - times_power_of_two(e.y, e.t);
}
// erf(x), for larger |x| as 1 - e^(-|x| - |x| p(|x|)).
template <class T> REVAMP_MATH_INLINE T erf(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x), limit = single<T> ? T(4) : T(6), b = a > limit ? limit : a;
    T p;
    if constexpr (single<T>)
        p = horner(b, 0x1.077aecp-3, 0x1.453076p-1, 0x1.b3411ap-4, -0x1.85b084p-6, 0x1.ded434p-9, -0x1.553e08p-12,
                   0x1.81a75ep-17);
    else
        p = horner(b, 0x1.06eb7fc5ebb7dp-3, 0x1.45f36448a1a0cp-1, 0x1.a4e873e7eef7dp-4, -0x1.38e5e26fd6da8p-6,
                   -0x1.1367f0498c65dp-12, 0x1.cdcb7045da19cp-10, -0x1.52ae18b1784d0p-11, 0x1.d6b2c55bcc5d8p-15,
                   0x1.f490b575cd5eep-15, -0x1.4184dac9e1331p-15, 0x1.c344662ffaed5p-17, -0x1.b7d8dfa8d830cp-19,
                   0x1.3745ac4dc30f6p-21, -0x1.3ccb212f64a3dp-24, 0x1.b9dd724d7c4f9p-28, -0x1.7b1b64a897c56p-32,
                   0x1.2e12c9f899acdp-37);
    const T power = mad(-b, p, -b);
    T y;
    if constexpr (single<T>)
        y = select(a < T(0.9277), erf_poly(a), one_minus_exp(power));
    else
        y = a < T(1) ? erf_poly(a) : one_minus_exp(power);
    return select(is_nan(x), x, with_sign(y, sign_of(x)));
}
// erfc(a) = e^(-a^2) g / (1 + 2 a) for a >= 1/2. g is a polynomial in (a - middle) / (a + middle).
template <class T> REVAMP_MATH_INLINE T erfc_far(T a) {
    REVAMP_MATH_EXACT
    const T middle = single<T> ? T(2) : T(4), q = quotient(a - middle, a + middle);
    T g;
    if constexpr (single<T>)
        g = horner(q, 0x1.46e80ep+0, -0x1.7bf5cep-4, -0x1.540760p-3, 0x1.4ff878p-3, -0x1.bc4212p-5, -0x1.06873ap-7,
                   0x1.1fcecap-7, 0x1.3f6b78p-10, -0x1.a3c66cp-10, -0x1.c03e36p-12, 0x1.56d756p-12, 0x1.560c0cp-13);
    else
        g = horner(q, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a2a8p-3, 0x1.f7f5df66fb9c8p-7, 0x1.16ecefcfa68e7p-4,
                   -0x1.9ddb23c3dc260p-4, 0x1.7fee004de9698p-4, -0x1.0fb06dff62d52p-4, 0x1.3079edfad3015p-5,
                   -0x1.096238534a567p-6, 0x1.49c67195772ecp-8, -0x1.8d4ac33d38ff5p-11, -0x1.a1deb46b5cd1ep-13,
                   0x1.3be2e9b8e01f8p-13, -0x1.995f9912548eap-16, -0x1.78f5686daf9fap-17, 0x1.7f293ef26b0fdp-18,
                   0x1.50f1e1176cc2bp-22, -0x1.b87716b0cb39cp-21, 0x1.d997654e2dc44p-25, 0x1.b46237b3dadc6p-24,
                   -0x1.125d6904ed8fep-27, -0x1.1f938f72bbd75p-27);
    const T square = a * a;
    const powers<T> e = exp_of(-square, -product_minus(a, a, square));
    const T distant = times_power(e.y * quotient(g, mad(T(2), a, T(1))), static_cast<int>(e.n));
    return a < (single<T> ? T(10.1) : T(27.3)) ? distant : T(0);
}
template <class T> REVAMP_MATH_INLINE T erfc(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x), y = a < T(0.5) ? T(1) - erf_poly(a) : erfc_far(a);
    return select(is_nan(x), x, select(negative(x), T(2) - y, y));
}

} // namespace close
namespace precise {
using close::rcbrt; // the same in both sets
using close::sqrt;  // correctly rounded in both sets
} // namespace precise
REVAMP_DETAIL_END

#undef REVAMP_MATH_INVERSE_ROOT
#undef REVAMP_MATH_FUSED
#undef REVAMP_MATH_DEVICE_PROPERTY
#undef REVAMP_MATH_EXP2
#undef REVAMP_MATH_INVERSE_ROOT_OF_DOUBLE
#undef REVAMP_MATH_LOG2

#endif
