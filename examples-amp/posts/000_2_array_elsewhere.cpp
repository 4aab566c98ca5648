// Post 000, second sample: a view over an array takes a launch without a target to the array's accelerator_view.
#include "report.hpp"

#include <numeric>

using namespace concurrency;

int main() {
    const int count = 1000;
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    const posts::named_view second = posts::second_view();
    posts::report report("Post 000, sample 2: a launch without a target runs where an array is", {second});

    array<int> squares(count, numbers.begin(), second.view);
    report.step("An array is constructed on the second accelerator_view from iterators", {count * sizeof(int), 0});

    const array_view<int> view(squares);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] *= view[i]; });
    report.launch("A launch without a target captures a view over that array", second, posts::no_bytes, view);

    report.check("the array stays on its accelerator_view", squares.accelerator_view == second.view);
    copy(squares, numbers.begin());
    report.step("The program copies the array out", {0, count * sizeof(int)});
    report.check("the numbers are right", numbers[30] == 900);
    return report.result();
}
