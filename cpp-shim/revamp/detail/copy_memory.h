// revamp: what copies are made of: regions, and ranges of iterators as memory.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_COPY_MEMORY_H
#define REVAMP_DETAIL_COPY_MEMORY_H

#include "config.h"
#include "element.h"
#include "exceptions.h"
#include "shapes.h"
#include "view.h"

#include <cstddef>
#include <type_traits>
#include <vector>

REVAMP_DETAIL_BEGIN

// extent::size() is modulo 2^32.
template <int N> REVAMP_HD constexpr std::size_t count_of(const Concurrency::extent<N> &extent) {
    std::size_t count = 1;
    for (unsigned d = 0; d < unsigned(N); ++d)
        count *= static_cast<std::size_t>(extent[d]);
    return count;
}

template <class T, int N> revamp_region region_of(const basic_view<T, N> &view) {
    revamp_region r = {};
    r.struct_size = sizeof r;
    r.view = view_access::handle(view);
    return r;
}

// Host memory in the shape of what it is copied with.
template <int N> struct host_region : revamp_region {
    int shape[N];
    template <class T>
    host_region(const T *memory, const Concurrency::extent<N> &extent) : revamp_region{} {
        views::values(extent, shape);
        struct_size = sizeof(revamp_region);
        host = const_cast<void *>(static_cast<const void *>(memory));
        host_rank = N;
        this->extent = shape;
        host_element_size = sizeof(T);
    }
    host_region(const host_region &) = delete;
};

inline void copy_regions(const revamp_region &source, const revamp_region &destination) {
    check(revamp_copy(&source, &destination));
}

// True if memory behind the iterator has elements T.
template <class T, class It>
constexpr bool is_memory_of = contiguous<It>::value && std::is_same_v<std::remove_cv_t<typename std::iterator_traits<It>::value_type>, T>;

// Calls `use` with `count` elements from `begin` on as memory.
template <class T, class It, class Use> void from_iterator(It begin, std::size_t count, Use use) {
    if constexpr (is_memory_of<T, It>) {
        use(static_cast<const T *>(contiguous<It>::address(begin)), count * sizeof(T));
    } else {
        std::vector<T> elements;
        elements.reserve(count);
        for (std::size_t n = 0; n < count; ++n, ++begin)
            elements.push_back(static_cast<T>(*begin));
        use(static_cast<const T *>(elements.data()), count * sizeof(T));
    }
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_COPY_MEMORY_H
