/* copy and copy_async between all kinds of memory (docs/spec/copies.md), against a naive copy. */
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { MOST_RANK = 4, MOST_STORES = 32 };

/* A kind of memory to copy from or to. */
typedef struct {
    char name[80];
    revamp_accelerator_view view; /* NULL: host memory */
    revamp_accelerator_view associated;
    bool is_shared;
} store;

typedef struct {
    store at[MOST_STORES];
    size_t count;
} store_list;

static void add_store(store_list *list, const char *kind, const place *p, revamp_accelerator_view view,
                      revamp_accelerator_view associated, bool is_shared) {
    REQUIRE(list->count < MOST_STORES);
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
        add_store(&list, "staging array", p, cpu_view(), p->view, false);
        if (is_shared_vulkan(&p->info)) add_store(&list, "shared array", p, p->view, NULL, true);
    }
    return list;
}

/* A box in a larger one. */
typedef struct {
    uint32_t rank;
    int32_t all[MOST_RANK];
    int32_t origin[MOST_RANK];
    int32_t part[MOST_RANK];
    bool is_whole;
} shape;

/* One side of a copy, and what its bytes must be. */
typedef struct {
    const store *in;
    shape box;
    size_t element, size;
    unsigned char *model, *host;
    revamp_array array;
    int64_t strides[MOST_RANK];
    revamp_region region;
} side;

static uint64_t offset_of(const shape *box, const int32_t *index) {
    uint64_t at = 0;
    for (uint32_t d = 0; d < box->rank; d++)
        at = at * (uint64_t)box->all[d] + (uint64_t)(box->is_whole ? 0 : box->origin[d]) + (uint64_t)index[d];
    return at;
}

static void place_host_region(side *s) {
    static const int32_t zeros[MOST_RANK] = {0};
    int64_t stride = (int64_t)s->element;
    s->region = host_region(s->host + offset_of(&s->box, zeros) * s->element, s->box.rank, s->box.part, s->element);
    if (s->box.is_whole) return;
    for (uint32_t d = s->box.rank; d-- > 0; stride *= s->box.all[d])
        s->strides[d] = stride;
    s->region.host_strides = s->strides;
}

/* Fills `s`, which must not move afterwards. */
static void make_side(side *s, const store *in, const shape *box, size_t element, uint32_t seed) {
    memset(s, 0, sizeof *s);
    s->in = in;
    s->box = *box;
    s->element = element;
    s->size = (size_t)product(box->rank, box->all) * element;
    s->model = memory(s->size);
    fill_bytes(s->model, s->size, seed);
    if (!in->view) {
        s->host = memory(s->size);
        memcpy(s->host, s->model, s->size);
        place_host_region(s);
        return;
    }
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = in->associated;
    options.has_cpu_access_type = in->is_shared;
    options.cpu_access_type = REVAMP_ACCESS_READ_WRITE;
    REQUIRE_OK(revamp_array_create(in->view, box->rank, s->box.all, element, &options, &s->array));
    write_array(s->array, s->model);
    s->region = box->is_whole ? whole(s->array) : section(s->array, s->box.origin, s->box.part);
}

static void end_side(side *s) {
    if (s->array) CHECK_OK(revamp_array_destroy(s->array));
}

static void copy_naive(const side *from, side *to) {
    int32_t index[MOST_RANK];
    uint64_t count = product(from->box.rank, from->box.part);
    for (uint64_t i = 0; i < count; i++) {
        unfold(i, from->box.rank, from->box.part, index);
        memcpy(to->model + offset_of(&to->box, index) * to->element,
               from->model + offset_of(&from->box, index) * from->element, from->element);
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

static void check_bytes(const side *s) {
    const void *got = s->host ? s->host : read_array(s->array);
    CHECK_SAME(got, s->model, s->size);
}

/* One copy, compared as a whole: neither side may change elsewhere. */
static void check_copy(const store *from, const store *to, const shape *a, const shape *b, size_t element,
                       bool is_async) {
    side source, destination;
    const void *mark = memory_mark();
    make_side(&source, from, a, element, 1);
    make_side(&destination, to, b, element, 2);
    copy_region(&source.region, &destination.region, is_async);
    copy_naive(&source, &destination);
    check_bytes(&destination);
    check_bytes(&source);
    end_side(&source);
    end_side(&destination);
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

static void check_matrix(const shape *from, const shape *to, bool is_async) {
    static const size_t elements[] = {4, 8, 12, 64};
    store_list stores = all_stores();
    for (size_t a = 0; a < stores.count; a++)
        for (size_t b = 0; b < stores.count; b++) {
            for (size_t r = 0; r < MOST_RANK; r++)
                check_copy(&stores.at[a], &stores.at[b], &from[r], &to[r], elements[(a + b + r) % COUNT(elements)],
                           is_async);
            if (revamp_last_error_status()) printf("from %s to %s\n", stores.at[a].name, stores.at[b].name);
        }
}

TEST(every_pair_copies_whole_arrays) {
    check_matrix(whole_shapes, whole_shapes, false);
}

TEST(every_pair_copies_whole_arrays_async) {
    check_matrix(whole_shapes, whole_shapes, true);
}

TEST(every_pair_copies_sections) {
    check_matrix(source_shapes, destination_shapes, false);
}

TEST(every_pair_copies_sections_async) {
    check_matrix(source_shapes, destination_shapes, true);
}

TEST(every_pair_copies_a_section_to_a_whole) {
    check_matrix(source_shapes, whole_shapes, false);
    check_matrix(whole_shapes, destination_shapes, false);
}

/* Sizes around those at which the way of copying may change. */
static const int32_t linear_counts[] = {1,       3, 1023, 16383, 65537, (1 << 18) + 1, (1 << 20) - 1, (1 << 21) + 3,
                                        10485763};

/* Copies `count` numbers from the middle of one to the middle of another. */
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
            /* The large ones cost time: each way once, of sync and async together. */
            bool is_large = linear_counts[i] > 1 << 20;
            if (!is_large || !is_async) check_linear(&stores.at[0], &stores.at[k], linear_counts[i], is_async);
            if (!is_large || is_async) check_linear(&stores.at[k], &stores.at[0], linear_counts[i], is_async);
        }
}

TEST(sizes_from_4_bytes_to_40_MiB) {
    check_sizes(false);
}

TEST(sizes_from_4_bytes_to_40_MiB_async) {
    check_sizes(true);
}

TEST(sizes_between_accelerators) {
    static const int32_t some[] = {1023, (1 << 18) + 1, (1 << 21) + 3};
    store_list stores = all_stores();
    for (size_t a = 1; a < stores.count; a++)
        for (size_t b = 1; b < stores.count; b++)
            for (size_t i = 0; i < COUNT(some); i++)
                check_linear(&stores.at[a], &stores.at[b], some[i], i == 1);
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
}

/* A section of one array to another section of it. */
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

TEST(a_copy_takes_the_host_part_of_origin_and_extent_defaults) {
    static const int32_t all[] = {6, 8}, origin[] = {2, 3}, rest[] = {4, 5};
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_of(p->view, 2, all, 4);
        uint32_t *expected = numbers(48, 1), got[20];
        write_array(array, expected);
        /* No extent: to the end of the array. */
        revamp_region from = section(array, origin, NULL), to = host_region(got, 2, rest, 4);
        to.host_size = sizeof got;
        CHECK_OK(revamp_copy(&from, &to));
        for (int y = 0; y < 4; y++)
            CHECK_SAME(got + y * 5, expected + (y + 2) * 8 + 3, 20);
        /* No origin: from the beginning. */
        from = section(array, NULL, rest);
        CHECK_OK(revamp_copy(&from, &to));
        for (int y = 0; y < 4; y++)
            CHECK_SAME(got + y * 5, expected + y * 8, 20);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(whole_array_copies_async) {
    FOR_EACH_PLACE(p, holds_arrays) {
        enum { COPIES = 100001 };
        uint32_t *sent = numbers(COPIES, 3), *got = memory(COPIES * 4);
        revamp_array array = array_1d(p->view, COPIES, 4);
        revamp_completion up = NULL, down = NULL;
        REQUIRE_OK(revamp_copy_to_array_async(sent, COPIES * 4, array, NULL, &up));
        /* Ordered behind the other without a wait of ours. */
        REQUIRE_OK(revamp_copy_from_array_async(array, got, COPIES * 4, NULL, &down));
        expect_done(down);
        expect_done(up);
        CHECK_SAME(got, sent, COPIES * 4);
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* Copies and kernels in one order. */

TEST(a_copy_sees_the_kernels_queued_before) {
    enum { COPIED = 5000, STEPS = 20 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(COPIED, 1);
        revamp_array array = array_with(p->view, expected, COPIED), second = array_1d(p->view, COPIED, 4);
        revamp_array host = array_1d(cpu_view(), COPIED, 4);
        revamp_region from = whole(array), there = whole(second), here = whole(host);
        for (int i = 0; i < STEPS; i++)
            CHECK_OK(launch_step(p->view, step, array));
        CHECK_OK(revamp_copy(&from, &there));
        CHECK_OK(launch_step(p->view, step, array));
        CHECK_OK(launch_step(p->view, step, second));
        CHECK_OK(revamp_copy(&from, &here));
        step_naive(expected, COPIED, STEPS + 1);
        CHECK_SAME(data_of(host, REVAMP_ACCESS_READ), expected, COPIED * 4);
        CHECK_SAME(read_array(second), expected, COPIED * 4);
        CHECK_SAME(read_array(array), expected, COPIED * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(second));
        CHECK_OK(revamp_array_destroy(host));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(a_kernel_sees_the_copies_queued_before) {
    enum { COPIED = 3 << 20 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(COPIED, 1), *sent = memory(COPIED * 4), *got = memory(COPIED * 4);
        revamp_array array = array_1d(p->view, COPIED, 4), second = array_1d(p->view, COPIED, 4);
        revamp_completion done[3] = {NULL, NULL, NULL};
        revamp_region from = whole(array), to = whole(second);
        memcpy(sent, expected, COPIED * 4);
        REQUIRE_OK(revamp_copy_to_array_async(sent, COPIED * 4, array, NULL, &done[0]));
        CHECK_OK(launch_step(p->view, step, array));
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[1]));
        CHECK_OK(launch_step(p->view, step, second));
        REQUIRE_OK(revamp_copy_from_array_async(second, got, COPIED * 4, NULL, &done[2]));
        for (size_t i = COUNT(done); i-- > 0;)
            expect_done(done[i]);
        step_naive(expected, COPIED, 2);
        CHECK_SAME(got, expected, COPIED * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(second));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* The memory is the caller's again when the completion is done, whatever happens to the array. */
TEST(arrays_may_be_destroyed_while_a_copy_is_under_way) {
    enum { COPIED = 2 << 20 };
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(COPIED, 1), *got = memory(COPIED * 4);
        revamp_array array = array_1d(p->view, COPIED, 4), second = array_1d(p->view, COPIED, 4);
        revamp_region from = whole(array), to = whole(second);
        revamp_completion done[3] = {NULL, NULL, NULL};
        REQUIRE_OK(revamp_copy_to_array_async(sent, COPIED * 4, array, NULL, &done[0]));
        REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[1]));
        CHECK_OK(revamp_array_destroy(array));
        REQUIRE_OK(revamp_copy_from_array_async(second, got, COPIED * 4, NULL, &done[2]));
        CHECK_OK(revamp_array_destroy(second));
        for (size_t i = 0; i < COUNT(done); i++)
            expect_done(done[i]);
        CHECK_SAME(got, sent, COPIED * 4);
    }
}

/* Errors that the shapes bring. */

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
