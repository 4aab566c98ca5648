// The names of functions of fast_math and precise_math, grouped by signature, for their host and device declarations.
// Each function also has a name with the suffix f. amp_math.h undefines the lists.
#ifndef REVAMP_DETAIL_MATH_NAMES_H
#define REVAMP_DETAIL_MATH_NAMES_H

// clang-format off
// Functions of fast_math and precise_math: first f(x), then f(x, y). Section 9.1 of the C++ AMP specification lists
// these functions, and also frexp, ldexp, modf, rsqrt, sincos, signbit, isfinite, isinf and isnan.
#define REVAMP_MATH_FAST_UNARY(F)                                                                                      \
    F(acos) F(asin) F(atan) F(ceil) F(cos) F(cosh) F(exp) F(exp2) F(fabs) F(floor) F(log) F(log10) F(log2) F(round)    \
    F(sin) F(sinh) F(sqrt) F(tan) F(tanh) F(trunc)
#define REVAMP_MATH_FAST_BINARY(F)                                                                                     \
    F(atan2) F(fmax) F(fmin) F(fmod) F(pow)
// Functions of precise_math only. The C library lacks the functions of the last list. Section 9.2 of the specification
// lists all of these, and functions of other signatures, which amp_math.h declares.
#define REVAMP_MATH_PRECISE_UNARY(F)                                                                                   \
    F(acosh) F(asinh) F(atanh) F(cbrt) F(erf) F(erfc) F(expm1) F(log1p) F(logb) F(nearbyint) F(tgamma)
#define REVAMP_MATH_PRECISE_BINARY(F)                                                                                  \
    F(copysign) F(fdim) F(hypot) F(nextafter) F(remainder)
#define REVAMP_MATH_OWN_UNARY(F)                                                                                       \
    F(cospi) F(erfcinv) F(erfinv) F(exp10) F(phi) F(probit) F(rcbrt) F(rsqrt) F(sinpi) F(tanpi)
// clang-format on

#endif
