/* Tests of bad input other than bad handles. Each call returns an error status with a message that names the cause, and
 * the process continues. */
#include "support.h"
#include "system.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks that the call fails with one of these statuses and with this text, and that a small job still works. */
#define BAD(call, statuses, text)                                                                                      \
    do {                                                                                                               \
        CHECK_FAILS(call, statuses, text);                                                                             \
        small_job();                                                                                                   \
    } while (0)

static revamp_status try_create_array(revamp_accelerator_view view, uint32_t rank, const int32_t *extent,
                                      size_t element_size) {
    revamp_array array = NULL;
    revamp_status status = revamp_array_create(view, rank, extent, element_size, NULL, &array);
    CHECK(status < 0 ? !array : array != NULL);
    if (status == REVAMP_OK) CHECK_OK(revamp_array_destroy(array));
    return status;
}

TEST(invalid_array_extents) {
    static const int32_t zero[] = {4, 0}, negative[] = {-3, 4}, smallest[] = {INT32_MIN}, good[] = {4, 4};
    FOR_EACH_PLACE(p, holds_arrays) {
        int32_t *many = memory(2000 * sizeof *many);
        for (int i = 0; i < 2000; i++)
            many[i] = 1;
        BAD(try_create_array(p->view, 2, zero, 4), AS_BAD, "0");
        BAD(try_create_array(p->view, 2, negative, 4), AS_BAD, "-3");
        BAD(try_create_array(p->view, 1, smallest, 4), AS_BAD, "-2147483648");
        BAD(try_create_array(p->view, 0, good, 4), AS_BAD, "rank is 0");
        BAD(try_create_array(p->view, 2000, many, 4), AS_BAD, "2000");
        BAD(try_create_array(p->view, UINT32_MAX, many, 4), AS_BAD, "4294967295");
        BAD(try_create_array(p->view, 2, NULL, 4), AS_BAD, "extent is NULL");
        CHECK_OK(try_create_array(p->view, 1000, many, 4));
    }
    full_job();
}

TEST(invalid_element_sizes) {
    static const int32_t good[] = {4, 4};
    FOR_EACH_PLACE(p, holds_arrays) BAD(try_create_array(p->view, 2, good, 0), AS_BAD, "the element size is 0 bytes");
    full_job();
}

TEST(sizes_that_overflow) {
    static const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}, one[] = {1};
    FOR_EACH_PLACE(p, holds_arrays) {
        BAD(try_create_array(p->view, 4, huge, 4), AS_BAD | AS_MEMORY, "");
        BAD(try_create_array(p->view, 3, huge, 64), AS_BAD | AS_MEMORY, "");
        BAD(try_create_array(p->view, 2, huge, 1024), AS_BAD | AS_MEMORY, "");
        BAD(try_create_array(p->view, 1, one, SIZE_MAX - 3), AS_BAD | AS_MEMORY, "");
        BAD(try_create_array(p->view, 1, one, (size_t)1 << 63), AS_BAD | AS_MEMORY, "");
        BAD(try_create_array(p->view, 1, huge, (size_t)1 << 40), AS_BAD | AS_MEMORY, "");
    }
    full_job();
}

TEST(arrays_larger_than_memory_are_refused) {
    /* 64 TiB: more memory than any machine has, but within the address space. */
    static const int32_t extent[] = {1 << 20, 1 << 24};
    FOR_EACH_PLACE(p, holds_arrays)
    for (int i = 0; i < 3; i++) {
        BAD(try_create_array(p->view, 2, extent, 4), AS_MEMORY, "70368744177664");
        CHECK_NUMBER((uint32_t)revamp_last_error_hresult(), 0x8007000E);
    }
    full_job();
}

static revamp_status create_with_options(const revamp_array_options *options) {
    int32_t extent = 4;
    revamp_array array = NULL;
    revamp_status status = revamp_array_create(cpu_view(), 1, &extent, 4, options, &array);
    if (status == REVAMP_OK) revamp_array_destroy(array);
    return status;
}

TEST(invalid_array_options) {
    static const char bad_utf8[] = {'a', (char)0xFF, (char)0xC0, 0};
    revamp_array_options options = {0};
    int32_t extent = 4;
    BAD(create_with_options(&options), AS_ARGUMENT, "struct_size");
    CHECK_TEXT(revamp_last_error_message(), "revamp_array_options");
    options.struct_size = sizeof options + 8;
    BAD(create_with_options(&options), AS_ARGUMENT, "struct_size");
    options.struct_size = 7;
    BAD(create_with_options(&options), AS_ARGUMENT, "struct_size");
    options.struct_size = SIZE_MAX;
    BAD(create_with_options(&options), AS_ARGUMENT, "struct_size");
    options.struct_size = sizeof options;
    options.has_cpu_access_type = true;
    options.cpu_access_type = 7;
    BAD(create_with_options(&options), AS_ARGUMENT, "0x7");
    options.cpu_access_type = REVAMP_ACCESS_READ_WRITE;
    options.associated_view = cpu_view();
    BAD(create_with_options(&options), AS_BAD, "access");
    options.has_cpu_access_type = false;
    options.associated_view = NULL;
    options.label = bad_utf8;
    BAD(create_with_options(&options), AS_ARGUMENT, "UTF-8");
    options.label = NULL;
    /* A struct of an older version is smaller. Its missing fields count as zero. */
    options.struct_size = sizeof options.struct_size;
    CHECK_OK(create_with_options(&options));
    BAD(revamp_array_create(cpu_view(), 1, &extent, 4, NULL, NULL), AS_ARGUMENT, "array is NULL");
}

/* Output and input pointers that are NULL. */

TEST(null_outputs) {
    revamp_array array = array_1d(cpu_view(), 4, 4);
    revamp_accelerator_view view = cpu_view();
    revamp_accelerator cpu = find("cpu"), list[4];
    revamp_region a = whole(array);
    uint32_t bytes[4] = {0};
    size_t count = 0;
    BAD(revamp_accelerator_list(list, 4, NULL), AS_ARGUMENT, "count is NULL");
    BAD(revamp_accelerator_list(NULL, 4, &count), AS_ARGUMENT, "accelerators is NULL");
    BAD(revamp_accelerator_list_offered(false, list, 4, NULL), AS_ARGUMENT, "count is NULL");
    BAD(revamp_accelerator_list_offered(true, NULL, 4, &count), AS_ARGUMENT, "accelerators is NULL");
    BAD(revamp_accelerator_find("cpu", NULL), AS_ARGUMENT, "accelerator is NULL");
    BAD(revamp_accelerator_get_default(REVAMP_CODE_HOST, NULL), AS_ARGUMENT, "accelerator is NULL");
    BAD(revamp_accelerator_get_info(cpu, NULL), AS_ARGUMENT, "revamp_accelerator_info is NULL");
    BAD(revamp_accelerator_get_memory_usage(cpu, NULL), AS_ARGUMENT, "revamp_memory_usage is NULL");
    BAD(revamp_accelerator_get_default_view(cpu, NULL), AS_ARGUMENT, "view is NULL");
    BAD(revamp_accelerator_create_view(cpu, REVAMP_QUEUING_MODE_AUTOMATIC, NULL), AS_ARGUMENT, "view is NULL");
    BAD(revamp_accelerator_get_auto_selection_view(NULL), AS_ARGUMENT, "view is NULL");
    BAD(revamp_accelerator_view_get_info(view, NULL), AS_ARGUMENT, "revamp_accelerator_view_info is NULL");
    BAD(revamp_accelerator_view_create_marker(view, NULL), AS_ARGUMENT, "marker is NULL");
    BAD(revamp_array_get_info(array, NULL), AS_ARGUMENT, "revamp_array_info is NULL");
    BAD(revamp_array_data(array, REVAMP_ACCESS_READ, NULL), AS_ARGUMENT, "data is NULL");
    BAD(revamp_copy_async(&a, &a, NULL, NULL), AS_ARGUMENT, "completion is NULL");
    BAD(revamp_completion_create(NULL), AS_ARGUMENT, "completion is NULL");
    BAD(revamp_user_create(NULL), AS_ARGUMENT, "user is NULL");
    BAD(revamp_dispatch_async(NULL, NULL, NULL, NULL, NULL), AS_ARGUMENT, "completion is NULL");
    BAD(revamp_parallel_for_each_async(NULL, NULL, NULL, NULL), AS_ARGUMENT, "completion is NULL");
    BAD(revamp_copy_to_array_async(bytes, 16, array, NULL, NULL), AS_ARGUMENT, "completion is NULL");
    BAD(revamp_copy_from_array_async(array, bytes, 16, NULL, NULL), AS_ARGUMENT, "completion is NULL");
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_array device = array_1d(p->view, 4, 4);
        revamp_kernel step = load(p->accelerator, &step_module);
        BAD(revamp_array_device_address(device, NULL), AS_ARGUMENT, "address is NULL");
        BAD(revamp_kernel_get_info(step, NULL), AS_ARGUMENT, "revamp_kernel_info is NULL");
        BAD(revamp_kernel_get_binding(step, 0, NULL), AS_ARGUMENT, "revamp_binding_info is NULL");
        BAD(try_load(p->accelerator, step_module.words, step_module.size, NULL, NULL), AS_ARGUMENT, "kernel is NULL");
        BAD(revamp_kernel_find(p->accelerator, "any", NULL), AS_ARGUMENT, "kernel is NULL");
        CHECK_OK(revamp_kernel_release(step));
        CHECK_OK(revamp_array_destroy(device));
    }
    CHECK_OK(revamp_array_destroy(array));
}

TEST(null_inputs) {
    revamp_array array = array_1d(cpu_view(), 4, 4);
    revamp_region a = whole(array);
    revamp_accelerator found = NULL;
    revamp_completion marker = NULL;
    uint32_t bytes[4] = {0};
    int32_t four = 4;
    revamp_region host = host_region(NULL, 1, &four, 4), no_extent = host_region(bytes, 1, NULL, 4);
    BAD(revamp_accelerator_find(NULL, &found), AS_ARGUMENT, "device_path is NULL");
    BAD(revamp_accelerator_set_default(NULL, NULL), AS_ARGUMENT, "device_path is NULL");
    BAD(revamp_copy(NULL, &a), AS_ARGUMENT, "source of the copy is NULL");
    BAD(revamp_copy(&a, NULL), AS_ARGUMENT, "destination of the copy is NULL");
    BAD(revamp_copy(&host, &a), AS_ARGUMENT, "NULL");
    BAD(revamp_copy(&a, &host), AS_ARGUMENT, "NULL");
    BAD(revamp_copy(&a, &no_extent), AS_ARGUMENT, "extent");
    BAD(revamp_copy_to_array(NULL, 16, array), AS_ARGUMENT, "NULL");
    BAD(revamp_copy_from_array(array, NULL, 16), AS_ARGUMENT, "NULL");
    BAD(revamp_parallel_for_each(host_view(), NULL), AS_ARGUMENT, "revamp_parallel_for_each_info is NULL");
    REQUIRE_OK(revamp_accelerator_view_create_marker(cpu_view(), &marker));
    BAD(revamp_completion_then(marker, NULL, NULL), AS_ARGUMENT, "callback is NULL");
    BAD(revamp_completion_error_message(marker, NULL, 5, NULL), AS_ARGUMENT, "text is NULL");
    BAD(revamp_kernel_register(NULL, 1), AS_ARGUMENT, "records is NULL");
    BAD(revamp_parallel_for_each_async(host_view(), NULL, NULL, &marker), AS_ARGUMENT,
        "revamp_parallel_for_each_info is NULL");
    revamp_async_options no_list = {0}, long_list = {0};
    no_list.struct_size = long_list.struct_size = sizeof no_list;
    no_list.after_count = 1;
    BAD(revamp_copy_async(&a, &a, &no_list, &marker), AS_ARGUMENT, "after is NULL");
    long_list.after = &marker;
    long_list.after_count = SIZE_MAX;
    BAD(revamp_copy_async(&a, &a, &long_list, &marker), AS_ARGUMENT, "after has a count");
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = NULL;
        revamp_kernel step = load(p->accelerator, &step_module);
        BAD(revamp_kernel_create(p->accelerator, NULL, &kernel), AS_ARGUMENT, "revamp_kernel_options is NULL");
        BAD(try_load(p->accelerator, NULL, 100, NULL, &kernel), AS_ARGUMENT, "spirv is NULL");
        BAD(revamp_kernel_find(p->accelerator, NULL, &kernel), AS_ARGUMENT, "name is NULL");
        BAD(revamp_dispatch(p->view, step, NULL), AS_ARGUMENT, "revamp_dispatch_info is NULL");
        BAD(revamp_dispatch_async(p->view, step, NULL, NULL, &marker), AS_ARGUMENT, "revamp_dispatch_info is NULL");
        BAD(launch(p->view, step, 1, &four, NULL, 1), AS_ARGUMENT, "arguments is NULL");
        revamp_argument push = revamp_argument_push_constant(0, NULL, 4);
        BAD(launch(p->view, step, 1, &four, &push, 1), AS_ARGUMENT, "data is NULL");
        revamp_argument constant = revamp_argument_specialization(0, NULL, 4);
        BAD(launch(p->view, step, 1, &four, &constant, 1), AS_ARGUMENT, "data is NULL");
        CHECK_OK(revamp_kernel_release(step));
    }
    CHECK_OK(revamp_completion_release(marker));
    CHECK_OK(revamp_array_destroy(array));
}

/* Structs of unknown size, and invalid enumerators. */

TEST(struct_sizes) {
    static const size_t sizes[] = {0, 4, 4096, SIZE_MAX};
    revamp_array array = array_1d(cpu_view(), 4, 4);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        revamp_accelerator_info accelerator = {0};
        revamp_memory_usage usage = {0};
        revamp_accelerator_view_info view = {0};
        revamp_array_info info = {0};
        revamp_region region = whole(array);
        revamp_parallel_for_each_info launch_info = {0};
        usage.struct_size = accelerator.struct_size = view.struct_size = info.struct_size = region.struct_size =
            launch_info.struct_size = sizes[i];
        BAD(revamp_accelerator_get_info(find("cpu"), &accelerator), AS_ARGUMENT, "revamp_accelerator_info.struct_size");
        BAD(revamp_accelerator_get_memory_usage(find("cpu"), &usage), AS_ARGUMENT, "revamp_memory_usage.struct_size");
        BAD(revamp_accelerator_view_get_info(cpu_view(), &view), AS_ARGUMENT,
            "revamp_accelerator_view_info.struct_size");
        BAD(revamp_array_get_info(array, &info), AS_ARGUMENT, "revamp_array_info.struct_size");
        BAD(revamp_copy(&region, &region), AS_ARGUMENT, "revamp_region.struct_size");
        BAD(revamp_parallel_for_each(host_view(), &launch_info), AS_ARGUMENT,
            "revamp_parallel_for_each_info.struct_size");
        FOR_EACH_PLACE(p, runs_spirv) {
            revamp_kernel kernel = load(p->accelerator, &step_module), second = NULL;
            revamp_kernel_options options = {0};
            revamp_dispatch_info dispatch = {0};
            revamp_kernel_info kernel_info = {0};
            revamp_binding_info binding = {0};
            options.struct_size = dispatch.struct_size = kernel_info.struct_size = binding.struct_size = sizes[i];
            BAD(revamp_kernel_create(p->accelerator, &options, &second), AS_ARGUMENT,
                "revamp_kernel_options.struct_size");
            BAD(revamp_dispatch(p->view, kernel, &dispatch), AS_ARGUMENT, "revamp_dispatch_info.struct_size");
            BAD(revamp_kernel_get_info(kernel, &kernel_info), AS_ARGUMENT, "revamp_kernel_info.struct_size");
            BAD(revamp_kernel_get_binding(kernel, 0, &binding), AS_ARGUMENT, "revamp_binding_info.struct_size");
            CHECK_OK(revamp_kernel_release(kernel));
        }
    }
    CHECK_OK(revamp_array_destroy(array));
}

TEST(info_structs_of_an_older_program_are_filled_up_to_their_size) {
    revamp_array array = array_1d(cpu_view(), 4, 4);
    revamp_array_info info;
    memset(&info, 0xAA, sizeof info);
    info.struct_size = offsetof(revamp_array_info, element_count);
    CHECK_OK(revamp_array_get_info(array, &info));
    CHECK_NUMBER(info.rank, 1);
    CHECK_NUMBER(info.element_size, 4);
    CHECK(info.element_count == UINT64_C(0xAAAAAAAAAAAAAAAA));
    CHECK_NUMBER(info.struct_size, offsetof(revamp_array_info, element_count));
    CHECK_OK(revamp_array_destroy(array));
}

static void ignore_message(revamp_log_level level, const char *message, void *context) {
    (void)level;
    (void)message;
    (void)context;
}

TEST(enumerators) {
    revamp_accelerator found = NULL;
    revamp_accelerator_view view = NULL;
    revamp_array array = array_1d(cpu_view(), 4, 4);
    void *data = NULL;
    BAD(revamp_accelerator_get_default(2, &found), AS_ARGUMENT, "2");
    BAD(revamp_accelerator_create_view(find("cpu"), 2, &view), AS_ARGUMENT, "2");
    BAD(revamp_accelerator_create_view(find("cpu"), UINT32_MAX, &view), AS_ARGUMENT, "4294967295");
    BAD(revamp_array_data(array, 4, &data), AS_ARGUMENT, "0x4");
    BAD(revamp_array_data(array, REVAMP_ACCESS_NONE, &data), AS_BAD, "access");
    BAD(revamp_array_data(array, REVAMP_ACCESS_AUTO, &data), AS_BAD, "access");
    BAD(revamp_accelerator_set_default_cpu_access_type(find("cpu"), 12, NULL), AS_ARGUMENT, "0xc");
    BAD(revamp_set_log_callback(ignore_message, NULL, 5), AS_ARGUMENT, "5");
    CHECK(!data && !view && !found);
    FOR_EACH_PLACE(p, runs_spirv) {
        int32_t extent = 4;
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_argument unknown = REVAMP_ARGUMENT_INIT;
        BAD(launch(p->view, step, 1, &extent, &unknown, 1), AS_ARGUMENT, "argument 0");
        unknown.kind = 99;
        BAD(launch(p->view, step, 1, &extent, &unknown, 1), AS_ARGUMENT, "99");
        revamp_array device = array_1d(p->view, 4, 4);
        revamp_argument access = with_access(revamp_argument_buffer(0, device), 8);
        BAD(launch(p->view, step, 1, &extent, &access, 1), AS_ARGUMENT, "0x8");
        CHECK_OK(revamp_array_destroy(device));
        CHECK_OK(revamp_kernel_release(step));
    }
    CHECK_OK(revamp_array_destroy(array));
}

TEST(misaligned_lists) {
    /* Both lists begin at misaligned addresses. */
    char *bytes = memory(256);
    const int32_t *extent = (const int32_t *)(void *)(bytes + 1);
    bytes[1] = 4;
    BAD(try_create_array(cpu_view(), 1, extent, 4), AS_ARGUMENT, "aligned");
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        int32_t four = 4;
        const revamp_argument *arguments = (const revamp_argument *)(void *)(bytes + 2);
        size_t size = sizeof *arguments;
        memcpy(bytes + 2, &size, sizeof size);
        BAD(launch(p->view, step, 1, &four, arguments, 1), AS_ARGUMENT, "aligned");
        BAD(launch(p->view, step, 1, &four, (const revamp_argument *)(void *)bytes, SIZE_MAX), AS_ARGUMENT,
            "arguments");
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Regions. */

TEST(invalid_host_regions) {
    static const int32_t two[] = {2, 2}, bad_extent[] = {2, -2}, zero[] = {0, 2};
    uint32_t bytes[64] = {0};
    revamp_array array = array_of(cpu_view(), 2, two, 4);
    revamp_region here = host_region(bytes, 2, two, 4), there = whole(array);
    here.host_rank = 0;
    BAD(revamp_copy(&here, &there), AS_BAD, "rank is 0");
    here.host_rank = 5000;
    BAD(revamp_copy(&here, &there), AS_BAD, "5000");
    here = host_region(bytes, 2, bad_extent, 4);
    BAD(revamp_copy(&here, &there), AS_BAD, "-2");
    here = host_region(bytes, 2, zero, 4);
    BAD(revamp_copy(&here, &there), AS_BAD, "0");
    here = host_region(bytes, 2, two, 0);
    BAD(revamp_copy(&here, &there), AS_BAD, "element");
    here = host_region(bytes, 2, two, 3);
    BAD(revamp_copy(&here, &there), AS_BAD, "element");
    here = host_region(bytes, 2, two, 4);
    here.host_strides = (const int64_t[]){-8, 4};
    BAD(revamp_copy(&here, &there), AS_BAD, "stride");
    here.host_strides = (const int64_t[]){INT64_MAX, INT64_MAX};
    BAD(revamp_copy(&here, &there), AS_BAD, "");
    here.host_strides = (const int64_t[]){4, 4};
    /* Overlapping elements may be read, but not written. */
    BAD(revamp_copy(&there, &here), AS_BAD, "stride");
    here.host_strides = (const int64_t[]){64, 4};
    here.host_size = 64;
    BAD(revamp_copy(&here, &there), AS_BAD, "72");
    here.host_size = 72;
    CHECK_OK(revamp_copy(&here, &there));
    here.host_source = bytes;
    BAD(revamp_copy(&here, &there), AS_ARGUMENT, "host_source");
    here.host = NULL;
    CHECK_OK(revamp_copy(&here, &there));
    BAD(revamp_copy(&there, &here), AS_ARGUMENT, "host_source");
    CHECK_OK(revamp_array_destroy(array));
}

TEST(sections_outside_of_arrays) {
    static const int32_t all[] = {4, 6}, beyond[] = {4, 0}, far_origin[] = {0, INT32_MAX}, part[] = {2, 6},
                         late[] = {3, 0};
    uint32_t bytes[24] = {0};
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array array = array_of(p->view, 2, all, 4);
        revamp_region here = host_region(bytes, 2, part, 4), there = section(array, beyond, NULL);
        BAD(revamp_copy(&here, &there), AS_BAD, "destination");
        there = section(array, far_origin, part);
        BAD(revamp_copy(&here, &there), AS_BAD, "2147483647");
        there = section(array, late, part);
        BAD(revamp_copy(&there, &here), AS_BAD, "source");
        CHECK_OK(revamp_array_destroy(array));
    }
    full_job();
}

/* SPIR-V. */

static revamp_status load_and_free(revamp_accelerator accelerator, const void *spirv, size_t size,
                                   const char *entry_point) {
    revamp_kernel kernel = NULL;
    revamp_status status = try_load(accelerator, spirv, size, entry_point, &kernel);
    CHECK(status < 0 ? !kernel : kernel != NULL);
    if (status == REVAMP_OK) CHECK_OK(revamp_kernel_release(kernel));
    return status;
}

TEST(spirv_of_a_wrong_size) {
    FOR_EACH_PLACE(p, runs_spirv) {
        const module *m = &saxpy_module;
        BAD(load_and_free(p->accelerator, m->words, 0, NULL), AS_BAD, "0 bytes");
        BAD(load_and_free(p->accelerator, m->words, 4, NULL), AS_BAD, "4 bytes");
        BAD(load_and_free(p->accelerator, m->words, m->size - 1, NULL), AS_BAD, "multiple of 4");
        BAD(load_and_free(p->accelerator, m->words, 20, NULL), AS_BAD | AS_UNSUPPORTED, "");
        BAD(load_and_free(p->accelerator, m->words, m->size - 4, NULL), AS_BAD, "");
        BAD(load_and_free(p->accelerator, m->words, m->size / 8 * 4, NULL), AS_BAD, "");
    }
    full_job();
}

TEST(spirv_truncated_anywhere) {
    FOR_EACH_PLACE(p, runs_spirv) {
        size_t loaded = 0;
        for (size_t size = 0; size < step_module.size; size += 4) {
            /* A separate allocation, so that memory checkers find reads beyond its end. */
            void *bytes = malloc(size ? size : 1);
            REQUIRE(bytes);
            memcpy(bytes, step_module.words, size);
            loaded += load_and_free(p->accelerator, bytes, size, NULL) == REVAMP_OK;
            free(bytes);
        }
        CHECK_NUMBER(loaded, 0);
    }
    full_job();
}

TEST(misaligned_spirv_is_loaded_or_refused) {
    FOR_EACH_PLACE(p, runs_spirv) {
        char *bytes = memory(step_module.size + 8);
        for (int offset = 1; offset < 4; offset++) {
            memcpy(bytes + offset, step_module.words, step_module.size);
            revamp_status status = load_and_free(p->accelerator, bytes + offset, step_module.size, NULL);
            if (status != REVAMP_OK) CHECK_FAILS(status, AS_BAD, "align");
        }
    }
    full_job();
}

TEST(spirv_with_a_wrong_header) {
    FOR_EACH_PLACE(p, runs_spirv) {
        size_t size = step_module.size;
        uint32_t *words = memory(size);
        memcpy(words, step_module.words, size);
        words[0] = 0x12345678;
        BAD(load_and_free(p->accelerator, words, size, NULL), AS_BAD, "0x12345678");
        words[0] = 0x7F454C46;
        BAD(load_and_free(p->accelerator, words, size, NULL), AS_BAD, "SPIR-V");
        words[0] = step_module.words[0];
        words[1] = 0x00630000;
        BAD(load_and_free(p->accelerator, words, size, NULL), AS_BAD | AS_UNSUPPORTED, "version");
        words[1] = step_module.words[1];
        words[3] = 0;
        BAD(load_and_free(p->accelerator, words, size, NULL), AS_BAD, "bound");
        words[3] = UINT32_MAX;
        BAD(load_and_free(p->accelerator, words, size, NULL), AS_BAD, "bound");
        BAD(load_and_free(p->accelerator, "#version 450\nvoid main() {}\n   ", 32, NULL), AS_BAD, "SPIR-V");
    }
    full_job();
}

TEST(spirv_entry_points) {
    static const char bad_utf8[] = {'m', (char)0xFF, 0};
    FOR_EACH_PLACE(p, runs_spirv) {
        const module *m = &step_module;
        BAD(load_and_free(p->accelerator, m->words, m->size, "nowhere"), AS_BAD, "nowhere");
        CHECK_TEXT(revamp_last_error_message(), "main");
        BAD(load_and_free(p->accelerator, m->words, m->size, ""), AS_BAD, "main");
        BAD(load_and_free(p->accelerator, m->words, m->size, bad_utf8), AS_ARGUMENT, "UTF-8");
        BAD(load_and_free(p->accelerator, two_entries_module.words, two_entries_module.size, NULL), AS_BAD, "two");
        CHECK_OK(load_and_free(p->accelerator, m->words, m->size, "main"));
    }
    full_job();
}

static void mutate(uint32_t *words, size_t count, uint32_t *state) {
    uint32_t changes = 1 + random_number(state) % 4;
    while (changes-- > 0) {
        size_t at = random_number(state) % count;
        switch (random_number(state) % 5) {
        case 0:
            words[at] ^= 1U << random_number(state) % 32;
            break;
        case 1:
            words[at] = random_number(state);
            break;
        case 2:
            words[at] = words[random_number(state) % count];
            break;
        case 3:
            words[at] = words[at] + 1;
            break;
        default:
            words[at] = random_number(state) % 64;
            break;
        }
    }
}

/* Loads mutated modules but does not run them: drivers may do anything with modules that pass every check. */
static void check_mutants(const place *p, const module *m, uint32_t seed, int rounds) {
    unsigned allowed = AS_BAD | AS_UNSUPPORTED | (has_validation() ? AS_VALIDATION : 0);
    for (int round = 0; round < rounds; round++) {
        uint32_t state = seed * 7919 + (uint32_t)round * 104729 + 1;
        size_t size = m->size;
        uint32_t *words = malloc(size);
        REQUIRE(words);
        memcpy(words, m->words, size);
        mutate(words, size / 4, &state);
        if (round % 7 == 0) size = 4 * (random_number(&state) % (size / 4));
        revamp_status status = load_and_free(p->accelerator, words, size, NULL);
        if (status != REVAMP_OK && !CHECK_FAILS(status, allowed, ""))
            printf("seed %u, round %d\n", (unsigned)seed, round);
        free(words);
    }
}

TEST(spirv_mutated) {
    static const module *const modules[] = {&saxpy_module,   &sets_module,        &factor_module,      &address_module,
                                            &pointer_module, &coverage_3d_module, &two_entries_module, &doubles_module};
    FOR_EACH_PLACE(p, runs_spirv)
    for (size_t i = 0; i < COUNT(modules); i++)
        check_mutants(p, modules[i], (uint32_t)i + 1, 100);
    if (!has_validation()) full_job();
}

static void do_nothing(const revamp_thread_id *id, void *context) {
    (void)id;
    (void)context;
}

/* Most sizes exceed the address space. `mapped_size` is the size of a mapped region that is too large to be copied. */
TEST(too_large_input_sizes_are_refused) {
    const size_t mapped_size = (size_t)100 << 40;
    void *zeros = reserve_zeros(mapped_size);
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)1 << 57, mapped_size};
    int32_t four = 4;
    FOR_EACH_PLACE(p, runs_spirv)
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const void *data = &four;
        size_t size = sizes[i];
        if (size == mapped_size) {
            if (!zeros) break;
            data = zeros;
        }
        unsigned bad = size == mapped_size ? AS_ARGUMENT | AS_MEMORY : AS_ARGUMENT;
        revamp_kernel step = load(p->accelerator, &step_module), factor = load(p->accelerator, &factor_module);
        revamp_kernel block = load(p->accelerator, &address_module);
        revamp_array array = array_1d(p->view, 4, 4);
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.extent = &four;
        info.rank = 1;
        info.arguments = data;
        info.argument_count = size;
        BAD(revamp_dispatch(p->view, step, &info), bad, "arguments");
        info.argument_count = 65537;
        BAD(revamp_dispatch(p->view, step, &info), AS_ARGUMENT, "65537 arguments");
        info.argument_count = 0;
        info.block = data;
        info.block_size = size;
        BAD(revamp_dispatch(p->view, block, &info), bad, "");
        revamp_argument argument = revamp_argument_push_constant(0, data, size);
        BAD(launch(p->view, step, 1, &four, &argument, 1), bad, "");
        argument = revamp_argument_specialization(0, data, size);
        BAD(launch(p->view, factor, 1, &four, &argument, 1), bad, "");
        argument = revamp_argument_address(0, array, REVAMP_ACCESS_READ_WRITE);
        argument.kind = REVAMP_ARGUMENT_INDIRECT;
        argument.data = data;
        argument.size = size;
        uint64_t eight = 0;
        info.block = &eight;
        info.block_size = 8;
        info.arguments = &argument;
        info.argument_count = 1;
        BAD(revamp_dispatch(p->view, block, &info), bad, "");
        BAD(load_and_free(p->accelerator, data, size, NULL), bad, "");
        revamp_kernel_record record = {sizeof record, "huge.kernel", data, size};
        BAD(revamp_kernel_register(&record, 1), bad, "");
        BAD(revamp_kernel_register(&record, size), bad, "");
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(step));
        CHECK_OK(revamp_kernel_release(factor));
        CHECK_OK(revamp_kernel_release(block));
    }
    FOR_EACH_PLACE(p, runs_host_kernels)
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const void *data = sizes[i] == mapped_size ? zeros : &four;
        if (!data) break;
        revamp_parallel_for_each_info info = {0};
        info.struct_size = sizeof info;
        info.function = do_nothing;
        info.extent = &four;
        info.rank = 1;
        info.arguments = data;
        info.argument_count = sizes[i];
        BAD(revamp_parallel_for_each(p->view, &info), AS_ARGUMENT, "arguments");
        info.argument_count = 0;
        info.block = data;
        info.block_size = sizes[i];
        BAD(revamp_parallel_for_each(p->view, &info), AS_ARGUMENT | AS_MEMORY, "");
    }
    if (zeros) unmap_pages(zeros, mapped_size);
    full_job();
}

TEST(too_long_strings_are_refused) {
    const size_t length = (1 << 20) + 1;
    char *text = memory(length + 1);
    memset(text, 'a', length);
    text[length] = 0;
    revamp_accelerator found = NULL;
    BAD(revamp_accelerator_find(text, &found), AS_ARGUMENT, "1048577 bytes");
    text[length - 1] = 0;
    BAD(revamp_accelerator_find(text, &found), AS_BAD, "no accelerator");
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = NULL;
        BAD(revamp_kernel_find(p->accelerator, text, &kernel), AS_BAD, "no kernel");
        BAD(load_and_free(p->accelerator, step_module.words, step_module.size, text), AS_BAD, "no entry point");
    }
}

TEST(invalid_kernel_records) {
    static const uint32_t nothing[4] = {0};
    revamp_kernel_record record = {sizeof record, "bad.kernel", nothing, sizeof nothing};
    record.struct_size = 3;
    BAD(revamp_kernel_register(&record, 1), AS_ARGUMENT, "struct_size");
    record.struct_size = sizeof record;
    record.name = NULL;
    BAD(revamp_kernel_register(&record, 1), AS_ARGUMENT, "name is NULL");
    record.name = "bad.kernel";
    record.spirv = NULL;
    BAD(revamp_kernel_register(&record, 1), AS_ARGUMENT, "spirv is NULL");
    record.spirv = nothing;
    CHECK_OK(revamp_kernel_register(&record, 1));
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = NULL;
        BAD(revamp_kernel_find(p->accelerator, "bad.kernel", &kernel), AS_BAD, "bad.kernel");
    }
    CHECK_OK(revamp_kernel_unregister(&record, 1));
    /* Unregistering twice is harmless. */
    CHECK_OK(revamp_kernel_unregister(&record, 1));
}

TEST(launches_with_bad_domains) {
    int32_t *many = memory(2000 * sizeof *many), four = 4;
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel empty = load(p->accelerator, &empty_module);
        BAD(launch(p->view, empty, 0, many, NULL, 0), AS_BAD | AS_DOMAIN, "rank is 0");
        BAD(launch(p->view, empty, 2000, many, NULL, 0), AS_BAD | AS_DOMAIN, "2000");
        BAD(launch_groups(p->view, empty, 0, 0, 0, NULL, 0), AS_DOMAIN, "0");
        CHECK_OK(launch(p->view, empty, 1, &four, NULL, 0));
        CHECK_OK(revamp_kernel_release(empty));
    }
    full_job();
}

TEST(host_launches_with_bad_fields) {
    int32_t four = 4;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_BAD, "function");
    info.rank = 1;
    info.extent = &four;
    BAD(revamp_parallel_for_each(host_view(), &info), AS_BAD, "function is NULL");
    full_job();
}

/* Error messages, and strings as input. */

TEST(a_message_stays_valid_until_the_next_query) {
    revamp_accelerator found = NULL;
    CHECK_FAILS(revamp_accelerator_find("first path", &found), AS_RUNTIME, "first path");
    const char *first = revamp_last_error_message();
    CHECK(revamp_array_destroy(NULL) == REVAMP_ERROR_INVALID_HANDLE);
    CHECK_TEXT(first, "first path");
    CHECK_TEXT(revamp_last_error_message(), "null");
    small_job();
    /* A successful call does not change the last error. */
    CHECK_NUMBER(revamp_last_error_status(), REVAMP_ERROR_INVALID_HANDLE);
}

TEST(unusual_strings) {
    revamp_accelerator found = NULL;
    char *longest = memory(1 << 20);
    memset(longest, 'x', (1 << 20) - 1);
    BAD(revamp_accelerator_find(longest, &found), AS_RUNTIME, "xxx");
    BAD(revamp_accelerator_find("\xFF\xFE", &found), AS_ARGUMENT, "UTF-8");
    BAD(revamp_accelerator_find("%s%n%p", &found), AS_RUNTIME, "%s%n%p");
    BAD(revamp_accelerator_find("cpu ", &found), AS_RUNTIME, "cpu");
    CHECK(!found);
}
