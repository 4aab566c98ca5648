// The peers' side of the construct matrix: common code of the generated sources in CUDA (cuda_N.cu) and OpenMP
// (openmp_N.cpp).
#pragma once
#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif
#include <cmath>

// An entry of the list of a library's kernels. The struct is hidden, because a program loads several of these
// libraries, and each library has its own list.
struct __attribute__((visibility("hidden"))) Registered {
    const char *name;
    void (*run)(void *const *buffers, int n);
    const Registered *next;

    static const Registered *&first() {
        static const Registered *list = nullptr;
        return list;
    }
    Registered(const char *kernel, void (*function)(void *const *, int)) : name(kernel), run(function), next(first()) {
        first() = this;
    }
};

#ifndef __CUDACC__
struct float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct float4 {
    float x, y, z, w;
};
struct double2 {
    double x, y;
};
struct int2 {
    int x, y;
};
struct int3 {
    int x, y, z;
};
struct int4 {
    int x, y, z, w;
};

inline void plain_add(unsigned *to, unsigned value) {
    *to += value;
}
inline void atomic_add(unsigned *to, unsigned value) {
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
inline void atomic_xor(unsigned *to, unsigned value) {
    __atomic_fetch_xor(to, value, __ATOMIC_RELAXED);
}
inline void atomic_max(unsigned *to, unsigned value) {
    unsigned old = *to;
    while (old < value && !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}
inline void atomic_min(unsigned *to, unsigned value) {
    unsigned old = *to;
    while (old > value && !__atomic_compare_exchange_n(to, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}
#endif
