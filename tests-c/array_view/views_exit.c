/* Tests that array_views that still exist at the end of the process, or at revamp_uninitialize(), are written back.
 * A child process works on a mapped file. The parent process maps the same file, and checks the final contents. */
#include "engines.h"
#include "system.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1 << 16, BYTES = N * 4, STEPS = 5, MAX_ENGINES = 4, FILE_SIZE = MAX_ENGINES * BYTES };

/* Maps the file in the child process. The file has N numbers for each engine. */
static uint32_t *test_file(void) {
    const char *path = getenv("TEST_FILE");
    REQUIRE(path);
    return map_shared_file(path, FILE_SIZE);
}

/* Runs the child on a file of `MAX_ENGINES` times N numbers, and returns the final contents of the file. */
static uint32_t *run_on_file(const char *child, uint32_t seed, const char *setting) {
    char path[PATH_BYTES], variable[PATH_BYTES + 16];
    make_shared_file(path, FILE_SIZE);
    uint32_t *map = map_shared_file(path, FILE_SIZE), *contents = memory(FILE_SIZE);
    fill_bytes(map, FILE_SIZE, seed);
    snprintf(variable, sizeof variable, "TEST_FILE=%s", path);
    child_result r = run_child(child, variable, setting, NULL);
    memcpy(contents, map, FILE_SIZE);
    unmap_shared_file(map, FILE_SIZE);
    remove(path);
    check_child(&r, __FILE__, __LINE__);
    return contents;
}

static size_t count_engines(void) {
    size_t count = 0;
    FOR_EACH_ENGINE(e) count++;
    REQUIRE(count <= MAX_ENGINES);
    return count;
}

/* Checks that the step kernel ran `steps` times on the part of each engine, and that other parts are unchanged. */
static void check_file(const uint32_t *contents, uint32_t seed, unsigned steps) {
    uint32_t *expected = numbers(MAX_ENGINES * N, seed);
    step_naive(expected, count_engines() * N, steps);
    CHECK_SAME(contents, expected, FILE_SIZE);
}

/* Creates a view of the part of each engine, and runs the step kernel on it. Neither waits nor releases the views. */
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
    pthread_t exiting_thread;
    step_parts(test_file(), NULL);
    REQUIRE(!pthread_create(&exiting_thread, NULL, exit_from_thread, NULL));
    pthread_join(exiting_thread, NULL);
}

TEST(exit_from_a_thread_writes_back) {
    check_file(run_on_file("exits_from_a_thread_with_views", 1, NULL), 1, STEPS);
}

/* revamp_uninitialize() writes back before it returns, and exit() does not write back again. */
CHILD(uninitializes_with_views) {
    uint32_t *map = test_file(), *expected = memory(FILE_SIZE);
    revamp_array_view views[MAX_ENGINES] = {NULL};
    memcpy(expected, map, FILE_SIZE);
    step_parts(map, views);
    size_t count = count_engines();
    CHECK_OK(revamp_uninitialize());
    step_naive(expected, count * N, STEPS);
    CHECK_SAME(map, expected, FILE_SIZE);
    for (size_t i = 0; i < count; i++)
        CHECK_FAILS(revamp_array_view_release(views[i]), AS_HANDLE, "freed");
    /* From here on, only the program itself uses the memory. */
    step_naive(map, count * N, 1);
    full_job();
    CHECK_OK(revamp_uninitialize());
    full_job();
}

TEST(uninitialize_writes_back_once) {
    check_file(run_on_file("uninitializes_with_views", 1, NULL), 1, STEPS + 1);
    check_file(run_on_file("uninitializes_with_views", 2, "REVAMP_MEMORY=separate"), 2, STEPS + 1);
}

/* The memory may be unmapped right after revamp_uninitialize(). */
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

/* The memory may be unmapped right after the release of its last view. exit() does not access it either. */
CHILD(unmaps_after_release) {
    uint32_t *map = test_file();
    revamp_array_view views[MAX_ENGINES] = {NULL};
    step_parts(map, views);
    for (size_t i = 0; i < MAX_ENGINES && views[i]; i++)
        drop(views[i]);
    REQUIRE(unmap_shared_file(map, FILE_SIZE));
    full_job();
}

TEST(after_release_the_memory_is_not_touched) {
    check_file(run_on_file("unmaps_after_release", 1, NULL), 1, STEPS);
    check_file(run_on_file("unmaps_after_release", 2, "REVAMP_MEMORY=separate"), 2, STEPS);
}

/* Parts were last written on several accelerators. Each element is written back from where it was last written. */
CHILD(exits_with_parts_here_and_there) {
    uint32_t *map = test_file();
    revamp_array_view all = view_of(map, MAX_ENGINES * N), unreleased = range_of(all, 5, 7);
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
    (void)unreleased;
}

TEST(exit_writes_back_parts_from_where_they_are) {
    check_file(run_on_file("exits_with_parts_here_and_there", 1, NULL), 1, STEPS);
    check_file(run_on_file("exits_with_parts_here_and_there", 2, "REVAMP_MEMORY=separate"), 2, STEPS);
}

/* Elements that were discarded or only read are not written back: the memory of the program keeps its contents. */
CHILD(exits_with_nothing_to_write) {
    uint32_t *map = test_file(), state = 1;
    size_t at = 0;
    bool is_tested = false;
    FOR_EACH_ENGINE(e) {
        static uint32_t sum[N];
        uint32_t *engine_data = map + at++ * N;
        revamp_array_view view = view_of(engine_data, N), constant = read_only(view), out = view_of(sum, N);
        if (has_own_memory(view, e->p->view)) {
            is_tested = true;
            CHECK_OK(run_step(e, NULL, use_view(view)));
            CHECK_OK(revamp_array_view_discard_data(view));
            /* The program changes the memory without a call. A write-back would overwrite it with older values. */
            for (int i = 0; i < N; i++)
                engine_data[i] = random_number(&state);
            CHECK_OK(revamp_array_view_refresh(view));
            CHECK_OK(run_sum(e, NULL, use_view(constant), use_view(constant), use_view(out)));
            CHECK_OK(revamp_accelerator_view_wait(e->p->view));
        }
        for (int i = 0; i < N; i++)
            engine_data[i] = (uint32_t)i;
    }
    if (!is_tested) check_skip("it needs separate memory");
}

TEST(exit_writes_nothing_back_that_was_only_read_or_discarded) {
    const uint32_t *contents = run_on_file("exits_with_nothing_to_write", 1, "REVAMP_MEMORY=separate");
    /* Counts the engines only once, because counting loads their kernels again. */
    const size_t count = count_engines() * N;
    for (size_t i = 0; i < count; i++)
        if (contents[i] != i % N) {
            check_fail(__FILE__, __LINE__, "number %zu is %u", i, (unsigned)contents[i]);
            break;
        }
}

/* Calls on views in an exit hook of the program are allowed, even after the exit hook of the library. */
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
    /* This hook is registered before the hook of the library, so it runs after the library's hook. */
    atexit(use_view_in_hook);
    const place *p = places_that(runs_kernels);
    hook_view = view_of(hook_data, N);
    step_on(p, hook_view);
    /* This write comes before all hooks. */
    hook_data[N] = 1;
}

TEST(views_in_exit_hooks_do_no_harm) {
    uint32_t *expected = numbers(MAX_ENGINES * N, 1), *contents = run_on_file("uses_views_while_it_exits", 1, NULL);
    step_naive(expected, N, 1);
    expected[N] = 1;
    /* The library may have refused the calls of the program's hook, which runs late. */
    if (contents[0] == 42) expected[0] = 42;
    CHECK_SAME(contents, expected, FILE_SIZE);
}

CHILD(exits_with_views_on_a_lost_device) {
    static uint32_t data[N];
    FOR_EACH_ENGINE(e) {
        revamp_array_view view = view_of(data, N);
        for (int i = 0; i < 20; i++)
            run_step(e, NULL, use_view(view));
        revamp_completion done = NULL;
        IGNORE_STATUS(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done));
        if (e->step) return;
    }
}

TEST(exit_with_views_on_a_lost_device) {
    first_place_or_skip(runs_spirv);
    for (int n = 1; n <= 4; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=lose-device=%d", n);
        CHECK_CHILD("exits_with_views_on_a_lost_device", setting, NULL);
        CHECK_CHILD("exits_with_views_on_a_lost_device", setting, "REVAMP_MEMORY=separate", NULL);
    }
}
