/* Tests of SPIR-V kernels: arguments, execution order, and errors that name the argument (docs/spec/launches.md).
 * rules/rules_sel.c tests the rules SEL-4 to SEL-6. */
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static revamp_argument push(uint32_t offset, const void *data, size_t size) {
    return revamp_argument_push_constant(offset, data, size);
}

typedef struct {
    float a;
    uint32_t n;
} saxpy_push;

static float *floats(size_t count, float scale) {
    float *result = memory(count * 4);
    for (size_t i = 0; i < count; i++)
        result[i] = (float)(i % 1000) * scale;
    return result;
}

static void check_floats(revamp_array array, const float *expected, size_t count) {
    CHECK_NUMBER(size_of(array), count * 4);
    CHECK_SAME(read_array(array), expected, count * 4);
}

/* The values are exact in float, so any order of operations gives the same result. */
static void saxpy_naive(float a, const float *x, float *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        y[i] = a * x[i] + y[i];
}

TEST(saxpy_by_bindings_and_push_constants) {
    FOR_EACH_PLACE(p, runs_spirv) {
        float *x = floats(N, 1), *y = floats(N, 0.5F);
        saxpy_push values = {2, N};
        int32_t extent = N;
        revamp_kernel saxpy = load(p->accelerator, &saxpy_module);
        revamp_array ax = array_with(p->view, x, N), ay = array_with(p->view, y, N);
        revamp_argument arguments[] = {revamp_argument_buffer(0, ax), revamp_argument_buffer(1, ay),
                                       push(0, &values, sizeof values)};
        CHECK_OK(launch(p->view, saxpy, 1, &extent, arguments, 3));
        saxpy_naive(2, x, y, N);
        check_floats(ay, y, N);
        check_floats(ax, x, N);
        /* The arguments come in another order, and the push constants in two pieces. */
        revamp_argument pieces[] = {push(4, &values.n, 4), revamp_argument_buffer(1, ay), push(0, &values.a, 4),
                                    revamp_argument_buffer(0, ax)};
        CHECK_OK(launch(p->view, saxpy, 1, &extent, pieces, 4));
        saxpy_naive(2, x, y, N);
        check_floats(ay, y, N);
        CHECK_OK(revamp_array_destroy(ax));
        CHECK_OK(revamp_array_destroy(ay));
        CHECK_OK(revamp_kernel_release(saxpy));
    }
}

TEST(reflection_returns_the_interface) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel saxpy = load(p->accelerator, &saxpy_module), block = load(p->accelerator, &address_module);
        revamp_kernel factor = load(p->accelerator, &factor_module), three = load(p->accelerator, &coverage_3d_module);
        revamp_kernel_info info = kernel_info(saxpy);
        CHECK(info.workgroup_size[0] == 64 && info.workgroup_size[1] == 1 && info.workgroup_size[2] == 1);
        CHECK_NUMBER(info.binding_count, 2);
        CHECK_NUMBER(info.push_constant_size, 8);
        CHECK_NUMBER(info.specialization_count, 0);
        CHECK(!info.takes_block);
        revamp_binding_info binding = {0};
        binding.struct_size = sizeof binding;
        REQUIRE_OK(revamp_kernel_get_binding(saxpy, 0, &binding));
        CHECK(binding.set == 0 && binding.binding == 0 && binding.access == REVAMP_ACCESS_READ);
        CHECK_NUMBER(binding.min_size, 4);
        REQUIRE_OK(revamp_kernel_get_binding(saxpy, 1, &binding));
        CHECK(binding.set == 0 && binding.binding == 1 && binding.access == REVAMP_ACCESS_READ_WRITE);
        CHECK_FAILS(revamp_kernel_get_binding(saxpy, 2, &binding), AS_ARGUMENT, "2");
        CHECK(kernel_info(block).takes_block);
        CHECK_NUMBER(kernel_info(factor).specialization_count, 4);
        info = kernel_info(three);
        CHECK(info.workgroup_size[0] == 4 && info.workgroup_size[1] == 2 && info.workgroup_size[2] == 2);
        CHECK_OK(revamp_kernel_release(saxpy));
        CHECK_OK(revamp_kernel_release(block));
        CHECK_OK(revamp_kernel_release(factor));
        CHECK_OK(revamp_kernel_release(three));
    }
}

TEST(access_is_taken_from_the_kernel) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const revamp_access expected[] = {REVAMP_ACCESS_READ, REVAMP_ACCESS_READ, REVAMP_ACCESS_WRITE};
        static const uint32_t binding_numbers[] = {0, 0, 3};
        revamp_kernel sets = load(p->accelerator, &sets_module);
        revamp_binding_info binding = {0};
        binding.struct_size = sizeof binding;
        for (uint32_t i = 0; i < 3; i++) {
            REQUIRE_OK(revamp_kernel_get_binding(sets, i, &binding));
            CHECK_NUMBER(binding.set, i);
            CHECK_NUMBER(binding.binding, binding_numbers[i]);
            CHECK_NUMBER(binding.access, expected[i]);
        }
        CHECK_OK(revamp_kernel_release(sets));
    }
}

TEST(kernels_use_several_descriptor_sets) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *a = numbers(N, 1), *b = numbers(N, 2), expected[N];
        int32_t extent = N;
        revamp_kernel sets = load(p->accelerator, &sets_module);
        revamp_array aa = array_with(p->view, a, N), ab = array_with(p->view, b, N), sum = array_1d(p->view, N, 4);
        for (int i = 0; i < N; i++)
            expected[i] = a[i] + 2 * b[i];
        for (int has_access = 0; has_access < 2; has_access++) {
            revamp_argument arguments[] = {in_set(revamp_argument_buffer(3, sum), 2), revamp_argument_buffer(0, aa),
                                           in_set(revamp_argument_buffer(0, ab), 1)};
            if (has_access) {
                arguments[0] = with_access(arguments[0], REVAMP_ACCESS_WRITE);
                arguments[1] = with_access(arguments[1], REVAMP_ACCESS_READ);
            }
            CHECK_OK(launch(p->view, sets, 1, &extent, arguments, 3));
            CHECK_SAME(read_array(sum), expected, sizeof expected);
            write_array(sum, a);
        }
        /* This launch binds one array to two read-only bindings. */
        revamp_argument twice[] = {in_set(revamp_argument_buffer(3, sum), 2), revamp_argument_buffer(0, aa),
                                   in_set(revamp_argument_buffer(0, aa), 1)};
        CHECK_OK(launch(p->view, sets, 1, &extent, twice, 3));
        for (int i = 0; i < N; i++)
            expected[i] = a[i] * 3;
        CHECK_SAME(read_array(sum), expected, sizeof expected);
        CHECK_OK(revamp_array_destroy(aa));
        CHECK_OK(revamp_array_destroy(ab));
        CHECK_OK(revamp_array_destroy(sum));
        CHECK_OK(revamp_kernel_release(sets));
    }
}

/* Returns a copy of sets_module in which buffer i has the set `slots[i][0]` and the binding `slots[i][1]`. */
static uint32_t *with_sets_and_bindings(const uint32_t (*slots)[2]) {
    enum { OP_DECORATE = 4U << 16 | 71, SET = 34, BINDING = 33, HEADER = 5 };
    size_t count = sets_module.size / 4;
    const uint32_t *old = sets_module.words;
    uint32_t *result = memory(sets_module.size), patched = 0;
    memcpy(result, old, sets_module.size);
    for (size_t i = HEADER; i + 3 < count; i += old[i] >> 16) {
        if (old[i] != OP_DECORATE || old[i + 2] != SET) continue;
        REQUIRE(old[i + 3] < 3);
        for (size_t k = HEADER; k + 3 < count; k += old[k] >> 16)
            if (old[k] == OP_DECORATE && old[k + 1] == old[i + 1] && old[k + 2] == BINDING)
                result[k + 3] = slots[old[i + 3]][1];
        result[i + 3] = slots[old[i + 3]][0];
        patched++;
    }
    CHECK_NUMBER(patched, 3);
    return result;
}

TEST(set_and_binding_numbers_may_be_sparse) {
    static const uint32_t cases[][3][2] = {
        {{0, 1000000}, {0, 7}, {0, 50000000}},
        {{0, UINT32_MAX}, {UINT32_MAX, 0}, {UINT32_MAX, UINT32_MAX}},
        {{7, 0}, {70000, 0}, {8, 0}},
        {{0, 255}, {0, 256}, {0, 257}},
    };
    /* `many` needs more groups than one dispatch can have. The library splits the dispatch, and adapts the kernel. */
    const int32_t few = N, many = 32 * 65535 + 1000;
    FOR_EACH_PLACE(p, runs_spirv)
    for (size_t c = 0; c < COUNT(cases); c++) {
        const uint32_t(*slots)[2] = cases[c];
        int32_t extent = c == 1 ? many : few;
        revamp_kernel kernel = NULL;
        uint32_t *words = with_sets_and_bindings(slots), *a = numbers((size_t)extent, 1),
                 *b = numbers((size_t)extent, 2);
        REQUIRE_OK(try_load(p->accelerator, words, sets_module.size, NULL, &kernel));
        CHECK_NUMBER(kernel_info(kernel).binding_count, 3);
        revamp_array aa = array_with(p->view, a, extent), ab = array_with(p->view, b, extent);
        revamp_array sum = array_1d(p->view, extent, 4);
        revamp_argument arguments[] = {in_set(revamp_argument_buffer(slots[0][1], aa), slots[0][0]),
                                       in_set(revamp_argument_buffer(slots[1][1], ab), slots[1][0]),
                                       in_set(revamp_argument_buffer(slots[2][1], sum), slots[2][0])};
        for (int twice = 0; twice < 2; twice++)
            CHECK_OK(launch(p->view, kernel, 1, &extent, arguments, 3));
        for (int32_t i = 0; i < extent; i++)
            a[i] += 2 * b[i];
        CHECK_SAME(read_array(sum), a, (size_t)extent * 4);
        arguments[2].binding ^= 4096;
        CHECK_FAILS(launch(p->view, kernel, 1, &extent, arguments, 3), AS_ARGUMENT, "no binding");
        CHECK_OK(revamp_array_destroy(aa));
        CHECK_OK(revamp_array_destroy(ab));
        CHECK_OK(revamp_array_destroy(sum));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

TEST(launch_groups_runs_the_given_groups) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        revamp_argument argument = revamp_argument_buffer(0, array);
        CHECK_OK(launch_groups(p->view, step, 3, 1, 1, &argument, 1));
        step_naive(expected, (size_t)3 * 64, 1);
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Sections. */

TEST(a_section_of_rows_is_bound_as_a_buffer) {
    FOR_EACH_PLACE(p, runs_spirv) {
        const int32_t rows = 6, columns = 256, all[] = {6, 256}, origin[] = {2, 0}, part[] = {3, 256}, extent = 3 * 256;
        uint32_t *expected = numbers((size_t)rows * 256, 1);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_of(p->view, 2, all, 4);
        write_array(array, expected);
        revamp_argument argument = revamp_argument_buffer(0, array);
        argument.origin = origin;
        argument.extent = part;
        CHECK_OK(launch(p->view, step, 1, &extent, &argument, 1));
        /* Without an extent, the section reaches the end. The kernel ignores invocations beyond the buffer's length. */
        argument.origin = (const int32_t[]){5, 0};
        argument.extent = NULL;
        CHECK_OK(launch(p->view, step, 1, &extent, &argument, 1));
        step_naive(expected + 2 * (size_t)columns, (size_t)3 * 256, 1);
        step_naive(expected + 5 * (size_t)columns, 256, 1);
        CHECK_SAME(read_array(array), expected, (size_t)rows * 256 * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* A kernel sees all memory from the first to the last element of a section, including elements between its rows. */
TEST(a_section_with_gaps_is_bound_as_the_memory_it_spans) {
    FOR_EACH_PLACE(p, runs_spirv) {
        const int32_t all[] = {8, 64}, origin[] = {1, 0}, block[] = {4, 16}, extent = 1000;
        uint32_t *expected = numbers(512, 1);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_of(p->view, 2, all, 4);
        write_array(array, expected);
        revamp_argument argument = revamp_argument_buffer(0, array);
        argument.origin = origin;
        argument.extent = block;
        CHECK_OK(launch(p->view, step, 1, &extent, &argument, 1));
        step_naive(expected + 64, 3 * 64 + 16, 1);
        CHECK_SAME(read_array(array), expected, 2048);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(misaligned_and_out_of_range_sections_are_refused) {
    FOR_EACH_PLACE(p, runs_spirv) {
        const int32_t all[] = {8, 64}, extent = 64, one[] = {0, 1}, row[] = {1, 32};
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_of(p->view, 2, all, 4);
        revamp_argument argument = revamp_argument_buffer(0, array);
        if (p->info.min_storage_buffer_alignment > 4) {
            char limit[32];
            snprintf(limit, sizeof limit, "%u", (unsigned)p->info.min_storage_buffer_alignment);
            argument.origin = one;
            argument.extent = row;
            CHECK_FAILS(launch(p->view, step, 1, &extent, &argument, 1), AS_BAD, limit);
            CHECK_TEXT(revamp_last_error_message(), "multiple");
        }
        argument.origin = (const int32_t[]){8, 0};
        argument.extent = NULL;
        CHECK_FAILS(launch(p->view, step, 1, &extent, &argument, 1), AS_BAD, "8");
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(disjoint_sections_of_one_array_are_read_and_written) {
    FOR_EACH_PLACE(p, runs_spirv) {
        const int32_t half = 512, extent = 512, origin = 512;
        float *values = floats(1024, 1);
        saxpy_push constants = {3, 512};
        revamp_kernel saxpy = load(p->accelerator, &saxpy_module);
        revamp_array array = array_with(p->view, values, 1024);
        revamp_argument x = revamp_argument_buffer(0, array), y = revamp_argument_buffer(1, array);
        x.extent = &half;
        y.origin = &origin;
        revamp_argument arguments[] = {x, y, push(0, &constants, sizeof constants)};
        for (int i = 0; i < 5; i++) {
            CHECK_OK(launch(p->view, saxpy, 1, &extent, arguments, 3));
            saxpy_naive(3, values, values + 512, 512);
        }
        check_floats(array, values, 1024);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(saxpy));
    }
}

/* Specialization constants. */

static void check_factor(const place *p, revamp_kernel kernel, uint32_t width, const uint32_t *factor,
                         const float *offset, const uint32_t *negate) {
    int32_t launch_extent = N;
    revamp_array data = array_1d(p->view, N, 4), widths = array_1d(p->view, N, 4);
    uint32_t *zeros = memory(N * 4);
    write_array(widths, zeros);
    revamp_argument arguments[6] = {revamp_argument_buffer(0, data), revamp_argument_buffer(1, widths),
                                    revamp_argument_specialization(0, &width, 4)};
    size_t count = 3;
    if (factor) arguments[count++] = revamp_argument_specialization(1, factor, 4);
    if (offset) arguments[count++] = revamp_argument_specialization(2, offset, 4);
    if (negate) arguments[count++] = revamp_argument_specialization(3, negate, 4);
    CHECK_OK(launch(p->view, kernel, 1, &launch_extent, arguments, count));
    int32_t *got = read_array(data), expected[N];
    uint32_t *got_widths = read_array(widths);
    for (int i = 0; i < N; i++) {
        expected[i] = i * (int32_t)(factor ? *factor : 5) + (int32_t)(2 * (offset ? *offset : 0.5F));
        if (negate && *negate) expected[i] = -expected[i];
    }
    CHECK_SAME(got, expected, sizeof expected);
    uint32_t groups = (N + width - 1) / width;
    for (uint32_t i = 0; i < N; i++)
        CHECK_NUMBER(got_widths[i], i < groups ? width : 0);
    CHECK_OK(revamp_array_destroy(data));
    CHECK_OK(revamp_array_destroy(widths));
}

TEST(specialization_constants_set_values_and_the_workgroup_size) {
    static const uint32_t factors[] = {7, 0, 1000}, yes = 1, no = 0;
    static const float offset = 12.5F;
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel factor = load(p->accelerator, &factor_module);
        for (uint32_t width = 1; width <= 128; width *= 4) {
            check_factor(p, factor, width, NULL, NULL, NULL);
            check_factor(p, factor, width, &factors[width % 3], NULL, &no);
            check_factor(p, factor, width, NULL, &offset, &yes);
        }
        check_factor(p, factor, 100, &factors[2], &offset, &yes);
        CHECK_OK(revamp_kernel_release(factor));
    }
}

/* Kernels that get the address of a block of arguments (decision 19). */

static void check_block(const place *p, const module *spirv, bool uses_address_arguments) {
    struct {
        uint64_t x, y;
        float a;
        uint32_t n;
    } block = {0, 0, 2, N};
    float *x = floats(N, 1), *y = floats(N, 0.5F);
    int32_t extent = N;
    revamp_kernel kernel = load(p->accelerator, spirv);
    CHECK(kernel_info(kernel).takes_block);
    revamp_array ax = array_with(p->view, x, N), ay = array_with(p->view, y, N);
    revamp_argument arguments[] = {revamp_argument_address(0, ax, REVAMP_ACCESS_READ),
                                   revamp_argument_address(8, ay, REVAMP_ACCESS_READ_WRITE)};
    if (!uses_address_arguments) {
        REQUIRE_OK(revamp_array_device_address(ax, &block.x));
        REQUIRE_OK(revamp_array_device_address(ay, &block.y));
    }
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.block = &block;
    info.block_size = sizeof block;
    info.arguments = arguments;
    info.argument_count = uses_address_arguments ? 2 : 0;
    for (int i = 0; i < 4; i++) {
        CHECK_OK(revamp_dispatch(p->view, kernel, &info));
        saxpy_naive(2, x, y, N);
        /* Without arguments the library does not know which arrays the kernel uses, so the test waits. */
        if (!uses_address_arguments) CHECK_OK(revamp_accelerator_view_wait(p->view));
    }
    /* The library read the block during the call. */
    memset(&block, 0, sizeof block);
    check_floats(ay, y, N);
    CHECK_OK(revamp_array_destroy(ax));
    CHECK_OK(revamp_array_destroy(ay));
    CHECK_OK(revamp_kernel_release(kernel));
}

TEST(address_arguments_in_a_block) {
    FOR_EACH_PLACE(p, runs_spirv) {
        check_block(p, &address_module, true);
        check_block(p, &pointer_module, true);
        check_block(p, &pair_module, true);
        check_block(p, &address_module, false);
    }
}

TEST(address_arguments_of_sections) {
    FOR_EACH_PLACE(p, runs_spirv) {
        struct {
            uint64_t x, y;
            float a;
            uint32_t n;
        } block = {0, 0, 2, 100};
        float *values = floats(400, 1);
        /* Unlike buffers, addresses need only the alignment of the elements, so these origins are valid. */
        const int32_t extent = 100, from = 33, to = 217;
        revamp_kernel kernel = load(p->accelerator, &address_module);
        revamp_array array = array_with(p->view, values, 400);
        revamp_argument arguments[] = {revamp_argument_address(0, array, REVAMP_ACCESS_READ),
                                       revamp_argument_address(8, array, REVAMP_ACCESS_READ_WRITE)};
        arguments[0].origin = &from;
        arguments[0].extent = &extent;
        arguments[1].origin = &to;
        arguments[1].extent = &extent;
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.block = &block;
        info.block_size = sizeof block;
        info.arguments = arguments;
        info.argument_count = 2;
        for (int i = 0; i < 3; i++) {
            CHECK_OK(revamp_dispatch(p->view, kernel, &info));
            saxpy_naive(2, values + from, values + to, 100);
        }
        check_floats(array, values, 400);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* Wrong arguments: each error names the argument, and what was expected and given. */

typedef struct {
    revamp_argument at[8];
    size_t count;
} argument_list;

static void check_saxpy_fails(const place *p, revamp_kernel saxpy, argument_list list, unsigned accepted_statuses,
                              const char *names, const char *detail) {
    int32_t extent = N;
    CHECK_FAILS(launch(p->view, saxpy, 1, &extent, list.at, list.count), accepted_statuses, names);
    CHECK_TEXT(revamp_last_error_message(), detail);
}

TEST(wrong_arguments_are_errors_that_name_them) {
    FOR_EACH_PLACE(p, runs_spirv) {
        float *x = floats(N, 1);
        saxpy_push values = {2, N};
        revamp_kernel saxpy = load(p->accelerator, &saxpy_module), sizes = load(p->accelerator, &sizes_module);
        revamp_array a = array_with(p->view, x, N), short_array = array_1d(p->view, 7, 4);
        revamp_array second = array_with(p->view, x, N);
        revamp_argument b0 = revamp_argument_buffer(0, a), b1 = revamp_argument_buffer(1, second);
        revamp_argument all = push(0, &values, 8);
        uint32_t id = 4;
        argument_list missing_buffer = {{b0, all}, 2}, missing_push = {{b0, b1}, 2},
                      half_push = {{b0, b1, push(0, &values, 4)}, 3};
        argument_list twice = {{b0, b1, all, b1}, 4}, other_binding = {{b0, b1, all, revamp_argument_buffer(2, a)}, 4};
        argument_list other_set = {{b0, b1, all, in_set(b1, 1)}, 4}, outside = {{b0, b1, all, push(8, &id, 4)}, 4};
        argument_list too_long = {{b0, b1, push(0, x, 12)}, 3}, overlap = {{b0, b1, all, push(4, &id, 4)}, 4};
        argument_list spec = {{b0, b1, all, revamp_argument_specialization(4, &id, 4)}, 4};
        argument_list address = {{b0, b1, all, revamp_argument_address(0, a, REVAMP_ACCESS_READ)}, 4};
        argument_list write_only = {{with_access(b0, REVAMP_ACCESS_WRITE), b1, all}, 3};
        argument_list read_only = {{b0, with_access(b1, REVAMP_ACCESS_READ), all}, 3};
        argument_list good = {{with_access(b0, REVAMP_ACCESS_READ), with_access(b1, REVAMP_ACCESS_READ_WRITE), all}, 3};
        argument_list none = {{b0}, 0};
        check_saxpy_fails(p, saxpy, missing_buffer, AS_ARGUMENT, "binding", "1");
        check_saxpy_fails(p, saxpy, missing_push, AS_ARGUMENT, "push", "8");
        check_saxpy_fails(p, saxpy, half_push, AS_ARGUMENT, "push", "4");
        check_saxpy_fails(p, saxpy, twice, AS_ARGUMENT, "binding", "1");
        check_saxpy_fails(p, saxpy, other_binding, AS_ARGUMENT, "binding", "2");
        check_saxpy_fails(p, saxpy, other_set, AS_ARGUMENT, "set", "1");
        check_saxpy_fails(p, saxpy, outside, AS_ARGUMENT, "push", "8");
        check_saxpy_fails(p, saxpy, too_long, AS_ARGUMENT, "push", "12");
        check_saxpy_fails(p, saxpy, overlap, AS_ARGUMENT, "push", "4");
        check_saxpy_fails(p, saxpy, spec, AS_ARGUMENT, "specialization", "4");
        check_saxpy_fails(p, saxpy, address, AS_ARGUMENT, "address", "block");
        check_saxpy_fails(p, saxpy, write_only, AS_ARGUMENT, "binding", "read");
        check_saxpy_fails(p, saxpy, read_only, AS_ARGUMENT, "binding", "writ");
        check_saxpy_fails(p, saxpy, none, AS_ARGUMENT, "", "");
        CHECK_FAILS(launch_groups(p->view, sizes, 1, 1, 1,
                                  &(revamp_argument){.struct_size = sizeof(revamp_argument),
                                                     .kind = REVAMP_ARGUMENT_BUFFER,
                                                     .array = short_array},
                                  1),
                    AS_ARGUMENT, "32");
        CHECK_TEXT(revamp_last_error_message(), "28");
        int32_t extent = N;
        write_array(second, x);
        CHECK_OK(launch(p->view, saxpy, 1, &extent, good.at, good.count));
        saxpy_naive(2, x, x, N);
        check_floats(second, x, N);
        CHECK_OK(revamp_array_destroy(a));
        CHECK_OK(revamp_array_destroy(second));
        CHECK_OK(revamp_array_destroy(short_array));
        CHECK_OK(revamp_kernel_release(saxpy));
        CHECK_OK(revamp_kernel_release(sizes));
    }
}

TEST(wrong_specialization_constants_are_errors_that_name_them) {
    FOR_EACH_PLACE(p, runs_spirv) {
        int32_t extent = N;
        uint32_t value = 64, zero = 0, huge = p->info.max_workgroup_invocations + 1;
        uint64_t wide = 64;
        revamp_kernel factor = load(p->accelerator, &factor_module);
        revamp_array data = array_1d(p->view, N, 4), widths = array_1d(p->view, N, 4);
        revamp_argument b0 = revamp_argument_buffer(0, data), b1 = revamp_argument_buffer(1, widths);
        revamp_argument unknown[] = {b0, b1, revamp_argument_specialization(9, &value, 4)};
        revamp_argument wrong_size[] = {b0, b1, revamp_argument_specialization(1, &wide, 8)};
        revamp_argument twice[] = {b0, b1, revamp_argument_specialization(0, &value, 4),
                                   revamp_argument_specialization(0, &value, 4)};
        revamp_argument no_width[] = {b0, b1, revamp_argument_specialization(0, &zero, 4)};
        revamp_argument too_wide[] = {b0, b1, revamp_argument_specialization(0, &huge, 4)};
        CHECK_FAILS(launch(p->view, factor, 1, &extent, unknown, 3), AS_ARGUMENT, "9");
        CHECK_FAILS(launch(p->view, factor, 1, &extent, wrong_size, 3), AS_ARGUMENT, "8");
        CHECK_FAILS(launch(p->view, factor, 1, &extent, twice, 4), AS_ARGUMENT, "0");
        CHECK_FAILS(launch(p->view, factor, 1, &extent, no_width, 3), AS_ARGUMENT | AS_UNSUPPORTED | AS_RUNTIME,
                    "workgroup");
        CHECK_FAILS(launch(p->view, factor, 1, &extent, too_wide, 3), AS_ARGUMENT | AS_UNSUPPORTED | AS_RUNTIME,
                    "workgroup");
        CHECK_OK(revamp_array_destroy(data));
        CHECK_OK(revamp_array_destroy(widths));
        CHECK_OK(revamp_kernel_release(factor));
    }
    full_job();
}

static revamp_status launch_block(const place *p, revamp_kernel kernel, const void *block, size_t size,
                                  const revamp_argument *arguments, size_t count) {
    int32_t extent = N;
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.block = block;
    info.block_size = size;
    info.arguments = arguments;
    info.argument_count = count;
    return revamp_dispatch(p->view, kernel, &info);
}

TEST(wrong_blocks_are_refused) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint64_t words[8] = {0};
        revamp_kernel kernel = load(p->accelerator, &address_module), step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, numbers(N, 1), N);
        revamp_argument buffer = revamp_argument_buffer(0, array);
        revamp_argument beyond = revamp_argument_address(24, array, REVAMP_ACCESS_READ);
        revamp_argument misaligned = revamp_argument_address(4, array, REVAMP_ACCESS_READ);
        revamp_argument constant = push(0, words, 8);
        CHECK_FAILS(launch_block(p, step, words, 24, &buffer, 1), AS_ARGUMENT, "block");
        CHECK_FAILS(launch_block(p, kernel, NULL, 0, NULL, 0), AS_ARGUMENT, "block");
        CHECK_FAILS(launch_block(p, kernel, words, 24, &beyond, 1), AS_ARGUMENT, "24");
        CHECK_FAILS(launch_block(p, kernel, words, 24, &misaligned, 1), AS_ARGUMENT, "8");
        CHECK_FAILS(launch_block(p, kernel, words, 24, &buffer, 1), AS_ARGUMENT, "binding");
        CHECK_FAILS(launch_block(p, kernel, words, 24, &constant, 1), AS_ARGUMENT, "");
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(kernel));
        CHECK_OK(revamp_kernel_release(step));
    }
    full_job();
}

/* The order of launches and copies. */

TEST(a_thousand_dependent_launches) {
    enum { LAUNCHES = 1000, ELEMENTS = 300 };
    static const revamp_queuing_mode modes[] = {REVAMP_QUEUING_MODE_AUTOMATIC, REVAMP_QUEUING_MODE_IMMEDIATE};
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        for (size_t m = 0; m < COUNT(modes); m++) {
            revamp_accelerator_view view = new_view(p->accelerator, modes[m]);
            uint32_t *expected = numbers(ELEMENTS, 1);
            revamp_array array = array_with(view, expected, ELEMENTS);
            for (int i = 0; i < LAUNCHES; i++)
                REQUIRE_OK(launch_step(view, step, array));
            step_naive(expected, ELEMENTS, LAUNCHES);
            CHECK_SAME(read_array(array), expected, ELEMENTS * 4);
            CHECK_OK(revamp_array_destroy(array));
            CHECK_OK(revamp_accelerator_view_release(view));
        }
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Launches read and write a few arrays in random order. The results must equal those of a naive model. */
TEST(random_dependencies_are_kept) {
    enum { ARRAYS = 5, ROUNDS = 400, LENGTH = 256 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel sets = load(p->accelerator, &sets_module), step = load(p->accelerator, &step_module);
        uint32_t *expected[ARRAYS], state = 99;
        revamp_array arrays[ARRAYS];
        int32_t extent = LENGTH;
        for (int i = 0; i < ARRAYS; i++)
            arrays[i] = array_with(p->view, expected[i] = numbers(LENGTH, (uint32_t)i), LENGTH);
        for (int round = 0; round < ROUNDS; round++) {
            uint32_t a = random_number(&state) % ARRAYS, b = random_number(&state) % ARRAYS,
                     out = random_number(&state) % ARRAYS;
            if (out == a || out == b) {
                REQUIRE_OK(launch_step(p->view, step, arrays[a]));
                step_naive(expected[a], LENGTH, 1);
                continue;
            }
            revamp_argument arguments[] = {revamp_argument_buffer(0, arrays[a]),
                                           in_set(revamp_argument_buffer(0, arrays[b]), 1),
                                           in_set(revamp_argument_buffer(3, arrays[out]), 2)};
            REQUIRE_OK(launch(p->view, sets, 1, &extent, arguments, 3));
            for (int i = 0; i < LENGTH; i++)
                expected[out][i] = expected[a][i] + 2 * expected[b][i];
        }
        for (int i = 0; i < ARRAYS; i++) {
            CHECK_SAME(read_array(arrays[i]), expected[i], LENGTH * 4);
            CHECK_OK(revamp_array_destroy(arrays[i]));
        }
        CHECK_OK(revamp_kernel_release(sets));
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(independent_launches_on_several_views) {
    enum { VIEWS = 4, LAUNCHES = 100 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_accelerator_view views[VIEWS];
        revamp_array arrays[VIEWS];
        uint32_t *expected[VIEWS];
        for (int v = 0; v < VIEWS; v++) {
            views[v] = new_view(p->accelerator, v % 2 ? REVAMP_QUEUING_MODE_IMMEDIATE : REVAMP_QUEUING_MODE_AUTOMATIC);
            arrays[v] = array_with(views[v], expected[v] = numbers(N, (uint32_t)v), N);
        }
        for (int i = 0; i < LAUNCHES; i++)
            for (int v = 0; v < VIEWS; v++)
                REQUIRE_OK(launch_step(views[v], step, arrays[v]));
        for (int v = 0; v < VIEWS; v++) {
            step_naive(expected[v], N, LAUNCHES);
            CHECK_SAME(read_array(arrays[v]), expected[v], N * 4);
            CHECK_OK(revamp_array_destroy(arrays[v]));
            CHECK_OK(revamp_accelerator_view_release(views[v]));
        }
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(copies_between_arrays_of_two_views_are_ordered_with_kernels) {
    enum { ROUNDS = 30 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_accelerator_view views[] = {new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC),
                                           new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC)};
        uint32_t *expected = numbers(N, 1);
        revamp_array arrays[] = {array_with(views[0], expected, N), array_1d(views[1], N, 4)};
        revamp_completion done[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            revamp_region from = whole(arrays[i % 2]), to = whole(arrays[(i + 1) % 2]);
            REQUIRE_OK(launch_step(views[i % 2], step, arrays[i % 2]));
            REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done[i]));
        }
        step_naive(expected, N, ROUNDS);
        CHECK_SAME(read_array(arrays[0]), expected, N * 4);
        CHECK_SAME(read_array(arrays[1]), expected, N * 4);
        for (int i = 0; i < ROUNDS; i++)
            expect_done(done[i]);
        CHECK_OK(revamp_array_destroy(arrays[0]));
        CHECK_OK(revamp_array_destroy(arrays[1]));
        CHECK_OK(revamp_accelerator_view_release(views[0]));
        CHECK_OK(revamp_accelerator_view_release(views[1]));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Lifetimes. */

TEST(a_kernel_may_be_released_while_it_runs) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        for (int i = 0; i < 20; i++) {
            revamp_kernel step = load(p->accelerator, &step_module);
            CHECK_OK(launch_step(p->view, step, array));
            CHECK_OK(revamp_kernel_release(step));
        }
        step_naive(expected, N, 20);
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(an_array_may_be_destroyed_while_it_is_used) {
    enum { LENGTH = 1 << 18 };
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel sets = load(p->accelerator, &sets_module);
        revamp_array sum = array_1d(p->view, LENGTH, 4);
        uint32_t *a = numbers(LENGTH, 1), *b = numbers(LENGTH, 2), *got;
        int32_t extent = LENGTH;
        for (int i = 0; i < 10; i++) {
            revamp_array aa = array_with(p->view, a, LENGTH), ab = array_with(p->view, b, LENGTH);
            revamp_argument arguments[] = {revamp_argument_buffer(0, aa), in_set(revamp_argument_buffer(0, ab), 1),
                                           in_set(revamp_argument_buffer(3, sum), 2)};
            CHECK_OK(launch(p->view, sets, 1, &extent, arguments, 3));
            CHECK_OK(revamp_array_destroy(aa));
            CHECK_OK(revamp_array_destroy(ab));
        }
        got = read_array(sum);
        for (int i = 0; i < LENGTH; i++)
            a[i] += 2 * b[i];
        CHECK_SAME(got, a, LENGTH * 4);
        CHECK_OK(revamp_array_destroy(sum));
        CHECK_OK(revamp_kernel_release(sets));
    }
}

TEST(a_view_may_be_released_with_work_queued) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_accelerator_view view = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(view, expected, N);
        for (int i = 0; i < 10; i++)
            CHECK_OK(launch_step(view, step, array));
        CHECK_OK(revamp_accelerator_view_release(view));
        step_naive(expected, N, 10);
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Entry points and registered kernels. */

TEST(an_entry_point_is_chosen_by_name) {
    FOR_EACH_PLACE(p, runs_spirv) {
        static const char *const names[] = {"one", "two"};
        revamp_array array = array_with(p->view, numbers(4, 1), 4);
        revamp_argument argument = revamp_argument_buffer(0, array);
        revamp_kernel kernel = NULL;
        const module *m = &two_entries_module;
        for (uint32_t i = 0; i < 2; i++) {
            REQUIRE_OK(try_load(p->accelerator, m->words, m->size, names[i], &kernel));
            CHECK_OK(launch_groups(p->view, kernel, 1, 1, 1, &argument, 1));
            CHECK_NUMBER(*(uint32_t *)read_array(array), i + 1);
            CHECK_OK(revamp_kernel_release(kernel));
        }
        CHECK_FAILS(try_load(p->accelerator, m->words, m->size, NULL, &kernel), AS_BAD, "one");
        CHECK_TEXT(revamp_last_error_message(), "two");
        CHECK_FAILS(try_load(p->accelerator, m->words, m->size, "three", &kernel), AS_BAD, "three");
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(registered_kernels_are_found_by_name) {
    revamp_kernel_record records[2] = {{sizeof *records, "test.step", step_module.words, step_module.size},
                                       {sizeof *records, "test.fill", fill_module.words, fill_module.size}};
    revamp_kernel kernel = NULL;
    REQUIRE_OK(revamp_kernel_register(records, 2));
    FOR_EACH_PLACE(p, runs_spirv) {
        REQUIRE_OK(revamp_kernel_find(p->accelerator, "test.step", &kernel));
        uint32_t *expected = numbers(N, 1);
        revamp_array array = array_with(p->view, expected, N);
        CHECK_OK(launch_step(p->view, kernel, array));
        CHECK_FAILS(revamp_kernel_find(p->accelerator, "test.stop", &kernel), AS_RUNTIME, "test.step");
        CHECK_OK(revamp_kernel_unregister(records, 2));
        /* A kernel that was loaded before still works. */
        CHECK_OK(launch_step(p->view, kernel, array));
        step_naive(expected, N, 2);
        CHECK_SAME(read_array(array), expected, N * 4);
        CHECK_OK(revamp_kernel_release(kernel));
        CHECK_FAILS(revamp_kernel_find(p->accelerator, "test.step", &kernel), AS_RUNTIME, "test.step");
        REQUIRE_OK(revamp_kernel_register(records, 2));
        CHECK_OK(revamp_array_destroy(array));
    }
    CHECK_OK(revamp_kernel_unregister(records, 2));
}

TEST(registrations_of_a_record_are_counted) {
    revamp_kernel_record records[2] = {{sizeof *records, "test.step", step_module.words, step_module.size},
                                       {sizeof *records, "", fill_module.words, fill_module.size}};
    revamp_kernel kernel = NULL;
    FOR_EACH_PLACE(p, runs_spirv) {
        /* A call that fails registers nothing. */
        CHECK_FAILS(revamp_kernel_register(records, 2), AS_ARGUMENT, "without a name");
        CHECK_FAILS(revamp_kernel_find(p->accelerator, "test.step", &kernel), AS_RUNTIME, "no kernel");
        CHECK_OK(revamp_kernel_register(records, 1));
        CHECK_OK(revamp_kernel_register(records, 1));
        CHECK_OK(revamp_kernel_unregister(records, 1));
        REQUIRE_OK(revamp_kernel_find(p->accelerator, "test.step", &kernel));
        CHECK_OK(revamp_kernel_release(kernel));
        CHECK_OK(revamp_kernel_unregister(records, 1));
        CHECK_FAILS(revamp_kernel_find(p->accelerator, "test.step", &kernel), AS_RUNTIME, "no kernel");
    }
}

/* Compilation by the driver, without a launch. */

struct code {
    int calls;
    revamp_status status;
    char message[400];
};

static void record_code(const revamp_kernel_code *code, void *context) {
    struct code *recorded = context;
    recorded->calls++;
    recorded->status = code->status;
    snprintf(recorded->message, sizeof recorded->message, "%s", code->message);
    CHECK_NUMBER(code->struct_size, sizeof *code);
    CHECK(code->name && code->location && code->form);
    CHECK(!code->statistic_count || code->statistics[0].name);
}

TEST(a_driver_compiles_a_module_that_is_not_run) {
    enum { CAPABILITY_FPGA_REG = 5948 };
    FOR_EACH_PLACE(p, runs_spirv) {
        struct code code = {0};
        CHECK_OK(revamp_accelerator_compile(p->accelerator, step_module.words, step_module.size, record_code, &code));
        CHECK(code.calls == 1 && code.status == REVAMP_OK && !*code.message);
        /* The call succeeds even if the kernel is refused. */
        size_t size = 0;
        uint32_t *words = with_capability(&step_module, CAPABILITY_FPGA_REG, &size);
        CHECK_OK(revamp_accelerator_compile(p->accelerator, words, size, record_code, &code));
        CHECK(code.calls == 2 && code.status == REVAMP_ERROR_UNSUPPORTED_FEATURE && strstr(code.message, "FPGAReg"));
        const char *text = "RVMPKERN, but no kernels";
        CHECK_FAILS(revamp_accelerator_compile(p->accelerator, text, strlen(text), record_code, &code), AS_ARGUMENT,
                    "no kernels");
        CHECK_FAILS(revamp_accelerator_compile(p->accelerator, text, strlen(text), NULL, NULL), AS_ARGUMENT,
                    "callback");
        CHECK_FAILS(revamp_accelerator_compile(p->accelerator, NULL, 1, record_code, &code), AS_ARGUMENT, "program");
        CHECK_NUMBER((uint32_t)code.calls, 2);
    }
    struct code none = {0};
    for (const place *p = first_place_or_skip(holds_arrays); p->view; p++)
        if (!runs_spirv(&p->info))
            CHECK_FAILS(
                revamp_accelerator_compile(p->accelerator, step_module.words, step_module.size, record_code, &none),
                AS_UNSUPPORTED, "no driver that compiles");
    CHECK_NUMBER((uint32_t)none.calls, 0);
}

/* Kernels that cannot run. */

TEST(PFE_8_kernels_do_not_run_on_the_cpu_accelerator) {
    revamp_kernel step = load(first_place_or_skip(runs_spirv)->accelerator, &step_module);
    CHECK_FAILS(launch_groups(cpu_view(), step, 1, 1, 1, NULL, 0), AS_RUNTIME,
                "concurrency::parallel_for_each is not supported on the selected accelerator \"CPU accelerator\".");
    CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x80070057);
    CHECK_OK(revamp_kernel_release(step));
}

TEST(PFE_10_missing_capabilities_are_named) {
    enum { CAPABILITY_KERNEL = 6, CAPABILITY_FPGA_REG = 5948, CAPABILITY_SUBGROUP_AVC = 5696 };
    FOR_EACH_PLACE(p, runs_spirv) {
        size_t size = 0;
        revamp_kernel kernel = NULL;
        uint32_t *words = with_capability(&step_module, CAPABILITY_FPGA_REG, &size);
        CHECK_FAILS(try_load(p->accelerator, words, size, NULL, &kernel), AS_UNSUPPORTED, "FPGAReg");
        words = with_capability(&step_module, CAPABILITY_SUBGROUP_AVC, &size);
        CHECK_FAILS(try_load(p->accelerator, words, size, NULL, &kernel), AS_UNSUPPORTED,
                    "SubgroupAvcMotionEstimation");
        words = with_capability(&step_module, CAPABILITY_KERNEL, &size);
        CHECK_FAILS(try_load(p->accelerator, words, size, NULL, &kernel), AS_UNSUPPORTED, "Kernel");
        CHECK(!kernel);
    }
    full_job();
}

/* The first call that opens a device fails. The program must still end, although the driver has added exit handlers. */
CHILD(opens_a_device_and_fails) {
    enum { CAPABILITY_FPGA_REG = 5948 };
    revamp_accelerator all[16];
    size_t count = 0;
    REQUIRE_OK(revamp_accelerator_list(all, 16, &count));
    for (size_t i = 0; i < count && i < 16; i++) {
        revamp_accelerator_info info = {0};
        info.struct_size = sizeof info;
        REQUIRE_OK(revamp_accelerator_get_info(all[i], &info));
        if (info.kind != REVAMP_ACCELERATOR_VULKAN || info.unusable_reason) continue;
        size_t size = 0;
        revamp_kernel kernel = NULL;
        uint32_t *words = with_capability(&step_module, CAPABILITY_FPGA_REG, &size);
        CHECK_FAILS(try_load(all[i], words, size, NULL, &kernel), AS_UNSUPPORTED, "FPGAReg");
        return;
    }
}

TEST(programs_end_after_the_first_device_call_failed) {
    for (int run = 0; run < 5; run++)
        CHECK_CHILD("opens_a_device_and_fails", NULL);
}

TEST(accelerators_without_spirv_refuse_kernels) {
    for (const place *p = first_place_or_skip(holds_arrays); p->view; p++) {
        revamp_kernel kernel = NULL;
        if (runs_spirv(&p->info)) continue;
        CHECK_FAILS(try_load(p->accelerator, step_module.words, step_module.size, NULL, &kernel), AS_UNSUPPORTED,
                    "SPIR-V");
        CHECK_TEXT(revamp_last_error_message(), p->info.description);
    }
}
