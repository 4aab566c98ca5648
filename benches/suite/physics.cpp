// The family `physics` of the kernel suite: bodies, fields and Fourier transforms.
#include "family.h"

namespace SUITE_FAMILY {
namespace {

struct Body {
    float x, y, z, mass;
};
void bodies_data(Problem &p) {
    const int n = p.pick(1024, 32768);
    p.n = {n};
    p.floats(4 * size_t(n)), p.out<float>(4 * size_t(n));
    p.tolerance = 1e-3;
}
void bodies_cpu(Problem &p) {
    const int n = p.n[0];
    const Body *in = p.at<Body>(0);
    for (int i = 0; i < n; i++) {
        float x = 0, y = 0, z = 0;
        for (int j = 0; j < n; j++) {
            const float dx = in[j].x - in[i].x, dy = in[j].y - in[i].y, dz = in[j].z - in[i].z;
            const float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f),
                        s = in[j].mass * inverse * inverse * inverse;
            x += dx * s, y += dy * s, z += dz * s;
        }
        p.at<Body>(1)[i] = {x, y, z, 0};
    }
}
void bodies(Arrays &d) {
    const int n = d.n[0];
    const array<Body> &in = d.get<Body>(0, n);
    array<Body> &out = d.get<Body>(1, n);
    parallel_for_each(
        in.extent.tile<256>(), [&in, &out, n ](tiled_index<256> t) restrict(amp) {
            tile_static Body chunk[256];
            const Body me = in[t.global];
            Body pull = {0, 0, 0, 0};
            for (int first = 0; first < n; first += 256) {
                chunk[t.local[0]] = in[first + t.local[0]];
                t.barrier.wait();
                for (int j = 0; j < 256; j++) {
                    const float dx = chunk[j].x - me.x, dy = chunk[j].y - me.y, dz = chunk[j].z - me.z;
                    const float inverse = math::rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
                    const float s = chunk[j].mass * inverse * inverse * inverse;
                    pull.x += dx * s;
                    pull.y += dy * s;
                    pull.z += dz * s;
                }
                t.barrier.wait();
            }
            out[t.global] = pull;
        });
}

// Parboil's MRI-Q: each point sums the cosines and sines of its phases over all samples.
struct Sample {
    float x, y, z, magnitude;
};
void mri_data(Problem &p) {
    const int n = p.pick(1 << 10, 1 << 17), samples = p.pick(128, 1024);
    p.n = {n, samples};
    p.floats(n), p.floats(n), p.floats(n), p.floats(4 * size_t(samples), -1, 1), p.out<float>(n), p.out<float>(n);
    p.tolerance = 1e-3;
}
void mri_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++) {
        float re = 0, im = 0;
        for (int k = 0; k < p.n[1]; k++) {
            const Sample s = p.at<Sample>(3)[k];
            const float phase =
                6.2831853f * (s.x * p.at<float>(0)[i] + s.y * p.at<float>(1)[i] + s.z * p.at<float>(2)[i]);
            re += s.magnitude * std::cos(phase), im += s.magnitude * std::sin(phase);
        }
        p.at<float>(4)[i] = re, p.at<float>(5)[i] = im;
    }
}
void mri(Arrays &d) {
    const int n = d.n[0], samples = d.n[1];
    array_view<const float> x(d.get<float>(0, n)), y(d.get<float>(1, n)), z(d.get<float>(2, n));
    array_view<const Sample> sample(d.get<Sample>(3, samples));
    array_view<float> real(d.get<float>(4, n)), imaginary(d.get<float>(5, n));
    parallel_for_each(
        x.extent, [=](index<1> i) restrict(amp) {
            const float px = x[i], py = y[i], pz = z[i];
            float re = 0, im = 0;
            for (int k = 0; k < samples; k++) {
                const Sample s = sample[k];
                const float phase = 6.2831853f * (s.x * px + s.y * py + s.z * pz);
                re += s.magnitude * math::cos(phase);
                im += s.magnitude * math::sin(phase);
            }
            real[i] = re;
            imaginary[i] = im;
        });
}

// Parboil's cutcp: the potential at each lattice point from the atoms within a distance of 4. Space is divided into
// bins of 4 x 4 x 4, with 8 atoms each.
void cutoff_data(Problem &p) {
    const int n = p.pick(24, 128), bins = n / 4;
    p.n = {n, bins};
    float *atoms = p.floats(4 * 8 * size_t(bins) * bins * bins);
    for (int i = 0; i < 8 * bins * bins * bins; i++) {
        const int bin = i / 8;
        atoms[4 * i] = 4 * (atoms[4 * i] + static_cast<float>(bin % bins));
        atoms[4 * i + 1] = 4 * (atoms[4 * i + 1] + static_cast<float>(bin / bins % bins));
        atoms[4 * i + 2] = 4 * (atoms[4 * i + 2] + static_cast<float>(bin / bins / bins));
    }
    p.out<float>(size_t(n) * n * n);
    p.tolerance = 1e-3;
}
void cutoff_cpu(Problem &p) {
    const int n = p.n[0], bins = p.n[1];
    for (int i = 0; i < n * n * n; i++) {
        const int x = i % n, y = i / n % n, z = i / n / n;
        float sum = 0;
        for (int bz = std::max(z / 4 - 1, 0); bz <= std::min(z / 4 + 1, bins - 1); bz++)
            for (int by = std::max(y / 4 - 1, 0); by <= std::min(y / 4 + 1, bins - 1); by++)
                for (int bx = std::max(x / 4 - 1, 0); bx <= std::min(x / 4 + 1, bins - 1); bx++)
                    for (int k = 0; k < 8; k++) {
                        const Body a = p.at<Body>(0)[((bz * bins + by) * bins + bx) * 8 + k];
                        const float dx = a.x - x, dy = a.y - y, dz = a.z - z, square = dx * dx + dy * dy + dz * dz;
                        if (square >= 16 || square == 0) continue;
                        const float s = 1 - square / 16;
                        sum += a.mass / std::sqrt(square) * s * s;
                    }
        p.at<float>(1)[i] = sum;
    }
}
void cutoff(Arrays &d) {
    const int n = d.n[0], bins = d.n[1];
    const array<Body> &atoms = d.get<Body>(0, 8 * bins * bins * bins);
    array<float, 3> &potential = d.get<float>(1, n, n, n);
    parallel_for_each(
        potential.extent, [&atoms, &potential, bins ](index<3> i) restrict(amp) {
            const int z = i[0], y = i[1], x = i[2];
            float sum = 0;
            for (int bz = z / 4 - 1; bz <= z / 4 + 1; bz++)
                for (int by = y / 4 - 1; by <= y / 4 + 1; by++)
                    for (int bx = x / 4 - 1; bx <= x / 4 + 1; bx++) {
                        if (bz < 0 || by < 0 || bx < 0 || bz >= bins || by >= bins || bx >= bins) continue;
                        for (int k = 0; k < 8; k++) {
                            const Body a = atoms[((bz * bins + by) * bins + bx) * 8 + k];
                            const float dx = a.x - x, dy = a.y - y, dz = a.z - z;
                            const float square = dx * dx + dy * dy + dz * dz;
                            if (square >= 16 || square == 0) continue;
                            const float s = 1 - square / 16;
                            sum += a.mass * math::rsqrt(square) * s * s;
                        }
                    }
            potential[i] = sum;
        });
}

// Parboil's tpacf: a histogram of the angles between all pairs of points on the sky. A binary search finds the bin.
void pairs_data(Problem &p) {
    const int n = p.pick(512, 8192);
    p.n = {n, 20};
    float *at = p.floats(4 * size_t(n), -1, 1);
    for (int i = 0; i < n; i++) {
        float *q = at + 4 * i;
        const float scale = 1 / std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + 1e-12f);
        q[0] *= scale, q[1] *= scale, q[2] *= scale;
    }
    float *edges = p.in<float>(20);
    for (int i = 0; i < 20; i++)
        edges[i] = std::cos(0.005f * std::pow(1.38f, static_cast<float>(i)));
    p.out<int>(21);
    p.tolerance = 1e-3;
}
void pairs_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const Body a = p.at<Body>(0)[i], b = p.at<Body>(0)[j];
            const float dot = a.x * b.x + a.y * b.y + a.z * b.z;
            int low = 0, high = 20;
            while (low < high) {
                const int middle = (low + high) / 2;
                if (dot >= p.at<float>(1)[middle])
                    high = middle;
                else
                    low = middle + 1;
            }
            p.at<int>(2)[low]++;
        }
}
void pairs(Arrays &d) {
    const int n = d.n[0];
    const array<Body> &point = d.get<Body>(0, n);
    const array<float> &edges = d.get<float>(1, 20);
    array<int> &bins = d.get<int>(2, 21);
    parallel_for_each(
        bins.extent, [&bins](index<1> i) restrict(amp) { bins[i] = 0; });
    parallel_for_each(
        point.extent.tile<128>(), [&point, &edges, &bins, n ](tiled_index<128> t) restrict(amp) {
            tile_static Body chunk[128];
            tile_static float edge[20];
            tile_static int counts[21];
            const int local = t.local[0];
            if (local < 20) edge[local] = edges[local];
            if (local < 21) counts[local] = 0;
            const Body me = point[t.global];
            for (int first = 0; first < n; first += 128) {
                chunk[local] = point[first + local];
                t.barrier.wait();
                for (int j = 0; j < 128; j++) {
                    const float dot = me.x * chunk[j].x + me.y * chunk[j].y + me.z * chunk[j].z;
                    int low = 0, high = 20;
                    while (low < high) {
                        const int middle = (low + high) / 2;
                        if (dot >= edge[middle]) {
                            high = middle;
                        } else {
                            low = middle + 1;
                        }
                    }
                    atomic_fetch_inc(&counts[low]);
                }
                t.barrier.wait();
            }
            if (local < 21) atomic_fetch_add(&bins[local], counts[local]);
        });
}

// Radix-2 FFTs of 512 complex numbers. A tile of 256 threads computes one FFT.
struct Complex {
    float re, im;
};
Complex operator+(Complex a, Complex b) restrict(amp, cpu) {
    return {a.re + b.re, a.im + b.im};
}
Complex operator-(Complex a, Complex b) restrict(amp, cpu) {
    return {a.re - b.re, a.im - b.im};
}
Complex operator*(Complex a, Complex b) restrict(amp, cpu) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
void fft_data(Problem &p) {
    const int n = p.pick(64, 1 << 15);
    p.n = {n};
    p.floats(2 * 512 * size_t(n), -1, 1), p.out<float>(2 * 512 * size_t(n));
    p.bytes = 16.0 * 512 * n, p.tolerance = 2e-4;
}
void fft_cpu(Problem &p) {
    for (int line = 0; line < p.n[0]; line++) {
        Complex *to = p.at<Complex>(1) + line * 512;
        for (unsigned i = 0; i < 512; i++) {
            unsigned reversed = 0;
            for (int bit = 0; bit < 9; bit++)
                reversed |= (i >> bit & 1) << (8 - bit);
            to[reversed] = p.at<Complex>(0)[line * 512 + i];
        }
        for (int half = 1; half < 512; half *= 2)
            for (int i = 0; i < 256; i++) {
                const int k = i % half, a = i / half * half * 2 + k;
                const float angle = -3.14159265f * k / half;
                const Complex odd_term = to[a + half] * Complex{std::cos(angle), std::sin(angle)}, first = to[a];
                to[a] = first + odd_term, to[a + half] = first - odd_term;
            }
    }
}
void fft(Arrays &d) {
    const int n = d.n[0];
    array_view<const Complex> in(d.get<Complex>(0, 512 * n));
    array_view<Complex> out(d.get<Complex>(1, 512 * n));
    parallel_for_each(
        extent<1>(256 * n).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static Complex part[512];
            const int i = t.local[0], first = t.tile[0] * 512;
            part[direct3d::reversebits(static_cast<unsigned>(i)) >> 23] = in[first + i];
            part[direct3d::reversebits(static_cast<unsigned>(i + 256)) >> 23] = in[first + i + 256];
            t.barrier.wait();
            for (int half = 1; half < 512; half *= 2) {
                const int k = i % half, a = i / half * half * 2 + k;
                const float angle = -3.14159265f * k / half;
                Complex twiddle;
                math::sincos(angle, &twiddle.im, &twiddle.re);
                const Complex odd_term = part[a + half] * twiddle, even_term = part[a];
                part[a] = even_term + odd_term;
                part[a + half] = even_term - odd_term;
                t.barrier.wait();
            }
            out[first + i] = part[i];
            out[first + i + 256] = part[i + 256];
        });
}

// Lennard-Jones forces, in double: each particle has a list of 64 neighbours.
void neighbours_data(Problem &p) {
    const int n = p.pick(1 << 11, 1 << 17);
    p.n = {n, 64};
    double *at = p.doubles(3 * size_t(n), 0, 40);
    for (int i = 0; i < 3 * n; i++)
        at[i] += i % 7;
    p.numbers(64 * size_t(n), n), p.out<double>(3 * size_t(n));
    p.tolerance = 1e-9;
}
void neighbours_cpu(Problem &p) {
    const int n = p.n[0];
    const double *x = p.at<double>(0), *y = x + n, *z = y + n;
    for (int i = 0; i < n; i++) {
        double fx = 0, fy = 0, fz = 0;
        for (int k = 0; k < 64; k++) {
            const int j = p.at<int>(1)[k * n + i];
            const double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j], square = dx * dx + dy * dy + dz * dz;
            if (square > 256 || square < 0.25) continue;
            const double inverse = 1 / square, six = inverse * inverse * inverse,
                         force = inverse * six * (48 * six - 24);
            fx += dx * force, fy += dy * force, fz += dz * force;
        }
        p.at<double>(2)[i] = fx, p.at<double>(2)[n + i] = fy, p.at<double>(2)[2 * n + i] = fz;
    }
}
void neighbours(Arrays &d) {
    const int n = d.n[0], neighbour_count = d.n[1];
    const array<double, 2> &at = d.get<double>(0, 3, n);
    const array<int, 2> &list = d.get<int>(1, neighbour_count, n);
    array<double, 2> &force = d.get<double>(2, 3, n);
    parallel_for_each(
        extent<1>(n), [&, neighbour_count ](index<1> idx) restrict(amp) {
            const int i = idx[0];
            const double x = at(0, i), y = at(1, i), z = at(2, i);
            double fx = 0, fy = 0, fz = 0;
            for (int k = 0; k < neighbour_count; k++) {
                const int j = list(k, i);
                const double dx = x - at(0, j), dy = y - at(1, j), dz = z - at(2, j);
                const double square = dx * dx + dy * dy + dz * dz;
                if (square > 256 || square < 0.25) continue;
                const double inverse = 1 / square, six = inverse * inverse * inverse;
                const double f = inverse * six * (48 * six - 24);
                fx += dx * f;
                fy += dy * f;
                fz += dz * f;
            }
            force(0, i) = fx;
            force(1, i) = fy;
            force(2, i) = fz;
        });
}

} // namespace

void physics(std::vector<Case> &all) {
    all.insert(all.end(), {{"n bodies", bodies_data, bodies_cpu, bodies},
                           {"MRI-Q", mri_data, mri_cpu, mri},
                           {"cutoff potential", cutoff_data, cutoff_cpu, cutoff},
                           {"pairs on the sky", pairs_data, pairs_cpu, pairs},
                           {"FFT in tiles", fft_data, fft_cpu, fft},
                           {"Lennard-Jones, double", neighbours_data, neighbours_cpu, neighbours}});
}
} // namespace SUITE_FAMILY
