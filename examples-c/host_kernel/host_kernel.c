/* Computes a sum on host threads, with tile memory and tile barriers. Needs no Vulkan. */
#include <revamp.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

enum { TILE = 128, TILES = 1024, COUNT = TILE * TILES };

typedef struct {
    const uint32_t *values;
    uint64_t *sums; /* one for each tile */
} job;

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

/* A kernel: each tile computes the sum of its elements. Each step adds the upper half of the remaining elements to the
 * lower half. */
static void add_up(const revamp_thread_id *id, void *context) {
    const job *j = context;
    uint64_t *tile_sums = id->tile_memory;
    int32_t local = id->local[0];
    tile_sums[local] = j->values[id->global[0]];
    for (int32_t half = TILE / 2; half > 0; half /= 2) {
        if (revamp_tile_barrier_wait(id) != REVAMP_OK) return; /* the launch fails; its wait gives the error */
        if (local < half) tile_sums[local] += tile_sums[local + half];
    }
    if (local == 0) j->sums[id->tile[0]] = tile_sums[0];
}

static void launch(revamp_accelerator_view view, job *j) {
    int32_t extent = COUNT, tile = TILE;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.tile = &tile;
    info.tile_memory = TILE * sizeof(uint64_t);
    info.function = add_up;
    info.context = j;
    CHECK(revamp_parallel_for_each(view, &info));
    CHECK(revamp_accelerator_view_wait(view));
}

int main(void) {
    static uint32_t values[COUNT];
    static uint64_t sums[TILES];
    uint64_t expected = 0, sum = 0;
    for (int i = 0; i < COUNT; i++) {
        values[i] = (uint32_t)i * 2654435761u;
        expected += values[i];
    }

    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    CHECK(revamp_accelerator_get_default(REVAMP_CODE_HOST, &accelerator));
    CHECK(revamp_accelerator_get_default_view(accelerator, &view));
    job j = {values, sums};
    launch(view, &j);
    for (int t = 0; t < TILES; t++)
        sum += sums[t];

    printf("host_kernel: the sum of %d values is %" PRIu64 ", expected %" PRIu64 "\n", COUNT, sum, expected);
    return sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
