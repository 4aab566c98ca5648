// revamp: atomics, memory fences and debug intrinsics (docs/spec/launches.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_ATOMICS_H
#define REVAMP_DETAIL_ATOMICS_H

#include "config.h"
#include "device_abi.h"
#include "exceptions.h"
#include "shapes.h"

#include <cstdarg>
#include <cstdio>
#include <string>

// C++ AMP's atomic operations are relaxed, but programs build locks from them. For devices, the kernel compiler adds
// fences around such locks. On the host, the stronger order costs almost nothing.
#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST
#define REVAMP_ORDER __ATOMIC_RELAXED
#define REVAMP_FAILURE_ORDER __ATOMIC_RELAXED
#else
#define REVAMP_ORDER __ATOMIC_ACQ_REL
#define REVAMP_FAILURE_ORDER __ATOMIC_ACQUIRE
#endif

REVAMP_DETAIL_BEGIN

// GCC has no builtins for atomic_max and atomic_min.
template <class T, class Choose> REVAMP_HD inline T atomic_choose(T *dest, T value, Choose takes_value) {
    T old = __atomic_load_n(dest, REVAMP_FAILURE_ORDER);
    while (takes_value(value, old) &&
           !__atomic_compare_exchange_n(dest, &old, value, true, REVAMP_ORDER, REVAMP_FAILURE_ORDER)) {
    }
    return old;
}
template <class T> REVAMP_HD inline T atomic_max(T *dest, T value) {
#if REVAMP_DEVICE_PASS
    return __atomic_fetch_max(dest, value, REVAMP_ORDER);
#else
    return atomic_choose(dest, value, [](T left, T right) { return left > right; });
#endif
}
template <class T> REVAMP_HD inline T atomic_min(T *dest, T value) {
#if REVAMP_DEVICE_PASS
    return __atomic_fetch_min(dest, value, REVAMP_ORDER);
#else
    return atomic_choose(dest, value, [](T left, T right) { return left < right; });
#endif
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// All except atomic_compare_exchange return the previous value. Only relaxed order is promised.
#define REVAMP_ATOMICS(T)                                                                                              \
    REVAMP_HD inline T atomic_exchange(T *dest, T value) {                                                             \
        return __atomic_exchange_n(dest, value, REVAMP_ORDER);                                                         \
    }                                                                                                                  \
    REVAMP_HD inline bool atomic_compare_exchange(T *dest, T *expected, T value) {                                     \
        return __atomic_compare_exchange_n(dest, expected, value, false, REVAMP_ORDER, REVAMP_FAILURE_ORDER);          \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_add(T *dest, T value) {                                                            \
        return __atomic_fetch_add(dest, value, REVAMP_ORDER);                                                          \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_sub(T *dest, T value) {                                                            \
        return __atomic_fetch_sub(dest, value, REVAMP_ORDER);                                                          \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_and(T *dest, T value) {                                                            \
        return __atomic_fetch_and(dest, value, REVAMP_ORDER);                                                          \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_or(T *dest, T value) {                                                             \
        return __atomic_fetch_or(dest, value, REVAMP_ORDER);                                                           \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_xor(T *dest, T value) {                                                            \
        return __atomic_fetch_xor(dest, value, REVAMP_ORDER);                                                          \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_max(T *dest, T value) {                                                            \
        return revamp::detail::atomic_max(dest, value);                                                                \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_min(T *dest, T value) {                                                            \
        return revamp::detail::atomic_min(dest, value);                                                                \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_inc(T *dest) {                                                                     \
        return __atomic_fetch_add(dest, T(1), REVAMP_ORDER);                                                           \
    }                                                                                                                  \
    REVAMP_HD inline T atomic_fetch_dec(T *dest) {                                                                     \
        return __atomic_fetch_sub(dest, T(1), REVAMP_ORDER);                                                           \
    }
REVAMP_ATOMICS(int)
REVAMP_ATOMICS(unsigned)
#undef REVAMP_ATOMICS

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

// Atomics on floats operate on the bits, so that devices need only atomics on integers.
typedef unsigned __attribute__((may_alias)) bits_of_float;
REVAMP_HD inline float float_of(unsigned bits) {
    float value = 0;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
REVAMP_HD inline unsigned bits_of(float value) {
    unsigned bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
template <class Next> REVAMP_HD inline float atomic_replace(float *dest, Next next) {
    bits_of_float *bits = reinterpret_cast<bits_of_float *>(dest);
    unsigned old = __atomic_load_n(bits, REVAMP_FAILURE_ORDER);
    while (!__atomic_compare_exchange_n(bits, &old, bits_of(next(float_of(old))), true, REVAMP_ORDER,
                                        REVAMP_FAILURE_ORDER)) {
    }
    return float_of(old);
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

REVAMP_HD inline float atomic_exchange(float *dest, float value) {
    revamp::detail::bits_of_float *bits = reinterpret_cast<revamp::detail::bits_of_float *>(dest);
    return revamp::detail::float_of(__atomic_exchange_n(bits, revamp::detail::bits_of(value), REVAMP_ORDER));
}

// Extensions of C++ AMP: compare-exchange and arithmetic on floats. Compare-exchange compares bits, so it can also
// exchange a NaN.
REVAMP_HD inline bool atomic_compare_exchange(float *dest, float *expected, float value) {
    revamp::detail::bits_of_float *bits = reinterpret_cast<revamp::detail::bits_of_float *>(dest);
    unsigned old = revamp::detail::bits_of(*expected);
    const bool exchanged = __atomic_compare_exchange_n(bits, &old, revamp::detail::bits_of(value), false, REVAMP_ORDER,
                                                       REVAMP_FAILURE_ORDER);
    *expected = revamp::detail::float_of(old);
    return exchanged;
}
REVAMP_HD inline float atomic_fetch_add(float *dest, float value) {
    return revamp::detail::atomic_replace(dest, [=](float old) { return old + value; });
}
REVAMP_HD inline float atomic_fetch_sub(float *dest, float value) {
    return revamp::detail::atomic_replace(dest, [=](float old) { return old - value; });
}
REVAMP_HD inline float atomic_fetch_max(float *dest, float value) {
    return revamp::detail::atomic_replace(dest, [=](float old) { return old < value ? value : old; });
}
REVAMP_HD inline float atomic_fetch_min(float *dest, float value) {
    return revamp::detail::atomic_replace(dest, [=](float old) { return value < old ? value : old; });
}

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

inline void thread_fence() {
#if REVAMP_TSAN
    // ThreadSanitizer does not support fences, but it understands an atomic operation.
    static int order;
    (void)__atomic_fetch_add(&order, 0, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// Orders the accesses before the fence against those after it. `memory`: see __revamp_memory_fence.
REVAMP_HD inline void fence([[maybe_unused]] unsigned memory) {
#if REVAMP_DEVICE_PASS
    __revamp_memory_fence(memory);
#else
    // The threads of a tile share one OS thread, so tile_static memory needs only a compiler fence.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if ((memory & 1) != 0) thread_fence();
#endif
}

inline std::string formatted(const char *format, std::va_list arguments) {
    std::va_list arguments_copy;
    va_copy(arguments_copy, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments_copy);
    va_end(arguments_copy);
    std::string text(length > 0 ? static_cast<std::string::size_type>(length) : 0, '\0');
    // vsnprintf writes its terminator over the terminator of the string.
    if (length > 0) std::vsnprintf(&text[0], text.size() + 1, format, arguments);
    return text;
}
[[noreturn]] inline void fail_with(const std::string &text) {
    std::fputs(text.c_str(), stderr);
    throw Concurrency::runtime_exception(text.c_str(), failed);
}
[[noreturn]] inline void abort_kernel() {
    throw Concurrency::runtime_exception("Reference Rasterizer: Shader abort instruction hit", failed);
}
#if REVAMP_DEVICE_LANGUAGE
// Host-only functions that the templates below call.
inline void print(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
}
[[noreturn]] inline void print_and_fail(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const std::string text = formatted(format, arguments);
    va_end(arguments);
    fail_with(text);
}
#endif

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// Fences order the calling thread's accesses as the other threads of its tile see them. Fences do not wait.
REVAMP_HD inline void all_memory_fence(const tile_barrier &) {
    revamp::detail::fence(1 | 2);
}
REVAMP_HD inline void global_memory_fence(const tile_barrier &) {
    revamp::detail::fence(1);
}
REVAMP_HD inline void tile_static_memory_fence(const tile_barrier &) {
    revamp::detail::fence(2);
}

#if REVAMP_DEVICE_LANGUAGE

// Templates, because device code has no variable argument lists. Small integers are promoted as in C; floats are not,
// because not every device has doubles. The functions have no debug information, so errors name the caller's line.
#if __clang_major__ >= 22
// Older Clangs accept the attribute only on variadic functions.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#define REVAMP_PRINTS __attribute__((nodebug, format(printf, 1, 2)))
#else
#define REVAMP_PRINTS __attribute__((nodebug))
#endif
template <class... Arguments>
REVAMP_HD REVAMP_PRINTS inline void direct3d_printf(const char *format, Arguments... arguments) {
#if REVAMP_DEVICE_PASS
    __revamp_printf(format, +arguments...);
#else
    revamp::detail::print(format, arguments...);
#endif
}
#if REVAMP_DEVICE_ON_HOST
template <class... Arguments>
REVAMP_HD inline void direct3d_errorf(revamp::detail::on_host::located_format format, Arguments... arguments) {
    revamp::detail::on_host::fail_with(true, format, +arguments...);
}
REVAMP_HD inline void direct3d_abort(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    revamp::detail::on_host::fail_with(false, {"Reference Rasterizer: Shader abort instruction hit", file, line});
}
#else
template <class... Arguments>
REVAMP_HD REVAMP_PRINTS inline void direct3d_errorf(const char *format, Arguments... arguments) {
#if REVAMP_DEVICE_PASS
    __revamp_errorf(format, +arguments...);
    __revamp_end_thread();
#else
    revamp::detail::print_and_fail(format, arguments...);
#endif
}
REVAMP_HD __attribute__((nodebug)) inline void direct3d_abort() {
#if REVAMP_DEVICE_PASS
    __revamp_errorf("Reference Rasterizer: Shader abort instruction hit");
    __revamp_end_thread();
#else
    revamp::detail::abort_kernel();
#endif
}
#endif
#undef REVAMP_PRINTS
#if __clang_major__ >= 22
#pragma clang diagnostic pop
#endif

#else

// Prints the text.
__attribute__((format(printf, 1, 2))) inline void direct3d_printf(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
}

// Prints the text, and makes the launch fail with it.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void direct3d_errorf(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const std::string text = revamp::detail::formatted(format, arguments);
    va_end(arguments);
    revamp::detail::fail_with(text);
}

[[noreturn]] inline void direct3d_abort() {
    revamp::detail::abort_kernel();
}

#endif

REVAMP_NAMESPACE_END

#if REVAMP_DEVICE_LANGUAGE && (defined(__GLIBC__) || defined(__MINGW32__))
// The function that a failed assert() calls in device code: it ends the thread. Where host threads run the functor
// itself, the C library's function of this name ends the program.
extern "C" REVAMP_DEVICE __attribute__((nodebug, noreturn)) inline void
__assert_fail([[maybe_unused]] const char *condition, [[maybe_unused]] const char *file, [[maybe_unused]] unsigned line,
              [[maybe_unused]] const char *function) noexcept {
#if REVAMP_DEVICE_ON_HOST
    revamp::detail::on_host::fail_with(true, {"%s:%u: %s: Assertion `%s' failed.", nullptr}, file, line, function,
                                       condition);
#elif REVAMP_DEVICE_PASS
    __revamp_errorf("%s:%u: %s: Assertion `%s' failed.", file, line, function, condition);
    __revamp_end_thread();
#else
    __builtin_trap();
#endif
}
#ifdef __MINGW32__
// MinGW's assert() calls this function, without the name of the failing function.
extern "C" REVAMP_DEVICE __attribute__((nodebug, noreturn)) inline void _assert(const char *condition, const char *file,
                                                                                unsigned line) noexcept {
    __assert_fail(condition, file, line, "kernel");
}
#endif
#endif

#endif // REVAMP_DETAIL_ATOMICS_H
