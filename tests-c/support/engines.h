/* Launches by bindings, on arrays and array_views, SPIR-V and functions of the program alike. */
#ifndef ENGINES_H
#define ENGINES_H

#include "views.h"

/* A place that runs code, with its kernels. */
typedef struct {
    const place *p;                /* NULL: the end of a list */
    revamp_kernel step, sum, fill; /* NULL on host threads */
} engine;

/* All of them. Skips the test if there is none. */
engine *engines(void);
void end_engine(engine *e);
#define FOR_EACH_ENGINE(e) for (engine *e = engines(); e->p; end_engine(e++))
/* Another accelerator that runs code; its p is NULL if there is none. */
engine other_engine(const engine *e);
revamp_accelerator_view second_view_of(const engine *e);

/* What a launch works on: numbers of 4 bytes in one dimension. */
revamp_argument use_view(revamp_array_view view);
revamp_argument use_array(revamp_array array);

/* Each number n becomes 3 n + 1: read and write. `target` NULL: no view is named. */
revamp_status run_step(const engine *e, revamp_accelerator_view target, revamp_argument data);
/* out = a + 2 b: `a` and `b` are read; `out` is read and written as far as the library can tell. */
revamp_status run_sum(const engine *e, revamp_accelerator_view target, revamp_argument a, revamp_argument b,
                      revamp_argument out);
/* Every number becomes `value`, and the launch promises to write all. */
revamp_status run_fill(const engine *e, revamp_accelerator_view target, revamp_argument out, uint32_t value);
void sum_naive(const uint32_t *a, const uint32_t *b, uint32_t *out, size_t count);

/* Of the view's elements, the bytes that are valid on an accelerator_view. */
uint64_t valid_on(revamp_array_view view, revamp_accelerator_view where);
/* The accelerator_view has memory of its own for the view's data, so that using it there moves bytes. */
bool is_apart(revamp_array_view view, revamp_accelerator_view where);

revamp_transfer_counters accelerator_transfers(revamp_accelerator accelerator);
uint64_t bytes_to(revamp_transfer_counters c);
uint64_t bytes_from(revamp_transfer_counters c);
uint64_t bytes_local(revamp_transfer_counters c);
uint64_t bytes_moved(revamp_transfer_counters c);

#endif
