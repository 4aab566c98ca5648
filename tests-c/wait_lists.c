/* Tests of completions of launches, wait lists, and completions that the program sets (revamp_dispatch_async,
 * revamp_parallel_for_each_async, revamp_async_options, revamp_completion_create). */
#include "logged_errors.h"
#include "system.h"
#include "views.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 100, BYTES = NUMBERS * 4 };

static revamp_async_options after(const revamp_completion *completions, size_t count) {
    revamp_async_options options = {0};
    options.struct_size = sizeof options;
    options.after = completions;
    options.after_count = count;
    return options;
}

static revamp_completion create_completion(void) {
    revamp_completion made = NULL;
    REQUIRE_OK(revamp_completion_create(&made));
    return made;
}

/* The step kernel as a host kernel. */
static void host_step(const revamp_thread_id *id, void *context) {
    uint32_t *numbers = *(uint32_t **)context;
    numbers[id->global[0]] = 3 * numbers[id->global[0]] + 1;
}

/* Launches the step kernel (SPIR-V or host) on `argument`. The launch begins after the completions of `list`. */
static revamp_completion begin_step_of(const place *p, revamp_accelerator_view view, revamp_argument argument,
                                       const revamp_completion *list, size_t count) {
    int32_t extent = NUMBERS;
    revamp_async_options options = after(list, count);
    revamp_completion done = NULL;
    if (runs_spirv(&p->info)) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = &argument;
        info.argument_count = 1;
        REQUIRE_OK(revamp_dispatch_async(view, step, &info, &options, &done));
        CHECK_OK(revamp_kernel_release(step));
        /* The call has copied its arguments, so they may change now. */
        memset(&argument, 0xFF, sizeof argument);
    } else {
        uint64_t block = 0;
        revamp_parallel_for_each_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.function = host_step;
        info.arguments = &argument;
        info.argument_count = 1;
        info.block = &block;
        info.block_size = sizeof block;
        REQUIRE_OK(revamp_parallel_for_each_async(view, &info, &options, &done));
        memset(&argument, 0xFF, sizeof argument);
        memset(&block, 0xFF, sizeof block);
    }
    memset(&options, 0xFF, sizeof options);
    extent = -1;
    return done;
}

static revamp_completion begin_step(const place *p, revamp_accelerator_view view, revamp_array array,
                                    const revamp_completion *list, size_t count) {
    revamp_argument bound = revamp_argument_buffer(0, array);
    revamp_argument address = revamp_argument_address(0, array, REVAMP_ACCESS_READ_WRITE);
    return begin_step_of(p, view, runs_spirv(&p->info) ? bound : address, list, count);
}

static void check_steps(revamp_array array, const uint32_t *sent, unsigned steps) {
    uint32_t expected[NUMBERS];
    memcpy(expected, sent, BYTES);
    step_naive(expected, NUMBERS, steps);
    CHECK_SAME(read_array(array), expected, BYTES);
}

TEST(each_launch_has_a_separate_completion) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion first = begin_step(p, p->view, array, NULL, 0);
        revamp_completion second = begin_step(p, NULL, array, NULL, 0);
        CHECK_OK(revamp_completion_get(second));
        CHECK_STATUS(revamp_completion_wait_for(first, 0), REVAMP_OK);
        expect_done(first);
        expect_done(second);
        check_steps(array, sent, 2);
        CHECK_OK(revamp_array_destroy(array));
    }
}

static void fail_kernel(const revamp_thread_id *id, void *context) {
    revamp_host_kernel_fail(id, context);
}

static revamp_completion begin_failure(const char *text) {
    int32_t one = 1;
    revamp_completion done = NULL;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &one;
    info.function = fail_kernel;
    info.context = (void *)(uintptr_t)text;
    REQUIRE_OK(revamp_parallel_for_each_async(host_view(), &info, NULL, &done));
    return done;
}

TEST(each_launch_has_its_own_status) {
    const place *p = first_place_or_skip(runs_host_kernels);
    revamp_array array = array_with(host_view(), numbers(NUMBERS, 1), NUMBERS);
    revamp_completion good = begin_step(p, host_view(), array, NULL, 0), first_failure = begin_failure("the first"),
                      second_failure = begin_failure("the second"), last = begin_step(p, host_view(), array, NULL, 0);
    CHECK_FAILS(revamp_completion_get(second_failure), AS_RUNTIME, "the second");
    CHECK_FAILS(revamp_completion_get(first_failure), AS_RUNTIME, "the first");
    CHECK_FAILS(revamp_completion_get(second_failure), AS_RUNTIME, "the second");
    /* The completions have reported both failures, so the view reports none. */
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    expect_done(good);
    expect_done(last);
    CHECK_OK(revamp_completion_release(first_failure));
    CHECK_OK(revamp_completion_release(second_failure));
    CHECK_OK(revamp_array_destroy(array));
}

TEST(work_begins_after_a_completion_of_the_program) {
    FOR_EACH_PLACE(p, runs_kernels) {
        revamp_accelerator_view views[] = {p->view, NULL};
        for (size_t i = 0; i < COUNT(views); i++) {
            uint32_t *sent = numbers(NUMBERS, 1);
            revamp_array array = array_with(p->view, sent, NUMBERS);
            revamp_completion trigger = create_completion();
            revamp_completion done = begin_step(p, views[i], array, &trigger, 1);
            CHECK_STATUS(revamp_completion_wait_for(done, 20000000), REVAMP_TIMEOUT);
            CHECK_STATUS(revamp_completion_wait_for(trigger, 0), REVAMP_TIMEOUT);
            CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
            expect_done(done);
            expect_done(trigger);
            check_steps(array, sent, 1);
            CHECK_OK(revamp_array_destroy(array));
        }
    }
}

TEST(later_uses_run_after_waiting_work) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1), *got = memory(BYTES);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion trigger = create_completion(), copied = NULL;
        revamp_completion first = begin_step(p, p->view, array, &trigger, 1);
        /* The next two operations have no wait list: the elements that they use order them. */
        revamp_completion second = begin_step(p, p->view, array, NULL, 0);
        REQUIRE_OK(revamp_copy_from_array_async(array, got, BYTES, NULL, &copied));
        CHECK_STATUS(revamp_completion_wait_for(copied, 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        expect_done(copied);
        expect_done(first);
        expect_done(second);
        expect_done(trigger);
        step_naive(sent, NUMBERS, 2);
        CHECK_SAME(got, sent, BYTES);
    }
}

TEST(an_error_of_the_program_fails_waiting_launches) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion trigger = create_completion();
        revamp_completion first = begin_step(p, p->view, array, &trigger, 1);
        revamp_completion second = begin_step(p, p->view, array, &first, 1);
        CHECK_OK(revamp_completion_set(trigger, REVAMP_ERROR_OUT_OF_MEMORY, "the disk is full"));
        CHECK_FAILS(revamp_completion_get(second), AS_MEMORY, "the disk is full");
        /* The message does not grow along the chain. */
        const char *begin = strstr(revamp_last_error_message(), "an operation that this operation waits for");
        CHECK(begin && !strstr(begin + 1, "an operation that this operation waits for"));
        CHECK_FAILS(revamp_completion_get(first), AS_MEMORY, "the disk is full");
        /* `trigger` has failed before this launch. */
        revamp_completion third = begin_step(p, p->view, array, &trigger, 1);
        CHECK_FAILS(revamp_completion_get(third), AS_MEMORY, "the disk is full");
        CHECK_FAILS(revamp_completion_get(trigger), AS_MEMORY, "the disk is full");
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        check_steps(array, sent, 0);
        revamp_completion fourth = begin_step(p, p->view, array, NULL, 0);
        expect_done(fourth);
        check_steps(array, sent, 1);
        CHECK_OK(revamp_completion_release(trigger));
        CHECK_OK(revamp_completion_release(first));
        CHECK_OK(revamp_completion_release(second));
        CHECK_OK(revamp_completion_release(third));
        CHECK_OK(revamp_array_destroy(array));
    }
}

static void *wait_without_owning(void *completion) {
    CHECK_FAILS(revamp_completion_get(completion), AS_RUNTIME | AS_HANDLE, "");
    return NULL;
}

static void report_status(revamp_status status, void *context) {
    revamp_completion_set(context, status == REVAMP_ERROR_RUNTIME ? REVAMP_OK : REVAMP_ERROR_INTERNAL, "other");
}

TEST(an_abandoned_completion_fails) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        pthread_t waiter;
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion trigger = create_completion(), reported = create_completion();
        revamp_completion done = begin_step(p, p->view, array, &trigger, 1);
        CHECK_OK(revamp_completion_then(trigger, report_status, reported));
        REQUIRE(!pthread_create(&waiter, NULL, wait_without_owning, trigger));
        CHECK_OK(revamp_completion_retain(trigger));
        CHECK_OK(revamp_completion_release(trigger));
        CHECK_STATUS(revamp_completion_wait_for(done, 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_completion_release(trigger));
        CHECK_FAILS(revamp_completion_get(done), AS_RUNTIME, "released before it was set");
        expect_done(reported);
        pthread_join(waiter, NULL);
        check_steps(array, sent, 0);
        CHECK_OK(revamp_completion_release(done));
        CHECK_OK(revamp_array_destroy(array));
    }
}

CHILD(leaves_work_that_waits) {
    const place *p = first_place_or_skip(runs_kernels);
    uint32_t *sent = numbers(NUMBERS, 1);
    revamp_array array = array_with(p->view, sent, NUMBERS);
    revamp_array_view view = NULL;
    revamp_completion trigger = create_completion(), synchronized = NULL;
    revamp_async_options options = after(&trigger, 1);
    begin_step(p, p->view, array, &trigger, 1);
    int32_t extent = NUMBERS;
    REQUIRE_OK(revamp_array_view_create_host(sent, 1, &extent, 4, NULL, &view));
    REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, &options, &synchronized));
    if (is_setting("WAIT_LISTS_END", "exit")) exit(0);
    CHECK_OK(revamp_uninitialize());
}

TEST(the_library_ends_without_waiting_for_the_program) {
    CHECK_CHILD("leaves_work_that_waits", "WAIT_LISTS_END=uninitialize", NULL);
    CHECK_CHILD("leaves_work_that_waits", "WAIT_LISTS_END=exit", NULL);
}

TEST(a_completion_is_set_once) {
    revamp_completion trigger = create_completion(), marker = NULL;
    CHECK_FAILS(revamp_completion_set(trigger, REVAMP_TIMEOUT, NULL), AS_ARGUMENT, "status 1 is unknown");
    CHECK_FAILS(revamp_completion_set(trigger, -1000, NULL), AS_ARGUMENT, "-1000");
    CHECK_STATUS(revamp_completion_wait_for(trigger, 0), REVAMP_TIMEOUT);
    CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
    CHECK_FAILS(revamp_completion_set(trigger, REVAMP_ERROR_RUNTIME, "late"), AS_RUNTIME, "already set");
    expect_done(trigger);
    trigger = create_completion();
    CHECK_OK(revamp_completion_set(trigger, REVAMP_ERROR_RUNTIME, NULL));
    CHECK_FAILS(revamp_completion_get(trigger), AS_RUNTIME, "the program set this error");
    CHECK_OK(revamp_completion_release(trigger));
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
    CHECK_FAILS(revamp_completion_set(marker, REVAMP_OK, NULL), AS_RUNTIME, "revamp_completion_create");
    expect_done(marker);
}

/* Covers every pair of accelerators, and two views of one accelerator. Only wait lists order the work. */
TEST(wait_lists_order_work_of_two_views) {
    FOR_EACH_PLACE(a, runs_kernels)
    FOR_EACH_PLACE(b, runs_kernels) {
        enum { ROUNDS = 50 };
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_accelerator_view from = new_view(a->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC),
                                to = new_view(b->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
        revamp_array here = array_with(from, sent, NUMBERS), there = array_with(to, sent, NUMBERS);
        gate *g = new_gate();
        if (runs_host_kernels(&a->info)) block_view(from, g);
        revamp_completion last = begin_step(a, from, here, NULL, 0);
        for (int i = 1; i < ROUNDS; i++) {
            revamp_completion next = i % 2 ? begin_step(b, to, there, &last, 1) : begin_step(a, from, here, &last, 1);
            CHECK_OK(revamp_completion_release(last));
            last = next;
        }
        if (runs_host_kernels(&a->info)) CHECK_STATUS(revamp_completion_wait_for(last, 20000000), REVAMP_TIMEOUT);
        open_gate(g);
        expect_done(last);
        check_steps(here, sent, ROUNDS / 2);
        check_steps(there, sent, ROUNDS / 2);
        CHECK_OK(revamp_array_destroy(here));
        CHECK_OK(revamp_array_destroy(there));
        CHECK_OK(revamp_accelerator_view_release(from));
        CHECK_OK(revamp_accelerator_view_release(to));
    }
}

TEST(copies_begin_after_completions) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = memory(BYTES), *expected_data = numbers(NUMBERS, 2), *got = memory(BYTES);
        revamp_array first = array_1d(p->view, NUMBERS, 4), second = array_1d(p->view, NUMBERS, 4);
        revamp_region from = whole(first), to = whole(second);
        revamp_completion trigger = create_completion(), done[3] = {NULL};
        revamp_async_options options = after(&trigger, 1), then = after(&done[0], 1), last = after(done, 2);
        REQUIRE_OK(revamp_copy_to_array_async(sent, BYTES, first, &options, &done[0]));
        REQUIRE_OK(revamp_copy_async(&from, &to, &then, &done[1]));
        REQUIRE_OK(revamp_copy_from_array_async(second, got, BYTES, &last, &done[2]));
        CHECK_STATUS(revamp_completion_wait_for(done[2], 20000000), REVAMP_TIMEOUT);
        memcpy(sent, expected_data, BYTES);
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        for (int i = 3; i-- > 0;)
            expect_done(done[i]);
        CHECK_SAME(got, expected_data, BYTES);
        expect_done(trigger);
        CHECK_OK(revamp_array_destroy(first));
        CHECK_OK(revamp_array_destroy(second));
    }
}

TEST(waiting_launches_order_uses_of_their_array_view) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *sent = numbers(NUMBERS, 1), *expected_data = memory(BYTES);
        int32_t extent = NUMBERS;
        void *data = NULL;
        memcpy(expected_data, sent, BYTES);
        revamp_array_view view = NULL;
        REQUIRE_OK(revamp_array_view_create_host(sent, 1, &extent, 4, NULL, &view));
        REQUIRE_OK(revamp_array_view_data(view, REVAMP_ACCESS_READ_WRITE, &data));
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_argument argument = revamp_argument_view(0, view);
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = &argument;
        info.argument_count = 1;
        revamp_completion trigger = create_completion(), done[3] = {NULL};
        revamp_async_options options = after(&trigger, 1);
        const uint32_t *state = NULL;
        REQUIRE_OK(revamp_array_view_get_host_access(view, &state));
        CHECK(*state & REVAMP_HOST_MAY_WRITE);
        for (int i = 0; i < 2; i++)
            REQUIRE_OK(revamp_dispatch_async(i ? NULL : p->view, step, &info, &options, &done[i]));
        /* From now on, the host must call the library for access. */
        CHECK_NUMBER(*state, 0);
        REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done[2]));
        CHECK_STATUS(revamp_completion_wait_for(done[2], 20000000), REVAMP_TIMEOUT);
        CHECK_SAME(sent, expected_data, BYTES);
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        for (int i = 3; i-- > 0;)
            expect_done(done[i]);
        step_naive(expected_data, NUMBERS, 2);
        CHECK_SAME(sent, expected_data, BYTES);
        expect_done(trigger);
        CHECK_OK(revamp_array_view_release(view));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Waiting operations hold no resource that other operations need to finish. */
TEST(many_launches_wait_for_one_completion) {
    enum { WAITING = 1000 };
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_completion trigger = create_completion(), done[WAITING];
        revamp_array arrays[10];
        for (size_t i = 0; i < COUNT(arrays); i++)
            arrays[i] = array_with(p->view, sent, NUMBERS);
        for (int i = 0; i < WAITING; i++)
            done[i] = begin_step(p, p->view, arrays[i % COUNT(arrays)], &trigger, 1);
        small_job();
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        for (int i = WAITING; i-- > 0;)
            expect_done(done[i]);
        for (size_t i = 0; i < COUNT(arrays); i++) {
            check_steps(arrays[i], sent, WAITING / COUNT(arrays));
            CHECK_OK(revamp_array_destroy(arrays[i]));
        }
        expect_done(trigger);
    }
}

typedef struct {
    const place *p;
    revamp_completion trigger;
} setter;

static void *set_and_begin(void *context) {
    setter *s = context;
    uint32_t *sent = numbers(NUMBERS, 3);
    revamp_array array = array_with(s->p->view, sent, NUMBERS);
    for (int i = 0; i < 100; i++) {
        revamp_completion local_trigger = create_completion(), triggers[2] = {s->trigger, local_trigger};
        revamp_completion done = begin_step(s->p, s->p->view, array, triggers, 2);
        if (i == 50) revamp_completion_set(s->trigger, REVAMP_OK, NULL);
        CHECK_OK(revamp_completion_set(local_trigger, REVAMP_OK, NULL));
        CHECK_OK(revamp_completion_release(local_trigger));
        if (i > 50) CHECK_OK(revamp_completion_get(done));
        CHECK_OK(revamp_completion_release(done));
    }
    check_steps(array, sent, 100);
    CHECK_OK(revamp_array_destroy(array));
    return NULL;
}

TEST(threads_share_a_completion_of_the_program) {
    enum { THREADS = 4 };
    FOR_EACH_PLACE(p, runs_kernels) {
        setter s = {p, create_completion()};
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, set_and_begin, &s));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        expect_done(s.trigger);
    }
}

/* Launches that the program has not waited for are no race, because the library orders them. */
CHILD(checks_launches_for_races) {
    collect_errors();
    FOR_EACH_PLACE(p, runs_kernels) {
        revamp_array array = array_with(p->view, numbers(NUMBERS, 1), NUMBERS);
        revamp_completion trigger = create_completion(), done[3];
        for (size_t i = 0; i < COUNT(done); i++)
            done[i] = begin_step(p, p->view, array, &trigger, i == 1);
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        for (size_t i = 0; i < COUNT(done); i++)
            expect_done(done[i]);
        expect_done(trigger);
        CHECK_OK(revamp_array_destroy(array));
    }
    CHECK_NO_RACE();
}

TEST(launches_on_one_array_are_no_race) {
    CHECK_CHILD("checks_launches_for_races", "REVAMP_CHECK=1", NULL);
}

static revamp_completion begin_copy(revamp_region from, revamp_region to, const revamp_completion *list, size_t count) {
    revamp_async_options options = after(list, count);
    revamp_completion done = NULL;
    REQUIRE_OK(revamp_copy_async(&from, &to, &options, &done));
    return done;
}

/* Copies of arrays that the program has not waited for are no race, because the library orders the uses of an array. */
CHILD(checks_copies_of_arrays_for_races) {
    const int32_t extent = NUMBERS, half = NUMBERS / 2;
    collect_errors();
    FOR_EACH_PLACE(p, runs_kernels) {
        revamp_array input = staging_array(cpu_view(), p->view, 1, &extent, 4), values = array_1d(p->view, NUMBERS, 4);
        revamp_array output = staging_array(cpu_view(), p->view, 1, &extent, 4);
        revamp_texture_region texture = texture_1d(p->view, NULL, NUMBERS);
        revamp_texture_region staging_texture = texture_1d(cpu_view(), p->view, NUMBERS);
        uint32_t *got = memory(BYTES);
        for (unsigned round = 0; round < 4; round++) {
            uint32_t *sent = numbers(NUMBERS, round);
            revamp_completion done[8];
            void *data = NULL;
            /* revamp_array_data() waits for the conflicting copies of the round before. */
            REQUIRE_OK(revamp_array_data(input, REVAMP_ACCESS_WRITE, &data));
            memcpy(data, sent, BYTES);
            done[0] = begin_copy(whole(input), whole(values), NULL, 0);
            done[1] = begin_step(p, p->view, values, NULL, 0);
            revamp_region first_half = whole(values), to = whole(output);
            first_half.extent = to.extent = &half;
            done[2] = begin_copy(first_half, to, NULL, 0);
            done[3] = begin_copy(whole(values), whole(output), NULL, 0);
            REQUIRE_OK(revamp_array_data(output, REVAMP_ACCESS_READ, &data));
            step_naive(sent, NUMBERS, 1);
            CHECK_SAME(data, sent, BYTES);
            REQUIRE_OK(revamp_copy_to_texture_async(sent, BYTES, &texture, NULL, &done[4]));
            REQUIRE_OK(revamp_copy_texture_async(&texture, &staging_texture, NULL, &done[5]));
            REQUIRE_OK(revamp_copy_to_texture_async(sent, BYTES, &texture, NULL, &done[6]));
            REQUIRE_OK(revamp_copy_from_texture_async(&staging_texture, got, BYTES, NULL, &done[7]));
            CHECK_OK(revamp_completion_get(done[7]));
            CHECK_SAME(got, sent, BYTES);
            for (size_t i = 0; i < COUNT(done); i++) {
                if (round % 2) CHECK_OK(revamp_completion_get(done[i]));
                CHECK_OK(revamp_completion_release(done[i]));
            }
        }
        CHECK_NO_RACE();
        CHECK_OK(revamp_texture_release(texture.texture));
        CHECK_OK(revamp_texture_release(staging_texture.texture));
        CHECK_OK(revamp_array_destroy(input));
        CHECK_OK(revamp_array_destroy(values));
        CHECK_OK(revamp_array_destroy(output));
    }
}

TEST(copies_of_one_array_are_no_race) {
    CHECK_CHILD("checks_copies_of_arrays_for_races", "REVAMP_CHECK=1", NULL);
    CHECK_CHILD("checks_copies_of_arrays_for_races", "REVAMP_CHECK=1", "REVAMP_MEMORY=separate", NULL);
}

/* A use of an array_view during a copy of its array is a race, and a use of the array during a copy of the view. */
CHILD(uses_a_view_during_a_copy_of_its_array) {
    collect_errors();
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_1d(p->view, NUMBERS, 4), other = array_1d(p->view, NUMBERS, 4);
        revamp_array_view view = view_of_array(array);
        revamp_completion done = NULL;
        REQUIRE_OK(revamp_copy_to_array_async(sent, BYTES, array, NULL, &done));
        host_access(view, REVAMP_ACCESS_READ);
        CHECK_RACE("revamp_copy_to_array_async", "revamp_array_view_data");
        expect_done(done);
        done = begin_copy(region_of(view), whole(other), NULL, 0);
        write_array(array, sent);
        CHECK_RACE("revamp_copy_async", "revamp_copy_to_array");
        expect_done(done);
        /* The wait list names an operation that does not come after the copy of the view. */
        const int32_t extent = NUMBERS;
        revamp_region from_host = host_region(sent, 1, &extent, 4);
        revamp_array third = array_1d(p->view, NUMBERS, 4);
        done = begin_copy(region_of(view), whole(other), NULL, 0);
        revamp_completion unrelated = begin_copy(from_host, whole(third), NULL, 0);
        revamp_completion last = begin_copy(from_host, region_of(view), &unrelated, 1);
        CHECK_RACE("revamp_copy_async", "revamp_copy_async");
        expect_done(last);
        expect_done(unrelated);
        expect_done(done);
        CHECK_OK(revamp_array_destroy(third));
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(other));
        CHECK_NO_RACE();
    }
}

TEST(array_and_view_at_the_same_time_are_a_race) {
    CHECK_CHILD("uses_a_view_during_a_copy_of_its_array", "REVAMP_CHECK=1", NULL);
}

/* The calls that begin copies never wait for another thread, however small the copies are. */
TEST(copies_do_not_wait_for_the_program) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1), *other = numbers(NUMBERS, 2);
        revamp_array a = array_with(p->view, sent, NUMBERS), b = array_1d(p->view, NUMBERS, 4);
        revamp_region from = whole(a), to = whole(b);
        revamp_completion trigger = create_completion(), done[3] = {NULL};
        done[0] = begin_step(p, p->view, a, &trigger, 1);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[1]));
        REQUIRE_OK(revamp_copy_to_array_async(other, BYTES, a, NULL, &done[2]));
        CHECK_STATUS(revamp_completion_wait_for(done[2], 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
        for (int i = 3; i-- > 0;)
            expect_done(done[i]);
        check_steps(b, sent, 1);
        check_steps(a, other, 0);
        expect_done(trigger);
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
    }
}

static void *fail_soon(void *trigger) {
    pause_milliseconds(20);
    CHECK_OK(revamp_completion_set(trigger, REVAMP_ERROR_OUT_OF_MEMORY, "the disk is full"));
    return NULL;
}

/* Work that never began, because its wait list failed, does not make later calls fail. */
TEST(synchronous_calls_succeed_after_work_that_did_not_begin) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion trigger = create_completion(), done = begin_step(p, p->view, array, &trigger, 1);
        pthread_t thread;
        REQUIRE(!pthread_create(&thread, NULL, fail_soon, trigger));
        check_steps(array, sent, 0);
        pthread_join(thread, NULL);
        CHECK_FAILS(revamp_completion_get(done), AS_MEMORY, "the disk is full");
        CHECK_OK(revamp_completion_release(done));
        CHECK_OK(revamp_completion_release(trigger));
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(a_completion_keeps_its_failure) {
    first_place_or_skip(runs_host_kernels);
    revamp_completion first = begin_failure("the first");
    for (int i = 0; i < 3000; i++)
        CHECK_OK(revamp_completion_release(begin_failure("another")));
    CHECK_FAILS(revamp_accelerator_view_wait(host_view()), AS_RUNTIME, "");
    CHECK_FAILS(revamp_completion_get(first), AS_RUNTIME, "the first");
    CHECK_OK(revamp_completion_release(first));
    while (revamp_accelerator_view_wait(host_view()) != REVAMP_OK)
        ;
}

/* Begins a step on an array_view. The library chooses the accelerator_view. */
static revamp_completion begin_view_step(const place *p, revamp_array_view view, const revamp_completion *trigger) {
    revamp_argument bound = revamp_argument_view(0, view),
                    address = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    return begin_step_of(p, NULL, runs_spirv(&p->info) ? bound : address, trigger, 1);
}

TEST(the_default_view_covers_work_that_waits) {
    FOR_EACH_PLACE(p, runs_kernels) {
        /* Host kernels that are launched without an accelerator_view run on host threads. */
        if (!runs_spirv(&p->info) && p->view != host_view()) continue;
        uint32_t *sent = numbers(NUMBERS, 1), *expected_data = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(sent, NUMBERS);
        revamp_completion trigger = create_completion(), marker = NULL;
        CHECK_OK(revamp_completion_release(begin_view_step(p, view, &trigger)));
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        CHECK_STATUS(revamp_completion_wait_for(marker, 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_completion_set(trigger, REVAMP_ERROR_OUT_OF_MEMORY, "the disk is full"));
        CHECK_OK(revamp_completion_wait(marker));
        CHECK_FAILS(revamp_accelerator_view_wait(p->view), AS_MEMORY, "the disk is full");
        CHECK_OK(revamp_completion_release(marker));
        CHECK_OK(revamp_completion_release(trigger));
        CHECK_OK(revamp_array_view_release(view));
        CHECK_SAME(sent, expected_data, BYTES);
    }
}

static void *open_soon(void *context) {
    pause_milliseconds(50);
    open_gate(context);
    return NULL;
}

/* The queued work begins while revamp_uninitialize() runs. */
CHILD(ends_before_work_begins) {
    const place *p = first_place_or_skip(runs_kernels);
    uint32_t *sent = numbers(NUMBERS, 1), *expected_data = numbers(NUMBERS, 1);
    gate *g = new_gate();
    revamp_completion blocked_marker = NULL;
    pthread_t thread;
    block_view(host_view(), g);
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &blocked_marker));
    begin_view_step(p, view_of(sent, NUMBERS), &blocked_marker);
    REQUIRE(!pthread_create(&thread, NULL, open_soon, g));
    CHECK_OK(revamp_uninitialize());
    pthread_join(thread, NULL);
    step_naive(expected_data, NUMBERS, 1);
    CHECK_SAME(sent, expected_data, BYTES);
}

static void create_next_completion(revamp_status status, void *context) {
    (void)status, (void)context;
    revamp_completion next = NULL;
    if (revamp_completion_create(&next) == REVAMP_OK)
        CHECK_OK(revamp_completion_then(next, create_next_completion, NULL));
}

CHILD(makes_completions_during_the_end) {
    first_place_or_skip(runs_kernels);
    create_next_completion(REVAMP_OK, NULL);
    CHECK_OK(revamp_uninitialize());
    revamp_completion trigger = create_completion();
    CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
    expect_done(trigger);
}

TEST(uninitialize_allows_new_work_and_completions) {
    CHECK_CHILD("ends_before_work_begins", NULL);
    CHECK_CHILD("makes_completions_during_the_end", NULL);
}

static void *wait_forever(void *completion) {
    CHECK(revamp_completion_get(completion) != REVAMP_OK);
    return NULL;
}

CHILD(exits_while_a_thread_waits) {
    pthread_t thread;
    first_place_or_skip(runs_kernels);
    REQUIRE(!pthread_create(&thread, NULL, wait_forever, create_completion()));
    pause_milliseconds(50);
    exit(0);
}

TEST(exit_does_not_wait_for_threads_that_wait_for_the_program) {
    CHECK_CHILD("exits_while_a_thread_waits", NULL);
}

static void fail_on_report(revamp_log_level level, const char *message, void *context) {
    (void)context;
    if (level == REVAMP_LOG_ERROR) CHECK_TEXT(message, "no report");
}

/* The race check of REVAMP_CHECK=1 treats a wait list like a wait. */
CHILD(ordered_by_wait_lists) {
    CHECK_OK(revamp_set_log_callback(fail_on_report, NULL, REVAMP_LOG_ERROR));
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1), *got = memory(BYTES);
        revamp_array array = array_1d(p->view, NUMBERS, 4);
        revamp_completion done[6] = {NULL};
        revamp_async_options after_copy = after(&done[0], 1), after_launches = after(&done[3], 2);
        REQUIRE_OK(revamp_copy_to_array_async(sent, BYTES, array, NULL, &done[0]));
        REQUIRE_OK(revamp_copy_from_array_async(array, got, BYTES, &after_copy, &done[1]));
        done[2] = begin_step(p, p->view, array, done, 2);
        for (int i = 0; i < 3; i++)
            CHECK_OK(revamp_completion_wait(done[i]));
        done[3] = begin_step(p, p->view, array, NULL, 0);
        done[4] = begin_step(p, p->view, array, NULL, 0);
        REQUIRE_OK(revamp_copy_from_array_async(array, got, BYTES, &after_launches, &done[5]));
        for (int i = 6; i-- > 0;)
            expect_done(done[i]);
        step_naive(sent, NUMBERS, 3);
        CHECK_SAME(got, sent, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(work_ordered_by_wait_lists_is_no_race) {
    CHECK_CHILD("ordered_by_wait_lists", "REVAMP_CHECK=1", NULL);
}

/* An operation is also ordered after operations that precede those of its wait list, and after the work before a
 * marker. */
CHILD(ordered_by_chains) {
    CHECK_OK(revamp_set_log_callback(fail_on_report, NULL, REVAMP_LOG_ERROR));
    FOR_EACH_PLACE(p, runs_kernels) {
        const int32_t extent = NUMBERS;
        uint32_t *got = memory(BYTES), *sent = numbers(NUMBERS, 2);
        revamp_array array = array_with(p->view, numbers(NUMBERS, 1), NUMBERS);
        revamp_array_view view = view_of(numbers(NUMBERS, 3), NUMBERS);
        revamp_region to_host = host_region(got, 1, &extent, 4), from_host = host_region(sent, 1, &extent, 4);
        revamp_completion done[4] = {NULL}, marker = NULL;
        done[0] = begin_copy(region_of(view), to_host, NULL, 0);
        /* The launch does not use the view. */
        done[1] = begin_step(p, p->view, array, &done[0], 1);
        done[2] = begin_copy(from_host, region_of(view), &done[1], 1);
        /* The wait for the last operation is a wait for all of them. */
        CHECK_OK(revamp_completion_get(done[2]));
        CHECK_SAME(host_access(view, REVAMP_ACCESS_READ_WRITE), sent, BYTES);
        REQUIRE_OK(revamp_array_view_synchronize_to_async(view, p->view, REVAMP_ACCESS_READ, NULL, &done[3]));
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        revamp_completion last = begin_copy(from_host, region_of(view), &marker, 1);
        expect_done(last);
        expect_done(marker);
        for (int i = 0; i < 4; i++)
            expect_done(done[i]);
        REQUIRE_OK(revamp_array_view_synchronize_to_async(view, p->view, REVAMP_ACCESS_READ, NULL, &done[0]));
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        expect_done(marker);
        CHECK_SAME(host_access(view, REVAMP_ACCESS_READ_WRITE), sent, BYTES);
        expect_done(done[0]);
        /* The library runs the second operation after the first, because both use the array. So the third operation
         * also comes after the first. */
        for (int is_launch = 0; is_launch < 2; is_launch++) {
            done[0] = begin_copy(region_of(view), whole(array), NULL, 0);
            done[1] = is_launch ? begin_step(p, p->view, array, NULL, 0) : begin_copy(whole(array), to_host, NULL, 0);
            done[2] = begin_copy(from_host, region_of(view), &done[1], 1);
            for (int i = 3; i-- > 0;)
                expect_done(done[i]);
            /* The wait for the second operation is also a wait for the first. */
            done[0] = begin_copy(region_of(view), whole(array), NULL, 0);
            done[1] = is_launch ? begin_step(p, p->view, array, NULL, 0) : begin_copy(whole(array), to_host, NULL, 0);
            CHECK_OK(revamp_completion_get(done[1]));
            CHECK_SAME(host_access(view, REVAMP_ACCESS_READ_WRITE), sent, BYTES);
            expect_done(done[0]);
            expect_done(done[1]);
        }
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(work_ordered_by_chains_is_no_race) {
    CHECK_CHILD("ordered_by_chains", "REVAMP_CHECK=1", NULL);
}
