#version 450
// Makes a mipmap level from the previous level: each texel is the mean of four.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) uniform sampler2D finer;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D coarser;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(coarser);
    if (all(lessThan(at, size))) imageStore(coarser, at, textureLod(finer, (vec2(at) + 0.5) / vec2(size), 0.0));
}
