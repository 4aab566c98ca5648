// One workgroup adds up the n / 4096 sums of compiled_reduce.comp.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 256) in;
layout(set = 0, binding = 1, std430) readonly buffer Sums { float v[]; };
layout(set = 0, binding = 2, std430) writeonly buffer All { float all_; };
shared float part[256];
void main() {
    uint local = gl_LocalInvocationID.x, count = n / 4096;
    float sum = 0;
    for (uint k = local; k < count; k += 256) sum += v[k];
    part[local] = sum;
    barrier();
    for (uint half_ = 128; half_ > 0; half_ /= 2) {
        if (local < half_) part[local] += part[local + half_];
        barrier();
    }
    if (local == 0) all_ = part[0];
}
