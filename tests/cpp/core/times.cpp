// Tests of <revamp/times.hpp>: the times at which launches and copies begin and end.
#include "../check.hpp"
#include <amp.h>
#include <revamp/kernel.h>
#include <revamp/times.hpp>

#include <chrono>
#include <future>
#include <list>
#include <numeric>

using namespace concurrency;

namespace {

const std::uint32_t saxpy_words[] = {
#include "saxpy.inc"
};

std::chrono::nanoseconds now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

// Checks the times of an operation that cannot have begun before `earliest`.
revamp::device_times check_times(const completion_future &done, std::chrono::nanoseconds earliest) {
    const revamp::device_times times = revamp::times_of(done);
    CHECK(times.begin <= times.end && times.duration() == times.end - times.begin);
    if (times.is_host_clock) {
        CHECK(times.begin + times.deviation >= earliest);
        CHECK(times.end <= now() + times.deviation);
    }
    return times;
}

} // namespace

TEST(launches_are_timed_on_the_clock_of_the_host) {
    const auto before = now();
    const accelerator_view view = accelerator(L"host").create_view();
    array<int> numbers(1000, view);
    const auto first = revamp::timed_parallel_for_each(
        view, numbers.extent, [&](index<1> i) restrict(amp) { numbers[i] = i[0]; });
    const auto second = revamp::timed_parallel_for_each(
        view, numbers.extent.tile<10>(), [&](tiled_index<10> i) restrict(amp) { numbers[i] += i.tile[0]; });
    const auto first_times = check_times(first, before), second_times = check_times(second, first_times.end);
    CHECK(first_times.is_host_clock && second_times.is_host_clock);
    // Launches without an accelerator_view.
    const auto third = revamp::timed_parallel_for_each(
        numbers.extent, [&](index<1> i) restrict(amp) { numbers[i] += 1; });
    const auto fourth = revamp::timed_parallel_for_each(
        numbers.extent.tile<10>(), [&](tiled_index<10> i) restrict(amp) { numbers[i] += 1; });
    check_times(fourth, check_times(third, second_times.end).end);
    CHECK(std::vector<int>(numbers)[999] == 999 + 99 + 2);
}

TEST(copies_are_timed) {
    const accelerator_view view = accelerator(L"host").create_view();
    std::vector<int> numbers(1000), got(1000);
    std::iota(numbers.begin(), numbers.end(), 1);
    array<int, 2> a(20, 50, view), b(20, 50, view);
    const array_view<int, 2> over(b);
    const auto before = now();
    const auto in = check_times(revamp::timed_copy_async(numbers.begin(), a), before);
    const auto across = check_times(revamp::timed_copy_async(a, over), in.end);
    check_times(revamp::timed_copy_async(array_view<const int, 2>(over), got.data()), across.end);
    CHECK(got == numbers);
    // Destinations may be temporaries.
    check_times(revamp::timed_copy_async(a, b.section(0, 0, 20, 50)), across.end);
}

TEST(failures_and_untimed_work_are_reported) {
    const accelerator_view view = accelerator(L"host").create_view();
    array<int> numbers(10, view);
    std::list<int> list(10);
    CHECK_THROWS(std::future_error, revamp::times_of(completion_future()));
    CHECK_THROWS(runtime_exception, revamp::times_of(view.create_marker()),
                 CHECK_CONTAINS(std::string(e.what()), "not timed"));
    CHECK_THROWS(runtime_exception, revamp::times_of(copy_async(list.begin(), list.end(), numbers)),
                 CHECK_CONTAINS(std::string(e.what()), "not timed"));
    const auto failed = revamp::timed_parallel_for_each(
        view, numbers.extent, [&](index<1> i) restrict(cpu, amp) {
            numbers[i] = 1;
            if (i[0] == 3) throw std::runtime_error("the third fails");
        });
    CHECK_THROWS(runtime_exception, revamp::times_of(failed), CHECK_CONTAINS(std::string(e.what()), "the third fails"));
    CHECK_THROWS(invalid_compute_domain,
                 revamp::timed_parallel_for_each(view, extent<1>(0), [](index<1>) restrict(amp){}));
}

TEST(spirv_kernels_are_timed) {
    for (const accelerator &gpu : accelerator::get_all()) {
        if (gpu.device_path.compare(0, 6, L"vulkan") != 0) continue;
        const revamp::kernel saxpy(gpu, saxpy_words, sizeof saxpy_words);
        array<float> x(100, gpu.default_view), y(100, gpu.default_view);
        std::vector<float> ones(100, 1.0f);
        copy(ones.begin(), x);
        copy(ones.begin(), y);
        const auto before = now();
        const auto on_named_view = revamp::timed_parallel_for_each(gpu.default_view, y.extent, saxpy, x, y, 2.0f, 100u);
        const auto auto_selected = revamp::timed_parallel_for_each(y.extent, saxpy, x, y, 1.0f, 100u);
        const auto first = check_times(on_named_view, before), second = check_times(auto_selected, before);
        CHECK(first.is_host_clock == second.is_host_clock &&
              first.end <= second.begin + first.deviation + second.deviation);
        CHECK(std::vector<float>(y)[99] == 4.0f);
        return;
    }
    SKIP("there is no Vulkan device");
}
CHECK_MAIN
