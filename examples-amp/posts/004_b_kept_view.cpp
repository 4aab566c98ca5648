// Post 004, guideline B: one matrix is multiplied with two vectors. If each call makes a view of the matrix, each call
// sends the matrix to the accelerator. If the caller keeps a view, the matrix is sent once. 000_1_launch_choice.cpp
// explains the mark `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

namespace {

const int n = 128;
const std::uint64_t matrix_size = n * n * sizeof(float), vector_size = n * sizeof(float);

void multiply(const array_view<const float, 2> &matrix, const std::vector<float> &vector, std::vector<float> &product) {
    const array_view<const float> in(vector);
    const array_view<float> out(product);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> row) restrict(amp) {
            float sum = 0;
            for (int column = 0; column < n; column++) // advice: renewed view 131072
                sum += matrix(row[0], column) * in[column];
            out[row] = sum;
        });
    out.synchronize();
}

// The view of the matrix ends with the call, and the library then forgets the accelerator's copy of the matrix.
void multiply(const std::vector<float> &matrix, const std::vector<float> &vector, std::vector<float> &product) {
    multiply(array_view<const float, 2>(n, n, matrix), vector, product);
}

} // namespace

int main() {
    posts::report report("Post 004, guideline B: a view that lives on");
    const std::vector<float> matrix(n * n, 1), ones(n, 1), twos(n, 2);
    std::vector<float> first(n), second(n);

    const posts::bytes vectors_only = {vector_size, vector_size};
    multiply(matrix, ones, first);
    report.step("The first product, with a view made in the function",
                {matrix_size + vectors_only.in, vectors_only.out});
    multiply(matrix, twos, second);
    report.step("The second: the matrix goes again", {matrix_size + vectors_only.in, vectors_only.out});
    report.check("the products are right", first[3] == n && second[3] == 2 * n);

    const array_view<const float, 2> kept_view(n, n, matrix);
    multiply(kept_view, twos, first);
    report.step("The first product, with a view that the caller keeps",
                {matrix_size + vectors_only.in, vectors_only.out});
    multiply(kept_view, ones, second);
    report.step("The second: only the vectors", vectors_only);
    report.check("the products are right", first[3] == 2 * n && second[3] == n);
    return report.result();
}
