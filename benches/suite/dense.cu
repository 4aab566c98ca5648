// The CUDA side of the family `dense` of the kernel suite: the kernels of dense.cpp, written in CUDA.
#include "cuda.h"

namespace {

__global__ void tiled_kernel(const double *a, const double *b, double *c, int n) {
    __shared__ double left[16][16], right[16][16];
    const int row = threadIdx.y, column = threadIdx.x, y = blockIdx.y * 16 + row, x = blockIdx.x * 16 + column;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[row][column] = a[y * n + k + column];
        right[row][column] = b[(k + row) * n + x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += left[row][j] * right[j][column];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
void tiled(void *const *b, const int *n) {
    tiled_kernel<<<dim3(n[0] / 16, n[0] / 16), dim3(16, 16)>>>(buffer<double>(b, 0), buffer<double>(b, 1),
                                                               buffer<double>(b, 2), n[0]);
}

__global__ void blocked_kernel(const float *a, const float *b, float *c, int n) {
    __shared__ float left[64][16], right[16][64];
    const int ty = threadIdx.y, tx = threadIdx.x, y = blockIdx.y * 64, x = blockIdx.x * 64;
    float sum[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            sum[i][j] = 0;
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 4; i++) {
            left[ty + 16 * i][tx] = a[(y + ty + 16 * i) * n + k + tx];
            right[ty][tx + 16 * i] = b[(k + ty) * n + x + tx + 16 * i];
        }
        __syncthreads();
        for (int s = 0; s < 16; s++) {
            float l[4], r[4];
            for (int i = 0; i < 4; i++) {
                l[i] = left[ty + 16 * i][s];
                r[i] = right[s][tx + 16 * i];
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(y + ty + 16 * i) * n + x + tx + 16 * j] = sum[i][j];
}
void blocked(void *const *b, const int *n) {
    blocked_kernel<<<dim3(n[0] / 64, n[0] / 64), dim3(16, 16)>>>(buffer<float>(b, 0), buffer<float>(b, 1),
                                                                 buffer<float>(b, 2), n[0]);
}

__global__ void first_product(const float *a, const float *b, float *intermediate, float alpha, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += alpha * a[y * n + k] * b[k * n + x];
    intermediate[y * n + x] = sum;
}
__global__ void second_product(const float *intermediate, const float *c, const float *old, float *out, float beta,
                               int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    out[y * n + x] = old[y * n + x] * beta;
    for (int k = 0; k < n; k++)
        out[y * n + x] += intermediate[y * n + k] * c[k * n + x];
}
void two_products(void *const *b, const int *n) {
    const Block block = block_wide();
    const dim3 blocks = grid(block, n[0], n[0]);
    first_product<<<blocks, block>>>(buffer<float>(b, 0), buffer<float>(b, 1), buffer<float>(b, 4), 1.5f, n[0]);
    second_product<<<blocks, block>>>(buffer<float>(b, 4), buffer<float>(b, 2), buffer<float>(b, 3),
                                      buffer<float>(b, 5), 1.2f, n[0]);
}

__global__ void atax_first(const float *a, const float *x, float *intermediate, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    intermediate[i] = 0;
    for (int j = 0; j < n; j++)
        intermediate[i] += a[i * n + j] * x[j];
}
__global__ void atax_second(const float *a, const float *intermediate, float *y, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    y[j] = 0;
    for (int i = 0; i < n; i++)
        y[j] += a[i * n + j] * intermediate[i];
}
void atax(void *const *b, const int *n) {
    atax_first<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 1), buffer<float>(b, 2),
                                                       n[0]);
    atax_second<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 2), buffer<float>(b, 3),
                                                        n[0]);
}

__global__ void bicg_first(const float *a, const float *x, float *q, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += a[i * n + j] * x[j];
    q[i] = sum;
}
__global__ void bicg_second(const float *a, const float *r, float *s, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i * n + j] * r[i];
    s[j] = sum;
}
void bicg(void *const *b, const int *n) {
    bicg_first<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 1), buffer<float>(b, 3),
                                                       n[0]);
    bicg_second<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 2), buffer<float>(b, 4),
                                                        n[0]);
}

__global__ void gemver_first(const double *a, double *b, const double *u1, const double *v1, const double *u2,
                             const double *v2, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) b[y * n + x] = a[y * n + x] + u1[y] * v1[x] + u2[y] * v2[x];
}
__global__ void gemver_second(const double *b, const double *y, const double *z, double *x, double beta, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += beta * b[i * n + j] * y[i];
    x[j] = sum + z[j];
}
__global__ void gemver_third(const double *b, const double *x, double *w, double alpha, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += alpha * b[i * n + j] * x[j];
    w[i] = sum;
}
void gemver(void *const *b, const int *n) {
    auto at = [b](int i) { return buffer<double>(b, i); };
    gemver_first<<<grid(block_wide(), n[0], n[0]), block_wide()>>>(at(0), at(1), at(2), at(3), at(4), at(5), n[0]);
    gemver_second<<<grid(block_1d(), n[0]), block_1d()>>>(at(1), at(6), at(7), at(8), 1.2, n[0]);
    gemver_third<<<grid(block_1d(), n[0]), block_1d()>>>(at(1), at(8), at(9), 1.5, n[0]);
}

__global__ void correlation_moments(const float *in, float *mean, float *deviation, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i * n + j];
    mean[j] = sum / n;
    float square = 0;
    for (int i = 0; i < n; i++) {
        const float difference = in[i * n + j] - mean[j];
        square += difference * difference;
    }
    deviation[j] = sqrtf(square / n);
}
__global__ void correlation_center(const float *in, float *data, const float *mean, const float *deviation, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) data[y * n + x] = (in[y * n + x] - mean[x]) / (sqrtf(static_cast<float>(n)) * deviation[x]);
}
__global__ void correlation_sums(const float *data, float *out, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    out[j * n + j] = 1;
    for (int k = j + 1; k < n; k++) {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += data[i * n + j] * data[i * n + k];
        out[j * n + k] = sum;
        out[k * n + j] = sum;
    }
}
void correlation(void *const *b, const int *n) {
    auto at = [b](int i) { return buffer<float>(b, i); };
    correlation_moments<<<grid(block_1d(), n[0]), block_1d()>>>(at(0), at(2), at(3), n[0]);
    correlation_center<<<grid(block_wide(), n[0], n[0]), block_wide()>>>(at(0), at(1), at(2), at(3), n[0]);
    correlation_sums<<<grid(block_1d(), n[0]), block_1d()>>>(at(1), at(4), n[0]);
}

__global__ void lud_copy(const float *in, float *a, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) a[y * n + x] = in[y * n + x];
}
__global__ void lud_diagonal(float *a, int at, int n) {
    __shared__ float part[16][16];
    const int i = threadIdx.x;
    for (int k = 0; k < 16; k++)
        part[k][i] = a[(at + k) * n + at + i];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (i > k) {
            part[i][k] /= part[k][k];
            for (int j = k + 1; j < 16; j++)
                part[i][j] -= part[i][k] * part[k][j];
        }
        __syncthreads();
    }
    for (int k = 0; k < 16; k++)
        a[(at + k) * n + at + i] = part[k][i];
}
__global__ void lud_borders(float *a, int at, int n) {
    __shared__ float diagonal[16][16], row[16][16], column[16][16];
    const int i = threadIdx.x % 16, from = at + 16 + blockIdx.x * 16;
    const bool computes_row = threadIdx.x < 16;
    for (int k = 0; k < 16; k++) {
        if (computes_row) {
            diagonal[k][i] = a[(at + k) * n + at + i];
            row[k][i] = a[(at + k) * n + from + i];
        } else {
            column[k][i] = a[(from + k) * n + at + i];
        }
    }
    __syncthreads();
    if (computes_row) {
        for (int k = 1; k < 16; k++)
            for (int j = 0; j < k; j++)
                row[k][i] -= diagonal[k][j] * row[j][i];
    } else {
        for (int k = 0; k < 16; k++) {
            for (int j = 0; j < k; j++)
                column[i][k] -= column[i][j] * diagonal[j][k];
            column[i][k] /= diagonal[k][k];
        }
    }
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        if (computes_row) {
            a[(at + k) * n + from + i] = row[k][i];
        } else {
            a[(from + k) * n + at + i] = column[k][i];
        }
    }
}
__global__ void lud_inner(float *a, int at, int n) {
    __shared__ float row[16][16], column[16][16];
    const int ly = threadIdx.y, lx = threadIdx.x, y = at + 16 + blockIdx.y * 16 + ly,
              x = at + 16 + blockIdx.x * 16 + lx;
    row[ly][lx] = a[(at + ly) * n + x];
    column[ly][lx] = a[y * n + at + lx];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += column[ly][k] * row[k][lx];
    a[y * n + x] -= sum;
}
void lud(void *const *b, const int *n) {
    float *a = buffer<float>(b, 1);
    lud_copy<<<grid(block_wide(), n[0], n[0]), block_wide()>>>(buffer<float>(b, 0), a, n[0]);
    for (int at = 0; at < n[0]; at += 16) {
        lud_diagonal<<<1, 16>>>(a, at, n[0]);
        const int rest = (n[0] - at) / 16 - 1;
        if (rest == 0) break;
        lud_borders<<<rest, 32>>>(a, at, n[0]);
        lud_inner<<<dim3(rest, rest), dim3(16, 16)>>>(a, at, n[0]);
    }
}

__global__ void gaussian_copy(const float *in, const float *right, float *a, float *b, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    a[y * n + x] = in[y * n + x];
    if (x == 0) b[y] = right[y];
}
__global__ void gaussian_factors(const float *a, float *m, int k, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1 - k) m[k + 1 + i] = a[(k + 1 + i) * n + k] / a[k * n + k];
}
__global__ void gaussian_rows(float *a, float *b, const float *m, int k, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n - k || j >= n - 1 - k) return;
    const int y = k + 1 + j, x = k + i;
    a[y * n + x] -= m[y] * a[k * n + x];
    if (i == 0) b[y] -= m[y] * b[k];
}
void gaussian(void *const *b, const int *n) {
    auto at = [b](int i) { return buffer<float>(b, i); };
    gaussian_copy<<<grid(block_wide(), n[0], n[0]), block_wide()>>>(at(0), at(1), at(2), at(3), n[0]);
    for (int k = 0; k < n[0] - 1; k++) {
        const int rest = n[0] - k;
        gaussian_factors<<<grid(block_1d(), rest - 1), block_1d()>>>(at(2), at(4), k, n[0]);
        gaussian_rows<<<grid(block_wide(), rest, rest - 1), block_wide()>>>(at(2), at(3), at(4), k, n[0]);
    }
}

__global__ void layer_forward(const float *input, const float *weights, float *sums) {
    __shared__ float node[16];
    __shared__ float part[16][16];
    const int y = threadIdx.y, x = threadIdx.x, row = blockIdx.y * 16 + y;
    if (x == 0) node[y] = input[row];
    __syncthreads();
    part[y][x] = weights[row * 16 + x] * node[y];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        const int power = 1 << i;
        if (y % power == 0) part[y][x] += part[y + power / 2][x];
        __syncthreads();
    }
    if (y == 0) sums[blockIdx.y * 16 + x] = part[0][x];
}
__global__ void layer_adjust(const float *input, const float *weights, const float *delta, float *adjusted, float rate,
                             float momentum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 16 * n) adjusted[i] = weights[i] + rate * delta[i % 16] * input[i / 16] + momentum * weights[i];
}
void layer(void *const *b, const int *n) {
    auto at = [b](int i) { return buffer<float>(b, i); };
    // The rows are in y, as in the C++ AMP kernel. CUDA allows at most 65535 blocks in y.
    const int rows = n[0] / 16, max_blocks = 65535;
    for (int from = 0; from < rows; from += max_blocks) {
        const int count = rows - from < max_blocks ? rows - from : max_blocks;
        layer_forward<<<dim3(1, count), dim3(16, 16)>>>(at(0) + from * 16, at(1) + from * 256, at(3) + from * 16);
    }
    layer_adjust<<<grid(block_1d(), 16 * n[0]), block_1d()>>>(at(0), at(1), at(2), at(4), 0.3f, 0.3f, n[0]);
}

__global__ void doitgen_kernel(const float *a, const float *c, float *out, int n) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y, r = blockIdx.z;
    if (p >= n || q >= n) return;
    float sum = 0;
    for (int s = 0; s < n; s++)
        sum += a[(r * n + q) * n + s] * c[s * n + p];
    out[(r * n + q) * n + p] = sum;
}
void doitgen(void *const *b, const int *n) {
    doitgen_kernel<<<grid(block_wide(), n[0], n[0], n[0]), block_wide()>>>(buffer<float>(b, 0), buffer<float>(b, 1),
                                                                           buffer<float>(b, 2), n[0]);
}

__global__ void adi_copy(const float *from, const float *diagonal, float *x, float *b, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    x[row * n + column] = from[row * n + column];
    b[row * n + column] = diagonal[row * n + column];
}
__global__ void adi_rows(const float *a, float *x, float *b, int n) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= n) return;
    for (int k = 1; k < n; k++) {
        x[y * n + k] -= x[y * n + k - 1] * a[y * n + k] / b[y * n + k - 1];
        b[y * n + k] -= a[y * n + k] * a[y * n + k] / b[y * n + k - 1];
    }
}
__global__ void adi_columns(const float *a, float *x, float *b, int n) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    for (int k = 1; k < n; k++) {
        x[k * n + c] -= x[(k - 1) * n + c] * a[k * n + c] / b[(k - 1) * n + c];
        b[k * n + c] -= a[k * n + c] * a[k * n + c] / b[(k - 1) * n + c];
    }
}
void adi(void *const *b, const int *n) {
    auto at = [b](int i) { return buffer<float>(b, i); };
    adi_copy<<<grid(block_wide(), n[0], n[0]), block_wide()>>>(at(0), at(2), at(3), at(4), n[0]);
    adi_rows<<<grid(block_1d(), n[0]), block_1d()>>>(at(1), at(3), at(4), n[0]);
    adi_columns<<<grid(block_1d(), n[0]), block_1d()>>>(at(1), at(3), at(4), n[0]);
}

const CudaCase dense_cases[] = {{"tiled product, double", tiled},
                                {"product blocked in registers", blocked},
                                {"2mm", two_products},
                                {"atax", atax},
                                {"bicg", bicg},
                                {"gemver, double", gemver},
                                {"correlation", correlation},
                                {"LUD", lud},
                                {"gaussian elimination", gaussian},
                                {"backprop layer", layer},
                                {"doitgen", doitgen},
                                {"adi", adi}};

} // namespace
