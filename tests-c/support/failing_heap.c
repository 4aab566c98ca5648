/* See failing_heap.h. */
#define _GNU_SOURCE
#include "failing_heap.h"

#include "support.h"

#include <link.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OWN_MALLOC 1
#endif
#endif
#ifndef __GLIBC__
#define HAS_OWN_MALLOC 1
#endif

size_t heap_asked, heap_first;
bool heap_is_lasting;

#ifndef HAS_OWN_MALLOC
static uintptr_t library_begin, library_end;

static bool fails(void *caller) {
    if ((uintptr_t)caller < library_begin || (uintptr_t)caller >= library_end) return false;
    size_t number = __atomic_add_fetch(&heap_asked, 1, __ATOMIC_SEQ_CST),
           n = __atomic_load_n(&heap_first, __ATOMIC_SEQ_CST);
    return n && (number == n || (heap_is_lasting && number > n));
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
#ifdef HAS_OWN_MALLOC
    check_skip("the program cannot have a malloc() of its own here");
#else
    dl_iterate_phdr(find_library, NULL);
    REQUIRE(library_end);
#endif
}

size_t heap_count(void (*use)(void *), void *context) {
    use(context);
    heap_asked = 0;
    use(context);
    return heap_asked;
}

void heap_fail(size_t number, void (*use)(void *), void *context) {
    heap_asked = 0;
    heap_first = number;
    use(context);
    heap_first = 0;
}

bool heap_works(revamp_status status, const char *call, const char *file, int line) {
    if (status != REVAMP_OK && (status != REVAMP_ERROR_OUT_OF_MEMORY || !heap_first))
        check_fail(file, line, "%s: %s (%s), allocation %zu%s", call, revamp_status_name(status),
                   revamp_last_error_message(), heap_first, heap_is_lasting ? " and all after it" : "");
    return status == REVAMP_OK;
}
