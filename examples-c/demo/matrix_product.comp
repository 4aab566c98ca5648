#version 450
// c = a * b. All matrices are n x n, and n is a multiple of TILE. Each workgroup computes one tile of c from tiles of a
// and b in shared memory.
const uint TILE = 16;
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform Constants { uint n; };

shared float a_tile[TILE][TILE];
shared float b_tile[TILE][TILE];

void main() {
    uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    uint y = gl_LocalInvocationID.y, x = gl_LocalInvocationID.x;
    float sum = 0;
    for (uint k = 0; k < n; k += TILE) {
        a_tile[y][x] = a[row * n + k + x];
        b_tile[y][x] = b[(k + y) * n + column];
        barrier();
        for (uint i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        barrier(); // before the next iteration overwrites the tiles
    }
    c[row * n + column] = sum;
}
