// Tests of kernels that some devices cannot run as written: long loops, which llvmpipe ends after 65,535 iterations,
// and deep nesting, which llvmpipe ignores beyond 80 levels. A launch must give the right result, or fail with an
// explanation. The tests run on a Vulkan device and on host threads.
#include "device.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace concurrency;

namespace {

constexpr int threads = 20;

unsigned step(unsigned x, int i) restrict(amp, cpu) {
    return x * 1664525u + static_cast<unsigned>(i) + 1013904223u;
}

// Kinds of loops with `n` iterations. Kernels call these functions; the host calls them for the expected results.
unsigned straight(unsigned x, int n) restrict(amp, cpu) {
    for (int i = 0; i < n; ++i)
        x = step(x, i);
    return x;
}
unsigned nested(unsigned x, int n, int m) restrict(amp, cpu) {
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < m; ++k)
            x = step(x, k);
        x ^= x >> 7;
    }
    return x;
}
unsigned breaks_early(unsigned x, int n) restrict(amp, cpu) {
    for (int i = 0;; ++i) {
        x = step(x, i);
        if (i == n) break;
        if ((x & 0xfffffffu) == 1234567u) return 7;
    }
    return x + 1;
}
unsigned returns_early(unsigned x, int n) restrict(amp, cpu) {
    for (int i = 0; i < 2000000; ++i) {
        x = step(x, i);
        if (i == n) return x + 3;
    }
    return 0;
}
// Each thread has few iterations. But the threads of a vector take turns, so that their iterations add up.
unsigned by_turns(unsigned x, int thread, int turns, int n) restrict(amp, cpu) {
    for (int turn = 0; turn < turns; ++turn)
        if (thread % turns == turn)
            for (int i = 0; i < n; ++i)
                x = step(x, i);
    return x;
}
// The last loop is short, but the first one may use up the limit of iterations.
unsigned short_at_the_end(unsigned x, int n) restrict(amp, cpu) {
    x = straight(x, n);
    for (int i = 0; i < 5; ++i)
        x = step(x, i) ^ (x >> 3);
    return x;
}

const char *const kinds[] = {"straight", "nested", "left early", "returned early", "by turns", "short at the end"};

unsigned value(int kind, unsigned x, int thread, int n) restrict(amp, cpu) {
    switch (kind) {
    case 0:
        return straight(x, n);
    case 1:
        return nested(x, n / 300, 300);
    case 2:
        return breaks_early(x, n);
    case 3:
        return returns_early(x, n);
    case 4:
        return by_turns(x, thread, 4, n / 4);
    default:
        return short_at_the_end(x, n);
    }
}

template <int kind> void launch(const accelerator_view &where, const array_view<unsigned> &v, int n) {
    parallel_for_each(
        where, v.extent, [=](index<1> i) restrict(amp) { v[i] = value(kind, v[i], i[0], n); });
}
using launcher = void (*)(const accelerator_view &, const array_view<unsigned> &, int);
const launcher launchers[] = {launch<0>, launch<1>, launch<2>, launch<3>, launch<4>, launch<5>};

std::vector<unsigned> numbers() {
    std::vector<unsigned> made(threads);
    for (int i = 0; i < threads; ++i)
        made[static_cast<size_t>(i)] = static_cast<unsigned>(i) * 77u + 5u;
    return made;
}
std::vector<unsigned> expected(int kind, int n) {
    std::vector<unsigned> made = numbers();
    for (int i = 0; i < threads; ++i)
        made[static_cast<size_t>(i)] = value(kind, made[static_cast<size_t>(i)], i, n);
    return made;
}

// `level` nested branches. Each contains a store, so that the compiler keeps the branch.
template <int level> unsigned branches(unsigned *seen, unsigned x, unsigned a) restrict(amp, cpu) {
    if (x <= static_cast<unsigned>(level)) return a;
    a = step(a, level);
    *seen = a;
    return branches<level - 1>(seen, x, a) ^ 1u;
}
template <> unsigned branches<0>(unsigned *, unsigned, unsigned a) restrict(amp, cpu) {
    return a + 1;
}

// `level` conditions in sequence, each with an early return.
template <int level> unsigned returns(unsigned *seen, unsigned x, unsigned a) restrict(amp, cpu) {
    if (x == static_cast<unsigned>(level)) return a ^ 5u;
    *seen += a;
    return returns<level - 1>(seen, x, a * 3 + *seen);
}
template <> unsigned returns<0>(unsigned *, unsigned, unsigned a) restrict(amp, cpu) {
    return a;
}

template <int level>
void nest(const accelerator_view &where, const array_view<unsigned> &v, const array_view<unsigned> &seen) {
    parallel_for_each(
        where, v.extent, [=](index<1> i) restrict(amp) {
            const unsigned x = static_cast<unsigned>(i[0]) % 150;
            v[i] = i[0] < 150 ? branches<level>(&seen[i], x, v[i]) : returns<level>(&seen[i], x, v[i]);
        });
}
template <int level> void check_nesting(const accelerator_view &where) {
    std::vector<unsigned> got(300, 7), seen(300, 1), expected_values(300), expected_seen(300, 1);
    for (unsigned i = 0; i < 300; ++i)
        expected_values[i] =
            i < 150 ? branches<level>(&expected_seen[i], i % 150, 7) : returns<level>(&expected_seen[i], i % 150, 7);
    try {
        const array_view<unsigned> v(300, got), s(300, seen);
        nest<level>(where, v, s);
        v.synchronize();
        s.synchronize();
    } catch (const runtime_exception &e) {
        CHECK(std::string(e.what()).find("levels deep") != std::string::npos);
        CHECK(level > 60);
        return;
    }
    CHECK(got == expected_values);
    CHECK(seen == expected_seen);
}

// True if `run` succeeds; false if its error says that a loop is too long.
template <class F> bool succeeds(const F &run) {
    try {
        run();
        return true;
    } catch (const runtime_exception &e) {
        const std::string text = e.what();
        CHECK(text.find("65,535") != std::string::npos);
        CHECK(text.find("docs/devices.md") != std::string::npos);
        return false;
    }
}

template <class Kernel> void on_host_and_device(const Kernel &kernel) {
    kernel(accelerator(accelerator::direct3d_warp).default_view);
    kernel(vulkan_view());
}

} // namespace

TEST(long_loops_are_right_or_fail) {
    on_host_and_device([](const accelerator_view &where) {
        for (int kind = 0; kind < 6; ++kind)
            for (int n : {60000, 65535, 65536, 70000, 90000, 1000000}) {
                std::vector<unsigned> got = numbers();
                const bool done = succeeds([&] {
                    const array_view<unsigned> v(threads, got);
                    launchers[kind](where, v, n);
                    v.synchronize();
                });
                if (!done && n > 60000) continue;
                if (!done || got != expected(kind, n)) std::printf("%s, %d iterations\n", kinds[kind], n);
                CHECK(done && got == expected(kind, n));
            }
    });
}

// If the result of a kernel is lost, results of kernels that read it are lost too, on any accelerator_view.
TEST(kernels_that_read_the_result_of_a_long_loop_are_right_or_fail) {
    on_host_and_device([](const accelerator_view &where) {
        for (const accelerator_view &second : {where, where.accelerator.create_view()})
            for (int n : {1000, 1000000}) {
                std::vector<unsigned> got(threads);
                const bool done = succeeds([&] {
                    const std::vector<unsigned> start = numbers();
                    array<unsigned> a(threads, start.begin(), where), b(threads, second);
                    const array_view<unsigned> va(a), vb(b);
                    launch<0>(where, va, n);
                    parallel_for_each(
                        second, b.extent, [=](index<1> i) restrict(amp) { vb[i] = va[i] + 1; });
                    copy(b, got.begin());
                });
                std::vector<unsigned> expected_values = expected(0, n);
                for (unsigned &x : expected_values)
                    ++x;
                CHECK(done ? got == expected_values : n > 60000);
            }
    });
}

TEST(launches_after_a_long_loop_are_right) {
    on_host_and_device([](const accelerator_view &where) {
        for (int round = 0; round < 3; ++round) {
            std::vector<unsigned> lost = numbers(), got = numbers();
            const bool done = succeeds([&] {
                const array_view<unsigned> v(threads, lost);
                launch<0>(where, v, 1000000);
                v.synchronize();
            });
            CHECK(!done || lost == expected(0, 1000000));
            const array_view<unsigned> v(threads, got);
            launch<0>(where, v, 1000);
            v.synchronize();
            CHECK(got == expected(0, 1000));
        }
    });
}

// A wait also reports the loss, even if no call requests the data.
TEST(a_wait_reports_a_long_loop) {
    on_host_and_device([](const accelerator_view &where) {
        std::vector<unsigned> got = numbers();
        const std::vector<unsigned> start = numbers();
        array<unsigned> a(threads, start.begin(), where);
        const array_view<unsigned> v(a);
        const bool done = succeeds([&] {
            launch<1>(where, v, 90000);
            accelerator_view(where).wait();
        });
        if (done) {
            copy(a, got.begin());
            CHECK(got == expected(1, 90000));
        } else {
            CHECK(!succeeds([&] { copy(a, got.begin()); }));
        }
    });
}

TEST(deep_nesting_is_right_or_refused) {
    on_host_and_device([](const accelerator_view &where) {
        check_nesting<20>(where);
        check_nesting<60>(where);
        check_nesting<79>(where);
        check_nesting<90>(where);
        check_nesting<140>(where);
    });
}

// If the size of a tile is not a multiple of lavapipe's vectors, the last vector has threads beyond the tile. The
// values that these threads load must not keep the loop running.
template <int rows, int columns> void loops_that_end_by_values_in_memory() {
    constexpr int tiles = 2, threads = tiles * rows * columns;
    std::vector<int> numbers(64), by_memory(threads), by_tile(threads), without_barrier(threads);
    for (int n = 0; n < 64; ++n)
        numbers[n] = n * 3;
    const array_view<const int> in(64, numbers);
    const array_view<int, 2> a(tiles * rows, columns, by_memory), b(tiles * rows, columns, by_tile),
        c(tiles * rows, columns, without_barrier);
    parallel_for_each(
        vulkan_view(), a.extent.tile<rows, columns>(), [=](tiled_index<rows, columns> t) restrict(amp) {
            tile_static int count;
            int n = 0;
            for (; in[n] <= 40; ++n)
                t.barrier.wait();
            a[t] = n;
            if (t.local == index<2>(0, 0)) count = 0;
            n = 0;
            do {
                t.barrier.wait();
                if (t.local == index<2>(0, 0)) ++count;
                t.barrier.wait();
                ++n;
            } while (count < 14);
            b[t] = n;
            for (n = 0; in[n] <= 40;)
                ++n;
            c[t] = n;
        });
    for (const array_view<int, 2> *all : {&a, &b, &c})
        all->synchronize();
    for (const std::vector<int> *all : {&by_memory, &by_tile, &without_barrier})
        CHECK(*all == std::vector<int>(threads, 14));
}

TEST(loops_that_end_by_values_in_memory_in_narrow_domains) {
    std::vector<int> numbers(64), results(28 * 3);
    for (int n = 0; n < 64; ++n)
        numbers[n] = n * 3;
    const array_view<const int> in(64, numbers);
    const array_view<int, 2> out(28, 3, results);
    parallel_for_each(
        vulkan_view(), out.extent, [=](index<2> i) restrict(amp) {
            int n = 0;
            while (in[n] <= 40)
                ++n;
            out[i] = n;
        });
    out.synchronize();
    CHECK(results == std::vector<int>(28 * 3, 14));
}

TEST(loops_that_end_by_values_in_memory_in_tiles_of_any_size) {
    loops_that_end_by_values_in_memory<1, 5>();
    loops_that_end_by_values_in_memory<1, 13>();
    loops_that_end_by_values_in_memory<3, 5>();
    loops_that_end_by_values_in_memory<7, 1>();
    loops_that_end_by_values_in_memory<2, 17>();
    loops_that_end_by_values_in_memory<4, 16>();
}

CHECK_MAIN
