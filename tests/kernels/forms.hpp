// A header of forms.cpp with constructs that Clang parses only after changes by the kernel compiler.
#ifndef FORMS_HPP
#define FORMS_HPP

#include <amp.h>
#include <amp_short_vectors.h>

#define ON_BOTH restrict(amp, cpu)

struct constructed {
    int value;
    constructed() : value(3) {}
    constructed(int given) restrict(amp, cpu) : value(given) {}
    auto plus(int other) const restrict(amp, cpu) -> int { return value + other; }
    int times(int other) const ON_BOTH noexcept { return value * other; }
};

inline int in_tile(const concurrency::tiled_index<4> &i, int given) restrict(amp) {
    tile_static concurrency::graphics::float_3 p[4];
    tile_static constructed /* one for each thread */ c[4], one;
    tile_static concurrency::index<2> at;
    p[i.local[0]] = concurrency::graphics::float_3(float(given), 1, 2);
    c[i.local[0]] = constructed(i.local[0]);
    if (i.local[0] == 0) {
        one = constructed(100);
        at = concurrency::index<2>(1000, 2000);
    }
    i.barrier.wait();
    return int(p[3 - i.local[0]].x) + c[3 - i.local[0]].plus(0) + one.times(10) + at[1];
}

template <class F> void launch_from_a_header(const concurrency::array_view<int> &out, F f) {
    concurrency::parallel_for_each(
        out.extent, [=](concurrency::index<1> i) mutable restrict(amp) { out[i] = f(i[0]); });
}

#endif
