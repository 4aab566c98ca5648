// Post 004, guideline B: one matrix is multiplied with two vectors. A function that makes a view of the matrix each
// time sends it each time; a view that the caller keeps is sent once.
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
            for (int column = 0; column < n; column++) // advice: 131072
                sum += matrix(row[0], column) * in[column];
            out[row] = sum;
        });
    out.synchronize();
}

// Its view of the matrix ends with the call, and with it what is known of the copy on the accelerator.
void multiply(const std::vector<float> &matrix, const std::vector<float> &vector, std::vector<float> &product) {
    multiply(array_view<const float, 2>(n, n, matrix), vector, product);
}

} // namespace

int main() {
    posts::report report("Post 004, guideline B: a view that lives on");
    const std::vector<float> matrix(n * n, 1), ones(n, 1), twos(n, 2);
    std::vector<float> first(n), second(n);

    const posts::bytes product = {vector_size, vector_size};
    multiply(matrix, ones, first);
    report.step("The first product, with a view made in the function", {matrix_size + product.in, product.out});
    multiply(matrix, twos, second);
    report.step("The second: the matrix goes again", {matrix_size + product.in, product.out});
    report.check("the products are right", first[3] == n && second[3] == 2 * n);

    const array_view<const float, 2> kept(n, n, matrix);
    multiply(kept, twos, first);
    report.step("The first product, with a view that the caller keeps", {matrix_size + product.in, product.out});
    multiply(kept, ones, second);
    report.step("The second: only the vectors", product);
    report.check("the products are right", first[3] == 2 * n && second[3] == n);
    return report.result();
}
