// A BLAS in the style of the published C++ AMP libraries: templates over array_view, options as enums, exceptions.
#pragma once
#include <amp.h>
#include <amp_math.h>
#include <exception>
#include <string>

#define AMPBLAS_CHECK(condition, message)                                                                              \
    do {                                                                                                               \
        if (!(condition)) throw ampblas::error(message);                                                               \
    } while (0)

namespace ampblas {

enum class transpose { no_trans, trans, conj_trans };
enum class uplo { upper, lower };
enum class diag { non_unit, unit };
enum class side { left, right };

class error : public std::exception {
    std::string m_what;

  public:
    explicit error(const char *what) : m_what(what) {}
    virtual const char *what() const throw() { return m_what.c_str(); }
};

namespace detail {
template <typename T> struct data_traits { typedef T real; };

template <typename T> inline T square_root(T x) {
    return static_cast<T>(std::sqrt(x));
}

// x[i] with a stride. As in BLAS, a negative stride counts from the end.
template <typename T> class strided {
    concurrency::array_view<T, 1> m_view;
    int m_increment, m_first;

  public:
    typedef T value_type;
    strided(const concurrency::array_view<T, 1> &view, int n, int increment) restrict(cpu, amp)
        : m_view(view), m_increment(increment), m_first(increment < 0 ? (1 - n) * increment : 0) {}
    T &operator[](int i) const restrict(cpu, amp) { return m_view[m_first + i * m_increment]; }
};

template <int tile_size, typename T, typename F>
T tiled_sum(const concurrency::accelerator_view &av, int n, const F &term) {
    using namespace concurrency;
    const int tiles = std::min((n + tile_size - 1) / tile_size, 32);
    array<T> partial(tiles, av);
    parallel_for_each(
        av, extent<1>(tiles * tile_size).tile<tile_size>(), [ =, &partial ](tiled_index<tile_size> idx) restrict(amp) {
            tile_static T sums[tile_size];
            const int local = idx.local[0];
            T sum = T();
            for (int i = idx.global[0]; i < n; i += tiles * tile_size)
                sum += term(i);
            sums[local] = sum;
            for (int half = tile_size / 2; half > 0; half /= 2) {
                idx.barrier.wait_with_tile_static_memory_fence();
                if (local < half) sums[local] += sums[local + half];
            }
            if (local == 0) partial[idx.tile] = sums[0];
        });
    std::vector<T> host(tiles);
    copy(partial, host.begin());
    T result = T();
    for (T t : host)
        result += t;
    return result;
}
} // namespace detail

// y = alpha x + y
template <typename alpha_type, typename x_type, typename y_type>
void axpy(const concurrency::accelerator_view &av, int n, alpha_type alpha, const concurrency::array_view<x_type, 1> &x,
          int incx, const concurrency::array_view<y_type, 1> &y, int incy) {
    if (n <= 0 || alpha == alpha_type()) return;
    const detail::strided<x_type> xs(x, n, incx);
    const detail::strided<y_type> ys(y, n, incy);
    concurrency::parallel_for_each(
        av, concurrency::extent<1>(n), [=](concurrency::index<1> i) restrict(amp) { ys[i[0]] += alpha * xs[i[0]]; });
}

template <typename T>
T dot(const concurrency::accelerator_view &av, int n, const concurrency::array_view<const T, 1> &x, int incx,
      const concurrency::array_view<const T, 1> &y, int incy) {
    if (n <= 0) return T();
    const detail::strided<const T> xs(x, n, incx), ys(y, n, incy);
    return detail::tiled_sum<64, T>(
        av, n, [=](int i) restrict(amp) { return xs[i] * ys[i]; });
}

template <typename T>
T nrm2(const concurrency::accelerator_view &av, int n, const concurrency::array_view<const T, 1> &x) {
    return detail::square_root(dot(av, n, x, 1, x, 1));
}

template <typename T>
T asum(const concurrency::accelerator_view &av, int n, const concurrency::array_view<const T, 1> &x) {
    return detail::tiled_sum<64, T>(
        av, n, [=](int i) restrict(amp) { return concurrency::fast_math::fabs(float(x[i])); });
}

// y = alpha op(A) x + beta y
template <typename T>
void gemv(const concurrency::accelerator_view &av, transpose trans, T alpha,
          const concurrency::array_view<const T, 2> &a, const concurrency::array_view<const T, 1> &x, T beta,
          const concurrency::array_view<T, 1> &y) {
    const bool t = trans != transpose::no_trans;
    AMPBLAS_CHECK(x.extent[0] == a.extent[t ? 0 : 1], "gemv: x does not fit");
    AMPBLAS_CHECK(y.extent[0] == a.extent[t ? 1 : 0], "gemv: y does not fit");
    concurrency::parallel_for_each(
        av, y.extent, [=](concurrency::index<1> i) restrict(amp) {
            T sum = T();
            for (int k = 0; k < x.extent[0]; ++k)
                sum += (t ? a(k, i[0]) : a(i[0], k)) * x[k];
            y[i] = alpha * sum + beta * y[i];
        });
}

namespace detail {
template <int tile_size, bool guarded, transpose transa, transpose transb, typename T> struct gemm_kernel {
    static T a_at(const concurrency::array_view<const T, 2> &a, int i, int k) restrict(amp) {
        const concurrency::index<2> at =
            transa == transpose::no_trans ? concurrency::index<2>(i, k) : concurrency::index<2>(k, i);
        return !guarded || a.extent.contains(at) ? a[at] : T();
    }
    static T b_at(const concurrency::array_view<const T, 2> &b, int k, int j) restrict(amp) {
        const concurrency::index<2> at =
            transb == transpose::no_trans ? concurrency::index<2>(k, j) : concurrency::index<2>(j, k);
        return !guarded || b.extent.contains(at) ? b[at] : T();
    }
    static void run(const concurrency::accelerator_view &av, T alpha, concurrency::array_view<const T, 2> a,
                    concurrency::array_view<const T, 2> b, T beta, concurrency::array_view<T, 2> c) {
        using namespace concurrency;
        const int inner = a.extent[transa == transpose::no_trans ? 1 : 0];
        const int steps = (inner + tile_size - 1) / tile_size;
        parallel_for_each(
            av, c.extent.template tile<tile_size, tile_size>().pad(),
            [=](tiled_index<tile_size, tile_size> idx) restrict(amp) {
                tile_static T left[tile_size][tile_size];
                tile_static T right[tile_size][tile_size + 1];
                const index<2> l = idx.local, g = idx.global;
                T sum = T();
                for (int s = 0; s < steps; ++s) {
                    left[l[0]][l[1]] = a_at(a, g[0], s * tile_size + l[1]);
                    right[l[0]][l[1]] = b_at(b, s * tile_size + l[0], g[1]);
                    idx.barrier.wait();
                    for (int k = 0; k < tile_size; ++k)
                        sum += left[l[0]][k] * right[k][l[1]];
                    idx.barrier.wait();
                }
                if (!guarded || c.extent.contains(g)) c[g] = beta == T() ? alpha * sum : alpha * sum + beta * c[g];
            });
    }
};

template <int tile_size, bool guarded, typename T>
void gemm_select(transpose ta, transpose tb, const concurrency::accelerator_view &av, T alpha,
                 const concurrency::array_view<const T, 2> &a, const concurrency::array_view<const T, 2> &b, T beta,
                 const concurrency::array_view<T, 2> &c) {
    const bool plain_a = ta == transpose::no_trans, plain_b = tb == transpose::no_trans;
    if (plain_a && plain_b)
        gemm_kernel<tile_size, guarded, transpose::no_trans, transpose::no_trans, T>::run(av, alpha, a, b, beta, c);
    else if (plain_a)
        gemm_kernel<tile_size, guarded, transpose::no_trans, transpose::trans, T>::run(av, alpha, a, b, beta, c);
    else if (plain_b)
        gemm_kernel<tile_size, guarded, transpose::trans, transpose::no_trans, T>::run(av, alpha, a, b, beta, c);
    else
        gemm_kernel<tile_size, guarded, transpose::trans, transpose::trans, T>::run(av, alpha, a, b, beta, c);
}
} // namespace detail

// C = alpha op(A) op(B) + beta C
template <typename T>
void gemm(const concurrency::accelerator_view &av, transpose ta, transpose tb, T alpha,
          const concurrency::array_view<const T, 2> &a, const concurrency::array_view<const T, 2> &b, T beta,
          const concurrency::array_view<T, 2> &c) {
    const int ka = a.extent[ta == transpose::no_trans ? 1 : 0], kb = b.extent[tb == transpose::no_trans ? 0 : 1];
    AMPBLAS_CHECK(ka == kb, "gemm: the inner dimensions differ");
    AMPBLAS_CHECK(c.extent[0] == a.extent[ta == transpose::no_trans ? 0 : 1] &&
                      c.extent[1] == b.extent[tb == transpose::no_trans ? 1 : 0],
                  "gemm: C does not fit");
    static const int tile_size = 8;
    const bool fits = c.extent[0] % tile_size == 0 && c.extent[1] % tile_size == 0 && ka % tile_size == 0;
    if (fits)
        detail::gemm_select<tile_size, false>(ta, tb, av, alpha, a, b, beta, c);
    else
        detail::gemm_select<tile_size, true>(ta, tb, av, alpha, a, b, beta, c);
}

// Solves A X = B in place for a triangular A, one thread per column.
template <typename T>
void trsm(const concurrency::accelerator_view &av, uplo triangle, diag diagonal,
          const concurrency::array_view<const T, 2> &a, const concurrency::array_view<T, 2> &b) {
    const int n = a.extent[0];
    const bool upper = triangle == uplo::upper, unit = diagonal == diag::unit;
    concurrency::parallel_for_each(
        av, concurrency::extent<1>(b.extent[1]), [=](concurrency::index<1> column) restrict(amp) {
            const int j = column[0];
            for (int step = 0; step < n; ++step) {
                const int i = upper ? n - 1 - step : step;
                T sum = b(i, j);
                for (int k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
                    sum -= a(i, k) * b(k, j);
                b(i, j) = unit ? sum : sum / a(i, i);
            }
        });
}

} // namespace ampblas
