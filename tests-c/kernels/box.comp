#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// Changes each number x of the box `to`. The dimensions 0 to 2 of a box count elements; dimension 3 counts the numbers of an element.
// Mode 0: number k becomes 3 x + 1. Mode 1: value + k. Mode 2: 3 x + y, where y is number k modulo m of the box `from`.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Number { uint x; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block {
    uint64_t to; uint64_t from;
    uint mode; uint value; uint n; uint m;
    uint to_count[4]; uint to_stride[4]; uint from_count[4]; uint from_stride[4];
};
layout(push_constant) uniform Push { Block b; };
void main() {
    uint k = gl_GlobalInvocationID.x;
    if (k >= b.n) return;
    uint64_t at = 0, other = 0;
    uint rest = k;
    for (int d = 3; d >= 0; d--) {
        at += uint64_t(rest % b.to_count[d]) * b.to_stride[d];
        rest /= b.to_count[d];
    }
    Number to = Number(b.to + at);
    if (b.mode == 0) to.x = 3 * to.x + 1;
    if (b.mode == 1) to.x = b.value + k;
    if (b.mode != 2) return;
    rest = k % b.m;
    for (int d = 3; d >= 0; d--) {
        other += uint64_t(rest % b.from_count[d]) * b.from_stride[d];
        rest /= b.from_count[d];
    }
    to.x = 3 * to.x + Number(b.from + other).x;
}
