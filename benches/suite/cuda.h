// Common code of the CUDA side of all families of the kernel suite. The table at the end of each family's .cu file
// lists functions that take the buffers and the sizes of a problem and launch kernels.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

template <class T> T *buffer(void *const *buffers, int i) {
    return static_cast<T *>(buffers[i]);
}
struct CudaCase {
    const char *name;
    void (*run)(void *const *buffers, const int *n);
};

// Block sizes (threads in x, y, z) for kernels without tiles, for which C++ AMP prescribes no block size. `shape` 0 is
// the block size that users write. The benchmark also tries the other shapes, to find the fastest.
struct Block {
    int x, y, z;
    operator dim3() const { return dim3(x, y, z); }
};
inline int shape = 0;
inline bool has_untiled = false; // true: the case has kernels without tiles
const int shapes = 4;
inline Block choose_block(const Block (&of_shape)[shapes]) {
    has_untiled = true;
    return of_shape[shape];
}
inline Block block_1d() {
    return choose_block({{256, 1, 1}, {128, 1, 1}, {64, 1, 1}, {512, 1, 1}});
}
inline Block block_square() {
    return choose_block({{16, 16, 1}, {32, 8, 1}, {64, 4, 1}, {256, 1, 1}});
}
inline Block block_wide() {
    return choose_block({{32, 8, 1}, {16, 16, 1}, {64, 4, 1}, {256, 1, 1}});
}
inline Block block_3d() {
    return choose_block({{32, 4, 2}, {64, 4, 1}, {256, 1, 1}, {8, 8, 8}});
}
// The number of blocks that cover the domain.
inline dim3 grid(Block block, int x, int y = 1, int z = 1) {
    return dim3((x + block.x - 1) / block.x, (y + block.y - 1) / block.y, (z + block.z - 1) / block.z);
}
