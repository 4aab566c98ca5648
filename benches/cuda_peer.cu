// The CUDA peer: the same work as one writes it by hand with the CUDA runtime.
#include <cuda_runtime.h>

#include <chrono>
#include <cstring>

#include "cuda_peer.h"

namespace {

__global__ void empty_kernel() {}
__global__ void increment_kernel(uint32_t* values) { values[threadIdx.x] += 1; }
__global__ void saxpy_kernel(float a, const float* x, float* y, size_t count) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < count) y[i] = a * x[i] + y[i];
}

const char* text(cudaError_t error) { return error == cudaSuccess ? nullptr : cudaGetErrorString(error); }

const char* finish() {
    const cudaError_t launched = cudaGetLastError();
    return text(launched != cudaSuccess ? launched : cudaDeviceSynchronize());
}

const char* open(const uint8_t* uuid, const char** device) {
    static cudaDeviceProp found;
    int count = 0;
    if (const char* e = text(cudaGetDeviceCount(&count))) return e;
    for (int i = 0; i < count; i++) {
        if (const char* e = text(cudaGetDeviceProperties(&found, i))) return e;
        if (std::memcmp(found.uuid.bytes, uuid, 16) != 0) continue;
        *device = found.name;
        if (const char* e = text(cudaSetDevice(i))) return e;
        return text(cudaFree(nullptr));
    }
    return "no CUDA device has that UUID";
}

const char* allocate(size_t size, int pinned_host, void** memory) {
    return text(pinned_host ? cudaMallocHost(memory, size) : cudaMalloc(memory, size));
}

const char* release(void* memory, int pinned_host) { return text(pinned_host ? cudaFreeHost(memory) : cudaFree(memory)); }

// A pageable upload may return before its last bytes arrived, and so may device-to-device: hence the wait.
const char* copy(void* destination, const void* source, size_t size) {
    if (const char* e = text(cudaMemcpy(destination, source, size, cudaMemcpyDefault))) return e;
    return text(cudaDeviceSynchronize());
}

const char* empty_launch() {
    empty_kernel<<<1, 64>>>();
    return finish();
}

const char* increments(uint32_t* values, unsigned launches, double* host_seconds) {
    const auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < launches; i++) increment_kernel<<<1, 64>>>(values);
    if (host_seconds) *host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return finish();
}

const char* saxpy(float a, const float* x, float* y, size_t count, unsigned launches) {
    for (unsigned i = 0; i < launches; i++)
        saxpy_kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(a, x, y, count);
    return finish();
}

const CudaPeer table = {open, allocate, release, copy, empty_launch, increments, saxpy};

}  // namespace

extern "C" const CudaPeer* cuda_peer() { return &table; }
