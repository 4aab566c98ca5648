// fast_math and precise_math in device code: the one place where their names meet what the device's compiler knows.
//
// In Clang's HIP mode each function is declared a second time with the device attribute, beside the host's of
// amp_math.h; amp code takes these. They call the extern "C" functions below, one a name and type, which the kernel
// compiler replaces by the instruction of GLSL.std.450 (float, and the 64-bit ones that exist) or by code of its own:
//
//     __revamp_fast_<name>_f32, __revamp_precise_<name>_f32, __revamp_precise_<name>_f64
#ifndef REVAMP_DETAIL_DEVICE_MATH_H
#define REVAMP_DETAIL_DEVICE_MATH_H

#include "config.h"
#include "math_names.h"

#if REVAMP_DEVICE_LANGUAGE

#define REVAMP_MATH_1(set, type, name, suffixed, symbol)                                                               \
    extern "C" REVAMP_DEVICE type __revamp_##set##_##symbol(type);                                                     \
    REVAMP_DEVICE inline type name(type x) {                                                                           \
        return __revamp_##set##_##symbol(x);                                                                           \
    }
#define REVAMP_MATH_2(set, type, name, suffixed, symbol)                                                               \
    extern "C" REVAMP_DEVICE type __revamp_##set##_##symbol(type, type);                                               \
    REVAMP_DEVICE inline type name(type x, type y) {                                                                   \
        return __revamp_##set##_##symbol(x, y);                                                                        \
    }
// Any shape: the result, the parameters and the arguments, each in parentheses where there is more than one.
#define REVAMP_MATH_ANY(set, symbol, result, name, parameters, arguments)                                              \
    extern "C" REVAMP_DEVICE result __revamp_##set##_##symbol parameters;                                              \
    REVAMP_DEVICE inline result name parameters {                                                                      \
        return __revamp_##set##_##symbol arguments;                                                                    \
    }

// The f form calls the float form.
#define REVAMP_MATH_F_1(name)                                                                                          \
    REVAMP_DEVICE inline float name##f(float x) {                                                                      \
        return name(x);                                                                                                \
    }
#define REVAMP_MATH_F_2(name)                                                                                          \
    REVAMP_DEVICE inline float name##f(float x, float y) {                                                             \
        return name(x, y);                                                                                             \
    }

// What both namespaces have, for one type.
#define REVAMP_MATH_SHARED(set, type, bits)                                                                            \
    REVAMP_MATH_ANY(set, frexp_##bits, type, frexp, (type x, int *exponent), (x, exponent))                            \
    REVAMP_MATH_ANY(set, ldexp_##bits, type, ldexp, (type x, int exponent), (x, exponent))                             \
    REVAMP_MATH_ANY(set, modf_##bits, type, modf, (type x, type * whole), (x, whole))                                  \
    REVAMP_MATH_ANY(set, sincos_##bits, void, sincos, (type x, type * sine, type * cosine), (x, sine, cosine))         \
    REVAMP_MATH_ANY(set, signbit_##bits, int, signbit, (type x), (x))                                                  \
    REVAMP_MATH_ANY(set, isfinite_##bits, int, isfinite, (type x), (x))                                                \
    REVAMP_MATH_ANY(set, isinf_##bits, int, isinf, (type x), (x))                                                      \
    REVAMP_MATH_ANY(set, isnan_##bits, int, isnan, (type x), (x))
#define REVAMP_MATH_SHARED_F                                                                                           \
    REVAMP_DEVICE inline float frexpf(float x, int *exponent) {                                                        \
        return frexp(x, exponent);                                                                                     \
    }                                                                                                                  \
    REVAMP_DEVICE inline float ldexpf(float x, int exponent) {                                                         \
        return ldexp(x, exponent);                                                                                     \
    }                                                                                                                  \
    REVAMP_DEVICE inline float modff(float x, float *whole) {                                                          \
        return modf(x, whole);                                                                                         \
    }                                                                                                                  \
    REVAMP_DEVICE inline void sincosf(float x, float *sine, float *cosine) {                                           \
        sincos(x, sine, cosine);                                                                                       \
    }                                                                                                                  \
    REVAMP_DEVICE inline int signbitf(float x) {                                                                       \
        return signbit(x);                                                                                             \
    }
// What only precise_math has.
#define REVAMP_MATH_MORE(type, bits)                                                                                   \
    REVAMP_MATH_ANY(precise, fma_##bits, type, fma, (type x, type y, type z), (x, y, z))                               \
    REVAMP_MATH_ANY(precise, ilogb_##bits, int, ilogb, (type x), (x))                                                  \
    REVAMP_MATH_ANY(precise, lgamma_##bits, type, lgamma, (type x, int *sign), (x, sign))                              \
    REVAMP_MATH_ANY(precise, remquo_##bits, type, remquo, (type x, type y, int *quotient), (x, y, quotient))           \
    REVAMP_MATH_ANY(precise, scalb_##bits, type, scalb, (type x, type y), (x, y))                                      \
    REVAMP_MATH_ANY(precise, scalbn_##bits, type, scalbn, (type x, int exponent), (x, exponent))                       \
    REVAMP_MATH_ANY(precise, fpclassify_##bits, int, fpclassify, (type x), (x))                                        \
    REVAMP_MATH_ANY(precise, isnormal_##bits, int, isnormal, (type x), (x))

REVAMP_NAMESPACE_BEGIN
namespace fast_math {
#define REVAMP_MATH_F(name) REVAMP_MATH_1(fast, float, name, name##f, name##_f32) REVAMP_MATH_F_1(name)
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_F)
REVAMP_MATH_F(rsqrt)
#undef REVAMP_MATH_F
#define REVAMP_MATH_F(name) REVAMP_MATH_2(fast, float, name, name##f, name##_f32) REVAMP_MATH_F_2(name)
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_F)
#undef REVAMP_MATH_F
REVAMP_MATH_SHARED(fast, float, f32)
REVAMP_MATH_SHARED_F
} // namespace fast_math

namespace precise_math {
#define REVAMP_MATH_F(name)                                                                                            \
    REVAMP_MATH_1(precise, float, name, name##f, name##_f32)                                                           \
    REVAMP_MATH_1(precise, double, name, name##f, name##_f64)                                                          \
    REVAMP_MATH_F_1(name)
REVAMP_MATH_FAST_UNARY(REVAMP_MATH_F)
REVAMP_MATH_PRECISE_UNARY(REVAMP_MATH_F)
REVAMP_MATH_OWN_UNARY(REVAMP_MATH_F)
#undef REVAMP_MATH_F
#define REVAMP_MATH_F(name)                                                                                            \
    REVAMP_MATH_2(precise, float, name, name##f, name##_f32)                                                           \
    REVAMP_MATH_2(precise, double, name, name##f, name##_f64)                                                          \
    REVAMP_MATH_F_2(name)
REVAMP_MATH_FAST_BINARY(REVAMP_MATH_F)
REVAMP_MATH_PRECISE_BINARY(REVAMP_MATH_F)
#undef REVAMP_MATH_F
REVAMP_MATH_SHARED(precise, float, f32)
REVAMP_MATH_SHARED(precise, double, f64)
REVAMP_MATH_SHARED_F
REVAMP_MATH_MORE(float, f32)
REVAMP_MATH_MORE(double, f64)
REVAMP_MATH_ANY(precise, nan_f64, double, nan, (int payload), (payload))
REVAMP_MATH_ANY(precise, nan_f32, float, nanf, (int payload), (payload))
REVAMP_DEVICE inline float fmaf(float x, float y, float z) {
    return fma(x, y, z);
}
REVAMP_DEVICE inline int ilogbf(float x) {
    return ilogb(x);
}
REVAMP_DEVICE inline float lgammaf(float x, int *sign) {
    return lgamma(x, sign);
}
REVAMP_DEVICE inline float remquof(float x, float y, int *quotient) {
    return remquo(x, y, quotient);
}
REVAMP_DEVICE inline float scalbf(float x, float y) {
    return scalb(x, y);
}
REVAMP_DEVICE inline float scalbnf(float x, int exponent) {
    return scalbn(x, exponent);
}
} // namespace precise_math
REVAMP_NAMESPACE_END

#undef REVAMP_MATH_1
#undef REVAMP_MATH_2
#undef REVAMP_MATH_ANY
#undef REVAMP_MATH_F_1
#undef REVAMP_MATH_F_2
#undef REVAMP_MATH_SHARED
#undef REVAMP_MATH_SHARED_F
#undef REVAMP_MATH_MORE

#endif

#endif
