// Stable fluids: advection, and projection by Jacobi iterations, with float_2 velocities.
#include "stdafx.h"
#include <amp.h>
#include <amp_graphics.h>
#include <cmath>
#include <iostream>
#include <utility>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

typedef float_2 vec2;

static const int N = 32;
static const int JacobiIterations = 20;
static const float dt = 0.1f;

struct Bounds {
    static index<2> Clamp(int y, int x) restrict(amp, cpu) {
        y = y < 0 ? 0 : (y >= N ? N - 1 : y);
        x = x < 0 ? 0 : (x >= N ? N - 1 : x);
        return index<2>(y, x);
    }
};

template <typename T, typename Field> T Bilinear(const Field &f, float y, float x) restrict(amp, cpu) {
    const int y0 = (int)y - (y < 0), x0 = (int)x - (x < 0);
    const float fy = y - y0, fx = x - x0;
    const T a = f[Bounds::Clamp(y0, x0)], b = f[Bounds::Clamp(y0, x0 + 1)];
    const T c = f[Bounds::Clamp(y0 + 1, x0)], d = f[Bounds::Clamp(y0 + 1, x0 + 1)];
    return (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy;
}

template <typename VelocityField> float Divergence(const VelocityField &v, int y, int x) restrict(amp, cpu) {
    const vec2 l = v[Bounds::Clamp(y, x - 1)], r = v[Bounds::Clamp(y, x + 1)], t = v[Bounds::Clamp(y - 1, x)],
               b = v[Bounds::Clamp(y + 1, x)];
    return 0.5f * (r.x - l.x + b.y - t.y);
}

template <typename Field> float Jacobi(const Field &p, float divergence, int y, int x) restrict(amp, cpu) {
    return (p[Bounds::Clamp(y, x - 1)] + p[Bounds::Clamp(y, x + 1)] + p[Bounds::Clamp(y - 1, x)] +
            p[Bounds::Clamp(y + 1, x)] - divergence) *
           0.25f;
}

template <typename Field> vec2 Gradient(const Field &p, int y, int x) restrict(amp, cpu) {
    return vec2(p[Bounds::Clamp(y, x + 1)] - p[Bounds::Clamp(y, x - 1)],
                p[Bounds::Clamp(y + 1, x)] - p[Bounds::Clamp(y - 1, x)]) *
           0.5f;
}

class FluidAmp {
    extent<2> m_extent;
    array<vec2, 2> m_velocity, m_velocityNext;
    array<float, 2> m_density, m_densityNext, m_divergence, m_pressure, m_pressureNext;

  public:
    FluidAmp(const std::vector<vec2> &velocity, const std::vector<float> &density)
        : m_extent(N, N), m_velocity(m_extent, velocity.begin()), m_velocityNext(m_extent),
          m_density(m_extent, density.begin()), m_densityNext(m_extent), m_divergence(m_extent), m_pressure(m_extent),
          m_pressureNext(m_extent) {}

    void Step() {
        Advect(m_velocity, m_velocityNext);
        std::swap(m_velocity, m_velocityNext);
        Project();
        Advect(m_density, m_densityNext);
        std::swap(m_density, m_densityNext);
    }

    std::vector<float> Density() const { return m_density; }
    std::vector<vec2> Velocity() const { return m_velocity; }

  private:
    template <typename T> void Advect(const array<T, 2> &from, array<T, 2> &to) {
        const array<vec2, 2> &velocity = m_velocity;
        parallel_for_each(
            m_extent, [&](index<2> idx) restrict(amp) {
                const vec2 v = velocity[idx];
                to[idx] = Bilinear<T>(from, idx[0] - dt * N * v.y, idx[1] - dt * N * v.x);
            });
    }

    void Project() {
        array<vec2, 2> &velocity = m_velocity;
        array<float, 2> &divergence = m_divergence;
        array<float, 2> &zero = m_pressure;
        parallel_for_each(
            m_extent, [&velocity, &divergence, &zero ](index<2> idx) restrict(amp) {
                divergence[idx] = Divergence(velocity, idx[0], idx[1]);
                zero[idx] = 0;
            });
        array<float, 2> *from = &m_pressure, *to = &m_pressureNext;
        for (int i = 0; i < JacobiIterations; ++i) {
            const array<float, 2> &p = *from;
            array<float, 2> &next = *to;
            parallel_for_each(
                m_extent, [&p, &next, &divergence ](index<2> idx) restrict(amp) {
                    next[idx] = Jacobi(p, divergence[idx], idx[0], idx[1]);
                });
            std::swap(from, to);
        }
        const array<float, 2> &pressure = *from;
        parallel_for_each(
            m_extent, [&velocity, &
                       pressure ](index<2> idx) restrict(amp) { velocity[idx] -= Gradient(pressure, idx[0], idx[1]); });
    }
};

void StepCpu(std::vector<vec2> &velocity, std::vector<float> &density) {
    std::vector<vec2> v(velocity);
    const array_view<const vec2, 2> vf(N, N, velocity);
    for (int y = 0; y < N; ++y)
        for (int x = 0; x < N; ++x)
            v[y * N + x] = Bilinear<vec2>(vf, y - dt * N * velocity[y * N + x].y, x - dt * N * velocity[y * N + x].x);
    velocity = v;
    std::vector<float> divergence(N * N), p(N * N), next(N * N);
    for (int y = 0; y < N; ++y)
        for (int x = 0; x < N; ++x)
            divergence[y * N + x] = Divergence(vf, y, x);
    for (int i = 0; i < JacobiIterations; ++i) {
        const array_view<const float, 2> pf(N, N, p);
        for (int y = 0; y < N; ++y)
            for (int x = 0; x < N; ++x)
                next[y * N + x] = Jacobi(pf, divergence[y * N + x], y, x);
        p.swap(next);
    }
    const array_view<const float, 2> pf(N, N, p);
    for (int y = 0; y < N; ++y)
        for (int x = 0; x < N; ++x)
            velocity[y * N + x] -= Gradient(pf, y, x);
    std::vector<float> d(density);
    const array_view<const float, 2> df(N, N, density);
    for (int y = 0; y < N; ++y)
        for (int x = 0; x < N; ++x)
            d[y * N + x] = Bilinear<float>(df, y - dt * N * velocity[y * N + x].y, x - dt * N * velocity[y * N + x].x);
    density = d;
}

int main() {
    std::vector<vec2> velocity(N * N);
    std::vector<float> density(N * N);
    for (int y = 0; y < N; ++y) {
        for (int x = 0; x < N; ++x) {
            const float dy = (y - N / 2) / float(N), dx = (x - N / 2) / float(N);
            velocity[y * N + x].set_xy(vec2(-dy, dx) * 2.0f);
            velocity[y * N + x].ref_x() += 0.2f;
            density[y * N + x] = (y / 4 + x / 4) % 2 ? 1.0f : 0.0f;
        }
    }
    FluidAmp fluid(velocity, density);
    for (int step = 0; step < 4; ++step) {
        fluid.Step();
        StepCpu(velocity, density);
    }
    const std::vector<float> d = fluid.Density();
    const std::vector<vec2> v = fluid.Velocity();
    float worst = 0, mass = 0;
    for (int i = 0; i < N * N; ++i) {
        mass += d[i];
        worst = worse(worst, worse(fabsf(d[i] - density[i]),
                                   worse(fabsf(v[i].x - velocity[i].x), fabsf(v[i].y - velocity[i].y))));
    }
    std::wcout << L"mass " << mass << L", largest difference " << worst << std::endl;
    return worst < 1e-3f && mass > 100 ? 0 : 1;
}
