/* Tests of arrays and array_views with elements of any size in bytes, compared with a model in host memory. */
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, COLUMNS = 13, MAX_ELEMENT_SIZE = 255, ELEMENTS = 301, STEPS = 120 };

static const size_t sizes[] = {1, 2, 3, 5, 6, 7, 10, 18, MAX_ELEMENT_SIZE};

/* Chooses a random box within ROWS x COLUMNS elements. */
static void random_box(uint32_t *seed, int32_t origin[2], int32_t extent[2]) {
    static const int32_t whole[] = {ROWS, COLUMNS};
    for (int d = 0; d < 2; d++) {
        origin[d] = (int32_t)(random_number(seed) % (uint32_t)whole[d]);
        extent[d] = 1 + (int32_t)(random_number(seed) % (uint32_t)(whole[d] - origin[d]));
    }
}

/* Copies a box between two matrices of ROWS x COLUMNS elements. */
static void copy_box(unsigned char *to, const int32_t *at, const unsigned char *from, const int32_t *origin,
                     const int32_t *extent, size_t size) {
    for (int32_t row = 0; row < extent[0]; row++)
        memcpy(to + (size_t)((at[0] + row) * COLUMNS + at[1]) * size,
               from + (size_t)((origin[0] + row) * COLUMNS + origin[1]) * size, (size_t)extent[1] * size);
}

static void check_boxes(const place *p, const place *q, size_t size, uint32_t *seed) {
    static const int32_t whole[] = {ROWS, COLUMNS};
    static unsigned char a[ROWS * COLUMNS * MAX_ELEMENT_SIZE], b[sizeof a];
    size_t bytes = ROWS * COLUMNS * size;
    fill_bytes(a, bytes, *seed);
    fill_bytes(b, bytes, *seed + 1);
    revamp_array source = array_of(p->view, 2, whole, size), destination = array_of(q->view, 2, whole, size);
    write_array(source, a);
    write_array(destination, b);
    revamp_array_view view = view_of_array(destination);
    CHECK_NUMBER(array_info(source).size, bytes);
    for (int round = 0; round < 8; round++) {
        int32_t origin[2], extent[2], at[2];
        random_box(seed, origin, extent);
        for (int d = 0; d < 2; d++)
            at[d] = (int32_t)(random_number(seed) % (uint32_t)(whole[d] - extent[d] + 1));
        copy_box(b, at, a, origin, extent, size);
        revamp_region from = section(source, origin, extent), to = section(destination, at, extent);
        revamp_array_view part = NULL;
        if (round % 2) {
            part = part_of(view, at, extent);
            to = revamp_region_view(part);
        }
        CHECK_OK(revamp_copy(&from, &to));
        if (part) drop(part);
        /* Copies the box to host memory. */
        unsigned char *packed = malloc(bytes);
        REQUIRE(packed);
        revamp_region host = host_region(packed, 2, extent, size);
        to = section(destination, at, extent);
        CHECK_OK(revamp_copy(&to, &host));
        for (int32_t row = 0; row < extent[0]; row++)
            CHECK_SAME(packed + (size_t)(row * extent[1]) * size, b + (size_t)((at[0] + row) * COLUMNS + at[1]) * size,
                       (size_t)extent[1] * size);
        free(packed);
    }
    void *got = read_array(destination);
    CHECK_SAME(got, b, bytes);
    drop(view);
    CHECK_OK(revamp_array_destroy(source));
    CHECK_OK(revamp_array_destroy(destination));
}

TEST(arrays_and_sections_of_any_element_size_are_copied) {
    uint32_t seed = 40;
    FOR_EACH_PLACE(p, holds_arrays)
    for (const place *q = places_that(holds_arrays); q->view; q++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            check_boxes(p, q, sizes[i], &seed);
}

static revamp_status launch_bytes(const place *p, revamp_kernel kernel, revamp_array_view part, uint32_t count) {
    struct {
        uint64_t address;
        uint32_t count, unused;
    } block = {0, count, 0};
    revamp_argument argument = revamp_argument_view_address(0, part, REVAMP_ACCESS_NONE);
    int32_t extent = (int32_t)count;
    revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = &argument;
    info.argument_count = 1;
    info.block = &block;
    info.block_size = sizeof block;
    return revamp_dispatch(p->view, kernel, &info);
}

/* Accesses a random range of elements in a random way, and repeats the access in the model. */
static void random_access(const place *p, revamp_kernel kernel, revamp_array_view view, unsigned char *model,
                          size_t size, uint32_t *seed) {
    int32_t first = (int32_t)(random_number(seed) % ELEMENTS);
    int32_t count = 1 + (int32_t)(random_number(seed) % (uint32_t)(ELEMENTS - first));
    unsigned char *there = model + (size_t)first * size;
    size_t bytes = (size_t)count * size;
    revamp_array_view part = range_of(view, first, count);
    void *data = NULL;
    switch (random_number(seed) % 4) {
    case 0:
        CHECK_OK(launch_bytes(p, kernel, part, (uint32_t)bytes));
        for (size_t i = 0; i < bytes; i++)
            there[i] = (unsigned char)(3 * there[i] + 1);
        break;
    case 1:
        REQUIRE_OK(revamp_array_view_data(part, REVAMP_ACCESS_READ_WRITE, &data));
        CHECK_SAME(data, there, bytes);
        fill_bytes(data, bytes, *seed);
        fill_bytes(there, bytes, *seed);
        break;
    case 2: {
        revamp_array array = array_1d(p->view, count, size);
        revamp_region to = revamp_region_array(array), from = revamp_region_view(part);
        CHECK_OK(revamp_copy(&from, &to));
        void *got = read_array(array);
        CHECK_SAME(got, there, bytes);
        CHECK_OK(revamp_array_destroy(array));
        break;
    }
    default:
        CHECK_OK(revamp_array_view_synchronize_to(part, p->view, REVAMP_ACCESS_READ_WRITE));
    }
    drop(part);
}

TEST(views_of_any_element_size_are_coherent) {
    static unsigned char memory[ELEMENTS * MAX_ELEMENT_SIZE], model[sizeof memory];
    uint32_t seed = 41;
    FOR_EACH_PLACE(p, runs_spirv) {
        if (!(p->info.features & REVAMP_FEATURE_STORAGE_8BIT)) continue;
        revamp_kernel kernel = load(p->accelerator, &bytes_module);
        for (size_t i = 0; i < COUNT(sizes); i++) {
            size_t size = sizes[i];
            static const int32_t extent[] = {ELEMENTS};
            fill_bytes(memory, ELEMENTS * size, seed);
            memcpy(model, memory, ELEMENTS * size);
            revamp_array_view view = view_of_host(memory, 1, extent, size);
            for (int step = 0; step < STEPS; step++)
                random_access(p, kernel, view, model, size, &seed);
            CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
            CHECK_SAME(memory, model, ELEMENTS * size);
            drop(view);
        }
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

/* A storage buffer must begin at a multiple of the device's alignment. The error names the alignment. */
TEST(byte_offsets_of_storage_buffers_are_checked) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint64_t alignment = p->info.min_storage_buffer_alignment;
        if (alignment < 2) continue;
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_1d(p->view, 4096, 1);
        static unsigned char zeros[4096];
        write_array(array, zeros);
        int32_t origin[] = {3}, extent[] = {1024}, threads[] = {256};
        revamp_argument argument = revamp_argument_buffer(0, array);
        argument.origin = origin;
        argument.extent = extent;
        char text[32];
        snprintf(text, sizeof text, "multiple of %u", (unsigned)alignment);
        CHECK_FAILS(launch(p->view, step, 1, threads, &argument, 1), AS_ARGUMENT, text);
        origin[0] = (int32_t)alignment;
        CHECK_OK(launch(p->view, step, 1, threads, &argument, 1));
        unsigned char *got = read_array(array);
        CHECK(got[alignment] == 1 && got[alignment + 1] == 0 && got[alignment + 1024] == 0);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}
