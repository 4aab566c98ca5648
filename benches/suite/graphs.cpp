// The family `graphs` of the kernel suite: sparse matrices, graphs, clusters.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

// A sparse matrix times a vector, with a thread for each row. Rows have 0 to 63 elements.
void spmv_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 19);
    std::vector<int> first(n + 1);
    for (int i = 0; i < n; i++)
        first[i + 1] = first[i] + static_cast<int>(p.next() % 64);
    p.n = {n, first[n]};
    std::copy(first.begin(), first.end(), p.in<int>(n + 1));
    p.numbers(first[n], n), p.floats(first[n]), p.floats(n), p.out<float>(n);
    p.bytes = 8.0 * first[n] + 12.0 * n, p.tolerance = 1e-5;
}
void spmv_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++) {
        float sum = 0;
        for (int k = p.at<int>(0)[i]; k < p.at<int>(0)[i + 1]; k++)
            sum += p.at<float>(2)[k] * p.at<float>(3)[p.at<int>(1)[k]];
        p.at<float>(4)[i] = sum;
    }
}
void spmv(Arrays &d) {
    const int n = d.n[0], count = d.n[1];
    const array<int> &first = d.get<int>(0, n + 1), &column = d.get<int>(1, count);
    const array<float> &value = d.get<float>(2, count), &x = d.get<float>(3, n);
    array<float> &y = d.get<float>(4, n);
    parallel_for_each(
        y.extent, [&](index<1> i) restrict(amp) {
            float sum = 0;
            for (int k = first[i]; k < first[i + 1]; k++)
                sum += value[k] * x[column[k]];
            y[i] = sum;
        });
}

// One level of a breadth-first search: the unvisited neighbours of nodes at level 3 get level 4.
void bfs_data(Problem &p) {
    const int n = p.pick(1 << 13, 1 << 21);
    p.n = {n, 8 * n};
    int *first = p.in<int>(n + 1);
    for (int i = 0; i <= n; i++)
        first[i] = 8 * i;
    p.numbers(8 * size_t(n), n);
    int *level = p.in<int>(n);
    for (int i = 0; i < n; i++)
        level[i] = p.next() % 4 == 0 ? static_cast<int>(p.next() % 4) : -1;
    p.out<int>(n), p.out<int>(1);
}
void bfs_cpu(Problem &p) {
    const int n = p.n[0];
    int *level = p.at<int>(3);
    std::copy_n(p.at<int>(2), n, level);
    for (int i = 0; i < n; i++)
        if (level[i] == 3)
            for (int k = p.at<int>(0)[i]; k < p.at<int>(0)[i + 1]; k++) {
                const int to = p.at<int>(1)[k];
                if (level[to] == -1) level[to] = 4, p.at<int>(4)[0] = 1;
            }
}
void bfs(Arrays &d) {
    const int n = d.n[0];
    array_view<const int> first(d.get<int>(0, n + 1)), edge(d.get<int>(1, d.n[1])), start(d.get<int>(2, n));
    array_view<int> level(d.get<int>(3, n)), changed(d.get<int>(4, 1));
    parallel_for_each(
        level.extent, [=](index<1> i) restrict(amp) { level[i] = start[i]; });
    const int current_level = 3;
    parallel_for_each(
        level.extent, [=](index<1> i) restrict(amp) {
            if (level[i] != current_level) return;
            for (int k = first[i]; k < first[i[0] + 1]; k++) {
                const int to = edge[k];
                if (level[to] == -1) {
                    level[to] = current_level + 1;
                    changed[0] = 1;
                }
            }
        });
}

// A step of k-means: finds the nearest of 16 centers for each of n points with 8 coordinates. Atomic operations count
// the points of each cluster.
void kmeans_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 20);
    p.n = {n, 16, 8};
    p.floats(8 * size_t(n)), p.floats(16 * 8), p.out<int>(n), p.out<int>(16);
    p.bytes = 36.0 * n, p.tolerance = 0.005, p.wrong_share = 0.001;
}
void kmeans_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n; i++) {
        int best = 0;
        float least_distance = 1e30f;
        for (int c = 0; c < 16; c++) {
            float sum = 0;
            for (int k = 0; k < 8; k++) {
                const float difference = p.at<float>(0)[k * n + i] - p.at<float>(1)[c * 8 + k];
                sum += difference * difference;
            }
            if (sum < least_distance) least_distance = sum, best = c;
        }
        p.at<int>(2)[i] = best, p.at<int>(3)[best]++;
    }
}
void kmeans(Arrays &d) {
    const int n = d.n[0], clusters = d.n[1], dimensions = d.n[2];
    const array<float, 2> &point = d.get<float>(0, dimensions, n), &center = d.get<float>(1, clusters, dimensions);
    array<int> &member = d.get<int>(2, n), &count = d.get<int>(3, clusters);
    parallel_for_each(
        count.extent, [&count](index<1> i) restrict(amp) { count[i] = 0; });
    parallel_for_each(
        member.extent, [ =, &point, &center, &member, &count ](index<1> i) restrict(amp) {
            int best = 0;
            float least_distance = 1e30f;
            for (int c = 0; c < clusters; c++) {
                float sum = 0;
                for (int k = 0; k < dimensions; k++) {
                    const float difference = point(k, i[0]) - center(c, k);
                    sum += difference * difference;
                }
                if (sum < least_distance) {
                    least_distance = sum;
                    best = c;
                }
            }
            member[i] = best;
            atomic_fetch_inc(&count[best]);
        });
}

// Rodinia's streamcluster: the cost that each point would save if point 7 (`candidate`) became a center. The kernel
// keeps the candidate's coordinates in tile_static memory.
struct Point {
    float weight, cost;
    int center;
    float pad;
};
void gain_data(Problem &p) {
    const int n = p.pick(1 << 12, 1 << 20);
    p.n = {n, 32};
    p.floats(32 * size_t(n));
    float *points = p.floats(4 * size_t(n), 0.5f, 5);
    for (int i = 0; i < n; i++) {
        const int center = static_cast<int>(p.next() % 64);
        std::memcpy(points + 4 * i + 2, &center, 4);
    }
    p.out<float>(n), p.out<int>(n);
    p.bytes = 152.0 * n, p.tolerance = 1e-4, p.wrong_share = 0.001;
}
void gain_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n; i++) {
        const Point q = p.at<Point>(1)[i];
        float sum = 0;
        for (int k = 0; k < p.n[1]; k++) {
            const float difference = p.at<float>(0)[k * n + i] - p.at<float>(0)[k * n + 7];
            sum += difference * difference;
        }
        const float change = sum * q.weight - q.cost;
        p.at<float>(2)[i] = change < 0 ? change : 0;
        p.at<int>(3)[i] = change < 0 ? 7 : q.center;
    }
}
void gain(Arrays &d) {
    const int n = d.n[0], dimensions = d.n[1], candidate = 7;
    array_view<const float, 2> at(d.get<float>(0, dimensions, n));
    array_view<const Point> points(d.get<Point>(1, n));
    array_view<float> saved(d.get<float>(2, n));
    array_view<int> center(d.get<int>(3, n));
    parallel_for_each(
        saved.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static float candidate_point[32];
            if (t.local[0] < dimensions) candidate_point[t.local[0]] = at(t.local[0], candidate);
            t.barrier.wait();
            const int i = t.global[0];
            float sum = 0;
            for (int k = 0; k < dimensions; k++) {
                const float difference = at(k, i) - candidate_point[k];
                sum += difference * difference;
            }
            const float change = sum * points[i].weight - points[i].cost;
            if (change < 0) {
                saved[i] = change;
                center[i] = candidate;
            } else {
                saved[i] = 0;
                center[i] = points[i].center;
            }
        });
}

// The shortest paths between all nodes, with a launch for each intermediate node.
void floyd_data(Problem &p) {
    const int n = p.pick(64, 512);
    p.n = {n};
    unsigned *in = p.numbers(size_t(n) * n, 1000);
    for (int i = 0; i < n; i++)
        in[i * n + i] = 0;
    p.out<int>(size_t(n) * n);
}
void floyd_cpu(Problem &p) {
    const int n = p.n[0];
    int *d = p.at<int>(1);
    std::copy_n(p.at<int>(0), n * n, d);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
void floyd(Arrays &data) {
    const int n = data.n[0];
    const array<int, 2> &in = data.get<int>(0, n, n);
    array<int, 2> &d = data.get<int>(1, n, n);
    parallel_for_each(
        d.extent, [&](index<2> i) restrict(amp) { d[i] = in[i]; });
    for (int k = 0; k < n; k++)
        parallel_for_each(
            d.extent, [&d, k ](index<2> i) restrict(amp) {
                const int through = d(i[0], k) + d(k, i[1]);
                if (through < d[i]) d[i] = through;
            });
}

} // namespace

void graphs(std::vector<Case> &all) {
    all.insert(all.end(), {{"SpMV", spmv_data, spmv_cpu, spmv},
                           {"BFS level", bfs_data, bfs_cpu, bfs},
                           {"k-means", kmeans_data, kmeans_cpu, kmeans},
                           {"streamcluster", gain_data, gain_cpu, gain},
                           {"Floyd-Warshall", floyd_data, floyd_cpu, floyd}});
}
} // namespace SUITE_FAMILY
