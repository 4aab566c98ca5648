/* The implementation of the fault switch (switch.h). */
#include "switch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ABOUT(name, kind, ...) {#name, FAULT_##kind, {__VA_ARGS__}},
const fault_function_info fault_functions[FAULT_FUNCTION_COUNT] = {FAULT_FUNCTIONS(ABOUT)};
#undef ABOUT

/* Uses system calls, because the switch may count calls of the C library's functions. */
static fault_switch *map(void) {
    const char *name = getenv("REVAMP_FAULTS");
    if (!name) return NULL;
    long file = syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return NULL;
    long at = syscall(SYS_mmap, NULL, sizeof(fault_switch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    return at < 0 && at > -4096 ? NULL : (fault_switch *)at;
}

fault_switch *fault_open(void) {
    static fault_switch *mapped_switch;
    static int map_was_tried;
    /* If two threads get here at once, both map the file, which is harmless. */
    if (!__atomic_load_n(&map_was_tried, __ATOMIC_ACQUIRE)) {
        fault_switch *mapped = map();
        __atomic_store_n(&mapped_switch, mapped, __ATOMIC_RELEASE);
        __atomic_store_n(&map_was_tried, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&mapped_switch, __ATOMIC_ACQUIRE);
}

int32_t fault_count_call(fault_function function) {
    fault_switch *s = fault_open();
    if (!s) return 0;
    __atomic_fetch_add(&s->counts[function], 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&s->function, __ATOMIC_ACQUIRE) != (int32_t)function) return 0;
    uint64_t call = __atomic_add_fetch(&s->calls, 1, __ATOMIC_RELAXED);
    if (call < s->at || call >= s->at + s->times) return 0;
    /* `fired` allows library calls to fail. Failures of file functions do not count, because the library must work
     * without files. */
    if (fault_functions[function].kind != FAULT_FILE) __atomic_fetch_add(&s->fired, 1, __ATOMIC_RELEASE);
    return s->result;
}
