// The suite of kernels (suite/), compiled by the kernel compiler, against the same kernels in CUDA; once as they stand,
// once with fast maths on both sides. Each side is checked at the small size by a loop on the host; at the size that is
// timed ours is compared with CUDA's.
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

// libcuda_suite.so.
struct CudaSuite {
    const char *(*run)(const char *name, void *const *buffers, const int *n, unsigned times, int shape) = nullptr;
    int (*shapes)() = nullptr; // of blocks, of the case that ran last

    explicit CudaSuite(const std::string &library) {
        void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) return;
        run = reinterpret_cast<decltype(run)>(dlsym(handle, "cuda_suite"));
        shapes = reinterpret_cast<decltype(shapes)>(dlsym(handle, "cuda_suite_shapes"));
    }
};

class OnCuda final : public suite::Running {
    const CudaPeer &peer;
    const CudaSuite &all;
    std::string name;
    int shape;
    std::vector<int> n;
    std::vector<std::shared_ptr<void>> memory;
    std::vector<void *> pointers;

  public:
    OnCuda(const CudaPeer &on, const CudaSuite &suite, const char *which, int with, const suite::Problem &problem)
        : peer(on), all(suite), name(which), shape(with), n(problem.n) {
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

// How fast ours is by CUDA with the block that users write, and with the best of a few. 0: not measured.
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
            p->tolerance = std::max(30 * p->tolerance, 2e-3), p->share = std::max(p->share, 0.01);
    suite::Problem expected = small;
    c.cpu(expected);

    Case row;
    row.name = std::string(fast ? "suite, fast maths: " : "suite: ") + c.name;
    row.goals["CUDA"] = {Goal::speed_at_least, 0.9};
    std::vector<std::unique_ptr<suite::Running>> sides;
    suite::Problem ours;
    unsigned times = 1;
    auto way = [&](const char *group, const std::string &name, const Make &make) {
        sides.push_back(make(problem));
        suite::Running *side = sides.back().get();
        const bool compared = !soft && !fast && name.empty(), first = sides.size() == 1;
        row.ways.push_back({group, name,
                            [side, &times, soft] {
                                if (!soft) side->run(1);
                                return timed([&] { side->run(times); });
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
        way(group, name, [&b, &cuda, &c, shape](const suite::Problem &p) {
            return std::make_unique<OnCuda>(*b.cuda, cuda, c.name, shape, p);
        });
    };
    if (b.with_ours) way("revamp", "", [&](const suite::Problem &p) { return make_running(c, p, b.device); });
    if (b.cuda && cuda.run) {
        on_cuda("CUDA", "", 0);
        sides.back()->run(1);
        const int shapes = fast ? 1 : cuda.shapes();
        for (int shape = 1; shape < shapes; shape++)
            on_cuda(best_block, "block " + std::to_string(shape), shape);
    }
    if (!soft && !sides.empty()) {
        sides[0]->run(1);
        times = static_cast<unsigned>(std::clamp(0.008 / timed([&] { sides[0]->run(1); }), 1.0, 100.0));
    }
    row.bytes = problem.bytes * times;
    double mine = 0, usual = 0, best = 0;
    for (const Samples &s : b.run(row)) {
        if (!s.failure.empty()) continue;
        if (s.group == "revamp") mine = s.median();
        if (s.group == "CUDA") usual = s.median();
        if (s.group != "revamp" && (best == 0 || s.median() < best)) best = s.median();
    }
    return mine > 0 && usual > 0 ? Speeds{usual / mine, best / mine} : Speeds{};
}

void bench_suite(Bench &b, const std::vector<suite::Case> &all, const CudaSuite &cuda, bool fast) {
    double product = 0, product_of_best = 0, worst = 1e9;
    unsigned count = 0;
    std::string slowest;
    for (const suite::Case &c : all) {
        b.guarded(std::string(fast ? "suite, fast maths: " : "suite: ") + c.name, [&] {
            const Speeds speed = run(b, c, cuda, fast);
            if (speed.usual <= 0) return;
            product += std::log(speed.usual), product_of_best += std::log(speed.best), count++;
            if (speed.usual < worst) worst = speed.usual, slowest = c.name;
        });
    }
    if (count == 0) return;
    const std::string name = fast ? "suite, fast maths" : "suite", of = ", geometric mean of " + std::to_string(count);
    b.report.add_ratio(name + of, "CUDA", std::exp(product / count), 1);
    b.report.add_ratio(name + ", the slowest: " + slowest, "CUDA", worst, 0.9);
    if (!fast) b.report.add_ratio(name + of, "CUDA, its best block", std::exp(product_of_best / count), 0);
}

} // namespace

void bench_suite(Bench &b) {
    bench_suite(b, suite_plain::all(), CudaSuite(b.folder + "/libcuda_suite.so"), false);
    // Without a peer it says nothing new.
    const CudaSuite fast(b.folder + "/libcuda_suite_fast.so");
    if (b.cuda && fast.run) bench_suite(b, suite_fast::all(), fast, true);
}
