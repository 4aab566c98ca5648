#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer P { float p[]; };
layout(set = 0, binding = 1) readonly buffer D { float divergence[]; };
layout(set = 0, binding = 2) writeonly buffer Next { float next[]; };
layout(push_constant) uniform Push { int rows, columns, p_row_stride, divergence_row_stride, next_row_stride; };
const int N = 256;
float at(int y, int x) { return p[clamp(y, 0, N - 1) * p_row_stride + clamp(x, 0, N - 1)]; }
void main() {
    const int y = int(gl_GlobalInvocationID.y), x = int(gl_GlobalInvocationID.x);
    if (y >= rows || x >= columns) return;
    next[y * next_row_stride + x] =
        (at(y, x - 1) + at(y, x + 1) + at(y - 1, x) + at(y + 1, x) - divergence[y * divergence_row_stride + x]) * 0.25;
}
