// FFT by Stockham's algorithm, radix 2, in one and two dimensions. An object of class fft is a plan.
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <complex>
#include <iostream>
#include <memory>
#include <vector>

using namespace concurrency;

struct complexf {
    float re, im;
    complexf() restrict(amp, cpu) {}
    complexf(float r, float i) restrict(amp, cpu) : re(r), im(i) {}
    complexf operator+(const complexf &o) const restrict(amp, cpu) { return complexf(re + o.re, im + o.im); }
    complexf operator-(const complexf &o) const restrict(amp, cpu) { return complexf(re - o.re, im - o.im); }
    complexf operator*(const complexf &o) const restrict(amp, cpu) {
        return complexf(re * o.re - im * o.im, re * o.im + im * o.re);
    }
    complexf &operator*=(float s) restrict(amp, cpu) {
        re *= s;
        im *= s;
        return *this;
    }
};

enum fft_direction { forward = -1, inverse = 1 };

template <int dims> class fft {
    extent<dims> m_extent;
    std::unique_ptr<array<complexf, dims>> m_scratch;

  public:
    explicit fft(const extent<dims> &e) : m_extent(e), m_scratch(new array<complexf, dims>(e)) {
        for (int i = 0; i < dims; ++i)
            if (e[i] <= 0 || (e[i] & (e[i] - 1)))
                throw runtime_exception("the length is not a power of two", E_INVALIDARG);
    }

    void transform(array<complexf, dims> &data, fft_direction direction) {
        if (data.extent != m_extent) throw runtime_exception("the plan is of another shape", E_INVALIDARG);
        array_view<complexf, dims> from(data), to(*m_scratch);
        for (int d = 0; d < dims; ++d) {
            for (int half = 1; half < m_extent[d]; half *= 2) {
                step(from, to, d, half, direction);
                std::swap(from, to);
            }
        }
        if (direction == inverse) {
            const float scale = 1.0f / m_extent.size();
            array_view<complexf, dims> values(from);
            parallel_for_each(
                m_extent, [=](index<dims> i) restrict(amp) { values[i] *= scale; });
        }
        array_view<complexf, dims> destination(data);
        // an odd number of steps leaves the result in the other array
        int steps = 0;
        for (int d = 0; d < dims; ++d)
            for (int n = m_extent[d]; n > 1; n /= 2)
                ++steps;
        if (steps % 2) from.copy_to(destination);
    }

  private:
    void step(const array_view<complexf, dims> &from, const array_view<complexf, dims> &to, int dim, int half,
              fft_direction direction) {
        extent<dims> domain(m_extent);
        domain[dim] /= 2;
        const int n = m_extent[dim], sign = direction;
        to.discard_data();
        parallel_for_each(
            domain, [=](index<dims> idx) restrict(amp) {
                const int i = idx[dim];
                const int k = i % half;
                const float angle = sign * 3.14159265358979f * k / half;
                float s, c;
                fast_math::sincos(angle, &s, &c);
                index<dims> a(idx), b(idx);
                b[dim] += n / 2;
                const complexf u = from[a], v = from[b] * complexf(c, s);
                index<dims> out(idx);
                out[dim] = (i - k) * 2 + k;
                to[out] = u + v;
                out[dim] += half;
                to[out] = u - v;
            });
    }
};

double error_of(const std::vector<complexf> &a, const std::vector<std::complex<double>> &b) {
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i)
        worst = worse(worst, std::abs(std::complex<double>(a[i].re, a[i].im) - b[i]));
    return worst;
}

std::vector<std::complex<double>> dft(const std::vector<complexf> &x) {
    const size_t n = x.size();
    std::vector<std::complex<double>> out(n);
    for (size_t k = 0; k < n; ++k)
        for (size_t j = 0; j < n; ++j)
            out[k] += std::complex<double>(x[j].re, x[j].im) *
                      std::polar(1.0, -2 * 3.14159265358979323846 * double(j * k % n) / n);
    return out;
}

int main() {
    int failed = 0;
    for (int n : {2, 64, 256}) {
        std::vector<complexf> x(n);
        for (int i = 0; i < n; ++i)
            x[i] = complexf(float(rand() % 100) / 50 - 1, std::sin(0.3f * i));
        array<complexf> data(n, x.begin());
        fft<1> plan(data.extent);
        plan.transform(data, forward);
        std::vector<complexf> y = data;
        const double forward_error = error_of(y, dft(x));
        plan.transform(data, inverse);
        y = data;
        double round_trip_error = 0;
        for (int i = 0; i < n; ++i)
            round_trip_error =
                worse(round_trip_error, double(std::fabs(y[i].re - x[i].re) + std::fabs(y[i].im - x[i].im)));
        std::cout << n << " points: error " << forward_error << ", round trip " << round_trip_error << std::endl;
        failed += forward_error < 1e-3 && round_trip_error < 1e-5 ? 0 : 1;
    }

    // Two dimensions: a plane wave has one coefficient that is not zero
    const extent<2> e(16, 32);
    std::vector<complexf> wave(e.size());
    for (int y = 0; y < e[0]; ++y)
        for (int x = 0; x < e[1]; ++x) {
            const double phase = 2 * 3.14159265358979 * (3.0 * y / e[0] + 5.0 * x / e[1]);
            wave[y * e[1] + x] = complexf(float(std::cos(phase)), float(std::sin(phase)));
        }
    array<complexf, 2> image(e, wave.begin(), wave.end());
    fft<2>(e).transform(image, forward);
    array_view<const complexf, 2> spectrum(image);
    for (int y = 0; y < e[0]; ++y)
        for (int x = 0; x < e[1]; ++x) {
            const complexf c = spectrum(y, x);
            const float expected = y == 3 && x == 5 ? float(e.size()) : 0.0f;
            if (!(std::fabs(c.re - expected) <= 0.01f && std::fabs(c.im) <= 0.01f)) ++failed;
        }
    try {
        fft<1> invalid_plan(extent<1>(12));
        ++failed;
    } catch (const runtime_exception &e) {
        std::cout << "as expected: " << e.what() << " (" << std::hex << e.get_error_code() << ")" << std::endl;
        failed += e.get_error_code() == E_INVALIDARG ? 0 : 1;
    }
    std::cout << (failed ? "FAILED" : "PASSED") << std::endl;
    return failed ? 1 : 0;
}
