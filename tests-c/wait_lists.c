/* Completions of launches, wait lists and completions of the program (revamp_dispatch_async,
 * revamp_parallel_for_each_async, revamp_async_options, revamp_completion_create). */
#include "views.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 100, BYTES = NUMBERS * 4 };

static revamp_async_options after(const revamp_completion *completions, size_t count) {
    revamp_async_options options = {0};
    options.struct_size = sizeof options;
    options.after = completions;
    options.after_count = count;
    return options;
}

static revamp_completion promise(void) {
    revamp_completion made = NULL;
    REQUIRE_OK(revamp_completion_create(&made));
    return made;
}

/* The step of the SPIR-V kernel as a function of the program. */
static void host_step(const revamp_thread_id *id, void *context) {
    uint32_t *numbers = *(uint32_t **)context;
    numbers[id->global[0]] = 3 * numbers[id->global[0]] + 1;
}

/* Begins a step of the argument after some completions, on whatever accelerator. */
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
        /* What the call was given may change now. */
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

TEST(a_launch_has_a_completion_of_its_own) {
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
    const place *p = some_place(runs_host_kernels);
    revamp_array array = array_with(host_view(), numbers(NUMBERS, 1), NUMBERS);
    revamp_completion good = begin_step(p, host_view(), array, NULL, 0), bad = begin_failure("the first"),
                      worse = begin_failure("the second"), last = begin_step(p, host_view(), array, NULL, 0);
    CHECK_FAILS(revamp_completion_get(worse), AS_RUNTIME, "the second");
    CHECK_FAILS(revamp_completion_get(bad), AS_RUNTIME, "the first");
    CHECK_FAILS(revamp_completion_get(worse), AS_RUNTIME, "the second");
    /* Both were told. */
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    expect_done(good);
    expect_done(last);
    CHECK_OK(revamp_completion_release(bad));
    CHECK_OK(revamp_completion_release(worse));
    CHECK_OK(revamp_array_destroy(array));
}

TEST(work_begins_after_a_completion_of_the_program) {
    FOR_EACH_PLACE(p, runs_kernels) {
        revamp_accelerator_view views[] = {p->view, NULL};
        for (size_t i = 0; i < COUNT(views); i++) {
            uint32_t *sent = numbers(NUMBERS, 1);
            revamp_array array = array_with(p->view, sent, NUMBERS);
            revamp_completion go = promise();
            revamp_completion done = begin_step(p, views[i], array, &go, 1);
            CHECK_STATUS(revamp_completion_wait_for(done, 20000000), REVAMP_TIMEOUT);
            CHECK_STATUS(revamp_completion_wait_for(go, 0), REVAMP_TIMEOUT);
            CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
            expect_done(done);
            expect_done(go);
            check_steps(array, sent, 1);
            CHECK_OK(revamp_array_destroy(array));
        }
    }
}

TEST(later_uses_come_after_work_that_waits) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1), *got = memory(BYTES);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion go = promise(), copied = NULL;
        revamp_completion first = begin_step(p, p->view, array, &go, 1);
        /* These name no completion: their elements say it. */
        revamp_completion second = begin_step(p, p->view, array, NULL, 0);
        REQUIRE_OK(revamp_copy_from_array_async(array, got, BYTES, NULL, &copied));
        CHECK_STATUS(revamp_completion_wait_for(copied, 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
        expect_done(copied);
        expect_done(first);
        expect_done(second);
        expect_done(go);
        step_naive(sent, NUMBERS, 2);
        CHECK_SAME(got, sent, BYTES);
    }
}

TEST(an_error_of_the_program_reaches_what_waits) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion go = promise();
        revamp_completion first = begin_step(p, p->view, array, &go, 1);
        revamp_completion second = begin_step(p, p->view, array, &first, 1);
        CHECK_OK(revamp_completion_set(go, REVAMP_ERROR_OUT_OF_MEMORY, "the disk is full"));
        CHECK_FAILS(revamp_completion_get(second), AS_MEMORY, "the disk is full");
        /* The chain does not make the text longer. */
        const char *begin = strstr(revamp_last_error_message(), "an operation that it waits for");
        CHECK(begin && !strstr(begin + 1, "an operation that it waits for"));
        CHECK_FAILS(revamp_completion_get(first), AS_MEMORY, "the disk is full");
        /* It failed before this begins. */
        revamp_completion third = begin_step(p, p->view, array, &go, 1);
        CHECK_FAILS(revamp_completion_get(third), AS_MEMORY, "the disk is full");
        CHECK_FAILS(revamp_completion_get(go), AS_MEMORY, "the disk is full");
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        check_steps(array, sent, 0);
        revamp_completion fourth = begin_step(p, p->view, array, NULL, 0);
        expect_done(fourth);
        check_steps(array, sent, 1);
        CHECK_OK(revamp_completion_release(go));
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

static void tell(revamp_status status, void *context) {
    revamp_completion_set(context, status == REVAMP_ERROR_RUNTIME ? REVAMP_OK : REVAMP_ERROR_INTERNAL, "other");
}

TEST(an_abandoned_completion_fails) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        pthread_t waiter;
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion go = promise(), told = promise();
        revamp_completion done = begin_step(p, p->view, array, &go, 1);
        CHECK_OK(revamp_completion_then(go, tell, told));
        REQUIRE(!pthread_create(&waiter, NULL, wait_without_owning, go));
        CHECK_OK(revamp_completion_retain(go));
        CHECK_OK(revamp_completion_release(go));
        CHECK_STATUS(revamp_completion_wait_for(done, 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_completion_release(go));
        CHECK_FAILS(revamp_completion_get(done), AS_RUNTIME, "released before it was set");
        expect_done(told);
        pthread_join(waiter, NULL);
        check_steps(array, sent, 0);
        CHECK_OK(revamp_completion_release(done));
        CHECK_OK(revamp_array_destroy(array));
    }
}

CHILD(leaves_work_that_waits) {
    const place *p = some_place(runs_kernels);
    uint32_t *sent = numbers(NUMBERS, 1);
    revamp_array array = array_with(p->view, sent, NUMBERS);
    revamp_array_view view = NULL;
    revamp_completion go = promise(), synchronized = NULL;
    revamp_async_options options = after(&go, 1);
    begin_step(p, p->view, array, &go, 1);
    int32_t extent = NUMBERS;
    REQUIRE_OK(revamp_array_view_create_host(sent, 1, &extent, 4, NULL, &view));
    REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, &options, &synchronized));
    if (is_setting("WAIT_LISTS_END", "exit")) exit(0);
    CHECK_OK(revamp_uninitialize());
}

TEST(the_end_does_not_wait_for_the_program) {
    CHECK_CHILD("leaves_work_that_waits", "WAIT_LISTS_END=uninitialize", NULL);
    CHECK_CHILD("leaves_work_that_waits", "WAIT_LISTS_END=exit", NULL);
}

TEST(a_completion_is_set_once) {
    revamp_completion go = promise(), marker = NULL;
    CHECK_FAILS(revamp_completion_set(go, REVAMP_TIMEOUT, NULL), AS_ARGUMENT, "status 1 is unknown");
    CHECK_FAILS(revamp_completion_set(go, -1000, NULL), AS_ARGUMENT, "-1000");
    CHECK_STATUS(revamp_completion_wait_for(go, 0), REVAMP_TIMEOUT);
    CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
    CHECK_FAILS(revamp_completion_set(go, REVAMP_ERROR_RUNTIME, "late"), AS_RUNTIME, "already set");
    expect_done(go);
    go = promise();
    CHECK_OK(revamp_completion_set(go, REVAMP_ERROR_RUNTIME, NULL));
    CHECK_FAILS(revamp_completion_get(go), AS_RUNTIME, "the program set this error");
    CHECK_OK(revamp_completion_release(go));
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
    CHECK_FAILS(revamp_completion_set(marker, REVAMP_OK, NULL), AS_RUNTIME, "revamp_completion_create");
    expect_done(marker);
}

/* Between any two accelerators and views of one, where nothing else orders the work. */
TEST(work_of_one_view_begins_after_that_of_another) {
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
        uint32_t *sent = memory(BYTES), *right = numbers(NUMBERS, 2), *got = memory(BYTES);
        revamp_array first = array_1d(p->view, NUMBERS, 4), second = array_1d(p->view, NUMBERS, 4);
        revamp_region from = whole(first), to = whole(second);
        revamp_completion go = promise(), done[3] = {NULL};
        revamp_async_options options = after(&go, 1), then = after(&done[0], 1), last = after(done, 2);
        REQUIRE_OK(revamp_copy_to_array_async(sent, BYTES, first, &options, &done[0]));
        REQUIRE_OK(revamp_copy_async(&from, &to, &then, &done[1]));
        REQUIRE_OK(revamp_copy_from_array_async(second, got, BYTES, &last, &done[2]));
        CHECK_STATUS(revamp_completion_wait_for(done[2], 20000000), REVAMP_TIMEOUT);
        memcpy(sent, right, BYTES);
        CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
        for (int i = 3; i-- > 0;)
            expect_done(done[i]);
        CHECK_SAME(got, right, BYTES);
        expect_done(go);
        CHECK_OK(revamp_array_destroy(first));
        CHECK_OK(revamp_array_destroy(second));
    }
}

TEST(array_views_of_work_that_waits) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *sent = numbers(NUMBERS, 1), *right = memory(BYTES);
        int32_t extent = NUMBERS;
        void *data = NULL;
        memcpy(right, sent, BYTES);
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
        revamp_completion go = promise(), done[3] = {NULL};
        revamp_async_options options = after(&go, 1);
        const uint32_t *state = NULL;
        REQUIRE_OK(revamp_array_view_get_host_access(view, &state));
        CHECK(*state & REVAMP_HOST_MAY_WRITE);
        for (int i = 0; i < 2; i++)
            REQUIRE_OK(revamp_dispatch_async(i ? NULL : p->view, step, &info, &options, &done[i]));
        /* The host must ask from now on. */
        CHECK_NUMBER(*state, 0);
        REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done[2]));
        CHECK_STATUS(revamp_completion_wait_for(done[2], 20000000), REVAMP_TIMEOUT);
        CHECK_SAME(sent, right, BYTES);
        CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
        for (int i = 3; i-- > 0;)
            expect_done(done[i]);
        step_naive(right, NUMBERS, 2);
        CHECK_SAME(sent, right, BYTES);
        expect_done(go);
        CHECK_OK(revamp_array_view_release(view));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* None of those that wait takes from others what they need to end. */
TEST(much_waits_for_one_completion) {
    enum { WAITING = 1000 };
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_completion go = promise(), done[WAITING];
        revamp_array arrays[10];
        for (size_t i = 0; i < COUNT(arrays); i++)
            arrays[i] = array_with(p->view, sent, NUMBERS);
        for (int i = 0; i < WAITING; i++)
            done[i] = begin_step(p, p->view, arrays[i % COUNT(arrays)], &go, 1);
        small_job();
        CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
        for (int i = WAITING; i-- > 0;)
            expect_done(done[i]);
        for (size_t i = 0; i < COUNT(arrays); i++) {
            check_steps(arrays[i], sent, WAITING / COUNT(arrays));
            CHECK_OK(revamp_array_destroy(arrays[i]));
        }
        expect_done(go);
    }
}

typedef struct {
    const place *p;
    revamp_completion go;
} setter;

static void *set_and_begin(void *context) {
    setter *s = context;
    uint32_t *sent = numbers(NUMBERS, 3);
    revamp_array array = array_with(s->p->view, sent, NUMBERS);
    for (int i = 0; i < 100; i++) {
        revamp_completion own = promise(), both[2] = {s->go, own};
        revamp_completion done = begin_step(s->p, s->p->view, array, both, 2);
        if (i == 50) revamp_completion_set(s->go, REVAMP_OK, NULL);
        CHECK_OK(revamp_completion_set(own, REVAMP_OK, NULL));
        CHECK_OK(revamp_completion_release(own));
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
        setter s = {p, promise()};
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, set_and_begin, &s));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        expect_done(s.go);
    }
}

static void note_race(revamp_log_level level, const char *message, void *context) {
    (void)level;
    if (strstr(message, "race")) __atomic_store_n((bool *)context, true, __ATOMIC_SEQ_CST);
}

/* The library orders launches that nobody has waited for, so they are no race. */
CHILD(checks_launches_for_races) {
    bool is_race = false;
    CHECK_OK(revamp_set_log_callback(note_race, &is_race, REVAMP_LOG_ERROR));
    FOR_EACH_PLACE(p, runs_kernels) {
        revamp_array array = array_with(p->view, numbers(NUMBERS, 1), NUMBERS);
        revamp_completion go = promise(), done[3];
        for (size_t i = 0; i < COUNT(done); i++)
            done[i] = begin_step(p, p->view, array, &go, i == 1);
        CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
        for (size_t i = 0; i < COUNT(done); i++)
            expect_done(done[i]);
        expect_done(go);
        CHECK_OK(revamp_array_destroy(array));
    }
    CHECK(!__atomic_load_n(&is_race, __ATOMIC_SEQ_CST));
}

TEST(launches_behind_each_other_are_no_race) {
    CHECK_CHILD("checks_launches_for_races", "REVAMP_CHECK=1", NULL);
}

/* Nothing that waits for another thread happens in these calls, however small the copies are. */
TEST(copies_do_not_wait_for_the_program) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1), *other = numbers(NUMBERS, 2);
        revamp_array a = array_with(p->view, sent, NUMBERS), b = array_1d(p->view, NUMBERS, 4);
        revamp_region from = whole(a), to = whole(b);
        revamp_completion go = promise(), done[3] = {NULL};
        done[0] = begin_step(p, p->view, a, &go, 1);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[1]));
        REQUIRE_OK(revamp_copy_to_array_async(other, BYTES, a, NULL, &done[2]));
        CHECK_STATUS(revamp_completion_wait_for(done[2], 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
        for (int i = 3; i-- > 0;)
            expect_done(done[i]);
        check_steps(b, sent, 1);
        check_steps(a, other, 0);
        expect_done(go);
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
    }
}

static void pause_ms(int ms) {
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}

static void *fail_soon(void *go) {
    pause_ms(20);
    CHECK_OK(revamp_completion_set(go, REVAMP_ERROR_OUT_OF_MEMORY, "the disk is full"));
    return NULL;
}

/* Work that never began is nothing to those who come after it. */
TEST(synchronous_calls_go_on_after_work_that_did_not_begin) {
    FOR_EACH_PLACE(p, runs_kernels) {
        uint32_t *sent = numbers(NUMBERS, 1);
        revamp_array array = array_with(p->view, sent, NUMBERS);
        revamp_completion go = promise(), done = begin_step(p, p->view, array, &go, 1);
        pthread_t thread;
        REQUIRE(!pthread_create(&thread, NULL, fail_soon, go));
        check_steps(array, sent, 0);
        pthread_join(thread, NULL);
        CHECK_FAILS(revamp_completion_get(done), AS_MEMORY, "the disk is full");
        CHECK_OK(revamp_completion_release(done));
        CHECK_OK(revamp_completion_release(go));
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(a_completion_keeps_its_failure) {
    some_place(runs_host_kernels);
    revamp_completion first = begin_failure("the first");
    for (int i = 0; i < 3000; i++)
        CHECK_OK(revamp_completion_release(begin_failure("another")));
    CHECK_FAILS(revamp_accelerator_view_wait(host_view()), AS_RUNTIME, "");
    CHECK_FAILS(revamp_completion_get(first), AS_RUNTIME, "the first");
    CHECK_OK(revamp_completion_release(first));
    while (revamp_accelerator_view_wait(host_view()) != REVAMP_OK)
        ;
}

/* Begins a step of an array_view where the library chooses. */
static revamp_completion begin_view_step(const place *p, revamp_array_view view, const revamp_completion *go) {
    revamp_argument bound = revamp_argument_view(0, view),
                    address = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    return begin_step_of(p, NULL, runs_spirv(&p->info) ? bound : address, go, 1);
}

TEST(the_default_view_covers_work_that_waits) {
    FOR_EACH_PLACE(p, runs_kernels) {
        /* Functions without a view run on host threads. */
        if (!runs_spirv(&p->info) && p->view != host_view()) continue;
        uint32_t *sent = numbers(NUMBERS, 1), *right = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(sent, NUMBERS);
        revamp_completion go = promise(), marker = NULL;
        CHECK_OK(revamp_completion_release(begin_view_step(p, view, &go)));
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        CHECK_STATUS(revamp_completion_wait_for(marker, 20000000), REVAMP_TIMEOUT);
        CHECK_OK(revamp_completion_set(go, REVAMP_ERROR_OUT_OF_MEMORY, "the disk is full"));
        CHECK_OK(revamp_completion_wait(marker));
        CHECK_FAILS(revamp_accelerator_view_wait(p->view), AS_MEMORY, "the disk is full");
        CHECK_OK(revamp_completion_release(marker));
        CHECK_OK(revamp_completion_release(go));
        CHECK_OK(revamp_array_view_release(view));
        CHECK_SAME(sent, right, BYTES);
    }
}

static void *open_soon(void *context) {
    pause_ms(50);
    open_gate(context);
    return NULL;
}

/* The work begins while everything ends. */
CHILD(ends_before_work_begins) {
    const place *p = some_place(runs_kernels);
    uint32_t *sent = numbers(NUMBERS, 1), *right = numbers(NUMBERS, 1);
    gate *g = new_gate();
    revamp_completion held = NULL;
    pthread_t thread;
    block_view(host_view(), g);
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &held));
    begin_view_step(p, view_of(sent, NUMBERS), &held);
    REQUIRE(!pthread_create(&thread, NULL, open_soon, g));
    CHECK_OK(revamp_uninitialize());
    pthread_join(thread, NULL);
    step_naive(right, NUMBERS, 1);
    CHECK_SAME(sent, right, BYTES);
}

static void rearm(revamp_status status, void *context) {
    (void)status, (void)context;
    revamp_completion next = NULL;
    if (revamp_completion_create(&next) == REVAMP_OK) CHECK_OK(revamp_completion_then(next, rearm, NULL));
}

CHILD(makes_completions_during_the_end) {
    some_place(runs_kernels);
    rearm(REVAMP_OK, NULL);
    CHECK_OK(revamp_uninitialize());
    revamp_completion go = promise();
    CHECK_OK(revamp_completion_set(go, REVAMP_OK, NULL));
    expect_done(go);
}

TEST(completions_and_work_of_the_end) {
    CHECK_CHILD("ends_before_work_begins", NULL);
    CHECK_CHILD("makes_completions_during_the_end", NULL);
}

static void *wait_for_ever(void *completion) {
    CHECK(revamp_completion_get(completion) != REVAMP_OK);
    return NULL;
}

CHILD(exits_while_a_thread_waits) {
    pthread_t thread;
    some_place(runs_kernels);
    REQUIRE(!pthread_create(&thread, NULL, wait_for_ever, promise()));
    pause_ms(50);
    exit(0);
}

TEST(the_end_does_not_wait_for_threads_that_wait_for_the_program) {
    CHECK_CHILD("exits_while_a_thread_waits", NULL);
}

static void no_report(revamp_log_level level, const char *message, void *context) {
    (void)context;
    if (level == REVAMP_LOG_ERROR) CHECK_TEXT(message, "no report");
}

/* REVAMP_CHECK=1: wait lists are waits too. */
CHILD(ordered_by_wait_lists) {
    CHECK_OK(revamp_set_log_callback(no_report, NULL, REVAMP_LOG_ERROR));
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

TEST(work_in_order_is_no_race) {
    CHECK_CHILD("ordered_by_wait_lists", "REVAMP_CHECK=1", NULL);
}
