// A stencil of 5 points; the border is copied.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 32, local_size_y = 8) in;
layout(set = 0, binding = 0, std430) readonly buffer In { float v[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out { float result[]; };
void main() {
    uint y = gl_GlobalInvocationID.y, x = gl_GlobalInvocationID.x;
    if (y >= n || x >= n) return;
    uint i = y * n + x;
    if (y > 0 && x > 0 && y + 1 < n && x + 1 < n) {
        result[i] = 0.5 * v[i] + 0.125 * (v[i - n] + v[i + n] + v[i - 1] + v[i + 1]);
    } else {
        result[i] = v[i];
    }
}
