// revamp: the elements, iterators and containers that the templates of C++ AMP accept (docs/spec/arrays.md,
// docs/spec/language.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_ELEMENT_H
#define REVAMP_DETAIL_ELEMENT_H

#include "config.h"

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

REVAMP_NAMESPACE_BEGIN

template <class T, int N> class array;
template <class T, int N> class array_view;
class accelerator;
class accelerator_view;
namespace graphics {
template <class T, int N> class texture;
template <class T, int N> class texture_view;
template <class T, int N> class writeonly_texture_view;
} // namespace graphics

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

template <class T> constexpr bool is_view_or_array = false;
template <class T, int N> constexpr bool is_view_or_array<Concurrency::array<T, N>> = true;
template <class T, int N> constexpr bool is_view_or_array<Concurrency::array_view<T, N>> = true;
template <class> constexpr bool is_texture_or_view = false;
template <class T, int N> constexpr bool is_texture_or_view<Concurrency::graphics::texture<T, N>> = true;
template <class T, int N> constexpr bool is_texture_or_view<Concurrency::graphics::texture_view<T, N>> = true;
template <class T, int N> constexpr bool is_texture_or_view<Concurrency::graphics::writeonly_texture_view<T, N>> = true;

template <class T>
constexpr bool is_small_integer =
    std::is_same_v<T, char> || std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char> ||
    std::is_same_v<T, short> || std::is_same_v<T, unsigned short> || std::is_same_v<T, wchar_t> ||
    std::is_same_v<T, char16_t>;

// The requirements on elements of arrays and views.
template <class T> struct element {
    static_assert(!std::is_reference_v<T>, "the elements of an array or array_view must not be references");
    typedef std::remove_const_t<T> value;
    static_assert(!std::is_pointer_v<value> && !std::is_member_pointer_v<value>,
                  "the elements of an array or array_view must not be pointers");
    static_assert(!is_small_integer<value> && !std::is_same_v<value, bool>,
                  "the elements of an array or array_view must not be char, short or bool: their size must be a "
                  "multiple of 4 bytes");
    static_assert(!std::is_polymorphic_v<value>,
                  "the elements of an array or array_view must not have virtual functions");
    static_assert(!std::is_volatile_v<T>, "the elements of an array or array_view must not be volatile");
    static_assert(sizeof(value) % 4 == 0,
                  "the size of the elements of an array or array_view must be a multiple of 4 bytes");
    static_assert(!is_view_or_array<value>, "the elements of an array or array_view must not be arrays or array_views");
    static_assert(!is_texture_or_view<value>,
                  "the elements of an array or array_view must not be textures or views of textures");
    static_assert(!std::is_same_v<value, Concurrency::accelerator> &&
                      !std::is_same_v<value, Concurrency::accelerator_view>,
                  "the elements of an array or array_view must not be accelerators or accelerator_views");
    static constexpr bool meets_requirements = true;
};

template <class It, class = void> constexpr bool is_iterator = false;
template <class It>
constexpr bool is_iterator<It, std::void_t<typename std::iterator_traits<It>::iterator_category>> = true;

template <class C, class = void> constexpr bool is_container = false;
template <class C>
constexpr bool
    is_container<C, std::void_t<decltype(std::declval<C &>().data()), decltype(std::declval<C &>().size())>> =
        !std::is_array_v<C>;

// The element type of a container, const if the container's elements are.
template <class C> using container_element = std::remove_pointer_t<decltype(std::declval<C &>().data())>;

// `value` is true if the iterator's elements are contiguous in memory; address() gives their address.
template <class It, class = void> struct contiguous { static constexpr bool value = false; };
template <class T> struct contiguous<T *> {
    static constexpr bool value = true;
    static T *address(T *at) { return at; }
};
#if defined(__GLIBCXX__)
template <class T, class C> struct contiguous<__gnu_cxx::__normal_iterator<T *, C>> {
    static constexpr bool value = true;
    static T *address(const __gnu_cxx::__normal_iterator<T *, C> &at) { return at.base(); }
};
#elif defined(__cpp_lib_concepts)
template <class It> struct contiguous<It, std::enable_if_t<std::contiguous_iterator<It>>> {
    static constexpr bool value = true;
    static auto address(const It &at) { return std::to_address(at); }
};
#endif

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_ELEMENT_H
