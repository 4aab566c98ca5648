#include "engines.hpp"

static const std::uint32_t step_words[] = {
#include "step.inc"
};
static const std::uint32_t sum_words[] = {
#include "sets.inc"
};

engine::engine(const concurrency::accelerator &a) : m_accelerator(a) {
    if (a.device_path == concurrency::accelerator::direct3d_warp) return;
    m_step = std::make_unique<revamp::kernel>(a, step_words, sizeof step_words);
    m_sum = std::make_unique<revamp::kernel>(a, sum_words, sizeof sum_words);
}

std::vector<engine> engines() {
    std::vector<engine> all;
    for (const concurrency::accelerator &one : concurrency::accelerator::get_all())
        if (one.device_path != concurrency::accelerator::cpu_accelerator) all.emplace_back(one);
    return all;
}
