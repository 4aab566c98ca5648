// Copies `units` units of a CopyPlan (nested loops around a contiguous run), from the packed position `first` on.
// scripts/shaders compiles it twice, with UNIT = uvec4 (16 bytes) and UNIT = uint (4 bytes). The .spv files are checked in.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 256) in;

layout(buffer_reference, std430, buffer_reference_align = ALIGN) readonly buffer Source { UNIT data[]; };
layout(buffer_reference, std430, buffer_reference_align = ALIGN) writeonly buffer Destination { UNIT data[]; };

struct Dim {
    uint64_t count;
    uint64_t source; // stride in bytes
    uint64_t destination;
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Dims { Dim dims[]; };

layout(push_constant) uniform Push {
    uint64_t source;
    uint64_t destination;
    Dims dims; // innermost first
    uint64_t first;
    uint64_t units;
    uint64_t run; // units in a contiguous run
    uint rank;
} p;

void main() {
    uint64_t step = uint64_t(gl_NumWorkGroups.x) * 256ul;
    if (p.rank == 0u) {
        for (uint64_t i = gl_GlobalInvocationID.x; i < p.units; i += step) {
            uint64_t at = (p.first + i) * ALIGN;
            Destination(p.destination + at).data[0] = Source(p.source + at).data[0];
        }
        return;
    }
    // The remainder after all inner loops is the index of the outermost loop.
    uint outermost = p.rank - 1u;
    for (uint64_t i = gl_GlobalInvocationID.x; i < p.units; i += step) {
        uint64_t at = p.first + i;
        uint64_t source = p.source;
        uint64_t destination = p.destination;
        uint64_t rest;
        if (p.first + p.units <= 0xFFFFFFFFul) {
            // 32-bit division is several times faster.
            uint left = uint(at);
            uint run = uint(p.run);
            if (run != 1u) {
                uint64_t within = uint64_t(left % run) * ALIGN;
                left /= run;
                source += within;
                destination += within;
            }
            for (uint d = 0u; d < outermost; ++d) {
                Dim dim = p.dims.dims[d];
                uint count = uint(dim.count);
                uint64_t n = uint64_t(left % count);
                left /= count;
                source += n * dim.source;
                destination += n * dim.destination;
            }
            rest = uint64_t(left);
        } else {
            rest = at / p.run;
            uint64_t within = at % p.run * ALIGN;
            source += within;
            destination += within;
            for (uint d = 0u; d < outermost; ++d) {
                Dim dim = p.dims.dims[d];
                uint64_t n = rest % dim.count;
                rest /= dim.count;
                source += n * dim.source;
                destination += n * dim.destination;
            }
        }
        Dim dim = p.dims.dims[outermost];
        source += rest * dim.source;
        destination += rest * dim.destination;
        Destination(destination).data[0] = Source(source).data[0];
    }
}
