// Common code of exchange.cpp and plain_cuda.cu: sizes, values, medians, and the lines that compare.py reads.
#ifndef REVAMP_BENCH_MPI_PATTERN_H
#define REVAMP_BENCH_MPI_PATTERN_H

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The numbers of floats in a message. The elements of a column are four floats apart.
static const int message_counts[] = {1, 32, 1024, 32768, 1048576};
static const int column_pitch = 4, column_at = 1;

// The rank with which `rank` exchanges data: the other rank of the pair, or `rank` itself if there is only one rank.
static inline int neighbour(int rank, int size) {
    return size == 1 ? 0 : rank ^ 1;
}
// The value of element `at` of a rank's data.
static inline float value_of(int rank, int at) {
    return static_cast<float>(rank * 1000 + at % 997);
}
// The value of elements that were not received.
static const float untouched = -1.0f;

// Runs `call` `times` times and returns its median time in microseconds, on the slowest rank.
template <class F> static double median_of(int times, F call) {
    std::vector<double> all;
    for (int n = 0; n < times; n++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const auto start = std::chrono::steady_clock::now();
        call();
        all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(all.begin(), all.end());
    double mine = all[all.size() / 2], slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}
static inline int times_of(int count) {
    return count > 1 << 22 ? 10 : count > 1 << 16 ? 20 : 100;
}
// Rank 0 prints a line for compare.py: who (revamp or cuda), ranks, what, bytes, microseconds.
static inline void report(const char *who, int rank, int size, const char *what, int count, double time) {
    if (rank == 0)
        std::printf("%s %d %s %zu %.2f\n", who, size, what, static_cast<std::size_t>(count) * sizeof(float), time);
}
// Aborts all ranks unless the received elements have the values of rank `other` and all remaining elements are
// `untouched`.
static inline void check_elements(const std::vector<float> &all, int count, int pitch, int first, int other,
                                  const char *what) {
    for (int i = 0; i < static_cast<int>(all.size()); i++) {
        const bool sent = i % pitch == first && i / pitch < count;
        const float expected = sent ? value_of(other, i) : untouched;
        if (all[static_cast<std::size_t>(i)] == expected) continue;
        std::fprintf(stderr, "WRONG: %s of %d: element %d is %g, not %g\n", what, count, i,
                     static_cast<double>(all[static_cast<std::size_t>(i)]), static_cast<double>(expected));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#endif
