/* completion_future in C (docs/spec/copies.md#completion_future). Host kernels that wait at a gate decide when an
 * operation is done. */
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

/* What callbacks saw. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned calls, failures, here;
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
            REQUIRE_OK(revamp_copy_to_array_async(sent, 4000, array, NULL, &done));
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
                revamp_copy_to_array_async(bytes, WAITED * 4, array, NULL, &done) == REVAMP_OK &&
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
    REQUIRE_OK(revamp_copy_to_array_async(sent, 1 << 20, array, NULL, &done));
    /* Generous; it only has to end before the gate opens. */
    CHECK_STATUS(revamp_completion_wait_for(done, UINT64_C(5000000000)), REVAMP_OK);
    open_gate(g);
    expect_calls(s, WAITING);
    expect_done(done);
    expect_done(marker);
    CHECK_OK(revamp_array_destroy(array));
}

/* Callbacks of as many completions, which all end at once. */
static void call_back_at_once(unsigned count, revamp_completion_callback callback, seen *s) {
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

/* Waits until `count` callbacks have come so far. */
static void meet(seen *s, unsigned count) {
    pthread_mutex_lock(&s->lock);
    s->here++;
    pthread_cond_broadcast(&s->changed);
    while (s->here < count)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void copy_in_callback(revamp_status status, void *context) {
    seen *s = context;
    uint32_t sent[64] = {1}, got[64] = {0};
    int32_t count = 64;
    revamp_array array = NULL;
    revamp_completion done = NULL;
    meet(s, 250);
    bool good = status == REVAMP_OK && revamp_array_create(s->view, 1, &count, 4, NULL, &array) == REVAMP_OK &&
                revamp_copy_to_array_async(sent, sizeof sent, array, NULL, &done) == REVAMP_OK &&
                revamp_completion_get(done) == REVAMP_OK && revamp_completion_release(done) == REVAMP_OK &&
                revamp_copy_from_array(array, got, sizeof got) == REVAMP_OK && !memcmp(got, sent, sizeof got) &&
                revamp_array_destroy(array) == REVAMP_OK;
    note(good ? REVAMP_OK : REVAMP_ERROR_INTERNAL, s);
}

TEST(many_callbacks_that_wait_for_copies_all_end) {
    static const unsigned counts[] = {300, 1000};
    for (size_t i = 0; i < COUNT(counts); i++) {
        seen *s = new_seen();
        s->view = cpu_view();
        call_back_at_once(counts[i], copy_in_callback, s);
    }
}

static void meet_in_callback(revamp_status status, void *context) {
    meet(context, 300);
    note(status, context);
}

/* More of them than the library has threads as long as none waits for another. */
TEST(callbacks_of_different_completions_may_wait_for_each_other) {
    call_back_at_once(300, meet_in_callback, new_seen());
}

/* Each copy waits for the one before: none may keep from another what it needs. */
TEST(many_copies_behind_each_other_all_end) {
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

static void *copy_again_and_again(void *context) {
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

/* Both claim the same two arrays, in the opposite order. */
TEST(copies_in_both_directions_do_not_wait_for_each_other) {
    pthread_t threads[2];
    revamp_array a = array_1d(cpu_view(), 16, 4), b = array_1d(host_view(), 16, 4);
    pair ways[2] = {{a, b}, {b, a}};
    for (int i = 0; i < 2; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, copy_again_and_again, &ways[i]));
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

/* Whatever threads the system gives: all work is done, and each callback comes or was refused. */
CHILD(works_without_some_threads) {
    enum { ROUNDS = 6, NUMBERS = 1 << 12 };
    const int32_t extent = 8;
    unsigned ran = 0, added = 0;
    seen *s = new_seen();
    revamp_array array = array_1d(cpu_view(), NUMBERS, 4);
    uint32_t *sent = numbers(ROUNDS * NUMBERS, 1);
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = count_up;
    info.context = &ran;
    for (int i = 0; i < ROUNDS; i++) {
        revamp_completion marker = NULL, copied = NULL;
        REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
        REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
        REQUIRE_OK(revamp_copy_to_array_async(sent + i * NUMBERS, NUMBERS * 4, array, NULL, &copied));
        revamp_completion both[] = {marker, copied};
        for (int k = 0; k < 2; k++) {
            revamp_status status = revamp_completion_then(both[k], note, s);
            if (status == REVAMP_OK)
                added++;
            else
                CHECK_FAILS(status, AS_RUNTIME, "thread");
        }
        CHECK_STATUS(revamp_completion_wait_for(marker, UINT64_C(60000000000)), REVAMP_OK);
        expect_done(marker);
        expect_done(copied);
    }
    expect_calls(s, added);
    CHECK_NUMBER(__atomic_load_n(&ran, __ATOMIC_SEQ_CST), extent * ROUNDS);
    CHECK_SAME(read_array(array), sent + (ROUNDS - 1) * NUMBERS, NUMBERS * 4);
    CHECK_OK(revamp_uninitialize());
}

TEST(threads_that_the_system_does_not_give_are_done_without) {
    static const char *const kinds[] = {"fail-thread", "fail-threads"};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (int n = 1; n <= 9; n++) {
            char variable[64];
            snprintf(variable, sizeof variable, "REVAMP_TEST=no-vulkan,%s=%d", kinds[k], n);
            CHECK_CHILD("works_without_some_threads", variable, NULL);
        }
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
        revamp_status status = revamp_copy_async(&from, &to, NULL, &done);
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
