#pragma once
#include <amp.h>
inline float of_the_host(float x) { return x; }
inline float calls_it(float x) restrict(amp) {
    return of_the_host(x); //!
}
template <class T> void captures(concurrency::array_view<T> v) {
    T n = 2;
    parallel_for_each(v.extent, [&](concurrency::index<1> i) restrict(amp) { //!
        v[i] = n;
    });
}
template <class T> void other_rank(concurrency::array_view<T> v) {
    parallel_for_each(v.extent, [=](concurrency::index<2> i) restrict(amp) { //!
        v[i[0]] = 1;
    });
}
inline void generic_of_two(concurrency::array_view<float> v) {
    parallel_for_each(v.extent, [=](auto i, auto j) restrict(amp) { //!
        v[i] = j;
    });
}
struct held {
    int n(concurrency::array_view<unsigned char> *p) { return p->extent[0]; } //!
};
inline void instantiates(concurrency::array_view<float> v) {
    captures(v);
    other_rank(v);
}
