// revamp: the strides of array_views, and access to elements.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_STRIDES_H
#define REVAMP_DETAIL_STRIDES_H

#include "device_abi.h"
#include "runtime.h"
#include "shapes.h"

#include <climits>
#include <cstddef>
#include <string>

REVAMP_DETAIL_BEGIN

#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST
#define REVAMP_FOR_HOST (__revamp_for_host())
#else
#define REVAMP_FOR_HOST true
#endif

// An offset in elements. In kernels it has 32 bits, because devices multiply 32 bits much faster: the 5-point stencil
// runs a twelfth faster on an H200. A launch rejects views with offsets that need more than 32 bits, unless the program
// defines REVAMP_LARGE_VIEWS.
#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST && !defined(REVAMP_LARGE_VIEWS)
typedef int element_offset;
// Native kernels are made from the device code, but use offsets of 64 bits, because with 32 bits LLVM cannot prove
// that elements are contiguous.
#define REVAMP_OFFSETS_IN_TWO_WIDTHS 1
#else
typedef std::ptrdiff_t element_offset;
#define REVAMP_OFFSETS_IN_TWO_WIDTHS 0
#endif
#if defined(REVAMP_LARGE_VIEWS)
constexpr bool large_views = true;
#else
constexpr bool large_views = false;
#endif

// The strides of a view in elements. The stride of the last dimension is always 1, and not stored.
template <int N> struct strides {
    std::ptrdiff_t step[N > 1 ? N - 1 : 1];

    // The strides of a row-major layout without gaps.
    REVAMP_HD static constexpr strides packed(const Concurrency::extent<N> &extent) {
        strides result{};
        std::ptrdiff_t step = 1;
        for (int d = N - 1; d > 0; --d) {
            step *= extent[static_cast<unsigned>(d)];
            result.step[d - 1] = step;
        }
        return result;
    }
    // The offset of the element at `i`.
    REVAMP_HD constexpr std::ptrdiff_t operator()(const Concurrency::index<N> &i) const {
#if REVAMP_OFFSETS_IN_TWO_WIDTHS
        if (REVAMP_FOR_HOST) return offset<std::ptrdiff_t>(i);
#endif
        return offset<element_offset>(i);
    }
    REVAMP_HD constexpr std::ptrdiff_t operator()(int i0, int i1) const {
#if REVAMP_OFFSETS_IN_TWO_WIDTHS
        if (REVAMP_FOR_HOST) return part<std::ptrdiff_t>(0, i0) + i1;
#endif
        return part<element_offset>(0, i0) + i1;
    }
    REVAMP_HD constexpr std::ptrdiff_t operator()(int i0, int i1, int i2) const {
#if REVAMP_OFFSETS_IN_TWO_WIDTHS
        if (REVAMP_FOR_HOST) return part<std::ptrdiff_t>(0, i0) + part<std::ptrdiff_t>(N == 3 ? 1 : 0, i1) + i2;
#endif
        return part<element_offset>(0, i0) + part<element_offset>(N == 3 ? 1 : 0, i1) + i2;
    }
    // The offset of slice `i` of dimension `d`. `d` is not the last dimension.
    REVAMP_HD constexpr std::ptrdiff_t slice(int d, int i) const {
#if REVAMP_OFFSETS_IN_TWO_WIDTHS
        if (REVAMP_FOR_HOST) return part<std::ptrdiff_t>(d, i);
#endif
        return part<element_offset>(d, i);
    }
    // True if offsets need more than 32 bits.
    constexpr bool large(const Concurrency::extent<N> &extent) const {
        std::ptrdiff_t last = extent[static_cast<unsigned>(N - 1)] - std::ptrdiff_t{1};
        for (int d = 0; d < N - 1; ++d)
            last += (extent[static_cast<unsigned>(d)] - std::ptrdiff_t{1}) * step[d];
        return last > INT_MAX;
    }

  private:
    template <class Count> REVAMP_HD constexpr Count part(int d, int i) const {
        return static_cast<Count>(i) * static_cast<Count>(step[d]);
    }
    template <class Count> REVAMP_HD constexpr Count offset(const Concurrency::index<N> &i) const {
        Count at = i[static_cast<unsigned>(N - 1)];
        for (int d = 0; d < N - 1; ++d)
            at += part<Count>(d, i[static_cast<unsigned>(d)]);
        return at;
    }
};

#if REVAMP_DEVICE_ON_HOST && defined(REVAMP_CHECK_BOUNDS)
[[noreturn, gnu::noinline, gnu::cold]] REVAMP_DEVICE inline void report_out_of_bounds(int rank, const int *index,
                                                                                      const int *extent) {
    char text[2][256];
    for (int list = 0; list < 2; ++list) {
        std::size_t length = 0;
        for (int d = 0; d < rank && length < sizeof text[list]; ++d)
            length += static_cast<std::size_t>(on_host::format_into(text[list] + length, sizeof text[list] - length,
                                                                    d ? ", %d" : "%d", (list ? extent : index)[d]));
    }
    on_host::fail_with(false,
                       {"an index is outside the extent of an array_view or array: index (%s), extent (%s)", nullptr},
                       static_cast<const char *>(text[0]), static_cast<const char *>(text[1]));
}
#elif !REVAMP_DEVICE_PASS && defined(REVAMP_CHECK_BOUNDS)
// On the host, the exception reaches the caller; in a kernel, it makes the launch fail.
[[noreturn, gnu::noinline, gnu::cold]] inline void report_out_of_bounds(int rank, const int *index, const int *extent) {
    const auto list = [=](const int *values) {
        std::string text;
        for (int d = 0; d < rank; ++d)
            text.append(d ? ", " : "").append(std::to_string(values[d]));
        return text;
    };
    throw Concurrency::runtime_exception(("an index is outside the extent of an array_view or array: index (" +
                                          list(index) + "), extent (" + list(extent) + ")")
                                             .c_str(),
                                         failed);
}
#endif
// Returns the element at `i`. Device kernels report an index outside of `extent` if REVAMP_AMP_REPORTS is defined. Host
// code, and kernels on host threads, report it if REVAMP_CHECK_BOUNDS is defined.
template <class T, int N>
REVAMP_HD constexpr T &element_at([[maybe_unused]] const Concurrency::index<N> &i,
                                  [[maybe_unused]] const Concurrency::extent<N> &extent, T *element) {
#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST && defined(REVAMP_AMP_REPORTS)
    if constexpr (N <= 3)
        return *static_cast<T *>(__revamp_element(const_cast<std::remove_cv_t<T> *>(element), sizeof(T), N, i[0],
                                                  N > 1 ? i[unsigned(N > 1)] : 0, N > 2 ? i[unsigned(2 * (N > 2))] : 0,
                                                  extent[0], N > 1 ? extent[unsigned(N > 1)] : 1,
                                                  N > 2 ? extent[unsigned(2 * (N > 2))] : 1));
#elif (!REVAMP_DEVICE_PASS || REVAMP_DEVICE_ON_HOST) && defined(REVAMP_CHECK_BOUNDS)
    int index[N] = {}, size[N] = {};
    bool inside = true;
    for (unsigned d = 0; d < unsigned(N); ++d) {
        index[d] = i[d];
        size[d] = extent[d];
        inside = inside && unsigned(index[d]) < unsigned(size[d]);
    }
    if (__builtin_expect(!inside, 0)) report_out_of_bounds(N, index, size);
#endif
    return *element;
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_STRIDES_H
