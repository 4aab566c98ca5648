/* Tests of array_views and of accesses to them (rules AV). A view's *home* is the memory of its data source. If an
 * accelerator has separate memory (REVAMP_MEMORY=separate, or a GPU), the tests check the exact number of moved bytes.
 * If the accelerator shares the home's memory, no bytes move. The valid locations follow the rules in both cases. */
#include "logged_errors.h"
#include "views.h"

#include <string.h>

enum { N = 1000, BYTES = N * 4 };

static void check_array_home(const place *home, const place *p) {
    uint32_t *expected = numbers(N, 2);
    revamp_array array = array_with(home->view, expected, N);
    revamp_array_view view = view_of_array(array);
    step_on(p, view);
    step_on_host(view);
    step_on(p, view);
    step_naive(expected, N, 3);
    CHECK_SAME(read_on_host(view), expected, BYTES);
    drop(view);
    CHECK_SAME(read_array(array), expected, BYTES);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(AV_1_a_view_refers_to_memory_and_needs_no_transfer_calls) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N + 1, 1), *expected = numbers(N + 1, 1);
        for (int shift = 0; shift < 2; shift++) {
            /* The memory needs only the alignment of the elements. */
            revamp_array_view view = view_of(data + shift, N);
            step_on(p, view);
            CHECK(host_access(view, REVAMP_ACCESS_READ) == data + shift);
            step_naive(expected + shift, N, 1);
            CHECK_SAME(data, expected, BYTES + 4);
            drop(view);
            CHECK_SAME(data, expected, BYTES + 4);
        }
        FOR_EACH_PLACE(home, holds_arrays) check_array_home(home, p);
        revamp_array staging = staging_array(cpu_view(), p->view, 1, (const int32_t[]){N}, 4);
        revamp_array_view view = view_of_array(staging);
        write_array(staging, data);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(view);
        CHECK_OK(revamp_array_destroy(staging));
    }
}

TEST(AV_1_views_are_bound_as_storage_buffers) {
    FOR_EACH_PLACE(p, runs_spirv) {
        enum { COUNT_X = 777 };
        static const int32_t extent = COUNT_X;
        struct {
            float a;
            uint32_t n;
        } values = {2, COUNT_X};
        revamp_kernel saxpy = load(p->accelerator, &saxpy_module);
        for (int shift = 0; shift < 2; shift++) {
            float *x = (float *)numbers(COUNT_X + 1, 1) + shift, *y = (float *)numbers(COUNT_X + 1, 1) + shift;
            float expected[COUNT_X];
            for (int i = 0; i < COUNT_X; i++) {
                x[i] = (float)i;
                y[i] = 0.5F * (float)i;
                expected[i] = 2 * x[i] + y[i];
            }
            revamp_array_view view_x = const_view_of(x, COUNT_X), view_y = view_of(y, COUNT_X);
            revamp_argument arguments[] = {revamp_argument_view(0, view_x), revamp_argument_view(1, view_y),
                                           revamp_argument_push_constant(0, &values, sizeof values)};
            CHECK_OK(launch(p->view, saxpy, 1, &extent, arguments, 3));
            drop(view_x);
            drop(view_y);
            CHECK_SAME(y, expected, sizeof expected);
        }
        CHECK_OK(revamp_kernel_release(saxpy));
    }
}

TEST(AV_1_the_length_of_a_bound_view_is_its_own) {
    FOR_EACH_PLACE(p, runs_spirv) {
        /* The launch has more invocations than elements. The kernel checks the length of the buffer. */
        static const int32_t extent = 4096;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array_view view = view_of(data, N), part = range_of(view, 256, 300);
        revamp_argument argument = revamp_argument_view(0, part);
        CHECK_OK(launch(p->view, step, 1, &extent, &argument, 1));
        step_naive(expected + 256, 300, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        argument.view = view;
        CHECK_OK(launch(p->view, step, 1, &extent, &argument, 1));
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(part);
        drop(view);
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(AV_2_a_capture_transfers_what_is_not_there) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        CHECK_NUMBER(source_transfers(view).implicit_to_bytes, 0);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_NOTHING_MOVED(&m);
        drop(view);
    }
}

TEST(AV_3_the_second_kernel_moves_nothing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *x = numbers(N, 1), *y = numbers(N, 2), *expected = numbers(N, 2);
        revamp_array_view view_x = const_view_of(x, N), view_y = view_of(y, N);
        meter of_x = meter_of(view_x), of_y = meter_of(view_y);
        const capture a = {view_x, NULL, 0}, b = {view_y, NULL, 0};
        REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
        CHECK_MOVED(&of_x, bytes_if_separate(view_x, p, BYTES), 0);
        CHECK_MOVED(&of_y, bytes_if_separate(view_y, p, BYTES), 0);
        for (int i = 0; i < 5; i++) {
            REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
            step_on(p, view_y);
            CHECK_NOTHING_MOVED(&of_x);
            CHECK_NOTHING_MOVED(&of_y);
        }
        memcpy(expected, x, BYTES);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view_y), expected, BYTES);
        CHECK_MOVED(&of_y, 0, bytes_if_separate(view_y, p, BYTES));
        CHECK_NOTHING_MOVED(&of_x);
        drop(view_x);
        drop(view_y);
    }
}

TEST(AV_4_host_access_brings_the_data_back_before_it_returns) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        for (int i = 0; i < 20; i++) {
            step_on(p, view);
            step_naive(expected, N, 1);
            CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
            CHECK(host_access(view, REVAMP_ACCESS_READ_WRITE) == data);
            CHECK_SAME(data, expected, BYTES);
            CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        }
        drop(view);
    }
}

TEST(AV_4_host_access_to_an_array_elsewhere) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array);
        meter m = meter_of(view);
        const uint64_t moved = bytes_if_separate(view, &host, BYTES);
        step_on(p, view);
        CHECK_NOTHING_MOVED(&m);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, moved);
        step_on_host(view);
        step_naive(expected, N, 1);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, moved, 0);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* After the host has read the view, the host may read it without another call, until a copy writes to the view. */
TEST(AV_4_a_copy_ends_the_access_of_the_host_without_a_call) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = N;
        uint32_t *sent = numbers(N, 2);
        const uint32_t *state = NULL;
        revamp_array array = array_with(p->view, numbers(N, 1), N);
        revamp_array_view view = view_of_array(array);
        revamp_region from = host_region(sent, 1, &extent, 4), to = region_of(view);
        REQUIRE_OK(revamp_array_view_get_host_access(view, &state));
        host_access(view, REVAMP_ACCESS_READ);
        CHECK_NUMBER(__atomic_load_n(state, __ATOMIC_ACQUIRE), REVAMP_HOST_MAY_READ);
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_NUMBER(__atomic_load_n(state, __ATOMIC_ACQUIRE), 0);
        CHECK_SAME(read_on_host(view), sent, BYTES);
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(AV_5_shared_memory_moves_nothing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of(data, N), array_alias = view_of_array(array);
        meter m = meter_of(NULL), view_meter = meter_of(view);
        /* An array's own accelerator uses the array's memory directly, in every mode. */
        CHECK(residency_at(array_alias, p).shares_home);
        if (has_separate_memory()) {
            CHECK(!residency_at(view, p).shares_home);
        } else if (p->info.is_emulated) {
            /* Software devices work in the host's memory. */
            CHECK(residency_at(view, p).shares_home);
            CHECK_NUMBER(residency_at(view, p).allocated_bytes, 0);
        }
        step_on(p, array_alias);
        CHECK_NOTHING_MOVED(&m);
        for (int i = 0; i < 3; i++) {
            step_on(p, view);
            step_on_host(view);
            CHECK_MOVED(&view_meter, bytes_if_separate(view, p, BYTES), bytes_if_separate(view, p, BYTES));
        }
        /* The values are the same in all modes. */
        step_naive(expected, N, 6);
        CHECK_SAME(data, expected, BYTES);
        drop(view);
        drop(array_alias);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(AV_6_a_view_covers_a_part_and_is_used_everywhere) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_accelerator_view immediate = new_view(p->accelerator, REVAMP_QUEUING_MODE_IMMEDIATE);
        const place other = on_view(p, immediate);
        revamp_array_view view = view_of(data + 100, 300), part = range_of(view, 7, 100);
        CHECK_NUMBER(bytes_of(view), 1200);
        for (int i = 0; i < 3; i++) {
            step_on(p, part);
            step_on(&other, part);
            step_on_host(part);
            step_on(&other, view);
        }
        step_naive(expected + 107, 100, 9);
        step_naive(expected + 100, 300, 3);
        /* Each step applies 3 n + 1, so the order does not matter. The elements of `part` get 12 steps. */
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
        CHECK_OK(revamp_accelerator_view_release(immediate));
    }
}

TEST(AV_6_a_view_is_used_by_two_accelerators) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 600, 10);
        for (int i = 0; i < 5; i++) {
            step_on(p, view);
            step_on(q, part);
            step_on_host(view);
            step_on(q, view);
            step_on(p, part);
        }
        step_naive(expected, N, 15);
        step_naive(expected + 600, 10, 10);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(part);
        drop(view);
    }
}

TEST(AV_7_the_data_source_of_an_array_is_the_array) {
    FOR_EACH_PLACE(home, holds_arrays)
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(home->view, expected, N), other = array_1d(home->view, N, 4);
        revamp_array_view view = view_of_array(array), same_source = view_of_array(array),
                          different = view_of_array(other);
        revamp_array_view_info info = array_view_info(view);
        CHECK(info.source_view == home->view);
        CHECK(info.source_id != 0);
        CHECK_NUMBER(array_view_info(same_source).source_id, info.source_id);
        CHECK(array_view_info(different).source_id != info.source_id);
        CHECK_NUMBER(info.element_count, N);
        CHECK_NUMBER(info.offset, 0);
        step_on(p, view);
        /* The view's home is the array, which gets the changes. */
        CHECK_OK(revamp_array_view_synchronize(same_source, REVAMP_ACCESS_READ));
        step_naive(expected, N, 1);
        CHECK_SAME(read_array(array), expected, BYTES);
        drop(view);
        drop(same_source);
        drop(different);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(other));
    }
}

TEST(AV_8_the_data_source_of_memory_is_the_first_view) {
    uint32_t *data = numbers(N, 1);
    revamp_array_view first = view_of(data, N), second = view_of(data, N), part = range_of(first, 10, 20);
    revamp_array_view nested = range_of(part, 1, 2), constant = read_only(first);
    const uint64_t id = array_view_info(first).source_id;
    CHECK(id != 0);
    CHECK(array_view_info(second).source_id != id);
    CHECK_NUMBER(array_view_info(part).source_id, id);
    CHECK_NUMBER(array_view_info(nested).source_id, id);
    CHECK_NUMBER(array_view_info(constant).source_id, id);
    CHECK(array_view_info(first).source_view == cpu_view());
    CHECK(array_view_info(nested).source_view == cpu_view());
    /* The source lives as long as any view of it. */
    drop(first);
    CHECK_NUMBER(array_view_info(nested).source_id, id);
    CHECK(host_access(nested, REVAMP_ACCESS_READ) == data + 11);
    drop(part);
    drop(constant);
    drop(second);
    drop(nested);
}

TEST(AV_9_all_views_of_an_array_are_coherent) {
    FOR_EACH_PLACE(home, holds_arrays)
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(10, 1);
        revamp_array array = array_with(home->view, expected, 10);
        revamp_array_view view = view_of_array(array), part = range_of(view, 0, 5), two = range_of(part, 2, 1);
        revamp_array_view alias = view_of_array(array);
        /* Creates copies that could become stale. */
        CHECK_SAME(read_on_host(view), expected, 40);
        CHECK_SAME(read_on(p, alias), expected, 40);
        fill_on(p, two, 4711);
        expected[2] = 4711;
        CHECK_SAME(read_on_host(view), expected, 40);
        CHECK_SAME(read_on_host(alias), expected, 40);
        CHECK_SAME(read_on(p, view), expected, 40);
        fill_on_host(alias, 99);
        fill_naive(expected, 10, 99);
        CHECK_SAME(read_on(p, part), expected, 20);
        CHECK_SAME(read_on_host(part), expected, 20);
        drop(view);
        drop(part);
        drop(two);
        CHECK_SAME(read_on(p, alias), expected, 40);
        drop(alias);
        CHECK_SAME(read_array(array), expected, 40);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(AV_9_views_of_an_array_are_coherent_between_accelerators) {
    FOR_EACH_PLACE(home, holds_arrays)
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(home->view, expected, N);
        revamp_array_view view = view_of_array(array), alias = view_of_array(array), part = range_of(alias, 300, 5);
        for (int i = 0; i < 3; i++) {
            step_on(p, view);
            step_on(q, part);
            step_on(q, alias);
            step_on_host(part);
        }
        step_naive(expected, N, 6);
        step_naive(expected + 300, 5, 6);
        CHECK_SAME(read_on(p, alias), expected, BYTES);
        drop(view);
        drop(part);
        drop(alias);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(AV_10_two_top_level_views_of_one_memory_do_no_harm) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view first = view_of(data, N), second = view_of(data, N);
        /* If the views are used in turn, with refresh and synchronize, both give the right values. */
        for (int i = 0; i < 3; i++) {
            revamp_array_view turn = i % 2 ? second : first;
            CHECK_OK(revamp_array_view_refresh(turn));
            step_on(p, turn);
            step_naive(expected, N, 1);
            CHECK_OK(revamp_array_view_synchronize(turn, REVAMP_ACCESS_READ));
            CHECK_SAME(data, expected, BYTES);
        }
        /* Mixed use may give any result, but no crash. */
        step_on(p, first);
        step_on(p, second);
        (void)read_on_host(first);
        step_on(p, first);
        drop(first);
        drop(second);
    }
    full_job();
}

TEST(AV_11_an_alias_shares_the_data_source) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), alias = part_of(view, NULL, NULL), same = read_only(view);
        /* Retaining the handle counts as copying the view, too. */
        CHECK_OK(revamp_array_view_retain(view));
        CHECK_NUMBER(array_view_info(alias).source_id, array_view_info(view).source_id);
        for (int i = 0; i < 3; i++) {
            step_on(p, alias);
            step_naive(expected, N, 1);
            CHECK_NUMBER(valid_at(view, &host), 0);
            CHECK_SAME(read_on_host(view), expected, BYTES);
            step_on_host(view);
            step_naive(expected, N, 1);
            CHECK_SAME(read_on(p, same), expected, BYTES);
            CHECK_SAME(read_on_host(same), expected, BYTES);
        }
        drop(view);
        step_on(p, view);
        drop(view);
        drop(alias);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(same), expected, BYTES);
        drop(same);
    }
}

TEST(AV_12_a_read_only_capture_is_a_read) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = const_view_of(data, N);
        meter m = meter_of(view);
        revamp_array result = array_1d(p->view, N, 4);
        const capture a = {view, NULL, 0}, b = {NULL, result, 0};
        CHECK(array_view_info(view).read_only);
        REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        CHECK_SAME(read_array(result), expected, BYTES);
        /* The data is valid both on the accelerator and on the host. */
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
        CHECK_NOTHING_MOVED(&m);
        wait_at(p);
        drop(view);
        CHECK_OK(revamp_array_destroy(result));
    }
}

TEST(AV_12_a_read_only_view_is_not_written) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = N;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = const_view_of(data, N), part = range_of(view, 3, 4);
        const capture none = {NULL, NULL, 0};
        for (uint32_t access = REVAMP_ACCESS_WRITE; access <= REVAMP_ACCESS_READ_WRITE; access++) {
            const capture whole_view = {view, NULL, access}, section_of_it = {part, NULL, access};
            CHECK_FAILS(try_use(p, OPERATION_STEP, whole_view, none, 0), AS_ARGUMENT, "read");
            CHECK_FAILS(try_use(p, OPERATION_STEP, section_of_it, none, 0), AS_ARGUMENT, "read");
        }
        if (runs_spirv(&p->info)) {
            revamp_kernel step = load(p->accelerator, &step_module), fill = load(p->accelerator, &fill_module);
            const uint32_t value = 1;
            revamp_argument arguments[] = {revamp_argument_view(0, view),
                                           revamp_argument_push_constant(0, &value, sizeof value)};
            CHECK_FAILS(launch(p->view, step, 1, &extent, arguments, 1), AS_ARGUMENT, "read");
            CHECK_FAILS(launch(p->view, fill, 1, &extent, arguments, 2), AS_ARGUMENT, "read");
            CHECK_OK(revamp_kernel_release(step));
            CHECK_OK(revamp_kernel_release(fill));
        }
        wait_at(p);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(view);
        drop(part);
    }
}

TEST(AV_13_a_capture_is_read_and_written) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        /* The kernel writes one number. The whole view moves to the accelerator and becomes invalid on the host. */
        touch_first_on(p, view, 77);
        expected[0] = 77;
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_NUMBER(valid_at(view, &host), 0);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        drop(view);
    }
}

TEST(AV_13_a_kernel_that_only_writes_may_leave_elements_out) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const int32_t extent = 64;
        const uint32_t value = 5;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_kernel fill = load(p->accelerator, &fill_module);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        revamp_argument arguments[] = {revamp_argument_view(0, view),
                                       revamp_argument_push_constant(0, &value, sizeof value)};
        /* Only one workgroup runs, so the kernel writes 64 of the 1000 elements. */
        CHECK_OK(launch(p->view, fill, 1, &extent, arguments, 2));
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        for (int i = 0; i < 64; i++)
            expected[i] = value;
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        /* If the launch promises to write all elements, no elements move to the accelerator. */
        step_on_host(view);
        arguments[0].access = REVAMP_ACCESS_WRITE;
        const int32_t all = N;
        CHECK_OK(launch(p->view, fill, 1, &all, arguments, 2));
        CHECK_NOTHING_MOVED(&m);
        for (int i = 0; i < N; i++)
            expected[i] = value;
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(view);
        CHECK_OK(revamp_kernel_release(fill));
    }
}

TEST(AV_14_a_capture_after_discard_is_a_write) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = memory(BYTES);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_discard_data(view));
        fill_on(p, view, 5);
        CHECK_NOTHING_MOVED(&m);
        fill_naive(expected, N, 5);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        /* The discard applied to one launch only. The next launch needs the contents again. */
        step_on_host(view);
        step_on(p, view);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        step_naive(expected, N, 2);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(AV_14_a_promise_to_write_all_moves_nothing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = memory(BYTES);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        write_on(p, view, 5);
        CHECK_NOTHING_MOVED(&m);
        fill_naive(expected, N, 5);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(AV_14_an_output_from_one_accelerator_is_not_fetched_for_another) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = numbers(N, 1), *expected = memory(BYTES);
        revamp_array_view view = view_of(data, N);
        step_on(p, view);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_discard_data(view));
        fill_on(q, view, 9);
        CHECK_NOTHING_MOVED(&m);
        write_on(p, view, 10);
        CHECK_NOTHING_MOVED(&m);
        fill_naive(expected, N, 10);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        drop(view);
    }
}

TEST(AV_15_the_source_of_a_copy_is_read) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = N;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *got = memory(BYTES);
        revamp_array_view view = view_of(data, N);
        revamp_region from = region_of(view), to = host_region(got, 1, &extent, 4);
        revamp_completion done = NULL;
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_SAME(got, expected, BYTES);
        memset(got, 0, BYTES);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        expect_done(done);
        CHECK_SAME(got, expected, BYTES);
        /* Copying was a read, so the accelerator's data is still valid. */
        (void)moved_since(&m);
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_NOTHING_MOVED(&m);
        /* The source may be a read-only view. */
        revamp_array_view constant = read_only(view);
        from.view = constant;
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_SAME(got, expected, BYTES);
        drop(constant);
        drop(view);
    }
}

/* No location has the whole view, because the accelerator has written half of the view. */
TEST(AV_15_a_copy_reads_parts_that_are_valid_at_different_locations) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = N;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *got = memory(BYTES);
        revamp_array_view view = view_of(data, N), half = range_of(view, 0, N / 2);
        revamp_region from = region_of(view), to = host_region(got, 1, &extent, 4);
        step_on(p, half);
        step_naive(expected, N / 2, 1);
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_SAME(got, expected, BYTES);
        drop(half);
        drop(view);
    }
}

TEST(AV_15_the_destination_of_a_copy_is_written) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = N;
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *sent = numbers(N, 2);
        revamp_array_view view = view_of(data, N), constant = read_only(view);
        revamp_region from = host_region(sent, 1, &extent, 4), to = region_of(view);
        revamp_completion done = NULL;
        step_on(p, view);
        meter m = meter_of(view);
        CHECK_OK(revamp_copy(&from, &to));
        /* The copy writes the home, fetches no old contents, and makes the accelerator's copy invalid. */
        revamp_transfer_counters moved = moved_since(&m);
        CHECK_NUMBER(moved.implicit_from_bytes + moved.explicit_from_bytes, 0);
        CHECK_NUMBER(moved.implicit_to_bytes + moved.explicit_to_bytes, 0);
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        CHECK_NUMBER(valid_at(view, p), 0);
        CHECK_SAME(data, sent, BYTES);
        CHECK_SAME(read_on(p, view), sent, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        step_on(p, view);
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
        expect_done(done);
        CHECK_SAME(read_on(p, view), sent, BYTES);
        CHECK_SAME(read_on_host(view), sent, BYTES);
        to.view = constant;
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "read");
        done = NULL;
        CHECK_FAILS(revamp_copy_async(&from, &to, NULL, &done), AS_BAD, "read");
        CHECK(!done);
        drop(view);
        drop(constant);
        CHECK_SAME(data, sent, BYTES);
    }
}

TEST(AV_15_a_copy_to_a_section_keeps_the_rest) {
    FOR_EACH_RUNNER(p) {
        static const int32_t extent = 100;
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *sent = numbers(100, 2);
        revamp_array_view view = view_of(data, N), part = range_of(view, 450, 100);
        revamp_region from = host_region(sent, 1, &extent, 4), to = region_of(part);
        step_on(p, view);
        CHECK_OK(revamp_copy(&from, &to));
        step_naive(expected, N, 1);
        memcpy(expected + 450, sent, 400);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(AV_16_host_access_to_a_read_only_view_is_a_read) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        void *ignored = NULL;
        revamp_array_view view = view_of(data, N), constant = read_only(view);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK(host_access(constant, REVAMP_ACCESS_READ) == data);
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_SAME(read_on(p, constant), expected, BYTES);
        step_on(p, view);
        CHECK_NOTHING_MOVED(&m);
        CHECK_FAILS(revamp_array_view_data(constant, REVAMP_ACCESS_WRITE, &ignored), AS_BAD, "read");
        CHECK_FAILS(revamp_array_view_data(constant, REVAMP_ACCESS_READ_WRITE, &ignored), AS_BAD, "read");
        CHECK(!ignored);
        drop(constant);
        drop(view);
    }
}

TEST(AV_17_host_access_to_a_view_is_read_and_written) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        /* The host writes nothing, and yet the accelerator's copy becomes invalid. */
        CHECK_SAME(host_access(view, REVAMP_ACCESS_READ_WRITE), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        CHECK_NUMBER(valid_at(view, p), 0);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        /* A write-only access does not fetch the old contents. */
        step_on(p, view);
        fill_on_host(view, 3);
        CHECK_NOTHING_MOVED(&m);
        fill_naive(expected, N, 3);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        drop(view);
    }
}

TEST(AV_18_synchronize_is_a_read) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_completion done = NULL;
        revamp_array_view view = view_of(data, N), constant = read_only(view);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED_BY_CALL(&m, 0, bytes_if_separate(view, p, BYTES));
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        CHECK_OK(revamp_array_view_synchronize(constant, REVAMP_ACCESS_READ));
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(valid_at(view, p), BYTES);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_NOTHING_MOVED(&m);
        REQUIRE_OK(revamp_array_view_synchronize_async(constant, REVAMP_ACCESS_READ, NULL, &done));
        expect_done(done);
        CHECK_SAME(data, expected, BYTES);
        CHECK_MOVED_BY_CALL(&m, 0, bytes_if_separate(view, p, BYTES));
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_NOTHING_MOVED(&m);
        drop(constant);
        drop(view);
    }
}

TEST(AV_19_refresh_is_a_write) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        meter m = meter_of(view);
        step_naive(data, N, 1);
        CHECK_OK(revamp_array_view_refresh(view));
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(valid_at(view, p), 0);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* The values depend on REVAMP_MEMORY: see docs/spec/array-views.md#shared-memory. */
TEST(AV_5_AV_19_refresh_undoes_nothing_in_shared_memory) {
    FOR_EACH_RUNNER(p)
    for (int from_host = 0; from_host < 2; from_host++) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 200, 500);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        if (has_separate_memory()) CHECK(has_own_memory);
        if (!has_separate_memory() && p->info.is_emulated) CHECK(!has_own_memory);
        step_on(p, view);
        wait_at(p);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_refresh(part));
        CHECK_NOTHING_MOVED(&m);
        step_naive(expected, 200, 1);
        if (!has_own_memory) step_naive(expected + 200, 500, 1);
        step_naive(expected + 700, 300, 1);
        if (from_host)
            CHECK_SAME(read_on_host(view), expected, BYTES);
        else
            CHECK_SAME(read_on(p, view), expected, BYTES);
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(AV_20_deriving_a_view_is_no_access) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {40, 25}, origin[] = {3, 4}, extent[] = {5, 6}, all = N;
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), constant = read_only(view);
        for (int dirty = 0; dirty < 2; dirty++) {
            if (dirty)
                step_on(p, view);
            else
                CHECK_SAME(read_on(p, view), expected, BYTES);
            const uint64_t host_bytes = valid_at(view, &host), runner_bytes = valid_at(view, p);
            meter m = meter_of(view);
            revamp_array_view derived[6] = {part_of(view, origin, extent), row_of(view, 7), reshaped(view, 1, &all)};
            REQUIRE_OK(revamp_array_view_reinterpret_as(view, 8, &derived[3]));
            derived[4] = read_only(view);
            derived[5] = row_of(constant, 39);
            CHECK_OK(revamp_array_view_retain(view));
            CHECK_NOTHING_MOVED(&m);
            CHECK_NUMBER(valid_at(view, &host), host_bytes);
            CHECK_NUMBER(valid_at(view, p), runner_bytes);
            drop_all(derived, 6);
            drop(view);
            CHECK_NOTHING_MOVED(&m);
            CHECK_NUMBER(valid_at(view, &host), host_bytes);
            CHECK_NUMBER(valid_at(view, p), runner_bytes);
        }
        step_naive(expected, N, 1);
        drop(constant);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(AV_21_overlap_is_an_element_of_one_data_source) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), other_source = view_of(memory(BYTES), N);
        revamp_array_view written = range_of(view, 100, 100), before = range_of(view, 0, 100);
        revamp_array_view after = range_of(view, 200, 800), straddling = range_of(view, 199, 2),
                          inside = range_of(view, 150, 1);
        meter m = meter_of(view);
        step_on(p, written);
        step_naive(expected + 100, 100, 1);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 400), 0);
        CHECK_NUMBER(valid_at(before, &host), 400);
        CHECK_NUMBER(valid_at(after, &host), 3200);
        CHECK_NUMBER(valid_at(other_source, &host), BYTES);
        CHECK_NUMBER(valid_at(straddling, &host), 4);
        CHECK_NUMBER(valid_at(inside, &host), 0);
        CHECK_NUMBER(valid_at(view, &host), BYTES - 400);
        /* Meanwhile the host may use elements that do not overlap. */
        step_on_host(before);
        step_on_host(after);
        step_naive(expected, 100, 1);
        step_naive(expected + 200, 800, 1);
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(valid_at(written, p), 400);
        CHECK_SAME(read_on_host(straddling), expected + 199, 8);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, 4));
        CHECK_SAME(read_on_host(view), expected, BYTES);
        const revamp_array_view all[] = {straddling, inside, before, after, written, other_source, view};
        drop_all(all, COUNT(all));
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(AV_22_touching_one_element_is_an_access_to_all_of_the_view) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 500, 200), last = range_of(view, 699, 1);
        meter m = meter_of(view);
        touch_first_on(p, part, 1);
        expected[500] = 1;
        CHECK_MOVED(&m, bytes_if_separate(view, p, 800), 0);
        CHECK_NUMBER(valid_at(last, &host), 0);
        /* An access by the host has the same effect. */
        host_access(part, REVAMP_ACCESS_READ_WRITE)[0] = 2;
        expected[500] = 2;
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, 800));
        CHECK_NUMBER(valid_at(last, p), 0);
        drop(last);
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* Races that REVAMP_CHECK=1 reports. The tests run in child processes. */

static revamp_completion begin_copy_from(revamp_array_view view, void *to) {
    revamp_completion done = NULL;
    revamp_array_view_info info = array_view_info(view);
    revamp_region a = region_of(view), b = host_region(to, info.rank, info.extent, info.element_size);
    REQUIRE_OK(revamp_copy_async(&a, &b, NULL, &done));
    return done;
}

static revamp_completion begin_copy_to(revamp_array_view view, void *from) {
    revamp_completion done = NULL;
    revamp_array_view_info info = array_view_info(view);
    revamp_region a = host_region(from, info.rank, info.extent, info.element_size), b = region_of(view);
    REQUIRE_OK(revamp_copy_async(&a, &b, NULL, &done));
    return done;
}

static const char *dispatch_of(const place *p) {
    return runs_spirv(&p->info) ? "revamp_dispatch" : "revamp_parallel_for_each";
}

CHILD(accesses_at_the_same_time) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *other = numbers(N, 2);
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 50), constant = read_only(part);
        /* A write during a read of the same view. */
        revamp_completion done = begin_copy_from(view, other);
        step_on(p, view);
        CHECK_RACE("revamp_copy_async", dispatch_of(p));
        expect_done(done);
        wait_at(p);
        /* A read of a part during a write of the view. */
        done = begin_copy_to(view, other);
        (void)host_access(constant, REVAMP_ACCESS_READ);
        CHECK_RACE("revamp_copy_async", "revamp_array_view_data");
        expect_done(done);
        /* Two writes. */
        done = begin_copy_to(part, other);
        fill_on_host(view, 1);
        CHECK_RACE("revamp_copy_async", "revamp_array_view_data");
        expect_done(done);
        /* An asynchronous synchronize is a read. */
        step_on(p, view);
        CHECK_NO_RACE();
        REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done));
        step_on(p, part);
        CHECK_RACE("revamp_array_view_synchronize_async", dispatch_of(p));
        expect_done(done);
        /* Successive kernels are ordered automatically. */
        for (int i = 0; i < 5; i++) {
            step_on(p, view);
            step_on(p, part);
            step_on_host(view);
        }
        CHECK_NO_RACE();
        drop(constant);
        drop(part);
        drop(view);
        CHECK_NO_RACE();
    }
    full_job();
}

TEST(AV_23_accesses_at_the_same_time_one_a_write_are_a_race) {
    CHECK_CHILD("accesses_at_the_same_time", "REVAMP_CHECK=1", NULL);
}

CHILD(races_without_check) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *other = numbers(N, 2);
        revamp_array_view view = view_of(data, N);
        revamp_completion done[20];
        for (size_t i = 0; i < COUNT(done); i++) {
            done[i] = i % 2 ? begin_copy_to(view, other) : begin_copy_from(view, memory(BYTES));
            step_on(p, view);
        }
        for (size_t i = 0; i < COUNT(done); i++)
            expect_done(done[i]);
        drop(view);
        CHECK_NO_RACE();
    }
    full_job();
}

TEST(AV_23_a_race_does_no_other_harm) {
    CHECK_CHILD("races_without_check", "REVAMP_CHECK=", NULL);
}

CHILD(different_elements) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *other = numbers(N, 2);
        revamp_array_view view = view_of(data, N), first = range_of(view, 0, 600), second = range_of(view, 500, 500);
        revamp_array_view disjoint = range_of(view, 0, 500);
        /* The kernel touches only element 0, which is not in the other view. The views still overlap. */
        revamp_completion done = begin_copy_from(second, other);
        touch_first_on(p, first, 1);
        CHECK_RACE("revamp_copy_async", dispatch_of(p));
        expect_done(done);
        wait_at(p);
        /* Accesses to views that do not overlap are not a race. */
        done = begin_copy_from(second, other);
        step_on(p, disjoint);
        step_on_host(disjoint);
        CHECK_NO_RACE();
        expect_done(done);
        const revamp_array_view all[] = {first, second, disjoint, view};
        drop_all(all, 4);
        CHECK_NO_RACE();
    }
}

TEST(AV_24_a_race_needs_no_common_element_touched) {
    CHECK_CHILD("different_elements", "REVAMP_CHECK=1", NULL);
}

CHILD(disjoint_blocks) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, half[] = {20, 25}, origin[] = {0, 25};
        uint32_t *data = numbers(N, 1), *other = numbers(N, 2);
        revamp_array_view view = view_of_host(data, 2, plane, 4), left = part_of(view, NULL, half);
        revamp_array_view right = part_of(view, origin, half);
        revamp_completion done = begin_copy_from(left, other);
        step_on(p, right);
        CHECK_NO_RACE();
        expect_done(done);
        const revamp_array_view all[] = {left, right, view};
        drop_all(all, 3);
    }
}

TEST(AV_24_blocks_side_by_side_are_no_race) {
    CHECK_CHILD("disjoint_blocks", "REVAMP_CHECK=1", NULL);
}

CHILD(a_kernel_over_a_copy) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *other = memory(BYTES);
        revamp_array_view view1 = view_of(data, N), view2 = range_of(view1, 0, 600);
        revamp_completion done = begin_copy_from(view2, other);
        step_on(p, view1);
        CHECK_RACE("revamp_copy_async", dispatch_of(p));
        /* A later wait for the copy's completion does not undo the race. Accesses after the wait are legal. */
        expect_done(done);
        step_on(p, view1);
        CHECK_NO_RACE();
        drop(view2);
        drop(view1);
    }
}

TEST(AV_25_a_kernel_that_writes_during_a_copy_is_a_race) {
    CHECK_CHILD("a_kernel_over_a_copy", "REVAMP_CHECK=1", NULL);
}

CHILD(reads_at_the_same_time) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *got = memory(BYTES);
        revamp_array_view view1 = view_of(data, N), view2 = range_of(view1, 0, 600), constant = read_only(view1);
        for (int dirty = 0; dirty < 2; dirty++) {
            if (dirty) step_on(p, view1);
            step_naive(expected, N, (unsigned)dirty);
            revamp_completion done = begin_copy_from(view2, got);
            CHECK_SAME(host_access(constant, REVAMP_ACCESS_READ), expected, BYTES);
            /* A kernel may read at the same time, too. */
            CHECK_SAME(read_on(p, constant), expected, BYTES);
            CHECK_NO_RACE();
            expect_done(done);
            CHECK_SAME(got, expected, 2400);
        }
        const revamp_array_view all[] = {constant, view2, view1};
        drop_all(all, 3);
        CHECK_NO_RACE();
    }
}

TEST(AV_26_reads_at_the_same_time_are_legal) {
    CHECK_CHILD("reads_at_the_same_time", "REVAMP_CHECK=1", NULL);
    CHECK_CHILD("reads_at_the_same_time", "REVAMP_CHECK=", NULL);
}

CHILD(accesses_after_the_wait) {
    collect_errors();
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *other = numbers(N, 2);
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 50);
        for (int by_get = 0; by_get < 2; by_get++) {
            revamp_completion done = begin_copy_to(view, other);
            CHECK_OK(by_get ? revamp_completion_get(done) : revamp_completion_wait(done));
            step_on(p, part);
            memcpy(expected, other, BYTES);
            step_naive(expected + 100, 50, 1);
            CHECK_SAME(read_on_host(view), expected, BYTES);
            CHECK_NO_RACE();
            CHECK_OK(revamp_completion_release(done));
            REQUIRE_OK(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done));
            CHECK_OK(by_get ? revamp_completion_get(done) : revamp_completion_wait(done));
            step_on_host(view);
            step_on(p, view);
            CHECK_NO_RACE();
            CHECK_OK(revamp_completion_release(done));
        }
        drop(part);
        drop(view);
        CHECK_NO_RACE();
    }
}

TEST(AV_27_after_the_wait_access_is_legal) {
    CHECK_CHILD("accesses_after_the_wait", "REVAMP_CHECK=1", NULL);
}
