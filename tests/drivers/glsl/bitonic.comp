#version 450
layout(local_size_x = 512) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint level; uint mask; };
shared uint s[512];
void main() {
    const uint l = gl_LocalInvocationID.x, g = gl_GlobalInvocationID.x;
    s[l] = data[g];
    barrier();
    for (uint j = level >> 1; j > 0u; j >>= 1) {
        const uint result = ((s[l & ~j] <= s[l | j]) == ((mask & g) != 0u)) ? s[l ^ j] : s[l];
        barrier();
        s[l] = result;
        barrier();
    }
    data[g] = s[l];
}
