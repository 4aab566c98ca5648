// The family `tables` of the kernel suite: dynamic programming, strings and hashes.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

// Rodinia's pathfinder: the cheapest path down a grid, with one launch per row.
void pathfinder_data(Problem &p) {
    const int n = p.pick(1 << 14, 1 << 22), rows = p.pick(8, 16);
    p.n = {n, rows};
    p.numbers(size_t(n) * rows, 10), p.in<int>(n), p.out<int>(n);
    p.bytes = 12.0 * n * rows;
}
void pathfinder_cpu(Problem &p) {
    const int n = p.n[0], rows = p.n[1];
    const int *wall = p.at<int>(0);
    std::vector<int> now(wall, wall + n), next(n);
    for (int row = 1; row < rows; row++) {
        for (int x = 0; x < n; x++)
            next[x] =
                wall[row * n + x] + std::min(now[x], std::min(now[std::max(x - 1, 0)], now[std::min(x + 1, n - 1)]));
        now.swap(next);
    }
    std::copy(now.begin(), now.end(), p.at<int>(2));
}
void pathfinder(Arrays &d) {
    const int n = d.n[0], rows = d.n[1];
    array_view<const int, 2> wall(d.get<int>(0, rows, n));
    array_view<int> a(d.get<int>(1, n)), b(d.get<int>(2, n));
    // The last row is written to b.
    array_view<int> from = rows % 2 == 0 ? a : b, to = rows % 2 == 0 ? b : a;
    parallel_for_each(
        from.extent, [=](index<1> i) restrict(amp) { from[i] = wall(0, i[0]); });
    for (int row = 1; row < rows; row++) {
        parallel_for_each(
            to.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static int part[258];
                const int x = t.global[0], i = t.local[0] + 1;
                part[i] = from[x];
                if (i == 1) part[0] = from[x > 0 ? x - 1 : 0];
                if (i == 256) part[257] = from[x < n - 1 ? x + 1 : n - 1];
                t.barrier.wait();
                int cheapest = part[i];
                if (part[i - 1] < cheapest) cheapest = part[i - 1];
                if (part[i + 1] < cheapest) cheapest = part[i + 1];
                to[x] = wall(row, x) + cheapest;
            });
        std::swap(from, to);
    }
}

// Rodinia's Needleman-Wunsch: one launch per anti-diagonal of blocks of 16 x 16 cells.
void alignment_data(Problem &p) {
    const int n = p.pick(256, 4096);
    p.n = {n};
    unsigned *likeness = p.numbers(size_t(n) * n, 20);
    for (size_t i = 0; i < size_t(n) * n; i++)
        likeness[i] -= 10;
    p.out<int>(size_t(n + 1) * (n + 1));
}
void alignment_cpu(Problem &p) {
    const int n = p.n[0], width = n + 1;
    int *score = p.at<int>(1);
    for (int i = 0; i <= n; i++)
        score[i] = score[i * width] = -10 * i;
    for (int y = 1; y <= n; y++)
        for (int x = 1; x <= n; x++)
            score[y * width + x] = std::max(score[(y - 1) * width + x - 1] + p.at<int>(0)[(y - 1) * n + x - 1],
                                            std::max(score[y * width + x - 1], score[(y - 1) * width + x]) - 10);
}
void alignment(Arrays &d) {
    const int n = d.n[0], penalty = 10;
    const array<int, 2> &likeness = d.get<int>(0, n, n);
    array<int, 2> &score = d.get<int>(1, n + 1, n + 1);
    parallel_for_each(
        extent<1>(n + 1), [&score](index<1> i) restrict(amp) {
            score(0, i[0]) = -penalty * i[0];
            score(i[0], 0) = -penalty * i[0];
        });
    const int blocks = n / 16;
    for (int diagonal = 0; diagonal < 2 * blocks - 1; diagonal++) {
        const int first = diagonal < blocks ? 0 : diagonal - blocks + 1;
        const int count = diagonal < blocks ? diagonal + 1 : 2 * blocks - 1 - diagonal;
        parallel_for_each(
            extent<1>(count * 16).tile<16>(), [ =, &likeness, &score ](tiled_index<16> t) restrict(amp) {
                tile_static int part[17][17];
                tile_static int block_likeness[16][16];
                const int i = t.local[0], bx = first + t.tile[0], by = diagonal - bx, y = by * 16, x = bx * 16;
                if (i == 0) part[0][0] = score(y, x);
                for (int k = 0; k < 16; k++)
                    block_likeness[k][i] = likeness(y + k, x + i);
                t.barrier.wait();
                part[i + 1][0] = score(y + i + 1, x);
                part[0][i + 1] = score(y, x + i + 1);
                t.barrier.wait();
                for (int m = 0; m < 16; m++) {
                    if (i <= m) {
                        const int cx = i + 1, cy = m - i + 1;
                        int best = part[cy - 1][cx - 1] + block_likeness[cy - 1][cx - 1];
                        if (part[cy][cx - 1] - penalty > best) best = part[cy][cx - 1] - penalty;
                        if (part[cy - 1][cx] - penalty > best) best = part[cy - 1][cx] - penalty;
                        part[cy][cx] = best;
                    }
                    t.barrier.wait();
                }
                for (int m = 14; m >= 0; m--) {
                    if (i <= m) {
                        const int cx = i + 16 - m, cy = 16 - i;
                        int best = part[cy - 1][cx - 1] + block_likeness[cy - 1][cx - 1];
                        if (part[cy][cx - 1] - penalty > best) best = part[cy][cx - 1] - penalty;
                        if (part[cy - 1][cx] - penalty > best) best = part[cy - 1][cx] - penalty;
                        part[cy][cx] = best;
                    }
                    t.barrier.wait();
                }
                for (int k = 0; k < 16; k++)
                    score(y + k + 1, x + i + 1) = part[k + 1][i + 1];
            });
    }
}

// The Levenshtein distance of n words to a query. A word has 16 letters, packed four to a number.
void distance_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 20);
    p.n = {n};
    p.numbers(4 * size_t(n)), p.numbers(4), p.out<int>(n);
    for (unsigned *word = p.at<unsigned>(0); word < p.at<unsigned>(0) + 4 * size_t(n); word++)
        *word &= 0x03030303;
    for (int i = 0; i < 4; i++)
        p.at<unsigned>(1)[i] &= 0x03030303;
}
void distance_cpu(Problem &p) {
    const unsigned *query = p.at<unsigned>(1);
    for (int i = 0; i < p.n[0]; i++) {
        const unsigned *word = p.at<unsigned>(0) + 4 * size_t(i);
        int row[17];
        for (int x = 0; x <= 16; x++)
            row[x] = x;
        for (int y = 1; y <= 16; y++) {
            int corner = row[0];
            row[0] = y;
            for (int x = 1; x <= 16; x++) {
                const bool same =
                    (word[(y - 1) / 4] >> (y - 1) % 4 * 8 & 255) == (query[(x - 1) / 4] >> (x - 1) % 4 * 8 & 255);
                const int best = std::min(corner + !same, std::min(row[x], row[x - 1]) + 1);
                corner = row[x], row[x] = best;
            }
        }
        p.at<int>(2)[i] = row[16];
    }
}
void distance(Arrays &d) {
    const int n = d.n[0];
    array_view<const unsigned, 2> words(d.get<unsigned>(0, n, 4));
    array_view<const unsigned> query(d.get<unsigned>(1, 4));
    array_view<int> out(d.get<int>(2, n));
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) {
            int row[17];
            for (int x = 0; x <= 16; x++)
                row[x] = x;
            for (int y = 1; y <= 16; y++) {
                const unsigned letter = words(i[0], (y - 1) / 4) >> (y - 1) % 4 * 8 & 255;
                int corner = row[0];
                row[0] = y;
                for (int x = 1; x <= 16; x++) {
                    const unsigned other = query[(x - 1) / 4] >> (x - 1) % 4 * 8 & 255;
                    int best = letter == other ? corner : corner + 1;
                    if (row[x] + 1 < best) best = row[x] + 1;
                    if (row[x - 1] + 1 < best) best = row[x - 1] + 1;
                    corner = row[x];
                    row[x] = best;
                }
            }
            out[i] = row[16];
        });
}

// Finds a pattern of 8 letters in a text. The text packs four letters into a number.
void search_data(Problem &p) {
    const int n = p.pick(1 << 16, 1 << 24);
    p.n = {n, 8};
    unsigned *text = p.numbers(n / 4 + 2);
    for (int i = 0; i < n / 4 + 2; i++)
        text[i] &= 0x01010101;
    unsigned *pattern = p.in<unsigned>(8);
    for (int i = 0; i < 8; i++)
        pattern[i] = i % 3 == 0;
    p.out<int>(1), p.out<int>(n / 32);
}
void search_cpu(Problem &p) {
    const char *text = p.at<char>(0);
    for (int i = 0; i < p.n[0]; i++) {
        int k = 0;
        while (k < p.n[1] && text[i + k] == static_cast<char>(p.at<unsigned>(1)[k]))
            k++;
        if (k < p.n[1]) continue;
        p.at<int>(2)[0]++, p.at<unsigned>(3)[i / 32] |= 1U << i % 32;
    }
}
void search(Arrays &d) {
    const int n = d.n[0], length = d.n[1];
    const array<unsigned> &text = d.get<unsigned>(0, n / 4 + 2), &pattern = d.get<unsigned>(1, length);
    array<int> &count = d.get<int>(2, 1);
    array<unsigned> &match_bits = d.get<unsigned>(3, n / 32);
    parallel_for_each(
        match_bits.extent, [&](index<1> i) restrict(amp) {
            match_bits[i] = 0;
            if (i[0] == 0) count[0] = 0;
        });
    parallel_for_each(
        extent<1>(n), [&text, &pattern, &count, &match_bits, length ](index<1> idx) restrict(amp) {
            const int i = idx[0];
            int k = 0;
            while (k < length && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
                k++;
            if (k < length) return;
            atomic_fetch_inc(&count[0]);
            atomic_fetch_or(&match_bits[i / 32], 1U << i % 32);
        });
}

// SHA-256: each thread hashes one block of 16 words.
const unsigned sha_keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
unsigned rotate_right(unsigned x, int by) restrict(amp, cpu) {
    return x >> by | x << (32 - by);
}
struct Sha {
    unsigned h[8];
    // Round `i` of the hash. `w` is a ring buffer of the last 16 words of the message schedule.
    void round(int i, unsigned *w, unsigned key) restrict(amp, cpu) {
        if (i >= 16) {
            const unsigned a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[(i + 9) & 15] +
                         (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
        }
        const unsigned s1 = rotate_right(h[4], 6) ^ rotate_right(h[4], 11) ^ rotate_right(h[4], 25),
                       choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
        const unsigned t1 = h[7] + s1 + choice + key + w[i & 15];
        const unsigned s0 = rotate_right(h[0], 2) ^ rotate_right(h[0], 13) ^ rotate_right(h[0], 22);
        const unsigned t2 = s0 + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (int k = 7; k > 0; k--)
            h[k] = h[k - 1];
        h[4] += t1;
        h[0] = t1 + t2;
    }
};
void sha_data(Problem &p) {
    const int n = p.pick(1 << 11, 1 << 20);
    p.n = {n};
    p.numbers(16 * size_t(n)), std::copy_n(sha_keys, 64, p.in<unsigned>(64)), p.out<unsigned>(8 * size_t(n));
}
void sha_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++) {
        unsigned w[16];
        std::copy_n(p.at<unsigned>(0) + 16 * size_t(i), 16, w);
        Sha s = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
        const Sha start = s;
        for (int k = 0; k < 64; k++)
            s.round(k, w, sha_keys[k]);
        for (int k = 0; k < 8; k++)
            p.at<unsigned>(2)[8 * size_t(i) + k] = s.h[k] + start.h[k];
    }
}
void sha(Arrays &d) {
    const int n = d.n[0];
    array_view<const unsigned, 2> in(d.get<unsigned>(0, n, 16));
    array_view<const unsigned> keys(d.get<unsigned>(1, 64));
    array_view<unsigned, 2> out(d.get<unsigned>(2, n, 8));
    parallel_for_each(
        extent<1>(n), [=](index<1> i) restrict(amp) {
            unsigned w[16];
            for (int k = 0; k < 16; k++)
                w[k] = in(i[0], k);
            Sha s = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
            const Sha start = s;
            for (int k = 0; k < 64; k++)
                s.round(k, w, keys[k]);
            for (int k = 0; k < 8; k++)
                out(i[0], k) = s.h[k] + start.h[k];
        });
}

// Ten rounds of an AES-like cipher, with a lookup table of 256 words in tile_static memory.
void cipher_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 22);
    p.n = {n};
    p.numbers(4 * size_t(n)), p.numbers(256), p.numbers(44), p.out<unsigned>(4 * size_t(n));
    p.bytes = 32.0 * n;
}
struct Words {
    unsigned x, y, z, w;
};
void cipher_cpu(Problem &p) {
    const unsigned *table = p.at<unsigned>(1), *key = p.at<unsigned>(2);
    for (int i = 0; i < p.n[0]; i++) {
        const Words in = p.at<Words>(0)[i];
        unsigned s[4] = {in.x ^ key[0], in.y ^ key[1], in.z ^ key[2], in.w ^ key[3]};
        for (int round = 1; round <= 10; round++) {
            unsigned t[4];
            for (int k = 0; k < 4; k++)
                t[k] = table[s[k] >> 24] ^ rotate_right(table[s[(k + 1) & 3] >> 16 & 255], 8) ^
                       rotate_right(table[s[(k + 2) & 3] >> 8 & 255], 16) ^
                       rotate_right(table[s[(k + 3) & 3] & 255], 24) ^ key[4 * round + k];
            std::copy_n(t, 4, s);
        }
        p.at<Words>(3)[i] = {s[0], s[1], s[2], s[3]};
    }
}
void cipher(Arrays &d) {
    const int n = d.n[0];
    const array<Words> &in = d.get<Words>(0, n);
    const array<unsigned> &table = d.get<unsigned>(1, 256), &key = d.get<unsigned>(2, 44);
    array<Words> &out = d.get<Words>(3, n);
    parallel_for_each(
        in.extent.tile<256>(), [&in, &table, &key, &out ](tiled_index<256> t) restrict(amp) {
            tile_static unsigned lut[256];
            lut[t.local[0]] = table[t.local[0]];
            t.barrier.wait();
            const Words from = in[t.global];
            unsigned s[4] = {from.x ^ key[0], from.y ^ key[1], from.z ^ key[2], from.w ^ key[3]};
            for (int round = 1; round <= 10; round++) {
                unsigned next[4];
                for (int k = 0; k < 4; k++)
                    next[k] = lut[s[k] >> 24] ^ rotate_right(lut[s[(k + 1) & 3] >> 16 & 255], 8) ^
                              rotate_right(lut[s[(k + 2) & 3] >> 8 & 255], 16) ^
                              rotate_right(lut[s[(k + 3) & 3] & 255], 24) ^ key[4 * round + k];
                for (int k = 0; k < 4; k++)
                    s[k] = next[k];
            }
            const Words result = {s[0], s[1], s[2], s[3]};
            out[t.global] = result;
        });
}

} // namespace

void tables(std::vector<Case> &all) {
    all.insert(all.end(), {{"pathfinder", pathfinder_data, pathfinder_cpu, pathfinder},
                           {"Needleman-Wunsch", alignment_data, alignment_cpu, alignment},
                           {"Levenshtein", distance_data, distance_cpu, distance},
                           {"string search", search_data, search_cpu, search},
                           {"SHA-256", sha_data, sha_cpu, sha},
                           {"cipher by tables", cipher_data, cipher_cpu, cipher}});
}
} // namespace SUITE_FAMILY
