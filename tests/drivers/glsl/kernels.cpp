// Kernels of tests/corpus and examples-amp. glsl.py compares the driver's code for each with the driver's code for the
// same kernel in hand-written GLSL (NAME.comp).
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>

using namespace concurrency;
using namespace concurrency::graphics;
typedef unsigned int uint32;

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
void aes(array_view<uint32> data, array_view<const uint32> table, array_view<const uint32> round_keys) {
    const int blocks = data.extent[0] / 4;
    parallel_for_each(
        extent<1>(blocks).tile<32>(), [=](tiled_index<32> t) restrict(amp) {
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
                            state[4 * c + r] = round == 0 ? s[r]
                                                          : mul(s[r], 14) ^ mul(s[(r + 1) % 4], 11) ^
                                                                mul(s[(r + 2) % 4], 13) ^ mul(s[(r + 3) % 4], 9);
                        }
                }
            }
            for (int i = 0; i < 4; ++i)
                data[block * 4 + i] =
                    (state[4 * i] << 24) | (state[4 * i + 1] << 16) | (state[4 * i + 2] << 8) | state[4 * i + 3];
        });
}

template void aes<true>(array_view<uint32>, array_view<const uint32>, array_view<const uint32>);
template void aes<false>(array_view<uint32>, array_view<const uint32>, array_view<const uint32>);

// tests/corpus/bitonic.cpp
void bitonic(array_view<uint32> data, uint32 level, uint32 mask) {
    parallel_for_each(
        data.extent.tile<512>(), [=](tiled_index<512> t) restrict(amp) {
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
}

// tests/corpus/fluid.cpp
index<2> clamped(int y, int x) restrict(amp) {
    y = y < 0 ? 0 : (y >= N ? N - 1 : y);
    x = x < 0 ? 0 : (x >= N ? N - 1 : x);
    return index<2>(y, x);
}
void advect(array_view<const float_2, 2> velocity, array_view<float_2, 2> to) {
    parallel_for_each(
        to.extent, [=](index<2> i) restrict(amp) {
            const float_2 v = velocity[i];
            const float y = i[0] - 0.1f * N * v.y, x = i[1] - 0.1f * N * v.x;
            const int y0 = int(y) - (y < 0), x0 = int(x) - (x < 0);
            const float fy = y - y0, fx = x - x0;
            const float_2 a = velocity[clamped(y0, x0)], b = velocity[clamped(y0, x0 + 1)];
            const float_2 c = velocity[clamped(y0 + 1, x0)], d = velocity[clamped(y0 + 1, x0 + 1)];
            to[i] = (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy;
        });
}
void jacobi(array_view<const float, 2> p, array_view<const float, 2> divergence, array_view<float, 2> next) {
    parallel_for_each(
        next.extent, [=](index<2> i) restrict(amp) {
            const int y = i[0], x = i[1];
            next[i] = (p[clamped(y, x - 1)] + p[clamped(y, x + 1)] + p[clamped(y - 1, x)] + p[clamped(y + 1, x)] -
                       divergence[i]) *
                      0.25f;
        });
}

// tests/corpus/nbody.cpp
void nbody(array_view<const float_4> in, array_view<const float_4> velocity, array_view<float_4> out,
           array_view<float_4> next) {
    const int n = in.extent[0];
    parallel_for_each(
        in.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
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
}

// examples-amp/mandelbrot, matmul_tiled
void mandelbrot(array_view<int, 2> out) {
    parallel_for_each(
        out.extent, [=](index<2> i) restrict(amp) {
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
}
void matmul(array_view<const float, 2> a, array_view<const float, 2> b, array_view<float, 2> c) {
    parallel_for_each(
        c.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
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
}
