/* Tests of staging arrays (rules STG-1 to STG-18). */
#include "engines.h"
#include "logged_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int32_t staging_extent[] = {20, 50};
enum { STAGING_COUNT = 1000, STAGING_SIZE = 4000 };

/* A staging array on the cpu accelerator, with `p`'s view as its associated view. */
static revamp_array staging_for(const place *p) {
    return staging_array(cpu_view(), p->view, 2, staging_extent, 4);
}

TEST(STG_1_the_default_view_of_the_default_accelerator_takes_arrays) {
    revamp_accelerator best = NULL;
    first_place_or_skip(runs_spirv);
    REQUIRE_OK(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &best));
    revamp_array array = array_1d(default_view(best), 8, 4);
    CHECK(array_info(array).view == default_view(best));
    CHECK_OK(revamp_array_destroy(array));
}

TEST(STG_2_STG_3_a_staging_array_lives_on_its_first_view) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = staging_for(p);
        CHECK(array_info(array).view == cpu_view());
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(STG_4_the_associated_view_is_kept_where_it_is_usable) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = staging_for(p);
        CHECK(array_info(array).associated_view == p->view);
        CHECK_OK(revamp_array_destroy(array));
        array = staging_array(p->view, p->view, 2, staging_extent, 4);
        CHECK(array_info(array).view == p->view && array_info(array).associated_view == p->view);
        CHECK_OK(revamp_array_destroy(array));
        array = staging_array(p->view, cpu_view(), 2, staging_extent, 4);
        CHECK(array_info(array).view == p->view && array_info(array).associated_view == p->view);
        uint32_t *sent = numbers(STAGING_COUNT, 3);
        write_array(array, sent);
        CHECK_SAME(read_array(array), sent, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Two views of the cpu accelerator do not make a staging array. */
TEST(STG_4_the_second_view_is_not_of_the_cpu_accelerator) {
    revamp_accelerator_view_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_accelerator_view_get_info(cpu_view(), &info));
    revamp_accelerator_view other = new_view(info.accelerator, REVAMP_QUEUING_MODE_IMMEDIATE);
    CHECK(other != cpu_view());
    for (int turn = 0; turn < 2; turn++) {
        revamp_accelerator_view first = turn ? other : cpu_view(), second = turn ? cpu_view() : other;
        revamp_array array = staging_array(first, second, 2, staging_extent, 4);
        CHECK(array_info(array).view == first && array_info(array).associated_view == first);
        uint32_t *sent = numbers(STAGING_COUNT, 3);
        memcpy(data_of(array, REVAMP_ACCESS_WRITE), sent, STAGING_SIZE);
        CHECK_SAME(read_array(array), sent, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(array));
    }
    CHECK_OK(revamp_accelerator_view_release(other));
}

TEST(STG_5_the_hint_has_no_effect_for_other_pairs) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_array plain = array_of(p->view, 2, staging_extent, 4);
        revamp_array array = staging_array(p->view, cpu_view(), 2, staging_extent, 4);
        CHECK_NUMBER(array_info(array).cpu_access_type, array_info(plain).cpu_access_type);
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(STAGING_COUNT, 2);
        write_array(array, expected);
        CHECK_OK(launch_step(p->view, step, array));
        step_naive(expected, STAGING_COUNT, 1);
        CHECK_SAME(read_array(array), expected, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(plain));
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(STG_6_the_host_reads_and_writes_it) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = staging_for(p);
        uint32_t *expected = numbers(STAGING_COUNT, 4), *data = data_of(array, REVAMP_ACCESS_READ_WRITE);
        memcpy(data, expected, STAGING_SIZE);
        data[3 * 50 + 7] = expected[3 * 50 + 7] = 42;
        CHECK_SAME(read_array(array), expected, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(array));
    }
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

TEST(STG_7_data_is_contiguous) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = staging_for(p);
        uint32_t *expected = numbers(STAGING_COUNT, 8), *data = data_of(array, REVAMP_ACCESS_READ_WRITE);
        memcpy(data, expected, STAGING_SIZE);
        qsort(data, STAGING_COUNT, 4, compare_numbers);
        qsort(expected, STAGING_COUNT, 4, compare_numbers);
        CHECK_SAME(read_array(array), expected, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(STG_8_staging_to_device_copies_the_data) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4);
        revamp_region from = whole(staging), to = whole(device);
        for (uint32_t round = 1; round <= 5; round++) {
            uint32_t *expected = numbers(STAGING_COUNT, round);
            memcpy(data_of(staging, REVAMP_ACCESS_WRITE), expected, STAGING_SIZE);
            CHECK_OK(revamp_copy(&from, &to));
            CHECK_SAME(read_array(device), expected, STAGING_SIZE);
        }
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device));
    }
}

TEST(STG_9_device_to_staging_copies_the_data) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4);
        revamp_region from = whole(device), to = whole(staging);
        for (uint32_t round = 1; round <= 5; round++) {
            uint32_t *expected = numbers(STAGING_COUNT, round);
            write_array(device, expected);
            CHECK_OK(revamp_copy(&from, &to));
            CHECK_SAME(data_of(staging, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        }
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device));
    }
}

TEST(STG_10_construct_then_copy) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = staging_for(p);
        uint32_t *expected = numbers(STAGING_COUNT, 11);
        write_array(array, expected);
        CHECK_SAME(data_of(array, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(STG_13_a_pipeline_gives_the_same_results_staged_or_not) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4);
        revamp_array plain = array_of(cpu_view(), 2, staging_extent, 4);
        uint32_t *expected = numbers(STAGING_COUNT, 6);
        memcpy(data_of(staging, REVAMP_ACCESS_WRITE), expected, STAGING_SIZE);
        memcpy(data_of(plain, REVAMP_ACCESS_WRITE), expected, STAGING_SIZE);
        step_naive(expected, STAGING_COUNT, 1);
        revamp_array sources[] = {staging, plain};
        for (size_t i = 0; i < 2; i++) {
            revamp_region host = whole(sources[i]), device_region = whole(device);
            CHECK_OK(revamp_copy(&host, &device_region));
            CHECK_OK(launch_step(p->view, step, device));
            CHECK_OK(revamp_copy(&device_region, &host));
            CHECK_SAME(data_of(sources[i], REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        }
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(plain));
        CHECK_OK(revamp_array_destroy(device));
        CHECK_OK(revamp_kernel_release(step));
    }
}

enum { CHUNKS = 12, SLOTS = 3 };

/* Sends chunks through SLOTS device arrays. If `own_views`, each device array has its own accelerator_view.
 * `pair_count` is the number of pairs of staging arrays. The host waits for the copies of a pair before it reuses the
 * pair. */
static void chunked_pipeline(const place *p, bool own_views, size_t pair_count) {
    revamp_kernel step = load(p->accelerator, &step_module);
    revamp_accelerator_view views[SLOTS];
    revamp_array slots[SLOTS], in[CHUNKS], out[CHUNKS];
    revamp_completion sent[CHUNKS], received[CHUNKS];
    uint32_t *given[CHUNKS], *got[CHUNKS];
    for (size_t i = 0; i < SLOTS; i++) {
        views[i] = own_views ? new_view(p->accelerator, REVAMP_QUEUING_MODE_IMMEDIATE) : p->view;
        slots[i] = array_of(views[i], 2, staging_extent, 4);
    }
    for (size_t i = 0; i < pair_count; i++) {
        in[i] = staging_array(cpu_view(), views[i % SLOTS], 2, staging_extent, 4);
        out[i] = staging_array(cpu_view(), views[i % SLOTS], 2, staging_extent, 4);
    }
    for (size_t k = 0; k < CHUNKS + pair_count; k++) {
        if (k >= pair_count) {
            size_t done = k - pair_count;
            expect_done(sent[done]);
            expect_done(received[done]);
            got[done] = memory(STAGING_SIZE);
            memcpy(got[done], data_of(out[done % pair_count], REVAMP_ACCESS_READ), STAGING_SIZE);
        }
        if (k >= CHUNKS) continue;
        given[k] = numbers(STAGING_COUNT, (uint32_t)k + 1);
        memcpy(data_of(in[k % pair_count], REVAMP_ACCESS_WRITE), given[k], STAGING_SIZE);
        revamp_array slot = slots[k % SLOTS];
        revamp_region from = whole(in[k % pair_count]), device_region = whole(slot), to = whole(out[k % pair_count]);
        REQUIRE_OK(revamp_copy_async(&from, &device_region, NULL, &sent[k]));
        CHECK_OK(launch_step(views[k % SLOTS], step, slot));
        CHECK_OK(launch_step(views[k % SLOTS], step, slot));
        REQUIRE_OK(revamp_copy_async(&device_region, &to, NULL, &received[k]));
    }
    for (size_t k = 0; k < CHUNKS; k++) {
        step_naive(given[k], STAGING_COUNT, 2);
        CHECK_SAME(got[k], given[k], STAGING_SIZE);
    }
    for (size_t i = 0; i < pair_count; i++) {
        CHECK_OK(revamp_array_destroy(in[i]));
        CHECK_OK(revamp_array_destroy(out[i]));
    }
    for (size_t i = 0; i < SLOTS; i++) {
        CHECK_OK(revamp_array_destroy(slots[i]));
        if (own_views) CHECK_OK(revamp_accelerator_view_release(views[i]));
    }
    CHECK_OK(revamp_kernel_release(step));
}

TEST(STG_13_a_chunked_pipeline_keeps_its_chunks_apart) {
    FOR_EACH_PLACE(p, runs_spirv) {
        chunked_pipeline(p, false, CHUNKS);
        chunked_pipeline(p, true, CHUNKS);
        /* SLOTS is not a multiple of 2, so a staging array serves different slots. */
        chunked_pipeline(p, false, 2);
        chunked_pipeline(p, true, 2);
    }
}

static void *touch_array(void *context) {
    revamp_array array = context;
    void *data = NULL;
    for (int i = 0; i < 200; i++)
        IGNORE_STATUS(revamp_array_data(array, REVAMP_ACCESS_READ, &data));
    return NULL;
}

TEST(STG_14_access_while_a_copy_is_in_flight_does_no_harm) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4);
        revamp_region from = whole(staging), to = whole(device);
        pthread_t thread;
        uint32_t *expected = numbers(STAGING_COUNT, 6);
        write_array(staging, expected);
        REQUIRE(!pthread_create(&thread, NULL, touch_array, staging));
        for (int i = 0; i < 50; i++) {
            revamp_completion done = NULL;
            REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
            expect_done(done);
        }
        pthread_join(thread, NULL);
        CHECK_SAME(read_array(device), expected, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device));
    }
}

static void *write_once(void *array) {
    data_of(array, REVAMP_ACCESS_WRITE);
    return NULL;
}

static void write_on_another_thread(revamp_array array) {
    pthread_t thread;
    REQUIRE(!pthread_create(&thread, NULL, write_once, array));
    pthread_join(thread, NULL);
}

CHILD(accesses_on_another_thread) {
    collect_errors();
    FOR_EACH_PLACE(p, runs_kernels) {
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4), next = staging_for(p);
        revamp_region from = whole(staging), to = whole(device), last = whole(next);
        revamp_completion done = NULL, copied_on = NULL;
        write_array(staging, numbers(STAGING_COUNT, 6));
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        write_on_another_thread(staging);
        const char *text = wait_for_errors();
        CHECK_TEXT(text, "rule STG-14");
        CHECK_TEXT(text, "revamp_copy_async");
        CHECK_TEXT(text, "revamp_array_data");
        expect_done(done);
        write_on_another_thread(staging);
        CHECK_NO_RACE();
        /* No race: revamp_array_data() has waited for the copy. */
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        data_of(staging, REVAMP_ACCESS_READ_WRITE);
        write_on_another_thread(staging);
        CHECK_NO_RACE();
        expect_done(done);
        /* No race: the second copy comes after the first one, and is done. */
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        REQUIRE_OK(revamp_copy_async(&to, &last, NULL, &copied_on));
        CHECK_OK(revamp_completion_get(copied_on));
        write_on_another_thread(staging);
        CHECK_NO_RACE();
        expect_done(done);
        expect_done(copied_on);
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device));
        CHECK_OK(revamp_array_destroy(next));
    }
}

TEST(STG_14_access_on_another_thread_is_reported) {
    CHECK_CHILD("accesses_on_another_thread", "REVAMP_CHECK=1", NULL);
    CHECK_CHILD("accesses_on_another_thread", "REVAMP_CHECK=1", "REVAMP_MEMORY=separate", NULL);
}

TEST(STG_15_STG_16_data_fetched_again_shows_the_result) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4);
        revamp_region from = whole(device), to = whole(staging);
        uint32_t *expected = numbers(STAGING_COUNT, 1);
        revamp_completion done = NULL;
        memset(data_of(staging, REVAMP_ACCESS_WRITE), 0, STAGING_SIZE);
        write_array(device, expected);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        /* revamp_array_data() waits for the copy, as documented. */
        CHECK_SAME(data_of(staging, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        expect_done(done);
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device));
    }
}

TEST(STG_17_a_kernel_does_not_take_it_directly) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array staging = staging_for(p);
        CHECK_FAILS(launch_step(NULL, step, staging), AS_RUNTIME,
                    "concurrency::parallel_for_each is not supported on the selected accelerator \"CPU accelerator\".");
        CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x80070057);
        CHECK_FAILS(launch_step(p->view, step, staging), AS_RUNTIME, "view");
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Checks that the accelerator of `p` uses `bytes` more than before, plus a little for bookkeeping. The check
 * ignores virtual memory, because each driver thread reserves 64 MiB at its first allocation. */
static void check_used(const place *p, const revamp_memory_usage *before, uint64_t bytes) {
    const revamp_memory_usage now = usage_of(p);
    CHECK(now.used >= before->used + bytes && now.used < before->used + bytes + (1 << 20));
    CHECK(now.held <= before->held + bytes + bytes / 10 + now.slack + (1 << 20));
}

TEST(STG_18_staging_memory_is_freed_with_the_array) {
    enum { SIZE = 64 << 20, ROUNDS = 10 };
    const int32_t extent = SIZE / 4;
    FOR_EACH_PLACE(p, holds_arrays) {
        const revamp_memory_usage before = usage_of(p);
        for (int i = 0; i < ROUNDS; i++) {
            revamp_array array = staging_array(cpu_view(), p->view, 1, &extent, 4);
            uint32_t *data = data_of(array, REVAMP_ACCESS_WRITE);
            data[0] = data[extent - 1] = 1;
            check_used(p, &before, SIZE);
            CHECK_OK(revamp_array_destroy(array));
            CHECK_NUMBER(usage_of(p).used, before.used);
            check_used(p, &before, 0);
        }
    }
}

/* Checks that a copy moves its bytes once, and nothing else. */
static void check_one_transfer(revamp_region *from, revamp_region *to) {
    size_t log_count = 0;
    uint64_t first = 0;
    revamp_transfer log[8] = {{0}};
    meter m = meter_of(NULL);
    REQUIRE_OK(revamp_transfer_log_next(&first));
    CHECK_OK(revamp_copy(from, to));
    revamp_transfer_counters moved = moved_since(&m);
    CHECK_NUMBER(bytes_moved(moved), STAGING_SIZE);
    CHECK_NUMBER(moved.explicit_to_count + moved.explicit_from_count + moved.explicit_local_count, 1);
    CHECK_NUMBER(moved.implicit_to_count + moved.implicit_from_count + moved.implicit_local_count, 0);
    log[0].struct_size = sizeof log[0];
    /* The log shows no intermediate copy. */
    REQUIRE_OK(revamp_transfer_log_read(first, log, COUNT(log), &log_count));
    CHECK_NUMBER(log_count, 1);
    CHECK_NUMBER(log[0].bytes, STAGING_SIZE);
}

TEST(STG_8_STG_9_one_device_copy_and_no_other) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array staging = staging_for(p), device = array_of(p->view, 2, staging_extent, 4);
        revamp_region staging_region = whole(staging), device_region = whole(device);
        check_one_transfer(&staging_region, &device_region);
        check_one_transfer(&device_region, &staging_region);
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device));
    }
}

/* REVAMP_TEST makes one allocation fail. The creation of the arrays may fail, but not the copies. */
CHILD(copies_of_staging_arrays_allocate_nothing) {
    const int32_t extent = 1 << 20;
    const place *p = first_place_or_skip(runs_spirv);
    revamp_array staging = NULL, device = NULL;
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = p->view;
    revamp_status status = revamp_array_create(p->view, 1, &extent, 4, NULL, &device);
    if (status == REVAMP_OK) status = revamp_array_create(cpu_view(), 1, &extent, 4, &options, &staging);
    if (status != REVAMP_OK) {
        CHECK_FAILS(status, AS_MEMORY, "alloc");
        return;
    }
    uint32_t *expected = numbers((size_t)extent, 1);
    memcpy(data_of(staging, REVAMP_ACCESS_WRITE), expected, (size_t)extent * 4);
    revamp_region staging_region = whole(staging), device_region = whole(device);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(revamp_copy(&staging_region, &device_region));
        memset(data_of(staging, REVAMP_ACCESS_WRITE), 0, (size_t)extent * 4);
        CHECK_OK(revamp_copy(&device_region, &staging_region));
        CHECK_SAME(data_of(staging, REVAMP_ACCESS_READ), expected, (size_t)extent * 4);
    }
    CHECK_OK(revamp_array_destroy(staging));
    CHECK_OK(revamp_array_destroy(device));
}

TEST(STG_8_STG_9_no_temporary_is_made) {
    first_place_or_skip(runs_spirv);
    for (int n = 1; n <= 6; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=fail-alloc=%d", n);
        child_result r = run_child("copies_of_staging_arrays_allocate_nothing", setting, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s\n", setting);
    }
}

/* Views of staging arrays. The arrays have two dimensions, but the kernels use one-dimensional views of them. */

static revamp_array_view line_view_of(revamp_array array) {
    const int32_t count = STAGING_COUNT;
    revamp_array_view all = view_of_array(array), line = reshaped(all, 1, &count);
    drop(all);
    return line;
}

TEST(STG_11_a_view_is_at_home_on_the_host) {
    FOR_EACH_ENGINE(e) {
        revamp_array staging = staging_for(e->p);
        uint32_t *expected = numbers(STAGING_COUNT, 1);
        memcpy(data_of(staging, REVAMP_ACCESS_WRITE), expected, STAGING_SIZE);
        revamp_array_view line = line_view_of(staging);
        uint64_t moved_bytes = bytes_if_separate(line, e->p, STAGING_SIZE);
        CHECK(array_view_info(line).source_view == cpu_view());
        CHECK_NUMBER(valid_on(line, cpu_view()), STAGING_SIZE);
        meter m = meter_of(line);
        /* The first kernel moves the data to the device automatically; later kernels move nothing. */
        CHECK_OK(run_step(e, e->p->view, use_view(line)));
        CHECK_MOVED(&m, moved_bytes, 0);
        CHECK_OK(run_step(e, e->p->view, use_view(line)));
        CHECK_NOTHING_MOVED(&m);
        if (moved_bytes) CHECK_NUMBER(valid_on(line, cpu_view()), 0);
        /* The host access moves the data directly into the array, in one transfer. */
        host_access(line, REVAMP_ACCESS_READ);
        revamp_transfer_counters moved = moved_since(&m);
        CHECK_NUMBER(bytes_moved(moved), moved_bytes);
        CHECK_NUMBER(moved.implicit_from_count, moved_bytes != 0);
        step_naive(expected, STAGING_COUNT, 2);
        CHECK_SAME(host_access(line, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        drop(line);
        CHECK_OK(revamp_array_destroy(staging));
    }
}

/* The library allocates only the array and its copy on the device. Transfers of the view allocate no memory. */
CHILD(views_of_staging_arrays_allocate_once) {
    const int32_t extent = 1 << 20;
    const place *p = first_place_or_skip(runs_spirv);
    revamp_array staging = NULL;
    revamp_array_view view = NULL;
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = p->view;
    revamp_status status = revamp_array_create(cpu_view(), 1, &extent, 4, &options, &staging);
    if (status == REVAMP_OK) status = revamp_array_view_create_array(staging, NULL, &view);
    if (status == REVAMP_OK) status = revamp_array_view_synchronize_to(view, p->view, REVAMP_ACCESS_READ);
    if (status != REVAMP_OK) {
        CHECK_FAILS(status, AS_MEMORY, "alloc");
        return;
    }
    for (int i = 0; i < 3; i++) {
        host_access(view, REVAMP_ACCESS_WRITE)[0] = 5;
        CHECK_OK(revamp_array_view_synchronize_to(view, p->view, REVAMP_ACCESS_READ_WRITE));
        CHECK_NUMBER(host_access(view, REVAMP_ACCESS_READ)[0], 5);
    }
    drop(view);
    CHECK_OK(revamp_array_destroy(staging));
}

TEST(STG_11_the_fast_path_makes_no_temporary) {
    first_place_or_skip(runs_spirv);
    for (int n = 1; n <= 6; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=fail-alloc=%d", n);
        child_result r = run_child("views_of_staging_arrays_allocate_once", setting, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s\n", setting);
    }
}

TEST(STG_12_the_host_sees_what_a_kernel_wrote) {
    FOR_EACH_ENGINE(e) {
        revamp_array staging = staging_for(e->p);
        uint32_t *expected = numbers(STAGING_COUNT, 2);
        write_array(staging, expected);
        revamp_array_view line = line_view_of(staging), row = range_of(line, 64, 128);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(run_step(e, NULL, use_view(line)));
            step_naive(expected, STAGING_COUNT, 1);
            CHECK_SAME(host_access(line, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
            /* The same holds for a part of the array. The next kernel sees the host's write. */
            CHECK_OK(run_step(e, NULL, use_view(row)));
            step_naive(expected + 64, 128, 1);
            uint32_t *part = host_access(row, REVAMP_ACCESS_READ_WRITE);
            CHECK_SAME(part, expected + 64, 512);
            part[i] = expected[64 + i] = 99;
        }
        CHECK_SAME(host_access(line, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        drop(row);
        drop(line);
        CHECK_OK(revamp_array_destroy(staging));
    }
}

/* The results are the same with and without staging arrays, and in shared and separate memory. */
TEST(STG_13_views_give_the_same_results_staged_or_not) {
    FOR_EACH_ENGINE(e) {
        uint32_t *expected = numbers(STAGING_COUNT, 6), *plain = numbers(STAGING_COUNT, 6);
        revamp_array staging = staging_for(e->p), array = array_1d(cpu_view(), STAGING_COUNT, 4);
        write_array(staging, plain);
        write_array(array, plain);
        revamp_array_view views[] = {line_view_of(staging), view_of_array(array), view_of(plain, STAGING_COUNT)};
        step_naive(expected, STAGING_COUNT, 4);
        for (size_t i = 0; i < COUNT(views); i++) {
            for (int k = 0; k < 4; k++)
                CHECK_OK(run_step(e, NULL, use_view(views[i])));
            CHECK_SAME(host_access(views[i], REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        }
        drop_all(views, COUNT(views));
        CHECK_SAME(data_of(staging, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        CHECK_SAME(data_of(array, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(array));
    }
}

static void *access_repeatedly(void *context) {
    void *data = NULL;
    for (int i = 0; i < 200; i++)
        IGNORE_STATUS(revamp_array_view_data(context, REVAMP_ACCESS_READ, &data));
    return NULL;
}

TEST(STG_14_access_while_a_kernel_uses_a_view_does_no_harm) {
    FOR_EACH_ENGINE(e) {
        revamp_array staging = staging_for(e->p);
        pthread_t thread;
        uint32_t *expected = numbers(STAGING_COUNT, 6);
        write_array(staging, expected);
        revamp_array_view line = line_view_of(staging);
        REQUIRE(!pthread_create(&thread, NULL, access_repeatedly, line));
        for (int i = 0; i < 50; i++)
            CHECK_OK(run_step(e, NULL, use_view(line)));
        pthread_join(thread, NULL);
        step_naive(expected, STAGING_COUNT, 50);
        CHECK_SAME(host_access(line, REVAMP_ACCESS_READ), expected, STAGING_SIZE);
        drop(line);
        CHECK_OK(revamp_array_destroy(staging));
    }
}

TEST(STG_15_STG_16_indexing_anew_shows_what_a_kernel_wrote_through_a_view) {
    FOR_EACH_ENGINE(e) {
        revamp_array staging = staging_for(e->p);
        uint32_t *expected = numbers(STAGING_COUNT, 6);
        write_array(staging, expected);
        revamp_array_view line = line_view_of(staging);
        for (int i = 0; i < 4; i++) {
            CHECK_OK(run_step(e, NULL, use_view(line)));
            step_naive(expected, STAGING_COUNT, 1);
            if (i % 2) {
                /* revamp_array_data() waits for the kernel and for the transfer back to the array. */
                uint32_t *data = data_of(staging, REVAMP_ACCESS_READ_WRITE);
                CHECK_SAME(data, expected, STAGING_SIZE);
                data[i] = expected[i] = 7;
            } else {
                uint32_t *data = host_access(line, REVAMP_ACCESS_READ_WRITE);
                CHECK_SAME(data, expected, STAGING_SIZE);
                data[i] = expected[i] = 8;
            }
        }
        CHECK_SAME(read_array(staging), expected, STAGING_SIZE);
        drop(line);
        CHECK_OK(revamp_array_destroy(staging));
    }
}

/* The device's copy of a staging array is freed with the array and its views. */
TEST(STG_18_device_memory_of_its_views_is_freed) {
    enum { SIZE = 16 << 20, ROUNDS = 10 };
    const int32_t extent = SIZE / 4;
    FOR_EACH_ENGINE(e) {
        const revamp_memory_usage before = usage_of(e->p);
        for (int i = 0; i < ROUNDS; i++) {
            revamp_array staging = staging_array(cpu_view(), e->p->view, 1, &extent, 4);
            revamp_array_view view = view_of_array(staging);
            /* The array may be destroyed first: the view keeps the array's memory. */
            CHECK_OK(revamp_array_destroy(staging));
            CHECK_OK(revamp_array_view_synchronize_to(view, e->p->view, REVAMP_ACCESS_WRITE));
            check_used(e->p, &before, has_own_memory(view, e->p->view) ? 2 * SIZE : SIZE);
            drop(view);
            wait_at(e->p);
            check_used(e->p, &before, 0);
        }
    }
}
