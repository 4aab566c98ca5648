// Kernels of each kind that use all of amp.h. The test compiles them in both passes of Clang and does not run them.
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>

#include <cstddef>

// Declarations that Clang's host pass needs for a launch.
struct dim3 {
    unsigned x, y, z;
};
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, std::size_t, void *);

using namespace concurrency;

template <class Id, class Kernel> __attribute__((global)) void entry(Id id, Kernel kernel) {
    kernel(id);
}

// Captured values and views.
struct saxpy {
    array_view<const float> x;
    array_view<float> y;
    array_view<float, 3> cube;
    float a;
    graphics::float_4 f;
    void operator()(index<1> i) const restrict(amp) {
        y[i] = a * x[i] + fast_math::sqrt(y(i[0])) + f.w;
        y[i[0]] += x.data()[2];
        array_view<float, 2> plane = cube[1];
        array_view<float> row = plane[i[0]], part = row.section(1, 2);
        row = part;
        part[0] = cube(1, 2, 3) + plane(0, 1) + cube[index<3>(0, 1, 2)] + cube.extent[2] + y.get_extent().size();
        row.view_as(extent<2>(1, 2))(0, 0) = row.reinterpret_as<float>()[0];
        float local[3] = {1, 2, 3};
        array_view<float> local_view(3, local);
        const array_view<const float> constant(local_view);
        local_view[0] = constant[1] + y.get_ref(i);
        y.discard_data();
        atomic_exchange(&y[i], 2.0f);
        y[i] += direct3d::clamp(a, 0.0f, 1.0f) + direct3d::mad(a, a, a) + direct3d::noise(a) + direct3d::radians(a) +
                direct3d::rcp(a) + direct3d::saturate(a) + direct3d::smoothstep(a, 1, a) + direct3d::step(a, a);
        const int n = i[0];
        const auto u = static_cast<unsigned>(n);
        y.data()[direct3d::abs(n)] = static_cast<float>(
            direct3d::clamp(n, 0, 1) + direct3d::firstbithigh(n) + direct3d::firstbitlow(n) + direct3d::imax(n, 2) +
            direct3d::imin(n, 2) + direct3d::mad(n, n, n) + direct3d::sign(n));
        y.data()[direct3d::countbits(u)] = static_cast<float>(direct3d::umax(u, 2) + direct3d::umin(u, 2) +
                                                              direct3d::mad(u, u, u) + direct3d::reversebits(u));
        cube.section(index<3>(1, 0, 0), extent<3>(1, 1, 1))(0, 0, 0) = 4;
    }
};
template __attribute__((global)) void entry(index<1>, saxpy);

// Arrays by reference, and a functor as a member of a functor.
struct by_reference {
    array<int, 2> &a;
    const array<int> &b;
    saxpy inner;
    void operator()(index<2> i) const restrict(amp) {
        a[i] = b[i[0]] + a(i[0], i[1]) + a[i[0]][i[1]] + b.extent[0] + a.data()[3];
        a.section(i)[index<2>()] += 1;
        a.view_as(extent<1>(4))[0] = a.reinterpret_as<int>()[1];
        inner(index<1>(i[0]));
    }
};
template __attribute__((global)) void entry(index<2>, by_reference);

// Tiles with tile_static memory.
struct tiled {
    array_view<int> view;
    void operator()(tiled_index<64> t) const restrict(amp) {
        static __attribute__((shared)) int tile[64];
        tile[t.local[0]] = view[t];
        t.barrier.wait();
        view[t.global] = tile[63 - t.local[0]];
    }
};
template __attribute__((global)) void entry(tiled_index<64>, tiled);

// Functions that differ only in their restriction.
int overload_number() restrict(amp) {
    return 1;
}
int overload_number() restrict(cpu) {
    return 2;
}
struct overloaded_functor {
    array_view<int> view;
    int side() const restrict(amp) { return overload_number(); }
    int side() const restrict(cpu) { return overload_number() + 1; }
    void operator()(index<1> i) const restrict(amp) { view[i] = side(); }
};
template __attribute__((global)) void entry(index<1>, overloaded_functor);

// Host code in the same file.
int host_side(const array_view<int> &view) {
    return overloaded_functor{view}.side();
}
void host(array_view<int> view, array<int> &a) {
    parallel_for_each(view.extent.tile<64>(), tiled{view});
    copy(view, a);
    a.copy_to(view);
    view.synchronize();
    (void)a.accelerator_view;
    (void)view[3];
}
