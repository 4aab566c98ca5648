/* Tests of failures that REVAMP_TEST forces in child processes: out of memory and a lost device. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, BIG = 1 << 20 };

/* Runs a job in steps, each of which may fail, and frees all objects. Returns the first failure. */
static revamp_status try_job(revamp_accelerator accelerator, revamp_accelerator_view view) {
    static uint32_t sent[N], got[N];
    const int32_t extent = N, big = BIG;
    uint32_t *big_data = memory((size_t)BIG * 4);
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
    STEP(revamp_copy_to_array(big_data, (size_t)BIG * 4, second));
    STEP(launch_step(view, step, array));
    STEP(launch_step(view, step, second));
    revamp_region from = whole(array), to = whole(staging);
    STEP(revamp_copy(&from, &to));
    STEP(revamp_copy_from_array_async(second, big_data, (size_t)BIG * 4, NULL, &done));
    STEP(revamp_completion_get(done));
    STEP(revamp_copy_from_array(array, got, sizeof got));
    STEP(revamp_accelerator_view_wait(view));
#undef STEP
    if (status == REVAMP_OK) {
        step_naive(sent, N, 1);
        CHECK_SAME(got, sent, sizeof got);
        CHECK_NUMBER(big_data[0], 1);
        CHECK_NUMBER(big_data[BIG - 1], 1);
    }
    /* Releases succeed after any failure and keep the last error. */
    if (done) CHECK_OK(revamp_completion_release(done));
    if (staging) CHECK_OK(revamp_array_destroy(staging));
    if (second) CHECK_OK(revamp_array_destroy(second));
    if (array) CHECK_OK(revamp_array_destroy(array));
    if (step) CHECK_OK(revamp_kernel_release(step));
    return status;
}

static const char *test_setting(const char *name, int n) {
    char *text = memory(64);
    const char *current = getenv("REVAMP_TEST");
    snprintf(text, 64, "REVAMP_TEST=%s%s=%d", current && strstr(current, "words") ? "words," : "", name, n);
    return text;
}

/* REVAMP_TEST lets exactly one allocation or submission fail. At most one job fails, because the library can do without
 * some allocations, such as a queue's completion word. After the failure the view works as before. */
static void check_at_most_one_job_fails(const char *expected_text) {
    enum { JOBS = 5 };
    const place *p = first_place_or_skip(runs_spirv);
    int failed = 0;
    for (int i = 0; i < JOBS; i++) {
        revamp_status status = try_job(p->accelerator, p->view);
        if (status == REVAMP_OK) continue;
        failed++;
        CHECK_FAILS(status, AS_MEMORY, expected_text);
        CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x8007000E);
        /* A wait does not hang on lost work. If the failure lost other launches, too, one wait reports the loss. */
        status = revamp_accelerator_view_wait(p->view);
        if (status) CHECK_FAILS(status, AS_MEMORY, "lost");
        CHECK_OK(revamp_accelerator_view_wait(p->view));
    }
    CHECK(failed <= 1);
    printf("%d failed\n", failed);
    full_job();
    CHECK_OK(revamp_uninitialize());
    full_job();
}

/* Runs the child once for each n from 1 to `last_number`, with REVAMP_TEST=`failure`=n. In at least one run, the
 * failure must reach the program: the child then prints "1 failed". */
static void run_with_each_number(const char *child, const char *failure, int last_number) {
    int failed = 0;
    first_place_or_skip(runs_spirv);
    for (int n = 1; n <= last_number; n++) {
        child_result r = run_child(child, test_setting(failure, n), NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s=%d\n", failure, n);
        failed += strstr(r.output, "1 failed") != NULL;
    }
    CHECK(failed > 0);
}

CHILD(runs_out_of_memory) {
    check_at_most_one_job_fails("alloc");
}

TEST(failed_allocations_return_out_of_memory) {
    run_with_each_number("runs_out_of_memory", "fail-alloc", 8);
}

CHILD(cannot_submit) {
    check_at_most_one_job_fails("submi");
}

TEST(failed_submissions_return_out_of_memory) {
    run_with_each_number("cannot_submit", "fail-submit", 6);
}

/* The second submission signals the queue's semaphore. A wait for the first submission requests the signal, unless the
 * completion word shows the end of the first submission in time. In that case, the queue signals at its destruction. */
CHILD(cannot_signal) {
    const place *p = first_place_or_skip(runs_spirv);
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

TEST(a_failed_signal_does_not_fail_work) {
    /* A hardware device sets its completion word before a wait requests a signal. */
    if (!first_place_or_skip(runs_spirv)->info.is_emulated) check_skip("no software device");
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

TEST(failed_host_allocations_return_out_of_memory) {
    CHECK_CHILD("host_runs_out_of_memory", "REVAMP_TEST=fail-alloc=2,no-vulkan", NULL);
}

static void check_removed(revamp_status status) {
    CHECK_FAILS(status, AS_REMOVED, "lost");
    uint32_t result = (uint32_t)revamp_last_error_hresult();
    CHECK(result == 0x887A0005 || result == 0x887A0006 || result == 0x887A0007);
}

CHILD(loses_the_device) {
    const place *p = first_place_or_skip(runs_spirv);
    revamp_accelerator_view view = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC), second = NULL;
    revamp_status status = REVAMP_OK;
    for (int i = 0; i < 10 && status == REVAMP_OK; i++)
        status = try_job(p->accelerator, view);
    check_removed(status);
    printf("1 failed\n");
    /* The lost view stays unusable. */
    check_removed(try_job(p->accelerator, view));
    small_job();
    /* A new view works. */
    REQUIRE_OK(revamp_accelerator_create_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &second));
    CHECK_OK(try_job(p->accelerator, second));
    CHECK_OK(revamp_accelerator_view_release(second));
    /* The default view works after the accelerator is reopened. */
    revamp_accelerator_view reopened_view = NULL;
    check_removed(try_job(p->accelerator, p->view));
    CHECK_OK(revamp_accelerator_reopen(p->accelerator));
    REQUIRE_OK(revamp_accelerator_get_default_view(p->accelerator, &reopened_view));
    CHECK(reopened_view != p->view);
    CHECK_OK(try_job(p->accelerator, reopened_view));
    /* If nothing was lost, reopening changes nothing. */
    CHECK_OK(revamp_accelerator_reopen(p->accelerator));
    revamp_accelerator_view same = NULL;
    CHECK_OK(revamp_accelerator_get_default_view(p->accelerator, &same));
    CHECK(same == reopened_view);
    CHECK_OK(revamp_accelerator_view_release(view));
    /* After revamp_uninitialize() the library starts again and works. */
    CHECK_OK(revamp_uninitialize());
    full_job();
}

TEST(a_lost_device_returns_accelerator_view_removed) {
    run_with_each_number("loses_the_device", "lose-device", 5);
}

CHILD(exits_with_a_lost_device) {
    const place *p = first_place_or_skip(runs_spirv);
    revamp_kernel step = load(p->accelerator, &step_module);
    revamp_array array = array_1d(p->view, N, 4);
    revamp_completion marker = NULL;
    for (int i = 0; i < 20; i++)
        launch_step(p->view, step, array);
    IGNORE_STATUS(revamp_accelerator_view_create_marker(p->view, &marker));
    /* The child does not wait for the launches. Its exit must neither hang nor crash. */
}

TEST(a_process_with_a_lost_device_exits) {
    first_place_or_skip(runs_spirv);
    CHECK_CHILD("exits_with_a_lost_device", "REVAMP_TEST=lose-device=2", NULL);
}
