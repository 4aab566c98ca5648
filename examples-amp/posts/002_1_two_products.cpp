// Post 002, first sample: two matrix products one after the other, without transfers by the program. The second product
// uses the data that the first left on the accelerator.
// 000_1_launch_choice.cpp explains the mark `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

namespace {

const int n = 32;
const std::uint64_t size = n * n * sizeof(float);

void multiply(const array_view<const float, 2> &a, const array_view<const float, 2> &b,
              const array_view<float, 2> &to) {
    parallel_for_each(
        to.extent, [=](index<2> at) restrict(amp) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a(at[0], k) * b(k, at[1]); // advice: missing discard 8192
            to[at] = sum;
        });
}

} // namespace

int main() {
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 002, sample 1: two matrix products");
    std::vector<float> a_data(n * n, 1), b_data(n * n, 2), c_data(n * n), d_data(n * n);
    const array_view<const float, 2> a(n, n, a_data), b(n, n, b_data);
    const array_view<float, 2> c(n, n, c_data), d(n, n, d_data);

    multiply(a, b, c);
    report.launch("C = A B: both inputs go there, and C, which was not discarded", device, {3 * size, 0}, c);
    multiply(c, a, d);
    report.launch("D = C A: both inputs are there, only D goes", device, {size, 0}, d);

    const bool c_right = c(1, 2) == 2 * n;
    report.step("The host reads an element of C", {0, size});
    const bool d_right = d(3, 4) == 2 * n * n;
    report.step("The host reads an element of D", {0, size});
    report.check("the products are right", c_right && d_right);
    return report.result();
}
