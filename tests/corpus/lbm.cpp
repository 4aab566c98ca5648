// Lattice Boltzmann, D2Q9: flow around an obstacle. The distributions are one array<float, 3>; the weights are a
// constant table.
#include "stdafx.h"
#include <amp.h>
#include <cmath>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

using namespace Concurrency;

const int Q = 9;
const float omega = 1.2f;

struct lattice {
    int cx[Q], cy[Q], opposite[Q];
    float w[Q];
};

lattice make_lattice() {
    const lattice l = {{0, 1, 0, -1, 0, 1, -1, -1, 1},
                       {0, 0, 1, 0, -1, 1, 1, -1, -1},
                       {0, 3, 4, 1, 2, 7, 8, 5, 6},
                       {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f}};
    return l;
}

inline float equilibrium(const lattice &l, int q, float rho, float ux, float uy) restrict(amp, cpu) {
    const float cu = 3.0f * (l.cx[q] * ux + l.cy[q] * uy);
    return rho * l.w[q] * (1.0f + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
}

// Computes the new distributions of a cell: streaming from the neighbours, then collision. Walls reflect.
template <typename From, typename Solid>
void update(const lattice &l, const From &from, const Solid &solid, int y, int x, int height, int width,
            float (&f)[Q]) restrict(amp, cpu) {
    for (int q = 0; q < Q; ++q) {
        const int sx = (x - l.cx[q] + width) % width, sy = (y - l.cy[q] + height) % height;
        f[q] = solid(sy, sx) ? from(l.opposite[q], y, x) : from(q, sy, sx);
    }
    if (solid(y, x)) return;
    float rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < Q; ++q) {
        rho += f[q];
        ux += f[q] * l.cx[q];
        uy += f[q] * l.cy[q];
    }
    ux = ux / rho + 0.0005f; // a force to the right
    uy /= rho;
    for (int q = 0; q < Q; ++q)
        f[q] += omega * (equilibrium(l, q, rho, ux, uy) - f[q]);
}

int main() {
    const int height = 20, width = 40, steps = 40;
    const lattice l = make_lattice();
    std::vector<int> solid(height * width);
    std::vector<float> start(Q * height * width);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            solid[y * width + x] = y == 0 || y == height - 1 || (x - 10) * (x - 10) + (y - 9) * (y - 9) < 12;
            for (int q = 0; q < Q; ++q)
                start[(q * height + y) * width + x] = equilibrium(l, q, 1.0f, 0.05f, 0.0f);
        }

    std::unique_ptr<array<float, 3>> from(new array<float, 3>(Q, height, width, start.begin(), start.end())),
        to(new array<float, 3>(extent<3>(Q, height, width)));
    array<int, 2> walls(height, width, solid.begin());
    for (int s = 0; s < steps; ++s) {
        const array<float, 3> &in = *from;
        array<float, 3> &out = *to;
        parallel_for_each(
            walls.extent, [ =, &in, &out, &walls ](index<2> idx) restrict(amp) {
                float f[Q];
                update(l, in, walls, idx[0], idx[1], walls.extent[0], walls.extent[1], f);
                for (int q = 0; q < Q; ++q)
                    out(q, idx[0], idx[1]) = f[q];
            });
        std::swap(from, to);
    }
    std::vector<float> result(Q * height * width);
    copy(*from, result.begin());

    std::vector<float> current(start), next(start.size());
    for (int s = 0; s < steps; ++s) {
        const array_view<const float, 3> distributions(Q, height, width, current);
        const array_view<const int, 2> wall(height, width, solid);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                float f[Q];
                update(l, distributions, wall, y, x, height, width, f);
                for (int q = 0; q < Q; ++q)
                    next[(q * height + y) * width + x] = f[q];
            }
        current.swap(next);
    }
    float worst = 0, mass = 0, flow = 0;
    for (int i = 0; i < Q * height * width; ++i) {
        worst = worse(worst, std::fabs(result[i] - current[i]));
        mass += result[i];
        flow += result[i] * l.cx[i / (height * width)];
    }
    std::wcout << L"mass " << mass << L" of " << height * width << L", flow " << flow << L", largest difference "
               << worst << std::endl;
    return worst < 1e-5f && std::fabs(mass - height * width) < 0.5f && flow > 1 ? 0 : 1;
}
