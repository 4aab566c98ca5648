#include "engines.h"

#include <string.h>

static engine engine_on(const place *p) {
    engine e = {p, NULL, NULL, NULL};
    if (!runs_spirv(&p->info)) return e;
    e.step = load(p->accelerator, &step_module);
    e.sum = load(p->accelerator, &sets_module);
    e.fill = load(p->accelerator, &fill_module);
    return e;
}

engine *engines(void) {
    const place *places = first_place_or_skip(runs_kernels);
    size_t count = 0;
    while (places[count].view)
        count++;
    engine *list = memory((count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = engine_on(&places[i]);
    return list;
}

void end_engine(engine *e) {
    if (!e->p || !e->step) return;
    CHECK_OK(revamp_kernel_release(e->step));
    CHECK_OK(revamp_kernel_release(e->sum));
    CHECK_OK(revamp_kernel_release(e->fill));
}

engine other_engine(const engine *e) {
    engine none = {NULL, NULL, NULL, NULL};
    for (const place *p = places_that(runs_kernels); p->view; p++)
        if (p->accelerator != e->p->accelerator) return engine_on(p);
    return none;
}

revamp_accelerator_view second_view_of(const engine *e) {
    return new_view(e->p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
}

revamp_argument use_view(revamp_array_view view) {
    return revamp_argument_view(0, view);
}

revamp_argument use_array(revamp_array array) {
    return revamp_argument_buffer(0, array);
}

/* The number of elements of an argument. Returns 1 if its handle is invalid; the launch must then fail. */
static int32_t count_of(const revamp_argument *a) {
    revamp_array_info array = {0};
    revamp_array_view_info view = {0};
    array.struct_size = sizeof array;
    view.struct_size = sizeof view;
    if (a->view && revamp_array_view_get_info(a->view, &view) == REVAMP_OK) return (int32_t)view.element_count;
    if (a->array && revamp_array_get_info(a->array, &array) == REVAMP_OK) return (int32_t)array.element_count;
    return 1;
}

/* Host kernels are not instrumented: ThreadSanitizer does not see the locks that order kernels and the host. */
#define HOST_KERNEL __attribute__((no_sanitize_thread)) static void

typedef struct {
    uint32_t *at[3]; /* in the order of the arguments */
    uint32_t value;
} host_block;

HOST_KERNEL step_kernel(const revamp_thread_id *id, void *context) {
    const host_block *b = context;
    uint32_t *n = &b->at[0][id->global[0]];
    *n = 3 * *n + 1;
}

HOST_KERNEL sum_kernel(const revamp_thread_id *id, void *context) {
    const host_block *b = context;
    int32_t i = id->global[0];
    b->at[2][i] = b->at[0][i] + 2 * b->at[1][i];
}

HOST_KERNEL fill_kernel(const revamp_thread_id *id, void *context) {
    const host_block *b = context;
    b->at[0][id->global[0]] = b->value;
}

static revamp_status run_on_host(revamp_accelerator_view target, revamp_host_kernel function,
                                 const revamp_argument *uses, size_t count, uint32_t value) {
    host_block block = {{NULL, NULL, NULL}, value};
    revamp_argument arguments[3];
    int32_t extent = count_of(&uses[count - 1]);
    for (size_t i = 0; i < count; i++) {
        arguments[i] = uses[i];
        arguments[i].kind = REVAMP_ARGUMENT_ADDRESS;
        arguments[i].set = arguments[i].binding = 0;
        arguments[i].offset = (uint32_t)(offsetof(host_block, at) + i * sizeof block.at[0]);
    }
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = function;
    info.arguments = arguments;
    info.argument_count = count;
    info.block = &block;
    info.block_size = sizeof block;
    return revamp_parallel_for_each(target, &info);
}

revamp_status run_step(const engine *e, revamp_accelerator_view target, revamp_argument data) {
    int32_t count = count_of(&data);
    return e->step ? launch(target, e->step, 1, &count, &data, 1) : run_on_host(target, step_kernel, &data, 1, 0);
}

revamp_status run_sum(const engine *e, revamp_accelerator_view target, revamp_argument a, revamp_argument b,
                      revamp_argument out) {
    int32_t count = count_of(&out);
    revamp_argument uses[] = {a, in_set(b, 1), in_set(out, 2)};
    if (!e->sum) {
        uses[0].access = uses[1].access = REVAMP_ACCESS_READ;
        return run_on_host(target, sum_kernel, uses, 3, 0);
    }
    uses[2].binding = 3;
    return launch(target, e->sum, 1, &count, uses, 3);
}

revamp_status run_fill(const engine *e, revamp_accelerator_view target, revamp_argument out, uint32_t value) {
    int32_t count = count_of(&out);
    out.access = REVAMP_ACCESS_WRITE;
    revamp_argument uses[] = {out, revamp_argument_push_constant(0, &value, sizeof value)};
    return e->fill ? launch(target, e->fill, 1, &count, uses, 2) : run_on_host(target, fill_kernel, &out, 1, value);
}

void sum_naive(const uint32_t *a, const uint32_t *b, uint32_t *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = a[i] + 2 * b[i];
}

static revamp_residency residency_on(revamp_array_view view, revamp_accelerator_view where) {
    place p;
    memset(&p, 0, sizeof p);
    p.view = where;
    return residency_at(view, &p);
}

uint64_t valid_on(revamp_array_view view, revamp_accelerator_view where) {
    return residency_on(view, where).valid_bytes;
}

bool has_own_memory(revamp_array_view view, revamp_accelerator_view where) {
    return !residency_on(view, where).shares_home;
}

revamp_transfer_counters accelerator_transfers(revamp_accelerator accelerator) {
    revamp_transfer_counters c = {0};
    c.struct_size = sizeof c;
    REQUIRE_OK(revamp_accelerator_get_transfers(accelerator, &c));
    return c;
}

uint64_t bytes_to(revamp_transfer_counters c) {
    return c.implicit_to_bytes + c.explicit_to_bytes;
}

uint64_t bytes_from(revamp_transfer_counters c) {
    return c.implicit_from_bytes + c.explicit_from_bytes;
}

uint64_t bytes_local(revamp_transfer_counters c) {
    return c.implicit_local_bytes + c.explicit_local_bytes;
}

uint64_t bytes_moved(revamp_transfer_counters c) {
    return bytes_to(c) + bytes_from(c) + bytes_local(c);
}
