#version 450
// A variable of 200 KB.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer B { int data[]; };
void main() {
    int own[50000];
    for (int i = 0; i < 50000; i++)
        own[data[i] % 50000] = data[i + 1];
    data[gl_GlobalInvocationID.x] = own[data[0] % 50000];
}
