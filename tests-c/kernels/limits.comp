#version 450
// Runs loops whose trip counts are unknown at compile time, so that no compiler unrolls them.
layout(local_size_x = 32) in;
layout(set = 3, binding = 1) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint kind; uint n; uint m; };

uint straight(uint x, uint n) {
    for (uint i = 0; i < n; i++) x = x * 1664525u + i;
    return x;
}
uint exits_early(uint x, uint n) {
    for (uint i = 0;; i++) {
        x = x * 1664525u + i;
        if (i == n) return x;
        if (x == 1234567u) break;
    }
    return 7u;
}
void main() {
    uint at = gl_GlobalInvocationID.x;
    if (at >= data.length()) return;
    uint x = data[at];
    switch (kind) {
    case 0u: x = straight(x, n); break;
    case 1u: for (uint i = 0; i < n; i++) x = straight(x, m) ^ i; break;
    case 2u: x = exits_early(x, n); break;
    default: if (at % 2 == kind % 2) x = straight(x, n); else x = straight(x, m) + 1u; break;
    }
    data[at] = x;
}
