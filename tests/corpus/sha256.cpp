// Brute-force search for the word with a given SHA-256 and MD5 hash among lower-case words of four letters. The search
// ends when both hashes are found.
#include "stdafx.h"
#include "timer.h"
#include <amp.h>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace concurrency;

typedef unsigned int uint32;

#define ROTLEFT(a, b) (((a) << (b)) | ((a) >> (32 - (b))))
#define ROTRIGHT(a, b) (((a) >> (b)) | ((a) << (32 - (b))))
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define EP0(x) (ROTRIGHT(x, 2) ^ ROTRIGHT(x, 13) ^ ROTRIGHT(x, 22))
#define EP1(x) (ROTRIGHT(x, 6) ^ ROTRIGHT(x, 11) ^ ROTRIGHT(x, 25))
#define SIG0(x) (ROTRIGHT(x, 7) ^ ROTRIGHT(x, 18) ^ ((x) >> 3))
#define SIG1(x) (ROTRIGHT(x, 17) ^ ROTRIGHT(x, 19) ^ ((x) >> 10))

static const uint32 k_host[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct hash_value {
    uint32 h[8];
};

// Hashes a message of at most 55 bytes, given as one block of 16 words
template <typename Table> hash_value sha256_block(const uint32 (&block)[16], const Table &k) restrict(amp, cpu) {
    uint32 m[64];
    for (int i = 0; i < 16; ++i)
        m[i] = block[i];
    for (int i = 16; i < 64; ++i)
        m[i] = SIG1(m[i - 2]) + m[i - 7] + SIG0(m[i - 15]) + m[i - 16];
    hash_value d = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    uint32 a = d.h[0], b = d.h[1], c = d.h[2], e = d.h[4], f = d.h[5], g = d.h[6], h = d.h[7], dd = d.h[3];
    for (int i = 0; i < 64; ++i) {
        const uint32 t1 = h + EP1(e) + CH(e, f, g) + k[i] + m[i];
        const uint32 t2 = EP0(a) + MAJ(a, b, c);
        h = g;
        g = f;
        f = e;
        e = dd + t1;
        dd = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    d.h[0] += a;
    d.h[1] += b;
    d.h[2] += c;
    d.h[3] += dd;
    d.h[4] += e;
    d.h[5] += f;
    d.h[6] += g;
    d.h[7] += h;
    return d;
}

inline uint32 word_of(int number) restrict(amp, cpu) {
    uint32 letters = 0;
    for (int i = 0; i < 4; ++i) {
        letters = (letters << 8) | ('a' + number % 26);
        number /= 26;
    }
    return letters;
}

inline void pad_big_endian(uint32 letters, uint32 (&block)[16]) restrict(amp, cpu) {
    for (int i = 0; i < 16; ++i)
        block[i] = 0;
    block[0] = letters;
    block[1] = 0x80000000u;
    block[15] = 32;
}

uint32 md5_of_word(uint32 letters) restrict(amp, cpu) {
    const uint32 K[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
        0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
        0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
        0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
        0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
        0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
        0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
    const int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32 m[16] = {0};
    m[0] = (letters >> 24) | ((letters >> 8) & 0xff00) | ((letters << 8) & 0xff0000) | (letters << 24);
    m[1] = 0x80;
    m[14] = 32;
    uint32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (int i = 0; i < 64; ++i) {
        uint32 f;
        int g;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d);
            g = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            g = (5 * i + 1) % 16;
            break;
        case 2:
            f = b ^ c ^ d;
            g = (3 * i + 5) % 16;
            break;
        default:
            f = c ^ (b | ~d);
            g = (7 * i) % 16;
            break;
        }
        const uint32 t = d;
        d = c;
        c = b;
        b = b + ROTLEFT(a + f + K[i] + m[g], shifts[i / 16][i % 4]);
        a = t;
    }
    return a + 0x67452301;
}

std::string text(uint32 letters) {
    std::string s;
    for (int shift = 24; shift >= 0; shift -= 8)
        s += char((letters >> shift) & 0xff);
    return s;
}

int main() {
    const int count = 26 * 26 * 26 * 26 / 16;
    const uint32 secret = word_of(12345);
    uint32 block[16];
    pad_big_endian(secret, block);
    const hash_value expected_hash = sha256_block(block, k_host);
    std::ostringstream hex;
    for (int i = 0; i < 8; ++i)
        hex << std::hex << std::setw(8) << std::setfill('0') << expected_hash.h[i];
    std::cout << "sha256(" << text(secret) << ") = " << hex.str() << std::endl;
    // The known hashes of "abcd"
    uint32 abcd[16];
    pad_big_endian(0x61626364, abcd);
    int failed = sha256_block(abcd, k_host).h[0] == 0x88d4266f ? 0 : 1;
    failed += md5_of_word(0x61626364) == 0x4c71fce2u ? 0 : 1;

    array_view<const uint32> k(64, k_host);
    std::vector<int> found(2, -1);
    array_view<int> found_vw(found);
    const uint32 expected_md5 = md5_of_word(secret);
    Timer timer;
    timer.Start();
    // The search runs in portions, because the driver would end a kernel that runs for two seconds
    const int portion = count / 8;
    for (int first = 0; first < count; first += portion) {
        parallel_for_each(
            extent<1>(portion), [=](index<1> idx) restrict(amp) {
                const int number = first + idx[0];
                const uint32 letters = word_of(number);
                uint32 candidate[16];
                pad_big_endian(letters, candidate);
                const hash_value d = sha256_block(candidate, k);
                bool same = true;
                for (int i = 0; i < 8; ++i)
                    same = same && d.h[i] == expected_hash.h[i];
                if (same) atomic_exchange(&found_vw[0], number);
                if (md5_of_word(letters) == expected_md5) atomic_exchange(&found_vw[1], number);
            });
        if (found_vw[0] >= 0 && found_vw[1] >= 0) break;
    }
    timer.Stop();
    for (int i = 0; i < 2; ++i) {
        std::cout << (i ? "MD5: " : "SHA-256: ") << (found_vw[i] < 0 ? "not found" : text(word_of(found_vw[i])))
                  << std::endl;
        failed += found_vw[i] == 12345 ? 0 : 1;
    }
    std::cout << timer.Elapsed() << " ms" << std::endl;
    return failed;
}
