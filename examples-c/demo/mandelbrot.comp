#version 450
// The same steps as escape_at() in mandelbrot.c. "precise" rounds each operation: fma would move the edge of the set.
layout(local_size_x = 16, local_size_y = 16) in;

struct Escape {
    uint steps;
    float distance; // the squared distance from 0 after the last step
};
layout(set = 0, binding = 0) writeonly buffer Escapes { Escape escapes[]; };
layout(push_constant) uniform Constants {
    float left;
    float top;
    float pixel;
    uint width;
    uint height;
    uint max_steps;
};

void main() {
    uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
    if (column >= width || row >= height) return;
    precise float cx = left + float(column) * pixel, cy = top - float(row) * pixel;
    precise float x = 0, y = 0, xx = 0, yy = 0;
    uint step = 0;
    while (step < max_steps && xx + yy < 256) {
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        step++;
    }
    escapes[row * width + column] = Escape(step, xx + yy);
}
