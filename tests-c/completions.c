/* completion_future in C (digest 2.9, 6.1). Host kernels that wait at a gate decide when an operation is done. */
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static revamp_completion marker_of(revamp_accelerator_view view) {
    revamp_completion marker = NULL;
    REQUIRE_OK(revamp_accelerator_view_create_marker(view, &marker));
    return marker;
}

TEST(wait_for_tells_done_from_not_done) {
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

TEST(get_may_be_called_again) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(100, 1);
        revamp_array array = array_1d(p->view, 100, 4);
        revamp_completion done = NULL;
        REQUIRE_OK(revamp_copy_to_array_async(sent, 400, array, &done));
        CHECK_OK(revamp_completion_get(done));
        CHECK_OK(revamp_completion_wait(done));
        CHECK_OK(revamp_completion_get(done));
        CHECK_OK(revamp_completion_retain(done));
        CHECK_OK(revamp_completion_release(done));
        expect_done(done);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* What callbacks saw. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned calls, failures;
    bool was_on_caller;
    pthread_t caller;
    revamp_accelerator_view view;
} seen;

static seen *new_seen(void) {
    seen *s = memory(sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->caller = pthread_self();
    return s;
}

static void note(revamp_status status, void *context) {
    seen *s = context;
    pthread_mutex_lock(&s->lock);
    s->calls++;
    s->failures += status != REVAMP_OK;
    if (pthread_equal(s->caller, pthread_self())) s->was_on_caller = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Waits until as many callbacks came; the time limit of the test ends it if they never do. */
static void expect_calls(seen *s, unsigned calls) {
    pthread_mutex_lock(&s->lock);
    while (s->calls < calls)
        pthread_cond_wait(&s->changed, &s->lock);
    CHECK_NUMBER(s->calls, calls);
    CHECK_NUMBER(s->failures, 0);
    CHECK(!s->was_on_caller);
    pthread_mutex_unlock(&s->lock);
}

TEST(callbacks_come_once_each) {
    enum { BEFORE = 100, AFTER = 50 };
    gate *g = new_gate();
    seen *s = new_seen();
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view());
    for (int i = 0; i < BEFORE; i++)
        CHECK_OK(revamp_completion_then(marker, note, s));
    pthread_mutex_lock(&s->lock);
    CHECK_NUMBER(s->calls, 0);
    pthread_mutex_unlock(&s->lock);
    open_gate(g);
    CHECK_OK(revamp_completion_wait(marker));
    for (int i = 0; i < AFTER; i++)
        CHECK_OK(revamp_completion_then(marker, note, s));
    expect_calls(s, BEFORE + AFTER);
    expect_done(marker);
}

TEST(callbacks_come_after_the_handle_was_released) {
    gate *g = new_gate();
    seen *s = new_seen();
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view());
    CHECK_OK(revamp_completion_then(marker, note, s));
    CHECK_OK(revamp_completion_release(marker));
    open_gate(g);
    expect_calls(s, 1);
}

TEST(callbacks_come_for_copies_on_every_accelerator) {
    enum { COPIES = 20 };
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(1000, 1);
        seen *s = new_seen();
        revamp_array array = array_1d(p->view, 1000, 4);
        for (int i = 0; i < COPIES; i++) {
            revamp_completion done = NULL;
            REQUIRE_OK(revamp_copy_to_array_async(sent, 4000, array, &done));
            CHECK_OK(revamp_completion_then(done, note, s));
            CHECK_OK(revamp_completion_release(done));
        }
        expect_calls(s, COPIES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(callbacks_come_for_markers_behind_kernels) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, numbers(1000, 1), 1000);
        seen *s = new_seen();
        for (int i = 0; i < 30; i++) {
            CHECK_OK(launch_step(p->view, step, array));
            revamp_completion marker = marker_of(p->view);
            CHECK_OK(revamp_completion_then(marker, note, s));
            CHECK_OK(revamp_completion_release(marker));
        }
        /* Nobody waits or flushes: the callback itself asks for the work. */
        expect_calls(s, 30);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

static void work_in_callback(revamp_status status, void *context) {
    seen *s = context;
    uint32_t sent[16] = {1, 2, 3}, got[16] = {0};
    int32_t count = 16;
    revamp_array array = NULL;
    revamp_completion marker = NULL;
    bool good = status == REVAMP_OK && revamp_array_create(s->view, 1, &count, 4, NULL, &array) == REVAMP_OK &&
                revamp_copy_to_array(sent, 64, array) == REVAMP_OK &&
                revamp_copy_from_array(array, got, 64) == REVAMP_OK && !memcmp(got, sent, 64) &&
                revamp_array_destroy(array) == REVAMP_OK &&
                revamp_accelerator_view_create_marker(s->view, &marker) == REVAMP_OK &&
                revamp_completion_then(marker, note, s) == REVAMP_OK && revamp_completion_release(marker) == REVAMP_OK;
    note(good ? REVAMP_OK : REVAMP_ERROR_INTERNAL, s);
}

static void wait_in_callback(revamp_status status, void *context) {
    seen *s = context;
    enum { WAITED = 1 << 18 };
    uint32_t *bytes = memory(WAITED * 4);
    int32_t count = WAITED;
    revamp_array array = NULL;
    revamp_completion done = NULL;
    bool good = status == REVAMP_OK && revamp_array_create(s->view, 1, &count, 4, NULL, &array) == REVAMP_OK &&
                revamp_copy_to_array_async(bytes, WAITED * 4, array, &done) == REVAMP_OK &&
                revamp_completion_get(done) == REVAMP_OK && revamp_completion_release(done) == REVAMP_OK &&
                revamp_accelerator_view_wait(s->view) == REVAMP_OK && revamp_array_destroy(array) == REVAMP_OK;
    note(good ? REVAMP_OK : REVAMP_ERROR_INTERNAL, s);
}

TEST(callbacks_may_wait_for_work_they_begin) {
    FOR_EACH_PLACE(p, holds_arrays) {
        seen *s = new_seen();
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
        seen *s = new_seen();
        s->view = p->view;
        revamp_completion marker = marker_of(p->view);
        for (int i = 0; i < 10; i++)
            CHECK_OK(revamp_completion_then(marker, work_in_callback, s));
        expect_calls(s, 20);
        expect_done(marker);
    }
}

/* Callbacks that cannot come yet must not take from other work what it needs. */
TEST(many_waiting_callbacks_do_not_hold_up_copies) {
    enum { WAITING = 400 };
    gate *g = new_gate();
    seen *s = new_seen();
    uint32_t *sent = numbers(1 << 18, 1);
    block_view(host_view(), g);
    revamp_completion marker = marker_of(host_view()), done = NULL;
    for (int i = 0; i < WAITING; i++)
        CHECK_OK(revamp_completion_then(marker, note, s));
    revamp_array array = array_1d(cpu_view(), 1 << 18, 4);
    REQUIRE_OK(revamp_copy_to_array_async(sent, 1 << 20, array, &done));
    /* Generous; it only has to end before the gate opens. */
    CHECK_STATUS(revamp_completion_wait_for(done, UINT64_C(5000000000)), REVAMP_OK);
    open_gate(g);
    expect_calls(s, WAITING);
    expect_done(done);
    expect_done(marker);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(an_operation_without_failure_has_no_text) {
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

/* The text of a failed operation, in full and cut. */
static void check_failure_text(revamp_completion failed) {
    char full[1024] = "", cut[6] = "xxxxx";
    size_t length = 0;
    CHECK_OK(revamp_completion_wait(failed));
    CHECK_OK(revamp_completion_error_message(failed, full, sizeof full, &length));
    CHECK(length > 0 && length == strlen(full));
    CHECK_OK(revamp_completion_error_message(failed, cut, sizeof cut, &length));
    CHECK_NUMBER(length, strlen(full));
    CHECK(!strncmp(cut, full, 5) && !cut[5]);
    CHECK_TEXT(full, "lost");
}

static void note_removed(revamp_status status, void *context) {
    note(status == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED ? REVAMP_OK : REVAMP_ERROR_INTERNAL, context);
}

CHILD(copies_on_a_device_that_is_lost) {
    const place *p = some_place(runs_spirv);
    /* Between two arrays: that takes the device's queue everywhere. */
    revamp_array first = array_1d(p->view, 1 << 20, 4), second = array_1d(p->view, 1 << 20, 4);
    revamp_region from = whole(first), to = whole(second);
    seen *s = new_seen();
    bool has_failed = false;
    for (int i = 0; i < 20 && !has_failed; i++) {
        revamp_completion done = NULL;
        revamp_status status = revamp_copy_async(&from, &to, &done);
        if (status < 0) {
            CHECK_FAILS(status, AS_REMOVED, "lost");
            return;
        }
        if (revamp_completion_get(done) != REVAMP_OK) {
            has_failed = true;
            CHECK_FAILS(revamp_completion_get(done), AS_REMOVED, "lost");
            CHECK_NUMBER((uint32_t)revamp_last_error_hresult() >> 4, 0x887A000);
            check_failure_text(done);
            CHECK_OK(revamp_completion_then(done, note_removed, s));
            expect_calls(s, 1);
        }
        CHECK_OK(revamp_completion_release(done));
    }
    CHECK(has_failed);
}

TEST(an_asynchronous_failure_has_status_and_text) {
    some_place(runs_spirv);
    CHECK_CHILD("copies_on_a_device_that_is_lost", "REVAMP_TEST=lose-device=2", NULL);
}
