/* Launches three test kernels (step, sum, fill) on arrays and array_views: as SPIR-V on Vulkan devices, as host kernels
 * on host threads. */
#ifndef ENGINES_H
#define ENGINES_H

#include "views.h"

/* An accelerator on which the three kernels are loaded. */
typedef struct {
    const place *p;                /* NULL: the end of a list */
    revamp_kernel step, sum, fill; /* NULL if host threads run the kernels */
} engine;

/* An engine for each accelerator that runs kernels. An engine whose p is NULL ends the list. Skips the test if the list
 * is empty. */
engine *engines(void);
void end_engine(engine *e);
#define FOR_EACH_ENGINE(e) for (engine *e = engines(); e->p; end_engine(e++))
/* An engine for an accelerator other than that of `e`. If there is none, p of the result is NULL. */
engine other_engine(const engine *e);
revamp_accelerator_view second_view_of(const engine *e);

/* Launch arguments for one-dimensional views and arrays of 4-byte numbers. */
revamp_argument use_view(revamp_array_view view);
revamp_argument use_array(revamp_array array);

/* Replaces each number n of `data` with 3 n + 1. If `target` is NULL, the library chooses the accelerator_view. */
revamp_status run_step(const engine *e, revamp_accelerator_view target, revamp_argument data);
/* Sets out = a + 2 b. The library assumes that the kernel reads and writes `out`. */
revamp_status run_sum(const engine *e, revamp_accelerator_view target, revamp_argument a, revamp_argument b,
                      revamp_argument out);
/* Sets every number of `out` to `value`. The launch declares write-only access to `out`. */
revamp_status run_fill(const engine *e, revamp_accelerator_view target, revamp_argument out, uint32_t value);
void sum_naive(const uint32_t *a, const uint32_t *b, uint32_t *out, size_t count);

/* The bytes of `view` that are valid on the accelerator_view `where`. */
uint64_t valid_on(revamp_array_view view, revamp_accelerator_view where);
/* True if `where` has its own copy of the data of `view`, so that a use of `view` on `where` moves bytes. */
bool has_own_memory(revamp_array_view view, revamp_accelerator_view where);

revamp_transfer_counters accelerator_transfers(revamp_accelerator accelerator);
uint64_t bytes_to(revamp_transfer_counters c);
uint64_t bytes_from(revamp_transfer_counters c);
uint64_t bytes_local(revamp_transfer_counters c);
uint64_t bytes_moved(revamp_transfer_counters c);

#endif
