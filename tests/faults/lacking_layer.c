/* A Vulkan layer that hides from programs what REVAMP_LACKING names: a feature of devices, version 1.3 (version1.3),
 * all slots for sampled images but one (images), the devices (devices); or all that a kind of device lacks (PROFILES).
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

/* Limits of kinds of devices; 0 keeps the device's own. */
static const struct profile {
    const char *name;
    const char *lacks; /* features, each followed by a space */
    uint32_t version;
    uint32_t invocations, shared_memory, push_constants, sets, storage_buffers;
    int no_float_modes; /* nothing is promised of infinities, NaN, signs of zeros and subnormal numbers */
} PROFILES[] = {
    {"android2021", "", VK_API_VERSION_1_1, 0, 0, 0, 0, 0, 0},
    /* What Vulkan's Roadmap 2022 asks for, and shaderInt64, without which there is no kernel. */
    {"roadmap2022", "shaderFloat64 shaderInt16 storageBuffer16BitAccess shaderInt8 storageBuffer8BitAccess ",
     VK_API_VERSION_1_3, 256, 16384, 128, 7, 30, 0},
    /* Intel's Gen 9 by the limits of its first drivers with Vulkan 1.2. */
    {"intel2018", "", VK_API_VERSION_1_2, 896, 32768, 128, 8, 64, 1},
    {"moltenvk", "shaderFloat64 ", VK_API_VERSION_1_2, 512, 32768, 4096, 8, 31, 1},
};

static PFN_vkGetPhysicalDeviceFeatures2 next_features;
static PFN_vkGetPhysicalDeviceProperties next_properties;
static PFN_vkGetPhysicalDeviceProperties2 next_properties2;

static const char *lacking(void) {
    const char *named = getenv("REVAMP_LACKING");
    return named ? named : "";
}
static int is_lacking(const char *what) {
    return strcmp(lacking(), what) == 0;
}
static const struct profile *profile(void) {
    for (size_t i = 0; i < sizeof PROFILES / sizeof PROFILES[0]; i++)
        if (is_lacking(PROFILES[i].name)) return &PROFILES[i];
    return NULL;
}
static void at_most(uint32_t *limit, uint32_t most) {
    if (most && *limit > most) *limit = most;
}
static void reduce(VkPhysicalDeviceProperties *properties) {
    VkPhysicalDeviceLimits *limits = &properties->limits;
    if (is_lacking("version1.3")) properties->apiVersion = VK_API_VERSION_1_2;
    if (is_lacking("images")) limits->maxPerStageDescriptorSampledImages = limits->maxDescriptorSetSampledImages = 1;
    const struct profile *of = profile();
    if (!of) return;
    at_most(&properties->apiVersion, of->version);
    at_most(&limits->maxComputeWorkGroupInvocations, of->invocations);
    for (int i = 0; i < 3; i++)
        at_most(&limits->maxComputeWorkGroupSize[i], i < 2 ? of->invocations : 64);
    at_most(&limits->maxComputeSharedMemorySize, of->shared_memory);
    at_most(&limits->maxPushConstantsSize, of->push_constants);
    at_most(&limits->maxBoundDescriptorSets, of->sets);
    at_most(&limits->maxPerStageDescriptorStorageBuffers, of->storage_buffers);
}
static void reduce_chain(VkBaseOutStructure *all) {
    const struct profile *of = profile();
    for (; of && of->no_float_modes && all; all = all->pNext) {
        if (all->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) continue;
        VkPhysicalDeviceVulkan12Properties *p = (VkPhysicalDeviceVulkan12Properties *)all;
        p->shaderSignedZeroInfNanPreserveFloat16 = p->shaderSignedZeroInfNanPreserveFloat32 = VK_FALSE;
        p->shaderSignedZeroInfNanPreserveFloat64 = p->shaderDenormPreserveFloat16 = VK_FALSE;
        p->shaderDenormPreserveFloat32 = p->shaderDenormPreserveFloat64 = VK_FALSE;
    }
}
static VKAPI_ATTR void VKAPI_CALL fewer_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *all) {
    next_properties(device, all);
    reduce(all);
}
static VKAPI_ATTR void VKAPI_CALL fewer_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *all) {
    next_properties2(device, all);
    reduce(&all->properties);
    reduce_chain((VkBaseOutStructure *)all);
}

static VKAPI_ATTR VkResult VKAPI_CALL no_devices(VkInstance instance, uint32_t *count, VkPhysicalDevice *all) {
    (void)instance, (void)count, (void)all;
    return VK_ERROR_INITIALIZATION_FAILED;
}

/* Hides a feature; 0 if the table lacks it. */
static int hide(VkPhysicalDeviceFeatures2 *all, const char *name, size_t length) {
    for (size_t i = 0; i < sizeof FEATURES / sizeof FEATURES[0]; i++) {
        if (strlen(FEATURES[i].name) != length || memcmp(FEATURES[i].name, name, length) != 0) continue;
        for (VkBaseOutStructure *one = (VkBaseOutStructure *)all; one; one = one->pNext)
            if (one->sType == FEATURES[i].type) *(VkBool32 *)((char *)one + FEATURES[i].at) = VK_FALSE;
        return 1;
    }
    return 0;
}

static VKAPI_ATTR void VKAPI_CALL fewer_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *all) {
    next_features(device, all);
    if (!*lacking() || is_lacking("version1.3") || is_lacking("images") || is_lacking("devices")) return;
    const struct profile *of = profile();
    if (!of && !hide(all, lacking(), strlen(lacking()))) abort(); /* a name that no table has */
    if (!of) return;
    for (const char *name = of->lacks; *name; name += strcspn(name, " ") + 1)
        if (!hide(all, name, strcspn(name, " "))) abort();
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
    return (PFN_vkVoidFunction)fewer_features;
}
