// y = a x + y, with the addresses of x and y in an argument block.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer In { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer InOut { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { In x; InOut y; float a; uint count; };
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < block.count) block.y.v[i] = block.a * block.x.v[i] + block.y.v[i];
}
