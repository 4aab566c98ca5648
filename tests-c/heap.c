/* No memory for the library's own objects: a program of its own, whose malloc() fails where the library calls it. No
 * call may abort; each works or fails with REVAMP_ERROR_OUT_OF_MEMORY, and everything works once there is memory again.
 *
 * Functions of revamp_vulkan.h: vulkan_interop.c. Some request no memory, so none can fail: revamp_version,
 * revamp_abi_version, revamp_status_name, revamp_kernel_thread, revamp_native_found, revamp_native_text,
 * revamp_image_none.
 */
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

static const revamp_kernel_record *record(void) {
    static revamp_kernel_record r = REVAMP_KERNEL_RECORD_INIT;
    r.name = "a step";
    r.spirv = step_module.words;
    r.spirv_size = step_module.size;
    return &r;
}

static void use_registered(const place *p) {
    revamp_kernel found;
    if (!WORKS(revamp_kernel_register(record(), 1))) return;
    if (WORKS(revamp_kernel_find(p->accelerator, "a step", &found))) CHECK_OK(revamp_kernel_release(found));
    CHECK_OK(revamp_kernel_unregister(record(), 1));
}

static void meet_and_fail(const revamp_thread_id *id, void *context) {
    (void)context;
    if (WORKS(revamp_tile_barrier_wait(id)) && *id->local == 0) CHECK_OK(revamp_host_kernel_fail(id, "on purpose"));
}

/* Tiles run on threads, and there are none, or on the thread that waits. */
static void use_tiles(revamp_accelerator_view view) {
    static const int32_t tile = 16;
    revamp_parallel_for_each_info info = REVAMP_PARALLEL_FOR_EACH_INFO_INIT;
    info.rank = 1;
    info.extent = &extent;
    info.tile = &tile;
    info.function = meet_and_fail;
    revamp_status status = revamp_parallel_for_each(view, &info);
    if (status == REVAMP_OK) status = revamp_accelerator_view_wait(view);
    CHECK(status == REVAMP_ERROR_RUNTIME || (status == REVAMP_ERROR_OUT_OF_MEMORY && heap_first));
}

/* What objects of the kernel compiler call: it is no image, which a launch of its kernels reports. */
static const struct {
    uint32_t magic, version;
    const void *image, *unused;
} no_image = {0, 1, NULL, NULL};
static void *registered;

static void register_image(void) {
    registered = revamp_image_register(&no_image);
}

static void use_images(void) {
    revamp_native_kernel native = {0};
    native.name = "kernel";
    register_image();
    if (registered) {
        revamp_image_add(registered, &no_image, "kernel", NULL, 0, NULL, NULL, NULL, NULL, NULL);
        revamp_image_add_native(registered, &native, 1);
        revamp_image_unregister(registered);
    }
    revamp_image_unregister(revamp_image_register_early(register_image));
    revamp_kernel_fail("outside of a kernel", false, NULL, 0);
}

static void ignore_text(revamp_log_level level, const char *text, void *context) {
    (void)level, (void)text, (void)context;
}

/* What needs no handle. */
static void use_library(void) {
    revamp_accelerator found;
    revamp_accelerator_view everywhere;
    revamp_array_view view;
    revamp_transfer_counters counters = REVAMP_TRANSFER_COUNTERS_INIT;
    revamp_transfer transfers[4] = {REVAMP_TRANSFER_INIT};
    uint64_t number;
    size_t count;
    const char *path = "revamp_heap.pftrace";
    WORKS(revamp_set_log_callback(ignore_text, NULL, REVAMP_LOG_ERROR));
    WORKS(revamp_accelerator_list_offered(true, NULL, 0, &count));
    WORKS(revamp_accelerator_find("cpu", &found));
    WORKS(revamp_accelerator_set_default("cpu", NULL));
    WORKS(revamp_accelerator_get_default(REVAMP_CODE_HOST, &found));
    WORKS(revamp_accelerator_get_auto_selection_view(&everywhere));
    if (WORKS(revamp_array_view_create(1, &extent, 4, NULL, &view))) {
        WORKS(revamp_set_label(view, "a view"));
        if (WORKS(revamp_trace_begin(path))) {
            WORKS(revamp_array_view_discard_data(view));
            WORKS(revamp_trace_end());
        }
        CHECK_OK(revamp_array_view_release(view));
    }
    WORKS(revamp_get_transfers(&counters));
    if (WORKS(revamp_transfer_log_next(&number))) {
        WORKS(revamp_transfer_log_read(0, transfers, COUNT(transfers), &count));
        WORKS(revamp_check_no_transfers(number));
    }
    CHECK(revamp_accelerator_find("none", &found) != REVAMP_OK);
    CHECK(revamp_last_error_status() != REVAMP_OK && revamp_last_error_hresult() < 0);
    CHECK(revamp_last_error_message() != NULL);
    remove(path);
}

/* Objects of all kinds. */
static void use_objects(void *unused) {
    (void)unused;
    revamp_user user;
    revamp_accelerator all[16];
    size_t count = 0;
    if (!WORKS(revamp_user_create(&user))) return;
    use_library();
    use_images();
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
        if (runs_spirv(&p.info)) {
            use_kernels(&p);
            use_registered(&p);
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

/* The same from the search for devices to the end of everything. */
static void use_all(void *unused) {
    use_objects(unused);
    CHECK_OK(revamp_uninitialize());
}

/* Lets allocations of `use` fail, each by itself or with all after it: at most about `rounds` of them. */
static void fail_each(void (*use)(void *), bool lasting, size_t rounds) {
    use(NULL);
    const size_t all = heap_count(use, NULL), step = all / rounds + 1;
    CHECK(all > 100);
    heap_is_lasting = lasting;
    for (size_t n = 1; n < all + step; n += step) {
        heap_fail(n, use, NULL);
        use(NULL);
    }
    full_job();
}

/* A function that takes a handle (handles.c), and its status where there is memory. */
typedef struct {
    const handle_case *function;
    revamp_status usual;
} use_of_function;

static void use_function(void *context) {
    use_of_function *use = context;
    const revamp_status status = use->function->call(handle_of_type(use->function->type));
    if (!heap_first)
        use->usual = status;
    else if (status != use->usual)
        heap_works(status, use->function->name, __FILE__, __LINE__);
}

/* Lets each allocation of each function fail. Those that end an object request none. */
static void fail_each_function(const handle_table *table) {
    make_good();
    FOR_EACH_CASE(c, table) {
        if (strstr(c->name, "retain") || strstr(c->name, "release") || strstr(c->name, "destroy")) continue;
        use_of_function use = {c, REVAMP_OK};
        const size_t all = heap_count(use_function, &use), step = has_validation() ? all / 20 + 1 : 1;
        const revamp_status usual = use.usual;
        for (size_t n = 1; n <= all; n += step)
            heap_fail(n, use_function, &use);
        use_function(&use);
        CHECK_NUMBER(use.usual, usual);
    }
    free_good();
    full_job();
}

CHILD(fails_each_allocation) {
    const char *how = getenv("HEAP_FAILS");
    REQUIRE(how);
    heap_begin();
    if (!strcmp(how, "from the first call")) {
        /* Opening devices takes long. */
        fail_each(use_all, false, 40);
        fail_each(use_all, true, 40);
    } else if (!strcmp(how, "of each function")) {
        fail_each_function(&other_functions);
        fail_each_function(&view_functions);
    } else {
        /* All of them, but where the validation layer makes it slow. */
        fail_each(use_objects, !strcmp(how, "from each on"), has_validation() ? 200 : 100000);
    }
}

/* Without threads: what Rust's library allocates for one does not come from the library's heap. */
static void run_without_threads(const char *how) {
    heap_begin();
    CHECK_CHILD("fails_each_allocation", "REVAMP_TEST=fail-threads=1", "REVAMP_LOG=error", how, NULL);
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

TEST(each_allocation_of_each_function_fails) {
    run_without_threads("HEAP_FAILS=of each function");
}
