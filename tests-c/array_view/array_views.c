/* Tests of array_views (docs/spec/array-views.md): creation, derivation, errors, lifetime, threads, host access,
 * transfer counters and the transfer log.
 */
#include "views.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * 4 };

/* Creation and queries. */

TEST(info_returns_shape_and_offset) {
    static const int32_t cube[] = {4, 5, 6}, origin[] = {1, 2, 3}, extent[] = {2, 3, 3};
    uint32_t *data = numbers(120 * 2, 1);
    revamp_array_view view = view_of_host(data, 3, cube, 8), part = part_of(view, origin, extent),
                      row = row_of(part, 1);
    revamp_array_view_info info = array_view_info(view);
    CHECK_NUMBER(info.rank, 3);
    CHECK_SAME(info.extent, cube, sizeof cube);
    CHECK(info.strides[0] == 240 && info.strides[1] == 48 && info.strides[2] == 8);
    CHECK_NUMBER(info.element_size, 8);
    CHECK_NUMBER(info.element_count, 120);
    CHECK_NUMBER(info.offset, 0);
    CHECK(!info.read_only);
    info = array_view_info(part);
    CHECK_NUMBER(info.rank, 3);
    CHECK_SAME(info.extent, extent, sizeof extent);
    CHECK(info.strides[0] == 240 && info.strides[1] == 48 && info.strides[2] == 8);
    CHECK_NUMBER(info.element_count, 18);
    CHECK_NUMBER(info.offset, 240 + 96 + 24);
    info = array_view_info(row);
    CHECK_NUMBER(info.rank, 2);
    CHECK_SAME(info.extent, extent + 1, 8);
    CHECK(info.strides[0] == 48 && info.strides[1] == 8);
    CHECK_NUMBER(info.offset, 480 + 96 + 24);
    CHECK(host_access(row, REVAMP_ACCESS_READ) == data + 150);
    /* The arrays info.extent and info.strides stay valid until the view from which they come (row) is released. */
    drop(view);
    drop(part);
    CHECK_SAME(info.extent, extent + 1, 8);
    drop(row);
}

TEST(bad_views_are_errors) {
    static const int32_t good[] = {10, 10}, zero[] = {10, 0}, negative[] = {-1, 10}, huge[] = {INT32_MAX, INT32_MAX};
    static const int32_t many[200] = {1};
    uint32_t *data = numbers(100, 1);
    revamp_array_view view = NULL;
    revamp_array_view_options options = {0};
    CHECK_FAILS(revamp_array_view_create_host(NULL, 2, good, 4, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 0, good, 4, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 200, many, 4, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, NULL, 4, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, zero, 4, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, negative, 4, NULL, &view), AS_BAD, "-1");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, huge, 1 << 30, NULL, &view), AS_BAD | AS_MEMORY, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, good, 0, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, good, 4, NULL, NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create_host(data, 2, good, 4, &options, &view), AS_BAD, "struct_size");
    CHECK_FAILS(revamp_array_view_create_array(NULL, NULL, &view), AS_HANDLE, "");
    CHECK_FAILS(revamp_array_view_create(2, zero, 4, NULL, &view), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_create(2, good, 0, NULL, &view), AS_BAD, "");
    options.struct_size = sizeof options;
    options.read_only = true;
    CHECK_FAILS(revamp_array_view_create(2, good, 4, &options, &view), AS_BAD, "read");
    CHECK(!view);
    full_job();
}

static void must_not_run(const revamp_thread_id *id, void *context) {
    (void)id;
    (void)context;
    check_fail(__FILE__, __LINE__, "a refused launch ran");
}

TEST(dead_and_foreign_handles_are_errors) {
    uint32_t *data = numbers(N, 1);
    revamp_array_view view = view_of(data, N), result = NULL;
    const uint32_t *state = NULL;
    void *address = NULL;
    revamp_completion done = NULL;
    revamp_array_view_info info = {0};
    revamp_residency residency = {0};
    revamp_transfer_counters counters = {0};
    const revamp_array_view bad[] = {NULL, view, (revamp_array_view)(void *)cpu_view(),
                                     (revamp_array_view)(uintptr_t)0x12345678};
    drop(view);
    info.struct_size = sizeof info;
    residency.struct_size = sizeof residency;
    counters.struct_size = sizeof counters;
    for (size_t i = 0; i < COUNT(bad); i++) {
        revamp_array_view b = bad[i];
        CHECK_FAILS(revamp_array_view_section(b, NULL, NULL, &result), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_project(b, 0, &result), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_view_as(b, 1, (const int32_t[]){1}, &result), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_reinterpret_as(b, 4, &result), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_as_read_only(b, &result), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_retain(b), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_release(b), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_get_info(b, &info), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_data(b, REVAMP_ACCESS_READ, &address), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_get_host_access(b, &state), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_synchronize(b, REVAMP_ACCESS_READ), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_synchronize_async(b, REVAMP_ACCESS_READ, NULL, &done), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_synchronize_to(b, cpu_view(), REVAMP_ACCESS_READ), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_synchronize_to_async(b, cpu_view(), REVAMP_ACCESS_READ, NULL, &done), AS_HANDLE,
                    "");
        CHECK_FAILS(revamp_array_view_refresh(b), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_discard_data(b), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_get_residency(b, cpu_view(), &residency), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_get_transfers(b, &counters), AS_HANDLE, "");
        CHECK_FAILS(revamp_array_view_get_source_transfers(b, &counters), AS_HANDLE, "");
        if (!b) continue;
        FOR_EACH_PLACE(p, runs_kernels) {
            const int32_t one = 1;
            revamp_argument argument = revamp_argument_view(0, b);
            if (runs_spirv(&p->info)) {
                revamp_kernel step = load(p->accelerator, &step_module);
                CHECK_FAILS(launch(p->view, step, 1, &one, &argument, 1), AS_HANDLE, "");
                CHECK_OK(revamp_kernel_release(step));
            } else {
                revamp_parallel_for_each_info info = {0};
                info.struct_size = sizeof info;
                info.rank = 1;
                info.extent = &one;
                info.function = must_not_run;
                info.arguments = &argument;
                info.argument_count = 1;
                CHECK_FAILS(revamp_parallel_for_each(p->view, &info), AS_HANDLE, "");
                wait_at(p);
            }
        }
        revamp_region from = region_of(b), to = host_region(data, 1, (const int32_t[]){1}, 4);
        CHECK_FAILS(revamp_copy(&from, &to), AS_HANDLE, "");
        CHECK_FAILS(revamp_copy(&to, &from), AS_HANDLE, "");
    }
    CHECK(!result && !address && !state && !done);
    full_job();
}

TEST(bad_arguments_of_view_calls_are_errors) {
    uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
    revamp_array_view view = view_of(data, N), result = NULL;
    revamp_residency residency = {0};
    revamp_transfer_counters counters = {0};
    revamp_array_view_info info = {0};
    void *address = NULL;
    revamp_completion done = NULL;
    CHECK_FAILS(revamp_array_view_get_info(view, &info), AS_BAD, "struct_size");
    CHECK_FAILS(revamp_array_view_get_info(view, NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_get_residency(view, cpu_view(), &residency), AS_BAD, "struct_size");
    residency.struct_size = sizeof residency;
    CHECK_FAILS(revamp_array_view_get_residency(view, NULL, &residency), AS_BAD | AS_HANDLE, "");
    CHECK_FAILS(revamp_get_transfers(&counters), AS_BAD, "struct_size");
    CHECK_FAILS(revamp_get_transfers(NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_data(view, REVAMP_ACCESS_NONE, &address), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_data(view, 77, &address), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_data(view, REVAMP_ACCESS_READ, NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_get_host_access(view, NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_synchronize(view, 77), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_synchronize_to(view, NULL, REVAMP_ACCESS_READ), AS_BAD | AS_HANDLE, "");
    CHECK_FAILS(revamp_array_view_synchronize_to(view, cpu_view(), 77), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_synchronize_to_async(view, cpu_view(), 77, NULL, &done), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_section(view, NULL, NULL, NULL), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_view_as(view, 1, NULL, &result), AS_BAD, "");
    CHECK_FAILS(revamp_array_view_view_as(view, 0, NULL, &result), AS_BAD, "");
    CHECK(!result && !address && !done);
    CHECK_SAME(read_on_host(view), expected, BYTES);
    drop(view);
    full_job();
}

TEST(an_argument_or_region_is_an_array_or_a_view) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const int32_t extent = N;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, data, N);
        revamp_array_view view = view_of(data, N);
        revamp_argument both = revamp_argument_view(0, view), with_origin = both, neither = both;
        both.array = array;
        with_origin.origin = (const int32_t[]){0};
        neither.view = NULL;
        CHECK_FAILS(launch(p->view, step, 1, &extent, &both, 1), AS_BAD, "");
        CHECK_FAILS(launch(p->view, step, 1, &extent, &with_origin, 1), AS_BAD, "origin");
        CHECK_FAILS(launch(p->view, step, 1, &extent, &neither, 1), AS_BAD | AS_HANDLE, "");
        revamp_region from = region_of(view), to = whole(array);
        from.array = array;
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "");
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_SAME(read_array(array), expected, BYTES);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Derived views: section, projection, view_as, reinterpret_as (docs/spec/array-views.md#parts-and-shapes). */

TEST(sections_begin_at_their_origins) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, origin[] = {3, 7}, extent[] = {10, 20}, inner[] = {2, 3},
                             one[] = {1, 1};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), part = part_of(view, origin, extent);
        revamp_array_view nested = part_of(part, inner, NULL), single = part_of(nested, one, one);
        revamp_array_view from_zero = part_of(view, NULL, one);
        CHECK_SAME(array_view_info(nested).extent, ((const int32_t[]){8, 17}), 8);
        CHECK_NUMBER(read_on(p, single)[0], expected[6 * 50 + 11]);
        CHECK_NUMBER(read_on(p, from_zero)[0], expected[0]);
        uint32_t *got = read_on(p, nested);
        for (size_t y = 0; y < 8; y++)
            CHECK_SAME(got + y * 17, expected + (y + 5) * 50 + 10, 68);
        step_on(p, nested);
        for (size_t y = 0; y < 8; y++)
            step_naive(expected + (y + 5) * 50 + 10, 17, 1);
        const revamp_array_view all[] = {single, nested, part, from_zero, view};
        drop_all(all, COUNT(all));
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(bad_sections_are_errors) {
    static const int32_t plane[] = {20, 50};
    static const struct {
        int32_t origin[2], extent[2];
    } bad[] = {{{-1, 0}, {1, 1}},        {{0, -1}, {1, 1}},        {{0, 0}, {21, 1}},
               {{0, 0}, {1, 51}},        {{20, 0}, {1, 1}},        {{0, 50}, {1, 1}},
               {{10, 10}, {11, 1}},      {{10, 10}, {1, 41}},      {{0, 0}, {0, 1}},
               {{0, 0}, {1, 0}},         {{0, 0}, {-1, 1}},        {{5, 5}, {1, INT32_MIN}},
               {{INT32_MAX, 0}, {1, 1}}, {{1, 1}, {INT32_MAX, 1}}, {{INT32_MIN, 0}, {INT32_MAX, 1}}};
    uint32_t *data = numbers(N, 1);
    revamp_array_view view = view_of_host(data, 2, plane, 4), part = part_of(view, (const int32_t[]){5, 5}, NULL);
    revamp_array_view result = NULL;
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_FAILS(revamp_array_view_section(view, bad[i].origin, bad[i].extent, &result), AS_RUNTIME, "");
        CHECK_FAILS(revamp_array_view_section(part, bad[i].origin, bad[i].extent, &result), AS_RUNTIME, "");
    }
    /* Only the origin or only the extent is given. */
    CHECK_FAILS(revamp_array_view_section(view, (const int32_t[]){20, 0}, NULL, &result), AS_RUNTIME, "");
    CHECK_FAILS(revamp_array_view_section(view, (const int32_t[]){0, -1}, NULL, &result), AS_RUNTIME, "");
    CHECK_FAILS(revamp_array_view_section(view, NULL, (const int32_t[]){20, 51}, &result), AS_RUNTIME, "51");
    CHECK_FAILS(revamp_array_view_section(part, NULL, plane, &result), AS_RUNTIME, "");
    CHECK(!result);
    drop(part);
    drop(view);
    full_job();
}

TEST(projections_are_slices_of_the_first_dimension) {
    FOR_EACH_RUNNER(p) {
        static const int32_t cube[] = {5, 10, 20};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 3, cube, 4), slice = row_of(view, 2), row = row_of(slice, 9);
        revamp_array_view result = NULL;
        CHECK_NUMBER(array_view_info(slice).rank, 2);
        CHECK_NUMBER(array_view_info(row).rank, 1);
        CHECK_SAME(read_on(p, slice), expected + 400, 800);
        step_on(p, row);
        step_naive(expected + 580, 20, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_FAILS(revamp_array_view_project(view, -1, &result), AS_RUNTIME, "-1");
        CHECK_FAILS(revamp_array_view_project(view, 5, &result), AS_RUNTIME, "5");
        CHECK_FAILS(revamp_array_view_project(slice, 10, &result), AS_RUNTIME, "10");
        CHECK_FAILS(revamp_array_view_project(row, 0, &result), AS_BAD, "");
        CHECK_FAILS(revamp_array_view_project(view, INT32_MIN, &result), AS_RUNTIME, "");
        CHECK(!result);
        drop(row);
        drop(slice);
        drop(view);
    }
}

TEST(view_as_gives_another_shape) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, smaller[] = {9, 9}, five[] = {2, 5, 5, 4, 5}, all = N, more = N + 1;
        static const int32_t bad[] = {10, -1}, zero[] = {0, 5}, wide[] = {20, 20}, wrapping[] = {65536, 65536};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), as_plane = reshaped(view, 2, plane),
                          as_five = reshaped(view, 5, five);
        revamp_array_view small = reshaped(view, 2, smaller), flat = reshaped(as_five, 1, &all), result = NULL;
        CHECK_NUMBER(bytes_of(small), 81 * 4);
        CHECK_NUMBER(array_view_info(as_five).source_id, array_view_info(view).source_id);
        /* Views of different shapes share the elements: a write through one view is visible through the others. */
        step_on(p, as_five);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(as_plane), expected, BYTES);
        step_on_host(small);
        step_naive(expected, 81, 1);
        CHECK_SAME(read_on(p, as_five), expected, BYTES);
        revamp_array_view slice = row_of(as_five, 1);
        step_on(p, slice);
        step_naive(expected + 500, 500, 1);
        CHECK_SAME(read_on_host(flat), expected, BYTES);
        CHECK_FAILS(revamp_array_view_view_as(view, 1, &more, &result), AS_RUNTIME, "");
        CHECK_FAILS(revamp_array_view_view_as(small, 2, plane, &result), AS_RUNTIME, "");
        CHECK_FAILS(revamp_array_view_view_as(view, 2, bad, &result), AS_BAD, "");
        CHECK_FAILS(revamp_array_view_view_as(view, 2, zero, &result), AS_BAD, "");
        CHECK_FAILS(revamp_array_view_view_as(view, 2, wrapping, &result), AS_BAD, "");
        /* A view with gaps cannot be reshaped. */
        revamp_array_view gaps = part_of(as_plane, NULL, wide);
        CHECK_FAILS(revamp_array_view_view_as(gaps, 1, (const int32_t[]){10}, &result), AS_BAD, "");
        CHECK_FAILS(revamp_array_view_reinterpret_as(gaps, 8, &result), AS_BAD, "");
        CHECK(!result);
        const revamp_array_view views[] = {gaps, slice, flat, small, as_five, as_plane, view};
        drop_all(views, COUNT(views));
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(a_section_of_whole_rows_has_no_gaps) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, origin[] = {4, 0}, extent[] = {6, 50}, flat = 300;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), rows = part_of(view, origin, extent);
        revamp_array_view line = reshaped(rows, 1, &flat), doubles = NULL;
        REQUIRE_OK(revamp_array_view_reinterpret_as(rows, 8, &doubles));
        CHECK_NUMBER(array_view_info(doubles).element_count, 150);
        step_on(p, line);
        step_on(p, doubles);
        step_naive(expected + 200, 300, 2);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        const revamp_array_view views[] = {line, doubles, rows, view};
        drop_all(views, COUNT(views));
    }
}

TEST(reinterpret_as_gives_other_elements) {
    typedef struct {
        float position[2];
        uint32_t color;
    } point;
    enum { POINTS = 300 };
    FOR_EACH_RUNNER(p) {
        static const int32_t count = POINTS;
        point *data = (point *)numbers(POINTS * 3, 1);
        uint32_t *expected = numbers(POINTS * 3, 1);
        revamp_array_view view = view_of_host(data, 1, &count, sizeof(point)), words = NULL, result = NULL,
                          sixteen = NULL;
        REQUIRE_OK(revamp_array_view_reinterpret_as(view, 4, &words));
        REQUIRE_OK(revamp_array_view_reinterpret_as(view, 16, &sixteen));
        CHECK_NUMBER(array_view_info(words).element_count, POINTS * 3);
        CHECK_NUMBER(array_view_info(words).rank, 1);
        CHECK_NUMBER(array_view_info(words).element_size, 4);
        CHECK_NUMBER(array_view_info(sixteen).element_count, POINTS * 12 / 16);
        CHECK_NUMBER(array_view_info(words).source_id, array_view_info(view).source_id);
        /* Views with different element types overlap if their bytes overlap. */
        revamp_array_view middle = range_of(view, 100, 50), one_word = range_of(words, 301, 1);
        meter m = meter_of(view);
        step_on(p, middle);
        step_naive(expected + 300, 150, 1);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 600), 0);
        CHECK_NUMBER(read_on_host(one_word)[0], expected[301]);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, 4));
        step_on(p, words);
        step_naive(expected, (size_t)POINTS * 3, 1);
        CHECK_SAME(read_on_host(view), expected, POINTS * 12);
        CHECK_FAILS(revamp_array_view_reinterpret_as(view, 28, &result), AS_RUNTIME, "28");
        CHECK_FAILS(revamp_array_view_reinterpret_as(words, 7200, &result), AS_RUNTIME, "7200");
        CHECK_FAILS(revamp_array_view_reinterpret_as(view, 0, &result), AS_BAD, "");
        CHECK_FAILS(revamp_array_view_reinterpret_as(view, 7, &result), AS_BAD, "");
        CHECK(!result);
        const revamp_array_view views[] = {middle, one_word, sixteen, words, view};
        drop_all(views, COUNT(views));
        CHECK_SAME(data, expected, POINTS * 12);
    }
}

TEST(views_derived_from_read_only_views_are_read_only) {
    static const int32_t plane[] = {20, 50};
    uint32_t *data = numbers(N, 1);
    revamp_array_view view = view_of_host(data, 2, plane, 4), constant = read_only(view), derived[5] = {NULL};
    derived[0] = part_of(constant, NULL, NULL);
    derived[1] = row_of(constant, 3);
    derived[2] = reshaped(constant, 1, (const int32_t[]){N});
    REQUIRE_OK(revamp_array_view_reinterpret_as(constant, 8, &derived[3]));
    derived[4] = read_only(constant);
    for (size_t i = 0; i < COUNT(derived); i++) {
        void *address = NULL;
        CHECK(array_view_info(derived[i]).read_only);
        CHECK_FAILS(revamp_array_view_discard_data(derived[i]), AS_BAD, "read");
        CHECK_FAILS(revamp_array_view_data(derived[i], REVAMP_ACCESS_READ_WRITE, &address), AS_BAD, "read");
        CHECK_OK(revamp_array_view_data(derived[i], REVAMP_ACCESS_READ, &address));
    }
    CHECK(!array_view_info(view).read_only);
    drop_all(derived, 5);
    drop(constant);
    drop(view);
}

TEST(blocks_of_columns_side_by_side_do_not_overlap) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, half[] = {20, 25}, origin[] = {0, 25};
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), left = part_of(view, NULL, half);
        revamp_array_view right = part_of(view, origin, half);
        const uint64_t moved_if_separate = bytes_if_separate(view, p, 2000);
        meter m = meter_of(view);
        /* `left` was last written on the accelerator, `right` on the host. Their rows alternate in memory. */
        step_on(p, left);
        CHECK_MOVED(&m, moved_if_separate, 0);
        CHECK_NUMBER(valid_at(right, &host), 2000);
        step_on_host(right);
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(valid_at(left, p), 2000);
        step_on(p, left);
        step_on_host(right);
        CHECK_NOTHING_MOVED(&m);
        step_naive(expected, N, 2);
        CHECK_NUMBER(valid_at(view, &host), 2000);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, moved_if_separate);
        step_on(p, right);
        CHECK_MOVED(&m, moved_if_separate, 0);
        step_naive(expected + 25, 25, 1);
        CHECK_NUMBER(read_on_host(left)[0], expected[0]);
        CHECK_NOTHING_MOVED(&m);
        for (size_t y = 1; y < 20; y++)
            step_naive(expected + y * 50 + 25, 25, 1);
        drop(left);
        drop(right);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(blocks_of_columns_on_two_accelerators) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        static const int32_t plane[] = {20, 50}, half[] = {20, 25}, origin[] = {0, 25};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), left = part_of(view, NULL, half);
        revamp_array_view right = part_of(view, origin, half);
        meter m = meter_of(view);
        for (int i = 0; i < 3; i++) {
            step_on(p, left);
            step_on(q, right);
        }
        CHECK_MOVED(&m, bytes_if_separate(view, p, 2000) + bytes_if_separate(view, q, 2000), 0);
        step_naive(expected, N, 3);
        drop(left);
        drop(right);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* Overlapping views in one launch. */

TEST(overlapping_views_in_one_launch_share_memory) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, extent[] = {15, 40}, origin[] = {5, 10};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), first = part_of(view, NULL, extent);
        revamp_array_view second = part_of(view, origin, extent);
        const capture a = {first, NULL, 0}, b = {second, NULL, 0}, base = {view, NULL, 0};
        meter m = meter_of(view);
        REQUIRE_OK(try_use(p, OPERATION_ADD_TWO, a, b, 7));
        /* Each view has 600 elements. 10 x 30 elements are in both views. */
        CHECK_MOVED(&m, bytes_if_separate(view, p, 3600), 0);
        for (size_t y = 0; y < 20; y++)
            for (size_t x = 0; x < 50; x++)
                expected[y * 50 + x] += (y < 15 && x < 40 ? 7U : 0U) + (y >= 5 && x >= 10 ? 7U : 0U);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        /* One launch captures the base view twice. The next captures the parts, which were last written on `p`. */
        REQUIRE_OK(try_use(p, OPERATION_ADD_TWO, base, base, 5));
        REQUIRE_OK(try_use(p, OPERATION_ADD_TWO, b, a, 5));
        for (size_t y = 0; y < 20; y++)
            for (size_t x = 0; x < 50; x++)
                expected[y * 50 + x] += 10 + (y < 15 && x < 40 ? 5U : 0U) + (y >= 5 && x >= 10 ? 5U : 0U);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(first);
        drop(second);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(overlapping_parts_far_apart_share_memory) {
    FOR_EACH_RUNNER(p) {
        enum { LARGE = 1 << 20 };
        uint32_t *data = numbers(LARGE, 1), *expected = numbers(LARGE, 1);
        revamp_array_view view = view_of(data, LARGE), low = range_of(view, 100, N),
                          high = range_of(view, LARGE - N, N);
        revamp_array_view across = range_of(view, LARGE / 2, N), over = range_of(view, LARGE / 2 + 500, N);
        const capture a = {low, NULL, 0}, b = {high, NULL, 0}, c = {across, NULL, 0}, d = {over, NULL, 0};
        /* First, separate launches give each part its own memory on the accelerator. */
        step_on(p, low);
        step_on(p, high);
        step_on(p, across);
        REQUIRE_OK(try_use(p, OPERATION_ADD_TWO, a, b, 3));
        REQUIRE_OK(try_use(p, OPERATION_ADD_TWO, c, d, 3));
        step_naive(expected + 100, N, 1);
        step_naive(expected + LARGE - N, N, 1);
        step_naive(expected + LARGE / 2, N, 1);
        for (size_t i = 0; i < N; i++) {
            expected[100 + i] += 3;
            expected[LARGE - N + i] += 3;
            expected[LARGE / 2 + i] += 3;
            expected[LARGE / 2 + 500 + i] += 3;
        }
        const revamp_array_view views[] = {low, high, across, over, view};
        drop_all(views, COUNT(views));
        CHECK_SAME(data, expected, (size_t)LARGE * 4);
    }
}

TEST(an_array_and_its_view_in_one_launch_share_memory) {
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array), part = range_of(view, 500, 500);
        const capture a = {view, NULL, 0}, b = {NULL, array, 0};
        meter m = meter_of(view);
        for (int i = 0; i < 5; i++)
            REQUIRE_OK(try_use(p, OPERATION_ADD_TWO, a, b, 2));
        CHECK_NOTHING_MOVED(&m);
        for (int i = 0; i < N; i++)
            expected[i] += 20;
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_SAME(read_on_host(part), expected + 500, 2000);
        drop(part);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(overlapping_bindings_share_memory) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const int32_t extent = 600;
        const struct { uint32_t n, value; } values = {600, 9};
        uint32_t *data = numbers(1024, 1), *expected = numbers(1024, 1);
        revamp_kernel overlap = load(p->accelerator, &overlap_module);
        revamp_array_view view = view_of(data, 1024), part = range_of(view, 256, 600);
        revamp_argument arguments[] = {revamp_argument_view(0, view), revamp_argument_view(1, part),
                                       revamp_argument_push_constant(0, &values, sizeof values)};
        CHECK_OK(launch(p->view, overlap, 1, &extent, arguments, 3));
        arguments[0].view = part;
        CHECK_OK(launch(p->view, overlap, 1, &extent, arguments, 3));
        for (size_t i = 0; i < 600; i++) {
            expected[i] += 9;
            expected[256 + i] += 27;
        }
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, 4096);
        CHECK_OK(revamp_kernel_release(overlap));
    }
}

/* Discard and refresh (docs/spec/array-views.md#discard, docs/spec/array-views.md#refresh). */

TEST(discard_of_random_sections_leaves_the_host_as_it_was) {
    FOR_EACH_RUNNER(p) {
        uint32_t state = 12345;
        for (int round = 0; round < 20; round++) {
            static const int32_t plane[] = {20, 50};
            uint32_t *data = numbers(N, 1), *original = numbers(N, 1);
            revamp_array_view view = view_of_host(data, 2, plane, 4), parts[3];
            const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
            for (int i = 0; i < 3; i++) {
                int32_t origin[2], extent[2];
                for (int d = 0; d < 2; d++) {
                    origin[d] = (int32_t)(random_number(&state) % (uint32_t)plane[d]);
                    extent[d] = 1 + (int32_t)(random_number(&state) % (uint32_t)(plane[d] - origin[d]));
                }
                parts[i] = part_of(view, origin, extent);
            }
            for (int i = 0; i < 3; i++)
                step_on(p, parts[i]);
            meter m = meter_of(view);
            for (int i = 0; i < 3; i++)
                CHECK_OK(revamp_array_view_discard_data(parts[i]));
            CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
            CHECK_NOTHING_MOVED(&m);
            if (has_own_memory) CHECK_SAME(data, original, BYTES);
            meter process_meter = meter_of(NULL);
            drop_all(parts, 3);
            drop(view);
            CHECK_NOTHING_MOVED(&process_meter);
            if (has_own_memory) CHECK_SAME(data, original, BYTES);
        }
    }
}

TEST(discard_applies_to_sections_until_the_next_write) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 200), other = range_of(view, 250, 100);
        const uint64_t moved_if_separate = bytes_if_separate(view, p, 1);
        CHECK_OK(revamp_array_view_discard_data(view));
        meter m = meter_of(view);
        fill_on(p, part, 1);
        fill_naive(expected + 100, 200, 1);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on_host(part), expected + 100, 800);
        CHECK_MOVED(&m, 0, moved_if_separate * 800);
        /* The written elements are no longer discarded. The other elements of the view still are. */
        step_on_host(part);
        step_naive(expected + 100, 200, 1);
        step_on(p, other);
        CHECK_MOVED(&m, moved_if_separate * 200, 0);
        step_naive(expected + 250, 50, 1);
        CHECK_SAME(read_on_host(part), expected + 100, 800);
        CHECK_MOVED(&m, 0, moved_if_separate * 200);
        drop(part);
        drop(other);
        drop(view);
        CHECK_SAME(data + 100, expected + 100, 800);
    }
}

TEST(discard_of_a_read_only_view_is_an_error) {
    uint32_t *data = numbers(N, 1);
    revamp_array_view view = const_view_of(data, N);
    CHECK_FAILS(revamp_array_view_discard_data(view), AS_BAD, "read");
    drop(view);
}

TEST(refresh_drops_pending_changes) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), constant = read_only(view);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        step_on(p, view);
        wait_at(p);
        if (!has_own_memory) step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_refresh(view));
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        /* A read-only view can be refreshed too. */
        data[5] = expected[5] = 99;
        CHECK_OK(revamp_array_view_refresh(constant));
        CHECK_SAME(read_on(p, constant), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        drop(constant);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(refresh_shows_what_a_kernel_wrote_into_the_array) {
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array);
        const capture a = {NULL, array, REVAMP_ACCESS_READ_WRITE}, none = {NULL, NULL, 0};
        CHECK_SAME(read_on_host(view), expected, BYTES);
        REQUIRE_OK(try_use(p, OPERATION_STEP, a, none, 0));
        step_naive(expected, N, 1);
        CHECK_OK(revamp_array_view_refresh(view));
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        drop(view);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Synchronize and prefetch (docs/spec/array-views.md#synchronize). */

TEST(the_source_is_writable_after_synchronize_for_writing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        const uint64_t moved_if_separate = bytes_if_separate(view, p, BYTES);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ_WRITE));
        CHECK_MOVED_BY_CALL(&m, 0, moved_if_separate);
        CHECK_SAME(data, expected, BYTES);
        step_naive(data, N, 1);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, moved_if_separate, 0);
        /* synchronize() for writing only does not transfer the old contents. */
        step_on(p, view);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_WRITE));
        CHECK_NOTHING_MOVED(&m);
        fill_naive(data, N, 6);
        fill_naive(expected, N, 6);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, moved_if_separate, 0);
        drop(view);
    }
}

TEST(synchronize_to_prefetches) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_completion done = NULL;
        revamp_array_view view = view_of(data, N), part = range_of(view, 10, 100);
        const uint64_t moved_if_separate = bytes_if_separate(view, p, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_synchronize_to(part, p->view, REVAMP_ACCESS_READ));
        CHECK_MOVED_BY_CALL(&m, moved_if_separate * 400, 0);
        CHECK_NUMBER(valid_at(part, &host), 400);
        REQUIRE_OK(revamp_array_view_synchronize_to_async(view, p->view, REVAMP_ACCESS_READ_WRITE, NULL, &done));
        expect_done(done);
        CHECK_MOVED_BY_CALL(&m, moved_if_separate * 3600, 0);
        CHECK_NUMBER(valid_at(view, &host), 0);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, moved_if_separate * BYTES);
        /* synchronize_to() for writing only does not transfer the old contents. */
        step_on_host(view);
        CHECK_OK(revamp_array_view_synchronize_to(view, p->view, REVAMP_ACCESS_WRITE));
        CHECK_NOTHING_MOVED(&m);
        fill_on(p, view, 4);
        CHECK_NOTHING_MOVED(&m);
        fill_naive(expected, N, 4);
        /* Synchronizes to the host: cpu_view() is the accelerator_view of the cpu accelerator. */
        CHECK_OK(revamp_array_view_synchronize_to(view, cpu_view(), REVAMP_ACCESS_READ));
        CHECK_MOVED_BY_CALL(&m, 0, moved_if_separate * BYTES);
        CHECK_SAME(data, expected, BYTES);
        drop(part);
        drop(view);
    }
}

TEST(synchronize_writes_back_to_an_array_on_an_accelerator) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array), part = range_of(view, 900, 100);
        const uint64_t moved_if_separate = bytes_if_separate(view, &host, 1);
        meter m = meter_of(view);
        step_on_host(part);
        step_naive(expected + 900, 100, 1);
        CHECK_MOVED(&m, 0, moved_if_separate * 400);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        CHECK_MOVED_BY_CALL(&m, moved_if_separate * 400, 0);
        CHECK_SAME(read_array(array), expected, BYTES);
        drop(part);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Views without a data source (docs/spec/array-views.md#views-without-a-data-source). */

TEST(info_reports_a_view_without_source) {
    revamp_array_view view = sourceless(N), part = range_of(view, 1, 2);
    CHECK(!array_view_info(view).source_view);
    CHECK(!array_view_info(part).source_view);
    CHECK_NUMBER(array_view_info(view).source_id, array_view_info(part).source_id);
    CHECK_NUMBER(array_view_info(view).element_count, N);
    drop(view);
    drop(part);
}

TEST(a_view_without_source_first_used_on_the_host) {
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = memory(BYTES);
        revamp_array_view view = sourceless(N);
        meter m = meter_of(view);
        fill_on_host(view, 5);
        fill_naive(expected, N, 5);
        uint32_t *data = host_access(view, REVAMP_ACCESS_READ_WRITE);
        CHECK_NOTHING_MOVED(&m);
        step_on(p, view);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        step_naive(expected, N, 1);
        CHECK(host_access(view, REVAMP_ACCESS_READ) == data);
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        step_on(p, view);
        drop(view);
    }
}

TEST(a_view_without_source_first_used_on_an_accelerator) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *expected = memory(BYTES);
        revamp_array_view view = sourceless(N);
        meter m = meter_of(view);
        /* Elements that were never written are not transferred. */
        fill_on(p, view, 5);
        fill_naive(expected, N, 5);
        CHECK_NOTHING_MOVED(&m);
        /* From its first use on, the view behaves like a view of an array on this accelerator. */
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_NOTHING_MOVED(&m);
        CHECK(residency_at(view, p).shares_home);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, &host, BYTES));
        step_on_host(view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, &host, BYTES), 0);
        drop(view);
    }
}

TEST(a_view_without_source_is_discarded_until_written) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        revamp_array_view view = sourceless(N), part = range_of(view, 100, 50);
        meter m = meter_of(view);
        CHECK_NUMBER(residency_at(view, &host).discarded_bytes, BYTES);
        fill_on(p, part, 1);
        CHECK_NUMBER(residency_at(view, p).discarded_bytes, BYTES - 200);
        (void)read_on_host(view);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, &host, 200));
        drop(part);
        drop(view);
    }
}

TEST(views_without_source_support_copy_refresh_and_discard) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = N;
        uint32_t *expected = numbers(N, 3), *got = memory(BYTES);
        for (int on_host = 0; on_host < 2; on_host++) {
            revamp_array_view view = sourceless(N), other = sourceless(N), fresh = sourceless(N);
            revamp_region from_host = host_region(expected, 1, &extent, 4), to_host = host_region(got, 1, &extent, 4);
            revamp_region a = region_of(view), b = region_of(other), c = region_of(fresh);
            /* These calls succeed even before the first use of the view. */
            CHECK_OK(revamp_array_view_refresh(view));
            CHECK_OK(revamp_array_view_discard_data(view));
            CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
            CHECK_OK(revamp_copy(&c, &to_host));
            if (on_host)
                fill_on_host(view, 0);
            else
                fill_on(p, view, 0);
            /* Copies into a view, between two views, and out of a view. */
            CHECK_OK(revamp_copy(&from_host, &a));
            CHECK_OK(revamp_copy(&a, &b));
            CHECK_OK(revamp_copy(&b, &to_host));
            CHECK_SAME(got, expected, BYTES);
            memset(got, 0, BYTES);
            step_on(p, other);
            revamp_completion done = NULL;
            REQUIRE_OK(revamp_copy_async(&b, &a, NULL, &done));
            expect_done(done);
            CHECK_OK(revamp_copy(&a, &to_host));
            step_naive(expected, N, 1);
            CHECK_SAME(got, expected, BYTES);
            /* Refresh of a view without a data source has no effect, so the contents stay correct. */
            step_on(p, view);
            step_naive(expected, N, 1);
            CHECK_OK(revamp_array_view_refresh(view));
            CHECK_SAME(read_on_host(view), expected, BYTES);
            CHECK_SAME(read_on(p, view), expected, BYTES);
            /* Discard is only a hint: a later kernel on the same accelerator still reads the old values. */
            step_on(p, view);
            step_naive(expected, N, 1);
            CHECK_OK(revamp_array_view_discard_data(view));
            CHECK_SAME(read_on(p, view), expected, BYTES);
            revamp_array_view part = range_of(view, 100, 10);
            fill_on(p, part, 9);
            CHECK_NUMBER(read_on_host(part)[9], 18);
            CHECK_OK(revamp_array_view_synchronize(part, REVAMP_ACCESS_READ));
            CHECK_OK(revamp_array_view_synchronize_to(part, p->view, REVAMP_ACCESS_READ));
            const revamp_array_view all[] = {part, view, other, fresh};
            drop_all(all, 4);
        }
    }
}

TEST(aliases_of_a_view_without_source_share_its_memory) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50};
        uint32_t *expected = memory(BYTES);
        /* The views of the same elements are created before the first use. */
        revamp_array_view view = sourceless(N), alias = part_of(view, NULL, NULL), as_plane = reshaped(view, 2, plane);
        revamp_array_view constant = read_only(view), row = row_of(as_plane, 3);
        fill_on(p, alias, 50);
        fill_naive(expected, N, 50);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_SAME(read_on(p, constant), expected, BYTES);
        step_on_host(row);
        step_naive(expected + 150, 50, 1);
        CHECK_SAME(read_on(p, as_plane), expected, BYTES);
        drop(view);
        drop(alias);
        CHECK_SAME(read_on_host(constant), expected, BYTES);
        const revamp_array_view all[] = {row, as_plane, constant};
        drop_all(all, 3);
    }
}

TEST(a_view_without_source_moves_between_accelerators) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *expected = memory(BYTES);
        revamp_array_view view = sourceless(N);
        fill_on(p, view, 1);
        step_on(q, view);
        step_on(p, view);
        step_on_host(view);
        step_on(q, view);
        fill_naive(expected, N, 1);
        step_naive(expected, N, 4);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(view);
    }
}

/* The lifetime of views and their memory (docs/spec/array-views.md#lifetime). */

TEST(a_view_keeps_the_memory_of_its_array) {
    FOR_EACH_PLACE(home, holds_arrays)
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(home->view, expected, N);
        revamp_array_view view = view_of_array(array), part = range_of(view, 0, 100);
        step_on(p, part);
        CHECK_OK(revamp_array_destroy(array));
        step_naive(expected, 100, 1);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK(array_view_info(view).source_view == home->view);
        step_on_host(view);
        drop(view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on(p, part), expected, 400);
        step_on_host(part);
        drop(part);
    }
}

TEST(a_view_may_be_released_while_it_is_used) {
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1), *data = numbers(N, 1);
        for (int i = 0; i < 20; i++) {
            revamp_array array = array_with(p->view, data, N);
            revamp_array_view of_array = view_of_array(array), view = view_of(data, N);
            const capture a = {of_array, NULL, 0}, b = {view, NULL, 0};
            step_on(p, of_array);
            REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
            CHECK_OK(revamp_array_destroy(array));
            drop(of_array);
            drop(view);
            step_naive(expected, N, 1);
            CHECK_SAME(data, expected, BYTES);
        }
    }
}

TEST(an_accelerator_view_may_be_released_with_views_used_on_it) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        const place separate_place = on_view(p, new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC));
        revamp_array_view view = view_of(data, N);
        step_on(&separate_place, view);
        CHECK_OK(revamp_accelerator_view_release(separate_place.view));
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        step_on(p, view);
        drop(view);
        step_naive(expected, N, 1);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* State words: what the host may access without another call of revamp_array_view_data(). */

static uint32_t state_of(const uint32_t *state) {
    return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

TEST(the_state_word_reports_host_access) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1);
        const uint32_t *view_state = NULL, *part_state = NULL;
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 10), disjoint = range_of(view, 500, 10);
        REQUIRE_OK(revamp_array_view_get_host_access(view, &view_state));
        REQUIRE_OK(revamp_array_view_get_host_access(part, &part_state));
        CHECK_NUMBER(state_of(view_state), 0);
        host_access(view, REVAMP_ACCESS_READ);
        CHECK_NUMBER(state_of(view_state), REVAMP_HOST_MAY_READ);
        CHECK_NUMBER(state_of(part_state), 0);
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        CHECK_NUMBER(state_of(view_state), REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE);
        host_access(part, REVAMP_ACCESS_READ_WRITE);
        CHECK_NUMBER(state_of(part_state), REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE);
        /* A kernel that writes overlapping elements revokes all access of the host. */
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        host_access(part, REVAMP_ACCESS_READ_WRITE);
        step_on(p, view);
        CHECK_NUMBER(state_of(view_state), 0);
        CHECK_NUMBER(state_of(part_state), 0);
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        step_on(p, part);
        CHECK_NUMBER(state_of(view_state), 0);
        /* A kernel that only reads revokes only the write access. */
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        host_access(part, REVAMP_ACCESS_READ_WRITE);
        read_on(p, view);
        CHECK_NUMBER(state_of(view_state) & REVAMP_HOST_MAY_WRITE, 0);
        CHECK_NUMBER(state_of(part_state) & REVAMP_HOST_MAY_WRITE, 0);
        /* A kernel that uses other elements does not change the state word. */
        host_access(part, REVAMP_ACCESS_READ_WRITE);
        step_on(p, disjoint);
        CHECK_NUMBER(state_of(part_state), REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE);
        CHECK_OK(revamp_array_view_synchronize_to(view, p->view, REVAMP_ACCESS_READ_WRITE));
        CHECK_NUMBER(state_of(part_state), 0);
        const revamp_array_view all[] = {disjoint, part, view};
        drop_all(all, 3);
    }
}

/* Gives the host access to slice `number` of those that `depth` indices select. Sets *states to their state words. */
static uint32_t *slice_of(revamp_array_view view, uint32_t depth, uint64_t number, revamp_access access,
                          const uint32_t **states) {
    void *data = NULL;
    REQUIRE_OK(revamp_array_view_slice_data(view, depth, number, access, &data, states));
    return data;
}

TEST(COH_2_only_the_accessed_slice_is_transferred_to_the_host) {
    static const int32_t cube[] = {5, 10, 20};
    enum { ROW = 20 * 4, BOTH = REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE };
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        const uint32_t *whole = NULL, *rows = NULL, *planes = NULL;
        revamp_array_view view = view_of(data, N), shape = reshaped(view, 3, cube);
        const uint64_t moved_if_separate = bytes_if_separate(view, p, 1);
        REQUIRE_OK(revamp_array_view_get_host_access(shape, &whole));
        step_on(p, view);
        step_naive(expected, N, 1);
        meter view_meter = meter_of(view);
        uint32_t *row = slice_of(shape, 2, 23, REVAMP_ACCESS_READ, &rows);
        CHECK_SAME(row, expected + 23 * 20, ROW);
        CHECK_NUMBER(moved_since(&view_meter).implicit_from_bytes, moved_if_separate * ROW);
        CHECK_NUMBER(state_of(&rows[23]), REVAMP_HOST_MAY_READ);
        CHECK_NUMBER(state_of(&rows[22]) | state_of(&rows[24]) | state_of(whole), 0);
        /* Access to the same slice again, now for writing. */
        CHECK(slice_of(shape, 2, 23, REVAMP_ACCESS_READ_WRITE, &rows) == row);
        CHECK_NUMBER(moved_since(&view_meter).implicit_from_bytes, 0);
        CHECK_NUMBER(state_of(&rows[23]), BOTH);
        CHECK(slice_of(shape, 1, 4, REVAMP_ACCESS_READ_WRITE, &planes) == row - 23 * 20 + 4 * 200);
        CHECK_NUMBER(moved_since(&view_meter).implicit_from_bytes, moved_if_separate * 10 * ROW);
        CHECK_NUMBER(state_of(&planes[4]), BOTH);
        CHECK_NUMBER(state_of(&planes[2]) | state_of(&rows[40]), 0);
        /* The device keeps its valid copy of the elements outside these slices. */
        revamp_residency there = {0};
        there.struct_size = sizeof there;
        CHECK_OK(revamp_array_view_get_residency(view, p->view, &there));
        CHECK_NUMBER(there.valid_bytes, (N - 11 * 20) * 4);
        /* A kernel clears bits in the state words of overlapping slices. If it only reads, it clears only MAY_WRITE. */
        revamp_array_view disjoint = range_of(view, 0, 100), part = range_of(view, 470, 1);
        step_on(p, disjoint);
        step_naive(expected, 100, 1);
        CHECK_NUMBER(state_of(&rows[23]), BOTH);
        read_on(p, part);
        CHECK_NUMBER(state_of(&rows[23]), REVAMP_HOST_MAY_READ);
        CHECK_NUMBER(state_of(&planes[4]), BOTH);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_NUMBER(state_of(&rows[23]) | state_of(&planes[4]), 0);
        view_meter = meter_of(view);
        CHECK_SAME(slice_of(shape, 2, 23, REVAMP_ACCESS_READ, &rows), expected + 23 * 20, ROW);
        CHECK_NUMBER(moved_since(&view_meter).implicit_from_bytes, moved_if_separate * ROW);
        /* Once the host has the only valid copy of every element, it may access the whole view. */
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ_WRITE));
        slice_of(shape, 1, 0, REVAMP_ACCESS_READ_WRITE, &planes);
        CHECK_NUMBER(state_of(whole), BOTH);
        CHECK_SAME(data, expected, BYTES);
        const revamp_array_view all[] = {part, disjoint, shape, view};
        drop_all(all, 4);
    }
}

TEST(write_only_access_to_a_slice_transfers_nothing) {
    static const int32_t plane[] = {50, 20};
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1);
        const uint32_t *rows = NULL;
        revamp_array_view view = view_of(data, N), shape = reshaped(view, 2, plane);
        step_on(p, view);
        meter view_meter = meter_of(view);
        uint32_t *row = slice_of(shape, 1, 7, REVAMP_ACCESS_WRITE, &rows);
        CHECK_NUMBER(moved_since(&view_meter).implicit_from_bytes, 0);
        for (int i = 0; i < 20; i++)
            row[i] = 5;
        step_on(p, view);
        CHECK_NUMBER(read_on_host(view)[7 * 20 + 19], 16);
        drop(shape);
        drop(view);
    }
}

TEST(copies_into_a_view_clear_its_state_word) {
    static const int32_t extent = N;
    uint32_t *data = numbers(N, 1), *sent = numbers(N, 2);
    const uint32_t *state = NULL;
    revamp_completion done = NULL;
    revamp_array_view view = view_of(data, N);
    revamp_region from = host_region(sent, 1, &extent, 4), to = region_of(view);
    REQUIRE_OK(revamp_array_view_get_host_access(view, &state));
    host_access(view, REVAMP_ACCESS_READ_WRITE);
    REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
    CHECK_NUMBER(state_of(state), 0);
    expect_done(done);
    CHECK_SAME(read_on_host(view), sent, BYTES);
    drop(view);
}

/* Transfer counters and the transfer log. */

TEST(counters_agree_with_one_another) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1);
        revamp_transfer_counters before = {0}, after = {0};
        revamp_array_view view = view_of(data, N), part = range_of(view, 0, 250);
        const uint64_t moved_if_separate = bytes_if_separate(view, p, 1);
        before.struct_size = after.struct_size = sizeof before;
        REQUIRE_OK(revamp_accelerator_get_transfers(p->accelerator, &before));
        meter source_meter = meter_of(view), process_meter = meter_of(NULL);
        step_on(p, part);
        step_on(p, view);
        step_on_host(part);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        REQUIRE_OK(revamp_accelerator_get_transfers(p->accelerator, &after));
        revamp_transfer_counters source = moved_since(&source_meter), process = moved_since(&process_meter);
        /* The counters of a view count the transfers caused by accesses to this view. */
        revamp_transfer_counters part_counters = view_transfers(part), view_counters = view_transfers(view);
        CHECK_NUMBER(part_counters.implicit_to_bytes, moved_if_separate * 1000);
        CHECK_NUMBER(part_counters.implicit_from_bytes, moved_if_separate * 1000);
        CHECK_NUMBER(view_counters.implicit_to_bytes, moved_if_separate * 3000);
        CHECK_NUMBER(view_counters.implicit_from_bytes, 0);
        CHECK_NUMBER(view_counters.explicit_from_bytes, moved_if_separate * 3000);
        CHECK_NUMBER(part_counters.explicit_from_bytes, 0);
        CHECK_NUMBER(source.implicit_to_bytes, moved_if_separate * BYTES);
        CHECK_NUMBER(source.implicit_from_bytes, moved_if_separate * 1000);
        CHECK_NUMBER(source.explicit_from_bytes, moved_if_separate * 3000);
        CHECK_NUMBER(process.implicit_to_bytes, source.implicit_to_bytes);
        CHECK_NUMBER(process.implicit_from_bytes, source.implicit_from_bytes);
        CHECK_NUMBER(process.explicit_from_bytes, source.explicit_from_bytes);
        CHECK_NUMBER(after.implicit_to_bytes - before.implicit_to_bytes, source.implicit_to_bytes);
        CHECK_NUMBER(after.implicit_from_bytes - before.implicit_from_bytes, source.implicit_from_bytes);
        CHECK_NUMBER(after.explicit_from_bytes - before.explicit_from_bytes, source.explicit_from_bytes);
        drop(part);
        drop(view);
    }
}

TEST(array_copies_are_explicit) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *data = numbers(N, 1);
        revamp_array array = array_1d(p->view, N, 4);
        meter m = meter_of(NULL);
        write_array(array, data);
        revamp_transfer_counters up = moved_since(&m);
        CHECK_SAME(read_array(array), data, BYTES);
        revamp_transfer_counters down = moved_since(&m);
        CHECK_NUMBER(up.implicit_to_bytes + up.implicit_from_bytes, 0);
        CHECK_NUMBER(down.implicit_to_bytes + down.implicit_from_bytes, 0);
        CHECK_NUMBER(up.explicit_from_bytes, 0);
        CHECK_NUMBER(down.explicit_to_bytes, 0);
        /* With separate memory, the bytes must have been transferred to the accelerator and back. */
        if (has_separate_memory()) {
            CHECK_NUMBER(up.explicit_to_bytes, BYTES);
            CHECK_NUMBER(down.explicit_from_bytes, BYTES);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
}

enum { MAX_LOGGED = 64 };

/* Reads the logged transfers with the numbers `first` and higher. Returns their count. */
static size_t read_log(uint64_t first, revamp_transfer *transfers) {
    size_t count = 0;
    memset(transfers, 0, MAX_LOGGED * sizeof *transfers);
    transfers[0].struct_size = sizeof *transfers;
    REQUIRE_OK(revamp_transfer_log_read(first, transfers, MAX_LOGGED, &count));
    REQUIRE(count <= MAX_LOGGED);
    return count;
}

/* The number that the next transfer will get. */
static uint64_t next_number(void) {
    revamp_transfer transfers[MAX_LOGGED];
    uint64_t next = 1;
    for (size_t count; (count = read_log(next, transfers)) > 0;)
        next = transfers[count - 1].number + 1;
    return next;
}

static bool is_logged(const revamp_transfer *t, const char *call, uint64_t bytes, revamp_accelerator from,
                      revamp_accelerator to, bool is_implicit) {
    return !strcmp(t->call, call) && t->bytes == bytes && t->source == from && t->destination == to &&
           t->is_implicit == is_implicit;
}

TEST(the_log_contains_each_transfer) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1);
        revamp_transfer transfers[MAX_LOGGED];
        revamp_array_view view = view_of(data, N);
        const uint64_t id = array_view_info(view).source_id;
        uint64_t first = next_number();
        step_on(p, view);
        host_access(view, REVAMP_ACCESS_READ);
        step_on(p, view);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        step_on(p, view);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        drop(view);
        size_t count = read_log(first, transfers);
        CHECK_NUMBER(count, has_own_memory ? 4 : 0);
        if (count != 4) continue;
        const char *dispatch = runs_spirv(&p->info) ? "revamp_dispatch" : "revamp_parallel_for_each";
        CHECK(is_logged(&transfers[0], dispatch, BYTES, host.accelerator, p->accelerator, true));
        CHECK(is_logged(&transfers[1], "revamp_array_view_data", BYTES, p->accelerator, host.accelerator, true));
        CHECK(
            is_logged(&transfers[2], "revamp_array_view_synchronize", BYTES, p->accelerator, host.accelerator, false));
        CHECK(is_logged(&transfers[3], "revamp_array_view_release", BYTES, p->accelerator, host.accelerator, true));
        for (size_t i = 0; i < 4; i++) {
            CHECK_NUMBER(transfers[i].number, first + i);
            CHECK_NUMBER(transfers[i].source_id, id);
        }
        /* Reads from the middle of the log. */
        CHECK_NUMBER(read_log(first + 2, transfers), 2);
        CHECK_NUMBER(transfers[0].number, first + 2);
        CHECK_NUMBER(read_log(first + 4, transfers), 0);
    }
}

TEST(the_log_keeps_the_latest_transfers) {
    enum { LOGGED = 5000 };
    const place *p = first_place_or_skip(holds_arrays);
    revamp_transfer transfers[MAX_LOGGED];
    uint32_t *data = numbers(16, 1);
    revamp_array array = array_with(p->view, data, 16);
    size_t count = 0;
    for (int i = 0; i < LOGGED; i++)
        write_array(array, data);
    uint64_t next = next_number();
    CHECK(next > LOGGED);
    /* If the first requested transfer is no longer in the log, the result begins with the oldest logged transfer. */
    count = read_log(1, transfers);
    CHECK_NUMBER(count, MAX_LOGGED);
    CHECK(transfers[0].number + 4096 >= next && transfers[0].number > 1);
    CHECK_NUMBER(transfers[0].source_id, 0);
    CHECK(!transfers[0].is_implicit);
    transfers[0].struct_size = 0;
    CHECK_FAILS(revamp_transfer_log_read(1, transfers, 1, &count), AS_BAD, "struct_size");
    CHECK_FAILS(revamp_transfer_log_read(1, NULL, 1, &count), AS_BAD, "");
    CHECK_OK(revamp_array_destroy(array));
}

/* Arguments of host kernels. */

TEST(launches_of_host_kernels_copy_the_argument_block) {
    uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
    const place p = *first_place_or_skip(runs_host_kernels);
    revamp_array_view view = view_of(data, N);
    gate *g = new_gate();
    block_view(p.view, g);
    /* Each call passes an argument block on its stack, and returns before the kernel runs. The launch needs a copy. */
    for (int i = 0; i < 30; i++)
        step_on(&p, view);
    open_gate(g);
    step_naive(expected, N, 30);
    CHECK_SAME(read_on_host(view), expected, BYTES);
    drop(view);
}

static void add_one(const revamp_thread_id *id, void *context) {
    ((uint32_t *)context)[id->global[0]] += 1;
}

TEST(buffer_arguments_of_host_kernels_make_views_valid) {
    FOR_EACH_PLACE(p, runs_host_kernels) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        const int32_t extent = N;
        meter m = meter_of(view);
        revamp_argument argument = revamp_argument_view(0, view);
        revamp_parallel_for_each_info info = {0};
        uint32_t *other = memory(BYTES);
        argument.access = REVAMP_ACCESS_READ_WRITE;
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.function = add_one;
        info.context = other;
        info.arguments = &argument;
        info.argument_count = 1;
        CHECK_OK(revamp_parallel_for_each(p->view, &info));
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        /* The launch uses the view, so a later access of the host waits for the kernel. */
        CHECK_SAME(read_on_host(view), expected, BYTES);
        for (int i = 0; i < N; i++)
            CHECK_NUMBER(other[i], 1);
        drop(view);
    }
}

/* Several threads (docs/spec/accelerators.md#threads). */

enum { THREADS = 4, THREAD_ROUNDS = 25 };

typedef struct {
    const place *p;
    revamp_array_view view;
    uint32_t seed;
    bool good;
} worker;

static void *work(void *context) {
    worker *w = context;
    const place p = *w->p;
    uint32_t *data = numbers(N, w->seed), *expected = numbers(N, w->seed);
    w->good = true;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        revamp_array_view view = view_of(data, N), part = range_of(view, 5, 100);
        step_on(&p, view);
        step_on(&p, part);
        step_naive(expected, N, 1);
        step_naive(expected + 5, 100, 1);
        if (i % 2) w->good = w->good && !memcmp(read_on_host(view), expected, BYTES);
        drop(part);
        drop(view);
        w->good = w->good && !memcmp(data, expected, BYTES);
    }
    return NULL;
}

TEST(threads_with_separate_data) {
    FOR_EACH_RUNNER(p) {
        worker workers[THREADS];
        pthread_t threads[THREADS];
        /* Loads the kernel before the threads use it. */
        revamp_array_view first = view_of(numbers(N, 1), N);
        step_on(p, first);
        drop(first);
        for (unsigned i = 0; i < THREADS; i++) {
            workers[i] = (worker){p, NULL, i + 1, false};
            REQUIRE(!pthread_create(&threads[i], NULL, work, &workers[i]));
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            CHECK(workers[i].good);
        }
    }
}

static void *work_on_part(void *context) {
    worker *w = context;
    const place p = *w->p;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        step_on(&p, w->view);
        if (i % 3 == 0) step_on_host(w->view);
    }
    return NULL;
}

TEST(threads_with_disjoint_parts_of_one_source) {
    FOR_EACH_RUNNER(p) {
        worker workers[THREADS];
        pthread_t threads[THREADS];
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        static const int32_t plane[] = {20, 50}, block[] = {20, 10};
        revamp_array_view view = view_of_host(data, 2, plane, 4);
        touch_first_on(p, view, expected[0]);
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (worker){p, part_of(view, (const int32_t[]){0, i * 10}, block), 0, false};
            REQUIRE(!pthread_create(&threads[i], NULL, work_on_part, &workers[i]));
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            drop(workers[i].view);
        }
        for (size_t y = 0; y < 20; y++)
            step_naive(expected + y * 50, (size_t)THREADS * 10, THREAD_ROUNDS + (THREAD_ROUNDS + 2) / 3);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

static void *release_on_thread(void *context) {
    revamp_array_view view = context;
    drop(view);
    return NULL;
}

TEST(a_view_is_released_on_another_thread) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        pthread_t thread;
        revamp_array_view view = view_of(data, N);
        step_on(p, view);
        REQUIRE(!pthread_create(&thread, NULL, release_on_thread, view));
        pthread_join(thread, NULL);
        step_naive(expected, N, 1);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(many_views_of_one_source) {
    enum { PARTS = 2000 };
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), *parts = memory(PARTS * sizeof *parts);
        for (int i = 0; i < PARTS; i++)
            parts[i] = range_of(view, i % 990, 10);
        for (int i = 0; i < PARTS; i += 40) {
            step_on(p, parts[i]);
            step_naive(expected + i % 990, 10, 1);
        }
        CHECK_SAME(read_on_host(view), expected, BYTES);
        step_on(p, view);
        for (int i = 0; i < PARTS; i++)
            drop(parts[i]);
        drop(view);
        step_naive(expected, N, 1);
        CHECK_SAME(data, expected, BYTES);
    }
}
