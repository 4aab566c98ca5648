// Measures how much a trace slows a program down. Each round times the same work without and with a trace, including
// the begin and end of the trace. Prints medians and ratios. usage: cost launches | waits | kernels [ROUNDS] [FILE]
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

// Runs launches that do very little, on one element. If `waits` is true, the host waits for each launch.
void launch_bound(const array_view<int> &view, int launches, bool waits, accelerator_view queue) {
    const array_view<int> one = view.section(0, 1);
    for (int n = 0; n < launches; n++) {
        parallel_for_each(
            one.extent, [=](index<1> i) restrict(amp, cpu) { one[i] += 1; });
        if (waits) queue.wait();
    }
}

// Runs launches that take about a millisecond each.
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

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
    using clock = std::chrono::steady_clock;
    const bool waits = argc > 1 && !std::strcmp(argv[1], "waits");
    const bool launches = waits || (argc > 1 && !std::strcmp(argv[1], "launches"));
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
    const std::string file = argc > 3 ? argv[3] : "cost.pftrace";
    std::vector<int> numbers(16384);
    const array_view<int> view(16384, numbers);
    accelerator_view queue = accelerator().default_view;
    // The CPU time is also measured, because it varies less while other programs run.
    double cpu_seconds = 0;
    const auto seconds = [&](bool traces, int count) {
        const auto begun = clock::now();
        const std::clock_t cpu_begin = std::clock();
        if (traces) revamp::trace_begin(file);
        launches ? launch_bound(view, count, waits, queue) : compute_bound(view, count);
        queue.wait();
        if (traces) revamp::trace_end();
        cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
        return std::chrono::duration<double>(clock::now() - begun).count();
    };
    // Finds a count that gives about half a second of work.
    int count = 100;
    for (double took = seconds(false, count); took < 0.4; took = seconds(false, count))
        count = took < 0.04 ? count * 10 : static_cast<int>(count * 0.5 / took) + 1;
    std::vector<double> without_trace, with_trace, ratios, cpu_ratios;
    for (int n = 0; n < rounds; n++) {
        without_trace.push_back(seconds(false, count) / count);
        const double before = cpu_seconds;
        with_trace.push_back(seconds(true, count) / count);
        ratios.push_back(with_trace.back() / without_trace.back());
        cpu_ratios.push_back(cpu_seconds / before);
    }
    std::printf(
        "%s: %d launches, %.0f ns each, %.0f ns with a trace, ratio %.3f (%.3f to %.3f), of processor time %.3f\n",
        argv[1], count, 1e9 * median(without_trace), 1e9 * median(with_trace), median(ratios),
        *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
        median(cpu_ratios));
}
