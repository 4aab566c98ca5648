// Helpers for tests of barriers and tile_static memory. KERNEL(name) launches a kernel, and HOST(name) computes the
// expected results on the host, tile by tile and phase by phase (a phase is the code between two barriers).
#ifndef TILES_HPP
#define TILES_HPP

#include "device.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace concurrency;

using Numbers = std::vector<int>;

// Returns `count` pseudorandom numbers from 0 to 999.
inline Numbers input(int count, unsigned seed = 1) {
    Numbers all(count);
    unsigned x = seed * 7919;
    for (int &n : all) {
        x = x * 1664525 + 1013904223;
        n = int(x >> 9) % 1000;
    }
    return all;
}

// Computes one phase: returns value(l) for each thread l of a tile.
template <class F> Numbers compute_phase(int threads, F value) {
    Numbers all(threads);
    for (int l = 0; l < threads; ++l)
        all[l] = value(l);
    return all;
}
inline int sum(const Numbers &all) {
    return std::accumulate(all.begin(), all.end(), 0);
}

// Calls change(tile number, elements of the tile) for each tile, and returns the changed elements of all tiles.
template <class F> Numbers transform_tiles(const Numbers &data, int threads, F change) {
    Numbers result;
    for (int tile = 0; tile * threads < int(data.size()); ++tile) {
        Numbers elements(data.begin() + tile * threads, data.begin() + (tile + 1) * threads);
        change(tile, elements);
        result.insert(result.end(), elements.begin(), elements.end());
    }
    return result;
}

struct KernelTest {
    const char *name;
    Numbers (*kernel)(const accelerator_view &);
    Numbers (*host)();
};
inline std::vector<KernelTest> &kernel_tests() {
    static std::vector<KernelTest> all;
    return all;
}
inline int add_kernel_test(const KernelTest &test) {
    kernel_tests().push_back(test);
    return 0;
}
#define KERNEL(name)                                                                                                   \
    Numbers kernel_##name(const accelerator_view &where);                                                              \
    Numbers host_##name();                                                                                             \
    [[maybe_unused]] const int registered_##name = add_kernel_test({#name, kernel_##name, host_##name});               \
    Numbers kernel_##name(const accelerator_view &where)
#define HOST(name) Numbers host_##name()

// Checks that all elements are equal. A failure names the first element that differs.
inline void compare(const std::string &what, const Numbers &got, const Numbers &expected) {
    REQUIRE(got.size() == expected.size());
    const auto at = std::mismatch(got.begin(), got.end(), expected.begin());
    if (at.first == got.end()) return;
    const std::string element = "element " + std::to_string(at.first - got.begin());
    check::fail(what.c_str(), 0,
                element + " is " + std::to_string(*at.first) + ", the host computes " + std::to_string(*at.second));
}

// Calls run(accelerator_view, name) once for host threads and once for a Vulkan device.
template <class F> void on_host_threads_and_on_a_device(F run) {
    const accelerator_view device = vulkan_view();
    run(accelerator(accelerator::direct3d_warp).default_view, "host threads");
    run(device, "a device");
}
inline void compare_kernels() {
    for (const KernelTest &test : kernel_tests()) {
        const Numbers expected = test.host();
        on_host_threads_and_on_a_device([&](const accelerator_view &where, const std::string &name) {
            compare(test.name + (" on " + name), test.kernel(where), expected);
        });
    }
}

#endif
