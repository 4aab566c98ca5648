// The CUDA side of the family `stencils` of the kernel suite: the kernels of stencils.cpp, written in CUDA.
#include "cuda.h"

namespace {

const int radius = 8;
struct Taps {
    float at[2 * radius + 1];
};
__global__ void convolution_rows(const float *in, float *rows, Taps taps, int n) {
    __shared__ float part[4][64 + 2 * radius];
    const int y = threadIdx.y, row = blockIdx.y * 4 + y;
    for (int x = threadIdx.x; x < 64 + 2 * radius; x += 64) {
        const int from = static_cast<int>(blockIdx.x) * 64 + x - radius;
        part[y][x] = from >= 0 && from < n ? in[row * n + from] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += taps.at[k + radius] * part[y][threadIdx.x + radius + k];
    rows[row * n + blockIdx.x * 64 + threadIdx.x] = sum;
}
__global__ void convolution_columns(const float *rows, float *out, Taps taps, int n) {
    __shared__ float part[16 + 2 * radius][16];
    const int x = threadIdx.x, column = blockIdx.x * 16 + x;
    for (int y = threadIdx.y; y < 16 + 2 * radius; y += 16) {
        const int from = static_cast<int>(blockIdx.y) * 16 + y - radius;
        part[y][x] = from >= 0 && from < n ? rows[from * n + column] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += taps.at[k + radius] * part[threadIdx.y + radius + k][x];
    out[(blockIdx.y * 16 + threadIdx.y) * n + column] = sum;
}
void convolution(void *const *b, const int *n) {
    Taps taps;
    for (int k = -radius; k <= radius; k++)
        taps.at[k + radius] = expf(-0.05f * k * k) / 8;
    convolution_rows<<<dim3(n[0] / 64, n[0] / 4), dim3(64, 4)>>>(buffer<float>(b, 0), buffer<float>(b, 1), taps, n[0]);
    convolution_columns<<<dim3(n[0] / 16, n[0] / 16), dim3(16, 16)>>>(buffer<float>(b, 1), buffer<float>(b, 2), taps,
                                                                      n[0]);
}

__global__ void heat_kernel(const float *in, float *out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z, plane = n * n, i = z * plane + y * n + x;
    if (z > 0 && z < n - 1 && y > 0 && y < n - 1 && x > 0 && x < n - 1)
        out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
}
void heat(void *const *b, const int *n) {
    heat_kernel<<<grid(block_3d(), n[0], n[0], n[0]), block_3d()>>>(buffer<float>(b, 0), buffer<float>(b, 1), n[0]);
}

__global__ void life_kernel(const int *now, int *next, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int neighbours = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dy != 0 || dx != 0) neighbours += now[(y + dy + n) % n * n + (x + dx + n) % n];
    next[y * n + x] = neighbours == 3 || (neighbours == 2 && now[y * n + x] == 1) ? 1 : 0;
}
void life(void *const *b, const int *n) {
    life_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<int>(b, 0), buffer<int>(b, 1), n[0]);
}

__global__ void hotspot_kernel(const float *temperature, const float *power, float *out, float step, float ry, float rx,
                               float rz, float ambient, int n) {
    __shared__ float part[18][18];
    const int y = blockIdx.y * 16 + threadIdx.y, x = blockIdx.x * 16 + threadIdx.x;
    const int ly = threadIdx.y + 1, lx = threadIdx.x + 1, i = y * n + x;
    part[ly][lx] = temperature[i];
    if (ly == 1) part[0][lx] = temperature[(y > 0 ? y - 1 : 0) * n + x];
    if (ly == 16) part[17][lx] = temperature[(y < n - 1 ? y + 1 : n - 1) * n + x];
    if (lx == 1) part[ly][0] = temperature[y * n + (x > 0 ? x - 1 : 0)];
    if (lx == 16) part[ly][17] = temperature[y * n + (x < n - 1 ? x + 1 : n - 1)];
    __syncthreads();
    const float center = part[ly][lx];
    out[i] = center + step * (power[i] + (part[ly + 1][lx] + part[ly - 1][lx] - 2.0f * center) * ry +
                              (part[ly][lx + 1] + part[ly][lx - 1] - 2.0f * center) * rx + (ambient - center) * rz);
}
void hotspot(void *const *b, const int *n) {
    hotspot_kernel<<<dim3(n[0] / 16, n[0] / 16), dim3(16, 16)>>>(
        buffer<float>(b, 0), buffer<float>(b, 1), buffer<float>(b, 2), 0.2f, 0.3f, 0.25f, 0.001f, 80.0f, n[0]);
}

__device__ float srad_coefficient(float center, float north, float south, float west, float east) {
    const float dn = north - center, ds = south - center, dw = west - center, de = east - center;
    const float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (center * center), l = (dn + ds + dw + de) / center;
    const float num = 0.5f * g2 - 0.0625f * l * l, den = 1.0f + 0.25f * l, q = num / (den * den);
    const float c = 1.0f / (1.0f + (q - 0.05f) / (0.05f * 1.05f));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}
__global__ void srad_first(const float *image, float *c, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    c[y * n + x] =
        srad_coefficient(image[y * n + x], image[(y > 0 ? y - 1 : y) * n + x], image[(y < n - 1 ? y + 1 : y) * n + x],
                         image[y * n + (x > 0 ? x - 1 : x)], image[y * n + (x < n - 1 ? x + 1 : x)]);
}
__global__ void srad_second(const float *image, const float *c, float *out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int i = y * n + x, south = (y < n - 1 ? y + 1 : y) * n + x, east = y * n + (x < n - 1 ? x + 1 : x);
    const float center = image[i];
    const float sum = c[i] * (image[(y > 0 ? y - 1 : y) * n + x] - center) + c[south] * (image[south] - center) +
                      c[i] * (image[y * n + (x > 0 ? x - 1 : x)] - center) + c[east] * (image[east] - center);
    out[i] = center + 0.125f * sum;
}
void srad(void *const *b, const int *n) {
    const Block block = block_square();
    const dim3 blocks = grid(block, n[0], n[0]);
    srad_first<<<blocks, block>>>(buffer<float>(b, 0), buffer<float>(b, 2), n[0]);
    srad_second<<<blocks, block>>>(buffer<float>(b, 0), buffer<float>(b, 2), buffer<float>(b, 1), n[0]);
}

__global__ void jacobi_kernel(const double *a, double *b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
    if (y > 0 && y < n - 1 && x > 0 && x < n - 1) b[i] = 0.2 * (a[i] + a[i - 1] + a[i + 1] + a[i + n] + a[i - n]);
}
void jacobi(void *const *b, const int *n) {
    const Block block = block_wide();
    const dim3 blocks = grid(block, n[0], n[0]);
    jacobi_kernel<<<blocks, block>>>(buffer<double>(b, 0), buffer<double>(b, 1), n[0]);
    jacobi_kernel<<<blocks, block>>>(buffer<double>(b, 1), buffer<double>(b, 2), n[0]);
}

__device__ float equilibrium(float weight, float rho, float along, float square) {
    return weight * rho * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * square);
}
__global__ void lattice_kernel(const float *from, float *to, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, plane = n * n;
    if (x >= n || y >= n) return;
    const int west = (x - 1 + n) % n, east = (x + 1) % n, north = (y - 1 + n) % n, south = (y + 1) % n;
    float f[9];
    f[0] = from[y * n + x];
    f[1] = from[plane + y * n + west];
    f[2] = from[2 * plane + north * n + x];
    f[3] = from[3 * plane + y * n + east];
    f[4] = from[4 * plane + south * n + x];
    f[5] = from[5 * plane + north * n + west];
    f[6] = from[6 * plane + north * n + east];
    f[7] = from[7 * plane + south * n + east];
    f[8] = from[8 * plane + south * n + west];
    float rho = 0;
    for (int k = 0; k < 9; k++)
        rho += f[k];
    const float ux = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / rho;
    const float uy = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / rho;
    const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    for (int k = 0; k < 9; k++) {
        const float weight = k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36;
        const float e = equilibrium(weight, rho, cx[k] * ux + cy[k] * uy, ux * ux + uy * uy);
        to[k * plane + y * n + x] = f[k] - 0.6f * (f[k] - e);
    }
}
void lattice(void *const *b, const int *n) {
    lattice_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<float>(b, 0), buffer<float>(b, 1),
                                                                         n[0]);
}

const CudaCase stencils_cases[] = {{"separable convolution", convolution},
                                   {"stencil of 7 points", heat},
                                   {"Game of Life", life},
                                   {"hotspot", hotspot},
                                   {"srad", srad},
                                   {"Jacobi, double", jacobi},
                                   {"lattice Boltzmann", lattice}};

} // namespace
