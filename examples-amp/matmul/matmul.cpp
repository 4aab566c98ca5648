// A matrix product with one thread for each element of the result.
#include <amp.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

using namespace concurrency;

// c = a * b, where a has m rows and k columns, b has k rows and n columns.
void multiply(int m, int k, int n, const std::vector<float> &a, const std::vector<float> &b, std::vector<float> &c) {
    array_view<const float, 2> left(m, k, a), right(k, n, b);
    array_view<float, 2> product(m, n, c);
    product.discard_data();
    parallel_for_each(
        product.extent, [=](index<2> idx) restrict(amp) {
            const int row = idx[0], col = idx[1];
            float sum = 0.0f;
            for (int i = 0; i < k; i++)
                sum += left(row, i) * right(i, col);
            product[idx] = sum;
        });
    product.synchronize();
}

bool is_product(int m, int k, int n, const float *a, const float *b, const float *c) {
    for (int row = 0; row < m; row++)
        for (int col = 0; col < n; col++) {
            double sum = 0;
            for (int i = 0; i < k; i++)
                sum += double(a[row * k + i]) * b[i * n + col];
            if (!(std::fabs(c[row * n + col] - sum) <= 1e-4 * sum)) return false;
        }
    return true;
}

std::vector<float> random_matrix(int rows, int cols, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> distribution(0.0f, 1.0f);
    std::vector<float> matrix(unsigned(rows) * unsigned(cols));
    for (float &element : matrix)
        element = distribution(engine);
    return matrix;
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n < 1 || n > 8192) {
        std::wcerr << "usage: matmul [ROWS, 1 to 8192]\n";
        return 2;
    }
    const int m = n, k = n + 3;
    const std::vector<float> a = random_matrix(m, k, 1), b = random_matrix(k, n, 2);
    std::vector<float> c(unsigned(m) * unsigned(n));

    const accelerator device; // found before the clock starts
    const auto start = std::chrono::steady_clock::now();
    multiply(m, k, n, a, b, c);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    const bool is_right = is_product(m, k, n, a.data(), b.data(), c.data());
    std::wcout << L"matrix product " << m << L"x" << k << L" by " << k << L"x" << n << L" on " << device.description
               << L": " << time.count() << L" ms, " << (is_right ? L"right" : L"WRONG") << std::endl;
    return is_right ? 0 : 1;
}
