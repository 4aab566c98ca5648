/* Tests of SPIR-V kernels that llvmpipe cannot run as written: it ends loops after 65,535 iterations and ignores code
 * nested more than 80 levels deep. A launch gives the right result or fails with an explanation (docs/devices.md). */
#include "support.h"

enum { N = 100 };

typedef struct {
    uint32_t kind, n, m;
} limits_push;

static uint32_t straight(uint32_t x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        x = x * 1664525U + i;
    return x;
}

static uint32_t exits_early(uint32_t x, uint32_t n) {
    for (uint32_t i = 0;; i++) {
        x = x * 1664525U + i;
        if (i == n) return x;
        if (x == 1234567U) return 7;
    }
}

static uint32_t expected(uint32_t at, limits_push push) {
    uint32_t x = at;
    switch (push.kind) {
    case 0:
        return straight(x, push.n);
    case 1:
        for (uint32_t i = 0; i < push.n; i++)
            x = straight(x, push.m) ^ i;
        return x;
    case 2:
        return exits_early(x, push.n);
    default:
        return at % 2 == push.kind % 2 ? straight(x, push.n) : straight(x, push.m) + 1;
    }
}

/* Creates an array of the numbers 0 to N - 1. */
static revamp_array index_array(const place *p) {
    uint32_t indices[N];
    for (uint32_t i = 0; i < N; i++)
        indices[i] = i;
    return array_with(p->view, indices, N);
}

static revamp_status run(const place *p, revamp_kernel kernel, revamp_array a, limits_push push) {
    int32_t extent = N;
    revamp_argument arguments[] = {in_set(revamp_argument_buffer(1, a), 3),
                                   revamp_argument_push_constant(0, &push, sizeof push)};
    return launch(p->view, kernel, 1, &extent, arguments, 2);
}

/* Returns true if the result is right. Otherwise the read must fail with an error about long loops. */
static bool is_right_or_reported(revamp_array a, limits_push push) {
    static uint32_t data[N];
    int32_t extent = N;
    revamp_region from = whole(a), to = host_region(data, 1, &extent, sizeof *data);
    revamp_status status = revamp_copy(&from, &to);
    if (status != REVAMP_OK) {
        CHECK_TEXT(revamp_last_error_message(), "65,535");
        CHECK_TEXT(revamp_last_error_message(), "a launch of kernel");
        return false;
    }
    for (uint32_t i = 0; i < N; i++)
        CHECK_NUMBER(data[i], expected(i, push));
    return true;
}

TEST(long_loops_are_right_or_fail) {
    static const limits_push short_loops[] = {
        {0, 65000, 0}, {1, 100, 600}, {2, 65000, 0}, {3, 30000, 32000}, {4, 0, 65000}};
    static const limits_push long_loops[] = {{0, 65535, 0}, {0, 65536, 0},    {0, 70000, 0}, {0, 1000000, 0},
                                             {1, 300, 300}, {1, 100000, 1},   {2, 65536, 0}, {2, 200000, 0},
                                             {3, 70000, 5}, {4, 33000, 33000}};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &limits_module);
        for (size_t i = 0; i < sizeof long_loops / sizeof *long_loops; i++) {
            revamp_array a = index_array(p);
            CHECK_OK(run(p, kernel, a, long_loops[i]));
            (void)is_right_or_reported(a, long_loops[i]);
            CHECK_OK(revamp_array_destroy(a));
        }
        for (size_t i = 0; i < sizeof short_loops / sizeof *short_loops; i++) {
            revamp_array a = index_array(p);
            CHECK_OK(run(p, kernel, a, short_loops[i]));
            CHECK(is_right_or_reported(a, short_loops[i]));
            CHECK_OK(revamp_array_destroy(a));
        }
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* The launches are recorded once and submitted again. The launches before the long loop must succeed. */
TEST(one_long_loop_among_many_launches) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &limits_module);
        for (int round = 0; round < 4; round++) {
            revamp_array arrays[6];
            static const limits_push short_loop = {0, 10, 0}, long_loop = {0, 100000, 0};
            for (int k = 0; k < 6; k++)
                arrays[k] = index_array(p);
            for (int k = 0; k < 6; k++)
                CHECK_OK(run(p, kernel, arrays[k], k == 3 ? long_loop : short_loop));
            for (int k = 0; k < 6; k++) {
                bool is_right = is_right_or_reported(arrays[k], k == 3 ? long_loop : short_loop);
                CHECK(is_right || k >= 3);
                CHECK_OK(revamp_array_destroy(arrays[k]));
            }
        }
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* A launch that waits for a marker does not depend on a launch after the marker, even if a long loop makes it fail. */
TEST(a_marker_does_not_cover_the_next_launch) {
    static const limits_push few = {0, 10, 0}, many = {0, 100000, 0};
    FOR_EACH_PLACE(p, runs_spirv) {
        const place other = {p->accelerator, new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC), p->info};
        revamp_kernel kernel = load(p->accelerator, &limits_module);
        revamp_array first = index_array(p), lost = index_array(p), last = index_array(&other);
        revamp_completion marker = NULL, done = NULL;
        CHECK_OK(run(p, kernel, first, few));
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        CHECK_OK(run(p, kernel, lost, many));
        int32_t extent = N;
        revamp_argument arguments[] = {in_set(revamp_argument_buffer(1, last), 3),
                                       revamp_argument_push_constant(0, &few, sizeof few)};
        revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = 2;
        revamp_async_options after = REVAMP_ASYNC_OPTIONS_INIT;
        after.after = &marker;
        after.after_count = 1;
        REQUIRE_OK(revamp_dispatch_async(other.view, kernel, &info, &after, &done));
        (void)is_right_or_reported(lost, many);
        CHECK(is_right_or_reported(last, few));
        expect_done(done);
        CHECK(is_right_or_reported(first, few));
        CHECK_OK(revamp_completion_release(marker));
        CHECK_OK(revamp_array_destroy(first));
        CHECK_OK(revamp_array_destroy(lost));
        CHECK_OK(revamp_array_destroy(last));
        CHECK_OK(revamp_accelerator_view_release(other.view));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

TEST(deep_nesting_is_right_or_refused) {
    FOR_EACH_PLACE(p, runs_spirv) {
        enum { MANY = 160, LEVELS = 140 };
        revamp_kernel kernel = NULL;
        if (try_load(p->accelerator, nested_module.words, nested_module.size, NULL, &kernel) != REVAMP_OK) {
            CHECK_TEXT(revamp_last_error_message(), "conditions 14");
            CHECK_TEXT(revamp_last_error_message(), "levels deep");
            continue;
        }
        uint32_t data[MANY], *got;
        int32_t extent = MANY;
        for (uint32_t i = 0; i < MANY; i++)
            data[i] = i;
        revamp_array a = array_with(p->view, data, MANY);
        revamp_argument arguments[] = {revamp_argument_buffer(0, a)};
        CHECK_OK(launch(p->view, kernel, 1, &extent, arguments, 1));
        got = read_array(a);
        for (uint32_t i = 0; i < MANY; i++) {
            uint32_t expected_value = 0;
            for (uint32_t k = 0; k < i && k < LEVELS; k++)
                expected_value = expected_value * 3 + k;
            CHECK_NUMBER(got[i], expected_value);
        }
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}
