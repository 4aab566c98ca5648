// The algorithms of tiles.h as tiled C++ AMP kernels. Two sources include this file: the kernel compiler compiles
// tiles_native.cpp, and the C++ compiler alone compiles tiles_coroutines.cpp. TILES is the namespace.
#include <amp.h>
#include <amp_math.h>

#include "tiles.h"

namespace tiles {
namespace TILES {

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
            where, c.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                tile_static float left[16][16], right[16][16];
                const int row = t.local[0], column = t.local[1];
                float sum = 0;
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
        where.wait();
    };
}

Action scan(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const float> in(d.n, d.a);
    const array_view<float> out(d.n, d.c);
    return [=] {
        parallel_for_each(
            where, out.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static float sums[2][256];
                const int local = t.local[0];
                int from = 0;
                sums[0][local] = in[t.global];
                t.barrier.wait();
                for (int step = 1; step < 256; step *= 2) {
                    float sum = sums[from][local];
                    if (local >= step) sum += sums[from][local - step];
                    sums[1 - from][local] = sum;
                    from = 1 - from;
                    t.barrier.wait();
                }
                out[t.global] = sums[from][local];
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
            where, in.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static float part[256];
                const int local = t.local[0];
                part[local] = in[t.global];
                t.barrier.wait();
                for (int half = 128; half > 0; half /= 2) {
                    if (local < half) part[local] += part[local + half];
                    t.barrier.wait();
                }
                if (local == 0) sums[t.tile] = part[0];
            });
        where.wait();
    };
}

Action histogram(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const int> in(n, d.i);
    const array_view<int> counts(bins, d.k);
    return [=] {
        parallel_for_each(
            where, counts.extent, [=](index<1> i) restrict(amp) { counts[i] = 0; });
        parallel_for_each(
            where, extent<1>(n / 64).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static int part[bins];
                const int local = t.local[0], first = t.tile[0] * 16384 + local;
                part[local] = 0;
                t.barrier.wait();
                for (int k = 0; k < 64; k++)
                    atomic_fetch_inc(&part[in[first + k * 256]]);
                t.barrier.wait();
                atomic_fetch_add(&counts[local], part[local]);
            });
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
            where, in.extent.tile<1, 256>(), [=](tiled_index<1, 256> t) restrict(amp) {
                tile_static float line[256 + 2 * radius];
                const int y = t.global[0], x = t.global[1], local = t.local[1];
                line[local + radius] = in(y, x);
                if (local < radius) {
                    line[local] = in(y, direct3d::imax(x - radius, 0));
                    line[local + 256 + radius] = in(y, direct3d::imin(x + 256, n - 1));
                }
                t.barrier.wait();
                float sum = 0;
                for (int k = 0; k <= 2 * radius; k++)
                    sum += w.values[k] * line[local + k];
                middle(y, x) = sum;
            });
        parallel_for_each(
            where, in.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                tile_static float block[16 + 2 * radius][16];
                const int y = t.global[0], x = t.global[1], row = t.local[0], column = t.local[1];
                block[row][column] = middle(direct3d::imax(y - radius, 0), x);
                block[row + 16][column] = middle(direct3d::imin(y + radius, n - 1), x);
                t.barrier.wait();
                float sum = 0;
                for (int k = 0; k <= 2 * radius; k++)
                    sum += w.values[k] * block[row + k][column];
                out(y, x) = sum;
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
            where, in.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                tile_static float block[16][16];
                const int row = t.local[0], column = t.local[1];
                block[row][column] = in[t.global];
                t.barrier.wait();
                out(t.tile[1] * 16 + row, t.tile[0] * 16 + column) = block[column][row];
            });
        where.wait();
    };
}

Action fft(Data &d) {
    const accelerator_view where = host_threads();
    const int all = d.n * points;
    const array_view<const float> in(2 * all, d.a), roots(points, d.b);
    const array_view<float> out(2 * all, d.c);
    return [=] {
        parallel_for_each(
            where, extent<1>(all / 2).tile<points / 2>(), [=](tiled_index<points / 2> t) restrict(amp) {
                tile_static float re[2][points], im[2][points];
                const int local = t.local[0], first = t.tile[0] * points + local, half = points / 2;
                re[0][local] = in[first];
                re[0][local + half] = in[first + half];
                im[0][local] = in[all + first];
                im[0][local + half] = in[all + first + half];
                t.barrier.wait();
                int from = 0;
                for (int size = 1; size < points; size *= 2) {
                    const int k = local & (size - 1), root = k * (half / size), to = 2 * local - k;
                    const float c = roots[root], s = roots[half + root];
                    const float x = re[from][local], y = im[from][local];
                    const float u = re[from][local + half], v = im[from][local + half];
                    const float p = c * u - s * v, q = s * u + c * v;
                    from = 1 - from;
                    re[from][to] = x + p;
                    im[from][to] = y + q;
                    re[from][to + size] = x - p;
                    im[from][to + size] = y - q;
                    t.barrier.wait();
                }
                out[first] = re[from][local];
                out[first + half] = re[from][local + half];
                out[all + first] = im[from][local];
                out[all + first + half] = im[from][local + half];
            });
        where.wait();
    };
}

Action bitonic(Data &d) {
    const accelerator_view where = host_threads();
    const array_view<const int> in(d.n, d.i);
    const array_view<int> out(d.n, d.k);
    return [=] {
        parallel_for_each(
            where, out.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static int keys[256];
                const int local = t.local[0];
                keys[local] = in[t.global];
                t.barrier.wait();
                for (int size = 2; size <= 256; size *= 2)
                    for (int step = size / 2; step > 0; step /= 2) {
                        const int other = local ^ step;
                        if (other > local) {
                            const int x = keys[local], y = keys[other];
                            if ((x > y) == ((local & size) == 0)) {
                                keys[local] = y;
                                keys[other] = x;
                            }
                        }
                        t.barrier.wait();
                    }
                out[t.global] = keys[local];
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
            where, pulls.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static Body tile_bodies[256];
                const Body me = bodies[t.global];
                float x = 0, y = 0, z = 0;
                for (int first = 0; first < n; first += 256) {
                    tile_bodies[t.local[0]] = bodies[first + t.local[0]];
                    t.barrier.wait();
                    for (int j = 0; j < 256; j++) {
                        const Body other = tile_bodies[j];
                        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
                        const float inverse = fast_math::rsqrt(dx * dx + dy * dy + dz * dz + 0.01F);
                        const float s = other.mass * inverse * inverse * inverse;
                        x += dx * s;
                        y += dy * s;
                        z += dz * s;
                    }
                    t.barrier.wait();
                }
                const Body pull = {x, y, z, 0};
                pulls[t.global] = pull;
            });
        where.wait();
    };
}

void lu_diagonal(const accelerator_view &where, const array_view<float, 2> &a, int at) {
    parallel_for_each(
        where, extent<1>(16).tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static float m[16][16];
            const int local = t.local[0];
            for (int i = 0; i < 16; i++)
                m[i][local] = a(at + i, at + local);
            t.barrier.wait();
            for (int i = 0; i < 15; i++) {
                if (local > i) {
                    for (int j = 0; j < i; j++)
                        m[local][i] -= m[local][j] * m[j][i];
                    m[local][i] /= m[i][i];
                }
                t.barrier.wait();
                if (local > i)
                    for (int j = 0; j <= i; j++)
                        m[i + 1][local] -= m[i + 1][j] * m[j][local];
                t.barrier.wait();
            }
            for (int i = 1; i < 16; i++)
                a(at + i, at + local) = m[i][local];
        });
}

// Half of a tile's threads handle a block to the right of the diagonal block, the other half a block below it.
void lu_perimeter(const accelerator_view &where, const array_view<float, 2> &a, int at, int blocks) {
    parallel_for_each(
        where, extent<1>(32 * blocks).tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static float diagonal[16][16], right[16][16], below[16][16];
            const int local = t.local[0] % 16, block = at + 16 * (t.tile[0] + 1);
            if (t.local[0] < 16) {
                for (int i = 0; i < 8; i++)
                    diagonal[i][local] = a(at + i, at + local);
                for (int i = 0; i < 16; i++)
                    right[i][local] = a(at + i, block + local);
            } else {
                for (int i = 8; i < 16; i++)
                    diagonal[i][local] = a(at + i, at + local);
                for (int i = 0; i < 16; i++)
                    below[i][local] = a(block + i, at + local);
            }
            t.barrier.wait();
            if (t.local[0] < 16) {
                for (int i = 1; i < 16; i++)
                    for (int j = 0; j < i; j++)
                        right[i][local] -= diagonal[i][j] * right[j][local];
            } else {
                for (int i = 0; i < 16; i++) {
                    for (int j = 0; j < i; j++)
                        below[local][i] -= below[local][j] * diagonal[j][i];
                    below[local][i] /= diagonal[i][i];
                }
            }
            t.barrier.wait();
            if (t.local[0] < 16) {
                for (int i = 1; i < 16; i++)
                    a(at + i, block + local) = right[i][local];
            } else {
                for (int i = 0; i < 16; i++)
                    a(block + i, at + local) = below[i][local];
            }
        });
}

void lu_inside(const accelerator_view &where, const array_view<float, 2> &a, int at, int blocks) {
    parallel_for_each(
        where, extent<2>(16 * blocks, 16 * blocks).tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
            tile_static float above[16][16], left[16][16];
            const int row = t.local[0], column = t.local[1];
            const int y = at + 16 + t.global[0], x = at + 16 + t.global[1];
            above[row][column] = a(at + row, x);
            left[row][column] = a(y, at + column);
            t.barrier.wait();
            float sum = 0;
            for (int k = 0; k < 16; k++)
                sum += left[row][k] * above[k][column];
            a(y, x) -= sum;
        });
}

Action lu(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n;
    const array_view<const float, 2> from(n, n, d.a);
    const array_view<float, 2> a(n, n, d.c);
    return [=] {
        copy(from, a);
        for (int at = 0; at < n; at += 16) {
            const int blocks = (n - at) / 16 - 1;
            lu_diagonal(where, a, at);
            if (blocks == 0) break;
            lu_perimeter(where, a, at, blocks);
            lu_inside(where, a, at, blocks);
        }
        where.wait();
    };
}

// Computes `count` blocks of an anti-diagonal: block (row, column), then (row - 1, column + 1), and so on.
void needleman_blocks(const accelerator_view &where, const array_view<const int, 2> &costs,
                      const array_view<int, 2> &table, int row, int column, int count) {
    parallel_for_each(
        where, extent<1>(16 * count).tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int cells[17][17], cost[16][16];
            const int local = t.local[0], y = 16 * (row - t.tile[0]), x = 16 * (column + t.tile[0]);
            if (local == 0) cells[0][0] = table(y, x);
            for (int i = 0; i < 16; i++)
                cost[i][local] = costs(y + i, x + local);
            cells[0][local + 1] = table(y, x + local + 1);
            cells[local + 1][0] = table(y + local + 1, x);
            t.barrier.wait();
            for (int step = 0; step < 16; step++) {
                if (local <= step) {
                    const int i = step - local, j = local;
                    cells[i + 1][j + 1] = direct3d::imax(
                        cells[i][j] + cost[i][j], direct3d::imax(cells[i + 1][j] - penalty, cells[i][j + 1] - penalty));
                }
                t.barrier.wait();
            }
            for (int step = 14; step >= 0; step--) {
                if (local <= step) {
                    const int i = 15 - local, j = local + 15 - step;
                    cells[i + 1][j + 1] = direct3d::imax(
                        cells[i][j] + cost[i][j], direct3d::imax(cells[i + 1][j] - penalty, cells[i][j + 1] - penalty));
                }
                t.barrier.wait();
            }
            for (int i = 0; i < 16; i++)
                table(y + i + 1, x + local + 1) = cells[i + 1][local + 1];
        });
}

Action needleman(Data &d) {
    const accelerator_view where = host_threads();
    const int n = d.n, blocks = n / 16;
    const array_view<const int, 2> costs(n, n, d.i);
    const array_view<int, 2> table(n + 1, n + 1, d.k);
    return [=] {
        parallel_for_each(
            where, extent<1>(n + 1), [=](index<1> i) restrict(amp) {
                table(i[0], 0) = -penalty * i[0];
                table(0, i[0]) = -penalty * i[0];
            });
        for (int k = 0; k < 2 * blocks - 1; k++) {
            const int row = k < blocks ? k : blocks - 1, column = k - row;
            needleman_blocks(where, costs, table, row, column, row - column + 1);
        }
        where.wait();
    };
}

} // namespace

#include "tile_choice.h"

} // namespace TILES
} // namespace tiles
