#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform Push { int n, a_row_stride, b_row_stride, c_row_stride; };
shared float left[16][16];
shared float right[16][16];
void main() {
    const int y = int(gl_LocalInvocationID.y), x = int(gl_LocalInvocationID.x);
    const int gy = int(gl_GlobalInvocationID.y), gx = int(gl_GlobalInvocationID.x);
    float sum = 0.0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[gy * a_row_stride + k + x];
        right[y][x] = b[(k + y) * b_row_stride + gx];
        barrier();
        for (int i = 0; i < 16; ++i)
            sum += left[y][i] * right[i][x];
        barrier();
    }
    c[gy * c_row_stride + gx] = sum;
}
