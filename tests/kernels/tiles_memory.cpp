// Tests kernels that keep values across barriers or call functions with barriers. tiles.hpp explains KERNEL and HOST.
#include "tiles.hpp"

#include <amp_short_vectors.h>

using namespace concurrency::graphics;

namespace {

// Reads adjacent elements of a tile at constant indices, and in loops that LLVM unrolls in part.
KERNEL(adjacent_reads) {
    auto d = input(256);
    array_view<int> a(256, d);
    const int count = d[0] >= -1000000 ? 61 : 0; // not known to the compiler
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            const int l = t.local[0];
            s[l] = a[t.global];
            t.barrier.wait();
            unsigned v =
                unsigned(s[0]) * 3 + unsigned(s[1]) * 5 + unsigned(s[2]) * 7 + unsigned(s[3]) * 11 + unsigned(s[9]);
            for (int j = 0; j < 64; j++)
                v = v * 3 + unsigned(s[j] ^ l);
            for (int j = 1; j < 64; j++)
                v = v * 7 + unsigned(s[j - 1] ^ s[j]);
            for (int j = 0; j < count; j++)
                v = v * 5 + unsigned(s[j]) - unsigned(s[j + 3]);
            t.barrier.wait();
            a[t.global] = int(v);
        });
    a.synchronize();
    return d;
}
HOST(adjacent_reads) {
    return transform_tiles(input(256), 64, [](int, Numbers &a) {
        const Numbers s = a;
        a = compute_phase(64, [&](int l) {
            unsigned v =
                unsigned(s[0]) * 3 + unsigned(s[1]) * 5 + unsigned(s[2]) * 7 + unsigned(s[3]) * 11 + unsigned(s[9]);
            for (int j = 0; j < 64; j++)
                v = v * 3 + unsigned(s[j] ^ l);
            for (int j = 1; j < 64; j++)
                v = v * 7 + unsigned(s[j - 1] ^ s[j]);
            for (int j = 0; j < 61; j++)
                v = v * 5 + unsigned(s[j]) - unsigned(s[j + 3]);
            return int(v);
        });
    });
}

KERNEL(private_array) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int mine[8];
            int l = t.local[0];
            for (int i = 0; i < 8; ++i)
                mine[i] = a[t.global] >> i;
            for (int i = 0; i < 8; ++i) {
                s[l] = mine[(i + l) & 7];
                t.barrier.wait();
                mine[i] += s[(l + i) & 31];
                t.barrier.wait();
            }
            int v = 0;
            for (int i = 0; i < 8; ++i)
                v = v * 5 + mine[i];
            a[t.global] = v;
        });
    a.synchronize();
    return d;
}
HOST(private_array) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        std::vector<Numbers> mine(32, Numbers(8));
        for (int l = 0; l < 32; ++l)
            for (int i = 0; i < 8; ++i)
                mine[l][i] = a[l] >> i;
        for (int i = 0; i < 8; ++i) {
            const Numbers shared = compute_phase(32, [&](int l) { return mine[l][(i + l) % 8]; });
            for (int l = 0; l < 32; ++l)
                mine[l][i] += shared[(l + i) % 32];
        }
        a = compute_phase(32, [&](int l) {
            int v = 0;
            for (const int n : mine[l])
                v = v * 5 + n;
            return v;
        });
    });
}

KERNEL(pointers_across_barriers) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            tile_static int u[32];
            int l = t.local[0];
            s[l] = a[t.global];
            u[l] = -s[l];
            int *from = s, *to = u;
            t.barrier.wait();
            for (int i = 0; i < 5; ++i) {
                to[l] = from[(l + 1) & 31] + to[l];
                t.barrier.wait();
                int *x = from;
                from = to;
                to = x;
            }
            int *p = (l & 1) ? &s[l] : &u[31 - l];
            t.barrier.wait();
            a[t.global] = *p;
        });
    a.synchronize();
    return d;
}
HOST(pointers_across_barriers) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        Numbers s = a, u = compute_phase(32, [&](int l) { return -a[l]; });
        // `s` and `u` swap roles in each iteration.
        for (int i = 0; i < 5; ++i) {
            const Numbers &from = i % 2 == 0 ? s : u;
            Numbers &to = i % 2 == 0 ? u : s;
            for (int l = 0; l < 32; ++l)
                to[l] += from[(l + 1) % 32];
        }
        a = compute_phase(32, [&](int l) { return l % 2 == 1 ? s[l] : u[31 - l]; });
    });
}

KERNEL(small_types) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static unsigned char c[64];
            tile_static short h[64];
            tile_static bool b[64];
            int l = t.local[0];
            c[l] = (unsigned char)a[t.global];
            h[l] = short(-a[t.global]);
            b[l] = a[t.global] > 500;
            t.barrier.wait();
            int n = 0;
            for (int i = 0; i < 64; ++i)
                n += b[i];
            a[t.global] = c[63 - l] + h[(l + 9) & 63] + n + (b[l] ? 5 : 6);
        });
    a.synchronize();
    return d;
}
HOST(small_types) {
    return transform_tiles(input(256), 64, [](int, Numbers &a) {
        const auto large = [](int n) { return n > 500; };
        const int count = int(std::count_if(a.begin(), a.end(), large));
        a = compute_phase(64, [&](int l) { return a[63 - l] % 256 - a[(l + 9) % 64] + count + (large(a[l]) ? 5 : 6); });
    });
}

struct Holder {
    int *p;
    int n;
};
KERNEL(types_across_barriers) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0];
            bool odd = a[t.global] & 1;
            unsigned char c = (unsigned char)(a[t.global]);
            short h = short(a[t.global] * 3);
            double x = a[t.global] / 4.0;
            long long w = a[t.global] * 5000000000LL;
            float_2 f = float_2(float(l), float(a[t.global]));
            Holder q{&s[l], l};
            s[l] = a[t.global];
            t.barrier.wait();
            Holder r = q;
            r.p = &s[(l + 1) & 31];
            t.barrier.wait();
            int v = *r.p + *q.p + q.n;
            t.barrier.wait();
            *q.p = v + odd + c + h;
            t.barrier.wait();
            a[t.global] = s[31 - l] + int(x * 4) + int(w / 5000000000LL) + int(f.x + f.y) + odd * 3 + c - h;
        });
    a.synchronize();
    return d;
}
HOST(types_across_barriers) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        const Numbers s = compute_phase(32, [&](int l) {
            const int n = a[l];
            return n + a[(l + 1) % 32] + l + n % 2 + n % 256 + n * 3;
        });
        // The conversions through double, long long and float_2 give back the number itself.
        a = compute_phase(32, [&](int l) {
            const int n = a[l];
            return s[31 - l] + n + n + (l + n) + n % 2 * 3 + n % 256 - n * 3;
        });
    });
}

KERNEL(references) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32], u[32];
            int l = t.local[0];
            int &mine = s[l];
            int &other = u[31 - l];
            int &g = a[t.global];
            mine = g;
            other = -g;
            t.barrier.wait();
            int v = s[(l + 1) & 31] + u[l];
            t.barrier.wait();
            mine += v;
            other ^= v;
            t.barrier.wait();
            g = s[31 - l] + u[(l + 3) & 31];
        });
    a.synchronize();
    return d;
}
HOST(references) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        const Numbers u = compute_phase(32, [&](int l) { return -a[31 - l]; });
        const Numbers v = compute_phase(32, [&](int l) { return a[(l + 1) % 32] + u[l]; });
        a = compute_phase(32, [&](int l) {
            const int mine = 31 - l, other = (l + 3) % 32;
            return a[mine] + v[mine] + (u[other] ^ v[31 - other]);
        });
    });
}

KERNEL(volatile_tile) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static volatile int s[32];
            int l = t.local[0];
            s[l] = a[t.global];
            t.barrier.wait();
            int x = s[31 - l];
            x += s[31 - l];
            t.barrier.wait();
            s[l] = x;
            t.barrier.wait();
            a[t.global] = s[l ^ 7];
        });
    a.synchronize();
    return d;
}
HOST(volatile_tile) {
    return transform_tiles(input(256), 32,
                           [](int, Numbers &a) { a = compute_phase(32, [&](int l) { return 2 * a[31 - (l ^ 7)]; }); });
}

KERNEL(uniform_read_then_changed) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int n;
            int l = t.local[0];
            if (l == 0) n = a[t.global] & 3;
            t.barrier.wait();
            int seen = n, sum = 0;
            t.barrier.wait();
            if (l == 31) n = 9;
            t.barrier.wait();
            int now = n;
            t.barrier.wait();
            if (l == seen) n += seen;
            t.barrier.wait();
            for (int i = 0; i < seen; ++i) {
                sum += n;
                t.barrier.wait();
                if (l == i) ++n;
                t.barrier.wait();
            }
            a[t.global] = seen + now * 10 + n * 100 + sum * 10000;
        });
    a.synchronize();
    return d;
}
HOST(uniform_read_then_changed) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        const int seen = a[0] % 4, now = 9;
        int n = now + seen, sum = 0;
        for (int i = 0; i < seen; ++i)
            sum += n++;
        a = Numbers(32, seen + now * 10 + n * 100 + sum * 10000);
    });
}

KERNEL(overlapping_views) {
    auto d = input(520);
    array_view<int> a(520, d);
    array_view<int> x = a.section(0, 512), y = a.section(8, 512);
    parallel_for_each(
        where, extent<1>(64).tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            int l = t.local[0];
            for (int i = 0; i < 8; ++i) {
                int v = y[i * 64 + l];
                t.barrier.wait();
                x[i * 64 + l] = v + i;
                t.barrier.wait();
                int w = x[i * 64 + (l ^ 1)];
                t.barrier.wait();
                y[i * 64 + l] = w;
                t.barrier.wait();
            }
        });
    a.synchronize();
    return d;
}
HOST(overlapping_views) {
    Numbers a = input(520);
    for (int i = 0; i < 8; ++i) {
        int *const x = &a[i * 64], *const y = x + 8;
        const Numbers read(y, y + 64);
        for (int l = 0; l < 64; ++l)
            x[l] = read[l] + i;
        for (int l = 0; l < 64; ++l)
            y[l] = read[l ^ 1] + i;
    }
    return a;
}

KERNEL(local_class) {
    auto d = input(128);
    array_view<int> a(128, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            struct C {
                int re, im;
                C operator*(const C &o) const restrict(amp) { return C{re * o.re - im * o.im, re * o.im + im * o.re}; }
            };
            tile_static C s[16];
            int l = t.local[0];
            s[l] = C{a[t.global] & 7, l};
            t.barrier.wait();
            C v = s[l];
            for (int i = 1; i < 4; ++i)
                v = v * s[(l + i) & 15];
            a[t.global] = v.re ^ v.im;
        });
    a.synchronize();
    return d;
}
HOST(local_class) {
    return transform_tiles(input(128), 16, [](int, Numbers &a) {
        // Multiplies four neighbouring elements as complex numbers.
        a = compute_phase(16, [&](int l) {
            int re = 1, im = 0;
            for (int i = 0; i < 4; ++i) {
                const int at = (l + i) % 16, x = a[at] % 8, y = at, before = re;
                re = re * x - im * y;
                im = before * y + im * x;
            }
            return re ^ im;
        });
    });
}

struct Tile {
    int n;
    void sum(int *s, const tiled_index<32> &t) const restrict(amp) {
        for (int o = n / 2; o > 0; o >>= 1) {
            if (t.local[0] < o) s[t.local[0]] += s[t.local[0] + o];
            t.barrier.wait();
        }
    }
};
KERNEL(member_function) {
    auto d = input(320);
    array_view<int> a(320, d);
    Tile h{32};
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            s[t.local[0]] = a[t.global];
            t.barrier.wait();
            h.sum(s, t);
            a[t.global] = s[0] + t.local[0];
            t.barrier.wait();
            s[t.local[0]] = s[t.local[0]] & 15;
            t.barrier.wait();
            h.sum(s, t);
            a[t.global] ^= s[0];
        });
    a.synchronize();
    return d;
}
HOST(member_function) {
    return transform_tiles(input(320), 32, [](int, Numbers &a) {
        // The partial sums that the first reduction leaves in tile_static memory.
        Numbers partial = a;
        for (int half = 16; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                partial[l] += partial[l + half];
        int low_bits = 0;
        for (const int n : partial)
            low_bits += n & 15;
        const int total = sum(a);
        a = compute_phase(32, [&](int l) { return (total + l) ^ low_bits; });
    });
}

KERNEL(inner_lambda) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0];
            auto shift = [&](int distance) restrict(amp) {
                int v = s[(l + distance) % 32];
                t.barrier.wait();
                s[l] = v;
                t.barrier.wait();
                return v;
            };
            s[l] = a[t.global];
            t.barrier.wait();
            int x = 0;
            for (int i = 1; i < 4; ++i)
                x = x * 3 + shift(i);
            a[t.global] = x + shift(7);
        });
    a.synchronize();
    return d;
}
HOST(inner_lambda) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        // Each call of shift() begins with the order of elements that the previous calls left.
        a = compute_phase(32, [&](int l) {
            const auto shifted = [&](int distance) { return a[(l + distance) % 32]; };
            return shifted(1) * 9 + shifted(1 + 2) * 3 + shifted(1 + 2 + 3) + shifted(1 + 2 + 3 + 7);
        });
    });
}

template <int N> struct Reduce {
    static int run(int *s, int l, const tile_barrier &b) restrict(amp) {
        if (l < N) s[l] += s[l + N];
        b.wait();
        return Reduce<N / 2>::run(s, l, b);
    }
};
template <> struct Reduce<0> {
    static int run(int *s, int, const tile_barrier &) restrict(amp) { return s[0]; }
};
KERNEL(template_steps) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<128>(), [=](tiled_index<128> t) restrict(amp) {
            tile_static int s[128];
            s[t.local[0]] = a[t.global];
            t.barrier.wait();
            int r = Reduce<64>::run(s, t.local[0], t.barrier);
            a[t.global] = r - t.local[0];
        });
    a.synchronize();
    return d;
}
HOST(template_steps) {
    return transform_tiles(input(512), 128, [](int, Numbers &a) {
        const int total = sum(a);
        a = compute_phase(128, [&](int l) { return total - l; });
    });
}

int rotate(int v, const tiled_index<32> &t) restrict(amp) {
    tile_static int s[32];
    t.barrier.wait();
    s[t.local[0]] = v;
    t.barrier.wait();
    return s[(t.local[0] + 5) % 32];
}
KERNEL(function_twice) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            int x = rotate(a[t.global], t);
            int y = rotate(x + 1, t);
            if (t.tile[0] & 1) y = rotate(y * 2, t);
            a[t.global] = x * 1000 + y;
        });
    a.synchronize();
    return d;
}
HOST(function_twice) {
    return transform_tiles(input(256), 32, [](int tile, Numbers &a) {
        a = compute_phase(32, [&](int l) {
            const int y = tile % 2 == 0 ? a[(l + 10) % 32] + 1 : (a[(l + 15) % 32] + 1) * 2;
            return a[(l + 5) % 32] * 1000 + y;
        });
    });
}

struct Context {
    tile_barrier b;
    int *s;
    int l;
    void put(int v) const restrict(amp) {
        s[l] = v;
        b.wait();
    }
    int get(int o) const restrict(amp) {
        int v = s[(l + o) & 31];
        b.wait();
        return v;
    }
};
KERNEL(barrier_in_class) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            Context c{t.barrier, s, t.local[0]};
            c.put(a[t.global]);
            int x = c.get(3);
            c.put(x * 2);
            x += c.get(5);
            if (t.tile[0] > 2) {
                c.put(x);
                x -= c.get(1);
            }
            a[t.global] = x;
        });
    a.synchronize();
    return d;
}
HOST(barrier_in_class) {
    return transform_tiles(input(256), 32, [](int tile, Numbers &a) {
        a = compute_phase(32, [&](int l) { return a[(l + 3) % 32] + 2 * a[(l + 5 + 3) % 32]; });
        if (tile > 2) a = compute_phase(32, [&](int l) { return a[l] - a[(l + 1) % 32]; });
    });
}

KERNEL(generic_lambda) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            auto reduce = [&](auto op, auto first) restrict(amp) {
                s[l] = first;
                t.barrier.wait();
                for (int n = 32; n > 0; n >>= 1) {
                    if (l < n) s[l] = op(s[l], s[l + n]);
                    t.barrier.wait();
                }
                auto r = s[0];
                t.barrier.wait();
                return r;
            };
            int m = reduce(
                [](int x, int y) restrict(amp) { return x > y ? x : y; }, a[t.global]);
            int q = reduce(
                [](int x, int y) restrict(amp) { return x + y; }, a[t.global]);
            a[t.global] = m * 100000 + q;
        });
    a.synchronize();
    return d;
}
HOST(generic_lambda) {
    return transform_tiles(input(256), 64, [](int, Numbers &a) {
        const int largest = *std::max_element(a.begin(), a.end()), total = sum(a);
        a = Numbers(64, largest * 100000 + total);
    });
}

TEST(memory_across_barriers_on_host_threads_and_on_a_device) {
    compare_kernels();
}

} // namespace

CHECK_MAIN
