// Runs all kernels of the suite at their small sizes on the default accelerator and checks the results.
//   usage: suite-check [--time | --large] [PART OF A NAME]...
// --time also prints three times in milliseconds for each kernel: the minimum and the median of at least five
// measurements, and the minimum processor time of all threads. Other load on the machine affects processor time less.
// --large prints these times for the large sizes, which are for GPUs. Each measurement then has several runs. --large
// does not check the results.
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
        const auto matches = [&](const std::string &part) {
            return std::string(c.name).find(part) != std::string::npos;
        };
        if (!only.empty() && std::none_of(only.begin(), only.end(), matches)) continue;
        try {
            suite::Problem problem;
            problem.large = large;
            c.data(problem);
            suite::Problem expected = problem, got = problem;
            if (!large) c.cpu(expected);
            const auto prepared = suite::prepare_case(c, problem, "");
            // The second run checks that a run does not depend on data that an earlier run left.
            prepared->run(1);
            prepared->run(1);
            prepared->download(got);
            if (!large) suite::compare(got, expected);
            passed++;
            if (!timing) continue;
            unsigned runs_per_sample = 1;
            if (large) {
                const double start = now();
                prepared->run(1);
                runs_per_sample = static_cast<unsigned>(std::clamp(0.008 / (now() - start), 1.0, 100.0));
            }
            std::vector<double> times, cpu_times;
            for (const double end = now() + 0.2; now() < end || times.size() < 5;) {
                const double start = now();
                const std::clock_t cpu_start = std::clock();
                prepared->run(runs_per_sample);
                times.push_back((now() - start) / runs_per_sample);
                cpu_times.push_back(double(std::clock() - cpu_start) / CLOCKS_PER_SEC / runs_per_sample);
            }
            std::sort(times.begin(), times.end());
            std::sort(cpu_times.begin(), cpu_times.end());
            std::printf("%-28s %9.3f %9.3f %9.3f\n", c.name, times[0] * 1e3, times[times.size() / 2] * 1e3,
                        cpu_times[0] * 1e3);
        } catch (const std::exception &e) {
            failed++;
            std::printf("%s: %s\n", c.name, e.what());
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
