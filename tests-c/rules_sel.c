/* Choice of accelerator_view (rules SEL) as far as the C API has what they speak of: arrays, not yet array_view. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 500 };

static revamp_accelerator_view second_view(const place *p) {
    return new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
}

TEST(SEL_1_a_launch_runs_on_the_view_it_names) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_accelerator_view view = second_view(p);
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(view, expected, N);
        revamp_completion marker = NULL;
        CHECK_OK(launch_step(view, step, array));
        /* The view's own marker is behind the kernel. */
        REQUIRE_OK(revamp_accelerator_view_create_marker(view, &marker));
        expect_done(marker);
        step_naive(expected, N, 1);
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_accelerator_view_release(view));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(SEL_3_an_array_stays_on_its_view) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_accelerator_view view = second_view(p);
        revamp_array array = array_with(view, numbers(N, 1), N), other = array_with(p->view, numbers(N, 2), N);
        revamp_region from = whole(other), to = whole(array);
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_OK(revamp_copy(&to, &from));
        CHECK(array_info(array).view == view);
        CHECK(array_info(other).view == p->view);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(other));
        CHECK_OK(revamp_accelerator_view_release(view));
    }
}

TEST(SEL_4_an_array_of_another_view_is_an_error) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_accelerator_view view = second_view(p);
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(view, expected, N), host = array_with(host_view(), expected, N);
        /* Also though both views belong to one accelerator. */
        CHECK_FAILS(launch_step(p->view, step, array), AS_RUNTIME, "view");
        CHECK_FAILS(launch_step(p->view, step, host), AS_RUNTIME, "view");
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(host));
        CHECK_OK(revamp_accelerator_view_release(view));
        CHECK_OK(revamp_kernel_release(step));
    }
}

static void must_not_run(const revamp_thread_id *id, void *context) {
    (void)id;
    check_fail(__FILE__, __LINE__, "%s ran", (const char *)context);
}

TEST(SEL_4_a_host_kernel_refuses_an_array_of_another_view) {
    revamp_accelerator_view view = new_view(find("direct3d\\warp"), REVAMP_QUEUING_MODE_AUTOMATIC);
    revamp_array array = array_1d(view, N, 4);
    revamp_argument argument = revamp_argument_buffer(0, array);
    revamp_host_dispatch_info info = {0};
    int32_t one = 1;
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &one;
    info.function = must_not_run;
    info.context = "a refused launch";
    info.arguments = &argument;
    info.argument_count = 1;
    CHECK_FAILS(revamp_host_dispatch(host_view(), &info), AS_RUNTIME, "view");
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_accelerator_view_release(view));
}

static void check_selected(const place *p, revamp_accelerator_view chosen) {
    revamp_kernel step = load(p->accelerator, &step_module);
    revamp_accelerator_view view = second_view(p);
    uint32_t *expected = numbers(N, 1);
    revamp_array array = array_with(view, expected, N);
    for (int i = 0; i < 5; i++)
        CHECK_OK(launch_step(chosen, step, array));
    /* It was queued on the array's view: waiting for that view is enough, and for others changes nothing. */
    CHECK_OK(revamp_accelerator_view_wait(view));
    step_naive(expected, N, 5);
    CHECK_SAME(read_array(array), expected, N * 4);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_accelerator_view_release(view));
    CHECK_OK(revamp_kernel_release(step));
}

TEST(SEL_5_without_a_view_the_arrays_decide) {
    revamp_accelerator_view automatic = NULL;
    some_place(runs_spirv);
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&automatic));
    FOR_EACH_PLACE(p, runs_spirv) {
        check_selected(p, NULL);
        check_selected(p, automatic);
    }
}

TEST(SEL_6_without_a_view_arrays_of_two_views_are_an_error) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel sets = load(p->accelerator, &sets_module);
        revamp_accelerator_view view = second_view(p);
        int32_t extent = N;
        revamp_array a = array_with(p->view, numbers(N, 1), N), b = array_with(view, numbers(N, 2), N);
        revamp_array out = array_1d(p->view, N, 4);
        revamp_argument arguments[] = {revamp_argument_buffer(0, a), in_set(revamp_argument_buffer(0, b), 1),
                                       in_set(revamp_argument_buffer(3, out), 2)};
        CHECK_FAILS(launch(NULL, sets, 1, &extent, arguments, 3), AS_RUNTIME, "view");
        arguments[1].array = a;
        CHECK_OK(launch(NULL, sets, 1, &extent, arguments, 3));
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
        CHECK_OK(revamp_array_destroy(out));
        CHECK_OK(revamp_accelerator_view_release(view));
        CHECK_OK(revamp_kernel_release(sets));
    }
}

TEST(SEL_8_without_view_and_arrays_the_kernels_accelerator_runs_it) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel empty = load(p->accelerator, &empty_module);
        CHECK_OK(launch_groups(NULL, empty, 3, 1, 1, NULL, 0));
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        CHECK_OK(revamp_kernel_release(empty));
    }
}

TEST(a_kernel_runs_on_the_accelerator_it_was_loaded_on_only) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel empty = load(p->accelerator, &empty_module);
        FOR_EACH_PLACE(q, runs_spirv)
        if (q->accelerator != p->accelerator)
            CHECK_FAILS(launch_groups(q->view, empty, 1, 1, 1, NULL, 0), AS_BAD, "accelerator");
        CHECK_FAILS(launch_groups(host_view(), empty, 1, 1, 1, NULL, 0), AS_BAD | AS_UNSUPPORTED, "");
        CHECK_OK(revamp_kernel_release(empty));
    }
}

TEST(SEL_20_a_copy_takes_places_as_they_are) {
    FOR_EACH_PLACE(p, holds_arrays)
    FOR_EACH_PLACE(q, holds_arrays) {
        uint32_t *expected = numbers(N, 1);
        revamp_array from = array_with(p->view, expected, N), to = array_1d(q->view, N, 4);
        revamp_region a = whole(from), b = whole(to);
        CHECK_OK(revamp_copy(&a, &b));
        CHECK_SAME(read_array(to), expected, N * 4);
        CHECK(array_info(from).view == p->view && array_info(to).view == q->view);
        CHECK_OK(revamp_array_destroy(from));
        CHECK_OK(revamp_array_destroy(to));
    }
}

/* C has no array = array; copy is what it must do, and it is synchronous: the source may change right after. */
TEST(SEL_29_an_array_copy_is_done_when_it_returns) {
    enum { LENGTH = 1 << 20 };
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *first = numbers(LENGTH, 1), *second = numbers(LENGTH, 2);
        revamp_array from = array_with(p->view, first, LENGTH), to = array_1d(cpu_view(), LENGTH, 4);
        uint32_t *data = data_of(to, REVAMP_ACCESS_READ_WRITE);
        revamp_region a = whole(from), b = whole(to);
        CHECK_OK(revamp_copy(&a, &b));
        CHECK_SAME(data_of(to, REVAMP_ACCESS_READ), first, LENGTH * 4);
        write_array(from, second);
        CHECK_SAME(data_of(to, REVAMP_ACCESS_READ), first, LENGTH * 4);
        (void)data;
        CHECK_OK(revamp_array_destroy(from));
        CHECK_OK(revamp_array_destroy(to));
    }
}
