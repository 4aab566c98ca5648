// Two linear solvers: in-place LU decomposition without pivoting, and Gauss-Jordan with pivots chosen on the host.
#include "stdafx.h"
#include <amp.h>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <vector>

using namespace concurrency;

template <typename T> class matrix {
    std::vector<T> m_data;
    int m_rows, m_columns;

  public:
    matrix(int rows, int columns) : m_data(rows * columns), m_rows(rows), m_columns(columns) {}
    T &operator()(int r, int c) { return m_data[r * m_columns + c]; }
    const T &operator()(int r, int c) const { return m_data[r * m_columns + c]; }
    // the members that array_view requires of a container
    T *data() { return m_data.data(); }
    const T *data() const { return m_data.data(); }
    size_t size() const { return m_data.size(); }
    int rows() const { return m_rows; }
    int columns() const { return m_columns; }
};

template <typename T> void lu_decompose(matrix<T> &a) {
    const int n = a.rows();
    array_view<T, 2> av(n, n, a);
    for (int k = 0; k < n - 1; ++k) {
        const int remaining = n - k - 1;
        array_view<T, 2> pivot_row = av.section(k, k, 1, remaining + 1);
        array_view<T, 2> below = av.section(index<2>(k + 1, k));
        parallel_for_each(
            extent<1>(remaining), [=](index<1> i) restrict(amp) { below(i[0], 0) /= pivot_row(0, 0); });
        parallel_for_each(
            extent<2>(remaining, remaining), [=](index<2> i) restrict(amp) {
                below(i[0], i[1] + 1) -= below(i[0], 0) * pivot_row(0, i[1] + 1);
            });
    }
    av.synchronize();
}

template <typename T> void lu_solve(const matrix<T> &lu, std::vector<T> &b) {
    const int n = lu.rows();
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            b[i] -= lu(i, j) * b[j];
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j)
            b[i] -= lu(i, j) * b[j];
        b[i] /= lu(i, i);
    }
}

// The augmented matrix is on the accelerator. Each column is copied to the host, which chooses the pivot.
template <typename T> void gauss_jordan(const matrix<T> &a, std::vector<T> &b) {
    const int n = a.rows();
    array<T, 2> m(n, n + 1);
    array_view<T, 2> view(m);
    copy(array_view<const T, 2>(n, n, a), view.section(0, 0, n, n));
    copy(b.begin(), b.end(), view.section(0, n, n, 1));
    std::vector<T> column(n);
    for (int k = 0; k < n; ++k) {
        copy(view.section(0, k, n, 1), column.begin());
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::fabs(column[i]) > std::fabs(column[pivot])) pivot = i;
        if (column[pivot] == T(0)) throw std::runtime_error("the matrix is singular");
        if (pivot != k) {
            array_view<T, 1> first = view[k], second = view[pivot];
            parallel_for_each(
                first.extent, [=](index<1> i) restrict(amp) {
                    const T t = first[i];
                    first[i] = second[i];
                    second[i] = t;
                });
            std::swap(column[k], column[pivot]);
        }
        // The factors come from the host's column, so that no thread reads what another thread writes.
        array_view<const T, 1> factors(column);
        array_view<T, 1> row = view[k];
        const T inverse = T(1) / column[k];
        parallel_for_each(
            row.extent, [=](index<1> i) restrict(amp) { row[i] *= inverse; });
        parallel_for_each(
            extent<2>(n, n + 1), [=](index<2> i) restrict(amp) {
                if (i[0] != k) view[i] -= factors[i[0]] * row[i[1]];
            });
        accelerator().default_view.wait();
    }
    copy(view.section(0, n, n, 1), b.begin());
}

template <typename T> double residual(const matrix<T> &a, const std::vector<T> &x, const std::vector<T> &b) {
    double worst = 0;
    for (int i = 0; i < a.rows(); ++i) {
        double sum = 0;
        for (int j = 0; j < a.columns(); ++j)
            sum += double(a(i, j)) * x[j];
        worst = worse(worst, std::fabs(sum - b[i]));
    }
    return worst;
}

template <typename T> int run(const char *name, double tolerance) {
    const int n = 32;
    matrix<T> a(n, n);
    std::vector<T> b(n);
    srand(3);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
            a(i, j) = T(rand() % 2000 - 1000) / 1000;
        b[i] = T(rand() % 100);
    }
    matrix<T> dominant(a);
    for (int i = 0; i < n; ++i)
        dominant(i, i) += T(n);
    matrix<T> lu(dominant);
    lu_decompose(lu);
    std::vector<T> x(b);
    lu_solve(lu, x);
    const double lu_residual = residual(dominant, x, b);
    std::vector<T> y(b);
    gauss_jordan(a, y);
    const double gauss_residual = residual(a, y, b);
    std::cout << name << ": residuals " << lu_residual << " and " << gauss_residual << std::endl;
    return lu_residual < tolerance && gauss_residual < tolerance * 100 ? 0 : 1;
}

int main() {
    int failed = run<float>("float", 1e-3);
    if (accelerator().supports_double_precision) failed += run<double>("double", 1e-10);
    matrix<float> singular(4, 4);
    std::vector<float> b(4, 1.0f);
    try {
        gauss_jordan(singular, b);
        ++failed;
    } catch (const std::runtime_error &e) {
        std::cout << "as expected: " << e.what() << std::endl;
    }
    return failed;
}
