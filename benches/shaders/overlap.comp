// Scrambles each value `rounds` times. `rounds` sets the amount of work for each byte.
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
