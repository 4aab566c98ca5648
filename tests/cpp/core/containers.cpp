// Tests of array and array_view: constructors, elements, assignment (docs/spec/arrays.md, docs/spec/array-views.md).
#include <amp.h>

#include "../check.hpp"

#include <array>
#include <deque>
#include <list>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

using namespace concurrency;

namespace {

accelerator_view host_view() {
    return accelerator(accelerator::cpu_accelerator).default_view;
}
std::vector<int> ascending(int n) {
    std::vector<int> v(static_cast<std::size_t>(n));
    std::iota(v.begin(), v.end(), 0);
    return v;
}
template <int N> std::vector<int> read(const array<int, N> &a) {
    return a;
}

// Has a constructor, but no default constructor.
struct int_float_pair {
    int a;
    float b;
    int_float_pair(int x, float y) restrict(amp, cpu) : a(x), b(y) {}
    bool operator==(const int_float_pair &other) const { return a == other.a && b == other.b; }
};

array<int> global_array(3);
array_view<int> global_view(3);

} // namespace

TEST(array_shapes) {
    const accelerator_view view = accelerator().default_view;
    array<int> a1(extent<1>(4)), a2(4);
    array<int, 2> b1(extent<2>(2, 3)), b2(2, 3);
    array<int, 3> c1(extent<3>(2, 3, 4)), c2(2, 3, 4);
    CHECK(a1.extent == a2.extent && b1.extent == b2.extent && c1.get_extent() == c2.extent && c2.extent.size() == 24);
    CHECK(a1.accelerator_view == view && a1.get_accelerator_view() == view && a1.associated_accelerator_view == view);
    array<int> d1(4, view), d2(extent<1>(4), view, access_type_auto);
    array<int, 2> e1(2, 3, view), e2(extent<2>(2, 3), view);
    array<int, 3> f1(2, 3, 4, view);
    CHECK(d1.accelerator_view == view && e2.extent[1] == 3 && f1.extent[2] == 4);
    static_assert(array<int, 3>::rank == 3 && std::is_same<array<float>::value_type, float>::value, "");
    const int sizes[] = {1, 2, 3, 2, 4};
    array<float, 5> rank_5((extent<5>(sizes)));
    CHECK(rank_5.extent == extent<5>(sizes) && rank_5.extent[4] == 4 && rank_5.extent.size() == 48);
}

TEST(array_from_iterators) {
    const accelerator_view view = accelerator().default_view;
    const std::vector<int> v = ascending(6);
    const std::deque<int> deque(v.begin(), v.end());
    const std::list<int> list(v.begin(), v.end());
    const std::set<int> set(v.begin(), v.end());
    CHECK(read(array<int>(6, v.begin(), v.end())) == v && read(array<int>(6, v.data())) == v);
    CHECK(read(array<int>(6, deque.begin(), deque.end())) == v && read(array<int>(6, list.begin())) == v);
    CHECK(read(array<int>(6, set.begin(), set.end(), view)) == v);
    CHECK(read(array<int, 2>(2, 3, list.begin(), list.end())) == v && read(array<int, 2>(2, 3, v.begin())) == v);
    CHECK(read(array<int, 3>(1, 2, 3, v.data(), v.data() + 6)) == v &&
          read(array<int, 3>(1, 2, 3, deque.begin())) == v);
    CHECK(read(array<int, 2>(extent<2>(3, 2), v.begin(), view)) == v &&
          read(array<int, 2>(3, 2, v.begin(), v.end(), view)) == v);
    CHECK(read(array<int, 3>(3, 2, 1, v.begin(), view, access_type_auto)) == v);
    std::istringstream text("0 1 2 3 4 5"), longer_text("0 1 2 3 4 5 6");
    CHECK(read(array<int>(6, std::istream_iterator<int>(text), std::istream_iterator<int>())) == v);
    CHECK(read(array<int>(6, std::istream_iterator<int>(longer_text))) == v);
    // Elements of another type are converted.
    const std::vector<short> small(v.begin(), v.end());
    CHECK(read(array<int>(6, small.begin(), small.end())) == v);
    int plain[] = {0, 1, 2, 3, 4, 5};
    CHECK(read(array<int>(6, plain)) == v && read(array<int>(6, plain, plain + 6)) == v);
}

TEST(array_from_iterators_of_wrong_count) {
    const std::vector<int> v = ascending(6);
    const std::list<int> list(v.begin(), v.end());
    CHECK_THROWS(runtime_exception, array<int>(5, v.begin(), v.end()), CHECK_CONTAINS(e.what(), "6 elements"));
    CHECK_THROWS(runtime_exception, array<int>(7, list.begin(), list.end()));
    CHECK_THROWS(runtime_exception, array<int>(6, v.end(), v.begin()));
    CHECK_THROWS(runtime_exception, (array<int, 2>(2, 2, v.begin(), v.end())));
    for (const char *text : {"1 2", "1 2 3 4"}) {
        std::istringstream stream(text);
        CHECK_THROWS(runtime_exception,
                     array<int>(3, std::istream_iterator<int>(stream), std::istream_iterator<int>()));
    }
}

TEST(STG_2_to_7_staging_arrays) {
    const accelerator_view host = host_view(), device = accelerator().default_view;
    const std::vector<int> v = ascending(6);
    array<int> s(6, host, device);
    CHECK(s.accelerator_view == host && s.associated_accelerator_view == device &&
          s.get_associated_accelerator_view() == device);
    array<int, 2> filled(2, 3, v.begin(), v.end(), host, device), first(2, 3, v.begin(), host, device);
    CHECK(read(filled) == v && read(first) == v && filled(1, 2) == 5 && filled[index<2>(1, 0)] == 3);
    array<int, 2> from_extent(extent<2>(2, 3), v.begin(), v.end(), host, device);
    array<int, 3> three(1, 2, 3, v.begin(), v.end(), host, device);
    CHECK(three(0, 1, 2) == 5 && from_extent.associated_accelerator_view == device);
    for (int i = 0; i < 6; ++i)
        s[i] = 5 - i;
    std::sort(s.data(), s.data() + 6);
    CHECK(read(s) == v);
    array<int> reversed(6, device, host), same(6, device, device);
    CHECK(reversed.associated_accelerator_view == device && same.associated_accelerator_view == device);
    array<int> copy(s);
    CHECK(copy.associated_accelerator_view == device && read(copy) == v);
}

TEST(arrays_from_views) {
    std::vector<int> v = ascending(6);
    const accelerator_view device = accelerator().default_view;
    array_view<int> view(v);
    array_view<const int> constant(v);
    array_view<int, 2> matrix(2, 3, v);
    CHECK(read(array<int>(view)) == v && read(array<int>(constant)) == v && read(array<int, 2>(matrix)) == v);
    CHECK(read(array<int>(view, device)) == v && read(array<int>(constant, device, access_type_auto)) == v);
    CHECK(array<int>(view, host_view(), device).associated_accelerator_view == device);
    // The rows of the section have gaps between them.
    array<int, 2> part(matrix.section(0, 1, 2, 2));
    CHECK(read(part) == (std::vector<int>{1, 2, 4, 5}));
    array<int, 2> assigned(2, 2);
    assigned = matrix.section(0, 0, 2, 2);
    CHECK(read(assigned) == (std::vector<int>{0, 1, 3, 4}));
}

TEST(array_errors) {
    CHECK_THROWS(runtime_exception, array<int>(0));
    CHECK_THROWS(runtime_exception, array<int>(-1));
    CHECK_THROWS(runtime_exception, (array<int, 2>(3, 0)));
    CHECK_THROWS(runtime_exception, (array<int, 3>(2, -5, 2)));
    CHECK_THROWS(runtime_exception, (array<double, 3>(100000, 100000, 100000)));
    CHECK_THROWS(runtime_exception, array<int>(extent<1>(2147483647).tile<16>().pad()));
    if (!accelerator().supports_cpu_shared_memory)
        CHECK_THROWS(runtime_exception, array<int>(4, accelerator().default_view, access_type_read_write));
}

TEST(SEL_29_array_copies_and_moves) {
    const std::vector<int> v = ascending(6);
    array<int> a(6, v.begin()), b(6);
    b = a;
    array<int> c(a);
    parallel_for_each(
        a.extent, [&a](index<1> i) restrict(amp) { a[i] = -1; });
    CHECK(read(b) == v && read(c) == v && read(a) == std::vector<int>(6, -1));
    array<int> d(std::move(b));
    CHECK(read(d) == v && d.accelerator_view == a.accelerator_view);
    CHECK_THROWS(uninitialized_object, read(b));
    CHECK_THROWS(uninitialized_object, b[0]);
    CHECK_THROWS(uninitialized_object, std::as_const(b)[index<1>(0)]);
    CHECK_THROWS(uninitialized_object, b.data());
    CHECK_THROWS(uninitialized_object, b.section(0, 1));
    CHECK_THROWS(uninitialized_object, b.view_as(extent<2>(2, 3)));
    CHECK_THROWS(uninitialized_object, b.reinterpret_as<float>());
    CHECK_THROWS(uninitialized_object, array_view<int>(b));
    array<int, 2> square(2, 3), moved_to(std::move(square));
    CHECK_THROWS(uninitialized_object, square[0]);
    CHECK_THROWS(uninitialized_object, std::as_const(square)[0]);
    CHECK_THROWS(uninitialized_object, square(1, 2));
    b = std::move(d);
    CHECK(read(b) == v);
    // A moved-from array gets new accelerator_views when an array is assigned, but not when a view is assigned.
    array<int> staging(6, v.begin(), host_view(), accelerator().default_view);
    d = staging;
    CHECK(read(d) == v && d.associated_accelerator_view == accelerator().default_view);
    array<int> move_target(std::move(staging));
    staging = array_view<const int>(b).section(2, 3);
    CHECK(read(staging) == (std::vector<int>{2, 3, 4}) && staging.extent[0] == 3 && staging[2] == 4);
    CHECK(staging.accelerator_view == host_view() && read(move_target) == v);
    array<int> &itself = b;
    b = itself;
    b = std::move(itself);
    CHECK(read(b) == v);
    parallel_for_each(
        b.extent, [&b](index<1> i) restrict(amp) { b[i] += 1; });
    CHECK(read(b)[5] == 6);
    static_assert(std::is_nothrow_move_constructible<array<int>>::value, "vectors move them");
    array<int> other(7);
    CHECK_THROWS(runtime_exception, other = b);
}

TEST(arrays_in_containers) {
    std::vector<array<int>> all;
    for (int n = 1; n <= 10; ++n)
        all.emplace_back(n);
    all.push_back(array<int>(11));
    all.erase(all.begin());
    for (array<int> &a : all)
        parallel_for_each(
            a.extent, [&a](index<1> i) restrict(amp) { a[i] = a.extent[0] * 100 + i[0]; });
    for (array<int> &a : all) {
        const std::vector<int> v = a;
        CHECK(static_cast<int>(v.size()) == a.extent[0] && v.back() == a.extent[0] * 101 - 1);
    }
    std::unique_ptr<array<int, 2>> owner(new array<int, 2>(2, 2));
    array<int, 2> &a = *owner;
    parallel_for_each(
        a.extent, [&](index<2> i) restrict(amp) { a[i] = i[0] + i[1]; });
    CHECK(read(a) == (std::vector<int>{0, 1, 1, 2}));
}

TEST(static_objects) {
    parallel_for_each(
        global_array.extent, [&a = global_array](index<1> i) restrict(amp) { a[i] = i[0] * 2; });
    CHECK(read(global_array) == (std::vector<int>{0, 2, 4}));
    array_view<int> view = global_view;
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0] * 3; });
    CHECK(global_view[2] == 6);
}

TEST(array_elements) {
    const std::vector<int> v = ascending(24);
    array<int, 3> a(2, 3, 4, v.begin());
    if (a.cpu_access_type == access_type_none) SKIP("the host cannot access arrays on the default accelerator");
    const array<int, 3> &c = a;
    CHECK(a[index<3>(1, 2, 3)] == 23 && c(index<3>(0, 1, 0)) == 4 && a(1, 0, 1) == 13 && c(1, 0, 1) == 13);
    CHECK(a[1][2][3] == 23 && c[1][0](1) == 13 && a(0)[1][1] == 5 && c(1)(2, 3) == 23);
    static_assert(std::is_same<decltype(c[index<3>()]), const int &>::value &&
                      std::is_same<decltype(a(0, 0, 0)), int &>::value,
                  "");
    static_assert(std::is_same<decltype(c[0]), array_view<const int, 2>>::value &&
                      std::is_same<decltype(a[0]), array_view<int, 2>>::value,
                  "");
    a(0, 0, 0) = 7;
    CHECK(*a.data() == 7 && *c.data() == 7 && read(a)[0] == 7);
    array<int> line(3);
    line[0] = 1;
    line(1) = 2;
    line[index<1>(2)] = 3;
    CHECK(read(line) == (std::vector<int>{1, 2, 3}));
    std::vector<int> out = line;
    out = a;
    CHECK(out.size() == 24 && out[23] == 23);
}

TEST(host_cannot_access_array) {
    for (const accelerator &one : accelerator::get_all()) {
        if (one.device_path == accelerator::cpu_accelerator) continue;
        array<int> a(4, one.default_view);
        if (a.cpu_access_type != access_type_none) continue;
        CHECK_THROWS(runtime_exception, a[0], CHECK_CONTAINS(e.what(), "array"));
        CHECK(!a.data() && !static_cast<const array<int> &>(a).data());
        return;
    }
    SKIP("the host can access the arrays of every accelerator");
}

TEST(access_types_on_host_threads) {
    const accelerator_view view = accelerator(L"host").create_view();
    for (access_type type : {access_type_none, access_type_read, access_type_write, access_type_read_write}) {
        array<int> a(4, view, type);
        const array<int> &c = a;
        CHECK(a.cpu_access_type == type && a.get_cpu_access_type() == type && array<int>(a).cpu_access_type == type);
        parallel_for_each(
            view, a.extent, [&a](index<1> i) restrict(amp) { a[i] = a.data() ? i[0] + 5 : -1; });
        CHECK(read(a) == (std::vector<int>{5, 6, 7, 8}));
        CHECK((a.data() == nullptr) == (type == access_type_none) &&
              (c.data() == nullptr) == (type == access_type_none));
        if (type == access_type_none) {
            CHECK_THROWS(runtime_exception, a[0], CHECK_CONTAINS(e.what(), "array"));
            CHECK_THROWS(runtime_exception, c(0));
            CHECK(array_view<int>(a)[2] == 7);
        } else if (type != access_type_write) {
            CHECK(c[3] == 8 && *c.data() == 5);
        }
    }
    CHECK(array<int>(4, accelerator(accelerator::cpu_accelerator).default_view).cpu_access_type ==
          access_type_read_write);
}

TEST(array_elements_of_any_class) {
    std::vector<int_float_pair> v(5, int_float_pair(1, 2.0f));
    v[3] = int_float_pair(7, 8.0f);
    array<int_float_pair> a(5, v.begin(), v.end());
    array_view<int_float_pair> view(v);
    parallel_for_each(
        a.extent, [ =, &a ](index<1> i) restrict(amp) {
            int_float_pair p(i[0], view[i].b);
            a[i] = p;
        });
    const std::vector<int_float_pair> out = a;
    CHECK(out.size() == 5 && out[3] == int_float_pair(3, 8.0f) && out[4] == int_float_pair(4, 2.0f));
    std::list<int_float_pair> list;
    copy(a, std::back_inserter(list));
    CHECK(list.size() == 5 && list.back() == out[4]);
    CHECK(view[3].a == 7);
    struct nested {
        struct {
            int x[3];
            float y;
        } inner[2];
        double z;
    };
    array<nested, 2> n(2, 2);
    parallel_for_each(
        n.extent, [&n](index<2> i) restrict(amp) {
            n[i].inner[1].x[2] = i[1];
            n[i].z = i[0];
        });
    const std::vector<nested> m = n;
    CHECK(m[3].inner[1].x[2] == 1 && m[2].z == 1);
    array<unsigned> u(2);
    array<double> d(2);
    array<float> f(2);
    array<long> l(2);
    array<unsigned long long> ull(2);
    CHECK(u.extent == d.extent && l.extent == f.extent && ull.extent.size() == 2);
}

TEST(AV_1_view_constructors) {
    std::vector<int> v = ascending(24);
    const std::vector<int> &cv = v;
    std::array<int, 6> fixed = {{0, 1, 2, 3, 4, 5}};
    int plain[24] = {0, 1, 2, 3};
    const int constant[4] = {4, 3, 2, 1};
    array_view<int> a1(v), a2(24, v), a3(extent<1>(20), v), a4(24, v.data()), a5(extent<1>(3), v.data()), a6(plain),
        a7(fixed), a8(4, plain);
    array_view<int, 2> b1(4, 6, v), b2(extent<2>(2, 3), v), b3(4, 6, v.data()), b4(extent<2>(4, 6), plain);
    array_view<int, 3> c1(2, 3, 4, v), c2(extent<3>(2, 3, 4), v), c3(2, 3, 4, plain), c4(extent<3>(1, 1, 1), v.data());
    CHECK(a1.extent[0] == 24 && a3.extent[0] == 20 && a6.extent[0] == 24 && a7.extent[0] == 6 &&
          a8.get_extent()[0] == 4);
    CHECK(b1(3, 5) == 23 && b2(1, 2) == 5 && b3(0, 1) == 1 && b4(0, 3) == 3 && c1(1, 2, 3) == 23 &&
          c2[index<3>(1, 0, 0)] == 12);
    CHECK(c3(0, 0, 2) == 2 && c4(0, 0, 0) == 0 && a2[23] == 23 && a4(23) == 23 && a5[index<1>(2)] == 2);
    // Views of const elements, over const and non-const data.
    array_view<const int> d1(v), d2(24, v), d3(cv), d4(24, cv), d5(24, v.data()), d6(24, cv.data()), d7(plain),
        d8(constant), d9(fixed), d10(4, constant), d11(4, plain), d12(a1), d13(extent<1>(4), constant);
    array_view<const int, 2> e1(4, 6, v), e2(4, 6, cv), e3(4, 6, plain), e4(extent<2>(2, 2), constant),
        e5(extent<2>(4, 6), cv), e6(b1);
    array_view<const int, 3> f1(2, 3, 4, v), f2(2, 3, 4, cv), f3(2, 3, 4, cv.data()), f4(extent<3>(2, 3, 4), v);
    CHECK(d1[5] == 5 && d2[5] == 5 && d3[5] == 5 && d4[5] == 5 && d5[5] == 5 && d6[5] == 5 && d7[3] == 3 &&
          d8[3] == 1 && d9[5] == 5 && d10[0] == 4);
    CHECK(d11[3] == 3 && d12[5] == 5 && d13[1] == 3 && e1(3, 5) == 23 && e2(3, 5) == 23 && e3(0, 3) == 3 &&
          e4(1, 1) == 1 && e5(3, 5) == 23);
    CHECK(e6(3, 5) == 23 && f1(1, 2, 3) == 23 && f2(1, 2, 3) == 23 && f3(1, 2, 3) == 23 && f4(1, 2, 3) == 23);
    // Views over arrays.
    array<int> a(6, v.begin());
    const array<int> &ca = a;
    array_view<int> g1(a);
    array_view<const int> g2(a), g3(ca), g4 = a;
    array_view<int> g5 = a;
    CHECK(g1[5] == 5 && g2[5] == 5 && g3[5] == 5 && g4[4] == 4 && g5[3] == 3);
    static_assert(array_view<int, 2>::rank == 2 && std::is_same<array_view<int>::value_type, int>::value &&
                      std::is_same<array_view<const int>::value_type, const int>::value,
                  "");
    static_assert(std::is_same<decltype(a1[0]), int &>::value && std::is_same<decltype(d1[0]), const int &>::value &&
                      std::is_same<decltype(e1[0]), array_view<const int, 1>>::value &&
                      std::is_same<decltype(d1.data()), const int *>::value,
                  "");
    static_assert(!std::is_default_constructible<array_view<int>>::value &&
                      !std::is_convertible<int, array_view<int>>::value &&
                      !std::is_convertible<std::vector<int> &, array_view<int>>::value &&
                      !std::is_constructible<array_view<int>, const std::vector<int> &>::value &&
                      !std::is_constructible<array_view<int>, array_view<const int>>::value &&
                      !std::is_constructible<array_view<int>, const array<int> &>::value &&
                      !std::is_constructible<array_view<int>, int, const int *>::value &&
                      !std::is_constructible<array_view<int>, std::vector<float> &>::value,
                  "");
}

TEST(view_larger_than_its_container) {
    std::vector<int> v(5);
    CHECK_THROWS(runtime_exception, (array_view<int>(6, v)), CHECK_CONTAINS(e.what(), "5 elements"));
    CHECK_THROWS(runtime_exception, (array_view<const int, 2>(2, 3, v)));
    CHECK_THROWS(runtime_exception, (array_view<int>(0, v)));
    CHECK_THROWS(runtime_exception, (array_view<int>(-3, v)));
}

TEST(views_are_handles) {
    std::vector<int> v = ascending(6), w(6, 9);
    array_view<int> a(v), b(w);
    const array_view<int> constant(a);
    constant[2] = 20;
    constant(3) = 30;
    CHECK(a[2] == 20 && v[3] == 30);
    b = a; // SEL-28
    b[0] = 100;
    CHECK(v[0] == 100 && w[0] == 9 && b.extent == a.extent);
    array_view<int> &itself = b;
    b = itself;
    b = b.section(1, 3);
    CHECK(b.extent[0] == 3 && b[0] == 1);
    array_view<const int> c(w);
    c = a;
    c = constant;
    c = array_view<const int>(b);
    CHECK(c.extent[0] == 3 && c[1] == 20);
    std::swap(a, b);
    CHECK(a.extent[0] == 3 && b.extent[0] == 6);
    std::vector<array_view<int>> many(5, b);
    many.push_back(a);
    CHECK(many[0][0] == 100 && many[5][0] == 1);
    array_view<int> moved(std::move(many[0]));
    CHECK(moved[0] == 100);
    CHECK(&moved.get_ref(index<1>(1)) == &moved[1]);
    static_assert(std::is_nothrow_copy_constructible<array_view<int>>::value, "");
}

TEST(view_lives_with_its_array) {
    const auto make = [] {
        const std::vector<int> v = ascending(5);
        array<int> a(5, v.begin());
        return array_view<int>(a);
    };
    array_view<int> view = make();
    CHECK(view[4] == 4);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    CHECK(view[4] == 5);
}

TEST(view_without_a_data_source) {
    array_view<int> a(5), b(extent<1>(5)), alias(a);
    array_view<int, 2> m(2, 3);
    array_view<float, 3> n(2, 3, 4);
    CHECK_THROWS(runtime_exception, a.get_source_accelerator_view());
    CHECK_THROWS(runtime_exception, accelerator_view(a.source_accelerator_view));
    CHECK(m.extent.size() == 6 && n.extent.size() == 24);
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) { a[i] = i[0] + 1; });
    CHECK(alias[4] == 5);
    a.discard_data();
    a.refresh();
    int *const data = b.data();
    b[0] = 1;
    parallel_for_each(
        b.extent, [=](index<1> i) restrict(amp) { b[i] = i[0]; });
    CHECK(data != nullptr && b.data() == data && b[3] == 3);
    array_view<int> from(4), to(4);
    from.copy_to(to);
    m[1][2] = 4;
    m.section(1, 0, 1, 3)(0, 0) = 3;
    CHECK(m(1, 2) == 4 && m(1, 0) == 3);
    std::vector<int> v(6);
    copy(m, v.begin());
    copy(v.begin(), v.end(), m);
    from = to;
}

TEST(a_view_over_an_element_of_another_view) {
    std::vector<int> data(8, 1);
    array_view<int> whole(8, data), part(4, &whole[2]);
    parallel_for_each(
        whole.extent, [=](index<1> i) restrict(amp) { whole[i] = 5; });
    // `part` is a separate data source and reads only the host memory, so `whole` writes back first.
    whole.synchronize();
    CHECK(part[0] == 5 && &part[0] == &data[2]);
    parallel_for_each(
        part.extent, [=](index<1> i) restrict(amp) { part[i] = 7; });
    part.synchronize();
    whole.refresh();
    CHECK(whole[1] == 5 && whole[2] == 7 && whole[5] == 7 && whole[6] == 5);
    // A section shares the data source of its view, and needs neither synchronize() nor refresh().
    array_view<int> section = whole.section(2, 4);
    parallel_for_each(
        section.extent, [=](index<1> i) restrict(amp) { section[i] = 9; });
    CHECK(whole[2] == 9 && whole[5] == 9 && whole[6] == 5);
}

TEST(source_accelerator_view) {
    std::vector<int> v(4);
    array<int> a(4);
    array_view<int> host(v), device(a);
    const accelerator cpu(accelerator::cpu_accelerator);
    CHECK(host.source_accelerator_view == cpu.default_view && cpu.default_view == host.get_source_accelerator_view());
    CHECK(device.source_accelerator_view == a.accelerator_view &&
          device.section(1, 2).source_accelerator_view == a.accelerator_view);
    CHECK(host.source_accelerator_view != device.source_accelerator_view &&
          host.source_accelerator_view == host.source_accelerator_view);
    CHECK(host.source_accelerator_view.accelerator == cpu && host.source_accelerator_view.get_accelerator() == cpu);
    const accelerator_view view = device.source_accelerator_view;
    const accelerator source_accelerator = array_view<const int>(device).source_accelerator_view.accelerator;
    CHECK(view == a.accelerator_view && source_accelerator == accelerator());
    device.source_accelerator_view.wait();
    device.source_accelerator_view.flush();
    CHECK(host.source_accelerator_view.accelerator.get_description() == cpu.description);
    array<int> on_same_view(4, device.source_accelerator_view);
    parallel_for_each(
        device.source_accelerator_view, device.extent, [=](index<1> i) restrict(amp) { device[i] = i[0]; });
    CHECK(device[3] == 3);
}

TEST(properties_in_templates) {
    std::vector<int> v(6);
    array_view<int, 2> a(2, 3, v);
    const auto rank = [](const auto &e) { return std::decay_t<decltype(e)>::rank; };
    extent<2> e = a.extent;
    auto f = a.extent;
    e[0] = 7;
    f[0] = 5;
    CHECK(rank(a.extent) == 2 && a.extent[0] == 2 && e.size() == 21 && f.contains(index<2>(4, 2)) &&
          a.extent.contains(index<2>(1, 2)));
    index<2> size(a.extent[0], a.extent[1]);
    CHECK((a.extent + index<2>(1, 1)).size() == 12 && size[1] == 3);
}

CHECK_MAIN
