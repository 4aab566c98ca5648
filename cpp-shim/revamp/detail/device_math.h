// fast_math and precise_math in device code: maps their functions to operations that the kernel compiler knows.
//
// In Clang's HIP mode, each function is declared a second time with the device attribute, in addition to the host
// function of amp_math.h; amp code calls the device function. The functions of fast_math are instructions of
// GLSL.std.450, called through device_abi.h, or a few LLVM instructions. device_close.h has the functions of
// precise_math (with REVAMP_MATH_LAST_BIT, device_precise.h). Only the device pass needs the bodies; the host pass sees
// declarations. Native kernels call the C library's functions instead (kernelc/src/passes/host_functions.rs).
#ifndef REVAMP_DETAIL_DEVICE_MATH_H
#define REVAMP_DETAIL_DEVICE_MATH_H

#include "config.h"
#include "device_abi.h"
#include "math_names.h"

#if REVAMP_DEVICE_LANGUAGE

#include <type_traits>

#if REVAMP_DEVICE_PASS
#include "device_close.h"
#if defined(REVAMP_MATH_LAST_BIT)
#define REVAMP_MATH_CODE precise
#else
#define REVAMP_MATH_CODE close
#endif

REVAMP_DETAIL_BEGIN
namespace fast {

#define REVAMP_MATH_INSTRUCTION(name)                                                                                  \
    REVAMP_MATH_INLINE float name(float x) {                                                                           \
        return __revamp_fast_##name##_f32(x);                                                                          \
    }
// clang-format off
REVAMP_MATH_INSTRUCTION(acos) REVAMP_MATH_INSTRUCTION(asin) REVAMP_MATH_INSTRUCTION(atan) REVAMP_MATH_INSTRUCTION(cos)
REVAMP_MATH_INSTRUCTION(cosh) REVAMP_MATH_INSTRUCTION(exp) REVAMP_MATH_INSTRUCTION(exp2) REVAMP_MATH_INSTRUCTION(log)
REVAMP_MATH_INSTRUCTION(log2) REVAMP_MATH_INSTRUCTION(rsqrt) REVAMP_MATH_INSTRUCTION(sin) REVAMP_MATH_INSTRUCTION(sinh)
REVAMP_MATH_INSTRUCTION(tan)
// clang-format on
#undef REVAMP_MATH_INSTRUCTION
                REVAMP_MATH_INLINE float atan2(float y, float x) {
    return __revamp_fast_atan2_f32(y, x);
}
REVAMP_MATH_INLINE float pow(float x, float y) {
    return __revamp_fast_pow_f32(x, y);
}
REVAMP_MATH_INLINE float ldexp(float x, int exponent) {
    return __revamp_fast_ldexp_f32(x, exponent);
}

// Calculates x P(x^2) / Q(x^2) for |x| up to 8.5; beyond, the result is 1 with the sign of x. This needs one
// reciprocal. Drivers compile GLSL's Tanh to two powers and more. Reciprocals and powers share one slow unit on
// devices.
REVAMP_MATH_INLINE float tanh(float x) {
    const float a = precise::fabs(x), z = a * a;
    const float p = ((0x1.6e6026p-17f * z + 0x1.7c8b4ep-9f) * z + 0x1.07cdf6p-3f) * z + 0x1.fffff8p-1f;
    const float q = (((0x1.ed74ap-23f * z + 0x1.e67392p-13f) * z + 0x1.82fceap-6f) * z + 0x1.d93bd2p-2f) * z + 1;
    const float y = precise::native_quotient(a * p, q);
    return __builtin_copysignf(a > 8.5f || y > 1 ? 1.0f : y, x);
}

using precise::ceil;
using precise::fabs;
using precise::floor;
using precise::fmax;
using precise::fmin;
using precise::frexp;
using precise::isfinite;
using precise::isinf;
using precise::isnan;
using precise::modf;
using precise::round;
using precise::signbit;
using precise::trunc;
REVAMP_MATH_INLINE float sqrt(float x) {
    return __builtin_sqrtf(x);
}
REVAMP_MATH_INLINE float fmod(float x, float y) {
    return x - y * trunc(precise::native_quotient(x, y));
}
REVAMP_MATH_INLINE float log10(float x) {
    return log2(x) * 0x1.344136p-2f;
}
REVAMP_MATH_INLINE void sincos(float x, float *sine, float *cosine) {
    *sine = sin(x);
    *cosine = cos(x);
}

} // namespace fast
REVAMP_DETAIL_END
#if REVAMP_DEVICE_ON_HOST
// The functions of the C library, which native kernels call (kernelc/src/passes/host_functions.rs).
REVAMP_DETAIL_BEGIN
namespace c_library {
#define REVAMP_MATH_BUILTIN_1(name)                                                                                    \
    REVAMP_MATH_INLINE float name(float x) {                                                                           \
        return __builtin_##name##f(x);                                                                                 \
    }                                                                                                                  \
    REVAMP_MATH_INLINE double name(double x) {                                                                         \
        return __builtin_##name(x);                                                                                    \
    }
#define REVAMP_MATH_BUILTIN_2(name)                                                                                    \
    REVAMP_MATH_INLINE float name(float x, float y) {                                                                  \
        return __builtin_##name##f(x, y);                                                                              \
    }                                                                                                                  \
    REVAMP_MATH_INLINE double name(double x, double y) {                                                               \
        return __builtin_##name(x, y);                                                                                 \
    }
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_BUILTIN_1)
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_BUILTIN_2)
REVAMP_MATH_PRECISE_UNARY(REVAMP_MATH_BUILTIN_1)
REVAMP_MATH_PRECISE_BINARY(REVAMP_MATH_BUILTIN_2)
#undef REVAMP_MATH_BUILTIN_1
#undef REVAMP_MATH_BUILTIN_2
using fast::rsqrt;
} // namespace c_library
REVAMP_DETAIL_END
#endif
#endif

// The namespaces that implement fast_math and precise_math.
#if REVAMP_DEVICE_ON_HOST
#define REVAMP_MATH_FAST_CODE c_library
#define REVAMP_MATH_PRECISE_CODE c_library
#else
#define REVAMP_MATH_FAST_CODE fast
#define REVAMP_MATH_PRECISE_CODE REVAMP_MATH_CODE
#endif

// Each function is declared, and in the device pass defined as a friend of a template instance. Clang instantiates the
// body of such a function, and the parts of device_precise.h that the body needs, only if the program calls the
// function. Instantiating all bodies would take a tenth of a second in every compilation.
#define REVAMP_MATH_DECLARE(target, result, name, parameters, arguments) REVAMP_DEVICE result name parameters;
#define REVAMP_MATH_DEFINE(target, result, name, parameters, arguments)                                                \
    friend REVAMP_DEVICE __attribute__((always_inline)) inline result name parameters {                                \
        return revamp::detail::target arguments;                                                                       \
    }

// Overload resolution prefers functions with this attribute. The host's remquo has the attribute, so the device's
// remquo needs it too.
#define REVAMP_MATH_FIRST __attribute__((enable_if(true, "")))

// F is REVAMP_MATH_DECLARE or REVAMP_MATH_DEFINE; set is the namespace of the implementation; parameters and arguments
// are in parentheses.
#define REVAMP_MATH_1(F, set, type, name, target) F(set::target, type, name, (type x), (x))
#define REVAMP_MATH_2(F, set, type, name, target) F(set::target, type, name, (type x, type y), (x, y))
// Functions of fast_math and precise_math for one type. `f` is the suffix of their names: f, or empty.
#define REVAMP_MATH_SHARED(F, set, type, f)                                                                            \
    F(set::frexp, type, frexp##f, (type x, int *exponent), (x, exponent))                                              \
    F(set::ldexp, type, ldexp##f, (type x, int exponent), (x, exponent))                                               \
    F(set::modf, type, modf##f, (type x, type * whole), (x, whole))                                                    \
    F(set::sincos, void, sincos##f, (type x, type * sine, type * cosine), (x, sine, cosine))                           \
    F(set::signbit, int, signbit##f, (type x), (x))
#define REVAMP_MATH_CLASSES(F, set, type)                                                                              \
    F(set::isfinite, int, isfinite, (type x), (x))                                                                     \
    F(set::isinf, int, isinf, (type x), (x))                                                                           \
    F(set::isnan, int, isnan, (type x), (x))
// Functions of precise_math only.
#define REVAMP_MATH_MORE(F, type, f)                                                                                   \
    F(precise::fma, type, fma##f, (type x, type y, type z), (x, y, z))                                                 \
    F(precise::ilogb, int, ilogb##f, (type x), (x))                                                                    \
    F(precise::lgamma, type, lgamma##f, (type x, int *sign), (x, sign))                                                \
    F(precise::remquo, REVAMP_MATH_FIRST type, remquo##f, (type x, type y, int *quotient), (x, y, quotient))           \
    F(precise::scalb, type, scalb##f, (type x, type y), (x, y))                                                        \
    F(precise::scalbn, type, scalbn##f, (type x, int exponent), (x, exponent))
#define REVAMP_MATH_MORE_CLASSES(F, type)                                                                              \
    F(precise::fpclassify, int, fpclassify, (type x), (x)) F(precise::isnormal, int, isnormal, (type x), (x))

// Macros of one parameter, for the lists of math_names.h. They use the REVAMP_MATH_F that is defined at the expansion.
#define REVAMP_MATH_FAST_1(name)                                                                                       \
    REVAMP_MATH_1(REVAMP_MATH_F, REVAMP_MATH_FAST_CODE, float, name, name)                                             \
    REVAMP_MATH_1(REVAMP_MATH_F, REVAMP_MATH_FAST_CODE, float, name##f, name)
#define REVAMP_MATH_FAST_2(name)                                                                                       \
    REVAMP_MATH_2(REVAMP_MATH_F, REVAMP_MATH_FAST_CODE, float, name, name)                                             \
    REVAMP_MATH_2(REVAMP_MATH_F, REVAMP_MATH_FAST_CODE, float, name##f, name)
#define REVAMP_MATH_BOTH_1(set, name)                                                                                  \
    REVAMP_MATH_1(REVAMP_MATH_F, set, float, name, name)                                                               \
    REVAMP_MATH_1(REVAMP_MATH_F, set, float, name##f, name)                                                            \
    REVAMP_MATH_1(REVAMP_MATH_F, set, double, name, name)
#define REVAMP_MATH_PRECISE_1(name) REVAMP_MATH_BOTH_1(REVAMP_MATH_PRECISE_CODE, name)
#define REVAMP_MATH_OWN_1(name) REVAMP_MATH_BOTH_1(REVAMP_MATH_CODE, name)
#define REVAMP_MATH_PRECISE_2(name)                                                                                    \
    REVAMP_MATH_2(REVAMP_MATH_F, REVAMP_MATH_PRECISE_CODE, float, name, name)                                          \
    REVAMP_MATH_2(REVAMP_MATH_F, REVAMP_MATH_PRECISE_CODE, float, name##f, name)                                       \
    REVAMP_MATH_2(REVAMP_MATH_F, REVAMP_MATH_PRECISE_CODE, double, name, name)

#define REVAMP_MATH_ALL_FAST                                                                                           \
    REVAMP_MATH_FAST_UNARY(REVAMP_MATH_FAST_1)                                                                         \
    REVAMP_MATH_FAST_1(rsqrt)                                                                                          \
    REVAMP_MATH_FAST_BINARY(REVAMP_MATH_FAST_2)                                                                        \
    REVAMP_MATH_SHARED(REVAMP_MATH_F, fast, float, )                                                                   \
    REVAMP_MATH_SHARED(REVAMP_MATH_F, fast, float, f)                                                                  \
    REVAMP_MATH_CLASSES(REVAMP_MATH_F, fast, float)
#define REVAMP_MATH_ALL_PRECISE                                                                                        \
    REVAMP_MATH_FAST_UNARY(REVAMP_MATH_PRECISE_1)                                                                      \
    REVAMP_MATH_PRECISE_UNARY(REVAMP_MATH_PRECISE_1)                                                                   \
    REVAMP_MATH_OWN_UNARY(REVAMP_MATH_OWN_1)                                                                           \
    REVAMP_MATH_FAST_BINARY(REVAMP_MATH_PRECISE_2)                                                                     \
    REVAMP_MATH_PRECISE_BINARY(REVAMP_MATH_PRECISE_2)                                                                  \
    REVAMP_MATH_SHARED(REVAMP_MATH_F, REVAMP_MATH_CODE, float, )                                                       \
    REVAMP_MATH_SHARED(REVAMP_MATH_F, REVAMP_MATH_CODE, float, f)                                                      \
    REVAMP_MATH_SHARED(REVAMP_MATH_F, REVAMP_MATH_CODE, double, )                                                      \
    REVAMP_MATH_CLASSES(REVAMP_MATH_F, precise, float)                                                                 \
    REVAMP_MATH_CLASSES(REVAMP_MATH_F, precise, double)                                                                \
    REVAMP_MATH_MORE(REVAMP_MATH_F, float, )                                                                           \
    REVAMP_MATH_MORE(REVAMP_MATH_F, float, f)                                                                          \
    REVAMP_MATH_MORE(REVAMP_MATH_F, double, )                                                                          \
    REVAMP_MATH_MORE_CLASSES(REVAMP_MATH_F, float)                                                                     \
    REVAMP_MATH_MORE_CLASSES(REVAMP_MATH_F, double)                                                                    \
    REVAMP_MATH_F(precise::nan_of<double>, double, nan, (int payload), (payload))                                      \
    REVAMP_MATH_F(precise::nan_of<float>, float, nanf, (int payload), (payload))

REVAMP_NAMESPACE_BEGIN
#define REVAMP_MATH_F REVAMP_MATH_DECLARE
namespace fast_math {
REVAMP_MATH_ALL_FAST
}
namespace precise_math {
REVAMP_MATH_ALL_PRECISE
}
#undef REVAMP_MATH_F

// Overloads for arguments of several types, as in `pow(x, 2)`. Without these overloads, calls would select the C++
// library's templates, which compute in double on the host. In fast_math all arguments become float. In precise_math
// they become double if one of them is double or none is float.
template <class T, class... More>
using revamp_float_of =
    std::enable_if_t<std::is_arithmetic<T>::value && (std::is_arithmetic<More>::value && ...) &&
                         !(std::is_same<T, float>::value && (std::is_same<More, float>::value && ...)),
                     float>;
template <class... T> using revamp_promotion = revamp::detail::math::promoted_type<T...>;
#define REVAMP_MATH_MIXED_1(name)                                                                                      \
    template <class T> REVAMP_DEVICE inline REVAMP_MATH_F<T> name(T x) {                                               \
        return name(REVAMP_MATH_F<T>(x));                                                                              \
    }
#define REVAMP_MATH_MIXED_2(name)                                                                                      \
    template <class T, class U> REVAMP_DEVICE inline REVAMP_MATH_F<T, U> name(T x, U y) {                              \
        using R = REVAMP_MATH_F<T, U>;                                                                                 \
        return name(R(x), R(y));                                                                                       \
    }
#define REVAMP_MATH_MIXED_POWERS                                                                                       \
    template <class T> REVAMP_DEVICE inline REVAMP_MATH_F<T> frexp(T x, int *exponent) {                               \
        return frexp(REVAMP_MATH_F<T>(x), exponent);                                                                   \
    }                                                                                                                  \
    template <class T> REVAMP_DEVICE inline REVAMP_MATH_F<T> ldexp(T x, int exponent) {                                \
        return ldexp(REVAMP_MATH_F<T>(x), exponent);                                                                   \
    }
namespace fast_math {
#define REVAMP_MATH_F revamp_float_of
REVAMP_MATH_MIXED_POWERS
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_MIXED_1)
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_MIXED_2)
#undef REVAMP_MATH_F
} // namespace fast_math
namespace precise_math {
#define REVAMP_MATH_F revamp_promotion
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_MIXED_2)
REVAMP_MATH_PRECISE_BINARY(REVAMP_MATH_MIXED_2)
REVAMP_MATH_MIXED_2(scalb)
REVAMP_MATH_MIXED_POWERS
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_MIXED_1)
REVAMP_MATH_PRECISE_UNARY(REVAMP_MATH_MIXED_1)
REVAMP_MATH_OWN_UNARY(REVAMP_MATH_MIXED_1)
#undef REVAMP_MATH_F
template <class T> REVAMP_DEVICE inline std::enable_if_t<std::is_integral<T>::value, int> ilogb(T x) {
    return ilogb(double(x));
}
template <class T> REVAMP_DEVICE inline revamp_promotion<T> scalbn(T x, int exponent) {
    return scalbn(revamp_promotion<T>(x), exponent);
}
template <class T> REVAMP_DEVICE inline revamp_promotion<T> lgamma(T x, int *sign) {
    return lgamma(double(x), sign);
}
template <class T, class U> REVAMP_DEVICE inline revamp_promotion<T, U> remquo(T x, U y, int *quotient) {
    using R = revamp_promotion<T, U>;
    return remquo(R(x), R(y), quotient);
}
template <class T, class U, class V> REVAMP_DEVICE inline revamp_promotion<T, U, V> fma(T x, U y, V z) {
    using R = revamp_promotion<T, U, V>;
    return fma(R(x), R(y), R(z));
}
} // namespace precise_math
#undef REVAMP_MATH_MIXED_1
#undef REVAMP_MATH_MIXED_2
#undef REVAMP_MATH_MIXED_POWERS

#if REVAMP_DEVICE_PASS
#define REVAMP_MATH_F REVAMP_MATH_DEFINE
namespace fast_math {
template <class> struct revamp_definitions { REVAMP_MATH_ALL_FAST };
template struct revamp_definitions<void>;
} // namespace fast_math
namespace precise_math {
template <class> struct revamp_definitions { REVAMP_MATH_ALL_PRECISE };
template struct revamp_definitions<void>;
} // namespace precise_math
#undef REVAMP_MATH_F
#endif
REVAMP_NAMESPACE_END

#undef REVAMP_MATH_INLINE
#undef REVAMP_MATH_EXACT
#undef REVAMP_MATH_QUOTIENT
#undef REVAMP_MATH_ROOT
#undef REVAMP_MATH_DECLARE
#undef REVAMP_MATH_DEFINE
#undef REVAMP_MATH_FIRST
#undef REVAMP_MATH_1
#undef REVAMP_MATH_2
#undef REVAMP_MATH_SHARED
#undef REVAMP_MATH_CLASSES
#undef REVAMP_MATH_MORE
#undef REVAMP_MATH_MORE_CLASSES
#undef REVAMP_MATH_FAST_1
#undef REVAMP_MATH_FAST_CODE
#undef REVAMP_MATH_PRECISE_CODE
#undef REVAMP_MATH_BOTH_1
#undef REVAMP_MATH_OWN_1
#undef REVAMP_MATH_FAST_2
#undef REVAMP_MATH_PRECISE_1
#undef REVAMP_MATH_PRECISE_2
#undef REVAMP_MATH_CODE
#undef REVAMP_MATH_ALL_FAST
#undef REVAMP_MATH_ALL_PRECISE

#endif

#endif
