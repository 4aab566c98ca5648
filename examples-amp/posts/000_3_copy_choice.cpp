// Post 000, third sample: which valid copy of a view's data `copy` reads. The data is valid on the host and on one
// accelerator_view. The program copies it to an array on that accelerator_view, and to an array on WARP.
#include "report.hpp"

#include <numeric>

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    const posts::named_view second = posts::second_view();
    const posts::named_view warp = {"WARP", accelerator(accelerator::direct3d_warp).default_view};
    posts::report report("Post 000, sample 3: which copy of the data is copied", {second, warp});

    const array_view<const int> source(numbers);
    array<int> doubled(count, second.view);
    parallel_for_each(
        second.view, source.extent, [ source, &doubled ](index<1> i) restrict(amp) { doubled[i] = 2 * source[i]; });
    report.step("A launch on the second accelerator_view reads a const view", {size, 0});

    array<int> on_second(count, second.view), on_warp(count, warp.view);
    const array_view<int> target(on_second);
    copy(source, target);
    // An accelerator that works in the program's memory has no separate copy. The bytes then count as copied from
    // host memory.
    const posts::bytes expected_bytes = {posts::works_in_memory_of_program(second) ? size : 0, 0};
    report.step("The view is copied to a view over an array on that accelerator_view: from the copy there",
                posts::no_bytes, expected_bytes);
    copy(source, on_warp);
    report.step("The view is copied to an array on WARP: from the host's copy", {size, 0});

    const std::vector<int> from_here = on_second, from_there = on_warp, computed = doubled;
    report.step("The program reads the three arrays", {0, 3 * size});
    report.check("the numbers are right", from_here == numbers && from_there == numbers && computed[21] == 42);
    return report.result();
}
