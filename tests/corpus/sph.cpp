// Smoothed-particle hydrodynamics: a counting sort into grid cells (atomics, then a scan on the host), then densities
// and forces from neighbouring cells.
#include "stdafx.h"
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

const int particle_count = 400;
const int grid_side = 12;
const int cell_count = grid_side * grid_side;
const float cell_size = 1.0f;
const float smoothing = 1.0f;

struct particle {
    float_2 position;
    float_2 velocity;
    float density;
    int id;
};

struct kernel_functions {
    float poly6, spiky;
    kernel_functions()
        : poly6(4.0f / (3.14159265f * std::pow(smoothing, 8.0f))),
          spiky(-30.0f / (3.14159265f * std::pow(smoothing, 5.0f))) {}
    float weight(float r2) const restrict(amp, cpu) {
        const float d = smoothing * smoothing - r2;
        return d > 0 ? poly6 * d * d * d : 0.0f;
    }
    float gradient(float r) const restrict(amp, cpu) {
        const float d = smoothing - r;
        return d > 0 ? spiky * d * d : 0.0f;
    }
};

inline int_2 cell_of(const float_2 &p) restrict(amp, cpu) {
    int_2 c(p / cell_size);
    c.x = c.x < 0 ? 0 : (c.x >= grid_side ? grid_side - 1 : c.x);
    c.y = c.y < 0 ? 0 : (c.y >= grid_side ? grid_side - 1 : c.y);
    return c;
}
inline int cell_number(const int_2 &c) restrict(amp, cpu) {
    return c.y * grid_side + c.x;
}
inline float length(const float_2 &v) restrict(amp, cpu) {
    return fast_math::sqrt(v.x * v.x + v.y * v.y);
}

class simulation {
    array_view<particle> m_particles, m_sorted;
    array<int> m_counts, m_starts;
    kernel_functions m_functions;

  public:
    simulation(std::vector<particle> &particles)
        : m_particles(particles), m_sorted(extent<1>(particle_count)), m_counts(cell_count), m_starts(cell_count + 1) {}

    void sort() {
        array_view<particle> particles = m_particles, sorted = m_sorted;
        array<int> &counts = m_counts, &starts = m_starts;
        parallel_for_each(
            counts.extent, [&counts](index<1> i) restrict(amp) { counts[i] = 0; });
        parallel_for_each(
            particles.extent, [ =, &counts ](index<1> i) restrict(amp) {
                atomic_fetch_inc(&counts[cell_number(cell_of(particles[i].position))]);
            });
        std::vector<int> host = counts, first(cell_count + 1);
        for (int i = 0; i < cell_count; ++i)
            first[i + 1] = first[i] + host[i];
        copy(first.begin(), first.end(), starts);
        sorted.discard_data();
        // From here on, counts[c] is the number of free slots of cell c
        parallel_for_each(
            particles.extent, [ =, &counts, &starts ](index<1> i) restrict(amp) {
                const particle p = particles[i];
                const int c = cell_number(cell_of(p.position));
                sorted[starts[c] + atomic_fetch_dec(&counts[c]) - 1] = p;
            });
    }

    void densities() {
        array_view<particle> sorted = m_sorted;
        const array<int> &starts = m_starts;
        const kernel_functions functions = m_functions;
        parallel_for_each(
            sorted.extent, [ =, &starts ](index<1> i) restrict(amp) {
                const float_2 p = sorted[i].position;
                const int_2 c = cell_of(p);
                float sum = 0;
                for (int y = c.y > 0 ? c.y - 1 : 0; y <= c.y + 1 && y < grid_side; ++y)
                    for (int x = c.x > 0 ? c.x - 1 : 0; x <= c.x + 1 && x < grid_side; ++x)
                        for (int j = starts[cell_number(int_2(x, y))]; j < starts[cell_number(int_2(x, y)) + 1]; ++j) {
                            const float_2 d = sorted[j].position - p;
                            sum += functions.weight(d.x * d.x + d.y * d.y);
                        }
                sorted[i].density = sum;
            });
    }

    void move(float dt) {
        array_view<particle> particles = m_particles;
        array_view<const particle> sorted = m_sorted;
        const array<int> &starts = m_starts;
        const kernel_functions functions = m_functions;
        parallel_for_each(
            sorted.extent, [ =, &starts ](index<1> i) restrict(amp) {
                particle me = sorted[i];
                const int_2 c = cell_of(me.position);
                float_2 force(0.0f, 2.0f);
                for (int dy = -1; dy <= 1; ++dy) {
                    for (int dx = -1; dx <= 1; ++dx) {
                        const int_2 n = c + int_2(dx, dy);
                        if (n.x < 0 || n.y < 0 || n.x >= grid_side || n.y >= grid_side) continue;
                        const int begin = starts[cell_number(n)], end = starts[cell_number(n) + 1];
                        for (int j = begin; j < end; ++j) {
                            const particle other = sorted[j];
                            if (other.id == me.id) continue;
                            const float_2 d = me.position - other.position;
                            const float r = length(d) + 1e-4f;
                            force -= d / r * functions.gradient(r) * (0.5f / (me.density + other.density));
                        }
                    }
                }
                me.velocity += force * dt;
                me.position += me.velocity * dt;
                particles[me.id] = me;
            });
    }

    void finish() { m_particles.synchronize(); }
};

void step_cpu(std::vector<particle> &all, float dt) {
    const kernel_functions functions;
    for (auto &p : all) {
        p.density = 0;
        for (auto &q : all) {
            const float_2 d = q.position - p.position;
            p.density += functions.weight(d.x * d.x + d.y * d.y);
        }
    }
    std::vector<particle> next(all);
    for (auto &p : next) {
        float_2 force(0.0f, 2.0f);
        for (auto &q : all) {
            if (q.id == p.id) continue;
            const float_2 d = p.position - q.position;
            const float r = length(d) + 1e-4f;
            force -= d / r * functions.gradient(r) * (0.5f / (p.density + q.density));
        }
        p.velocity += force * dt;
        p.position += p.velocity * dt;
    }
    all.swap(next);
}

int main() {
    std::vector<particle> particles(particle_count);
    srand(11);
    for (int i = 0; i < particle_count; ++i) {
        particle p = {float_2(1.0f + (i % 20) * 0.45f, 1.0f + (i / 20) * 0.45f), float_2(), 0, i};
        p.position.x += rand() / float(RAND_MAX) * 0.1f;
        particles[i] = p;
    }
    std::vector<particle> reference(particles);
    {
        simulation sim(particles);
        for (int s = 0; s < 3; ++s) {
            sim.sort();
            sim.densities();
            sim.move(0.01f);
            step_cpu(reference, 0.01f);
        }
        sim.finish();
    }
    float worst = 0, fall = 0;
    for (int i = 0; i < particle_count; ++i) {
        worst = worse(worst, length(particles[i].position - reference[i].position));
        fall += particles[i].velocity.y / particle_count;
        if (particles[i].id != i) worst = 1e9f;
    }
    std::wcout << L"mean velocity " << fall << L", largest difference " << worst << std::endl;
    return worst < 1e-3f && fall > 0 ? 0 : 1;
}
