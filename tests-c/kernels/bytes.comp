// Replaces each of `count` bytes b with 3 b + 1. The bytes may begin at any address.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Bytes { uint8_t b[]; };
layout(buffer_reference, std430) readonly buffer Block {
    Bytes bytes;
    uint count;
};
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < block.count) block.bytes.b[i] = uint8_t(3 * uint(block.bytes.b[i]) + 1);
}
