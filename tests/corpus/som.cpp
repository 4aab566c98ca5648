// A self-organizing map: a tiled reduction over (distance, index) pairs finds the best cell. Then that cell and
// the cells around it learn.
#include "stdafx.h"
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <cfloat>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

struct candidate {
    float distance;
    int cell;
};

inline candidate better(const candidate &a, const candidate &b) restrict(amp, cpu) {
    if (a.distance < b.distance || (a.distance == b.distance && a.cell < b.cell)) return a;
    return b;
}

class self_organizing_map {
    static const int tile = 32;
    int m_side;
    array<float_3> m_weights;
    array<candidate> m_partial;

  public:
    self_organizing_map(int side, const std::vector<float_3> &start, accelerator_view av)
        : m_side(side), m_weights(side * side, start.begin(), start.end(), av),
          m_partial((side * side + tile - 1) / tile, av) {}

    int side() const { return m_side; }
    std::vector<float_3> weights() const { return m_weights; }

    int find(float_3 input) {
        const array<float_3> &weights = m_weights;
        array<candidate> &partial = m_partial;
        const int count = m_side * m_side;
        parallel_for_each(
            weights.extent.tile<tile>().pad(), [ =, &weights, &partial ](tiled_index<tile> t) restrict(amp) {
                tile_static candidate best[tile];
                const int i = t.global[0], l = t.local[0];
                candidate mine = {FLT_MAX, i};
                if (i < count) {
                    const float_3 d = weights[i] - input;
                    const float_3 sq = d * d;
                    mine.distance = sq.x + sq.y + sq.z;
                }
                best[l] = mine;
                for (int half = tile / 2; half > 0; half >>= 1) {
                    t.barrier.wait_with_tile_static_memory_fence();
                    if (l < half) best[l] = better(best[l], best[l + half]);
                }
                if (l == 0) partial[t.tile] = best[0];
            });
        const std::vector<candidate> host = m_partial;
        candidate result = host[0];
        for (const candidate &c : host)
            result = better(result, c);
        return result.cell;
    }

    void learn(float_3 input, int winner, float rate, float radius) {
        array<float_3> &weights = m_weights;
        const int side = m_side;
        const int_2 center(winner % side, winner / side);
        parallel_for_each(
            weights.extent, [&weights, side, center, input, rate, radius ](index<1> i) restrict(amp) {
                const int_2 d = int_2(i[0] % side, i[0] / side) - center;
                const float distance = float(d.x * d.x + d.y * d.y);
                const float influence = rate * fast_math::exp(-distance / (2.0f * radius * radius));
                weights[i] += (input - weights[i]) * influence;
            });
    }
};

int main() {
    const int side = 12, steps = 60;
    srand(5);
    auto random_unit = []() { return rand() / float(RAND_MAX); };
    std::vector<float_3> start(side * side), inputs;
    for (auto &w : start)
        w = float_3(random_unit(), random_unit(), random_unit());
    for (int i = 0; i < steps; ++i)
        inputs.push_back(float_3(i % 2 ? 0.9f : 0.1f, random_unit(), random_unit()));

    self_organizing_map map(side, start, accelerator().default_view);
    std::vector<float_3> reference(start);
    int winner_mismatches = 0;
    for (int s = 0; s < steps; ++s) {
        const float rate = 0.5f * (1 - s / float(steps)), radius = 4.0f * (1 - s / float(steps)) + 0.5f;
        const int winner = map.find(inputs[s]);
        candidate best = {FLT_MAX, 0};
        for (int i = 0; i < side * side; ++i) {
            const float_3 d = reference[i] - inputs[s];
            const candidate c = {d.x * d.x + d.y * d.y + d.z * d.z, i};
            best = better(best, c);
        }
        winner_mismatches += winner != best.cell;
        map.learn(inputs[s], winner, rate, radius);
        for (int i = 0; i < side * side; ++i) {
            const int dx = i % side - winner % side, dy = i / side - winner / side;
            reference[i] +=
                (inputs[s] - reference[i]) * (rate * std::exp(-(dx * dx + dy * dy) / (2.0f * radius * radius)));
        }
    }
    float worst = 0;
    const std::vector<float_3> weights = map.weights();
    for (int i = 0; i < side * side; ++i) {
        const float_3 d = weights[i] - reference[i];
        worst = worse(worst, worse(std::fabs(d.x), worse(std::fabs(d.y), std::fabs(d.z))));
    }
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x)
            std::wcout << (weights[y * side + x].r > 0.5f ? L'#' : L'.');
        std::wcout << std::endl;
    }
    std::wcout << L"largest difference " << worst << L", " << winner_mismatches << L" winners differ from the reference"
               << std::endl;
    return worst < 1e-3f && winner_mismatches <= 1 ? 0 : 1;
}
