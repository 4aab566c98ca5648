// The peer of the empty lambda (launch_kernels.cpp). It binds four buffers. `end` is the number of threads, so no buffer is accessed.
#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1, std430) readonly buffer Y { uint y[]; };
layout(set = 0, binding = 2, std430) readonly buffer Z { uint z[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Out { uint o[]; };
layout(push_constant) uniform Push { uint end; };
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= end) o[i] = x[i] + y[i] + z[i];
}
