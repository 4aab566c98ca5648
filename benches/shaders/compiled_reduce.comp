// Each thread adds up 16 elements. Each workgroup adds up the sums of its threads.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer In { float v[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Sums { float sums[]; };
shared float part[256];
void main() {
    uint local = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 4096 + local;
    float sum = 0;
    for (uint k = 0; k < 16; k++) sum += v[first + k * 256];
    part[local] = sum;
    barrier();
    for (uint half_ = 128; half_ > 0; half_ /= 2) {
        if (local < half_) part[local] += part[local + half_];
        barrier();
    }
    if (local == 0) sums[gl_WorkGroupID.x] = part[0];
}
