/* No memory for the library's own objects: a program of its own, whose malloc() fails where the library calls it. No
 * call may abort; each works or fails with REVAMP_ERROR_OUT_OF_MEMORY, and everything works once there is memory again.
 */
#define _GNU_SOURCE
#include "support.h"

#include <link.h>
#include <stdlib.h>
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

/* Which of the library's allocations fail: number `first`, and with `is_lasting` all after it; 0: none. */
static size_t asked, first;
static bool is_lasting;

#ifndef HAS_OWN_MALLOC
static uintptr_t library_begin, library_end;

static bool fails(void *caller) {
    if ((uintptr_t)caller < library_begin || (uintptr_t)caller >= library_end) return false;
    size_t number = __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST), n = __atomic_load_n(&first, __ATOMIC_SEQ_CST);
    return n && (number == n || (is_lasting && number > n));
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

/* True if the call worked; else there must have been no memory. */
static bool works(revamp_status status, const char *call, int line) {
    if (status != REVAMP_OK && (status != REVAMP_ERROR_OUT_OF_MEMORY || !first))
        check_fail(__FILE__, line, "%s: %s (%s), allocation %zu%s", call, revamp_status_name(status),
                   revamp_last_error_message(), first, is_lasting ? " and all after it" : "");
    return status == REVAMP_OK;
}
#define WORKS(call) works(call, #call, __LINE__)

enum { N = 64 };
static const int32_t extent = N;

static void use_arrays(revamp_accelerator_view view) {
    revamp_array array;
    revamp_completion done;
    revamp_array_info info = REVAMP_ARRAY_INFO_INIT;
    uint32_t sent[N] = {1, 2, 3}, got[N];
    if (!WORKS(revamp_array_create(view, 1, &extent, 4, NULL, &array))) return;
    if (WORKS(revamp_array_get_info(array, &info))) CHECK_NUMBER(info.element_count, N);
    if (WORKS(revamp_copy_to_array(sent, sizeof sent, array)) && WORKS(revamp_copy_from_array(array, got, sizeof got)))
        CHECK_SAME(got, sent, sizeof got);
    if (WORKS(revamp_copy_from_array_async(array, got, sizeof got, NULL, &done))) {
        WORKS(revamp_completion_get(done));
        CHECK_OK(revamp_completion_release(done));
    }
    CHECK_OK(revamp_array_destroy(array));
}

static void use_views(revamp_accelerator_view view) {
    revamp_array_view over, part;
    uint32_t numbers[N] = {0};
    const int32_t origin = 8, size = 16;
    void *data;
    if (!WORKS(revamp_array_view_create_host(numbers, 1, &extent, 4, NULL, &over))) return;
    if (WORKS(revamp_array_view_section(over, &origin, &size, &part))) {
        WORKS(revamp_array_view_synchronize_to(part, view, REVAMP_ACCESS_READ_WRITE));
        if (WORKS(revamp_array_view_data(part, REVAMP_ACCESS_READ_WRITE, &data))) *(uint32_t *)data = 5;
        CHECK_OK(revamp_array_view_release(part));
    }
    WORKS(revamp_array_view_synchronize(over, REVAMP_ACCESS_READ));
    CHECK_OK(revamp_array_view_release(over));
}

static void use_textures(revamp_accelerator_view view) {
    revamp_texture texture;
    revamp_texture_options options = REVAMP_TEXTURE_OPTIONS_INIT;
    float texels[N] = {0};
    options.rank = options.components = 1;
    options.extent = &extent;
    options.component_kind = REVAMP_COMPONENT_FLOAT;
    if (!WORKS(revamp_texture_create(view, &options, &texture))) return;
    const revamp_texture_region all = levels_of(texture, 0, 0);
    WORKS(revamp_copy_to_texture(texels, sizeof texels, &all));
    CHECK_OK(revamp_texture_release(texture));
}

static void count_up(revamp_status status, void *context) {
    (void)status;
    __atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
}

static void use_completions(void) {
    static int called;
    revamp_completion own;
    char text[64];
    if (!WORKS(revamp_completion_create(&own))) return;
    /* It needs a thread, and there are none. */
    const revamp_status added = revamp_completion_then(own, count_up, &called);
    CHECK(added == REVAMP_ERROR_RUNTIME || added == REVAMP_ERROR_OUT_OF_MEMORY);
    if (WORKS(revamp_completion_set(own, REVAMP_ERROR_RUNTIME, "failed"))) {
        WORKS(revamp_completion_wait(own));
        WORKS(revamp_completion_error_message(own, text, sizeof text, NULL));
    }
    CHECK_OK(revamp_completion_release(own));
}

static void use_kernels(const place *p) {
    revamp_kernel step;
    revamp_array array;
    revamp_completion launched;
    revamp_kernel_options options = REVAMP_KERNEL_OPTIONS_INIT;
    options.spirv = step_module.words;
    options.spirv_size = step_module.size;
    if (!WORKS(revamp_kernel_create(p->accelerator, &options, &step))) return;
    if (WORKS(revamp_array_create(p->view, 1, &extent, 4, NULL, &array))) {
        const revamp_argument argument = revamp_argument_buffer(0, array);
        revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = &argument;
        info.argument_count = 1;
        WORKS(revamp_dispatch(p->view, step, &info));
        if (WORKS(revamp_dispatch_async(p->view, step, &info, NULL, &launched))) {
            WORKS(revamp_completion_get(launched));
            CHECK_OK(revamp_completion_release(launched));
        }
        CHECK_OK(revamp_array_destroy(array));
    }
    CHECK_OK(revamp_kernel_release(step));
}

static void write_index(const revamp_thread_id *id, void *context) {
    ((int32_t *)context)[*id->global] = *id->global;
}

static void use_host_kernels(revamp_accelerator_view view) {
    static int32_t written[N];
    revamp_completion launched;
    revamp_async_options timed = REVAMP_ASYNC_OPTIONS_INIT;
    revamp_parallel_for_each_info info = REVAMP_PARALLEL_FOR_EACH_INFO_INIT;
    info.rank = 1;
    info.extent = &extent;
    info.function = write_index;
    info.context = written;
    timed.is_timed = true;
    if (WORKS(revamp_parallel_for_each_async(view, &info, &timed, &launched))) {
        WORKS(revamp_completion_get(launched));
        CHECK_OK(revamp_completion_release(launched));
    }
    WORKS(revamp_parallel_for_each(view, &info));
    WORKS(revamp_accelerator_view_wait(view));
}

/* Objects of all kinds. */
static void use_objects(void) {
    revamp_user user;
    revamp_accelerator all[16];
    size_t count = 0;
    if (!WORKS(revamp_user_create(&user))) return;
    if (!WORKS(revamp_accelerator_list(all, COUNT(all), &count))) count = 0;
    for (size_t i = 0; i < count && i < COUNT(all); i++) {
        place p = {all[i], NULL, REVAMP_ACCELERATOR_INFO_INIT};
        if (!WORKS(revamp_accelerator_get_info(p.accelerator, &p.info)) || p.info.unusable_reason) continue;
        if (!WORKS(revamp_accelerator_create_view(p.accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &p.view))) continue;
        if (holds_arrays(&p.info)) {
            use_arrays(p.view);
            use_views(p.view);
            if (p.info.kind != REVAMP_ACCELERATOR_CPU) use_textures(p.view);
        }
        if (runs_spirv(&p.info)) use_kernels(&p);
        if (runs_host_kernels(&p.info)) use_host_kernels(p.view);
        CHECK_OK(revamp_accelerator_view_release(p.view));
    }
    use_completions();
    CHECK_OK(revamp_user_destroy(user));
}

/* The same from the search for devices to the end of everything. */
static void use_all(void) {
    use_objects();
    CHECK_OK(revamp_uninitialize());
}

/* Lets allocations of `use` fail, each by itself or with all after it: at most about `rounds` of them. */
static void fail_each(void (*use)(void), bool lasting, size_t rounds) {
#ifndef HAS_OWN_MALLOC
    dl_iterate_phdr(find_library, NULL);
    REQUIRE(library_end);
#endif
    use();
    use();
    asked = 0;
    use();
    const size_t all = asked, step = all / rounds + 1;
    CHECK(all > 100);
    is_lasting = lasting;
    for (size_t n = 1; n < all + step; n += step) {
        asked = 0;
        first = n;
        use();
        first = 0;
        use();
    }
    full_job();
}

CHILD(fails_each_allocation) {
    const char *how = getenv("HEAP_FAILS");
    REQUIRE(how);
    const bool lasting = !strcmp(how, "from each on");
    if (!strcmp(how, "from the first call")) {
        /* Opening devices takes long. */
        fail_each(use_all, false, 40);
        fail_each(use_all, true, 40);
    } else {
        /* All of them, but where the validation layer makes it slow. */
        fail_each(use_objects, lasting, has_validation() ? 200 : 100000);
    }
}

/* Without threads: what Rust's library allocates for one does not come from the library's heap. */
static void run_without_threads(const char *how) {
#ifdef HAS_OWN_MALLOC
    (void)how;
    check_skip("the program cannot have a malloc() of its own here");
#else
    CHECK_CHILD("fails_each_allocation", "REVAMP_TEST=fail-threads=1", "REVAMP_LOG=error", how, NULL);
#endif
}

TEST(each_allocation_fails_once) {
    run_without_threads("HEAP_FAILS=once");
}

TEST(all_allocations_fail_from_each_on) {
    run_without_threads("HEAP_FAILS=from each on");
}

TEST(allocations_fail_from_the_first_call_to_the_last) {
    run_without_threads("HEAP_FAILS=from the first call");
}
