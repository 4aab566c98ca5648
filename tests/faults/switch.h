/* The switch that makes the n-th call of a kind fail: a block of memory shared by whoever sets it (a runner, a fuzzer)
 * and by what fails the calls (layer.c for Vulkan, preload.c for memory, threads and files). The file it lives in is
 * named by REVAMP_FAULTS. */
#ifndef SWITCH_H
#define SWITCH_H

#include <stdint.h>

/* Function, kind, results to fail with: of Vulkan the VkResults that the specification allows, else an errno. */
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

enum { FAULT_NONE = -1, FAULT_MOST_RESULTS = 8, FAULT_DEVICE_LOST = -4 };

/* Only allocations of at least this size fail: the program chooses such sizes. Smaller ones may end the process
 * (revamp.h). */
#define FAULT_LARGE 65536

typedef struct {
    /* The function whose call `at` is to fail, counted since it was armed; FAULT_NONE: no call. */
    int32_t function;
    int32_t result;
    uint64_t at;
    /* Further calls of the same function fail too. */
    uint64_t times;
    /* Calls since it was armed. */
    uint64_t calls;
    /* Calls that failed because of the switch, ever. */
    uint64_t fired;
    /* A lost device stays lost until it is destroyed. */
    uint32_t is_lost;
    /* Calls of each function, ever. */
    uint64_t counts[FAULT_FUNCTION_COUNT];
    /* The counts of the program's first pass. */
    uint64_t first[FAULT_FUNCTION_COUNT];
} fault_switch;

/* The process's switch; NULL without REVAMP_FAULTS. */
fault_switch *fault_open(void);
/* Counts a call: 0, or the result to fail with. */
int32_t fault_now(fault_function function);

typedef struct {
    const char *name;
    fault_kind kind;
    int32_t results[FAULT_MOST_RESULTS];
} fault_about;
extern const fault_about fault_functions[FAULT_FUNCTION_COUNT];

#endif
