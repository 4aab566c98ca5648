// restrict(amp), restrict(cpu), restrict(amp,cpu), restrict(auto) for compilers that do not know them.
//
// A macro with parameters is expanded only before a parenthesis. So C's qualifier and the `__restrict` of the libc and
// libstdc++ headers stay as they are, whether these headers precede or follow this header. A program that itself has
// `#define restrict __restrict` must include the headers that need it before this header.
//
// For a host compiler `restrict(...)` expands to nothing: there are no checks, and no overloading on restriction. In
// Clang's HIP mode it becomes the host and device attributes. The driver selects how restrict(amp) is mapped:
//
// - If REVAMP_AMP_IS_BOTH is not defined, to `device`. Clang makes the checks of C++ AMP and overloads on restriction.
//   Host threads cannot run such code.
// - If REVAMP_AMP_IS_BOTH is defined, to `host` and `device`. Host threads run the code too. Another pass makes the
//   checks. REVAMP_AMP_IS_BOTH=2: to `device` only, in the device pass of a source that overloads on restriction.
//   REVAMP_AMP_IS_BOTH=3: for a source in which restrict(amp,cpu) functions choose between restrict(amp,cpu) functions
//   and host functions (`DeviceBeforeHost` in kernelc/src/clang.rs).
#ifndef REVAMP_DETAIL_RESTRICT_H
#define REVAMP_DETAIL_RESTRICT_H

#include "config.h"

// REVAMP_HOST_RUNS_KERNELS: 1 if restrict(amp) code is host code too.
#if REVAMP_DEVICE_LANGUAGE && !defined(REVAMP_AMP_IS_BOTH)
#define REVAMP_HOST_RUNS_KERNELS 0
#else
#define REVAMP_HOST_RUNS_KERNELS 1
#endif

// Reduces a list of words to `amp`, `cpu` or `both`.
#define REVAMP_WORDS_1(a) a
#define REVAMP_WORDS_2(a, b) REVAMP_JOIN(a, b)
#define REVAMP_WORDS_3(a, b, c) REVAMP_JOIN(REVAMP_WORDS_2(a, b), c)
#define REVAMP_WORDS_4(a, b, c, d) REVAMP_JOIN_AGAIN(REVAMP_WORDS_3(a, b, c), d)
#define REVAMP_JOIN(a, b) REVAMP_JOIN_(a, b)
#define REVAMP_JOIN_AGAIN(a, b) REVAMP_JOIN_(a, b)
#define REVAMP_JOIN_(a, b) REVAMP_JOIN_##a##_##b
#define REVAMP_JOIN_amp_amp amp
#define REVAMP_JOIN_cpu_cpu cpu
#define REVAMP_JOIN_amp_cpu both
#define REVAMP_JOIN_cpu_amp both
#define REVAMP_JOIN_both_amp both
#define REVAMP_JOIN_both_cpu both
#define REVAMP_PICK(a, b, c, d, name, ...) name
#define REVAMP_WORDS(...)                                                                                              \
    REVAMP_PICK(__VA_ARGS__, REVAMP_WORDS_4, REVAMP_WORDS_3, REVAMP_WORDS_2, REVAMP_WORDS_1, )(__VA_ARGS__)

#if !REVAMP_DEVICE_LANGUAGE
#define REVAMP_RESTRICT_amp
#define REVAMP_RESTRICT_cpu
#define REVAMP_RESTRICT_both
#elif !defined(REVAMP_AMP_IS_BOTH)
#define REVAMP_RESTRICT_amp REVAMP_DEVICE
#define REVAMP_RESTRICT_cpu REVAMP_HOST
#define REVAMP_RESTRICT_both REVAMP_HOST REVAMP_DEVICE
#elif REVAMP_AMP_IS_BOTH + 0 == 2
// With internal linkage, Clang emits functions only if a kernel calls them.
#define REVAMP_RESTRICT_amp REVAMP_DEVICE __attribute__((internal_linkage))
#define REVAMP_RESTRICT_cpu REVAMP_HOST
#define REVAMP_RESTRICT_both REVAMP_HOST REVAMP_DEVICE __attribute__((internal_linkage))
#elif REVAMP_AMP_IS_BOTH + 0 == 3
// The attribute enable_if distinguishes restrict(amp) functions from host functions with the same signature.
#define REVAMP_RESTRICT_amp REVAMP_HOST REVAMP_DEVICE __attribute__((enable_if(true, ""), internal_linkage))
#define REVAMP_RESTRICT_cpu REVAMP_HOST
#define REVAMP_RESTRICT_both REVAMP_HOST REVAMP_DEVICE __attribute__((internal_linkage))
#else
#define REVAMP_RESTRICT_amp REVAMP_HOST REVAMP_DEVICE
#define REVAMP_RESTRICT_cpu REVAMP_HOST
#define REVAMP_RESTRICT_both REVAMP_HOST REVAMP_DEVICE
#endif
#define REVAMP_RESTRICT_auto REVAMP_RESTRICT_both
#define REVAMP_RESTRICT_OF(words) REVAMP_RESTRICT_OF_(words)
#define REVAMP_RESTRICT_OF_(words) REVAMP_RESTRICT_##words

// `restrict(...)` is a specifier only with one of these words; else it is a name of the program.
#define REVAMP_KNOWN_amp , 1
#define REVAMP_KNOWN_cpu , 1
#define REVAMP_KNOWN_auto , 1
#define REVAMP_SECOND(...) REVAMP_SECOND_(__VA_ARGS__)
#define REVAMP_SECOND_(a, b, ...) b
#define REVAMP_IS_KNOWN(a, ...) REVAMP_SECOND(REVAMP_KNOWN_##a, 0, )
#define REVAMP_IF_KNOWN(known, ...) REVAMP_IF_KNOWN_(known, __VA_ARGS__)
#define REVAMP_IF_KNOWN_(known, ...) REVAMP_IF_KNOWN_##known(__VA_ARGS__)
#define REVAMP_IF_KNOWN_1(...) REVAMP_RESTRICT_OF(REVAMP_WORDS(__VA_ARGS__))
#define REVAMP_IF_KNOWN_0(...) restrict(__VA_ARGS__)

#undef restrict
#define restrict(...) REVAMP_IF_KNOWN(REVAMP_IS_KNOWN(__VA_ARGS__, ), __VA_ARGS__)

// Macros of the original headers for declaring functions. Programs use them too.
#ifndef __GPU
#define __GPU restrict(amp, cpu)
#endif
#ifndef __GPU_ONLY
#define __GPU_ONLY restrict(amp)
#endif
#ifndef __CPU_ONLY
#define __CPU_ONLY restrict(cpu)
#endif

#endif
