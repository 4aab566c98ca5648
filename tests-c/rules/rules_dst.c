/* Tests of the destruction of array_views (rules DST). A released view has no transfer counters, so the tests use the
 * counters of the process. */
#include "logged_errors.h"
#include "system.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * 4 };

TEST(DST_1_the_last_view_writes_changes_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        const uint64_t moved = bytes_if_separate(view, p, BYTES);
        step_on(p, view);
        step_on(p, view);
        meter m = meter_of(NULL);
        drop(view);
        /* The data is at home when the release returns. */
        step_naive(expected, N, 2);
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED(&m, 0, moved);
    }
}

TEST(DST_1_only_what_was_changed_is_written_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 990, 10);
        const uint64_t moved = bytes_if_separate(view, p, 40);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        step_on(p, part);
        drop(view);
        meter m = meter_of(NULL);
        drop(part);
        step_naive(expected + 990, 10, 1);
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED(&m, 0, moved);
    }
}

TEST(DST_1_the_part_that_is_left_writes_all_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 0, 1);
        step_on(p, view);
        drop(view);
        /* The last view covers one element, but the whole data source is written back. */
        drop(part);
        step_naive(expected, N, 1);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_1_the_last_accelerator_that_wrote_wins) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 0, 500), rest = range_of(view, 500, 500);
        step_on(p, part);
        step_on(q, rest);
        const uint64_t moved = bytes_if_separate(view, p, BYTES / 2) + bytes_if_separate(view, q, BYTES / 2);
        drop(part);
        drop(rest);
        meter m = meter_of(NULL);
        drop(view);
        step_naive(expected, N, 1);
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED(&m, 0, moved);
    }
}

/* Tests of views that are alive when the process ends or the library shuts down. */

static const char *const file_variable = "REVAMP_TESTS_FILE";

CHILD(exits_with_views) {
    const char *path = getenv(file_variable);
    REQUIRE(path);
    uint32_t *mapped = map_shared_file(path, BYTES);
    const place *p = first_place_or_skip(runs_kernels);
    revamp_array_view view = view_of(mapped, N), part = range_of(view, 7, 3);
    step_on(p, view);
    step_on(p, part);
    if (is_setting("REVAMP_TESTS_END", "exit")) exit(0);
    if (is_setting("REVAMP_TESTS_END", "uninitialize")) {
        uint32_t *expected = numbers(N, 1);
        CHECK_OK(revamp_uninitialize());
        step_naive(expected, N, 1);
        step_naive(expected + 7, 3, 1);
        CHECK_SAME(mapped, expected, BYTES);
        CHECK_FAILS(revamp_array_view_release(view), AS_HANDLE, "");
        full_job();
    }
}

static void check_ending(const char *ending) {
    char path[PATH_BYTES], setting[PATH_BYTES + 32];
    make_shared_file(path, BYTES);
    uint32_t *expected = numbers(N, 1), *got = map_shared_file(path, BYTES);
    memcpy(got, expected, BYTES);
    snprintf(setting, sizeof setting, "%s=%s", file_variable, path);
    child_result r = run_child("exits_with_views", setting, ending, NULL);
    step_naive(expected, N, 1);
    step_naive(expected + 7, 3, 1);
    if (check_child(&r, __FILE__, __LINE__)) CHECK_SAME(got, expected, BYTES);
    unmap_shared_file(got, BYTES);
    remove(path);
}

TEST(DST_1_views_alive_at_the_end_of_the_process_write_back) {
    check_ending("REVAMP_TESTS_END=return");
    check_ending("REVAMP_TESTS_END=exit");
}

TEST(DST_1_views_alive_at_uninitialize_write_back) {
    check_ending("REVAMP_TESTS_END=uninitialize");
}

TEST(DST_2_a_view_that_is_not_the_last_moves_nothing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 300), alias = part_of(view, NULL, NULL);
        const uint64_t moved = bytes_if_separate(view, p, BYTES);
        step_on(p, part);
        step_on(p, alias);
        meter m = meter_of(NULL);
        drop(part);
        CHECK_NOTHING_MOVED(&m);
        drop(alias);
        CHECK_NOTHING_MOVED(&m);
        step_naive(expected + 100, 300, 1);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, moved);
        /* Releasing one of two owners moves nothing. */
        CHECK_OK(revamp_array_view_retain(view));
        step_on(p, view);
        drop(view);
        CHECK_NOTHING_MOVED(&m);
        drop(view);
        CHECK_MOVED(&m, 0, moved);
        step_naive(expected, N, 1);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_2_an_alias_written_and_destroyed_loses_nothing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        for (int i = 0; i < 3; i++) {
            revamp_array_view alias = part_of(view, NULL, NULL), part = range_of(alias, i * 100, 150);
            step_on(p, alias);
            drop(alias);
            step_on(p, part);
            drop(part);
            step_naive(expected, N, 1);
            step_naive(expected + (size_t)i * 100, 150, 1);
            if (i == 1) CHECK_SAME(read_on(p, view), expected, BYTES);
        }
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_3_discarded_changes_are_not_written_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *original = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        step_on(p, view);
        CHECK_OK(revamp_array_view_discard_data(view));
        meter m = meter_of(NULL);
        drop(view);
        CHECK_NOTHING_MOVED(&m);
        /* In shared memory the discard undoes nothing. */
        if (!has_own_memory) step_naive(original, N, 1);
        CHECK_SAME(data, original, BYTES);
    }
}

/* Tests synchronize, host access and destruction after a discard (docs/spec/array-views.md#shared-memory). */
TEST(AV_5_DST_3_a_discard_undoes_nothing_in_shared_memory) {
    FOR_EACH_RUNNER(p)
    for (int variant = 0; variant < 3; variant++) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 200, 500);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        if (has_separate_memory()) CHECK(has_own_memory);
        if (!has_separate_memory() && p->info.is_emulated) CHECK(!has_own_memory);
        step_on(p, part);
        wait_at(p);
        CHECK_OK(revamp_array_view_discard_data(part));
        meter m = meter_of(view);
        if (!has_own_memory) step_naive(expected + 200, 500, 1);
        if (variant == 0) CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        if (variant == 1) CHECK_SAME(read_on_host(view), expected, BYTES);
        if (variant < 2) CHECK_NOTHING_MOVED(&m);
        drop(view);
        drop(part);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_3_changes_beside_the_discarded_ones_are_written_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 300, 100);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        step_on(p, view);
        CHECK_OK(revamp_array_view_discard_data(part));
        drop(part);
        meter m = meter_of(NULL);
        drop(view);
        CHECK_MOVED(&m, 0, has_own_memory ? BYTES - 400 : 0);
        step_naive(expected, 300, 1);
        step_naive(expected + 400, 600, 1);
        if (!has_own_memory) step_naive(expected + 300, 100, 1);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_3_a_write_after_discard_counts_again) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = memory(BYTES);
        revamp_array_view view = view_of(data, N);
        step_on(p, view);
        CHECK_OK(revamp_array_view_discard_data(view));
        fill_on(p, view, 3);
        drop(view);
        fill_naive(expected, N, 3);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_4_changes_go_back_to_the_array) {
    FOR_EACH_PLACE(home, holds_arrays) {
        uint32_t *expected = numbers(N, 1);
        const place host = host_place();
        revamp_array array = array_with(home->view, expected, N);
        /* Changes on the host. */
        revamp_array_view view = view_of_array(array);
        const uint64_t moved = bytes_if_separate(view, &host, BYTES);
        step_on_host(view);
        meter m = meter_of(NULL);
        drop(view);
        CHECK_MOVED(&m, moved, 0);
        step_naive(expected, N, 1);
        CHECK_SAME(read_array(array), expected, BYTES);
        /* Changes on each accelerator. */
        FOR_EACH_PLACE(p, runs_kernels) {
            revamp_array_view first = view_of_array(array), second = view_of_array(array);
            step_on(p, first);
            m = meter_of(NULL);
            drop(first);
            CHECK_NOTHING_MOVED(&m);
            drop(second);
            step_naive(expected, N, 1);
            CHECK_SAME(read_array(array), expected, BYTES);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(DST_5_a_read_only_capture_causes_no_write_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = const_view_of(data, N), writable = view_of(data, N), constant = read_only(writable);
        revamp_array results = array_1d(p->view, N, 4);
        const capture captures[] = {{view, NULL, 0}, {constant, NULL, 0}, {writable, NULL, REVAMP_ACCESS_READ}};
        const capture to = {NULL, results, 0};
        for (size_t i = 0; i < COUNT(captures); i++)
            REQUIRE_OK(try_use(p, OPERATION_READ, captures[i], to, 0));
        wait_at(p);
        meter m = meter_of(NULL);
        drop(view);
        drop(writable);
        drop(constant);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(data, expected, BYTES);
        CHECK_OK(revamp_array_destroy(results));
    }
}

TEST(DST_5_a_capture_counts_as_a_change) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        const uint64_t moved = bytes_if_separate(view, p, BYTES);
        touch_first_on(p, view, expected[0]);
        meter m = meter_of(NULL);
        drop(view);
        CHECK_MOVED(&m, 0, moved);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* If a SPIR-V module declares a buffer read-only, the library does not write back the view that is bound to it. */
TEST(DST_6_a_kernel_that_declares_to_read_causes_no_write_back) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const int32_t extent = N;
        uint32_t *a = numbers(N, 1), *b = numbers(N, 2), *out = memory(BYTES), *expected = memory(BYTES);
        revamp_kernel sets = load(p->accelerator, &sets_module);
        revamp_array_view view_a = view_of(a, N), view_b = view_of(b, N), view_out = view_of(out, N);
        revamp_argument arguments[] = {revamp_argument_view(0, view_a), in_set(revamp_argument_view(0, view_b), 1),
                                       in_set(revamp_argument_view(3, view_out), 2)};
        CHECK_OK(revamp_array_view_discard_data(view_out));
        const uint64_t moved = bytes_if_separate(view_out, p, BYTES);
        CHECK_OK(launch(p->view, sets, 1, &extent, arguments, 3));
        meter m = meter_of(NULL);
        drop(view_a);
        drop(view_b);
        CHECK_NOTHING_MOVED(&m);
        drop(view_out);
        CHECK_MOVED(&m, 0, moved);
        for (int i = 0; i < N; i++)
            expected[i] = a[i] + 2 * b[i];
        CHECK_SAME(out, expected, BYTES);
        CHECK_OK(revamp_kernel_release(sets));
    }
}

/* Tests of write-back after the device is lost. */

static revamp_status try_step(const place *p, revamp_array_view view) {
    const capture a = {view, NULL, 0}, none = {NULL, NULL, 0};
    return try_use(p, OPERATION_STEP, a, none, 0);
}

CHILD(loses_the_device_with_views) {
    enum { ELEMENTS = 1 << 20, LAUNCHES = 4 };
    uint32_t *data = numbers(ELEMENTS, 1), *expected = numbers(ELEMENTS, 1);
    const place *p = first_place_or_skip(runs_spirv);
    collect_errors();
    revamp_array_view view = view_of(data, ELEMENTS), part = range_of(view, 0, 10);
    revamp_status launch_status = REVAMP_OK;
    /* The first launch keeps the device busy, so the others are batched until a call waits for them. */
    for (int i = 0; i < LAUNCHES && launch_status == REVAMP_OK; i++)
        launch_status = try_step(p, view);
    if (launch_status != REVAMP_OK) CHECK_FAILS(launch_status, AS_REMOVED, "lost");
    drop(part);
    if (is_setting("REVAMP_TESTS_END", "synchronize")) {
        revamp_status status = revamp_array_view_synchronize(view, REVAMP_ACCESS_READ);
        if (status != REVAMP_OK) {
            CHECK_FAILS(status, AS_REMOVED, "lost");
            printf("synchronize failed\n");
        }
        launch_status = launch_status == REVAMP_OK ? status : launch_status;
    }
    /* The release itself never fails. */
    drop(view);
    step_naive(expected, ELEMENTS, LAUNCHES);
    if (launch_status == REVAMP_OK && memcmp(data, expected, (size_t)ELEMENTS * 4) != 0) {
        CHECK(wait_for_errors()[0]);
        printf("write-back failed\n");
    }
    small_job();
    CHECK_OK(revamp_set_log_callback(NULL, NULL, REVAMP_LOG_ERROR));
    CHECK_OK(revamp_uninitialize());
}

enum { MAX_SUBMISSIONS = 8 };

/* The number of runs that printed each message. Run n loses the device at submission n. */
typedef struct {
    unsigned write_back, synchronize;
} message_counts;

static message_counts count_messages(const char *ending) {
    message_counts counts = {0, 0};
    for (int n = 1; n <= MAX_SUBMISSIONS; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=lose-device=%d", n);
        child_result r = run_child("loses_the_device_with_views", setting, ending, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) {
            printf("lose-device=%d\n", n);
            continue;
        }
        counts.write_back += strstr(r.output, "write-back failed") != NULL;
        counts.synchronize += strstr(r.output, "synchronize failed") != NULL;
    }
    return counts;
}

TEST(DST_7_a_failure_of_the_write_back_is_lost) {
    first_place_or_skip(runs_spirv);
    CHECK(count_messages("REVAMP_TESTS_END=release").write_back > 0);
}

TEST(DST_8_synchronize_reports_the_failure) {
    first_place_or_skip(runs_spirv);
    message_counts counts = count_messages("REVAMP_TESTS_END=synchronize");
    CHECK(counts.synchronize > 0);
    CHECK_NUMBER(counts.write_back, 0);
}

TEST(DST_9_after_synchronize_the_last_view_moves_nothing) {
    FOR_EACH_RUNNER(p) {
        for (int by_async = 0; by_async < 2; by_async++) {
            uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
            revamp_array_view view = view_of(data, N);
            step_on(p, view);
            if (by_async) {
                revamp_completion done = NULL;
                REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done));
                expect_done(done);
            } else {
                CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
            }
            step_naive(expected, N, 1);
            CHECK_SAME(data, expected, BYTES);
            /* Another read on the accelerator is no change. */
            CHECK_SAME(read_on(p, view), expected, BYTES);
            meter m = meter_of(NULL);
            drop(view);
            CHECK_NOTHING_MOVED(&m);
            CHECK_SAME(data, expected, BYTES);
        }
    }
}

TEST(DST_9_host_access_counts_as_synchronize) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        meter m = meter_of(NULL);
        drop(view);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(DST_10_inputs_go_up_and_only_the_output_comes_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *in = numbers(N, 1), *out = numbers(N, 2);
        revamp_array_view input = const_view_of(in, N), output = view_of(out, N);
        meter of_input = meter_of(input), of_output = meter_of(output);
        const capture a = {input, NULL, 0}, b = {output, NULL, 0};
        const uint64_t moved = bytes_if_separate(output, p, BYTES);
        CHECK_OK(revamp_array_view_discard_data(output));
        REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
        CHECK_MOVED(&of_input, moved, 0);
        CHECK_NOTHING_MOVED(&of_output);
        CHECK_OK(revamp_array_view_synchronize(output, REVAMP_ACCESS_READ));
        CHECK_SAME(out, in, BYTES);
        CHECK_MOVED_BY_CALL(&of_output, 0, moved);
        CHECK_NOTHING_MOVED(&of_input);
        meter m = meter_of(NULL);
        drop(input);
        drop(output);
        CHECK_NOTHING_MOVED(&m);
    }
}
