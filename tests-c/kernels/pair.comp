#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { Floats x; Floats y; float a; uint n; };
layout(push_constant) uniform Push { uvec2 block; }; // the address of the argument block, as two 32-bit words
void main() {
    Block b = Block(block);
    uint i = gl_GlobalInvocationID.x;
    if (i < b.n) b.y.at[i] = b.a * b.x.at[i] + b.y.at[i];
}
