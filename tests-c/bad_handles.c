/* Every function that takes a handle, given every kind of wrong one: null, freed, foreign, of another type. Each must
 * say so, and the process must go on. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ACCELERATOR, VIEW, ARRAY, KERNEL, COMPLETION, TYPES } handle_type;
static const char *const type_names[TYPES] = {"accelerator", "accelerator_view", "array", "kernel", "completion"};

/* A function, with a wrong handle in one of its places and nothing else wrong. */
typedef struct {
    const char *name;
    handle_type type;
    bool takes_null; /* null is no error there */
    revamp_status (*call)(void *handle);
} handle_case;

/* Good handles to put beside the bad one. They live as long as the test. */
static struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_array array, second;
    revamp_completion completion;
    revamp_kernel kernel; /* where there is Vulkan */
} good;

static void make_good(void) {
    const place *p = places_that(runs_spirv);
    if (!p->view) p = places_that(runs_host_kernels);
    good.accelerator = p->accelerator;
    good.view = p->view;
    good.array = array_1d(p->view, 64, 4);
    good.second = array_1d(p->view, 64, 4);
    REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &good.completion));
    if (runs_spirv(&p->info)) good.kernel = load(p->accelerator, &step_module);
}

static void free_good(void) {
    CHECK_OK(revamp_array_destroy(good.array));
    CHECK_OK(revamp_array_destroy(good.second));
    CHECK_OK(revamp_completion_release(good.completion));
    if (good.kernel) CHECK_OK(revamp_kernel_release(good.kernel));
}

static void ignore_id(const revamp_thread_id *id, void *context) {
    (void)id;
    (void)context;
}

static void ignore_status(revamp_status status, void *context) {
    (void)status;
    (void)context;
}

static revamp_status call_accelerator_get_info(void *h) {
    revamp_accelerator_info info = {0};
    info.struct_size = sizeof info;
    return revamp_accelerator_get_info(h, &info);
}
static revamp_status call_accelerator_get_memory_usage(void *h) {
    revamp_memory_usage usage = {0};
    usage.struct_size = sizeof usage;
    return revamp_accelerator_get_memory_usage(h, &usage);
}
static revamp_status call_set_access(void *h) {
    return revamp_accelerator_set_default_cpu_access_type(h, REVAMP_ACCESS_NONE, NULL);
}
static revamp_status call_default_view(void *h) {
    revamp_accelerator_view view;
    return revamp_accelerator_get_default_view(h, &view);
}
static revamp_status call_create_view(void *h) {
    revamp_accelerator_view view;
    return revamp_accelerator_create_view(h, REVAMP_QUEUING_MODE_AUTOMATIC, &view);
}
static revamp_status call_kernel_create(void *h) {
    revamp_kernel kernel;
    return try_load(h, step_module.words, step_module.size, NULL, &kernel);
}
static revamp_status call_kernel_find(void *h) {
    revamp_kernel kernel;
    return revamp_kernel_find(h, "any", &kernel);
}
static revamp_status call_view_retain(void *h) {
    return revamp_accelerator_view_retain(h);
}
static revamp_status call_view_release(void *h) {
    return revamp_accelerator_view_release(h);
}
static revamp_status call_view_flush(void *h) {
    return revamp_accelerator_view_flush(h);
}
static revamp_status call_view_wait(void *h) {
    return revamp_accelerator_view_wait(h);
}
static revamp_status call_view_get_info(void *h) {
    revamp_accelerator_view_info info = {0};
    info.struct_size = sizeof info;
    return revamp_accelerator_view_get_info(h, &info);
}
static revamp_status call_create_marker(void *h) {
    revamp_completion marker;
    return revamp_accelerator_view_create_marker(h, &marker);
}
static revamp_status call_array_create(void *h) {
    revamp_array array;
    int32_t extent = 4;
    return revamp_array_create(h, 1, &extent, 4, NULL, &array);
}
static revamp_status call_array_create_associated(void *h) {
    revamp_array array;
    int32_t extent = 4;
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = h;
    revamp_status status = revamp_array_create(good.view, 1, &extent, 4, &options, &array);
    if (status == REVAMP_OK) revamp_array_destroy(array);
    return status;
}
static revamp_status call_host_dispatch(void *h) {
    int32_t extent = 4;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = ignore_id;
    return revamp_parallel_for_each(h, &info);
}
static revamp_status call_host_dispatch_array(void *h) {
    int32_t extent = 4;
    revamp_argument argument = revamp_argument_buffer(0, h);
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = ignore_id;
    info.arguments = &argument;
    info.argument_count = 1;
    return revamp_parallel_for_each(host_view(), &info);
}
static revamp_status call_dispatch_view(void *h) {
    revamp_argument argument = revamp_argument_buffer(0, good.array);
    return launch_groups(h, good.kernel, 1, 1, 1, &argument, 1);
}
static revamp_status call_dispatch_kernel(void *h) {
    revamp_argument argument = revamp_argument_buffer(0, good.array);
    return launch_groups(good.view, h, 1, 1, 1, &argument, 1);
}
static revamp_status call_dispatch_array(void *h) {
    revamp_argument argument = revamp_argument_buffer(0, h);
    return launch_groups(good.view, good.kernel, 1, 1, 1, &argument, 1);
}
static revamp_status call_dispatch_address(void *h) {
    revamp_argument argument = revamp_argument_address(0, h, REVAMP_ACCESS_READ);
    return launch_groups(good.view, good.kernel, 1, 1, 1, &argument, 1);
}
static revamp_status call_array_destroy(void *h) {
    return revamp_array_destroy(h);
}
static revamp_status call_array_get_info(void *h) {
    revamp_array_info info = {0};
    info.struct_size = sizeof info;
    return revamp_array_get_info(h, &info);
}
static revamp_status call_array_data(void *h) {
    void *data;
    return revamp_array_data(h, REVAMP_ACCESS_READ, &data);
}
static revamp_status call_device_address(void *h) {
    uint64_t address;
    return revamp_array_device_address(h, &address);
}
static revamp_status call_copy_source(void *h) {
    revamp_region from = whole(h), to = whole(good.array);
    return revamp_copy(&from, &to);
}
static revamp_status call_copy_destination(void *h) {
    revamp_region from = whole(good.array), to = whole(h);
    return revamp_copy(&from, &to);
}
static revamp_status call_copy_async(void *h) {
    revamp_completion done;
    revamp_region from = whole(good.array), to = whole(h);
    return revamp_copy_async(&from, &to, &done);
}
static revamp_status call_copy_to_array(void *h) {
    char bytes[256] = {0};
    return revamp_copy_to_array(bytes, sizeof bytes, h);
}
static revamp_status call_copy_from_array(void *h) {
    char bytes[256];
    return revamp_copy_from_array(h, bytes, sizeof bytes);
}
static revamp_status call_copy_to_array_async(void *h) {
    static char bytes[256];
    revamp_completion done;
    return revamp_copy_to_array_async(bytes, sizeof bytes, h, &done);
}
static revamp_status call_copy_from_array_async(void *h) {
    static char bytes[256];
    revamp_completion done;
    return revamp_copy_from_array_async(h, bytes, sizeof bytes, &done);
}
static revamp_status call_kernel_retain(void *h) {
    return revamp_kernel_retain(h);
}
static revamp_status call_kernel_release(void *h) {
    return revamp_kernel_release(h);
}
static revamp_status call_kernel_get_info(void *h) {
    revamp_kernel_info info = {0};
    info.struct_size = sizeof info;
    return revamp_kernel_get_info(h, &info);
}
static revamp_status call_kernel_get_binding(void *h) {
    revamp_binding_info info = {0};
    info.struct_size = sizeof info;
    return revamp_kernel_get_binding(h, 0, &info);
}
static revamp_status call_completion_retain(void *h) {
    return revamp_completion_retain(h);
}
static revamp_status call_completion_release(void *h) {
    return revamp_completion_release(h);
}
static revamp_status call_completion_wait(void *h) {
    return revamp_completion_wait(h);
}
static revamp_status call_completion_wait_for(void *h) {
    return revamp_completion_wait_for(h, 1000);
}
static revamp_status call_completion_get(void *h) {
    return revamp_completion_get(h);
}
static revamp_status call_completion_error_message(void *h) {
    return revamp_completion_error_message(h, NULL, 0, NULL);
}
static revamp_status call_completion_then(void *h) {
    return revamp_completion_then(h, ignore_status, NULL);
}

#define CASE(name, type, takes_null)                                                                                   \
    { #name, type, takes_null, call_##name }
static const handle_case cases[] = {
    CASE(accelerator_get_info, ACCELERATOR, false),
    CASE(accelerator_get_memory_usage, ACCELERATOR, false),
    CASE(set_access, ACCELERATOR, false),
    CASE(default_view, ACCELERATOR, false),
    CASE(create_view, ACCELERATOR, false),
    CASE(kernel_create, ACCELERATOR, false),
    CASE(kernel_find, ACCELERATOR, false),
    CASE(view_retain, VIEW, false),
    CASE(view_release, VIEW, false),
    CASE(view_flush, VIEW, false),
    CASE(view_wait, VIEW, false),
    CASE(view_get_info, VIEW, false),
    CASE(create_marker, VIEW, false),
    CASE(array_create, VIEW, false),
    CASE(array_create_associated, VIEW, true),
    CASE(host_dispatch, VIEW, true),
    CASE(host_dispatch_array, ARRAY, false),
    CASE(dispatch_view, VIEW, true),
    CASE(dispatch_kernel, KERNEL, false),
    CASE(dispatch_array, ARRAY, false),
    CASE(dispatch_address, ARRAY, false),
    CASE(array_destroy, ARRAY, false),
    CASE(array_get_info, ARRAY, false),
    CASE(array_data, ARRAY, false),
    CASE(device_address, ARRAY, false),
    CASE(copy_source, ARRAY, true), /* a region without array is host memory */
    CASE(copy_destination, ARRAY, true),
    CASE(copy_async, ARRAY, true),
    CASE(copy_to_array, ARRAY, false),
    CASE(copy_from_array, ARRAY, false),
    CASE(copy_to_array_async, ARRAY, false),
    CASE(copy_from_array_async, ARRAY, false),
    CASE(kernel_retain, KERNEL, false),
    CASE(kernel_release, KERNEL, false),
    CASE(kernel_get_info, KERNEL, false),
    CASE(kernel_get_binding, KERNEL, false),
    CASE(completion_retain, COMPLETION, false),
    CASE(completion_release, COMPLETION, false),
    CASE(completion_wait, COMPLETION, false),
    CASE(completion_wait_for, COMPLETION, false),
    CASE(completion_get, COMPLETION, false),
    CASE(completion_error_message, COMPLETION, false),
    CASE(completion_then, COMPLETION, false),
};

/* A launch looks at its kernel even if another handle is bad; without Vulkan there is none. */
static bool is_possible(const handle_case *c) {
    bool is_dispatch =
        c->call == call_dispatch_view || c->call == call_dispatch_array || c->call == call_dispatch_address;
    return good.kernel || !is_dispatch;
}

static void check_bad(const handle_case *c, void *handle, const char *says) {
    revamp_status status = c->call(handle);
    if (!check_error(status, AS_HANDLE, says, c->name, __FILE__, __LINE__)) return;
    check_text(revamp_last_error_message(), type_names[c->type], __FILE__, __LINE__);
    CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x80070006);
}

/* Calls `each` for every function. */
#define FOR_EACH_CASE(c)                                                                                               \
    for (const handle_case *c = cases; c < cases + COUNT(cases); c++)                                                  \
        if (is_possible(c))

TEST(null_handles) {
    make_good();
    FOR_EACH_CASE(c) {
        if (!c->takes_null) check_bad(c, NULL, "null");
        small_job();
    }
    free_good();
    full_job();
}

TEST(foreign_handles) {
    int local = 5;
    uint32_t state = 4711;
    make_good();
    FOR_EACH_CASE(c) {
        check_bad(c, &local, "handle");
        check_bad(c, memory(64), "handle");
        check_bad(c, (void *)(uintptr_t)1, "handle");
        check_bad(c, (void *)UINTPTR_MAX, "handle");
        for (int i = 0; i < 20; i++) {
            uint64_t number = (uint64_t)random_number(&state) << 32 | random_number(&state);
            check_bad(c, (void *)(uintptr_t)number, "");
        }
        small_job();
    }
    free_good();
    full_job();
}

static void *handle_of_type(handle_type type) {
    void *const handles[TYPES] = {good.accelerator, good.view, good.array, good.kernel, good.completion};
    return handles[type];
}

TEST(handles_of_another_type) {
    make_good();
    FOR_EACH_CASE(c)
    for (int type = 0; type < TYPES; type++) {
        if ((handle_type)type == c->type || !handle_of_type((handle_type)type)) continue;
        check_bad(c, handle_of_type((handle_type)type), type_names[type]);
        small_job();
    }
    free_good();
    full_job();
}

/* Handles that were good once. Accelerators are never freed. */
static void *freed_of_type(handle_type type) {
    revamp_accelerator_view view = new_view(good.accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
    revamp_array array = array_1d(good.view, 4, 4);
    revamp_completion marker = NULL;
    revamp_kernel kernel = good.kernel ? load(good.accelerator, &step_module) : NULL;
    REQUIRE_OK(revamp_accelerator_view_create_marker(good.view, &marker));
    CHECK_OK(revamp_accelerator_view_release(view));
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_completion_release(marker));
    if (kernel) CHECK_OK(revamp_kernel_release(kernel));
    void *const handles[TYPES] = {NULL, view, array, kernel, marker};
    return handles[type];
}

TEST(freed_handles_and_double_release) {
    make_good();
    FOR_EACH_CASE(c) {
        void *freed = freed_of_type(c->type);
        if (!freed) continue;
        check_bad(c, freed, "freed");
        /* Its slot is used again: it stays dead. */
        revamp_array array = array_1d(good.view, 4, 4), second = array_1d(good.view, 4, 4);
        check_bad(c, freed, "freed");
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(second));
    }
    free_good();
    full_job();
}

/* A handle near a good one: its generation or slot changed. */
TEST(neighbours_of_good_handles) {
    make_good();
    FOR_EACH_CASE(c) {
        uintptr_t handle = (uintptr_t)handle_of_type(c->type);
        if (!handle) continue;
        check_bad(c, (void *)(handle + 1), "");
        check_bad(c, (void *)(handle ^ (uintptr_t)1 << 31), "");
        check_bad(c, (void *)(handle ^ (uintptr_t)1 << 54), "");
    }
    free_good();
    full_job();
}

TEST(old_handles_after_uninitialize) {
    make_good();
    void *old[TYPES];
    for (int type = 0; type < TYPES; type++)
        old[type] = handle_of_type((handle_type)type);
    CHECK_OK(revamp_uninitialize());
    /* The good handles beside them are as dead. */
    FOR_EACH_CASE(c)
    if (old[c->type]) CHECK_FAILS(c->call(old[c->type]), AS_HANDLE, "freed");
    /* The next call begins anew, and old handles stay dead. */
    make_good();
    FOR_EACH_CASE(c)
    if (old[c->type]) check_bad(c, old[c->type], "freed");
    free_good();
    full_job();
    CHECK_OK(revamp_uninitialize());
    CHECK_OK(revamp_uninitialize());
}

/* Good and bad handles from many threads at once. */

enum { THREADS = 8, ROUNDS = 60 };

static void *mix_handles(void *context) {
    uint32_t state = 77 + (uint32_t)(uintptr_t)context;
    int local = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const handle_case *c = &cases[random_number(&state) % COUNT(cases)];
        uint64_t number = (uint64_t)random_number(&state) << 32 | random_number(&state);
        if (is_possible(c)) {
            check_bad(c, (void *)(uintptr_t)number, "");
            check_bad(c, &local, "handle");
        }
        uint32_t sent[64], got[64];
        fill_bytes(sent, sizeof sent, number & 0xFFFF);
        revamp_array array = array_1d(good.view, 64, 4);
        CHECK_OK(revamp_copy_to_array(sent, sizeof sent, array));
        CHECK_OK(revamp_copy_from_array(array, got, sizeof got));
        CHECK_SAME(got, sent, sizeof got);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_FAILS(revamp_array_destroy(array), AS_HANDLE, "freed");
    }
    return NULL;
}

TEST(good_and_bad_handles_from_8_threads) {
    pthread_t threads[THREADS];
    make_good();
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, mix_handles, (void *)i));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free_good();
    full_job();
}

static void *release_once(void *context) {
    revamp_status *status = context;
    *status = revamp_completion_release(good.completion);
    return NULL;
}

/* Of many releases of one owner at once exactly one succeeds. */
TEST(one_owner_is_released_once) {
    for (int round = 0; round < 20; round++) {
        pthread_t threads[THREADS];
        revamp_status statuses[THREADS];
        int succeeded = 0;
        REQUIRE_OK(revamp_accelerator_view_create_marker(cpu_view(), &good.completion));
        for (size_t i = 0; i < THREADS; i++)
            REQUIRE(!pthread_create(&threads[i], NULL, release_once, &statuses[i]));
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            succeeded += statuses[i] == REVAMP_OK;
            CHECK(statuses[i] == REVAMP_OK || statuses[i] == REVAMP_ERROR_INVALID_HANDLE);
        }
        CHECK_NUMBER(succeeded, 1);
    }
}
