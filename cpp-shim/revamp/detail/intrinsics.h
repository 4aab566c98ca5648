// revamp: the HLSL intrinsics of concurrency::direct3d that every device has (docs/spec/maths.md#direct3d), with HLSL's
// results in edge cases: integers wrap around, and the minimum or maximum of a number and a NaN is the number.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_INTRINSICS_H
#define REVAMP_DETAIL_INTRINSICS_H

#include "config.h"

REVAMP_DETAIL_BEGIN

// The slope of noise() at the integer `at`, from -1 to 1: a hash of `at`.
REVAMP_HD constexpr float slope_of_noise(int at) {
    unsigned bits = static_cast<unsigned>(at) * 0x9E3779B1U;
    bits = (bits ^ bits >> 15) * 0x85EBCA77U;
    bits = (bits ^ bits >> 13) * 0xC2B2AE3DU;
    bits ^= bits >> 16;
    return static_cast<float>(bits >> 8) * (2.0f / 16777215.0f) - 1.0f;
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN
namespace direct3d {

// A template, so that calls after a using-directive are not ambiguous with the C library's function.
template <class = void> REVAMP_HD constexpr int abs(int x) {
    return x < 0 ? static_cast<int>(0U - static_cast<unsigned>(x)) : x;
}
// min(max(x, least), most)
REVAMP_HD constexpr float clamp(float x, float least, float most) {
    const float above = x >= least || least != least ? x : least;
    return above <= most || most != most ? above : most;
}
REVAMP_HD constexpr int clamp(int x, int least, int most) {
    const int above = x > least ? x : least;
    return above < most ? above : most;
}
REVAMP_HD constexpr unsigned countbits(unsigned x) {
    return static_cast<unsigned>(__builtin_popcount(x));
}
// The index of the highest bit that differs from the sign bit; -1 if there is none. Bit 0 is the lowest.
REVAMP_HD constexpr int firstbithigh(int x) {
    const unsigned bits = static_cast<unsigned>(x < 0 ? ~x : x);
    return bits == 0 ? -1 : 31 - __builtin_clz(bits);
}
// The index of the lowest bit that is set; -1 if there is none.
REVAMP_HD constexpr int firstbitlow(int x) {
    return x == 0 ? -1 : __builtin_ctz(static_cast<unsigned>(x));
}
REVAMP_HD constexpr int imax(int x, int y) {
    return x > y ? x : y;
}
REVAMP_HD constexpr int imin(int x, int y) {
    return x < y ? x : y;
}
REVAMP_HD constexpr unsigned umax(unsigned x, unsigned y) {
    return x > y ? x : y;
}
REVAMP_HD constexpr unsigned umin(unsigned x, unsigned y) {
    return x < y ? x : y;
}
// x * y + z. The result of floats and doubles is rounded once or twice.
REVAMP_HD constexpr float mad(float x, float y, float z) {
    return x * y + z;
}
REVAMP_HD constexpr double mad(double x, double y, double z) {
    return x * y + z;
}
REVAMP_HD constexpr int mad(int x, int y, int z) {
    return static_cast<int>(static_cast<unsigned>(x) * static_cast<unsigned>(y) + static_cast<unsigned>(z));
}
REVAMP_HD constexpr unsigned mad(unsigned x, unsigned y, unsigned z) {
    return x * y + z;
}
// One-dimensional Perlin noise: a smooth, deterministic function with values from -1 to 1, and 0 at the integers.
// Direct3D does not document the values of its function; these are revamp's own.
REVAMP_HD constexpr float noise(float x) {
    // Floats of 2^23 and more are integers; no comparison with a NaN is true.
    if (!(x > -8388608.0f && x < 8388608.0f)) return x - x;
    const int truncated = static_cast<int>(x);
    const int below = static_cast<float>(truncated) > x ? truncated - 1 : truncated;
    const float t = x - static_cast<float>(below);
    const float left = revamp::detail::slope_of_noise(below) * t;
    const float right = revamp::detail::slope_of_noise(below + 1) * (t - 1.0f);
    return 2.0f * (left + t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f) * (right - left));
}
// Converts degrees to radians.
REVAMP_HD constexpr float radians(float x) {
    return x * 0.0174532925199432958f;
}
REVAMP_HD constexpr float rcp(float x) {
    return 1.0f / x;
}
REVAMP_HD constexpr double rcp(double x) {
    return 1.0 / x;
}
REVAMP_HD constexpr unsigned reversebits(unsigned x) {
    x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
    x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
    x = (x >> 4 & 0x0F0F0F0FU) | (x & 0x0F0F0F0FU) << 4;
    return __builtin_bswap32(x);
}
// Clamps x to [0, 1]; 0 for a NaN.
REVAMP_HD constexpr float saturate(float x) {
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
REVAMP_HD constexpr int sign(int x) {
    return (x > 0) - (x < 0);
}
// Returns 0 up to `least`, 1 from `most` on, and a Hermite interpolation in between.
REVAMP_HD constexpr float smoothstep(float least, float most, float x) {
    const float t = saturate((x - least) / (most - least));
    return t * t * (3.0f - 2.0f * t);
}
// 1 if x >= y, else 0.
REVAMP_HD constexpr float step(float y, float x) {
    return x >= y ? 1.0f : 0.0f;
}

} // namespace direct3d
REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_INTRINSICS_H
