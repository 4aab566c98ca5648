// Benchmarks of the kernel suite (suite/), compiled by the kernel compiler, against the same kernels in CUDA. The suite
// runs with precise maths, and then with fast maths in both revamp and CUDA. At the small size, the results of revamp
// and of CUDA are compared with a loop on the host. At the timed size with precise maths, revamp's results are compared
// with CUDA's.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>

#include "bench.h"
#include "suite/suite.h"

namespace suite_plain {
std::vector<suite::Case> all();
}
namespace suite_fast {
std::vector<suite::Case> all();
}

namespace {

// The functions of the library libcuda_suite.so. `run` is null if the library is missing.
struct CudaSuite {
    const char *(*run)(const char *name, void *const *buffers, const int *n, unsigned times, int shape) = nullptr;
    int (*shapes)() = nullptr; // the number of block sizes of the case that ran last

    explicit CudaSuite(const std::string &library) {
        void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) return;
        run = reinterpret_cast<decltype(run)>(dlsym(handle, "cuda_suite"));
        shapes = reinterpret_cast<decltype(shapes)>(dlsym(handle, "cuda_suite_shapes"));
    }
};

class OnCuda final : public suite::PreparedCase {
    const CudaPeer &peer;
    const CudaSuite &all;
    std::string name;
    int shape;
    std::vector<int> n;
    std::vector<std::shared_ptr<void>> memory;
    std::vector<void *> pointers;

  public:
    OnCuda(const CudaPeer &on, const CudaSuite &suite, const char *which, int shape_id, const suite::Problem &problem)
        : peer(on), all(suite), name(which), shape(shape_id), n(problem.n) {
        for (const suite::Buffer &buffer : problem.buffers) {
            memory.push_back(cuda_memory(peer, buffer.bytes.size(), false));
            pointers.push_back(memory.back().get());
        }
        upload(problem);
    }
    void run(unsigned times) override { cuda_check(all.run(name.c_str(), pointers.data(), n.data(), times, shape)); }
    void upload(const suite::Problem &from) override {
        for (size_t i = 0; i < pointers.size(); i++)
            cuda_check(peer.copy(pointers[i], from.buffers[i].bytes.data(), from.buffers[i].bytes.size()));
    }
    void download(suite::Problem &to) override {
        for (size_t i = 0; i < pointers.size(); i++)
            cuda_check(peer.copy(to.buffers[i].bytes.data(), pointers[i], to.buffers[i].bytes.size()));
    }
};

using MakePreparedCase = std::function<std::unique_ptr<suite::PreparedCase>(const suite::Problem &)>;

// Runs a problem twice, with revamp or with CUDA, and returns the results. The second run must not depend on data that
// the first run left.
suite::Problem results(const MakePreparedCase &make, const suite::Problem &problem) {
    suite::Problem got = problem;
    const auto prepared = make(problem);
    prepared->run(1);
    prepared->run(1);
    prepared->download(got);
    return got;
}

// CUDA's time divided by revamp's time, or 0 if not measured. In `usual`, CUDA uses the block size that users write. In
// `best`, CUDA uses the fastest of several block sizes.
struct Speeds {
    double usual = 0, best = 0;
};

const char *const best_block = "CUDA, other blocks";

Speeds run(Bench &b, const suite::Case &c, const CudaSuite &cuda, bool fast) {
    const bool soft = b.plain->software();
    suite::Problem small, problem;
    problem.large = !soft;
    c.data(small);
    c.data(problem);
    if (fast)
        for (suite::Problem *p : {&small, &problem})
            p->tolerance = std::max(30 * p->tolerance, 2e-3), p->wrong_share = std::max(p->wrong_share, 0.01);
    suite::Problem expected = small;
    c.cpu(expected);

    Case timed_case;
    timed_case.name = std::string(fast ? "suite, fast maths: " : "suite: ") + c.name;
    timed_case.goals["CUDA"] = {Goal::speed_at_least, 0.9};
    std::vector<std::unique_ptr<suite::PreparedCase>> prepared_cases;
    suite::Problem ours;
    unsigned times = 1;
    auto add_way = [&](const char *group, const std::string &name, const MakePreparedCase &make) {
        prepared_cases.push_back(make(problem));
        suite::PreparedCase *prepared_case = prepared_cases.back().get();
        const bool compared = !soft && !fast && name.empty(), first = prepared_cases.size() == 1;
        timed_case.ways.push_back({group, name,
                                   [prepared_case, &times, soft] {
                                       if (!soft) prepared_case->run(1);
                                       return timed([&] { prepared_case->run(times); });
                                   },
                                   [&, compared, first, make] {
                                       compare(results(make, small), expected);
                                       if (!compared) return;
                                       suite::Problem got = results(make, problem);
                                       if (first)
                                           ours = std::move(got);
                                       else
                                           compare(got, ours);
                                   }});
    };
    auto on_cuda = [&](const char *group, const std::string &name, int shape) {
        add_way(group, name, [&b, &cuda, &c, shape](const suite::Problem &p) {
            return std::make_unique<OnCuda>(*b.cuda, cuda, c.name, shape, p);
        });
    };
    if (b.with_ours) add_way("revamp", "", [&](const suite::Problem &p) { return prepare_case(c, p, b.device); });
    if (b.cuda && cuda.run) {
        on_cuda("CUDA", "", 0);
        prepared_cases.back()->run(1);
        const int shapes = fast ? 1 : cuda.shapes();
        for (int shape = 1; shape < shapes; shape++)
            on_cuda(best_block, "block " + std::to_string(shape), shape);
    }
    if (!soft && !prepared_cases.empty()) {
        prepared_cases[0]->run(1);
        times = static_cast<unsigned>(std::clamp(0.008 / timed([&] { prepared_cases[0]->run(1); }), 1.0, 100.0));
    }
    timed_case.bytes = problem.bytes * times;
    double revamp_seconds = 0, usual = 0, best = 0;
    for (const Samples &s : b.run(timed_case)) {
        if (!s.failure.empty()) continue;
        if (s.group == "revamp") revamp_seconds = s.median();
        if (s.group == "CUDA") usual = s.median();
        if (s.group != "revamp" && (best == 0 || s.median() < best)) best = s.median();
    }
    return revamp_seconds > 0 && usual > 0 ? Speeds{usual / revamp_seconds, best / revamp_seconds} : Speeds{};
}

void bench_suite(Bench &b, const std::vector<suite::Case> &all, const CudaSuite &cuda, bool fast) {
    double log_sum = 0, log_sum_of_best = 0, worst = 1e9;
    unsigned count = 0;
    std::string slowest;
    for (const suite::Case &c : all) {
        b.guarded(std::string(fast ? "suite, fast maths: " : "suite: ") + c.name, [&] {
            const Speeds speed = run(b, c, cuda, fast);
            if (speed.usual <= 0) return;
            log_sum += std::log(speed.usual), log_sum_of_best += std::log(speed.best), count++;
            if (speed.usual < worst) worst = speed.usual, slowest = c.name;
        });
    }
    if (count == 0) return;
    const std::string name = fast ? "suite, fast maths" : "suite",
                      mean_label = ", geometric mean of " + std::to_string(count);
    b.report.add_ratio(name + mean_label, "CUDA", std::exp(log_sum / count), 1);
    b.report.add_ratio(name + ", the slowest: " + slowest, "CUDA", worst, 0.9);
    if (!fast) b.report.add_ratio(name + mean_label, "CUDA, its best block", std::exp(log_sum_of_best / count), 0);
}

} // namespace

void bench_suite(Bench &b) {
    bench_suite(b, suite_plain::all(), CudaSuite(b.folder + "/libcuda_suite.so"), false);
    // Fast maths is run only to compare it with CUDA.
    const CudaSuite fast(b.folder + "/libcuda_suite_fast.so");
    if (b.cuda && fast.run) bench_suite(b, suite_fast::all(), fast, true);
}
