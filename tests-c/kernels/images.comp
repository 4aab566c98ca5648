#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Uses images of 1, 2 and 3 dimensions and different types: total = 2 total + line + box.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D total;
layout(set = 0, binding = 1) uniform itexture1D line;
layout(set = 0, binding = 2) uniform utexture3D box;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    uint n = 2 * imageLoad(total, at).x + uint(texelFetch(line, at.x, 0).x) + texelFetch(box, ivec3(at.x, at.y, 1), 0).y;
    imageStore(total, at, uvec4(n));
}
