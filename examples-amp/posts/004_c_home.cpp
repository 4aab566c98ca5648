// Post 004, guideline C: where the data of a temporary is at home. A row of a matrix is summed by launches that halve a
// temporary; then the host reads one element of it.
#include "report.hpp"

using namespace concurrency;

namespace {

const int n = 1024;
const std::uint64_t size = n * sizeof(int);

// The sum of `row` comes to temporary[0].
void sum(const array_view<const int> &row, const array_view<int> &temporary) {
    parallel_for_each(
        extent<1>(n), [=](index<1> i) restrict(amp) { temporary[i] = row[i]; }); // advice: 4096
    for (int half = n / 2; half > 0; half /= 2)
        parallel_for_each(
            extent<1>(half), [=](index<1> i) restrict(amp) { temporary[i] += temporary[i + half]; });
}

} // namespace

int main() {
    const posts::place device = posts::default_view();
    posts::report report("Post 004, guideline C: where data is at home");
    const std::vector<int> matrix(16 * n, 3);
    const array_view<const int, 2> rows(16, n, matrix);

    std::vector<int> in_host_memory(n);
    const array_view<int> of_host(in_host_memory);
    of_host.discard_data();
    sum(rows[0], of_host);
    report.launch("The temporary is a view of host memory: 11 launches", device, {size, 0}, of_host);
    const bool first = of_host[0] == 3 * n;
    report.step("The host reads one element of the view: all of it comes", {0, size});

    sum(rows[1], of_host);
    report.launch("Again", device, {2 * size, 0}, of_host);
    const bool second = array_view<const int>(of_host.section(0, 1))[0] == 3 * n;
    // The published states are a view's, those here an element's (COH-21).
    report.step("The host reads it through a section of one element: there the whole view comes", {0, size},
                {0, sizeof(int)});

    array<int> on_device(n, device.view);
    const array_view<int> of_array(on_device);
    sum(rows[2], of_array);
    report.launch("The temporary is an array there: the row alone goes", device, {size, 0}, of_array);
    const bool third = array_view<const int>(of_array.section(0, 1))[0] == 3 * n;
    report.step("The host reads it through a section of one element", {0, sizeof(int)});
    report.check("the sums are right", first && second && third);
    return report.result();
} // advice: 4092
