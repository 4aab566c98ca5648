// Tests of the BLAS in ampblas.h.
#include "ampblas.h"
#include "stdafx.h"
#include <cmath>
#include <iostream>
#include <vector>

using concurrency::accelerator;
using concurrency::accelerator_view;
using concurrency::array_view;

static int g_failed = 0;

void check(const char *what, double error, double bound) {
    const bool ok = error <= bound;
    std::cout << what << ": error " << error << (ok ? "" : "  FAILED") << std::endl;
    if (!ok) ++g_failed;
}

template <typename T> std::vector<T> random_vector(size_t n) {
    std::vector<T> v(n);
    for (auto &x : v)
        x = T(rand() % 201 - 100) / 64;
    return v;
}

template <typename T> void level_one(accelerator_view &av) {
    const int n = 500;
    std::vector<T> x = random_vector<T>(2 * n), y = random_vector<T>(n), expected(y);
    for (int i = 0; i < n; ++i)
        expected[i] += T(1.5) * x[2 * (n - 1 - i)];
    array_view<T, 1> y_vw(n, y);
    array_view<const T, 1> x_vw(2 * n, x);
    ampblas::axpy(av, n, T(1.5), x_vw, -2, y_vw, 1);
    y_vw.synchronize();
    double error = 0;
    for (int i = 0; i < n; ++i)
        error = worse(error, double(std::fabs(y[i] - expected[i])));
    check("axpy", error, 1e-6);

    double sum = 0, squares = 0, absolute = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * y[i];
        squares += y[i] * y[i];
        absolute += std::fabs(y[i]);
    }
    check("dot", std::fabs(ampblas::dot<T>(av, n, x_vw.section(0, n), 1, y_vw, 1) - sum), 1e-2);
    check("nrm2", std::fabs(ampblas::nrm2<T>(av, n, y_vw) - std::sqrt(squares)), 1e-3);
    check("asum", std::fabs(ampblas::asum<T>(av, n, y_vw) - absolute), 1e-2);
}

template <typename T> void level_two_and_three(accelerator_view &av, int m, int n, int k) {
    using ampblas::transpose;
    for (int variant = 0; variant < 4; ++variant) {
        const transpose ta = variant & 1 ? transpose::trans : transpose::no_trans,
                        tb = variant & 2 ? transpose::conj_trans : transpose::no_trans;
        std::vector<T> a = random_vector<T>(m * k), b = random_vector<T>(k * n), c = random_vector<T>(m * n),
                       expected(c);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                double s = 0;
                for (int l = 0; l < k; ++l)
                    s +=
                        double(variant & 1 ? a[l * m + i] : a[i * k + l]) * (variant & 2 ? b[j * k + l] : b[l * n + j]);
                expected[i * n + j] = T(0.5 * s + 2.0 * expected[i * n + j]);
            }
        array_view<const T, 2> a_vw(variant & 1 ? k : m, variant & 1 ? m : k, a),
            b_vw(variant & 2 ? n : k, variant & 2 ? k : n, b);
        array_view<T, 2> c_vw(m, n, c);
        ampblas::gemm(av, ta, tb, T(0.5), a_vw, b_vw, T(2), c_vw);
        c_vw.synchronize();
        double error = 0;
        for (int i = 0; i < m * n; ++i)
            error = worse(error, double(std::fabs(c[i] - expected[i])));
        check("gemm", error, 1e-3);

        std::vector<T> x = random_vector<T>(variant & 1 ? m : k), y(variant & 1 ? k : m);
        array_view<T, 1> y_vw(y);
        const std::vector<T> a_plain = random_vector<T>(m * k);
        ampblas::gemv<T>(av, ta, T(1), array_view<const T, 2>(m, k, a_plain), array_view<const T, 1>(x), T(0), y_vw);
        error = 0;
        for (size_t i = 0; i < y.size(); ++i) {
            double s = 0;
            for (size_t l = 0; l < x.size(); ++l)
                s += double(variant & 1 ? a_plain[l * k + i] : a_plain[i * k + l]) * x[l];
            error = worse(error, std::fabs(s - y_vw[int(i)]));
        }
        check("gemv", error, 1e-3);
    }
}

template <typename T> void triangles(accelerator_view &av) {
    const int n = 16, columns = 5;
    std::vector<T> a = random_vector<T>(n * n), x = random_vector<T>(n * columns), b(n * columns);
    for (int i = 0; i < n; ++i)
        a[i * n + i] = T(8 + i);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < columns; ++j)
            for (int k = i; k < n; ++k)
                b[i * columns + j] += a[i * n + k] * x[k * columns + j];
    array_view<T, 2> b_vw(n, columns, b);
    ampblas::trsm<T>(av, ampblas::uplo::upper, ampblas::diag::non_unit, array_view<const T, 2>(n, n, a), b_vw);
    b_vw.synchronize();
    double error = 0;
    for (int i = 0; i < n * columns; ++i)
        error = worse(error, double(std::fabs(b[i] - x[i])));
    check("trsm", error, 1e-3);
}

int main() {
    accelerator_view av = accelerator(accelerator::default_accelerator).default_view;
    srand(77);
    level_one<float>(av);
    level_two_and_three<float>(av, 24, 32, 16);
    level_two_and_three<float>(av, 19, 27, 13);
    triangles<float>(av);
    if (av.accelerator.supports_double_precision) {
        level_two_and_three<double>(av, 16, 8, 24);
        triangles<double>(av);
    }
    try {
        std::vector<float> v(6);
        array_view<float, 2> m(2, 3, v);
        ampblas::gemm<float>(av, ampblas::transpose::no_trans, ampblas::transpose::no_trans, 1.0f, m, m, 0.0f, m);
        ++g_failed;
    } catch (const ampblas::error &e) {
        std::cout << "as expected: " << e.what() << std::endl;
    }
    std::cout << (g_failed ? "FAILED" : "PASSED") << std::endl;
    return g_failed ? 1 : 0;
}
