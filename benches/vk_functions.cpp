// Loads the Vulkan functions that the hand-written Vulkan code calls.
#include "vk_functions.h"

#include <dlfcn.h>

VulkanFunctions vk;

bool VulkanFunctions::load_library() {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return missing = "libvulkan.so.1", false;
    GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    if (!GetInstanceProcAddr) return missing = "vkGetInstanceProcAddr", false;
#define X(name)                                                                                                        \
    name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(nullptr, "vk" #name));                                   \
    if (!name) return missing = "vk" #name, false;
    BENCH_VK_GLOBAL(X)
#undef X
    return true;
}

bool VulkanFunctions::load_instance(VkInstance instance) {
#define X(name)                                                                                                        \
    name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(instance, "vk" #name));                                  \
    if (!name) return missing = "vk" #name, false;
    BENCH_VK_INSTANCE(X)
#undef X
    return true;
}

// Functions come from vkGetDeviceProcAddr, so that no loader trampoline is timed.
bool VulkanFunctions::load_device(VkDevice device) {
#define X(name)                                                                                                        \
    name = reinterpret_cast<PFN_vk##name>(GetDeviceProcAddr(device, "vk" #name));                                      \
    if (!name) return missing = "vk" #name, false;
    BENCH_VK_DEVICE(X)
#undef X
    return true;
}
