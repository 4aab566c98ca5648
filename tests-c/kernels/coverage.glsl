// The shared part of coverage*.comp. Each invocation has its own element of `seen`. It counts its runs in `times`, and stores
// its workgroup's index and the number of workgroups, each folded to one integer.
struct Seen { uint times; uint group; uint groups; uint local; };
layout(set = 0, binding = 0) buffer Records { Seen seen[]; };
layout(push_constant) uniform Push { uvec3 size; };
uint fold(uvec3 at, uvec3 by) { return (at.z * by.y + at.y) * by.x + at.x; }
void main() {
    uvec3 at = gl_GlobalInvocationID;
    if (any(greaterThanEqual(at, size))) return;
    uint i = fold(at, size);
    atomicAdd(seen[i].times, 1);
    seen[i].group = fold(gl_WorkGroupID, gl_NumWorkGroups);
    seen[i].groups = fold(gl_NumWorkGroups, uvec3(4096));
    seen[i].local = gl_LocalInvocationIndex;
}
