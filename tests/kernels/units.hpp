// A function and a function template with kernel lambdas, for several translation units.
#ifndef REVAMP_TESTS_UNITS_HPP
#define REVAMP_TESTS_UNITS_HPP

#include "device.hpp"

template <class T> void fill(const concurrency::array_view<T> &view, T value) {
    parallel_for_each(
        vulkan_view(), view.extent, [=](concurrency::index<1> i) restrict(amp) { view[i] = value; });
}
inline void double_all(const concurrency::array_view<int> &view) {
    parallel_for_each(
        vulkan_view(), view.extent, [=](concurrency::index<1> i) restrict(amp) { view[i] *= 2; });
}

int run_unit_one(int), run_unit_two(int), plain(int);

#endif
