// Tests of array_view and array in kernels: creating views, reading and writing through views, overlapping views.
#include "conformance.h"

// Runs a FEATURE: launches `kernel` with one thread on a view of 24 numbers, and returns the kernel's result.
template <typename Kernel> int run_on_view(const Kernel &kernel) {
    std::vector<int> data(24);
    for (int i = 0; i < 24; ++i)
        data[i] = i;
    int result = -1;
    array_view<int> view(24, data), result_vw(1, &result);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) { result_vw[0] = kernel(view); });
    return result_vw[0];
}
#define FEATURE(name, view)                                                                                            \
    struct name##_kernel {                                                                                             \
        int operator()(array_view<int> view) const restrict(amp);                                                      \
    };                                                                                                                 \
    struct name {                                                                                                      \
        static int run() { return run_on_view(name##_kernel()); }                                                      \
    };                                                                                                                 \
    inline int name##_kernel::operator()(array_view<int> view) const restrict(amp)

FEATURE(elements_by_any_operator, v) {
    REQUIRE(v[3] == 3 && v(4) == 4 && v[index<1>(5)] == 5 && v(index<1>(6)) == 6 && v.get_ref(index<1>(7)) == 7);
    v[3] = 30;
    v(4) += 36;
    v.get_ref(index<1>(7)) = 70;
    REQUIRE(v[3] + v[4] + v[7] == 140);
    return 0;
}
FEATURE(extent_of_a_view, v) {
    REQUIRE(v.extent[0] == 24 && v.extent.size() == 24 && v.get_extent() == extent<1>(24));
    const array_view<int, 2> m = v.view_as(extent<2>(4, 6));
    REQUIRE(m.extent[1] == 6 && m.extent.contains(index<2>(3, 5)) && (array_view<int, 2>::rank == 2));
    return 0;
}
FEATURE(view_is_copied_and_assigned, v) {
    array_view<int> a(v), b = v.section(2, 2);
    a = b;
    REQUIRE(a.extent[0] == 2 && a[0] == 2);
    a[0] = 99;
    REQUIRE(v[2] == 99);
    return 0;
}
FEATURE(const_view_of_a_view, v) {
    array_view<const int> c(v);
    array_view<const int> d = v.section(1, 3);
    c = d;
    REQUIRE(c[0] == 1 && c.extent[0] == 3);
    array_view<const int, 2> m(v.view_as(extent<2>(6, 4)));
    array_view<const int, 1> row = m[5];
    REQUIRE(row[3] == 23 && m(1, 1) == 5);
    return 0;
}
FEATURE(view_of_a_pointer, v) {
    array_view<int> a(5, &v[10]);
    array_view<int, 2> b(2, 3, v.data());
    array_view<int, 3> c(extent<3>(2, 2, 2), v.data());
    array_view<const int, 2> d(extent<2>(3, 4), v.data());
    REQUIRE(a[4] == 14 && b(1, 2) == 5 && c(1, 1, 1) == 7 && d(2, 3) == 11);
    a[0] = -1;
    REQUIRE(v[10] == -1);
    return 0;
}
FEATURE(view_of_a_local_array, v) {
    int local[6] = {6, 5, 4, 3, 2, 1};
    array_view<int> a(local);
    array_view<int, 2> b(2, 3, local);
    array_view<const int> c(6, local);
    a[0] = v[1] * 10;
    REQUIRE(b(0, 0) == 10 && b(1, 2) == 1 && c[5] == 1 && a.extent[0] == 6);
    return 0;
}
FEATURE(sections_of_one_dimension, v) {
    REQUIRE(v.section(5, 3)[2] == 7 && v.section(5, 3).extent[0] == 3);
    REQUIRE(v.section(index<1>(20)).extent[0] == 4 && v.section(index<1>(20))[3] == 23);
    REQUIRE(v.section(extent<1>(2)).extent[0] == 2 && v.section(extent<1>(2))[1] == 1);
    REQUIRE(v.section(index<1>(4), extent<1>(4))[0] == 4);
    REQUIRE(v.section(4, 10).section(2, 3).section(1, 1)[0] == 7);
    return 0;
}
FEATURE(sections_of_two_dimensions, v) {
    array_view<int, 2> m = v.view_as(extent<2>(4, 6));
    array_view<int, 2> a = m.section(1, 2, 2, 3), b = m.section(index<2>(2, 3)), c = m.section(extent<2>(2, 2)),
                       d = m.section(index<2>(3, 0), extent<2>(1, 6));
    REQUIRE(a(0, 0) == 8 && a(1, 2) == 16 && a.extent == extent<2>(2, 3));
    REQUIRE(b.extent == extent<2>(2, 3) && b(1, 2) == 23 && c(1, 1) == 7 && d(0, 5) == 23);
    a(1, 1) = 500;
    REQUIRE(v[15] == 500 && a.section(1, 1, 1, 1)(0, 0) == 500);
    return 0;
}
FEATURE(sections_of_three_dimensions, v) {
    array_view<int, 3> m = v.view_as(extent<3>(2, 3, 4));
    array_view<int, 3> a = m.section(0, 1, 2, 2, 2, 2);
    REQUIRE(a(0, 0, 0) == 6 && a(1, 1, 1) == 23 && a.extent.size() == 8);
    REQUIRE(a[1][1][0] == 22 && m.section(index<3>(1, 2, 3))(0, 0, 0) == 23);
    return 0;
}
FEATURE(projections, v) {
    array_view<int, 3> m = v.view_as(extent<3>(2, 3, 4));
    array_view<int, 2> plane = m[1];
    array_view<int, 1> row = plane[2];
    REQUIRE(plane.extent == extent<2>(3, 4) && row.extent[0] == 4 && row[3] == 23 && m[1][0][1] == 13 &&
            m(0)(2)(1) == 9);
    row[0] = 7000;
    REQUIRE(v[20] == 7000);
    return 0;
}
FEATURE(view_as_of_a_section, v) {
    array_view<int, 2> m = v.section(4, 12).view_as(extent<2>(3, 4));
    REQUIRE(m(0, 0) == 4 && m(2, 3) == 15);
    array_view<int> line = v.section(8, 4).view_as(extent<1>(3));
    REQUIRE(line.extent[0] == 3 && line[2] == 10);
    return 0;
}
FEATURE(reinterpret_as_another_type, v) {
    array_view<float> f = v.reinterpret_as<float>();
    f[0] = 1.0f;
    REQUIRE(v[0] == 0x3f800000 && f.extent[0] == 24);
    array_view<unsigned> u = v.section(2, 4).reinterpret_as<unsigned>();
    u[1] = 0xffffffffu;
    REQUIRE(v[3] == -1);
    array_view<const int> c(v);
    array_view<const float> cf = c.reinterpret_as<float>();
    REQUIRE(cf[0] == 1.0f);
    return 0;
}
struct pair_of_numbers {
    int first;
    float second;
};
FEATURE(reinterpret_as_a_struct, v) {
    array_view<pair_of_numbers> p = v.reinterpret_as<pair_of_numbers>();
    REQUIRE(p.extent[0] == 12);
    p[3].second = 0.5f;
    p[3].first = 77;
    pair_of_numbers q = p[3];
    REQUIRE(v[6] == 77 && q.second == 0.5f);
    return 0;
}
FEATURE(data_of_a_view, v) {
    int *p = v.data();
    p[2] = 20;
    *(p + 3) = 30;
    REQUIRE(v[2] == 20 && v[3] == 30);
    const int *q = array_view<const int>(v).data();
    REQUIRE(q[2] == 20 && *(v.section(5, 2).data()) == 5);
    return 0;
}
FEATURE(references_to_elements, v) {
    int &a = v[4], &b = v.view_as(extent<2>(4, 6))(1, 1);
    a += b;
    int *p = &v[a];
    *p += 1;
    REQUIRE(v[4] == 11 && v[11] == 12);
    const int &c = array_view<const int>(v)[11];
    REQUIRE(c == 12);
    return 0;
}
FEATURE(atomics_on_elements, v) {
    REQUIRE(atomic_fetch_add(&v[5], 10) == 5 && v[5] == 15);
    REQUIRE(atomic_fetch_sub(&v(5), 5) == 15 && atomic_exchange(&v[index<1>(5)], 1) == 10);
    int expected = 2;
    REQUIRE(!atomic_compare_exchange(&v[5], &expected, 3) && expected == 1);
    REQUIRE(atomic_compare_exchange(&v[5], &expected, 3) && v[5] == 3);
    array_view<int, 2> m = v.view_as(extent<2>(4, 6));
    REQUIRE(atomic_fetch_max(&m(0, 5), 9) == 3 && atomic_fetch_min(&m(0, 5), 4) == 9 &&
            atomic_fetch_or(&m(0, 5), 3) == 4);
    REQUIRE(atomic_fetch_and(&v[5], 6) == 7 && atomic_fetch_xor(&v[5], 5) == 6 && atomic_fetch_inc(&v[5]) == 3 &&
            atomic_fetch_dec(&v[5]) == 4 && v[5] == 3);
    array_view<float> f = v.reinterpret_as<float>();
    f[6] = 1.5f;
    REQUIRE(atomic_exchange(&f[6], 2.5f) == 1.5f && f[6] == 2.5f);
    return 0;
}

// Functions take views by value, by reference, as const and in templates. A class has a view as a member.
int first_by_value(array_view<int> v) restrict(amp) {
    return v[0];
}
int first_by_reference(array_view<int> &v) restrict(amp) {
    return v[0];
}
int first_by_const_reference(const array_view<int> &v) restrict(amp) {
    return v[0]++;
}
int first_of_const(array_view<const int> v) restrict(amp) {
    return v[0];
}
template <typename T, int Rank> T first_of_any(const array_view<T, Rank> &v) restrict(amp) {
    return v[index<Rank>()];
}
array_view<int> tail_of(const array_view<int> &v) restrict(amp) {
    return v.section(index<1>(1));
}
struct holder {
    array_view<int> view;
    int offset;
    holder(const array_view<int> &v, int o) restrict(amp, cpu) : view(v), offset(o) {}
    int get() const restrict(amp) { return view[offset]; }
    void set(int x) const restrict(amp) { view[offset] = x; }
};
FEATURE(views_as_arguments_and_results, v) {
    v[0] = 5;
    REQUIRE(first_by_value(v) == 5 && first_by_reference(v) == 5 && first_by_const_reference(v) == 5 &&
            first_of_const(v) == 6);
    REQUIRE(first_of_any(v) == 6 && first_of_any(v.view_as(extent<2>(2, 12))) == 6 &&
            first_of_any(array_view<const int>(v)) == 6);
    REQUIRE(tail_of(tail_of(v))[0] == 2);
    holder h(v, 9), other(h);
    other.set(90);
    REQUIRE(h.get() == 90);
    h = holder(v.section(10, 5), 1);
    REQUIRE(h.get() == 11);
    return 0;
}

// Arrays captured by reference
struct arrays_in_kernels {
    static int run() {
        std::vector<int> data(24);
        for (int i = 0; i < 24; ++i)
            data[i] = i;
        array<int, 3> a(2, 3, 4, data.begin());
        const array<int, 3> c(a);
        array<int> result(1);
        parallel_for_each(
            extent<1>(1), [&](index<1>) restrict(amp) {
                int line = 0;
                if (!(a(1, 2, 3) == 23 && a[index<3>(0, 1, 0)] == 4 && c(0, 0, 1) == 1 && c[index<3>(1, 0, 0)] == 12))
                    line = __LINE__;
                array_view<int, 2> plane = a[1];
                array_view<const int, 2> const_plane = c[0];
                if (!(plane(0, 1) == 13 && const_plane(2, 3) == 11 && a[1][1][1] == 17)) line = __LINE__;
                if (!(a.extent == extent<3>(2, 3, 4) && c.get_extent()[2] == 4)) line = __LINE__;
                array_view<int, 3> part = a.section(0, 1, 1, 2, 2, 2);
                array_view<const int, 3> const_part = c.section(index<3>(1, 1, 1), extent<3>(1, 1, 1));
                if (!(part(1, 1, 1) == 22 && const_part(0, 0, 0) == 17)) line = __LINE__;
                array_view<int, 3> whole(a);
                array_view<const int, 3> const_whole(c), of_mutable(a);
                whole(0, 0, 0) = 1000;
                if (!(a(0, 0, 0) == 1000 && const_whole(0, 0, 0) == 0 && of_mutable(0, 0, 0) == 1000)) line = __LINE__;
                if (!(a.view_as(extent<1>(24))[23] == 23 && c.view_as(extent<2>(4, 6))(3, 5) == 23)) line = __LINE__;
                if (!(a.data()[5] == 5 && c.data()[6] == 6)) line = __LINE__;
                result[0] = line;
            });
        return std::vector<int>(result)[0];
    }
};
struct arrays_of_one_dimension_in_kernels {
    static int run() {
        array<int> a(16), result(1);
        parallel_for_each(
            a.extent, [&a](index<1> i) restrict(amp) { a[i] = i[0]; });
        parallel_for_each(
            extent<1>(1), [&a, &result ](index<1>) restrict(amp) {
                a[2] += 10;
                a(3) += 10;
                a(index<1>(4)) += 10;
                atomic_fetch_add(&a[5], 10);
                const array<int> &c = a;
                const bool ok = c[2] == 12 && c(3) == 13 && c[index<1>(4)] == 14 && c[5] == 15 &&
                                a.reinterpret_as<unsigned>()[6] == 6 && c.reinterpret_as<unsigned>()[7] == 7;
                result(0) = ok ? 0 : __LINE__;
            });
        const std::vector<int> host = result;
        return host[0];
    }
};
int sum_of_array(const array<int> &a) restrict(amp) {
    int sum = 0;
    for (int i = 0; i < a.extent[0]; ++i)
        sum += a[i];
    return sum;
}
void fill_array(array<int> &a, int value) restrict(amp) {
    for (int i = 0; i < a.extent[0]; ++i)
        a[i] = value;
}
struct arrays_as_arguments {
    static int run() {
        array<int> a(10), sums(2);
        parallel_for_each(
            extent<1>(1), [&](index<1>) restrict(amp) {
                fill_array(a, 3);
                sums[0] = sum_of_array(a);
            });
        const std::vector<int> host = sums;
        REQUIRE(host[0] == 30);
        return 0;
    }
};
// A functor whose member is a reference to an array
class array_functor {
    array<int, 2> &m_array;
    const array<int, 2> &m_source;

  public:
    array_functor(array<int, 2> &a, const array<int, 2> &s) : m_array(a), m_source(s) {}
    void operator()(index<2> i) const restrict(amp) { m_array[i] = m_source(i[1], i[0]) + i[0]; }
};
struct arrays_as_members_of_functors {
    static int run() {
        const int data[] = {1, 2, 3, 4};
        array<int, 2> from(2, 2, data), to(2, 2);
        parallel_for_each(to.extent, array_functor(to, from));
        const std::vector<int> host = to;
        REQUIRE(host[0] == 1 && host[1] == 3 && host[2] == 3 && host[3] == 5);
        return 0;
    }
};
// A view of tile_static memory
struct view_of_tile_static {
    static int run() {
        std::vector<int> data(16);
        array_view<int> v(data);
        parallel_for_each(
            v.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
                tile_static int slots[8];
                array_view<int, 2> m(2, 4, slots);
                array_view<int> line(8, slots);
                m(t.local[0] / 4, t.local[0] % 4) = t.global[0];
                t.barrier.wait();
                v[t] = line[7 - t.local[0]];
            });
        for (int i = 0; i < 16; ++i)
            REQUIRE(v[i] == (i / 8) * 8 + 7 - i % 8);
        return 0;
    }
};
// Overlapping views in one kernel refer to the same memory
struct overlapping_sections {
    static int run() {
        std::vector<int> data(10);
        array_view<int> v(data), left = v.section(0, 6), right = v.section(4, 6);
        parallel_for_each(
            extent<1>(6), [=](index<1> i) restrict(amp) {
                atomic_fetch_add(&left[i], 1);
                atomic_fetch_add(&right[i], 10);
                atomic_fetch_add(&v[5], 100);
            });
        REQUIRE(v[0] == 1 && v[4] == 11 && v[5] == 611 && v[9] == 10);
        return 0;
    }
};
struct views_of_every_rank_captured {
    static int run() {
        std::vector<int> data(32);
        const int e[] = {2, 2, 2, 2, 2};
        array_view<int, 5> rank_5_view(extent<5>(e), data);
        array_view<int> one(data);
        parallel_for_each(
            rank_5_view.extent, [=](index<5> i) restrict(amp) {
                rank_5_view[i] = i[0] * 16 + i[1] * 8 + i[2] * 4 + i[3] * 2 + i[4];
            });
        rank_5_view.synchronize();
        for (int i = 0; i < 32; ++i)
            REQUIRE(data[i] == i);
        array_view<int, 4> rank_4_view = rank_5_view[1];
        parallel_for_each(
            rank_4_view.extent, [=](index<4> i) restrict(amp) { rank_4_view[i] += 100; });
        rank_4_view.synchronize();
        REQUIRE(data[15] == 15 && data[16] == 116 && data[31] == 131);
        return 0;
    }
};
struct many_views_captured {
    static int run() {
        std::vector<std::vector<int>> data(12, std::vector<int>(4, 1));
        array_view<int> a(data[0]), b(data[1]), c(data[2]), d(data[3]), e(data[4]), f(data[5]), g(data[6]), h(data[7]),
            i(data[8]), j(data[9]), k(data[10]), l(data[11]);
        parallel_for_each(
            a.extent, [=](index<1> x) restrict(amp) {
                a[x] = b[x] + c[x] + d[x] + e[x] + f[x] + g[x] + h[x] + i[x] + j[x] + k[x] + l[x];
                l[x] = x[0];
            });
        REQUIRE(a[3] == 11 && l[3] == 3);
        return 0;
    }
};

int main() {
    const conformance::feature features[] = {CALLED_ON_HOST(elements_by_any_operator),
                                             CALLED_ON_HOST(extent_of_a_view),
                                             CALLED_ON_HOST(view_is_copied_and_assigned),
                                             CALLED_ON_HOST(const_view_of_a_view),
                                             CALLED_ON_HOST(view_of_a_pointer),
                                             CALLED_ON_HOST(view_of_a_local_array),
                                             CALLED_ON_HOST(sections_of_one_dimension),
                                             CALLED_ON_HOST(sections_of_two_dimensions),
                                             CALLED_ON_HOST(sections_of_three_dimensions),
                                             CALLED_ON_HOST(projections),
                                             CALLED_ON_HOST(view_as_of_a_section),
                                             CALLED_ON_HOST(reinterpret_as_another_type),
                                             CALLED_ON_HOST(reinterpret_as_a_struct),
                                             CALLED_ON_HOST(data_of_a_view),
                                             CALLED_ON_HOST(references_to_elements),
                                             CALLED_ON_HOST(atomics_on_elements),
                                             CALLED_ON_HOST(views_as_arguments_and_results),
                                             CALLED_ON_HOST(arrays_in_kernels),
                                             CALLED_ON_HOST(arrays_of_one_dimension_in_kernels),
                                             CALLED_ON_HOST(arrays_as_arguments),
                                             CALLED_ON_HOST(arrays_as_members_of_functors),
                                             CALLED_ON_HOST(view_of_tile_static),
                                             CALLED_ON_HOST(overlapping_sections),
                                             CALLED_ON_HOST(views_of_every_rank_captured),
                                             CALLED_ON_HOST(many_views_captured)};
    return conformance::main(features);
}
