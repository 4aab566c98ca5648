/* A Vulkan layer through which callgrind counts calls of vkUpdateDescriptorSets. Callgrind counts calls by symbol; the
 * layer's function has a symbol, the driver's functions have none. */
#include "layer.h"

static PFN_vkUpdateDescriptorSets update;

/* scripts/test-instructions looks for this name. */
static VKAPI_ATTR void VKAPI_CALL counted_vkUpdateDescriptorSets(VkDevice device, uint32_t write_count,
                                                                 const VkWriteDescriptorSet *writes,
                                                                 uint32_t copy_count,
                                                                 const VkCopyDescriptorSet *copies) {
    update(device, write_count, writes, copy_count, copies);
}

VkResult layer_may_create_instance(void) {
    return VK_SUCCESS;
}
VkResult layer_may_create_device(void) {
    return VK_SUCCESS;
}

PFN_vkVoidFunction layer_function_of_instance(PFN_vkVoidFunction found, const char *name) {
    (void)name;
    return found;
}

PFN_vkVoidFunction layer_function_of_device(PFN_vkVoidFunction found, const char *name) {
    if (strcmp(name, "vkUpdateDescriptorSets")) return found;
    update = (PFN_vkUpdateDescriptorSets)found;
    return (PFN_vkVoidFunction)counted_vkUpdateDescriptorSets;
}
