/* Tests of where data is valid and when it moves (rules COH). Microsoft's published protocol keeps states per view. The
 * library knows the valid locations of each byte and may move less. The tests check what the library moves. */
#include "views.h"

#include <stdio.h>
#include <string.h>

enum { N = 1000, BYTES = N * 4 };

TEST(COH_1_nothing_moves_before_the_access_that_needs_it) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        meter m = meter_of(NULL);
        revamp_array_view view = view_of(data, N), part = range_of(view, 0, 10);
        const bool has_own_memory = bytes_if_separate(view, p, 1) != 0;
        CHECK_NOTHING_MOVED(&m);
        step_on(p, view);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        /* Nothing moves after the kernel has run, either. */
        wait_at(p);
        CHECK_NOTHING_MOVED(&m);
        if (has_own_memory) CHECK_SAME(data, expected, BYTES);
        drop(part);
        CHECK_NOTHING_MOVED(&m);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        drop(view);
    }
}

TEST(COH_2_no_more_moves_than_the_part_accessed) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 300, 50),
                          overlapping = range_of(view, 320, 100);
        meter m = meter_of(view);
        step_on(p, part);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 200), 0);
        CHECK_NUMBER(read_on_host(part)[0], 3 * expected[300] + 1);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, 200));
        /* 30 of the 100 elements are on the accelerator already. */
        step_on(p, overlapping);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 280), 0);
        step_naive(expected + 300, 50, 1);
        step_naive(expected + 320, 100, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, 400));
        drop(part);
        drop(overlapping);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(COH_3_a_copy_is_kept_until_another_location_writes) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        for (int i = 0; i < 3; i++) {
            CHECK_SAME(read_on_host(view), expected, BYTES);
            CHECK_SAME(read_on(p, view), expected, BYTES);
        }
        CHECK_NOTHING_MOVED(&m);
        step_on_host(view);
        step_naive(expected, N, 1);
        CHECK_NUMBER(valid_at(view, p), 0);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        drop(view);
    }
}

TEST(COH_3_a_copy_is_kept_while_another_accelerator_reads) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        for (int i = 0; i < 3; i++) {
            CHECK_SAME(read_on(p, view), expected, BYTES);
            CHECK_SAME(read_on(q, view), expected, BYTES);
        }
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES) + bytes_if_separate(view, q, BYTES), 0);
        step_on(q, view);
        step_naive(expected, N, 1);
        CHECK_NUMBER(valid_at(view, p), 0);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_SAME(read_on(q, view), expected, BYTES);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), bytes_if_separate(view, q, BYTES));
        drop(view);
    }
}

TEST(COH_4_the_directory_knows_each_view_at_each_location) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 0, 250), rest = range_of(view, 250, 750);
        step_on(p, part);
        CHECK_NUMBER(residency_at(view, p).view_bytes, BYTES);
        CHECK_NUMBER(residency_at(part, p).view_bytes, 1000);
        CHECK_NUMBER(valid_at(view, p), 1000);
        CHECK_NUMBER(valid_at(part, p), 1000);
        CHECK_NUMBER(valid_at(rest, p), 0);
        CHECK_NUMBER(valid_at(view, &host), 3000);
        CHECK_NUMBER(valid_at(part, &host), 0);
        CHECK_NUMBER(valid_at(rest, &host), 3000);
        /* At locations where the view was never used, nothing is valid or allocated. */
        FOR_EACH_PLACE(q, runs_kernels)
        if (q->accelerator != p->accelerator) {
            CHECK_NUMBER(valid_at(view, q), 0);
            CHECK_NUMBER(residency_at(view, q).allocated_bytes, 0);
        }
        CHECK_NUMBER(residency_at(view, &host).discarded_bytes, 0);
        drop(rest);
        drop(part);
        drop(view);
    }
}

static void check_states(revamp_array_view view, const place *p, uint64_t host_bytes, uint64_t accelerator_bytes,
                         int line) {
    const place host = host_place();
    check_number((long long)valid_at(view, &host), (long long)host_bytes, "on the host", __FILE__, line);
    check_number((long long)valid_at(view, p), (long long)accelerator_bytes, "on the accelerator", __FILE__, line);
}
#define CHECK_STATES(host_bytes, accelerator_bytes) check_states(view, p, host_bytes, accelerator_bytes, __LINE__)

TEST(COH_5_states_are_invalid_shared_and_dirty) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        CHECK_STATES(BYTES, 0);
        read_on(p, view);
        CHECK_STATES(BYTES, BYTES);
        step_on(p, view);
        CHECK_STATES(0, BYTES);
        read_on(p, view);
        CHECK_STATES(0, BYTES);
        read_on_host(view);
        CHECK_STATES(BYTES, BYTES);
        step_on_host(view);
        CHECK_STATES(BYTES, 0);
        /* A write-only access changes the states like an access that reads and writes. */
        write_on(p, view, 1);
        CHECK_STATES(0, BYTES);
        fill_on_host(view, 1);
        CHECK_STATES(BYTES, 0);
        drop(view);
    }
}

TEST(COH_6_a_dirty_view_is_valid_at_one_location) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        read_on(p, view);
        read_on(q, view);
        step_on(p, view);
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_NUMBER(valid_at(view, &host), 0);
        CHECK_NUMBER(valid_at(view, q), 0);
        step_on(q, view);
        CHECK_NUMBER(valid_at(view, q), BYTES);
        CHECK_NUMBER(valid_at(view, &host), 0);
        CHECK_NUMBER(valid_at(view, p), 0);
        drop(view);
    }
}

TEST(COH_7_a_shared_view_is_valid_at_several_locations) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_SAME(read_on(q, view), expected, BYTES);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_NUMBER(valid_at(view, q), BYTES);
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        drop(view);
    }
}

TEST(COH_8_overlapping_views_are_dirty_at_one_location) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), a = range_of(view, 0, 600), b = range_of(view, 400, 600);
        meter m = meter_of(view);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        step_on(p, a);
        step_on(p, b);
        CHECK_MOVED(&m, separate * BYTES, 0);
        CHECK_NUMBER(valid_at(a, p), 2400);
        CHECK_NUMBER(valid_at(b, p), 2400);
        CHECK_NUMBER(valid_at(view, &host), 0);
        /* The host writes `b`. The elements that `a` and `b` share are then dirty on the host only. */
        step_on_host(b);
        CHECK_MOVED(&m, 0, separate * 2400);
        CHECK_NUMBER(valid_at(a, p), 1600);
        CHECK_NUMBER(valid_at(a, &host), 800);
        step_naive(expected, 600, 1);
        step_naive(expected + 400, 600, 2);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, separate * 1600);
        drop(a);
        drop(b);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(COH_8_reading_a_part_where_the_view_is_dirty_shares_nothing) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 300);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_SAME(read_on(p, part), expected + 100, 1200);
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(valid_at(view, p), BYTES);
        CHECK_NUMBER(valid_at(part, &host), 0);
        CHECK_NUMBER(valid_at(view, &host), 0);
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(COH_9_overlapping_views_are_shared_at_different_locations) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), a = range_of(view, 0, 600), b = range_of(view, 400, 600);
        meter m = meter_of(view);
        for (int i = 0; i < 3; i++) {
            CHECK_SAME(read_on(p, a), expected, 2400);
            CHECK_SAME(read_on(q, b), expected + 400, 2400);
        }
        CHECK_MOVED(&m, bytes_if_separate(view, p, 2400) + bytes_if_separate(view, q, 2400), 0);
        CHECK_NUMBER(valid_at(view, p), 2400);
        CHECK_NUMBER(valid_at(view, q), 2400);
        drop(a);
        drop(b);
        drop(view);
    }
}

TEST(COH_10_what_is_valid_does_not_move) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        /* The data is valid at home from the start. */
        meter m = meter_of(view);
        step_on_host(view);
        CHECK_NOTHING_MOVED(&m);
        step_on(p, view);
        step_naive(expected, N, 2);
        (void)moved_since(&m);
        for (int i = 0; i < 3; i++) {
            CHECK_SAME(read_on(p, view), expected, BYTES);
            step_on(p, view);
            step_naive(expected, N, 1);
        }
        CHECK_OK(revamp_array_view_synchronize_to(view, p->view, REVAMP_ACCESS_READ));
        CHECK_NOTHING_MOVED(&m);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(COH_11_what_a_containing_view_has_does_not_move) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {20, 50}, origin[] = {3, 7}, extent[] = {10, 20}, inner[] = {2, 3};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), block = part_of(view, origin, extent);
        revamp_array_view nested = part_of(block, inner, NULL), row = row_of(block, 2);
        /* The view is valid both at home and on the accelerator, so no data moves from home again. */
        CHECK_SAME(read_on(p, view), expected, BYTES);
        meter m = meter_of(view);
        CHECK_NUMBER(read_on(p, block)[0], expected[3 * 50 + 7]);
        CHECK_NUMBER(read_on(p, row)[19], expected[5 * 50 + 26]);
        CHECK_NOTHING_MOVED(&m);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_NUMBER(read_on(p, block)[0], expected[3 * 50 + 7]);
        CHECK_NUMBER(read_on(p, nested)[0], expected[5 * 50 + 10]);
        CHECK_NUMBER(read_on(p, row)[19], expected[5 * 50 + 26]);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        (void)moved_since(&m);
        CHECK_NUMBER(read_on_host(nested)[1], expected[5 * 50 + 11]);
        CHECK_NOTHING_MOVED(&m);
        /* Several views together contain the block, so nothing moves (unlike in the published protocol). */
        step_on_host(view);
        step_naive(expected, N, 1);
        revamp_array_view upper = part_of(view, NULL, (const int32_t[]){8, 50});
        revamp_array_view lower = part_of(view, (const int32_t[]){8, 0}, NULL);
        step_on(p, upper);
        step_on(p, lower);
        step_naive(expected, N, 1);
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        CHECK_NUMBER(read_on(p, block)[0], expected[3 * 50 + 7]);
        CHECK_NOTHING_MOVED(&m);
        const revamp_array_view all[] = {upper, lower, block, nested, row, view};
        drop_all(all, COUNT(all));
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(COH_12_only_the_missing_bytes_of_overlapping_views_come_back) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), a = range_of(view, 0, 600), b = range_of(view, 550, 300);
        meter m = meter_of(view);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        step_on(p, a);
        step_naive(expected, 600, 1);
        CHECK_MOVED(&m, separate * 2400, 0);
        /* The published protocol writes all of `a` back; the library writes only the 50 dirty elements of `b`. */
        CHECK_SAME(read_on_host(b), expected + 550, 1200);
        CHECK_MOVED(&m, 0, separate * 200);
        CHECK_NUMBER(valid_at(a, p), 2400);
        /* Only the elements of `b` that the accelerator lacks move to it. */
        CHECK_SAME(read_on(p, b), expected + 550, 1200);
        CHECK_MOVED(&m, separate * 1000, 0);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, separate * 2200);
        drop(a);
        drop(b);
        drop(view);
    }
}

TEST(COH_12_overlapping_views_of_two_accelerators) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), a = range_of(view, 0, 600), b = range_of(view, 550, 300);
        const uint64_t at_p = bytes_if_separate(view, p, 1), at_q = bytes_if_separate(view, q, 1);
        step_on(p, a);
        meter m = meter_of(view);
        step_on(q, b);
        CHECK_MOVED(&m, at_q * 1200, at_p * 200);
        step_on(p, a);
        CHECK_MOVED(&m, at_p * 200, at_q * 200);
        step_naive(expected, 600, 1);
        step_naive(expected + 550, 300, 1);
        step_naive(expected, 600, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, at_p * 2400 + at_q * 1000);
        drop(a);
        drop(b);
        drop(view);
    }
}

TEST(COH_13_the_part_accessed_moves_from_home_to_the_target) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 123, 456);
        meter m = meter_of(view);
        CHECK_SAME(read_on(p, part), expected + 123, 1824);
        CHECK_MOVED(&m, bytes_if_separate(view, p, 1824), 0);
        /* If home is the target, only data that is dirty at another location moves. */
        step_on(p, part);
        step_naive(expected + 123, 456, 1);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, 1824));
        drop(part);
        drop(view);
    }
}

TEST(COH_14_a_row_of_a_matrix_moves_as_a_row) {
    enum { ROWS = 40, COLUMNS = 25 };
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {ROWS, COLUMNS}, origin[] = {7, 0}, one_row[] = {1, COLUMNS};
        static const int32_t column_origin[] = {0, 9}, one_column[] = {ROWS, 1};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4), row = row_of(view, 5);
        revamp_array_view as_section = part_of(view, origin, one_row);
        revamp_array_view column = part_of(view, column_origin, one_column);
        meter m = meter_of(view);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        step_on(p, row);
        CHECK_MOVED(&m, separate * COLUMNS * 4, 0);
        step_on(p, as_section);
        CHECK_MOVED(&m, separate * COLUMNS * 4, 0);
        /* Two elements of the column are on the accelerator already. */
        step_on(p, column);
        CHECK_MOVED(&m, separate * (ROWS - 2) * 4, 0);
        step_naive(expected + (size_t)5 * COLUMNS, COLUMNS, 1);
        step_naive(expected + (size_t)7 * COLUMNS, COLUMNS, 1);
        for (size_t i = 0; i < ROWS; i++)
            step_naive(expected + i * COLUMNS + 9, 1, 1);
        CHECK_SAME(read_on_host(row), expected + (size_t)5 * COLUMNS, COLUMNS * 4);
        CHECK_MOVED(&m, 0, separate * COLUMNS * 4);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, separate * (COLUMNS + ROWS - 2) * 4);
        drop(row);
        drop(as_section);
        drop(column);
        drop(view);
    }
}

TEST(COH_15_a_kernel_that_uses_one_row_needs_the_whole_view_captured) {
    FOR_EACH_RUNNER(p) {
        static const int32_t plane[] = {40, 25};
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of_host(data, 2, plane, 4);
        meter m = meter_of(view);
        /* The projection to a row would happen in the kernel, so the launch captures the whole view. */
        touch_first_on(p, view, 1);
        expected[0] = 1;
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* The library allocates device memory for the used part only. The published protocol allocates the full size. */
TEST(COH_16_memory_is_held_for_the_part_used) {
    enum { LARGE = 4 << 20, PART = 1024, SLACK = 1 << 18 };
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(LARGE, 1), *expected = memory(PART * 4);
        memcpy(expected, data + LARGE / 2, PART * 4);
        revamp_array_view view = view_of(data, LARGE), part = range_of(view, LARGE / 2, PART);
        meter m = meter_of(view);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        CHECK_NUMBER(residency_at(view, p).allocated_bytes, 0);
        step_on(p, part);
        CHECK_MOVED(&m, separate * PART * 4, 0);
        uint64_t held_bytes = residency_at(part, p).allocated_bytes;
        CHECK_NUMBER(held_bytes, residency_at(view, p).allocated_bytes);
        if (separate)
            CHECK(held_bytes >= PART * 4 && held_bytes <= PART * 4 + SLACK);
        else
            CHECK_NUMBER(held_bytes, 0);
        step_naive(expected, PART, 1);
        CHECK_SAME(read_on_host(part), expected, PART * 4);
        drop(part);
        drop(view);
    }
}

TEST(COH_16_memory_grows_and_keeps_what_is_dirty) {
    enum { PARTS = 8 };
    FOR_EACH_RUNNER(p) {
        const int32_t large = 1 << 18, step = large / PARTS;
        uint32_t *data = numbers((size_t)large, 1), *expected = numbers((size_t)large, 1);
        revamp_array_view view = view_of(data, large);
        meter m = meter_of(view);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        /* The parts are used in mixed order. Each part is dirty before the next part needs memory. */
        static const int32_t order[PARTS] = {4, 3, 5, 0, 7, 1, 6, 2};
        for (int i = 0; i < PARTS; i++) {
            revamp_array_view part = range_of(view, order[i] * step + 11, 1000);
            step_on(p, part);
            step_naive(expected + (size_t)order[i] * (size_t)step + 11, 1000, 1);
            CHECK_MOVED(&m, separate * 4000, 0);
            drop(part);
        }
        step_on(p, view);
        step_naive(expected, (size_t)large, 1);
        CHECK_MOVED(&m, separate * ((uint64_t)large * 4 - 4000 * PARTS), 0);
        CHECK(residency_at(view, p).allocated_bytes <= (uint64_t)large * 4 + (1 << 18));
        CHECK_SAME(read_on_host(view), expected, (size_t)large * 4);
        drop(view);
    }
}

TEST(COH_17_a_new_view_begins_anew) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        uint64_t id = 0;
        for (int i = 0; i < 3; i++) {
            revamp_array_view view = view_of(data, N);
            CHECK(array_view_info(view).source_id != id);
            id = array_view_info(view).source_id;
            CHECK_NUMBER(source_transfers(view).implicit_to_bytes, 0);
            meter m = meter_of(view);
            step_on(p, view);
            CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
            drop(view);
            /* Between views the program may change the memory without a call. */
            step_naive(expected, N, 1);
            CHECK_SAME(data, expected, BYTES);
            step_naive(data, N, 1);
            step_naive(expected, N, 1);
        }
    }
}

TEST(COH_17_views_of_an_array_one_after_the_other) {
    FOR_EACH_PLACE(home, holds_arrays)
    FOR_EACH_RUNNER(p) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(home->view, expected, N);
        for (int i = 0; i < 3; i++) {
            revamp_array_view view = view_of_array(array);
            step_on(p, view);
            drop(view);
            step_naive(expected, N, 1);
            CHECK_SAME(read_array(array), expected, BYTES);
            step_naive(expected, N, 1);
            write_array(array, expected);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(COH_18_a_view_kept_alive_does_not_move_twice) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        meter m = meter_of(view);
        for (int i = 0; i < 3; i++) {
            revamp_array_view constant = read_only(view), part = range_of(constant, i, 500);
            CHECK_SAME(read_on(p, constant), expected, BYTES);
            CHECK_SAME(read_on(p, part), expected + i, 2000);
            drop(constant);
            drop(part);
        }
        CHECK_MOVED(&m, bytes_if_separate(view, p, BYTES), 0);
        drop(view);
    }
}

TEST(COH_19_between_two_accelerators_it_goes_by_way_of_the_host) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N);
        const uint64_t at_p = bytes_if_separate(view, p, BYTES), at_q = bytes_if_separate(view, q, BYTES);
        meter m = meter_of(view);
        step_on(p, view);
        CHECK_MOVED(&m, at_p, 0);
        step_on(q, view);
        CHECK_MOVED(&m, at_q, at_p);
        step_on(p, view);
        CHECK_MOVED(&m, at_p, at_q);
        step_naive(expected, N, 3);
        /* After a read the data is valid at home, too. */
        CHECK_SAME(read_on(q, view), expected, BYTES);
        CHECK_MOVED(&m, at_q, at_p);
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_NOTHING_MOVED(&m);
        drop(view);
    }
}

TEST(COH_19_an_array_as_home) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        const place host = host_place();
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array);
        meter m = meter_of(view);
        step_on(q, view);
        step_naive(expected, N, 1);
        revamp_transfer_counters moved = moved_since(&m);
        CHECK(moved.implicit_to_bytes <= BYTES && moved.implicit_from_bytes <= BYTES);
        if (has_separate_memory()) {
            CHECK_NUMBER(moved.implicit_to_bytes, BYTES);
            CHECK_NUMBER(moved.implicit_from_bytes, BYTES);
        }
        /* The data moves directly to the host, not through home. */
        CHECK_SAME(read_on_host(view), expected, BYTES);
        moved = moved_since(&m);
        CHECK_NUMBER(moved.implicit_to_bytes, 0);
        CHECK(moved.implicit_from_bytes <= BYTES);
        if (has_separate_memory()) CHECK_NUMBER(moved.implicit_from_bytes, BYTES);
        /* Only home lacks the data now. */
        CHECK_NUMBER(valid_at(view, &host), BYTES);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        moved = moved_since(&m);
        CHECK_NUMBER(moved.implicit_from_bytes, 0);
        CHECK(moved.implicit_to_bytes <= BYTES);
        drop(view);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* In the published protocol, data moves through the host. Here, nothing moves between views of one accelerator. */
TEST(COH_19_COH_20_views_of_one_accelerator_share_its_copy) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_accelerator_view second = new_view(p->accelerator, REVAMP_QUEUING_MODE_IMMEDIATE);
        const place other = on_view(p, second);
        revamp_array_view view = view_of(data, N), part = range_of(view, 100, 50);
        step_on(p, view);
        meter m = meter_of(view);
        step_on(&other, view);
        step_on(p, part);
        step_on(&other, part);
        step_naive(expected, N, 2);
        step_naive(expected + 100, 50, 2);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, bytes_if_separate(view, p, BYTES));
        drop(part);
        drop(view);
        CHECK_OK(revamp_accelerator_view_release(second));
    }
}

TEST(COH_20_a_chain_of_kernels_moves_nothing) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1), *out = memory(BYTES);
        revamp_array_view view = view_of(data, N), output = view_of(out, N);
        CHECK_OK(revamp_array_view_discard_data(output));
        step_on(p, view);
        meter m = meter_of(view), of_output = meter_of(output);
        const capture a = {view, NULL, 0}, b = {output, NULL, 0};
        for (int i = 0; i < 50; i++) {
            step_on(p, view);
            REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
        }
        CHECK_NOTHING_MOVED(&m);
        CHECK_NOTHING_MOVED(&of_output);
        step_naive(expected, N, 51);
        CHECK_SAME(read_on_host(output), expected, BYTES);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        drop(output);
        drop(view);
    }
}

/* The published protocol would write the whole dirty view back. */
TEST(COH_21_one_element_read_on_the_host_moves_one_element) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), one = range_of(view, 617, 1);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        for (int i = 0; i < 10; i++)
            step_on(p, view);
        step_naive(expected, N, 10);
        meter m = meter_of(view);
        CHECK_NUMBER(read_on_host(one)[0], expected[617]);
        CHECK_MOVED(&m, 0, separate * 4);
        CHECK_NUMBER(read_on_host(one)[0], expected[617]);
        CHECK_NOTHING_MOVED(&m);
        /* The host writes this element, so the next launch moves only this element to the accelerator. */
        step_on_host(one);
        step_naive(expected + 617, 1, 1);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_MOVED(&m, separate * 4, 0);
        drop(one);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

TEST(COH_22_one_element_of_an_array_moves_one_element) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_array_view view = view_of_array(array), one = range_of(view, 617, 1);
        const uint64_t separate = bytes_if_separate(view, &host, 1);
        meter m = meter_of(view);
        for (int i = 0; i < 10; i++)
            step_on(p, view);
        CHECK_NOTHING_MOVED(&m);
        step_naive(expected, N, 10);
        CHECK_NUMBER(read_on_host(one)[0], expected[617]);
        CHECK_MOVED(&m, 0, separate * 4);
        step_on_host(one);
        step_naive(expected + 617, 1, 1);
        CHECK_NOTHING_MOVED(&m);
        step_on(p, view);
        step_naive(expected, N, 1);
        CHECK_MOVED(&m, separate * 4, 0);
        drop(one);
        drop(view);
        CHECK_SAME(read_array(array), expected, BYTES);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* COH-23 gives advice. A test can only check that the advised use works. */
TEST(COH_23_sections_for_two_accelerators_with_the_host_as_home) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        enum { ROUNDS = 4 };
        uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), a = range_of(view, 0, 500), b = range_of(view, 500, 500);
        meter m = meter_of(view);
        for (int i = 0; i < ROUNDS; i++) {
            step_on(p, a);
            step_on(q, b);
        }
        CHECK_MOVED(&m, bytes_if_separate(view, p, 2000) + bytes_if_separate(view, q, 2000), 0);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        step_naive(expected, N, ROUNDS);
        CHECK_SAME(data, expected, BYTES);
        drop(a);
        drop(b);
        drop(view);
    }
}

TEST(COH_24_discard_of_a_section_leaves_the_rest_dirty) {
    FOR_EACH_RUNNER(p) {
        const place host = host_place();
        uint32_t *data = numbers(N, 1), *original = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 200, 300);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_discard_data(part));
        CHECK_NOTHING_MOVED(&m);
        if (separate) {
            CHECK_NUMBER(residency_at(view, &host).discarded_bytes, 1200);
            CHECK_NUMBER(residency_at(part, &host).discarded_bytes, 1200);
        }
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        CHECK_MOVED_BY_CALL(&m, 0, separate * 2800);
        CHECK_SAME(data, expected, 800);
        CHECK_SAME(data + 500, expected + 500, 2000);
        if (separate) CHECK_SAME(data + 200, original + 200, 1200);
        /* A write to the part ends its discard. */
        fill_on(p, part, 8);
        fill_naive(expected + 200, 300, 8);
        CHECK_NOTHING_MOVED(&m);
        CHECK_NUMBER(residency_at(view, &host).discarded_bytes, 0);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, separate * 1200);
        drop(part);
        drop(view);
    }
}

TEST(COH_24_refresh_of_a_section_leaves_the_rest_dirty) {
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), *original = numbers(N, 1), *expected = numbers(N, 1);
        revamp_array_view view = view_of(data, N), part = range_of(view, 200, 300);
        const uint64_t separate = bytes_if_separate(view, p, 1);
        step_on(p, view);
        step_naive(expected, N, 1);
        meter m = meter_of(view);
        CHECK_OK(revamp_array_view_refresh(part));
        /* If the accelerator has memory of its own, home's contents replace pending changes. */
        if (separate) memcpy(expected + 200, original + 200, 1200);
        CHECK_NOTHING_MOVED(&m);
        CHECK_SAME(read_on(p, view), expected, BYTES);
        CHECK_MOVED(&m, separate * 1200, 0);
        CHECK_SAME(read_on_host(view), expected, BYTES);
        CHECK_MOVED(&m, 0, separate * 2800);
        drop(part);
        drop(view);
        CHECK_SAME(data, expected, BYTES);
    }
}

/* Random uses of random views, compared with a model of the valid locations of each element. */

enum { ROWS = 24, COLUMNS = 20, ELEMENTS = ROWS * COLUMNS, MAX_PLACES = 6, VIEWS = 8 };

typedef struct {
    uint32_t value, home_value;
    bool is_known, is_home_known, is_discarded;
    unsigned valid; /* one bit per location; an accelerator that shares home's memory uses home's bit */
} element;

typedef struct {
    const place *places[MAX_PLACES];
    unsigned bit[MAX_PLACES], count, home_bit, host_bit;
    element elements[ELEMENTS];
    revamp_array_view base;
    bool is_exact;       /* home is the host; only then does the model know moved bytes exactly (else a maximum) */
    bool has_own_memory; /* no accelerator that runs kernels uses home's bit */
    uint32_t state;
} model;

typedef struct {
    revamp_array_view view;
    int32_t origin[2], extent[2];
} block;

typedef struct {
    uint64_t to, from;
} moved_bytes;

static uint32_t random_below(model *m, uint32_t limit) {
    return random_number(&m->state) % limit;
}

static void make_block(model *m, block *b) {
    static const int32_t plane[] = {ROWS, COLUMNS};
    for (int d = 0; d < 2; d++) {
        b->origin[d] = (int32_t)random_below(m, (uint32_t)plane[d]);
        b->extent[d] = 1 + (int32_t)random_below(m, (uint32_t)(plane[d] - b->origin[d]));
    }
    b->view = part_of(m->base, b->origin, b->extent);
}

static element *element_of(model *m, const block *b, size_t i) {
    int32_t index[2];
    unfold(i, 2, b->extent, index);
    return &m->elements[(b->origin[0] + index[0]) * COLUMNS + b->origin[1] + index[1]];
}

static size_t count_of(const block *b) {
    return (size_t)(b->extent[0] * b->extent[1]);
}

/* Updates the model for a read of the block at a location, and returns the moved bytes. */
static moved_bytes fetch(model *m, const block *b, unsigned bit) {
    moved_bytes moved = {0, 0};
    for (size_t i = 0; i < count_of(b); i++) {
        element *e = element_of(m, b, i);
        if (e->is_discarded || e->valid & bit) continue;
        /* Between two accelerators that are not home, data moves through home (COH-19). */
        if (!m->is_exact && bit != m->home_bit && !(e->valid & m->home_bit)) moved.to += 4, moved.from += 4;
        if (bit != m->host_bit) moved.to += 4;
        /* The data moves through the host. If the host is home, it keeps the data. */
        if (!(e->valid & m->host_bit)) moved.from += 4;
        if (m->is_exact) e->valid |= m->host_bit;
        e->valid |= bit;
        if (e->valid & m->home_bit) {
            e->home_value = e->value;
            e->is_home_known = e->is_known;
        }
    }
    return moved;
}

static void set_only_valid_location(model *m, const block *b, unsigned bit) {
    for (size_t i = 0; i < count_of(b); i++) {
        element *e = element_of(m, b, i);
        e->valid = bit;
        if (e->is_discarded) e->is_known = false;
        e->is_discarded = false;
    }
}

static void set_home_values(model *m, const block *b) {
    for (size_t i = 0; i < count_of(b); i++) {
        element *e = element_of(m, b, i);
        if (!(e->valid & m->home_bit)) continue;
        e->home_value = e->value;
        e->is_home_known = e->is_known;
    }
}

static void compare(model *m, const block *b, const uint32_t *got, const char *what, unsigned round) {
    for (size_t i = 0; i < count_of(b); i++) {
        const element *e = element_of(m, b, i);
        if (!e->is_known || e->is_discarded || got[i] == e->value) continue;
        check_fail(__FILE__, __LINE__, "round %u, %s: element %zu is %u, expected %u", round, what, i, got[i],
                   e->value);
        check_abandon();
    }
}

static const char *const action_names[] = {"read",        "step",    "write",   "synchronize",
                                           "prefetch",    "discard", "refresh", "synchronize to be written",
                                           "discard, use"};

static bool use_randomly(model *m, block *b, unsigned round, meter *moved) {
    enum { READ, STEP, WRITE, SYNCHRONIZE, PREFETCH, DISCARD, REFRESH, SYNCHRONIZE_TO_WRITE, DISCARD_AND_USE, USES };
    static const unsigned frequent_actions[] = {READ, READ, STEP, STEP, STEP, WRITE};
    unsigned what = random_below(m, 3) ? frequent_actions[random_below(m, COUNT(frequent_actions))]
                                       : random_below(m, USES),
             at = random_below(m, m->count);
    const place *p = m->places[at];
    unsigned bit = m->bit[at];
    moved_bytes expected = {0, 0};
    /* Two cases are undefined: refresh if home may lack a change, and synchronize for writing after a discard. */
    if (what == REFRESH && !m->is_exact) what = READ;
    for (size_t i = 0; i < count_of(b); i++)
        if (what == SYNCHRONIZE_TO_WRITE && element_of(m, b, i)->is_discarded) what = PREFETCH;
    switch (what) {
    case READ:
        expected = fetch(m, b, bit);
        compare(m, b, read_at(p, b->view), p->info.description, round);
        break;
    case DISCARD_AND_USE:
        CHECK_OK(revamp_array_view_discard_data(b->view));
        for (size_t i = 0; i < count_of(b); i++)
            element_of(m, b, i)->is_discarded = true;
        /* fall through */
    case STEP:
        expected = fetch(m, b, bit);
        set_only_valid_location(m, b, bit);
        step_at(p, b->view);
        for (size_t i = 0; i < count_of(b); i++)
            element_of(m, b, i)->value = 3 * element_of(m, b, i)->value + 1;
        break;
    case WRITE: {
        const uint32_t value = random_number(&m->state);
        set_only_valid_location(m, b, bit);
        if (runs_kernels(&p->info))
            write_on(p, b->view, value);
        else
            fill_on_host(b->view, value);
        for (size_t i = 0; i < count_of(b); i++) {
            element_of(m, b, i)->value = value + (uint32_t)i;
            element_of(m, b, i)->is_known = true;
        }
        break;
    }
    case SYNCHRONIZE:
        expected = fetch(m, b, m->home_bit);
        CHECK_OK(revamp_array_view_synchronize(b->view, REVAMP_ACCESS_READ));
        break;
    case SYNCHRONIZE_TO_WRITE:
        expected = fetch(m, b, bit);
        set_only_valid_location(m, b, bit);
        CHECK_OK(revamp_array_view_synchronize_to(b->view, p->view, REVAMP_ACCESS_READ_WRITE));
        break;
    case PREFETCH:
        expected = fetch(m, b, bit);
        CHECK_OK(revamp_array_view_synchronize_to(b->view, p->view, REVAMP_ACCESS_READ));
        break;
    case DISCARD:
        CHECK_OK(revamp_array_view_discard_data(b->view));
        for (size_t i = 0; i < count_of(b); i++)
            element_of(m, b, i)->is_discarded = true;
        break;
    case REFRESH:
        CHECK_OK(revamp_array_view_refresh(b->view));
        for (size_t i = 0; i < count_of(b); i++) {
            element *e = element_of(m, b, i);
            e->value = e->home_value;
            e->is_known = e->is_home_known && !e->is_discarded;
            e->is_discarded = false;
            e->valid = m->home_bit;
        }
        break;
    }
    set_home_values(m, b);
    revamp_transfer_counters c = moved_since(moved);
    const uint64_t to = c.implicit_to_bytes + c.explicit_to_bytes, from = c.implicit_from_bytes + c.explicit_from_bytes;
    if (m->is_exact ? to == expected.to && from == expected.from : to <= expected.to && from <= expected.from)
        return true;
    check_fail(__FILE__, __LINE__, "round %u, %s on %s: to %llu, from %llu, expected %llu, %llu", round,
               action_names[what], p->info.description, (unsigned long long)to, (unsigned long long)from,
               (unsigned long long)expected.to, (unsigned long long)expected.from);
    return false;
}

/* Checks nothing unless home is the host and each accelerator has separate memory. */
static void check_residency(model *m, const block *b, unsigned round) {
    for (unsigned at = 0; m->is_exact && m->has_own_memory && at < m->count; at++) {
        uint64_t valid = 0, discarded = 0;
        for (size_t i = 0; i < count_of(b); i++) {
            const element *e = element_of(m, b, i);
            if (e->is_discarded)
                discarded += 4;
            else if (e->valid & m->bit[at])
                valid += 4;
        }
        revamp_residency r = residency_at(b->view, m->places[at]);
        if (r.valid_bytes >= valid && r.valid_bytes <= valid + discarded) continue;
        check_fail(__FILE__, __LINE__, "round %u: %llu bytes are valid on %s, expected %llu", round,
                   (unsigned long long)r.valid_bytes, m->places[at]->info.description, (unsigned long long)valid);
    }
}

/* If `is_misaligned`, home begins at a misaligned address. Devices that cannot import memory at such an address do not
 * share it. */
static void run_model(const place *home, const place *const *places, unsigned count, bool is_misaligned, uint32_t seed,
                      unsigned rounds) {
    static const int32_t plane[] = {ROWS, COLUMNS};
    static model m;
    block blocks[VIEWS], all = {NULL, {0, 0}, {ROWS, COLUMNS}};
    uint32_t *data = numbers(ELEMENTS + 1, seed) + is_misaligned;
    revamp_array array = NULL;
    memset(&m, 0, sizeof m);
    m.state = seed * 2654435761U + 1;
    m.is_exact = home->info.kind == REVAMP_ACCELERATOR_CPU;
    m.count = count;
    if (m.is_exact) {
        m.base = view_of_host(data, 2, plane, 4);
    } else {
        array = array_of(home->view, 2, plane, 4);
        write_array(array, data);
        m.base = view_of_array(array);
    }
    m.home_bit = 1;
    m.has_own_memory = true;
    m.host_bit = m.is_exact ? m.home_bit : 2;
    for (unsigned i = 0; i < count; i++) {
        m.places[i] = places[i];
        m.bit[i] = 4U << i;
        if (residency_at(m.base, places[i]).shares_home) {
            m.bit[i] = m.home_bit;
            m.has_own_memory = m.has_own_memory && !runs_kernels(&places[i]->info);
        }
        if (places[i]->info.kind == REVAMP_ACCELERATOR_CPU) {
            if (m.bit[i] == m.home_bit)
                m.host_bit = m.home_bit;
            else
                m.bit[i] = m.host_bit;
        }
    }
    for (size_t i = 0; i < ELEMENTS; i++) {
        element *e = &m.elements[i];
        e->value = e->home_value = data[i];
        e->is_known = e->is_home_known = true;
        e->valid = m.home_bit;
    }
    for (int i = 0; i < VIEWS; i++)
        make_block(&m, &blocks[i]);
    all.view = m.base;
    meter moved = meter_of(m.base);
    for (unsigned round = 0; round < rounds; round++) {
        const void *mark = memory_mark();
        block *b = random_below(&m, 12) ? &blocks[random_below(&m, VIEWS)] : &all;
        if (b != &all && !random_below(&m, 4)) {
            drop(b->view);
            make_block(&m, b);
        }
        if (!use_randomly(&m, b, round, &moved)) check_abandon();
        check_residency(&m, b, round);
        check_residency(&m, &all, round);
        free_memory_since(mark);
    }
    meter of_process = meter_of(NULL);
    for (int i = 0; i < VIEWS; i++)
        drop(blocks[i].view);
    CHECK_NOTHING_MOVED(&of_process);
    moved_bytes expected = fetch(&m, &all, m.home_bit);
    drop(m.base);
    if (m.is_exact)
        CHECK_MOVED(&of_process, expected.to, expected.from);
    else
        data = read_array(array);
    compare(&m, &all, data, "at the end", rounds);
    if (array) CHECK_OK(revamp_array_destroy(array));
}

enum { RUNS = 12, ROUNDS_PER_RUN = 300 };

TEST(COH_12_random_views_on_one_accelerator_move_what_is_missing) {
    const place host = host_place();
    FOR_EACH_RUNNER(p) {
        const place *places[] = {&host, p};
        for (uint32_t seed = 1; seed <= RUNS; seed++)
            run_model(&host, places, 2, false, seed, ROUNDS_PER_RUN);
    }
}

TEST(COH_19_random_views_on_all_accelerators_move_what_is_missing) {
    const place host = host_place();
    const place *places[MAX_PLACES] = {&host};
    unsigned count = 1;
    for (const place *p = some_two_places(); p->view && count < MAX_PLACES; p++)
        places[count++] = p;
    for (uint32_t seed = 1; seed <= RUNS; seed++)
        run_model(&host, places, count, seed % 2, seed, ROUNDS_PER_RUN);
}

TEST(COH_12_random_views_of_arrays_stay_coherent) {
    const place host = host_place();
    const place *places[MAX_PLACES] = {&host};
    unsigned count = 1;
    for (const place *p = first_place_or_skip(runs_kernels); p->view && count < MAX_PLACES; p++)
        places[count++] = p;
    FOR_EACH_PLACE(home, holds_arrays)
    for (uint32_t seed = 11; seed < 11 + RUNS; seed++)
        if (home->info.kind != REVAMP_ACCELERATOR_CPU) run_model(home, places, count, false, seed, ROUNDS_PER_RUN);
}
