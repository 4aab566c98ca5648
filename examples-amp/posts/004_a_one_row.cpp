// Post 004, guideline A: a kernel needs one row of a matrix. If the kernel captures the matrix, the whole matrix moves
// to the accelerator. If the kernel captures a projection made on the host, only the row moves.
// 000_1_launch_choice.cpp explains the mark `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

int main() {
    const int rows = 64, columns = 256, row_index = 5;
    const std::uint64_t matrix_size = rows * columns * sizeof(float), row_size = columns * sizeof(float);
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 004, guideline A: sections and projections");
    std::vector<float> data(rows * columns, 1.5f), doubled_data(columns);
    const array_view<float> doubled(doubled_data);
    {
        const array_view<const float, 2> matrix(rows, columns, data);
        doubled.discard_data();
        parallel_for_each(
            doubled.extent, [=](index<1> i) restrict(amp) {
                doubled[i] = 2 * matrix(row_index, i[0]); // advice: unused part 64512
            });
        report.launch("The kernel reads one row of the whole matrix, which it captures", device, {matrix_size, 0},
                      doubled);
    }
    {
        const array_view<const float, 2> matrix(rows, columns, data);
        const array_view<const float> row = matrix[row_index];
        doubled.discard_data();
        parallel_for_each(
            doubled.extent, [=](index<1> i) restrict(amp) { doubled[i] = 2 * row[i]; });
        report.launch("It captures a projection that the host made", device, {row_size, 0}, doubled);
    }
    doubled.synchronize();
    report.step("The results are synchronized", {0, row_size});
    report.check("the numbers are right", doubled_data[columns - 1] == 3);
    {
        const array_view<float, 2> matrix(rows, columns, data);
        const array_view<float, 2> block = matrix.section(8, 16, 4, 10);
        parallel_for_each(
            block.extent, [=](index<2> at) restrict(amp) { block[at] = -1; }); // advice: missing discard 160
        report.launch("A launch writes a block of 4 by 10", device, {4 * 10 * sizeof(float), 0}, block);
        block.synchronize();
        report.step("The block is synchronized: the same bytes come back", {0, 4 * 10 * sizeof(float)});
    }
    report.step("The matrix' last view is destroyed", posts::no_bytes);
    report.check("the block alone has changed",
                 data[8 * columns + 16] == -1 && data[8 * columns + 15] == 1.5f && data[12 * columns + 16] == 1.5f);
    return report.result();
}
