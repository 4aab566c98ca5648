/* Tests of array_views in many threads at once (docs/spec/accelerators.md#threads). Each thread uses only its own
 * elements, or only reads (rule AV-23), so all programs are legal. The threads share only objects of the library, so
 * ThreadSanitizer reports a race only if the library lacks synchronization. */
#include "engines.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 10, N = 512, BYTES = N * 4 };

typedef struct {
    const engine *e;
    revamp_accelerator_view target; /* NULL: the library chooses */
    revamp_array_view view;         /* the view of this thread, or of all threads */
    uint32_t *expected;
    uint32_t seed;
    bool *is_done;
} worker;

static void run_threads(void *(*run)(void *), worker *workers) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, run, &workers[i]));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void step_view(const worker *w) {
    CHECK_OK(run_step(w->e, w->target, use_view(w->view)));
    step_naive(w->expected, N, 1);
}

/* Uses the worker's own view once. `choice` selects the kind of use. */
static void use_once(const worker *w, uint32_t choice) {
    const int32_t count = N;
    revamp_completion done = NULL;
    uint32_t own[N];
    revamp_region own_region = host_region(own, 1, &count, 4), region = region_of(w->view);
    switch (choice % 8) {
    case 0: {
        uint32_t *data = host_access(w->view, REVAMP_ACCESS_READ_WRITE);
        CHECK_SAME(data, w->expected, BYTES);
        data[choice % N] = w->expected[choice % N] = choice;
        break;
    }
    case 1:
        CHECK_OK(revamp_array_view_synchronize(w->view, REVAMP_ACCESS_READ));
        break;
    case 2:
        REQUIRE_OK(revamp_array_view_synchronize_async(w->view, REVAMP_ACCESS_READ, NULL, &done));
        expect_done(done);
        break;
    case 3:
        CHECK_OK(revamp_array_view_synchronize_to(w->view, w->e->p->view, REVAMP_ACCESS_READ));
        break;
    case 4:
        CHECK_OK(revamp_copy(&region, &own_region));
        CHECK_SAME(own, w->expected, BYTES);
        break;
    case 5:
        fill_bytes(own, BYTES, choice);
        REQUIRE_OK(revamp_copy_async(&own_region, &region, NULL, &done));
        expect_done(done);
        memcpy(w->expected, own, BYTES);
        break;
    case 6: {
        revamp_array_view part = range_of(w->view, 0, N / 2), constant = read_only(part);
        CHECK_OK(run_step(w->e, w->target, use_view(part)));
        step_naive(w->expected, N / 2, 1);
        CHECK_SAME(host_access(constant, REVAMP_ACCESS_READ), w->expected, BYTES / 2);
        drop(part);
        drop(constant);
        break;
    }
    default:
        step_view(w);
    }
}

static void *use_own_view(void *context) {
    worker *w = context;
    uint32_t state = w->seed + 1;
    for (int round = 0; round < ROUNDS; round++) {
        step_view(w);
        use_once(w, random_number(&state));
        if (round % 3 == 0) CHECK_SAME(host_access(w->view, REVAMP_ACCESS_READ), w->expected, BYTES);
    }
    CHECK_OK(revamp_array_view_synchronize(w->view, REVAMP_ACCESS_READ));
    return NULL;
}

/* The target accelerator_views: one for all threads, one for each thread, or none (the library chooses). */
typedef enum { ONE_TARGET, OWN_TARGETS, NO_TARGET } targets;

static revamp_accelerator_view target_for(const engine *e, targets target_choice) {
    if (target_choice == OWN_TARGETS) return second_view_of(e);
    return target_choice == ONE_TARGET ? e->p->view : NULL;
}

static void end_targets(worker *workers, targets target_choice) {
    for (size_t i = 0; target_choice == OWN_TARGETS && i < THREADS; i++)
        CHECK_OK(revamp_accelerator_view_release(workers[i].target));
}

/* Each thread uses its own section of `all`, a view of THREADS * N numbers with the contents `expected`. */
static void use_sections(const engine *e, revamp_array_view all, uint32_t *expected, targets target_choice) {
    worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        revamp_array_view part = range_of(all, (int32_t)i * N, N);
        worker w = {e, target_for(e, target_choice), part, expected + (size_t)i * N, i, NULL};
        workers[i] = w;
    }
    run_threads(use_own_view, workers);
    CHECK_SAME(host_access(all, REVAMP_ACCESS_READ), expected, (size_t)THREADS * BYTES);
    for (size_t i = 0; i < THREADS; i++)
        drop(workers[i].view);
    end_targets(workers, target_choice);
}

static void use_sections_of_host_memory(targets target_choice) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(THREADS * N, 1), *expected = numbers(THREADS * N, 1);
        revamp_array_view all = view_of(data, THREADS * N);
        use_sections(e, all, expected, target_choice);
        drop(all);
        CHECK_SAME(data, expected, (size_t)THREADS * BYTES);
    }
}

TEST(threads_on_sections_with_one_target) {
    use_sections_of_host_memory(ONE_TARGET);
}

TEST(threads_on_sections_with_own_targets) {
    use_sections_of_host_memory(OWN_TARGETS);
}

TEST(threads_on_sections_without_a_target) {
    use_sections_of_host_memory(NO_TARGET);
}

TEST(threads_on_sections_of_an_array) {
    FOR_EACH_ENGINE(e)
    for (targets target_choice = ONE_TARGET; target_choice <= NO_TARGET; target_choice++) {
        uint32_t *expected = numbers(THREADS * N, 1);
        revamp_array array = array_with(e->p->view, expected, THREADS * N);
        revamp_array_view all = view_of_array(array);
        use_sections(e, all, expected, target_choice);
        drop(all);
        CHECK_SAME(read_array(array), expected, (size_t)THREADS * BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(threads_on_sections_without_a_source) {
    FOR_EACH_ENGINE(e) {
        uint32_t *expected = numbers(THREADS * N, 1);
        revamp_array_view all = sourceless(THREADS * N);
        memcpy(host_access(all, REVAMP_ACCESS_WRITE), expected, (size_t)THREADS * BYTES);
        use_sections(e, all, expected, OWN_TARGETS);
        drop(all);
    }
}

/* Each thread creates, uses and releases its own data sources. */
static void *use_sources(void *context) {
    worker w = *(worker *)context;
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t data[N], expected[N];
        fill_bytes(data, BYTES, w.seed * 10 + round);
        memcpy(expected, data, BYTES);
        w.expected = expected;
        w.view = view_of(data, N);
        use_own_view(&w);
        step_view(&w);
        /* The release of the last view writes back. */
        drop(w.view);
        CHECK_SAME(data, expected, BYTES);
    }
    return NULL;
}

static void use_different_sources(targets target_choice) {
    FOR_EACH_ENGINE(e) {
        worker workers[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            worker w = {e, target_for(e, target_choice), NULL, NULL, i, NULL};
            workers[i] = w;
        }
        run_threads(use_sources, workers);
        end_targets(workers, target_choice);
    }
}

TEST(threads_on_different_sources) {
    use_different_sources(ONE_TARGET);
    use_different_sources(NO_TARGET);
}

TEST(threads_on_different_sources_with_own_targets) {
    use_different_sources(OWN_TARGETS);
}

/* Concurrent reads of one view are legal. */

static void *synchronize_shared(void *context) {
    const worker *w = context;
    enum { OPERATIONS = 5 };
    revamp_completion done[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++)
        REQUIRE_OK(revamp_array_view_synchronize_async(w->view, REVAMP_ACCESS_READ, NULL, &done[i]));
    for (int i = OPERATIONS; i-- > 0;)
        expect_done(done[i]);
    CHECK_SAME(host_access(w->view, REVAMP_ACCESS_READ), w->expected, BYTES);
    return NULL;
}

/* Runs threads that only read one view, which was written on the accelerator just before. */
static void share_one_view(void *(*run)(void *), targets target_choice) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        for (int round = 0; round < 5; round++) {
            worker workers[THREADS];
            revamp_array_view constant = read_only(view);
            CHECK_OK(run_step(e, e->p->view, use_view(view)));
            step_naive(expected, N, 1);
            for (uint32_t i = 0; i < THREADS; i++) {
                worker w = {e, target_for(e, target_choice), constant, expected, i, NULL};
                workers[i] = w;
            }
            run_threads(run, workers);
            end_targets(workers, target_choice);
            drop(constant);
        }
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(threads_that_synchronize_one_view) {
    share_one_view(synchronize_shared, NO_TARGET);
}

static void *read_shared(void *context) {
    const worker *w = context;
    uint32_t result[N], expected[N];
    revamp_array_view own = view_of(result, N), part = range_of(w->view, 0, N / 2);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(revamp_array_view_discard_data(own));
        CHECK_OK(run_sum(w->e, w->target, use_view(w->view), use_view(w->view), use_view(own)));
        CHECK_SAME(host_access(part, REVAMP_ACCESS_READ), w->expected, BYTES / 2);
        sum_naive(w->expected, w->expected, expected, N);
        CHECK_SAME(host_access(own, REVAMP_ACCESS_READ), expected, BYTES);
    }
    drop(part);
    drop(own);
    return NULL;
}

TEST(threads_that_read_one_view_in_kernels) {
    share_one_view(read_shared, ONE_TARGET);
    share_one_view(read_shared, OWN_TARGETS);
    share_one_view(read_shared, NO_TARGET);
}

static void *copy_shared(void *context) {
    const worker *w = context;
    const int32_t count = N;
    uint32_t host_data[N];
    revamp_array array = array_1d(w->e->p->view, N, 4);
    revamp_region from = region_of(w->view), to_host = host_region(host_data, 1, &count, 4), to_array = whole(array);
    revamp_completion done[2] = {NULL, NULL};
    REQUIRE_OK(revamp_copy_async(&from, &to_host, NULL, &done[0]));
    REQUIRE_OK(revamp_copy_async(&from, &to_array, NULL, &done[1]));
    expect_done(done[1]);
    expect_done(done[0]);
    CHECK_SAME(host_data, w->expected, BYTES);
    CHECK_OK(revamp_copy(&to_array, &to_host));
    CHECK_SAME(host_data, w->expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    return NULL;
}

TEST(threads_that_copy_from_one_view) {
    share_one_view(copy_shared, NO_TARGET);
}

/* Threads create, release and query views while other threads use the same data source. */

static bool is_set(bool *flag) {
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void *create_and_release(void *context) {
    worker *w = context;
    uint32_t state = w->seed + 1;
    do {
        int32_t at = (int32_t)(random_number(&state) % N);
        revamp_array_view part = range_of(w->view, at, N - at), constant = read_only(part);
        CHECK_OK(revamp_array_view_retain(part));
        drop(part);
        CHECK_NUMBER(array_view_info(constant).offset - array_view_info(w->view).offset, (uint64_t)at * 4);
        drop(constant);
        drop(part);
    } while (!is_set(w->is_done));
    return NULL;
}

static void *query_view(void *context) {
    worker *w = context;
    do {
        residency_at(w->view, w->e->p);
        const uint32_t *state = NULL;
        REQUIRE_OK(revamp_array_view_get_host_access(w->view, &state));
        CHECK((__atomic_load_n(state, __ATOMIC_ACQUIRE) & ~3U) == 0);
        revamp_transfer_counters view_counters = view_transfers(w->view), source = source_transfers(w->view);
        revamp_transfer_counters process_counters = all_transfers();
        /* The counters of the view were read first, and those of the process last. Counters only grow. */
        CHECK(bytes_moved(view_counters) <= bytes_moved(source) &&
              bytes_moved(source) <= bytes_moved(process_counters));
        revamp_transfer log[16] = {{0}};
        size_t count = 0;
        log[0].struct_size = sizeof log[0];
        REQUIRE_OK(revamp_transfer_log_read(1, log, COUNT(log), &count));
        for (size_t i = 1; i < count; i++)
            CHECK(log[i].number > log[i - 1].number);
    } while (!is_set(w->is_done));
    return NULL;
}

TEST(threads_create_and_query_views_while_one_works) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(2 * N, 1), *expected = numbers(2 * N, 1);
        bool is_done = false;
        revamp_array_view all = view_of(data, 2 * N), first = range_of(all, 0, N), second = range_of(all, N, N);
        pthread_t threads[THREADS];
        worker busy = {e, NULL, first, expected, 1, &is_done}, creating = {e, NULL, second, expected + N, 2, &is_done};
        worker querying = {e, NULL, all, NULL, 3, &is_done};
        for (size_t i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, i % 2 ? create_and_release : query_view,
                                    i % 2 ? &creating : &querying));
        for (int i = 0; i < 3; i++)
            use_own_view(&busy);
        __atomic_store_n(&is_done, true, __ATOMIC_RELAXED);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        drop(first);
        drop(second);
        CHECK_SAME(host_access(all, REVAMP_ACCESS_READ), expected, (size_t)2 * BYTES);
        drop(all);
    }
}

/* Several threads own references to one view. Only the last release writes back. */
static void *retain_and_release(void *context) {
    const worker *w = context;
    for (int i = 0; i < 50; i++) {
        CHECK_OK(revamp_array_view_retain(w->view));
        CHECK_NUMBER(array_view_info(w->view).element_count, N);
        drop(w->view);
    }
    drop(w->view);
    return NULL;
}

TEST(threads_that_own_one_view) {
    FOR_EACH_ENGINE(e)
    for (int round = 0; round < 5; round++) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        worker workers[THREADS];
        revamp_array_view view = view_of(data, N);
        CHECK_OK(run_step(e, NULL, use_view(view)));
        step_naive(expected, N, 1);
        for (uint32_t i = 0; i < THREADS; i++) {
            worker w = {e, NULL, view, NULL, i, NULL};
            if (i) CHECK_OK(revamp_array_view_retain(view));
            workers[i] = w;
        }
        run_threads(retain_and_release, workers);
        CHECK_SAME(data, expected, BYTES);
        revamp_array_view_info info = {0};
        info.struct_size = sizeof info;
        CHECK_FAILS(revamp_array_view_get_info(view, &info), AS_HANDLE, "freed");
    }
}

/* If several threads create views of one array at once, the views share one data source. */
static void *view_array(void *context) {
    worker *w = context;
    revamp_array array = (revamp_array)(void *)w->view;
    w->view = view_of_array(array);
    w->seed = (uint32_t)array_view_info(w->view).source_id;
    return NULL;
}

TEST(threads_that_make_views_of_one_array) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_with(p->view, numbers(N, 1), N);
        worker workers[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            worker w = {NULL, NULL, (revamp_array_view)(void *)array, NULL, i, NULL};
            workers[i] = w;
        }
        run_threads(view_array, workers);
        for (size_t i = 0; i < THREADS; i++) {
            CHECK_NUMBER(workers[i].seed, workers[0].seed);
            drop(workers[i].view);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* A launch that is concurrent with the release of its view either runs before the release or is refused. After the
 * release, the launch must not access the memory of the view. */
typedef struct {
    const engine *e;
    revamp_array_view view;
    bool is_over;
    int refused, done;
} late_launches;

static void *launch_until_over(void *context) {
    late_launches *late = context;
    while (!__atomic_load_n(&late->is_over, __ATOMIC_ACQUIRE)) {
        revamp_array_view view = __atomic_load_n(&late->view, __ATOMIC_ACQUIRE);
        if (!view) continue;
        revamp_status status = run_fill(late->e, late->e->p->view, use_view(view), 0xdeadbeef);
        if (status != REVAMP_OK) CHECK_FAILS(status, AS_HANDLE, "");
        __atomic_fetch_add(status == REVAMP_OK ? &late->done : &late->refused, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

TEST(launches_concurrent_with_the_release_of_their_view) {
    enum { RELEASES = 3000, COUNT = 4096, LAUNCHERS = 3 };
    FOR_EACH_ENGINE(e) {
        late_launches late = {e, NULL, false, 0, 0};
        pthread_t threads[LAUNCHERS];
        for (int i = 0; i < LAUNCHERS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, launch_until_over, &late));
        for (int i = 0; i < RELEASES; i++) {
            /* From here on, only the view keeps the memory of the array alive. */
            revamp_array array = array_1d(cpu_view(), COUNT, 4);
            revamp_array_view view = view_of_array(array);
            CHECK_OK(revamp_array_destroy(array));
            __atomic_store_n(&late.view, view, __ATOMIC_RELEASE);
            /* Keeps the first view until a launch has used it. */
            while (i == 0 && !__atomic_load_n(&late.done, __ATOMIC_RELAXED)) {
            }
            for (volatile int wait = 0; wait < i % 50 * 200; wait++) {
            }
            /* The first view is used even after its release, until a launch has been refused. */
            if (i > 0) __atomic_store_n(&late.view, NULL, __ATOMIC_RELEASE);
            drop(view);
            while (i == 0 && !__atomic_load_n(&late.refused, __ATOMIC_RELAXED)) {
            }
            __atomic_store_n(&late.view, NULL, __ATOMIC_RELEASE);
            /* New memory of the same size probably gets the same address. */
            uint32_t *fresh = calloc(COUNT, 4);
            for (volatile int wait = 0; wait < 5000; wait++) {
            }
            for (int k = 0; fresh && k < COUNT; k++)
                if (((volatile uint32_t *)fresh)[k])
                    check_fail(__FILE__, __LINE__, "memory was written after the release");
            free(fresh);
        }
        __atomic_store_n(&late.is_over, true, __ATOMIC_RELEASE);
        for (int i = 0; i < LAUNCHERS; i++)
            pthread_join(threads[i], NULL);
    }
}
