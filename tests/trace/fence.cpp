// Compares the duration of kernels by the timestamps of the device with the duration by a VkFence of this program: the
// time from the launch until the fence, which the program submits after the kernel, is signalled. The fence also takes
// the time of the submission, so the figures of an almost empty kernel are subtracted from both. usage: fence [ROUNDS].
// Prints medians for each kernel; fails if the two differ by more than 5 us, or without Vulkan.
#include <amp.h>
#include <revamp/times.hpp>
#include <revamp/vulkan.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

using namespace concurrency;

namespace {

[[noreturn]] void fail(const char *why) {
    std::fprintf(stderr, "fence: %s\n", why);
    std::exit(1);
}

// A fence on the queue of an accelerator_view.
class fence {
  public:
    explicit fence(const accelerator_view &view) : m_view(view), m_info(revamp::vulkan::get_view_info(view)) {
        void *const library = dlopen("libvulkan.so.1", RTLD_NOW);
        if (!library) fail("libvulkan.so.1 cannot be loaded");
        m_get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
        const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
        if (function<PFN_vkCreateFence>("vkCreateFence")(m_info.device, &info, nullptr, &m_fence) != VK_SUCCESS)
            fail("a VkFence cannot be created");
        m_submit = function<PFN_vkQueueSubmit>("vkQueueSubmit");
        m_status = function<PFN_vkGetFenceStatus>("vkGetFenceStatus");
        m_reset = function<PFN_vkResetFences>("vkResetFences");
    }
    fence(const fence &) = delete;
    fence &operator=(const fence &) = delete;
    ~fence() { function<PFN_vkDestroyFence>("vkDestroyFence")(m_info.device, m_fence, nullptr); }

    // Waits until the queue has done all work that was submitted before.
    void wait() {
        {
            const revamp::vulkan::queue_lock lock(m_view);
            if (m_submit(m_info.queue, 0, nullptr, m_fence) != VK_SUCCESS) fail("the fence cannot be submitted");
        }
        VkResult status;
        while ((status = m_status(m_info.device, m_fence)) == VK_NOT_READY)
            ;
        if (status != VK_SUCCESS || m_reset(m_info.device, 1, &m_fence) != VK_SUCCESS) fail("the fence failed");
    }

  private:
    template <class F> F function(const char *name) const {
        const auto found = m_get(m_info.instance, name);
        if (!found) fail(name);
        return reinterpret_cast<F>(found);
    }

    accelerator_view m_view;
    revamp_vulkan_view_info m_info;
    VkFence m_fence = VK_NULL_HANDLE;
    PFN_vkGetInstanceProcAddr m_get = nullptr;
    PFN_vkQueueSubmit m_submit = nullptr;
    PFN_vkGetFenceStatus m_status = nullptr;
    PFN_vkResetFences m_reset = nullptr;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
    using clock = std::chrono::steady_clock;
    using microseconds = std::chrono::duration<double, std::micro>;
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
    const accelerator_view view = accelerator().default_view;
    array<unsigned> numbers(1 << 16, view);
    fence done(view);
    double empty_by_fence = 0, empty_by_timestamps = 0, worst = 0;
    for (const int steps : {0, 1000, 10000, 100000}) {
        std::vector<double> by_fence, by_timestamps;
        for (int round = 0; round < rounds; round++) {
            view.wait();
            const auto begun = clock::now();
            const completion_future launch = revamp::timed_parallel_for_each(
                view, numbers.extent, [&numbers, steps ](index<1> i) restrict(amp) {
                    unsigned number = static_cast<unsigned>(i[0]);
                    for (int step = 0; step < steps; step++)
                        number = number * 1664525u + 1013904223u;
                    numbers[i] = number;
                });
            view.flush();
            done.wait();
            by_fence.push_back(microseconds(clock::now() - begun).count());
            by_timestamps.push_back(microseconds(revamp::times_of(launch).duration()).count());
        }
        const double fence_median = median(by_fence), timestamps_median = median(by_timestamps);
        if (steps == 0) empty_by_fence = fence_median, empty_by_timestamps = timestamps_median;
        const double fence_time = fence_median - empty_by_fence, device_time = timestamps_median - empty_by_timestamps;
        worst = std::max(worst, std::abs(fence_time - device_time));
        std::printf("%6d steps: fence %.1f us, timestamps %.1f us; without the empty kernel's: %.1f and %.1f us\n",
                    steps, fence_median, timestamps_median, fence_time, device_time);
    }
    std::printf("the largest difference: %.1f us\n", worst);
    return worst <= 5 ? 0 : 1;
}
