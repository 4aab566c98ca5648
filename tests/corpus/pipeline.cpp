// Overlaps copies and kernels: staging arrays, copy_async, markers, completion_future::then, a new accelerator_view.
#include "stdafx.h"
#include "timer.h"
#include <algorithm>
#include <amp.h>
#include <atomic>
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <vector>

using namespace concurrency;

const int frame_size = 4096;
const int frames = 6;

struct stage {
    array<float> input; // on the host, for transfers to the device
    array<float> device;
    array<float> output; // on the host, for transfers from the device
    completion_future upload, download;

    stage(accelerator_view cpu_view, accelerator_view device_view)
        : input(frame_size, cpu_view, device_view), device(frame_size, device_view),
          output(frame_size, cpu_view, device_view) {}
};

void produce(float *data, int frame) {
    for (int i = 0; i < frame_size; ++i)
        data[i] = static_cast<float>((i * 7 + frame * 13) % 101);
}

float filter(float x, int frame) restrict(cpu, amp) {
    return x * 2.0f + frame;
}

bool staged(accelerator_view device_view) {
    accelerator cpu_accelerator(accelerator::cpu_accelerator);
    accelerator_view cpu_view = cpu_accelerator.default_view;
    std::vector<std::shared_ptr<stage>> stages;
    for (int i = 0; i < 2; ++i)
        stages.push_back(std::make_shared<stage>(cpu_view, device_view));
    if (stages[0]->input.associated_accelerator_view != device_view || stages[0]->input.accelerator_view != cpu_view)
        return false;

    std::vector<float> sums;
    bool passed = true;
    auto consume = [&](stage &s, int frame) {
        s.download.get();
        const float *result = s.output.data();
        for (int i = 0; i < frame_size; ++i)
            passed = passed && result[i] == filter(static_cast<float>((i * 7 + frame * 13) % 101), frame);
        sums.push_back(std::accumulate(result, result + frame_size, 0.0f));
    };
    for (int frame = 0; frame < frames; ++frame) {
        stage &s = *stages[frame % 2];
        if (frame >= 2) consume(s, frame - 2);
        produce(s.input.data(), frame);
        s.upload = copy_async(s.input, s.device);
        s.upload.wait();
        array<float> &data = s.device;
        parallel_for_each(
            device_view, data.extent,
            [ =, &data ](index<1> idx) restrict(amp) { data[idx] = filter(data[idx], frame); });
        s.download = copy_async(s.device, s.output);
    }
    consume(*stages[0], frames - 2);
    consume(*stages[1], frames - 1);
    for (size_t i = 0; i < sums.size(); ++i)
        std::wcout << L"frame " << i << L": " << sums[i] << std::endl;
    return passed;
}

bool markers(accelerator_view view) {
    std::vector<int> data(frame_size, 1);
    array_view<int> av(frame_size, data);
    std::atomic<int> order(0);
    std::mutex lock;
    std::vector<int> seen;
    std::promise<void> done;

    parallel_for_each(
        view, av.extent, [=](index<1> i) restrict(amp) { av[i] += i[0]; });
    completion_future marker = view.create_marker();
    marker.then([&]() {
        std::lock_guard<std::mutex> guard(lock);
        seen.push_back(++order);
    });
    parallel_for_each(
        view, av.extent, [=](index<1> i) restrict(amp) { av[i] *= 2; });
    view.flush();
    view.create_marker().then([&]() {
        std::lock_guard<std::mutex> guard(lock);
        seen.push_back(++order + 100);
        done.set_value();
    });
    std::shared_future<void> synchronized = av.synchronize_async();
    done.get_future().wait();
    synchronized.wait();
    marker.get();
    for (int i = 0; i < frame_size; ++i)
        if (data[i] != 2 * (1 + i)) return false;
    // The first continuation may not have run yet.
    while (order < 2)
        std::this_thread::yield();
    std::lock_guard<std::mutex> guard(lock);
    // The continuations may run in either order.
    return seen == std::vector<int>({1, 102}) || seen == std::vector<int>({101, 2});
}

bool futures(accelerator_view view) {
    array<int> a(1000, view);
    std::vector<int> source(1000), target(1000);
    std::iota(source.begin(), source.end(), 0);
    completion_future empty;
    if (empty.valid()) return false;
    completion_future up = copy_async(source.begin(), source.end(), a);
    if (!up.valid()) return false;
    completion_future same(up);
    same.get();
    if (up.wait_for(std::chrono::seconds(10)) != std::future_status::ready) return false;
    // On another thread
    std::future<int> sum = std::async(std::launch::async, [&]() {
        completion_future down = copy_async(a, target.begin());
        down.get();
        return std::accumulate(target.begin(), target.end(), 0);
    });
    if (sum.get() != 999 * 500) return false;
    array<int> b(1000, view);
    std::vector<completion_future> parts;
    for (int i = 0; i < 4; ++i)
        parts.push_back(copy_async(a.section(i * 250, 250), b.section((3 - i) * 250, 250)));
    std::for_each(parts.begin(), parts.end(), [](completion_future &f) { f.get(); });
    const std::vector<int> reordered = b;
    return reordered[0] == 750 && reordered[999] == 249;
}

int main() {
    accelerator_view view = accelerator().create_view(queuing_mode_automatic);
    std::wcout << L"Running on " << view.accelerator.description << std::endl;
    Timer timer;
    timer.Start();
    const bool a = staged(view), b = markers(view), c = futures(view);
    timer.Stop();
    std::wcout << L"staging arrays " << (a ? L"ok" : L"WRONG") << L", markers " << (b ? L"ok" : L"WRONG")
               << L", futures " << (c ? L"ok" : L"WRONG") << L", " << timer.Elapsed() << L" ms" << std::endl;
    return a && b && c ? 0 : 1;
}
