#include "views.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool runs_kernels(const revamp_accelerator_info *info) {
    return runs_spirv(info) || runs_host_kernels(info);
}

const place *some_two_places(void) {
    const place *places = places_that(runs_kernels);
    if (!places->view || !places[1].view) check_skip("the test needs two accelerators that run kernels");
    return places;
}

place host_place(void) {
    place p;
    memset(&p, 0, sizeof p);
    p.accelerator = find("cpu");
    p.view = default_view(p.accelerator);
    p.info = info_of(p.accelerator);
    return p;
}

revamp_memory_usage usage_of(const place *p) {
    revamp_memory_usage usage = {0};
    usage.struct_size = sizeof usage;
    REQUIRE_OK(revamp_accelerator_get_memory_usage(p->accelerator, &usage));
    return usage;
}

place on_view(const place *p, revamp_accelerator_view view) {
    place other = *p;
    other.view = view;
    return other;
}

/* Making views. */

revamp_array_view view_of_host(void *data, uint32_t rank, const int32_t *extent, size_t element_size) {
    revamp_array_view view = NULL;
    REQUIRE_OK(revamp_array_view_create_host(data, rank, extent, element_size, NULL, &view));
    return view;
}

revamp_array_view view_of(void *numbers, int32_t count) {
    return view_of_host(numbers, 1, &count, 4);
}

revamp_array_view const_view_of(const void *numbers, int32_t count) {
    revamp_array_view view = NULL;
    revamp_array_view_options options = {0};
    options.struct_size = sizeof options;
    options.read_only = true;
    REQUIRE_OK(revamp_array_view_create_host((void *)numbers, 1, &count, 4, &options, &view));
    return view;
}

revamp_array_view view_of_array(revamp_array array) {
    revamp_array_view view = NULL;
    REQUIRE_OK(revamp_array_view_create_array(array, NULL, &view));
    return view;
}

revamp_array_view view_without_source(uint32_t rank, const int32_t *extent) {
    revamp_array_view view = NULL;
    REQUIRE_OK(revamp_array_view_create(rank, extent, 4, NULL, &view));
    return view;
}

revamp_array_view sourceless(int32_t count) {
    return view_without_source(1, &count);
}

revamp_array_view part_of(revamp_array_view view, const int32_t *origin, const int32_t *extent) {
    revamp_array_view part = NULL;
    REQUIRE_OK(revamp_array_view_section(view, origin, extent, &part));
    return part;
}

revamp_array_view range_of(revamp_array_view view, int32_t origin, int32_t count) {
    return part_of(view, &origin, &count);
}

revamp_array_view row_of(revamp_array_view view, int32_t index) {
    revamp_array_view row = NULL;
    REQUIRE_OK(revamp_array_view_project(view, index, &row));
    return row;
}

revamp_array_view reshaped(revamp_array_view view, uint32_t rank, const int32_t *extent) {
    revamp_array_view result = NULL;
    REQUIRE_OK(revamp_array_view_view_as(view, rank, extent, &result));
    return result;
}

revamp_array_view read_only(revamp_array_view view) {
    revamp_array_view result = NULL;
    REQUIRE_OK(revamp_array_view_as_read_only(view, &result));
    return result;
}

void drop(revamp_array_view view) {
    CHECK_OK(revamp_array_view_release(view));
}

revamp_status release_if_created(revamp_status status, revamp_array_view view) {
    if (status == REVAMP_OK) drop(view);
    return status;
}

void drop_all(const revamp_array_view *views, size_t count) {
    for (size_t i = 0; i < count; i++)
        drop(views[i]);
}

revamp_array_view_info array_view_info(revamp_array_view view) {
    revamp_array_view_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_array_view_get_info(view, &info));
    return info;
}

uint64_t bytes_of(revamp_array_view view) {
    revamp_array_view_info info = array_view_info(view);
    return info.element_count * info.element_size;
}

revamp_region region_of(revamp_array_view view) {
    revamp_region region = {0};
    region.struct_size = sizeof region;
    region.view = view;
    return region;
}

/* The kernel of try_use() as a host kernel; view.comp is the same kernel in SPIR-V. */

typedef struct {
    uint64_t a, b;
    uint32_t operation, value, count, rank, extent[MAX_VIEW_RANK], a_stride[MAX_VIEW_RANK], b_stride[MAX_VIEW_RANK];
    uint32_t padding;
} view_block;

static void view_kernel(const revamp_thread_id *id, void *context) {
    const view_block *block = context;
    uint32_t i = (uint32_t)id->global[0], rest = i;
    uint64_t at_a = 0, at_b = 0;
    for (uint32_t d = block->rank; d-- > 0; rest /= block->extent[d]) {
        uint32_t index = rest % block->extent[d];
        at_a += (uint64_t)index * block->a_stride[d];
        at_b += (uint64_t)index * block->b_stride[d];
    }
    uint32_t *a = (uint32_t *)(uintptr_t)block->a + at_a, *b = (uint32_t *)(uintptr_t)block->b + at_b;
    switch (block->operation) {
    case OPERATION_STEP:
        *a = 3 * *a + 1;
        break;
    case OPERATION_FILL:
        *a = block->value + i;
        break;
    case OPERATION_READ:
        *b = *a;
        break;
    case OPERATION_ADD_TWO:
        __atomic_fetch_add(a, block->value, __ATOMIC_RELAXED);
        __atomic_fetch_add(b, block->value, __ATOMIC_RELAXED);
        break;
    case OPERATION_FIRST:
        if (i == 0) *a = block->value;
        break;
    }
}

/* The SPIR-V kernel, loaded once for each accelerator; revamp_uninitialize() frees it. */
static revamp_kernel view_kernel_of(const place *p) {
    enum { MAX_ACCELERATORS = 16 };
    static struct {
        revamp_accelerator accelerator;
        revamp_kernel kernel;
    } loaded[MAX_ACCELERATORS];
    for (int i = 0; i < MAX_ACCELERATORS; i++) {
        if (loaded[i].accelerator == p->accelerator) {
            /* A kernel that was loaded before a revamp_uninitialize() is invalid. */
            revamp_kernel_info info = {0};
            info.struct_size = sizeof info;
            if (revamp_kernel_get_info(loaded[i].kernel, &info) == REVAMP_OK) return loaded[i].kernel;
            loaded[i].accelerator = NULL;
        }
        if (!loaded[i].accelerator) {
            loaded[i].accelerator = p->accelerator;
            return loaded[i].kernel = load(p->accelerator, &view_module);
        }
    }
    check_fail(__FILE__, __LINE__, "more than %d accelerators", MAX_ACCELERATORS);
    check_abandon();
}

/* Writes the shape and the strides of `c`, counted in 4-byte numbers. An array is packed, and takes the shape that
 * `block` already has. If `block` has no shape yet, the array is one-dimensional. */
static void describe(capture c, view_block *block, uint32_t *stride) {
    if (c.view) {
        revamp_array_view_info info = array_view_info(c.view);
        uint32_t words = (uint32_t)(info.element_size / 4);
        block->rank = info.rank;
        block->count = (uint32_t)info.element_count * words;
        for (uint32_t d = 0; d < info.rank; d++) {
            block->extent[d] = (uint32_t)info.extent[d];
            stride[d] = (uint32_t)(info.strides[d] / 4);
        }
        /* The 4-byte numbers of a larger element form one more dimension, the last. */
        if (words > 1) {
            block->extent[block->rank] = words;
            stride[block->rank++] = 1;
        }
        return;
    }
    uint32_t step = 1;
    if (!block->count) {
        revamp_array_info info = array_info(c.array);
        block->rank = 1;
        block->count = block->extent[0] = (uint32_t)(info.size / 4);
    }
    for (uint32_t d = block->rank; d-- > 0; step *= block->extent[d])
        stride[d] = step;
}

static revamp_argument address_of(capture c, uint32_t offset) {
    return c.view ? revamp_argument_view_address(offset, c.view, c.access)
                  : revamp_argument_address(offset, c.array, c.access);
}

revamp_status try_use(const place *p, operation what, capture a, capture b, uint32_t value) {
    view_block block;
    revamp_argument arguments[2];
    size_t count = 0;
    memset(&block, 0, sizeof block);
    block.operation = what;
    block.value = value;
    if (b.view) describe(b, &block, block.b_stride);
    describe(a, &block, block.a_stride);
    if (b.array) describe(b, &block, block.b_stride);
    REQUIRE(block.rank <= MAX_VIEW_RANK);
    arguments[count++] = address_of(a, offsetof(view_block, a));
    if (b.view || b.array) arguments[count++] = address_of(b, offsetof(view_block, b));
    int32_t extent = (int32_t)block.count;
    if (runs_spirv(&p->info)) {
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = count;
        info.block = &block;
        info.block_size = sizeof block;
        return revamp_dispatch(p->view, view_kernel_of(p), &info);
    }
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = view_kernel;
    info.arguments = arguments;
    info.argument_count = count;
    info.block = &block;
    info.block_size = sizeof block;
    return revamp_parallel_for_each(p->view, &info);
}

static void use_one_view(const place *p, operation what, revamp_array_view view, revamp_access access, uint32_t value) {
    const capture a = {view, NULL, access}, none = {NULL, NULL, 0};
    REQUIRE_OK(try_use(p, what, a, none, value));
}

void step_on(const place *p, revamp_array_view view) {
    use_one_view(p, OPERATION_STEP, view, 0, 0);
}

void fill_on(const place *p, revamp_array_view view, uint32_t value) {
    use_one_view(p, OPERATION_FILL, view, 0, value);
}

void touch_first_on(const place *p, revamp_array_view view, uint32_t value) {
    use_one_view(p, OPERATION_FIRST, view, 0, value);
}

void write_on(const place *p, revamp_array_view view, uint32_t value) {
    use_one_view(p, OPERATION_FILL, view, REVAMP_ACCESS_WRITE, value);
}

uint32_t *read_on(const place *p, revamp_array_view view) {
    revamp_array result = array_1d(p->view, (int32_t)(bytes_of(view) / 4), 4);
    const capture a = {view, NULL, REVAMP_ACCESS_READ}, b = {NULL, result, REVAMP_ACCESS_WRITE};
    REQUIRE_OK(try_use(p, OPERATION_READ, a, b, 0));
    uint32_t *contents = read_array(result);
    CHECK_OK(revamp_array_destroy(result));
    return contents;
}

void wait_at(const place *p) {
    CHECK_OK(revamp_accelerator_view_wait(p->view));
}

/* Access by the host. */

uint32_t *host_access(revamp_array_view view, revamp_access access) {
    void *data = NULL;
    REQUIRE_OK(revamp_array_view_data(view, access, &data));
    REQUIRE(data);
    return data;
}

typedef void (*visitor)(uint32_t *number, size_t i, void *context);

static void visit(revamp_array_view view, uint32_t *data, visitor visit_number, void *context) {
    view_block block;
    int32_t extent[MAX_VIEW_RANK], index[MAX_VIEW_RANK];
    const capture c = {view, NULL, 0};
    memset(&block, 0, sizeof block);
    describe(c, &block, block.a_stride);
    for (uint32_t d = 0; d < block.rank; d++)
        extent[d] = (int32_t)block.extent[d];
    for (size_t i = 0; i < block.count; i++) {
        size_t at = 0;
        unfold(i, block.rank, extent, index);
        for (uint32_t d = 0; d < block.rank; d++)
            at += (size_t)index[d] * block.a_stride[d];
        visit_number(data + at, i, context);
    }
}

static void record_number(uint32_t *number, size_t i, void *context) {
    ((uint32_t *)context)[i] = *number;
}

static void step_number(uint32_t *number, size_t i, void *context) {
    (void)i;
    (void)context;
    *number = 3 * *number + 1;
}

static void fill_number(uint32_t *number, size_t i, void *context) {
    *number = *(uint32_t *)context + (uint32_t)i;
}

uint32_t *read_on_host(revamp_array_view view) {
    uint32_t *contents = memory((size_t)bytes_of(view));
    visit(view, host_access(view, REVAMP_ACCESS_READ), record_number, contents);
    return contents;
}

void step_on_host(revamp_array_view view) {
    visit(view, host_access(view, REVAMP_ACCESS_READ_WRITE), step_number, NULL);
}

void fill_on_host(revamp_array_view view, uint32_t value) {
    visit(view, host_access(view, REVAMP_ACCESS_WRITE), fill_number, &value);
}

void step_at(const place *p, revamp_array_view view) {
    if (runs_kernels(&p->info))
        step_on(p, view);
    else
        step_on_host(view);
}

uint32_t *read_at(const place *p, revamp_array_view view) {
    return runs_kernels(&p->info) ? read_on(p, view) : read_on_host(view);
}

void fill_naive(uint32_t *numbers, size_t count, uint32_t value) {
    for (size_t i = 0; i < count; i++)
        numbers[i] = value + (uint32_t)i;
}

/* Residency and transfers. */

revamp_residency residency_at(revamp_array_view view, const place *p) {
    revamp_residency residency = {0};
    residency.struct_size = sizeof residency;
    REQUIRE_OK(revamp_array_view_get_residency(view, p->view, &residency));
    return residency;
}

uint64_t valid_at(revamp_array_view view, const place *p) {
    return residency_at(view, p).valid_bytes;
}

uint64_t bytes_if_separate(revamp_array_view view, const place *p, uint64_t bytes) {
    return residency_at(view, p).shares_home ? 0 : bytes;
}

revamp_transfer_counters source_transfers(revamp_array_view view) {
    revamp_transfer_counters counters = {0};
    counters.struct_size = sizeof counters;
    REQUIRE_OK(revamp_array_view_get_source_transfers(view, &counters));
    return counters;
}

revamp_transfer_counters view_transfers(revamp_array_view view) {
    revamp_transfer_counters counters = {0};
    counters.struct_size = sizeof counters;
    REQUIRE_OK(revamp_array_view_get_transfers(view, &counters));
    return counters;
}

revamp_transfer_counters all_transfers(void) {
    revamp_transfer_counters counters = {0};
    counters.struct_size = sizeof counters;
    REQUIRE_OK(revamp_get_transfers(&counters));
    return counters;
}

static revamp_transfer_counters read_meter(const meter *m) {
    return m->view ? source_transfers(m->view) : all_transfers();
}

meter meter_of(revamp_array_view view) {
    meter m;
    m.view = view;
    m.begin = read_meter(&m);
    return m;
}

revamp_transfer_counters moved_since(meter *m) {
    revamp_transfer_counters now = read_meter(m), moved = now;
    moved.implicit_to_bytes -= m->begin.implicit_to_bytes;
    moved.implicit_to_count -= m->begin.implicit_to_count;
    moved.implicit_from_bytes -= m->begin.implicit_from_bytes;
    moved.implicit_from_count -= m->begin.implicit_from_count;
    moved.implicit_local_bytes -= m->begin.implicit_local_bytes;
    moved.implicit_local_count -= m->begin.implicit_local_count;
    moved.explicit_to_bytes -= m->begin.explicit_to_bytes;
    moved.explicit_to_count -= m->begin.explicit_to_count;
    moved.explicit_from_bytes -= m->begin.explicit_from_bytes;
    moved.explicit_from_count -= m->begin.explicit_from_count;
    moved.explicit_local_bytes -= m->begin.explicit_local_bytes;
    moved.explicit_local_count -= m->begin.explicit_local_count;
    m->begin = now;
    return moved;
}

static void check_direction(uint64_t bytes, uint64_t count, uint64_t expected, const char *what, const char *file,
                            int line) {
    if (bytes != expected)
        check_fail(file, line, "%s moved %llu bytes, expected %llu", what, (unsigned long long)bytes,
                   (unsigned long long)expected);
    if ((count != 0) != (bytes != 0))
        check_fail(file, line, "%s moved %llu bytes in %llu transfers", what, (unsigned long long)bytes,
                   (unsigned long long)count);
}

void check_moved(meter *m, uint64_t to, uint64_t from, bool is_implicit, const char *file, int line) {
    revamp_transfer_counters c = moved_since(m);
    check_direction(c.implicit_to_bytes, c.implicit_to_count, is_implicit ? to : 0, "implicitly to", file, line);
    check_direction(c.implicit_from_bytes, c.implicit_from_count, is_implicit ? from : 0, "implicitly from", file,
                    line);
    check_direction(c.explicit_to_bytes, c.explicit_to_count, is_implicit ? 0 : to, "explicitly to", file, line);
    check_direction(c.explicit_from_bytes, c.explicit_from_count, is_implicit ? 0 : from, "explicitly from", file,
                    line);
    check_direction(c.implicit_local_bytes, c.implicit_local_count, 0, "implicitly within one memory", file, line);
    check_direction(c.explicit_local_bytes, c.explicit_local_count, 0, "explicitly within one memory", file, line);
}
