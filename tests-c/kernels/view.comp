#version 460
#extension GL_EXT_buffer_reference : require
// Changes all elements of one view, or of two views with the same extent. Strides are arbitrary. support/views.c has an equivalent host kernel.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Numbers { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block {
    Numbers a; Numbers b; uint operation; uint value; uint count; uint rank;
    uint extent[5]; uint a_stride[5]; uint b_stride[5];
};
layout(push_constant) uniform Push { Block block; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= block.count) return;
    uint rest = i, a = 0, b = 0;
    for (uint d = block.rank; d-- > 0;) {
        uint index = rest % block.extent[d];
        rest /= block.extent[d];
        a += index * block.a_stride[d];
        b += index * block.b_stride[d];
    }
    switch (block.operation) {
    case 0: block.a.at[a] = 3 * block.a.at[a] + 1; break;
    case 1: block.a.at[a] = block.value + i; break;
    case 2: block.b.at[b] = block.a.at[a]; break;
    case 3:
        atomicAdd(block.a.at[a], block.value);
        atomicAdd(block.b.at[b], block.value);
        break;
    case 4: if (i == 0) block.a.at[a] = block.value; break;
    }
}
