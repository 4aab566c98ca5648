/* Tests of revamp_copy() and revamp_copy_async() between all kinds of memory (docs/spec/copies.md). */
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RANK = 4, MAX_STORES = 32 };

/* A kind of memory to copy from or to. */
typedef struct {
    char name[80];
    revamp_accelerator_view view; /* NULL: host memory */
    revamp_accelerator_view associated;
    bool is_shared;
    bool is_new_view; /* end_stores() releases `view` */
} store;

typedef struct {
    store at[MAX_STORES];
    size_t count;
} store_list;

static void add_store(store_list *list, const char *kind, const place *p, revamp_accelerator_view view,
                      revamp_accelerator_view associated, bool is_shared) {
    REQUIRE(list->count < MAX_STORES);
    store *s = &list->at[list->count++];
    snprintf(s->name, sizeof s->name, "%s%s%.40s", kind, p ? " of " : "", p ? p->info.description : "");
    s->view = view;
    s->associated = associated;
    s->is_shared = is_shared;
}

static store_list all_stores(void) {
    store_list list = {0};
    add_store(&list, "host memory", NULL, NULL, NULL, false);
    for (const place *p = places_that(holds_arrays); p->view; p++) {
        add_store(&list, "array", p, p->view, NULL, false);
        if (!runs_spirv(&p->info)) continue;
        add_store(&list, "array on a second view", p, new_view(p->accelerator, REVAMP_QUEUING_MODE_IMMEDIATE), NULL,
                  false);
        list.at[list.count - 1].is_new_view = true;
        add_store(&list, "staging array", p, cpu_view(), p->view, false);
        if (is_shared_vulkan(&p->info)) add_store(&list, "shared array", p, p->view, NULL, true);
    }
    return list;
}

static void end_stores(const store_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].is_new_view) CHECK_OK(revamp_accelerator_view_release(list->at[i].view));
}

/* A box within a larger box. */
typedef struct {
    uint32_t rank;
    int32_t all[MAX_RANK];
    int32_t origin[MAX_RANK];
    int32_t part[MAX_RANK];
    bool is_whole;
} shape;

/* One side of a copy, and its expected bytes. */
typedef struct {
    const store *held_in;
    shape box;
    size_t element_size, size;
    unsigned char *model, *host;
    revamp_array array;
    int64_t strides[MAX_RANK];
    revamp_region region;
} copy_side;

static uint64_t offset_of(const shape *box, const int32_t *index) {
    uint64_t at = 0;
    for (uint32_t d = 0; d < box->rank; d++)
        at = at * (uint64_t)box->all[d] + (uint64_t)(box->is_whole ? 0 : box->origin[d]) + (uint64_t)index[d];
    return at;
}

static void set_host_region(copy_side *s) {
    static const int32_t zeros[MAX_RANK] = {0};
    int64_t stride = (int64_t)s->element_size;
    s->region =
        host_region(s->host + offset_of(&s->box, zeros) * s->element_size, s->box.rank, s->box.part, s->element_size);
    if (s->box.is_whole) return;
    for (uint32_t d = s->box.rank; d-- > 0; stride *= s->box.all[d])
        s->strides[d] = stride;
    s->region.host_strides = s->strides;
}

/* Initialises `s`. The struct must not move afterwards, because `s->region` points into `s`. */
static void make_side(copy_side *s, const store *held_in, const shape *box, size_t element_size, uint32_t seed) {
    memset(s, 0, sizeof *s);
    s->held_in = held_in;
    s->box = *box;
    s->element_size = element_size;
    s->size = (size_t)product(box->rank, box->all) * element_size;
    s->model = memory(s->size);
    fill_bytes(s->model, s->size, seed);
    if (!held_in->view) {
        s->host = memory(s->size);
        memcpy(s->host, s->model, s->size);
        set_host_region(s);
        return;
    }
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = held_in->associated;
    options.has_cpu_access_type = held_in->is_shared;
    options.cpu_access_type = REVAMP_ACCESS_READ_WRITE;
    REQUIRE_OK(revamp_array_create(held_in->view, box->rank, s->box.all, element_size, &options, &s->array));
    write_array(s->array, s->model);
    s->region = box->is_whole ? whole(s->array) : section(s->array, s->box.origin, s->box.part);
}

static void destroy_side(copy_side *s) {
    if (s->array) CHECK_OK(revamp_array_destroy(s->array));
}

static void copy_naive(const copy_side *from, copy_side *to) {
    int32_t index[MAX_RANK];
    uint64_t count = product(from->box.rank, from->box.part);
    for (uint64_t i = 0; i < count; i++) {
        unfold(i, from->box.rank, from->box.part, index);
        memcpy(to->model + offset_of(&to->box, index) * to->element_size,
               from->model + offset_of(&from->box, index) * from->element_size, from->element_size);
    }
}

static void copy_region(const revamp_region *from, const revamp_region *to, bool is_async) {
    revamp_completion done = NULL;
    if (!is_async) {
        CHECK_OK(revamp_copy(from, to));
        return;
    }
    REQUIRE_OK(revamp_copy_async(from, to, NULL, &done));
    expect_done(done);
}

static void check_bytes(const copy_side *s) {
    const void *got = s->host ? s->host : read_array(s->array);
    CHECK_SAME(got, s->model, s->size);
}

/* Checks a copy, and compares both sides in full: bytes outside the copied box must not change. */
static void check_copy(const store *from, const store *to, const shape *a, const shape *b, size_t element_size,
                       bool is_async) {
    copy_side source, destination;
    const void *mark = memory_mark();
    make_side(&source, from, a, element_size, 1);
    make_side(&destination, to, b, element_size, 2);
    copy_region(&source.region, &destination.region, is_async);
    copy_naive(&source, &destination);
    check_bytes(&destination);
    check_bytes(&source);
    destroy_side(&source);
    destroy_side(&destination);
    free_memory_since(mark);
}

static const shape whole_shapes[] = {
    {1, {37}, {0}, {37}, true},
    {2, {5, 9}, {0}, {5, 9}, true},
    {3, {4, 3, 7}, {0}, {4, 3, 7}, true},
    {4, {2, 3, 4, 5}, {0}, {2, 3, 4, 5}, true},
};
static const shape source_shapes[] = {
    {1, {90}, {17}, {37}, false},
    {2, {8, 30}, {2, 3}, {5, 9}, false},
    {3, {6, 5, 9}, {1, 2, 1}, {4, 3, 7}, false},
    {4, {3, 4, 6, 7}, {1, 0, 2, 1}, {2, 3, 4, 5}, false},
};
static const shape destination_shapes[] = {
    {1, {61}, {3}, {37}, false},
    {2, {11, 10}, {6, 1}, {5, 9}, false},
    {3, {4, 8, 8}, {0, 5, 0}, {4, 3, 7}, false},
    {4, {5, 3, 4, 9}, {3, 0, 0, 4}, {2, 3, 4, 5}, false},
};

static void check_all_pairs(const shape *from, const shape *to, bool is_async) {
    static const size_t element_sizes[] = {4, 8, 12, 64};
    store_list stores = all_stores();
    for (size_t a = 0; a < stores.count; a++)
        for (size_t b = 0; b < stores.count; b++) {
            const int failures = check_failures();
            for (size_t r = 0; r < MAX_RANK; r++)
                check_copy(&stores.at[a], &stores.at[b], &from[r], &to[r],
                           element_sizes[(a + b + r) % COUNT(element_sizes)], is_async);
            if (check_failures() > failures) printf("from %s to %s\n", stores.at[a].name, stores.at[b].name);
        }
    end_stores(&stores);
}

TEST(every_pair_copies_whole_arrays) {
    check_all_pairs(whole_shapes, whole_shapes, false);
}

TEST(every_pair_copies_whole_arrays_async) {
    check_all_pairs(whole_shapes, whole_shapes, true);
}

TEST(every_pair_copies_sections) {
    check_all_pairs(source_shapes, destination_shapes, false);
}

TEST(every_pair_copies_sections_async) {
    check_all_pairs(source_shapes, destination_shapes, true);
}

TEST(every_pair_copies_a_section_to_a_whole) {
    check_all_pairs(source_shapes, whole_shapes, false);
    check_all_pairs(whole_shapes, destination_shapes, false);
}

/* Sizes around the thresholds at which the copy method may change. */
static const int32_t linear_counts[] = {1,       3, 1023, 16383, 65537, (1 << 18) + 1, (1 << 20) - 1, (1 << 21) + 3,
                                        10485763};

/* Copies `count` numbers from the middle of one store to the middle of another. */
static void check_linear(const store *from, const store *to, int32_t count, bool is_async) {
    shape a = {1, {0}, {1}, {0}, false}, b = {1, {0}, {2}, {0}, false};
    a.part[0] = b.part[0] = count;
    a.all[0] = count + 5;
    b.all[0] = count + 3;
    check_copy(from, to, &a, &b, 4, is_async);
}

static void check_sizes(bool is_async) {
    store_list stores = all_stores();
    for (size_t k = 0; k < stores.count; k++)
        for (size_t i = 0; i < COUNT(linear_counts); i++) {
            /* Large copies are slow: one direction is tested synchronously, the other one asynchronously. */
            bool is_large = linear_counts[i] > 1 << 20;
            if (!is_large || !is_async) check_linear(&stores.at[0], &stores.at[k], linear_counts[i], is_async);
            if (!is_large || is_async) check_linear(&stores.at[k], &stores.at[0], linear_counts[i], is_async);
        }
    end_stores(&stores);
}

TEST(sizes_from_4_bytes_to_40_MiB) {
    check_sizes(false);
}

TEST(sizes_from_4_bytes_to_40_MiB_async) {
    check_sizes(true);
}

TEST(sizes_between_accelerators) {
    static const int32_t counts[] = {1023, (1 << 18) + 1, (1 << 21) + 3};
    store_list stores = all_stores();
    for (size_t a = 1; a < stores.count; a++)
        for (size_t b = 1; b < stores.count; b++)
            for (size_t i = 0; i < COUNT(counts); i++)
                check_linear(&stores.at[a], &stores.at[b], counts[i], i == 1);
    end_stores(&stores);
}

TEST(large_strided_sections_cross_chunks) {
    static const shape from = {2, {1501, 2003}, {7, 13}, {1490, 1777}, false};
    static const shape to = {2, {1493, 1801}, {2, 5}, {1490, 1777}, false};
    store_list stores = all_stores();
    for (size_t k = 0; k < stores.count; k++) {
        check_copy(&stores.at[0], &stores.at[k], &from, &to, 4, false);
        check_copy(&stores.at[k], &stores.at[0], &from, &to, 4, true);
        check_copy(&stores.at[k], &stores.at[k], &from, &to, 4, false);
    }
    end_stores(&stores);
}

TEST(narrow_columns_of_many_rows) {
    static const shape from = {2, {100003, 9}, {1, 4}, {100001, 1}, false};
    static const shape to = {2, {100001, 3}, {0, 2}, {100001, 1}, false};
    store_list stores = all_stores();
    for (size_t k = 0; k < stores.count; k++) {
        check_copy(&stores.at[0], &stores.at[k], &from, &to, 4, false);
        check_copy(&stores.at[k], &stores.at[0], &from, &to, 4, false);
        check_copy(&stores.at[k], &stores.at[k], &from, &to, 4, false);
    }
    end_stores(&stores);
}

/* Copies a section of an array to another section of the same array. */
TEST(sections_of_one_array_that_do_not_overlap) {
    static const int32_t all[] = {12, 20}, part[] = {4, 9}, left[] = {3, 1}, right[] = {3, 10}, below[] = {7, 1};
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_of(p->view, 2, all, 4);
        uint32_t *expected = numbers(240, 1);
        write_array(array, expected);
        const int32_t *targets[] = {right, below};
        for (size_t t = 0; t < 2; t++) {
            revamp_region from = section(array, left, part), to = section(array, targets[t], part);
            CHECK_OK(revamp_copy(&from, &to));
            for (int y = 0; y < part[0]; y++)
                memcpy(expected + (targets[t][0] + y) * 20 + targets[t][1], expected + (left[0] + y) * 20 + left[1],
                       36);
        }
        CHECK_SAME(read_array(array), expected, 960);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(overlapping_sections_are_an_error) {
    static const int32_t all[] = {12, 20}, part[] = {4, 9}, first[] = {3, 1}, second[] = {6, 9};
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_of(p->view, 2, all, 4);
        uint32_t *expected = numbers(240, 1);
        write_array(array, expected);
        revamp_region from = section(array, first, part), to = section(array, second, part);
        revamp_completion done = NULL;
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "overlap");
        CHECK_FAILS(revamp_copy(&from, &from), AS_BAD, "overlap");
        CHECK_FAILS(revamp_copy_async(&from, &to, NULL, &done), AS_BAD, "overlap");
        CHECK(!done);
        CHECK_SAME(read_array(array), expected, 960);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(origin_and_extent_of_a_section_have_defaults) {
    static const int32_t all[] = {6, 8}, origin[] = {2, 3}, rest[] = {4, 5};
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_of(p->view, 2, all, 4);
        uint32_t *expected = numbers(48, 1), got[20];
        write_array(array, expected);
        /* Without an extent, the section reaches to the end of the array. */
        revamp_region from = section(array, origin, NULL), to = host_region(got, 2, rest, 4);
        to.host_size = sizeof got;
        CHECK_OK(revamp_copy(&from, &to));
        for (int y = 0; y < 4; y++)
            CHECK_SAME(got + y * 5, expected + (y + 2) * 8 + 3, 20);
        /* Without an origin, the section starts at the beginning of the array. */
        from = section(array, NULL, rest);
        CHECK_OK(revamp_copy(&from, &to));
        for (int y = 0; y < 4; y++)
            CHECK_SAME(got + y * 5, expected + y * 8, 20);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(whole_array_copies_async) {
    FOR_EACH_PLACE(p, holds_arrays) {
        enum { NUMBERS = 100001 };
        uint32_t *sent = numbers(NUMBERS, 3), *got = memory(NUMBERS * 4);
        revamp_array array = array_1d(p->view, NUMBERS, 4);
        revamp_completion up = NULL, down = NULL;
        REQUIRE_OK(revamp_copy_to_array_async(sent, NUMBERS * 4, array, NULL, &up));
        /* The library orders this copy after the first one, without a wait by the test. */
        REQUIRE_OK(revamp_copy_from_array_async(array, got, NUMBERS * 4, NULL, &down));
        expect_done(down);
        expect_done(up);
        CHECK_SAME(got, sent, NUMBERS * 4);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* The order of copies and kernels. */

TEST(a_copy_sees_the_kernels_queued_before) {
    enum { ELEMENTS = 5000, STEPS = 20 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(ELEMENTS, 1);
        revamp_array array = array_with(p->view, expected, ELEMENTS), second = array_1d(p->view, ELEMENTS, 4);
        revamp_array host = array_1d(cpu_view(), ELEMENTS, 4);
        revamp_region from = whole(array), there = whole(second), here = whole(host);
        for (int i = 0; i < STEPS; i++)
            CHECK_OK(launch_step(p->view, step, array));
        CHECK_OK(revamp_copy(&from, &there));
        CHECK_OK(launch_step(p->view, step, array));
        CHECK_OK(launch_step(p->view, step, second));
        CHECK_OK(revamp_copy(&from, &here));
        step_naive(expected, ELEMENTS, STEPS + 1);
        CHECK_SAME(data_of(host, REVAMP_ACCESS_READ), expected, ELEMENTS * 4);
        CHECK_SAME(read_array(second), expected, ELEMENTS * 4);
        CHECK_SAME(read_array(array), expected, ELEMENTS * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(second));
        CHECK_OK(revamp_array_destroy(host));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(a_kernel_sees_the_copies_queued_before) {
    enum { ELEMENTS = 3 << 20 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(ELEMENTS, 1), *sent = memory(ELEMENTS * 4), *got = memory(ELEMENTS * 4);
        revamp_array array = array_1d(p->view, ELEMENTS, 4), second = array_1d(p->view, ELEMENTS, 4);
        revamp_completion done[3] = {NULL, NULL, NULL};
        revamp_region from = whole(array), to = whole(second);
        memcpy(sent, expected, ELEMENTS * 4);
        REQUIRE_OK(revamp_copy_to_array_async(sent, ELEMENTS * 4, array, NULL, &done[0]));
        CHECK_OK(launch_step(p->view, step, array));
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[1]));
        CHECK_OK(launch_step(p->view, step, second));
        REQUIRE_OK(revamp_copy_from_array_async(second, got, ELEMENTS * 4, NULL, &done[2]));
        for (size_t i = COUNT(done); i-- > 0;)
            expect_done(done[i]);
        step_naive(expected, ELEMENTS, 2);
        CHECK_SAME(got, expected, ELEMENTS * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(second));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Once the completion is done, the library no longer uses the host memory, even if the array was destroyed. */
TEST(arrays_may_be_destroyed_while_a_copy_is_under_way) {
    enum { ELEMENTS = 2 << 20 };
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(ELEMENTS, 1), *got = memory(ELEMENTS * 4);
        revamp_array array = array_1d(p->view, ELEMENTS, 4), second = array_1d(p->view, ELEMENTS, 4);
        revamp_region from = whole(array), to = whole(second);
        revamp_completion done[3] = {NULL, NULL, NULL};
        REQUIRE_OK(revamp_copy_to_array_async(sent, ELEMENTS * 4, array, NULL, &done[0]));
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[1]));
        CHECK_OK(revamp_array_destroy(array));
        REQUIRE_OK(revamp_copy_from_array_async(second, got, ELEMENTS * 4, NULL, &done[2]));
        CHECK_OK(revamp_array_destroy(second));
        for (size_t i = 0; i < COUNT(done); i++)
            expect_done(done[i]);
        CHECK_SAME(got, sent, ELEMENTS * 4);
    }
}

/* Source and destination shapes that do not fit each other. */

TEST(shapes_that_do_not_match_are_errors) {
    static const int32_t all[] = {6, 8}, other[] = {8, 6}, same_count[] = {4, 12};
    static const int32_t outside[] = {3, 3}, negative[] = {-1, 0}, zero[] = {0, 4};
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t host[200] = {0};
        revamp_array a = array_of(p->view, 2, all, 4), b = array_of(p->view, 2, other, 4);
        revamp_array wide = array_of(p->view, 2, all, 8), line = array_1d(p->view, 48, 4);
        revamp_region from = whole(a), to = whole(b);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "extent");
        to = whole(line);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "");
        to = whole(wide);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "element");
        to = host_region(host, 2, same_count, 4);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "extent");
        to = host_region(host, 2, all, 8);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "element");
        to = host_region(host, 2, all, 4);
        to.host_size = 191;
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "191");
        to.host_size = 192;
        CHECK_OK(revamp_copy(&from, &to));
        from = section(a, outside, outside);
        from.extent = all;
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "");
        from = section(a, negative, NULL);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "-1");
        from = section(a, NULL, zero);
        to = host_region(host, 2, zero, 4);
        CHECK_FAILS(revamp_copy(&from, &to), AS_BAD, "0");
        CHECK_FAILS(revamp_copy_to_array(host, 188, a), AS_BAD, "188");
        CHECK_FAILS(revamp_copy_from_array(a, host, 196), AS_BAD, "196");
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
        CHECK_OK(revamp_array_destroy(wide));
        CHECK_OK(revamp_array_destroy(line));
    }
    small_job();
}
