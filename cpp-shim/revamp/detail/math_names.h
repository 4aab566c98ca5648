// The names of fast_math and precise_math by shape, for the host's and the device's declarations of them. Each has a
// form with the suffix f too. amp_math.h undefines the lists.
#ifndef REVAMP_DETAIL_MATH_NAMES_H
#define REVAMP_DETAIL_MATH_NAMES_H

// clang-format off
// In both namespaces: f(x); f(x, y). With frexp, ldexp, modf, rsqrt, sincos, signbit, isfinite, isinf and isnan: 9.1.
#define REVAMP_MATH_FAST_UNARY(F)                                                                                      \
    F(acos) F(asin) F(atan) F(ceil) F(cos) F(cosh) F(exp) F(exp2) F(fabs) F(floor) F(log) F(log10) F(log2) F(round)    \
    F(sin) F(sinh) F(sqrt) F(tan) F(tanh) F(trunc)
#define REVAMP_MATH_FAST_BINARY(F)                                                                                     \
    F(atan2) F(fmax) F(fmin) F(fmod) F(pow)
// In precise_math besides: in the C library, and not. With the other shapes named in amp_math.h: 9.2.
#define REVAMP_MATH_PRECISE_UNARY(F)                                                                                   \
    F(acosh) F(asinh) F(atanh) F(cbrt) F(erf) F(erfc) F(expm1) F(log1p) F(logb) F(nearbyint) F(tgamma)
#define REVAMP_MATH_PRECISE_BINARY(F)                                                                                  \
    F(copysign) F(fdim) F(hypot) F(nextafter) F(remainder)
#define REVAMP_MATH_OWN_UNARY(F)                                                                                       \
    F(cospi) F(erfcinv) F(erfinv) F(exp10) F(phi) F(probit) F(rcbrt) F(rsqrt) F(sinpi) F(tanpi)
// clang-format on

#endif
