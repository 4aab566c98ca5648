// Filters of images.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

void image_data(Problem &p, int large, double bytes) {
    const int n = p.pick(192, large);
    p.n = {n};
    p.floats(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.bytes = bytes * n * n, p.tolerance = 1e-4;
}
// The element at (y, x), at the nearest one inside if that is outside.
template <class T> float &inside(T &image, int y, int x, int n) restrict(amp, cpu) {
    return image(y < 0 ? 0 : y >= n ? n - 1 : y, x < 0 ? 0 : x >= n ? n - 1 : x);
}
struct Host {
    float *at;
    int n;
    float &operator()(int y, int x) { return at[y * n + x]; }
};

void sobel_data(Problem &p) {
    image_data(p, 8192, 8);
}
void sobel_cpu(Problem &p) {
    const int n = p.n[0];
    Host in{p.at<float>(0), n};
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

// The mean of 9 x 9.
void box_data(Problem &p) {
    image_data(p, 4096, 8);
}
void box_cpu(Problem &p) {
    const int n = p.n[0];
    Host in{p.at<float>(0), n};
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int dy = -4; dy <= 4; dy++)
                for (int dx = -4; dx <= 4; dx++)
                    sum += inside(in, y + dy, x + dx, n);
            p.at<float>(1)[y * n + x] = sum / 81;
        }
}
void box(Arrays &d) {
    const int n = d.n[0], reach = 4;
    array<float, 2> &in = d.get<float>(0, n, n), &out = d.get<float>(1, n, n);
    parallel_for_each(
        out.extent, [&in, &out, n ](index<2> i) restrict(amp) {
            float sum = 0;
            for (int dy = -reach; dy <= reach; dy++)
                for (int dx = -reach; dx <= reach; dx++)
                    sum += inside(in, i[0] + dy, i[1] + dx, n);
            out[i] = sum / ((2 * reach + 1) * (2 * reach + 1));
        });
}

// The median of 3 x 3, by bubbles.
void median_data(Problem &p) {
    image_data(p, 4096, 8);
}
void median_cpu(Problem &p) {
    const int n = p.n[0];
    Host in{p.at<float>(0), n};
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float near[9];
            for (int k = 0; k < 9; k++)
                near[k] = inside(in, y + k / 3 - 1, x + k % 3 - 1, n);
            std::sort(near, near + 9);
            p.at<float>(1)[y * n + x] = near[4];
        }
}
void median(Arrays &d) {
    const int n = d.n[0];
    array<float, 2> &in = d.get<float>(0, n, n), &out = d.get<float>(1, n, n);
    parallel_for_each(
        out.extent, [&in, &out, n ](index<2> i) restrict(amp) {
            float near[9];
            for (int k = 0; k < 9; k++)
                near[k] = inside(in, i[0] + k / 3 - 1, i[1] + k % 3 - 1, n);
            for (int a = 0; a < 5; a++)
                for (int b = a + 1; b < 9; b++)
                    if (near[b] < near[a]) {
                        const float t = near[a];
                        near[a] = near[b];
                        near[b] = t;
                    }
            out[i] = near[4];
        });
}

// Weights by distance and by likeness, 7 x 7.
void bilateral_data(Problem &p) {
    image_data(p, 2048, 0);
    p.tolerance = 1e-3;
}
void bilateral_cpu(Problem &p) {
    const int n = p.n[0];
    Host in{p.at<float>(0), n};
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0, weights = 0;
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -3; dx <= 3; dx++) {
                    const float value = inside(in, y + dy, x + dx, n), off = value - in(y, x);
                    const float weight = std::exp(-(dx * dx + dy * dy) / 18.0f - off * off / 0.08f);
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
            const float mine = in[i];
            float sum = 0, weights = 0;
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -3; dx <= 3; dx++) {
                    const float value = inside(in, i[0] + dy, i[1] + dx, n), off = value - mine;
                    const float weight = math::exp(-(dx * dx + dy * dy) / space - off * off / range);
                    sum += weight * value;
                    weights += weight;
                }
            out[i] = sum / weights;
        });
}

// Parboil's SAD: how well blocks of 4 x 4 match at 81 places of another frame, the best of them.
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
            for (int place = 0; place < 81; place++) {
                int sum = 0;
                for (int k = 0; k < 16; k++)
                    sum += std::abs(p.at<int>(0)[(by * 4 + k / 4) * n + bx * 4 + k % 4] -
                                    p.at<int>(1)[(by * 4 + k / 4 + place / 9) * width + bx * 4 + k % 4 + place % 9]);
                best = std::min(best, sum * 81 + place);
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
                            const int off = frame(y + i, x + j) - other(y + i + dy, x + j + dx);
                            sum += off < 0 ? -off : off;
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
