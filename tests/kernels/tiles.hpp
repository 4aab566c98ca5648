// Forms of barriers and of tile_static memory as programs have them. FORM(name) is a kernel, HOST(name) computes on the
// host what the kernel is to give, tile by tile and phase by phase. Everything is in integers, so equal to the bit.
#ifndef TILES_HPP
#define TILES_HPP

#include "device.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace concurrency;

using Numbers = std::vector<int>;

// `count` numbers from 0 to 999.
inline Numbers input(int count, unsigned seed = 1) {
    Numbers all(count);
    unsigned x = seed * 7919;
    for (int &n : all) {
        x = x * 1664525 + 1013904223;
        n = int(x >> 9) % 1000;
    }
    return all;
}

// One phase between two barriers: what `value` gives for each thread of a tile.
template <class F> Numbers each(int threads, F value) {
    Numbers all(threads);
    for (int l = 0; l < threads; ++l)
        all[l] = value(l);
    return all;
}
inline int sum(const Numbers &all) {
    return std::accumulate(all.begin(), all.end(), 0);
}

// Calls `change` for each tile, with its number and its elements.
template <class F> Numbers by_tiles(const Numbers &data, int threads, F change) {
    Numbers result;
    for (int tile = 0; tile * threads < int(data.size()); ++tile) {
        Numbers elements(data.begin() + tile * threads, data.begin() + (tile + 1) * threads);
        change(tile, elements);
        result.insert(result.end(), elements.begin(), elements.end());
    }
    return result;
}

struct Form {
    const char *name;
    Numbers (*kernel)(const accelerator_view &);
    Numbers (*host)();
};
inline std::vector<Form> &forms() {
    static std::vector<Form> all;
    return all;
}
inline int add_form(const Form &form) {
    forms().push_back(form);
    return 0;
}
#define FORM(name)                                                                                                     \
    Numbers kernel_##name(const accelerator_view &where);                                                              \
    Numbers host_##name();                                                                                             \
    [[maybe_unused]] const int form_##name = add_form({#name, kernel_##name, host_##name});                            \
    Numbers kernel_##name(const accelerator_view &where)
#define HOST(name) Numbers host_##name()

// All elements must be equal. A failure names the first that differs.
inline void compare(const std::string &what, const Numbers &got, const Numbers &expected) {
    REQUIRE(got.size() == expected.size());
    const auto at = std::mismatch(got.begin(), got.end(), expected.begin());
    if (at.first == got.end()) return;
    const std::string place = "element " + std::to_string(at.first - got.begin());
    check::fail(what.c_str(), 0,
                place + " is " + std::to_string(*at.first) + ", the host computes " + std::to_string(*at.second));
}

// `run` gets an accelerator_view and its name.
template <class F> void on_host_threads_and_on_a_device(F run) {
    const accelerator_view device = vulkan_view();
    run(accelerator(accelerator::direct3d_warp).default_view, "host threads");
    run(device, "a device");
}
inline void compare_forms() {
    for (const Form &form : forms()) {
        const Numbers expected = form.host();
        on_host_threads_and_on_a_device([&](const accelerator_view &where, const std::string &name) {
            compare(form.name + (" on " + name), form.kernel(where), expected);
        });
    }
}

#endif
