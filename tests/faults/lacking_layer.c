/* A Vulkan layer that hides capabilities of a device. REVAMP_LACKING selects them. The name of a feature (FEATURES)
 * hides this feature. The name of a kind of device (PROFILES) reduces the features and limits to those of this kind.
 * `version1.3` hides Vulkan 1.3, `images` all descriptors for sampled images but one, and `devices` all devices. */
#include "layer.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    VkStructureType type; /* of the structure that contains the feature */
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

/* The versions and limits of kinds of devices. 0 keeps the limit of the actual device. */
static const struct profile {
    const char *name;
    const char *lacks; /* features, each followed by a space */
    uint32_t version;
    uint32_t invocations, shared_memory, push_constants, sets, storage_buffers;
    int no_float_modes; /* hides that the device preserves infinities, NaNs, signed zeros and subnormal numbers */
} PROFILES[] = {
    {"android2021", "", VK_API_VERSION_1_1, 0, 0, 0, 0, 0, 0},
    /* Only what the Vulkan Roadmap 2022 profile requires, and shaderInt64, which all kernels need. */
    {"roadmap2022", "shaderFloat64 shaderInt16 storageBuffer16BitAccess shaderInt8 storageBuffer8BitAccess ",
     VK_API_VERSION_1_3, 256, 16384, 128, 7, 30, 0},
    /* Intel's Gen 9 with the limits of its first drivers for Vulkan 1.2. */
    {"intel2018", "", VK_API_VERSION_1_2, 896, 32768, 128, 8, 64, 1},
    {"moltenvk", "shaderFloat64 ", VK_API_VERSION_1_2, 512, 32768, 4096, 8, 31, 1},
};

static PFN_vkGetPhysicalDeviceFeatures2 next_features;
static PFN_vkGetPhysicalDeviceProperties next_properties;
static PFN_vkGetPhysicalDeviceProperties2 next_properties2;

static const char *selection(void) {
    const char *setting = getenv("REVAMP_LACKING");
    return setting ? setting : "";
}
static int is_selected(const char *what) {
    return strcmp(selection(), what) == 0;
}
static const struct profile *profile(void) {
    for (size_t i = 0; i < sizeof PROFILES / sizeof PROFILES[0]; i++)
        if (is_selected(PROFILES[i].name)) return &PROFILES[i];
    return NULL;
}
static void at_most(uint32_t *limit, uint32_t maximum) {
    if (maximum && *limit > maximum) *limit = maximum;
}
static void reduce(VkPhysicalDeviceProperties *properties) {
    VkPhysicalDeviceLimits *limits = &properties->limits;
    if (is_selected("version1.3")) properties->apiVersion = VK_API_VERSION_1_2;
    if (is_selected("images")) limits->maxPerStageDescriptorSampledImages = limits->maxDescriptorSetSampledImages = 1;
    const struct profile *selected_profile = profile();
    if (!selected_profile) return;
    at_most(&properties->apiVersion, selected_profile->version);
    at_most(&limits->maxComputeWorkGroupInvocations, selected_profile->invocations);
    for (int i = 0; i < 3; i++)
        at_most(&limits->maxComputeWorkGroupSize[i], i < 2 ? selected_profile->invocations : 64);
    at_most(&limits->maxComputeSharedMemorySize, selected_profile->shared_memory);
    at_most(&limits->maxPushConstantsSize, selected_profile->push_constants);
    at_most(&limits->maxBoundDescriptorSets, selected_profile->sets);
    at_most(&limits->maxPerStageDescriptorStorageBuffers, selected_profile->storage_buffers);
}
static void reduce_chain(VkBaseOutStructure *all) {
    const struct profile *selected_profile = profile();
    for (; selected_profile && selected_profile->no_float_modes && all; all = all->pNext) {
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

/* Hides a feature. Returns 0 if FEATURES has no feature of this name. */
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
    if (!*selection() || is_selected("version1.3") || is_selected("images") || is_selected("devices")) return;
    const struct profile *selected_profile = profile();
    if (!selected_profile && !hide(all, selection(), strlen(selection())))
        abort(); /* no feature or profile has this name */
    if (!selected_profile) return;
    for (const char *name = selected_profile->lacks; *name; name += strcspn(name, " ") + 1)
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
    if (found && strcmp(name, "vkEnumeratePhysicalDevices") == 0 && is_selected("devices"))
        return (PFN_vkVoidFunction)no_devices;
    if (!found || strcmp(name, "vkGetPhysicalDeviceFeatures2") != 0) return found;
    next_features = (PFN_vkGetPhysicalDeviceFeatures2)found;
    return (PFN_vkVoidFunction)fewer_features;
}
