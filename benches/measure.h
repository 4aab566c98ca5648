// Times ways of doing one thing, interleaved: one repetition of each, then the next of each, so noise hits all alike.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds that `work` takes.
template <class F> double timed(F &&work) {
    const double start = now();
    work();
    return now() - start;
}

struct Way {
    std::string group;           // "revamp", or which peer: the table has one line for each peer group
    std::string name;            // the way within the group
    std::function<double()> op;  // does it once; returns the seconds that count
    std::function<void()> check; // does it once on fresh data and throws if the result is wrong; may be empty
};

struct Samples {
    std::string group, name;
    std::vector<double> seconds; // one for each repetition, sorted: the mean of its operations
    std::string failure;         // why it could not be measured, or what was wrong
    bool checked = false;

    double median() const;
    double min() const { return seconds.front(); }
    double max() const { return seconds.back(); }
    // Four of five repetitions within a quarter of the median: a way that is at times 3x slower is no peer to rely on.
    bool stable() const;
};

struct Effort {
    double budget = 1.0;   // seconds for all ways together, warm-up apart
    std::size_t least = 5; // repetitions
    std::size_t most = 40;
    double repetition = 0.004; // short operations are repeated until a repetition takes so long
    unsigned most_ops = 200;
};

// `warm` runs before the first repetition: a GPU that rests drops its clock.
std::vector<Samples> measure(const std::vector<Way> &ways, const Effort &effort, const std::function<void()> &warm);
