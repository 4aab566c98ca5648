// Functions of precise_math that the C library lacks, for the host. Error bounds are in ulp of the result, over the
// whole domain. The bounds hold if the C library's functions keep the bounds that glibc states;
// tests/cpp/maths/math.cpp checks them. Float forms calculate in double and round once: 0.51 ulp.
#ifndef REVAMP_DETAIL_HOST_MATH_H
#define REVAMP_DETAIL_HOST_MATH_H

#include "config.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// glibc and musl have exp10, scalb, lgamma_r and their float forms. glibc, musl and MinGW have sincos.
#if !defined(_WIN32) && !defined(__APPLE__)
#define REVAMP_HAS_GNU_MATH
#endif
#if !defined(_MSC_VER) && !defined(__APPLE__)
#define REVAMP_HAS_SINCOS
#endif

REVAMP_DETAIL_BEGIN
namespace math {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A real number as the sum of two doubles.
struct double_double {
    double high, low;
};
constexpr double_double pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
constexpr double_double sqrt_half = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};
constexpr double two_over_sqrt_pi = 0x1.20dd750429b6dp+0;
constexpr double log_two = 0x1.62e42fefa39efp-1;
constexpr double sqrt_two = 0x1.6a09e667f3bcdp+0;

inline double_double multiply(double_double a, double b) {
    const double high = a.high * b;
    return {high, std::fma(a.high, b, -high) + a.low * b};
}

// |x| = quarter / 2 + rest, with an exact rest in [-1/4, 1/4]. `quarter` is modulo 4.
struct half_turns {
    int quarter;
    double rest;
};
inline half_turns reduce_half_turns(double x) {
    x = std::fabs(x);
    if (x >= 0x1p53) return {0, 0.0}; // x is even
    const double n = std::round(2.0 * x);
    return {static_cast<int>(static_cast<std::int64_t>(n) & 3), x - 0.5 * n};
}

// The sine and the cosine of pi * rest.
inline double sin_of_half_turns(double rest) {
    const double_double angle = multiply(pi, rest);
    return std::sin(angle.high) + angle.low * std::cos(angle.high);
}
inline double cos_of_half_turns(double rest) {
    const double_double angle = multiply(pi, rest);
    return std::cos(angle.high) - angle.low * std::sin(angle.high);
}

// sin(pi x): 1.5 ulp. For an integer x, the result is zero with the sign of x.
inline double sinpi(double x) {
    if (!std::isfinite(x)) return not_a_number;
    const half_turns t = reduce_half_turns(x);
    double s = (t.quarter & 1) != 0 ? cos_of_half_turns(t.rest) : sin_of_half_turns(t.rest);
    if (t.rest == 0.0 && (t.quarter & 1) == 0) return std::copysign(0.0, x);
    if ((t.quarter & 2) != 0) s = -s;
    return std::signbit(x) ? -s : s;
}

// cos(pi x): 1.5 ulp. For odd multiples of 1/2, the result is +0.
inline double cospi(double x) {
    if (!std::isfinite(x)) return not_a_number;
    const half_turns t = reduce_half_turns(x);
    if (t.rest == 0.0 && (t.quarter & 1) != 0) return 0.0;
    const double c = (t.quarter & 1) != 0 ? sin_of_half_turns(t.rest) : cos_of_half_turns(t.rest);
    return t.quarter == 1 || t.quarter == 2 ? -c : c;
}

// tan(pi x): 2 ulp. Zeros and poles have the signs that C23 gives them.
inline double tanpi(double x) {
    if (!std::isfinite(x)) return not_a_number;
    const half_turns t = reduce_half_turns(x);
    double y;
    if (t.rest == 0.0) {
        y = (t.quarter & 1) != 0 ? infinity : 0.0;
        if ((t.quarter & 2) != 0) y = -y;
    } else {
        const double_double angle = multiply(pi, t.rest);
        const double tangent = std::tan(angle.high);
        y = tangent + angle.low * (1.0 + tangent * tangent);
        if ((t.quarter & 1) != 0) y = -1.0 / y;
    }
    return std::signbit(x) ? -y : y;
}

// 1 / sqrt(x): 0.51 ulp, by a Newton step on the residual 1 - x y^2.
inline double rsqrt(double x) {
    const double y = 1.0 / std::sqrt(x);
    if (!(x > 0.0 && x < infinity)) return y;
    const double t = x * y;
    const double e = std::fma(-t, y, 1.0) - std::fma(x, y, -t) * y;
    return y + 0.5 * e * y;
}

// 1 / cbrt(x): 0.51 ulp, by a Newton step on the residual 1 - x y^3.
inline double rcbrt(double x) {
    const double y = 1.0 / std::cbrt(x);
    if (x == 0.0 || !std::isfinite(x)) return y;
    const double square = y * y;
    const double t = x * square;
    const double low = std::fma(x, square, -t) + x * std::fma(y, y, -square);
    const double e = std::fma(-t, y, 1.0) - low * y;
    return y + e * y * (1.0 / 3.0);
}

// The cumulative normal distribution, erfc(-x / sqrt(2)) / 2: 6 ulp, which is 1 more than erfc. The error of a result
// below the smallest normal number is 1 ulp of that number. The tail would magnify the rounding error of erfc's
// argument. A term with the derivative corrects this error.
inline double phi(double x) {
    if (std::isinf(x)) return x > 0.0 ? 1.0 : 0.0;
    const double_double z = multiply(sqrt_half, -x);
    return 0.5 * (std::erfc(z.high) - two_over_sqrt_pi * std::exp(-z.high * z.high) * z.low);
}

template <int N> inline double polynomial(const double (&coefficients)[N], double x) {
    double sum = coefficients[N - 1];
    for (int i = N - 2; i >= 0; --i)
        sum = sum * x + coefficients[i];
    return sum;
}

// The quantile of the normal distribution for 0.5 + q, to about 1e-15. `twice` is 2 min(0.5 + q, 0.5 - q), and must not
// underflow. From M. J. Wichura, The percentage points of the normal distribution, algorithm AS 241 (PPND16), 1988.
inline double normal_quantile(double q, double twice) {
    static constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                   1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                   3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static constexpr double b[] = {1.0,
                                   4.2313330701600911252e+1,
                                   6.8718700749205790830e+2,
                                   5.3941960214247511077e+3,
                                   2.1213794301586595867e+4,
                                   3.9307895800092710610e+4,
                                   2.8729085735721942674e+4,
                                   5.2264952788528545610e+3};
    static constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                   3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static constexpr double d[] = {1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
    static constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                   2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static constexpr double f[] = {1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
    if (std::fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(a, r) / polynomial(b, r);
    }
    const double r = std::sqrt(log_two - std::log(twice));
    const double x =
        r <= 5.0 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5.0) / polynomial(f, r - 5.0);
    return q < 0.0 ? -x : x;
}

// The inverse of erfc at y in (0, 1]: AS 241 and a step of Halley's method. The remaining error is the error of erfc,
// divided by the slope of erfc. For nearly subnormal y, erfc is less exact than AS 241, so the step is skipped.
inline double erfcinv_upper(double y) {
    const double x = normal_quantile(0.5 - 0.5 * y, y) * sqrt_half.high;
    if (y < 1e-290) return x;
    const double step = (std::erfc(x) - y) / (two_over_sqrt_pi * std::exp(-x * x));
    return x + step / (1.0 - x * step);
}

// The inverse of erf: 3 ulp.
inline double erfinv(double y) {
    const double size = std::fabs(y);
    if (!(size < 1.0)) return size == 1.0 ? y * infinity : not_a_number;
    if (size > 0.5) return std::copysign(erfcinv_upper(1.0 - size), y); // 1.0 - size is exact
    if (size < 0x1p-500) return y * (1.0 / two_over_sqrt_pi);
    const double x = normal_quantile(0.5 * y, 1.0 - size) * sqrt_half.high;
    const double step = (std::erf(x) - y) / (two_over_sqrt_pi * std::exp(-x * x));
    return x - step / (1.0 + x * step);
}

// The inverse of erfc: 3 ulp.
inline double erfcinv(double y) {
    if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? infinity : y == 2.0 ? -infinity : not_a_number;
    if (y > 0.5 && y < 1.5) return erfinv(1.0 - y); // 1.0 - y is exact
    return y <= 0.5 ? erfcinv_upper(y) : -erfcinv_upper(2.0 - y);
}

// The inverse of phi: 4 ulp.
inline double probit(double p) {
    if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -infinity : p == 1.0 ? infinity : not_a_number;
    if (p >= 0.25 && p <= 0.75) return sqrt_two * erfinv(2.0 * p - 1.0); // the argument is exact
    return p < 0.5 ? -sqrt_two * erfcinv_upper(2.0 * p) : sqrt_two * erfcinv_upper(2.0 * (1.0 - p));
}

// The float forms. A separate namespace, so that amp_math.h can import them without the double forms, which a newer C
// library may declare too.
namespace precise_math_float {
#define REVAMP_MATH_FLOAT(name)                                                                                        \
    inline float name(float x) {                                                                                       \
        return static_cast<float>(math::name(static_cast<double>(x)));                                                 \
    }                                                                                                                  \
    inline float name##f(float x) {                                                                                    \
        return name(x);                                                                                                \
    }
REVAMP_MATH_FLOAT(cospi)
REVAMP_MATH_FLOAT(erfcinv)
REVAMP_MATH_FLOAT(erfinv)
REVAMP_MATH_FLOAT(phi)
REVAMP_MATH_FLOAT(probit)
REVAMP_MATH_FLOAT(rcbrt)
REVAMP_MATH_FLOAT(rsqrt)
REVAMP_MATH_FLOAT(sinpi)
REVAMP_MATH_FLOAT(tanpi)
#undef REVAMP_MATH_FLOAT
} // namespace precise_math_float

// Functions of fast_math, computed in float so that loops vectorise: 1.5 ulp.
namespace fast_math_float {
inline float rsqrt(float x) {
    return 1.0f / std::sqrt(x);
}
inline float rsqrtf(float x) {
    return 1.0f / std::sqrt(x);
}
} // namespace fast_math_float

#ifdef REVAMP_HAS_GNU_MATH
inline float exp10f(float x) {
    return ::exp10f(x);
}
inline float scalbf(float x, float y) {
    return ::scalbf(x, y);
}
inline double lgamma(double x, int *sign) {
    return ::lgamma_r(x, sign);
}
inline float lgammaf(float x, int *sign) {
    return ::lgammaf_r(x, sign);
}
#else
inline double exp10(double x) {
    return std::pow(10.0, x);
}
inline float exp10f(float x) {
    return static_cast<float>(exp10(static_cast<double>(x)));
}
// x 2^y, where y must be an integer or infinite.
inline double scalb(double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return x + y;
    if (std::isinf(y)) return y > 0.0 ? x * y : x / -y;
    if (std::nearbyint(y) != y) return not_a_number;
    return std::scalbn(x, static_cast<int>(std::fmax(std::fmin(y, 65000.0), -65000.0)));
}
inline float scalbf(float x, float y) {
    return static_cast<float>(scalb(static_cast<double>(x), static_cast<double>(y)));
}
// The sign of the gamma function at x. It alternates from one interval between negative integers to the next.
inline int sign_of_gamma(double x) {
    const double whole = std::floor(x);
    return std::signbit(x) && (x == 0.0 || (whole != x && std::fmod(whole, 2.0) != 0.0)) ? -1 : 1;
}
inline double lgamma(double x, int *sign) {
    *sign = sign_of_gamma(x);
    return std::lgamma(x);
}
inline float lgammaf(float x, int *sign) {
    *sign = sign_of_gamma(static_cast<double>(x));
    return std::lgamma(x);
}
#endif
inline float exp10(float x) {
    return exp10f(x);
}
inline float scalb(float x, float y) {
    return scalbf(x, y);
}
inline float lgamma(float x, int *sign) {
    return lgammaf(x, sign);
}
inline int signbitf(float x) {
    return std::signbit(x) ? 1 : 0;
}
inline void sincos(float x, float *sine, float *cosine) {
    *sine = std::sin(x);
    *cosine = std::cos(x);
}
inline void sincosf(float x, float *sine, float *cosine) {
    sincos(x, sine, cosine);
}
#ifndef REVAMP_HAS_SINCOS
inline void sincos(double x, double *sine, double *cosine) {
    *sine = std::sin(x);
    *cosine = std::cos(x);
}
#endif
// A quiet NaN that holds the low bits of `payload`.
inline double nan(int payload) {
    const std::uint64_t bits = 0x7ff8000000000000U | static_cast<std::uint32_t>(payload);
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
inline float nanf(int payload) {
    const std::uint32_t bits = 0x7fc00000U | (static_cast<std::uint32_t>(payload) & 0x003fffffU);
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// Returns the remainder. `quotient` gets the sign and the low 23 bits of the quotient; the C standard requires
// only three bits.
template <class T> inline T remainder_and_quotient(T x, T y, int *quotient) {
    const T remainder = std::remainder(x, y);
    T size = std::fabs(x), divisor = std::fabs(y);
    *quotient = 0;
    if (!std::isfinite(remainder) || !std::isfinite(y)) return remainder;
    constexpr T period = 0x1p24f; // reducing the quotient modulo this number keeps its low bits
    if (divisor <= (std::numeric_limits<T>::max)() / period) size = std::fmod(size, divisor * period);
    // The quotient is at most 2^24, so the error of the division in double is far below a half.
    const double whole =
        std::nearbyint((static_cast<double>(size) - static_cast<double>(std::remainder(size, divisor))) /
                       static_cast<double>(divisor));
    const int low = static_cast<int>(static_cast<std::int64_t>(whole) & 0x7fffff);
    *quotient = std::signbit(x) == std::signbit(y) ? low : -low;
    return remainder;
}
// After a using-directive for this library's namespace, the C library's functions are visible too. enable_if makes
// Clang prefer the functions below. GCC lacks enable_if, so they are templates there: GCC prefers a C library function
// with the same parameters, and the call is not ambiguous.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#define REVAMP_REMQUO(type, name) inline type name(type x, type y, int *quotient) __attribute__((enable_if(true, "")))
#else
#define REVAMP_REMQUO(type, name) template <class = void> inline type name(type x, type y, int *quotient)
#endif
REVAMP_REMQUO(double, remquo) {
    return remainder_and_quotient(x, y, quotient);
}
REVAMP_REMQUO(float, remquo) {
    return remainder_and_quotient(x, y, quotient);
}
REVAMP_REMQUO(float, remquof) {
    return remainder_and_quotient(x, y, quotient);
}
#undef REVAMP_REMQUO
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

// The type in which mixed arguments are computed, as in the C library: double if one of them is double or none is
// float, else float.
template <class... T>
using promoted_type = std::enable_if_t<
    (std::is_arithmetic<T>::value && ...) && !(std::is_same<T, float>::value && ...) &&
        !(std::is_same<T, double>::value && ...),
    std::conditional_t<(std::is_same<T, double>::value || ...) || !(std::is_same<T, float>::value || ...), double,
                       float>>;

} // namespace math
REVAMP_DETAIL_END

#endif
