// The device that runs compiled kernels in the tests.
#ifndef DEVICE_HPP
#define DEVICE_HPP

#include <amp.h>
#include <check.hpp>

inline concurrency::accelerator_view vulkan_view() {
    for (const concurrency::accelerator &one : concurrency::accelerator::get_all())
        if (one.device_path.compare(0, 6, L"vulkan") == 0) return one.default_view;
    SKIP("there is no Vulkan device");
}

#endif
