// Macros for the differences between the two compilers: cl.exe with its own <amp.h>, and revamp.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define APP_FORCE_INLINE __forceinline
// Kernels use only C++ AMP as Microsoft published it.
#define APP_HAS_EXTENSIONS 0
#else
#define APP_FORCE_INLINE inline __attribute__((always_inline))
// Kernels may use atomics on float, <algorithm> and 64-bit integers (docs/porting.md#kernels-on-the-gpu).
#define APP_HAS_EXTENSIONS 1
#endif
