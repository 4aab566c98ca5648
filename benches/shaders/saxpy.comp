// y = a x + y, with x and y in bindings.
#version 460
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer X { float x[]; };
layout(set = 0, binding = 1, std430) buffer Y { float y[]; };
layout(push_constant) uniform Push { float a; uint count; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] = a * x[i] + y[i];
}
