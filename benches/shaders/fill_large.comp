// Writes to each element a mix of the low and high halves of its 64-bit index. `count` may exceed 32 bits.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Value { uint value; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { uint64_t data; uint64_t count; };
layout(push_constant) uniform Push { Block block; };
void main() {
    const uint64_t step = uint64_t(gl_NumWorkGroups.x) * gl_WorkGroupSize.x;
    for (uint64_t i = gl_GlobalInvocationID.x; i < block.count; i += step)
        Value(block.data + i * 4).value = uint(i) ^ (uint(i >> 32) * 2654435761u);
}
