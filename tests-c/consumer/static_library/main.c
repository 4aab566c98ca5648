/* Finds a kernel by its name. Nothing else in this program refers to the static library that holds the kernel. */
#include <revamp.h>
#include <stdio.h>
#include <string.h>

/* Defined in the library `middle`. */
int expected_workgroup_size(void);

int main(void) {
    revamp_accelerator accelerator;
    revamp_kernel kernel;
    revamp_kernel_info info;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) != REVAMP_OK) {
        printf("no device: %s\n", revamp_last_error_message());
        /* REVAMP_ERROR_UNSUPPORTED_FEATURE shows that the kernel is linked: an unknown name gives another error. */
        if (revamp_accelerator_find("cpu", &accelerator) != REVAMP_OK ||
            revamp_kernel_find(accelerator, "library_negate", &kernel) != REVAMP_ERROR_UNSUPPORTED_FEATURE)
            return printf("the kernel's record is not linked: %s\n", revamp_last_error_message()), 1;
        return 0;
    }
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    if (revamp_kernel_find(accelerator, "library_negate", &kernel) != REVAMP_OK ||
        revamp_kernel_get_info(kernel, &info) != REVAMP_OK)
        return printf("the kernel's record is not linked: %s\n", revamp_last_error_message()), 1;
    if (info.workgroup_size[0] != (uint32_t)expected_workgroup_size() || info.binding_count != 1)
        return puts("wrong workgroup size or number of bindings"), 1;
    return revamp_kernel_release(kernel) == REVAMP_OK ? 0 : 1;
}
