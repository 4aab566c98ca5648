// revamp: what every header of the C++ AMP shim begins with: the compiler, the namespace, which code a function is for.
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

// Everything lives in an inline namespace, so that objects compiled against another layout do not link silently.
#define REVAMP_NAMESPACE_BEGIN                                                                                         \
    namespace Concurrency {                                                                                            \
    inline namespace abi_1 {
#define REVAMP_NAMESPACE_END                                                                                           \
    }                                                                                                                  \
    }

REVAMP_NAMESPACE_BEGIN
REVAMP_NAMESPACE_END

// Both spellings are used.
namespace concurrency = Concurrency;

// Which code a function of the shim is for. Clang's HIP language mode compiles sources with kernels twice, for the host and
// for the device; in every other mode these mean nothing.
//   REVAMP_AMP      restrict(cpu, amp), and restrict(amp) too: host threads run kernels as host code
//   REVAMP_DEVICE   1 in the device pass, 0 otherwise
#if defined(__HIP__)
#define REVAMP_AMP __attribute__((host)) __attribute__((device))
#else
#define REVAMP_AMP
#endif
#if defined(__HIP_DEVICE_COMPILE__)
#define REVAMP_DEVICE 1
#else
#define REVAMP_DEVICE 0
#endif

// Types that are thrown, or cross the borders of shared libraries otherwise, are one type even under -fvisibility=hidden.
#define REVAMP_VISIBLE __attribute__((visibility("default")))

#endif // REVAMP_DETAIL_CONFIG_H
