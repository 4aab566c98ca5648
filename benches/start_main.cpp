// revamp-bench-start: prints the seconds from nothing loaded to all devices listed. A program of its own, because that
// happens once in a process.
#include <dlfcn.h>
#include <revamp.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "measure.h"
#include "vk_functions.h"

namespace {

bool with_revamp(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) return false;
    const auto list = reinterpret_cast<decltype(&revamp_accelerator_list)>(dlsym(library, "revamp_accelerator_list"));
    const auto about =
        reinterpret_cast<decltype(&revamp_accelerator_get_info)>(dlsym(library, "revamp_accelerator_get_info"));
    if (!list || !about) return false;
    revamp_accelerator found[64];
    size_t count = 0;
    if (list(found, 64, &count) != REVAMP_OK) return false;
    for (size_t i = 0; i < count && i < 64; i++) {
        revamp_accelerator_info info{};
        info.struct_size = sizeof info;
        if (about(found[i], &info) != REVAMP_OK) return false;
    }
    return true;
}

bool with_plain_vulkan() {
    if (!vk.load_library()) return false;
    auto application = vk_struct<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto info = vk_struct<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    VkInstance instance;
    if (vk.CreateInstance(&info, nullptr, &instance) != VK_SUCCESS || !vk.load_instance(instance)) return false;
    uint32_t count = 0;
    vk.EnumeratePhysicalDevices(instance, &count, nullptr);
    std::vector<VkPhysicalDevice> devices(count);
    vk.EnumeratePhysicalDevices(instance, &count, devices.data());
    for (VkPhysicalDevice device : devices) {
        auto id = vk_struct<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
        auto all = vk_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id);
        vk.GetPhysicalDeviceProperties2(device, &all);
    }
    return true;
}

} // namespace

int main(int argc, char **argv) {
    bool done = false;
    const double seconds = timed([&] {
        if (argc == 3 && std::strcmp(argv[1], "revamp") == 0) done = with_revamp(argv[2]);
        if (argc == 2 && std::strcmp(argv[1], "plain") == 0) done = with_plain_vulkan();
    });
    if (done) std::printf("%.9f\n", seconds);
    return done ? 0 : 1;
}
