#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) writeonly buffer Out { int counts[]; };
layout(push_constant) uniform Push { int rows, columns, row_stride; };
const int N = 256;
void main() {
    const ivec2 i = ivec2(gl_GlobalInvocationID.xy);
    if (i.y >= rows || i.x >= columns) return;
    const vec2 c = vec2(-2.0, -1.5) + 3.0 * vec2(i) / N;
    vec2 z = vec2(0);
    int n = 0;
    while (n < 100 && dot(z, z) < 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        ++n;
    }
    counts[i.y * row_stride + i.x] = n;
}
