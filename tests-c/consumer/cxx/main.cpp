// Runs a kernel on a Vulkan device, or a host kernel if there is no device.
#include "app_add.spv.h"
#include <cstdio>
#include <numeric>
#include <revamp.h>
#include <stdexcept>
#include <vector>

namespace {
void check(revamp_status status) {
    if (status != REVAMP_OK) throw std::runtime_error(revamp_last_error_message());
}

void add(const revamp_thread_id *id, void *context) {
    static_cast<std::uint32_t *>(context)[id->global[0]] += 7;
}

void run() {
    std::vector<std::uint32_t> data(256);
    std::iota(data.begin(), data.end(), 0U);
    std::int32_t extent = 256;
    revamp_accelerator accelerator = nullptr;
    revamp_accelerator_view view = nullptr;
    if (revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &accelerator) == REVAMP_OK) {
        revamp_array array = nullptr;
        revamp_kernel kernel = nullptr;
        check(revamp_accelerator_get_default_view(accelerator, &view));
        check(revamp_array_create(view, 1, &extent, sizeof data[0], nullptr, &array));
        check(revamp_copy_to_array(data.data(), data.size() * sizeof data[0], array));
        check(revamp_kernel_find(accelerator, "app_add", &kernel));
        revamp_argument argument = revamp_argument_buffer(0, array);
        revamp_dispatch_info info{};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = &argument;
        info.argument_count = 1;
        check(revamp_dispatch(view, kernel, &info));
        check(revamp_copy_from_array(array, data.data(), data.size() * sizeof data[0]));
        check(revamp_kernel_release(kernel));
        check(revamp_array_destroy(array));
    } else {
        std::printf("no device: %s\n", revamp_last_error_message());
        check(revamp_accelerator_get_default(REVAMP_CODE_HOST, &accelerator));
        check(revamp_accelerator_get_default_view(accelerator, &view));
        revamp_parallel_for_each_info info{};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.function = add;
        info.context = data.data();
        check(revamp_parallel_for_each(view, &info));
        check(revamp_accelerator_view_wait(view));
    }
    for (std::uint32_t i = 0; i < data.size(); ++i)
        if (data[i] != i + 7) throw std::runtime_error("a wrong sum");
    if (app_add_spv_size < 20) throw std::runtime_error("no embedded module");
}
} // namespace

int main() {
    try {
        run();
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    return 0;
}
