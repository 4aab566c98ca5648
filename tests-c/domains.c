/* Tests of compute domains (PFE-2 to PFE-4, PFE-7, PFE-9). Every invocation runs once and sees the right built-in
 * variables, even if the domain is split into several dispatches (REVAMP_TEST=groups=7 in child processes). */
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t times, group, groups, local;
} invocation_record;

/* The sizes of a domain and of its workgroups, in x, y, z. */
typedef struct {
    uint32_t size[3], width[3];
} domain;

static uint32_t groups_of(const domain *d, int i) {
    return (d->size[i] + d->width[i] - 1) / d->width[i];
}

static invocation_record expected_at(const domain *d, uint32_t x, uint32_t y, uint32_t z) {
    const uint32_t *w = d->width;
    uint32_t gx = groups_of(d, 0), gy = groups_of(d, 1), gz = groups_of(d, 2);
    invocation_record s = {1, (z / w[2] * gy + y / w[1]) * gx + x / w[0], (gz * 4096 + gy) * 4096 + gx,
                           (z % w[2] * w[1] + y % w[1]) * w[0] + x % w[0]};
    return s;
}

static void check_records(const domain *d, const invocation_record *got) {
    size_t i = 0, wrong = 0;
    for (uint32_t z = 0; z < d->size[2]; z++)
        for (uint32_t y = 0; y < d->size[1]; y++)
            for (uint32_t x = 0; x < d->size[0]; x++, i++) {
                invocation_record e = expected_at(d, x, y, z);
                if (memcmp(&got[i], &e, sizeof e) == 0 || wrong++) continue;
                check_fail(__FILE__, __LINE__,
                           "at (x %u, y %u, z %u) of %u x %u x %u: times %u, group %u, groups %u, local %u; expected "
                           "%u, %u, %u, %u",
                           x, y, z, d->size[0], d->size[1], d->size[2], got[i].times, got[i].group, got[i].groups,
                           got[i].local, e.times, e.group, e.groups, e.local);
            }
    CHECK_NUMBER(wrong, 0);
}

/* `extent` is the domain's size, most significant dimension first. Dimensions before the last two are folded into z. */
static void check_domain(const place *p, revamp_kernel kernel, uint32_t rank, const int32_t *extent,
                         bool uses_group_counts) {
    domain d = {{1, 1, 1}, {0}};
    memcpy(d.width, kernel_info(kernel).workgroup_size, sizeof d.width);
    for (uint32_t i = 0; i < rank; i++)
        d.size[i < 2 ? i : 2] *= (uint32_t)extent[rank - 1 - i];
    size_t count = (size_t)d.size[0] * d.size[1] * d.size[2];
    revamp_array records = array_1d(p->view, (int32_t)count, sizeof(invocation_record));
    write_array(records, memory(count * sizeof(invocation_record)));
    revamp_argument arguments[] = {revamp_argument_buffer(0, records), revamp_argument_push_constant(0, d.size, 12)};
    if (uses_group_counts)
        CHECK_OK(launch_groups(p->view, kernel, groups_of(&d, 0), groups_of(&d, 1), groups_of(&d, 2), arguments, 2));
    else
        CHECK_OK(launch(p->view, kernel, rank, extent, arguments, 2));
    check_records(&d, read_array(records));
    CHECK_OK(revamp_array_destroy(records));
}

typedef struct {
    uint32_t rank;
    int32_t extent[6];
} domain_case;

static void check_domains(const module *spirv, const domain_case *cases, size_t count) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, spirv);
        for (size_t i = 0; i < count; i++) {
            check_domain(p, kernel, cases[i].rank, cases[i].extent, false);
            check_domain(p, kernel, cases[i].rank, cases[i].extent, true);
        }
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

static const domain_case lines[] = {{1, {1}}, {1, {8}}, {1, {57}}, {1, {400}}, {1, {12345}}};
static const domain_case planes[] = {{2, {1, 1}}, {2, {3, 4}}, {2, {50, 70}}, {2, {7, 301}}, {2, {301, 7}}, {1, {99}}};
static const domain_case boxes[] = {{3, {2, 2, 4}}, {3, {17, 19, 23}}, {3, {1, 40, 1}}, {3, {40, 1, 1}}, {2, {33, 65}}};
static const domain_case folded[] = {{4, {3, 2, 5, 9}}, {5, {2, 3, 2, 5, 9}}, {6, {2, 2, 2, 3, 4, 11}}};

CHILD(covers_all_domains) {
    check_domains(&coverage_module, lines, COUNT(lines));
    check_domains(&coverage_2d_module, planes, COUNT(planes));
    check_domains(&coverage_3d_module, boxes, COUNT(boxes));
    check_domains(&coverage_3d_module, folded, COUNT(folded));
    check_domains(&coverage_module, folded, COUNT(folded));
}

TEST(PFE_2_every_invocation_comes_once_in_1_dimension) {
    check_domains(&coverage_module, lines, COUNT(lines));
}

TEST(PFE_2_every_invocation_comes_once_in_2_dimensions) {
    check_domains(&coverage_2d_module, planes, COUNT(planes));
}

TEST(PFE_2_every_invocation_comes_once_in_3_dimensions) {
    check_domains(&coverage_3d_module, boxes, COUNT(boxes));
}

TEST(PFE_9_ranks_above_3_are_folded_into_z) {
    check_domains(&coverage_3d_module, folded, COUNT(folded));
}

TEST(kernels_cannot_detect_split_domains) {
    first_place_or_skip(runs_spirv);
    CHECK_CHILD("covers_all_domains", "REVAMP_TEST=groups=7", NULL);
    CHECK_CHILD("covers_all_domains", "REVAMP_TEST=groups=1", NULL);
}

static void check_arguments_when_split(const place *p, const module *spirv) {
    /* The kernel may or may not declare push constants. */
    enum { N = 3000 };
    revamp_kernel kernel = load(p->accelerator, spirv);
    uint32_t value = 0xABCD1234, expected[N];
    int32_t extent = N;
    revamp_array array = array_with(p->view, memory(N * 4), N);
    revamp_argument arguments[] = {revamp_argument_buffer(0, array), revamp_argument_push_constant(0, &value, 4)};
    bool has_push = kernel_info(kernel).push_constant_size > 0;
    CHECK_OK(launch(p->view, kernel, 1, &extent, arguments, has_push ? 2 : 1));
    for (int i = 0; i < N; i++)
        expected[i] = has_push ? value : 1;
    CHECK_SAME(read_array(array), expected, sizeof expected);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_kernel_release(kernel));
}

static void check_block_when_split(const place *p) {
    enum { N = 3000 };
    struct {
        uint64_t x, y;
        float a;
        uint32_t n;
    } block = {0, 0, 2, N};
    float *x = memory(N * 4), *y = memory(N * 4);
    int32_t extent = N;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    revamp_kernel kernel = load(p->accelerator, &address_module);
    revamp_array ax = array_with(p->view, x, N), ay = array_with(p->view, y, N);
    revamp_argument arguments[] = {revamp_argument_address(0, ax, REVAMP_ACCESS_READ),
                                   revamp_argument_address(8, ay, REVAMP_ACCESS_READ_WRITE)};
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.block = &block;
    info.block_size = sizeof block;
    info.arguments = arguments;
    info.argument_count = 2;
    for (int i = 0; i < 2; i++)
        CHECK_OK(revamp_dispatch(p->view, kernel, &info));
    for (int i = 0; i < N; i++)
        y[i] = 4 * x[i];
    CHECK_SAME(read_array(ay), y, N * 4);
    CHECK_OK(revamp_array_destroy(ax));
    CHECK_OK(revamp_array_destroy(ay));
    CHECK_OK(revamp_kernel_release(kernel));
}

CHILD(splits_kernels_with_arguments) {
    FOR_EACH_PLACE(p, runs_spirv) {
        check_arguments_when_split(p, &fill_module);
        check_arguments_when_split(p, &step_module);
        check_block_when_split(p);
    }
}

TEST(split_domains_keep_the_arguments) {
    first_place_or_skip(runs_spirv);
    CHECK_CHILD("splits_kernels_with_arguments", "REVAMP_TEST=groups=7", NULL);
}

/* Sizes that are too small or too large. */

TEST(PFE_3_extents_of_zero_or_less_are_no_domain) {
    static const domain_case bad[] = {{1, {0}},        {1, {-1}},         {2, {0, 5}},     {2, {5, 0}},
                                      {3, {4, -7, 4}}, {4, {1, 1, 0, 1}}, {1, {INT32_MIN}}};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel empty = load(p->accelerator, &empty_module);
        for (size_t i = 0; i < COUNT(bad); i++)
            CHECK_FAILS(launch(p->view, empty, bad[i].rank, bad[i].extent, NULL, 0), AS_DOMAIN, "");
        CHECK_FAILS(launch(p->view, empty, 1, bad[1].extent, NULL, 0), AS_DOMAIN, "-1");
        CHECK_FAILS(launch_groups(p->view, empty, 0, 1, 1, NULL, 0), AS_DOMAIN, "0");
        CHECK_FAILS(launch_groups(p->view, empty, 1, 1, 0, NULL, 0), AS_DOMAIN, "0");
        CHECK_OK(revamp_kernel_release(empty));
    }
    full_job();
}

TEST(PFE_4_domains_past_32_bits_are_refused) {
    static const domain_case bad[] = {{2, {65536, 65536}},
                                      {2, {65537, 65536}},
                                      {3, {INT32_MAX, INT32_MAX, INT32_MAX}},
                                      {2, {INT32_MAX, 3}},
                                      {6, {100000, 100000, 100000, 100000, 100000, 100000}}};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, numbers(4, 1), 4);
        revamp_argument argument = revamp_argument_buffer(0, array);
        for (size_t i = 0; i < COUNT(bad); i++)
            CHECK_FAILS(launch(p->view, step, bad[i].rank, bad[i].extent, &argument, 1), AS_DOMAIN, "");
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
    full_job();
}

TEST(PFE_4_groups_past_32_bits_of_threads_are_refused) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel empty = load(p->accelerator, &empty_module), wide = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, numbers(4, 1), 4);
        revamp_argument argument = revamp_argument_buffer(0, array);
        bool are_refused =
            CHECK_FAILS(launch_groups(p->view, wide, UINT32_MAX, 1, 1, &argument, 1), AS_DOMAIN, "4294967295") &&
            CHECK_FAILS(launch_groups(p->view, empty, 65536, 65536, 1, NULL, 0), AS_DOMAIN, "4294967295") &&
            CHECK_FAILS(launch_groups(p->view, empty, UINT32_MAX, UINT32_MAX, UINT32_MAX, NULL, 0), AS_DOMAIN,
                        "4294967295");
        /* Accepted launches would run for years. */
        if (!are_refused) check_abandon();
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(empty));
        CHECK_OK(revamp_kernel_release(wide));
    }
}

/* Skips software devices, on which 2^32 - 1 invocations take minutes. */
TEST(PFE_4_exactly_2_to_the_32_less_1_works) {
    static const domain_case whole[] = {{2, {65537, 65535}}, {3, {5, 3, 286331153}}, {3, {286331153, 5, 3}}};
    if (!is_setting("REVAMP_TEST_LARGE", "1")) check_skip("REVAMP_TEST_LARGE=1 is not set");
    FOR_EACH_PLACE(p, runs_spirv) {
        if (p->info.is_emulated) continue;
        revamp_kernel empty = load(p->accelerator, &empty_module), step = load(p->accelerator, &step_module);
        for (size_t i = 0; i < COUNT(whole); i++) {
            revamp_array array = array_with(p->view, memory(16), 4);
            revamp_argument argument = revamp_argument_buffer(0, array);
            CHECK_OK(launch(p->view, step, whole[i].rank, whole[i].extent, &argument, 1));
            CHECK_OK(launch(p->view, empty, whole[i].rank, whole[i].extent, NULL, 0));
            CHECK_OK(revamp_accelerator_view_wait(p->view));
            CHECK_OK(revamp_array_destroy(array));
        }
        CHECK_OK(revamp_kernel_release(empty));
        CHECK_OK(revamp_kernel_release(step));
    }
}

static void check_wide(const place *p, revamp_kernel wide, uint32_t groups, bool uses_group_counts) {
    revamp_array array = array_with(p->view, memory((size_t)groups * 4), (int32_t)groups);
    revamp_argument argument = revamp_argument_buffer(0, array);
    int32_t extent = (int32_t)(groups * 1024);
    if (uses_group_counts)
        CHECK_OK(launch_groups(p->view, wide, groups, 1, 1, &argument, 1));
    else
        CHECK_OK(launch(p->view, wide, 1, &extent, &argument, 1));
    uint32_t *got = read_array(array), wrong = 0;
    for (uint32_t i = 0; i < groups; i++)
        wrong += got[i] != 1;
    CHECK_NUMBER(wrong, 0);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(PFE_7_65535_groups_of_1024_and_more) {
    FOR_EACH_PLACE(p, runs_spirv) {
        if (p->info.max_workgroup_invocations < 1024) continue;
        revamp_kernel wide = load(p->accelerator, &wide_module);
        check_wide(p, wide, 65535, false);
        check_wide(p, wide, 65535, true);
        /* These launches have more workgroups than Vulkan guarantees for one dispatch. */
        check_wide(p, wide, 65536, false);
        check_wide(p, wide, 65537, true);
        check_wide(p, wide, 150001, false);
        CHECK_OK(revamp_kernel_release(wide));
    }
}

TEST(groups_past_65535_in_y_and_z_are_split_too) {
    enum { GROUPS = 65600 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &coverage_module);
        for (int dimension = 1; dimension < 3; dimension++) {
            uint32_t size[3] = {1, 1, 1};
            size[dimension] = GROUPS;
            revamp_array records = array_1d(p->view, GROUPS, sizeof(invocation_record));
            write_array(records, memory(GROUPS * sizeof(invocation_record)));
            revamp_argument arguments[] = {revamp_argument_buffer(0, records),
                                           revamp_argument_push_constant(0, size, 12)};
            CHECK_OK(launch_groups(p->view, kernel, size[0], size[1], size[2], arguments, 2));
            invocation_record *got = read_array(records);
            uint32_t wrong = 0;
            for (uint32_t i = 0; i < GROUPS; i++)
                wrong += got[i].times != 1 || got[i].group != i;
            CHECK_NUMBER(wrong, 0);
            CHECK_OK(revamp_array_destroy(records));
        }
        CHECK_OK(revamp_kernel_release(kernel));
    }
}
