/* Put before the C library (LD_PRELOAD): fails calls that librevamp.so makes for memory, threads and files, as the
 * switch says (switch.h). Calls of others, and small pieces of memory, pass. */
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

static uintptr_t ours_begin, ours_end;

static int look(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    if (!strstr(info->dlpi_name, "librevamp.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        ours_begin = info->dlpi_addr + part->p_vaddr;
        ours_end = ours_begin + part->p_memsz;
    }
    return 1;
}

/* Once the program is loaded; what is called before passes. */
__attribute__((constructor)) static void find_ours(void) {
    dl_iterate_phdr(look, NULL);
}

#define IS_OURS() ((uintptr_t)__builtin_return_address(0) - ours_begin < ours_end - ours_begin)
#define FAILS(function) (IS_OURS() && (errno_of = fault_now(FAULT_##function)) != 0)

void *malloc(size_t size) {
    int errno_of;
    if (size >= FAULT_LARGE && FAILS(malloc)) {
        errno = errno_of;
        return NULL;
    }
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    int errno_of;
    if (size && count >= (FAULT_LARGE + size - 1) / size && FAILS(calloc)) {
        errno = errno_of;
        return NULL;
    }
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    int errno_of;
    if (size >= FAULT_LARGE && FAILS(realloc)) {
        errno = errno_of;
        return NULL;
    }
    return __libc_realloc(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    int errno_of;
    if (size >= FAULT_LARGE && FAILS(posix_memalign)) return errno_of;
    void *at = __libc_memalign(alignment, size);
    if (!at) return ENOMEM;
    *out = at;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    int errno_of;
    if (size >= FAULT_LARGE && FAILS(aligned_alloc)) {
        errno = errno_of;
        return NULL;
    }
    return __libc_memalign(alignment, size);
}

/* The C library's own. */
#define NEXT(name, result, parameters)                                                                                 \
    typedef result(*next_type) parameters;                                                                             \
    static next_type known;                                                                                            \
    next_type next = __atomic_load_n(&known, __ATOMIC_ACQUIRE);                                                        \
    if (!next) {                                                                                                       \
        next = (next_type)(uintptr_t)dlsym(RTLD_NEXT, name);                                                           \
        __atomic_store_n(&known, next, __ATOMIC_RELEASE);                                                              \
    }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *context) {
    int errno_of;
    NEXT("pthread_create", int, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
    if (FAILS(pthread_create)) return errno_of;
    return next(thread, attributes, begin, context);
}

#define MMAP(name)                                                                                                     \
    void *name(void *at, size_t size, int protection, int flags, int file, off_t offset) {                             \
        int errno_of;                                                                                                  \
        NEXT(#name, void *, (void *, size_t, int, int, int, off_t))                                                    \
        if (size >= FAULT_LARGE && FAILS(mmap)) {                                                                      \
            errno = errno_of;                                                                                          \
            return MAP_FAILED;                                                                                         \
        }                                                                                                              \
        return next(at, size, protection, flags, file, offset);                                                        \
    }
MMAP(mmap)
MMAP(mmap64)

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        int errno_of;                                                                                                  \
        mode_t mode = 0;                                                                                               \
        NEXT(#name, int, (const char *, int, ...))                                                                     \
        if (flags & O_CREAT) {                                                                                         \
            va_list arguments;                                                                                         \
            va_start(arguments, flags);                                                                                \
            mode = va_arg(arguments, mode_t);                                                                          \
            va_end(arguments);                                                                                         \
        }                                                                                                              \
        if (FAILS(open)) {                                                                                             \
            errno = errno_of;                                                                                          \
            return -1;                                                                                                 \
        }                                                                                                              \
        return next(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

ssize_t read(int file, void *bytes, size_t size) {
    int errno_of;
    NEXT("read", ssize_t, (int, void *, size_t))
    if (FAILS(read)) {
        errno = errno_of;
        return -1;
    }
    return next(file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size) {
    int errno_of;
    NEXT("write", ssize_t, (int, const void *, size_t))
    if (file > 2 && FAILS(write)) {
        errno = errno_of;
        return -1;
    }
    return next(file, bytes, size);
}

int rename(const char *from, const char *to) {
    int errno_of;
    NEXT("rename", int, (const char *, const char *))
    if (FAILS(rename)) {
        errno = errno_of;
        return -1;
    }
    return next(from, to);
}

int mkdir(const char *path, mode_t mode) {
    int errno_of;
    NEXT("mkdir", int, (const char *, mode_t))
    if (FAILS(mkdir)) {
        errno = errno_of;
        return -1;
    }
    return next(path, mode);
}
