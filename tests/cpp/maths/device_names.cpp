// Kernels that use every name of fast_math and precise_math (docs/spec/maths.md), norm, unorm and the short vectors.
// Each name and type has its own kernel. device_pass.cmake compiles this file and checks the code of the kernels.
#include <amp_math.h>
#include <amp_short_vectors.h>

namespace fast = concurrency::fast_math;
namespace precise = concurrency::precise_math;
namespace graphics = concurrency::graphics;

#if !defined(__HIP_DEVICE_COMPILE__)
#error "for the device pass"
#endif
// The kernel compiler accepts only kernels with one argument, a struct.
template <class T> struct params {
    T *p;
    int *q;
};
extern "C" __attribute__((device)) void __revamp_workgroup_auto(unsigned rank);
template <class Params> __attribute__((device)) inline auto begin(const Params &a) {
    __revamp_workgroup_auto(1);
    return a.p;
}
#define KERNEL extern "C" __attribute__((global, used)) void

// Kernels named float_... must contain no double.
#define ONE(kind, type, space, name)                                                                                   \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        p[0] = space::name(p[1]);                                                                                      \
    }
#define TWO(kind, type, space, name)                                                                                   \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        p[0] = space::name(p[1], p[2]);                                                                                \
    }
#define CLASS(kind, type, space, name)                                                                                 \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        int *q = a.q;                                                                                                  \
        static_assert(std::is_same<decltype(space::name(p[1])), int>::value, "");                                      \
        q[0] = space::name(p[1]);                                                                                      \
    }
#define AND_INT(kind, type, space, name)                                                                               \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        int *q = a.q;                                                                                                  \
        p[0] = space::name(p[1], q[0]);                                                                                \
    }
#define INT_OUT(kind, type, space, name)                                                                               \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        int *q = a.q;                                                                                                  \
        int out = 0;                                                                                                   \
        p[0] = space::name(p[1], &out);                                                                                \
        q[0] = out;                                                                                                    \
    }
#define MODF(kind, type, space, name)                                                                                  \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        type whole;                                                                                                    \
        p[0] = space::name(p[1], &whole);                                                                              \
        p[1] = whole;                                                                                                  \
    }
#define SINCOS(kind, type, space, name)                                                                                \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        type s, c;                                                                                                     \
        space::name(p[1], &s, &c);                                                                                     \
        p[0] = s;                                                                                                      \
        p[1] = c;                                                                                                      \
    }
#define THREE(kind, type, space, name)                                                                                 \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        p[0] = space::name(p[1], p[2], p[3]);                                                                          \
    }
#define REMQUO(kind, type, space, name)                                                                                \
    KERNEL kind##_##space##_##name(params<type> a) {                                                                   \
        type *p = begin(a);                                                                                            \
        int *q = a.q;                                                                                                  \
        int out = 0;                                                                                                   \
        p[0] = space::name(p[1], p[2], &out);                                                                          \
        q[0] = out;                                                                                                    \
    }

#define FAST(shape, name) shape(float, float, fast, name) shape(float, float, fast, name##f)
#define PRECISE(shape, name)                                                                                           \
    shape(float, float, precise, name) shape(float, float, precise, name##f) shape(double, double, precise, name)
#define BOTH(shape, name) FAST(shape, name) PRECISE(shape, name)

// clang-format off
BOTH(ONE, acos) BOTH(ONE, asin) BOTH(ONE, atan) BOTH(TWO, atan2) BOTH(ONE, ceil) BOTH(ONE, cos) BOTH(ONE, cosh)
BOTH(ONE, exp) BOTH(ONE, exp2) BOTH(ONE, fabs) BOTH(ONE, floor) BOTH(TWO, fmax) BOTH(TWO, fmin) BOTH(TWO, fmod)
BOTH(INT_OUT, frexp) BOTH(AND_INT, ldexp) BOTH(ONE, log) BOTH(ONE, log10) BOTH(ONE, log2) BOTH(MODF, modf)
BOTH(TWO, pow) BOTH(ONE, round) BOTH(ONE, rsqrt) BOTH(ONE, sin) BOTH(SINCOS, sincos) BOTH(ONE, sinh) BOTH(ONE, sqrt)
BOTH(ONE, tan) BOTH(ONE, tanh) BOTH(ONE, trunc) BOTH(CLASS, signbit)
CLASS(float, float, fast, isfinite) CLASS(float, float, fast, isinf) CLASS(float, float, fast, isnan)
#define CLASSES(name) CLASS(float, float, precise, name) CLASS(double, double, precise, name)
CLASSES(isfinite) CLASSES(isinf) CLASSES(isnan) CLASSES(isnormal) CLASSES(fpclassify)

PRECISE(ONE, acosh) PRECISE(ONE, asinh) PRECISE(ONE, atanh) PRECISE(ONE, cbrt) PRECISE(TWO, copysign)
PRECISE(ONE, cospi) PRECISE(ONE, erf) PRECISE(ONE, erfc) PRECISE(ONE, erfcinv) PRECISE(ONE, erfinv)
PRECISE(ONE, exp10) PRECISE(ONE, expm1) PRECISE(TWO, fdim) PRECISE(THREE, fma) PRECISE(TWO, hypot)
PRECISE(CLASS, ilogb) PRECISE(INT_OUT, lgamma) PRECISE(ONE, log1p) PRECISE(ONE, logb) PRECISE(ONE, nearbyint)
PRECISE(TWO, nextafter) PRECISE(ONE, phi) PRECISE(ONE, probit) PRECISE(ONE, rcbrt) PRECISE(TWO, remainder)
PRECISE(REMQUO, remquo) PRECISE(TWO, scalb) PRECISE(AND_INT, scalbn) PRECISE(ONE, sinpi) PRECISE(ONE, tanpi)
PRECISE(ONE, tgamma)
    // clang-format on
    KERNEL float_precise_nanf(params<float> a) {
    begin(a)[0] = precise::nanf(a.q[0]);
}
KERNEL double_precise_nan(params<double> a) {
    begin(a)[0] = precise::nan(a.q[0]);
}

// Kernels that use the rest of the device code in the headers.
KERNEL float_norms(params<float> a) {
    float *p = begin(a);
    graphics::norm n(p[0]);
    n += graphics::norm(p[1]);
    ++n;
    graphics::unorm u(n * -n);
    u /= graphics::unorm(0.5f);
    p[0] = n < graphics::norm(u) ? float(n) : float(u);
}
template <class Vector> __attribute__((device)) inline typename Vector::value_type use(const Vector &given) {
    Vector v = given;
    v = v * Vector(v.yx.x) + v.yx - v / Vector(v.y);
    v.yx = v.xy;
    v++;
    v.ref_r() += v.get_x();
    return v == given ? v.x : v.g;
}
struct vectors {
    graphics::float_2 *p;
    graphics::int_2 *q;
    graphics::uint_2 *r;
    graphics::unorm_2 *s;
};
KERNEL float_vectors(vectors a) {
    graphics::float_2 *p = begin(a);
    graphics::int_2 *q = a.q;
    p[0].x = use(p[1]) + float(use(a.s[0]));
    q[0].x = use(q[1] % graphics::int_2(3, 4)) << use(a.r[1] & graphics::uint_2(3u));
    graphics::float_4 wide(p[0].x, p[0].y, p[1].x, p[1].y);
    wide.zyx = wide.xyz + graphics::float_3(graphics::int_3(1, 2, 3));
    p[2] = wide.wz;
}
KERNEL double_vectors(params<graphics::double_2> a) {
    graphics::double_2 *p = begin(a);
    p[0].x = use(p[1]);
}
