// Computes the acceleration of each body due to all bodies.
#version 460
layout(push_constant) uniform Push { uint n; };
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer In { vec4 bodies[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Out { vec4 acceleration[]; };
shared vec4 chunk[256];
void main() {
    uint at = gl_GlobalInvocationID.x, local = gl_LocalInvocationID.x;
    vec4 me = bodies[at];
    vec3 sum = vec3(0);
    for (uint first = 0; first < n; first += 256) {
        chunk[local] = bodies[first + local];
        barrier();
        for (uint j = 0; j < 256; j++) {
            vec4 other = chunk[j];
            vec3 d = other.xyz - me.xyz;
            float inverse = inversesqrt(dot(d, d) + 0.01);
            sum += d * (other.w * inverse * inverse * inverse);
        }
        barrier();
    }
    acceleration[at] = vec4(sum, 0);
}
