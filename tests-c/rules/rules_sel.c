/* Tests of how the library selects an accelerator_view (rules SEL). The tests check that the data written by a launch
 * is valid only at the selected accelerator_view. Locations differ only if accelerator_views have separate memory
 * (REVAMP_MEMORY=separate, or a GPU). */
#include "engines.h"

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
        /* A marker of the view completes after the kernel. */
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
        /* The launch fails even if both views belong to one accelerator. */
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
    revamp_accelerator_view view = new_view(find("host"), REVAMP_QUEUING_MODE_AUTOMATIC);
    revamp_array array = array_1d(view, N, 4);
    revamp_argument argument = revamp_argument_buffer(0, array);
    revamp_parallel_for_each_info info = {0};
    int32_t one = 1;
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &one;
    info.function = must_not_run;
    info.context = "a refused launch";
    info.arguments = &argument;
    info.argument_count = 1;
    CHECK_FAILS(revamp_parallel_for_each(host_view(), &info), AS_RUNTIME, "view");
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
    /* The launches were queued on the array's view, so waiting for that view is enough. */
    CHECK_OK(revamp_accelerator_view_wait(view));
    step_naive(expected, N, 5);
    CHECK_SAME(read_array(array), expected, N * 4);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_accelerator_view_release(view));
    CHECK_OK(revamp_kernel_release(step));
}

TEST(SEL_5_without_a_view_the_arrays_decide) {
    revamp_accelerator_view automatic = NULL;
    first_place_or_skip(runs_spirv);
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

TEST(a_kernel_runs_only_on_its_accelerator) {
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

/* C++ array assignment corresponds to revamp_copy() in C. The source may change right after the call. */
TEST(SEL_29_an_array_copy_is_done_when_it_returns) {
    enum { LENGTH = 1 << 20 };
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *first = numbers(LENGTH, 1), *second = numbers(LENGTH, 2);
        revamp_array from = array_with(p->view, first, LENGTH), to = array_1d(cpu_view(), LENGTH, 4);
        revamp_region a = whole(from), b = whole(to);
        CHECK_OK(revamp_copy(&a, &b));
        CHECK_SAME(data_of(to, REVAMP_ACCESS_READ), first, LENGTH * 4);
        write_array(from, second);
        CHECK_SAME(data_of(to, REVAMP_ACCESS_READ), first, LENGTH * 4);
        CHECK_OK(revamp_array_destroy(from));
        CHECK_OK(revamp_array_destroy(to));
    }
}

/* The copy waits for kernels that are queued before it. */
TEST(SEL_29_an_array_copy_waits_for_the_kernels_before_it) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(N, 1);
        revamp_array from = array_with(p->view, expected, N), to = array_1d(cpu_view(), N, 4);
        uint32_t *data = data_of(to, REVAMP_ACCESS_READ_WRITE);
        revamp_region a = whole(from), b = whole(to);
        for (int i = 0; i < 20; i++)
            CHECK_OK(launch_step(p->view, step, from));
        CHECK_OK(revamp_copy(&a, &b));
        step_naive(expected, N, 20);
        /* The data is right without a further wait or call. */
        CHECK_SAME(data, expected, N * 4);
        CHECK_OK(revamp_array_destroy(from));
        CHECK_OK(revamp_array_destroy(to));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Launches with array_views. */

enum { BYTES = N * 4 };

#define VALID(view, where) CHECK_NUMBER(valid_on(view, where), bytes_of(view))
#define INVALID(view, where) CHECK_NUMBER(valid_on(view, where), 0)

/* The default accelerator_view, two other accelerator_views, and two array_views whose data source is host memory. */
typedef struct {
    const engine *e;
    revamp_accelerator_view normal, first, second;
    uint32_t *a_data, *b_data, *a_numbers, *b_numbers;
    revamp_array_view a, b;
    bool is_separate; /* each accelerator_view has separate memory */
} scene;

static scene begin(const engine *e) {
    scene s = {e,
               e->p->view,
               second_view_of(e),
               second_view_of(e),
               numbers(N, 1),
               numbers(N, 2),
               numbers(N, 1),
               numbers(N, 2),
               NULL,
               NULL,
               false};
    s.a = view_of(s.a_data, N);
    s.b = view_of(s.b_data, N);
    s.is_separate = has_own_memory(s.a, s.normal);
    if (has_separate_memory()) CHECK(s.is_separate);
    CHECK(has_own_memory(s.a, s.first) == s.is_separate);
    return s;
}

static void end(scene *s) {
    drop(s->a);
    drop(s->b);
    /* The release of the views has written all data back to its home. */
    CHECK_SAME(s->a_data, s->a_numbers, BYTES);
    CHECK_SAME(s->b_data, s->b_numbers, BYTES);
    CHECK_OK(revamp_accelerator_view_release(s->first));
    CHECK_OK(revamp_accelerator_view_release(s->second));
}

static void prefetch(revamp_array_view view, revamp_accelerator_view where) {
    CHECK_OK(revamp_array_view_synchronize_to(view, where, REVAMP_ACCESS_READ));
}

/* Discards `b`, then computes b = a + 2 a in a launch that names no accelerator_view. */
static void sum_a_to_b(scene *s) {
    CHECK_OK(revamp_array_view_discard_data(s->b));
    CHECK_OK(run_sum(s->e, NULL, use_view(s->a), use_view(s->a), use_view(s->b)));
    sum_naive(s->a_numbers, s->a_numbers, s->b_numbers, N);
}

static void step_a(scene *s, revamp_accelerator_view target) {
    CHECK_OK(run_step(s->e, target, use_view(s->a)));
    step_naive(s->a_numbers, N, 1);
}

/* Checks that `view` is valid on `chosen` only, so it was last written there. */
static void expect_valid_only_on(const scene *s, revamp_array_view view, revamp_accelerator_view chosen) {
    const revamp_accelerator_view all[] = {s->normal, s->first, s->second, cpu_view()};
    for (size_t i = 0; s->is_separate && i < COUNT(all); i++)
        if (all[i] == chosen)
            VALID(view, all[i]);
        else
            INVALID(view, all[i]);
}

#define FOR_EACH_SCENE(s)                                                                                              \
    FOR_EACH_ENGINE(scene_engine)                                                                                      \
    for (scene s = begin(scene_engine); s.e; end(&s), s.e = NULL)

TEST(SEL_1_a_launch_with_views_runs_on_the_view_it_names) {
    FOR_EACH_SCENE(s) {
        step_a(&s, s.first);
        expect_valid_only_on(&s, s.a, s.first);
        step_a(&s, s.second);
        expect_valid_only_on(&s, s.a, s.second);
        step_a(&s, s.normal);
        expect_valid_only_on(&s, s.a, s.normal);
    }
}

TEST(SEL_2_a_named_view_gets_the_data_of_all_captured_views) {
    FOR_EACH_SCENE(s) {
        uint32_t *out = numbers(N, 3), *expected = numbers(N, 3);
        revamp_array_view written = view_of(out, N);
        meter m = meter_of(NULL);
        CHECK_OK(run_sum(s.e, s.first, use_view(s.a), use_view(s.b), use_view(written)));
        revamp_transfer_counters moved = moved_since(&m);
        VALID(s.a, s.first);
        VALID(s.b, s.first);
        expect_valid_only_on(&s, written, s.first);
        CHECK_NUMBER(moved.implicit_to_bytes, s.is_separate ? 3 * BYTES : 0);
        CHECK_NUMBER(moved.implicit_to_count, s.is_separate ? 3 : 0);
        CHECK_NUMBER(bytes_moved(moved), moved.implicit_to_bytes);
        sum_naive(s.a_numbers, s.b_numbers, expected, N);
        CHECK_SAME(host_access(written, REVAMP_ACCESS_READ), expected, BYTES);
        drop(written);
    }
}

TEST(SEL_3_views_do_not_move_the_array_they_are_over) {
    FOR_EACH_SCENE(s) {
        revamp_array array = array_with(s.first, s.a_numbers, N);
        revamp_array_view over = view_of_array(array);
        uint32_t *expected = numbers(N, 1);
        CHECK(array_view_info(over).source_view == s.first);
        CHECK_OK(run_step(s.e, s.second, use_view(over)));
        host_access(over, REVAMP_ACCESS_READ_WRITE);
        CHECK_OK(run_step(s.e, s.normal, use_view(over)));
        step_naive(expected, N, 2);
        CHECK(array_info(array).view == s.first);
        CHECK(array_view_info(over).source_view == s.first);
        drop(over);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(SEL_4_a_named_view_and_an_array_of_another_leave_the_views_alone) {
    FOR_EACH_SCENE(s) {
        revamp_array array = array_with(s.first, s.a_numbers, N);
        meter m = meter_of(NULL);
        CHECK_FAILS(run_sum(s.e, s.normal, use_array(array), use_view(s.a), use_view(s.b)), AS_RUNTIME, "view");
        CHECK_FAILS(run_sum(s.e, s.second, use_view(s.a), use_array(array), use_view(s.b)), AS_RUNTIME, "view");
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        VALID(s.a, cpu_view());
        VALID(s.b, cpu_view());
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(SEL_5_SEL_7_views_are_made_valid_where_the_array_lives) {
    revamp_accelerator_view automatic = NULL;
    if (places_that(runs_spirv)->view) REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&automatic));
    FOR_EACH_SCENE(s) {
        revamp_array array = array_with(s.first, s.a_numbers, N);
        meter m = meter_of(NULL);
        CHECK_OK(run_sum(s.e, NULL, use_array(array), use_view(s.a), use_view(s.b)));
        CHECK_NUMBER(bytes_moved(moved_since(&m)), s.is_separate ? 2 * BYTES : 0);
        VALID(s.a, s.first);
        expect_valid_only_on(&s, s.b, s.first);
        sum_naive(s.a_numbers, s.a_numbers, s.b_numbers, N);
        /* The array decides, even if the array_view is valid on the default accelerator_view. */
        prefetch(s.a, s.normal);
        CHECK_OK(run_step(s.e, s.normal, use_view(s.b)));
        CHECK_OK(run_sum(s.e, NULL, use_array(array), use_view(s.a), use_view(s.b)));
        VALID(s.a, s.first);
        expect_valid_only_on(&s, s.b, s.first);
        sum_naive(s.a_numbers, s.a_numbers, s.b_numbers, N);
        if (s.e->step) {
            CHECK_OK(run_sum(s.e, automatic, use_array(array), use_view(s.a), use_view(s.b)));
            expect_valid_only_on(&s, s.b, s.first);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(SEL_6_arrays_of_two_views_are_an_error_beside_views) {
    FOR_EACH_SCENE(s) {
        revamp_array one = array_with(s.first, s.a_numbers, N), other = array_with(s.normal, s.a_numbers, N);
        meter m = meter_of(NULL);
        CHECK_FAILS(run_sum(s.e, NULL, use_array(one), use_array(other), use_view(s.b)), AS_RUNTIME, "view");
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        VALID(s.b, cpu_view());
        CHECK_OK(revamp_array_destroy(one));
        CHECK_OK(revamp_array_destroy(other));
    }
}

TEST(SEL_8_without_arrays_the_views_are_as_good_as_no_target) {
    revamp_accelerator_view automatic = NULL;
    first_place_or_skip(runs_spirv);
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&automatic));
    FOR_EACH_SCENE(s) {
        if (!s.e->step) continue;
        step_a(&s, s.first);
        /* The auto-selection view does not count as a target, so the data stays where it is. */
        meter m = meter_of(NULL);
        step_a(&s, automatic);
        step_a(&s, NULL);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.a, s.first);
    }
}

TEST(SEL_9_a_candidate_has_all_captured_views) {
    FOR_EACH_SCENE(s) {
        uint32_t *out = numbers(N, 3), *expected = numbers(N, 3);
        revamp_array_view written = view_of(out, N);
        /* `a` is valid on `normal` and `first`, `b` on `first` and `second`. */
        prefetch(s.a, s.normal);
        prefetch(s.a, s.first);
        prefetch(s.b, s.first);
        prefetch(s.b, s.second);
        CHECK_OK(revamp_array_view_discard_data(written));
        meter m = meter_of(NULL);
        CHECK_OK(run_sum(s.e, NULL, use_view(s.a), use_view(s.b), use_view(written)));
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, written, s.first);
        sum_naive(s.a_numbers, s.b_numbers, expected, N);
        CHECK_SAME(host_access(written, REVAMP_ACCESS_READ), expected, BYTES);
        drop(written);
    }
}

TEST(SEL_9_without_a_place_that_has_all_the_default_view_runs_it) {
    FOR_EACH_SCENE(s) {
        uint32_t *out = numbers(N, 3), *expected = numbers(N, 3);
        revamp_array_view written = view_of(out, N);
        prefetch(s.a, s.first);
        prefetch(s.b, s.second);
        CHECK_OK(revamp_array_view_discard_data(written));
        CHECK_OK(run_sum(s.e, NULL, use_view(s.a), use_view(s.b), use_view(written)));
        /* The number of moved bytes is unspecified: accelerator_views of one accelerator may share memory. */
        VALID(s.a, s.normal);
        VALID(s.b, s.normal);
        expect_valid_only_on(&s, written, s.normal);
        sum_naive(s.a_numbers, s.b_numbers, expected, N);
        CHECK_SAME(host_access(written, REVAMP_ACCESS_READ), expected, BYTES);
        drop(written);
    }
}

TEST(SEL_10_a_discarded_view_is_no_constraint) {
    FOR_EACH_SCENE(s) {
        step_a(&s, s.first);
        /* `b` is discarded, so the accelerator_view that wrote it last does not matter. */
        CHECK_OK(run_step(s.e, s.second, use_view(s.b)));
        meter m = meter_of(NULL);
        sum_a_to_b(&s);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.b, s.first);
        VALID(s.a, s.first);
    }
}

TEST(SEL_10_discarded_views_alone_run_on_the_default_view) {
    FOR_EACH_SCENE(s) {
        prefetch(s.b, s.second);
        CHECK_OK(revamp_array_view_discard_data(s.b));
        meter m = meter_of(NULL);
        CHECK_OK(run_fill(s.e, NULL, use_view(s.b), 17));
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.b, s.normal);
        for (int i = 0; i < N; i++)
            s.b_numbers[i] = 17;
    }
}

TEST(SEL_11_SEL_19_data_of_another_accelerator_comes_to_the_default_view) {
    FOR_EACH_SCENE(s) {
        engine other = other_engine(s.e);
        if (!other.p) continue;
        CHECK_OK(run_step(&other, other.p->view, use_view(s.a)));
        step_naive(s.a_numbers, N, 1);
        bool is_other_separate = has_own_memory(s.a, other.p->view);
        if (is_other_separate) INVALID(s.a, cpu_view());
        meter m = meter_of(NULL);
        step_a(&s, NULL);
        revamp_transfer_counters moved = moved_since(&m);
        /* The data moves through its home, the host. */
        CHECK_NUMBER(moved.implicit_from_bytes, is_other_separate ? BYTES : 0);
        CHECK_NUMBER(moved.implicit_to_bytes, s.is_separate ? BYTES : 0);
        expect_valid_only_on(&s, s.a, s.normal);
        if (is_other_separate) INVALID(s.a, other.p->view);
        end_engine(&other);
    }
}

TEST(SEL_11_a_valid_copy_on_another_accelerator_is_no_candidate) {
    FOR_EACH_SCENE(s) {
        engine other = other_engine(s.e);
        if (!other.p) continue;
        prefetch(s.a, other.p->view);
        prefetch(s.a, s.first);
        meter m = meter_of(NULL);
        step_a(&s, NULL);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.a, s.first);
        end_engine(&other);
    }
}

/* All accelerator_views of an accelerator support its kernels, so no candidate is dropped. */
TEST(SEL_12_several_writable_views_keep_their_place) {
    FOR_EACH_SCENE(s) {
        uint32_t *out = numbers(N, 3), *expected = numbers(N, 3);
        revamp_array_view written = view_of(out, N);
        step_a(&s, s.second);
        CHECK_OK(run_step(s.e, s.second, use_view(s.b)));
        step_naive(s.b_numbers, N, 1);
        CHECK_OK(run_step(s.e, s.second, use_view(written)));
        revamp_argument a = with_access(use_view(s.a), REVAMP_ACCESS_READ_WRITE);
        revamp_argument b = with_access(use_view(s.b), REVAMP_ACCESS_READ_WRITE);
        meter m = meter_of(NULL);
        CHECK_OK(run_sum(s.e, NULL, a, b, use_view(written)));
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, written, s.second);
        sum_naive(s.a_numbers, s.b_numbers, expected, N);
        CHECK_SAME(host_access(written, REVAMP_ACCESS_READ), expected, BYTES);
        drop(written);
    }
}

TEST(SEL_13_the_default_view_is_preferred) {
    FOR_EACH_SCENE(s) {
        prefetch(s.a, s.second);
        prefetch(s.a, s.normal);
        prefetch(s.a, s.first);
        meter m = meter_of(NULL);
        sum_a_to_b(&s);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.b, s.normal);
    }
}

TEST(SEL_14_otherwise_any_candidate_runs_it) {
    FOR_EACH_SCENE(s) {
        prefetch(s.a, s.second);
        prefetch(s.a, s.first);
        meter m = meter_of(NULL);
        sum_a_to_b(&s);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        if (s.is_separate) expect_valid_only_on(&s, s.b, valid_on(s.b, s.first) ? s.first : s.second);
    }
}

/* `a` and `b` are valid at random locations. If no location has both, they move to the default accelerator_view. */
TEST(SEL_15_a_launch_with_candidates_moves_nothing) {
    FOR_EACH_ENGINE(e) {
        uint32_t state = 5;
        for (int round = 0; round < 30; round++)
            for (scene s = begin(e); s.e; end(&s), s.e = NULL) {
                const revamp_accelerator_view places[] = {s.normal, s.first, s.second};
                bool has_candidate = false;
                for (size_t i = 0; i < COUNT(places); i++) {
                    uint32_t location_mask = random_number(&state) % 4;
                    if (location_mask & 1) prefetch(s.a, places[i]);
                    if (location_mask & 2) prefetch(s.b, places[i]);
                    if (location_mask == 3) has_candidate = true;
                }
                uint32_t *out = numbers(N, 3), *expected = numbers(N, 3);
                revamp_array_view written = view_of(out, N);
                CHECK_OK(revamp_array_view_discard_data(written));
                meter m = meter_of(NULL);
                CHECK_OK(run_sum(s.e, NULL, use_view(s.a), use_view(s.b), use_view(written)));
                if (has_candidate)
                    CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
                else
                    expect_valid_only_on(&s, written, s.normal);
                sum_naive(s.a_numbers, s.b_numbers, expected, N);
                CHECK_SAME(host_access(written, REVAMP_ACCESS_READ), expected, BYTES);
                drop(written);
            }
    }
}

TEST(SEL_16_one_written_there_and_one_discarded) {
    FOR_EACH_SCENE(s) {
        step_a(&s, s.first);
        meter m = meter_of(NULL);
        sum_a_to_b(&s);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.a, s.first);
        expect_valid_only_on(&s, s.b, s.first);
    }
}

TEST(SEL_17_a_view_over_an_array_runs_where_that_lives) {
    FOR_EACH_SCENE(s) {
        uint32_t *expected = numbers(N, 4);
        revamp_array array = array_with(s.second, expected, N);
        revamp_array_view over = view_of_array(array);
        meter m = meter_of(NULL);
        CHECK_OK(run_step(s.e, NULL, use_view(over)));
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        /* Each accelerator_view is a separate location, even if accelerator_views share memory. */
        VALID(over, s.second);
        INVALID(over, s.normal);
        INVALID(over, s.first);
        INVALID(over, cpu_view());
        m = meter_of(NULL);
        drop(over);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        step_naive(expected, N, 1);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(SEL_18_fresh_data_goes_to_the_default_view_once) {
    FOR_EACH_SCENE(s) {
        meter m = meter_of(NULL);
        for (int i = 0; i < 3; i++)
            step_a(&s, NULL);
        revamp_transfer_counters moved = moved_since(&m);
        CHECK_NUMBER(moved.implicit_to_bytes, s.is_separate ? BYTES : 0);
        CHECK_NUMBER(moved.implicit_to_count, s.is_separate ? 1 : 0);
        CHECK_NUMBER(bytes_moved(moved), moved.implicit_to_bytes);
        expect_valid_only_on(&s, s.a, s.normal);
    }
}

/* Copies. */

static void copy(revamp_region from, revamp_region to) {
    CHECK_OK(revamp_copy(&from, &to));
}

TEST(SEL_20_arrays_and_host_memory_stay_where_they_are_beside_views) {
    const int32_t extent = N;
    FOR_EACH_SCENE(s) {
        uint32_t *received = memory(BYTES);
        revamp_array array = array_1d(s.first, N, 4);
        step_a(&s, s.second);
        copy(region_of(s.a), whole(array));
        CHECK(array_info(array).view == s.first);
        CHECK_SAME(read_array(array), s.a_numbers, BYTES);
        copy(region_of(s.a), host_region(received, 1, &extent, 4));
        CHECK_SAME(received, s.a_numbers, BYTES);
        copy(whole(array), region_of(s.b));
        memcpy(s.b_numbers, s.a_numbers, BYTES);
        CHECK_SAME(host_access(s.b, REVAMP_ACCESS_READ), s.b_numbers, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(SEL_21_a_copy_to_a_view_goes_to_its_home_on_the_host) {
    const int32_t extent = N;
    FOR_EACH_SCENE(s) {
        uint32_t *sent = numbers(N, 9);
        prefetch(s.a, s.first);
        step_a(&s, s.second);
        meter m = meter_of(NULL);
        copy(host_region(sent, 1, &extent, 4), region_of(s.a));
        revamp_transfer_counters moved = moved_since(&m);
        /* Copies at other locations do not matter: nothing moves there, and the old contents are not fetched. */
        CHECK_NUMBER(bytes_to(moved), 0);
        CHECK_NUMBER(bytes_from(moved), 0);
        CHECK_NUMBER(moved.explicit_local_bytes, BYTES);
        CHECK_SAME(s.a_data, sent, BYTES);
        expect_valid_only_on(&s, s.a, cpu_view());
        memcpy(s.a_numbers, sent, BYTES);
    }
}

TEST(SEL_21_a_copy_to_a_view_goes_to_its_array) {
    const int32_t extent = N;
    FOR_EACH_SCENE(s) {
        uint32_t *sent = numbers(N, 9);
        revamp_array array = array_with(s.second, s.a_numbers, N);
        revamp_array_view over = view_of_array(array);
        bool is_normal_separate = has_own_memory(over, s.normal), is_host_separate = has_own_memory(over, cpu_view());
        CHECK_OK(run_step(s.e, s.normal, use_view(over)));
        meter m = meter_of(NULL);
        copy(host_region(sent, 1, &extent, 4), region_of(over));
        revamp_transfer_counters moved = moved_since(&m);
        CHECK_NUMBER(bytes_from(moved), 0);
        CHECK_NUMBER(bytes_moved(moved), BYTES);
        if (is_host_separate) CHECK_NUMBER(moved.explicit_to_bytes, BYTES);
        VALID(over, s.second);
        if (is_normal_separate) INVALID(over, s.normal);
        if (is_host_separate) INVALID(over, cpu_view());
        drop(over);
        CHECK_SAME(read_array(array), sent, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Copies `a` to a new array on `where`, and returns the transfers of the copy. */
static revamp_transfer_counters copy_a_to_array(scene *s, revamp_accelerator_view where) {
    revamp_array array = array_1d(where, N, 4);
    meter m = meter_of(NULL);
    copy(region_of(s->a), whole(array));
    revamp_transfer_counters moved = moved_since(&m);
    CHECK_SAME(read_array(array), s->a_numbers, BYTES);
    CHECK_OK(revamp_array_destroy(array));
    return moved;
}

/* Expects a copy within the accelerator's memory. In shared memory, it may also count as a copy to the accelerator. */
static void expect_local(const scene *s, revamp_transfer_counters moved) {
    CHECK_NUMBER(bytes_from(moved), 0);
    CHECK_NUMBER(bytes_moved(moved), BYTES);
    if (!s->is_separate) return;
    CHECK_NUMBER(bytes_to(moved), 0);
    CHECK_NUMBER(moved.explicit_local_bytes, BYTES);
    CHECK_NUMBER(moved.explicit_local_count, 1);
}

TEST(SEL_22_a_copy_takes_the_copy_at_its_destination) {
    FOR_EACH_SCENE(s) {
        prefetch(s.a, s.first);
        expect_local(&s, copy_a_to_array(&s, s.first));
        /* The result is the same if only this copy is valid. */
        step_a(&s, s.first);
        expect_local(&s, copy_a_to_array(&s, s.first));
    }
}

TEST(SEL_23_SEL_26_else_the_copy_on_the_host) {
    FOR_EACH_SCENE(s) {
        engine other = other_engine(s.e);
        if (!other.p) continue;
        bool is_other_separate = has_own_memory(s.a, other.p->view);
        prefetch(s.a, s.first);
        revamp_transfer_counters before = accelerator_transfers(s.e->p->accelerator);
        revamp_transfer_counters moved = copy_a_to_array(&s, other.p->view);
        revamp_transfer_counters after = accelerator_transfers(s.e->p->accelerator);
        CHECK_NUMBER(bytes_from(moved), 0);
        CHECK_NUMBER(bytes_moved(moved), BYTES);
        if (is_other_separate) CHECK_NUMBER(moved.explicit_to_bytes, BYTES);
        /* The accelerator of `first` is not involved. */
        if (s.is_separate && is_other_separate) CHECK_NUMBER(bytes_moved(after), bytes_moved(before));
        VALID(s.a, s.first);
        VALID(s.a, cpu_view());
        end_engine(&other);
    }
}

TEST(SEL_23_the_host_comes_before_home) {
    FOR_EACH_ENGINE(e) {
        engine other = other_engine(e);
        if (!other.p) continue;
        uint32_t *expected = numbers(N, 7);
        revamp_array home = array_with(e->p->view, expected, N), destination = array_1d(other.p->view, N, 4);
        revamp_array_view over = view_of_array(home);
        CHECK_SAME(host_access(over, REVAMP_ACCESS_READ), expected, BYTES);
        VALID(over, e->p->view);
        VALID(over, cpu_view());
        revamp_transfer_counters before = accelerator_transfers(e->p->accelerator);
        meter m = meter_of(NULL);
        copy(region_of(over), whole(destination));
        revamp_transfer_counters moved = moved_since(&m), after = accelerator_transfers(e->p->accelerator);
        /* The accelerator of the array `home` is not involved, unless the host uses the array's memory. */
        if (has_own_memory(over, cpu_view())) {
            CHECK_NUMBER(bytes_moved(moved), BYTES);
            CHECK_NUMBER(bytes_from(moved), 0);
            CHECK_NUMBER(bytes_moved(after), bytes_moved(before));
        }
        CHECK_SAME(read_array(destination), expected, BYTES);
        drop(over);
        CHECK_OK(revamp_array_destroy(home));
        CHECK_OK(revamp_array_destroy(destination));
        end_engine(&other);
    }
}

TEST(SEL_24_else_any_valid_copy) {
    const int32_t extent = N;
    FOR_EACH_SCENE(s) {
        uint32_t *received = memory(BYTES);
        engine other = other_engine(s.e);
        step_a(&s, s.first);
        if (other.p) {
            bool is_other_separate = has_own_memory(s.a, other.p->view);
            revamp_transfer_counters moved = copy_a_to_array(&s, other.p->view);
            if (s.is_separate) CHECK_NUMBER(bytes_from(moved), BYTES);
            if (is_other_separate) CHECK_NUMBER(bytes_to(moved), BYTES);
            /* The data moves directly, not through its home. */
            if (s.is_separate) INVALID(s.a, cpu_view());
            end_engine(&other);
        }
        step_a(&s, s.first);
        meter m = meter_of(NULL);
        copy(region_of(s.a), host_region(received, 1, &extent, 4));
        revamp_transfer_counters moved = moved_since(&m);
        CHECK_NUMBER(bytes_to(moved), 0);
        if (s.is_separate) CHECK_NUMBER(bytes_from(moved), BYTES);
        CHECK_SAME(received, s.a_numbers, BYTES);
        if (s.is_separate) INVALID(s.a, cpu_view());
    }
}

TEST(SEL_25_two_views_with_data_on_one_accelerator_copy_there) {
    FOR_EACH_SCENE(s) {
        revamp_array array = array_with(s.first, s.b_numbers, N);
        revamp_array_view over = view_of_array(array);
        prefetch(s.a, s.first);
        VALID(s.a, cpu_view());
        meter m = meter_of(NULL);
        copy(region_of(s.a), region_of(over));
        expect_local(&s, moved_since(&m));
        drop(over);
        CHECK_SAME(read_array(array), s.a_numbers, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(SEL_27_a_kernel_that_reads_leaves_both_copies_valid) {
    FOR_EACH_SCENE(s) {
        revamp_array_view reader = read_only(s.a);
        CHECK_OK(run_sum(s.e, s.first, use_view(reader), use_view(reader), use_view(s.b)));
        sum_naive(s.a_numbers, s.a_numbers, s.b_numbers, N);
        VALID(s.a, cpu_view());
        VALID(s.a, s.first);
        VALID(reader, cpu_view());
        VALID(reader, s.first);
        /* Reads at both locations then move nothing. */
        meter m = meter_of(NULL);
        CHECK_SAME(host_access(reader, REVAMP_ACCESS_READ), s.a_numbers, BYTES);
        CHECK_OK(run_sum(s.e, s.first, use_view(reader), use_view(reader), use_view(s.b)));
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        drop(reader);
    }
}

/* In C, the assignment of array_views retains one handle and releases the other. */
TEST(SEL_28_rebinding_a_handle_moves_nothing) {
    FOR_EACH_SCENE(s) {
        revamp_array_view handle = s.a;
        CHECK_OK(revamp_array_view_retain(handle));
        step_a(&s, s.first);
        CHECK_OK(run_step(s.e, s.second, use_view(s.b)));
        step_naive(s.b_numbers, N, 1);
        meter m = meter_of(NULL);
        CHECK_OK(revamp_array_view_retain(s.b));
        CHECK_OK(revamp_array_view_release(handle));
        handle = s.b;
        CHECK(array_view_info(handle).source_id == array_view_info(s.b).source_id);
        CHECK(array_view_info(handle).source_id != array_view_info(s.a).source_id);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.a, s.first);
        expect_valid_only_on(&s, s.b, s.second);
        drop(handle);
        CHECK_NUMBER(bytes_moved(moved_since(&m)), 0);
        expect_valid_only_on(&s, s.b, s.second);
    }
}
