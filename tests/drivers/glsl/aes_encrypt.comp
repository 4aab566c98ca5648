#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
layout(set = 0, binding = 1) readonly buffer Table { uint table[]; };
layout(set = 0, binding = 2) readonly buffer Keys { uint round_keys[]; };
shared uint box[256];
shared uint keys[60];
uint state[16];
uint next[16];
uint xtime(uint x) { return ((x << 1) ^ ((x & 0x80u) != 0u ? 0x1Bu : 0u)) & 255u; }
void add_round_key(int round) {
    for (int i = 0; i < 16; ++i)
        state[i] ^= (keys[round * 4 + i / 4] >> (24 - 8 * (i % 4))) & 255u;
}
void main() {
    for (uint i = gl_LocalInvocationID.x; i < 256u; i += 32u)
        box[i] = table[i];
    for (uint i = gl_LocalInvocationID.x; i < 60u; i += 32u)
        keys[i] = round_keys[i];
    barrier();
    const uint block = gl_GlobalInvocationID.x;
    for (int i = 0; i < 16; ++i)
        state[i] = (data[block * 4 + i / 4] >> (24 - 8 * (i % 4))) & 255u;
    add_round_key(0);
    for (int round = 1; round <= 14; ++round) {
        for (int c = 0; c < 4; ++c)
            for (int r = 0; r < 4; ++r)
                next[4 * c + r] = box[state[4 * ((c + r) % 4) + r]];
        for (int c = 0; c < 4; ++c) {
            const uint all = next[4 * c] ^ next[4 * c + 1] ^ next[4 * c + 2] ^ next[4 * c + 3];
            for (int r = 0; r < 4; ++r) {
                const uint s = next[4 * c + r];
                state[4 * c + r] = round == 14 ? s : s ^ all ^ xtime(s ^ next[4 * c + (r + 1) % 4]);
            }
        }
        add_round_key(round);
    }
    for (int i = 0; i < 4; ++i)
        data[block * 4 + i] = (state[4 * i] << 24) | (state[4 * i + 1] << 16) | (state[4 * i + 2] << 8) | state[4 * i + 3];
}
