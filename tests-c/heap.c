/* Tests of failed heap allocations. This separate program replaces malloc() and makes allocations of the library fail.
 * A library function must succeed or return REVAMP_ERROR_OUT_OF_MEMORY; it must not abort. When memory is available
 * again, the function must succeed.
 *
 * vulkan_interop.c tests the functions of revamp_vulkan.h. Functions that allocate no memory need no test here:
 * revamp_version, revamp_abi_version, revamp_status_name, revamp_kernel_thread, revamp_native_found,
 * revamp_native_text, revamp_image_none. */
#include "failing_heap.h"
#include "handles.h"

#include <revamp_objects.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64 };
static const int32_t extent = N;

static void use_arrays(revamp_accelerator_view view) {
    revamp_array array;
    revamp_completion done;
    revamp_array_info info = REVAMP_ARRAY_INFO_INIT;
    uint32_t sent[N] = {1, 2, 3}, got[N];
    if (!SUCCEEDED(revamp_array_create(view, 1, &extent, 4, NULL, &array))) return;
    if (SUCCEEDED(revamp_array_get_info(array, &info))) CHECK_NUMBER(info.element_count, N);
    if (SUCCEEDED(revamp_copy_to_array(sent, sizeof sent, array)) &&
        SUCCEEDED(revamp_copy_from_array(array, got, sizeof got)))
        CHECK_SAME(got, sent, sizeof got);
    if (SUCCEEDED(revamp_copy_from_array_async(array, got, sizeof got, NULL, &done))) {
        SUCCEEDED(revamp_completion_get(done));
        CHECK_OK(revamp_completion_release(done));
    }
    CHECK_OK(revamp_array_destroy(array));
}

static void use_views(revamp_accelerator_view view) {
    revamp_array_view over, part;
    uint32_t numbers[N] = {0};
    const int32_t origin = 8, size = 16;
    void *data;
    if (!SUCCEEDED(revamp_array_view_create_host(numbers, 1, &extent, 4, NULL, &over))) return;
    if (SUCCEEDED(revamp_array_view_section(over, &origin, &size, &part))) {
        SUCCEEDED(revamp_array_view_synchronize_to(part, view, REVAMP_ACCESS_READ_WRITE));
        if (SUCCEEDED(revamp_array_view_data(part, REVAMP_ACCESS_READ_WRITE, &data))) *(uint32_t *)data = 5;
        CHECK_OK(revamp_array_view_release(part));
    }
    SUCCEEDED(revamp_array_view_synchronize(over, REVAMP_ACCESS_READ));
    CHECK_OK(revamp_array_view_release(over));
}

static void use_textures(revamp_accelerator_view view) {
    revamp_texture texture;
    revamp_texture_options options = REVAMP_TEXTURE_OPTIONS_INIT;
    float texels[N] = {0};
    options.rank = options.components = 1;
    options.extent = &extent;
    options.component_kind = REVAMP_COMPONENT_FLOAT;
    if (!SUCCEEDED(revamp_texture_create(view, &options, &texture))) return;
    const revamp_texture_region all = levels_of(texture, 0, 0);
    SUCCEEDED(revamp_copy_to_texture(texels, sizeof texels, &all));
    CHECK_OK(revamp_texture_release(texture));
}

static void count_up(revamp_status status, void *context) {
    (void)status;
    __atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
}

static void use_completions(void) {
    static int called;
    revamp_completion completion;
    char text[64];
    if (!SUCCEEDED(revamp_completion_create(&completion))) return;
    /* A callback needs a thread, and no thread can be created. */
    const revamp_status added = revamp_completion_then(completion, count_up, &called);
    CHECK(added == REVAMP_ERROR_RUNTIME || added == REVAMP_ERROR_OUT_OF_MEMORY);
    if (SUCCEEDED(revamp_completion_set(completion, REVAMP_ERROR_RUNTIME, "failed"))) {
        SUCCEEDED(revamp_completion_wait(completion));
        SUCCEEDED(revamp_completion_error_message(completion, text, sizeof text, NULL));
    }
    CHECK_OK(revamp_completion_release(completion));
}

static void use_kernels(const place *p) {
    revamp_kernel step;
    revamp_array array;
    revamp_completion launched;
    revamp_kernel_options options = REVAMP_KERNEL_OPTIONS_INIT;
    options.spirv = step_module.words;
    options.spirv_size = step_module.size;
    if (!SUCCEEDED(revamp_kernel_create(p->accelerator, &options, &step))) return;
    if (SUCCEEDED(revamp_array_create(p->view, 1, &extent, 4, NULL, &array))) {
        const revamp_argument argument = revamp_argument_buffer(0, array);
        revamp_dispatch_info info = REVAMP_DISPATCH_INFO_INIT;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = &argument;
        info.argument_count = 1;
        SUCCEEDED(revamp_dispatch(p->view, step, &info));
        if (SUCCEEDED(revamp_dispatch_async(p->view, step, &info, NULL, &launched))) {
            SUCCEEDED(revamp_completion_get(launched));
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
    if (SUCCEEDED(revamp_parallel_for_each_async(view, &info, &timed, &launched))) {
        SUCCEEDED(revamp_completion_get(launched));
        CHECK_OK(revamp_completion_release(launched));
    }
    SUCCEEDED(revamp_parallel_for_each(view, &info));
    SUCCEEDED(revamp_accelerator_view_wait(view));
}

static const revamp_kernel_record *record(void) {
    static revamp_kernel_record r = REVAMP_KERNEL_RECORD_INIT;
    r.name = "a step";
    r.spirv = step_module.words;
    r.spirv_size = step_module.size;
    return &r;
}

static void use_registered_kernels(const place *p) {
    revamp_kernel found;
    if (!SUCCEEDED(revamp_kernel_register(record(), 1))) return;
    if (SUCCEEDED(revamp_kernel_find(p->accelerator, "a step", &found))) CHECK_OK(revamp_kernel_release(found));
    CHECK_OK(revamp_kernel_unregister(record(), 1));
}

static void meet_and_fail(const revamp_thread_id *id, void *context) {
    (void)context;
    if (SUCCEEDED(revamp_tile_barrier_wait(id)) && *id->local == 0) CHECK_OK(revamp_host_kernel_fail(id, "on purpose"));
}

/* The waiting thread runs the tiles, or the launch fails because no thread can be created. */
static void use_tiles(revamp_accelerator_view view) {
    static const int32_t tile = 16;
    revamp_parallel_for_each_info info = REVAMP_PARALLEL_FOR_EACH_INFO_INIT;
    info.rank = 1;
    info.extent = &extent;
    info.tile = &tile;
    info.function = meet_and_fail;
    revamp_status status = revamp_parallel_for_each(view, &info);
    if (status == REVAMP_OK) status = revamp_accelerator_view_wait(view);
    CHECK(status == REVAMP_ERROR_RUNTIME || (status == REVAMP_ERROR_OUT_OF_MEMORY && heap_failing_request));
}

/* A kernel image for the functions that object files of the kernel compiler call. The image is invalid, but only a
 * launch of its kernels would report that. */
static const struct {
    uint32_t magic, version;
    const void *image, *unused;
} invalid_image = {0, 1, NULL, NULL};
static void *registered_image;

static void register_image(void) {
    registered_image = revamp_image_register(&invalid_image);
}

static void use_images(void) {
    revamp_native_kernel native = {0};
    native.name = "kernel";
    register_image();
    if (registered_image) {
        revamp_image_add(registered_image, &invalid_image, "kernel", NULL, 0, NULL, NULL, NULL, NULL, NULL);
        revamp_image_add_native(registered_image, &native, 1);
        revamp_image_unregister(registered_image);
    }
    revamp_image_unregister(revamp_image_register_early(register_image));
    revamp_kernel_fail("outside of a kernel", false, NULL, 0);
}

static void ignore_text(revamp_log_level level, const char *text, void *context) {
    (void)level, (void)text, (void)context;
}

/* Functions that need no handle. */
static void use_library(void) {
    revamp_accelerator found;
    revamp_accelerator_view auto_selection;
    revamp_array_view view;
    revamp_transfer_counters counters = REVAMP_TRANSFER_COUNTERS_INIT;
    revamp_transfer transfers[4] = {REVAMP_TRANSFER_INIT};
    uint64_t number;
    size_t count;
    const char *path = "revamp_heap.pftrace";
    SUCCEEDED(revamp_set_log_callback(ignore_text, NULL, REVAMP_LOG_ERROR));
    SUCCEEDED(revamp_accelerator_list_offered(true, NULL, 0, &count));
    SUCCEEDED(revamp_accelerator_find("cpu", &found));
    SUCCEEDED(revamp_accelerator_set_default("cpu", NULL));
    SUCCEEDED(revamp_accelerator_get_default(REVAMP_CODE_HOST, &found));
    SUCCEEDED(revamp_accelerator_get_auto_selection_view(&auto_selection));
    if (SUCCEEDED(revamp_array_view_create(1, &extent, 4, NULL, &view))) {
        SUCCEEDED(revamp_set_label(view, "a view"));
        if (SUCCEEDED(revamp_trace_begin(path))) {
            SUCCEEDED(revamp_array_view_discard_data(view));
            SUCCEEDED(revamp_trace_end());
        }
        CHECK_OK(revamp_array_view_release(view));
    }
    SUCCEEDED(revamp_get_transfers(&counters));
    if (SUCCEEDED(revamp_transfer_log_next(&number))) {
        SUCCEEDED(revamp_transfer_log_read(0, transfers, COUNT(transfers), &count));
        SUCCEEDED(revamp_check_no_transfers(number));
    }
    CHECK(revamp_accelerator_find("none", &found) != REVAMP_OK);
    CHECK(revamp_last_error_status() != REVAMP_OK && revamp_last_error_hresult() < 0);
    CHECK(revamp_last_error_message() != NULL);
    remove(path);
}

/* Creates and uses objects of all kinds. */
static void use_objects(void *unused) {
    (void)unused;
    revamp_user user;
    revamp_accelerator all[16];
    size_t count = 0;
    if (!SUCCEEDED(revamp_user_create(&user))) return;
    use_library();
    use_images();
    if (!SUCCEEDED(revamp_accelerator_list(all, COUNT(all), &count))) count = 0;
    for (size_t i = 0; i < count && i < COUNT(all); i++) {
        place p = {all[i], NULL, REVAMP_ACCELERATOR_INFO_INIT};
        if (!SUCCEEDED(revamp_accelerator_get_info(p.accelerator, &p.info)) || p.info.unusable_reason) continue;
        if (!SUCCEEDED(revamp_accelerator_create_view(p.accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &p.view))) continue;
        if (holds_arrays(&p.info)) {
            use_arrays(p.view);
            use_views(p.view);
            if (p.info.kind != REVAMP_ACCELERATOR_CPU) use_textures(p.view);
        }
        if (runs_spirv(&p.info)) {
            use_kernels(&p);
            use_registered_kernels(&p);
        }
        if (runs_host_kernels(&p.info)) {
            use_host_kernels(p.view);
            use_tiles(p.view);
        }
        CHECK_OK(revamp_accelerator_view_release(p.view));
    }
    use_completions();
    CHECK_OK(revamp_user_destroy(user));
}

/* Calls use_objects() and then revamp_uninitialize(), so that the next call searches for devices again. */
static void use_objects_and_uninitialize(void *unused) {
    use_objects(unused);
    CHECK_OK(revamp_uninitialize());
}

/* Calls `use` about `rounds` times. Each time, one allocation fails, or also all later ones (`is_lasting`). */
static void fail_each(void (*use)(void *), bool is_lasting, size_t rounds) {
    use(NULL);
    const size_t all = heap_count(use, NULL), step = all / rounds + 1;
    CHECK(all > 100);
    heap_fails_all_later = is_lasting;
    for (size_t n = 1; n < all + step; n += step) {
        heap_fail(n, use, NULL);
        use(NULL);
    }
    full_job();
}

/* A function that takes a handle (support/handles.c), and the status that it returns if memory is available. */
typedef struct {
    const handle_case *function;
    revamp_status expected_status;
} function_use;

static void use_function(void *context) {
    function_use *use = context;
    const revamp_status status = use->function->call(handle_of_type(use->function->type));
    if (!heap_failing_request)
        use->expected_status = status;
    else if (status != use->expected_status)
        heap_check_status(status, use->function->name, __FILE__, __LINE__);
}

/* Makes each allocation in each function fail. Functions that retain, release or destroy an object allocate nothing. */
static void fail_each_function(const handle_table *table) {
    make_good();
    FOR_EACH_CASE(c, table) {
        if (strstr(c->name, "retain") || strstr(c->name, "release") || strstr(c->name, "destroy")) continue;
        function_use use = {c, REVAMP_OK};
        const size_t all = heap_count(use_function, &use), step = has_validation() ? all / 20 + 1 : 1;
        const revamp_status expected_status = use.expected_status;
        for (size_t n = 1; n <= all; n += step)
            heap_fail(n, use_function, &use);
        use_function(&use);
        CHECK_NUMBER(use.expected_status, expected_status);
    }
    free_good();
    full_job();
}

CHILD(fails_each_allocation) {
    const char *mode = getenv("HEAP_FAILS");
    REQUIRE(mode);
    heap_begin();
    if (!strcmp(mode, "from the first call")) {
        /* Few rounds, because opening devices is slow. */
        fail_each(use_objects_and_uninitialize, false, 40);
        fail_each(use_objects_and_uninitialize, true, 40);
    } else if (!strcmp(mode, "of each function")) {
        fail_each_function(&other_functions);
        fail_each_function(&view_functions);
    } else {
        /* Fails every allocation, or fewer of them with the validation layer, which is slow. */
        fail_each(use_objects, !strcmp(mode, "from each on"), has_validation() ? 200 : 100000);
    }
}

/* Runs the child without threads: Rust's standard library bypasses the library's allocator to create a thread. */
static void run_without_threads(const char *mode) {
    heap_begin();
    CHECK_CHILD("fails_each_allocation", "REVAMP_TEST=fail-threads=1", "REVAMP_LOG=error", mode, NULL);
}

TEST(each_allocation_fails_once) {
    run_without_threads("HEAP_FAILS=once");
}

TEST(all_allocations_after_each_one_fail) {
    run_without_threads("HEAP_FAILS=from each on");
}

TEST(allocations_fail_during_initialisation_too) {
    run_without_threads("HEAP_FAILS=from the first call");
}

TEST(each_allocation_of_each_function_fails) {
    run_without_threads("HEAP_FAILS=of each function");
}
