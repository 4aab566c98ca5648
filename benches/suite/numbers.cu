// The CUDA side of the family `numbers` of the kernel suite: the kernels of numbers.cpp, written in CUDA.
#include "cuda.h"

namespace {

__global__ void functions_kernel(const float *in, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = in[i];
    float sum = 0;
    for (int k = 1; k <= 4; k++) {
        const float y = x * k;
        sum += expf(-y) * sinf(y) + logf(y) * cosf(y) + sqrtf(y) + powf(y, 0.3f) + tanhf(y);
    }
    out[i] = sum;
}
void functions(void *const *b, const int *n) {
    functions_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 1), n[0]);
}

struct Scale {
    float by;
    __device__ float operator()(float x) const { return x * by; }
};
struct Shift {
    float by;
    __device__ float operator()(float x) const { return x + by; }
};
struct Clamp {
    float low, high;
    __device__ float operator()(float x) const { return x < low ? low : x > high ? high : x; }
};
template <class F, class G> struct Chain {
    F f;
    G g;
    __device__ float operator()(float x) const { return g(f(x)); }
};
template <class F, class G> Chain<F, G> then(F f, G g) {
    return {f, g};
}
template <class F> __global__ void chain_kernel(const float *in, float *out, F f, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(in[i]);
}
void chain(void *const *b, const int *n) {
    const auto f = then(then(then(Scale{1.5f}, Shift{-0.25f}), Clamp{0, 1}), then(Scale{255}, Shift{0.5f}));
    chain_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 1), f, n[0]);
}

__global__ void mandelbrot_kernel(int *out, int n, int max_iterations) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    const float cx = -2.0f + 2.5f * column / n, cy = -1.25f + 2.5f * row / n;
    float x = 0, y = 0;
    int k = 0;
    while (k < max_iterations && x * x + y * y < 4.0f) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        k++;
    }
    out[row * n + column] = k;
}
void mandelbrot(void *const *b, const int *n) {
    mandelbrot_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<int>(b, 0), n[0], n[1]);
}

__device__ unsigned step(unsigned &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}
__global__ void monte_carlo_kernel(float *out, int n, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = i * 747796405U + 2891336453U;
    float price = 100, sum = 0;
    for (int k = 0; k < steps; k++) {
        const float u = ((step(state) >> 8) + 1) * (1.0f / 16777217.0f), v = (step(state) >> 8) * (1.0f / 16777216.0f);
        const float normal = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
        price *= expf(0.0005f + 0.02f * normal);
        sum += price;
    }
    out[i] = fmaxf(sum / steps - 100.0f, 0.0f);
}
void monte_carlo(void *const *b, const int *n) {
    monte_carlo_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), n[0], n[1]);
}

struct Xorshift {
    unsigned x, y, z, w;
    __device__ explicit Xorshift(unsigned seed)
        : x(seed * 1664525U + 1U), y(seed ^ 362436069U), z(521288629U), w(88675123U) {}
    __device__ unsigned next() {
        const unsigned t = x ^ (x << 11);
        x = y;
        y = z;
        z = w;
        w = w ^ (w >> 19) ^ t ^ (t >> 8);
        return w;
    }
};
__global__ void random_kernel(unsigned *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Xorshift generator(i);
    for (int k = 0; k < 16; k++)
        out[k * n + i] = generator.next();
}
void random(void *const *b, const int *n) {
    random_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<unsigned>(b, 0), n[0]);
}

__device__ float cumulative(float x) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    const float tail =
        0.39894228f * expf(-0.5f * x * x) * k *
        (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return x > 0 ? 1.0f - tail : tail;
}
__global__ void black_scholes_kernel(const float *price, const float *strike, const float *years, float *call,
                                     float *put, float rate, float volatility, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
    const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float discount = expf(-rate * t), c1 = cumulative(d1), c2 = cumulative(d2);
    call[i] = s * c1 - x * discount * c2;
    put[i] = x * discount * (1.0f - c2) - s * (1.0f - c1);
}
void black_scholes(void *const *b, const int *n) {
    black_scholes_kernel<<<grid(block_1d(), n[0]), block_1d()>>>(buffer<float>(b, 0), buffer<float>(b, 1),
                                                                 buffer<float>(b, 2), buffer<float>(b, 3),
                                                                 buffer<float>(b, 4), 0.02f, 0.3f, n[0]);
}

__global__ void binomial_kernel(const float *price, const float *strike, float *out, float width, float a, float b) {
    __shared__ float value[256];
    const int i = threadIdx.x, option = blockIdx.x;
    value[i] = fmaxf(price[option] * expf(width * (2 * i - 255)) - strike[option], 0.0f);
    __syncthreads();
    for (int k = 255; k > 0; k--) {
        const float next = i < k ? a * value[i + 1] + b * value[i] : 0;
        __syncthreads();
        if (i < k) value[i] = next;
        __syncthreads();
    }
    if (i == 0) out[option] = value[0];
}
void binomial(void *const *b, const int *n) {
    const float width = 0.3f * sqrtf(1.0f / 255), up = expf(width), down = 1 / up, growth = expf(0.02f / 255);
    const float pu = (growth - down) / (up - down);
    binomial_kernel<<<n[0], 256>>>(buffer<float>(b, 0), buffer<float>(b, 1), buffer<float>(b, 2), width, pu / growth,
                                   (1 - pu) / growth);
}

struct Ball {
    float x, y, z, radius;
};
__global__ void rays_kernel(const Ball *balls, float *image, int n, int count) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    float dx = 2.0f * column / n - 1, dy = 2.0f * row / n - 1, dz = 2;
    const float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
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
        const float at = b - sqrtf(square);
        if (at > 0 && at < nearest) nearest = at;
    }
    image[row * n + column] = nearest < 1e30f ? 1 / nearest : 0;
}
void rays(void *const *b, const int *n) {
    rays_kernel<<<grid(block_square(), n[0], n[0]), block_square()>>>(buffer<Ball>(b, 0), buffer<float>(b, 1), n[0],
                                                                      n[1]);
}

const CudaCase numbers_cases[] = {{"functions", functions},       {"chain of functors", chain},
                                  {"Mandelbrot", mandelbrot},     {"Monte Carlo", monte_carlo},
                                  {"xorshift", random},           {"Black-Scholes", black_scholes},
                                  {"binomial options", binomial}, {"rays and balls", rays}};

} // namespace
