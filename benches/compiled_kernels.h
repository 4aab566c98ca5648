// The interface of the C++ AMP kernels that case_compiled.cpp times. The kernel compiler compiles them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// The CUDA peer depends on the values of these enumerators (`work` in cuda_peer.cu).
enum class Work { saxpy, matmul, tiled_matmul, reduction, nbody, stencil, histogram };

// The number of elements of each buffer of `work`, in the order that revamp and its peers use. `n` is the problem size.
inline std::vector<size_t> buffers_of(Work work, size_t n) {
    switch (work) {
    case Work::saxpy:
        return {n, n}; // x, y
    case Work::matmul:
    case Work::tiled_matmul:
        return {n * n, n * n, n * n}; // a, b, c
    case Work::reduction:
        return {n, n / 4096, 1}; // in, one sum for each tile, the sum
    case Work::nbody:
        return {4 * n, 4 * n}; // x, y, z, mass; x, y, z of the acceleration, 0
    case Work::stencil:
        return {n * n, n * n}; // in, out
    case Work::histogram:
        return {n, 256}; // in, counts
    }
    return {};
}

// The kernels of a `Work` with their arrays on an accelerator.
class CompiledWork {
  public:
    virtual ~CompiledWork() = default;
    // Launches the kernels `launches` times, one after the other, and waits.
    virtual void run(unsigned launches) = 0;
    // Elements have four bytes.
    virtual void upload(unsigned buffer, const void *from) = 0;
    virtual void download(unsigned buffer, void *to) = 0;
};

// Throws std::exception.
std::unique_ptr<CompiledWork> make_compiled(Work work, size_t n, const std::string &device_path);
