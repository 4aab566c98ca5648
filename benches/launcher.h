// Launches of an empty kernel, and the time of this thread alone.
#pragma once
#include <cstddef>
#include <ctime>
#include <memory>
#include <vector>

#include "bench.h"

// Seconds of processor time of this thread: a launch's own work, without what the device and others do meanwhile.
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

// One operation of these cases is a mean over many already.
inline void as_is(Case &c) {
    c.effort.repetition = 0;
}

inline void nothing(const revamp_thread_id *, void *) {}

// Launches an empty kernel on the first so many of some arguments.
class Launcher {
  public:
    Launcher(Bench &b, bool on_host) : on_host_(on_host), view_(on_host ? b.host_view : b.view) {
        if (on_host) {
            host_.struct_size = sizeof host_;
            host_.rank = 1;
            host_.extent = &extent_;
            host_.function = nothing;
            host_.block = &block_;
            host_.block_size = sizeof block_;
        } else {
            kernel_ = std::make_unique<ours::Kernel>(b.accelerator, add_one_shader);
            device_.struct_size = sizeof device_;
            device_.groups[0] = device_.groups[1] = device_.groups[2] = 1;
            device_.block = &block_;
            device_.block_size = sizeof block_;
        }
    }
    void operator()(const std::vector<revamp_argument> &arguments, size_t count) {
        if (on_host_) {
            host_.arguments = arguments.data();
            host_.argument_count = count;
            ours::must(revamp_parallel_for_each(view_, &host_), "revamp_parallel_for_each");
        } else {
            device_.arguments = arguments.data();
            device_.argument_count = count;
            ours::must(revamp_dispatch(view_, *kernel_, &device_), "revamp_dispatch");
        }
    }
    void wait() const { ours::wait(view_); }

  private:
    bool on_host_;
    revamp_accelerator_view view_;
    std::unique_ptr<ours::Kernel> kernel_;
    const AddOneBlock block_{};
    const int32_t extent_ = 1;
    revamp_parallel_for_each_info host_{};
    revamp_dispatch_info device_{};
};

inline uint32_t address_offset(size_t n) {
    return static_cast<uint32_t>(offsetof(AddOneBlock, data) + 8 * n);
}
