/* Tests of array_views: copies, operations that outlive their views, refused launches, and views of many dimensions. */
#include "views.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * 4, PLANE_Y = 20, PLANE_X = 50 };

static const int32_t plane[] = {PLANE_Y, PLANE_X};

/* Copies. */

/* Copies the elements of a block of the plane `from` to `to`, without gaps. scatter() does the opposite. */
static void gather(const uint32_t *from, const int32_t *origin, const int32_t *extent, uint32_t *to) {
    for (int32_t y = 0; y < extent[0]; y++)
        for (int32_t x = 0; x < extent[1]; x++)
            *to++ = from[(origin[0] + y) * PLANE_X + origin[1] + x];
}

static void scatter(const uint32_t *from, const int32_t *origin, const int32_t *extent, uint32_t *to) {
    for (int32_t y = 0; y < extent[0]; y++)
        for (int32_t x = 0; x < extent[1]; x++)
            to[(origin[0] + y) * PLANE_X + origin[1] + x] = *from++;
}

TEST(copies_between_blocks_of_views_arrays_and_the_host) {
    FOR_EACH_RUNNER(p) {
        static const int32_t from_at[] = {3, 5}, to_at[] = {8, 20}, extent[] = {7, 11};
        uint32_t *packed = memory(7 * 11 * 4);
        for (int dirty = 0; dirty < 4; dirty++) {
            uint32_t *a = numbers(N, 1), *b = numbers(N, 2), *c = numbers(N, 3);
            uint32_t *data_a = numbers(N, 1), *data_b = numbers(N, 2);
            revamp_array array = array_of(p->view, 2, plane, 4);
            write_array(array, c);
            revamp_array_view view_a = view_of_host(data_a, 2, plane, 4), view_b = view_of_host(data_b, 2, plane, 4);
            revamp_array_view from = part_of(view_a, from_at, extent), to = part_of(view_b, to_at, extent);
            revamp_region r_from = region_of(from), r_to = region_of(to), r_array = section(array, to_at, extent);
            if (dirty & 1) step_on(p, view_a);
            if (dirty & 2) step_on(p, view_b);
            step_naive(a, N, dirty & 1 ? 1 : 0);
            step_naive(b, N, dirty & 2 ? 1 : 0);
            /* Copies view to view, view to array, array to view, and one part of a view to another part. */
            CHECK_OK(revamp_copy(&r_from, &r_to));
            gather(a, from_at, extent, packed);
            scatter(packed, to_at, extent, b);
            CHECK_SAME(read_on(p, view_b), b, BYTES);
            CHECK_OK(revamp_copy(&r_from, &r_array));
            scatter(packed, to_at, extent, c);
            CHECK_SAME(read_array(array), c, BYTES);
            r_array.origin = from_at;
            CHECK_OK(revamp_copy(&r_array, &r_to));
            gather(c, from_at, extent, packed);
            scatter(packed, to_at, extent, b);
            CHECK_SAME(read_on_host(view_b), b, BYTES);
            revamp_array_view other_part = part_of(view_a, to_at, extent);
            r_to.view = other_part;
            CHECK_OK(revamp_copy(&r_from, &r_to));
            gather(a, from_at, extent, packed);
            scatter(packed, to_at, extent, a);
            CHECK_SAME(read_on(p, view_a), a, BYTES);
            CHECK_SAME(read_on_host(view_a), a, BYTES);
            const revamp_array_view all[] = {from, to, other_part, view_a, view_b};
            drop_all(all, COUNT(all));
            CHECK_SAME(data_a, a, BYTES);
            CHECK_SAME(data_b, b, BYTES);
            CHECK_OK(revamp_array_destroy(array));
        }
    }
}

TEST(copies_of_overlapping_views_are_errors) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), a = range_of(view, 0, 100), b = range_of(view, 99, 100);
        revamp_array_view adjacent = range_of(view, 100, 100), shorter = range_of(view, 300, 99);
        revamp_region from = region_of(a), to = region_of(b);
        revamp_completion done = NULL;
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "overlap");
        CHECK_FAILS(revamp_copy_async(&from, &to, NULL, &done), AS_BAD, "overlap");
        CHECK_FAILS(revamp_copy(&from, &from), AS_BAD, "overlap");
        to.view = shorter;
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "");
        CHECK(!done);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        to.view = adjacent;
        CHECK_OK(revamp_copy(&from, &to));
        memcpy(expected + 100, expected, 400);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        const revamp_array_view all[] = {a, b, adjacent, shorter, view};
        drop_all(all, COUNT(all));
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(copies_from_a_view_to_arrays_on_every_accelerator) {
    FOR_EACH_RUNNER(p)
    FOR_EACH_PLACE(target, holds_arrays) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array array = array_1d(target->view, N, 4);
        revamp_array_view view = view_of(data, N);
        revamp_region from = region_of(view), to = whole(array);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_SAME(read_array(array), expected, BYTES);
        step_on_host(view);
        step_naive(expected, N, 1);
        revamp_completion done = NULL;
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        expect_done(done);
        CHECK_SAME(read_array(array), expected, BYTES);
        step_naive(expected, N, 1);
        write_array(array, expected);
        CHECK_OK(revamp_copy(&to, &from));
        CHECK_SAME(read_on(p, view), expected, BYTES);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* A direct read or write of an array sees the changes that views of the array made at other locations. */
TEST(arrays_are_used_while_they_have_views) {
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array);
        const capture itself = {NULL, array, REVAMP_ACCESS_READ_WRITE}, none = {NULL, NULL, 0};
        step_on_host(view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_array(array), expected, BYTES);
        step_on_host(view);
        REQUIRE_OK(try_use(p, OPERATION_STEP, itself, none, 0));
        step_naive(expected, N, 2);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        step_naive(expected, N, 1);
        write_array(array, expected);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Operations that are still running when the view is released. */

TEST(a_copy_under_way_outlives_the_view) {
    enum { LARGE = 1 << 20 };
    static const int32_t extent = LARGE;
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(LARGE, 1), *expected = numbers(LARGE, 1), *got = memory((size_t)LARGE * 4);
        for (int i = 0; i < 3; i++) {
            revamp_completion done = NULL;
            revamp_array_view view = view_of(data, LARGE);
            revamp_region a = region_of(view), b = host_region(got, 1, &extent, 4);
            step_on(p, view);
            step_naive(expected, LARGE, 1);
            REQUIRE_OK(revamp_copy_async(&a, &b, NULL, &done));
            drop(view);
            CHECK_SAME(data, expected, (size_t)LARGE * 4);
            expect_done(done);
            CHECK_SAME(got, expected, (size_t)LARGE * 4);
            /* A copy into the view. The release of the view waits for copies into its memory. */
            step_naive(got, LARGE, 1);
            step_naive(expected, LARGE, 1);
            view = a.view = view_of(data, LARGE);
            REQUIRE_OK(revamp_copy_async(&b, &a, NULL, &done));
            drop(view);
            CHECK_SAME(data, expected, (size_t)LARGE * 4);
            expect_done(done);
        }
    }
}

/* The state word of a view says whether the host may read and write the elements without a call. An asynchronous copy
 * clears bits of the state word when it is requested, even if it copies the array under the view. */
TEST(a_copy_of_the_array_revokes_host_access) {
    FOR_EACH_PLACE(p, holds_arrays) {
        const int32_t large = 1 << 20;
        uint32_t *sent = numbers((size_t)large, 1), *got = memory((size_t)large * 4);
        const uint32_t *state = NULL;
        revamp_completion done = NULL;
        revamp_array array = array_with(p->view, sent, large);
        revamp_array_view view = view_of_array(array);
        REQUIRE_OK(revamp_array_view_get_host_access(view, &state));
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        CHECK_NUMBER(*state, REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE);
        /* The host may still read elements that the copy reads, but may not write them. */
        REQUIRE_OK(revamp_copy_from_array_async(array, got, (size_t)large * 4, NULL, &done));
        CHECK(!(__atomic_load_n(state, __ATOMIC_ACQUIRE) & REVAMP_HOST_MAY_WRITE));
        expect_done(done);
        CHECK_SAME(got, sent, (size_t)large * 4);
        host_access(view, REVAMP_ACCESS_READ);
        sent = numbers((size_t)large, 2);
        REQUIRE_OK(revamp_copy_to_array_async(sent, (size_t)large * 4, array, NULL, &done));
        CHECK_NUMBER(__atomic_load_n(state, __ATOMIC_ACQUIRE), 0);
        expect_done(done);
        CHECK_SAME(host_access(view, REVAMP_ACCESS_READ), sent, (size_t)large * 4);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(synchronize_under_way_outlives_the_view) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        for (int i = 0; i < 10; i++) {
            revamp_completion done_at_home = NULL, done_on_accelerator = NULL;
            revamp_array_view view = view_of(data, N);
            step_on(p, view);
            step_naive(expected, N, 1);
            REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done_at_home));
            REQUIRE_OK(
                revamp_array_view_synchronize_to_async(view, p->view, REVAMP_ACCESS_READ, NULL, &done_on_accelerator));
            drop(view);
            CHECK_SAME(data, expected, BYTES);
            expect_done(done_at_home);
            expect_done(done_on_accelerator);
        }
    }
}

typedef struct {
    revamp_array_view view;
    gate *done;
} last_owner;

static void release_in_callback(revamp_status status, void *context) {
    last_owner *owner = context;
    CHECK_STATUS(status, REVAMP_OK);
    drop(owner->view);
    open_gate(owner->done);
}

TEST(the_last_view_is_released_by_a_callback) {
    static const int32_t extent = N;
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *got = memory(BYTES);
        revamp_completion done = NULL;
        revamp_array_view view = view_of(data, N);
        revamp_region from = region_of(view), to = host_region(got, 1, &extent, 4);
        last_owner owner = {view, new_gate()};
        step_on(p, view);
        step_naive(expected, N, 1);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        CHECK_OK(revamp_completion_then(done, release_in_callback, &owner));
        expect_done(done);
        CHECK_SAME(got, expected, BYTES);
        pass_gate(owner.done);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(many_operations_under_way_keep_their_order) {
    enum { ROUNDS = 30 };
    static const int32_t half = N / 2;
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *got = memory((size_t)ROUNDS * BYTES / 2);
        revamp_array_view view = view_of(data, N), low = range_of(view, 0, half), high = range_of(view, half, half);
        revamp_completion done[ROUNDS];
        /* Copies read one half and kernels write the other, so there is no race. */
        for (int i = 0; i < ROUNDS; i++) {
            revamp_region from = region_of(low), to = host_region(got + i * half, 1, &half, 4);
            REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[i]));
            step_on(p, high);
        }
        for (int i = 0; i < ROUNDS; i++) {
            expect_done(done[i]);
            CHECK_SAME(got + i * half, expected, BYTES / 2);
        }
        step_naive(expected + half, (size_t)half, ROUNDS);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(low);
        drop(high);
        drop(view);
    }
}

/* Refused launches leave all data unchanged. */

TEST(refused_launches_move_nothing_and_lose_nothing) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const int32_t extent = N, zero = 0;
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_kernel saxpy = load(p->accelerator, &saxpy_module), step = load(p->accelerator, &step_module);
        revamp_array_view view = view_of(data, N), misaligned = range_of(view, 1, 100);
        revamp_argument argument = revamp_argument_view(0, view),
                        misaligned_argument = revamp_argument_view(0, misaligned);
        step_on_host(view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        /* The domain is empty, a binding has no argument, or an argument names a binding that does not exist. */
        CHECK_FAILS(launch(p->view, step, 1, &zero, &argument, 1), AS_DOMAIN, "");
        CHECK_FAILS(launch(p->view, saxpy, 1, &extent, &argument, 1), AS_BAD, "");
        argument.binding = 9;
        CHECK_FAILS(launch(p->view, step, 1, &extent, &argument, 1), AS_BAD, "9");
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        /* The kernel was loaded on another accelerator than the one of the launch. */
        argument.binding = 0;
        CHECK_FAILS(launch(host_view(), step, 1, &extent, &argument, 1), AS_BAD | AS_UNSUPPORTED, "");
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        /* A view that is bound as a buffer must start at an aligned offset. A view passed by address need not. */
        if (p->info.min_storage_buffer_alignment > 4)
            CHECK_FAILS(launch(p->view, step, 1, &extent, &misaligned_argument, 1), AS_ARGUMENT, "multiple");
        step_on(p, misaligned);
        step_naive(expected + 1, 100, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(misaligned);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
        CHECK_OK(revamp_kernel_release(step));
        CHECK_OK(revamp_kernel_release(saxpy));
    }
}

static void must_not_run(const revamp_thread_id *id, void *context) {
    (void)id;
    (void)context;
    check_fail(__FILE__, __LINE__, "a refused launch ran");
}

TEST(refused_host_launches_move_nothing_and_lose_nothing) {
    const place *p = first_place_or_skip(runs_host_kernels), host = host_place();
    static const int32_t extent = 100, zero = 0, tile = 33;
    uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), small[2] = {0, 0};
    revamp_array_view view = view_of(data, N);
    revamp_argument argument = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    revamp_parallel_for_each_info info = {0};
    meter m = meter_of(view);
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = must_not_run;
    info.arguments = &argument;
    info.argument_count = 1;
    /* The launch has no argument block for the address, or the block is too small. */
    CHECK_FAILS(revamp_parallel_for_each(p->view, &info), AS_BAD, "block");
    info.block = small;
    info.block_size = 4;
    CHECK_FAILS(revamp_parallel_for_each(p->view, &info), AS_BAD, "block");
    info.block_size = sizeof small;
    argument.offset = 4;
    CHECK_FAILS(revamp_parallel_for_each(p->view, &info), AS_BAD, "");
    argument.offset = 0;
    info.extent = &zero;
    CHECK_FAILS(revamp_parallel_for_each(p->view, &info), AS_DOMAIN, "");
    info.extent = &extent;
    info.tile = &tile;
    CHECK_FAILS(revamp_parallel_for_each(p->view, &info), AS_DOMAIN, "33");
    info.tile = NULL;
    CHECK_FAILS(revamp_parallel_for_each(cpu_view(), &info), AS_RUNTIME, "not supported");
    wait_at(p);
    CHECK_NOTHING_MOVED(&m);
    CHECK_NUMBER(valid_at(view, &host), BYTES);
    CHECK_SAME(read_on_host(view), expected, BYTES);
    drop(view);
}

/* Other shapes. */

TEST(views_of_many_dimensions) {
    enum { RANK = 10 };
    FOR_EACH_PLACE(p, runs_spirv) {
        int32_t extent[RANK], origin[RANK] = {0}, part_extent[RANK], index[RANK];
        uint32_t *data = numbers(1024, 1), *expected = numbers(1024, 1);
        for (int d = 0; d < RANK; d++) {
            extent[d] = 2;
            part_extent[d] = d % 3 ? 2 : 1;
            origin[d] = d % 3 ? 0 : 1;
        }
        const int32_t all = 1024;
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array_view view = view_of_host(data, RANK, extent, 4), part = part_of(view, origin, part_extent);
        revamp_array_view_info info = array_view_info(part);
        revamp_argument argument = revamp_argument_view(0, view);
        meter m = meter_of(view);
        CHECK_OK(launch(p->view, step, 1, &all, &argument, 1));
        step_naive(expected, 1024, 1);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 4096), 0);
        /* Only the elements of the part are transferred to the host. */
        const uint32_t *got = host_access(part, REVAMP_ACCESS_READ);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, info.element_count * 4));
        CHECK_NUMBER(info.element_count, product(RANK, part_extent));
        for (uint64_t i = 0; i < info.element_count; i++) {
            uint64_t at = 0, index_in_view = 0;
            unfold(i, RANK, part_extent, index);
            for (int d = 0; d < RANK; d++) {
                at += (uint64_t)index[d] * info.strides[d] / 4;
                index_in_view = index_in_view * 2 + (uint64_t)(origin[d] + index[d]);
            }
            CHECK_NUMBER(got[at], expected[index_in_view]);
        }
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, 4096);
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(views_of_large_elements) {
    typedef struct {
        uint32_t words[25];
    } wide;
    FOR_EACH_RUNNER(p) {
        static const int32_t count = 40;
        wide *data = (wide *)numbers(N, 1);
        uint32_t *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 1, &count, sizeof(wide)), part = range_of(view, 7, 10);
        meter m = meter_of(view);
        step_on(p, part);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 1000), 0);
        step_naive(expected + 175, 250, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(part);
        drop(view);
    }
}

/* Two threads use the same two data sources in opposite order, which must not cause a deadlock. */

typedef struct {
    const place *p;
    revamp_array_view first, second;
} two_sources;

static void *use_two_sources(void *context) {
    const two_sources *t = context;
    const capture a = {t->first, NULL, 0}, b = {t->second, NULL, 0};
    for (int i = 0; i < 100; i++)
        CHECK_OK(try_use(t->p, OPERATION_READ, a, b, 0));
    return NULL;
}

TEST(sources_in_opposite_orders_cause_no_deadlock) {
    FOR_EACH_RUNNER(p) {
        revamp_array_view a = view_of(numbers(N, 1), N), b = view_of(numbers(N, 1), N);
        two_sources both[] = {{p, a, b}, {p, b, a}};
        pthread_t threads[2];
        /* Both sources have the same values, so the order of the two arguments does not affect the results. */
        step_on(p, a);
        step_on(p, b);
        for (int i = 0; i < 2; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, use_two_sources, &both[i]));
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        CHECK_SAME(read_on_host(a), read_on_host(b), BYTES);
        drop(a);
        drop(b);
    }
}

/* An allocation fails in a call. The test repeats the call and checks that no data are lost. */

static bool must_retry(revamp_status status, int *failures) {
    if (status == REVAMP_OK) return false;
    CHECK_FAILS(status, AS_MEMORY, "alloc");
    ++*failures;
    REQUIRE(*failures == 1);
    return true;
}
#define UNTIL_DONE(call)                                                                                               \
    while (must_retry(call, &failures)) {                                                                              \
    }

CHILD(views_run_out_of_memory) {
    enum { LARGE = 1 << 16 };
    const capture none = {NULL, NULL, 0};
    int failures = 0;
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = LARGE;
        uint32_t *data = numbers(LARGE, 1), *expected = numbers(LARGE, 1);
        revamp_array_view view = NULL, without_source = NULL;
        UNTIL_DONE(revamp_array_view_create_host(data, 1, &extent, 4, NULL, &view));
        UNTIL_DONE(revamp_array_view_create(1, &extent, 4, NULL, &without_source));
        revamp_array_view low = range_of(view, 100, N), high = range_of(view, LARGE - N, N);
        const capture of_low = {low, NULL, 0}, of_high = {high, NULL, 0}, all = {view, NULL, 0},
                      of_view_without_source = {without_source, NULL, 0};
        UNTIL_DONE(try_use(p, OPERATION_STEP, of_low, none, 0));
        UNTIL_DONE(try_use(p, OPERATION_STEP, of_high, none, 0));
        UNTIL_DONE(try_use(p, OPERATION_STEP, all, none, 0));
        UNTIL_DONE(try_use(p, OPERATION_FILL, of_view_without_source, none, 3));
        void *address = NULL;
        UNTIL_DONE(revamp_array_view_data(without_source, REVAMP_ACCESS_READ_WRITE, &address));
        CHECK_NUMBER(((uint32_t *)address)[7], 10);
        UNTIL_DONE(try_use(p, OPERATION_READ, of_view_without_source, all, 0));
        UNTIL_DONE(revamp_array_view_synchronize(low, REVAMP_ACCESS_READ));
        UNTIL_DONE(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        fill_naive(expected, LARGE, 3);
        CHECK_SAME(data, expected, (size_t)LARGE * 4);
        const revamp_array_view views[] = {low, high, without_source, view};
        drop_all(views, COUNT(views));
    }
    /* revamp_uninitialize() must succeed, even if the failing allocation happens in this call. */
    CHECK_OK(revamp_uninitialize());
}

TEST(failed_allocations_lose_no_data) {
    for (int n = 1; n <= 16; n++) {
        char setting[64] = "REVAMP_TEST=fail-alloc=";
        const bool has_vulkan = places_that(runs_spirv)->view != NULL;
        char *end = setting + strlen(setting);
        if (n >= 10) *end++ = (char)('0' + n / 10);
        *end++ = (char)('0' + n % 10);
        if (!has_vulkan) strcpy(end, ",no-vulkan");
        child_result r = run_child("views_run_out_of_memory", setting, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) check_fail(__FILE__, __LINE__, "with %s", setting);
    }
}
