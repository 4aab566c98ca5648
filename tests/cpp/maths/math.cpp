// Tests of fast_math and precise_math on the host (docs/spec/maths.md).
#include <amp_math.h>

#include "../check.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <math.h>
#include <random>
#include <type_traits>

namespace fast = concurrency::fast_math;
namespace precise = concurrency::precise_math;

namespace {

// Prevents constant folding, because the compiler rounds better than the C library.
template <class T> T unfolded(T x) {
    volatile T kept = x;
    return kept;
}

const double inf = std::numeric_limits<double>::infinity();

// The distance of a and b in units in the last place.
double ulp_distance(double a, double b) {
    if (a == b) return 0;
    if (a != a || b != b) return a != a && b != b ? 0 : inf;
    std::int64_t i, k;
    std::memcpy(&i, &a, sizeof i);
    std::memcpy(&k, &b, sizeof k);
    if ((i < 0) != (k < 0)) return inf;
    return static_cast<double>(i > k ? i - k : k - i);
}
// The distance of a from the more precise value b, in units in the last place of float.
double float_ulp_distance(float a, double b) {
    if (static_cast<double>(a) == b) return 0;
    const float rounded = static_cast<float>(b);
    const float next = std::nextafter(rounded, HUGE_VALF);
    return std::fabs(static_cast<double>(a) - b) / (static_cast<double>(next) - static_cast<double>(rounded));
}

// Checks a function (C++ AMP specification 9.1, 9.2) with and without suffix f. Both return the C library's result.
#define ONE(space, name, x)                                                                                            \
    {                                                                                                                  \
        volatile float v = static_cast<float>(x); /* prevents constant folding, as unfolded() does */                  \
        const float expected = std::name(v);                                                                           \
        CHECK(space::name(v) == expected && space::name##f(v) == expected);                                            \
        static_assert(std::is_same<decltype(space::name(1.0f)), float>::value, "");                                    \
        static_assert(std::is_same<decltype(space::name##f(1.0f)), float>::value, "");                                 \
    }
#define ONE_DOUBLE(name, x)                                                                                            \
    ONE(precise, name, x) {                                                                                            \
        volatile double v = x;                                                                                         \
        const double expected = std::name(v);                                                                          \
        CHECK(precise::name(v) == expected);                                                                           \
        static_assert(std::is_same<decltype(precise::name(1.0)), double>::value, "");                                  \
    }
#define ONE_BOTH(name, x) ONE(fast, name, x) ONE_DOUBLE(name, x)
#define TWO(space, name, x, y)                                                                                         \
    CHECK(space::name(static_cast<float>(x), static_cast<float>(y)) ==                                                 \
          std::name(static_cast<float>(x), static_cast<float>(y)));                                                    \
    CHECK(space::name##f(static_cast<float>(x), static_cast<float>(y)) ==                                              \
          std::name(static_cast<float>(x), static_cast<float>(y)));                                                    \
    static_assert(std::is_same<decltype(space::name(1.0f, 1.0f)), float>::value, "");
#define TWO_DOUBLE(name, x, y)                                                                                         \
    TWO(precise, name, x, y)                                                                                           \
    CHECK(precise::name(x, y) == std::name(x, y));                                                                     \
    static_assert(std::is_same<decltype(precise::name(1.0, 1.0)), double>::value, "");
#define TWO_BOTH(name, x, y) TWO(fast, name, x, y) TWO_DOUBLE(name, x, y)

void check_library() {
    // clang-format off
    ONE_BOTH(acos, 0.3) ONE_BOTH(asin, 0.3) ONE_BOTH(atan, 3.3) ONE_BOTH(ceil, 1.3) ONE_BOTH(cos, 1.3)
    ONE_BOTH(cosh, 1.3) ONE_BOTH(exp, 1.3) ONE_BOTH(exp2, 1.3) ONE_BOTH(fabs, -1.3) ONE_BOTH(floor, -1.3)
    ONE_BOTH(log, 1.3) ONE_BOTH(log10, 1.3) ONE_BOTH(log2, 1.3) ONE_BOTH(round, 1.5) ONE_BOTH(sin, 1.3)
    ONE_BOTH(sinh, 1.3) ONE_BOTH(sqrt, 1.3) ONE_BOTH(tan, 1.3) ONE_BOTH(tanh, 1.3) ONE_BOTH(trunc, -1.7)
    TWO_BOTH(atan2, 1.3, -2.0) TWO_BOTH(fmax, 1.3, 2.0) TWO_BOTH(fmin, 1.3, 2.0) TWO_BOTH(fmod, 7.3, 2.0)
    TWO_BOTH(pow, 1.3, 2.5)
    ONE_DOUBLE(acosh, 1.3) ONE_DOUBLE(asinh, 1.3) ONE_DOUBLE(atanh, 0.3) ONE_DOUBLE(cbrt, 1.3) ONE_DOUBLE(erf, 1.3)
    ONE_DOUBLE(erfc, 1.3) ONE_DOUBLE(expm1, 0.3) ONE_DOUBLE(log1p, 0.3) ONE_DOUBLE(logb, 9.3)
    ONE_DOUBLE(nearbyint, 2.5) ONE_DOUBLE(tgamma, 4.3)
    TWO_DOUBLE(copysign, 1.3, -2.0) TWO_DOUBLE(fdim, 3.3, 2.0) TWO_DOUBLE(hypot, 3.0, 4.0)
    TWO_DOUBLE(nextafter, 3.0, 4.0) TWO_DOUBLE(remainder, 7.3, 2.0)
    // clang-format on
}

template <class T> void check_other_signatures() {
    int e = 0;
    T whole = 0, s = 0, c = 0;
    CHECK(precise::frexp(T(12), &e) == T(0.75) && e == 4 && precise::ldexp(T(0.75), 4) == T(12));
    CHECK(precise::modf(T(-2.25), &whole) == T(-0.25) && whole == T(-2));
    precise::sincos(T(0.5), &s, &c);
    CHECK(s == std::sin(T(0.5)) && c == std::cos(T(0.5)));
    CHECK(precise::signbit(T(-0.0)) && !precise::signbit(T(1)) && precise::isfinite(T(1)) && precise::isnan(T(NAN)));
    CHECK(precise::isinf(T(inf)) && precise::isnormal(T(1)) && precise::fpclassify(T(0)) == FP_ZERO);
    CHECK(precise::fma(T(2), T(3), T(4)) == T(10) && precise::ilogb(T(9)) == 3);
    CHECK(precise::scalbn(T(3), 2) == T(12) && precise::scalb(T(3), T(-1)) == T(1.5));
    int sign = 0;
    CHECK(precise::lgamma(unfolded(T(-0.5)), &sign) == std::lgamma(unfolded(T(-0.5))) && sign == -1);
    CHECK(precise::lgamma(unfolded(T(4.5)), &sign) == std::lgamma(unfolded(T(4.5))) && sign == 1);
    CHECK(std::isnan(precise::nan(5)) && std::isnan(precise::nanf(5)));

    // remquo() returns the same result as remainder(), and stores the quotient's low 23 bits with its sign.
    int q = 0;
    CHECK(precise::remquo(T(7), T(2), &q) == T(-1) && q == 4);
    CHECK(precise::remquo(T(-7.5), T(2), &q) == T(0.5) && q == -4);
    CHECK(precise::remquo(T(5), T(2), &q) == T(1) && q == 2);
    CHECK(precise::remquo(T(1234567) * T(4), T(4), &q) == T(0) && q == 1234567);
    CHECK(precise::remquo(T(0x1p23f + 5), T(-1), &q) == T(0) && q == -5);
    CHECK(precise::remquo(T(0x1p23f - 1), T(1), &q) == T(0) && q == 0x7fffff);
    CHECK(precise::remquo(T(3), T(inf), &q) == T(3) && q == 0);
    CHECK(std::isnan(precise::remquo(T(3), T(0), &q)) && std::isnan(precise::remquo(T(inf), T(1), &q)));
    const T tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max();
    CHECK(precise::remquo(tiny * 9, tiny * 2, &q) == tiny && q == 4);
    CHECK(precise::remquo(huge, huge / 2, &q) == T(0) && q == 2);
    std::mt19937_64 random(5);
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t n = static_cast<std::int64_t>(random() & 0xffffff) - 0x800000;
        const int y = static_cast<int>(random() & 0xff) + 1;
        const T x = static_cast<T>(n); // exact in float
        const T r = precise::remquo(x, T(y), &q);
        const double nearest = std::nearbyint(static_cast<double>(n) / y);
        CHECK(r == std::remainder(x, T(y)) && q == static_cast<int>(static_cast<std::int64_t>(nearest) % 0x800000));
    }
}

void check_suffixes() {
    int e = 0;
    float whole = 0, s = 0, c = 0;
    CHECK(fast::frexp(12.0f, &e) == 0.75f && fast::frexpf(12.0f, &e) == 0.75f && precise::frexpf(12.0f, &e) == 0.75f);
    CHECK(fast::ldexp(1.0f, 3) == 8.0f && fast::ldexpf(1.0f, 3) == 8.0f && precise::ldexpf(1.0f, 3) == 8.0f);
    CHECK(fast::modf(2.25f, &whole) == 0.25f && fast::modff(2.25f, &whole) == 0.25f && whole == 2.0f);
    CHECK(precise::modff(2.25f, &whole) == 0.25f);
    fast::sincos(0.5f, &s, &c);
    CHECK(s == std::sin(0.5f) && c == std::cos(0.5f));
    fast::sincosf(0.25f, &s, &c);
    CHECK(s == std::sin(0.25f) && c == std::cos(0.25f));
    precise::sincosf(0.75f, &s, &c);
    CHECK(s == std::sin(0.75f) && c == std::cos(0.75f));
    CHECK(fast::signbit(-1.0f) && fast::signbitf(-1.0f) == 1 && precise::signbitf(1.0f) == 0);
    CHECK(fast::isfinite(1.0f) && !fast::isinf(1.0f) && !fast::isnan(1.0f));
    CHECK(fast::rsqrt(4.0f) == 0.5f && fast::rsqrtf(4.0f) == 0.5f && precise::rsqrtf(4.0f) == 0.5f);
    CHECK(precise::fmaf(2, 3, 4) == 10.0f && precise::ilogbf(9.0f) == 3 && precise::scalbnf(3.0f, 2) == 12.0f);
    CHECK(precise::scalbf(3.0f, 2.0f) == 12.0f && precise::lgammaf(unfolded(4.5f), &e) == std::lgamma(unfolded(4.5f)) &&
          e == 1);
    CHECK(precise::remquof(7.0f, 2.0f, &e) == -1.0f && e == 4);
    const double d = precise::nan(77);
    const float f = precise::nanf(77);
    std::uint64_t d_bits;
    std::uint32_t f_bits;
    std::memcpy(&d_bits, &d, sizeof d);
    std::memcpy(&f_bits, &f, sizeof f);
    CHECK(d_bits == 0x7ff800000000004d && f_bits == 0x7fc0004d);
    static_assert(std::is_same<decltype(precise::nanf(1)), float>::value, "");
    static_assert(std::is_same<decltype(precise::nan(1)), double>::value, "");
}

// Compares functions that the C library lacks with values computed with 400 bits, within the bounds of host_math.h.
struct bounds {
    double sinpi = 1, cospi = 1, tanpi = 2, rsqrt = 0, rcbrt = 0, phi = 6, erfinv = 3, erfcinv = 3, probit = 4,
           exp10 = 2;
};
void check_references() {
    const bounds most;
#define REFERENCE(name, x, y)                                                                                          \
    CHECK(ulp_distance(precise::name(x), y) <= most.name);                                                             \
    if (std::fabs(x) < 1e30 && std::fabs(x) > 1e-30) {                                                                 \
        const float argument = static_cast<float>(x);                                                                  \
        const double exact = precise::name(static_cast<double>(argument));                                             \
        if (std::fabs(exact) < 3e38 && std::fabs(exact) > 1.2e-38) {                                                   \
            CHECK(float_ulp_distance(precise::name(argument), exact) <=                                                \
                  (most.name == 2.0 && #name[0] == 'e' ? 1.0 : 0.51));                                                 \
            CHECK(precise::name(argument) == precise::name##f(argument));                                              \
        }                                                                                                              \
    }
#include "references.inc"
}

// Compares results for random arguments with long double, if long double has more bits than double.
void check_against_long_double() {
    if (std::numeric_limits<long double>::digits <= 53) return;
    std::mt19937_64 random(6);
    std::uniform_real_distribution<double> exponent(-1000, 1000), mantissa(1, 2);
    for (int i = 0; i < 20000; ++i) {
        const double x = std::ldexp(mantissa(random), static_cast<int>(exponent(random)));
        const long double l = static_cast<long double>(x);
        CHECK(ulp_distance(precise::rsqrt(x), static_cast<double>(1 / std::sqrt(l))) <= 1);
        CHECK(ulp_distance(precise::rcbrt(-x), static_cast<double>(-1 / std::cbrt(l))) <= 1);
        // Arguments with odd and with even exponents.
        for (const double d : {2 * mantissa(random), mantissa(random)}) {
            const float f = static_cast<float>(d);
            CHECK(float_ulp_distance(fast::rsqrt(f), 1 / std::sqrt(static_cast<double>(f))) <= 1.5);
        }
        const double u = mantissa(random) - 1, turns = 8 * u - 4;
        const long double angle = 3.14159265358979323846264338327950288L * static_cast<long double>(turns);
        CHECK(std::fabs(static_cast<long double>(precise::sinpi(turns)) - std::sin(angle)) < 2.5e-16L);
        CHECK(std::fabs(static_cast<long double>(precise::cospi(turns)) - std::cos(angle)) < 2.5e-16L);
        // Round trips: a function applied to its inverse's result must give the argument again, up to rounding.
        const double v = precise::erfinv(2 * u - 1);
        CHECK(std::fabs(std::erf(static_cast<long double>(v)) - static_cast<long double>(2 * u - 1)) < 4e-16L);
        const double p = precise::probit(u);
        CHECK(std::fabs(precise::phi(p) - u) < 1e-15);
    }
}

void check_special() {
    CHECK(precise::sinpi(3.0) == 0 && !std::signbit(precise::sinpi(3.0)) && std::signbit(precise::sinpi(-3.0)));
    CHECK(precise::sinpi(0.5) == 1 && precise::sinpi(1.5) == -1 && precise::sinpi(-0.5) == -1 &&
          precise::sinpi(0x1p60) == 0);
    CHECK(precise::cospi(0.5) == 0 && !std::signbit(precise::cospi(1.5)) && precise::cospi(1.0) == -1);
    CHECK(precise::cospi(2.0) == 1 && precise::cospi(0x1p52 + 1) == -1 && precise::cospi(0x1p60) == 1);
    CHECK(precise::tanpi(0.5) == inf && precise::tanpi(1.5) == -inf && precise::tanpi(-0.5) == -inf);
    CHECK(precise::tanpi(1.0) == 0 && std::signbit(precise::tanpi(1.0)) && !std::signbit(precise::tanpi(2.0)));
    CHECK(precise::tanpi(0.25) == 1 && precise::tanpi(0.75) == -1);
    CHECK(std::isnan(precise::sinpi(inf)) && std::isnan(precise::cospi(-inf)) && std::isnan(precise::tanpi(inf)));
    CHECK(precise::sinpif(0.25f) == std::sqrt(0.5f) && precise::cospif(1.0f) == -1 && precise::tanpif(0.5f) == inf);
    CHECK(precise::rsqrt(0.0) == inf && precise::rsqrt(inf) == 0 && std::isnan(precise::rsqrt(-1.0)));
    CHECK(precise::rcbrt(0.0) == inf && precise::rcbrt(-0.0) == -inf && precise::rcbrt(-8.0) == -0.5);
    CHECK(precise::rcbrt(inf) == 0 && precise::rcbrtf(8.0f) == 0.5f && std::isnan(precise::rcbrt(std::nan(""))));
    CHECK(precise::erfinv(0.0) == 0 && precise::erfinv(1.0) == inf && precise::erfinv(-1.0) == -inf);
    CHECK(std::isnan(precise::erfinv(1.5)) && std::isnan(precise::erfinv(std::nan(""))));
    CHECK(precise::erfcinv(1.0) == 0 && precise::erfcinv(0.0) == inf && precise::erfcinv(2.0) == -inf);
    CHECK(std::isnan(precise::erfcinv(-0.5)) && std::isnan(precise::erfcinv(2.5)));
    CHECK(precise::phi(0.0) == 0.5 && precise::phi(inf) == 1 && precise::phi(-inf) == 0 && precise::phi(-40.0) == 0);
    CHECK(std::isnan(precise::phi(std::nan(""))) && precise::phif(0.0f) == 0.5f && precise::phi(9.0) == 1);
    CHECK(precise::probit(0.5) == 0 && precise::probit(0.0) == -inf && precise::probit(1.0) == inf);
    CHECK(std::isnan(precise::probit(1.5)) && precise::probit(0.25) == -precise::probit(0.75));
    CHECK(ulp_distance(precise::exp10(3.0), 1000) <= 2 && float_ulp_distance(precise::exp10(3.0f), 1000) <= 1);
}

// Unqualified calls must compile after a using directive while the C library's declarations are visible.
float unqualified(float x) {
    using namespace concurrency::fast_math;
    float s, c;
    sincos(x, &s, &c);
    return sqrt(x) + sqrtf(x) + rsqrt(x) + pow(x, 2.0f) + fmax(s, c) + fabs(x) + static_cast<float>(isnan(x));
}
double unqualified_precise(double x) {
    using namespace concurrency::precise_math;
    double s, c;
    sincos(x, &s, &c);
    int sign;
    const double gamma = lgamma(x, &sign);
    return sqrt(x) + exp10(x) + exp10f(1.0f) + cospi(x) + rsqrt(x) + phi(x) + gamma + sign + scalb(x, 2.0) + s + c +
           lgamma(x) + static_cast<double>(sinpi(1.0f)) + (std::isnan(nan("")) ? 0 : 1) + hypot(x, x);
}

} // namespace

TEST(mathematics) {
    check_library();
    check_other_signatures<float>();
    check_other_signatures<double>();
    check_suffixes();
    check_references();
    check_against_long_double();
    check_special();
    // The sums of the functions' values, computed with Python.
    CHECK(std::fabs(unqualified(4.0f) - 23.84636f) < 1e-4f);
    CHECK(std::fabs(unqualified_precise(0.25) - 21.7300073378630) < 1e-5);
}

CHECK_MAIN
