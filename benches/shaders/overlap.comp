// Scrambles each value so many times: as much work for each byte as is wanted.
#version 460
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };
layout(push_constant) uniform Push { uint rounds; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= values.length()) return;
    uint v = values[i];
    for (uint r = 0; r < rounds; r++) v = (v ^ v >> 15) * 0x2c1b3c6du + r;
    values[i] = v;
}
