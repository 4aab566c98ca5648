// What all programs of a run share: accelerators, their accelerator_views and kernels; and the faults.
#pragma once
#include "box.hpp"
#include <revamp.h>

extern "C" {
#include "../switch.h"
}

#include <atomic>
#include <vector>

namespace fuzz {

enum Place { CPU, THREADS, VULKAN, PLACES };

// An accelerator_view. Those that are made are released while arrays live on them.
struct Queue {
    revamp_accelerator_view handle = nullptr;
    Place place = CPU;
    bool is_default = false;
    bool is_released = false;
};

struct World {
    revamp_accelerator accelerators[PLACES] = {};
    revamp_accelerator_info infos[PLACES] = {};
    revamp_accelerator_view defaults[PLACES] = {};
    revamp_kernel box = nullptr, step = nullptr, fill = nullptr, texels = nullptr, weave = nullptr;
    uint32_t binding_alignment = 4;

    bool has_vulkan() const { return accelerators[VULKAN] != nullptr; }
    // Looks for accelerators and loads kernels. False if a fault came between.
    bool open();
    void close();
    // Bytes of arrays and views on each.
    bool used(uint64_t (&bytes)[PLACES]) const;
};

// Faults are injected in this process.
bool has_faults();
// One was, since the program began.
bool has_fired();
// True if the status is one that a fault may come to.
bool is_of_fault(revamp_status status);

// The kernels' block: numbers of a box of up to three dimensions of elements. Number k of `to` becomes 3 x + 1, value +
// k, or 3 x + y with y being number k modulo m of `from`.
enum Mode : uint32_t { STEP, SEQUENCE, COMBINE };
struct KernelBlock {
    uint64_t to, from;
    uint32_t mode, value, n, m;
    uint32_t to_count[4], to_stride[4], from_count[4], from_stride[4];
};
void put_box(const Box &b, uint32_t *count, uint32_t *stride);
extern "C" void box_on_threads(const revamp_thread_id *id, void *context);

} // namespace fuzz
