// Post 004, guideline C: temporary data can have its home on the host or on an accelerator_view. Launches sum a matrix
// row: each adds the upper half of a temporary to the lower half. Then the host reads one element of the temporary.
// 000_1_launch_choice.cpp explains the marks `advice: KIND N`.
#include "report.hpp"

using namespace concurrency;

namespace {

const int n = 1024;
const std::uint64_t size = n * sizeof(int);

// Computes the sum of `row` in temporary[0].
void sum(const array_view<const int> &row, const array_view<int> &temporary) {
    parallel_for_each(
        extent<1>(n), [=](index<1> i) restrict(amp) { temporary[i] = row[i]; }); // advice: missing discard 4096
    for (int half = n / 2; half > 0; half /= 2)
        parallel_for_each(
            extent<1>(half), [=](index<1> i) restrict(amp) { temporary[i] += temporary[i + half]; });
}

} // namespace

int main() {
    const posts::named_view device = posts::default_named_view();
    posts::report report("Post 004, guideline C: where data is at home");
    const std::vector<int> matrix(16 * n, 3);
    const array_view<const int, 2> rows(16, n, matrix);

    std::vector<int> in_host_memory(n);
    const array_view<int> host_temporary(in_host_memory);
    host_temporary.discard_data();
    sum(rows[0], host_temporary);
    report.launch("The temporary is a view of host memory: 11 launches", device, {size, 0}, host_temporary);
    const bool first = host_temporary[0] == 3 * n; // advice: round trip 8192
    report.step("The host reads one element of the view: the whole view is copied to the host", {0, size});

    sum(rows[1], host_temporary);
    report.launch("Again", device, {2 * size, 0}, host_temporary);
    const bool second = array_view<const int>(host_temporary.section(0, 1))[0] == 3 * n;
    // The published protocol keeps a state for each view. revamp keeps a state for each element (COH-21).
    report.step("The host reads one element through a section: by the post's rules, the whole view is copied",
                {0, size}, {0, sizeof(int)});

    array<int> on_device(n, device.view);
    const array_view<int> array_temporary(on_device);
    sum(rows[2], array_temporary);
    report.launch("The temporary is an array on the accelerator: only the row is copied to the accelerator", device,
                  {size, 0}, array_temporary);
    const bool third = array_view<const int>(array_temporary.section(0, 1))[0] == 3 * n;
    report.step("The host reads one element of the array through a section", {0, sizeof(int)});
    report.check("the sums are right", first && second && third);
    return report.result();
} // advice: destructor write-back 4092
