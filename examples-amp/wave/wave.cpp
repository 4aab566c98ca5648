// Simulates waves in a square basin on all accelerators. Each accelerator computes a band of rows, and needs for it one
// row of each neighbour's band. Only these rows move between devices: array_views know where each element was last
// written. An accelerator computes the rows that its neighbours need first; they move while it computes the others.
#include <amp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

using namespace concurrency;

// Computes one time step of a band. At the beginning `band` has the heights one step before `now`, at the end the
// heights one step after `now`. `now` has one more row above and below.
void step(const accelerator_view &by, const array_view<const float, 2> &now, const array_view<float, 2> &band) {
    parallel_for_each(
        by, band.extent, [=](index<2> at) restrict(amp) {
            const int y = at[0] + 1, x = at[1];
            if (x == 0 || x + 1 == now.extent[1]) return;
            const float around = now(y - 1, x) + now(y + 1, x) + now(y, x - 1) + now(y, x + 1);
            band[at] = 2 * now(y, x) - band[at] + 0.25f * (around - 4 * now(y, x));
        });
}

// Computes the heights after `steps`; returns the time in milliseconds.
double simulate(const std::vector<accelerator_view> &by, int size, int steps, std::vector<float> &heights) {
    std::vector<float> previous_heights = heights;
    array_view<float, 2> now(size, size, heights), before(size, size, previous_heights);
    const auto start = std::chrono::steady_clock::now();
    const int parts = static_cast<int>(by.size());
    // The rows on the border stay at rest.
    const auto first_row = [&](int part) { return 1 + (size - 2) * part / parts; };
    const auto step_rows = [&](int part, int first, int end) {
        if (first >= end) return;
        accelerator_view worker = by[static_cast<std::size_t>(part)];
        step(worker, now.section(first - 1, 0, end - first + 2, size), before.section(first, 0, end - first, size));
        // Submits the kernel alone, so that copies of its rows need not wait for other rows.
        worker.flush();
    };
    for (int n = 0; n < steps; n++) {
        for (int i = 0; i < parts; i++) {
            const int first = first_row(i), end = first_row(i + 1);
            if (i > 0) step_rows(i, first, first + 1);
            if (i + 1 < parts) step_rows(i, std::max(end - 1, first + (i > 0)), end);
        }
        for (int i = 0; i < parts; i++)
            step_rows(i, first_row(i) + (i > 0), first_row(i + 1) - (i + 1 < parts));
        std::swap(now, before);
    }
    now.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (steps % 2) heights = previous_heights;
    before.discard_data();
    return time.count();
}

// True if the program's kernels run on `a`: GPUs do not run kernels that were compiled for the host alone.
bool runs_kernels(const accelerator &a) {
    if (a.device_path == accelerator::cpu_accelerator) return false;
    try {
        array<int, 1> one(1, a.default_view);
        parallel_for_each(
            a.default_view, one.extent, [&one](index<1> idx) restrict(amp) { one[idx] = 1; });
        a.default_view.wait();
        return true;
    } catch (const runtime_exception &) {
        return false;
    }
}

// The accelerators that share the work: accelerators that are not emulated or, without these, the emulated ones.
std::vector<accelerator_view> workers() {
    std::vector<accelerator_view> found;
    for (bool emulated : {false, true}) {
        for (const accelerator &a : accelerator::get_all())
            if (a.is_emulated == emulated && runs_kernels(a)) found.push_back(a.default_view);
        if (!found.empty()) break;
    }
    return found;
}

// Two drops that have just fallen into the basin.
std::vector<float> drops(int size) {
    std::vector<float> heights(unsigned(size) * unsigned(size));
    for (std::size_t i = 0; i < heights.size(); i++) {
        const float y = float(i / unsigned(size)) / float(size), x = float(i % unsigned(size)) / float(size);
        for (float at : {0.35f, 0.65f})
            heights[i] += std::exp(-1500 * ((x - at) * (x - at) + (y - at) * (y - at)));
    }
    return heights;
}

int main(int argc, char **argv) {
    const int size = argc > 1 ? std::atoi(argv[1]) : 256, steps = argc > 2 ? std::atoi(argv[2]) : 200;
    const std::vector<accelerator_view> by = workers();
    if (by.empty() || size < 2 + static_cast<int>(by.size()) || size > 32768 || steps < 1) {
        std::wcerr << "usage: wave [SIZE, up to 32768] [STEPS] [FILE]\n";
        return 2;
    }
    std::vector<float> first = drops(size), alone = first, together = first;
    simulate(by, size, 1, first); // each accelerator loads the kernel before the time is taken
    const double one = simulate({by.front()}, size, steps, alone), all = simulate(by, size, steps, together);
    std::wcout << by.front().accelerator.description << L": " << one << L" ms\n"
               << by.size() << L" accelerators: " << all << L" ms, " << one / all << L" times as fast\n";

    std::ofstream file(argc > 3 ? argv[3] : "wave.ppm", std::ios::binary);
    file << "P6 " << size << " " << size << " 255\n";
    bool right = true;
    for (std::size_t i = 0; i < alone.size(); i++) {
        right &= std::fabs(alone[i] - together[i]) < 1e-4f;
        const int light = std::min(255, std::max(0, 110 + int(1500 * together[i])));
        for (int colour : {light / 2, light * 3 / 4, light})
            file.put(char(colour));
    }
    std::wcout << steps << L" steps of " << size << L"x" << size << L" heights: " << (right ? L"right" : L"WRONG")
               << std::endl;
    return file && right ? 0 : 1;
}
