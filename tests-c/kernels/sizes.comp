#version 450
layout(local_size_x = 1) in;
// 24 bytes before the run-time array, 8 for each of its elements.
layout(std430, set = 0, binding = 0) buffer Data { uint head[6]; uvec2 rest[]; };
void main() { if (rest.length() > 0) rest[0] = uvec2(head[0], rest.length()); }
