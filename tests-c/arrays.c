/* Tests of arrays in the C API (docs/spec/arrays.md#cpu-access-types). Staging arrays: rules/rules_stg.c. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

static void check_round_trip(revamp_array array) {
    size_t size = size_of(array);
    void *sent = memory(size);
    fill_bytes(sent, size, (uint32_t)size);
    write_array(array, sent);
    CHECK_SAME(read_array(array), sent, size);
}

static void check_array(revamp_accelerator_view view, uint32_t rank, const int32_t *extent, size_t element_size) {
    revamp_array array = array_of(view, rank, extent, element_size);
    revamp_array_info info = array_info(array);
    CHECK_NUMBER(info.rank, rank);
    CHECK_SAME(info.extent, extent, rank * sizeof *extent);
    CHECK_NUMBER(info.element_size, element_size);
    CHECK_NUMBER(info.element_count, product(rank, extent));
    CHECK_NUMBER(info.size, product(rank, extent) * element_size);
    CHECK(info.view == view && info.associated_view == view);
    check_round_trip(array);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(ranks_1_to_5_and_128) {
    static const int32_t small[] = {7, 3, 5, 2, 4};
    int32_t many[128];
    for (int i = 0; i < 128; i++)
        many[i] = i % 16 ? 1 : 2;
    FOR_EACH_PLACE(p, holds_arrays) {
        for (uint32_t rank = 1; rank <= 5; rank++)
            check_array(p->view, rank, small, 4);
        check_array(p->view, 128, many, 4);
    }
}

TEST(element_sizes_4_to_64) {
    static const size_t sizes[] = {4, 8, 12, 20, 64};
    static const int32_t extent[] = {3, 11};
    FOR_EACH_PLACE(p, holds_arrays)
    for (size_t i = 0; i < COUNT(sizes); i++)
        check_array(p->view, 2, extent, sizes[i]);
}

TEST(a_label_and_default_options_are_accepted) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = NULL;
        int32_t extent = 3;
        revamp_array_options options = {0};
        options.struct_size = sizeof options;
        options.label = "three numbers";
        REQUIRE_OK(revamp_array_create(p->view, 1, &extent, 4, &options, &array));
        check_round_trip(array);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(the_host_accesses_arrays_of_cpu_and_host_threads) {
    for (const place *p = first_place_or_skip(holds_arrays); p->view; p++) {
        if (runs_spirv(&p->info)) continue;
        revamp_array array = array_1d(p->view, 1000, 4);
        uint32_t *sent = numbers(1000, 5), *data = data_of(array, REVAMP_ACCESS_WRITE);
        CHECK((uintptr_t)data % 16 == 0);
        memcpy(data, sent, 4000);
        CHECK_SAME(read_array(array), sent, 4000);
        sent[3] = 12345;
        write_array(array, sent);
        CHECK_SAME(data_of(array, REVAMP_ACCESS_READ), sent, 4000);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(only_vulkan_arrays_have_device_addresses) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint64_t first = 0, second = 0;
        revamp_array a = array_1d(p->view, 1000, 4), b = array_1d(p->view, 1000, 4);
        if (runs_spirv(&p->info)) {
            REQUIRE_OK(revamp_array_device_address(a, &first));
            REQUIRE_OK(revamp_array_device_address(b, &second));
            CHECK(first && second && first % 16 == 0 && second % 16 == 0);
            CHECK(first + 4000 <= second || second + 4000 <= first);
        } else {
            CHECK_FAILS(revamp_array_device_address(a, &first), AS_RUNTIME, "address");
        }
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(b));
    }
}

/* CPU access types (docs/spec/arrays.md#cpu-access-types). */

static void check_access(revamp_array array, revamp_access access, bool allowed) {
    void *data = NULL;
    if (allowed)
        CHECK_OK(revamp_array_data(array, access, &data));
    else
        CHECK_FAILS(revamp_array_data(array, access, &data), AS_RUNTIME, "access");
    CHECK(!data == !allowed);
}

TEST(cpu_access_types_of_shared_memory_are_enforced) {
    FOR_EACH_PLACE(p, is_shared_vulkan)
    for (revamp_access type = REVAMP_ACCESS_NONE; type <= REVAMP_ACCESS_READ_WRITE; type++) {
        revamp_array array = shared_array(p->view, 256, 4, type);
        CHECK_NUMBER(array_info(array).cpu_access_type, type);
        check_access(array, REVAMP_ACCESS_READ, type & REVAMP_ACCESS_READ);
        check_access(array, REVAMP_ACCESS_WRITE, type & REVAMP_ACCESS_WRITE);
        check_access(array, REVAMP_ACCESS_READ_WRITE, type == REVAMP_ACCESS_READ_WRITE);
        check_round_trip(array);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(shared_memory_is_seen_by_host_and_kernels) {
    FOR_EACH_PLACE(p, is_shared_vulkan) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = shared_array(p->view, 500, 4, REVAMP_ACCESS_READ_WRITE);
        uint32_t *expected = numbers(500, 9);
        memcpy(data_of(array, REVAMP_ACCESS_WRITE), expected, 2000);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(launch_step(p->view, step, array));
            step_naive(expected, 500, 1);
            /* revamp_array_data() waits for the kernel. */
            uint32_t *data = data_of(array, REVAMP_ACCESS_READ_WRITE);
            CHECK_SAME(data, expected, 2000);
            data[i] = expected[i] = 17;
        }
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(cpu_access_types_need_shared_memory) {
    FOR_EACH_PLACE(p, runs_spirv) {
        if (p->info.supports_cpu_shared_memory) continue;
        int32_t extent = 4;
        revamp_array_options options = {0};
        options.struct_size = sizeof options;
        options.has_cpu_access_type = true;
        for (revamp_access type = REVAMP_ACCESS_READ; type <= REVAMP_ACCESS_READ_WRITE; type++) {
            revamp_array array = NULL;
            options.cpu_access_type = type;
            CHECK_FAILS(revamp_array_create(p->view, 1, &extent, 4, &options, &array), AS_BAD, "shared");
            CHECK(!array);
        }
        revamp_array none = shared_array(p->view, 4, 4, REVAMP_ACCESS_NONE);
        revamp_array automatic = shared_array(p->view, 4, 4, REVAMP_ACCESS_AUTO);
        CHECK_NUMBER(array_info(none).cpu_access_type, REVAMP_ACCESS_NONE);
        CHECK_NUMBER(array_info(automatic).cpu_access_type, REVAMP_ACCESS_NONE);
        check_access(automatic, REVAMP_ACCESS_READ, false);
        CHECK_OK(revamp_array_destroy(none));
        CHECK_OK(revamp_array_destroy(automatic));
    }
}

/* Arrays larger than 4 GiB exceed a storage buffer's range. Their tests run only with REVAMP_TEST_LARGE=1. */

TEST(kernels_access_both_ends_of_arrays_past_4_GiB) {
    enum { EXTENT = 1 << 30 };
    if (!is_setting("REVAMP_TEST_LARGE", "1")) check_skip("REVAMP_TEST_LARGE=1 is not set");
    FOR_EACH_PLACE(p, runs_spirv) {
        const int32_t extent[] = {6, EXTENT / 4}, first[] = {0, 0}, last[] = {5, EXTENT / 4 - 16}, part[] = {1, 16};
        uint64_t size = UINT64_C(6) * EXTENT;
        revamp_kernel ends = load(p->accelerator, &ends_module);
        revamp_array array = array_of(p->view, 2, extent, 4);
        CHECK_NUMBER(array_info(array).size, size);
        uint32_t *low = numbers(16, 1), *high = numbers(16, 2), got[16];
        revamp_region here = host_region(low, 2, part, 4), there = section(array, first, part);
        CHECK_OK(revamp_copy(&here, &there));
        here.host = high;
        there.origin = last;
        CHECK_OK(revamp_copy(&here, &there));
        struct {
            uint64_t array, last;
        } block = {0, size - 4};
        revamp_argument argument = revamp_argument_address(0, array, REVAMP_ACCESS_READ_WRITE);
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.groups[0] = info.groups[1] = info.groups[2] = 1;
        info.arguments = &argument;
        info.argument_count = 1;
        info.block = &block;
        info.block_size = sizeof block;
        CHECK_OK(revamp_dispatch(p->view, ends, &info));
        low[0]++;
        high[15]++;
        here.host = got;
        CHECK_OK(revamp_copy(&there, &here));
        CHECK_SAME(got, high, 64);
        there.origin = first;
        CHECK_OK(revamp_copy(&there, &here));
        CHECK_SAME(got, low, 64);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(ends));
    }
}

static void check_large_copy(revamp_accelerator_view view) {
    const uint64_t count = (UINT64_C(5) << 30) / 4;
    const int32_t extent[] = {5, 1 << 28};
    uint32_t *sent = malloc(count * 4), *got = calloc(count, 4);
    REQUIRE(sent && got);
    for (uint64_t i = 0; i < count; i++)
        sent[i] = (uint32_t)(i * 2654435761U);
    revamp_array array = array_of(view, 2, extent, 4);
    CHECK_OK(revamp_copy_to_array(sent, count * 4, array));
    CHECK_OK(revamp_copy_from_array(array, got, count * 4));
    CHECK_SAME(got, sent, count * 4);
    CHECK_OK(revamp_array_destroy(array));
    free(sent);
    free(got);
}

TEST(copies_past_4_GiB_move_every_byte) {
    if (!is_setting("REVAMP_TEST_LARGE", "1")) check_skip("REVAMP_TEST_LARGE=1 is not set");
    FOR_EACH_PLACE(p, holds_arrays) check_large_copy(p->view);
}
