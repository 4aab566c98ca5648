// The family `memory` of the kernel suite: memory-bound kernels and atomic operations.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

void triad_data(Problem &p) {
    const int n = p.pick(1 << 18, 1 << 25);
    p.n = {n};
    p.floats(n), p.floats(n), p.out<float>(n);
    p.bytes = 12.0 * n, p.tolerance = 1e-6;
}
void triad_cpu(Problem &p) {
    const float *b = p.at<float>(0), *c = p.at<float>(1);
    for (int i = 0; i < p.n[0]; i++)
        p.at<float>(2)[i] = b[i] + 3.0f * c[i];
}
void triad(Arrays &d) {
    const int n = d.n[0];
    const array<float> &b = d.get<float>(0, n), &c = d.get<float>(1, n);
    array<float> &a = d.get<float>(2, n);
    const float scalar = 3.0f;
    parallel_for_each(
        a.extent, [&, scalar ](index<1> i) restrict(amp) { a[i] = b[i] + scalar * c[i]; });
}

void gather_data(Problem &p) {
    const int n = p.pick(1 << 17, 1 << 25);
    p.n = {n};
    p.numbers(n), p.out<unsigned>(n);
    p.bytes = 8.0 * n;
}
void gather_cpu(Problem &p) {
    const unsigned *table = p.at<unsigned>(0), mask = p.n[0] - 1;
    for (int i = 0; i < p.n[0]; i++) {
        unsigned at = i * 2654435761U, sum = 0;
        for (int k = 0; k < 4; k++) {
            at = at * 1664525U + 1013904223U;
            sum ^= table[at >> 3 & mask];
        }
        p.at<unsigned>(1)[i] = sum;
    }
}
void gather(Arrays &d) {
    const int n = d.n[0];
    array_view<const unsigned> table(d.get<unsigned>(0, n));
    array_view<unsigned> out(d.get<unsigned>(1, n));
    const unsigned mask = n - 1;
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) {
            unsigned at = i[0] * 2654435761U, sum = 0;
            for (int k = 0; k < 4; k++) {
                at = at * 1664525U + 1013904223U;
                sum ^= table[at >> 3 & mask];
            }
            out[i] = sum;
        });
}

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

void particles_data(Problem &p) {
    const int n = p.pick(1 << 15, 1 << 23);
    p.n = {n};
    p.floats(8 * size_t(n), -1, 1), p.out<float>(8 * size_t(n));
    p.bytes = 64.0 * n, p.tolerance = 1e-6;
}
void particles_cpu(Problem &p) {
    const Particle *in = p.at<Particle>(0);
    for (int i = 0; i < p.n[0]; i++) {
        Particle q = in[i];
        const float ax = -q.x * q.charge, ay = -q.y * q.charge, az = -9.81f * q.mass;
        q.vx += ax * 0.01f, q.vy += ay * 0.01f, q.vz += az * 0.01f;
        q.x += q.vx * 0.01f, q.y += q.vy * 0.01f, q.z += q.vz * 0.01f;
        if (q.z < 0) q.z = -q.z, q.vz = -0.8f * q.vz;
        p.at<Particle>(1)[i] = q;
    }
}
void particles(Arrays &d) {
    const int n = d.n[0];
    const array<Particle> &in = d.get<Particle>(0, n);
    array<Particle> &out = d.get<Particle>(1, n);
    const float dt = 0.01f;
    parallel_for_each(
        in.extent, [&in, &out, dt ](index<1> i) restrict(amp) {
            Particle q = in[i];
            const float ax = -q.x * q.charge, ay = -q.y * q.charge, az = -9.81f * q.mass;
            q.vx += ax * dt;
            q.vy += ay * dt;
            q.vz += az * dt;
            q.x += q.vx * dt;
            q.y += q.vy * dt;
            q.z += q.vz * dt;
            if (q.z < 0) {
                q.z = -q.z;
                q.vz = -0.8f * q.vz;
            }
            out[i] = q;
        });
}

void transpose_data(Problem &p) {
    const int n = p.pick(512, 8192);
    p.n = {n};
    p.floats(size_t(n) * n), p.out<float>(size_t(n) * n);
    p.bytes = 8.0 * n * n;
}
void transpose_cpu(Problem &p) {
    const int n = p.n[0];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            p.at<float>(1)[x * n + y] = p.at<float>(0)[y * n + x];
}
void transpose(Arrays &d) {
    const int n = d.n[0];
    const array<float, 2> &in = d.get<float>(0, n, n);
    array<float, 2> &out = d.get<float>(1, n, n);
    parallel_for_each(
        in.extent.tile<16, 16>(), [&](tiled_index<16, 16> t) restrict(amp) {
            tile_static float part[16][17];
            part[t.local[0]][t.local[1]] = in[t.global];
            t.barrier.wait();
            out(t.tile[1] * 16 + t.local[0], t.tile[0] * 16 + t.local[1]) = part[t.local[1]][t.local[0]];
        });
}

void histogram_data(Problem &p) {
    const int n = p.pick(1 << 18, 1 << 25);
    p.n = {n};
    p.numbers(n), p.out<unsigned>(256);
    p.bytes = 4.0 * n;
}
void histogram_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++)
        p.at<unsigned>(1)[p.at<unsigned>(0)[i] >> 24]++;
}
void histogram(Arrays &d) {
    const int n = d.n[0];
    array_view<const unsigned> in(d.get<unsigned>(0, n));
    array_view<unsigned> counts(d.get<unsigned>(1, 256));
    parallel_for_each(
        counts.extent, [=](index<1> i) restrict(amp) { counts[i] = 0; });
    parallel_for_each(
        extent<1>(n / 16).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static unsigned part[256];
            part[t.local[0]] = 0;
            t.barrier.wait();
            for (int k = 0; k < 16; k++)
                atomic_fetch_add(&part[in[t.tile[0] * 4096 + k * 256 + t.local[0]] >> 24], 1U);
            t.barrier.wait();
            atomic_fetch_add(&counts[t.local[0]], part[t.local[0]]);
        });
}

// Adds floats to a grid by compare and exchange, because C++ AMP has no atomic addition of floats.
void deposit_data(Problem &p) {
    const int n = p.pick(1 << 14, 1 << 22), cells = p.pick(1 << 10, 1 << 18);
    p.n = {n, cells};
    p.numbers(n), p.floats(n), p.out<float>(cells);
    p.tolerance = 1e-4;
}
void deposit_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++)
        p.at<float>(2)[p.at<unsigned>(0)[i] % p.n[1]] += p.at<float>(1)[i];
}
void add_float(float *to, float value) restrict(amp) {
    unsigned *bits = reinterpret_cast<unsigned *>(to);
    unsigned old_bits = *bits;
    for (;;) {
        const float sum = *reinterpret_cast<float *>(&old_bits) + value;
        if (atomic_compare_exchange(bits, &old_bits, *reinterpret_cast<const unsigned *>(&sum))) return;
    }
}
void deposit(Arrays &d) {
    const int n = d.n[0], cells = d.n[1];
    const array<unsigned> &cell = d.get<unsigned>(0, n);
    const array<float> &charge = d.get<float>(1, n);
    array<float> &grid = d.get<float>(2, cells);
    parallel_for_each(
        grid.extent, [&](index<1> i) restrict(amp) { grid[i] = 0; });
    parallel_for_each(
        cell.extent,
        [ =, &cell, &charge, &grid ](index<1> i) restrict(amp) { add_float(&grid[cell[i] % cells], charge[i]); });
}

// Each thread with an odd value increments one of 64 counters. Each thread whose value is below the current minimum or
// above the current maximum updates that extreme.
void extremes_data(Problem &p) {
    const int n = p.pick(1 << 16, 1 << 24);
    p.n = {n};
    p.numbers(n), p.out<int>(66);
    p.bytes = 4.0 * n;
}
void extremes_cpu(Problem &p) {
    int *out = p.at<int>(1);
    out[64] = INT32_MAX, out[65] = INT32_MIN;
    for (int i = 0; i < p.n[0]; i++) {
        const int value = p.at<int>(0)[i];
        if (value & 1) out[value >> 1 & 63]++;
        out[64] = std::min(out[64], value), out[65] = std::max(out[65], value);
    }
}
void extremes(Arrays &d) {
    const int n = d.n[0];
    const array<int> &in = d.get<int>(0, n);
    array<int> &out = d.get<int>(1, 66);
    parallel_for_each(
        out.extent, [&](index<1> i) restrict(amp) { out[i] = i[0] == 64   ? INT_MAX
                                                             : i[0] == 65 ? INT_MIN
                                                                          : 0; });
    parallel_for_each(
        in.extent, [&](index<1> i) restrict(amp) {
            const int value = in[i];
            if (value & 1) atomic_fetch_inc(&out[value >> 1 & 63]);
            if (value < out[64]) atomic_fetch_min(&out[64], value);
            if (value > out[65]) atomic_fetch_max(&out[65], value);
        });
}

} // namespace

void memory(std::vector<Case> &all) {
    all.insert(all.end(), {{"triad", triad_data, triad_cpu, triad},
                           {"random access", gather_data, gather_cpu, gather},
                           {"array of structs", particles_data, particles_cpu, particles},
                           {"transpose", transpose_data, transpose_cpu, transpose},
                           {"histogram", histogram_data, histogram_cpu, histogram},
                           {"atomics on floats", deposit_data, deposit_cpu, deposit},
                           {"atomics on ints", extremes_data, extremes_cpu, extremes}});
}
} // namespace SUITE_FAMILY
