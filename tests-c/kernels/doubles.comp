#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { double data[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < data.length()) data[i] = fma(data[i], 3.0lf, 1.0lf) / 7.0lf;
}
