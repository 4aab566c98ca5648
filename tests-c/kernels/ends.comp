#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// Adds 1 to the first number of `array`, and to the number at the byte offset `last`.
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Number { uint value; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Block { uint64_t array; uint64_t last; };
layout(push_constant) uniform Push { Block b; };
void main() {
    Number(b.array).value += 1;
    Number(b.array + b.last).value += 1;
}
