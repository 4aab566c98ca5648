#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { vec4 positions[]; };
layout(set = 0, binding = 1) readonly buffer Speed { vec4 velocity[]; };
layout(set = 0, binding = 2) writeonly buffer Out { vec4 moved[]; };
layout(set = 0, binding = 3) writeonly buffer Next { vec4 next[]; };
layout(push_constant) uniform Push { int n; };
shared vec4 tile[64];
void main() {
    const uint l = gl_LocalInvocationID.x, g = gl_GlobalInvocationID.x;
    const vec4 pos = positions[g];
    vec4 vel = velocity[g], acc = vec4(0);
    for (int first = 0; first < n; first += 64) {
        tile[l] = positions[first + l];
        barrier();
        for (int j = 0; j < 64; ++j) {
            const vec4 r = tile[j] - pos;
            const float inverse = inversesqrt(dot(r.xyz, r.xyz) + 0.01);
            acc += r * (inverse * inverse * inverse);
        }
        barrier();
    }
    vel = (vel + acc * 0.1) * 0.9995;
    moved[g] = pos + vel * 0.1;
    next[g] = vel;
}
