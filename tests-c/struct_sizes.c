/* Tests every value of the field `struct_size` in every struct that has it. The library accepts a size that ends with a
 * field and refuses any other size. The library never reads beyond struct_size. */
#include "system.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    size_t offset, size;
} field;

/* A struct, and a call that takes it. */
typedef struct {
    const char *name;
    size_t size;
    const field *fields;
    size_t field_count;
    bool needs_kernel;
    revamp_status (*call)(void *s);
} struct_case;

/* Objects that the calls use. */
static struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view place;
    revamp_array array;
    revamp_array_view view;
    revamp_texture texture;
    revamp_kernel kernel;
} used;

static const int32_t four = 4;

static revamp_status give_accelerator_info(void *s) {
    return revamp_accelerator_get_info(used.accelerator, s);
}

static revamp_status give_accelerator_view_info(void *s) {
    return revamp_accelerator_view_get_info(used.place, s);
}

static revamp_status give_array_info(void *s) {
    return revamp_array_get_info(used.array, s);
}

static revamp_status give_texture_info(void *s) {
    return revamp_texture_get_info(used.texture, s);
}

static revamp_status give_texture_level_info(void *s) {
    return revamp_texture_get_level(used.texture, 0, s);
}

static revamp_status give_array_view_info(void *s) {
    return revamp_array_view_get_info(used.view, s);
}

static revamp_status give_residency(void *s) {
    return revamp_array_view_get_residency(used.view, used.place, s);
}

static revamp_status give_memory_usage(void *s) {
    return revamp_accelerator_get_memory_usage(used.accelerator, s);
}

static revamp_status give_transfer_counters(void *s) {
    return revamp_get_transfers(s);
}

static revamp_status give_kernel_info(void *s) {
    return revamp_kernel_get_info(used.kernel, s);
}

static revamp_status give_binding_info(void *s) {
    return revamp_kernel_get_binding(used.kernel, 0, s);
}

static revamp_status give_dispatch_info(void *s) {
    return revamp_dispatch(used.place, used.kernel, s);
}

static revamp_status give_parallel_for_each_info(void *s) {
    return revamp_parallel_for_each(host_view(), s);
}

static revamp_status give_async_options(void *s) {
    static const uint32_t sent[4];
    revamp_completion done = NULL;
    revamp_status status = revamp_copy_to_array_async(sent, sizeof sent, used.array, s, &done);
    if (done) expect_done(done);
    return status;
}

static void ignore_thread(const revamp_thread_id *id, void *context) {
    (void)id;
    (void)context;
}

static revamp_status give_argument(void *s) {
    revamp_parallel_for_each_info info = REVAMP_PARALLEL_FOR_EACH_INFO_INIT;
    info.rank = 1;
    info.extent = &four;
    info.function = ignore_thread;
    info.arguments = s;
    info.argument_count = 1;
    return revamp_parallel_for_each(host_view(), &info);
}

static revamp_status give_times(void *s) {
    static const uint32_t sent[4];
    revamp_completion done = NULL;
    revamp_async_options timed = {0};
    timed.struct_size = sizeof timed;
    timed.is_timed = true;
    REQUIRE_OK(revamp_copy_to_array_async(sent, sizeof sent, used.array, &timed, &done));
    revamp_status status = revamp_completion_get_times(done, s);
    CHECK_OK(revamp_completion_release(done));
    return status;
}

static revamp_status give_array_options(void *s) {
    revamp_array array = NULL;
    revamp_status status = revamp_array_create(used.place, 1, &four, 4, s, &array);
    if (array) CHECK_OK(revamp_array_destroy(array));
    return status;
}

static revamp_status give_texture_options(void *s) {
    revamp_texture texture = NULL;
    revamp_status status = revamp_texture_create(used.place, s, &texture);
    if (texture) CHECK_OK(revamp_texture_release(texture));
    return status;
}

static revamp_status give_texture_region(void *s) {
    uint32_t texels[4];
    return revamp_copy_from_texture(s, texels, sizeof texels);
}

static revamp_status give_array_view_options(void *s) {
    revamp_array_view view = NULL;
    revamp_status status = revamp_array_view_create_array(used.array, s, &view);
    if (view) CHECK_OK(revamp_array_view_release(view));
    return status;
}

static revamp_status give_region(void *s) {
    revamp_region good = whole(used.array);
    revamp_status status = revamp_copy(&good, s);
    CHECK(revamp_copy(s, &good) == status);
    return status;
}

static revamp_status give_kernel_options(void *s) {
    revamp_kernel kernel = NULL;
    return revamp_kernel_create(used.accelerator, s, &kernel);
}

static revamp_status give_kernel_record(void *s) {
    revamp_status status = revamp_kernel_register(s, 1);
    if (status == REVAMP_OK) CHECK_OK(revamp_kernel_unregister(s, 1));
    return status;
}

/* The call fills a list, so the log must contain a transfer. */
static revamp_status give_transfer(void *s) {
    size_t count = 0;
    return revamp_transfer_log_read(1, s, 1, &count);
}

#define FIELD(name)                                                                                                    \
    { offsetof(STRUCT, name), sizeof(((STRUCT *)0)->name) }

#define STRUCT revamp_accelerator_info
static const field accelerator_info_fields[] = {FIELD(struct_size),
                                                FIELD(device_path),
                                                FIELD(description),
                                                FIELD(unusable_reason),
                                                FIELD(driver),
                                                FIELD(kind),
                                                FIELD(version),
                                                FIELD(dedicated_memory),
                                                FIELD(has_display),
                                                FIELD(is_debug),
                                                FIELD(is_emulated),
                                                FIELD(supports_double_precision),
                                                FIELD(supports_limited_double_precision),
                                                FIELD(supports_cpu_shared_memory),
                                                FIELD(default_cpu_access_type),
                                                FIELD(max_workgroup_invocations),
                                                FIELD(max_workgroup_size),
                                                FIELD(max_workgroup_memory),
                                                FIELD(max_push_constants),
                                                FIELD(max_storage_buffer_range),
                                                FIELD(min_storage_buffer_alignment),
                                                FIELD(max_uniform_buffer_range),
                                                FIELD(min_uniform_buffer_alignment),
                                                FIELD(vendor_id),
                                                FIELD(device_id),
                                                FIELD(device_type),
                                                FIELD(driver_id),
                                                FIELD(driver_version),
                                                FIELD(api_version),
                                                FIELD(uuid),
                                                FIELD(subgroup_size),
                                                FIELD(min_subgroup_size),
                                                FIELD(max_subgroup_size),
                                                FIELD(max_workgroup_count),
                                                FIELD(features)};
#undef STRUCT
#define STRUCT revamp_accelerator_view_info
static const field accelerator_view_info_fields[] = {FIELD(struct_size), FIELD(accelerator), FIELD(queuing_mode),
                                                     FIELD(version),     FIELD(is_debug),    FIELD(is_auto_selection)};
#undef STRUCT
#define STRUCT revamp_array_options
static const field array_options_fields[] = {FIELD(struct_size), FIELD(cpu_access_type), FIELD(has_cpu_access_type),
                                             FIELD(associated_view), FIELD(label)};
#undef STRUCT
#define STRUCT revamp_array_info
static const field array_info_fields[] = {FIELD(struct_size),    FIELD(rank), FIELD(extent), FIELD(element_size),
                                          FIELD(element_count),  FIELD(size), FIELD(view),   FIELD(associated_view),
                                          FIELD(cpu_access_type)};
#undef STRUCT
#define STRUCT revamp_texture_options
static const field texture_options_fields[] = {
    FIELD(struct_size), FIELD(rank),   FIELD(extent),  FIELD(component_kind),  FIELD(components),
    FIELD(bits),        FIELD(levels), FIELD(storage), FIELD(associated_view), FIELD(label)};
#undef STRUCT
#define STRUCT revamp_texture_info
static const field texture_info_fields[] = {
    FIELD(struct_size), FIELD(rank),        FIELD(extent),  FIELD(component_kind), FIELD(components),
    FIELD(bits),        FIELD(levels),      FIELD(storage), FIELD(texel_size),     FIELD(size),
    FIELD(row_pitch),   FIELD(depth_pitch), FIELD(view),    FIELD(associated_view)};
#undef STRUCT
#define STRUCT revamp_texture_level_info
static const field texture_level_info_fields[] = {FIELD(struct_size), FIELD(extent), FIELD(offset), FIELD(size)};
#undef STRUCT
#define STRUCT revamp_texture_region
static const field texture_region_fields[] = {FIELD(struct_size), FIELD(texture), FIELD(level),
                                              FIELD(level_count), FIELD(origin),  FIELD(extent)};
#undef STRUCT
#define STRUCT revamp_array_view_options
static const field array_view_options_fields[] = {FIELD(struct_size), FIELD(read_only), FIELD(label)};
#undef STRUCT
#define STRUCT revamp_array_view_info
static const field array_view_info_fields[] = {
    FIELD(struct_size),   FIELD(rank),   FIELD(extent),    FIELD(strides),     FIELD(element_size),
    FIELD(element_count), FIELD(offset), FIELD(read_only), FIELD(source_view), FIELD(source_id)};
#undef STRUCT
#define STRUCT revamp_residency
static const field residency_fields[] = {FIELD(struct_size),     FIELD(view_bytes),      FIELD(valid_bytes),
                                         FIELD(discarded_bytes), FIELD(allocated_bytes), FIELD(shares_home)};
#undef STRUCT
#define STRUCT revamp_memory_usage
static const field memory_usage_fields[] = {FIELD(struct_size), FIELD(used),    FIELD(held),
                                            FIELD(slack),       FIELD(staging), FIELD(staging_limit)};
#undef STRUCT
#define STRUCT revamp_transfer_counters
static const field transfer_counters_fields[] = {
    FIELD(struct_size),         FIELD(implicit_to_bytes),    FIELD(implicit_to_count),    FIELD(implicit_from_bytes),
    FIELD(implicit_from_count), FIELD(implicit_local_bytes), FIELD(implicit_local_count), FIELD(explicit_to_bytes),
    FIELD(explicit_to_count),   FIELD(explicit_from_bytes),  FIELD(explicit_from_count),  FIELD(explicit_local_bytes),
    FIELD(explicit_local_count)};
#undef STRUCT
#define STRUCT revamp_transfer
static const field transfer_fields[] = {FIELD(struct_size), FIELD(number), FIELD(bytes),       FIELD(is_implicit),
                                        FIELD(call),        FIELD(source), FIELD(destination), FIELD(source_id)};
#undef STRUCT
#define STRUCT revamp_region
static const field region_fields[] = {
    FIELD(struct_size), FIELD(array),     FIELD(view),         FIELD(origin),    FIELD(extent),
    FIELD(host),        FIELD(host_size), FIELD(host_strides), FIELD(host_rank), FIELD(host_element_size),
    FIELD(host_source)};
#undef STRUCT
#define STRUCT revamp_kernel_options
static const field kernel_options_fields[] = {FIELD(struct_size), FIELD(spirv), FIELD(spirv_size), FIELD(entry_point),
                                              FIELD(label)};
#undef STRUCT
#define STRUCT revamp_kernel_info
static const field kernel_info_fields[] = {FIELD(struct_size),        FIELD(workgroup_size),       FIELD(binding_count),
                                           FIELD(push_constant_size), FIELD(specialization_count), FIELD(takes_block)};
#undef STRUCT
#define STRUCT revamp_binding_info
static const field binding_info_fields[] = {FIELD(struct_size), FIELD(set),        FIELD(binding),
                                            FIELD(access),      FIELD(name),       FIELD(min_size),
                                            FIELD(kind),        FIELD(dimensions), FIELD(count)};
#undef STRUCT
#define STRUCT revamp_dispatch_info
static const field dispatch_info_fields[] = {FIELD(struct_size), FIELD(rank),      FIELD(extent),
                                             FIELD(groups),      FIELD(arguments), FIELD(argument_count),
                                             FIELD(block),       FIELD(block_size)};
#undef STRUCT
#define STRUCT revamp_argument
static const field argument_fields[] = {FIELD(struct_size), FIELD(kind),    FIELD(set),    FIELD(binding),
                                        FIELD(id),          FIELD(offset),  FIELD(access), FIELD(array),
                                        FIELD(view),        FIELD(texture), FIELD(level),  FIELD(level_count),
                                        FIELD(origin),      FIELD(extent),  FIELD(data),   FIELD(size)};
#undef STRUCT
#define STRUCT revamp_async_options
static const field async_options_fields[] = {FIELD(struct_size), FIELD(after), FIELD(after_count), FIELD(is_timed)};
#undef STRUCT
#define STRUCT revamp_times
static const field times_fields[] = {FIELD(struct_size), FIELD(begin), FIELD(end), FIELD(deviation),
                                     FIELD(is_host_clock)};
#undef STRUCT
#define STRUCT revamp_parallel_for_each_info
static const field parallel_for_each_info_fields[] = {
    FIELD(struct_size), FIELD(rank),         FIELD(extent),    FIELD(tile),           FIELD(tile_memory),
    FIELD(function),    FIELD(context),      FIELD(arguments), FIELD(argument_count), FIELD(block),
    FIELD(block_size),  FIELD(row_function), FIELD(compiled),  FIELD(block_alignment)};
#undef STRUCT
#define STRUCT revamp_kernel_record
static const field kernel_record_fields[] = {FIELD(struct_size), FIELD(name), FIELD(spirv), FIELD(spirv_size)};
#undef STRUCT

#define STRUCT_CASE(name, needs_kernel)                                                                                \
    { "revamp_" #name, sizeof(revamp_##name), name##_fields, COUNT(name##_fields), needs_kernel, give_##name }

static const struct_case struct_cases[] = {
    STRUCT_CASE(accelerator_info, false),
    STRUCT_CASE(accelerator_view_info, false),
    STRUCT_CASE(array_options, false),
    STRUCT_CASE(array_info, false),
    STRUCT_CASE(texture_options, false),
    STRUCT_CASE(texture_info, false),
    STRUCT_CASE(texture_level_info, false),
    STRUCT_CASE(texture_region, false),
    STRUCT_CASE(array_view_options, false),
    STRUCT_CASE(array_view_info, false),
    STRUCT_CASE(residency, false),
    STRUCT_CASE(memory_usage, false),
    STRUCT_CASE(transfer_counters, false),
    STRUCT_CASE(transfer, false),
    STRUCT_CASE(region, false),
    STRUCT_CASE(kernel_options, true),
    STRUCT_CASE(kernel_info, true),
    STRUCT_CASE(binding_info, true),
    STRUCT_CASE(dispatch_info, true),
    STRUCT_CASE(parallel_for_each_info, false),
    STRUCT_CASE(argument, false),
    STRUCT_CASE(async_options, false),
    STRUCT_CASE(times, false),
    STRUCT_CASE(kernel_record, false),
};

/* The largest valid struct_size up to `size`: a struct may end at a field's end, or at the next field's offset. */
static size_t largest_valid_size(const struct_case *s, size_t size) {
    if (size == s->size) return size;
    size_t end = 0;
    for (size_t i = 0; i < s->field_count; i++) {
        const field *f = &s->fields[i];
        if (f->offset <= size && f->offset > end) end = f->offset;
        if (f->offset + f->size <= size && f->offset + f->size > end) end = f->offset + f->size;
    }
    return end;
}

/* Calls the function with this struct_size. The struct ends where readable memory ends. If the size is invalid,
 * the bytes after the last valid size are 0x5A. */
static void try_size(const struct_case *s, unsigned char *end, size_t size) {
    size_t bytes = size < sizeof size ? sizeof size : size, largest_size = largest_valid_size(s, size);
    bool is_valid_size = size > 0 && largest_size == size;
    unsigned char *at = end - bytes;
    memset(at, 0, bytes);
    if (!is_valid_size && size > sizeof size) memset(at + largest_size, 0x5A, bytes - largest_size);
    memcpy(at, &size, sizeof size);
    if (!is_valid_size) {
        char text[200];
        snprintf(text, sizeof text, "%s.struct_size is %zu,", s->name, size);
        if (!CHECK_FAILS(s->call(at), AS_ARGUMENT, text)) return;
        snprintf(text, sizeof text, "sizeof(%s), which is %zu", s->name, s->size);
        CHECK_TEXT(revamp_last_error_message(), text);
        return;
    }
    revamp_status status = s->call(at);
    if (status < 0 && strstr(revamp_last_error_message(), "struct_size"))
        check_fail(__FILE__, __LINE__, "%s of %zu bytes: %s", s->name, size, revamp_last_error_message());
    CHECK(memcmp(at, &size, sizeof size) == 0);
}

TEST(every_struct_size) {
    size_t page = page_size();
    unsigned char *pages = map_pages(NULL, 2 * page);
    REQUIRE(forbid_pages(pages + page, page));
    const place *p = places_that(runs_spirv);
    bool has_kernels = p->view;
    if (!has_kernels) p = places_that(runs_host_kernels);
    used.accelerator = p->accelerator;
    used.place = p->view;
    used.array = array_1d(p->view, 4, 4);
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = options.components = 1;
    options.extent = &four;
    options.component_kind = REVAMP_COMPONENT_INT;
    REQUIRE_OK(revamp_texture_create(p->view, &options, &used.texture));
    REQUIRE_OK(revamp_array_view_create_array(used.array, NULL, &used.view));
    if (has_kernels) used.kernel = load(p->accelerator, &step_module);
    write_array(used.array, (const uint32_t[]){1, 2, 3, 4});
    for (size_t i = 0; i < COUNT(struct_cases); i++)
        for (size_t size = 0; size <= struct_cases[i].size + 16 && (has_kernels || !struct_cases[i].needs_kernel);
             size++)
            try_size(&struct_cases[i], pages + page, size);
    if (used.kernel) CHECK_OK(revamp_kernel_release(used.kernel));
    CHECK_OK(revamp_texture_release(used.texture));
    CHECK_OK(revamp_array_view_release(used.view));
    CHECK_OK(revamp_array_destroy(used.array));
    unmap_pages(pages, 2 * page);
    full_job();
}

/* Arguments from an older version of the header have fewer fields, so the list has a smaller stride. */
TEST(a_list_of_smaller_arguments_is_read_with_their_stride) {
    enum { SMALL = offsetof(revamp_argument, texture) };
    unsigned char list[2 * SMALL];
    revamp_array array = array_1d(host_view(), 4, 4);
    revamp_parallel_for_each_info info = REVAMP_PARALLEL_FOR_EACH_INFO_INIT;
    info.rank = 1;
    info.extent = &four;
    info.function = ignore_thread;
    info.arguments = (const revamp_argument *)(const void *)list;
    info.argument_count = 2;
    for (int bad = 0; bad < 2; bad++) {
        for (uint32_t i = 0; i < 2; i++) {
            revamp_argument argument = revamp_argument_buffer(i, i && bad ? NULL : array);
            argument.struct_size = SMALL;
            memcpy(list + i * SMALL, &argument, SMALL);
        }
        if (bad)
            CHECK_FAILS(revamp_parallel_for_each(host_view(), &info), AS_HANDLE, "argument 1");
        else
            CHECK_OK(revamp_parallel_for_each(host_view(), &info));
    }
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    CHECK_OK(revamp_array_destroy(array));
}

TEST(a_list_of_smaller_records_is_read_with_their_stride) {
    enum { SMALL = offsetof(revamp_kernel_record, spirv_size) };
    unsigned char list[2 * SMALL];
    const char *names[] = {"first", NULL};
    const void *module = "";
    for (size_t i = 0; i < 2; i++) {
        size_t size = SMALL;
        unsigned char *at = list + i * SMALL;
        memcpy(at, &size, sizeof size);
        memcpy(at + offsetof(revamp_kernel_record, name), &names[i], sizeof names[i]);
        memcpy(at + offsetof(revamp_kernel_record, spirv), &module, sizeof module);
    }
    /* The error about the second record shows that it was read at the right address. */
    CHECK_FAILS(revamp_kernel_register((const revamp_kernel_record *)(const void *)list, 2), AS_ARGUMENT,
                "name is NULL");
    CHECK_FAILS(revamp_kernel_register((const revamp_kernel_record *)(const void *)list, SIZE_MAX), AS_ARGUMENT,
                "exceeds the address space");
    full_job();
}
