// The functions of a library of kernels that the program calls. nvcc compiles this as CUDA (-x cu). Those that return
// text return null, or what went wrong.
#include "peer.h"

#include <cstdlib>
#include <cstring>

namespace {

const Registered *find(const char *name) {
    for (const Registered *one = Registered::first(); one; one = one->next)
        if (std::strcmp(one->name, name) == 0) return one;
    return nullptr;
}

} // namespace

#ifdef __CUDACC__

namespace {

const char *text(cudaError_t error) {
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

} // namespace

extern "C" void *peer_new(size_t bytes) {
    void *made = nullptr;
    return cudaMalloc(&made, bytes) == cudaSuccess ? made : nullptr;
}
extern "C" void peer_delete(void *memory) {
    cudaFree(memory);
}
extern "C" const char *peer_copy(void *to, const void *from, size_t bytes) {
    return text(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}
extern "C" const char *peer_run(const char *name, void *const *buffers, int n, unsigned times) {
    const Registered *found = find(name);
    if (!found) return "no such kernel";
    for (unsigned i = 0; i < times; i++)
        found->run(buffers, n);
    const cudaError_t error = cudaGetLastError();
    return text(error == cudaSuccess ? cudaDeviceSynchronize() : error);
}

#else

extern "C" void *peer_new(size_t bytes) {
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}
extern "C" void peer_delete(void *memory) {
    std::free(memory);
}
extern "C" const char *peer_copy(void *to, const void *from, size_t bytes) {
    std::memcpy(to, from, bytes);
    return nullptr;
}
extern "C" const char *peer_run(const char *name, void *const *buffers, int n, unsigned times) {
    const Registered *found = find(name);
    if (!found) return "no such kernel";
    for (unsigned i = 0; i < times; i++)
        found->run(buffers, n);
    return nullptr;
}

#endif
