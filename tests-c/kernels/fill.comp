#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint value; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < data.length()) data[i] = value;
}
