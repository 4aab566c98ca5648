// The CUDA side of the family `graphs` of the kernel suite: the kernels of graphs.cpp, written in CUDA.
#include "cuda.h"

namespace {

__global__ void spmv_kernel(const int *first, const int *column, const float *value, const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = first[i]; k < first[i + 1]; k++)
        sum += value[k] * x[column[k]];
    y[i] = sum;
}
void spmv(void *const *b, const int *n) {
    spmv_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<int>(b, 0), buffer<int>(b, 1), buffer<float>(b, 2),
                                                        buffer<float>(b, 3), buffer<float>(b, 4), n[0]);
}

__global__ void bfs_start(const int *start, int *level, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) level[i] = start[i];
}
__global__ void bfs_level(const int *first, const int *edge, int *level, int *changed, int current_level, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || level[i] != current_level) return;
    for (int k = first[i]; k < first[i + 1]; k++) {
        const int to = edge[k];
        if (level[to] == -1) {
            level[to] = current_level + 1;
            changed[0] = 1;
        }
    }
}
void bfs(void *const *b, const int *n) {
    bfs_start<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<int>(b, 2), buffer<int>(b, 3), n[0]);
    bfs_level<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<int>(b, 0), buffer<int>(b, 1), buffer<int>(b, 3),
                                                      buffer<int>(b, 4), 3, n[0]);
}

__global__ void kmeans_clear(int *count, int clusters) {
    const int i = threadIdx.x;
    if (i < clusters) count[i] = 0;
}
__global__ void kmeans_kernel(const float *point, const float *center, int *member, int *count, int n, int clusters,
                              int dimensions) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    float least_distance = 1e30f;
    for (int c = 0; c < clusters; c++) {
        float sum = 0;
        for (int k = 0; k < dimensions; k++) {
            const float difference = point[k * n + i] - center[c * dimensions + k];
            sum += difference * difference;
        }
        if (sum < least_distance) {
            least_distance = sum;
            best = c;
        }
    }
    member[i] = best;
    atomicAdd(&count[best], 1);
}
void kmeans(void *const *b, const int *n) {
    kmeans_clear<<<1, 64>>>(buffer<int>(b, 3), n[1]);
    kmeans_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 1), buffer<int>(b, 2),
                                                          buffer<int>(b, 3), n[0], n[1], n[2]);
}

struct Point {
    float weight, cost;
    int center;
    float pad;
};
__global__ void gain_kernel(const float *at, const Point *points, float *saved, int *center, int n, int dimensions,
                            int candidate) {
    __shared__ float candidate_point[32];
    if (threadIdx.x < dimensions) candidate_point[threadIdx.x] = at[threadIdx.x * n + candidate];
    __syncthreads();
    const int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < dimensions; k++) {
        const float difference = at[k * n + i] - candidate_point[k];
        sum += difference * difference;
    }
    const float change = sum * points[i].weight - points[i].cost;
    if (change < 0) {
        saved[i] = change;
        center[i] = candidate;
    } else {
        saved[i] = 0;
        center[i] = points[i].center;
    }
}
void gain(void *const *b, const int *n) {
    gain_kernel<<<n[0] / 256, 256>>>(buffer<float>(b, 0), buffer<Point>(b, 1), buffer<float>(b, 2), buffer<int>(b, 3),
                                     n[0], n[1], 7);
}

__global__ void floyd_copy(const int *in, int *d, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) d[y * n + x] = in[y * n + x];
}
__global__ void floyd_kernel(int *d, int k, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int through = d[y * n + k] + d[k * n + x];
    if (through < d[y * n + x]) d[y * n + x] = through;
}
void floyd(void *const *b, const int *n) {
    const Block block = block_square();
    const dim3 blocks = grid(block, n[0], n[0]);
    floyd_copy<<<blocks, block>>>(buffer<int>(b, 0), buffer<int>(b, 1), n[0]);
    for (int k = 0; k < n[0]; k++)
        floyd_kernel<<<blocks, block>>>(buffer<int>(b, 1), k, n[0]);
}

const CudaCase graphs_cases[] = {
    {"SpMV", spmv}, {"BFS level", bfs}, {"k-means", kmeans}, {"streamcluster", gain}, {"Floyd-Warshall", floyd}};

} // namespace
