/* Computes c = a * b by tiles on a Vulkan device and on host threads. Checks and times the products. */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>

enum { TILE = 16, SMALL = 256, LARGE = 2048, RUNS = 3 };

/* Row-major matrices of n x n elements. */
typedef struct {
    int n;
    float *a, *b, *c;
} matrices;

/* The elements are small integers: every sum is exact in any order, so the check needs no tolerance. */
static matrices make_matrices(int n) {
    size_t size = (size_t)n * n * sizeof(float);
    matrices m = {n, allocate(size), allocate(size), allocate(size)};
    for (int i = 0; i < n * n; i++) {
        m.a[i] = (float)(i * 7 % 23 - 11);
        m.b[i] = (float)(i * 5 % 19 - 9);
    }
    return m;
}

static void free_matrices(matrices *m) {
    free(m->a);
    free(m->b);
    free(m->c);
}

/* y = m * x */
static void multiply_vector(int n, const float *m, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            y[i] += (double)m[(size_t)i * n + j] * x[j];
    }
}

/* Freivalds' algorithm: if c * x = a * (b * x) for a random x, then c = a * b, except with a very small probability. */
static int wrong_rows(const matrices *m) {
    double *x = allocate((size_t)m->n * 4 * sizeof *x), *bx = x + m->n, *abx = bx + m->n, *cx = abx + m->n;
    uint32_t random = 12345;
    for (int i = 0; i < m->n; i++) {
        random = random * 1664525 + 1013904223;
        x[i] = random >> 12;
    }
    multiply_vector(m->n, m->b, x, bx);
    multiply_vector(m->n, m->a, bx, abx);
    multiply_vector(m->n, m->c, x, cx);
    int wrong = 0;
    for (int i = 0; i < m->n; i++)
        wrong += cx[i] != abx[i];
    free(x);
    return wrong;
}

static void check(const matrices *m, result *r) {
    int wrong = wrong_rows(m);
    r->work = 2.0 * m->n * m->n * m->n;
    r->right = wrong == 0;
    snprintf(r->check, sizeof r->check, "%d of %d rows wrong (n = %d)", wrong, m->n, m->n);
}

/* One thread of a tile, as in matrix_product.comp. If a barrier fails, the launch fails; its wait gives the error. */
static void kernel_function(const revamp_thread_id *id, void *context) {
    const matrices *m = context;
    float(*a_tile)[TILE] = id->tile_memory, (*b_tile)[TILE] = a_tile + TILE;
    int n = m->n, row = id->global[0], column = id->global[1], y = id->local[0], x = id->local[1];
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        a_tile[y][x] = m->a[row * n + k + x];
        b_tile[y][x] = m->b[(k + y) * n + column];
        if (revamp_tile_barrier_wait(id) != REVAMP_OK) return;
        for (int i = 0; i < TILE; i++)
            sum += a_tile[y][i] * b_tile[i][x];
        if (revamp_tile_barrier_wait(id) != REVAMP_OK) return;
    }
    m->c[row * n + column] = sum;
}

static double launch_on_host(const place *host, matrices *m) {
    int32_t extent[] = {m->n, m->n}, tile[] = {TILE, TILE};
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = extent;
    info.tile = tile;
    info.tile_memory = 2 * TILE * TILE * sizeof(float);
    info.function = kernel_function;
    info.context = m;
    double start = seconds();
    CHECK(revamp_parallel_for_each(host->view, &info));
    CHECK(revamp_accelerator_view_wait(host->view));
    return seconds() - start;
}

static revamp_array make_array(const place *vulkan, int n, const float *values) {
    int32_t extent[] = {n, n};
    revamp_array array;
    CHECK(revamp_array_create(vulkan->view, 2, extent, sizeof *values, NULL, &array));
    if (values) CHECK(revamp_copy_to_array(values, (size_t)n * n * sizeof *values, array));
    return array;
}

static double launch_on_vulkan(const place *vulkan, revamp_kernel kernel, const revamp_array arrays[3], int n) {
    int32_t extent[] = {n, n};
    revamp_argument arguments[] = {
        revamp_argument_buffer(0, arrays[0]),
        revamp_argument_buffer(1, arrays[1]),
        revamp_argument_buffer(2, arrays[2]),
        revamp_argument_push_constant(0, &n, sizeof n),
    };
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = extent;
    info.arguments = arguments;
    info.argument_count = sizeof arguments / sizeof arguments[0];
    double start = seconds();
    CHECK(revamp_dispatch(vulkan->view, kernel, &info));
    CHECK(revamp_accelerator_view_wait(vulkan->view));
    return seconds() - start;
}

static double min_time(double a, double b) {
    return a < b ? a : b;
}

static double run_on_vulkan(const place *vulkan, matrices *m) {
    revamp_kernel kernel;
    CHECK(revamp_kernel_find(vulkan->accelerator, "matrix_product", &kernel));
    revamp_array arrays[] = {make_array(vulkan, m->n, m->a), make_array(vulkan, m->n, m->b),
                             make_array(vulkan, m->n, NULL)};
    launch_on_vulkan(vulkan, kernel, arrays, m->n); /* creates the pipeline, which is not timed */
    double time = launch_on_vulkan(vulkan, kernel, arrays, m->n);
    for (int run = 1; run < RUNS; run++)
        time = min_time(time, launch_on_vulkan(vulkan, kernel, arrays, m->n));
    CHECK(revamp_copy_from_array(arrays[2], m->c, (size_t)m->n * m->n * sizeof *m->c));
    for (int i = 0; i < 3; i++)
        CHECK(revamp_array_destroy(arrays[i]));
    CHECK(revamp_kernel_release(kernel));
    return time;
}

static double run_on_host(const place *host, matrices *m) {
    double time = launch_on_host(host, m);
    for (int run = 1; run < RUNS; run++)
        time = min_time(time, launch_on_host(host, m));
    return time;
}

void matrix_product(const place *vulkan, const place *host, result *by_vulkan, result *by_host) {
    if (vulkan) {
        /* A GPU reaches its speed only with larger matrices. */
        matrices m = make_matrices(vulkan->info.is_emulated ? SMALL : LARGE);
        by_vulkan->seconds = run_on_vulkan(vulkan, &m);
        check(&m, by_vulkan);
        free_matrices(&m);
    }
    matrices m = make_matrices(SMALL);
    by_host->seconds = run_on_host(host, &m);
    check(&m, by_host);
    free_matrices(&m);
}
