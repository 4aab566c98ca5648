#version 450
// drivers.py must report this kernel: RADV does not support atomic additions of doubles on any chip.
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer B { double sum; };
void main() {
    atomicAdd(sum, double(gl_GlobalInvocationID.x));
}
