// The CUDA side of the family `physics` of the kernel suite: the kernels of physics.cpp, written in CUDA.
#include "cuda.h"

namespace {

struct Body {
    float x, y, z, mass;
};
__global__ void bodies_kernel(const Body *in, Body *out, int n) {
    __shared__ Body chunk[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const Body me = in[i];
    Body pull = {0, 0, 0, 0};
    for (int first = 0; first < n; first += 256) {
        chunk[threadIdx.x] = in[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            const float dx = chunk[j].x - me.x, dy = chunk[j].y - me.y, dz = chunk[j].z - me.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float s = chunk[j].mass * inverse * inverse * inverse;
            pull.x += dx * s;
            pull.y += dy * s;
            pull.z += dz * s;
        }
        __syncthreads();
    }
    out[i] = pull;
}
void bodies(void *const *b, const int *n) {
    bodies_kernel<<<n[0] / 256, 256>>>(buffer<Body>(b, 0), buffer<Body>(b, 1), n[0]);
}

struct Sample {
    float x, y, z, magnitude;
};
__global__ void mri_kernel(const float *x, const float *y, const float *z, const Sample *sample, float *real,
                           float *imaginary, int n, int samples) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float px = x[i], py = y[i], pz = z[i];
    float re = 0, im = 0;
    for (int k = 0; k < samples; k++) {
        const Sample s = sample[k];
        const float phase = 6.2831853f * (s.x * px + s.y * py + s.z * pz);
        re += s.magnitude * cosf(phase);
        im += s.magnitude * sinf(phase);
    }
    real[i] = re;
    imaginary[i] = im;
}
void mri(void *const *b, const int *n) {
    auto at = [b](int i) { return buffer<float>(b, i); };
    mri_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(at(0), at(1), at(2), buffer<Sample>(b, 3), at(4), at(5), n[0],
                                                       n[1]);
}

__global__ void cutoff_kernel(const Body *atoms, float *potential, int n, int bins) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;
    float sum = 0;
    for (int bz = z / 4 - 1; bz <= z / 4 + 1; bz++)
        for (int by = y / 4 - 1; by <= y / 4 + 1; by++)
            for (int bx = x / 4 - 1; bx <= x / 4 + 1; bx++) {
                if (bz < 0 || by < 0 || bx < 0 || bz >= bins || by >= bins || bx >= bins) continue;
                for (int k = 0; k < 8; k++) {
                    const Body a = atoms[((bz * bins + by) * bins + bx) * 8 + k];
                    const float dx = a.x - x, dy = a.y - y, dz = a.z - z;
                    const float square = dx * dx + dy * dy + dz * dz;
                    if (square >= 16 || square == 0) continue;
                    const float s = 1 - square / 16;
                    sum += a.mass * rsqrtf(square) * s * s;
                }
            }
    potential[(z * n + y) * n + x] = sum;
}
void cutoff(void *const *b, const int *n) {
    cutoff_kernel<<<grid(block_3d(), n[0], n[0], n[0]), block_3d()>>>(buffer<Body>(b, 0), buffer<float>(b, 1), n[0],
                                                                      n[1]);
}

__global__ void pairs_clear(int *bins) {
    if (threadIdx.x < 21) bins[threadIdx.x] = 0;
}
__global__ void pairs_kernel(const Body *point, const float *edges, int *bins, int n) {
    __shared__ Body chunk[128];
    __shared__ float edge[20];
    __shared__ int counts[21];
    const int local = threadIdx.x;
    if (local < 20) edge[local] = edges[local];
    if (local < 21) counts[local] = 0;
    const Body me = point[blockIdx.x * 128 + local];
    for (int first = 0; first < n; first += 128) {
        chunk[local] = point[first + local];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            const float dot = me.x * chunk[j].x + me.y * chunk[j].y + me.z * chunk[j].z;
            int low = 0, high = 20;
            while (low < high) {
                const int middle = (low + high) / 2;
                if (dot >= edge[middle]) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            atomicAdd(&counts[low], 1);
        }
        __syncthreads();
    }
    if (local < 21) atomicAdd(&bins[local], counts[local]);
}
void pairs(void *const *b, const int *n) {
    pairs_clear<<<1, 32>>>(buffer<int>(b, 2));
    pairs_kernel<<<n[0] / 128, 128>>>(buffer<Body>(b, 0), buffer<float>(b, 1), buffer<int>(b, 2), n[0]);
}

struct Complex {
    float re, im;
};
__device__ Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
}
__device__ Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
}
__device__ Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__global__ void fft_kernel(const Complex *in, Complex *out) {
    __shared__ Complex part[512];
    const int i = threadIdx.x, first = blockIdx.x * 512;
    part[__brev(i) >> 23] = in[first + i];
    part[__brev(i + 256) >> 23] = in[first + i + 256];
    __syncthreads();
    for (int half = 1; half < 512; half *= 2) {
        const int k = i % half, a = i / half * half * 2 + k;
        const float angle = -3.14159265f * k / half;
        Complex twiddle;
        sincosf(angle, &twiddle.im, &twiddle.re);
        const Complex odd_term = part[a + half] * twiddle, even_term = part[a];
        part[a] = even_term + odd_term;
        part[a + half] = even_term - odd_term;
        __syncthreads();
    }
    out[first + i] = part[i];
    out[first + i + 256] = part[i + 256];
}
void fft(void *const *b, const int *n) {
    fft_kernel<<<n[0], 256>>>(buffer<Complex>(b, 0), buffer<Complex>(b, 1));
}

__global__ void neighbours_kernel(const double *at, const int *list, double *force, int n, int neighbour_count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double x = at[i], y = at[n + i], z = at[2 * n + i];
    double fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < neighbour_count; k++) {
        const int j = list[k * n + i];
        const double dx = x - at[j], dy = y - at[n + j], dz = z - at[2 * n + j];
        const double square = dx * dx + dy * dy + dz * dz;
        if (square > 256 || square < 0.25) continue;
        const double inverse = 1 / square, six = inverse * inverse * inverse;
        const double f = inverse * six * (48 * six - 24);
        fx += dx * f;
        fy += dy * f;
        fz += dz * f;
    }
    force[i] = fx;
    force[n + i] = fy;
    force[2 * n + i] = fz;
}
void neighbours(void *const *b, const int *n) {
    neighbours_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<double>(b, 0), buffer<int>(b, 1),
                                                              buffer<double>(b, 2), n[0], n[1]);
}

const CudaCase physics_cases[] = {{"n bodies", bodies},         {"MRI-Q", mri},
                                  {"cutoff potential", cutoff}, {"pairs on the sky", pairs},
                                  {"FFT in tiles", fft},        {"Lennard-Jones, double", neighbours}};

} // namespace
