// The objects that all programs of a run share (accelerators, their default accelerator_views, and kernels), and
// queries about injected faults.
#pragma once
#include "box.hpp"
#include <revamp.h>

extern "C" {
#include "../switch.h"
}

#include <atomic>
#include <vector>

namespace fuzz {

enum AcceleratorKind { CPU, THREADS, VULKAN, ACCELERATOR_KINDS };

// An accelerator_view. A program may release the accelerator_views that it created, even before the arrays on them.
struct Queue {
    revamp_accelerator_view handle = nullptr;
    AcceleratorKind accelerator_kind = CPU;
    bool is_default = false;
    bool is_released = false;
};

struct World {
    revamp_accelerator accelerators[ACCELERATOR_KINDS] = {};
    revamp_accelerator_info infos[ACCELERATOR_KINDS] = {};
    revamp_accelerator_view defaults[ACCELERATOR_KINDS] = {};
    revamp_kernel box = nullptr, step = nullptr, fill = nullptr, texels = nullptr, weave = nullptr;
    uint32_t binding_alignment = 4;

    bool has_vulkan() const { return accelerators[VULKAN] != nullptr; }
    // Finds the accelerators and loads the kernels. Returns false if a fault prevented this.
    bool open();
    void close();
    // Stores the number of bytes of arrays and views on each accelerator. Returns false if a fault prevented the query.
    bool used(uint64_t (&bytes)[ACCELERATOR_KINDS]) const;
};

// True if faults can be injected into this process.
bool can_inject_faults();
// True if a fault was injected since the program began.
bool fault_has_fired();
// True if a fault may cause this status.
bool is_fault_status(revamp_status status);

// The argument block of the kernels `box` (box.comp) and box_on_threads(). `to` and `from` are the addresses of boxes.
// For each k < n, the kernel replaces the value x of word k of `to` by 3 x + 1 (STEP), by value + k (SEQUENCE), or by
// 3 x + y (COMBINE), where y is the value of word k % m of `from`.
enum Mode : uint32_t { STEP, SEQUENCE, COMBINE };
struct KernelBlock {
    uint64_t to, from;
    uint32_t mode, value, n, m;
    uint32_t to_count[4], to_stride[4], from_count[4], from_stride[4];
};
void put_box(const Box &b, uint32_t *count, uint32_t *stride);
extern "C" void box_on_threads(const revamp_thread_id *id, void *context);

} // namespace fuzz
