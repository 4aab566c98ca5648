// Adds one to `count` elements, beginning with element `first`. If `count` is 0, the kernel only reads its argument block.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Values { uint values[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { uint first; uint count; Values data; };
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < block.count) block.data.values[block.first + i] += 1;
}
