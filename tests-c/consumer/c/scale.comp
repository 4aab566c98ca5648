#version 450
#extension GL_GOOGLE_include_directive : require
#include "factor.glsl"
#ifndef TIMES
#define TIMES 1
#endif
layout(local_size_x = 64) in;
layout(binding = 0) buffer Data { float data[]; };
layout(push_constant) uniform Push { uint count; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) data[i] *= FACTOR * TIMES;
}
