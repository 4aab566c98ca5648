/* Tests in which many threads call the library at once. The threads share only objects of the library, so
 * ThreadSanitizer reports a race only if the library returns data that is not synchronised. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 12, N = 2000 };

typedef struct {
    const place *p;
    revamp_accelerator_view view; /* NULL: the thread creates its own */
    revamp_kernel step;           /* NULL: the accelerator runs no SPIR-V */
    revamp_array shared;
    uint32_t seed;
} worker;

static void run_threads(void *(*run)(void *), worker *workers) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, run, &workers[i]));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void run_round(const worker *w, revamp_accelerator_view view, uint32_t round) {
    uint32_t expected[N], got[N];
    revamp_completion done = NULL, down = NULL;
    fill_bytes(expected, sizeof expected, w->seed * 100 + round);
    revamp_array array = array_1d(view, N, 4), second = array_1d(view, N, 4);
    revamp_region from = whole(array), to = whole(second);
    CHECK_OK(revamp_copy_to_array(expected, sizeof expected, array));
    for (int i = 0; w->step && i < 5; i++)
        CHECK_OK(launch_step(view, w->step, array));
    REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
    if (w->step) CHECK_OK(launch_step(view, w->step, second));
    REQUIRE_OK(revamp_copy_from_array_async(second, got, sizeof got, NULL, &down));
    CHECK_OK(revamp_array_destroy(array));
    expect_done(done);
    expect_done(down);
    CHECK_OK(revamp_array_destroy(second));
    if (w->step) step_naive(expected, N, 6);
    CHECK_SAME(got, expected, sizeof got);
}

static void *work(void *context) {
    worker *w = context;
    revamp_accelerator_view view = w->view;
    if (!view)
        view = new_view(w->p->accelerator, w->seed % 2 ? REVAMP_QUEUING_MODE_AUTOMATIC : REVAMP_QUEUING_MODE_IMMEDIATE);
    for (uint32_t round = 0; round < ROUNDS; round++)
        run_round(w, view, round);
    CHECK_OK(revamp_accelerator_view_wait(view));
    if (!w->view) CHECK_OK(revamp_accelerator_view_release(view));
    return NULL;
}

static void work_in_threads(bool has_separate_views) {
    FOR_EACH_PLACE(p, holds_arrays) {
        worker workers[THREADS];
        revamp_kernel step = runs_spirv(&p->info) ? load(p->accelerator, &step_module) : NULL;
        for (uint32_t i = 0; i < THREADS; i++) {
            worker w = {p, has_separate_views ? NULL : p->view, step, NULL, i};
            workers[i] = w;
        }
        run_threads(work, workers);
        if (step) CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(threads_with_separate_views) {
    work_in_threads(true);
}

TEST(threads_with_one_view) {
    work_in_threads(false);
}

static void *load_kernels(void *context) {
    worker *w = context;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        revamp_kernel step = load(w->p->accelerator, &step_module);
        worker with_step = *w;
        with_step.step = step;
        run_round(&with_step, w->p->view, round);
        CHECK_OK(revamp_kernel_release(step));
    }
    return NULL;
}

TEST(threads_that_load_kernels) {
    FOR_EACH_PLACE(p, runs_spirv) {
        worker workers[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            worker w = {p, p->view, NULL, NULL, i};
            workers[i] = w;
        }
        run_threads(load_kernels, workers);
    }
}

/* All threads launch on one array. Each launch changes all elements, so the result reveals a lost launch. */
static void *step_shared(void *context) {
    worker *w = context;
    for (int i = 0; i < 50; i++)
        CHECK_OK(launch_step(w->view, w->step, w->shared));
    return NULL;
}

TEST(threads_with_one_array_lose_no_launch) {
    FOR_EACH_PLACE(p, runs_spirv) {
        worker workers[THREADS];
        uint32_t *expected = numbers(N, 1);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, expected, N);
        for (uint32_t i = 0; i < THREADS; i++) {
            worker w = {p, p->view, step, array, i};
            workers[i] = w;
        }
        run_threads(step_shared, workers);
        step_naive(expected, N, THREADS * 50);
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

static void add_one(const revamp_thread_id *id, void *context) {
    (void)id;
    __atomic_fetch_add((unsigned *)context, 1, __ATOMIC_RELAXED);
}

static void *launch_host(void *context) {
    unsigned *count = context;
    const int32_t extent = 500, tile = 50;
    for (int i = 0; i < 20; i++) {
        revamp_parallel_for_each_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.tile = i % 2 ? &tile : NULL;
        info.function = add_one;
        info.context = count;
        CHECK_OK(revamp_parallel_for_each(host_view(), &info));
        if (i % 5 == 0) CHECK_OK(revamp_accelerator_view_wait(host_view()));
    }
    return NULL;
}

TEST(threads_that_launch_host_kernels) {
    pthread_t threads[THREADS];
    unsigned count = 0;
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, launch_host, &count));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    CHECK_NUMBER(__atomic_load_n(&count, __ATOMIC_RELAXED), THREADS * 20 * 500);
}

static void *make_first_calls(void *context) {
    (void)context;
    small_job();
    return NULL;
}

static void *make_markers(void *context) {
    worker *w = context;
    while (!__atomic_load_n(&w->seed, __ATOMIC_RELAXED)) {
        revamp_completion marker = NULL;
        REQUIRE_OK(revamp_accelerator_view_create_marker(w->view, &marker));
        expect_done(marker);
    }
    return NULL;
}

/* A wait covers earlier copies on the view, even while other threads create markers. */
TEST(a_wait_covers_copies_while_threads_create_markers) {
    enum { ELEMENTS = 1 << 17, MAKERS = 4 };
    FOR_EACH_PLACE(p, holds_arrays) {
        pthread_t threads[MAKERS];
        worker w = {p, p->view, NULL, NULL, 0};
        uint32_t *sent = numbers(ELEMENTS, 1);
        revamp_array array = array_1d(p->view, ELEMENTS, 4);
        for (size_t i = 0; i < MAKERS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, make_markers, &w));
        for (int i = 0; i < 500; i++) {
            revamp_completion done = NULL;
            REQUIRE_OK(revamp_copy_to_array_async(sent, ELEMENTS * 4, array, NULL, &done));
            CHECK_OK(revamp_accelerator_view_wait(p->view));
            CHECK_STATUS(revamp_completion_wait_for(done, 0), REVAMP_OK);
            expect_done(done);
        }
        __atomic_store_n(&w.seed, 1, __ATOMIC_RELAXED);
        for (size_t i = 0; i < MAKERS; i++)
            pthread_join(threads[i], NULL);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Threads make the first calls of the process at the same time. */
TEST(threads_make_the_first_calls_together) {
    pthread_t threads[THREADS];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, make_first_calls, NULL));
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        CHECK_OK(revamp_uninitialize());
    }
}

static void *fail_and_check_message(void *context) {
    char path[64];
    revamp_accelerator found = NULL;
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "thread %d, call %d", (int)(uintptr_t)context, i);
        CHECK_FAILS(revamp_accelerator_find(path, &found), AS_RUNTIME, path);
    }
    return NULL;
}

TEST(each_thread_has_its_own_last_error) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, fail_and_check_message, (void *)i));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(!revamp_last_error_message()[0]);
}
