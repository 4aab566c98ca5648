// The suite of kernels (suite/), compiled by the kernel compiler, against the same kernels in CUDA; once as they stand, once with
// fast maths on both sides. Each side is checked at the small size by a loop on the host; at the size that is timed ours is
// compared with CUDA's.
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

using CudaSuite = const char *(*)(const char *name, void *const *buffers, const int *n, unsigned times);

CudaSuite load(const std::string &library) {
    void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    return handle ? reinterpret_cast<CudaSuite>(dlsym(handle, "cuda_suite")) : nullptr;
}

class OnCuda final : public suite::Running {
    const CudaPeer &peer;
    CudaSuite all;
    std::string name;
    std::vector<int> n;
    std::vector<std::shared_ptr<void>> memory;
    std::vector<void *> pointers;

  public:
    OnCuda(const CudaPeer &on, CudaSuite suite, const char *which, const suite::Problem &problem)
        : peer(on), all(suite), name(which), n(problem.n) {
        for (const suite::Buffer &buffer : problem.buffers) {
            memory.push_back(cuda_memory(peer, buffer.bytes.size(), false));
            pointers.push_back(memory.back().get());
        }
        upload(problem);
    }
    void run(unsigned times) override { cuda_check(all(name.c_str(), pointers.data(), n.data(), times)); }
    void upload(const suite::Problem &from) override {
        for (size_t i = 0; i < pointers.size(); i++)
            cuda_check(peer.copy(pointers[i], from.buffers[i].bytes.data(), from.buffers[i].bytes.size()));
    }
    void download(suite::Problem &to) override {
        for (size_t i = 0; i < pointers.size(); i++)
            cuda_check(peer.copy(to.buffers[i].bytes.data(), pointers[i], to.buffers[i].bytes.size()));
    }
};

using Make = std::function<std::unique_ptr<suite::Running>(const suite::Problem &)>;

// What one side makes of a problem by two runs: what the first leaves must not spoil the second.
suite::Problem results(const Make &make, const suite::Problem &problem) {
    suite::Problem got = problem;
    const auto running = make(problem);
    running->run(1);
    running->run(1);
    running->download(got);
    return got;
}

// Returns how fast ours is by CUDA, or 0.
double run(Bench &b, const suite::Case &c, CudaSuite cuda, bool fast) {
    const bool soft = b.plain->software();
    suite::Problem small, problem;
    problem.large = !soft;
    c.data(small);
    c.data(problem);
    if (fast)
        for (suite::Problem *p : {&small, &problem})
            p->tolerance = std::max(30 * p->tolerance, 2e-3), p->share = std::max(p->share, 0.01);
    suite::Problem expected = small;
    c.cpu(expected);

    Case row;
    row.name = std::string(fast ? "suite, fast maths: " : "suite: ") + c.name;
    row.goals["CUDA"] = {Goal::speed_at_least, 0.9};
    std::vector<std::unique_ptr<suite::Running>> sides;
    suite::Problem ours;
    unsigned times = 1;
    auto way = [&](const char *group, const Make &make) {
        sides.push_back(make(problem));
        suite::Running *side = sides.back().get();
        const bool first = sides.size() == 1;
        row.ways.push_back({group, "",
                            [side, &times, soft] {
                                if (!soft) side->run(1);
                                return timed([&] { side->run(times); });
                            },
                            [&, first, make] {
                                compare(results(make, small), expected);
                                if (soft) return;
                                suite::Problem got = results(make, problem);
                                if (first) ours = std::move(got);
                                else compare(got, ours);
                            }});
    };
    if (b.with_ours) way("revamp", [&](const suite::Problem &p) { return make_running(c, p, b.device); });
    if (b.cuda && cuda)
        way("CUDA", [&](const suite::Problem &p) { return std::make_unique<OnCuda>(*b.cuda, cuda, c.name, p); });
    if (!soft && !sides.empty()) {
        sides[0]->run(1);
        times = static_cast<unsigned>(std::clamp(0.008 / timed([&] { sides[0]->run(1); }), 1.0, 100.0));
    }
    row.bytes = problem.bytes * times;
    double mine = 0, peer = 0;
    for (const Samples &s : b.run(row)) {
        if (!s.failure.empty()) continue;
        if (s.group == "revamp") mine = s.median();
        if (s.group == "CUDA") peer = s.median();
    }
    return mine > 0 && peer > 0 ? peer / mine : 0;
}

void bench_suite(Bench &b, const std::vector<suite::Case> &all, CudaSuite cuda, bool fast) {
    double product = 0, worst = 1e9;
    unsigned count = 0;
    std::string slowest;
    for (const suite::Case &c : all) {
        b.guarded(std::string(fast ? "suite, fast maths: " : "suite: ") + c.name, [&] {
            const double speed = run(b, c, cuda, fast);
            if (speed <= 0) return;
            product += std::log(speed), count++;
            if (speed < worst) worst = speed, slowest = c.name;
        });
    }
    if (count == 0) return;
    const std::string name = fast ? "suite, fast maths" : "suite";
    b.report.add_ratio(name + ", geometric mean of " + std::to_string(count), "CUDA", std::exp(product / count), 1);
    b.report.add_ratio(name + ", the slowest: " + slowest, "CUDA", worst, 0.9);
}

} // namespace

void bench_suite(Bench &b) {
    const CudaSuite cuda = b.cuda ? load(b.folder + "/libcuda_suite.so") : nullptr;
    const CudaSuite cuda_fast = b.cuda ? load(b.folder + "/libcuda_suite_fast.so") : nullptr;
    bench_suite(b, suite_plain::all(), cuda, false);
    // Without a peer it says nothing new.
    if (cuda_fast) bench_suite(b, suite_fast::all(), cuda_fast, true);
}
