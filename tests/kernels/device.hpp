// The device that runs compiled kernels in the tests.
#ifndef DEVICE_HPP
#define DEVICE_HPP

#include <amp.h>
#include <check.hpp>
#include <revamp.h>

// The first usable Vulkan device. Works even in programs without kernels, where get_all() does not list the device.
inline concurrency::accelerator_view vulkan_view() {
    revamp_accelerator all[16];
    size_t count = 0;
    REQUIRE(revamp_accelerator_list(all, 16, &count) == REVAMP_OK);
    for (size_t n = 0; n < count && n < 16; ++n) {
        revamp_accelerator_info info = {};
        info.struct_size = sizeof info;
        REQUIRE(revamp_accelerator_get_info(all[n], &info) == REVAMP_OK);
        const std::string path = info.device_path;
        if (info.kind == REVAMP_ACCELERATOR_VULKAN && !info.unusable_reason)
            return concurrency::accelerator(std::wstring(path.begin(), path.end())).default_view;
    }
    SKIP("there is no Vulkan device");
}

#endif
