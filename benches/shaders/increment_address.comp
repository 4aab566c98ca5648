// Increments 64 elements, like increment.comp, but the address of the elements is in an argument block.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Values { uint values[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { Values data; };
layout(push_constant) uniform Push { Block block; };
void main() { block.data.values[gl_GlobalInvocationID.x] += 1; }
