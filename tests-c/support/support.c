#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool holds_arrays(const revamp_accelerator_info *info) {
    (void)info;
    return true;
}

bool runs_spirv(const revamp_accelerator_info *info) {
    return info->kind == REVAMP_ACCELERATOR_VULKAN;
}

bool runs_host_kernels(const revamp_accelerator_info *info) {
    return info->kind == REVAMP_ACCELERATOR_HOST_THREADS;
}

bool is_shared_vulkan(const revamp_accelerator_info *info) {
    return runs_spirv(info) && info->supports_cpu_shared_memory;
}

revamp_accelerator_info info_of(revamp_accelerator accelerator) {
    revamp_accelerator_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_accelerator_get_info(accelerator, &info));
    return info;
}

revamp_array_info array_info(revamp_array array) {
    revamp_array_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_array_get_info(array, &info));
    return info;
}

revamp_texture_region levels_of(revamp_texture texture, uint32_t level, uint32_t count) {
    revamp_texture_region region = {0};
    region.struct_size = sizeof region;
    region.texture = texture;
    region.level = level;
    region.level_count = count;
    return region;
}

revamp_kernel_info kernel_info(revamp_kernel kernel) {
    revamp_kernel_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_kernel_get_info(kernel, &info));
    return info;
}

revamp_accelerator_view_info view_info(revamp_accelerator_view view) {
    revamp_accelerator_view_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_accelerator_view_get_info(view, &info));
    return info;
}

revamp_accelerator *all_accelerators(size_t *count) {
    REQUIRE_OK(revamp_accelerator_list(NULL, 0, count));
    revamp_accelerator *all = memory(*count * sizeof *all);
    REQUIRE_OK(revamp_accelerator_list(all, *count, count));
    return all;
}

const place *places_that(ability can) {
    size_t count = 0, used = 0;
    revamp_accelerator *all = all_accelerators(&count);
    place *places = memory((count + 1) * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        if (info.unusable_reason || !can(&info)) continue;
        places[used].accelerator = all[i];
        places[used].view = default_view(all[i]);
        places[used++].info = info;
    }
    return places;
}

const place *first_place_or_skip(ability can) {
    const place *places = places_that(can);
    if (!places->view) check_skip("no usable accelerator can do this");
    return places;
}

revamp_accelerator find(const char *path) {
    revamp_accelerator found = NULL;
    REQUIRE_OK(revamp_accelerator_find(path, &found));
    return found;
}

revamp_accelerator_view default_view(revamp_accelerator accelerator) {
    revamp_accelerator_view view = NULL;
    REQUIRE_OK(revamp_accelerator_get_default_view(accelerator, &view));
    return view;
}

revamp_accelerator_view cpu_view(void) {
    return default_view(find("cpu"));
}

revamp_accelerator_view host_view(void) {
    return default_view(find("host"));
}

revamp_accelerator_view new_view(revamp_accelerator accelerator, revamp_queuing_mode mode) {
    revamp_accelerator_view view = NULL;
    REQUIRE_OK(revamp_accelerator_create_view(accelerator, mode, &view));
    return view;
}

bool is_setting(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && !strcmp(text, value);
}

bool has_validation(void) {
    return is_setting("REVAMP_VALIDATION", "1") || is_setting("REVAMP_VALIDATION", "2");
}

bool has_separate_memory(void) {
    return is_setting("REVAMP_MEMORY", "separate");
}

revamp_status try_load(revamp_accelerator accelerator, const void *spirv, size_t size, const char *entry_point,
                       revamp_kernel *kernel) {
    revamp_kernel_options options = {0};
    options.struct_size = sizeof options;
    options.spirv = spirv;
    options.spirv_size = size;
    options.entry_point = entry_point;
    return revamp_kernel_create(accelerator, &options, kernel);
}

revamp_kernel load(revamp_accelerator accelerator, const module *spirv) {
    revamp_kernel kernel = NULL;
    REQUIRE_OK(try_load(accelerator, spirv->words, spirv->size, NULL, &kernel));
    return kernel;
}

uint32_t *with_capability(const module *spirv, uint32_t capability, size_t *size) {
    enum { HEADER = 5, OP_CAPABILITY = 2U << 16 | 17 };
    size_t words = spirv->size / 4;
    uint32_t *result = memory(spirv->size + 8);
    memcpy(result, spirv->words, HEADER * 4);
    result[HEADER] = OP_CAPABILITY;
    result[HEADER + 1] = capability;
    memcpy(result + HEADER + 2, spirv->words + HEADER, (words - HEADER) * 4);
    *size = spirv->size + 8;
    return result;
}

static revamp_array create(revamp_accelerator_view view, uint32_t rank, const int32_t *extent, size_t element_size,
                           const revamp_array_options *options) {
    revamp_array array = NULL;
    REQUIRE_OK(revamp_array_create(view, rank, extent, element_size, options, &array));
    return array;
}

revamp_array array_of(revamp_accelerator_view view, uint32_t rank, const int32_t *extent, size_t element_size) {
    return create(view, rank, extent, element_size, NULL);
}

revamp_array array_1d(revamp_accelerator_view view, int32_t count, size_t element_size) {
    return create(view, 1, &count, element_size, NULL);
}

revamp_array staging_array(revamp_accelerator_view view, revamp_accelerator_view associated, uint32_t rank,
                           const int32_t *extent, size_t element_size) {
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.associated_view = associated;
    return create(view, rank, extent, element_size, &options);
}

revamp_array shared_array(revamp_accelerator_view view, int32_t count, size_t element_size, revamp_access access) {
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    options.cpu_access_type = access;
    options.has_cpu_access_type = true;
    return create(view, 1, &count, element_size, &options);
}

revamp_array array_with(revamp_accelerator_view view, const void *contents, int32_t count) {
    revamp_array array = array_1d(view, count, 4);
    write_array(array, contents);
    return array;
}

revamp_texture_region texture_1d(revamp_accelerator_view view, revamp_accelerator_view associated, int32_t count) {
    revamp_texture_region all = REVAMP_TEXTURE_REGION_INIT;
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = 1;
    options.extent = &count;
    options.component_kind = REVAMP_COMPONENT_UINT;
    options.components = 1;
    options.bits = 32;
    options.associated_view = associated;
    REQUIRE_OK(revamp_texture_create(view, &options, &all.texture));
    return all;
}

size_t size_of(revamp_array array) {
    return (size_t)array_info(array).size;
}

void write_array(revamp_array array, const void *contents) {
    REQUIRE_OK(revamp_copy_to_array(contents, size_of(array), array));
}

void *read_array(revamp_array array) {
    size_t size = size_of(array);
    void *contents = memory(size);
    REQUIRE_OK(revamp_copy_from_array(array, contents, size));
    return contents;
}

void *data_of(revamp_array array, revamp_access access) {
    void *data = NULL;
    REQUIRE_OK(revamp_array_data(array, access, &data));
    REQUIRE(data);
    return data;
}

revamp_region whole(revamp_array array) {
    return section(array, NULL, NULL);
}

revamp_region section(revamp_array array, const int32_t *origin, const int32_t *extent) {
    revamp_region region = {0};
    region.struct_size = sizeof region;
    region.array = array;
    region.origin = origin;
    region.extent = extent;
    return region;
}

revamp_region host_region(void *host, uint32_t rank, const int32_t *extent, size_t element_size) {
    revamp_region region = {0};
    region.struct_size = sizeof region;
    region.host = host;
    region.host_rank = rank;
    region.extent = extent;
    region.host_element_size = element_size;
    return region;
}

revamp_status launch(revamp_accelerator_view view, revamp_kernel kernel, uint32_t rank, const int32_t *extent,
                     const revamp_argument *arguments, size_t count) {
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.rank = rank;
    info.extent = extent;
    info.arguments = arguments;
    info.argument_count = count;
    return revamp_dispatch(view, kernel, &info);
}

revamp_status launch_groups(revamp_accelerator_view view, revamp_kernel kernel, uint32_t x, uint32_t y, uint32_t z,
                            const revamp_argument *arguments, size_t count) {
    revamp_dispatch_info info = {0};
    info.struct_size = sizeof info;
    info.groups[0] = x;
    info.groups[1] = y;
    info.groups[2] = z;
    info.arguments = arguments;
    info.argument_count = count;
    return revamp_dispatch(view, kernel, &info);
}

revamp_argument with_access(revamp_argument argument, revamp_access access) {
    argument.access = access;
    return argument;
}

revamp_argument in_set(revamp_argument argument, uint32_t set) {
    argument.set = set;
    return argument;
}

revamp_status launch_step(revamp_accelerator_view view, revamp_kernel step, revamp_array array) {
    revamp_argument argument = revamp_argument_buffer(0, array);
    int32_t count = (int32_t)array_info(array).element_count;
    return launch(view, step, 1, &count, &argument, 1);
}

void step_naive(uint32_t *numbers, size_t count, unsigned times) {
    while (times-- > 0)
        for (size_t i = 0; i < count; i++)
            numbers[i] = 3 * numbers[i] + 1;
}

uint32_t random_number(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void fill_bytes(void *bytes, size_t size, uint32_t seed) {
    uint32_t state = seed * 2654435761U + 1;
    unsigned char *at = bytes;
    if (!state) state = 1;
    for (; size >= 4; size -= 4, at += 4) {
        uint32_t n = random_number(&state);
        memcpy(at, &n, 4);
    }
    for (; size > 0; size--)
        *at++ = (unsigned char)random_number(&state);
}

uint32_t *numbers(size_t count, uint32_t seed) {
    uint32_t *result = memory(count * 4);
    fill_bytes(result, count * 4, seed);
    return result;
}

void unfold(uint64_t position, uint32_t rank, const int32_t *extent, int32_t *index) {
    for (uint32_t d = rank; d-- > 0; position /= (uint64_t)extent[d])
        index[d] = (int32_t)(position % (uint64_t)extent[d]);
}

uint64_t product(uint32_t rank, const int32_t *extent) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        n *= (uint64_t)extent[d];
    return n;
}

void expect_done(revamp_completion completion) {
    CHECK_OK(revamp_completion_get(completion));
    CHECK_OK(revamp_completion_release(completion));
}

static void copy_job(revamp_accelerator_view view) {
    uint32_t *sent = numbers(16, 7), *got;
    revamp_array array = array_with(view, sent, 16);
    got = read_array(array);
    CHECK_SAME(got, sent, 64);
    CHECK_OK(revamp_array_destroy(array));
}

void small_job(void) {
    copy_job(cpu_view());
}

void full_job(void) {
    for (const place *p = places_that(holds_arrays); p->view; p++)
        copy_job(p->view);
    for (const place *p = places_that(runs_spirv); p->view; p++) {
        uint32_t *sent = numbers(100, 3);
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, sent, 100);
        CHECK_OK(launch_step(p->view, step, array));
        step_naive(sent, 100, 1);
        CHECK_SAME(read_array(array), sent, 400);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
};

gate *new_gate(void) {
    gate *g = memory(sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    return g;
}

void open_gate(gate *g) {
    pthread_mutex_lock(&g->lock);
    g->is_open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void pass_gate(gate *g) {
    pthread_mutex_lock(&g->lock);
    while (!g->is_open)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void gate_kernel(const revamp_thread_id *id, void *context) {
    (void)id;
    pass_gate(context);
}

void block_view(revamp_accelerator_view view, gate *g) {
    int32_t one = 1;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &one;
    info.function = gate_kernel;
    info.context = g;
    REQUIRE_OK(revamp_parallel_for_each(view, &info));
}
