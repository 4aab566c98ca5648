// The kernels of this program: smooth() and total().
#include "stdafx.h"

#include "filters.h"

using namespace concurrency;

namespace {
APP_FORCE_INLINE int clamped(int at, int count) restrict(cpu, amp) {
    return at < 0 ? 0 : at < count ? at : count - 1;
}
} // namespace

std::vector<float> smooth(const std::vector<float> &samples) {
    const int count = static_cast<int>(samples.size());
    std::vector<float> smoothed(samples.size());
    array_view<const float> in(count, samples);
    array_view<float> out(count, smoothed);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) {
            float sum = 0;
            float weights = 0;
            for (int n = -2; n <= 2; n++) {
                const float w = tent(static_cast<float>(n < 0 ? -n : n) * 0.5f);
                sum += in[clamped(i[0] + n, count)] * w;
                weights += w;
            }
            out[i] = sum / weights;
        });
    out.synchronize();
    return smoothed;
}

float total(const std::vector<float> &samples) {
    const int count = static_cast<int>(samples.size());
#if APP_HAS_EXTENSIONS
    float sum = 0;
    array_view<const float> in(count, samples);
    array_view<float> out(1, &sum);
    parallel_for_each(
        in.extent, [=](index<1> i) restrict(amp) { atomic_fetch_add(&out[0], in[i]); });
    out.synchronize();
    return sum;
#else
    // C++ AMP adds only integers atomically, so the sum is in fixed point.
    int sum = 0;
    array_view<const float> in(count, samples);
    array_view<int> out(1, &sum);
    parallel_for_each(
        in.extent, [=](index<1> i) restrict(amp) {
            atomic_fetch_add(&out[0], static_cast<int>(fast_math::roundf(in[i] * 256)));
        });
    out.synchronize();
    return static_cast<float>(sum) / 256;
#endif
}
