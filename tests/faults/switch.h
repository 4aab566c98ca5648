/* The fault switch selects a call that must fail, by the function and the number of the call. The switch is the mapped
 * memory of the file that REVAMP_FAULTS names. A test sets the switch. layer.c (Vulkan) and preload.c (memory, threads,
 * files) read the switch, and make the call fail. */
#ifndef SWITCH_H
#define SWITCH_H

#include <stdint.h>

/* Each line has a function, its kind, and the results with which it may fail: the VkResults that the Vulkan
 * specification allows, or values of errno for functions of the C library. */
#define FAULT_FUNCTIONS(X)                                                                                             \
    X(vkCreateInstance, VULKAN, -1, -2, -3, -6, -7, -9)                                                                \
    X(vkEnumeratePhysicalDevices, VULKAN, -1, -2, -3)                                                                  \
    X(vkEnumerateDeviceExtensionProperties, VULKAN, -1, -2)                                                            \
    X(vkCreateDevice, VULKAN, -1, -2, -3, -4, -7, -8, -10)                                                             \
    X(vkAllocateMemory, VULKAN, -1, -2, -10)                                                                           \
    X(vkMapMemory, VULKAN, -1, -2, -5)                                                                                 \
    X(vkCreateBuffer, VULKAN, -1, -2)                                                                                  \
    X(vkBindBufferMemory, VULKAN, -1, -2)                                                                              \
    X(vkCreateImage, VULKAN, -1, -2)                                                                                   \
    X(vkBindImageMemory, VULKAN, -1, -2)                                                                               \
    X(vkCreateImageView, VULKAN, -1, -2)                                                                               \
    X(vkCreateSampler, VULKAN, -1, -2)                                                                                 \
    X(vkCreateCommandPool, VULKAN, -1, -2)                                                                             \
    X(vkAllocateCommandBuffers, VULKAN, -1, -2)                                                                        \
    X(vkBeginCommandBuffer, VULKAN, -1, -2)                                                                            \
    X(vkEndCommandBuffer, VULKAN, -1, -2)                                                                              \
    X(vkResetCommandPool, VULKAN, -2)                                                                                  \
    X(vkCreateDescriptorPool, VULKAN, -1, -2, -1000161000)                                                             \
    X(vkAllocateDescriptorSets, VULKAN, -1, -2, -12, -1000069000)                                                      \
    X(vkCreateDescriptorSetLayout, VULKAN, -1, -2)                                                                     \
    X(vkCreatePipelineLayout, VULKAN, -1, -2)                                                                          \
    X(vkCreateShaderModule, VULKAN, -1, -2)                                                                            \
    X(vkCreatePipelineCache, VULKAN, -1, -2)                                                                           \
    X(vkGetPipelineCacheData, VULKAN, -1, -2)                                                                          \
    X(vkCreateComputePipelines, VULKAN, -1, -2)                                                                        \
    X(vkCreateSemaphore, VULKAN, -1, -2)                                                                               \
    X(vkQueueSubmit, VULKAN, -1, -2, -4)                                                                               \
    X(vkWaitSemaphores, VULKAN, -1, -2, -4)                                                                            \
    X(vkGetSemaphoreCounterValue, VULKAN, -1, -2, -4)                                                                  \
    X(vkDeviceWaitIdle, VULKAN, -1, -2, -4)                                                                            \
    X(vkGetMemoryHostPointerPropertiesEXT, VULKAN, -1000072003, -1)                                                    \
    X(malloc, MEMORY, 12)                                                                                              \
    X(calloc, MEMORY, 12)                                                                                              \
    X(realloc, MEMORY, 12)                                                                                             \
    X(posix_memalign, MEMORY, 12)                                                                                      \
    X(aligned_alloc, MEMORY, 12)                                                                                       \
    X(pthread_create, THREAD, 11)                                                                                      \
    X(mmap, MEMORY, 12)                                                                                                \
    X(open, FILE, 13, 24, 2)                                                                                           \
    X(read, FILE, 5)                                                                                                   \
    X(write, FILE, 28, 5)                                                                                              \
    X(rename, FILE, 13, 28)                                                                                            \
    X(mkdir, FILE, 13, 28)

typedef enum { FAULT_VULKAN, FAULT_MEMORY, FAULT_THREAD, FAULT_FILE, FAULT_KINDS } fault_kind;

#define FAULT_NAME(name, ...) FAULT_##name,
typedef enum { FAULT_FUNCTIONS(FAULT_NAME) FAULT_FUNCTION_COUNT } fault_function;
#undef FAULT_NAME

enum { FAULT_NONE = -1, FAULT_MAX_RESULTS = 8, FAULT_DEVICE_LOST = -4 };

/* Only allocations of at least this size fail, because the program determines the size of large allocations. If a
 * smaller allocation failed, the process might end (revamp.h). */
#define FAULT_LARGE 65536

typedef struct {
    /* Call number `at` of this function, counted since the switch was set, fails. With FAULT_NONE, no call fails. */
    int32_t function;
    int32_t result;
    uint64_t at;
    /* The number of successive calls that fail. */
    uint64_t times;
    /* The number of calls of `function` since the switch was set. */
    uint64_t calls;
    /* The number of calls that failed because of the switch, except calls of file functions. Tests reset it. */
    uint64_t fired;
    /* A lost device stays lost until it is destroyed. */
    uint32_t is_lost;
    /* The number of all calls of each function. */
    uint64_t counts[FAULT_FUNCTION_COUNT];
    /* The counts of the first pass of a fault program (programs/main.cpp). */
    uint64_t first[FAULT_FUNCTION_COUNT];
} fault_switch;

/* Returns the switch of this process, or NULL without REVAMP_FAULTS. */
fault_switch *fault_open(void);
/* Counts a call. Returns 0, or the result with which the call must fail. */
int32_t fault_count_call(fault_function function);

typedef struct {
    const char *name;
    fault_kind kind;
    int32_t results[FAULT_MAX_RESULTS];
} fault_function_info;
extern const fault_function_info fault_functions[FAULT_FUNCTION_COUNT];

#endif
