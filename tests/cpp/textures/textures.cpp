// Tests of textures and their views on the host: constructors, properties, copies (docs/spec/textures.md). Uses every
// public name, and copies texels of each type to a texture and back.
#include <amp.h>
#include <amp_graphics.h>

#include "../check.hpp"

#include <chrono>
#include <climits>
#include <cstring>
#include <future>
#include <list>
#include <numeric>
#include <sstream>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

const accelerator_view cpu = accelerator(accelerator::cpu_accelerator).default_view;
accelerator_view target_view() {
    return accelerator().default_view;
}

typedef std::vector<unsigned char> bytes;
bytes byte_sequence(std::size_t size, unsigned first = 1) {
    bytes all(size);
    for (std::size_t i = 0; i < size; ++i)
        all[i] = static_cast<unsigned char>(first + i * 7);
    return all;
}
template <class X> bytes contents(const X &of, std::size_t size) {
    bytes all(size, 0xEE);
    copy(of, all.data(), static_cast<unsigned>(all.size()));
    return all;
}
template <class X> bytes contents(const X &of) {
    return contents(of, of.get_data_length());
}
std::vector<float> floats(std::size_t size, float first = 0.0f) {
    std::vector<float> all(size);
    std::iota(all.begin(), all.end(), first);
    return all;
}

template <int N> extent<N> shape();
template <> extent<1> shape<1>() {
    return extent<1>(7);
}
template <> extent<2> shape<2>() {
    return extent<2>(3, 5);
}
template <> extent<3> shape<3>() {
    return extent<3>(2, 3, 4);
}

// Copies bytes to a texture. Copies them back directly, through another texture, and (the last row) by a section.
template <class T, int N> int round_trip(unsigned bits) {
    const extent<N> size = shape<N>();
    const unsigned length = size.size() * bits / 8 * static_cast<unsigned>(short_vector_traits<T>::size);
    const bytes given = byte_sequence(length, bits);
    const texture<T, N> original(size, given.data(), length, bits);
    CHECK_EQUAL(original.extent, size);
    CHECK_EQUAL(original.bits_per_scalar_element, bits);
    CHECK_EQUAL(original.data_length, length);
    CHECK_EQUAL(original.mipmap_levels, 1U);
    CHECK(contents(original) == given);
    texture<T, N> other(size, bits);
    copy(original, other);
    CHECK(contents(texture_view<const T, N>(other)) == given);
    // Copies the last row without its first texel.
    index<N> from;
    extent<N> part = size;
    for (int d = 0; d < N - 1; ++d) {
        from[d] = size[d] - 1;
        part[d] = 1;
    }
    from[N - 1] = 1;
    part[N - 1] = size[N - 1] - 1;
    const std::size_t rest = length / size.size() * part.size();
    bytes some(rest);
    copy(original, from, part, some.data(), static_cast<unsigned>(rest));
    CHECK(std::equal(some.begin(), some.end(), given.end() - static_cast<std::ptrdiff_t>(rest)));
    return 1;
}
template <class T> int round_trips() {
    int count = 0;
    for (const unsigned bits : {8U, 16U, 32U, 64U})
        if (revamp::detail::has_bits<T>(bits))
            count += round_trip<T, 1>(bits) + round_trip<T, 2>(bits) + round_trip<T, 3>(bits);
    return count;
}
template <class... T> int all_round_trips() {
    return (round_trips<T>() + ...);
}

} // namespace

TEST(all_123_types_there_and_back_TEX_3_TEX_13_TEX_62_TEX_63) {
    const int count = all_round_trips<int, int_2, int_3, int_4, uint, uint_2, uint_3, uint_4, float, float_2, float_3,
                                      float_4, norm, norm_2, norm_4, unorm, unorm_2, unorm_4, double, double_2>();
    CHECK_EQUAL(count, 123);
}

TEST(TEX_1_TEX_3_constructors_of_shapes) {
    const accelerator_view view = target_view();
    const texture<int, 1> a(10), b(extent<1>(10), view), c(10, 8U), d(10, 16U, view), e(10, view);
    const texture<float_4, 2> f(4, 5), g(extent<2>(4, 5), 16U), h(4, 5, 0U), i(4, 5, view), j(4, 5, 16U, view);
    const texture<uint_2, 3> k(2, 3, 4), l(2, 3, 4, 8U), m(2, 3, 4, 16U, view), n(extent<3>(2, 3, 4), 32U, view);
    CHECK(a.accelerator_view == view && a.get_associated_accelerator_view() == view);
    CHECK(a.bits_per_scalar_element == 32 && c.bits_per_scalar_element == 8 && d.bits_per_scalar_element == 16);
    CHECK(h.get_bits_per_scalar_element() == 32 && g.bits_per_scalar_element == 16 && l.bits_per_scalar_element == 8);
    CHECK(f.data_length == 320 && g.data_length == 160 && l.get_data_length() == 48 && m.data_length == 96);
    CHECK(k.extent == extent<3>(2, 3, 4) && n.get_extent() == extent<3>(2, 3, 4) && f.extent == extent<2>(4, 5));
    CHECK(b.extent.size() == 10 && e.mipmap_levels == 1 && i.get_mipmap_levels() == 1);
    CHECK(j.accelerator_view.accelerator == view.accelerator);
    static_assert(texture<int, 1>::rank == 1 && texture<uint_2, 3>::rank == 3);
    static_assert(std::is_same_v<texture<float_4, 2>::value_type, float_4> &&
                  std::is_same_v<texture<float_4, 2>::scalar_type, float> &&
                  std::is_same_v<texture<norm, 1>::scalar_type, norm>);
    static_assert(std::is_same_v<texture_view<const float_2, 3>::value_type, const float_2> &&
                  std::is_same_v<texture_view<float_2, 3>::value_type, float_2> &&
                  std::is_same_v<texture_view<const float_2, 3>::coordinates_type, float_3> &&
                  std::is_same_v<texture_view<const float_2, 1>::coordinates_type, float> &&
                  std::is_same_v<texture_view<const unorm_2, 2>::gather_return_type, unorm_4>);
    static_assert(!std::is_default_constructible_v<texture<int, 1>>);
}

TEST(TEX_5_TEX_6_TEX_7_TEX_8_what_is_refused) {
    for (const unsigned bits : {7U, 12U, 128U})
        CHECK_THROWS(runtime_exception, (texture<int, 1>(4, bits)),
                     CHECK(!dynamic_cast<const unsupported_feature *>(&e)));
    CHECK_THROWS(unsupported_feature, (texture<float, 1>(4, 8U)), CHECK_CONTAINS(e.what(), "16 or 32"));
    CHECK_THROWS(unsupported_feature, (texture<unorm_2, 1>(4, 32U)));
    CHECK_THROWS(unsupported_feature, (texture<double, 1>(4, 32U)));
    CHECK_THROWS(unsupported_feature, (texture<float_3, 1>(4, 16U)));
    CHECK_THROWS(unsupported_feature, (texture<int, 1>(4, 64U)));
    CHECK_THROWS(runtime_exception, (texture<unorm, 1>(4, 0U)));
    CHECK_THROWS(unsupported_feature, (texture<int, 2>(4, 4, cpu)));
    CHECK_THROWS(unsupported_feature, (texture<int, 2>(4, 4, cpu, cpu)));
    CHECK_THROWS(runtime_exception, (texture<int, 1>(0)));
    CHECK_THROWS(runtime_exception, (texture<int, 2>(4, -1)));
    CHECK_THROWS(runtime_exception, (texture<int, 1>(16385)));
    CHECK_THROWS(runtime_exception, (texture<int, 2>(1, 16385, 8U)));
    CHECK_THROWS(runtime_exception, (texture<int, 3>(1, 1, 2049, 8U)));
    CHECK_THROWS(runtime_exception, (texture<int, 1>(-1)));
    CHECK_THROWS(runtime_exception, (texture<int, 3>(2, 0, 2)));
    CHECK_THROWS(runtime_exception, (texture<int, 2>(16385, 1, 8U)));
    CHECK_THROWS(runtime_exception, (texture<int, 3>(2049, 1, 1, 8U)));
    CHECK_EQUAL((texture<int, 1>(16384, 8U).extent[0]), 16384);
    CHECK_EQUAL((texture<int, 2>(1, 16384, 8U).extent[1]), 16384);
    CHECK_EQUAL((texture<int, 3>(1, 2048, 1, 8U).extent[1]), 2048);
}

TEST(TEX_9_TEX_10_constructors_with_texels) {
    const accelerator_view view = target_view();
    const std::vector<float> v = floats(20);
    const texture<float, 2> a(4, 5, v.begin(), v.end()), b(extent<2>(4, 5), v.data(), v.data() + 20, view),
        c(2, 5, v.begin() + 10, v.end(), view);
    const std::list<float> list(v.begin(), v.end());
    const texture<float, 1> d(20, list.begin(), list.end());
    std::istringstream text("0 1 2 3 4 5");
    const texture<float, 1> read(4, std::istream_iterator<float>(text), std::istream_iterator<float>());
    CHECK(contents(a) == contents(b));
    CHECK(contents(a) == contents(d));
    std::vector<float> out(20);
    copy(c, out.begin());
    CHECK(out[0] == 10 && out[9] == 19 && out[10] == 0);
    copy(read, out.data());
    CHECK(out[3] == 3 && out[4] == 14);
    CHECK_THROWS(runtime_exception, (texture<float, 1>(21, v.begin(), v.end())), CHECK_CONTAINS(e.what(), "20"));
    CHECK_THROWS(runtime_exception, (texture<float, 1>(21, list.begin(), list.end(), view)));
    // The components of a short vector are adjacent in memory.
    const std::vector<int_2> pairs = {int_2(1, 2), int_2(3, 4)};
    const texture<int_2, 1> f(2, pairs.begin(), pairs.end());
    int numbers[4] = {};
    copy(f, numbers, sizeof numbers);
    CHECK(numbers[0] == 1 && numbers[3] == 4);
    // 100 x 200 pairs of 8 bits are 40000 bytes. Fewer bytes are refused; further bytes are ignored.
    const bytes source = byte_sequence(50000);
    const texture<uint_2, 2> g(100, 200, source.data(), 40000U, 8U),
        h(extent<2>(100, 200), source.data(), 50000, 8U, view);
    CHECK(contents(g) == contents(h));
    CHECK_THROWS(runtime_exception, (texture<uint_2, 2>(100, 200, source.data(), 39999U, 8U)),
                 CHECK_CONTAINS(e.what(), "40000"));
}

TEST(TEX_13_TEX_15_levels) {
    const texture<int, 2> all(extent<2>(10, 6), 8U, 0U), two(extent<2>(10, 6), 8U, 2U), one(extent<2>(10, 6), 8U, 1U);
    CHECK(all.mipmap_levels == 4 && two.get_mipmap_levels() == 2 && one.mipmap_levels == 1);
    CHECK(all.get_mipmap_extent(1) == extent<2>(5, 3) && all.get_mipmap_extent(2) == extent<2>(2, 1) &&
          all.get_mipmap_extent(3) == extent<2>(1, 1));
    CHECK(all.data_length == 60 + 15 + 2 + 1 && two.data_length == 75 && one.data_length == 60);
    CHECK_THROWS(runtime_exception, all.get_mipmap_extent(4));
    CHECK_THROWS(runtime_exception, two.get_mipmap_extent(2));
    CHECK_THROWS(runtime_exception, (texture<int, 2>(extent<2>(10, 6), 8U, 5U)));
    const texture<float, 1> row(extent<1>(8), 0U, 0U, target_view());
    CHECK(row.mipmap_levels == 4 && row.bits_per_scalar_element == 32 && row.data_length == 60);
}

TEST(TEX_11_TEX_12_copies_of_textures) {
    const accelerator_view view = target_view();
    const bytes given = byte_sequence(78);
    texture<int, 2> a(extent<2>(10, 6), 8U, 0U);
    copy(given.data(), 78, a);
    const texture<int, 2> b(a), c(a, view);
    CHECK(contents(b) == given && b.mipmap_levels == 4 && b.bits_per_scalar_element == 8);
    CHECK(contents(c) == given);
    const texture<int, 2> d(texture_view<const int, 2>(a, 1, 2)), e2(texture_view<int, 2>(a, 2)),
        f(texture_view<int, 2>(a, 1), view);
    CHECK(d.extent == extent<2>(5, 3) && d.mipmap_levels == 2);
    CHECK(contents(d) == bytes(given.begin() + 60, given.begin() + 77));
    CHECK(e2.extent == extent<2>(2, 1) && e2.mipmap_levels == 1 && f.extent == extent<2>(5, 3));
    CHECK(contents(e2) == bytes(given.begin() + 75, given.begin() + 77));
    texture<int, 2> target(extent<2>(3, 3));
    target = a;
    CHECK(target.extent == a.extent && target.bits_per_scalar_element == 8 && target.mipmap_levels == 4 &&
          target.data_length == 78);
    CHECK(contents(target) == given);
    copy(byte_sequence(78, 9).data(), 78, target);
    CHECK(contents(a) == given);
    target = *&target;
    CHECK(contents(target) == byte_sequence(78, 9));
    texture<int, 2> moved(std::move(target));
    CHECK(contents(moved) == byte_sequence(78, 9));
    CHECK_THROWS(runtime_exception, contents(target));
    target = std::move(moved);
    CHECK(contents(target) == byte_sequence(78, 9));
    texture<int, 2> last(extent<2>(10, 6), 8U, 0U);
    target.copy_to(last);
    CHECK(contents(last) == byte_sequence(78, 9));
    texture<int, 2> single(extent<2>(3, 3), byte_sequence(9).data(), 9, 8U), level(extent<2>(3, 3), 8U);
    single.copy_to(writeonly_texture_view<int, 2>(level));
    CHECK(contents(level) == byte_sequence(9));
}

TEST(TEX_37_TEX_38_TEX_39_TEX_40_TEX_41_TEX_43_views) {
    const bytes given = byte_sequence(78);
    auto source = std::make_unique<texture<int, 2>>(extent<2>(10, 6), 8U, 0U);
    copy(given.data(), 78, *source);
    const texture_view<int, 2> zero(*source), one(*source, 1);
    CHECK(zero.extent == extent<2>(10, 6) && zero.get_mipmap_levels() == 1 && zero.data_length == 60);
    CHECK(one.extent == extent<2>(5, 3) && one.mipmap_levels == 1 && one.bits_per_scalar_element == 8);
    CHECK_EQUAL(one.get_mipmap_extent(0), extent<2>(5, 3));
    CHECK_THROWS(runtime_exception, one.get_mipmap_extent(1));
    CHECK_THROWS(runtime_exception, (texture_view<int, 2>(*source, 4)));
    const texture_view<const int, 2> all(*source), some(*source, 1, 3), fewer(some, 1, 2), of(one);
    CHECK(all.mipmap_levels == 4 && all.data_length == 78 && all.extent == source->extent);
    CHECK(some.extent == extent<2>(5, 3) && some.get_mipmap_levels() == 3 &&
          some.get_mipmap_extent(1) == extent<2>(2, 1));
    CHECK(fewer.extent == extent<2>(2, 1) && fewer.mipmap_levels == 2 && fewer.get_data_length() == 3);
    CHECK(contents(fewer) == bytes(given.begin() + 75, given.end()));
    CHECK(of.extent == extent<2>(5, 3) && of.mipmap_levels == 1);
    CHECK(contents(of) == bytes(given.begin() + 60, given.begin() + 75));
    CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(*source, 1, 4)),
                 CHECK_CONTAINS(e.what(), "levels is 4"));
    CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(*source, 0, 0)));
    CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(some, 1, 0)));
    CHECK_THROWS(runtime_exception, (texture_view<int, 2>(*source, ~0U)));
    for (unsigned level = 0; level < 4; ++level) {
        const texture_view<int, 2> alone(*source, level);
        CHECK(alone.extent == source->get_mipmap_extent(level) && alone.mipmap_levels == 1);
        for (unsigned count = 1; level + count <= 4; ++count) {
            const texture_view<const int, 2> range(*source, level, count);
            CHECK(range.extent == source->get_mipmap_extent(level) && range.mipmap_levels == count);
        }
        CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(*source, level, 5 - level)));
    }
    CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(*source, 5, 1)));
    CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(*source, ~0U, 2)));
    CHECK_THROWS(runtime_exception, (texture_view<const int, 2>(some, 2, 2)));
    const writeonly_texture_view<int, 2> written(*source);
    CHECK(written.extent == extent<2>(10, 6) && written.get_data_length() == 60);
    CHECK(written.accelerator_view == target_view() && all.get_accelerator_view() == target_view());
    CHECK(one.accelerator_view.accelerator == target_view().accelerator);
    // Views are shallow, can be assigned, and outlive the texture.
    texture_view<const int, 2> copied = all;
    copied = one;
    CHECK(copied.extent == extent<2>(5, 3) && copied.mipmap_levels == 1 && copied.data_length == 15);
    const texture<int, 2> &constant = *source;
    CHECK(contents(copied = *source) == given && contents(copied = constant) == given);
    copied = some;
    texture_view<int, 2> again = zero;
    again = one;
    again = *&again;
    writeonly_texture_view<int, 2> other = written;
    other = written;
    source.reset();
    CHECK(contents(copied) == bytes(given.begin() + 60, given.end()));
    CHECK(again.extent == extent<2>(5, 3) && contents(again) == bytes(given.begin() + 60, given.begin() + 75));
    copy(byte_sequence(60, 3).data(), 60, other);
    CHECK(contents(zero) == byte_sequence(60, 3));
    texture<int, 1> staging(4, cpu, target_view());
    CHECK_THROWS(runtime_exception, (texture_view<int, 1>(staging)), CHECK_CONTAINS(e.what(), "staging"));
    CHECK_THROWS(runtime_exception, (texture_view<const int, 1>(staging)));
    CHECK_THROWS(runtime_exception, (writeonly_texture_view<int, 1>(staging)));
}

TEST(TEX_60_TEX_64_bytes_and_sections) {
    texture<uint, 2> t(4, 6, 16U);
    const bytes given = byte_sequence(60);
    copy(given.data(), 60, t);
    const bytes all = contents(t, 60);
    CHECK(std::equal(all.begin(), all.begin() + 48, given.begin()));
    CHECK(bytes(all.begin() + 48, all.end()) == bytes(12, 0xEE));
    bytes room(47);
    CHECK_THROWS(runtime_exception, copy(t, room.data(), 47), CHECK_CONTAINS(e.what(), "48"));
    CHECK_THROWS(runtime_exception, copy(given.data(), 47, t));
    // Copies two rows of three texels, which are packed in the host's memory.
    bytes section(13, 0xEE);
    copy(t, index<2>(1, 2), extent<2>(2, 3), section.data(), 13);
    CHECK(std::equal(section.begin(), section.begin() + 6, given.begin() + 16) &&
          std::equal(section.begin() + 6, section.begin() + 12, given.begin() + 28) && section[12] == 0xEE);
    const bytes mark(12, 0x55);
    copy(mark.data(), 12, t, index<2>(2, 3), extent<2>(2, 3));
    bytes expected(given.begin(), given.begin() + 48);
    std::fill_n(expected.begin() + 30, 6, 0x55);
    std::fill_n(expected.begin() + 42, 6, 0x55);
    CHECK(contents(t) == expected);
    CHECK_THROWS(runtime_exception, copy(t, index<2>(1, 2), extent<2>(2, 3), section.data(), 11));
    for (const auto &bad :
         {std::make_pair(index<2>(0, 4), extent<2>(1, 3)), std::make_pair(index<2>(-1, 0), extent<2>(1, 1)),
          std::make_pair(index<2>(0, 0), extent<2>(0, 1)), std::make_pair(index<2>(0, 0), extent<2>(1, -2)),
          std::make_pair(index<2>(4, 0), extent<2>(1, 1))}) {
        CHECK_THROWS(runtime_exception, copy(t, bad.first, bad.second, section.data(), 13));
        CHECK_THROWS(runtime_exception, copy(mark.data(), 12, t, bad.first, bad.second));
    }
    CHECK(contents(t) == expected);
    texture<uint, 2> levels(extent<2>(4, 4), 8U, 0U);
    CHECK_THROWS(runtime_exception, copy(levels, index<2>(), extent<2>(2, 2), section.data(), 13));
    copy(mark.data(), 12, texture_view<uint, 2>(levels, 1), index<2>(0, 0), extent<2>(2, 2));
    CHECK(contents(texture_view<const uint, 2>(levels, 1, 1)) == bytes(4, 0x55));
}

TEST(TEX_61_iterators) {
    texture<int_2, 2> t(2, 3);
    std::vector<int_2> given(7);
    for (int i = 0; i < 7; ++i)
        given[unsigned(i)] = int_2(i, -i);
    copy(given.begin(), given.end(), t);
    std::list<int_2> out(6);
    copy(t, out.begin());
    CHECK(std::equal(out.begin(), out.end(), given.begin()));
    std::vector<int_2> part;
    copy(t, index<2>(1, 1), extent<2>(1, 2), std::back_inserter(part));
    CHECK(part.size() == 2 && part[0] == given[4] && part[1] == given[5]);
    copy(part.data(), part.data() + 2, t, index<2>(0, 0), extent<2>(2, 1));
    copy(texture_view<const int_2, 2>(t), out.begin());
    CHECK(out.front() == given[4] && *std::next(out.begin(), 3) == given[5]);
    CHECK_THROWS(runtime_exception, copy(given.begin(), given.begin() + 5, t), CHECK_CONTAINS(e.what(), "5 elements"));
    CHECK_THROWS(runtime_exception, copy(given.begin(), given.begin() + 1, t, index<2>(0, 0), extent<2>(2, 1)));
    // The arguments are checked before any memory is allocated for the texels.
    const extent<2> vast(INT_MAX, INT_MAX);
    CHECK_THROWS(runtime_exception, copy(t, index<2>(0, 0), vast, std::back_inserter(part)));
    CHECK_THROWS(runtime_exception, copy_async(t, index<2>(0, 0), vast, std::back_inserter(part)));
    CHECK_THROWS(runtime_exception, copy(out.begin(), out.end(), t, index<2>(0, 1), vast));
    texture<int_2, 2> small(2, 3, 16U);
    CHECK_THROWS(runtime_exception, copy(given.begin(), given.end(), small), CHECK_CONTAINS(e.what(), "16 bits"));
    CHECK_THROWS(runtime_exception, copy(small, out.begin()));
    texture<double, 1> doubles(3);
    const double numbers[] = {0.1, 0.2, 0.3};
    copy(numbers, numbers + 3, doubles);
    double back[3] = {};
    copy(doubles, back);
    CHECK(back[2] == 0.3);
}

TEST(TEX_65_TEX_66_TEX_67_between_textures) {
    const std::vector<float> v = floats(24);
    texture<float, 2> a(4, 6, v.begin(), v.end()), b(4, 6);
    copy(a, texture_view<float, 2>(b));
    CHECK(contents(a) == contents(b));
    const texture<int, 2> bits(extent<2>(4, 6), contents(a).data(), 96, 32U);
    copy(bits, b);
    texture<float, 2> other(4, 5), half(4, 6, 16U), levels(extent<2>(4, 6), 32U, 2U);
    texture<float_2, 2> pairs(4, 6);
    CHECK_THROWS(runtime_exception, copy(a, other));
    CHECK_THROWS(runtime_exception, copy(a, half));
    CHECK_THROWS(runtime_exception, copy(a, levels));
    CHECK_THROWS(runtime_exception, copy(a, pairs));
    CHECK_THROWS(runtime_exception, levels.copy_to(writeonly_texture_view<float, 2>(b)));
    copy(a, texture_view<float, 2>(levels));
    copy(texture_view<const float, 2>(levels, 0, 1), index<2>(1, 1), b, index<2>(0, 3), extent<2>(2, 3));
    std::vector<float> out(24);
    copy(b, out.begin());
    CHECK(out[3] == 7 && out[5] == 9 && out[9] == 13 && out[2] == 2 && out[15] == 15);
    copy(a, index<2>(0, 0), writeonly_texture_view<float, 2>(b), index<2>(3, 0), extent<2>(1, 6));
    copy(b, out.begin());
    CHECK(out[18] == 0 && out[23] == 5);
    CHECK_THROWS(runtime_exception, copy(a, index<2>(0, 0), a, index<2>(1, 1), extent<2>(1, 1)));
    CHECK_THROWS(runtime_exception, copy(a, index<2>(3, 0), b, index<2>(0, 0), extent<2>(2, 1)));
    CHECK_THROWS(runtime_exception, copy(levels, index<2>(0, 0), b, index<2>(0, 0), extent<2>(1, 1)));
    CHECK_THROWS(runtime_exception, copy(b, index<2>(0, 0), levels, index<2>(0, 0), extent<2>(1, 1)));
    CHECK_THROWS(runtime_exception, copy(a, index<2>(0, 0), half, index<2>(0, 0), extent<2>(1, 1)));
    CHECK_THROWS(runtime_exception, copy(a, index<2>(0, 0), pairs, index<2>(0, 0), extent<2>(1, 1)));
    // Two levels of one texture count as the same texture.
    const texture_view<const float, 2> first(levels, 0, 1);
    CHECK_THROWS(runtime_exception,
                 copy(first, index<2>(0, 0), texture_view<float, 2>(levels, 1), index<2>(0, 0), extent<2>(1, 1)),
                 CHECK_CONTAINS(e.what(), "same texture"));
    CHECK_THROWS(runtime_exception, copy(a, a), CHECK_CONTAINS(e.what(), "same texture"));
    const std::vector<float> before = out;
    copy(b, out.begin());
    CHECK(out == before);
}

TEST(TEX_65_all_levels_go_to_another_accelerator) {
    const bytes given = byte_sequence(78);
    texture<int, 2> source(extent<2>(10, 6), 8U, 0U);
    copy(given.data(), 78, source);
    for (const accelerator &acc : accelerator::get_all()) {
        if (acc.device_path == accelerator::cpu_accelerator) continue;
        texture<int, 2> there(extent<2>(10, 6), 8U, 0U, acc.create_view());
        copy(source, there);
        CHECK(contents(there) == given);
        texture<int, 2> fewer(extent<2>(10, 6), 8U, 3U, acc.default_view);
        CHECK_THROWS(runtime_exception, copy(source, fewer), CHECK_CONTAINS(e.what(), "levels"));
        CHECK_THROWS(runtime_exception, source.copy_to(fewer));
    }
}

TEST(TEX_68_copy_async_in_all_forms) {
    const std::vector<float> v = floats(24), w = floats(4, 100);
    texture<float, 2> a(4, 6), b(4, 6);
    const std::list<float> list(v.begin(), v.end());
    std::vector<float> out(24);
    std::list<float> list_out(24);
    const auto read = [&] {
        copy_async(b, out.data(), 96).get();
        return out;
    };
    copy_async(v.data(), 96, a).get();
    copy_async(a, b).get();
    CHECK(read() == v);
    copy_async(w.data(), 16, b, index<2>(1, 1), extent<2>(2, 2)).get();
    CHECK(read()[7] == 100 && out[14] == 103);
    copy_async(list.begin(), list.end(), b).get();
    CHECK(read() == v);
    copy_async(w.begin(), w.end(), texture_view<float, 2>(b), index<2>(0, 0), extent<2>(1, 4)).get();
    CHECK(read()[3] == 103 && out[4] == 4);
    copy_async(texture_view<const float, 2>(b), list_out.begin()).get();
    CHECK(list_out.front() == 100 && list_out.back() == 23);
    copy_async(b, index<2>(3, 0), extent<2>(1, 6), out.begin()).get();
    CHECK(out[0] == 18 && out[5] == 23);
    copy_async(b, index<2>(0, 0), extent<2>(1, 2), out.data() + 10, 8).get();
    CHECK(out[11] == 101);
    copy_async(a, index<2>(0, 0), b, index<2>(2, 2), extent<2>(2, 4)).get();
    CHECK(read()[14] == 0 && out[23] == 9);
    std::promise<void> called;
    completion_future done = copy_async(a, b);
    done.then([&] { called.set_value(); });
    done.wait();
    CHECK(read() == v);
    REQUIRE(called.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready);
    CHECK_THROWS(runtime_exception, copy_async(v.data(), 95, a).get());
}

TEST(TEX_69_TEX_70_TEX_71_TEX_72_staging) {
    const std::vector<float> v = floats(30);
    texture<float, 2> staging(5, 6, cpu, target_view());
    CHECK(staging.accelerator_view == cpu && staging.associated_accelerator_view == target_view());
    REQUIRE(staging.data() != nullptr);
    CHECK(staging.row_pitch >= 24 && staging.get_row_pitch() == staging.row_pitch && staging.data_length == 120);
    const auto texel = [&](int r, int c) -> float & {
        return *reinterpret_cast<float *>(static_cast<char *>(staging.data()) + unsigned(r) * staging.row_pitch +
                                          unsigned(c) * 4);
    };
    for (int r = 0; r < 5; ++r)
        for (int c = 0; c < 6; ++c)
            texel(r, c) = v[unsigned(r * 6 + c)];
    texture<float, 2> there(5, 6);
    copy(staging, there);
    std::vector<float> out(30);
    copy(there, out.begin());
    CHECK(out == v);
    // Copies from a staging texture pack the rows; copies to one unpack them.
    CHECK(contents(staging) == contents(there));
    for (float &x : out)
        x += 1;
    copy(out.begin(), out.end(), there);
    copy(there, staging);
    CHECK(texel(4, 5) == 30 && texel(0, 0) == 1);
    const texture<float, 2> copied(there, cpu, target_view()), filled(5, 6, v.begin(), v.end(), cpu, target_view()),
        again(copied);
    CHECK(*static_cast<const float *>(copied.data()) == 1 && copied.associated_accelerator_view == target_view());
    CHECK(*static_cast<const float *>(filled.data()) == 0 && again.accelerator_view == cpu);
    texture<uint_3, 3> volume(extent<3>(2, 3, 4), byte_sequence(288).data(), 288, 32U, cpu, target_view());
    CHECK(volume.row_pitch >= 48 && volume.depth_pitch >= 3 * volume.row_pitch &&
          volume.get_depth_pitch() == volume.depth_pitch);
    CHECK(static_cast<unsigned char *>(volume.data())[volume.depth_pitch + 2 * volume.row_pitch + 36] ==
          byte_sequence(288)[((1 * 3 + 2) * 4 + 3) * 12]);
    CHECK(contents(volume) == byte_sequence(288));
    texture<float, 1> plain(4), same(4, target_view(), target_view());
    CHECK(plain.data() == nullptr && same.data() == nullptr);
    const texture<float, 2> &constant = there;
    CHECK(constant.data() == nullptr && constant.row_pitch == 0);
    const texture<int, 3> deep(2, 2, 2);
    CHECK(deep.data() == nullptr && deep.row_pitch == 0 && deep.depth_pitch == 0);
}

TEST(TEX_73_TEX_74_nothing_moves_by_itself_and_copies_keep_their_order) {
    std::vector<float> v = floats(6);
    texture<float, 1> a(6, v.begin(), v.end()), b(6);
    v[0] = 99;
    for (int i = 0; i < 20; ++i) {
        copy(a, b);
        copy(b, a);
    }
    std::vector<float> out(6);
    copy(a, out.begin());
    CHECK(out == floats(6));
}

TEST(the_host_cannot_access_texels) {
    texture<int, 1> t(4);
    const texture_view<const int, 1> view(t);
    CHECK_THROWS(runtime_exception, t.get(index<1>(0)), CHECK_CONTAINS(e.what(), "copy()"));
    CHECK_THROWS(runtime_exception, t.set(index<1>(0), 1));
    CHECK_THROWS(runtime_exception, view[0]);
}

TEST(msad4_by_both_names) {
    using concurrency::graphics::direct3d::uint2;
    using concurrency::graphics::direct3d::uint4;
    const uint2 source(0x04030201U, 0x08070605U);
    const uint4 expected(10, 14 + 0, 18, 22);
    CHECK_EQUAL(concurrency::direct3d::msad4(0x00000001U, source, uint4(10, 13, 16, 19)), expected);
    CHECK_EQUAL(concurrency::graphics::direct3d::msad4(0, source, uint4(1, 2, 3, 4)), uint4(1, 2, 3, 4));
}

CHECK_MAIN
