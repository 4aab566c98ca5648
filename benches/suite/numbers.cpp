// The family `numbers` of the kernel suite: arithmetic (maths functions, iterations, random numbers, finance).
#include "family.h"

namespace SUITE_FAMILY {
namespace {

// Many maths functions for each element.
void functions_data(Problem &p) {
    const int n = p.pick(1 << 14, 1 << 23);
    p.n = {n};
    p.floats(n, 0.1f, 2.0f), p.out<float>(n);
    p.tolerance = 1e-4;
}
void functions_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++) {
        const float x = p.at<float>(0)[i];
        float sum = 0;
        for (int k = 1; k <= 4; k++) {
            const float y = x * k;
            sum += std::exp(-y) * std::sin(y) + std::log(y) * std::cos(y) + std::sqrt(y) + std::pow(y, 0.3f) +
                   std::tanh(y);
        }
        p.at<float>(1)[i] = sum;
    }
}
void functions(Arrays &d) {
    const int n = d.n[0];
    array_view<const float> in(d.get<float>(0, n));
    array_view<float> out(d.get<float>(1, n));
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) {
            const float x = in[i];
            float sum = 0;
            for (int k = 1; k <= 4; k++) {
                const float y = x * k;
                sum += math::exp(-y) * math::sin(y) + math::log(y) * math::cos(y) + math::sqrt(y) + math::pow(y, 0.3f) +
                       math::tanh(y);
            }
            out[i] = sum;
        });
}

// A chain of functors over an array.
struct Scale {
    float by;
    float operator()(float x) const restrict(amp, cpu) { return x * by; }
};
struct Shift {
    float by;
    float operator()(float x) const restrict(amp, cpu) { return x + by; }
};
struct Clamp {
    float low, high;
    float operator()(float x) const restrict(amp, cpu) { return x < low ? low : x > high ? high : x; }
};
template <class F, class G> struct Chain {
    F f;
    G g;
    float operator()(float x) const restrict(amp, cpu) { return g(f(x)); }
};
template <class F, class G> Chain<F, G> then(F f, G g) {
    return {f, g};
}
template <class F> struct Apply {
    const array<float> &in;
    array<float> &out;
    F f;
    Apply(const array<float> &from, array<float> &to, F function) : in(from), out(to), f(function) {}
    void operator()(index<1> i) const restrict(amp) { out[i] = f(in[i]); }
};
auto chain_of() {
    return then(then(then(Scale{1.5f}, Shift{-0.25f}), Clamp{0, 1}), then(Scale{255}, Shift{0.5f}));
}
void chain_data(Problem &p) {
    const int n = p.pick(1 << 18, 1 << 25);
    p.n = {n};
    p.floats(n), p.out<float>(n);
    p.bytes = 8.0 * n, p.tolerance = 1e-5;
}
void chain_cpu(Problem &p) {
    const auto f = chain_of();
    for (int i = 0; i < p.n[0]; i++)
        p.at<float>(1)[i] = f(p.at<float>(0)[i]);
}
void chain(Arrays &d) {
    const int n = d.n[0];
    const auto f = chain_of();
    const array<float> &in = d.get<float>(0, n);
    array<float> &out = d.get<float>(1, n);
    const Apply<decltype(chain_of())> kernel(in, out, f);
    parallel_for_each(out.extent, kernel);
}

void mandelbrot_data(Problem &p) {
    const int n = p.pick(128, 4096);
    p.n = {n, p.pick(64, 256)};
    p.out<int>(size_t(n) * n);
    p.wrong_share = 0.01;
}
int mandelbrot_at(float cx, float cy, int max_iterations) restrict(amp, cpu) {
    float x = 0, y = 0;
    int k = 0;
    while (k < max_iterations && x * x + y * y < 4.0f) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        k++;
    }
    return k;
}
void mandelbrot_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n * n; i++)
        p.at<int>(0)[i] = mandelbrot_at(-2.0f + 2.5f * (i % n) / n, -1.25f + 2.5f * (i / n) / n, p.n[1]);
}
void mandelbrot(Arrays &d) {
    const int n = d.n[0], max_iterations = d.n[1];
    array_view<int, 2> out(d.get<int>(0, n, n));
    parallel_for_each(
        out.extent, [=](index<2> i) restrict(amp) {
            out[i] = mandelbrot_at(-2.0f + 2.5f * i[1] / n, -1.25f + 2.5f * i[0] / n, max_iterations);
        });
}

// Prices an Asian option by Monte Carlo simulation, with one path for each thread. A small generator and the Box-Muller
// method give the random numbers of each path.
void monte_carlo_data(Problem &p) {
    const int n = p.pick(1 << 11, 1 << 19);
    p.n = {n, 32};
    p.out<float>(n);
    p.tolerance = 2e-3, p.wrong_share = 0.001;
}
unsigned step(unsigned &state) restrict(amp, cpu) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}
void monte_carlo_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++) {
        unsigned state = i * 747796405U + 2891336453U;
        float price = 100, sum = 0;
        for (int k = 0; k < p.n[1]; k++) {
            const float u = ((step(state) >> 8) + 1) * (1.0f / 16777217.0f),
                        v = (step(state) >> 8) * (1.0f / 16777216.0f);
            const float normal = std::sqrt(-2.0f * std::log(u)) * std::cos(6.2831853f * v);
            price *= std::exp(0.0005f + 0.02f * normal);
            sum += price;
        }
        p.at<float>(0)[i] = std::fmax(sum / p.n[1] - 100.0f, 0.0f);
    }
}
void monte_carlo(Arrays &d) {
    const int n = d.n[0], steps = d.n[1];
    array<float> &out = d.get<float>(0, n);
    parallel_for_each(
        out.extent, [&out, steps ](index<1> i) restrict(amp) {
            unsigned state = i[0] * 747796405U + 2891336453U;
            float price = 100, sum = 0;
            for (int k = 0; k < steps; k++) {
                const float u = ((step(state) >> 8) + 1) * (1.0f / 16777217.0f),
                            v = (step(state) >> 8) * (1.0f / 16777216.0f);
                const float normal = math::sqrt(-2.0f * math::log(u)) * math::cos(6.2831853f * v);
                price *= math::exp(0.0005f + 0.02f * normal);
                sum += price;
            }
            out[i] = math::fmax(sum / steps - 100.0f, 0.0f);
        });
}

// A random generator with 128 bits of state. Each thread generates 16 numbers.
void xorshift_data(Problem &p) {
    const int n = p.pick(1 << 14, 1 << 22);
    p.n = {n};
    p.out<unsigned>(16 * size_t(n));
    p.bytes = 64.0 * n;
}
struct Xorshift {
    unsigned x, y, z, w;
    explicit Xorshift(unsigned seed) restrict(amp, cpu)
        : x(seed * 1664525U + 1U), y(seed ^ 362436069U), z(521288629U), w(88675123U) {}
    unsigned next() restrict(amp, cpu) {
        const unsigned t = x ^ (x << 11);
        x = y;
        y = z;
        z = w;
        w = w ^ (w >> 19) ^ t ^ (t >> 8);
        return w;
    }
};
void xorshift_cpu(Problem &p) {
    for (int i = 0; i < p.n[0]; i++) {
        Xorshift generator(i);
        for (int k = 0; k < 16; k++)
            p.at<unsigned>(0)[size_t(k) * p.n[0] + i] = generator.next();
    }
}
void xorshift(Arrays &d) {
    const int n = d.n[0];
    array_view<unsigned, 2> out(d.get<unsigned>(0, 16, n));
    parallel_for_each(
        extent<1>(n), [=](index<1> i) restrict(amp) {
            Xorshift generator(i[0]);
            for (int k = 0; k < 16; k++)
                out(k, i[0]) = generator.next();
        });
}

void black_scholes_data(Problem &p) {
    const int n = p.pick(1 << 15, 1 << 24);
    p.n = {n};
    p.floats(n, 5, 30), p.floats(n, 1, 100), p.floats(n, 0.25f, 10), p.out<float>(n), p.out<float>(n);
    p.bytes = 20.0 * n, p.tolerance = 1e-4;
}
template <class T> T normal_tail(T k, T square) restrict(amp, cpu) {
    return square * k *
           (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
}
void black_scholes_cpu(Problem &p) {
    auto cnd = [](float x) {
        const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(x));
        const float tail = normal_tail(k, 0.39894228f * std::exp(-0.5f * x * x));
        return x > 0 ? 1.0f - tail : tail;
    };
    for (int i = 0; i < p.n[0]; i++) {
        const float s = p.at<float>(0)[i], x = p.at<float>(1)[i], t = p.at<float>(2)[i], root = std::sqrt(t);
        const float d1 = (std::log(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
        const float discount = std::exp(-0.02f * t);
        p.at<float>(3)[i] = s * cnd(d1) - x * discount * cnd(d2);
        p.at<float>(4)[i] = x * discount * (1.0f - cnd(d2)) - s * (1.0f - cnd(d1));
    }
}
float cumulative(float x) restrict(amp) {
    const float k = 1.0f / (1.0f + 0.2316419f * math::fabs(x));
    const float tail = normal_tail(k, 0.39894228f * math::exp(-0.5f * x * x));
    return x > 0 ? 1.0f - tail : tail;
}
void black_scholes(Arrays &d) {
    const int n = d.n[0];
    array_view<const float> price(d.get<float>(0, n)), strike(d.get<float>(1, n)), years(d.get<float>(2, n));
    array_view<float> call(d.get<float>(3, n)), put(d.get<float>(4, n));
    const float rate = 0.02f, volatility = 0.3f;
    parallel_for_each(
        price.extent, [=](index<1> i) restrict(amp) {
            const float s = price[i], x = strike[i], t = years[i], root = math::sqrt(t);
            const float d1 = (math::log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
            const float d2 = d1 - volatility * root;
            const float discount = math::exp(-rate * t), c1 = cumulative(d1), c2 = cumulative(d2);
            call[i] = s * c1 - x * discount * c2;
            put[i] = x * discount * (1.0f - c2) - s * (1.0f - c1);
        });
}

// Prices options with a binomial tree of 255 steps. Each tile computes one option.
void binomial_data(Problem &p) {
    const int n = p.pick(1 << 5, 1 << 14);
    p.n = {n};
    p.floats(n, 5, 30), p.floats(n, 5, 30), p.out<float>(n);
    p.tolerance = 1e-3;
}
void binomial_cpu(Problem &p) {
    const float up = std::exp(0.3f * std::sqrt(1.0f / 255)), down = 1 / up, growth = std::exp(0.02f / 255);
    const float pu = (growth - down) / (up - down), a = pu / growth, b = (1 - pu) / growth;
    for (int o = 0; o < p.n[0]; o++) {
        float value[256];
        for (int i = 0; i < 256; i++)
            value[i] = std::fmax(
                p.at<float>(0)[o] * std::exp(0.3f * std::sqrt(1.0f / 255) * (2 * i - 255)) - p.at<float>(1)[o], 0.0f);
        for (int k = 255; k > 0; k--)
            for (int i = 0; i < k; i++)
                value[i] = a * value[i + 1] + b * value[i];
        p.at<float>(2)[o] = value[0];
    }
}
void binomial(Arrays &d) {
    const int n = d.n[0];
    const float width = 0.3f * std::sqrt(1.0f / 255);
    const float up = std::exp(width), down = 1 / up, growth = std::exp(0.02f / 255);
    const float pu = (growth - down) / (up - down), a = pu / growth, b = (1 - pu) / growth;
    const array<float> &price = d.get<float>(0, n), &strike = d.get<float>(1, n);
    array<float> &out = d.get<float>(2, n);
    parallel_for_each(
        extent<1>(n * 256).tile<256>(), [ =, &price, &strike, &out ](tiled_index<256> t) restrict(amp) {
            tile_static float value[256];
            const int i = t.local[0], option = t.tile[0];
            value[i] = math::fmax(price[option] * math::exp(width * (2 * i - 255)) - strike[option], 0.0f);
            t.barrier.wait();
            for (int k = 255; k > 0; k--) {
                const float next = i < k ? a * value[i + 1] + b * value[i] : 0;
                t.barrier.wait();
                if (i < k) value[i] = next;
                t.barrier.wait();
            }
            if (i == 0) out[option] = value[0];
        });
}

// The nearest hit of each ray in a scene of 64 balls.
struct Ball {
    float x, y, z, radius;
};
void rays_data(Problem &p) {
    const int n = p.pick(96, 2048);
    p.n = {n, 64};
    float *balls = p.floats(4 * 64, -1, 1);
    for (int i = 0; i < 64; i++)
        balls[4 * i + 2] += 3, balls[4 * i + 3] = 0.05f + 0.1f * std::fabs(balls[4 * i + 3]);
    p.out<float>(size_t(n) * n);
    p.tolerance = 1e-4, p.wrong_share = 0.005;
}
void rays_cpu(Problem &p) {
    const int n = p.n[0];
    for (int i = 0; i < n * n; i++) {
        float dx = 2.0f * (i % n) / n - 1, dy = 2.0f * (i / n) / n - 1, dz = 2;
        const float scale = 1 / std::sqrt(dx * dx + dy * dy + dz * dz);
        dx *= scale, dy *= scale, dz *= scale;
        float nearest = 1e30f;
        for (int k = 0; k < p.n[1]; k++) {
            const Ball s = p.at<Ball>(0)[k];
            const float b = dx * s.x + dy * s.y + dz * s.z, c = s.x * s.x + s.y * s.y + s.z * s.z - s.radius * s.radius;
            const float square = b * b - c;
            if (square < 0) continue;
            const float at = b - std::sqrt(square);
            if (at > 0 && at < nearest) nearest = at;
        }
        p.at<float>(1)[i] = nearest < 1e30f ? 1 / nearest : 0;
    }
}
void rays(Arrays &d) {
    const int n = d.n[0], count = d.n[1];
    const array<Ball> &balls = d.get<Ball>(0, count);
    array<float, 2> &image = d.get<float>(1, n, n);
    parallel_for_each(
        image.extent, [ =, &balls, &image ](index<2> i) restrict(amp) {
            float dx = 2.0f * i[1] / n - 1, dy = 2.0f * i[0] / n - 1, dz = 2;
            const float scale = math::rsqrt(dx * dx + dy * dy + dz * dz);
            dx *= scale;
            dy *= scale;
            dz *= scale;
            float nearest = 1e30f;
            for (int k = 0; k < count; k++) {
                const Ball s = balls[k];
                const float b = dx * s.x + dy * s.y + dz * s.z;
                const float c = s.x * s.x + s.y * s.y + s.z * s.z - s.radius * s.radius;
                const float square = b * b - c;
                if (square < 0) continue;
                const float at = b - math::sqrt(square);
                if (at > 0 && at < nearest) nearest = at;
            }
            image[i] = nearest < 1e30f ? 1 / nearest : 0;
        });
}

} // namespace

void numbers(std::vector<Case> &all) {
    all.insert(all.end(), {{"functions", functions_data, functions_cpu, functions},
                           {"chain of functors", chain_data, chain_cpu, chain},
                           {"Mandelbrot", mandelbrot_data, mandelbrot_cpu, mandelbrot},
                           {"Monte Carlo", monte_carlo_data, monte_carlo_cpu, monte_carlo},
                           {"xorshift", xorshift_data, xorshift_cpu, xorshift},
                           {"Black-Scholes", black_scholes_data, black_scholes_cpu, black_scholes},
                           {"binomial options", binomial_data, binomial_cpu, binomial},
                           {"rays and balls", rays_data, rays_cpu, rays}});
}
} // namespace SUITE_FAMILY
