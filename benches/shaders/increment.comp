// Increments 64 elements from `base` on. Two launches with the same `base` depend on each other.
#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };
layout(push_constant) uniform Push { uint base; };
void main() { values[base + gl_GlobalInvocationID.x] += 1; }
