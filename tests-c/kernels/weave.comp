#version 450
// Replaces each value n of the destination with 3 n + m. m is the value at the same position of the source, which repeats over the destination.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform utexture2D source;
layout(set = 0, binding = 1) uniform sampler nearest;
layout(set = 0, binding = 2, r32ui) uniform uimage2D destination;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(destination)))) return;
    vec2 size = vec2(textureSize(usampler2D(source, nearest), 0));
    uint m = textureLod(usampler2D(source, nearest), (mod(vec2(at), size) + 0.5) / size, 0.0).x;
    imageStore(destination, at, uvec4(3 * imageLoad(destination, at).x + m));
}
