// The CUDA side of the family `memory` of the kernel suite: the kernels of memory.cpp, written in CUDA.
#include "cuda.h"

namespace {

__global__ void triad_kernel(float *a, const float *b, const float *c, float scalar, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + scalar * c[i];
}
void triad(void *const *b, const int *n) {
    triad_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 2), buffer<float>(b, 0), buffer<float>(b, 1),
                                                         3.0f, n[0]);
}

__global__ void gather_kernel(const unsigned *table, unsigned *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned mask = n - 1;
    unsigned at = i * 2654435761U, sum = 0;
    for (int k = 0; k < 4; k++) {
        at = at * 1664525U + 1013904223U;
        sum ^= table[at >> 3 & mask];
    }
    out[i] = sum;
}
void gather(void *const *b, const int *n) {
    gather_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1), n[0]);
}

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void particles_kernel(const Particle *in, Particle *out, float dt, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle q = in[i];
    const float ax = -q.x * q.charge, ay = -q.y * q.charge, az = -9.81f * q.mass;
    q.vx += ax * dt;
    q.vy += ay * dt;
    q.vz += az * dt;
    q.x += q.vx * dt;
    q.y += q.vy * dt;
    q.z += q.vz * dt;
    if (q.z < 0) {
        q.z = -q.z;
        q.vz = -0.8f * q.vz;
    }
    out[i] = q;
}
void particles(void *const *b, const int *n) {
    particles_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<Particle>(b, 0), buffer<Particle>(b, 1), 0.01f,
                                                             n[0]);
}

__global__ void transpose_kernel(const float *in, float *out, int n) {
    __shared__ float part[16][17];
    const int y = blockIdx.y * 16 + threadIdx.y, x = blockIdx.x * 16 + threadIdx.x;
    part[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = part[threadIdx.x][threadIdx.y];
}
void transpose(void *const *b, const int *n) {
    transpose_kernel<<<dim3(n[0] / 16, n[0] / 16), dim3(16, 16)>>>(buffer<float>(b, 0), buffer<float>(b, 1), n[0]);
}

__global__ void zero_kernel(unsigned *counts, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) counts[i] = 0;
}
__global__ void histogram_kernel(const unsigned *in, unsigned *counts) {
    __shared__ unsigned part[256];
    part[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
        atomicAdd(&part[in[blockIdx.x * 4096 + k * 256 + threadIdx.x] >> 24], 1U);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], part[threadIdx.x]);
}
void histogram(void *const *b, const int *n) {
    zero_kernel<<<1, 256>>>(buffer<unsigned>(b, 1), 256);
    histogram_kernel<<<n[0] / 4096, 256>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1));
}

// Adds by compare and exchange, as the C++ AMP kernel does. C++ AMP has no counterpart of CUDA's atomicAdd on floats.
__device__ void add_float(float *to, float value) {
    unsigned *bits = reinterpret_cast<unsigned *>(to);
    unsigned old_bits = *bits;
    for (;;) {
        const unsigned before = old_bits;
        old_bits = atomicCAS(bits, before, __float_as_uint(__uint_as_float(before) + value));
        if (old_bits == before) return;
    }
}
__global__ void deposit_kernel(const unsigned *cell, const float *charge, float *grid, int n, int cells) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) add_float(&grid[cell[i] % cells], charge[i]);
}
void deposit(void *const *b, const int *n) {
    zero_kernel<<<grid(block_1d(), n[1]), block_1d()>>>(buffer<unsigned>(b, 2), n[1]);
    deposit_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), buffer<float>(b, 1),
                                                           buffer<float>(b, 2), n[0], n[1]);
}

__global__ void clear_extremes(int *out) {
    const int i = threadIdx.x;
    if (i < 66) out[i] = i == 64 ? INT32_MAX : i == 65 ? INT32_MIN : 0;
}
__global__ void extremes_kernel(const int *in, int *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int value = in[i];
    if (value & 1) atomicAdd(&out[value >> 1 & 63], 1);
    if (value < out[64]) atomicMin(&out[64], value);
    if (value > out[65]) atomicMax(&out[65], value);
}
void extremes(void *const *b, const int *n) {
    clear_extremes<<<1, 256>>>(buffer<int>(b, 1));
    extremes_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<int>(b, 0), buffer<int>(b, 1), n[0]);
}

const CudaCase memory_cases[] = {
    {"triad", triad},         {"random access", gather},      {"array of structs", particles}, {"transpose", transpose},
    {"histogram", histogram}, {"atomics on floats", deposit}, {"atomics on ints", extremes}};

} // namespace
