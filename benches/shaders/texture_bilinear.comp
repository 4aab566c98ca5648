// The texture unit interpolates each result between four texels.
#version 460
layout(local_size_x = 32, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform sampler2D from;
layout(set = 0, binding = 1, std430) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Push { int n; };
void main() {
    ivec2 i = ivec2(gl_GlobalInvocationID.xy);
    if (i.x < n && i.y < n) to[i.y * n + i.x] = packUnorm4x8(textureLod(from, (vec2(i) + vec2(0.8, 0.7)) * (1.0 / n), 0));
}
