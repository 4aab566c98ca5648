// Tests of <revamp/vulkan.hpp>: objects that C++ programs share with Vulkan (docs/interop.md). examples-amp/particles
// uses a VkDevice of the program.
#include "../check.hpp"
#include <amp.h>
#include <revamp/vulkan.hpp>

#include <numeric>

using namespace concurrency;

namespace {

// Finds a Vulkan device by its path. get_all() lists none, because this program has no compiled kernels.
accelerator_view vulkan_view() {
    revamp_accelerator all[64];
    std::size_t count = 0;
    CHECK(revamp_accelerator_list(all, 64, &count) == REVAMP_OK);
    for (std::size_t i = 0; i < count && i < 64; i++) {
        revamp_accelerator_info info = {};
        info.struct_size = sizeof info;
        CHECK(revamp_accelerator_get_info(all[i], &info) == REVAMP_OK);
        const std::string path = info.device_path;
        if (path.rfind("vulkan\\", 0) == 0 && !info.unusable_reason)
            return accelerator(std::wstring(path.begin(), path.end())).default_view;
    }
    throw check::skipped{"there is no Vulkan device"};
}

} // namespace

TEST(two_arrays_share_a_buffer) {
    const accelerator_view view = vulkan_view();
    const revamp_vulkan_view_info info = revamp::vulkan::get_view_info(view);
    CHECK(info.device && info.queue && !info.is_of_program);
    CHECK(revamp::vulkan::get_device_requirements(view.accelerator).required_feature_count == 3);
    {
        const revamp::vulkan::queue_lock lock(view);
        CHECK_THROWS(runtime_exception, revamp::vulkan::queue_lock(view),
                     CHECK_CONTAINS(std::string(e.what()), "already"));
    }
    std::vector<int> numbers(1000), got(1000);
    std::iota(numbers.begin(), numbers.end(), 1);
    const array<int, 2> first(20, 50, numbers.begin(), numbers.end(), view);
    const revamp_vulkan_array_info buffer = revamp::vulkan::get_buffer(first);
    CHECK(buffer.size == 4000);
    revamp_vulkan_buffer_info buffer_info = {};
    buffer_info.buffer = buffer.buffer;
    buffer_info.offset = buffer.offset;
    buffer_info.size = buffer.offset + buffer.size;
    buffer_info.usage = buffer.usage;
    array<int, 2> second = revamp::vulkan::make_array<int>(extent<2>(10, 100), view, buffer_info);
    CHECK(second.accelerator_view == view && second.extent[1] == 100);
    // The library does not order accesses to the two arrays: it treats the VkBuffer as the program's.
    revamp::vulkan::wait(second, REVAMP_ACCESS_READ, revamp::vulkan::signal(first, REVAMP_ACCESS_READ));
    copy(second, got.begin());
    CHECK(got == numbers);
    buffer_info.size = 4;
    CHECK_THROWS(runtime_exception, revamp::vulkan::make_array<int>(extent<2>(10, 100), view, buffer_info),
                 CHECK_CONTAINS(std::string(e.what()), "the VkBuffer has 4"));
}

TEST(memory_is_exported_and_imported) {
    const accelerator_view view = vulkan_view();
    std::vector<float> numbers(1000, 1.5f), got(1000);
    try {
        array<float, 1> first = revamp::vulkan::make_exportable_array<float>(extent<1>(1000), view);
        copy(numbers.begin(), numbers.end(), first);
        view.wait();
        array<float, 1> second =
            revamp::vulkan::import_array<float>(extent<1>(1000), view, revamp::vulkan::export_array(first));
        copy(second, got.begin());
        CHECK(got == numbers);
    } catch (const unsupported_feature &e) {
        throw check::skipped{e.what()};
    }
}

TEST(host_threads_have_no_vulkan_objects) {
    const accelerator_view view = accelerator(accelerator::direct3d_warp).default_view;
    const array<int, 1> numbers(4, view);
    CHECK_THROWS(unsupported_feature, revamp::vulkan::get_view_info(view),
                 CHECK_CONTAINS(std::string(e.what()), "device_path begins with vulkan"));
    CHECK_THROWS(unsupported_feature, revamp::vulkan::get_buffer(numbers),
                 CHECK_CONTAINS(std::string(e.what()), "device_path"));
}

CHECK_MAIN
