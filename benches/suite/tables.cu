// The CUDA side of the family `tables` of the kernel suite: the kernels of tables.cpp, written in CUDA.
#include "cuda.h"

namespace {

__global__ void pathfinder_first(const int *wall, int *from, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) from[i] = wall[i];
}
__global__ void pathfinder_row(const int *wall, const int *from, int *to, int row, int n) {
    __shared__ int part[258];
    const int x = blockIdx.x * 256 + threadIdx.x, i = threadIdx.x + 1;
    part[i] = from[x];
    if (i == 1) part[0] = from[x > 0 ? x - 1 : 0];
    if (i == 256) part[257] = from[x < n - 1 ? x + 1 : n - 1];
    __syncthreads();
    int cheapest = part[i];
    if (part[i - 1] < cheapest) cheapest = part[i - 1];
    if (part[i + 1] < cheapest) cheapest = part[i + 1];
    to[x] = wall[row * n + x] + cheapest;
}
void pathfinder(void *const *b, const int *n) {
    int *from = buffer<int>(b, n[1] % 2 == 0 ? 1 : 2), *to = buffer<int>(b, n[1] % 2 == 0 ? 2 : 1);
    pathfinder_first<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<int>(b, 0), from, n[0]);
    for (int row = 1; row < n[1]; row++) {
        pathfinder_row<<<n[0] / 256, 256>>>(buffer<int>(b, 0), from, to, row, n[0]);
        int *previous = from;
        from = to;
        to = previous;
    }
}

__global__ void alignment_borders(int *score, int penalty, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    score[i] = -penalty * i;
    score[i * (n + 1)] = -penalty * i;
}
__global__ void alignment_blocks(const int *likeness, int *score, int diagonal, int first, int penalty, int n) {
    __shared__ int part[17][17];
    __shared__ int block_likeness[16][16];
    const int i = threadIdx.x, bx = first + blockIdx.x, by = diagonal - bx, y = by * 16, x = bx * 16, width = n + 1;
    if (i == 0) part[0][0] = score[y * width + x];
    for (int k = 0; k < 16; k++)
        block_likeness[k][i] = likeness[(y + k) * n + x + i];
    __syncthreads();
    part[i + 1][0] = score[(y + i + 1) * width + x];
    part[0][i + 1] = score[y * width + x + i + 1];
    __syncthreads();
    for (int m = 0; m < 16; m++) {
        if (i <= m) {
            const int cx = i + 1, cy = m - i + 1;
            int best = part[cy - 1][cx - 1] + block_likeness[cy - 1][cx - 1];
            if (part[cy][cx - 1] - penalty > best) best = part[cy][cx - 1] - penalty;
            if (part[cy - 1][cx] - penalty > best) best = part[cy - 1][cx] - penalty;
            part[cy][cx] = best;
        }
        __syncthreads();
    }
    for (int m = 14; m >= 0; m--) {
        if (i <= m) {
            const int cx = i + 16 - m, cy = 16 - i;
            int best = part[cy - 1][cx - 1] + block_likeness[cy - 1][cx - 1];
            if (part[cy][cx - 1] - penalty > best) best = part[cy][cx - 1] - penalty;
            if (part[cy - 1][cx] - penalty > best) best = part[cy - 1][cx] - penalty;
            part[cy][cx] = best;
        }
        __syncthreads();
    }
    for (int k = 0; k < 16; k++)
        score[(y + k + 1) * width + x + i + 1] = part[k + 1][i + 1];
}
void alignment(void *const *b, const int *n) {
    alignment_borders<<<grid(block_1d(), n[0] + 1), block_1d()>>>(buffer<int>(b, 1), 10, n[0]);
    const int blocks = n[0] / 16;
    for (int diagonal = 0; diagonal < 2 * blocks - 1; diagonal++) {
        const int first = diagonal < blocks ? 0 : diagonal - blocks + 1;
        const int count = diagonal < blocks ? diagonal + 1 : 2 * blocks - 1 - diagonal;
        alignment_blocks<<<count, 16>>>(buffer<int>(b, 0), buffer<int>(b, 1), diagonal, first, 10, n[0]);
    }
}

__global__ void distance_kernel(const unsigned *words, const unsigned *query, int *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row[17];
    for (int x = 0; x <= 16; x++)
        row[x] = x;
    for (int y = 1; y <= 16; y++) {
        const unsigned letter = words[i * 4 + (y - 1) / 4] >> (y - 1) % 4 * 8 & 255;
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
}
void distance(void *const *b, const int *n) {
    distance_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1),
                                                            buffer<int>(b, 2), n[0]);
}

__global__ void search_clear(int *count, unsigned *match_bits, int words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words) match_bits[i] = 0;
    if (i == 0) count[0] = 0;
}
__global__ void search_kernel(const unsigned *text, const unsigned *pattern, int *count, unsigned *match_bits, int n,
                              int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
    while (k < length && (text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k])
        k++;
    if (k < length) return;
    atomicAdd(count, 1);
    atomicOr(&match_bits[i / 32], 1U << i % 32);
}
void search(void *const *b, const int *n) {
    search_clear<<<grid(block_1d(), n[0] / 32), block_1d()>>>(buffer<int>(b, 2), buffer<unsigned>(b, 3), n[0] / 32);
    search_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1),
                                                          buffer<int>(b, 2), buffer<unsigned>(b, 3), n[0], n[1]);
}

__device__ unsigned rotate_right(unsigned x, int by) {
    return x >> by | x << (32 - by);
}
struct Sha {
    unsigned h[8];
    __device__ void round(int i, unsigned *w, unsigned key) {
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
__global__ void sha_kernel(const unsigned *in, const unsigned *keys, unsigned *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[16];
    for (int k = 0; k < 16; k++)
        w[k] = in[i * 16 + k];
    Sha s = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    const Sha start = s;
    for (int k = 0; k < 64; k++)
        s.round(k, w, keys[k]);
    for (int k = 0; k < 8; k++)
        out[i * 8 + k] = s.h[k] + start.h[k];
}
void sha(void *const *b, const int *n) {
    sha_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), buffer<unsigned>(b, 1),
                                                       buffer<unsigned>(b, 2), n[0]);
}

struct Words {
    unsigned x, y, z, w;
};
__global__ void cipher_kernel(const Words *in, const unsigned *table, const unsigned *key, Words *out) {
    __shared__ unsigned lut[256];
    lut[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const Words from = in[blockIdx.x * 256 + threadIdx.x];
    unsigned s[4] = {from.x ^ key[0], from.y ^ key[1], from.z ^ key[2], from.w ^ key[3]};
    for (int round = 1; round <= 10; round++) {
        unsigned next[4];
        for (int k = 0; k < 4; k++)
            next[k] = lut[s[k] >> 24] ^ rotate_right(lut[s[(k + 1) & 3] >> 16 & 255], 8) ^
                      rotate_right(lut[s[(k + 2) & 3] >> 8 & 255], 16) ^ rotate_right(lut[s[(k + 3) & 3] & 255], 24) ^
                      key[4 * round + k];
        for (int k = 0; k < 4; k++)
            s[k] = next[k];
    }
    const Words result = {s[0], s[1], s[2], s[3]};
    out[blockIdx.x * 256 + threadIdx.x] = result;
}
void cipher(void *const *b, const int *n) {
    cipher_kernel<<<n[0] / 256, 256>>>(buffer<Words>(b, 0), buffer<unsigned>(b, 1), buffer<unsigned>(b, 2),
                                       buffer<Words>(b, 3));
}

const CudaCase tables_cases[] = {{"pathfinder", pathfinder}, {"Needleman-Wunsch", alignment},
                                 {"Levenshtein", distance},  {"string search", search},
                                 {"SHA-256", sha},           {"cipher by tables", cipher}};

} // namespace
