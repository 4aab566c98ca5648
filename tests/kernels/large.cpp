// Tests of kernels with so many statements and cases that the compiler treats them differently from small kernels. Host
// threads and Vulkan must give the same results. Larger kernels would take long on a software device.
#include "device.hpp"

using namespace concurrency;

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)                                                                                                  \
    TEN(X, n##0)                                                                                                       \
    TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)

// True if a kernel gives the same results on host threads and on Vulkan.
template <class Kernel> bool same(const Kernel &kernel) {
    std::vector<unsigned> on_host(4096), on_device(4096);
    for (unsigned n = 0; n < 4096; ++n)
        on_host[n] = on_device[n] = n;
    array_view<unsigned> host(4096, on_host), device(4096, on_device);
    kernel(accelerator(accelerator::direct3d_warp).default_view, host);
    kernel(vulkan_view(), device);
    host.synchronize();
    device.synchronize();
    return on_host == on_device && on_host[1] != 1;
}

TEST(hundreds_of_statements) {
#define STATEMENT(n) v[i] = (v[i] ^ (v[i] >> 3)) * (2 * (n - 100) + 3) + (n - 100);
    CHECK(same([](const accelerator_view &where, array_view<unsigned> v) {
        parallel_for_each(
            where,
            v.extent, [=](index<1> i) restrict(amp){HUNDRED(STATEMENT, 1) HUNDRED(STATEMENT, 1) HUNDRED(STATEMENT, 1)});
    }));
}

TEST(hundreds_of_cases) {
#define FIRST(n)                                                                                                       \
    case n - 100:                                                                                                      \
        x = x * 3 + (n * 7 & 1023);                                                                                    \
        break;
#define SECOND(n)                                                                                                      \
    case n:                                                                                                            \
        x = n ^ 5;                                                                                                     \
        break;
#define THIRD(n)                                                                                                       \
    case n + 100:                                                                                                      \
        x += v[(i[0] + n) % 4096] & 0;                                                                                 \
        break;
    CHECK(same([](const accelerator_view &where, array_view<unsigned> v) {
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                unsigned x = v[i];
                switch (x) { HUNDRED(FIRST, 1) HUNDRED(SECOND, 1) HUNDRED(THIRD, 1) }
                v[i] = x;
            });
    }));
}

CHECK_MAIN
