// Marching squares: the table of cases is an array_view<const int, 2>. An atomic counter appends segments of float_4.
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <amp_graphics.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

// Each pair of edges is a segment. Edges: 0 top, 1 right, 2 bottom, 3 left. -1 ends the list of a case.
const int cases[16][4] = {{-1, -1, -1, -1}, {3, 0, -1, -1}, {0, 1, -1, -1}, {3, 1, -1, -1},
                          {1, 2, -1, -1},   {3, 0, 1, 2},   {0, 2, -1, -1}, {3, 2, -1, -1},
                          {2, 3, -1, -1},   {2, 0, -1, -1}, {0, 1, 2, 3},   {2, 1, -1, -1},
                          {1, 3, -1, -1},   {1, 0, -1, -1}, {0, 3, -1, -1}, {-1, -1, -1, -1}};

struct cell {
    float corner[4]; // top left, top right, bottom right, bottom left

    int code(float level) const restrict(amp, cpu) {
        int c = 0;
        for (int i = 0; i < 4; ++i)
            c |= (corner[i] > level ? 1 : 0) << i;
        return c;
    }
    float_2 crossing(int edge, float level) const restrict(amp, cpu) {
        const float a = corner[edge], b = corner[(edge + 1) % 4];
        const float t = (level - a) / (b - a);
        switch (edge) {
        case 0:
            return float_2(t, 0);
        case 1:
            return float_2(1, t);
        case 2:
            return float_2(1 - t, 1);
        default:
            return float_2(0, 1 - t);
        }
    }
};

template <typename Field> cell cell_at(const Field &f, int y, int x) restrict(amp, cpu) {
    cell c = {{f(y, x), f(y, x + 1), f(y + 1, x + 1), f(y + 1, x)}};
    return c;
}

bool precedes(const float_4 &a, const float_4 &b) {
    if (a.x != b.x) return a.x < b.x;
    if (a.y != b.y) return a.y < b.y;
    if (a.z != b.z) return a.z < b.z;
    return a.w < b.w;
}

int main() {
    const int height = 40, width = 48;
    const float level = 0.35f;
    std::vector<float> field(height * width);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            field[y * width + x] = std::sin(x * 0.31f) * std::cos(y * 0.23f);

    std::vector<float_4> expected;
    array_view<const float, 2> host(height, width, field);
    for (int y = 0; y < height - 1; ++y)
        for (int x = 0; x < width - 1; ++x) {
            const cell c = cell_at(host, y, x);
            const int *edges = cases[c.code(level)];
            for (int s = 0; s < 4 && edges[s] >= 0; s += 2) {
                float_4 segment;
                segment.xy = c.crossing(edges[s], level) + float_2(float(x), float(y));
                segment.zw = c.crossing(edges[s + 1], level) + float_2(float(x), float(y));
                expected.push_back(segment);
            }
        }

    const int max_segments = 2 * height * width;
    array<float_4> segments(max_segments);
    std::vector<int> counter(1);
    array_view<int> count(counter);
    array_view<const float, 2> values(height, width, field);
    array_view<const int, 2> table(16, 4, &cases[0][0]);
    parallel_for_each(
        extent<2>(height - 1, width - 1), [ =, &segments ](index<2> idx) restrict(amp) {
            const cell c = cell_at(values, idx[0], idx[1]);
            array_view<const int> edges = table[c.code(level)];
            const float_2 origin = float_2(float(idx[1]), float(idx[0]));
            for (int s = 0; s < 4 && edges[s] >= 0; s += 2) {
                float_4 segment;
                segment.xy = c.crossing(edges[s], level) + origin;
                segment.zw = c.crossing(edges[s + 1], level) + origin;
                segments[atomic_fetch_add(&count[0], 1)] = segment;
            }
        });
    const int segment_count = count[0];
    std::vector<float_4> actual(segment_count);
    if (segment_count > 0 && segment_count <= max_segments) copy(segments.section(0, segment_count), actual.begin());
    int wrong = segment_count == int(expected.size()) ? 0 : 1;
    std::sort(actual.begin(), actual.end(), precedes);
    std::sort(expected.begin(), expected.end(), precedes);
    float length = 0;
    for (int i = 0; !wrong && i < segment_count; ++i) {
        const float_4 d = actual[i] - expected[i];
        if (!(std::fabs(d.x) + std::fabs(d.y) + std::fabs(d.z) + std::fabs(d.w) <= 1e-3f)) ++wrong;
        const float_2 difference = float_2(actual[i].zw) - float_2(actual[i].xy);
        length += std::sqrt(difference.x * difference.x + difference.y * difference.y);
    }
    std::wcout << segment_count << L" segments, " << length << L" long" << (wrong ? L", WRONG" : L"") << std::endl;
    return wrong ? 1 : 0;
}
