#version 450
layout(local_size_x = 1024) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
void main() { if (gl_LocalInvocationIndex == 0) atomicAdd(data[gl_WorkGroupID.x], 1); }
