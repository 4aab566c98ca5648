#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 1, binding = 0) readonly buffer B { uint b[]; };
layout(set = 2, binding = 3) writeonly buffer Out { uint sum[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < sum.length()) sum[i] = a[i] + 2 * b[i];
}
