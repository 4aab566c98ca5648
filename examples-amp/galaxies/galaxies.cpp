// Simulates two galaxies that meet. Each thread computes one body, which all other bodies attract; the threads of a
// tile load the other bodies together. The picture shows the paths of the bodies: one galaxy is red, the other blue.
#include <amp.h>
#include <amp_math.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

using namespace concurrency;

static const int tile_size = 128, bodies = 1024, all_steps = 160;
static const float time_step = 0.008f, softening = 0.1f;

struct body {
    float x, y, z, mass, vx, vy, vz;
};

// Adds a heavy body, and a disc of light bodies that circle it.
static void add_galaxy(std::vector<body> &all, body centre, int count, float direction, std::mt19937 &engine) {
    std::uniform_real_distribution<float> fraction(0.0f, 1.0f);
    all.push_back(centre);
    for (int i = 1; i < count; i++) {
        const float radius = 0.1f + 0.5f * std::sqrt(fraction(engine)), angle = 6.2831853f * fraction(engine);
        const float speed = direction * std::sqrt(centre.mass / radius);
        const float height = 0.04f * (fraction(engine) - 0.5f);
        all.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle), height, 1e-5f,
                       centre.vx - speed * std::sin(angle), centre.vy + speed * std::cos(angle), 0});
    }
}

static void step(const array_view<const body> &before, const array_view<body> &after) {
    after.discard_data();
    parallel_for_each(
        after.extent.tile<tile_size>(), [=](tiled_index<tile_size> t) restrict(amp) {
            tile_static body tile_bodies[tile_size];
            body self = before[t.global];
            float ax = 0, ay = 0, az = 0;
            for (int first = 0; first < bodies; first += tile_size) {
                tile_bodies[t.local[0]] = before[first + t.local[0]];
                t.barrier.wait();
                for (int i = 0; i < tile_size; i++) {
                    const float dx = tile_bodies[i].x - self.x, dy = tile_bodies[i].y - self.y,
                                dz = tile_bodies[i].z - self.z;
                    const float inverse = fast_math::rsqrt(dx * dx + dy * dy + dz * dz + softening * softening);
                    const float pull = tile_bodies[i].mass * inverse * inverse * inverse;
                    ax += pull * dx, ay += pull * dy, az += pull * dz;
                }
                t.barrier.wait();
            }
            self.vx += time_step * ax, self.vy += time_step * ay, self.vz += time_step * az;
            self.x += time_step * self.vx, self.y += time_step * self.vy, self.z += time_step * self.vz;
            after[t.global] = self;
        });
}

// Adds the light of each body to a picture that shows an area of 4 by 3.
static void expose(const array_view<const body> &all, const array_view<float, 2> &red,
                   const array_view<float, 2> &blue) {
    const int width = red.extent[1], height = red.extent[0];
    for (int i = 0; i < bodies; i++) {
        const int column = int(float(width) * (all[i].x + 2) / 4), row = int(float(height) * (1.5f - all[i].y) / 3);
        if (column >= 0 && column < width && row >= 0 && row < height) (i < bodies / 2 ? red : blue)(row, column) += 1;
    }
}

static double momentum(const array_view<const body> &all) {
    double x = 0, y = 0;
    for (int i = 0; i < bodies; i++) {
        x += double(all[i].mass) * double(all[i].vx);
        y += double(all[i].mass) * double(all[i].vy);
    }
    return std::hypot(x, y);
}

int main(int argc, char **argv) {
    const int width = 640, height = 480;
    std::mt19937 engine(1);
    std::vector<body> start;
    add_galaxy(start, {-0.8f, -0.3f, 0, 1, 0.45f, 0.1f, 0}, bodies / 2, 1, engine);
    add_galaxy(start, {0.8f, 0.3f, 0, 1, -0.45f, -0.1f, 0}, bodies / 2, -1, engine);

    std::vector<float> light_of[2] = {std::vector<float>(width * height), std::vector<float>(width * height)};
    array_view<float, 2> red(height, width, light_of[0]), blue(height, width, light_of[1]);
    array<body> first(bodies, start.begin()), second(bodies);
    array_view<body> before(first), after(second);
    const double momentum_before = momentum(before);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < all_steps; i++) {
        step(before, after);
        std::swap(before, after);
        expose(before, red, blue);
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begun;

    std::ofstream file(argc > 1 ? argv[1] : "galaxies.ppm", std::ios::binary);
    file << "P6 " << width << " " << height << " 255\n";
    for (int i = 0; i < width * height; i++) {
        const float r = light_of[0][std::size_t(i)], b = light_of[1][std::size_t(i)], both = 12 * (r + b);
        for (float light : {both + 48 * r, both, both + 48 * b})
            file.put(char(std::min(int(light), 255)));
    }

    // Momentum is conserved: each body's gain is another's loss.
    const double drift = std::fabs(momentum(before) - momentum_before);
    const float total = std::accumulate(light_of[0].begin(), light_of[0].end(), 0.0f);
    std::wcout << accelerator().description << L": " << bodies << L" bodies, " << all_steps << L" steps in "
               << time.count() << L" ms; the momentum drifted by " << drift << std::endl;
    return file && drift < 1e-3 && total > 0.5f * float(bodies / 2) * float(all_steps) ? 0 : 1;
}
