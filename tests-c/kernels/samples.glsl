// Compute shaders like those of public samples. tests-c/shaders.c runs each CASE_: thread i of 64 must write 3 i + 7 to element i of the
// buffer at binding 0 of set 0. In the other bindings, word j of a storage buffer and texel j of a texture are j. Words of uniform blocks and
// push constants are 7. In element e of a descriptor array, all values are e larger. Text after "refused" is part of the expected error message.
#version 460
#extension GL_EXT_scalar_block_layout : enable
#extension GL_EXT_shader_8bit_storage : enable
#extension GL_EXT_shader_16bit_storage : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_nonuniform_qualifier : enable
#extension GL_EXT_samplerless_texture_functions : enable
#if !defined(CASE_workgroup_by_constant)
layout(local_size_x = 64) in;
#endif
layout(set = 0, binding = 0) buffer Out { uint result[]; };
#define I gl_GlobalInvocationID.x
#define AT2 ivec2(I % 8, I / 8)
#define AT3 ivec3(I % 4, I / 4 % 4, I / 16)

#ifdef CASE_nothing_but_the_result
uint value() { return 3 * I + 7; }
#endif
#ifdef CASE_storage_buffer
layout(binding = 1) readonly buffer In { uint a[]; };
uint value() { return 3 * a[I] + 7; }
#endif
#ifdef CASE_uniform_block
layout(binding = 1) uniform Parameters { uint offset; };
uint value() { return 3 * I + offset; }
#endif
#ifdef CASE_uniform_block_with_an_instance
layout(binding = 1) uniform Parameters { uint pad[3]; uint offset; } parameters;
uint value() { return 3 * I + parameters.offset; }
#endif
#ifdef CASE_uniform_array
layout(binding = 1) uniform Parameters { uvec4 weights[16]; };
uint value() { return 3 * I + weights[I % 16].z; }
#endif
#ifdef CASE_uniform_matrix
layout(binding = 1) uniform Parameters { mat4 m; layout(row_major) mat3x4 r; };
uint value() { return 3 * I + floatBitsToUint(m[I % 4].y) + floatBitsToUint(r[1].w) - 7; }
#endif
#ifdef CASE_uniform_nested_structures
struct Light { vec3 place; uint kind; };
struct Scene { Light lights[4]; uint count; };
layout(binding = 1) uniform Parameters { Scene scene; };
uint value() { return 3 * I + scene.lights[I % 4].kind + scene.count - 7; }
#endif
#ifdef CASE_uniform_vec3_and_scalars
layout(binding = 1, std140) uniform Parameters { vec3 a; float b; bool c; uint d; };
uint value() { return c ? 3 * I + d : 0; }
#endif
#ifdef CASE_uniform_offsets
layout(binding = 1) uniform Parameters { layout(offset = 16) uint a; layout(offset = 64, align = 32) uint b; };
uint value() { return 3 * I + a + b - 7; }
#endif
#ifdef CASE_uniform_scalar_layout
layout(binding = 1, scalar) uniform Parameters { vec3 a; uint b; uint c[5]; };
uint value() { return 3 * I + b + c[4] - 7; }
#endif
#ifdef CASE_uniform_of_16_kib
layout(binding = 1) uniform Parameters { uvec4 table[1024]; };
uint value() { return 3 * I + table[16 * I + 15].w; }
#endif
#ifdef CASE_two_uniform_blocks
layout(binding = 1) uniform First { uint a; };
layout(binding = 2) uniform Second { uint b; };
uint value() { return 3 * I + a + b - 7; }
#endif
#ifdef CASE_uniform_block_of_another_set
layout(set = 1, binding = 0) uniform Parameters { uint offset; };
uint value() { return 3 * I + offset; }
#endif
#ifdef CASE_uniform_loop_bound
layout(binding = 1) uniform Parameters { uint count; };
uint value() {
    uint sum = 3 * I;
    for (uint n = 0; n < count; n++) sum++;
    return sum;
}
#endif
#ifdef CASE_uniform_block_and_push_constants
layout(binding = 1) uniform Parameters { uint a; };
layout(push_constant) uniform Push { uint b; uint c; };
uint value() { return 3 * I + a + b - c; }
#endif
#ifdef CASE_image_filter
layout(binding = 1) uniform Parameters { uint offset; } parameters;
layout(binding = 2) uniform usampler2D source;
layout(binding = 3, r32ui) uniform readonly uimage2D mask;
uint value() { return 2 * texelFetch(source, AT2, 0).x + imageLoad(mask, AT2).x + parameters.offset; }
#endif
#ifdef CASE_four_sets
layout(set = 1, binding = 0) readonly buffer A { uint a[]; };
layout(set = 2, binding = 0) readonly buffer B { uint b[]; };
layout(set = 3, binding = 0) uniform C { uint c; };
uint value() { return a[I] + 2 * b[I] + c; }
#endif
#ifdef CASE_sets_left_out
layout(set = 3, binding = 2) readonly buffer A { uint a[]; };
uint value() { return 3 * a[I] + 7; }
#endif
#ifdef CASE_high_numbers
layout(set = 1, binding = 900) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1000) uniform B { uint b; };
uint value() { return 3 * a[I] + b; }
#endif
#ifdef CASE_array_of_storage_buffers
layout(binding = 1) readonly buffer In { uint a[]; } inputs[3];
uint value() { return inputs[0].a[I] + inputs[1].a[I] + inputs[2].a[I] + 4; }
#endif
#ifdef CASE_array_of_storage_buffers_by_index
layout(binding = 1) readonly buffer In { uint a[]; } inputs[8];
layout(push_constant) uniform Push { uint which; };
uint value() { return 3 * inputs[which].a[I] - 14; }
#endif
#ifdef CASE_array_that_is_written
layout(binding = 1) buffer Scratch { uint a[]; } scratch[2];
uint value() {
    scratch[1].a[I] = 2 * scratch[0].a[I];
    return scratch[1].a[I] + I + 7;
}
#endif
#ifdef CASE_array_of_uniform_blocks
layout(binding = 1) uniform Parameters { uint offset; } parameters[4];
uint value() { return 3 * I + parameters[3].offset - 3; }
#endif
#ifdef CASE_array_of_uniform_blocks_by_index
layout(binding = 1) uniform Parameters { uint offset; } parameters[8];
layout(push_constant) uniform Push { uint which; };
uint value() { return 3 * I + parameters[which].offset - 7; }
#endif
#ifdef CASE_array_of_arrays // refused: (inputs) cannot be bound: array of descriptor arrays; write a single array
layout(binding = 1) readonly buffer In { uint a[]; } inputs[2][2];
uint value() { return 3 * inputs[1][1].a[I] - 2; }
#endif
#ifdef CASE_array_in_another_set_beside_a_block
layout(set = 1, binding = 3) readonly buffer In { uint a[]; } inputs[2];
layout(set = 1, binding = 1) uniform B { uint b; };
uint value() { return inputs[0].a[I] + 2 * inputs[1].a[I] - 2 + b; }
#endif
#ifdef CASE_header_and_runtime_array
layout(binding = 1) readonly buffer In { uint header[4]; uint a[]; };
uint value() { return 3 * a[I] - 12 + header[3] + 4; }
#endif
#ifdef CASE_two_views_of_one_buffer
layout(binding = 1) readonly buffer A { uint a[]; };
layout(binding = 1) readonly buffer B { uvec2 b[]; };
uint value() { return 2 * a[I] + b[I / 2][I % 2] + 7; }
#endif
#ifdef CASE_memory_qualifiers
layout(binding = 1) coherent restrict readonly buffer A { uint a[]; };
layout(binding = 2) volatile writeonly buffer B { uint b[]; };
uint value() {
    b[I] = 1;
    return 3 * a[I] + 7;
}
#endif
#ifdef CASE_atomics
layout(binding = 1) buffer A { uint a[]; };
uint value() { return atomicAdd(a[I], 5) * 3 + 7; }
#endif
#ifdef CASE_shared_memory
shared uint tile[64];
layout(binding = 1) readonly buffer A { uint a[]; };
uint value() {
    tile[63 - I] = a[I];
    barrier();
    return 3 * (63 - tile[I]) + 7;
}
#endif
#ifdef CASE_specialization_constants
layout(constant_id = 3) const uint offset = 7;
layout(constant_id = 4) const bool is_on = true;
uint value() { return is_on ? 3 * I + offset : 0; }
#endif
#ifdef CASE_array_length_by_constant
layout(constant_id = 3) const uint count = 2;
layout(binding = 1) uniform Parameters { uvec4 a[4]; };
uint value() {
    uint list[count];
    for (uint n = 0; n < count; n++) list[n] = a[n].x;
    return 3 * I + list[1];
}
#endif
#ifdef CASE_workgroup_by_constant
layout(local_size_x = 16, local_size_x_id = 0) in;
uint value() { return 3 * I + 7; }
#endif
#ifdef CASE_subgroups
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_vote : enable
#extension GL_KHR_shader_subgroup_ballot : enable
uint value() { return subgroupAll(gl_SubgroupSize > 0) && subgroupBroadcastFirst(9) == 9 ? 3 * I + 7 : 0; }
#endif
#ifdef CASE_integers_of_64_bits
layout(binding = 1) uniform Parameters { uint64_t big; };
uint value() { return 3 * I + uint(big >> 32); }
#endif
#ifdef CASE_doubles
layout(binding = 1) readonly buffer A { uint a[]; };
uint value() { return uint(double(a[I]) * 3.0lf + 7.0lf); }
#endif
#ifdef CASE_bytes
layout(binding = 1) readonly buffer A { uint8_t a[]; };
uint value() { return 3 * (uint(a[4 * I]) + uint(a[4 * I + 1])) + 7; }
#endif
#ifdef CASE_half_words
layout(binding = 1) readonly buffer A { uint16_t a[]; };
layout(binding = 2) uniform B { u16vec2 b; };
uint value() { return 3 * uint(a[2 * I]) + uint(b.x); }
#endif
#ifdef CASE_combined_image_sampler
layout(binding = 1) uniform usampler2D t;
uint value() { return 3 * texelFetch(t, AT2, 0).x + 7; }
#endif
#ifdef CASE_separate_image_and_sampler
layout(binding = 1) uniform utexture2D t;
layout(binding = 2) uniform sampler s;
uint value() { return 3 * textureLod(usampler2D(t, s), (vec2(AT2) + 0.5) / 8, 0).x + 7; }
#endif
#ifdef CASE_image_without_sampler
layout(binding = 1) uniform utexture2D t;
uint value() { return 3 * texelFetch(t, AT2, 0).x + 7; }
#endif
#ifdef CASE_images_of_one_and_three_dimensions
layout(binding = 1) uniform utexture1D one;
layout(binding = 2) uniform utexture3D three;
uint value() { return texelFetch(one, int(I), 0).x + 2 * texelFetch(three, AT3, 0).x + 7; }
#endif
#ifdef CASE_storage_images
layout(binding = 1, r32ui) uniform uimage2D two;
layout(binding = 2, r32ui) uniform readonly uimage3D three;
uint value() {
    imageStore(two, AT2, imageLoad(two, AT2) + 1);
    return imageLoad(two, AT2).x + 2 * imageLoad(three, AT3).x + 6;
}
#endif
#ifdef CASE_array_of_combined_image_samplers
layout(binding = 1) uniform usampler2D t[2];
uint value() { return texelFetch(t[0], AT2, 0).x + 2 * texelFetch(t[1], AT2, 0).x + 5; }
#endif
#ifdef CASE_array_of_images_and_of_samplers
layout(binding = 1) uniform utexture2D t[3];
layout(binding = 2) uniform sampler s[2];
uint value() { return 3 * textureLod(usampler2D(t[2], s[1]), (vec2(AT2) + 0.5) / 8, 0).x + 1; }
#endif
#ifdef CASE_array_of_storage_images
layout(binding = 1, r32ui) uniform readonly uimage2D t[2];
uint value() { return 3 * imageLoad(t[1], AT2).x + 4; }
#endif
#ifdef CASE_uniform_texel_buffer // refused: (texels) cannot be bound: uniform texel buffer; use a storage buffer or an image
layout(binding = 1) uniform usamplerBuffer texels;
uint value() { return texelFetch(texels, int(I)).x; }
#endif
#ifdef CASE_separate_texel_buffer // refused: (texels) cannot be bound: uniform texel buffer; use a storage buffer or an image
layout(binding = 1) uniform utextureBuffer texels;
uint value() { return texelFetch(texels, int(I)).x; }
#endif
#ifdef CASE_storage_texel_buffer // refused: (texels) cannot be bound: storage texel buffer; use a storage buffer or an image
layout(binding = 1, r32ui) uniform uimageBuffer texels;
uint value() { return imageLoad(texels, int(I)).x; }
#endif
#ifdef CASE_buffers_without_a_number // refused: (inputs) cannot be bound: descriptor array without a fixed length; give the array a length
layout(binding = 1) readonly buffer In { uint a[]; } inputs[];
uint value() { return inputs[nonuniformEXT(I)].a[0]; }
#endif
#ifdef CASE_buffers_by_constant // refused: (inputs) cannot be bound: descriptor array without a fixed length; give the array a length
layout(constant_id = 3) const uint count = 2;
layout(binding = 1) readonly buffer In { uint a[]; } inputs[count];
uint value() { return inputs[1].a[I]; }
#endif
#ifdef CASE_images_without_a_number // refused: (textures) cannot be bound: descriptor array without a fixed length; give the array a length
layout(set = 1, binding = 0) uniform usampler2D textures[];
uint value() { return texelFetch(textures[nonuniformEXT(I)], AT2, 0).x; }
#endif
#ifdef CASE_cube // refused: (cube) cannot be bound: combined image sampler of an unsupported type; use an image of 1 to 3 dimensions
layout(binding = 1) uniform usamplerCube cube;
uint value() { return textureLod(cube, vec3(1), 0).x; }
#endif
#ifdef CASE_layers // refused: (layers) cannot be bound: combined image sampler of an unsupported type; use an image of 1 to 3 dimensions
layout(binding = 1) uniform usampler2DArray layers;
uint value() { return texelFetch(layers, ivec3(AT2, 0), 0).x; }
#endif
#ifdef CASE_stored_layers // refused: (layers) cannot be bound: storage image of an unsupported type; use an image of 1 to 3 dimensions
layout(binding = 1, r32ui) uniform uimage2DArray layers;
uint value() { return imageLoad(layers, ivec3(AT2, 0)).x; }
#endif
#ifdef CASE_samples // refused: (samples) cannot be bound: combined image sampler of an unsupported type; use an image of 1 to 3 dimensions
layout(binding = 1) uniform usampler2DMS samples;
uint value() { return texelFetch(samples, AT2, 0).x; }
#endif
#ifdef CASE_comparison // refused: (depth) cannot be bound: combined image sampler of an unsupported type; use an image of 1 to 3 dimensions
layout(binding = 1) uniform sampler2DShadow depth;
uint value() { return uint(textureLod(depth, vec3(0.5), 0)); }
#endif
#ifdef CASE_wide_texels // refused: (texels) cannot be bound: storage image of an unsupported type; use an image of 1 to 3 dimensions
#extension GL_EXT_shader_image_int64 : enable
layout(binding = 1, r64ui) uniform u64image2D texels;
uint value() { return uint(imageLoad(texels, AT2).x); }
#endif
#ifdef CASE_ray_query // refused: (scene) cannot be bound: acceleration structure; use a uniform buffer
#extension GL_EXT_ray_query : enable
layout(binding = 1) uniform accelerationStructureEXT scene;
uint value() {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, scene, 0, 255, vec3(0), 0, vec3(1), 1);
    return rayQueryProceedEXT(query) ? 1 : 0;
}
#endif

void main() { result[I] = value(); }
