// The functions that a library of peer kernels exports. For the CUDA peer, nvcc compiles this file as CUDA (-x cu).
// Functions that return text return null on success, else an error message.
#include "peer.h"

#include <cstdlib>
#include <cstring>

namespace {

const Registered *find(const char *name) {
    for (const Registered *entry = Registered::first(); entry; entry = entry->next)
        if (std::strcmp(entry->name, name) == 0) return entry;
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
    void *allocation = nullptr;
    return cudaMalloc(&allocation, bytes) == cudaSuccess ? allocation : nullptr;
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
