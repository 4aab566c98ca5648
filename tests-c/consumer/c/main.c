/* Runs the kernels scale and more_scale on a Vulkan device. Without a device, checks the error. Prints the results and
   a checksum of scale's SPIR-V words, so that the output shows whether the kernel's source has changed. */
#include "more_scale.spv.h"
#include "scale.spv.h"
#include <revamp.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((call) != REVAMP_OK) return printf("%s: %s\n", #call, revamp_last_error_message()), 1;                     \
    } while (0)

enum { COUNT = 1000 };

static int run(revamp_accelerator accelerator, const char *name) {
    float data[COUNT];
    uint32_t count = COUNT;
    int32_t extent = COUNT;
    revamp_accelerator_view view;
    revamp_array array;
    revamp_kernel kernel;
    revamp_argument arguments[2];
    revamp_dispatch_info info;
    for (int i = 0; i < COUNT; ++i)
        data[i] = (float)i;
    TRY(revamp_kernel_find(accelerator, name, &kernel));
    TRY(revamp_accelerator_get_default_view(accelerator, &view));
    TRY(revamp_array_create(view, 1, &extent, sizeof(float), NULL, &array));
    TRY(revamp_copy_to_array(data, sizeof data, array));
    arguments[0] = revamp_argument_buffer(0, array);
    arguments[1] = revamp_argument_push_constant(0, &count, sizeof count);
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = 2;
    TRY(revamp_dispatch(view, kernel, &info));
    TRY(revamp_copy_from_array(array, data, sizeof data));
    for (int i = 0; i < COUNT; ++i)
        if (data[i] != (float)i * data[1]) return printf("%s: data[%d] is %g\n", name, i, (double)data[i]), 1;
    printf("%s: factor %g\n", name, (double)data[1]);
    TRY(revamp_kernel_release(kernel));
    TRY(revamp_array_destroy(array));
    return 0;
}

int main(void) {
    uint32_t sum = 0;
    revamp_accelerator accelerator;
    revamp_kernel kernel;
    if (revamp_abi_version() != REVAMP_ABI_VERSION || revamp_version() < REVAMP_VERSION)
        return puts("the versions of library and header differ"), 1;
    for (size_t i = 0; i < scale_spv_size / sizeof *scale_spv; ++i)
        sum = sum * 31 + scale_spv[i];
    printf("scale: %zu bytes, sum %08x\n", scale_spv_size, (unsigned)sum);
    if (scale_spv[0] != 0x07230203 || more_scale_spv[0] != 0x07230203)
        return puts("the embedded words are not SPIR-V"), 1;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) != REVAMP_OK) {
        printf("no device: %s\n", revamp_last_error_message());
        TRY(revamp_accelerator_find("cpu", &accelerator));
        if (revamp_kernel_find(accelerator, "scale", &kernel) != REVAMP_ERROR_UNSUPPORTED_FEATURE)
            return printf("the cpu accelerator did not refuse the kernel: %s\n", revamp_last_error_message()), 1;
        return 0;
    }
    if (run(accelerator, "scale") || run(accelerator, "more_scale")) return 1;
    if (revamp_kernel_find(accelerator, "scales", &kernel) == REVAMP_OK ||
        !strstr(revamp_last_error_message(), "scales") || !strstr(revamp_last_error_message(), "\"scale\""))
        return printf("wrong error for an unknown kernel: %s\n", revamp_last_error_message()), 1;
    return 0;
}
