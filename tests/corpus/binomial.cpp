//--------------------------------------------------------------------------------------
// File: BinomialOptions.cpp
//
// Binomial option pricing: one tile per option, with sections of the tree cached in tile_static memory.
//--------------------------------------------------------------------------------------
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <cassert>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;

#define MAX_OPTIONS (24)
#define NUM_STEPS (128)
#define TIME_STEPS (4)
#define CACHE_DELTA (2 * TIME_STEPS)
#define CACHE_SIZE (64)
#define CACHE_STEP (CACHE_SIZE - CACHE_DELTA)

#if NUM_STEPS % CACHE_DELTA
#error Bad constants
#endif

const float RISKFREE = 0.06f;
const float VOLATILITY = 0.10f;

struct option_data {
    float stock_price;
    float option_strike;
    float option_years;
};

class binomial_options {
  public:
    binomial_options();
    void execute();
    bool verify();

  private:
    static float expiry_call_value(float s, float x, float vdt, int t) restrict(amp, cpu) {
        float d = s * fast_math::exp(vdt * (2.0f * t - NUM_STEPS)) - x;
        return (d > 0) ? d : 0;
    }
    static void binomial_options_kernel(tiled_index<CACHE_SIZE> &tidx, float s, float x, float vdt, float pu_by_df,
                                        float pd_by_df, array_view<float, 1> call_value,
                                        array_view<float, 2> call_buffer) restrict(amp);
    static float cpu_price(const option_data &o);

    std::vector<option_data> options;
    std::vector<float> v_call_value;
};

binomial_options::binomial_options() : v_call_value(MAX_OPTIONS) {
    srand(2011);
    auto rand_float = [](float low, float high) { return low + (high - low) * (rand() / (float)RAND_MAX); };
    for (int i = 0; i < MAX_OPTIONS; i++) {
        option_data o = {rand_float(5.0f, 30.0f), rand_float(1.0f, 100.0f), rand_float(0.25f, 10.0f)};
        options.push_back(o);
    }
}

void binomial_options::binomial_options_kernel(tiled_index<CACHE_SIZE> &tidx, float s, float x, float vdt,
                                               float pu_by_df, float pd_by_df, array_view<float, 1> call_value,
                                               array_view<float, 2> call_buffer) restrict(amp) {
    // An extra element, so that the last thread may read its neighbour
    tile_static float call_a[CACHE_SIZE + 1];
    tile_static float call_b[CACHE_SIZE + 1];

    array_view<float, 1> buf = call_buffer[tidx.tile[0]];
    const int tid = tidx.local[0];

    // Values at expiry
    for (int i = tid; i <= NUM_STEPS; i += CACHE_SIZE)
        buf[i] = expiry_call_value(s, x, vdt, i);
    tidx.barrier.wait();

    // Walk down the tree
    for (int i = NUM_STEPS; i > 0; i -= CACHE_DELTA) {
        for (int c_base = 0; c_base < i; c_base += CACHE_STEP) {
            // Start and end positions within the shared memory cache
            int c_start = i - c_base < CACHE_SIZE - 1 ? i - c_base : CACHE_SIZE - 1;
            int c_end = c_start - CACHE_DELTA;

            tidx.barrier.wait();
            if (tid <= c_start) call_a[tid] = buf[c_base + tid];

            for (int k = c_start - 1; k >= c_end;) {
                tidx.barrier.wait();
                call_b[tid] = pu_by_df * call_a[tid + 1] + pd_by_df * call_a[tid];
                k--;
                tidx.barrier.wait();
                call_a[tid] = pu_by_df * call_b[tid + 1] + pd_by_df * call_b[tid];
                k--;
            }
            tidx.barrier.wait();
            if (tid <= c_end) buf[c_base + tid] = call_a[tid];
        }
    }
    if (tid == 0) call_value[tidx.tile] = call_a[0];
}

void binomial_options::execute() {
    array_view<const option_data> av_options(options);
    array_view<float, 1> av_call_value(MAX_OPTIONS, v_call_value);
    array<float, 2> a_call_buffer(MAX_OPTIONS, (NUM_STEPS + 16));
    array_view<float, 2> call_buffer(a_call_buffer);
    av_call_value.discard_data();

    extent<1> e(CACHE_SIZE * MAX_OPTIONS);
    parallel_for_each(
        e.tile<CACHE_SIZE>(), [=](tiled_index<CACHE_SIZE> tidx) restrict(amp) {
            const option_data o = av_options[tidx.tile];
            const float dt = o.option_years / NUM_STEPS;
            const float vdt = VOLATILITY * fast_math::sqrt(dt);
            const float rdt = RISKFREE * dt;
            const float if_ = fast_math::exp(rdt);
            const float df = fast_math::exp(-rdt);
            const float u = fast_math::exp(vdt);
            const float d = fast_math::exp(-vdt);
            const float pu = (if_ - d) / (u - d);
            const float pd = 1.0f - pu;
            binomial_options_kernel(tidx, o.stock_price, o.option_strike, vdt, pu * df, pd * df, av_call_value,
                                    call_buffer);
        });
    av_call_value.synchronize();
}

float binomial_options::cpu_price(const option_data &o) {
    const double dt = o.option_years / (double)NUM_STEPS, vdt = VOLATILITY * sqrt(dt), rdt = RISKFREE * dt;
    const double u = exp(vdt), d = exp(-vdt), df = exp(-rdt);
    const double pu = (exp(rdt) - d) / (u - d), pd = 1.0 - pu;
    double call[NUM_STEPS + 1];
    for (int i = 0; i <= NUM_STEPS; i++) {
        const double v = o.stock_price * exp(vdt * (2.0 * i - NUM_STEPS)) - o.option_strike;
        call[i] = v > 0 ? v : 0;
    }
    for (int i = NUM_STEPS; i > 0; i--)
        for (int j = 0; j <= i - 1; j++)
            call[j] = pu * df * call[j + 1] + pd * df * call[j];
    return (float)call[0];
}

bool binomial_options::verify() {
    double sum_delta = 0, sum_ref = 0;
    for (int i = 0; i < MAX_OPTIONS; i++) {
        const float ref = cpu_price(options[i]);
        sum_delta += fabs(ref - v_call_value[i]);
        sum_ref += fabs(ref);
    }
    std::cout << "L1 norm: " << sum_delta / sum_ref << std::endl;
    const bool ok = sum_delta / sum_ref < 1e-3;
    std::cout << (ok ? "CPU and GPU values match" : "CPU and GPU values don't match") << std::endl;
    return ok;
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    if (default_device == accelerator(accelerator::direct3d_ref))
        std::cout << "WARNING!! Running on very slow emulator! Only use this accelerator for debugging." << std::endl;
    binomial_options b_options;
    b_options.execute();
    return b_options.verify() ? 0 : 1;
}
