// Copies 16-byte words, four for each thread. Each workgroup copies 16 contiguous KiB.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Source { uvec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer Destination { uvec4 v[]; };
layout(push_constant) uniform Push { Source source; Destination destination; uint count; };
void main() {
    uint i = gl_WorkGroupID.x * 1024 + gl_LocalInvocationID.x;
    uvec4 w[4];
    for (uint k = 0; k < 4; k++) if (i + k * 256 < count) w[k] = source.v[i + k * 256];
    for (uint k = 0; k < 4; k++) if (i + k * 256 < count) destination.v[i + k * 256] = w[k];
}
