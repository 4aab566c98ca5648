// revamp: the first include of every header of the C++ AMP shim. Checks the compiler, and defines the namespaces and
// the macros for function declarations. Functions that are only restrict(amp) are REVAMP_HD too, because host threads
// run kernels as host code.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_CONFIG_H
#define REVAMP_DETAIL_CONFIG_H

#if !defined(__cplusplus) || (__cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#error "The C++ AMP headers of revamp need C++17 or later (-std=c++17)"
#endif
// clang-cl does not define __GNUC__.
#if !defined(__GNUC__) && !defined(__clang__)
#error "The C++ AMP headers of revamp need GCC or Clang"
#endif

// The namespaces.
//
// Everything is in an inline ABI namespace, so that two versions of the shim in one program do not clash at link time.
// Reopen the namespaces only through these macros:
//
//     REVAMP_NAMESPACE_BEGIN ... REVAMP_NAMESPACE_END      namespace Concurrency: the names that programs use
//     REVAMP_DETAIL_BEGIN ... REVAMP_DETAIL_END            namespace revamp::detail: internals
//
// Internals are outside Concurrency: otherwise `using namespace concurrency;` would make a program's own `detail`
// ambiguous, and argument-dependent lookup would find them.
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
// REVAMP_DEVICE_PASS: this pass makes device code. To save compile time, it only declares the larger host-only
// functions, without their bodies.
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
// REVAMP_HD precedes a function that is restrict(amp,cpu). For host threads, the kernel compiler inlines short
// functions in debug builds too; `nodebug` gives their instructions the caller's line.
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

// ThreadSanitizer does not see the library's synchronisation. These functions tell it what the library promises:
// accesses before a launch happen before its kernel, and a kernel's accesses happen before the return of later calls.
// (Calls that depend on a kernel wait for it.)
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

// REVAMP_VISIBLE marks types that cross the borders of shared libraries, such as exceptions. Each stays one type under
// -fvisibility=hidden. On Windows, types are compared by name, so the macro is empty.
#ifdef _WIN32
#define REVAMP_VISIBLE
#else
#define REVAMP_VISIBLE __attribute__((visibility("default")))
#endif

// Between these macros, each binary (the program, a shared library) has its own instances of templates, whatever the
// flags. The linker must not merge two instances of the same name, because the library identifies a kernel by the
// address of its entry point.
#ifdef _WIN32
#define REVAMP_PER_BINARY_BEGIN
#define REVAMP_PER_BINARY_END
#else
#define REVAMP_PER_BINARY_BEGIN _Pragma("GCC visibility push(hidden)")
#define REVAMP_PER_BINARY_END _Pragma("GCC visibility pop")
#endif

#endif // REVAMP_DETAIL_CONFIG_H
