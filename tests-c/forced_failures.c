/* Failures that only REVAMP_TEST brings about, in child processes: no memory, a lost device. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, BIG = 1 << 20 };

/* A job in steps, each of which may fail; what was made is freed. Returns the first failure. */
static revamp_status whole_job(revamp_accelerator accelerator, revamp_accelerator_view view) {
    static uint32_t sent[N], got[N];
    const int32_t extent = N, big = BIG;
    uint32_t *many = memory((size_t)BIG * 4);
    revamp_kernel step = NULL;
    revamp_array array = NULL, second = NULL, staging = NULL;
    revamp_completion done = NULL;
    revamp_array_options options = {0};
    revamp_status status = REVAMP_OK;
    options.struct_size = sizeof options;
    options.associated_view = view;
    fill_bytes(sent, sizeof sent, 1);
#define STEP(call)                                                                                                     \
    if (status == REVAMP_OK) status = (call)
    STEP(try_load(accelerator, step_module.words, step_module.size, NULL, &step));
    STEP(revamp_array_create(view, 1, &extent, 4, NULL, &array));
    STEP(revamp_array_create(view, 1, &big, 4, NULL, &second));
    STEP(revamp_array_create(cpu_view(), 1, &extent, 4, &options, &staging));
    STEP(revamp_copy_to_array(sent, sizeof sent, array));
    STEP(revamp_copy_to_array(many, (size_t)BIG * 4, second));
    STEP(launch_step(view, step, array));
    STEP(launch_step(view, step, second));
    revamp_region from = whole(array), to = whole(staging);
    STEP(revamp_copy(&from, &to));
    STEP(revamp_copy_from_array_async(second, many, (size_t)BIG * 4, NULL, &done));
    STEP(revamp_completion_get(done));
    STEP(revamp_copy_from_array(array, got, sizeof got));
    STEP(revamp_accelerator_view_wait(view));
#undef STEP
    if (status == REVAMP_OK) {
        step_naive(sent, N, 1);
        CHECK_SAME(got, sent, sizeof got);
        CHECK_NUMBER(many[0], 1);
        CHECK_NUMBER(many[BIG - 1], 1);
    }
    /* Releasing works whatever happened, and keeps the last error. */
    if (done) CHECK_OK(revamp_completion_release(done));
    if (staging) CHECK_OK(revamp_array_destroy(staging));
    if (second) CHECK_OK(revamp_array_destroy(second));
    if (array) CHECK_OK(revamp_array_destroy(array));
    if (step) CHECK_OK(revamp_kernel_release(step));
    return status;
}

static const char *setting(const char *name, int n) {
    char *text = memory(64);
    const char *here = getenv("REVAMP_TEST");
    snprintf(text, 64, "REVAMP_TEST=%s%s=%d", here && strstr(here, "words") ? "words," : "", name, n);
    return text;
}

/* The Nth of something fails for lack of memory and no other (none if the library can do without, as without a queue's
 * completion word), and the view is as good as before. */
static void at_most_one_job_fails(const char *says) {
    enum { JOBS = 5 };
    const place *p = some_place(runs_spirv);
    int failed = 0;
    for (int i = 0; i < JOBS; i++) {
        revamp_status status = whole_job(p->accelerator, p->view);
        if (status == REVAMP_OK) continue;
        failed++;
        CHECK_FAILS(status, AS_MEMORY, says);
        CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x8007000E);
        /* What was lost is not waited for without end; of other launches that were lost with it, the wait tells once.
         */
        status = revamp_accelerator_view_wait(p->view);
        if (status) CHECK_FAILS(status, AS_MEMORY, "lost");
        CHECK_OK(revamp_accelerator_view_wait(p->view));
    }
    CHECK(failed <= 1);
    full_job();
    CHECK_OK(revamp_uninitialize());
    full_job();
}

/* The child with REVAMP_TEST=what=1, then 2, up to `most`. */
static void run_with_each(const char *child, const char *what, int most) {
    some_place(runs_spirv);
    for (int n = 1; n <= most; n++) {
        child_result r = run_child(child, setting(what, n), NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s=%d\n", what, n);
    }
}

CHILD(runs_out_of_memory) {
    at_most_one_job_fails("alloc");
}

TEST(an_allocation_that_fails_is_out_of_memory) {
    run_with_each("runs_out_of_memory", "fail-alloc", 8);
}

CHILD(cannot_submit) {
    at_most_one_job_fails("submi");
}

TEST(a_submission_that_fails_is_out_of_memory) {
    run_with_each("cannot_submit", "fail-submit", 6);
}

/* The second submission is a signal: the wait for the first asks for one, unless the word tells in time; else the queue
 * does when it ends. */
CHILD(cannot_signal) {
    const place *p = some_place(runs_spirv);
    uint32_t sent[N], got[N];
    fill_bytes(sent, sizeof sent, 2);
    revamp_accelerator_view view = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
    revamp_kernel step = load(p->accelerator, &step_module);
    revamp_array array = array_1d(view, N, 4);
    CHECK_OK(revamp_copy_to_array(sent, sizeof sent, array));
    CHECK_OK(launch_step(view, step, array));
    CHECK_OK(revamp_accelerator_view_wait(view));
    CHECK_OK(revamp_copy_from_array(array, got, sizeof got));
    step_naive(sent, N, 1);
    CHECK_SAME(got, sent, sizeof got);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(step));
    CHECK_OK(revamp_accelerator_view_release(view));
    full_job();
}

TEST(a_signal_that_fails_fails_no_work) {
    /* A real device tells by its word before a signal is asked for. */
    if (!some_place(runs_spirv)->info.is_emulated) check_skip("no software device");
    CHECK_CHILD("cannot_signal", "REVAMP_MEMORY=auto", "REVAMP_TEST=words,fail-submit=2", NULL);
}

CHILD(host_runs_out_of_memory) {
    int32_t extent = 100;
    revamp_array array = NULL;
    revamp_accelerator_view views[] = {cpu_view(), host_view()};
    int failed = 0;
    for (int i = 0; i < 6; i++) {
        revamp_status status = revamp_array_create(views[i % 2], 1, &extent, 4, NULL, &array);
        if (status == REVAMP_OK) {
            CHECK_OK(revamp_array_destroy(array));
            continue;
        }
        failed++;
        CHECK_FAILS(status, AS_MEMORY, "alloc");
    }
    CHECK_NUMBER(failed, 1);
    small_job();
}

TEST(a_host_allocation_that_fails_is_out_of_memory) {
    CHECK_CHILD("host_runs_out_of_memory", "REVAMP_TEST=fail-alloc=2,no-vulkan", NULL);
}

static void check_removed(revamp_status status) {
    CHECK_FAILS(status, AS_REMOVED, "lost");
    uint32_t result = (uint32_t)revamp_last_error_hresult();
    CHECK(result == 0x887A0005 || result == 0x887A0006 || result == 0x887A0007);
}

CHILD(loses_the_device) {
    const place *p = some_place(runs_spirv);
    revamp_accelerator_view view = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC), second = NULL;
    revamp_status status = REVAMP_OK;
    for (int i = 0; i < 10 && status == REVAMP_OK; i++)
        status = whole_job(p->accelerator, view);
    check_removed(status);
    /* The view stays dead. */
    check_removed(whole_job(p->accelerator, view));
    small_job();
    /* A new one works. */
    REQUIRE_OK(revamp_accelerator_create_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &second));
    CHECK_OK(whole_job(p->accelerator, second));
    CHECK_OK(revamp_accelerator_view_release(second));
    /* And the default view, once the accelerator is reopened. */
    revamp_accelerator_view again = NULL;
    check_removed(whole_job(p->accelerator, p->view));
    CHECK_OK(revamp_accelerator_reopen(p->accelerator));
    REQUIRE_OK(revamp_accelerator_get_default_view(p->accelerator, &again));
    CHECK(again != p->view);
    CHECK_OK(whole_job(p->accelerator, again));
    /* Without a loss nothing changes. */
    CHECK_OK(revamp_accelerator_reopen(p->accelerator));
    revamp_accelerator_view same = NULL;
    CHECK_OK(revamp_accelerator_get_default_view(p->accelerator, &same));
    CHECK(same == again);
    CHECK_OK(revamp_accelerator_view_release(view));
    /* A new beginning works in any case. */
    CHECK_OK(revamp_uninitialize());
    full_job();
}

TEST(a_lost_device_is_an_accelerator_view_removed) {
    run_with_each("loses_the_device", "lose-device", 5);
}

CHILD(exits_with_a_lost_device) {
    const place *p = some_place(runs_spirv);
    revamp_kernel step = load(p->accelerator, &step_module);
    revamp_array array = array_1d(p->view, N, 4);
    revamp_completion marker = NULL;
    for (int i = 0; i < 20; i++)
        launch_step(p->view, step, array);
    WHATEVER(revamp_accelerator_view_create_marker(p->view, &marker));
    /* No wait: the exit must neither hang nor crash. */
}

TEST(a_process_with_a_lost_device_exits) {
    some_place(runs_spirv);
    CHECK_CHILD("exits_with_a_lost_device", "REVAMP_TEST=lose-device=2", NULL);
}
