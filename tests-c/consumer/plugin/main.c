/* Tests that a plugin's kernel is found while the plugin is loaded, and that a loaded kernel outlives the plugin. */
#include <dlfcn.h>
#include <revamp.h>
#include <stdio.h>
#include <string.h>

static const char name[] = "plugin_triple";

static int is_reported_missing(revamp_accelerator accelerator) {
    revamp_kernel kernel;
    if (revamp_kernel_find(accelerator, name, &kernel) != REVAMP_ERROR_RUNTIME) {
        printf("%s: revamp_kernel_find() did not return REVAMP_ERROR_RUNTIME: %s\n", name, revamp_last_error_message());
        return 0;
    }
    if (!strstr(revamp_last_error_message(), name) || revamp_last_error_status() != REVAMP_ERROR_RUNTIME) {
        printf("the text does not name %s: %s\n", name, revamp_last_error_message());
        return 0;
    }
    return 1;
}

static int runs_correctly(revamp_accelerator accelerator, revamp_kernel kernel) {
    uint32_t data[256];
    int32_t extent = 256;
    revamp_accelerator_view view;
    revamp_array array;
    revamp_argument argument;
    revamp_dispatch_info info;
    for (uint32_t i = 0; i < 256; ++i)
        data[i] = i;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = &argument;
    info.argument_count = 1;
    if (revamp_accelerator_get_default_view(accelerator, &view) != REVAMP_OK ||
        revamp_array_create(view, 1, &extent, sizeof *data, NULL, &array) != REVAMP_OK)
        return 0;
    argument = revamp_argument_buffer(0, array);
    if (revamp_copy_to_array(data, sizeof data, array) != REVAMP_OK ||
        revamp_dispatch(view, kernel, &info) != REVAMP_OK ||
        revamp_copy_from_array(array, data, sizeof data) != REVAMP_OK || revamp_array_destroy(array) != REVAMP_OK)
        return 0;
    for (uint32_t i = 0; i < 256; ++i)
        if (data[i] != 3 * i) return 0;
    return 1;
}

int main(void) {
    revamp_accelerator accelerator;
    revamp_kernel kernel = NULL;
    void *plugin;
    int round;
    int has_device = revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) == REVAMP_OK;
    if (!has_device) {
        printf("no device: %s\n", revamp_last_error_message());
        if (revamp_accelerator_find("cpu", &accelerator) != REVAMP_OK) return 1;
    }
    /* Two rounds, because an unloaded plugin can be loaded again. */
    for (round = 0; round < 2; ++round) {
        revamp_status expected = has_device ? REVAMP_OK : REVAMP_ERROR_UNSUPPORTED_FEATURE;
        if (!is_reported_missing(accelerator)) return 1;
        plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
        if (!plugin) return printf("%s\n", dlerror()), 1;
        if (revamp_kernel_find(accelerator, name, &kernel) != expected)
            return printf("not found in the plugin: %s\n", revamp_last_error_message()), 1;
        if (dlclose(plugin) != 0 || dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD))
            return puts("the plugin is still loaded after dlclose()"), 1;
        if (!is_reported_missing(accelerator)) return 1;
        if (has_device && (!runs_correctly(accelerator, kernel) || revamp_kernel_release(kernel) != REVAMP_OK))
            return printf("the kernel does not outlive its plugin: %s\n", revamp_last_error_message()), 1;
    }
    return 0;
}
