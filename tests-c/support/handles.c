#include "handles.h"

#include "engines.h"

const char *const type_names[TYPES] = {"accelerator", "accelerator_view", "array",   "array_view",
                                       "kernel",      "completion",       "texture", "user"};
uint32_t good_data[GOOD_COUNT];
struct good_handles good;

static revamp_texture small_texture(revamp_accelerator_view view) {
    revamp_texture texture = NULL;
    int32_t extent = GOOD_COUNT;
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = options.components = 1;
    options.extent = &extent;
    options.component_kind = REVAMP_COMPONENT_FLOAT;
    REQUIRE_OK(revamp_texture_create(view, &options, &texture));
    return texture;
}

void make_good(void) {
    const place *p = places_that(runs_spirv);
    if (!p->view) p = places_that(runs_host_kernels);
    good.accelerator = p->accelerator;
    good.view = p->view;
    good.array = array_with(p->view, good_data, GOOD_COUNT);
    good.over = view_of(good_data, GOOD_COUNT);
    good.texture = small_texture(p->view);
    REQUIRE_OK(revamp_user_create(&good.user));
    REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &good.completion));
    if (runs_spirv(&p->info)) good.kernel = load(p->accelerator, &step_module);
}

void free_good(void) {
    drop(good.over);
    CHECK_OK(revamp_texture_release(good.texture));
    CHECK_OK(revamp_user_destroy(good.user));
    CHECK_OK(revamp_array_destroy(good.array));
    CHECK_OK(revamp_completion_release(good.completion));
    if (good.kernel) CHECK_OK(revamp_kernel_release(good.kernel));
}

void *handle_of_type(handle_type type) {
    void *const handles[TYPES] = {good.accelerator, good.view,       good.array,   good.over,
                                  good.kernel,      good.completion, good.texture, good.user};
    return handles[type];
}

/* Returns a freed handle of this type. Returns NULL for accelerators, which are never freed, and for kernels if there
 * is no Vulkan device. */
static void *freed_of_type(handle_type type) {
    revamp_accelerator_view view = new_view(good.accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
    revamp_array array = array_1d(good.view, 4, 4);
    revamp_array_view over = view_of_array(array);
    revamp_completion marker = NULL;
    revamp_kernel kernel = good.kernel ? load(good.accelerator, &step_module) : NULL;
    REQUIRE_OK(revamp_accelerator_view_create_marker(good.view, &marker));
    CHECK_OK(revamp_accelerator_view_release(view));
    revamp_texture texture = small_texture(good.view);
    revamp_user user = NULL;
    REQUIRE_OK(revamp_user_create(&user));
    CHECK_OK(revamp_user_destroy(user));
    CHECK_OK(revamp_texture_release(texture));
    CHECK_OK(revamp_array_destroy(array));
    drop(over);
    CHECK_OK(revamp_completion_release(marker));
    if (kernel) CHECK_OK(revamp_kernel_release(kernel));
    void *const handles[TYPES] = {NULL, view, array, over, kernel, marker, texture, user};
    return handles[type];
}

void ignore_id(const revamp_thread_id *id, void *context) {
    (void)id;
    (void)context;
}

static void ignore_status(revamp_status status, void *context) {
    (void)status;
    (void)context;
}

/* CALL wraps a function that takes only a handle. GET wraps a function that also fills a struct. */
#define CALL(name, function)                                                                                           \
    static revamp_status call_##name(void *h) {                                                                        \
        return function(h);                                                                                            \
    }
#define GET(name, type, function)                                                                                      \
    static revamp_status call_##name(void *h) {                                                                        \
        type info = {0};                                                                                               \
        info.struct_size = sizeof info;                                                                                \
        return function(h, &info);                                                                                     \
    }

GET(accelerator_get_info, revamp_accelerator_info, revamp_accelerator_get_info)
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
static void ignore_code(const revamp_kernel_code *code, void *context) {
    (void)code, (void)context;
}
static revamp_status call_accelerator_compile(void *h) {
    return revamp_accelerator_compile(h, step_module.words, step_module.size, ignore_code, NULL);
}
CALL(accelerator_reopen, revamp_accelerator_reopen)
static revamp_status call_kernel_create(void *h) {
    revamp_kernel kernel;
    return try_load(h, step_module.words, step_module.size, NULL, &kernel);
}
static revamp_status call_kernel_find(void *h) {
    revamp_kernel kernel;
    return revamp_kernel_find(h, "any", &kernel);
}
CALL(view_retain, revamp_accelerator_view_retain)
CALL(view_release, revamp_accelerator_view_release)
CALL(view_flush, revamp_accelerator_view_flush)
CALL(view_wait, revamp_accelerator_view_wait)
GET(view_get_info, revamp_accelerator_view_info, revamp_accelerator_view_get_info)
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
static revamp_status call_parallel_for_each(void *h) {
    int32_t extent = 4;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = ignore_id;
    return revamp_parallel_for_each(h, &info);
}
static revamp_status call_parallel_for_each_array(void *h) {
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
static revamp_status call_parallel_for_each_async(void *h) {
    int32_t extent = 4;
    revamp_completion done = NULL;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = ignore_id;
    revamp_status status = revamp_parallel_for_each_async(h, &info, NULL, &done);
    if (status == REVAMP_OK) expect_done(done);
    return status;
}
static revamp_status call_dispatch_async_with(void *view, void *kernel, void *completion) {
    revamp_argument argument = revamp_argument_buffer(0, good.array);
    revamp_completion list = completion, done = NULL;
    revamp_dispatch_info info = {0};
    revamp_async_options options = {0};
    info.struct_size = sizeof info;
    options.struct_size = sizeof options;
    info.groups[0] = info.groups[1] = info.groups[2] = 1;
    info.arguments = &argument;
    info.argument_count = 1;
    options.after = &list;
    options.after_count = 1;
    revamp_status status = revamp_dispatch_async(view, kernel, &info, &options, &done);
    if (status == REVAMP_OK) expect_done(done);
    return status;
}
static revamp_status call_dispatch_async_view(void *h) {
    return call_dispatch_async_with(h, good.kernel, good.completion);
}
static revamp_status call_dispatch_async_kernel(void *h) {
    return call_dispatch_async_with(good.view, h, good.completion);
}
static revamp_status call_dispatch_async_after(void *h) {
    return call_dispatch_async_with(good.view, good.kernel, h);
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
CALL(array_destroy, revamp_array_destroy)
GET(array_get_info, revamp_array_info, revamp_array_get_info)
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
    return revamp_copy_async(&from, &to, NULL, &done);
}
static revamp_status call_copy_to_array(void *h) {
    char bytes[GOOD_BYTES] = {0};
    return revamp_copy_to_array(bytes, sizeof bytes, h);
}
static revamp_status call_copy_from_array(void *h) {
    char bytes[GOOD_BYTES];
    return revamp_copy_from_array(h, bytes, sizeof bytes);
}
static revamp_status call_copy_to_array_async(void *h) {
    static char bytes[GOOD_BYTES];
    revamp_completion done;
    return revamp_copy_to_array_async(bytes, sizeof bytes, h, NULL, &done);
}
static revamp_status call_copy_from_array_async(void *h) {
    static char bytes[GOOD_BYTES];
    revamp_completion done;
    return revamp_copy_from_array_async(h, bytes, sizeof bytes, NULL, &done);
}
CALL(kernel_retain, revamp_kernel_retain)
CALL(kernel_release, revamp_kernel_release)
GET(kernel_get_info, revamp_kernel_info, revamp_kernel_get_info)
static revamp_status call_kernel_get_binding(void *h) {
    revamp_binding_info info = {0};
    info.struct_size = sizeof info;
    return revamp_kernel_get_binding(h, 0, &info);
}
CALL(completion_retain, revamp_completion_retain)
CALL(completion_release, revamp_completion_release)
CALL(completion_wait, revamp_completion_wait)
static revamp_status call_completion_wait_for(void *h) {
    return revamp_completion_wait_for(h, 1000);
}
CALL(completion_get, revamp_completion_get)
static revamp_status call_completion_error_message(void *h) {
    return revamp_completion_error_message(h, NULL, 0, NULL);
}
static revamp_status call_completion_get_times(void *h) {
    revamp_times times = {0};
    times.struct_size = sizeof times;
    return revamp_completion_get_times(h, &times);
}
static revamp_status call_completion_set(void *h) {
    return revamp_completion_set(h, REVAMP_OK, NULL);
}
static revamp_status call_completion_then(void *h) {
    return revamp_completion_then(h, ignore_status, NULL);
}

/* Functions of array_views and textures. */

/* A launch of a host kernel with one argument. */
static revamp_status host_launch_with(revamp_argument argument) {
    static uint64_t block;
    int32_t extent = 4;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = ignore_id;
    info.arguments = &argument;
    info.argument_count = 1;
    info.block = &block;
    info.block_size = sizeof block;
    return revamp_parallel_for_each(host_view(), &info);
}

/* Waits for the operation if the call that begins it succeeded. Returns the status of that call. */
static revamp_status wait_if_begun(revamp_status status, revamp_completion done) {
    if (status == REVAMP_OK) expect_done(done);
    return status;
}

static revamp_status call_array_view_create_array(void *h) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_create_array(h, NULL, &view);
    return release_if_created(status, view);
}
static revamp_status call_array_view_section(void *h) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_section(h, NULL, NULL, &view);
    return release_if_created(status, view);
}
static revamp_status call_array_view_project(void *h) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_project(h, 0, &view);
    return release_if_created(status, view);
}
static revamp_status call_array_view_view_as(void *h) {
    const int32_t extent[] = {2, 2};
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_view_as(h, 2, extent, &view);
    return release_if_created(status, view);
}
static revamp_status call_array_view_reinterpret_as(void *h) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_reinterpret_as(h, 8, &view);
    return release_if_created(status, view);
}
static revamp_status call_array_view_as_read_only(void *h) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_as_read_only(h, &view);
    return release_if_created(status, view);
}
CALL(array_view_retain, revamp_array_view_retain)
CALL(array_view_release, revamp_array_view_release)
GET(array_view_get_info, revamp_array_view_info, revamp_array_view_get_info)
static revamp_status call_array_view_data(void *h) {
    void *data = NULL;
    return revamp_array_view_data(h, REVAMP_ACCESS_READ, &data);
}
static revamp_status call_array_view_slice_data(void *h) {
    void *data = NULL;
    const uint32_t *states = NULL;
    return revamp_array_view_slice_data(h, 1, 0, REVAMP_ACCESS_READ, &data, &states);
}
static revamp_status call_array_view_get_host_access(void *h) {
    const uint32_t *state = NULL;
    return revamp_array_view_get_host_access(h, &state);
}
static revamp_status call_array_view_synchronize(void *h) {
    return revamp_array_view_synchronize(h, REVAMP_ACCESS_READ);
}
static revamp_status call_array_view_synchronize_async(void *h) {
    revamp_completion done = NULL;
    revamp_status status = revamp_array_view_synchronize_async(h, REVAMP_ACCESS_READ, NULL, &done);
    return wait_if_begun(status, done);
}
static revamp_status call_array_view_synchronize_to(void *h) {
    return revamp_array_view_synchronize_to(h, good.view, REVAMP_ACCESS_READ);
}
static revamp_status call_array_view_synchronize_to_target(void *h) {
    return revamp_array_view_synchronize_to(good.over, h, REVAMP_ACCESS_READ);
}
static revamp_status call_array_view_synchronize_to_async(void *h) {
    revamp_completion done = NULL;
    revamp_status status = revamp_array_view_synchronize_to_async(h, good.view, REVAMP_ACCESS_READ, NULL, &done);
    return wait_if_begun(status, done);
}
static revamp_status call_array_view_synchronize_to_async_target(void *h) {
    revamp_completion done = NULL;
    revamp_status status = revamp_array_view_synchronize_to_async(good.over, h, REVAMP_ACCESS_READ, NULL, &done);
    return wait_if_begun(status, done);
}
CALL(array_view_refresh, revamp_array_view_refresh)
CALL(array_view_discard_data, revamp_array_view_discard_data)
static revamp_status call_array_view_get_residency(void *h) {
    revamp_residency residency = {0};
    residency.struct_size = sizeof residency;
    return revamp_array_view_get_residency(h, good.view, &residency);
}
static revamp_status call_array_view_get_residency_where(void *h) {
    revamp_residency residency = {0};
    residency.struct_size = sizeof residency;
    return revamp_array_view_get_residency(good.over, h, &residency);
}
static revamp_status call_array_view_get_transfers(void *h) {
    revamp_transfer_counters c = {0};
    c.struct_size = sizeof c;
    return revamp_array_view_get_transfers(h, &c);
}
static revamp_status call_array_view_get_source_transfers(void *h) {
    revamp_transfer_counters c = {0};
    c.struct_size = sizeof c;
    return revamp_array_view_get_source_transfers(h, &c);
}
static revamp_status call_accelerator_get_transfers(void *h) {
    revamp_transfer_counters c = {0};
    c.struct_size = sizeof c;
    return revamp_accelerator_get_transfers(h, &c);
}
static revamp_status call_dispatch_view_argument(void *h) {
    revamp_argument argument = use_view(h);
    return launch_groups(good.view, good.kernel, 1, 1, 1, &argument, 1);
}
static revamp_status call_dispatch_view_address(void *h) {
    revamp_argument argument = revamp_argument_view_address(0, h, REVAMP_ACCESS_NONE);
    return launch_groups(good.view, good.kernel, 1, 1, 1, &argument, 1);
}
static revamp_status call_parallel_for_each_view_argument(void *h) {
    return host_launch_with(use_view(h));
}
static revamp_status call_parallel_for_each_view_address(void *h) {
    return host_launch_with(revamp_argument_view_address(0, h, REVAMP_ACCESS_NONE));
}
static revamp_status call_copy_view_source(void *h) {
    revamp_region from = region_of(h), to = whole(good.array);
    return revamp_copy(&from, &to);
}
static revamp_status call_copy_view_destination(void *h) {
    revamp_region from = whole(good.array), to = region_of(h);
    return revamp_copy(&from, &to);
}
static revamp_status call_copy_view_async(void *h) {
    revamp_completion done = NULL;
    revamp_region from = region_of(h), to = whole(good.array);
    revamp_status status = revamp_copy_async(&from, &to, NULL, &done);
    return wait_if_begun(status, done);
}

static revamp_texture_options good_texture_options(const int32_t *extent) {
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = options.components = 1;
    options.extent = extent;
    options.component_kind = REVAMP_COMPONENT_INT;
    return options;
}
static revamp_status call_texture_create(void *h) {
    int32_t four = 4;
    revamp_texture texture;
    revamp_texture_options options = good_texture_options(&four);
    return revamp_texture_create(h, &options, &texture);
}
static revamp_status call_texture_create_associated(void *h) {
    int32_t four = 4;
    revamp_texture texture;
    revamp_texture_options options = good_texture_options(&four);
    options.associated_view = h;
    revamp_status status = revamp_texture_create(good.view, &options, &texture);
    if (status == REVAMP_OK) revamp_texture_release(texture);
    return status;
}
CALL(user_destroy, revamp_user_destroy)
CALL(texture_retain, revamp_texture_retain)
CALL(texture_release, revamp_texture_release)
GET(texture_get_info, revamp_texture_info, revamp_texture_get_info)
static revamp_status call_texture_get_level(void *h) {
    revamp_texture_level_info info = {0};
    info.struct_size = sizeof info;
    return revamp_texture_get_level(h, 0, &info);
}
static revamp_status call_texture_data(void *h) {
    void *data;
    return revamp_texture_data(h, REVAMP_ACCESS_READ, &data);
}
static revamp_texture_region texels_of(revamp_texture texture) {
    revamp_texture_region region = {0};
    region.struct_size = sizeof region;
    region.texture = texture;
    return region;
}
static revamp_status call_copy_to_texture(void *h) {
    revamp_texture_region to = texels_of(h);
    return revamp_copy_to_texture(good_data, GOOD_BYTES, &to);
}
static revamp_status call_copy_from_texture(void *h) {
    revamp_texture_region from = texels_of(h);
    return revamp_copy_from_texture(&from, good_data, GOOD_BYTES);
}
static revamp_status call_copy_texture_source(void *h) {
    revamp_texture_region from = texels_of(h), to = texels_of(good.texture);
    return revamp_copy_texture(&from, &to);
}
static revamp_status call_copy_texture_destination(void *h) {
    revamp_texture_region from = texels_of(good.texture), to = texels_of(h);
    return revamp_copy_texture(&from, &to);
}
static revamp_status call_copy_to_texture_async(void *h) {
    revamp_completion done = NULL;
    revamp_texture_region to = texels_of(h);
    revamp_status status = revamp_copy_to_texture_async(good_data, GOOD_BYTES, &to, NULL, &done);
    return wait_if_begun(status, done);
}
static revamp_status call_copy_from_texture_async(void *h) {
    revamp_completion done = NULL;
    revamp_texture_region from = texels_of(h);
    revamp_status status = revamp_copy_from_texture_async(&from, good_data, GOOD_BYTES, NULL, &done);
    return wait_if_begun(status, done);
}
static revamp_status call_copy_texture_async(void *h) {
    revamp_completion done = NULL;
    revamp_texture_region from = texels_of(good.texture), to = texels_of(h);
    revamp_status status = revamp_copy_texture_async(&from, &to, NULL, &done);
    return wait_if_begun(status, done);
}
/* If the texture is NULL, the argument names no object, and the library treats the argument as an array argument. */
static revamp_status call_parallel_for_each_texture(void *h) {
    return host_launch_with(revamp_argument_texture_address(0, h, 0, 0, REVAMP_ACCESS_READ));
}

#define CASE(name, type, null_result)                                                                                  \
    { #name, type, null_result, false, call_##name }
#define SPIRV_CASE(name, type, null_result)                                                                            \
    { #name, type, null_result, true, call_##name }
static const handle_case other_cases[] = {
    CASE(accelerator_get_info, ACCELERATOR, BAD_HANDLE),
    CASE(accelerator_get_memory_usage, ACCELERATOR, BAD_HANDLE),
    CASE(set_access, ACCELERATOR, BAD_HANDLE),
    CASE(default_view, ACCELERATOR, BAD_HANDLE),
    CASE(create_view, ACCELERATOR, BAD_HANDLE),
    CASE(accelerator_compile, ACCELERATOR, BAD_HANDLE),
    CASE(accelerator_reopen, ACCELERATOR, BAD_HANDLE),
    CASE(kernel_create, ACCELERATOR, BAD_HANDLE),
    CASE(kernel_find, ACCELERATOR, BAD_HANDLE),
    CASE(view_retain, VIEW, BAD_HANDLE),
    CASE(view_release, VIEW, BAD_HANDLE),
    CASE(view_flush, VIEW, BAD_HANDLE),
    CASE(view_wait, VIEW, BAD_HANDLE),
    CASE(view_get_info, VIEW, BAD_HANDLE),
    CASE(create_marker, VIEW, BAD_HANDLE),
    CASE(array_create, VIEW, BAD_HANDLE),
    CASE(array_create_associated, VIEW, NO_ERROR),
    CASE(parallel_for_each, VIEW, NO_ERROR),
    CASE(parallel_for_each_array, ARRAY, BAD_HANDLE),
    CASE(parallel_for_each_async, VIEW, NO_ERROR),
    SPIRV_CASE(dispatch_async_view, VIEW, NO_ERROR),
    CASE(dispatch_async_kernel, KERNEL, BAD_HANDLE),
    SPIRV_CASE(dispatch_async_after, COMPLETION, BAD_HANDLE),
    SPIRV_CASE(dispatch_view, VIEW, NO_ERROR),
    CASE(dispatch_kernel, KERNEL, BAD_HANDLE),
    SPIRV_CASE(dispatch_array, ARRAY, BAD_HANDLE),
    SPIRV_CASE(dispatch_address, ARRAY, BAD_HANDLE),
    CASE(array_destroy, ARRAY, BAD_HANDLE),
    CASE(array_get_info, ARRAY, BAD_HANDLE),
    CASE(array_data, ARRAY, BAD_HANDLE),
    CASE(device_address, ARRAY, BAD_HANDLE),
    CASE(copy_source, ARRAY, NO_ERROR), /* a region without an array is host memory */
    CASE(copy_destination, ARRAY, NO_ERROR),
    CASE(copy_async, ARRAY, NO_ERROR),
    CASE(copy_to_array, ARRAY, BAD_HANDLE),
    CASE(copy_from_array, ARRAY, BAD_HANDLE),
    CASE(copy_to_array_async, ARRAY, BAD_HANDLE),
    CASE(copy_from_array_async, ARRAY, BAD_HANDLE),
    CASE(user_destroy, USER, BAD_HANDLE),
    CASE(texture_create, VIEW, BAD_HANDLE),
    CASE(texture_create_associated, VIEW, NO_ERROR),
    CASE(texture_retain, TEXTURE, BAD_HANDLE),
    CASE(texture_release, TEXTURE, BAD_HANDLE),
    CASE(texture_get_info, TEXTURE, BAD_HANDLE),
    CASE(texture_get_level, TEXTURE, BAD_HANDLE),
    CASE(texture_data, TEXTURE, BAD_HANDLE),
    CASE(copy_to_texture, TEXTURE, BAD_HANDLE),
    CASE(copy_from_texture, TEXTURE, BAD_HANDLE),
    CASE(copy_texture_source, TEXTURE, BAD_HANDLE),
    CASE(copy_texture_destination, TEXTURE, BAD_HANDLE),
    CASE(copy_to_texture_async, TEXTURE, BAD_HANDLE),
    CASE(copy_from_texture_async, TEXTURE, BAD_HANDLE),
    CASE(copy_texture_async, TEXTURE, BAD_HANDLE),
    CASE(parallel_for_each_texture, TEXTURE, OTHER_ERROR),
    CASE(kernel_retain, KERNEL, BAD_HANDLE),
    CASE(kernel_release, KERNEL, BAD_HANDLE),
    CASE(kernel_get_info, KERNEL, BAD_HANDLE),
    CASE(kernel_get_binding, KERNEL, BAD_HANDLE),
    CASE(completion_retain, COMPLETION, BAD_HANDLE),
    CASE(completion_release, COMPLETION, BAD_HANDLE),
    CASE(completion_wait, COMPLETION, BAD_HANDLE),
    CASE(completion_wait_for, COMPLETION, BAD_HANDLE),
    CASE(completion_get, COMPLETION, BAD_HANDLE),
    CASE(completion_error_message, COMPLETION, BAD_HANDLE),
    CASE(completion_then, COMPLETION, BAD_HANDLE),
    CASE(completion_set, COMPLETION, BAD_HANDLE),
    CASE(completion_get_times, COMPLETION, BAD_HANDLE),
};
/* OTHER_ERROR: with a NULL view, an argument names no object, and a region has neither an array nor host memory. */
static const handle_case view_cases[] = {
    CASE(array_view_create_array, ARRAY, BAD_HANDLE),
    CASE(array_view_section, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_project, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_view_as, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_reinterpret_as, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_as_read_only, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_retain, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_release, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_get_info, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_data, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_slice_data, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_get_host_access, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_synchronize, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_synchronize_async, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_synchronize_to, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_synchronize_to_target, VIEW, BAD_HANDLE),
    CASE(array_view_synchronize_to_async, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_synchronize_to_async_target, VIEW, BAD_HANDLE),
    CASE(array_view_refresh, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_discard_data, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_get_residency, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_get_residency_where, VIEW, BAD_HANDLE),
    CASE(array_view_get_transfers, ARRAY_VIEW, BAD_HANDLE),
    CASE(array_view_get_source_transfers, ARRAY_VIEW, BAD_HANDLE),
    CASE(accelerator_get_transfers, ACCELERATOR, BAD_HANDLE),
    SPIRV_CASE(dispatch_view_argument, ARRAY_VIEW, OTHER_ERROR),
    SPIRV_CASE(dispatch_view_address, ARRAY_VIEW, OTHER_ERROR),
    CASE(parallel_for_each_view_argument, ARRAY_VIEW, OTHER_ERROR),
    CASE(parallel_for_each_view_address, ARRAY_VIEW, OTHER_ERROR),
    CASE(copy_view_source, ARRAY_VIEW, OTHER_ERROR),
    CASE(copy_view_destination, ARRAY_VIEW, OTHER_ERROR),
    CASE(copy_view_async, ARRAY_VIEW, OTHER_ERROR),
};
const handle_table other_functions = {other_cases, COUNT(other_cases)},
                   view_functions = {view_cases, COUNT(view_cases)};

bool is_possible(const handle_case *c) {
    return good.kernel || !c->needs_kernel;
}

void check_bad(const handle_case *c, void *handle, const char *expected_text) {
    if (!check_error(c->call(handle), AS_HANDLE, expected_text, c->name, __FILE__, __LINE__)) return;
    check_text(revamp_last_error_message(), type_names[c->type], __FILE__, __LINE__);
    CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x80070006);
}

void check_null_handles(const handle_table *table) {
    make_good();
    FOR_EACH_CASE(c, table) {
        if (c->null_result == BAD_HANDLE) check_bad(c, NULL, "null");
        if (c->null_result == OTHER_ERROR)
            check_error(c->call(NULL), AS_BAD | AS_HANDLE, "", c->name, __FILE__, __LINE__);
        small_job();
    }
    free_good();
    full_job();
}

void check_foreign_handles(const handle_table *table) {
    int local = 5;
    uint32_t state = 4711;
    make_good();
    FOR_EACH_CASE(c, table) {
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

void check_handles_of_another_type(const handle_table *table) {
    make_good();
    FOR_EACH_CASE(c, table)
    for (int type = 0; type < TYPES; type++) {
        if ((handle_type)type == c->type || !handle_of_type((handle_type)type)) continue;
        check_bad(c, handle_of_type((handle_type)type), type_names[type]);
        small_job();
    }
    free_good();
    full_job();
}

void check_freed_handles(const handle_table *table) {
    make_good();
    FOR_EACH_CASE(c, table) {
        void *freed = freed_of_type(c->type);
        if (!freed) continue;
        check_bad(c, freed, "freed");
        /* The handle stays invalid when its slot is reused. */
        revamp_array array = array_1d(good.view, 4, 4), second = array_1d(good.view, 4, 4);
        revamp_array_view over = view_of(good_data, GOOD_COUNT), other = view_of_array(good.array);
        check_bad(c, freed, "freed");
        drop(over);
        drop(other);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(second));
    }
    free_good();
    full_job();
}

void check_altered_handles(const handle_table *table) {
    make_good();
    FOR_EACH_CASE(c, table) {
        uintptr_t handle = (uintptr_t)handle_of_type(c->type);
        if (!handle) continue;
        check_bad(c, (void *)(handle + 1), "");
        check_bad(c, (void *)(handle ^ (uintptr_t)1 << 31), "");
        check_bad(c, (void *)(handle ^ (uintptr_t)1 << 54), "");
    }
    free_good();
    full_job();
}
