/* Tests of bad input to every array_view function. Each call must fail with a status and a message that names the
 * cause, and must move no data. The last tests inject failures with REVAMP_TEST: out of memory, and a lost device. */
#include "engines.h"
#include "handles.h"
#include "logged_errors.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = GOOD_COUNT, BYTES = GOOD_BYTES };

/* Checks that the call fails with one of `statuses` and a message that contains `text`, and that a job then works. */
#define BAD(call, statuses, text)                                                                                      \
    do {                                                                                                               \
        CHECK_FAILS(call, statuses, text);                                                                             \
        small_job();                                                                                                   \
    } while (0)

/* Wrong handles. */

TEST(null_handles_of_views) {
    check_null_handles(&view_functions);
}

TEST(foreign_handles_of_views) {
    check_foreign_handles(&view_functions);
    check_altered_handles(&view_functions);
}

TEST(handles_of_another_type_for_views) {
    check_handles_of_another_type(&view_functions);
}

/* Passes an array_view where a handle of another type belongs. */
TEST(views_where_other_handles_belong) {
    make_good();
    FOR_EACH_CASE(c, &other_functions) {
        check_bad(c, good.over, "array_view");
        small_job();
    }
    free_good();
}

TEST(freed_handles_and_double_release_of_views) {
    check_freed_handles(&view_functions);
}

TEST(references_to_a_view_are_counted) {
    make_good();
    enum { OWNERS = 5 };
    for (int i = 0; i < OWNERS; i++)
        CHECK_OK(revamp_array_view_retain(good.over));
    for (int i = 0; i < OWNERS; i++) {
        CHECK_NUMBER(array_view_info(good.over).element_count, N);
        drop(good.over);
    }
    revamp_array_view over = good.over;
    free_good();
    BAD(revamp_array_view_release(over), AS_HANDLE, "freed");
    BAD(revamp_array_view_retain(over), AS_HANDLE, "freed");
}

TEST(old_views_after_uninitialize) {
    make_good();
    revamp_array_view derived = range_of(good.over, 4, 8);
    CHECK_OK(revamp_user_destroy(good.user));
    CHECK_OK(revamp_uninitialize());
    BAD(revamp_array_view_release(good.over), AS_HANDLE, "freed");
    BAD(revamp_array_view_release(derived), AS_HANDLE, "freed");
    revamp_array_view old_view = good.over;
    make_good();
    FOR_EACH_CASE(c, &view_functions)
    if (c->type == ARRAY_VIEW) check_bad(c, old_view, "freed");
    free_good();
    full_job();
}

static void *release_once(void *context) {
    revamp_status *status = context;
    *status = revamp_array_view_release(good.over);
    return NULL;
}

/* If many threads at once release a view with one reference, exactly one release succeeds. */
TEST(only_one_of_concurrent_releases_succeeds) {
    enum { THREADS = 8 };
    for (int round = 0; round < 20; round++) {
        pthread_t threads[THREADS];
        revamp_status statuses[THREADS];
        int succeeded = 0;
        good.over = view_of(good_data, N);
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

/* Creation of views. */

static revamp_status try_create_host_view(void *data, uint32_t rank, const int32_t *extent, size_t element_size,
                                          const revamp_array_view_options *options) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_create_host(data, rank, extent, element_size, options, &view);
    CHECK(status < 0 ? !view : view != NULL);
    return release_if_created(status, view);
}

static revamp_status try_create_sourceless_view(uint32_t rank, const int32_t *extent, size_t element_size,
                                                const revamp_array_view_options *options) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_create(rank, extent, element_size, options, &view);
    CHECK(status < 0 ? !view : view != NULL);
    return release_if_created(status, view);
}

TEST(shapes_of_new_views) {
    static const int32_t zero[] = {4, 0}, negative[] = {-3, 4}, smallest[] = {INT32_MIN}, valid_extent[] = {4, 4};
    static uint32_t data[1000];
    int32_t *many = memory(2000 * sizeof *many);
    for (int i = 0; i < 2000; i++)
        many[i] = 1;
    BAD(try_create_host_view(NULL, 2, valid_extent, 4, NULL), AS_BAD, "NULL");
    BAD(try_create_host_view(data, 2, NULL, 4, NULL), AS_BAD, "extent is NULL");
    BAD(try_create_sourceless_view(2, NULL, 4, NULL), AS_BAD, "extent is NULL");
    const struct {
        uint32_t rank;
        const int32_t *extent;
        const char *text;
    } shapes[] = {{2, zero, "0"},
                  {2, negative, "-3"},
                  {1, smallest, "-2147483648"},
                  {0, valid_extent, "rank is 0"},
                  {2000, many, "2000"},
                  {UINT32_MAX, many, "4294967295"}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        BAD(try_create_host_view(data, shapes[i].rank, shapes[i].extent, 4, NULL), AS_BAD, shapes[i].text);
        BAD(try_create_sourceless_view(shapes[i].rank, shapes[i].extent, 4, NULL), AS_BAD, shapes[i].text);
    }
    BAD(try_create_host_view(data, 2, valid_extent, 0, NULL), AS_BAD, "the element size is 0 bytes");
    BAD(try_create_sourceless_view(2, valid_extent, 0, NULL), AS_BAD, "the element size is 0 bytes");
    CHECK_OK(try_create_host_view(data, 1000, many, 4, NULL));
    CHECK_OK(try_create_host_view(data, 2, valid_extent, 20, NULL));
    full_job();
}

TEST(sizes_of_new_views_that_overflow) {
    static const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}, one[] = {1};
    static uint32_t data[4];
    BAD(try_create_host_view(data, 4, huge, 4, NULL), AS_BAD | AS_MEMORY, "");
    BAD(try_create_host_view(data, 3, huge, 64, NULL), AS_BAD | AS_MEMORY, "");
    BAD(try_create_host_view(data, 1, one, SIZE_MAX - 3, NULL), AS_BAD | AS_MEMORY, "");
    BAD(try_create_host_view(data, 1, one, (size_t)1 << 63, NULL), AS_BAD | AS_MEMORY, "");
    /* The memory would extend beyond the end of the address space. */
    BAD(try_create_host_view((void *)(UINTPTR_MAX - 15), 1, huge, 4, NULL), AS_BAD | AS_MEMORY, "");
    BAD(try_create_sourceless_view(4, huge, 4, NULL), AS_BAD | AS_MEMORY, "");
    BAD(try_create_sourceless_view(3, huge, 64, NULL), AS_BAD | AS_MEMORY, "");
    BAD(try_create_sourceless_view(1, one, SIZE_MAX - 3, NULL), AS_BAD | AS_MEMORY, "");
    full_job();
}

TEST(options_of_new_views) {
    static const char bad_utf8[] = {'a', (char)0xFF, (char)0xC0, 0};
    static const size_t sizes[] = {0, 7, sizeof(revamp_array_view_options) + 8, SIZE_MAX};
    static uint32_t data[4];
    const int32_t four = 4;
    revamp_array array = array_1d(cpu_view(), 4, 4);
    revamp_array_view view = NULL;
    revamp_array_view_options options = {0};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        options.struct_size = sizes[i];
        BAD(try_create_host_view(data, 1, &four, 4, &options), AS_ARGUMENT, "revamp_array_view_options.struct_size");
        BAD(try_create_sourceless_view(1, &four, 4, &options), AS_ARGUMENT, "revamp_array_view_options.struct_size");
        BAD(revamp_array_view_create_array(array, &options, &view), AS_ARGUMENT,
            "revamp_array_view_options.struct_size");
    }
    options.struct_size = sizeof options;
    options.label = bad_utf8;
    BAD(try_create_host_view(data, 1, &four, 4, &options), AS_ARGUMENT, "UTF-8");
    BAD(try_create_sourceless_view(1, &four, 4, &options), AS_ARGUMENT, "UTF-8");
    BAD(revamp_array_view_create_array(array, &options, &view), AS_ARGUMENT, "UTF-8");
    options.label = "four numbers";
    options.read_only = true;
    /* A read-only view without a data source could never get contents. */
    BAD(try_create_sourceless_view(1, &four, 4, &options), AS_BAD, "read");
    CHECK(!view);
    CHECK_OK(try_create_host_view(data, 1, &four, 4, &options));
    /* An older program passes a smaller struct. The missing fields count as zero. */
    options.struct_size = sizeof options.struct_size;
    CHECK_OK(try_create_sourceless_view(1, &four, 4, &options));
    CHECK_OK(revamp_array_destroy(array));
}

TEST(null_outputs_of_views) {
    const int32_t four = 4;
    const int32_t plane[] = {2, 2};
    make_good();
    const int32_t square[] = {16, 16};
    revamp_array_view square_view = reshaped(good.over, 2, square);
    BAD(revamp_array_view_create_host(good_data, 1, &four, 4, NULL, NULL), AS_ARGUMENT, "view is NULL");
    BAD(revamp_array_view_create_array(good.array, NULL, NULL), AS_ARGUMENT, "view is NULL");
    BAD(revamp_array_view_create(1, &four, 4, NULL, NULL), AS_ARGUMENT, "view is NULL");
    BAD(revamp_array_view_section(good.over, NULL, NULL, NULL), AS_ARGUMENT, "section is NULL");
    BAD(revamp_array_view_project(square_view, 0, NULL), AS_ARGUMENT, "projection is NULL");
    BAD(revamp_array_view_view_as(good.over, 2, plane, NULL), AS_ARGUMENT, "result is NULL");
    BAD(revamp_array_view_reinterpret_as(good.over, 8, NULL), AS_ARGUMENT, "result is NULL");
    BAD(revamp_array_view_as_read_only(good.over, NULL), AS_ARGUMENT, "result is NULL");
    BAD(revamp_array_view_get_info(good.over, NULL), AS_ARGUMENT, "revamp_array_view_info is NULL");
    BAD(revamp_array_view_data(good.over, REVAMP_ACCESS_READ, NULL), AS_ARGUMENT, "data is NULL");
    BAD(revamp_array_view_get_host_access(good.over, NULL), AS_ARGUMENT, "state is NULL");
    void *data = NULL;
    const uint32_t *states = NULL;
    BAD(revamp_array_view_slice_data(square_view, 1, 0, REVAMP_ACCESS_READ, NULL, &states), AS_ARGUMENT,
        "data is NULL");
    BAD(revamp_array_view_slice_data(square_view, 1, 0, REVAMP_ACCESS_READ, &data, NULL), AS_ARGUMENT,
        "states is NULL");
    BAD(revamp_array_view_slice_data(square_view, 1, 0, 0, &data, &states), AS_ARGUMENT, "access must be");
    BAD(revamp_array_view_slice_data(square_view, 0, 0, REVAMP_ACCESS_READ, &data, &states), AS_ARGUMENT,
        "0 indices cannot select");
    BAD(revamp_array_view_slice_data(square_view, 2, 0, REVAMP_ACCESS_READ, &data, &states), AS_ARGUMENT,
        "2 indices cannot select");
    BAD(revamp_array_view_slice_data(good.over, 1, 0, REVAMP_ACCESS_READ, &data, &states), AS_ARGUMENT, "rank 1");
    BAD(revamp_array_view_slice_data(square_view, 1, 16, REVAMP_ACCESS_READ, &data, &states), AS_RUNTIME, "16 slices");
    BAD(revamp_array_view_slice_data(square_view, 1, UINT64_MAX, REVAMP_ACCESS_READ, &data, &states), AS_RUNTIME,
        "out of range");
    BAD(revamp_array_view_synchronize_async(good.over, REVAMP_ACCESS_READ, NULL, NULL), AS_ARGUMENT,
        "completion is NULL");
    BAD(revamp_array_view_synchronize_to_async(good.over, good.view, REVAMP_ACCESS_READ, NULL, NULL), AS_ARGUMENT,
        "completion is NULL");
    BAD(revamp_array_view_get_residency(good.over, good.view, NULL), AS_ARGUMENT, "revamp_residency is NULL");
    BAD(revamp_array_view_get_transfers(good.over, NULL), AS_ARGUMENT, "revamp_transfer_counters is NULL");
    BAD(revamp_array_view_get_source_transfers(good.over, NULL), AS_ARGUMENT, "revamp_transfer_counters is NULL");
    BAD(revamp_accelerator_get_transfers(good.accelerator, NULL), AS_ARGUMENT, "revamp_transfer_counters is NULL");
    BAD(revamp_get_transfers(NULL), AS_ARGUMENT, "revamp_transfer_counters is NULL");
    revamp_transfer transfers[2] = {{0}};
    size_t count = 0;
    transfers[0].struct_size = sizeof transfers[0];
    BAD(revamp_transfer_log_read(1, transfers, 2, NULL), AS_ARGUMENT, "count is NULL");
    BAD(revamp_transfer_log_read(1, NULL, 2, &count), AS_ARGUMENT, "NULL");
    drop(square_view);
    free_good();
    full_job();
}

TEST(struct_sizes_of_views) {
    static const size_t sizes[] = {0, 4, 4096, SIZE_MAX};
    make_good();
    for (size_t i = 0; i < COUNT(sizes); i++) {
        revamp_array_view_info info = {0};
        revamp_residency residency = {0};
        revamp_transfer_counters c = {0};
        revamp_transfer transfer = {0};
        size_t count = 0;
        info.struct_size = residency.struct_size = c.struct_size = transfer.struct_size = sizes[i];
        BAD(revamp_array_view_get_info(good.over, &info), AS_ARGUMENT, "revamp_array_view_info.struct_size");
        BAD(revamp_array_view_get_residency(good.over, good.view, &residency), AS_ARGUMENT,
            "revamp_residency.struct_size");
        BAD(revamp_array_view_get_transfers(good.over, &c), AS_ARGUMENT, "revamp_transfer_counters.struct_size");
        BAD(revamp_array_view_get_source_transfers(good.over, &c), AS_ARGUMENT, "revamp_transfer_counters.struct_size");
        BAD(revamp_accelerator_get_transfers(good.accelerator, &c), AS_ARGUMENT,
            "revamp_transfer_counters.struct_size");
        BAD(revamp_get_transfers(&c), AS_ARGUMENT, "revamp_transfer_counters.struct_size");
        BAD(revamp_transfer_log_read(1, &transfer, 1, &count), AS_ARGUMENT, "revamp_transfer.struct_size");
    }
    revamp_array_view_info older;
    memset(&older, 0xAA, sizeof older);
    older.struct_size = offsetof(revamp_array_view_info, element_count);
    CHECK_OK(revamp_array_view_get_info(good.over, &older));
    CHECK_NUMBER(older.element_size, 4);
    CHECK(older.element_count == UINT64_C(0xAAAAAAAAAAAAAAAA));
    free_good();
}

/* Views derived from other views. */

static revamp_status try_section(revamp_array_view view, const int32_t *origin, const int32_t *extent) {
    revamp_array_view part = NULL;
    revamp_status status = revamp_array_view_section(view, origin, extent, &part);
    CHECK(status < 0 ? !part : part != NULL);
    return release_if_created(status, part);
}

static revamp_status try_projection(revamp_array_view view, int32_t index) {
    revamp_array_view row = NULL;
    revamp_status status = revamp_array_view_project(view, index, &row);
    CHECK(status < 0 ? !row : row != NULL);
    return release_if_created(status, row);
}

static revamp_status try_view_as(revamp_array_view view, uint32_t rank, const int32_t *extent) {
    revamp_array_view result = NULL;
    revamp_status status = revamp_array_view_view_as(view, rank, extent, &result);
    CHECK(status < 0 ? !result : result != NULL);
    return release_if_created(status, result);
}

static revamp_status try_reinterpret_as(revamp_array_view view, size_t element_size) {
    revamp_array_view result = NULL;
    revamp_status status = revamp_array_view_reinterpret_as(view, element_size, &result);
    CHECK(status < 0 ? !result : result != NULL);
    return release_if_created(status, result);
}

static const int32_t plane_extent[] = {6, 8};

TEST(sections_outside_their_view) {
    static const struct {
        int32_t origin[2], extent[2];
        const char *text;
    } bad[] = {
        {{-1, 0}, {2, 2}, "-1"},
        {{0, -7}, {2, 2}, "-7"},
        {{0, 0}, {7, 8}, "7"},
        {{0, 0}, {6, 9}, "9"},
        {{5, 0}, {2, 8}, "5"},
        {{6, 0}, {1, 1}, "6"},
        {{0, 8}, {1, 1}, "8"},
        {{0, 0}, {0, 8}, "0"},
        {{0, 0}, {6, 0}, "0"},
        {{0, 0}, {-2, 8}, "-2"},
        {{INT32_MAX, 0}, {1, 1}, "2147483647"},
        {{1, 1}, {INT32_MAX, 2}, "2147483647"},
        {{INT32_MAX, INT32_MAX}, {INT32_MAX, INT32_MAX}, "2147483647"},
        {{INT32_MIN, 0}, {1, 1}, "-2147483648"},
        {{1, 0}, {INT32_MIN, 1}, "-2147483648"},
    };
    static uint32_t data[48];
    static const int32_t origin[] = {2, 3}, extent[] = {3, 4}, outside[] = {4, 0}, too_far[] = {0, 4};
    revamp_array_view views[] = {view_of_host(data, 2, plane_extent, 4), view_without_source(2, plane_extent)};
    for (size_t v = 0; v < COUNT(views); v++) {
        for (size_t i = 0; i < COUNT(bad); i++)
            BAD(try_section(views[v], bad[i].origin, bad[i].extent), AS_RUNTIME, bad[i].text);
        /* Without an extent, the section is the rest of the view, which must not be empty. */
        for (size_t i = 5; i < 7; i++)
            BAD(try_section(views[v], bad[i].origin, NULL), AS_RUNTIME, bad[i].text);
        BAD(try_section(views[v], NULL, bad[2].extent), AS_RUNTIME, "7");
        CHECK_OK(try_section(views[v], NULL, NULL));
        /* A section of a section is limited by that section, not by the whole view. */
        revamp_array_view part = part_of(views[v], origin, extent);
        BAD(try_section(part, outside, NULL), AS_RUNTIME, "4");
        BAD(try_section(part, too_far, NULL), AS_RUNTIME, "4");
        BAD(try_section(part, NULL, plane_extent), AS_RUNTIME, "");
        drop(part);
        drop(views[v]);
    }
}

TEST(projections_out_of_range_are_errors) {
    static uint32_t data[48];
    revamp_array_view plane = view_of_host(data, 2, plane_extent, 4), line = view_of(data, 48);
    BAD(try_projection(plane, -1), AS_RUNTIME, "-1");
    BAD(try_projection(plane, 6), AS_RUNTIME, "6");
    BAD(try_projection(plane, INT32_MAX), AS_RUNTIME, "2147483647");
    BAD(try_projection(plane, INT32_MIN), AS_RUNTIME, "-2147483648");
    BAD(try_projection(line, 0), AS_BAD, "rank");
    CHECK_OK(try_projection(plane, 5));
    drop(plane);
    drop(line);
}

TEST(shapes_that_do_not_fit) {
    static const int32_t larger[] = {7, 7}, zero[] = {0, 4}, negative[] = {4, -2}, huge[] = {INT32_MAX, INT32_MAX};
    static const int32_t origin[] = {1, 2}, extent[] = {3, 4}, small[] = {2, 2}, all[] = {48};
    static uint32_t data[48];
    revamp_array_view line = view_of(data, 48), plane = view_of_host(data, 2, plane_extent, 4);
    revamp_array_view gaps = part_of(plane, origin, extent), range = range_of(line, 0, 47);
    BAD(try_view_as(line, 2, larger), AS_RUNTIME, "49");
    BAD(try_view_as(range, 1, all), AS_RUNTIME, "48");
    BAD(try_view_as(line, 2, zero), AS_RUNTIME, "0");
    BAD(try_view_as(line, 2, negative), AS_RUNTIME, "-2");
    BAD(try_view_as(line, 2, huge), AS_RUNTIME, "");
    BAD(try_view_as(line, 0, small), AS_BAD, "rank is 0");
    BAD(try_view_as(line, UINT32_MAX, small), AS_BAD, "4294967295");
    BAD(try_view_as(line, 2, NULL), AS_BAD, "extent is NULL");
    BAD(try_view_as(gaps, 2, small), AS_BAD, "");
    CHECK_OK(try_view_as(line, 2, plane_extent));
    CHECK_OK(try_view_as(line, 2, small));
    drop(range);
    drop(gaps);
    drop(plane);
    drop(line);
}

TEST(element_types_that_do_not_fit) {
    static const int32_t origin[] = {1, 2}, extent[] = {3, 4};
    static const size_t sizes[] = {0, 3, 6};
    static uint32_t data[48];
    revamp_array_view line = view_of(data, 47), plane = view_of_host(data, 2, plane_extent, 4);
    revamp_array_view gaps = part_of(plane, origin, extent);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char text[32];
        snprintf(text, sizeof text, "%zu", sizes[i]);
        BAD(try_reinterpret_as(line, sizes[i]), AS_BAD, text);
    }
    /* The view has 188 bytes. */
    BAD(try_reinterpret_as(line, 8), AS_RUNTIME, "188");
    BAD(try_reinterpret_as(line, 192), AS_RUNTIME, "188");
    BAD(try_reinterpret_as(line, SIZE_MAX - 3), AS_RUNTIME, "188");
    BAD(try_reinterpret_as(gaps, 8), AS_BAD, "");
    CHECK_OK(try_reinterpret_as(line, 188));
    CHECK_OK(try_reinterpret_as(line, 1));
    CHECK_OK(try_reinterpret_as(line, 2));
    drop(gaps);
    drop(plane);
    drop(line);
}

/* Access values. */

TEST(invalid_access_values_are_errors) {
    static const revamp_access bad[] = {4, 7, 8, UINT32_MAX};
    make_good();
    for (size_t i = 0; i < COUNT(bad); i++) {
        void *data = NULL;
        revamp_completion done = NULL;
        char text[32];
        snprintf(text, sizeof text, "%#x", (unsigned)bad[i]);
        BAD(revamp_array_view_data(good.over, bad[i], &data), AS_ARGUMENT, text);
        BAD(revamp_array_view_synchronize(good.over, bad[i]), AS_ARGUMENT, text);
        BAD(revamp_array_view_synchronize_async(good.over, bad[i], NULL, &done), AS_ARGUMENT, text);
        BAD(revamp_array_view_synchronize_to(good.over, good.view, bad[i]), AS_ARGUMENT, text);
        BAD(revamp_array_view_synchronize_to_async(good.over, good.view, bad[i], NULL, &done), AS_ARGUMENT, text);
        CHECK(!data && !done);
    }
    void *data = NULL;
    BAD(revamp_array_view_data(good.over, REVAMP_ACCESS_NONE, &data), AS_ARGUMENT, "access");
    BAD(revamp_array_view_data(good.over, REVAMP_ACCESS_AUTO, &data), AS_ARGUMENT, "access");
    BAD(revamp_array_view_synchronize(good.over, REVAMP_ACCESS_AUTO), AS_ARGUMENT, "access");
    BAD(revamp_array_view_synchronize_to(good.over, good.view, REVAMP_ACCESS_AUTO), AS_ARGUMENT, "access");
    free_good();
}

/* Checks that every attempt to write through a read-only view fails. */
static void check_read_only(const engine *e, revamp_array_view constant) {
    static const revamp_access writes[] = {REVAMP_ACCESS_WRITE, REVAMP_ACCESS_READ_WRITE};
    const int32_t count = N;
    for (size_t i = 0; i < COUNT(writes); i++) {
        void *data = NULL;
        revamp_completion done = NULL;
        BAD(revamp_array_view_data(constant, writes[i], &data), AS_BAD, "read");
        BAD(revamp_array_view_synchronize(constant, writes[i]), AS_BAD, "read");
        BAD(revamp_array_view_synchronize_async(constant, writes[i], NULL, &done), AS_BAD, "read");
        BAD(revamp_array_view_synchronize_to(constant, e->p->view, writes[i]), AS_BAD, "read");
        BAD(revamp_array_view_synchronize_to_async(constant, e->p->view, writes[i], NULL, &done), AS_BAD, "read");
        BAD(run_step(e, NULL, with_access(use_view(constant), writes[i])), AS_ARGUMENT, "read");
        BAD(run_step(e, e->p->view, with_access(use_view(constant), writes[i])), AS_ARGUMENT, "read");
        CHECK(!data && !done);
    }
    BAD(revamp_array_view_discard_data(constant), AS_BAD, "read");
    /* A SPIR-V kernel declares its writes itself. For a host kernel, only the access of the argument declares them. */
    if (e->step) {
        BAD(run_step(e, NULL, use_view(constant)), AS_ARGUMENT, "read");
        BAD(run_fill(e, NULL, use_view(constant), 1), AS_ARGUMENT, "read");
    }
    uint32_t *host_data = memory(BYTES);
    revamp_array array = array_1d(e->p->view, N, 4);
    revamp_completion done = NULL;
    revamp_region from = host_region(host_data, 1, &count, 4), to = region_of(constant), other = whole(array);
    BAD(revamp_copy(&from, &to), AS_BAD, "read");
    BAD(revamp_copy_async(&from, &to, NULL, &done), AS_BAD, "read");
    BAD(revamp_copy(&other, &to), AS_BAD, "read");
    CHECK(!done);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(writes_through_read_only_views) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array array = array_with(e->p->view, expected, N);
        revamp_array_view plain = view_of(data, N), over = view_of_array(array);
        revamp_array_view first = read_only(plain), second = read_only(over), third = const_view_of(data, N);
        /* Views derived from a read-only view are read-only. */
        revamp_array_view part = range_of(first, 0, N), read_only_twice = read_only(first);
        revamp_array_view constants[] = {first, second, third, part, read_only_twice};
        for (size_t i = 0; i < COUNT(constants); i++) {
            CHECK(array_view_info(constants[i]).read_only);
            check_read_only(e, constants[i]);
        }
        CHECK_SAME(host_access(first, REVAMP_ACCESS_READ), expected, BYTES);
        drop_all(constants, COUNT(constants));
        drop(plain);
        drop(over);
        CHECK_SAME(data, expected, BYTES);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Arguments of launches. */

TEST(contradictory_launch_arguments) {
    static const int32_t zero[] = {0}, some[] = {4};
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array array = array_with(e->p->view, expected, N);
        revamp_array_view view = view_of(data, N), over = view_of_array(array);
        revamp_argument both = use_view(view), none = use_view(NULL), origin = use_view(view), extent = use_view(view);
        both.array = array;
        origin.origin = zero;
        extent.extent = some;
        meter m = meter_of(NULL);
        CHECK_FAILS(run_step(e, NULL, both), AS_BAD, "view");
        /* Giving both an array and a view is an error even if they use the same memory. */
        both.view = over;
        CHECK_FAILS(run_step(e, NULL, both), AS_BAD, "view");
        CHECK_FAILS(run_step(e, NULL, none), AS_BAD | AS_HANDLE, "");
        CHECK_FAILS(run_step(e, NULL, origin), AS_BAD, "origin");
        CHECK_FAILS(run_step(e, NULL, extent), AS_BAD, "extent");
        CHECK_FAILS(run_step(e, e->p->view, extent), AS_BAD, "extent");
        /* The access must be a valid value, and must include the access that the kernel declares. */
        CHECK_FAILS(run_step(e, NULL, with_access(use_view(view), 8)), AS_ARGUMENT, "8");
        if (e->step)
            CHECK_FAILS(run_step(e, NULL, with_access(use_view(view), REVAMP_ACCESS_READ)), AS_ARGUMENT, "access");
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        CHECK_NUMBER(valid_on(view, cpu_view()), BYTES);
        CHECK_OK(run_step(e, NULL, use_view(view)));
        step_naive(expected, N, 1);
        CHECK_SAME(host_access(view, REVAMP_ACCESS_READ), expected, BYTES);
        drop(over);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
    full_job();
}

TEST(invalid_argument_blocks_of_host_kernels) {
    uint32_t *data = numbers(N, 1);
    uint64_t block[2] = {0, 0};
    const int32_t extent = 4;
    revamp_array_view view = view_of(data, N);
    revamp_argument argument = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = ignore_id;
    info.arguments = &argument;
    info.argument_count = 1;
    /* An address argument needs a block to which the address is written. */
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "block");
    info.block_size = sizeof block;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "block");
    info.block = block;
    info.block_size = 0;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "block");
    info.block_size = 7;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "block");
    info.block_size = sizeof block;
    argument.offset = 4;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "offset");
    argument.offset = 16;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "16");
    argument.offset = UINT32_MAX - 7;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_ARGUMENT, "4294967288");
    argument.offset = 8;
    CHECK_OK(revamp_parallel_for_each(host_view(), &info));
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    /* The library writes the address into a copy of the block. */
    CHECK(!block[0] && !block[1]);
    drop(view);
}

TEST(launches_on_unsuitable_accelerators_are_errors) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        engine other = other_engine(e);
        meter m = meter_of(NULL);
        /* The cpu accelerator runs no kernels. The other accelerator cannot run this kernel. */
        CHECK_FAILS(run_step(e, cpu_view(), use_view(view)), AS_BAD | AS_UNSUPPORTED, "");
        if (other.p && (e->step || other.step))
            CHECK_FAILS(run_step(e, other.p->view, use_view(view)), AS_BAD | AS_UNSUPPORTED, "");
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        CHECK_NUMBER(valid_on(view, cpu_view()), BYTES);
        /* An array_view with its data on another accelerator is not an error: the data are fetched. */
        if (other.p) {
            revamp_array array = array_with(other.p->view, expected, N);
            revamp_array_view over = view_of_array(array);
            CHECK_OK(run_step(e, e->p->view, use_view(over)));
            step_naive(expected, N, 1);
            CHECK_SAME(host_access(over, REVAMP_ACCESS_READ), expected, BYTES);
            drop(over);
            /* Passing the array itself is an error. */
            CHECK_FAILS(run_step(e, e->p->view, use_array(array)), AS_RUNTIME, "view");
            CHECK_OK(revamp_array_destroy(array));
        }
        end_engine(&other);
        drop(view);
    }
    full_job();
}

TEST(views_too_small_for_a_kernel) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static uint32_t data[5];
        revamp_kernel sizes = load(p->accelerator, &sizes_module);
        revamp_array_view view = view_of(data, 5);
        revamp_argument argument = use_view(view);
        /* The kernel needs the 24 bytes of its header, and one element of 8 bytes. */
        CHECK_FAILS(launch_groups(p->view, sizes, 1, 1, 1, &argument, 1), AS_ARGUMENT, "32");
        drop(view);
        CHECK_OK(revamp_kernel_release(sizes));
    }
    first_place_or_skip(runs_spirv);
    full_job();
}

/* Regions of copies. */

TEST(contradictory_regions) {
    static const int32_t zero[] = {0}, count = N;
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *data = numbers(N, 1), *host_data = memory(BYTES), *expected = numbers(N, 1);
        revamp_array array = array_1d(p->view, N, 4);
        revamp_array_view view = view_of(data, N);
        revamp_region good_region = host_region(host_data, 1, &count, 4), bad = region_of(view);
        meter m = meter_of(NULL);
        bad.array = array;
        CHECK_FAILS(revamp_copy(&bad, &good_region), AS_BAD, "view");
        CHECK_FAILS(revamp_copy(&good_region, &bad), AS_BAD, "view");
        /* A region over a view takes no origin, because a section of a view is a view itself. */
        bad = region_of(view);
        bad.origin = zero;
        CHECK_FAILS(revamp_copy(&bad, &good_region), AS_BAD, "origin");
        CHECK_FAILS(revamp_copy(&good_region, &bad), AS_BAD, "origin");
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        CHECK_SAME(data, expected, BYTES);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
    small_job();
}

TEST(copies_between_mismatched_shapes) {
    static const int32_t transposed_extent[] = {8, 6}, count = 48, fewer = 47;
    uint32_t *data = numbers(96, 1), *other = numbers(96, 2), *expected = numbers(96, 1);
    revamp_array_view plane = view_of_host(data, 2, plane_extent, 4), wide = view_of_host(other, 2, plane_extent, 8);
    revamp_array_view line = view_of(other, 48), transposed = view_of_host(other, 2, transposed_extent, 4);
    revamp_region to = region_of(plane), from = region_of(line);
    meter m = meter_of(NULL);
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "");
    from = region_of(transposed);
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "extent");
    from = region_of(wide);
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "element");
    from = host_region(other, 1, &fewer, 4);
    to = region_of(line);
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "47");
    from = host_region(other, 1, &count, 8);
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "element");
    CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
    CHECK_SAME(data, expected, 96 * 4);
    drop(plane);
    drop(wide);
    drop(line);
    drop(transposed);
    small_job();
}

/* Views overlap only if they share elements. Neighbouring blocks of columns do not overlap. */
TEST(copies_between_overlapping_views) {
    static const int32_t left_origin[] = {0, 0}, right_origin[] = {0, 4}, middle_origin[] = {0, 3}, half[] = {6, 4};
    uint32_t *data = numbers(48, 1), *expected = numbers(48, 1);
    revamp_array_view plane = view_of_host(data, 2, plane_extent, 4);
    revamp_array_view left = part_of(plane, left_origin, half), right = part_of(plane, right_origin, half);
    revamp_array_view middle = part_of(plane, middle_origin, half), constant = read_only(left);
    revamp_region from = region_of(left), to = region_of(middle);
    revamp_completion done = NULL;
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "overlap");
    CHECK_FAILS(revamp_copy_async(&from, &to, NULL, &done), AS_BAD, "overlap");
    CHECK_FAILS(revamp_copy(&from, &from), AS_BAD, "overlap");
    from = region_of(constant);
    CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "overlap");
    CHECK(!done);
    CHECK_SAME(data, expected, 192);
    to = region_of(right);
    CHECK_OK(revamp_copy(&from, &to));
    for (int y = 0; y < 6; y++)
        memcpy(expected + y * 8 + 4, expected + y * 8, 16);
    CHECK_SAME(host_access(plane, REVAMP_ACCESS_READ), expected, 192);
    drop(constant);
    drop(left);
    drop(right);
    drop(middle);
    drop(plane);
    small_job();
}

TEST(an_array_and_a_view_of_it_overlap_too) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_with(p->view, numbers(N, 1), N);
        revamp_array_view view = view_of_array(array);
        revamp_region a = whole(array), b = region_of(view);
        CHECK_FAILS(revamp_copy(&a, &b), AS_BAD, "overlap");
        CHECK_FAILS(revamp_copy(&b, &a), AS_BAD, "overlap");
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
    small_job();
}

/* Views without a data source. */
TEST(views_without_data_have_no_source_view) {
    revamp_array_view view = sourceless(N);
    revamp_array_view_info info = array_view_info(view);
    CHECK(!info.source_view);
    CHECK(!info.read_only);
    uint32_t *data = host_access(view, REVAMP_ACCESS_READ_WRITE);
    fill_bytes(data, BYTES, 5);
    CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
    CHECK_OK(revamp_array_view_refresh(view));
    CHECK_OK(revamp_array_view_discard_data(view));
    CHECK(!array_view_info(view).source_view);
    drop(view);
}

/* The transfer log. */
TEST(reading_the_transfer_log_from_unusual_numbers) {
    revamp_transfer transfers[4] = {{0}};
    size_t count = 99;
    transfers[0].struct_size = sizeof transfers[0];
    CHECK_OK(revamp_transfer_log_read(UINT64_MAX, transfers, COUNT(transfers), &count));
    CHECK_NUMBER(count, 0);
    count = 99;
    CHECK_OK(revamp_transfer_log_read(1, NULL, 0, &count));
    CHECK_NUMBER(count, 0);
    small_job();
    /* Numbers begin at 1, so reading from 0 returns the same transfers as reading from 1. */
    CHECK_OK(revamp_transfer_log_read(0, transfers, COUNT(transfers), &count));
    CHECK_NUMBER(count, 2);
    CHECK_NUMBER(transfers[0].number, 1);
    CHECK_NUMBER(transfers[1].number, 2);
}

/* Out of memory. */

/* Makes the call. If the call fails for lack of memory, repeats it once. The second call must succeed. */
#define RETRY_ONCE(failed, call)                                                                                       \
    do {                                                                                                               \
        revamp_status retry_status = (call);                                                                           \
        if (retry_status == REVAMP_ERROR_OUT_OF_MEMORY) {                                                              \
            ++*(failed);                                                                                               \
            CHECK_FAILS(retry_status, AS_MEMORY, "alloc");                                                             \
            retry_status = (call);                                                                                     \
        }                                                                                                              \
        check_ok(retry_status, #call, __FILE__, __LINE__);                                                             \
    } while (0)

/* Uses views while allocations fail. A failed call must change nothing, so it must not affect any result. */
static void use_views_with_failures(const engine *e, int *failed) {
    const int32_t count = N;
    uint32_t *data = numbers(N, 1), *a = numbers(N, 1), *b = numbers(N, 2), *c = numbers(N, 3), *sent = numbers(N, 4);
    revamp_array array = NULL;
    revamp_array_view view = NULL, over = NULL, empty = NULL, half = NULL;
    void *got = NULL;
    revamp_region host = host_region(sent, 1, &count, 4);
    RETRY_ONCE(failed, revamp_array_create(e->p->view, 1, &count, 4, NULL, &array));
    RETRY_ONCE(failed, revamp_copy_to_array(b, BYTES, array));
    RETRY_ONCE(failed, revamp_array_view_create_host(data, 1, &count, 4, NULL, &view));
    RETRY_ONCE(failed, revamp_array_view_create_array(array, NULL, &over));
    RETRY_ONCE(failed, revamp_array_view_create(1, &count, 4, NULL, &empty));
    RETRY_ONCE(failed, revamp_array_view_section(view, NULL, (const int32_t[]){N / 2}, &half));
    RETRY_ONCE(failed, run_step(e, NULL, use_view(view)));
    step_naive(a, N, 1);
    RETRY_ONCE(failed, run_sum(e, NULL, use_view(view), use_view(over), use_view(empty)));
    sum_naive(a, b, c, N);
    RETRY_ONCE(failed, run_step(e, NULL, use_view(half)));
    step_naive(a, N / 2, 1);
    RETRY_ONCE(failed, revamp_array_view_data(view, REVAMP_ACCESS_READ_WRITE, &got));
    CHECK_SAME(got, a, BYTES);
    RETRY_ONCE(failed, revamp_array_view_data(empty, REVAMP_ACCESS_READ, &got));
    CHECK_SAME(got, c, BYTES);
    RETRY_ONCE(failed, run_step(e, NULL, use_view(over)));
    step_naive(b, N, 1);
    RETRY_ONCE(failed, revamp_array_view_synchronize_to(view, e->p->view, REVAMP_ACCESS_READ));
    revamp_region to = region_of(empty), from = region_of(over);
    RETRY_ONCE(failed, revamp_copy(&from, &to));
    RETRY_ONCE(failed, run_step(e, NULL, use_view(empty)));
    memcpy(c, b, BYTES);
    step_naive(c, N, 1);
    RETRY_ONCE(failed, revamp_array_view_data(empty, REVAMP_ACCESS_READ, &got));
    CHECK_SAME(got, c, BYTES);
    to = region_of(view);
    RETRY_ONCE(failed, revamp_copy(&host, &to));
    RETRY_ONCE(failed, run_step(e, NULL, use_view(view)));
    step_naive(sent, N, 1);
    RETRY_ONCE(failed, revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
    drop(half);
    drop(view);
    drop(empty);
    drop(over);
    CHECK_SAME(data, sent, BYTES);
    CHECK_SAME(read_array(array), b, BYTES);
    CHECK_OK(revamp_array_destroy(array));
}

CHILD(uses_views_while_an_allocation_fails) {
    int failed = 0;
    FOR_EACH_ENGINE(e)
    for (int i = 0; i < 4; i++)
        use_views_with_failures(e, &failed);
    /* Only the Nth allocation fails. */
    CHECK(failed <= 1);
    printf("%d failed\n", failed);
    full_job();
    CHECK_OK(revamp_uninitialize());
}

TEST(failed_allocations_leave_views_unchanged) {
    int failed = 0;
    for (int n = 1; n <= 12; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=fail-alloc=%d", n);
        child_result r = run_child("uses_views_while_an_allocation_fails", setting, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s\n", setting);
        failed += strstr(r.output, "1 failed") != NULL;
    }
    /* In at least four runs, the allocation that fails must be in one of the calls of use_views_with_failures(). */
    CHECK(failed >= 4);
}

TEST(failed_allocations_leave_views_on_host_threads_unchanged) {
    int failed = 0;
    for (int n = 1; n <= 8; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=no-vulkan,fail-alloc=%d", n);
        child_result r = run_child("uses_views_while_an_allocation_fails", setting, "REVAMP_MEMORY=separate", NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s\n", setting);
        failed += strstr(r.output, "1 failed") != NULL;
    }
    CHECK(failed >= 4);
}

/* A view that is larger than all memory cannot be used on an accelerator or on the host, but stays valid. */
TEST(views_larger_than_all_memory) {
    static const int32_t extent[] = {1 << 20, 1 << 24};
    static const int32_t origin[] = {3, 128}, part[] = {1, N};
    FOR_EACH_ENGINE(e) {
        /* 64 TiB without a data source: the view has no memory until it is used. */
        revamp_array_view view = view_without_source(2, extent);
        void *data = NULL;
        CHECK_FAILS(revamp_array_view_synchronize_to(view, e->p->view, REVAMP_ACCESS_READ), AS_MEMORY, "");
        CHECK_FAILS(revamp_array_view_data(view, REVAMP_ACCESS_READ, &data), AS_MEMORY, "");
        revamp_array_view small = part_of(view, origin, part);
        CHECK_NUMBER(array_view_info(small).element_count, N);
        drop(small);
        drop(view);
    }
    full_job();
}

/* A lost device. */

CHILD(views_lose_the_device) {
    FOR_EACH_ENGINE(e) {
        if (!e->step) continue;
        static uint32_t data[N], other_data[N];
        revamp_accelerator_view target = second_view_of(e);
        revamp_array_view view = view_of(data, N), other = view_of(other_data, N), alias = read_only(view);
        revamp_status status = REVAMP_OK;
        void *got = NULL;
        for (int i = 0; i < 30 && status == REVAMP_OK; i++) {
            status = run_step(e, target, use_view(view));
            if (status == REVAMP_OK) status = revamp_accelerator_view_wait(target);
            if (status == REVAMP_OK && i % 3 == 2) status = revamp_array_view_data(alias, REVAMP_ACCESS_READ, &got);
        }
        CHECK_FAILS(status, AS_REMOVED, "lost");
        /* Every further call that needs the device reports the loss, and does not hang or crash. */
        status = run_step(e, target, use_view(view));
        CHECK_FAILS(status, AS_REMOVED, "lost");
        bool is_dirty = has_own_memory(view, target) && valid_on(view, cpu_view()) != BYTES;
        if (is_dirty) {
            revamp_completion done = NULL;
            CHECK_FAILS(revamp_array_view_data(view, REVAMP_ACCESS_READ, &got), AS_REMOVED, "lost");
            CHECK_FAILS(revamp_array_view_synchronize(alias, REVAMP_ACCESS_READ), AS_REMOVED, "lost");
            status = revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done);
            if (status == REVAMP_OK) {
                status = revamp_completion_get(done);
                CHECK_OK(revamp_completion_release(done));
            }
            CHECK(status == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED);
        }
        /* Views without data on the lost device keep working. */
        CHECK_OK(revamp_array_view_data(other, REVAMP_ACCESS_READ_WRITE, &got));
        CHECK(got == other_data);
        drop(other);
        drop(alias);
        collect_errors();
        drop(view);
        if (is_dirty) CHECK_TEXT(wait_for_errors(), "lost");
        CHECK_OK(revamp_set_log_callback(NULL, NULL, REVAMP_LOG_OFF));
        CHECK_OK(revamp_accelerator_view_release(target));
        printf(is_dirty ? "dirty\n" : "clean\n");
    }
    small_job();
    CHECK_OK(revamp_uninitialize());
    full_job();
}

TEST(views_on_a_lost_device_fail_and_release) {
    int dirty = 0;
    first_place_or_skip(runs_spirv);
    for (int n = 1; n <= 8; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=lose-device=%d", n);
        child_result r = run_child("views_lose_the_device", setting, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s\n", setting);
        dirty += strstr(r.output, "dirty\n") != NULL;
    }
    /* In at least one run, the lost device must hold the only valid data of the view. */
    if (has_separate_memory()) CHECK(dirty > 0);
}

/* refresh() drops the data of the view on the lost device. The view continues with the data in host memory. */
CHILD(refresh_drops_lost_data) {
    static uint32_t data[N];
    FOR_EACH_ENGINE(e) {
        if (!e->step) continue;
        revamp_accelerator_view target = second_view_of(e);
        revamp_array_view view = view_of(data, N);
        revamp_status status = REVAMP_OK;
        for (int i = 0; i < 30 && status == REVAMP_OK; i++) {
            status = run_step(e, target, use_view(view));
            if (status == REVAMP_OK) status = revamp_accelerator_view_wait(target);
        }
        CHECK_FAILS(status, AS_REMOVED, "lost");
        CHECK_OK(revamp_array_view_refresh(view));
        CHECK_NUMBER(valid_on(view, cpu_view()), BYTES);
        uint32_t *got = host_access(view, REVAMP_ACCESS_READ_WRITE);
        got[0] = 5;
        drop(view);
        CHECK_NUMBER(data[0], 5);
        CHECK_OK(revamp_accelerator_view_release(target));
    }
}

TEST(refresh_after_a_loss_continues_with_host_memory) {
    first_place_or_skip(runs_spirv);
    for (int n = 2; n <= 4; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "REVAMP_TEST=lose-device=%d", n);
        child_result r = run_child("refresh_drops_lost_data", setting, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) printf("%s\n", setting);
    }
}
