// The rules on coherence through C++ (docs/spec), with memory of their own for all accelerators, so that
// bytes that move are counted.
#include "moved.hpp"

#include <numeric>

using namespace concurrency;

namespace {

constexpr int n = 1000;
constexpr std::uint64_t bytes = n * sizeof(int);

struct data {
    std::vector<int> v;
    data() : v(n) { std::iota(v.begin(), v.end(), 0); }
};
void add(const array_view<int> &view) {
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
}
void look(const array_view<const int> &view) {
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            // Volatile: what a compiled kernel does not need it does not read, and then it does not move.
            (void)*static_cast<const volatile int *>(&view[i]);
        });
}

} // namespace

TEST(AV_2_to_4_and_COH_3_data_moves_when_needed) {
    data d;
    array_view<int> view(d.v);
    counter moved;
    add(view);
    CHECK(moved() == bytes); // up
    add(view);
    CHECK(moved() == 0);                     // AV-3, COH-20
    CHECK(view[7] == 9 && moved() == bytes); // AV-4
    CHECK(view[8] == 10 && moved() == 0);
    add(view); // AV-17: the host could have written
    CHECK(moved() == bytes);
}

TEST(AV_12_to_18_reads_and_writes) {
    data d;
    array_view<int> view(d.v);
    array_view<const int> constant(view);
    counter moved;
    look(constant);
    CHECK(moved() == bytes);
    CHECK(constant[3] == 3 && moved() == 0); // SEL-27, AV-16
    look(constant);
    CHECK(moved() == 0);
    CHECK(view[3] == 3 && moved() == 0); // AV-17
    look(constant);
    CHECK(moved() == bytes);
    view.discard_data();
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = 2 * i[0]; }); // AV-14
    CHECK(moved() == 0);
    view.synchronize(); // AV-18
    CHECK(moved() == bytes && d.v[500] == 1000);
    look(constant);
    CHECK(moved() == 0);
    (void)constant.data();
    look(constant);
    CHECK(moved() == 0);
    (void)view.data();
    look(constant);
    CHECK(moved() == bytes);
}

TEST(AV_19_refresh) {
    data d;
    array_view<int> view(d.v);
    look(view);
    d.v[5] = -5;
    view.refresh();
    counter moved;
    add(view);
    CHECK(moved() == bytes && view[5] == -4);
    add(view);
    view.refresh();
    CHECK(view[6] == 7);
}

TEST(AV_20_views_of_views_are_no_access) {
    data d;
    array_view<int> view(d.v);
    add(view);
    counter moved;
    array_view<int> part = view.section(10, 10), alias(view);
    array_view<int, 2> shaped = view.view_as(extent<2>(10, 100));
    array_view<float> floats = view.reinterpret_as<float>();
    array_view<int> row = shaped[3];
    CHECK(moved() == 0 && part.extent[0] == 10 && floats.extent[0] == n && row.extent[0] == 100);
    CHECK(row[0] == 301);
}

TEST(AV_9_and_11_coherence_of_aliases) {
    array<int> a(10);
    array_view<int> whole(a), alias(whole), part = whole.section(0, 5);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) { part[2] = 77; });
    CHECK(whole[2] == 77 && alias[2] == 77 && array_view<const int>(a)[2] == 77);
    data d;
    array_view<int> top(d.v), copied(top);
    add(copied);
    CHECK(top[3] == 4);
    // AV-10: each alone is right.
    array_view<int> separate_one(d.v), separate_two(d.v);
    add(separate_one);
    separate_one.synchronize();
    CHECK(d.v[3] == 5);
}

TEST(AV_25_to_27_asynchronous) {
    data d;
    array_view<int> one(d.v), two(one);
    add(one);
    std::vector<int> out(n);
    completion_future copied = copy_async(two, out.begin());
    CHECK(array_view<const int>(one)[4] == 5);
    copied.get();
    add(one);
    CHECK(out[9] == 10 && one[9] == 11);
    one.synchronize_async().get();
    add(one);
    one.synchronize_async(access_type_read_write).wait();
    d.v[1] = 50;
    add(one);
    CHECK(one[1] == 51);
}

TEST(DST_1_to_3_written_back_at_the_end) {
    data d;
    counter moved;
    {
        array_view<int> view(d.v);
        {
            array_view<int> alias(view);
            add(alias);
            CHECK(moved() == bytes);
        }
        CHECK(moved() == 0); // DST-2
    }
    CHECK(moved() == bytes && d.v[1] == 2);
    {
        array_view<int> view(d.v);
        add(view);
        view.discard_data();
    }
    CHECK(moved() == bytes && d.v[1] == 2); // DST-3
    {
        array_view<const int> view(d.v);
        look(view);
        moved();
    }
    CHECK(moved() == 0); // DST-5
    {
        array_view<int> view(d.v);
        add(view);
        view.synchronize();
        moved();
    }
    CHECK(moved() == 0 && d.v[1] == 3); // DST-9
}

TEST(DST_4_to_the_array) {
    array<int> a(n, accelerator().create_view());
    {
        array_view<int> view(a);
        view[3] = 30;
        view.section(4, 1)[0] = 40;
    }
    CHECK(std::vector<int>(a)[3] == 30 && std::vector<int>(a)[4] == 40);
}

TEST(DST_10_pattern) {
    data a, b, c;
    counter moved;
    {
        array_view<const int> x(a.v), y(b.v);
        array_view<int> z(c.v);
        z.discard_data();
        parallel_for_each(
            z.extent, [=](index<1> i) restrict(amp) { z[i] = x[i] + y[i]; });
        CHECK(moved() == 2 * bytes);
        z.synchronize();
        CHECK(moved() == bytes);
    }
    CHECK(moved() == 0 && c.v[5] == 10);
}

TEST(COH_14_and_15_parts_move) {
    std::vector<int> v(100 * 50);
    array_view<int, 2> m(100, 50, v);
    counter moved;
    array_view<int> row = m[3];
    add(row);
    CHECK(moved() == 50 * sizeof(int));
    (void)m(0, 0); // whole: the row comes back
    CHECK(moved() == 50 * sizeof(int));
    array_view<int> other = m[4]; // made while the host has all of it
    add(other);
    CHECK(moved() == 50 * sizeof(int));
    const array_view<int, 2> part = m.section(10, 10, 2, 3);
    parallel_for_each(
        part.extent, [=](index<2> i) restrict(amp) { part[i] = 1; });
    CHECK(moved() == 6 * sizeof(int));
    parallel_for_each(
        extent<1>(50), [=](index<1> i) restrict(amp) { m[5][i] = 7; });
    CHECK(moved() >= 4900 * sizeof(int) && m(5, 49) == 7 && m(4, 0) == 1 && m(11, 12) == 1);
}

TEST(SEL_2_and_16_to_19_choice) {
    const accelerator_view other = accelerator().create_view();
    data a, b, c;
    array_view<int> x(a.v), y(b.v);
    counter moved;
    parallel_for_each(
        other, x.extent, [=](index<1> i) restrict(amp) { x[i] += 1; });
    CHECK(moved() == bytes);
    y.discard_data();
    parallel_for_each(
        x.extent, [=](index<1> i) restrict(amp) { y[i] = x[i]; }); // SEL-16
    CHECK(moved() == 0 && y[1] == 2);
    array<int> home(n, c.v.begin(), other);
    array_view<int> z(home);
    moved();
    add(z); // SEL-17
    CHECK(moved() == 0 && z[3] == 4);
}

TEST(SEL_21_to_26_copies) {
    data a, b;
    array_view<int> x(a.v), y(b.v);
    add(x);
    copy(x, y); // home of y is the host
    CHECK(b.v[4] == 5);
    array<int> c(n);
    add(x);
    copy(x, c);
    CHECK(std::vector<int>(c)[4] == 6);
    array<int> staging(n, accelerator(accelerator::cpu_accelerator).default_view, accelerator().default_view);
    array_view<int> of_staging(staging); // STG-11, STG-12
    copy(c, staging);
    add(of_staging);
    CHECK(of_staging[4] == 7 && staging[4] == 7 && staging.data()[5] == 8);
}

TEST(synchronize_to_and_its_kin) {
    data d;
    array_view<int> view(d.v);
    const accelerator_view target = accelerator().create_view();
    counter moved;
    view.synchronize_to(target);
    CHECK(moved() == bytes);
    parallel_for_each(
        target, view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    CHECK(moved() == 0);
    view.synchronize_to(target, access_type_read_write);
    view.synchronize(access_type_read_write);
    CHECK(d.v[2] == 3);
    d.v[2] = 20;
    view.synchronize_to_async(target).get();
    parallel_for_each(
        target, view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    const array_view<const int> constant(view);
    constant.synchronize();
    constant.synchronize_async().get();
    constant.synchronize_to(target);
    constant.synchronize_to_async(target).get();
    constant.refresh();
    CHECK(d.v[2] == 21);
    view.synchronize(access_type_write);
    view.synchronize_async(access_type_read).wait();
}

TEST(discarded_sections) {
    data d;
    const std::vector<int> before = d.v;
    array_view<int> view(d.v);
    array_view<int> parts[] = {view.section(10, 50), view.section(40, 100), view.section(700, 20)};
    for (const array_view<int> &part : parts)
        add(part);
    for (const array_view<int> &part : parts)
        part.discard_data();
    view.synchronize();
    CHECK(d.v == before);
}

CHECK_MAIN
