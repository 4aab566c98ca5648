/* A Vulkan layer for fault injection. It fails the calls that the fault switch (switch.h) selects, without calling the
 * driver. After an injected loss of the device, each function that can report the loss does so until the device is
 * destroyed. */
#include "layer.h"
#include "switch.h"

#include <pthread.h>

/* Locked while a submission is passed to the driver. */
static pthread_mutex_t submits = PTHREAD_MUTEX_INITIALIZER;

/* Marks the device as lost. Waits first until the device is idle, because a lost device accesses no memory. */
static void lose(fault_switch *s) {
    PFN_vkDeviceWaitIdle wait = (PFN_vkDeviceWaitIdle)device_functions(the_device, "vkDeviceWaitIdle");
    pthread_mutex_lock(&submits);
    if (wait) wait(the_device);
    __atomic_store_n(&s->is_lost, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&submits);
}

/* Returns the VkResult of a call that must fail without reaching the driver, or 0 if the call goes to the driver. */
static int32_t failing(fault_function function) {
    fault_switch *s = fault_open();
    int32_t result = fault_count_call(function);
    if (result == FAULT_DEVICE_LOST && function != FAULT_vkCreateDevice) lose(s);
    if (result || !s || !__atomic_load_n(&s->is_lost, __ATOMIC_ACQUIRE)) return result;
    switch (function) {
    case FAULT_vkQueueSubmit:
    case FAULT_vkWaitSemaphores:
    case FAULT_vkGetSemaphoreCounterValue:
    case FAULT_vkDeviceWaitIdle:
        return FAULT_DEVICE_LOST;
    default:
        return 0;
    }
}

/* Defines a function of the layer. The function fails if the switch selects the call, else it calls the next layer. */
#define FAILING(name, parameters, arguments)                                                                           \
    static PFN_##name next_##name;                                                                                     \
    static VKAPI_ATTR VkResult VKAPI_CALL failing_##name parameters {                                                  \
        int32_t result = failing(FAULT_##name);                                                                        \
        return result ? (VkResult)result : next_##name arguments;                                                      \
    }

FAILING(vkEnumeratePhysicalDevices, (VkInstance i, uint32_t *n, VkPhysicalDevice *all), (i, n, all))
FAILING(vkEnumerateDeviceExtensionProperties,
        (VkPhysicalDevice p, const char *layer, uint32_t *n, VkExtensionProperties *all), (p, layer, n, all))
FAILING(vkAllocateMemory,
        (VkDevice d, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *a, VkDeviceMemory *out),
        (d, info, a, out))
FAILING(vkMapMemory,
        (VkDevice d, VkDeviceMemory m, VkDeviceSize at, VkDeviceSize size, VkMemoryMapFlags flags, void **out),
        (d, m, at, size, flags, out))
FAILING(vkCreateBuffer, (VkDevice d, const VkBufferCreateInfo *info, const VkAllocationCallbacks *a, VkBuffer *out),
        (d, info, a, out))
FAILING(vkBindBufferMemory, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize at), (d, b, m, at))
FAILING(vkCreateImage, (VkDevice d, const VkImageCreateInfo *info, const VkAllocationCallbacks *a, VkImage *out),
        (d, info, a, out))
FAILING(vkBindImageMemory, (VkDevice d, VkImage i, VkDeviceMemory m, VkDeviceSize at), (d, i, m, at))
FAILING(vkCreateImageView,
        (VkDevice d, const VkImageViewCreateInfo *info, const VkAllocationCallbacks *a, VkImageView *out),
        (d, info, a, out))
FAILING(vkCreateSampler, (VkDevice d, const VkSamplerCreateInfo *info, const VkAllocationCallbacks *a, VkSampler *out),
        (d, info, a, out))
FAILING(vkCreateCommandPool,
        (VkDevice d, const VkCommandPoolCreateInfo *info, const VkAllocationCallbacks *a, VkCommandPool *out),
        (d, info, a, out))
FAILING(vkAllocateCommandBuffers, (VkDevice d, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out),
        (d, info, out))
FAILING(vkBeginCommandBuffer, (VkCommandBuffer c, const VkCommandBufferBeginInfo *info), (c, info))
FAILING(vkEndCommandBuffer, (VkCommandBuffer c), (c))
FAILING(vkResetCommandPool, (VkDevice d, VkCommandPool p, VkCommandPoolResetFlags flags), (d, p, flags))
FAILING(vkCreateDescriptorPool,
        (VkDevice d, const VkDescriptorPoolCreateInfo *info, const VkAllocationCallbacks *a, VkDescriptorPool *out),
        (d, info, a, out))
FAILING(vkAllocateDescriptorSets, (VkDevice d, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out),
        (d, info, out))
FAILING(vkCreateDescriptorSetLayout,
        (VkDevice d, const VkDescriptorSetLayoutCreateInfo *info, const VkAllocationCallbacks *a,
         VkDescriptorSetLayout *out),
        (d, info, a, out))
FAILING(vkCreatePipelineLayout,
        (VkDevice d, const VkPipelineLayoutCreateInfo *info, const VkAllocationCallbacks *a, VkPipelineLayout *out),
        (d, info, a, out))
FAILING(vkCreateShaderModule,
        (VkDevice d, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *a, VkShaderModule *out),
        (d, info, a, out))
FAILING(vkCreatePipelineCache,
        (VkDevice d, const VkPipelineCacheCreateInfo *info, const VkAllocationCallbacks *a, VkPipelineCache *out),
        (d, info, a, out))
FAILING(vkGetPipelineCacheData, (VkDevice d, VkPipelineCache c, size_t *size, void *data), (d, c, size, data))
FAILING(vkCreateComputePipelines,
        (VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo *infos,
         const VkAllocationCallbacks *a, VkPipeline *out),
        (d, c, n, infos, a, out))
FAILING(vkCreateSemaphore,
        (VkDevice d, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *a, VkSemaphore *out),
        (d, info, a, out))

static PFN_vkQueueSubmit next_vkQueueSubmit;
static VKAPI_ATTR VkResult VKAPI_CALL failing_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                                                            VkFence fence) {
    int32_t result = failing(FAULT_vkQueueSubmit);
    if (result) return (VkResult)result;
    pthread_mutex_lock(&submits);
    // Another thread may just have marked the device as lost.
    fault_switch *s = fault_open();
    int is_lost = s && __atomic_load_n(&s->is_lost, __ATOMIC_ACQUIRE);
    result = is_lost ? FAULT_DEVICE_LOST : next_vkQueueSubmit(queue, count, infos, fence);
    pthread_mutex_unlock(&submits);
    return (VkResult)result;
}

FAILING(vkWaitSemaphores, (VkDevice d, const VkSemaphoreWaitInfo *info, uint64_t timeout), (d, info, timeout))
FAILING(vkGetSemaphoreCounterValue, (VkDevice d, VkSemaphore s, uint64_t *value), (d, s, value))
FAILING(vkDeviceWaitIdle, (VkDevice d), (d))
FAILING(vkGetMemoryHostPointerPropertiesEXT,
        (VkDevice d, VkExternalMemoryHandleTypeFlagBits type, const void *at, VkMemoryHostPointerPropertiesEXT *out),
        (d, type, at, out))

VkResult layer_may_create_instance(void) {
    return (VkResult)failing(FAULT_vkCreateInstance);
}
VkResult layer_may_create_device(void) {
    return (VkResult)failing(FAULT_vkCreateDevice);
}

static PFN_vkDestroyDevice next_destroy;

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *allocator) {
    fault_switch *s = fault_open();
    if (s) __atomic_store_n(&s->is_lost, 0, __ATOMIC_RELEASE);
    next_destroy(device, allocator);
}

/* Stores the next layer's function, and returns the layer's own function in its place. */
#define INTERCEPT(function)                                                                                            \
    if (!strcmp(name, #function)) {                                                                                    \
        if (!found) return NULL;                                                                                       \
        next_##function = (PFN_##function)found;                                                                       \
        return (PFN_vkVoidFunction)failing_##function;                                                                 \
    }

PFN_vkVoidFunction layer_function_of_device(PFN_vkVoidFunction found, const char *name) {
    if (!strcmp(name, "vkDestroyDevice")) {
        next_destroy = (PFN_vkDestroyDevice)found;
        return (PFN_vkVoidFunction)destroy_device;
    }
    INTERCEPT(vkAllocateMemory)
    INTERCEPT(vkMapMemory)
    INTERCEPT(vkCreateBuffer)
    INTERCEPT(vkBindBufferMemory)
    INTERCEPT(vkCreateImage)
    INTERCEPT(vkBindImageMemory)
    INTERCEPT(vkCreateImageView)
    INTERCEPT(vkCreateSampler)
    INTERCEPT(vkCreateCommandPool)
    INTERCEPT(vkAllocateCommandBuffers)
    INTERCEPT(vkBeginCommandBuffer)
    INTERCEPT(vkEndCommandBuffer)
    INTERCEPT(vkResetCommandPool)
    INTERCEPT(vkCreateDescriptorPool)
    INTERCEPT(vkAllocateDescriptorSets)
    INTERCEPT(vkCreateDescriptorSetLayout)
    INTERCEPT(vkCreatePipelineLayout)
    INTERCEPT(vkCreateShaderModule)
    INTERCEPT(vkCreatePipelineCache)
    INTERCEPT(vkGetPipelineCacheData)
    INTERCEPT(vkCreateComputePipelines)
    INTERCEPT(vkCreateSemaphore)
    INTERCEPT(vkQueueSubmit)
    INTERCEPT(vkWaitSemaphores)
    INTERCEPT(vkGetSemaphoreCounterValue)
    INTERCEPT(vkDeviceWaitIdle)
    INTERCEPT(vkGetMemoryHostPointerPropertiesEXT)
    return found;
}

PFN_vkVoidFunction layer_function_of_instance(PFN_vkVoidFunction found, const char *name) {
    INTERCEPT(vkEnumeratePhysicalDevices)
    INTERCEPT(vkEnumerateDeviceExtensionProperties)
    return found;
}
