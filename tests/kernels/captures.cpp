// Tests of the captures of kernels, and of the domains that kernels run over, on a Vulkan device.
#include "device.hpp"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

using namespace concurrency;

namespace {

// The number of bytes that implicit transfers to and from accelerators have moved so far.
std::uint64_t moved_bytes() {
    revamp_transfer_counters counters = {};
    counters.struct_size = sizeof counters;
    revamp::detail::check(revamp_get_transfers(&counters));
    return counters.implicit_to_bytes + counters.implicit_from_bytes;
}

// The number of bytes of a view that are valid on an accelerator_view.
std::uint64_t valid_bytes_on(const array_view<int> &view, const accelerator_view &where) {
    revamp_residency residency = {};
    residency.struct_size = sizeof residency;
    revamp::detail::check(revamp_array_view_get_residency(revamp::detail::view_access::handle(view),
                                                          revamp::detail::access::native(where), &residency));
    return residency.valid_bytes;
}

template <int N> bool covers(const accelerator_view &view, const extent<N> &domain) {
    std::vector<int> counts(domain.size());
    array_view<int, N> all(domain, counts);
    parallel_for_each(
        view, domain, [=](index<N> i) restrict(amp) { all[i] += 1; });
    all.synchronize();
    return std::count(counts.begin(), counts.end(), 1) == static_cast<long>(counts.size());
}

struct pair {
    float factor;
    int shift;
    float apply(float x) const restrict(amp, cpu) { return x * factor + float(shift); }
};

// A functor class that has a functor as a member.
struct inner {
    array_view<const int> from;
    int operator()(int i) const restrict(amp, cpu) { return from[i] * 2; }
};
struct outer {
    inner in;
    array<int> &to;
    void operator()(index<1> i) const restrict(amp, cpu) { to[i] = in(i[0]) + 1; }
};

// Elements whose stores become vector stores where their addresses are aligned.
struct six {
    int a, b;
    float c, d;
    int e, f;
};
struct alignas(16) three {
    int a, b, c;
};
struct wide {
    double a, b;
    int c, d;
};
struct odd {
    int a, b, c;
};

// Stores one element in each thread, from the element `first` on. Returns the numbers in the memory of the elements.
template <class T, class Make> std::vector<int> stored(int first, Make make) {
    const int count = 100, words = sizeof(T) / sizeof(int);
    std::vector<int> memory((first + count) * words, -1);
    const array_view<int> all(static_cast<int>(memory.size()), memory);
    const array_view<T> elements = all.reinterpret_as<T>().section(first, count);
    parallel_for_each(
        vulkan_view(), elements.extent, [=](index<1> i) restrict(amp, cpu) { elements[i] = make(i[0]); });
    all.synchronize();
    return memory;
}

// The same on the host.
template <class T, class Make> std::vector<int> expected(int first, Make make) {
    const int count = 100, words = sizeof(T) / sizeof(int);
    std::vector<int> memory((first + count) * words, -1);
    for (int i = 0; i < count; i++) {
        const T one = make(i);
        std::memcpy(&memory[(first + i) * words], &one, sizeof one);
    }
    return memory;
}

} // namespace

TEST(whole_elements_are_stored) {
    const auto make_six = [](int i) restrict(amp, cpu) {
        return six{i, i + 1, float(i), 0.5f, ~i, i * i};
    };
    const auto make_wide = [](int i) restrict(amp, cpu) {
        return wide{double(i), 0.25, i, -i};
    };
    const auto make_odd = [](int i) restrict(amp, cpu) {
        return odd{i, i + 7, -i};
    };
    for (const int first : {0, 1, 3}) {
        CHECK(stored<six>(first, make_six) == expected<six>(first, make_six));
        CHECK(stored<wide>(first, make_wide) == expected<wide>(first, make_wide));
        CHECK(stored<odd>(first, make_odd) == expected<odd>(first, make_odd));
    }
    // The padding of an element keeps its value.
    std::vector<three> padded(50);
    std::memset(static_cast<void *>(padded.data()), 0x55, padded.size() * sizeof(three));
    const array_view<three> view(50, padded);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            view[i].a = i[0];
            view[i].b = 2;
            view[i].c = 3;
        });
    view.synchronize();
    for (int i = 0; i < 50; i++)
        CHECK(padded[i].a == i && padded[i].b == 2 && padded[i].c == 3);
}

// Four words in a row, from a word that need not be the first of 16 bytes.
TEST(words_in_a_row_are_stored_at_any_address) {
    for (int first = 0; first < 5; first++) {
        std::vector<int> numbers(405, -1);
        const array_view<int> view = array_view<int>(405, numbers).section(first, 400);
        parallel_for_each(
            vulkan_view(), extent<1>(100), [=](index<1> i) restrict(amp) {
                const int at = i[0] * 4;
                view[at] = at;
                view[at + 1] = at + 1;
                view[at + 2] = at + 2;
                view[at + 3] = at + 3;
            });
        view.synchronize();
        for (int i = 0; i < 405; i++)
            CHECK(numbers[i] == (i >= first && i < first + 400 ? i - first : -1));
    }
}

TEST(views_and_values) {
    const accelerator_view gpu = vulkan_view();
    std::vector<float> xs(100), ys(100, 1.0f);
    std::iota(xs.begin(), xs.end(), 0.0f);
    array_view<const float> x(xs);
    array_view<float> y(ys);
    const pair by = {2.0f, 3};
    const bool flag = true;
    parallel_for_each(
        gpu, y.extent, [=](index<1> i) restrict(amp) {
            if (flag) y[i] += by.apply(x[i]);
        });
    CHECK(y[0] == 4.0f && y[99] == 202.0f);
    // Sections and projections.
    array_view<float, 2> matrix(10, 10, ys);
    array_view<float, 2> part = matrix.section(index<2>(2, 3), extent<2>(4, 5));
    array_view<float> row = matrix[9];
    parallel_for_each(
        gpu, part.extent, [=](index<2> i) restrict(amp) { part[i] = row[i[1]]; });
    CHECK(matrix(2, 3) == matrix(9, 0) && matrix(5, 7) == matrix(9, 4) && matrix(2, 2) == 48.0f);
}

#ifndef REVAMP_LARGE_VIEWS
TEST(more_elements_than_kernels_count) {
    const accelerator_view gpu = vulkan_view();
    const array_view<int, 2> large(65536, 32769); // has no memory until it is used
    std::string why;
    try {
        parallel_for_each(
            gpu, extent<1>(1), [=](index<1>) restrict(amp) { large(0, 0) = 1; });
    } catch (const unsupported_feature &e) {
        why = e.what();
    }
    CHECK(why.find("REVAMP_LARGE_VIEWS") != std::string::npos);
}
#endif

// Loops over pointers: LLVM computes their trip counts from differences of addresses.
TEST(loops_of_pointers_over_local_arrays) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> sums(64);
    array_view<int> sum(sums);
    parallel_for_each(
        gpu, sum.extent, [=](index<1> i) restrict(amp) {
            int local[32];
            for (int k = 0; k < 32; ++k)
                local[k] = k + i[0];
            const int *p = local + i[0] % 8, *const end = i[0] % 3 == 0 ? local + 20 : local + 29;
            int all = 0;
            for (; p < end; ++p)
                all += *p;
            sum[i] = all;
        });
    bool all_match = true;
    for (int i = 0; i < 64; ++i) {
        int all = 0;
        for (int k = i % 8; k < (i % 3 == 0 ? 20 : 29); ++k)
            all += k + i;
        all_match = all_match && sum[i] == all;
    }
    CHECK(all_match);
}

TEST(arrays_by_reference) {
    const accelerator_view gpu = vulkan_view();
    array<int, 2> a(extent<2>(4, 8), gpu);
    const array<int> ones(32, std::vector<int>(32, 1).begin(), gpu);
    int plus = 5;
    parallel_for_each(
        a.extent, [&a, &ones, plus ](index<2> i) restrict(amp) {
            a[i] = i[0] * a.extent[1] + i[1] + ones[i[0] * 8 + i[1]] + plus;
        });
    const std::vector<int> found = a;
    bool all_match = true;
    for (int i = 0; i < 32; ++i)
        all_match = all_match && found[std::size_t(i)] == i + 6;
    CHECK(all_match);
    // Only the extent is used.
    int sizes[1] = {};
    {
        array_view<int> size(1, sizes);
        parallel_for_each(
            gpu, size.extent, [ =, &a ](index<1> i) restrict(amp) { size[i] = a.extent[0] * 100 + a.extent[1]; });
    }
    CHECK(sizes[0] == 408);
}

TEST(functor_classes) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> from(16);
    std::iota(from.begin(), from.end(), 0);
    array<int> to(16, gpu);
    parallel_for_each(to.extent, outer{{array_view<const int>(from)}, to});
    const std::vector<int> found = to;
    CHECK(found[0] == 1 && found[15] == 31);
}

TEST(mutable_kernels) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> v(8);
    array_view<int> view(v);
    int calls = 10;
    const auto kernel = [=](index<1> i) mutable restrict(amp) {
        ++calls;
        view[i] += calls;
    };
    parallel_for_each(gpu, view.extent, kernel);
    CHECK(view[0] == 11 && view[7] == 11 && calls == 10);
}

TEST(shapes_of_domains) {
    const accelerator_view gpu = vulkan_view();
    CHECK(covers(gpu, extent<1>(1)) && covers(gpu, extent<1>(10000)) && covers(gpu, extent<2>(70, 130)));
    CHECK(covers(gpu, extent<3>(13, 25, 37)) && covers(gpu, extent<2>(1, 1000)) && covers(gpu, extent<2>(1000, 1)));
    const int four[] = {3, 1, 4, 50}, five[] = {2, 3, 1, 30, 2};
    CHECK(covers(gpu, extent<4>(four)) && covers(gpu, extent<5>(five)));
    // A kernel without captures has no visible effect; it must only run.
    parallel_for_each(gpu, extent<1>(100), [](index<1>) restrict(amp){});
    gpu.wait();
}

TEST(tiles) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> v(24 * 20), w(24 * 20);
    std::iota(v.begin(), v.end(), 0);
    {
        array_view<const int, 2> from(24, 20, v);
        array_view<int, 2> to(20, 24, w);
        parallel_for_each(
            gpu, from.extent.tile<4, 10>(), [=](tiled_index<4, 10> t) restrict(amp) {
                tile_static int tile[4][10];
                tile[t.local[0]][t.local[1]] = from[t.global];
                t.barrier.wait();
                to[index<2>(t.tile_origin[1] + t.local[1], t.tile[0] * 4 + t.local[0])] = tile[t.local[0]][t.local[1]];
            });
    }
    bool all_match = true;
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 20; ++j)
            all_match = all_match && w[std::size_t(j * 24 + i)] == i * 20 + j;
    CHECK(all_match);
    array_view<int, 3> cube(4, 6, 20, v);
    parallel_for_each(
        gpu, cube.extent.tile<2, 3, 4>(), [=](tiled_index<2, 3, 4> t) restrict(amp) {
            cube[t] = t.local[0] * 100 + t.local[1] * 10 + t.local[2];
        });
    CHECK(cube(3, 5, 19) == 123 && cube(2, 3, 4) == 0);
}

// DST-6: a view that a kernel only reads is not marked as written, even if its type allows writes. A view that the
// kernel does not use is neither fetched nor marked.
TEST(DST_6_only_what_is_used_moves) {
    const accelerator_view host_threads = accelerator(L"host").default_view, cpu = accelerator(L"cpu").default_view;
    for (const accelerator_view &target : {vulkan_view(), host_threads}) {
        std::vector<int> v(1000, 1), w(1000), z(1000);
        array_view<int> only_read(v), written(w), unused(z);
        const std::uint64_t before = moved_bytes();
        parallel_for_each(
            target, written.extent, [=](index<1> i) restrict(amp) {
                // The result is unused, so the compiled kernel does not read the view.
                [[maybe_unused]] const int dead = unused[i];
                written[i] = only_read[i] + 1;
            });
        CHECK(valid_bytes_on(only_read, cpu) == 4000 && valid_bytes_on(only_read, target) == 4000);
        CHECK(valid_bytes_on(unused, cpu) == 4000 && valid_bytes_on(unused, target) == 0);
        CHECK(valid_bytes_on(written, cpu) == 0 && valid_bytes_on(written, target) == 4000);
        CHECK(only_read[5] == 1 && unused[5] == 0);
        const std::uint64_t up = moved_bytes() - before;
        CHECK(up == 0 || up == 8000);
        CHECK(written[5] == 2);
        CHECK(moved_bytes() - before == (up == 0 ? 0u : 12000u));
    }
}

TEST(a_dead_array_is_refused) {
    for (const accelerator_view &target : {accelerator(L"host").default_view, vulkan_view()}) {
        array<int> source(4, target);
        array<int> moved_to(std::move(source));
        CHECK_THROWS(runtime_exception,
                     parallel_for_each(
                         target, extent<1>(4), [&source](index<1> i) restrict(amp) { source[i] = 1; }),
                     CHECK_CONTAINS(e.what(), "live array");
                     CHECK_CONTAINS(e.what(), "captures.cpp:"));
    }
}

TEST(software_is_never_the_default_automatically) {
    (void)vulkan_view();
    if (std::getenv("CPPAMP_DEFAULT_ACCELERATOR")) SKIP("a default is set");
    if (!accelerator().is_emulated) SKIP("there is a GPU");
    CHECK(accelerator().device_path == L"host");
    // The same lambdas run on host threads.
    CHECK(covers(accelerator().default_view, extent<2>(3, 5)));
}

CHECK_MAIN
