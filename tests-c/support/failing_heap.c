/* See failing_heap.h. */
#define _GNU_SOURCE
#include "failing_heap.h"

#include "support.h"

#include <link.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CANNOT_REPLACE_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CANNOT_REPLACE_MALLOC 1
#endif
#endif
#ifndef __GLIBC__
#define CANNOT_REPLACE_MALLOC 1
#endif

size_t heap_requests, heap_failing_request;
bool heap_fails_all_later;

#ifndef CANNOT_REPLACE_MALLOC
static uintptr_t library_begin, library_end;

static bool fails(void *caller) {
    if ((uintptr_t)caller < library_begin || (uintptr_t)caller >= library_end) return false;
    size_t number = __atomic_add_fetch(&heap_requests, 1, __ATOMIC_SEQ_CST),
           n = __atomic_load_n(&heap_failing_request, __ATOMIC_SEQ_CST);
    return n && (number == n || (heap_fails_all_later && number > n));
}
#define FAILS fails(__builtin_return_address(0))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    return FAILS ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    return FAILS ? NULL : __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
    return FAILS ? NULL : __libc_realloc(block, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
    if (FAILS || !(*block = __libc_memalign(alignment, size))) return 12;
    return 0;
}

static int find_library(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size, (void)context;
    if (!strstr(object->dlpi_name, "librevamp.so")) return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = object->dlpi_phdr + i;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        library_begin = object->dlpi_addr + part->p_vaddr;
        library_end = library_begin + part->p_memsz;
    }
    return 1;
}
#endif

void heap_begin(void) {
#ifdef CANNOT_REPLACE_MALLOC
    check_skip("the program cannot replace malloc() here");
#else
    dl_iterate_phdr(find_library, NULL);
    REQUIRE(library_end);
#endif
}

size_t heap_count(void (*use)(void *), void *context) {
    use(context);
    heap_requests = 0;
    use(context);
    return heap_requests;
}

void heap_fail(size_t number, void (*use)(void *), void *context) {
    heap_requests = 0;
    heap_failing_request = number;
    use(context);
    heap_failing_request = 0;
}

bool heap_check_status(revamp_status status, const char *call, const char *file, int line) {
    if (status != REVAMP_OK && (status != REVAMP_ERROR_OUT_OF_MEMORY || !heap_failing_request))
        check_fail(file, line, "%s: %s (%s), allocation %zu%s", call, revamp_status_name(status),
                   revamp_last_error_message(), heap_failing_request,
                   heap_fails_all_later ? " and all later ones" : "");
    return status == REVAMP_OK;
}
