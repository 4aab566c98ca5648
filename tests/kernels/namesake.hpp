// Kernels of the same names and sizes in a program and in two libraries, which do different things: NUMBER tells them
// apart.
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

// What is not tested is each image's own.
namespace {
template <int K> int wrong_of_plain(const concurrency::accelerator_view &where) {
    std::vector<int> results(namesake_count);
    const concurrency::array_view<int> all(results);
    parallel_for_each(where, all.extent, plain_namesake<K>{all});
    all.synchronize();
    int wrong = 0;
    for (int i = 0; i < namesake_count; ++i)
        wrong += results[i] != NUMBER * 1000 + K * 100 + i;
    return wrong;
}

template <int K> int wrong_of_tiled(const concurrency::accelerator_view &where) {
    std::vector<int> results(namesake_count);
    const concurrency::array_view<int> all(results);
    parallel_for_each(where, all.extent.tile<8>(), tiled_namesake<K>{all});
    all.synchronize();
    int wrong = 0;
    for (int i = 0; i < namesake_count; ++i)
        wrong += results[i] != NUMBER * 1000 + K * 100 + i % 8;
    return wrong;
}

// How many results are not those of the caller's own kernels.
int wrong_results(const concurrency::accelerator_view &where) {
    return wrong_of_plain<1>(where) + wrong_of_plain<2>(where) + wrong_of_plain<3>(where) + wrong_of_tiled<1>(where) +
           wrong_of_tiled<2>(where);
}
} // namespace

#endif
