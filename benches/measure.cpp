// Times several ways of doing the same thing (measure.h).
#include "measure.h"

#include <algorithm>
#include <exception>

double Samples::median() const {
    const std::size_t n = seconds.size();
    return n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

bool Samples::stable() const {
    return !seconds.empty() && seconds[(seconds.size() * 4 - 1) / 5] <= 1.25 * median();
}

namespace {
// Seconds. An operation that takes longer is not run a second time to estimate its duration.
constexpr double second_try_limit = 0.1;
// Seconds. If an operation is shorter, each repetition begins with an untimed operation. The reason is that a GPU takes
// 0.2 to 0.3 ms to switch between contexts (VkDevices or CUDA), and a program with one context never pays for this.
constexpr double switch_limit = 0.02;
} // namespace

std::vector<Samples> measure(const std::vector<Way> &ways, const Effort &effort, const std::function<void()> &warm) {
    std::vector<Samples> samples(ways.size());
    std::vector<unsigned> ops(ways.size(), 1);
    std::vector<char> has_untimed_first(ways.size());
    auto record_failure = [&](std::size_t i, auto &&work) {
        if (!samples[i].failure.empty()) return;
        try {
            work();
        } catch (const std::exception &e) {
            samples[i].failure = e.what();
        }
    };
    if (warm) warm();
    for (std::size_t i = 0; i < ways.size(); i++) {
        samples[i].group = ways[i].group;
        samples[i].name = ways[i].name;
        record_failure(i, [&] {
            if (ways[i].check) {
                ways[i].check();
                samples[i].checked = true;
            }
            // Times the whole call, because the time that `op` returns may be only a part of its duration.
            auto op = [&] { return timed(ways[i].op); };
            double duration = op();
            if (duration < second_try_limit) duration = op(); // the first run also includes the costs of the first use
            has_untimed_first[i] = duration < switch_limit;
            const double operation_count = effort.repetition / std::max(duration, 1e-9);
            ops[i] = static_cast<unsigned>(std::clamp(operation_count, 1.0, static_cast<double>(effort.max_ops)));
        });
    }
    const double start = now();
    for (std::size_t round = 0; round < effort.max_repetitions; round++) {
        if (round >= effort.min_repetitions && now() - start > effort.budget) break;
        for (std::size_t k = 0; k < ways.size(); k++) {
            const std::size_t i = round % 2 ? ways.size() - 1 - k : k; // no way always runs after the same way
            record_failure(i, [&] {
                if (has_untimed_first[i]) ways[i].op();
                double sum = 0;
                for (unsigned n = 0; n < ops[i]; n++)
                    sum += ways[i].op();
                samples[i].seconds.push_back(sum / ops[i]);
            });
        }
    }
    for (auto &s : samples) {
        std::sort(s.seconds.begin(), s.seconds.end());
        if (s.seconds.empty() && s.failure.empty()) s.failure = "not measured";
    }
    return samples;
}
