// Tests the headers' code for texels in host memory: the table of types, conversions, sampling and gathering.
#include "../check.hpp"

#include <revamp/detail/sampler.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace concurrency;
using namespace concurrency::graphics;
namespace detail = revamp::detail;

namespace {

// The texels of all levels, in memory.
template <class T, int N> struct pixels {
    alignas(16) unsigned char bytes[8192] = {};
    detail::texels<N> all;

    explicit pixels(const extent<N> &shape, unsigned levels = 1, unsigned bits = detail::default_bits<T>)
        : all{bytes, shape, levels, bits} {}
    // Access to texels by number. Each level's numbers follow those of the previous level.
    void put(int at, const T &value) { detail::with_bits<T>(all.bits, detail::store_action<T>{bytes, at, value}); }
    T operator[](int at) const { return detail::with_bits<T>(all.bits, detail::load_action<T>{bytes, at}); }
};

template <class T, int N>
T sampled(const pixels<T, N> &from, const sampler &by, const detail::coordinates<N> &at, float level = 0.0f) {
    return detail::sample_texels<T, N>(from.all, detail::sampling_by(by), at, level);
}
template <class T> T sampled(const pixels<T, 1> &from, const sampler &by, float at, float level = 0.0f) {
    return sampled(from, by, detail::coordinates<1>{{at}}, level);
}

constexpr filter_mode filters[] = {filter_point, filter_linear};
constexpr address_mode addresses[] = {address_wrap, address_mirror, address_clamp, address_border};

template <class T> constexpr unsigned widths() {
    return unsigned{detail::has_bits<T>(8)} * 8 + unsigned{detail::has_bits<T>(16)} * 16 +
           unsigned{detail::has_bits<T>(32)} * 32 + unsigned{detail::has_bits<T>(64)} * 64;
}

} // namespace

TEST(TEX_2_TEX_3_TEX_4_the_table_of_types) {
    // Checks the sum of the widths (in bits) that each type may have, and its default width.
    static_assert(widths<int>() == 56 && widths<int_2>() == 56 && widths<int_4>() == 56 && widths<int_3>() == 32);
    static_assert(widths<uint>() == 56 && widths<uint_2>() == 56 && widths<uint_4>() == 56 && widths<uint_3>() == 32);
    static_assert(widths<float>() == 48 && widths<float_2>() == 48 && widths<float_4>() == 48 &&
                  widths<float_3>() == 32);
    static_assert(widths<norm>() == 24 && widths<norm_2>() == 24 && widths<norm_4>() == 24);
    static_assert(widths<unorm>() == 24 && widths<unorm_2>() == 24 && widths<unorm_4>() == 24);
    static_assert(widths<double>() == 64 && widths<double_2>() == 64);
    static_assert(!detail::has_bits<int>(7) && !detail::has_bits<int>(0) && !detail::has_bits<float>(64));
    static_assert(detail::texel_size<norm_3> == 0 && detail::texel_size<unorm_3> == 0 &&
                  detail::texel_size<double_3> == 0 && detail::texel_size<double_4> == 0 &&
                  detail::texel_size<long> == 0 && detail::texel_size<char> == 0 && detail::texel_size<bool> == 0);
    static_assert(detail::default_bits<int_4> == 32 && detail::default_bits<float_3> == 32 &&
                  detail::default_bits<double> == 64 && detail::default_bits<norm> == 0 &&
                  detail::default_bits<unorm_4> == 0);
}

TEST(TEX_76_every_code_is_read_as_its_number) {
    // Both -127 and -128 are read as -1.
    for (int code = -128; code < 128; ++code)
        CHECK_EQUAL((detail::component_of<norm, 8>(unsigned(code) & 0xFF)),
                    norm(code == -128 ? -1.0f : float(code) / 127.0f));
    for (int code = -32768; code < 32768; ++code)
        CHECK_EQUAL((detail::component_of<norm, 16>(unsigned(code) & 0xFFFF)),
                    norm(code == -32768 ? -1.0f : float(code) / 32767.0f));
    for (unsigned code = 0; code < 256; ++code)
        CHECK_EQUAL((detail::component_of<unorm, 8>(code)), unorm(float(code) / 255.0f));
    for (unsigned code = 0; code < 65536; ++code) {
        CHECK_EQUAL((detail::component_of<unorm, 16>(code)), unorm(float(code) / 65535.0f));
        const int exponent = int(code >> 10 & 31), fraction = int(code & 1023);
        const double value = exponent == 0    ? std::ldexp(fraction, -24)
                             : exponent == 31 ? std::numeric_limits<double>::infinity()
                                              : std::ldexp(fraction + 1024, exponent - 25);
        const float half = detail::half_to_float(code);
        if (exponent == 31 && fraction != 0)
            CHECK(std::isnan(half));
        else
            CHECK_EQUAL(half, float(code & 0x8000 ? -value : value));
        CHECK_EQUAL(std::signbit(half), (code & 0x8000) != 0);
    }
}

TEST(TEX_75_TEX_78_every_number_goes_back_to_its_code) {
    for (unsigned code = 0; code < 65536; ++code) {
        const float half = detail::half_to_float(code);
        if (!std::isnan(half)) CHECK_EQUAL(detail::float_to_half(half), code);
        CHECK_EQUAL((detail::code_of<unorm, 16>(detail::component_of<unorm, 16>(code))), code);
        CHECK_EQUAL((detail::code_of<norm, 16>(detail::component_of<norm, 16>(code))), code == 0x8000 ? 0x8001 : code);
        CHECK_EQUAL((detail::code_of<int, 16>(detail::component_of<int, 16>(code))), code);
    }
    for (unsigned code = 0; code < 256; ++code) {
        CHECK_EQUAL((detail::code_of<unorm, 8>(detail::component_of<unorm, 8>(code))), code);
        CHECK_EQUAL((detail::code_of<norm, 8>(detail::component_of<norm, 8>(code))), code == 0x80 ? 0x81 : code);
    }
    // Numbers between two codes get the nearest code.
    for (int step = 0; step < 255; ++step) {
        const float below = (float(step) + 0.45f) / 255.0f, above = (float(step) + 0.55f) / 255.0f;
        CHECK_EQUAL((detail::code_of<unorm, 8>(unorm(below))), unsigned(step));
        CHECK_EQUAL((detail::code_of<unorm, 8>(unorm(above))), unsigned(step) + 1);
    }
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    CHECK_EQUAL((detail::code_of<unorm, 8>(unorm(nan))), 0U);
    CHECK_EQUAL((detail::code_of<norm, 16>(norm(nan))), 0U);
    CHECK_EQUAL((detail::code_of<unorm, 8>(unorm(2.0f))), 255U);
    CHECK_EQUAL((detail::code_of<norm, 8>(norm(-2.0f))), 0x81U);
    // Halves are rounded toward zero, and finite floats never become infinite.
    CHECK_EQUAL(detail::half_to_float(detail::float_to_half(65535.0f)), 65504.0f);
    CHECK_EQUAL(detail::half_to_float(detail::float_to_half(-1e9f)), -65504.0f);
    CHECK_EQUAL(detail::float_to_half(inf), 0x7C00U);
    CHECK_EQUAL(detail::float_to_half(-inf), 0xFC00U);
    CHECK((detail::float_to_half(nan) & 0x7FFF) > 0x7C00);
    CHECK_EQUAL(detail::float_to_half(1e-9f), 0U);
    for (unsigned code = 0; code < 0x7BFF; ++code) {
        const float here = detail::half_to_float(code), next = detail::half_to_float(code + 1);
        CHECK_EQUAL(detail::float_to_half((here + next) / 2), code);
        CHECK_EQUAL(detail::float_to_half(std::nextafter(next, 0.0f)), code);
    }
}

TEST(TEX_77_TEX_79_TEX_80_integers_are_clamped_and_other_bits_kept) {
    CHECK_EQUAL((detail::code_of<uint, 8>(300)), 255U);
    CHECK_EQUAL((detail::component_of<int, 8>(detail::code_of<int, 8>(-200))), -128);
    CHECK_EQUAL((detail::component_of<int, 8>(detail::code_of<int, 8>(200))), 127);
    CHECK_EQUAL((detail::component_of<int, 16>(detail::code_of<int, 16>(-2147483647 - 1))), -32768);
    CHECK_EQUAL((detail::component_of<uint, 16>(detail::code_of<uint, 16>(~0U))), 65535U);
    CHECK_EQUAL((detail::component_of<int, 8>(0xFF)), -1);
    // No sRGB curve: code 128 of 8 bits is 128 / 255 (TEX-80).
    CHECK_EQUAL(float(detail::component_of<unorm, 8>(128)), 128.0f / 255.0f);
    CHECK_EQUAL((detail::component_of<int, 32>(0x80000000U)), -2147483647 - 1);
    CHECK_EQUAL((detail::component_of<uint, 32>(0xFFFFFFFFU)), 0xFFFFFFFFU);
    pixels<float, 1> row(extent<1>(4));
    row.put(0, std::numeric_limits<float>::denorm_min());
    row.put(1, -0.0f);
    CHECK_EQUAL(row[0], std::numeric_limits<float>::denorm_min());
    CHECK(std::signbit(row[1]));
    pixels<double_2, 1> pairs(extent<1>(4));
    pairs.put(3, double_2(0.1, std::numeric_limits<double>::max()));
    CHECK_EQUAL(pairs[3], double_2(0.1, std::numeric_limits<double>::max()));
}

TEST(components_are_stored_in_the_order_of_their_names) {
    pixels<uint_4, 1> colours(extent<1>(2), 1, 8);
    colours.put(1, uint_4(1, 2, 3, 4));
    const unsigned char expected[] = {0, 0, 0, 0, 1, 2, 3, 4};
    CHECK(std::memcmp(colours.bytes, expected, sizeof expected) == 0);
    pixels<int_2, 1> twos(extent<1>(2), 1, 16);
    twos.put(1, int_2(-2, 3));
    const unsigned char words[] = {0, 0, 0, 0, 0xFE, 0xFF, 3, 0};
    CHECK(std::memcmp(twos.bytes, words, sizeof words) == 0);
    pixels<float_3, 1> threes(extent<1>(2));
    threes.put(1, float_3(1, 2, 3));
    const float floats[] = {0, 0, 0, 1, 2, 3};
    CHECK(std::memcmp(threes.bytes, floats, sizeof floats) == 0);
    CHECK_EQUAL(threes[1], float_3(1, 2, 3));
}

TEST(TEX_18_TEX_25_TEX_26_TEX_27_indices_and_levels) {
    pixels<float, 3> cube(extent<3>(4, 2, 3), 3);
    for (int i = 0; i < 24 + 2 + 1; ++i)
        cube.put(i, float(i + 1));
    for (int d = -1; d < 5; ++d)
        for (int r = -1; r < 3; ++r)
            for (int c = -1; c < 4; ++c) {
                const bool inside = d >= 0 && d < 4 && r >= 0 && r < 2 && c >= 0 && c < 3;
                CHECK_EQUAL(detail::fetch_texel<float>(cube.all, index<3>(d, r, c)),
                            inside ? float(d * 6 + r * 3 + c + 1) : 0.0f);
            }
    // Level 1 has 2 x 1 x 1 texels, level 2 has one texel.
    CHECK_EQUAL(detail::fetch_texel<float>(cube.all, index<3>(1, 0, 0), 1), 26.0f);
    CHECK_EQUAL(detail::fetch_texel<float>(cube.all, index<3>(0, 0, 1), 1), 0.0f);
    CHECK_EQUAL(detail::fetch_texel<float>(cube.all, index<3>(0, 0, 0), 2), 27.0f);
    CHECK_EQUAL(detail::fetch_texel<float>(cube.all, index<3>(0, 0, 0), 3), 0.0f);
    CHECK_EQUAL(detail::fetch_texel<float>(cube.all, index<3>(0, 0, 0), ~0U), 0.0f);
    const pixels<float, 3> before = cube;
    const int outside[][3] = {{-1, 0, 0}, {4, 0, 0}, {0, 2, 0}, {0, 0, 3}, {0, -1, 2}};
    for (const auto &at : outside)
        detail::store_texel<float>(cube.all, index<3>(at[0], at[1], at[2]), 99.0f);
    CHECK(std::memcmp(before.bytes, cube.bytes, sizeof cube.bytes) == 0);
    detail::store_texel<float>(cube.all, index<3>(3, 1, 2), 99.0f);
    CHECK_EQUAL(cube[23], 99.0f);
}

TEST(TEX_47_TEX_48_centres_and_points) {
    for (const int width : {1, 3, 7, 16, 100, 1000}) {
        pixels<float, 1> row{extent<1>(width)};
        for (int i = 0; i < width; ++i)
            row.put(i, float(i * i) + 0.25f);
        for (const auto address : addresses)
            for (const auto filter : filters)
                for (int i = 0; i < width; ++i)
                    CHECK_EQUAL(sampled(row, sampler(filter, address), (float(i) + 0.5f) / float(width)), row[i]);
        for (int k = 0; k < 997; ++k) {
            const float u = float(k) / 997.0f;
            const int texel = int(std::floor(u * float(width)));
            for (const auto address : addresses)
                CHECK_EQUAL(sampled(row, sampler(filter_point, address), u), row[texel]);
        }
    }
}

TEST(TEX_46_TEX_49_linear_lies_between_its_texels) {
    pixels<float, 1> row(extent<1>(5));
    const float values[] = {1, -2, 8, 8.5f, 0};
    for (int i = 0; i < 5; ++i)
        row.put(i, values[i]);
    for (int k = 0; k <= 400; ++k) {
        const float u = 0.1f + float(k) / 500.0f, position = u * 5.0f - 0.5f;
        const int i = std::min(3, std::max(0, int(std::floor(position))));
        const float got = sampled(row, sampler(filter_linear, address_clamp), u);
        const float ideal = values[i] + (values[i + 1] - values[i]) * (position - float(i));
        CHECK(std::abs(got - ideal) <= std::abs(values[i + 1] - values[i]) / 512.0f + 1e-4f);
        CHECK(got >= std::min(values[i], values[i + 1]) && got <= std::max(values[i], values[i + 1]));
    }
    // Samples between 4 texels of a square and 8 texels of a cube. x is the last dimension (TEX-46).
    pixels<float, 2> square(extent<2>(2, 2));
    pixels<float, 3> cube(extent<3>(2, 2, 2));
    for (int i = 0; i < 8; ++i) {
        if (i < 4) square.put(i, float(1 << i));
        cube.put(i, float(1 << i));
    }
    const sampler linear;
    CHECK_EQUAL(sampled(square, linear, {0.5f, 0.5f}), 15.0f / 4);
    CHECK_EQUAL(sampled(square, linear, {0.5f, 0.25f}), 1.5f);
    CHECK_EQUAL(sampled(square, linear, {0.25f, 0.5f}), 2.5f);
    CHECK_EQUAL(sampled(cube, linear, {0.5f, 0.5f, 0.5f}), 255.0f / 8);
    CHECK_EQUAL(sampled(cube, linear, {0.75f, 0.25f, 0.25f}), 2.0f);
    CHECK_EQUAL(sampled(cube, linear, {0.25f, 0.75f, 0.25f}), 4.0f);
    CHECK_EQUAL(sampled(cube, linear, {0.25f, 0.25f, 0.75f}), 16.0f);
    CHECK_EQUAL(sampled(cube, sampler(filter_point), {0.75f, 0.75f, 0.25f}), 8.0f);
}

TEST(TEX_50_a_constant_texture_samples_to_the_constant) {
    pixels<unorm_4, 2> constant_texture(extent<2>(5, 3), 3, 8);
    const unorm_4 colour(unorm(51.0f / 255.0f), unorm(1.0f), unorm(0.0f), unorm(7.0f / 255.0f));
    for (int i = 0; i < 15 + 2 + 1; ++i)
        constant_texture.put(i, colour);
    const unorm_4 stored = constant_texture[0];
    for (const auto filter : filters)
        for (const auto address : {address_wrap, address_mirror, address_clamp})
            for (const float u : {-7.3f, -0.01f, 0.0f, 0.37f, 1.0f, 4.9f, 1e9f, -1e30f})
                for (const float level : {-1.0f, 0.0f, 0.3f, 1.5f, 2.0f, 9.0f})
                    CHECK_EQUAL(sampled(constant_texture, sampler(filter, address), {u, 0.3f - u}, level), stored);
}

TEST(TEX_51_TEX_52_addresses_outside) {
    const int width = 4;
    pixels<float, 1> row{extent<1>(width)};
    for (int i = 0; i < width; ++i)
        row.put(i, float(i + 1));
    const auto expected = [&](address_mode address, int i) {
        const int wrapped = ((i % width) + width) % width, mirrored = ((i % (2 * width)) + 2 * width) % (2 * width);
        switch (address) {
        case address_wrap:
            return row[wrapped];
        case address_mirror:
            return row[mirrored < width ? mirrored : 2 * width - 1 - mirrored];
        case address_clamp:
            return row[std::min(std::max(i, 0), width - 1)];
        default:
            return i < 0 || i >= width ? 0.5f : row[i];
        }
    };
    for (const auto address : addresses)
        for (int i = -13; i < 17; ++i) {
            const sampler point(filter_point, address, float_4(0.5f)), linear(address, float_4(0.5f));
            CHECK_EQUAL(sampled(row, point, (float(i) + 0.5f) / 4.0f), expected(address, i));
            CHECK_EQUAL(sampled(row, point, (float(i) + 0.25f) / 4.0f), expected(address, i));
            CHECK_EQUAL(sampled(row, linear, (float(i) + 0.5f) / 4.0f), expected(address, i));
            CHECK_EQUAL(sampled(row, linear, float(i) / 4.0f), (expected(address, i - 1) + expected(address, i)) / 2);
        }
    // A position is outside if one of its coordinates is. It then samples the first components of the border colour,
    // clamped for norm and unorm.
    pixels<unorm_2, 2> square(extent<2>(2, 2), 1, 8);
    for (int i = 0; i < 4; ++i)
        square.put(i, unorm_2(unorm(1.0f), unorm(1.0f)));
    const sampler border(filter_point, address_border, float_4(-3.0f, 0.25f, 7.0f, 8.0f));
    CHECK_EQUAL(sampled(square, border, {0.5f, 1.5f}), unorm_2(unorm(0.0f), unorm(0.25f)));
    CHECK_EQUAL(sampled(square, border, {-0.1f, 0.5f}), unorm_2(unorm(0.0f), unorm(0.25f)));
    CHECK_EQUAL(sampled(square, border, {0.5f, 0.5f}), unorm_2(unorm(1.0f), unorm(1.0f)));
    // A NaN coordinate counts as 0 (TEX-56), which is not outside.
    CHECK_EQUAL(sampled(square, border, {NAN, 0.5f}), unorm_2(unorm(1.0f), unorm(1.0f)));
    // NaN and infinite coordinates sample some texel.
    for (const float u : {NAN, INFINITY, -INFINITY, 3e38f})
        for (const auto address : {address_wrap, address_mirror, address_clamp})
            for (const auto filter : filters)
                CHECK(sampled(row, sampler(filter, address), u) >= 1.0f);
}

TEST(TEX_56_TEX_57_levels_of_detail) {
    pixels<float, 2> chain(extent<2>(4, 4), 3);
    for (int i = 0; i < 21; ++i)
        chain.put(i, i < 16 ? 0.0f : i < 20 ? 10.0f : 30.0f);
    struct {
        float level, point, linear;
    } const rows[] = {{-3.0f, 0, 0},     {0.0f, 0, 0},   {0.25f, 0, 2.5f},   {0.5f, 10, 5},
                      {0.75f, 10, 7.5f}, {1.0f, 10, 10}, {1.25f, 10, 15.0f}, {1.5f, 30, 20.0f},
                      {2.0f, 30, 30},    {7.0f, 30, 30}, {NAN, 0, 0},        {INFINITY, 30, 30}};
    for (const auto &row : rows) {
        CHECK_EQUAL(sampled(chain, sampler(filter_point), {0.4f, 0.6f}, row.level), row.point);
        CHECK_EQUAL(sampled(chain, sampler(filter_linear), {0.4f, 0.6f}, row.level), row.linear);
    }
}

TEST(TEX_45_TEX_58_TEX_59_gather) {
    pixels<float_2, 2> image(extent<2>(3, 4), 2);
    for (int i = 0; i < 12; ++i)
        image.put(i, float_2(float(i), float(100 + i)));
    const auto gathered = [&](const sampler &by, float x, float y, int component) {
        const detail::coordinates<2> at = {{x, y}};
        const detail::sampling sampling_settings = detail::sampling_by(by);
        return component == 0   ? detail::gather_texels<0, float_2>(image.all, sampling_settings, at)
               : component == 1 ? detail::gather_texels<1, float_2>(image.all, sampling_settings, at)
               : component == 2 ? detail::gather_texels<2, float_2>(image.all, sampling_settings, at)
                                : detail::gather_texels<3, float_2>(image.all, sampling_settings, at);
    };
    for (const auto filter : filters) {
        const sampler clamp(filter, address_clamp);
        // Gathers from columns 1 and 2 and rows 0 and 1.
        CHECK_EQUAL(gathered(clamp, 0.5f, 1.0f / 3, 0), float_4(5, 6, 2, 1));
        CHECK_EQUAL(gathered(clamp, 0.5f, 1.0f / 3, 1), float_4(105, 106, 102, 101));
        CHECK_EQUAL(gathered(clamp, 0.5f, 1.0f / 3, 2), float_4(0));
        CHECK_EQUAL(gathered(clamp, 0.5f, 1.0f / 3, 3), float_4(1));
        CHECK_EQUAL(gathered(clamp, 0.0f, 0.0f, 0), float_4(0, 0, 0, 0));
        CHECK_EQUAL(gathered(sampler(filter, address_wrap), 0.0f, 0.0f, 0), float_4(3, 0, 8, 11));
        CHECK_EQUAL(gathered(sampler(filter, address_mirror), 1.0f, 1.0f, 0), float_4(11, 11, 11, 11));
        CHECK_EQUAL(gathered(sampler(filter, address_border, float_4(-1, -2, -3, -4)), 0.0f, 0.0f, 1),
                    float_4(-2, 100, -2, -2));
    }
}

TEST(TEX_53_TEX_54_samplers) {
    const sampler plain, nearest(filter_point), around(address_wrap), edge(address_border, float_4(1, 2, 3, 4)),
        all(filter_point, address_mirror, float_4(5));
    CHECK(plain.filter_mode == filter_linear && plain.address_mode == address_clamp);
    CHECK_EQUAL(plain.border_color, float_4(0));
    CHECK(nearest.get_filter_mode() == filter_point && nearest.get_address_mode() == address_clamp);
    CHECK(around.filter_mode == filter_linear && around.address_mode == address_wrap);
    CHECK_EQUAL(edge.get_border_color(), float_4(1, 2, 3, 4));
    CHECK_EQUAL(edge.border_color.y, 2.0f);
    sampler copy = plain;
    copy = all;
    CHECK(copy.filter_mode == filter_point && copy.address_mode == address_mirror);
    CHECK_EQUAL(copy.border_color, float_4(5));
    CHECK_THROWS(runtime_exception, sampler(filter_unknown), CHECK_CONTAINS(e.what(), "filter_mode"));
    CHECK_THROWS(runtime_exception, sampler(address_unknown), CHECK_CONTAINS(e.what(), "address_mode"));
    CHECK_THROWS(runtime_exception, sampler(filter_linear, address_unknown));
    CHECK_THROWS(runtime_exception, sampler(static_cast<filter_mode>(3)));
}

CHECK_MAIN
