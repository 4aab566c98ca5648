// Computes pi and the price of an option by Monte Carlo, with a random-number generator per thread. The CPU checks pi.
#include "stdafx.h"
#include "timer.h"
#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <numeric>
#include <vector>

using namespace concurrency;

// xorshift128, seeded by a hash of the thread's number
class xorshift_rng {
    unsigned x, y, z, w;

    static unsigned wang_hash(unsigned seed) restrict(amp, cpu) {
        seed = (seed ^ 61) ^ (seed >> 16);
        seed *= 9;
        seed = seed ^ (seed >> 4);
        seed *= 0x27d4eb2d;
        seed = seed ^ (seed >> 15);
        return seed;
    }

  public:
    xorshift_rng() restrict(amp, cpu) { initialize(0); }
    explicit xorshift_rng(unsigned seed) restrict(amp, cpu) { initialize(seed); }
    void initialize(unsigned seed) restrict(amp, cpu) {
        x = wang_hash(seed) | 1;
        y = wang_hash(x);
        z = wang_hash(y);
        w = wang_hash(z);
    }
    unsigned next_uint() restrict(amp, cpu) {
        unsigned t = x ^ (x << 11);
        x = y;
        y = z;
        z = w;
        return w = w ^ (w >> 19) ^ (t ^ (t >> 8));
    }
    float next_single() restrict(amp, cpu) { return (next_uint() >> 8) * (1.0f / 16777216.0f); }
};

// The state of the generators is on the accelerator, as in libraries for random numbers.
template <typename rng, int rank> class rng_collection {
    array_view<rng, rank> m_rng_av;
    extent<rank> m_extent;

  public:
    rng_collection(const extent<rank> &e, unsigned seed) : m_rng_av(e), m_extent(e) {
        array_view<rng, rank> states(m_rng_av);
        states.discard_data();
        parallel_for_each(
            e, [=](index<rank> idx) restrict(amp) {
                rng r(seed + idx[rank - 1]);
                states[idx] = r;
            });
    }
    rng &operator[](const index<rank> &idx) const restrict(amp) { return m_rng_av[idx]; }
    extent<rank> get_extent() const { return m_extent; }
};

// A normally distributed number from two uniform ones (Box-Muller)
inline float normal(xorshift_rng &rng) restrict(amp) {
    const float u1 = 1.0f - rng.next_single(), u2 = rng.next_single();
    return fast_math::sqrtf(-2.0f * fast_math::log(u1)) * fast_math::cos(6.2831853f * u2);
}

int main() {
    int failed = 0;
    const int threads = 1024, samples = 256;
    const unsigned seed = 5489;

    // pi
    rng_collection<xorshift_rng, 1> generators(extent<1>(threads), seed);
    std::vector<int> hits(threads);
    array_view<int> av_hits(threads, hits);
    av_hits.discard_data();
    Timer timer;
    timer.Start();
    parallel_for_each(
        generators.get_extent(), [=](index<1> idx) restrict(amp) {
            xorshift_rng rng = generators[idx];
            int count = 0;
            for (int i = 0; i < samples; ++i) {
                const float x = rng.next_single(), y = rng.next_single();
                if (x * x + y * y < 1.0f) count++;
            }
            av_hits[idx] = count;
            generators[idx] = rng;
        });
    av_hits.synchronize();
    timer.Stop();
    const double pi = 4.0 * std::accumulate(hits.begin(), hits.end(), 0) / (double(threads) * samples);
    std::cout << "pi is about " << pi << " (" << timer.Elapsed() << " ms)" << std::endl;
    for (int t = 0; t < threads; ++t) {
        xorshift_rng rng(seed + t);
        int count = 0;
        for (int i = 0; i < samples; ++i) {
            const float x = rng.next_single(), y = rng.next_single();
            if (x * x + y * y < 1.0f) count++;
        }
        // with a fused multiply-add, a point on the circle may fall to either side
        if (abs(count - hits[t]) > 1) ++failed;
    }
    if (!(fabs(pi - 3.14159265) <= 0.02)) ++failed;

    // Compares the simulated price of a European call with the Black-Scholes formula.
    const float spot = 100.0f, strike = 105.0f, rate = 0.03f, volatility = 0.2f, time = 1.0f;
    array<float> sums(threads);
    parallel_for_each(
        sums.extent, [ =, &sums ](index<1> idx) restrict(amp) {
            xorshift_rng rng(generators[idx]);
            const float drift = (rate - 0.5f * volatility * volatility) * time;
            float sum = 0;
            for (int i = 0; i < samples; ++i) {
                const float end = spot * fast_math::exp(drift + volatility * fast_math::sqrt(time) * normal(rng));
                sum += fast_math::fmax(end - strike, 0.0f);
            }
            sums[idx] = sum / samples;
        });
    std::vector<float> host(sums);
    const double price = std::accumulate(host.begin(), host.end(), 0.0) / threads * exp(-rate * time);
    auto cnd = [](double x) { return 0.5 * erfc(-x / sqrt(2.0)); };
    const double d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / (volatility * sqrt(time));
    const double exact = spot * cnd(d1) - strike * exp(-rate * time) * cnd(d1 - volatility * sqrt(time));
    std::cout << "The option is worth " << price << ", by the formula " << exact << std::endl;
    if (!(fabs(price - exact) < 0.15)) ++failed;
    std::cout << (failed ? "FAILED" : "PASSED") << std::endl;
    return failed ? 1 : 0;
}
