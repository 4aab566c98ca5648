#version 460
// Multiplies each number by 3. The push constant is the address of the argument block.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Numbers { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { Numbers numbers; uint count; };
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < block.count) block.numbers.at[i] *= 3;
}
