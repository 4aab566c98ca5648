#version 450
// The value of `rounds` determines how long the kernel takes.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Constants { uint rounds; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= values.length()) return;
    uint v = values[i];
    for (uint r = 0; r < rounds; r++) v = (v ^ r) + 1;
    values[i] = v;
}
