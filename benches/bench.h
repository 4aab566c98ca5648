// What all cases share.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cuda_loader.h"
#include "ours.h"
#include "plain_copy.h"
#include "plain_vulkan.h"
#include "report.h"
#include "workers.h"

struct Bench {
    Report report;
    std::unique_ptr<PlainVulkan> plain;       // null: no Vulkan device
    const CudaPeer *cuda = nullptr;           // null: no CUDA
    bool with_ours = true;                    // false: only the peers, to tune them
    revamp_accelerator accelerator = nullptr; // the Vulkan device; its default view
    revamp_accelerator_view view = nullptr;
    revamp_accelerator_view cpu_view = nullptr, host_view = nullptr;
    std::string only;   // part of the names of the cases to run
    std::string folder; // of this program
    std::string device; // device_path of the accelerator
    double budget = 1.0;
    bool mapped_peer = true; // the peer may use device memory that the host sees
    Workers one{1}, many;
    std::vector<char> source, target; // ordinary memory, touched

    explicit Bench(unsigned threads) : many(threads) {}

    bool wanted(const std::string &name) const { return only.empty() || name.find(only) != std::string::npos; }
    // `size` is the most that is asked of source and target.
    void need_host_memory(size_t size);
    // Fills source with numbers that differ each time, and target with others.
    void fresh(size_t size);
    // Throws unless target equals source.
    void compare(size_t size, const char *what) const;
    // Measures and reports. A case that throws while it is set up is reported as skipped by `guarded`.
    std::vector<Samples> run(Case &c);
    template <class F> void guarded(const std::string &name, F &&work) {
        if (!wanted(name)) return;
        try {
            work();
        } catch (const std::exception &e) {
            report.skip(name, e.what());
        }
    }
};

std::string size_text(double bytes);

// One file each.
void bench_launch(Bench &bench);
void bench_copy(Bench &bench);
void bench_device_copy(Bench &bench);
void bench_overlap(Bench &bench);
void bench_kernel(Bench &bench);
void bench_axpy(Bench &bench);
void bench_compiled(Bench &bench);
void bench_texture(Bench &bench); // without a Vulkan device only on host threads
void bench_suite(Bench &bench);
void bench_host(Bench &bench);
void bench_amp(Bench &bench);
void bench_tiles(Bench &bench);
void bench_view(Bench &bench);
void bench_view_bytes(Bench &bench);
void bench_scale(Bench &bench);
void bench_accelerators(Bench &bench);
// The programs of bench_view_bytes alone, for the process it starts; prints a line for each.
void print_view_bytes(Bench &bench);
void bench_start(Bench &bench);
