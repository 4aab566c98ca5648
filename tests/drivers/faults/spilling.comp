#version 450
// drivers.py must report this kernel: each of 1024 threads of a workgroup needs more registers than it can get, so the driver spills.
layout(local_size_x = 1024) in;
layout(set = 0, binding = 0) buffer B { vec4 data[]; };
void main() {
    const uint at = gl_GlobalInvocationID.x * 64;
    vec4 v[64];
    for (int i = 0; i < 64; i++)
        v[i] = data[at + i];
    memoryBarrierBuffer();
    barrier();
    for (int i = 0; i < 64; i++)
        data[at + i] = v[63 - i] * v[i];
}
