/*
 * Processes a long input on the accelerator in chunks, with two lanes. A lane has an accelerator_view, an array on it
 * and two staging arrays on the cpu. While one lane's kernel runs, the program fills, copies and reads the other lane's
 * chunk.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <revamp.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { CHUNK = 1 << 18, CHUNKS = 24, LANES = 2, ROUNDS = 64 };

typedef struct {
    revamp_accelerator_view view;
    revamp_array input, values, output;
    revamp_completion sent, received;
    int chunk; /* the chunk in progress, or -1 */
} lane;

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t input_at(int chunk, int i) {
    return (uint32_t)chunk * CHUNK + (uint32_t)i;
}

static uint32_t scramble(uint32_t v) {
    for (uint32_t r = 0; r < ROUNDS; r++)
        v = (v ^ v >> 15) * 0x2c1b3c6du + r;
    return v;
}

static revamp_array make_array(revamp_accelerator_view view, revamp_accelerator_view associated) {
    int32_t extent = CHUNK;
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = associated;
    revamp_array array;
    CHECK(revamp_array_create(view, 1, &extent, sizeof(uint32_t), &options, &array));
    return array;
}

static lane open_lane(revamp_accelerator accelerator, revamp_accelerator_view cpu) {
    lane l = {0};
    CHECK(revamp_accelerator_create_view(accelerator, REVAMP_QUEUING_MODE_IMMEDIATE, &l.view));
    l.input = make_array(cpu, l.view);
    l.values = make_array(l.view, NULL);
    l.output = make_array(cpu, l.view);
    l.chunk = -1;
    return l;
}

static void close_lane(lane *l) {
    CHECK(revamp_array_destroy(l->input));
    CHECK(revamp_array_destroy(l->values));
    CHECK(revamp_array_destroy(l->output));
    CHECK(revamp_accelerator_view_release(l->view));
}

static revamp_completion copy_async(revamp_array from, revamp_array to) {
    revamp_region source = {0}, destination = {0};
    source.struct_size = destination.struct_size = sizeof source;
    source.array = from;
    destination.array = to;
    revamp_completion completion;
    CHECK(revamp_copy_async(&source, &destination, NULL, &completion));
    return completion;
}

static void finish(revamp_completion completion) {
    CHECK(revamp_completion_get(completion));
    CHECK(revamp_completion_release(completion));
}

static void launch(const lane *l, revamp_kernel kernel) {
    int32_t extent = CHUNK;
    uint32_t rounds = ROUNDS;
    revamp_argument arguments[] = {
        revamp_argument_buffer(0, l->values),
        revamp_argument_push_constant(0, &rounds, sizeof rounds),
    };
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = sizeof arguments / sizeof arguments[0];
    CHECK(revamp_dispatch(l->view, kernel, &info));
}

/* Fills the input, and queues the copies and the kernel. The library orders these by the arrays that they use. */
static void begin_chunk(lane *l, revamp_kernel kernel, int chunk) {
    void *data;
    CHECK(revamp_array_data(l->input, REVAMP_ACCESS_WRITE, &data));
    for (int i = 0; i < CHUNK; i++)
        ((uint32_t *)data)[i] = input_at(chunk, i);
    l->sent = copy_async(l->input, l->values);
    launch(l, kernel);
    l->received = copy_async(l->values, l->output);
    l->chunk = chunk;
}

static void end_chunk(lane *l, uint32_t *results) {
    if (l->chunk < 0) return;
    finish(l->sent);
    finish(l->received);
    void *data;
    CHECK(revamp_array_data(l->output, REVAMP_ACCESS_READ, &data));
    for (int i = 0; i < CHUNK; i++)
        results[l->chunk * CHUNK + i] = ((const uint32_t *)data)[i];
    l->chunk = -1;
}

static double run(lane *lanes, int lane_count, revamp_kernel kernel, uint32_t *results) {
    double start = seconds();
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        lane *l = &lanes[chunk % lane_count];
        end_chunk(l, results);
        begin_chunk(l, kernel, chunk);
    }
    for (int i = 0; i < lane_count; i++)
        end_chunk(&lanes[i], results);
    return seconds() - start;
}

/* Counts wrong results, and clears the results so that the next run cannot reuse them. */
static int wrong_results(uint32_t *results) {
    int wrong = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        for (int i = 0; i < CHUNK; i++) {
            wrong += results[chunk * CHUNK + i] != scramble(input_at(chunk, i));
            results[chunk * CHUNK + i] = 0;
        }
    return wrong;
}

int main(void) {
    revamp_accelerator accelerator, cpu;
    revamp_accelerator_view cpu_view;
    revamp_kernel kernel;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator));
    CHECK(revamp_accelerator_find("cpu", &cpu));
    CHECK(revamp_accelerator_get_default_view(cpu, &cpu_view));
    CHECK(revamp_kernel_find(accelerator, "scramble", &kernel));
    uint32_t *results = calloc((size_t)CHUNKS * CHUNK, sizeof *results);
    if (!results) return EXIT_FAILURE;

    lane lanes[LANES];
    for (int i = 0; i < LANES; i++)
        lanes[i] = open_lane(accelerator, cpu_view);
    int wrong = 0;
    for (int lane_count = 1; lane_count <= LANES; lane_count++) {
        double time = run(lanes, lane_count, kernel, results);
        int wrong_now = wrong_results(results);
        printf("staging_pipeline: %d chunks of %d values, %d lane%s: %.1f ms, %d wrong\n", CHUNKS, CHUNK, lane_count,
               lane_count > 1 ? "s" : "", time * 1e3, wrong_now);
        wrong += wrong_now;
    }
    for (int i = 0; i < LANES; i++)
        close_lane(&lanes[i]);
    CHECK(revamp_kernel_release(kernel));
    free(results);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
