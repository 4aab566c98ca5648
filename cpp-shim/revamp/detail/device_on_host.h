// revamp: the functions of device_abi.h as code that host threads run, for builds without native kernels
// (docs/kernel-compiler-design.md#kernels-thread-by-thread). kernelc/src/native/by_threads.rs runs the additional
// compilation that includes this file. The library calls each kernel once for each thread of a tiled domain, or once
// for each row of threads of an untiled domain.
//
// Device functions cannot call host functions, so this file declares functions of the library and of the C library as
// device functions.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_DEVICE_ON_HOST_H
#define REVAMP_DETAIL_DEVICE_ON_HOST_H

#include "config.h"

#include <csetjmp>
#include <cstddef>
#include <revamp.h>

REVAMP_DETAIL_BEGIN
namespace on_host {

// The thread or row of threads that the library runs: KernelThread in src/capi/host_kernel.rs.
struct kernel_thread {
    // The thread, or the first of a row.
    const revamp_thread_id *id;
    // The number of threads in the row, and the index of the running one.
    unsigned count, running;
    // The jump target of a thread that ends early, filled by the C library's setjmp.
    std::jmp_buf *end;
};

REVAMP_DEVICE kernel_thread *this_thread() noexcept __asm__("revamp_kernel_thread");
REVAMP_DEVICE revamp_status wait(const revamp_thread_id *id) noexcept __asm__("revamp_tile_barrier_wait");
REVAMP_DEVICE void fail(const char *text, bool shown, const char *file, unsigned line) noexcept
    __asm__("revamp_kernel_fail");
REVAMP_DEVICE int print(const char *format, ...) __asm__("printf");
REVAMP_DEVICE int format_into(char *text, std::size_t size, const char *format, ...) __asm__("snprintf");
#if REVAMP_TSAN
REVAMP_DEVICE void acquire(void *address) __asm__("__tsan_acquire");
REVAMP_DEVICE void release(void *address) __asm__("__tsan_release");
extern REVAMP_DEVICE char order __asm__("revamp_order_of_kernels");
#endif
// Tells ThreadSanitizer about the order of kernels (config.h).
struct ordered {
    REVAMP_DEVICE ordered() noexcept {
#if REVAMP_TSAN
        acquire(&order);
#endif
    }
    REVAMP_DEVICE ~ordered() {
#if REVAMP_TSAN
        release(&order);
#endif
    }
};
#ifdef _WIN32
// With a null frame, longjmp() does not unwind the stack.
REVAMP_DEVICE __attribute__((returns_twice)) int set_jump(std::jmp_buf *, void *frame) noexcept __asm__("_setjmp");
#define REVAMP_SET_JUMP(buffer) revamp::detail::on_host::set_jump(buffer, nullptr)
#else
REVAMP_DEVICE __attribute__((returns_twice)) int set_jump(std::jmp_buf *) noexcept __asm__("_setjmp");
#define REVAMP_SET_JUMP(buffer) revamp::detail::on_host::set_jump(buffer)
#endif
[[noreturn]] REVAMP_DEVICE void long_jump(std::jmp_buf *, int value) noexcept __asm__("longjmp");

// A format string, and the line of the program that passes it to a function.
struct located_format {
    const char *text, *file;
    unsigned line;

    REVAMP_DEVICE located_format(const char *format, const char *file_name = __builtin_FILE(),
                                 unsigned line_number = __builtin_LINE()) noexcept
        : text(format), file(file_name), line(line_number) {}
};

// Ends the calling thread, and makes the launch fail with a text, the line and the thread's index. If `shown`, prints
// them too.
template <class... Arguments>
[[noreturn]] REVAMP_DEVICE void fail_with(bool shown, const located_format &format, Arguments... arguments) {
    char text[4096];
    format_into(text, sizeof text, format.text, arguments...);
    fail(text, shown, format.file, format.line);
    long_jump(this_thread()->end, 1);
}
} // namespace on_host
REVAMP_DETAIL_END

template <class... Arguments> REVAMP_DEVICE void __revamp_printf(const char *format, Arguments... arguments) {
    revamp::detail::on_host::print(format, arguments...);
}
// The threads of a tile share one OS thread, so tile_static memory needs only a compiler fence.
extern "C" REVAMP_DEVICE inline void __revamp_memory_fence(unsigned memory) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if ((memory & 1) != 0) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
// Copies a functor whose call operator may modify it, so that each thread modifies its own copy.
extern "C" REVAMP_DEVICE inline void *__revamp_own(void *kernel, void *storage, std::size_t size) {
    __builtin_memcpy(storage, kernel, size);
    return storage;
}
// Host threads have none of the properties of `DeviceProperty`.
extern "C" REVAMP_DEVICE inline bool __revamp_of_device(int) {
    return false;
}
extern "C" REVAMP_DEVICE inline float __revamp_fast_quotient_f32(float x, float y) {
    return x / y;
}
extern "C" REVAMP_DEVICE inline float __revamp_fast_rsqrt_f32(float x) {
    return 1.0f / __builtin_sqrtf(x);
}
extern "C" REVAMP_DEVICE inline double __revamp_fast_rsqrt_f64(double x) {
    return 1.0 / __builtin_sqrt(x);
}
extern "C" REVAMP_DEVICE inline float __revamp_fast_ldexp_f32(float x, int exponent) {
    return __builtin_ldexpf(x, exponent);
}
extern "C" REVAMP_DEVICE inline float __revamp_fast_atan2_f32(float y, float x) {
    return __builtin_atan2f(y, x);
}
extern "C" REVAMP_DEVICE inline float __revamp_fast_pow_f32(float x, float y) {
    return __builtin_powf(x, y);
}
#define REVAMP_FAST(name)                                                                                              \
    extern "C" REVAMP_DEVICE inline float __revamp_fast_##name##_f32(float x) {                                        \
        return __builtin_##name##f(x);                                                                                 \
    }
// clang-format off
REVAMP_FAST(acos) REVAMP_FAST(asin) REVAMP_FAST(atan) REVAMP_FAST(cos) REVAMP_FAST(cosh) REVAMP_FAST(exp)
REVAMP_FAST(exp2) REVAMP_FAST(log) REVAMP_FAST(log2) REVAMP_FAST(sin) REVAMP_FAST(sinh) REVAMP_FAST(tan)
// clang-format on
#undef REVAMP_FAST

#endif // REVAMP_DETAIL_DEVICE_ON_HOST_H
