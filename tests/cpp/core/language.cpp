// Tests of the language of kernels (docs/spec/launches.md, docs/spec/language.md). Programs rely on the standard
// headers that amp.h includes, so this file includes amp.h first and begins with code that needs those headers.
#include <amp.h>
#include <cstdint>

namespace {

// Uses only headers that amp.h includes.
inline float uses_the_headers_of_amp() {
    std::vector<float> v(3, FLT_MAX);
    std::sort(v.begin(), v.end());
    const std::string text = std::to_string(INT_MAX);
    const std::wstring wide = concurrency::accelerator().description;
    std::wcout << wide << std::endl;
    return std::sqrt(v[0]) + static_cast<float>(std::max<std::size_t>(text.size(), 1));
}

} // namespace

#include "../check.hpp"

using namespace concurrency;

namespace {

const accelerator host(accelerator::direct3d_warp);

struct point {
    int x, y;
    int sum() const restrict(amp, cpu) { return x + y; }
};
int *same_pointer(int *pointer) restrict(amp, cpu) {
    return pointer;
}
void advance_by(int *&pointer, int by) restrict(amp, cpu) {
    pointer += by;
}
int &larger(int &x, int &y) restrict(amp, cpu) {
    return x > y ? x : y;
}

} // namespace

TEST(headers_that_come_with_amp_h) {
    CHECK(uses_the_headers_of_amp() > 1e19f);
}

TEST(pointers_and_references_in_kernels) {
    std::vector<int> v(32);
    array_view<int> view(v);
    parallel_for_each(
        view.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int shared[16];
            tile_static point points[16];
            int local[4] = {1, 2, 3, 4};
            int *pointer = local; // points to a local variable; passed by reference
            advance_by(pointer, 2);
            int &reference = larger(local[0], *pointer);
            reference += 10;
            int *into_tile = &shared[t.local[0]];
            *into_tile = *same_pointer(pointer);
            point *whole = &points[t.local[0]]; // points to a struct
            int *into_struct = &whole->y;
            whole->x = 1;
            *into_struct = 2;
            t.barrier.wait();
            int *into_view = &view[t.global];
            const int *neighbour = shared + (t.local[0] + 1) % 16;
            *into_view = *neighbour + points[15 - t.local[0]].sum() + (pointer == local + 2 ? 2 : 0);
        });
    view.synchronize();
    CHECK(std::count(v.begin(), v.end(), 13 + 3 + 2) == 32);
}

TEST(classes_and_lambdas_inside_kernels) {
    // Functions without a restriction clause inherit the kernel's restriction.
    std::vector<int> v(8);
    array_view<int> view(v);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            struct adder {
                int by;
                explicit adder(int n) : by(n) {}
                int operator()(int x) const { return x + by; }
            };
            const auto twice = [=](int x) { return 2 * x + view.extent[0]; };
            enum { three = 3 };
            int sum = 0;
            for (int k = 0; k < three; ++k) {
                if (k == 1) continue;
                sum += adder(k)(i[0]);
            }
            do
                sum -= 1;
            while (sum > 100);
            view[i] = twice(sum);
        });
    CHECK(view[0] == 2 * 1 + 8 && view[7] == 2 * 15 + 8);
}

namespace {

template <class T> void atomics_everywhere() {
    // Atomics in arrays, in views and in tile_static memory.
    array<T> a(12, std::vector<T>(12, T(12)).begin());
    std::vector<T> v(12, T(12));
    v[5] = T(0);
    array_view<T> view(v);
    array<T> sums(4);
    parallel_for_each(
        extent<1>(64).template tile<16>(), [ =, &a, &sums ](tiled_index<16> t) restrict(amp) {
            tile_static T shared[2];
            if (t.local[0] == 0) shared[0] = shared[1] = T(0);
            t.barrier.wait();
            atomic_fetch_add(&shared[0], T(t.local[0]));
            atomic_fetch_max(&shared[1], T(t.local[0]));
            t.barrier.wait();
            if (t.local[0] == 0) sums[t.tile[0]] = shared[0] + shared[1];
            atomic_fetch_add(&a[0], T(1));
            atomic_fetch_sub(&a[1], T(0));
            atomic_fetch_inc(&a[2]);
            atomic_fetch_dec(&a[2]);
            atomic_fetch_max(&a[3], T(t.global[0]));
            atomic_fetch_min(&a[4], T(t.global[0]));
            atomic_fetch_or(&a[5], T(1));
            atomic_fetch_and(&a[6], T(4));
            atomic_fetch_xor(&a[7], T(1));
            atomic_exchange(&a[8], T(3));
            atomic_fetch_add(&view[0], T(1));
            // A sum by compare-and-exchange.
            T expected = view[5];
            while (!atomic_compare_exchange(&view[5], &expected, T(expected + T(2)))) {
            }
        });
    const std::vector<T> out = a, tile_sums = sums;
    CHECK(out == std::vector<T>({T(76), T(12), T(12), T(63), T(0), T(13), T(4), T(12), T(3), T(12), T(12), T(12)}));
    CHECK(tile_sums == std::vector<T>(4, T(120 + 15)) && view[0] == T(76) && view[5] == T(128));
}

} // namespace

TEST(barrier_and_atomics_in_kernels) {
    atomics_everywhere<int>();
    atomics_everywhere<unsigned>();
    std::vector<float> v(1, 0.5f), old(1);
    array_view<float> view(v), old_view(old);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) { old_view[0] = atomic_exchange(&view[0], 2.5f); });
    CHECK(view[0] == 2.5f && old_view[0] == 0.5f);
}

TEST(barrier_and_fences_in_divergent_code) {
    std::vector<int> v(64);
    array_view<int> view(v);
    parallel_for_each(
        view.extent.tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int shared[32];
            shared[t.local[0]] = t.global[0];
            if (t.local[0] % 2)
                tile_static_memory_fence(t.barrier);
            else if (t.local[0] % 3)
                global_memory_fence(t.barrier);
            else
                all_memory_fence(t.barrier);
            const tile_barrier barrier = t.barrier;
            barrier.wait_with_tile_static_memory_fence();
            view[t] = shared[31 - t.local[0]];
        });
    CHECK(view[0] == 31 && view[63] == 32);
}

TEST(barrier_in_a_uniform_loop) {
    // A standard tree reduction.
    std::vector<unsigned> v(1024, 1u), out(4);
    const array_view<const unsigned> in(v);
    array_view<unsigned> sums(out);
    sums.discard_data();
    parallel_for_each(
        in.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            tile_static unsigned partial_sums[256];
            const int local = t.local[0];
            partial_sums[local] = in[t.global];
            t.barrier.wait();
            for (int stride = 128; stride > 0; stride /= 2) {
                if (local < stride) partial_sums[local] += partial_sums[local + stride];
                t.barrier.wait();
            }
            if (local == 0) sums[t.tile] = partial_sums[0];
        });
    CHECK(sums[0] == 256 && sums[3] == 256);
}

TEST(elements_of_8_bytes) {
    array<std::int64_t> a(4);
    array<std::uint64_t> b(4);
    array<long long> c(4);
    array<double> d(4);
    parallel_for_each(
        a.extent, [&](index<1> i) restrict(amp) {
            a[i] = (std::int64_t{1} << 40) + i[0];
            b[i] = static_cast<std::uint64_t>(a[i]) * 2;
            c[i] = -a[i];
            d[i] = static_cast<double>(a[i]) / 2;
        });
    const std::vector<std::int64_t> va = a;
    const std::vector<std::uint64_t> vb = b;
    const std::vector<long long> vc = c;
    const std::vector<double> vd = d;
    CHECK(va[3] == (std::int64_t{1} << 40) + 3 && vb[1] == (std::uint64_t{2} << 40) + 2 && vc[0] == -(1LL << 40) &&
          vd[2] == 549755813889.0);
}

TEST(views_of_one_source_with_any_rank_and_type) {
    // C++ AMP specification 2.6: views overlap where they share elements in memory, whatever their ranks and types.
    struct float_pair {
        float x, y;
    };
    std::vector<float> v(48, 1.0f);
    array_view<float> line(v);
    array_view<float_pair> pairs = line.reinterpret_as<float_pair>();
    array_view<float, 2> matrix = line.view_as(extent<2>(4, 12));
    const int shape[] = {2, 2, 3, 2, 2};
    array_view<float, 5> five = line.view_as(extent<5>(shape));
    parallel_for_each(
        pairs.extent, [=](index<1> i) restrict(amp) { pairs[i].y = 2.0f; });
    CHECK(line[0] == 1.0f && line[47] == 2.0f && matrix(3, 11) == 2.0f);
    parallel_for_each(
        five.extent, [=](index<5> i) restrict(amp) { five[i] += matrix[index<2>(0, 0)] > 0 ? 1.0f : 0.0f; });
    CHECK(pairs[23].x == 2.0f && pairs[23].y == 3.0f);
    // Interleaved blocks of columns, written on different accelerator_views.
    const accelerator_view one = host.create_view(), other = host.create_view();
    array_view<float, 2> left = matrix.section(0, 0, 4, 5), right = matrix.section(0, 5, 4, 7);
    parallel_for_each(
        one, left.extent, [=](index<2> i) restrict(amp) { left[i] = 10.0f; });
    parallel_for_each(
        other, right.extent, [=](index<2> i) restrict(amp) { right[i] = 20.0f; });
    parallel_for_each(
        one, left.extent, [=](index<2> i) restrict(amp) { left[i] += 1.0f; });
    line.synchronize();
    CHECK(std::count(v.begin(), v.end(), 11.0f) == 20 && std::count(v.begin(), v.end(), 20.0f) == 28);
}

CHECK_MAIN
