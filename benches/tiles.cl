R"(
kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul(int n, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    local float left[16][16], right[16][16];
    const int row = get_local_id(1), column = get_local_id(0), y = get_global_id(1), x = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[row][column] = a[y * n + k + column];
        right[row][column] = b[(k + row) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++)
            sum += left[row][j] * right[j][column];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan(global const float *restrict in, global float *restrict out) {
    local float sums[2][256];
    const int local_id = get_local_id(0);
    int from = 0;
    sums[0][local_id] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < 256; step *= 2) {
        float sum = sums[from][local_id];
        if (local_id >= step) sum += sums[from][local_id - step];
        sums[1 - from][local_id] = sum;
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sums[from][local_id];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduction(global const float *restrict in, global float *restrict sums) {
    local float part[256];
    const int local_id = get_local_id(0);
    part[local_id] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = 128; half_size > 0; half_size /= 2) {
        if (local_id < half_size) part[local_id] += part[local_id + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (local_id == 0) sums[get_group_id(0)] = part[0];
}

kernel void zero(global int *counts) {
    counts[get_global_id(0)] = 0;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(global const int *restrict in, global int *restrict counts) {
    local int part[256];
    const int local_id = get_local_id(0), first = get_group_id(0) * 16384 + local_id;
    part[local_id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 64; k++)
        atomic_inc(&part[in[first + k * 256]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[local_id], part[local_id]);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void convolve_rows(int n, global const float *restrict in, global const float *restrict w, global float *restrict out) {
    local float line[256 + 16];
    const int y = get_global_id(1), x = get_global_id(0), local_id = get_local_id(0);
    line[local_id + 8] = in[y * n + x];
    if (local_id < 8) {
        line[local_id] = in[y * n + max(x - 8, 0)];
        line[local_id + 264] = in[y * n + min(x + 256, n - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k <= 16; k++)
        sum += w[k] * line[local_id + k];
    out[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void convolve_columns(int n, global const float *restrict in, global const float *restrict w,
                      global float *restrict out) {
    local float block[32][16];
    const int y = get_global_id(1), x = get_global_id(0), row = get_local_id(1), column = get_local_id(0);
    block[row][column] = in[max(y - 8, 0) * n + x];
    block[row + 16][column] = in[min(y + 8, n - 1) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k <= 16; k++)
        sum += w[k] * block[row + k][column];
    out[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void transpose(int n, global const float *restrict in, global float *restrict out) {
    local float block[16][16];
    const int row = get_local_id(1), column = get_local_id(0);
    block[row][column] = in[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * 16 + row) * n + get_group_id(1) * 16 + column] = block[column][row];
}

kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void fft(int all, global const float *restrict in, global const float *restrict roots, global float *restrict out) {
    local float re[2][1024], im[2][1024];
    const int local_id = get_local_id(0), first = get_group_id(0) * 1024 + local_id, half_size = 512;
    re[0][local_id] = in[first];
    re[0][local_id + half_size] = in[first + half_size];
    im[0][local_id] = in[all + first];
    im[0][local_id + half_size] = in[all + first + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = 0;
    for (int size = 1; size < 1024; size *= 2) {
        const int k = local_id & (size - 1), root = k * (half_size / size), to = 2 * local_id - k;
        const float c = roots[root], s = roots[half_size + root];
        const float x = re[from][local_id], y = im[from][local_id];
        const float u = re[from][local_id + half_size], v = im[from][local_id + half_size];
        const float p = c * u - s * v, q = s * u + c * v;
        from = 1 - from;
        re[from][to] = x + p;
        im[from][to] = y + q;
        re[from][to + size] = x - p;
        im[from][to + size] = y - q;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[first] = re[from][local_id];
    out[first + half_size] = re[from][local_id + half_size];
    out[all + first] = im[from][local_id];
    out[all + first + half_size] = im[from][local_id + half_size];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void bitonic(global const int *restrict in, global int *restrict out) {
    local int keys[256];
    const int local_id = get_local_id(0);
    keys[local_id] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            const int other = local_id ^ step;
            if (other > local_id) {
                const int x = keys[local_id], y = keys[other];
                if ((x > y) == ((local_id & size) == 0)) {
                    keys[local_id] = y;
                    keys[other] = x;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    out[get_global_id(0)] = keys[local_id];
}
)"
R"(
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void nbody(int n, global const float4 *restrict bodies, global float4 *restrict pulls) {
    local float4 near[256];
    const float4 me = bodies[get_global_id(0)];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += 256) {
        near[get_local_id(0)] = bodies[first + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 256; j++) {
            const float4 other = near[j];
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
            const float s = other.w * inverse * inverse * inverse;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    pulls[get_global_id(0)] = (float4)(x, y, z, 0);
}

kernel void copied(global const float *restrict from, global float *restrict to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void lu_diagonal(int n, int at, global float *restrict a) {
    local float m[16][16];
    const int local_id = get_local_id(0);
    for (int i = 0; i < 16; i++)
        m[i][local_id] = a[(at + i) * n + at + local_id];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 15; i++) {
        if (local_id > i) {
            for (int j = 0; j < i; j++)
                m[local_id][i] -= m[local_id][j] * m[j][i];
            m[local_id][i] /= m[i][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (local_id > i)
            for (int j = 0; j <= i; j++)
                m[i + 1][local_id] -= m[i + 1][j] * m[j][local_id];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 1; i < 16; i++)
        a[(at + i) * n + at + local_id] = m[i][local_id];
}

kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void lu_perimeter(int n, int at, global float *restrict a) {
    local float diagonal[16][16], right[16][16], below[16][16];
    const int local_id = get_local_id(0) % 16, block = at + 16 * (get_group_id(0) + 1);
    if (get_local_id(0) < 16) {
        for (int i = 0; i < 8; i++)
            diagonal[i][local_id] = a[(at + i) * n + at + local_id];
        for (int i = 0; i < 16; i++)
            right[i][local_id] = a[(at + i) * n + block + local_id];
    } else {
        for (int i = 8; i < 16; i++)
            diagonal[i][local_id] = a[(at + i) * n + at + local_id];
        for (int i = 0; i < 16; i++)
            below[i][local_id] = a[(block + i) * n + at + local_id];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 16) {
        for (int i = 1; i < 16; i++)
            for (int j = 0; j < i; j++)
                right[i][local_id] -= diagonal[i][j] * right[j][local_id];
    } else {
        for (int i = 0; i < 16; i++) {
            for (int j = 0; j < i; j++)
                below[local_id][i] -= below[local_id][j] * diagonal[j][i];
            below[local_id][i] /= diagonal[i][i];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 16) {
        for (int i = 1; i < 16; i++)
            a[(at + i) * n + block + local_id] = right[i][local_id];
    } else {
        for (int i = 0; i < 16; i++)
            a[(block + i) * n + at + local_id] = below[i][local_id];
    }
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void lu_inside(int n, int at, global float *restrict a) {
    local float above[16][16], left[16][16];
    const int row = get_local_id(1), column = get_local_id(0);
    const int y = at + 16 + get_global_id(1), x = at + 16 + get_global_id(0);
    above[row][column] = a[(at + row) * n + x];
    left[row][column] = a[y * n + at + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += left[row][k] * above[k][column];
    a[y * n + x] -= sum;
}

kernel void borders(int n, global int *table) {
    const int i = get_global_id(0);
    table[i] = -10 * i;
    table[i * (n + 1)] = -10 * i;
}

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void needleman(int n, int first_row, int first_column, global const int *restrict costs, global int *restrict table) {
    local int cells[17][17], cost[16][16];
    const int width = n + 1, local_id = get_local_id(0);
    const int y = 16 * (first_row - (int)get_group_id(0)), x = 16 * (first_column + (int)get_group_id(0));
    if (local_id == 0) cells[0][0] = table[y * width + x];
    for (int i = 0; i < 16; i++)
        cost[i][local_id] = costs[(y + i) * n + x + local_id];
    cells[0][local_id + 1] = table[y * width + x + local_id + 1];
    cells[local_id + 1][0] = table[(y + local_id + 1) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < 16; step++) {
        if (local_id <= step) {
            const int i = step - local_id, j = local_id;
            cells[i + 1][j + 1] = max(cells[i][j] + cost[i][j], max(cells[i + 1][j] - 10, cells[i][j + 1] - 10));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int step = 14; step >= 0; step--) {
        if (local_id <= step) {
            const int i = 15 - local_id, j = local_id + 15 - step;
            cells[i + 1][j + 1] = max(cells[i][j] + cost[i][j], max(cells[i + 1][j] - 10, cells[i][j + 1] - 10));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 16; i++)
        table[(y + i + 1) * width + x + local_id + 1] = cells[i + 1][local_id + 1];
}
)"
