// The Vulkan functions that the hand-written Vulkan code calls. They are loaded at run time, so that the program also
// starts without Vulkan.
#pragma once
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

// clang-format does not settle on a layout for these tables.
// clang-format off
#define BENCH_VK_GLOBAL(X) X(CreateInstance)
#define BENCH_VK_INSTANCE(X)                                                                                           \
    X(DestroyInstance)                                                                                                 \
    X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceMemoryProperties)                   \
        X(GetPhysicalDeviceQueueFamilyProperties) X(CreateDevice) X(GetDeviceProcAddr)
#define BENCH_VK_DEVICE(X)                                                                                             \
    X(DestroyDevice)                                                                                                   \
    X(GetDeviceQueue) X(QueueSubmit) X(QueueWaitIdle) X(DeviceWaitIdle) X(CreateBuffer) X(DestroyBuffer)               \
        X(GetBufferMemoryRequirements) X(BindBufferMemory) X(GetBufferDeviceAddress) X(AllocateMemory) X(FreeMemory)   \
            X(MapMemory) X(CreateSemaphore) X(DestroySemaphore) X(WaitSemaphores) X(GetSemaphoreCounterValue)          \
                X(CreateCommandPool) X(DestroyCommandPool) X(AllocateCommandBuffers) X(FreeCommandBuffers)             \
                    X(BeginCommandBuffer) X(EndCommandBuffer) X(CreateShaderModule) X(DestroyShaderModule)             \
                        X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout) X(CreatePipelineLayout)             \
                            X(DestroyPipelineLayout) X(CreateComputePipelines) X(DestroyPipeline)                      \
                                X(CreateDescriptorPool) X(DestroyDescriptorPool) X(AllocateDescriptorSets)             \
                                    X(UpdateDescriptorSets) X(CmdBindPipeline) X(CmdBindDescriptorSets)                \
                                        X(CmdPushConstants) X(CmdDispatch) X(CmdPipelineBarrier) X(CmdCopyBuffer)      \
                                            X(CmdFillBuffer) X(CreateImage) X(DestroyImage) X(GetImageMemoryRequirements)      \
                                                X(BindImageMemory) X(CreateImageView) X(DestroyImageView)              \
                                                    X(CreateSampler) X(DestroySampler) X(CmdCopyBufferToImage)         \
                                                        X(CmdCopyImageToBuffer)

struct VulkanFunctions {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
#define X(name) PFN_vk##name name = nullptr;
    BENCH_VK_GLOBAL(X)
    BENCH_VK_INSTANCE(X) BENCH_VK_DEVICE(X)
#undef X
        // Each returns false if a library or function is missing; `missing` names it.
        bool load_library();
    bool load_instance(VkInstance instance);
    bool load_device(VkDevice device);
    const char *missing = nullptr;
};

// One table suffices, because the program uses one driver.
extern VulkanFunctions vk;

template <class T> T vk_struct(VkStructureType type, void *next = nullptr) {
    T made{};
    made.sType = type;
    made.pNext = next;
    return made;
}
// clang-format on
