/* Places that run code on arrays and array_views, SPIR-V and functions of the program alike, and what views tell. */
#ifndef ENGINES_H
#define ENGINES_H

#include "support.h"

typedef struct {
    const place *p;               /* NULL: the end of a list */
    revamp_kernel step, sum, fill; /* NULL on host threads */
} engine;

bool runs_code(const revamp_accelerator_info *info);
/* All of them, kernels loaded. */
engine *engines(void);
void end_engine(engine *e);
/* Skips the test if there is none. */
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

/* Views of numbers of 4 bytes. */
revamp_array_view numbers_view(void *data, int32_t count);
revamp_array_view view_on(revamp_array array);
revamp_array_view const_view(revamp_array_view view);
revamp_array_view part_of(revamp_array_view view, int32_t origin, int32_t count);
void end_view(revamp_array_view view);
/* Host access. */
uint32_t *access_view(revamp_array_view view, revamp_access access);
revamp_region view_region(revamp_array_view view);

revamp_array_view_info array_view_info(revamp_array_view view);
revamp_residency residency_at(revamp_array_view view, revamp_accelerator_view where);
/* All of the view's elements are valid there. */
bool is_valid_at(revamp_array_view view, revamp_accelerator_view where);
/* The accelerator_view has memory of its own for the view's data, so that using it there moves bytes. */
bool is_apart(revamp_array_view view, revamp_accelerator_view where);

/* Counters. */
revamp_transfer_counters transfers_of_view(revamp_array_view view);
revamp_transfer_counters transfers_of_source(revamp_array_view view);
revamp_transfer_counters transfers_of_accelerator(revamp_accelerator accelerator);
revamp_transfer_counters transfers_of_process(void);
revamp_transfer_counters transfers_between(const revamp_transfer_counters *before,
                                           const revamp_transfer_counters *after);
/* What the process moved since; all kinds of bytes together. */
revamp_transfer_counters transfers_since(const revamp_transfer_counters *before);
uint64_t bytes_to(const revamp_transfer_counters *c);
uint64_t bytes_from(const revamp_transfer_counters *c);
uint64_t bytes_local(const revamp_transfer_counters *c);
uint64_t bytes_moved(const revamp_transfer_counters *c);
/* The sum of the process since `before`. */
uint64_t moved_since(const revamp_transfer_counters *before);

#endif
