// Simulates bodies that all attract each other, in two ways. `simple`: each thread reads all bodies from global memory.
// `tiled`: the threads of a tile load the bodies together, tile_size bodies at a time.
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

static const int tile_size = 256;

// The position of a body in x, y, z, and its mass in w.
typedef float_4 body;

// The acceleration at a position due to the body `other`. Softening keeps it finite if bodies meet.
inline float_3 attraction(float_3 at, body other, float softening) restrict(amp) {
    const float_3 offset = other.xyz - at;
    const float inverse =
        fast_math::rsqrt(offset.x * offset.x + offset.y * offset.y + offset.z * offset.z + softening * softening);
    return offset * (other.w * inverse * inverse * inverse);
}

inline body moved(body self, float_3 velocity, float time) restrict(amp) {
    self.xyz += velocity * time;
    return self;
}

struct system_of_bodies {
    std::vector<body> bodies;
    std::vector<float_3> velocities;
};

struct parameters {
    float time_step, softening;
};

void step_simple(const array_view<const body, 1> &before, const array_view<body, 1> &after,
                 const array_view<float_3, 1> &velocities, parameters p) {
    const int count = before.extent[0];
    parallel_for_each(
        before.extent, [=](index<1> idx) restrict(amp) {
            const body self = before[idx];
            float_3 acceleration;
            for (int i = 0; i < count; i++)
                acceleration += attraction(self.xyz, before[i], p.softening);
            const float_3 velocity = velocities[idx] + acceleration * p.time_step;
            velocities[idx] = velocity;
            after[idx] = moved(self, velocity, p.time_step);
        });
}

void step_tiled(const array_view<const body, 1> &before, const array_view<body, 1> &after,
                const array_view<float_3, 1> &velocities, parameters p) {
    const int count = before.extent[0];
    parallel_for_each(
        before.extent.tile<tile_size>().pad(), [=](tiled_index<tile_size> tidx) restrict(amp) {
            tile_static body tile_bodies[tile_size];
            const int global = tidx.global[0];
            const body self = global < count ? before[global] : body();
            float_3 acceleration;
            for (int first = 0; first < count; first += tile_size) {
                const int loaded = first + tidx.local[0];
                tile_bodies[tidx.local[0]] = loaded < count ? before[loaded] : body(); // no mass
                tidx.barrier.wait();
                for (int i = 0; i < tile_size; i++)
                    acceleration += attraction(self.xyz, tile_bodies[i], p.softening);
                tidx.barrier.wait();
            }
            if (global < count) {
                const float_3 velocity = velocities[global] + acceleration * p.time_step;
                velocities[global] = velocity;
                after[global] = moved(self, velocity, p.time_step);
            }
        });
}

typedef void step_function(const array_view<const body, 1> &, const array_view<body, 1> &,
                           const array_view<float_3, 1> &, parameters);

void simulate(system_of_bodies &system, int steps, parameters p, step_function *step) {
    const int count = static_cast<int>(system.bodies.size());
    array<body, 1> first(count, system.bodies.begin(), system.bodies.end()), second(count);
    array_view<body, 1> before(first), after(second);
    array_view<float_3, 1> velocities(count, system.velocities);
    for (int i = 0; i < steps; i++) {
        after.discard_data();
        step(before, after, velocities, p);
        std::swap(before, after);
    }
    copy(before, system.bodies.begin());
    velocities.synchronize();
}

// The same simulation in double, on the host.
std::vector<double> simulate_on_host(const system_of_bodies &system, int steps, parameters p) {
    const std::size_t count = system.bodies.size();
    std::vector<double> at(3 * count), velocity(3 * count);
    for (std::size_t i = 0; i < count; i++) {
        at[3 * i] = system.bodies[i].x, at[3 * i + 1] = system.bodies[i].y, at[3 * i + 2] = system.bodies[i].z;
        velocity[3 * i] = system.velocities[i].x, velocity[3 * i + 1] = system.velocities[i].y;
        velocity[3 * i + 2] = system.velocities[i].z;
    }
    for (int s = 0; s < steps; s++) {
        for (std::size_t i = 0; i < count; i++)
            for (std::size_t j = 0; j < count; j++) {
                double offset[3], square = double(p.softening) * p.softening;
                for (std::size_t d = 0; d < 3; d++) {
                    offset[d] = at[3 * j + d] - at[3 * i + d];
                    square += offset[d] * offset[d];
                }
                const double factor = system.bodies[j].w / (square * std::sqrt(square)) * p.time_step;
                for (std::size_t d = 0; d < 3; d++)
                    velocity[3 * i + d] += offset[d] * factor;
            }
        for (std::size_t i = 0; i < at.size(); i++)
            at[i] += velocity[i] * p.time_step;
    }
    return at;
}

bool measure(const wchar_t *name, system_of_bodies system, int steps, parameters p, step_function *step,
             const std::vector<double> &expected) {
    const auto start = std::chrono::steady_clock::now();
    simulate(system, steps, p, step);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    bool right = true;
    for (std::size_t i = 0; i < system.bodies.size(); i++) {
        const body &b = system.bodies[i];
        right &= std::fabs(b.x - expected[3 * i]) <= 1e-4 && std::fabs(b.y - expected[3 * i + 1]) <= 1e-4 &&
                 std::fabs(b.z - expected[3 * i + 2]) <= 1e-4;
    }
    std::wcout << name << L": " << steps << L" steps in " << time.count() << L" ms, " << (right ? L"right" : L"WRONG")
               << std::endl;
    return right;
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
    if (count < 1 || count > 1 << 20) {
        std::wcerr << "usage: nbody [BODIES, 1 to 1048576]\n";
        return 2;
    }
    const int steps = 4;
    const parameters p = {0.01f, 0.05f};
    std::mt19937 engine(1);
    std::uniform_real_distribution<float> coordinate(-1.0f, 1.0f), speed(-0.1f, 0.1f);
    system_of_bodies system;
    for (int i = 0; i < count; i++) {
        const float x = coordinate(engine), y = coordinate(engine), z = coordinate(engine);
        system.bodies.push_back(body(x, y, z, 1.0f / static_cast<float>(count)));
        const float vx = speed(engine), vy = speed(engine), vz = speed(engine);
        system.velocities.push_back(float_3(vx, vy, vz));
    }
    const std::vector<double> expected = simulate_on_host(system, steps, p);

    std::wcout << count << L" bodies on " << accelerator().description << std::endl;
    bool right = measure(L"simple", system, steps, p, step_simple, expected);
    right &= measure(L"tiled", system, steps, p, step_tiled, expected);
    return right ? 0 : 1;
}
