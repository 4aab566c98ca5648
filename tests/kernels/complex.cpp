// Tests of std::complex in kernels. Products must agree with products on the host. A quotient must agree with the
// host's quotient of long doubles or of the same type. Operands include infinities, NaN, signed zeros and extremes.
#include "device.hpp"
#include <cmath>
#include <complex>
#include <limits>

using namespace concurrency;

// True if the real and imaginary parts are equal, or differ by at most a few roundings of the greater part.
template <class T> static bool agrees(std::complex<T> host, std::complex<T> result) {
    const auto same = [](T a, T b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    if (same(host.real(), result.real()) && same(host.imag(), result.imag())) return true;
    const auto is_infinite = [](std::complex<T> c) { return std::isinf(c.real()) || std::isinf(c.imag()); };
    if (is_infinite(host)) return is_infinite(result);
    const T magnitude = (std::max)(std::abs(host.real()), std::abs(host.imag()));
    const T tolerance = 4 * (std::max)(magnitude * std::numeric_limits<T>::epsilon(), (std::numeric_limits<T>::min)());
    return std::abs(host.real() - result.real()) <= tolerance && std::abs(host.imag() - result.imag()) <= tolerance;
}

template <class T> static void products_and_quotients(const accelerator_view &on) {
    typedef std::complex<T> number;
    typedef std::numeric_limits<T> limits;
    const T special_values[] = {0,
                                -T(0),
                                1,
                                T(-2.5),
                                T(1e30),
                                T(1e-30),
                                (limits::max)(),
                                (limits::min)(),
                                limits::infinity(),
                                -limits::infinity(),
                                limits::quiet_NaN()};
    std::vector<number> all;
    for (T a : special_values)
        for (T b : special_values)
            all.emplace_back(a, b);
    const int count = int(all.size());
    std::vector<number> computed(unsigned(count * count * 2));
    const array_view<const number> in(count, all);
    const array_view<number, 2> out(count, count * 2, computed);
    out.discard_data();
    parallel_for_each(
        on, out.extent, [=](index<2> i) restrict(amp) {
            const number a = in[i[0]], b = in[i[1] / 2];
            out[i] = i[1] % 2 == 0 ? a * b : a / b;
        });
    out.synchronize();
    int mismatches = 0;
    for (unsigned n = 0; n < computed.size(); n++) {
        const number a = all[n / unsigned(count * 2)], b = all[n % unsigned(count * 2) / 2];
        // In debug builds, host threads divide with the host's own operator, which overflows in more cases.
        const std::complex<long double> x = a, y = b;
        const number host = n % 2 == 0 ? a * b : number(x / y);
        if (agrees(host, computed[n]) || agrees(n % 2 == 0 ? host : a / b, computed[n]) || ++mismatches > 3) continue;
        std::cout << a << (n % 2 == 0 ? " * " : " / ") << b << ": " << computed[n] << ", host " << host << std::endl;
    }
    CHECK(mismatches == 0);
}

TEST(complex_products_and_quotients) {
    products_and_quotients<float>(vulkan_view());
    products_and_quotients<float>(accelerator(accelerator::direct3d_warp).default_view);
    products_and_quotients<double>(accelerator(accelerator::direct3d_warp).default_view);
    if (vulkan_view().accelerator.supports_double_precision) products_and_quotients<double>(vulkan_view());
}

TEST(complex_sums_and_parts) {
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        std::vector<std::complex<float>> v(4, {1, 2});
        const array_view<std::complex<float>> view(4, v);
        parallel_for_each(
            on, view.extent, [=](index<1> i) restrict(amp) {
                std::complex<float> sum = view[i] + 3.0f - std::complex<float>(0, float(i[0]));
                sum *= 2.0f;
                view[i] = std::conj(sum) + std::norm(view[i]);
            });
        CHECK(view[0] == std::complex<float>(13, -4) && view[3] == std::complex<float>(13, 2));
    }
}

template <class T> static void absolute_values(const accelerator_view &on) {
    typedef std::numeric_limits<T> limits;
    const std::vector<std::complex<T>> all = {{3, 4},
                                              {-5, 12},
                                              {0, 0},
                                              {1, 0},
                                              {(limits::max)() / 2, (limits::max)() / 2},
                                              {(limits::min)(), (limits::min)()},
                                              {limits::infinity(), limits::quiet_NaN()}};
    std::vector<T> computed(all.size());
    const int count = int(all.size());
    const array_view<const std::complex<T>> in(count, all);
    const array_view<T> out(count, computed);
    parallel_for_each(
        on, out.extent, [=](index<1> i) restrict(amp) { out[i] = std::abs(in[i]); });
    out.synchronize();
    for (unsigned n = 0; n < computed.size(); n++)
        CHECK(agrees(std::complex<T>(std::abs(all[n])), std::complex<T>(computed[n])));
}
TEST(complex_absolute_values) {
    absolute_values<float>(vulkan_view());
    absolute_values<float>(accelerator(accelerator::direct3d_warp).default_view);
    absolute_values<double>(accelerator(accelerator::direct3d_warp).default_view);
    if (vulkan_view().accelerator.supports_double_precision) absolute_values<double>(vulkan_view());
}

CHECK_MAIN
