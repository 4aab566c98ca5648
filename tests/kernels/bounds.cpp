// Tests of accesses outside of arrays and array_views, which programs written for Direct3D make. Reads return 0, writes
// and atomic operations have no effect, and memory around the elements is unchanged. There are builds with BOUNDS zero,
// and with BOUNDS report (REPORTS), where the launch also fails with a message that names the access. Builds with
// BOUNDS zero also run on host threads, with native kernels for all processor levels, and without optimisation.
#include "device.hpp"

#include <amp_short_vectors.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

// Kernels run on host threads if BOUNDS_ON_HOST_THREADS is set, otherwise on the Vulkan device. The accelerator_view is
// looked up only once, because a call that lists accelerators may receive a kernel's report.
accelerator_view target_view() {
    static const accelerator_view found =
        std::getenv("BOUNDS_ON_HOST_THREADS") ? accelerator(accelerator::direct3d_warp).default_view : vulkan_view();
    return found;
}

// Runs code with accesses outside of views. With REPORTS, checks that the report has these parts.
template <class Run> void check_out_of_bounds(const Run &run, std::initializer_list<const char *> parts) {
    std::string report;
    try {
        run();
        target_view().wait();
    } catch (const runtime_exception &e) {
        report = e.what();
    }
    // A launch makes only one report, so the next wait succeeds.
    target_view().wait();
#ifdef REPORTS
    for (const char *part : parts)
        if (report.find(part) == std::string::npos) {
            std::printf("'%s' is not in '%s'\n", part, report.c_str());
            CHECK(false);
        }
#else
    (void)parts;
    CHECK(report.empty());
#endif
}

// Elements with guard elements on both sides, which must not change.
template <class T> struct guarded {
    std::vector<T> all;
    explicit guarded(int n, T value = T()) : all(unsigned(n) + 200, value) {}
    T *first() { return all.data() + 100; }
    // True if the guard elements are unchanged.
    bool is_untouched(T value = T()) const {
        for (unsigned n = 0; n < all.size(); ++n)
            if ((n < 100 || n >= all.size() - 100) && !(all[n] == value)) return false;
        return true;
    }
};

struct pair_of_views {
    array_view<int> to;
    array_view<const int> from;
};

struct three {
    int a, b, c;
};

#pragma pack(push, 1)
struct packed {
    char tag;
    int v[2];
    char rest[3];
    bool operator==(const packed &other) const {
        return tag == other.tag && v[0] == other.v[0] && v[1] == other.v[1] && rest[2] == other.rest[2];
    }
};
#pragma pack(pop)

} // namespace

// Microsoft's histogram sample also has values for which there is no bin.
TEST(a_histogram_with_values_beyond_its_bins) {
    std::vector<int> values(1000), bins(16);
    for (unsigned n = 0; n < 1000; ++n)
        values[n] = int(n % 40) - 10;
    const array_view<const int> v(1000, values);
    const array_view<int> b(16, bins);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), v.extent, [=](index<1> i) restrict(amp) { atomic_fetch_inc(&b[v[i]]); });
        },
        {"bounds.cpp:", "'b'", "an atomic operation on 4 bytes", "extent (16)", "index ("});
    b.synchronize();
    for (int n = 0; n < 16; ++n)
        CHECK(bins[unsigned(n)] == 25);
}

TEST(a_stencil_reads_beyond_the_edges) {
    std::vector<float> from(64, 1.0f), to(64);
    const array_view<const float> in(64, from);
    const array_view<float> out(64, to);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i - 1] + in[i] + in[i + 1]; });
        },
        {"'in'", "reads 4 bytes", "extent (64)"});
    out.synchronize();
    CHECK(to[0] == 2 && to[1] == 3 && to[62] == 3 && to[63] == 2);
}

// Native kernels compare the first and the last index of a row of threads with the extent. If both are inside, they
// skip the checks of the row's accesses. Otherwise they check each access.
TEST(indices_computed_in_loops) {
    for (const int n : {1, 7, 64, 256})
        for (const int threads : {1, 5, 300}) {
            guarded<int> from(n, 1000);
            for (int k = 0; k < n; ++k)
                from.first()[k] = 3 * k + 1;
            std::vector<int> got(unsigned(threads), -1);
            const array_view<const int> in(n, from.first());
            const array_view<int> to(threads, got);
            check_out_of_bounds(
                [&] {
                    parallel_for_each(
                        target_view(), to.extent, [=](index<1> id) restrict(amp) {
                            const int i = id[0];
                            int sum = in[i - 100] + in[int(unsigned(i) * 0x40000000u)];
                            for (int k = i; k < n + 20; k += 3)
                                sum += in[k];
                            for (int k = n + 5; k > i - 4; --k)
                                sum += in[k] * k;
                            for (int k = 0; k != i; ++k)
                                sum += in[2 * k - 9] + in[k / 2];
                            sum += in[i * 5 & 255] + in[i >> 1] + in[i % 7] + in[i & -4];
                            sum += in[concurrency::direct3d::clamp(i - 3, 0, n - 1)];
                            to[id] = sum;
                        });
                },
                {});
            to.synchronize();
            const auto at = [&](int k) { return k < 0 || k >= n ? 0 : 3 * k + 1; };
            for (int i = 0; i < threads; ++i) {
                int sum = at(i - 100) + (i % 4 == 0 ? at(0) : 0);
                for (int k = i; k < n + 20; k += 3)
                    sum += at(k);
                for (int k = n + 5; k > i - 4; --k)
                    sum += at(k) * k;
                for (int k = 0; k != i; ++k)
                    sum += at(2 * k - 9) + at(k / 2);
                sum += at(i * 5 & 255) + at(i >> 1) + at(i % 7) + at(i & -4);
                sum += at(std::min(std::max(i - 3, 0), n - 1));
                CHECK(got[unsigned(i)] == sum);
            }
        }
}

// Work that keeps LLVM from rotating a loop.
#define MIX(h) h = h * 1664525u + 1013904223u, h ^= h >> 13, h *= 2654435761u, h ^= h >> 7
TEST(loops_that_another_exit_ends_before_the_counter_wraps) {
    std::vector<int> memory(1 << 16, 7), up(64), down(64), wide(9);
    const array_view<const int> five(5, memory.data() + (1 << 15)), ten(10, memory.data() + (1 << 15));
    const array_view<int> ups(64, up), downs(64, down), wides(9, wide);
    const int n = 5, stop = 30, scale = 1 << 26;
    const unsigned lowest = 0;
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), ups.extent, [=](index<1> t) restrict(amp) {
                    int sum = 0, steps = 0;
                    unsigned h = unsigned(t[0]) * 3u + 1u;
                    for (int i = 0;; i += 2) {
                        MIX(h), MIX(h), MIX(h), MIX(h), MIX(h);
                        if (i == n) break;
                        sum += five[i];
                        if (++steps > stop + t[0]) break;
                    }
                    ups[t] = steps > stop + t[0] ? sum : -int(h);
                });
        },
        {"'five'"});
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), downs.extent, [=](index<1> t) restrict(amp) {
                    int sum = 0, steps = 0;
                    unsigned h = unsigned(t[0]) * 3u + 1u;
                    for (unsigned i = unsigned(n);; --i) {
                        MIX(h), MIX(h), MIX(h), MIX(h), MIX(h);
                        if (i < lowest) break;
                        sum += ten[int(i) + 1];
                        if (++steps > stop + t[0]) break;
                    }
                    downs[t] = steps > stop + t[0] ? sum : -int(h);
                });
        },
        {"'ten'"});
    // An offset whose range has more than 31 bits.
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), wides.extent, [=](index<1> t) restrict(amp) {
                    wides[t] = ten[int((static_cast<long long>(t[0] * scale) << 35) >> 45)];
                });
        },
        {"'ten'"});
    ups.synchronize();
    downs.synchronize();
    wides.synchronize();
    for (unsigned t = 0; t < 64; ++t)
        CHECK(up[t] == 3 * 7 && down[t] == 7 * 7);
    for (unsigned t = 0; t < 9; ++t)
        CHECK(wide[t] == (t == 0 || t == 8 ? 7 : 0));
}
#undef MIX

// The Cartoonizer of the C++ AMP book reads neighbours like this. Only the linear index is checked, so an index beyond
// the last column reads the next row.
TEST(neighbours_in_two_dimensions) {
    std::vector<int> from(8 * 8, 1), to(8 * 8);
    const array_view<const int, 2> in(8, 8, from);
    const array_view<int, 2> out(8, 8, to);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<2> i) restrict(amp) {
                    int sum = 0;
                    for (int y = -1; y <= 1; ++y)
                        for (int x = -1; x <= 1; ++x)
                            sum += in(i[0] + y, i[1] + x);
                    out[i] = sum;
                });
        },
        {"'in'", "extent (8, 8)"});
    out.synchronize();
    CHECK(to[9] == 9 && to[3] == 6 && to[63 - 3] == 6 && to[18] == 9);
#ifndef REPORTS
    // The sum at (0, 0) has no element for row -1, two for row 0, and three for row 1: (1, -1) is (0, 7).
    CHECK(to[0] == 5);
#endif
}

TEST(writes_beyond_both_ends_touch_nothing) {
    guarded<int> memory(50, 7);
    const array_view<int> v(50, memory.first());
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), extent<1>(200), [=](index<1> i) restrict(amp) { v[i[0] - 75] = i[0]; });
        },
        {"'v'", "writes 4 bytes", "extent (50)"});
    v.synchronize();
    CHECK(memory.is_untouched(7));
    for (int n = 0; n < 50; ++n)
        CHECK(memory.first()[n] == n + 75);
}

TEST(huge_and_negative_indices) {
    std::vector<int> values(10, 3), read(8, -1);
    const array_view<int> v(10, values), out(8, read);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), extent<1>(8), [=](index<1> i) restrict(amp) {
                    const int at[] = {-1, -2147483647 - 1, 2147483647, 10, 1 << 30, -(1 << 30), 0x3fffffff, 5};
                    out[i] = v[at[i[0]]];
                    v[at[7 - i[0]]] += 1;
                });
        },
        {"'v'", "extent (10)"});
    out.synchronize();
    v.synchronize();
    for (int n = 0; n < 7; ++n)
        CHECK(read[unsigned(n)] == 0);
    CHECK(read[7] >= 3 && values[5] == 4 && values[4] == 3 && values[0] == 3 && values[9] == 3);
}

TEST(elements_of_64_bits_and_of_structs) {
    std::vector<double> doubles(5, 2);
    std::vector<three> structs(5, three{1, 2, 3});
    std::vector<int> sums(16, -1);
    const array_view<double> d(5, doubles);
    const array_view<three> s(5, structs);
    const array_view<int> out(16, sums);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) {
                    const three one = s[i[0] - 4];
                    out[i] = one.a + 10 * one.b + 100 * one.c + 1000 * int(d[i[0] - 4]);
                    d[i[0] + 5] = 1;
                    s[i[0] + 5].c = 4;
                });
        },
        {"extent (5)"});
    out.synchronize();
    d.synchronize();
    s.synchronize();
    for (int n = 0; n < 16; ++n) {
        CHECK(sums[unsigned(n)] == (n >= 4 && n < 9 ? 2321 : 0));
    }
    for (int n = 0; n < 5; ++n) {
        CHECK(doubles[unsigned(n)] == 2 && structs[unsigned(n)].c == 3);
    }
}

TEST(short_vectors) {
    std::vector<float_4> values(4, float_4(1, 2, 3, 4));
    std::vector<float> sums(8, -1);
    const array_view<float_4> v(4, values);
    const array_view<float> out(8, sums);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) {
                    const float_4 one = v[i];
                    out[i] = one.x + one.y + one.z + one.w + v[i[0] - 4].y;
                    v[i[0] + 4] = float_4(9, 9, 9, 9);
                });
        },
        {"'v'", "extent (4)"});
    out.synchronize();
    v.synchronize();
    for (unsigned n = 0; n < 8; ++n)
        CHECK(sums[n] == (n < 4 ? 10 : 2));
    CHECK(values[0].x == 1 && values[3].w == 4);
}

TEST(arrays_by_reference) {
    const accelerator_view where = target_view();
    std::vector<int> values(20, 1);
    array<int> a(20, values.begin(), where);
    array<int, 2> b(4, 5, values.begin(), where);
    array<int> out(30, where);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                where, extent<1>(30), [&a, &b, &out ](index<1> i) restrict(amp) {
                    out[i] = a[i] + 10 * b(i[0] / 5, i[0] % 5) + 100 * a.extent[0];
                    a[i[0] + 20] = 5;
                });
        },
        {"'", "extent ("});
    const std::vector<int> found = out;
    for (int n = 0; n < 30; ++n)
        CHECK(found[unsigned(n)] == (n < 20 ? 2011 : 2000));
    const std::vector<int> kept = a;
    CHECK(kept == values);
}

// v[-1] begins 3 bytes before the view's memory and ends inside of it.
TEST(accesses_across_the_start) {
    const packed nine = {9, {9, 9}, {9, 9, 9}};
    guarded<packed> elements(4, nine);
    std::vector<int> where(1, -1), seen(1, -1);
    const array_view<packed> view(4, elements.first());
    const array_view<const int> at(1, where);
    const array_view<int> out(1, seen);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), extent<1>(1), [=](index<1> i) restrict(amp) {
                    out[i] = view[0].v[at[i]];
                    view[0].v[at[i]] = 0x01010101;
                    view[0].v[at[i] + 2] = 5;
                });
        },
        {"bounds.cpp:"});
    out.synchronize();
    view.synchronize();
    CHECK(seen[0] == 0 && elements.is_untouched(nine));
    CHECK(elements.first()->tag == 9 && elements.first()->v[0] == 9 && elements.first()->v[1] == 5);
}

TEST(the_extent_of_an_array_alone) {
    const accelerator_view where = target_view();
    array<float, 2> a(3, 7, where);
    std::vector<int> seen(2);
    const array_view<int> out(2, seen);
    parallel_for_each(
        where, out.extent, [&a, out ](index<1> i) restrict(amp) { out[i] = a.extent[i[0]]; });
    out.synchronize();
    CHECK(seen[0] == 3 && seen[1] == 7);
}

TEST(sections_projections_and_shapes) {
    std::vector<int> values(100);
    for (int n = 0; n < 100; ++n)
        values[unsigned(n)] = n;
    std::vector<int> read(8, -1);
    const array_view<int, 2> v(10, 10, values);
    const array_view<int> out(8, read);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), extent<1>(1), [=](index<1>) restrict(amp) {
                    const array_view<int, 2> part = v.section(2, 2, 3, 3);
                    const array_view<int> row = v[9], flat = v[9].view_as(extent<2>(2, 5))[1];
                    out[0] = part(1, 1);
                    out[1] = part(90, 0);
                    out[2] = row[3];
                    out[3] = row[10];
                    out[4] = flat[4];
                    out[5] = flat[5];
                    out[6] = v[-1][9];
                    out[7] = v[9][9];
                    row[11] = 5;
                    part(-10, 0) = 6;
                });
        },
        {"extent (", "index ("});
    out.synchronize();
    v.synchronize();
    const int expected[] = {33, 0, 93, 0, 99, 0, 0, 99};
    for (unsigned n = 0; n < 8; ++n)
        CHECK(read[n] == expected[n]);
    for (int n = 0; n < 100; ++n)
        CHECK(values[unsigned(n)] == n);
}

TEST(a_pointer_to_one_of_two_views) {
    std::vector<int> first(10, 1), second(30, 2), read(40, -1);
    const array_view<int> a(10, first), b(30, second), out(40, read);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) {
                    out[i] = *(i[0] % 2 ? &a[i] : &b[i]);
                    (i[0] % 2 ? a[i[0] + 10] : b[i[0] + 30]) = 9;
                    const array_view<int> &one = i[0] % 4 < 2 ? a : b;
                    out[i] += 10 * one[i];
                });
        },
        {"bounds.cpp:", "outside of"});
    out.synchronize();
    a.synchronize();
    b.synchronize();
    for (int n = 0; n < 40; ++n) {
        const int direct = n % 2 ? (n < 10 ? 1 : 0) : (n < 30 ? 2 : 0);
        const int by_reference = n % 4 < 2 ? (n < 10 ? 1 : 0) : (n < 30 ? 2 : 0);
        CHECK(read[unsigned(n)] == direct + 10 * by_reference);
    }
    CHECK(first == std::vector<int>(10, 1) && second == std::vector<int>(30, 2));
}

TEST(a_pointer_that_a_loop_moves) {
    std::vector<int> values(32, 1), read(4, -1);
    const array_view<int> v(32, values), out(4, read);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) {
                    int sum = 0;
                    for (const int *p = &v[i], *end = p + 40; p != end; ++p)
                        sum += *p;
                    out[i] = sum;
                    int *p = &v[0];
                    for (int n = 0; n < 8; ++n, p += 8)
                        if (i[0] == 0) *p += n + 1;
                });
        },
        {"at byte", "of 128 bytes"});
    out.synchronize();
    v.synchronize();
    CHECK(read[1] >= 31 && read[3] >= 29);
    CHECK(values[0] == 2 && values[8] == 3 && values[24] == 5 && values[31] == 1);
}

TEST(structs_that_hold_views) {
    std::vector<int> source(10, 4), target(20, 1);
    const pair_of_views p = {array_view<int>(20, target), array_view<const int>(10, source)};
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), extent<1>(30), [=](index<1> i) restrict(amp) { p.to[i] += p.from[i[0] - 5]; });
        },
        {"extent ("});
    p.to.synchronize();
    for (unsigned n = 0; n < 20; ++n)
        CHECK(target[n] == (n >= 5 && n < 15 ? 5 : 1));
}

// Kernels select the view at run time.
TEST(arrays_of_views) {
    std::vector<int> one(10, 1), two(20, 2), thirty(30, 3), read(40, -1);
    const array_view<int> a(10, one), b(20, two), c(30, thirty), out(40, read);
    struct {
        array_view<int> views[3];
    } all = {{a, b, c}};
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) {
                    int sum = 0;
                    for (int n = 0; n < 3; ++n)
                        sum += all.views[(n + i[0]) % 3][i];
                    out[i] = sum;
                    all.views[i[0] % 3][i[0] + 30] = 100;
                });
        },
        {"bounds.cpp:", "outside of"});
    out.synchronize();
    for (int n = 0; n < 40; ++n)
        CHECK(read[unsigned(n)] == (n < 10 ? 6 : n < 20 ? 5 : n < 30 ? 3 : 0));
    a.synchronize();
    b.synchronize();
    c.synchronize();
    CHECK(one == std::vector<int>(10, 1) && two == std::vector<int>(20, 2) && thirty == std::vector<int>(30, 3));
}

TEST(atomic_operations_outside_give_zero) {
    guarded<int> memory(4, 5);
    std::vector<int> old(8, -1);
    const array_view<int> v(4, memory.first()), out(8, old);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent, [=](index<1> i) restrict(amp) {
                    int expected = 0;
                    out[i] = atomic_fetch_add(&v[i], 3) + atomic_exchange(&v[i[0] + 4], 9);
                    // The loop ends because the value outside is always 0.
                    while (!atomic_compare_exchange(&v[i[0] + 100], &expected, 1))
                        ;
                });
        },
        {"atomic operation", "extent (4)"});
    out.synchronize();
    v.synchronize();
    for (unsigned n = 0; n < 8; ++n)
        CHECK(old[n] == (n < 4 ? 5 : 0));
    CHECK(memory.is_untouched(5) && memory.first()[0] == 8 && memory.first()[3] == 8);
}

// Threads with accesses outside of the view still reach the barrier.
TEST(tiles_and_barriers) {
    std::vector<int> values(40, 1), read(64, -1);
    const array_view<const int> v(40, values);
    const array_view<int> out(64, read);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
                    tile_static int shared[16];
                    shared[t.local[0]] = v[t.global];
                    t.barrier.wait();
                    int sum = 0;
                    for (int n = 0; n < 16; ++n)
                        sum += shared[n];
                    out[t.global] = sum;
                });
        },
        {"'v'", "extent (40)"});
    out.synchronize();
    for (unsigned n = 0; n < 64; ++n)
        CHECK(read[n] == (n < 32 ? 16 : n < 48 ? 8 : 0));
}

#ifdef REPORTS
// tile_static memory and local arrays, which Direct3D does not check, are checked too.
TEST(tile_static_memory_and_locals) {
    std::vector<int> read(32);
    const array_view<int> out(32, read);
    check_out_of_bounds(
        [&] {
            parallel_for_each(
                target_view(), out.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
                    tile_static int shared[16];
                    shared[t.local[0]] = 1;
                    t.barrier.wait();
                    out[t.global] = shared[t.global[0]];
                });
        },
        {"bounds.cpp:", "64 bytes"});
    out.synchronize();
    for (unsigned n = 0; n < 32; ++n)
        CHECK(read[n] == (n < 16 ? 1 : 0));
}
#endif

// Repeats a cached launch. Every second repetition has accesses outside of the view.
TEST(launches_that_are_repeated) {
    std::vector<int> values(64), bins(8);
    for (int n = 0; n < 64; ++n)
        values[unsigned(n)] = n;
    const array_view<const int> v(64, values);
    const array_view<int> b(8, bins);
    int report = 0;
    for (int round = 0; round < 20; ++round) {
        const int highest = round % 2 ? 8 : 64;
        try {
            parallel_for_each(
                target_view(), v.extent, [=](index<1> i) restrict(amp) {
                    if (v[i] < highest) atomic_fetch_inc(&b[v[i]]);
                });
            target_view().wait();
        } catch (const runtime_exception &) {
            ++report;
        }
    }
    b.synchronize();
    for (unsigned n = 0; n < 8; ++n)
        CHECK(bins[n] == 20);
#ifdef REPORTS
    CHECK(report == 10);
#else
    CHECK(report == 0);
#endif
}

#ifdef REPORTS
TEST(host_threads_and_host_code_report_too) {
    const accelerator_view threads = accelerator(accelerator::direct3d_ref).default_view;
    std::vector<int> values(24, 1);
    const array_view<int, 2> v(4, 6, values);
    parallel_for_each(
        threads, v.extent, [=](index<2> i) restrict(amp) { v[i] += v(i[0], i[1] + 1); });
    CHECK_THROWS(runtime_exception, threads.wait(), CHECK_CONTAINS(e.what(), "index (0, 6), extent (4, 6)"));
    CHECK_THROWS(runtime_exception, v(4, 0), CHECK_CONTAINS(e.what(), "index (4, 0)"));
}
#endif

#ifndef REPORTS
// Launches more threads than the view has elements. The data source continues after the end of the view.
TEST(threads_beyond_a_view_of_a_larger_vector) {
    std::vector<int> values(1024, 7);
    const array_view<int> v(1000, values);
    parallel_for_each(
        target_view(), extent<1>(1024), [=](index<1> i) restrict(amp) { v[i] = v[i] + i[0]; });
    parallel_for_each(
        target_view(), extent<1>(1024).tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int all[32];
            all[t.local[0]] = v[t.global];
            t.barrier.wait();
            v[t.global] = all[31 - t.local[0]];
        });
    v.synchronize();
    for (int n = 0; n < 1024; ++n) {
        const int from = n / 32 * 32 + 31 - n % 32;
        CHECK(values[unsigned(n)] == (n >= 1000 ? 7 : from >= 1000 ? 0 : 7 + from));
    }
}

// Copies elements that are larger than a register.
TEST(large_elements) {
    struct many {
        int all[40];
    };
    guarded<many> from(3), to(3);
    for (int n = 0; n < 3; ++n)
        for (int k = 0; k < 40; ++k)
            from.first()[n].all[k] = to.first()[n].all[k] = n + k + 1;
    const array_view<const many> in(3, from.first());
    const array_view<many> out(3, to.first());
    parallel_for_each(
        target_view(), extent<1>(8), [=](index<1> i) restrict(amp) { out[i[0] - 2] = in[i[0] - 1]; });
    out.synchronize();
    CHECK(to.first()[0].all[0] == 2 && to.first()[1].all[39] == 42);
    for (const int x : to.first()[2].all)
        CHECK(x == 0);
    for (unsigned n = 0; n < to.all.size(); ++n)
        CHECK((n >= 100 && n < 103) || to.all[n].all[5] == 0);
}

TEST(the_programs_own_function_does_not_check) {
    const char *const kernels = std::getenv("REVAMP_HOST_KERNELS");
    if (!kernels || std::string(kernels) != "coroutines") SKIP("native kernels run");
    std::vector<int> values(4, 1);
    const array_view<int> v(4, values);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     accelerator(accelerator::direct3d_warp).default_view,
                     v.extent, [=](index<1> i) restrict(amp) { v[i] = 2; }),
                 CHECK_CONTAINS(e.what(), "-famp-bounds=zero"));
    CHECK(values[0] == 1);
}
#endif

// Accesses to the last elements are not reported.
TEST(the_last_element_is_inside) {
    std::vector<int> values(12, 1);
    std::vector<double> doubles(3, 1);
    const array_view<int, 3> v(2, 3, 2, values);
    const array_view<double> d(3, doubles);
    parallel_for_each(
        target_view(), v.extent, [=](index<3> i) restrict(amp) {
            v[i] += v(1, 2, 1) * 0 + int(d[2]) + v[0][2][1] * 0 + *(&v[index<3>(1, 2, 0)] + 1) * 0;
            if (i[0] == 0 && i[1] == 0 && i[2] == 0) d[0] = d[1] + d[2];
        });
    v.synchronize();
    d.synchronize();
    CHECK(values == std::vector<int>(12, 2) && doubles[0] == 2);
}

CHECK_MAIN
