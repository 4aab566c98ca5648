// Tests of parallel_for_each and of the captures of kernels (docs/spec/launches.md).
#include <amp.h>
#include <amp_short_vectors.h>

#include "../check.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

using namespace concurrency;

namespace {

const accelerator cpu(accelerator::cpu_accelerator);

// Finds a Vulkan device. get_all() lists none, because this program has no compiled kernels.
accelerator_view vulkan_view() {
    std::vector<revamp_accelerator> all(16);
    std::size_t count = 0;
    REQUIRE(revamp_accelerator_list(all.data(), all.size(), &count) == REVAMP_OK && count <= all.size());
    for (std::size_t i = 0; i < count; ++i) {
        const accelerator one = revamp::detail::access::make(all[i]);
        if (revamp::detail::info_of(all[i]).kind == REVAMP_ACCELERATOR_VULKAN) return one.default_view;
    }
    SKIP("there is no Vulkan device");
}

// True if a launch runs each index of the domain exactly once.
template <int N> bool covers(const extent<N> &domain) {
    std::vector<int> counts(domain.size());
    array_view<int, N> view(domain, counts);
    parallel_for_each(
        domain, [=](index<N> i) restrict(amp) { atomic_fetch_inc(&view[i]); });
    view.synchronize();
    return std::count(counts.begin(), counts.end(), 1) == static_cast<long>(counts.size());
}
template <int D0, int D1, int D2> bool covers(const tiled_extent<D0, D1, D2> &domain) {
    constexpr int N = tiled_extent<D0, D1, D2>::rank;
    std::vector<int> counts(domain.size());
    array_view<int, N> view(static_cast<const extent<N> &>(domain), counts);
    parallel_for_each(
        domain, [=](tiled_index<D0, D1, D2> t) restrict(amp) { atomic_fetch_inc(&view[t.tile_origin + t.local]); });
    view.synchronize();
    return std::count(counts.begin(), counts.end(), 1) == static_cast<long>(counts.size());
}

} // namespace

TEST(PFE_1_parameters_of_kernels) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    parallel_for_each(
        view.extent, [=](const index<1> &i) restrict(amp) { view[i] += 2; });
    parallel_for_each(
        view.extent, [=](index<1> & i) restrict(amp) { view[i] += 4; });
    parallel_for_each(
        view.extent, [=](const index<1> i) restrict(amp) { view[i] += 8; });
    parallel_for_each(
        view.extent.tile<2>(), [=](tiled_index<2> i) restrict(amp) { view[i] += 16; });
    parallel_for_each(
        view.extent.tile<2>(), [=](const tiled_index<2> &i) restrict(amp) { view[i.global] += 32; });
    parallel_for_each(
        view.extent.tile<2>(), [=](tiled_index<2> & i) restrict(amp) { view(i) += 64; });
    parallel_for_each(
        accelerator().default_view, view.extent, [=](auto i) restrict(amp) { view[i] += 128; });
    int calls = 0;
    const auto kernel = [=](index<1> i) mutable restrict(amp) {
        ++calls;
        view[i] += 256;
    };
    parallel_for_each(view.extent, kernel);
    CHECK(view[0] == 511 && view[3] == 511 && calls == 0);
}

TEST(PFE_2_and_9_domains) {
    CHECK(covers(extent<1>(1)) && covers(extent<1>(1000)) && covers(extent<2>(7, 13)) && covers(extent<2>(1, 1000)) &&
          covers(extent<2>(1000, 1)));
    CHECK(covers(extent<3>(3, 5, 7)));
    const int four[] = {3, 1, 4, 5}, five[] = {2, 3, 1, 3, 2};
    int many[20];
    for (int &n : many)
        n = 1;
    many[0] = 2, many[7] = 3, many[19] = 5;
    CHECK(covers(extent<4>(four)) && covers(extent<5>(five)) && covers(extent<20>(many)));
    int extent_128[128];
    for (int &n : extent_128)
        n = 1;
    extent_128[64] = 4;
    CHECK(covers(extent<128>(extent_128)));
}

TEST(PFE_3_and_5_bad_domains) {
    const auto one = [](index<1>) restrict(amp){};
    const auto two = [](index<2>) restrict(amp){};
    const auto three = [](index<3>) restrict(amp){};
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<1>(0), one));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<1>(-1), one));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<1>(), one));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<2>(4, 0), two));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<2>(-1, -1), two));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(accelerator().default_view, extent<3>(1, -2, 1), three));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<1>(7).tile<2>(), [](tiled_index<2>) restrict(amp){}));
    CHECK_THROWS(invalid_compute_domain,
                 (parallel_for_each(extent<2>(8, 7).tile<4, 4>(), [](tiled_index<4, 4>) restrict(amp){})));
    CHECK_THROWS(invalid_compute_domain,
                 (parallel_for_each(extent<3>(2, 2, 1).tile<2, 2, 2>(), [](tiled_index<2, 2, 2>) restrict(amp){})));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<1>(0).tile<2>(), [](tiled_index<2>) restrict(amp){}));
}

TEST(PFE_4_largest_domains) {
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<2>(65536, 65536), [](index<2>) restrict(amp){}));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(extent<3>(2147483647, 3, 1), [](index<3>) restrict(amp){}));
    // Each launch has exactly 2^32 - 1 threads. The kernels count rows that start, and whether the last thread runs.
    unsigned seen[4] = {};
    const array_view<unsigned> view(4, seen);
    parallel_for_each(
        extent<2>(65537, 65535), [=](index<2> i) restrict(amp) {
            if (i[1] == 0) atomic_fetch_inc(&view[0]);
            if (i[0] == 65536 && i[1] == 65534) atomic_fetch_inc(&view[1]);
        });
    parallel_for_each(
        extent<3>(286331153, 5, 3), [=](index<3> i) restrict(amp) {
            if (i[0] % 4096 == 0 && i[1] == 4 && i[2] == 2) atomic_fetch_inc(&view[2]);
            if (i[0] == 286331152 && i[1] == 4 && i[2] == 2) atomic_fetch_inc(&view[3]);
        });
    CHECK(view[0] == 65537 && view[1] == 1 && view[2] == 69906 && view[3] == 1);
}

TEST(PFE_6_and_7_tiles) {
    CHECK(covers(extent<1>(4096).tile<1024>()) && covers(extent<1>(15).tile<5>()) && covers(extent<1>(3).tile<1>()));
    CHECK((covers(extent<2>(64, 32).tile<32, 32>())) && (covers(extent<2>(4, 1024).tile<1, 1024>())) &&
          (covers(extent<2>(12, 35).tile<3, 7>())));
    CHECK((covers(extent<3>(64, 4, 4).tile<64, 4, 4>())) && (covers(extent<3>(4, 6, 10).tile<2, 3, 5>())));
    CHECK(covers(extent<1>(25).tile<4>().pad()) && covers(extent<1>(25).tile<4>().truncate()));
    std::vector<unsigned> sum(1);
    array_view<unsigned> view(sum);
    parallel_for_each(
        extent<1>(65535 * 64).tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            if (t.local[0] == 0) atomic_fetch_add(&view[0], 1u);
        });
    CHECK(view[0] == 65535u);
}

TEST(tiled_indices) {
    std::vector<int> v(6 * 20);
    array_view<int, 2> mismatches(6, 20, v);
    parallel_for_each(
        mismatches.extent.tile<3, 5>(), [=](tiled_index<3, 5> t) restrict(amp) {
            const bool good = t.global == t.tile_origin + t.local && t.tile_origin[0] == 3 * t.tile[0] &&
                              t.tile_origin[1] == 5 * t.tile[1] && t.local[0] < 3 && t.local[1] < 5 &&
                              t.tile_extent == extent<2>(3, 5) && t.get_tile_extent()[1] == 5 && t.rank == 2 &&
                              t.tile_dim0 == 3 && t.tile_dim1 == 5;
            mismatches[t] = good ? 0 : 1;
        });
    mismatches.synchronize();
    CHECK(std::count(v.begin(), v.end(), 0) == 120);
}

TEST(PFE_8_not_on_the_cpu) {
    const char *text =
        "concurrency::parallel_for_each is not supported on the selected accelerator \"CPU accelerator\".";
    CHECK_THROWS(runtime_exception, parallel_for_each(cpu.default_view, extent<1>(1), [](index<1>) restrict(amp){}),
                 CHECK_CONTAINS(e.what(), text);
                 CHECK(e.get_error_code() == E_INVALIDARG));
    array<int> staging(4, cpu.default_view, accelerator().default_view);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(4), [&staging](index<1> i) restrict(amp) { staging[i] = 1; }),
                 CHECK_CONTAINS(e.what(), text));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(cpu.default_view, extent<1>(2).tile<2>(), [](tiled_index<2>) restrict(amp){}));
}

TEST(no_compiled_kernel_for_a_vulkan_device) {
    const accelerator_view view = vulkan_view();
    for (const accelerator &one : accelerator::get_all())
        CHECK(one.device_path.compare(0, 6, L"vulkan") != 0);
    const auto nothing = [](index<1>) restrict(amp){};
    const auto launch = [&] { parallel_for_each(view, extent<1>(1), nothing); };
    const std::string launch_location = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1);
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), launch_location));
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), "accelerator::direct3d_warp"));
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), "revamp_add_kernels"));
    // A launch that runs on the Vulkan device because its captured array is there reports the same error.
    array<int> a(4, view);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     a.extent, [&a](index<1> i) restrict(amp) { a[i] = 1; }),
                 CHECK_CONTAINS(e.what(), "launches.cpp:"));
}

TEST(PFE_11_nothing_captured) {
    struct nothing {
        void operator()(index<1>) const restrict(amp) {}
    };
    parallel_for_each(extent<1>(100), [](index<1>) restrict(amp){});
    parallel_for_each(extent<1>(100), nothing());
    parallel_for_each(extent<2>(4, 4).tile<2, 2>(), [=](tiled_index<2, 2>) restrict(amp){});
    const nothing kept = {};
    parallel_for_each(accelerator::get_auto_selection_view(), extent<1>(100), kept);
    accelerator().default_view.wait();
}

TEST(captured_values) {
    struct color {
        float r, g, b;
        color(float x, float y, float z) : r(x), g(y), b(z) {}
        color(const color &other) : r(other.r), g(other.g), b(other.b) {} // not noexcept
        float sum() const restrict(amp, cpu) { return r + g + b; }
    };
    struct table {
        int at[200];
    } big;
    std::iota(big.at, big.at + 200, 0);
    enum class level { low = 3, high = 5 };
    constexpr int constant = 7;
    static const int literal = 2;
    const bool flag = true;
    const double d = 0.5;
    const unsigned u = 4000000000u;
    const index<2> shift(1, 2);
    const extent<3> shape(2, 3, 4);
    const graphics::float_4 f4(1, 2, 3, 4);
    const color c(1, 2, 3);
    const level l = level::high;
    int raw[3] = {10, 20, 30};
    const auto twice = [](int x) restrict(amp, cpu) {
        return 2 * x;
    };
    std::vector<double> v(10);
    array_view<double> out(v);
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) {
            switch (i[0]) {
            case 0:
                out[i] = flag ? d : 0;
                break;
            case 1:
                out[i] = u;
                break;
            case 2:
                out[i] = shift[1] + shape[2];
                break;
            case 3:
                out[i] = static_cast<double>(f4.w);
                break;
            case 4:
                out[i] = static_cast<double>(c.sum());
                break;
            case 5:
                out[i] = static_cast<int>(l);
                break;
            case 6:
                out[i] = raw[1];
                break;
            case 7:
                out[i] = twice(constant) + literal;
                break;
            case 8:
                out[i] = big.at[199];
                break;
            default:
                out[i] = shape.size();
            }
        });
    out.synchronize();
    CHECK(v == (std::vector<double>{0.5, 4000000000.0, 6, 4, 6, 5, 20, 16, 199, 24}));
    static_assert(std::is_nothrow_copy_constructible<index<3>>::value &&
                      std::is_nothrow_copy_constructible<extent<3>>::value &&
                      std::is_nothrow_copy_constructible<graphics::float_4>::value &&
                      std::is_nothrow_copy_constructible<graphics::norm>::value,
                  "kernels use a functor's copy constructor only if it cannot throw");
}

namespace {

struct inner {
    array_view<int> view;
    int add;
    inner(const array_view<int> &v, int a) restrict(amp, cpu) : view(v), add(a) {}
    void operator()(index<1> i) const restrict(amp) { view[i] += add; }
};
struct outer {
    inner first, second;
    array_view<const int> source;
    array<int> &target;
    outer(const inner &a, const inner &b, const array_view<const int> &s, array<int> &t)
        : first(a), second(b), source(s), target(t) {}
    void operator()(index<1> i) const restrict(amp) {
        first(i);
        second(i);
        target[i] = source[i] + first.view[i];
    }
};
// Call operators for untiled launches (const and non-const) and for tiled launches.
struct overloaded_functor {
    array_view<int> view;
    void operator()(index<1> i) const restrict(amp) { view[i] = 1; }
    void operator()(index<1> i) restrict(amp) { view[i] = 2; }
    void operator()(tiled_index<2> i) const restrict(amp) { view[i] = 3; }
};
int copy_count = 0;
struct counts_copies {
    array_view<int> view;
    int value;
    counts_copies(const array_view<int> &v) : view(v), value(0) {}
    counts_copies(const counts_copies &other) : view(other.view), value(other.value + 1) { ++copy_count; }
    void operator()(index<1> i) const restrict(amp) { view[i] = value; }
};
struct launches_when_copied {
    array_view<int> view, other;
    launches_when_copied(const array_view<int> &v, const array_view<int> &o) : view(v), other(o) {}
    launches_when_copied(const launches_when_copied &from) : view(from.view), other(from.other) {
        const array_view<int> mine = other;
        parallel_for_each(
            mine.extent, [=](index<1> i) restrict(amp) { mine[i] += 10; });
    }
    void operator()(index<1> i) const restrict(amp) { view[i] = 5; }
};
struct throws_when_copied {
    array_view<int> view;
    throws_when_copied(const array_view<int> &v) : view(v) {}
    throws_when_copied(const throws_when_copied &from) : view(from.view) { throw 42; }
    void operator()(index<1> i) const restrict(amp) { view[i] = 5; }
};
// Views in a base class's array and in a derived class, without virtual functions.
struct base_functor {
    array_view<int> all[2];
};
struct derived : base_functor {
    array_view<int, 2> more;
    derived(const array_view<int> &a, const array_view<int> &b, const array_view<int, 2> &c)
        : base_functor{{a, b}}, more(c) {}
    void operator()(index<1> i) const restrict(amp) { more(0, i[0]) = all[0][i] + all[1](i); }
};

} // namespace

TEST(functors_with_functors) {
    std::vector<int> a(5, 1), b(5, 10);
    array_view<int> va(a), vb(b);
    array<int> target(5);
    const std::vector<int> s = {1, 2, 3, 4, 5};
    const outer functor(inner(va, 1), inner(vb, 2), array_view<const int>(s), target);
    parallel_for_each(target.extent, functor);
    const std::vector<int> out = target;
    CHECK(va[4] == 2 && vb[4] == 12 && out == (std::vector<int>{3, 4, 5, 6, 7}));
    const inner kept(va, 100);
    parallel_for_each(
        va.extent, [ =, &target ](index<1> i) restrict(amp) {
            kept(i);
            inner(vb, 7)(i);
            target[i] = kept.view[i];
        });
    CHECK(va[0] == 102 && vb[0] == 19 && std::vector<int>(target)[4] == 102);
    parallel_for_each(va.extent, overloaded_functor{va});
    CHECK(va[0] == 1);
    parallel_for_each(extent<1>(4).tile<2>(), overloaded_functor{va});
    CHECK(va[0] == 3 && va[4] == 1);
    std::vector<int> m(10);
    parallel_for_each(va.extent, derived(va, vb, array_view<int, 2>(2, 5, m)));
    // The last view of m has been released, so its data is in m.
    CHECK(m == (std::vector<int>{22, 22, 22, 22, 20, 0, 0, 0, 0, 0}));
}

TEST(derived_functor_and_arrays_of_views) {
    std::vector<int> a(5, 1), b(5, 10), m(10);
    array_view<int, 2> more(2, 5, m);
    parallel_for_each(extent<1>(5), derived(array_view<int>(a), array_view<int>(b), more));
    CHECK(more(0, 4) == 11 && more(1, 4) == 0);
    std::array<array_view<int>, 3> views = {{array_view<int>(a), array_view<int>(b), array_view<int>(a).section(1, 2)}};
    parallel_for_each(
        extent<1>(2), [=](index<1> i) restrict(amp) {
            views[0][i] = 7;
            views[1][i] = 8;
        });
    CHECK(views[0][1] == 7 && views[1][0] == 8 && views[2][0] == 7);
    const array_view<int> plain[2] = {views[0], views[1]};
    parallel_for_each(
        extent<1>(2), [=](index<1> i) restrict(amp) { plain[1][i] = plain[0][i] * 2; });
    CHECK(views[1][1] == 14);
}

TEST(functors_are_copied_once) {
    std::vector<int> v(2000);
    array_view<int> view(v);
    copy_count = 0;
    const counts_copies functor(view);
    parallel_for_each(view.extent, functor);
    CHECK(view[0] == 1 && view[1999] == 1 && copy_count == 1);
    const auto lambda = [=](index<1> i) restrict(amp) {
        functor(i);
    };
    copy_count = 0;
    parallel_for_each(view.extent, lambda);
    CHECK(view[0] == 2 && view[1999] == 2);
    CHECK(copy_count == 1);
}

TEST(launch_inside_a_copy_constructor) {
    std::vector<int> v(20), w(10);
    array_view<int> view(v), other(w);
    parallel_for_each(view.extent, launches_when_copied(view, other));
    CHECK(view[19] == 5 && other[9] == 10);
}

TEST(exception_while_capturing) {
    std::vector<int> v(20);
    array_view<int> view(v);
    bool thrown = false;
    try {
        parallel_for_each(view.extent, throws_when_copied(view));
    } catch (int number) {
        thrown = number == 42;
    }
    CHECK(thrown && view[0] == 0);
    // The exception does not affect the next launch.
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0]; });
    CHECK(view[19] == 19);
}

TEST(arrays_by_reference) {
    const std::vector<int> v = {1, 2, 3, 4};
    array<int> a(4, v.begin()), b(4), d(4);
    const array<int> &c = a;
    array<int, 2> m(2, 2);
    parallel_for_each(
        a.extent, [&](index<1> i) restrict(amp) { b[i] = c[i] + a(i) + c.extent[0]; });
    parallel_for_each(
        m.extent, [&m, &b, &d ](index<2> i) restrict(amp) {
            m[i] = b[i[0] * 2 + i[1]];
            m(i[0], i[1]) += m[i[0]][i[1]];
            m.section(i)[index<2>()] += 1;
            m.view_as(extent<1>(4))[2 * i[0] + i[1]] += 1;
            d.reinterpret_as<unsigned>()[2 * i[0] + i[1]] = 5;
            *(m.data() + 2 * i[0] + i[1]) += 1;
        });
    const std::vector<int> out = m, rest = d;
    CHECK(out == (std::vector<int>{15, 19, 23, 27}));
    CHECK(rest == std::vector<int>(4, 5));
    // A reference in a captured struct.
    struct holder {
        array<int> &first;
        const array<int> &second;
    } both = {b, a};
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) { both.first[i] = both.second[i]; });
    CHECK(std::vector<int>(b) == v);
    // One array captured twice.
    array<int> &alias = b;
    parallel_for_each(
        b.extent, [&b, &alias ](index<1> i) restrict(amp) { b[i] = alias[i] * 2; });
    CHECK(std::vector<int>(b)[3] == 8);
}

#if !REVAMP_DEVICE_LANGUAGE // the kernel compiler rejects arrays captured by value
TEST(array_by_value_is_an_error) {
    array<int> a(4);
    std::vector<int> v(4);
    array_view<int> view(v);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [ a, view ](index<1> i) restrict(amp) { view[i] = a[i]; }),
                 CHECK_CONTAINS(e.what(), "by reference"));
}
#endif

TEST(SEL_4_to_6_captured_arrays_determine_the_accelerator_view) {
    const accelerator_view other = accelerator().create_view(), third = accelerator().create_view();
    array<int> a(4, other), b(4, third), c(4, other);
    const auto both = [&a, &b ](index<1> i) restrict(amp) {
        a[i] = b[i];
    };
    CHECK_THROWS(runtime_exception, parallel_for_each(a.extent, both));
    CHECK_THROWS(runtime_exception, parallel_for_each(other, a.extent, both));
    CHECK_THROWS(runtime_exception, parallel_for_each(
                                        third, a.extent, [&a](index<1> i) restrict(amp) { a[i] = 0; }));
    parallel_for_each(
        a.extent, [&a, &c ](index<1> i) restrict(amp) { a[i] = c[i] = i[0]; });
    parallel_for_each(
        other, a.extent, [&a](index<1> i) restrict(amp) { a[i] += 1; });
    parallel_for_each(
        accelerator::get_auto_selection_view(), a.extent, [&a](index<1> i) restrict(amp) { a[i] += 1; });
    CHECK(std::vector<int>(a)[3] == 5);
    array_view<int> view(a);
    parallel_for_each(
        third, view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    CHECK(view[3] == 6);
}

TEST(views_inside_kernels) {
    std::vector<int> v(24);
    array_view<int, 3> view(2, 3, 4, v);
    array_view<int> line(24, v);
    const extent<3> whole = view.extent;
    parallel_for_each(
        extent<2>(2, 3), [=](index<2> i) restrict(amp) {
            array_view<int, 2> plane = view[i[0]];
            array_view<int> row = plane[i[1]], copy(row), part = copy.section(1, 3);
            copy = row;
            row[0] = row.extent[0] + plane.extent[0];
            part[0] = 1;
            view.section(index<3>(i[0], i[1], 2), extent<3>(1, 1, 2))(0, 0, 0) = 2;
            row.view_as(extent<2>(2, 2))(1, 1) = 3;
            int local[4] = {5, 6, 7, 8};
            array_view<int> own(4, local), other(local);
            own[0] += other[3];
            array_view<const int> constant = own;
            if (i[0] == 1 && i[1] == 2) row.reinterpret_as<unsigned>()[0] = static_cast<unsigned>(constant[0]);
            view.discard_data();
        });
    view.synchronize();
    CHECK(v[0] == 7 && v[1] == 1 && v[2] == 2 && v[3] == 3 && v[20] == 13 && v[23] == 3 && line.extent[0] == 24 &&
          whole.size() == 24);
}

// Kernels call this function, which uses tile_static memory.
template <int Size> int tile_sum(const tiled_index<Size> &t, int value) restrict(amp) {
    tile_static int parts[Size];
    parts[t.local[0]] = value;
    t.barrier.wait_with_tile_static_memory_fence();
    int sum = 0;
    for (int i = 0; i < Size; ++i)
        sum += parts[i];
    t.barrier.wait();
    return sum;
}

TEST(barrier_tile_static) {
    std::vector<int> v(256);
    std::iota(v.begin(), v.end(), 0);
    array_view<int> view(v);
    struct cell {
        int a;
        float b;
    };
    parallel_for_each(
        view.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static cell cells[2][32];
            tile_static int count;
            if (t.local[0] == 0) count = 0;
            cells[1][t.local[0]].a = view[t.global];
            t.barrier.wait();
            atomic_fetch_inc(&count);
            t.barrier.wait_with_all_memory_fence();
            int *pointer = &count;
            view[t.global] = cells[1][31 - t.local[0]].a + *pointer + tile_sum<32>(t, 1);
            array_view<int> tile_view(1, &count);
            t.barrier.wait_with_global_memory_fence();
            all_memory_fence(t.barrier);
            if (tile_view[0] != 32) view[t] = -1;
        });
    CHECK(view[0] == 31 + 64 && view[255] == 224 + 64);
    parallel_for_each(
        view.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) { view[t.global] = tile_sum(t, t.tile[0]); });
    CHECK(view[0] == 0 && view[255] == 3 * 64);
}

TEST(barrier_large_tile_static) {
    // tile_static variables are thread_local. This test has many of them, 16 KiB each, as a large program does.
    std::vector<float> v(64);
    array_view<float> view(v);
#define BIG(n)                                                                                                         \
    parallel_for_each(                                                                                                 \
        view.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {                                                 \
            tile_static float big[64][64];                                                                             \
            big[63 - t.local[0]][n] = float(t.local[0]);                                                               \
            t.barrier.wait();                                                                                          \
            view[t.global] += big[63 - (31 - t.local[0])][n];                                                          \
        })
    BIG(0);
    BIG(1);
    BIG(2);
    BIG(3);
    BIG(4);
    BIG(5);
    BIG(6);
    BIG(7);
    BIG(8);
    BIG(9);
    BIG(10);
    BIG(11);
    BIG(12);
    BIG(13);
    BIG(14);
    BIG(15);
    BIG(16);
    BIG(17);
    BIG(18);
    BIG(19);
    CHECK(view[0] == 20 * 31.0f && view[63] == 0.0f);
    std::thread([&] {
        BIG(20);
        accelerator().default_view.wait();
    }).join();
}

namespace {

template <int K> void launch_with_64_KiB(const array_view<float> &view) {
    parallel_for_each(
        view.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static float big[16 * 1024];
            big[t.local[0]] = static_cast<float>(K);
            t.barrier.wait();
            view[t.global] += big[31 - t.local[0]];
        });
}
template <int... K> void launch_each(std::integer_sequence<int, K...>, const array_view<float> &view) {
    (launch_with_64_KiB<K>(view), ...);
}

} // namespace

TEST(barrier_large_tile_static_and_large_locals) {
    // These variables together need more memory than the call stack of the library's threads (2 MiB).
    std::vector<float> v(4096);
    array_view<float> view(v);
    launch_each(std::make_integer_sequence<int, 40>(), view);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            float local[256 * 1024];
            for (int k = 0; k < 256 * 1024; k += 512)
                local[k] = static_cast<float>(k + i[0]);
            view[i] += local[512 * (i[0] % 100)];
        });
    CHECK(view[1] == 780 + 513 && view[4095] == 780 + 512 * 95 + 4095);
}

TEST(barrier_and_failing_kernels) {
    const accelerator_view view = accelerator(accelerator::direct3d_warp).create_view();
    std::vector<int> v(256);
    array_view<int> a(v);
    for (int round = 0; round < 3; ++round) {
        parallel_for_each(
            view, extent<1>(100000), [](index<1> i) restrict(amp) {
                if (i[0] == 77) direct3d_abort();
            });
        CHECK_THROWS(runtime_exception, (view.wait(), 0),
                     CHECK(e.what() == std::string("Reference Rasterizer: Shader abort instruction hit")));
        view.wait(); // the failure is reported only once
        parallel_for_each(
            view, extent<1>(1000), [](index<1> i) restrict(amp) {
                if (i[0] == 500) direct3d_errorf("at %d", i[0]);
            });
        CHECK_THROWS(runtime_exception, view.create_marker().get(), CHECK(e.what() == std::string("at 500")));
#if !defined(__HIP__) // the kernel compiler rejects `throw`
        parallel_for_each(
            view, a.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
                tile_static int x[32];
                x[t.local[0]] = 1;
                t.barrier.wait();
                if (t.local[0] == 5) throw 5; // the other threads continue
                t.barrier.wait();
                a[t] = x[31 - t.local[0]];
            });
        // The failure is reported also if the kernel has ended before the call.
        if (round == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        CHECK_THROWS(runtime_exception, (a.synchronize(), 0), CHECK_CONTAINS(e.what(), "threw"));
#endif
        parallel_for_each(
            view, a.extent, [=](index<1> i) restrict(amp) { a[i] = i[0]; });
        CHECK(a[255] == 255);
    }
}

TEST(threads_that_launch) {
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    array<int> shared(8);
    for (int n = 0; n < 8; ++n)
        threads.emplace_back([n, &good, &shared] {
            std::vector<int> v(500);
            array_view<int> view(v);
            array<int> own(500);
            const accelerator_view queue =
                accelerator().create_view(n % 2 ? queuing_mode_immediate : queuing_mode_automatic);
            for (int round = 0; round < 10; ++round) {
                parallel_for_each(
                    own.extent, [&own, n ](index<1> i) restrict(amp) { own[i] = i[0] + n; });
                parallel_for_each(
                    queue, view.extent, [=](index<1> i) restrict(amp) { view[i] += n; });
                array<int> copied(own);
                copy(copied, view.section(0, 500));
                parallel_for_each(
                    extent<1>(1), [&shared, n ](index<1>) restrict(amp) { atomic_fetch_inc(&shared[n]); });
            }
            if (view[499] == 499 + n) ++good;
        });
    for (std::thread &thread : threads)
        thread.join();
    const std::vector<int> counts = shared;
    CHECK(good == 8 && counts == std::vector<int>(8, 10));
}

CHECK_MAIN
