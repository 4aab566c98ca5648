// Tells the processor that this is a spin loop.
#pragma once
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
inline void cpu_pause() {
    _mm_pause();
}
#elif defined(__aarch64__)
inline void cpu_pause() {
    asm volatile("yield" ::: "memory");
}
#else
inline void cpu_pause() {}
#endif
