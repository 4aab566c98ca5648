// Sobol's quasi-random numbers from captured direction vectors: checks their even distribution and an integral.
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;

const int dimensions = 4;
const int bits = 32;

class sobol_directions {
  public:
    unsigned v[dimensions][bits];

    sobol_directions() {
        // the polynomials and initial values of Joe and Kuo
        static const struct {
            int degree;
            unsigned a;
            unsigned m[4];
        } table[dimensions - 1] = {{1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}};
        for (int i = 0; i < bits; ++i)
            v[0][i] = 1u << (31 - i);
        for (int d = 1; d < dimensions; ++d) {
            const int s = table[d - 1].degree;
            for (int i = 0; i < bits; ++i) {
                if (i < s) {
                    v[d][i] = table[d - 1].m[i] << (31 - i);
                } else {
                    v[d][i] = v[d][i - s] ^ (v[d][i - s] >> s);
                    for (int k = 1; k < s; ++k)
                        v[d][i] ^= (((table[d - 1].a >> (s - 1 - k)) & 1) * v[d][i - k]);
                }
            }
        }
    }

    unsigned at(int dimension, unsigned n) const restrict(amp, cpu) {
        unsigned x = 0;
        for (unsigned g = n ^ (n >> 1), i = 0; g; g >>= 1, ++i)
            if (g & 1) x ^= v[dimension][i];
        return x;
    }
};

class sobol_stream {
    sobol_directions m_directions;

  public:
    float operator()(int dimension, unsigned n) const restrict(amp, cpu) {
        return static_cast<float>(m_directions.at(dimension, n) >> 8) * (1.0f / 16777216.0f);
    }
    const sobol_directions &directions() const { return m_directions; }
};

int main() {
    const int count = 1 << 12;
    const sobol_stream stream;
    std::wcout << L"Device: " << accelerator().description << std::endl;

    array<unsigned, 2> numbers(dimensions, count);
    const sobol_directions directions = stream.directions();
    parallel_for_each(
        numbers.extent,
        [ directions, &numbers ](index<2> idx) restrict(amp) { numbers[idx] = directions.at(idx[0], idx[1]); });
    std::vector<unsigned> host = numbers;
    int failed = 0;
    for (int d = 0; d < dimensions; ++d) {
        // Each of 64 intervals holds the same number of points
        std::vector<int> cells(64);
        for (int i = 0; i < count; ++i) {
            const unsigned x = host[d * count + i];
            failed += x == directions.at(d, i) ? 0 : 1;
            cells[x >> 26]++;
        }
        for (int c : cells)
            failed += c == count / 64 ? 0 : 1;
    }
    std::wcout << L"numbers: " << (failed ? L"WRONG" : L"right, and evenly distributed") << std::endl;

    // The volume of the unit ball in four dimensions
    std::vector<int> inside(count / 64);
    array_view<int> inside_vw(inside);
    inside_vw.discard_data();
    parallel_for_each(
        inside_vw.extent, [=](index<1> idx) restrict(amp) {
            int hits = 0;
            for (int i = 0; i < 64; ++i) {
                float r = 0;
                for (int d = 0; d < dimensions; ++d) {
                    const float x = stream(d, idx[0] * 64 + i) * 2.0f - 1.0f;
                    r += x * x;
                }
                if (r < 1.0f) ++hits;
            }
            inside_vw[idx] = hits;
        });
    int hits = 0;
    for (int i = 0; i < inside_vw.extent[0]; ++i)
        hits += inside_vw[i];
    const double volume = 16.0 * hits / count, exact = 3.14159265358979 * 3.14159265358979 / 2;
    std::wcout << L"volume of the ball: " << volume << L", exactly " << exact << std::endl;
    return failed == 0 && std::fabs(volume - exact) < 0.05 ? 0 : 1;
}
