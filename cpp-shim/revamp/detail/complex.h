// Products and quotients of complex numbers as Annex G of the C standard defines them, and absolute values. Clang calls
// these functions by name: `__mulsc3` and `__divsc3` for float, `__muldc3` and `__divdc3` for double. std::abs calls
// `cabsf` and `cabs`. On the host, libraries have these functions.
#ifndef REVAMP_DETAIL_COMPLEX_H
#define REVAMP_DETAIL_COMPLEX_H

#define REVAMP_COMPLEX_INLINE __attribute__((device, always_inline)) inline

namespace revamp::detail::complex {

// The layout of T: an unsigned type of the same size, the number of mantissa bits, and the mask of the exponent.
template <class T> struct format;
template <> struct format<float> {
    typedef unsigned bits;
    static constexpr int mantissa = 23;
    static constexpr bits exponents = 0xff;
};
template <> struct format<double> {
    typedef unsigned long long bits;
    static constexpr int mantissa = 52;
    static constexpr bits exponents = 0x7ff;
};

template <class T> REVAMP_COMPLEX_INLINE T magnitude(T x) {
    return x < 0 ? -x : x;
}
template <class T> REVAMP_COMPLEX_INLINE T sign_of(T x, T magnitude) {
    typedef typename format<T>::bits bits;
    const bits sign = bits{1} << (sizeof(T) * 8 - 1);
    return __builtin_bit_cast(T, (__builtin_bit_cast(bits, x) & sign) | __builtin_bit_cast(bits, magnitude));
}
template <class T> REVAMP_COMPLEX_INLINE bool is_nan(T x) {
    return x != x;
}
template <class T> REVAMP_COMPLEX_INLINE bool is_infinite(T x) {
    return magnitude(x) == T(__builtin_inff());
}
template <class T> REVAMP_COMPLEX_INLINE bool is_finite(T x) {
    return magnitude(x) < T(__builtin_inff());
}
// 1 if x is infinite, else 0, with the sign of x.
template <class T> REVAMP_COMPLEX_INLINE T unit_if_infinite(T x) {
    return sign_of(x, is_infinite(x) ? T(1) : T(0));
}
template <class T> REVAMP_COMPLEX_INLINE T zero_for_nan(T x) {
    return is_nan(x) ? sign_of(x, T(0)) : x;
}

// The power of two that scales the greater of |c| and |d| to an exponent near 0, so that squares neither overflow nor
// underflow.
template <class T> REVAMP_COMPLEX_INLINE T scale_of(T c, T d) {
    typedef typename format<T>::bits bits;
    const T greater = magnitude(c) < magnitude(d) ? d : c;
    const bits exponent = __builtin_bit_cast(bits, greater) >> format<T>::mantissa & format<T>::exponents;
    const bits most = format<T>::exponents - 2;
    const bits used = exponent < 1 ? 1 : exponent > most ? most : exponent;
    return __builtin_bit_cast(T, (format<T>::exponents - 1 - used) << format<T>::mantissa);
}

template <class T> REVAMP_COMPLEX_INLINE void multiply(T a, T b, T c, T d, T &real, T &imaginary) {
#pragma clang fp contract(off)
    const T ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    real = ac - bd;
    imaginary = ad + bc;
    if (!is_nan(real) || !is_nan(imaginary)) return;
    bool recovers = false;
    if (is_infinite(a) || is_infinite(b)) {
        a = unit_if_infinite(a), b = unit_if_infinite(b), c = zero_for_nan(c), d = zero_for_nan(d);
        recovers = true;
    }
    if (is_infinite(c) || is_infinite(d)) {
        c = unit_if_infinite(c), d = unit_if_infinite(d), a = zero_for_nan(a), b = zero_for_nan(b);
        recovers = true;
    }
    if (!recovers && (is_infinite(ac) || is_infinite(bd) || is_infinite(ad) || is_infinite(bc))) {
        a = zero_for_nan(a), b = zero_for_nan(b), c = zero_for_nan(c), d = zero_for_nan(d);
        recovers = true;
    }
    if (!recovers) return;
    real = T(__builtin_inff()) * (a * c - b * d);
    imaginary = T(__builtin_inff()) * (a * d + b * c);
}

// The error is a few roundings, relative to the quotient's magnitude. A part far smaller than the other may be less
// accurate.
template <class T> REVAMP_COMPLEX_INLINE void divide(T a, T b, T c, T d, T &real, T &imaginary) {
#pragma clang fp contract(off)
    const T infinity = T(__builtin_inff());
    const T scale = scale_of(c, d), scale_ab = scale_of(a, b), scale_back = 1 / scale_ab;
    const T as = a * scale_ab, bs = b * scale_ab, cs = c * scale, ds = d * scale;
    const T squares = cs * cs + ds * ds;
    // If only one of the two scale factors is below 1, they are multiplied with each other first, so that neither takes
    // the quotient out of range.
    const bool opposite = (scale < 1) != (scale_back < 1);
    const T first = opposite ? scale * scale_back : scale, second = opposite ? T(1) : scale_back;
    real = (as * cs + bs * ds) / squares * first * second;
    imaginary = (bs * cs - as * ds) / squares * first * second;
    if (!is_nan(real) && !is_nan(imaginary)) return;
    const bool both = is_nan(real) && is_nan(imaginary);
    if (both && squares == 0 && (!is_nan(a) || !is_nan(b))) {
        real = sign_of(c, infinity) * a;
        imaginary = sign_of(c, infinity) * b;
    } else if ((is_infinite(a) || is_infinite(b)) && is_finite(c) && is_finite(d)) {
        // One part may be NaN, because the smaller part of the scaled divisor is zero.
        a = unit_if_infinite(a), b = unit_if_infinite(b);
        real = infinity * (a * c + b * d);
        imaginary = infinity * (b * c - a * d);
    } else if (both && (is_infinite(c) || is_infinite(d)) && is_finite(a) && is_finite(b)) {
        c = unit_if_infinite(c), d = unit_if_infinite(d);
        real = T(0) * (as * c + bs * d);
        imaginary = T(0) * (bs * c - as * d);
    }
}

template <class T> REVAMP_COMPLEX_INLINE T absolute(T a, T b) {
    if (is_infinite(a) || is_infinite(b)) return T(__builtin_inff());
    const T scale = scale_of(a, b), as = a * scale, bs = b * scale;
    return __builtin_elementwise_sqrt(as * as + bs * bs) / scale;
}
} // namespace revamp::detail::complex

// `used`: Clang does not count the calls that it generates as uses.
#define REVAMP_COMPLEX_FUNCTION(name, operation, type)                                                                 \
    extern "C" __attribute__((device, used)) inline _Complex type name(type a, type b, type c, type d) {               \
        type parts[2];                                                                                                 \
        revamp::detail::complex::operation(a, b, c, d, parts[0], parts[1]);                                            \
        _Complex type made;                                                                                            \
        __real__ made = parts[0];                                                                                      \
        __imag__ made = parts[1];                                                                                      \
        return made;                                                                                                   \
    }
REVAMP_COMPLEX_FUNCTION(__mulsc3, multiply, float)
REVAMP_COMPLEX_FUNCTION(__divsc3, divide, float)
REVAMP_COMPLEX_FUNCTION(__muldc3, multiply, double)
REVAMP_COMPLEX_FUNCTION(__divdc3, divide, double)
#undef REVAMP_COMPLEX_FUNCTION
// std::abs calls cabsf() and cabs().
extern "C" __attribute__((device, used)) inline float cabsf(_Complex float z) {
    return revamp::detail::complex::absolute(__real__ z, __imag__ z);
}
extern "C" __attribute__((device, used)) inline double cabs(_Complex double z) {
    return revamp::detail::complex::absolute(__real__ z, __imag__ z);
}
#undef REVAMP_COMPLEX_INLINE
#endif
