// revamp: what every header of the C++ AMP shim begins with: the compiler is checked; abi.h has the namespaces and the
// words functions are declared with. What is restrict(amp) alone is REVAMP_HD too: host threads run kernels as host
// code.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_CONFIG_H
#define REVAMP_DETAIL_CONFIG_H

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "The C++ AMP headers of revamp need C++17 or later (-std=c++17)"
#endif
#if !defined(__GNUC__)
#error "The C++ AMP headers of revamp need GCC or Clang"
#endif

#include "abi.h"

#if defined(__SANITIZE_THREAD__)
#define REVAMP_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REVAMP_TSAN 1
#endif
#endif
#ifndef REVAMP_TSAN
#define REVAMP_TSAN 0
#endif

// Types that are thrown, or cross the borders of shared libraries otherwise, are one type even under
// -fvisibility=hidden.
#define REVAMP_VISIBLE __attribute__((visibility("default")))

#endif // REVAMP_DETAIL_CONFIG_H
