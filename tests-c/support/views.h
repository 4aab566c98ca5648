/* What the tests of array_view share: making views, using them on any accelerator, counting what moved. */
#ifndef VIEWS_H
#define VIEWS_H

#include "support.h"

enum { MOST_VIEW_RANK = 5 };

/* An accelerator that runs kernels: a Vulkan device or the host threads. */
bool runs_kernels(const revamp_accelerator_info *info);
#define FOR_EACH_RUNNER(p) FOR_EACH_PLACE(p, runs_kernels)
/* Each two different ones; skips the test if there is but one. */
const place *some_two_places(void);
#define FOR_EACH_TWO_RUNNERS(p, q)                                                                                     \
    for (const place *p = some_two_places(); p->view; p++)                                                             \
        for (const place *q = places_that(runs_kernels); q->view; q++)                                                 \
            if (p->accelerator != q->accelerator)

/* The host, where a location is asked for. */
place host_place(void);
/* The memory that its accelerator holds now. */
revamp_memory_usage usage_of(const place *p);
/* The same accelerator with another view of it. */
place on_view(const place *p, revamp_accelerator_view view);

/* Making views; each ends by drop(). */
revamp_array_view view_of_host(void *data, uint32_t rank, const int32_t *extent, size_t element_size);
/* One dimension of 4-byte numbers. */
revamp_array_view view_of(void *numbers, int32_t count);
revamp_array_view const_view_of(const void *numbers, int32_t count);
revamp_array_view view_of_array(revamp_array array);
revamp_array_view view_without_source(uint32_t rank, const int32_t *extent);
revamp_array_view sourceless(int32_t count);
revamp_array_view part_of(revamp_array_view view, const int32_t *origin, const int32_t *extent);
/* Of a view of one dimension. */
revamp_array_view range_of(revamp_array_view view, int32_t origin, int32_t count);
revamp_array_view row_of(revamp_array_view view, int32_t index);
revamp_array_view shaped(revamp_array_view view, uint32_t rank, const int32_t *extent);
revamp_array_view read_only(revamp_array_view view);
void drop(revamp_array_view view);
/* What a call made is dropped, so that only its status counts. */
revamp_status made(revamp_status status, revamp_array_view view);
/* All of the list, in its order. */
void drop_all(const revamp_array_view *views, size_t count);

revamp_array_view_info array_view_info(revamp_array_view view);
uint64_t bytes_of(revamp_array_view view);
revamp_region region_of(revamp_array_view view);

/* Using views in a kernel on `p`. */
typedef enum {
    OPERATION_STEP,    /* each number n becomes 3 n + 1 */
    OPERATION_FILL,    /* number i becomes value + i */
    OPERATION_READ,    /* the numbers are copied to the other side */
    OPERATION_ADD_TWO, /* value is added atomically through both sides */
    OPERATION_FIRST    /* the first number becomes value, the others are not touched */
} operation;

/* One side of a launch: a view, or an array, and how it is captured; access 0: as without saying. */
typedef struct {
    revamp_array_view view;
    revamp_array array;
    revamp_access access;
} capture;

revamp_status try_use(const place *p, operation what, capture a, capture b, uint32_t value);
/* These are captured as without saying: read and written. */
void step_on(const place *p, revamp_array_view view);
void fill_on(const place *p, revamp_array_view view, uint32_t value);
void touch_first_on(const place *p, revamp_array_view view, uint32_t value);
/* The same fill with the promise that all is written. */
void write_on(const place *p, revamp_array_view view, uint32_t value);
/* The numbers as a kernel reads them there, in memory of the test. */
uint32_t *read_on(const place *p, revamp_array_view view);
/* Waits for the view of the place. */
void settle(const place *p);

/* Using views on the host. */
uint32_t *host_access(revamp_array_view view, revamp_access access);
/* The numbers as the host reads them, in memory of the test. */
uint32_t *read_on_host(revamp_array_view view);
void step_on_host(revamp_array_view view);
void fill_on_host(revamp_array_view view, uint32_t value);

/* On either. */
void step_at(const place *p, revamp_array_view view);
uint32_t *read_at(const place *p, revamp_array_view view);

/* What fill leaves. */
void fill_naive(uint32_t *numbers, size_t count, uint32_t value);

/* Where the bytes are. */
revamp_residency residency_at(revamp_array_view view, const place *p);
uint64_t valid_at(revamp_array_view view, const place *p);
/* These bytes if `p` has memory of its own beside that of the view's home, else 0: what moving them there counts. */
uint64_t apart(revamp_array_view view, const place *p, uint64_t bytes);

/* Bytes moved. A meter counts what has moved for a data source since it was set or checked last. */
typedef struct {
    revamp_array_view view;
    revamp_transfer_counters begin;
} meter;

revamp_transfer_counters source_transfers(revamp_array_view view);
revamp_transfer_counters view_transfers(revamp_array_view view);
revamp_transfer_counters all_transfers(void);
meter meter_of(revamp_array_view view);
/* A meter of everything the process moves: NULL as view. */
revamp_transfer_counters moved_since(meter *m);
void check_moved(meter *m, uint64_t to, uint64_t from, bool is_implicit, const char *file, int line);
/* So many bytes have moved implicitly to and from accelerators, and none by explicit calls; then begins anew. */
#define CHECK_MOVED(m, to, from) check_moved(m, to, from, true, __FILE__, __LINE__)
/* So many bytes have moved by explicit calls, and none implicitly. */
#define CHECK_MOVED_BY_CALL(m, to, from) check_moved(m, to, from, false, __FILE__, __LINE__)
#define CHECK_NOTHING_MOVED(m) check_moved(m, 0, 0, true, __FILE__, __LINE__)

#endif
