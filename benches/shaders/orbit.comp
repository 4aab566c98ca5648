// How many of `turns` steps the point of each of `count` elements from `first` on stays near: much arithmetic, no memory.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Values { uint values[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { Values data; uint first, count, turns; };
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= block.count) return;
    uint state = (block.first + i) * 2654435761u + 1u, near = 0u;
    for (uint turn = 0u; turn < block.turns; turn++) {
        state = state * 1664525u + 1013904223u;
        near += state >> 31;
    }
    block.data.values[i] = near;
}
