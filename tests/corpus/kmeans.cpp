// k-means: each tile sums fixed-point numbers in tile_static memory; atomics add the sums. The centroids are a struct.
#include "stdafx.h"
#include <amp.h>
#include <amp_graphics.h>
#include <cfloat>
#include <iostream>
#include <random>
#include <vector>

using namespace concurrency;
using concurrency::graphics::float_2;
using concurrency::graphics::int_2;

const int K = 4;
const int TILE = 64;

struct centroids {
    float_2 positions[K];

    int nearest(const float_2 &p) const restrict(amp, cpu) {
        int best = 0;
        float best_distance = FLT_MAX;
        for (int k = 0; k < K; ++k) {
            const float_2 d = p - positions[k];
            const float distance = d.x * d.x + d.y * d.y;
            if (distance < best_distance) {
                best_distance = distance;
                best = k;
            }
        }
        return best;
    }
};

struct sums {
    int x[K], y[K], count[K];
};

inline int_2 fixed_point(const float_2 &p) restrict(amp, cpu) {
    return int_2(p * 256.0f);
}

sums accumulate_amp(array_view<const float_2> points, array_view<int> labels, const centroids &c) {
    sums start = {};
    array<int, 1> totals(3 * K, reinterpret_cast<int *>(&start));
    const int count = points.extent[0];
    labels.discard_data();
    parallel_for_each(
        points.extent.tile<TILE>().pad(), [ =, &totals ](tiled_index<TILE> t) restrict(amp) {
            tile_static sums local;
            const int lid = t.local[0], gid = t.global[0];
            if (lid < K) {
                local.x[lid] = 0;
                local.y[lid] = 0;
                local.count[lid] = 0;
            }
            t.barrier.wait();
            if (gid < count) {
                const float_2 p = points[gid];
                const int k = c.nearest(p);
                labels[gid] = k;
                const int_2 f = fixed_point(p);
                atomic_fetch_add(&local.x[k], f.x);
                atomic_fetch_add(&local.y[k], f.y);
                atomic_fetch_inc(&local.count[k]);
            }
            t.barrier.wait();
            if (lid < K) {
                atomic_fetch_add(&totals[lid], local.x[lid]);
                atomic_fetch_add(&totals[K + lid], local.y[lid]);
                atomic_fetch_add(&totals(2 * K + lid), local.count[lid]);
            }
        });
    sums result;
    copy(totals, reinterpret_cast<int *>(&result));
    return result;
}

sums accumulate_cpu(const std::vector<float_2> &points, const centroids &c) {
    sums result = {};
    for (size_t i = 0; i < points.size(); ++i) {
        const int k = c.nearest(points[i]);
        const int_2 f = fixed_point(points[i]);
        result.x[k] += f.x;
        result.y[k] += f.y;
        result.count[k]++;
    }
    return result;
}

centroids next_centroids(const sums &s, const centroids &old) {
    centroids c = old;
    for (int k = 0; k < K; ++k)
        if (s.count[k]) c.positions[k] = float_2(s.x[k] / 256.0f / s.count[k], s.y[k] / 256.0f / s.count[k]);
    return c;
}

int main() {
    std::mt19937 engine(99);
    std::normal_distribution<float> spread(0.0f, 0.6f);
    std::vector<float_2> points;
    const float_2 cluster_centres[K] = {float_2(0, 0), float_2(5, 1), float_2(-3, 4), float_2(2, -6)};
    for (int i = 0; i < 1000; ++i)
        points.push_back(cluster_centres[i % K] + float_2(spread(engine), spread(engine)));

    centroids amp, cpu;
    for (int k = 0; k < K; ++k)
        amp.positions[k] = cpu.positions[k] = points[k];
    std::vector<int> labels(points.size());
    array_view<const float_2> points_vw(points);
    array_view<int> labels_vw(labels);
    int failed = 0;
    for (int round = 0; round < 8; ++round) {
        const sums by_amp = accumulate_amp(points_vw, labels_vw, amp), by_cpu = accumulate_cpu(points, cpu);
        for (int k = 0; k < K; ++k)
            if (abs(by_amp.count[k] - by_cpu.count[k]) > 1 || abs(by_amp.x[k] - by_cpu.x[k]) > 4096) ++failed;
        amp = next_centroids(by_amp, amp);
        cpu = next_centroids(by_cpu, cpu);
    }
    labels_vw.synchronize();
    for (int k = 0; k < K; ++k) {
        std::wcout << L"centroid " << k << L": (" << amp.positions[k].x << L", " << amp.positions[k].y << L")"
                   << std::endl;
        const float_2 d = amp.positions[k] - cpu.positions[k];
        if (!(d.x * d.x + d.y * d.y < 1e-4f)) ++failed;
    }
    for (size_t i = 0; i < points.size(); ++i)
        if (labels[i] != labels[i % K]) ++failed;
    std::wcout << (failed ? L"FAILED" : L"PASSED") << std::endl;
    return failed ? 1 : 0;
}
