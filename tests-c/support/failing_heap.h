/* Replaces malloc() in the program. A test chooses which allocations of the library fail. */
#ifndef FAILING_HEAP_H
#define FAILING_HEAP_H

#include "check.h"

/* The number of allocations that the library has requested, and the number of the allocation that fails (0: none). */
extern size_t heap_requests, heap_failing_request;
/* True if all allocations after the failing allocation fail too. */
extern bool heap_fails_all_later;

/* Call this first. It skips the test if the program cannot replace malloc(). */
void heap_begin(void);
/* The number of allocations that the library requests during `use`. */
size_t heap_count(void (*use)(void *), void *context);
/* Runs `use` while allocation `number` fails. */
void heap_fail(size_t number, void (*use)(void *), void *context);
/* True if the call succeeded. Any error except running out of memory fails the test. */
bool heap_check_status(revamp_status status, const char *call, const char *file, int line);
#define SUCCEEDED(call) heap_check_status(call, #call, __FILE__, __LINE__)

#endif
