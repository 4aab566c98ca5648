// State and functions that all cases share.
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
    bool with_ours = true;                    // false: measure only the peers, to tune them
    revamp_accelerator accelerator = nullptr; // the Vulkan device; `view` is its default view
    revamp_accelerator_view view = nullptr;
    revamp_accelerator_view cpu_view = nullptr, host_view = nullptr;
    std::string only;   // if not empty: only cases whose names contain this text run
    std::string folder; // the folder of this program
    std::string device; // device_path of the accelerator
    double budget = 1.0;
    bool mapped_peer = true;             // the peer may use host-visible device memory
    Workers one_worker{1}, copy_threads; // threads that copy: one thread, and the number that the constructor takes
    std::vector<char> source, target;    // pageable memory, already touched

    explicit Bench(unsigned threads) : copy_threads(threads) {}

    bool is_selected(const std::string &name) const { return only.empty() || name.find(only) != std::string::npos; }
    // Makes source and target at least `size` bytes large.
    void need_host_memory(size_t size);
    // Fills source with random bytes that differ at each call, and target with 0xA5.
    void refill(size_t size);
    // Throws unless target equals source.
    void compare(size_t size, const char *what) const;
    // Measures and reports a case.
    std::vector<Samples> run(Case &c);
    // Runs `work`, which sets up and runs a case. If it throws, the case is reported as skipped.
    template <class F> void run_or_skip(const std::string &name, F &&work) {
        try {
            work();
        } catch (const std::exception &e) {
            report.skip(name, e.what());
        }
    }
    // The same, if the case is wanted.
    template <class F> void guarded(const std::string &name, F &&work) {
        if (is_selected(name)) run_or_skip(name, work);
    }
};

std::string size_text(double bytes);

// Each of these functions is in its own file. For example, bench_copy is in case_copy.cpp.
void bench_launch(Bench &bench);
void bench_copy(Bench &bench);
void bench_device_copy(Bench &bench);
void bench_overlap(Bench &bench);
void bench_kernel(Bench &bench);
void bench_axpy(Bench &bench);
void bench_compiled(Bench &bench);
void bench_texture(Bench &bench); // measures only host threads if there is no Vulkan device
void bench_suite(Bench &bench);
void bench_host(Bench &bench);
void bench_amp(Bench &bench);
void bench_tiles(Bench &bench);
void bench_view(Bench &bench);
void bench_view_bytes(Bench &bench);
void bench_scale(Bench &bench);
void bench_accelerators(Bench &bench);
// Runs only the programs of bench_view_bytes and prints a line for each. bench_view_bytes calls it in a child process.
void print_view_bytes(Bench &bench);
void bench_start(Bench &bench);
