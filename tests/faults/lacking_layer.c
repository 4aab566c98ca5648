/* A Vulkan layer that hides from programs the feature of devices that REVAMP_LACKING names, or that they have
 * version 1.3 (version1.3), or all slots for sampled images but one (images), or fails to list the devices (devices).
 */
#include "layer.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    VkStructureType type; /* of the structure that tells of it */
    size_t at;
} feature;
#define CORE(name)                                                                                                     \
    { #name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, offsetof(VkPhysicalDeviceFeatures2, features.name) }
#define IN(version, name)                                                                                              \
    {                                                                                                                  \
#name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_##version##_FEATURES,                                        \
            offsetof(VkPhysicalDeviceVulkan1##version##Features, name)                                                 \
    }
static const feature FEATURES[] = {CORE(shaderInt64),          CORE(shaderFloat64),
                                   CORE(shaderInt16),          IN(1, storageBuffer16BitAccess),
                                   IN(2, shaderInt8),          IN(2, storageBuffer8BitAccess),
                                   IN(2, bufferDeviceAddress), IN(2, timelineSemaphore),
                                   IN(3, robustImageAccess)};

static PFN_vkGetPhysicalDeviceFeatures2 next_features;
static PFN_vkGetPhysicalDeviceProperties next_properties;
static PFN_vkGetPhysicalDeviceProperties2 next_properties2;

static int is_lacking(const char *what) {
    const char *lacking = getenv("REVAMP_LACKING");
    return lacking && strcmp(lacking, what) == 0;
}
static void reduce(VkPhysicalDeviceProperties *properties) {
    if (is_lacking("version1.3")) properties->apiVersion = VK_API_VERSION_1_2;
    if (is_lacking("images"))
        properties->limits.maxPerStageDescriptorSampledImages = properties->limits.maxDescriptorSetSampledImages = 1;
}
static VKAPI_ATTR void VKAPI_CALL fewer_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *all) {
    next_properties(device, all);
    reduce(all);
}
static VKAPI_ATTR void VKAPI_CALL fewer_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *all) {
    next_properties2(device, all);
    reduce(&all->properties);
}

static VKAPI_ATTR VkResult VKAPI_CALL no_devices(VkInstance instance, uint32_t *count, VkPhysicalDevice *all) {
    (void)instance, (void)count, (void)all;
    return VK_ERROR_INITIALIZATION_FAILED;
}

static VKAPI_ATTR void VKAPI_CALL features_but_one(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *all) {
    const char *lacking = getenv("REVAMP_LACKING");
    next_features(device, all);
    if (!lacking || is_lacking("version1.3") || is_lacking("images") || is_lacking("devices")) return;
    for (size_t i = 0; i < sizeof FEATURES / sizeof FEATURES[0]; i++) {
        if (strcmp(FEATURES[i].name, lacking) != 0) continue;
        for (VkBaseOutStructure *one = (VkBaseOutStructure *)all; one; one = one->pNext)
            if (one->sType == FEATURES[i].type) *(VkBool32 *)((char *)one + FEATURES[i].at) = VK_FALSE;
        return;
    }
    abort(); /* a name that the table lacks */
}

VkResult layer_may_create_instance(void) {
    return VK_SUCCESS;
}
VkResult layer_may_create_device(void) {
    return VK_SUCCESS;
}
PFN_vkVoidFunction layer_function_of_device(PFN_vkVoidFunction found, const char *name) {
    (void)name;
    return found;
}
PFN_vkVoidFunction layer_function_of_instance(PFN_vkVoidFunction found, const char *name) {
    if (found && strcmp(name, "vkGetPhysicalDeviceProperties") == 0) {
        next_properties = (PFN_vkGetPhysicalDeviceProperties)found;
        return (PFN_vkVoidFunction)fewer_properties;
    }
    if (found && strcmp(name, "vkGetPhysicalDeviceProperties2") == 0) {
        next_properties2 = (PFN_vkGetPhysicalDeviceProperties2)found;
        return (PFN_vkVoidFunction)fewer_properties2;
    }
    if (found && strcmp(name, "vkEnumeratePhysicalDevices") == 0 && is_lacking("devices"))
        return (PFN_vkVoidFunction)no_devices;
    if (!found || strcmp(name, "vkGetPhysicalDeviceFeatures2") != 0) return found;
    next_features = (PFN_vkGetPhysicalDeviceFeatures2)found;
    return (PFN_vkVoidFunction)features_but_one;
}
