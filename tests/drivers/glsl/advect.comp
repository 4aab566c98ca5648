#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer Velocity { vec2 velocity[]; };
layout(set = 0, binding = 1) writeonly buffer To { vec2 to[]; };
layout(push_constant) uniform Push { int rows, columns, row_stride, to_row_stride; };
const int N = 256;
vec2 at(int y, int x) { return velocity[clamp(y, 0, N - 1) * row_stride + clamp(x, 0, N - 1)]; }
void main() {
    const ivec2 i = ivec2(gl_GlobalInvocationID.xy);
    if (i.y >= rows || i.x >= columns) return;
    const vec2 v = velocity[i.y * row_stride + i.x];
    const float y = i.y - 0.1 * N * v.y, x = i.x - 0.1 * N * v.x;
    const int y0 = int(y) - int(y < 0), x0 = int(x) - int(x < 0);
    const float fy = y - y0, fx = x - x0;
    to[i.y * to_row_stride + i.x] = mix(mix(at(y0, x0), at(y0, x0 + 1), fx),
        mix(at(y0 + 1, x0), at(y0 + 1, x0 + 1), fx), fy);
}
