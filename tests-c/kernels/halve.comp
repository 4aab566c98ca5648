#version 450
// Computes a mipmap level from the next finer one.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform texture2D finer;
layout(set = 0, binding = 1) uniform sampler linear;
layout(set = 1, binding = 0, rgba32f) uniform writeonly image2D coarser;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(coarser);
    if (any(greaterThanEqual(at, size))) return;
    imageStore(coarser, at, textureLod(sampler2D(finer, linear), (vec2(at) + 0.5) / vec2(size), 0.0));
}
