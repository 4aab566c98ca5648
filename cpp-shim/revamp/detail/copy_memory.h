// revamp: helpers for copies. They make regions, and turn iterator ranges into contiguous memory.
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
#include <iterator>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

REVAMP_DETAIL_BEGIN

// The number of elements. extent::size() returns the number modulo 2^32.
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

// A region of host memory, with the shape of the array or view that it is copied to or from.
template <int N> struct host_region : revamp_region {
    int shape[N];
    template <class T> host_region(const T *memory, const Concurrency::extent<N> &sizes) : revamp_region{} {
        views::values(sizes, shape);
        struct_size = sizeof(revamp_region);
        host = const_cast<void *>(static_cast<const void *>(memory));
        host_rank = N;
        extent = shape;
        host_element_size = sizeof(T);
    }
    host_region(const host_region &) = delete;
};

inline void copy_regions(const revamp_region &source, const revamp_region &destination) {
    check(revamp_copy(&source, &destination));
}

// True if the iterator points into contiguous memory with elements of type T.
template <class T, class It>
constexpr bool is_memory_of =
    contiguous<It>::value &&std::is_same_v<std::remove_cv_t<typename std::iterator_traits<It>::value_type>, T>;

// Uninitialised memory for elements, whose type may have no default constructor. C++ AMP copies elements as bytes.
template <class T> class raw_elements {
  public:
    explicit raw_elements(std::size_t count)
        : m_first(static_cast<T *>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))))), m_count(count) {}
    raw_elements(const raw_elements &) = delete;
    ~raw_elements() { ::operator delete(static_cast<void *>(m_first), std::align_val_t(alignof(T))); }
    T *begin() { return m_first; }
    T *end() { return m_first + m_count; }

  private:
    T *const m_first;
    const std::size_t m_count;
};

// Fills an empty vector with `count` elements that `read` writes to memory.
template <class T, class Read> void read_into_vector(std::size_t count, std::vector<T> &result, Read read) {
    if constexpr (std::is_default_constructible_v<T>) {
        result.resize(count);
        read(result.data(), count * sizeof(T));
    } else {
        raw_elements<T> elements(count);
        read(elements.begin(), count * sizeof(T));
        result.assign(elements.begin(), elements.end());
    }
}

[[noreturn, gnu::cold]] inline void throw_wrong_count(long long given, std::size_t count) {
    throw Concurrency::runtime_exception(("the range has " + std::to_string(given) +
                                          " elements, but the destination of the copy has " + std::to_string(count) +
                                          "; both must have the same number of elements")
                                             .c_str(),
                                         failed);
}

// Calls `use` with the first `count` elements from `begin` on, in contiguous memory.
template <class T, class It, class Use> void from_iterator(It begin, std::size_t count, Use use) {
    if constexpr (is_memory_of<T, It>) {
        use(static_cast<const T *>(contiguous<It>::address(begin)), count * sizeof(T));
    } else {
        std::vector<T> elements;
        elements.reserve(count);
        // Does not increment `begin` past the last element, where a single-pass iterator (a stream) may block.
        for (std::size_t n = 0; n < count; ++n) {
            if (n) ++begin;
            elements.push_back(static_cast<T>(*begin));
        }
        use(static_cast<const T *>(elements.data()), count * sizeof(T));
    }
}

// The elements of a range, which must have `count` elements.
template <class T, class It> std::vector<T> gathered(It begin, It end, std::size_t count) {
    std::vector<T> elements;
    elements.reserve(count);
    for (; begin != end; ++begin) {
        if (elements.size() == count) throw_wrong_count(static_cast<long long>(count) + 1, count);
        elements.push_back(static_cast<T>(*begin));
    }
    if (elements.size() != count) throw_wrong_count(static_cast<long long>(elements.size()), count);
    return elements;
}
template <class It>
constexpr bool is_forward =
    std::is_base_of_v<std::forward_iterator_tag, typename std::iterator_traits<It>::iterator_category>;

template <class It> void check_count(It begin, It end, std::size_t count) {
    const long long given = std::distance(begin, end);
    if (given < 0 || static_cast<unsigned long long>(given) != count) throw_wrong_count(given, count);
}

template <class T, class It, class Use> void from_range(It begin, It end, std::size_t count, Use use) {
    if constexpr (is_forward<It>) {
        check_count(begin, end, count);
        from_iterator<T>(begin, count, use);
    } else {
        const std::vector<T> elements = gathered<T>(begin, end, count);
        use(elements.data(), count * sizeof(T));
    }
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_COPY_MEMORY_H
