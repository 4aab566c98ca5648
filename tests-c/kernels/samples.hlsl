// Shaders like those of samples.glsl, but in HLSL.
[[vk::binding(0, 0)]] RWStructuredBuffer<uint> result;
#define AT2 uint2(i % 8, i / 8)

#ifdef CASE_constant_buffer
[[vk::binding(1)]] cbuffer Parameters { uint pad; uint offset; };
uint value(uint i) { return 3 * i + offset; }
#endif
#ifdef CASE_constant_buffer_with_a_type
struct Parameters { float3 a; uint offset; };
[[vk::binding(1)]] ConstantBuffer<Parameters> parameters;
uint value(uint i) { return 3 * i + parameters.offset; }
#endif
#ifdef CASE_constant_buffer_by_register
cbuffer Parameters : register(b1, space1) { uint offset; };
uint value(uint i) { return 3 * i + offset; }
#endif
#ifdef CASE_packed_constants
[[vk::binding(1)]] cbuffer Parameters { float2 a; float3 b; uint list[3]; uint c : packoffset(c7.y); };
uint value(uint i) { return 3 * i + list[2] + c - 7; }
#endif
#ifdef CASE_constant_matrix
[[vk::binding(1)]] cbuffer Parameters { row_major float4x4 m; float3x2 n; uint offset; };
uint value(uint i) { return 3 * i + asuint(m[1][2]) + offset - 7; }
#endif
#ifdef CASE_array_of_constant_buffers
struct Parameters { uint offset; };
[[vk::binding(1)]] ConstantBuffer<Parameters> parameters[3];
uint value(uint i) { return 3 * i + parameters[2].offset - 2; }
#endif
#ifdef CASE_structured_buffer
[[vk::binding(1)]] StructuredBuffer<uint> a;
uint value(uint i) { return 3 * a[i] + 7; }
#endif
#ifdef CASE_structures
struct Pair { uint x, y; };
[[vk::binding(1)]] StructuredBuffer<Pair> a;
uint value(uint i) { return a[i].x + a[i].y - i + 6; }
#endif
#ifdef CASE_written_buffers
[[vk::binding(1)]] RWStructuredBuffer<uint> a;
uint value(uint i) {
    a[i] += 1;
    return 3 * a[i] + 4;
}
#endif
#ifdef CASE_byte_address_buffer
[[vk::binding(1)]] ByteAddressBuffer a;
uint value(uint i) { return 3 * a.Load(4 * i) + 7; }
#endif
#ifdef CASE_written_byte_address_buffer
[[vk::binding(1)]] RWByteAddressBuffer a;
uint value(uint i) {
    uint before;
    a.InterlockedAdd(4 * i, 2u, before);
    return before + 2 * a.Load(4 * i) + 3;
}
#endif
#ifdef CASE_spaces
[[vk::binding(0, 1)]] StructuredBuffer<uint> a;
[[vk::binding(0, 2)]] StructuredBuffer<uint> b;
[[vk::binding(0, 3)]] cbuffer Parameters { uint c; };
uint value(uint i) { return a[i] + 2 * b[i] + c; }
#endif
#ifdef CASE_groupshared
groupshared uint tile[64];
uint value(uint i) {
    tile[63 - i] = i;
    GroupMemoryBarrierWithGroupSync();
    return 3 * (63 - tile[i]) + 7;
}
#endif
#ifdef CASE_push_constant
struct Push { uint a, b; };
[[vk::push_constant]] ConstantBuffer<Push> push;
uint value(uint i) { return 3 * i + push.b; }
#endif
#ifdef CASE_texture
[[vk::binding(1)]] Texture2D<uint> t;
uint value(uint i) { return 3 * t.Load(int3(AT2, 0)) + 7; }
#endif
#ifdef CASE_written_texture
[[vk::binding(1)]] RWTexture2D<uint> t;
uint value(uint i) { return 3 * t[AT2] + 7; }
#endif
#ifdef CASE_typed_buffer // refused: (texels) cannot be bound: uniform texel buffer; use a storage buffer or an image
[[vk::binding(1)]] Buffer<uint> texels;
uint value(uint i) { return texels[i]; }
#endif
#ifdef CASE_written_typed_buffer // refused: (texels) cannot be bound: storage texel buffer; use a storage buffer or an image
[[vk::binding(1)]] RWBuffer<uint> texels;
uint value(uint i) { return texels[i]; }
#endif
#ifdef CASE_texture_array // refused: (layers) cannot be bound: sampled image of an unsupported type; use an image of 1 to 3 dimensions
[[vk::binding(1)]] Texture2DArray<uint> layers;
uint value(uint i) { return layers.Load(int4(AT2, 0, 0)); }
#endif

[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) { result[id.x] = value(id.x); }
