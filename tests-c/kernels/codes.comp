#version 450
// Samples a texture of integers with a separate sampler.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform utexture2D codes;
layout(set = 0, binding = 1) uniform sampler nearest;
layout(set = 0, binding = 2) writeonly buffer Results { uint results[]; };
uint code_at(utexture2D from, sampler by, vec2 place) { return textureLod(usampler2D(from, by), place, 0.0).x; }
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < results.length()) results[i] = code_at(codes, nearest, vec2((float(i) + 0.5) / float(results.length()), 0.5));
}
