// c = a b by tiles of 16 x 16 in shared memory.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { float c[]; };
shared float left[16][16], right[16][16];
void main() {
    uint row = gl_LocalInvocationID.y, column = gl_LocalInvocationID.x;
    uint y = gl_GlobalInvocationID.y, x = gl_GlobalInvocationID.x;
    float sum = 0;
    for (uint k = 0; k < n; k += 16) {
        left[row][column] = a[y * n + k + column];
        right[row][column] = b[(k + row) * n + x];
        barrier();
        for (uint j = 0; j < 16; j++) sum += left[row][j] * right[j][column];
        barrier();
    }
    c[y * n + x] = sum;
}
