/* A library for LD_PRELOAD. Calls from librevamp.so to memory, thread and file functions fail if the fault switch
 * (switch.h) selects them. Calls from other libraries and small allocations are never made to fail. */
#define _GNU_SOURCE
#include "switch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t library_begin, library_end;

static int find_library_code(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    if (!strstr(info->dlpi_name, "librevamp.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        library_begin = info->dlpi_addr + part->p_vaddr;
        library_end = library_begin + part->p_memsz;
    }
    return 1;
}

/* Runs when the program is loaded. Calls before that never fail. */
__attribute__((constructor)) static void find_library(void) {
    dl_iterate_phdr(find_library_code, NULL);
}

#define IS_FROM_LIBRARY() ((uintptr_t)__builtin_return_address(0) - library_begin < library_end - library_begin)
#define FAILS(function) (IS_FROM_LIBRARY() && (error_code = fault_count_call(FAULT_##function)) != 0)

void *malloc(size_t size) {
    int error_code;
    if (size >= FAULT_LARGE && FAILS(malloc)) {
        errno = error_code;
        return NULL;
    }
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    int error_code;
    if (size && count >= (FAULT_LARGE + size - 1) / size && FAILS(calloc)) {
        errno = error_code;
        return NULL;
    }
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    int error_code;
    if (size >= FAULT_LARGE && FAILS(realloc)) {
        errno = error_code;
        return NULL;
    }
    return __libc_realloc(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    int error_code;
    if (size >= FAULT_LARGE && FAILS(posix_memalign)) return error_code;
    void *at = __libc_memalign(alignment, size);
    if (!at) return ENOMEM;
    *out = at;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    int error_code;
    if (size >= FAULT_LARGE && FAILS(aligned_alloc)) {
        errno = error_code;
        return NULL;
    }
    return __libc_memalign(alignment, size);
}

/* Looks up the C library's function once, and keeps it. */
#define NEXT(name, result, parameters)                                                                                 \
    typedef result(*next_type) parameters;                                                                             \
    static next_type cached_next;                                                                                      \
    next_type next = __atomic_load_n(&cached_next, __ATOMIC_ACQUIRE);                                                  \
    if (!next) {                                                                                                       \
        next = (next_type)(uintptr_t)dlsym(RTLD_NEXT, name);                                                           \
        __atomic_store_n(&cached_next, next, __ATOMIC_RELEASE);                                                        \
    }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *context) {
    int error_code;
    NEXT("pthread_create", int, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
    if (FAILS(pthread_create)) return error_code;
    return next(thread, attributes, begin, context);
}

#define MMAP(name)                                                                                                     \
    void *name(void *at, size_t size, int protection, int flags, int file, off_t offset) {                             \
        int error_code;                                                                                                \
        NEXT(#name, void *, (void *, size_t, int, int, int, off_t))                                                    \
        if (size >= FAULT_LARGE && FAILS(mmap)) {                                                                      \
            errno = error_code;                                                                                        \
            return MAP_FAILED;                                                                                         \
        }                                                                                                              \
        return next(at, size, protection, flags, file, offset);                                                        \
    }
MMAP(mmap)
MMAP(mmap64)

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        int error_code;                                                                                                \
        mode_t mode = 0;                                                                                               \
        NEXT(#name, int, (const char *, int, ...))                                                                     \
        if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                                   \
            va_list arguments;                                                                                         \
            va_start(arguments, flags);                                                                                \
            mode = va_arg(arguments, mode_t);                                                                          \
            va_end(arguments);                                                                                         \
        }                                                                                                              \
        if (FAILS(open)) {                                                                                             \
            errno = error_code;                                                                                        \
            return -1;                                                                                                 \
        }                                                                                                              \
        return next(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

ssize_t read(int file, void *bytes, size_t size) {
    int error_code;
    NEXT("read", ssize_t, (int, void *, size_t))
    if (FAILS(read)) {
        errno = error_code;
        return -1;
    }
    return next(file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size) {
    int error_code;
    NEXT("write", ssize_t, (int, const void *, size_t))
    if (file > 2 && FAILS(write)) {
        errno = error_code;
        return -1;
    }
    return next(file, bytes, size);
}

int rename(const char *from, const char *to) {
    int error_code;
    NEXT("rename", int, (const char *, const char *))
    if (FAILS(rename)) {
        errno = error_code;
        return -1;
    }
    return next(from, to);
}

int mkdir(const char *path, mode_t mode) {
    int error_code;
    NEXT("mkdir", int, (const char *, mode_t))
    if (FAILS(mkdir)) {
        errno = error_code;
        return -1;
    }
    return next(path, mode);
}
