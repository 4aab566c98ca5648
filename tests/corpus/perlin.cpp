// Perlin noise and fractal sums. The permutation is an array_view member of a functor class. The kernel uses functions
// of concurrency::direct3d.
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <amp_math.h>
#include <iostream>
#include <random>
#include <vector>

using namespace concurrency;

class perlin_noise {
    array_view<const int> m_permutation;

    static float fade(float t) restrict(amp, cpu) { return t * t * t * (t * (t * 6 - 15) + 10); }
    static float lerp(float t, float a, float b) restrict(amp, cpu) { return a + t * (b - a); }
    static float grad(int hash, float x, float y, float z) restrict(amp, cpu) {
        const int h = hash & 15;
        const float u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
        return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
    }
    static int floor_of(float x) restrict(amp, cpu) { return int(x) - (x < 0 && x != int(x) ? 1 : 0); }

  public:
    explicit perlin_noise(const std::vector<int> &permutation)
        : m_permutation(static_cast<int>(permutation.size()), permutation) {}

    float operator()(float x, float y, float z) const restrict(amp, cpu) {
        const int fx = floor_of(x), fy = floor_of(y), fz = floor_of(z);
        const int X = fx & 255, Y = fy & 255, Z = fz & 255;
        x -= fx;
        y -= fy;
        z -= fz;
        const float u = fade(x), v = fade(y), w = fade(z);
        const array_view<const int> &p = m_permutation;
        const int A = p[X] + Y, AA = p[A] + Z, AB = p[A + 1] + Z, B = p[X + 1] + Y, BA = p[B] + Z, BB = p[B + 1] + Z;
        return lerp(w,
                    lerp(v, lerp(u, grad(p[AA], x, y, z), grad(p[BA], x - 1, y, z)),
                         lerp(u, grad(p[AB], x, y - 1, z), grad(p[BB], x - 1, y - 1, z))),
                    lerp(v, lerp(u, grad(p[AA + 1], x, y, z - 1), grad(p[BA + 1], x - 1, y, z - 1)),
                         lerp(u, grad(p[AB + 1], x, y - 1, z - 1), grad(p[BB + 1], x - 1, y - 1, z - 1))));
    }
};

template <int octaves> struct fractal {
    perlin_noise noise;
    float lacunarity, gain;

    float operator()(float x, float y, float z) const restrict(amp, cpu) {
        float sum = 0, amplitude = 1;
        for (int i = 0; i < octaves; ++i) {
            sum += amplitude * noise(x, y, z);
            x *= lacunarity;
            y *= lacunarity;
            z *= lacunarity;
            amplitude *= gain;
        }
        return sum;
    }
};

int main() {
    std::vector<int> permutation(256);
    for (int i = 0; i < 256; ++i)
        permutation[i] = i;
    std::shuffle(permutation.begin(), permutation.end(), std::mt19937(4));
    permutation.insert(permutation.end(), permutation.begin(), permutation.begin() + 256);

    const int depth = 4, height = 24, width = 32;
    std::vector<float> volume(depth * height * width);
    fractal<4> f = {perlin_noise(permutation), 2.0f, 0.5f};
    array_view<float, 3> av(depth, height, width, volume);
    av.discard_data();
    parallel_for_each(
        av.extent, [=](index<3> idx) restrict(amp) {
            const float n = f(idx[2] * 0.13f - 1.7f, idx[1] * 0.17f - 2.1f, idx[0] * 0.31f);
            // from [-1, 1] to [0, 1], smoothly
            av[idx] = direct3d::smoothstep(0.0f, 1.0f, direct3d::saturate(0.5f + 0.5f * n));
        });

    // a slice is a view too
    array_view<float, 2> slice = av[2];
    float lowest = 1, highest = 0, worst = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const float n = 0.5f + 0.5f * f(x * 0.13f - 1.7f, y * 0.17f - 2.1f, 2 * 0.31f);
            const float t = std::min(std::max(n, 0.0f), 1.0f);
            worst = worse(worst, std::abs(slice(y, x) - t * t * (3 - 2 * t)));
            lowest = std::min(lowest, slice(y, x));
            highest = std::max(highest, slice(y, x));
            if (y % 3 == 0) std::cout << " .:-=+*#%@"[int(slice(y, x) * 9.99f)];
        }
        if (y % 3 == 0) std::cout << std::endl;
    }
    std::cout << "from " << lowest << " to " << highest << ", largest difference " << worst << std::endl;
    return worst < 1e-4f && lowest < 0.35f && highest > 0.65f ? 0 : 1;
}
