// What the CUDA side of all families shares. A table at a family's end names its functions; each takes the buffers and
// the sizes of the problem and launches.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

template <class T> T *of(void *const *buffers, int i) {
    return static_cast<T *>(buffers[i]);
}
struct CudaCase {
    const char *name;
    void (*run)(void *const *buffers, const int *n);
};

// Blocks of kernels whose threads share nothing, where C++ AMP names none: `shape` 0 is what users write; the others
// are tried for the best. Threads in x, y, z.
struct Block {
    int x, y, z;
    operator dim3() const { return dim3(x, y, z); }
};
inline int shape = 0;
inline bool shaped = false; // the case has such kernels
const int shapes = 4;
inline Block choose(const Block (&of_shape)[shapes]) {
    shaped = true;
    return of_shape[shape];
}
inline Block line() {
    return choose({{256, 1, 1}, {128, 1, 1}, {64, 1, 1}, {512, 1, 1}});
}
inline Block square() {
    return choose({{16, 16, 1}, {32, 8, 1}, {64, 4, 1}, {256, 1, 1}});
}
inline Block wide() {
    return choose({{32, 8, 1}, {16, 16, 1}, {64, 4, 1}, {256, 1, 1}});
}
inline Block brick() {
    return choose({{32, 4, 2}, {64, 4, 1}, {256, 1, 1}, {8, 8, 8}});
}
// As many blocks as it takes.
inline dim3 grid(Block of, int x, int y = 1, int z = 1) {
    return dim3((x + of.x - 1) / of.x, (y + of.y - 1) / of.y, (z + of.z - 1) / of.z);
}
