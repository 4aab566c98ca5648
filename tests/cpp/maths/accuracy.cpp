// Accuracy of precise_math's device code (revamp/detail/device_close.h), run on the host and compared with long double.
//
//     accuracy                    tests
//     accuracy table [count]      the table of docs/maths.md, with `count` random arguments for each line
//     accuracy columns [count]    only the figures of the table
//     accuracy floats [step]      the largest error of each function of one argument over every step-th float
//
// Without SLOPPY_DIVISION, two of three calls behave like a device with a fused fma and with powers as accurate as
// CUDA's. With SLOPPY_DIVISION, errors of quotients and roots reach what Vulkan allows, and fma is not fused.
// LAST_BIT selects device_precise.h, as REVAMP_MATH_LAST_BIT does. To build the program without CMake:
//
//     g++ -std=c++17 -O2 -mfma -ffp-contract=off -DLAST_BIT=0 -DSLOPPY_DIVISION=0 -Icpp-shim
//         tests/cpp/maths/accuracy.cpp -o accuracy
#include <cmath>
#include <cstdint>

namespace {
inline std::uint32_t noise() {
    static std::uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 16;
}
// Moves x by a random number of units in the last place, at most `most`.
template <class T> T perturbed(T x, int most) {
    if (std::isinf(x)) return x;
    for (int n = static_cast<int>(noise() % static_cast<unsigned>(2 * most + 1)) - most; n != 0; n += n < 0 ? 1 : -1)
        x = std::nextafter(x, n < 0 ? T(0) : T(2) * x);
    return x;
}
// If true, the device's 1 / sqrt(x) has an error of up to 2 ulp.
bool has_inexact_roots = SLOPPY_DIVISION;
// Returns 1 / sqrt(x) with an error of up to 2 ulp.
inline float inexact_inverse_root(float x) {
    const double exact = 1 / std::sqrt(static_cast<double>(x));
    const float near = static_cast<float>(exact), moved = perturbed(near, 1);
    return (moved > near) != (near > exact) ? std::nextafter(moved, moved > near ? 2 * near : 0.0f) : moved;
}
} // namespace
#define REVAMP_MATH_INVERSE_ROOT(x) (has_inexact_roots ? inexact_inverse_root(x) : 1.0f / __builtin_sqrtf(x))
#if SLOPPY_DIVISION
#define REVAMP_MATH_QUOTIENT(x, y) perturbed((x) / (y), 2)
#define REVAMP_MATH_ROOT(x) perturbed(std::sqrt(x), 3)
#define REVAMP_MATH_FUSED 0
#else
namespace {
// Returns 2^x with an error of up to 1 ulp.
inline float inexact_power(float x) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(std::exp2(static_cast<double>(x)) *
                              (1 + 0x1p-24 * (static_cast<int>((state >> 16) % 3) - 1)));
}
// Returns 1 / sqrt(x), rounded up or down.
inline double inexact_inverse_root(double x) {
    const long double exact = 1 / std::sqrt(static_cast<long double>(x));
    const double near = static_cast<double>(exact);
    if (noise() % 2 || !std::isfinite(near) || static_cast<long double>(near) == exact) return near;
    return std::nextafter(near, static_cast<long double>(near) < exact ? 2 * near : 0.0);
}
// True for two of three calls: the device then has a fused fma and accurate powers. Some code queries both properties.
inline bool in_two_of_three_calls() {
    static unsigned calls = 0;
    return calls++ % 3 != 2;
}
} // namespace
#define REVAMP_MATH_DEVICE_PROPERTY(what)                                                                              \
    ((what) != 1 && !((what) == 10 && has_inexact_roots) && in_two_of_three_calls())
#define REVAMP_MATH_EXP2(x) inexact_power(x)
#define REVAMP_MATH_LOG2(x) std::log2(x)
#define REVAMP_MATH_INVERSE_ROOT_OF_DOUBLE(x) inexact_inverse_root(x)
#define REVAMP_MATH_FUSED 1
#endif
#include <revamp/detail/device_close.h>
#include <revamp/detail/host_math.h>

#include "../check.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace host = revamp::detail::math;

#if LAST_BIT
namespace tested = revamp::detail::precise;
#else
namespace tested = revamp::detail::close;
#endif

// Wrappers that keep the long functions out of line, so that each is compiled once.
namespace device {
#define ONE(name)                                                                                                      \
    template <class T> [[gnu::noinline]] auto name(T x) {                                                              \
        return tested::name(x);                                                                                        \
    }
#define TWO(name)                                                                                                      \
    template <class T, class U> [[gnu::noinline]] auto name(T x, U y) {                                                \
        return tested::name(x, y);                                                                                     \
    }
#define THREE(name)                                                                                                    \
    template <class T, class U, class V> [[gnu::noinline]] auto name(T x, U y, V z) {                                  \
        return tested::name(x, y, z);                                                                                  \
    }
// clang-format off
ONE(acos) ONE(acosh) ONE(asin) ONE(asinh) ONE(atan) ONE(atanh) ONE(cbrt) ONE(ceil) ONE(cos) ONE(cosh) ONE(cospi)
ONE(erf) ONE(erfc) ONE(erfcinv) ONE(erfinv) ONE(exp) ONE(exp10) ONE(exp2) ONE(expm1) ONE(fabs) ONE(floor)
ONE(fpclassify) ONE(ilogb) ONE(isfinite) ONE(isinf) ONE(isnan) ONE(isnormal) ONE(log) ONE(log10) ONE(log1p) ONE(log2)
ONE(logb) ONE(nearbyint) ONE(phi) ONE(probit) ONE(rcbrt) ONE(round) ONE(rsqrt) ONE(signbit) ONE(sin) ONE(sinh)
ONE(sinpi) ONE(sqrt) ONE(tan) ONE(tanh) ONE(tanpi) ONE(tgamma) ONE(trunc)
TWO(atan2) TWO(copysign) TWO(fdim) TWO(fmax) TWO(fmin) TWO(fmod) TWO(frexp) TWO(hypot) TWO(ldexp) TWO(lgamma) TWO(modf)
TWO(nextafter) TWO(pow) TWO(remainder) TWO(scalb) TWO(scalbn) THREE(remquo) THREE(sincos)
    // clang-format on
    using revamp::detail::precise::nan_of;
#undef ONE
#undef TWO
#undef THREE
} // namespace device

namespace {

typedef long double real;
constexpr real infinite = std::numeric_limits<real>::infinity();
constexpr real pi = 3.14159265358979323846264338327950288L;
constexpr real slope_at_zero = 1.12837916709551257389615890312154517L; // the derivative of erf at 0

template <class T> std::uint64_t bits(T x) {
    std::uint64_t word = 0;
    std::memcpy(&word, &x, sizeof x);
    return word;
}

// The distance of `x` from `exact` in units in the last place of T.
template <class T> double distance(T x, real exact) {
    typedef std::numeric_limits<T> limits;
    if (std::isnan(exact)) return std::isnan(x) ? 0 : HUGE_VAL;
    const real most = static_cast<real>(limits::max());
    if (std::fabs(exact) > most) { // infinity is one step beyond the largest number
        if (std::isinf(x)) return std::signbit(x) == std::signbit(exact) ? 0 : HUGE_VAL;
        if (std::isinf(exact)) return HUGE_VAL;
    } else if (std::isinf(x)) {
        const real step = std::ldexp(1.0L, limits::max_exponent - limits::digits);
        return static_cast<double>((most + step - std::fabs(exact)) / step);
    }
    if (std::isnan(x)) return HUGE_VAL;
    const int exponent = exact == 0 ? limits::min_exponent : std::max(std::ilogb(exact) + 1, limits::min_exponent);
    return static_cast<double>(std::fabs(static_cast<real>(x) - exact) / std::ldexp(1.0L, exponent - limits::digits));
}

// Reference functions that the C library lacks.

// erfc amplifies the rounding error of its argument; the derivative corrects the result.
real reference_phi(real x) {
    const real high = host::sqrt_half.high, low = host::sqrt_half.low;
    const real z = -x * high;
    const real rest = std::fma(-x, high, -z) - x * low;
    return std::isinf(x) ? (x < 0 ? 0 : 1) : 0.5L * (std::erfc(z) - slope_at_zero * std::exp(-z * z) * rest);
}
real reference_erfcinv(real y) {
    if (!(y > 0 && y < 2)) return y == 0 ? infinite : y == 2 ? -infinite : NAN;
    real x = static_cast<real>(host::erfcinv(static_cast<double>(y)));
    if (y < 1) {
        for (int i = 0; i < 2; ++i)
            x += (std::erfc(x) - y) / (slope_at_zero * std::exp(-x * x));
    } else {
        for (int i = 0; i < 2; ++i)
            x += ((1 - y) - std::erf(x)) / (slope_at_zero * std::exp(-x * x));
    }
    return x;
}
real reference_erfinv(real y) {
    if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? y * infinite : NAN;
    if (std::fabs(y) < 1e-300L) return y / slope_at_zero;
    if (std::fabs(y) > 0.5L) return std::copysign(reference_erfcinv(1 - std::fabs(y)), y);
    real x = static_cast<real>(host::erfinv(static_cast<double>(y)));
    for (int i = 0; i < 2; ++i)
        x -= (std::erf(x) - y) / (slope_at_zero * std::exp(-x * x));
    return x;
}
real reference_probit(real p) {
    if (!(p > 0 && p < 1)) return p == 0 ? -infinite : p == 1 ? infinite : NAN;
    if (p >= 0.25L && p <= 0.75L) return std::sqrt(2.0L) * reference_erfinv(2 * p - 1);
    return p < 0.5L ? -std::sqrt(2.0L) * reference_erfcinv(2 * p) : std::sqrt(2.0L) * reference_erfcinv(2 * (1 - p));
}
real half_turns(real x, int *quarter) {
    const real a = std::fmod(std::fabs(x), 2.0L);
    const real n = std::round(2 * a);
    *quarter = static_cast<int>(n) & 3;
    return a - 0.5L * n;
}
real reference_sinpi(real x) {
    if (!std::isfinite(x)) return NAN;
    int quarter;
    const real r = half_turns(x, &quarter);
    if (r == 0 && (quarter & 1) == 0) return std::copysign(0.0L, x);
    const real s = (quarter & 1) != 0 ? std::cos(pi * r) : std::sin(pi * r);
    return ((quarter & 2) != 0) != std::signbit(x) ? -s : s;
}
real reference_cospi(real x) {
    if (!std::isfinite(x)) return NAN;
    int quarter;
    const real r = half_turns(x, &quarter);
    if (r == 0 && (quarter & 1) != 0) return 0;
    const real c = (quarter & 1) != 0 ? std::sin(pi * r) : std::cos(pi * r);
    return quarter == 1 || quarter == 2 ? -c : c;
}
real reference_tanpi(real x) {
    if (!std::isfinite(x)) return NAN;
    int quarter;
    const real r = half_turns(x, &quarter);
    if (r == 0) return static_cast<real>(host::tanpi(static_cast<double>(x)));
    const real t = (quarter & 1) != 0 ? -1 / std::tan(pi * r) : std::tan(pi * r);
    return std::signbit(x) ? -t : t;
}
real reference_lgamma(real x) {
    int sign;
    return ::lgammal_r(x, &sign);
}
// Reference functions return this value where no accuracy is promised.
constexpr real unmeasured = 0x1.23456789p-1040L;
// Near the zeros of lgamma, only the absolute error is bounded.
real reference_lgamma_far(real x) {
    const real y = reference_lgamma(x);
    return std::fabs(y) < 0.1L ? unmeasured : y;
}
template <class T> T device_lgamma(T x) {
    int sign;
    return device::lgamma(x, &sign);
}
template <class T> T device_sine(T x) {
    T s, c;
    device::sincos(x, &s, &c);
    return s;
}
template <class T> T device_cosine(T x) {
    T s, c;
    device::sincos(x, &s, &c);
    return c;
}

// Random arguments. Half of them are uniform in [low, high], the range that matters for the function. The other half
// have any exponent, and are within [least, most].
template <class T> struct arguments {
    std::mt19937_64 random;
    T low, high;
    T operator()(T least, T most) {
        const std::uint64_t r = random();
        if ((r & 1) != 0) return low + (high - low) * static_cast<T>(std::ldexp(static_cast<double>(r >> 11), -53));
        for (;;) {
            T x;
            const std::uint64_t word = random();
            std::memcpy(&x, &word, sizeof x);
            if (x >= least && x <= most) return x;
        }
    }
};

// If true, subnormal arguments and results are not measured.
bool flushing = false;
template <class T> bool is_ignored(T x, real exact) {
    const real least = static_cast<real>(std::numeric_limits<T>::min());
    return flushing && (std::fabs(static_cast<real>(x)) < least || std::fabs(exact) < 2 * least);
}

struct bound {
    double last_bit_float, last_bit_double; // bounds with LAST_BIT
    double for_float, for_double;           // CUDA's bounds, if CUDA has the function
};
struct result {
    double most = 0;
    double at = 0, argument_2 = 0;
};

template <class T> struct function {
    T (*impl)(T);
    real (*exact)(real);
    double low, high, least, most;
};
template <class T> result measure(const function<T> &f, long count) {
    result r;
    const T greatest = std::numeric_limits<T>::max();
    arguments<T> next = {std::mt19937_64(7), static_cast<T>(f.low), static_cast<T>(f.high)};
    const T least = f.least < -static_cast<double>(greatest) ? -greatest : static_cast<T>(f.least);
    const T most = f.most > static_cast<double>(greatest) ? greatest : static_cast<T>(f.most);
    for (long i = 0; i < count; ++i) {
        const T x = next(least, most);
        const real exact = f.exact(static_cast<real>(x));
        if (exact == unmeasured || is_ignored(x, exact)) continue;
        const double d = distance(f.impl(x), exact);
        if (!(d <= r.most)) r = {d, static_cast<double>(x), 0};
    }
    return r;
}
template <class T> struct function_2 {
    T (*impl)(T, T);
    real (*exact)(real, real);
    double low, high, low_2, high_2;
    bool positive;
};
template <class T> result measure(const function_2<T> &f, long count) {
    result r;
    const T most = std::numeric_limits<T>::max();
    arguments<T> next = {std::mt19937_64(7), static_cast<T>(f.low), static_cast<T>(f.high)};
    arguments<T> next_2 = {std::mt19937_64(8), static_cast<T>(f.low_2), static_cast<T>(f.high_2)};
    for (long i = 0; i < count; ++i) {
        const T x = next(f.positive ? T(0) : -most, most), y = next_2(-most, most);
        const real exact = f.exact(static_cast<real>(x), static_cast<real>(y));
        if (is_ignored(x, exact) || is_ignored(y, exact)) continue;
        const double d = distance(f.impl(x, y), exact);
        if (!(d <= r.most)) r = {d, static_cast<double>(x), static_cast<double>(y)};
    }
    return r;
}

// Measures every step-th float against `near`, a fast reference. `exact` measures errors above the current maximum.
result measure_all(float (*impl)(float), double (*near)(double), real (*exact)(real), double least, double most,
                   unsigned step) {
    result r;
    for (std::uint64_t i = 0; i < 0x100000000u; i += step) {
        const std::uint32_t word = static_cast<std::uint32_t>(i);
        float x;
        std::memcpy(&x, &word, sizeof x);
        if (x < least || x > most) continue;
        const float y = impl(x);
        if (distance(y, near(x)) <= r.most) continue;
        const double d = distance(y, exact(x));
        if (exact(x) != unmeasured && !(d <= r.most)) r = {d, static_cast<double>(x), 0};
    }
    return r;
}

struct line {
    const char *name;
    const char *where; // the range of arguments, in words; "" for all
    bound most;        // the bounds that the tests check
    result (*for_float)(long);
    result (*for_double)(long);
    result (*floats)(unsigned); // null for functions of two arguments
};
constexpr double all = HUGE_VAL;

// Lines for f(x) and f(x, y); `exact` takes and returns long double.
#define LINE(name, where, impl, exact, low, high, least, most, ...)                                                    \
    {                                                                                                                  \
        name, where, __VA_ARGS__,                                                                                      \
            [](long n) {                                                                                               \
                return measure<float>({[](float x) { return impl(x); }, [](real x) -> real { return exact(x); }, low,  \
                                       high, least, most},                                                             \
                                      n);                                                                              \
            },                                                                                                         \
            [](long n) {                                                                                               \
                return measure<double>({[](double x) { return impl(x); }, [](real x) -> real { return exact(x); },     \
                                        low, high, least, most},                                                       \
                                       n);                                                                             \
            },                                                                                                         \
            [](unsigned step) {                                                                                        \
                return measure_all([](float x) { return impl(x); },                                                    \
                                   [](double x) { return static_cast<double>(exact(x)); },                             \
                                   [](real x) -> real { return exact(x); }, least, most, step);                        \
            }                                                                                                          \
    }
#define LINE_2(name, where, impl, exact, low, high, low_2, high_2, positive, ...)                                      \
    {                                                                                                                  \
        name, where, __VA_ARGS__,                                                                                      \
            [](long n) {                                                                                               \
                return measure<float>({[](float x, float y) { return impl(x, y); },                                    \
                                       [](real x, real y) -> real { return exact(x, y); }, low, high, low_2, high_2,   \
                                       positive},                                                                      \
                                      n);                                                                              \
            },                                                                                                         \
            [](long n) {                                                                                               \
                return measure<double>({[](double x, double y) { return impl(x, y); },                                 \
                                        [](real x, real y) -> real { return exact(x, y); }, low, high, low_2, high_2,  \
                                        positive},                                                                     \
                                       n);                                                                             \
            },                                                                                                         \
            nullptr                                                                                                    \
    }
#define C(name, low, high, least, most, ...)                                                                           \
    LINE(#name, "", device::name, std::name, low, high, least, most, __VA_ARGS__)
#define REF(name, low, high, least, most, ...)                                                                         \
    LINE(#name, "", device::name, reference_##name, low, high, least, most, __VA_ARGS__)

real reference_rsqrt(real x) {
    return 1 / std::sqrt(x);
}
real reference_rcbrt(real x) {
    return 1 / std::cbrt(x);
}
real reference_exp10(real x) {
    return ::exp10l(x);
}

const line lines[] = {
    // clang-format off
    C(acos, -1, 1, -1, 1, {1, 1, 2, 2}),
    C(acosh, 1, 4, 1, all, {1, 1, 4, 3}),
    C(asin, -1, 1, -1, 1, {1, 1, 2, 2}),
    C(asinh, -4, 4, -all, all, {1, 1, 3, 3}),
    C(atan, -4, 4, -all, all, {1, 1, 2, 2}),
    LINE_2("atan2", "", device::atan2, std::atan2, -4, 4, -4, 4, false, {1, 1, 3, 2}),
    C(atanh, -1, 1, -1, 1, {1, 1, 3, 2}),
    C(cbrt, -8, 8, -all, all, {1, 1, 1, 1}),
    C(cos, -10, 10, -all, all, {1, 1, 2, 2}),
    C(cosh, -10, 10, -all, all, {1.5, 1.5, 2, 1}),
    REF(cospi, -2, 2, -all, all, {1, 1, 1, 2}),
    C(erf, -3, 3, -all, all, {1, 1, 2, 2}),
    C(erfc, -3, 10, -all, all, {3, 3, 4, 5}),
    REF(erfcinv, 0, 2, 0, 2, {2, 2, 4, 6}),
    REF(erfinv, -1, 1, -1, 1, {2, 2, 2, 5}),
    C(exp, -20, 20, -all, all, {1, 1, 2, 1}),
    REF(exp10, -20, 20, -all, all, {1, 1, 2, 1}),
    C(exp2, -20, 20, -all, all, {1, 1, 2, 1}),
    C(expm1, -2, 2, -all, all, {1, 1, 1, 1}),
    LINE_2("hypot", "", device::hypot, std::hypot, -4, 4, -4, 4, false, {1, 1, 3, 2}),
    LINE("lgamma", "positive", device_lgamma, reference_lgamma, 0, 12, 0, all, {3, 3, 6, 4}),
    LINE("lgamma", "negative, where the result is not within 0.1 of 0", device_lgamma, reference_lgamma_far, -12, 0, -all, 0, {3, 3, 6, 4}),
    C(log, 0, 4, 0, all, {1, 1, 1, 1}),
    C(log10, 0, 4, 0, all, {1, 1, 2, 1}),
    C(log1p, -1, 4, -1, all, {1, 1, 1, 1}),
    C(log2, 0, 4, 0, all, {1, 1, 1, 1}),
    REF(phi, -10, 10, -all, all, {3, 3, 5, 5}),
    LINE_2("pow", "", device::pow, std::pow, 0, 4, -30, 30, true, {1, 1, 4, 2}),
    REF(probit, 0, 1, 0, 1, {3, 3, 5, 8}),
    REF(rcbrt, -8, 8, -all, all, {1, 1, 1, 1}),
    REF(rsqrt, 0, 4, 0, all, {1, 1, 2, 1}),
    C(sin, -10, 10, -all, all, {1, 1, 2, 2}),
    LINE("sincos", "sine", device_sine, std::sin, -1e5, 1e5, -all, all, {1, 1, 2, 2}),
    LINE("sincos", "cosine", device_cosine, std::cos, -1e5, 1e5, -all, all, {1, 1, 2, 2}),
    C(sinh, -10, 10, -all, all, {1, 1, 3, 2}),
    REF(sinpi, -2, 2, -all, all, {1, 1, 1, 2}),
    C(sqrt, 0, 4, 0, all, {1, 1, 0.5, 0.5}),
    C(tan, -10, 10, -all, all, {1, 1, 4, 2}),
    C(tanh, -3, 3, -all, all, {1, 1, 2, 1}),
    REF(tanpi, -2, 2, -all, all, {1, 1, 1, 1}),
    C(tgamma, -10, 30, -all, all, {1, 1, 5, 10}),
    // clang-format on
};

void check_bound(const line &one, const char *type, result r, double most) {
    if (!(r.most <= most))
        check::fail(__FILE__, __LINE__,
                    std::string(one.name) + " " + type + ": " + std::to_string(r.most) + " ulp at " +
                        std::to_string(r.at) + ", " + std::to_string(r.argument_2));
}
void check_bounds() {
    for (const line &one : lines) {
        // If division is inexact and fma is not fused, errors may be slightly larger.
        const double more = SLOPPY_DIVISION ? 0.5 : 0;
        check_bound(one, "float", one.for_float(4000), LAST_BIT ? one.most.last_bit_float : one.most.for_float + more);
        check_bound(one, "double", one.for_double(4000),
                    LAST_BIT ? one.most.last_bit_double : one.most.for_double + more);
    }
}

} // namespace

TEST(errors_are_within_bounds) {
    check_bounds();
}
// A device may flush subnormal numbers to zero. The bounds still hold for normal numbers.
TEST(without_subnormal_numbers) {
#if defined(__SSE2__)
    constexpr unsigned flush = 0x8040; // flush-to-zero and denormals-are-zero
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | flush);
    flushing = true;
    check_bounds();
    __builtin_ia32_ldmxcsr(before);
#else
    SKIP("the test cannot flush subnormal numbers on this processor");
#endif
}

namespace {

template <class T> void check_same(T impl, T exact, const char *what, T x, T y) {
    if (bits(impl) == bits(exact) || (std::isnan(impl) && std::isnan(exact))) return;
    char text[160];
    std::snprintf(text, sizeof text, "%s(%a, %a) is %a instead of %a", what, static_cast<double>(x),
                  static_cast<double>(y), static_cast<double>(impl), static_cast<double>(exact));
    check::fail(__FILE__, __LINE__, text);
}
template <class T> const std::vector<T> &edges() {
    typedef std::numeric_limits<T> limits;
    static const std::vector<T> all_edges = [] {
        std::vector<T> v = {T(0),
                            limits::denorm_min(),
                            limits::denorm_min() * 3,
                            limits::min() - limits::denorm_min(),
                            limits::min(),
                            limits::epsilon(),
                            T(0.25),
                            T(0.49999997),
                            T(0.5),
                            T(0.75),
                            T(1) - limits::epsilon() / 2,
                            T(1),
                            T(1) + limits::epsilon(),
                            T(1.5),
                            T(2),
                            T(2.5),
                            T(3),
                            T(7),
                            T(8),
                            T(10.5),
                            T(33),
                            T(0x1p23f) - T(0.5),
                            T(0x1p23f),
                            T(0x1p24f) - 1,
                            T(0x1p52),
                            T(0x1p53) - 1,
                            T(0x1p53),
                            T(0x1p100),
                            limits::max() / 2,
                            limits::max(),
                            limits::infinity()};
        const std::size_t n = v.size();
        for (std::size_t i = 0; i < n; ++i)
            v.push_back(-v[i]);
        v.push_back(limits::quiet_NaN());
        return v;
    }();
    return all_edges;
}
// Calls `check` with all pairs of edge cases, and with random pairs whose numbers often have similar magnitudes.
template <class T, class Check> void each_pair(Check check) {
    for (const T x : edges<T>())
        for (const T y : edges<T>())
            check(x, y);
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t word = random(), other = random();
        T x, y;
        std::memcpy(&x, &word, sizeof x);
        std::memcpy(&y, &other, sizeof y);
        if (std::isnan(x)) x = std::numeric_limits<T>::quiet_NaN(); // fmax treats signaling NaNs differently
        if (std::isnan(y)) y = std::numeric_limits<T>::quiet_NaN();
        if ((i & 1) != 0 && std::isfinite(x)) y = x * static_cast<T>(std::ldexp(static_cast<double>(other >> 40), -12));
        check(x, y);
    }
}

// Functions with exact results must give the bits of the C library's results.
template <class T> void check_exact() {
    each_pair<T>([](T x, T y) {
#define SAME(name, ...) check_same<T>(device::name(__VA_ARGS__), std::name(__VA_ARGS__), #name, x, y)
        SAME(ceil, x);
        SAME(floor, x);
        SAME(trunc, x);
        SAME(round, x);
        SAME(nearbyint, x);
        SAME(fabs, x);
        SAME(logb, x);
        SAME(copysign, x, y);
        SAME(fmod, x, y);
        SAME(remainder, x, y);
        SAME(nextafter, x, y);
        SAME(fdim, x, y);
#undef SAME
        if (x != y) check_same<T>(device::fmax(x, y), std::fmax(x, y), "fmax", x, y);
        if (x != y) check_same<T>(device::fmin(x, y), std::fmin(x, y), "fmin", x, y);
        int q = 0, q_exact = 0, e = 0, e_exact = 0;
        check_same<T>(device::remquo(x, y, &q), host::remquo(x, y, &q_exact), "remquo", x, y);
        if (q != q_exact) check::fail(__FILE__, __LINE__, "the quotient of remquo is " + std::to_string(q));
        check_same<T>(device::frexp(x, &e), std::frexp(x, &e_exact), "frexp", x, y);
        CHECK(e == e_exact || !std::isfinite(x));
        T whole = 0, whole_exact = 0;
        check_same<T>(device::modf(x, &whole), std::modf(x, &whole_exact), "modf", x, y);
        check_same<T>(whole, whole_exact, "modf's whole", x, y);
        CHECK(device::ilogb(x) == std::ilogb(x));
        CHECK(device::signbit(x) == (std::signbit(x) ? 1 : 0) && device::isnan(x) == (std::isnan(x) ? 1 : 0) &&
              device::isinf(x) == (std::isinf(x) ? 1 : 0) && device::isfinite(x) == (std::isfinite(x) ? 1 : 0) &&
              device::isnormal(x) == (std::isnormal(x) ? 1 : 0) && device::fpclassify(x) == std::fpclassify(x));
        const int n = static_cast<int>(bits(y) % 4801) - 2400;
        check_same<T>(device::ldexp(x, n), std::ldexp(x, n), "ldexp", x, static_cast<T>(n));
        check_same<T>(device::scalbn(x, n / 8), std::ldexp(x, n / 8), "scalbn", x, static_cast<T>(n / 8));
    });
    CHECK(bits(device::nan_of<float>(-1)) == bits(host::nanf(-1)) &&
          bits(device::nan_of<double>(-1)) == bits(host::nan(-1)));
    for (const T x : edges<T>())
        for (const T y : edges<T>()) {
            const T rounded = std::rint(y);
            T exact = static_cast<T>(::scalb(static_cast<double>(x), static_cast<double>(y)));
            if (!std::isnan(y) && std::isfinite(y) && rounded == y && std::fabs(y) < T(100000) && std::isfinite(x))
                exact = std::ldexp(x, static_cast<int>(y));
            else if (std::isfinite(y) && rounded == y)
                continue;
            check_same<T>(device::scalb(x, y), exact, "scalb", x, y);
        }
}

// At edge cases, a result must have the class and sign of the C library's result, and be within 4 ulp of it.
template <class T> void check_edge(T impl, T exact, const char *what, T x, T y) {
    if (std::isfinite(exact) && exact != 0 && distance(impl, static_cast<real>(exact)) <= 4) return;
    check_same(impl, exact, what, x, y);
}
template <class T> void check_edges() {
    for (const T x : edges<T>()) {
#define EDGE(name) check_edge<T>(device::name(x), std::name(x), #name, x, T(0))
        EDGE(acos);
        EDGE(acosh);
        EDGE(asin);
        EDGE(asinh);
        EDGE(atan);
        EDGE(atanh);
        EDGE(cbrt);
        EDGE(cos);
        EDGE(cosh);
        EDGE(erf);
        EDGE(erfc);
        EDGE(exp);
        EDGE(exp2);
        EDGE(expm1);
        EDGE(log);
        EDGE(log10);
        EDGE(log1p);
        EDGE(log2);
        EDGE(sin);
        EDGE(sinh);
        EDGE(sqrt);
        EDGE(tan);
        EDGE(tanh);
        EDGE(tgamma);
#undef EDGE
#define EDGE(name) check_edge<T>(device::name(x), static_cast<T>(host::name(static_cast<double>(x))), #name, x, T(0))
        EDGE(cospi);
        EDGE(erfcinv);
        EDGE(erfinv);
        EDGE(phi);
        EDGE(probit);
        EDGE(rcbrt);
        EDGE(rsqrt);
        EDGE(sinpi);
        EDGE(tanpi);
#undef EDGE
        check_edge<T>(device::exp10(x), static_cast<T>(::exp10l(static_cast<real>(x))), "exp10", x, T(0));
        int sign = 0, exact_sign = 0;
        check_edge<T>(device::lgamma(x, &sign), static_cast<T>(::lgammal_r(static_cast<real>(x), &exact_sign)),
                      "lgamma", x, T(0));
        if (std::isfinite(x) && (x > 0 || std::trunc(x) != x)) CHECK(sign == exact_sign);
        T s, c;
        device::sincos(x, &s, &c);
        check_edge<T>(s, std::sin(x), "sincos's sine", x, T(0));
        check_edge<T>(c, std::cos(x), "sincos's cosine", x, T(0));
        for (const T y : edges<T>()) {
            check_edge<T>(device::atan2(x, y), std::atan2(x, y), "atan2", x, y);
            check_edge<T>(device::hypot(x, y), std::hypot(x, y), "hypot", x, y);
            check_edge<T>(device::pow(x, y), std::pow(x, y), "pow", x, y);
        }
    }
}

} // namespace

TEST(exact_functions) {
    check_exact<float>();
    check_exact<double>();
}
TEST(edges_of_domains) {
    check_edges<float>();
    check_edges<double>();
}
// Results that are exactly representable are exact.
TEST(whole_results) {
    CHECK(device::log10(1000.0) == 3 && device::log2(8.0f) == 3 && device::exp10(2.0f) == 100 &&
          device::pow(3.0, 4.0) == 81);
    CHECK(device::cbrt(27.0) == 3 && device::hypot(3.0f, 4.0f) == 5 && device::exp2(10.0) == 1024);
    CHECK(device::tgamma(5.0f) == 24 && device::tgamma(11.0) == 3628800 && device::pow(-2.0f, 3.0f) == -8);
    CHECK(device::sinpi(0.5) == 1 && device::cospi(1.0f) == -1 && device::tanpi(0.25) == 1);
}

// The odd numbers k below 2^bits with k^2 = d modulo 2^bits, where d = 1 modulo 8.
std::vector<std::uint64_t> odd_roots(std::int64_t d, int bits) {
    std::vector<std::uint64_t> roots = {1, 3, 5, 7};
    for (int known = 3; known < bits; known++) {
        const std::uint64_t mask = (std::uint64_t(2) << known) - 1;
        std::vector<std::uint64_t> longer;
        for (const std::uint64_t root : roots)
            for (const std::uint64_t k : {root, root + (std::uint64_t(1) << known)})
                if (((k * k - static_cast<std::uint64_t>(d)) & mask) == 0) longer.push_back(k);
        // Each root has a twin, which differs in the highest known bit but one.
        std::vector<std::uint64_t> all = longer;
        for (const std::uint64_t k : longer) {
            const std::uint64_t twin = k ^ (std::uint64_t(1) << (known - 1));
            if (((twin * twin - static_cast<std::uint64_t>(d)) & mask) == 0) all.push_back(twin);
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        roots = all;
    }
    return roots;
}

// The doubles in [1, 4) whose roots are closest to the midpoint of two doubles. For a midpoint k / 2^53, they are
// (k^2 - d) / 2^106 with a small d.
TEST(roots_close_to_midpoints_are_rounded_correctly) {
    int count = 0;
    for (std::int64_t d = -479; d < 480; d += 8)
        for (const int bits : {54, 55})
            for (const std::uint64_t root : odd_roots(d, bits)) {
                const std::uint64_t k = root & ((std::uint64_t(1) << 54) - 1);
                const real midpoint = std::ldexp(static_cast<real>(k), -53);
                const double x = static_cast<double>(midpoint * midpoint);
                if (midpoint < 1 || (x < 2) != (bits == 54)) continue;
                count++;
                for (int calls = 0; calls < 3; calls++)
                    CHECK(device::sqrt(x) == std::sqrt(x));
            }
    CHECK(count > 100);
}

// Every seventh significand, and numbers whose roots are close to the midpoint of two numbers.
TEST(roots_are_rounded_correctly) {
    has_inexact_roots = true;
    for (std::uint32_t n = 0; n < 1u << 24; n += 7) {
        const std::uint32_t word = 0x3f800000 + n;
        float x;
        std::memcpy(&x, &word, sizeof x);
        CHECK(device::sqrt(x) == std::sqrt(x));
    }
    for (int i = 0; i < 100; ++i) {
        for (const float x :
             {0x1.f82294p+0f, 0x1.542efep+1f, 0x1.9a2854p+1f, 0x1.b5c076p+1f, 0x1.dd26e4p+1f, 0x1.fffffep+1f})
            CHECK(device::sqrt(x) == std::sqrt(x));
        for (const double x : {0x1.fffffffffffffp+1, 0x1.fffffffffffffp+1023, 0x1.ffffffffffffep+1})
            CHECK(device::sqrt(x) == std::sqrt(x));
    }
    has_inexact_roots = SLOPPY_DIVISION;
}

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "floats") {
        for (const line &one : lines) {
            if (one.floats == nullptr) continue;
            const result r = one.floats(argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1);
            std::printf("| %s%s%s | %.2f | %a |\n", one.name, *one.where != 0 ? ", " : "", one.where, r.most, r.at);
            std::fflush(stdout);
            check_bound(one, "float", r,
                        LAST_BIT ? one.most.last_bit_float : one.most.for_float + (SLOPPY_DIVISION ? 0.5 : 0));
        }
        return check::failures() == 0 ? 0 : 1;
    }
    if (what != "table" && what != "columns") return check::main(argc, argv);
    const long count = argc > 2 ? std::atol(argv[2]) : 1000000;
    for (const line &one : lines) {
        const result f = one.for_float(count), d = one.for_double(count);
        if (what == "table") std::printf("| %s%s%s ", one.name, *one.where != 0 ? ", " : "", one.where);
        std::printf("| %.2f | %.2f |\n", f.most, d.most);
    }
    return 0;
}
