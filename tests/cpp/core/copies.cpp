// Tests copy, copy_async, sections and views of views (docs/spec/copies.md, docs/spec/array-views.md#parts-and-shapes).
#include <amp.h>

#include "../check.hpp"

#include <deque>
#include <iterator>
#include <list>
#include <numeric>
#include <set>
#include <sstream>

using namespace concurrency;

namespace {

std::vector<int> ascending(int n) {
    std::vector<int> v(static_cast<std::size_t>(n));
    std::iota(v.begin(), v.end(), 0);
    return v;
}
struct int_float_pair {
    int a;
    float b;
    int_float_pair(int x, float y) : a(x), b(y) {}
};
// A user-defined input iterator.
struct squares {
    typedef std::input_iterator_tag iterator_category;
    typedef int value_type;
    typedef std::ptrdiff_t difference_type;
    typedef const int *pointer;
    typedef int reference;
    int n;
    int operator*() const { return n * n; }
    squares &operator++() {
        ++n;
        return *this;
    }
    void operator++(int) { ++n; }
    bool operator==(const squares &other) const { return n == other.n; }
    bool operator!=(const squares &other) const { return n != other.n; }
};
template <class A> std::vector<int> read(const A &a) {
    std::vector<int> v;
    copy(a, std::back_inserter(v));
    return v;
}

} // namespace

TEST(copy_in_and_out) {
    const std::vector<int> v = ascending(6);
    const std::list<int> list(v.begin(), v.end());
    const std::set<int> set(v.begin(), v.end());
    std::vector<int> w(6);
    array<int> a(6);
    array_view<int> host(w);
    array_view<int, 2> strided_section = array_view<int, 2>(4, 5).section(1, 1, 2, 3);
    copy(v.begin(), v.end(), a);
    copy(a, w.begin());
    CHECK(w == v);
    copy(list.begin(), list.end(), strided_section);
    CHECK(read(strided_section) == v && strided_section(1, 0) == 3);
    copy(set.begin(), strided_section);
    copy(list.begin(), a);
    CHECK(read(a) == v && read(strided_section) == v);
    copy(squares{0}, squares{6}, a);
    CHECK(read(a) == (std::vector<int>{0, 1, 4, 9, 16, 25}));
    copy(squares{1}, host);
    CHECK(host[5] == 36);
    std::istringstream text("5 4 3 2 1 0");
    copy(std::istream_iterator<int>(text), std::istream_iterator<int>(), strided_section);
    CHECK(strided_section(0, 0) == 5 && strided_section(1, 2) == 0);
    int plain[6];
    copy(strided_section, plain);
    CHECK(plain[0] == 5);
    copy(plain, plain + 6, a);
    copy(&plain[0], host);
    std::deque<int> deque(6);
    copy(a, deque.begin());
    CHECK(deque[1] == 4);
    std::ostringstream out;
    copy(a, std::ostream_iterator<int>(out, " "));
    CHECK(out.str() == "5 4 3 2 1 0 ");
    // Unqualified calls must also work while std::copy is in scope.
    using std::copy;
    copy(v.begin(), v.end(), w.begin());
    copy(v.begin(), v.end(), a);
    concurrency::copy(array_view<const int>(host), w.begin());
    std::vector<short> small(6);
    copy(a, small.begin());
    CHECK(small[5] == 5);
    copy(array_view<int>(host), w.begin());
    copy(v.begin(), v.end(), array_view<int>(a));
    copy(v.begin(), array_view<int>(a).section(0, 6));
    const array_view<int> constant(host);
    copy(v.begin(), v.end(), constant);
    copy(a, constant);
    CHECK(w == v);
}

TEST(copy_between_arrays_and_views) {
    const std::vector<int> v = ascending(24);
    const accelerator_view other = accelerator().create_view();
    const array<int, 3> source(2, 3, 4, v.begin());
    array<int, 3> a(2, 3, 4), b(2, 3, 4, other);
    array_view<int, 3> view(a);
    array_view<const int, 3> constant(source);
    copy(source, a);
    copy(source, view);
    copy(a, b);
    copy(view, b);
    copy(constant, b);
    copy(constant, view);
    copy(view, array_view<int, 3>(b));
    copy(array_view<const int, 3>(view), array_view<int, 3>(b));
    CHECK(std::vector<int>(b) == v);
    a.copy_to(b);
    a.copy_to(array_view<int, 3>(b));
    view.copy_to(b);
    view.copy_to(array_view<int, 3>(b));
    constant.copy_to(b);
    constant.copy_to(view);
    source.copy_to(a);
    CHECK(std::vector<int>(b) == v && read(view) == v);
    // Copies between sections. The rows of both sections have gaps between them.
    array<int, 3> target(4, 4, 5);
    copy(constant.section(0, 1, 1, 2, 2, 3), view.section(0, 0, 0, 2, 2, 3));
    CHECK(view(1, 1, 2) == 12 + 8 + 3);
    copy(source.section(index<3>(1, 0, 0)), target.section(1, 1, 1, 1, 3, 4));
    CHECK(read(target.section(1, 1, 1, 1, 3, 4)) == std::vector<int>(v.begin() + 12, v.end()));
    const std::vector<int_float_pair> pairs(4, int_float_pair(1, 2.0f));
    array<int_float_pair, 2> p(2, 2, pairs.begin()), q(2, 2);
    copy(p, q);
    copy(p.section(0, 1, 2, 1), q.section(0, 0, 2, 1));
    std::list<int_float_pair> l;
    copy(q, std::back_inserter(l));
    CHECK(l.size() == 4 && l.back().a == 1);
}

TEST(copy_errors) {
    const std::vector<int> v = ascending(6);
    const std::list<int> list(v.begin(), v.end());
    array<int> a(5), b(6);
    array_view<int> view(b);
    array<int, 2> m(2, 3), n(3, 2);
    CHECK_THROWS(runtime_exception, copy(v.begin(), v.end(), a), CHECK_CONTAINS(e.what(), "6 elements"));
    CHECK_THROWS(runtime_exception, copy(v.end(), v.begin(), b));
    CHECK_THROWS(runtime_exception, copy(list.begin(), list.end(), a));
    CHECK_THROWS(runtime_exception, copy(v.begin(), v.end() - 1, view));
    CHECK_THROWS(runtime_exception, copy(squares{0}, squares{5}, view));
    CHECK_THROWS(runtime_exception, copy(squares{0}, squares{7}, view));
    CHECK_THROWS(runtime_exception, copy_async(v.begin(), v.end(), a).get());
    CHECK_THROWS(runtime_exception, copy_async(squares{0}, squares{7}, view).get());
    CHECK_THROWS(runtime_exception, copy(a, b));
    CHECK_THROWS(runtime_exception, copy(m, n));
    CHECK_THROWS(runtime_exception, copy(a, view));
    CHECK_THROWS(runtime_exception, copy(view, a));
    CHECK_THROWS(runtime_exception, copy(m, (array_view<int, 2>(n))));
    CHECK_THROWS(runtime_exception, copy_async(a, b).get());
    CHECK_THROWS(runtime_exception, a.copy_to(b));
    CHECK_THROWS(runtime_exception, view.copy_to(a));
    CHECK_THROWS(runtime_exception, view.copy_to(view.section(0, 2)));
}

TEST(copy_async_in_and_out) {
    const std::vector<int> v = ascending(6);
    const std::list<int> list(v.begin(), v.end());
    array<int> a(6), b(6);
    array_view<int> view(b);
    const array_view<const int> constant(a);
    copy_async(v.begin(), v.end(), a).get();
    copy_async(a, view).get();
    copy_async(a, b).wait();
    copy_async(view, a).get();
    copy_async(constant, b).get();
    copy_async(constant, view).get();
    copy_async(array_view<int>(a), array_view<int>(b)).get();
    CHECK(read(b) == v);
    copy_async(list.begin(), list.end(), view).get();
    copy_async(list.begin(), a).get();
    copy_async(v.begin(), view).get();
    copy_async(squares{0}, squares{6}, a).get();
    std::vector<int> w(6);
    copy_async(a, w.begin()).get();
    CHECK(w[5] == 25);
    std::list<int> out;
    completion_future future = copy_async(constant, std::back_inserter(out));
    future.get();
    CHECK(out.size() == 6 && out.back() == 25);
    std::shared_future<void> shared = copy_async(view, w.begin());
    shared.get();
    CHECK(w == v);
    std::deque<int> deque(6);
    bool good = copy_async(view, deque.begin()).to_task().then([&] { return deque[5] == 5; }).get();
    CHECK(good);
}

TEST(sections) {
    std::vector<int> v = ascending(60), line = ascending(10);
    array_view<int, 3> a(3, 4, 5, v);
    array_view<int> l(line);
    array_view<int, 2> m(6, 10, v);
    CHECK(l.section(2, 3)[0] == 2 && l.section(index<1>(4)).extent[0] == 6 && l.section(extent<1>(4))[3] == 3);
    CHECK(l.section(index<1>(2), extent<1>(5)).section(1, 2)[1] == 4);
    CHECK(m.section(1, 2, 3, 4)(2, 3) == 35 && m.section(index<2>(4, 7))(1, 2) == 59 &&
          m.section(extent<2>(2, 2))[1][1] == 11);
    CHECK(a.section(1, 2, 3, 2, 2, 2)(1, 1, 1) == 2 * 20 + 3 * 5 + 4 &&
          a.section(index<3>(1, 1, 1)).extent == extent<3>(2, 3, 4));
    m.section(2, 2, 2, 2)(1, 1) = -1;
    CHECK(v[33] == -1 && m(3, 3) == -1);
    int zero[4] = {}, size[4] = {2, 1, 3, 2};
    array_view<int, 4> four(extent<4>(size), v);
    CHECK(four.section(index<4>(zero), four.extent).extent == four.extent && four[1][0][2][1] == 11);
    const array<int, 2> fixed(6, 10, v.begin());
    array<int, 2> mutable_array(6, 10, v.begin());
    static_assert(std::is_same<decltype(fixed.section(0, 0, 1, 1)), array_view<const int, 2>>::value &&
                      std::is_same<decltype(mutable_array.section(index<2>())), array_view<int, 2>>::value &&
                      std::is_same<decltype(fixed.view_as(extent<1>(60))), array_view<const int, 1>>::value &&
                      std::is_same<decltype(fixed.reinterpret_as<float>()), array_view<const float, 1>>::value &&
                      std::is_same<decltype(array_view<const int>(l).section(0, 1)), array_view<const int>>::value,
                  "");
    CHECK(fixed.section(1, 1, 1, 1)(0, 0) == 11 && mutable_array.section(extent<2>(1, 2))(0, 1) == 1);
}

TEST(section_errors) {
    std::vector<int> v = ascending(60);
    array_view<int> l(v);
    array_view<int, 2> m(6, 10, v);
    CHECK_THROWS(runtime_exception, l.section(-1, 2));
    CHECK_THROWS(runtime_exception, l.section(0, 61));
    CHECK_THROWS(runtime_exception, l.section(60, 1));
    CHECK_THROWS(runtime_exception, l.section(0, 0));
    CHECK_THROWS(runtime_exception, l.section(3, -1));
    CHECK_THROWS(runtime_exception, l.section(2147483647, 2147483647));
    CHECK_THROWS(runtime_exception, l.section(index<1>(60)));
    CHECK_THROWS(runtime_exception, m.section(0, 5, 6, 6));
    CHECK_THROWS(runtime_exception, m.section(index<2>(7, 0)));
    CHECK_THROWS(runtime_exception, m.section(extent<2>(6, 11)));
    CHECK_THROWS(runtime_exception, m.section(0, 0, 0, 1));
    array<int, 2> a(6, 10);
    CHECK_THROWS(runtime_exception, a.section(0, 5, 6, 6));
}

TEST(projections) {
    std::vector<int> v = ascending(60);
    array_view<int, 3> a(3, 4, 5, v);
    array_view<const int, 3> c(a);
    // Round 0 runs before the first access on the host, round 1 after it.
    for (int round = 0; round < 2; ++round) {
        CHECK_THROWS(runtime_exception, a[3]);
        CHECK_THROWS(runtime_exception, a[-1]);
        CHECK_THROWS(runtime_exception, a[0][4]);
        CHECK_THROWS(runtime_exception, c(5));
        CHECK_THROWS(runtime_exception, c[2](-1));
        CHECK(a[2][3][4] == 59 && c[1](2)(3) == 33 && a(1)[1].extent == extent<1>(5));
    }
    array_view<int> row = a[1][2];
    row[0] = -1;
    CHECK(v[30] == -1 && c(1, 2, 0) == -1);
    // A projection is a full view: it can be captured, sectioned, reshaped and synchronized.
    parallel_for_each(
        row.extent, [=](index<1> i) restrict(amp) { row[i] *= 2; });
    CHECK(row[0] == -2 && a(1, 2, 1) == 62 && v[31] == 62);
    array_view<int> same_row = a[1][2], part = same_row.section(1, 2);
    CHECK(part[0] == 62 && same_row.view_as(extent<2>(1, 5))(0, 1) == 62 &&
          same_row.reinterpret_as<unsigned>()[1] == 62u);
    parallel_for_each(
        a.extent, [=](index<3> i) restrict(amp) { a[i] = 1; });
    CHECK(same_row[0] == 1);
    same_row.synchronize();
    same_row.discard_data();
    same_row[2] = 7;
    same_row.refresh();
    array_view<int> second_handle = same_row;
    CHECK(second_handle[2] == 7 && second_handle.source_accelerator_view == a.source_accelerator_view);
    {
        // A projection outlives the view that it was made from.
        array_view<int> outliving_projection = [&] {
            array_view<int, 2> m(6, 10, v);
            m(0, 0) = 0;
            return m[5];
        }();
        parallel_for_each(
            outliving_projection.extent, [=](index<1> i) restrict(amp) { outliving_projection[i] = 9; });
    }
    CHECK(v[59] == 9);
    array<int, 2> grid(4, 5, v.begin());
    array_view<int> grid_row = grid[3];
    parallel_for_each(
        grid_row.extent, [=](index<1> i) restrict(amp) { grid_row[i] = 8; });
    CHECK(std::vector<int>(grid)[19] == 8);
    // Each of these projections lives for one access only.
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
            a[i][j][0] = 0;
    CHECK(v[55] == 0);
}

TEST(view_as_and_reinterpret_as) {
    std::vector<int> v = ascending(24);
    array_view<int> l(v);
    CHECK(l.view_as(extent<2>(4, 6))(3, 5) == 23 && l.view_as(extent<3>(2, 2, 2))(1, 1, 1) == 7 &&
          l.view_as(extent<1>(3))[2] == 2);
    CHECK_THROWS(runtime_exception, l.view_as(extent<2>(5, 5)));
    CHECK_THROWS(runtime_exception, l.view_as(extent<2>(0, 5)));
    array<int, 2> a(4, 6, v.begin());
    CHECK(a.view_as(extent<3>(2, 3, 4))(1, 2, 3) == 23 && a.view_as(extent<1>(24))[23] == 23);
    CHECK_THROWS(runtime_exception, a.view_as(extent<1>(25)));
    struct three {
        int x, y, z;
    };
    CHECK(l.reinterpret_as<three>().extent[0] == 8 && l.reinterpret_as<three>()[7].z == 23);
    CHECK(l.reinterpret_as<double>().extent[0] == 12 && a.reinterpret_as<unsigned>()[23] == 23u);
    struct five {
        int x[5];
    };
    CHECK_THROWS(runtime_exception, l.reinterpret_as<five>());
    CHECK_THROWS(runtime_exception, a.reinterpret_as<five>());
    // Views of one source with different ranks and types are coherent.
    array_view<float> f = l.reinterpret_as<float>();
    array_view<int, 2> m = l.view_as(extent<2>(4, 6));
    parallel_for_each(
        f.extent, [=](index<1> i) restrict(amp) { f[i] = 1.0f; });
    CHECK(l[23] == 0x3f800000 && m(3, 5) == 0x3f800000);
    parallel_for_each(
        m.extent, [=](index<2> i) restrict(amp) { m[i] = 0; });
    CHECK(f[5] == 0.0f);
}

TEST(overlapping_views_in_one_kernel) {
    std::vector<int> v(20);
    array_view<int> whole(v), left = whole.section(0, 12), right = whole.section(8, 12);
    array<int> a(20, v.begin());
    array_view<int> a_section = a.section(5, 10);
    parallel_for_each(
        extent<1>(12), [=](index<1> i) restrict(amp) {
            atomic_fetch_add(&left[i], 1);
            atomic_fetch_add(&right[i], 10);
            atomic_fetch_add(&whole[i], 100);
        });
    CHECK(whole[0] == 101 && whole[10] == 111 && whole[12] == 10 && whole[19] == 10);
    parallel_for_each(
        extent<1>(10), [ =, &a ](index<1> i) restrict(amp) {
            atomic_fetch_add(&a_section[i], 1);
            atomic_fetch_add(&a[i], 10);
        });
    CHECK(std::vector<int>(a)[7] == 11 && std::vector<int>(a)[14] == 1);
    // Sections of different columns interleave in memory and do not overlap.
    array_view<int, 2> m(4, 5, v), one = m.section(0, 0, 4, 2), two = m.section(0, 2, 4, 3);
    parallel_for_each(
        one.extent, [=](index<2> i) restrict(amp) {
            one[i] = 1;
            two[i] = 2;
        });
    CHECK(m(3, 1) == 1 && m(3, 3) == 2);
}

// Each column of this array is 1000 separate pieces of memory. The host and the accelerator use the columns in turn.
TEST(columns_of_many_rows) {
    const int rows = 1000;
    array<int, 2> all(rows, 4);
    const array_view<int, 2> whole(all), zero = whole.section(0, 0, rows, 1), one = whole.section(0, 1, rows, 1),
                                         two = whole.section(0, 2, rows, 1);
    parallel_for_each(
        whole.extent, [=](index<2> i) restrict(amp) { whole[i] = i[0] * 4 + i[1]; });
    std::vector<int> got(rows);
    for (int round = 0; round < 3; ++round) {
        copy(one, got.begin());
        for (int i = 0; i < rows; ++i)
            CHECK(got[std::size_t(i)] == i * 4 + 1);
        parallel_for_each(
            two.extent, [=](index<2> i) restrict(amp) { two[i] = round - i[0]; });
        CHECK(two(5, 0) == round - 5 && one(999, 0) == 3997);
        zero(7, 0) = 70 + round;
        parallel_for_each(
            two.extent, [=](index<2> i) restrict(amp) { two[i] += zero[i] + one[i]; });
        copy(two, got.begin());
        for (int i = 0; i < rows; ++i)
            CHECK(got[std::size_t(i)] == round - i + (i == 7 ? 70 + round : i * 4) + i * 4 + 1);
        CHECK(whole(999, 3) == 3999 && whole(7, 2) == got[7]);
    }
}

CHECK_MAIN
