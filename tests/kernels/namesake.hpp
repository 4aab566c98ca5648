// A program and two libraries each contain these kernels, with the same names and sizes. Each of the three defines a
// different NUMBER, so that a result shows whose kernel computed it.
#ifndef NAMESAKE_HPP
#define NAMESAKE_HPP

#include <amp.h>

#include <vector>

constexpr int namesake_count = 64;

template <int K> struct plain_namesake {
    concurrency::array_view<int> to;
    void operator()(concurrency::index<1> i) const restrict(amp, cpu) { to[i] = NUMBER * 1000 + K * 100 + i[0]; }
};

template <int K> struct tiled_namesake {
    concurrency::array_view<int> to;
    void operator()(concurrency::tiled_index<8> i) const restrict(amp, cpu) {
        to[i.global] = NUMBER * 1000 + K * 100 + i.local[0];
    }
};

// These functions are in an unnamed namespace, so that only the names of the kernels collide.
namespace {
template <int K> int wrong_plain_results(const concurrency::accelerator_view &where) {
    std::vector<int> results(namesake_count);
    const concurrency::array_view<int> view(results);
    parallel_for_each(where, view.extent, plain_namesake<K>{view});
    view.synchronize();
    int wrong = 0;
    for (int i = 0; i < namesake_count; ++i)
        wrong += results[i] != NUMBER * 1000 + K * 100 + i;
    return wrong;
}

template <int K> int wrong_tiled_results(const concurrency::accelerator_view &where) {
    std::vector<int> results(namesake_count);
    const concurrency::array_view<int> view(results);
    parallel_for_each(where, view.extent.tile<8>(), tiled_namesake<K>{view});
    view.synchronize();
    int wrong = 0;
    for (int i = 0; i < namesake_count; ++i)
        wrong += results[i] != NUMBER * 1000 + K * 100 + i % 8;
    return wrong;
}

// The number of wrong results. A result is wrong if a kernel that was compiled with a different NUMBER computed it.
int wrong_results(const concurrency::accelerator_view &where) {
    return wrong_plain_results<1>(where) + wrong_plain_results<2>(where) + wrong_plain_results<3>(where) +
           wrong_tiled_results<1>(where) + wrong_tiled_results<2>(where);
}
} // namespace

#endif
