#version 450
// drivers.py must report this kernel: its local variable of 200 KB needs scratch memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer B { int data[]; };
void main() {
    int table[50000];
    for (int i = 0; i < 50000; i++)
        table[data[i] % 50000] = data[i + 1];
    data[gl_GlobalInvocationID.x] = table[data[0] % 50000];
}
