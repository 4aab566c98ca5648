#version 450
// Integers of a texture, sampled with a sampler of its own.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform utexture2D codes;
layout(set = 0, binding = 1) uniform sampler nearest;
layout(set = 0, binding = 2) writeonly buffer Told { uint told[]; };
uint code_at(utexture2D from, sampler by, vec2 place) { return textureLod(usampler2D(from, by), place, 0.0).x; }
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < told.length()) told[i] = code_at(codes, nearest, vec2((float(i) + 0.5) / float(told.length()), 0.5));
}
