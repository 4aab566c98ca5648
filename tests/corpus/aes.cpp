// AES in ECB mode with keys of 128 and 256 bits: tables in tile_static memory, the state as an array of 16 unsigned.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <string.h>
#include <vector>

using namespace concurrency;

typedef unsigned int uint32;

struct tables {
    uint32 sbox[256];
    uint32 inv_sbox[256];
    tables() {
        unsigned char p = 1, q = 1;
        do {
            p = p ^ (unsigned char)(p << 1) ^ ((p & 0x80) ? 0x1B : 0);
            q ^= q << 1;
            q ^= q << 2;
            q ^= q << 4;
            if (q & 0x80) q ^= 0x09;
            unsigned char x = q ^ rotl8(q, 1) ^ rotl8(q, 2) ^ rotl8(q, 3) ^ rotl8(q, 4);
            sbox[p] = x ^ 0x63;
        } while (p != 1);
        sbox[0] = 0x63;
        for (int i = 0; i < 256; ++i)
            inv_sbox[sbox[i]] = i;
    }
    static unsigned char rotl8(unsigned char x, int shift) {
        return (unsigned char)((x << shift) | (x >> (8 - shift)));
    }
};

template <int key_bits> class aes {
  public:
    static const int key_words = key_bits / 32;
    static const int rounds = key_words + 6;
    static const int key_schedule = 4 * (rounds + 1);

    aes(const unsigned char *key) {
        for (int i = 0; i < key_words; ++i)
            m_round_keys[i] = (uint32(key[4 * i]) << 24) | (uint32(key[4 * i + 1]) << 16) |
                              (uint32(key[4 * i + 2]) << 8) | key[4 * i + 3];
        uint32 rcon = 1;
        for (int i = key_words; i < key_schedule; ++i) {
            uint32 t = m_round_keys[i - 1];
            if (i % key_words == 0) {
                t = sub_word((t << 8) | (t >> 24)) ^ (rcon << 24);
                rcon = (rcon << 1) ^ ((rcon & 0x80) ? 0x11B : 0);
            } else if (key_words > 6 && i % key_words == 4) {
                t = sub_word(t);
            }
            m_round_keys[i] = m_round_keys[i - key_words] ^ t;
        }
    }

    // `data` consists of whole blocks of four big-endian words.
    void encrypt(std::vector<uint32> &data) const { crypt<true>(data); }
    void decrypt(std::vector<uint32> &data) const { crypt<false>(data); }

    void encrypt_block_cpu(const uint32 *in, uint32 *out) const {
        uint32 state[16];
        load(state, in);
        encrypt_state(state, m_round_keys, m_tables.sbox);
        store(state, out);
    }

  private:
    uint32 m_round_keys[key_schedule];
    tables m_tables;

    uint32 sub_word(uint32 w) const {
        return (m_tables.sbox[w >> 24] << 24) | (m_tables.sbox[(w >> 16) & 255] << 16) |
               (m_tables.sbox[(w >> 8) & 255] << 8) | m_tables.sbox[w & 255];
    }
    static void load(uint32 (&state)[16], const uint32 *in) restrict(amp, cpu) {
        for (int i = 0; i < 16; ++i)
            state[i] = (in[i / 4] >> (24 - 8 * (i % 4))) & 255;
    }
    static void store(const uint32 (&state)[16], uint32 *out) restrict(amp, cpu) {
        for (int i = 0; i < 4; ++i)
            out[i] = (state[4 * i] << 24) | (state[4 * i + 1] << 16) | (state[4 * i + 2] << 8) | state[4 * i + 3];
    }
    static uint32 xtime(uint32 x) restrict(amp, cpu) { return ((x << 1) ^ ((x & 0x80) ? 0x1B : 0)) & 255; }
    static uint32 mul(uint32 x, int y) restrict(amp, cpu) {
        uint32 result = 0;
        for (; y; y >>= 1, x = xtime(x))
            if (y & 1) result ^= x;
        return result;
    }
    template <typename Keys>
    static void add_round_key(uint32 (&state)[16], const Keys &keys, int round) restrict(amp, cpu) {
        for (int i = 0; i < 16; ++i)
            state[i] ^= (keys[round * 4 + i / 4] >> (24 - 8 * (i % 4))) & 255;
    }
    template <typename Keys, typename Box>
    static void encrypt_state(uint32 (&state)[16], const Keys &keys, const Box &sbox) restrict(amp, cpu) {
        add_round_key(state, keys, 0);
        for (int round = 1; round <= rounds; ++round) {
            uint32 next[16];
            for (int c = 0; c < 4; ++c)
                for (int r = 0; r < 4; ++r)
                    next[4 * c + r] = sbox[state[4 * ((c + r) % 4) + r]];
            for (int c = 0; c < 4; ++c) {
                const uint32 *s = next + 4 * c;
                if (round == rounds) {
                    for (int r = 0; r < 4; ++r)
                        state[4 * c + r] = s[r];
                } else {
                    const uint32 all = s[0] ^ s[1] ^ s[2] ^ s[3];
                    for (int r = 0; r < 4; ++r)
                        state[4 * c + r] = s[r] ^ all ^ xtime(s[r] ^ s[(r + 1) % 4]);
                }
            }
            add_round_key(state, keys, round);
        }
    }
    template <typename Keys, typename Box>
    static void decrypt_state(uint32 (&state)[16], const Keys &keys, const Box &inv_sbox) restrict(amp, cpu) {
        add_round_key(state, keys, rounds);
        for (int round = rounds - 1; round >= 0; --round) {
            uint32 next[16];
            for (int c = 0; c < 4; ++c)
                for (int r = 0; r < 4; ++r)
                    next[4 * ((c + r) % 4) + r] = inv_sbox[state[4 * c + r]];
            add_round_key(next, keys, round);
            for (int c = 0; c < 4; ++c) {
                for (int r = 0; r < 4; ++r) {
                    const uint32 *s = next + 4 * c;
                    state[4 * c + r] = round == 0 ? s[r]
                                                  : mul(s[r], 14) ^ mul(s[(r + 1) % 4], 11) ^ mul(s[(r + 2) % 4], 13) ^
                                                        mul(s[(r + 3) % 4], 9);
                }
            }
        }
    }

    template <bool encrypts> void crypt(std::vector<uint32> &data) const {
        static const int tile_size = 32;
        const int blocks = static_cast<int>(data.size() / 4);
        array_view<uint32, 2> av_data(blocks, 4, data);
        array_view<const uint32> av_box(256, encrypts ? m_tables.sbox : m_tables.inv_sbox);
        array_view<const uint32> av_keys(key_schedule, m_round_keys);
        parallel_for_each(
            extent<1>(blocks).tile<tile_size>().pad(), [=](tiled_index<tile_size> tidx) restrict(amp) {
                tile_static uint32 box[256];
                tile_static uint32 keys[key_schedule];
                for (int i = tidx.local[0]; i < 256; i += tile_size)
                    box[i] = av_box[i];
                for (int i = tidx.local[0]; i < key_schedule; i += tile_size)
                    keys[i] = av_keys[i];
                tidx.barrier.wait_with_tile_static_memory_fence();
                const int block = tidx.global[0];
                if (block >= blocks) return;
                uint32 words[4], state[16];
                for (int i = 0; i < 4; ++i)
                    words[i] = av_data(block, i);
                load(state, words);
                if (encrypts)
                    encrypt_state(state, keys, box);
                else
                    decrypt_state(state, keys, box);
                store(state, words);
                for (int i = 0; i < 4; ++i)
                    av_data(block, i) = words[i];
            });
        av_data.synchronize();
    }
};

template <int bits> bool test(const uint32 (&expected)[4]) {
    unsigned char key[32];
    for (int i = 0; i < 32; ++i)
        key[i] = (unsigned char)i;
    aes<bits> cipher(key);
    // The example of FIPS-197, then arbitrary numbers
    std::vector<uint32> plain(4 * 100);
    for (int i = 0; i < 4; ++i)
        plain[i] = 0x00112233u + 0x44444444u * i;
    for (size_t i = 4; i < plain.size(); ++i)
        plain[i] = (uint32)i * 2654435761u;
    std::vector<uint32> data(plain), reference(plain.size());
    cipher.encrypt(data);
    for (size_t b = 0; b < plain.size(); b += 4)
        cipher.encrypt_block_cpu(&plain[b], &reference[b]);
    const bool matches_fips = memcmp(&data[0], expected, sizeof(expected)) == 0;
    const bool matches_cpu = data == reference;
    cipher.decrypt(data);
    std::cout << "AES-" << bits << ": example of FIPS-197 " << (matches_fips ? "ok" : "WRONG")
              << ", same result as on the CPU " << (matches_cpu ? "ok" : "WRONG") << ", round trip "
              << (data == plain ? "ok" : "WRONG") << std::endl;
    return matches_fips && matches_cpu && data == plain;
}

int main() {
    const uint32 expected_128[4] = {0x69c4e0d8u, 0x6a7b0430u, 0xd8cdb780u, 0x70b4c55au};
    const uint32 expected_256[4] = {0x8ea2b7cau, 0x516745bfu, 0xeafc4990u, 0x4b496089u};
    const bool short_key = test<128>(expected_128);
    return test<256>(expected_256) && short_key ? 0 : 1;
}
