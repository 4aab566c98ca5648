// What checks of bounds cost: sixteen kernels that are not in the suite of benchmarks, each timed by itself. Built once
// for each mode of -famp-bounds and run in alternation (benches/bounds-bundle). Prints a line for each kernel: its name
// and the microseconds of a launch.
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

// 1 on a GPU; a divisor for software devices.
int small = 1;
const char *only = nullptr;

accelerator_view where() {
    return accelerator().default_view;
}

// The median of eleven runs of so many launches.
template <class Launch> void timed(const char *name, const Launch &launch) {
    if (only && std::strcmp(only, name) != 0) return;
    typedef std::chrono::steady_clock clock;
    launch();
    where().wait();
    const auto began = clock::now();
    launch();
    where().wait();
    const double one = std::chrono::duration<double>(clock::now() - began).count();
    const int launches = std::max(1, std::min(2000, int(0.02 / std::max(one, 1e-6))));
    std::vector<double> times;
    for (int run = 0; run < 11; ++run) {
        const auto start = clock::now();
        for (int n = 0; n < launches; ++n)
            launch();
        where().wait();
        times.push_back(std::chrono::duration<double>(clock::now() - start).count() / launches);
    }
    std::sort(times.begin(), times.end());
    std::printf("%s %.3f\n", name, times[5] * 1e6);
    std::fflush(stdout);
}

template <class T> std::vector<T> some(int n) {
    std::vector<T> values;
    unsigned seed = 1;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        values.push_back(T(seed >> 8) / T(1 << 24));
    }
    return values;
}

void streams() {
    const int n = (1 << 24) / small;
    array<float> x(n, some<float>(n).begin(), where()), y(n, some<float>(n).begin(), where());
    timed("axpy", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&x, &y ](index<1> i) restrict(amp) { y[i] += 2.5f * x[i]; });
    });
    array<double> d(n, where()), e(n, where());
    timed("axpy_double", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&d, &e ](index<1> i) restrict(amp) { e[i] += 2.5 * d[i]; });
    });
    array<float_4> v(n / 4, where()), w(n / 4, where());
    timed("axpy_float_4", [&] {
        parallel_for_each(
            where(), extent<1>(n / 4), [&v, &w ](index<1> i) restrict(amp) { w[i] += v[i] * 2.5f; });
    });
    timed("option_prices", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&x, &y ](index<1> i) restrict(amp) {
                const float s = 50 + 10 * x[i], k = 55, t = 0.5f + x[i], r = 0.02f, sigma = 0.3f;
                const float root = fast_math::sqrt(t),
                            d1 = (fast_math::log(s / k) + (r + sigma * sigma / 2) * t) / (sigma * root);
                const float cnd = 1 / (1 + fast_math::exp(-1.702f * d1)),
                            cnd2 = 1 / (1 + fast_math::exp(-1.702f * (d1 - sigma * root)));
                y[i] = s * cnd - k * fast_math::exp(-r * t) * cnd2;
            });
    });
    std::vector<int> places;
    for (float f : some<float>(n))
        places.push_back(int(f * float(n - 1)));
    array<int> at(n, places.begin(), where());
    timed("gather", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&](index<1> i) restrict(amp) { y[i] = x[at[i]]; });
    });
    array<unsigned> bins(4096, where());
    timed("histogram", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&](index<1> i) restrict(amp) { atomic_fetch_inc(&bins[at[i] & 4095]); });
    });
    timed("convolution", [&] {
        parallel_for_each(
            where(), extent<1>(n - 32), [&x, &y ](index<1> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k < 33; ++k)
                    sum += x[i[0] + k] * float(k - 16);
                y[i] = sum;
            });
    });
    timed("bitonic_step", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&x](index<1> i) restrict(amp) {
                const int other = i[0] ^ 64;
                if (other > i[0]) {
                    const float a = x[i], b = x[other];
                    if ((a > b) == ((i[0] & 128) == 0)) {
                        x[i] = b;
                        x[other] = a;
                    }
                }
            });
    });
}

void grids() {
    const int n = 4096 / (small > 1 ? 8 : 1);
    const std::vector<float> values = some<float>(n * n);
    std::vector<float> result(values.size());
    const array_view<const float, 2> in(n, n, values);
    const array_view<float, 2> out(n, n, result);
    out.discard_data();
    timed("sobel", [&] {
        parallel_for_each(
            where(), extent<2>(n - 2, n - 2), [=](index<2> i) restrict(amp) {
                const int y = i[0] + 1, x = i[1] + 1;
                const float gx = in(y - 1, x + 1) + 2 * in(y, x + 1) + in(y + 1, x + 1) - in(y - 1, x - 1) -
                                 2 * in(y, x - 1) - in(y + 1, x - 1);
                const float gy = in(y + 1, x - 1) + 2 * in(y + 1, x) + in(y + 1, x + 1) - in(y - 1, x - 1) -
                                 2 * in(y - 1, x) - in(y - 1, x + 1);
                out(y, x) = fast_math::sqrt(gx * gx + gy * gy);
            });
    });
    timed("transpose_tiled", [&] {
        parallel_for_each(
            where(), out.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                tile_static float tile[16][17];
                tile[t.local[0]][t.local[1]] = in[t.global];
                t.barrier.wait();
                out(t.tile[1] * 16 + t.local[0], t.tile[0] * 16 + t.local[1]) = tile[t.local[1]][t.local[0]];
            });
    });
    const int m = 1024 / (small > 1 ? 8 : 1);
    const array_view<const float, 2> a = in.section(0, 0, m, m), b = in.section(1, 1, m, m);
    const array_view<float, 2> c = out.section(0, 0, m, m);
    timed("matrix_product", [&] {
        parallel_for_each(
            where(), c.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k < m; ++k)
                    sum += a(i[0], k) * b(k, i[1]);
                c[i] = sum;
            });
    });
    timed("matrix_product_tiled", [&] {
        parallel_for_each(
            where(), c.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                tile_static float left[16][16], right[16][16];
                const int y = t.local[0], x = t.local[1];
                float sum = 0;
                for (int k = 0; k < m; k += 16) {
                    left[y][x] = a(t.global[0], k + x);
                    right[y][x] = b(k + y, t.global[1]);
                    t.barrier.wait();
                    for (int j = 0; j < 16; ++j)
                        sum += left[y][j] * right[j][x];
                    t.barrier.wait();
                }
                c[t.global] = sum;
            });
    });
    const int s = 256 / (small > 1 ? 4 : 1);
    array<float, 3> from(s, s, s, where()), to(s, s, s, where());
    timed("heat_3d", [&] {
        parallel_for_each(
            where(), extent<3>(s - 2, s - 2, s - 2), [&from, &to ](index<3> i) restrict(amp) {
                const int z = i[0] + 1, y = i[1] + 1, x = i[2] + 1;
                to(z, y, x) = 0.4f * from(z, y, x) + 0.1f * (from(z - 1, y, x) + from(z + 1, y, x) + from(z, y - 1, x) +
                                                             from(z, y + 1, x) + from(z, y, x - 1) + from(z, y, x + 1));
            });
    });
}

void others() {
    const int n = (1 << 14) / (small > 1 ? 16 : 1);
    array<float_3> bodies(n, where()), pulls(n, where());
    timed("nbody", [&] {
        parallel_for_each(
            where(), extent<1>(n), [&bodies, &pulls, n ](index<1> i) restrict(amp) {
                const float_3 own = bodies[i];
                float_3 sum(0, 0, 0);
                for (int k = 0; k < n; ++k) {
                    const float_3 way = bodies[k] - own;
                    const float square = way.x * way.x + way.y * way.y + way.z * way.z + 0.01f;
                    sum += way * (1 / (square * fast_math::sqrt(square)));
                }
                pulls[i] = sum;
            });
    });
    const int rows = (1 << 20) / small, each = 16;
    std::vector<int> columns;
    for (float f : some<float>(rows * each))
        columns.push_back(int(f * float(rows - 1)));
    std::vector<int> starts;
    for (int r = 0; r <= rows; ++r)
        starts.push_back(r * each);
    array<int> start(rows + 1, starts.begin(), where()), column(rows * each, columns.begin(), where());
    array<float> value(rows * each, some<float>(rows * each).begin(), where()),
        x(rows, some<float>(rows).begin(), where());
    array<float> y(rows, where());
    timed("sparse_product", [&] {
        parallel_for_each(
            where(), extent<1>(rows), [&](index<1> i) restrict(amp) {
                float sum = 0;
                for (int k = start[i]; k < start[i[0] + 1]; ++k)
                    sum += value[k] * x[column[k]];
                y[i] = sum;
            });
    });
    const int all = (1 << 24) / small;
    array<int> numbers(all, where()), sums(all / 256, where());
    timed("reduction_tiled", [&] {
        parallel_for_each(
            where(), extent<1>(all).tile<256>(), [&numbers, &sums ](tiled_index<256> t) restrict(amp) {
                tile_static int part[256];
                part[t.local[0]] = numbers[t.global];
                t.barrier.wait();
                for (int half = 128; half > 0; half /= 2) {
                    if (t.local[0] < half) part[t.local[0]] += part[t.local[0] + half];
                    t.barrier.wait();
                }
                if (t.local[0] == 0) sums[t.tile] = part[0];
            });
    });
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1) only = argv[1];
    if (accelerator().is_emulated) small = 64;
    streams();
    grids();
    others();
}
