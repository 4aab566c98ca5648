/* A malloc() of the program that fails where the library calls it, as a test says. */
#ifndef FAILING_HEAP_H
#define FAILING_HEAP_H

#include "check.h"

/* How many allocations the library has requested, and which of them fail: number `heap_first`, and if `heap_is_lasting`
 * all after it; 0: none. */
extern size_t heap_asked, heap_first;
extern bool heap_is_lasting;

/* To be called first. Skips the test where the program cannot have a malloc() of its own. */
void heap_begin(void);
/* How many allocations the library requests for `use`. */
size_t heap_count(void (*use)(void *), void *context);
/* Runs `use` while allocation `number` fails. */
void heap_fail(size_t number, void (*use)(void *), void *context);
/* True if the call worked; else there must have been no memory. */
bool heap_works(revamp_status status, const char *call, const char *file, int line);
#define WORKS(call) heap_works(call, #call, __FILE__, __LINE__)

#endif
