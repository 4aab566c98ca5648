// The family `dense` of the kernel suite: linear algebra (matrix products, factorisations, kernels of PolyBench).
#include "family.h"

namespace SUITE_FAMILY {
namespace {

void tiled_data(Problem &p) {
    const int n = p.pick(128, 2048);
    p.n = {n};
    p.doubles(size_t(n) * n), p.doubles(size_t(n) * n), p.out<double>(size_t(n) * n);
    p.tolerance = 1e-12;
}
template <class T> void product_cpu(const T *a, const T *b, T *c, int rows, int inner, int columns) {
    for (int y = 0; y < rows; y++)
        for (int k = 0; k < inner; k++)
            for (int x = 0; x < columns; x++)
                c[y * columns + x] += a[y * inner + k] * b[k * columns + x];
}
void tiled_cpu(Problem &p) {
    product_cpu(p.at<double>(0), p.at<double>(1), p.at<double>(2), p.n[0], p.n[0], p.n[0]);
}
void tiled(Arrays &d) {
    const int n = d.n[0];
    const array<double, 2> &a = d.get<double>(0, n, n), &b = d.get<double>(1, n, n);
    array<double, 2> &c = d.get<double>(2, n, n);
    parallel_for_each(
        c.extent.tile<16, 16>(), [&, n ](tiled_index<16, 16> t) restrict(amp) {
            tile_static double left[16][16], right[16][16];
            const int row = t.local[0], column = t.local[1];
            double sum = 0;
            for (int k = 0; k < n; k += 16) {
                left[row][column] = a(t.global[0], k + column);
                right[row][column] = b(k + row, t.global[1]);
                t.barrier.wait();
                for (int j = 0; j < 16; j++)
                    sum += left[row][j] * right[j][column];
                t.barrier.wait();
            }
            c[t.global] = sum;
        });
}

// Each thread computes 4 x 4 elements of c, and each tile 64 x 64 elements.
void blocked_data(Problem &p) {
    const int n = p.pick(128, 2048);
    p.n = {n};
    p.floats(size_t(n) * n), p.floats(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.tolerance = 1e-4;
}
void blocked_cpu(Problem &p) {
    product_cpu(p.at<float>(0), p.at<float>(1), p.at<float>(2), p.n[0], p.n[0], p.n[0]);
}
void blocked(Arrays &d) {
    const int n = d.n[0];
    array_view<const float, 2> a(d.get<float>(0, n, n)), b(d.get<float>(1, n, n));
    array_view<float, 2> c(d.get<float>(2, n, n));
    parallel_for_each(
        extent<2>(n / 4, n / 4).tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
            tile_static float left[64][16], right[16][64];
            const int ty = t.local[0], tx = t.local[1], y = t.tile[0] * 64, x = t.tile[1] * 64;
            float sum[4][4];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = 0;
            for (int k = 0; k < n; k += 16) {
                for (int i = 0; i < 4; i++) {
                    left[ty + 16 * i][tx] = a(y + ty + 16 * i, k + tx);
                    right[ty][tx + 16 * i] = b(k + ty, x + tx + 16 * i);
                }
                t.barrier.wait();
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
                t.barrier.wait();
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    c(y + ty + 16 * i, x + tx + 16 * j) = sum[i][j];
        });
}

// d = alpha a b c + beta d, with a thread for each element.
void two_products_data(Problem &p) {
    const int n = p.pick(96, 1024);
    p.n = {n};
    for (int i = 0; i < 4; i++)
        p.floats(size_t(n) * n);
    p.in<float>(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.tolerance = 1e-4;
}
void two_products_cpu(Problem &p) {
    const int n = p.n[0];
    product_cpu(p.at<float>(0), p.at<float>(1), p.at<float>(4), n, n, n);
    product_cpu(p.at<float>(4), p.at<float>(2), p.at<float>(5), n, n, n);
    for (int i = 0; i < n * n; i++)
        p.at<float>(5)[i] = 1.5f * p.at<float>(5)[i] + 1.2f * p.at<float>(3)[i];
}
void two_products(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &a = d.get<float>(0, n, n), &b = d.get<float>(1, n, n), &c = d.get<float>(2, n, n),
                          &old = d.get<float>(3, n, n);
    array<float, 2> &intermediate = d.get<float>(4, n, n), &out = d.get<float>(5, n, n);
    const float alpha = 1.5f, beta = 1.2f;
    parallel_for_each(
        intermediate.extent, [&a, &b, &intermediate, alpha, n ](index<2> i) restrict(amp) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += alpha * a(i[0], k) * b(k, i[1]);
            intermediate[i] = sum;
        });
    parallel_for_each(
        out.extent, [&intermediate, &c, &old, &out, beta, n ](index<2> i) restrict(amp) {
            out[i] = old[i] * beta;
            for (int k = 0; k < n; k++)
                out[i] += intermediate(i[0], k) * c(k, i[1]);
        });
}

// y = a' (a x).
void atax_data(Problem &p) {
    const int n = p.pick(384, 8192);
    p.n = {n};
    p.floats(size_t(n) * n), p.floats(n), p.in<float>(n), p.out<float>(n);
    p.bytes = 8.0 * n * n, p.tolerance = 1e-4;
}
void atax_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < n; j++)
            sum += p.at<float>(0)[i * n + j] * p.at<float>(1)[j];
        for (int j = 0; j < n; j++)
            p.at<float>(3)[j] += p.at<float>(0)[i * n + j] * sum;
    }
}
void atax(Arrays &d) {
    const int n = d.n[0];
    array_view<const float, 2> a(d.get<float>(0, n, n));
    array_view<const float> x(d.get<float>(1, n));
    array_view<float> intermediate(d.get<float>(2, n)), y(d.get<float>(3, n));
    parallel_for_each(
        intermediate.extent, [=](index<1> i) restrict(amp) {
            intermediate[i] = 0;
            for (int j = 0; j < n; j++)
                intermediate[i] += a(i[0], j) * x[j];
        });
    parallel_for_each(
        y.extent, [=](index<1> j) restrict(amp) {
            y[j] = 0;
            for (int i = 0; i < n; i++)
                y[j] += a(i, j[0]) * intermediate[i];
        });
}

// q = a x, s = a' r.
void bicg_data(Problem &p) {
    const int n = p.pick(384, 8192);
    p.n = {n};
    p.floats(size_t(n) * n), p.floats(n), p.floats(n), p.out<float>(n), p.out<float>(n);
    p.bytes = 8.0 * n * n, p.tolerance = 1e-4;
}
void bicg_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            p.at<float>(3)[i] += p.at<float>(0)[i * n + j] * p.at<float>(1)[j];
            p.at<float>(4)[j] += p.at<float>(0)[i * n + j] * p.at<float>(2)[i];
        }
}
void bicg(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &a = d.get<float>(0, n, n);
    const array<float> &x = d.get<float>(1, n), &r = d.get<float>(2, n);
    array<float> &q = d.get<float>(3, n), &s = d.get<float>(4, n);
    parallel_for_each(
        q.extent, [&a, &x, &q ](index<1> i) restrict(amp) {
            float sum = 0;
            for (int j = 0; j < a.extent[1]; j++)
                sum += a(i[0], j) * x[j];
            q[i] = sum;
        });
    parallel_for_each(
        s.extent, [&a, &r, &s ](index<1> j) restrict(amp) {
            float sum = 0;
            for (int i = 0; i < a.extent[0]; i++)
                sum += a(i, j[0]) * r[i];
            s[j] = sum;
        });
}

// b = a + u1 v1' + u2 v2'; x = beta b' y + z; w = alpha b x. In double.
void gemver_data(Problem &p) {
    const int n = p.pick(256, 4096);
    p.n = {n};
    p.doubles(size_t(n) * n), p.in<double>(size_t(n) * n);
    for (int i = 0; i < 6; i++)
        p.doubles(n);
    p.out<double>(n), p.out<double>(n);
    p.bytes = 32.0 * n * n, p.tolerance = 1e-12;
}
void gemver_cpu(Problem &p) {
    const int n = p.n[0];
    double *b = p.at<double>(1), *x = p.at<double>(8);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = p.at<double>(0)[i * n + j] + p.at<double>(2)[i] * p.at<double>(3)[j] +
                           p.at<double>(4)[i] * p.at<double>(5)[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[j] += 1.2 * b[i * n + j] * p.at<double>(6)[i];
    for (int j = 0; j < n; j++)
        x[j] += p.at<double>(7)[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            p.at<double>(9)[i] += 1.5 * b[i * n + j] * x[j];
}
void gemver(Arrays &d) {
    const int n = d.n[0];
    array_view<const double, 2> a(d.get<double>(0, n, n));
    array_view<double, 2> b(d.get<double>(1, n, n));
    array_view<const double> u1(d.get<double>(2, n)), v1(d.get<double>(3, n)), u2(d.get<double>(4, n)),
        v2(d.get<double>(5, n)), y(d.get<double>(6, n)), z(d.get<double>(7, n));
    array_view<double> x(d.get<double>(8, n)), w(d.get<double>(9, n));
    const double alpha = 1.5, beta = 1.2;
    parallel_for_each(
        b.extent, [=](index<2> i) restrict(amp) { b[i] = a[i] + u1[i[0]] * v1[i[1]] + u2[i[0]] * v2[i[1]]; });
    parallel_for_each(
        x.extent, [=](index<1> j) restrict(amp) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += beta * b(i, j[0]) * y[i];
            x[j] = sum + z[j];
        });
    parallel_for_each(
        w.extent, [=](index<1> i) restrict(amp) {
            double sum = 0;
            for (int j = 0; j < n; j++)
                sum += alpha * b(i[0], j) * x[j];
            w[i] = sum;
        });
}

// Computes the mean and deviation of each column, and the correlation of each pair of columns.
void correlation_data(Problem &p) {
    const int n = p.pick(96, 1024);
    p.n = {n};
    p.floats(size_t(n) * n), p.in<float>(size_t(n) * n), p.in<float>(n), p.in<float>(n), p.out<float>(size_t(n) * n);
    p.tolerance = 1e-3;
}
void correlation_cpu(Problem &p) {
    const int n = p.n[0];
    const float *in = p.at<float>(0);
    float *data = p.at<float>(1), *out = p.at<float>(4);
    for (int j = 0; j < n; j++) {
        double mean = 0, square = 0;
        for (int i = 0; i < n; i++)
            mean += double(in[i * n + j]) / n;
        for (int i = 0; i < n; i++)
            square += (in[i * n + j] - mean) * (in[i * n + j] - mean) / n;
        for (int i = 0; i < n; i++)
            data[i * n + j] = float((in[i * n + j] - mean) / std::sqrt(square * n));
    }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += data[i * n + j] * data[i * n + k];
            out[j * n + k] = j == k ? 1 : float(sum);
        }
}
void correlation(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &in = d.get<float>(0, n, n);
    array<float, 2> &data = d.get<float>(1, n, n), &out = d.get<float>(4, n, n);
    array<float> &mean = d.get<float>(2, n), &deviation = d.get<float>(3, n);
    parallel_for_each(
        mean.extent, [&, n ](index<1> j) restrict(amp) {
            float sum = 0;
            for (int i = 0; i < n; i++)
                sum += in(i, j[0]);
            mean[j] = sum / n;
            float square = 0;
            for (int i = 0; i < n; i++) {
                const float difference = in(i, j[0]) - mean[j];
                square += difference * difference;
            }
            deviation[j] = math::sqrt(square / n);
        });
    parallel_for_each(
        data.extent, [&, n ](index<2> i) restrict(amp) {
            data[i] = (in[i] - mean[i[1]]) / (math::sqrt(static_cast<float>(n)) * deviation[i[1]]);
        });
    parallel_for_each(
        extent<1>(n), [&, n ](index<1> idx) restrict(amp) {
            const int j = idx[0];
            out(j, j) = 1;
            for (int k = j + 1; k < n; k++) {
                float sum = 0;
                for (int i = 0; i < n; i++)
                    sum += data(i, j) * data(i, k);
                out(j, k) = sum;
                out(k, j) = sum;
            }
        });
}

// Rodinia's LU decomposition in blocks of 16 x 16. Each step has three launches: the diagonal block, the border blocks,
// the inner blocks.
void lud_data(Problem &p) {
    const int n = p.pick(128, 1024);
    p.n = {n};
    float *a = p.floats(size_t(n) * n);
    for (int i = 0; i < n; i++)
        a[i * n + i] += n;
    p.out<float>(size_t(n) * n);
    p.tolerance = 1e-4;
}
void lud_cpu(Problem &p) {
    const int n = p.n[0];
    float *a = p.at<float>(1);
    std::copy_n(p.at<float>(0), size_t(n) * n, a);
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}
void lud(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &in = d.get<float>(0, n, n);
    array<float, 2> &a = d.get<float>(1, n, n);
    parallel_for_each(
        a.extent, [&](index<2> i) restrict(amp) { a[i] = in[i]; });
    for (int at = 0; at < n; at += 16) {
        parallel_for_each(
            extent<1>(16).tile<16>(), [&a, at ](tiled_index<16> t) restrict(amp) {
                tile_static float part[16][16];
                const int i = t.local[0];
                for (int k = 0; k < 16; k++)
                    part[k][i] = a(at + k, at + i);
                t.barrier.wait();
                for (int k = 0; k < 15; k++) {
                    if (i > k) {
                        part[i][k] /= part[k][k];
                        for (int j = k + 1; j < 16; j++)
                            part[i][j] -= part[i][k] * part[k][j];
                    }
                    t.barrier.wait();
                }
                for (int k = 0; k < 16; k++)
                    a(at + k, at + i) = part[k][i];
            });
        const int remaining_blocks = (n - at) / 16 - 1;
        if (remaining_blocks == 0) break;
        // Half of a tile's threads compute a border block in the row of the diagonal block. The other half compute a
        // border block in the column of the diagonal block.
        parallel_for_each(
            extent<1>(remaining_blocks * 32).tile<32>(), [&a, at ](tiled_index<32> t) restrict(amp) {
                tile_static float diagonal[16][16], row[16][16], column[16][16];
                const int i = t.local[0] % 16, from = at + 16 + t.tile[0] * 16;
                const bool computes_row = t.local[0] < 16;
                for (int k = 0; k < 16; k++) {
                    if (computes_row) {
                        diagonal[k][i] = a(at + k, at + i);
                        row[k][i] = a(at + k, from + i);
                    } else {
                        column[k][i] = a(from + k, at + i);
                    }
                }
                t.barrier.wait();
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
                t.barrier.wait();
                for (int k = 0; k < 16; k++) {
                    if (computes_row) {
                        a(at + k, from + i) = row[k][i];
                    } else {
                        a(from + k, at + i) = column[k][i];
                    }
                }
            });
        parallel_for_each(
            extent<2>(remaining_blocks * 16, remaining_blocks * 16).tile<16, 16>(),
            [&a, at ](tiled_index<16, 16> t) restrict(amp) {
                tile_static float row[16][16], column[16][16];
                const int y = at + 16 + t.global[0], x = at + 16 + t.global[1], ly = t.local[0], lx = t.local[1];
                row[ly][lx] = a(at + ly, x);
                column[ly][lx] = a(y, at + lx);
                t.barrier.wait();
                float sum = 0;
                for (int k = 0; k < 16; k++)
                    sum += column[ly][k] * row[k][lx];
                a(y, x) -= sum;
            });
    }
}

// Rodinia's Gaussian elimination, with two launches for each column.
void gaussian_data(Problem &p) {
    const int n = p.pick(64, 512);
    p.n = {n};
    float *a = p.floats(size_t(n) * n);
    for (int i = 0; i < n; i++)
        a[i * n + i] += n;
    p.floats(n), p.out<float>(size_t(n) * n), p.out<float>(n), p.in<float>(n);
    p.tolerance = 1e-4;
}
void gaussian_cpu(Problem &p) {
    const int n = p.n[0];
    float *a = p.at<float>(2), *b = p.at<float>(3);
    std::copy_n(p.at<float>(0), size_t(n) * n, a), std::copy_n(p.at<float>(1), n, b);
    for (int k = 0; k < n - 1; k++)
        for (int i = k + 1; i < n; i++) {
            const float m = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++)
                a[i * n + j] -= m * a[k * n + j];
            b[i] -= m * b[k];
        }
}
void gaussian(Arrays &d) {
    const int n = d.n[0];
    array_view<const float, 2> in(d.get<float>(0, n, n));
    array_view<const float> right(d.get<float>(1, n));
    array_view<float, 2> a(d.get<float>(2, n, n));
    array_view<float> b(d.get<float>(3, n)), m(d.get<float>(4, n));
    parallel_for_each(
        a.extent, [=](index<2> i) restrict(amp) {
            a[i] = in[i];
            if (i[1] == 0) b[i[0]] = right[i[0]];
        });
    for (int k = 0; k < n - 1; k++) {
        parallel_for_each(
            extent<1>(n - 1 - k), [=](index<1> i) restrict(amp) { m[k + 1 + i[0]] = a(k + 1 + i[0], k) / a(k, k); });
        parallel_for_each(
            extent<2>(n - 1 - k, n - k), [=](index<2> i) restrict(amp) {
                const int y = k + 1 + i[0], x = k + i[1];
                a(y, x) -= m[y] * a(k, x);
                if (i[1] == 0) b[y] -= m[y] * b[k];
            });
    }
}

// Rodinia's backprop: the forward pass of a layer, with sums in tiles, and the adjustment of the layer's weights.
void layer_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 20);
    p.n = {n};
    p.floats(n), p.floats(16 * size_t(n), -1, 1), p.floats(16), p.out<float>(n), p.out<float>(16 * size_t(n));
    p.bytes = 192.0 * n, p.tolerance = 1e-4;
}
void layer_cpu(Problem &p) {
    for (int tile = 0; tile < p.n[0] / 16; tile++)
        for (int x = 0; x < 16; x++) {
            float sum = 0;
            for (int y = 0; y < 16; y++)
                sum += p.at<float>(1)[(tile * 16 + y) * 16 + x] * p.at<float>(0)[tile * 16 + y];
            p.at<float>(3)[tile * 16 + x] = sum;
        }
    for (int i = 0; i < p.n[0] * 16; i++)
        p.at<float>(4)[i] =
            p.at<float>(1)[i] + 0.3f * p.at<float>(2)[i % 16] * p.at<float>(0)[i / 16] + 0.3f * p.at<float>(1)[i];
}
void layer(Arrays &d) {
    const int n = d.n[0];
    const array<float> &input = d.get<float>(0, n), &delta = d.get<float>(2, 16);
    const array<float, 2> &weights = d.get<float>(1, n, 16);
    array<float, 2> &sums = d.get<float>(3, n / 16, 16), &adjusted = d.get<float>(4, n, 16);
    parallel_for_each(
        weights.extent.tile<16, 16>(), [&](tiled_index<16, 16> t) restrict(amp) {
            tile_static float node[16];
            tile_static float part[16][16];
            const int y = t.local[0], x = t.local[1];
            if (x == 0) node[y] = input[t.global[0]];
            t.barrier.wait();
            part[y][x] = weights[t.global] * node[y];
            t.barrier.wait();
            for (int i = 1; i <= 4; i++) {
                const int power = 1 << i;
                if (y % power == 0) part[y][x] += part[y + power / 2][x];
                t.barrier.wait();
            }
            if (y == 0) sums(t.tile[0], x) = part[0][x];
        });
    const float rate = 0.3f, momentum = 0.3f;
    parallel_for_each(
        weights.extent, [&, rate, momentum ](index<2> i) restrict(amp) {
            adjusted[i] = weights[i] + rate * delta[i[1]] * input[i[0]] + momentum * weights[i];
        });
}

// out[r][q][p] = sum over s of a[r][q][s] c[s][p].
void doitgen_data(Problem &p) {
    const int n = p.pick(32, 192);
    p.n = {n};
    p.floats(size_t(n) * n * n), p.floats(size_t(n) * n), p.out<float>(size_t(n) * n * n);
    p.tolerance = 1e-4;
}
void doitgen_cpu(Problem &p) {
    const int n = p.n[0];
    product_cpu(p.at<float>(0), p.at<float>(1), p.at<float>(2), n * n, n, n);
}
void doitgen(Arrays &d) {
    const int n = d.n[0];
    array_view<const float, 3> a(d.get<float>(0, n, n, n));
    array_view<const float, 2> c(d.get<float>(1, n, n));
    array_view<float, 3> out(d.get<float>(2, n, n, n));
    parallel_for_each(
        out.extent, [=](index<3> i) restrict(amp) {
            float sum = 0;
            for (int s = 0; s < n; s++)
                sum += a(i[0], i[1], s) * c(s, i[2]);
            out[i] = sum;
        });
}

// PolyBench's adi: a sweep along rows, then a sweep along columns, with a thread for each line.
void adi_data(Problem &p) {
    const int n = p.pick(192, 2048);
    p.n = {n};
    p.floats(size_t(n) * n, 1, 2), p.floats(size_t(n) * n, 0.1f, 0.2f), p.floats(size_t(n) * n, 2, 3);
    p.out<float>(size_t(n) * n), p.in<float>(size_t(n) * n);
    p.tolerance = 1e-3;
}
void adi_cpu(Problem &p) {
    const int n = p.n[0];
    const float *x0 = p.at<float>(0), *a = p.at<float>(1), *b0 = p.at<float>(2);
    float *x = p.at<float>(3), *b = p.at<float>(4);
    std::copy_n(x0, size_t(n) * n, x), std::copy_n(b0, size_t(n) * n, b);
    for (int pass = 0; pass < 2; pass++) {
        const int along = pass == 0 ? 1 : n, across = pass == 0 ? n : 1;
        for (int line = 0; line < n; line++)
            for (int k = 1; k < n; k++) {
                const int i = line * across + k * along;
                x[i] -= x[i - along] * a[i] / b[i - along];
                b[i] -= a[i] * a[i] / b[i - along];
            }
    }
}
void adi(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &from = d.get<float>(0, n, n), &a = d.get<float>(1, n, n), &diagonal = d.get<float>(2, n, n);
    array<float, 2> &x = d.get<float>(3, n, n), &b = d.get<float>(4, n, n);
    parallel_for_each(
        x.extent, [&](index<2> i) restrict(amp) {
            x[i] = from[i];
            b[i] = diagonal[i];
        });
    parallel_for_each(
        extent<1>(n), [&a, &x, &b, n ](index<1> i) restrict(amp) {
            const int y = i[0];
            for (int k = 1; k < n; k++) {
                x(y, k) -= x(y, k - 1) * a(y, k) / b(y, k - 1);
                b(y, k) -= a(y, k) * a(y, k) / b(y, k - 1);
            }
        });
    parallel_for_each(
        extent<1>(n), [&a, &x, &b, n ](index<1> i) restrict(amp) {
            const int c = i[0];
            for (int k = 1; k < n; k++) {
                x(k, c) -= x(k - 1, c) * a(k, c) / b(k - 1, c);
                b(k, c) -= a(k, c) * a(k, c) / b(k - 1, c);
            }
        });
}

} // namespace

void dense(std::vector<Case> &all) {
    all.insert(all.end(), {{"tiled product, double", tiled_data, tiled_cpu, tiled},
                           {"product blocked in registers", blocked_data, blocked_cpu, blocked},
                           {"2mm", two_products_data, two_products_cpu, two_products},
                           {"atax", atax_data, atax_cpu, atax},
                           {"bicg", bicg_data, bicg_cpu, bicg},
                           {"gemver, double", gemver_data, gemver_cpu, gemver},
                           {"correlation", correlation_data, correlation_cpu, correlation},
                           {"LUD", lud_data, lud_cpu, lud},
                           {"gaussian elimination", gaussian_data, gaussian_cpu, gaussian},
                           {"backprop layer", layer_data, layer_cpu, layer},
                           {"doitgen", doitgen_data, doitgen_cpu, doitgen},
                           {"adi", adi_data, adi_cpu, adi}});
}
} // namespace SUITE_FAMILY
