/* Helpers that the tests of array_view share: creating views, using them on any accelerator, counting moved bytes. */
#ifndef VIEWS_H
#define VIEWS_H

#include "support.h"

enum { MAX_VIEW_RANK = 5 };

/* True for accelerators that run kernels: Vulkan devices and the host threads. */
bool runs_kernels(const revamp_accelerator_info *info);
#define FOR_EACH_RUNNER(p) FOR_EACH_PLACE(p, runs_kernels)
/* All accelerators that run kernels; skips the test if there are fewer than two. FOR_EACH_TWO_RUNNERS runs its body for
 * each ordered pair of these accelerators. */
const place *some_two_places(void);
#define FOR_EACH_TWO_RUNNERS(p, q)                                                                                     \
    for (const place *p = some_two_places(); p->view; p++)                                                             \
        for (const place *q = places_that(runs_kernels); q->view; q++)                                                 \
            if (p->accelerator != q->accelerator)

/* The CPU accelerator, and its default view. */
place host_place(void);
/* The current memory usage of the place's accelerator. */
revamp_memory_usage usage_of(const place *p);
/* The same accelerator with another accelerator_view. */
place on_view(const place *p, revamp_accelerator_view view);

/* Functions that create views. drop() releases a view. */
revamp_array_view view_of_host(void *data, uint32_t rank, const int32_t *extent, size_t element_size);
/* A one-dimensional view of 4-byte numbers. */
revamp_array_view view_of(void *numbers, int32_t count);
revamp_array_view const_view_of(const void *numbers, int32_t count);
revamp_array_view view_of_array(revamp_array array);
revamp_array_view view_without_source(uint32_t rank, const int32_t *extent);
revamp_array_view sourceless(int32_t count);
revamp_array_view part_of(revamp_array_view view, const int32_t *origin, const int32_t *extent);
/* A section of a one-dimensional view. */
revamp_array_view range_of(revamp_array_view view, int32_t origin, int32_t count);
revamp_array_view row_of(revamp_array_view view, int32_t index);
revamp_array_view reshaped(revamp_array_view view, uint32_t rank, const int32_t *extent);
revamp_array_view read_only(revamp_array_view view);
void drop(revamp_array_view view);
/* Releases `view` if the call that created it succeeded. Returns `status`, the status of that call. */
revamp_status release_if_created(revamp_status status, revamp_array_view view);
/* Releases the views in the order of the list. */
void drop_all(const revamp_array_view *views, size_t count);

revamp_array_view_info array_view_info(revamp_array_view view);
uint64_t bytes_of(revamp_array_view view);
revamp_region region_of(revamp_array_view view);

/* Using views in a kernel on `p`. */
typedef enum {
    OPERATION_STEP,    /* each number n becomes 3 n + 1 */
    OPERATION_FILL,    /* number i becomes value + i */
    OPERATION_READ,    /* the numbers of a are copied to b */
    OPERATION_ADD_TWO, /* value is added atomically to each number, through a and through b */
    OPERATION_FIRST    /* the first number becomes value, the others are not touched */
} operation;

/* One of the two arguments a and b of a launch: a view or an array, and the declared access (0: none declared). */
typedef struct {
    revamp_array_view view;
    revamp_array array;
    revamp_access access;
} capture;

revamp_status try_use(const place *p, operation what, capture a, capture b, uint32_t value);
/* These functions declare no access, so the library assumes that the kernel reads and writes the view. */
void step_on(const place *p, revamp_array_view view);
void fill_on(const place *p, revamp_array_view view, uint32_t value);
void touch_first_on(const place *p, revamp_array_view view, uint32_t value);
/* The same as fill_on(), but declares write-only access. */
void write_on(const place *p, revamp_array_view view, uint32_t value);
/* The numbers that a kernel on `p` reads, in memory from memory(). */
uint32_t *read_on(const place *p, revamp_array_view view);
/* Waits for the place's accelerator_view. */
void wait_at(const place *p);

/* Using views on the host. */
uint32_t *host_access(revamp_array_view view, revamp_access access);
/* The numbers that the host reads, in memory from memory(). */
uint32_t *read_on_host(revamp_array_view view);
void step_on_host(revamp_array_view view);
void fill_on_host(revamp_array_view view, uint32_t value);

/* Use the view in a kernel if `p` runs kernels, else on the host. */
void step_at(const place *p, revamp_array_view view);
uint32_t *read_at(const place *p, revamp_array_view view);

/* Writes the expected result of fill_on(). */
void fill_naive(uint32_t *numbers, size_t count, uint32_t value);

/* The residency of a view, and its valid bytes, on the accelerator_view of `p`. */
revamp_residency residency_at(revamp_array_view view, const place *p);
uint64_t valid_at(revamp_array_view view, const place *p);
/* Returns `bytes`, or 0 if transfers to `p` move no bytes because `p` shares the memory of the view's home location. */
uint64_t bytes_if_separate(revamp_array_view view, const place *p, uint64_t bytes);

/* A meter counts the transfers of a view's data source since the meter was created or last checked. */
typedef struct {
    revamp_array_view view;
    revamp_transfer_counters begin;
} meter;

revamp_transfer_counters source_transfers(revamp_array_view view);
revamp_transfer_counters view_transfers(revamp_array_view view);
revamp_transfer_counters all_transfers(void);
/* If `view` is NULL, the meter counts all transfers of the process. */
meter meter_of(revamp_array_view view);
revamp_transfer_counters moved_since(meter *m);
void check_moved(meter *m, uint64_t to, uint64_t from, bool is_implicit, const char *file, int line);
/* Checks that exactly these bytes have moved implicitly to and from accelerators, and none by explicit calls or within
 * one memory. Then restarts the meter. */
#define CHECK_MOVED(m, to, from) check_moved(m, to, from, true, __FILE__, __LINE__)
/* The same, but the bytes have moved by explicit calls, and none implicitly. */
#define CHECK_MOVED_BY_CALL(m, to, from) check_moved(m, to, from, false, __FILE__, __LINE__)
#define CHECK_NOTHING_MOVED(m) check_moved(m, 0, 0, true, __FILE__, __LINE__)

#endif
