#version 450
// Adds atomically through two bindings, which may refer to the same memory.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(push_constant) uniform Push { uint n; uint value; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= n) return;
    atomicAdd(a[i], value);
    atomicAdd(b[i], value);
}
