// FDTD in two dimensions (TM mode) in a box with conducting walls. The fields are array_views. The kernel of the
// electric field runs on a section.
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;

struct grid {
    int ny, nx;
    std::vector<float> ez, hx, hy;
    grid(int _ny, int _nx) : ny(_ny), nx(_nx), ez(_ny * _nx), hx(_ny * _nx), hy(_ny * _nx) {}
};

const float courant = 0.5f;

inline float source(int step) {
    const float d = (step - 20.0f) / 6.0f;
    return expf(-d * d);
}

void run_cpu(grid &g, int steps) {
    auto at = [&](int y, int x) { return y * g.nx + x; };
    for (int s = 0; s < steps; ++s) {
        for (int y = 0; y < g.ny - 1; ++y)
            for (int x = 0; x < g.nx - 1; ++x) {
                g.hx[at(y, x)] -= courant * (g.ez[at(y + 1, x)] - g.ez[at(y, x)]);
                g.hy[at(y, x)] += courant * (g.ez[at(y, x + 1)] - g.ez[at(y, x)]);
            }
        for (int y = 1; y < g.ny - 1; ++y)
            for (int x = 1; x < g.nx - 1; ++x)
                g.ez[at(y, x)] += courant * (g.hy[at(y, x)] - g.hy[at(y, x - 1)] - g.hx[at(y, x)] + g.hx[at(y - 1, x)]);
        g.ez[at(g.ny / 2, g.nx / 3)] += source(s);
    }
}

class fdtd_amp {
    array_view<float, 2> ez, hx, hy;

  public:
    fdtd_amp(grid &g) : ez(g.ny, g.nx, g.ez), hx(g.ny, g.nx, g.hx), hy(g.ny, g.nx, g.hy) {}

    void step(int s) {
        array_view<float, 2> ez(this->ez), hx(this->hx), hy(this->hy);
        const extent<2> grid_extent = ez.extent;

        // magnetic field
        parallel_for_each(
            extent<2>(grid_extent[0] - 1, grid_extent[1] - 1), [=](index<2> idx) restrict(amp) {
                const index<2> down(1, 0), right(0, 1);
                hx[idx] -= courant * (ez[idx + down] - ez[idx]);
                hy[idx] += courant * (ez[idx + right] - ez[idx]);
            });

        // electric field, without the walls
        array_view<float, 2> inner = ez.section(index<2>(1, 1), extent<2>(grid_extent[0] - 2, grid_extent[1] - 2));
        parallel_for_each(
            inner.extent, [=](index<2> idx) restrict(amp) {
                const int y = idx[0] + 1, x = idx[1] + 1;
                inner[idx] += courant * (hy(y, x) - hy(y, x - 1) - hx(y, x) + hx(y - 1, x));
            });

        const float value = source(s);
        const int y = grid_extent[0] / 2, x = grid_extent[1] / 3;
        parallel_for_each(
            extent<1>(1), [=](index<1>) restrict(amp) { ez(y, x) += value; });
    }

    void finish() {
        ez.synchronize();
        hx.synchronize();
        hy.synchronize();
    }
};

int main() {
    grid reference(48, 64), field(48, 64);
    const int steps = 60;
    run_cpu(reference, steps);
    accelerator def;
    std::wcout << def.description << L" (" << def.dedicated_memory << L" KB)" << std::endl;
    {
        fdtd_amp fdtd(field);
        for (int s = 0; s < steps; ++s)
            fdtd.step(s);
        fdtd.finish();
    }
    float worst = 0, energy = 0;
    for (size_t i = 0; i < field.ez.size(); ++i) {
        worst = worse(worst, fabsf(field.ez[i] - reference.ez[i]));
        worst = worse(worst, fabsf(field.hx[i] - reference.hx[i]));
        worst = worse(worst, fabsf(field.hy[i] - reference.hy[i]));
        energy += field.ez[i] * field.ez[i];
    }
    std::wcout << L"after " << steps << L" steps: energy " << energy << L", largest difference " << worst << std::endl;
    return worst < 1e-4f && energy > 0.1f ? 0 : 1;
}
