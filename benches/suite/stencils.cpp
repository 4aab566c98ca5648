// The family `stencils` of the kernel suite: stencils and cellular automata, which compute each new point from the
// neighbours of the old point.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

// A convolution with 17 taps, along rows, then along columns. Tiles and their margins are in tile_static memory.
const int radius = 8;
struct Taps {
    float at[2 * radius + 1];
};
Taps taps_of() {
    Taps taps;
    for (int k = -radius; k <= radius; k++)
        taps.at[k + radius] = std::exp(-0.05f * k * k) / 8;
    return taps;
}
void convolution_data(Problem &p) {
    const int n = p.pick(256, 4096);
    p.n = {n};
    p.floats(size_t(n) * n), p.in<float>(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.bytes = 16.0 * n * n, p.tolerance = 1e-5;
}
void convolution_cpu(Problem &p) {
    const int n = p.n[0];
    const Taps taps = taps_of();
    const float *in = p.at<float>(0);
    float *rows = p.at<float>(1), *out = p.at<float>(2);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = -radius; k <= radius; k++)
                if (x + k >= 0 && x + k < n) sum += taps.at[k + radius] * in[y * n + x + k];
            rows[y * n + x] = sum;
        }
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = -radius; k <= radius; k++)
                if (y + k >= 0 && y + k < n) sum += taps.at[k + radius] * rows[(y + k) * n + x];
            out[y * n + x] = sum;
        }
}
void convolution(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &in = d.get<float>(0, n, n);
    array<float, 2> &rows = d.get<float>(1, n, n), &out = d.get<float>(2, n, n);
    const Taps taps = taps_of();
    parallel_for_each(
        in.extent.tile<4, 64>(), [&in, &rows, taps ](tiled_index<4, 64> t) restrict(amp) {
            tile_static float part[4][64 + 2 * radius];
            const int y = t.local[0], n = in.extent[1];
            for (int x = t.local[1]; x < 64 + 2 * radius; x += 64) {
                const int from = t.tile_origin[1] + x - radius;
                part[y][x] = from >= 0 && from < n ? in(t.global[0], from) : 0;
            }
            t.barrier.wait();
            float sum = 0;
            for (int k = -radius; k <= radius; k++)
                sum += taps.at[k + radius] * part[y][t.local[1] + radius + k];
            rows[t.global] = sum;
        });
    parallel_for_each(
        in.extent.tile<16, 16>(), [&rows, &out, taps ](tiled_index<16, 16> t) restrict(amp) {
            tile_static float part[16 + 2 * radius][16];
            const int x = t.local[1], n = rows.extent[0];
            for (int y = t.local[0]; y < 16 + 2 * radius; y += 16) {
                const int from = t.tile_origin[0] + y - radius;
                part[y][x] = from >= 0 && from < n ? rows(from, t.global[1]) : 0;
            }
            t.barrier.wait();
            float sum = 0;
            for (int k = -radius; k <= radius; k++)
                sum += taps.at[k + radius] * part[t.local[0] + radius + k][x];
            out[t.global] = sum;
        });
}

void heat_data(Problem &p) {
    const int n = p.pick(48, 384);
    p.n = {n};
    p.floats(size_t(n) * n * n), p.out<float>(size_t(n) * n * n);
    p.bytes = 8.0 * n * n * n, p.tolerance = 1e-5;
}
void heat_cpu(Problem &p) {
    const int n = p.n[0], plane = n * n;
    const float *in = p.at<float>(0);
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                const int i = z * plane + y * n + x;
                p.at<float>(1)[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] +
                                                           in[i - plane] + in[i + plane]);
            }
}
void heat(Arrays &d) {
    const int n = d.n[0];
    const array<float, 3> &in = d.get<float>(0, n, n, n);
    array<float, 3> &out = d.get<float>(1, n, n, n);
    parallel_for_each(
        out.extent, [&in, &out ](index<3> i) restrict(amp) {
            const int z = i[0], y = i[1], x = i[2];
            const extent<3> e = in.extent;
            if (z > 0 && z < e[0] - 1 && y > 0 && y < e[1] - 1 && x > 0 && x < e[2] - 1)
                out[i] = 0.4f * in[i] + 0.1f * (in(z, y, x - 1) + in(z, y, x + 1) + in(z, y - 1, x) + in(z, y + 1, x) +
                                                in(z - 1, y, x) + in(z + 1, y, x));
        });
}

void life_data(Problem &p) {
    const int n = p.pick(256, 6144);
    p.n = {n};
    p.numbers(size_t(n) * n, 2), p.out<int>(size_t(n) * n);
    p.bytes = 8.0 * n * n;
}
void life_cpu(Problem &p) {
    const int n = p.n[0];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int neighbours = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (dy || dx) neighbours += p.at<int>(0)[(y + dy + n) % n * n + (x + dx + n) % n];
            p.at<int>(1)[y * n + x] = neighbours == 3 || (neighbours == 2 && p.at<int>(0)[y * n + x]);
        }
}
void life(Arrays &d) {
    const int n = d.n[0];
    array_view<const int, 2> now(d.get<int>(0, n, n));
    array_view<int, 2> next(d.get<int>(1, n, n));
    parallel_for_each(
        next.extent, [=](index<2> i) restrict(amp) {
            int neighbours = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (dy != 0 || dx != 0) neighbours += now((i[0] + dy + n) % n, (i[1] + dx + n) % n);
            next[i] = neighbours == 3 || (neighbours == 2 && now[i] == 1) ? 1 : 0;
        });
}

// Rodinia's hotspot: the temperatures of a chip after a time step, from the power at each point.
void hotspot_data(Problem &p) {
    const int n = p.pick(256, 4096);
    p.n = {n};
    p.floats(size_t(n) * n, 320, 340), p.floats(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.bytes = 12.0 * n * n, p.tolerance = 1e-5;
}
void hotspot_cpu(Problem &p) {
    const int n = p.n[0];
    const float *t = p.at<float>(0), *power = p.at<float>(1);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const int i = y * n + x;
            const float north = y > 0 ? t[i - n] : t[i], south = y < n - 1 ? t[i + n] : t[i];
            const float west = x > 0 ? t[i - 1] : t[i], east = x < n - 1 ? t[i + 1] : t[i];
            p.at<float>(2)[i] = t[i] + 0.2f * (power[i] + (south + north - 2.0f * t[i]) * 0.3f +
                                               (east + west - 2.0f * t[i]) * 0.25f + (80.0f - t[i]) * 0.001f);
        }
}
void hotspot(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &temperature = d.get<float>(0, n, n), &power = d.get<float>(1, n, n);
    array<float, 2> &out = d.get<float>(2, n, n);
    const float step = 0.2f, ry = 0.3f, rx = 0.25f, rz = 0.001f, ambient = 80.0f;
    parallel_for_each(
        out.extent.tile<16, 16>(), [ =, &temperature, &power, &out ](tiled_index<16, 16> t) restrict(amp) {
            tile_static float part[18][18];
            const int y = t.global[0], x = t.global[1], ly = t.local[0] + 1, lx = t.local[1] + 1;
            part[ly][lx] = temperature[t.global];
            if (ly == 1) part[0][lx] = temperature(y > 0 ? y - 1 : 0, x);
            if (ly == 16) part[17][lx] = temperature(y < n - 1 ? y + 1 : n - 1, x);
            if (lx == 1) part[ly][0] = temperature(y, x > 0 ? x - 1 : 0);
            if (lx == 16) part[ly][17] = temperature(y, x < n - 1 ? x + 1 : n - 1);
            t.barrier.wait();
            const float center = part[ly][lx];
            out[t.global] =
                center + step * (power[t.global] + (part[ly + 1][lx] + part[ly - 1][lx] - 2.0f * center) * ry +
                                 (part[ly][lx + 1] + part[ly][lx - 1] - 2.0f * center) * rx + (ambient - center) * rz);
        });
}

// Rodinia's srad: edge-preserving diffusion of an image, in two kernels.
void srad_data(Problem &p) {
    const int n = p.pick(192, 4096);
    p.n = {n};
    p.floats(size_t(n) * n, 0.1f, 1), p.out<float>(size_t(n) * n), p.in<float>(size_t(n) * n);
    p.bytes = 20.0 * n * n, p.tolerance = 1e-4;
}
float srad_coefficient(float center, float north, float south, float west, float east) restrict(amp, cpu) {
    const float dn = north - center, ds = south - center, dw = west - center, de = east - center;
    const float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (center * center), l = (dn + ds + dw + de) / center;
    const float num = 0.5f * g2 - 0.0625f * l * l, den = 1.0f + 0.25f * l, q = num / (den * den);
    const float c = 1.0f / (1.0f + (q - 0.05f) / (0.05f * 1.05f));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}
void srad_cpu(Problem &p) {
    const int n = p.n[0];
    const float *in = p.at<float>(0);
    float *out = p.at<float>(1), *c = p.at<float>(2);
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int i = y * n + x, north = y > 0 ? i - n : i, south = y < n - 1 ? i + n : i;
                const int west = x > 0 ? i - 1 : i, east = x < n - 1 ? i + 1 : i;
                if (pass == 0) {
                    c[i] = srad_coefficient(in[i], in[north], in[south], in[west], in[east]);
                } else {
                    const float sum = c[i] * (in[north] - in[i]) + c[south] * (in[south] - in[i]) +
                                      c[i] * (in[west] - in[i]) + c[east] * (in[east] - in[i]);
                    out[i] = in[i] + 0.125f * sum;
                }
            }
}
void srad(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &image = d.get<float>(0, n, n);
    array<float, 2> &out = d.get<float>(1, n, n), &c = d.get<float>(2, n, n);
    parallel_for_each(
        image.extent, [&image, &c, n ](index<2> i) restrict(amp) {
            const int y = i[0], x = i[1];
            c[i] = srad_coefficient(image[i], image(y > 0 ? y - 1 : y, x), image(y < n - 1 ? y + 1 : y, x),
                                    image(y, x > 0 ? x - 1 : x), image(y, x < n - 1 ? x + 1 : x));
        });
    parallel_for_each(
        image.extent, [&image, &c, &out, n ](index<2> i) restrict(amp) {
            const int y = i[0], x = i[1], south = y < n - 1 ? y + 1 : y, east = x < n - 1 ? x + 1 : x;
            const float center = image[i];
            const float sum = c[i] * (image(y > 0 ? y - 1 : y, x) - center) + c(south, x) * (image(south, x) - center) +
                              c[i] * (image(y, x > 0 ? x - 1 : x) - center) + c(y, east) * (image(y, east) - center);
            out[i] = center + 0.125f * sum;
        });
}

// Two sweeps of Jacobi's iteration.
void jacobi_data(Problem &p) {
    const int n = p.pick(256, 4096);
    p.n = {n};
    p.doubles(size_t(n) * n), p.in<double>(size_t(n) * n), p.out<double>(size_t(n) * n);
    p.bytes = 32.0 * n * n, p.tolerance = 1e-12;
}
void jacobi_cpu(Problem &p) {
    const int n = p.n[0];
    for (int pass = 0; pass < 2; pass++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                const double *a = p.at<double>(pass) + y * n + x;
                p.at<double>(pass + 1)[y * n + x] = 0.2 * (a[0] + a[-1] + a[1] + a[n] + a[-n]);
            }
}
void jacobi(Arrays &d) {
    const int n = d.n[0];
    array_view<double, 2> in(d.get<double>(0, n, n)), intermediate(d.get<double>(1, n, n)), out(d.get<double>(2, n, n));
    for (int pass = 0; pass < 2; pass++) {
        array_view<const double, 2> a(pass == 0 ? in : intermediate);
        array_view<double, 2> b(pass == 0 ? intermediate : out);
        parallel_for_each(
            b.extent, [=](index<2> i) restrict(amp) {
                const int y = i[0], x = i[1];
                if (y > 0 && y < n - 1 && x > 0 && x < n - 1)
                    b[i] = 0.2 * (a(y, x) + a(y, x - 1) + a(y, x + 1) + a(y + 1, x) + a(y - 1, x));
            });
    }
}

// A lattice Boltzmann step with nine velocities: streaming from neighbours, then collision.
const int speeds_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, speeds_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
void lattice_data(Problem &p) {
    const int n = p.pick(128, 2048);
    p.n = {n};
    p.floats(9 * size_t(n) * n, 0.05f, 0.15f), p.out<float>(9 * size_t(n) * n);
    p.bytes = 72.0 * n * n, p.tolerance = 1e-4;
}
float equilibrium(float weight, float rho, float along, float square) restrict(amp, cpu) {
    return weight * rho * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * square);
}
void lattice_cpu(Problem &p) {
    const int n = p.n[0];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float f[9], rho = 0, ux = 0, uy = 0;
            for (int k = 0; k < 9; k++) {
                f[k] = p.at<float>(0)[k * n * n + (y - speeds_y[k] + n) % n * n + (x - speeds_x[k] + n) % n];
                rho += f[k], ux += f[k] * speeds_x[k], uy += f[k] * speeds_y[k];
            }
            ux /= rho, uy /= rho;
            for (int k = 0; k < 9; k++) {
                const float weight = k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36;
                const float e = equilibrium(weight, rho, speeds_x[k] * ux + speeds_y[k] * uy, ux * ux + uy * uy);
                p.at<float>(1)[k * n * n + y * n + x] = f[k] - 0.6f * (f[k] - e);
            }
        }
}
void lattice(Arrays &d) {
    const int n = d.n[0];
    array_view<const float, 3> from(d.get<float>(0, 9, n, n));
    array_view<float, 3> to(d.get<float>(1, 9, n, n));
    parallel_for_each(
        extent<2>(n, n), [=](index<2> i) restrict(amp) {
            const int y = i[0], x = i[1];
            const int west = (x - 1 + n) % n, east = (x + 1) % n, north = (y - 1 + n) % n, south = (y + 1) % n;
            float f[9];
            f[0] = from(0, y, x);
            f[1] = from(1, y, west);
            f[2] = from(2, north, x);
            f[3] = from(3, y, east);
            f[4] = from(4, south, x);
            f[5] = from(5, north, west);
            f[6] = from(6, north, east);
            f[7] = from(7, south, east);
            f[8] = from(8, south, west);
            float rho = 0;
            for (int k = 0; k < 9; k++)
                rho += f[k];
            const float ux = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / rho;
            const float uy = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / rho;
            const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
            for (int k = 0; k < 9; k++) {
                const float weight = k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36;
                const float e = equilibrium(weight, rho, cx[k] * ux + cy[k] * uy, ux * ux + uy * uy);
                to(k, y, x) = f[k] - 0.6f * (f[k] - e);
            }
        });
}

} // namespace

void stencils(std::vector<Case> &all) {
    all.insert(all.end(), {{"separable convolution", convolution_data, convolution_cpu, convolution},
                           {"stencil of 7 points", heat_data, heat_cpu, heat},
                           {"Game of Life", life_data, life_cpu, life},
                           {"hotspot", hotspot_data, hotspot_cpu, hotspot},
                           {"srad", srad_data, srad_cpu, srad},
                           {"Jacobi, double", jacobi_data, jacobi_cpu, jacobi},
                           {"lattice Boltzmann", lattice_data, lattice_cpu, lattice}});
}
} // namespace SUITE_FAMILY
