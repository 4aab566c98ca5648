// revamp: what every header of the C++ AMP shim begins with: the compiler is checked, the namespaces and the
// words functions are declared with are here. What is restrict(amp) alone is REVAMP_HD too: host threads run kernels as
// host code.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_CONFIG_H
#define REVAMP_DETAIL_CONFIG_H

#if !defined(__cplusplus) || (__cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#error "The C++ AMP headers of revamp need C++17 or later (-std=c++17)"
#endif
// Clang that stands in for Microsoft's compiler (clang-cl) is not called GNU.
#if !defined(__GNUC__) && !defined(__clang__)
#error "The C++ AMP headers of revamp need GCC or Clang"
#endif

// The namespaces.
//
// Everything lives in an inline ABI namespace, so that two versions of the shim in one program do not meet at link
// time. Reopen them only through these macros:
//
//     REVAMP_NAMESPACE_BEGIN ... REVAMP_NAMESPACE_END      namespace Concurrency, what programs name
//     REVAMP_DETAIL_BEGIN ... REVAMP_DETAIL_END            namespace revamp::detail, what they do not
//
// Internals are outside Concurrency, since `using namespace concurrency;` would otherwise make a program's own
// `detail` ambiguous, and argument-dependent look-up would find them.
#define REVAMP_ABI abi_1
#define REVAMP_NAMESPACE_BEGIN                                                                                         \
    namespace Concurrency {                                                                                            \
    inline namespace REVAMP_ABI {
#define REVAMP_NAMESPACE_END                                                                                           \
    }                                                                                                                  \
    }
#define REVAMP_DETAIL_BEGIN                                                                                            \
    namespace revamp {                                                                                                 \
    inline namespace REVAMP_ABI {                                                                                      \
    namespace detail {
#define REVAMP_DETAIL_END                                                                                              \
    }                                                                                                                  \
    }                                                                                                                  \
    }

REVAMP_NAMESPACE_BEGIN
REVAMP_NAMESPACE_END
namespace concurrency = Concurrency;

REVAMP_DETAIL_BEGIN
REVAMP_DETAIL_END

// REVAMP_DEVICE_LANGUAGE: the compiler knows host and device functions (Clang's HIP mode), in either pass.
// REVAMP_DEVICE_PASS: this pass makes device code. It is spared what only the host runs: larger functions are only
// declared in it.
#if defined(__HIP__)
#define REVAMP_DEVICE_LANGUAGE 1
#define REVAMP_HOST __attribute__((host))
#define REVAMP_DEVICE __attribute__((device))
#else
#define REVAMP_DEVICE_LANGUAGE 0
#define REVAMP_HOST
#define REVAMP_DEVICE
#endif
#if defined(__HIP_DEVICE_COMPILE__)
#define REVAMP_DEVICE_PASS 1
#else
#define REVAMP_DEVICE_PASS 0
#endif
// REVAMP_DEVICE_ON_HOST: a device pass whose code runs on host threads, one function call per thread. The kernel
// compiler makes it for builds without native kernels (docs/kernel-compiler-design.md#kernels-thread-by-thread).
#if REVAMP_DEVICE_PASS && defined(REVAMP_AMP_ON_HOST)
#define REVAMP_DEVICE_ON_HOST 1
#else
#define REVAMP_DEVICE_ON_HOST 0
#endif
// Goes before a function that is restrict(amp,cpu). On host threads the kernel compiler inlines the short ones in debug
// builds too: their instructions are then the caller's line.
#if REVAMP_DEVICE_ON_HOST
#define REVAMP_HD REVAMP_HOST REVAMP_DEVICE __attribute__((nodebug))
#else
#define REVAMP_HD REVAMP_HOST REVAMP_DEVICE
#endif

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

// ThreadSanitizer does not see into the library. It is told what the library promises: what came before a launch comes
// before its kernel, and what a kernel did comes before the return of later calls, which wait for it where it matters.
#if REVAMP_TSAN
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
REVAMP_DETAIL_BEGIN
inline char order_of_kernels __asm__("revamp_order_of_kernels");
inline void release_order() noexcept {
    __tsan_release(&order_of_kernels);
}
inline void acquire_order() noexcept {
    __tsan_acquire(&order_of_kernels);
}
REVAMP_DETAIL_END
#else
REVAMP_DETAIL_BEGIN
inline void release_order() noexcept {}
inline void acquire_order() noexcept {}
REVAMP_DETAIL_END
#endif

// Types that are thrown, or cross the borders of shared libraries otherwise, are one type even under
// -fvisibility=hidden. On Windows types are compared by name.
#ifdef _WIN32
#define REVAMP_VISIBLE
#else
#define REVAMP_VISIBLE __attribute__((visibility("default")))
#endif

// Between these, templates are each image's own (the program, a shared library): two of the same name are not one,
// whatever the program is compiled and linked with. The address of a kernel's entry point tells the library which
// kernel is meant.
#ifdef _WIN32
#define REVAMP_OWN_BEGIN
#define REVAMP_OWN_END
#else
#define REVAMP_OWN_BEGIN _Pragma("GCC visibility push(hidden)")
#define REVAMP_OWN_END _Pragma("GCC visibility pop")
#endif

#endif // REVAMP_DETAIL_CONFIG_H
