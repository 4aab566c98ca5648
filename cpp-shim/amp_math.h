// concurrency::fast_math and concurrency::precise_math.
//
// On the host, using-declarations import the names of <cmath>. So `sqrt(x)` after a using-directive is not ambiguous
// with the global function, results are the C library's, and fast_math takes doubles too. revamp/detail/host_math.h has
// the functions that the C library lacks. revamp/detail/device_math.h has the functions for device code.
//
// precise_math::remquo is revamp's own function, which gives 23 bits of the quotient. With GCC alone, an unqualified
// call may select the C library's remquo, which gives three bits.
#ifndef REVAMP_AMP_MATH_H
#define REVAMP_AMP_MATH_H

#include "revamp/detail/config.h"
#include "revamp/detail/host_math.h"
#include "revamp/detail/math_names.h"
#include "revamp/detail/restrict.h"

#include <cmath>

// If the C library has these functions of C23, they are imported, because calls of revamp's own functions of the same
// names would be ambiguous after a using-directive.
#if defined(__GLIBC__) && defined(__GLIBC_USE)
#if __GLIBC_USE(IEC_60559_FUNCS_EXT_C23) && __GLIBC_PREREQ(2, 41)
#define REVAMP_HAS_PI_FUNCTIONS
#endif
#if __GLIBC_USE(IEC_60559_FUNCS_EXT_C23) && __GLIBC_PREREQ(2, 42)
#define REVAMP_HAS_RSQRT
#endif
#endif

#define REVAMP_MATH_STD(name)                                                                                          \
    using std::name;                                                                                                   \
    using ::name##f;
#define REVAMP_MATH_OWN(name)                                                                                          \
    using revamp::detail::math::name;                                                                                  \
    using revamp::detail::math::precise_math_float::name;                                                              \
    using revamp::detail::math::precise_math_float::name##f;
#define REVAMP_MATH_C23(name)                                                                                          \
    using ::name;                                                                                                      \
    using ::name##f;                                                                                                   \
    using revamp::detail::math::precise_math_float::name;

REVAMP_NAMESPACE_BEGIN

namespace fast_math {
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_STD)
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_STD)
REVAMP_MATH_STD(frexp)
REVAMP_MATH_STD(ldexp)
REVAMP_MATH_STD(modf)
#ifdef REVAMP_HAS_SINCOS
using ::sincos;
using ::sincosf;
#else
using revamp::detail::math::sincosf;
#endif
using revamp::detail::math::signbitf;
using revamp::detail::math::sincos;
using revamp::detail::math::fast_math_float::rsqrt;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
#ifdef REVAMP_HAS_RSQRT
using ::rsqrtf;
#else
using revamp::detail::math::fast_math_float::rsqrtf;
#endif
} // namespace fast_math

namespace precise_math {
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_STD)
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_STD)
REVAMP_MATH_PRECISE_UNARY(REVAMP_MATH_STD)
REVAMP_MATH_PRECISE_BINARY(REVAMP_MATH_STD)
REVAMP_MATH_STD(fma)
REVAMP_MATH_STD(frexp)
REVAMP_MATH_STD(ilogb)
REVAMP_MATH_STD(ldexp)
REVAMP_MATH_STD(lgamma)
REVAMP_MATH_STD(modf)
REVAMP_MATH_STD(scalbn)
using std::fpclassify;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::isnormal;
using std::signbit;

// The GNU C library's functions. Overloads for float or with more parameters are revamp's.
#ifdef REVAMP_HAS_GNU_MATH
using ::exp10;
using ::exp10f;
using ::scalb;
using ::scalbf;
#else
using revamp::detail::math::exp10f;
using revamp::detail::math::scalbf;
#endif
#ifdef REVAMP_HAS_SINCOS
using ::sincos;
using ::sincosf;
#else
using revamp::detail::math::sincosf;
#endif
using ::nanf;
using revamp::detail::math::exp10;
using revamp::detail::math::lgamma;
using revamp::detail::math::lgammaf;
using revamp::detail::math::nan;
using revamp::detail::math::nanf;
using revamp::detail::math::scalb;
using revamp::detail::math::signbitf;
using revamp::detail::math::sincos;
using std::nan;

REVAMP_MATH_OWN(erfcinv)
REVAMP_MATH_OWN(erfinv)
REVAMP_MATH_OWN(phi)
REVAMP_MATH_OWN(probit)
REVAMP_MATH_OWN(rcbrt)
using revamp::detail::math::remquo;
using revamp::detail::math::remquof;
#ifdef REVAMP_HAS_PI_FUNCTIONS
REVAMP_MATH_C23(cospi)
REVAMP_MATH_C23(sinpi)
REVAMP_MATH_C23(tanpi)
#else
REVAMP_MATH_OWN(cospi)
REVAMP_MATH_OWN(sinpi)
REVAMP_MATH_OWN(tanpi)
#endif
#ifdef REVAMP_HAS_RSQRT
REVAMP_MATH_C23(rsqrt)
#else
REVAMP_MATH_OWN(rsqrt)
#endif

// Overloads, for integers and mixed types, of the functions that the C library lacks.
#define REVAMP_MATH_MIXED(name)                                                                                        \
    template <class T> inline revamp::detail::math::promoted_type<T> name(T x) {                                       \
        return name(static_cast<double>(x));                                                                           \
    }
REVAMP_MATH_OWN_UNARY(REVAMP_MATH_MIXED)
#undef REVAMP_MATH_MIXED
template <class T, class U> inline revamp::detail::math::promoted_type<T, U> scalb(T x, U y) {
    using R = revamp::detail::math::promoted_type<T, U>;
    return scalb(static_cast<R>(x), static_cast<R>(y));
}
template <class T> inline revamp::detail::math::promoted_type<T> lgamma(T x, int *sign) {
    return lgamma(static_cast<double>(x), sign);
}
// If the C++ library's template for mixed types is visible too, overload resolution prefers it.
template <class T, class U, class I> inline revamp::detail::math::promoted_type<T, U> remquo(T x, U y, I *quotient) {
    using R = revamp::detail::math::promoted_type<T, U>;
    return precise_math::remquo(static_cast<R>(x), static_cast<R>(y), quotient);
}
} // namespace precise_math

REVAMP_NAMESPACE_END

#undef REVAMP_MATH_STD
#undef REVAMP_MATH_OWN
#undef REVAMP_MATH_C23
#undef REVAMP_HAS_GNU_MATH
#undef REVAMP_HAS_PI_FUNCTIONS
#undef REVAMP_HAS_RSQRT
#undef REVAMP_HAS_SINCOS

#include "revamp/detail/device_math.h"

#undef REVAMP_MATH_FAST_UNARY
#undef REVAMP_MATH_FAST_BINARY
#undef REVAMP_MATH_PRECISE_UNARY
#undef REVAMP_MATH_PRECISE_BINARY
#undef REVAMP_MATH_OWN_UNARY

#endif
