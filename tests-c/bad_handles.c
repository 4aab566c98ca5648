/* Calls every function that takes a handle with every kind of bad handle: null, freed, foreign, of another type. Each
 * call must report the bad handle, and the process must continue. Calls with array_views: array_view/views_misuse.c. */
#include "handles.h"

#include <pthread.h>

TEST(null_handles) {
    check_null_handles(&other_functions);
}

TEST(foreign_handles) {
    check_foreign_handles(&other_functions);
}

TEST(handles_of_another_type) {
    check_handles_of_another_type(&other_functions);
}

TEST(freed_handles_and_double_release) {
    check_freed_handles(&other_functions);
}

TEST(neighbours_of_good_handles) {
    check_altered_handles(&other_functions);
}

TEST(old_handles_after_uninitialize) {
    make_good();
    void *old[TYPES];
    for (int type = 0; type < TYPES; type++)
        old[type] = handle_of_type((handle_type)type);
    /* While a revamp_user exists, revamp_uninitialize() does nothing. */
    CHECK_OK(revamp_uninitialize());
    CHECK_OK(revamp_array_view_discard_data(good.over));
    CHECK_OK(revamp_user_destroy(good.user));
    CHECK_OK(revamp_uninitialize());
    /* The calls also pass other handles from `good`. revamp_uninitialize() has freed these, too. */
    FOR_EACH_CASE(c, &other_functions)
    if (old[c->type]) CHECK_FAILS(c->call(old[c->type]), AS_HANDLE, "freed");
    /* The next call initialises the library again. The old handles stay invalid. */
    make_good();
    FOR_EACH_CASE(c, &other_functions)
    if (old[c->type]) check_bad(c, old[c->type], "freed");
    free_good();
    full_job();
    CHECK_OK(revamp_uninitialize());
    CHECK_OK(revamp_uninitialize());
}

/* Many threads use good and bad handles at once. */

enum { THREADS = 8, ROUNDS = 60 };

static void *mix_handles(void *context) {
    uint32_t state = 77 + (uint32_t)(uintptr_t)context;
    int local = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const handle_case *c = &other_functions.cases[random_number(&state) % other_functions.count];
        uint64_t number = (uint64_t)random_number(&state) << 32 | random_number(&state);
        if (is_possible(c)) {
            check_bad(c, (void *)(uintptr_t)number, "");
            check_bad(c, &local, "handle");
        }
        uint32_t sent[64], got[64];
        fill_bytes(sent, sizeof sent, number & 0xFFFF);
        revamp_array array = array_1d(good.view, 64, 4);
        CHECK_OK(revamp_copy_to_array(sent, sizeof sent, array));
        CHECK_OK(revamp_copy_from_array(array, got, sizeof got));
        CHECK_SAME(got, sent, sizeof got);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_FAILS(revamp_array_destroy(array), AS_HANDLE, "freed");
    }
    return NULL;
}

TEST(good_and_bad_handles_from_8_threads) {
    pthread_t threads[THREADS];
    make_good();
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, mix_handles, (void *)i));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free_good();
    full_job();
}

static void *release_once(void *context) {
    revamp_status *status = context;
    *status = revamp_completion_release(good.completion);
    return NULL;
}

/* If many threads release the same owner at once, exactly one release succeeds. */
TEST(one_owner_is_released_once) {
    for (int round = 0; round < 20; round++) {
        pthread_t threads[THREADS];
        revamp_status statuses[THREADS];
        int succeeded = 0;
        REQUIRE_OK(revamp_accelerator_view_create_marker(cpu_view(), &good.completion));
        for (size_t i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, release_once, &statuses[i]));
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            succeeded += statuses[i] == REVAMP_OK;
            CHECK(statuses[i] == REVAMP_OK || statuses[i] == REVAMP_ERROR_INVALID_HANDLE);
        }
        CHECK_NUMBER(succeeded, 1);
    }
}
