// What a trace costs a program: each round times the same work with a trace and without, in turns. The trace's own
// beginning and end count. usage: cost launches | kernels [ROUNDS] [FILE]; prints the medians and their ratio.
#include <amp.h>
#include <revamp/trace.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

using namespace concurrency;

namespace {

// Launches that do next to nothing, on as many elements as one thread runs.
void launch_bound(const array_view<int> &view, int launches) {
    const array_view<int> one = view.section(0, 1);
    for (int n = 0; n < launches; n++)
        parallel_for_each(
            one.extent, [=](index<1> i) restrict(amp, cpu) { one[i] += 1; });
}

// Launches that take about a millisecond each.
void compute_bound(const array_view<int> &view, int launches) {
    for (int n = 0; n < launches; n++)
        parallel_for_each(
            view.extent, [=](index<1> i) restrict(amp, cpu) {
                unsigned value = static_cast<unsigned>(view[i]);
                for (int k = 0; k < 200; k++)
                    value = value * 1664525u + 1013904223u;
                view[i] = static_cast<int>(value);
            });
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
    using clock = std::chrono::steady_clock;
    const bool launches = argc > 1 && !std::strcmp(argv[1], "launches");
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
    const std::string file = argc > 3 ? argv[3] : "cost.pftrace";
    std::vector<int> numbers(16384);
    const array_view<int> view(16384, numbers);
    accelerator_view queue = accelerator().default_view;
    // Also the time of processors, which is steadier beside other programs.
    double processors = 0;
    const auto seconds = [&](bool traces, int count) {
        const auto begun = clock::now();
        const std::clock_t used = std::clock();
        if (traces) revamp::trace_begin(file);
        launches ? launch_bound(view, count) : compute_bound(view, count);
        queue.wait();
        if (traces) revamp::trace_end();
        processors = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
        return std::chrono::duration<double>(clock::now() - begun).count();
    };
    // Half a second of work.
    int count = 100;
    for (double took = seconds(false, count); took < 0.4; took = seconds(false, count))
        count = took < 0.04 ? count * 10 : static_cast<int>(count * 0.5 / took) + 1;
    std::vector<double> without, with, ratios, of_processors;
    for (int n = 0; n < rounds; n++) {
        without.push_back(seconds(false, count) / count);
        const double before = processors;
        with.push_back(seconds(true, count) / count);
        ratios.push_back(with.back() / without.back());
        of_processors.push_back(processors / before);
    }
    std::printf(
        "%s: %d launches, %.0f ns each, %.0f ns with a trace, ratio %.3f (%.3f to %.3f), of processor time %.3f\n",
        argv[1], count, 1e9 * median(without), 1e9 * median(with), median(ratios),
        *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
        median(of_processors));
}
