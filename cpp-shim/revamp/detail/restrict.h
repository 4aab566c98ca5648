// restrict(amp), restrict(cpu), restrict(amp,cpu), restrict(auto) for compilers that do not know them.
//
// A macro with parameters is only looked at where a parenthesis follows, so C's qualifier and the `__restrict` of the
// libc and libstdc++ headers stay as they are, whether they are included before or after. A program that itself has
// `#define restrict __restrict` must include what needs that before this header.
//
// On a host compiler the word vanishes: what is lost is the check, and overloading on the restriction. In Clang's HIP
// mode it becomes the host and device attributes. There restrict(amp) has two meanings, of which the driver chooses:
//
// - device alone: C++ AMP's own, with its checks and overloads; but host threads cannot run such code.
// - host and device, with REVAMP_AMP_IS_BOTH defined: host threads run it too. The driver has had it checked before.
//   REVAMP_AMP_IS_BOTH=2: the device pass of a program that overloads on restriction: device alone after all.
//   REVAMP_AMP_IS_BOTH=3: the same where functions of both sides choose among others of both and the host's.
#ifndef REVAMP_DETAIL_RESTRICT_H
#define REVAMP_DETAIL_RESTRICT_H

#include "config.h"

// REVAMP_HOST_RUNS_KERNELS: code that is restrict(amp) is host code too.
#if REVAMP_DEVICE_LANGUAGE && !defined(REVAMP_AMP_IS_BOTH)
#define REVAMP_HOST_RUNS_KERNELS 0
#else
#define REVAMP_HOST_RUNS_KERNELS 1
#endif

// What a list of words is: amp, cpu or both.
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
// Internal: Clang makes functions of other files' only when a kernel calls them.
#define REVAMP_RESTRICT_amp REVAMP_DEVICE __attribute__((internal_linkage))
#define REVAMP_RESTRICT_cpu REVAMP_HOST
#define REVAMP_RESTRICT_both REVAMP_HOST REVAMP_DEVICE __attribute__((internal_linkage))
#elif REVAMP_AMP_IS_BOTH + 0 == 3
// What is for amp alone is told apart from functions of the host of its signature by another attribute.
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

// The word is one of the language only before these; else it is a name of the program's.
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

// What the original headers declared their own functions with; programs took to them.
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
