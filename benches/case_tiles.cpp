// Benchmarks of tiled algorithms on host threads. Native kernels are compared with four peers: OpenMP loops with the
// same tiles, the same kernels on coroutines, C++ AMP kernels without tiles, and the same kernels in OpenCL C on pocl.
#include <cmath>
#include <map>
#include <thread>

#include "bench.h"
#include "tiles.h"

namespace {

using tiles::Action;
using tiles::Algorithm;
using tiles::Data;

struct Subject {
    const char *name;
    Algorithm algorithm;
    int size, small; // `small` is for coroutines, which would take seconds for `size`
    int power;       // the work is proportional to size^power
};

const Subject subjects[] = {
    {"matrix product 512", Algorithm::matmul, 512, 128, 3},
    {"scan of each 256 of 1 Mi floats", Algorithm::scan, 1 << 20, 1 << 14, 1},
    {"tree reduction of each 256 of 4 Mi floats", Algorithm::reduction, 1 << 22, 1 << 15, 1},
    {"histogram of 4 Mi numbers", Algorithm::histogram, 1 << 22, 1 << 18, 1},
    {"separable convolution, 17 x 17, 1024 x 1024", Algorithm::convolution, 1024, 256, 2},
    {"transpose 1024 x 1024", Algorithm::transpose, 1024, 256, 2},
    {"1024 FFTs of 1024", Algorithm::fft, 1024, 16, 1},
    {"bitonic sort of each 256 of 1 Mi numbers", Algorithm::bitonic, 1 << 20, 1 << 13, 1},
    {"N-body, 4096 bodies", Algorithm::nbody, 4096, 1024, 2},
    {"LU, 512 x 512", Algorithm::lu, 512, 128, 3},
    {"Needleman-Wunsch, 2048 x 2048", Algorithm::needleman, 2048, 256, 2},
};

Data data_for(Algorithm algorithm, int n) {
    uint32_t random = 1;
    auto next = [&] { return (random = random * 1664525U + 1013904223U) >> 8; };
    auto floats = [&](size_t count) {
        std::vector<float> all(count);
        for (float &v : all)
            v = static_cast<float>(next()) / 16777216.0F;
        return all;
    };
    auto random_below = [&](size_t count, unsigned bound) {
        std::vector<int> all(count);
        for (int &v : all)
            v = static_cast<int>(next() % bound);
        return all;
    };
    const size_t length = size_t(n), square = length * length;
    Data d;
    d.n = n;
    switch (algorithm) {
    case Algorithm::matmul:
        d.a = floats(square);
        d.b = floats(square);
        d.c.resize(square);
        break;
    case Algorithm::scan:
        d.a = floats(length);
        d.c.resize(length);
        break;
    case Algorithm::reduction:
        d.a = floats(length);
        d.c.resize(length / 256);
        break;
    case Algorithm::histogram:
        d.i = random_below(length, tiles::bins);
        d.k.resize(tiles::bins);
        break;
    case Algorithm::convolution:
        d.a = floats(square);
        d.b = floats(2 * tiles::radius + 1);
        d.c.resize(square);
        break;
    case Algorithm::transpose:
        d.a = floats(square);
        d.c.resize(square);
        break;
    case Algorithm::fft:
        d.a = floats(2 * length * tiles::points);
        d.b.resize(tiles::points);
        for (int k = 0; k < tiles::points / 2; k++) {
            const double angle = -2 * std::acos(-1.0) * k / tiles::points;
            d.b[size_t(k)] = static_cast<float>(std::cos(angle));
            d.b[size_t(k) + tiles::points / 2] = static_cast<float>(std::sin(angle));
        }
        d.c.resize(d.a.size());
        break;
    case Algorithm::bitonic:
        d.i = random_below(length, 1U << 24);
        d.k.resize(length);
        break;
    case Algorithm::nbody:
        d.a = floats(4 * length);
        d.c.resize(4 * length);
        break;
    case Algorithm::lu:
        d.a = floats(square);
        for (size_t i = 0; i < length; i++)
            d.a[i * length + i] += static_cast<float>(n);
        d.c.resize(square);
        break;
    case Algorithm::needleman:
        d.i = random_below(square, 21);
        for (int &v : d.i)
            v -= 10;
        d.k.resize((length + 1) * (length + 1));
        break;
    }
    return d;
}

// Compares a result with the result of the first way. Integers must be equal. Floats may differ as much as another
// order of additions allows.
void check_same(const Data &now, std::vector<float> &floats, std::vector<int> &numbers) {
    if (floats.empty() && numbers.empty()) {
        floats = now.c;
        numbers = now.k;
        return;
    }
    if (now.k != numbers) throw std::runtime_error("the integers differ from those of the first way");
    float most = 0;
    for (const float v : floats)
        most = std::max(most, std::fabs(v));
    for (size_t i = 0; i < floats.size(); i++)
        if (!(std::fabs(now.c[i] - floats[i]) <= 1e-5F * most + 1e-4F * std::fabs(floats[i])))
            throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(now.c[i]) + ", but " +
                                     std::to_string(floats[i]) + " by the first way");
}

// The OpenMP loops, compiled for the x86-64 level that the library chooses for its native kernels.
Action openmp(Algorithm algorithm, Data &data, const char *&level) {
    const char *most = std::getenv("REVAMP_HOST_KERNELS");
    const std::string bound = most ? most : "";
#ifdef __x86_64__
    __builtin_cpu_init();
    if (bound != "v1" && bound != "v3" && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
        level = "x86-64-v4";
        return tiles::openmp_v4::make(algorithm, data);
    }
    if (bound != "v1" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        level = "x86-64-v3";
        return tiles::openmp_v3::make(algorithm, data);
    }
#endif
    level = "x86-64";
    return tiles::openmp_v1::make(algorithm, data);
}

struct Comparison {
    Data data, small;
    std::vector<float> floats, small_floats;
    std::vector<int> numbers, small_numbers;
    Case c;

    // `scale`: the work of the full problem, divided by the work of the problem that `run` solves. 1 if `run` solves
    // the full problem.
    void add(const char *group, const std::string &name, const Action &run, double scale = 1) {
        if (!run) return;
        Data *d = scale == 1 ? &data : &small;
        auto *f = scale == 1 ? &floats : &small_floats;
        auto *n = scale == 1 ? &numbers : &small_numbers;
        c.ways.push_back({group, name,
                          [run, scale] {
                              // Threads of the way that ran before may spin for a while.
                              std::this_thread::sleep_for(std::chrono::milliseconds(10));
                              return timed(run) * scale;
                          },
                          [run, d, f, n] {
                              std::fill(d->c.begin(), d->c.end(), -1.0F);
                              std::fill(d->k.begin(), d->k.end(), -1);
                              run();
                              check_same(*d, *f, *n);
                          }});
    }
};

void compare(Bench &b, const Subject &s, const std::string &name, tiles::OpenCl *opencl,
             std::map<std::string, std::vector<double>> &speeds) {
    Comparison all;
    all.data = data_for(s.algorithm, s.size);
    all.small = data_for(s.algorithm, s.small);
    all.c.name = name;
    const char *level = "";
    const Action loops = openmp(s.algorithm, all.data, level);
    all.add("revamp", "in tiles", tiles::native::make(s.algorithm, all.data));
    all.add("OpenMP", std::string("the same tiles, ") + level, loops);
    if (opencl) all.add("pocl", "", opencl->make(s.algorithm, all.data));
    all.add("without tiles", "parallel_for_each", tiles::untiled::make(s.algorithm, all.data));
    // The native kernel also solves the small problem, so that the coroutines' result can be compared.
    tiles::native::make(s.algorithm, all.small)();
    check_same(all.small, all.small_floats, all.small_numbers);
    all.add("coroutines", "at " + std::to_string(s.small) + ", times work",
            tiles::coroutines::make(s.algorithm, all.small), std::pow(double(s.size) / s.small, s.power));
    all.c.goals["OpenMP"] = {Goal::speed_at_least, 0.5};
    const auto samples = b.run(all.c);
    for (const Samples &sample : samples)
        if (sample.failure.empty() && samples[0].failure.empty())
            speeds[sample.group].push_back(sample.median() / samples[0].median());
}

} // namespace

void bench_tiles(Bench &b) {
    if (!b.with_ours) return;
    const std::string prefix = "tiles on host threads: ";
    bool any_wanted = b.is_selected(prefix);
    for (const Subject &s : subjects)
        any_wanted |= b.is_selected(prefix + s.name);
    if (!any_wanted) return;
    std::unique_ptr<tiles::OpenCl> opencl;
    try {
        opencl = tiles::make_opencl();
        b.report.fact("OpenCL", opencl->name);
    } catch (const std::exception &e) {
        b.report.skip(prefix + "pocl", e.what());
    }
    std::map<std::string, std::vector<double>> speeds;
    for (const Subject &s : subjects)
        b.guarded(prefix + s.name, [&] { compare(b, s, prefix + s.name, opencl.get(), speeds); });
    // A mean is comparable only if all subjects were measured.
    const std::pair<const char *, double> goals[] = {
        {"OpenMP", 0.8}, {"coroutines", 20}, {"pocl", 1}, {"without tiles", 0}};
    for (const auto &[group, goal] : goals) {
        if (speeds[group].size() != std::size(subjects)) continue;
        double logarithms = 0;
        for (const double speed : speeds[group])
            logarithms += std::log(speed);
        b.report.add_ratio(prefix + "geometric mean", group, std::exp(logarithms / double(std::size(subjects))), goal);
    }
}
