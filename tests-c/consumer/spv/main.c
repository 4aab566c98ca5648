/* Tests that the embedded modules equal the files, and that kernels can be created from the modules. */
#include "made.spv.h"
#include "twice.spv.h"
#include <revamp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    static const char *const names[] = {"twice", "made"};
    revamp_accelerator accelerator;
    revamp_kernel kernel;
    revamp_kernel_info info;
    revamp_status expected = REVAMP_OK;
    if (twice_spv_size != made_spv_size || memcmp(twice_spv, made_spv, twice_spv_size) != 0 ||
        twice_spv[0] != 0x07230203)
        return puts("the embedded modules differ from the files"), 1;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) != REVAMP_OK) {
        printf("no device: %s\n", revamp_last_error_message());
        expected = REVAMP_ERROR_UNSUPPORTED_FEATURE;
        if (revamp_accelerator_find("cpu", &accelerator) != REVAMP_OK) return 1;
    }
    for (int i = 0; i < 2; ++i) {
        if (revamp_kernel_find(accelerator, names[i], &kernel) != expected)
            return printf("%s: %s\n", names[i], revamp_last_error_message()), 1;
        if (expected != REVAMP_OK) continue;
        memset(&info, 0, sizeof info);
        info.struct_size = sizeof info;
        if (revamp_kernel_get_info(kernel, &info) != REVAMP_OK || info.workgroup_size[0] != 16 ||
            revamp_kernel_release(kernel) != REVAMP_OK)
            return printf("%s: wrong workgroup size, or a failed call: %s\n", names[i], revamp_last_error_message()), 1;
    }
    return 0;
}
