// Forms of barriers and of tile_static memory as programs have them: each kernel gives, on host threads in all ways and
// on a Vulkan device, what GCC's code gives on coroutines (the sums below; all by integers, so equal to the bit).
#include "device.hpp"

#include <amp_short_vectors.h>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

using Numbers = std::vector<int>;
Numbers input(int count, unsigned seed = 1) {
    Numbers all(count);
    unsigned x = seed * 7919;
    for (int &n : all) {
        x = x * 1664525 + 1013904223;
        n = int(x >> 9) % 1000;
    }
    return all;
}
// FNV-1a.
std::uint64_t sum_of(const Numbers &all) {
    std::uint64_t sum = 1469598103934665603U;
    for (const int n : all)
        sum = (sum ^ unsigned(n)) * 1099511628211U;
    return sum;
}
struct Form {
    const char *name;
    std::uint64_t sum;
    Numbers (*run)(const accelerator_view &);
};
std::vector<Form> &forms() {
    static std::vector<Form> all;
    return all;
}
int add(const Form &form) {
    forms().push_back(form);
    return 0;
}
#define FORM(name, sum)                                                                                                \
    Numbers name(const accelerator_view &where);                                                                       \
    [[maybe_unused]] const int form_##name = add({#name, sum, name});                                                  \
    Numbers name(const accelerator_view &where)

FORM(nested_loops, 0xe4538ebbc09fedd9) {
    auto d = input(1024);
    array_view<int> a(1024, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            t.barrier.wait();
            for (int k = 2; k <= 64; k *= 2)
                for (int j = k / 2; j > 0; j /= 2) {
                    int p = l ^ j;
                    if (p > l) {
                        bool up = (l & k) == 0;
                        if ((s[l] > s[p]) == up) {
                            int x = s[l];
                            s[l] = s[p];
                            s[p] = x;
                        }
                    }
                    t.barrier.wait();
                }
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}

FORM(do_while, 0x7ee0ea283340bdfb) {
    auto d = input(256);
    array_view<int> a(256, d);
    int limit = 5;
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            tile_static int done;
            int l = t.local[0], step = 0;
            s[l] = a[t.global];
            if (l == 0) done = 0;
            t.barrier.wait();
            do {
                ++step;
                int v = s[(l + 1) % 16];
                t.barrier.wait();
                s[l] = s[l] / 2 + v / 2;
                t.barrier.wait();
                if (step == 2) continue;
                if (l == 0) done = s[0] < 300;
                t.barrier.wait();
                if (done) break;
            } while (step < limit);
            a[t.global] = s[l] * 10 + step;
        });
    a.synchronize();
    return d;
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
FORM(member_function, 0x30878eee36a2fb63) {
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

FORM(inner_lambda, 0x10fb52d5dae516bd) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0];
            auto shift = [&](int by) restrict(amp) {
                int v = s[(l + by) % 32];
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
FORM(template_steps, 0xa7ad4308e3cbb083) {
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

FORM(switch_uniform, 0x134b52396dad1e7f) {
    auto d = input(640);
    array_view<int> a(640, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            t.barrier.wait();
            switch (t.tile[0] % 4) {
            case 0: {
                int v = s[63 - l];
                t.barrier.wait();
                s[l] = v;
                break;
            }
            case 1:
                for (int i = 0; i < 3; ++i) {
                    int v = s[(l + 1) & 63];
                    t.barrier.wait();
                    s[l] += v;
                    t.barrier.wait();
                } // fallthrough
            case 2:
                if (l < 32) s[l] -= s[l + 32];
                t.barrier.wait();
                break;
            default:
                return;
            }
            t.barrier.wait();
            a[t.global] = s[(l * 7) & 63];
        });
    a.synchronize();
    return d;
}

int rotated(int v, const tiled_index<32> &t) restrict(amp) {
    tile_static int s[32];
    t.barrier.wait();
    s[t.local[0]] = v;
    t.barrier.wait();
    return s[(t.local[0] + 5) % 32];
}
FORM(function_twice, 0x9d1138535fd82304) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            int x = rotated(a[t.global], t);
            int y = rotated(x + 1, t);
            if (t.tile[0] & 1) y = rotated(y * 2, t);
            a[t.global] = x * 1000 + y;
        });
    a.synchronize();
    return d;
}

FORM(private_array, 0xacf378aecb83e126) {
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

FORM(kept_pointer, 0x2f03a2f4835c4490) {
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

FORM(small_types, 0x6fb685e1e17eb929) {
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

FORM(barriers_in_a_loop_to_its_end, 0x63065faf35728429) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            int l = t.local[0], n = 0;
            s[l] = a[t.global];
            do {
                t.barrier.wait();
                int v = s[(l + 1) & 15];
                t.barrier.wait();
                s[l] = v + n;
            } while (++n < 5 + t.tile[0] % 3);
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}

int left(int *s, const tiled_index<16> &t) restrict(amp) {
    int v = s[t.local[0] ^ 1];
    t.barrier.wait();
    return v;
}
int right(int *s, const tiled_index<16> &t) restrict(amp) {
    t.barrier.wait();
    int v = s[t.local[0] ^ 2];
    t.barrier.wait();
    return -v;
}
FORM(ternary, 0xb19ad1a327837c40) {
    auto d = input(160);
    array_view<int> a(160, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            s[t.local[0]] = a[t.global];
            t.barrier.wait();
            int v = t.tile[0] % 3 == 0 ? left(s, t) : right(s, t);
            bool both = t.tile[0] > 4 && right(s, t) < 0;
            s[t.local[0]] = v;
            t.barrier.wait();
            a[t.global] = s[15 - t.local[0]] + both;
        });
    a.synchronize();
    return d;
}

FORM(local_class, 0xecaf2b43e5e81f34) {
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

FORM(return_in_loop, 0x23f8f9b8e62a8703) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            for (int i = 0; i < 10; ++i) {
                t.barrier.wait();
                int v = s[(l + 1) & 63], z = s[0];
                t.barrier.wait();
                if (z % 5 == 0) {
                    a[t.global] = -i;
                    return;
                }
                s[l] = v + 1;
            }
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}

FORM(host_threads, 0x2d9c782356735f00) {
    Numbers all(4 * 256);
    std::vector<std::thread> ts;
    for (int k = 0; k < 4; ++k)
        ts.emplace_back([&, k] {
            auto d = input(256, k + 2);
            for (int n = 0; n < 8; ++n) {
                array_view<int> a(256, d);
                if (k & 1)
                    parallel_for_each(
                        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
                            tile_static int s[32];
                            s[t.local[0]] = a[t.global];
                            t.barrier.wait();
                            a[t.global] = s[31 - t.local[0]] + k;
                        });
                else
                    parallel_for_each(
                        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
                            tile_static long long s[64];
                            s[t.local[0]] = a[t.global];
                            t.barrier.wait();
                            int v = int(s[(t.local[0] + 1) % 64]);
                            t.barrier.wait();
                            s[t.local[0]] = v;
                            t.barrier.wait();
                            a[t.global] = int(s[t.local[0] ^ 5]) - n;
                        });
                a.synchronize();
            }
            for (int n = 0; n < 256; ++n)
                all[k * 256 + n] = d[n];
        });
    for (auto &t : ts)
        t.join();
    return all;
}

FORM(tiles_3d, 0xdd7bbb52ba454b47) {
    auto d = input(8 * 12 * 16);
    Numbers r(8 * 12 * 16);
    array_view<const int, 3> a(8, 12, 16, d);
    array_view<int, 3> o(8, 12, 16, r);
    parallel_for_each(
        where, a.get_extent().tile<2, 3, 8>(), [=](tiled_index<2, 3, 8> t) restrict(amp) {
            tile_static int s[2][3][8];
            int z = t.local[0], y = t.local[1], x = t.local[2];
            s[z][y][x] = a[t.global];
            t.barrier.wait();
            int v = s[1 - z][2 - y][7 - x];
            for (int i = 0; i < 3; ++i) {
                t.barrier.wait();
                s[z][y][x] += v;
                t.barrier.wait();
                v = s[z][(y + 1) % 3][(x + i) % 8];
            }
            o[t.global] = v;
        });
    o.synchronize();
    return r;
}

FORM(queue, 0x82aaca84e363ceea) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int left, s[32];
            int l = t.local[0], mine = 0;
            s[l] = a[t.global];
            if (l == 0) left = 40 + t.tile[0];
            t.barrier.wait();
            while (left > 0) {
                int at = left;
                t.barrier.wait();
                if (at - l > 0) mine += s[(at + l) & 31] * at;
                if (l == 0) left = at - 32;
                t.barrier.wait();
            }
            a[t.global] = mine;
        });
    a.synchronize();
    return d;
}

struct Holder {
    int *p;
    int n;
};
FORM(kept_types, 0x8f4671947cebfdeb) {
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

FORM(one_way_only, 0xd26912900a9b4dcc) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0], v = 7, w;
            if (a[t.global] & 1) {
                v = a[t.global];
                w = v * 2;
            } else if (a[t.global] % 3 == 0) {
                w = 5;
            } else {
                w = l;
                v -= l;
            }
            s[l] = v;
            t.barrier.wait();
            if (s[63 - l] > 300) w += s[63 - l];
            t.barrier.wait();
            s[l] = w;
            t.barrier.wait();
            a[t.global] = s[(l + 13) & 63] + w * 1000 + v;
        });
    a.synchronize();
    return d;
}

FORM(swaps, 0x9679ff2cac97d583) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0], x = a[t.global], y = l, z = 1;
            for (int i = 0; i < 7; ++i) {
                s[l] = x;
                t.barrier.wait();
                int n = s[(l + i) & 31];
                t.barrier.wait();
                int o = x;
                x = y;
                y = z;
                z = o ^ n;
            }
            a[t.global] = x * 3 + y * 5 + z * 7;
        });
    a.synchronize();
    return d;
}

FORM(odd_shapes, 0x2555a5e2346f251f) {
    auto d = input(6 * 10 * 64);
    {
        array_view<int, 3> a(6, 10, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<1, 1, 64>(), [=](tiled_index<1, 1, 64> t) restrict(amp) {
                tile_static int s[64];
                s[t.local[2]] = a[t.global];
                t.barrier.wait();
                a[t.global] = s[63 - t.local[2]] + t.tile[1];
            });
        a.synchronize();
    }
    {
        array_view<int, 2> a(60, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<60, 1>(), [=](tiled_index<60, 1> t) restrict(amp) {
                tile_static int s[60];
                s[t.local[0]] = a[t.global];
                t.barrier.wait();
                a[t.global] = s[59 - t.local[0]] * 2 + t.tile[1];
            });
        a.synchronize();
    }
    {
        array_view<int, 2> a(60, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<3, 1>(), [=](tiled_index<3, 1> t) restrict(amp) {
                tile_static int s[3][1];
                s[t.local[0]][t.local[1]] = a[t.global];
                t.barrier.wait();
                a[t.global] = s[2 - t.local[0]][0];
            });
        a.synchronize();
    }
    {
        array_view<int, 3> a(6, 10, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<3, 5, 7>().pad(), [=](tiled_index<3, 5, 7> t) restrict(amp) {
                tile_static int s[3][5][7];
                bool in = a.extent.contains(t.global);
                s[t.local[0]][t.local[1]][t.local[2]] = in ? a[t.global] : 0;
                t.barrier.wait();
                int v = s[2 - t.local[0]][4 - t.local[1]][6 - t.local[2]];
                if (in) a[t.global] = v;
            });
        a.synchronize();
    }
    return d;
}

FORM(barrier_in_header, 0x722654a4a6a58e73) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            int l = t.local[0];
            s[l] = a[t.global];
            for (int i = (t.barrier.wait(), s[0] & 3); t.barrier.wait(), i < 6; t.barrier.wait(), ++i) {
                int v = s[(l + i) & 15];
                t.barrier.wait();
                s[l] = v + i;
            }
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
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
FORM(barrier_in_class, 0xea967671963707d8) {
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

FORM(references, 0xc40303ae7325384d) {
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

FORM(volatile_tile, 0xec13ef04a10a11e7) {
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

FORM(generic_lambda, 0x7a69826f8620b03) {
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

FORM(nonuniform_switch, 0xc708470da85a1ee8) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            int state = a[t.global] % 5, v = 0;
            for (int i = 0; i < 6; ++i) {
                t.barrier.wait();
                switch (state) {
                case 0:
                    v += s[l];
                    state = 2;
                    break;
                case 1:
                    v -= 3; // fallthrough
                case 2:
                    v ^= s[(l + 1) & 63];
                    state = (state + v) & 3;
                    continue;
                case 3:
                    if (v & 1) {
                        state = 4;
                        break;
                    }
                    v += 9;
                    state = 0;
                    break;
                default:
                    v = -v;
                    state = 1;
                }
                v += i;
            }
            a[t.global] = v;
        });
    a.synchronize();
    return d;
}

FORM(overlapping_views, 0x647a9dcbedfbe62d) {
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

FORM(dependent_uniforms, 0xfbbe0659beb9e8b2) {
    auto d = input(512);
    array_view<int> a(512, d);
    array_view<const int> c = a;
    parallel_for_each(
        where, extent<1>(512).tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0], g = t.tile_origin[0];
            s[l] = a[t.global];
            t.barrier.wait();
            int lo = 0, hi = 31, rounds = 0;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (s[mid] > 400)
                    hi = mid;
                else
                    lo = mid + 1;
                t.barrier.wait();
                if (l == mid) s[l] += lo;
                t.barrier.wait();
                ++rounds;
            }
            int n = s[lo] & 7;
            t.barrier.wait();
            for (int i = 0; i < n; ++i) {
                s[(l + i) & 31] ^= i + rounds;
                t.barrier.wait();
            }
            a[t.global] = s[l] + lo * 1000 + g;
        });
    a.synchronize();
    return d;
}

FORM(uniform_read_then_changed, 0xa2bd5b7e839a963) {
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

FORM(nan_conditions, 0xfe4b862f69619673) {
    auto i = input(256);
    std::vector<float> f(256);
    for (int k = 0; k < 256; ++k)
        f[k] = k % 7 == 0 ? NAN : float(i[k]);
    array_view<const float> a(256, f);
    Numbers r(256);
    array_view<int> o(256, r);
    parallel_for_each(
        where, o.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static float s[32];
            int l = t.local[0], n = 0;
            s[l] = a[t.global];
            t.barrier.wait();
            for (int k = 0; k < 32; ++k) {
                if (s[k] < s[l]) n += 1;
                if (!(s[k] >= s[l])) n += 100;
                if (s[k] != s[k]) n += 10000;
            }
            if (s[0] != s[0]) {
                t.barrier.wait();
                s[l] = 5;
                t.barrier.wait();
                n += int(s[31 - l]);
            }
            o[t.global] = n;
        });
    o.synchronize();
    return r;
}

FORM(early_out_search, 0xf290e521ba792c9d) {
    auto d = input(1024);
    array_view<int> a(1024, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            tile_static int found;
            int l = t.local[0];
            s[l] = a[t.global];
            if (l == 0) found = 64;
            t.barrier.wait();
            for (int i = l; i < 64; ++i)
                if (s[i] % 17 == l % 17) {
                    atomic_fetch_min(&found, i);
                    break;
                }
            t.barrier.wait();
            if (found == 64) {
                a[t.global] = -1;
                return;
            }
            t.barrier.wait();
            int f = found;
            t.barrier.wait();
            for (int i = 0; i < 64; ++i) {
                if (i == f) break;
                if (l == i) s[l] = -s[l];
                t.barrier.wait();
            }
            t.barrier.wait();
            a[t.global] = s[63 - l] + f;
        });
    a.synchronize();
    return d;
}

FORM(many_tiles, 0xc4302fdd8de1833) {
    int n = 60000;
    Numbers d(n);
    array_view<int> a(n, d);
    parallel_for_each(
        where, a.get_extent().tile<2>(), [=](tiled_index<2> t) restrict(amp) {
            tile_static int s[2];
            s[t.local[0]] = t.global[0];
            t.barrier.wait();
            a[t.global] = s[1 - t.local[0]] + t.tile[0];
        });
    a.synchronize();
    return d;
}

// LLVM reads beyond the tile where it takes what wraps for a number that counts on.
FORM(neighbours_around_the_tile, 0x8099e954de606383) {
    Numbers d(2048, 1);
    array_view<int> a(2048, d);
    parallel_for_each(
        where, a.get_extent().tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            a[t.global] = t.local[0] + 5;
            t.barrier.wait();
            int right = a[t.tile_origin + index<1>((t.local[0] + 1) % 256)];
            int far = a[t.tile_origin + index<1>((t.local[0] + 200) & 255)];
            t.barrier.wait();
            a[t.global] = right * 3 + far;
        });
    a.synchronize();
    return d;
}

TEST(each_form_on_host_threads_and_on_a_device) {
    for (const accelerator_view &where : {accelerator(accelerator::direct3d_warp).default_view, vulkan_view()})
        for (const Form &form : forms())
            if (sum_of(form.run(where)) != form.sum) check::fail(form.name, 0, "it gives something else");
}

// In each round every thread adds to its element what its successor has, or changes its element in the view; `own`:
// with a loop of the thread itself, whose iterations depend on each other, before the barrier.
enum class Round { neighbours, view, own };
template <int Y, int X, Round kind> Numbers rounds_by_kernel(const accelerator_view &where, Numbers data, int rounds) {
    array_view<int, 2> a(10 * Y, X, data);
    parallel_for_each(
        where, a.get_extent().template tile<Y, X>(), [=](tiled_index<Y, X> t) restrict(amp) {
            tile_static int s[Y * X];
            const int l = t.local[0] * X + t.local[1];
            s[l] = a[t.global];
            t.barrier.wait();
            for (int round = 0; round < rounds; ++round) {
                if (kind == Round::neighbours) {
                    const int next = s[(l + 1) % (Y * X)];
                    t.barrier.wait();
                    s[l] += next;
                } else if (kind == Round::view) {
                    a[t.global] = int(unsigned(a[t.global]) * 3 + round);
                } else {
                    for (int n = 0; n < rounds; ++n)
                        s[l] = int(unsigned(s[l]) * 3 + n);
                }
                t.barrier.wait();
            }
            if (kind != Round::view) a[t.global] = s[l];
        });
    a.synchronize();
    return data;
}
template <int Y, int X, Round kind> Numbers rounds_by_host(Numbers data, int rounds) {
    constexpr int threads = Y * X;
    for (std::size_t tile = 0; tile < data.size(); tile += threads)
        for (int round = 0; round < rounds; ++round) {
            const Numbers before(data.begin() + tile, data.begin() + tile + threads);
            for (int l = 0; l < threads; ++l) {
                int &x = data[tile + l];
                if (kind == Round::neighbours) x += before[(l + 1) % threads];
                if (kind == Round::view) x = int(unsigned(x) * 3 + round);
                for (int n = 0; kind == Round::own && n < rounds; ++n)
                    x = int(unsigned(x) * 3 + n);
            }
        }
    return data;
}
template <int Y, int X, Round kind> void compare_rounds(const accelerator_view &where, const char *what) {
    const Numbers data = input(10 * Y * X);
    for (const int rounds : {1, 7, 16}) {
        const bool same = rounds_by_kernel<Y, X, kind>(where, data, rounds) == rounds_by_host<Y, X, kind>(data, rounds);
        if (!same) check::fail(what, 0, "it gives something else");
    }
}
template <int Y, int X> void compare_rounds(const accelerator_view &where, const char *what) {
    compare_rounds<Y, X, Round::neighbours>(where, what);
    compare_rounds<Y, X, Round::view>(where, what);
    compare_rounds<Y, X, Round::own>(where, what);
}

TEST(loops_around_barriers_in_small_tiles) {
    for (const accelerator_view &where : {accelerator(accelerator::direct3d_warp).default_view, vulkan_view()}) {
        compare_rounds<3, 5>(where, "3 x 5");
        compare_rounds<3, 7>(where, "3 x 7");
        compare_rounds<4, 4>(where, "4 x 4");
        compare_rounds<1, 2>(where, "1 x 2");
        compare_rounds<7, 1>(where, "7 x 1");
        compare_rounds<8, 3>(where, "8 x 3");
    }
}

} // namespace

CHECK_MAIN
