// revamp: copy and copy_async of textures and their views (docs/spec/textures.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_TEXTURE_COPY_H
#define REVAMP_DETAIL_TEXTURE_COPY_H

#include "completion.h"
#include "config.h"
#include "copy.h"
#include "copy_memory.h"
#include "exceptions.h"
#include "texture.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

REVAMP_DETAIL_BEGIN

// A texture or view, or a section of it, as one side of a copy. Must live until the copy has been started.
struct texture_side {
    revamp_texture_region region;
    int origin[3] = {}, extent[3] = {};
    // The number of texels.
    std::size_t count;

    template <class X> explicit texture_side(const X &all) : region(texture_access::part(all).region()) {
        count = texel_count(all.extent, region.level_count);
    }
    template <class X, int N>
    texture_side(const X &all, const Concurrency::index<N> &from, const Concurrency::extent<N> &size)
        : region(texture_access::part(all).region(origin, extent)) {
        static_assert(N == X::rank, "the index and extent of a section must have the rank of the texture");
        bool inside = true;
        for (int d = 0; d < N; ++d) {
            origin[d] = from[d];
            extent[d] = size[d];
            inside = inside && from[d] >= 0 && size[d] > 0 && size[d] <= all.extent[d] - from[d];
        }
        // The library rejects an invalid section, so no memory for its texels is needed.
        count = inside ? count_of(size) : 0;
    }
    texture_side(const texture_side &) = delete;
};

// Copies by iterators need texels that are stored with the size of T.
template <class T, class X> void check_iterated(const X &all) {
    static_assert(default_bits<T> != 0,
                  "textures of norm and unorm cannot be copied by iterators, because their texels have fewer bits than "
                  "the iterators' elements; pass a pointer and a number of bytes");
    if (all.bits_per_scalar_element != default_bits<T>)
        refuse_texture(
            "a copy by iterators was requested for a texture of " + std::to_string(all.bits_per_scalar_element) +
            " bits per scalar element, whose texels have fewer bits than the iterators' elements; pass a pointer and "
            "a number of bytes");
}

inline Concurrency::completion_future to_texture_async(const void *source, std::size_t bytes,
                                                       const texture_side &destination) {
    revamp_completion done = nullptr;
    check(revamp_copy_to_texture_async(source, bytes, &destination.region, nullptr, &done));
    return access::adopt(done);
}
inline Concurrency::completion_future from_texture_async(const texture_side &source, void *destination,
                                                         std::size_t bytes) {
    revamp_completion done = nullptr;
    check(revamp_copy_from_texture_async(&source.region, destination, bytes, nullptr, &done));
    return access::adopt(done);
}

template <class T, class It> void iterators_to_texture(It first, It last, const texture_side &destination) {
    from_range_of_at_least<T>(first, last, destination.count, [&](const T *elements, std::size_t bytes) {
        check(revamp_copy_to_texture(elements, bytes, &destination.region));
    });
}
template <class T, class It>
Concurrency::completion_future iterators_to_texture_async(It first, It last, const texture_side &destination) {
    if constexpr (is_memory_of<T, It>) {
        Concurrency::completion_future done;
        from_range_of_at_least<T>(first, last, destination.count, [&](const T *elements, std::size_t bytes) {
            done = to_texture_async(elements, bytes, destination);
        });
        return done;
    } else {
        const auto nothing_more = [](std::vector<T> &) {};
        typedef pending_copy<std::vector<T>, std::remove_const_t<decltype(nothing_more)>> pending;
        std::unique_ptr<pending> kept(new pending{{}, nothing_more});
        from_range_of_at_least<T>(first, last, destination.count, [&](const T *elements, std::size_t) {
            kept->elements.assign(elements, elements + destination.count);
        });
        const auto underlying = to_texture_async(kept->elements.data(), destination.count * sizeof(T), destination);
        return pending::start(std::move(kept), underlying);
    }
}
template <class T, class Out> void texture_to_iterator(const texture_side &source, Out out) {
    static_assert(check_output<T, Out>(), "");
    if constexpr (is_memory_of<T, Out>) {
        check(revamp_copy_from_texture(&source.region, contiguous<Out>::address(out), source.count * sizeof(T)));
    } else {
        raw_elements<T> elements(source.count);
        check(revamp_copy_from_texture(&source.region, elements.begin(), source.count * sizeof(T)));
        write_all(elements, out);
    }
}
template <class T, class Out>
Concurrency::completion_future texture_to_iterator_async(const texture_side &source, Out out) {
    static_assert(check_output<T, Out>(), "");
    if constexpr (is_memory_of<T, Out>) {
        return from_texture_async(source, contiguous<Out>::address(out), source.count * sizeof(T));
    } else {
        const auto write = [out](raw_elements<T> &elements) { write_all(elements, out); };
        typedef pending_copy<raw_elements<T>, std::remove_const_t<decltype(write)>> pending;
        std::unique_ptr<pending> kept(new pending{raw_elements<T>(source.count), write});
        const auto underlying = from_texture_async(source, kept->elements.begin(), source.count * sizeof(T));
        return pending::start(std::move(kept), underlying);
    }
}
inline void between_textures(const texture_side &source, const texture_side &destination) {
    check(revamp_copy_texture(&source.region, &destination.region));
}
inline Concurrency::completion_future between_textures_async(const texture_side &source,
                                                             const texture_side &destination) {
    revamp_completion done = nullptr;
    check(revamp_copy_texture_async(&source.region, &destination.region, nullptr, &done));
    return access::adopt(done);
}

template <class T> constexpr bool check_written() {
    static_assert(!std::is_const_v<T>, "a texture_view<const T, N> is read-only; copy to the texture, or to a "
                                       "texture_view<T, N>");
    return true;
}
template <class T, int N, class U, int M> constexpr bool check_pair() {
    static_assert(N == M, "textures of different rank cannot be copied to each other");
    static_assert(!std::is_const_v<U>, "a texture_view<const T, N> is read-only; copy to the texture, or to a "
                                       "texture_view<T, N>");
    return true;
}
// True for iterators, but not for void pointers.
template <class It> struct is_range { static constexpr bool value = is_iterator<It>; };
template <> struct is_range<void *> { static constexpr bool value = false; };
template <> struct is_range<const void *> { static constexpr bool value = false; };
template <class It> using if_range = std::enable_if_t<is_range<It>::value>;

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN
namespace graphics {

#define REVAMP_COMMA ,

#define REVAMP_COPY_FROM(Source)                                                                                       \
    template <class T, int N> void copy(const Source &source, void *destination, unsigned destination_size) {          \
        const revamp::detail::texture_side side(source);                                                               \
        revamp::detail::check(revamp_copy_from_texture(&side.region, destination, destination_size));                  \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    void copy(const Source &source, const index<N> &offset, const extent<N> &size, void *destination,                  \
              unsigned destination_size) {                                                                             \
        const revamp::detail::texture_side side(source, offset, size);                                                 \
        revamp::detail::check(revamp_copy_from_texture(&side.region, destination, destination_size));                  \
    }                                                                                                                  \
    template <class T, int N, class Out, class = revamp::detail::if_range<Out>>                                        \
    void copy(const Source &source, Out out) {                                                                         \
        revamp::detail::check_iterated<std::remove_const_t<T>>(source);                                                \
        revamp::detail::texture_to_iterator<std::remove_const_t<T>>(revamp::detail::texture_side(source), out);        \
    }                                                                                                                  \
    template <class T, int N, class Out, class = revamp::detail::if_range<Out>>                                        \
    void copy(const Source &source, const index<N> &offset, const extent<N> &size, Out out) {                          \
        revamp::detail::check_iterated<std::remove_const_t<T>>(source);                                                \
        revamp::detail::texture_to_iterator<std::remove_const_t<T>>(                                                   \
            revamp::detail::texture_side(source, offset, size), out);                                                  \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    completion_future copy_async(const Source &source, void *destination, unsigned destination_size) {                 \
        return revamp::detail::from_texture_async(revamp::detail::texture_side(source), destination,                   \
                                                  destination_size);                                                   \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    completion_future copy_async(const Source &source, const index<N> &offset, const extent<N> &size,                  \
                                 void *destination, unsigned destination_size) {                                       \
        return revamp::detail::from_texture_async(revamp::detail::texture_side(source, offset, size), destination,     \
                                                  destination_size);                                                   \
    }                                                                                                                  \
    template <class T, int N, class Out, class = revamp::detail::if_range<Out>>                                        \
    completion_future copy_async(const Source &source, Out out) {                                                      \
        revamp::detail::check_iterated<std::remove_const_t<T>>(source);                                                \
        return revamp::detail::texture_to_iterator_async<std::remove_const_t<T>>(revamp::detail::texture_side(source), \
                                                                                 out);                                 \
    }                                                                                                                  \
    template <class T, int N, class Out, class = revamp::detail::if_range<Out>>                                        \
    completion_future copy_async(const Source &source, const index<N> &offset, const extent<N> &size, Out out) {       \
        revamp::detail::check_iterated<std::remove_const_t<T>>(source);                                                \
        return revamp::detail::texture_to_iterator_async<std::remove_const_t<T>>(                                      \
            revamp::detail::texture_side(source, offset, size), out);                                                  \
    }
REVAMP_COPY_FROM(texture<T REVAMP_COMMA N>)
REVAMP_COPY_FROM(texture_view<T REVAMP_COMMA N>)
#undef REVAMP_COPY_FROM

#define REVAMP_COPY_TO(Destination)                                                                                    \
    template <class T, int N> void copy(const void *source, unsigned source_size, Destination &destination) {          \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        const revamp::detail::texture_side side(destination);                                                          \
        revamp::detail::check(revamp_copy_to_texture(source, source_size, &side.region));                              \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    void copy(const void *source, unsigned source_size, Destination &destination, const index<N> &offset,              \
              const extent<N> &size) {                                                                                 \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        const revamp::detail::texture_side side(destination, offset, size);                                            \
        revamp::detail::check(revamp_copy_to_texture(source, source_size, &side.region));                              \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_range<It>>                                          \
    void copy(It first, It last, Destination &destination) {                                                           \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        revamp::detail::check_iterated<T>(destination);                                                                \
        revamp::detail::iterators_to_texture<T>(first, last, revamp::detail::texture_side(destination));               \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_range<It>>                                          \
    void copy(It first, It last, Destination &destination, const index<N> &offset, const extent<N> &size) {            \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        revamp::detail::check_iterated<T>(destination);                                                                \
        revamp::detail::iterators_to_texture<T>(first, last, revamp::detail::texture_side(destination, offset, size)); \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    completion_future copy_async(const void *source, unsigned source_size, Destination &destination) {                 \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        return revamp::detail::to_texture_async(source, source_size, revamp::detail::texture_side(destination));       \
    }                                                                                                                  \
    template <class T, int N>                                                                                          \
    completion_future copy_async(const void *source, unsigned source_size, Destination &destination,                   \
                                 const index<N> &offset, const extent<N> &size) {                                      \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        return revamp::detail::to_texture_async(source, source_size,                                                   \
                                                revamp::detail::texture_side(destination, offset, size));              \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_range<It>>                                          \
    completion_future copy_async(It first, It last, Destination &destination) {                                        \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        revamp::detail::check_iterated<T>(destination);                                                                \
        return revamp::detail::iterators_to_texture_async<T>(first, last, revamp::detail::texture_side(destination));  \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_range<It>>                                          \
    completion_future copy_async(It first, It last, Destination &destination, const index<N> &offset,                  \
                                 const extent<N> &size) {                                                              \
        static_assert(revamp::detail::check_written<T>(), "");                                                         \
        revamp::detail::check_iterated<T>(destination);                                                                \
        return revamp::detail::iterators_to_texture_async<T>(first, last,                                              \
                                                             revamp::detail::texture_side(destination, offset, size)); \
    }
REVAMP_COPY_TO(texture<T REVAMP_COMMA N>)
REVAMP_COPY_TO(const texture_view<T REVAMP_COMMA N>)
REVAMP_COPY_TO(const writeonly_texture_view<T REVAMP_COMMA N>)
#undef REVAMP_COPY_TO

#define REVAMP_COPY_PAIR(Source, Destination)                                                                          \
    template <class T, int N, class U, int M> void copy(const Source &source, Destination &destination) {              \
        static_assert(revamp::detail::check_pair<T, N, U, M>(), "");                                                   \
        revamp::detail::between_textures(revamp::detail::texture_side(source),                                         \
                                         revamp::detail::texture_side(destination));                                   \
    }                                                                                                                  \
    template <class T, int N, class U, int M>                                                                          \
    void copy(const Source &source, const index<N> &source_offset, Destination &destination,                           \
              const index<M> &destination_offset, const extent<N> &size) {                                             \
        static_assert(revamp::detail::check_pair<T, N, U, M>(), "");                                                   \
        revamp::detail::between_textures(revamp::detail::texture_side(source, source_offset, size),                    \
                                         revamp::detail::texture_side(destination, destination_offset, size));         \
    }                                                                                                                  \
    template <class T, int N, class U, int M>                                                                          \
    completion_future copy_async(const Source &source, Destination &destination) {                                     \
        static_assert(revamp::detail::check_pair<T, N, U, M>(), "");                                                   \
        return revamp::detail::between_textures_async(revamp::detail::texture_side(source),                            \
                                                      revamp::detail::texture_side(destination));                      \
    }                                                                                                                  \
    template <class T, int N, class U, int M>                                                                          \
    completion_future copy_async(const Source &source, const index<N> &source_offset, Destination &destination,        \
                                 const index<M> &destination_offset, const extent<N> &size) {                          \
        static_assert(revamp::detail::check_pair<T, N, U, M>(), "");                                                   \
        return revamp::detail::between_textures_async(                                                                 \
            revamp::detail::texture_side(source, source_offset, size),                                                 \
            revamp::detail::texture_side(destination, destination_offset, size));                                      \
    }
REVAMP_COPY_PAIR(texture<T REVAMP_COMMA N>, texture<U REVAMP_COMMA M>)
REVAMP_COPY_PAIR(texture<T REVAMP_COMMA N>, const texture_view<U REVAMP_COMMA M>)
REVAMP_COPY_PAIR(texture<T REVAMP_COMMA N>, const writeonly_texture_view<U REVAMP_COMMA M>)
REVAMP_COPY_PAIR(texture_view<T REVAMP_COMMA N>, texture<U REVAMP_COMMA M>)
REVAMP_COPY_PAIR(texture_view<T REVAMP_COMMA N>, const texture_view<U REVAMP_COMMA M>)
REVAMP_COPY_PAIR(texture_view<T REVAMP_COMMA N>, const writeonly_texture_view<U REVAMP_COMMA M>)
#undef REVAMP_COPY_PAIR
#undef REVAMP_COMMA

} // namespace graphics
REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_TEXTURE_COPY_H
