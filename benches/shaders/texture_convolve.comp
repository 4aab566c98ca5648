// Each result is the mean of 7 x 7 texels, which the texture unit fetches. Texels outside the image count as 0.
#version 460
layout(local_size_x = 32, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform sampler2D from;
layout(set = 0, binding = 1, std430) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Push { int n; };
void main() {
    ivec2 i = ivec2(gl_GlobalInvocationID.xy);
    if (i.x >= n || i.y >= n) return;
    vec4 sum = vec4(0);
    for (int y = -3; y <= 3; ++y)
        for (int x = -3; x <= 3; ++x)
            sum += texelFetch(from, i + ivec2(x, y), 0);
    to[i.y * n + i.x] = packUnorm4x8(sum * (1.0 / 49.0));
}
