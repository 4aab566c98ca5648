// revamp: reads, writes, samples and gathers texels in memory (docs/spec/textures.md). Host threads and compiled
// kernels run the same code. The functions at the end of this file are its interface. They take an object of the class
// `texels`, the part of a texture or view that kernels know.
//
// The levels are stored one after the other, each row-major without gaps. A component has 8, 16, 32 or 64 bits; the
// number of bits is known only at run time.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_TEXELS_H
#define REVAMP_DETAIL_TEXELS_H

#include "../../amp_short_vectors.h"
#include "config.h"
#include "device_abi.h"
#include "shapes.h"
#include "view.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

REVAMP_NAMESPACE_BEGIN
namespace graphics {

// The values are Direct3D's. Programs cannot request the unknown modes.
enum filter_mode : unsigned { filter_point = 0, filter_linear = 0x15, filter_unknown = 0xFFFFFFFF };
enum address_mode : unsigned {
    address_wrap = 1,
    address_mirror = 2,
    address_clamp = 3,
    address_border = 4,
    address_unknown = 0xFFFFFFFF
};

} // namespace graphics
REVAMP_NAMESPACE_END

REVAMP_DETAIL_BEGIN

using Concurrency::graphics::address_mode;
using Concurrency::graphics::filter_mode;

// The component type of a texel of type T, and the number of components: 0 if no texture has texels of type T.
template <class T> struct texel_type {
    typedef T scalar;
    static constexpr int size = 0;
};
#define REVAMP_TEXEL_TYPE(type, component, count)                                                                      \
    template <> struct texel_type<type> {                                                                              \
        typedef component scalar;                                                                                      \
        static constexpr int size = count;                                                                             \
    };
#define REVAMP_TEXEL_TYPES(component, name)                                                                            \
    REVAMP_TEXEL_TYPE(component, component, 1)                                                                         \
    REVAMP_TEXEL_TYPE(Concurrency::graphics::name##_2, component, 2)                                                   \
    REVAMP_TEXEL_TYPE(Concurrency::graphics::name##_4, component, 4)
REVAMP_TEXEL_TYPES(int, int)
REVAMP_TEXEL_TYPES(unsigned int, uint)
REVAMP_TEXEL_TYPES(float, float)
REVAMP_TEXEL_TYPES(norm, norm)
REVAMP_TEXEL_TYPES(unorm, unorm)
REVAMP_TEXEL_TYPE(Concurrency::graphics::int_3, int, 3)
REVAMP_TEXEL_TYPE(Concurrency::graphics::uint_3, unsigned int, 3)
REVAMP_TEXEL_TYPE(Concurrency::graphics::float_3, float, 3)
REVAMP_TEXEL_TYPE(double, double, 1)
REVAMP_TEXEL_TYPE(Concurrency::graphics::double_2, double, 2)
#undef REVAMP_TEXEL_TYPES
#undef REVAMP_TEXEL_TYPE

template <class T> using texel_scalar = typename texel_type<T>::scalar;
template <class T> constexpr int texel_size = texel_type<T>::size;
// True if components have fractions, so that texels can be filtered.
template <class T>
constexpr bool can_be_sampled = std::is_same_v<texel_scalar<T>, float> || is_normalized<texel_scalar<T>>;
// True if kernels can read and write texels of type T through the same texture or view.
template <class T>
constexpr bool is_read_write = std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, float>;

// The default number of bits of a component; 0 if T has no default.
template <class T>
constexpr unsigned default_bits = std::is_same_v<texel_scalar<T>, double> ? 64
                                  : is_normalized<texel_scalar<T>>        ? 0
                                                                          : 32;
template <class T> constexpr bool has_bits(unsigned bits) {
    typedef texel_scalar<T> S;
    if (std::is_same_v<S, double>) return bits == 64;
    if (texel_size<T> == 3) return bits == 32;
    if (is_normalized<S>) return bits == 8 || bits == 16;
    return bits == 16 || bits == 32 || (bits == 8 && std::is_integral_v<S>);
}

// Numbers as they are stored (docs/spec/textures.md#numbers).

constexpr float half_to_float(unsigned code) {
    const unsigned sign = (code & 0x8000) << 16, exponent = code >> 10 & 31, fraction = code & 0x3FF;
    // A denormal half is converted as an integer, because devices may flush denormal floats to 0. Both results are
    // computed, because a select is faster than a branch.
    const float small = static_cast<float>(static_cast<int>(fraction)) * (1.0f / 16777216.0f);
    const unsigned other = (exponent == 31 ? 0xFFU : exponent + 112) << 23 | fraction << 13;
    return __builtin_bit_cast(float, sign | (exponent == 0 ? __builtin_bit_cast(unsigned, small) : other));
}
// Rounds toward zero. Finite values out of range become the largest finite half.
constexpr unsigned float_to_half(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    const unsigned small =
        static_cast<unsigned>(static_cast<int>(__builtin_bit_cast(float, size < 0x38800000 ? size : 0) * 16777216.0f));
    const unsigned finite = size >= 0x47800000 ? 0x7BFF : size >= 0x38800000 ? (size - 0x38000000) >> 13 : small;
    const unsigned nan = 0x7E00 | (size >> 13 & 0x1FF);
    return sign | (size > 0x7F800000 ? nan : size == 0x7F800000 ? 0x7C00 : finite);
}

// Returns value / Steps for an integral `value`, rounded like a division on the host. Uses products, because devices
// divide less accurately and more slowly. `high` has the leading digits of 1 / Steps, so `value * high` is exact.
template <int Steps> constexpr float divide_by_constant(float value) {
#if defined(__clang__)
#pragma clang fp contract(off) // devices would fuse a product with the addition
#endif
    constexpr double leading = static_cast<double>((1 << 24) / Steps) / (1 << 24);
    constexpr float high = static_cast<float>(leading), low = static_cast<float>(1.0 / Steps - leading);
    return value * high + value * low;
}

// Conversions of components that are stored in `Bits` bits, at most 32. Components of 64 bits are double; other
// functions copy them unchanged. A norm or unorm component is stored as a number of steps. Filters compute with steps,
// and divide only the result by the maximum number of steps. Components of other types are not divided.
template <class S, unsigned Bits>
constexpr int max_steps = std::is_same_v<S, norm> ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
template <class S, unsigned Bits> constexpr float steps_of(unsigned code) {
    if constexpr (std::is_same_v<S, float>) {
        return Bits == 16 ? half_to_float(code) : __builtin_bit_cast(float, code);
    } else if constexpr (std::is_same_v<S, norm>) {
        // The two lowest codes have the same value.
        const int number = static_cast<int>(code << (32 - Bits)) >> (32 - Bits);
        return static_cast<float>(number < -max_steps<S, Bits> ? -max_steps<S, Bits> : number);
    } else {
        return static_cast<float>(static_cast<int>(code));
    }
}
template <class S, unsigned Bits> constexpr float value_of_steps(float steps) {
    if constexpr (is_normalized<S>)
        return divide_by_constant<max_steps<S, Bits>>(steps);
    else
        return steps;
}
template <class S, unsigned Bits> constexpr S component_of(unsigned code) {
    if constexpr (std::is_same_v<S, int>)
        return static_cast<int>(code << (32 - Bits)) >> (32 - Bits);
    else if constexpr (std::is_same_v<S, unsigned>)
        return code;
    else // the value is within the range of norm and unorm, so it need not be clamped
        return __builtin_bit_cast(S, value_of_steps<S, Bits>(steps_of<S, Bits>(code)));
}
template <class S, unsigned Bits> constexpr unsigned code_of(S value) {
    [[maybe_unused]] constexpr unsigned all = ~0U >> (32 - Bits);
    if constexpr (std::is_same_v<S, int>) {
        constexpr int most = static_cast<int>(all >> 1);
        return static_cast<unsigned>(value < -most - 1 ? -most - 1 : value > most ? most : value) & all;
    } else if constexpr (std::is_same_v<S, unsigned>) {
        return value < all ? value : all;
    } else if constexpr (std::is_same_v<S, float>) {
        return Bits == 16 ? float_to_half(value) : __builtin_bit_cast(unsigned, value);
    } else {
        constexpr float scale = static_cast<float>(std::is_same_v<S, norm> ? all >> 1 : all);
        // NaN becomes 0.
        const float number = value == value ? static_cast<float>(value) : 0.0f;
        const float half = std::is_same_v<S, norm> && number < 0.0f ? -0.5f : 0.5f;
        return static_cast<unsigned>(static_cast<int>(number * scale + half)) & all;
    }
}

// The components of a texel during filtering. Sampling functions pass them by value, because the kernel compiler does
// not follow pointers to locals that stay in memory.
template <class T> struct filtered {
    float c[texel_size<T>];

    REVAMP_HD static filtered of(const T &value) {
        if constexpr (texel_size<T> == 1)
            return {{value}};
        else if constexpr (texel_size<T> == 2)
            return {{value.x, value.y}};
        else if constexpr (texel_size<T> == 3)
            return {{value.x, value.y, value.z}};
        else
            return {{value.x, value.y, value.z, value.w}};
    }
    // Norm and unorm need no clamping: interpolation never leaves the range of its two operands, even after rounding.
    REVAMP_HD T value() const {
        if constexpr (texel_size<T> == 1)
            return component(0);
        else if constexpr (texel_size<T> == 2)
            return T(component(0), component(1));
        else if constexpr (texel_size<T> == 3)
            return T(component(0), component(1), component(2));
        else
            return T(component(0), component(1), component(2), component(3));
    }
    REVAMP_HD static filtered between(const filtered &from, const filtered &to, float weight) {
        return between(from, to, weight, std::make_integer_sequence<int, texel_size<T>>());
    }

    template <unsigned Bits> REVAMP_HD filtered steps_to_values() const {
        return steps_to_values<Bits>(std::make_integer_sequence<int, texel_size<T>>());
    }

  private:
    REVAMP_HD texel_scalar<T> component(int i) const { return __builtin_bit_cast(texel_scalar<T>, c[i]); }
    template <unsigned Bits, int... I> REVAMP_HD filtered steps_to_values(std::integer_sequence<int, I...>) const {
        return {{value_of_steps<texel_scalar<T>, Bits>(c[I])...}};
    }
    template <int... I>
    REVAMP_HD static filtered between(const filtered &from, const filtered &to, float weight,
                                      std::integer_sequence<int, I...>) {
        return {{(from.c[I] + (to.c[I] - from.c[I]) * weight)...}};
    }
};

// A texel with `Bits` bits per component: the words that store it, and conversions from words and to words. `at`: the
// index of the texel in memory.
template <class T, unsigned Bits> struct texel {
    typedef texel_scalar<T> S;
    static constexpr int size = texel_size<T>;
    static constexpr unsigned bytes = Bits / 8 * static_cast<unsigned>(size);
    // A texel of up to 32 bits is one word, so one access reads or writes it.
    typedef std::conditional_t<
        Bits == 64, std::uint64_t,
        std::conditional_t<bytes == 1, std::uint8_t, std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>>
        word;
    static constexpr int words = static_cast<int>(bytes / sizeof(word));
    static constexpr int components_per_word = size / words;

    static constexpr unsigned code(const word (&all)[words], int c) {
        return unsigned{all[c / components_per_word]} >> (static_cast<unsigned>(c % components_per_word) * Bits) &
               (~0U >> (32 - Bits));
    }
    static constexpr S decode(const word (&all)[words], int c) {
        if constexpr (Bits == 64)
            return __builtin_bit_cast(S, all[c]);
        else
            return component_of<S, Bits>(code(all, c));
    }
    template <int... I> static constexpr filtered<T> steps(const word (&all)[words], std::integer_sequence<int, I...>) {
        return {{steps_of<S, Bits>(code(all, I))...}};
    }
    static constexpr void encode(word (&all)[words], int c, S value) {
        if constexpr (Bits == 64)
            all[c] = __builtin_bit_cast(word, value);
        else
            all[c / components_per_word] =
                static_cast<word>(all[c / components_per_word] |
                                  code_of<S, Bits>(value) << (static_cast<unsigned>(c % components_per_word) * Bits));
    }

    REVAMP_HD static T load(const void *texels, element_offset at) {
        const word *from = static_cast<const word *>(texels) + at * words;
        word all[words];
        for (int w = 0; w < words; ++w)
            all[w] = from[w];
        if constexpr (size == 1)
            return decode(all, 0);
        else if constexpr (size == 2)
            return T(decode(all, 0), decode(all, 1));
        else if constexpr (size == 3)
            return T(decode(all, 0), decode(all, 1), decode(all, 2));
        else
            return T(decode(all, 0), decode(all, 1), decode(all, 2), decode(all, 3));
    }
    // Loads a texel for a filter, in steps.
    REVAMP_HD static filtered<T> load_steps(const void *texels, element_offset at) {
        const word *from = static_cast<const word *>(texels) + at * words;
        word all[words];
        for (int w = 0; w < words; ++w)
            all[w] = from[w];
        return steps(all, std::make_integer_sequence<int, size>());
    }
    REVAMP_HD static void store(void *texels, element_offset at, const T &value) {
        word all[words] = {};
        if constexpr (size == 1) {
            encode(all, 0, value);
        } else {
            encode(all, 0, value.x);
            encode(all, 1, value.y);
            if constexpr (size > 2) encode(all, 2, value.z);
            if constexpr (size > 3) encode(all, 3, value.w);
        }
        word *to = static_cast<word *>(texels) + at * words;
        for (int w = 0; w < words; ++w)
            to[w] = all[w];
    }
};

// Calls action.run<Bits>() with the run-time number of bits as a compile-time constant.
template <class T, class Action>
REVAMP_HD constexpr auto with_bits([[maybe_unused]] unsigned bits, const Action &action) {
    typedef texel_scalar<T> S;
    if constexpr (std::is_same_v<S, double>) {
        return action.template run<64>();
    } else if constexpr (texel_size<T> == 3) {
        return action.template run<32>();
    } else {
        if constexpr (!std::is_same_v<S, float>)
            if (bits == 8) return action.template run<8>();
        if constexpr (is_normalized<S>)
            return action.template run<16>();
        else
            return bits == 16 ? action.template run<16>() : action.template run<32>();
    }
}

// Consecutive levels of a texture, as kernels see them.
template <int N> struct texels {
    void *first;
    Concurrency::extent<N> extent;
    unsigned levels;
    unsigned bits;

    REVAMP_HD constexpr element_offset count() const {
        element_offset all = extent[0];
        for (unsigned d = 1; d < unsigned(N); ++d)
            all *= extent[d];
        return all;
    }
};

template <int N> REVAMP_HD constexpr Concurrency::extent<N> halved(const Concurrency::extent<N> &extent) {
    Concurrency::extent<N> half;
    for (unsigned d = 0; d < unsigned(N); ++d)
        half[d] = extent[d] > 1 ? extent[d] / 2 : 1;
    return half;
}
template <int N>
REVAMP_HD constexpr Concurrency::extent<N> level_extent(Concurrency::extent<N> extent, unsigned level) {
    // After 31 halvings every extent is 1.
    for (level = level < 31 ? level : 31; level > 0; --level)
        extent = halved(extent);
    return extent;
}
// One level of a texture. `texels_before`: the number of texels in all lower levels.
template <int N> struct texel_level {
    Concurrency::extent<N> extent;
    element_offset texels_before;
};
template <int N> REVAMP_HD constexpr texel_level<N> level_of(const texels<N> &all, unsigned level) {
    texel_level<N> at{all.extent, 0};
    for (; level > 0; --level) {
        at.texels_before += texels<N>{nullptr, at.extent, 1, 0}.count();
        at.extent = halved(at.extent);
    }
    return at;
}

template <int N>
REVAMP_HD constexpr bool is_inside(const Concurrency::extent<N> &extent, const Concurrency::index<N> &at) {
    bool inside = true;
    for (unsigned d = 0; d < unsigned(N); ++d)
        inside &= unsigned(at[d]) < unsigned(extent[d]);
    return inside;
}
template <int N>
REVAMP_HD constexpr element_offset offset_in(const Concurrency::extent<N> &extent, const Concurrency::index<N> &at) {
    element_offset offset = at[0];
    for (unsigned d = 1; d < unsigned(N); ++d)
        offset = offset * extent[d] + at[d];
    return offset;
}

template <class T> struct load_action {
    const void *first;
    element_offset at;
    template <unsigned Bits> REVAMP_HD T run() const { return texel<T, Bits>::load(first, at); }
};
template <class T> struct store_action {
    void *first;
    element_offset at;
    T value;
    template <unsigned Bits> REVAMP_HD void run() const { texel<T, Bits>::store(first, at, value); }
};

// The parameters of sampling (rules TEX-46 to TEX-59).
struct sampling {
    filter_mode filter;
    address_mode address;
    float border[4];
};

// The border colour as a T: norm and unorm clamp it.
template <class T, int... I> REVAMP_HD filtered<T> border_of(const sampling &how, std::integer_sequence<int, I...>) {
    return {{texel_scalar<T>(how.border[I])...}};
}
template <class T> REVAMP_HD filtered<T> border_of(const sampling &how) {
    return border_of<T>(how, std::make_integer_sequence<int, texel_size<T>>());
}

// The two texels on both sides of a coordinate, in one dimension. `weight`: the weight of the second texel, a multiple
// of 1/256 as in Direct3D. Point sampling uses only the first texel. Coordinates far outside the texture are clamped,
// so that texel numbers stay small. NaN counts as 0 (TEX-56).
struct texel_pair {
    int first, second;
    bool first_inside, second_inside;
    float weight;
};
REVAMP_HD inline int texel_index(int i, int size, address_mode address) {
    if (address == Concurrency::graphics::address_wrap) return i < 0 ? i + size : i >= size ? i - size : i;
    if (address == Concurrency::graphics::address_mirror) {
        // The period is 2 * size texels: forward and back.
        const int reflected = i >= size ? 2 * size - 1 - i : i;
        return reflected < 0 ? -1 - reflected : reflected;
    }
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}
REVAMP_HD inline texel_pair texels_at(float coordinate, int size, filter_mode filter, address_mode address) {
#if defined(__clang__)
#pragma clang fp contract(off) // so that all devices compute the same weights
#endif
    float wrapped;
    if (address == Concurrency::graphics::address_wrap)
        wrapped = coordinate - __builtin_floorf(coordinate);
    else if (address == Concurrency::graphics::address_mirror)
        wrapped = coordinate - 2.0f * __builtin_floorf(coordinate * 0.5f);
    else
        wrapped = coordinate > 10.0f ? 10.0f : coordinate;
    const float least = address >= Concurrency::graphics::address_clamp ? -10.0f : 0.0f;
    // TEX-56: NaN counts as 0, also if it is the difference of two infinities above.
    wrapped = wrapped != wrapped ? 0.0f : wrapped > least ? wrapped : least;
    const float place = wrapped * static_cast<float>(size);
    int first;
    float weight = 0.0f;
    if (filter == Concurrency::graphics::filter_point) {
        first = static_cast<int>(__builtin_floorf(place));
        // Rounding may have produced `size`, one past the last texel.
        if (address == Concurrency::graphics::address_wrap && first >= size) first = size - 1;
    } else {
        const int steps = static_cast<int>(__builtin_floorf(place * 256.0f + 0.5f)) - 128;
        first = steps >> 8;
        weight = static_cast<float>(steps & 255) * (1.0f / 256.0f);
    }
    return {texel_index(first, size, address), texel_index(first + 1, size, address), unsigned(first) < unsigned(size),
            unsigned(first + 1) < unsigned(size), weight};
}

// The coordinates in the order x, y, z. x belongs to the last dimension.
template <int N> struct coordinates { float c[N]; };

// Filters one level, dimension by dimension. D: the current dimension.
template <class T, int N, unsigned Bits> struct sampled_level {
    const void *first;
    texel_level<N> level;
    texel_pair pairs[N];
    sampling how;

    REVAMP_HD sampled_level(const void *texels, const texel_level<N> &of, const coordinates<N> &at, filter_mode filter,
                            const sampling &by)
        : first(texels), level(of), how(by) {
        // This is not a loop, because the optimiser would then split the array into separate values too late.
        pairs[0] = texels_at(at.c[N - 1], level.extent[0], filter, how.address);
        if constexpr (N > 1) pairs[1] = texels_at(at.c[N - 2], level.extent[1], filter, how.address);
        if constexpr (N > 2) pairs[2] = texels_at(at.c[N - 3], level.extent[2], filter, how.address);
    }
    template <int D> REVAMP_HD filtered<T> along(element_offset offset, bool inside, bool linear) const {
        if constexpr (D == N) {
            // The border colour is a value, not a number of steps, so texels are converted to values before filtering.
            const filtered<T> here = texel<T, Bits>::load_steps(first, level.texels_before + offset);
            if (how.address != Concurrency::graphics::address_border) return here;
            return inside ? here.template steps_to_values<Bits>() : border_of<T>(how);
        } else {
            const texel_pair &pair = pairs[D];
            const element_offset row = offset * level.extent[unsigned(D)];
            const filtered<T> one = along<D + 1>(row + pair.first, inside & pair.first_inside, linear);
            if (!linear) return one;
            const filtered<T> other = along<D + 1>(row + pair.second, inside & pair.second_inside, linear);
            return filtered<T>::between(one, other, pair.weight);
        }
    }
    REVAMP_HD filtered<T> result(bool linear) const {
        const filtered<T> all = along<0>(0, true, linear);
        return how.address == Concurrency::graphics::address_border ? all : all.template steps_to_values<Bits>();
    }
};

template <class T, int N> struct sample_action {
    texels<N> all;
    sampling how;
    coordinates<N> at;
    float detail;

    template <unsigned Bits> REVAMP_HD filtered<T> level(unsigned number) const {
        const bool linear = how.filter != Concurrency::graphics::filter_point;
        const sampled_level<T, N, Bits> one(all.first, level_of(all, number), at, how.filter, how);
        return one.result(linear);
    }
    // Linear filtering of the first level, with the address mode as a compile-time constant.
    template <unsigned Bits, address_mode Address> REVAMP_HD T sample_first_level() const {
        sampling by = how;
        by.address = Address;
        const sampled_level<T, N, Bits> one(all.first, texel_level<N>{all.extent, 0}, at,
                                            Concurrency::graphics::filter_linear, by);
        return one.result(true).value();
    }
    template <unsigned Bits> REVAMP_HD T run() const {
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
        // Without these special cases, a host processor would test the address mode for every texel.
        if (REVAMP_FOR_HOST && how.filter != Concurrency::graphics::filter_point && !(detail > 0.0f)) {
            if (how.address == Concurrency::graphics::address_clamp)
                return sample_first_level<Bits, Concurrency::graphics::address_clamp>();
            if (how.address == Concurrency::graphics::address_wrap)
                return sample_first_level<Bits, Concurrency::graphics::address_wrap>();
        }
        // A `detail` of NaN counts as 0. If the compiler knows that `detail` is 0, it removes the code for other
        // levels.
        const float last = static_cast<float>(static_cast<int>(all.levels - 1));
        const float lod = detail < last ? detail : last;
        if (how.filter == Concurrency::graphics::filter_point)
            return level<Bits>(detail > 0.0f ? static_cast<unsigned>(static_cast<int>(lod + 0.5f)) : 0).value();
        const int steps = detail > 0.0f ? static_cast<int>(lod * 256.0f + 0.5f) : 0;
        const filtered<T> one = level<Bits>(static_cast<unsigned>(steps >> 8));
        if ((steps & 255) == 0) return one.value();
        const filtered<T> next = level<Bits>(static_cast<unsigned>(steps >> 8) + 1);
        return filtered<T>::between(one, next, static_cast<float>(steps & 255) * (1.0f / 256.0f)).value();
    }
};

template <class T, int Component> struct gather_action {
    texels<2> all;
    sampling how;
    coordinates<2> place;

    template <unsigned Bits> REVAMP_HD float one(int row, int column, bool inside) const {
        if (how.address == Concurrency::graphics::address_border && !inside) return border_of<T>(how).c[Component];
        const element_offset at = element_offset(row) * all.extent[1] + column;
        return filtered<T>::of(texel<T, Bits>::load(all.first, at)).c[Component];
    }
    template <unsigned Bits>
    REVAMP_HD typename Concurrency::graphics::short_vector<texel_scalar<T>, 4>::type run() const {
        typedef texel_scalar<T> S;
        const sampled_level<T, 2, Bits> from(all.first, texel_level<2>{all.extent, 0}, place,
                                             Concurrency::graphics::filter_linear, how);
        const texel_pair &row = from.pairs[0], &column = from.pairs[1];
        // Counter-clockwise from the lower left; the lower row has the larger index.
        return {S(one<Bits>(row.second, column.first, row.second_inside & column.first_inside)),
                S(one<Bits>(row.second, column.second, row.second_inside & column.second_inside)),
                S(one<Bits>(row.first, column.second, row.first_inside & column.second_inside)),
                S(one<Bits>(row.first, column.first, row.first_inside & column.first_inside))};
    }
};

#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST
#define REVAMP_WITH_IMAGES 1

// True if images can have texels of type T.
template <class T> constexpr bool is_in_images = texel_size<T> != 3 && !std::is_same_v<texel_scalar<T>, double>;

// Converts a component of a texel that was read from an image. A norm or unorm is in range already. `number`: true if
// the component cannot be NaN, so that a later write need not check this. A border colour may be NaN.
template <class S, class Word> REVAMP_HD S component_from(Word word, [[maybe_unused]] bool number) {
    if constexpr (is_normalized<S>) {
        __builtin_assume(!number || word == word);
        return __builtin_bit_cast(S, word);
    } else {
        return S(word);
    }
}
template <class T, class Four> REVAMP_HD T texel_of(const Four &four, bool number = true) {
    typedef texel_scalar<T> S;
    if constexpr (texel_size<T> == 1)
        return component_from<S>(four.x, number);
    else if constexpr (texel_size<T> == 2)
        return T(component_from<S>(four.x, number), component_from<S>(four.y, number));
    else
        return T(component_from<S>(four.x, number), component_from<S>(four.y, number),
                 component_from<S>(four.z, number), component_from<S>(four.w, number));
}
template <class T, int N> REVAMP_HD T fetch_image(const void *texels, const Concurrency::index<N> &at, int level) {
    const int x = at[N - 1];
    int y = 0, z = 0;
    if constexpr (N > 1) y = at[N - 2];
    if constexpr (N > 2) z = at[N - 3];
    if constexpr (std::is_same_v<texel_scalar<T>, int>)
        return texel_of<T>(__revamp_image_fetch_i(texels, N, x, y, z, level));
    else if constexpr (std::is_same_v<texel_scalar<T>, unsigned>)
        return texel_of<T>(__revamp_image_fetch_u(texels, N, x, y, z, level));
    else
        return texel_of<T>(__revamp_image_fetch_f(texels, N, x, y, z, level));
}
template <class T, int N>
REVAMP_HD T sample_image(const void *texels, const sampling &how, const coordinates<N> &at, float detail) {
    float y = 0.0f, z = 0.0f, level = detail > 0.0f ? detail : 0.0f;
    if constexpr (N > 1) y = at.c[1];
    if constexpr (N > 2) z = at.c[2];
    // Rounds up halfway between two levels, where Vulkan would round down.
    if (how.filter == Concurrency::graphics::filter_point) level = __builtin_floorf(level + 0.5f);
    return texel_of<T>(__revamp_image_sample(texels, N, how.filter, how.address, at.c[0], y, z, level),
                       how.address != Concurrency::graphics::address_border);
}
#endif

// The operations of kernels on textures.

// Returns the texel at an index of a level. If the index is outside of the level, all components are 0. `only_read`:
// false for views that kernels also write. The texels of these views are read from memory, never from an image.
template <class T, int N>
REVAMP_HD T fetch_texel(const texels<N> &from, const Concurrency::index<N> &at, unsigned level = 0,
                        [[maybe_unused]] bool only_read = true) {
#ifdef REVAMP_WITH_IMAGES
    if constexpr (is_in_images<T>) {
        if (only_read && __revamp_with_images()) {
            // Vulkan does not require devices to check the level.
            if (level > 0 && level >= from.levels) return T();
            return fetch_image<T, N>(from.first, at, static_cast<int>(level));
        }
    }
#endif
    texel_level<N> one{from.extent, 0};
    bool inside = true;
    if (level > 0) {
        inside = level < from.levels;
        one = level_of(from, inside ? level : 0);
    }
    inside &= is_inside(one.extent, at);
    // If the index is outside, this reads the first texel, which always exists: a read costs less than a branch.
    const T value =
        with_bits<T>(from.bits, load_action<T>{from.first, inside ? one.texels_before + offset_in(one.extent, at) : 0});
    return inside ? value : T();
}
// Writes outside the extent are dropped.
template <class T, int N>
REVAMP_HD void store_texel(const texels<N> &to, const Concurrency::index<N> &at, const T &value) {
    if (is_inside(to.extent, at)) with_bits<T>(to.bits, store_action<T>{to.first, offset_in(to.extent, at), value});
}
template <class T, int N>
REVAMP_HD T sample_texels(const texels<N> &from, const sampling &how, const coordinates<N> &at, float detail) {
#ifdef REVAMP_WITH_IMAGES
    if constexpr (is_in_images<T>)
        if (__revamp_with_images()) return sample_image<T, N>(from.first, how, at, detail);
#endif
    return with_bits<T>(from.bits, sample_action<T, N>{from, how, at, detail});
}
// Gathers one component of four texels. If T lacks the component, the result is 0, or 1 for the fourth component.
template <int Component, class T>
REVAMP_HD typename Concurrency::graphics::short_vector<texel_scalar<T>, 4>::type
gather_texels(const texels<2> &from, const sampling &how, const coordinates<2> &at) {
    typedef texel_scalar<T> S;
    if constexpr (Component >= texel_size<T>) {
        return S(Component == 3 ? 1.0f : 0.0f);
    } else {
#ifdef REVAMP_WITH_IMAGES
        if constexpr (is_in_images<T>) {
            if (__revamp_with_images())
                return texel_of<typename Concurrency::graphics::short_vector<S, 4>::type>(
                    __revamp_image_gather(from.first, Component, how.filter, how.address, at.c[0], at.c[1], 0.0f, 0.0f),
                    how.address != Concurrency::graphics::address_border);
        }
#endif
        return with_bits<T>(from.bits, gather_action<T, Component>{from, how, at});
    }
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_TEXELS_H
