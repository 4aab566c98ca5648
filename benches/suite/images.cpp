// The family `images` of the kernel suite: image filters.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

void image_data(Problem &p, int large, double bytes) {
    const int n = p.pick(192, large);
    p.n = {n};
    p.floats(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.bytes = bytes * n * n, p.tolerance = 1e-4;
}
// The element at (y, x), with coordinates clamped to the image.
template <class T> float &clamped(T &image, int y, int x, int n) restrict(amp, cpu) {
    return image(y < 0 ? 0 : y >= n ? n - 1 : y, x < 0 ? 0 : x >= n ? n - 1 : x);
}
struct HostImage {
    float *at;
    int n;
    float &operator()(int y, int x) { return at[y * n + x]; }
};

void sobel_data(Problem &p) {
    image_data(p, 8192, 8);
}
void sobel_cpu(Problem &p) {
    const int n = p.n[0];
    HostImage in{p.at<float>(0), n};
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            const float gx = in(y - 1, x + 1) + 2 * in(y, x + 1) + in(y + 1, x + 1) - in(y - 1, x - 1) -
                             2 * in(y, x - 1) - in(y + 1, x - 1);
            const float gy = in(y + 1, x - 1) + 2 * in(y + 1, x) + in(y + 1, x + 1) - in(y - 1, x - 1) -
                             2 * in(y - 1, x) - in(y - 1, x + 1);
            p.at<float>(1)[y * n + x] = std::sqrt(gx * gx + gy * gy);
        }
}
void sobel(Arrays &d) {
    const int n = d.n[0];
    array_view<const float, 2> in(d.get<float>(0, n, n));
    array_view<float, 2> out(d.get<float>(1, n, n));
    parallel_for_each(
        out.extent, [=](index<2> i) restrict(amp) {
            const int y = i[0], x = i[1];
            if (y == 0 || x == 0 || y == n - 1 || x == n - 1) return;
            const float gx = in(y - 1, x + 1) + 2 * in(y, x + 1) + in(y + 1, x + 1) - in(y - 1, x - 1) -
                             2 * in(y, x - 1) - in(y + 1, x - 1);
            const float gy = in(y + 1, x - 1) + 2 * in(y + 1, x) + in(y + 1, x + 1) - in(y - 1, x - 1) -
                             2 * in(y - 1, x) - in(y - 1, x + 1);
            out[i] = math::sqrt(gx * gx + gy * gy);
        });
}

// The mean of 9 x 9 pixels.
void box_data(Problem &p) {
    image_data(p, 4096, 8);
}
void box_cpu(Problem &p) {
    const int n = p.n[0];
    HostImage in{p.at<float>(0), n};
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int dy = -4; dy <= 4; dy++)
                for (int dx = -4; dx <= 4; dx++)
                    sum += clamped(in, y + dy, x + dx, n);
            p.at<float>(1)[y * n + x] = sum / 81;
        }
}
void box(Arrays &d) {
    const int n = d.n[0], radius = 4;
    array<float, 2> &in = d.get<float>(0, n, n), &out = d.get<float>(1, n, n);
    parallel_for_each(
        out.extent, [&in, &out, n ](index<2> i) restrict(amp) {
            float sum = 0;
            for (int dy = -radius; dy <= radius; dy++)
                for (int dx = -radius; dx <= radius; dx++)
                    sum += clamped(in, i[0] + dy, i[1] + dx, n);
            out[i] = sum / ((2 * radius + 1) * (2 * radius + 1));
        });
}

// The median of 3 x 3 pixels, by a partial exchange sort.
void median_data(Problem &p) {
    image_data(p, 4096, 8);
}
void median_cpu(Problem &p) {
    const int n = p.n[0];
    HostImage in{p.at<float>(0), n};
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float window[9];
            for (int k = 0; k < 9; k++)
                window[k] = clamped(in, y + k / 3 - 1, x + k % 3 - 1, n);
            std::sort(window, window + 9);
            p.at<float>(1)[y * n + x] = window[4];
        }
}
void median(Arrays &d) {
    const int n = d.n[0];
    array<float, 2> &in = d.get<float>(0, n, n), &out = d.get<float>(1, n, n);
    parallel_for_each(
        out.extent, [&in, &out, n ](index<2> i) restrict(amp) {
            float window[9];
            for (int k = 0; k < 9; k++)
                window[k] = clamped(in, i[0] + k / 3 - 1, i[1] + k % 3 - 1, n);
            for (int a = 0; a < 5; a++)
                for (int b = a + 1; b < 9; b++)
                    if (window[b] < window[a]) {
                        const float t = window[a];
                        window[a] = window[b];
                        window[b] = t;
                    }
            out[i] = window[4];
        });
}

// A bilateral filter of 7 x 7 pixels, weighted by distance and by similarity.
void bilateral_data(Problem &p) {
    image_data(p, 2048, 0);
    p.tolerance = 1e-3;
}
void bilateral_cpu(Problem &p) {
    const int n = p.n[0];
    HostImage in{p.at<float>(0), n};
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0, weights = 0;
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -3; dx <= 3; dx++) {
                    const float value = clamped(in, y + dy, x + dx, n), difference = value - in(y, x);
                    const float weight = std::exp(-(dx * dx + dy * dy) / 18.0f - difference * difference / 0.08f);
                    sum += weight * value, weights += weight;
                }
            p.at<float>(1)[y * n + x] = sum / weights;
        }
}
void bilateral(Arrays &d) {
    const int n = d.n[0];
    array_view<float, 2> in(d.get<float>(0, n, n)), out(d.get<float>(1, n, n));
    const float space = 18.0f, range = 0.08f;
    parallel_for_each(
        out.extent, [=](index<2> i) restrict(amp) {
            const float center = in[i];
            float sum = 0, weights = 0;
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -3; dx <= 3; dx++) {
                    const float value = clamped(in, i[0] + dy, i[1] + dx, n), difference = value - center;
                    const float weight = math::exp(-(dx * dx + dy * dy) / space - difference * difference / range);
                    sum += weight * value;
                    weights += weight;
                }
            out[i] = sum / weights;
        });
}

// Parboil's SAD: finds the best of 81 positions in another frame for each block of 4 x 4 pixels.
void match_data(Problem &p) {
    const int n = p.pick(128, 2048);
    p.n = {n};
    p.numbers(size_t(n) * n, 256), p.numbers(size_t(n + 8) * (n + 8), 256), p.out<int>(size_t(n / 4) * (n / 4));
}
void match_cpu(Problem &p) {
    const int n = p.n[0], width = n + 8;
    for (int by = 0; by < n / 4; by++)
        for (int bx = 0; bx < n / 4; bx++) {
            int best = INT32_MAX;
            for (int position = 0; position < 81; position++) {
                int sum = 0;
                for (int k = 0; k < 16; k++)
                    sum +=
                        std::abs(p.at<int>(0)[(by * 4 + k / 4) * n + bx * 4 + k % 4] -
                                 p.at<int>(1)[(by * 4 + k / 4 + position / 9) * width + bx * 4 + k % 4 + position % 9]);
                best = std::min(best, sum * 81 + position);
            }
            p.at<int>(2)[by * (n / 4) + bx] = best;
        }
}
void match(Arrays &d) {
    const int n = d.n[0];
    const array<int, 2> &frame = d.get<int>(0, n, n), &other = d.get<int>(1, n + 8, n + 8);
    array<int, 2> &out = d.get<int>(2, n / 4, n / 4);
    parallel_for_each(
        out.extent, [&](index<2> block) restrict(amp) {
            const int y = block[0] * 4, x = block[1] * 4;
            int best = INT_MAX;
            for (int dy = 0; dy < 9; dy++)
                for (int dx = 0; dx < 9; dx++) {
                    int sum = 0;
                    for (int i = 0; i < 4; i++)
                        for (int j = 0; j < 4; j++) {
                            const int difference = frame(y + i, x + j) - other(y + i + dy, x + j + dx);
                            sum += difference < 0 ? -difference : difference;
                        }
                    const int score = sum * 81 + dy * 9 + dx;
                    if (score < best) best = score;
                }
            out[block] = best;
        });
}

} // namespace

void images(std::vector<Case> &all) {
    all.insert(all.end(), {{"Sobel", sobel_data, sobel_cpu, sobel},
                           {"box blur", box_data, box_cpu, box},
                           {"median of 3 x 3", median_data, median_cpu, median},
                           {"bilateral filter", bilateral_data, bilateral_cpu, bilateral},
                           {"block matching (SAD)", match_data, match_cpu, match}});
}
} // namespace SUITE_FAMILY
