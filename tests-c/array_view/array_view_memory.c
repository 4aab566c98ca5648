/* Tests of array_views over all kinds of host memory, for example pages that are unmapped later, or read-only pages. */
#include "system.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

enum { PAGES = 4 };

TEST(memory_may_be_unmapped_after_the_last_view) {
    FOR_EACH_RUNNER(p) {
        const size_t size = PAGES * page_size(), count = size / 4;
        void *address_hint = NULL;
        for (uint32_t i = 0; i < 10; i++) {
            const void *mark = memory_mark();
            uint32_t *data = address_hint = map_pages(address_hint, size), *expected = numbers(count, i);
            memcpy(data, expected, size);
            revamp_array_view view = view_of(data, (int32_t)count), part = range_of(view, 10, 20);
            step_on(p, view);
            if (i % 2) read_on_host(part);
            step_on(p, part);
            step_naive(expected, count, 1);
            step_naive(expected + 10, 20, 1);
            drop(part);
            drop(view);
            CHECK_SAME(data, expected, size);
            /* The next map_pages() usually returns the same address, but with other physical pages. */
            CHECK(unmap_pages(data, size));
            free_memory_since(mark);
        }
    }
    full_job();
}

TEST(read_only_views_work_on_read_only_pages) {
    FOR_EACH_RUNNER(p) {
        const size_t size = PAGES * page_size(), count = size / 4;
        uint32_t *data = map_pages(NULL, size), *expected = numbers(count, 1);
        memcpy(data, expected, size);
        REQUIRE(forbid_writing(data, size));
        revamp_array_view view = const_view_of(data, (int32_t)count), part = range_of(view, 5, 100);
        CHECK_SAME(read_on(p, view), expected, size);
        CHECK_SAME(read_on_host(part), expected + 5, 400);
        CHECK_SAME(read_on(p, part), expected + 5, 400);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        drop(part);
        drop(view);
        CHECK(unmap_pages(data, size));
    }
}

TEST(read_only_views_work_on_constants) {
    static const uint32_t constants[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    FOR_EACH_RUNNER(p) {
        revamp_array_view view = const_view_of(constants, COUNT(constants));
        CHECK_SAME(read_on(p, view), constants, sizeof constants);
        CHECK_SAME(read_on_host(view), constants, sizeof constants);
        drop(view);
    }
}

TEST(views_end_where_the_memory_does) {
    FOR_EACH_RUNNER(p) {
        const size_t size = PAGES * page_size(), mapped = size + page_size(), count = 300;
        uint32_t *data = map_pages(NULL, mapped), *end = data + size / 4, *expected = numbers(count, 1);
        REQUIRE(forbid_pages(end, page_size()));
        /* The memory of the view ends where the accessible pages end, and begins in the middle of a page. */
        memcpy(end - count, expected, count * 4);
        revamp_array_view view = view_of(end - count, (int32_t)count);
        step_on(p, view);
        step_on_host(view);
        step_on(p, view);
        drop(view);
        step_naive(expected, count, 3);
        CHECK_SAME(end - count, expected, count * 4);
        CHECK_NUMBER(*(end - count - 1), 0);
        CHECK(unmap_pages(data, mapped));
    }
}

TEST(neighbours_in_one_page_keep_their_values) {
    enum { N = 100 };
    FOR_EACH_RUNNER(p) {
        uint32_t *data = map_pages(NULL, page_size()), *expected = numbers((size_t)3 * N, 1);
        memcpy(data, expected, (size_t)12 * N);
        /* The data sources a and b, and the program's own numbers between them, change in turn. */
        revamp_array_view a = view_of(data, N), b = view_of(data + (size_t)2 * N, N);
        for (int i = 0; i < 5; i++) {
            step_on(p, a);
            step_naive(data + N, N, 1);
            step_on_host(b);
            step_on(p, b);
            step_naive(data + N, N, 1);
        }
        drop(a);
        step_on(p, b);
        step_naive(data + N, N, 1);
        drop(b);
        step_naive(expected, N, 5);
        step_naive(expected + N, (size_t)2 * N, 11);
        CHECK_SAME(data, expected, (size_t)12 * N);
        CHECK(unmap_pages(data, page_size()));
    }
}

TEST(neighbours_on_two_accelerators) {
    enum { N = 100 };
    FOR_EACH_TWO_RUNNERS(p, q) {
        uint32_t *data = map_pages(NULL, page_size()), *expected = numbers((size_t)2 * N, 1);
        memcpy(data, expected, (size_t)8 * N);
        revamp_array_view a = view_of(data, N), b = view_of(data + N, N);
        for (int i = 0; i < 20; i++) {
            step_on(p, a);
            step_on(q, b);
        }
        drop(b);
        drop(a);
        step_naive(expected, (size_t)2 * N, 20);
        CHECK_SAME(data, expected, (size_t)8 * N);
        CHECK(unmap_pages(data, page_size()));
    }
}

TEST(thousands_of_data_sources_at_once) {
    enum { SOURCES = 3000, N = 64 };
    FOR_EACH_RUNNER(p) {
        const void *mark = memory_mark();
        uint32_t *data = numbers((size_t)SOURCES * N, 1), *expected = numbers((size_t)SOURCES * N, 1);
        revamp_array_view *views = memory(SOURCES * sizeof(revamp_array_view));
        for (int i = 0; i < SOURCES; i++) {
            views[i] = view_of(data + (size_t)i * N, N);
            step_on(p, views[i]);
        }
        for (int i = 0; i < SOURCES; i += 7)
            step_on_host(views[i]);
        drop_all(views, SOURCES);
        step_naive(expected, (size_t)SOURCES * N, 1);
        for (size_t i = 0; i < SOURCES; i += 7)
            step_naive(expected + i * N, N, 1);
        CHECK_SAME(data, expected, (size_t)SOURCES * N * 4);
        free_memory_since(mark);
    }
}

/* Creating, using and releasing data sources repeatedly leaks no memory: the process does not grow. */
TEST(created_and_released_views_leak_nothing) {
#if defined(__SANITIZE_ADDRESS__)
    check_skip("AddressSanitizer keeps freed memory");
#endif
    enum { SIZE = 1 << 17, ELEMENTS = SIZE / 4, WARM_UP_ROUNDS = 20, ROUNDS = 100 };
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(ELEMENTS, 1);
        long before = 0;
        for (int i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
            revamp_array_view view = view_of(data, ELEMENTS), part = range_of(view, i, 1000);
            revamp_array_view without_source = sourceless(ELEMENTS);
            step_on(p, view);
            fill_on(p, without_source, 1);
            host_access(part, REVAMP_ACCESS_READ_WRITE);
            step_on(p, part);
            drop(view);
            drop(without_source);
            drop(part);
            if (i == WARM_UP_ROUNDS) before = resident_kilobytes();
        }
        /* A leak of one block in each round would be 12 MiB. */
        CHECK(resident_kilobytes() - before < 8 * 1024);
    }
}
