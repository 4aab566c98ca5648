// Arithmetic work for case_accelerators.cpp. For each of `count` elements from `first` on, the kernel runs `turns` steps of a random
// number generator, and counts the steps after which the top bit of the state is set.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Values { uint values[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { Values data; uint first, count, turns; };
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= block.count) return;
    uint state = (block.first + i) * 2654435761u + 1u, high_bits = 0u;
    for (uint turn = 0u; turn < block.turns; turn++) {
        state = state * 1664525u + 1013904223u;
        high_bits += state >> 31;
    }
    block.data.values[i] = high_bits;
}
