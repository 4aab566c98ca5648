/* Tests of the times of operations: revamp_async_options.is_timed and revamp_completion_get_times. */
#include "views.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NUMBERS = 1 << 16, BYTES = NUMBERS * 4 };

static revamp_async_options timed(const revamp_completion *after) {
    revamp_async_options options = {0};
    options.struct_size = sizeof options;
    options.after = after;
    options.after_count = after != NULL;
    options.is_timed = true;
    return options;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Checks and returns the times of an operation that began after `earliest` on the host's clock. Releases `done`. */
static revamp_times times_of(revamp_completion done, uint64_t earliest) {
    revamp_times times = {0};
    times.struct_size = sizeof times;
    REQUIRE_OK(revamp_completion_get_times(done, &times));
    CHECK(times.begin <= times.end);
    if (times.is_host_clock) {
        CHECK(times.begin + times.deviation >= earliest);
        CHECK(times.end <= now() + times.deviation);
    } else {
        CHECK_NUMBER(times.deviation, 0);
    }
    revamp_times second_times = {0};
    second_times.struct_size = sizeof second_times;
    CHECK_OK(revamp_completion_get_times(done, &second_times));
    CHECK_NUMBER(second_times.begin, times.begin);
    CHECK_NUMBER(second_times.end, times.end);
    CHECK_NUMBER(second_times.deviation, times.deviation);
    CHECK_NUMBER(second_times.is_host_clock, times.is_host_clock);
    CHECK_OK(revamp_completion_release(done));
    return times;
}

static void expect_order(revamp_times first, revamp_times second) {
    CHECK_NUMBER(first.is_host_clock, second.is_host_clock);
    CHECK(first.end <= second.begin + first.deviation + second.deviation);
}

static revamp_completion begin_step(const place *p, revamp_kernel step, revamp_array array,
                                    const revamp_async_options *async_options) {
    int32_t extent = NUMBERS;
    revamp_argument argument = revamp_argument_buffer(0, array);
    revamp_completion done = NULL;
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = &argument;
    info.argument_count = 1;
    REQUIRE_OK(revamp_dispatch_async(p->view, step, &info, async_options, &done));
    return done;
}

TEST(launches_are_timed_by_the_device) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_async_options async_options = timed(NULL);
        uint64_t start_time = now();
        revamp_completion first = begin_step(p, step, array, &async_options),
                          between = begin_step(p, step, array, NULL),
                          second = begin_step(p, step, array, &async_options);
        revamp_times of_first = times_of(first, start_time), of_second = times_of(second, start_time);
        expect_order(of_first, of_second);
        CHECK(of_first.begin < of_first.end);
        expect_done(between);
        step_naive(sent, NUMBERS, 3);
        CHECK_SAME(read_array(array), sent, BYTES);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* No other work overlaps a timed launch, not even independent work. */
TEST(a_timed_launch_overlaps_no_other) {
    FOR_EACH_PLACE(p, runs_spirv) {
        enum { LAUNCHES = 6 };
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array arrays[LAUNCHES];
        revamp_completion done[LAUNCHES];
        revamp_async_options async_options = timed(NULL);
        for (int i = 0; i < LAUNCHES; i++)
            arrays[i] = array_with(p->view, numbers(NUMBERS, 1), NUMBERS);
        for (int i = 0; i < LAUNCHES; i++)
            done[i] = begin_step(p, step, arrays[i], &async_options);
        revamp_times last = times_of(done[0], 0);
        for (int i = 1; i < LAUNCHES; i++) {
            revamp_times next = times_of(done[i], 0);
            expect_order(last, next);
            last = next;
        }
        for (int i = 0; i < LAUNCHES; i++)
            CHECK_OK(revamp_array_destroy(arrays[i]));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Without timestamps, a device refuses timed launches. Timed copies succeed. Any times use the host's clock. */
CHILD(times_without_timestamps) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array a = array_with(p->view, sent, NUMBERS), b = array_1d(p->view, NUMBERS, 4);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_region from = whole(a), to = whole(b);
        revamp_completion done = NULL;
        revamp_async_options async_options = timed(NULL);
        int32_t extent = NUMBERS;
        revamp_argument argument = revamp_argument_buffer(0, a);
        revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = &argument;
        info.argument_count = 1;
        CHECK_FAILS(revamp_dispatch_async(p->view, step, &info, &async_options, &done), AS_UNSUPPORTED, "timestamps");
        REQUIRE_OK(revamp_copy_async(&from, &to, &async_options, &done));
        CHECK_OK(revamp_completion_get(done));
        revamp_times times = REVAMP_TIMES_INIT;
        revamp_status status = revamp_completion_get_times(done, &times);
        if (status == REVAMP_OK)
            CHECK(times.is_host_clock);
        else
            CHECK_TEXT(revamp_last_error_message(), "timestamps");
        CHECK_OK(revamp_completion_release(done));
        CHECK_SAME(read_array(b), sent, BYTES);
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(copies_do_not_need_timestamps) {
    CHECK_CHILD("times_without_timestamps", "REVAMP_TEST=no-timestamps", NULL);
}

TEST(launches_that_wait_are_timed_when_they_run) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_array array = array_with(p->view, numbers(NUMBERS, 1), NUMBERS);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_completion trigger = NULL;
        REQUIRE_OK(revamp_completion_create(&trigger));
        revamp_async_options async_options = timed(&trigger);
        revamp_completion done = begin_step(p, step, array, &async_options);
        CHECK_STATUS(revamp_completion_wait_for(done, 20000000), REVAMP_TIMEOUT);
        uint64_t trigger_time = now();
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        times_of(done, trigger_time);
        expect_done(trigger);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

static void record_time(const revamp_thread_id *id, void *context) {
    uint64_t *times = context;
    times[id->global[0]] = now();
}

TEST(host_kernels_are_timed) {
    FOR_EACH_PLACE(p, runs_host_kernels) {
        enum { THREADS = 3 };
        int32_t extent = THREADS;
        uint64_t seen[THREADS] = {0}, start_time = now();
        revamp_completion done = NULL;
        revamp_async_options async_options = timed(NULL);
        revamp_parallel_for_each_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.function = record_time;
        info.context = seen;
        REQUIRE_OK(revamp_parallel_for_each_async(p->view, &info, &async_options, &done));
        revamp_times times = times_of(done, start_time);
        CHECK(times.is_host_clock);
        for (int i = 0; i < THREADS; i++)
            CHECK(times.begin <= seen[i] && seen[i] <= times.end);
    }
}

TEST(copies_are_timed) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(NUMBERS, 1), *got = memory(BYTES);
        revamp_array a = array_1d(p->view, NUMBERS, 4), b = array_1d(p->view, NUMBERS, 4);
        revamp_region from = whole(a), to = whole(b);
        revamp_completion in = NULL, inside = NULL, out = NULL;
        revamp_async_options async_options = timed(NULL);
        uint64_t start_time = now();
        REQUIRE_OK(revamp_copy_to_array_async(sent, BYTES, a, &async_options, &in));
        REQUIRE_OK(revamp_copy_async(&from, &to, &async_options, &inside));
        REQUIRE_OK(revamp_copy_from_array_async(b, got, BYTES, &async_options, &out));
        revamp_times of_in = times_of(in, start_time), of_inside = times_of(inside, start_time),
                     of_out = times_of(out, start_time);
        CHECK(of_in.is_host_clock && of_out.is_host_clock);
        if (of_inside.is_host_clock) {
            expect_order(of_in, of_inside);
            expect_order(of_inside, of_out);
        }
        CHECK_SAME(got, sent, BYTES);
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
    }
}

TEST(array_views_are_timed) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(sent, NUMBERS);
        revamp_completion there = NULL, back = NULL;
        revamp_async_options async_options = timed(NULL);
        uint64_t start_time = now();
        REQUIRE_OK(
            revamp_array_view_synchronize_to_async(view, p->view, REVAMP_ACCESS_READ_WRITE, &async_options, &there));
        REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, &async_options, &back));
        revamp_times of_there = times_of(there, start_time), of_back = times_of(back, start_time);
        expect_order(of_there, of_back);
        CHECK_OK(revamp_array_view_release(view));
    }
}

TEST(untimed_work_has_no_times) {
    uint32_t sent[4] = {0};
    revamp_array array = array_1d(cpu_view(), 4, 4);
    revamp_completion done = NULL, trigger = NULL;
    revamp_times times = {0};
    times.struct_size = sizeof times;
    REQUIRE_OK(revamp_copy_to_array_async(sent, sizeof sent, array, NULL, &done));
    CHECK_FAILS(revamp_completion_get_times(done, &times), AS_RUNTIME, "is_timed");
    expect_done(done);
    REQUIRE_OK(revamp_completion_create(&trigger));
    CHECK_FAILS(revamp_completion_get_times(trigger, &times), AS_RUNTIME, "is_timed");
    revamp_async_options async_options = timed(&trigger);
    REQUIRE_OK(revamp_copy_to_array_async(sent, sizeof sent, array, &async_options, &done));
    CHECK_OK(revamp_completion_set(trigger, REVAMP_ERROR_RUNTIME, "never"));
    CHECK_FAILS(revamp_completion_get_times(done, &times), AS_RUNTIME, "never");
    CHECK_FAILS(revamp_completion_get_times(done, NULL), AS_RUNTIME | AS_ARGUMENT, "");
    CHECK_OK(revamp_completion_release(done));
    CHECK_OK(revamp_completion_release(trigger));
    CHECK_OK(revamp_array_destroy(array));
}

/* REVAMP_TEST=fail-submit=N makes submission N fail. If submission N contains a copy, repeating the copy succeeds. */
CHILD(copies_onto_lost_data) {
    /* Too large for a copy by the host (HOST_COPY_BYTES in src/runtime/data/transfer.rs). */
    enum { LARGE_COUNT = 2 * NUMBERS, SIZE = LARGE_COUNT * 4 };
    const place *p = first_place_or_skip(runs_spirv);
    uint32_t *sent = numbers(LARGE_COUNT, 1);
    revamp_array a = array_1d(p->view, LARGE_COUNT, 4), b = array_1d(p->view, LARGE_COUNT, 4);
    revamp_kernel step = load(p->accelerator, &step_module);
    revamp_region from = whole(a), to = whole(b);
    revamp_async_options async_options = timed(NULL);
    revamp_status status = REVAMP_ERROR_INTERNAL;
    if (revamp_copy_to_array(sent, SIZE, a)) CHECK_OK(revamp_copy_to_array(sent, SIZE, a));
    for (int i = 0; i < 40; i++)
        (void)launch_step(p->view, step, b);
    IGNORE_STATUS(revamp_accelerator_view_wait(p->view));
    for (int i = 0; i < 2 && status; i++) {
        revamp_completion done = NULL;
        REQUIRE_OK(revamp_copy_async(&from, &to, &async_options, &done));
        status = revamp_completion_get(done);
        CHECK_OK(revamp_completion_release(done));
    }
    CHECK_OK(status);
    void *received = memory(SIZE);
    if (revamp_copy_from_array(b, received, SIZE)) CHECK_OK(revamp_copy_from_array(b, received, SIZE));
    CHECK_SAME(received, sent, SIZE);
}

TEST(timed_copies_replace_lost_data) {
    first_place_or_skip(runs_spirv);
    for (int n = 1; n <= 8; n++) {
        char setting[32];
        snprintf(setting, sizeof setting, "REVAMP_TEST=fail-submit=%d", n);
        CHECK_CHILD("copies_onto_lost_data", setting, NULL);
    }
}
