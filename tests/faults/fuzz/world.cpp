#include "world.hpp"

#include "report.hpp"

#include <cstring>

namespace fuzz {
namespace {

const uint32_t box_words[] =
#include "box.inc"
    ;
const uint32_t step_words[] =
#include "step.inc"
    ;
const uint32_t fill_words[] =
#include "fill.inc"
    ;
const uint32_t texels_words[] =
#include "texels.inc"
    ;
const uint32_t weave_words[] =
#include "weave.inc"
    ;

// Returns true if the call succeeded. Ends the run if the call failed and no injected fault explains the failure.
bool check_call(revamp_status status, const char *what) {
    if (status == REVAMP_OK) return true;
    if (!fault_has_fired() || !is_fault_status(status))
        found("%s: %s: %s", what, revamp_status_name(status), revamp_last_error_message());
    return false;
}

bool load(revamp_accelerator on, const uint32_t *words, size_t size, revamp_kernel *kernel) {
    revamp_kernel_options options = {};
    options.struct_size = sizeof options;
    options.spirv = words;
    options.spirv_size = size;
    return check_call(revamp_kernel_create(on, &options, kernel), "loading a kernel");
}

uint64_t offset_in(const uint32_t *count, const uint32_t *stride, uint32_t k) {
    uint64_t at = 0;
    for (int d = 3; d >= 0; k /= count[d], d--)
        at += static_cast<uint64_t>(k % count[d]) * stride[d];
    return at;
}

uint32_t *number_at(uint64_t base, const uint32_t *count, const uint32_t *stride, uint32_t k) {
    return reinterpret_cast<uint32_t *>(static_cast<uintptr_t>(base + offset_in(count, stride, k)));
}

} // namespace

bool World::open() {
    size_t count = 0;
    revamp_accelerator all[16];
    if (!check_call(revamp_accelerator_list(all, 16, &count), "listing accelerators")) return false;
    for (size_t i = 0; i < count && i < 16; i++) {
        revamp_accelerator_info info = {};
        info.struct_size = sizeof info;
        if (!check_call(revamp_accelerator_get_info(all[i], &info), "querying an accelerator")) return false;
        auto kind = static_cast<AcceleratorKind>(info.kind);
        if (info.unusable_reason || accelerators[kind]) continue;
        accelerators[kind] = all[i];
        infos[kind] = info;
        if (!check_call(revamp_accelerator_get_default_view(all[i], &defaults[kind]), "the default view")) return false;
    }
    if (!has_vulkan()) return true;
    binding_alignment = static_cast<uint32_t>(infos[VULKAN].min_storage_buffer_alignment);
    return load(accelerators[VULKAN], box_words, sizeof box_words, &box) &&
           load(accelerators[VULKAN], step_words, sizeof step_words, &step) &&
           load(accelerators[VULKAN], fill_words, sizeof fill_words, &fill) &&
           load(accelerators[VULKAN], texels_words, sizeof texels_words, &texels) &&
           load(accelerators[VULKAN], weave_words, sizeof weave_words, &weave);
}

void World::close() {
    for (revamp_kernel kernel : {box, step, fill, texels, weave})
        if (kernel && revamp_kernel_release(kernel) != REVAMP_OK) found("a kernel could not be released");
    *this = World();
}

bool World::used(uint64_t (&bytes)[ACCELERATOR_KINDS]) const {
    for (int p = 0; p < ACCELERATOR_KINDS; p++) {
        revamp_memory_usage usage = {};
        usage.struct_size = sizeof usage;
        bytes[p] = 0;
        if (!accelerators[p]) continue;
        if (!check_call(revamp_accelerator_get_memory_usage(accelerators[p], &usage), "memory usage")) return false;
        bytes[p] = usage.used;
    }
    return true;
}

bool can_inject_faults() {
    return fault_open() != nullptr;
}

bool fault_has_fired() {
    fault_switch *s = fault_open();
    return s && __atomic_load_n(&s->fired, __ATOMIC_ACQUIRE) > 0;
}

bool is_fault_status(revamp_status status) {
    return status == REVAMP_ERROR_RUNTIME || status == REVAMP_ERROR_OUT_OF_MEMORY ||
           status == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED || status == REVAMP_ERROR_UNSUPPORTED_FEATURE;
}

void put_box(const Box &b, uint32_t *count, uint32_t *stride) {
    for (uint32_t d = 0; d < 4; d++) {
        count[d] = 1;
        stride[d] = 4;
    }
    count[3] = b.element;
    for (uint32_t d = 0; d < b.rank; d++) {
        count[3 - b.rank + d] = static_cast<uint32_t>(b.extent[d]);
        stride[3 - b.rank + d] = static_cast<uint32_t>(b.stride[d]) * 4;
    }
}

extern "C" void box_on_threads(const revamp_thread_id *id, void *context) {
    const KernelBlock &b = *static_cast<const KernelBlock *>(context);
    auto k = static_cast<uint32_t>(id->global[0]);
    uint32_t *to = number_at(b.to, b.to_count, b.to_stride, k);
    if (b.mode == STEP) *to = 3 * *to + 1;
    if (b.mode == SEQUENCE) *to = b.value + k;
    if (b.mode == COMBINE) *to = 3 * *to + *number_at(b.from, b.from_count, b.from_stride, k % b.m);
}

} // namespace fuzz
