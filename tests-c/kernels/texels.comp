#version 450
// Writes 3 n + 1 to each texel of the destination, where n is the value of the source's texel at the same position.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform usampler2D source;
layout(set = 0, binding = 1, r32ui) uniform writeonly uimage2D destination;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(at, imageSize(destination)))) imageStore(destination, at, 3 * texelFetch(source, at, 0) + 1);
}
