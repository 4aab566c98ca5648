/* Tests of host kernels: functions of the program that run on host threads (rules PFE, docs/spec/launches.md#tiles). */
#include "support.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 6 };

static revamp_parallel_for_each_info host_launch(uint32_t rank, const int32_t *extent, const int32_t *tile,
                                                 revamp_host_kernel function, void *context) {
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = rank;
    info.extent = extent;
    info.tile = tile;
    info.function = function;
    info.context = context;
    return info;
}

static void run_and_wait(const revamp_parallel_for_each_info *info) {
    CHECK_OK(revamp_parallel_for_each(host_view(), info));
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
}

/* Coverage. */

typedef struct {
    uint32_t rank;
    const int32_t *extent, *tile;
    unsigned *times;
    unsigned wrong_ids;
} coverage;

static bool is_thread_id_correct(const coverage *c, const revamp_thread_id *id) {
    if (id->rank != c->rank || !id->global) return false;
    if (!c->tile) return !id->local && !id->tile && !id->tile_origin;
    for (uint32_t d = 0; d < c->rank; d++)
        if (id->tile_origin[d] != id->tile[d] * c->tile[d] || id->global[d] != id->tile_origin[d] + id->local[d] ||
            id->local[d] < 0 || id->local[d] >= c->tile[d])
            return false;
    return true;
}

static void record_thread(const revamp_thread_id *id, void *context) {
    coverage *c = context;
    uint64_t at = 0;
    if (!is_thread_id_correct(c, id)) __atomic_fetch_add(&c->wrong_ids, 1, __ATOMIC_RELAXED);
    for (uint32_t d = 0; d < c->rank; d++)
        at = at * (uint64_t)c->extent[d] + (uint64_t)id->global[d];
    __atomic_fetch_add(&c->times[at], 1, __ATOMIC_RELAXED);
}

static void check_coverage(uint32_t rank, const int32_t *extent, const int32_t *tile) {
    uint64_t count = product(rank, extent), wrong_counts = 0;
    coverage c = {rank, extent, tile, memory((size_t)count * sizeof(unsigned)), 0};
    revamp_parallel_for_each_info info = host_launch(rank, extent, tile, record_thread, &c);
    run_and_wait(&info);
    for (uint64_t i = 0; i < count; i++)
        wrong_counts += __atomic_load_n(&c.times[i], __ATOMIC_RELAXED) != 1;
    CHECK_NUMBER(wrong_counts, 0);
    CHECK_NUMBER(__atomic_load_n(&c.wrong_ids, __ATOMIC_RELAXED), 0);
}

TEST(PFE_2_every_element_once_in_all_ranks) {
    static const int32_t extents[][MAX_RANK] = {{1},         {100003},     {301, 17},
                                                {7, 11, 13}, {3, 4, 5, 6}, {2, 3, 2, 3, 2, 3}};
    static const uint32_t ranks[] = {1, 1, 2, 3, 4, 6};
    for (size_t i = 0; i < COUNT(ranks); i++)
        check_coverage(ranks[i], extents[i], NULL);
}

TEST(PFE_9_rank_128) {
    int32_t extent[128];
    for (int i = 0; i < 128; i++)
        extent[i] = i % 16 ? 1 : 2;
    check_coverage(128, extent, NULL);
}

TEST(tiles_of_1_to_3_dimensions) {
    static const struct {
        uint32_t rank;
        int32_t extent[3], tile[3];
    } cases[] = {{1, {64}, {64}},
                 {1, {10240}, {1024}},
                 {1, {99}, {1}},
                 {2, {64, 48}, {16, 16}},
                 {2, {6, 2048}, {2, 512}},
                 {3, {8, 12, 20}, {4, 3, 5}},
                 {3, {64, 4, 4}, {64, 4, 4}}};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_coverage(cases[i].rank, cases[i].extent, cases[i].tile);
}

/* Barriers. */

enum { SUM_TILE = 256 };

typedef struct {
    const uint32_t *in;
    uint32_t *out;
    unsigned failures;
    unsigned misaligned;
} sums;

static void sum_tile(const revamp_thread_id *id, void *context) {
    sums *s = context;
    uint32_t *shared = id->tile_memory;
    int local = id->local[0];
    if ((uintptr_t)shared % 64) __atomic_fetch_add(&s->misaligned, 1, __ATOMIC_RELAXED);
    shared[local] = s->in[id->global[0]];
    for (int half = SUM_TILE / 2; half > 0; half /= 2) {
        if (revamp_tile_barrier_wait(id) != REVAMP_OK) __atomic_fetch_add(&s->failures, 1, __ATOMIC_RELAXED);
        if (local < half) shared[local] += shared[local + half];
    }
    if (local == 0) s->out[id->tile[0]] = shared[0];
}

TEST(a_reduction_with_barriers) {
    enum { TILES = 300 };
    const int32_t extent = TILES * SUM_TILE, tile = SUM_TILE;
    uint32_t *in = numbers((size_t)extent, 1), *expected = memory(TILES * 4);
    sums s = {in, memory(TILES * 4), 0, 0};
    revamp_parallel_for_each_info info = host_launch(1, &extent, &tile, sum_tile, &s);
    info.tile_memory = SUM_TILE * 4;
    run_and_wait(&info);
    for (int32_t i = 0; i < extent; i++)
        expected[i / SUM_TILE] += in[i];
    CHECK_SAME(s.out, expected, TILES * 4);
    CHECK_NUMBER(s.failures, 0);
    CHECK_NUMBER(s.misaligned, 0);
}

enum { EDGE = 16, ROWS = 160, COLUMNS = 224 };

typedef struct {
    const uint32_t *in;
    uint32_t *out;
} matrices;

static void transpose(const revamp_thread_id *id, void *context) {
    matrices *m = context;
    uint32_t(*shared)[EDGE] = id->tile_memory;
    int y = id->local[0], x = id->local[1];
    shared[y][x] = m->in[id->global[0] * COLUMNS + id->global[1]];
    revamp_tile_barrier_wait(id);
    m->out[(id->tile_origin[1] + y) * ROWS + id->tile_origin[0] + x] = shared[x][y];
}

TEST(a_transpose_with_a_barrier) {
    const int32_t extent[] = {ROWS, COLUMNS}, tile[] = {EDGE, EDGE};
    uint32_t *expected = memory(ROWS * COLUMNS * 4);
    matrices m = {numbers((size_t)ROWS * COLUMNS, 1), memory(ROWS * COLUMNS * 4)};
    revamp_parallel_for_each_info info = host_launch(2, extent, tile, transpose, &m);
    info.tile_memory = EDGE * EDGE * 4;
    run_and_wait(&info);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            expected[x * ROWS + y] = m.in[y * COLUMNS + x];
    CHECK_SAME(m.out, expected, ROWS * COLUMNS * 4);
}

static void count_tile_memory(const revamp_thread_id *id, void *context) {
    if (id->tile_memory) __atomic_fetch_add((unsigned *)context, 1, __ATOMIC_RELAXED);
}

TEST(no_tile_memory_unless_requested) {
    const int32_t extent = 64, tile = 32;
    unsigned with_memory = 0;
    revamp_parallel_for_each_info info = host_launch(1, &extent, &tile, count_tile_memory, &with_memory);
    run_and_wait(&info);
    CHECK_NUMBER(__atomic_load_n(&with_memory, __ATOMIC_RELAXED), 0);
    info.tile_memory = 4;
    run_and_wait(&info);
    CHECK_NUMBER(__atomic_load_n(&with_memory, __ATOMIC_RELAXED), 64);
}

static void wait_at_barrier(const revamp_thread_id *id, void *context) {
    *(revamp_status *)context = revamp_tile_barrier_wait(id);
}

TEST(a_barrier_needs_a_tiled_launch) {
    const int32_t extent = 1;
    revamp_status status = REVAMP_OK;
    revamp_parallel_for_each_info info = host_launch(1, &extent, NULL, wait_at_barrier, &status);
    CHECK_OK(revamp_parallel_for_each(host_view(), &info));
    CHECK_FAILS(revamp_accelerator_view_wait(host_view()), AS_RUNTIME, "barrier");
    CHECK_STATUS(status, REVAMP_ERROR_RUNTIME);
    /* The failure is reported once. */
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    full_job();
}

TEST(a_barrier_outside_of_kernels_is_an_error) {
    revamp_thread_id id = {0};
    CHECK_FAILS(revamp_tile_barrier_wait(NULL), AS_BAD, "NULL");
    CHECK_FAILS(revamp_tile_barrier_wait(&id), AS_BAD, "");
    full_job();
}

static void fail_at_77(const revamp_thread_id *id, void *context) {
    if (id->global[0] != 77) return;
    if (context) revamp_tile_barrier_wait(id);
    revamp_host_kernel_fail(id, "no 77 here");
    revamp_host_kernel_fail(id, "and no second error");
}

static void fail_in_a_row(const revamp_thread_id *first, uint32_t count, void *context) {
    (void)count, (void)context;
    revamp_host_kernel_fail(first, "no row");
}

TEST(a_kernel_fails_with_its_own_message) {
    const int32_t extent = 128, tile = 16;
    const revamp_thread_id invalid_id = {0};
    bool waits = true;
    revamp_parallel_for_each_info launches[] = {host_launch(1, &extent, NULL, fail_at_77, NULL),
                                                host_launch(1, &extent, &tile, fail_at_77, NULL),
                                                host_launch(1, &extent, &tile, fail_at_77, &waits)};
    for (size_t i = 0; i < COUNT(launches); i++) {
        CHECK_OK(revamp_parallel_for_each(host_view(), &launches[i]));
        CHECK_FAILS(revamp_accelerator_view_wait(host_view()), AS_RUNTIME, "no 77 here");
        CHECK_OK(revamp_accelerator_view_wait(host_view()));
    }
    revamp_parallel_for_each_info row = host_launch(1, &extent, NULL, NULL, NULL);
    row.row_function = fail_in_a_row;
    CHECK_OK(revamp_parallel_for_each(host_view(), &row));
    CHECK_FAILS(revamp_accelerator_view_wait(host_view()), AS_RUNTIME, "no row");
    CHECK_FAILS(revamp_host_kernel_fail(NULL, "x"), AS_BAD, "NULL");
    CHECK_FAILS(revamp_host_kernel_fail(&invalid_id, "x"), AS_BAD, "");
    full_job();
}

static void skip_barrier(const revamp_thread_id *id, void *context) {
    (void)context;
    if (id->local[0] % 2 == 0) revamp_tile_barrier_wait(id);
}

/* The rules do not define the result, but the launch must end, with or without an error. */
TEST(a_barrier_that_some_threads_miss_does_not_hang) {
    const int32_t extent = 64, tile = 16;
    revamp_parallel_for_each_info info = host_launch(1, &extent, &tile, skip_barrier, NULL);
    CHECK_OK(revamp_parallel_for_each(host_view(), &info));
    revamp_status status = revamp_accelerator_view_wait(host_view());
    CHECK(status == REVAMP_OK || status == REVAMP_ERROR_RUNTIME);
    full_job();
}

/* The order of launches and copies that use the same arrays. */

typedef struct {
    uint32_t *data;
} step_context;

static void step_once(const revamp_thread_id *id, void *context) {
    uint32_t *at = ((step_context *)context)->data + id->global[0];
    *at = 3 * *at + 1;
}

TEST(launches_and_copies_are_ordered_by_their_arrays) {
    enum { LENGTH = 20000, ROUNDS = 50 };
    const int32_t extent = LENGTH;
    uint32_t *expected = numbers(LENGTH, 1), *got = memory(LENGTH * 4), *sent = memory(LENGTH * 4);
    memcpy(sent, expected, LENGTH * 4);
    revamp_array array = array_1d(host_view(), LENGTH, 4);
    step_context context = {data_of(array, REVAMP_ACCESS_READ_WRITE)};
    revamp_argument argument = with_access(revamp_argument_buffer(0, array), REVAMP_ACCESS_READ_WRITE);
    revamp_parallel_for_each_info info = host_launch(1, &extent, NULL, step_once, &context);
    info.arguments = &argument;
    info.argument_count = 1;
    revamp_completion up = NULL, down = NULL;
    REQUIRE_OK(revamp_copy_to_array_async(sent, LENGTH * 4, array, NULL, &up));
    for (int i = 0; i < ROUNDS; i++)
        CHECK_OK(revamp_parallel_for_each(host_view(), &info));
    REQUIRE_OK(revamp_copy_from_array_async(array, got, LENGTH * 4, NULL, &down));
    expect_done(down);
    expect_done(up);
    step_naive(expected, LENGTH, ROUNDS);
    CHECK_SAME(got, expected, LENGTH * 4);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(two_views_are_ordered_by_their_arrays) {
    enum { LENGTH = 5000, ROUNDS = 40 };
    const int32_t extent = LENGTH;
    revamp_accelerator_view second = new_view(find("host"), REVAMP_QUEUING_MODE_IMMEDIATE);
    revamp_array arrays[] = {array_1d(host_view(), LENGTH, 4), array_1d(second, LENGTH, 4)};
    revamp_accelerator_view views[] = {host_view(), second};
    step_context contexts[] = {{data_of(arrays[0], REVAMP_ACCESS_READ_WRITE)},
                               {data_of(arrays[1], REVAMP_ACCESS_READ_WRITE)}};
    uint32_t *expected = numbers(LENGTH, 1);
    revamp_completion done[ROUNDS];
    write_array(arrays[0], expected);
    for (int i = 0; i < ROUNDS; i++) {
        revamp_argument argument = revamp_argument_buffer(0, arrays[i % 2]);
        revamp_parallel_for_each_info info = host_launch(1, &extent, NULL, step_once, &contexts[i % 2]);
        info.arguments = &argument;
        info.argument_count = 1;
        CHECK_OK(revamp_parallel_for_each(views[i % 2], &info));
        revamp_region from = whole(arrays[i % 2]), to = whole(arrays[(i + 1) % 2]);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[i]));
    }
    for (int i = 0; i < ROUNDS; i++)
        expect_done(done[i]);
    step_naive(expected, LENGTH, ROUNDS);
    CHECK_SAME(read_array(arrays[0]), expected, LENGTH * 4);
    CHECK_SAME(read_array(arrays[1]), expected, LENGTH * 4);
    CHECK_OK(revamp_array_destroy(arrays[0]));
    CHECK_OK(revamp_array_destroy(arrays[1]));
    CHECK_OK(revamp_accelerator_view_release(second));
}

TEST(copies_carry_results_to_other_accelerators) {
    enum { LENGTH = 3000 };
    const int32_t extent = LENGTH;
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *expected = numbers(LENGTH, 1);
        revamp_array here = array_with(host_view(), expected, LENGTH), there = array_1d(p->view, LENGTH, 4);
        step_context context = {data_of(here, REVAMP_ACCESS_READ_WRITE)};
        revamp_argument argument = revamp_argument_buffer(0, here);
        revamp_parallel_for_each_info info = host_launch(1, &extent, NULL, step_once, &context);
        revamp_region from = whole(here), to = whole(there);
        info.arguments = &argument;
        info.argument_count = 1;
        CHECK_OK(revamp_parallel_for_each(host_view(), &info));
        CHECK_OK(revamp_copy(&from, &to));
        step_naive(expected, LENGTH, 1);
        CHECK_SAME(read_array(there), expected, LENGTH * 4);
        CHECK_OK(revamp_array_destroy(here));
        CHECK_OK(revamp_array_destroy(there));
    }
}

/* Launches that are refused. */

static revamp_status try_host(revamp_accelerator_view view, uint32_t rank, const int32_t *extent, const int32_t *tile) {
    unsigned ignored = 0;
    revamp_parallel_for_each_info info = host_launch(rank, extent, tile, count_tile_memory, &ignored);
    return revamp_parallel_for_each(view, &info);
}

TEST(PFE_3_extents_of_zero_or_less_are_no_host_domain) {
    static const int32_t bad[][3] = {{0}, {-5}, {4, 0}, {4, -1}, {3, 3, INT32_MIN}};
    static const uint32_t ranks[] = {1, 1, 2, 2, 3};
    for (size_t i = 0; i < COUNT(ranks); i++)
        CHECK_FAILS(try_host(host_view(), ranks[i], bad[i], NULL), AS_DOMAIN, "");
    CHECK_FAILS(try_host(host_view(), 1, bad[1], NULL), AS_DOMAIN, "-5");
    full_job();
}

TEST(PFE_4_host_domains_past_32_bits_are_refused) {
    static const int32_t square[] = {65536, 65536}, cube[] = {INT32_MAX, INT32_MAX, INT32_MAX};
    CHECK_FAILS(try_host(host_view(), 2, square, NULL), AS_DOMAIN, "4294967295");
    CHECK_FAILS(try_host(host_view(), 3, cube, NULL), AS_DOMAIN, "4294967295");
    full_job();
}

TEST(PFE_5_tiles_must_divide_the_extent) {
    static const int32_t extent[] = {64, 50}, tile[] = {16, 16};
    CHECK_FAILS(try_host(host_view(), 2, extent, tile), AS_DOMAIN, "16");
    CHECK_TEXT(revamp_last_error_message(), "50");
    full_job();
}

TEST(PFE_6_tiles_have_1_to_3_dimensions_and_at_most_1024_threads) {
    static const int32_t four[] = {4, 4, 4, 4}, wide[] = {2048}, plane[] = {64, 64}, zero[] = {0}, negative[] = {-4};
    static const int32_t fits[] = {1024}, edge[] = {33, 32}, many[] = {66, 64};
    CHECK_FAILS(try_host(host_view(), 4, four, four), AS_DOMAIN, "rank");
    CHECK_FAILS(try_host(host_view(), 1, wide, wide), AS_DOMAIN, "1024");
    CHECK_FAILS(try_host(host_view(), 2, plane, plane), AS_DOMAIN, "1024");
    CHECK_FAILS(try_host(host_view(), 2, many, edge), AS_DOMAIN, "1024");
    CHECK_FAILS(try_host(host_view(), 1, wide, zero), AS_DOMAIN, "");
    CHECK_FAILS(try_host(host_view(), 1, wide, negative), AS_DOMAIN, "");
    CHECK_OK(try_host(host_view(), 1, wide, fits));
    full_job();
}

TEST(PFE_8_host_kernels_do_not_run_on_the_cpu_accelerator) {
    const int32_t extent = 4;
    CHECK_FAILS(try_host(cpu_view(), 1, &extent, NULL), AS_RUNTIME,
                "concurrency::parallel_for_each is not supported on the selected accelerator \"CPU accelerator\".");
    CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x80070057);
}

TEST(host_kernels_do_not_run_on_vulkan_devices) {
    const int32_t extent = 4;
    FOR_EACH_PLACE(p, runs_spirv) CHECK_FAILS(try_host(p->view, 1, &extent, NULL), AS_UNSUPPORTED, p->info.description);
}

CHILD(launches_on_the_default) {
    const int32_t extent[] = {10, 20};
    coverage c = {2, extent, NULL, memory(200 * sizeof(unsigned)), 0};
    revamp_parallel_for_each_info info = host_launch(2, extent, NULL, record_thread, &c);
    CHECK_OK(revamp_parallel_for_each(NULL, &info));
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    for (int i = 0; i < 200; i++)
        CHECK_NUMBER(c.times[i], 1);
}

TEST(a_null_view_means_the_default_for_host_code) {
    CHECK_CHILD("launches_on_the_default", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

/* Kernels on one view run in order even if they have no arguments. */
TEST(launches_on_one_view_are_in_order) {
    enum { LENGTH = 1000, ROUNDS = 100 };
    const int32_t extent = LENGTH;
    uint32_t *expected = numbers(LENGTH, 1), *data = memory(LENGTH * 4);
    memcpy(data, expected, LENGTH * 4);
    step_context context = {data};
    revamp_parallel_for_each_info info = host_launch(1, &extent, NULL, step_once, &context);
    for (int i = 0; i < ROUNDS; i++)
        CHECK_OK(revamp_parallel_for_each(host_view(), &info));
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    step_naive(expected, LENGTH, ROUNDS);
    CHECK_SAME(data, expected, LENGTH * 4);
}

TEST(launches_run_on_1_and_16_threads) {
    CHECK_CHILD("launches_on_the_default", "REVAMP_HOST_THREADS=1", NULL);
    CHECK_CHILD("launches_on_the_default", "REVAMP_HOST_THREADS=16", NULL);
}
