// What the CUDA side of all families shares. A table at a family's end names its functions; each takes the buffers and the sizes
// of the problem and launches.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

template <class T> T *of(void *const *buffers, int i) {
    return static_cast<T *>(buffers[i]);
}
inline int groups(long long n, int size) {
    return static_cast<int>((n + size - 1) / size);
}
struct CudaCase {
    const char *name;
    void (*run)(void *const *buffers, const int *n);
};
