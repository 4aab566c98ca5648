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
#ifndef REVAMP_DETAIL_RESTRICT_H
#define REVAMP_DETAIL_RESTRICT_H

#include "config.h"

// REVAMP_HOST_RUNS_KERNELS: code that is restrict(amp) is host code too.
#if REVAMP_DEVICE_LANGUAGE && !defined(REVAMP_AMP_IS_BOTH)
#define REVAMP_HOST_RUNS_KERNELS 0
#else
#define REVAMP_HOST_RUNS_KERNELS 1
#endif

#undef restrict
#if REVAMP_DEVICE_LANGUAGE
#if defined(REVAMP_AMP_IS_BOTH)
#define REVAMP_RESTRICT_amp REVAMP_HD
#else
#define REVAMP_RESTRICT_amp REVAMP_DEVICE
#endif
#define REVAMP_RESTRICT_cpu REVAMP_HOST
#define REVAMP_RESTRICT_auto REVAMP_HD
#define REVAMP_RESTRICT_1(a) REVAMP_RESTRICT_##a
#define REVAMP_RESTRICT_2(a, b) REVAMP_RESTRICT_##a REVAMP_RESTRICT_##b
#define REVAMP_RESTRICT_PICK(a, b, name, ...) name
#define restrict(...)                                                                                                  \
    REVAMP_RESTRICT_PICK(__VA_ARGS__, REVAMP_RESTRICT_2, REVAMP_RESTRICT_1, )                                          \
    (__VA_ARGS__)
#else
#define restrict(...)
#endif

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
