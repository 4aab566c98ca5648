// revamp: copy and copy_async (docs/spec/copies.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_COPY_H
#define REVAMP_DETAIL_COPY_H

#include "array.h"
#include "completion.h"
#include "config.h"
#include "copy_memory.h"
#include "exceptions.h"
#include "view.h"

#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

REVAMP_DETAIL_BEGIN

template <class T, int N> revamp_region region_of(const array<T, N> &array) {
    return array_access::region(array);
}

inline Concurrency::completion_future copy_regions_async(const revamp_region &source, const revamp_region &destination,
                                                         const revamp_async_options *options = nullptr) {
    revamp_completion done = nullptr;
    check(revamp_copy_async(&source, &destination, options, &done));
    return access::adopt(done);
}

// Copies from an iterator, or from a range.
template <class T, int N, class It, class Destination>
void copy_in(It begin, const Concurrency::extent<N> &extent, Destination &destination) {
    from_iterator<T>(begin, count_of(extent), [&](const T *elements, std::size_t) {
        const host_region<N> source(elements, extent);
        copy_regions(source, region_of(destination));
    });
}
template <class T, int N, class It, class Destination>
void copy_in(It begin, It end, const Concurrency::extent<N> &extent, Destination &destination) {
    from_range<T>(begin, end, count_of(extent), [&](const T *elements, std::size_t) {
        const host_region<N> source(elements, extent);
        copy_regions(source, region_of(destination));
    });
}

// Elements are converted without warnings, as in std::copy.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
template <class T, class Out> constexpr bool check_output() {
    static_assert(std::is_assignable_v<decltype(*std::declval<Out &>()), const T &>,
                  "the destination iterator of a copy must accept the elements of the array or array_view");
    return true;
}
template <class T, class Out> void write_all(raw_elements<T> &elements, Out out) {
    for (const T &element : elements) {
        *out = element;
        ++out;
    }
}
#pragma GCC diagnostic pop

// Copies to an iterator.
template <class T, int N, class Source, class Out>
void copy_out(const Source &source, const Concurrency::extent<N> &extent, Out out) {
    static_assert(check_output<T, Out>(), "");
    if constexpr (is_memory_of<T, Out>) {
        const host_region<N> destination(contiguous<Out>::address(out), extent);
        copy_regions(region_of(source), destination);
    } else {
        raw_elements<T> elements(count_of(extent));
        const host_region<N> destination(elements.begin(), extent);
        copy_regions(region_of(source), destination);
        write_all(elements, out);
    }
}

// Keeps `elements` alive until an operation is done, then calls `finish`.
template <class Elements, class Finish> struct pending_copy {
    Elements elements;
    Finish finish;
    std::shared_ptr<task_state<void>> state = std::make_shared<task_state<void>>();

    static void done(revamp_status status, void *context) noexcept {
        acquire_order();
        const std::unique_ptr<pending_copy> self(static_cast<pending_copy *>(context));
        std::exception_ptr failure = exception_of(status);
        if (!failure) {
            try {
                self->finish(self->elements);
            } catch (...) {
                failure = std::current_exception();
            }
        }
        if (failure)
            self->state->set_exception(failure);
        else
            self->state->set_value({});
    }
    // Passes `self` to the callback of the completion. The callback destroys `self`.
    static Concurrency::completion_future start(std::unique_ptr<pending_copy> self,
                                                const Concurrency::completion_future &operation) {
        std::shared_ptr<task_state<void>> state = self->state;
        release_order();
        try {
            check(revamp_completion_then(access::native(operation), &pending_copy::done, self.get()));
        } catch (...) {
            // The copy uses the memory of `self` until the copy is done.
            const revamp_status ended = revamp_completion_wait(access::native(operation));
            (void)ended; // ignored: the original exception is rethrown
            throw;
        }
        (void)self.release();
        return access::make(std::move(state));
    }
};

// Copies `elements`, and keeps them alive until the copy is done.
template <class T, int N, class Destination>
Concurrency::completion_future copy_kept_async(std::vector<T> elements, const Concurrency::extent<N> &extent,
                                               Destination &destination) {
    const auto nothing_more = [](std::vector<T> &) {};
    typedef pending_copy<std::vector<T>, std::remove_const_t<decltype(nothing_more)>> pending;
    std::unique_ptr<pending> kept(new pending{std::move(elements), nothing_more});
    const host_region<N> source(kept->elements.data(), extent);
    const Concurrency::completion_future operation = copy_regions_async(source, region_of(destination));
    return pending::start(std::move(kept), operation);
}
template <class T, int N, class It, class Destination>
Concurrency::completion_future copy_in_async(It begin, const Concurrency::extent<N> &extent, Destination &destination) {
    if constexpr (is_memory_of<T, It>) {
        const host_region<N> source(contiguous<It>::address(begin), extent);
        return copy_regions_async(source, region_of(destination));
    } else {
        std::vector<T> elements;
        from_iterator<T>(begin, count_of(extent),
                         [&](const T *first, std::size_t) { elements.assign(first, first + count_of(extent)); });
        return copy_kept_async(std::move(elements), extent, destination);
    }
}
template <class T, int N, class It, class Destination>
Concurrency::completion_future copy_in_async(It begin, It end, const Concurrency::extent<N> &extent,
                                             Destination &destination) {
    if constexpr (is_forward<It>) {
        check_count(begin, end, count_of(extent));
        return copy_in_async<T>(begin, extent, destination);
    } else {
        return copy_kept_async(gathered<T>(begin, end, count_of(extent)), extent, destination);
    }
}

template <class T, int N, class Source, class Out>
Concurrency::completion_future copy_out_async(const Source &source, const Concurrency::extent<N> &extent, Out out) {
    static_assert(check_output<T, Out>(), "");
    if constexpr (is_memory_of<T, Out>) {
        const host_region<N> destination(contiguous<Out>::address(out), extent);
        return copy_regions_async(region_of(source), destination);
    } else {
        const auto write = [out](raw_elements<T> &elements) { write_all(elements, out); };
        typedef pending_copy<raw_elements<T>, std::remove_const_t<decltype(write)>> pending;
        std::unique_ptr<pending> kept(new pending{raw_elements<T>(count_of(extent)), write});
        const host_region<N> destination(kept->elements.begin(), extent);
        const Concurrency::completion_future operation = copy_regions_async(region_of(source), destination);
        return pending::start(std::move(kept), operation);
    }
}

template <class It> using if_iterator = std::enable_if_t<is_iterator<It>>;
template <class It, class T> using if_copied_in = std::enable_if_t<is_iterator<It> && !std::is_const_v<T>>;

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

#define REVAMP_COPY_PAIR(Source, Destination)                                                                          \
    template <class T, int N> void copy(const Source &source, Destination &destination) {                              \
        revamp::detail::copy_regions(revamp::detail::region_of(source), revamp::detail::region_of(destination));       \
    }                                                                                                                  \
    template <class T, int N> completion_future copy_async(const Source &source, Destination &destination) {           \
        return revamp::detail::copy_regions_async(revamp::detail::region_of(source),                                   \
                                                  revamp::detail::region_of(destination));                             \
    }
#define REVAMP_COMMA ,
REVAMP_COPY_PAIR(array<T REVAMP_COMMA N>, array<T REVAMP_COMMA N>)
REVAMP_COPY_PAIR(array<T REVAMP_COMMA N>, const array_view<T REVAMP_COMMA N>)
REVAMP_COPY_PAIR(array_view<const T REVAMP_COMMA N>, array<T REVAMP_COMMA N>)
REVAMP_COPY_PAIR(array_view<T REVAMP_COMMA N>, array<T REVAMP_COMMA N>)
REVAMP_COPY_PAIR(array_view<const T REVAMP_COMMA N>, const array_view<T REVAMP_COMMA N>)
REVAMP_COPY_PAIR(array_view<T REVAMP_COMMA N>, const array_view<T REVAMP_COMMA N>)
#undef REVAMP_COPY_PAIR

#define REVAMP_COPY_IN(Destination)                                                                                    \
    template <class It, class T, int N, class = revamp::detail::if_copied_in<It, T>>                                   \
    void copy(It begin, It end, Destination &destination) {                                                            \
        revamp::detail::copy_in<T>(begin, end, destination.extent, destination);                                       \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_copied_in<It, T>>                                   \
    void copy(It begin, Destination &destination) {                                                                    \
        revamp::detail::copy_in<T>(begin, destination.extent, destination);                                            \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_copied_in<It, T>>                                   \
    completion_future copy_async(It begin, It end, Destination &destination) {                                         \
        return revamp::detail::copy_in_async<T>(begin, end, destination.extent, destination);                          \
    }                                                                                                                  \
    template <class It, class T, int N, class = revamp::detail::if_copied_in<It, T>>                                   \
    completion_future copy_async(It begin, Destination &destination) {                                                 \
        return revamp::detail::copy_in_async<T>(begin, destination.extent, destination);                               \
    }
REVAMP_COPY_IN(array<T REVAMP_COMMA N>)
REVAMP_COPY_IN(const array_view<T REVAMP_COMMA N>)
#undef REVAMP_COPY_IN

#define REVAMP_COPY_OUT(Source)                                                                                        \
    template <class Out, class T, int N, class = revamp::detail::if_iterator<Out>>                                     \
    void copy(const Source &source, Out out) {                                                                         \
        revamp::detail::copy_out<T>(source, source.extent, out);                                                       \
    }                                                                                                                  \
    template <class Out, class T, int N, class = revamp::detail::if_iterator<Out>>                                     \
    completion_future copy_async(const Source &source, Out out) {                                                      \
        return revamp::detail::copy_out_async<T>(source, source.extent, out);                                          \
    }
REVAMP_COPY_OUT(array<T REVAMP_COMMA N>)
REVAMP_COPY_OUT(array_view<const T REVAMP_COMMA N>)
REVAMP_COPY_OUT(array_view<T REVAMP_COMMA N>)
#undef REVAMP_COPY_OUT
#undef REVAMP_COMMA

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_COPY_H
