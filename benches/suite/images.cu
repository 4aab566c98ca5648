// The CUDA side of the family `images` of the kernel suite: the kernels of images.cpp, written in CUDA.
#include "cuda.h"

namespace {

__device__ const float &clamped(const float *image, int y, int x, int n) {
    return image[(y < 0 ? 0 : y >= n ? n - 1 : y) * n + (x < 0 ? 0 : x >= n ? n - 1 : x)];
}

__global__ void sobel_kernel(const float *in, float *out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
    if (y == 0 || x == 0 || y >= n - 1 || x >= n - 1) return;
    const float gx = in[i - n + 1] + 2 * in[i + 1] + in[i + n + 1] - in[i - n - 1] - 2 * in[i - 1] - in[i + n - 1];
    const float gy = in[i + n - 1] + 2 * in[i + n] + in[i + n + 1] - in[i - n - 1] - 2 * in[i - n] - in[i - n + 1];
    out[i] = sqrtf(gx * gx + gy * gy);
}
void sobel(void *const *b, const int *n) {
    sobel_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<float>(b, 0), buffer<float>(b, 1), n[0]);
}

__global__ void box_kernel(const float *in, float *out, int n, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++)
            sum += clamped(in, y + dy, x + dx, n);
    out[y * n + x] = sum / ((2 * radius + 1) * (2 * radius + 1));
}
void box(void *const *b, const int *n) {
    box_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<float>(b, 0), buffer<float>(b, 1), n[0], 4);
}

__global__ void median_kernel(const float *in, float *out, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float window[9];
    for (int k = 0; k < 9; k++)
        window[k] = clamped(in, y + k / 3 - 1, x + k % 3 - 1, n);
    for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 9; b++)
            if (window[b] < window[a]) {
                const float t = window[a];
                window[a] = window[b];
                window[b] = t;
            }
    out[y * n + x] = window[4];
}
void median(void *const *b, const int *n) {
    median_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<float>(b, 0), buffer<float>(b, 1), n[0]);
}

__global__ void bilateral_kernel(const float *in, float *out, float space, float range, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const float center = in[y * n + x];
    float sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            const float value = clamped(in, y + dy, x + dx, n), difference = value - center;
            const float weight = expf(-(dx * dx + dy * dy) / space - difference * difference / range);
            sum += weight * value;
            weights += weight;
        }
    out[y * n + x] = sum / weights;
}
void bilateral(void *const *b, const int *n) {
    bilateral_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<float>(b, 0), buffer<float>(b, 1),
                                                                           18.0f, 0.08f, n[0]);
}

__global__ void match_kernel(const int *frame, const int *other, int *out, int n) {
    const int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y, width = n + 8;
    if (bx >= n / 4 || by >= n / 4) return;
    const int y = by * 4, x = bx * 4;
    int best = INT32_MAX;
    for (int dy = 0; dy < 9; dy++)
        for (int dx = 0; dx < 9; dx++) {
            int sum = 0;
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    const int difference = frame[(y + i) * n + x + j] - other[(y + i + dy) * width + x + j + dx];
                    sum += difference < 0 ? -difference : difference;
                }
            const int score = sum * 81 + dy * 9 + dx;
            if (score < best) best = score;
        }
    out[by * (n / 4) + bx] = best;
}
void match(void *const *b, const int *n) {
    match_kernel<<<grid(block_square(), n[0] / 4, n[0] / 4), block_square()>>>(buffer<int>(b, 0), buffer<int>(b, 1),
                                                                               buffer<int>(b, 2), n[0]);
}

const CudaCase images_cases[] = {{"Sobel", sobel},
                                 {"box blur", box},
                                 {"median of 3 x 3", median},
                                 {"bilateral filter", bilateral},
                                 {"block matching (SAD)", match}};

} // namespace
