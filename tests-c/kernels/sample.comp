#version 450
// Samples a texture at each `place`: u, v and the level of detail.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1) readonly buffer Places { vec4 place[]; };
layout(set = 0, binding = 2) writeonly buffer Colours { vec4 colour[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < place.length()) colour[i] = textureLod(picture, place[i].xy, place[i].z);
}
