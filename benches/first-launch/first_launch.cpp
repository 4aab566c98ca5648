// What the first launch of a kernel costs, as C++ AMP and as GLSL that somebody wrote by hand: `first_launch NAME
// amp|glsl FOLDER` prints the milliseconds of the first launch with its wait, less those of the fifth. A process each,
// so that nothing is cached (benches/first-launch/run). The kernels are those of tests/corpus and examples-amp, next to
// their GLSL (FOLDER/NAME.spv).
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>
#include <revamp/kernel.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;
typedef unsigned int uint32;

namespace {

accelerator_view where() {
    return accelerator().default_view;
}

std::vector<uint32> module_of(const std::string &file) {
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error("cannot read " + file);
    std::vector<uint32> words(std::size_t(in.tellg()) / 4);
    in.seekg(0);
    in.read(reinterpret_cast<char *>(words.data()), std::streamsize(words.size() * 4));
    return words;
}

double milliseconds(const std::function<void()> &launch) {
    const auto begin = std::chrono::steady_clock::now();
    launch();
    where().wait();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The two ways to launch one kernel.
struct ways {
    std::function<void()> amp;
    std::function<void(const revamp::kernel &)> glsl;
};

const int N = 256;

// tests/corpus/aes.cpp
uint32 xtime(uint32 x) restrict(amp) {
    return ((x << 1) ^ ((x & 0x80) ? 0x1B : 0)) & 255;
}
uint32 mul(uint32 x, int y) restrict(amp) {
    uint32 result = 0;
    for (; y; y >>= 1, x = xtime(x))
        if (y & 1) result ^= x;
    return result;
}
template <class Keys> void add_round_key(uint32 (&state)[16], const Keys &keys, int round) restrict(amp) {
    for (int i = 0; i < 16; ++i)
        state[i] ^= (keys[round * 4 + i / 4] >> (24 - 8 * (i % 4))) & 255;
}
template <bool forward>
ways aes(array_view<uint32> data, array_view<const uint32> table, array_view<const uint32> round_keys) {
    const int blocks = data.extent[0] / 4;
    return {
        [=] {
            parallel_for_each(
                where(), extent<1>(blocks).tile<32>(), [=](tiled_index<32> t) restrict(amp) {
                    tile_static uint32 box[256], keys[60];
                    for (int i = t.local[0]; i < 256; i += 32)
                        box[i] = table[i];
                    for (int i = t.local[0]; i < 60; i += 32)
                        keys[i] = round_keys[i];
                    t.barrier.wait_with_tile_static_memory_fence();
                    const int block = t.global[0];
                    uint32 state[16];
                    for (int i = 0; i < 16; ++i)
                        state[i] = (data[block * 4 + i / 4] >> (24 - 8 * (i % 4))) & 255;
                    add_round_key(state, keys, forward ? 0 : 14);
                    if (forward) {
                        for (int round = 1; round <= 14; ++round) {
                            uint32 next[16];
                            for (int c = 0; c < 4; ++c)
                                for (int r = 0; r < 4; ++r)
                                    next[4 * c + r] = box[state[4 * ((c + r) % 4) + r]];
                            for (int c = 0; c < 4; ++c) {
                                const uint32 *s = next + 4 * c;
                                const uint32 all = s[0] ^ s[1] ^ s[2] ^ s[3];
                                for (int r = 0; r < 4; ++r)
                                    state[4 * c + r] = round == 14 ? s[r] : s[r] ^ all ^ xtime(s[r] ^ s[(r + 1) % 4]);
                            }
                            add_round_key(state, keys, round);
                        }
                    } else {
                        for (int round = 13; round >= 0; --round) {
                            uint32 next[16];
                            for (int c = 0; c < 4; ++c)
                                for (int r = 0; r < 4; ++r)
                                    next[4 * ((c + r) % 4) + r] = box[state[4 * c + r]];
                            add_round_key(next, keys, round);
                            for (int c = 0; c < 4; ++c)
                                for (int r = 0; r < 4; ++r) {
                                    const uint32 *s = next + 4 * c;
                                    state[4 * c + r] = round == 0
                                                           ? s[r]
                                                           : mul(s[r], 14) ^ mul(s[(r + 1) % 4], 11) ^
                                                                 mul(s[(r + 2) % 4], 13) ^ mul(s[(r + 3) % 4], 9);
                                }
                        }
                    }
                    for (int i = 0; i < 4; ++i)
                        data[block * 4 + i] = (state[4 * i] << 24) | (state[4 * i + 1] << 16) |
                                              (state[4 * i + 2] << 8) | state[4 * i + 3];
                });
        },
        [=](const revamp::kernel &k) { parallel_for_each(where(), extent<1>(blocks), k, data, table, round_keys); }};
}

// tests/corpus/bitonic.cpp
ways bitonic(array_view<uint32> data) {
    const uint32 level = 512, mask = 512;
    return {[=] {
                parallel_for_each(
                    where(), data.extent.tile<512>(), [=](tiled_index<512> t) restrict(amp) {
                        tile_static uint32 s[512];
                        const int l = t.local[0], g = t.global[0];
                        s[l] = data[g];
                        t.barrier.wait();
                        for (uint32 j = level >> 1; j > 0; j >>= 1) {
                            const uint32 result = ((s[l & ~j] <= s[l | j]) == bool(mask & g)) ? s[l ^ j] : s[l];
                            t.barrier.wait();
                            s[l] = result;
                            t.barrier.wait();
                        }
                        data[g] = s[l];
                    });
            },
            [=](const revamp::kernel &k) { parallel_for_each(where(), data.extent, k, data, level, mask); }};
}

// tests/corpus/fluid.cpp
index<2> clamped(int y, int x) restrict(amp) {
    y = y < 0 ? 0 : (y >= N ? N - 1 : y);
    x = x < 0 ? 0 : (x >= N ? N - 1 : x);
    return index<2>(y, x);
}
ways advect(array_view<const float_2, 2> velocity, array_view<float_2, 2> to) {
    return {[=] {
                parallel_for_each(
                    where(), to.extent, [=](index<2> i) restrict(amp) {
                        const float_2 v = velocity[i];
                        const float y = i[0] - 0.1f * N * v.y, x = i[1] - 0.1f * N * v.x;
                        const int y0 = int(y) - (y < 0), x0 = int(x) - (x < 0);
                        const float fy = y - y0, fx = x - x0;
                        const float_2 a = velocity[clamped(y0, x0)], b = velocity[clamped(y0, x0 + 1)];
                        const float_2 c = velocity[clamped(y0 + 1, x0)], d = velocity[clamped(y0 + 1, x0 + 1)];
                        to[i] = (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy;
                    });
            },
            [=](const revamp::kernel &k) { parallel_for_each(where(), to.extent, k, velocity, to); }};
}
ways jacobi(array_view<const float, 2> p, array_view<const float, 2> divergence, array_view<float, 2> next) {
    return {[=] {
                parallel_for_each(
                    where(), next.extent, [=](index<2> i) restrict(amp) {
                        const int y = i[0], x = i[1];
                        next[i] = (p[clamped(y, x - 1)] + p[clamped(y, x + 1)] + p[clamped(y - 1, x)] +
                                   p[clamped(y + 1, x)] - divergence[i]) *
                                  0.25f;
                    });
            },
            [=](const revamp::kernel &k) { parallel_for_each(where(), next.extent, k, p, divergence, next); }};
}

// tests/corpus/nbody.cpp
ways nbody(array_view<const float_4> in, array_view<const float_4> velocity, array_view<float_4> out,
           array_view<float_4> next) {
    const int n = in.extent[0];
    return {[=] {
                parallel_for_each(
                    where(), in.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
                        tile_static float_4 tile[64];
                        const int l = t.local[0];
                        float_4 pos = in[t], vel = velocity[t], acc(0);
                        for (int first = 0; first < n; first += 64) {
                            tile[l] = in[first + l];
                            t.barrier.wait();
                            for (int j = 0; j < 64; ++j) {
                                const float_4 r = tile[j] - pos;
                                const float inverse = fast_math::rsqrt(r.x * r.x + r.y * r.y + r.z * r.z + 0.01f);
                                acc += r * (inverse * inverse * inverse);
                            }
                            t.barrier.wait();
                        }
                        vel = (vel + acc * 0.1f) * 0.9995f;
                        out[t] = pos + vel * 0.1f;
                        next[t] = vel;
                    });
            },
            [=](const revamp::kernel &k) { parallel_for_each(where(), in.extent, k, in, velocity, out, next, n); }};
}

// examples-amp/mandelbrot, matmul_tiled
ways mandelbrot(array_view<int, 2> out) {
    return {[=] {
                parallel_for_each(
                    where(), out.extent, [=](index<2> i) restrict(amp) {
                        const float cr = -2.0f + 3.0f * i[1] / N, ci = -1.5f + 3.0f * i[0] / N;
                        float r = 0, m = 0;
                        int n = 0;
                        while (n < 100 && r * r + m * m < 4) {
                            const float t = r * r - m * m + cr;
                            m = 2 * r * m + ci;
                            r = t;
                            ++n;
                        }
                        out[i] = n;
                    });
            },
            [=](const revamp::kernel &k) { parallel_for_each(where(), out.extent, k, out); }};
}
ways matmul(array_view<const float, 2> a, array_view<const float, 2> b, array_view<float, 2> c) {
    return {[=] {
                parallel_for_each(
                    where(), c.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                        tile_static float left[16][16], right[16][16];
                        const int y = t.local[0], x = t.local[1];
                        float sum = 0;
                        for (int k = 0; k < a.extent[1]; k += 16) {
                            left[y][x] = a(t.global[0], k + x);
                            right[y][x] = b(k + y, t.global[1]);
                            t.barrier.wait();
                            for (int i = 0; i < 16; ++i)
                                sum += left[y][i] * right[i][x];
                            t.barrier.wait();
                        }
                        c[t] = sum;
                    });
            },
            [=](const revamp::kernel &k) { parallel_for_each(where(), c.extent, k, a, b, c, N); }};
}

} // namespace

int main(int count, char **arguments) {
    if (count != 4) return std::fprintf(stderr, "usage: first_launch NAME amp|glsl FOLDER\n"), 2;
    const std::string name = arguments[1];
    std::vector<uint32> words(N * N, 1), table(256, 7), keys(60, 3);
    std::vector<float> f1(N * N, 1), f2(N * N, 1), f3(N * N);
    std::vector<float_2> v1(N * N, float_2(0.1f, 0.2f)), v2(N * N);
    std::vector<float_4> p1(1024, float_4(1, 2, 3, 0)), p2(1024), p3(1024), p4(1024);
    array_view<uint32> data(int(words.size()), words);
    array_view<const uint32> box(256, table), round_keys(60, keys);
    std::vector<int> numbers(N * N);
    array_view<int, 2> counts(N, N, numbers);
    array_view<const float, 2> a(N, N, f1), b(N, N, f2);
    array_view<float, 2> c(N, N, f3);
    array_view<const float_2, 2> velocity(N, N, v1);
    array_view<float_2, 2> moved(N, N, v2);
    array_view<const float_4> in(1024, p1), speed(1024, p2);
    array_view<float_4> out(1024, p3), next(1024, p4);
    const std::map<std::string, ways> all = {
        {"aes_encrypt", aes<true>(data, box, round_keys)},
        {"aes_decrypt", aes<false>(data, box, round_keys)},
        {"bitonic", bitonic(data)},
        {"advect", advect(velocity, moved)},
        {"jacobi", jacobi(a, b, c)},
        {"nbody", nbody(in, speed, out, next)},
        {"mandelbrot", mandelbrot(counts)},
        {"matmul", matmul(a, b, c)},
    };
    try {
        // The device is open and has what it needs.
        std::vector<int> one(1);
        array_view<int> warm(1, one);
        parallel_for_each(
            where(), warm.extent, [=](index<1> i) restrict(amp) { warm[i] = 1; });
        where().wait();
        const ways &kernel = all.at(name);
        std::function<void()> launch = kernel.amp;
        const auto begin = std::chrono::steady_clock::now();
        if (std::string(arguments[2]) == "glsl") {
            const std::vector<uint32> module = module_of(std::string(arguments[3]) + "/" + name + ".spv");
            const revamp::kernel made(where().accelerator, module.data(), module.size() * 4);
            launch = [=] { kernel.glsl(made); };
        }
        const double making =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        double times[5];
        for (double &time : times)
            time = milliseconds(launch);
        std::printf("%.1f\n", making + times[0] - times[4]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
        return 1;
    }
}
