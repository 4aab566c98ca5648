#version 450
// A box filter: each element becomes `gain` times the mean of its neighbourhood.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform Filter {
    ivec2 size;
    int radius;
    float gain;
};
layout(binding = 1) readonly buffer Source { float source[]; };
layout(binding = 2) writeonly buffer Target { float target[]; };
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, size))) return;
    float sum = 0;
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++) {
            ivec2 p = clamp(at + ivec2(x, y), ivec2(0), size - 1);
            sum += source[p.y * size.x + p.x];
        }
    int width = 2 * radius + 1;
    target[at.y * size.x + at.x] = gain * sum / float(width * width);
}
