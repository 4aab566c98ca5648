/* Tests of completions, which are the completion_futures of the C API (docs/spec/copies.md#completion_future). A host
 * kernel that waits at a `gate` blocks a queue until the test opens the gate. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static revamp_completion marker_of(revamp_accelerator_view view) {
    revamp_completion marker = NULL;
    REQUIRE_OK(revamp_accelerator_view_create_marker(view, &marker));
    return marker;
}

TEST(wait_for_times_out_until_the_work_is_done) {
    gate *g = new_gate();
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view());
    CHECK_STATUS(revamp_completion_wait_for(marker, 0), REVAMP_TIMEOUT);
    CHECK_STATUS(revamp_completion_wait_for(marker, 20000000), REVAMP_TIMEOUT);
    open_gate(g);
    CHECK_STATUS(revamp_completion_wait_for(marker, UINT64_MAX), REVAMP_OK);
    CHECK_STATUS(revamp_completion_wait_for(marker, 0), REVAMP_OK);
    CHECK_OK(revamp_completion_wait(marker));
    expect_done(marker);
}

TEST(get_may_be_called_repeatedly) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(100, 1);
        revamp_array array = array_1d(p->view, 100, 4);
        revamp_completion done = NULL;
        REQUIRE_OK(revamp_copy_to_array_async(sent, 400, array, NULL, &done));
        CHECK_OK(revamp_completion_get(done));
        CHECK_OK(revamp_completion_wait(done));
        CHECK_OK(revamp_completion_get(done));
        CHECK_OK(revamp_completion_retain(done));
        CHECK_OK(revamp_completion_release(done));
        expect_done(done);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Results that callbacks record. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned calls, failures, arrived;
    bool ran_on_caller;
    pthread_t caller;
    revamp_accelerator_view view;
} callback_record;

static callback_record *new_callback_record(void) {
    callback_record *s = memory(sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->caller = pthread_self();
    return s;
}

static void record_call(revamp_status status, void *context) {
    callback_record *s = context;
    pthread_mutex_lock(&s->lock);
    s->calls++;
    s->failures += status != REVAMP_OK;
    if (pthread_equal(s->caller, pthread_self())) s->ran_on_caller = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Waits for `calls` callbacks. If they never run, the time limit ends the test. */
static void expect_calls(callback_record *s, unsigned calls) {
    pthread_mutex_lock(&s->lock);
    while (s->calls < calls)
        pthread_cond_wait(&s->changed, &s->lock);
    CHECK_NUMBER(s->calls, calls);
    CHECK_NUMBER(s->failures, 0);
    CHECK(!s->ran_on_caller);
    pthread_mutex_unlock(&s->lock);
}

TEST(each_callback_runs_once) {
    enum { BEFORE = 100, AFTER = 50 };
    gate *g = new_gate();
    callback_record *s = new_callback_record();
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view());
    for (int i = 0; i < BEFORE; i++)
        CHECK_OK(revamp_completion_then(marker, record_call, s));
    pthread_mutex_lock(&s->lock);
    CHECK_NUMBER(s->calls, 0);
    pthread_mutex_unlock(&s->lock);
    open_gate(g);
    CHECK_OK(revamp_completion_wait(marker));
    for (int i = 0; i < AFTER; i++)
        CHECK_OK(revamp_completion_then(marker, record_call, s));
    expect_calls(s, BEFORE + AFTER);
    expect_done(marker);
}

TEST(callbacks_run_after_the_handle_was_released) {
    gate *g = new_gate();
    callback_record *s = new_callback_record();
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view());
    CHECK_OK(revamp_completion_then(marker, record_call, s));
    CHECK_OK(revamp_completion_release(marker));
    open_gate(g);
    expect_calls(s, 1);
}

TEST(callbacks_run_for_copies_on_every_accelerator) {
    enum { COPIES = 20 };
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(1000, 1);
        callback_record *s = new_callback_record();
        revamp_array array = array_1d(p->view, 1000, 4);
        for (int i = 0; i < COPIES; i++) {
            revamp_completion done = NULL;
            REQUIRE_OK(revamp_copy_to_array_async(sent, 4000, array, NULL, &done));
            CHECK_OK(revamp_completion_then(done, record_call, s));
            CHECK_OK(revamp_completion_release(done));
        }
        expect_calls(s, COPIES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(callbacks_run_for_markers_after_kernels) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, numbers(1000, 1), 1000);
        callback_record *s = new_callback_record();
        for (int i = 0; i < 30; i++) {
            CHECK_OK(launch_step(p->view, step, array));
            revamp_completion marker = marker_of(p->view);
            CHECK_OK(revamp_completion_then(marker, record_call, s));
            CHECK_OK(revamp_completion_release(marker));
        }
        /* No call waits or flushes: revamp_completion_then() alone must cause the submission. */
        expect_calls(s, 30);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

static void work_in_callback(revamp_status status, void *context) {
    callback_record *s = context;
    uint32_t sent[16] = {1, 2, 3}, got[16] = {0};
    int32_t count = 16;
    revamp_array array = NULL;
    revamp_completion marker = NULL;
    bool succeeded =
        status == REVAMP_OK && revamp_array_create(s->view, 1, &count, 4, NULL, &array) == REVAMP_OK &&
        revamp_copy_to_array(sent, 64, array) == REVAMP_OK && revamp_copy_from_array(array, got, 64) == REVAMP_OK &&
        !memcmp(got, sent, 64) && revamp_array_destroy(array) == REVAMP_OK &&
        revamp_accelerator_view_create_marker(s->view, &marker) == REVAMP_OK &&
        revamp_completion_then(marker, record_call, s) == REVAMP_OK && revamp_completion_release(marker) == REVAMP_OK;
    record_call(succeeded ? REVAMP_OK : REVAMP_ERROR_INTERNAL, s);
}

static void wait_in_callback(revamp_status status, void *context) {
    callback_record *s = context;
    enum { ELEMENTS = 1 << 18 };
    uint32_t *bytes = memory(ELEMENTS * 4);
    int32_t count = ELEMENTS;
    revamp_array array = NULL;
    revamp_completion done = NULL;
    bool succeeded = status == REVAMP_OK && revamp_array_create(s->view, 1, &count, 4, NULL, &array) == REVAMP_OK &&
                     revamp_copy_to_array_async(bytes, ELEMENTS * 4, array, NULL, &done) == REVAMP_OK &&
                     revamp_completion_get(done) == REVAMP_OK && revamp_completion_release(done) == REVAMP_OK &&
                     revamp_accelerator_view_wait(s->view) == REVAMP_OK && revamp_array_destroy(array) == REVAMP_OK;
    record_call(succeeded ? REVAMP_OK : REVAMP_ERROR_INTERNAL, s);
}

TEST(callbacks_may_wait_for_work_they_begin) {
    FOR_EACH_PLACE(p, holds_arrays) {
        callback_record *s = new_callback_record();
        s->view = p->view;
        revamp_completion marker = marker_of(p->view);
        for (int i = 0; i < 20; i++)
            CHECK_OK(revamp_completion_then(marker, wait_in_callback, s));
        expect_calls(s, 20);
        expect_done(marker);
    }
}

TEST(callbacks_may_call_the_library_and_chain) {
    FOR_EACH_PLACE(p, holds_arrays) {
        callback_record *s = new_callback_record();
        s->view = p->view;
        revamp_completion marker = marker_of(p->view);
        for (int i = 0; i < 10; i++)
            CHECK_OK(revamp_completion_then(marker, work_in_callback, s));
        expect_calls(s, 20);
        expect_done(marker);
    }
}

/* Callbacks that cannot run yet must not occupy resources that other work needs. */
TEST(many_waiting_callbacks_do_not_hold_up_copies) {
    enum { WAITING = 400 };
    gate *g = new_gate();
    callback_record *s = new_callback_record();
    uint32_t *sent = numbers(1 << 18, 1);
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view()), done = NULL;
    for (int i = 0; i < WAITING; i++)
        CHECK_OK(revamp_completion_then(marker, record_call, s));
    revamp_array array = array_1d(cpu_view(), 1 << 18, 4);
    REQUIRE_OK(revamp_copy_to_array_async(sent, 1 << 20, array, NULL, &done));
    /* The limit is generous: the copy only has to end before the gate opens. */
    CHECK_STATUS(revamp_completion_wait_for(done, UINT64_C(5000000000)), REVAMP_OK);
    open_gate(g);
    expect_calls(s, WAITING);
    expect_done(done);
    expect_done(marker);
    CHECK_OK(revamp_array_destroy(array));
}

/* Adds a callback to each of `count` completions, lets all of them complete at once, and waits for the callbacks. */
static void run_callbacks_at_once(unsigned count, revamp_completion_callback callback, callback_record *s) {
    gate *g = new_gate();
    block_view(host_view(), g);
    for (unsigned i = 0; i < count; i++) {
        revamp_completion marker = marker_of(host_view());
        REQUIRE_OK(revamp_completion_then(marker, callback, s));
        CHECK_OK(revamp_completion_release(marker));
    }
    open_gate(g);
    expect_calls(s, count);
}

/* Waits until `count` callbacks have reached this function. */
static void meet(callback_record *s, unsigned count) {
    pthread_mutex_lock(&s->lock);
    s->arrived++;
    pthread_cond_broadcast(&s->changed);
    while (s->arrived < count)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void copy_in_callback(revamp_status status, void *context) {
    callback_record *s = context;
    uint32_t sent[64] = {1}, got[64] = {0};
    int32_t count = 64;
    revamp_array array = NULL;
    revamp_completion done = NULL;
    meet(s, 250);
    bool succeeded = status == REVAMP_OK && revamp_array_create(s->view, 1, &count, 4, NULL, &array) == REVAMP_OK &&
                     revamp_copy_to_array_async(sent, sizeof sent, array, NULL, &done) == REVAMP_OK &&
                     revamp_completion_get(done) == REVAMP_OK && revamp_completion_release(done) == REVAMP_OK &&
                     revamp_copy_from_array(array, got, sizeof got) == REVAMP_OK && !memcmp(got, sent, sizeof got) &&
                     revamp_array_destroy(array) == REVAMP_OK;
    record_call(succeeded ? REVAMP_OK : REVAMP_ERROR_INTERNAL, s);
}

TEST(many_callbacks_that_wait_for_copies_all_end) {
    static const unsigned counts[] = {300, 1000};
    for (size_t i = 0; i < COUNT(counts); i++) {
        callback_record *s = new_callback_record();
        s->view = cpu_view();
        run_callbacks_at_once(counts[i], copy_in_callback, s);
    }
}

static void meet_in_callback(revamp_status status, void *context) {
    meet(context, 300);
    record_call(status, context);
}

/* Each of the 300 callbacks needs its own thread at the same time. The library normally uses fewer threads. */
TEST(callbacks_of_different_completions_may_wait_for_each_other) {
    run_callbacks_at_once(300, meet_in_callback, new_callback_record());
}

/* Each copy waits for the previous one. A waiting copy must not occupy resources that another copy needs. */
TEST(many_dependent_copies_all_complete) {
    enum { COPIES = 2000, NUMBERS = 64 };
    gate *g = new_gate();
    revamp_array array = array_1d(host_view(), NUMBERS, 4);
    uint32_t *sent = numbers((COPIES + 1) * NUMBERS, 1);
    revamp_completion done[COPIES];
    block_view(host_view(), g);
    for (int i = 0; i < COPIES; i++)
        REQUIRE_OK(revamp_copy_to_array_async(sent + i * NUMBERS, NUMBERS * 4, array, NULL, &done[i]));
    open_gate(g);
    for (int i = COPIES; i-- > 0;)
        expect_done(done[i]);
    CHECK_SAME(read_array(array), sent + (COPIES - 1) * NUMBERS, NUMBERS * 4);
    CHECK_OK(revamp_array_destroy(array));
}

typedef struct {
    revamp_array from, to;
} pair;

static void *copy_repeatedly(void *context) {
    pair *p = context;
    revamp_region from = whole(p->from), to = whole(p->to);
    for (int i = 0; i < 20000; i++) {
        revamp_completion done = NULL;
        CHECK_OK(revamp_copy_async(&from, &to, NULL, &done));
        CHECK_OK(revamp_completion_release(done));
        if (i % 64 == 0) CHECK_OK(revamp_accelerator_view_wait(cpu_view()));
    }
    return NULL;
}

/* Two threads copy between the same two arrays in opposite directions, so they claim the arrays in opposite order. */
TEST(copies_in_opposite_directions_do_not_deadlock) {
    pthread_t threads[2];
    revamp_array a = array_1d(cpu_view(), 16, 4), b = array_1d(host_view(), 16, 4);
    pair directions[2] = {{a, b}, {b, a}};
    for (int i = 0; i < 2; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, copy_repeatedly, &directions[i]));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_OK(revamp_accelerator_view_wait(cpu_view()));
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    CHECK_OK(revamp_array_destroy(a));
    CHECK_OK(revamp_array_destroy(b));
}

static void count_up(const revamp_thread_id *id, void *context) {
    (void)id;
    __atomic_fetch_add((unsigned *)context, 1, __ATOMIC_SEQ_CST);
}

/* If the system creates only some threads, all work is still done, and each callback either runs or is refused. */
CHILD(works_without_some_threads) {
    enum { ROUNDS = 6, NUMBERS = 1 << 12 };
    const int32_t extent = 8;
    unsigned kernel_runs = 0, expected_calls = 0;
    callback_record *s = new_callback_record();
    revamp_array array = array_1d(cpu_view(), NUMBERS, 4);
    uint32_t *sent = numbers(ROUNDS * NUMBERS, 1);
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = count_up;
    info.context = &kernel_runs;
    for (int i = 0; i < ROUNDS; i++) {
        revamp_completion marker = NULL, copied = NULL;
        REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
        REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
        REQUIRE_OK(revamp_copy_to_array_async(sent + i * NUMBERS, NUMBERS * 4, array, NULL, &copied));
        revamp_completion completions[] = {marker, copied};
        for (int k = 0; k < 2; k++) {
            revamp_status status = revamp_completion_then(completions[k], record_call, s);
            if (status == REVAMP_OK)
                expected_calls++;
            else
                CHECK_FAILS(status, AS_RUNTIME, "thread");
        }
        CHECK_STATUS(revamp_completion_wait_for(marker, UINT64_C(60000000000)), REVAMP_OK);
        expect_done(marker);
        expect_done(copied);
    }
    expect_calls(s, expected_calls);
    CHECK_NUMBER(__atomic_load_n(&kernel_runs, __ATOMIC_SEQ_CST), extent * ROUNDS);
    CHECK_SAME(read_array(array), sent + (ROUNDS - 1) * NUMBERS, NUMBERS * 4);
    CHECK_OK(revamp_uninitialize());
}

TEST(all_work_is_done_if_threads_cannot_be_created) {
    static const char *const kinds[] = {"fail-thread", "fail-threads"};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (int n = 1; n <= 9; n++) {
            char variable[64];
            snprintf(variable, sizeof variable, "REVAMP_TEST=no-vulkan,%s=%d", kinds[k], n);
            CHECK_CHILD("works_without_some_threads", variable, NULL);
        }
}

TEST(a_successful_operation_has_no_error_message) {
    gate *g = new_gate();
    char text[8] = "xxxxxxx";
    size_t length = 9;
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view());
    CHECK_OK(revamp_completion_error_message(marker, text, sizeof text, &length));
    CHECK(!text[0] && !length);
    open_gate(g);
    CHECK_OK(revamp_completion_wait(marker));
    CHECK_OK(revamp_completion_error_message(marker, NULL, 0, &length));
    CHECK_NUMBER(length, 0);
    CHECK_OK(revamp_completion_error_message(marker, text, sizeof text, NULL));
    expect_done(marker);
}

/* Checks the error text of a failed operation, in full and truncated. */
static void check_failure_message(revamp_completion failed) {
    char full[1024] = "", truncated[6] = "xxxxx";
    size_t length = 0;
    CHECK_OK(revamp_completion_wait(failed));
    CHECK_OK(revamp_completion_error_message(failed, full, sizeof full, &length));
    CHECK(length > 0 && length == strlen(full));
    CHECK_OK(revamp_completion_error_message(failed, truncated, sizeof truncated, &length));
    CHECK_NUMBER(length, strlen(full));
    CHECK(!strncmp(truncated, full, 5) && !truncated[5]);
    CHECK_TEXT(full, "lost");
}

static void record_removed(revamp_status status, void *context) {
    record_call(status == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED ? REVAMP_OK : REVAMP_ERROR_INTERNAL, context);
}

CHILD(copies_on_a_device_that_is_lost) {
    const place *p = first_place_or_skip(runs_spirv);
    /* A copy between two arrays uses the queue on every device. */
    revamp_array first = array_1d(p->view, 1 << 20, 4), second = array_1d(p->view, 1 << 20, 4);
    revamp_region from = whole(first), to = whole(second);
    callback_record *s = new_callback_record();
    bool has_failed = false;
    for (int i = 0; i < 20 && !has_failed; i++) {
        revamp_completion done = NULL;
        revamp_status status = revamp_copy_async(&from, &to, NULL, &done);
        if (status < 0) {
            CHECK_FAILS(status, AS_REMOVED, "lost");
            return;
        }
        if (revamp_completion_get(done) != REVAMP_OK) {
            has_failed = true;
            CHECK_FAILS(revamp_completion_get(done), AS_REMOVED, "lost");
            CHECK_NUMBER((uint32_t)revamp_last_error_hresult() >> 4, 0x887A000);
            check_failure_message(done);
            CHECK_OK(revamp_completion_then(done, record_removed, s));
            expect_calls(s, 1);
        }
        CHECK_OK(revamp_completion_release(done));
    }
    CHECK(has_failed);
}

TEST(an_asynchronous_failure_has_status_and_message) {
    first_place_or_skip(runs_spirv);
    CHECK_CHILD("copies_on_a_device_that_is_lost", "REVAMP_TEST=lose-device=2", NULL);
}
