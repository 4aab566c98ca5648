// revamp: device versions of host-only functions of the standard library: `std::abs` of integers, and `std::swap` and
// `std::exchange` before C++20. Other functions that kernels may use are constexpr, so Clang treats them as host+device
// functions.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_DEVICE_STD_H
#define REVAMP_DETAIL_DEVICE_STD_H

#include "config.h"

#if REVAMP_DEVICE_LANGUAGE
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace std {
REVAMP_DEVICE inline int abs(int x) {
    return x < 0 ? -x : x;
}
// With REVAMP_LIBRARY_IS_BOTH, functions of the C++ library (but not of the C library) are host+device already.
#if !defined(REVAMP_LIBRARY_IS_BOTH)
REVAMP_DEVICE inline long abs(long x) {
    return x < 0 ? -x : x;
}
REVAMP_DEVICE inline long long abs(long long x) {
    return x < 0 ? -x : x;
}
#endif

#if __cplusplus < 202002L && !defined(REVAMP_LIBRARY_IS_BOTH)
template <class T>
REVAMP_DEVICE inline enable_if_t<is_move_constructible<T>::value && is_move_assignable<T>::value>
swap(T &a, T &b) noexcept(is_nothrow_move_constructible<T>::value &&is_nothrow_move_assignable<T>::value) {
    T held = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(held);
}
template <class T, size_t N> REVAMP_DEVICE inline void swap(T (&a)[N], T (&b)[N]) noexcept(noexcept(swap(*a, *b))) {
    for (size_t n = 0; n < N; n++)
        swap(a[n], b[n]);
}
template <class T, class U = T> REVAMP_DEVICE inline T exchange(T &object, U &&value) {
    T held = static_cast<T &&>(object);
    object = static_cast<U &&>(value);
    return held;
}
#endif
} // namespace std
#endif

#endif // REVAMP_DETAIL_DEVICE_STD_H
