// Tests of textures, views and samplers in kernels (docs/spec/textures.md). This build has host threads only;
// tests/kernels compiles the file for devices.
#include <amp.h>
#include <amp_graphics.h>

#include "../check.hpp"
#include "noise.hpp"

#if __has_include(<vulkan/vulkan.h>)
#include <revamp/vulkan.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace concurrency;
using namespace concurrency::graphics;
namespace detail = revamp::detail;

namespace {

accelerator_view target_view() {
    return accelerator().default_view;
}
// True if the kernel compiler compiles this file. Each launch then knows how its kernel uses the captured objects.
constexpr bool compiled = REVAMP_DEVICE_LANGUAGE;

template <class T, class X> std::vector<T> values(const X &of) {
    std::vector<T> all(of.extent.size());
    copy(of, all.begin());
    return all;
}
template <class X> std::vector<unsigned char> bytes_of(const X &of) {
    std::vector<unsigned char> all(of.get_data_length());
    copy(of, all.data(), static_cast<unsigned>(all.size()));
    return all;
}
template <class T> std::vector<T> ascending(int size, int first = 0) {
    std::vector<T> all(static_cast<unsigned>(size));
    for (int i = 0; i < size; ++i)
        all[static_cast<unsigned>(i)] = static_cast<T>(first + i);
    return all;
}
// The texels of a texture, as a kernel reads them by index.
template <class T, int N> std::vector<T> read(const texture<T, N> &from) {
    std::vector<T> out(from.extent.size());
    array_view<T, N> view(from.extent, out);
    const texture_view<const T, N> texels(from);
    view.discard_data();
    parallel_for_each(
        view.extent, [=](index<N> i) restrict(amp) { view[i] = texels[i]; });
    view.synchronize();
    return out;
}
// Fills a texture with random bytes and reads it by index. Then copies the values to another texture in a kernel.
template <class T, int N> void check_access_by_index(unsigned bits, const extent<N> &shape) {
    const unsigned length = shape.size() * bits / 8 * static_cast<unsigned>(short_vector_traits<T>::size);
    std::vector<unsigned char> source = noise(length);
    if (bits == 16 && std::is_same_v<detail::texel_scalar<T>, float>) {
        // Avoids the exponents of infinities and NaNs.
        for (unsigned i = 1; i < length; i += 2)
            source[i] &= 0xBF;
    }
    if (bits == 32 && std::is_same_v<detail::texel_scalar<T>, float>) {
        for (unsigned i = 3; i < length; i += 4)
            source[i] = static_cast<unsigned char>((source[i] & 0x80) | 0x3F);
    }
    const texture<T, N> from(shape, source.data(), length, bits);
    const std::vector<T> got = read(from);
    alignas(16) unsigned char memory[4096];
    std::memcpy(memory, source.data(), length);
    bool same = true;
    for (unsigned n = 0; n < shape.size(); ++n)
        same = same && got[n] == detail::with_bits<T>(bits, detail::load_action<T>{memory, static_cast<int>(n)});
    CHECK(same);
    // On a device, the second read may use an image, whose conversion of norm and unorm may differ in the last bit.
    const std::vector<T> again = read(from);
    for (unsigned n = 0; n < shape.size(); ++n) {
        if constexpr (detail::is_normalized<detail::texel_scalar<T>>) {
            for (unsigned c = 0; c < unsigned(detail::texel_size<T>); ++c)
                same = same &&
                       std::abs(detail::filtered<T>::of(got[n]).c[c] - detail::filtered<T>::of(again[n]).c[c]) < 1e-7f;
        } else {
            same = same && got[n] == again[n];
        }
    }
    CHECK(same);
    texture<T, N> to(shape, bits);
    const texture_view<const T, N> texels(from);
    const texture_view<T, N> writable(to);
    parallel_for_each(
        shape, [=](index<N> i) restrict(amp) { writable.set(i, texels(i)); });
    // The copy does not preserve the lowest norm code: it is read as -1, and -1 is written as the next code.
    if (std::is_same_v<detail::texel_scalar<T>, norm>)
        CHECK(read(to) == got);
    else
        CHECK(bytes_of(to) == source);
}

} // namespace

TEST(TEX_16_TEX_24_TEX_25_texels_of_all_kinds_by_index) {
    // Tests each kind, width, number of components and rank once. texels.cpp tests all combinations.
    check_access_by_index<int, 1>(8, extent<1>(100));
    check_access_by_index<int, 1>(16, extent<1>(100));
    check_access_by_index<int, 1>(32, extent<1>(100));
    check_access_by_index<uint_4, 2>(8, extent<2>(7, 9));
    check_access_by_index<uint_4, 2>(16, extent<2>(7, 9));
    check_access_by_index<float_2, 2>(16, extent<2>(9, 5));
    check_access_by_index<float_2, 2>(32, extent<2>(9, 5));
    check_access_by_index<float_3, 3>(32, extent<3>(3, 4, 5));
    check_access_by_index<norm_4, 1>(16, extent<1>(31));
    check_access_by_index<norm_4, 1>(8, extent<1>(31));
    check_access_by_index<unorm, 2>(8, extent<2>(9, 5));
    check_access_by_index<unorm, 2>(16, extent<2>(9, 5));
}

TEST(TEX_79_doubles_by_index) {
    if (!target_view().accelerator.supports_double_precision) SKIP("the accelerator does not support double precision");
    check_access_by_index<double_2, 3>(64, extent<3>(2, 3, 4));
}

TEST(TEX_14_TEX_17_TEX_19_TEX_20_TEX_29_a_texture_by_reference) {
    const std::vector<int> v = ascending<int>(24);
    texture<int, 2> t(4, 6, v.begin(), v.end());
    texture<int, 1> row(24);
    texture<float, 3> cube(extent<3>(2, 3, 4));
    texture<uint, 2> levels(extent<2>(8, 4), 32U, 0U);
    std::vector<int> results(24);
    array_view<int> out(24, results);
    parallel_for_each(
        t.extent, [ =, &t, &row, &cube, &levels ](index<2> i) restrict(amp) {
            // Uses all forms of access. Kernels may read and write a texture of 32 bits.
            const int sum = t[i] + t(i) + t(i[0], i[1]) + t.get(i);
            t.set(i, sum);
            const int n = i[0] * t.extent[1] + i[1];
            row.set(index<1>(n), n);
            const int again = row[n] + row(n) + row[index<1>(n)];
            cube.set(index<3>(n / 12, n / 4 % 3, n % 4), static_cast<float>(again));
            out[n] = static_cast<int>(cube(n / 12, n / 4 % 3, n % 4)) + static_cast<int>(levels.mipmap_levels) +
                     levels.get_mipmap_extent(1)[0] + levels.get_extent()[0] * 100 +
                     static_cast<int>(levels.get_mipmap_levels()) * 1000;
        });
    out.synchronize();
    const std::vector<int> sums = values<int>(t);
    for (int n = 0; n < 24; ++n) {
        CHECK_EQUAL(sums[unsigned(n)], 4 * n);
        CHECK_EQUAL(results[unsigned(n)], 3 * n + 4 + 4 + 800 + 4000);
    }
    // The texture is a reference member of a functor, and an argument of functions.
    struct functor {
        texture<int, 2> &texels;
        static int doubled(const texture<int, 2> &of, const index<2> &i) restrict(amp) { return 2 * of[i]; }
        static void put(texture<int, 2> *to, const index<2> &i, int value) restrict(amp) { to->set(i, value); }
        void operator()(index<2> i) const restrict(amp) { put(&texels, i, doubled(texels, i) + 1); }
    };
    parallel_for_each(t.extent, functor{t});
    CHECK_EQUAL(values<int>(t)[5], 41);
}

TEST(TEX_18_the_last_index_runs_along_the_row) {
    const std::vector<float> v = ascending<float>(24);
    const texture<float, 3> t(2, 3, 4, v.begin(), v.end());
    const texture_view<const float, 3> view(t);
    float got[4] = {};
    array_view<float> out(4, got);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) {
            out[0] = view(1, 2, 3);
            out[1] = view[index<3>(0, 0, 1)];
            // x of the coordinates is the last component (TEX-46).
            out[2] = view.sample<filter_point>(float_3(0.9f, 0.1f, 0.1f));
            out[3] = view.sample<filter_point>(float_3(0.1f, 0.1f, 0.9f));
        });
    out.synchronize();
    CHECK(got[0] == 23 && got[1] == 1 && got[2] == 3 && got[3] == 12);
}

TEST(TEX_21_TEX_22_TEX_23_narrow_textures_are_read_or_written) {
    texture<int, 1> t(16, 8U);
    parallel_for_each(
        t.extent, [&](index<1> i) restrict(amp) { t.set(i, i[0] * 20 - 200); });
    CHECK(read(t) ==
          std::vector<int>({-128, -128, -128, -128, -120, -100, -80, -60, -40, -20, 0, 20, 40, 60, 80, 100}));
    texture<float, 1> half(16, 16U);
    const texture_view<float, 1> view(half);
    parallel_for_each(
        half.extent, [ =, &t ](index<1> i) restrict(amp) { view.set(i, static_cast<float>(t[i]) + 0.5f); });
    CHECK_EQUAL(read(half)[15], 100.5f);
    // Without the kernel compiler, host threads cannot detect the violation.
    if (!compiled) return;
    CHECK_THROWS(unsupported_feature,
                 parallel_for_each(
                     t.extent, [&](index<1> i) restrict(amp) { t.set(i, t[i] + 1); }),
                 CHECK_CONTAINS(e.what(), "8 bits"));
    CHECK_THROWS(unsupported_feature, parallel_for_each(
                                          half.extent, [=](index<1> i) restrict(amp) {
                                              if (i[0] < 8)
                                                  view.set(i, 1.0f);
                                              else
                                                  view.set(index<1>(0), view[i]);
                                          }));
}

// TEX-21 also applies if a kernel reads and writes a texture by two handles. With 32 bits, both use the same memory.
TEST(TEX_21_TEX_35_a_texture_by_two_handles) {
    for (const unsigned bits : {8U, 16U, 32U}) {
        texture<int, 1> t(16, bits);
        const texture_view<int, 1> one(t), two(t);
        const writeonly_texture_view<int, 1> out(t);
        const texture_view<const int, 1> read_only(t);
        int expected = 0;
        // Checks a launch that adds 1 to each texel, or must fail (below 32 bits). Texel i is then `expected` + i.
        const auto check = [&](const auto &launch) {
            if (compiled && bits < 32) {
                CHECK_THROWS(unsupported_feature, launch(), CHECK_CONTAINS(e.what(), " bits"));
            } else {
                launch();
                ++expected;
            }
            const std::vector<int> got = read(t);
            CHECK(got[0] == expected && got[15] == expected + 15);
        };
        parallel_for_each(
            t.extent, [&t](index<1> i) restrict(amp) { t.set(i, i[0]); });
        check([&] {
            parallel_for_each(
                t.extent, [ =, &t ](index<1> i) restrict(amp) { one.set(i, t[i] + 1); });
        });
        check([&] {
            parallel_for_each(
                t.extent, [ =, &t ](index<1> i) restrict(amp) { t.set(i, one[i] + 1); });
        });
        check([&] {
            parallel_for_each(
                t.extent, [=](index<1> i) restrict(amp) { two.set(i, one[i] + 1); });
        });
        check([&] {
            parallel_for_each(
                t.extent, [ =, &t ](index<1> i) restrict(amp) { out.set(i, t[i] + 1); });
        });
        CHECK_THROWS(runtime_exception, parallel_for_each(
                                            t.extent, [=](index<1> i) restrict(amp) { one.set(i, read_only[i]); }));
    }
    // One level is read, and another level is written.
    texture<int, 1> levels(extent<1>(16), 8U, 2U);
    const texture_view<int, 1> first(levels, 0), second(levels, 1);
    parallel_for_each(
        second.extent, [=](index<1> i) restrict(amp) { second.set(i, first[i] + 3); });
    CHECK(bytes_of(second)[7] == 3);
}

TEST(TEX_26_TEX_27_outside) {
    const std::vector<float> v = ascending<float>(12, 1);
    texture<float, 2> t(3, 4, v.begin(), v.end());
    texture<unorm_4, 2> u(extent<2>(3, 4), noise(48).data(), 48, 8U);
    const texture_view<const float, 2> view(t);
    const texture_view<const unorm_4, 2> colours(u);
    std::vector<float> out(5 * 6);
    array_view<float, 2> sums(5, 6, out);
    parallel_for_each(
        sums.extent, [=](index<2> i) restrict(amp) {
            const index<2> at = i - index<2>(1, 1);
            sums[i] = view[at] + view.get(at, 1) + (at[0] < 0 ? float(colours[at].w) : 0.0f);
        });
    sums.synchronize();
    for (int r = -1; r < 4; ++r)
        for (int c = -1; c < 5; ++c)
            CHECK_EQUAL(out[unsigned((r + 1) * 6 + c + 1)],
                        r >= 0 && r < 3 && c >= 0 && c < 4 ? float(r * 4 + c + 1) : 0.0f);
    // Writes outside a level, on all sides, change nothing.
    texture<int, 2> levels(extent<2>(8, 8), 32U, 0U);
    const std::vector<int> before = ascending<int>(85, 100);
    copy(before.data(), 85 * 4, levels);
    const texture_view<int, 2> one(levels, 1);
    parallel_for_each(
        extent<2>(8, 8), [=](index<2> i) restrict(amp) {
            const index<2> at(i[0] - 2, i[1] - 2);
            if (at[0] < 0 || at[0] >= 4 || at[1] < 0 || at[1] >= 4) one.set(at, 7);
        });
    std::vector<int> after(85);
    copy(levels, after.data(), 85 * 4);
    CHECK(after == before);
    parallel_for_each(
        extent<2>(8, 8), [=](index<2> i) restrict(amp) { one.set(i, 7); });
    copy(levels, after.data(), 85 * 4);
    CHECK(std::count(after.begin(), after.end(), 7) == 16 && after[63] == 163 && after[64] == 7 && after[79] == 7 &&
          after[80] == 180);
}

TEST(TEX_28_texels_in_a_tile_after_a_barrier) {
    texture<int, 1> t(256);
    std::vector<int> out(256);
    array_view<int> view(256, out);
    parallel_for_each(
        extent<1>(256).tile<64>(), [ =, &t ](tiled_index<64> i) restrict(amp) {
            t.set(i.global, i.global[0]);
            i.barrier.wait();
            view[i.global] = t[i.tile_origin[0] + 63 - i.local[0]];
        });
    view.synchronize();
    for (int n = 0; n < 256; ++n)
        CHECK_EQUAL(out[unsigned(n)], n / 64 * 64 + 63 - n % 64);
}

// Each functor makes the threads of a tile wait, and orders their accesses to texels.
struct waits_for_all {
    void operator()(const tile_barrier &b) const restrict(amp) { b.wait_with_all_memory_fence(); }
};
struct waits_for_global {
    void operator()(const tile_barrier &b) const restrict(amp) { b.wait_with_global_memory_fence(); }
};
struct fences_global {
    void operator()(const tile_barrier &b) const restrict(amp) {
        global_memory_fence(b);
        b.wait_with_tile_static_memory_fence();
        global_memory_fence(b);
    }
};
struct fences_all {
    void operator()(const tile_barrier &b) const restrict(amp) {
        all_memory_fence(b);
        b.wait_with_tile_static_memory_fence();
        all_memory_fence(b);
    }
};
template <class Order> void texels_cross_a_tile(const Order &order) {
    texture<int, 1> t(256), viewed(256);
    const texture_view<int, 1> to(viewed);
    std::vector<int> out(256);
    array_view<int> view(256, out);
    parallel_for_each(
        extent<1>(256).tile<64>(), [ =, &t ](tiled_index<64> i) restrict(amp) {
            t.set(i.global, i.global[0]);
            to.set(i.global, 1000 * i.global[0]);
            order(i.barrier);
            const int other = i.tile_origin[0] + 63 - i.local[0];
            view[i.global] = t[other] + to[other];
        });
    view.synchronize();
    for (int n = 0; n < 256; ++n)
        CHECK_EQUAL(out[unsigned(n)], 1001 * (n / 64 * 64 + 63 - n % 64));
}
TEST(TEX_28_texels_in_a_tile_after_a_fence_of_global_memory) {
    texels_cross_a_tile(waits_for_all());
    texels_cross_a_tile(waits_for_global());
    texels_cross_a_tile(fences_global());
    texels_cross_a_tile(fences_all());
}

TEST(TEX_31_TEX_32_where_launches_run) {
    const accelerator_view cpu = accelerator(accelerator::cpu_accelerator).default_view;
    const accelerator_view second = target_view().accelerator.create_view();
    texture<int, 1> a(4), b(4, second), staging(4, cpu, target_view());
    std::vector<int> out(4);
    array_view<int> view(4, out);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(4), [ =, &a, &b ](index<1> i) restrict(amp) { view[i] = a[i] + b[i]; }));
    CHECK_THROWS(runtime_exception, parallel_for_each(
                                        second, extent<1>(4), [ =, &a ](index<1> i) restrict(amp) { view[i] = a[i]; }));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(4), [ =, &staging ](index<1> i) restrict(amp) { view[i] = staging[i]; }));
    const std::vector<int> v = ascending<int>(4);
    copy(v.begin(), v.end(), b);
    // The launch runs where the captured texture is.
    const texture_view<const int, 1> texels(b);
    parallel_for_each(
        extent<1>(4), [=](index<1> i) restrict(amp) { view[i] = texels[i]; });
    view.synchronize();
    CHECK(out == v);
}

int by_reference(const texture<int, 1> &t, int i) restrict(amp) {
    return t[i];
}
int by_pointer(const texture<int, 1> *t, int i) restrict(amp) {
    return (*t)[i];
}
void set_by_pointer(texture<int, 1> *t, int i, int value) restrict(amp) {
    t->set(index<1>(i), value);
}
int of_view(const texture_view<const int, 1> &v, int i) restrict(amp) {
    return v[i];
}
int of_view_by_pointer(const texture_view<const int, 1> *v, int i) restrict(amp) {
    return v->get(index<1>(i));
}
TEST(TEX_30_textures_are_handed_on_by_reference_and_by_pointer) {
    const std::vector<int> v = ascending<int>(8, 3);
    texture<int, 1> a(8, v.begin(), v.end()), b(8);
    const texture_view<const int, 1> view(a);
    std::vector<int> out(8);
    array_view<int> sums(8, out);
    parallel_for_each(
        extent<1>(8), [ =, &a, &b ](index<1> i) restrict(amp) {
            set_by_pointer(&b, 7 - i[0], by_pointer(&a, i[0]));
            sums[i] = by_reference(a, i[0]) + 10 * of_view(view, i[0]) + 100 * of_view_by_pointer(&view, i[0]);
        });
    sums.synchronize();
    const std::vector<int> reversed = values<int>(b);
    for (unsigned i = 0; i < 8; ++i)
        CHECK(reversed[7 - i] == v[i] && out[i] == 111 * v[i]);
}

TEST(TEX_29_TEX_30_by_value) {
    texture<int, 1> t(4);
    std::vector<int> out(4);
    array_view<int> view(4, out);
#if !REVAMP_DEVICE_LANGUAGE
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(4), [=](index<1> i) restrict(amp) { view[i] = t[i]; }),
                 CHECK_CONTAINS(e.what(), "by value"));
    // Captured objects that have a texture as a member or as a base are errors too.
    struct held {
        texture<int, 1> texels;
    };
    struct derived : texture<int, 1> {
        explicit derived(int count) : texture<int, 1>(count) {}
    };
    const held member{texture<int, 1>(4)};
    const derived is_one(4);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(4), [=](index<1> i) restrict(amp) { view[i] = member.texels[i]; }),
                 CHECK_CONTAINS(e.what(), "by value"));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(4), [=](index<1> i) restrict(amp) { view[i] = is_one[i]; }),
                 CHECK_CONTAINS(e.what(), "by value"));
#endif
    // Texture views may be in members and bases.
    struct base {
        texture_view<int, 1> to;
    };
    struct both : base {
        texture_view<const int, 1> from;
        sampler by;
    };
    texture<int, 1> source(4);
    const std::vector<int> v = ascending<int>(4, 5);
    copy(v.begin(), v.end(), source);
    const both views{{texture_view<int, 1>(t)}, texture_view<const int, 1>(source), sampler(filter_point)};
    parallel_for_each(
        extent<1>(4), [=](index<1> i) restrict(amp) { views.to.set(i, views.from[i] + int(views.by.filter_mode)); });
    CHECK(values<int>(t) == v);
}

TEST(TEX_33_TEX_34_TEX_35_levels_that_are_read_and_written) {
    texture<float, 2> t(extent<2>(8, 8), 32U, 0U);
    const std::vector<float> v = ascending<float>(64);
    const texture_view<float, 2> first(t);
    copy(v.begin(), v.end(), first);
    for (unsigned level = 0; level + 1 < t.mipmap_levels; ++level) {
        const texture_view<const float, 2> from(t, level, 1);
        const texture_view<float, 2> to(t, level + 1);
        parallel_for_each(
            to.extent, [=](index<2> i) restrict(amp) {
                const index<2> at(2 * i[0], 2 * i[1]);
                to.set(i,
                       (from[at] + from(at[0], at[1] + 1) + from(at[0] + 1, at[1]) + from(at[0] + 1, at[1] + 1)) / 4);
            });
    }
    float last = 0;
    copy(texture_view<const float, 2>(t, 3, 1), &last, 4);
    CHECK_EQUAL(last, 31.5f);
    const texture_view<const float, 2> all(t);
    CHECK_THROWS(runtime_exception, parallel_for_each(
                                        first.extent, [=](index<2> i) restrict(amp) { first.set(i, all[i]); }));
    if (compiled) {
        CHECK_THROWS(runtime_exception, parallel_for_each(
                                            t.extent, [ =, &t ](index<2> i) restrict(amp) { t.set(i, all[i]); }));
    }
    // A texture captured by reference stands for its level 0.
    const texture_view<const float, 2> second(t, 1, 1);
    parallel_for_each(
        t.extent, [ =, &t ](index<2> i) restrict(amp) { t.set(i, second(i[0] / 2, i[1] / 2) >= 4.5f ? t[i] : -1.0f); });
    CHECK(values<float>(first) == v);
    // Two handles read one texture, and two write another.
    texture<float, 2> sums(8, 8);
    const texture_view<float, 2> one(sums);
    const writeonly_texture_view<float, 2> other(sums);
    parallel_for_each(
        t.extent, [ =, &t ](index<2> i) restrict(amp) {
            if (i[0] < 4)
                one.set(i, t[i] + all[i]);
            else
                other.set(i, 1.0f);
        });
    const std::vector<float> got = values<float>(sums);
    CHECK(got[9] == 18.0f && got[60] == 1.0f);
}

TEST(TEX_42_TEX_43_views_made_and_copied_in_kernels) {
    texture<float, 1> t(8);
    const std::vector<float_2> pairs(8, float_2(2, 3));
    const texture<float_2, 1> twos(8, pairs.begin(), pairs.end());
    parallel_for_each(
        t.extent, [&](index<1> i) restrict(amp) {
            texture_view<float, 1> view(t);
            const writeonly_texture_view<float, 1> other(t);
            const texture_view<const float_2, 1> read_only(twos);
            texture_view<float, 1> copied = view;
            copied = view;
            if (i[0] < 4)
                copied.set(i, read_only[i].y);
            else
                other.set(i, read_only.sample<filter_point>(0.5f).x);
        });
    const std::vector<float> got = values<float>(t);
    CHECK(got[3] == 3 && got[4] == 2);
#if !REVAMP_DEVICE_LANGUAGE
    // Two kinds of view that a kernel cannot make. The kernel compiler rejects them.
    const auto both = [&](bool which) {
        texture<float_2, 1> pair(8);
        parallel_for_each(
            t.extent, [&, which ](index<1> i) restrict(amp) {
                if (which)
                    texture_view<float_2, 1>(pair).set(i, float_2(1));
                else
                    t.set(i, texture_view<const float, 1>(t)[i]);
            });
        target_view().wait();
    };
    for (const bool which : {false, true})
        CHECK_THROWS(runtime_exception, both(which),
                     CHECK_CONTAINS(std::string(e.what()), "a kernel cannot create this view"));
#endif
}

TEST(TEX_53_TEX_55_samplers_in_kernels) {
    const texture<unorm, 2> t(extent<2>(4, 4), noise(16).data(), 16, 8U);
    const texture_view<const unorm, 2> view(t);
    const sampler a(filter_point, address_wrap), b(filter_linear, address_mirror), c;
    std::vector<float> out(100 * 6);
    array_view<float, 2> got(100, 6, out);
    parallel_for_each(
        extent<1>(100), [=](index<1> i) restrict(amp) {
            const float_2 at = float_2(float(i[0]) * 0.03f - 1.0f, 0.7f - float(i[0]) * 0.01f);
            sampler selected = a;
            if (i[0] % 2 == 0) selected = b;
            got(i[0], 0) = view.sample(a, at);
            got(i[0], 1) = view.sample<filter_point, address_wrap>(at);
            got(i[0], 2) = view.sample(c, at);
            got(i[0], 3) = view.sample(at);
            got(i[0], 4) = view.sample(selected, at);
            got(i[0], 5) = selected.filter_mode == filter_linear ? float(view.sample<filter_linear, address_mirror>(at))
                                                                 : float(view.sample<filter_point, address_wrap>(at));
        });
    got.synchronize();
    for (unsigned n = 0; n < 100; ++n)
        for (unsigned pair = 0; pair < 6; pair += 2)
            CHECK_EQUAL(out[n * 6 + pair], out[n * 6 + pair + 1]);
}

TEST(TEX_56_TEX_57_levels_in_kernels) {
    texture<float, 1> t(extent<1>(4), 32U, 0U);
    const float v[] = {0, 0, 0, 0, 10, 10, 30};
    copy(v, sizeof v, t);
    const texture_view<const float, 1> all(t), last(t, 1, 2);
    std::vector<float> out(6);
    array_view<float> view(6, out);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) {
            view[0] = all.sample<filter_linear>(0.5f, 0.5f);
            view[1] = all.sample<filter_point>(0.5f, 0.5f);
            view[2] = last.sample<filter_linear>(0.5f, 0.5f);
            view[3] = last.get(index<1>(0), 1) + all.get(index<1>(0), 3) + last[1];
            view[4] = last.sample<filter_linear>(0.5f, 9.0f) + all.sample<filter_point>(0.5f, -9.0f);
            view[5] =
                float(last.get_mipmap_extent(1)[0]) + float(last.mipmap_levels) * 10 + float(last.extent[0]) * 100;
        });
    view.synchronize();
    CHECK(out == std::vector<float>({5, 10, 20, 40, 30, 221}));
}

TEST(TEX_58_TEX_59_gather_in_kernels) {
    std::vector<float_2> v(12);
    for (int i = 0; i < 12; ++i)
        v[unsigned(i)] = float_2(float(i), float(100 + i));
    const texture<float_2, 2> t(3, 4, v.begin(), v.end());
    const texture_view<const float_2, 2> view(t);
    const sampler wrap(address_wrap);
    std::vector<float_4> out(6);
    array_view<float_4> got(6, out);
    parallel_for_each(
        extent<1>(1), [=](index<1>) restrict(amp) {
            const float_2 at(0.5f, 1.0f / 3);
            got[0] = view.gather_red(at);
            got[1] = view.gather_green(wrap, at);
            got[2] = view.gather_blue(at);
            got[3] = view.gather_alpha(wrap, at);
            got[4] = view.gather_red<address_wrap>(float_2(0.0f, 0.0f));
            got[5] = view.gather_green<address_mirror>(float_2(1.0f, 1.0f));
        });
    got.synchronize();
    CHECK(out == std::vector<float_4>({float_4(5, 6, 2, 1), float_4(105, 106, 102, 101), float_4(0), float_4(1),
                                       float_4(3, 0, 8, 11), float_4(111)}));
}

TEST(TEX_73_TEX_74_launches_and_copies_keep_their_order) {
    const unsigned size = 64;
    texture<float, 1> a{extent<1>(int(size))}, b{extent<1>(int(size))};
    std::vector<float> zeros(size), out(size);
    copy(zeros.begin(), zeros.end(), a);
    for (int step = 0; step < 50; ++step) {
        const texture_view<const float, 1> from(a);
        const texture_view<float, 1> to(b);
        parallel_for_each(
            a.extent, [=](index<1> i) restrict(amp) { to.set(i, from[i] + 1); });
        if (step % 7 == 0) {
            copy(b, out.begin());
            CHECK_EQUAL(out[5], float(step + 1));
        }
        std::swap(a, b);
    }
    copy(a, out.begin());
    CHECK(out == std::vector<float>(size, 50.0f));
    // The texture's memory lives until the kernels have run.
    {
        texture<float, 1> short_lived{extent<1>(int(size))};
        const texture_view<float, 1> to(short_lived);
        parallel_for_each(
            short_lived.extent, [=](index<1> i) restrict(amp) { to.set(i, 1.0f); });
    }
    target_view().wait();
}

TEST(msad4_in_kernels) {
    std::vector<uint_4> out(1);
    array_view<uint_4> view(1, out);
    parallel_for_each(
        extent<1>(1), [=](index<1> i) restrict(amp) {
            view[i] =
                concurrency::direct3d::msad4(0x00000001U, uint_2(0x04030201U, 0x08070605U), uint_4(10, 13, 16, 19));
        });
    view.synchronize();
    CHECK_EQUAL(out[0], uint_4(10, 14, 18, 22));
}

CHECK_MAIN

// Adds a row's texels, read by index. If `both`, the texels inside the row are sampled, which must give the same sum.
static float sum_of(const texture_view<const float, 1> &row, bool both) {
    const int size = row.extent[0];
    float results = 0;
    const array_view<float> out(1, &results);
    const sampler nearest(filter_point);
    parallel_for_each(
        out.extent, [=](index<1>) restrict(amp) {
            float sum = 0;
            for (int x = -2; x < size + 2; ++x)
                sum += both && x >= 0 && x < size ? row.sample(nearest, (float(x) + 0.5f) / float(size)) : row[x];
            out[0] = sum;
        });
    out.synchronize();
    return results;
}

// Devices read textures from mirror images, which must be updated after writes (decision 34).
TEST(TEX_73_TEX_74_what_is_read_is_what_was_written_last) {
    texture<float, 1> t(extent<1>(16)), other(extent<1>(16));
    const texture_view<float, 1> writable(t);
    const texture_view<const float, 1> row(t);
    std::vector<float> v(16);
    for (int round = 1; round < 8; ++round) {
        const float expected = 16.0f * float(round);
        v.assign(16, float(round));
        if (round % 3 == 0) {
            copy(v.begin(), v.end(), t);
        } else if (round % 3 == 1) {
            parallel_for_each(
                t.extent, [=](index<1> i) restrict(amp) { writable.set(i, float(round)); });
        } else {
            copy(v.begin(), v.end(), other);
            copy(other, t);
        }
        for (int n = 0; n < 4; ++n)
            CHECK(sum_of(row, (round + n) % 2 == 0) == expected);
    }
    // Repeats one launch, with a write before each.
    texture<float, 1> from(extent<1>(16));
    v.assign(16, 0.0f);
    for (int round = 0; round < 6; ++round) {
        const texture_view<const float, 1> texels(round % 2 ? t : from);
        const texture_view<float, 1> to(round % 2 ? from : t);
        if (round == 0) copy(v.begin(), v.end(), from);
        parallel_for_each(
            to.extent, [=](index<1> i) restrict(amp) { to.set(i, texels.sample((float(i[0]) + 0.5f) / 16.0f) + 1); });
    }
    CHECK(sum_of(texture_view<const float, 1>(from), true) == 96.0f);
}

TEST(TEX_34_TEX_39_levels_are_made_of_levels) {
    texture<unorm_4, 2> t(extent<2>(16, 16), 8U, 0U);
    std::vector<unsigned char> first(t.data_length, 0);
    for (int i = 0; i < 16 * 16; ++i)
        first[unsigned(4 * i)] = static_cast<unsigned char>(i % 2 ? 200 : 100);
    copy(first.data(), unsigned(first.size()), t);
    for (unsigned level = 0; level + 1 < t.mipmap_levels; ++level) {
        const texture_view<const unorm_4, 2> from(t, level, 1);
        const texture_view<unorm_4, 2> to(t, level + 1);
        const float size = float(to.extent[0]);
        parallel_for_each(
            to.extent, [=](index<2> i) restrict(amp) {
                to.set(i, from.sample(float_2((float(i[1]) + 0.5f) / size, (float(i[0]) + 0.5f) / size)));
            });
    }
    const std::vector<unsigned char> made = bytes_of(t);
    CHECK(std::abs(int(made[made.size() - 4]) - 150) <= 1);
    // Reads levels 1 and 2 by index.
    const texture_view<const unorm_4, 2> two(t, 1, 2);
    float results[3] = {};
    const array_view<float> out(3, results);
    for (int n = 0; n < 2; ++n)
        parallel_for_each(
            extent<1>(1), [=](index<1>) restrict(amp) {
                out[0] = two.get(index<2>(7, 7), 0).x;
                out[1] = two.get(index<2>(3, 3), 1).x;
                out[2] = two.get(index<2>(4, 0), 1).x + two.get(index<2>(0, 0), 2).x;
            });
    out.synchronize();
    CHECK(std::abs(results[0] - 150 / 255.0f) < 0.005f && std::abs(results[1] - results[0]) < 0.005f &&
          results[2] == 0);
}

static float sampled_by(const texture_view<const float, 1> texels, const sampler by, float at) restrict(amp) {
    return texels.sample(by, at);
}

// Kernels may choose a texture or sampler at run time.
TEST(TEX_29_TEX_43_TEX_55_handles_of_all_kinds) {
    const std::vector<float> v = ascending<float>(8), w(8, 100.0f);
    texture<float, 1> a(8, v.begin(), v.end()), b(8, w.begin(), w.end());
    const texture_view<const float, 1> one(a), two(b);
    const sampler nearest(filter_point), border(filter_point, address_border, float_4(7, 0, 0, 0));
    struct both {
        texture_view<const float, 1> first, second;
        sampler by[2];
    } const all = {one, two, {nearest, border}};
    float results[6] = {};
    const array_view<float> out(6, results);
    for (int n = 0; n < 3; ++n) {
        const int which = n % 2;
        parallel_for_each(
            extent<1>(1), [=](index<1>) restrict(amp) {
                out[0] = (which ? one : two)[3] + (which ? all.first : two)(2);
            });
        parallel_for_each(
            extent<1>(1), [=](index<1>) restrict(amp) { out[1] = one.sample(which ? border : nearest, 1.5f); });
        parallel_for_each(
            extent<1>(1), [=](index<1>) restrict(amp) {
                out[2] = sampled_by(all.second, all.by[0], 0.3f) + sampled_by(all.first, all.by[1], -1.0f);
            });
        // One texture is written, another is sampled.
        parallel_for_each(
            extent<1>(1), [ =, &a ](index<1>) restrict(amp) {
                a.set(index<1>(5), a[5] + two.sample(nearest, 0.1f));
                out[3] = a[5];
            });
        parallel_for_each(
            extent<1>(1), [ =, &a, &b ](index<1>) restrict(amp) { out[4] = a[1] + b[7] + a[8] + a[-1]; });
        out.synchronize();
        CHECK(results[0] == (which ? v[3] + v[2] : 200.0f));
        CHECK(results[1] == (which ? 7.0f : v[7]));
        CHECK(results[2] == 107.0f && results[3] == v[5] + 100.0f * float(n + 1) && results[4] == v[1] + 100.0f);
    }
}

// The library updates only the levels of the image that were written.
TEST(TEX_34_TEX_73_a_write_of_one_level_leaves_the_others) {
    texture<float, 1> t(extent<1>(16), 32U, 3U);
    std::vector<float> v(16, 1.0f);
    float results[2] = {};
    const array_view<float> out(2, results);
    for (int round = 0; round < 6; ++round) {
        const unsigned level = unsigned(round) % 3;
        v.assign(16, float(round + 1));
        copy(v.begin(), v.end(), texture_view<float, 1>(t, level));
        // Repeats one launch that reads this level and writes the next.
        const unsigned next = (level + 1) % 3;
        const texture_view<const float, 1> from(t, level, 1);
        const texture_view<float, 1> to(t, next);
        for (int n = 0; n < 3; ++n)
            parallel_for_each(
                to.extent, [=](index<1> i) restrict(amp) { to.set(i, from.sample(0.4f) + 0.5f); });
        const texture_view<const float, 1> one(t, level, 1), other(t, next, 1);
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0] ? other.sample(0.4f) : one.sample(0.4f); });
        out.synchronize();
        CHECK(results[0] == float(round + 1) && results[1] == float(round) + 1.5f);
    }
}

TEST(TEX_18_TEX_46_TEX_58_all_dimensions_in_one_kernel) {
    const std::vector<float> v = ascending<float>(2 * 3 * 4);
    const texture<float, 3> cube(2, 3, 4, v.begin(), v.end());
    const texture<float, 2> plane(3, 4, v.begin(), v.begin() + 12);
    const texture<float, 1> line(4, v.begin(), v.begin() + 4);
    const texture_view<const float, 3> c(cube);
    const texture_view<const float, 2> p(plane);
    const texture_view<const float, 1> l(line);
    const sampler nearest(filter_point, address_clamp);
    float results[4] = {};
    const array_view<float> out(4, results);
    for (int n = 0; n < 2; ++n) {
        parallel_for_each(
            extent<1>(1), [=](index<1>) restrict(amp) {
                out[0] = c.sample(nearest, float_3(0.9f, 0.5f, 0.9f)) + c(0, 2, 1);
                out[1] = p.sample(nearest, float_2(0.3f, 0.9f)) + p(1, 3);
                out[2] = l.sample(nearest, 0.6f) + l(3);
                out[3] = p.gather_red(float_2(0.5f, 0.5f)).w;
            });
        out.synchronize();
        CHECK(results[0] == 19 + 9 && results[1] == 9 + 7 && results[2] == 2 + 3 && results[3] == 5);
    }
}

#ifdef REVAMP_VULKAN_CPP_H
namespace {

// Copies to and from `t`, which has 8 x 16 texels, and uses it in kernels.
void use_in_kernels(texture<float_4, 2> &t) {
    const std::vector<float_4> v(128, float_4(1, 2, 3, 4));
    copy(v.begin(), v.end(), t);
    // Kernels sample `t`, read it by index, and write it.
    const texture_view<const float_4, 2> from(t);
    const texture_view<float_4, 2> to(t);
    texture<float_4, 2> other(8, 16);
    const texture_view<float_4, 2> target(other);
    const texture_view<const float_4, 2> read(other);
    for (int n = 0; n < 3; ++n) {
        parallel_for_each(
            t.extent, [=](index<2> i) restrict(amp) { target.set(i, from.sample(float_2(0.4f, 0.4f)) + from[i]); });
        parallel_for_each(
            t.extent, [=](index<2> i) restrict(amp) {
                if (i[0] < 4) to.set(i, read[i]);
            });
    }
    std::vector<float_4> got(128);
    copy(t, got.begin());
    CHECK(got[5] == float_4(8, 16, 24, 32) && got[127] == v[0]);
}

} // namespace

// A texture that is a VkImage (docs/interop.md).
TEST(textures_that_are_images_of_vulkan) {
    const accelerator_view view = target_view();
    if (view.accelerator.device_path.compare(0, 6, L"vulkan") != 0) SKIP("no Vulkan device");
    texture<float_4, 2> first = revamp::vulkan::make_texture<float_4>(extent<2>(8, 16), view);
    CHECK(first.mipmap_levels == 1 && first.bits_per_scalar_element == 32 && first.data_length == 2048);
    use_in_kernels(first);
    // A second texture over the same image, as if the program had made the image.
    const revamp_vulkan_texture_info image = revamp::vulkan::get_image(first);
    revamp_vulkan_image_info over = {};
    over.image = image.image;
    over.format = image.format;
    over.layout = image.layout;
    over.usage = 7; // TRANSFER_SRC, TRANSFER_DST, SAMPLED
    {
        texture<float_4, 2> second = revamp::vulkan::make_texture<float_4>(extent<2>(8, 16), view, over);
        revamp::vulkan::wait(second, REVAMP_ACCESS_READ_WRITE, revamp::vulkan::signal(first, REVAMP_ACCESS_READ_WRITE));
        use_in_kernels(second);
        revamp::vulkan::wait(first, REVAMP_ACCESS_READ, revamp::vulkan::signal(second, REVAMP_ACCESS_READ));
        std::vector<float_4> got(128);
        copy(first, got.begin());
        CHECK(got[5] == float_4(8, 16, 24, 32));
        view.wait();
    }
    over.format = VK_FORMAT_R8_UINT;
    CHECK_THROWS(runtime_exception, revamp::vulkan::make_texture<float_4>(extent<2>(8, 16), view, over),
                 CHECK_CONTAINS(std::string(e.what()), "format"));
    texture<float_4, 2> texels(8, 16);
    CHECK_THROWS(unsupported_feature, revamp::vulkan::get_image(texels));
    // More textures over images: one has levels and 8-bit integers, and one has three dimensions.
    texture<unsigned, 1> levels = revamp::vulkan::make_texture<unsigned>(extent<1>(8), view, 8, 0);
    CHECK(levels.mipmap_levels == 4);
    for (unsigned level = 0; level + 1 < levels.mipmap_levels; ++level) {
        const texture_view<unsigned, 1> to(levels, level + 1);
        if (level == 0)
            parallel_for_each(
                levels.extent, [&levels](index<1> i) restrict(amp) { levels.set(i, unsigned(i[0]) * 90); });
        const texture_view<const unsigned, 1> from(levels, level, 1);
        parallel_for_each(
            to.extent, [=](index<1> i) restrict(amp) { to.set(i, from[i[0] * 2] + from[i[0] * 2 + 1]); });
    }
    CHECK(bytes_of(levels) ==
          std::vector<unsigned char>({0, 90, 180, 255, 255, 255, 255, 255, 90, 255, 255, 255, 255, 255, 255}));
    texture<int, 3> cube = revamp::vulkan::make_texture<int>(extent<3>(2, 3, 4), view);
    parallel_for_each(
        cube.extent, [&cube](index<3> i) restrict(amp) { cube.set(i, i[0] * 100 + i[1] * 10 + i[2]); });
    parallel_for_each(
        cube.extent, [&cube](index<3> i) restrict(amp) { cube.set(i, cube[i] + 1000); });
    CHECK(values<int>(cube)[23] == 1123 && values<int>(texture<int, 3>(cube))[5] == 1011);
}
#endif
