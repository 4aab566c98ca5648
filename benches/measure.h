// Times several ways of doing the same thing. The repetitions are interleaved: one repetition of each way, then the
// next repetition of each way. Noise therefore affects all ways alike.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the seconds that `work` takes.
template <class F> double timed(F &&work) {
    const double start = now();
    work();
    return now() - start;
}

struct Way {
    std::string group;           // "revamp", or the name of a peer; the table has one line for each peer
    std::string name;            // the way within the group
    std::function<double()> op;  // runs the operation once; returns its time in seconds
    std::function<void()> check; // runs once on new data and throws if the result is wrong; may be empty
};

struct Samples {
    std::string group, name;
    std::vector<double> seconds; // for each repetition, the mean time of an operation; sorted
    std::string failure;         // the error, if the way failed or its result was wrong
    bool checked = false;

    double median() const;
    double min() const { return seconds.front(); }
    double max() const { return seconds.back(); }
    // True if four of five repetitions took at most 1.25 times the median. A way that is sometimes 3 times slower is
    // not a reliable peer.
    bool stable() const;
};

struct Effort {
    double budget = 1.0;              // seconds for all ways together, without warm-up
    std::size_t min_repetitions = 5;  // the smallest number of repetitions
    std::size_t max_repetitions = 40; // the largest number of repetitions
    double repetition = 0.004;        // seconds; a repetition has as many operations as fit into it
    unsigned max_ops = 200;           // the largest number of operations in a repetition
};

// `warm` runs before the first repetition, because an idle GPU lowers its clock.
std::vector<Samples> measure(const std::vector<Way> &ways, const Effort &effort, const std::function<void()> &warm);
