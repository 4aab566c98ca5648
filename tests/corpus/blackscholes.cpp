//--------------------------------------------------------------------------------------
// File: BlackScholes.cpp
//
// Black-Scholes option pricing: single precision with fast_math, double precision with precise_math.
//--------------------------------------------------------------------------------------
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;

const int MAX_DATA_SIZE = 1 << 11;
const int TILE_SIZE = 64;

// The math functions for each number type
template <typename T> struct maths;
template <> struct maths<float> {
    static float exp(float x) restrict(amp) { return fast_math::exp(x); }
    static float log(float x) restrict(amp) { return fast_math::log(x); }
    static float sqrt(float x) restrict(amp) { return fast_math::sqrt(x); }
    static float fabs(float x) restrict(amp) { return fast_math::fabs(x); }
};
template <> struct maths<double> {
    static double exp(double x) restrict(amp) { return precise_math::exp(x); }
    static double log(double x) restrict(amp) { return precise_math::log(x); }
    static double sqrt(double x) restrict(amp) { return precise_math::sqrt(x); }
    static double fabs(double x) restrict(amp) { return precise_math::fabs(x); }
};

template <typename T> class blackscholes {
  public:
    blackscholes(T _volatility, T _riskfreerate, int _size);
    void execute();
    bool verify(T tolerance);
    ~blackscholes() {}

  private:
    template <typename M> static T cnd_calc(T d) restrict(amp);
    struct amp_functions : maths<T> {};
    T cnd_cpu(T d) const { return T(0.5) * erfc(-d / sqrt(T(2))); }

    int size;
    std::vector<T> stock_price, option_strike, option_years, call_result_amp, put_result_amp;
    T volatility, riskfreerate;
};

template <typename T>
blackscholes<T>::blackscholes(T _volatility, T _riskfreerate, int _size)
    : size(_size), volatility(_volatility), riskfreerate(_riskfreerate) {
    srand(2012);
    for (int i = 0; i < size; i++) {
        stock_price.push_back(T((float)rand()) / RAND_MAX * 25 + 5);
        option_strike.push_back(T((float)rand()) / RAND_MAX * 99 + 1);
        option_years.push_back(T((float)rand()) / RAND_MAX * T(9.75) + T(0.25));
    }
    call_result_amp.resize(size);
    put_result_amp.resize(size);
}

template <typename T> template <typename M> T blackscholes<T>::cnd_calc(T d) restrict(amp) {
    const T A1 = T(0.319381530), A2 = T(-0.356563782), A3 = T(1.781477937), A4 = T(-1.821255978), A5 = T(1.330274429);
    const T RSQRT2PI = T(0.39894228040143267793994605993438);
    T K = T(1.0) / (T(1.0) + T(0.2316419) * M::fabs(d));
    T cnd = RSQRT2PI * M::exp(-T(0.5) * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = T(1.0) - cnd;
    return cnd;
}

template <typename T> void blackscholes<T>::execute() {
    array<T, 1> a_stock_price(size, stock_price.begin());
    array<T, 1> a_option_strike(size, option_strike.begin());
    array<T, 1> a_option_years(size, option_years.begin());
    array<T, 1> a_call_result(size), a_put_result(size);
    const T riskfree = riskfreerate, vol = volatility;

    parallel_for_each(
        a_call_result.extent.template tile<TILE_SIZE>(),
        [ =, &a_stock_price, &a_option_strike, &a_option_years, &a_call_result, &
          a_put_result ](tiled_index<TILE_SIZE> tidx) restrict(amp) {
            const index<1> idx = tidx.global;
            const T price = a_stock_price[idx], strike = a_option_strike[idx], years = a_option_years[idx];
            const T sqrt_t = amp_functions::sqrt(years);
            const T d1 =
                (amp_functions::log(price / strike) + (riskfree + T(0.5) * vol * vol) * years) / (vol * sqrt_t);
            const T d2 = d1 - vol * sqrt_t;
            const T cnd_d1 = cnd_calc<amp_functions>(d1), cnd_d2 = cnd_calc<amp_functions>(d2);
            const T exp_rt = amp_functions::exp(-riskfree * years);
            a_call_result[idx] = price * cnd_d1 - strike * exp_rt * cnd_d2;
            a_put_result[idx] = strike * exp_rt * (T(1.0) - cnd_d2) - price * (T(1.0) - cnd_d1);
        });
    completion_future call = copy_async(a_call_result, call_result_amp.begin());
    completion_future put = copy_async(a_put_result, put_result_amp.begin());
    call.get();
    put.get();
}

template <typename T> bool blackscholes<T>::verify(T tolerance) {
    T worst = 0;
    for (int i = 0; i < size; i++) {
        const T sqrt_t = std::sqrt(option_years[i]);
        const T d1 = (std::log(stock_price[i] / option_strike[i]) +
                      (riskfreerate + T(0.5) * volatility * volatility) * option_years[i]) /
                     (volatility * sqrt_t);
        const T d2 = d1 - volatility * sqrt_t;
        const T exp_rt = std::exp(-riskfreerate * option_years[i]);
        const T call = stock_price[i] * cnd_cpu(d1) - option_strike[i] * exp_rt * cnd_cpu(d2);
        const T put = option_strike[i] * exp_rt * cnd_cpu(-d2) - stock_price[i] * cnd_cpu(-d1);
        worst = worse(worst, worse(std::fabs(call - call_result_amp[i]), std::fabs(put - put_result_amp[i])));
    }
    std::cout << sizeof(T) * 8 << " bits: largest error " << worst << std::endl;
    return worst < tolerance;
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    blackscholes<float> _blackscholes(0.3f, 0.02f, MAX_DATA_SIZE);
    _blackscholes.execute();
    bool ok = _blackscholes.verify(1e-3f);
    if (default_device.supports_double_precision) {
        blackscholes<double> in_double(0.3, 0.02, MAX_DATA_SIZE);
        in_double.execute();
        ok = in_double.verify(1e-4) && ok;
    }
    std::cout << (ok ? "PASSED" : "FAILED") << std::endl;
    return ok ? 0 : 1;
}
