/* Data of views that are alive when the process ends, or the library is told to end, is written back. A file that
 * parent and child both map shows what the child's memory came to. */
#include "engines.h"
#include "system.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1 << 16, BYTES = N * 4, STEPS = 5, PLACES = 4, FILE_SIZE = PLACES * BYTES };

/* The child's: the numbers it works on, one part for each engine. */
static uint32_t *test_file(void) {
    const char *path = getenv("TEST_FILE");
    REQUIRE(path);
    return map_shared_file(path, FILE_SIZE);
}

/* Runs the child on a file of numbers, and returns what it left there: PLACES times N. */
static uint32_t *run_on_file(const char *child, uint32_t seed, const char *setting) {
    char path[PATH_BYTES], variable[PATH_BYTES + 16];
    make_shared_file(path, FILE_SIZE);
    uint32_t *map = map_shared_file(path, FILE_SIZE), *left = memory(FILE_SIZE);
    fill_bytes(map, FILE_SIZE, seed);
    snprintf(variable, sizeof variable, "TEST_FILE=%s", path);
    child_result r = run_child(child, variable, setting, NULL);
    memcpy(left, map, FILE_SIZE);
    unmap_shared_file(map, FILE_SIZE);
    remove(path);
    check_child(&r, __FILE__, __LINE__);
    return left;
}

static size_t count_engines(void) {
    size_t count = 0;
    FOR_EACH_ENGINE(e) count++;
    REQUIRE(count <= PLACES);
    return count;
}

/* Every part of an engine has been stepped so often, and the others are as they were. */
static void check_file(const uint32_t *left, uint32_t seed, unsigned steps) {
    uint32_t *expected = numbers(PLACES * N, seed);
    step_naive(expected, count_engines() * N, steps);
    CHECK_SAME(left, expected, FILE_SIZE);
}

/* A view for each engine, stepped there; nobody waits or releases. */
static void step_parts(uint32_t *map, revamp_array_view *views) {
    size_t at = 0;
    FOR_EACH_ENGINE(e) {
        revamp_array_view view = view_of(map + at * N, N);
        for (int i = 0; i < STEPS; i++)
            CHECK_OK(run_step(e, NULL, use_view(view)));
        if (views) views[at] = view;
        at++;
    }
}

CHILD(returns_with_views) {
    step_parts(test_file(), NULL);
}

TEST(return_from_main_writes_back) {
    for (uint32_t i = 0; i < 3; i++)
        check_file(run_on_file("returns_with_views", i, NULL), i, STEPS);
}

TEST(return_from_main_writes_back_from_separate_memory) {
    check_file(run_on_file("returns_with_views", 1, "REVAMP_MEMORY=separate"), 1, STEPS);
    check_file(run_on_file("returns_with_views", 2, "REVAMP_VALIDATION=2"), 2, STEPS);
}

CHILD(calls_exit_with_views) {
    step_parts(test_file(), NULL);
    exit(0);
}

TEST(exit_writes_back) {
    check_file(run_on_file("calls_exit_with_views", 1, NULL), 1, STEPS);
    check_file(run_on_file("calls_exit_with_views", 2, "REVAMP_MEMORY=separate"), 2, STEPS);
}

static void *exit_from_thread(void *context) {
    (void)context;
    exit(0);
}

CHILD(exits_from_a_thread_with_views) {
    pthread_t leaver;
    step_parts(test_file(), NULL);
    REQUIRE(!pthread_create(&leaver, NULL, exit_from_thread, NULL));
    pthread_join(leaver, NULL);
}

TEST(exit_from_a_thread_writes_back) {
    check_file(run_on_file("exits_from_a_thread_with_views", 1, NULL), 1, STEPS);
}

/* uninitialize does it at once, and the exit not again. */
CHILD(uninitializes_with_views) {
    uint32_t *map = test_file(), *expected = memory(FILE_SIZE);
    revamp_array_view views[PLACES] = {NULL};
    memcpy(expected, map, FILE_SIZE);
    step_parts(map, views);
    size_t count = count_engines();
    CHECK_OK(revamp_uninitialize());
    step_naive(expected, count * N, STEPS);
    CHECK_SAME(map, expected, FILE_SIZE);
    for (size_t i = 0; i < count; i++)
        CHECK_FAILS(revamp_array_view_release(views[i]), AS_HANDLE, "freed");
    /* From here on the memory is the program's alone. */
    step_naive(map, count * N, 1);
    full_job();
    CHECK_OK(revamp_uninitialize());
    full_job();
}

TEST(uninitialize_writes_back_once) {
    check_file(run_on_file("uninitializes_with_views", 1, NULL), 1, STEPS + 1);
    check_file(run_on_file("uninitializes_with_views", 2, "REVAMP_MEMORY=separate"), 2, STEPS + 1);
}

/* The memory may be gone right after uninitialize. */
CHILD(unmaps_after_uninitialize) {
    uint32_t *map = test_file();
    step_parts(map, NULL);
    CHECK_OK(revamp_uninitialize());
    REQUIRE(unmap_shared_file(map, FILE_SIZE));
    full_job();
}

TEST(after_uninitialize_the_memory_is_not_touched) {
    check_file(run_on_file("unmaps_after_uninitialize", 1, NULL), 1, STEPS);
    check_file(run_on_file("unmaps_after_uninitialize", 2, "REVAMP_MEMORY=separate"), 2, STEPS);
}

/* And right after the last view of it, also at the exit. */
CHILD(unmaps_after_release) {
    uint32_t *map = test_file();
    revamp_array_view views[PLACES] = {NULL};
    step_parts(map, views);
    for (size_t i = 0; i < PLACES && views[i]; i++)
        drop(views[i]);
    REQUIRE(unmap_shared_file(map, FILE_SIZE));
    full_job();
}

TEST(after_release_the_memory_is_not_touched) {
    check_file(run_on_file("unmaps_after_release", 1, NULL), 1, STEPS);
    check_file(run_on_file("unmaps_after_release", 2, "REVAMP_MEMORY=separate"), 2, STEPS);
}

/* Sections, aliases and parts dirty on several accelerators: each element is written back from where it was last. */
CHILD(exits_with_parts_here_and_there) {
    uint32_t *map = test_file();
    revamp_array_view all = view_of(map, PLACES * N), kept = range_of(all, 5, 7);
    int32_t at = 0;
    FOR_EACH_ENGINE(e) {
        revamp_array_view part = range_of(all, at, N), alias = range_of(all, at, N);
        at += N;
        for (int i = 0; i < STEPS - 1; i++)
            CHECK_OK(run_step(e, e->p->view, use_view(part)));
        CHECK_OK(run_step(e, second_view_of(e), use_view(alias)));
        drop(part);
        drop(alias);
    }
    (void)kept;
}

TEST(exit_writes_back_parts_from_where_they_are) {
    check_file(run_on_file("exits_with_parts_here_and_there", 1, NULL), 1, STEPS);
    check_file(run_on_file("exits_with_parts_here_and_there", 2, "REVAMP_MEMORY=separate"), 2, STEPS);
}

/* What was discarded or only read is not written back: home keeps what it has. */
CHILD(exits_with_nothing_to_write) {
    uint32_t *map = test_file(), state = 1;
    size_t at = 0;
    FOR_EACH_ENGINE(e) {
        static uint32_t sum[N];
        uint32_t *mine = map + at++ * N;
        revamp_array_view view = view_of(mine, N), constant = read_only(view), out = view_of(sum, N);
        if (!is_apart(view, e->p->view)) check_skip("it needs separate memory");
        CHECK_OK(run_step(e, NULL, use_view(view)));
        CHECK_OK(revamp_array_view_discard_data(view));
        /* Behind the library's back; what it would write back is older. */
        for (int i = 0; i < N; i++)
            mine[i] = random_number(&state);
        CHECK_OK(revamp_array_view_refresh(view));
        CHECK_OK(run_sum(e, NULL, use_view(constant), use_view(constant), use_view(out)));
        CHECK_OK(revamp_accelerator_view_wait(e->p->view));
        for (int i = 0; i < N; i++)
            mine[i] = (uint32_t)i;
    }
}

TEST(exit_writes_nothing_back_that_was_only_read_or_discarded) {
    const uint32_t *left = run_on_file("exits_with_nothing_to_write", 1, "REVAMP_MEMORY=separate");
    /* Counting makes the engines' kernels anew. */
    const size_t count = count_engines() * N;
    for (size_t i = 0; i < count; i++)
        if (left[i] != i % N) {
            check_fail(__FILE__, __LINE__, "number %zu is %u", i, (unsigned)left[i]);
            break;
        }
}

/* An exit hook of the program that comes before the library's may still use views. */
static revamp_array_view hook_view;
static uint32_t *hook_data;

static void use_view_in_hook(void) {
    void *data = NULL;
    revamp_status status = revamp_array_view_data(hook_view, REVAMP_ACCESS_READ_WRITE, &data);
    if (status == REVAMP_OK) ((uint32_t *)data)[0] = 42;
    status = revamp_array_view_release(hook_view);
    if (status != REVAMP_OK && status != REVAMP_ERROR_SHUT_DOWN) hook_data[1] = 666;
}

CHILD(uses_views_while_it_exits) {
    hook_data = test_file();
    /* This one is registered before the library's and so comes after it. */
    atexit(use_view_in_hook);
    const place *p = places_that(runs_kernels);
    hook_view = view_of(hook_data, N);
    step_on(p, hook_view);
    /* And this one comes before. */
    hook_data[N] = 1;
}

TEST(views_in_exit_hooks_do_no_harm) {
    uint32_t *expected = numbers(PLACES * N, 1), *left = run_on_file("uses_views_while_it_exits", 1, NULL);
    step_naive(expected, N, 1);
    expected[N] = 1;
    /* The late hook may have been refused. */
    if (left[0] == 42) expected[0] = 42;
    CHECK_SAME(left, expected, FILE_SIZE);
}

CHILD(exits_with_views_on_a_lost_device) {
    static uint32_t data[N];
    FOR_EACH_ENGINE(e) {
        revamp_array_view view = view_of(data, N);
        for (int i = 0; i < 20; i++)
            run_step(e, NULL, use_view(view));
        revamp_completion done = NULL;
        WHATEVER(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done));
        if (e->step) return;
    }
}

TEST(exit_with_views_on_a_lost_device) {
    some_place(runs_spirv);
    for (int n = 1; n <= 4; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=lose-device=%d", n);
        CHECK_CHILD("exits_with_views_on_a_lost_device", setting, NULL);
        CHECK_CHILD("exits_with_views_on_a_lost_device", setting, "REVAMP_MEMORY=separate", NULL);
    }
}
