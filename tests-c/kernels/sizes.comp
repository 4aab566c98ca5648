#version 450
layout(local_size_x = 1) in;
// The run-time array `rest` begins at byte 24. Each of its elements has 8 bytes.
layout(std430, set = 0, binding = 0) buffer Data { uint head[6]; uvec2 rest[]; };
void main() { if (rest.length() > 0) rest[0] = uvec2(head[0], rest.length()); }
