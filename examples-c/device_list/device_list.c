/* Lists the accelerators of this machine with their properties. Adds information for bug reports: the settings, and the
 * library's log of its search for devices (versions, memory, missing features).
 * With --kernels: prints the driver's statistics for the kernels of a program, without running the program.
 * Installed as revamp-info. */
#include <revamp.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) fail(#call);                                                                          \
    } while (0)

static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, revamp_last_error_message());
    exit(EXIT_FAILURE);
}

static const char *kind_name(revamp_accelerator_kind kind) {
    switch (kind) {
    case REVAMP_ACCELERATOR_CPU:
        return "cpu";
    case REVAMP_ACCELERATOR_HOST_THREADS:
        return "host threads";
    case REVAMP_ACCELERATOR_VULKAN:
        return "Vulkan";
    default:
        return "unknown";
    }
}

static const char *type_name(revamp_device_type type) {
    switch (type) {
    case REVAMP_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated GPU";
    case REVAMP_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete GPU";
    case REVAMP_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual GPU";
    case REVAMP_DEVICE_TYPE_CPU:
        return "processors";
    default:
        return "other";
    }
}

static const char *access_name(revamp_access access) {
    switch (access) {
    case REVAMP_ACCESS_NONE:
        return "none";
    case REVAMP_ACCESS_READ:
        return "read";
    case REVAMP_ACCESS_WRITE:
        return "write";
    case REVAMP_ACCESS_READ_WRITE:
        return "read and write";
    default:
        return "automatic";
    }
}

static const char *yes_no(bool value) {
    return value ? "yes" : "no";
}

static const char *double_support(const revamp_accelerator_info *info) {
    if (info->supports_double_precision) return "full";
    return info->supports_limited_double_precision ? "limited" : "no";
}

static revamp_accelerator_info info_of(revamp_accelerator accelerator) {
    revamp_accelerator_info info = {0};
    info.struct_size = sizeof info;
    CHECK(revamp_accelerator_get_info(accelerator, &info));
    return info;
}

static revamp_accelerator *list_accelerators(size_t *count) {
    CHECK(revamp_accelerator_list(NULL, 0, count));
    revamp_accelerator *all = calloc(*count, sizeof *all);
    if (!all) exit(EXIT_FAILURE);
    CHECK(revamp_accelerator_list(all, *count, count));
    return all;
}

static void print_row(size_t number, const revamp_accelerator_info *info) {
    printf("%2zu  %-12s  %10.2f  %-8s  %-7s  %s%s\n", number, kind_name(info->kind),
           (double)info->dedicated_memory / (1024 * 1024), yes_no(info->is_emulated), double_support(info),
           info->description, info->unusable_reason ? " (unusable)" : "");
}

static void print_kernel_limits(const revamp_accelerator_info *info) {
    if (info->max_workgroup_invocations == 0) {
        printf("    runs kernels         no\n");
        return;
    }
    printf("    workgroup            at most %" PRIu32 " invocations, %" PRIu32 " x %" PRIu32 " x %" PRIu32 "\n",
           info->max_workgroup_invocations, info->max_workgroup_size[0], info->max_workgroup_size[1],
           info->max_workgroup_size[2]);
    if (info->max_workgroup_memory) printf("    workgroup memory     %" PRIu32 " bytes\n", info->max_workgroup_memory);
    if (info->kind != REVAMP_ACCELERATOR_VULKAN) return;
    printf("    push constants       %" PRIu32 " bytes\n", info->max_push_constants);
    printf("    storage buffer       at most %" PRIu64 " bytes, sections aligned to %" PRIu64 "\n",
           info->max_storage_buffer_range, info->min_storage_buffer_alignment);
}

static void print_features(revamp_features features) {
    static const struct {
        revamp_features bit;
        const char *name;
    } all[] = {{REVAMP_FEATURE_STORAGE_8BIT, "storage 8bit"},
               {REVAMP_FEATURE_STORAGE_16BIT, "storage 16bit"},
               {REVAMP_FEATURE_UNIFORM_8BIT, "uniform 8bit"},
               {REVAMP_FEATURE_UNIFORM_16BIT, "uniform 16bit"},
               {REVAMP_FEATURE_PUSH_CONSTANT_8BIT, "push constant 8bit"},
               {REVAMP_FEATURE_PUSH_CONSTANT_16BIT, "push constant 16bit"},
               {REVAMP_FEATURE_INT8, "int8"},
               {REVAMP_FEATURE_INT16, "int16"},
               {REVAMP_FEATURE_INT64, "int64"},
               {REVAMP_FEATURE_FLOAT16, "float16"},
               {REVAMP_FEATURE_FLOAT64, "float64"},
               {REVAMP_FEATURE_INT64_ATOMICS, "int64 atomics"},
               {REVAMP_FEATURE_SHARED_INT64_ATOMICS, "shared int64 atomics"},
               {REVAMP_FEATURE_FLOAT32_ATOMICS, "float32 atomics"},
               {REVAMP_FEATURE_FLOAT32_ATOMIC_ADD, "float32 atomic add"},
               {REVAMP_FEATURE_FLOAT64_ATOMICS, "float64 atomics"},
               {REVAMP_FEATURE_FLOAT64_ATOMIC_ADD, "float64 atomic add"},
               {REVAMP_FEATURE_SHARED_FLOAT32_ATOMICS, "shared float32 atomics"},
               {REVAMP_FEATURE_SHARED_FLOAT32_ATOMIC_ADD, "shared float32 atomic add"},
               {REVAMP_FEATURE_SHARED_FLOAT64_ATOMICS, "shared float64 atomics"},
               {REVAMP_FEATURE_SHARED_FLOAT64_ATOMIC_ADD, "shared float64 atomic add"},
               {REVAMP_FEATURE_SCALAR_LAYOUT, "scalar layout"},
               {REVAMP_FEATURE_MEMORY_MODEL, "memory model"},
               {REVAMP_FEATURE_VARIABLE_POINTERS, "variable pointers"},
               {REVAMP_FEATURE_DOT_PRODUCT, "dot product"},
               {REVAMP_FEATURE_SUBGROUP_VOTE, "subgroup vote"},
               {REVAMP_FEATURE_SUBGROUP_ARITHMETIC, "subgroup arithmetic"},
               {REVAMP_FEATURE_SUBGROUP_BALLOT, "subgroup ballot"},
               {REVAMP_FEATURE_SUBGROUP_SHUFFLE, "subgroup shuffle"},
               {REVAMP_FEATURE_SUBGROUP_SHUFFLE_RELATIVE, "subgroup shuffle relative"},
               {REVAMP_FEATURE_SUBGROUP_CLUSTERED, "subgroup clustered"},
               {REVAMP_FEATURE_SUBGROUP_QUAD, "subgroup quad"}};
    printf("    kernels may use      ");
    const char *separator = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(features & all[i].bit)) continue;
        printf("%s%s", separator, all[i].name);
        separator = ", ";
    }
    printf("\n");
}

static void print_hardware(const revamp_accelerator_info *info) {
    printf("    type                 %s\n", type_name(info->device_type));
    if (info->kind != REVAMP_ACCELERATOR_VULKAN) return;
    printf("    vendor, device       %#" PRIx32 ", %#" PRIx32 "\n", info->vendor_id, info->device_id);
    printf("    driver id, version   %" PRIu32 ", %#" PRIx32 "\n", info->driver_id, info->driver_version);
    printf("    Vulkan used          %" PRIu32 ".%" PRIu32 "\n", info->api_version >> 22,
           info->api_version >> 12 & 0x3ff);
    printf("    UUID                 ");
    for (size_t i = 0; i < sizeof info->uuid; i++)
        printf("%02x", info->uuid[i]);
    printf("\n    subgroup             %" PRIu32 " invocations, from %" PRIu32 " to %" PRIu32 "\n", info->subgroup_size,
           info->min_subgroup_size, info->max_subgroup_size);
    printf("    workgroups           at most %" PRIu32 " x %" PRIu32 " x %" PRIu32 " at a time\n",
           info->max_workgroup_count[0], info->max_workgroup_count[1], info->max_workgroup_count[2]);
    print_features(info->features);
}

static void print_details(size_t number, const revamp_accelerator_info *info) {
    printf("\n%2zu  %s\n", number, info->description);
    printf("    device path          %s\n", info->device_path);
    if (info->unusable_reason) printf("    unusable             %s\n", info->unusable_reason);
    if (info->driver && *info->driver) printf("    driver               %s\n", info->driver);
    printf("    version              %" PRIu32 ".%" PRIu32 "\n", info->version >> 16, info->version & 0xffff);
    printf("    dedicated memory     %zu KB\n", info->dedicated_memory);
    printf("    emulated             %s\n", yes_no(info->is_emulated));
    printf("    display attached     %s\n", yes_no(info->has_display));
    printf("    debug checks         %s\n", yes_no(info->is_debug));
    printf("    double precision     %s\n", double_support(info));
    printf("    memory shared        %s\n", yes_no(info->supports_cpu_shared_memory));
    printf("    default cpu access   %s\n", access_name(info->default_cpu_access_type));
    print_kernel_limits(info);
    print_hardware(info);
}

static void print_default(const char *code_name, revamp_code code) {
    revamp_accelerator accelerator;
    if (revamp_accelerator_get_default(code, &accelerator) != REVAMP_OK) {
        printf("Default for %s: none. %s\n", code_name, revamp_last_error_message());
        return;
    }
    printf("Default for %s: %s\n", code_name, info_of(accelerator).description);
}

/* Fails if `path`, the device path of `accelerator`, finds another accelerator. */
static void check_path(revamp_accelerator accelerator, const char *path) {
    revamp_accelerator found;
    CHECK(revamp_accelerator_find(path, &found));
    if (found == accelerator) return;
    fprintf(stderr, "%s is the path of another accelerator too\n", path);
    exit(EXIT_FAILURE);
}

/* The library's log messages. The library calls append_to_log() from one thread at a time. */
static char *log_text;
static size_t log_bytes;

static void append_to_log(revamp_log_level level, const char *message, void *context) {
    (void)level;
    (void)context;
    size_t size = strlen(message);
    char *longer = realloc(log_text, log_bytes + size + 6);
    if (!longer) return;
    log_text = longer;
    log_bytes += (size_t)sprintf(log_text + log_bytes, "    %s\n", message);
}

static void print_settings(void) {
    static const char *const names[] = {"CPPAMP_DEFAULT_ACCELERATOR",
                                        "REVAMP_VISIBLE_DEVICES",
                                        "REVAMP_LOG",
                                        "REVAMP_TRACE",
                                        "REVAMP_TRACE_DEVICE",
                                        "REVAMP_TRACE_LINES",
                                        "REVAMP_VALIDATION",
                                        "REVAMP_DEBUG_PRINTF",
                                        "REVAMP_CHECK",
                                        "REVAMP_MEMORY",
                                        "REVAMP_HOST_THREADS",
                                        "REVAMP_HOST_KERNELS",
                                        "REVAMP_WORKGROUPS",
                                        "REVAMP_CACHE",
                                        "REVAMP_CACHE_DIR",
                                        "REVAMP_TEST",
                                        "VK_DRIVER_FILES",
                                        "VK_ADD_DRIVER_FILES",
                                        "VK_ICD_FILENAMES",
                                        "VK_LAYER_PATH",
                                        "VK_INSTANCE_LAYERS"};
    printf("\nSettings\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value) printf("    %s=%s\n", names[i], value);
    }
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    char *bytes = NULL;
    size_t capacity = 0;
    for (*size = 0; !feof(file) && !ferror(file); *size += fread(bytes + *size, 1, capacity - *size, file)) {
        if (*size < capacity) continue;
        capacity = capacity ? 2 * capacity : 1 << 20;
        char *longer = realloc(bytes, capacity);
        if (!longer) {
            fprintf(stderr, "%s: no memory for its bytes\n", path);
            exit(EXIT_FAILURE);
        }
        bytes = longer;
    }
    if (ferror(file)) {
        fprintf(stderr, "%s: it cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return bytes;
}

struct counts {
    size_t forms, refused;
};

static void print_code(const revamp_kernel_code *code, void *context) {
    struct counts *counts = context;
    counts->forms++;
    if (*code->name)
        printf("%s%s%s%s%s\n", code->location, *code->location ? ": " : "", code->name, *code->form ? ", " : "",
               code->form);
    if (code->status != REVAMP_OK) {
        counts->refused++;
        printf("    refused: %s\n", code->message);
        return;
    }
    printf("    subgroup %" PRIu32, code->subgroup_size);
    for (size_t i = 0; i < code->statistic_count; i++)
        printf(", %s %.15g", code->statistics[i].name, code->statistics[i].value);
    printf("\n");
}

/* Returns the accelerator with this path. Without a path, returns the default accelerator for SPIR-V. If there is no
 * default, returns the first Vulkan device, which can compile kernels even if it cannot run them. */
static revamp_accelerator find_compiler(const char *path) {
    revamp_accelerator found;
    if (path) {
        CHECK(revamp_accelerator_find(path, &found));
        return found;
    }
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &found) == REVAMP_OK) return found;
    size_t count;
    revamp_accelerator *all = list_accelerators(&count);
    for (size_t i = 0; i < count; i++) {
        if (info_of(all[i]).kind != REVAMP_ACCELERATOR_VULKAN) continue;
        found = all[i];
        free(all);
        return found;
    }
    fprintf(stderr, "revamp-info: error: there is no Vulkan device whose driver could compile kernels\n");
    exit(EXIT_FAILURE);
}

/* Prints the driver's statistics for the kernels of a program. */
static int print_kernels(const char *file, const char *path) {
    size_t size;
    char *program = read_file(file, &size);
    revamp_accelerator accelerator = find_compiler(path);
    struct counts counts = {0, 0};
    printf("%s, by %s\n", file, info_of(accelerator).description);
    if (revamp_accelerator_compile(accelerator, program, size, print_code, &counts) != REVAMP_OK) fail(file);
    printf("%zu compiled, %zu refused\n", counts.forms - counts.refused, counts.refused);
    free(program);
    return counts.refused ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_version(const char *name, const char *end) {
    uint32_t version = revamp_version();
    printf("%s %" PRIu32 ".%" PRIu32 ".%" PRIu32 "%s", name, version >> 22, version >> 12 & 0x3ff, version & 0xfff,
           end);
}

/* Handles the command line. Returns the exit status, or -1 to list the accelerators. */
static int handle_arguments(int count, char **arguments) {
    if (count < 2) return -1;
    if (strcmp(arguments[1], "--kernels") == 0 && (count == 3 || count == 4))
        return print_kernels(arguments[2], arguments[3]);
    if (strcmp(arguments[1], "--version") == 0) {
        print_version("revamp-info", "\n");
        return EXIT_SUCCESS;
    }
    bool help = strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0;
    if (!help) fprintf(stderr, "revamp-info: error: unknown argument %s\n", arguments[1]);
    fprintf(help ? stdout : stderr,
            "usage: revamp-info [--help | --version | --kernels FILE [DEVICE]]\n\n"
            "Lists the accelerators that programs can use here, why others cannot be used, the "
            "environment variables that\nchange this, and the library's log.\n"
            "--kernels: what the driver of DEVICE (a device path; otherwise the default) makes of "
            "the kernels of FILE, a\nprogram, library, object file or SPIR-V module. "
            "Nothing of it is run.\n");
    return help ? EXIT_SUCCESS : 2;
}

int main(int argument_count, char **arguments) {
    int status = handle_arguments(argument_count, arguments);
    if (status >= 0) return status;
    size_t count;
    CHECK(revamp_set_log_callback(append_to_log, NULL, REVAMP_LOG_DEBUG));
    revamp_accelerator *all = list_accelerators(&count);
    print_version("revamp", "");
    printf(", %zu accelerators\n\n", count);
    printf(" #  %-12s  %10s  %-8s  %-7s  %s\n", "kind", "memory GiB", "emulated", "double", "description");
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        check_path(all[i], info.device_path);
        print_row(i, &info);
    }
    printf("\n");
    print_default("SPIR-V kernels", REVAMP_CODE_SPIRV);
    print_default("functions of the program", REVAMP_CODE_HOST);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        print_details(i, &info);
    }
    print_settings();
    printf("\nLog\n%s", log_text ? log_text : "");
    free(all);
    return EXIT_SUCCESS;
}
