// revamp: index, extent, tiled_extent, tiled_index and tile_barrier (docs/spec/shapes.md, docs/spec/launches.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_SHAPES_H
#define REVAMP_DETAIL_SHAPES_H

#include "config.h"
#include "device_abi.h"

#include <revamp.h>

#include <cstddef>
#include <type_traits>

REVAMP_NAMESPACE_BEGIN

template <int N> class index;
template <int N> class extent;
template <int D0, int D1 = 0, int D2 = 0> class tiled_extent;
template <int D0, int D1 = 0, int D2 = 0> class tiled_index;

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

// Storage of a tile_static variable of class type. The variable is not constructed (docs/spec/launches.md#tiles). The
// kernel compiler rewrites the declarations of such variables.
template <class T> union unconstructed {
    T value;
#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST
    REVAMP_HD unconstructed() {}
#else
    char none;
    constexpr unconstructed() : none() {}
#endif
    REVAMP_HD ~unconstructed() {}
};

// The common base of index and extent. The operators are hidden friends, so that they also take types that convert to
// an index (tiled_index).
template <template <int> class Shape, int N> class components {
    static_assert(N > 0, "the rank of an index or extent must be at least 1");

  public:
    static constexpr int rank = N;
    typedef int value_type;

    REVAMP_HD constexpr components() noexcept : m_values{} {}

    REVAMP_HD constexpr int operator[](unsigned dimension) const { return m_values[dimension]; }
    REVAMP_HD constexpr int &operator[](unsigned dimension) { return m_values[dimension]; }
    // Overloads for other integer types, so that an int is not converted to unsigned.
    template <class Integer, std::enable_if_t<std::is_integral<Integer>::value, int> = 0>
    REVAMP_HD constexpr int operator[](Integer dimension) const {
        return m_values[static_cast<std::ptrdiff_t>(dimension)];
    }
    template <class Integer, std::enable_if_t<std::is_integral<Integer>::value, int> = 0>
    REVAMP_HD constexpr int &operator[](Integer dimension) {
        return m_values[static_cast<std::ptrdiff_t>(dimension)];
    }

#define REVAMP_SHAPE_ASSIGN(op)                                                                                        \
    REVAMP_HD constexpr Shape<N> &operator op(const Shape<N> &other) {                                                 \
        for (int d = 0; d < N; ++d)                                                                                    \
            m_values[d] op other.m_values[d];                                                                          \
        return self();                                                                                                 \
    }
    REVAMP_SHAPE_ASSIGN(+=)
    REVAMP_SHAPE_ASSIGN(-=)
#undef REVAMP_SHAPE_ASSIGN

#define REVAMP_SHAPE_ASSIGN_SCALAR(op)                                                                                 \
    REVAMP_HD constexpr Shape<N> &operator op(int value) {                                                             \
        for (int d = 0; d < N; ++d)                                                                                    \
            m_values[d] op value;                                                                                      \
        return self();                                                                                                 \
    }
    REVAMP_SHAPE_ASSIGN_SCALAR(+=)
    REVAMP_SHAPE_ASSIGN_SCALAR(-=)
    REVAMP_SHAPE_ASSIGN_SCALAR(*=)
    REVAMP_SHAPE_ASSIGN_SCALAR(/=)
    REVAMP_SHAPE_ASSIGN_SCALAR(%=)
#undef REVAMP_SHAPE_ASSIGN_SCALAR

    REVAMP_HD constexpr Shape<N> &operator++() {
        return *this += 1;
    }
    REVAMP_HD constexpr Shape<N> &operator--() {
        return *this -= 1;
    }
    REVAMP_HD constexpr Shape<N> operator++(int) {
        Shape<N> before = self();
        *this += 1;
        return before;
    }
    REVAMP_HD constexpr Shape<N> operator--(int) {
        Shape<N> before = self();
        *this -= 1;
        return before;
    }

    REVAMP_HD friend constexpr bool operator==(const Shape<N> &left, const Shape<N> &right) {
        for (int d = 0; d < N; ++d)
            if (left.m_values[d] != right.m_values[d]) return false;
        return true;
    }
    REVAMP_HD friend constexpr bool operator!=(const Shape<N> &left, const Shape<N> &right) {
        return !(left == right);
    }

    REVAMP_HD friend constexpr Shape<N> operator+(const Shape<N> &left, const Shape<N> &right) {
        Shape<N> result = left;
        result += right;
        return result;
    }
    REVAMP_HD friend constexpr Shape<N> operator-(const Shape<N> &left, const Shape<N> &right) {
        Shape<N> result = left;
        result -= right;
        return result;
    }

#define REVAMP_SHAPE_SCALAR(op)                                                                                        \
    REVAMP_HD friend constexpr Shape<N> operator op(const Shape<N> &left, int right) {                                 \
        Shape<N> result;                                                                                               \
        for (int d = 0; d < N; ++d)                                                                                    \
            result.m_values[d] = left.m_values[d] op right;                                                            \
        return result;                                                                                                 \
    }                                                                                                                  \
    REVAMP_HD friend constexpr Shape<N> operator op(int left, const Shape<N> &right) {                                 \
        Shape<N> result;                                                                                               \
        for (int d = 0; d < N; ++d)                                                                                    \
            result.m_values[d] = left op right.m_values[d];                                                            \
        return result;                                                                                                 \
    }
    REVAMP_SHAPE_SCALAR(+)
    REVAMP_SHAPE_SCALAR(-)
    REVAMP_SHAPE_SCALAR(*)
    REVAMP_SHAPE_SCALAR(/)
    REVAMP_SHAPE_SCALAR(%)
#undef REVAMP_SHAPE_SCALAR

  protected:
    int m_values[N > 0 ? N : 1];

    // The constructors of index and extent take as many numbers as there are dimensions, up to three.
    REVAMP_HD constexpr explicit components(int i0) : m_values{} {
        static_assert(N == 1, "an index or extent can be constructed from one number only if its rank is 1");
        set<0>(i0);
    }
    REVAMP_HD constexpr components(int i0, int i1) : m_values{} {
        static_assert(N == 2, "an index or extent can be constructed from two numbers only if its rank is 2");
        set<0>(i0);
        set<1>(i1);
    }
    REVAMP_HD constexpr components(int i0, int i1, int i2) : m_values{} {
        static_assert(N == 3, "an index or extent can be constructed from three numbers only if its rank is 3");
        set<0>(i0);
        set<1>(i1);
        set<2>(i2);
    }
    REVAMP_HD constexpr explicit components(const int values[]) : m_values{} {
        for (int d = 0; d < N; ++d)
            m_values[d] = values[d];
    }

  private:
    REVAMP_HD constexpr Shape<N> &self() {
        return static_cast<Shape<N> &>(*this);
    }
    // Does not access elements beyond the end, even if a static_assert above has failed.
    template <int D> REVAMP_HD constexpr void set(int value) {
        if constexpr (D < N) m_values[D] = value;
    }
};

template <int N, int M> constexpr bool same_rank = N == M;

struct tile_barrier_access;

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

template <int N> class index : public revamp::detail::components<Concurrency::index, N> {
    typedef revamp::detail::components<Concurrency::index, N> base;

  public:
    REVAMP_HD constexpr index() noexcept {}
    REVAMP_HD constexpr explicit index(int i0) : base(i0) {}
    REVAMP_HD constexpr index(int i0, int i1) : base(i0, i1) {}
    REVAMP_HD constexpr index(int i0, int i1, int i2) : base(i0, i1, i2) {}
    REVAMP_HD constexpr explicit index(const int values[]) : base(values) {}
};

template <int N> class extent : public revamp::detail::components<Concurrency::extent, N> {
    typedef revamp::detail::components<Concurrency::extent, N> base;

  public:
    REVAMP_HD constexpr extent() noexcept {}
    REVAMP_HD constexpr explicit extent(int e0) : base(e0) {}
    REVAMP_HD constexpr extent(int e0, int e1) : base(e0, e1) {}
    REVAMP_HD constexpr extent(int e0, int e1, int e2) : base(e0, e1, e2) {}
    REVAMP_HD constexpr explicit extent(const int values[]) : base(values) {}

    using base::operator+=;
    using base::operator-=;
    REVAMP_HD constexpr extent &operator+=(const index<N> &other) {
        for (unsigned d = 0; d < unsigned(N); ++d)
            (*this)[d] += other[d];
        return *this;
    }
    REVAMP_HD constexpr extent &operator-=(const index<N> &other) {
        for (unsigned d = 0; d < unsigned(N); ++d)
            (*this)[d] -= other[d];
        return *this;
    }
    REVAMP_HD friend constexpr extent operator+(const extent &left, const index<N> &right) {
        extent result = left;
        result += right;
        return result;
    }
    REVAMP_HD friend constexpr extent operator-(const extent &left, const index<N> &right) {
        extent result = left;
        result -= right;
        return result;
    }

    // The number of elements, modulo 2^32.
    REVAMP_HD constexpr unsigned size() const {
        unsigned product = 1;
        for (unsigned d = 0; d < unsigned(N); ++d)
            product *= static_cast<unsigned>((*this)[d]);
        return product;
    }

    REVAMP_HD constexpr bool contains(const index<N> &position) const {
        for (unsigned d = 0; d < unsigned(N); ++d)
            if (position[d] < 0 || position[d] >= (*this)[d]) return false;
        return true;
    }

    template <int D0> REVAMP_HD constexpr tiled_extent<D0> tile() const;
    template <int D0, int D1> REVAMP_HD constexpr tiled_extent<D0, D1> tile() const;
    template <int D0, int D1, int D2> REVAMP_HD constexpr tiled_extent<D0, D1, D2> tile() const;
};

// If the ranks of operands differ, the compiler reports the difference, instead of listing all operators.
#define REVAMP_SHAPE_MIXED(Result, left, right, op)                                                                    \
    template <int N, int M, typename = typename revamp::detail::if_ranks_differ<N, M>::type>                           \
    REVAMP_HD Result operator op(const left<N> &, const right<M> &) {                                                  \
        static_assert(revamp::detail::same_rank<N, M>,                                                                 \
                      "the operands of " #op " have different ranks; both must have the same rank");                   \
        return Result();                                                                                               \
    }
REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN
template <int N, int M> struct if_ranks_differ { typedef void type; };
template <int N> struct if_ranks_differ<N, N> {};
REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN
REVAMP_SHAPE_MIXED(bool, index, index, ==)
REVAMP_SHAPE_MIXED(bool, index, index, !=)
REVAMP_SHAPE_MIXED(index<N>, index, index, +)
REVAMP_SHAPE_MIXED(index<N>, index, index, -)
REVAMP_SHAPE_MIXED(bool, extent, extent, ==)
REVAMP_SHAPE_MIXED(bool, extent, extent, !=)
REVAMP_SHAPE_MIXED(extent<N>, extent, extent, +)
REVAMP_SHAPE_MIXED(extent<N>, extent, extent, -)
REVAMP_SHAPE_MIXED(extent<N>, extent, index, +)
REVAMP_SHAPE_MIXED(extent<N>, extent, index, -)
#undef REVAMP_SHAPE_MIXED

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

// The dimensions of a tile, each as a constant.
template <int D0, int D1, int D2> struct tile_dimensions {
    static_assert(D0 > 0 && D1 > 0 && D2 > 0, "every dimension of a tile must be at least 1");
    static constexpr int rank = 3;
    static constexpr int tile_dim0 = D0;
    static constexpr int tile_dim1 = D1;
    static constexpr int tile_dim2 = D2;

  protected:
    REVAMP_HD static constexpr Concurrency::extent<3> dimensions() { return Concurrency::extent<3>(D0, D1, D2); }
};
template <int D0, int D1> struct tile_dimensions<D0, D1, 0> {
    static_assert(D0 > 0 && D1 > 0, "every dimension of a tile must be at least 1");
    static constexpr int rank = 2;
    static constexpr int tile_dim0 = D0;
    static constexpr int tile_dim1 = D1;

  protected:
    REVAMP_HD static constexpr Concurrency::extent<2> dimensions() { return Concurrency::extent<2>(D0, D1); }
};
template <int D0> struct tile_dimensions<D0, 0, 0> {
    static_assert(D0 > 0, "every dimension of a tile must be at least 1");
    static constexpr int rank = 1;
    static constexpr int tile_dim0 = D0;

  protected:
    REVAMP_HD static constexpr Concurrency::extent<1> dimensions() { return Concurrency::extent<1>(D0); }
};

// The limits on tiles (rule PFE-6). Only launches check them, because programs also calculate with shapes.
template <int D0, int D1, int D2> struct tile_limits {
    static constexpr long long threads = 1LL * D0 * (D1 > 0 ? D1 : 1) * (D2 > 0 ? D2 : 1);
    static_assert(D0 <= 1024 && D1 <= 1024 && D2 <= 1024 && threads <= 1024, "a tile has at most 1024 threads");
    static_assert(D2 == 0 || D0 <= 64, "the first dimension of a tile of three dimensions is at most 64");
    static constexpr bool meets_requirements = true;
};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

template <int D0, int D1, int D2>
class tiled_extent : public Concurrency::extent<revamp::detail::tile_dimensions<D0, D1, D2>::rank>,
                     public revamp::detail::tile_dimensions<D0, D1, D2> {
    typedef revamp::detail::tile_dimensions<D0, D1, D2> tile_base;
    typedef Concurrency::extent<tile_base::rank> base;

  public:
    using tile_base::rank;

    REVAMP_HD constexpr tiled_extent() noexcept : tile_extent(tile_base::dimensions()) {}
    REVAMP_HD constexpr tiled_extent(const Concurrency::extent<tile_base::rank> &other)
        : base(other), tile_extent(tile_base::dimensions()) {}
    REVAMP_HD constexpr tiled_extent(const tiled_extent &other)
        : base(other), tile_base(), tile_extent(tile_base::dimensions()) {}
    REVAMP_HD constexpr tiled_extent &operator=(const tiled_extent &other) {
        static_cast<base &>(*this) = other;
        return *this;
    }

    // Rounds each component up to a multiple of the tile's component. A result that exceeds an int becomes negative,
    // which no launch or array accepts.
    REVAMP_HD constexpr tiled_extent pad() const {
        tiled_extent result = *this;
        for (unsigned d = 0; d < unsigned(rank); ++d) {
            const unsigned sum = static_cast<unsigned>(result[d]) + static_cast<unsigned>(tile_extent[d] - 1);
            result[d] = static_cast<int>(sum) / tile_extent[d] * tile_extent[d];
        }
        return result;
    }
    // Rounds each component down to a multiple of the tile's component.
    REVAMP_HD constexpr tiled_extent truncate() const {
        tiled_extent result = *this;
        for (unsigned d = 0; d < unsigned(rank); ++d)
            result[d] = result[d] / tile_extent[d] * tile_extent[d];
        return result;
    }

    REVAMP_HD constexpr Concurrency::extent<tile_base::rank> get_tile_extent() const { return tile_extent; }

    const Concurrency::extent<tile_base::rank> tile_extent;
};

template <int N> template <int D0> REVAMP_HD constexpr tiled_extent<D0> extent<N>::tile() const {
    static_assert(N == 1, "tile<D0>() needs an extent of rank 1, because a tile has as many dimensions as the extent");
    static_assert(D0 > 0, "every dimension of a tile must be at least 1");
    return tiled_extent<D0>(*this);
}
template <int N> template <int D0, int D1> REVAMP_HD constexpr tiled_extent<D0, D1> extent<N>::tile() const {
    static_assert(N == 2,
                  "tile<D0, D1>() needs an extent of rank 2, because a tile has as many dimensions as the extent");
    static_assert(D0 > 0 && D1 > 0, "every dimension of a tile must be at least 1");
    return tiled_extent<D0, D1>(*this);
}
template <int N>
template <int D0, int D1, int D2>
REVAMP_HD constexpr tiled_extent<D0, D1, D2> extent<N>::tile() const {
    static_assert(N == 3,
                  "tile<D0, D1, D2>() needs an extent of rank 3, because a tile has as many dimensions as the extent");
    static_assert(D0 > 0 && D1 > 0 && D2 > 0, "every dimension of a tile must be at least 1");
    return tiled_extent<D0, D1, D2>(*this);
}

// A member of tiled_index. Programs can only copy it.
class tile_barrier {
  public:
    REVAMP_HD constexpr tile_barrier(const tile_barrier &other) noexcept : m_thread(other.m_thread) {}
    tile_barrier &operator=(const tile_barrier &) = delete;

    REVAMP_HD void wait() const { wait_for_tile(1 | 2); }
    REVAMP_HD void wait_with_all_memory_fence() const { wait_for_tile(1 | 2); }
    REVAMP_HD void wait_with_global_memory_fence() const { wait_for_tile(1); }
    REVAMP_HD void wait_with_tile_static_memory_fence() const { wait_for_tile(2); }

  private:
    // The library's id of the thread; null on devices.
    const revamp_thread_id *m_thread;

    REVAMP_HD constexpr explicit tile_barrier(const revamp_thread_id *thread) noexcept : m_thread(thread) {}

    REVAMP_HD void wait_for_tile([[maybe_unused]] unsigned memory) const {
#if REVAMP_DEVICE_ON_HOST
        revamp::detail::on_host::wait(m_thread);
#elif REVAMP_DEVICE_PASS
        __revamp_tile_barrier(memory);
#else
        // Orders all memory. If the call fails, the launch fails too, and the launch's failure is reported.
        (void)revamp_tile_barrier_wait(m_thread);
#endif
    }

    friend struct revamp::detail::tile_barrier_access;
};

template <int D0, int D1, int D2> class tiled_index : public revamp::detail::tile_dimensions<D0, D1, D2> {
    typedef revamp::detail::tile_dimensions<D0, D1, D2> base;

  public:
    using base::rank;

    const Concurrency::index<base::rank> global;
    const Concurrency::index<base::rank> local;
    const Concurrency::index<base::rank> tile;
    const Concurrency::index<base::rank> tile_origin;
    const tile_barrier barrier;
    const Concurrency::extent<base::rank> tile_extent;

    REVAMP_HD constexpr tiled_index(const Concurrency::index<base::rank> &global_index,
                                    const Concurrency::index<base::rank> &local_index,
                                    const Concurrency::index<base::rank> &tile_number,
                                    const Concurrency::index<base::rank> &origin,
                                    const tile_barrier &tile_wait) noexcept
        : global(global_index), local(local_index), tile(tile_number), tile_origin(origin), barrier(tile_wait),
          tile_extent(base::dimensions()) {}
    REVAMP_HD constexpr tiled_index(const tiled_index &other) noexcept
        : base(), global(other.global), local(other.local), tile(other.tile), tile_origin(other.tile_origin),
          barrier(other.barrier), tile_extent(base::dimensions()) {}
    tiled_index &operator=(const tiled_index &) = delete;

    REVAMP_HD constexpr operator Concurrency::index<base::rank>() const { return global; }
    REVAMP_HD constexpr Concurrency::extent<base::rank> get_tile_extent() const { return tile_extent; }
};

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

struct tile_barrier_access {
    REVAMP_HD static constexpr Concurrency::tile_barrier make(const revamp_thread_id *thread) noexcept {
        return Concurrency::tile_barrier(thread);
    }
};

#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST
// A coordinate of the thread. The assumption that it is less than `size` lets LLVM derive trip counts and signs.
// Native code needs no assumption, because it counts threads by loops.
template <unsigned (*id)(unsigned), unsigned dimension> REVAMP_DEVICE inline int coordinate(unsigned size) noexcept {
    const unsigned at = id(dimension);
    if (!__revamp_for_host()) __builtin_assume(at < size);
    return static_cast<int>(at);
}
// The position of the thread in at most three dimensions. `dimension` must be constant. The function therefore has
// no loop, because the compiler would not unroll it in large kernels.
template <int N, unsigned (*id)(unsigned)>
REVAMP_DEVICE inline Concurrency::index<N> thread_position(unsigned size0, unsigned size1, unsigned size2) noexcept {
    Concurrency::index<N> thread_index;
    thread_index[0] = coordinate<id, N - 1>(size0);
    if constexpr (N > 1) thread_index[1] = coordinate<id, N - 2>(size1);
    if constexpr (N > 2) thread_index[2] = coordinate<id, N - 3>(size2);
    return thread_index;
}
// The tiled_index of the calling thread of a compiled kernel.
template <int D0, int D1, int D2>
REVAMP_DEVICE inline Concurrency::tiled_index<D0, D1, D2> this_tiled_index() noexcept {
    constexpr int N = tile_dimensions<D0, D1, D2>::rank;
    constexpr unsigned most = 1u << 31; // an extent is an int
    const Concurrency::index<N> global = thread_position<N, __revamp_global_id>(most, most, most),
                                local = thread_position<N, __revamp_local_id>(D0, D1, D2);
    return Concurrency::tiled_index<D0, D1, D2>(global, local, thread_position<N, __revamp_group_id>(most, most, most),
                                                global - local, tile_barrier_access::make(nullptr));
}
#endif

// The tiled_index of a thread of a tiled host kernel.
template <int D0, int D1, int D2>
REVAMP_HD inline Concurrency::tiled_index<D0, D1, D2> tiled_index_of(const revamp_thread_id &thread) noexcept {
    typedef Concurrency::index<tile_dimensions<D0, D1, D2>::rank> position;
    return Concurrency::tiled_index<D0, D1, D2>(position(thread.global), position(thread.local), position(thread.tile),
                                                position(thread.tile_origin), tile_barrier_access::make(&thread));
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_SHAPES_H
