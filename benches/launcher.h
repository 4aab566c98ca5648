// Helpers of case_scale.cpp and case_view.cpp: launches of an empty kernel, and the calling thread's processor time.
#pragma once
#include <cstddef>
#include <ctime>
#include <memory>
#include <vector>

#include "bench.h"

// Returns the processor time of the calling thread in seconds, without the work of the device and of other threads.
inline double thread_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

template <class F> double thread_timed(F &&work) {
    const double start = thread_seconds();
    work();
    return thread_seconds() - start;
}

// Limits each repetition to one operation, because the time of the operation is already a mean over many calls.
inline void one_operation_per_repetition(Case &c) {
    c.effort.repetition = 0;
}

inline void empty_function(const revamp_thread_id *, void *) {}

// Launches an empty kernel with the first `count` of the given arguments.
class Launcher {
  public:
    Launcher(Bench &b, bool on_host) : on_host_(on_host), view_(on_host ? b.host_view : b.view) {
        if (on_host) {
            host_launch_.struct_size = sizeof host_launch_;
            host_launch_.rank = 1;
            host_launch_.extent = &extent_;
            host_launch_.function = empty_function;
            host_launch_.block = &block_;
            host_launch_.block_size = sizeof block_;
        } else {
            kernel_ = std::make_unique<ours::Kernel>(b.accelerator, add_one_shader);
            device_launch_.struct_size = sizeof device_launch_;
            device_launch_.groups[0] = device_launch_.groups[1] = device_launch_.groups[2] = 1;
            device_launch_.block = &block_;
            device_launch_.block_size = sizeof block_;
        }
    }
    void operator()(const std::vector<revamp_argument> &arguments, size_t count) {
        if (on_host_) {
            host_launch_.arguments = arguments.data();
            host_launch_.argument_count = count;
            ours::must(revamp_parallel_for_each(view_, &host_launch_), "revamp_parallel_for_each");
        } else {
            device_launch_.arguments = arguments.data();
            device_launch_.argument_count = count;
            ours::must(revamp_dispatch(view_, *kernel_, &device_launch_), "revamp_dispatch");
        }
    }
    void wait() const { ours::wait(view_); }

  private:
    bool on_host_;
    revamp_accelerator_view view_;
    std::unique_ptr<ours::Kernel> kernel_;
    const AddOneBlock block_{};
    const int32_t extent_ = 1;
    revamp_parallel_for_each_info host_launch_{};
    revamp_dispatch_info device_launch_{};
};

inline uint32_t address_offset(size_t n) {
    return static_cast<uint32_t>(offsetof(AddOneBlock, data) + 8 * n);
}
