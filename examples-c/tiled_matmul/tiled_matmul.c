/* Times a matrix product with tiles in shared memory, and checks it against a product computed on the host. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <revamp.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { N = 256, RUNS = 3 };

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

static float a[N][N], b[N][N], c[N][N], expected[N][N];

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The elements are small integers: every sum is exact in any order, so results must be equal. */
static void fill(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (float)((i * 7 + j * 3) % 11 - 5);
            b[i][j] = (float)((i * 5 + j * 13) % 9 - 4);
        }
}

static void multiply_on_host(void) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                expected[i][j] += a[i][k] * b[k][j];
}

static int wrong_results(void) {
    int wrong = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            wrong += c[i][j] != expected[i][j];
    return wrong;
}

static revamp_array make_array(revamp_accelerator_view view) {
    int32_t extent[] = {N, N};
    revamp_array array;
    CHECK(revamp_array_create(view, 2, extent, sizeof(float), NULL, &array));
    return array;
}

static void launch(revamp_accelerator_view view, revamp_kernel kernel, const revamp_array arrays[3]) {
    int32_t extent[] = {N, N};
    uint32_t n = N;
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
    CHECK(revamp_dispatch(view, kernel, &info));
    CHECK(revamp_accelerator_view_wait(view));
}

/* The best time of several runs; the first run creates the pipeline and does not count. */
static double best_time(revamp_accelerator_view view, revamp_kernel kernel, const revamp_array arrays[3]) {
    double best = 0;
    launch(view, kernel, arrays);
    for (int run = 0; run < RUNS; run++) {
        double start = seconds();
        launch(view, kernel, arrays);
        double time = seconds() - start;
        if (run == 0 || time < best) best = time;
    }
    return best;
}

int main(void) {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_kernel kernel;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator));
    CHECK(revamp_accelerator_get_default_view(accelerator, &view));
    CHECK(revamp_kernel_find(accelerator, "tiled_matmul", &kernel));

    fill();
    revamp_array arrays[] = {make_array(view), make_array(view), make_array(view)};
    CHECK(revamp_copy_to_array(a, sizeof a, arrays[0]));
    CHECK(revamp_copy_to_array(b, sizeof b, arrays[1]));
    double time = best_time(view, kernel, arrays);
    CHECK(revamp_copy_from_array(arrays[2], c, sizeof c));
    for (int i = 0; i < 3; i++)
        CHECK(revamp_array_destroy(arrays[i]));
    CHECK(revamp_kernel_release(kernel));

    multiply_on_host();
    int wrong = wrong_results();
    printf("tiled_matmul: %d x %d, %.2f ms, %.2f GFLOP/s, %d wrong\n", N, N, time * 1e3, 2.0 * N * N * N / time / 1e9,
           wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
