// y = 2 x + y.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer X { float x[]; };
layout(set = 0, binding = 1, std430) buffer Y { float y[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) y[i] = 2 * x[i] + y[i];
}
