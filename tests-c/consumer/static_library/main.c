/* Only names the kernel of the static library. */
#include <revamp.h>
#include <stdio.h>
#include <string.h>

int middle_size(void);

int main(void) {
    revamp_accelerator accelerator;
    revamp_kernel kernel;
    revamp_kernel_info info;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) != REVAMP_OK) {
        /* A kernel that is there is refused for the accelerator, one that is not for its name. */
        printf("no device: %s\n", revamp_last_error_message());
        if (revamp_accelerator_find("cpu", &accelerator) != REVAMP_OK ||
            revamp_kernel_find(accelerator, "library_negate", &kernel) != REVAMP_ERROR_UNSUPPORTED_FEATURE)
            return printf("the record is not there: %s\n", revamp_last_error_message()), 1;
        return 0;
    }
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    if (revamp_kernel_find(accelerator, "library_negate", &kernel) != REVAMP_OK ||
        revamp_kernel_get_info(kernel, &info) != REVAMP_OK)
        return printf("the record is not there: %s\n", revamp_last_error_message()), 1;
    if (info.workgroup_size[0] != (uint32_t)middle_size() || info.binding_count != 1)
        return puts("it is another kernel"), 1;
    return revamp_kernel_release(kernel) == REVAMP_OK ? 0 : 1;
}
