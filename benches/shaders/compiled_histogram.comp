// A histogram of 256 bins. Each thread counts 64 numbers in shared memory.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer In { uint v[]; };
layout(set = 0, binding = 1, std430) buffer Counts { uint counts[]; };
shared uint part[256];
void main() {
    uint local = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 16384 + local;
    part[local] = 0;
    barrier();
    for (uint k = 0; k < 64; k++) atomicAdd(part[v[first + k * 256] & 255], 1);
    barrier();
    atomicAdd(counts[local], part[local]);
}
