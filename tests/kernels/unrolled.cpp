// Tests nested loops that call functions, use tables and exit early. If the compiler unrolled all these loops, drivers
// would take minutes to compile the kernels. The kernels must compute what the host computes. The test `unrolled.size`
// limits the size of the kernels' modules.
#include "device.hpp"

#include <vector>

using namespace concurrency;

namespace {

// AES-128, byte by byte, as in textbooks.
class state_t {
  public:
    unsigned b[4][4];
    unsigned &operator()(int r, int c) restrict(amp, cpu) { return b[r][c]; }
};
unsigned xtime(unsigned x) restrict(amp, cpu) {
    return ((x << 1) ^ (((x >> 7) & 1) * 0x1b)) & 0xff;
}
unsigned multiply(unsigned x, unsigned y) restrict(amp, cpu) {
    unsigned r = 0;
    for (int i = 0; i < 8; ++i) {
        if (y & 1) r ^= x;
        x = xtime(x);
        y >>= 1;
    }
    return r & 0xff;
}
void add_round_key(state_t &s, const unsigned *key, int round) restrict(amp, cpu) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            s(j, i) ^= key[round * 16 + i * 4 + j];
}
void sub_bytes(state_t &s, const unsigned *box) restrict(amp, cpu) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            s(i, j) = box[s(i, j)];
}
void shift_rows(state_t &s, bool inverse) restrict(amp, cpu) {
    for (int r = 1; r < 4; r++) {
        unsigned t[4];
        for (int c = 0; c < 4; c++)
            t[c] = s(r, inverse ? (c - r + 4) % 4 : (c + r) % 4);
        for (int c = 0; c < 4; c++)
            s(r, c) = t[c];
    }
}
void mix_columns(state_t &s, bool inverse) restrict(amp, cpu) {
    const unsigned f[4] = {2, 3, 1, 1}, g[4] = {14, 11, 13, 9};
    for (int c = 0; c < 4; c++) {
        unsigned a[4];
        for (int r = 0; r < 4; r++)
            a[r] = s(r, c);
        for (int r = 0; r < 4; r++) {
            unsigned v = 0;
            for (int k = 0; k < 4; k++)
                v ^= multiply(a[k], inverse ? g[(k - r + 4) % 4] : f[(k - r + 4) % 4]);
            s(r, c) = v;
        }
    }
}
void expand(const unsigned *key, unsigned *out, const unsigned *box) restrict(amp, cpu) {
    for (int i = 0; i < 16; i++)
        out[i] = key[i];
    unsigned rcon = 1;
    for (int i = 4; i < 44; i++) {
        unsigned t[4];
        for (int j = 0; j < 4; j++)
            t[j] = out[(i - 1) * 4 + j];
        if (i % 4 == 0) {
            unsigned k = t[0];
            for (int j = 0; j < 3; j++)
                t[j] = box[t[j + 1]];
            t[3] = box[k];
            t[0] ^= rcon;
            rcon = xtime(rcon);
        }
        for (int j = 0; j < 4; j++)
            out[i * 4 + j] = out[(i - 4) * 4 + j] ^ t[j];
    }
}
void cipher(state_t &s, const unsigned *keys, const unsigned *box) restrict(amp, cpu) {
    add_round_key(s, keys, 0);
    for (int round = 1; round < 10; round++) {
        sub_bytes(s, box);
        shift_rows(s, false);
        mix_columns(s, false);
        add_round_key(s, keys, round);
    }
    sub_bytes(s, box);
    shift_rows(s, false);
    add_round_key(s, keys, 10);
}
void decipher(state_t &s, const unsigned *keys, const unsigned *rbox) restrict(amp, cpu) {
    add_round_key(s, keys, 10);
    for (int round = 9; round > 0; round--) {
        shift_rows(s, true);
        sub_bytes(s, rbox);
        add_round_key(s, keys, round);
        mix_columns(s, true);
    }
    shift_rows(s, true);
    sub_bytes(s, rbox);
    add_round_key(s, keys, 0);
}
struct aes_key {
    unsigned bytes[16];
};
// The S-boxes of AES, computed by their definition.
std::vector<unsigned> box(bool inverse) {
    std::vector<unsigned> result(256);
    unsigned p = 1, q = 1;
    const auto rotate_left = [](unsigned x, unsigned bits) { return (x << bits | x >> (8 - bits)) & 0xff; };
    do {
        p ^= xtime(p);
        q ^= q << 1;
        q ^= q << 2;
        q = (q ^ q << 4) & 0xff;
        if (q & 0x80) q ^= 9;
        const unsigned s = q ^ rotate_left(q, 1) ^ rotate_left(q, 2) ^ rotate_left(q, 3) ^ rotate_left(q, 4) ^ 0x63;
        result[inverse ? s : p] = inverse ? p : s;
    } while (p != 1);
    result[inverse ? 0x63 : 0] = inverse ? 0 : 0x63;
    return result;
}
void aes(const array_view<unsigned> &data, const aes_key &key, bool decrypt) {
    const std::vector<unsigned> sbox_data = box(false), inverse_sbox_data = box(true);
    const array_view<const unsigned> boxes(256, sbox_data), inverse(256, inverse_sbox_data);
    parallel_for_each(
        vulkan_view(), extent<1>(data.extent[0] / 16), [=](index<1> at) restrict(amp) {
            unsigned forward[256], keys[176];
            for (int i = 0; i < 256; i++)
                forward[i] = boxes[i];
            expand(key.bytes, keys, forward);
            state_t s;
            for (int c = 0; c < 4; c++)
                for (int r = 0; r < 4; r++)
                    s(r, c) = data[at[0] * 16 + c * 4 + r];
            if (decrypt) {
                unsigned backward[256];
                for (int i = 0; i < 256; i++)
                    backward[i] = inverse[i];
                decipher(s, keys, backward);
            } else {
                cipher(s, keys, forward);
            }
            for (int c = 0; c < 4; c++)
                for (int r = 0; r < 4; r++)
                    data[at[0] * 16 + c * 4 + r] = s(r, c);
        });
    data.synchronize();
}

// SHA-256.
const unsigned K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
                        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
                        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
                        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
                        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
                        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
                        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
struct k_t {
    unsigned k[64];
};
unsigned rotr(unsigned x, int n) restrict(amp, cpu) {
    return (x >> n) | (x << (32 - n));
}
void block(unsigned *h, const unsigned *w0, const k_t &k) restrict(amp, cpu) {
    unsigned w[64];
    for (int i = 0; i < 16; i++)
        w[i] = w0[i];
    for (int i = 16; i < 64; i++) {
        const unsigned s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const unsigned s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    unsigned v[8];
    for (int i = 0; i < 8; i++)
        v[i] = h[i];
    for (int i = 0; i < 64; i++) {
        const unsigned S1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25), ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const unsigned t1 = v[7] + S1 + ch + k.k[i] + w[i];
        const unsigned S0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22),
                       maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        for (int j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + S0 + maj;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

// An interpreter of a small instruction set.
unsigned char sub(unsigned char v, bool inv) restrict(amp, cpu) {
    unsigned x = v * 7u + 3u;
    return (unsigned char)(inv ? x ^ 0x5a : x);
}
struct m4 {
    float e[4][4];
};
m4 mul(const m4 &a, const m4 &b) restrict(amp, cpu) {
    m4 r;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            r.e[i][j] = 0;
            for (int k = 0; k < 4; k++)
                r.e[i][j] += a.e[i][k] * b.e[k][j];
        }
    return r;
}
unsigned step(unsigned op, unsigned a, unsigned b, unsigned *regs) restrict(amp, cpu) {
    const unsigned char table[64] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 22, 33, 44, 55, 66, 77, 88, 99, 1, 2, 3,
                                     4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 1,  2,  3,  4,  5,  6,  7,  8,  9,  8, 7, 6,
                                     5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7,  8,  9,  1,  2,  3,  4,  5,  6,  7};
    switch (op & 15) {
    case 0:
        regs[a & 15] = regs[b & 15];
        break;
    case 1:
        regs[a & 15] += regs[b & 15];
        break;
    case 2:
        regs[a & 15] ^= regs[b & 15] << 3;
        break;
    case 3:
        regs[a & 15] -= regs[b & 15];
        break;
    case 4:
        for (int i = 0; i < 16; i++)
            regs[i] = regs[i] * 3 + table[(regs[i] >> 3) & 63];
        break;
    case 5:
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++)
                regs[i] ^= regs[j] + table[(i * j) & 63];
        break;
    case 6:
        return regs[a & 15];
    case 7:
        if (regs[a & 15] == 12345) direct3d_abort();
        regs[b & 15]++;
        break;
    case 8: {
        unsigned char s[16];
        for (int i = 0; i < 16; i++)
            s[i] = sub((unsigned char)regs[i], a & 1);
        for (int r = 0; r < 10; r++)
            for (int i = 0; i < 16; i++)
                s[i] = (unsigned char)(s[(i * 5 + 1) & 15] ^ sub(s[i], false));
        for (int i = 0; i < 16; i++)
            regs[i] = s[i];
        break;
    }
    case 9: {
        m4 m;
        for (int i = 0; i < 16; i++)
            m.e[i / 4][i % 4] = float(regs[i] & 3);
        m = mul(mul(m, m), mul(m, m));
        for (int i = 0; i < 16; i++)
            regs[i] = unsigned(m.e[i / 4][i % 4]) & 0xffff;
        break;
    }
    case 10:
        if (regs[a & 15] & 1) {
            regs[b & 15] /= 2;
            break;
        }
    case 11:
        regs[b & 15] = regs[b & 15] * 1664525u + 1013904223u;
        break;
    case 12:
        for (int i = 0; i < 8; i++) {
            unsigned t = regs[i];
            regs[i] = regs[15 - i];
            regs[15 - i] = t;
        }
        break;
    default:
        regs[op & 15]++;
    }
    return 0;
}
void interpret(unsigned seed, const unsigned *program, unsigned *regs) restrict(amp, cpu) {
    for (int i = 0; i < 16; i++)
        regs[i] = seed * (i + 1);
    for (int loop = 0; loop < 3; loop++)
        for (int pc = 0; pc < 32; pc++) {
            const unsigned r = step(program[pc], program[pc] >> 4, program[pc] >> 8, regs);
            if (r > 4000000000u) return;
            if (r & 1) pc += r & 2;
            step(program[pc & 31] + 1, loop, pc, regs);
        }
}

} // namespace

// The expected values are from FIPS 197, appendix C.1.
TEST(aes_of_blocks) {
    const unsigned expected[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                   0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    aes_key key;
    std::vector<unsigned> bytes;
    for (unsigned i = 0; i < 64; ++i)
        bytes.push_back(i % 16 * 0x11);
    for (unsigned i = 0; i < 16; ++i)
        key.bytes[i] = i;
    const array_view<unsigned> data(64, bytes);
    aes(data, key, false);
    for (unsigned i = 0; i < 64; ++i)
        CHECK(bytes[i] == expected[i % 16]);
    aes(data, key, true);
    for (unsigned i = 0; i < 64; ++i)
        CHECK(bytes[i] == i % 16 * 0x11);
}

TEST(sha_of_messages) {
    k_t k;
    for (int i = 0; i < 64; i++)
        k.k[i] = K[i];
    const auto hash = [=](unsigned message, unsigned *w, unsigned *h) restrict(amp, cpu) {
        const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        for (int i = 0; i < 16; i++)
            w[i] = 0;
        w[0] = message;
        for (unsigned rounds = 0; rounds < 3; rounds++) {
            for (int i = 0; i < 8; i++)
                h[i] = start[i];
            block(h, w, k);
            if (h[1] == 0xdeadbeef) direct3d_abort();
            if ((h[0] & 7) == 0) return;
            for (int i = 0; i < 8; i++)
                w[i] = h[i];
        }
    };
    std::vector<unsigned> results(64);
    const array_view<unsigned> v(64, results);
    parallel_for_each(
        vulkan_view(), v.extent, [=](index<1> i) restrict(amp) {
            unsigned w[16], h[8];
            hash(unsigned(i[0]), w, h);
            v[i] = h[0] ^ h[7];
        });
    v.synchronize();
    for (unsigned i = 0; i < 64; ++i) {
        unsigned w[16], h[8];
        hash(i, w, h);
        CHECK(results[i] == (h[0] ^ h[7]));
    }
}

TEST(an_interpreter) {
    std::vector<unsigned> results(64 * 16), code(32);
    for (unsigned i = 0; i < 32; i++)
        code[i] = i * 2654435761u >> 12;
    const array_view<unsigned, 2> out(64, 16, results);
    const array_view<const unsigned> program(32, code);
    parallel_for_each(
        vulkan_view(), extent<1>(64), [=](index<1> i) restrict(amp) {
            unsigned regs[16], private_program[32];
            for (int k = 0; k < 32; k++)
                private_program[k] = program[k];
            interpret(unsigned(i[0]), private_program, regs);
            for (int k = 0; k < 16; k++)
                out(i[0], k) = regs[k];
        });
    out.synchronize();
    for (unsigned s = 0; s < 64; s++) {
        unsigned regs[16];
        interpret(s, code.data(), regs);
        for (unsigned k = 0; k < 16; k++)
            CHECK(results[s * 16 + k] == regs[k]);
    }
}

// LLVM would replace each of these loops by one memory copy or memory set.
TEST(loops_that_copy_and_set) {
    std::vector<int> result(100), source(100);
    for (int i = 0; i < 100; ++i)
        source[unsigned(i)] = i + 1;
    const array_view<int> to(100, result);
    const array_view<const int> input(100, source);
    const int count = 10;
    parallel_for_each(
        vulkan_view(), extent<1>(10), [=](index<1> i) restrict(amp) {
            int copied[20];
            for (int k = 0; k < 2 * count; k++)
                copied[k] = 0;
            for (int k = 0; k < count; k++)
                copied[k] = input[i[0] * count + k];
            for (int k = 0; k < count; k++)
                to[i[0] * count + k] = copied[k] + copied[k + count];
        });
    to.synchronize();
    CHECK(result == source);
}

// LLVM fully unrolls the loop in this function, up to the maximum trip count of 7. The code after the last possible
// iteration is `unreachable`.
template <class From> unsigned up_to_seven(const From &input, unsigned t) restrict(amp, cpu) {
    unsigned v = input(t);
    for (unsigned k = 0; k < ((t * 8u < (input(t + 5u) | 255u) ? t : input(t + 7u)) & 7u); ++k)
        v -= input(t + 3u) < input(t + 4u) ? 9u : input(t + 11u) >> 2;
    return v;
}

TEST(fully_unrolled_loops_that_exit_early) {
    std::vector<unsigned> result(64), source(64);
    for (unsigned i = 0; i < 64; ++i)
        source[i] = i * 2654435761u >> 22;
    const array_view<unsigned> to(64, result);
    const array_view<const unsigned> input(64, source);
    parallel_for_each(
        vulkan_view(), to.extent.tile<16>(), [=](tiled_index<16> i) restrict(amp) {
            const unsigned t = unsigned(i.global[0]);
            unsigned v = t;
            if (input[0] == 0u) {
                v = up_to_seven(
                    [=](unsigned at) restrict(amp) { return input[int(at % 64u)]; }, t);
                i.barrier.wait();
            } else if (t > 5u) {
                v ^= input[1];
            }
            to[i.global] = v;
        });
    to.synchronize();
    for (unsigned t = 0; t < 64; ++t)
        CHECK(result[t] == up_to_seven([&](unsigned at) { return source[at % 64u]; }, t));
}

// Long loops that index no private array. If they are fully unrolled, one driver compiles ten times more slowly.
TEST(long_loops) {
    std::vector<float> result(64), source(64);
    for (unsigned i = 0; i < 64; ++i)
        source[i] = float(i % 7);
    const array_view<float> to(64, result);
    const array_view<const float> input(64, source);
    parallel_for_each(
        vulkan_view(), to.extent.tile<64>(), [=](tiled_index<64> i) restrict(amp) {
            tile_static float tile[64];
            tile[i.local[0]] = input[i.global];
            i.barrier.wait();
            float sum = 0;
            for (int k = 0; k < 64; ++k)
                sum += (tile[k] - tile[i.local[0]]) * (tile[k] + 1.0f);
            float r = 0, m = 0;
            int n = 0;
            while (n < 100 && r * r + m * m < 4.0f) {
                const float t = r * r - m * m + 0.25f;
                m = 2 * r * m + 0.125f * sum;
                r = t;
                ++n;
            }
            to[i.global] = sum + float(n > 0);
        });
    to.synchronize();
    for (unsigned i = 0; i < 64; ++i) {
        float sum = 0;
        for (unsigned k = 0; k < 64; ++k)
            sum += (source[k] - source[i]) * (source[k] + 1.0f);
        CHECK(result[i] == sum + 1.0f);
    }
}

// The body of a large loop, with branches and an early exit in the middle.
unsigned in_large_loop(unsigned at, unsigned last) restrict(amp, cpu) {
    unsigned a = at * 2654435761u ^ last, b = at + last;
    a ^= a << 13, b ^= a >> 17, a += b << 5, b *= 747796405u;
    b ^= b >> 16, a *= 2246822519u, b += a >> 3, a ^= b << 7;
    if (a % 3u == 0u) {
        a += b * 3u, b ^= a >> 9, a ^= b << 2, b += a * 5u;
        a ^= a << 11, b ^= a >> 19, a += b << 3, b *= 2891336453u;
    } else if (b & 1u) {
        a ^= b >> 11, b += a << 6, a *= 9u, b ^= a >> 21;
        b ^= b >> 13, a *= 3266489917u, b += a >> 7, a ^= b << 9;
    }
    a ^= a >> 15, b += a << 4, a *= 668265263u, b ^= a >> 14;
    if ((a ^ b) % 7u == 1u) return last;
    a += b << 8, b ^= a >> 6, a ^= b << 12, b += a >> 10;
    a ^= a << 7, b ^= a >> 9, a += b << 11, b *= 374761393u;
    a += b << 1, b ^= a >> 2, a ^= b << 3, b += a >> 4;
    return last + (a ^ b);
}

// Loops that LLVM does not unroll because of their size, with zero or more iterations. The last one is nested.
TEST(large_loops) {
    std::vector<unsigned> result(64), nested(64);
    const array_view<unsigned> to(64, result), sums(64, nested);
    parallel_for_each(
        vulkan_view(), to.extent, [=](index<1> i) restrict(amp) {
            unsigned v = 1;
            for (int k = 0; k < i[0]; ++k)
                v = in_large_loop(unsigned(k), v);
            to[i] = v;
            unsigned sum = 0;
            for (int k = 0; k < i[0]; ++k)
                for (int l = k; l > 0; --l)
                    sum = in_large_loop(unsigned(l), sum + unsigned(k));
            sums[i] = sum;
        });
    to.synchronize();
    sums.synchronize();
    for (int i = 0; i < 64; ++i) {
        unsigned v = 1, sum = 0;
        for (int k = 0; k < i; ++k)
            v = in_large_loop(unsigned(k), v);
        CHECK(result[unsigned(i)] == v);
        for (int k = 0; k < i; ++k)
            for (int l = k; l > 0; --l)
                sum = in_large_loop(unsigned(l), sum + unsigned(k));
        CHECK(nested[unsigned(i)] == sum);
    }
}

CHECK_MAIN
