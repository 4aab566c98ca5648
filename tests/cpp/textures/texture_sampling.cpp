// Tests that sampling in kernels gives the host's results (docs/spec/textures.md). This build has host threads only;
// tests/kernels compiles the file for devices.
#include <amp.h>
#include <amp_graphics.h>

#include "../check.hpp"
#include "noise.hpp"

#if __has_include(<vulkan/vulkan.h>)
#include <revamp/vulkan.hpp>
#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>

using namespace concurrency;
using namespace concurrency::graphics;
namespace detail = revamp::detail;

namespace {

template <class T, int N>
std::vector<T> sampled(const texture<T, N> &from, const sampler &by, const std::vector<float> &positions, float level) {
    const int count = static_cast<int>(positions.size()) / N;
    const array_view<const float, 2> at(count, N, positions);
    std::vector<T> out(static_cast<unsigned>(count));
    const array_view<T> view(count, out);
    const texture_view<const T, N> texels(from);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            if constexpr (N == 1)
                view[i] = texels.sample(by, at(i[0], 0), level);
            else if constexpr (N == 2)
                view[i] = texels.sample(by, float_2(at(i[0], 0), at(i[0], 1)), level);
            else
                view[i] = texels.sample(by, float_3(at(i[0], 0), at(i[0], 1), at(i[0], 2)), level);
        });
    view.synchronize();
    return out;
}

// The fraction bits of interpolation between texels and between levels. The host and host threads use Direct3D's 8.
struct fractions {
    unsigned of_texels = 8, of_levels = 8;
};
bool on_a_device() {
    return accelerator().device_path.compare(0, 6, L"vulkan") == 0;
}
fractions precision() {
    fractions found;
#if defined(REVAMP_VULKAN_CPP_H) && __has_include(<dlfcn.h>)
    if (!on_a_device()) return found;
    const revamp_vulkan_view_info view_info = revamp::vulkan::get_view_info(accelerator().default_view);
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW);
    REQUIRE(loader);
    const auto get_properties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(dlsym(loader, "vkGetPhysicalDeviceProperties"));
    REQUIRE(get_properties);
    VkPhysicalDeviceProperties all;
    get_properties(view_info.physical_device, &all);
    found = {all.limits.subTexelPrecisionBits, all.limits.mipmapPrecisionBits};
#endif
    return found;
}

// The host's results for a texture, and the tolerances. Devices filter in device-specific steps, and may round a border
// colour to the format. Very near the edge between two texels, point sampling may take either texel.
template <class T, int N> struct oracle {
    detail::texels<N> stored;
    fractions bits;
    bool device;

    typedef detail::filtered<T> colour;
    static constexpr unsigned size = unsigned(detail::texel_size<T>);

    // The step between two codes of the format; 0 for floats, which are filtered as floats.
    float format_step() const {
        if (!detail::is_normalized<detail::texel_scalar<T>>) return 0.0f;
        const bool sign = std::is_same_v<detail::texel_scalar<T>, norm>;
        return 1.0f / static_cast<float>((1U << (stored.bits - (sign ? 1 : 0))) - 1);
    }
    // Returns (range of the values) x 2^-bits for each dimension and for levels, plus one step of the format.
    float tolerance(const sampler &by, float level) const {
        if (!device || by.filter_mode == filter_point) return 1e-5f;
        const float range = std::is_same_v<detail::texel_scalar<T>, unorm>  ? 1.0f
                            : std::is_same_v<detail::texel_scalar<T>, norm> ? 2.0f
                                                                            : 4.0f;
        const float steps = static_cast<float>(N) / static_cast<float>(1U << bits.of_texels) +
                            (level > 0.0f ? 1.0f / static_cast<float>(1U << bits.of_levels) : 0.0f);
        return range * steps + format_step() + 1e-5f;
    }
    static float largest_difference(const colour &a, const colour &b) {
        float largest = 0;
        for (unsigned c = 0; c < size; ++c)
            largest = std::max(largest, std::abs(a.c[c] - b.c[c]));
        return largest;
    }
    // Returns how far the colour `got` is beyond the tolerance. Sets `expected` to the nearest allowed colour.
    float excess(const colour &got, const sampler &by, const float *position, float level, colour &expected) const {
        const detail::sampling how = detail::sampling_by(by);
        const bool point = device && by.filter_mode == filter_point;
        const colour border = detail::border_of<T>(how);
        float smallest_excess = 1e9f;
        for (int neighbour = 0; neighbour < (!point ? 1 : N == 1 ? 3 : N == 2 ? 9 : 27); ++neighbour) {
            detail::coordinates<N> at{};
            for (int d = 0, all = neighbour; d < N; ++d, all /= 3)
                at.c[d] = position[d] + float(all % 3 == 2 ? -1 : all % 3) * 2e-6f;
            const colour candidate = colour::of(detail::sample_texels<T, N>(stored, how, at, level));
            const bool outside =
                point && by.address_mode == address_border && largest_difference(candidate, border) == 0.0f;
            const float candidate_excess =
                largest_difference(got, candidate) - tolerance(by, level) - (outside ? format_step() : 0.0f);
            if (candidate_excess < smallest_excess) expected = candidate;
            smallest_excess = std::min(smallest_excess, candidate_excess);
        }
        return smallest_excess;
    }
};

// Kernels must sample as the same code does on the host. texels.cpp tests that code rule by rule.
template <class T, int N>
void check_sampling_matches_host(const char *name, const extent<N> &shape, unsigned bits, unsigned levels) {
    texture<T, N> texels(shape, bits, levels);
    std::vector<unsigned char> source = noise(texels.data_length);
    // Limits the magnitudes of floats to the range 0.5 to 2.
    if (std::is_same_v<detail::texel_scalar<T>, float>) {
        for (unsigned i = bits / 8 - 1; i < source.size(); i += bits / 8)
            source[i] = static_cast<unsigned char>(bits == 16 ? 0x38 | (source[i] & 0x87) : 0x3F | (source[i] & 0x80));
    }
    copy(source.data(), static_cast<unsigned>(source.size()), texels);
    alignas(16) unsigned char memory[8192] = {};
    REQUIRE(source.size() <= sizeof memory);
    std::memcpy(memory, source.data(), source.size());
    const oracle<T, N> host{{memory, shape, texels.mipmap_levels, bits}, precision(), on_a_device()};
    std::vector<float> positions;
    for (int n = 0; n < 200 * N; ++n)
        positions.push_back(static_cast<float>(n * 37 % 211) / 60.0f - 1.3f);
    for (const auto filter : {filter_point, filter_linear})
        for (const auto address : {address_wrap, address_mirror, address_clamp, address_border})
            for (const float level : {0.0f, 0.6f, 1.25f}) {
                const sampler by(filter, address, float_4(0.25f, -1.0f, 0.5f, 1.0f));
                const std::vector<T> got = sampled(texels, by, positions, level);
                unsigned mismatches = 0;
                for (unsigned n = 0; n < got.size(); ++n) {
                    detail::filtered<T> expected{};
                    const detail::filtered<T> found = detail::filtered<T>::of(got[n]);
                    const float *position = &positions[n * unsigned(N)];
                    const float excess = host.excess(found, by, position, level, expected);
                    if (!(excess > 0.0f) || ++mismatches > 3) continue;
                    std::cerr << name << ' ' << bits << " bits, " << (filter == filter_point ? "point" : "linear")
                              << ", address mode " << address << ", level " << level << ", at";
                    for (int d = 0; d < N; ++d)
                        std::cerr << ' ' << position[d];
                    std::cerr << ": beyond the tolerance of " << host.tolerance(by, level) << " by " << excess << ':';
                    for (unsigned c = 0; c < host.size; ++c)
                        std::cerr << ' ' << found.c[c] << " instead of " << expected.c[c];
                    std::cerr << '\n';
                }
                CHECK_EQUAL(mismatches, 0U);
            }
}

// every_type() tests each type that can be sampled, with each of its component widths, and with all levels.
template <class T, int N>
void every_width(const char *name, const extent<N> &shape, std::initializer_list<unsigned> widths) {
    for (const unsigned bits : widths)
        check_sampling_matches_host<T, N>(name, shape, bits, 0);
}
template <int N> void every_type(const extent<N> &shape) {
    every_width<float, N>("float", shape, {16, 32});
    every_width<float_2, N>("float_2", shape, {16, 32});
    every_width<float_3, N>("float_3", shape, {32});
    every_width<float_4, N>("float_4", shape, {16, 32});
    every_width<unorm, N>("unorm", shape, {8, 16});
    every_width<unorm_2, N>("unorm_2", shape, {8, 16});
    every_width<unorm_4, N>("unorm_4", shape, {8, 16});
    every_width<norm, N>("norm", shape, {8, 16});
    every_width<norm_2, N>("norm_2", shape, {8, 16});
    every_width<norm_4, N>("norm_4", shape, {8, 16});
    // Levels of detail beyond the last level sample the last level.
    check_sampling_matches_host<norm_2, N>("norm_2", shape, 8, 1);
    check_sampling_matches_host<float, N>("float", shape, 32, 2);
}

} // namespace

TEST(TEX_44_to_TEX_52_sampling_one_dimension) {
    every_type(extent<1>(13));
}

TEST(TEX_44_to_TEX_52_sampling_two_dimensions) {
    every_type(extent<2>(5, 8));
}

TEST(TEX_44_to_TEX_52_sampling_three_dimensions) {
    every_type(extent<3>(4, 3, 6));
}

CHECK_MAIN
