// The SPIR-V kernels that the build compiles from shaders/. revamp and the plain Vulkan peer run the same SPIR-V words.
#pragma once
#include <cstddef>
#include <cstdint>

struct Shader {
    const uint32_t *words;
    size_t bytes;
};

extern const Shader empty_shader, empty_four_shader, increment_shader, increment_four_shader, increment_address_shader,
    add_one_shader, saxpy_shader, saxpy_address_shader, copy_shader, overlap_shader, fill_large_shader, orbit_shader,
    compiled_saxpy_shader, compiled_matmul_shader, compiled_tiled_matmul_shader, compiled_reduce_shader,
    compiled_reduce_last_shader, compiled_nbody_shader, compiled_stencil_shader, compiled_histogram_shader,
    texture_bilinear_shader, texture_convolve_shader;

// The argument blocks and push constants of the kernels.
struct AddOneBlock {
    uint32_t first, count;
    uint64_t data[9]; // addresses of captured views; the kernel uses only the first
};
struct SaxpyPush {
    float a;
    uint32_t count;
};
struct SaxpyBlock {
    uint64_t x, y;
    float a;
    uint32_t count;
};
struct CopyPush {
    uint64_t source, destination;
    uint32_t count, unused;
};
