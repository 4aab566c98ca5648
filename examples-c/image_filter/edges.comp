#version 450
// Sobel filter: computes the gradient of the brightness. Outside of the picture the sampler repeats the picture's edge.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D edges;

float brightness(ivec2 at) {
    vec2 size = vec2(textureSize(picture, 0));
    return dot(textureLod(picture, (vec2(at) + 0.5) / size, 0.0).rgb, vec3(0.25, 0.5, 0.25));
}

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(edges)))) return;
    float b[9];
    for (int i = 0; i < 9; i++) b[i] = brightness(at + ivec2(i % 3 - 1, i / 3 - 1));
    float x = b[2] + 2.0 * b[5] + b[8] - b[0] - 2.0 * b[3] - b[6];
    float y = b[6] + 2.0 * b[7] + b[8] - b[0] - 2.0 * b[1] - b[2];
    imageStore(edges, at, vec4(vec3(length(vec2(x, y))), 1.0));
}
