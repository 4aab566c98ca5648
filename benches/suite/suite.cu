// All CUDA kernels of the suite, for nvcc: libcuda_suite.so, and with --use_fast_math libcuda_suite_fast.so.
#include <cstring>

#include "dense.cu"
#include "graphs.cu"
#include "images.cu"
#include "memory.cu"
#include "numbers.cu"
#include "order.cu"
#include "physics.cu"
#include "stencils.cu"
#include "tables.cu"

namespace {

template <size_t count> const CudaCase *find(const CudaCase (&family)[count], const char *name) {
    for (const CudaCase &one : family)
        if (std::strcmp(one.name, name) == 0) return &one;
    return nullptr;
}

} // namespace

// Runs a case so often, and waits. `with`: the shape of its blocks. Returns null, or what went wrong.
extern "C" const char *cuda_suite(const char *name, void *const *buffers, const int *n, unsigned times, int with) {
    const CudaCase *found = nullptr;
    for (const CudaCase *one : {find(dense_cases, name), find(graphs_cases, name), find(images_cases, name),
                                find(memory_cases, name), find(numbers_cases, name), find(order_cases, name),
                                find(physics_cases, name), find(stencils_cases, name), find(tables_cases, name)})
        if (one) found = one;
    if (!found) return "no such case in CUDA";
    // The buffers' device may be another than the first.
    cudaPointerAttributes of_buffer;
    cudaError_t error = cudaPointerGetAttributes(&of_buffer, buffers[0]);
    if (error == cudaSuccess) error = cudaSetDevice(of_buffer.device);
    if (error != cudaSuccess) return cudaGetErrorString(error);
    shape = with;
    shaped = false;
    for (unsigned i = 0; i < times; i++)
        found->run(buffers, n);
    error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// How many shapes of blocks the case that ran last can have.
extern "C" int cuda_suite_shapes() {
    return shaped ? shapes : 1;
}
