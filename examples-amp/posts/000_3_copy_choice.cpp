// Post 000, third sample: which copy of a view's data the source of a copy is. The data is valid on the host and on one
// accelerator_view; it is copied to that accelerator_view and to another accelerator.
#include "report.hpp"

#include <numeric>

using namespace concurrency;

int main() {
    const int count = 1000;
    const std::uint64_t size = count * sizeof(int);
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    const posts::place near = posts::second_view();
    const posts::place warp = {"WARP", accelerator(accelerator::direct3d_warp).default_view};
    posts::report report("Post 000, sample 3: which copy of the data is copied", {near, warp});

    const array_view<const int> source(numbers);
    array<int> doubled(count, near.view);
    parallel_for_each(
        near.view, source.extent, [ source, &doubled ](index<1> i) restrict(amp) { doubled[i] = 2 * source[i]; });
    report.step("A launch on the second accelerator_view reads a const view", {size, 0});

    array<int> here(count, near.view), there(count, warp.view);
    const array_view<int> target(here);
    copy(source, target);
    // An accelerator that works in the program's memory has no copy but that memory, and counts what is copied from
    // there.
    const posts::bytes counted = {posts::works_in_memory_of_program(near) ? size : 0, 0};
    report.step("The view is copied to a view over an array on that accelerator_view: from the copy there",
                posts::nothing, counted);
    copy(source, there);
    report.step("The view is copied to an array on WARP: from the host's copy", {size, 0});

    const std::vector<int> from_here = here, from_there = there, computed = doubled;
    report.step("The program reads the three arrays", {0, 3 * size});
    report.check("the numbers are right", from_here == numbers && from_there == numbers && computed[21] == 42);
    return report.result();
}
