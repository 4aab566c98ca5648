#version 450
// Scrambles each value many times: work enough to hide copies behind.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Constants { uint rounds; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= values.length()) return;
    uint v = values[i];
    for (uint r = 0; r < rounds; r++) v = (v ^ v >> 15) * 0x2c1b3c6du + r;
    values[i] = v;
}
