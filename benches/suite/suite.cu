// All CUDA kernels of the suite. nvcc compiles this file to libcuda_suite.so, and with --use_fast_math to
// libcuda_suite_fast.so.
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
    for (const CudaCase &candidate : family)
        if (std::strcmp(candidate.name, name) == 0) return &candidate;
    return nullptr;
}

} // namespace

// Runs a case `times` times, and waits. The last argument is the index of the block shape. Returns null, or an error
// message.
extern "C" const char *cuda_suite(const char *name, void *const *buffers, const int *n, unsigned times, int shape_id) {
    const CudaCase *cuda_case = nullptr;
    for (const CudaCase *candidate : {find(dense_cases, name), find(graphs_cases, name), find(images_cases, name),
                                      find(memory_cases, name), find(numbers_cases, name), find(order_cases, name),
                                      find(physics_cases, name), find(stencils_cases, name), find(tables_cases, name)})
        if (candidate) cuda_case = candidate;
    if (!cuda_case) return "no such case in CUDA";
    // The buffers may be on a device other than the first one.
    cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, buffers[0]);
    if (error == cudaSuccess) error = cudaSetDevice(attributes.device);
    if (error != cudaSuccess) return cudaGetErrorString(error);
    shape = shape_id;
    has_untiled = false;
    for (unsigned i = 0; i < times; i++)
        cuda_case->run(buffers, n);
    error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// The number of block shapes that the case of the last cuda_suite() call can use.
extern "C" int cuda_suite_shapes() {
    return has_untiled ? shapes : 1;
}
