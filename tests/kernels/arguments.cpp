// Tests of the argument block of kernels, and of arguments that share memory. Depending on the launch, threads exchange
// data at barriers through one view, through two views of the same memory, or not at all. Each kernel runs several
// times, because repeated launches are cached.
#include "device.hpp"

#include <algorithm>
#include <amp_short_vectors.h>
#include <numeric>

using namespace concurrency;
using graphics::int_4;

namespace {

constexpr int tile = 64, count = 4 * tile, rounds = 3;

// Threads write `to`, and read `from` after a barrier. If `from` is the same memory, they read other threads' values.
void write_then_read(const accelerator_view &gpu, const array_view<int> &to, const array_view<const int> &from) {
    parallel_for_each(
        gpu, to.extent.tile<tile>(), [=](tiled_index<tile> t) restrict(amp) {
            to[t.global] = t.global[0] * 3;
            t.barrier.wait();
            const int other = from[t.tile_origin[0] + tile - 1 - t.local[0]];
            t.barrier.wait();
            to[t.global] = other + 1;
        });
}
int mirrored(int i) {
    return (i / tile * tile + tile - 1 - i % tile) * 3 + 1;
}

// Each thread reads its element before a loop with barriers, and writes another thread's element after the loop.
void read_then_write(const accelerator_view &gpu, const array_view<const int_4> &from, const array_view<int_4> &to,
                     int times) {
    parallel_for_each(
        gpu, to.extent.tile<tile>(), [=](tiled_index<tile> t) restrict(amp) {
            tile_static int numbers[tile];
            const int l = t.local[0], origin = t.tile_origin[0];
            const int_4 own = from[t.global];
            int sum = 0;
            for (int n = 0; n < times; ++n) {
                numbers[l] = n;
                t.barrier.wait();
                sum += numbers[(l + 1) % tile];
                t.barrier.wait();
            }
            to[origin + tile - 1 - l] = own + int_4(sum, 1, 2, 3);
        });
}

struct many {
    array_view<int> to;
    bool flag;
    short small;
    unsigned char byte;
    double number;
    long long large;
    int table[4];
    void operator()(index<1> i) const restrict(amp) {
        to[i] = flag ? small + byte + int(number * 2) + int(large >> 38) + table[i[0] % 4] : 0;
    }
};

} // namespace

TEST(views_of_the_same_and_of_different_memory) {
    const accelerator_view gpu = vulkan_view();
    array<int> one(count, gpu), two(count, gpu);
    std::vector<int> values(count, 5);
    copy(values.begin(), two);
    const array_view<int> to(one);
    const array_view<const int> same(one), other(two);
    for (int round = 0; round < 2 * rounds; ++round) {
        const bool shares = (round / rounds) % 2 == 0;
        write_then_read(gpu, to, shares ? same : other);
        copy(one, values.begin());
        for (int i = 0; i < count; ++i)
            CHECK(values[i] == (shares ? mirrored(i) : 6));
    }
}

TEST(sections_that_overlap_and_that_do_not) {
    const accelerator_view gpu = vulkan_view();
    array<int> all(2 * count, gpu);
    const array_view<int> view(all);
    std::vector<int> values(2 * count);
    for (const int begin : {0, count, 0, count, 0}) {
        std::fill(values.begin(), values.end(), 7);
        copy(values.begin(), all);
        write_then_read(gpu, view.section(0, count), array_view<const int>(view.section(begin, count)));
        copy(all, values.begin());
        for (int i = 0; i < count; ++i)
            CHECK(values[i] == (begin == 0 ? mirrored(i) : 8));
    }
}

TEST(elements_are_read_before_a_loop_and_written_after_it) {
    const accelerator_view gpu = vulkan_view();
    array<int_4> one(count, gpu), two(count, gpu);
    std::vector<int_4> values(count), results(count);
    for (int i = 0; i < count; ++i)
        values[i] = int_4(i, 2 * i, 3 * i, 4 * i);
    for (int round = 0; round < 2 * rounds; ++round) {
        array<int_4> &to = (round / rounds) % 2 == 0 ? one : two;
        copy(values.begin(), one);
        read_then_write(gpu, array_view<const int_4>(one), array_view<int_4>(to), 5);
        copy(to, results.begin());
        for (int i = 0; i < count; ++i)
            CHECK(results[i / tile * tile + tile - 1 - i % tile] == values[i] + int_4(10, 1, 2, 3));
    }
}

TEST(a_barrier_in_a_loop_orders_the_writes_of_each_iteration) {
    const accelerator_view gpu = vulkan_view();
    array<int> a(count, gpu), b(count, gpu);
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 0);
    for (int round = 0; round < rounds; ++round) {
        copy(values.begin(), a);
        parallel_for_each(
            gpu, a.extent.tile<tile>(), [&a, &b ](tiled_index<tile> t) restrict(amp) {
                // Each element moves once around the tile, and ends where it started.
                for (int n = 0; n < tile; ++n) {
                    b[t.global] = a[t.tile_origin[0] + (t.local[0] + 1) % tile];
                    t.barrier.wait_with_global_memory_fence();
                    a[t.tile_origin[0] + (t.local[0] + tile - 1) % tile] =
                        b[t.tile_origin[0] + (t.local[0] + tile - 1) % tile];
                    t.barrier.wait();
                }
            });
        std::vector<int> results(count);
        copy(a, results.begin());
        CHECK(results == values);
    }
}

TEST(values_of_all_sizes_and_arrays_of_all_ranks) {
    const accelerator_view gpu = vulkan_view();
    array<int> out(count, gpu);
    std::vector<int> values(count);
    for (int round = 0; round < rounds; ++round) {
        const many kernel{array_view<int>(out), true, short(-5 - round), 200, 2.5, 1LL << 40, {1, 2, 3, round}};
        parallel_for_each(gpu, out.extent, kernel);
        copy(out, values.begin());
        for (int i = 0; i < count; ++i)
            CHECK(values[i] == -5 - round + 200 + 5 + 4 + (i % 4 == 3 ? round : i % 4 + 1));
    }
    // `deep` has rank 9, so its extent does not fit into the space that the uniform buffer has for an array.
    // `extent_only` is used only for its extent.
    const int lengths[] = {2, 1, 1, 1, 1, 1, 1, 1, 3};
    array<int, 9> deep(extent<9>(lengths), gpu);
    array<int, 3> box(4, 5, 6, gpu);
    array<int> extent_only(7, gpu);
    parallel_for_each(
        gpu, box.extent, [&deep, &box, &extent_only ](index<3> i) restrict(amp) {
            box[i] = extent_only.extent[0] * 1000 + box.extent[1] * 100;
            index<9> at;
            for (int d = 0; d < 9; ++d)
                at[d] = 0;
            at[0] = i[0] % 2;
            at[8] = i[2] % 3;
            deep[at] = deep.extent[8] * 10 + deep.extent[0] + at[8];
        });
    std::vector<int> boxed(120), results(6);
    copy(box, boxed.begin());
    copy(deep, results.begin());
    CHECK(std::count(boxed.begin(), boxed.end(), 7500) == 120);
    for (int i = 0; i < 6; ++i)
        CHECK(results[i] == 32 + i % 3);
}

// The functor has far more bytes than the push constants that every device supports (128 bytes).
TEST(a_large_functor) {
    struct large {
        array_view<int> to;
        int table[600];
        void operator()(index<1> i) const restrict(amp) { to[i] = table[i[0]] + table[599]; }
    };
    const accelerator_view gpu = vulkan_view();
    array<int> out(count, gpu);
    large kernel{array_view<int>(out), {}};
    std::iota(kernel.table, kernel.table + 600, 0);
    std::vector<int> values(count);
    parallel_for_each(gpu, out.extent, kernel);
    copy(out, values.begin());
    for (int i = 0; i < count; ++i)
        CHECK(values[i] == i + 599);
}

TEST(each_thread_runs_once_in_domains_of_all_shapes) {
    const accelerator_view gpu = vulkan_view();
    const int shapes[][3] = {{1, 1, 1}, {1, 1, 300},   {300, 1, 1}, {1, 300, 1},
                             {5, 7, 9}, {100, 3, 100}, {2, 2, 257}, {33, 65, 3}};
    for (const auto &shape : shapes) {
        array<int, 3> box(shape[0], shape[1], shape[2], gpu);
        array<int, 2> flat(shape[0] * shape[1], shape[2], gpu);
        std::vector<int> values(box.extent.size());
        for (int round = 0; round < 2; ++round) {
            copy(values.begin(), box);
            parallel_for_each(
                gpu, box.extent, [&box](index<3> i) restrict(amp) {
                    box[i] += 1 + (i[0] * box.extent[1] + i[1]) * box.extent[2] + i[2];
                });
            copy(values.begin(), flat);
            parallel_for_each(
                gpu, flat.extent, [&flat](index<2> i) restrict(amp) { flat[i] += 1 + i[0] * flat.extent[1] + i[1]; });
        }
        std::vector<int> boxed(values.size()), flattened(values.size());
        copy(box, boxed.begin());
        copy(flat, flattened.begin());
        for (std::size_t i = 0; i < values.size(); ++i)
            CHECK(boxed[i] == static_cast<int>(i) + 1 && flattened[i] == boxed[i]);
    }
}

CHECK_MAIN
