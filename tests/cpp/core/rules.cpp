// Tests of the rules of docs/spec in C++: selection (SEL), array_views (AV), destruction (DST), coherence (COH) and
// staging arrays (STG). Tests use all accelerators that run kernels (`engine` in rules.hpp), or lambdas on the default
// accelerator. They check the transferred bytes, in both memory modes (rules.hpp).
#include "rules.hpp"

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace concurrency;

namespace {

accelerator_view cpu_view() {
    return accelerator(accelerator::cpu_accelerator).default_view;
}
void step(std::vector<number> &v, int first = 0, int length = count) {
    for (int i = first; i < first + length; ++i)
        v[static_cast<std::size_t>(i)] = 3 * v[static_cast<std::size_t>(i)] + 1;
}
void step_on_host(const numbers_view &view) {
    number *data = view.data();
    for (int i = 0; i < view.extent[0]; ++i)
        data[i] = 3 * data[i] + 1;
}
// The numbers of `view`, read on the host.
std::vector<number> read_on_host(const array_view<const number> &view) {
    const number *data = view.data();
    return std::vector<number>(data, data + view.extent[0]);
}

// An accelerator, three of its accelerator_views, and two array_views whose home location is the host.
struct scene {
    const engine &on;
    const accelerator_view normal = on.normal(), first = on.new_view(), second = on.new_view();
    std::vector<number> a_data = numbers(1), b_data = numbers(2);
    numbers_view a{a_data}, b{b_data};
    const std::uint64_t all = on.counted_bytes(all_bytes);
    counter moved;

    explicit scene(const engine &of) : on(of) {}
    // True if all data of `view` is valid on `expected_view`, and none on any other accelerator_view.
    bool is_only_on(const numbers_view &view, const accelerator_view &expected_view) const {
        bool good = true;
        for (const accelerator_view &one : {normal, first, second, cpu_view()})
            good = good && count_valid_bytes(view, one) == (one == expected_view ? all_bytes : 0);
        return good;
    }
    // Discards `b`, then computes b = a + 2 a in a kernel.
    void sum_a_to_b(const accelerator_view *target = nullptr) {
        b.discard_data();
        on.sum(target, a, a, b);
    }
};

// Integers for the default accelerator. `all` is the number of bytes counted for a transfer of all integers.
struct integers {
    std::vector<int> v;
    const std::uint64_t all = counted_bytes(accelerator(), all_bytes);
    integers() : v(count) { std::iota(v.begin(), v.end(), 0); }
};
void add(const array_view<int> &view) {
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
}
void read_in_kernel(const array_view<const int> &view) {
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            // The read is volatile, because compiled kernels omit unused reads, and the data would then not move.
            (void)*static_cast<const volatile int *>(&view[i]);
        });
}

} // namespace

TEST(SEL_1_and_2_a_launch_runs_where_it_is_told) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        on.step(s.first, s.a);
        CHECK(s.is_only_on(s.a, s.first) && s.moved() == s.all); // SEL-2
        on.step(s.second, s.a);
        CHECK(s.is_only_on(s.a, s.second));
        on.step(s.normal, s.a);
        CHECK(s.is_only_on(s.a, s.normal));
        for (int i = 0; i < 3; ++i)
            step(expected);
        CHECK(read_on_host(s.a) == expected);
        s.moved();
        on.sum(&s.first, s.a, s.a, s.b);
        CHECK(count_valid_bytes(s.a, s.first) == all_bytes && s.is_only_on(s.b, s.first) &&
              count_valid_bytes(s.a, s.normal) == all_bytes);
    }
}

TEST(SEL_3_arrays_stay_where_they_are) {
    for (const engine &on : engines()) {
        const accelerator_view home = on.new_view(), other = on.new_view();
        const std::vector<number> v = numbers();
        array<number> a(count, v.begin(), home), b(count, other);
        numbers_view view(a);
        on.step(other, view);
        (void)view[0];
        on.step(on.normal(), view);
        copy(a, b);
        b = a;
        copy(b, a);
        CHECK(a.accelerator_view == home && b.accelerator_view == other && view.source_accelerator_view == home);
    }
}

TEST(SEL_4_and_6_arrays_elsewhere_leave_the_views_alone) {
    for (const engine &on : engines()) {
        scene s(on);
        const std::vector<number> v = numbers();
        array<number> here(count, v.begin(), s.first);
        s.moved();
        CHECK_THROWS(runtime_exception, on.sum(&s.normal, here, s.a, s.b));
        CHECK(s.moved() == 0 && s.is_only_on(s.a, cpu_view()) && s.is_only_on(s.b, cpu_view()));
        CHECK_THROWS(runtime_exception, on.step(s.second, here));
        on.step(s.first, here);
        CHECK(std::vector<number>(here)[1] == 4);
    }
}

TEST(SEL_5_and_7_views_come_to_the_array) {
    for (const engine &on : engines()) {
        scene s(on);
        const std::vector<number> v = numbers();
        array<number> here(count, v.begin(), s.first);
        s.a.synchronize_to(s.normal); // no effect: the captured array decides where the launch runs
        s.moved();
        on.sum(nullptr, here, s.a, s.b);
        CHECK(count_valid_bytes(s.a, s.first) == all_bytes && s.is_only_on(s.b, s.first));
        CHECK(s.b[3] == 3 + 2 * 4);
        const accelerator_view automatic = accelerator::get_auto_selection_view();
        on.sum(&automatic, here, s.a, s.b);
        CHECK(s.is_only_on(s.b, s.first));
        on.step(nullptr, here);
        CHECK(std::vector<number>(here)[1] == 4);
    }
}

TEST(SEL_8_and_18_without_a_target_the_default_view_takes_what_is_new) {
    for (const engine &on : default_engines()) {
        scene s(on);
        const accelerator_view automatic = accelerator::get_auto_selection_view();
        on.step(nullptr, s.a);
        on.step(&automatic, s.a);
        on.step(nullptr, s.a);
        CHECK(s.moved() == s.all && s.is_only_on(s.a, s.normal));
        on.step(s.first, s.b);
        s.moved();
        on.step(&automatic, s.b);
        CHECK(s.moved() == 0 && s.is_only_on(s.b, s.first));
    }
    // A launch that captures nothing.
    parallel_for_each(extent<1>(3), [](index<1>) restrict(amp){});
    accelerator().default_view.wait();
}

TEST(SEL_9_and_15_a_candidate_has_all_captured_views) {
    for (const engine &on : default_engines()) {
        scene s(on);
        std::vector<number> out(count);
        numbers_view written(out);
        s.a.synchronize_to(s.normal);
        s.a.synchronize_to(s.first);
        s.b.synchronize_to(s.first);
        s.b.synchronize_to(s.second);
        written.discard_data();
        s.moved();
        on.sum(nullptr, s.a, s.b, written);
        CHECK(s.moved() == 0 && s.is_only_on(written, s.first) && written[1] == 2 + 2 * 3);
        // No accelerator_view has the data of both views, so the launch runs on the default view.
        scene t(on);
        t.a.synchronize_to(t.first);
        t.b.synchronize_to(t.second);
        written.discard_data();
        on.sum(nullptr, t.a, t.b, written);
        CHECK(t.is_only_on(written, t.normal) && count_valid_bytes(t.a, t.normal) == all_bytes &&
              written[2] == 3 + 2 * 4);
    }
}

TEST(SEL_10_and_16_a_discarded_view_is_no_constraint) {
    for (const engine &on : default_engines()) {
        scene s(on);
        on.step(s.first, s.a);
        on.step(s.second, s.b);
        s.moved();
        s.sum_a_to_b();
        CHECK(s.moved() == 0 && s.is_only_on(s.a, s.first) && s.is_only_on(s.b, s.first));
        CHECK(count_valid_bytes(s.a, s.first) == all_bytes && s.b[0] == 3 * 4);
    }
}

TEST(SEL_11_and_19_data_of_another_accelerator) {
    for_each_pair([](const engine &p, const engine &q) {
        if (!p.is_default()) return;
        scene s(p);
        std::vector<number> expected = s.a_data;
        q.step(q.normal(), s.a);
        s.moved();
        p.step(nullptr, s.a); // transferred through the home location
        CHECK(s.moved() == s.all + q.counted_bytes(all_bytes) && s.is_only_on(s.a, s.normal) &&
              count_valid_bytes(s.a, q.normal()) == 0);
        step(expected);
        step(expected);
        CHECK(read_on_host(s.a) == expected);
        // SEL-11 drops the candidate on q. The candidate on the default accelerator remains.
        s.b.synchronize_to(q.normal());
        s.b.synchronize_to(s.first);
        s.moved();
        p.step(nullptr, s.b);
        CHECK(s.moved() == 0 && s.is_only_on(s.b, s.first));
    });
}

TEST(SEL_12_writable_views_are_in_no_view_s_way) {
    for (const engine &on : default_engines()) {
        scene s(on);
        std::vector<number> out = numbers(3);
        numbers_view written(out);
        on.step(s.second, s.a);
        on.step(s.second, s.b);
        on.step(s.second, written);
        s.moved();
        on.sum(nullptr, s.a, s.b, written);
        CHECK(s.moved() == 0 && s.is_only_on(written, s.second));
    }
}

TEST(SEL_13_and_14_the_default_view_before_any_other) {
    for (const engine &on : default_engines()) {
        scene s(on);
        for (const accelerator_view &one : {s.second, s.normal, s.first})
            s.a.synchronize_to(one);
        s.moved();
        s.sum_a_to_b();
        CHECK(s.moved() == 0 && s.is_only_on(s.b, s.normal));
        scene t(on);
        t.a.synchronize_to(t.second);
        t.a.synchronize_to(t.first);
        t.moved();
        t.sum_a_to_b();
        // SEL-14: the candidate that was created first is chosen, in whatever order the candidates got the data.
        CHECK(t.moved() == 0 && t.is_only_on(t.b, t.first));
    }
}

TEST(SEL_17_a_view_over_an_array_runs_where_that_lives) {
    for (const engine &on : default_engines()) {
        // Queries for the location of the data change nothing.
        for (const bool queries_first : {false, true}) {
            scene s(on);
            const std::vector<number> v = numbers();
            array<number> home(count, v.begin(), s.second);
            {
                numbers_view over(home);
                if (queries_first)
                    for (const accelerator_view &one : {s.first, s.normal, s.second, cpu_view()})
                        CHECK(count_valid_bytes(over, one) == (one == s.second ? all_bytes : 0));
                s.moved();
                on.step(nullptr, over);
                CHECK(s.is_only_on(over, s.second));
            }
            CHECK(s.moved() == 0 && std::vector<number>(home)[2] == 7);
        }
    }
}

TEST(SEL_20_and_21_the_ends_of_a_copy) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> here(count);
        array<number> there(count, s.first);
        std::vector<number> expected = s.a_data;
        on.step(s.second, s.a);
        step(expected);
        copy(s.a, there);
        copy(s.a, here.begin());
        CHECK(there.accelerator_view == s.first && std::vector<number>(there) == expected && here == expected);
        // A copy to a view writes the view's home location, even if only other locations are valid. No old data moves.
        const std::vector<number> sent = numbers(50);
        s.b.synchronize_to(s.first);
        on.step(s.second, s.b);
        s.moved();
        copy(sent.begin(), sent.end(), s.b);
        CHECK(s.moved() == 0 && s.b_data == sent && s.is_only_on(s.b, cpu_view()));
        numbers_view over(there);
        on.step(s.normal, over);
        copy(sent.begin(), sent.end(), over);
        CHECK(count_valid_bytes(over, s.first) == all_bytes && count_valid_bytes(over, s.normal) == 0);
    }
}

TEST(SEL_22_and_25_a_copy_within_an_accelerator) {
    for (const engine &on : engines()) {
        scene s(on);
        array<number> there(count, s.first);
        numbers_view over(there);
        s.a.synchronize_to(s.first); // valid on the host and on s.first
        s.moved();
        copy(s.a, there);
        copy(s.a, over);
        // A copy within separate device memory is not counted. A copy in shared (the program's) memory is counted.
        const std::uint64_t once = on.has_own_memory() ? 0 : all_bytes;
        CHECK(s.moved() == 2 * once);
        on.step(s.first, s.a); // valid on s.first only
        copy(s.a, over);
        CHECK(s.moved() == once && over[1] == 7);
    }
}

TEST(SEL_23_24_and_26_a_copy_between_accelerators) {
    for_each_pair([](const engine &p, const engine &q) {
        scene s(p);
        array<number> there(count, q.normal());
        s.a.synchronize_to(s.first);
        s.moved();
        copy(s.a, there); // from the host's copy
        CHECK(s.moved() == all_bytes && std::vector<number>(there) == s.a_data);
        p.step(s.first, s.a);
        s.moved();
        copy(s.a, there); // from s.first, the only valid copy
        // Transferred through the host, unless the array is in memory that the host can access.
        CHECK(s.moved() == (q.has_own_memory() ? s.all : 0) + all_bytes && std::vector<number>(there)[0] == 4);
        std::vector<number> here(count);
        p.step(s.first, s.a);
        s.moved();
        copy(s.a, here.begin());
        CHECK(s.moved() == s.all && here[0] == 13);
    });
}

TEST(SEL_23_with_an_array_as_home) {
    for_each_pair([](const engine &p, const engine &q) {
        const std::vector<number> v = numbers(7);
        array<number> home(count, v.begin(), p.normal()), there(count, q.normal());
        const array_view<const number> reader(home);
        CHECK(reader[3] == 10); // valid at the home location and on the host
        counter moved;
        const std::uint64_t before = bytes_moved_by(p.accelerator());
        copy(reader, there);
        // The host's data is copied, and p moves nothing, unless p shares memory with the host.
        CHECK((moved() == all_bytes && bytes_moved_by(p.accelerator()) == before) || !has_own_memory(p.accelerator()));
        CHECK(std::vector<number>(there) == v);
    });
}

TEST(SEL_27_a_read_leaves_both_copies_valid) {
    for (const engine &on : engines()) {
        scene s(on);
        const array_view<const number> reader(s.a);
        CHECK(on.read(s.first, reader) == s.a_data);
        CHECK(count_valid_bytes(s.a, cpu_view()) == all_bytes && count_valid_bytes(s.a, s.first) == all_bytes);
        s.moved();
        CHECK(reader[5] == 6);
        s.b.discard_data();
        on.sum(&s.first, reader, reader, s.b);
        CHECK(s.moved() == 0 && count_valid_bytes(s.a, cpu_view()) == all_bytes &&
              count_valid_bytes(s.a, s.first) == all_bytes);
    }
}

TEST(SEL_28_rebinding_moves_nothing) {
    for (const engine &on : engines()) {
        scene s(on);
        on.step(s.first, s.a);
        on.step(s.second, s.b);
        s.moved();
        numbers_view handle(s.a);
        handle = s.b;
        CHECK(s.moved() == 0 && s.is_only_on(s.a, s.first) && s.is_only_on(s.b, s.second));
        handle = s.a;
        CHECK(s.moved() == 0 && handle[0] == 4);
    }
}

TEST(SEL_2_and_16_to_19_choice) {
    const accelerator_view other = accelerator().create_view();
    integers a, b, c;
    array_view<int> x(a.v), y(b.v);
    counter moved;
    parallel_for_each(
        other, x.extent, [=](index<1> i) restrict(amp) { x[i] += 1; });
    CHECK(moved() == a.all);
    y.discard_data();
    parallel_for_each(
        x.extent, [=](index<1> i) restrict(amp) { y[i] = x[i]; }); // SEL-16
    CHECK(moved() == 0 && y[1] == 2);
    array<int> home(count, c.v.begin(), other);
    array_view<int> z(home);
    moved();
    add(z); // SEL-17
    CHECK(moved() == 0 && z[3] == 4);
}

TEST(SEL_21_to_26_copies) {
    integers a, b;
    array_view<int> x(a.v), y(b.v);
    add(x);
    copy(x, y); // home of y is the host
    CHECK(b.v[4] == 5);
    array<int> c(count);
    add(x);
    copy(x, c);
    CHECK(std::vector<int>(c)[4] == 6);
    array<int> staging(count, accelerator(accelerator::cpu_accelerator).default_view, accelerator().default_view);
    array_view<int> of_staging(staging); // STG-11, STG-12
    copy(c, staging);
    add(of_staging);
    CHECK(of_staging[4] == 7 && staging[4] == 7 && staging.data()[5] == 8);
}

TEST(AV_5_where_memory_is_shared_nothing_moves) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        on.step(s.first, s.a);
        CHECK(s.moved() == s.all);
        on.step(s.second, s.a);
        CHECK(s.moved() == 0);
        step_on_host(s.a);
        CHECK(s.moved() == s.all);
        for (int i = 0; i < 3; ++i)
            step(expected);
        CHECK(on.read(s.normal, s.a) == expected && read_on_host(s.a) == expected);
    }
}

TEST(AV_6_to_8_views_and_their_sources) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        numbers_view part = s.a.section(100, 50);
        // Every accelerator_view and the host change the whole source or a part of it.
        for (const accelerator_view &one : {s.normal, s.first, s.second}) {
            on.step(one, part);
            step(expected, 100, 50);
            on.step(one, s.a);
            step(expected);
            step_on_host(part);
            step(expected, 100, 50);
        }
        CHECK(read_on_host(s.a) == expected && part[0] == expected[100]);
        // AV-8: the home location is the host. AV-7 (below): the home location is the array's.
        CHECK(s.a.source_accelerator_view == cpu_view() && part.source_accelerator_view == cpu_view());
        array<number> home(count, expected.begin(), s.first);
        {
            numbers_view one(home), two(home);
            CHECK(one.source_accelerator_view == s.first);
            on.step(s.second, one);
            on.step(s.normal, two);
        }
        step(expected);
        step(expected);
        CHECK(std::vector<number>(home) == expected);
    }
}

TEST(AV_21_and_22_one_element_touched_is_all_the_view_covers) {
    for (const engine &on : engines()) {
        scene s(on);
        numbers_view part = s.a.section(200, 100), disjoint = s.a.section(600, 100);
        const array_view<const number> reader(part);
        on.step(s.first, s.a);
        s.moved();
        (void)reader[7];
        CHECK(s.moved() == on.counted_bytes(400));
        (void)reader[99];
        CHECK(s.moved() == 0);
        (void)disjoint[0]; // no overlap with `part`
        CHECK(s.moved() == on.counted_bytes(400));
        (void)part[0]; // the host may have written all of `part`
        on.step(s.first, s.a);
        CHECK(s.moved() == on.counted_bytes(800));
    }
}

namespace {

std::atomic<int> races{0};
void note_race(revamp_log_level level, const char *message, void *) noexcept {
    if (level == REVAMP_LOG_ERROR && std::string(message).find("AV-23") != std::string::npos) ++races;
}

} // namespace

TEST(AV_23_to_27_races_are_reported) {
    // The variable must be set before the library reads it.
    setenv("REVAMP_CHECK", "1", 1);
    revamp::detail::check(revamp_set_log_callback(note_race, nullptr, REVAMP_LOG_ERROR));
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> out(count);
        numbers_view lower = s.a.section(0, 600), upper = s.a.section(500, 500), disjoint = s.a.section(0, 500);
        races = 0;
        // No race: the copy and the host only read, `disjoint` does not overlap the copy, and get() ends the copy.
        completion_future copied = copy_async(upper, out.begin());
        (void)array_view<const number>(s.a)[0];
        on.step(s.normal, disjoint);
        copied.get();
        on.step(s.normal, upper);
        (void)s.a[0];
        CHECK(races == 0);
        // AV-23, AV-24, AV-25: a kernel writes before the program has waited for the copy.
        copied = copy_async(upper, out.begin());
        on.step(s.normal, lower);
        // Another thread may still be delivering the report.
        for (int i = 0; i < 10000 && races == 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(races.exchange(0) == 1);
        copied.get();
        (void)lower[0];
        CHECK(races == 0);
    }
    revamp::detail::check(revamp_set_log_callback(nullptr, nullptr, REVAMP_LOG_ERROR));
}

TEST(AV_2_to_4_and_COH_3_data_moves_when_needed) {
    integers d;
    array_view<int> view(d.v);
    counter moved;
    add(view);
    CHECK(moved() == d.all); // to the accelerator
    add(view);
    CHECK(moved() == 0);                     // AV-3, COH-20
    CHECK(view[7] == 9 && moved() == d.all); // AV-4
    CHECK(view[8] == 10 && moved() == 0);
    add(view); // AV-17: the host could have written
    CHECK(moved() == d.all);
}

TEST(AV_12_to_18_reads_and_writes) {
    integers d;
    array_view<int> view(d.v);
    array_view<const int> constant(view);
    counter moved;
    read_in_kernel(constant);
    CHECK(moved() == d.all);
    CHECK(constant[3] == 3 && moved() == 0); // SEL-27, AV-16
    read_in_kernel(constant);
    CHECK(moved() == 0);
    CHECK(view[3] == 3 && moved() == 0); // AV-17
    read_in_kernel(constant);
    CHECK(moved() == d.all);
    view.discard_data();
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = 2 * i[0]; }); // AV-14
    CHECK(moved() == 0);
    view.synchronize(); // AV-18
    CHECK(moved() == d.all && d.v[500] == 1000);
    read_in_kernel(constant);
    CHECK(moved() == 0);
    (void)constant.data();
    read_in_kernel(constant);
    CHECK(moved() == 0);
    (void)view.data();
    read_in_kernel(constant);
    CHECK(moved() == d.all);
}

TEST(AV_19_refresh) {
    integers d;
    array_view<int> view(d.v);
    read_in_kernel(view);
    d.v[5] = -5;
    view.refresh();
    counter moved;
    add(view);
    CHECK(moved() == d.all && view[5] == -4);
    add(view);
    view.refresh();
    // In separate memory, refresh() replaces the kernel's change with the contents of the home location. In shared
    // memory, the kernel wrote to the home location itself.
    CHECK(view[6] == (has_own_memory(accelerator()) ? 7 : 8));
}

TEST(AV_20_views_of_views_are_no_access) {
    integers d;
    array_view<int> view(d.v);
    add(view);
    counter moved;
    array_view<int> part = view.section(10, 10), alias(view);
    array_view<int, 2> shaped = view.view_as(extent<2>(10, 100));
    array_view<float> floats = view.reinterpret_as<float>();
    array_view<int> row = shaped[3];
    CHECK(moved() == 0 && part.extent[0] == 10 && floats.extent[0] == count && row.extent[0] == 100);
    CHECK(row[0] == 301);
}

TEST(AV_9_and_11_coherence_of_aliases) {
    array<int> a(10);
    array_view<int> whole(a), alias(whole), part = whole.section(0, 5);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) { part[2] = 77; });
    CHECK(whole[2] == 77 && alias[2] == 77 && array_view<const int>(a)[2] == 77);
    integers d;
    array_view<int> top(d.v), copied(top);
    add(copied);
    CHECK(top[3] == 4);
}

TEST(AV_10_separate_views_of_one_pointer) {
    for (const engine &on : engines()) {
        std::vector<number> data = numbers(1), expected = data;
        const accelerator_view other = on.new_view();
        {
            numbers_view one(count, data.data()), two(count, data.data());
            // The views are used in turn. Each needs refresh() first, because the other has changed the memory.
            for (numbers_view *current_view : {&one, &two, &one, &two}) {
                current_view->refresh();
                on.step(on.normal(), *current_view);
                step(expected);
                current_view->synchronize();
                CHECK(data == expected);
            }
            // Without refresh(), any result is allowed, but no crash.
            on.step(on.normal(), one);
            on.step(other, two);
            (void)one[0];
            on.step(other, one);
            (void)two.data();
            on.step(on.normal(), two);
        }
        // A new view works correctly, whatever the two views left in the memory.
        expected = data;
        {
            numbers_view view(count, data.data());
            on.step(other, view);
        }
        step(expected);
        CHECK(data == expected);
    }
}

TEST(AV_25_to_27_asynchronous) {
    integers d;
    array_view<int> one(d.v), two(one);
    add(one);
    std::vector<int> out(count);
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

TEST(DST_1_and_2_the_last_view_writes_back) {
    for_each_pair([](const engine &p, const engine &q) {
        std::vector<number> data = numbers(1), expected = data;
        const std::uint64_t halves = p.counted_bytes(all_bytes / 2) + q.counted_bytes(all_bytes / 2);
        counter moved;
        {
            numbers_view view(data);
            {
                numbers_view lower = view.section(0, 500), upper = view.section(500, 500);
                p.step(p.normal(), lower);
                q.step(q.normal(), upper);
                CHECK(moved() == halves);
            }
            CHECK(moved() == 0);
        }
        step(expected);
        CHECK(moved() == halves && data == expected);
    });
}

TEST(DST_3_data_outside_a_discarded_section_is_written_back) {
    for (const engine &on : engines()) {
        std::vector<number> data = numbers(1), expected = data;
        counter moved;
        {
            numbers_view view(data);
            on.step(on.normal(), view);
            view.section(300, 100).discard_data();
            moved();
        }
        step(expected, 0, 300);
        // In shared memory, the kernel has written to the program's memory, so there is nothing to discard.
        if (!on.has_own_memory()) step(expected, 300, 100);
        step(expected, 400, 600);
        CHECK(moved() == on.counted_bytes(all_bytes - 400) && data == expected);
    }
}

TEST(DST_4_to_the_array_from_everywhere) {
    for_each_pair([](const engine &p, const engine &q) {
        std::vector<number> expected = numbers(1);
        array<number> home(count, expected.begin(), p.normal());
        counter moved;
        {
            numbers_view view(home);
            step_on_host(view);
            moved();
        }
        CHECK(moved() == p.counted_bytes(all_bytes));
        step(expected);
        {
            numbers_view view(home);
            q.step(q.normal(), view);
        }
        step(expected);
        CHECK(std::vector<number>(home) == expected);
    });
}

TEST(DST_5_and_6_what_is_only_read_is_not_written_back) {
    for (const engine &on : engines()) {
        std::vector<number> a = numbers(1), b = numbers(2), out(count);
        counter moved;
        {
            const array_view<const number> x(a), y(b);
            numbers_view z(out);
            z.discard_data();
            on.sum(nullptr, x, y, z);
            z.synchronize();
            moved();
        }
        CHECK(moved() == 0 && out[1] == 2 + 2 * 3);
        if (!on.has_modules()) continue;
        // DST-6: a SPIR-V module declares which buffers it only reads.
        {
            numbers_view x(a), y(b), z(out);
            z.discard_data();
            on.sum(nullptr, x, y, z);
            z.synchronize();
            moved();
        }
        CHECK(moved() == 0);
    }
}

namespace {

enum outcome { whole = 0, reported = 1, differs = 2, refused = 4 };

// Loses the device at the nth submission. Returns what the program observes: a combination of `outcome` bits.
int run_with_lost_device(int n, bool synchronizes) {
    setenv("REVAMP_TEST", ("lose-device=" + std::to_string(n)).c_str(), 1);
    // With separate memory, the data returns in a submission of its own, whose failure no launch can report.
    setenv("REVAMP_MEMORY", "separate", 1);
    constexpr int many = 1 << 20, launches = 4;
    std::vector<number> data(many, 1), expected = data;
    for (int i = 0; i < launches; ++i)
        step(expected, 0, many);
    int observed = whole;
    for (const engine &on : engines()) {
        if (!on.has_modules()) continue;
        numbers_view view(data);
        try {
            for (int i = 0; i < launches; ++i)
                on.step(on.normal(), view);
        } catch (const accelerator_view_removed &) {
            return refused;
        }
        try {
            if (synchronizes) view.synchronize();
        } catch (const accelerator_view_removed &) {
            observed |= reported;
        }
        view = numbers_view(1); // destroys the last view of the data; the destructor throws nothing
        break;
    }
    return data == expected ? observed : observed | differs;
}
// Calls run_with_lost_device() in a child process for each of the first 8 submissions, and returns the outcomes.
std::vector<int> lost_device_outcomes(bool synchronizes) {
    std::vector<int> all;
    for (int n = 1; n <= 8; ++n) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) _exit(run_with_lost_device(n, synchronizes));
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        all.push_back(WEXITSTATUS(status));
    }
    if (engines().size() < 2) SKIP("there is no Vulkan device");
    return all;
}
long times(const std::vector<int> &all, int one) {
    return std::count(all.begin(), all.end(), one);
}

} // namespace

TEST(DST_7_the_destructor_lets_nothing_out) {
    const std::vector<int> all = lost_device_outcomes(false);
    CHECK(times(all, differs) > 0 && times(all, reported) == 0 && times(all, reported | differs) == 0);
}

TEST(DST_8_synchronize_reports_the_failure) {
    const std::vector<int> all = lost_device_outcomes(true);
    CHECK(times(all, reported | differs) > 0 && times(all, differs) == 0);
}

TEST(DST_9_after_synchronize_nothing_moves) {
    for (const engine &on : engines())
        for (const bool asynchronous : {false, true}) {
            std::vector<number> data = numbers(1), expected = data;
            counter moved;
            {
                numbers_view view(data);
                on.step(on.normal(), view);
                if (asynchronous)
                    view.synchronize_async().get();
                else
                    view.synchronize();
                step(expected);
                CHECK(data == expected && on.read(on.normal(), view) == expected);
                moved();
            }
            CHECK(moved() == 0 && data == expected);
        }
}

TEST(DST_1_to_3_written_back_at_the_end) {
    integers d;
    counter moved;
    {
        array_view<int> view(d.v);
        {
            array_view<int> alias(view);
            add(alias);
            CHECK(moved() == d.all);
        }
        CHECK(moved() == 0); // DST-2
    }
    CHECK(moved() == d.all && d.v[1] == 2);
    {
        array_view<int> view(d.v);
        add(view);
        view.discard_data();
    }
    // DST-3: a change that is already in the program's memory stays.
    const int kept = has_own_memory(accelerator()) ? 2 : 3;
    CHECK(moved() == d.all && d.v[1] == kept);
    {
        array_view<const int> view(d.v);
        read_in_kernel(view);
        moved();
    }
    CHECK(moved() == 0); // DST-5
    {
        array_view<int> view(d.v);
        add(view);
        view.synchronize();
        moved();
    }
    CHECK(moved() == 0 && d.v[1] == kept + 1); // DST-9
}

TEST(DST_4_to_the_array) {
    array<int> a(count, accelerator().create_view());
    {
        array_view<int> view(a);
        view[3] = 30;
        view.section(4, 1)[0] = 40;
    }
    CHECK(std::vector<int>(a)[3] == 30 && std::vector<int>(a)[4] == 40);
}

TEST(DST_10_pattern) {
    integers a, b, c;
    counter moved;
    {
        array_view<const int> x(a.v), y(b.v);
        array_view<int> z(c.v);
        z.discard_data();
        parallel_for_each(
            z.extent, [=](index<1> i) restrict(amp) { z[i] = x[i] + y[i]; });
        CHECK(moved() == 2 * a.all);
        z.synchronize();
        CHECK(moved() == a.all);
    }
    CHECK(moved() == 0 && c.v[5] == 10);
}

TEST(COH_1_nothing_moves_before_it_is_needed) {
    for (const engine &on : engines()) {
        scene s(on);
        const std::vector<number> before = s.a_data;
        std::vector<number> after = before;
        step(after);
        numbers_view part = s.a.section(0, 10);
        CHECK(s.moved() == 0);
        on.step(s.normal, s.a);
        CHECK(s.moved() == s.all);
        s.normal.wait();
        CHECK(s.moved() == 0 && s.a_data == (on.has_own_memory() ? before : after));
        CHECK(s.a[0] == 4 && s.moved() == s.all && s.a_data == after);
    }
}

TEST(COH_2_13_and_21_no_more_than_the_part) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        numbers_view part = s.a.section(300, 50), overlapping = s.a.section(320, 100), one = s.a.section(617, 1);
        on.step(s.normal, part);
        CHECK(s.moved() == on.counted_bytes(200) && part[0] == 3 * 301 + 1 && s.moved() == on.counted_bytes(200));
        on.step(s.normal, overlapping); // moves 70 numbers only the host has, and 30 that the host may have written
        CHECK(s.moved() == on.counted_bytes(400));
        on.step(s.normal, s.a);
        step(expected, 300, 50);
        step(expected, 320, 100);
        step(expected);
        s.moved();
        // COH-21: published implementations track the state of a whole view, revamp tracks the state of each element.
        CHECK(array_view<const number>(one)[0] == expected[617] && s.moved() == on.counted_bytes(4));
        CHECK(read_on_host(s.a) == expected && s.moved() == on.counted_bytes(all_bytes - 4));
    }
}

TEST(COH_3_and_7_copies_are_kept_while_all_read) {
    for_each_pair([](const engine &p, const engine &q) {
        scene s(p);
        std::vector<number> expected = s.a_data;
        for (int i = 0; i < 3; ++i)
            CHECK(p.read(p.normal(), s.a) == expected && q.read(q.normal(), s.a) == expected);
        s.moved();
        p.step(p.normal(), s.a);
        step(expected);
        CHECK(s.moved() == 0 && count_valid_bytes(s.a, q.normal()) == 0 &&
              count_valid_bytes(s.a, cpu_view()) == 0); // COH-6
        s.a.synchronize_to(q.normal());
        CHECK(s.moved() == s.all + q.counted_bytes(all_bytes)); // COH-19: through the host
        for (const accelerator_view &one : {p.normal(), q.normal(), cpu_view()})
            CHECK(count_valid_bytes(s.a, one) == all_bytes);
        CHECK(read_on_host(array_view<const number>(s.a)) == expected && s.moved() == 0);
    });
}

TEST(COH_4_and_5_states_of_views_at_locations) {
    for (const engine &on : engines()) {
        scene s(on);
        numbers_view part = s.a.section(0, 250), rest = s.a.section(250, 750);
        on.step(s.normal, part);
        CHECK(count_valid_bytes(s.a, s.normal) == 1000 && count_valid_bytes(part, s.normal) == 1000 &&
              count_valid_bytes(rest, s.normal) == 0);
        CHECK(count_valid_bytes(s.a, cpu_view()) == 3000 && count_valid_bytes(part, cpu_view()) == 0 &&
              count_valid_bytes(rest, cpu_view()) == 3000);
        const array_view<const number> reader(s.b);
        const auto valid_bytes_are = [&](std::uint64_t here, std::uint64_t there) {
            return count_valid_bytes(s.b, cpu_view()) == here && count_valid_bytes(s.b, s.normal) == there;
        };
        CHECK(valid_bytes_are(all_bytes, 0));
        (void)on.read(s.normal, reader);
        CHECK(valid_bytes_are(all_bytes, all_bytes)); // shared
        on.step(s.normal, s.b);
        CHECK(valid_bytes_are(0, all_bytes)); // dirty on the accelerator
        (void)reader[0];
        CHECK(valid_bytes_are(all_bytes, all_bytes));
        (void)s.b[0];
        CHECK(valid_bytes_are(all_bytes, 0));
        // Write-only access leaves the same states as read-write access.
        s.sum_a_to_b(&s.normal);
        CHECK(valid_bytes_are(0, all_bytes));
    }
}

TEST(COH_6_and_8_overlapping_views_are_dirty_at_one_location) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        numbers_view lower = s.a.section(0, 600), upper = s.a.section(400, 600);
        on.step(s.normal, lower);
        on.step(s.normal, upper);
        CHECK(s.moved() == s.all && count_valid_bytes(s.a, cpu_view()) == 0);
        step_on_host(upper);
        CHECK(s.moved() == on.counted_bytes(2400) && count_valid_bytes(lower, s.normal) == 1600 &&
              count_valid_bytes(lower, cpu_view()) == 800);
        step(expected, 0, 600);
        step(expected, 400, 600);
        step(expected, 400, 600);
        CHECK(read_on_host(s.a) == expected && s.moved() == on.counted_bytes(1600));
    }
}

TEST(COH_8_reading_a_part_where_the_view_is_dirty) {
    for (const engine &on : engines()) {
        scene s(on);
        on.step(s.normal, s.a);
        const numbers_view part = s.a.section(100, 300);
        const std::vector<number> read = on.read(s.normal, part);
        CHECK(s.is_only_on(s.a, s.normal) && count_valid_bytes(part, cpu_view()) == 0);
        CHECK(read[0] == s.a[100] && read[299] == s.a[399]);
    }
}

TEST(COH_9_overlapping_views_are_shared_anywhere) {
    for_each_pair([](const engine &p, const engine &q) {
        scene s(p);
        numbers_view lower = s.a.section(0, 600), upper = s.a.section(400, 600);
        lower.synchronize_to(p.normal());
        upper.synchronize_to(q.normal());
        CHECK(s.moved() == p.counted_bytes(2400) + q.counted_bytes(2400));
        lower.synchronize_to(p.normal());
        upper.synchronize_to(q.normal());
        CHECK(s.moved() == 0 && count_valid_bytes(s.a, p.normal()) == 2400 &&
              count_valid_bytes(s.a, q.normal()) == 2400);
    });
}

TEST(COH_10_and_11_what_is_valid_does_not_move) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        step_on_host(s.a);
        CHECK(s.moved() == 0);
        on.step(s.normal, s.a);
        s.moved();
        numbers_view part = s.a.section(100, 500), inner = part.section(12, 20);
        on.step(s.normal, part);
        on.step(s.normal, inner);
        s.a.synchronize_to(s.normal);
        CHECK(s.moved() == 0);
        step(expected);
        step(expected);
        step(expected, 100, 500);
        step(expected, 112, 20);
        CHECK(read_on_host(s.a) == expected);
    }
}

TEST(COH_12_overlapping_views_of_two_accelerators) {
    for_each_pair([](const engine &p, const engine &q) {
        scene s(p);
        std::vector<number> expected = s.a_data;
        numbers_view lower = s.a.section(0, 600), upper = s.a.section(552, 300);
        p.step(p.normal(), lower);
        s.moved();
        q.step(q.normal(), upper); // the 48 dirty numbers go back to the home location
        CHECK(s.moved() == p.counted_bytes(192) + q.counted_bytes(1200));
        p.step(p.normal(), lower);
        CHECK(s.moved() == q.counted_bytes(192) + p.counted_bytes(192));
        step(expected, 0, 600);
        step(expected, 552, 300);
        step(expected, 0, 600);
        CHECK(read_on_host(s.a) == expected && s.moved() == p.counted_bytes(2400) + q.counted_bytes(1008));
    });
}

TEST(COH_16_to_18_lives_of_views) {
    for (const engine &on : engines()) {
        scene s(on);
        {
            std::vector<number> v = numbers();
            numbers_view view(v), part = view.section(12, 10);
            on.step(s.normal, part); // COH-16: never more than the part
            CHECK(s.moved() == on.counted_bytes(40));
        }
        CHECK(s.moved() == on.counted_bytes(40));
        on.step(s.normal, s.a);
        on.step(s.normal, s.a); // COH-18
        CHECK(s.moved() == s.all);
        // COH-17: once a source's last view is destroyed, a new view of the same memory transfers again.
        std::vector<number> v = numbers();
        for (int i = 0; i < 2; ++i) {
            numbers_view view(v);
            on.step(s.normal, view);
            view.synchronize();
            CHECK(s.moved() == 2 * s.all);
        }
        CHECK(v[1] == 13);
    }
}

TEST(COH_19_between_two_accelerators) {
    for_each_pair([](const engine &p, const engine &q) {
        scene s(p);
        std::vector<number> expected = s.a_data;
        p.step(p.normal(), s.a);
        s.moved();
        q.step(q.normal(), s.a);
        CHECK(s.moved() == s.all + q.counted_bytes(all_bytes));
        p.step(p.normal(), s.a);
        CHECK(s.moved() == s.all + q.counted_bytes(all_bytes));
        for (int i = 0; i < 3; ++i)
            step(expected);
        CHECK(read_on_host(s.a) == expected);
        // Repeats a part of the test with an array as the data source.
        array<number> home(count, expected.begin(), p.normal());
        {
            numbers_view view(home);
            q.step(q.normal(), view);
            CHECK(read_on_host(array_view<const number>(view))[0] == 3 * expected[0] + 1);
        }
        step(expected);
        CHECK(std::vector<number>(home) == expected);
    });
}

TEST(COH_20_a_chain_of_kernels_moves_nothing) {
    for (const engine &on : engines()) {
        scene s(on);
        on.step(s.normal, s.a);
        s.b.discard_data();
        s.moved();
        for (int i = 0; i < 20; ++i) {
            on.step(s.normal, s.a);
            on.sum(&s.normal, s.a, s.a, s.b);
        }
        CHECK(s.moved() == 0 && s.b[3] == 3 * s.a[3]);
    }
}

TEST(COH_22_one_element_of_an_array) {
    for (const engine &on : engines()) {
        const std::vector<number> v = numbers();
        array<number> home(count, v.begin(), on.normal());
        numbers_view view(home), one = view.section(617, 1);
        counter moved;
        on.step(on.normal(), view);
        CHECK(moved() == 0 && array_view<const number>(one)[0] == 3 * 617 + 1 && moved() == on.counted_bytes(4));
        one[0] = 5;
        CHECK(moved() == 0);
        on.step(on.normal(), view);
        CHECK(moved() == on.counted_bytes(4));
        one.synchronize();
        CHECK(std::vector<number>(home)[617] == 16);
    }
}

TEST(COH_23_sections_for_two_accelerators) {
    for_each_pair([](const engine &p, const engine &q) {
        scene s(p);
        std::vector<number> expected = s.a_data;
        numbers_view lower = s.a.section(0, 500), upper = s.a.section(500, 500);
        for (int i = 0; i < 4; ++i) {
            p.step(p.normal(), lower);
            q.step(q.normal(), upper);
            step(expected);
        }
        const std::uint64_t halves = p.counted_bytes(all_bytes / 2) + q.counted_bytes(all_bytes / 2);
        CHECK(s.moved() == halves);
        s.a.synchronize();
        CHECK(s.moved() == halves && s.a_data == expected);
    });
}

TEST(COH_24_discard_and_refresh_of_a_part) {
    for (const engine &on : engines()) {
        scene s(on);
        std::vector<number> expected = s.a_data;
        numbers_view part = s.a.section(200, 300);
        on.step(s.normal, s.a);
        s.moved();
        part.discard_data();
        s.a.synchronize();
        step(expected, 0, 200);
        // DST-3, AV-19: a kernel's write to the program's memory is neither discarded nor undone.
        if (!on.has_own_memory()) step(expected, 200, 300);
        step(expected, 500, 500);
        CHECK(s.moved() == on.counted_bytes(all_bytes - 1200) && s.a_data == expected);
        numbers_view other = s.b.section(200, 300);
        expected = s.b_data;
        on.step(s.normal, s.b);
        other.refresh(); // the home location's contents replace the kernel's changes
        step(expected, 0, 200);
        if (!on.has_own_memory()) step(expected, 200, 300);
        step(expected, 500, 500);
        CHECK(read_on_host(s.b) == expected);
    }
}

TEST(COH_14_and_15_parts_move) {
    std::vector<int> v(100 * 50);
    const std::uint64_t row_bytes = counted_bytes(accelerator(), 50 * sizeof(int));
    array_view<int, 2> m(100, 50, v);
    counter moved;
    array_view<int> row = m[3];
    add(row);
    CHECK(moved() == row_bytes);
    (void)m(0, 0); // reads the whole view: the row comes back
    CHECK(moved() == row_bytes);
    array_view<int> other = m[4]; // made while the host has the whole view
    add(other);
    CHECK(moved() == row_bytes);
    const array_view<int, 2> part = m.section(10, 10, 2, 3);
    parallel_for_each(
        part.extent, [=](index<2> i) restrict(amp) { part[i] = 1; });
    CHECK(moved() == counted_bytes(accelerator(), 6 * sizeof(int)));
    parallel_for_each(
        extent<1>(50), [=](index<1> i) restrict(amp) { m[5][i] = 7; });
    const std::uint64_t rest = moved();
    CHECK(has_own_memory(accelerator()) ? rest >= 4900 * sizeof(int) : rest == 0);
    CHECK(m(5, 49) == 7 && m(4, 0) == 1 && m(11, 12) == 1);
}

// In the access `m[y][x]`, the slice m[y] lives only for that access.
TEST(COH_2_access_by_v_y_x_moves_only_the_used_rows) {
    const accelerator_view there = accelerator().default_view;
    const std::uint64_t row = 50 * sizeof(int), moving = counted_bytes(accelerator(), row);
    std::vector<int> v(100 * 50);
    std::iota(v.begin(), v.end(), 0);
    array_view<int, 2> m(100, 50, v);
    const auto add_all = [&] {
        parallel_for_each(
            m.extent, [=](index<2> i) restrict(amp) { m[i] += 1; });
    };
    add_all();
    counter moved;
    CHECK(m[3][5] == 3 * 50 + 6 && moved() == moving);
    CHECK(m[3][6] == 3 * 50 + 7 && moved() == 0); // COH-10
    CHECK(m[7][0] == 7 * 50 + 1 && moved() == moving);
    // The host may have written rows 3 and 7 (AV-17). All other rows are still valid on the accelerator.
    CHECK(count_valid_bytes(m, there) == 98 * row);
    // Between two accesses, a kernel uses one row (AV-4), which moves to the accelerator and back.
    array_view<int> third = m[3];
    add(third);
    CHECK(moved() == moving);
    CHECK(m[7][1] == 7 * 50 + 2 && moved() == 0);
    CHECK(m[3][6] == 3 * 50 + 8 && moved() == moving);
    m[3][6] = 1000;
    add_all();
    CHECK(moved() == 2 * moving); // rows 3 and 7, which the host may have written
    CHECK(m[3][6] == 1001 && m[3][7] == 3 * 50 + 10 && m[8][0] == 8 * 50 + 2 && moved() == 2 * moving);
    // The host reads all rows in sequence. Each missing row moves once.
    long sum = 0;
    for (int y = 0; y < 100; ++y)
        for (int x = 0; x < 50; ++x)
            sum += m[y][x];
    CHECK(moved() == 98 * moving && sum == 4999L * 5000 / 2 + 5000 * 2 + 50 + (1001 - 3 * 50 - 9));
}

TEST(AV_16_v_y_x_of_const_elements_is_a_read) {
    const accelerator_view there = accelerator().default_view;
    const std::uint64_t row = 50 * sizeof(int), moving = counted_bytes(accelerator(), row);
    std::vector<int> v(100 * 50);
    array_view<int, 2> m(100, 50, v);
    parallel_for_each(
        m.extent, [=](index<2> i) restrict(amp) { m[i] = 50 * i[0] + i[1]; });
    const array_view<const int, 2> read(m);
    counter moved;
    CHECK(read[4][9] == 209 && read[4][8] == 208 && read[5][0] == 250 && moved() == 2 * moving);
    CHECK(count_valid_bytes(m, there) == 100 * row);
    // The reads give no permission to write: m[4][9] = 1 invalidates the accelerator's copy of row 4.
    m[4][9] = 1;
    CHECK(moved() == 0 && count_valid_bytes(m, there) == 99 * row);
    parallel_for_each(
        m.extent, [=](index<2> i) restrict(amp) { m[i] += 1; });
    CHECK(moved() == moving && read[4][9] == 2 && read[5][0] == 251 && m[4][8] == 209 && moved() == 2 * moving);
}

TEST(COH_2_in_rank_3_only_the_used_rows_move) {
    const std::uint64_t moving = counted_bytes(accelerator(), 10 * sizeof(int));
    std::vector<int> v(6 * 5 * 10);
    array_view<int, 3> m(6, 5, 10, v);
    const auto fill = [&](int first) {
        parallel_for_each(
            m.extent, [=](index<3> i) restrict(amp) { m[i] = first + 100 * i[0] + 10 * i[1] + i[2]; });
    };
    fill(0);
    counter moved;
    CHECK(m[2][3][4] == 234 && m[2][3][5] == 235 && moved() == moving);
    CHECK(m[5][4][9] == 549 && moved() == moving);
    const array_view<int, 2> plane = m[2];
    CHECK(plane(0, 1) == 201 && moved() == 4 * moving); // the rest of the plane
    CHECK(plane[4][0] == 240 && m[2][1][1] == 211 && m(index<3>(2, 2, 2)) == 222 && moved() == 24 * moving);
    fill(1000);
    moved();
    CHECK(plane[4][0] == 1240 && m[2][3][4] == 1234 && moved() == 2 * moving);
    // A plane that kernels use has its own handle.
    parallel_for_each(
        extent<2>(5, 10), [=](index<2> i) restrict(amp) { plane[i] += 1; });
    CHECK(plane[4][1] == 1242 && plane[3][4] == 1235 && m[2][3][5] == 1236 && m[1][0][0] == 1100);
    plane[0][0] = 7;
    CHECK(m[2][0][0] == 7);
    CHECK_THROWS(runtime_exception, m[2][5]);
    CHECK_THROWS(runtime_exception, m[6]);
    CHECK_THROWS(runtime_exception, m[-1]);
    std::vector<int> w(2 * 3 * 2 * 2 * 4, 5);
    array_view<int, 5> deep(extent<5>(std::array<int, 5>{2, 3, 2, 2, 4}.data()), w);
    deep[1][2][1][1][3] = 6;
    CHECK(w.back() == 6 && deep[1][2][1](1, 3) == 6 && deep[0][0][0][0][0] == 5);
}

TEST(DST_1_and_2_slices_live_longer_than_the_view) {
    const std::uint64_t moving = counted_bytes(accelerator(), 50 * sizeof(int));
    std::vector<int> v(40 * 50, 1);
    auto view = std::make_unique<array_view<int, 2>>(40, 50, v);
    array_view<int> kept[] = {(*view)[3], (*view)[4], (*view)[5]};
    std::vector<array_view<int>> many; // more slices than fit in a slice_pool (revamp/detail/view_control.h)
    for (int y = 0; y < 40; ++y)
        many.push_back((*view)[y]);
    (*view)[3][0] = 10;
    CHECK(many[3][0] == 10 && (*view)[4][0] + (*view)[5][0] * (*view)[6][0] == 2);
    add(kept[0]);
    add(kept[1]);
    counter moved;
    view.reset();
    many.erase(many.begin() + 1, many.end());
    CHECK(moved() == 0 && v[2 * 50] == 1); // DST-2
    CHECK(kept[0][0] == 11 && moved() == moving);
    const array_view<int> part = kept[1].section(10, 5);
    for (array_view<int> &one : kept)
        one = many[0];
    many.clear();
    for (array_view<int> &one : kept)
        one = part;
    CHECK(moved() == 0 && part[1] == 2);
    moved();
    {
        const array_view<int> last = part;
        for (array_view<int> &one : kept)
            one = array_view<int>(1, v.data());
    }
    const_cast<array_view<int> &>(part) = kept[0];
    // The source's last view is destroyed (DST-1), which writes back the rest of row 4.
    CHECK(moved() == counted_bytes(accelerator(), 45 * sizeof(int)) && v[4 * 50] == 2 && v[4 * 50 + 49] == 2 &&
          v[3 * 50] == 11);
}

TEST(DST_1_a_slice_may_be_the_last_view) {
    const std::uint64_t moving = counted_bytes(accelerator(), 50 * sizeof(int));
    std::vector<int> v(40 * 50, 1);
    counter moved;
    {
        auto view = std::make_unique<array_view<int, 2>>(40, 50, v);
        auto row = (*view)[7];
        view.reset();
        add(row);
        CHECK(moved() == moving);
    }
    CHECK(moved() == moving && v[7 * 50] == 2);
    // Data discarded through a slice is not written back (DST-3).
    {
        array_view<int, 2> view(40, 50, v);
        array_view<int> row = view[8];
        add(row);
        row.discard_data();
        moved();
    }
    CHECK(moved() == 0 && v[8 * 50] == (has_own_memory(accelerator()) ? 1 : 2));
    array_view<int, 2> view(40, 50, v);
    const auto row = view[9], same = row;
    add(row);
    view[9].synchronize();
    CHECK(v[9 * 50] == 2 && row.data() == &v[9 * 50] && view[9].data() == row.data() && &view[9][1] == &same[1]);
    v[10 * 50] = 20;
    view[10].refresh();
    add(view[10]);
    CHECK(view[10][0] == 21);
}

// Each thread uses its own rows. Slices that one thread makes are destroyed by other threads.
TEST(AV_6_threads_use_rows_of_one_view) {
    constexpr int rows = 64, columns = 33, threads = 4;
    for (int round = 0; round < 20; ++round) {
        std::vector<int> v(rows * columns, 1);
        auto view = std::make_unique<array_view<int, 2>>(rows, columns, v);
        if (round % 2) {
            const array_view<int, 2> all = *view;
            parallel_for_each(
                all.extent, [=](index<2> i) restrict(amp) { all[i] = 1; });
        }
        std::vector<std::unique_ptr<array_view<int>>> kept(rows);
        std::atomic<int> at{0}, done{0};
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t)
            all.emplace_back([&, t] {
                for (int y = t; y < rows; y += threads) {
                    for (int x = 0; x < columns; ++x)
                        (*view)[y][x] += y;
                    kept[static_cast<std::size_t>(y)].reset(new array_view<int>((*view)[y]));
                }
                if (done.fetch_add(1) + 1 == threads) view.reset();
                while (done.load() < threads)
                    std::this_thread::yield();
                for (int y; (y = at.fetch_add(1)) < rows;) {
                    auto &row = kept[static_cast<std::size_t>((y + 1) % rows)];
                    (*row)[0] += 1;
                    row.reset();
                }
            });
        for (std::thread &t : all)
            t.join();
        bool good = true;
        for (int y = 0; y < rows; ++y)
            for (int x = 0; x < columns; ++x)
                good = good && v[static_cast<std::size_t>(y * columns + x)] == 1 + y + !x;
        CHECK(good);
    }
}

// Planes outlive the view, which is destroyed while other threads make rows of the planes.
TEST(AV_6_threads_use_planes_while_the_view_is_destroyed) {
    constexpr int planes = 4, rows = 20, columns = 3;
    for (int round = 0; round < 100; ++round) {
        std::vector<int> v(planes * rows * columns, 1);
        auto view = std::make_unique<array_view<int, 3>>(planes, rows, columns, v);
        std::vector<std::unique_ptr<array_view<int, 2>>> kept;
        for (int z = 0; z < planes; ++z) {
            kept.emplace_back(new array_view<int, 2>((*view)[z]));
            (void)(*view)[z][0][0];
        }
        std::atomic<int> ready{0};
        std::vector<std::thread> all;
        for (int z = 0; z < planes; ++z)
            all.emplace_back([&, z] {
                auto plane = std::move(kept[static_cast<std::size_t>(z)]);
                ready.fetch_add(1);
                while (ready.load() <= planes)
                    std::this_thread::yield();
                std::vector<array_view<int>> row_views;
                for (int y = 0; y < rows; ++y) {
                    for (int x = 0; x < columns; ++x)
                        (*plane)[y][x] += z;
                    row_views.push_back((*plane)[y]);
                }
                plane.reset();
                for (array_view<int> &row : row_views)
                    row[0] += 1;
            });
        while (ready.load() < planes)
            std::this_thread::yield();
        ready.fetch_add(1);
        view.reset();
        for (std::thread &t : all)
            t.join();
        bool good = true;
        for (std::size_t i = 0; i < v.size(); ++i)
            good = good && v[i] == 1 + static_cast<int>(i) / (rows * columns) + (i % columns == 0);
        CHECK(good);
    }
}

TEST(AV_9_slices_of_arrays_are_coherent_with_it) {
    std::vector<int> v(20 * 30);
    std::iota(v.begin(), v.end(), 0);
    array<int, 2> host(20, 30, v.begin(), cpu_view()), there(20, 30, v.begin());
    const array<int, 2> &read = host;
    CHECK(host[2][3] == 63 && read[2][3] == 63 && there[2][3] == 63);
    host[2][3] = 1;
    there[2][3] = 1;
    array_view<int> row = host[2], other = there[2];
    add(row);
    add(other);
    CHECK(host[2][3] == 2 && read[2][4] == 65 && there[2][3] == 2 && host(2, 3) == 2);
    const std::vector<int> host_now = host, there_now = there;
    CHECK(host_now[63] == 2 && there_now[63] == 2 && host_now[64] == 65 && there_now[64] == 65);
    const array_view<int> kept = array<int, 2>(20, 30, v.begin(), cpu_view())[5];
    CHECK(kept[1] == 151);
}

TEST(STG_1_arrays_live_on_the_default_view) {
    CHECK(array<int>(4).accelerator_view == accelerator().default_view);
    CHECK((array<int, 2>(2, 2).accelerator_view == accelerator().default_view));
}

TEST(STG_8_to_10_staging_copies_move_once) {
    for (const engine &on : engines()) {
        const std::vector<number> v = numbers(9);
        array<number> staging(count, v.begin(), v.end(), cpu_view(), on.normal()), device(count, on.normal()); // STG-10
        counter moved;
        copy(staging, device);
        CHECK(moved() == all_bytes && std::vector<number>(device) == v);
        on.step(on.normal(), device);
        moved();
        copy(device, staging);
        CHECK(moved() == all_bytes && staging[1] == 31);
    }
}

TEST(STG_11_to_13_staged_or_not_the_results_are_the_same) {
    for (const engine &on : engines()) {
        std::vector<number> expected = numbers(6);
        array<number> staging(count, expected.begin(), cpu_view(), on.normal()),
            plain(count, expected.begin(), cpu_view());
        step(expected);
        for (array<number> *one : {&staging, &plain}) {
            numbers_view view(*one);
            CHECK(view.source_accelerator_view == cpu_view());
            on.step(on.normal(), view);
            CHECK(read_on_host(view) == expected && (*one)[2] == expected[2]);
        }
    }
}

TEST(STG_14_to_16_while_a_copy_is_in_flight) {
    for (const engine &on : engines()) {
        const std::vector<number> v = numbers(3);
        array<number> staging(count, cpu_view(), on.normal()), device(count, v.begin(), on.normal());
        std::atomic<bool> stop_reading{false};
        // The results are undefined (STG-14), but nothing crashes, and calls of the library still work.
        std::thread reader([&] {
            while (!stop_reading)
                (void)count_valid_bytes(numbers_view(staging), cpu_view());
        });
        for (int i = 0; i < 30; ++i) {
            const completion_future copied = copy_async(device, staging);
            if (i % 2) copied.get();
            CHECK(staging[5] == 8 && staging.data()[count - 1] == 1002); // STG-16: transferred again
        }
        stop_reading = true;
        reader.join();
    }
}

TEST(STG_17_kernels_take_views_of_it_alone) {
    for (const engine &on : engines()) {
        array<number> staging(count, cpu_view(), on.normal());
        CHECK_THROWS(runtime_exception, on.step(nullptr, staging),
                     CHECK_CONTAINS(e.what(), "not supported on the selected accelerator \"CPU accelerator\"."));
        CHECK_THROWS(runtime_exception, on.step(on.normal(), staging));
    }
}

namespace {

// True if the accelerator uses `bytes` bytes more than before, plus at most 1 MiB for internal data.
bool uses_more(const accelerator &a, const revamp_memory_usage &before, std::uint64_t bytes) {
    const revamp_memory_usage now = memory_of(a);
    const std::uint64_t tolerance = 1 << 20;
    return now.used >= before.used + bytes && now.used < before.used + bytes + tolerance &&
           now.held <= before.held + bytes + bytes / 10 + now.slack + tolerance;
}

} // namespace

TEST(STG_18_staging_memory_goes_with_the_array) {
    constexpr int size = 64 << 20;
    for (const engine &on : engines()) {
        const revamp_memory_usage before = memory_of(on.accelerator());
        for (int i = 0; i < 10; ++i) {
            {
                array<int> staging(size / 4, cpu_view(), on.normal());
                staging[0] = staging[size / 4 - 1] = 1;
                CHECK(uses_more(on.accelerator(), before, size));
            }
            CHECK(memory_of(on.accelerator()).used == before.used && uses_more(on.accelerator(), before, 0));
        }
        // A view keeps the staging memory. The device's memory for the view is freed with the view.
        {
            auto staging = std::make_unique<array<int>>(size / 4, cpu_view(), on.normal());
            const array_view<int> view(*staging);
            staging.reset();
            view.synchronize_to(on.normal());
            CHECK(uses_more(on.accelerator(), before, size + on.counted_bytes(size)));
        }
        on.normal().wait();
        CHECK(uses_more(on.accelerator(), before, 0));
    }
}

TEST(all_forms_of_synchronize) {
    integers d;
    array_view<int> view(d.v);
    const accelerator_view target = accelerator().create_view();
    counter moved;
    view.synchronize_to(target);
    CHECK(moved() == d.all);
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
    integers d;
    const std::vector<int> before = d.v;
    array_view<int> view(d.v);
    array_view<int> parts[] = {view.section(10, 50), view.section(40, 100), view.section(700, 20)};
    for (const array_view<int> &part : parts)
        add(part);
    for (const array_view<int> &part : parts)
        part.discard_data();
    view.synchronize();
    if (has_own_memory(accelerator())) {
        CHECK(d.v == before);
        return;
    }
    // In shared memory the kernels' writes stay.
    for (int i = 0; i < count; ++i) {
        const int times = (i >= 10 && i < 60) + (i >= 40 && i < 140) + (i >= 700 && i < 720);
        CHECK(d.v[static_cast<std::size_t>(i)] == before[static_cast<std::size_t>(i)] + times);
    }
}

CHECK_MAIN
