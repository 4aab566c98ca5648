#version 450
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint factor = 5;
layout(constant_id = 2) const float offset = 0.5;
layout(constant_id = 3) const bool negate = false;
layout(set = 0, binding = 0) writeonly buffer Data { int data[]; };
layout(set = 0, binding = 1) buffer Widths { uint widths[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 0) widths[gl_WorkGroupID.x] = gl_WorkGroupSize.x;
    if (i >= data.length()) return;
    int value = int(i * factor) + int(2.0 * offset);
    data[i] = negate ? -value : value;
}
