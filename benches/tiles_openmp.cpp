// The algorithms of tiles.h as hand-written OpenMP loops. An iteration of the parallel loop is a tile. Within a
// tile, the phases between barriers are loops. The file is compiled once for each x86-64 level; TILES is the namespace.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tiles.h"

namespace tiles {
namespace TILES {

#ifdef _OPENMP
namespace {

void matmul(int n, const float *__restrict a, const float *__restrict b, float *__restrict c) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y += 16)
        for (int x = 0; x < n; x += 16) {
            alignas(64) float left[16][16], right[16][16], sum[16][16] = {};
            for (int k = 0; k < n; k += 16) {
                for (int row = 0; row < 16; row++)
                    for (int column = 0; column < 16; column++) {
                        left[row][column] = a[(y + row) * n + k + column];
                        right[row][column] = b[(k + row) * n + x + column];
                    }
                for (int row = 0; row < 16; row++)
#pragma omp simd
                    for (int column = 0; column < 16; column++) {
                        float s = sum[row][column];
                        for (int j = 0; j < 16; j++)
                            s += left[row][j] * right[j][column];
                        sum[row][column] = s;
                    }
            }
            for (int row = 0; row < 16; row++)
                for (int column = 0; column < 16; column++)
                    c[(y + row) * n + x + column] = sum[row][column];
        }
}

void scan(int n, const float *__restrict in, float *__restrict out) {
#pragma omp parallel for schedule(static)
    for (int first = 0; first < n; first += 256) {
        alignas(64) float one[256], two[256];
        float *from = one, *to = two;
        std::copy_n(in + first, 256, from);
        for (int step = 1; step < 256; step *= 2) {
            std::copy_n(from, step, to);
#pragma omp simd
            for (int i = step; i < 256; i++)
                to[i] = from[i] + from[i - step];
            std::swap(from, to);
        }
        std::copy_n(from, 256, out + first);
    }
}

void reduction(int n, const float *__restrict in, float *__restrict sums) {
#pragma omp parallel for schedule(static)
    for (int tile = 0; tile < n / 256; tile++) {
        alignas(64) float part[256];
        std::copy_n(in + tile * 256, 256, part);
        for (int half = 128; half > 0; half /= 2)
#pragma omp simd
            for (int i = 0; i < half; i++)
                part[i] += part[i + half];
        sums[tile] = part[0];
    }
}

void histogram(int n, const int *__restrict in, int *__restrict counts) {
    std::fill_n(counts, bins, 0);
#pragma omp parallel for schedule(static)
    for (int first = 0; first < n; first += 16384) {
        int part[bins] = {};
        for (int i = 0; i < 16384; i++)
            part[in[first + i]]++;
        for (int i = 0; i < bins; i++)
#pragma omp atomic
            counts[i] += part[i];
    }
}

void convolution(int n, const float *__restrict in, const float *weights, float *__restrict middle,
                 float *__restrict out) {
    float w[2 * radius + 1];
    std::copy_n(weights, 2 * radius + 1, w);
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x += 256) {
            alignas(64) float line[256 + 2 * radius];
            for (int i = 0; i < 256 + 2 * radius; i++)
                line[i] = in[y * n + std::clamp(x + i - radius, 0, n - 1)];
#pragma omp simd
            for (int i = 0; i < 256; i++) {
                float sum = 0;
                for (int k = 0; k <= 2 * radius; k++)
                    sum += w[k] * line[i + k];
                middle[y * n + x + i] = sum;
            }
        }
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y += 16)
        for (int x = 0; x < n; x += 16) {
            alignas(64) float block[16 + 2 * radius][16];
            for (int row = 0; row < 16 + 2 * radius; row++)
                for (int column = 0; column < 16; column++)
                    block[row][column] = middle[std::clamp(y + row - radius, 0, n - 1) * n + x + column];
            for (int row = 0; row < 16; row++)
#pragma omp simd
                for (int column = 0; column < 16; column++) {
                    float sum = 0;
                    for (int k = 0; k <= 2 * radius; k++)
                        sum += w[k] * block[row + k][column];
                    out[(y + row) * n + x + column] = sum;
                }
        }
}

void transpose(int n, const float *__restrict in, float *__restrict out) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y += 16)
        for (int x = 0; x < n; x += 16) {
            alignas(64) float block[16][16];
            for (int row = 0; row < 16; row++)
                for (int column = 0; column < 16; column++)
                    block[row][column] = in[(y + row) * n + x + column];
            for (int row = 0; row < 16; row++)
                for (int column = 0; column < 16; column++)
                    out[(x + row) * n + y + column] = block[column][row];
        }
}

void fft(int n, const float *__restrict in, const float *__restrict roots, float *__restrict out) {
    const int all = n * points, half = points / 2;
#pragma omp parallel for schedule(static)
    for (int first = 0; first < all; first += points) {
        alignas(64) float re[2][points], im[2][points];
        std::copy_n(in + first, points, re[0]);
        std::copy_n(in + all + first, points, im[0]);
        int from = 0;
        for (int size = 1; size < points; size *= 2) {
            const float *x = re[from], *y = im[from];
            from = 1 - from;
            float *to_x = re[from], *to_y = im[from];
            for (int block = 0; block < half; block += size)
#pragma omp simd
                for (int k = 0; k < size; k++) {
                    const float c = roots[k * (half / size)], s = roots[half + k * (half / size)];
                    const int i = block + k, to = 2 * block + k;
                    const float u = x[i + half], v = y[i + half];
                    const float p = c * u - s * v, q = s * u + c * v;
                    to_x[to] = x[i] + p;
                    to_y[to] = y[i] + q;
                    to_x[to + size] = x[i] - p;
                    to_y[to + size] = y[i] - q;
                }
        }
        std::copy_n(re[from], points, out + first);
        std::copy_n(im[from], points, out + all + first);
    }
}

void bitonic(int n, const int *__restrict in, int *__restrict out) {
#pragma omp parallel for schedule(static)
    for (int first = 0; first < n; first += 256) {
        alignas(64) int keys[256];
        std::copy_n(in + first, 256, keys);
        for (int size = 2; size <= 256; size *= 2)
            for (int step = size / 2; step > 0; step /= 2)
                for (int block = 0; block < 256; block += 2 * step) {
                    const bool up = (block & size) == 0;
#pragma omp simd
                    for (int i = block; i < block + step; i++) {
                        const int x = keys[i], y = keys[i + step], smaller = std::min(x, y), larger = std::max(x, y);
                        keys[i] = up ? smaller : larger;
                        keys[i + step] = up ? larger : smaller;
                    }
                }
        std::copy_n(keys, 256, out + first);
    }
}

void nbody(int n, const float *__restrict bodies, float *__restrict pulls) {
#pragma omp parallel for schedule(static)
    for (int tile = 0; tile < n; tile += 256) {
        alignas(64) float x[256], y[256], z[256], pull_x[256] = {}, pull_y[256] = {}, pull_z[256] = {};
        for (int i = 0; i < 256; i++) {
            x[i] = bodies[4 * (tile + i)];
            y[i] = bodies[4 * (tile + i) + 1];
            z[i] = bodies[4 * (tile + i) + 2];
        }
        for (int first = 0; first < n; first += 256) {
            alignas(64) float tile_bodies[256][4];
            std::memcpy(tile_bodies, bodies + 4 * first, sizeof tile_bodies);
            for (int block = 0; block < 256; block += 64)
                for (int j = 0; j < 256; j++) {
#pragma omp simd
                    for (int i = block; i < block + 64; i++) {
                        const float dx = tile_bodies[j][0] - x[i], dy = tile_bodies[j][1] - y[i],
                                    dz = tile_bodies[j][2] - z[i];
                        const float inverse = 1.0F / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01F);
                        const float s = tile_bodies[j][3] * inverse * inverse * inverse;
                        pull_x[i] += dx * s;
                        pull_y[i] += dy * s;
                        pull_z[i] += dz * s;
                    }
                }
        }
        for (int i = 0; i < 256; i++) {
            pulls[4 * (tile + i)] = pull_x[i];
            pulls[4 * (tile + i) + 1] = pull_y[i];
            pulls[4 * (tile + i) + 2] = pull_z[i];
            pulls[4 * (tile + i) + 3] = 0;
        }
    }
}

void lu_diagonal(int n, float *a, int at) {
    alignas(64) float m[16][16];
    for (int i = 0; i < 16; i++)
        std::copy_n(a + (at + i) * n + at, 16, m[i]);
    for (int i = 0; i < 15; i++) {
        for (int row = i + 1; row < 16; row++) {
            for (int j = 0; j < i; j++)
                m[row][i] -= m[row][j] * m[j][i];
            m[row][i] /= m[i][i];
        }
        for (int j = 0; j <= i; j++)
            for (int column = i + 1; column < 16; column++)
                m[i + 1][column] -= m[i + 1][j] * m[j][column];
    }
    for (int i = 1; i < 16; i++)
        std::copy_n(m[i], 16, a + (at + i) * n + at);
}

void lu_perimeter(int n, float *a, int at, int blocks) {
#pragma omp parallel for schedule(static)
    for (int tile = 0; tile < blocks; tile++) {
        alignas(64) float diagonal[16][16], right[16][16], below[16][16];
        const int block = at + 16 * (tile + 1);
        for (int i = 0; i < 16; i++) {
            std::copy_n(a + (at + i) * n + at, 16, diagonal[i]);
            std::copy_n(a + (at + i) * n + block, 16, right[i]);
            std::copy_n(a + (block + i) * n + at, 16, below[i]);
        }
        for (int i = 1; i < 16; i++)
            for (int j = 0; j < i; j++)
                for (int column = 0; column < 16; column++)
                    right[i][column] -= diagonal[i][j] * right[j][column];
        for (int row = 0; row < 16; row++)
            for (int i = 0; i < 16; i++) {
                float value = below[row][i];
                for (int j = 0; j < i; j++)
                    value -= below[row][j] * diagonal[j][i];
                below[row][i] = value / diagonal[i][i];
            }
        for (int i = 1; i < 16; i++)
            std::copy_n(right[i], 16, a + (at + i) * n + block);
        for (int i = 0; i < 16; i++)
            std::copy_n(below[i], 16, a + (block + i) * n + at);
    }
}

void lu_inside(int n, float *a, int at, int blocks) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 1; i <= blocks; i++)
        for (int j = 1; j <= blocks; j++) {
            alignas(64) float above[16][16], left[16][16];
            const int y = at + 16 * i, x = at + 16 * j;
            for (int row = 0; row < 16; row++) {
                std::copy_n(a + (at + row) * n + x, 16, above[row]);
                std::copy_n(a + (y + row) * n + at, 16, left[row]);
            }
            for (int row = 0; row < 16; row++)
#pragma omp simd
                for (int column = 0; column < 16; column++) {
                    float sum = 0;
                    for (int k = 0; k < 16; k++)
                        sum += left[row][k] * above[k][column];
                    a[(y + row) * n + x + column] -= sum;
                }
        }
}

void lu(int n, const float *from, float *a) {
    std::copy_n(from, size_t(n) * size_t(n), a);
    for (int at = 0; at < n; at += 16) {
        const int blocks = (n - at) / 16 - 1;
        lu_diagonal(n, a, at);
        if (blocks == 0) break;
        lu_perimeter(n, a, at, blocks);
        lu_inside(n, a, at, blocks);
    }
}

void needleman(int n, const int *__restrict costs, int *__restrict table) {
    const int blocks = n / 16, width = n + 1;
    for (int i = 0; i <= n; i++)
        table[i] = table[i * width] = -penalty * i;
    for (int k = 0; k < 2 * blocks - 1; k++) {
        const int row = k < blocks ? k : blocks - 1, column = k - row;
#pragma omp parallel for schedule(static)
        for (int b = 0; b <= row - column; b++) {
            alignas(64) int cells[17][17];
            const int y = 16 * (row - b), x = 16 * (column + b);
            for (int i = 0; i < 17; i++)
                cells[0][i] = table[y * width + x + i];
            for (int i = 1; i < 17; i++)
                cells[i][0] = table[(y + i) * width + x];
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 16; j++)
                    cells[i + 1][j + 1] = std::max(cells[i][j] + costs[(y + i) * n + x + j],
                                                   std::max(cells[i + 1][j], cells[i][j + 1]) - penalty);
            for (int i = 1; i < 17; i++)
                for (int j = 1; j < 17; j++)
                    table[(y + i) * width + x + j] = cells[i][j];
        }
    }
}

} // namespace

Action make(Algorithm algorithm, Data &data) {
    Data *d = &data;
    switch (algorithm) {
    case Algorithm::matmul:
        return [=] { matmul(d->n, d->a.data(), d->b.data(), d->c.data()); };
    case Algorithm::scan:
        return [=] { scan(d->n, d->a.data(), d->c.data()); };
    case Algorithm::reduction:
        return [=] { reduction(d->n, d->a.data(), d->c.data()); };
    case Algorithm::histogram:
        return [=] { histogram(d->n, d->i.data(), d->k.data()); };
    case Algorithm::convolution: {
        auto middle = std::make_shared<std::vector<float>>(size_t(d->n) * size_t(d->n));
        return [=] { convolution(d->n, d->a.data(), d->b.data(), middle->data(), d->c.data()); };
    }
    case Algorithm::transpose:
        return [=] { transpose(d->n, d->a.data(), d->c.data()); };
    case Algorithm::fft:
        return [=] { fft(d->n, d->a.data(), d->b.data(), d->c.data()); };
    case Algorithm::bitonic:
        return [=] { bitonic(d->n, d->i.data(), d->k.data()); };
    case Algorithm::nbody:
        return [=] { nbody(d->n, d->a.data(), d->c.data()); };
    case Algorithm::lu:
        return [=] { lu(d->n, d->a.data(), d->c.data()); };
    case Algorithm::needleman:
        return [=] { needleman(d->n, d->i.data(), d->k.data()); };
    }
    return {};
}
#else
Action make(Algorithm, Data &) {
    return {};
}
#endif

} // namespace TILES
} // namespace tiles
