// The program revamp-bench-start, which case_start.cpp runs. It loads the library, lists all devices or runs fifty
// kernels, and prints the time in seconds. It is a separate program, because a process loads the library only once.
#include <dlfcn.h>
#include <revamp.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "measure.h"
#include "shaders.h"
#include "vk_functions.h"

namespace {

bool list_with_revamp(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) return false;
    const auto list = reinterpret_cast<decltype(&revamp_accelerator_list)>(dlsym(library, "revamp_accelerator_list"));
    const auto get_info =
        reinterpret_cast<decltype(&revamp_accelerator_get_info)>(dlsym(library, "revamp_accelerator_get_info"));
    if (!list || !get_info) return false;
    revamp_accelerator accelerators[64];
    size_t count = 0;
    if (list(accelerators, 64, &count) != REVAMP_OK) return false;
    for (size_t i = 0; i < count && i < 64; i++) {
        revamp_accelerator_info info{};
        info.struct_size = sizeof info;
        if (get_info(accelerators[i], &info) != REVAMP_OK) return false;
    }
    return true;
}

// Returns the SPIR-V of the n-body kernel with a different softening constant for each `number`.
std::vector<uint32_t> nbody_variant(uint32_t number) {
    constexpr uint32_t header = 5, op_constant = 43, softening = 0x3C23D70A; // 0.01F
    const Shader &shader = compiled_nbody_shader;
    std::vector<uint32_t> words(shader.words, shader.words + shader.bytes / 4);
    for (size_t i = header; i < words.size() && words[i] >> 16; i += words[i] >> 16)
        if ((words[i] & 0xFFFF) == op_constant && words[i + 3] == softening) {
            words[i + 3] += number;
            return words;
        }
    return {};
}

bool run_kernels(const char *path, const char *device) {
    constexpr uint32_t kernels = 50;
    constexpr int32_t bodies = 256, elements = 4 * bodies;
    void *library = dlopen(path, RTLD_NOW);
    if (!library) return false;
#define FUNCTION(name) const auto name = reinterpret_cast<decltype(&::revamp_##name)>(dlsym(library, "revamp_" #name))
    FUNCTION(accelerator_find);
    FUNCTION(accelerator_get_default_view);
    FUNCTION(accelerator_view_wait);
    FUNCTION(array_create);
    FUNCTION(kernel_create);
    FUNCTION(dispatch);
#undef FUNCTION
    if (!accelerator_find || !accelerator_get_default_view || !accelerator_view_wait || !array_create ||
        !kernel_create || !dispatch)
        return false;
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_array arrays[2];
    if (accelerator_find(device, &accelerator) != REVAMP_OK) return false;
    if (accelerator_get_default_view(accelerator, &view) != REVAMP_OK) return false;
    for (revamp_array &array : arrays)
        if (array_create(view, 1, &elements, 4, nullptr, &array) != REVAMP_OK) return false;
    const revamp_argument arguments[] = {revamp_argument_buffer(0, arrays[0]), revamp_argument_buffer(1, arrays[1]),
                                         revamp_argument_push_constant(0, &bodies, 4)};
    for (uint32_t i = 0; i < kernels; i++) {
        const std::vector<uint32_t> words = nbody_variant(i);
        revamp_kernel_options options{};
        options.struct_size = sizeof options;
        options.spirv = words.data();
        options.spirv_size = words.size() * 4;
        revamp_kernel kernel;
        if (words.empty() || kernel_create(accelerator, &options, &kernel) != REVAMP_OK) return false;
        revamp_dispatch_info info{};
        info.struct_size = sizeof info;
        info.groups[0] = info.groups[1] = info.groups[2] = 1;
        info.arguments = arguments;
        info.argument_count = 3;
        if (dispatch(view, kernel, &info) != REVAMP_OK) return false;
    }
    return accelerator_view_wait(view) == REVAMP_OK;
}

bool list_with_plain_vulkan() {
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
        auto properties = vk_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id);
        vk.GetPhysicalDeviceProperties2(device, &properties);
    }
    return true;
}

} // namespace

int main(int argc, char **argv) {
    bool succeeded = false;
    const double seconds = timed([&] {
        if (argc == 3 && std::strcmp(argv[1], "revamp") == 0) succeeded = list_with_revamp(argv[2]);
        if (argc == 4 && std::strcmp(argv[1], "kernels") == 0) succeeded = run_kernels(argv[2], argv[3]);
        if (argc == 2 && std::strcmp(argv[1], "plain") == 0) succeeded = list_with_plain_vulkan();
    });
    if (succeeded) std::printf("%.9f\n", seconds);
    return succeeded ? 0 : 1;
}
