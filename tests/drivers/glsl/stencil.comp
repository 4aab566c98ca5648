#version 450
layout(local_size_x = 32, local_size_y = 8) in;
layout(set = 0, binding = 0) readonly buffer In { float v[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float result[]; };
layout(push_constant) uniform Push { int domain_rows, domain_columns, rows, columns, row_stride, result_row_stride; };
void main() {
    const int y = int(gl_GlobalInvocationID.y), x = int(gl_GlobalInvocationID.x);
    if (y >= domain_rows || x >= domain_columns) return;
    const int i = y * row_stride + x;
    if (y > 0 && x > 0 && y + 1 < rows && x + 1 < columns) {
        result[y * result_row_stride + x] =
            0.5 * v[i] + 0.125 * (v[i - row_stride] + v[i + row_stride] + v[i - 1] + v[i + 1]);
    } else {
        result[y * result_row_stride + x] = v[i];
    }
}
