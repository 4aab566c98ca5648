// The CUDA side of the family `order` of the kernel suite: the kernels of order.cpp, written in CUDA.
#include "cuda.h"

namespace {

__global__ void scan_kernel(const int *in, int *out) {
    __shared__ int part[2][256];
    const int i = threadIdx.x, global = blockIdx.x * 256 + i;
    int from = 0;
    part[0][i] = in[global];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        part[1 - from][i] = i >= d ? part[from][i] + part[from][i - d] : part[from][i];
        from = 1 - from;
        __syncthreads();
    }
    out[global] = part[from][i];
}
void scan(void *const *b, const int *n) {
    scan_kernel<<<n[0] / 256, 256>>>(buffer<int>(b, 0), buffer<int>(b, 1));
}

__global__ void prefix_tiles(const double *in, double *out, double *sums) {
    __shared__ double part[512];
    const int i = threadIdx.x, first = blockIdx.x * 512;
    part[2 * i] = in[first + 2 * i];
    part[2 * i + 1] = in[first + 2 * i + 1];
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (i < d) part[offset * (2 * i + 2) - 1] += part[offset * (2 * i + 1) - 1];
        offset *= 2;
    }
    if (i == 0) {
        sums[blockIdx.x] = part[511];
        part[511] = 0;
    }
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (i < d) {
            const int a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1;
            const double left = part[a];
            part[a] = part[b];
            part[b] += left;
        }
    }
    __syncthreads();
    out[first + 2 * i] = part[2 * i];
    out[first + 2 * i + 1] = part[2 * i + 1];
}
__global__ void prefix_sums(double *sums, int tiles) {
    __shared__ double part[256];
    const int i = threadIdx.x, per_thread = (tiles + 255) / 256;
    double sum = 0;
    for (int k = i * per_thread; k < (i + 1) * per_thread && k < tiles; k++)
        sum += sums[k];
    part[i] = sum;
    __syncthreads();
    double before = 0;
    for (int k = 0; k < i; k++)
        before += part[k];
    for (int k = i * per_thread; k < (i + 1) * per_thread && k < tiles; k++) {
        const double value = sums[k];
        sums[k] = before;
        before += value;
    }
}
__global__ void prefix_add(double *out, const double *sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += sums[i / 512];
}
void prefix(void *const *b, const int *n) {
    prefix_tiles<<<n[0] / 512, 256>>>(buffer<double>(b, 0), buffer<double>(b, 1), buffer<double>(b, 2));
    prefix_sums<<<1, 256>>>(buffer<double>(b, 2), n[0] / 512);
    prefix_add<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<double>(b, 1), buffer<double>(b, 2), n[0]);
}

__global__ void reduction_tiles(const double *in, double *sums) {
    __shared__ double part[256];
    double sum = 0;
    for (int k = 0; k < 8; k++)
        sum += in[blockIdx.x * 2048 + k * 256 + threadIdx.x];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void reduction_sums(const double *sums, double *out, int tiles) {
    __shared__ double part[256];
    double sum = 0;
    for (int k = threadIdx.x; k < tiles; k += 256)
        sum += sums[k];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = part[0];
}
void reduction(void *const *b, const int *n) {
    reduction_tiles<<<n[1], 256>>>(buffer<double>(b, 0), buffer<double>(b, 1));
    reduction_sums<<<1, 256>>>(buffer<double>(b, 1), buffer<double>(b, 2), n[1]);
}

__global__ void bitonic_copy(const unsigned *in, unsigned *data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = in[i];
}
__global__ void bitonic_step(unsigned *data, int j, int k, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (i >= n || other <= i) return;
    const unsigned a = data[i], b = data[other];
    if ((a > b) == ((i & k) == 0)) {
        data[i] = b;
        data[other] = a;
    }
}
void bitonic(void *const *b, const int *n) {
    bitonic_copy<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1), n[0]);
    for (int k = 2; k <= n[0]; k *= 2)
        for (int j = k / 2; j > 0; j /= 2)
            bitonic_step<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 1), j, k, n[0]);
}

__global__ void radix_count(const unsigned *in, int *counts, int tiles, int shift) {
    __shared__ int part[16];
    if (threadIdx.x < 16) part[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        atomicAdd(&part[in[blockIdx.x * 1024 + threadIdx.x * 4 + k] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * tiles + blockIdx.x] = part[threadIdx.x];
}
__global__ void radix_scan(int *counts, int tiles) {
    __shared__ int part[256];
    const int local = threadIdx.x, all = 16 * tiles, per_thread = (all + 255) / 256, first = local * per_thread;
    int sum = 0;
    for (int k = first; k < first + per_thread && k < all; k++)
        sum += counts[k];
    part[local] = sum;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        const int before = local >= d ? part[local - d] : 0;
        __syncthreads();
        part[local] += before;
        __syncthreads();
    }
    int before = part[local] - sum;
    for (int k = first; k < first + per_thread && k < all; k++) {
        const int count = counts[k];
        counts[k] = before;
        before += count;
    }
}
__global__ void radix_scatter(const unsigned *in, unsigned *out, const int *counts, int tiles, int shift) {
    __shared__ int ranks[16][256];
    const int i = threadIdx.x;
    int digit_counts[16];
    unsigned keys[4];
    for (int digit = 0; digit < 16; digit++)
        digit_counts[digit] = 0;
    for (int k = 0; k < 4; k++) {
        keys[k] = in[blockIdx.x * 1024 + i * 4 + k];
        digit_counts[keys[k] >> shift & 15]++;
    }
    for (int digit = 0; digit < 16; digit++)
        ranks[digit][i] = digit_counts[digit];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int before[16];
        for (int digit = 0; digit < 16; digit++)
            before[digit] = i >= d ? ranks[digit][i - d] : 0;
        __syncthreads();
        for (int digit = 0; digit < 16; digit++)
            ranks[digit][i] += before[digit];
        __syncthreads();
    }
    for (int k = 0; k < 4; k++) {
        const int digit = keys[k] >> shift & 15;
        const int at = counts[digit * tiles + blockIdx.x] + ranks[digit][i] - digit_counts[digit];
        out[at] = keys[k];
        digit_counts[digit]--;
    }
}
void radix(void *const *b, const int *n) {
    radix_count<<<n[1], 256>>>(buffer<unsigned>(b, 0), buffer<int>(b, 2), n[1], 8);
    radix_scan<<<1, 256>>>(buffer<int>(b, 2), n[1]);
    radix_scatter<<<n[1], 256>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1), buffer<int>(b, 2), n[1], 8);
}

__global__ void compaction_kernel(const unsigned *in, unsigned *out, int *counts) {
    __shared__ int kept_count[256];
    const int i = threadIdx.x;
    const unsigned value = in[blockIdx.x * 256 + i];
    const bool keep = (value & 64) != 0;
    kept_count[i] = keep;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        const int before = i >= d ? kept_count[i - d] : 0;
        __syncthreads();
        kept_count[i] += before;
        __syncthreads();
    }
    if (keep) out[blockIdx.x * 256 + kept_count[i] - 1] = value;
    if (i == 255) counts[blockIdx.x] = kept_count[255];
}
void compaction(void *const *b, const int *n) {
    compaction_kernel<<<n[0] / 256, 256>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1), buffer<int>(b, 2));
}

const CudaCase order_cases[] = {
    {"tile scan", scan},       {"prefix sums of doubles", prefix}, {"double reduction", reduction},
    {"bitonic sort", bitonic}, {"radix sort pass", radix},         {"stream compaction", compaction}};

} // namespace
