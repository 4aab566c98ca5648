// The functions of precise_math for devices. Those for float calculate in float only, those for double in double and
// integers. They need no calls, recursion or memory, and no tables except the digits of 2/pi. docs/maths.md has the
// measured bounds.
//
// The functions rely only on what Vulkan guarantees: + - * are correctly rounded (the kernel compiler forbids
// contraction), but a division may be off by 2.5 ulp and sqrt by 3 ulp, and an fma may round twice. So exact steps use
// only + - *, and critical quotients and roots are corrected by their residuals. NaN, infinities and subnormal numbers
// are recognised by their bits, because a device may assume that there are none, or flush them to zero.
//
// Most functions work on sums of two numbers, high + low with |low| below an ulp of high, and round once at the end.
// The polynomials interpolate at Chebyshev nodes, except those of erf and lgamma, which are from FreeBSD's msun:
//
//     Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//     Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and distribute this
//     software is freely granted, provided that this notice is preserved.
//
// This file is compiled as device code, and by tests/cpp/maths, which runs the functions on the host.
#ifndef REVAMP_DETAIL_DEVICE_PRECISE_H
#define REVAMP_DETAIL_DEVICE_PRECISE_H

#include "config.h"
#include "device_abi.h"

#include <cmath>
#include <cstdint>

// Tests may define REVAMP_MATH_QUOTIENT and REVAMP_MATH_ROOT with less exact operations.
#ifndef REVAMP_MATH_QUOTIENT
#if REVAMP_DEVICE_PASS
#define REVAMP_MATH_QUOTIENT(x, y) revamp::detail::precise::native_quotient(x, y)
#else
#define REVAMP_MATH_QUOTIENT(x, y) ((x) / (y))
#endif
#define REVAMP_MATH_ROOT(x) revamp::detail::precise::native_root(x)
#endif
#define REVAMP_MATH_INLINE REVAMP_DEVICE __attribute__((always_inline)) inline

// Functions that rely on the rounding of each operation begin with this macro. Whatever the options of the compilation,
// their operations do not have LLVM's flags `contract`, `reassoc` and `arcp`, and the kernel compiler marks them
// NoContraction.
#if defined(__clang__) && __clang_major__ >= 18
#define REVAMP_MATH_EXACT _Pragma("clang fp contract(off) reassociate(off) reciprocal(off)")
#elif defined(__clang__)
// Clang before 18 has no `reciprocal`.
#define REVAMP_MATH_EXACT _Pragma("clang fp contract(off) reassociate(off)")
#else
#define REVAMP_MATH_EXACT
#endif

REVAMP_DETAIL_BEGIN
namespace precise {

#if REVAMP_DEVICE_PASS
// The device's division, with an error of up to 2.5 ulp.
REVAMP_MATH_INLINE float native_quotient(float x, float y) {
    return __revamp_fast_quotient_f32(x, y);
}
REVAMP_MATH_INLINE double native_quotient(double x, double y) {
    return x / y;
}
#endif

using word64 = std::uint64_t;

template <class T> struct format;
template <> struct format<float> {
    using word = std::uint32_t;
    static constexpr bool single = true;
    static constexpr int fraction = 23, bias = 127;
    static constexpr word upper_half = 0xfffff000U;
};
template <> struct format<double> {
    using word = std::uint64_t;
    static constexpr bool single = false;
    static constexpr int fraction = 52, bias = 1023;
    static constexpr word upper_half = 0xfffffffff8000000U;
};
template <class T> using word_of = typename format<T>::word;

// Bits.

template <class T> REVAMP_MATH_INLINE word_of<T> bits(T x) {
    return __builtin_bit_cast(word_of<T>, x);
}
template <class T> REVAMP_MATH_INLINE T from_bits(word_of<T> x) {
    return __builtin_bit_cast(T, x);
}
template <class T> constexpr word_of<T> sign_bit = word_of<T>(1) << (sizeof(T) * 8 - 1);
template <class T> constexpr word_of<T> leading_one = word_of<T>(1) << format<T>::fraction;
template <class T> constexpr word_of<T> infinite_bits = word_of<T>(2 * format<T>::bias + 1) << format<T>::fraction;
template <class T> constexpr word_of<T> one_bits = word_of<T>(format<T>::bias) << format<T>::fraction;

template <class T> REVAMP_MATH_INLINE T infinity() {
    return from_bits<T>(infinite_bits<T>);
}
template <class T> REVAMP_MATH_INLINE T not_a_number() {
    return from_bits<T>(infinite_bits<T> | (leading_one<T> >> 1));
}
template <class T> REVAMP_MATH_INLINE word_of<T> magnitude(T x) {
    return bits(x) & ~sign_bit<T>;
}
template <class T> REVAMP_MATH_INLINE word_of<T> sign_of(T x) {
    return bits(x) & sign_bit<T>;
}
template <class T> REVAMP_MATH_INLINE bool negative(T x) {
    return sign_of(x) != 0;
}
template <class T> REVAMP_MATH_INLINE bool is_nan(T x) {
    return magnitude(x) > infinite_bits<T>;
}
template <class T> REVAMP_MATH_INLINE bool is_infinite(T x) {
    return magnitude(x) == infinite_bits<T>;
}
template <class T> REVAMP_MATH_INLINE bool is_finite(T x) {
    return magnitude(x) < infinite_bits<T>;
}
template <class T> REVAMP_MATH_INLINE bool is_zero(T x) {
    return magnitude(x) == 0;
}
template <class T> REVAMP_MATH_INLINE T with_sign(T x, word_of<T> sign) {
    return from_bits<T>(magnitude(x) | sign);
}
template <class T> REVAMP_MATH_INLINE T flip(T x, word_of<T> sign) {
    return from_bits<T>(bits(x) ^ sign);
}
template <class T> REVAMP_MATH_INLINE T fabs(T x) {
    return from_bits<T>(magnitude(x));
}
template <class T> REVAMP_MATH_INLINE T copysign(T x, T y) {
    return with_sign(x, sign_of(y));
}

REVAMP_MATH_INLINE int leading_zeros(std::uint32_t x) {
    return x == 0 ? 32 : __builtin_clz(x);
}
REVAMP_MATH_INLINE int leading_zeros(std::uint64_t x) {
    const std::uint32_t high = static_cast<std::uint32_t>(x >> 32);
    return high != 0 ? leading_zeros(high) : 32 + leading_zeros(static_cast<std::uint32_t>(x));
}

// |x| = significand * 2^exponent, with the leading one at bit `fraction`. x must be finite and not zero.
template <class T> struct pieces {
    word_of<T> significand;
    int exponent;
};
template <class T> REVAMP_MATH_INLINE pieces<T> decompose(T x) {
    const word_of<T> m = magnitude(x);
    const int biased = static_cast<int>(m >> format<T>::fraction);
    if (biased == 0) {
        const int shift = leading_zeros(m) - (static_cast<int>(sizeof(T)) * 8 - 1 - format<T>::fraction);
        return {m << shift, 1 - format<T>::bias - format<T>::fraction - shift};
    }
    return {(m & (leading_one<T> - 1)) | leading_one<T>, biased - format<T>::bias - format<T>::fraction};
}
// The inverse of the function above, rounded to nearest even. The leading one of the significand may be below bit
// `fraction`.
template <class T> REVAMP_MATH_INLINE T compose(word_of<T> sign, word_of<T> significand, int exponent) {
    if (significand == 0) return from_bits<T>(sign);
    const int shift = leading_zeros(significand) - (static_cast<int>(sizeof(T)) * 8 - 1 - format<T>::fraction);
    significand <<= shift;
    const int biased = exponent - shift + format<T>::bias + format<T>::fraction;
    if (biased > 2 * format<T>::bias) return from_bits<T>(sign | infinite_bits<T>);
    if (biased >= 1)
        return from_bits<T>(sign | ((word_of<T>(biased) << format<T>::fraction) + (significand - leading_one<T>)));
    if (biased < -format<T>::fraction) return from_bits<T>(sign);
    const int down = 1 - biased;
    const word_of<T> kept = significand >> down, lost = significand & ((word_of<T>(1) << down) - 1);
    const word_of<T> half = word_of<T>(1) << (down - 1);
    const bool up = lost > half || (lost == half && (kept & 1) != 0);
    return from_bits<T>(sign | (kept + (up ? 1 : 0)));
}

template <class T> REVAMP_MATH_INLINE T ldexp(T x, int n) {
    const int biased = static_cast<int>(magnitude(x) >> format<T>::fraction);
    if (biased > 2 * format<T>::bias || is_zero(x)) return x;
    const int limit = 4 * format<T>::bias;
    n = n > limit ? limit : n < -limit ? -limit : n;
    // Fast path: by far the most frequent case.
    if (biased > 0 && biased + n > 0 && biased + n <= 2 * format<T>::bias)
        return from_bits<T>(bits(x) + (static_cast<word_of<T>>(n) << format<T>::fraction));
    const pieces<T> p = decompose(x);
    return compose<T>(sign_of(x), p.significand, p.exponent + n);
}
// 2^n, a normal number.
template <class T> REVAMP_MATH_INLINE T power_of_two(int n) {
    return from_bits<T>(word_of<T>(n + format<T>::bias) << format<T>::fraction);
}
// x 2^n, rounded once, for an x near 1 and |n| up to twice the largest exponent of normal numbers.
template <class T> REVAMP_MATH_INLINE T times_power(T x, int n) {
    const int half = n / 2;
    return x * power_of_two<T>(half) * power_of_two<T>(n - half);
}

// Operations that every device has.
REVAMP_MATH_INLINE float native_root(float x) {
    return __builtin_sqrtf(x);
}
REVAMP_MATH_INLINE double native_root(double x) {
    return __builtin_sqrt(x);
}
#define REVAMP_MATH_NATIVE(name)                                                                                       \
    REVAMP_MATH_INLINE float name(float x) {                                                                           \
        return __builtin_##name##f(x);                                                                                 \
    }                                                                                                                  \
    REVAMP_MATH_INLINE double name(double x) {                                                                         \
        return __builtin_##name(x);                                                                                    \
    }
REVAMP_MATH_NATIVE(ceil)
REVAMP_MATH_NATIVE(floor)
REVAMP_MATH_NATIVE(rint)
REVAMP_MATH_NATIVE(trunc)
#undef REVAMP_MATH_NATIVE
// Rounds once only if the device's fma rounds once.
REVAMP_MATH_INLINE float fma(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
REVAMP_MATH_INLINE double fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}

// Evaluates a polynomial. The constant coefficient comes first.
template <class T> REVAMP_MATH_INLINE T polynomial(T, double c) {
    return static_cast<T>(c);
}
template <class T, class... C> REVAMP_MATH_INLINE T polynomial(T x, double c, C... more) {
    return static_cast<T>(c) + x * polynomial(x, more...);
}

// Arithmetic on unevaluated sums of two numbers.

template <class T> struct two { T high, low; };
// A constant, given to 106 bits.
template <class T> REVAMP_MATH_INLINE two<T> constant(double high, double low) {
    REVAMP_MATH_EXACT
    const T first = static_cast<T>(high);
    return {first, static_cast<T>(high - static_cast<double>(first) + low)};
}
// a + b exactly; ordered_sum requires |a| >= |b| or a = 0.
template <class T> REVAMP_MATH_INLINE two<T> sum(T a, T b) {
    REVAMP_MATH_EXACT
    const T s = a + b, c = s - a;
    return {s, (a - (s - c)) + (b - c)};
}
template <class T> REVAMP_MATH_INLINE two<T> ordered_sum(T a, T b) {
    REVAMP_MATH_EXACT
    const T s = a + b;
    return {s, b - (s - a)};
}
template <class T> REVAMP_MATH_INLINE T value(two<T> a) {
    REVAMP_MATH_EXACT
    return a.high + a.low;
}
// a b: exact in float, and with a relative error of 2^-107 in double.
template <class T> REVAMP_MATH_INLINE two<T> product(T a, T b) {
    REVAMP_MATH_EXACT
    const T p = a * b;
    const T ah = from_bits<T>(bits(a) & format<T>::upper_half), al = a - ah;
    const T bh = from_bits<T>(bits(b) & format<T>::upper_half), bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
template <class T> REVAMP_MATH_INLINE two<T> add(two<T> a, two<T> b) {
    REVAMP_MATH_EXACT
    const two<T> s = sum(a.high, b.high);
    return ordered_sum(s.high, s.low + (a.low + b.low));
}
template <class T> REVAMP_MATH_INLINE two<T> negate(two<T> a) {
    return {-a.high, -a.low};
}
template <class T> REVAMP_MATH_INLINE two<T> multiply(two<T> a, two<T> b) {
    REVAMP_MATH_EXACT
    const two<T> p = product(a.high, b.high);
    return ordered_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
// x c for an x so small that a device could flush the low part of product() to zero.
template <class T> REVAMP_MATH_INLINE T tiny_times(T x, two<T> c) {
    return with_sign(value(multiply(two<T>{x * T(0x1p60), T(0)}, c)) * T(0x1p-60), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE two<T> divide(two<T> a, two<T> b) {
    REVAMP_MATH_EXACT
    const T q = REVAMP_MATH_QUOTIENT(a.high, b.high);
    const two<T> p = product(q, b.high);
    const T rest = ((a.high - p.high) - p.low) + (a.low - q * b.low);
    return ordered_sum(q, REVAMP_MATH_QUOTIENT(rest, b.high));
}
// a / b, rounded once, if it is far from overflow and underflow.
template <class T> REVAMP_MATH_INLINE T divide(T a, T b) {
    return value(divide(two<T>{a, T(0)}, two<T>{b, T(0)}));
}
template <class T> REVAMP_MATH_INLINE two<T> root(two<T> a) {
    REVAMP_MATH_EXACT
    if (!(a.high > T(0))) return {T(0), T(0)};
    const T s = REVAMP_MATH_ROOT(a.high);
    const two<T> p = product(s, s);
    const T rest = ((a.high - p.high) - p.low) + a.low;
    return ordered_sum(s, REVAMP_MATH_QUOTIENT(rest, s + s));
}

// Classification.

template <class T> REVAMP_MATH_INLINE int signbit(T x) {
    return negative(x) ? 1 : 0;
}
template <class T> REVAMP_MATH_INLINE int isfinite(T x) {
    return is_finite(x) ? 1 : 0;
}
template <class T> REVAMP_MATH_INLINE int isinf(T x) {
    return is_infinite(x) ? 1 : 0;
}
template <class T> REVAMP_MATH_INLINE int isnan(T x) {
    return is_nan(x) ? 1 : 0;
}
template <class T> REVAMP_MATH_INLINE int isnormal(T x) {
    return is_finite(x) && magnitude(x) >= leading_one<T> ? 1 : 0;
}
template <class T> REVAMP_MATH_INLINE int fpclassify(T x) {
    return is_nan(x)                       ? FP_NAN
           : is_infinite(x)                ? FP_INFINITE
           : is_zero(x)                    ? FP_ZERO
           : magnitude(x) < leading_one<T> ? FP_SUBNORMAL
                                           : FP_NORMAL;
}
// A quiet NaN that holds the low bits of `payload`.
template <class T> REVAMP_MATH_INLINE T nan_of(int payload) {
    return from_bits<T>(bits(not_a_number<T>()) |
                        (static_cast<std::uint32_t>(payload) & (word_of<T>(leading_one<T> >> 1) - 1)));
}

// Parts and neighbours.

template <class T> REVAMP_MATH_INLINE T frexp(T x, int *exponent) {
    *exponent = 0;
    if (!is_finite(x) || is_zero(x)) return x;
    const pieces<T> p = decompose(x);
    *exponent = p.exponent + format<T>::fraction + 1;
    return from_bits<T>(sign_of(x) | (p.significand - leading_one<T> + one_bits<T> - leading_one<T>));
}
template <class T> REVAMP_MATH_INLINE T modf(T x, T *whole) {
    const T w = is_finite(x) ? with_sign(trunc(x), sign_of(x)) : x;
    *whole = w;
    return is_infinite(x) ? from_bits<T>(sign_of(x)) : is_nan(x) ? x : with_sign(x - w, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE int ilogb(T x) {
    if (is_zero(x)) return FP_ILOGB0;
    if (!is_finite(x)) return is_nan(x) ? FP_ILOGBNAN : 0x7fffffff;
    return decompose(x).exponent + format<T>::fraction;
}
template <class T> REVAMP_MATH_INLINE T logb(T x) {
    if (is_zero(x)) return -infinity<T>();
    if (!is_finite(x)) return fabs(x);
    return static_cast<T>(decompose(x).exponent + format<T>::fraction);
}
template <class T> REVAMP_MATH_INLINE T scalbn(T x, int n) {
    return ldexp(x, n);
}
template <class T> REVAMP_MATH_INLINE T scalb(T x, T y) {
    if (is_nan(x) || is_nan(y)) return not_a_number<T>();
    if (is_infinite(y)) {
        if (negative(y)) return is_infinite(x) ? not_a_number<T>() : from_bits<T>(sign_of(x));
        return is_zero(x) ? not_a_number<T>() : with_sign(y, sign_of(x));
    }
    if (rint(y) != y) return not_a_number<T>();
    const T limit = T(4 * format<T>::bias);
    return ldexp(x, static_cast<int>(y > limit ? limit : y < -limit ? -limit : y));
}
template <class T> REVAMP_MATH_INLINE T nearbyint(T x) {
    return is_finite(x) ? with_sign(rint(x), sign_of(x)) : x;
}
// Rounds halves away from zero.
template <class T> REVAMP_MATH_INLINE T round(T x) {
    REVAMP_MATH_EXACT
    if (!is_finite(x)) return x;
    const T a = fabs(x), whole = trunc(a);
    return with_sign(a - whole >= T(0.5) ? whole + T(1) : whole, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T nextafter(T x, T y) {
    if (is_nan(x) || is_nan(y)) return not_a_number<T>();
    if (is_zero(x) && is_zero(y)) return y;
    if (bits(x) == bits(y)) return y;
    if (is_zero(x)) return from_bits<T>(sign_of(y) | 1);
    // Moves away from zero if y has x's sign and a greater magnitude.
    const bool away = sign_of(x) == sign_of(y) && magnitude(y) > magnitude(x);
    return from_bits<T>(away ? bits(x) + 1 : bits(x) - 1);
}
REVAMP_MATH_INLINE float fmax(float x, float y) {
    return __builtin_fmaxf(x, y);
}
REVAMP_MATH_INLINE double fmax(double x, double y) {
    return __builtin_fmax(x, y);
}
REVAMP_MATH_INLINE float fmin(float x, float y) {
    return __builtin_fminf(x, y);
}
REVAMP_MATH_INLINE double fmin(double x, double y) {
    return __builtin_fmin(x, y);
}
template <class T> REVAMP_MATH_INLINE T fdim(T x, T y) {
    if (is_nan(x) || is_nan(y)) return not_a_number<T>();
    return x > y ? x - y : T(0);
}

// Remainders: long division in integers, exact.

// |x| = quotient * divisor + rest, in units of 2^exponent. `quotient` has the low 64 bits only.
struct division {
    word64 rest, divisor, quotient;
    int exponent;
};
// Requires about |x| >= |y| / 4, and that x and y are finite and not zero.
template <class T> REVAMP_MATH_INLINE division divide_long(T x, T y) {
    const pieces<T> n = decompose(x), d = decompose(y);
    int digits = n.exponent - d.exponent;
    if (digits < 0) return {n.significand, word64(d.significand) << -digits, 0, n.exponent};
    const word64 divisor = d.significand;
    word64 rest = n.significand, quotient = 0;
    constexpr int most = 63 - format<T>::fraction;
    for (int step = 0;; digits -= step) {
        const word64 q = rest / divisor;
        rest -= q * divisor;
        quotient = (quotient << step) + q;
        if (digits == 0) break;
        step = digits < most ? digits : most;
        rest <<= step;
    }
    return {rest, divisor, quotient, d.exponent};
}
template <class T> REVAMP_MATH_INLINE T fmod(T x, T y) {
    if (is_nan(x) || is_nan(y) || is_infinite(x) || is_zero(y)) return not_a_number<T>();
    if (magnitude(x) < magnitude(y)) return x;
    const division d = divide_long(x, y);
    return compose<T>(sign_of(x), static_cast<word_of<T>>(d.rest), d.exponent);
}
// `quotient` gets the sign and the low 23 bits of the quotient.
template <class T> REVAMP_MATH_INLINE T remquo(T x, T y, int *quotient) {
    *quotient = 0;
    if (is_nan(x) || is_nan(y) || is_infinite(x) || is_zero(y)) return not_a_number<T>();
    if (is_infinite(y) || is_zero(x)) return x;
    if (decompose(x).exponent + 1 < decompose(y).exponent) return x; // below half of y
    division d = divide_long(x, y);
    word_of<T> sign = sign_of(x);
    const word64 twice = d.rest << 1;
    if (twice > d.divisor || (twice == d.divisor && (d.quotient & 1) != 0)) {
        d.rest = d.divisor - d.rest;
        d.quotient += 1;
        sign ^= sign_bit<T>;
    }
    const int low = static_cast<int>(d.quotient & 0x7fffff);
    *quotient = negative(x) == negative(y) ? low : -low;
    if (d.rest == 0) return from_bits<T>(sign_of(x));
    return compose<T>(sign, static_cast<word_of<T>>(d.rest), d.exponent);
}
template <class T> REVAMP_MATH_INLINE T remainder(T x, T y) {
    int quotient = 0;
    return remquo(x, y, &quotient);
}

// Roots.

// |x| = significand * 2^exponent, with the significand in [1, 2).
template <class T> struct scaled {
    T significand;
    int exponent;
};
template <class T> REVAMP_MATH_INLINE scaled<T> scale(T x) {
    const pieces<T> p = decompose(x);
    return {from_bits<T>(p.significand - leading_one<T> + one_bits<T>), p.exponent + format<T>::fraction};
}
template <class T> REVAMP_MATH_INLINE T rsqrt(T x) {
    if (is_nan(x)) return x;
    if (is_zero(x)) return with_sign(infinity<T>(), sign_of(x));
    if (negative(x)) return not_a_number<T>();
    if (is_infinite(x)) return T(0);
    const scaled<T> s = scale(x);
    const int odd = s.exponent & 1;
    const T m = odd != 0 ? s.significand + s.significand : s.significand;
    const two<T> r = divide(two<T>{T(1), T(0)}, root(two<T>{m, T(0)}));
    return value(r) * power_of_two<T>((odd - s.exponent) / 2);
}
// The cube root of a in [1, 8), where a = m 2^r with m in [1, 2). The error is about 2^-30, or an ulp for float.
template <class T> REVAMP_MATH_INLINE T near_cube_root(T a, T m, int r) {
    const T factor = r == 0 ? T(1) : r == 1 ? T(0x1.428a2f98d728bp+0) : T(0x1.965fea53d6e3dp+0);
    const T t = factor * polynomial(m, 0.62037784, 0.44017392, -0.06023128);
    const T cube = t * t * t;
    return t * REVAMP_MATH_QUOTIENT(cube + (a + a), (cube + cube) + a);
}
template <class T> REVAMP_MATH_INLINE T cbrt(T x) {
    REVAMP_MATH_EXACT
    if (is_zero(x) || !is_finite(x)) return x;
    const scaled<T> s = scale(x);
    const int third = (s.exponent + 3072) / 3 - 1024, r = s.exponent - 3 * third;
    const T a = s.significand * power_of_two<T>(r);
    const T t = near_cube_root(a, s.significand, r);
    // A step of Newton's method, whose residual is exact.
    const two<T> cube = multiply(product(t, t), two<T>{t, T(0)});
    const T rest = (a - cube.high) - cube.low;
    return with_sign((t + REVAMP_MATH_QUOTIENT(rest, T(3) * t * t)) * power_of_two<T>(third), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T hypot(T x, T y) {
    if (is_infinite(x) || is_infinite(y)) return infinity<T>();
    if (is_nan(x) || is_nan(y)) return not_a_number<T>();
    const T a = from_bits<T>(magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y));
    const T b = from_bits<T>(magnitude(x) > magnitude(y) ? magnitude(y) : magnitude(x));
    if (is_zero(b)) return a;
    const scaled<T> s = scale(a), t = scale(b);
    const int exponent_difference = t.exponent - s.exponent;
    if (exponent_difference < -60) return a;
    const T low = t.significand * power_of_two<T>(exponent_difference);
    return times_power(value(root(add(product(s.significand, s.significand), product(low, low)))), s.exponent);
}

// Exponentials.

// e^r - 1 for |r| <= log(2) / 2.
template <class T> REVAMP_MATH_INLINE two<T> expm1_near_zero(two<T> r) {
    REVAMP_MATH_EXACT
    const T x = r.high;
    T cubic;
    if constexpr (format<T>::single)
        cubic =
            polynomial(x, 0x1.555556p-3, 0x1.555556p-5, 0x1.1110ep-7, 0x1.6c169ap-10, 0x1.a1256cp-13, 0x1.a0efe6p-16);
    else
        cubic = polynomial(x, 0x1.5555555555555p-3, 0x1.5555555555556p-5, 0x1.1111111111111p-7, 0x1.6c16c16c162c3p-10,
                           0x1.a01a01a019b21p-13, 0x1.a01a01a6e1e2ap-16, 0x1.71de3a590a1cap-19, 0x1.27e4db46cddd1p-22,
                           0x1.ae64342a69544p-26, 0x1.1f7340dbc337ep-29, 0x1.61b2f90b0b0a6p-33);
    const two<T> square = product(x, x);
    const two<T> s = ordered_sum(x, T(0.5) * square.high);
    return ordered_sum(s.high, s.low + (T(0.5) * square.low + r.low * (T(1) + x) + x * square.high * cubic));
}
// x = exponent log(2) + rest. An x outside the domain of exp is clamped to a value that overflows or underflows.
template <class T> struct log_two_pieces {
    two<T> rest;
    int exponent;
};
template <class T> REVAMP_MATH_INLINE log_two_pieces<T> reduce_log_two(two<T> x) {
    REVAMP_MATH_EXACT
    const T limit = format<T>::single ? T(120) : T(800);
    if (x.high > limit) x = {limit, T(0)};
    if (x.high < -limit) x = {-limit, T(0)};
    const T n = rint(x.high * T(0x1.71547652b82fep+0));
    T first, second, third; // log(2) in parts; n times each of the first two is exact
    if constexpr (format<T>::single)
        first = T(0x1.62e4p-1), second = T(0x1.7f7cp-20), third = T(0x1.1cf79ap-36);
    else
        first = T(0x1.62e42fefa2p-1), second = T(0x1.9ef35793c6p-41), third = T(0x1.673007e5ed5e8p-81);
    const two<T> r = sum(x.high - n * first, -(n * second));
    return {ordered_sum(r.high, r.low + (x.low - n * third)), static_cast<int>(n)};
}
// e^x = fraction * 2^exponent.
template <class T> struct power {
    two<T> fraction;
    int exponent;
};
template <class T> REVAMP_MATH_INLINE two<T> plus_one(two<T> a) {
    REVAMP_MATH_EXACT
    const two<T> s = ordered_sum(T(1), a.high);
    return ordered_sum(s.high, s.low + a.low);
}
template <class T> REVAMP_MATH_INLINE power<T> exp_in_pieces(two<T> x) {
    const log_two_pieces<T> p = reduce_log_two(x);
    return {plus_one(expm1_near_zero(p.rest)), p.exponent};
}
template <class T> REVAMP_MATH_INLINE T value(power<T> p) {
    return times_power(value(p.fraction), p.exponent);
}
template <class T> REVAMP_MATH_INLINE T exp(T x) {
    return is_nan(x) ? x : value(exp_in_pieces(two<T>{x, T(0)}));
}
template <class T> REVAMP_MATH_INLINE T exp2(T x) {
    if (is_nan(x)) return x;
    const T limit = format<T>::single ? T(200) : T(1200);
    x = x > limit ? limit : x < -limit ? -limit : x;
    const T n = rint(x);
    const two<T> r = multiply(two<T>{x - n, T(0)}, constant<T>(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56));
    return value(power<T>{plus_one(expm1_near_zero(r)), static_cast<int>(n)});
}
template <class T> REVAMP_MATH_INLINE T exp10(T x) {
    if (is_nan(x)) return x;
    const T limit = T(format<T>::bias);
    x = x > limit ? limit : x < -limit ? -limit : x;
    return value(exp_in_pieces(multiply(two<T>{x, T(0)}, constant<T>(0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53))));
}
// 2^-n, or 0 if it is negligible when added to 1; for n >= -1.
template <class T> REVAMP_MATH_INLINE T negative_power(int n) {
    return n > 60 ? T(0) : power_of_two<T>(-n);
}
template <class T> REVAMP_MATH_INLINE T expm1(T x) {
    if (is_nan(x) || is_zero(x)) return x;
    if (x < T(-50)) return T(-1);
    const log_two_pieces<T> p = reduce_log_two(two<T>{x, T(0)});
    const two<T> e = expm1_near_zero(p.rest);
    if (p.exponent == 0) return value(e);
    const T one = p.exponent > 0 ? negative_power<T>(p.exponent) : power_of_two<T>(-p.exponent);
    return times_power(value(add(plus_one(e), two<T>{-one, T(0)})), p.exponent);
}
template <class T> REVAMP_MATH_INLINE T sinh(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x);
    if (is_nan(x)) return x;
    if (a <= T(1)) {
        const T z = x * x;
        if constexpr (format<T>::single)
            return x + x * (z * polynomial(z, 0x1.555556p-3, 0x1.111112p-7, 0x1.a01a14p-13, 0x1.71d1cap-19,
                                           0x1.b569b6p-26));
        else
            return x + x * (z * polynomial(z, 0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a019fffp-13,
                                           0x1.71de3a556fbfdp-19, 0x1.ae645678ea417p-26, 0x1.612467ffd0251p-33,
                                           0x1.ae775423a3f88p-41, 0x1.99fcc5959506bp-49));
    }
    const power<T> e = exp_in_pieces(two<T>{a, T(0)});
    const T inverse = REVAMP_MATH_QUOTIENT(negative_power<T>(2 * e.exponent), e.fraction.high);
    return with_sign(times_power(value(add(e.fraction, two<T>{-inverse, T(0)})), e.exponent - 1), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T cosh(T x) {
    if (is_nan(x)) return x;
    const power<T> e = exp_in_pieces(two<T>{fabs(x), T(0)});
    const T inverse = REVAMP_MATH_QUOTIENT(negative_power<T>(2 * e.exponent), e.fraction.high);
    return times_power(value(add(e.fraction, two<T>{inverse, T(0)})), e.exponent - 1);
}
// (e^2x - 1) / (e^2x + 1)
template <class T> REVAMP_MATH_INLINE T tanh(T x) {
    const T a = fabs(x);
    if (is_nan(x) || a < T(0x1p-30)) return x;
    if (a > T(25)) return with_sign(T(1), sign_of(x));
    const log_two_pieces<T> p = reduce_log_two(two<T>{a + a, T(0)});
    const two<T> e = expm1_near_zero(p.rest);
    two<T> n = e, d = add(e, two<T>{T(2), T(0)});
    if (p.exponent != 0) {
        const two<T> f = plus_one(e);
        const T one = power_of_two<T>(-p.exponent);
        n = add(f, two<T>{-one, T(0)});
        d = add(f, two<T>{one, T(0)});
    }
    return with_sign(value(divide(n, d)), sign_of(x));
}

// Logarithms.

// atanh(s) for |s| <= 0.1716, to about 2^-66 for double and 2^-37 for float.
template <class T> REVAMP_MATH_INLINE two<T> atanh_near_zero(two<T> s) {
    REVAMP_MATH_EXACT
    const two<T> square = multiply(s, s);
    const two<T> cube = multiply(multiply(s, square), constant<T>(0x1.5555555555555p-2, 0x1.5555555555555p-56));
    const T z = square.high;
    T fifth;
    if constexpr (format<T>::single)
        fifth = polynomial(z, 0x1.99999ap-3, 0x1.24928ep-3, 0x1.c6c08cp-4, 0x1.879ff2p-4);
    else
        fifth = polynomial(z, 0x1.999999999999ap-3, 0x1.2492492492491p-3, 0x1.c71c71c71cff7p-4, 0x1.745d174511201p-4,
                           0x1.3b13b1bdb9604p-4, 0x1.1110df49dca19p-4, 0x1.e1f81bf33b7c7p-5, 0x1.ac479c05883d9p-5,
                           0x1.b8eeb7095f448p-5);
    const two<T> r = ordered_sum(s.high, cube.high);
    return ordered_sum(r.high, r.low + (s.low + cube.low + s.high * z * z * fifth));
}
// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)].
template <class T> REVAMP_MATH_INLINE two<T> log1p_near_zero(two<T> f) {
    const two<T> d = ordered_sum(T(2), f.high);
    const two<T> a = atanh_near_zero(divide(f, two<T>{d.high, d.low + f.low}));
    return {a.high + a.high, a.low + a.low};
}
// log(x) = fraction + exponent log(2), for x > 0. x.high may be subnormal only if x.low is 0.
template <class T> REVAMP_MATH_INLINE power<T> log_in_pieces(two<T> x) {
    REVAMP_MATH_EXACT
    const scaled<T> s = scale(x.high);
    const bool above = s.significand > T(0x1.6a09e6p+0);
    const T m = above ? T(0.5) * s.significand : s.significand;
    const int k = above ? s.exponent + 1 : s.exponent;
    const T low = x.low == T(0) || k > 100 || k < -100 ? T(0) : x.low * power_of_two<T>(-k);
    return {log1p_near_zero(sum(m - T(1), low)), k};
}
template <class T> REVAMP_MATH_INLINE two<T> natural_log(power<T> l) {
    REVAMP_MATH_EXACT
    const T k = static_cast<T>(l.exponent);
    T first, second; // log(2) in parts; k times the first is exact
    if constexpr (format<T>::single)
        first = T(0x1.62e4p-1), second = T(0x1.7f7d1cf79abcap-20);
    else
        first = T(0x1.62e42fefa2p-1), second = T(0x1.9ef35793c7673p-41);
    const two<T> rest = product(k, second);
    return add(add(two<T>{k * first, T(0)}, rest), l.fraction);
}
template <class T> REVAMP_MATH_INLINE two<T> log_of(two<T> x) {
    return natural_log(log_in_pieces(x));
}
// True if x is zero, negative, infinite or NaN; then *result is its logarithm.
template <class T> REVAMP_MATH_INLINE bool log_special(T x, T *result) {
    if (!is_zero(x) && !negative(x) && is_finite(x)) return false;
    *result = is_nan(x) ? x : is_zero(x) ? -infinity<T>() : negative(x) ? not_a_number<T>() : x;
    return true;
}
template <class T> REVAMP_MATH_INLINE T log(T x) {
    T result;
    return log_special(x, &result) ? result : value(log_of(two<T>{x, T(0)}));
}
template <class T> REVAMP_MATH_INLINE T log2(T x) {
    T result;
    if (log_special(x, &result)) return result;
    const power<T> l = log_in_pieces(two<T>{x, T(0)});
    const two<T> f = multiply(l.fraction, constant<T>(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
    return value(add(two<T>{static_cast<T>(l.exponent), T(0)}, f));
}
template <class T> REVAMP_MATH_INLINE T log10(T x) {
    T result;
    if (log_special(x, &result)) return result;
    const power<T> l = log_in_pieces(two<T>{x, T(0)});
    const two<T> f = multiply(l.fraction, constant<T>(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
    const two<T> k =
        multiply(two<T>{static_cast<T>(l.exponent), T(0)}, constant<T>(0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59));
    return value(add(k, f));
}
template <class T> REVAMP_MATH_INLINE T log1p(T x) {
    if (is_nan(x) || is_zero(x) || bits(x) == infinite_bits<T>) return x;
    if (x <= T(-1)) return x == T(-1) ? -infinity<T>() : not_a_number<T>();
    if (fabs(x) < T(0x1p-60)) return x;
    if (x > T(-0.29) && x < T(0.41)) return value(log1p_near_zero(two<T>{x, T(0)}));
    return value(log_of(sum(T(1), x)));
}
template <class T> REVAMP_MATH_INLINE T asinh(T x) {
    if (!is_finite(x) || is_zero(x)) return x;
    const T a = fabs(x);
    if (a < T(0x1p-8)) {
        const T z = x * x;
        return x + x * (z * polynomial(z, -1.0 / 6, 3.0 / 40, -15.0 / 336));
    }
    power<T> l;
    if (a >= T(0x1p28)) {
        l = log_in_pieces(two<T>{a, T(0)});
        l.exponent += 1;
    } else {
        l = log_in_pieces(add(root(add(product(a, a), two<T>{T(1), T(0)})), two<T>{a, T(0)}));
    }
    return with_sign(value(natural_log(l)), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T acosh(T x) {
    if (is_nan(x) || bits(x) == infinite_bits<T>) return x;
    if (x < T(1)) return not_a_number<T>();
    power<T> l;
    if (x >= T(0x1p28)) {
        l = log_in_pieces(two<T>{x, T(0)});
        l.exponent += 1;
    } else {
        l = log_in_pieces(add(root(add(product(x, x), two<T>{T(-1), T(0)})), two<T>{x, T(0)}));
    }
    return value(natural_log(l));
}
template <class T> REVAMP_MATH_INLINE T atanh(T x) {
    if (is_nan(x)) return x;
    const T a = fabs(x);
    if (magnitude(x) >= one_bits<T>)
        return magnitude(x) == one_bits<T> ? with_sign(infinity<T>(), sign_of(x)) : not_a_number<T>();
    if (a < T(0x1p-60)) return x;
    if (a < T(0.1715)) return value(atanh_near_zero(two<T>{x, T(0)}));
    return with_sign(T(0.5) * value(log_of(divide(sum(T(1), a), sum(T(1), -a)))), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T pow(T x, T y) {
    if (is_zero(y) || bits(x) == one_bits<T>) return T(1);
    if (is_nan(x) || is_nan(y)) return not_a_number<T>();
    const word_of<T> size = magnitude(x);
    if (is_infinite(y)) {
        if (size == one_bits<T>) return T(1);
        return (size > one_bits<T>) != negative(y) ? infinity<T>() : T(0);
    }
    word_of<T> sign = 0;
    if (negative(x)) {
        const T half = T(0.5) * fabs(y);
        const bool whole = trunc(y) == y;
        if (whole && trunc(half) != half) sign = sign_bit<T>;
        if (!whole && size != 0 && size != infinite_bits<T>) return not_a_number<T>();
    }
    if (size == 0 || size == infinite_bits<T>)
        return from_bits<T>(sign | ((size == 0) == negative(y) ? infinite_bits<T> : word_of<T>(0)));
    const T limit = T(0x1p70); // for larger |y| the result is 0, 1 or infinite anyway
    const T exponent = y > limit ? limit : y < -limit ? -limit : y;
    const two<T> l = log_of(two<T>{from_bits<T>(size), T(0)});
    return flip(value(exp_in_pieces(multiply(l, two<T>{exponent, T(0)}))), sign);
}

// Trigonometric functions.

// x = quadrant pi / 2 + rest, with |rest| <= pi / 4 or a little more. `quadrant` is modulo 4.
template <class T> struct quarter_turns {
    two<T> rest;
    int quadrant;
};
// Half of a word as a number, because a float cannot hold every whole word exactly.
template <class T> REVAMP_MATH_INLINE T half_word(std::uint32_t w, int down, double unit) {
    return static_cast<T>((w >> down) & 0xffffU) * static_cast<T>(unit);
}
// For |x| beyond 2^9, after M. Payne and R. Hanek: the significand times the relevant digits of 2 / pi.
template <class T> REVAMP_MATH_INLINE quarter_turns<T> reduce_far(T x) {
    // Begins with two zero words before the binary point.
    static constexpr std::uint32_t two_over_pi[] = {
        0,           0,           0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U, 0x3c439041U,
        0xfe5163abU, 0xdebbc561U, 0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU, 0xfe1deb1cU, 0xb129a73eU,
        0xe88235f5U, 0x2ebb4484U, 0xe99c7026U, 0xb45f7e41U, 0x3991d639U, 0x835339f4U, 0x9c845f8bU, 0xbdf9283bU,
        0x1ff897ffU, 0xde05980fU, 0xef2f118bU, 0x5a0a6d1fU, 0x6d367ecfU, 0x27cb09b7U, 0x4f463f66U, 0x9e5fea2dU,
        0x7527bac7U, 0xebe5f17bU, 0x3d0739f7U, 0x8a5292eaU, 0x6bfb5fb1U, 0x1f8d5d08U, 0x56033046U, 0xfc7b6babU};
    const pieces<T> p = decompose(x);
    // Skips the digits whose product with the significand is a multiple of 4.
    const int start = p.exponent - 2 + 64, at = start >> 5, shift = start & 31;
    const word64 low = static_cast<std::uint32_t>(p.significand), high = word64(p.significand) >> 32;
    constexpr int count = format<T>::single ? 3 : 6;
    // Multiplies from the last word to the first, modulo 2^(32 count).
    std::uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0, r5 = 0, before = 0;
    word64 carry = 0;
    auto step = [&](int i) __attribute__((always_inline)) {
        const word64 pair = (word64(two_over_pi[at + i]) << 32) | two_over_pi[at + i + 1];
        const std::uint32_t digit = static_cast<std::uint32_t>(pair >> (32 - shift));
        const word64 first = low * digit, second = high * before; // of the same weight
        const word64 total = (carry & 0xffffffffU) + (first & 0xffffffffU) + (second & 0xffffffffU);
        carry = (carry >> 32) + (first >> 32) + (second >> 32) + (total >> 32);
        before = digit;
        return static_cast<std::uint32_t>(total);
    };
    if constexpr (count == 6) r5 = step(5), r4 = step(4), r3 = step(3);
    r2 = step(2), r1 = step(1), r0 = step(0);
    int quadrant = static_cast<int>(r0 >> 30);
    r0 <<= 2, r0 |= r1 >> 30, r1 <<= 2, r1 |= r2 >> 30, r2 <<= 2;
    if constexpr (count == 6) r2 |= r3 >> 30, r3 <<= 2, r3 |= r4 >> 30, r4 <<= 2, r4 |= r5 >> 30, r5 <<= 2;
    // A fraction above a half becomes the negative distance to the next quadrant. The complement is off by one unit of
    // the last word.
    const std::uint32_t back = (r0 >> 31) != 0 ? 0xffffffffU : 0U;
    quadrant += (r0 >> 31) != 0 ? 1 : 0;
    r0 ^= back, r1 ^= back, r2 ^= back, r3 ^= back, r4 ^= back, r5 ^= back;
    two<T> quarter_fraction;
    if constexpr (format<T>::single) {
        quarter_fraction = ordered_sum(half_word<T>(r0, 16, 0x1p-16), half_word<T>(r0, 0, 0x1p-32));
        quarter_fraction = add(quarter_fraction, two<T>{half_word<T>(r1, 16, 0x1p-48), half_word<T>(r1, 0, 0x1p-64)});
        quarter_fraction = add(quarter_fraction, two<T>{half_word<T>(r2, 16, 0x1p-80), half_word<T>(r2, 0, 0x1p-96)});
    } else {
        quarter_fraction = ordered_sum(static_cast<T>(r0) * T(0x1p-32), static_cast<T>(r1) * T(0x1p-64));
        quarter_fraction =
            add(quarter_fraction, two<T>{static_cast<T>(r2) * T(0x1p-96), static_cast<T>(r3) * T(0x1p-128)});
        quarter_fraction =
            add(quarter_fraction, two<T>{static_cast<T>(r4) * T(0x1p-160), static_cast<T>(r5) * T(0x1p-192)});
    }
    two<T> rest = multiply(quarter_fraction, constant<T>(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54));
    if ((back != 0) != negative(x)) rest = negate(rest);
    return {rest, (negative(x) ? -quadrant : quadrant) & 3};
}
template <class T> REVAMP_MATH_INLINE quarter_turns<T> reduce(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x);
    if (a <= T(0x1.921fb4p-1)) return {two<T>{x, T(0)}, 0};
    if (a > (format<T>::single ? T(0x1p9) : T(0x1p18))) return reduce_far(x);
    const T n = rint(x * T(0x1.45f306dc9c883p-1));
    T first, second, third, fourth; // pi / 2 in parts; n times each of the first three is exact
    if constexpr (format<T>::single)
        first = T(0x1.921cp+0), second = T(0x1.daap-15), third = T(0x1.10b4p-30), fourth = T(0x1.84698ap-48);
    else
        first = T(0x1.921fb544p+0), second = T(0x1.0b4611a6p-34), third = T(0x1.3198a2ep-69),
        fourth = T(0x1.b839a252049c1p-104);
    const two<T> r = sum(x - n * first, -(n * second));
    const two<T> s = sum(r.high, -(n * third));
    return {ordered_sum(s.high, s.low + (r.low - n * fourth)), static_cast<int>(n) & 3};
}
template <class T> REVAMP_MATH_INLINE two<T> sin_near_zero(two<T> r) {
    REVAMP_MATH_EXACT
    const T x = r.high, z = x * x;
    T p;
    if constexpr (format<T>::single)
        p = polynomial(z, -0x1.555556p-3, 0x1.11110ep-7, -0x1.a0139ap-13, 0x1.6db9d4p-19);
    else
        p = polynomial(z, -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a019914p-13, 0x1.71de3a545c467p-19,
                       -0x1.ae64540b4d1f5p-26, 0x1.6121792308a6bp-33, -0x1.ab145a3afb4cdp-41);
    return ordered_sum(x, x * z * p + r.low * (T(1) - T(0.5) * z));
}
template <class T> REVAMP_MATH_INLINE two<T> cos_near_zero(two<T> r) {
    REVAMP_MATH_EXACT
    const T x = r.high;
    const two<T> square = product(x, x);
    const T z = square.high;
    T p;
    if constexpr (format<T>::single)
        p = polynomial(z, 0x1.555556p-5, -0x1.6c16cp-10, 0x1.a015bcp-16, -0x1.25218p-22);
    else
        p = polynomial(z, 0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019cfbp-16, -0x1.27e4fb7710ebap-22,
                       0x1.1eed8de845200p-29, -0x1.9394b4cb659aep-37, 0x1.ab754378b1589p-45);
    const two<T> s = ordered_sum(T(1), T(-0.5) * z);
    return ordered_sum(s.high, s.low + (z * z * p - (T(0.5) * square.low + x * r.low)));
}
template <class T> REVAMP_MATH_INLINE T sin_of(quarter_turns<T> t) {
    const T s = value((t.quadrant & 1) != 0 ? cos_near_zero(t.rest) : sin_near_zero(t.rest));
    return (t.quadrant & 2) != 0 ? -s : s;
}
template <class T> REVAMP_MATH_INLINE T cos_of(quarter_turns<T> t) {
    const T c = value((t.quadrant & 1) != 0 ? sin_near_zero(t.rest) : cos_near_zero(t.rest));
    return ((t.quadrant + 1) & 2) != 0 ? -c : c;
}
template <class T> REVAMP_MATH_INLINE T tan_of(quarter_turns<T> t) {
    const two<T> s = sin_near_zero(t.rest), c = cos_near_zero(t.rest);
    return (t.quadrant & 1) != 0 ? -value(divide(c, s)) : value(divide(s, c));
}
template <class T> REVAMP_MATH_INLINE T sin(T x) {
    if (!is_finite(x)) return not_a_number<T>();
    return fabs(x) < T(0x1p-30) ? x : sin_of(reduce(x));
}
template <class T> REVAMP_MATH_INLINE T cos(T x) {
    return is_finite(x) ? cos_of(reduce(x)) : not_a_number<T>();
}
template <class T> REVAMP_MATH_INLINE T tan(T x) {
    if (!is_finite(x)) return not_a_number<T>();
    return fabs(x) < T(0x1p-30) ? x : tan_of(reduce(x));
}
template <class T> REVAMP_MATH_INLINE void sincos(T x, T *sine, T *cosine) {
    if (!is_finite(x)) {
        *sine = *cosine = not_a_number<T>();
        return;
    }
    const quarter_turns<T> t = reduce(x);
    const T s = value(sin_near_zero(t.rest)), c = value(cos_near_zero(t.rest));
    const T y = (t.quadrant & 1) != 0 ? c : s, z = (t.quadrant & 1) != 0 ? s : c;
    *sine = fabs(x) < T(0x1p-30) ? x : (t.quadrant & 2) != 0 ? -y : y;
    *cosine = ((t.quadrant + 1) & 2) != 0 ? -z : z;
}

// pi |x|, reduced. For integers and halves of integers, `rest` is exactly zero.
template <class T> REVAMP_MATH_INLINE quarter_turns<T> reduce_half_turns(T x) {
    REVAMP_MATH_EXACT
    const T a = fabs(x);
    if (a >= (format<T>::single ? T(0x1p24) : T(0x1p53))) return {two<T>{T(0), T(0)}, 0}; // x is even
    const T n = rint(a + a);
    const T whole = n - T(4) * trunc(T(0.25) * n);
    const two<T> pi = constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
    return {multiply(two<T>{a - T(0.5) * n, T(0)}, pi), static_cast<int>(whole)};
}
// True if x is so small that f(pi x) = pi x, and that parts of the exact product might be flushed to zero.
template <class T> REVAMP_MATH_INLINE bool tiny(T x) {
    return magnitude(x) < word_of<T>(leading_one<T> * 64);
}
template <class T> REVAMP_MATH_INLINE T sinpi(T x) {
    if (!is_finite(x)) return not_a_number<T>();
    if (tiny(x)) return tiny_times(x, constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53));
    const quarter_turns<T> t = reduce_half_turns(x);
    if (t.rest.high == T(0) && (t.quadrant & 1) == 0) return from_bits<T>(sign_of(x));
    return flip(sin_of(t), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T cospi(T x) {
    if (!is_finite(x)) return not_a_number<T>();
    const quarter_turns<T> t = reduce_half_turns(x);
    return t.rest.high == T(0) && (t.quadrant & 1) != 0 ? T(0) : cos_of(t);
}
// Zeros and poles have the signs that C23 gives them.
template <class T> REVAMP_MATH_INLINE T tanpi(T x) {
    if (!is_finite(x)) return not_a_number<T>();
    if (tiny(x)) return tiny_times(x, constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53));
    const quarter_turns<T> t = reduce_half_turns(x);
    if (t.rest.high != T(0)) return flip(tan_of(t), sign_of(x));
    const word_of<T> y = (t.quadrant & 1) != 0 ? infinite_bits<T> : word_of<T>(0);
    return from_bits<T>(y ^ ((t.quadrant & 2) != 0 ? sign_bit<T> : 0) ^ sign_of(x));
}

// atan(y / x) for y, x >= 0, not both zero.
template <class T> REVAMP_MATH_INLINE two<T> atan_of(two<T> y, two<T> x) {
    REVAMP_MATH_EXACT
    const bool steep = y.high > x.high;
    const two<T> small = steep ? x : y, large = steep ? y : x;
    const bool middle = small.high > T(0.41421354) * large.high;
    const two<T> n = middle ? add(small, negate(large)) : small, d = middle ? add(large, small) : large;
    const two<T> q = divide(n, d);
    const T z = q.high * q.high;
    T p;
    if constexpr (format<T>::single)
        p = polynomial(z, -0x1.555556p-2, 0x1.99997ap-3, -0x1.248a08p-3, 0x1.c5797cp-4, -0x1.6133eep-4, 0x1.9d36d6p-5);
    else
        p = polynomial(z, -0x1.5555555555555p-2, 0x1.9999999999952p-3, -0x1.249249248d684p-3, 0x1.c71c71c2f380bp-4,
                       -0x1.745d165a9c6e5p-4, 0x1.3b1392795fc5ap-4, -0x1.110e814671e04p-4, 0x1.e199784c12a9ep-5,
                       -0x1.ac761bf063541p-5, 0x1.74c978a6dcea9p-5, -0x1.1aff6be5c2d50p-5, 0x1.0a5f9b30092c3p-6);
    two<T> r = ordered_sum(q.high, q.high * z * p + q.low * (T(1) - z * (T(1) - z)));
    if (middle) r = add(constant<T>(0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55), r);
    if (steep) r = add(constant<T>(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54), negate(r));
    return r;
}
template <class T> REVAMP_MATH_INLINE two<T> minus_from_pi(two<T> a) {
    return add(constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53), negate(a));
}
template <class T> REVAMP_MATH_INLINE T atan(T x) {
    const T a = fabs(x);
    if (is_nan(x) || a < T(0x1p-30)) return x;
    const T r = a > T(0x1p60) ? T(0x1.921fb54442d18p+0) : value(atan_of(two<T>{a, T(0)}, two<T>{T(1), T(0)}));
    return with_sign(r, sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T atan2(T y, T x) {
    if (is_nan(x) || is_nan(y)) return not_a_number<T>();
    const T pi = T(0x1.921fb54442d18p+1);
    if (is_infinite(x) && is_infinite(y))
        return with_sign(negative(x) ? T(0x1.2d97c7f3321d2p+1) : T(0x1.921fb54442d18p-1), sign_of(y));
    if (is_infinite(x) || is_zero(y)) return with_sign(negative(x) ? pi : T(0), sign_of(y));
    if (is_infinite(y) || is_zero(x)) return with_sign(T(0.5) * pi, sign_of(y));
    const scaled<T> n = scale(y), d = scale(x);
    const int exponent_difference = n.exponent - d.exponent;
    if (exponent_difference > 60) return with_sign(T(0.5) * pi, sign_of(y));
    if (exponent_difference < -60) {
        if (negative(x)) return with_sign(pi, sign_of(y));
        return with_sign(ldexp(divide(n.significand, d.significand), exponent_difference), sign_of(y));
    }
    two<T> r = atan_of(two<T>{n.significand * power_of_two<T>(exponent_difference), T(0)}, two<T>{d.significand, T(0)});
    if (negative(x)) r = minus_from_pi(r);
    return with_sign(value(r), sign_of(y));
}
// sqrt(1 - x^2)
template <class T> REVAMP_MATH_INLINE two<T> root_of_one_minus_square(T x) {
    return root(add(two<T>{T(1), T(0)}, negate(product(x, x))));
}
template <class T> REVAMP_MATH_INLINE T asin(T x) {
    if (is_nan(x) || fabs(x) < T(0x1p-30)) return x;
    if (magnitude(x) > one_bits<T>) return not_a_number<T>();
    return with_sign(value(atan_of(two<T>{fabs(x), T(0)}, root_of_one_minus_square(x))), sign_of(x));
}
template <class T> REVAMP_MATH_INLINE T acos(T x) {
    if (is_nan(x)) return x;
    if (magnitude(x) > one_bits<T>) return not_a_number<T>();
    const two<T> a = atan_of(root_of_one_minus_square(x), two<T>{fabs(x), T(0)});
    return value(negative(x) ? minus_from_pi(a) : a);
}

// Error functions and the normal distribution.

// (erf(x) - x) / x for |x| < 0.84375.
template <class T> REVAMP_MATH_INLINE T erf_near_zero(T x) {
    const T z = x * x;
    const T p = polynomial(z, 1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
                           -5.77027029648944159157e-03, -2.37630166566501626084e-05);
    const T q = polynomial(z, 1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
                           1.32494738004321644526e-04, -3.96022827877536812320e-06);
    return divide(p, q);
}
// erf(x) - 0.845... for x in [0.84375, 1.25).
constexpr double erf_of_one = 8.45062911510467529297e-01; // exact as a float
template <class T> REVAMP_MATH_INLINE T erf_near_one(T x) {
    const T s = x - T(1);
    const T p = polynomial(s, -2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
                           3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                           -2.16637559486879084300e-03);
    const T q = polynomial(s, 1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
                           1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02);
    return divide(p, q);
}
// erfc(x) for x >= 1.25.
template <class T> REVAMP_MATH_INLINE power<T> erfc_far(two<T> x) {
    const T s = divide(T(1), x.high * x.high);
    T p, q;
    if (x.high < T(1 / 0.35)) {
        p = polynomial(s, -9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
                       -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
                       -8.12874355063065934246e+01, -9.81432934416914548592e+00);
        q = polynomial(s, 1.0, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
                       6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
                       6.57024977031928170135e+00, -6.04244152148580987438e-02);
    } else {
        p = polynomial(s, -9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
                       -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
                       -4.83519191608651397019e+02);
        q = polynomial(s, 1.0, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
                       3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
                       -2.24409524465858183362e+01);
    }
    // e^(-x^2 - 0.5625 + p / q) / x
    const two<T> square = multiply(x, x);
    const two<T> exponent = add(add(two<T>{T(-0.5625), T(0)}, two<T>{divide(p, q), T(0)}), negate(square));
    const power<T> e = exp_in_pieces(exponent);
    return {divide(e.fraction, x), e.exponent};
}
// erfc(x), or half of it if `halves` is 1. x is finite, and has 26 more bits than T.
template <class T> REVAMP_MATH_INLINE T erfc_of(two<T> x, int halves) {
    REVAMP_MATH_EXACT
    const T a = fabs(x.high);
    const T limit = format<T>::single ? T(12) : T(30);
    const T part = halves != 0 ? T(0.5) : T(1);
    if (a > limit) return negative(x.high) ? part + part : T(0);
    if (a >= T(1.25)) {
        const power<T> distant = erfc_far(negative(x.high) ? negate(x) : x);
        if (!negative(x.high)) return times_power(value(distant.fraction), distant.exponent - halves);
        return part * (T(2) - value(distant));
    }
    // The contribution of the low part, by the derivative 2 / sqrt(pi) e^(-x^2).
    T slope = T(0);
    if (x.low != T(0)) slope = T(0x1.20dd750429b6dp+0) * value(exp_in_pieces(two<T>{-a * a, T(0)}));
    const T low = slope * x.low;
    T y;
    if (a < T(0.84375)) {
        const T r = x.high * erf_near_zero(x.high) + low;
        if (x.high < T(0.25))
            y = T(1) - (x.high + r);
        else
            y = T(0.5) - (x.high - T(0.5) + r);
    } else {
        const T r = erf_near_one(a);
        const T one = T(erf_of_one);
        y = negative(x.high) ? T(1) + (one + r - low) : (T(1) - one) - (r + low);
    }
    return part * y;
}
template <class T> REVAMP_MATH_INLINE T erfc(T x) {
    if (is_nan(x)) return x;
    if (is_infinite(x)) return negative(x) ? T(2) : T(0);
    return erfc_of(two<T>{x, T(0)}, 0);
}
template <class T> REVAMP_MATH_INLINE T erf(T x) {
    REVAMP_MATH_EXACT
    if (is_nan(x)) return x;
    const T a = fabs(x);
    if (a < T(0.84375)) {
        if (magnitude(x) >= one_bits<T> / 2) return x + x * erf_near_zero(x);
        return tiny_times(x, constant<T>(0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56));
    }
    T y = T(1);
    if (a < T(1.25))
        y = T(erf_of_one) + erf_near_one(a);
    else if (a < T(6))
        y = T(1) - value(power<T>{erfc_far(two<T>{a, T(0)})});
    return with_sign(y, sign_of(x));
}
// The cumulative normal distribution, erfc(-x / sqrt(2)) / 2.
template <class T> REVAMP_MATH_INLINE T phi(T x) {
    if (is_nan(x)) return x;
    if (fabs(x) > T(100)) return negative(x) ? T(0) : T(1);
    const two<T> z = multiply(two<T>{-x, T(0)}, constant<T>(0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55));
    return erfc_of(z, 1);
}

// The quantile of the normal distribution for 0.5 + q. `twice` is 2 min(0.5 + q, 0.5 - q). From M. J. Wichura, The
// percentage points of the normal distribution, algorithm AS 241 (PPND16), 1988.
template <class T> REVAMP_MATH_INLINE T normal_quantile(T q, T twice) {
    if (fabs(q) <= T(0.425)) {
        const T r = T(0.180625) - q * q;
        const T a = polynomial(r, 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                               1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3);
        const T b = polynomial(r, 1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                               2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                               5.2264952788528545610e+3);
        return q * REVAMP_MATH_QUOTIENT(a, b);
    }
    const T r = REVAMP_MATH_ROOT(T(0x1.62e42fefa39efp-1) - log(twice));
    T a, b;
    if (r <= T(5)) {
        const T s = r - T(1.6);
        a = polynomial(s, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                       3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                       2.27238449892691845833e-2, 7.74545014278341407640e-4);
        b = polynomial(s, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                       1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                       1.05075007164441684324e-9);
    } else {
        const T s = r - T(5);
        a = polynomial(s, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                       2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                       2.71155556874348757815e-5, 2.01033439929228813265e-7);
        b = polynomial(s, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                       7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                       2.04426310338993978564e-15);
    }
    return with_sign(REVAMP_MATH_QUOTIENT(a, b), sign_of(q));
}
// Improves x, an approximation of the inverse of erf or erfc, by a step of Halley's method. The second argument is
// erf(x) - y or y - erfc(x).
template <class T> REVAMP_MATH_INLINE T halley(T x, T deviation) {
    REVAMP_MATH_EXACT
    const T slope = T(0x1.20dd750429b6dp+0) * exp(-x * x);
    const T step = REVAMP_MATH_QUOTIENT(deviation, slope);
    return x - REVAMP_MATH_QUOTIENT(step, T(1) + x * step);
}
// The inverse of erfc at y in (0, 1].
template <class T> REVAMP_MATH_INLINE T erfcinv_upper(T y) {
    const T x = normal_quantile(T(0.5) - T(0.5) * y, y) * T(0x1.6a09e667f3bcdp-1);
    if (y > T(0x1p-8)) return halley(x, y - erfc_of(two<T>{x, T(0)}, 0));
    // Newton's method, scaled to avoid subnormal numbers. erfc' is approximately -erfc(x) (2 x + 1 / x), which
    // suffices.
    const power<T> e = erfc_far(two<T>{x, T(0)});
    const T f = value(e.fraction), deviation = f - ldexp(y, -e.exponent);
    return x + REVAMP_MATH_QUOTIENT(deviation, f * (x + x + REVAMP_MATH_QUOTIENT(T(1), x)));
}
template <class T> REVAMP_MATH_INLINE T erfinv_middle(T y) {
    const T x = normal_quantile(T(0.5) * y, T(1) - fabs(y)) * T(0x1.6a09e667f3bcdp-1);
    return halley(x, erf(x) - y);
}
template <class T> REVAMP_MATH_INLINE T erfinv(T y) {
    if (is_nan(y)) return y;
    if (magnitude(y) >= one_bits<T>)
        return magnitude(y) == one_bits<T> ? with_sign(infinity<T>(), sign_of(y)) : not_a_number<T>();
    if (fabs(y) > T(0.5)) return with_sign(erfcinv_upper(T(1) - fabs(y)), sign_of(y)); // exact
    if (magnitude(y) >= one_bits<T> / 2) return erfinv_middle(y);
    return is_zero(y) ? y : y * T(0x1.c5bf891b4ef6bp-1);
}
template <class T> REVAMP_MATH_INLINE T erfcinv(T y) {
    if (is_nan(y)) return y;
    if (is_zero(y)) return infinity<T>();
    if (negative(y) || y >= T(2)) return bits(y) == bits(T(2)) ? -infinity<T>() : not_a_number<T>();
    if (y > T(0.5) && y < T(1.5)) return erfinv(T(1) - y); // exact
    return y <= T(0.5) ? erfcinv_upper(y) : -erfcinv_upper(T(2) - y);
}
// The inverse of phi.
template <class T> REVAMP_MATH_INLINE T probit(T p) {
    if (is_nan(p)) return p;
    if (is_zero(p)) return -infinity<T>();
    if (negative(p) || p >= T(1)) return bits(p) == one_bits<T> ? infinity<T>() : not_a_number<T>();
    const T root_two = T(0x1.6a09e667f3bcdp+0);
    if (p >= T(0.25) && p <= T(0.75)) return root_two * erfinv(p + p - T(1)); // exact
    return p < T(0.5) ? -root_two * erfcinv_upper(p + p) : root_two * erfcinv_upper(T(2) * (T(1) - p));
}

// The gamma function.

// log(gamma(x)) for x >= 8 by Stirling's series.
template <class T> REVAMP_MATH_INLINE two<T> stirling(two<T> x) {
    const T z = REVAMP_MATH_QUOTIENT(T(1), x.high), y = z * z;
    const T series =
        z * polynomial(y, 8.33333333333329678849e-02, -2.77777777728775536470e-03, 7.93650558643019558500e-04,
                       -5.95187557450339963135e-04, 8.36339918996282139126e-04, -1.63092934096575273989e-03);
    const two<T> l = add(log_of(x), two<T>{T(-1), T(0)});
    const two<T> p = multiply(add(x, two<T>{T(-0.5), T(0)}), l);
    // (log(2 pi) - 1) / 2
    const two<T> c = constant<T>(0x1.acfe390c97d6ap-2, -0x1.65b5a1b7ff5dfp-55);
    return add(p, ordered_sum(c.high, c.low + series));
}
// The argument a, shifted to the domain of Stirling's series, and the factor by which the shift multiplies
// gamma(a).
template <class T> struct shifted_argument { two<T> argument, factor; };
template <class T> REVAMP_MATH_INLINE shifted_argument<T> shift_for_stirling(T a) {
    two<T> y = {a, T(0)}, p = {T(1), T(0)};
    while (y.high < T(8)) {
        p = multiply(p, y);
        y = add(y, two<T>{T(1), T(0)});
    }
    return {y, p};
}
template <class T> REVAMP_MATH_INLINE T tgamma(T x) {
    if (is_nan(x)) return x;
    if (is_infinite(x)) return negative(x) ? not_a_number<T>() : x;
    if (is_zero(x)) return with_sign(infinity<T>(), sign_of(x));
    const T a = fabs(x);
    if (negative(x) && trunc(x) == x) return not_a_number<T>();
    if (a < (format<T>::single ? T(0x1p-30) : T(0x1p-60))) { // 1 / x
        const scaled<T> s = scale(x);
        return with_sign(times_power(divide(T(1), s.significand), -s.exponent), sign_of(x));
    }
    // For negative x, the result has the sign of -sin(pi a).
    const bool odd = trunc(T(0.5) * trunc(a)) + trunc(T(0.5) * trunc(a)) != trunc(a);
    const word_of<T> sign = negative(x) && !odd ? sign_bit<T> : 0;
    if (a > (format<T>::single ? T(60) : T(200))) return negative(x) ? from_bits<T>(sign) : infinity<T>();
    const shifted_argument<T> m = shift_for_stirling(a);
    power<T> g = exp_in_pieces(stirling(m.argument));
    g.fraction = divide(g.fraction, m.factor);
    if (!negative(x)) return value(g);
    // gamma(-a) = -pi / (a sin(pi a) gamma(a))
    const quarter_turns<T> t = reduce_half_turns(a);
    const two<T> s = (t.quadrant & 1) != 0 ? cos_near_zero(t.rest) : sin_near_zero(t.rest);
    const two<T> d = multiply(multiply(two<T>{a, T(0)}, s), g.fraction);
    const two<T> pi = constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
    return with_sign(times_power(value(divide(pi, d)), -g.exponent), sign);
}
// log(gamma(x)) for x in (0, 8).
template <class T> REVAMP_MATH_INLINE T log_gamma_small(T x) {
    REVAMP_MATH_EXACT
    if (x >= T(2)) {
        const T whole = trunc(x), y = x - whole;
        const T p = y * polynomial(y, -7.72156649015328655494e-02, 2.14982415960608852501e-01,
                                   3.25778796408930981787e-01, 1.46350472652464452805e-01, 2.66422703033638609560e-02,
                                   1.84028451407337715652e-03, 3.19475326584100867617e-05);
        const T q =
            polynomial(y, 1.0, 1.39200533467621045958e+00, 7.21935547567138069525e-01, 1.71933865632803078993e-01,
                       1.86459191715652901344e-02, 7.77942496381893596434e-04, 7.32668430744625636189e-06);
        const T r = T(0.5) * y + divide(p, q);
        T z = T(1);
        for (T n = T(2); n < whole; n += T(1))
            z *= y + n;
        return whole > T(2) ? r + log(z) : r;
    }
    T r = T(0), y;
    int interval;
    if (x <= T(0.9)) {
        r = -log(x);
        interval = x >= T(0.7316) ? 0 : x >= T(0.23164) ? 1 : 2;
        y = interval == 0 ? T(1) - x : interval == 1 ? x - T(0.46163214496836224576) : x;
    } else {
        interval = x >= T(1.7316) ? 0 : x >= T(1.23164) ? 1 : 2;
        y = interval == 0 ? T(2) - x : interval == 1 ? x - T(1.46163214496836224576) : x - T(1);
    }
    if (interval == 0) {
        const T z = y * y;
        const T p1 = polynomial(z, 7.72156649015328655494e-02, 6.73523010531292681824e-02, 7.38555086081402883957e-03,
                                1.19270763183362067845e-03, 2.20862790713908385557e-04, 2.52144565451257326939e-05);
        const T p2 =
            z * polynomial(z, 3.22467033424113591611e-01, 2.05808084325167332806e-02, 2.89051383673415629091e-03,
                           5.10069792153511336608e-04, 1.08011567247583939954e-04, 4.48640949618915160150e-05);
        return r + (y * p1 + p2 - T(0.5) * y);
    }
    if (interval == 1) {
        const T z = y * y, w = z * y;
        const T p1 = polynomial(w, 4.83836122723810047042e-01, -3.27885410759859649565e-02, 6.10053870246291332635e-03,
                                -1.40346469989232843813e-03, 3.15632070903625950361e-04);
        const T p2 = polynomial(w, -1.47587722994593911752e-01, 1.79706750811820387126e-02, -3.68452016781138256760e-03,
                                8.81081882437654011382e-04, -3.12754168375120860518e-04);
        const T p3 = polynomial(w, 6.46249402391333854778e-02, -1.03142241298341437450e-02, 2.25964780900612472250e-03,
                                -5.38595305356740546715e-04, 3.35529192635519073543e-04);
        // The minimum, and the correction for the rounding of the minimum and of its argument.
        const T least = T(-1.21486290535849611461e-01);
        const T tail = format<T>::single ? T(6.6971006518e-09) : T(-3.63867699703950536541e-18);
        return r + (least + (z * p1 - (tail - w * (p2 + y * p3))));
    }
    const T p1 = y * polynomial(y, -7.72156649015328655494e-02, 6.32827064025093366517e-01, 1.45492250137234768737e+00,
                                9.77717527963372745603e-01, 2.28963728064692451092e-01, 1.33810918536787660377e-02);
    const T p2 = polynomial(y, 1.0, 2.45597793713041134822e+00, 2.12848976379893395361e+00, 7.69285150456672783825e-01,
                            1.04222645593369134254e-01, 3.21709242282423911810e-03);
    return r + (T(-0.5) * y + divide(p1, p2));
}
template <class T> REVAMP_MATH_INLINE T lgamma(T x, int *sign) {
    *sign = 1;
    if (is_nan(x)) return x;
    if (is_infinite(x)) return infinity<T>();
    *sign = negative(x) ? -1 : 1;
    if (is_zero(x)) return infinity<T>();
    const T a = fabs(x);
    if (a < (format<T>::single ? T(0x1p-35) : T(0x1p-70))) return -log(a);
    *sign = 1;
    two<T> reflected = {T(0), T(0)};
    if (negative(x)) {
        const quarter_turns<T> t = reduce_half_turns(a);
        if (t.rest.high == T(0) && (t.quadrant & 1) == 0) return infinity<T>();
        two<T> s = (t.quadrant & 1) != 0 ? cos_near_zero(t.rest) : sin_near_zero(t.rest);
        if ((t.quadrant & 2) != 0) s = negate(s);
        if (s.high > T(0))
            *sign = -1;
        else
            s = negate(s);
        // log(pi / (a sin(pi a))); a is below 2^52 here, as it has a fraction
        const two<T> pi = constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
        reflected = log_of(divide(pi, multiply(two<T>{a, T(0)}, s)));
    }
    two<T> r;
    if (negative(x) && a < T(8)) { // with more digits, because lgamma has zeros there
        const shifted_argument<T> m = shift_for_stirling(a);
        r = add(stirling(m.argument), negate(log_of(m.factor)));
    } else if (a < T(8)) {
        r = {a == T(1) || a == T(2) ? T(0) : log_gamma_small(a), T(0)};
    } else if (a < T(0x1p58)) {
        r = stirling(two<T>{a, T(0)});
    } else {
        r = {a * (log(a) - T(1)), T(0)};
    }
    return negative(x) ? value(add(reflected, negate(r))) : value(r);
}

} // namespace precise
REVAMP_DETAIL_END

#endif
