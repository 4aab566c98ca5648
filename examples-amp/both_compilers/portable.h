// What differs between cl.exe with its own <amp.h> and revamp.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define APP_FORCE_INLINE __forceinline
// Microsoft's fast_math and precise_math; doubles need hardware for them.
#define APP_HAS_EXTENSIONS 0
#else
#define APP_FORCE_INLINE inline __attribute__((always_inline))
// Atomics on float, <algorithm> and 64-bit integers in kernels (docs/porting.md#kernels-on-the-gpu).
#define APP_HAS_EXTENSIONS 1
#endif
