// Tests of concurrency::direct3d: the intrinsics, with HLSL's results for edge cases, and accelerator_views without
// timeouts (docs/spec/maths.md#direct3d).
#include <amp.h>

#include "../check.hpp"

#include <cstdlib>
#include <limits>
#include <type_traits>

using namespace concurrency;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr int least_int = std::numeric_limits<int>::min();
constexpr int most_int = std::numeric_limits<int>::max();

} // namespace

TEST(intrinsics_on_integers) {
    CHECK(direct3d::abs(-5) == 5 && direct3d::abs(5) == 5 && direct3d::abs(0) == 0);
    CHECK(direct3d::abs(least_int) == least_int && direct3d::abs(least_int + 1) == most_int);
    CHECK(direct3d::clamp(5, 1, 3) == 3 && direct3d::clamp(-5, 1, 3) == 1 && direct3d::clamp(2, 1, 3) == 2);
    CHECK(direct3d::clamp(2, 5, 3) == 3); // the upper bound wins
    CHECK(direct3d::countbits(0U) == 0 && direct3d::countbits(~0U) == 32 && direct3d::countbits(0x80000001U) == 2);
    CHECK(direct3d::firstbithigh(0) == -1 && direct3d::firstbithigh(1) == 0 && direct3d::firstbithigh(0x50) == 6 &&
          direct3d::firstbithigh(most_int) == 30);
    // For a negative number, the result is the index of its highest zero bit.
    CHECK(direct3d::firstbithigh(-1) == -1 && direct3d::firstbithigh(-2) == 0 && direct3d::firstbithigh(-9) == 3 &&
          direct3d::firstbithigh(least_int) == 30);
    CHECK(direct3d::firstbitlow(0) == -1 && direct3d::firstbitlow(1) == 0 && direct3d::firstbitlow(0x50) == 4 &&
          direct3d::firstbitlow(-1) == 0 && direct3d::firstbitlow(least_int) == 31);
    CHECK(direct3d::imax(-1, 1) == 1 && direct3d::imin(-1, 1) == -1 && direct3d::imax(least_int, most_int) == most_int);
    CHECK(direct3d::umax(~0U, 1U) == ~0U && direct3d::umin(~0U, 1U) == 1U);
    CHECK(direct3d::mad(3, -4, 5) == -7 && direct3d::mad(most_int, 2, 3) == 1 &&
          direct3d::mad(0x10000, 0x10000, 7) == 7);
    CHECK(direct3d::mad(3U, 4U, 5U) == 17U && direct3d::mad(~0U, 2U, 3U) == 1U);
    CHECK(direct3d::reversebits(0U) == 0 && direct3d::reversebits(1U) == 0x80000000U &&
          direct3d::reversebits(0x12345678U) == 0x1E6A2C48U && direct3d::reversebits(~0U) == ~0U);
    CHECK(direct3d::sign(7) == 1 && direct3d::sign(-7) == -1 && direct3d::sign(0) == 0 &&
          direct3d::sign(least_int) == -1);
    static_assert(direct3d::abs(-5) == 5 && direct3d::reversebits(2U) == 0x40000000U, "constants, too");
}

TEST(intrinsics_on_floats) {
    CHECK(direct3d::clamp(0.5f, 1.0f, 3.0f) == 1.0f && direct3d::clamp(5.0f, 1.0f, 3.0f) == 3.0f &&
          direct3d::clamp(2.0f, 1.0f, 3.0f) == 2.0f && direct3d::clamp(2.0f, 5.0f, 3.0f) == 3.0f);
    CHECK(direct3d::clamp(-inf, 1.0f, 3.0f) == 1.0f && direct3d::clamp(inf, 1.0f, 3.0f) == 3.0f);
    // If one operand is a NaN, the result is the other.
    CHECK(direct3d::clamp(nan_value, 1.0f, 3.0f) == 1.0f && direct3d::clamp(2.0f, nan_value, 3.0f) == 2.0f &&
          direct3d::clamp(2.0f, 1.0f, nan_value) == 2.0f && direct3d::clamp(0.0f, 1.0f, nan_value) == 1.0f);
    CHECK(direct3d::mad(2.0f, 3.0f, 4.0f) == 10.0f && direct3d::mad(2.0, 3.0, 0.5) == 6.5);
    CHECK(direct3d::radians(180.0f) == 3.14159274f && direct3d::radians(-90.0f) == -1.57079637f &&
          direct3d::radians(0.0f) == 0.0f);
    CHECK(direct3d::rcp(4.0f) == 0.25f && direct3d::rcp(-0.5) == -2.0);
    CHECK(direct3d::rcp(inf) == 0.0f && std::signbit(direct3d::rcp(-inf)) && std::isnan(direct3d::rcp(nan_value)));
    CHECK(direct3d::saturate(0.25f) == 0.25f && direct3d::saturate(1.5f) == 1.0f && direct3d::saturate(-1.5f) == 0.0f);
    CHECK(direct3d::saturate(inf) == 1.0f && direct3d::saturate(-inf) == 0.0f && direct3d::saturate(nan_value) == 0.0f);
    CHECK(direct3d::smoothstep(1.0f, 3.0f, 0.5f) == 0.0f && direct3d::smoothstep(1.0f, 3.0f, 1.0f) == 0.0f &&
          direct3d::smoothstep(1.0f, 3.0f, 1.5f) == 0.15625f && direct3d::smoothstep(1.0f, 3.0f, 2.0f) == 0.5f &&
          direct3d::smoothstep(1.0f, 3.0f, 3.0f) == 1.0f && direct3d::smoothstep(1.0f, 3.0f, inf) == 1.0f);
    CHECK(direct3d::smoothstep(3.0f, 1.0f, 1.0f) == 1.0f && direct3d::smoothstep(3.0f, 1.0f, 3.0f) == 0.0f);
    CHECK(direct3d::step(1.0f, 0.5f) == 0.0f && direct3d::step(1.0f, 1.0f) == 1.0f &&
          direct3d::step(1.0f, 2.0f) == 1.0f);
    CHECK(direct3d::step(nan_value, 1.0f) == 0.0f && direct3d::step(1.0f, nan_value) == 0.0f &&
          direct3d::step(-inf, -inf) == 1.0f && direct3d::step(0.0f, -0.0f) == 1.0f);
}

TEST(intrinsics_noise) {
    for (const float whole : {0.0f, 1.0f, -1.0f, 12345.0f, -8388607.0f, 8388608.0f, 1e30f, -1e30f})
        CHECK(direct3d::noise(whole) == 0.0f);
    CHECK(std::isnan(direct3d::noise(nan_value)));
    float smallest = 1.0f, largest = -1.0f, previous = direct3d::noise(-500.0f);
    for (int i = -500 * 64; i < 500 * 64; ++i) {
        const float at = static_cast<float>(i) / 64.0f, x = direct3d::noise(at);
        CHECK(x >= -1.0f && x <= 1.0f && x == direct3d::noise(at));
        CHECK(std::fabs(x - previous) < 0.1f); // noise() is continuous
        smallest = std::fmin(smallest, x), largest = std::fmax(largest, x), previous = x;
    }
    CHECK(smallest < -0.5f && largest > 0.5f);
}

TEST(intrinsics_types) {
    static_assert(std::is_same<decltype(direct3d::countbits(1U)), unsigned>::value, "");
    static_assert(std::is_same<decltype(direct3d::firstbithigh(1)), int>::value, "");
    static_assert(std::is_same<decltype(direct3d::mad(1.0, 1.0, 1.0)), double>::value, "");
    static_assert(std::is_same<decltype(direct3d::mad(1U, 1U, 1U)), unsigned>::value, "");
    static_assert(std::is_same<decltype(direct3d::rcp(1.0)), double>::value, "");
    static_assert(std::is_same<decltype(direct3d::rcp(1.0f)), float>::value, "");
    using namespace concurrency::direct3d;
    // No call is ambiguous with the C library's functions.
    CHECK(abs(-3) == 3 && clamp(4, 1, 3) == 3 && saturate(2.0f) == 1.0f && step(1.0f, 2.0f) == 1.0f);
}

TEST(intrinsics_in_kernels) {
    std::vector<float> v(64);
    array_view<float> view(v);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            const float x = static_cast<float>(i[0]) / 16.0f;
            view[i] = direct3d::saturate(direct3d::mad(x, 0.5f, direct3d::step(2.0f, x))) +
                      static_cast<float>(direct3d::countbits(static_cast<unsigned>(i[0])));
        });
    CHECK(view[16] == 1.5f && view[63] == 7.0f && view[0] == 0.0f);
}

TEST(views_without_timeout) {
    accelerator a(accelerator::direct3d_warp);
    const accelerator_view without = direct3d::create_accelerator_view(a, true, queuing_mode_immediate);
    const accelerator_view with = direct3d::create_accelerator_view(a, false);
    CHECK(without != with && without != a.default_view && without.accelerator == a &&
          without.queuing_mode == queuing_mode_immediate && with.queuing_mode == queuing_mode_automatic);
    const accelerator_view copy(without);
    CHECK(direct3d::is_timeout_disabled(without) && direct3d::is_timeout_disabled(copy) &&
          direct3d::is_timeout_disabled(array<int>(4, without).accelerator_view));
    CHECK(!direct3d::is_timeout_disabled(with) && !direct3d::is_timeout_disabled(a.default_view) &&
          !direct3d::is_timeout_disabled(a.create_view()));
}

CHECK_MAIN
