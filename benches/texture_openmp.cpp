// The hand-written OpenMP code of the texture benchmark: bilinear sampling of four unorm components, with
// clamped coordinates.
#include "texture_work.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif
static void
row(const unsigned char *from, unsigned *to, int n, int y) {
    const float step = 1.0f / static_cast<float>(n), size = static_cast<float>(n);
    const float v = (static_cast<float>(y) + 0.7f) * step * size - 0.5f, upper_row = std::floor(v),
                y_fraction = v - upper_row;
    const int j = static_cast<int>(upper_row), above = std::clamp(j, 0, n - 1), below = std::clamp(j + 1, 0, n - 1);
    for (int x = 0; x < n; ++x) {
        const float u = (static_cast<float>(x) + 0.8f) * step * size - 0.5f, left_column = std::floor(u),
                    x_fraction = u - left_column;
        const int i = static_cast<int>(left_column), first = std::clamp(i, 0, n - 1),
                  next = std::clamp(i + 1, 0, n - 1);
        unsigned texel = 0;
        for (int c = 0; c < 4; ++c) {
            const auto at = [&](int r, int s) { return static_cast<float>(from[4 * (r * n + s) + c]); };
            const float above_value = at(above, first) + (at(above, next) - at(above, first)) * x_fraction;
            const float below_value = at(below, first) + (at(below, next) - at(below, first)) * x_fraction;
            texel |= static_cast<unsigned>(above_value + (below_value - above_value) * y_fraction + 0.5f) << 8 * c;
        }
        to[y * n + x] = texel;
    }
}

void bilinear_openmp(const unsigned char *from, unsigned *to, int n) {
#pragma omp parallel for
    for (int y = 0; y < n; ++y)
        row(from, to, n, y);
}
