// Breadth-first search by frontiers, on a graph in compressed rows. A compare-and-exchange claims a vertex. An atomic
// counter gives the vertex its position in the next frontier.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <queue>
#include <vector>

using namespace concurrency;

struct node {
    int first_edge;
    int edge_count;
};

class graph {
  public:
    std::vector<node> nodes;
    std::vector<int> edges;

    graph(int side, unsigned seed) {
        // a grid with holes and some long edges
        std::vector<std::vector<int>> lists(side * side);
        srand(seed);
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                const int v = y * side + x;
                if (x + 1 < side && rand() % 5) connect(lists, v, v + 1);
                if (y + 1 < side && rand() % 5) connect(lists, v, v + side);
                if (rand() % 40 == 0) connect(lists, v, rand() % (side * side));
            }
        for (auto &l : lists) {
            node n = {int(edges.size()), int(l.size())};
            nodes.push_back(n);
            edges.insert(edges.end(), l.begin(), l.end());
        }
    }

  private:
    static void connect(std::vector<std::vector<int>> &lists, int a, int b) {
        lists[a].push_back(b);
        lists[b].push_back(a);
    }
};

std::vector<int> bfs_cpu(const graph &g, int start) {
    std::vector<int> level(g.nodes.size(), -1);
    std::queue<int> next;
    level[start] = 0;
    next.push(start);
    while (!next.empty()) {
        const int v = next.front();
        next.pop();
        for (int e = 0; e < g.nodes[v].edge_count; ++e) {
            const int to = g.edges[g.nodes[v].first_edge + e];
            if (level[to] < 0) {
                level[to] = level[v] + 1;
                next.push(to);
            }
        }
    }
    return level;
}

std::vector<int> bfs_amp(const graph &g, int start, int &launches) {
    const int count = static_cast<int>(g.nodes.size());
    accelerator_view av = accelerator().default_view;
    array<node> nodes(count, g.nodes.begin(), g.nodes.end(), av);
    array<int> edges(static_cast<int>(g.edges.size()), g.edges.begin(), av);
    array<int> level(count, std::vector<int>(count, -1).begin(), av);
    array<int> frontier_a(count, av), frontier_b(count, av);
    // the host reads the counter in each round
    accelerator cpu(accelerator::cpu_accelerator);
    array<int> counter_host(1, cpu.default_view, av);
    array<int> counter(1, av);

    {
        array_view<int> level_vw(level);
        level_vw[start] = 0;
    }
    array<int> *from = &frontier_a, *to = &frontier_b;
    copy(&start, &start + 1, from->section(0, 1));
    int size = 1;
    for (int depth = 1; size > 0; ++depth) {
        counter_host[0] = 0;
        copy(counter_host, counter);
        const array<int> &in = *from;
        array<int> &out = *to;
        parallel_for_each(
            av, extent<1>(size), [ =, &in, &out, &nodes, &edges, &level, &counter ](index<1> idx) restrict(amp) {
                const node n = nodes[in[idx]];
                for (int e = n.first_edge; e < n.first_edge + n.edge_count; ++e) {
                    const int to = edges[e];
                    int unseen = -1;
                    if (atomic_compare_exchange(&level[to], &unseen, depth)) out[atomic_fetch_add(&counter[0], 1)] = to;
                }
            });
        copy(counter, counter_host);
        size = counter_host[0];
        std::swap(from, to);
        ++launches;
    }
    return level;
}

int main() {
    const graph g(40, 8);
    int launches = 0;
    const std::vector<int> by_amp = bfs_amp(g, 0, launches), by_cpu = bfs_cpu(g, 0);
    int reached = 0, deepest = 0;
    for (int l : by_cpu) {
        reached += l >= 0;
        deepest = std::max(deepest, l);
    }
    std::cout << g.nodes.size() << " vertices, " << g.edges.size() << " edges: " << reached << " reached, " << deepest
              << " deep, " << launches << " launches" << std::endl;
    std::cout << (by_amp == by_cpu ? "PASSED" : "FAILED") << std::endl;
    return by_amp == by_cpu && launches == deepest + 1 ? 0 : 1;
}
