// Runs all kernels of the suite at their small sizes and checks them. usage: suite-check [--time | --large] [PART OF A
// NAME]... On the default accelerator; --time: milliseconds of each: the least and the median of five or more, and the
// least of the processor time of all threads, which other work on the machine changes less. --large: the same at the
// sizes for devices, several runs each time, unchecked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>

#include "suite.h"

namespace suite_plain {
std::vector<suite::Case> all();
}

int main(int argc, char **argv) {
    bool timing = false, large = false;
    std::vector<std::string> only;
    for (int i = 1; i < argc; i++)
        if (std::string(argv[i]) == "--time")
            timing = true;
        else if (std::string(argv[i]) == "--large")
            timing = large = true;
        else
            only.push_back(argv[i]);
    auto now = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    int passed = 0, failed = 0;
    for (const suite::Case &c : suite_plain::all()) {
        const auto named = [&](const std::string &part) { return std::string(c.name).find(part) != std::string::npos; };
        if (!only.empty() && std::none_of(only.begin(), only.end(), named)) continue;
        try {
            suite::Problem problem;
            problem.large = large;
            c.data(problem);
            suite::Problem expected = problem, got = problem;
            if (!large) c.cpu(expected);
            const auto running = suite::make_running(c, problem, "");
            // Twice: what a run leaves must not spoil the next one.
            running->run(1);
            running->run(1);
            running->download(got);
            if (!large) suite::compare(got, expected);
            passed++;
            if (!timing) continue;
            unsigned times_each = 1;
            if (large) {
                const double start = now();
                running->run(1);
                times_each = static_cast<unsigned>(std::clamp(0.008 / (now() - start), 1.0, 100.0));
            }
            std::vector<double> times, busy;
            for (const double end = now() + 0.2; now() < end || times.size() < 5;) {
                const double start = now();
                const std::clock_t used = std::clock();
                running->run(times_each);
                times.push_back((now() - start) / times_each);
                busy.push_back(double(std::clock() - used) / CLOCKS_PER_SEC / times_each);
            }
            std::sort(times.begin(), times.end());
            std::sort(busy.begin(), busy.end());
            std::printf("%-28s %9.3f %9.3f %9.3f\n", c.name, times[0] * 1e3, times[times.size() / 2] * 1e3,
                        busy[0] * 1e3);
        } catch (const std::exception &e) {
            failed++;
            std::printf("%s: %s\n", c.name, e.what());
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
