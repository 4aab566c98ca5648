#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Data { int data[]; };
void main() {
    data[gl_GlobalInvocationID.x] = -data[gl_GlobalInvocationID.x];
}
