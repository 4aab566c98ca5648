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
// Operations that take longer are not done twice to find out how long they take.
constexpr double first_use = 0.1;
// Of shorter ones each repetition begins with one that does not count: a GPU takes 0.2 to 0.3 ms to turn from the work
// of one device or of CUDA to another's, which a program that has one device never sees.
constexpr double turn = 0.02;
} // namespace

std::vector<Samples> measure(const std::vector<Way> &ways, const Effort &effort, const std::function<void()> &warm) {
    std::vector<Samples> all(ways.size());
    std::vector<unsigned> ops(ways.size(), 1);
    std::vector<char> turns(ways.size());
    auto guarded = [&](std::size_t i, auto &&work) {
        if (!all[i].failure.empty()) return;
        try {
            work();
        } catch (const std::exception &e) {
            all[i].failure = e.what();
        }
    };
    if (warm) warm();
    for (std::size_t i = 0; i < ways.size(); i++) {
        all[i].group = ways[i].group;
        all[i].name = ways[i].name;
        guarded(i, [&] {
            if (ways[i].check) {
                ways[i].check();
                all[i].checked = true;
            }
            // Not what it returns: that may be a part of it.
            auto op = [&] { return timed(ways[i].op); };
            double once = op();
            if (once < first_use) once = op(); // the first one also paid for first use
            turns[i] = once < turn;
            const double wanted = effort.repetition / std::max(once, 1e-9);
            ops[i] = static_cast<unsigned>(std::clamp(wanted, 1.0, static_cast<double>(effort.most_ops)));
        });
    }
    const double start = now();
    for (std::size_t round = 0; round < effort.most; round++) {
        if (round >= effort.least && now() - start > effort.budget) break;
        for (std::size_t k = 0; k < ways.size(); k++) {
            const std::size_t i = round % 2 ? ways.size() - 1 - k : k; // so that no way always follows the same one
            guarded(i, [&] {
                if (turns[i]) ways[i].op();
                double sum = 0;
                for (unsigned n = 0; n < ops[i]; n++)
                    sum += ways[i].op();
                all[i].seconds.push_back(sum / ops[i]);
            });
        }
    }
    for (auto &s : all) {
        std::sort(s.seconds.begin(), s.seconds.end());
        if (s.seconds.empty() && s.failure.empty()) s.failure = "not measured";
    }
    return all;
}
