// Tests native kernels on host threads: at every processor level, each kernel must compute the same results as a plain
// loop. With REVAMP_HOST_KERNELS=coroutines, the same tests run the kernels' C++ functions on coroutines instead.
#include <amp.h>
#include <amp_math.h>
#include <check.hpp>

#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace concurrency;

namespace {

// Returns `n`; the compiler cannot know its value.
int opaque(int n) {
    volatile int at = n;
    return at;
}
const bool default_is_host_threads = (accelerator::set_default(accelerator::direct3d_warp), true);
bool uses_coroutines() {
    const char *setting = std::getenv("REVAMP_HOST_KERNELS");
    return setting && std::strcmp(setting, "coroutines") == 0;
}

struct P {
    float x, y;
    int k;
};
// In a loop with barriers, threads above a bound are idle, but all threads count the iterations.
TEST(loops_with_barriers_and_idle_threads) {
    const int n = 64 * 5, most = opaque(40);
    std::vector<int> r(n), expected(n);
    array_view<int> o(n, r);
    parallel_for_each(
        o.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int cells[64], counts[4];
            const int l = t.local[0];
            cells[l] = t.global[0];
            if (l < 4) counts[l] = 0;
            t.barrier.wait();
            int rounds = 0;
            for (int few = most; few >= 0; few -= 7) {
                if (l <= few) cells[l] += few * (t.tile[0] + 1);
                rounds++;
                t.barrier.wait();
                if (few > l) cells[l] ^= rounds;
                t.barrier.wait();
            }
            for (int k = 0; k < most; k++)
                atomic_fetch_add(&counts[(l + k) & 3], k);
            t.barrier.wait();
            o[t.global] = cells[l] * 3 + rounds + counts[l & 3];
        });
    o.synchronize();
    for (int g = 0; g < n; g++) {
        const int l = g % 64;
        int cell = g, rounds = 0;
        for (int few = most; few >= 0; few -= 7) {
            if (l <= few) cell += few * (g / 64 + 1);
            rounds++;
            if (few > l) cell ^= rounds;
        }
        expected[g] = cell * 3 + rounds + 16 * (most * (most - 1) / 2);
    }
    CHECK(r == expected);
}
// Loops within a branch that is uniform in some tiles and divergent in others. The branch compares the index with a
// bound, or tests a value from memory. One arm or both arms of the branch contain loops. The branch is followed by a
// barrier, or is within a loop with barriers. Kernels without tiles, and nested branches, are also tested.
inline int rounds(int seed, int i, int few) restrict(amp, cpu) {
    int best = -1, most = -1;
    for (int k = 0; k < few; k++) {
        const int value = ((i * 31 + k * seed) * 2654435 >> 7) & 1023;
        if (value > most) {
            most = value;
            best = k;
        }
    }
    return best * 1024 + most;
}
TEST(loops_in_branches_that_diverge_in_some_tiles) {
    const int n = 150, few = opaque(9);
    std::vector<int> r(6 * 192), expected(6 * 192), flags(192);
    for (int i = 0; i < 192; i++)
        flags[i] = i < 64 || (i >= 128 && i % 5 == 0);
    array_view<const int> c(192, flags);
    array_view<int, 2> o(6, 192, r);
    parallel_for_each(
        extent<1>(192).tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            const int i = t.global[0], l = t.local[0];
            s[l] = 0;
            if (i < n) s[l] = rounds(3, i, few);
            t.barrier.wait();
            o(1, i) = s[l] + s[l ^ 1];
            int sum = 0;
            for (int round = 0; round < 3; round++) {
                t.barrier.wait();
                s[l] = i + round;
                t.barrier.wait();
                if (c[i])
                    for (int k = 0; k < few; k++)
                        sum += s[(l + k) & 63] * k;
                else
                    for (int k = 0; k < few; k++)
                        sum -= s[(l * k) & 63];
            }
            o(2, i) = sum;
            if (i >= n) return;
            o(0, i) = rounds(5, i, few);
        });
    parallel_for_each(
        extent<2>(12, 16).tile<4, 8>(), [=](tiled_index<4, 8> t) restrict(amp) {
            const int y = t.global[0], x = t.global[1];
            int value = -y;
            if (y < 9 && x < 13) value = rounds(x, y, few + x) + rounds(7, x, few);
            o(3, y * 16 + x) = value;
        });
    parallel_for_each(
        extent<1>(192), [=](index<1> at) restrict(amp) {
            const int i = at[0];
            int value = 1;
            if (i < n) {
                value = rounds(11, i, few);
                if (c[i]) value += rounds(13, i, few + 3);
            }
            o(4, i) = value;
            if (c[i] == 0) return;
            o(5, i) = rounds(17, i, few);
        });
    o.synchronize();
    for (int i = 0; i < 192; i++) {
        const auto s = [&](int at) { return at < n ? rounds(3, at, few) : 0; };
        expected[i] = i < n ? rounds(5, i, few) : 0;
        expected[192 + i] = s(i) + s(i ^ 1);
        for (int round = 0; round < 3; round++)
            for (int k = 0; k < few; k++)
                expected[384 + i] +=
                    flags[i] ? ((i & ~63) + ((i + k) & 63) + round) * k : -((i & ~63) + ((i & 63) * k & 63) + round);
        const int y = i / 16, x = i % 16;
        expected[576 + i] = y < 9 && x < 13 ? rounds(x, y, few + x) + rounds(7, x, few) : -y;
        expected[768 + i] = i < n ? rounds(11, i, few) + (flags[i] ? rounds(13, i, few + 3) : 0) : 1;
        expected[960 + i] = flags[i] ? rounds(17, i, few) : 0;
    }
    for (size_t i = 0; i < r.size(); i++)
        CHECK_EQUAL(r[i], expected[i]);
}
TEST(scan) {
    const int n = 4096;
    std::vector<int> v(n), r(n);
    for (int i = 0; i < n; i++)
        v[i] = i % 13;
    array_view<int> a(n, v), o(n, r);
    o.discard_data();
    parallel_for_each(
        a.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static int s[2][256];
            int l = t.local[0];
            int in = 0;
            s[0][l] = a[t.global];
            t.barrier.wait();
            for (int d = 1; d < 256; d *= 2) {
                s[1 - in][l] = l >= d ? s[in][l] + s[in][l - d] : s[in][l];
                in = 1 - in;
                t.barrier.wait();
            }
            o[t.global] = s[in][l];
        });
    o.synchronize();
    for (int b = 0; b < n; b += 256) {
        int sum = 0;
        for (int i = 0; i < 256; i++) {
            sum += v[b + i];
            if (r[b + i] != sum) {
                CHECK(false);
                return;
            }
        }
    }
}
TEST(barriers_in_loops_and_branches) {
    const int m = opaque(5);
    const int n = 1024;
    std::vector<int> r(n);
    array_view<int> o(n, r);
    parallel_for_each(
        o.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int acc = 0;
            int l = t.local[0];
            int trips = m + t.tile[0] % 3;
            for (int i = 0; i < trips; i++) {
                s[l] = l * i;
                t.barrier.wait();
                acc += s[63 - l];
                if (i % 2 == 0) {
                    t.barrier.wait();
                    acc += 1;
                } else
                    t.barrier.wait();
                for (int k = 0; k < l % 5; k++)
                    acc += k;
            }
            o[t.global] = acc;
        });
    o.synchronize();
    for (int g = 0; g < n; g++) {
        int l = g % 64, acc = 0;
        for (int i = 0; i < m + g / 64 % 3; i++) {
            acc += (63 - l) * i;
            if (i % 2 == 0) acc += 1;
            for (int k = 0; k < l % 5; k++)
                acc += k;
        }
        if (acc != r[g]) {
            CHECK(false);
            return;
        }
    }
}
TEST(early_returns) {
    const int m = opaque(9);
    const int n = 1024;
    std::vector<int> r(n, -1);
    array_view<int> o(n, r);
    parallel_for_each(
        o.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            if (t.tile[0] >= m) return; // whole tiles return
            tile_static int s[64];
            s[t.local[0]] = t.global[0];
            t.barrier.wait();
            int x = s[t.local[0] ^ 1];
            if (t.local[0] % 3 == 0) return;
            o[t.global] = x;
        });
    o.synchronize();
    for (int g = 0; g < n; g++) {
        int want = g / 64 >= m || g % 64 % 3 == 0 ? -1 : g ^ 1;
        if (r[g] != want) {
            CHECK(false);
            return;
        }
    }
}
TEST(thread_private_arrays) {
    const int n = 512;
    std::vector<int> r(n);
    array_view<int> o(n, r);
    parallel_for_each(
        o.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            int q[16];
            for (int i = 0; i < 16; i++)
                q[i] = t.local[0] * i;
            tile_static int s[32];
            s[t.local[0]] = q[t.local[0] & 15];
            t.barrier.wait();
            q[s[31 - t.local[0]] & 15] += 7;
            t.barrier.wait();
            int x = 0;
            for (int i = 0; i < 16; i++)
                x += q[(i * 5 + t.local[0]) & 15] * (i + 1);
            o[t.global] = x;
        });
    o.synchronize();
    for (int g = 0; g < n; g++) {
        int l = g % 32, q[16];
        for (int i = 0; i < 16; i++)
            q[i] = l * i;
        int ol = 31 - l;
        q[(ol * (ol & 15)) & 15] += 7;
        int x = 0;
        for (int i = 0; i < 16; i++)
            x += q[(i * 5 + l) & 15] * (i + 1);
        if (r[g] != x) {
            CHECK(false);
            return;
        }
    }
}
TEST(transpose) {
    const int h = 48, w = 80;
    std::vector<float> v(h * w), r(h * w);
    for (int i = 0; i < h * w; i++)
        v[i] = float(i);
    array_view<const float, 2> a(h, w, v);
    array_view<float, 2> o(w, h, r);
    o.discard_data();
    parallel_for_each(
        a.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
            tile_static float s[16][17];
            s[t.local[0]][t.local[1]] = a[t.global];
            t.barrier.wait();
            index<2> to(t.tile_origin[1] + t.local[0], t.tile_origin[0] + t.local[1]);
            o[to] = s[t.local[1]][t.local[0]];
        });
    o.synchronize();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (r[x * h + y] != v[y * w + x]) {
                CHECK(false);
                return;
            }
}
TEST(three_dimensions) {
    std::vector<int> r(8 * 12 * 16);
    array_view<int, 3> o(8, 12, 16, r);
    parallel_for_each(
        o.extent.tile<2, 3, 4>(), [=](tiled_index<2, 3, 4> t) restrict(amp) {
            tile_static int s[24];
            int l = (t.local[0] * 3 + t.local[1]) * 4 + t.local[2];
            s[l] = t.global[0] * 10000 + t.global[1] * 100 + t.global[2];
            t.barrier.wait();
            o[t.global] = s[23 - l];
        });
    o.synchronize();
    for (int z = 0; z < 8; z++)
        for (int y = 0; y < 12; y++)
            for (int x = 0; x < 16; x++) {
                int wz = z / 2 * 2 + 1 - z % 2, wy = y / 3 * 3 + 2 - y % 3, wx = x / 4 * 4 + 3 - x % 4;
                if (r[(z * 12 + y) * 16 + x] != wz * 10000 + wy * 100 + wx) {
                    CHECK(false);
                    return;
                }
            }
}
TEST(atomics) {
    std::vector<unsigned> r(64);
    std::vector<unsigned> v(8192);
    for (unsigned i = 0; i < 8192; i++)
        v[i] = i * 2654435761u;
    array_view<const unsigned> a(8192, v);
    array_view<unsigned> o(64, r);
    parallel_for_each(
        a.extent.tile<128>(), [=](tiled_index<128> t) restrict(amp) {
            tile_static unsigned h[64];
            if (t.local[0] < 64) h[t.local[0]] = 0;
            t.barrier.wait();
            atomic_fetch_inc(&h[a[t.global] >> 26]);
            t.barrier.wait_with_tile_static_memory_fence();
            if (t.local[0] < 64) atomic_fetch_add(&o[t.local[0]], h[t.local[0]]);
        });
    o.synchronize();
    std::vector<unsigned> w(64);
    for (auto x : v)
        w[x >> 26]++;
    CHECK(w == r);
}
TEST(abort_throws_a_runtime_exception) {
    std::vector<int> r(256);
    array_view<int> o(256, r);
    bool threw = false;
    try {
        parallel_for_each(
            o.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
                t.barrier.wait();
                if (t.global[0] == 77) direct3d_abort();
                t.barrier.wait();
                o[t.global] = 1;
            });
        o.synchronize();
    } catch (const runtime_exception &e) {
        threw = true;
        CHECK_CONTAINS(e.what(), "abort");
    }
    CHECK(threw);
}
TEST(errorf_throws_a_runtime_exception) {
    std::vector<int> r(256);
    array_view<int> o(256, r);
    bool threw = false;
    try {
        parallel_for_each(
            o.extent, [=](index<1> i) restrict(amp) {
                if (i[0] == 77) direct3d_errorf("bad %d %g\n", i[0], 1.5);
                o[i] = 1;
            });
        o.synchronize();
    } catch (const runtime_exception &e) {
        threw = true;
        CHECK_CONTAINS(e.what(), "bad 77 1.5");
    }
    CHECK(threw);
}
TEST(ref_shows_tile_static_memory_that_was_not_written) {
    if (uses_coroutines()) SKIP("on coroutines, tile_static memory is not checked");
    const accelerator_view ref = accelerator(accelerator::direct3d_ref).default_view;
    std::vector<int> words(4);
    std::vector<float> numbers(4);
    const array_view<int> w(4, words);
    const array_view<float> f(4, numbers);
    parallel_for_each(
        ref, extent<1>(16).tile<4>(), [=](tiled_index<4> t) restrict(amp) {
            tile_static int count;
            tile_static float sums[4];
            if (t.local[0] == 0) w[t.tile[0]] = count;
            t.barrier.wait();
            if (t.local[0] == 0) count = 0;
            t.barrier.wait();
            atomic_fetch_inc(&count);
            if (t.local[0] != 2) sums[t.local[0]] = 1;
            t.barrier.wait();
            if (t.local[0] == 0) {
                w[t.tile[0]] += count;
                f[t.tile[0]] = sums[0] + sums[2];
            }
        });
    w.synchronize();
    f.synchronize();
    for (int n = 0; n < 4; ++n)
        CHECK(words[n] == 3 && numbers[n] != numbers[n]);
}

TEST(mathematics) {
    const int n = 1000;
    std::vector<float> v(n), r(n);
    for (int i = 0; i < n; i++)
        v[i] = 0.01f * i + 0.1f;
    array_view<float> a(n, v), o(n, r);
    parallel_for_each(
        o.extent, [=](index<1> i) restrict(amp) {
            float x = a[i];
            o[i] = fast_math::sin(x) + precise_math::exp(-x) * fast_math::rsqrt(x) + precise_math::erf(x) +
                   fast_math::pow(x, 1.5f) + precise_math::cospi(x) + fast_math::fmod(x, 0.7f) + fast_math::log10(x);
        });
    o.synchronize();
    double e = 0;
    for (int i = 0; i < n; i++) {
        float x = v[i];
        double w = std::sin(x) + std::exp(-x) / std::sqrt(x) + std::erf(x) + std::pow(x, 1.5) +
                   std::cos(3.14159265358979 * x) + std::fmod(x, 0.7f) + std::log10(x);
        e = std::max(e, std::fabs(w - r[i]) / (1 + std::fabs(w)));
    }
    CHECK(e < 1e-5);
}
// Native kernels call the C library's mathematical functions, so the results are equal to the last bit.
TEST(results_equal_the_c_librarys_to_the_last_bit) {
    const int n = 400, kinds = 12;
    std::vector<float> v(n), r(n * kinds);
    std::vector<double> doubles(n * 4);
    for (int i = 0; i < n; i++)
        v[i] = 0.0173f * float(i) + 0.011f;
    array_view<const float> a(n, v);
    array_view<float, 2> o(kinds, n, r);
    array_view<double, 2> d(4, n, doubles);
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) {
            const float x = a[i], y = x - 3;
            const int at = i[0];
            o(0, at) = fast_math::sin(x);
            o(1, at) = fast_math::exp(y);
            o(2, at) = fast_math::pow(x, y);
            o(3, at) = fast_math::log10(x);
            o(4, at) = fast_math::fmod(x, 0.7f);
            o(5, at) = precise_math::tan(x);
            o(6, at) = precise_math::atan2(y, x);
            o(7, at) = precise_math::erfc(y);
            o(8, at) = precise_math::tgamma(x);
            o(9, at) = precise_math::cbrt(y);
            o(10, at) = precise_math::expm1(y);
            o(11, at) = precise_math::hypot(x, y);
            d(0, at) = precise_math::sin(double(x));
            d(1, at) = precise_math::pow(double(x), double(y));
            d(2, at) = precise_math::acosh(1 + double(x));
            d(3, at) = precise_math::erf(double(y));
        });
    o.synchronize();
    d.synchronize();
    int other = 0;
    for (int i = 0; i < n; i++) {
        const float x = v[i], y = x - 3;
        const float f[kinds] = {std::sin(x),        std::exp(y),  std::pow(x, y),   std::log10(x),
                                std::fmod(x, 0.7f), std::tan(x),  std::atan2(y, x), std::erfc(y),
                                std::tgamma(x),     std::cbrt(y), std::expm1(y),    std::hypot(x, y)};
        const double e[4] = {std::sin(double(x)), std::pow(double(x), double(y)), std::acosh(1 + double(x)),
                             std::erf(double(y))};
        for (int k = 0; k < kinds; k++)
            other += r[size_t(k * n + i)] != f[k];
        for (int k = 0; k < 4; k++)
            other += doubles[size_t(k * n + i)] != e[k];
    }
    CHECK(other == 0);
}
TEST(captured_arrays) {
    array<P> a(256);
    array<int, 2> b(16, 16);
    parallel_for_each(
        a.extent.tile<64>(), [ =, &a, &b ](tiled_index<64> t) restrict(amp) {
            tile_static P s[64];
            P p = {float(t.global[0]), float(t.local[0]), t.tile[0]};
            s[t.local[0]] = p;
            t.barrier.wait();
            a[t.global] = s[63 - t.local[0]];
            b(t.global[0] / 16, t.global[0] % 16) = a.extent[0];
        });
    std::vector<P> h = a;
    std::vector<int> hb = b;
    for (int g = 0; g < 256; g++) {
        int o = g / 64 * 64 + 63 - g % 64;
        if (h[g].x != o || h[g].y != o % 64 || h[g].k != g / 64 || hb[g] != 256) {
            CHECK(false);
            return;
        }
    }
}
TEST(four_dimensions) {
    std::vector<int> r(3 * 4 * 5 * 7);
    int e[4] = {3, 4, 5, 7};
    extent<4> x(e);
    array_view<int, 4> o(x, r);
    parallel_for_each(
        x, [=](index<4> i) restrict(amp) { o[i] = ((i[0] * 10 + i[1]) * 10 + i[2]) * 10 + i[3]; });
    o.synchronize();
    int k = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 5; c++)
                for (int d = 0; d < 7; d++)
                    if (r[k++] != ((a * 10 + b) * 10 + c) * 10 + d) {
                        CHECK(false);
                        return;
                    }
}
TEST(small_functors) {
    const int k = opaque(3);
    std::vector<int> r(100);
    array_view<int> o(100, r);
    parallel_for_each(
        o.extent, [=](index<1> i) restrict(amp) { o[i] = k + i[0]; });
    o.synchronize();
    for (int i = 0; i < 100; i++)
        if (r[i] != k + i) {
            CHECK(false);
            return;
        }
}
struct functor {
    array_view<int> o;
    int k;
    void operator()(index<1> i) const restrict(amp) {
        int q[8];
        for (int j = 0; j < 8; j++)
            q[j] = i[0] * j + k;
        o[i] = q[(i[0] * 3) & 7];
    }
};
TEST(functors) {
    std::vector<int> r(100);
    array_view<int> o(100, r);
    functor f = {o, 5};
    parallel_for_each(o.extent, f);
    o.synchronize();
    for (int i = 0; i < 100; i++)
        if (r[i] != i * ((i * 3) & 7) + 5) {
            CHECK(false);
            return;
        }
}
TEST(loops_of_different_length) {
    const int n = 256;
    std::vector<int> v(n), r(n);
    for (int i = 0; i < n; i++)
        v[i] = (i * 7) % 23;
    array_view<int> a(n, v), o(n, r);
    parallel_for_each(
        a.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            int x = 0, i = 0;
            while (i < a[t.global]) {
                x += i;
                i++;
                if (x > 100) break;
            }
            s[l] = x;
            t.barrier.wait();
            o[t.global] = s[(l + 1) & 63] * 1000 + i;
        });
    o.synchronize();
    for (int g = 0; g < n; g++) {
        auto f = [&](int g, int &i) {
            int x = 0;
            i = 0;
            while (i < v[g]) {
                x += i;
                i++;
                if (x > 100) break;
            }
            return x;
        };
        int i, j;
        int nb = g / 64 * 64 + (g + 1) % 64;
        int x = f(nb, j);
        f(g, i);
        if (r[g] != x * 1000 + i) {
            CHECK(false);
            return;
        }
    }
}

// Loops with a uniform trip count within divergent branches. Native code runs each iteration for all threads before the
// next one. One kernel has tiles, with barriers around the loops, and one has no tiles.
unsigned mix(unsigned x, unsigned k) restrict(amp, cpu) {
    x = (x ^ (x >> 7)) * 2654435761u + k;
    x = (x ^ (x >> 9)) * 40503u + (x >> 3);
    return x % 3 == 0 ? x + 5 : x ^ k;
}
unsigned within_branches(int i, int rounds, int few) restrict(amp, cpu) {
    unsigned x = static_cast<unsigned>(i), last = 0;
    bool odd = false;
    if (i % 5 != 2) {
        for (int k = 0; k < rounds; k++) {
            x = mix(x, static_cast<unsigned>(k));
            odd = !odd;
        }
        if (x % 2 == 0) {
            for (int k = few; k > 0; k--) {
                x = mix(x + last, static_cast<unsigned>(k));
                last = x >> 4;
            }
            if (i > 40) return x + last;
        } else {
            x += 3;
        }
        for (int k = 0; k < few; k++)
            x = mix(x, last ^ static_cast<unsigned>(rounds + k));
    }
    for (int k = 0; k < rounds; k++)
        if (static_cast<unsigned>(k) % 4 != last % 4) x = mix(x, odd ? 1 : 2);
    return x;
}
TEST(loops_within_branches) {
    const int n = 777, rounds = opaque(9), few = opaque(3);
    std::vector<unsigned> tiled(1024), row(n);
    array_view<unsigned> t(1024, tiled), r(n, row);
    parallel_for_each(
        t.extent.tile<64>(), [=](tiled_index<64> i) restrict(amp) {
            tile_static unsigned cells[64];
            cells[i.local[0]] = within_branches(i.global[0], rounds, few);
            i.barrier.wait();
            t[i.global] = cells[63 - i.local[0]] + within_branches(i.global[0] + 1, few, rounds);
        });
    parallel_for_each(
        r.extent, [=](index<1> i) restrict(amp) { r[i] = within_branches(i[0], rounds, few); });
    t.synchronize();
    r.synchronize();
    int wrong = 0;
    for (int i = 0; i < 1024; i++)
        wrong +=
            tiled[i] != within_branches(i / 64 * 64 + 63 - i % 64, rounds, few) + within_branches(i + 1, few, rounds);
    for (int i = 0; i < n; i++)
        wrong += row[i] != within_branches(i, rounds, few);
    CHECK_EQUAL(wrong, 0);
}

// All threads first store to tile_static scalars. A compiler that ignored other threads would make the scalars private.
TEST(tile_static_scalars_that_all_threads_store_are_shared) {
    std::vector<int> r(256), c(256);
    array_view<int> o(256, r), p(256, c);
    parallel_for_each(
        o.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static bool any;
            tile_static float most;
            tile_static int count;
            any = false;
            most = 1.5f;
            count = 5;
            t.barrier.wait();
            if (t.global[0] == 70) any = true;
            if (t.global[0] == 130) most = 40.5f;
            atomic_fetch_inc(&count);
            t.barrier.wait();
            o[t.global] = any ? 1000 : int(most * 2);
            p[t.global] = count;
        });
    o.synchronize();
    p.synchronize();
    for (int g = 0; g < 256; g++)
        CHECK(r[g] == (g / 64 == 1 ? 1000 : g / 64 == 2 ? 81 : 3) && c[g] == 69);
}

struct counts {
    array_view<int> o;
    int k, q[4];
    void operator()(index<1> i) restrict(amp) {
        k += i[0];
        o[i] = k;
    }
    void operator()(tiled_index<64> t) restrict(amp) {
        tile_static int s[64];
        k += t.local[0];
        q[t.local[0] & 3] += k;
        s[t.local[0]] = k;
        t.barrier.wait();
        k += s[63 - t.local[0]];
        o[t.global] = k + q[0] + q[t.local[0] & 3];
    }
};
// Each thread changes its own copy of the functor.
TEST(functors_that_change_themselves) {
    std::vector<int> r(256);
    array_view<int> o(256, r);
    const counts functor = {o, 5, {1, 2, 3, 4}};
    parallel_for_each(o.extent, functor);
    o.synchronize();
    for (int g = 0; g < 256; g++)
        CHECK(r[g] == 5 + g);
    parallel_for_each(o.extent.tile<64>(), functor);
    o.synchronize();
    for (int g = 0; g < 256; g++) {
        const int l = g % 64, q = (l & 3) + 1 + 5 + l;
        CHECK(r[g] == 5 + l + 5 + 63 - l + ((l & 3) == 0 ? q : 1) + q);
    }
}

// The `__restrict` pointers do not alias within one thread, but other threads access the same memory.
void shift(const tile_barrier &b, int *__restrict to, const int *__restrict from, int l) restrict(amp) {
    to[l] = from[l] + 1;
    b.wait();
}
TEST(restrict_pointers_and_uppercase_names) {
    struct PROCESSOR {
        array_view<int> LEVEL;
        void operator()(tiled_index<16> t) const restrict(amp) {
            tile_static int s[32];
            const int l = t.local[0];
            s[l] = l;
            t.barrier.wait();
            int *p = s, *q = s + 16;
            for (int i = 0; i < 5; i++) {
                shift(t.barrier, q, p, (l + 1) & 15);
                int *const other = p;
                p = q;
                q = other;
            }
            LEVEL[t.global] = p[l];
        }
    };
    std::vector<int> r(64);
    array_view<int> o(64, r);
    parallel_for_each(o.extent.tile<16>(), PROCESSOR{o});
    o.synchronize();
    for (int g = 0; g < 64; g++)
        CHECK(r[g] == g % 16 + 5);
}

// The data decides which threads wait at a barrier: all threads of a tile, or only some.
int sum_after_barrier_in_branch(std::vector<int> &v, std::vector<int> &r) {
    array_view<int> a(256, v), o(256, r);
    parallel_for_each(
        o.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            s[t.local[0]] = t.local[0];
            if (a[t.global] > 0) {
                t.barrier.wait();
                o[t.global] = s[63 - t.local[0]];
            }
        });
    o.synchronize();
    int sum = 0;
    for (int x : r)
        sum += x;
    return sum;
}
TEST(barriers_that_whole_tiles_reach) {
    std::vector<int> v(256), r(256);
    for (int i = 0; i < 256; i++)
        v[i] = i / 64;
    CHECK(sum_after_barrier_in_branch(v, r) == 3 * 63 * 32);
}
TEST(barriers_that_only_some_threads_reach_are_reported) {
    if (uses_coroutines()) SKIP("on coroutines, a barrier does not wait for threads that do not reach it");
    std::vector<int> v(256, 1), r(256);
    v[70] = 0;
    CHECK_THROWS(runtime_exception, sum_after_barrier_in_branch(v, r), CHECK_CONTAINS(e.what(), "native.cpp:");
                 CHECK_CONTAINS(e.what(), "did not reach the same tile barriers"));
}
TEST(a_failed_assertion_becomes_a_runtime_exception) {
    if (uses_coroutines()) SKIP("on coroutines, the C library ends the program");
    std::vector<int> v(64);
    array_view<int> o(64, v);
    const auto run = [&] {
        parallel_for_each(
            o.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
                o[t] = t.tile[0];
                t.barrier.wait();
                assert(t.tile[0] < 3);
                o[t] += 10;
            });
        o.synchronize();
    };
    CHECK_THROWS(runtime_exception, run(), CHECK_CONTAINS(e.what(), "Assertion `t.tile[0] < 3' failed"));
}
// If `odd` is not 3, one thread reads a different value, so it reaches other barriers, or more or fewer barriers.
template <class Wait> void run_with_one_different_value(int odd, const Wait &wait) {
    std::vector<int> v(64, 3), r(64);
    v[17] = odd;
    array_view<const int> a(64, v);
    array_view<int> o(64, r);
    const auto run = [&] {
        parallel_for_each(
            o.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
                tile_static int s[32];
                s[t.local[0]] = t.global[0];
                o[t.global] = wait(t.barrier, a[t.global]) + s[0];
            });
        o.synchronize();
    };
    if (odd == 3) {
        run();
        CHECK(r[1] == r[17] && r[33] == r[17] + 32);
    } else {
        CHECK_THROWS(runtime_exception, run(), CHECK_CONTAINS(e.what(), "did not reach the same tile barriers"));
    }
}
TEST(barriers_in_divergent_flow_end_in_an_error) {
    if (uses_coroutines()) SKIP("on coroutines, threads may wait at different barriers");
    for (int odd : {3, 4}) {
        run_with_one_different_value(
            odd, [](const tile_barrier &b, int n) restrict(amp) {
                for (int i = 0; i < n; i++)
                    b.wait();
                return 1;
            });
        run_with_one_different_value(
            odd, [](const tile_barrier &b, int n) restrict(amp) {
                int x = n;
                if (n == 3) {
                    b.wait();
                    x = 2;
                } else {
                    b.wait();
                    x = 7;
                }
                return x;
            });
        run_with_one_different_value(
            odd, [](const tile_barrier &b, int n) restrict(amp) {
                b.wait();
                int x = 0;
                do {
                    x += n;
                    if (x > 8) b.wait();
                } while (x < 10);
                return n == 3 ? x : 12;
            });
        run_with_one_different_value(
            odd, [](const tile_barrier &b, int n) restrict(amp) {
                switch (n) {
                case 3:
                    b.wait();
                    return 1;
                case 4:
                    return 1;
                default:
                    b.wait();
                    b.wait();
                }
                return 1;
            });
    }
}

} // namespace

CHECK_MAIN
