// The algorithms of tiles.h as plain C++ AMP kernels: no tiles, no barriers.
#include <amp.h>
#include <amp_math.h>

#include "tiles.h"

namespace tiles {
namespace untiled {

namespace {

using namespace concurrency;

accelerator_view host_threads() {
    return accelerator(accelerator::direct3d_warp).default_view;
}

Action matmul(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const float, 2> a(n, n, d.a), b(n, n, d.b);
    const array_view<float, 2> c(n, n, d.c);
    return [=] {
        parallel_for_each(
            where, c.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum += a(i[0], k) * b(k, i[1]);
                c[i] = sum;
            });
        where.wait();
    };
}

Action scan(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const float> in(d.n, d.a);
    const array_view<float> out(d.n, d.c);
    return [=] {
        parallel_for_each(
            where, extent<1>(in.extent[0] / 256), [=](index<1> i) restrict(amp) {
                float sum = 0;
                for (int k = 256 * i[0]; k < 256 * i[0] + 256; k++) {
                    sum += in[k];
                    out[k] = sum;
                }
            });
        where.wait();
    };
}

Action reduction(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const float> in(d.n, d.a);
    const array_view<float> sums(d.n / 256, d.c);
    return [=] {
        parallel_for_each(
            where, sums.extent, [=](index<1> i) restrict(amp) {
                float sum = 0;
                for (int k = 256 * i[0]; k < 256 * i[0] + 256; k++)
                    sum += in[k];
                sums[i] = sum;
            });
        where.wait();
    };
}

Action histogram(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const int> in(d.n, d.i);
    const array_view<int> counts(bins, d.k);
    return [=] {
        parallel_for_each(
            where, counts.extent, [=](index<1> i) restrict(amp) { counts[i] = 0; });
        parallel_for_each(
            where, in.extent, [=](index<1> i) restrict(amp) { atomic_fetch_inc(&counts[in[i]]); });
        where.wait();
    };
}

struct Weights {
    float values[2 * radius + 1];
};

Action convolution(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const float, 2> in(n, n, d.a);
    const array_view<float, 2> out(n, n, d.c);
    const auto between = std::make_shared<std::vector<float>>(size_t(n) * size_t(n));
    const array_view<float, 2> middle(n, n, *between);
    Weights w{};
    std::copy_n(d.b.begin(), 2 * radius + 1, w.values);
    return [=] {
        (void)between;
        parallel_for_each(
            where, in.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k <= 2 * radius; k++)
                    sum += w.values[k] * in(i[0], direct3d::clamp(i[1] + k - radius, 0, n - 1));
                middle[i] = sum;
            });
        parallel_for_each(
            where, in.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k <= 2 * radius; k++)
                    sum += w.values[k] * middle(direct3d::clamp(i[0] + k - radius, 0, n - 1), i[1]);
                out[i] = sum;
            });
        where.wait();
    };
}

Action transpose(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const float, 2> in(d.n, d.n, d.a);
    const array_view<float, 2> out(d.n, d.n, d.c);
    return [=] {
        parallel_for_each(
            where, in.extent, [=](index<2> i) restrict(amp) { out(i[1], i[0]) = in[i]; });
        where.wait();
    };
}

// Launches a kernel for each stage. The stages alternate between two buffers.
Action fft(Data &d) {
    const accelerator_view where = host_threads();
    const int all = d.n * points;
    const auto other = std::make_shared<std::vector<float>>(2 * size_t(all));
    const array_view<const float> in(2 * all, d.a), roots(points, d.b);
    const array_view<float> out(2 * all, d.c), between(2 * all, *other);
    return [=] {
        (void)other;
        array_view<const float> from = in;
        // The tenth and last stage writes to `out`.
        for (int size = 1, stage = 0; size < points; size *= 2, stage++) {
            const array_view<float> to = stage % 2 ? out : between;
            parallel_for_each(
                where, extent<1>(all / 2), [=](index<1> i) restrict(amp) {
                    const int half = points / 2, local = i[0] % half, first = i[0] / half * points;
                    const int k = local & (size - 1), root = k * (half / size), at = first + 2 * local - k;
                    const float c = roots[root], s = roots[half + root];
                    const float x = from[first + local], y = from[all + first + local];
                    const float u = from[first + local + half], v = from[all + first + local + half];
                    const float p = c * u - s * v, q = s * u + c * v;
                    to[at] = x + p;
                    to[all + at] = y + q;
                    to[at + size] = x - p;
                    to[all + at + size] = y - q;
                });
            from = to;
        }
        where.wait();
    };
}

// Launches a kernel for each step.
Action bitonic(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const int> in(d.n, d.i);
    const array_view<int> keys(d.n, d.k);
    return [=] {
        copy(in, keys);
        for (int size = 2; size <= 256; size *= 2)
            for (int step = size / 2; step > 0; step /= 2)
                parallel_for_each(
                    where, keys.extent, [=](index<1> i) restrict(amp) {
                        const int other = i[0] ^ step;
                        if (other > i[0]) {
                            const int x = keys[i], y = keys[other];
                            if ((x > y) == ((i[0] & 255 & size) == 0)) {
                                keys[i] = y;
                                keys[other] = x;
                            }
                        }
                    });
        where.wait();
    };
}

struct Body {
    float x, y, z, mass;
};

Action nbody(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const Body> bodies(n, reinterpret_cast<const Body *>(d.a.data()));
    const array_view<Body> pulls(n, reinterpret_cast<Body *>(d.c.data()));
    return [=] {
        parallel_for_each(
            where, pulls.extent, [=](index<1> i) restrict(amp) {
                const Body me = bodies[i];
                float x = 0, y = 0, z = 0;
                for (int j = 0; j < n; j++) {
                    const Body other = bodies[j];
                    const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
                    const float inverse = fast_math::rsqrt(dx * dx + dy * dy + dz * dz + 0.01F);
                    const float s = other.mass * inverse * inverse * inverse;
                    x += dx * s;
                    y += dy * s;
                    z += dz * s;
                }
                const Body pull = {x, y, z, 0};
                pulls[i] = pull;
            });
        where.wait();
    };
}

// Launches two kernels for each column.
Action lu(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const float, 2> from(n, n, d.a);
    const array_view<float, 2> a(n, n, d.c);
    return [=] {
        copy(from, a);
        for (int k = 0; k + 1 < n; k++) {
            parallel_for_each(
                where, extent<1>(n - k - 1), [=](index<1> i) restrict(amp) { a(k + 1 + i[0], k) /= a(k, k); });
            parallel_for_each(
                where, extent<2>(n - k - 1, n - k - 1), [=](index<2> i) restrict(amp) {
                    a(k + 1 + i[0], k + 1 + i[1]) -= a(k + 1 + i[0], k) * a(k, k + 1 + i[1]);
                });
        }
        where.wait();
    };
}

// Launches a kernel for each anti-diagonal.
Action needleman(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const int, 2> costs(n, n, d.i);
    const array_view<int, 2> table(n + 1, n + 1, d.k);
    return [=] {
        parallel_for_each(
            where, extent<1>(n + 1), [=](index<1> i) restrict(amp) {
                table(i[0], 0) = -penalty * i[0];
                table(0, i[0]) = -penalty * i[0];
            });
        for (int k = 0; k < 2 * n - 1; k++) {
            const int row = k < n ? k : n - 1, column = k - row;
            parallel_for_each(
                where, extent<1>(row - column + 1), [=](index<1> i) restrict(amp) {
                    const int y = row - i[0], x = column + i[0];
                    table(y + 1, x + 1) =
                        direct3d::imax(table(y, x) + costs(y, x),
                                       direct3d::imax(table(y + 1, x) - penalty, table(y, x + 1) - penalty));
                });
        }
        where.wait();
    };
}

} // namespace

#include "tile_choice.h"

} // namespace untiled
} // namespace tiles
