/* The code that all test layers share. layer.h describes its interface. */
#include "layer.h"

static PFN_vkGetInstanceProcAddr instance_functions;
PFN_vkGetDeviceProcAddr device_functions;
VkDevice the_device;

/* A layer must advance its link in the pNext chain, although the chain is const. */
static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *instance) {
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link &&
           !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    instance_functions = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult failure = layer_may_create_instance();
    if (failure) return failure;
    PFN_vkCreateInstance next = (PFN_vkCreateInstance)instance_functions(VK_NULL_HANDLE, "vkCreateInstance");
    return next(info, allocator, instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *device) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link &&
           !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next_get_instance_proc_addr = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    device_functions = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult failure = layer_may_create_device();
    if (failure) return failure;
    PFN_vkCreateDevice next = (PFN_vkCreateDevice)next_get_instance_proc_addr(VK_NULL_HANDLE, "vkCreateDevice");
    VkResult result = next(physical, info, allocator, device);
    if (result == VK_SUCCESS) the_device = *device;
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)get_device_proc_addr;
    return layer_function_of_device(device_functions(device, name), name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name) {
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)get_instance_proc_addr;
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)get_device_proc_addr;
    if (!strcmp(name, "vkCreateInstance")) return (PFN_vkVoidFunction)create_instance;
    if (!strcmp(name, "vkCreateDevice")) return (PFN_vkVoidFunction)create_device;
    return instance_functions ? layer_function_of_instance(instance_functions(instance, name), name) : NULL;
}

__attribute__((visibility("default"))) VkResult
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *versions) {
    if (versions->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
    versions->loaderLayerInterfaceVersion = 2;
    versions->pfnGetInstanceProcAddr = get_instance_proc_addr;
    versions->pfnGetDeviceProcAddr = get_device_proc_addr;
    versions->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
