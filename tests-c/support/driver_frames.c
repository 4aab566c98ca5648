/* Makes lavapipe faster under AddressSanitizer. For each workgroup, lavapipe allocates a frame of about 200 bytes that
 * is aligned to 4096 bytes. With AddressSanitizer, each frame takes 8 KiB of fresh memory, and programs that launch
 * kernels spend most of their time on these frames. An alignment of 64 bytes suffices. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
static int is_lavapipe(void *caller) {
    static void *lavapipe_caller;
    Dl_info info;
    if (caller == __atomic_load_n(&lavapipe_caller, __ATOMIC_RELAXED)) return 1;
    if (!dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "libvulkan_lvp")) return 0;
    __atomic_store_n(&lavapipe_caller, caller, __ATOMIC_RELAXED);
    return 1;
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    static void *cached_symbol;
    void *symbol = __atomic_load_n(&cached_symbol, __ATOMIC_RELAXED);
    if (!symbol) __atomic_store_n(&cached_symbol, symbol = dlsym(RTLD_NEXT, "posix_memalign"), __ATOMIC_RELAXED);
    int (*original)(void **, size_t, size_t);
    memcpy(&original, &symbol, sizeof symbol);
    if (alignment == 4096 && size < 4096 && is_lavapipe(__builtin_return_address(0))) alignment = 64;
    return original(block, alignment, size);
}
#endif
