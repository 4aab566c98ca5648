// Tests repeated launches. The library caches launches (decision 14), and must notice when a cached launch is outdated.
// It caches a launch at the second call if nothing changed since the first call, so each kernel runs several times.
#include "device.hpp"

#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

using namespace concurrency;

namespace {

constexpr int count = 256, times = 4;

void add(const accelerator_view &gpu, const array_view<int> &to, int increment, int launches = times) {
    for (int n = 0; n < launches; ++n)
        parallel_for_each(
            gpu, to.extent, [=](index<1> i) restrict(amp) { to[i] += increment; });
}
void sum(const accelerator_view &gpu, const array_view<const int> &from, const array_view<int> &to,
         int launches = times) {
    for (int n = 0; n < launches; ++n)
        parallel_for_each(
            gpu, to.extent, [=](index<1> i) restrict(amp) { to[i] += from[i]; });
}
// Computes a + factor * b like a device: wraps on overflow.
int wrap(int a, int factor, int b = 1) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(factor) * static_cast<unsigned>(b));
}
bool all_are(const std::vector<int> &values, int expected) {
    return std::count(values.begin(), values.end(), expected) == static_cast<long>(values.size());
}

} // namespace

TEST(kernels_see_host_writes_between_launches) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> source(count, 1), target(count);
    const array_view<int> from(source);
    const array_view<int> to(target);
    int expected = 0;
    for (int round = 1; round < 6; ++round) {
        sum(gpu, from, to);
        expected += times * source[0];
        CHECK(to[7] == expected);
        for (int i = 0; i < count; ++i)
            from[i] = round;
        sum(gpu, from, to);
        expected += times * round;
        to.synchronize();
        CHECK(all_are(target, expected));
    }
}

TEST(values_and_domains_that_change) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> target(9 * count);
    const array_view<int> to(target);
    for (int increment = 1; increment <= 10; ++increment)
        add(gpu, to, increment, 1);
    // The size grows, so that each launch needs more workgroups than the previous launch.
    for (int size = 1; size <= 8; ++size)
        parallel_for_each(
            gpu, extent<1>(size * count), [=](index<1> i) restrict(amp) { to[i] += 1000; });
    to.synchronize();
    CHECK(target[0] == 8055 && target[8 * count - 1] == 1055 && target[8 * count] == 55);
}

// The device's copy of the data grows, so the library reallocates the copy.
TEST(sections_while_the_device_copy_grows) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> target(64 * count);
    const array_view<int> whole(target);
    const array_view<int> first_section = whole.section(0, count);
    for (int blocks = 1; blocks <= 64; blocks *= 2) {
        add(gpu, first_section, 1);
        add(gpu, whole.section(0, blocks * count), 10, 1);
        add(gpu, first_section, 1);
    }
    whole.synchronize();
    CHECK(target[0] == 2 * times * 7 + 70 && target[count] == 60 && target[64 * count - 1] == 10);
}

TEST(views_that_come_and_go) {
    const accelerator_view gpu = vulkan_view();
    for (int round = 0; round < 20; ++round) {
        std::vector<int> target(count, round);
        {
            const array_view<int> to(target);
            add(gpu, to, 1);
        }
        CHECK(all_are(target, round + times));
    }
    std::vector<int> lasting_data(count);
    const array_view<int> lasting_view(lasting_data);
    for (int round = 0; round < 20; ++round) {
        add(gpu, lasting_view, 1);
        const array_view<int> part = lasting_view.section(round, 1);
        add(gpu, part, 100);
    }
    lasting_view.synchronize();
    CHECK(lasting_data[0] == 20 * times + 100 * times && lasting_data[20] == 20 * times);
}

TEST(memory_that_changes_without_the_view) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> source(count, 1), target(count);
    const array_view<const int> from(source);
    const array_view<int> to(target);
    sum(gpu, from, to);
    to.synchronize();
    source.assign(count, 5);
    from.refresh();
    sum(gpu, from, to);
    to.synchronize();
    CHECK(all_are(target, times * 6));
    to.discard_data();
    parallel_for_each(
        gpu, to.extent, [=](index<1> i) restrict(amp) { to[i] = 3; });
    add(gpu, to, 1);
    to.synchronize();
    CHECK(all_are(target, 3 + times));
}

TEST(arrays_and_views_of_them) {
    const accelerator_view gpu = vulkan_view();
    array<int> data(count, gpu);
    const auto add_to_array = [&](int increment) {
        for (int n = 0; n < times; ++n)
            parallel_for_each(
                data.extent, [&data, increment ](index<1> i) restrict(amp) { data[i] += increment; });
    };
    copy(std::vector<int>(count, 0).begin(), data);
    add_to_array(1);
    copy(std::vector<int>(count, 100).begin(), data);
    add_to_array(1);
    {
        const array_view<int> seen(data);
        // Moves the array's data to the host; the next launch moves it back.
        seen[3] = 1000;
        add_to_array(1);
        CHECK(seen[3] == 1000 + times && seen[4] == 100 + 2 * times);
        add(gpu, seen, 10);
        add_to_array(1);
        seen[3] = 0;
    }
    add_to_array(1);
    const std::vector<int> got = data;
    CHECK(got[3] == times && got[4] == 100 + 14 * times);
}

TEST(alternating_accelerator_views) {
    const accelerator_view one = vulkan_view();
    const accelerator_view two = one.accelerator.create_view();
    std::vector<int> target(count);
    const array_view<int> to(target);
    for (int round = 0; round < 8; ++round) {
        add(one, to, 1);
        add(two, to, 10);
        // These launches name no accelerator_view, so any accelerator_view may run them.
        for (int n = 0; n < times; ++n)
            parallel_for_each(
                to.extent, [=](index<1> i) restrict(amp) { to[i] += 100; });
    }
    to.synchronize();
    CHECK(all_are(target, 8 * times * 111));
}

TEST(launches_during_asynchronous_copies) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> source(1 << 20, 1), target(1 << 20);
    const array_view<int> from(source);
    const array_view<int> to(target);
    int expected = 0;
    for (int round = 1; round < 5; ++round) {
        sum(gpu, from, to);
        expected += times * round;
        const std::vector<int> next(1 << 20, round + 1);
        const completion_future copied = copy_async(next.begin(), next.end(), from);
        const completion_future synchronized = to.synchronize_async();
        sum(gpu, from, to, 1);
        copied.get();
        synchronized.get();
        // The launch must see all elements from before the copy, or all from after it.
        const int first = to[0] - expected;
        CHECK(first == round || first == round + 1);
        expected += first;
        to.synchronize();
        CHECK(all_are(target, expected));
    }
}

TEST(threads_with_views_of_their_own) {
    const accelerator gpu = vulkan_view().accelerator;
    std::vector<int> source(count, 1);
    const array_view<const int> from(source);
    std::vector<std::thread> threads;
    std::vector<std::vector<int>> targets(6, std::vector<int>(count));
    for (auto &target : targets)
        threads.emplace_back([&] {
            const accelerator_view thread_view = gpu.create_view();
            const array_view<int> to(target);
            sum(thread_view, from, to, 300);
            to.synchronize();
        });
    for (auto &thread : threads)
        thread.join();
    for (const auto &target : targets)
        CHECK(all_are(target, 300));
}

TEST(threads_on_parts_of_one_view) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> target(8 * count);
    const array_view<int> whole(target);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const array_view<int> part = whole.section(2 * t * count, count);
            for (int round = 0; round < 20; ++round) {
                add(gpu, part, 1);
                // Only this thread uses `further`. The launch on `further` makes the device's copy grow or move.
                const array_view<int> further = whole.section((2 * t + 1) * count, count);
                further[round] = round;
                add(gpu, further, 1, 1);
            }
        });
    for (auto &thread : threads)
        thread.join();
    whole.synchronize();
    for (int t = 0; t < 4; ++t) {
        CHECK(target[2 * t * count] == 20 * times && target[2 * t * count + count - 1] == 20 * times);
        CHECK(target[(2 * t + 1) * count + 30] == 20 && target[(2 * t + 1) * count] == 20);
    }
}

// Launches use an array while another thread creates and releases views of it.
TEST(views_of_a_captured_array_released_during_launches) {
    const accelerator_view gpu = vulkan_view();
    const array<int> data(count, std::vector<int>(count, 1).begin(), gpu);
    std::vector<int> target(count);
    const array_view<int> to(target);
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done)
            const array_view<const int> seen(data);
    });
    for (int n = 0; n < 2000; ++n)
        parallel_for_each(
            gpu, to.extent, [ =, &data ](index<1> i) restrict(amp) { to[i] += data[i]; });
    done = true;
    other.join();
    to.synchronize();
    CHECK(all_are(target, 2000));
}

// Random sequences of launches and host accesses, compared with a model on the host.
TEST(random_programs) {
    const accelerator_view gpu = vulkan_view();
    const accelerator_view other = gpu.accelerator.create_view();
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
        std::vector<int> a(count), b(count), model_a(count), model_b(count);
        std::vector<array_view<int>> views = {array_view<int>(a), array_view<int>(b)};
        std::vector<int> *const model[2] = {&model_a, &model_b};
        struct part {
            array_view<int> view;
            int which, from;
        };
        std::vector<part> parts;
        for (int step = 0; step < 250; ++step) {
            const accelerator_view &where = pick(5) ? gpu : other;
            const int which = pick(2);
            switch (pick(9)) {
            case 0:
            case 1:
            case 2: {
                const int launches = 1 + pick(5), increment = pick(7);
                add(where, views[which], increment, launches);
                for (int &v : *model[which])
                    v = wrap(v, launches * increment);
                break;
            }
            case 3: {
                const int launches = 1 + pick(4);
                sum(where, views[1 - which], views[which], launches);
                for (int i = 0; i < count; ++i)
                    (*model[which])[i] = wrap((*model[which])[i], launches, (*model[1 - which])[i]);
                break;
            }
            case 4: {
                const int at = pick(count);
                CHECK(views[which][at] == (*model[which])[at]);
                break;
            }
            case 5: {
                const int at = pick(count);
                views[which][at] = step;
                (*model[which])[at] = step;
                break;
            }
            case 6: {
                const int from = pick(count), size = 1 + pick(count - from);
                parts.push_back({views[which].section(from, size), which, from});
                break;
            }
            case 7:
                if (parts.empty()) break;
                if (pick(3) == 0) {
                    parts.erase(parts.begin() + pick(static_cast<int>(parts.size())));
                } else {
                    const part &one = parts[pick(static_cast<int>(parts.size()))];
                    const int launches = 1 + pick(4);
                    add(where, one.view, 1, launches);
                    for (int i = 0; i < one.view.extent[0]; ++i)
                        (*model[one.which])[one.from + i] = wrap((*model[one.which])[one.from + i], launches);
                }
                break;
            case 8:
                views[which].synchronize();
                CHECK((which ? b : a) == *model[which]);
                break;
            }
        }
        views[0].synchronize();
        views[1].synchronize();
        CHECK(a == model_a && b == model_b);
    }
}

CHECK_MAIN
